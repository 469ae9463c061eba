//! Derivatives of motions by parameters and initial values.
//!
//! A run by DOP853 or the Taylor method integrates its variational equations with the motion
//! (`system/reduced/tangents.rs`, `system/variational.rs`). After any other run from a given start, the same motion is
//! integrated once more together with them, in saddle-point form or as the equations of the text stand. Both begin with
//! the derivative of the consistent start (`start.rs`). Where a switching function $u$ passes zero, they jump,
//!
//! $$ s^+ = s^- + (\dot y^- - \dot y^+)\,\delta t, \qquad
//!    \delta t = -\frac{\partial_y u\,s^- + \partial_p u\,\delta p}{\dot u^-}, \qquad (\mathrm J) $$
//!
//! and the time of an event moves by the same $\delta t$ of its own function.

pub(crate) mod adjoint;
mod carried;
pub(crate) mod direction;
pub(crate) mod outputs;
pub(crate) mod start;
pub(crate) mod values;

use pfaff_expr::Expr;
use pfaff_model::{Principle, Quantity, Workspace};
use pfaff_program::Backend;
use pfaff_solver::{
    Control, DenseStep, Method, Observer, OdeOptions, StopReason, System, integrate,
};

use crate::audit::error::error_check;
use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::note::{Note, brief};
use crate::motion::sensitivity::{Sensitivity, Transition};
use crate::motion::side::Side;
use crate::motion::verdict::{Audit, Check};
use crate::motion::{Motion, TangentRows};
use crate::problem::branches::Branches;
use crate::problem::settings::{Run, Settings};
use crate::problem::start::Start;
use crate::run::consistent_start::begin;
pub(crate) use crate::run::sensitivity::carried::carry;
use crate::run::sensitivity::direction::{Direction, Source, directions, parameter_tangents};
use crate::run::sensitivity::outputs::Outputs;
pub(crate) use crate::run::sensitivity::outputs::results;
use crate::run::sensitivity::start::{StartPlace, StartTangent};
use crate::system::compiled::{CompiledSystem, Dynamics};
use crate::system::linearisation::Variables;
use crate::system::ordinary::spread;
use crate::system::variational::{Evaluation, VariationalFlow};

/// Output times up to which each ends a step, so that no interpolation is between.
const EXACT: usize = 64;
/// How much looser a second integration is, and what of its difference is taken for the error of the first.
const LOOSER: f64 = 1e5;
const SHARE: f64 = 1e-3;
/// A difference this small is a rounding error, in parts of the state over what varies.
const ROUNDING: f64 = 1e-13;

/// Refuses names that a model does not have, and motions from a start that have no sensitivities.
pub(crate) fn check(model: &Workspace, request: &Run) -> Result<(), Failure> {
    let settings = Settings::new(model, request)?;
    if let Some(gradient) = &request.gradient {
        adjoint::check(model, gradient, settings.t0)?;
    }
    directions(model, &request.sensitivities, (settings.t0, None)).map(|_| ())
}

