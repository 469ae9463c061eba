//! The first step where densities are nearly not integrable: $x \sim \tau^e$ with $e$ near $-1$.
//!
//! $$ x(\tau) = \tau^e P(w), \qquad w = (\tau/h)^\gamma, \qquad \gamma = 1 + e, \qquad 0 \le w \le 1 \qquad
//! (\mathrm O) $$
//!
//! Such a density is a power series in $\tau^\gamma$: what it has done by the time $\tau$ falls so slowly
//! with $\tau$ that no mesh of polynomials reaches the start ($\tau^{0.01}$ is $1/2$ at $10^{-30}$). With (O)
//! one
//! step does, if it is so short that whole powers of $\tau$ are nothing. The equations are affine in $x$, $F =
//! A(t,z)\,x + b(t,z)$, so that rows with $x$ in them can be divided by $\tau^e$:
//! $A P + \tau^{-e} b = 0$ has no large numbers however early a node is. Integrals of (O) are
//!
//! $$ J^\mu x(\tau) = \frac{\tau^{\mu+e}}{\Gamma(\mu)} \int_0^1 (1-y)^{\mu-1} y^e P(w y^\gamma)\,dy, $$
//!
//! with a rule of Gauss and Jacobi near $y = 1$, panels in powers of 8 below, and an integral in $w$ where
//! $(1-y)^{\mu-1}$ is 1.

use super::system::{Kernel, Operand, VolterraPoint, VolterraSystem};
use crate::linalg::lu::Lu;
use crate::newton::{Advance, NewtonProblem, NewtonRule, Stall, newton};
use crate::ode::system::{EvalError, finite};
use crate::quadrature::NodalBasis;
use crate::quadrature::{QuadratureRule, gauss_jacobi};

/// Nodes of the step.
const NODES: usize = 14;
/// Where $(1-y)^{\mu-1}$ is 1, as a power of 1/8.
const EIGHTHS: i32 = 19;

/// A solved first step.
#[derive(Clone, Debug)]
pub(crate) struct StartingStep {
    pub(crate) h: f64,
    e: f64,
    n: usize,
    basis: NodalBasis,
    /// $P$ at the nodes in $w$, node by node.
    values: Vec<f64>,
    /// Operands at the end.
    pub(crate) z: Vec<f64>,
}

/// Whether the operands allow such a step.
pub(crate) fn opens(operands: &[Operand]) -> bool {
    operands.iter().all(|o| {
        matches!(o.kernel, Kernel::Power(_) | Kernel::Exponentials(_) | Kernel::Linear(..))
            && o.start.iter().all(|s| s.1 >= 0.0)
    })
}

impl StartingStep {
    /// Solves the step of length `h` from `t0`; none if the equations are not affine in the densities or
    /// Newton's iteration does not settle.
    pub(crate) fn solve(
        system: &mut dyn VolterraSystem,
        operands: &[Operand],
        t0: f64,
        h: f64,
        e: f64,
    ) -> Result<Option<Self>, EvalError> {
        let (n, count) = (system.unknowns(), operands.len());
        let (basis, values) = (NodalBasis::radau(NODES), vec![0.0; NODES * n]);
        let mut step = Self { h, e, n, basis, values, z: vec![0.0; count] };
        let mut equations = StartingEquations::new(&mut step, system, operands, t0);
        match newton(&mut equations, &RULE) {
            Ok(report) if report.converged => {}
            Ok(_) | Err(NoStep::NotAffine | NoStep::Singular) => return Ok(None),
            Err(NoStep::Evaluation(error)) => return Err(error),
        }
        let at_end = equations.z[(NODES - 1) * count..].to_vec();
        step.z = at_end;
        Ok(Some(step))
    }

