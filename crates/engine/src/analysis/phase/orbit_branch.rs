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

mod switching;

pub(crate) use switching::from_hopf;

use pfaff_solver::{
    Control, DenseStep, Observer, OdeOptions, System, integrate, least_squares,
};

use crate::analysis::phase::branch::{
    Branch, BranchPoint, Continuation, ContinueRequest, SpecialPoint,
};
use crate::analysis::phase::continuation::{parameter_index, set_parameter, tangent};
use switching::Start;

use crate::analysis::phase::orbit::{OrbitRequest, closed, period};
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{Multipliers, Return, Shooter, largest, size};
use crate::error::{Error, Failure};
use crate::model::Model;

/// The longest step along a branch, in parts of the range of the parameter, of the period and of the size of the state.
const LONGEST: f64 = 0.05;
const SHORTEST: f64 = 1e-6;
/// Most branches.
const BRANCHES: usize = 8;
/// Most points of a branch.
const POINTS: usize = 500;
/// Newton's iteration across a branch.
const ITERATIONS: usize = 12;
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

/// A periodic motion on a branch.
struct Place {
    p: f64,
    quotient: Quotient,
    found: Return,
    /// $\partial(w(T) - w(0))/\partial p$, with the parameter in its unit.
    by_parameter: Vec<f64>,
    /// $(w', T', p')$ of length 1, without $T'$ where the period is given.
    tangent: Vec<f64>,
    multipliers: Multipliers,
}

/// What is watched along a branch.
type Function = fn(&Place) -> f64;

struct Follower {
    shooter: Shooter,
    index: usize,
    from: f64,
    to: f64,
    /// The period at the first value, and how it follows from the parameters where it is given.
    unit: f64,
    given: Option<String>,
    /// Whether other branches are followed, too.
    switches: bool,
}

/// Collects extreme values.
struct Extent {
    of: Vec<[f64; 2]>,
}

