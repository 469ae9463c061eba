//! Events of a run with memory: where functions of the motion are zero within a step.
//!
//! They are searched as in every run ([`EventFinder`]): far from zero on the polynomials of densities and operands
//! through the nodes of the step, near zero with steps that end there, which satisfy all equations.

use super::integrate::{VolterraObserver, VolterraRun, VolterraTrial};
use super::system::VolterraPoint;
use crate::ode::dense_output::{DenseStep, Kind};
use crate::ode::event_list::EventList;
use crate::ode::events::EventFinder;
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::root_finding::{Minimum, MinimumBracket, TimeFunction, TimeValue};
use crate::ode::system::{EvalError, EventKind, System};

/// Functions that were never larger than this begin at zero, as 1 − x does at x = 1: what they are is rounding.
const ROUNDING: f64 = 1e-14;

/// Values below this part of the largest are found by steps: the polynomials are less wrong than that.
const NEAR: f64 = 1e-3;

/// How far from where the polynomials have a zero it is searched, in steps.
const AROUND: [f64; 5] = [1e-7, 1e-5, 1e-3, 1e-2, 1e-1];

/// What is watched in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// The events of the system.
    Events,
    /// Its switching functions.
    Switches,
}

/// Event functions without anything to evaluate them.
pub(super) struct Kinds(pub(super) Vec<EventKind>);

impl System for Kinds {
    fn dimension(&self) -> usize {
        0
    }

    fn rates(&mut self, _t: f64, _y: &[f64], _rates: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &self.0
    }
}

/// Functions along the trial.
pub(super) struct InStep<'r, 'a> {
    pub(super) run: &'r mut VolterraRun<'a>,
    pub(super) trial: VolterraTrial,
    pub(super) watched: Watched,
    /// Which of them, as a function of time.
    pub(super) index: usize,
}

/// On the polynomials of the step; for those who search, its state is a function of time.
impl System for InStep<'_, '_> {
    fn dimension(&self) -> usize {
        0
    }

    fn rates(&mut self, _t: f64, _y: &[f64], _rates: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }

    fn event_values(
        &mut self,
        t: f64,
        _y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let elapsed = t - self.run.options.t0;
        self.values(elapsed, false, values)?;
        let reach = match self.watched {
            Watched::Events => &self.run.watch.reach,
            Watched::Switches => self.run.reach(),
        };
        if values.iter().zip(reach).any(|(value, reach)| value.abs() <= NEAR * reach) {
            self.values(elapsed, true, values)?;
        }
        Ok(())
    }
}

/// By steps that end there.
impl TimeFunction for InStep<'_, '_> {
    fn at(&mut self, t: f64) -> Result<TimeValue, EvalError> {
        let count = match self.watched {
            Watched::Events => self.run.watch.kinds.len(),
            Watched::Switches => self.run.system.switches(),
        };
        let mut values = vec![0.0; count];
        self.values(t - self.run.options.t0, true, &mut values)?;
        Ok(TimeValue { t, value: values[self.index] })
    }
}

impl InStep<'_, '_> {
    /// The functions at a time since the start, on the polynomials or by a step that ends there.
    pub(super) fn values(
        &mut self,
        elapsed: f64,
        exact: bool,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let run = &mut *self.run;
        let part = (elapsed - run.progress.elapsed) / self.trial.h;
        let (n, count) = (run.frame.n, run.frame.operands.len());
        let (mut x, mut z) = (vec![0.0; n], vec![0.0; count]);
        if exact && part > 1e-9 && part < 1.0 {
            let kept = (run.x.clone(), run.z.clone());
            let found = run.at(elapsed, self.trial);
            x.copy_from_slice(&run.x);
            z.copy_from_slice(&run.z);
            run.x.copy_from_slice(&kept.0);
            run.z.copy_from_slice(&kept.1);
            found?;
        } else if elapsed == self.trial.end {
            x.copy_from_slice(run.main.x_end(&run.frame));
            z.copy_from_slice(run.main.z_end(&run.frame));
        } else {
            run.interpolate(part, &mut x, &mut z);
        }
        let at = VolterraPoint { t: run.options.t0 + elapsed, elapsed, x: &x, z: &z };
        match self.watched {
            Watched::Switches => {
                run.system.switch_values(at, values)?;
                run.reached(values);
            }
            Watched::Events => {
                run.system.event_values(at, values)?;
                for (value, reach) in values.iter_mut().zip(&mut run.watch.reach) {
                    *reach = reach.max(value.abs());
                    if *reach <= ROUNDING {
                        *value = 0.0;
                    }
                }
            }
        }
        Ok(())
    }

    /// Searches the trial; nothing is remembered until the finder is told to.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if functions have no value, or change so fast that a shorter step is needed.
    pub(super) fn find(
        &mut self,
        finder: &mut EventFinder,
    ) -> Result<Vec<LocatedEvent>, EvalError> {
        let t0 = self.run.options.t0;
        let (start, end) = (t0 + self.run.progress.elapsed, t0 + self.trial.end);
        let kind = Kind::Hermite;
        let step = DenseStep { start, end, length: end - start, kind, rows: &[], at_end: &[] };
        if end <= start || finder.is_far(&step, self) {
            return Ok(Vec::new());
        }
        let foretold = finder.scan(&step, self)?;
        if foretold { Ok(finder.found().to_vec()) } else { Err(EvalError::NotFinite) }
    }

    /// Where an event is on the motion itself.
    pub(super) fn polished(&mut self, event: LocatedEvent) -> Result<f64, EvalError> {
        let t0 = self.run.options.t0;
        let (start, end) = (t0 + self.run.progress.elapsed, t0 + self.trial.end);
        let here = self.at(event.t)?;
        for around in AROUND {
            let (a, b) = (event.t - around * (end - start), event.t + around * (end - start));
            let (a, b) = (self.at(a.max(start))?, self.at(b.min(end))?);
            if event.crossing == Crossing::Touch {
                let side = a.value.signum();
                if let Some(bracket) = MinimumBracket::new(side, a, here, b)
                    && let Minimum::Touch(t) = bracket.resolve(self, here.value.abs())?
                {
                    return Ok(t);
                }
            } else if a.value * b.value < 0.0 {
                return self.zero(a, b);
            }
        }
        Ok(event.t)
    }

    /// The sign of the function a little later than a time since the start.
    pub(super) fn side_after(&mut self, elapsed: f64) -> Result<f64, EvalError> {
        let later = (elapsed + 1e-3 * self.trial.h).min(self.trial.end);
        Ok(self.at(self.run.options.t0 + later)?.value)
    }
}

impl VolterraRun<'_> {
    /// Searches the events of the trial. Whether that could be done: if not, a shorter step is needed.
    pub(super) fn scan_events(&mut self, trial: VolterraTrial) -> Result<bool, EvalError> {
        self.watch.found.clear();
        if self.watch.kinds.is_empty() {
            return Ok(true);
        }
        let idle = EventFinder::new(&Kinds(Vec::new()));
        let mut finder = std::mem::replace(&mut self.watch.finder, idle);
        let mut step = InStep { run: self, trial, watched: Watched::Events, index: 0 };
        let searched = step.find(&mut finder);
        let mut events = EventList::new(&step.run.watch.kinds, 0);
        for event in searched.as_ref().map_or(&[][..], Vec::as_slice) {
            step.index = event.index;
            let t = step.polished(*event).unwrap_or(event.t);
            events.report(event.index, t, event.crossing);
        }
        events.finish(true);
        self.watch.found = events.found().to_vec();
        self.watch.finder = finder;
        Ok(searched.is_ok())
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
