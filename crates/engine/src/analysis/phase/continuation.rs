//! Equilibria and steady motions over a parameter: `pfaff continue`.
//!
//! A branch is a curve $x(s) = (w, p)$ with $g(w, p) = 0$, followed by pseudo-arclength: a step along the tangent, then
//! Newton's iteration across it. Along the branch three functions are watched, and where one of them vanishes the
//! place is located on the branch.
//!
//! | kind | function |
//! |---|---|
//! | `fold` | $dp/ds$ |
//! | `branch` | $\det\begin{pmatrix} g_w & g_p \\\\ w' & p' \end{pmatrix}$, or the number of positive eigenvalues |
//! | `hopf` | the real part of the complex pair next to the imaginary axis |
//!
//! At a branch point the other branch begins along the second direction of the kernel.

use pfaff_solver::{eigenvalues, eigenvector, least_squares, singular_values};

use crate::analysis::phase::bracket::Bracket;
use crate::analysis::phase::branch::{
    Branch, BranchPoint, Continuation, ContinueRequest, SpecialPoint, parameter_index,
    set_parameter,
};
use crate::analysis::phase::branch_place::{
    Place, family, growing_alone, least_of_equations, least_value, orientation, tangent,
};
use crate::analysis::phase::equilibria::{EquilibriaRequest, states};
use crate::analysis::phase::families::is_linked;
use crate::analysis::phase::field::{FieldPoint, ParameterSlopes};
use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::orbit_branch::from_hopf;
use crate::analysis::phase::quotient::{Quotient, scattered};
use crate::analysis::phase::tangent_flow::add_to_basis;
use crate::error::{Error, Failure};
use crate::model::Model;

/// The longest step along a branch, as a part of the range of the parameter and of the size of the state.
const LONGEST: f64 = 0.02;
const SHORTEST: f64 = 1e-7;
/// Most points of a branch, and most branches.
const POINTS: usize = 2000;
const BRANCHES: usize = 24;
/// Most Hopf points from which periodic motions are followed.
const HOPF: usize = 8;
/// Newton's iteration across a branch.
const ITERATIONS: usize = 12;

/// Follows equilibria of a model over a parameter. The model has the first value of the parameter. `watch` is asked
/// after each point and may end it by `false`.
///
/// # Errors
///
/// [`Error`] if there is no such parameter, nothing depends on it, or nothing rests at its first value.
pub fn continue_equilibria(
    model: &Model,
    request: &ContinueRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Continuation, Error> {
    follow_all(model, request, watch).map_err(|failure| failure.in_source(&model.source))
}

struct Follower<'a> {
    phase: Phase,
    index: usize,
    from: f64,
    to: f64,
    slopes: ParameterSlopes,
    watch: &'a mut dyn FnMut() -> bool,
}

