//! The Taylor method: coefficients at the start of a step into its length, its end and its dense output.
//!
//! $$ y(t + s) = \sum_{k=0}^{p} y^{[k]} s^k, \qquad p = \lceil 4 - \tfrac12 \ln E \rceil \qquad (\mathrm P) $$
//!
//! The order is three above that of Jorba and Zou (2005), which counts products alone: what a step takes
//! besides is shared by longer steps. The step is the longest for which the last
//! two terms are below two fifths of the tolerance: with
//! $q_k = \max_i |y_i^{[k]}| / s_i$ over the components with the scales of `scale.rs`, quadratures that are
//! carried along counting a hundredth,
//!
//! $$ h = \min\bigl((\tfrac25 E/q_p)^{1/p},\; (\tfrac25 E/q_{p-1})^{1/(p-1)}\bigr) \qquad (\mathrm H) $$
//!
//! Where terms fall by $h/\rho \approx 0.2$, which (P) and (H) come to, the first neglected one is about a
//! tenth of the tolerance. Where a step is much longer than the one before, or is the first, the second half
//! of all coefficients takes part: the last two may vanish by symmetry.
//!
//! **Defect.** A series goes on analytically where its function does not ($|x|$ beyond its kink), and knows
//! nothing of what the coefficients at the start of the step do not show ($\tanh(x/\varepsilon)$ far from zero).
//! So every step is compared with the equations at its end, where the next series begins, and at two points within,
//! which change from step to step:
//!
//! $$ |h|\,\bigl|\dot u_i(t) - f_i(t, u(t))\bigr| \le 10\,E\,s_i, \qquad u = \text{(P)} \qquad (\mathrm D) $$
//!
//! A step that fails is tried again shorter, and the steps after it grow by a factor of two at most. Where the system
//! says that coefficients show what lies ahead ([`TaylorSeries::is_algebraic`](crate::TaylorSeries)), only first steps,
//! steps after a rejection or much longer than the one before, and one in eight of the others are looked at within.
//!
//! **Rounding.** Few long steps are nearly exact, so that what is left of the error is the rounding of the
//! state. What it takes from $y$ at the end of a step is carried beside it as $e$ and
//! added to the next increment; coefficients belong to $y + e$ where the system makes use of it.

mod probe;

use std::mem::swap;

use crate::ode::dense_output::Kind;
use crate::ode::logarithm::{exp2, log2};
use crate::ode::scale::Scale;
use crate::ode::step_control::Controller;
use crate::ode::stepper::{ScaledState, StepClock, StepEnds, Stepper, Trial};
use crate::ode::system::{Counted, EvalError, System, finite};

use probe::Probe;

/// The order that belongs to a tolerance, (P).
pub fn taylor_order(tolerance: f64) -> usize {
    let order = (4.0 - 0.5 * libm::log(tolerance.clamp(1e-15, 1.0))).ceil();
    (order as usize).max(LEAST)
}

/// Dense output adds the displacement of a projection to the second and third coefficients.
const LEAST: usize = 4;

/// By how much the last two terms stay below the tolerance.
const MARGIN: f64 = 2.5;

/// By how much less quadratures count that are carried along: long steps may suit the motion and not the work
/// of a force that varies faster.
const CARRIED: f64 = 0.01;

/// Growth of the step from which on more than two coefficients are asked.
const JUMP: f64 = 3.0;

/// How many tolerances the rates may differ in (D): the derivative of the last term is about so many times its
/// share.
const DEFECT: f64 = 10.0;

/// Below this tolerance (D) would look at the rounding of the rates.
const LEAST_DEFECT: f64 = 1e-13;

/// Components that are summed together.
const BLOCK: usize = 4;

/// Points within a step at which (D) is looked at.
const PROBES: usize = 2;

/// Steps without a look within, at most, where coefficients show what lies ahead.
const UNLOOKED: usize = 7;

/// By how much a step may be longer than the one before while (D) decides.
const GROWTH: f64 = 2.0;

