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
            self.diagonal_by_definitions(&mut diagonal);
        }
        self.buffers.asked += 1;
        self.buffers.diagonal = diagonal;
        &self.buffers.diagonal
    }

    /// The diagonal of $J^\top\tilde M J$: auxiliary velocities are replaced by their definitions one after another,
    /// the last one first.
    fn diagonal_by_definitions(&self, diagonal: &mut Vec<f64>) {
        let (n, all) = (self.n, self.n + self.extra);
        let mut first: Vec<usize> = vec![all; n];
        first.extend(n..all);
        for k in (0..self.extra).rev() {
            let row = self.definition(k);
            row.columns.iter().filter(|&&j| j < n).for_each(|&j| first[j] = n + k);
        }
        diagonal.clear();
        diagonal.resize(all, 0.0);
        let mut form = QuadraticForm { n, first, diagonal, beside: vec![Vec::new(); all] };
        for (i, row) in self.mass().rows().enumerate() {
            row.entries().filter(|&(j, _)| j <= i).for_each(|(j, m)| form.add(i, j, m));
        }
        for k in (0..self.extra).rev() {
            let row = self.definition(k);
            let terms = || row.entries().take(row.columns.len() - 1).map(|(j, c)| (j, -c));
            let own = std::mem::take(&mut form.beside[n + k]);
            let square = form.diagonal[n + k];
            for (j, c) in terms() {
                for (l, d) in terms().filter(|&(l, _)| l <= j) {
                    form.add(j, l, c * d * square);
                }
                for &(i, m) in &own {
                    // NOTE: 2 x y becomes 2 x² on the diagonal.
                    form.add(i, j, if i == j { 2.0 * c * m } else { c * m });
                }
            }
        }
        diagonal.truncate(n);
    }
}

/// $\sum d_i x_i^2 + 2\sum s_{ij} x_i x_j$ over velocities and auxiliary velocities, of which only those products are
/// kept that may become squares of velocities.
struct QuadraticForm<'a> {
    n: usize,
    /// The first definition in which each velocity occurs: auxiliary velocities before it do not contain it.
    first: Vec<usize>,
    diagonal: &'a mut [f64],
    /// By the later of the two.
    beside: Vec<Vec<(usize, f64)>>,
}

impl QuadraticForm<'_> {
    fn add(&mut self, i: usize, j: usize, m: f64) {
        let (i, j) = (i.min(j), i.max(j));
        if i == j {
            self.diagonal[i] += m;
        } else if j >= self.n && self.first[i] <= j {
            let row = &mut self.beside[j];
            match row.iter_mut().find(|entry| entry.0 == i) {
                Some(entry) => entry.1 += m,
                None => row.push((i, m)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pfaff_mechanics::derive_for_run;
    use pfaff_model::Principle;
    use pfaff_program::Backend;

    use super::*;
    use crate::model::Model;

    /// A chain of bodies with a velocity that occurs at several levels: the diagonal by definitions against the kinetic
    /// energy of one velocity at a time.
    #[test]
    fn diagonal_is_that_of_the_mass_written_out() {
        let text = "parameters N = 30\ncoordinates s, th[1..N]\nlet X[0] = s\nlet Y[0] = 0\n\
            let X[i = 1..N] = X[i-1] + sin(th[i]) + 0.1*i*s\nlet Y[i = 1..N] = Y[i-1] - cos(th[i] + s)\n\
            kinetic sum(i = 1..N, X[i]'^2 + Y[i]'^2 + X[i]'*Y[i]')/2 + X[3]'*th[7]'/5";
        let model = Model::parse(text).unwrap();
        let workspace = model.workspace();
        let equations = derive_for_run(&workspace, Principle::Chetaev).unwrap();
        let mut kkt = Kkt::sketch(&workspace, &equations, Backend::Interpreter).unwrap();
        assert!(kkt.extra > 0, "auxiliary velocities");
        let q: Vec<f64> = (0..31).map(|k| libm::sin(0.7 * f64::from(k))).collect();
        kkt.evaluate(0.0, &q, &vec![0.0; 31], &[]);
        let found = kkt.mass_diagonal().to_vec();
        for (i, found) in found.iter().enumerate() {
            let mut unit = vec![0.0; 31];
            unit[i] = 1.0;
            let wanted = kkt.twice_kinetic(&unit);
            // Rounding of about a hundred terms.
            assert!(
                (found - wanted).abs() < 1e-12 * wanted,
                "{i}: {found} instead of {wanted}"
            );
        }
    }
}
