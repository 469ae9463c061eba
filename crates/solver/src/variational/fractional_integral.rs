//! Fractional integrals of the basis: the rows of $J^\nu$.
//!
//! $$ (J^\nu y)(x) = \frac1{\Gamma(\nu)}\int_0^x (x-\tau)^{\nu-1}y(\tau)\,d\tau = \sum_j r_j\,Y_j, \qquad Y_j =
//! y(x_j)\,\frac{dx}{du}(u_j) $$
//!
//! Next to $x$, up to half the distance to the nearer end, $y$ is smooth and the rule of Gauss and Jacobi
//! takes the kernel exactly. The rest is integrated over $u$
//! in panels that grow with the distance from $x$, as the kernel becomes smooth.

use std::f64::consts::PI;

use super::sinc_grid::{IntervalPoint, SincGrid};
use super::unknown::Side;
use crate::quadrature::{QuadratureRule, gauss_jacobi};

/// The order of the rule on each panel.
const PANEL: usize = 16;

/// Rules and matrices of one grid.
#[derive(Clone, Debug)]
pub(crate) struct Abel {
    legendre: QuadratureRule,
    /// Rules for a number of points and an order.
    jacobi: Vec<(usize, f64, QuadratureRule)>,
    /// Matrices that were asked for, by side and order.
    matrices: Vec<(Side, f64, Vec<f64>)>,
}

/// The kernel of $J^\nu$ at a place, and where its two parts meet.
struct AbelKernel<'a> {
    grid: &'a SincGrid,
    nu: f64,
    place: IntervalPoint,
    /// Length of the part next to the place.
    near: f64,
    /// $u$ where that part begins.
    low: f64,
    /// Its length in $u$.
    width: f64,
}

impl Abel {
    pub(crate) fn new() -> Self {
        Self { legendre: gauss_jacobi(PANEL, 1.0), jacobi: Vec::new(), matrices: Vec::new() }
    }

    /// The row of $J^\nu$ from a side at a place; $\nu = 0$ gives the density itself.
    pub(crate) fn row(
        &mut self,
        grid: &SincGrid,
        side: Side,
        nu: f64,
        place: IntervalPoint,
    ) -> Vec<f64> {
        match side {
            Side::Left => self.left_row(grid, nu, place),
            Side::Right => {
                let mut row = self.left_row(grid, nu, place.mirrored());
                row.reverse();
                row
            }
        }
    }

    /// The rows at all nodes, one after the other.
    pub(crate) fn matrix(&mut self, grid: &SincGrid, side: Side, nu: f64) -> Vec<f64> {
        let known = self.matrices.iter().find(|m| m.0 == side && m.1 == nu);
        if let Some((_, _, matrix)) = known {
            return matrix.clone();
        }
        let n = grid.len();
        let mut matrix = vec![0.0; n * n];
        for (i, &place) in grid.places.iter().enumerate() {
            if nu == 0.0 {
                matrix[i * n + i] = 1.0 / grid.weights[i];
            } else {
                let row = self.row(grid, side, nu, place);
                matrix[i * n..(i + 1) * n].copy_from_slice(&row);
            }
        }
        self.matrices.push((side, nu, matrix.clone()));
        matrix
    }

    fn left_row(&mut self, grid: &SincGrid, nu: f64, place: IntervalPoint) -> Vec<f64> {
        let mut row = vec![0.0; grid.len()];
        if nu == 0.0 {
            let weight = grid.weight(place);
            grid.add_cardinals(place.coordinate(), 1.0 / weight, &mut row);
            return row;
        }
        if place.left <= 0.0 {
            return row;
        }
        if place.right <= 0.0 {
            // At the far end the integrand is a function of u on the whole line, where the rule of equal
            // steps is exact.
            for (r, p) in row.iter_mut().zip(&grid.places) {
                *r = grid.step * libm::pow(p.right, nu - 1.0) / libm::tgamma(nu);
            }
            return row;
        }
        let near = 0.5 * place.left.min(place.right);
        let cut = IntervalPoint { left: place.left - near, right: place.right + near };
        let low = cut.coordinate();
        let kernel = AbelKernel { grid, nu, place, near, low, width: place.coordinate() - low };
        self.next_to(&kernel, &mut row);
        self.rest(&kernel, &mut row);
        let scale = 1.0 / libm::tgamma(nu);
        row.iter_mut().for_each(|r| *r *= scale);
        row
    }

