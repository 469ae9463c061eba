//! Radau IIA methods of orders 5, 9 and 13, for stiff problems.
//!
//! $$ z_i = h \sum_j a_{ij}\, f(t + c_j h,\; y + z_j), \qquad y_1 = y + z_s \qquad (\mathrm R) $$
//!
//! by a simplified Newton iteration in the variables $w = V^{-1} z$, in which $A^{-1} = V \Lambda V^{-1}$ is diagonal
//!
//! $$ \Bigl(\frac{\lambda_k}{h} I - J\Bigr)\,\Delta w_k
//!    = -\frac{\lambda_k}{h}\,w_k + \sum_i (V^{-1})_{ki}\,f(\dots), $$
//!
//! one real and $(s-1)/2$ complex systems of the size of the state (Hairer and Wanner 1996, §IV.8; 1999). The error is
//! that of an embedded formula of order $s$, filtered by the real system,
//!
//! $$ e = \Bigl(\frac{\gamma}{h} I - J\Bigr)^{-1}\Bigl(f(t, y) + \frac\gamma h \sum_i e_i z_i\Bigr). $$
//!
//! **Order.** Where Newton's iteration contracts by 500 and more a step, the step is short for the order, and the next
//! higher order is taken; where it hardly contracts or diverges, the next lower one.
//!
//! **Differences from the program RADAU.** Norms are maxima over the components in units of the allowed error, as for
//! the other methods. The error estimate is compared with the tolerance itself and not with its power 2/3: dense output
//! is the collocation polynomial, whose order is that of the estimate, and it must satisfy the tolerance too.

use std::mem::swap;

use num_complex::Complex64;

use crate::ode::dense_output::Kind;
use crate::ode::jacobian::{ComplexFactors, RealFactors, StateJacobian};
use crate::ode::radau_tableau::{RadauTableau, TABLEAUS};
use crate::ode::scale::Scale;
use crate::ode::step_control::given_or_first_step;
use crate::ode::stepper::{Base, ScaledState, StepClock, StepEnds, Stepper, Trial};
use crate::ode::system::{Counted, EvalError, finite};

/// Newton's iteration ends where its error is this part of the allowed one.
const ENOUGH: f64 = 0.01;
/// A contraction below which the Jacobian is kept for the next step.
const KEPT: f64 = 1e-3;
/// Contractions that ask for a higher and a lower order, and steps between two changes.
const RAISED: f64 = 2e-3;
const LOWERED: f64 = 0.8;
const PAUSE: usize = 10;
/// Changes of the stages of this part of the allowed error that do not shrink are rounding.
const STALLED: f64 = 0.1;
/// A step is not changed for so little, so that the factors stay.
const SAME: f64 = 1.2;
/// The error of a trial whose iteration did not converge.
const DIVERGED: f64 = 1e3;

/// Storage of (R).
pub(crate) struct Radau {
    n: usize,
    /// Which of [`TABLEAUS`], and whether that is asked for.
    method: usize,
    is_fixed: bool,
    jacobian: StateJacobian,
    real: RealFactors,
    shifted: Vec<ComplexFactors>,
    /// The length and method that the factors belong to.
    factored: Option<(f64, usize)>,
    /// Rates at the start and at the end.
    f: Vec<f64>,
    f1: Vec<f64>,
    /// $z$ and the rates there, stage by stage.
    z: Vec<f64>,
    rates: Vec<f64>,
    /// $w$: the real one, and the complex ones after each other.
    w: Vec<f64>,
    ω: Vec<Complex64>,
    δ: Vec<f64>,
    δω: Vec<Complex64>,
    state: Vec<f64>,
    error: Vec<f64>,
    /// Dense output of the trial, and of the step before with its length.
    rows: Vec<f64>,
    before: Vec<f64>,
    before_length: Option<f64>,
    newton: Newton,
    /// The last accepted length and error.
    accepted: Option<(f64, f64)>,
    is_rejected: bool,
    since_change: usize,
}

