//! The nodes: an interval through the double exponential map, with the distances from both ends.
//!
//! $$ x = \frac{T}{1 + e^{-\pi\sinh u}}, \qquad u_j = jh, \quad -M \le j \le M $$
//!
//! The step balances the two errors of cardinal functions: $e^{-\pi^2/2h}$ for what is left out between the
//! nodes, $e^{-(\pi\gamma/2)e^{Mh}}$ for what
//! is left out beyond them if the density times $dx/du$ falls like $x^\gamma$ at the ends.

use std::f64::consts::PI;

use super::unknown::Side;

/// A place in the interval, by its distances from both ends: near an end only one of them tells where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalPoint {
    /// $t - a$
    pub left: f64,
    /// $b - t$
    pub right: f64,
}

impl IntervalPoint {
    /// The same place counted from the other end.
    pub(crate) fn mirrored(self) -> Self {
        Self { left: self.right, right: self.left }
    }

    /// $u$
    pub(crate) fn coordinate(self) -> f64 {
        libm::asinh(libm::log(self.left / self.right) / PI)
    }
}

/// Nodes with their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct SincGrid {
    /// $T = b - a$
    pub length: f64,
    /// $h$
    pub step: f64,
    /// Nodes on each side of the middle.
    pub half: usize,
    /// The nodes.
    pub places: Vec<IntervalPoint>,
    /// $dx/du$ at the nodes.
    pub weights: Vec<f64>,
}

impl SincGrid {
    /// `2 half + 1` nodes for densities that times $dx/du$ fall like the power `decay` of the distance from each end.
    pub fn new(length: f64, half: usize, decay: f64) -> Self {
        // e^{Mh} = π M / (γ U) with U = Mh: the fixed point is approached by means.
        let mut reach = 3.0;
        for _ in 0..80 {
            let wanted = libm::log((PI * half as f64 / (reach * decay)).max(1.5));
            reach = 0.5 * (reach + wanted);
        }
        let step = reach / half as f64;
        let mut grid = Self { length, step, half, places: Vec::new(), weights: Vec::new() };
        for j in 0..=2 * half {
            let (place, weight) = grid.at(step * (j as f64 - half as f64));
            grid.places.push(place);
            grid.weights.push(weight);
        }
        grid
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Never: a grid has nodes.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The largest $u$.
    pub(crate) fn reach(&self) -> f64 {
        self.step * self.half as f64
    }

    /// The node that is nearest to an end.
    pub(crate) fn last(&self, end: Side) -> usize {
        match end {
            Side::Left => 0,
            Side::Right => self.len() - 1,
        }
    }

    /// $h\sum_{j>M} z_j^p\,w_j\,(z_j/z_M)^e/w_M$ beyond the last node at an end, with the distance $z$ from
    /// it: times $Y_M$, what the nodes leave out of $\int z^p y\,dz$ where $y$ is like $z^e$.
    pub(crate) fn beyond(&self, end: Side, p: f64, e: f64) -> f64 {
        let last = self.last(end);
        let (z, w) = (end.distance(self.places[last]), self.weights[last]);
        let mut sum = 0.0;
        // NOTE: at reach 7 distances are below the smallest numbers.
        let mut u = self.reach() + self.step;
        while u < 7.0 {
            let (place, weight) = self.at(if end == Side::Left { -u } else { u });
            let there = end.distance(place);
            if there > 0.0 {
                sum += libm::pow(there, p) * (weight / w) * libm::pow(there / z, e);
            }
            u += self.step;
        }
        self.step * sum
    }

    /// The place of $u$, and $dx/du$ there.
    pub(crate) fn at(&self, u: f64) -> (IntervalPoint, f64) {
        let e = PI * libm::sinh(u);
        let left = 1.0 / (1.0 + libm::exp(-e));
        let right = 1.0 / (1.0 + libm::exp(e));
        let weight = PI * libm::cosh(u) * left * right;
        let place = IntervalPoint { left: self.length * left, right: self.length * right };
        (place, self.length * weight)
    }

    /// $dx/du$ at a place.
    pub(crate) fn weight(&self, place: IntervalPoint) -> f64 {
        PI * libm::cosh(place.coordinate()) * place.left * place.right / self.length
    }

    /// Adds `factor` times the cardinal functions at $u$ to `row`.
    pub(crate) fn add_cardinals(&self, u: f64, factor: f64, row: &mut [f64]) {
        let p = u / self.step + self.half as f64;
        let nearest = libm::round(p);
        let f = p - nearest;
        if f.abs() < 1e-14 {
            if nearest >= 0.0 && (nearest as usize) < row.len() {
                row[nearest as usize] += factor;
            }
            return;
        }
        let even = libm::fmod(nearest, 2.0) == 0.0;
        let s = factor * libm::sin(PI * f) / PI * if even { 1.0 } else { -1.0 };
        for (j, r) in row.iter_mut().enumerate() {
            let sign = if j.is_multiple_of(2) { s } else { -s };
            *r += sign / (p - j as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cardinals_interpolate_powers_of_both_distances() {
        let grid = SincGrid::new(2.0, 31, 0.5);
        let f = |p: IntervalPoint| libm::pow(p.left, 0.3) * libm::pow(p.right, -0.4);
        let y: Vec<f64> =
            grid.places.iter().zip(&grid.weights).map(|(&p, w)| w * f(p)).collect();
        for left in [0.01, 0.3, 1.0, 1.9] {
            let place = IntervalPoint { left, right: 2.0 - left };
            let mut row = vec![0.0; grid.len()];
            grid.add_cardinals(place.coordinate(), 1.0 / grid.weight(place), &mut row);
            let value: f64 = row.iter().zip(&y).map(|(r, y)| r * y).sum();
            // e^{-π²/2h} with h = 0.13, divided by the small weight near the ends.
            assert!((value - f(place)).abs() < 1e-11, "{left} {value} {}", f(place));
        }
    }
}
