//! Integrals that are quadratic in the velocities, beside energy and products of momenta.
//!
//! The ansatz is $F = c^{ab}(q)\,u_a u_b + h(q)$ with independent quasi-velocities $u$ (the velocities, where there are
//! no constraints). $c^{ab}$ are polynomials of degree two in the coordinates, $h$ is one of the same degree with
//! a multiple of the potential by a polynomial of degree one: Laplace's vector of Kepler's problem and the tensor of
//! the isotropic oscillator are of this kind. $\dot F = 0$ is linear in the constants.

use pfaff_expr::Expr;
use pfaff_model::{Principle, Workspace};

use super::ansatz::{Known, relations, relations_where};
use super::conserved_quantity::{Conserved, ConservedKind};
use super::quadratic_numbers::may_be_new;
use crate::algebra::elimination::solve_linear;
use crate::equations::{Class, Equations};
use crate::reduction::reduced_equations;

/// Coordinates up to which there is an ansatz.
const MOST: usize = 4;
/// Coordinates up to which the coefficients vary.
const VARYING: usize = 3;
/// Nodes of the accelerations: what is longer has no short integrals.
const LONGEST: usize = 400;

/// Operations of an integral: longer ones nobody would write down.
const LONG_SUM: usize = 60;

/// What is kept beside known quantities and their products in pairs.
pub(super) fn quadratic(
    model: &Workspace,
    equations: &Equations,
    known: &[Expr],
) -> Vec<Conserved> {
    find(model, equations, known).unwrap_or_default()
}

fn find(model: &Workspace, equations: &Equations, known: &[Expr]) -> Option<Vec<Conserved>> {
    let g = &model.graph;
    let n = model.coordinates.len();
    let holonomic = equations.classes.contains(&Class::Holonomic);
    let quadratic = equations.kinetic.as_ref()?;
    if n > MOST || holonomic || equations.principle != Principle::Chetaev {
        return None;
    }
    let potential = quadratic.potential.unwrap_or_else(|| g.neg(quadratic.scalar));
    if !may_be_new(model, equations, potential, known, n <= VARYING) {
        return None;
    }
    let reduced = reduced_equations(model, equations)?;
    let right: Vec<Vec<Expr>> = reduced.force.iter().map(|&f| vec![f]).collect();
    let rates = solve_linear(g, &reduced.mass, &right)?;
    let rates: Vec<Expr> = rates.iter().map(|r| g.simplify(r[0])).collect();
    if g.size(&rates) > LONGEST || g.contains(g.sum(rates.iter().copied()), &[model.time]) {
        return None;
    }
    let (q, u) = (model.positions(), &reduced.quasi.symbols);
    let mut direction: Vec<(Expr, Expr)> =
        q.iter().copied().zip(reduced.velocities.iter().copied()).collect();
    direction.extend(u.iter().copied().zip(rates));
    let candidates = candidates(model, u, potential);
    let distinct = g.independent_over_constants(&candidates);
    let candidates: Vec<Expr> = distinct.into_iter().map(|j| candidates[j]).collect();
    let slopes = g.directional(&candidates, &direction);
    let functions: Vec<Vec<Expr>> = slopes.into_iter().map(|s| vec![s]).collect();
    // What is known, in the same variables.
    let inserted: Vec<(Expr, Expr)> =
        model.velocities().into_iter().zip(reduced.velocities.iter().copied()).collect();
    let own = g.substitute(known, &inserted);
    let mut all = vec![g.one()];
    all.extend(&own);
    for (i, &x) in own.iter().enumerate() {
        all.extend(own[i..].iter().map(|&y| g.mul(x, y)));
    }
    // NOTE: by numbers, before anything is proved: mostly nothing is new.
    let numbers = Known::new(g, &all, &candidates);
    let found = relations_where(g, &functions, &|c| numbers.lacks(c));
    let back: Vec<(Expr, Expr)> =
        u.iter().copied().zip(reduced.quasi.definitions.iter().copied()).collect();
    let is_new = |f: Expr, all: &mut Vec<Expr>| {
        all.push(f);
        let independent = g.independent_over_constants(all);
        let is_new = independent.last() == Some(&(all.len() - 1));
        if !is_new {
            all.pop();
        }
        is_new
    };
    let mut new = Vec::new();
    let mut add = |kind: ConservedKind, f: Expr| {
        let quantity = g.substitute(&[f], &back)[0];
        new.push(Conserved { name: String::new(), kind, quantity });
    };
    // What is linear makes products: where the multipliers vanish, every velocity is kept.
    let linear = if found.is_empty() { Vec::new() } else { linear(model, u, &direction) };
    let mut own = own;
    for f in linear {
        if is_new(f, &mut all) {
            all.extend(own.iter().map(|&x| g.mul(x, f)));
            all.push(g.mul(f, f));
            own.push(f);
            add(ConservedKind::Linear, f);
        }
    }
    // Products with what is kept of positions, and with two of the others.
    let still: Vec<Expr> = own.iter().copied().filter(|&x| !g.contains(x, u)).collect();
    let pairs: Vec<Expr> = all[1..].to_vec();
    all.extend(still.iter().flat_map(|&x| pairs.iter().map(move |&y| g.mul(x, y))));
    let mut squares: Vec<(ConservedKind, Expr)> = found
        .iter()
        .map(|relation| written(model, relation, &candidates, potential, u))
        .filter(|(_, f)| g.operations(&[*f]) <= LONG_SUM)
        .collect();
    // NOTE: short ones first, so that a product of one of them with another integral is not told.
    let mut order: Vec<usize> = (0..squares.len()).collect();
    order.sort_by_cached_key(|&i| g.operations(&[squares[i].1]));
    let mut told = vec![false; squares.len()];
    for i in order {
        let f = squares[i].1;
        told[i] = is_new(f, &mut all);
        if told[i] {
            all.extend(still.iter().map(|&x| g.mul(x, f)));
        }
    }
    for (i, (kind, f)) in squares.drain(..).enumerate().rev() {
        if told[i] {
            add(kind, f);
        }
    }
    Some(new)
}

