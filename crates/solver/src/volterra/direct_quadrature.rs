//! The memory integrals (Z) of a run a second time, by direct quadrature at a few of its output times.
//!
//! $$ z_p(T) = \sum_i a_{pi}\,\tau^{e_{pi}} + \sum_{\text{steps}} \int
//! \frac{(T-\sigma)^{\mu-1}}{\Gamma(\mu)}\,x_{u(p)}(\sigma)\,d\sigma $$
//!
//! with the kernel as it is: no exponentials, nothing carried from step to step but the sum. Steps far from
//! $T$ are met by a rule of Gauss, those beside it by panels that halve
//! towards it, the one that ends in $T$ by a rule with the singular weight.
//! Other kernels, $\int k(T, T-\sigma)\,x\,d\sigma$ as they are written, by panels that are halved until both
//! halves agree with the whole, and next to $T$ by a doubly exponential rule.

use super::block_history::Values;
use super::integrate::VolterraStep;
use super::resolution::Panel;
use super::system::{Kernel, Operand};
use crate::quadrature::{NodalBasis, lagrange};
use crate::quadrature::{QuadratureRule, clenshaw_curtis, gauss_jacobi};

/// Points of a panel; the kernel is singular at least a panel's length away, so that $5.8^{-2\cdot 12}$ is
/// below rounding.
const POINTS: usize = 12;

/// Doubly exponential points of the part of a step next to its end, and the part.
const NEAREST: (i32, f64) = (70, 1.0 / 64.0);

/// A kernel at a time and a lag; the first argument says which.
pub type KernelValues<'a> = &'a mut dyn FnMut(usize, f64, f64) -> f64;

/// The integrals of all operands with power-law kernels, and of other kernels as they are written.
#[derive(Clone, Debug)]
pub struct DirectQuadrature {
    operands: Vec<Operand>,
    t0: f64,
    basis: NodalBasis,
    rule: QuadratureRule,
    /// A rule with the ends.
    seeing: QuadratureRule,
    /// The Lagrange polynomials at the points of the rule over a whole step, point by point.
    whole: Vec<f64>,
    /// The different $\mu$, with the singular weights of the nodes of a step.
    kernels: Vec<(f64, Vec<f64>)>,
    /// For each operand which kernel it has.
    which: Vec<Option<usize>>,
    /// The unknowns that other kernels meet.
    written: Vec<usize>,
    targets: Vec<QuadratureTarget>,
    weights: Vec<f64>,
}

#[derive(Clone, Debug)]
struct QuadratureTarget {
    t: f64,
    sums: Vec<CarefulSum>,
    /// The same for the kernels as they are written.
    written: Vec<f64>,
    /// Whether the step that ends here has been taken up.
    whole: bool,
    worst: Option<f64>,
}

/// A compensated sum that knows its rounding: in a long run the terms of a repeated integral are large, and
/// their sum is small.
#[derive(Clone, Copy, Debug, Default)]
struct CarefulSum {
    sum: f64,
    lost: f64,
    squares: f64,
}

impl CarefulSum {
    fn add(&mut self, term: f64) {
        let total = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - total) + term
        } else {
            (term - total) + self.sum
        };
        self.sum = total;
        self.squares += term * term;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }

    /// What the rounding of each term leaves of all.
    fn noise(&self) -> f64 {
        8.0 * f64::EPSILON * self.squares.sqrt()
    }
}

impl DirectQuadrature {
    /// For the operands of a system, and for other kernels that meet the unknowns `written`, with `stages`
    /// nodes in a step, at these times.
    pub fn new(
        operands: Vec<Operand>,
        written: Vec<usize>,
        stages: usize,
        t0: f64,
        times: &[f64],
    ) -> Self {
        let basis = NodalBasis::radau(stages);
        let mut kernels: Vec<(f64, Vec<f64>)> = Vec::new();
        let mut which = Vec::new();
        for operand in &operands {
            let Kernel::Power(mu) = operand.kernel else {
                which.push(None);
                continue;
            };
            let known = kernels.iter().position(|k| k.0 == mu);
            which.push(Some(known.unwrap_or_else(|| {
                kernels.push((mu, basis.integrals_at(mu, &[1.0])));
                kernels.len() - 1
            })));
        }
        let sums = vec![CarefulSum::default(); operands.len()];
        let zeros = vec![0.0; written.len()];
        let target = |&t: &f64| QuadratureTarget {
            t,
            sums: sums.clone(),
            written: zeros.clone(),
            whole: false,
            worst: None,
        };
        let rule = gauss_jacobi(POINTS, 1.0);
        let polynomials =
            |y: &f64| (0..stages).map(|j| lagrange(&basis.nodes, j, *y)).collect::<Vec<_>>();
        Self {
            targets: times.iter().map(target).collect(),
            whole: rule.nodes.iter().flat_map(polynomials).collect(),
            rule,
            seeing: clenshaw_curtis(16),
            weights: vec![0.0; stages],
            operands,
            written,
            t0,
            basis,
            kernels,
            which,
        }
    }

