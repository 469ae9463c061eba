//! Derivatives of a motion with memory: the variational Volterra equations.
//!
//! The operators are linear in what they act on, so a small change $(\delta x, \delta z)$ of densities and operands
//! obeys
//!
//! $$ \frac{\partial F}{\partial x}\,\delta x + \frac{\partial F}{\partial z}\,\delta z +
//!    \frac{\partial F}{\partial p}\,\delta p = 0, \qquad
//!    \delta z_p = \sum_i \delta a_{pi}\,\tau^{e_{pi}} + \int k_p\,\delta x_{u(p)}\,d\sigma \qquad (\mathrm{VZ}) $$
//!
//! with the kernels of (Z) itself. The motion is integrated once more together with (VZ), so that both are controlled.
//! What the start contributes, $\delta a$, is an algebraic function of the data: it is differentiated by central
//! differences of order eight, which lose no digits that matter (truncation $10^{-17}$, rounding $10^{-14}$).
//!
//! Where a parameter decides orders, kernels or branches, there is no such equation, and nothing is given back.

use pfaff_expr::{Expr, Node, Role};
use pfaff_model::Workspace;
use pfaff_program::{CompileError, Interpreter, Program};
use pfaff_solver::{
    LocatedEvent, Operand, StopReason, VolterraObserver, VolterraOptions, integrate_volterra,
};

use super::compiled::CompiledVolterra;
use super::formulate::Formulation;
use super::projection::Projection;
use super::slow_inputs::SlowInputs;
use super::time_features::lower_exponent;
use super::volterra_equations::{VolterraEquations, real};
use super::{Formulated, first_point, formulated, options, places};
use crate::error::Failure;
use crate::motion::sensitivity::{EventSensitivity, Sensitivity};
use crate::motion::{Motion, Series};
use crate::problem::settings::Settings;
use crate::run::sensitivity::direction::{Source, parameter_tangents};
use crate::run::sensitivity::values::set_values;
use crate::system::compiled::Dynamics;

/// Central differences of order eight: the weights at 1, 2, 3 and 4 steps.
pub(crate) const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
/// The step of differences of data, in parts of the parameter.
const STEP: f64 = 1.0 / 128.0;
/// How much looser the second integration is, and what of its difference is taken for the error.
const LOOSER: f64 = 1e3;
const ERROR_PART: f64 = 3e-2;

/// The derivative of a motion by one parameter, and its relative error at the end.
pub(crate) struct Derivative {
    pub(crate) sensitivity: Sensitivity,
    pub(crate) error: Option<f64>,
    pub(crate) steps: usize,
}

/// The derivative of a motion with memory by the parameter `place`; nothing where (VZ) does not hold.
pub(crate) fn derivative(
    model: &Workspace,
    dynamics: &Dynamics,
    settings: &Settings,
    place: usize,
    motion: &Motion,
) -> Result<Option<Derivative>, Failure> {
    let wrong = |d| Failure::Model(vec![d]);
    let failed = |e: CompileError| Failure::from(e);
    let tangents = parameter_tangents(model, Source::Parameter(place));
    let base = formulated(model, dynamics, settings).map_err(wrong)?;
    if decides_operators(model, &base.formulation.plan, &tangents) {
        return Ok(None);
    }
    let Some(starts) = start_changes(model, dynamics, settings, place, &base) else {
        return Ok(None);
    };
    let Formulated { formulation, observed, watched } = base;
    let mut varied = Variation::of(model, &formulation, &tangents, starts);
    let mut system = CompiledVolterra::new(model, &varied.plan, &watched).map_err(failed)?;
    lower_exponent(model, &mut varied.plan, &mut system).map_err(wrong)?;
    let outputs = varied.outputs(model, &observed, &watched);
    let mut rows = Rows::new(model, &varied.plan, &outputs).map_err(failed)?;
    let end = motion.t.iter().chain(motion.events.iter().map(|e| &e.t)).copied();
    let options = VolterraOptions {
        outputs: motion.t.clone(),
        t1: end.fold(settings.t0, f64::max),
        ..options(settings, &varied.plan)
    };
    let mut steps = 0;
    let mut error = Some(0.0);
    if motion.t.first() == Some(&settings.t0) {
        let (x, z) = first_point(&varied.plan, &mut system, &options);
        rows.sample(settings.t0, &x, &z);
    }
    if options.t1 > settings.t0 {
        let outcome = integrate_volterra(&mut system, &options, &mut rows);
        steps = outcome.steps;
        error = None;
        if matches!(outcome.stop, StopReason::End | StopReason::Event(_)) && steps > 0 {
            let looser = VolterraOptions {
                t1: outcome.t,
                tolerance: LOOSER * options.tolerance,
                step: options.step.map(|h| 2.0 * h),
                outputs: Vec::new(),
                ..options.clone()
            };
            let second = integrate_volterra(&mut system, &looser, &mut ());
            let near = (second.t - outcome.t).abs() <= 1e-6 * (outcome.t - options.t0).abs();
            let ends = [(&outcome.x, &outcome.z), (&second.x, &second.z)]
                .map(|(x, z)| rows.read(outcome.t, x, z));
            error = near.then(|| apart(&ends[0].q, &ends[1].q, &rows.samples));
        }
    }
    let sensitivity = rows.finished(model, motion);
    Ok(Some(Derivative { sensitivity, error, steps }))
}