/// The Taylor method: the series of the last accepted state, and its own time.
pub(crate) struct Taylor {
    series: StepSeries,
    probe: Probe,
    controller: Controller,
    /// What rounding took from the time so far.
    lag: f64,
    /// The longest step that may be tried, after one was rejected.
    most: f64,
    /// Whether coefficients show what lies ahead.
    is_algebraic: bool,
    /// Length of the last accepted step, zero if there is none; and how many were not looked at within.
    accepted: f64,
    unlooked: usize,
}

impl Taylor {
    /// At how many points within a trial is compared with the equations.
    fn points(&self, trial: Trial) -> usize {
        let is_usual = self.most.is_infinite() && trial.h.abs() <= JUMP * self.accepted;
        match self.is_algebraic && is_usual {
            true if self.unlooked < UNLOOKED => 0,
            true => 1,
            false => PROBES,
        }
    }

    pub(crate) fn new(n: usize, order: Option<usize>, scale: &Scale) -> Self {
        let order = order.unwrap_or_else(|| taylor_order(scale.tolerance));
        let series = StepSeries::new(n, order, scale);
        Self {
            series,
            probe: Probe::new(n),
            controller: Controller::new(),
            lag: 0.0,
            most: f64::INFINITY,
            is_algebraic: false,
            accepted: 0.0,
            unlooked: 0,
        }
    }
}

impl Stepper for Taylor {
    fn begin(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        _at: &ScaledState<'_>,
        given: Option<f64>,
    ) -> Result<f64, EvalError> {
        let series = system.system.taylor_series();
        self.is_algebraic = series.is_some_and(|series| series.is_algebraic());
        let span = clock.t1 - clock.t0;
        Ok(given.map_or(span, |h| h.min(span.abs()).copysign(span)))
    }

    fn prepare(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        at: &ScaledState<'_>,
    ) -> Result<f64, EvalError> {
        let state = self.series.state;
        if state == SeriesState::Fresh {
            return Ok(clock.h);
        }
        system.evaluations += 1;
        let mut h = self.series.prepare(system.system, clock, at)?;
        if clock.steps == 0 || state == SeriesState::Altered {
            h = h.min(clock.h.abs());
        }
        h = h.min(self.most);
        Ok(h.copysign(clock.t1 - clock.t))
    }

    fn trial(&self, clock: &StepClock) -> Trial {
        // Rounding of time must not add up: few long steps are otherwise exact to it.
        let &StepClock { t, h, .. } = clock;
        match clock.last(1.01) {
            Some(last) => Trial { h: last.h - self.lag, ..last },
            None => Trial { t, end: t + (h + self.lag), h },
        }
    }

    fn advance(
        &mut self,
        _system: &mut Counted<'_>,
        trial: Trial,
        _from: &ScaledState<'_>,
        end: &mut [f64],
    ) -> Result<f64, EvalError> {
        self.series.end(trial.h, end);
        finite(end)?;
        Ok(0.0)
    }

    fn finish(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        ends: &StepEnds<'_>,
    ) -> Result<f64, EvalError> {
        if let Some(reached) = ends.reached {
            self.series.moved(reached, ends.end);
        }
        system.evaluations += 1;
        let mut error = self.series.look_ahead(system.system, trial, ends)?;
        let points = self.points(trial);
        if error <= 1.0 && points > 0 {
            self.unlooked = 0;
            error = error.max(self.probe.defect(system, &self.series, trial, points)?);
        }
        if let Some(reached) = ends.reached.filter(|_| error <= 1.0) {
            self.series.join(trial.h, reached, ends.end);
        }
        Ok(error)
    }

    fn dense(&self) -> (Kind, &[f64]) {
        (Kind::Series, self.series.rows())
    }

    fn accept(&mut self, trial: Trial, _error: f64, clock: &StepClock) -> f64 {
        self.series.pass();
        self.accepted = trial.h.abs();
        self.unlooked += 1;
        self.lag += trial.h - (clock.t - trial.t);
        if trial.h.abs() < self.most {
            self.most = f64::INFINITY;
        } else {
            self.most *= GROWTH;
        }
        let next = self.series.next_step.min(self.most);
        next.copysign(clock.t1 - clock.t0)
    }

    fn reject(&mut self, h: f64, error: f64) -> f64 {
        let h = self.controller.rejected(h, error);
        self.most = h.abs();
        h
    }

