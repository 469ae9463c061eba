//! Newton's iteration, with its stopping rule and its damping as values.
//!
//! $$ F(x) = 0: \qquad F'(x_k)\,\delta_k = -F(x_k), \qquad x_{k+1} = x_k + \lambda_k\,\delta_k
//!    \qquad (\mathrm N) $$
//!
//! The problem evaluates its equations and solves for its step ([`NewtonProblem`]); [`newton`] decides when to
//! stop, when to give up, and how much of a step to take ([`NewtonRule`]). The problem keeps all storage, so
//! that an iteration allocates nothing by itself.
//!
//! **Stopping.** A *size* is whatever the problem measures, scaled so that the numbers of the rule make sense:
//! usually $\max_i |\delta_i|/(1 + |x_i|)$, or the same of residuals. An iteration has converged if
//!
//! - the size is at most `converged`; or
//! - the size is below `stall.below` and no longer falls: at least `stall.ratio` times the one before. Then
//!   what is left is rounding.
//!
//! **Damping.** With [`Damping::Halving`] a step that the problem does not accept is halved and tried again.

/// Solves (N) from the present point of `problem`.
///
/// ```
/// use pfaff_solver::{Advance, EvalError, NewtonProblem, NewtonRule, newton};
///
/// /// The zero of x² − 2.
/// struct Root {
///     x: f64,
///     step: f64,
/// }
///
/// impl NewtonProblem for Root {
///     type Error = EvalError;
///
///     fn linearise(&mut self) -> Result<f64, EvalError> {
///         self.step = (2.0 - self.x * self.x) / (2.0 * self.x);
///         Ok(self.step.abs())
///     }
///
///     fn advance(&mut self, part: f64) -> Result<Advance, EvalError> {
///         self.x += part * self.step;
///         Ok(Advance::Taken(self.step.abs()))
///     }
/// }
///
/// let mut root = Root { x: 1.0, step: 0.0 };
/// let report = newton(&mut root, &NewtonRule { converged: 1e-12, ..NewtonRule::DEFAULT })?;
/// assert!(report.converged && report.steps <= 6);
/// assert!((root.x - 2.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), EvalError>(())
/// ```
///
/// # Errors
///
/// Those of the problem. An iteration that does not converge is not an error here:
/// [`NewtonReport::converged`] tells.
#[inline]
pub fn newton<P: NewtonProblem + ?Sized>(
    problem: &mut P,
    rule: &NewtonRule,
) -> Result<NewtonReport, P::Error> {
    let mut run = NewtonProgress { steps: 0, last: f64::INFINITY, part: 1.0 };
    loop {
        let size = problem.linearise()?;
        if rule.test == SizeTest::BeforeStep {
            if run.is_done(rule, size) {
                return Ok(run.report(true, size));
            }
            if run.steps >= rule.steps
                || !size.is_finite()
                || size > rule.contraction * run.last
            {
                return Ok(run.report(size < rule.acceptable, size));
            }
            run.last = size;
        }
        run.part = rule.damping.first(run.part);
        let taken = loop {
            match problem.advance(run.part)? {
                Advance::Taken(size) => break size,
                Advance::Solved => {
                    run.steps += 1;
                    return Ok(run.report(true, size));
                }
                Advance::Refused => {
                    let rounding = rule.stall.is_some_and(|stall| size <= stall.below);
                    match rule.damping.next(run.part, rounding) {
                        Some(part) => run.part = part,
                        None => {
                            let refused = true;
                            return Ok(NewtonReport { refused, ..run.report(rounding, size) });
                        }
                    }
                }
            }
        };
        run.steps += 1;
        if rule.test == SizeTest::AfterStep {
            if run.part == 1.0 && run.is_done(rule, taken) {
                return Ok(run.report(true, taken));
            }
            if run.steps >= rule.steps || !taken.is_finite() {
                return Ok(run.report(taken < rule.acceptable, taken));
            }
            run.last = taken;
        }
    }
}

/// What [`newton`] iterates on. The problem holds its point, its equations and its step.
pub trait NewtonProblem {
    /// Why an evaluation failed.
    type Error;

    /// Evaluates the equations at the present point and solves for the step $\delta$ there. Returns the size
    /// that the rule tests before the step; any finite number if it tests after it.
    ///
    /// # Errors
    ///
    /// If the equations have no value, or do not determine a step.
    fn linearise(&mut self) -> Result<f64, Self::Error>;

