//! Collocation at Gauss points: on each interval a polynomial whose slope is right there.
//!
//! $$ K_j = f\bigl(s_i + c_j h,\; y_i + h\sum_l a_{jl} K_l\bigr), \qquad y_{i+1} = y_i + h\sum_j b_j K_j
//! \qquad (\mathrm{CG}) $$
//!
//! with $q$ points: order $2q$ at the mesh points (de Boor and Swartz 1973). The slopes $K_j$ are unknowns of
//! Newton's iteration like the nodes; within an interval
//! they are eliminated: $(1 - h\,J_j a_{jl})\,\delta K = E + J\,\delta y_i$ gives $G_i$ and $r_i$ in (BL).

use crate::bvp::BoundaryProblem;
use crate::bvp::block_system::{BlockSystem, identity};
use crate::bvp::path::BoundaryPath;
use crate::linalg::lu::Lu;
use crate::ode::system::EvalError;
use crate::quadrature::{NodalBasis, gauss_jacobi};

/// The scheme (CG) on one interval.
#[derive(Clone, Debug)]
pub(crate) struct GaussScheme {
    pub(crate) basis: NodalBasis,
    /// $b_j$
    weights: Vec<f64>,
    /// $a_{jl}$ by rows
    matrix: Vec<f64>,
}

impl GaussScheme {
    pub(crate) fn new(stages: usize) -> Self {
        let basis = NodalBasis::gauss(stages);
        let matrix = basis.integrals(1.0);
        Self { basis, weights: gauss_jacobi(stages, 1.0).weights, matrix }
    }

    /// The points $c_j$ as parts of an interval.
    pub(crate) fn points(&self) -> &[f64] {
        &self.basis.nodes
    }

    /// The state at part θ of an interval that starts at `y` with slopes `k` and length `h`.
    pub(crate) fn state(&self, y: &[f64], k: &[f64], h: f64, θ: f64) -> Vec<f64> {
        let mut state = y.to_vec();
        add(&mut state, k, h, &self.basis.integrals_at(1.0, &[θ]));
        state
    }

    /// The slope of the same polynomial.
    pub(crate) fn slope(&self, k: &[f64], d: usize, θ: f64) -> Vec<f64> {
        let mut slope = vec![0.0; d];
        for (l, weight) in self.basis.values_at(θ).enumerate() {
            slope.iter_mut().zip(&k[l * d..]).for_each(|(s, k)| *s += weight * k);
        }
        slope
    }

    /// The state at point `j`.
    fn stage(&self, y: &[f64], k: &[f64], h: f64, j: usize) -> Vec<f64> {
        let q = self.weights.len();
        let mut state = y.to_vec();
        add(&mut state, k, h, &self.matrix[j * q..(j + 1) * q]);
        state
    }

    /// Solves an interval for its slopes: $(1 - h\,J_j a_{jl})\,\delta K = E + J\,\delta y_i$.
    fn eliminate(
        &self,
        h: f64,
        jacobians: &[f64],
        mut errors: Vec<f64>,
    ) -> Result<EliminatedInterval, EvalError> {
        let q = self.weights.len();
        let size = errors.len();
        let d = size / q;
        let mut w = identity(size);
        for (j, jacobian) in jacobians.chunks(d * d).enumerate() {
            for l in 0..q {
                let weight = h * self.matrix[j * q + l];
                for a in 0..d {
                    for b in 0..d {
                        w[(j * d + a) * size + l * d + b] -= weight * jacobian[a * d + b];
                    }
                }
            }
        }
        let mut lu = Lu::new(size);
        lu.factor(size, &w).map_err(|_| EvalError::Singular)?;
        let mut slopes_by_node = Vec::with_capacity(d * size);
        for b in 0..d {
            let mut column: Vec<f64> = jacobians.chunks(d).map(|row| row[b]).collect();
            lu.solve(&mut column);
            slopes_by_node.extend(column);
        }
        lu.solve(&mut errors);
        Ok(EliminatedInterval { lu, slopes_by_node, own: errors })
    }

