//! A Rosenbrock method of order 4(3) with six stages, for stiff problems at loose tolerances.
//!
//! $$ \Bigl(\frac{1}{\gamma h} - J\Bigr) u_i = f\Bigl(t + c_i h,\; y + \sum_{j<i} a_{ij} u_j\Bigr)
//!    {} + \sum_{j<i} \frac{c_{ij}}{h} u_j + h\,d_i\,\partial_t f, \qquad
//!    y_1 = y + \sum_{j\le 4} a_{5j} u_j + u_5 + u_6 \qquad (\mathrm{RB}) $$
//!
//! with the coefficients of RODASP (Steinebach 1995; Hairer and Wanner 1996, §IV.7 and the program RODAS), which keeps
//! its order where stiff components are driven. $u_6$ is the error of the embedded formula. One Jacobian, one
//! factorisation and six evaluations make a step; nothing is iterated. Dense output has order 3.
//!
//! **Differences from the program RODAS.** Norms are maxima over the components in units of the allowed error, as for
//! the other methods.

use crate::ode::dense_output::Kind;
use crate::ode::jacobian::{RealFactors, StateJacobian};
use crate::ode::scale::Scale;
use crate::ode::step_control::given_or_first_step;
use crate::ode::stepper::{Base, ScaledState, StepClock, StepEnds, Stepper, Trial};
use crate::ode::system::{Counted, EvalError, finite};

const STAGES: usize = 6;
const GAMMA: f64 = 0.25;
/// $c_i$
const NODES: [f64; STAGES] = [0.0, 0.75, 0.21, 0.63, 1.0, 1.0];
/// $d_i$
const TIME: [f64; STAGES] = [0.25, -0.5, -0.023_504, -0.0362, 0.0, 0.0];
/// $a_{ij}$ by rows; the last row is that of the end without $u_6$.
const A: [[f64; STAGES]; STAGES] = [
    [0.0; STAGES],
    [3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.831_036_793_486_759, 0.495_518_396_743_379_5, 0.0, 0.0, 0.0, 0.0],
    [2.304_376_582_692_669, -0.052_492_752_457_430_01, -1.176_798_761_832_782, 0.0, 0.0, 0.0],
    [
        -7.170_454_962_423_024,
        -4.741_636_671_481_785,
        -16.310_026_313_309_71,
        -1.062_004_044_111_401,
        0.0,
        0.0,
    ],
    [
        -7.170_454_962_423_024,
        -4.741_636_671_481_785,
        -16.310_026_313_309_71,
        -1.062_004_044_111_401,
        1.0,
        0.0,
    ],
];
/// $c_{ij}$ by rows.
const C: [[f64; STAGES]; STAGES] = [
    [0.0; STAGES],
    [-12.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-8.791_795_173_947_035, -2.207_865_586_973_518, 0.0, 0.0, 0.0, 0.0],
    [10.817_930_568_571_53, 6.780_270_611_428_266, 19.534_859_446_424_1, 0.0, 0.0, 0.0],
    [
        34.190_950_067_496_76,
        15.496_711_537_259_63,
        54.747_608_759_641_3,
        14.160_053_921_485_34,
        0.0,
        0.0,
    ],
    [
        34.626_058_309_305_32,
        15.300_849_761_144_73,
        56.999_555_786_626_67,
        18.408_070_097_930_95,
        -5.714_285_714_285_717,
        0.0,
    ],
];
/// What the stages add to the third and fourth row of dense output.
const DENSE: [[f64; 5]; 2] = [
    [
        25.098_767_037_085_89,
        11.620_131_043_618_67,
        28.491_483_077_146_26,
        -5.664_021_568_594_133,
        0.0,
    ],
    [
        1.638_054_557_396_973,
        -0.737_361_980_667_874_8,
        8.477_918_219_238_99,
        15.992_531_487_795_2,
        -1.882_352_941_176_471,
    ],
];

/// Storage of (RB).
pub(crate) struct Rosenbrock {
    n: usize,
    jacobian: StateJacobian,
    factors: RealFactors,
    /// The length that the factors belong to.
    factored: Option<f64>,
    /// Rates at the start and at the end.
    f: Vec<f64>,
    f1: Vec<f64>,
    /// $\partial_t f$ at the start.
    slope: Vec<f64>,
    /// $u$, stage by stage.
    stages: Vec<f64>,
    state: Vec<f64>,
    rates: Vec<f64>,
    rows: Vec<f64>,
    /// The last accepted length and error.
    accepted: Option<(f64, f64)>,
    is_rejected: bool,
}