impl Follower<'_> {
    /// Gives the parameter a value, and with it what is defined by it.
    fn set(&mut self, p: f64) {
        set_parameter(&mut self.phase.model, self.index, p);
        let values = self.phase.model.parameter_values();
        self.phase.field.set_parameters(&values);
        self.slopes.set_parameters(&values);
    }

    /// Whether a value of the parameter belongs to the range.
    fn is_inside(&self, p: f64) -> bool {
        (self.from.min(self.to)..=self.from.max(self.to)).contains(&p)
    }

    /// The length in which the parameter is measured.
    fn unit(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// The field at a state for a value of the parameter, completed in a chart.
    fn at(&mut self, quotient: &Quotient, y: &[f64], p: f64) -> Option<FieldPoint> {
        self.set(p);
        let mut y = y.to_vec();
        quotient.chart.complete(&mut self.phase.field, self.phase.t, &mut y).ok()?;
        self.phase.field.at(self.phase.t, &y).ok()
    }

    /// $(g_w, g_p)$ with the parameter in its unit.
    fn matrix(&mut self, quotient: &Quotient, point: &FieldPoint, p: f64) -> Option<Vec<f64>> {
        let here = quotient.point(point)?;
        let w = quotient.variables.len();
        self.set(p);
        let by = self.slopes.at(&mut self.phase.field, point.t, &point.y).ok()?;
        let slopes = quotient.by_parameters(point, &by)?;
        let mut matrix = Vec::with_capacity(w * (w + 1));
        for i in 0..w {
            matrix.extend_from_slice(&here.matrix[i * w..(i + 1) * w]);
            matrix.push(slopes[i] * self.unit());
        }
        Some(matrix)
    }

    /// A place with its tangent, in the direction of another one.
    fn place(
        &mut self,
        quotient: &Quotient,
        point: FieldPoint,
        p: f64,
        along: &[f64],
    ) -> Option<Place> {
        let w = quotient.variables.len();
        let matrix = self.matrix(quotient, &point, p)?;
        let values = eigenvalues(w, &quotient.point(&point)?.matrix)?;
        let tangent = tangent(&matrix, w, along)?;
        Some(Place { p, point, quotient: quotient.clone(), matrix, tangent, values })
    }

    /// The same place in a chart that suits it, with the same direction.
    fn renewed(&mut self, place: Place) -> Option<Place> {
        let quotient = place.quotient.moved(&self.phase.field, &place.point);
        if quotient.variables == place.quotient.variables {
            return Some(place);
        }
        let w = place.quotient.variables.len();
        let mut along = place.quotient.carried(&quotient, &place.point, &place.tangent[..w])?;
        // What follows from the constraints moves with the parameter, too.
        let Place { point, p, .. } = &place;
        self.set(*p);
        let by = self.slopes.at(&mut self.phase.field, point.t, &point.y).ok()?;
        let shift = place.quotient.chart.shift(point, &by)?;
        let part = place.tangent[w];
        for (x, &c) in along.iter_mut().zip(&quotient.variables) {
            *x += shift[c] * part * self.unit();
        }
        along.push(part);
        self.place(&quotient, place.point, place.p, &along)
    }

    /// The point of the branch at a distance along the tangent of a place.
    fn corrected(&mut self, place: &Place, s: f64, along: &[f64]) -> Option<Place> {
        let quotient = &place.quotient;
        let w = quotient.variables.len();
        let unit = self.unit();
        let mut y = place.point.y.clone();
        for (&c, x) in quotient.variables.iter().zip(along) {
            y[c] += s * x;
        }
        let mut p = place.p + s * along[w] * unit;
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let point = self.at(quotient, &y, p)?;
            let here = quotient.point(&point)?;
            let mut matrix = self.matrix(quotient, &point, p)?;
            matrix.extend_from_slice(along);
            let mut right = here.rates.clone();
            right.push(0.0);
            let step = least_squares(&matrix, w + 1, w + 1, &right, 1e-13).x;
            y.clone_from(&point.y);
            for (&c, δ) in quotient.variables.iter().zip(&step) {
                y[c] -= δ;
            }
            p -= step[w] * unit;
            let size = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if !size.is_finite() || size > 1e6 {
                return None;
            }
            if size < 1e-13 || (size < 1e-10 && size >= 0.25 * last) {
                let point = self.at(quotient, &y, p)?;
                let settled = quotient.point(&point)?;
                return if settled.is_equilibrium() {
                    self.place(quotient, point, p, along)
                } else {
                    None
                };
            }
            last = size;
        }
        None
    }

    fn special(&self, kind: &'static str, place: &Place) -> SpecialPoint {
        let state = self.phase.named(&place.point.y);
        let (mut frequency, mut shape) = (None, Vec::new());
        if kind == "hopf"
            && let Some(here) = place.quotient.point(&place.point)
        {
            let complex = place.values.iter().copied().filter(|v| v[1] > 0.0);
            let pair = complex.min_by(|a, b| a[0].abs().total_cmp(&b[0].abs()));
            let w = place.quotient.variables.len();
            let mode = pair.and_then(|pair| eigenvector(w, &here.matrix, pair));
            frequency = pair.map(|pair| pair[1]);
            if let Some(mode) = mode {
                let row = |i: usize| {
                    let tangent = &here.tangent[i * w..(i + 1) * w];
                    tangent.iter().zip(&mode.components).map(|(t, x)| t * x[0]).sum()
                };
                shape = (0..place.point.y.len()).map(row).collect();
            }
        }
        SpecialPoint { kind, parameter: place.p, state, frequency, shape }
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
        for _ in 0..60 {
            let s = bracket.next();
            let place = self.corrected(from, s, &from.tangent.clone())?;
            let f = value(&place);
            let is_done = f == 0.0 || bracket.width() < 1e-14 * length.max(1e-3);
            found = Some(place);
            if is_done {
                break;
            }
            bracket.include(s, f);
            if f.abs() < 1e-15 {
                break;
            }
        }
        found
    }

    fn branch_point(&mut self, place: &Place) -> BranchPoint {
        self.set(place.p);
        let (_, stability, _) = self.phase.judge(&place.quotient, &place.point, &place.values);
        let state = self.phase.named(&place.point.y);
        BranchPoint { parameter: place.p, state, period: None, extent: Vec::new(), stability }
    }

    /// Follows a branch from a place; the starts of other branches are added to a list.
    fn follow(
        &mut self,
        start: Place,
        others: &mut Vec<(Place, Option<f64>)>,
    ) -> (Branch, bool) {
        let mut branch = Branch::default();
        branch.points.push(self.branch_point(&start));
        let first = start.clone();
        let (mut here, mut length) = (start, 0.25 * LONGEST * first.size());
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        branch.end = "points";
        while branch.points.len() < POINTS {
            let size = here.size();
            if !(self.watch)() {
                branch.end = "interrupted";
                return (branch, true);
            }
            let along = here.tangent.clone();
            let next = self.corrected(&here, length, &along).filter(|next| {
                // Around sharp bends, and where another branch is near, shorter.
                let turn: f64 = next.tangent.iter().zip(&along).map(|(a, b)| a * b).sum();
                turn > 0.9
            });
            let Some(next) = next else {
                length *= 0.5;
                if length < SHORTEST * size {
                    branch.end =
                        "no further equilibrium is found: the model may have none there";
                    break;
                }
                continue;
            };
            self.specials(&here, &next, length, &mut branch, others);
            if next.p < low || next.p > high {
                // The last point lies on the end of the range.
                let end = if next.p < low { low } else { high };
                let ends = (here.p - end, next.p - end);
                if ends.0 != 0.0
                    && let Some(last) = self.locate(&here, length, ends, &|place| place.p - end)
                {
                    branch.points.push(self.branch_point(&last));
                }
                branch.end = "range";
                break;
            }
            branch.points.push(self.branch_point(&next));
            let Some(next) = self.renewed(next) else {
                branch.end = "a singular point of the constraints";
                break;
            };
            here = next;
            length = (1.5 * length).min(LONGEST * size);
            let last = branch.points.len() - 2;
            if last > 1 && self.is_between(&branch.points[last..], &first) {
                branch.end = "it closes";
                break;
            }
        }
        (branch, false)
    }

    /// Adds what happens between two places.
    fn specials(
        &mut self,
        here: &Place,
        next: &Place,
        length: f64,
        branch: &mut Branch,
        others: &mut Vec<(Place, Option<f64>)>,
    ) {
        let w = here.quotient.variables.len();
        let slope = |place: &Place| place.tangent[w];
        let mut is_fold = false;
        if slope(here) * slope(next) < 0.0
            && let Some(found) = self.locate(here, length, (slope(here), slope(next)), &slope)
            && self.is_inside(found.p)
        {
            is_fold = true;
            branch.special.push(self.special("fold", &found));
        }
        let turned = |place: &Place| orientation(&place.matrix, w, &place.tangent);
        let (a, b) = (turned(here), turned(next));
        if a * b < 0.0 && !is_fold {
            // Near the point the least eigenvalue is the better function.
            let least = |place: &Place| {
                turned(place).signum() * least_value(&place.matrix, w, &place.tangent)
            };
            let found = self.locate(here, length, (least(here), least(next)), &least);
            self.add_branch_point(found, here, length, branch, others);
        } else if !is_fold && growing_alone(here) != growing_alone(next) {
            // In families the determinant is zero, and two eigenvalues at once do not change its sign.
            let family = family(here).min(family(next));
            let before = growing_alone(here);
            let least = |place: &Place| {
                let sign = if growing_alone(place) == before { 1.0 } else { -1.0 };
                sign * least_of_equations(place, family).0
            };
            let found = self.locate(here, length, (least(here), least(next)), &least);
            // Where two real eigenvalues became complex nothing vanishes.
            let found = found.filter(|found| {
                let (least, largest) = least_of_equations(found, family);
                least <= 1e-6 * largest
            });
            self.add_branch_point(found, here, length, branch, others);
        }
        let pair = |place: &Place| {
            let complex = place.values.iter().filter(|v| v[1] > 0.0);
            complex.map(|v| v[0]).min_by(|a, b| a.abs().total_cmp(&b.abs()))
        };
        let growing = |place: &Place| {
            let limit =
                1e-9 * place.values.iter().fold(0.0_f64, |m, v| m.max(v[0].abs() + v[1].abs()));
            place.values.iter().filter(|v| v[1] > 0.0 && v[0] > limit).count()
        };
        if growing(here) != growing(next)
            && let (Some(a), Some(b)) = (pair(here), pair(next))
            && a * b < 0.0
        {
            let value = |place: &Place| pair(place).unwrap_or(f64::NAN);
            let found = self.locate(here, length, (a, b), &value);
            if let Some(found) = found.filter(|found| self.is_inside(found.p)) {
                branch.special.push(self.special("hopf", &found));
            }
        }
    }

    /// Adds a branch point inside the range, with the starts of the other branches.
    fn add_branch_point(
        &mut self,
        found: Option<Place>,
        here: &Place,
        length: f64,
        branch: &mut Branch,
        others: &mut Vec<(Place, Option<f64>)>,
    ) {
        let Some(found) = found.filter(|found| self.is_inside(found.p)) else { return };
        branch.special.push(self.special("branch", &found));
        let p = found.p;
        let new = self.switched(&found, here, length).into_iter();
        others.extend(new.map(|place| (place, Some(p))));
    }

    /// Both ways along the other branch through a place, as seen from one before it.
    fn switched(&mut self, at: &Place, before: &Place, length: f64) -> Vec<Place> {
        let w = at.quotient.variables.len();
        // The branch itself and its family, as they are before.
        let mut known: Vec<Vec<f64>> = vec![at.tangent.clone()];
        let split = singular_values(&before.matrix, w, w + 1);
        for direction in split.directions.iter().rev().take(1 + family(before)) {
            add_to_basis(&mut known, direction.clone());
        }
        known.truncate(1 + family(before));
        let kernel = singular_values(&at.matrix, w, w + 1).directions;
        let beside = kernel.iter().rev().take(known.len() + 1).map(|direction| {
            let mut other = direction.clone();
            for known in &known {
                let part: f64 = known.iter().zip(direction).map(|(a, b)| a * b).sum();
                other.iter_mut().zip(known).for_each(|(x, k)| *x -= part * k);
            }
            let size = other.iter().map(|x| x * x).sum::<f64>().sqrt();
            (size, other)
        });
        let Some((size, other)) = beside.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for sign in [1.0, -1.0] {
            let along: Vec<f64> = other.iter().map(|x| sign * x / size).collect();
            found.extend(self.corrected(at, length, &along));
        }
        found
    }
}