    fn fail(&mut self, h: f64) -> Option<f64> {
        Some(self.controller.failed(h))
    }

    fn restart(
        &mut self,
        _system: &mut Counted<'_>,
        _t: f64,
        _y: &[f64],
    ) -> Result<(), EvalError> {
        self.series.forget();
        self.accepted = 0.0;
        // NOTE: a step that an event has cut short is no rounding of time.
        self.lag = 0.0;
        Ok(())
    }
}

/// What the coefficients are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SeriesState {
    /// Those of an earlier state.
    Old,
    /// Those of the present state.
    Fresh,
    /// Those of the present state, bent towards a projected end: a shorter trial needs them as they were.
    Altered,
}

/// Coefficients at the start of a step.
struct StepSeries {
    order: usize,
    n: usize,
    /// $y = y^{[0]}$, $y^{[1]}$, …
    all: Vec<f64>,
    /// What rounding took from $y$.
    low: Vec<f64>,
    /// The same at the end of a trial, and the step that they allow.
    next: Vec<f64>,
    next_low: Vec<f64>,
    next_step: f64,
    /// $(t, y, e)$ where coefficients are asked for.
    at: Vec<f64>,
    /// $1/s_i$, and [`CARRIED`] times that where a component is not controlled.
    weights: Vec<f64>,
    controlled: usize,
    state: SeriesState,
    /// Length of the step before.
    previous: f64,
    /// $\frac1k \log_2 (E/2.5)$ and $\frac1k$ for the last two orders.
    last: [(f64, f64); 2],
    tolerance: f64,
}

impl StepSeries {
    fn new(n: usize, order: usize, scale: &Scale) -> Self {
        let margin = libm::log2(scale.tolerance / MARGIN);
        Self {
            order,
            n,
            all: vec![0.0; (order + 1) * n],
            low: vec![0.0; n],
            next: vec![0.0; (order + 1) * n],
            next_low: vec![0.0; n],
            next_step: 0.0,
            at: vec![0.0; 1 + 2 * n],
            weights: vec![0.0; n],
            controlled: scale.controlled,
            state: SeriesState::Old,
            previous: 0.0,
            tolerance: scale.tolerance,
            last: [order, order - 1].map(|k| (margin / k as f64, 1.0 / k as f64)),
        }
    }

    /// The state has changed.
    fn forget(&mut self) {
        self.state = SeriesState::Old;
        self.low.fill(0.0);
    }

    /// The coefficients, order by order.
    fn rows(&self) -> &[f64] {
        &self.all
    }

    /// Computes the coefficients at a state, and the length (H) of the step that they allow.
    fn prepare(
        &mut self,
        system: &mut dyn System,
        clock: &StepClock,
        at: &ScaledState<'_>,
    ) -> Result<f64, EvalError> {
        self.next_low.copy_from_slice(&self.low);
        let length = if self.previous > 0.0 {
            self.previous
        } else {
            1e-3 * (clock.t1 - clock.t0).abs()
        };
        self.next_step = self.expand(system, clock.t, at, length)?;
        if self.previous == 0.0 {
            // NOTE: what is zero at the start has the scale of what it becomes in a step.
            let mut tried = length;
            while self.next_step < 0.5 * tried {
                tried = self.next_step;
                self.weigh(at, tried);
                self.next_step = self.length()?;
            }
        }
        self.previous = self.next_step;
        swap(&mut self.all, &mut self.next);
        self.state = SeriesState::Fresh;
        Ok(self.next_step)
    }

    /// Takes what [`StepSeries::look_ahead`] found for the present state, if it was asked.
    fn pass(&mut self) {
        self.state = SeriesState::Old;
        swap(&mut self.low, &mut self.next_low);
        if self.next_step > 0.0 {
            swap(&mut self.all, &mut self.next);
            self.state = SeriesState::Fresh;
        }
    }