/// The largest distance of two ends in parts of the largest value of each component.
fn apart(a: &[f64], b: &[f64], rows: &[(f64, Row)]) -> f64 {
    let mut worst = 0.0_f64;
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        let largest = rows.iter().map(|r| r.1.q[k].abs()).filter(|x| x.is_finite());
        let largest = largest.fold(a.abs(), f64::max);
        let part = ERROR_PART * (a - b).abs();
        worst = worst.max(if part == 0.0 { 0.0 } else { part / largest });
    }
    worst
}

/// Whether what varies stands in an order, in a kernel, in a function without a tape, or decides branches.
fn decides_operators(model: &Workspace, plan: &VolterraEquations, tangents: &[f64]) -> bool {
    let g = &model.graph;
    let symbols = model.parameter_symbols();
    let moved: Vec<Expr> =
        symbols.iter().zip(tangents).filter(|(_, δ)| **δ != 0.0).map(|(&s, _)| s).collect();
    let in_operator = g.live(&places(model)).into_iter().any(|node| match g.node(node) {
        Node::Memory(_, _, second) => g.contains(second, &moved),
        _ => false,
    });
    in_operator
        || plan.slow.iter().any(|s| g.contains(s.1, &moved))
        || !plan.switches.is_empty()
        || plan.breaks.iter().any(|_| breaks_move(model, plan, &moved))
}

/// Whether a place in time at which the equations break moves with a parameter: taken for granted where both occur in
/// one function of time.
fn breaks_move(model: &Workspace, plan: &VolterraEquations, moved: &[Expr]) -> bool {
    let g = &model.graph;
    g.live(&plan.residual)
        .into_iter()
        .any(|e| matches!(g.node(e), Node::Compare(..)) && g.contains(e, moved))
}

/// The change of what the start contributes to each operand; nothing if equations or operators change with it.
fn start_changes(
    model: &Workspace,
    dynamics: &Dynamics,
    settings: &Settings,
    place: usize,
    base: &Formulated,
) -> Option<Vec<Vec<(f64, f64)>>> {
    let plan = &base.formulation.plan;
    let value = model.parameters[place].value;
    let h = if value == 0.0 { STEP } else { STEP * value.abs() };
    let mut changes: Vec<Vec<(f64, f64)>> = vec![Vec::new(); plan.operands.len()];
    for (j, weight) in WEIGHTS.iter().enumerate() {
        for sign in [1.0, -1.0] {
            let mut other = model.clone();
            set_values(&mut other, &[place], &[value + sign * (j + 1) as f64 * h]);
            let Ok(moved) = formulated(&other, dynamics, settings) else { return None };
            let theirs = &moved.formulation.plan;
            let same = theirs.residual == plan.residual
                && moved.observed == base.observed
                && theirs.operands.len() == plan.operands.len()
                && theirs
                    .operands
                    .iter()
                    .zip(&plan.operands)
                    .all(|(a, b)| a.unknown == b.unknown && a.kernel == b.kernel);
            if !same {
                return None;
            }
            for (list, operand) in changes.iter_mut().zip(&theirs.operands) {
                for &(a, e) in &operand.start {
                    let part = sign * weight / h * a;
                    match list.iter_mut().find(|known| known.1 == e) {
                        Some(known) => known.0 += part,
                        None => list.push((part, e)),
                    }
                }
            }
        }
    }
    // What does not vary leaves the rounding of its differences.
    for (list, operand) in changes.iter_mut().zip(&plan.operands) {
        let size = |e: f64| {
            let same = operand.start.iter().filter(|s| s.1 == e);
            same.map(|s| s.0.abs()).sum::<f64>()
        };
        list.retain(|&(a, e)| a.abs() > 1e-13 * size(e) / h.max(f64::MIN_POSITIVE));
    }
    Some(changes)
}

/// A plan with its variation.
struct Variation {
    plan: VolterraEquations,
    /// Symbols and how they change.
    moved: Vec<(Expr, Expr)>,
}