/// How the last iteration went.
#[derive(Clone, Copy, Debug, Default)]
struct Newton {
    /// The mean contraction of its last steps.
    contraction: f64,
    iterations: usize,
    /// By what the step is to be multiplied, if it did not converge.
    shorten: Option<f64>,
}

impl Radau {
    /// For so many components; `order` is 5, 9 or 13, or chosen by the method.
    pub(crate) fn new(n: usize, order: Option<usize>) -> Self {
        let most = TABLEAUS[TABLEAUS.len() - 1].stages;
        let pairs = most / 2;
        let method = order.and_then(|p| TABLEAUS.iter().position(|t| 2 * t.stages - 1 == p));
        Self {
            n,
            method: method.unwrap_or(0),
            is_fixed: method.is_some(),
            jacobian: StateJacobian::new(n),
            real: RealFactors::default(),
            shifted: vec![ComplexFactors::default(); pairs],
            factored: None,
            f: vec![0.0; n],
            f1: vec![0.0; n],
            z: vec![0.0; most * n],
            rates: vec![0.0; most * n],
            w: vec![0.0; n],
            ω: vec![Complex64::ZERO; pairs * n],
            δ: vec![0.0; n],
            δω: vec![Complex64::ZERO; pairs * n],
            state: vec![0.0; n],
            error: vec![0.0; n],
            rows: vec![0.0; (most + 1) * n],
            before: vec![0.0; (most + 1) * n],
            before_length: None,
            newton: Newton::default(),
            accepted: None,
            is_rejected: false,
            since_change: 0,
        }
    }

