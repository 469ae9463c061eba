//! Branches of equilibria and periodic motions over a parameter, and what is asked for.

use pfaff_model::{Principle, Workspace, closest};
use pfaff_program::Backend;

use crate::analysis::phase::equilibria::SearchRange;
use crate::analysis::phase::shooting::size;
use crate::analysis::phase::stability::Stability;
use crate::error::Failure;

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
    /// What picks one motion where they form families, such as `energy` or `x*y' - y*x' = L`: expressions keep their
    /// values along a branch, equations hold.
    pub fix: Option<String>,
    /// Where equilibria and steady motions are looked for at the first value; see [`EquilibriaRequest`].
    ///
    /// [`EquilibriaRequest`]: crate::EquilibriaRequest
    pub search: Vec<SearchRange>,
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
    /// Symmetries that turn or shift several coordinates together and along which it moves steadily, with their rates.
    pub frame: Vec<(String, f64)>,
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
    /// What is held where motions form families, with its value; without one it is an equation that holds.
    pub held: Vec<(String, Option<f64>)>,
    /// The dimension of the family of which nothing picks a motion: the one nearest to the last is followed.
    pub loose: usize,
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

/// Gives a parameter a value, and new values to those that are defined by it.
pub(crate) fn set_parameter(model: &mut Workspace, index: usize, value: f64) {
    model.parameters[index].value = value;
    for k in index + 1..model.parameters.len() {
        if let Some(definition) = model.parameters[k].definition {
            let value = model.constant(definition);
            if value.is_finite() {
                model.parameters[k].value = value;
            }
        }
    }
}

/// The place of a parameter.
pub(crate) fn parameter_index(model: &Workspace, name: &str) -> Result<usize, Failure> {
    let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let hint = closest(name, &names).map_or_else(
            || format!("the parameters are {}", names.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Failure::Usage(format!("there is no parameter `{name}`; {hint}"))
    })
}

/// The product of all $\mu_k - x$: real, because complex ones come in pairs.
pub(super) fn product(multipliers: impl Iterator<Item = [f64; 2]>, x: f64) -> f64 {
    let one = [1.0, 0.0];
    let times = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * (c - x) - b * d, a * d + b * (c - x)];
    multipliers.fold(one, times)[0]
}

/// $\lvert\mu\rvert - 1$ of the complex pair next to the unit circle; not a number if there is none.
pub(super) fn nearest_pair(multipliers: impl Iterator<Item = [f64; 2]>) -> f64 {
    let nearest = pairs(multipliers).min_by(|a, b| a.abs().total_cmp(&b.abs()));
    nearest.unwrap_or(f64::NAN)
}

/// How many complex pairs are outside the unit circle; on it by rounding is not outside.
pub(super) fn pairs_outside(multipliers: impl Iterator<Item = [f64; 2]>) -> usize {
    pairs(multipliers).filter(|&off| off > 1e-7).count()
}

/// $\lvert\mu\rvert - 1$ of the complex pairs.
fn pairs(multipliers: impl Iterator<Item = [f64; 2]>) -> impl Iterator<Item = f64> {
    multipliers.filter(|v| v[1] > 1e-6).map(|v| size(&v) - 1.0)
}