    /// $J^\mu$ of each basis function, times a factor, at times given by their logarithms: a row for each.
    fn integrals(&self, mu: f64, factor: f64, logs: &[f64]) -> Vec<f64> {
        let gamma = 1.0 + self.e;
        let end = gauss_jacobi(24, mu);
        let plain = gauss_jacobi(24, 1.0);
        // Points y with their weights: (1 − y)^{μ−1} y^e dy.
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (y, w) in end.nodes.iter().zip(&end.weights) {
            let y = 0.875 * y + 0.125;
            points.push((y, w * libm::pow(0.875, mu) * libm::pow(y, self.e)));
        }
        for k in 1..EIGHTHS {
            let (from, to) = (libm::pow(8.0, f64::from(-k - 1)), libm::pow(8.0, f64::from(-k)));
            for (x, w) in plain.nodes.iter().zip(&plain.weights) {
                let y = from + x * (to - from);
                let weight = libm::pow(1.0 - y, mu - 1.0) * libm::pow(y, self.e);
                points.push((y, w * (to - from) * weight));
            }
        }
        // In v = y^γ below: y^e dy = dv/γ.
        let last = libm::pow(8.0, -gamma * f64::from(EIGHTHS));
        let mut rows = Vec::with_capacity(logs.len() * NODES);
        let powers: Vec<(f64, f64)> = points
            .into_iter()
            .map(|(y, w)| (libm::pow(y, gamma), w))
            .chain(
                plain
                    .nodes
                    .iter()
                    .zip(&plain.weights)
                    .map(|(x, w)| (last * x, w * last / gamma)),
            )
            .collect();
        for log in logs {
            let w = libm::exp(gamma * (log - libm::log(self.h)));
            let scale = factor * libm::exp((mu + self.e) * log) / libm::tgamma(mu);
            let mut row = [0.0; NODES];
            for (v, weight) in &powers {
                for (r, l) in row.iter_mut().zip(self.basis.values_at(w * v)) {
                    *r += weight * l;
                }
            }
            rows.extend(row.iter().map(|r| scale * r));
        }
        rows
    }

    /// $x$ of one unknown at a time of the step.
    pub(crate) fn density(&self, unknown: usize, τ: f64) -> f64 {
        let w = libm::pow(τ / self.h, 1.0 + self.e);
        libm::pow(τ, self.e) * self.factor(unknown, w)
    }

    /// $P$
    fn factor(&self, unknown: usize, w: f64) -> f64 {
        let basis = self.basis.values_at(w).enumerate();
        basis.map(|(k, l)| self.values[k * self.n + unknown] * l).sum()
    }

    /// $J^k x$ of one unknown at the end, for whole $k$.
    pub(crate) fn sum(&self, unknown: usize, k: usize) -> f64 {
        let row = self.integrals(k as f64, 1.0, &[libm::log(self.h)]);
        (0..NODES).map(|i| row[i] * self.values[i * self.n + unknown]).sum()
    }

    /// $\int_0^{\tau} x$ of one unknown, for $\tau$ as a part of the step.
    fn mass(&self, unknown: usize, part: f64, rule: &QuadratureRule) -> f64 {
        let gamma = 1.0 + self.e;
        let w = libm::pow(part, gamma);
        let terms = rule.nodes.iter().zip(&rule.weights);
        let sum: f64 = terms.map(|(x, weight)| weight * self.factor(unknown, w * x)).sum();
        libm::pow(self.h, gamma) * w / gamma * sum
    }

    /// $\int_0^h e^{-s(h-\tau)} X_m\,d\tau$ for each rate $s$, with $X_0 = x$, $X_1 = Jx$; beyond, nothing is
    /// left in so short a step.
    pub(crate) fn moments(&self, unknown: usize, whole: usize, rates: &[f64]) -> Vec<f64> {
        if whole > 1 {
            return vec![0.0; rates.len()];
        }
        let rule = gauss_jacobi(16, 1.0);
        // Panels as parts of the step, towards both ends; before them all mass is at the start.
        let first = libm::exp2(-56.0);
        let mut panels: Vec<(f64, f64)> = (1..=27)
            .map(|k| (libm::exp2(f64::from(-2 * k - 2)), libm::exp2(f64::from(-2 * k))))
            .collect();
        panels.push((0.25, 0.5));
        panels.extend(
            (1..26).map(|k| {
                (1.0 - libm::exp2(f64::from(-k)), 1.0 - libm::exp2(f64::from(-k - 1)))
            }),
        );
        panels.push((1.0 - libm::exp2(-26.0), 1.0));
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (from, to) in panels {
            for (x, w) in rule.nodes.iter().zip(&rule.weights) {
                let u = from + x * (to - from);
                let value = if whole == 0 {
                    self.density(unknown, u * self.h)
                } else {
                    self.mass(unknown, u, &rule)
                };
                points.push((1.0 - u, w * (to - from) * self.h * value));
            }
        }
        let early = if whole == 0 { self.mass(unknown, first, &rule) } else { 0.0 };
        let one = |s: &f64| {
            let z = s * self.h;
            let terms = points.iter().map(|(v, w)| w * libm::exp(-z * v));
            early * libm::exp(-z) + terms.sum::<f64>()
        };
        rates.iter().map(one).collect()
    }
}

