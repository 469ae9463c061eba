//! The scale of every component, by which its error is measured.
//!
//! $$ |\text{error of } y_i| \le E\,s_i, \qquad
//!    s_i = |y_i| + \max_{\tau \le t} |y_i(\tau)| + \frac{\epsilon}{E}\,|h|\,F_i \qquad (\mathrm S) $$
//!
//! The first parts are its value and the largest one so far, so that units do not matter: the same motion in
//! metres and in micrometres takes the same steps. What is zero at the start counts as what it becomes within a time
//! $\tau$ in which the state changes little: with signs as below, again and again until nothing new moves,
//!
//! $$ s_i \leftarrow \max\bigl(s_i,\; \tau|f_i|,\;
//!    10\,\tau\,|f_i(t + \tfrac{\tau}{10}, y + \tfrac1{10}\sigma s) - f_i(t, y)|\bigr). $$
//!
//! Systems may know better what does not matter and raise scales ([`System::raise_scales`](crate::System)). The last
//! part of (S) is the rounding of its rate. A component that
//! would be zero but for rounding has no digits that a step could get right. With random signs $\sigma_j$ and a
//! $\delta$ of a few roundings, so that what is computed along the way is rounded differently too,
//!
//! $$ F_i \approx \frac1\delta\,\bigl|f_i(t, y + \delta d) - f_i(t, y)\bigr|, \qquad
//!    d_j = \sigma_j\,\bigl(|y_j| + |h| F_j\bigr), $$
//!
//! asked twice, so that the rounding of accelerations reaches positions; time counts as a component there. It is
//! measured at the start, after 8, 64, 512, … steps, and where steps are rejected in a row. Quadratures that are
//! carried along have the scale that the system gives for them besides.

use crate::ode::lanes::{BLOCK, Block, blocks};
use crate::ode::system::{Counted, EvalError, finite};

/// How many roundings of its terms a rate may be off.
const ROUNDINGS: f64 = 16.0;

/// $\delta$
const STEP: f64 = 4.0 * f64::EPSILON;

/// What changes by its own size in this part of the run counts as zero.
const NOTHING: f64 = 1e-8;

/// The longest and shortest part of a run in which what is zero at the start gets its scale.
const PREVIEW: f64 = 0.01;
const SHORTEST: f64 = 1e-7;
/// The shortest one where components decay over many orders.
const SHORTEST_DECAY: f64 = 1e-16;

/// What is so much smaller than its change is a rounding error.
const NOISE: f64 = 1e11;

/// What is smaller has no size in any units, and nothing is divided by zero.
const LEAST: f64 = 1e-50;

/// How much errors of derivatives count beside those of the motion.
const OF_DERIVATIVES: f64 = 0.1;

/// The scales (S) of a state.
pub(crate) struct Scale {
    /// $E$
    pub(crate) tolerance: f64,
    /// How many leading components take part in error control.
    pub(crate) controlled: usize,
    /// How many of these are the motion itself; the others are derivatives of it.
    pub(crate) motion: usize,
    /// What is added to every scale; then the past does not count.
    absolute: f64,
    /// 1 if it counts, else 0.
    past: f64,
    /// What is left of the largest value after a step.
    kept: f64,
    /// The shortest part of a run in which what is zero at the start gets its scale.
    shortest: f64,
    /// Largest absolute values so far, and $F$, in whole blocks.
    largest: Vec<Block>,
    noise: Vec<Block>,
    /// $\epsilon/E$
    share: f64,
    work: Vec<f64>,
    /// Accepted steps after which $F$ is measured again.
    next: usize,
}

impl Scale {
    pub(crate) fn new(tolerance: f64, absolute: f64, controlled: usize, y: &[f64]) -> Self {
        let row = vec![[0.0; BLOCK]; blocks(y.len())];
        let mut scale = Self {
            tolerance,
            controlled,
            motion: controlled,
            absolute,
            past: if absolute > 0.0 { 0.0 } else { 1.0 },
            kept: 1.0,
            shortest: SHORTEST,
            largest: row.clone(),
            noise: row,
            share: f64::EPSILON / tolerance,
            work: vec![0.0; 5 * y.len()],
            next: 0,
        };
        scale.include(y);
        scale
    }

