//! A distribution at one point: rank of the constraints, and the growth vector there.
//!
//! The fields are those of a split whose pivots are the largest ones at the point, so that a chart that is singular elsewhere does no harm. Brackets are evaluated in doubles; an
//! entry below [`NOTHING`] times the largest counts as zero. If the brackets that span the flag generically have full rank at the point, that is its growth vector; else all brackets are made
//! until the rank of the closure is reached, or no more come.

use pfaff_expr::Expr;
use pfaff_mechanics::{Bracket, Distribution, Equations, Split, split};
use pfaff_model::{Diagnostic, Model, Span};
use pfaff_solver::RankRevealing;

use crate::pipeline::Failure;
use crate::state::State;

/// Pivots below this part of the largest are rounding: values of brackets have lost a few digits by cancellation.
const NOTHING: f64 = 1e-10;
/// Entries below this part of the largest one are what is left of zero, as in cos(pi/2).
const DUST: f64 = 1e-13;
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

/// The values of symbols at a state.
pub(crate) fn symbol<'a>(model: &'a Model, state: &'a State) -> impl Fn(Expr) -> f64 + 'a {
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
    model: &Model,
    equations: &Equations,
    state: &State,
) -> Result<Growth, Failure> {
    let g = &model.graph;
    let split = split_at(model, equations, state)?;
    let distribution = g.merging(|| Distribution::new(model, &split));
    let at = symbol(model, state);
    let mut fields: Vec<Vec<f64>> = Vec::new();
    let rank_with = |fields: &mut Vec<Vec<f64>>, level: &[Bracket]| -> usize {
        let rows: Vec<Expr> = level.iter().flat_map(|b| b.field.clone()).collect();
        let values = g.evaluate(&rows, &at);
        fields.extend(values.chunks(distribution.dimension()).map(<[f64]>::to_vec));
        rank(fields, distribution.dimension())
    };
    let flag = distribution.flag(g);
    let generic = flag.growth();
    let found: Vec<usize> = flag.levels.iter().map(|l| rank_with(&mut fields, l)).collect();
    if found == generic {
        return Ok(Growth {
            ranks: found,
            dimension: distribution.dimension(),
            complete: flag.complete,
        });
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
    Ok(Growth { ranks: growth, dimension: distribution.dimension(), complete })
}

/// The split whose block of $A$ has the largest pivots at a state.
fn split_at(model: &Model, equations: &Equations, state: &State) -> Result<Split, Failure> {
    let g = &model.graph;
    let n = model.coordinates.len();
    let rows = g.independent_rows(&equations.jacobian);
    let wrong = |message: String, hint: &str| {
        let diagnostic = Diagnostic::error("E0612", Span::new(0, 0), message).with_hint(hint);
        Failure::Model(vec![diagnostic])
    };
    let entries: Vec<Expr> = rows.iter().flat_map(|&a| equations.jacobian[a].clone()).collect();
    let values = g.evaluate(&entries, &symbol(model, state));
    if values.iter().any(|x| !x.is_finite()) {
        return Err(wrong(
            "at this state a constraint has no finite value".into(),
            "move the state off the singularity",
        ));
    }
    let mut factors = RankRevealing::default();
    factors.factor(rows.len(), n, &without_dust(values), NOTHING);
    if factors.rank() < rows.len() {
        let names: Vec<String> = factors
            .dependent_rows()
            .iter()
            .map(|&a| format!("`{}`", model.constraints[rows[a]].name))
            .collect();
        return Err(wrong(
            format!(
                "at this state the constraints have rank {} instead of {}: {} adds nothing to the others there",
                factors.rank(),
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

/// The rank of some fields at a point.
fn rank(fields: &[Vec<f64>], n: usize) -> usize {
    let rows: Vec<f64> = fields.iter().flatten().copied().collect();
    let mut factors = RankRevealing::default();
    factors.factor(fields.len(), n, &without_dust(rows), NOTHING);
    factors.rank()
}

/// Entries that are rounding beside the largest become zero: rows are scaled one by one, and a row of rounding alone would count.
fn without_dust(mut entries: Vec<f64>) -> Vec<f64> {
    let largest = entries.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    entries.iter_mut().filter(|x| x.abs() < DUST * largest).for_each(|x| *x = 0.0);
    entries
}
