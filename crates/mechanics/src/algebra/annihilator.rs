//! One-forms that vanish on given fields.

use pfaff_expr::{Expr, Graph};

use super::elimination::solve_linear;
use super::tensor::simple;

/// One-forms that vanish on the fields, one for each column without pivot, the pivots being the first columns
/// that are independent.
pub(crate) fn annihilator(g: &Graph, fields: &[Vec<Expr>], n: usize) -> Vec<Vec<Expr>> {
    let mut forms = plain_annihilator(g, fields, n);
    forms.iter_mut().flatten().for_each(|c| *c = simple(g, *c));
    forms
}

/// As [`annihilator`], as elimination leaves them.
pub(crate) fn plain_annihilator(g: &Graph, fields: &[Vec<Expr>], n: usize) -> Vec<Vec<Expr>> {
    let columns: Vec<Vec<Expr>> =
        (0..n).map(|k| fields.iter().map(|f| f[k]).collect()).collect();
    let pivots = g.independent_rows(&columns);
    let rows = g.independent_rows(fields);
    let free: Vec<usize> = (0..n).filter(|k| !pivots.contains(k)).collect();
    let pick = |ks: &[usize]| -> Vec<Vec<Expr>> {
        rows.iter().map(|&r| ks.iter().map(|&k| fields[r][k]).collect()).collect()
    };
    // Y^β = c^β_a Y^a for every field Y.
    let Some(c) = solve_linear(g, &pick(&pivots), &pick(&free)) else { return Vec::new() };
    let form = |(b, &β): (usize, &usize)| {
        let mut form = vec![g.zero(); n];
        form[β] = g.one();
        pivots.iter().enumerate().for_each(|(a, &k)| form[k] = g.neg(c[a][b]));
        form
    };
    free.iter().enumerate().map(form).collect()
}