    /// The part next to the place.
    fn next_to(&mut self, kernel: &AbelKernel<'_>, row: &mut [f64]) {
        let &AbelKernel { grid, nu, place, near, width, .. } = kernel;
        // Cardinal functions oscillate once in 2h; the rule needs some points beyond π a wave.
        let points = 8 * (3 + (PI * width / (8.0 * grid.step)) as usize);
        let at = match self.jacobi.iter().position(|r| r.0 == points && r.1 == nu) {
            Some(at) => at,
            None => {
                self.jacobi.push((points, nu, gauss_jacobi(points, nu)));
                self.jacobi.len() - 1
            }
        };
        let scale = libm::pow(near, nu);
        let QuadratureRule { nodes, weights } = &self.jacobi[at].2;
        for (y, w) in nodes.iter().zip(weights) {
            let lag = near * (1.0 - y);
            let there = IntervalPoint { left: place.left - lag, right: place.right + lag };
            grid.add_cardinals(there.coordinate(), scale * w / grid.weight(there), row);
        }
    }

    /// The part beyond it.
    fn rest(&self, kernel: &AbelKernel<'_>, row: &mut [f64]) {
        let &AbelKernel { grid, nu, place, low, width, .. } = kernel;
        let end = -grid.reach();
        let (mut upper, mut size) = (low, width);
        while upper > end {
            let lower = (upper - size.min(4.0 * grid.step)).max(end);
            for (y, w) in self.legendre.nodes.iter().zip(&self.legendre.weights) {
                let u = lower + (upper - lower) * y;
                let (there, _) = grid.at(u);
                let lag = if place.left < place.right {
                    place.left - there.left
                } else {
                    there.right - place.right
                };
                grid.add_cardinals(u, (upper - lower) * w * libm::pow(lag, nu - 1.0), row);
            }
            upper = lower;
            size *= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_to_rounding_from_both_sides() {
        let grid = SincGrid::new(1.5, 60, 0.4);
        let mut abel = Abel::new();
        for nu in [0.05, 0.3, 0.5, 1.0, 1.7] {
            for p in [-0.6, -0.2, 0.0, 1.3, 3.0] {
                for side in [Side::Left, Side::Right] {
                    let from = |place: IntervalPoint| match side {
                        Side::Left => place.left,
                        Side::Right => place.right,
                    };
                    let y: Vec<f64> = grid
                        .places
                        .iter()
                        .zip(&grid.weights)
                        .map(|(&q, w)| w * libm::pow(from(q), p))
                        .collect();
                    for left in [0.01, 0.2, 0.75, 1.2, 1.5] {
                        let place = IntervalPoint { left, right: 1.5 - left };
                        // At the far end the kernel itself decays like x^ν only.
                        if from(place) <= 0.0 || (left == 1.5 && nu < 0.4) {
                            continue;
                        }
                        let row = abel.row(&grid, side, nu, place);
                        let value: f64 = row.iter().zip(&y).map(|(r, y)| r * y).sum();
                        let exact = libm::tgamma(p + 1.0) / libm::tgamma(p + 1.0 + nu)
                            * libm::pow(from(place), p + nu);
                        // Cardinal functions leave out e^{-π²/2h} < 1e-26 at h = 0.08, and beyond the last
                        // node x^0.4 < 1e-30: what is left is rounding.
                        assert!(
                            (value - exact).abs() < 1e-11 * (1.0 + exact.abs()),
                            "{nu} {p} {side:?} {left}: {value} {exact}"
                        );
                    }
                }
            }
        }
    }
}