/// How derivatives are followed along a motion.
pub(crate) type Along =
    fn(&Base<'_>, &Run, &Varied, &mut Motion) -> Result<Vec<Sensitivity>, Failure>;

/// Adds the sensitivities that a run is asked for to its motion.
pub(crate) fn add(
    model: &Workspace,
    derived: Option<&Dynamics>,
    request: &Run,
    along: Along,
    motion: &mut Motion,
) -> Result<(), Failure> {
    let settings = Settings::new(model, request)?;
    let full = |d: &Dynamics| !matches!(d, Dynamics::Saddle(e) if e.auxiliary.is_some());
    let dynamics = match derived.filter(|d| full(d)) {
        Some(dynamics) => dynamics.clone(),
        None => derive_in(model, request.principle)?,
    };
    if let Some(carried) = motion.tangents.take() {
        let directions = directions(model, &request.sensitivities, (settings.t0, None))?;
        motion.sensitivities =
            read(model, &settings, &dynamics, (&directions, carried), motion)?;
        if !request.transition && request.gradient.is_none() {
            return Ok(());
        }
    }
    let mut system = CompiledSystem::new(model, &dynamics, settings.backend)?;
    let start = begin(model, &dynamics, &mut system, settings.t0)?;
    let base = Base { model, settings: &settings, dynamics: &dynamics, start: &start };
    let along = |varied: &Varied, motion: &mut Motion| along(&base, request, varied, motion);
    if !request.sensitivities.is_empty() && motion.sensitivities.is_empty() {
        let directions = directions(model, &request.sensitivities, (settings.t0, None))?;
        let varied = base.varied(directions)?;
        motion.sensitivities = along(&varied, motion)?;
    }
    if request.transition {
        motion.transition = Some(transition(&base, along, motion)?);
    }
    if let Some(gradient) = &request.gradient {
        let names = adjoint::names(model, gradient);
        let along = base.varied(directions(model, &names, (settings.t0, None))?)?;
        motion.gradient = Some(adjoint::gradient(&base, gradient, &along, motion)?);
    }
    Ok(())
}

/// The state-transition matrix of a motion from its start, by the derivatives along directions.
pub(crate) fn transition(
    base: &Base<'_>,
    along: impl Fn(&Varied, &mut Motion) -> Result<Vec<Sensitivity>, Failure>,
    motion: &mut Motion,
) -> Result<Transition, Failure> {
    let varied = base.all_directions()?;
    let columns = along(&varied, motion)?;
    Ok(Transition::of(&varied.names(), &columns, motion.t.len()))
}

/// A motion at its start.
pub(crate) struct Base<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) settings: &'a Settings,
    pub(crate) dynamics: &'a Dynamics,
    pub(crate) start: &'a Start,
}

/// What varies, and how the start follows.
pub(crate) struct Varied {
    pub(crate) directions: Vec<Direction>,
    /// The changes of all parameters along each direction.
    pub(crate) changes: Vec<Vec<f64>>,
    pub(crate) tangents: Vec<StartTangent>,
}

impl Varied {
    fn names(&self) -> Vec<String> {
        self.directions.iter().map(|d| d.name.clone()).collect()
    }
}

