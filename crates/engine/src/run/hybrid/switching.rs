//! Switching functions of branches: which sign each has from a state on.
//!
//! Where a switching function $u = 0$ at the start of a segment, its rate decides:
//!
//! $$ s = \operatorname{sign} \dot u, \qquad
//!    \dot u = \partial_t u + \partial_q u\,\dot q + \partial_{\dot q} u\,\ddot q(s). $$
//!
//! If no sign agrees with the rate that it leads to, the motion is pushed back to $u = 0$ from both sides (dry
//! friction that holds): it stays there, see `phase.rs`.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use crate::error::Failure;
use crate::motion::Motion;
use crate::motion::sample::Sample;
use crate::motion::side::Side;
use crate::motion::verdict::Check;
use crate::problem::branches::Branches;
use crate::problem::start::Start;
use crate::run::hybrid::phase::constraints_switch;

/// The switching functions with their slopes.
pub(super) struct Switching {
    graph: Graph,
    functions: Vec<Expr>,
    /// Along $t$, $q$ and $\dot q$.
    slopes: Vec<Vec<Expr>>,
    state: Vec<Expr>,
    /// Whether branches stand in constraints.
    pub(super) is_in_constraints: bool,
}

/// Where a segment begins.
pub(super) struct Place<'a> {
    pub(super) t: f64,
    pub(super) state: &'a Start,
    /// The switching function that ended the segment before.
    pub(super) fired: Option<usize>,
    /// The length of the run.
    pub(super) span: f64,
}

/// How a motion goes on from a state.
pub(super) enum Settled {
    /// With these rates, if they were needed.
    From(Option<Sample>),
    /// It is pushed back from both sides of a switch, or of several that hang together.
    Held(Vec<usize>),
}

/// Velocities and accelerations with some signs; `None` where they have no value.
pub(super) type Accelerations<'a> = dyn FnMut(&[Side]) -> Result<Option<Sample>, Failure> + 'a;

/// A switching function at a state.
pub(super) struct SwitchValue {
    u: f64,
    slopes: Vec<f64>,
    /// The rounding that it has.
    noise: f64,
}

impl Switching {
    pub(super) fn new(branches: &Branches) -> Self {
        let model = &branches.model;
        let mut state = vec![model.time];
        state.extend(model.positions().into_iter().chain(model.velocities()));
        let graph = model.graph.clone();
        let slopes = branches.functions.iter().map(|&u| graph.gradient(u, &state)).collect();
        let is_in_constraints = constraints_switch(branches);
        Self { graph, functions: branches.functions.clone(), slopes, state, is_in_constraints }
    }

    /// Finds the signs with which a motion goes on from a state. Functions at zero begin with the signs given; those
    /// that are held at zero stay there, and that of one that has just been left is right.
    pub(super) fn settle(
        &self,
        branches: &mut Branches,
        accelerations: &mut Accelerations<'_>,
        place: &Place<'_>,
        left: Option<usize>,
        signs: &mut [Side],
    ) -> Result<Settled, Failure> {
        let mut zeros = Vec::new();
        // A function may contain branches of others: it is known when they are.
        for _ in 0..=signs.len() {
            branches.set(signs);
            let before = signs.to_vec();
            zeros.clear();
            let values = self.values(&branches.model, place);
            for (k, (SwitchValue { u, noise, .. }, sign)) in
                values.iter().zip(&mut *signs).enumerate()
            {
                if *sign == Side::Held || left == Some(k) {
                    continue;
                }
                if place.fired == Some(k) || u.abs() <= *noise {
                    zeros.push(k);
                } else {
                    *sign = Side::of(*u);
                }
            }
            if before == *signs {
                break;
            }
        }
        if zeros.is_empty() {
            return Ok(Settled::From(None));
        }
        let mut turned = Vec::new();
        for _ in 0..2 * zeros.len() + 2 {
            branches.set(signs);
            let Some(sample) = accelerations(signs)? else {
                // The segment itself says why it cannot begin.
                return Ok(Settled::From(None));
            };
            let values = self.values(&branches.model, place);
            turned.clear();
            for &k in &zeros {
                let (rate, noise) = values[k].rate(&sample);
                if rate.abs() > noise && Side::of(rate) != signs[k] {
                    signs[k] = Side::of(rate);
                    turned.push(k);
                }
            }
            if turned.is_empty() {
                return Ok(Settled::From(Some(sample)));
            }
        }
        Ok(Settled::Held(turned))
    }

    /// Which switching functions are at zero and do not move.
    pub(super) fn still(
        &self,
        model: &Workspace,
        place: &Place<'_>,
        signs: &[Side],
        rates: &Sample,
    ) -> Vec<usize> {
        let values = self.values(model, place);
        let is_still = |k: &usize| {
            let (rate, noise) = values[*k].rate(rates);
            let is_at_zero = place.fired == Some(*k) || values[*k].u.abs() <= values[*k].noise;
            signs[*k] != Side::Held && is_at_zero && rate.abs() <= noise
        };
        (0..signs.len()).filter(is_still).collect()
    }

    /// Whether a switching function sees velocities.
    pub(super) fn is_of_velocities(&self, k: usize) -> bool {
        let n = self.state.len() / 2;
        self.slopes[k][1 + n..].iter().any(|&slope| slope != self.graph.zero())
    }