    /// The same scales with another tolerance, unless this one is stricter.
    pub(crate) fn tighter(&self, tolerance: f64) -> Self {
        let tolerance = self.tolerance.min(tolerance);
        let (largest, noise) = (self.largest.clone(), self.noise.clone());
        let share = f64::EPSILON / tolerance;
        Self { tolerance, share, largest, noise, work: self.work.clone(), ..*self }
    }

    /// How much the error of a component counts.
    pub(crate) fn weight(&self, i: usize) -> f64 {
        if i < self.motion {
            1.0
        } else if i < self.controlled {
            OF_DERIVATIVES
        } else {
            0.0
        }
    }

    /// Takes the sizes of another scale over.
    pub(crate) fn take_sizes(&mut self, other: &Self) {
        self.largest.copy_from_slice(&other.largest);
        self.noise.copy_from_slice(&other.noise);
    }

    /// The scale of a component in a step of length `h` that comes to a value of this size.
    #[inline]
    pub(crate) fn at(&self, i: usize, h: f64, size: f64) -> f64 {
        let known = self.largest.as_flattened()[i];
        let own = self.past * size;
        let size = size + if own > known { own } else { known };
        let noise = self.share * h.abs() * self.noise.as_flattened()[i];
        size + noise + self.absolute + LEAST
    }

    /// The largest values so far, or what does not matter over a length `h`.
    pub(crate) fn sizes(&self, n: usize, h: f64) -> Vec<f64> {
        let known = self.largest.as_flattened()[..n].iter().zip(self.noise.as_flattened());
        let share = self.share * h.abs();
        known.map(|(x, noise)| x + share * noise + self.absolute + LEAST).collect()
    }

    /// How much of the rates is rounding.
    pub(crate) fn roundings(&self, n: usize) -> Vec<f64> {
        (0..self.noise.len()).flat_map(|b| self.rounding(b)).take(n).collect()
    }

    /// Whether nothing is known of the size of a component.
    pub(crate) fn is_unknown(&self, i: usize) -> bool {
        self.largest.as_flattened()[i] + self.absolute == 0.0
    }

    /// The scales of a block of components in a step of length `h` that ends in these values.
    #[inline]
    pub(crate) fn block(&self, b: usize, h: f64, end: &Block) -> Block {
        let (largest, noise) = (&self.largest[b], &self.noise[b]);
        let (share, least) = (self.share * h.abs(), self.absolute + LEAST);
        std::array::from_fn(|c| {
            let size = end[c].abs();
            let own = self.past * size;
            let size = size + if own > largest[c] { own } else { largest[c] };
            size + share * noise[c] + least
        })
    }

    /// How much of the rates of a block of components is rounding.
    #[inline]
    pub(crate) fn rounding(&self, b: usize) -> Block {
        self.noise[b].map(|noise| ROUNDINGS * f64::EPSILON * noise)
    }

    /// Takes an accepted state into account.
    pub(crate) fn include(&mut self, y: &[f64]) {
        for (largest, y) in self.largest.as_flattened_mut().iter_mut().zip(y) {
            let (size, known) = (self.past * y.abs(), self.kept * *largest);
            *largest = if size > known { size } else { known };
        }
    }

    /// Components may decay over many orders, and change as fast at the start.
    pub(crate) fn expect_decay(&mut self) {
        self.shortest = SHORTEST_DECAY;
    }

    /// From now on the largest value counts by half a step later, so that what decays keeps its digits; or for good.
    pub(crate) fn forget(&mut self, is_forgetting: bool) {
        self.kept = if is_forgetting { 0.5 } else { 1.0 };
    }

    /// The state was written in other variables; `span` is what is left of the run.
    pub(crate) fn restart(&mut self, system: &mut Counted<'_>, at: (f64, &[f64]), span: f64) {
        self.largest.as_flattened_mut()[..self.controlled].fill(0.0);
        self.preview(system, at, span);
        self.next = 0;
    }

