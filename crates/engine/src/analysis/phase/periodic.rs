//! A periodic motion as it is found, and what is asked for.

use pfaff_model::Principle;
use pfaff_program::Backend;

use crate::analysis::phase::stability::Stability;

/// Which periodic motion.
#[derive(Clone, Debug, Default)]
pub struct OrbitRequest {
    /// The name of an event, or an expression: the search starts at one of its crossings.
    pub on: Option<String>,
    /// A guess of the period, as an expression of the parameters; the period itself where time occurs explicitly.
    pub period: Option<String>,
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// The largest local error of a step; 1e-12 if `None`.
    pub tolerance: Option<f64>,
    /// How it is found.
    pub method: OrbitMethod,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// How periodic motions without jumps are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrbitMethod {
    /// By shooting, in parts where that is needed, and by collocation where shooting finds none; compared with
    /// collocation.
    #[default]
    Both,
    /// By shooting alone.
    Shooting,
    /// As [`OrbitMethod::Both`], but what is given out is that of collocation.
    Collocation,
}

/// A periodic motion as collocation finds it, beside shooting.
#[derive(Clone, Debug, PartialEq)]
pub struct OrbitCheck {
    /// Intervals of the mesh.
    pub intervals: usize,
    /// Its period.
    pub period: f64,
    /// The largest difference of period and state, in parts of their sizes, and of multipliers, in parts of 1 + |μ|.
    pub difference: f64,
}

/// A periodic motion.
#[derive(Clone, Debug)]
pub struct Orbit {
    /// The title of the model.
    pub title: String,
    /// Its period.
    pub period: f64,
    /// A state on it, by name.
    pub state: Vec<(String, f64)>,
    /// How far the coordinates that were left out move in a period.
    pub drift: Vec<(String, f64)>,
    /// Floquet's multipliers, the largest first.
    pub multipliers: Vec<[f64; 2]>,
    /// Those that are known beforehand, with the reason: 1 along the orbit, 0 across the section of a return map.
    pub trivial: Vec<(usize, String)>,
    /// How far the motion is turned when it returns, by symmetry; empty for one that returns as it was.
    pub turns: Vec<(String, f64)>,
    /// The largest $|w(T) - w(0)|$.
    pub residual: f64,
    /// Whether it is stable.
    pub stability: Stability,
    /// What collocation finds; `None` where it was not asked, for motions with jumps, and where it does not converge.
    pub check: Option<OrbitCheck>,
}
