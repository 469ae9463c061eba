//! Operators and end conditions as matrices on the nodes, with their adjoints.
//!
//! A density is known by $Y = y\,dx/du$ at the nodes. With $K_s^\nu$ the matrix of $J_s^\nu$ and $W$ the
//! weights, an operator $K_1 W K_2$ has the adjoint $\bar K_2 W \bar K_1$, acting on $W f$, where the bar
//! exchanges left and right.

use super::fractional_integral::Abel;
use super::functional::{EndTerm, VariationalProblem};
use super::sinc_grid::{IntervalPoint, SincGrid};
use super::unknown::{FractionalOperator, Unknown, power};

/// One operator at the nodes.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// $Y$ to values, by rows.
    pub(crate) density: Vec<f64>,
    /// $W\,\partial\mathcal L$ to its part of $E$, by rows.
    pub(crate) adjoint: Vec<f64>,
    /// What it makes of each constant, at the nodes.
    pub(crate) constants: Vec<Vec<f64>>,
}

/// An operator on one unknown function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperatorTerm {
    pub(crate) unknown: Unknown,
    pub(crate) operator: FractionalOperator,
    /// The power that its density is like at the far end.
    pub(crate) tail: f64,
}

/// An end condition: on densities and constants of all functions, and its kernels in $E$.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// For each function, on $Y$.
    pub(crate) density: Vec<Vec<f64>>,
    /// For each function, $\kappa(t)$ at the nodes.
    pub(crate) kernel: Vec<Vec<f64>>,
    /// For each function, on its constants.
    pub(crate) constants: Vec<Vec<f64>>,
}

impl Action {
    pub(crate) fn new(
        abel: &mut Abel,
        grid: &SincGrid,
        unknown: Unknown,
        operator: FractionalOperator,
    ) -> Self {
        let chain = unknown.chain(operator);
        let n = grid.len();
        let mut forward: Vec<Vec<f64>> = Vec::new();
        let mut backward: Vec<Vec<f64>> = Vec::new();
        for &(side, nu) in &chain.factors {
            forward.push(abel.matrix(grid, side, nu));
            backward.push(abel.matrix(grid, side.other(), nu));
        }
        backward.reverse();
        let mut density = product(&forward, &grid.weights);
        let mut adjoint = product(&backward, &grid.weights);
        for x in density.iter_mut().chain(&mut adjoint) {
            *x *= chain.sign;
        }
        let own = unknown.side;
        for &(factor, exponent, k) in &chain.far {
            let at = |p: &IntervalPoint| factor * libm::pow(own.other().distance(*p), exponent);
            let reach = |p: &IntervalPoint| {
                power(own.other().distance(*p), unknown.order - k as f64 - 1.0)
            };
            for i in 0..n {
                for j in 0..n {
                    let (pi, pj) = (&grid.places[i], &grid.places[j]);
                    density[i * n + j] += grid.step * at(pi) * reach(pj);
                    adjoint[i * n + j] += grid.step * reach(pi) * at(pj);
                }
            }
        }
        let on = |j: usize| {
            let one = |&p: &IntervalPoint| unknown.on_constant(operator, j, p, grid.length);
            grid.places.iter().map(one).collect()
        };
        Self { density, adjoint, constants: (0..unknown.constants()).map(on).collect() }
    }

    /// The operator at any place, on $Y$ and on the constants; `tail` is that of the function.
    pub(crate) fn row(
        abel: &mut Abel,
        grid: &SincGrid,
        term: OperatorTerm,
        place: IntervalPoint,
    ) -> (Vec<f64>, Vec<f64>) {
        let OperatorTerm { unknown, operator, tail } = term;
        let chain = unknown.chain(operator);
        let n = grid.len();
        let (side, nu) = chain.factors[0];
        let mut row = abel.row(grid, side, nu, place);
        let far = side.other();
        if chain.factors.len() == 1 && nu > 0.0 && far.distance(place) <= 0.0 {
            row[grid.last(far)] += grid.beyond(far, nu - 1.0, tail) / libm::tgamma(nu);
        }
        for &(side, nu) in &chain.factors[1..] {
            let matrix = abel.matrix(grid, side, nu);
            let mut next = vec![0.0; n];
            for (i, r) in row.iter().enumerate() {
                let r = r * grid.weights[i];
                for (x, m) in next.iter_mut().zip(&matrix[i * n..(i + 1) * n]) {
                    *x += r * m;
                }
            }
            row = next;
        }
        row.iter_mut().for_each(|x| *x *= chain.sign);
        let z = unknown.side.other();
        for &(factor, exponent, k) in &chain.far {
            let at = grid.step * factor * libm::pow(z.distance(place), exponent);
            for (x, p) in row.iter_mut().zip(&grid.places) {
                *x += at * power(z.distance(*p), unknown.order - k as f64 - 1.0);
            }
        }
        let on = |j| unknown.on_constant(operator, j, place, grid.length);
        (row, (0..unknown.constants()).map(on).collect())
    }
}

impl End {
    pub(crate) fn new(
        problem: &VariationalProblem,
        grid: &SincGrid,
        terms: &[EndTerm],
    ) -> Self {
        let n = grid.len();
        let mut end = Self {
            density: vec![vec![0.0; n]; problem.unknowns.len()],
            kernel: vec![vec![0.0; n]; problem.unknowns.len()],
            constants: problem.unknowns.iter().map(|c| vec![0.0; c.constants()]).collect(),
        };
        for term in terms {
            let unknown = problem.unknowns[term.unknown];
            let (k, far) = (term.order, unknown.side.other());
            let factor = term.factor * unknown.orientation(k);
            if term.end == unknown.side {
                if let Some(c) = end.constants[term.unknown].get_mut(k) {
                    *c += factor;
                }
                continue;
            }
            for (j, c) in end.constants[term.unknown].iter_mut().enumerate().skip(k) {
                *c += factor * power(grid.length, (j - k) as f64);
            }
            let exponent = unknown.order - k as f64 - 1.0;
            for (i, p) in grid.places.iter().enumerate() {
                let kernel = factor * power(far.distance(*p), exponent);
                end.kernel[term.unknown][i] += kernel;
                end.density[term.unknown][i] += grid.step * kernel;
            }
            let beyond = grid.beyond(far, exponent, problem.tails[term.unknown]);
            end.density[term.unknown][grid.last(far)] += factor * beyond * power(1.0, exponent);
        }
        end
    }
}

/// $K_1 W K_2 \cdots$
fn product(factors: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let n = weights.len();
    let mut whole = factors[0].clone();
    for factor in &factors[1..] {
        let mut next = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..n {
                let x = whole[i * n + k] * weights[k];
                if x != 0.0 {
                    let row = &factor[k * n..(k + 1) * n];
                    for (y, r) in next[i * n..(i + 1) * n].iter_mut().zip(row) {
                        *y += x * r;
                    }
                }
            }
        }
        whole = next;
    }
    whole
}
