//! (K) without its auxiliary velocities: their definitions put in, in numbers.
//!
//! With $\xi = (x, w) = Jx$ from $Dx = 0$, each $w$ in terms of those before it,
//!
//! $$ M = J^\top\tilde M J, \qquad A = \tilde A J, \qquad W = \tilde W J, \qquad f = J^\top\tilde f, $$
//!
//! by rows of $J$ that are as long as what they contain. The multipliers of the definitions follow from the rows of
//! $\tilde M\xi - \tilde W^\top\lambda - D^\top\nu = \tilde f$ that belong to $w$, the last one first. Definitions have
//! zero on the right side: $w$ stands for a part of the acceleration.
//!
//! A chain of bodies by products of rotations has nine rates for each of them, of which three are free. The mass of the
//! joints alone, though full, is positive; elimination among the rates takes small inertias from large ones.

use pfaff_solver::EvalError;

use crate::system::saddle_point::{Blocks, Factors, Saddle};
use crate::system::sparse_rows::{RowMatrix, SparseRow};

/// Storage for the smaller system and its solution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condensed {
    saddle: Saddle,
    /// The rows of $J$ that belong to $w$, without the zeros behind their last entry.
    rows: Vec<Vec<f64>>,
    products: Vec<Vec<f64>>,
    mass: RowMatrix,
    left: RowMatrix,
    right: RowMatrix,
    force: Vec<f64>,
}

impl Condensed {
    /// Solves (K) into $(\xi, \nu, \lambda)$; tells also whether dependent rows had to be dropped.
    pub(crate) fn solve(
        &mut self,
        factors: Factors,
        blocks: &Blocks<'_>,
        solution: &mut Vec<f64>,
    ) -> (Result<(), EvalError>, bool) {
        let extra = blocks.condensed;
        let n = blocks.force.len() - extra;
        debug_assert!(
            blocks.drift[..extra].iter().all(|&d| d == 0.0),
            "parts of accelerations"
        );
        if factors == Factors::New || self.rows.len() != extra {
            self.condense(blocks, n);
        }
        self.force.clear();
        self.force.extend_from_slice(&blocks.force[..n]);
        for (row, &f) in self.rows.iter().zip(&blocks.force[n..]).filter(|part| *part.1 != 0.0)
        {
            self.force.iter_mut().zip(row).for_each(|(force, c)| *force += c * f);
        }
        let Self { saddle, mass, left, right, force, .. } = self;
        let smaller = Blocks {
            mass: mass.view(),
            left: left.view(),
            right: right.view(),
            force,
            drift: &blocks.drift[extra..],
            condensed: 0,
        };
        if let Err(error) = saddle.solve_by(factors, &smaller) {
            return (Err(error), saddle.has_dropped());
        }
        let mut found = saddle.solution.clone();
        if !saddle.has_dropped() {
            // NOTE: what is left of the equations before condensing is free of the cancellation in M, which a step
            // of refinement so takes out of the accelerations.
            let mut left = residual(blocks, n, &found);
            if saddle.solve_again(&mut left).is_ok() {
                found.iter_mut().zip(&left).for_each(|(x, δ)| *x += δ);
            }
        }
        let (x, λ) = found.split_at(n);
        solution.clear();
        solution.extend_from_slice(x);
        extend(blocks, solution);
        let mut ν = surplus(blocks, solution, λ);
        contract(blocks, n, &mut ν);
        solution.extend_from_slice(&ν[n..]);
        solution.extend_from_slice(λ);
        (Ok(()), saddle.has_dropped())
    }

    /// The constraints that depend on others; `None` if accelerations are free.
    pub(crate) fn dependent(&mut self, blocks: &Blocks<'_>) -> Option<Vec<usize>> {
        let n = blocks.force.len() - blocks.condensed;
        self.condense(blocks, n);
        let smaller = Blocks {
            mass: self.mass.view(),
            left: self.left.view(),
            right: self.right.view(),
            force: &blocks.force[..n],
            drift: &blocks.drift[blocks.condensed..],
            condensed: 0,
        };
        self.saddle.dependent(&smaller)
    }

    /// The sign of the determinant in the last solve.
    pub(crate) fn orientation(&self) -> f64 {
        self.saddle.orientation
    }

    /// Smallest pivot over the largest in the last solve.
    pub(crate) fn pivot_ratio(&self) -> f64 {
        self.saddle.pivot_ratio()
    }

