//! The flow over one period, with its derivatives: what periodic motions are found and continued with.
//!
//! The variables are those $w$ that are left without cyclic coordinates, so that a motion that returns up to these
//! counts as periodic. A position on whose turns by $2\pi$ nothing depends is an angle, and returns up to whole turns.

use std::f64::consts::TAU;

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::{OdeOptions, StopReason, eigenvalues, integrate};

use crate::analysis::phase::field::FieldPoint;
use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::multiple_shooting::Node;
use crate::analysis::phase::quotient::{Quotient, scattered};
use crate::analysis::phase::stability::Stability;
use crate::analysis::phase::symmetries::{AffineSymmetry, Carried, symmetries};
use crate::analysis::phase::tangent_flow::TangentFlow;
use crate::error::Failure;
use crate::model::Model;

/// Multipliers this near to the unit circle are on it: a double one is found to half of the digits.
const NEUTRAL: f64 = 1e-5;

/// Integrates a model over a period.
pub(crate) struct Shooter {
    pub(crate) phase: Phase,
    pub(crate) flow: TangentFlow,
    /// Whether the equations contain the time.
    pub(crate) is_driven: bool,
    /// Components of the state that are angles.
    angles: Vec<usize>,
    /// Symmetries by which a motion may be turned when it returns, and how far it is.
    pub(crate) turning: Vec<AffineSymmetry>,
    pub(crate) turned: Vec<f64>,
    /// Symmetries along which a periodic motion leads to others: it is held where it is.
    pub(crate) held: Vec<AffineSymmetry>,
    /// How many multipliers are 1 because a conserved quantity leads to other periodic motions, where that is known.
    pub(crate) kept: usize,
    tolerance: f64,
}

/// A motion over one period.
#[derive(Clone)]
pub(crate) struct Return {
    pub(crate) point: FieldPoint,
    pub(crate) end: FieldPoint,
    pub(crate) period: f64,
    /// $w(T) - w(0)$, up to whole turns.
    pub(crate) miss: Vec<f64>,
    /// $S = \partial w(T)/\partial w(0)$ by rows.
    pub(crate) matrix: Vec<f64>,
    /// The same over parts of the period, one after another, where it was found so, and where they begin.
    pub(crate) parts: Vec<Vec<f64>>,
    pub(crate) nodes: Vec<Node>,
    /// The end before it was turned back.
    pub(crate) landed: Vec<f64>,
    /// $\int\operatorname{div}$ over the period, the logarithm of the product of the multipliers.
    pub(crate) divergence: f64,
}

impl Shooter {
    /// For a model, and the quotient at a state.
    pub(crate) fn new(
        model: &Model,
        principle: Option<Principle>,
        backend: Option<Backend>,
        tolerance: f64,
        state: &dyn Fn(&Phase) -> Vec<f64>,
    ) -> Result<(Self, Quotient, FieldPoint), Failure> {
        let at = LinearizeRequest { principle, at: None, backend };
        let mut phase = Phase::new(model, &at)?;
        phase.y = state(&phase);
        let point = phase.point()?;
        let quotient = Quotient::at(&mut phase.field, &point).ok_or_else(|| {
            Failure::usage("the constraints are singular at the start of the search")
        })?;
        let w = quotient.variables.len();
        let backend = backend.unwrap_or_default();
        let flow =
            TangentFlow::along(&phase.model, &phase.dynamics, phase.field.clone(), backend, w)?;
        let angles = angles(&mut phase, &quotient, &point);
        let is_driven = phase.field.has_time;
        let quotient = quotient.moved(&phase.field, &point);
        let (turning, turned) = (Vec::new(), Vec::new());
        let held = moving_symmetries(&mut phase, &quotient, &point);
        let kept = 0;
        let shooter =
            Self { phase, flow, is_driven, angles, turning, turned, held, kept, tolerance };
        Ok((shooter, quotient, point))
    }