    /// Computes the coefficients at the end of a trial; gives the defect (D) there, as a multiple of the
    /// allowed one.
    fn look_ahead(
        &mut self,
        system: &mut dyn System,
        trial: Trial,
        ends: &StepEnds<'_>,
    ) -> Result<f64, EvalError> {
        let h = trial.h;
        self.next_step = 0.0;
        let at = ScaledState { y: ends.end, scale: ends.scale };
        let step = self.expand(system, trial.end, &at, h.abs())?;
        self.previous = step;
        let mut error = 0.0_f64;
        let mut first = 0;
        while first + BLOCK <= self.n {
            error = self.apart::<BLOCK>(first, h, error);
            first += BLOCK;
        }
        (first..self.n).for_each(|i| error = self.apart::<1>(i, h, error));
        self.next_step = step;
        Ok(self.relative(error, h))
    }

    /// The largest weighted difference between the rates of the series after a step and those of the next one, in a few
    /// components.
    #[inline]
    fn apart<const N: usize>(&self, first: usize, h: f64, before: f64) -> f64 {
        let mut rate = [0.0; N];
        for (k, row) in self.all.chunks_exact(self.n).enumerate().skip(1).rev() {
            let row: &[f64; N] = row[first..].first_chunk().expect("the components of a row");
            for i in 0..N {
                rate[i] = k as f64 * row[i] + h * rate[i];
            }
        }
        let next = &self.next[self.n + first..];
        let differences = rate.iter().zip(next).zip(&self.weights[first..]);
        differences.fold(before, |worst, ((rate, next), weight)| {
            worst.max((rate - next).abs() * weight)
        })
    }

    /// A weighted difference of rates in a step of length `h`, as a multiple of what (D) allows.
    fn relative(&self, difference: f64, h: f64) -> f64 {
        difference * h.abs() / (DEFECT * self.tolerance.max(LEAST_DEFECT))
    }

    /// Writes coefficients into `next`; gives the length (H). `length` is that of a step nearby.
    fn expand(
        &mut self,
        system: &mut dyn System,
        t: f64,
        at: &ScaledState<'_>,
        length: f64,
    ) -> Result<f64, EvalError> {
        let y = at.y;
        let (state, others) = self.next.split_at_mut(self.n);
        state.copy_from_slice(y);
        self.at[0] = t;
        self.at[1..=self.n].copy_from_slice(y);
        self.at[1 + self.n..].copy_from_slice(&self.next_low);
        let series = system.taylor_series().ok_or(EvalError::NotFinite)?;
        series.coefficients(&self.at, others)?;
        // What is not a number in one order is none in all higher ones.
        finite(&others[(self.order - 1) * self.n..])?;
        self.weigh(at, length);
        self.length()
    }

    /// Sets the weights of the components: their scales, or where none is known what they become in a step.
    fn weigh(&mut self, at: &ScaledState<'_>, length: f64) {
        let Self { weights, next, n, controlled, order, .. } = self;
        for (i, (weight, y)) in weights.iter_mut().zip(at.y).enumerate() {
            let share = if i < *controlled { at.scale.weight(i) } else { CARRIED };
            let mut size = y.abs();
            if at.scale.is_unknown(i) {
                // NOTE: what is zero may begin with any power.
                let powers = (1..=*order).rev().map(|k| next[k * *n + i].abs());
                size = powers.fold(0.0, |size, c| length * c.max(size));
            }
            *weight = share / at.scale.at(i, length, size);
        }
    }

    /// The length (H) that the coefficients in `next` allow.
    fn length(&self) -> Result<f64, EvalError> {
        let p = self.order;
        let [a, b] = self.last;
        let (last, before) = (self.size(p), self.size(p - 1));
        let mut h = exp2((a.0 - a.1 * last).min(b.0 - b.1 * before));
        if h > JUMP * self.previous {
            let reaches = (p / 2..=p).map(|k| a.0 - self.size(k) / k as f64);
            h = h.min(exp2(reaches.fold(f64::INFINITY, f64::min)));
        }
        if h.is_nan() || h == 0.0 {
            return Err(EvalError::NotFinite);
        }
        Ok(h)
    }

    /// $\log_2 q_k$.
    fn size(&self, k: usize) -> f64 {
        let row = &self.next[k * self.n..];
        let mut q = 0.0_f64;
        for (c, weight) in row.iter().zip(&self.weights) {
            let part = c.abs() * weight;
            q = if part > q { part } else { q };
        }
        log2(q)
    }

