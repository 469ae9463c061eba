//! The first variation along functions of its own: what the audit believes.
//!
//! $$ \delta S = \int\sum_i \frac{\partial\mathcal L}{\partial O_i}\,O_i\eta\;dt = 0 $$
//!
//! for $\eta = x^a(T-x)^b$ times a random cubic, with $a$ and $b$ as what is given at the ends asks for;
//! where an end is free $\eta$ moves there, so that natural conditions are tested too.
//! The operators act on the powers of $\eta$ in closed form, $D^\beta x^p =
//! \Gamma(p+1)/\Gamma(p+1-\beta)\,x^{p-\beta}$: neither the adjoint operators nor the basis of the solution
//! are used.

use pfaff_solver::{
    Extremum, FractionalOperator, Functional, IntervalPoint, Side, SincGrid, VariationalProblem,
};

use super::ends::Ends;

/// Within this part of the interval from an end.
const NEAR: f64 = 1e-8;

/// A polynomial by its coefficients in the distances from both ends.
struct Test {
    left: Vec<f64>,
    right: Vec<f64>,
}

/// The largest first variation over `count` random test functions, relative to the sum of the magnitudes in it.
pub(crate) fn first_variation(
    problem: &VariationalProblem,
    functional: &mut dyn Functional,
    found: &mut Extremum,
    ends: &Ends,
    count: usize,
) -> f64 {
    let grid = SincGrid::new(problem.length, 2 * found.grid.half + 3, problem.decay);
    let m = problem.operators.len();
    let (mut g, mut h) = (vec![0.0; m], vec![0.0; m * m]);
    let mut slopes_at = |found: &mut Extremum, place: IntervalPoint| {
        let values = found.values(place);
        functional.evaluate(place, &values, &mut g, &mut h);
        g.clone()
    };
    // W ∂𝓛 at the nodes of the solution, by operator.
    let nodes: Vec<(IntervalPoint, f64)> =
        found.grid.places.iter().copied().zip(found.grid.weights.iter().copied()).collect();
    let mut weighted = vec![Vec::new(); m];
    for &(place, w) in &nodes {
        for (list, slope) in weighted.iter_mut().zip(slopes_at(found, place)) {
            list.push(w * slope);
        }
    }
    // NOTE: very near the ends only W times a density is known, and a product of two densities would be
    // rounding: there W ∂𝓛 itself is carried from the nodes.
    let mut slopes: Vec<Vec<f64>> = Vec::new();
    for (&place, &w) in grid.places.iter().zip(&grid.weights) {
        slopes.push(if w > NEAR * problem.length {
            slopes_at(found, place).into_iter().map(|x| w * x).collect()
        } else {
            weighted.iter().map(|list| found.interpolated(list, place)).collect()
        });
    }
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut worst = 0.0_f64;
    for _ in 0..count {
        let tests: Vec<Test> = (0..problem.unknowns.len())
            .map(|k| {
                let fixed = ends.fixed.get(k).copied().unwrap_or([0, 0]);
                Test::random(problem.length, fixed, &mut random)
            })
            .collect();
        let (mut sum, mut size, mut test) = (0.0, 0.0, 0.0);
        for (i, &place) in grid.places.iter().enumerate() {
            for (o, &(k, operator)) in problem.operators.iter().enumerate() {
                let moved = grid.step * tests[k].apply(operator, place);
                let term = slopes[i][o] * moved;
                sum += term;
                size += term.abs();
                test += grid.weights[i] * moved.abs();
            }
        }
        // Where 𝓛 is stationary by itself its slopes are rounding: they are not counted below 1e-4.
        let part = (sum / size.max(1e-4 * test)).abs();
        // NOTE: what is not a number must not be lost in a maximum.
        worst = if part.is_nan() { part } else { worst.max(part) };
        if worst.is_nan() {
            break;
        }
    }
    worst
}

impl Test {
    fn random(length: f64, fixed: [usize; 2], state: &mut u64) -> Self {
        let mut next = || {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        // In s = x/T first.
        let mut unit: Vec<f64> = (0..4).map(|_| next()).collect();
        for _ in 0..fixed[0] {
            unit = times(&unit, [0.0, 1.0]);
        }
        for _ in 0..fixed[1] {
            unit = times(&unit, [1.0, -1.0]);
        }
        // The same in 1 − s.
        let mut other = vec![0.0];
        for c in unit.iter().rev() {
            other = times(&other, [1.0, -1.0]);
            other[0] += c;
        }
        let scaled = |list: Vec<f64>| {
            list.into_iter().enumerate().map(|(p, c)| c / libm::pow(length, p as f64)).collect()
        };
        Self { left: scaled(unit), right: scaled(other) }
    }

    fn apply(&self, operator: FractionalOperator, place: IntervalPoint) -> f64 {
        let (side, beta, from) = match operator {
            FractionalOperator::Derivative(k) => (Side::Left, f64::from(k), f64::from(k)),
            FractionalOperator::Caputo(side, beta) => (side, beta, libm::ceil(beta)),
            FractionalOperator::RiemannLiouville(side, beta) => (side, beta, 0.0),
            FractionalOperator::Integral(side, nu) => (side, -nu, 0.0),
        };
        let (list, x) = match side {
            Side::Left => (&self.left, place.left),
            Side::Right => (&self.right, place.right),
        };
        let mut sum = 0.0;
        for (p, c) in list.iter().enumerate() {
            let p = p as f64;
            if p >= from {
                let ratio = libm::tgamma(p + 1.0) / libm::tgamma(p + 1.0 - beta);
                sum += c * ratio * libm::pow(x, p - beta);
            }
        }
        sum
    }
}

fn times(a: &[f64], b: [f64; 2]) -> Vec<f64> {
    let mut product = vec![0.0; a.len() + 1];
    for (i, x) in a.iter().enumerate() {
        product[i] += x * b[0];
        product[i + 1] += x * b[1];
    }
    product
}
