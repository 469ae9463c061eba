//! How large the units of a boundary value problem are.
//!
//! $T$ is the duration, $U_k$ the size of the ends, $S = E\,T$ with the kinetic energy $E = \max_k M_{kk} (U_k/T)^2$.
//! Where both ends of a coordinate are zero, $U_k = T\sqrt{E/M_{kk}}$: it moves with the energy of the others; where
//! all are, $U_k$ is the nearest place at which the force along the coordinate vanishes.

use crate::problem::guess::Guess;
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::guess::{first_path, straight_ends};
use crate::run::bvp::units::Units;

/// The units in which a search begins: from the guess, or the straight line between the ends.
pub(crate) fn natural_units(stated: &mut Canonical, guess: Option<&Guess>) -> Units {
    let n = stated.n;
    let (q0, q1, mut duration) = straight_ends(stated);
    let mut nodes = [q0, q1].concat();
    if let Some(guess) = guess {
        let branch = stated.branch.clone();
        let (path, _) = first_path(guess, stated);
        stated.branch = branch;
        duration = stated.duration(path.first());
        let places = (0..=path.intervals()).flat_map(|i| path.node(i)[..n].to_vec());
        nodes.splice(n..n, places);
    }
    measured(stated, &nodes, duration)
}

/// A coordinate whose ends are smaller than this part of what the energy of the others would give it is measured by
/// that: it will hardly stay so small on its way.
const SMALL: f64 = 1e-3;

/// The units of a problem (in the units of its model) that begins with these positions, one state after another.
fn measured(problem: &mut Canonical, nodes: &[f64], duration: f64) -> Units {
    let (n, m) = (problem.n, problem.m);
    let mut sizes = vec![0.0_f64; n];
    for q in nodes.chunks(n) {
        sizes.iter_mut().zip(q).for_each(|(s, q)| *s = s.max(q.abs()));
    }
    let (first, last) = (&nodes[..n], &nodes[nodes.len() - n..]);
    let middle: Vec<f64> = first.iter().zip(last).map(|(a, b)| 0.5 * (a + b)).collect();
    let slope: Vec<f64> = first.iter().zip(last).map(|(a, b)| (b - a) / duration).collect();
    let t = problem.conditions.t0 + 0.5 * duration;
    if sizes.iter().all(|size| *size == 0.0) {
        sizes = (0..n).map(|k| stationary_place(problem, t, k).unwrap_or(0.0)).collect();
    }
    let form = problem.form_at(t, &middle, &slope);
    let mass = |k: usize| finite(form.mass[k * n + k]).abs();
    let energies = (0..n).map(|k| mass(k) * (sizes[k] / duration).powi(2));
    let energy = energies.fold(0.0, f64::max);
    let most = sizes.iter().fold(0.0_f64, |m, s| m.max(*s));
    let lengths = (0..n).map(|k| {
        let moved = duration * (energy / mass(k)).sqrt();
        if moved.is_finite() && moved > 0.0 && sizes[k] < SMALL * moved {
            moved
        } else if sizes[k] > 0.0 {
            sizes[k]
        } else {
            most
        }
    });
    let lengths: Vec<f64> = lengths.map(power_of_two).collect();
    let time = power_of_two(duration);
    let along = |k: usize| finite(form.momenta[k]).abs() * sizes[k];
    let action =
        if energy > 0.0 { energy * duration } else { (0..n).map(along).fold(0.0, f64::max) };
    let residual = |a: usize| {
        let row = &form.rows[a * n..(a + 1) * n];
        let largest =
            row.iter().zip(&lengths).fold(0.0_f64, |m, (x, u)| m.max(finite(*x).abs() * u));
        power_of_two(largest / time)
    };
    let residuals = (0..m).map(residual).collect();
    Units { lengths, time, action: power_of_two(action), residuals }
}

/// Where on a coordinate line from the origin the force along it first changes its sign: the size of a problem whose
/// ends are all zero.
fn stationary_place(problem: &mut Canonical, t: f64, k: usize) -> Option<f64> {
    // Between sizes of atoms and of galaxies, in whatever unit.
    const RANGE: (f64, f64) = (1e-35, 1e35);
    const FACTOR: f64 = 1.2;
    let rest = vec![0.0; problem.n];
    let mut force = |offset: f64| {
        let mut q = rest.clone();
        q[k] = offset;
        problem.push(t, &q, &rest)[k]
    };
    let mut first = |sign: f64| {
        let (mut a, mut before) = (RANGE.0, force(sign * RANGE.0));
        while a < RANGE.1 {
            let here = force(sign * FACTOR * a);
            if before * here < 0.0 {
                return Some(a);
            }
            (a, before) = (FACTOR * a, here);
        }
        None
    };
    let (above, below) = (first(1.0), first(-1.0));
    above.into_iter().chain(below).min_by(f64::total_cmp)
}

/// What has no value counts for nothing here.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// The largest power of two below a size; one where there is no size.
fn power_of_two(size: f64) -> f64 {
    // Beyond these, squares of sizes leave the range of numbers.
    const RANGE: std::ops::Range<f64> = 1e-120..1e120;
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if RANGE.contains(&size) { f64::from_bits(size.to_bits() & EXPONENT) } else { 1.0 }
}
