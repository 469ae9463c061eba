//! A path: states on a mesh, and for collocation the slopes between them.

use crate::bvp::BoundaryProblem;
use crate::ode::system::EvalError;

/// States at the points of a mesh from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryPath {
    /// Ascending, the first 0 and the last 1.
    pub mesh: Vec<f64>,
    /// One state after another.
    pub nodes: Vec<f64>,
    /// The slopes at the Gauss points of each interval, one after another; empty for shooting.
    pub slopes: Vec<f64>,
}

impl BoundaryPath {
    /// A path on an even mesh from a function of $s$.
    pub fn even(intervals: usize, state: &mut dyn FnMut(f64) -> Vec<f64>) -> Self {
        let intervals = intervals.max(1);
        let mesh: Vec<f64> = (0..=intervals).map(|i| i as f64 / intervals as f64).collect();
        let nodes = mesh.iter().flat_map(|&s| state(s)).collect();
        Self { mesh, nodes, slopes: Vec::new() }
    }

    /// Number of intervals.
    pub fn intervals(&self) -> usize {
        self.mesh.len() - 1
    }

    /// Number of components of a state.
    pub fn dimension(&self) -> usize {
        self.nodes.len() / self.mesh.len()
    }

    /// The state at a point of the mesh.
    pub fn node(&self, i: usize) -> &[f64] {
        let d = self.dimension();
        &self.nodes[i * d..(i + 1) * d]
    }

    /// The state at the start.
    pub fn first(&self) -> &[f64] {
        self.node(0)
    }

    /// The state at the end.
    pub fn last(&self) -> &[f64] {
        self.node(self.intervals())
    }

    /// The largest magnitude of each component along the path, plus one.
    pub(crate) fn scales(&self) -> Vec<f64> {
        let d = self.dimension();
        let mut scales = vec![1.0; d];
        for node in self.nodes.chunks(d) {
            scales.iter_mut().zip(node).for_each(|(s, y)| *s = f64::max(*s, 1.0 + y.abs()));
        }
        scales
    }

    /// The slopes at the given parts of each interval, from the rates at states interpolated between the nodes.
    pub(crate) fn with_slopes(
        mut self,
        problem: &mut dyn BoundaryProblem,
        points: &[f64],
    ) -> Result<Self, EvalError> {
        let d = self.dimension();
        let count = self.intervals() * points.len() * d;
        if self.slopes.len() == count {
            return Ok(self);
        }
        let mut slopes = Vec::with_capacity(count);
        let (mut y, mut f) = (vec![0.0; d], vec![0.0; d]);
        problem.rewind();
        for i in 0..self.intervals() {
            let (a, b) = (self.node(i), self.node(i + 1));
            for &c in points {
                for k in 0..d {
                    y[k] = a[k] + c * (b[k] - a[k]);
                }
                let s = self.mesh[i] + c * (self.mesh[i + 1] - self.mesh[i]);
                problem.rates(s, &y, &mut f)?;
                slopes.extend_from_slice(&f);
            }
        }
        self.slopes = slopes;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ẏ = (y₂ + s, 3y₁).
    struct Linear;

    impl BoundaryProblem for Linear {
        fn dimension(&self) -> usize {
            2
        }

        fn conditions(&self) -> usize {
            0
        }

        fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
            rates.copy_from_slice(&[y[1] + s, 3.0 * y[0]]);
            Ok(())
        }

        fn jacobian(
            &mut self,
            _: f64,
            _: &[f64],
            _: &mut [f64],
            _: &mut [f64],
        ) -> Result<(), EvalError> {
            unreachable!("nobody asks for it")
        }

        fn ends(&mut self, _: &[f64], _: &[f64], _: &mut [f64]) -> Result<(), EvalError> {
            unreachable!("nobody asks for it")
        }

        fn ends_jacobian(
            &mut self,
            _: &[f64],
            _: &[f64],
            _: &mut [f64],
            _: &mut [f64],
        ) -> Result<(), EvalError> {
            unreachable!("nobody asks for it")
        }
    }

    /// On a straight path the states between the nodes are those of the line, and the slopes the rates there.
    #[test]
    fn slopes_are_rates_on_the_lines_between_the_nodes() {
        let line = |s: f64| vec![5.0 - 2.0 * s, 1.0 + 8.0 * s];
        let mut path = BoundaryPath::even(4, &mut |s| line(s));
        path.mesh[1] = 0.125;
        path.nodes[2..4].copy_from_slice(&line(0.125));
        let points = [0.25, 0.5];
        let path = path.with_slopes(&mut Linear, &points).expect("it has values");
        let mut found = path.slopes.chunks(2);
        for pair in path.mesh.windows(2) {
            for c in points {
                let s = pair[0] + c * (pair[1] - pair[0]);
                let y = line(s);
                // All numbers are sums of few powers of two.
                assert_eq!(found.next(), Some(&[y[1] + s, 3.0 * y[0]][..]), "{s}");
            }
        }
        assert_eq!(found.next(), None);
        assert_eq!(path.scales(), [6.0, 10.0]);
    }
}
