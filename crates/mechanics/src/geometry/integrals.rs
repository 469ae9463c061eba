//! Positions that the constraints keep: functions constant on the leaves of the closure of a distribution.
//!
//! Where the closure $\bar D$ has rank $r < n$ there are $n - r$ functions $h$ with $X(h) = 0$ for all its
//! fields (Frobenius). Its annihilator has a basis
//! $\theta^\beta = dq^\beta - c^\beta_a\,dq^a$; with an integrating factor among those that are tried,
//! $\theta$ becomes $dh$ and $h$ is found by integration.

use pfaff_expr::{Expr, Graph, Node};

use crate::algebra::tensor::simple;

use super::flag::{Distribution, Flag};
use crate::algebra::annihilator::annihilator;
use crate::algebra::primitive::primitive;

/// The functions that were found, each with a differential that is proved; there are $n - r$ in all.
pub fn integrals(g: &Graph, distribution: &Distribution, flag: &Flag) -> Vec<Expr> {
    let forms = annihilator(g, &flag.fields(), distribution.dimension());
    forms.iter().filter_map(|form| function(g, form, &distribution.variables)).collect()
}

/// $h$ with $dh$ proportional to a form.
fn function(g: &Graph, form: &[Expr], variables: &[Expr]) -> Option<Expr> {
    let mut factors = Vec::new();
    for e in form {
        for &part in &g.live(&[*e]) {
            if let Node::Div(_, below) = g.node(part)
                && g.contains(below, variables)
                && !factors.contains(&below)
            {
                factors.push(below);
            }
        }
    }
    factors.truncate(7);
    let inverses: Vec<Expr> = factors.iter().map(|&f| g.div(g.one(), f)).collect();
    let own = variables.iter().flat_map(|&q| [g.div(g.one(), q), q]);
    let mut candidates = [g.one()].into_iter().chain(factors).chain(inverses).chain(own);
    candidates.find_map(|factor| {
        let scaled: Vec<Expr> = form.iter().map(|&e| simple(g, g.mul(factor, e))).collect();
        is_closed(g, &scaled, variables).then(|| primitive(g, &scaled, variables)).flatten()
    })
}

/// Asked first: integrals of forms that are not closed are looked for in vain, and for long.
fn is_closed(g: &Graph, form: &[Expr], variables: &[Expr]) -> bool {
    let slopes = g.jacobian(form, variables);
    let n = variables.len();
    (0..n).all(|i| (0..i).all(|j| g.is_zero(g.sub(slopes[i][j], slopes[j][i]))))
}
