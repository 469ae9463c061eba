//! Back onto the constraints.
//!
//! Positions first, $\varphi(t, q) = 0$ for the holonomic ones, then velocities, $\psi(t, q, \dot q) = 0$ for
//! all: Newton's iteration in which every change is the
//! smallest in the kinetic metric that does it, $\delta\dot q = M^{-1}A^\top\kappa$ with $A\,\delta\dot q = -\psi$.

use pfaff_solver::{
    Advance, EvalError, NewtonProblem, NewtonReport, NewtonRule, SizeTest, Stall, newton,
};

use crate::system::kkt::Kkt;

/// A residual this small, relative to the terms of the constraint, is rounding of its own evaluation.
const ROUNDING: f64 = 1e-15;
/// Newton's iteration doubles the digits: from a step's error three or four are enough, from a guess a few more.
const ITERATIONS: usize = 25;

/// Moves a state onto all constraints.
pub(crate) fn project(
    kkt: &mut Kkt,
    t: f64,
    q: &mut [f64],
    v: &mut [f64],
    μ: &[f64],
) -> Result<(), EvalError> {
    if kkt.m == 0 {
        return Ok(());
    }
    if kkt.holonomic.iter().any(|&h| h) {
        project_positions(kkt, t, q, v, μ)?;
    }
    project_velocities(kkt, t, q, v, μ)?;
    repeated_ones_agree(kkt, q, v)
}

/// Constraints that repeat others must be met when those are, at the state last evaluated.
fn repeated_ones_agree(kkt: &mut Kkt, q: &[f64], v: &[f64]) -> Result<(), EvalError> {
    /// Repeated constraints differ by rounding alone, which a bad choice of the others may enlarge.
    const AGREEMENT: f64 = 1e-9;
    kkt.review();
    let largest = kkt.largest_velocity(v);
    for a in kkt.repeated() {
        let position = if kkt.holonomic[a] { kkt.position()[a] } else { 0.0 };
        let worst = larger(
            position.abs() / kkt.position_size(a, q),
            kkt.residual()[a].abs() / kkt.velocity_size(a, v, largest),
        );
        if worst.is_nan() || worst > AGREEMENT {
            return Err(EvalError::Singular);
        }
    }
    Ok(())
}

/// Newton's iteration for the positions. Velocity constraints take no part.
pub(crate) fn project_positions(
    kkt: &mut Kkt,
    t: f64,
    q: &mut [f64],
    v: &[f64],
    μ: &[f64],
) -> Result<(), EvalError> {
    ended(newton(&mut Positions { kkt, t, q, v, μ }, &RULE)?)
}

/// Newton's iteration for the velocities.
pub(crate) fn project_velocities(
    kkt: &mut Kkt,
    t: f64,
    q: &[f64],
    v: &mut [f64],
    μ: &[f64],
) -> Result<(), EvalError> {
    ended(newton(&mut Velocities { kkt, t, q, v, μ }, &RULE)?)
}

/// Residuals are tested before each step. What is small and no longer falls is rounding.
const RULE: NewtonRule = NewtonRule {
    steps: ITERATIONS,
    converged: ROUNDING,
    stall: Some(Stall { below: 1e-13, ratio: 0.5, after: 0 }),
    acceptable: 1e-12,
    test: SizeTest::BeforeStep,
    ..NewtonRule::DEFAULT
};

fn ended(report: NewtonReport) -> Result<(), EvalError> {
    match report {
        NewtonReport { size, .. } if !size.is_finite() => Err(EvalError::NotFinite),
        NewtonReport { converged: false, .. } => Err(EvalError::Singular),
        _ => Ok(()),
    }
}

/// $\varphi(t, q) = 0$
struct Positions<'a> {
    kkt: &'a mut Kkt,
    t: f64,
    q: &'a mut [f64],
    v: &'a [f64],
    μ: &'a [f64],
}

impl NewtonProblem for Positions<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        self.kkt.evaluate(self.t, self.q, self.v, self.μ);
        Ok(worst_position(self.kkt, self.q))
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let step = self.kkt.position_correction()?;
        self.q.iter_mut().zip(step).for_each(|(q, δ)| *q += δ);
        Ok(Advance::Taken(0.0))
    }
}

/// $\psi(t, q, \dot q) = 0$
struct Velocities<'a> {
    kkt: &'a mut Kkt,
    t: f64,
    q: &'a [f64],
    v: &'a mut [f64],
    μ: &'a [f64],
}

impl NewtonProblem for Velocities<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        self.kkt.evaluate(self.t, self.q, self.v, self.μ);
        Ok(worst_velocity(self.kkt, self.v))
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let step = self.kkt.velocity_correction()?;
        self.v.iter_mut().zip(step).for_each(|(v, δ)| *v += δ);
        Ok(Advance::Taken(0.0))
    }
}

/// The largest $|\varphi_a|$ in parts of its terms, over the active holonomic constraints.
pub(crate) fn worst_position(kkt: &Kkt, q: &[f64]) -> f64 {
    let scaled = |a: usize| kkt.position()[a].abs() / kkt.position_size(a, q);
    (0..kkt.m).filter(|&a| kkt.holonomic[a] && kkt.active[a]).map(scaled).fold(0.0, larger)
}

/// The largest $|\psi_a|$ in parts of its terms, over the active constraints.
pub(crate) fn worst_velocity(kkt: &Kkt, v: &[f64]) -> f64 {
    let largest = kkt.largest_velocity(v);
    let scaled = |a: usize| kkt.residual()[a].abs() / kkt.velocity_size(a, v, largest);
    (0..kkt.m).filter(|&a| kkt.active[a]).map(scaled).fold(0.0, larger)
}

/// The larger one; not a number wins, so that it is seen.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
