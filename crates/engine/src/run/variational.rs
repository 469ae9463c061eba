//! Extrema between given ends with memory: a model with `final` and fractional operators of either side into
//! an audited motion.
//!
//! ```text
//! Model ─► 𝓛 of operators ─► conditions at the ends ─► stationary points of growing degree ─► Motion of the first
//! ```
//!
//! $\delta\int(L - \mu\cdot\varphi)\,dt = 0$ looks at past and future at once, so there is no run from
//! initial values: the whole course is found at once by the spectral method of the solver. The degree grows
//! until doubling it changes less than the tolerance.
//! The audit has two more roads: the first variation along functions of its own, and Hamilton's form in
//! positions and momenta.

mod ends;
mod equivalence;
mod formulate;
mod hamilton;
mod hamilton_form;
mod integrand;
mod refine;
mod variation;

use pfaff_expr::Expr;
use pfaff_model::{Diagnostic, Dynamics as Written, Principle, Span, Workspace};
use pfaff_solver::{Extremum, FractionalOperator, IntervalPoint, NoExtremum};

use crate::audit::extremum::ExtremumEvidence;
use crate::audit::{Evidence, audit};
use crate::clock::Stopwatch;
use crate::error::Failure;
use crate::motion::note::{Note, brief};
use crate::motion::solution::Solution;
use crate::motion::{Form, Motion, Series, Statistics, Stop, StopReason};
use crate::problem::dynamics_span;
use crate::problem::interval::TimeInterval;
use crate::problem::settings::{Method, Run, Settings};
use crate::run::bvp::has_ends;
use crate::run::variational::ends::{Ends, ends};
use crate::run::variational::formulate::Formulation;
use crate::run::variational::formulate::mistake;
use crate::run::variational::hamilton::Hamilton;
pub use crate::run::variational::hamilton_form::{
    FractionalHamilton, FractionalHamiltonEquation, fractional_hamilton,
};
use crate::run::variational::integrand::{Integrand, compiled, time};
use crate::run::variational::refine::{ExtremumSearch, Reached};
use crate::run::variational::variation::first_variation;
use crate::run::volterra::has_memory;

/// Test functions of the audit.
const TESTS: usize = 12;

/// Whether a run of the model is an extremum with memory.
pub fn is_fractional(model: &Workspace) -> bool {
    let inside = match model.dynamics {
        Written::Lagrangian { lagrangian, .. } => model.graph.has_memory(lagrangian),
        Written::Equations(_) => false,
    };
    has_ends(model) && (inside || has_memory(model))
}

