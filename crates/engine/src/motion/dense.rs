//! A motion as functions of time, not only at the output times.
//!
//! Between two nodes each coordinate is the polynomial of fifth degree that has the positions, velocities and
//! accelerations of both:
//!
//! $$ q(t_0 + \theta h) = \sum_{i=0,1} q_i H_i(\theta)
//!    + h\,\dot q_i \hat H_i(\theta) + h^2\,\ddot q_i \check H_i(\theta). $$
//!
//! Nodes lie so closely that this agrees with the dense output of the method, in the middle between two
//! nodes, to the tolerance of the run in parts of the largest position so far.

/// Halvings of a step at the most: beyond that the dense output of the method is itself not better.
const HALVINGS: u32 = 6;

/// What stays below this part of the largest coordinate may be rounding, which no polynomial follows.
const NOISE: f64 = 1e-9;

/// Nodes with positions, velocities and accelerations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dense {
    n: usize,
    t: Vec<f64>,
    /// $q, \dot q, \ddot q$ of each node.
    rows: Vec<f64>,
    /// The largest position so far, by coordinate.
    largest: Vec<f64>,
}

/// Which derivative is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Position,
    Velocity,
    Acceleration,
}

/// A state as the nodes hold it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) t: f64,
    /// $q, \dot q, \ddot q$
    pub(crate) row: Vec<f64>,
}

impl Dense {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, t: Vec::new(), rows: Vec::new(), largest: vec![0.0; n] }
    }

    /// $t$, $q$ and $\dot q$ in the middle between each two nodes.
    pub(crate) fn states_between(&self) -> impl Iterator<Item = (f64, Vec<f64>, Vec<f64>)> {
        // What has no length is a jump.
        self.t.windows(2).filter(|ends| ends[0] != ends[1]).map(|ends| {
            let t = f64::midpoint(ends[0], ends[1]);
            let all = |order: Order| (0..self.n).map(|k| self.value(k, order, t)).collect();
            (t, all(Order::Position), all(Order::Velocity))
        })
    }

    /// The times of the nodes and their rows.
    pub(crate) fn nodes(&self) -> (&[f64], &[f64]) {
        (&self.t, &self.rows)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// Goes on with the nodes of a later motion.
    pub(crate) fn append(&mut self, later: Self) {
        if later.t.len() > 1 {
            self.n = later.n;
            self.include(&later.largest);
            self.t.extend(later.t);
            self.rows.extend(later.rows);
        }
    }

    pub(crate) fn push(&mut self, node: &Node) {
        self.t.push(node.t);
        self.rows.extend_from_slice(&node.row);
        self.include(&node.row[..self.n]);
    }

    fn include(&mut self, positions: &[f64]) {
        self.largest.resize(self.n, 0.0);
        self.largest.iter_mut().zip(positions).for_each(|(size, q)| *size = size.max(q.abs()));
    }

    /// Adds nodes up to the end of a step; `at` gives the state at a time within it.
    pub(crate) fn extend(
        &mut self,
        end: f64,
        tolerance: f64,
        at: &mut dyn FnMut(f64, &mut Node),
    ) {
        let Some(&begin) = self.t.last() else { return };
        let mut last = Node::default();
        at(end, &mut last);
        self.refine(begin, &last, tolerance, HALVINGS, at);
    }

    /// Adds `end` and, before it, what is needed in between.
    fn refine(
        &mut self,
        begin: f64,
        end: &Node,
        tolerance: f64,
        halvings: u32,
        at: &mut dyn FnMut(f64, &mut Node),
    ) {
        let mut middle = Node::default();
        at(f64::midpoint(begin, end.t), &mut middle);
        if halvings > 0 && !self.foretells(&middle, end, tolerance) {
            self.refine(begin, &middle, tolerance, halvings - 1, at);
            self.refine(middle.t, end, tolerance, halvings - 1, at);
        } else {
            self.push(end);
        }
    }

    /// Whether the polynomial from the last node to `end` passes through the middle.
    fn foretells(&self, middle: &Node, end: &Node, tolerance: f64) -> bool {
        let i = self.t.len() - 1;
        let first = &self.rows[i * 3 * self.n..];
        let piece = DensePiece { n: self.n, t0: self.t[i], t1: end.t, first, last: &end.row };
        let most = self.largest.iter().fold(0.0_f64, |m, size| m.max(*size));
        (0..self.n).all(|k| {
            let found = piece.value(k, Order::Position, middle.t);
            let size = self.largest[k].max(middle.row[k].abs()).max(end.row[k].abs());
            // NOTE: what is not a number cannot be improved by more nodes.
            let error = (found - middle.row[k]).abs();
            error.is_nan() || error <= tolerance * size.max(NOISE * most)
        })
    }

    /// A coordinate at a time; not a number outside of the motion.
    pub(crate) fn value(&self, k: usize, order: Order, t: f64) -> f64 {
        let (Some(&first), Some(&last)) = (self.t.first(), self.t.last()) else {
            return f64::NAN;
        };
        if !(t >= first && t <= last) {
            return f64::NAN;
        }
        let width = 3 * self.n;
        let after = self.t.partition_point(|&x| x <= t).clamp(1, self.t.len().max(2) - 1);
        let before = after - 1;
        if self.t.len() == 1 {
            return self.rows[order as usize * self.n + k];
        }
        if self.t[before] == self.t[after] {
            // The state has jumped at the end.
            return self.rows[after * width + order as usize * self.n + k];
        }
        let piece = DensePiece {
            n: self.n,
            t0: self.t[before],
            t1: self.t[after],
            first: &self.rows[before * width..],
            last: &self.rows[after * width..],
        };
        piece.value(k, order, t)
    }
}