    /// Takes up a step for all times that lie beyond it.
    pub fn piece(&mut self, piece: &VolterraStep<'_>, kernel: KernelValues<'_>) {
        for i in 0..self.targets.len() {
            let ahead = self.targets[i].t - self.t0 - (piece.elapsed + piece.h);
            if !self.targets[i].whole && ahead > 0.0 {
                self.take(i, piece, ahead);
                self.take_written(i, piece, ahead, kernel);
            }
        }
    }

    /// Takes up the step that ends at an output time.
    pub fn last(&mut self, t: f64, piece: &VolterraStep<'_>, kernel: KernelValues<'_>) {
        for i in 0..self.targets.len() {
            if self.targets[i].t == t && !self.targets[i].whole {
                self.take(i, piece, 0.0);
                self.take_written(i, piece, 0.0, kernel);
                self.targets[i].whole = true;
            }
        }
    }

    /// Compares with the operands that the run has at an output time, and with what it has for the kernels as
    /// they are written, in the units of the run.
    pub fn compare(&mut self, t: f64, z: &[f64], written: &[f64], units: &[f64]) {
        let unit = |unknown: usize| units.get(unknown).copied().unwrap_or(1.0);
        for target in self.targets.iter_mut().filter(|target| target.t == t && target.whole) {
            let mut worst = 0.0_f64;
            for (p, operand) in self.operands.iter().enumerate() {
                if self.which[p].is_some() {
                    let elapsed = t - self.t0;
                    let found = operand.start_at(elapsed) + target.sums[p].value();
                    let noise = target.sums[p].noise();
                    let size = unit(operand.unknown) + z[p].abs();
                    let off = ((found - z[p]).abs() - noise) / size;
                    worst = if off.is_nan() { f64::NAN } else { worst.max(off) };
                }
            }
            for ((found, z), &unknown) in target.written.iter().zip(written).zip(&self.written)
            {
                let off = (found - z).abs() / (unit(unknown) + z.abs());
                worst = if off.is_nan() { f64::NAN } else { worst.max(off) };
            }
            target.worst = Some(worst);
        }
    }

    /// Whether there is nothing to compare: no kernel is a power.
    pub fn is_idle(&self) -> bool {
        self.kernels.is_empty() && self.written.is_empty()
    }

    /// The largest difference, relative to $1 + |z|$; nothing if no time was reached or there is nothing to compare.
    pub fn worst(&self) -> Option<f64> {
        if self.is_idle() {
            return None;
        }
        let found = self.targets.iter().filter_map(|t| t.worst);
        found.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
    }

    fn take(&mut self, i: usize, piece: &VolterraStep<'_>, ahead: f64) {
        for k in 0..self.kernels.len() {
            self.weigh(k, piece.h, ahead);
            for (p, operand) in self.operands.iter().enumerate() {
                if self.which[p] == Some(k) {
                    let node = |j: usize| piece.x[j * piece.unknowns + operand.unknown];
                    let terms = self.weights.iter().enumerate().map(|(j, w)| w * node(j));
                    self.targets[i].sums[p].add(terms.sum());
                }
            }
        }
    }

    fn take_written(
        &mut self,
        i: usize,
        piece: &VolterraStep<'_>,
        ahead: f64,
        kernel: KernelValues<'_>,
    ) {
        let t = self.targets[i].t;
        for (k, &unknown) in self.written.iter().enumerate() {
            let nodes = &self.basis.nodes;
            let column: Vec<f64> =
                (0..nodes.len()).map(|j| piece.x[j * piece.unknowns + unknown]).collect();
            // In the distance from the end of the step: beside a long lag a short step has no digits.
            let density = |back: f64| self.basis.value(&column, 1.0 - back / piece.h);
            let ahead = ahead.max(0.0);
            let mut values = |back: &[f64], out: &mut [f64]| {
                out.iter_mut()
                    .zip(back)
                    .for_each(|(out, back)| *out = kernel(k, t, ahead + back));
            };
            let mut from = 0.0;
            let mut sum = 0.0;
            if ahead == 0.0 {
                from = NEAREST.1 * piece.h;
                sum += nearest(from, &mut values, &density);
            }
            let whole = Panel { from, to: piece.h };
            let shortest = 4.0 * f64::EPSILON * (ahead + piece.h);
            sum += halved(whole, shortest, &self.seeing, &mut values, &density);
            self.targets[i].written[k] += sum;
        }
    }

