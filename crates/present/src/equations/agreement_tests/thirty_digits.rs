//! Values and linear systems with some thirty digits, so that digits that cancel in a formula hide no mistake in it.

use pfaff_expr::{DoubleDouble, Expr, Graph};
use pfaff_program::DoubleSeries;

/// Symbols with their values.
pub(super) type Values = Vec<(Expr, DoubleDouble)>;

/// The values of expressions; in doubles where a function has no more digits.
pub(super) fn evaluated(g: &Graph, wanted: &[Expr], values: &Values) -> Vec<DoubleDouble> {
    if let Ok(mut series) = DoubleSeries::new(g, &[], values, wanted) {
        series.begin();
        series.advance(0, &[]);
        return (0..wanted.len()).map(|i| series.output(i, 0)).collect();
    }
    let of = |s: Expr| values.iter().find(|v| v.0 == s).map_or(f64::NAN, |v| v.1.high);
    g.evaluate(wanted, &of).into_iter().map(DoubleDouble::from).collect()
}

/// A solution of equations $a x = b$, of which there may be more than unknowns; unknowns that they leave free are zero.
///
/// Elimination with the largest pivot of all; the rest of a pivot that cancels is taken for zero.
pub(super) fn solved(
    a: &[DoubleDouble],
    b: &[DoubleDouble],
    unknowns: usize,
) -> Vec<DoubleDouble> {
    /// Thirty digits, less those that cancel in long formulas.
    const NOTHING: f64 = 1e-20;
    let mut rows: Vec<Vec<DoubleDouble>> = a
        .chunks_exact(unknowns)
        .zip(b)
        .map(|(row, &b)| {
            let size = row.iter().fold(0.0_f64, |s, x| s.max(x.high.abs()));
            let scale = DoubleDouble::from(if size > 0.0 { 1.0 / size } else { 1.0 });
            row.iter().copied().chain([b]).map(|x| x * scale).collect()
        })
        .collect();
    let mut free: Vec<usize> = (0..unknowns).collect();
    let mut pivots = Vec::new();
    loop {
        let done = pivots.len();
        let entries = (done..rows.len()).flat_map(|i| free.iter().map(move |&k| (i, k)));
        let size = |&(i, k): &(usize, usize)| rows[i][k].high.abs();
        let Some((i, k)) = entries.max_by(|x, y| size(x).total_cmp(&size(y))) else { break };
        if size(&(i, k)) <= NOTHING {
            break;
        }
        rows.swap(done, i);
        free.retain(|&j| j != k);
        let row = rows[done].clone();
        for other in &mut rows[done + 1..] {
            let factor = other[k] / row[k];
            if factor.high != 0.0 {
                other.iter_mut().zip(&row).for_each(|(x, &y)| *x = *x - factor * y);
                other[k] = DoubleDouble::from(0.0);
            }
        }
        pivots.push(k);
    }
    let mut x = vec![DoubleDouble::from(0.0); unknowns];
    for (row, &k) in rows.iter().zip(&pivots).rev() {
        let known = (0..unknowns).filter(|&j| j != k).map(|j| row[j] * x[j]);
        x[k] = known.fold(row[unknowns], |s, term| s - term) / row[k];
    }
    x
}
