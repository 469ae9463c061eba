//! The natural units of a boundary value problem, in which a search and its tolerances do not depend on the units of
//! the model.
//!
//! $$ q_k = U_k\,\tilde q_k, \quad t = T\,\tilde t, \quad L = \frac{S}{T}\,\tilde L, \quad
//!    p_k = \frac{S}{U_k}\,\tilde p_k, \quad \psi_a = R_a\,\tilde\psi_a, \quad
//!    \mu_a = \frac{S}{T R_a}\,\tilde\mu_a $$
//!
//! All are powers of two, so that nothing is rounded on the way there and back; how large they are says
//! `natural_units.rs`.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::Workspace;
use pfaff_solver::BoundaryPath;

/// Sizes of what a problem consists of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    /// $U_k$
    pub(crate) lengths: Vec<f64>,
    /// $T$
    pub(crate) time: f64,
    /// $S$
    pub(crate) action: f64,
    /// $R_a$
    pub(crate) residuals: Vec<f64>,
}

impl Units {
    /// The units of the model itself.
    pub(crate) fn ones(n: usize, m: usize) -> Self {
        Self { lengths: vec![1.0; n], time: 1.0, action: 1.0, residuals: vec![1.0; m] }
    }

    /// Whether they are those of the model.
    pub(crate) fn are_ones(&self) -> bool {
        *self == Self::ones(self.lengths.len(), self.residuals.len())
    }

    /// $U_k/T$
    pub(crate) fn velocity(&self, k: usize) -> f64 {
        self.lengths[k] / self.time
    }

    /// $S/U_k$
    pub(crate) fn momentum(&self, k: usize) -> f64 {
        self.action / self.lengths[k]
    }

    /// $S/(T R_a)$
    pub(crate) fn multiplier(&self, a: usize) -> f64 {
        self.action / self.time / self.residuals[a]
    }

    /// Of a component of $(\dot q, \mu)$.
    pub(crate) fn solved(&self, index: usize) -> f64 {
        match index.checked_sub(self.lengths.len()) {
            None => self.velocity(index),
            Some(a) => self.multiplier(a),
        }
    }

    /// A state $(q, p, c, T)$ in the units of the model; `holonomic` are the constraints to which $c$ belongs.
    pub(crate) fn in_model(&self, y: &[f64], holonomic: &[usize]) -> Vec<f64> {
        let n = self.lengths.len();
        let unit = |i: usize| match i.checked_sub(2 * n) {
            None if i < n => self.lengths[i],
            None => self.momentum(i - n),
            // c is the multiplier of φ, whose unit is T R.
            Some(c) if c < holonomic.len() => self.multiplier(holonomic[c]),
            Some(_) => self.time,
        };
        y.iter().enumerate().map(|(i, y)| y * unit(i)).collect()
    }

    /// A path in the units of the model, without the slopes of its polynomials.
    pub(crate) fn path_in_model(
        &self,
        path: &BoundaryPath,
        holonomic: &[usize],
    ) -> BoundaryPath {
        let nodes = (0..=path.intervals())
            .flat_map(|i| self.in_model(path.node(i), holonomic))
            .collect();
        BoundaryPath { mesh: path.mesh.clone(), nodes, slopes: Vec::new() }
    }

    /// $(\dot q, \mu)$ in the units of the model.
    pub(crate) fn branch_in_model(&self, branch: &[f64]) -> Vec<f64> {
        branch.iter().enumerate().map(|(i, x)| x * self.solved(i)).collect()
    }

    /// The units as symbols, whose values a program gets beside the parameters. As numbers their powers of two could
    /// make expressions equal modulo the prime by which derived expressions are merged.
    pub(crate) fn symbols(&self, g: &Graph) -> UnitSymbols {
        let symbol = |name: String| {
            if self.are_ones() { g.one() } else { g.symbol(&name, Role::Parameter) }
        };
        UnitSymbols {
            lengths: (0..self.lengths.len()).map(|k| symbol(format!(" length {k}"))).collect(),
            time: symbol(" time".into()),
            action: symbol(" action".into()),
            residuals: (0..self.residuals.len())
                .map(|a| symbol(format!(" residual {a}")))
                .collect(),
        }
    }

    /// The values of the symbols.
    pub(crate) fn values(&self) -> Vec<f64> {
        [self.lengths.as_slice(), &[self.time, self.action], &self.residuals].concat()
    }
}

/// The units of a problem as expressions.
pub(crate) struct UnitSymbols {
    pub(crate) lengths: Vec<Expr>,
    pub(crate) time: Expr,
    pub(crate) action: Expr,
    pub(crate) residuals: Vec<Expr>,
}

impl UnitSymbols {
    /// In the order of [`Units::values`].
    pub(crate) fn all(&self) -> Vec<Expr> {
        [self.lengths.as_slice(), &[self.time, self.action], &self.residuals].concat()
    }

    /// $U_k/T$
    pub(crate) fn velocity(&self, g: &Graph, k: usize) -> Expr {
        g.div(self.lengths[k], self.time)
    }

    /// Of a component of $(\dot q, \mu)$.
    pub(crate) fn solved(&self, g: &Graph, index: usize) -> Expr {
        match index.checked_sub(self.lengths.len()) {
            None => self.velocity(g, index),
            Some(a) => g.div(self.action, g.mul(self.time, self.residuals[a])),
        }
    }

    /// Expressions of the model with positions, velocities and time in these units; their values are still those of
    /// the model.
    pub(crate) fn written_in(&self, model: &Workspace, expressions: &[Expr]) -> Vec<Expr> {
        let g = &model.graph;
        let times = |x: Expr, unit: Expr| (x, g.mul(unit, x));
        let mut replacement = vec![times(model.time, self.time)];
        for (k, (q, v)) in model.positions().into_iter().zip(model.velocities()).enumerate() {
            replacement.push(times(q, self.lengths[k]));
            replacement.push(times(v, self.velocity(g, k)));
        }
        g.substitute(expressions, &replacement)
    }
}
