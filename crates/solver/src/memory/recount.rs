//! Memory recounted: the integrals (Z) of a run by direct quadrature, at a few of its output times.
//!
//! $$ z_p(T) = \sum_i a_{pi}\,\tau^{e_{pi}} + \sum_{\text{steps}} \int \frac{(T-\sigma)^{\mu-1}}{\Gamma(\mu)}\,x_{u(p)}(\sigma)\,d\sigma $$
//!
//! with the kernel as it is: no exponentials, nothing carried from step to step but the sum. Steps far from $T$ are met by a rule of Gauss, those beside it by panels that halve
//! towards it, the one that ends in $T$ by a rule with the singular weight. Kernels that are no powers are left out.

use super::basis::{Basis, lagrange};
use super::gauss::gauss_jacobi;
use super::run::Piece;
use super::system::{Kernel, Operand};

/// Points of a panel; the kernel is singular at least a panel's length away, so that $5.8^{-2\cdot 12}$ is below rounding.
const POINTS: usize = 12;

/// The recounted integrals of all operands with power-law kernels.
#[derive(Clone, Debug)]
pub struct Recount {
    operands: Vec<Operand>,
    t0: f64,
    basis: Basis,
    rule: (Vec<f64>, Vec<f64>),
    /// The Lagrange polynomials at the points of the rule over a whole step, point by point.
    whole: Vec<f64>,
    /// The different $\mu$, with the singular weights of the nodes of a step.
    kernels: Vec<(f64, Vec<f64>)>,
    /// For each operand which kernel it has.
    which: Vec<Option<usize>>,
    targets: Vec<Target>,
    weights: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Target {
    t: f64,
    sums: Vec<f64>,
    /// Whether the step that ends here has been taken up.
    whole: bool,
    worst: Option<f64>,
}

impl Recount {
    /// For the operands of a system, with `stages` nodes in a step, at these times.
    pub fn new(operands: Vec<Operand>, stages: usize, t0: f64, times: &[f64]) -> Self {
        let basis = Basis::new(stages);
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
        let sums = vec![0.0; operands.len()];
        let target = |&t: &f64| Target { t, sums: sums.clone(), whole: false, worst: None };
        let rule = gauss_jacobi(POINTS, 1.0);
        let polynomials =
            |y: &f64| (0..stages).map(|j| lagrange(&basis.nodes, j, *y)).collect::<Vec<_>>();
        Self {
            targets: times.iter().map(target).collect(),
            whole: rule.0.iter().flat_map(polynomials).collect(),
            rule,
            weights: vec![0.0; stages],
            operands,
            t0,
            basis,
            kernels,
            which,
        }
    }

    /// Takes up a step for all times that lie beyond it.
    pub fn piece(&mut self, piece: &Piece<'_>) {
        for i in 0..self.targets.len() {
            let ahead = self.targets[i].t - self.t0 - (piece.elapsed + piece.h);
            if !self.targets[i].whole && ahead > 0.0 {
                self.take(i, piece, ahead);
            }
        }
    }

    /// Takes up the step that ends at an output time.
    pub fn last(&mut self, t: f64, piece: &Piece<'_>) {
        for i in 0..self.targets.len() {
            if self.targets[i].t == t && !self.targets[i].whole {
                self.take(i, piece, 0.0);
                self.targets[i].whole = true;
            }
        }
    }

    /// Compares with the operands that the run has at an output time.
    pub fn compare(&mut self, t: f64, z: &[f64]) {
        for target in self.targets.iter_mut().filter(|target| target.t == t && target.whole) {
            let mut worst = 0.0_f64;
            for (p, operand) in self.operands.iter().enumerate() {
                if self.which[p].is_some() {
                    let elapsed = t - self.t0;
                    let found = operand.start_at(elapsed) + target.sums[p];
                    let off = (found - z[p]).abs() / (1.0 + z[p].abs());
                    worst = if off.is_nan() { f64::NAN } else { worst.max(off) };
                }
            }
            target.worst = Some(worst);
        }
    }

    /// Whether there is nothing to compare: no kernel is a power.
    pub fn is_idle(&self) -> bool {
        self.kernels.is_empty()
    }

    /// The largest difference, relative to $1 + |z|$; nothing if no time was reached or there is nothing to compare.
    pub fn worst(&self) -> Option<f64> {
        if self.is_idle() {
            return None;
        }
        let found = self.targets.iter().filter_map(|t| t.worst);
        found.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
    }

    fn take(&mut self, i: usize, piece: &Piece<'_>, ahead: f64) {
        for k in 0..self.kernels.len() {
            self.weigh(k, piece.h, ahead);
            for (p, operand) in self.operands.iter().enumerate() {
                if self.which[p] == Some(k) {
                    let node = |j: usize| piece.x[j * piece.unknowns + operand.unknown];
                    let terms = self.weights.iter().enumerate().map(|(j, w)| w * node(j));
                    self.targets[i].sums[p] += terms.sum::<f64>();
                }
            }
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
            for (i, (y, w)) in self.rule.0.iter().zip(&self.rule.1).enumerate() {
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
