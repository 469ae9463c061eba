//! Branches of equilibria and periodic motions over a parameter, and what is asked for.

use pfaff_model::Principle;
use pfaff_program::Backend;

use crate::analysis::phase::stability::Stability;

/// What is continued.
#[derive(Clone, Debug, Default)]
pub struct ContinueRequest {
    /// The parameter.
    pub parameter: String,
    /// Its first value, where the branches begin.
    pub from: f64,
    /// Its last value.
    pub to: f64,
    /// Whether periodic motions are followed from Hopf points, and the other branches at branch and period-doubling
    /// points of periodic motions.
    pub switch: bool,
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// A point of a branch.
#[derive(Clone, Debug)]
pub struct BranchPoint {
    /// The value of the parameter.
    pub parameter: f64,
    /// The state by name.
    pub state: Vec<(String, f64)>,
    /// The period of a periodic motion.
    pub period: Option<f64>,
    /// The least and the greatest value of each component along a periodic motion; empty for an equilibrium.
    pub extent: Vec<[f64; 2]>,
    /// Whether it is stable.
    pub stability: Stability,
}

/// Where something changes along a branch.
#[derive(Clone, Debug)]
pub struct SpecialPoint {
    /// `fold`, `branch`, `hopf`, `flip` or `torus`
    pub kind: &'static str,
    /// The value of the parameter.
    pub parameter: f64,
    /// The state by name.
    pub state: Vec<(String, f64)>,
    /// Of a Hopf point: the frequency of the oscillation that begins there.
    pub frequency: Option<f64>,
    /// Its shape, as a direction of the state.
    pub(crate) shape: Vec<f64>,
}

/// One branch.
#[derive(Clone, Debug, Default)]
pub struct Branch {
    /// Its points in order.
    pub points: Vec<BranchPoint>,
    /// What happens on the way.
    pub special: Vec<SpecialPoint>,
    /// Why it ended where it did.
    pub end: &'static str,
    /// Where it comes from: nothing for one that was searched for, else `branch`, `hopf` or `flip` with the parameter.
    pub from: Option<(&'static str, f64)>,
}

/// All branches that were followed.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// The title of the model.
    pub title: String,
    /// The parameter.
    pub parameter: String,
    /// The branches.
    pub branches: Vec<Branch>,
    /// Whether it was ended before all were followed.
    pub interrupted: bool,
}
