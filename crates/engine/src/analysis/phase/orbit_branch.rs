//! Periodic motions over a parameter: `pfaff continue --of orbits`.
//!
//! A branch is a curve $x(s) = (w, T, p)$ of solutions of (P) in `orbit.rs`, followed by pseudo-arclength. Along it
//! functions of Floquet's multipliers $\mu_k$ are watched, the trivial one left out, and where one of them vanishes the
//! place is located.
//!
//! | kind | function |
//! |---|---|
//! | `fold` | $dp/ds$ |
//! | `branch` | $\prod (\mu_k - 1)$, where $dp/ds$ does not vanish |
//! | `flip` | $\prod (\mu_k + 1)$ |
//! | `torus` | $\lvert\mu\rvert - 1$ of the complex pair next to the unit circle |

mod place;
mod switching;

pub(crate) use switching::from_hopf;

use pfaff_expr::Expr;
use pfaff_solver::{Control, DenseStep, Observer, OdeOptions, System, integrate};

use crate::analysis::phase::bracket::Bracket;
use crate::analysis::phase::branch::{
    Branch, BranchPoint, Continuation, ContinueRequest, SpecialPoint, nearest_pair,
    pairs_outside, parameter_index, product, set_parameter,
};
use crate::analysis::phase::field::ParameterSlopes;
use crate::analysis::phase::held::Condition;
use crate::analysis::phase::integrals::Integrals;
use crate::analysis::phase::linearize::Phase;
use crate::analysis::phase::multiple_shooting::Node;
use crate::analysis::phase::orbit::{closed, is_level_of_integrals};
use crate::analysis::phase::periodic::OrbitRequest;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::return_branch::followed;
use crate::analysis::phase::return_map::has_jumps;
use crate::analysis::phase::shooting::{Return, Shooter, largest};
use crate::analysis::phase::stability::Stability;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::system::compiled::Dynamics;
use place::Place;
use switching::Start;

/// The longest step along a branch, in parts of the range of the parameter, of the period and of the size of the state.
const LONGEST: f64 = 0.05;
const SHORTEST: f64 = 1e-6;
/// Most branches.
const BRANCHES: usize = 8;
/// Most points of a branch.
const POINTS: usize = 500;
/// How much a part of a period may make a change grow before it is divided: the rounding of a part grows as much.
const STEEP: f64 = 500.0;
/// Periods above so many times the first one end a branch.
const LONG: f64 = 50.0;

/// Follows a periodic motion of a model over a parameter. The model has the first value of the parameter. `watch` is
/// asked after each point and may end it by `false`.
///
/// # Errors
///
/// [`Error`] if there is no such parameter, or no periodic motion at its first value.
pub fn continue_orbits(
    model: &Model,
    request: &ContinueRequest,
    orbit: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Continuation, Error> {
    follow(model, request, orbit, watch).map_err(|failure| failure.in_source(&model.source))
}

/// What is watched along a branch.
type Function = fn(&Place) -> f64;

struct Follower {
    shooter: Shooter,
    slopes: ParameterSlopes,
    index: usize,
    from: f64,
    to: f64,
    /// The period at the first value, and how it follows from the parameters where it is given.
    unit: f64,
    given: Option<String>,
    /// Whether other branches are followed, too.
    switches: bool,
    /// What picks one of a family of motions, with the values that are held.
    conditions: Vec<Condition>,
    held: Vec<(usize, f64)>,
}

/// Collects extreme values: those of parabolas through three neighbouring steps.
struct Extent {
    of: Vec<[f64; 2]>,
    /// The last two steps, the later one second.
    before: Vec<(f64, Vec<f64>)>,
}

/// The extreme value of the parabola through three points, if it lies between them.
fn vertex([(t0, x0), (t1, x1), (t2, x2)]: [(f64, f64); 3]) -> Option<f64> {
    let (d1, d2) = ((x1 - x0) / (t1 - t0), (x2 - x1) / (t2 - t1));
    let bend = (d2 - d1) / (t2 - t0);
    let slope = (d1 * (t2 - t1) + d2 * (t1 - t0)) / (t2 - t0);
    (d1 * d2 < 0.0).then(|| x1 - slope * slope / (4.0 * bend))
}

impl Observer for Extent {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }

    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        let (t, y) = (step.end(), step.state_at_end());
        for (c, ([low, high], &x)) in self.of.iter_mut().zip(y).enumerate() {
            let between = match &self.before[..] {
                [a, b] => vertex([(a.0, a.1[c]), (b.0, b.1[c]), (t, x)]),
                _ => None,
            };
            for x in between.into_iter().chain([x]) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        if self.before.len() == 2 {
            self.before.remove(0);
        }
        self.before.push((t, y[..self.of.len()].to_vec()));
        Control::Continue
    }
}