    /// $G_i = 1 + h\sum_j b_j\,\partial K_j/\partial y_i$
    fn transition(&self, h: f64, interval: &EliminatedInterval) -> Vec<f64> {
        let size = interval.own.len();
        let d = size / self.weights.len();
        let mut transition = identity(d);
        for b in 0..d {
            for (j, &weight) in self.weights.iter().enumerate() {
                for a in 0..d {
                    transition[a * d + b] +=
                        h * weight * interval.slopes_by_node[b * size + j * d + a];
                }
            }
        }
        transition
    }
}

/// Adds $h\sum_l w_l K_l$ to a state.
fn add(state: &mut [f64], k: &[f64], h: f64, weights: &[f64]) {
    let d = state.len();
    for (l, weight) in weights.iter().enumerate() {
        let weight = h * weight;
        state.iter_mut().zip(&k[l * d..]).for_each(|(s, k)| *s += weight * k);
    }
}

/// Collocation on a path: the scheme and what an interval keeps of its last linearisation.
pub(crate) struct Collocation {
    pub(crate) scheme: GaussScheme,
    intervals: Vec<EliminatedInterval>,
}

/// An eliminated interval.
#[derive(Default)]
struct EliminatedInterval {
    lu: Lu,
    /// $\partial K/\partial y_i$, one column of all slopes after another
    slopes_by_node: Vec<f64>,
    /// $\delta K$ at $\delta y_i = 0$
    own: Vec<f64>,
}

impl Collocation {
    pub(crate) fn new(stages: usize) -> Self {
        Self { scheme: GaussScheme::new(stages), intervals: Vec::new() }
    }

    pub(crate) fn linearise(
        &mut self,
        problem: &mut dyn BoundaryProblem,
        path: &BoundaryPath,
        blocks: &mut BlockSystem,
    ) -> Result<(), EvalError> {
        let (d, q) = (path.dimension(), self.scheme.points().len());
        let (mut f, mut jacobians) = (vec![0.0; d], vec![0.0; q * d * d]);
        blocks.transitions.clear();
        blocks.defects.clear();
        self.intervals.clear();
        for i in 0..path.intervals() {
            let (s, h) = (path.mesh[i], path.mesh[i + 1] - path.mesh[i]);
            let k = &path.slopes[i * q * d..(i + 1) * q * d];
            let mut errors = Vec::with_capacity(q * d);
            for (j, &c) in self.scheme.points().iter().enumerate() {
                let y = self.scheme.stage(path.node(i), k, h, j);
                let into = &mut jacobians[j * d * d..(j + 1) * d * d];
                problem.jacobian(s + c * h, &y, &mut f, into)?;
                errors.extend((0..d).map(|m| f[m] - k[j * d + m]));
            }
            let interval = self.scheme.eliminate(h, &jacobians, errors)?;
            blocks.transitions.push(self.scheme.transition(h, &interval));
            self.push_defect(path, i, &interval.own, &mut blocks.defects);
            self.intervals.push(interval);
        }
        Ok(())
    }

    /// $r_i$ with the factors of the last linearisation.
    pub(crate) fn defects(
        &mut self,
        problem: &mut dyn BoundaryProblem,
        path: &BoundaryPath,
        defects: &mut Vec<f64>,
    ) -> Result<(), EvalError> {
        let (d, q) = (path.dimension(), self.scheme.points().len());
        let mut f = vec![0.0; d];
        defects.clear();
        for i in 0..path.intervals() {
            let (s, h) = (path.mesh[i], path.mesh[i + 1] - path.mesh[i]);
            let k = &path.slopes[i * q * d..(i + 1) * q * d];
            let mut errors = Vec::with_capacity(q * d);
            for (j, &c) in self.scheme.points().iter().enumerate() {
                let y = self.scheme.stage(path.node(i), k, h, j);
                problem.rates(s + c * h, &y, &mut f)?;
                errors.extend((0..d).map(|m| f[m] - k[j * d + m]));
            }
            self.intervals[i].lu.solve(&mut errors);
            self.push_defect(path, i, &errors, defects);
            self.intervals[i].own = errors;
        }
        Ok(())
    }