    /// The weights of the nodes of a step of length `h` that ends `ahead` of the time.
    fn weigh(&mut self, k: usize, h: f64, ahead: f64) {
        let (mu, singular) = &self.kernels[k];
        if ahead <= 0.0 {
            let scale = libm::pow(h, *mu);
            self.weights.iter_mut().zip(singular).for_each(|(w, s)| *w = scale * s);
            return;
        }
        self.weights.fill(0.0);
        let gamma = libm::tgamma(*mu);
        let mut from = 0.0;
        loop {
            let left = 1.0 - from;
            // A panel is no longer than its distance from the time.
            let length = if left * h <= ahead { left } else { 0.5 * left };
            for (i, (y, w)) in self.rule.nodes.iter().zip(&self.rule.weights).enumerate() {
                let θ = from + length * y;
                let lag = ahead + (1.0 - θ) * h;
                let kernel = if *mu == 1.0 { 1.0 } else { libm::pow(lag, *mu - 1.0) / gamma };
                let share = w * length * h * kernel;
                let stages = self.weights.len();
                let known = &self.whole[i * stages..(i + 1) * stages];
                for (j, weight) in self.weights.iter_mut().enumerate() {
                    let value = if length == 1.0 {
                        known[j]
                    } else {
                        lagrange(&self.basis.nodes, j, θ)
                    };
                    *weight += share * value;
                }
            }
            from += length;
            if length == left {
                return;
            }
        }
    }
}

/// $\int_0^r k\,x\,ds$ with $s = r/(1 + e^{\pi\sinh u})$: whatever the singularity at 0 is, the integrand
/// decays doubly exponentially.
fn nearest(r: f64, kernel: Values<'_>, density: &dyn Fn(f64) -> f64) -> f64 {
    let (count, h) = (NEAREST.0, 0.0875);
    let mut value = [0.0];
    let mut sum = 0.0;
    for i in -count / 2..=count {
        let u = h * f64::from(i);
        let e = libm::exp(-std::f64::consts::PI * libm::sinh(u));
        // s/r = e/(1 + e), and its complement.
        let (near, far) = if e > 1e290 { (1.0, 0.0) } else { (e / (1.0 + e), 1.0 / (1.0 + e)) };
        let weight = std::f64::consts::PI * libm::cosh(u) * near * far;
        if weight > 0.0 && near * r > 0.0 {
            kernel(&[near * r], &mut value);
            sum += h * weight * r * value[0] * density(near * r);
        }
    }
    sum
}

/// Most panels of one step.
const MOST: usize = 4000;

/// $\int k\,x$ in panels that are halved until both halves agree with the whole, down to rounding; not a number if
/// they never do.
fn halved(
    whole: Panel,
    shortest: f64,
    rule: &QuadratureRule,
    kernel: Values<'_>,
    density: &dyn Fn(f64) -> f64,
) -> f64 {
    let mut measured = |panel: Panel| -> (f64, f64) {
        let mut size = 0.0;
        let lags: Vec<f64> =
            rule.nodes.iter().map(|y| panel.from + y * panel.length()).collect();
        let mut values = vec![0.0; lags.len()];
        kernel(&lags, &mut values);
        let mut sum = 0.0;
        for ((lag, k), w) in lags.iter().zip(&values).zip(&rule.weights) {
            let share = w * k * density(*lag);
            sum += share;
            size += share.abs();
        }
        (panel.length() * sum, panel.length() * size)
    };
    let first = measured(whole);
    let mut pending = vec![(whole, first.0)];
    let (mut total, mut scale, mut looked) = (0.0, first.1, 0);
    while let Some((panel, found)) = pending.pop() {
        looked += 1;
        if looked > MOST {
            return f64::NAN;
        }
        let [first, second] = panel.halves();
        let (left, right) = (measured(first), measured(second));
        scale = scale.max(left.1 + right.1);
        let off = (left.0 + right.0 - found).abs();
        let short = panel.length() <= 1e-13 * whole.length() + shortest;
        // NOTE: of a panel no more is known than the rounding of the whole.
        if off <= 2e-15 * scale || short || !off.is_finite() {
            total += left.0 + right.0;
        } else {
            pending.extend([(first, left.0), (second, right.0)]);
        }
    }
    total
}
