//! The values of events along a motion, and where they are at zero when a segment begins.

use pfaff_solver::EvalError;

use crate::system::compiled::{Compiled, CompiledSystem};

impl CompiledSystem {
    /// The values of all events, and of the phases that tell how fast they vary. What is at zero up to rounding where a
    /// segment begins is zero.
    pub(super) fn watch(
        &mut self,
        t: f64,
        y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.watched_values(t, y, values)?;
        if let Some((begin, noise)) = &self.begins
            && t == *begin
        {
            let watched = values.iter_mut().zip(noise).zip(&self.events);
            // NOTE: contacts are watched from the values that they have.
            let small =
                watched.filter(|((x, noise), kind)| !kind.barrier && x.abs() <= **noise);
            small.for_each(|((x, _), _)| *x = 0.0);
        }
        if self.jumps.as_ref().is_some_and(|jumps| jumps.goes_on) {
            self.hide_others(values);
        }
        Ok(())
    }

    /// Takes away the events at which nothing jumps, where a run is integrated once more.
    fn hide_others(&self, values: &mut [f64]) {
        let (events, phases) = values.split_at_mut(self.events.len());
        let others = events.iter_mut().zip(&self.events).filter(|(_, kind)| !kind.jump);
        others.for_each(|(x, _)| *x = 1.0);
        let of_others =
            phases.iter_mut().zip(&self.phases).filter(|(_, event)| !self.events[**event].jump);
        of_others.for_each(|(x, _)| *x = 0.0);
    }

    /// The sizes of the terms that the gaps of contacts are sums of.
    pub(super) fn gap_sizes(&mut self, t: f64, y: &[f64], sizes: &mut [f64]) {
        let Some(mut jumps) = self.jumps.take() else { return };
        if let Some(contacts) = &mut jumps.contacts {
            let mut sample = std::mem::take(&mut self.sample);
            self.kinematics(t, y, &mut sample);
            contacts.measure_contacts(t, &sample.q, &sample.v);
            self.sample = sample;
            for (k, &(_, event, _)) in contacts.contacts.iter().enumerate() {
                sizes[event] = contacts.touch(k).size;
            }
        }
        self.jumps = Some(jumps);
    }

    fn watched_values(
        &mut self,
        t: f64,
        y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        if !self.events_need_forces
            && let Compiled::Reduced(reduced) = &mut self.dynamics
            && reduced.event_values(t, y, values)
        {
            return Ok(());
        }
        let mut sample = std::mem::take(&mut self.sample);
        let resolved =
            if self.events_need_forces || matches!(self.dynamics, Compiled::Ordinary(_)) {
                self.resolve(t, y, false, &mut sample)
            } else {
                self.kinematics(t, y, &mut sample);
                Ok(())
            };
        sample.inputs(&mut self.observed_inputs);
        self.sample = sample;
        resolved?;
        if let Some(watched) = &mut self.watched {
            watched.evaluate(&self.observed_inputs, values);
        }
        Ok(())
    }
}