/// Finds the extremum and audits it.
pub(crate) fn run(model: &Workspace, request: &Run) -> Result<Motion, Failure> {
    let clock = Stopwatch::start(request.clock);
    let principle = request.principle.unwrap_or(model.principle);
    possible(model, principle).map_err(|d| Failure::Model(vec![d]))?;
    let method = Method::of(model, request);
    if !matches!(method, Method::Auto | Method::Spectral) {
        let text = format!(
            "the method `{}` does not solve boundary value problems with memory: choose `auto` or `spectral`",
            method.name()
        );
        return Err(Failure::Usage(text));
    }
    if !request.lead.is_empty() {
        let text = "motions with memory cannot be continued from other parameters: give a guess or a motion to \
                    start from";
        return Err(Failure::Usage(text.into()));
    }
    let plain = Run { method: Some(Method::Auto), ..request.clone() };
    let settings = Settings::new(model, &plain)?;
    let interval = TimeInterval { start: settings.t0, end: settings.options.t1 };
    let mut formulation = Formulation::new(model, interval.length()).map_err(Failure::Model)?;
    let ends = ends(model, &mut formulation, interval).map_err(Failure::Model)?;
    let derive_us = clock.microseconds();
    let clock = Stopwatch::start(request.clock);
    let mut integrand = Integrand::new(model, &formulation, interval, request.chosen_backend())
        .map_err(Failure::from)?;
    let compile_us = clock.microseconds();

    let clock = Stopwatch::start(request.clock);
    let tolerance = settings.options.tolerance.max(1e-12);
    let search = ExtremumSearch { model, formulation: &formulation, ends: &ends, tolerance };
    let mut all = search
        .all(&mut integrand, request.guess.as_ref())
        .map_err(|why| Failure::Model(vec![unsolved(model, &formulation, &why)]))?;
    let solutions =
        all.iter_mut().map(|r| solution(model, &formulation, r, interval)).collect();
    let Some(reached) = all.first_mut() else {
        let why = NoExtremum::Unconverged(f64::NAN);
        return Err(Failure::Model(vec![unsolved(model, &formulation, &why)]));
    };
    let found = &mut reached.found;
    let mut motion = Motion::empty(model);
    motion.principle = Some(principle);
    motion.method = "spectral";
    motion.form = Form::Saddle;
    motion.start = interval.start;
    motion.stop = Stop { reason: StopReason::End, t: interval.end };
    motion.t.clone_from(&settings.times);
    motion.solutions = Some(solutions);
    fill(model, &mut formulation, found, &mut motion, interval)?;
    motion.notes = notes(&ends, reached.falling);
    if reached.error > tolerance {
        motion.stop.reason = StopReason::MaxSteps;
        motion.notes.push(Note::Stopped(format!(
            "with {} unknowns per coordinate the solution still changes by {}: it is shown, but it misses the \
             tolerance",
            found.unknowns_per_function(),
            brief(reached.error)
        )));
    }
    motion.equivalence = equivalence::along(model, &formulation, found, interval);
    if motion.equivalence.is_some() {
        motion.notes.push(Note::Equivalence);
    }
    let search = ExtremumSearch { model, formulation: &formulation, ends: &ends, tolerance };
    let evidence = evidence(search, &mut integrand, reached, interval)?;
    motion.audit = audit(Evidence::Extremum(evidence));
    motion.statistics = Statistics {
        steps: reached.found.unknowns_per_function(),
        rejected: 0,
        evaluations: reached.steps * reached.found.grid.len(),
        derive_us,
        compile_us,
        integrate_us: clock.microseconds(),
        audit_us: 0.0,
    };
    Ok(motion)
}

/// First variation, degree, Hamilton's form, constraints.
fn evidence(
    search: ExtremumSearch<'_>,
    integrand: &mut Integrand,
    reached: &mut Reached,
    interval: TimeInterval,
) -> Result<ExtremumEvidence, Failure> {
    let ExtremumSearch { model, formulation, ends, tolerance } = search;
    let found = &mut reached.found;
    let first_variation = first_variation(&formulation.problem, integrand, found, ends, TESTS);
    let other = Hamilton::new(model, formulation).ok();
    Ok(ExtremumEvidence {
        first_variation,
        degree: reached.error,
        hamilton: other.and_then(|h| h.off(model, found, interval)),
        held: held(model, formulation, found, interval)?,
        tolerance,
    })
}

/// What is known of a stationary point.
fn solution(
    model: &Workspace,
    formulation: &Formulation,
    reached: &mut Reached,
    interval: TimeInterval,
) -> Solution {
    let found = &mut reached.found;
    let start = IntervalPoint { left: 0.0, right: interval.length() };
    let mut value = |k: usize, order: u8| {
        let whole = formulation.problem.unknowns[k].order;
        if whole < f64::from(order) {
            return f64::NAN;
        }
        found.value(k, FractionalOperator::Derivative(order), start)
    };
    let n = model.coordinates.len();
    let coordinates = || model.coordinates.iter().map(|c| c.name.clone()).enumerate();
    Solution {
        mu0: (model.constraints.iter().enumerate())
            .map(|(a, c)| (c.name.clone(), value(n + a, 0)))
            .collect(),
        q0: coordinates().map(|(k, name)| (name, value(k, 0))).collect(),
        v0: coordinates().map(|(k, name)| (name, value(k, 1))).collect(),
        p0: Vec::new(),
        t1: interval.end,
        action: found.action,
        residual: found.residual,
        family_dimension: 0,
        conjugate: None,
        minimum: reached.falling.map(|count| count == 0),
        abnormal: false,
        agreement: None,
        error: Some(reached.error),
    }
}

