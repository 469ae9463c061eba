//! The white forces of a run: a path of Brown's motion, and the force that it gives in each step.

use crate::system::compiled::{Compiled, CompiledSystem};

/// The paths of some independent white forces over a run of $2^k$ steps.
#[derive(Clone, Debug)]
pub(crate) struct NoiseSource {
    seed: u64,
    /// All parameters; the last ones are the forces.
    parameters: Vec<f64>,
    first: usize,
    /// $k$, and the length of the run.
    level: u32,
    span: f64,
    /// The step that comes next.
    step: u64,
    /// For each force the increments of $W$ over the parts of the run that contain the step, the whole run first.
    increments: Vec<Vec<f64>>,
}

impl NoiseSource {
    /// The path of this seed and number, for the parameters from `first` on.
    pub(crate) fn new(
        (seed, stream): (u64, u64),
        parameters: Vec<f64>,
        first: usize,
        (level, span): (u32, f64),
    ) -> Self {
        let count = parameters.len() - first;
        let seed = mixed(mixed(seed ^ 0x6a09_e667_f3bc_c908).wrapping_add(stream));
        let increments = vec![Vec::new(); count];
        Self { seed, parameters, first, level, span, step: 0, increments }
    }

    fn begin(&mut self) {
        self.step = 0;
        self.parameters[self.first..].fill(0.0);
        self.increments.iter_mut().for_each(Vec::clear);
    }

    /// The forces of the next step.
    fn advance(&mut self) {
        let (level, step) = (self.level, self.step);
        // Parts that have begun with this step: those that are not longer than its number is divisible.
        let changed = if step == 0 { 0 } else { level.saturating_sub(step.trailing_zeros()) };
        let h = self.span / (1_u64 << level) as f64;
        for force in 0..self.increments.len() {
            let seed = mixed(self.seed.wrapping_add(force as u64 + 1));
            let list = &mut self.increments[force];
            list.truncate(changed as usize);
            for depth in list.len() as u32..=level {
                let index = step >> (level - depth);
                let increment = match list.last() {
                    None => self.span.sqrt() * normal(seed, 0, 0),
                    Some(&whole) => {
                        let length = self.span / (1_u64 << (depth - 1)) as f64;
                        let bend = 0.5 * length.sqrt() * normal(seed, depth, index >> 1);
                        let left = 0.5 * whole + bend;
                        if index % 2 == 0 { left } else { whole - left }
                    }
                };
                list.push(increment);
            }
            let last = list.last().copied().unwrap_or(0.0);
            self.parameters[self.first + force] = last / h;
        }
        self.step += 1;
    }
}

/// A number of the standard normal distribution for a part of the run, by Box and Muller.
fn normal(seed: u64, depth: u32, index: u64) -> f64 {
    let key = mixed(seed ^ mixed((u64::from(depth) << 56) ^ index));
    let uniform = |x: u64| ((x >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (a, b) = (uniform(key), uniform(mixed(key ^ 0xbb67_ae85_84ca_a73b)));
    (-2.0 * libm::log(a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
}

/// The mixing of split mix: every bit depends on all others.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl CompiledSystem {
    /// Begins the path of the white forces, with steps that are half as long if asked to.
    pub(crate) fn begin_noise(&mut self, is_finer: bool) {
        let Some(noise) = &mut self.noise else { return };
        noise.level += u32::from(is_finer);
        noise.begin();
        self.next_noise();
    }

    /// Takes the forces of the next step.
    pub(super) fn next_noise(&mut self) {
        if let Some(noise) = &mut self.noise {
            noise.advance();
        }
        self.apply_noise();
    }

    /// Has the equations of motion take the present forces; what is read off a state does not see them.
    pub(super) fn apply_noise(&mut self) {
        let Some(noise) = &self.noise else { return };
        match &mut self.dynamics {
            Compiled::Saddle(kkt) => kkt.set_forces(&noise.parameters),
            Compiled::Reduced(reduced) => reduced.set_forces(&noise.parameters),
            Compiled::Ordinary(_) => {}
        }
        self.static_ldl.iter_mut().for_each(|ldl| ldl.set_forces(&noise.parameters));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path at the ends of the steps.
    fn path(level: u32, stream: u64) -> Vec<f64> {
        let mut source = NoiseSource::new((7, stream), vec![0.0; 3], 1, (level, 4.0));
        source.begin();
        let h = 4.0 / f64::from(1 << level);
        let mut w = vec![0.0];
        for _ in 0..1 << level {
            source.advance();
            w.push(w[w.len() - 1] + h * source.parameters[2]);
        }
        w
    }

    #[test]
    fn a_finer_path_goes_through_the_points_of_the_coarser_one() {
        let (coarse, fine) = (path(5, 3), path(8, 3));
        for (i, w) in coarse.iter().enumerate() {
            assert!((w - fine[8 * i]).abs() < 1e-12, "{i}");
        }
        assert!(path(5, 4).iter().zip(&coarse).skip(1).all(|(a, b)| a != b));
    }

    /// Over 4096 increments of variance h the mean of their squares is h within 5 standard deviations, √(2/4096) each,
    /// and neighbours are uncorrelated.
    #[test]
    fn increments_have_their_variance() {
        let w = path(12, 0);
        let h = 4.0 / 4096.0;
        let steps: Vec<f64> = w.windows(2).map(|p| p[1] - p[0]).collect();
        let mean = |f: &dyn Fn(usize) -> f64| (0..4095).map(f).sum::<f64>() / 4095.0;
        let variance = mean(&|i| steps[i] * steps[i] / h);
        assert!((variance - 1.0).abs() < 5.0 * (2.0_f64 / 4095.0).sqrt(), "{variance}");
        let correlation = mean(&|i| steps[i] * steps[i + 1] / h);
        assert!(correlation.abs() < 5.0 / 4095.0_f64.sqrt(), "{correlation}");
        let fourth = mean(&|i| (steps[i] * steps[i] / h).powi(2));
        assert!((fourth - 3.0).abs() < 5.0 * (96.0_f64 / 4095.0).sqrt(), "{fourth}");
    }
}
