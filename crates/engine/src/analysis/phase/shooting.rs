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
use crate::analysis::phase::quotient::{Quotient, scattered};
use crate::analysis::phase::stability::Stability;
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
        Ok((Self { phase, flow, is_driven, angles, tolerance }, quotient, point))
    }

    /// Integrates over a period; `None` if that is not possible.
    pub(crate) fn shoot(
        &mut self,
        quotient: &Quotient,
        y: &[f64],
        period: f64,
    ) -> Option<Return> {
        let t0 = self.phase.t;
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
        let end = self.phase.field.at(t0 + period, &outcome.y[..d]).ok()?;
        let miss = |&c: &usize| {
            let moved = end.y[c] - point.y[c];
            let turns = if self.angles.contains(&c) { (moved / TAU).round() } else { 0.0 };
            moved - TAU * turns
        };
        let miss = quotient.variables.iter().map(miss).collect();
        let rows = quotient.variables.iter().flat_map(|&c| (0..w).map(move |j| (c, j)));
        let matrix = rows.map(|(c, j)| outcome.y[d * (1 + j) + c]).collect();
        Some(Return { point, end, period, miss, matrix })
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

    /// Rows and right-hand side of Newton's iteration: $(S - 1,\ \dot w(T))$ and, where the start may be anywhere on
    /// the orbit, $(\dot w(0), 0)$.
    pub(crate) fn equations(&self, quotient: &Quotient, at: &Return) -> (Vec<f64>, Vec<f64>) {
        let w = quotient.variables.len();
        let rates = |point: &FieldPoint| -> Vec<f64> {
            quotient.variables.iter().map(|&c| point.rates[c]).collect()
        };
        let (begin, end) = (rates(&at.point), rates(&at.end));
        let mut matrix = Vec::new();
        for i in 0..w {
            let unit = |j: usize| f64::from(u8::from(i == j));
            matrix.extend((0..w).map(|j| at.matrix[i * w + j] - unit(j)));
            matrix.extend((!self.is_driven).then_some(end[i]));
        }
        let mut right: Vec<f64> = at.miss.iter().map(|x| -x).collect();
        if !self.is_driven {
            let size = largest(&begin);
            matrix.extend(begin.iter().map(|x| if size > 0.0 { x / size } else { 0.0 }));
            matrix.push(0.0);
            right.push(0.0);
        }
        (matrix, right)
    }
}

/// Floquet's multipliers, the largest first; which of them is 1 because the motion may start anywhere on its orbit; and
/// what they say about stability.
pub(crate) struct Multipliers {
    pub(crate) values: Vec<[f64; 2]>,
    pub(crate) trivial: Option<usize>,
    pub(crate) stability: Stability,
}

impl Multipliers {
    pub(crate) fn of(matrix: &[f64], w: usize, is_driven: bool) -> Option<Self> {
        let mut values = eigenvalues(w, matrix)?;
        values.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
        let off = |k: &usize| libm::hypot(values[*k][0] - 1.0, values[*k][1]);
        let nearest = (0..values.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
        let trivial = nearest.filter(|_| !is_driven);
        let mut found = Self { values, trivial, stability: Stability::Undecided };
        let others: Vec<[f64; 2]> = found.others().collect();
        if others.iter().any(|v| size(v) > 1.0 + NEUTRAL) {
            found.stability = Stability::Unstable;
        } else if others.iter().all(|v| size(v) < 1.0 - NEUTRAL) {
            found.stability = Stability::AsymptoticallyStable;
        }
        Some(found)
    }

    /// All but the trivial one.
    pub(crate) fn others(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let all = self.values.iter().enumerate();
        all.filter(|(k, _)| Some(*k) != self.trivial).map(|(_, v)| *v)
    }
}

/// The absolute value of a complex number.
pub(crate) fn size(v: &[f64; 2]) -> f64 {
    libm::hypot(v[0], v[1])
}

/// The largest magnitude.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0_f64, |m, x| m.max(x.abs()))
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
