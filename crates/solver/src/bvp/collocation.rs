//! Collocation at Gauss points: on each interval a polynomial whose slope is right there.
//!
//! $$ K_j = f\bigl(s_i + c_j h,\; y_i + h\sum_l a_{jl} K_l\bigr), \qquad y_{i+1} = y_i + h\sum_j b_j K_j
//! \qquad (\mathrm{CG}) $$
//!
//! with $q$ points: order $2q$ at the mesh points (de Boor and Swartz 1973). The slopes $K_j$ are unknowns of
//! Newton's iteration like the nodes; within an interval
//! they are eliminated: $(1 - h\,J_j a_{jl})\,\delta K = E + J\,\delta y_i$ gives $G_i$ and $r_i$ in (BL).

use crate::bvp::BoundaryProblem;
use crate::bvp::block_system::{Blocks, identity};
use crate::bvp::path::BoundaryPath;
use crate::linalg::lu::Lu;
use crate::ode::system::EvalError;
use crate::quadrature::gauss_jacobi;

/// The rule (CG).
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) points: Vec<f64>,
    weights: Vec<f64>,
    /// $a_{jl}$ by rows
    matrix: Vec<f64>,
    /// Coefficients of the polynomials $\int_0^\theta \ell_l$, lowest first from $\theta^1$.
    integrals: Vec<Vec<f64>>,
}

impl Rule {
    pub(crate) fn gauss(stages: usize) -> Self {
        let (points, weights) = gauss_jacobi(stages, 1.0);
        let integrals: Vec<Vec<f64>> = (0..stages)
            .map(|l| {
                let slope = lagrange(&points, l);
                slope.iter().enumerate().map(|(k, c)| c / (k as f64 + 1.0)).collect()
            })
            .collect();
        let matrix = points
            .iter()
            .flat_map(|&c| integrals.iter().map(move |p| c * horner(p, c)))
            .collect();
        Self { points, weights, matrix, integrals }
    }

    /// The state at part θ of an interval that starts at `y` with slopes `k` and length `h`.
    pub(crate) fn state(&self, y: &[f64], k: &[f64], h: f64, θ: f64) -> Vec<f64> {
        let d = y.len();
        let mut state = y.to_vec();
        for (l, p) in self.integrals.iter().enumerate() {
            let weight = h * θ * horner(p, θ);
            state.iter_mut().zip(&k[l * d..]).for_each(|(s, k)| *s += weight * k);
        }
        state
    }

    /// The slope of the same polynomial.
    pub(crate) fn slope(&self, k: &[f64], d: usize, θ: f64) -> Vec<f64> {
        let mut slope = vec![0.0; d];
        for (l, p) in self.integrals.iter().enumerate() {
            let raised: Vec<f64> =
                p.iter().enumerate().map(|(i, c)| c * (i as f64 + 1.0)).collect();
            let weight = horner(&raised, θ);
            slope.iter_mut().zip(&k[l * d..]).for_each(|(s, k)| *s += weight * k);
        }
        slope
    }
}

/// The coefficients of the polynomial that is 1 at point `l` and 0 at the others, lowest first.
fn lagrange(points: &[f64], l: usize) -> Vec<f64> {
    let mut c = vec![1.0];
    for (j, &x) in points.iter().enumerate().filter(|&(j, _)| j != l) {
        let scale = 1.0 / (points[l] - points[j]);
        let mut next = vec![0.0; c.len() + 1];
        for (i, c) in c.iter().enumerate() {
            next[i] -= scale * x * c;
            next[i + 1] += scale * c;
        }
        c = next;
    }
    c
}

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |s, c| s * x + c)
}

/// The scheme of collocation: the rule and what an interval keeps of its last linearisation.
pub(crate) struct Collocation {
    pub(crate) rule: Rule,
    intervals: Vec<Interval>,
}

/// An eliminated interval.
#[derive(Default)]
struct Interval {
    lu: Lu,
    /// $\partial K/\partial y_i$, one column of all slopes after another
    slopes_by_node: Vec<f64>,
    /// $\delta K$ at $\delta y_i = 0$
    own: Vec<f64>,
}

impl Collocation {
    pub(crate) fn new(stages: usize) -> Self {
        Self { rule: Rule::gauss(stages), intervals: Vec::new() }
    }