    /// Finds scales for what is zero at the start of a run of length `span`, and for what is carried along.
    pub(crate) fn begin(&mut self, system: &mut Counted<'_>, at: (f64, &[f64]), span: f64) {
        if self.past == 0.0 {
            return;
        }
        let carried = system.system.carried_scale(at.0, at.1);
        for largest in &mut self.largest.as_flattened_mut()[self.controlled..at.1.len()] {
            *largest = largest.max(carried);
        }
        self.preview(system, at, span);
    }

    /// Finds scales for what is zero.
    fn preview(&mut self, system: &mut Counted<'_>, (t, y): (f64, &[f64]), span: f64) {
        /// How long a chain of components may be of which each moves the next.
        const LONGEST: usize = 16;
        self.include(y);
        let n = y.len();
        let (rates, rest) = self.work.split_at_mut(n);
        let (state, rest) = rest.split_at_mut(n);
        let (moved, _) = rest.split_at_mut(n);
        // NOTE: a start without rates is found out by the method.
        if system.rates(t, y, rates).is_err() {
            return;
        }
        let sizes = &mut self.largest.as_flattened_mut()[..self.controlled];
        let mut τ = own_time(y, rates, span).min(PREVIEW * span.abs());
        let mut seed = 0;
        while seed < LONGEST {
            seed += 1;
            state.copy_from_slice(y);
            for (j, state) in state[..sizes.len()].iter_mut().enumerate() {
                *state = y[j] + 0.1 * sign(seed, j + 1) * sizes[j];
            }
            let evaluated = system.rates(t + (0.1 * τ).copysign(span), state, moved).is_ok();
            let change = |j: usize| τ * rates[j].abs().max(10.0 * (moved[j] - rates[j]).abs());
            // NOTE: what changes by more than its own size within τ makes τ shorter, but for rounding errors.
            let fast = |j: usize| {
                let size = sizes[j].max(τ * rates[j].abs());
                change(j) > 4.0 * size && change(j) < NOISE * size
            };
            let too_long = !evaluated || (0..sizes.len()).any(fast);
            if too_long && τ > self.shortest * span.abs() {
                τ *= 0.25;
                seed = 0;
                for (size, y) in sizes.iter_mut().zip(y) {
                    *size = y.abs();
                }
                continue;
            }
            let mut grown = false;
            for (j, size) in sizes.iter_mut().enumerate() {
                if evaluated && change(j) > NOISE * *size {
                    grown = true;
                    *size = change(j);
                }
            }
            if !grown {
                break;
            }
        }
    }

    /// Measures $F$ if it is time to: `steps` were accepted, the next one is to have the length `h`.
    pub(crate) fn measure(
        &mut self,
        system: &mut Counted<'_>,
        steps: usize,
        at: (f64, &[f64]),
        h: f64,
    ) {
        if steps < self.next || h == 0.0 {
            return;
        }
        self.next = (8 * steps).max(8);
        self.noise.fill([0.0; BLOCK]);
        let scales = &mut self.largest.as_flattened_mut()[..self.controlled];
        system.system.raise_scales(at.0, at.1, h, scales);
        self.measure_at(system, at, h, 1);
    }

    /// Measures $F$ beside a state, so many thousandths of its scale and of the step away; what is known stays where
    /// it is larger.
    pub(crate) fn measure_at(
        &mut self,
        system: &mut Counted<'_>,
        (t, y): (f64, &[f64]),
        h: f64,
        beside: usize,
    ) {
        // NOTE: where a rate has no value nearby, what is known stays.
        let _ = self.measured(system, (t, y), h, beside);
    }