    /// The state after a step of length `h`, and what rounding takes from it.
    fn end(&mut self, h: f64, end: &mut [f64]) {
        let n = self.n;
        let mut first = 0;
        while first + 4 <= n {
            self.sum::<4>(first, h, end);
            first += 4;
        }
        if first < n && n >= 4 {
            // The last block overlaps the one before.
            self.sum::<4>(n - 4, h, end);
        } else {
            (first..n).for_each(|i| self.sum::<1>(i, h, end));
        }
    }

    /// A few components of [`StepSeries::end`], which stay in registers: (P) by Horner's scheme, even and odd
    /// powers apart so that none waits for the other. The increment is summed
    /// first, and added to the state without loss.
    #[inline]
    fn sum<const N: usize>(&mut self, first: usize, h: f64, end: &mut [f64]) {
        let (n, square) = (self.n, h * h);
        let rows = &self.all;
        let row = |k: usize| -> &[f64; N] {
            rows[k * n + first..].first_chunk().expect("the components of a row")
        };
        // Sums begin with the highest even and odd power.
        let (top, below) = (self.order, self.order - 1);
        let (mut a, mut b) = (*row(top), *row(below));
        let mut k = below;
        while k >= 3 {
            let (next, after) = (row(k - 1), row(k - 2));
            for i in 0..N {
                a[i] = next[i] + square * a[i];
                b[i] = after[i] + square * b[i];
            }
            k -= 2;
        }
        if k == 2 {
            let next = row(1);
            for i in 0..N {
                a[i] = next[i] + square * a[i];
            }
        }
        let (even, odd) = if top.is_multiple_of(2) { (a, b) } else { (b, a) };
        let start = row(0);
        for i in 0..N {
            let increment = h * (odd[i] + h * even[i]) + self.low[first + i];
            let sum = start[i] + increment;
            // What the sum lost (Knuth 1969).
            let back = sum - start[i];
            self.next_low[first + i] = (start[i] - (sum - back)) + (increment - back);
            end[first + i] = sum;
        }
    }

    /// The end of the trial was projected: what rounding took from it is known no more where it was moved.
    fn moved(&mut self, reached: &[f64], projected: &[f64]) {
        for (low, (a, b)) in self.next_low.iter_mut().zip(reached.iter().zip(projected)) {
            if a != b {
                *low = 0.0;
            }
        }
    }

    /// Lets dense output end in the projected state: adds $\delta\,(3\theta^2 - 2\theta^3)$, which changes
    /// neither the start nor a rate at the ends.
    fn join(&mut self, h: f64, reached: &[f64], projected: &[f64]) {
        let n = self.n;
        for i in 0..n {
            let δ = projected[i] - reached[i];
            if δ != 0.0 {
                self.all[2 * n + i] += 3.0 * δ / (h * h);
                self.all[3 * n + i] -= 2.0 * δ / (h * h * h);
                self.state = SeriesState::Altered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_usual_tolerances() {
        assert_eq!([1e-6, 1e-10, 1e-14].map(taylor_order), [11, 16, 21]);
        assert_eq!([1.0, 1e-30].map(taylor_order), [LEAST, 22]);
    }

    #[test]
    fn horner_by_blocks_and_by_components_is_the_sum() {
        for tolerance in [1e-10, 1e-14] {
            let scale = Scale::new(tolerance, 0.0, 6, &[0.0; 6]);
            let mut series = StepSeries::new(6, taylor_order(tolerance), &scale);
            let h: f64 = 0.37;
            for (i, c) in series.all.iter_mut().enumerate() {
                *c = ((i * 7919) % 13) as f64 - 6.0;
            }
            let mut end = [0.0; 6];
            series.end(h, &mut end);
            for (i, end) in end.iter().enumerate() {
                let terms = series.rows().chunks_exact(6).rev();
                let sum = terms.fold(0.0, |sum, row| row[i] + h * sum);
                assert!((sum - end).abs() < 1e-13, "{i}: {end} for {sum}");
            }
        }
    }
}