/// Which models have an extremum with memory.
fn possible(model: &Workspace, principle: Principle) -> Result<(), Diagnostic> {
    if let Some(force) = model.forces.first() {
        let text = format!(
            "`{}` cannot be used between given ends: it is not part of an action",
            force.name
        );
        return Err(mistake(
            force.span,
            text,
            "write it into the Lagrangian, or leave `final` out",
        ));
    }
    if let Some(event) = model.events.first() {
        let text = "events are not supported between given ends with memory".into();
        return Err(mistake(event.span, text, "leave `event` out"));
    }
    if let (Some(constraint), false) =
        (model.constraints.first(), principle == Principle::Vakonomic)
    {
        let text = format!(
            "under `{}`, a motion with memory and the constraint `{}` is not a stationary point of an action and \
             does not connect given ends",
            principle.name(),
            constraint.name
        );
        return Err(Diagnostic::error("E0634", constraint.span, text)
            .with_hint("`principle vakonomic` gives the conditional extremum"));
    }
    Ok(())
}

/// Why there is no solution, in the words of the model.
fn unsolved(model: &Workspace, formulation: &Formulation, why: &NoExtremum) -> Diagnostic {
    let n = model.coordinates.len();
    let span = model.terminal.first().map_or_else(|| dynamics_span(model), |t| t.span);
    match why {
        NoExtremum::Singular(k) => {
            let name = |k: usize| -> String {
                match k {
                    k if k < n => format!("`{}`", model.coordinates[k].name),
                    k if k < n + model.constraints.len() => {
                        format!("the multiplier of `{}`", model.constraints[k - n].name)
                    }
                    _ => "a condition at an end".into(),
                }
            };
            let order = formulation.problem.unknowns.get(*k).map_or(0.0, |c| c.order);
            let hint = if order > 1.0 {
                "an order above 1 needs data for the position and, at one end at least, for the velocity: add them \
                 to `initial` or `final`"
            } else {
                "add data to `initial` or `final`, or terms that determine it to the Lagrangian"
            };
            let text = format!("action and ends do not determine {}", name(*k));
            Diagnostic::error("E0637", span, text).with_hint(hint)
        }
        NoExtremum::NotFinite(place) => {
            let text = format!(
                "the Lagrangian or a derivative of it is infinite or not a number at the distance {} from the start \
                 and {} from the end",
                brief(place.left),
                brief(place.right)
            );
            Diagnostic::error("E0637", dynamics_span(model), text).with_hint(
                "a division by zero, or a root or logarithm of a negative number on the way",
            )
        }
        NoExtremum::Unconverged(residual) => {
            let text = format!(
                "no extremum was found between the ends: Newton's iteration stops at a residual of {}",
                brief(*residual)
            );
            Diagnostic::error("E0637", span, text).with_hint(
                "the action may have none: it may be unbounded below, or have one only for ends closer together",
            )
        }
    }
}

/// What the user may want to know.
fn notes(ends: &Ends, falling: Option<usize>) -> Vec<Note> {
    let mut notes = Vec::new();
    if !ends.natural.is_empty() {
        let list = ends.natural.join(", ");
        notes.push(Note::Remark(format!("free, with its natural condition: {list}")));
    }
    let along = match falling {
        None | Some(0) => return notes,
        Some(1) => "1 independent variation".to_owned(),
        Some(count @ 2..=10) => format!("{count} independent variations"),
        Some(_) => "more than ten independent variations".to_owned(),
    };
    notes.push(Note::Remark(format!(
        "the extremum is not a minimum: the action decreases along {along}"
    )));
    notes
}

