//! Motions with memory: a model with `caputo`, `rl`, `integral`, `memory` or `mean` into an audited motion.
//!
//! The model becomes a [`plan`] of densities and operands, from an [`admissible`] start; the collocation of
//! the solver integrates it; every
//! output is the end of a step, so that constraints hold there to rounding.

mod admissible_data;
pub(crate) mod combination;
mod compiled;
mod constraint_memory;
mod continuity;
mod formulate;
mod high_order;
mod high_order_force;
mod high_order_terms;
pub(crate) mod kernel;
mod kernel_parts;
mod kernel_run;
mod nested;
mod projection;
mod prony;
mod recorder;
mod refusals;
mod response;
mod run_values;
mod slow_inputs;
pub(crate) mod small_lag;
mod time_features;
pub(crate) mod variation;
pub(crate) mod volterra_equations;

use pfaff_expr::{Expr, Graph, Memory, Node};
use pfaff_model::{Diagnostic, Dynamics as Written, Workspace};
use pfaff_program::CompileError;
use pfaff_solver::{
    Control, DirectQuadrature, Kernel, VolterraObserver, VolterraOptions, VolterraOutcome,
    integrate_volterra, natural_units, units_serve,
};

use crate::audit::memory::MemoryEvidence;
use crate::audit::{Evidence, audit};
use crate::clock::{Interrupt, Stopwatch};
use crate::error::Failure;
use crate::motion::note::Note;
use crate::motion::{Form, Motion, Statistics, Stop};
use crate::problem::branches::FixedBranches;
use crate::problem::dynamics_span;
use crate::problem::settings::Settings;
use crate::problem::start::refuse_infinite_data;
use crate::run::columns::take;
use crate::run::progress::Progress;
use crate::run::record::Record;
use crate::run::record::Setting;
use crate::run::stop::{stop_reason, stopped};
use crate::run::volterra::compiled::CompiledVolterra;
use crate::run::volterra::formulate::{Formulation, mechanical, written};
use crate::run::volterra::kernel_run::KernelRun;
use crate::run::volterra::recorder::{Reader, VolterraRecorder};
use crate::run::volterra::time_features::{add_places, lower_exponent};
use crate::run::volterra::volterra_equations::{RunTimes, VolterraEquations, mistake, real};
use crate::system::compiled::Dynamics;

/// Nodes in each step.
const STAGES: usize = 6;

/// Whether a run of the model needs memory.
pub fn has_memory(model: &Workspace) -> bool {
    places(model).into_iter().any(|e| model.graph.has_memory(e))
}

/// The expressions in which memory may stand.
fn places(model: &Workspace) -> Vec<Expr> {
    let mut parts: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    parts.extend(model.forces.iter().flat_map(|f| f.components.iter().copied()));
    parts.extend(model.observed.iter().map(|o| o.expr));
    parts.extend(model.events.iter().map(|e| e.expr));
    if let Written::Equations(equations) = &model.dynamics {
        parts.extend(equations.iter().map(|e| e.expr));
    }
    parts
}

/// The order of a fractional operator; none for kernels, means and whatever else there is.
pub fn order(model: &Workspace, node: Expr) -> Option<f64> {
    match model.graph.node(node) {
        Node::Memory(Memory::Kernel | Memory::Mean, ..) => None,
        Node::Memory(_, _, second) => Some(volterra_equations::constant(model, second)),
        _ => None,
    }
}

/// The orders of the fractional operators in an expression, ascending and each once.
pub(crate) fn orders(model: &Workspace, e: Expr) -> Vec<f64> {
    let live = model.graph.live(&[e]);
    let mut orders: Vec<f64> = live.into_iter().filter_map(|node| order(model, node)).collect();
    orders.sort_by(f64::total_cmp);
    orders.dedup();
    orders
}

/// The kernels of `memory` in a model, each once, with how their pasts are kept.
pub(crate) fn kernels(model: &Workspace) -> Vec<(String, String)> {
    let g: &Graph = &model.graph;
    let mut found: Vec<(Expr, String)> = Vec::new();
    let (t0, t1) = model.solve.range.unwrap_or((0.0, 1.0));
    let times = RunTimes { start: t0, length: t1 - t0 };
    for node in g.live(&places(model)) {
        if let Node::Memory(Memory::Kernel, _, kernel) = g.node(node)
            && found.iter().all(|f| f.0 != kernel)
        {
            let mut how: Vec<&str> = Vec::new();
            for part in kernel_parts::compress(model, kernel, times) {
                if !how.contains(&part.how()) {
                    how.push(part.how());
                }
            }
            found.push((kernel, how.join("; ")));
        }
    }
    found.into_iter().map(|(kernel, how)| (g.to_text(kernel), how)).collect()
}

