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

/// Choices of the free columns that are tried.
const CHOICES: usize = 20;
/// Denominators that are tried as integrating factors.
const FACTORS: usize = 7;
/// Other choices than the first are tried for fields of so many nodes at most: what is larger has no simple factors.
const SMALL: usize = 60;

/// The functions that were found, each with a differential that is proved, and independent of each other; there are
/// $n - r$ in all.
///
/// Which forms span the annihilator is a choice, and with it which of them have simple factors: other columns $\beta$
/// are tried until all functions are found.
pub fn integrals(g: &Graph, distribution: &Distribution, flag: &Flag) -> Vec<Expr> {
    let n = distribution.dimension();
    let fields = flag.fields();
    let lost = n - flag.closure_rank();
    let variables = &distribution.variables;
    let (mut found, mut slopes): (Vec<Expr>, Vec<Vec<Expr>>) = (Vec::new(), Vec::new());
    let mut add = |form: &[Expr]| {
        slopes.push(form.to_vec());
        if g.rank(&slopes) == slopes.len()
            && let Some(h) = function(g, form, variables)
        {
            found.push(h);
        } else {
            slopes.pop();
        }
        found.len() == lost
    };
    let mut tried: Vec<Vec<Expr>> = Vec::new();
    let choices = if g.size(&fields.concat()) > SMALL { 1 } else { CHOICES };
    for free in last_columns_first(n, lost).into_iter().take(choices) {
        let pivots = (0..n).filter(|k| !free.contains(k));
        let order: Vec<usize> = pivots.chain(free.iter().copied()).collect();
        let turned: Vec<Vec<Expr>> =
            fields.iter().map(|x| order.iter().map(|&k| x[k]).collect()).collect();
        for form in annihilator(g, &turned, n) {
            let mut own = vec![g.zero(); n];
            order.iter().zip(&form).for_each(|(&k, &e)| own[k] = e);
            if tried.contains(&own) {
                continue;
            }
            if add(&own) {
                return found;
            }
            tried.push(own);
        }
    }
    found
}

/// The sets of $k$ columns among $n$, those of the last columns first.
fn last_columns_first(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 0 || k > n {
        return if k == 0 { vec![Vec::new()] } else { Vec::new() };
    }
    let with = last_columns_first(n - 1, k - 1).into_iter().map(|mut set| {
        set.push(n - 1);
        set
    });
    with.chain(last_columns_first(n - 1, k)).take(CHOICES).collect()
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
    let factors = factors.iter().copied().take(FACTORS);
    let inverses = factors.clone().map(|f| g.div(g.one(), f));
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
    let symmetric = |i: usize, j: usize| g.is_zero(g.sub(slopes[i][j], slopes[j][i]));
    slopes.iter().enumerate().all(|(i, row)| (i..row.len()).all(|j| symmetric(i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_columns_begin_with_the_last() {
        let sets = last_columns_first(4, 2);
        assert_eq!(sets, [[2, 3], [1, 3], [0, 3], [1, 2], [0, 2], [0, 1]]);
        assert_eq!(last_columns_first(2, 2), [[0, 1]]);
        assert_eq!(last_columns_first(3, 0), [Vec::<usize>::new()]);
        assert_eq!(last_columns_first(2, 3), Vec::<Vec<usize>>::new());
    }
}