impl Follower {
    fn set(&mut self, p: f64) {
        let phase = &mut self.shooter.phase;
        set_parameter(&mut phase.model, self.index, p);
        let values = phase.model.parameter_values();
        phase.field.set_parameters(&values);
        self.shooter.flow.set_parameters(&values);
        self.slopes.set_parameters(&values);
    }

    fn range(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// The zero of a function between two places, by regula falsi with the modification of Illinois.
    fn locate(
        &mut self,
        from: &Place,
        length: f64,
        ends: (f64, f64),
        value: &dyn Fn(&Place) -> f64,
    ) -> Option<Place> {
        let mut bracket = Bracket::new((0.0, ends.0), (length, ends.1));
        let mut found = None;
        for _ in 0..40 {
            let s = bracket.next();
            let place = self.corrected(from, s)?;
            let f = value(&place);
            found = Some(place);
            if f.abs() < 1e-12 || bracket.width() < 1e-12 * length {
                break;
            }
            bracket.include(s, f);
        }
        found
    }

    fn point(&mut self, place: &Place) -> BranchPoint {
        BranchPoint {
            parameter: place.p,
            state: self.shooter.phase.named(&place.first().y),
            frame: Vec::new(),
            period: Some(place.period),
            extent: self.extent(place),
            stability: self.stability(place),
        }
    }

    /// Whether a motion is stable: by its multipliers, or because conserved quantities hold it.
    fn stability(&mut self, place: &Place) -> Stability {
        let known = place.multipliers.stability;
        if known == Stability::Undecided
            && self.shooter.kept > 0
            && let [shot] = &place.shots[..]
        {
            self.set(place.p);
            if is_level_of_integrals(&mut self.shooter, &place.first().quotient, shot) {
                return Stability::Stable;
            }
        }
        known
    }

    /// The least and the greatest value of each component along the motion.
    fn extent(&mut self, place: &Place) -> Vec<[f64; 2]> {
        self.set(place.p);
        let first = &place.first().y;
        let of = first.iter().map(|&x| [x, x]).collect();
        let before = vec![(self.shooter.phase.t, first.clone())];
        let mut extent = Extent { of, before };
        let length = place.period / place.nodes.len() as f64;
        for (k, node) in place.nodes.iter().enumerate() {
            let mut state = node.y.clone();
            state.resize(self.shooter.flow.dimension(), 0.0);
            let t0 = self.shooter.phase.t + length * k as f64;
            let options = OdeOptions {
                t0,
                t1: t0 + length,
                tolerance: 1e-9,
                longest: place.period / 60.0,
                ..OdeOptions::default()
            };
            integrate(&mut self.shooter.flow, &state, &options, &mut extent);
        }
        extent.of
    }

    /// Adds what happens between two places.
    fn specials(
        &mut self,
        here: &Place,
        next: &Place,
        length: f64,
        branch: &mut Branch,
        others: &mut Vec<Start>,
    ) {
        let slope: Function = |place| place.tangent[place.tangent.len() - 1];
        let branches: Function = |place| product(place.multipliers.others(), 1.0);
        let flips: Function = |place| product(place.multipliers.others(), -1.0);
        let torus: Function = |place| nearest_pair(place.multipliers.others());
        let outside = |place: &Place| pairs_outside(place.multipliers.others());
        let is_fold = slope(here) * slope(next) < 0.0;
        let is_torus = outside(here) != outside(next);
        let functions =
            [("fold", slope, is_fold), ("branch", branches, !is_fold), ("flip", flips, true)];
        for (kind, value, may_be) in functions.into_iter().chain([("torus", torus, is_torus)]) {
            let ends = (value(here), value(next));
            // NOTE: two multipliers at 1, as in families, are never at 1 exactly.
            let is_clear = kind != "branch" || ends.0.abs().min(ends.1.abs()) > 1e-7;
            if may_be
                && is_clear
                && ends.0 * ends.1 < 0.0
                && let Some(found) = self.locate(here, length, ends, &value)
                && (self.from.min(self.to)..=self.from.max(self.to)).contains(&found.p)
            {
                let state = self.shooter.phase.named(&found.first().y);
                branch.special.push(SpecialPoint {
                    kind,
                    parameter: found.p,
                    state,
                    frequency: None,
                    shape: Vec::new(),
                });
                if self.switches && matches!(kind, "flip" | "branch") {
                    others.extend(self.others(&found, kind));
                }
            }
        }
    }

    /// Follows the branch from a place.
    fn branch(
        &mut self,
        start: Place,
        others: &mut Vec<Start>,
        watch: &mut dyn FnMut() -> bool,
    ) -> (Branch, bool) {
        let named = |&(k, level): &(usize, f64)| {
            let condition = &self.conditions[k];
            (condition.name.clone(), (!condition.is_equation).then_some(level))
        };
        let held = self.held.iter().map(named).collect();
        let loose = self.shooter.kept.saturating_sub(self.held.len());
        let mut branch = Branch { held, loose, ..Branch::default() };
        let first = self.point(&start);
        branch.points.push(first);
        let measure = |place: &Place| {
            let Node { quotient, y } = place.first();
            quotient.variables.iter().fold(0.1_f64, |m, &c| m.max(y[c].abs())).min(1.0)
        };
        let mut length = 0.25 * LONGEST * measure(&start);
        let mut here = start;
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        branch.end = "points";
        while branch.points.len() < POINTS {
            if !watch() {
                branch.end = "interrupted";
                return (branch, true);
            }
            if here.steepest() > STEEP
                && let Some(finer) = self.divided(&here)
            {
                here = finer;
            }
            let next = self.corrected(&here, length).filter(|next| {
                let turn = next.tangent.iter().zip(&here.tangent).map(|(a, b)| a * b);
                turn.sum::<f64>() > 0.9
            });
            let Some(next) = next else {
                length *= 0.5;
                if length < SHORTEST {
                    if let Some(finer) = self.divided(&here) {
                        here = finer;
                        length = 0.25 * LONGEST * measure(&here);
                        continue;
                    }
                    branch.end = "no further periodic motion";
                    break;
                }
                continue;
            };
            self.specials(&here, &next, length, &mut branch, others);
            if next.p < low || next.p > high {
                let end = if next.p < low { low } else { high };
                let ends = (here.p - end, next.p - end);
                if ends.0 != 0.0
                    && let Some(last) = self.locate(&here, length, ends, &|place| place.p - end)
                {
                    let point = self.point(&last);
                    branch.points.push(point);
                }
                branch.end = "range";
                break;
            }
            let point = self.point(&next);
            branch.points.push(point);
            let still = |(node, shot): (&Node, &Return)| {
                let rates = node.quotient.variables.iter().map(|&c| shot.point.rates[c].abs());
                rates.fold(0.0_f64, f64::max) * next.period < 1e-4
            };
            let is_still = next.nodes.iter().zip(&next.shots).all(still);
            if is_still && !self.shooter.is_driven {
                branch.end = "an equilibrium";
                break;
            }
            if next.period > LONG * self.unit {
                branch.end = "the period grows without bound";
                break;
            }
            length = (1.5 * length).min(LONGEST * measure(&next));
            let Some(next) = self.renewed(next) else {
                branch.end = "a singular point of the constraints";
                break;
            };
            here = next;
        }
        (branch, false)
    }
}

impl Follower {
    /// The first place of a branch, which goes one way along the parameter.
    fn start(&mut self, nodes: Vec<Node>, time: f64, forward: f64) -> Option<Place> {
        let w = nodes[0].quotient.variables.len();
        let free = usize::from(!self.shooter.is_driven) + self.shooter.turning.len();
        let mut along = vec![0.0; nodes.len() * w + free];
        along.push(forward);
        let p = self.from;
        let there = self.shoot(nodes, time, p)?;
        if !self.shooter.is_driven {
            let known = integrals(&mut self.shooter, &there.0[0].quotient, &there.1[0]);
            self.shooter.kept = self.dependent(&there.0, &there.1).min(known.len());
            if self.shooter.kept > 0 {
                let (phase, index) = (&self.shooter.phase, self.index);
                let known = known.into_iter();
                self.conditions.extend(known.map(|(name, function)| {
                    Condition::new(phase, index, name, function, false)
                }));
                self.held = self.chosen(&there.0, &there.1)?;
            }
        }
        let place = self.place(there, p, &along)?;
        let is_equation = |(k, _): &(usize, f64)| self.conditions[*k].is_equation;
        if !self.held.iter().any(is_equation) {
            return Some(place);
        }
        // At this value of the parameter.
        along[..place.tangent.len() - 1].fill(0.0);
        let tangent = along.clone();
        self.corrected(&Place { tangent, ..place }, 0.0)
    }
}

/// The conserved quantities that a motion is known to have.
fn integrals(
    shooter: &mut Shooter,
    quotient: &Quotient,
    found: &Return,
) -> Vec<(String, Expr)> {
    let Phase { model, dynamics, field, .. } = &mut shooter.phase;
    let Dynamics::Saddle(equations) = &*dynamics else { return Vec::new() };
    let (chart, held) = (&quotient.chart, &shooter.held);
    let known = Integrals::around(model, equations, field, chart, &found.point, held);
    known.map_or_else(Vec::new, |known| known.names.into_iter().zip(known.functions).collect())
}

/// The slopes of rates and constraints by a parameter.
fn parameter_slopes(
    shooter: &Shooter,
    index: usize,
    request: &ContinueRequest,
) -> Result<ParameterSlopes, Failure> {
    let Phase { model, dynamics, field, .. } = &shooter.phase;
    let backend = request.backend.unwrap_or_default();
    Ok(ParameterSlopes::new(model, dynamics, field, &[index], backend)?)
}

fn follow(
    model: &Model,
    request: &ContinueRequest,
    orbit: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Continuation, Failure> {
    if has_jumps(&model.workspace()) {
        if request.fix.is_some() {
            return Err(Failure::usage(
                "conditions on families of motions are for models without jumps and modes",
            ));
        }
        return followed(model, request, orbit, watch);
    }
    let index = parameter_index(&model.workspace(), &request.parameter)?;
    let (shooter, quotient, found) = closed(model, orbit, watch)?;
    let given = orbit.period.clone().filter(|_| shooter.is_driven);
    let slopes = parameter_slopes(&shooter, index, request)?;
    let conditions = match &request.fix {
        Some(text) => Condition::read_all(&shooter.phase, index, text)?,
        None => Vec::new(),
    };
    let wanted = conditions.len();
    let mut follower = Follower {
        shooter,
        slopes,
        index,
        from: request.from,
        to: request.to,
        unit: found.period,
        given,
        switches: request.switch,
        conditions,
        held: Vec::new(),
    };
    let nodes = if found.nodes.is_empty() {
        vec![Node { quotient, y: found.point.y }]
    } else {
        found.nodes
    };
    let start = follower.start(nodes, found.period, (request.to - request.from).signum());
    let start = start.ok_or_else(|| {
        Failure::usage("the periodic motion cannot be followed from the first value")
    })?;
    let is_held = |k: usize| follower.held.iter().any(|(held, _)| *held == k);
    if let Some(k) = (0..wanted).find(|k| !is_held(*k)) {
        let name = &follower.conditions[k].name;
        return Err(Failure::Usage(format!(
            "`{name}` picks none of the periodic motions: they form no family over it"
        )));
    }
    let phase = &follower.shooter.phase;
    let moves = follower.conditions[..wanted].iter().any(|c| c.has_parameter(phase));
    if !moves && largest(&start.by_parameter) == 0.0 && !follower.changes_derivatives(&start) {
        return Err(Failure::Usage(format!(
            "the parameter `{}` does nothing to this periodic motion",
            request.parameter
        )));
    }
    let (branches, interrupted) = follower.all(start, None, watch);
    Ok(Continuation {
        title: model.name().to_owned(),
        parameter: request.parameter.clone(),
        branches,
        interrupted,
    })
}
