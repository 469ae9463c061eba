//! Other branches of periodic motions: at branch and period-doubling points, and from Hopf points.
//!
//! Beside a known motion, a little way along a direction in which another one begins, the equations are solved with
//! this
//! way held fixed and the parameter free.

use pfaff_solver::eigenvector;

use super::{BRANCHES, Follower, Place, parameter_slopes};
use crate::analysis::phase::branch::{Branch, ContinueRequest, SpecialPoint, parameter_index};
use crate::analysis::phase::multiple_shooting::Node;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{Shooter, largest};
use crate::error::Failure;
use crate::model::Model;

/// Where a branch begins that was met on another one.
pub(super) struct Start {
    pub(super) place: Place,
    pub(super) given: Option<String>,
    pub(super) from: (&'static str, f64),
}

impl Follower {
    /// A periodic motion beside a place: a little way along a direction of $w$, with a period so many times as long.
    fn switched(
        &mut self,
        quotient: &Quotient,
        y: &[f64],
        (period, p): (f64, f64),
        direction: &[f64],
        amplitude: f64,
    ) -> Option<Place> {
        let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        let unit: Vec<f64> = direction.iter().map(|x| x / size).collect();
        self.set(p);
        let change: Vec<f64> = unit.iter().map(|x| amplitude * x).collect();
        let moved = self.shooter.moved(quotient, y, &change)?;
        let node = Node { quotient: quotient.clone(), y: moved };
        let found = self.shoot(vec![node], period, p)?;
        let mut along = unit;
        along.extend((!self.shooter.is_driven).then_some(0.0));
        along.extend(self.shooter.turning.iter().map(|_| 0.0));
        along.push(0.0);
        let mut beside = self.place(found, p, &along)?;
        beside.tangent.clone_from(&along);
        let start = self.corrected(&beside, 0.0)?;
        // The motion itself, not the one beside which it begins.
        let apart: f64 = quotient
            .variables
            .iter()
            .zip(&along)
            .map(|(&c, x)| x * (start.first().y[c] - y[c]))
            .sum();
        (apart.abs() > 0.5 * amplitude).then_some(start)
    }

    /// Starts of the other branches through a place where a multiplier is 1 or −1.
    pub(super) fn others(&mut self, place: &Place, kind: &'static str) -> Vec<Start> {
        let Node { quotient, y } = place.first().clone();
        let w = quotient.variables.len();
        let target = if kind == "flip" { -1.0 } else { 1.0 };
        let off = |v: &[f64; 2]| libm::hypot(v[0] - target, v[1]);
        let near = place.multipliers.others().min_by(|a, b| off(a).total_cmp(&off(b)));
        let shape = near.and_then(|value| eigenvector(w, &place.matrix(), value));
        let Some(shape) = shape else { return Vec::new() };
        let mut direction: Vec<f64> = shape.components.iter().map(|x| x[0]).collect();
        // Without what only moves along the orbit.
        if !self.shooter.is_driven {
            let rates = quotient.variables.iter().map(|&c| place.shots[0].point.rates[c]);
            let rates: Vec<f64> = rates.collect();
            let square: f64 = rates.iter().map(|x| x * x).sum();
            let part: f64 = rates.iter().zip(&direction).map(|(a, b)| a * b).sum();
            direction.iter_mut().zip(&rates).for_each(|(x, r)| *x -= part / square * r);
        }
        let times = if kind == "flip" { 2.0 } else { 1.0 };
        let given = self.given.clone();
        if kind == "flip" {
            self.given = given.as_ref().map(|text| format!("2*({text})"));
        }
        let signs: &[f64] = if kind == "flip" { &[1.0] } else { &[1.0, -1.0] };
        let mut found = Vec::new();
        for sign in signs {
            let along: Vec<f64> = direction.iter().map(|x| sign * x).collect();
            for amplitude in [0.02, 0.005, 0.05] {
                let amplitude = amplitude * largest(&y).clamp(0.1, 10.0);
                let time = (times * place.period, place.p);
                self.shooter.turned = place.turned.iter().map(|x| times * x).collect();
                if let Some(start) = self.switched(&quotient, &y, time, &along, amplitude) {
                    let given = self.given.clone();
                    found.push(Start { place: start, given, from: (kind, place.p) });
                    break;
                }
            }
        }
        self.given = given;
        found
    }
}

impl Follower {
    /// A branch, and those that begin on it.
    pub(super) fn all(
        &mut self,
        start: Place,
        from: Option<(&'static str, f64)>,
        watch: &mut dyn FnMut() -> bool,
    ) -> (Vec<Branch>, bool) {
        let mut waiting = Vec::new();
        let (mut branch, mut interrupted) = self.branch(start, &mut waiting, watch);
        branch.from = from;
        let mut branches = vec![branch];
        while !interrupted && branches.len() < BRANCHES && !waiting.is_empty() {
            let Start { place, given, from } = waiting.remove(0);
            let is_known = |branch: &Branch| {
                let room = 1e-6 * self.range();
                branch.from.is_some_and(|(kind, p)| kind == from.0 && (p - from.1).abs() < room)
            };
            // A pitchfork has two other branches, a doubling one.
            let most = if from.0 == "flip" { 1 } else { 2 };
            if branches.iter().filter(|branch| is_known(branch)).count() >= most {
                continue;
            }
            self.given = given;
            let mut more = Vec::new();
            let (mut branch, ended) = self.branch(place, &mut more, watch);
            branch.from = Some(from);
            interrupted |= ended;
            branches.push(branch);
            waiting.extend(more);
        }
        (branches, interrupted)
    }
}

/// Follows the periodic motions that begin at a Hopf point, and what is met on the way.
pub(crate) fn from_hopf(
    model: &Model,
    request: &ContinueRequest,
    at: &SpecialPoint,
    watch: &mut dyn FnMut() -> bool,
) -> Result<(Vec<Branch>, bool), Failure> {
    let nothing = Ok((Vec::new(), false));
    let Some(ω) = at.frequency.filter(|_| !at.shape.is_empty()) else { return nothing };
    let index = parameter_index(&model.workspace(), &request.parameter)?;
    let y: Vec<f64> = at.state.iter().map(|(_, x)| *x).collect();
    let state = |_: &crate::analysis::phase::linearize::Phase| y.clone();
    let tolerance = 1e-12;
    let (shooter, quotient, _) =
        Shooter::new(model, request.principle, request.backend, tolerance, &state)?;
    let period = std::f64::consts::TAU / ω;
    let slopes = parameter_slopes(&shooter, index, request)?;
    let mut follower = Follower {
        shooter,
        slopes,
        index,
        from: request.from,
        to: request.to,
        unit: period,
        given: None,
        switches: request.switch,
        conditions: Vec::new(),
        held: Vec::new(),
    };
    let direction: Vec<f64> = quotient.variables.iter().map(|&c| at.shape[c]).collect();
    let scale = largest(&y).clamp(0.3, 10.0);
    for amplitude in [0.01, 0.003, 0.03] {
        let time = (period, at.parameter);
        let start = follower.switched(&quotient, &y, time, &direction, amplitude * scale);
        if let Some(mut start) = start {
            // Away from the equilibrium.
            let part: f64 = start.tangent.iter().zip(&direction).map(|(a, b)| a * b).sum();
            if part < 0.0 {
                start.tangent.iter_mut().for_each(|x| *x = -*x);
            }
            return Ok(follower.all(start, Some(("hopf", at.parameter)), watch));
        }
    }
    nothing
}
