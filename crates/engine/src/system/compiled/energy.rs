//! The size of the energies at a state, by which their balance is measured.

use pfaff_solver::System;

use crate::motion::sample::Sample;
use crate::system::compiled::CompiledSystem;

impl CompiledSystem {
    /// The size of the energies at a state; zero for an `equation` model, and where there is no value.
    pub(super) fn energy_scale(&mut self, t: f64, y: &[f64]) -> f64 {
        const STEP: f64 = 1e-3;
        let controlled = self.controlled();
        let mut sample = Sample::new(self.n, self.m);
        let mut energy = |y: &[f64]| {
            self.resolve(t, y, false, &mut sample)
                .ok()
                .map(|()| sample.energy + sample.constraint_energy)
        };
        let Some(here) = energy(y) else { return 0.0 };
        let mut scale = here.abs();
        for pattern in [0b0110_1001_1100_0101_u64, 0b0101_0011_0110_1100] {
            let sign = |i: usize| if pattern >> (i % 16) & 1 == 1 { 1.0 } else { -1.0 };
            let mut moved = y.to_vec();
            for (i, y) in moved[..controlled].iter_mut().enumerate() {
                *y *= 1.0 + STEP * sign(i);
            }
            scale = scale.max(energy(&moved).map_or(0.0, |there| (there - here).abs() / STEP));
        }
        if scale.is_finite() { scale } else { 0.0 }
    }
}