/// Rounding: corrections that are nothing, or that no longer shrink.
const RULE: NewtonRule = NewtonRule {
    steps: 30,
    converged: 1e-13,
    stall: Some(Stall { below: 1e-8, ratio: 0.3, after: 0 }),
    ..NewtonRule::DEFAULT
};

/// Why there is no such step.
enum NoStep {
    /// The equations are not affine in the densities.
    NotAffine,
    /// Their matrix is singular.
    Singular,
    /// They have no value.
    Evaluation(EvalError),
}

impl From<EvalError> for NoStep {
    fn from(error: EvalError) -> Self {
        Self::Evaluation(error)
    }
}

/// The equations of the step at its nodes.
struct StartingEquations<'a> {
    step: &'a mut StartingStep,
    system: &'a mut dyn VolterraSystem,
    operands: &'a [Operand],
    t0: f64,
    /// $\log\tau$ at the nodes; $\tau$ itself may be too small for a number.
    logs: Vec<f64>,
    /// For each operand its integrals of the basis at the nodes.
    local: Vec<Vec<f64>>,
    /// Operands, node by node.
    z: Vec<f64>,
    residual: Vec<f64>,
    matrix: Vec<f64>,
    lu: Lu,
}

impl<'a> StartingEquations<'a> {
    fn new(
        step: &'a mut StartingStep,
        system: &'a mut dyn VolterraSystem,
        operands: &'a [Operand],
        t0: f64,
    ) -> Self {
        let log = libm::log(step.h);
        let nodes = step.basis.nodes.iter();
        let logs: Vec<f64> = nodes.map(|w| log + libm::log(*w) / (1.0 + step.e)).collect();
        let mut local: Vec<Vec<f64>> = Vec::new();
        for operand in operands {
            let (mu, factor) = beginning(&operand.kernel);
            let known = operands[..local.len()]
                .iter()
                .position(|o| beginning(&o.kernel) == (mu, factor));
            local.push(match known {
                Some(p) => local[p].clone(),
                None => step.integrals(mu, factor, &logs),
            });
        }
        let (width, count) = (NODES * step.n, operands.len());
        Self {
            step,
            system,
            operands,
            t0,
            logs,
            local,
            z: vec![0.0; NODES * count],
            residual: vec![0.0; width],
            matrix: vec![0.0; width * width],
            lu: Lu::new(width),
        }
    }

    /// $z$ at the nodes.
    fn evaluate_operands(&mut self) {
        let (n, count) = (self.step.n, self.operands.len());
        for (p, operand) in self.operands.iter().enumerate() {
            for j in 0..NODES {
                let row = &self.local[p][j * NODES..(j + 1) * NODES];
                let at = |k: usize| self.step.values[k * n + operand.unknown];
                let sum: f64 = row.iter().enumerate().map(|(k, l)| l * at(k)).sum();
                let log = self.logs[j];
                let start = operand.start.iter().map(|(a, e)| a * libm::exp(e * log));
                self.z[j * count + p] = start.sum::<f64>() + sum;
            }
        }
    }