impl Variation {
    fn of(
        model: &Workspace,
        formulation: &Formulation,
        tangents: &[f64],
        starts: Vec<Vec<(f64, f64)>>,
    ) -> Self {
        let g = &model.graph;
        let base = &formulation.plan;
        let mut plan = base.clone();
        let mut moved: Vec<(Expr, Expr)> = Vec::new();
        let count = base.unknowns.len();
        for (i, &x) in base.unknowns.iter().enumerate() {
            let δ = g.symbol(&format!("change of unknown {i}"), Role::Free);
            plan.unknowns.push(δ);
            moved.push((x, δ));
        }
        for (i, (operand, start)) in base.operands.iter().zip(starts).enumerate() {
            let δ = g.symbol(&format!("change of operand {i}"), Role::Free);
            plan.symbols.push(δ);
            moved.push((base.symbols[i], δ));
            for &(a, e) in &start {
                if a != 0.0 && e < 0.0 {
                    plan.exponent = plan.exponent.min(e);
                }
            }
            let unknown = operand.unknown + count;
            plan.operands.push(Operand { unknown, start, ..operand.clone() });
            plan.kernels.push(base.kernels[i]);
        }
        let parameters = model.parameter_symbols();
        let varying = parameters.iter().zip(tangents).filter(|(_, δ)| **δ != 0.0);
        moved.extend(varying.map(|(&s, &δ)| (s, real(g, δ))));
        let residual = g.merging(|| g.directional(&base.residual, &moved));
        plan.residual.extend(residual);
        Self { plan, moved }
    }

    /// What is read off each point: the derivatives, and for events the function with its slopes.
    fn outputs(&self, model: &Workspace, observed: &[Expr], watched: &[Expr]) -> Outputs {
        let g = &model.graph;
        let known = |symbol: Expr| self.plan.place(symbol).map(|_| symbol);
        let along = |list: Vec<Option<Expr>>| -> Vec<Option<Expr>> {
            let written: Vec<Expr> = list.iter().map(|e| e.unwrap_or(g.zero())).collect();
            let changed = g.directional(&written, &self.moved);
            list.iter().zip(changed).map(|(e, δ)| e.map(|_| δ)).collect()
        };
        let symbols = |list: Vec<Expr>| list.into_iter().map(known).collect::<Vec<_>>();
        let slow = |e: &Expr| {
            let live = g.live(&[*e]);
            (!live.iter().any(|&e| matches!(g.node(e), Node::MittagLeffler(..)))).then_some(*e)
        };
        let (q, v) = (symbols(model.positions()), symbols(model.velocities()));
        let a = symbols(model.accelerations());
        // NOTE: rates of positions and velocities are known, those of other operands are not.
        let rate = |e: &Expr| -> Option<Expr> {
            let pairs = |from: &[Option<Expr>], to: &[Option<Expr>]| -> Vec<(Expr, Expr)> {
                from.iter().zip(to).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect()
            };
            let mut moving = pairs(&q, &v);
            moving.extend(pairs(&v, &a));
            moving.extend([(model.time, g.one()), (self.plan.elapsed, g.one())]);
            let sources: Vec<Expr> = moving.iter().map(|m| m.0).collect();
            let others: Vec<Expr> =
                self.moved.iter().map(|m| m.0).filter(|s| !sources.contains(s)).collect();
            let others: Vec<Expr> =
                others.into_iter().filter(|s| !model.parameter_symbols().contains(s)).collect();
            (!g.contains(*e, &others)).then(|| g.directional(&[*e], &moving)[0])
        };
        Outputs {
            q: along(q.clone()),
            v: along(v.clone()),
            multipliers: along(model.results.lambda.iter().map(|&λ| known(λ)).collect()),
            observed: along(observed.iter().map(slow).collect()),
            watched: along(watched.iter().map(|&e| Some(e)).collect()),
            watched_rates: watched.iter().map(rate).collect(),
            velocities: v,
            accelerations: a,
        }
    }
}

/// Expressions that are read off, missing where there is no such quantity.
struct Outputs {
    q: Vec<Option<Expr>>,
    v: Vec<Option<Expr>>,
    multipliers: Vec<Option<Expr>>,
    observed: Vec<Option<Expr>>,
    watched: Vec<Option<Expr>>,
    watched_rates: Vec<Option<Expr>>,
    velocities: Vec<Option<Expr>>,
    accelerations: Vec<Option<Expr>>,
}

/// The numbers of one point.
#[derive(Clone, Debug, Default)]
struct Row {
    q: Vec<f64>,
    v: Vec<f64>,
    multipliers: Vec<f64>,
    observed: Vec<f64>,
    watched: Vec<f64>,
    watched_rates: Vec<f64>,
    velocities: Vec<f64>,
    accelerations: Vec<f64>,
}

