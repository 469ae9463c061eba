//! The path at which a search begins, from the ends and from what the user gives.

use pfaff_expr::Table;
use pfaff_model::Quantity;
use pfaff_solver::{BoundaryPath, BoundaryProblem};

use crate::problem::guess::Guess;
use crate::run::bvp::canonical::Canonical;

/// Pieces of a path.
pub(crate) const PIECES: usize = 8;

/// The path at which a search begins; only the first state of it counts if the second is true.
pub(crate) fn first_path(guess: &Guess, problem: &mut Canonical) -> (BoundaryPath, bool) {
    match guess {
        Guess::Start(values) => (start(problem, values), true),
        Guess::Motion { positions, velocities, multipliers } => {
            (motion(problem, positions, velocities, multipliers), false)
        }
    }
}

fn start(problem: &mut Canonical, values: &[(Quantity, f64)]) -> BoundaryPath {
    let (mut q, q1, mut duration) = straight_ends(problem);
    let mut v: Vec<f64> = q.iter().zip(&q1).map(|(a, b)| (b - a) / duration).collect();
    let mut μ = vec![0.0; problem.m];
    let t0 = problem.conditions.t0;
    for &(quantity, value) in values {
        match quantity {
            Quantity::Coordinate(k, 0) => {
                q[k] = problem.conditions.first[k].unwrap_or(value / problem.units.lengths[k]);
            }
            Quantity::Coordinate(k, 1) => v[k] = value / problem.units.velocity(k),
            Quantity::Multiplier(a) => μ[a] = value / problem.units.multiplier(a),
            Quantity::Time if value / problem.units.time > t0 => {
                duration = value / problem.units.time - t0;
            }
            Quantity::Coordinate(..) | Quantity::Time => {}
        }
    }
    let y = state(problem, PathPoint { t: t0, q: &q, v: &v, multipliers: &μ }, duration);
    problem.branch = [v, μ].concat();
    BoundaryPath::even(PIECES, &mut |_| y.clone())
}

fn motion(
    problem: &mut Canonical,
    positions: &[Table],
    velocities: &[(usize, Table)],
    multipliers: &[(usize, Table)],
) -> BoundaryPath {
    let units = problem.units.clone();
    let (from, to) = positions.first().map_or((0.0, units.time), Table::range);
    let (from, to) = (from / units.time, to / units.time);
    let (t0, duration) = (problem.conditions.t0, to - from);
    // NOTE: the table may last longer or shorter than the motion that is looked for.
    let pace = duration / problem.conditions.duration.unwrap_or(duration);
    let mut first = None;
    let path = BoundaryPath::even(PIECES, &mut |s| {
        // NOTE: units are powers of two, so that the ends of the table are met.
        let t = units.time * (from + s * duration).clamp(from, to);
        let place = |(c, unit): (&Table, &f64)| c.value(0, t) / unit;
        let q: Vec<f64> = positions.iter().zip(&units.lengths).map(place).collect();
        let velocity = |(k, c): (usize, &Table)| pace * c.value(1, t) / units.velocity(k);
        let mut v: Vec<f64> = positions.iter().enumerate().map(velocity).collect();
        velocities.iter().for_each(|(k, c)| v[*k] = pace * c.value(0, t) / units.velocity(*k));
        let mut μ = vec![0.0; problem.m];
        multipliers.iter().for_each(|(a, c)| μ[*a] = c.value(0, t) / units.multiplier(*a));
        let at = PathPoint { t: t0 + s * duration / pace, q: &q, v: &v, multipliers: &μ };
        let y = state(problem, at, duration);
        first.get_or_insert_with(|| [v, μ].concat());
        y
    });
    problem.branch = first.unwrap_or_default();
    path
}

/// Positions where nothing is known of them, and the duration.
pub(crate) fn straight_ends(problem: &Canonical) -> (Vec<f64>, Vec<f64>, f64) {
    let c = &problem.conditions;
    let pair = |a: &[Option<f64>], b: &[Option<f64>]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a.or(*b).unwrap_or(0.0)).collect()
    };
    (pair(&c.first, &c.towards), pair(&c.towards, &c.first), c.guess)
}

/// A point of a path before it has momenta.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathPoint<'a> {
    pub(crate) t: f64,
    pub(crate) q: &'a [f64],
    pub(crate) v: &'a [f64],
    pub(crate) multipliers: &'a [f64],
}

/// $(q, p, c, T)$ from $(q, \dot q, \mu)$
pub(crate) fn state(problem: &mut Canonical, at: PathPoint<'_>, duration: f64) -> Vec<f64> {
    let PathPoint { t, q, v, multipliers: μ } = at;
    let d = problem.dimension();
    let p = problem.momenta(t, q, v, μ);
    let mut y = [q, &p].concat();
    y.resize(d, 0.0);
    if problem.conditions.duration.is_none() {
        y[d - 1] = duration;
    }
    y
}
