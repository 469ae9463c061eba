//! What a run of an initial value problem is asked for, and what it gives back.

use crate::ode::system::EvalError;

/// How to integrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OdeOptions {
    /// Where to start.
    pub t0: f64,
    /// Where to end; before `t0` for a run backward in time.
    pub t1: f64,
    /// Allowed local error $E$ of a step in every component, as a part of its value and of the largest one
    /// that the component has had. Below 1e-15 counts as 1e-15.
    pub tolerance: f64,
    /// If it is not zero, errors of every component are measured by this and its present value.
    pub absolute: f64,
    /// Which method.
    pub method: Method,
    /// Size of the first step ([`Method::Dop853`]; chosen if not given; the most for [`Method::Taylor`]) or
    /// of every step
    /// ([`Method::Rk4`], [`Method::Own`]; a thousandth of the run if not given).
    pub step: Option<f64>,
    /// Most steps to try, rejected ones included.
    pub max_steps: usize,
    /// Whether [`Method::Dop853`] goes on where [`Method::Taylor`] cannot: where the series has no coefficients,
    /// as at the kink of a root, or allows no step.
    pub falls_back: bool,
    /// Whether [`Method::Radau`] takes over where the steps of an explicit method are limited by stability, and gives
    /// back where they would not be.
    pub watches_stiffness: bool,
    /// Whether an implicit method measures errors by the present size of a component and not by its largest one, so
    /// that what decays over many orders keeps its digits, as concentrations do.
    pub follows_decay: bool,
    /// The order of [`Method::Taylor`], if it is not the one that belongs to the tolerance; that of [`Method::Radau`]
    /// (5, 9 or 13), if it is not to vary.
    pub order: Option<usize>,
    /// The longest step that a method with error control takes.
    pub longest: f64,
}

impl Default for OdeOptions {
    fn default() -> Self {
        Self {
            t0: 0.0,
            t1: 1.0,
            tolerance: 1e-10,
            absolute: 0.0,
            method: Method::Dop853,
            step: None,
            max_steps: 10_000_000,
            falls_back: false,
            watches_stiffness: false,
            follows_decay: false,
            order: None,
            longest: f64::INFINITY,
        }
    }
}

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Method {
    /// Dormand and Prince of order 8(5,3), with step size control.
    #[default]
    Dop853,
    /// Classical Runge–Kutta of order 4, with a fixed step and no error control.
    Rk4,
    /// Taylor series of the order that belongs to the tolerance ([`taylor_order`](crate::taylor_order)), for
    /// systems that give their coefficients.
    Taylor,
    /// Radau IIA of orders 5, 9 and 13, for stiff systems.
    Radau,
    /// A Rosenbrock method of order 4, for stiff systems at loose tolerances.
    Rosenbrock,
    /// The system's own method, with a fixed step and no error control.
    Own,
}

impl Method {
    /// Whether it is for stiff systems.
    pub fn is_implicit(self) -> bool {
        matches!(self, Self::Radau | Self::Rosenbrock)
    }

    /// Whether all its steps have the same length, and no error is estimated.
    pub fn has_fixed_step(self) -> bool {
        matches!(self, Self::Rk4 | Self::Own)
    }
}

impl OdeOptions {
    /// $h\lambda$ from which on the explicit method of a run counts as limited by stability; none if that is not
    /// watched.
    pub(crate) fn edge(&self) -> Option<f64> {
        match self.method {
            Method::Dop853 => Some(3.0),
            Method::Taylor => Some(5.0),
            Method::Rk4 | Method::Radau | Method::Rosenbrock | Method::Own => None,
        }
        .filter(|_| self.watches_stiffness)
    }
}

/// Where a run ended, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub stop: StopReason,
    /// Where it ended.
    pub t: f64,
    /// The state there.
    pub y: Vec<f64>,
    /// The scales by which errors of the components were measured: their largest values, or what does not matter.
    pub scales: Vec<f64>,
    /// How much of the rates of the components is rounding.
    pub roundings: Vec<f64>,
    /// Events that may have been missed, because their function varies faster than any step can show; and the
    /// time from which on.
    pub vague: Vec<(usize, f64)>,
    /// Where [`Method::Dop853`] took over, because the other method could not go on.
    pub fallback: Option<f64>,
    /// Where [`Method::Radau`] took over from an explicit method or gave back to it, in turns.
    pub stiff: Vec<f64>,
    /// Whether there were narrow features on the way.
    pub has_features: bool,
    /// The event whose jumps accumulate at the end: [`StopReason::Singular`].
    pub accumulated: Option<usize>,
    /// What it took.
    pub statistics: Statistics,
}

/// Why a run ended. Except for the first two it is short of its end, and the state is the last
/// good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The end was reached.
    End,
    /// This stopping event was met; the state is the one at its zero.
    Event(usize),
    /// The tolerance asks for steps below the rounding of time.
    StepTooSmall,
    /// The rates cannot be solved for beyond.
    Singular,
    /// The rates are not finite beyond.
    NotFinite,
    /// The allowed number of steps was used up.
    MaxSteps,
    /// The observer stopped it.
    Interrupted,
}

impl From<EvalError> for StopReason {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Singular => Self::Singular,
            EvalError::NotFinite => Self::NotFinite,
        }
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected trials.
    pub rejected: usize,
    /// Evaluations of the rates.
    pub evaluations: usize,
}