    /// Lets motions return up to turns of coordinates into each other, where these are symmetries.
    pub(crate) fn allow_turns(&mut self, quotient: &Quotient, point: &FieldPoint) {
        if self.is_driven {
            return;
        }
        self.turning = moving_symmetries(&mut self.phase, quotient, point);
        self.turned = vec![0.0; self.turning.len()];
    }

    /// Integrates over a period; `None` if that is not possible.
    pub(crate) fn shoot(
        &mut self,
        quotient: &Quotient,
        y: &[f64],
        period: f64,
    ) -> Option<Return> {
        self.shoot_from(quotient, (quotient, y), y, (self.phase.t, period), true)
    }

    /// From a time on, over a part of the period; measured from another state in the variables of its quotient. What
    /// ends the period is turned back.
    pub(crate) fn shoot_from(
        &mut self,
        quotient: &Quotient,
        (wanted, target): (&Quotient, &[f64]),
        y: &[f64],
        (t0, period): (f64, f64),
        ends: bool,
    ) -> Option<Return> {
        let point = self.phase.field.at(t0, y).ok()?;
        let tangent = quotient.point(&point)?.tangent;
        let (d, w) = (y.len(), quotient.variables.len());
        let mut state = y.to_vec();
        for j in 0..w {
            state.extend((0..d).map(|i| tangent[i * w + j]));
        }
        state.push(0.0);
        let options = OdeOptions {
            t0,
            t1: t0 + period,
            tolerance: self.tolerance,
            ..OdeOptions::default()
        };
        let outcome = integrate(&mut self.flow, &state, &options, &mut ());
        if outcome.stop != StopReason::End {
            return None;
        }
        let landed = outcome.y[..d].to_vec();
        let mut columns: Vec<Vec<f64>> =
            outcome.y[d..d * (1 + w)].chunks(d).map(<[f64]>::to_vec).collect();
        let mut last = landed.clone();
        if ends {
            last = self.turned_back(&last, true);
            columns = columns.iter().map(|x| self.turned_back(x, false)).collect();
        }
        let end = self.phase.field.at(t0 + period, &last).ok()?;
        let miss = |&c: &usize| {
            let moved = end.y[c] - target[c];
            let turns = if self.angles.contains(&c) { (moved / TAU).round() } else { 0.0 };
            moved - TAU * turns
        };
        let miss = wanted.variables.iter().map(miss).collect();
        let rows = wanted.variables.iter().flat_map(|&c| (0..w).map(move |j| (c, j)));
        let matrix = rows.map(|(c, j)| columns[j][c]).collect();
        let divergence = outcome.y.last().copied().unwrap_or(0.0);
        let (nodes, parts) = (Vec::new(), Vec::new());
        Some(Return { point, end, period, miss, matrix, parts, nodes, landed, divergence })
    }

    /// A state, or a direction, turned back at the end of a period.
    pub(crate) fn turned_back(&self, x: &[f64], is_state: bool) -> Vec<f64> {
        if self.turned.iter().all(|x| *x == 0.0) {
            return x.to_vec();
        }
        let field = &self.phase.field;
        let angles: Vec<f64> = self.turned.iter().map(|x| -x).collect();
        Carried::along(field, &self.turning, &angles).apply(field, x, is_state)
    }

    /// A difference of a component, less whole turns if it is an angle.
    pub(crate) fn less_turns(&self, c: usize, moved: f64) -> f64 {
        let turns = if self.angles.contains(&c) { (moved / TAU).round() } else { 0.0 };
        moved - TAU * turns
    }

    /// The state that is nearest to one with other values of $w$, on the constraints.
    pub(crate) fn moved(
        &mut self,
        quotient: &Quotient,
        y: &[f64],
        change: &[f64],
    ) -> Option<Vec<f64>> {
        let mut y = y.to_vec();
        quotient.variables.iter().zip(change).for_each(|(&c, δ)| y[c] += δ);
        let t = self.phase.t;
        quotient.chart.complete(&mut self.phase.field, t, &mut y).ok()?;
        Some(y)
    }

