//! The past of a general kernel in blocks: long ago in long ones, lately in short ones.
//!
//! $$ \int_a^b k(t, t-\sigma)\,x\,d\sigma \approx \sum_i w_i\,k(t, t-\sigma_i)\,\tilde x(\sigma_i), \qquad
//!    \int_a^b P_m\,\tilde x\,d\sigma = \int_a^b P_m\,x\,d\sigma, \quad m < 18 \qquad (\mathrm B) $$
//!
//! A block keeps the moments of the density, as the values $\tilde x$ at points of Gauss; where the kernel is
//! a polynomial over the block ([`KernelResolution`]), that is all it sees of it. Two
//! neighbours make a block of twice the length, and are forgotten once that is met as one for ever. A sum
//! goes over some $\log N$ blocks, and as many are kept.
//! A kernel that is not resolved meets every step by itself, with panels that are halved until they agree.

use super::resolution::{KernelResolution, POINTS, Panel, Tail};
use crate::quadrature::legendre;
use crate::quadrature::{QuadratureRule, gauss_jacobi};

/// Most panels of one step for a kernel of which nothing is known.
const MOST: usize = 4000;

/// Values of a kernel at a time and at lags.
pub(crate) type Values<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]);

/// The past of one operand.
#[derive(Clone, Debug)]
pub(crate) struct BlockHistory {
    resolved: Option<KernelResolution>,
    rule: QuadratureRule,
    /// Legendre polynomials at the points, point by point.
    polynomials: Vec<f64>,
    tail: Tail,
    /// From the oldest to the youngest.
    roots: Vec<HistoryBlock>,
}

#[derive(Clone, Debug)]
struct HistoryBlock {
    start: f64,
    length: f64,
    /// How often two were put together.
    level: u32,
    /// $\tilde x$; empty where nothing is left of it.
    values: Vec<f64>,
    inner: Inner,
}

#[derive(Clone, Debug)]
enum Inner {
    /// A step, with its coefficients.
    Step(Vec<f64>),
    /// Two blocks.
    Pair(Box<[HistoryBlock; 2]>),
    /// Forgotten.
    Nothing,
}

impl BlockHistory {
    pub(crate) fn new(resolved: Option<KernelResolution>) -> Self {
        let rule = gauss_jacobi(POINTS, 1.0);
        let polynomials = rule.nodes.iter().flat_map(|x| legendre(POINTS, *x)).collect();
        Self { resolved, rule, polynomials, tail: Tail::new(), roots: Vec::new() }
    }

    /// Takes up a step with these Legendre coefficients.
    pub(crate) fn advance(&mut self, start: f64, length: f64, coefficients: &[f64]) {
        let values = self
            .polynomials
            .chunks_exact(POINTS)
            .map(|p| p.iter().zip(coefficients).map(|(p, c)| p * c).sum())
            .collect();
        let inner = Inner::Step(coefficients.to_vec());
        self.roots.push(HistoryBlock { start, length, level: 0, values, inner });
        let Some(resolved) = &self.resolved else { return };
        while let [.., a, b] = &self.roots[..]
            && a.level == b.level
        {
            let merged = self.merged(a, b);
            let second = self.roots.pop().expect("two are there");
            let first = self.roots.pop().expect("one is left");
            let inner = Inner::Pair(Box::new([first, second]));
            self.roots.push(HistoryBlock { inner, ..merged });
        }
        let now = start + length;
        let mut pending: Vec<&mut HistoryBlock> = self.roots.iter_mut().collect();
        while let Some(block) = pending.pop() {
            let near = now - (block.start + block.length);
            if near >= resolved.forgotten {
                block.inner = Inner::Nothing;
                block.values = Vec::new();
            } else if resolved.settled(near, near + block.length) {
                block.inner = Inner::Nothing;
            } else if let Inner::Pair(pair) = &mut block.inner {
                pending.extend(pair.iter_mut());
            }
        }
        self.roots.retain(|b| !b.values.is_empty());
    }

    /// The block of two neighbours.
    fn merged(&self, a: &HistoryBlock, b: &HistoryBlock) -> HistoryBlock {
        let (start, length) = (a.start, b.start + b.length - a.start);
        let mut coefficients = vec![0.0; POINTS];
        for part in [a, b] {
            for (i, value) in part.values.iter().enumerate() {
                let at = (part.start - start + self.rule.nodes[i] * part.length) / length;
                let share = self.rule.weights[i] * part.length / length * value;
                for (m, (c, p)) in coefficients.iter_mut().zip(legendre(POINTS, at)).enumerate()
                {
                    *c += (2 * m + 1) as f64 * share * p;
                }
            }
        }
        let values = self
            .polynomials
            .chunks_exact(POINTS)
            .map(|p| p.iter().zip(&coefficients).map(|(p, c)| p * c).sum())
            .collect();
        HistoryBlock { start, length, level: a.level + 1, values, inner: Inner::Nothing }
    }

