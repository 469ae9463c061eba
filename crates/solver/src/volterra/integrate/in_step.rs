//! Event and switching functions along a trial step: far from zero on the polynomials of densities and operands
//! through its nodes, near zero by steps that end there, which satisfy all equations.

use super::{VolterraRun, VolterraTrial};
use crate::ode::dense_output::{DenseStep, Kind};
use crate::ode::events::EventFinder;
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::root_finding::{Minimum, MinimumBracket, TimeFunction, TimeValue};
use crate::ode::system::{EvalError, System};
use crate::volterra::system::VolterraPoint;

/// Functions that were never larger than this begin at zero, as 1 − x does at x = 1: what they are is rounding.
const ROUNDING: f64 = 1e-14;

/// Values below this part of the largest are found by steps: the polynomials are less wrong than that.
const NEAR: f64 = 1e-3;

/// Values below this part of the largest count as zero while zeros are searched, and not when they are located.
const TOUCHING: f64 = 2e-12;

/// How far from where the polynomials have a zero it is searched, in steps.
const AROUND: [f64; 5] = [1e-7, 1e-5, 1e-3, 1e-2, 1e-1];

/// What is watched in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::volterra) enum Watched {
    /// The events of the system.
    Events,
    /// Its switching functions.
    Switches,
}

/// Functions along the trial.
pub(in crate::volterra) struct InStep<'r, 'a> {
    pub(in crate::volterra) run: &'r mut VolterraRun<'a>,
    pub(in crate::volterra) trial: VolterraTrial,
    pub(in crate::volterra) watched: Watched,
    /// Which of them, as a function of time.
    pub(in crate::volterra) index: usize,
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
        if self.watched == Watched::Events {
            for (value, reach) in values.iter_mut().zip(&self.run.watch.reach) {
                // NOTE: a touch is known to the accuracy of the motion at best.
                if value.abs() <= TOUCHING * reach {
                    *value = 0.0;
                }
            }
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
    pub(in crate::volterra) fn values(
        &mut self,
        elapsed: f64,
        exact: bool,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let run = &mut *self.run;
        let part = (elapsed - run.progress.elapsed) / self.trial.h;
        let (n, count) = (run.frame.n, run.frame.operands.len());
        let (mut x, mut z) = (vec![0.0; n], vec![0.0; count]);
        let mut known = false;
        if exact && part > 1e-9 && part < 1.0 {
            let kept = (run.x.clone(), run.z.clone());
            // NOTE: where a very short step does not settle, the polynomials are as good.
            known = run.at(elapsed, self.trial).is_ok();
            x.copy_from_slice(&run.x);
            z.copy_from_slice(&run.z);
            run.x.copy_from_slice(&kept.0);
            run.z.copy_from_slice(&kept.1);
        }
        if !known && elapsed == self.trial.end {
            x.copy_from_slice(run.main.x_end(&run.frame));
            z.copy_from_slice(run.main.z_end(&run.frame));
        } else if !known {
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
    pub(in crate::volterra) fn find(
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
    pub(in crate::volterra) fn polished(
        &mut self,
        event: LocatedEvent,
    ) -> Result<f64, EvalError> {
        let t0 = self.run.options.t0;
        let (start, end) = (t0 + self.run.progress.elapsed, t0 + self.trial.end);
        let here = self.at(event.t)?;
        for around in AROUND {
            let (a, b) = (event.t - around * (end - start), event.t + around * (end - start));
            if event.crossing == Crossing::Touch {
                // NOTE: the polynomials go on a little beyond the step.
                let (a, b) = (self.at(a)?, self.at(b)?);
                if let Some(bracket) = MinimumBracket::new(a.value.signum(), a, here, b)
                    && let Minimum::Touch(t) = bracket.resolve(self, here.value.abs(), 0.0)?
                {
                    return Ok(t.clamp(start, end));
                }
                continue;
            }
            let (a, b) = (self.at(a.max(start))?, self.at(b.min(end))?);
            if a.value * b.value < 0.0 {
                return self.zero(a, b);
            }
        }
        Ok(event.t)
    }

    /// The sign of the function a little later than a time since the start.
    pub(in crate::volterra) fn side_after(&mut self, elapsed: f64) -> Result<f64, EvalError> {
        let later = (elapsed + 1e-3 * self.trial.h).min(self.trial.end);
        Ok(self.at(self.run.options.t0 + later)?.value)
    }
}