/// The lowest power of $t - t_0$ with which each coordinate may leave the polynomial of its initial values;
/// `None` if the model has no plan.
pub fn departures(model: &Workspace, dynamics: &Dynamics, t0: f64) -> Option<Vec<f64>> {
    let times = RunTimes { start: t0, length: 1.0 };
    let formulation = match (dynamics, &model.dynamics) {
        (Dynamics::Saddle(equations), _) => mechanical(model, equations, times),
        (_, Written::Equations(equations)) => written(model, equations, times),
        (Dynamics::Ordinary(_), Written::Lagrangian { .. }) => return None,
    };
    let plan = formulation.ok()?.plan;
    Some(plan.orders.iter().map(|order| order + plan.exponent.min(0.0)).collect())
}

/// Integrates a model with memory and audits the motion.
pub(crate) fn run(
    model: &Workspace,
    dynamics: &Dynamics,
    settings: &Settings,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let clock = Stopwatch::start(settings.clock);
    let wrong = |d| Failure::Model(vec![d]);
    refuse_infinite_data(model, settings.t0).map_err(wrong)?;
    let times = run_times(settings);
    let Formulated { mut formulation, observed, watched } =
        formulated(model, dynamics, settings).map_err(wrong)?;
    let failed = |e: CompileError| Failure::from(e);
    let mut system =
        CompiledVolterra::new(model, &formulation.plan, &watched).map_err(failed)?;
    lower_exponent(model, &mut formulation.plan, &mut system).map_err(wrong)?;
    let mut reader =
        Reader::new(model, &formulation, &observed, system.signs()).map_err(failed)?;
    let compile_us = clock.microseconds();

    let clock = Stopwatch::start(settings.clock);
    let setting = Setting {
        model,
        principle: match dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle),
            Dynamics::Ordinary(_) => None,
        },
        method: "collocation",
        form: if matches!(dynamics, Dynamics::Saddle(_)) {
            Form::Saddle
        } else {
            Form::Ordinary
        },
        t0: settings.t0,
        t1: settings.options.t1,
    };
    let mut options = options(settings, &formulation.plan);
    let mut rounds = 1;
    let (outcome, mut watcher) = loop {
        let kernels = formulation.plan.written.iter();
        let mut watcher = VolterraRecorder {
            reader,
            record: Record::new(model, 0),
            units: options.units.clone(),
            worst: vec![0.0; formulation.held.len()],
            judged: false,
            imbalance: (0.0, 1.0),
            first_energy: f64::NAN,
            steps: 0,
            begin: Vec::new(),
            at_event: Default::default(),
            direct_quadrature: direct_quadrature(settings, &formulation),
            kernels: kernels.map(|w| KernelRun::new(model, w.kernel, times)).collect(),
            setting,
            watch: &mut *watch,
        };
        if settings.times.first() == Some(&settings.t0) {
            let (x, z) = first_point(&formulation.plan, &mut system, &options);
            watcher.row(options.t0, &x, &z, true);
        }
        let outcome = integrate_volterra(&mut system, &options, &mut watcher);
        let count = formulation.plan.unknowns.len();
        let units = natural_units(count, &formulation.plan.operands, &outcome.sizes);
        let used = if options.units.is_empty() { &vec![1.0; count] } else { &options.units };
        let interrupted = outcome.stop == pfaff_solver::StopReason::Interrupted;
        if units_serve(used, &units) || interrupted || rounds == MOST_ROUNDS {
            break (outcome, watcher);
        }
        // Tolerances were parts of other sizes than those of the motion.
        options.units = units;
        reader = watcher.reader;
        rounds += 1;
    };
    if let pfaff_solver::StopReason::Event(_) = outcome.stop {
        watcher.stopped();
    }
    let mut motion = take(&setting, &mut watcher.record);
    motion.stop = Stop { reason: stop_reason(model, &outcome.stop), t: outcome.t };
    motion.notes.clone_from(&formulation.notes);
    motion.notes.extend(uncompressed(&formulation));
    motion.notes.extend(stopped(&motion.stop));
    let tolerance = settings.options.tolerance;
    let (end, _) = watcher.reader.read(outcome.t, &outcome.x, &outcome.z);
    let second = second_end(&mut system, &options, &outcome, settings.interrupt)
        .map(|(t, x, z)| watcher.reader.read(t, &x, &z).0.q)
        .filter(|second| second.iter().chain(&end.q).all(|q| q.is_finite()));
    if let Some(second) = &second {
        let pairs = second.iter().zip(&end.q);
        motion.errors =
            pairs.map(|(a, b)| ERROR_PART * (a - b).abs() + f64::EPSILON * b.abs()).collect();
    }
    let mut evidence = evidence(&formulation, &watcher, tolerance, outcome.steps);
    evidence.error = second.map(|_| relative_error(&motion));
    motion.audit = audit(Evidence::Memory(evidence));
    motion.statistics = Statistics {
        steps: outcome.steps,
        rejected: outcome.rejected,
        evaluations: outcome.evaluations,
        derive_us: 0.0,
        compile_us,
        integrate_us: clock.microseconds(),
        audit_us: 0.0,
    };
    Ok(motion)
}