/// Integrals $c^a(q)\,u_a$ with coefficients of degree one.
fn linear(model: &Workspace, u: &[Expr], direction: &[(Expr, Expr)]) -> Vec<Expr> {
    let g = &model.graph;
    let q = model.positions();
    let products = q.iter().rev().flat_map(|&q| u.iter().rev().map(move |&u| g.mul(q, u)));
    let candidates: Vec<Expr> = products.chain(u.iter().rev().copied()).collect();
    let slopes = g.directional(&candidates, direction);
    let functions: Vec<Vec<Expr>> = slopes.into_iter().map(|s| vec![s]).collect();
    let mut found: Vec<Expr> = relations(g, &functions)
        .into_iter()
        .map(|relation| g.sum(relation.iter().map(|&(j, c)| g.mul(c, candidates[j]))))
        .collect();
    found.reverse();
    found
}

/// The sum of a relation with the signs of books, and whether it is a component of Laplace's vector.
fn written(
    model: &Workspace,
    relation: &[(usize, Expr)],
    candidates: &[Expr],
    potential: Expr,
    u: &[Expr],
) -> (ConservedKind, Expr) {
    let g = &model.graph;
    let q = model.positions();
    let place = |j: usize| q.iter().position(|&q| candidates[j] == g.mul(potential, q));
    let carried: Vec<(usize, Expr)> =
        relation.iter().filter_map(|&(j, c)| Some((place(j)?, c))).collect();
    let is_still = |j: usize| place(j).is_none() && !g.contains(candidates[j], u);
    let kind = match carried[..] {
        [(k, _)] if !relation.iter().any(|t| is_still(t.0)) => ConservedKind::Laplace(k),
        _ => ConservedKind::Quadratic,
    };
    let squares: Vec<Expr> = u.iter().map(|&u| g.mul(u, u)).collect();
    let square = relation.iter().find(|t| squares.contains(&candidates[t.0]));
    let leading = if kind == ConservedKind::Quadratic { square } else { None };
    let leading = leading.map_or_else(|| carried.first().map(|c| c.1), |t| Some(t.1));
    let unit = leading.filter(|&c| g.number_of(c).is_some()).unwrap_or_else(|| g.one());
    let terms = relation.iter().map(|&(j, c)| g.mul(g.div(c, unit), candidates[j]));
    (kind, g.sum(terms))
}

/// $u_a u_b$, $q_k u_a u_b$, $q_k q_l u_a u_b$, $q_k$, $q_k q_l$, $V$, $V q_k$
fn candidates(model: &Workspace, u: &[Expr], potential: Expr) -> Vec<Expr> {
    let g = &model.graph;
    let q = model.positions();
    let products = |list: &[Expr]| -> Vec<Expr> {
        let mut all = Vec::new();
        for (i, &x) in list.iter().enumerate() {
            all.extend(list[i..].iter().map(|&y| g.mul(x, y)));
        }
        all
    };
    let mut factors = Vec::new();
    if q.len() <= VARYING {
        factors.extend(products(&q));
        factors.extend(&q);
    }
    factors.push(g.one());
    let squares = products(u);
    let mut all = Vec::new();
    for &f in &factors {
        all.extend(squares.iter().map(|&s| g.mul(f, s)));
    }
    all.extend(products(&q));
    all.extend(&q);
    all.extend(q.iter().rev().map(|&q| g.mul(potential, q)));
    all.push(potential);
    all
}