    /// What the past, which ends at `now`, contributes a little `later`.
    pub(crate) fn value(&self, now: f64, later: f64, kernel: Values<'_>) -> f64 {
        let mut total = 0.0;
        let (mut lags, mut values) = ([0.0; POINTS], [0.0; POINTS]);
        let mut pending: Vec<&HistoryBlock> = self.roots.iter().collect();
        while let Some(block) = pending.pop() {
            // The end of the youngest step is now, whatever rounding says.
            let since = now - (block.start + block.length);
            let near = later + if since <= 4.0 * f64::EPSILON * now { 0.0 } else { since };
            let far = near + block.length;
            if let Some(resolved) = &self.resolved
                && near >= resolved.forgotten
            {
                continue;
            }
            let whole = self.resolved.as_ref().is_some_and(|r| r.meets(near, far));
            match &block.inner {
                Inner::Pair(pair) if !whole => pending.extend(pair.iter()),
                Inner::Step(coefficients) if !whole => {
                    total += self.step(Panel { from: near, to: far }, coefficients, kernel);
                }
                _ => {
                    for (lag, y) in lags.iter_mut().zip(&self.rule.nodes) {
                        *lag = far - y * block.length;
                    }
                    kernel(&lags, &mut values);
                    let terms = values.iter().zip(&block.values).zip(&self.rule.weights);
                    let sum: f64 = terms.map(|((k, x), w)| w * k * x).sum();
                    total += block.length * sum;
                }
            }
        }
        total
    }

    /// One step that is not met as a whole, in panels from its near end on.
    fn step(&self, lags: Panel, coefficients: &[f64], kernel: Values<'_>) -> f64 {
        let (near, far, length) = (lags.from, lags.to, lags.length());
        // In the distance from the end of the step: beside a long lag a short step has no digits.
        let density = |back: f64| {
            let p = legendre(coefficients.len(), (1.0 - back / length).clamp(0.0, 1.0));
            p.iter().zip(coefficients).map(|(p, c)| p * c).sum::<f64>()
        };
        let mut shifted = |back: &[f64], out: &mut [f64]| {
            let lags: Vec<f64> = back.iter().map(|back| near + back).collect();
            kernel(&lags, out);
        };
        let Some(resolved) = &self.resolved else {
            let shortest = 8.0 * f64::EPSILON * far;
            return self.divided(length, shortest, &mut shifted, &density);
        };
        let mut from = near;
        let mut sum = 0.0;
        while from < far {
            let to = resolved.panel(from, far, false);
            let panel = Panel { from: from - near, to: to - near };
            sum += integrate_panel(panel, &self.rule, &mut shifted, &density);
            from = to;
        }
        sum
    }

    /// A step that meets a kernel of which nothing is known, in panels that are halved until the kernel is a
    /// polynomial on each.
    fn divided(
        &self,
        length: f64,
        shortest: f64,
        kernel: Values<'_>,
        density: &dyn Fn(f64) -> f64,
    ) -> f64 {
        let mut pending = vec![Panel { from: 0.0, to: length }];
        let (mut back, mut values) = ([0.0; POINTS], [0.0; POINTS]);
        let (mut total, mut size, mut looked) = (0.0, 0.0_f64, 0);
        while let Some(panel) = pending.pop() {
            looked += 1;
            let Panel { from, to } = panel;
            for (back, y) in back.iter_mut().zip(&self.rule.nodes) {
                *back = from + y * (to - from);
            }
            kernel(&back, &mut values);
            // What has no value, and what halving does not resolve, has no integral.
            if looked > MOST || !values.iter().all(|k| k.is_finite()) {
                return f64::NAN;
            }
            let mean = values.iter().map(|k| k.abs()).sum::<f64>() / POINTS as f64;
            size = size.max((to - from) * mean);
            let nothing = 1e-15 * size / (to - from);
            let mut at = |back: f64| {
                let mut value = [0.0];
                kernel(&[back], &mut value);
                value[0]
            };
            let short = to - from <= shortest;
            if short || self.tail.resolves(panel, &values, nothing, &mut at) {
                let terms = back.iter().zip(&values).zip(&self.rule.weights);
                let sum: f64 = terms.map(|((back, k), w)| w * k * density(*back)).sum();
                total += (to - from) * sum;
            } else {
                pending.extend(panel.halves());
            }
        }
        total
    }
}

/// $\int k\,x$ over a panel of lags.
fn integrate_panel(
    panel: Panel,
    rule: &QuadratureRule,
    kernel: Values<'_>,
    density: &dyn Fn(f64) -> f64,
) -> f64 {
    let Panel { from, to } = panel;
    let lags: Vec<f64> = rule.nodes.iter().map(|y| from + y * (to - from)).collect();
    let mut values = vec![0.0; lags.len()];
    kernel(&lags, &mut values);
    let terms = lags.iter().zip(&values).zip(&rule.weights);
    (to - from) * terms.map(|((lag, k), w)| w * k * density(*lag)).sum::<f64>()
}