impl Observer for Extent {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }

    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        for ([low, high], &x) in self.of.iter_mut().zip(step.state_at_end()) {
            *low = low.min(x);
            *high = high.max(x);
        }
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
    }

    fn range(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// One period from a state for a value of the parameter.
    fn shoot(&mut self, quotient: &Quotient, y: &[f64], time: f64, p: f64) -> Option<Return> {
        self.set(p);
        let time = match &self.given {
            Some(text) => period(&self.shooter.phase.model, text).ok()?,
            None => time,
        };
        let y = self.shooter.moved(quotient, y, &[])?;
        self.shooter.shoot(quotient, &y, time)
    }

    /// The equations of Newton's iteration with the column of the parameter.
    fn equations(
        &self,
        quotient: &Quotient,
        found: &Return,
        by_parameter: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let (matrix, right) = self.shooter.equations(quotient, found);
        let columns = matrix.len() / right.len();
        let w = quotient.variables.len();
        let rows = matrix.chunks_exact(columns).enumerate();
        let matrix = rows
            .flat_map(|(i, row)| {
                let scaled = row.iter().enumerate();
                let scaled = scaled.map(|(j, x)| if j == w { x * self.unit } else { *x });
                let last = by_parameter.get(i).copied().unwrap_or(0.0);
                scaled.chain([last]).collect::<Vec<f64>>()
            })
            .collect();
        (matrix, right)
    }

    /// A place with its tangent next to a direction.
    fn place(
        &mut self,
        quotient: &Quotient,
        found: &Return,
        p: f64,
        along: &[f64],
    ) -> Option<Place> {
        let y = &found.point.y;
        let δ = 1e-5 * self.range();
        let ahead = self.shoot(quotient, y, found.period, p + δ)?;
        let behind = self.shoot(quotient, y, found.period, p - δ)?;
        let found = self.shoot(quotient, y, found.period, p)?;
        let differences = ahead.miss.iter().zip(&behind.miss);
        let by_parameter: Vec<f64> =
            differences.map(|(a, b)| (a - b) / (2.0 * δ) * self.range()).collect();
        let (matrix, right) = self.equations(quotient, &found, &by_parameter);
        let tangent = tangent(&matrix, right.len(), along)?;
        let w = quotient.variables.len();
        let multipliers = Multipliers::of(&found.matrix, w, &self.shooter)?;
        let quotient = quotient.clone();
        Some(Place { p, quotient, found, by_parameter, tangent, multipliers })
    }

    /// The same place in a chart that suits it, with the same direction.
    fn renewed(&mut self, place: Place) -> Option<Place> {
        let Place { quotient, found, p, tangent, .. } = &place;
        let moved = quotient.moved(&self.shooter.phase.field, &found.point);
        if moved.variables == quotient.variables {
            return Some(place);
        }
        let w = quotient.variables.len();
        let mut along = quotient.carried(&moved, &found.point, &tangent[..w])?;
        along.extend_from_slice(&tangent[w..]);
        self.place(&moved, found, *p, &along)
    }

    /// Whether the parameter changes the motions beside a periodic one.
    fn changes_derivatives(&mut self, place: &Place) -> bool {
        let Place { p, quotient, found, .. } = place;
        let elsewhere = p + 0.37 * (self.to - self.from);
        let there = self.shoot(quotient, &found.point.y, found.period, elsewhere);
        there.is_none_or(|there| {
            let change = there.matrix.iter().zip(&found.matrix).map(|(a, b)| a - b);
            largest(&change.collect::<Vec<f64>>()) > 1e-10 * (1.0 + largest(&found.matrix))
        })
    }

    /// The periodic motion at a distance along the tangent of a place.
    fn corrected(&mut self, place: &Place, s: f64) -> Option<Place> {
        let quotient = &place.quotient;
        let (w, along) = (quotient.variables.len(), &place.tangent);
        let last = along.len() - 1;
        let (range, unit) = (self.range(), self.unit);
        let longer = |step: &[f64]| if last > w { step[w] * unit } else { 0.0 };
        let ahead: Vec<f64> = along.iter().map(|x| s * x).collect();
        let mut y = place.found.point.y.clone();
        quotient.variables.iter().zip(&ahead).for_each(|(&c, δ)| y[c] += δ);
        let mut time = place.found.period + longer(&ahead);
        let mut p = place.p + ahead[last] * range;
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let found = self.shoot(quotient, &y, time, p)?;
            let (mut matrix, mut right) = self.equations(quotient, &found, &place.by_parameter);
            let rows = right.len();
            matrix.extend_from_slice(along);
            right.push(0.0);
            let step = least_squares(&matrix, rows + 1, along.len(), &right, 1e-11).x;
            let change = largest(&step);
            if !change.is_finite() || change > 1e3 {
                return None;
            }
            let closed = 1e-9 * (1.0 + largest(&found.point.y));
            if change < 1e-11 || (change < 1e-8 && change >= 0.5 * before) {
                return if largest(&found.miss) < closed {
                    self.place(quotient, &found, p, along)
                } else {
                    None
                };
            }
            before = change;
            y.clone_from(&found.point.y);
            quotient.variables.iter().zip(&step).for_each(|(&c, δ)| y[c] += δ);
            time += longer(&step);
            p += step[last] * range;
            if time <= 0.0 {
                return None;
            }
        }
        None
    }

    /// The zero of a function between two places, by regula falsi with the modification of Illinois.
    fn locate(
        &mut self,
        from: &Place,
        length: f64,
        ends: (f64, f64),
        value: &dyn Fn(&Place) -> f64,
    ) -> Option<Place> {
        let ((mut a, mut fa), (mut b, mut fb)) = ((0.0, ends.0), (length, ends.1));
        let mut found = None;
        for _ in 0..40 {
            let mut s = (a * fb - b * fa) / (fb - fa);
            if !(s > f64::min(a, b) && s < f64::max(a, b)) {
                s = 0.5 * (a + b);
            }
            let place = self.corrected(from, s)?;
            let f = value(&place);
            found = Some(place);
            if f.abs() < 1e-12 || f64::abs(b - a) < 1e-12 * length {
                break;
            }
            if f.signum() == fb.signum() {
                fa *= 0.5;
            } else {
                (a, fa) = (b, fb);
            }
            (b, fb) = (s, f);
        }
        found
    }

    fn point(&mut self, place: &Place) -> BranchPoint {
        BranchPoint {
            parameter: place.p,
            state: self.shooter.phase.named(&place.found.point.y),
            period: Some(place.found.period),
            extent: self.extent(place),
            stability: place.multipliers.stability,
        }
    }

    /// The least and the greatest value of each component along the motion, at the steps.
    fn extent(&mut self, place: &Place) -> Vec<[f64; 2]> {
        self.set(place.p);
        let y = &place.found.point.y;
        let mut extent = Extent { of: y.iter().map(|&x| [x, x]).collect() };
        let mut state = y.clone();
        state.resize(self.shooter.flow.dimension(), 0.0);
        let t0 = self.shooter.phase.t;
        let options = OdeOptions {
            t0,
            t1: t0 + place.found.period,
            tolerance: 1e-9,
            longest: place.found.period / 60.0,
            ..OdeOptions::default()
        };
        integrate(&mut self.shooter.flow, &state, &options, &mut extent);
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
        let branches: Function = |place| product(place, 1.0);
        let flips: Function = |place| product(place, -1.0);
        let torus: Function = |place| {
            let pairs = place.multipliers.others().filter(|v| v[1] > 1e-6);
            let off = pairs.map(|v| size(&v) - 1.0);
            off.min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::NAN)
        };
        let outside = |place: &Place| {
            let pairs = place.multipliers.others().filter(|v| v[1] > 1e-6);
            // On the circle by rounding is not outside.
            pairs.filter(|v| size(v) > 1.0 + 1e-7).count()
        };
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
                let state = self.shooter.phase.named(&found.found.point.y);
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
        let mut branch = Branch::default();
        let first = self.point(&start);
        branch.points.push(first);
        let measure = |place: &Place| {
            let variables = place.quotient.variables.iter();
            variables.fold(0.1_f64, |m, &c| m.max(place.found.point.y[c].abs())).min(1.0)
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
            let next = self.corrected(&here, length).filter(|next| {
                let turn = next.tangent.iter().zip(&here.tangent).map(|(a, b)| a * b);
                turn.sum::<f64>() > 0.9
            });
            let Some(next) = next else {
                length *= 0.5;
                if length < SHORTEST {
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
            let rates = next.quotient.variables.iter().map(|&c| next.found.point.rates[c]);
            let rates: Vec<f64> = rates.collect();
            let is_still = largest(&rates) * next.found.period < 1e-4;
            if is_still && !self.shooter.is_driven {
                branch.end = "an equilibrium";
                break;
            }
            if next.found.period > LONG * self.unit {
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

/// The product of all $\mu_k - x$ but the trivial one: real, because complex ones come in pairs.
fn product(place: &Place, x: f64) -> f64 {
    let one = [1.0, 0.0];
    let factors = place.multipliers.others();
    let whole = factors.fold(one, |[a, b], [c, d]| [a * (c - x) - b * d, a * d + b * (c - x)]);
    whole[0]
}

fn follow(
    model: &Model,
    request: &ContinueRequest,
    orbit: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Continuation, Failure> {
    let index = parameter_index(&model.workspace(), &request.parameter)?;
    let (shooter, quotient, found) = closed(model, orbit, watch)?;
    let given = orbit.period.clone().filter(|_| shooter.is_driven);
    let mut follower = Follower {
        shooter,
        index,
        from: request.from,
        to: request.to,
        unit: found.period,
        given,
        switches: request.switch,
    };
    let columns = quotient.variables.len() + usize::from(!follower.shooter.is_driven) + 1;
    let mut along = vec![0.0; columns];
    along[columns - 1] = (request.to - request.from).signum();
    let start = follower.place(&quotient, &found, request.from, &along).ok_or_else(|| {
        Failure::usage("the periodic motion cannot be followed from the first value")
    })?;
    if largest(&start.by_parameter) == 0.0 && !follower.changes_derivatives(&start) {
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