fn run_times(settings: &Settings) -> RunTimes {
    RunTimes { start: settings.t0, length: settings.options.t1 - settings.t0 }
}

/// A model as equations with memory, with what is observed and what events watch.
struct Formulated {
    formulation: Formulation,
    observed: Vec<Expr>,
    watched: Vec<Expr>,
}

fn formulated(
    model: &Workspace,
    dynamics: &Dynamics,
    settings: &Settings,
) -> Result<Formulated, Diagnostic> {
    let times = run_times(settings);
    let mut formulation = match (dynamics, &model.dynamics) {
        (Dynamics::Saddle(equations), _) => mechanical(model, equations, times),
        (_, Written::Equations(equations)) => written(model, equations, times),
        (Dynamics::Ordinary(_), Written::Lagrangian { .. }) => {
            unreachable!("ordinary dynamics come from `equation` statements")
        }
    }?;
    let (observed, watched) = outputs(model, &mut formulation)?;
    fix_branches(model, &mut formulation)?;
    add_places(model, &mut formulation.plan);
    Ok(Formulated { formulation, observed, watched })
}

/// How often a run is made in other units at most: the sizes of the first, in no units, may be wrong themselves.
const MOST_ROUNDS: usize = 4;

/// How much looser a run is integrated a second time, at most to 1e-5; and the part of the difference that is the error
/// of the first run, with a margin of thirty.
const LOOSER: f64 = 1e3;
const ERROR_PART: f64 = 30.0 / LOOSER;

/// Ends an integration that is interrupted.
struct Listener(Option<Interrupt>);

impl VolterraObserver for Listener {
    fn step(&mut self, _t: f64, _x: &[f64], _z: &[f64]) -> Control {
        if Interrupt::is_asked(self.0) { Control::Stop } else { Control::Continue }
    }
}

/// The end of a second integration, by few and long steps.
fn second_end(
    system: &mut CompiledVolterra,
    options: &VolterraOptions,
    outcome: &VolterraOutcome,
    interrupt: Option<Interrupt>,
) -> Option<(f64, Vec<f64>, Vec<f64>)> {
    if outcome.steps == 0 || outcome.stop == pfaff_solver::StopReason::Interrupted {
        return None;
    }
    let options = VolterraOptions {
        t1: outcome.t,
        tolerance: LOOSER * options.tolerance,
        // A given step has no tolerance.
        step: options.step.map(|h| 2.0 * h),
        outputs: Vec::new(),
        ..options.clone()
    };
    let second = integrate_volterra(system, &options, &mut Listener(interrupt));
    let is_near = (second.t - outcome.t).abs() <= 1e-6 * (outcome.t - options.t0).abs();
    is_near.then_some((second.t, second.x, second.z))
}

/// The largest error in parts of the largest value of its coordinate.
fn relative_error(motion: &Motion) -> f64 {
    let relative = motion.errors.iter().zip(&motion.q).map(|(error, q)| {
        let largest =
            q.values.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
        if *error == 0.0 { 0.0 } else { error / largest }
    });
    relative.fold(0.0, f64::max)
}

