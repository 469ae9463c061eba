//! Whether an equilibrium of the quotient is stable, and how that is known.
//!
//! | eigenvalues | verdict |
//! |---|---|
//! | one with a positive real part | unstable |
//! | all with negative real parts | asymptotically stable |
//! | besides, zeros that belong to a family of equilibria | stable |
//! | imaginary ones, and energy and momenta are definite | stable |
//! | one imaginary pair, the rest a family, and the flow is reversible | stable: all motions nearby are periodic |
//! | imaginary ones that differ, and the equations are linear | stable |
//! | anything else | undecided |

use pfaff_solver::{eigenvector, singular_values};

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::quotient::{Quotient, scattered};

/// Eigenvalues below this part of the largest are zero: a double one is found to half of the digits.
const ZERO: f64 = 1e-7;
/// Real parts below this part of the largest eigenvalue vanish.
const NEUTRAL: f64 = 1e-10;
/// The same for eigenvalues that nearly coincide.
const NEUTRAL_DOUBLE: f64 = 1e-6;
/// How far a family of equilibria is followed to see that it is one.
const STEP: f64 = 1e-3;
/// How far it may bend away from its tangent there, in parts of that: less than all the way back.
const BENT: f64 = 0.3;

/// Whether a steady motion is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// What begins nearby stays nearby.
    Stable,
    /// And returns.
    AsymptoticallyStable,
    /// Some of what begins nearby leaves.
    Unstable,
    /// Not known.
    Undecided,
}

impl Stability {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::AsymptoticallyStable => "asymptotically stable",
            Self::Unstable => "unstable",
            Self::Undecided => "undecided",
        }
    }
}

/// How the verdict is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StabilityReason {
    /// An eigenvalue has a positive real part.
    Growth,
    /// All real parts are negative.
    Decay,
    /// All real parts are negative but those of zeros, which belong to a family of equilibria of this dimension.
    Family(usize),
    /// Energy and momenta are definite.
    Energy,
    /// The flow is reversible, and every motion nearby is periodic.
    Reversible,
    /// The equations are linear, and no imaginary eigenvalue is there twice.
    Linear,
    /// Nothing can move.
    Fixed,
    /// The linear equations do not decide: imaginary eigenvalues.
    Oscillation,
    /// The linear equations do not decide: eigenvalues are zero that belong to no family.
    Degenerate,
    /// The state is no equilibrium.
    NoEquilibrium,
    /// The equations contain time explicitly.
    ExplicitTime,
}

/// The largest magnitude of eigenvalues.
fn radius(values: &[[f64; 2]]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(libm::hypot(v[0], v[1])))
}

/// Which of the eigenvalues are zero.
pub(crate) fn zeros(values: &[[f64; 2]]) -> Vec<bool> {
    let ρ = radius(values);
    values.iter().map(|v| libm::hypot(v[0], v[1]) <= ZERO * ρ).collect()
}

/// The signs of the real parts, zero where they vanish to rounding.
pub(crate) fn growth(values: &[[f64; 2]]) -> Vec<i8> {
    let ρ = radius(values);
    let is_double = |i: usize| {
        let other = |j: usize| {
            let (a, b) = (values[i], values[j]);
            libm::hypot(a[0] - b[0], a[1] - b[1]) <= NEUTRAL_DOUBLE * ρ
        };
        (0..values.len()).any(|j| j != i && other(j))
    };
    let sign = |(i, (v, zero)): (usize, (&[f64; 2], bool))| {
        let limit = if is_double(i) { NEUTRAL_DOUBLE } else { NEUTRAL };
        if zero || v[0].abs() <= limit * ρ { 0 } else { v[0].signum() as i8 }
    };
    values.iter().zip(zeros(values)).enumerate().map(sign).collect()
}

