//! The size of the terms of every constraint, by which its residual is measured.
//!
//! $$ u_a + \sum_i|A_{ai}q_i| \quad\text{for } \varphi_a(t, q), \qquad
//!    w_a + \sum_i|A_{ai}\dot q_i| \quad\text{for } \psi_a(t, q, \dot q) $$
//!
//! with the terms of $\varphi_a$ and $\psi_a$ at the start, $u_a$ and $w_a$: lengths may be micrometres or light years.
//! A constraint without terms at the start, such as $q_i = 0$, has the size of the largest coordinate in the metric of
//! the masses, $u_a = \sum_i|A_{ai}|\,\max_j(|q_j|\sqrt{M_{jj}})/\sqrt{M_{ii}}$; at velocity level, where nothing moves
//! at the start, that of the largest constraint.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph, Node};
use pfaff_mechanics::Equations;
use pfaff_model::Workspace;

use crate::system::sparse_rows::SparseRow;

/// So that nothing is divided by zero.
const LEAST: f64 = f64::MIN_POSITIVE;

/// What moves by less than this part of the largest counts as still.
const STILL: f64 = 1e-9;

/// The sizes of the holonomic constraints.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstraintScale {
    /// The terms of each $\varphi_a$.
    terms: Vec<Vec<Expr>>,
    /// $u_a$ and $w_a$
    positions: Vec<f64>,
    velocities: Vec<f64>,
}

impl ConstraintScale {
    pub(crate) fn new(graph: &Graph, equations: &Equations) -> Self {
        let terms = |φ: &Option<Expr>| {
            let mut terms = Vec::new();
            φ.iter().for_each(|&φ| collect_terms(graph, φ, &mut terms));
            terms
        };
        let terms: Vec<_> = equations.position.iter().map(terms).collect();
        let m = terms.len();
        Self { positions: vec![1.0; m], velocities: vec![0.0; m], terms }
    }

    /// Takes the terms at a state near which the motion begins.
    pub(crate) fn measure(&mut self, model: &Workspace, t: f64, q: &[f64]) {
        let positions = model.coordinates.iter().map(|c| c.position).zip(q.iter().copied());
        let parameters = model.parameters.iter().map(|p| (p.symbol, p.value));
        let known: BTreeMap<Expr, f64> = parameters.chain(positions).collect();
        let at = |s: Expr| known.get(&s).copied().unwrap_or(t);
        for (size, terms) in self.positions.iter_mut().zip(&self.terms) {
            let sum: f64 = model.graph.evaluate(terms, &at).iter().map(|x| x.abs()).sum();
            *size = if sum.is_finite() { sum } else { 1.0 };
        }
    }

    /// Whether every constraint has terms at the start.
    pub(crate) fn has_sizes(&self) -> bool {
        self.positions.iter().all(|&size| size > 0.0)
    }

    /// Gives a size to the constraints that have no terms at the start, with the masses $M_{jj}$.
    pub(crate) fn measure_held<'a>(
        &mut self,
        row: impl Fn(usize) -> SparseRow<'a>,
        q: &[f64],
        masses: &[f64],
    ) {
        let sizes = q.iter().zip(masses).map(|(q, mass)| q.abs() * mass.abs().sqrt());
        let largest = sizes.fold(0.0, f64::max);
        for (a, size) in self.positions.iter_mut().enumerate().filter(|(_, size)| **size == 0.0)
        {
            let known = row(a).entries().filter(|&(j, _)| j < q.len() && masses[j] > 0.0);
            *size = known.map(|(j, x)| x.abs() * largest / masses[j].sqrt()).sum();
        }
    }

    /// Takes the terms of the velocity constraints at a state: where nothing moves, those of the largest.
    pub(crate) fn measure_velocities<'a>(
        &mut self,
        row: impl Fn(usize) -> SparseRow<'a>,
        residual: &[f64],
        v: &[f64],
    ) {
        for (a, size) in self.velocities.iter_mut().enumerate() {
            let sum = residual[a].abs() + products(row(a), v);
            *size = if sum.is_finite() { sum } else { 1.0 };
        }
        let largest = self.velocities.iter().copied().fold(0.0, f64::max);
        for size in &mut self.velocities {
            *size = if *size > STILL * largest { *size } else { largest };
        }
    }

    /// The size of $\varphi_a$, with the row $a$ of $A$.
    pub(crate) fn position(&self, a: usize, row: SparseRow<'_>, q: &[f64]) -> f64 {
        self.positions[a] + products(row, q)
    }

    /// The size of $\psi_a$; that of the largest constraint, `largest`, if it is still.
    pub(crate) fn velocity(
        &self,
        a: usize,
        row: SparseRow<'_>,
        v: &[f64],
        largest: f64,
    ) -> f64 {
        let own = self.velocities[a] + products(row, v);
        if own > STILL * largest { own } else { largest }
    }

    /// The largest of all constraints, if nothing moved at the start; else zero.
    pub(crate) fn largest_velocity<'a>(
        &self,
        row: impl Fn(usize) -> SparseRow<'a>,
        v: &[f64],
    ) -> f64 {
        // NOTE: products are at least LEAST.
        if self.velocities.iter().all(|&size| size > 2.0 * LEAST) {
            return 0.0;
        }
        (0..self.velocities.len()).map(|a| products(row(a), v)).fold(0.0, f64::max)
    }
}

fn products(row: SparseRow<'_>, x: &[f64]) -> f64 {
    let known = row.entries().filter(|&(j, _)| j < x.len());
    LEAST + known.map(|(j, a)| (a * x[j]).abs()).sum::<f64>()
}

/// The terms of a sum.
pub(crate) fn collect_terms(graph: &Graph, e: Expr, terms: &mut Vec<Expr>) {
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match graph.node(e) {
            Node::Add(a, b) | Node::Sub(a, b) => stack.extend([b, a]),
            Node::Neg(a) => stack.push(a),
            _ => terms.push(e),
        }
    }
}
