//! Extrema between given ends with memory: a model with `final` and fractional operators of either side into an audited motion.
//!
//! ```text
//! Model ─► 𝓛 of operators ─► conditions at the ends ─► stationary points of growing degree ─► Motion
//! ```
//!
//! $\delta\int(L - \mu\cdot\varphi)\,dt = 0$ looks at past and future at once, so there is no run from initial values: the whole course is found at once by the spectral method of the solver. The degree grows until what it changes is below the tolerance.

mod ends;
mod formulate;
mod integrand;
mod variation;

use std::time::Instant as Clock;

use pfaff_expr::Expr;
use pfaff_model::{Diagnostic, Dynamics as Written, Model, Principle, Span};
use pfaff_solver::{Extremum, NoExtremum, Operator, Place, extremum};

use crate::audit::{Audit, Check};
use crate::boundary::{Solution, has_ends};
use crate::fractional::ends::{Ends, ends};
use crate::fractional::formulate::{Formulation, mistake};
use crate::fractional::integrand::{Integrand, compiled, time};
use crate::fractional::variation::first_variation;
use crate::memory::remembers;
use crate::motion::{Form, Motion, Series, Statistics, Stop, StopReason};
use crate::note::{Note, brief};
use crate::pipeline::{Failure, dynamics_span, uncompiled};
use crate::settings::{Request, Settings};

/// Nodes on each side of the middle, one degree after the other. Four give up to 63 nodes; the rest is for courses that oscillate.
const DEGREES: [usize; 8] = [8, 16, 24, 31, 40, 52, 68, 90];

/// Test functions of the audit.
const TESTS: usize = 12;

/// Whether a run of the model is an extremum with memory.
pub(crate) fn is_fractional(model: &Model) -> bool {
    let inside = match model.dynamics {
        Written::Lagrangian { lagrangian, .. } => model.graph.remembers(lagrangian),
        Written::Equations(_) => false,
    };
    has_ends(model) && (inside || remembers(model))
}

/// Finds the extremum and audits it.
pub(crate) fn run(model: &Model, request: &Request) -> Result<Motion, Failure> {
    let clock = Clock::now();
    let principle = request.principle.unwrap_or(model.principle);
    possible(model, principle).map_err(|d| Failure::Model(vec![d]))?;
    let word = request.method.as_deref().unwrap_or(&model.solve.method);
    if !matches!(word, "auto" | "spectral") {
        let text = format!(
            "the method `{word}` does not solve ends with memory: choose `auto` or `spectral`"
        );
        return Err(Failure::Usage(text));
    }
    let plain = Request { method: Some("auto".into()), ..request.clone() };
    let settings = Settings::new(model, &plain)?;
    let span = (settings.t0, settings.options.t1);
    let mut formulation = Formulation::new(model, span.1 - span.0).map_err(Failure::Model)?;
    let ends = ends(model, &mut formulation, span).map_err(Failure::Model)?;
    let derive_us = microseconds(clock);
    let clock = Clock::now();
    let mut integrand =
        Integrand::new(model, &formulation, span).map_err(|e| uncompiled(&e))?;
    let compile_us = microseconds(clock);

    let clock = Clock::now();
    let tolerance = settings.options.tolerance.max(1e-12);
    let mut reached = refine(model, &formulation, &mut integrand, tolerance)
        .map_err(|why| Failure::Model(vec![unsolved(model, &formulation, &why)]))?;
    let found = &mut reached.found;
    let mut motion = Motion::empty(model);
    motion.principle = Some(principle);
    motion.method = "spectral";
    motion.form = Form::Saddle;
    motion.start = span.0;
    motion.stop = Stop { reason: StopReason::End, t: span.1 };
    motion.t.clone_from(&settings.times);
    fill(model, &mut formulation, found, &mut motion, span)?;
    motion.notes = notes(&ends, reached.falling);
    if reached.error > tolerance {
        motion.stop.reason = StopReason::MaxSteps;
        motion.notes.push(Note::Stopped(format!(
            "with {} unknowns a coordinate the solution still changes by {}: it is shown, but not to the tolerance",
            found.unknowns(),
            brief(reached.error)
        )));
    }
    let problem = &formulation.problem;
    let variation = first_variation(problem, &mut integrand, found, &ends, TESTS);
    let mut checks = vec![
        Check::new(
            "first variation".into(),
            variation,
            1e-9,
            "random variations with operators in closed form, relative to the magnitudes that cancel",
        ),
        Check::new(
            "degree".into(),
            reached.error,
            tolerance.max(1e-11),
            "what the next degrees would change, if the last two differences fall on as they did",
        ),
    ];
    checks.extend(held(model, &formulation, found, span)?);
    let verdict = checks.iter().map(|c| c.verdict).max();
    motion.audit =
        Audit { verdict: verdict.unwrap_or(crate::audit::Verdict::Unchecked), checks };
    let first = |series: &[Series]| -> Vec<(String, f64)> {
        series
            .iter()
            .map(|s| (s.name.clone(), s.values.first().copied().unwrap_or(f64::NAN)))
            .collect()
    };
    motion.solutions = Some(vec![Solution {
        action: found.action,
        mu0: first(&motion.multipliers),
        q0: first(&motion.q),
        v0: first(&motion.v),
        p0: Vec::new(),
        t1: span.1,
        residual: found.residual,
        family_dimension: 0,
        conjugate: None,
        minimum: reached.falling.map(|count| count == 0),
        abnormal: false,
        agreement: Some(reached.error),
    }]);
    motion.statistics = Statistics {
        steps: found.unknowns(),
        rejected: 0,
        evaluations: reached.steps * found.grid.len(),
        derive_us,
        compile_us,
        integrate_us: microseconds(clock),
    };
    Ok(motion)
}

