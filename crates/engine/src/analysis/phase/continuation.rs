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

use pfaff_solver::{eigenvector, singular_values};

use crate::analysis::phase::bracket::Bracket;
use crate::analysis::phase::branch::{
    Branch, BranchPoint, Continuation, ContinueRequest, SpecialPoint, parameter_index,
};
use crate::analysis::phase::branch_place::{
    Chartered, Place, Steady, extreme_values, family, growing_alone, least_of_equations,
    orientation,
};
use crate::analysis::phase::branch_step::Follower;
use crate::analysis::phase::equilibria::{EquilibriaRequest, relative, states};
use crate::analysis::phase::families::{is_linked, nearest_copy};
use crate::analysis::phase::field::{FieldPoint, ParameterSlopes};
use crate::analysis::phase::held::{Condition, Held};
use crate::analysis::phase::linearize::{LinearizeRequest, Phase, Setting, judge_in_frame};
use crate::analysis::phase::orbit_branch::from_hopf;
use crate::analysis::phase::quotient::scattered;
use crate::analysis::phase::stability::Stability;
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

impl Follower<'_> {
    fn special(&self, kind: &'static str, place: &Place) -> SpecialPoint {
        let state = self.phase.named(&place.point.y);
        let (mut frequency, mut shape) = (None, Vec::new());
        if kind == "hopf"
            && let Some(here) = place.quotient().point(&place.point)
        {
            let complex = place.values.iter().copied().filter(|v| v[1] > 0.0);
            let pair = complex.min_by(|a, b| a[0].abs().total_cmp(&b[0].abs()));
            let w = place.quotient().variables.len();
            let pair_at_rest = pair.filter(|_| place.within.steady.is_none());
            let mode = pair_at_rest.and_then(|pair| eigenvector(w, &here.matrix, pair));
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

    /// A point of a branch; `None` where a motion in a frame is not steady, because the symmetries are others there.
    fn branch_point(&mut self, place: &Place) -> Option<BranchPoint> {
        self.set(place.p);
        let (mut frame, stability) = (
            Vec::new(),
            match &place.within.steady {
                None => self.phase.judge(place.quotient(), &place.point, &place.values).1,
                Some(_) => Stability::Undecided,
            },
        );
        let mut stability = stability;
        if place.within.steady.is_some() {
            self.phase.y.clone_from(&place.point.y);
            let setting = Setting::new(&mut self.phase).ok();
            let judged = setting.and_then(|setting| {
                let left = setting.beside.as_ref()?;
                let verdict = judge_in_frame(&mut self.phase, &setting, left, &place.values);
                Some((setting.frame.clone(), verdict.1))
            });
            self.phase.field.frame = None;
            (frame, stability) = judged?;
        }
        let state = self.phase.named(&place.point.y);
        Some(BranchPoint {
            parameter: place.p,
            state,
            frame,
            period: None,
            extent: Vec::new(),
            stability,
        })
    }

    /// Names and values of what is held along the branch through a place.
    fn held_names(&self, place: &Place) -> Vec<(String, Option<f64>)> {
        let named = |&(what, level): &(Held, f64)| match what {
            Held::Component(c) => (self.phase.field.names[c].clone(), Some(level)),
            Held::Rate(i) => {
                let name = place.within.steady.as_ref().map(|s| s.symmetries[i].name.clone());
                (name.unwrap_or_default(), Some(level))
            }
            Held::Condition(k) => {
                let condition = &self.conditions[k];
                (condition.name.clone(), (!condition.is_equation).then_some(level))
            }
        };
        place.within.held.iter().map(named).collect()
    }

    /// Follows a branch from a place; the starts of other branches are added to a list.
    fn follow(
        &mut self,
        start: Place,
        others: &mut Vec<(Place, Option<f64>)>,
    ) -> (Branch, bool) {
        let mut branch =
            Branch { held: self.held_names(&start), loose: start.loose(), ..Branch::default() };
        branch.points.extend(self.branch_point(&start));
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
                    branch.points.extend(self.branch_point(&last));
                }
                branch.end = "range";
                break;
            }
            let Some(point) = self.branch_point(&next) else {
                branch.end = "the symmetries along which it moves change with the parameter";
                break;
            };
            branch.points.push(point);
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
        let slope = |place: &Place| place.slope();
        let mut is_fold = false;
        if slope(here) * slope(next) < 0.0
            && let Some(found) = self.locate(here, length, (slope(here), slope(next)), &slope)
            && self.is_inside(found.p)
        {
            is_fold = true;
            branch.special.push(self.special("fold", &found));
        }
        let is_plain = here.is_plain() && next.is_plain();
        let turned = |place: &Place| if is_plain { orientation(place) } else { 0.0 };
        if turned(here) * turned(next) < 0.0 && !is_fold {
            // Near the point the least eigenvalue is the better function.
            let least = |place: &Place| turned(place).signum() * extreme_values(place).0;
            let found = self.locate(here, length, (least(here), least(next)), &least);
            self.add_branch_point(found, here, length, branch, others);
        } else if !is_fold && !is_plain && growing_alone(here) != growing_alone(next) {
            // Where something is held the equations are more than the unknowns.
            let before = growing_alone(here);
            let least = |place: &Place| {
                let sign = if growing_alone(place) == before { 1.0 } else { -1.0 };
                sign * extreme_values(place).0
            };
            let found = self.locate(here, length, (least(here), least(next)), &least);
            // Stability changes at other places, too, such as extrema of a momentum.
            let found = found.filter(|found| {
                let (least, largest) = extreme_values(found);
                least <= 1e-6 * largest
            });
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
        let limit = |place: &Place| {
            1e-9 * place.values.iter().fold(0.0_f64, |m, v| m.max(v[0].abs() + v[1].abs()))
        };
        let is_rounding = |place: &Place, x: f64| x.abs() <= limit(place);
        let growing = |place: &Place| {
            let limit = limit(place);
            place.values.iter().filter(|v| v[1] > 0.0 && v[0] > limit).count()
        };
        if growing(here) == growing(next) {
            return;
        }
        let found = match (pair(here), pair(next)) {
            (Some(a), Some(b))
                if a * b < 0.0 && !is_rounding(here, a) && !is_rounding(next, b) =>
            {
                let value = |place: &Place| pair(place).unwrap_or(f64::NAN);
                self.locate(here, length, (a, b), &value)
            }
            // Of reversible flows two pairs on the imaginary axis meet, and leave it.
            (Some(_), Some(_)) => self.parted(here, length, &growing),
            _ => None,
        };
        if let Some(found) = found.filter(|found| self.is_inside(found.p)) {
            branch.special.push(self.special("hopf", &found));
        }
    }

    /// Where a number changes between two places, by bisection.
    fn parted(
        &mut self,
        from: &Place,
        length: f64,
        count: &dyn Fn(&Place) -> usize,
    ) -> Option<Place> {
        let (first, along) = (count(from), from.tangent.clone());
        let (mut low, mut high, mut found) = (0.0, length, None);
        while high - low > 1e-15 * (1.0 + length) {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            let place = self.corrected(from, middle, &along)?;
            if count(&place) == first {
                low = middle;
            } else {
                high = middle;
                found = Some(place);
            }
        }
        found
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
        let columns = at.tangent.len();
        // The branch itself and its family, as they are before.
        let mut known: Vec<Vec<f64>> = vec![at.tangent.clone()];
        let split = singular_values(&before.matrix, before.rows(), columns);
        let dimension = 1 + before.loose();
        for direction in split.directions.iter().rev().take(dimension) {
            add_to_basis(&mut known, direction.clone());
        }
        known.truncate(dimension);
        let kernel = singular_values(&at.matrix, at.rows(), columns).directions;
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
        search: request.search.clone(),
        backend: request.backend,
    };
    let conditions = match &request.fix {
        Some(text) => Condition::read_all(&phase, index, text)?,
        None => Vec::new(),
    };
    let (starts, ..) = states(&mut phase, &search, watch)?;
    let steady: Vec<Vec<f64>> =
        relative(&mut phase, &search, watch)?.into_iter().map(|(y, _)| y).collect();
    if starts.is_empty() && steady.is_empty() {
        return Err(Failure::Usage(format!(
            "no equilibrium was found at {} = {}, where the branches should begin",
            request.parameter, request.from
        )));
    }
    let backend = request.backend.unwrap_or_default();
    let slopes =
        ParameterSlopes::new(&phase.model, &phase.dynamics, &phase.field, &[index], backend)?;
    let (from, to) = (request.from, request.to);
    let mut follower = Follower { phase, index, from, to, slopes, conditions, watch };
    let steady: Vec<(FieldPoint, Chartered)> =
        steady.into_iter().filter_map(|y| follower.in_frame(y)).collect();
    let rest =
        |(point, quotient)| (point, Chartered { quotient, steady: None, held: Vec::new() });
    let starts: Vec<(FieldPoint, Chartered)> =
        starts.into_iter().map(rest).chain(steady).collect();
    let is_held =
        follower.conditions.iter().any(|condition| condition.has_parameter(&follower.phase));
    if !is_held && !starts.first().is_some_and(|start| follower.matters(start)) {
        return Err(Failure::Usage(format!(
            "the parameter `{}` does nothing: neither the equations nor the constraints depend on it",
            request.parameter
        )));
    }
    let mut waiting: Vec<(Place, Option<f64>)> = Vec::new();
    let forward = (request.to - request.from).signum();
    // Of a family that is linked one member is enough.
    let mut members: Vec<(usize, FieldPoint)> = Vec::new();
    let mut used = vec![false; follower.conditions.len()];
    for (point, within) in starts {
        let Some(place) = follower.first(within, point, forward) else { continue };
        for (what, _) in &place.within.held {
            if let Held::Condition(k) = *what {
                used[k] = true;
            }
        }
        let dimension = family(&place);
        if dimension > 0 && place.within.steady.is_none() {
            follower.set(request.from);
            let mut known = members.iter().filter(|(other, _)| *other == dimension);
            let phase = &mut follower.phase;
            let quotient = place.quotient();
            if known.any(|(_, other)| is_linked(phase, quotient, other, &place.point)) {
                continue;
            }
            members.push((dimension, place.point.clone()));
        }
        waiting.push((place, None));
    }
    if let Some(k) = used.iter().position(|used| !used) {
        let name = &follower.conditions[k].name;
        return Err(Failure::Usage(format!(
            "`{name}` picks none of the motions at {} = {}: they form no family over it, or none of a family has it",
            request.parameter, request.from
        )));
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
            let (more, ended) = from_hopf(model, request, &special, &mut *follower.watch)?;
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
    /// A steady motion in its frame.
    fn in_frame(&mut self, y: Vec<f64>) -> Option<(FieldPoint, Chartered)> {
        self.set(self.from);
        self.phase.y = y;
        let setting = Setting::new(&mut self.phase).ok();
        self.phase.field.frame = None;
        let Setting { point, quotient, symmetries, rates, beside, .. } = setting?;
        beside?;
        let steady = Some(Steady { symmetries, rates });
        Some((point, Chartered { quotient, steady, held: Vec::new() }))
    }

    /// The first place of a branch: what makes it a curve is held, and solved for where it is an equation.
    fn first(&mut self, within: Chartered, point: FieldPoint, forward: f64) -> Option<Place> {
        let mut along = vec![0.0; within.quotient.variables.len() + within.rates() + 1];
        if let Some(last) = along.last_mut() {
            *last = forward;
        }
        let held = self.held(&within, &point, self.from)?;
        let place = self.place(Chartered { held, ..within }, point, self.from, &along)?;
        if place.within.held.is_empty() {
            Some(place)
        } else {
            self.corrected(&place, 0.0, &along)
        }
    }

    /// Whether the parameter changes rates or constraints.
    fn matters(&mut self, (point, within): &(FieldPoint, Chartered)) -> bool {
        self.set(self.from);
        let Ok(point) = &self.phase.field.at(point.t, &point.y) else { return true };
        let others = scattered(&mut self.phase.field, &within.quotient.chart, point);
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
        let steady =
            |branch: &Branch| branch.points.first().is_some_and(|p| !p.frame.is_empty());
        steady(branch) == place.within.steady.is_some()
            && branch.points.windows(2).any(|pair| self.is_between(pair, place))
    }

    /// Whether a place lies between two neighbouring points.
    fn is_between(&self, pair: &[BranchPoint], place: &Place) -> bool {
        let [a, b] = pair else { return false };
        let (p, q) = (a.parameter, b.parameter);
        let room = 1e-9 * self.unit();
        if !(p.min(q) - room..=p.max(q) + room).contains(&place.p) {
            return false;
        }
        // Of motions that symmetries make of each other the nearest one.
        let y = match &place.within.steady {
            Some(Steady { symmetries, .. }) => {
                let to: Vec<f64> = a.state.iter().map(|(_, x)| *x).collect();
                let copy = nearest_copy(&self.phase.field, symmetries, &to, &place.point.y);
                copy.unwrap_or_else(|| place.point.y.clone())
            }
            None => place.point.y.clone(),
        };
        // What follows from constraints tells branches apart as well.
        let all: Vec<(f64, f64, f64)> = (0..a.state.len())
            .filter(|c| !place.quotient().cyclic.contains(c))
            .map(|c| (a.state[c].1, b.state[c].1, y[c]))
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