/// The dimension of the family of equilibria through one, and the verdict.
pub(crate) fn judge(
    field: &mut Field,
    quotient: &Quotient,
    point: &FieldPoint,
    values: &[[f64; 2]],
    is_energy_definite: impl FnOnce(&mut Field) -> bool,
) -> (usize, Stability, StabilityReason) {
    use {Stability as S, StabilityReason as R};
    let Some(here) = quotient.point(point) else {
        return (0, S::Undecided, R::Degenerate);
    };
    if field.has_time {
        return (0, S::Undecided, R::ExplicitTime);
    }
    if !here.is_equilibrium() {
        return (0, S::Undecided, R::NoEquilibrium);
    }
    if values.is_empty() {
        return (0, S::Stable, R::Fixed);
    }
    let w = values.len();
    let kernel = kernel(&here.matrix, w);
    let family = kernel.iter().filter(|along| continues(field, quotient, point, along)).count();
    // What is zero but for the rounding of the matrix, of which a double eigenvalue feels the root.
    let values = &without_rounding(values, family, &here.matrix);
    let zero = zeros(values).into_iter().filter(|z| *z).count();
    let growth = growth(values);
    if growth.contains(&1) {
        return (family, S::Unstable, R::Growth);
    }
    let neutral = growth.iter().filter(|g| **g == 0).count();
    if neutral == 0 {
        return (0, S::AsymptoticallyStable, R::Decay);
    }
    if neutral == zero && zero == family {
        return (family, S::Stable, R::Family(family));
    }
    if is_energy_definite(field) {
        return (family, S::Stable, R::Energy);
    }
    if family + 2 == w && zero == family {
        let pair = values.iter().copied().find(|v| v[1] > 0.0);
        if pair.is_some_and(|pair| is_reversible(field, quotient, point, pair, &kernel)) {
            return (family, S::Stable, R::Reversible);
        }
    }
    if zero == family && are_simple(values) && is_linear(field, quotient, point) {
        return (family, S::Stable, R::Linear);
    }
    let reason = if zero > family { R::Degenerate } else { R::Oscillation };
    (family, S::Undecided, reason)
}

/// Whether no two oscillations that do not decay have the same eigenvalue: a double one may grow with time.
fn are_simple(values: &[[f64; 2]]) -> bool {
    let ρ = radius(values);
    let growth = growth(values);
    let lasting = || values.iter().zip(&growth).filter(|(v, g)| **g == 0 && v[1] != 0.0);
    lasting().enumerate().all(|(i, (a, _))| {
        let mut others = lasting().enumerate().filter(|(j, _)| *j != i);
        others.all(|(_, (b, _))| libm::hypot(a[0] - b[0], a[1] - b[1]) > 1e-4 * ρ)
    })
}

/// Whether the flow is linear: its matrix is the same at states around.
fn is_linear(field: &mut Field, quotient: &Quotient, point: &FieldPoint) -> bool {
    let Some(here) = quotient.point(point) else { return false };
    let size = here.matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let others = scattered(field, &quotient.chart, point);
    others.len() >= 2
        && others.iter().all(|at| {
            quotient.point(at).is_some_and(|there| {
                let mut entries = there.matrix.iter().zip(&here.matrix);
                entries.all(|(a, b)| (a - b).abs() <= 1e-12 * size)
            })
        })
}

/// Eigenvalues, with those as zero that a family of equilibria explains: as many as it has dimensions, and others that
/// are no larger.
pub(crate) fn without_rounding(
    values: &[[f64; 2]],
    family: usize,
    matrix: &[f64],
) -> Vec<[f64; 2]> {
    /// The root of the rounding of a matrix, in parts of its size, and how much larger than the others of a family one
    /// may be.
    const ROOT: f64 = 1e-6;
    const LARGER: f64 = 10.0;
    let size = |v: &[f64; 2]| libm::hypot(v[0], v[1]);
    let mut sizes: Vec<f64> = values.iter().map(size).collect();
    sizes.sort_by(f64::total_cmp);
    let Some(last) = family.checked_sub(1).and_then(|last| sizes.get(last)) else {
        return values.to_vec();
    };
    let whole = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let limit = (LARGER * last).min(ROOT * whole);
    values.iter().map(|v| if size(v) <= limit { [0.0, 0.0] } else { *v }).collect()
}

/// How often zero is an eigenvalue of a matrix: in how many directions it vanishes, and with those that its powers take
/// to zero, which rounding moves away from zero by its root.
pub(crate) fn zero_multiplicity(matrix: &[f64], w: usize) -> (usize, usize) {
    /// Rounding of a product of matrices, in parts of its size, and the longest chain that is looked for.
    const ROUNDING: f64 = 1e-14;
    const CHAIN: usize = 4;
    let directions = kernel(matrix, w).len();
    let size = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if directions == 0 || size == 0.0 {
        return (directions, directions);
    }
    let unit: Vec<f64> = matrix.iter().map(|x| x / size).collect();
    let (mut power, mut found) = (unit.clone(), directions);
    for _ in 1..CHAIN {
        let entry = |at: usize| -> f64 {
            (0..w).map(|k| power[at / w * w + k] * unit[k * w + at % w]).sum()
        };
        power = (0..w * w).map(entry).collect();
        let values = singular_values(&power, w, w).values;
        let more = values.iter().filter(|s| **s <= ROUNDING * w as f64).count();
        if more <= found {
            break;
        }
        found = more;
    }
    (directions, found)
}