    fn tableau(&self) -> &'static RadauTableau {
        &TABLEAUS[self.method]
    }

    /// The largest part of a vector in units of the allowed error.
    fn norm(x: &[f64], from: &ScaledState<'_>) -> f64 {
        let Scale { tolerance, controlled, .. } = *from.scale;
        // NOTE: the rounding of stiff rates is damped, and is left out of the scales.
        let parts = x[..controlled].iter().zip(from.y).enumerate();
        let parts = parts.map(|(i, (x, y))| x.abs() / from.scale.at(i, 0.0, y.abs()));
        let largest = parts.fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m });
        largest / tolerance
    }

    /// Makes the Jacobian and the factors ready for a step of this length.
    fn factor(
        &mut self,
        system: &mut Counted<'_>,
        t: f64,
        h: f64,
        from: &ScaledState<'_>,
    ) -> Result<(), EvalError> {
        if !self.jacobian.is_known {
            let at = Base { t, h, y: from.y, f: &self.f };
            self.jacobian.evaluate(system, &at, &mut self.state, &mut self.f1)?;
            self.factored = None;
        }
        if self.factored == Some((h, self.method)) {
            return Ok(());
        }
        let tableau = self.tableau();
        self.factored = None;
        self.real.factor(tableau.real / h, &self.jacobian)?;
        for (factors, λ) in self.shifted.iter_mut().zip(tableau.complex) {
            factors.factor(complex(λ) / h, &self.jacobian)?;
        }
        self.factored = Some((h, self.method));
        Ok(())
    }

    /// Stages to begin with: the polynomial of the step before, beyond its end.
    fn guess(&mut self, h: f64, y: &[f64]) {
        let (tableau, n) = (self.tableau(), self.n);
        let s = tableau.stages;
        let Some(length) = self.before_length else {
            self.z[..s * n].fill(0.0);
            self.transform(false);
            return;
        };
        for (z, c) in self.z.chunks_exact_mut(n).zip(tableau.nodes) {
            let θ = 1.0 + c * h / length;
            z.fill(0.0);
            for row in self.before.chunks_exact(n).rev() {
                z.iter_mut().zip(row).for_each(|(z, r)| *z = r + θ * *z);
            }
            z.iter_mut().zip(y).for_each(|(z, y)| *z -= y);
        }
        self.transform(false);
    }

    /// $w = V^{-1} z$, or $w \mathrel{+}= \ldots$ of the rates into the right sides of the iteration if `is_rates`.
    fn transform(&mut self, is_rates: bool) {
        let (tableau, n) = (self.tableau(), self.n);
        let s = tableau.stages;
        let from = if is_rates { &self.rates } else { &self.z };
        let (real, complex) =
            if is_rates { (&mut self.δ, &mut self.δω) } else { (&mut self.w, &mut self.ω) };
        for c in 0..n {
            let stage = |i: usize| from[i * n + c];
            real[c] = (0..s).map(|i| tableau.to_real[i] * stage(i)).sum();
            for k in 0..tableau.complex.len() {
                let row = &tableau.to_complex[k * s..(k + 1) * s];
                let parts = row.iter().enumerate().map(|(i, v)| self::complex(v) * stage(i));
                complex[k * n + c] = parts.sum();
            }
        }
    }

    /// $z = V w$
    fn transform_back(&mut self) {
        let (tableau, n) = (self.tableau(), self.n);
        let s = tableau.stages;
        for (i, z) in self.z.chunks_exact_mut(n).take(s).enumerate() {
            for (c, z) in z.iter_mut().enumerate() {
                *z = tableau.from_real[i] * self.w[c];
                for k in 0..tableau.complex.len() {
                    let v = complex(&tableau.from_complex[k * s + i]);
                    *z += 2.0 * (v * self.ω[k * n + c]).re;
                }
            }
        }
    }

    /// Solves (R) for the stages; whether the iteration converged is in `newton`.
    fn iterate(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        from: &ScaledState<'_>,
    ) -> Result<(), EvalError> {
        let (tableau, n, h) = (self.tableau(), self.n, trial.h);
        let (s, pairs) = (tableau.stages, tableau.complex.len());
        let most = 7 + (s - 3) * 5 / 2;
        let rounding = 2.0 * f64::EPSILON / from.scale.tolerance;
        let enough = ENOUGH.max(5.0 * rounding);
        self.newton = Newton::default();
        let (mut last, mut ratio) = (0.0, 0.0);
        for iteration in 1..=most {
            self.newton.iterations = iteration;
            for i in 0..s {
                let z = &self.z[i * n..(i + 1) * n];
                self.state
                    .iter_mut()
                    .zip(from.y.iter().zip(z))
                    .for_each(|(x, (y, z))| *x = y + z);
                let rates = &mut self.rates[i * n..(i + 1) * n];
                system.rates(trial.t + tableau.nodes[i] * h, &self.state, rates)?;
            }
            self.transform(true);
            let γ = tableau.real / h;
            self.δ.iter_mut().zip(&self.w).for_each(|(δ, w)| *δ -= γ * w);
            self.real.solve(&mut self.δ);
            let mut size = Self::norm(&self.δ, from);
            self.w.iter_mut().zip(&self.δ).for_each(|(w, δ)| *w += δ);
            for k in 0..pairs {
                let μ = complex(&tableau.complex[k]) / h;
                let part = k * n..(k + 1) * n;
                for (δ, ω) in self.δω[part.clone()].iter_mut().zip(&self.ω[part.clone()]) {
                    *δ -= μ * ω;
                }
                self.shifted[k].solve(&mut self.δω[part.clone()]);
                for (c, (ω, δ)) in
                    self.ω[part.clone()].iter_mut().zip(&self.δω[part]).enumerate()
                {
                    *ω += δ;
                    self.error[c] = δ.l1_norm();
                }
                size = larger(size, Self::norm(&self.error, from));
            }
            self.transform_back();
            if !size.is_finite() {
                return Err(EvalError::NotFinite);
            }
            if size <= rounding {
                // Nothing is left to contract, as at rest.
                return Ok(());
            }
            if iteration > 1 {
                let now = size / last;
                if now >= 0.5 && size <= STALLED {
                    // What is left is the rounding of the rates.
                    self.newton.contraction = KEPT;
                    return Ok(());
                }
                self.newton.contraction =
                    if iteration == 2 { now } else { (now * ratio).sqrt() };
                ratio = now;
                let θ = self.newton.contraction;
                if θ < 1.0 && θ / (1.0 - θ) * size <= enough {
                    return Ok(());
                }
                if θ >= 0.99 {
                    self.newton.shorten = Some(0.5);
                    return Ok(());
                }
                let left = (most - iteration) as f64;
                let expected = θ / (1.0 - θ) * size * libm::pow(θ, left) / enough;
                if expected >= 1.0 {
                    let excess = expected.clamp(1e-4, 20.0);
                    let power = -1.0 / (4.0 + left);
                    self.newton.shorten = Some(0.8 * libm::pow(excess, power));
                    return Ok(());
                }
            }
            last = size;
        }
        self.newton.shorten = Some(0.5);
        Ok(())
    }

    /// The estimated error, as a multiple of the allowed one.
    fn estimate(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        from: &ScaledState<'_>,
    ) -> f64 {
        let (tableau, n, h) = (self.tableau(), self.n, trial.h);
        self.δ.fill(0.0);
        for (z, e) in self.z.chunks_exact(n).zip(tableau.error) {
            let factor = tableau.real / h * e;
            self.δ.iter_mut().zip(z).for_each(|(x, z)| *x += factor * z);
        }
        self.error
            .iter_mut()
            .zip(self.δ.iter().zip(&self.f))
            .for_each(|(e, (x, f))| *e = x + f);
        self.real.solve(&mut self.error);
        let error = Self::norm(&self.error, from);
        if error < 1.0 || (self.accepted.is_some() && !self.is_rejected) {
            return error;
        }
        // NOTE: where components are far from their slow values, the estimate is filtered once more.
        let moved = from.y.iter().zip(&self.error);
        self.state.iter_mut().zip(moved).for_each(|(x, (y, e))| *x = y + e);
        let (state, rates) = (&self.state, &mut self.f1);
        if system.rates(trial.t, state, rates).is_err() {
            return error;
        }
        self.error
            .iter_mut()
            .zip(self.δ.iter().zip(&self.f1))
            .for_each(|(e, (x, f))| *e = x + f);
        self.real.solve(&mut self.error);
        Self::norm(&self.error, from)
    }

    /// By what a step with this error is divided.
    fn quotient(&self, error: f64) -> f64 {
        let s = self.tableau().stages;
        let most = (7 + (s - 3) * 5 / 2) as f64;
        let safety =
            0.9 * (2.0 * most + 1.0) / (2.0 * most + self.newton.iterations.max(1) as f64);
        libm::pow(error.max(1e-10), 1.0 / (s as f64 + 1.0)) / safety
    }

    /// Takes another order where the iteration says so.
    fn change_order(&mut self) {
        self.since_change += 1;
        if self.is_fixed || self.since_change < PAUSE {
            return;
        }
        let θ = self.newton.contraction;
        let method = if θ <= RAISED && self.method + 1 < TABLEAUS.len() {
            self.method + 1
        } else if θ >= LOWERED && self.method > 0 {
            self.method - 1
        } else {
            return;
        };
        self.method = method;
        self.since_change = 0;
    }
}