    /// Moves the point by $\lambda\,\delta$ from where [`NewtonProblem::linearise`] was called last.
    ///
    /// # Errors
    ///
    /// If the iteration cannot go on.
    fn advance(&mut self, part: f64) -> Result<Advance, Self::Error>;
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advance {
    /// It was taken; the size that the rule tests after the step.
    Taken(f64),
    /// It was taken, and the problem knows that it is solved.
    Solved,
    /// The point did not get better and is where it was: a shorter step may do.
    Refused,
}

/// When an iteration stops, and how it is damped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonRule {
    /// Most steps.
    pub steps: usize,
    /// A size at which it has converged.
    pub converged: f64,
    /// Sizes that no longer fall count as rounding.
    pub stall: Option<Stall>,
    /// A size that will do when all steps are used up, or the iteration breaks off.
    pub acceptable: f64,
    /// It breaks off if a size is larger than this times the one before (tests before the step only).
    pub contraction: f64,
    /// When sizes are tested.
    pub test: SizeTest,
    /// How steps are shortened.
    pub damping: Damping,
}

impl NewtonRule {
    /// Thirty undamped steps to rounding, tested after each step.
    pub const DEFAULT: Self = Self {
        steps: 30,
        converged: 0.0,
        stall: None,
        acceptable: 0.0,
        contraction: f64::INFINITY,
        test: SizeTest::AfterStep,
        damping: Damping::None,
    };
}

impl Default for NewtonRule {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// When an iteration stands still at rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// Sizes above this are not rounding.
    pub below: f64,
    /// The size is at least this part of the one before.
    pub ratio: f64,
    /// Steps that must have been taken.
    pub after: usize,
}

/// Which size a rule tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeTest {
    /// That of [`NewtonProblem::linearise`]: a residual, or a step that need not be taken any more.
    BeforeStep,
    /// That of [`Advance::Taken`], if the whole step was taken.
    AfterStep,
}

/// How much of a step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// Every step as a whole.
    None,
    /// Refused steps are halved.
    Halving {
        /// The smallest part that is tried.
        smallest: f64,
        /// Which part of a step is tried first.
        first: FirstPart,
    },
}

/// Which part of a step is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstPart {
    /// The whole step. A refused step that is as small as rounding ([`Stall::below`]) ends the iteration.
    Whole,
    /// Twice the part that served last, at most the whole step.
    TwiceTheLast,
}

impl Damping {
    fn first(self, last: f64) -> f64 {
        match self {
            Self::Halving { first: FirstPart::TwiceTheLast, .. } => (2.0 * last).min(1.0),
            Self::None | Self::Halving { first: FirstPart::Whole, .. } => 1.0,
        }
    }

    /// The part to try after one was refused; none if the iteration ends.
    fn next(self, part: f64, rounding: bool) -> Option<f64> {
        let Self::Halving { smallest, first } = self else { return None };
        if rounding && first == FirstPart::Whole {
            return None;
        }
        Some(0.5 * part).filter(|part| *part >= smallest)
    }
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonReport {
    /// Whether it converged.
    pub converged: bool,
    /// Steps taken.
    pub steps: usize,
    /// The last size.
    pub size: f64,
    /// Whether the last step was refused, down to its smallest part; if the iteration converged all the same,
    /// that step was rounding.
    pub refused: bool,
}

/// An iteration under way.
struct NewtonProgress {
    steps: usize,
    /// The size before this one.
    last: f64,
    part: f64,
}

impl NewtonProgress {
    fn is_done(&self, rule: &NewtonRule, size: f64) -> bool {
        let stands = |stall: Stall| {
            size < stall.below && size >= stall.ratio * self.last && self.steps >= stall.after
        };
        size <= rule.converged || rule.stall.is_some_and(stands)
    }