/// The memory is integrated a second time at a quarter, the middle and the end of the outputs.
fn direct_quadrature(settings: &Settings, formulation: &Formulation) -> DirectQuadrature {
    let times: Vec<f64> = settings.times.iter().copied().filter(|&t| t > settings.t0).collect();
    let mut chosen: Vec<f64> = [4, 2, 1]
        .iter()
        .filter_map(|part| times.get((times.len() / part).max(1) - 1).copied())
        .collect();
    chosen.dedup();
    let plan = &formulation.plan;
    let written = plan.written.iter().map(|w| w.unknown).collect();
    DirectQuadrature::new(plan.operands.clone(), written, STAGES, settings.t0, &chosen)
}

/// Equations with fixed branches, in the time since the start: powers of $t - t_0$ keep their digits.
fn fix_branches(model: &Workspace, formulation: &mut Formulation) -> Result<(), Diagnostic> {
    let g = &model.graph;
    let plan = &mut formulation.plan;
    let state: Vec<Expr> = plan.unknowns.iter().chain(&plan.symbols).copied().collect();
    let held = formulation.held.iter().map(|h| h.1);
    let outputs: Vec<Expr> = plan.residual.iter().copied().chain(held).collect();
    let FixedBranches { outputs, functions, symbols, breaks } =
        FixedBranches::of(model, &state, &outputs);
    let since = |es: &[Expr]| -> Vec<Expr> {
        let time = g.add(real(g, plan.times.start), plan.elapsed);
        let moved = g.substitute(es, &[(model.time, time)]);
        let depends = |e: Expr| plan.times.start != 0.0 && g.contains(e, &[plan.elapsed]);
        moved.into_iter().map(|e| if depends(e) { g.simplify(e) } else { e }).collect()
    };
    let all: Vec<Expr> = since(&[outputs, functions].concat());
    plan.signs = symbols;
    plan.breaks = breaks;
    let mut all = without_tape(model, plan, &all)?;
    let mut rest = all.split_off(plan.residual.len());
    plan.switches = rest.split_off(formulation.held.len());
    plan.residual = all;
    formulation.held.iter_mut().zip(rest).for_each(|(h, e)| h.1 = e);
    Ok(())
}

/// Puts symbols in the places of functions of time that have no tape.
fn without_tape(
    model: &Workspace,
    plan: &mut VolterraEquations,
    all: &[Expr],
) -> Result<Vec<Expr>, Diagnostic> {
    let g = &model.graph;
    let moving: Vec<Expr> =
        plan.unknowns.iter().chain(&plan.symbols).chain(&plan.signs).copied().collect();
    let mut images = Vec::new();
    for e in g.live(all) {
        if !matches!(g.node(e), Node::MittagLeffler(..)) {
            continue;
        }
        if g.contains(e, &moving) {
            let text = format!("`{}` depends on more than the time", g.to_text(e));
            let hint = "in equations of motion `mittag_leffler` takes constants, parameters and the time";
            return Err(mistake(dynamics_span(model), text, hint));
        }
        let name = format!("function of time {}", plan.slow.len());
        let symbol = g.symbol(&name, pfaff_expr::Role::Free);
        plan.slow.push((symbol, e));
        images.push((e, symbol));
    }
    Ok(if images.is_empty() { all.to_vec() } else { g.substitute(all, &images) })
}

/// Observed quantities and events, with results and memory replaced.
fn outputs(
    model: &Workspace,
    formulation: &mut Formulation,
) -> Result<(Vec<Expr>, Vec<Expr>), Diagnostic> {
    let g = &model.graph;
    let mut results: Vec<(Expr, Expr)> = Vec::new();
    for (k, &symbol) in model.results.reaction.iter().enumerate() {
        results.extend(formulation.reaction.get(k).map(|&r| (symbol, r)));
    }
    results.extend(formulation.energy.map(|e| (model.results.energy, e.0)));
    let names = model.observed.iter().map(|o| (&o.name, o.expr, o.span));
    let events = model.events.iter().map(|e| (&e.name, e.expr, e.span));
    let flow = [model.results.divergence];
    if let Some((name, _, span)) = names.chain(events).find(|&(_, e, _)| g.contains(e, &flow)) {
        let message = format!("`{name}` asks for `divergence`, but the model has memory");
        let hint = "with memory, (q, p) does not determine the motion, so there is no flow that has a divergence";
        return Err(mistake(span, message, hint));
    }
    let plan = &mut formulation.plan;
    let mut observed = Vec::new();
    for o in &model.observed {
        observed.push(plan.translate(model, &[o.expr], o.span)?[0]);
    }
    let mut watched = Vec::new();
    for e in &model.events {
        watched.push(plan.translate(model, &[e.expr], e.span)?[0]);
    }
    Ok((g.substitute(&observed, &results), g.substitute(&watched, &results)))
}