impl Stepper for Radau {
    fn begin(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        at: &ScaledState<'_>,
        given: Option<f64>,
    ) -> Result<f64, EvalError> {
        system.rates(clock.t0, at.y, &mut self.f)?;
        Ok(given_or_first_step(system, clock, at, given, &self.f, &mut Vec::new()))
    }

    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        from: &ScaledState<'_>,
        end: &mut [f64],
    ) -> Result<f64, EvalError> {
        loop {
            self.factor(system, trial.t, trial.h, from)?;
            self.guess(trial.h, from.y);
            self.iterate(system, trial, from)?;
            if self.newton.shorten.is_none() || self.jacobian.is_current {
                break;
            }
            self.jacobian.is_known = false;
        }
        if self.newton.shorten.is_some() {
            return Ok(DIVERGED);
        }
        let s = self.tableau().stages;
        let last = &self.z[(s - 1) * self.n..s * self.n];
        end.iter_mut().zip(from.y.iter().zip(last)).for_each(|(x, (y, z))| *x = y + z);
        finite(end)?;
        let error = self.estimate(system, trial, from);
        finite(&[error])?;
        Ok(error)
    }

    fn finish(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        ends: &StepEnds<'_>,
    ) -> Result<f64, EvalError> {
        system.rates(trial.end, ends.end, &mut self.f1)?;
        let (tableau, n) = (self.tableau(), self.n);
        let s = tableau.stages;
        let (first, rows) = self.rows.split_at_mut(n);
        first.copy_from_slice(ends.y);
        for (row, powers) in rows.chunks_exact_mut(n).zip(tableau.powers.chunks_exact(s)) {
            row.fill(0.0);
            for (z, p) in self.z.chunks_exact(n).zip(powers) {
                row.iter_mut().zip(z).for_each(|(r, z)| *r += p * z);
            }
        }
        if let Some(reached) = ends.reached {
            // + δ (3θ² − 2θ³) for the displacement δ of the projection.
            for (c, (end, reached)) in ends.end.iter().zip(reached).enumerate() {
                let δ = end - reached;
                rows[n + c] += 3.0 * δ;
                rows[2 * n + c] -= 2.0 * δ;
            }
        }
        Ok(0.0)
    }

    fn dense(&self) -> (Kind, &[f64]) {
        (Kind::Powers, &self.rows[..(self.tableau().stages + 1) * self.n])
    }

    fn accept(&mut self, trial: Trial, error: f64, _clock: &StepClock) -> f64 {
        swap(&mut self.f, &mut self.f1);
        swap(&mut self.rows, &mut self.before);
        let rows = (self.tableau().stages + 1) * self.n;
        self.before[rows..].fill(0.0);
        self.before_length = Some(trial.h);
        let mut quotient = self.quotient(error);
        if let Some((h, before)) = self.accepted {
            // The controller of Gustafsson.
            let s = self.tableau().stages as f64;
            let error = error.max(1e-2);
            let growth = error * error / before.max(1e-2);
            let predicted = (h / trial.h) * libm::pow(growth, 1.0 / (s + 1.0)) / 0.9;
            quotient = quotient.max(predicted);
        }
        let mut next = trial.h / quotient.clamp(0.125, 5.0);
        if self.is_rejected && next.abs() > trial.h.abs() {
            next = trial.h;
        }
        self.accepted = Some((trial.h, error.max(1e-2)));
        self.is_rejected = false;
        self.jacobian.is_current = false;
        if self.newton.contraction > KEPT {
            self.jacobian.is_known = false;
        } else if (1.0..=SAME).contains(&(next / trial.h)) {
            next = trial.h;
        }
        self.change_order();
        next
    }

    fn reject(&mut self, h: f64, error: f64) -> f64 {
        self.is_rejected = true;
        if let Some(factor) = self.newton.shorten.take() {
            if self.newton.contraction >= LOWERED && self.method > 0 && !self.is_fixed {
                self.method -= 1;
                self.since_change = 0;
            }
            return factor * h;
        }
        if self.accepted.is_none() {
            return 0.1 * h;
        }
        h / self.quotient(error).clamp(1.1, 5.0)
    }

    fn fail(&mut self, h: f64) -> Option<f64> {
        self.is_rejected = true;
        Some(h / 4.0)
    }

    fn restart(
        &mut self,
        system: &mut Counted<'_>,
        t: f64,
        y: &[f64],
    ) -> Result<(), EvalError> {
        self.before_length = None;
        self.accepted = None;
        self.jacobian.is_known = false;
        system.rates(t, y, &mut self.f)
    }
}

/// A number by its parts.
fn complex([re, im]: &[f64; 2]) -> Complex64 {
    Complex64::new(*re, *im)
}

/// The larger one; not a number wins.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
