//! A distribution at one point: rank of the constraints, and the growth vector there.
//!
//! The fields are those of a split whose pivots are the largest ones at the point, so that a chart that is
//! singular elsewhere does no harm. If the brackets that span the flag generically have full rank at the
//! point
//! ([`Ranks`]), that is its growth vector; else all brackets are made until the rank of the closure is
//! reached, or no more come.

use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::{Bracket, Distribution, Equations, Flag, Split, split};
use pfaff_model::{Diagnostic, Span, Workspace};
use pfaff_solver::RankRevealing;

use super::ranks::{NOTHING, Ranks};
use crate::error::Failure;
use crate::problem::state::State;

/// Brackets of more letters are not made.
const DEEPEST: usize = 10;

/// What is true at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    /// Ranks of the flag.
    pub(crate) ranks: Vec<usize>,
    pub(crate) dimension: usize,
    /// Whether the flag was followed to its end.
    pub(crate) complete: bool,
}

/// The growth of a distribution at a point, and without the drift that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) growth: Growth,
    /// Of the free velocities at a fixed time.
    pub(crate) free: Option<Growth>,
}

impl Growth {
    /// At a generic point.
    pub(crate) fn generic(distribution: &Distribution, flag: &Flag) -> Self {
        Self {
            ranks: flag.growth(),
            dimension: distribution.dimension(),
            complete: flag.complete,
        }
    }

    /// Whether brackets span all directions.
    pub(crate) fn is_full(&self) -> bool {
        self.ranks.last() == Some(&self.dimension)
    }
}

/// The values of symbols at a state.
pub(crate) fn symbol<'a>(model: &'a Workspace, state: &'a State) -> impl Fn(Expr) -> f64 + 'a {
    move |s| {
        for (k, c) in model.coordinates.iter().enumerate() {
            match s {
                s if s == c.position => return state.q[k],
                s if s == c.velocity => return state.v[k],
                _ => {}
            }
        }
        let parameter = model.parameters.iter().find(|p| p.symbol == s);
        parameter.map_or(if s == model.time { state.t } else { f64::NAN }, |p| p.value)
    }
}

/// The growth vector at a state.
///
/// # Errors
///
/// [`Failure`] if the constraints lose rank there or have no value.
pub(crate) fn growth_at(
    model: &Workspace,
    equations: &Equations,
    state: &State,
) -> Result<Place, Failure> {
    let split = split_at(model, equations, state)?;
    let distribution = model.graph.merging(|| Distribution::new(model, &split));
    let ranks = Ranks::new(model, state);
    let of = |d: &Distribution| growth_of(&model.graph, d, &ranks);
    Ok(Place { growth: of(&distribution), free: distribution.without_drift().map(|d| of(&d)) })
}

fn growth_of(g: &Graph, distribution: &Distribution, ranks: &Ranks<'_>) -> Growth {
    let mut fields: Vec<Vec<Expr>> = Vec::new();
    let rank_with = |fields: &mut Vec<Vec<Expr>>, level: &[Bracket]| -> usize {
        fields.extend(level.iter().map(|b| b.field.clone()));
        ranks.rank(fields)
    };
    let flag = distribution.flag(g);
    let generic = flag.growth();
    let found: Vec<usize> = flag.levels.iter().map(|l| rank_with(&mut fields, l)).collect();
    if found == generic {
        return Growth::generic(distribution, &flag);
    }
    let full = flag.closure_rank();
    let size = g.len();
    fields.clear();
    let (mut level, mut growth) = (distribution.generators.clone(), Vec::new());
    let mut complete = true;
    while !level.is_empty() {
        growth.push(rank_with(&mut fields, &level));
        if growth.last() == Some(&full) {
            break;
        }
        if growth.len() >= DEEPEST || distribution.is_beyond_reason(g, size, fields.len()) {
            complete = false;
            break;
        }
        level = g.merging(|| distribution.deepen(g, &level));
    }
    while growth.len() > 1 && growth[growth.len() - 1] == growth[growth.len() - 2] {
        growth.pop();
    }
    Growth { ranks: growth, dimension: distribution.dimension(), complete }
}

/// The split whose block of $A$ has the largest pivots at a state.
fn split_at(model: &Workspace, equations: &Equations, state: &State) -> Result<Split, Failure> {
    let g = &model.graph;
    let n = model.coordinates.len();
    let rows = g.independent_rows(&equations.jacobian);
    let wrong = |message: String, hint: &str| {
        let diagnostic = Diagnostic::error("E0612", Span::new(0, 0), message).with_hint(hint);
        Failure::Model(vec![diagnostic])
    };
    let matrix: Vec<Vec<Expr>> = rows.iter().map(|&a| equations.jacobian[a].clone()).collect();
    let ranks = Ranks::new(model, state);
    let values = ranks.doubles(&matrix);
    if values.iter().any(|x| !x.is_finite()) {
        return Err(wrong(
            "at this state a constraint has no finite value".into(),
            "move the state off the singularity",
        ));
    }
    // NOTE: where the rank is known exactly, every pivot counts.
    let exact = ranks.rational(&matrix).map(|m| g.independent_rows(&m));
    let full = exact.as_ref().is_some_and(|kept| kept.len() == rows.len());
    let mut factors = RankRevealing::default();
    factors.factor(rows.len(), n, &values, if full { 0.0 } else { NOTHING });
    let lost: Vec<usize> = match exact {
        Some(kept) if !full => (0..rows.len()).filter(|a| !kept.contains(a)).collect(),
        _ => factors.dependent_rows().to_vec(),
    };
    if !lost.is_empty() {
        let names: Vec<String> =
            lost.iter().map(|&a| format!("`{}`", model.constraints[rows[a]].name)).collect();
        return Err(wrong(
            format!(
                "at this state the constraints have rank {} instead of {}: {} adds nothing to the others there",
                rows.len() - lost.len(),
                rows.len(),
                names.join(", ")
            ),
            "the distribution is singular there: its dimension jumps, and it has no frame",
        ));
    }
    let dependent: Vec<usize> =
        (0..n).filter(|k| !factors.free_columns().contains(k)).collect();
    split(model, equations, Some(&dependent)).map_err(|r| Failure::Model(vec![r.diagnostic()]))
}
