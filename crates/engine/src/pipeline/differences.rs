//! Derivatives by differences of whole motions: where no variational equations hold, and of second order.
//!
//! Central differences of order eight over motions with neighbouring values,
//!
//! $$ \frac{\partial y}{\partial p} \approx \frac1h \sum_{j=1}^4 w_j\,\bigl(y(p + jh) - y(p - jh)\bigr), $$
//!
//! lose $10^{-2}$ of what the motions themselves are accurate to, and are off by $h^8$ of a ninth derivative. What the
//! formulas of orders six and four, by three and two of the four pairs, give instead tells how much that is: errors
//! fall from one order to the next by about the same factor, down to rounding. Second derivatives are differences of
//! the first ones, which are exact.

use crate::error::Failure;
use crate::model::Model;
use crate::motion::note::Note;
use crate::motion::sensitivity::{EventSensitivity, Sensitivity};
use crate::motion::verdict::{Audit, Check};
use crate::motion::{EventRecord, Motion, Series};
use crate::problem::settings::{Run, Settings};
use crate::run::sensitivity::values::{with_parameters, with_values};
use crate::run::volterra::variation::WEIGHTS;

/// The weights of orders six and four.
const FEWER: [f64; 3] = [3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0];
const FEWEST: [f64; 2] = [2.0 / 3.0, -1.0 / 12.0];
/// The step in parts of a parameter.
const STEP: f64 = 1.0 / 64.0;
/// The tolerance of the motions: what they are wrong by is magnified by the step.
const TOLERANCE: f64 = 1e-13;
/// What an estimate may be, in parts of the derivative.
const LIMIT: f64 = 1e-6;

/// A run of a model.
pub(super) type Runs<'a> = &'a mut dyn FnMut(&Model, &Run) -> Result<Motion, Failure>;

/// The derivative of a motion by the parameter `place` of a model.
pub(super) fn by_parameter(
    model: &Model,
    request: &Run,
    place: usize,
    motion: &mut Motion,
    runs: Runs<'_>,
) -> Result<Sensitivity, Failure> {
    let plain = Run { sensitivities: Vec::new(), second: false, ..neighbour(request, motion) };
    let list = neighbours(model, &plain, place, runs)?;
    let lists: Vec<Vec<f64>> = list.iter().map(|m| numbers(m, motion)).collect();
    let (values, error) = combined(&lists, step(model, place));
    add_check(motion, "sensitivities by differences", error);
    Ok(arranged(&values, motion))
}

/// Adds the second derivatives by all pairs of what the motion was differentiated by.
pub(super) fn add_second(
    model: &Model,
    request: &Run,
    motion: &mut Motion,
    runs: Runs<'_>,
) -> Result<(), Failure> {
    let names: Vec<String> = motion.sensitivities.iter().map(|s| s.name.clone()).collect();
    if motion.sensitivities.iter().any(|s| s.end.is_some()) {
        return Err(Failure::usage(
            "second derivatives are not available where the end time is free: motions with neighbouring values do not \
             last as long",
        ));
    }
    let settings = Settings::new(&model.workspace(), request)?;
    let (varied, places) = with_parameters(model, &names, settings.t0)?;
    let asked = Run { second: false, ..neighbour(request, motion) };
    let mut worst: Option<f64> = Some(0.0);
    let mut found: Vec<Vec<Sensitivity>> = vec![Vec::new(); names.len()];
    for (name, &place) in names.iter().zip(&places) {
        let list = neighbours(&varied, &asked, place, runs)?;
        for (k, first) in motion.sensitivities.iter().enumerate() {
            let of = |m: &Motion| m.sensitivities.get(k).map(|s| derivatives(s, motion, first));
            let lists: Vec<Vec<f64>> = list.iter().filter_map(of).collect();
            let (values, error) = combined(&lists, step(&varied, place));
            worst = worst.zip(error).map(|(a, b)| if b.is_nan() { b } else { a.max(b) });
            let second = arranged(&values, motion);
            found[k].push(Sensitivity { name: name.clone(), ..second });
        }
    }
    for (first, second) in motion.sensitivities.iter_mut().zip(found) {
        first.second = second;
    }
    add_check(motion, "second sensitivities by differences", worst);
    Ok(())
}

/// What is asked of a motion with neighbouring values: the same outputs, with more digits.
fn neighbour(request: &Run, motion: &Motion) -> Run {
    let tolerance = request.tolerance.map_or(TOLERANCE, |t| t.min(TOLERANCE));
    Run {
        at: Some(motion.t.clone()),
        samples: None,
        tolerance: Some(tolerance),
        outputs_only: true,
        ..request.clone()
    }
}

fn step(model: &Model, place: usize) -> f64 {
    let value = model.parameters[place].value;
    if value == 0.0 { STEP } else { STEP * value.abs() }
}

/// The motions at $p + h$, $p - h$, $p + 2h$, …
fn neighbours(
    model: &Model,
    request: &Run,
    place: usize,
    runs: Runs<'_>,
) -> Result<Vec<Motion>, Failure> {
    let (value, h) = (model.parameters[place].value, step(model, place));
    let mut list = Vec::new();
    for j in 1..=WEIGHTS.len() {
        for sign in [1.0, -1.0] {
            let other = with_values(model, &[place], &[value + sign * j as f64 * h]);
            list.push(runs(&other, request)?);
        }
    }
    Ok(list)
}

