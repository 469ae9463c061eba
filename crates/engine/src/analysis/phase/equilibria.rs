//! Where a system rests or moves steadily: `pfaff equilibria`.
//!
//! Newton's iteration starts at the initial state, at its positions without velocities, and at states that fill a box
//! evenly. What it reaches is made consistent with the constraints at every step.

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::{eigenvalues, symmetric_eigenvalues};

use crate::analysis::phase::families::{
    Kind, distance, is_linked, is_linked_in_motion, one_of_each,
};
use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::linearize::{LinearizeRequest, Phase, Setting, judge_in_frame};
use crate::analysis::phase::quotient::{Quotient, scattered};
use crate::analysis::phase::search_box::{Side, guesses, is_inside, sides};
use crate::analysis::phase::stability::{
    Stability, StabilityReason, with_zeros, without_rounding, zero_multiplicity,
};
use crate::analysis::phase::symmetries::{AffineSymmetry, MovingFrame, symmetries};
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::problem::start::{Given, given};
use crate::run::consistent_start::begin_from;
use crate::system::compiled::CompiledSystem;

/// Equilibria that are nearer than this, in parts of 1 + |y|, are one.
const SAME: f64 = 1e-7;
/// From how many starts the flow is followed down, besides.
const DESCENTS: usize = 34;

/// A range in which a position or velocity is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRange {
    /// `x` or `x'`
    pub name: String,
    /// The least value.
    pub from: f64,
    /// The greatest value.
    pub to: f64,
}

