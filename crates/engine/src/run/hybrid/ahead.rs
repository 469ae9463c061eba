//! Where a switching function and its rate are both zero, what decides its sign is where the motion leads soon after.
//!
//! A mass at rest at the end of a spring, in $m\ddot x = -mg - k\min(x, 0)$, has $u = x = \dot u = 0$, and leaves to
//! the side to which it falls. So the motion with each sign is followed for a short time $\delta$, by one step of
//! Runge–Kutta: a sign is right if $u(t + \delta)$ has it. Of times $\delta$ that grow the first is taken at which
//! $\lvert u\rvert$ is more than rounding. A function that stays at zero has the sign of zero.

use pfaff_solver::System;

use crate::error::Failure;
use crate::motion::sample::Sample;
use crate::motion::side::Side;
use crate::problem::settings::Settings;
use crate::problem::start::Start;
use crate::run::hybrid::HybridRun;
use crate::run::hybrid::phase::Discrete;
use crate::run::hybrid::settle::compiled;
use crate::run::hybrid::switching::{Place, Settled};

/// The first time, in parts of the run, how much longer the next one is, and the last one.
pub(super) const SOON: f64 = 1e-8;
pub(super) const LONGER: f64 = 8.0;
pub(super) const LATE: f64 = 1e-3;
/// A function that is larger than its rounding by this factor has a sign.
pub(super) const CLEAR: f64 = 10.0;

impl HybridRun<'_> {
    /// Looks ahead for the signs of switching functions that are at zero and do not move: turns those that are wrong;
    /// says at which the motion is pushed back from both sides.
    pub(super) fn look_ahead(&mut self, rates: &Sample) -> Result<Settled, Failure> {
        let still = self.switching.still(
            &self.branches.model,
            &self.place(&self.state),
            &self.now.signs,
            rates,
        );
        let still: Vec<usize> =
            still.into_iter().filter(|&k| self.cause.left != Some(k)).collect();
        if still.is_empty() {
            return Ok(Settled::From(Some(rates.clone())));
        }
        // A sign that turns may decide about others.
        for _ in 0..=still.len() {
            let mut has_turned = false;
            for &k in &still {
                let own = self.now.signs[k];
                let Some(goes) = self.sign_soon(k, own)? else {
                    has_turned |= self.is_still(k)?;
                    continue;
                };
                if own == Side::Still {
                    self.now.signs[k] = goes;
                    has_turned = true;
                    continue;
                }
                if goes == own {
                    continue;
                }
                match self.sign_soon(k, own.opposite())? {
                    Some(other) if other == own => return Ok(Settled::Held(vec![k])),
                    Some(_) => {
                        self.now.signs[k] = own.opposite();
                        has_turned = true;
                    }
                    None => {}
                }
            }
            if !has_turned {
                break;
            }
        }
        Ok(Settled::From(None))
    }

    /// Whether a function that has stayed at zero is now taken for zero where its sign at zero counts, and was not
    /// before: one that is exactly zero, and is so with that sign too. Of one that is zero but for rounding this is not
    /// known.
    fn is_still(&mut self, k: usize) -> Result<bool, Failure> {
        let is_known = self.now.signs[k] == Side::Still;
        if is_known || !self.branches.of_signs.contains(&self.branches.functions[k]) {
            return Ok(false);
        }
        let now = self.now.clone();
        let met = if self.velocities_jump { self.met(&now)? } else { None };
        let place = self.place(met.as_ref().unwrap_or(&self.state));
        let value = &self.switching.values(&self.branches.model, &place)[k];
        if value.clear_side(0.0).is_some() {
            let Settings { t0, options, .. } = &self.settings;
            // NOTE: at the end of a run it does not matter.
            if (options.t1 - self.t).abs() <= SOON * (options.t1 - t0).abs() {
                return Ok(false);
            }
            self.blurred.get_or_insert_with(|| ("a comparison".to_owned(), self.t));
            return Ok(false);
        }
        let stays = self.sign_soon(k, Side::Still)?.is_none();
        if stays {
            self.now.signs[k] = Side::Still;
        }
        Ok(stays)
    }

    /// The sign that a switching function has soon if it begins with this one; `None` if it stays at zero.
    fn sign_soon(&mut self, k: usize, side: Side) -> Result<Option<Side>, Failure> {
        let mut trial = Discrete { ..self.now.clone() };
        trial.signs[k] = side;
        let phase = self.phases.phase(&trial)?;
        let mut system = compiled(&self.phases, &phase)?;
        let met = if self.velocities_jump { self.met(&trial)? } else { None };
        let Start { q, v, multipliers, .. } = met.as_ref().unwrap_or(&self.state);
        let y = system.state(self.t, q, v, multipliers);
        let span = self.settings.options.t1 - self.t;
        let mut there = Sample::new(q.len(), phase.model.constraints.len());
        self.branches.set(&trial.signs);
        let mut δ = SOON * span;
        while δ <= LATE * span {
            let (t, end) = (self.t + δ, runge_kutta(&mut system, self.t, &y, δ));
            let known = end.is_some_and(|y| system.resolve(t, &y, true, &mut there).is_ok());
            if !known {
                break;
            }
            let state = Start { q: there.q.clone(), v: there.v.clone(), ..self.state.clone() };
            let place = Place { t, ..self.place(&state) };
            let value = &self.switching.values(&self.branches.model, &place)[k];
            if let Some(goes) = value.clear_side(CLEAR) {
                return Ok(Some(goes));
            }
            δ *= LONGER;
        }
        Ok(None)
    }
}

/// One classical step.
pub(super) fn runge_kutta(
    system: &mut dyn System,
    t: f64,
    y: &[f64],
    δ: f64,
) -> Option<Vec<f64>> {
    let mut end = y.to_vec();
    let mut rates = vec![0.0; y.len()];
    let mut at = y.to_vec();
    for (part, weight) in
        [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)]
    {
        for (at, (y, rate)) in at.iter_mut().zip(y.iter().zip(&rates)) {
            *at = y + part * δ * rate;
        }
        system.rates(t + part * δ, &at, &mut rates).ok()?;
        end.iter_mut().zip(&rates).for_each(|(end, rate)| *end += weight * δ * rate);
    }
    end.iter().all(|y| y.is_finite()).then_some(end)
}