/// A solution, and how far it is from the true one.
struct Reached {
    found: Extremum,
    error: f64,
    steps: usize,
    /// Independent variations along which the action falls; none where that was not decided.
    falling: Option<usize>,
}

/// Degree after degree, until the solution does not change.
fn refine(
    model: &Model,
    formulation: &Formulation,
    integrand: &mut Integrand,
    tolerance: f64,
) -> Result<Reached, NoExtremum> {
    let length = formulation.problem.length;
    let n = model.coordinates.len();
    let places: Vec<Place> = (1..12)
        .map(|i| {
            let left = length * f64::from(i) / 12.0;
            Place { left, right: length - left }
        })
        .collect();
    let mut before: Option<(Extremum, Vec<f64>)> = None;
    let mut last = f64::INFINITY;
    let (mut steps, mut falling) = (0, None);
    for half in DEGREES {
        let near = before.as_ref().map(|b| &b.0);
        let found = extremum(&formulation.problem, integrand, half, near);
        let mut found = match (found, before.take()) {
            (Ok(found), previous) => {
                before = previous;
                found
            }
            // NOTE: a coarse solution may fail where a fine one exists.
            (Err(_), None) if half < 24 => continue,
            (Err(why), _) => return Err(why),
        };
        steps += found.steps;
        if let Some(count) = found.negative {
            let border = model.constraints.len() * found.grid.len()
                + formulation.problem.conditions.len();
            falling = Some(count.saturating_sub(border));
        }
        let mut values = Vec::new();
        for &place in &places {
            values.extend((0..n).map(|k| found.value(k, Operator::Derivative(0), place)));
        }
        let change = before.as_ref().map_or(f64::INFINITY, |(_, old)| {
            let off = |(a, b): (&f64, &f64)| (a - b).abs() / (1.0 + a.abs());
            values.iter().zip(old).map(off).fold(0.0, f64::max)
        });
        // The differences fall at least as fast as they did; ten for those that come later.
        let error = if last.is_finite() && change < last {
            (10.0 * change * change / last).min(change)
        } else {
            change
        };
        if error <= tolerance || half == DEGREES[DEGREES.len() - 1] {
            let error = error.max(1e-15);
            return Ok(Reached { found, error, steps, falling });
        }
        last = change;
        before = Some((found, values));
    }
    Err(NoExtremum::Unconverged(f64::NAN))
}

/// Which models have an extremum with memory.
fn possible(model: &Model, principle: Principle) -> Result<(), Diagnostic> {
    if let Some(force) = model.forces.first() {
        let text = format!(
            "`{}` has no place in an extremum between given ends: it belongs to no action",
            force.name
        );
        return Err(mistake(
            force.span,
            text,
            "write it into the Lagrangian, or leave `final` out",
        ));
    }
    if let Some(event) = model.events.first() {
        let text = "events are not looked for between given ends with memory".into();
        return Err(mistake(event.span, text, "leave `event` out"));
    }
    if let (Some(constraint), false) =
        (model.constraints.first(), principle == Principle::Vakonomic)
    {
        let text = format!(
            "under `{}` a motion with memory and the constraint `{}` is no stationary point of an action, and does not join given ends",
            principle.name(),
            constraint.name
        );
        return Err(Diagnostic::error("E0634", constraint.span, text)
            .with_hint("`principle vakonomic` gives the conditional extremum"));
    }
    Ok(())
}

