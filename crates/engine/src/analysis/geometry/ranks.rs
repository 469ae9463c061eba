//! Ranks of matrices of expressions at a point: exactly where their values are rational, else in doubles.
//!
//! A number of the state or of a parameter means its shortest decimal: 0.1 is one tenth. Where the entries
//! are rational functions of such numbers, or functions whose values there are rational, like $\cos 0$, their
//! values are exact and the rank is that modulo a prime of 61 bits. Otherwise entries are doubles, and pivots
//! below [`NOTHING`] times the largest count as zero.

use pfaff_expr::{Expr, Rational, number};
use pfaff_model::Workspace;
use pfaff_solver::RankRevealing;

use super::point::symbol;
use crate::problem::state::State;

/// Pivots below this part of the largest are rounding: values of brackets have lost a few digits by cancellation.
pub(crate) const NOTHING: f64 = 1e-10;
/// Entries below this part of the largest one are what is left of zero, as in cos(pi/2).
const DUST: f64 = 1e-13;

/// A point at which ranks are asked for.
pub(crate) struct Ranks<'a> {
    model: &'a Workspace,
    state: &'a State,
    /// Symbols and their exact values; empty where a value is no number.
    exact: Vec<(Expr, Expr)>,
}

impl<'a> Ranks<'a> {
    pub(crate) fn new(model: &'a Workspace, state: &'a State) -> Self {
        let g = &model.graph;
        let positions = model.coordinates.iter().map(|c| c.position).zip(&state.q);
        let velocities = model.coordinates.iter().map(|c| c.velocity).zip(&state.v);
        let parameters = model.parameters.iter().map(|p| (p.symbol, &p.value));
        let all = positions.chain(velocities).chain(parameters).chain([(model.time, &state.t)]);
        let exact: Option<Vec<(Expr, Expr)>> =
            all.map(|(s, &x)| Some((s, g.number(shortest(x)?)))).collect();
        Self { model, state, exact: exact.unwrap_or_default() }
    }

    /// The rank at the point.
    pub(crate) fn rank(&self, rows: &[Vec<Expr>]) -> usize {
        if let Some(rows) = self.rational(rows) {
            return self.model.graph.rank(&rows);
        }
        let n = rows.first().map_or(0, Vec::len);
        let mut factors = RankRevealing::default();
        factors.factor(rows.len(), n, &self.doubles(rows), NOTHING);
        factors.rank()
    }

    /// The rows as exact numbers, where all of them are rational.
    pub(crate) fn rational(&self, rows: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
        let g = &self.model.graph;
        let put = |row: &Vec<Expr>| g.substitute(row, &self.exact);
        let rows: Vec<Vec<Expr>> = rows.iter().map(put).collect();
        let all = rows.iter().flatten().all(|&e| g.number_of(e).is_some());
        all.then_some(rows)
    }

    /// The rows as doubles, one after another. Entries that are rounding beside the largest become zero: rows
    /// are scaled one by one, and a row of rounding alone would count.
    pub(crate) fn doubles(&self, rows: &[Vec<Expr>]) -> Vec<f64> {
        let at = symbol(self.model, self.state);
        let mut entries = self.model.graph.evaluate(&rows.concat(), &at);
        let largest = entries.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        entries.iter_mut().filter(|x| x.abs() < DUST * largest).for_each(|x| *x = 0.0);
        entries
    }
}

/// The shortest decimal that is read back as this number.
fn shortest(x: f64) -> Option<Rational> {
    if !x.is_finite() {
        return None;
    }
    let text = format!("{x:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let places = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
    let exponent: i32 = exponent.parse().ok()?;
    number::decimal(&mantissa.replace('.', ""), exponent - i32::try_from(places).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_mean_what_they_say() {
        for (x, text) in [(0.1, "1/10"), (-2.5e-3, "-0.0025"), (3.0, "3"), (0.0, "0")] {
            let exact = shortest(x).expect("a number");
            assert_eq!(number::to_text(&exact), text);
        }
        assert!(shortest(f64::NAN).is_none());
    }
}