    pub(crate) fn linearise(
        &mut self,
        problem: &mut dyn BoundaryProblem,
        path: &BoundaryPath,
        blocks: &mut Blocks,
    ) -> Result<(), EvalError> {
        let (d, q) = (path.dimension(), self.rule.points.len());
        let (mut f, mut jacobians) = (vec![0.0; d], vec![0.0; q * d * d]);
        blocks.transitions.clear();
        blocks.defects.clear();
        self.intervals.clear();
        for i in 0..path.intervals() {
            let (s, h) = (path.mesh[i], path.mesh[i + 1] - path.mesh[i]);
            let k = &path.slopes[i * q * d..(i + 1) * q * d];
            let mut errors = Vec::with_capacity(q * d);
            for (j, &c) in self.rule.points.iter().enumerate() {
                let y = self.stage(path.node(i), k, h, j);
                let into = &mut jacobians[j * d * d..(j + 1) * d * d];
                problem.jacobian(s + c * h, &y, &mut f, into)?;
                errors.extend((0..d).map(|m| f[m] - k[j * d + m]));
            }
            // 1 − h J_j a_jl
            let size = q * d;
            let mut w = identity(size);
            for (j, jacobian) in jacobians.chunks(d * d).enumerate() {
                for l in 0..q {
                    let weight = h * self.rule.matrix[j * q + l];
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
            let mut transition = identity(d);
            for b in 0..d {
                for (j, &weight) in self.rule.weights.iter().enumerate() {
                    for a in 0..d {
                        transition[a * d + b] +=
                            h * weight * slopes_by_node[b * size + j * d + a];
                    }
                }
            }
            blocks.transitions.push(transition);
            self.push_defect(path, i, &errors, &mut blocks.defects);
            self.intervals.push(Interval { lu, slopes_by_node, own: errors });
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
        let (d, q) = (path.dimension(), self.rule.points.len());
        let mut f = vec![0.0; d];
        defects.clear();
        for i in 0..path.intervals() {
            let (s, h) = (path.mesh[i], path.mesh[i + 1] - path.mesh[i]);
            let k = &path.slopes[i * q * d..(i + 1) * q * d];
            let mut errors = Vec::with_capacity(q * d);
            for (j, &c) in self.rule.points.iter().enumerate() {
                let y = self.stage(path.node(i), k, h, j);
                problem.rates(s + c * h, &y, &mut f)?;
                errors.extend((0..d).map(|m| f[m] - k[j * d + m]));
            }
            self.intervals[i].lu.solve(&mut errors);
            self.push_defect(path, i, &errors, defects);
            self.intervals[i].own = errors;
        }
        Ok(())
    }

    fn stage(&self, y: &[f64], k: &[f64], h: f64, j: usize) -> Vec<f64> {
        let (d, q) = (y.len(), self.rule.points.len());
        let mut state = y.to_vec();
        for l in 0..q {
            let weight = h * self.rule.matrix[j * q + l];
            state.iter_mut().zip(&k[l * d..]).for_each(|(s, k)| *s += weight * k);
        }
        state
    }

    /// $y_i + h\sum b\,(K + \delta K) - y_{i+1}$
    fn push_defect(&self, path: &BoundaryPath, i: usize, own: &[f64], defects: &mut Vec<f64>) {
        let (d, q) = (path.dimension(), self.rule.points.len());
        let h = path.mesh[i + 1] - path.mesh[i];
        let k = &path.slopes[i * q * d..(i + 1) * q * d];
        for a in 0..d {
            let sum: f64 =
                (0..q).map(|j| self.rule.weights[j] * (k[j * d + a] + own[j * d + a])).sum();
            defects.push(path.node(i)[a] + h * sum - path.node(i + 1)[a]);
        }
    }

    /// Moves the slopes by a part of what belongs to the change δ of the nodes.
    pub(crate) fn advance(&self, slopes: &mut [f64], δ: &[f64], part: f64) {
        let Some(first) = self.intervals.first() else { return };
        let size = first.own.len();
        let d = size / self.rule.points.len();
        for (i, interval) in self.intervals.iter().enumerate() {
            for (a, slope) in slopes[i * size..(i + 1) * size].iter_mut().enumerate() {
                let by_node: f64 =
                    (0..d).map(|b| interval.slopes_by_node[b * size + a] * δ[i * d + b]).sum();
                *slope += part * (interval.own[a] + by_node);
            }
        }
    }
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
    let rule = Rule::gauss(stages);
    let d = path.dimension();
    let mut f = vec![0.0; d];
    let mut residuals = Vec::with_capacity(path.intervals());
    problem.rewind();
    for i in 0..path.intervals() {
        let (s, h) = (path.mesh[i], path.mesh[i + 1] - path.mesh[i]);
        let k = &path.slopes[i * stages * d..(i + 1) * stages * d];
        let mut worst = 0.0_f64;
        for θ in LOOK {
            let y = rule.state(path.node(i), k, h, θ);
            problem.rates(s + θ * h, &y, &mut f)?;
            let slope = rule.slope(k, d, θ);
            for (u, f) in slope.iter().zip(&f) {
                worst = worst.max((u - f).abs() / (1.0 + f.abs()));
            }
        }
        residuals.push(worst);
    }
    Ok(residuals)
}