impl Base<'_> {
    /// Parameters and initial values in turn, with what they do to the start.
    fn varied(&self, directions: Vec<Direction>) -> Result<Varied, Failure> {
        let changes: Vec<Vec<f64>> =
            directions.iter().map(|d| parameter_tangents(self.model, d.source)).collect();
        let place = StartPlace::new(self.model, self.dynamics, self.start, self.settings.t0)?;
        let along = directions.iter().zip(&changes);
        let tangents: Vec<StartTangent> = along
            .map(|(direction, change)| place.along(direction.source, change))
            .collect::<Result<_, _>>()?;
        Ok(Varied { directions, changes, tangents })
    }

    /// Every component of the state in turn, moved onto the tangent space of the constraints by the smallest change in
    /// the kinetic metric.
    fn all_directions(&self) -> Result<Varied, Failure> {
        let model = self.model;
        let n = model.coordinates.len();
        let variables = Variables::of(model, self.dynamics, Vec::new());
        let mut directions = Vec::new();
        for &symbol in &variables.state {
            let position = |list: &[Expr]| list.iter().position(|&s| s == symbol);
            let (name, quantity) = if let Some(k) = position(&model.positions()) {
                (model.coordinates[k].name.clone(), Quantity::Coordinate(k, 0))
            } else if let Some(k) = position(&model.velocities()) {
                (format!("{}'", model.coordinates[k].name), Quantity::Coordinate(k, 1))
            } else {
                let a = position(&model.results.mu).unwrap_or_default();
                (format!("mu({})", model.constraints[a].name), Quantity::Multiplier(a))
            };
            directions.push(Direction { name, source: Source::Initial(quantity) });
        }
        let d = directions.len();
        let unit =
            |k: usize| -> Vec<f64> { (0..d).map(|i| f64::from(u8::from(i == k))).collect() };
        let mut system = CompiledSystem::new(model, self.dynamics, self.settings.backend)?;
        let Start { q, v, multipliers, .. } = self.start;
        let mut y = system.state(self.settings.t0, q, v, multipliers);
        y.truncate(d);
        let tangents = vec![Vec::new(); d];
        let mut flow = VariationalFlow::new(
            model,
            self.dynamics,
            variables,
            tangents,
            (Evaluation::ByDirections, self.settings.backend),
        )?;
        let mut whole = VariationalFlow::joined(&y, &(0..d).map(unit).collect::<Vec<_>>());
        flow.begin(model, self.settings.t0, &whole);
        flow.project(self.settings.t0, &mut whole).map_err(|_| {
            Failure::usage(
                "the constraints are singular at the start: they have no tangent space",
            )
        })?;
        let orders: Option<&[u8]> = match self.dynamics {
            Dynamics::Ordinary(ordinary) => Some(&ordinary.orders),
            Dynamics::Saddle(_) => None,
        };
        let tangents = (0..d)
            .map(|k| {
                let part = flow.part(&whole, k);
                let mut v = vec![0.0; n];
                match orders {
                    Some(orders) => spread(orders, &part[n..], &mut v),
                    None => v.copy_from_slice(&part[n..2 * n]),
                }
                let multipliers = part.get(2 * n..).map_or_else(Vec::new, <[f64]>::to_vec);
                let multipliers = if orders.is_some() { Vec::new() } else { multipliers };
                StartTangent { q: part[..n].to_vec(), v, multipliers }
            })
            .collect();
        let parameters = model.parameters.len();
        Ok(Varied { directions, changes: vec![vec![0.0; parameters]; d], tangents })
    }
}

/// The derivatives of a motion along some directions.
pub(crate) fn derivatives(
    base: &Base<'_>,
    principle: Option<Principle>,
    varied: &Varied,
    motion: &mut Motion,
) -> Result<Vec<Sensitivity>, Failure> {
    let &Base { model, settings, dynamics, start } = base;
    let Varied { directions, changes, tangents } = varied;
    let mut branches = Branches::of(model);
    let fixed_dynamics;
    let dynamics = match &branches {
        Some(branches) => {
            fixed_dynamics = derive_in(&branches.model, principle)?;
            &fixed_dynamics
        }
        None => dynamics,
    };
    let mut task = Task {
        settings,
        dynamics,
        varied: varying(model, changes),
        changes,
        sizes: directions.iter().map(|d| size(model, start, d.source)).collect(),
        outputs: Outputs::new(model, dynamics, directions, motion),
        error: Some(0.0),
        steps: 0,
    };
    let fixed = branches.as_ref().map_or(model, |branches| &branches.model);
    let mut whole = task.first(fixed, start, tangents)?;
    let end = motion.t.iter().chain(motion.events.iter().map(|e| &e.t)).copied();
    let end = end.fold(settings.t0, f64::max);
    let mut stopped = None;
    match &mut branches {
        None => stopped = task.segment(model, (settings.t0, end), &mut whole, motion)?,
        Some(branches) => {
            let switches = std::mem::take(&mut motion.switches);
            for (k, (from, signs)) in switches.iter().enumerate() {
                branches.set(signs);
                if k > 0 {
                    let before = &switches[k - 1].1;
                    task.jump(branches, (before, signs), *from, &mut whole)?;
                    branches.set(signs);
                }
                let to = switches.get(k + 1).map_or(end, |next| next.0);
                stopped = task.segment(&branches.model, (*from, to), &mut whole, motion)?;
                if stopped.is_some() {
                    break;
                }
            }
            motion.switches = switches;
        }
    }
    Ok(task.finish(directions, stopped, motion))
}

