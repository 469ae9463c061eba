//! The natural units of a boundary value problem, in which a search and its tolerances do not depend on the units of
//! the model.
//!
//! $$ q_k = U_k\,\tilde q_k, \quad t = T\,\tilde t, \quad L = \frac{S}{T}\,\tilde L, \quad p_k = \frac{S}{U_k}\,\tilde
//!    p_k, \quad \psi_a = R_a\,\tilde\psi_a, \quad \mu_a = \frac{S}{T R_a}\,\tilde\mu_a $$
//!
//! $T$ is the duration, $U_k$ the size of the ends, $S = E\,T$ with the kinetic energy $E = \max_k M_{kk} (U_k/T)^2$.
//! Where both ends of a coordinate are zero, $U_k = T\sqrt{E/M_{kk}}$: it moves with the energy of the others; where all
//! are, $U_k$ is the nearest place at which the force along the coordinate vanishes. All are powers of two, so that
//! nothing is rounded on the way there and back.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::Workspace;
use pfaff_solver::BoundaryPath;

use crate::run::bvp::canonical::Canonical;

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

/// A coordinate whose ends are smaller than this part of what the energy of the others would give it is measured by
/// that: it will hardly stay so small on its way.
const SMALL: f64 = 1e-3;

impl Units {
    /// The units of the model itself.
    pub(crate) fn ones(n: usize, m: usize) -> Self {
        Self { lengths: vec![1.0; n], time: 1.0, action: 1.0, residuals: vec![1.0; m] }
    }

    /// The units of a problem (in the units of its model) that begins with these positions, one state after another.
    pub(crate) fn natural(problem: &mut Canonical, nodes: &[f64], duration: f64) -> Self {
        let (n, m) = (problem.n, problem.m);
        let mut sizes = vec![0.0_f64; n];
        for q in nodes.chunks(n) {
            sizes.iter_mut().zip(q).for_each(|(s, q)| *s = s.max(q.abs()));
        }
        let (first, last) = (&nodes[..n], &nodes[nodes.len() - n..]);
        let middle: Vec<f64> = first.iter().zip(last).map(|(a, b)| 0.5 * (a + b)).collect();
        let slope: Vec<f64> = first.iter().zip(last).map(|(a, b)| (b - a) / duration).collect();
        let t = problem.conditions.t0 + 0.5 * duration;
        if sizes.iter().all(|size| *size == 0.0) {
            sizes = (0..n).map(|k| stationary_place(problem, t, k).unwrap_or(0.0)).collect();
        }
        let form = problem.form_at(t, &middle, &slope);
        let mass = |k: usize| finite(form.mass[k * n + k]).abs();
        let energies = (0..n).map(|k| mass(k) * (sizes[k] / duration).powi(2));
        let energy = energies.fold(0.0, f64::max);
        let most = sizes.iter().fold(0.0_f64, |m, s| m.max(*s));
        let lengths = (0..n).map(|k| {
            let moved = duration * (energy / mass(k)).sqrt();
            if moved.is_finite() && moved > 0.0 && sizes[k] < SMALL * moved {
                moved
            } else if sizes[k] > 0.0 {
                sizes[k]
            } else {
                most
            }
        });
        let lengths: Vec<f64> = lengths.map(power_of_two).collect();
        let time = power_of_two(duration);
        let along = |k: usize| finite(form.momenta[k]).abs() * sizes[k];
        let action = if energy > 0.0 {
            energy * duration
        } else {
            (0..n).map(along).fold(0.0, f64::max)
        };
        let residual = |a: usize| {
            let row = &form.rows[a * n..(a + 1) * n];
            let largest =
                row.iter().zip(&lengths).fold(0.0_f64, |m, (x, u)| m.max(finite(*x).abs() * u));
            power_of_two(largest / time)
        };
        let residuals = (0..m).map(residual).collect();
        Self { lengths, time, action: power_of_two(action), residuals }
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

/// Where on a coordinate line from the origin the force along it first changes its sign: the size of a problem whose
/// ends are all zero.
fn stationary_place(problem: &mut Canonical, t: f64, k: usize) -> Option<f64> {
    // Between sizes of atoms and of galaxies, in whatever unit.
    const RANGE: (f64, f64) = (1e-35, 1e35);
    const FACTOR: f64 = 1.2;
    let rest = vec![0.0; problem.n];
    let mut force = |offset: f64| {
        let mut q = rest.clone();
        q[k] = offset;
        problem.push(t, &q, &rest)[k]
    };
    let mut first = |sign: f64| {
        let (mut a, mut before) = (RANGE.0, force(sign * RANGE.0));
        while a < RANGE.1 {
            let here = force(sign * FACTOR * a);
            if before * here < 0.0 {
                return Some(a);
            }
            (a, before) = (FACTOR * a, here);
        }
        None
    };
    let (above, below) = (first(1.0), first(-1.0));
    above.into_iter().chain(below).min_by(f64::total_cmp)
}

/// What has no value counts for nothing here.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// The largest power of two below a size; one where there is no size.
fn power_of_two(size: f64) -> f64 {
    // Beyond these, squares of sizes leave the range of numbers.
    const RANGE: std::ops::Range<f64> = 1e-120..1e120;
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if RANGE.contains(&size) { f64::from_bits(size.to_bits() & EXPONENT) } else { 1.0 }
}