fn follow_all(
    model: &Model,
    request: &ContinueRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Continuation, Failure> {
    let at =
        LinearizeRequest { principle: request.principle, at: None, backend: request.backend };
    let mut phase = Phase::new(model, &at)?;
    let index = parameter_index(&phase.model, &request.parameter)?;
    let search = EquilibriaRequest {
        principle: request.principle,
        search: Vec::new(),
        backend: request.backend,
    };
    let (starts, ..) = states(&mut phase, &search, watch)?;
    if starts.is_empty() {
        return Err(Failure::Usage(format!(
            "no equilibrium was found at {} = {}, where the branches should begin",
            request.parameter, request.from
        )));
    }
    let backend = request.backend.unwrap_or_default();
    let slopes =
        ParameterSlopes::new(&phase.model, &phase.dynamics, &phase.field, &[index], backend)?;
    let (from, to) = (request.from, request.to);
    let mut follower = Follower { phase, index, from, to, slopes, watch };
    if !follower.matters(&starts[0]) {
        return Err(Failure::Usage(format!(
            "the parameter `{}` does nothing: neither the equations nor the constraints depend on it",
            request.parameter
        )));
    }
    let mut waiting: Vec<(Place, Option<f64>)> = Vec::new();
    let forward = (request.to - request.from).signum();
    // Of a family that is linked one member is enough.
    let mut members: Vec<(usize, FieldPoint)> = Vec::new();
    for (point, quotient) in starts {
        let mut along = vec![0.0; quotient.variables.len() + 1];
        if let Some(last) = along.last_mut() {
            *last = forward;
        }
        let Some(place) = follower.place(&quotient, point, request.from, &along) else {
            continue;
        };
        let dimension = family(&place);
        if dimension > 0 {
            follower.set(request.from);
            let mut known = members.iter().filter(|(other, _)| *other == dimension);
            let phase = &mut follower.phase;
            if known.any(|(_, other)| is_linked(phase, &place.quotient, other, &place.point)) {
                continue;
            }
            members.push((dimension, place.point.clone()));
        }
        waiting.push((place, None));
    }
    waiting.reverse();
    let (mut branches, mut interrupted): (Vec<Branch>, bool) = (Vec::new(), false);
    while let Some((start, from)) = waiting.pop() {
        if branches.len() == BRANCHES || interrupted {
            break;
        }
        if branches.iter().any(|branch| follower.is_on(branch, &start)) {
            continue;
        }
        let mut others = Vec::new();
        let (mut branch, ended) = follower.follow(start, &mut others);
        interrupted |= ended;
        branch.from = from.map(|p| ("branch", p));
        branches.push(branch);
        waiting.splice(0..0, others);
    }
    if request.switch && !interrupted {
        let found: Vec<SpecialPoint> = branches
            .iter()
            .flat_map(|branch| &branch.special)
            .filter(|special| special.kind == "hopf")
            .take(HOPF)
            .cloned()
            .collect();
        for special in found {
            let (more, ended) = from_hopf(model, request, &special, follower.watch)?;
            branches.extend(more);
            interrupted |= ended;
        }
    }
    Ok(Continuation {
        title: model.name().to_owned(),
        parameter: request.parameter.clone(),
        branches,
        interrupted,
    })
}

impl Follower<'_> {
    /// Whether the parameter changes rates or constraints.
    fn matters(&mut self, (point, quotient): &(FieldPoint, Quotient)) -> bool {
        self.set(self.from);
        let others = scattered(&mut self.phase.field, &quotient.chart, point);
        let p = self.from + 0.37 * (self.to - self.from);
        others.iter().chain([point]).any(|at| {
            self.set(p);
            let field = &mut self.phase.field;
            let Ok(moved) = field.at(at.t, &at.y) else { return true };
            let differs = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-12 * (1.0 + b.abs()))
            };
            differs(&moved.rates, &at.rates)
                || differs(&moved.positions.values, &at.positions.values)
                || differs(&moved.velocities.values, &at.velocities.values)
        })
    }

    /// Whether a place lies between two points of a branch that was followed before.
    fn is_on(&self, branch: &Branch, place: &Place) -> bool {
        branch.points.windows(2).any(|pair| self.is_between(pair, place))
    }

    /// Whether a place lies between two neighbouring points.
    fn is_between(&self, pair: &[BranchPoint], place: &Place) -> bool {
        let [a, b] = pair else { return false };
        let (p, q) = (a.parameter, b.parameter);
        let room = 1e-9 * self.unit();
        if !(p.min(q) - room..=p.max(q) + room).contains(&place.p) {
            return false;
        }
        // What follows from constraints tells branches apart as well.
        let all: Vec<(f64, f64, f64)> = (0..a.state.len())
            .filter(|c| !place.quotient.cyclic.contains(c))
            .map(|c| (a.state[c].1, b.state[c].1, place.point.y[c]))
            .collect();
        let length = all.iter().map(|(x, y, _)| (x - y).powi(2)).sum::<f64>();
        let part = if (p - q).abs() > room {
            (place.p - p) / (q - p)
        } else {
            let along = all.iter().map(|(x, y, at)| (at - x) * (y - x)).sum::<f64>();
            along / length.max(f64::MIN_POSITIVE)
        };
        // Where the parameter does not change, a branch is its curve of states.
        let bent = if (p - q).abs() > room { 0.0 } else { 0.1 * length.sqrt() };
        (-1e-9..=1.0 + 1e-9).contains(&part)
            && all.into_iter().all(|(x, y, at)| {
                let between = x + part * (y - x);
                let allowed = bent.max(0.1 * (x - y).abs());
                (at - between).abs() <= allowed + 1e-6 * (1.0 + between.abs())
            })
    }
}