/// The start is so short that what it gets wrong of a singular density is below rounding.
fn options(settings: &Settings, plan: &VolterraEquations) -> VolterraOptions {
    let e = plan.exponent;
    // NOTE: below −0.7 the solver begins with a step in powers, or makes the first step shorter by itself.
    let singular = (-0.7..0.0).contains(&e);
    let decades = if singular { (14.0 / (1.0 + e)).clamp(16.0, 250.0) } else { 14.0 };
    let decades = decades.min(plan.decades);
    // Where less is asked for, the start is as much less short: what it gets wrong is a power of its length.
    let asked = (2.0 - libm::log10(settings.options.tolerance)) / 12.0;
    let decades = decades * asked.clamp(0.3, 1.0);
    VolterraOptions {
        t0: settings.t0,
        t1: settings.options.t1,
        tolerance: 0.1 * settings.options.tolerance,
        units: Vec::new(),
        stages: STAGES,
        first: libm::pow(10.0, -decades),
        step: settings.options.step,
        outputs: settings.times.clone(),
        max_steps: settings.options.max_steps,
        exponent: e,
        // Constraints hold at every output to rounding, whatever the tolerance is.
        settled: 0.0,
    }
}

/// Unknowns and operands at the start: unknowns from a first very short run, where they have a limit.
fn first_point(
    plan: &VolterraEquations,
    system: &mut CompiledVolterra,
    options: &VolterraOptions,
) -> (Vec<f64>, Vec<f64>) {
    struct First(Vec<Vec<f64>>);
    impl VolterraObserver for First {
        fn step(&mut self, _t: f64, x: &[f64], _z: &[f64]) -> Control {
            self.0.push(x.to_vec());
            Control::Continue
        }
    }
    let mut first = First(Vec::new());
    let short = VolterraOptions { max_steps: 3, outputs: Vec::new(), ..options.clone() };
    integrate_volterra(system, &short, &mut first);
    let count = plan.unknowns.len();
    let mut x = vec![f64::NAN; count];
    if let [a, b, ..] = &first.0[..] {
        for i in 0..count {
            // NOTE: what changes within 1e-14 of the run has no limit at its start.
            let unit = options.units.get(i).copied().unwrap_or(1.0);
            if (a[i] - b[i]).abs() <= 1e-6 * (unit + b[i].abs()) {
                x[i] = a[i];
            }
        }
    }
    let z: Vec<f64> = plan
        .operands
        .iter()
        .map(|o| {
            let term = |&(a, e): &(f64, f64)| {
                if e == 0.0 {
                    a
                } else if e < 0.0 {
                    f64::NAN
                } else {
                    0.0
                }
            };
            o.start.iter().map(term).sum()
        })
        .collect();
    (x, z)
}

fn uncompressed(formulation: &Formulation) -> Option<Note> {
    let general = |o: &&pfaff_solver::Operand| matches!(o.kernel, Kernel::General(_, None));
    formulation.plan.operands.iter().find(general).map(|_| {
        Note::Remark(
            "a kernel cannot be compressed to the tolerance (its breaks move, or it varies too fast): the whole \
             past is stored and summed again at each step, and the cost grows with the square of the number of steps"
                .into(),
        )
    })
}

/// What the run measured of itself.
fn evidence(
    formulation: &Formulation,
    watcher: &VolterraRecorder<'_>,
    tolerance: f64,
    steps: usize,
) -> MemoryEvidence {
    let held = formulation.held.iter().zip(&watcher.worst);
    let (off, scale) = watcher.imbalance;
    MemoryEvidence {
        held: held
            .map(|((name, _), &worst)| (name.clone(), watcher.judged.then_some(worst)))
            .collect(),
        balance: formulation.energy.map(|_| (watcher.judged.then_some(off), scale)),
        direct_difference: match watcher.direct_quadrature.worst() {
            None if watcher.direct_quadrature.is_idle() => None,
            worst => Some(worst),
        },
        error: None,
        tolerance,
        steps,
    }
}
