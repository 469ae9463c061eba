//! Arched curves between the ends: where a search begins that must not depend on momenta at the start.
//!
//! $$ q(s) = q_0 + s\,(q_1 - q_0) + a\,\sin(j\pi s) $$
//!
//! Where motions depend exponentially on their start, most of their time is spent near places at which
//! $L(q, 0)$ is stationary: the amplitudes $a$ reach those places, found along each coordinate line. An arch is
//! improved as it is, and also after it was led to a minimum of the action.

use pfaff_solver::{BoundaryPath, relaxed};

use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::conditions::Condition;
use crate::run::bvp::guess::{PIECES, PathPoint, state, straight_ends};

/// Amplitudes of all coordinates, and the number of half waves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arch {
    pub(crate) amplitude: Vec<f64>,
    pub(crate) waves: u32,
}

/// Places to each side of a coordinate that arches reach.
const SIDES: usize = 3;
/// Half waves of an arch, at most.
const WAVES: u32 = 3;
/// The search for such places goes from this part of the size of the ends to its inverse, by this factor.
const RANGE: (f64, f64) = (1e-9, 1.2);
/// Intervals of a curve that is led to a minimum.
pub(crate) const INTERVALS: usize = 12 * PIECES;

/// The arches of a problem.
pub(crate) fn arches(problem: &mut Canonical) -> Vec<Arch> {
    let n = problem.n;
    let mut amplitudes = Vec::new();
    for k in 0..n {
        for a in amplitudes_of(problem, k) {
            let mut amplitude = vec![0.0; n];
            amplitude[k] = a;
            amplitudes.push(amplitude);
        }
    }
    let of =
        |a: &Vec<f64>| (1..=WAVES).map(|waves| Arch { amplitude: a.clone(), waves }).collect();
    amplitudes.iter().flat_map::<Vec<Arch>, _>(of).collect()
}

/// Amplitudes for one coordinate.
fn amplitudes_of(problem: &mut Canonical, k: usize) -> Vec<f64> {
    let (q0, q1, duration) = straight_ends(problem);
    let middle: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| 0.5 * (a + b)).collect();
    let slope: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| (b - a) / duration).collect();
    let size =
        [q0[k].abs(), q1[k].abs(), (q1[k] - q0[k]).abs()].into_iter().fold(0.0, f64::max);
    let size = if size > 0.0 { size } else { 1.0 };
    let t = problem.conditions.t0 + 0.5 * duration;
    let mut all = vec![size, -size];
    for sign in [1.0, -1.0] {
        let mut places: Vec<f64> = Vec::new();
        for v in [vec![0.0; slope.len()], slope.clone()] {
            places.extend(stationary(size, &mut |offset| {
                let mut q = middle.clone();
                q[k] += sign * offset;
                problem.push(t, &q, &v)[k]
            }));
        }
        places.sort_by(f64::total_cmp);
        places.dedup_by(|a, b| (*a - *b).abs() <= 1e-3 * *b);
        all.extend(places.into_iter().take(SIDES).map(|a| sign * a));
    }
    all
}

/// Positive offsets at which a function changes its sign, smallest first.
fn stationary(size: f64, function: &mut dyn FnMut(f64) -> f64) -> Vec<f64> {
    let mut found = Vec::new();
    let mut a = RANGE.0 * size;
    let mut at_a = function(a);
    while a * RANGE.0 < size && found.len() < SIDES {
        let b = RANGE.1 * a;
        let at_b = function(b);
        if at_a * at_b < 0.0 {
            let (mut low, mut high) = (a, b);
            for _ in 0..20 {
                let half = 0.5 * (low + high);
                if function(half) * at_a > 0.0 {
                    low = half;
                } else {
                    high = half;
                }
            }
            found.push(0.5 * (low + high));
        }
        (a, at_a) = (b, at_b);
    }
    found
}

/// An arch as a curve of positions, one node after another on an even mesh.
pub(crate) fn curve(problem: &Canonical, arch: &Arch) -> Vec<f64> {
    let (q0, q1, _) = straight_ends(problem);
    let wave = std::f64::consts::PI * f64::from(arch.waves);
    let mut nodes = Vec::with_capacity((INTERVALS + 1) * problem.n);
    for i in 0..=INTERVALS {
        let s = i as f64 / INTERVALS as f64;
        let bend = if i == INTERVALS { 0.0 } else { libm::sin(wave * s) };
        nodes.extend(
            (0..problem.n).map(|k| q0[k] + s * (q1[k] - q0[k]) + arch.amplitude[k] * bend),
        );
    }
    nodes
}

/// A curve led to a minimum of the action; none where there is none, or where not all curves are admissible.
pub(crate) fn least(problem: &mut Canonical, nodes: &[f64]) -> Option<Vec<f64>> {
    let duration = problem.conditions.duration?;
    let ordinary = |c: &Condition| {
        matches!(c, Condition::Start { .. } | Condition::End { .. } | Condition::Natural { .. })
    };
    if !problem.is_unconstrained() || !problem.conditions.list.iter().all(ordinary) {
        return None;
    }
    let given =
        |values: &[Option<f64>]| values.iter().map(Option::is_some).collect::<Vec<bool>>();
    let fixed = [given(&problem.conditions.first), given(&problem.conditions.last)];
    relaxed(&mut problem.action(duration), nodes, [&fixed[0], &fixed[1]])
}

/// Whether two curves go to the same minimum.
pub(crate) fn is_near(a: &[f64], b: &[f64]) -> bool {
    let largest =
        |curve: &mut dyn Iterator<Item = f64>| curve.fold(0.0_f64, |m, x| m.max(x.abs()));
    let apart = largest(&mut a.iter().zip(b).map(|(a, b)| a - b));
    apart <= 1e-2 * largest(&mut a.iter().chain(b).copied())
}

/// A curve with its momenta, as a path of so many pieces for a search.
pub(crate) fn path(problem: &mut Canonical, nodes: &[f64], pieces: usize) -> BoundaryPath {
    let (n, duration) = (problem.n, problem.conditions.guess);
    let t0 = problem.conditions.t0;
    let μ = vec![0.0; problem.m];
    let stride = INTERVALS / pieces;
    let at = |i: usize| &nodes[i * n..(i + 1) * n];
    let mut states = Vec::with_capacity(pieces + 1);
    for piece in 0..=pieces {
        let i = piece * stride;
        let (before, after) = (i.saturating_sub(1), (i + 1).min(INTERVALS));
        let step = (after - before) as f64 * duration / INTERVALS as f64;
        let v: Vec<f64> =
            at(after).iter().zip(at(before)).map(|(b, a)| (b - a) / step).collect();
        if piece == 0 {
            problem.branch = [v.as_slice(), &μ].concat();
        }
        let t = t0 + duration * i as f64 / INTERVALS as f64;
        states.push(state(
            problem,
            PathPoint { t, q: at(i), v: &v, multipliers: &μ },
            duration,
        ));
    }
    let mut states = states.into_iter();
    BoundaryPath::even(pieces, &mut |_| states.next().unwrap_or_default())
}