    /// Whether a motion has returned, with what follows from $w$ by the constraints on the same side as at the start.
    pub(crate) fn is_closed(&mut self, quotient: &Quotient, at: &Return, near: f64) -> bool {
        let limit = near * (1.0 + largest(&at.point.y));
        if largest(&at.miss) > limit {
            return false;
        }
        if self.phase.field.m == 0 {
            return true;
        }
        // The start, moved along with the cyclic coordinates.
        let mut y = at.point.y.clone();
        quotient.cyclic.iter().for_each(|&c| y[c] = at.end.y[c]);
        let t = at.end.t;
        quotient.chart.complete(&mut self.phase.field, t, &mut y).is_ok_and(|()| {
            let apart = |c: &usize| (y[*c] - at.end.y[*c]).abs() > limit.max(1e-6);
            let is_variable = |c: &usize| quotient.variables.contains(c);
            !(0..y.len()).filter(|c| !is_variable(c)).any(|c| apart(&c))
        })
    }
}

/// Floquet's multipliers, the largest first; which of them is 1 because the motion may start anywhere on its orbit; and
/// what they say about stability.
pub(crate) struct Multipliers {
    pub(crate) values: Vec<[f64; 2]>,
    pub(crate) trivial: Option<usize>,
    /// Those that are 1 because a symmetry or a conserved quantity leads to other periodic motions.
    pub(crate) symmetric: Vec<usize>,
    pub(crate) stability: Stability,
}

impl Multipliers {
    /// Of a motion over its period.
    pub(crate) fn of_return(found: &Return, w: usize, shooter: &Shooter) -> Option<Self> {
        if found.parts.is_empty() {
            Self::of(&found.matrix, w, shooter)
        } else {
            Self::of_parts(&found.parts, w, shooter)
        }
    }

    /// Of the matrices of some parts of a period, one after another.
    pub(crate) fn of_parts(parts: &[Vec<f64>], w: usize, shooter: &Shooter) -> Option<Self> {
        match parts {
            [matrix] => Self::of(matrix, w, shooter),
            _ => Some(Self::judged(product_eigenvalues(parts, w)?, shooter)),
        }
    }

    pub(crate) fn of(matrix: &[f64], w: usize, shooter: &Shooter) -> Option<Self> {
        Some(Self::judged(eigenvalues(w, matrix)?, shooter))
    }