    fn condense(&mut self, blocks: &Blocks<'_>, n: usize) {
        let extra = blocks.condensed;
        self.rows.resize(extra, Vec::new());
        for k in 0..extra {
            let (before, rest) = self.rows.split_at_mut(k);
            let row = &mut rest[0];
            row.clear();
            for (j, c) in terms(blocks, k) {
                match j.checked_sub(n) {
                    None => put(row, j, -c),
                    Some(w) => add(row, &before[w], -c),
                }
            }
        }
        let Self { rows, products, mass, left, right, .. } = self;
        // The rows of M̃J, then those of JᵀM̃J, as forces on w are handed over to what defines it.
        products.resize(n + extra, Vec::new());
        for (row, product) in blocks.mass.rows().zip(products.iter_mut()) {
            gather(row, rows, n, product);
        }
        for k in (0..extra).rev() {
            let (before, rest) = products.split_at_mut(n + k);
            terms(blocks, k).for_each(|(j, c)| add(&mut before[j], &rest[0], -c));
        }
        mass.clear();
        products[..n].iter().for_each(|row| mass.push(row.iter().copied().enumerate()));
        let mut sum: Vec<f64> = Vec::new();
        for (target, given) in [(left, blocks.left), (right, blocks.right)] {
            target.clear();
            for row in given.rows().skip(extra) {
                gather(row, rows, n, &mut sum);
                target.push(sum.iter().copied().enumerate().filter(|entry| entry.1 != 0.0));
            }
        }
    }
}

/// $w$ behind $x$, by the definitions.
fn extend(blocks: &Blocks<'_>, ξ: &mut Vec<f64>) {
    for k in 0..blocks.condensed {
        let w: f64 = terms(blocks, k).map(|(j, c)| c * ξ[j]).sum();
        ξ.push(-w);
    }
}

/// $\tilde M\xi - \tilde W^\top\lambda - \tilde f$
fn surplus(blocks: &Blocks<'_>, ξ: &[f64], λ: &[f64]) -> Vec<f64> {
    let rows = blocks.mass.rows().zip(blocks.force);
    let mut surplus: Vec<f64> = rows.map(|(row, f)| row.dot(ξ) - f).collect();
    for (a, &λ) in λ.iter().enumerate() {
        let entries = blocks.right.row(blocks.condensed + a).entries();
        entries.for_each(|(j, w)| surplus[j] -= λ * w);
    }
    surplus
}

/// Hands what is on $w$ over to what defines it: behind the first n, $\nu$ is left.
fn contract(blocks: &Blocks<'_>, n: usize, force: &mut [f64]) {
    for k in (0..blocks.condensed).rev() {
        let own = force[n + k];
        terms(blocks, k).for_each(|(j, c)| force[j] -= c * own);
    }
}

/// What $(x, \lambda)$ leaves of the condensed equations, by those before condensing.
fn residual(blocks: &Blocks<'_>, n: usize, found: &[f64]) -> Vec<f64> {
    let (x, λ) = found.split_at(n);
    let mut ξ = x.to_vec();
    extend(blocks, &mut ξ);
    let mut left = surplus(blocks, &ξ, λ);
    contract(blocks, n, &mut left);
    left.truncate(n);
    left.iter_mut().for_each(|x| *x = -*x);
    let drift = blocks.drift[blocks.condensed..].iter().enumerate();
    left.extend(drift.map(|(a, b)| b - blocks.left.row(blocks.condensed + a).dot(&ξ)));
    left
}

/// What a definition has beside its own velocity, which is its last entry.
fn terms<'a>(blocks: &Blocks<'a>, k: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
    let row = blocks.left.row(k);
    row.entries().take(row.columns.len() - 1)
}

/// A row over $\xi$ times $J$.
fn gather(row: SparseRow<'_>, rows: &[Vec<f64>], n: usize, sum: &mut Vec<f64>) {
    sum.clear();
    for (j, x) in row.entries() {
        match j.checked_sub(n) {
            None => put(sum, j, x),
            Some(w) => add(sum, &rows[w], x),
        }
    }
}

/// Adds a number in one place of a row, which becomes as long as that takes.
fn put(row: &mut Vec<f64>, j: usize, x: f64) {
    if row.len() <= j {
        row.resize(j + 1, 0.0);
    }
    row[j] += x;
}

/// Adds a multiple of another row.
fn add(row: &mut Vec<f64>, other: &[f64], factor: f64) {
    if row.len() < other.len() {
        row.resize(other.len(), 0.0);
    }
    row.iter_mut().zip(other).for_each(|(x, y)| *x += factor * y);
}