    fn measured(
        &mut self,
        system: &mut Counted<'_>,
        (t, y): (f64, &[f64]),
        h: f64,
        beside: usize,
    ) -> Result<(), EvalError> {
        let n = y.len();
        let (rates, rest) = self.work.split_at_mut(n);
        let (state, rest) = rest.split_at_mut(n);
        let (moved, rest) = rest.split_at_mut(n);
        let (found, base) = rest.split_at_mut(n);
        system.rates(t, y, rates)?;
        base.copy_from_slice(y);
        if beside > 0 {
            let part = 1e-3 * beside as f64;
            let largest = self.largest.as_flattened();
            for (j, base) in base.iter_mut().enumerate().take(self.controlled) {
                *base += part * (sign(beside, j) * largest[j] + h * rates[j]);
            }
            finite(base)?;
            // NOTE: beside its invariants a system may be another one.
            system.system.project(t, base)?;
            system.rates(t, base, rates)?;
        }
        found.fill(0.0);
        for seed in 3 * beside..3 * beside + 3 {
            state.copy_from_slice(base);
            for (j, state) in state.iter_mut().enumerate().take(self.controlled) {
                *state =
                    base[j] + STEP * sign(seed, j + 1) * (base[j].abs() + h.abs() * found[j]);
            }
            let time = t + STEP * sign(seed, 0) * t;
            system.rates(time, state, moved)?;
            for (found, (a, b)) in found.iter_mut().zip(moved.iter().zip(rates.iter())) {
                *found = found.max((a - b).abs() / STEP).max(b.abs());
            }
        }
        for (noise, found) in self.noise.as_flattened_mut().iter_mut().zip(found.iter()) {
            *noise = noise.max(*found);
        }
        Ok(())
    }
}

/// The shortest time in which a component changes by its own size.
pub(crate) fn own_time(y: &[f64], rates: &[f64], span: f64) -> f64 {
    let times = y.iter().zip(rates).map(|(y, f)| y.abs() / f.abs());
    times.filter(|time| *time > NOTHING * span.abs()).fold(f64::INFINITY, f64::min)
}

/// $\pm1$, without a pattern that a system could have.
fn sign(seed: usize, j: usize) -> f64 {
    let mixed = ((seed * 7919 + j + 1) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if mixed >> 63 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::system::System;

    /// A frame that turns, in which a point at rest has rates that cancel.
    struct Cancelling;

    impl System for Cancelling {
        fn dimension(&self) -> usize {
            3
        }

        fn rates(&mut self, _: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
            rates.copy_from_slice(&[y[1], y[2] - 3.0, 0.0]);
            Ok(())
        }
    }

    #[test]
    fn rounding_reaches_positions_through_velocities() {
        let y = [0.0, 0.0, 3.0];
        let mut scale = Scale::new(1e-10, 0.0, 3, &y);
        let mut system = Counted { system: &mut Cancelling, evaluations: 0 };
        scale.measure(&mut system, 0, (0.0, &y), 0.5);
        let noise = scale.noise.as_flattened();
        // |y₂| = 3 in the second rate up to its own rounding, and half a time unit of it in the first.
        assert!((noise[1] - 3.0).abs() < 0.5 && (noise[0] - 1.5).abs() < 0.3, "{noise:?}");
        assert_eq!(system.evaluations, 5);
        assert!(scale.at(0, 0.5, 0.0) > 0.0 && scale.at(2, 0.5, 1.0) == 4.0);
    }

    /// Each component moves the next, and time moves the first.
    struct Chain;

    impl System for Chain {
        fn dimension(&self) -> usize {
            3
        }

        fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
            rates.copy_from_slice(&[1e6 * t, y[0], 1e-9 * y[1]]);
            Ok(())
        }
    }

    #[test]
    fn what_is_zero_counts_as_what_it_becomes() {
        let mut scale = Scale::new(1e-10, 0.0, 3, &[0.0; 3]);
        let mut system = Counted { system: &mut Chain, evaluations: 0 };
        scale.begin(&mut system, (0.0, &[0.0; 3]), 100.0);
        // τ = 1: 10⁶τ², then τ and 10⁻⁹τ times that.
        let sizes = &scale.largest.as_flattened()[..3];
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(
            near(sizes[0], 1e6) && near(sizes[1], 1e6) && near(sizes[2], 1e-3),
            "{sizes:?}"
        );
    }

    #[test]
    fn the_largest_value_so_far_counts() {
        let mut scale = Scale::new(1e-10, 0.0, 1, &[2.0]);
        scale.include(&[-5.0]);
        scale.include(&[1.0]);
        assert_eq!((scale.at(0, 1.0, 3.0), scale.at(0, 1.0, 7.0)), (8.0, 14.0));
        assert_eq!(scale.block(0, 1.0, &[-6.0, 0.0, 0.0, 0.0])[0], 12.0);
    }
}