/// Eigenvalues, with those as zeros that are zero more often than in so many directions: rounding moves them away from
/// zero by its root, but not their sum, unlike a small eigenvalue beside a zero.
pub(crate) fn with_zeros(
    values: &[[f64; 2]],
    (directions, zeros): (usize, usize),
    matrix: &[f64],
) -> Vec<[f64; 2]> {
    /// The root of the rounding of a matrix, and the rounding of a sum, in parts of its size.
    const ROOT: f64 = 1e-6;
    const SUM: f64 = 1e-13;
    let whole = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let size = |k: usize| libm::hypot(values[k][0], values[k][1]);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| size(a).total_cmp(&size(b)));
    let mut found = values.to_vec();
    for count in (directions + 1..=zeros.min(values.len())).rev() {
        let least = &order[..count];
        let sum: f64 = least.iter().map(|&k| values[k][0]).sum();
        if sum.abs() <= SUM * whole && least.iter().all(|&k| size(k) <= ROOT * whole) {
            least.iter().for_each(|&k| found[k] = [0.0, 0.0]);
            break;
        }
    }
    found
}

/// Directions along which the matrix vanishes.
pub(crate) fn kernel(matrix: &[f64], w: usize) -> Vec<Vec<f64>> {
    let split = singular_values(matrix, w, w);
    let largest = split.values.first().copied().unwrap_or(0.0);
    let flat = split.values.into_iter().zip(split.directions);
    flat.filter(|(s, _)| *s <= 1e-9 * largest).map(|(_, direction)| direction).collect()
}

/// Whether there are equilibria along a direction.
fn continues(
    field: &mut Field,
    quotient: &Quotient,
    point: &FieldPoint,
    along: &[f64],
) -> bool {
    let size = quotient.variables.iter().fold(1.0_f64, |m, &c| m.max(point.y[c].abs()));
    let mut y = point.y.clone();
    for (&c, x) in quotient.variables.iter().zip(along) {
        y[c] += STEP * size * x;
    }
    if quotient.chart.complete(field, point.t, &mut y).is_err() {
        return false;
    }
    let Ok(there) = field.at(point.t, &y) else { return false };
    let Some(settled) = quotient.settle(field, &there) else { return false };
    let moved = quotient.variables.iter().map(|&c| settled.y[c] - there.y[c]);
    moved.map(|x| x * x).sum::<f64>().sqrt() <= BENT * STEP * size
}

/// Whether reversing the sign of one variable, counted from the equilibrium, reverses the flow, keeps the family and
/// turns the oscillation: then each motion nearby meets the states that stay fixed twice, and is periodic.
fn is_reversible(
    field: &mut Field,
    quotient: &Quotient,
    point: &FieldPoint,
    pair: [f64; 2],
    kernel: &[Vec<f64>],
) -> bool {
    let w = quotient.variables.len();
    let Some(matrix) = quotient.point(point).map(|here| here.matrix) else { return false };
    let Some(mode) = eigenvector(w, &matrix, pair) else { return false };
    let others = scattered(field, &quotient.chart, point);
    others.len() >= 2
        && (0..w).any(|i| {
            let turns = mode.components[i].iter().any(|x| x.abs() > 1e-6);
            let keeps = kernel.iter().all(|along| along[i].abs() < 1e-9);
            turns && keeps && others.iter().all(|at| is_mirrored(field, quotient, point, at, i))
        })
}

/// Whether the flow at the mirrored state is the mirrored flow, backward.
fn is_mirrored(
    field: &mut Field,
    quotient: &Quotient,
    centre: &FieldPoint,
    at: &FieldPoint,
    i: usize,
) -> bool {
    let c = quotient.variables[i];
    let mut y = at.y.clone();
    y[c] = 2.0 * centre.y[c] - y[c];
    if quotient.chart.complete(field, at.t, &mut y).is_err() {
        return false;
    }
    let Ok(rates) = field.rates(at.t, &y) else { return false };
    let size = quotient.variables.iter().fold(0.0_f64, |m, &k| m.max(at.rates[k].abs()));
    quotient.variables.iter().all(|&k| {
        let sign = if k == c { 1.0 } else { -1.0 };
        (rates[k] - sign * at.rates[k]).abs() <= 1e-8 * size
    })
}
