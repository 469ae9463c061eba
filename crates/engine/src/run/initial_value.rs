//! Runs from a given start: equations and settings into an audited motion.

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::{Principle, Workspace};
use pfaff_solver::integrate;

use crate::audit::trajectory::TrajectoryEvidence;
use crate::audit::{Evidence, audit};
use crate::clock::Stopwatch;
use crate::error::{Failure, WHOLE};
use crate::motion::note::{Note, brief};
use crate::motion::sample::Sample;
use crate::motion::samples::Samples;
use crate::motion::verdict::Audit;
use crate::motion::{Motion, Statistics, Stop, StopReason, TangentRows};
use crate::problem::affine_body;
use crate::problem::branches::Branches;
use crate::problem::settings::{Run, Settings, method_name};
use crate::problem::start::Start;
use crate::problem::unused_multipliers::{unused_multipliers, without_along};
use crate::run::columns::take;
use crate::run::effective_mass::effective_mass_on_the_way;
use crate::run::global_error::{FirstRun, Late, check, second_run};
use crate::run::jump::{accumulation, contradicting};
use crate::run::kept::{is_kept_by_impacts, kept_quantities};
use crate::run::prepare::{Prepared, RunInput, prepare};
use crate::run::progress::Progress;
use crate::run::rank_watch::{RankOutcome, RankPlace, RankWatch};
use crate::run::record::{Jump, Setting};
use crate::run::recorder::Recorder;
use crate::run::sensitivity;
use crate::run::singular::{is_near_dependence, lost_rank};
use crate::run::stop::{explain, stop_reason};
use crate::run::tables::{overshooting, rounding_of_tables};
use crate::run::volterra;
use crate::system::compiled::{Dynamics, JumpOutcome};
use crate::system::dynamical_parts::dynamical_parts;
use crate::system::reduced::scale;

/// Outputs that the audit looks at; of more, every second, third, … one.
const AUDITED: usize = 100_000;
/// Microseconds beyond which a run that was ended is not integrated again as exactly.
const SLOW: f64 = 1e6;

/// Integrates given dynamics of a model from a given start.
pub(crate) fn integrated_from(
    model: &Workspace,
    dynamics: &Dynamics,
    request: &Run,
    start: Start,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    integrated(
        model,
        dynamics,
        RunInput { start: Some(start), ..RunInput::default() },
        request,
        watch,
    )
}

/// Dynamics and request into a motion: in independent quasi-velocities if their Lagrangian is given and the form
/// applies, else in saddle-point form.
pub(crate) fn integrated(
    model: &Workspace,
    dynamics: &Dynamics,
    known: RunInput,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let mut settings = Settings::new(model, request)?;
    settings.breaks = Branches::of(model).map_or_else(Vec::new, |branches| branches.breaks);
    if volterra::has_memory(model) {
        if !WHOLE {
            return Err(Failure::left_out());
        }
        if let Some(method) = settings.geometric {
            return Err(Failure::Usage(format!(
                "the method `{}` does not apply to models with memory: choose `auto`",
                method.name()
            )));
        }
        return volterra::run(model, dynamics, &settings, watch);
    }
    // NOTE: at jumps derivatives need more than the equations.
    let is_carried = model.terminal.is_empty() && model.resets.is_empty();
    let sensitivities = if is_carried { request.sensitivities.clone() } else { Vec::new() };
    let known = RunInput { sensitivities, ..known };
    integrate_segment(model, dynamics, known, settings, watch).map(|segment| segment.motion)
}

/// A motion, and the state in which it ended.
pub(crate) struct Segment {
    pub(crate) motion: Motion,
    pub(crate) end: Start,
    /// That of the second integration.
    pub(crate) second: Option<Start>,
    /// How much the motion made a change grow so far, as far as that was measured.
    pub(crate) growth: f64,
    /// What the rounding of time has done so far.
    pub(crate) late: Late,
    /// The largest values of the coordinates so far.
    pub(crate) scales: Vec<f64>,
    /// Rates of the velocities in the end.
    pub(crate) acceleration: Vec<f64>,
    /// $w$ and $u$ since the start.
    pub(crate) work: [f64; 2],
    /// The event whose jumps have accumulated.
    pub(crate) accumulated: Option<usize>,
    /// What jumps have led to, the events of the last one, and how often each has happened.
    pub(crate) outcome: JumpOutcome,
    pub(crate) last: Vec<usize>,
    /// All jumps, with their events.
    pub(crate) jumps: Vec<Jump>,
    pub(crate) counts: Vec<usize>,
}

