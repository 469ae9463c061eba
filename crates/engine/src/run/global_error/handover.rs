//! Where a second integration that comes apart from the first one hands over to a stricter one.
//!
//! Up to there the equations are linear in the difference $D$ of both motions, which grows with the tolerance like
//! $E^{7/8}$. So an integration with a part of the tolerance would have come to a part of the difference: it begins
//! there, and what the looser one has found is not integrated again.

use crate::motion::sample::Sample;
use crate::system::compiled::{Compiled, CompiledSystem};

/// A place at which two motions were compared.
#[derive(Clone, Debug)]
pub(super) struct Handover {
    pub(super) t: f64,
    /// The state of the second run.
    pub(super) y: Vec<f64>,
    /// Both motions.
    pub(super) loose: Sample,
    pub(super) first: Sample,
    /// What was found so far, as in `Comparison`.
    pub(super) largest: f64,
    pub(super) rounding: Vec<f64>,
    pub(super) velocity_rounding: Vec<f64>,
    pub(super) fastest: Vec<f64>,
    /// Steps of the second run.
    pub(super) steps: usize,
}

impl Handover {
    /// The state with a part of the difference.
    pub(super) fn state(&self, system: &mut CompiledSystem, part: f64) -> Vec<f64> {
        let nearer = |loose: &[f64], first: &[f64]| -> Vec<f64> {
            loose.iter().zip(first).map(|(x, x0)| x0 + part * (x - x0)).collect()
        };
        let Self { loose, first, .. } = self;
        let mut y = self.y.clone();
        let multipliers = nearer(&loose.multipliers, &first.multipliers);
        let (q, v) = (nearer(&loose.q, &first.q), nearer(&loose.v, &first.v));
        system.set(self.t, &mut y, &q, &v);
        if let Compiled::Saddle(kkt) = &system.dynamics {
            let carried = 2 * kkt.n..2 * kkt.n + kkt.carried;
            y[carried].copy_from_slice(&multipliers[..kkt.carried]);
        }
        y
    }
}