/// The derivatives, and their estimated error in parts of the largest value.
fn combined(lists: &[Vec<f64>], h: f64) -> (Vec<f64>, Option<f64>) {
    let count = lists.first().map_or(0, Vec::len);
    if lists.len() < 2 * WEIGHTS.len() {
        return (vec![f64::NAN; count], None);
    }
    let at = |weights: &[f64], i: usize| -> f64 {
        let pairs = weights.iter().enumerate();
        pairs.map(|(j, w)| w * (lists[2 * j][i] - lists[2 * j + 1][i])).sum::<f64>() / h
    };
    let values: Vec<f64> = (0..count).map(|i| at(&WEIGHTS, i)).collect();
    let size = values.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let apart = |weights: &[f64]| {
        let known = (0..count).filter(|&i| values[i].is_finite());
        known.map(|i| (values[i] - at(weights, i)).abs()).fold(0.0_f64, f64::max)
    };
    let (six, four) = (apart(&FEWER), apart(&FEWEST));
    let error = if six < four { six * (six / four) } else { six };
    let error =
        (size > 0.0 || error == 0.0).then(|| if error == 0.0 { 0.0 } else { error / size });
    (values, error)
}

/// All numbers of a motion at the outputs and events of another one.
fn numbers(motion: &Motion, like: &Motion) -> Vec<f64> {
    let lists = [&motion.q, &motion.v, &motion.multipliers, &motion.observed];
    let wanted = [&like.q, &like.v, &like.multipliers, &like.observed];
    let mut all = series(lists, wanted, like.t.len());
    for (k, event) in like.events.iter().enumerate() {
        let same = motion.events.get(k).filter(|e| e.name == event.name);
        all.push(same.map_or(f64::NAN, |e| e.t));
        for i in 0..event.q.len() {
            all.push(same.map_or(f64::NAN, |e| e.q[i]));
        }
        for i in 0..event.v.len() {
            all.push(same.map_or(f64::NAN, |e| e.v[i]));
        }
    }
    // The end time belongs to motions between ends.
    all.push(f64::NAN);
    all
}

/// All numbers of a derivative, in the same order.
fn derivatives(s: &Sensitivity, like: &Motion, first: &Sensitivity) -> Vec<f64> {
    let lists = [&s.q, &s.v, &s.multipliers, &s.observed];
    let wanted = [&like.q, &like.v, &like.multipliers, &like.observed];
    let mut all = series(lists, wanted, like.t.len());
    for (k, event) in like.events.iter().enumerate() {
        let same = s.events.get(k).filter(|e| e.name == event.name);
        all.push(same.map_or(f64::NAN, |e| e.t));
        for i in 0..event.q.len() {
            all.push(same.map_or(f64::NAN, |e| e.q[i]));
        }
        for i in 0..event.v.len() {
            all.push(same.map_or(f64::NAN, |e| e.v[i]));
        }
    }
    all.push(first.end.and(s.end).unwrap_or(f64::NAN));
    all
}

fn series(lists: [&Vec<Series>; 4], wanted: [&Vec<Series>; 4], times: usize) -> Vec<f64> {
    let mut all = Vec::new();
    for (list, wanted) in lists.into_iter().zip(wanted) {
        for s in wanted {
            let found = list.iter().find(|other| other.name == s.name);
            let value = |i: usize| found.and_then(|f| f.values.get(i)).copied();
            all.extend((0..times).map(|i| value(i).unwrap_or(f64::NAN)));
        }
    }
    all
}

/// Numbers in that order as a derivative.
fn arranged(values: &[f64], like: &Motion) -> Sensitivity {
    let mut rest = values.iter().copied();
    let mut take = |count: usize| -> Vec<f64> { rest.by_ref().take(count).collect() };
    let mut part = |wanted: &Vec<Series>| -> Vec<Series> {
        let one = |s: &Series| Series { name: s.name.clone(), values: take(like.t.len()) };
        wanted.iter().map(one).collect()
    };
    let (q, v) = (part(&like.q), part(&like.v));
    let (multipliers, observed) = (part(&like.multipliers), part(&like.observed));
    let event = |e: &EventRecord| EventSensitivity {
        name: e.name.clone(),
        t: take(1)[0],
        q: take(e.q.len()),
        v: take(e.v.len()),
    };
    let events = like.events.iter().map(event).collect();
    let end = take(1).first().copied().filter(|x| x.is_finite());
    Sensitivity {
        name: String::new(),
        q,
        v,
        multipliers,
        observed,
        events,
        end,
        second: Vec::new(),
    }
}

fn add_check(motion: &mut Motion, name: &str, error: Option<f64>) {
    let reason = "differences of orders six and eight over the same motions";
    let check = Check::measured(name.into(), error, LIMIT, reason);
    motion.audit.checks.push(check);
    motion.audit = Audit::of(std::mem::take(&mut motion.audit.checks));
}

/// What is said where differences stand for variational equations.
pub(super) fn note(name: &str) -> Note {
    Note::Remark(format!(
        "`{name}` decides orders, kernels, branches or constants of the memory, whose variational equations are not \
         derived: its sensitivities are differences of order eight over eight motions"
    ))
}
