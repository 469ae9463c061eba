//! Back onto the constraints.
//!
//! Positions first, $\varphi(t, q) = 0$ for the holonomic ones, then velocities, $\psi(t, q, \dot q) = 0$ for
//! all: Newton's iteration in which every change is the
//! smallest in the kinetic metric that does it, $\delta\dot q = M^{-1}A^\top\kappa$ with $A\,\delta\dot q = -\psi$.
//!
//! The matrix is factorised once for a state, and again only where residuals do not fall by a factor of ten: from the
//! error of a step the factors are as good after the first change as before it. Where all constraints are holonomic,
//! positions and velocities have the same matrix.

use pfaff_solver::{
    Advance, EvalError, NewtonProblem, NewtonReport, NewtonRule, SizeTest, Stall, newton,
};

use crate::system::kkt::Kkt;
use crate::system::saddle_point::Factors;

/// A residual this small, relative to the terms of the constraint, is rounding of its own evaluation.
pub(crate) const ROUNDING: f64 = 1e-15;
/// Factors are taken again as long as residuals fall by this.
const FALL: f64 = 0.1;
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
    let rule = NewtonRule { converged: kkt.near, ..RULE };
    let mut chord = Chord::default();
    let is_here = kkt.holonomic.iter().any(|&h| h);
    if is_here {
        let mut positions = Positions { kkt, t, q, v, μ, chord };
        ended(newton(&mut positions, &rule)?)?;
        chord = positions.chord.of_velocities(kkt);
    }
    ended(newton(&mut Velocities { kkt, t, q, v, μ, chord, is_here }, &rule)?)?;
    repeated_ones_agree(kkt, q, v)
}

/// How an iteration with factors that are taken again goes on.
#[derive(Clone, Copy, Debug)]
struct Chord {
    /// Whether the factors of the last solve are those of this iteration.
    is_factorised: bool,
    /// The residual, and the one before.
    size: f64,
    last: f64,
}

impl Default for Chord {
    fn default() -> Self {
        Self { is_factorised: false, size: f64::INFINITY, last: f64::INFINITY }
    }
}

impl Chord {
    fn see(&mut self, size: f64) -> f64 {
        (self.last, self.size) = (self.size, size);
        size
    }

    /// Which factors the next change takes.
    fn factors(&self) -> Factors {
        let falls = self.last.is_infinite() || self.size <= FALL * self.last;
        if self.is_factorised && falls { Factors::Last } else { Factors::New }
    }

    /// What is left of an iteration for positions for that of the velocities.
    fn of_velocities(self, kkt: &Kkt) -> Self {
        let is_same = (0..kkt.m).all(|a| kkt.holonomic[a] || !kkt.active[a]);
        Self { is_factorised: self.is_factorised && is_same, ..Self::default() }
    }
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
    ended(newton(&mut Positions { kkt, t, q, v, μ, chord: Chord::default() }, &RULE)?)
}

/// Newton's iteration for the velocities.
pub(crate) fn project_velocities(
    kkt: &mut Kkt,
    t: f64,
    q: &[f64],
    v: &mut [f64],
    μ: &[f64],
) -> Result<(), EvalError> {
    let chord = Chord::default();
    ended(newton(&mut Velocities { kkt, t, q, v, μ, chord, is_here: false }, &RULE)?)
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
    chord: Chord,
}

impl NewtonProblem for Positions<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        self.kkt.evaluate(self.t, self.q, self.v, self.μ);
        Ok(self.chord.see(worst_position(self.kkt, self.q)))
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let (step, is_plain) = self.kkt.position_correction(self.chord.factors())?;
        self.q.iter_mut().zip(step).for_each(|(q, δ)| *q += δ);
        self.chord.is_factorised = is_plain;
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
    chord: Chord,
    /// Whether the blocks are those of the state already.
    is_here: bool,
}

impl NewtonProblem for Velocities<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        if !std::mem::take(&mut self.is_here) {
            self.kkt.evaluate(self.t, self.q, self.v, self.μ);
        }
        Ok(self.chord.see(worst_velocity(self.kkt, self.v)))
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let step = self.kkt.velocity_correction(self.chord.factors())?;
        self.v.iter_mut().zip(step).for_each(|(v, δ)| *v += δ);
        self.chord.is_factorised = true;
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