/// The parameters that vary, by index.
pub(crate) fn varying(model: &Workspace, changes: &[Vec<f64>]) -> Vec<usize> {
    let varies = |&k: &usize| changes.iter().any(|change| change[k] != 0.0);
    (0..model.parameters.len()).filter(varies).collect()
}

/// The variational flow along some changes of all parameters, of which these vary.
fn flow(
    model: &Workspace,
    dynamics: &Dynamics,
    (varied, changes): (&[usize], &[Vec<f64>]),
    how: (Evaluation, Backend),
) -> Result<VariationalFlow, Failure> {
    let symbols = model.parameter_symbols();
    let parameters: Vec<Expr> = varied.iter().map(|&k| symbols[k]).collect();
    let variables = Variables::of(model, dynamics, parameters);
    let tangent = |change: &Vec<f64>| varied.iter().map(|&k| change[k]).collect();
    let tangents = changes.iter().map(tangent).collect();
    Ok(VariationalFlow::new(model, dynamics, variables, tangents, how)?)
}

/// The derivatives that were integrated with a motion.
fn read(
    model: &Workspace,
    settings: &Settings,
    dynamics: &Dynamics,
    (directions, carried): (&[Direction], TangentRows),
    motion: &mut Motion,
) -> Result<Vec<Sensitivity>, Failure> {
    let changes: Vec<Vec<f64>> =
        directions.iter().map(|d| parameter_tangents(model, d.source)).collect();
    let mut task = Task {
        settings,
        dynamics,
        varied: varying(model, &changes),
        changes: &changes,
        sizes: Vec::new(),
        outputs: Outputs::new(model, dynamics, directions, motion),
        error: carried.error,
        steps: carried.steps,
    };
    let mut rows = carried.rows;
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut flow = task.flow(model, Evaluation::ByDirections)?;
    if let Some((t, whole)) = rows.first() {
        flow.begin(model, *t, whole);
    }
    task.outputs.take(model, dynamics, &mut flow, rows, settings.backend)?;
    Ok(task.finish(directions, None, motion))
}

/// The size of a parameter or initial value; 1 if it is zero.
pub(crate) fn size(model: &Workspace, start: &Start, source: Source) -> f64 {
    let value = match source {
        Source::Parameter(k) => model.parameters[k].value,
        Source::Initial(Quantity::Coordinate(k, 0)) => start.q[k],
        Source::Initial(Quantity::Coordinate(k, _)) => start.v[k],
        Source::Initial(Quantity::Multiplier(a)) => {
            start.multipliers.get(a).copied().unwrap_or_default()
        }
        Source::Initial(Quantity::Time) | Source::Final(_) => 0.0,
    };
    if value == 0.0 { 1.0 } else { value.abs() }
}

/// Quantities on which nothing depends.
fn without_effect<'a>(
    directions: &'a [Direction],
    found: &'a [Sensitivity],
) -> impl Iterator<Item = Note> + 'a {
    let is_zero = |s: &Sensitivity| {
        let series = s.q.iter().chain(&s.v).chain(&s.multipliers).chain(&s.observed);
        let mut values = series.flat_map(|s| &s.values);
        values.all(|x| *x == 0.0) && s.events.iter().all(|e| e.t == 0.0)
    };
    directions.iter().zip(found).filter(move |(_, s)| is_zero(s)).map(|(direction, _)| {
        Note::Remark(format!(
            "nothing depends on `{}`: its sensitivities are zero",
            direction.name
        ))
    })
}

/// What the segments of a run share.
pub(crate) struct Task<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) dynamics: &'a Dynamics,
    /// The parameters that vary, by index.
    pub(crate) varied: Vec<usize>,
    /// The changes of all parameters along each direction.
    pub(crate) changes: &'a [Vec<f64>],
    /// The sizes of what varies.
    pub(crate) sizes: Vec<f64>,
    pub(crate) outputs: Outputs,
    /// The largest error of a derivative in parts of its size; unknown where an integration did not reach its end.
    pub(crate) error: Option<f64>,
    pub(crate) steps: usize,
}