impl Rosenbrock {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            jacobian: StateJacobian::new(n),
            factors: RealFactors::default(),
            factored: None,
            f: vec![0.0; n],
            f1: vec![0.0; n],
            slope: vec![0.0; n],
            stages: vec![0.0; STAGES * n],
            state: vec![0.0; n],
            rates: vec![0.0; n],
            rows: vec![0.0; 4 * n],
            accepted: None,
            is_rejected: false,
        }
    }

    /// Makes the Jacobian and the factors ready.
    fn prepare_step(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        y: &[f64],
    ) -> Result<(), EvalError> {
        let Trial { t, h, .. } = trial;
        if !self.jacobian.is_current {
            let at = Base { t, h, y, f: &self.f };
            self.jacobian.evaluate(system, &at, &mut self.state, &mut self.rates)?;
            self.time_slope(system, t, h, y)?;
            self.factored = None;
        }
        if self.factored != Some(h) {
            self.factored = None;
            self.factors.factor(1.0 / (GAMMA * h), &self.jacobian)?;
            self.factored = Some(h);
        }
        Ok(())
    }

    fn time_slope(
        &mut self,
        system: &mut Counted<'_>,
        t: f64,
        h: f64,
        y: &[f64],
    ) -> Result<(), EvalError> {
        if let Some(jacobian) = system.system.jacobian()
            && jacobian.time_slope(t, y, &mut self.slope) == Ok(true)
            && finite(&self.slope).is_ok()
        {
            return Ok(());
        }
        let δ = (1.5e-8 * t.abs().max(1e-3 * h.abs())).copysign(h);
        let moved = t + δ;
        system.rates(moved, y, &mut self.slope)?;
        let δ = moved - t;
        self.slope.iter_mut().zip(&self.f).for_each(|(s, f)| *s = (*s - f) / δ);
        Ok(())
    }

    /// By what a step with this error is divided.
    fn quotient(error: f64) -> f64 {
        libm::pow(error.max(1e-10), 0.25) / 0.9
    }
}

/// The largest part of a vector in units of the allowed error.
fn norm(x: &[f64], y: &[f64], end: &[f64], scale: &Scale) -> f64 {
    let parts = x[..scale.controlled].iter().zip(y.iter().zip(end)).enumerate();
    let parts = parts.map(|(i, (x, (y, end)))| {
        let size = y.abs().max(end.abs());
        x.abs() / scale.at(i, 0.0, size)
    });
    parts.fold(0.0, |m: f64, x| if x > m || x.is_nan() { x } else { m }) / scale.tolerance
}

impl Stepper for Rosenbrock {
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
        self.prepare_step(system, trial, from.y)?;
        let (n, Trial { t, h, .. }) = (self.n, trial);
        for i in 0..STAGES {
            let (done, rest) = self.stages.split_at_mut(i * n);
            let u = &mut rest[..n];
            if i == 0 {
                u.copy_from_slice(&self.f);
            } else {
                self.state.copy_from_slice(from.y);
                for (before, a) in done.chunks_exact(n).zip(A[i]) {
                    self.state.iter_mut().zip(before).for_each(|(x, u)| *x += a * u);
                }
                system.rates(t + NODES[i] * h, &self.state, u)?;
            }
            for (before, c) in done.chunks_exact(n).zip(C[i]) {
                u.iter_mut().zip(before).for_each(|(x, u)| *x += c / h * u);
            }
            u.iter_mut().zip(&self.slope).for_each(|(x, s)| *x += h * TIME[i] * s);
            self.factors.solve(u);
        }
        let last = &self.stages[(STAGES - 1) * n..];
        end.iter_mut().zip(self.state.iter().zip(last)).for_each(|(x, (y, u))| *x = y + u);
        finite(end)?;
        Ok(norm(last, from.y, end, from.scale))
    }

    fn finish(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        ends: &StepEnds<'_>,
    ) -> Result<f64, EvalError> {
        system.rates(trial.end, ends.end, &mut self.f1)?;
        let n = self.n;
        let (first, rest) = self.rows.split_at_mut(n);
        let (second, rest) = rest.split_at_mut(n);
        first.copy_from_slice(ends.y);
        second.iter_mut().zip(ends.end.iter().zip(ends.y)).for_each(|(r, (b, a))| *r = b - a);
        for (row, weights) in rest.chunks_exact_mut(n).zip(DENSE) {
            row.fill(0.0);
            for (u, w) in self.stages.chunks_exact(n).zip(weights) {
                row.iter_mut().zip(u).for_each(|(r, u)| *r += w * u);
            }
        }
        if let Some(reached) = ends.reached {
            // + δ (3θ² − 2θ³) for the displacement δ of the projection, of which the second row has δ θ.
            for (c, (end, reached)) in ends.end.iter().zip(reached).enumerate() {
                let δ = end - reached;
                rest[c] -= δ;
                rest[n + c] += 2.0 * δ;
            }
        }
        Ok(0.0)
    }

    fn dense(&self) -> (Kind, &[f64]) {
        (Kind::Hermite, &self.rows)
    }

    fn accept(&mut self, trial: Trial, error: f64, _clock: &StepClock) -> f64 {
        std::mem::swap(&mut self.f, &mut self.f1);
        let mut quotient = Self::quotient(error);
        let error = error.max(1e-2);
        if let Some((h, before)) = self.accepted {
            // The controller of Gustafsson.
            let growth = libm::pow(error * error / before, 0.25);
            quotient = quotient.max((h / trial.h) * growth / 0.9);
        }
        let mut next = trial.h / quotient.clamp(1.0 / 6.0, 5.0);
        if self.is_rejected && next.abs() > trial.h.abs() {
            next = trial.h;
        }
        self.accepted = Some((trial.h, error));
        self.is_rejected = false;
        self.jacobian.is_current = false;
        next
    }

    fn reject(&mut self, h: f64, error: f64) -> f64 {
        self.is_rejected = true;
        if self.accepted.is_none() {
            return 0.1 * h;
        }
        h / Self::quotient(error).clamp(1.1, 5.0)
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
        self.accepted = None;
        self.jacobian.is_current = false;
        system.rates(t, y, &mut self.f)
    }
}