/// Integrates equations that are smooth all the way, and audits the motion.
pub(crate) fn integrate_segment(
    model: &Workspace,
    dynamics: &Dynamics,
    known: RunInput,
    mut settings: Settings,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Segment, Failure> {
    let remarks = unused_multipliers(model, dynamics)?;
    let own_events = model.events.len() - known.switches;
    let second = known.second.clone();
    let (steps_before, growth_before) = (known.steps, known.growth);
    let late_before = known.late.clone();
    let template = known.template.clone();
    let sensitivities = known.sensitivities.clone();
    let earlier_energy = known.energy;
    let is_smooth =
        known.switches == 0 && settings.breaks.is_empty() && model.resets.is_empty();
    let is_smooth = is_smooth && model.hybrid.samplers.is_empty();
    let mut scales = known.scales.clone();
    let Prepared { mut system, mut y0, notes, repeated, compile_us } =
        prepare(model, dynamics, known, &mut settings)?;
    let is_carried =
        sensitivity::carry(model, dynamics, &sensitivities, &settings, (&mut system, &mut y0))?;
    system.breaks.clone_from(&settings.breaks);
    let clock = Stopwatch::start(settings.clock);
    let setting = Setting {
        model,
        principle: match dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle),
            Dynamics::Ordinary(_) => None,
        },
        method: method_name(&settings),
        form: system.form(),
        t0: settings.t0,
        t1: settings.options.t1,
    };
    let mut recorder = Recorder::new(&system, setting, &settings, watch);
    if let (Dynamics::Saddle(equations), Some(kkt)) =
        (dynamics, system.saddle_at(settings.t0, &y0))
    {
        let metric = scale(kkt);
        let tolerance = settings.options.tolerance;
        recorder.rank = match &template {
            Some(template) => template.rank(model, tolerance, metric),
            None => RankWatch::new(model, equations, tolerance, metric, settings.backend)?,
        };
    }
    recorder.tangents = is_carried.then(Vec::new);
    recorder.start(settings.t0, &y0);
    let again = match &second {
        Some(start) => system.state(settings.t0, &start.q, &start.v, &start.multipliers),
        None => y0.clone(),
    };
    system.begin_noise(false);
    let outcome = integrate(&mut system, &y0, &settings.options, &mut recorder);
    let is_shown = match outcome.stop {
        pfaff_solver::StopReason::Event(i) => i < own_events && model.events[i].stop,
        pfaff_solver::StopReason::End => false,
        _ => {
            let is_wanted = settings.with_last_state || outcome.accumulated.is_some();
            is_wanted && !recorder.is_undetermined()
        }
    };
    if is_shown {
        recorder.stopped(outcome.t, &outcome.y);
    }

    if settings.streams {
        // The rows after the last step, and the one in which it stopped.
        recorder.show(outcome.t, true);
        recorder.record.join();
    }
    if let Some(contradiction) = system.jumps.as_ref().and_then(|jumps| jumps.contradiction) {
        return Err(Failure::Model(vec![contradicting(model, &contradiction)]));
    }
    let jumped =
        system.jumps.as_ref().map(|j| (j.outcome.clone(), j.last.clone(), j.counts.clone()));
    let jumps = recorder.jumps_with_events();
    let mut last = Sample::new(model.coordinates.len(), model.constraints.len());
    // NOTE: where the motion ends because nothing is determined beyond, the state itself is still good.
    let _ = system.resolve(outcome.t, &outcome.y, true, &mut last);
    let carried = setting.principle == Some(Principle::Vakonomic);
    let end = Start {
        q: last.q,
        v: last.v,
        multipliers: if carried { last.multipliers } else { Vec::new() },
        notes: Vec::new(),
    };
    let work = system.work(&outcome.y).unwrap_or_default();

    let mut motion = take(&setting, &mut recorder.record);
    motion.dense = std::mem::take(&mut recorder.dense);
    let tangents = recorder.tangents.take();
    motion.stop = match recorder.cut {
        Some(t) => Stop { reason: StopReason::Interrupted, t },
        None => Stop { reason: stop_reason(model, &outcome.stop), t: outcome.t },
    };
    if motion.stop.reason == StopReason::StepTooSmall
        && is_near_dependence(&mut system, outcome.t, &outcome.y)
    {
        motion.stop.reason = StopReason::Singular;
    }
    let places = recorder.rank.take().map_or_else(Vec::new, |rank| rank.places);
    let undetermined = places.last().filter(|p| p.outcome == RankOutcome::Undetermined);
    if let Some(place) = undetermined {
        motion.stop = Stop { reason: StopReason::Singular, t: place.t };
    }
    motion.notes = notes;
    // NOTE: what stopped the run at such a place was not followed beyond.
    let stopped = motion.stop.reason.is_early() && undetermined.is_none();
    let is_told = |place: &&RankPlace| {
        !stopped || (place.t - motion.stop.t).abs() > 1e-6 * (1.0 + place.t.abs())
    };
    motion.notes.extend(places.iter().filter(is_told).map(|place| lost_rank(model, place)));
    motion.notes.extend(undecided(model, dynamics));
    motion.notes.extend(without_along(model, motion.principle));
    motion.notes.extend(remarks);
    motion.notes.extend(overshooting(&model.graph, &dynamical_parts(model)));
    motion.notes.extend(repeated);
    if let (Some(t), false) = (outcome.fallback, settings.auto) {
        let t = brief(t);
        motion.notes.push(Note::Remark(format!(
            "the Taylor series cannot go on at t = {t}: from there on the method is dop853"
        )));
    }
    motion.notes.extend(stiff(&outcome.stiff));
    motion.notes.extend(outcome.vague.iter().map(|&(i, t)| missed(model, own_events, i, t)));
    if undetermined.is_some() {
        // The place itself says why.
    } else if let Some(event) = outcome.accumulated {
        motion.notes.push(accumulation(model, event, outcome.t));
    } else if let Some(why) =
        effective_mass_on_the_way(model, &motion.stop, &mut system, &outcome.y)
    {
        motion.stop.reason = StopReason::Singular;
        motion.notes.push(Note::Stopped(why));
    } else {
        motion.notes.extend(explain(model, &motion.stop, &mut system, &outcome.y));
    }
    motion.notes.extend(affine_body::nearly_singular(model, &motion));
    let integrate_us = clock.microseconds();
    let clock = Stopwatch::start(settings.clock);
    let mut momenta = match dynamics {
        Dynamics::Saddle(equations) => match &template {
            Some(template) => template.momenta.clone(),
            None => kept_quantities(model, equations),
        },
        Dynamics::Ordinary(_) => Vec::new(),
    };
    momenta.retain(|kept| recorder.jumps.is_empty() || is_kept_by_impacts(model, kept));
    scales.resize(outcome.scales.len(), 0.0);
    scales.iter_mut().zip(&outcome.scales).for_each(|(scale, x)| *scale = scale.max(*x));
    // Those at the end may have decayed.
    let states = recorder.kept.iter().map(|step| step.as_step().state_at_end().to_vec());
    for state in std::iter::once(again.clone()).chain(states) {
        let pairs = scales.iter_mut().zip(&state).take(model.coordinates.len());
        pairs.for_each(|(scale, x)| *scale = scale.max(x.abs()));
    }
    let parts = dynamical_parts(model);
    let depends_on_time = model.graph.live(&parts).binary_search(&model.time).is_ok();
    let first = FirstRun {
        system: &system,
        options: &settings.options,
        outcome: &outcome,
        scales: &scales,
        steps_before,
        growth_before,
        late_before: &late_before,
        depends_on_time,
        is_smooth,
        of_tables: rounding_of_tables(&model.graph, &parts),
        kept: &recorder.kept,
        jumps: &recorder.jumps,
        is_slow: integrate_us > SLOW,
        interrupt: settings.interrupt,
    };
    let second = if settings.draft { None } else { second_run(&first, &again) };
    if !settings.draft {
        let stride = motion.t.len().div_ceil(AUDITED).max(1);
        let audited: Vec<[f64; 2]> =
            recorder.record.work.iter().step_by(stride).copied().collect();
        motion.audit = audit(Evidence::Trajectory(Box::new(TrajectoryEvidence {
            model,
            system,
            samples: Samples::new(&motion, stride),
            work: &audited,
            steps: &recorder.kept,
            scales: &scales,
            roundings: &outcome.roundings,
            earlier_energy,
            tolerance: settings.options.tolerance,
            depends_on_time,
            is_controlled: !settings.options.method.has_fixed_step(),
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
                Dynamics::Saddle(equations) => Some(written_energy(model, equations)),
                Dynamics::Ordinary(_) => None,
            },
            momenta: &momenta,
            taken: outcome.statistics.steps,
        })));
        if second.is_some() || motion.stop.reason.is_early() {
            // NOTE: where there is no motion there is nothing that could pass, nor where a long run was interrupted.
            motion.audit.checks.push(check(second.as_ref(), settings.options.tolerance));
            motion.audit = Audit::of(std::mem::take(&mut motion.audit.checks));
        }
    }
    motion.tangents = tangents.map(|rows| TangentRows {
        rows,
        error: second.as_ref().and_then(|second| second.of_tangents),
        steps: outcome.statistics.steps,
    });
    if let Some(second) = &second {
        motion.errors.clone_from(&second.errors);
        motion.velocity_errors.clone_from(&second.velocity_errors);
    }
    let growth = second.as_ref().map_or(1.0, |second| second.growth).max(growth_before);
    let late = second.as_ref().map_or(late_before, |second| second.later.clone());
    let second = second.map(|second| Start {
        q: second.end.q,
        v: second.end.v,
        multipliers: if carried { second.end.multipliers } else { Vec::new() },
        notes: Vec::new(),
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
    let accumulated = outcome.accumulated;
    let (jumped, last_events, counts) = jumped.unwrap_or_default();
    Ok(Segment {
        motion,
        end,
        second,
        growth,
        late,
        scales,
        acceleration: last.a,
        work,
        accumulated,
        outcome: jumped,
        last: last_events,
        jumps,
        counts,
    })
}

/// Where the method changed because the equations are stiff.
fn stiff(changes: &[f64]) -> Option<Note> {
    let first = brief(*changes.first()?);
    let more = match changes.len() {
        1 => String::new(),
        n => format!(
            ", and changes {} more",
            if n == 2 { "once".into() } else { format!("{} times", n - 1) }
        ),
    };
    Some(Note::Remark(format!(
        "the equations are stiff at t = {first}: the method changes to radau there{more}"
    )))
}

/// An event function that varies too fast from a time on.
fn missed(model: &Workspace, own_events: usize, event: usize, t: f64) -> Note {
    let what = match model.events[event].name.as_str() {
        name if event < own_events => format!("the event `{name}`"),
        _ => "a function that switches branches of the equations".to_owned(),
    };
    Note::Remark(format!(
        "from t = {} on, {what} varies too fast to be followed: zeros of it may be missed",
        brief(t)
    ))
}

fn undecided(model: &Workspace, dynamics: &Dynamics) -> Vec<Note> {
    let Dynamics::Saddle(equations) = dynamics else { return Vec::new() };
    let remark = |&a: &usize| {
        Note::Remark(format!(
            "it could not be decided whether `{}` contains velocities: it is treated as a velocity constraint",
            model.constraints[a].name
        ))
    };
    equations.undecided.iter().map(remark).collect()
}

/// $E = \dot q \cdot p - L$ with the Lagrangian as the text has it, where families of like terms were gathered.
fn written_energy(model: &Workspace, equations: &Equations) -> Expr {
    let g = &model.graph;
    match model.dynamics {
        pfaff_model::Dynamics::Lagrangian { lagrangian, .. } if g.has_families() => {
            g.merging(|| g.sub(g.dot(&model.velocities(), &equations.momenta), lagrangian))
        }
        _ => equations.energy,
    }
}