    /// Whether every switching function kept its sign along a segment: the largest value with the other sign, as a
    /// part of the largest value in all segments so far.
    pub(super) fn check(
        &self,
        model: &Workspace,
        motion: &Motion,
        signs: &[Side],
        reach: &mut [f64],
        tolerance: f64,
    ) -> Check {
        let mut worst = None;
        let mut off = vec![0.0_f64; signs.len()];
        for (t, q, v) in motion.dense.states_between() {
            let at = |δ: f64| {
                let q: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + δ * v).collect();
                self.graph.evaluate(&self.functions, &self.symbols(model, t + δ, &q, &v))
            };
            worst = Some(0.0);
            for (k, u) in at(0.0).into_iter().enumerate() {
                reach[k] = reach[k].max(u.abs());
                let beyond = |u: f64| match signs[k] {
                    Side::Above => -u,
                    Side::Below => u,
                    Side::Still => u.abs(),
                    Side::Held => 0.0,
                };
                if beyond(u) > off[k] {
                    // Time is rounded.
                    let δ = 4.0 * f64::EPSILON * t.abs();
                    let around = [at(-δ)[k], u, at(δ)[k]];
                    let least = around.into_iter().map(beyond).fold(f64::INFINITY, f64::min);
                    off[k] = off[k].max(least);
                }
            }
        }
        for (off, reach) in off.iter().zip(reach) {
            if *off > 0.0 {
                worst = worst.map(|w: f64| w.max(off / *reach));
            }
        }
        let reason = "a segment ends where a switching function passes zero, as accurately as the interpolant shows \
            it: 100·tolerance^(7/8)";
        let limit = 100.0 * libm::pow(tolerance, 0.875) + 3e-8;
        Check::measured("branches".into(), worst, limit, reason)
    }

    /// The values of symbols at a state.
    fn symbols<'a>(
        &'a self,
        model: &'a Workspace,
        t: f64,
        q: &'a [f64],
        v: &'a [f64],
    ) -> impl Fn(Expr) -> f64 + 'a {
        let n = q.len();
        move |s: Expr| {
            let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
            match self.state.iter().position(|&x| x == s) {
                Some(0) => t,
                Some(k) if k <= n => q[k - 1],
                Some(k) => v[k - 1 - n],
                None => parameter().unwrap_or(f64::NAN),
            }
        }
    }

    pub(super) fn values(&self, model: &Workspace, place: &Place<'_>) -> Vec<SwitchValue> {
        let Place { t, state: Start { q, v, .. }, span, .. } = place;
        // Events are located to about 1e-12 of the run.
        let sizes =
            [*span].into_iter().chain(q.iter().zip(v).map(|(q, v)| q.abs() + v.abs() * span));
        let sizes: Vec<f64> = sizes.chain(v.iter().map(|v| v.abs())).collect();
        let at = self.symbols(model, *t, q, v);
        let one = |(k, &u): (usize, &Expr)| {
            let value = self.graph.evaluate(&[u], &at)[0];
            let slopes = self.graph.evaluate(&self.slopes[k], &at);
            let parts = slopes.iter().zip(&sizes).map(|(slope, size)| slope.abs() * size);
            let noise = 1e-12 * parts.sum::<f64>();
            SwitchValue { u: value, slopes, noise }
        };
        self.functions.iter().enumerate().map(one).collect()
    }
}

impl SwitchValue {
    /// The side, if the value is larger than its rounding by a factor.
    pub(super) fn clear_side(&self, factor: f64) -> Option<Side> {
        (self.u.abs() > factor * self.noise).then(|| Side::of(self.u))
    }

    /// Its slopes along $t$, $q$ and $\dot q$.
    pub(super) fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The time until it is zero, with the rates from before; none where that is not known.
    pub(super) fn until_zero(&self, before: &Sample) -> f64 {
        let δ = -self.u / self.rate(before).0;
        if δ.is_finite() && self.u.abs() <= self.noise { δ } else { 0.0 }
    }

    /// Moves the state of another integration over a switch that this one reaches at another time,
    /// $\delta = -u/\dot u$: until then it has the rates from before.
    pub(super) fn shift(&self, state: &mut Start, before: &Sample, after: &Sample) {
        let (rate, _) = self.rate(before);
        let rounding = 0.5 * f64::EPSILON * before.t.abs();
        let δ = -self.u / rate;
        let δ = δ + rounding.copysign(δ);
        if !δ.is_finite() {
            return;
        }
        let move_by = |x: &mut f64, before: f64, after: f64| {
            let change = δ * (before - after);
            if change.is_finite() {
                *x += change;
            }
        };
        for (k, (q, v)) in state.q.iter_mut().zip(&mut state.v).enumerate() {
            move_by(q, before.v[k], after.v[k]);
            move_by(v, before.a[k], after.a[k]);
        }
    }

    /// Moves some positions and velocities so that $u = 0$.
    pub(super) fn remove(&self, state: &mut Start, movable: &[Vec<bool>; 2]) {
        let is_moved = || movable.iter().flatten().copied();
        let slopes =
            || self.slopes[1..].iter().zip(is_moved()).map(|(s, is)| if is { *s } else { 0.0 });
        let length = slopes().map(|slope| slope * slope).sum::<f64>();
        if length > 0.0 && length.is_finite() {
            let values = state.q.iter_mut().chain(&mut state.v);
            values.zip(slopes()).for_each(|(x, slope)| *x -= self.u * slope / length);
        }
    }

    /// $\dot u$, and the rounding that it has.
    fn rate(&self, sample: &Sample) -> (f64, f64) {
        let rates = [1.0].into_iter().chain(sample.v.iter().chain(&sample.a).copied());
        let (mut rate, mut size) = (0.0, 0.0);
        for (slope, x) in self.slopes.iter().zip(rates) {
            if *slope != 0.0 {
                rate += slope * x;
                size += (slope * x).abs();
            }
        }
        (rate, 1e-12 * size)
    }
}
