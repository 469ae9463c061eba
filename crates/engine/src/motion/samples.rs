//! The outputs of a motion as instants, made one by one from its columns.

use crate::motion::sample::Sample;
use crate::motion::{Motion, Series};

/// The output rows as instants: each of them, or every second, third, … one. An instant takes several times the memory
/// of a row, so that they are made one by one.
#[derive(Clone, Copy)]
pub(crate) struct Samples<'a> {
    motion: &'a Motion,
    stride: usize,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(motion: &'a Motion, stride: usize) -> Self {
        Self { motion, stride }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.motion.t.len().div_ceil(self.stride)
    }

    /// So many of them, or a few less, evenly spaced.
    pub(crate) fn some(self, most: usize) -> impl Iterator<Item = Sample> + 'a {
        let stride = self.len().div_ceil(most).max(1);
        (0..self.motion.t.len()).step_by(self.stride * stride).map(move |i| self.sample(i))
    }

    /// Their times, energies and those of the constraints.
    pub(crate) fn energies(self) -> impl Iterator<Item = [f64; 3]> + 'a {
        let motion = self.motion;
        (0..motion.t.len()).step_by(self.stride).map(|i| {
            let constraint_energy = motion.constraint_energy.get(i).copied().unwrap_or(0.0);
            [motion.t[i], motion.energy.get(i).copied().unwrap_or(f64::NAN), constraint_energy]
        })
    }

    fn sample(&self, i: usize) -> Sample {
        let motion = self.motion;
        let row =
            |series: &[Series]| -> Vec<f64> { series.iter().map(|s| s.values[i]).collect() };
        let reaction = match row(&motion.reactions) {
            none if none.is_empty() => vec![f64::NAN; motion.q.len()],
            reaction => reaction,
        };
        Sample {
            t: motion.t[i],
            q: row(&motion.q),
            v: row(&motion.v),
            a: row(&motion.a),
            multipliers: row(&motion.multipliers),
            multiplier_rates: row(&motion.multiplier_rates),
            reaction,
            energy: motion.energy.get(i).copied().unwrap_or(f64::NAN),
            constraint_energy: motion.constraint_energy.get(i).copied().unwrap_or(0.0),
            divergence: f64::NAN,
        }
    }
}