    fn judged(mut values: Vec<[f64; 2]>, shooter: &Shooter) -> Self {
        let is_driven = shooter.is_driven;
        values.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
        let off = |k: &usize| libm::hypot(values[*k][0] - 1.0, values[*k][1]);
        let nearest = (0..values.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
        let trivial = nearest.filter(|_| !is_driven);
        let mut near: Vec<usize> =
            (0..values.len()).filter(|k| Some(*k) != trivial && off(k) < NEUTRAL).collect();
        near.sort_by(|a, b| off(a).total_cmp(&off(b)));
        near.truncate(shooter.held.len());
        let mut left: Vec<usize> =
            (0..values.len()).filter(|k| Some(*k) != trivial && !near.contains(k)).collect();
        left.sort_by(|a, b| off(a).total_cmp(&off(b)));
        near.extend(left.into_iter().take(shooter.kept));
        let (symmetric, stability) = (near, Stability::Undecided);
        let mut found = Self { values, trivial, symmetric, stability };
        let others: Vec<[f64; 2]> = found.others().collect();
        if others.iter().any(|v| size(v) > 1.0 + NEUTRAL) {
            found.stability = Stability::Unstable;
        } else if shooter.kept == 0 && others.iter().all(|v| size(v) < 1.0 - NEUTRAL) {
            found.stability = Stability::AsymptoticallyStable;
        }
        found
    }

    /// All but the trivial ones.
    pub(crate) fn others(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let all = self.values.iter().enumerate();
        all.filter(|(k, _)| Some(*k) != self.trivial && !self.symmetric.contains(k))
            .map(|(_, v)| *v)
    }
}

/// Eigenvalues of a product $S_N\cdots S_1$, each to its own digits: their $N$-th roots are the eigenvalues of the
/// cyclic matrix of the factors.
fn product_eigenvalues(parts: &[Vec<f64>], w: usize) -> Option<Vec<[f64; 2]>> {
    let (n, k) = (parts.len(), parts.len() * w);
    let mut cyclic = vec![0.0; k * k];
    for (part, matrix) in parts.iter().enumerate() {
        let (row, column) = ((part + 1) % n * w, part * w);
        for i in 0..w {
            for j in 0..w {
                cyclic[(row + i) * k + column + j] = matrix[i * w + j];
            }
        }
    }
    let power = |v: &[f64; 2]| {
        let (modulus, angle) = (libm::hypot(v[0], v[1]), libm::atan2(v[1], v[0]));
        let size = libm::pow(modulus, n as f64);
        [size * libm::cos(n as f64 * angle), size * libm::sin(n as f64 * angle)]
    };
    let mut left: Vec<[f64; 2]> = eigenvalues(k, &cyclic)?.iter().map(power).collect();
    left.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
    let mut found = Vec::new();
    // Each is there n times; the mean of those that are nearest to each other.
    while let Some(first) = left.first().copied() {
        let off = |v: &[f64; 2]| libm::hypot(v[0] - first[0], v[1] - first[1]);
        left.sort_by(|a, b| off(a).total_cmp(&off(b)));
        let count = n.min(left.len());
        let group: Vec<[f64; 2]> = left.drain(..count).collect();
        let mean = |i: usize| group.iter().map(|v| v[i]).sum::<f64>() / count as f64;
        let (re, im) = (mean(0), mean(1));
        found.push([re, if im.abs() < 1e-9 * re.abs() { 0.0 } else { im }]);
        left.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
    }
    Some(found)
}

/// The absolute value of a complex number.
pub(crate) fn size(v: &[f64; 2]) -> f64 {
    libm::hypot(v[0], v[1])
}

/// The largest magnitude.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0_f64, |m, x| m.max(x.abs()))
}

/// Symmetries that turn or shift several coordinates together and move the variables of a state, now and later.
fn moving_symmetries(
    phase: &mut Phase,
    quotient: &Quotient,
    point: &FieldPoint,
) -> Vec<AffineSymmetry> {
    let mut all = symmetries(&mut phase.field, &quotient.chart, point);
    if phase.field.has_time && !all.is_empty() {
        let later = phase.field.at(point.t + 0.37, &point.y);
        let known = later.map(|later| symmetries(&mut phase.field, &quotient.chart, &later));
        if known.map_or(0, |known| known.len()) != all.len() {
            return Vec::new();
        }
    }
    let field = &phase.field;
    let moves = |s: &AffineSymmetry| {
        let moved = field.prolonged(&s.frame, &point.y);
        quotient.variables.iter().any(|&c| moved[c].abs() > 1e-9)
    };
    all.retain(|s| !s.is_cyclic && moves(s));
    all
}

/// Positions on whose turns nothing depends, here and at states around.
fn angles(phase: &mut Phase, quotient: &Quotient, point: &FieldPoint) -> Vec<usize> {
    /// Rounding of a sine after a turn.
    const SAME: f64 = 1e-9;
    let mut seen = scattered(&mut phase.field, &quotient.chart, point);
    seen.push(point.clone());
    let n = phase.field.n;
    let is_same = |a: &[f64], b: &[f64]| {
        let limit = SAME * (1.0 + largest(b));
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= limit)
    };
    let mut is_angle = |&c: &usize| {
        seen.iter().all(|at| {
            let mut y = at.y.clone();
            y[c] += TAU;
            phase.field.at(at.t, &y).is_ok_and(|turned| {
                is_same(&turned.rates, &at.rates)
                    && is_same(&turned.positions.values, &at.positions.values)
                    && is_same(&turned.velocities.values, &at.velocities.values)
            })
        })
    };
    quotient.variables.iter().copied().filter(|&c| c < n).filter(|c| is_angle(c)).collect()
}
