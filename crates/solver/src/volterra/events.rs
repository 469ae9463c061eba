//! Events of a run with memory: where functions of the motion are zero within a step.
//!
//! They are searched as in every run ([`EventFinder`]), and located with steps that end there.

use super::event_watch::Kinds;
use super::integrate::in_step::{InStep, Watched};
use super::integrate::{VolterraObserver, VolterraRun, VolterraTrial};
use crate::ode::event_list::EventList;
use crate::ode::events::EventFinder;
use crate::ode::observer::LocatedEvent;
use crate::ode::system::EvalError;

impl VolterraRun<'_> {
    /// Searches the events of the trial. Whether that could be done: if not, a shorter step is needed.
    pub(super) fn scan_events(&mut self, trial: VolterraTrial) -> bool {
        self.watch.found.clear();
        if self.watch.kinds.is_empty() {
            return true;
        }
        let idle = EventFinder::new(&Kinds(Vec::new()));
        let mut finder = std::mem::replace(&mut self.watch.finder, idle);
        let mut step = InStep { run: self, trial, watched: Watched::Events, index: 0 };
        let searched = step.find(&mut finder);
        let mut events = EventList::new(&step.run.watch.kinds, 0);
        for event in searched.as_ref().map_or(&[][..], Vec::as_slice) {
            step.index = event.index;
            let t = step.polished(*event).unwrap_or(event.t);
            events.report(LocatedEvent { t, ..*event });
        }
        events.finish(true);
        self.watch.found = events.found().to_vec();
        self.watch.finder = finder;
        searched.is_ok()
    }

    /// Tells the events of a trial that becomes part of the run, and gives the first that stops it.
    pub(super) fn tell_events(
        &mut self,
        trial: VolterraTrial,
        observer: &mut dyn VolterraObserver,
    ) -> Result<Option<LocatedEvent>, EvalError> {
        self.watch.finder.accept();
        let found = std::mem::take(&mut self.watch.found);
        let kept = (self.x.clone(), self.z.clone());
        for event in &found {
            self.at(event.t - self.options.t0, trial)?;
            observer.event(event, &self.x, &self.z);
            self.x.copy_from_slice(&kept.0);
            self.z.copy_from_slice(&kept.1);
        }
        Ok(found.into_iter().find(|event| self.watch.kinds[event.index].stop))
    }
}