/// Positions, velocities, multipliers and what is observed, at the output times.
fn fill(
    model: &Workspace,
    formulation: &mut Formulation,
    found: &mut Extremum,
    motion: &mut Motion,
    interval: TimeInterval,
) -> Result<(), Failure> {
    let n = model.coordinates.len();
    let places: Vec<IntervalPoint> = motion
        .t
        .iter()
        .map(|t| IntervalPoint {
            left: (t - interval.start).max(0.0),
            right: (interval.end - t).max(0.0),
        })
        .collect();
    let mut column = |k: usize, operator: FractionalOperator| -> Vec<f64> {
        places.iter().map(|&p| found.value(k, operator, p)).collect()
    };
    let unknowns = &formulation.problem.unknowns;
    for (k, c) in model.coordinates.iter().enumerate() {
        let name = || c.name.clone();
        let count = motion.t.len();
        let derivative =
            |order: u8, column: &mut dyn FnMut(usize, FractionalOperator) -> Vec<f64>| {
                if unknowns[k].order >= f64::from(order) {
                    column(k, FractionalOperator::Derivative(order))
                } else {
                    vec![f64::NAN; count]
                }
            };
        motion.q.push(Series { name: name(), values: derivative(0, &mut column) });
        motion.v.push(Series { name: name(), values: derivative(1, &mut column) });
        motion.a.push(Series { name: name(), values: derivative(2, &mut column) });
    }
    for (a, c) in model.constraints.iter().enumerate() {
        let values = column(n + a, FractionalOperator::Derivative(0));
        motion.multipliers.push(Series { name: c.name.clone(), values });
    }
    let mut exprs: Vec<Expr> = Vec::new();
    for o in &model.observed {
        let image = formulation.translate(model, o.expr, o.span);
        exprs.push(image.map_err(|d| Failure::Model(vec![d]))?);
    }
    let rows = evaluate(model, formulation, found, &exprs, &places, interval)?;
    for (i, o) in model.observed.iter().enumerate() {
        let values = rows.iter().map(|r| r[i]).collect();
        motion.observed.push(Series { name: o.name.clone(), values });
    }
    Ok(())
}

/// Expressions of the operators' symbols at some places.
fn evaluate(
    model: &Workspace,
    formulation: &Formulation,
    found: &mut Extremum,
    exprs: &[Expr],
    places: &[IntervalPoint],
    interval: TimeInterval,
) -> Result<Vec<Vec<f64>>, Failure> {
    if exprs.is_empty() {
        return Ok(vec![Vec::new(); places.len()]);
    }
    let known = |s: &Expr| {
        formulation.symbols.contains(s)
            || *s == model.time
            || model.parameters.iter().any(|p| p.symbol == *s)
    };
    if let Some(foreign) = model.graph.symbols(exprs).into_iter().find(|s| !known(s)) {
        let text = format!(
            "`{}` has no value here: between given ends with memory, only what the Lagrangian and the constraints \
             contain can be observed",
            model.graph.to_text(foreign)
        );
        let span = model.observed.first().map_or(Span::default(), |o| o.span);
        return Err(Failure::Model(vec![mistake(span, text, "observe another quantity")]));
    }
    let program = compiled(model, &formulation.symbols, exprs).map_err(Failure::from)?;
    let mut program = program.interpreter(&model.parameter_values());
    let mut rows = Vec::new();
    for &place in places {
        let mut inputs = vec![time(place, interval)];
        inputs.extend(found.values(place));
        let mut row = vec![0.0; exprs.len()];
        program.evaluate(&inputs, &mut row);
        rows.push(row);
    }
    Ok(rows)
}

/// Each constraint between the nodes.
fn held(
    model: &Workspace,
    formulation: &Formulation,
    found: &mut Extremum,
    interval: TimeInterval,
) -> Result<Vec<(String, f64)>, Failure> {
    let length = interval.length();
    let places: Vec<IntervalPoint> = (1..20)
        .map(|i| {
            let left = length * (f64::from(i) / 20.0 + 0.003);
            IntervalPoint { left, right: length - left }
        })
        .collect();
    let rows = evaluate(model, formulation, found, &formulation.residuals, &places, interval)?;
    let check = |(a, c): (usize, &pfaff_model::Constraint)| {
        let worst = rows.iter().map(|r| r[a].abs()).fold(0.0, f64::max);
        (c.name.clone(), worst)
    };
    Ok(model.constraints.iter().enumerate().map(check).collect())
}