/// The motion between two nodes.
struct DensePiece<'a> {
    /// How many coordinates there are.
    n: usize,
    t0: f64,
    t1: f64,
    /// Positions, velocities and accelerations at `t0`.
    first: &'a [f64],
    /// The same at `t1`.
    last: &'a [f64],
}

impl DensePiece<'_> {
    /// A coordinate by the polynomial of fifth degree through the nodes.
    fn value(&self, k: usize, order: Order, t: f64) -> f64 {
        let Self { n, t0, t1, first: a, last: b } = *self;
        let h = t1 - t0;
        let s = (t - t0) / h;
        let (q0, v0, a0) = (a[k], h * a[n + k], h * h * a[2 * n + k]);
        let (q1, v1, a1) = (b[k], h * b[n + k], h * h * b[2 * n + k]);
        if (a0 + a1).is_nan() {
            // NOTE: equations of first order have no accelerations: the cubic through positions and velocities.
            let (c2, c3) = (3.0 * (q1 - q0) - 2.0 * v0 - v1, 2.0 * (q0 - q1) + v0 + v1);
            return match order {
                Order::Position => q0 + s * (v0 + s * (c2 + s * c3)),
                Order::Velocity => (v0 + s * (2.0 * c2 + s * 3.0 * c3)) / h,
                Order::Acceleration => f64::NAN,
            };
        }
        // q0 + v0 s + a0 s²/2 + s³ (c3 + c4 s + c5 s²)
        let d = q1 - q0 - v0 - a0 / 2.0;
        let e = v1 - v0 - a0;
        let f = a1 - a0;
        let c3 = 10.0 * d - 4.0 * e + f / 2.0;
        let c4 = -15.0 * d + 7.0 * e - f;
        let c5 = 6.0 * d - 3.0 * e + f / 2.0;
        match order {
            Order::Position => q0 + s * (v0 + s * (a0 / 2.0 + s * (c3 + s * (c4 + s * c5)))),
            Order::Velocity => {
                (v0 + s * (a0 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
            }
            Order::Acceleration => {
                (a0 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same motion in other units has the same nodes.
    #[test]
    fn units_do_not_matter() {
        let nodes = |unit: f64| {
            let mut dense = Dense::new(1);
            let mut at = |t: f64, node: &mut Node| {
                let (sin, cos) = (unit * libm::sin(t), unit * libm::cos(t));
                *node = Node { t, row: vec![sin, cos, -sin] };
            };
            let mut first = Node::default();
            at(0.0, &mut first);
            dense.push(&first);
            dense.extend(3.0, 1e-10, &mut at);
            dense.t
        };
        // A power of two changes no digit.
        assert_eq!(nodes(1.0), nodes(libm::exp2(-60.0)));
    }

    /// q = sin t: five nodes over a period and a half would not do, so some are added.
    #[test]
    fn nodes_are_added_until_the_middle_is_met() {
        let mut dense = Dense::new(1);
        let mut at = |t: f64, node: &mut Node| {
            *node = Node { t, row: vec![libm::sin(t), libm::cos(t), -libm::sin(t)] };
        };
        let mut first = Node::default();
        at(0.0, &mut first);
        dense.push(&first);
        for end in [3.0, 6.0, 9.0] {
            dense.extend(end, 1e-10, &mut at);
        }
        assert!(dense.t.len() > 20, "{}", dense.t.len());
        for i in 0..=900 {
            let t = 0.01 * f64::from(i);
            // The error of the middle bounds that of a quintic elsewhere.
            assert!((dense.value(0, Order::Position, t) - libm::sin(t)).abs() < 2e-10, "{t}");
            assert!((dense.value(0, Order::Velocity, t) - libm::cos(t)).abs() < 1e-8, "{t}");
            assert!(
                (dense.value(0, Order::Acceleration, t) + libm::sin(t)).abs() < 1e-6,
                "{t}"
            );
        }
        assert!(dense.value(0, Order::Position, 9.1).is_nan());
        assert!(dense.value(0, Order::Position, -0.1).is_nan());
    }

    #[test]
    fn one_node_is_a_state() {
        let mut dense = Dense::new(2);
        dense.push(&Node { t: 1.0, row: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] });
        assert_eq!(dense.value(1, Order::Velocity, 1.0), 4.0);
        assert!(Dense::new(2).value(0, Order::Position, 0.0).is_nan());
    }
}
