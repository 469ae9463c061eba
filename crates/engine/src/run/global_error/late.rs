//! What the rounding of time does to a motion, carried from one segment of a run to the next.
//!
//! Time is known to one unit of its last place, $\epsilon|t|$. A switch lies between two neighbouring times, and its
//! function is computed at a rounded one: each of two runs is late at it by up to $2\epsilon|t|$. Until then a motion
//! has the rates from before the switch, and then those from after it, so that both differ by
//!
//! $$ |\delta q| = 4\epsilon|t|\,|[\dot q]|, \qquad |\delta v| = 4\epsilon|t|\,|[\ddot q]|, $$
//!
//! where $[\cdot]$ is what changes at the switch. Within a segment whose equations contain time, all rates count in
//! the same way. From there on the difference is a change of the motion like any other: velocities take the
//! coordinates along, $|\delta q| + T|\delta v|$ after a segment of the length T, and both grow as much as the motion
//! makes changes grow, as far as that was measured. Those of several switches are independent roundings, which add up
//! like the root of their squares.

use crate::motion::sample::Sample;

/// How far two runs may be apart in time.
pub(super) const APART_IN_TIME: f64 = 4.0 * f64::EPSILON;

/// How far two runs are apart because time is rounded: coordinates and velocities.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Late {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
}

impl Late {
    /// What was there before and what a segment adds, per coordinate.
    pub(super) fn with(&self, q: &[f64], v: &[f64]) -> Self {
        let both = |known: &[f64], own: &[f64]| -> Vec<f64> {
            let known = known.iter().copied().chain(std::iter::repeat(0.0));
            // NOTE: what has no value, such as accelerations of first-order equations, adds nothing.
            let own = own.iter().map(|x| if x.is_finite() { *x } else { 0.0 });
            own.zip(known).map(|(a, b)| libm::hypot(a, b)).collect()
        };
        Self { q: both(&self.q, q), v: both(&self.v, v) }
    }

    /// The same after a time in which changes grow so much. Velocities do not take a coordinate farther, in parts of
    /// its size, than they are wrong themselves.
    pub(super) fn later(mut self, span: f64, growth: f64, sizes: [&[f64]; 2]) -> Self {
        let [of_q, of_v] = sizes;
        for (i, (q, v)) in self.q.iter_mut().zip(&mut self.v).enumerate() {
            let part = *v / of_v[i];
            let most = if part.is_finite() { part * of_q[i] } else { f64::INFINITY };
            let moved = (*v * span).min(most);
            *q = growth * (*q + moved);
            *v *= growth;
        }
        self
    }

    /// Adds a switch at a time, with the rates before and after it.
    pub(crate) fn pass(&mut self, t: f64, before: &Sample, after: &Sample) {
        let by = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| APART_IN_TIME * t.abs() * (a - b).abs()).collect()
        };
        *self = self.with(&by(&before.v, &after.v), &by(&before.a, &after.a));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_blow_is_still_there_at_the_end() {
        let mut late = Late::default();
        let [mut before, mut after] = [Sample::new(1, 0), Sample::new(1, 0)];
        (before.v[0], before.a[0], after.v[0], after.a[0]) = (1.0, 0.0, 1.0, 8.0);
        late.pass(1e9, &before, &after);
        // 4·2⁻⁵²·10⁹·8
        let δ = 32e9 * f64::EPSILON;
        assert_eq!((late.q[0], late.v[0]), (0.0, δ));
        // Velocities of size 2 and coordinates of size 10: no farther than by the same part.
        let sizes: [&[f64]; 2] = [&[10.0], &[2.0]];
        let moved = late.clone().later(3.0, 1.0, sizes);
        assert_eq!((moved.q[0], moved.v[0]), (3.0 * δ, δ));
        let moved = late.later(1e3, 2.0, sizes);
        assert_eq!((moved.q[0], moved.v[0]), (10.0 * δ, 2.0 * δ));
        // Two independent roundings of 3 and 4.
        let both = Late { q: vec![3.0], v: Vec::new() }.with(&[4.0], &[f64::NAN]);
        assert_eq!((both.q[0], both.v[0]), (5.0, 0.0));
    }
}
