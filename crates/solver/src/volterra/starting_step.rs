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

use super::collocation::{eliminate, substitute};
use super::radau::Basis;
use super::system::{Kernel, Operand, VolterraSystem};
use crate::ode::system::EvalError;
use crate::quadrature::gauss_jacobi;

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
    basis: Basis,
    /// Barycentric weights of the nodes.
    weights: Vec<f64>,
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
        (t0, h): (f64, f64),
        e: f64,
    ) -> Result<Option<Self>, EvalError> {
        let (n, count) = (system.unknowns(), operands.len());
        let basis = Basis::new(NODES);
        let values = vec![0.0; NODES * n];
        let weight = |k: usize| {
            let others = basis.nodes.iter().enumerate().filter(|o| o.0 != k);
            1.0 / others.map(|(_, c)| basis.nodes[k] - c).product::<f64>()
        };
        let weights = (0..NODES).map(weight).collect();
        let mut starting = Self { h, e, n, basis, weights, values, z: vec![0.0; count] };
        let log = libm::log(h);
        // log τ at the nodes; τ itself may be too small for a number.
        let logs: Vec<f64> =
            starting.basis.nodes.iter().map(|w| log + libm::log(*w) / (1.0 + e)).collect();
        let mut local: Vec<Vec<f64>> = Vec::new();
        for operand in operands {
            let (mu, factor) = beginning(&operand.kernel);
            let known = operands[..local.len()]
                .iter()
                .position(|o| beginning(&o.kernel) == (mu, factor));
            local.push(match known {
                Some(p) => local[p].clone(),
                None => starting.integrals(mu, factor, &logs),
            });
        }
        let width = NODES * n;
        let (mut residual, mut matrix) = (vec![0.0; width], vec![0.0; width * width]);
        let mut exchanges = vec![0; width];
        let mut z = vec![0.0; NODES * count];
        let mut previous = f64::INFINITY;
        for _ in 0..30 {
            for (p, operand) in operands.iter().enumerate() {
                for j in 0..NODES {
                    let row = &local[p][j * NODES..(j + 1) * NODES];
                    let at = |k: usize| starting.values[k * n + operand.unknown];
                    let sum: f64 = row.iter().enumerate().map(|(k, l)| l * at(k)).sum();
                    let start = operand.start.iter().map(|(a, e)| a * libm::exp(e * logs[j]));
                    z[j * count + p] = start.sum::<f64>() + sum;
                }
            }
            matrix.fill(0.0);
            for j in 0..NODES {
                let t = t0 + libm::exp(logs[j]);
                let scale = libm::exp(-e * logs[j]);
                let at =
                    (t, &starting.values[j * n..(j + 1) * n], &z[j * count..(j + 1) * count]);
                let row = Row::new(system, at, scale, count)?;
                let Some(row) = row else { return Ok(None) };
                residual[j * n..(j + 1) * n].copy_from_slice(&row.value);
                for i in 0..n {
                    let line = &mut matrix[(j * n + i) * width..(j * n + i + 1) * width];
                    line[j * n..(j + 1) * n].copy_from_slice(&row.by_x[i * n..(i + 1) * n]);
                    for (p, operand) in operands.iter().enumerate() {
                        let slope = row.by_z[i * count + p];
                        for k in 0..NODES {
                            line[k * n + operand.unknown] += slope * local[p][j * NODES + k];
                        }
                    }
                }
            }
            crate::ode::system::finite(&matrix)?;
            crate::ode::system::finite(&residual)?;
            if !eliminate(width, &mut matrix, &mut exchanges) {
                return Ok(None);
            }
            substitute(&matrix, &exchanges, &mut residual);
            let largest = starting.values.iter().fold(1e-300_f64, |m, x| m.max(x.abs()));
            let change = residual.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            starting.values.iter_mut().zip(&residual).for_each(|(x, r)| *x -= r);
            // Rounding: nothing, or what no longer shrinks.
            let stands = change > 0.3 * previous && change <= 1e-8 * largest;
            if change <= 1e-13 * largest || stands {
                starting.z.copy_from_slice(&z[(NODES - 1) * count..]);
                return Ok(Some(starting));
            }
            previous = change;
        }
        Ok(None)
    }

    /// $J^\mu$ of each basis function, times a factor, at times given by their logarithms: a row for each.
    fn integrals(&self, mu: f64, factor: f64, logs: &[f64]) -> Vec<f64> {
        let gamma = 1.0 + self.e;
        let end = gauss_jacobi(24, mu);
        let plain = gauss_jacobi(24, 1.0);
        // Points y with their weights: (1 − y)^{μ−1} y^e dy.
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (y, w) in end.0.iter().zip(&end.1) {
            let y = 0.875 * y + 0.125;
            points.push((y, w * libm::pow(0.875, mu) * libm::pow(y, self.e)));
        }
        for k in 1..EIGHTHS {
            let (from, to) = (libm::pow(8.0, f64::from(-k - 1)), libm::pow(8.0, f64::from(-k)));
            for (x, w) in plain.0.iter().zip(&plain.1) {
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
            .chain(plain.0.iter().zip(&plain.1).map(|(x, w)| (last * x, w * last / gamma)))
            .collect();
        for log in logs {
            let w = libm::exp(gamma * (log - libm::log(self.h)));
            let scale = factor * libm::exp((mu + self.e) * log) / libm::tgamma(mu);
            let mut row = [0.0; NODES];
            for (v, weight) in &powers {
                for (r, l) in row.iter_mut().zip(self.cardinals(w * v)) {
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
        let cardinals = self.cardinals(w).into_iter().enumerate();
        cardinals.map(|(k, l)| self.values[k * self.n + unknown] * l).sum()
    }

    /// The Lagrange polynomials of the nodes at `w`, by the barycentric formula.
    fn cardinals(&self, w: f64) -> [f64; NODES] {
        let nodes = &self.basis.nodes;
        let mut found = [0.0; NODES];
        if let Some(k) = nodes.iter().position(|c| *c == w) {
            found[k] = 1.0;
            return found;
        }
        for ((l, c), weight) in found.iter_mut().zip(nodes).zip(&self.weights) {
            *l = weight / (w - c);
        }
        let whole: f64 = found.iter().sum();
        found.map(|l| l / whole)
    }

    /// $J^k x$ of one unknown at the end, for whole $k$.
    pub(crate) fn sum(&self, unknown: usize, k: usize) -> f64 {
        let row = self.integrals(k as f64, 1.0, &[libm::log(self.h)]);
        (0..NODES).map(|i| row[i] * self.values[i * self.n + unknown]).sum()
    }

    /// $\int_0^{\tau} x$ of one unknown, for $\tau$ as a part of the step.
    fn mass(&self, unknown: usize, part: f64, rule: &(Vec<f64>, Vec<f64>)) -> f64 {
        let gamma = 1.0 + self.e;
        let w = libm::pow(part, gamma);
        let terms = rule.0.iter().zip(&rule.1);
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
            for (x, w) in rule.0.iter().zip(&rule.1) {
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
struct Row {
    value: Vec<f64>,
    by_x: Vec<f64>,
    by_z: Vec<f64>,
}

impl Row {
    fn new(
        system: &mut dyn VolterraSystem,
        (t, x, z): (f64, &[f64], &[f64]),
        scale: f64,
        count: usize,
    ) -> Result<Option<Self>, EvalError> {
        let n = x.len();
        let zero = vec![0.0; n];
        let double: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
        let (mut rest, mut whole, mut twice) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        system.residual(t, &zero, z, &mut rest)?;
        system.residual(t, x, z, &mut whole)?;
        system.residual(t, &double, z, &mut twice)?;
        let (mut by_x, mut by_z) = (vec![0.0; n * n], vec![0.0; n * count]);
        let (mut slopes, mut rest_z) = (vec![0.0; n * n], vec![0.0; n * count]);
        system.jacobian((t, x, z), &mut by_x, &mut by_z)?;
        system.jacobian((t, &zero, z), &mut slopes, &mut rest_z)?;
        let mut value = vec![0.0; n];
        for i in 0..n {
            let gain = whole[i] - rest[i];
            let size = rest[i].abs() + whole[i].abs() + twice[i].abs();
            if (twice[i] - rest[i] - 2.0 * gain).abs() > 1e-9 * size {
                return Ok(None);
            }
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
