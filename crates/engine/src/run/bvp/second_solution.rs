//! The same problem solved once more by the other method: how far the motion is from it.
//!
//! The motion that is shown is integrated from the start of the first solution. What the second one, by
//! collocation where the first was by shooting and the other way round, has at its nodes is independent of both.
//! The distance is the error of the worse one.

use pfaff_solver::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, Scheme, flow_map, solve_boundary,
};

use crate::motion::Motion;
use crate::motion::dense::Order;
use crate::run::bvp::canonical::Canonical;

/// Nodes at which collocation begins: polynomials need more of them than integrations.
const NODES: usize = 64;

/// The path of the other method; none if it does not converge.
pub(crate) fn second_solution(
    problem: &mut Canonical,
    path: &BoundaryPath,
) -> Option<BoundaryPath> {
    let (scheme, tolerance, pieces) = if path.slopes.is_empty() {
        (Scheme::Collocation { stages: 5, adaptive: true }, 1e-8, NODES)
    } else {
        (Scheme::Shooting, 1e-13, NODES / 4)
    };
    let options = BoundaryOptions { scheme, tolerance, ..BoundaryOptions::default() };
    let d = problem.dimension();
    let along = flow_map(problem, path.first(), 1e-10).ok()?;
    let start = BoundaryPath::even(pieces, &mut |s| {
        along.trajectory.state(s).map_or_else(|| along.last.clone(), |y| y[..d].to_vec())
    });
    let report = solve_boundary(problem, start, &options).ok()?;
    report.converged.then_some(report.path)
}

/// How far a motion is from a path, at its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    /// The largest distance of each coordinate.
    by_coordinate: Vec<f64>,
    /// The largest of all, in parts of the sizes of the coordinates.
    pub(crate) largest: f64,
}

impl Distances {
    /// None if the motion does not go all the way.
    pub(crate) fn new(
        problem: &Canonical,
        motion: &Motion,
        path: &BoundaryPath,
        sizes: &[f64],
    ) -> Option<Self> {
        let (n, end) = (problem.n, motion.stop.t);
        let mut found = Self { by_coordinate: vec![0.0; n], largest: 0.0 };
        for (i, &s) in path.mesh.iter().enumerate() {
            let y = path.node(i);
            let t = problem.units.time * problem.time(s, y);
            // The end is t₀ + T with the roundings of another order.
            let t = if i == path.intervals()
                && (t - end).abs() <= 1e-9 * (end.abs() + problem.units.time)
            {
                end
            } else {
                t
            };
            // NOTE: momenta may be undetermined; positions are what both must give.
            for k in 0..n {
                let x = problem.units.lengths[k] * y[k];
                let apart = (motion.dense.value(k, Order::Position, t) - x).abs();
                if apart.is_nan() {
                    return None;
                }
                found.by_coordinate[k] = found.by_coordinate[k].max(apart);
            }
        }
        let parts = found.by_coordinate.iter().zip(sizes).map(|(apart, size)| apart / size);
        found.largest = parts.fold(0.0, f64::max);
        Some(found)
    }

    /// Makes estimates of the errors at least as large.
    pub(crate) fn add_to(&self, errors: &mut Vec<f64>) {
        errors.resize(self.by_coordinate.len(), 0.0);
        errors.iter_mut().zip(&self.by_coordinate).for_each(|(e, apart)| *e = e.max(*apart));
    }
}