impl Task<'_> {
    /// The derivatives, with their check and what is worth knowing of them.
    pub(crate) fn finish(
        self,
        directions: &[Direction],
        stopped: Option<f64>,
        motion: &mut Motion,
    ) -> Vec<Sensitivity> {
        let Task { settings, outputs, error, steps, .. } = self;
        let reached = outputs.reached();
        let found = outputs.finished(motion);
        if let Some(t) = stopped {
            motion.notes.push(Note::Remark(format!(
                "the sensitivities end at t = {}: beyond, they could not be integrated",
                brief(t)
            )));
        }
        if reached > 0 {
            motion.notes.extend(without_effect(directions, &found));
        }
        let check = error_check(
            error.filter(|_| stopped.is_none() && reached > 0),
            settings.options.tolerance,
            steps,
        );
        let check = Check { name: "sensitivities by a second integration".into(), ..check };
        motion.audit.checks.push(check);
        motion.audit = Audit::of(std::mem::take(&mut motion.audit.checks));
        found
    }

    /// The variational flow of a model.
    pub(crate) fn flow(
        &self,
        model: &Workspace,
        evaluation: Evaluation,
    ) -> Result<VariationalFlow, Failure> {
        let how = (evaluation, self.settings.backend);
        flow(model, self.dynamics, (&self.varied, self.changes), how)
    }

    /// The state of the flow at the start.
    pub(crate) fn first(
        &self,
        model: &Workspace,
        start: &Start,
        tangents: &[StartTangent],
    ) -> Result<Vec<f64>, Failure> {
        let mut system = CompiledSystem::new(model, self.dynamics, self.settings.backend)?;
        let size = Variables::of(model, self.dynamics, Vec::new()).state.len();
        let mut state = |q: &[f64], v: &[f64], μ: &[f64]| {
            let mut y = system.state(self.settings.t0, q, v, μ);
            y.truncate(size);
            y
        };
        let y = state(&start.q, &start.v, &start.multipliers);
        let parts: Vec<Vec<f64>> =
            tangents.iter().map(|s| state(&s.q, &s.v, &s.multipliers)).collect();
        Ok(VariationalFlow::joined(&y, &parts))
    }

    /// Integrates the flow over a segment; says where it stopped if that is before the end.
    pub(crate) fn segment(
        &mut self,
        model: &Workspace,
        (from, to): (f64, f64),
        whole: &mut Vec<f64>,
        motion: &Motion,
    ) -> Result<Option<f64>, Failure> {
        let mut flow = self.flow(model, Evaluation::Explicit)?;
        flow.begin(model, from, whole);
        let mut times: Vec<f64> = motion.t.iter().copied().filter(|t| *t > from).collect();
        times.extend(motion.events.iter().map(|e| e.t).filter(|t| *t > from));
        times.retain(|t| *t <= to);
        if self.outputs.next_time() == Some(from) {
            times.push(from);
        }
        times.sort_by(f64::total_cmp);
        times.dedup();
        let mut breaks = Branches::of(model).map_or_else(Vec::new, |branches| branches.breaks);
        if times.len() <= EXACT {
            breaks.extend(&times);
        }
        breaks.retain(|t| *t > from);
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        flow.break_at(breaks);
        let mut rows = Rows { flow: flow.clone(), times, next: 0, kept: Vec::new() };
        rows.start(from, whole);
        let mut stopped = None;
        if to > from {
            let options = OdeOptions {
                t0: from,
                t1: to,
                method: match self.settings.options.method {
                    Method::Radau | Method::Rosenbrock => Method::Radau,
                    Method::Dop853 | Method::Taylor | Method::Rk4 | Method::Own => {
                        Method::Dop853
                    }
                },
                step: None,
                ..self.settings.options
            };
            let outcome = integrate(&mut flow, whole, &options, &mut rows);
            self.steps += outcome.statistics.steps;
            if outcome.stop == StopReason::End {
                self.compare(&mut flow, whole, &options, (&outcome.y, &outcome.scales));
            } else {
                stopped = Some(outcome.t);
            }
            *whole = outcome.y;
        }
        self.outputs.take(model, self.dynamics, &mut flow, rows.kept, self.settings.backend)?;
        Ok(stopped)
    }

    /// Estimates the errors at the end of a segment by an integration with a looser tolerance.
    fn compare(
        &mut self,
        flow: &mut VariationalFlow,
        from: &[f64],
        options: &OdeOptions,
        (end, scales): (&[f64], &[f64]),
    ) {
        let d = flow.size();
        let tolerance = (LOOSER * options.tolerance).min(1e-3);
        let loose = integrate(flow, from, &OdeOptions { tolerance, ..*options }, &mut ());
        if loose.stop != StopReason::End {
            self.error = None;
            return;
        }
        let share = SHARE * (options.tolerance / tolerance) * LOOSER;
        for (i, (a, b)) in loose.y.iter().zip(end).enumerate().skip(d) {
            let rounding = ROUNDING * scales[i % d] / self.sizes[i / d - 1];
            let distance = (a - b).abs();
            let distance = if distance <= rounding { 0.0 } else { distance - rounding };
            let error = share * distance / scales[i];
            self.error = self.error.map(|e| if error.is_nan() { error } else { e.max(error) });
        }
    }

    /// The jump (J) where switching functions change their signs.
    fn jump(
        &self,
        branches: &mut Branches,
        (before, after): (&[Side], &[Side]),
        t: f64,
        whole: &mut [f64],
    ) -> Result<(), Failure> {
        let Some(k) = (0..before.len()).find(|&k| before[k] != after[k]) else { return Ok(()) };
        branches.set(before);
        let mut flow = self.flow(&branches.model, Evaluation::ByDirections)?;
        let function = [branches.functions[k]];
        let backend = self.settings.backend;
        let shifts =
            outputs::shifts(&branches.model, &mut flow, &function, (t, whole), backend)?;
        let d = flow.size();
        let (mut old, mut new) = (vec![0.0; d], vec![0.0; d]);
        let solved = flow.solve(t, whole).is_ok();
        flow.state_rates(&whole[..d], &mut old);
        branches.set(after);
        let mut flow = self.flow(&branches.model, Evaluation::ByDirections)?;
        if flow.solve(t, whole).is_err() || !solved {
            new.fill(f64::NAN);
        } else {
            flow.state_rates(&whole[..d], &mut new);
        }
        for (δy, δt) in whole[d..].chunks_exact_mut(d).zip(shifts) {
            for (x, (old, new)) in δy.iter_mut().zip(old.iter().zip(&new)) {
                let change = (old - new) * δt;
                // NOTE: where the rates do not jump, it does not matter when they would.
                *x += if old == new { 0.0 } else { change };
            }
        }
        Ok(())
    }
}

/// Keeps the states of a flow at some times.
struct Rows {
    flow: VariationalFlow,
    times: Vec<f64>,
    next: usize,
    kept: Vec<(f64, Vec<f64>)>,
}

impl Rows {
    fn start(&mut self, t: f64, whole: &[f64]) {
        if self.times.first() == Some(&t) {
            self.kept.push((t, whole.to_vec()));
            self.next = 1;
        }
    }
}

impl Observer for Rows {
    fn wants_dense(&self, _start: f64, end: f64) -> bool {
        self.times.get(self.next).is_some_and(|&t| t < end)
    }

    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        while let Some(&t) = self.times.get(self.next).filter(|t| **t <= step.end()) {
            let mut whole = vec![0.0; self.flow.dimension()];
            step.state(t, &mut whole);
            if self.flow.project(t, &mut whole).is_err() {
                whole.fill(f64::NAN);
            }
            self.kept.push((t, whole));
            self.next += 1;
        }
        Control::Continue
    }
}
