//! The mass matrix at the state last evaluated, and what it does to velocities.
//!
//! With auxiliary velocities $w$ it is $M = J^\top\tilde M J$ with $\xi = (\dot q, w) = J\dot q$, and is multiplied by
//! going through the definitions of $w$ forwards and backwards.

use pfaff_mechanics::Principle;

use crate::system::kkt::Kkt;
use crate::system::sparse_rows::SparseRows;

/// How often masses are asked for until they are computed again by auxiliary velocities: they are scales.
const RENEWED: usize = 16;

impl Kkt {
    /// The mass in (K) at the state last evaluated: $M$, or $M - \mu\cdot\psi_{\dot q\dot q}$ under
    /// the vakonomic principle. With auxiliary velocities it has their rows and columns behind those of the velocities.
    pub(crate) fn mass(&self) -> SparseRows<'_> {
        self.patterns.mass.with(&self.blocks[..self.layout.jacobian])
    }

    /// The same by full rows, without auxiliary velocities.
    pub(crate) fn full_mass(&self) -> Vec<f64> {
        if self.extra == 0 {
            return self.mass().dense(0..self.n, self.n);
        }
        let mut mass = Vec::with_capacity(self.n * self.n);
        for i in 0..self.n {
            let mut unit = vec![0.0; self.n];
            unit[i] = 1.0;
            mass.extend(self.mass_times(&unit));
        }
        mass
    }

    /// $M = \partial^2 L/\partial\dot q^2$ by rows at the state last evaluated.
    pub(crate) fn inertia(&self) -> Vec<f64> {
        let bend = self.bend().dense(0..self.n, self.n);
        match self.principle {
            Principle::Chetaev => self.full_mass(),
            Principle::Vakonomic => {
                self.full_mass().iter().zip(bend).map(|(m, b)| m + b).collect()
            }
            Principle::Restricted => bend,
        }
    }

    /// Velocities with the auxiliary velocities that they give, apart from what these have at rest.
    pub(crate) fn extended(&self, v: &[f64]) -> Vec<f64> {
        let mut all = v.to_vec();
        for k in 0..self.extra {
            // w − Σ cⱼ ξⱼ = 0, with w behind the others.
            let row = self.definition(k);
            let others = row.entries().take(row.columns.len() - 1);
            all.push(-others.map(|(j, c)| c * all[j]).sum::<f64>());
        }
        all
    }

    /// The forces on velocities that forces on velocities and auxiliary velocities together are.
    pub(super) fn contracted(&self, mut force: Vec<f64>) -> Vec<f64> {
        for k in (0..self.extra).rev() {
            let row = self.definition(k);
            let handed = force[self.n + k];
            let others = row.entries().take(row.columns.len() - 1);
            others.for_each(|(j, c)| force[j] -= c * handed);
        }
        force.truncate(self.n);
        force
    }

    /// $Mv$
    fn mass_times(&self, v: &[f64]) -> Vec<f64> {
        let all = self.extended(v);
        self.contracted(self.mass().rows().map(|row| row.dot(&all)).collect())
    }

    /// $v^\top M v$
    pub(crate) fn twice_kinetic(&self, v: &[f64]) -> f64 {
        let extended;
        let v = if self.extra == 0 {
            v
        } else {
            extended = self.extended(v);
            &extended
        };
        let rows = self.mass().rows().enumerate();
        rows.flat_map(|(i, row)| row.entries().map(move |(j, m)| v[i] * m * v[j])).sum()
    }

    /// $M_{ii}$ at the state last evaluated; with auxiliary velocities, where that is more work than an evaluation, at
    /// one of the last [`RENEWED`] at which it was asked for.
    pub(crate) fn mass_diagonal(&mut self) -> &[f64] {
        let mut diagonal = std::mem::take(&mut self.buffers.diagonal);
        if self.extra == 0 {
            diagonal.clear();
            diagonal.extend(self.mass().rows().enumerate().map(|(i, row)| row.get(i)));
        } else if self.buffers.asked.is_multiple_of(RENEWED) {
            diagonal.resize(self.n, 0.0);
            let mut unit = vec![0.0; self.n];
            for (i, mass) in diagonal.iter_mut().enumerate() {
                unit[i] = 1.0;
                *mass = self.twice_kinetic(&unit);
                unit[i] = 0.0;
            }
        }
        self.buffers.asked += 1;
        self.buffers.diagonal = diagonal;
        &self.buffers.diagonal
    }
}
