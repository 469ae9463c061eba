//! The whole road in one place.
//!
//! ```text
//! text ─► Model ─► Dynamics (Principle) ─► CompiledSystem ─► Motion ─► Audit
//! ```

use crate::model::Model;
use pfaff_mechanics::{LagrangianData, Refusal, derive as derive_equations, kept_momenta};
use pfaff_model::{Diagnostic, Principle, Span, Workspace};
use pfaff_program::CompileError;
use pfaff_solver::{self as solver, EvalError, integrate};

use crate::audit::{Evidence, audit};
use crate::clock::Stopwatch;
use crate::derivation::{Derivation, derive};
use crate::error::{Error, Failure};
use crate::motion::dense::Dense;
use crate::motion::note::{Note, brief};
use crate::motion::progress::{Progress, Setting};
use crate::motion::recorder::{Record, Recorder, direction};
use crate::motion::sample::Sample;
use crate::motion::{EventRecord, Motion, Series, Statistics, Stop, StopReason};
use crate::problem::affine_body;
use crate::problem::initial_multipliers::multipliers;
use crate::problem::settings::{Run, Settings, method_name};
use crate::problem::start::{NoStart, Start, given, refuse_infinite_data, start};
use crate::problem::unused_multipliers::{unused_multipliers, without_along};
use crate::run::bvp;
use crate::run::prepare::{Prepared, prepare};
use crate::run::variational;
use crate::run::volterra;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::effective_mass::{effective_mass_at_start, effective_mass_on_the_way};
use crate::system::kkt::Kkt;
use crate::system::singular::{is_near_dependence, quoted, singular_on_the_way, turned_round};