/// Why there is no solution, in the words of the model.
fn unsolved(model: &Model, formulation: &Formulation, why: &NoExtremum) -> Diagnostic {
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
            let order = formulation.problem.courses.get(*k).map_or(0.0, |c| c.order);
            let hint = if order > 1.0 {
                "an order above 1 needs data for the position and, at one end at least, for the velocity: add them to `initial` or `final`"
            } else {
                "add data to `initial` or `final`, or terms that determine it to the Lagrangian"
            };
            let text = format!("action and ends do not determine {}", name(*k));
            Diagnostic::error("E0637", span, text).with_hint(hint)
        }
        NoExtremum::NotFinite(place) => {
            let text = format!(
                "the Lagrangian or a derivative of it is infinite or not a number at the distance {} from the start and {} from the end",
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
                "the action may have none: unbounded below, or only for ends closer together",
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
    if let Some(count @ 1..) = falling {
        notes.push(Note::Remark(format!(
            "the extremum is no minimum: the action falls along {count} independent variation{}",
            if count == 1 { "" } else { "s" }
        )));
    }
    notes
}

/// Positions, velocities, multipliers and what is observed, at the output times.
fn fill(
    model: &Model,
    formulation: &mut Formulation,
    found: &mut Extremum,
    motion: &mut Motion,
    ends: (f64, f64),
) -> Result<(), Failure> {
    let n = model.coordinates.len();
    let places: Vec<Place> = motion
        .t
        .iter()
        .map(|t| Place { left: (t - ends.0).max(0.0), right: (ends.1 - t).max(0.0) })
        .collect();
    let mut column = |k: usize, operator: Operator| -> Vec<f64> {
        places.iter().map(|&p| found.value(k, operator, p)).collect()
    };
    let courses = &formulation.problem.courses;
    for (k, c) in model.coordinates.iter().enumerate() {
        let name = || c.name.clone();
        let count = motion.t.len();
        let derivative = |order: u8, column: &mut dyn FnMut(usize, Operator) -> Vec<f64>| {
            if courses[k].order >= f64::from(order) {
                column(k, Operator::Derivative(order))
            } else {
                vec![f64::NAN; count]
            }
        };
        motion.q.push(Series { name: name(), values: derivative(0, &mut column) });
        motion.v.push(Series { name: name(), values: derivative(1, &mut column) });
        motion.a.push(Series { name: name(), values: derivative(2, &mut column) });
    }
    for (a, c) in model.constraints.iter().enumerate() {
        let values = column(n + a, Operator::Derivative(0));
        motion.multipliers.push(Series { name: c.name.clone(), values });
    }
    let mut exprs: Vec<Expr> = Vec::new();
    for o in &model.observed {
        let image = formulation.translate(model, o.expr, o.span);
        exprs.push(image.map_err(|d| Failure::Model(vec![d]))?);
    }
    let rows = evaluate(model, formulation, found, &exprs, &places, ends)?;
    for (i, o) in model.observed.iter().enumerate() {
        let values = rows.iter().map(|r| r[i]).collect();
        motion.observed.push(Series { name: o.name.clone(), values });
    }
    Ok(())
}

/// Expressions of the operators' symbols at some places.
fn evaluate(
    model: &Model,
    formulation: &Formulation,
    found: &mut Extremum,
    exprs: &[Expr],
    places: &[Place],
    ends: (f64, f64),
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
            "`{}` has no value here: an extremum with memory observes what its Lagrangian and constraints contain",
            model.graph.to_text(foreign)
        );
        let span = model.observed.first().map_or(Span::default(), |o| o.span);
        return Err(Failure::Model(vec![mistake(span, text, "observe another quantity")]));
    }
    let mut program =
        compiled(model, &formulation.symbols, exprs).map_err(|e| uncompiled(&e))?;
    let mut rows = Vec::new();
    for &place in places {
        let mut inputs = vec![time(place, ends)];
        inputs.extend(found.values(place));
        let mut row = vec![0.0; exprs.len()];
        program.evaluate(&inputs, &mut row);
        rows.push(row);
    }
    Ok(rows)
}

/// Each constraint between the nodes.
fn held(
    model: &Model,
    formulation: &Formulation,
    found: &mut Extremum,
    ends: (f64, f64),
) -> Result<Vec<Check>, Failure> {
    let length = ends.1 - ends.0;
    let places: Vec<Place> = (1..20)
        .map(|i| {
            let left = length * (f64::from(i) / 20.0 + 0.003);
            Place { left, right: length - left }
        })
        .collect();
    let rows = evaluate(model, formulation, found, &formulation.residuals, &places, ends)?;
    let check = |(a, c): (usize, &pfaff_model::Constraint)| {
        let worst = rows.iter().map(|r| r[a].abs()).fold(0.0, f64::max);
        let reason = "imposed at the nodes; between them it is as good as the basis";
        Check::new(format!("constraint {}", c.name), worst, 1e-8, reason)
    };
    Ok(model.constraints.iter().enumerate().map(check).collect())
}

fn microseconds(since: Clock) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}