    /// $y_i + h\sum b\,(K + \delta K) - y_{i+1}$
    fn push_defect(&self, path: &BoundaryPath, i: usize, own: &[f64], defects: &mut Vec<f64>) {
        let (d, q) = (path.dimension(), self.scheme.points().len());
        let h = path.mesh[i + 1] - path.mesh[i];
        let k = &path.slopes[i * q * d..(i + 1) * q * d];
        for a in 0..d {
            let sum: f64 =
                (0..q).map(|j| self.scheme.weights[j] * (k[j * d + a] + own[j * d + a])).sum();
            defects.push(path.node(i)[a] + h * sum - path.node(i + 1)[a]);
        }
    }

    /// Moves the slopes by a part of what belongs to the change δ of the nodes.
    pub(crate) fn advance(&self, slopes: &mut [f64], δ: &[f64], part: f64) {
        let Some(first) = self.intervals.first() else { return };
        let size = first.own.len();
        let d = size / self.scheme.points().len();
        for (i, interval) in self.intervals.iter().enumerate() {
            for (a, slope) in slopes[i * size..(i + 1) * size].iter_mut().enumerate() {
                let by_node: f64 =
                    (0..d).map(|b| interval.slopes_by_node[b * size + a] * δ[i * d + b]).sum();
                *slope += part * (interval.own[a] + by_node);
            }
        }
    }
}

/// $G_i$ of each interval of a path that solves its problem: how the state at its end follows that at its start.
///
/// # Errors
///
/// [`EvalError`] if the rates have no value there.
pub fn collocation_transitions(
    problem: &mut dyn BoundaryProblem,
    path: &BoundaryPath,
    stages: usize,
) -> Result<Vec<Vec<f64>>, EvalError> {
    let mut blocks = BlockSystem { dimension: path.dimension(), ..BlockSystem::default() };
    problem.rewind();
    Collocation::new(stages).linearise(problem, path, &mut blocks)?;
    Ok(blocks.transitions)
}

/// The state of a path of polynomials at $s$.
pub fn collocated_state(path: &BoundaryPath, stages: usize, s: f64) -> Vec<f64> {
    let i = path.mesh.partition_point(|x| *x <= s).clamp(1, path.intervals()) - 1;
    let h = path.mesh[i + 1] - path.mesh[i];
    let k = &path.slopes[i * stages * path.dimension()..];
    GaussScheme::new(stages).state(path.node(i), k, h, (s - path.mesh[i]) / h)
}

/// Parts of an interval where the residual is looked at: away from the Gauss points of every rule in use.
const LOOK: [f64; 4] = [0.0, 0.18, 0.66, 1.0];

/// The largest residual $|u' - f(s, u)|/(1 + |f|)$ of the polynomials of a path, for each interval.
///
/// # Errors
///
/// [`EvalError`] if the rates have no value there.
pub fn collocation_residuals(
    problem: &mut dyn BoundaryProblem,
    path: &BoundaryPath,
    stages: usize,
) -> Result<Vec<f64>, EvalError> {
    let scheme = GaussScheme::new(stages);
    let d = path.dimension();
    let mut f = vec![0.0; d];
    let mut residuals = Vec::with_capacity(path.intervals());
    problem.rewind();
    for i in 0..path.intervals() {
        let (s, h) = (path.mesh[i], path.mesh[i + 1] - path.mesh[i]);
        let k = &path.slopes[i * stages * d..(i + 1) * stages * d];
        let mut worst = 0.0_f64;
        for θ in LOOK {
            let y = scheme.state(path.node(i), k, h, θ);
            problem.rates(s + θ * h, &y, &mut f)?;
            let slope = scheme.slope(k, d, θ);
            for (u, f) in slope.iter().zip(&f) {
                worst = worst.max((u - f).abs() / (1.0 + f.abs()));
            }
        }
        residuals.push(worst);
    }
    Ok(residuals)
}