    fn report(&self, converged: bool, size: f64) -> NewtonReport {
        NewtonReport { converged, steps: self.steps, size, refused: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $F(x) = \arctan x$, whose whole steps diverge from $|x| > 1.39$.
    struct Arctangent {
        x: f64,
        step: f64,
        from: f64,
        damped: bool,
    }

    impl NewtonProblem for Arctangent {
        type Error = ();

        fn linearise(&mut self) -> Result<f64, ()> {
            self.from = self.x;
            self.step = -libm::atan(self.x) * (1.0 + self.x * self.x);
            Ok(self.step.abs())
        }

        fn advance(&mut self, part: f64) -> Result<Advance, ()> {
            self.x = self.from + part * self.step;
            if self.damped && self.x.abs() > self.from.abs() {
                self.x = self.from;
                return Ok(Advance::Refused);
            }
            Ok(Advance::Taken(self.step.abs()))
        }
    }

    fn from(x: f64, damped: bool) -> Arctangent {
        Arctangent { x, step: 0.0, from: x, damped }
    }

    const HALVING: Damping =
        Damping::Halving { smallest: 1e-4, first: FirstPart::TwiceTheLast };

    #[test]
    fn whole_steps_diverge_and_damped_ones_do_not() {
        let rule = NewtonRule { converged: 1e-14, ..NewtonRule::DEFAULT };
        let mut whole = from(3.0, false);
        assert!(!newton(&mut whole, &rule).unwrap().converged);
        let mut damped = from(3.0, true);
        let report = newton(&mut damped, &NewtonRule { damping: HALVING, ..rule }).unwrap();
        assert!(report.converged && damped.x.abs() < 1e-14, "{report:?} {}", damped.x);
    }

    #[test]
    fn a_test_before_the_step_does_not_take_it() {
        let rule =
            NewtonRule { converged: 1e-3, test: SizeTest::BeforeStep, ..NewtonRule::DEFAULT };
        let mut at = from(1e-4, false);
        assert_eq!(newton(&mut at, &rule).unwrap().steps, 0);
        assert_eq!(at.x, 1e-4);
        let after = NewtonRule { test: SizeTest::AfterStep, ..rule };
        assert_eq!(newton(&mut at, &after).unwrap().steps, 1);
        assert!(at.x.abs() < 1e-11);
    }

    #[test]
    fn steps_that_no_longer_shrink_are_rounding_only_if_they_are_small() {
        /// Steps of one size.
        struct Constant(f64);
        impl NewtonProblem for Constant {
            type Error = ();
            fn linearise(&mut self) -> Result<f64, ()> {
                Ok(self.0)
            }
            fn advance(&mut self, _part: f64) -> Result<Advance, ()> {
                Ok(Advance::Taken(self.0))
            }
        }
        let stall = Some(Stall { below: 1e-9, ratio: 0.5, after: 0 });
        for test in [SizeTest::BeforeStep, SizeTest::AfterStep] {
            let rule = NewtonRule { stall, test, ..NewtonRule::DEFAULT };
            assert!(newton(&mut Constant(1e-10), &rule).unwrap().converged);
            let large = newton(&mut Constant(1e-8), &rule).unwrap();
            assert_eq!((large.converged, large.steps), (false, 30));
            let enough = NewtonRule { acceptable: 1e-7, ..rule };
            assert!(newton(&mut Constant(1e-8), &enough).unwrap().converged);
            let late = Some(Stall { below: 1e-9, ratio: 0.5, after: 7 });
            let rule = NewtonRule { stall: late, ..rule };
            assert!(newton(&mut Constant(1e-10), &rule).unwrap().steps >= 7);
        }
        let impatient =
            NewtonRule { contraction: 0.7, test: SizeTest::BeforeStep, ..NewtonRule::DEFAULT };
        assert_eq!(newton(&mut Constant(1.0), &impatient).unwrap().steps, 1);
    }

    #[test]
    fn a_refused_step_at_rounding_ends_the_iteration() {
        /// Refuses every step.
        struct Refusing(f64, usize);
        impl NewtonProblem for Refusing {
            type Error = ();
            fn linearise(&mut self) -> Result<f64, ()> {
                Ok(self.0)
            }
            fn advance(&mut self, _part: f64) -> Result<Advance, ()> {
                self.1 += 1;
                Ok(Advance::Refused)
            }
        }
        let stall = Some(Stall { below: 1e-9, ratio: 0.5, after: 0 });
        let whole = Damping::Halving { smallest: 0.1, first: FirstPart::Whole };
        let rule = NewtonRule { stall, damping: whole, ..NewtonRule::DEFAULT };
        let mut fine = Refusing(1e-10, 0);
        assert!(newton(&mut fine, &rule).unwrap().converged);
        assert_eq!(fine.1, 1);
        // 1, 1/2, 1/4, 1/8.
        let mut coarse = Refusing(1.0, 0);
        assert!(!newton(&mut coarse, &rule).unwrap().converged);
        assert_eq!(coarse.1, 4);
        let undamped = NewtonRule { damping: Damping::None, ..rule };
        assert!(!newton(&mut Refusing(1.0, 0), &undamped).unwrap().converged);
    }
}
