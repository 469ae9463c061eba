//! The rows of the constraints at the state last evaluated, and the sizes of their terms.
//!
//! With auxiliary velocities $w$ a row has their columns behind those of $\dot q$. Its full form has none: what stands
//! with $w_k$ is handed on to what defines it.

use crate::system::kkt::Kkt;
use crate::system::sparse_rows::{RowMatrix, SparseRow, SparseRows};

impl Kkt {
    /// The row that defines an auxiliary velocity, whose entry is the last one.
    pub(crate) fn definition(&self, k: usize) -> SparseRow<'_> {
        self.jacobian().row(k)
    }

    /// The sizes of the accelerations of the last solve. Those of auxiliary velocities are what cancels in their
    /// definitions.
    pub(super) fn solution_sizes(&self) -> Vec<f64> {
        let found = &self.saddle.solution[..self.n + self.extra];
        let mut sizes: Vec<f64> = found.iter().map(|x| x.abs()).collect();
        for k in 0..self.extra {
            let definition = self.definition(k);
            let others = definition.entries().take(definition.columns.len() - 1);
            sizes[self.n + k] = others.map(|(j, c)| c.abs() * sizes[j]).sum();
        }
        sizes
    }

    /// The definitions of auxiliary velocities, then $A$.
    pub(super) fn jacobian(&self) -> SparseRows<'_> {
        let l = &self.layout;
        self.patterns.jacobian.with(&self.blocks[l.jacobian..l.directions])
    }

    /// Velocities of the state last evaluated, with the sizes of the terms of auxiliary velocities.
    pub(super) fn moving<'a>(&'a self, v: &'a [f64]) -> &'a [f64] {
        if self.extra == 0 { v } else { &self.buffers.magnitudes }
    }

    /// Takes these sizes, $|w_k| \le \sum_j|c_{kj}||\xi_j|$: rounding is a part of them, also where terms cancel.
    pub(super) fn measure_terms(&mut self) {
        let mut sizes = std::mem::take(&mut self.buffers.magnitudes);
        sizes.clear();
        sizes.extend(self.velocity().iter().map(|v| v.abs()));
        for k in 0..self.extra {
            let row = self.definition(k);
            let others = row.entries().take(row.columns.len() - 1);
            sizes.push(others.map(|(j, c)| c.abs() * sizes[j]).sum());
        }
        self.buffers.magnitudes = sizes;
    }

    /// The size of the terms of $\varphi_a$ at positions.
    pub(crate) fn position_size(&self, a: usize, q: &[f64]) -> f64 {
        self.scale.position(a, self.row(a), q)
    }

    /// The size of the terms of $\psi_a$ at the velocities of the state last evaluated.
    pub(crate) fn velocity_size(&self, a: usize, v: &[f64], largest: f64) -> f64 {
        self.scale.velocity(a, self.row(a), self.moving(v), largest)
    }

    /// The largest size of a velocity constraint, where one of them had none at the start; else zero.
    pub(crate) fn largest_velocity(&self, v: &[f64]) -> f64 {
        self.scale.largest_velocity(|a| self.row(a), self.moving(v))
    }

    /// The row of $A$ that belongs to a constraint, with columns of auxiliary velocities behind those of velocities.
    pub(crate) fn row(&self, a: usize) -> SparseRow<'_> {
        self.jacobian().row(self.extra + a)
    }

    /// Where constraints hold every coordinate by itself, gives them the accelerations that these say. In the solution
    /// of (K) forces and reactions cancel, up to a rounding that would be all that moves at rest.
    pub(super) fn take_held(&mut self) {
        if self.held.len() < self.n || self.n == 0 {
            return;
        }
        for a in (0..self.m).filter(|&a| self.active[a]) {
            let SparseRow { columns, values } = self.row(a);
            let (&[j], &[x]) = (columns, values) else { continue };
            let value = self.blocks[self.layout.drift + self.extra + a] / x;
            if j < self.n && value.is_finite() {
                self.saddle.solution[j] = value;
            }
        }
    }

    /// $A$ by full rows.
    pub(crate) fn full_jacobian(&self) -> Vec<f64> {
        self.full(&|a| self.row(a))
    }

    /// The rows of constraints with all their zeros, without auxiliary velocities.
    pub(super) fn full<'a>(&'a self, row: &dyn Fn(usize) -> SparseRow<'a>) -> Vec<f64> {
        (0..self.m).flat_map(|a| self.full_row(row(a))).collect()
    }

    /// A row with all its zeros, without auxiliary velocities.
    pub(crate) fn full_row(&self, row: SparseRow<'_>) -> Vec<f64> {
        let mut full = vec![0.0; self.n + self.extra];
        row.entries().for_each(|(j, x)| full[j] = x);
        self.contracted(full)
    }

    /// The length of the row of $A$ that belongs to a constraint.
    pub(crate) fn row_length(&self, a: usize) -> f64 {
        let row = self.row(a);
        if row.columns.last().is_some_and(|&j| j >= self.n) {
            self.full_row(row).iter().map(|x| x * x).sum::<f64>().sqrt()
        } else {
            row.length()
        }
    }

    /// The definitions of auxiliary velocities, then $W$.
    pub(super) fn directions(&self) -> SparseRows<'_> {
        let l = &self.layout;
        self.patterns.directions.with(&self.blocks[l.directions..l.bend])
    }

    /// The row of $W$ that belongs to a constraint.
    pub(crate) fn direction(&self, a: usize) -> SparseRow<'_> {
        self.directions().row(self.extra + a)
    }

    /// What multipliers take from the mass.
    pub(super) fn bend(&self) -> SparseRows<'_> {
        self.patterns.bend.with(&self.blocks[self.layout.bend..self.layout.force])
    }

    /// The places of some components among them, and behind these of the auxiliary velocities.
    pub(crate) fn places(&self, some: &[usize]) -> Vec<Option<usize>> {
        let mut places = vec![None; self.n];
        some.iter().enumerate().for_each(|(i, &k)| places[k] = Some(i));
        places.extend((0..self.extra).map(|k| Some(some.len() + k)));
        places
    }

    /// The definitions of auxiliary velocities, then constraints, with the columns that have a place.
    pub(crate) fn restricted(&self, places: &[Option<usize>], rows: &[usize]) -> RowMatrix {
        let definitions = (0..self.extra).map(|k| self.definition(k));
        RowMatrix::restricted(definitions.chain(rows.iter().map(|&a| self.row(a))), places)
    }

    /// $f$ and $b$ at the state last evaluated, in one list.
    #[cfg(test)]
    pub(crate) fn right_side_list(&self) -> Vec<f64> {
        let (force, drift) = self.right_side();
        [force, drift].concat()
    }

    /// $f$ and $b$ at the state last evaluated.
    pub(crate) fn right_side(&self) -> (Vec<f64>, Vec<f64>) {
        let (l, n) = (&self.layout, self.n);
        let drift = &self.blocks[l.drift + self.extra..l.residual];
        (self.blocks[l.force..l.force + n].to_vec(), drift.to_vec())
    }
}
