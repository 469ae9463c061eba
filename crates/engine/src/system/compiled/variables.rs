//! Positions and velocities in the variables of each form, and back.

use pfaff_solver::System;

use crate::motion::sample::Sample;
use crate::system::compiled::{Compiled, CompiledSystem};
use crate::system::ordinary::spread;

impl CompiledSystem {
    /// The state vector of positions and velocities.
    pub(crate) fn state(&mut self, t: f64, q: &[f64], v: &[f64], μ: &[f64]) -> Vec<f64> {
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => reduced.state(t, q, v),
            Compiled::Saddle(kkt) => {
                let carried = μ.iter().take(kkt.carried);
                let mut y: Vec<f64> = q.iter().chain(v).chain(carried).copied().collect();
                y.resize(self.dimension(), 0.0);
                y
            }
            Compiled::Ordinary(kkt) => {
                let second = v.iter().zip(&kkt.orders).filter(|&(_, &order)| order == 2);
                let mut y: Vec<f64> = q.iter().chain(second.map(|(v, _)| v)).copied().collect();
                y.resize(self.dimension(), 0.0);
                y
            }
        }
    }

    /// Components of the state that positions and velocities, and multipliers that are part of it, take.
    pub(crate) fn size(&self) -> usize {
        match &self.dynamics {
            Compiled::Saddle(kkt) => 2 * kkt.n + kkt.carried,
            Compiled::Reduced(reduced) => reduced.n + reduced.k,
            Compiled::Ordinary(kkt) => {
                self.n + kkt.orders.iter().filter(|&&order| order == 2).count()
            }
        }
    }

    /// Components of the state after them that are derivatives, where the form has none of its own.
    pub(crate) fn derivatives(&self) -> usize {
        self.tangents.as_ref().map_or(0, |flow| flow.derivatives())
    }

    /// Positions and velocities of a state; zero where an equation is of first order.
    pub(crate) fn kinematics(&mut self, t: f64, y: &[f64], sample: &mut Sample) {
        sample.t = t;
        sample.q.copy_from_slice(&y[..self.n]);
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => reduced.velocities(t, y, &mut sample.v),
            Compiled::Saddle(_) => sample.v.copy_from_slice(&y[self.n..2 * self.n]),
            Compiled::Ordinary(kkt) => spread(&kkt.orders, &y[self.n..], &mut sample.v),
        }
    }

    /// $w$ and $u$ of a state; none for an `equation` model.
    pub(crate) fn work(&self, y: &[f64]) -> Option<[f64; 2]> {
        match &self.dynamics {
            Compiled::Saddle(kkt) => {
                let last = 2 * kkt.n + kkt.carried + self.derivatives();
                Some([y[last], y[last + 1]])
            }
            Compiled::Reduced(reduced) => Some([y[reduced.place_of_work()], 0.0]),
            Compiled::Ordinary(_) => None,
        }
    }

    /// Positions and velocities with the derivatives that are integrated with them, direction by direction.
    pub(crate) fn with_tangents(&mut self, t: f64, y: &[f64]) -> Option<Vec<f64>> {
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => reduced.with_tangents(t, y),
            Compiled::Saddle(_) | Compiled::Ordinary(_) => {
                let known = self.controlled();
                let flow = self.tangents.as_mut()?;
                let mut whole = y[..known].to_vec();
                if flow.project(t, &mut whole).is_err() {
                    whole.fill(f64::NAN);
                }
                Some(whole)
            }
        }
    }

    /// $\ddot q$ and $\dot\mu$ of a state that moves with the given rates.
    pub(crate) fn moved(&mut self, t: f64, y: &[f64], rates: &[f64], sample: &mut Sample) {
        let n = self.n;
        match &mut self.dynamics {
            Compiled::Saddle(kkt) => {
                sample.a.copy_from_slice(&rates[n..2 * n]);
                let carried = &rates[2 * n..2 * n + kkt.carried];
                sample.multiplier_rates.iter_mut().zip(carried).for_each(|(r, x)| *r = *x);
            }
            Compiled::Reduced(reduced) => reduced.acceleration(t, y, rates, &mut sample.a),
            Compiled::Ordinary(_) => {}
        }
    }
}