/// Integrates a model and audits the motion. `watch` is told the time and the steps after each step and may
/// end the run by `false`.
///
/// # Errors
///
/// [`Error`] if no motion can begin. A motion that ends early is no error: it says why it stopped.
pub fn run(
    model: &Model,
    request: &Run,
    watch: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<Motion, Error> {
    run_watched(model, request, &mut |progress| watch(progress.t, progress.steps))
}

/// As [`run`]; `watch` sees after each step what was computed so far.
///
/// # Errors
///
/// As [`run`].
pub fn run_watched(
    model: &Model,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Error> {
    run_with(model, None, request, watch).map_err(|failure| failure.in_source(&model.source))
}

/// Runs a model, by equations that were derived before or by its own.
pub(crate) fn run_with(
    model: &Model,
    derivation: Option<&Derivation>,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let workspace = &model.workspace();
    if variational::is_fractional(workspace) {
        return variational::run(workspace, request);
    }
    if bvp::has_ends(workspace) {
        return bvp::run(workspace, request, watch);
    }
    let clock = Stopwatch::start(request.clock);
    let chetaev = request.principle.unwrap_or(model.principle) == Principle::Chetaev;
    let statement = if chetaev { LagrangianData::of(workspace) } else { None };
    let derived;
    let derivation = match derivation {
        Some(derivation) => derivation,
        None => {
            derived = derive(model, request.principle)?;
            &derived
        }
    };
    let derive_us = clock.microseconds();
    let workspace = &derivation.workspace();
    let mut motion =
        integrated(workspace, &derivation.dynamics, (statement, None), request, watch)?;
    motion.statistics.derive_us = derive_us;
    Ok(motion)
}

/// Integrates given dynamics of a model, in saddle-point form as they stand, and audits the motion against the model.
///
/// # Errors
///
/// As [`run`].
pub fn run_derived(
    derivation: &Derivation,
    request: &Run,
    watch: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<Motion, Error> {
    let model = &derivation.workspace();
    let told = &mut |progress: &Progress<'_>| watch(progress.t, progress.steps);
    if let Some(terminal) = model.terminal.first() {
        let message =
            "`final` makes a boundary value problem, and here is an initial one".into();
        let failure = Failure::from(Diagnostic::error("E0430", terminal.span, message));
        return Err(failure.in_source(&model.source));
    }
    integrated(model, &derivation.dynamics, (None, None), request, told)
        .map_err(|failure| failure.in_source(&model.source))
}

/// Integrates given dynamics of a model from a given start.
pub(crate) fn integrated_from(
    model: &Workspace,
    dynamics: &Dynamics,
    request: &Run,
    start: Start,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    integrated(model, dynamics, (None, Some(start)), request, watch)
}

/// Dynamics and request into a motion: in independent quasi-velocities if a statement is given and the form
/// applies, else in saddle-point form.
fn integrated(
    model: &Workspace,
    dynamics: &Dynamics,
    (statement, given): (Option<LagrangianData>, Option<Start>),
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let mut settings = Settings::new(model, request)?;
    if volterra::has_memory(model) {
        return volterra::run(model, dynamics, &settings, watch);
    }
    let foreign = unused_multipliers(model, dynamics)?;
    let Prepared { mut system, y0, notes, repeated, compile_us } =
        prepare(model, dynamics, (statement, given), &mut settings)?;
    let clock = Stopwatch::start(request.clock);
    let setting = Setting {
        model,
        principle: match dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle),
            Dynamics::Ordinary(_) => None,
        },
        method: method_name(settings.options.method),
        form: system.form(),
        t0: settings.t0,
        t1: settings.options.t1,
    };
    let mut recorder = Recorder::new(&system, setting, &settings, watch);
    recorder.start(settings.t0, &y0);
    let outcome = integrate(&mut system, &y0, &settings.options, &mut recorder);

    let mut motion = collect(&setting, &recorder.record);
    motion.dense = std::mem::take(&mut recorder.dense);
    motion.stop = Stop { reason: stop_reason(model, &outcome.stop), t: outcome.t };
    if motion.stop.reason == StopReason::StepTooSmall
        && is_near_dependence(&mut system, outcome.t, &outcome.y)
    {
        motion.stop.reason = StopReason::Singular;
    }
    motion.notes = notes;
    motion.notes.extend(undecided(model, dynamics));
    motion.notes.extend(without_along(model, motion.principle));
    motion.notes.extend(foreign);
    motion.notes.extend(repeated);
    if let Some(why) = effective_mass_on_the_way(model, &motion.stop, &mut system, &outcome.y) {
        motion.stop.reason = StopReason::Singular;
        motion.notes.push(Note::Stopped(why));
    } else {
        motion.notes.extend(explain(model, &motion.stop, &mut system, &outcome.y));
    }
    motion.notes.extend(affine_body::nearly_singular(model, &motion));
    let integrate_us = clock.microseconds();
    let clock = Stopwatch::start(request.clock);
    let momenta = match dynamics {
        Dynamics::Saddle(equations) => kept_momenta(model, equations),
        Dynamics::Ordinary(_) => Vec::new(),
    };
    motion.audit = audit(Evidence {
        model,
        system,
        samples: samples(model, &motion),
        work: &recorder.record.work,
        steps: &recorder.kept,
        tolerance: settings.options.tolerance,
        principle: motion.principle.unwrap_or(Principle::Chetaev),
        dependent: match dynamics {
            Dynamics::Saddle(equations) => &equations.dependent,
            Dynamics::Ordinary(_) => &[],
        },
        classes: match dynamics {
            Dynamics::Saddle(equations) => &equations.classes,
            Dynamics::Ordinary(_) => &[],
        },
        energy: match dynamics {
            Dynamics::Saddle(equations) => Some(equations.energy),
            Dynamics::Ordinary(_) => None,
        },
        momenta: &momenta,
        taken: outcome.statistics.steps,
    });
    motion.statistics = Statistics {
        steps: outcome.statistics.steps,
        rejected: outcome.statistics.rejected,
        evaluations: outcome.statistics.evaluations,
        derive_us: 0.0,
        compile_us,
        integrate_us,
        audit_us: clock.microseconds(),
    };
    Ok(motion)
}

pub(crate) fn uncompiled(error: &CompileError) -> Failure {
    Failure::Model(vec![Diagnostic::error("E0431", Span::default(), error.to_string())])
}

/// A consistent start, or why there is none.
pub(crate) fn begin(
    model: &Workspace,
    dynamics: &Dynamics,
    system: &mut CompiledSystem,
    t0: f64,
) -> Result<Start, Failure> {
    let given = given(model, t0);
    refuse_infinite_data(model, t0).map_err(|d| Failure::Model(vec![d]))?;
    match &mut system.dynamics {
        // NOTE: the start is found before the form is reduced.
        Compiled::Reduced(_) => unreachable!("a system is reduced at its start"),
        Compiled::Saddle(core) => {
            // NOTE: the metric of L decides what is small, also where the blocks have only that of L_c.
            let mut plain = None;
            if core.principle == Principle::Restricted {
                let refused = |r: Refusal| Failure::Model(vec![r.diagnostic()]);
                let equations = derive_equations(model, Principle::Chetaev).map_err(refused)?;
                plain = Some(
                    Kkt::sketch(model, &equations, core.backend).map_err(|e| uncompiled(&e))?,
                );
            }
            let found = start(model, plain.as_mut().unwrap_or(core), t0, &given);
            let zero: Vec<f64> = given.q.iter().map(|x| x.unwrap_or(0.0)).collect();
            let mistakes =
                affine_body::at_start(model, t0, found.as_ref().map_or(&zero, |s| &s.q));
            if !mistakes.is_empty() {
                return Err(Failure::Model(mistakes));
            }
            let mut start =
                found.map_err(|none| Failure::Model(vec![inconsistent(model, &none)]))?;
            let metric = plain.as_mut().unwrap_or(core);
            metric.evaluate(t0, &start.q, &start.v, &vec![0.0; metric.carried]);
            let mistakes = affine_body::kinetic(model, metric);
            if !mistakes.is_empty() {
                return Err(Failure::Model(mistakes));
            }
            if let Dynamics::Saddle(equations) = dynamics {
                let state = (start.q.as_slice(), start.v.as_slice());
                start.multipliers =
                    multipliers(model, equations, &given, t0, state).map_err(Failure::Model)?;
            }
            Ok(start)
        }
        Compiled::Ordinary(core) => {
            let zero = |x: &[Option<f64>]| x.iter().map(|x| x.unwrap_or(0.0)).collect();
            let mut notes = Vec::new();
            for (k, coordinate) in model.coordinates.iter().enumerate() {
                if core.orders[k] == 1 && given.v[k].is_some() {
                    notes.push(Note::Remark(format!(
                        "initial {0}' is ignored: the equations are of first order in {0} and determine it",
                        coordinate.name
                    )));
                }
            }
            Ok(Start { q: zero(&given.q), v: zero(&given.v), multipliers: Vec::new(), notes })
        }
    }
}

pub(crate) fn inconsistent(model: &Workspace, none: &NoStart) -> Diagnostic {
    let constraint = &model.constraints[none.constraint];
    let what = if none.positions { "positions" } else { "velocities" };
    Diagnostic::error(
        "E0601",
        constraint.span,
        format!(
            "no {what} near the initial ones satisfy the constraint `{}`: it is off by {} at the best state found",
            constraint.name, brief(none.residual)
        ),
    )
    .with_hint("check that the constraints do not contradict each other, or give initial values closer to a consistent state")
}

/// The start, with everything that follows from it if the motion is determined there.
pub(crate) fn possible(
    model: &Workspace,
    system: &mut CompiledSystem,
    t0: f64,
    y0: &[f64],
) -> Result<Sample, Failure> {
    let mut sample = Sample::new(system.n, system.m);
    let diagnostic = match system.resolve(t0, y0, false, &mut sample) {
        Ok(()) => return Ok(sample),
        Err(EvalError::NotFinite) => not_finite_at_start(model),
        Err(EvalError::Singular) => singular_at_start(model, system, t0, y0),
    };
    Err(Failure::Model(vec![diagnostic]))
}

pub(crate) fn dynamics_span(model: &Workspace) -> Span {
    match &model.dynamics {
        pfaff_model::Dynamics::Lagrangian { span, .. } => *span,
        pfaff_model::Dynamics::Equations(equations) => {
            equations.first().map(|e| e.span).unwrap_or_default()
        }
    }
}

fn not_finite_at_start(model: &Workspace) -> Diagnostic {
    Diagnostic::error(
        "E0602",
        dynamics_span(model),
        "at the initial state the equations of motion are infinite or not a number".into(),
    )
    .with_hint("a division by zero, a root or logarithm of a negative number, or a table beyond its data: choose other initial values")
}

fn singular_at_start(
    model: &Workspace,
    system: &mut CompiledSystem,
    t0: f64,
    y0: &[f64],
) -> Diagnostic {
    let mut contradiction = false;
    let (span, message) = match system.saddle_at(t0, y0) {
        None => (
            dynamics_span(model),
            "at the initial state the equations do not determine their highest derivatives".into(),
        ),
        Some(core) => match core.repeated()[..] {
            [] if core.principle == Principle::Vakonomic => {
                return effective_mass_at_start(model);
            }
            [] => (
                dynamics_span(model),
                "at the initial state the Lagrangian does not determine the accelerations: its mass matrix is singular on the \
                 directions that the constraints leave free"
                    .into(),
            ),
            ref repeated => {
                contradiction = true;
                let names = quoted(model, repeated);
                let message =
                    format!("at the initial state {names} contradicts the other constraints");
                (model.constraints[repeated[0]].span, message)
            }
        },
    };
    Diagnostic::error("E0603", span, message).with_hint(if contradiction {
        "it repeats them for the velocities at the start, but wants another acceleration"
    } else {
        "every free direction needs a kinetic energy; `pfaff check` says whether the system is regular"
    })
}

fn undecided(model: &Workspace, dynamics: &Dynamics) -> Vec<Note> {
    let Dynamics::Saddle(equations) = dynamics else { return Vec::new() };
    let remark = |&a: &usize| {
        Note::Remark(format!(
            "whether `{}` contains velocities at all could not be decided: it is taken as a velocity constraint",
            model.constraints[a].name
        ))
    };
    equations.undecided.iter().map(remark).collect()
}

pub(crate) fn redundant(
    model: &Workspace,
    system: &mut CompiledSystem,
    t0: f64,
    y0: &[f64],
) -> Option<Note> {
    let core = system.saddle_at(t0, y0)?;
    let repeated = core.repeated();
    if repeated.is_empty() {
        return None;
    }
    let names = repeated.into_iter().map(|a| model.constraints[a].name.clone());
    Some(Note::Redundant { constraints: names.collect() })
}

/// Why a run ended early, in a sentence.
fn explain(
    model: &Workspace,
    stop: &Stop,
    system: &mut CompiledSystem,
    y: &[f64],
) -> Option<Note> {
    let t = stop.t;
    let sentence = match &stop.reason {
        StopReason::End => return None,
        StopReason::Event(_) => return affine_body::collapse(model, &stop.reason, t),
        StopReason::Interrupted => format!("interrupted at t = {t}"),
        StopReason::MaxSteps => format!("the limit of steps was reached at t = {t}"),
        StopReason::StepTooSmall => {
            format!("the step shrank to nothing at t = {t}: the motion is not smooth there")
        }
        StopReason::NotFinite => format!(
            "beyond t = {t} the equations of motion are infinite or not a number (a division by zero, a root or logarithm of a negative number, or a table beyond its data)"
        ),
        StopReason::Singular if system.hold.lost.is_some() => {
            let lost: Vec<usize> = system.hold.lost.into_iter().collect();
            turned_round(model, &lost, t)
        }
        StopReason::Singular => {
            let core = system.saddle_at(t, y);
            singular_on_the_way(model, core.as_deref(), t)
        }
    };
    Some(Note::Stopped(sentence))
}

pub(crate) fn stop_reason(model: &Workspace, stop: &solver::StopReason) -> StopReason {
    match stop {
        solver::StopReason::End => StopReason::End,
        solver::StopReason::Event(i) => StopReason::Event(model.events[*i].name.clone()),
        solver::StopReason::StepTooSmall => StopReason::StepTooSmall,
        solver::StopReason::Singular => StopReason::Singular,
        solver::StopReason::NotFinite => StopReason::NotFinite,
        solver::StopReason::MaxSteps => StopReason::MaxSteps,
        solver::StopReason::Interrupted => StopReason::Interrupted,
    }
}

/// The recorded rows as columns.
pub(crate) fn collect(setting: &Setting<'_>, record: &Record) -> Motion {
    let model = setting.model;
    let (n, m) = (model.coordinates.len(), model.constraints.len());
    let count = record.reached;
    let column = |c: usize| -> Vec<f64> {
        (0..count).map(|r| record.rows[r * record.width + c]).collect()
    };
    let series = |names: Vec<String>, start: usize| -> Vec<Series> {
        names
            .into_iter()
            .enumerate()
            .map(|(k, name)| Series { name, values: column(start + k) })
            .collect()
    };
    let coordinates = || model.coordinates.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let constraints = || model.constraints.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let observed = model.observed.iter().map(|o| o.name.clone()).collect();
    let is_mechanical = matches!(model.dynamics, pfaff_model::Dynamics::Lagrangian { .. });
    let reaction_power = (0..if is_mechanical { count } else { 0 })
        .map(|r| {
            let row = &record.rows[r * record.width..];
            let (v, reaction) = (&row[1 + n..=2 * n], &row[1 + 3 * n + 2 * m..][..n]);
            v.iter().zip(reaction).map(|(v, r)| v * r).sum()
        })
        .collect();
    Motion {
        title: model.title.clone().unwrap_or_else(|| model.source.name().to_owned()),
        principle: setting.principle,
        method: setting.method,
        start: setting.t0,
        form: setting.form,
        stop: Stop { reason: StopReason::End, t: 0.0 },
        t: column(0),
        q: series(coordinates(), 1),
        v: series(coordinates(), 1 + n),
        a: series(coordinates(), 1 + 2 * n),
        multipliers: series(constraints(), 1 + 3 * n),
        multiplier_rates: if setting.principle == Some(Principle::Vakonomic) {
            series(constraints(), 1 + 3 * n + m)
        } else {
            Vec::new()
        },
        reactions: if is_mechanical {
            series(coordinates(), 1 + 3 * n + 2 * m)
        } else {
            Vec::new()
        },
        reaction_power,
        energy: if is_mechanical { column(1 + 4 * n + 2 * m) } else { Vec::new() },
        constraint_energy: if is_mechanical { column(2 + 4 * n + 2 * m) } else { Vec::new() },
        work: record.work.iter().map(|w| w[0]).collect(),
        observed: series(observed, Sample::width(n, m)),
        events: record
            .events
            .iter()
            .map(|(event, sample)| EventRecord {
                name: model.events[event.index].name.clone(),
                t: event.t,
                direction: direction(event.crossing),
                q: sample.q.clone(),
                v: sample.v.clone(),
            })
            .collect(),
        notes: Vec::new(),
        solutions: None,
        equivalence: None,
        audit: crate::audit::Audit {
            verdict: crate::audit::Verdict::Unchecked,
            checks: Vec::new(),
        },
        statistics: Statistics::default(),
        dense: Dense::default(),
    }
}

/// The output rows as instants.
fn samples(model: &Workspace, motion: &Motion) -> Vec<Sample> {
    let row = |series: &[Series], i: usize| -> Vec<f64> {
        series.iter().map(|s| s.values[i]).collect()
    };
    let n = model.coordinates.len();
    (0..motion.t.len())
        .map(|i| Sample {
            t: motion.t[i],
            q: row(&motion.q, i),
            v: row(&motion.v, i),
            a: row(&motion.a, i),
            multipliers: row(&motion.multipliers, i),
            multiplier_rates: row(&motion.multiplier_rates, i),
            reaction: if motion.reactions.is_empty() {
                vec![f64::NAN; n]
            } else {
                row(&motion.reactions, i)
            },
            energy: motion.energy.get(i).copied().unwrap_or(f64::NAN),
            constraint_energy: motion.constraint_energy.get(i).copied().unwrap_or(0.0),
            divergence: f64::NAN,
        })
        .collect()
}