/// Reads a run.
struct Rows {
    run: Interpreter,
    projection: Projection,
    slow: SlowInputs,
    inputs: Vec<f64>,
    values: Vec<f64>,
    missing: Vec<bool>,
    sizes: [usize; 8],
    start: f64,
    samples: Vec<(f64, Row)>,
    events: Vec<(usize, Row)>,
}

impl Rows {
    fn new(
        model: &Workspace,
        plan: &VolterraEquations,
        outputs: &Outputs,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let lists = [
            &outputs.q,
            &outputs.v,
            &outputs.multipliers,
            &outputs.observed,
            &outputs.watched,
            &outputs.watched_rates,
            &outputs.velocities,
            &outputs.accelerations,
        ];
        let all: Vec<Option<Expr>> = lists.iter().flat_map(|l| l.iter().copied()).collect();
        let written: Vec<Expr> = all.iter().map(|e| e.unwrap_or(g.zero())).collect();
        let inputs = plan.inputs(model);
        let program = Program::compile(g, &inputs, &model.parameter_symbols(), &written)?;
        Ok(Self {
            run: program.interpreter(&model.parameter_values()),
            projection: Projection::new(model, plan)?,
            slow: SlowInputs::new(model, plan),
            inputs: vec![0.0; inputs.len()],
            values: vec![0.0; written.len()],
            missing: all.iter().map(Option::is_none).collect(),
            sizes: lists.map(Vec::len),
            start: plan.times.start,
            samples: Vec::new(),
            events: Vec::new(),
        })
    }

    fn read(&mut self, t: f64, x: &[f64], z: &[f64]) -> Row {
        let (first, second) = (2 + x.len(), 2 + x.len() + z.len());
        self.inputs[0] = t;
        self.inputs[1] = t - self.start;
        self.inputs[2..first].copy_from_slice(x);
        self.inputs[first..second].copy_from_slice(z);
        self.slow.fill(t - self.start, &mut self.inputs[second..]);
        if self.projection.apply(t, &mut self.inputs[first..second]).is_err() {
            self.inputs[first..second].fill(f64::NAN);
        }
        self.run.evaluate(&self.inputs, &mut self.values);
        for (value, missing) in self.values.iter_mut().zip(&self.missing) {
            if *missing {
                *value = f64::NAN;
            }
        }
        let mut rest = &self.values[..];
        let [q, v, multipliers, observed, watched, watched_rates, velocities, accelerations] =
            self.sizes.map(|size| {
                let (part, later) = rest.split_at(size);
                rest = later;
                part.to_vec()
            });
        Row { q, v, multipliers, observed, watched, watched_rates, velocities, accelerations }
    }

    /// The series at the output times of a motion; what was not reached is not a number.
    fn finished(self, model: &Workspace, motion: &Motion) -> Sensitivity {
        let series = |names: Vec<&String>, of: &dyn Fn(&Row) -> &Vec<f64>| -> Vec<Series> {
            let one = |(k, name): (usize, &&String)| {
                let value = |t: &f64| {
                    let row = self.samples.iter().find(|row| row.0 == *t);
                    row.map_or(f64::NAN, |row| of(&row.1)[k])
                };
                Series { name: (*name).clone(), values: motion.t.iter().map(value).collect() }
            };
            names.iter().enumerate().map(one).collect()
        };
        let coordinates = || model.coordinates.iter().map(|c| &c.name).collect::<Vec<_>>();
        let constraints = motion.multipliers.iter().map(|s| &s.name).collect::<Vec<_>>();
        let event = |(index, row): &(usize, Row)| {
            let δt = -row.watched[*index] / row.watched_rates[*index];
            let moved = |parts: &[f64], rates: &[f64]| -> Vec<f64> {
                parts.iter().zip(rates).map(|(x, rate)| x + rate * δt).collect()
            };
            EventSensitivity {
                name: model.events[*index].name.clone(),
                t: δt,
                q: moved(&row.q, &row.velocities),
                v: moved(&row.v, &row.accelerations),
            }
        };
        Sensitivity {
            name: String::new(),
            q: series(coordinates(), &|row| &row.q),
            v: series(coordinates(), &|row| &row.v),
            multipliers: series(constraints, &|row| &row.multipliers),
            observed: series(model.observed.iter().map(|o| &o.name).collect(), &|row| {
                &row.observed
            }),
            events: self.events.iter().map(event).collect(),
            end: None,
            second: Vec::new(),
        }
    }
}

impl VolterraObserver for Rows {
    fn sample(&mut self, t: f64, x: &[f64], z: &[f64]) {
        let row = self.read(t, x, z);
        self.samples.push((t, row));
    }

    fn event(&mut self, event: &LocatedEvent, x: &[f64], z: &[f64]) {
        let row = self.read(event.t, x, z);
        self.samples.push((event.t, row.clone()));
        self.events.push((event.index, row));
    }
}