/// Where equilibria are looked for.
#[derive(Clone, Debug, Default)]
pub struct EquilibriaRequest {
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// The box; positions from −4 to 4 if it is empty.
    pub search: Vec<SearchRange>,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// A rest or a steady motion.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The state by name.
    pub state: Vec<(String, f64)>,
    /// The coordinates on which nothing depends, with their rates.
    pub cyclic: Vec<(String, f64)>,
    /// Symmetries that turn coordinates into each other and along which it moves steadily, with their rates.
    pub frame: Vec<(String, f64)>,
    /// Eigenvalues of the linear equations without cyclic coordinates.
    pub eigenvalues: Vec<[f64; 2]>,
    /// The dimension of the family of equilibria to which it belongs.
    pub family: usize,
    /// Whether it is stable.
    pub stability: Stability,
    /// How that is known.
    pub reason: StabilityReason,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Equilibria {
    /// The title of the model.
    pub title: String,
    /// By their states, ascending.
    pub found: Vec<Equilibrium>,
    /// From how many states the search started.
    pub starts: usize,
    /// Whether it was ended before it had tried all.
    pub interrupted: bool,
}

/// Finds equilibria and steady motions. `watch` is asked after each start and may end the search by `false`.
///
/// ```
/// use pfaff::{EquilibriaRequest, Model, Stability, equilibria};
/// let bead = Model::parse("coordinates x\nlagrangian x'^2/2 - (x^2 - 1)^2")?;
/// let found = equilibria(&bead, &EquilibriaRequest::default(), &mut || true)?.found;
/// let places: Vec<f64> = found.iter().map(|e| e.state[0].1.round()).collect();
/// assert_eq!(places, [-1.0, 0.0, 1.0]);
/// assert_eq!(found[1].stability, Stability::Unstable);
/// # Ok::<(), pfaff::Error>(())
/// ```
///
/// # Errors
///
/// [`Error`] if the model has no equations, or a range names nothing that it has.
pub fn equilibria(
    model: &Model,
    request: &EquilibriaRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Equilibria, Error> {
    search(model, request, watch).map_err(|failure| failure.in_source(&model.source))
}

/// The equilibria that a search reaches, each once; how many starts it had, and whether it was ended before.
pub(crate) type Found = (Vec<(FieldPoint, Quotient)>, usize, bool);

/// Searches from the initial state of a model and from states that fill the box.
pub(crate) fn states(
    phase: &mut Phase,
    request: &EquilibriaRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Found, Failure> {
    let sides = sides(phase, request)?;
    let backend = request.backend.unwrap_or_default();
    let own = given(&phase.model, phase.t);
    let guesses = guesses(&own, &sides);
    let mut quotient: Option<Quotient> = None;
    let mut found: Vec<(FieldPoint, Quotient)> = Vec::new();
    let mut starts = 0;
    let mut interrupted = false;
    let mut system = CompiledSystem::new(&phase.model, &phase.dynamics, backend)?;
    for guess in guesses {
        if !watch() {
            interrupted = true;
            break;
        }
        starts += 1;
        let mut guess = guess;
        for side in sides.iter().filter(|side| !side.is_given) {
            // Nothing depends on a cyclic coordinate, so that it stays where it is.
            if quotient.as_ref().is_some_and(|q| q.cyclic.contains(&side.coordinate)) {
                guess.q[side.coordinate] = own.q[side.coordinate];
            }
        }
        let Ok(start) = begin_from(&phase.model, &phase.dynamics, &mut system, phase.t, &guess)
        else {
            continue;
        };
        let mut y = system.state(phase.t, &start.q, &start.v, &start.multipliers);
        y.truncate(phase.field.size());
        let Ok(point) = phase.field.at(phase.t, &y) else { continue };
        if quotient.is_none() {
            quotient = Quotient::at(&mut phase.field, &point);
        }
        let Some(known) = &quotient else { continue };
        let mut reached: Vec<FieldPoint> = Vec::new();
        reached.extend(known.settle(&mut phase.field, &point));
        if starts <= DESCENTS && !phase.field.has_time {
            let low = known.descend(&mut phase.field, &point);
            reached.extend(low.and_then(|low| known.settle(&mut phase.field, &low)));
        }
        for mut settled in reached {
            let here = known.moved(&phase.field, &settled);
            // Where nothing can move although it can elsewhere, constraints repeat each other up to rounding.
            let is_locked = here.variables.is_empty() && !known.variables.is_empty();
            if is_locked
                || is_singular(&mut phase.field, &here, &settled)
                || is_edge(&mut phase.field, &here, &settled)
                || !stays(&mut phase.field, &here, &settled)
            {
                continue;
            }
            wrap(phase, &here, &mut settled, &sides);
            let is_new = found.iter().all(|(known, _)| {
                !is_same(&here, known, &settled)
                    && !is_turned(phase, &here, known, &settled, &sides)
            });
            if is_new && is_inside(phase, &sides, &settled) {
                found.push((settled, here));
            }
        }
    }
    Ok((found, starts, interrupted))
}

fn search(
    model: &Model,
    request: &EquilibriaRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Equilibria, Failure> {
    let at =
        LinearizeRequest { principle: request.principle, at: None, backend: request.backend };
    let mut phase = Phase::new(model, &at)?;
    let (found, starts, interrupted) = states(&mut phase, request, watch)?;
    let mut list: Vec<(FieldPoint, Equilibrium)> = Vec::new();
    let mut members: Vec<(FieldPoint, Quotient, Equilibrium)> = Vec::new();
    for (point, here) in found {
        let Some(at) = here.point(&point) else { continue };
        let Some(values) = eigenvalues(here.variables.len(), &at.matrix) else { continue };
        let (family, stability, reason) = phase.judge(&here, &point, &values);
        let rate = |&c: &usize| (phase.field.names[c].clone(), point.rates[c]);
        let equilibrium = Equilibrium {
            state: phase.named(&point.y),
            cyclic: here.cyclic.iter().map(rate).collect(),
            frame: Vec::new(),
            eigenvalues: clean(&without_rounding(&values, family, &at.matrix), &at.matrix),
            family,
            stability,
            reason,
        };
        if family == 0 {
            list.push((point, equilibrium));
        } else {
            members.push((point, here, equilibrium));
        }
    }
    let kind = |(.., e): &(FieldPoint, Quotient, Equilibrium)| Kind::of(e.family, e.stability);
    let kinds: Vec<Kind> = members.iter().map(kind).collect();
    let firsts = one_of_each(
        &kinds,
        |k, other| distance(&members[k].1, &members[other].0, &members[k].0),
        |k, other| is_linked(&mut phase, &members[k].1, &members[other].0, &members[k].0),
    );
    list.extend(firsts.into_iter().map(|k| (members[k].0.clone(), members[k].2.clone())));
    list.sort_by(|(a, ..), (b, ..)| {
        let pairs = a.y.iter().zip(&b.y).map(|(a, b)| a.total_cmp(b));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let steady = if interrupted { Vec::new() } else { relative(&mut phase, request, watch)? };
    Ok(Equilibria {
        title: model.name().to_owned(),
        found: list
            .into_iter()
            .map(|(_, equilibrium)| equilibrium)
            .chain(steady.into_iter().map(|(_, equilibrium)| equilibrium))
            .collect(),
        starts,
        interrupted,
    })
}

/// Steady motions along symmetries that turn or shift several coordinates together: from each start that moves, with
/// the rates of the frame in which it moves least. Their states, and what is known of them.
pub(crate) fn relative(
    phase: &mut Phase,
    request: &EquilibriaRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Vec<(Vec<f64>, Equilibrium)>, Failure> {
    let sides = sides(phase, request)?;
    let own = given(&phase.model, phase.t);
    let moves = |guess: &Given| guess.v.iter().flatten().any(|v| *v != 0.0);
    let backend = request.backend.unwrap_or_default();
    let mut found: Vec<(Vec<f64>, Equilibrium)> = Vec::new();
    let mut all: Option<Vec<AffineSymmetry>> = None;
    for guess in guesses(&own, &sides).into_iter().filter(moves) {
        if !watch() || all.as_ref().is_some_and(|all| all.iter().all(|s| s.is_cyclic)) {
            break;
        }
        let mut system = CompiledSystem::new(&phase.model, &phase.dynamics, backend)?;
        let start = begin_from(&phase.model, &phase.dynamics, &mut system, phase.t, &guess);
        let Ok(start) = start else { continue };
        let mut y = system.state(phase.t, &start.q, &start.v, &start.multipliers);
        y.truncate(phase.field.size());
        phase.field.frame = None;
        let Ok(point) = phase.field.at(phase.t, &y) else { continue };
        let Some(quotient) = Quotient::at(&mut phase.field, &point) else { continue };
        let known =
            all.get_or_insert_with(|| symmetries(&mut phase.field, &quotient.chart, &point));
        let Some(moving) = MovingFrame::of(&phase.field, known, &point) else { continue };
        phase.field.frame = Some(moving.frame);
        let settled = phase.field.at(phase.t, &y).ok().and_then(|point| {
            let quotient = Quotient::at(&mut phase.field, &point)?;
            quotient.settle(&mut phase.field, &point)
        });
        phase.field.frame = None;
        let Some(settled) = settled.filter(|at| is_inside(phase, &sides, at)) else { continue };
        phase.y = settled.y;
        let equilibrium = steady(phase)?;
        phase.field.frame = None;
        let is_new = |new: &Equilibrium| {
            found.iter().all(|(_, old)| {
                let values = old.eigenvalues.iter().zip(&new.eigenvalues);
                let apart = values.map(|(a, b)| (a[0] - b[0]).abs() + (a[1] - b[1]).abs());
                old.frame.len() != new.frame.len()
                    || apart.fold(0.0_f64, f64::max) > 1e-6
                    || old.frame.iter().zip(&new.frame).any(|(a, b)| (a.1 - b.1).abs() > 1e-6)
            })
        };
        let equilibrium = equilibrium.filter(is_new);
        found.extend(equilibrium.map(|equilibrium| (phase.y.clone(), equilibrium)));
    }
    let Some(all) = all else { return Ok(Vec::new()) };
    let kinds: Vec<Kind> = found.iter().map(|(_, e)| Kind::of(e.family, e.stability)).collect();
    let firsts = one_of_each(
        &kinds,
        |k, other| rates_apart(&found[k].1.frame, &found[other].1.frame),
        |k, other| is_linked_in_motion(phase, &all, &found[other].0, &found[k].0),
    );
    Ok(firsts.into_iter().map(|k| found[k].clone()).collect())
}

/// How much the rates of two steady motions along symmetries differ.
fn rates_apart(a: &[(String, f64)], b: &[(String, f64)]) -> f64 {
    let rate = |list: &[(String, f64)], name: &str| {
        list.iter().find(|(known, _)| known == name).map_or(0.0, |(_, rate)| *rate)
    };
    a.iter().chain(b).map(|(name, _)| (rate(a, name) - rate(b, name)).abs()).sum()
}

/// The steady motion through the state of a phase, if it is one in a frame that turns.
fn steady(phase: &mut Phase) -> Result<Option<Equilibrium>, Failure> {
    let setting = Setting::new(phase)?;
    let Some(beside) = &setting.beside else { return Ok(None) };
    let Some(values) = eigenvalues(beside.kept.len(), &beside.matrix) else { return Ok(None) };
    let (family, stability, reason) = judge_in_frame(phase, &setting, beside, &values);
    let values = clean(&without_rounding(&values, family, &beside.matrix), &beside.matrix);
    Ok(Some(Equilibrium {
        state: phase.named(&phase.y),
        cyclic: Vec::new(),
        frame: setting.frame,
        eigenvalues: values,
        family,
        stability,
        reason,
    }))
}

/// Eigenvalues with the zeros of their matrix as zeros.
fn clean(values: &[[f64; 2]], matrix: &[f64]) -> Vec<[f64; 2]> {
    with_zeros(values, zero_multiplicity(matrix, values.len()), matrix)
}

/// Whether a state that is an equilibrium at one time is one at other times.
fn stays(field: &mut Field, quotient: &Quotient, point: &FieldPoint) -> bool {
    let times = if field.has_time { vec![0.371, 1.13, 2.92] } else { Vec::new() };
    times.into_iter().all(|later| {
        let there = field.at(point.t + later, &point.y).ok();
        there.and_then(|there| quotient.point(&there)).is_some_and(|q| q.is_equilibrium())
    })
}

/// Whether coordinates are singular at a state, as angles on a sphere at its poles: a mass vanishes there and nowhere
/// around.
fn is_singular(field: &mut Field, quotient: &Quotient, point: &FieldPoint) -> bool {
    const VANISHING: f64 = 1e-13;
    let n = field.n;
    if field.m > 0 || point.mass.is_empty() {
        return false;
    }
    let others = scattered(field, &quotient.chart, point);
    let mass = |at: &FieldPoint, k: usize| at.mass[k * n + k].abs();
    let vanishes = |k: usize| {
        let around = others.iter().fold(0.0_f64, |m, at| m.max(mass(at, k)));
        mass(point, k) <= VANISHING * around && around > 0.0
    };
    if (0..n).any(vanishes) {
        return true;
    }
    // In units in which all masses are 1.
    let unit = |k: usize| mass(point, k).sqrt();
    let entries = (0..n * n).map(|e| point.mass[e] / (unit(e / n) * unit(e % n)));
    let values = symmetric_eigenvalues(n, &entries.collect::<Vec<f64>>());
    values.iter().any(|x| x.abs() <= VANISHING)
}

/// Whether a state lies at the edge of a chart, as the components x, y of a unit vector at x² + y² = 1: a little
/// farther the equations have no value, or their slopes are a small part of what they are there.
fn is_edge(field: &mut Field, quotient: &Quotient, point: &FieldPoint) -> bool {
    /// How far states beside it are, in parts of 1 + |y|, and how much steeper an edge is.
    const BESIDE: f64 = 1e-6;
    const STEEPER: f64 = 30.0;
    let steepest = |at: &FieldPoint| {
        let matrix = quotient.point(at)?.matrix;
        Some(matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs())))
    };
    let mut beside = 0.0_f64;
    for &c in &quotient.variables {
        for side in [BESIDE, -BESIDE] {
            let mut y = point.y.clone();
            y[c] += side * (1.0 + y[c].abs());
            let moved = quotient.chart.complete(field, point.t, &mut y);
            let there = moved.and_then(|()| field.at(point.t, &y)).ok();
            let Some(slope) = there.as_ref().and_then(steepest) else { return true };
            beside = beside.max(slope);
        }
    }
    steepest(point).is_none_or(|own| own > STEEPER * beside)
}

/// Takes angles, which are coordinates whose shift by 2π changes nothing, into (−π, π], cyclic coordinates back to
/// where they are at the start, and sets what is zero up to rounding to zero.
fn wrap(phase: &mut Phase, quotient: &Quotient, point: &mut FieldPoint, sides: &[Side]) {
    use std::f64::consts::{PI, TAU};
    let mut y = point.y.clone();
    let is_given =
        |k: usize| sides.iter().any(|s| s.is_given && !s.is_velocity && s.coordinate == k);
    for k in 0..phase.field.n {
        let turns = (y[k] / TAU - 0.5 - 1e-9).ceil();
        if is_given(k) || (-PI + 1e-9..=PI + 1e-9).contains(&y[k]) {
            continue;
        }
        let mut turn = vec![0.0; y.len()];
        turn[k] = TAU;
        if changes_nothing(&mut phase.field, quotient, point, &turn) {
            y[k] -= turns * TAU;
        }
    }
    for &c in quotient.cyclic.iter().filter(|&&c| c < phase.field.n && !is_given(c)) {
        y[c] = phase.y[c];
    }
    if quotient.chart.complete(&mut phase.field, point.t, &mut y).is_err() {
        return;
    }
    let size = y.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for x in y.iter_mut().filter(|x| x.abs() <= 1e-12 * size) {
        *x = 0.0;
    }
    if let Ok(moved) = phase.field.at(point.t, &y) {
        let still = quotient.moved(&phase.field, &moved);
        if still.point(&moved).is_some_and(|there| there.is_equilibrium()) {
            *point = moved;
        }
    }
}

/// Whether a shift of the state changes neither the flow nor the constraints, at states around one.
fn changes_nothing(
    field: &mut Field,
    quotient: &Quotient,
    point: &FieldPoint,
    shift: &[f64],
) -> bool {
    scattered(field, &quotient.chart, point).iter().all(|at| {
        let shifted: Vec<f64> = at.y.iter().zip(shift).map(|(x, δ)| x + δ).collect();
        let (Ok(rates), Ok([positions, velocities])) =
            (field.rates(at.t, &shifted), field.constraints(at.t, &shifted))
        else {
            return false;
        };
        let size = at.rates.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let kept = rates.iter().zip(&at.rates).all(|(a, b)| (a - b).abs() <= 1e-9 * size);
        let values = positions.values.iter().chain(&velocities.values);
        kept && values.into_iter().all(|x| x.abs() <= 1e-9 * size)
    })
}

/// Whether an equilibrium is a known one after whole turns of several coordinates at once, which change nothing
/// together: those of all angles of a chain whose springs know differences alone.
fn is_turned(
    phase: &mut Phase,
    quotient: &Quotient,
    known: &FieldPoint,
    found: &FieldPoint,
    sides: &[Side],
) -> bool {
    use std::f64::consts::TAU;
    let n = phase.field.n;
    let is_given =
        |k: usize| sides.iter().any(|s| s.is_given && !s.is_velocity && s.coordinate == k);
    let turn = |k: usize| {
        let is_open = k < n && !is_given(k) && !quotient.cyclic.contains(&k);
        if is_open { TAU * ((found.y[k] - known.y[k]) / TAU).round() } else { 0.0 }
    };
    let shift: Vec<f64> = (0..known.y.len()).map(turn).collect();
    if shift.iter().filter(|x| **x != 0.0).count() < 2 {
        return false;
    }
    let mut turned = known.clone();
    turned.y.iter_mut().zip(&shift).for_each(|(x, δ)| *x += δ);
    is_same(quotient, &turned, found)
        && changes_nothing(&mut phase.field, quotient, known, &shift)
}

/// Whether two equilibria differ by cyclic coordinates and rounding alone.
fn is_same(quotient: &Quotient, a: &FieldPoint, b: &FieldPoint) -> bool {
    let all = (0..a.y.len()).filter(|c| !quotient.cyclic.contains(c));
    all.into_iter().all(|c| (a.y[c] - b.y[c]).abs() <= SAME * (1.0 + b.y[c].abs()))
}