    /// The rows of node `j` in the residual and in the matrix.
    fn fill(&mut self, j: usize) -> Result<(), NoStep> {
        let (n, count, width) = (self.step.n, self.operands.len(), self.residual.len());
        let elapsed = libm::exp(self.logs[j]);
        let t = self.t0 + elapsed;
        let scale = libm::exp(-self.step.e * self.logs[j]);
        let (x, z) =
            (&self.step.values[j * n..(j + 1) * n], &self.z[j * count..(j + 1) * count]);
        let row = NodeRow::new(self.system, VolterraPoint { t, elapsed, x, z }, scale)?
            .ok_or(NoStep::NotAffine)?;
        self.residual[j * n..(j + 1) * n].copy_from_slice(&row.value);
        for i in 0..n {
            let line = &mut self.matrix[(j * n + i) * width..(j * n + i + 1) * width];
            line[j * n..(j + 1) * n].copy_from_slice(&row.by_x[i * n..(i + 1) * n]);
            for (p, operand) in self.operands.iter().enumerate() {
                let slope = row.by_z[i * count + p];
                for k in 0..NODES {
                    line[k * n + operand.unknown] += slope * self.local[p][j * NODES + k];
                }
            }
        }
        Ok(())
    }
}

impl NewtonProblem for StartingEquations<'_> {
    type Error = NoStep;

    fn linearise(&mut self) -> Result<f64, NoStep> {
        self.evaluate_operands();
        self.matrix.fill(0.0);
        (0..NODES).try_for_each(|j| self.fill(j))?;
        finite(&self.matrix)?;
        finite(&self.residual)?;
        let factored = self.lu.factor_nonzero(self.residual.len(), &self.matrix);
        factored.map_err(|_| NoStep::Singular)?;
        self.lu.solve(&mut self.residual);
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, NoStep> {
        let values = &mut self.step.values;
        let largest = values.iter().fold(1e-300_f64, |m, x| m.max(x.abs()));
        let change = self.residual.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        values.iter_mut().zip(&self.residual).for_each(|(x, r)| *x -= r);
        Ok(Advance::Taken((change / largest).min(f64::MAX)))
    }
}

/// A kernel at the lag 0 as a multiple of a power: its order and the factor.
fn beginning(kernel: &Kernel) -> (f64, f64) {
    match kernel {
        Kernel::Power(mu) => (*mu, 1.0),
        Kernel::Exponentials(pairs) => (1.0, pairs.iter().map(|p| p.0).sum()),
        Kernel::Linear(_, start) => (1.0, start.first().copied().unwrap_or(0.0)),
        Kernel::Waves(mu, _) | Kernel::General(mu, _) => (*mu, 0.0),
    }
}

/// The equations at one node, rows with densities divided by $\tau^e$.
struct NodeRow {
    value: Vec<f64>,
    by_x: Vec<f64>,
    by_z: Vec<f64>,
}

impl NodeRow {
    fn new(
        system: &mut dyn VolterraSystem,
        at: VolterraPoint<'_>,
        scale: f64,
    ) -> Result<Option<Self>, EvalError> {
        let (n, count) = (at.x.len(), at.z.len());
        let zero = vec![0.0; n];
        let mut rest = vec![0.0; n];
        system.residual(VolterraPoint { x: &zero, ..at }, &mut rest)?;
        let (mut by_x, mut by_z) = (vec![0.0; n * n], vec![0.0; n * count]);
        let (mut slopes, mut rest_z) = (vec![0.0; n * n], vec![0.0; n * count]);
        system.jacobian(at, &mut by_x, &mut by_z)?;
        system.jacobian(VolterraPoint { x: &zero, ..at }, &mut slopes, &mut rest_z)?;
        let mut value = vec![0.0; n];
        for i in 0..n {
            // NOTE: by the slopes, since $b$ may be so large that nothing is left of $A x$ beside it.
            let (row, at_zero) = (&by_x[i * n..(i + 1) * n], &slopes[i * n..(i + 1) * n]);
            let size: f64 = row.iter().chain(at_zero).map(|s| s.abs()).sum();
            if row.iter().zip(at_zero).any(|(a, b)| (a - b).abs() > 1e-9 * size) {
                return Ok(None);
            }
            let gain: f64 = row.iter().zip(at.x).map(|(a, x)| a * x).sum();
            let dense = by_x[i * n..(i + 1) * n].iter().any(|s| *s != 0.0);
            let share = if dense { scale } else { 1.0 };
            value[i] = gain + share * rest[i];
            for p in i * count..(i + 1) * count {
                by_z[p] = by_z[p] - rest_z[p] + share * rest_z[p];
            }
        }
        Ok(Some(Self { value, by_x, by_z }))
    }
}
