//! The system that the integrators see, and the instants that everybody else sees.
//!
//! The state is $y = (q, \dot q, \mu, w, u)$, with $\mu$ under the vakonomic principle only. $\dot w$ is the
//! power of forces and reactions, so that $E - w$ is constant along an exact
//! motion; $\dot u$ is that of forces and of explicit time, so that $E + E\[M\] - u$ is constant along a
//! vakonomic one. Both start from 0 and take no part in error control. Derivatives that are integrated with the motion
//! (`variational.rs`) stand before $w$. The reduced form has the state that `reduced.rs` describes. An `equation` model
//! has the state $(q, \dot q)$ with the velocities of its second-order coordinates only.

mod energy;
mod jump;
mod noise;
mod parameters;
mod sampling;
mod series;
mod solve;
mod variables;
mod watching;

use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, LagrangianData};
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, NativeExecutor, Program};
use pfaff_solver::{
    self as solver, EvalError, EventKind, ExplicitSteps, Jacobian, OwnSteps, RungeKuttaStep,
    TaylorSeries,
};

use crate::motion::Form;
use crate::motion::sample::{Sample, sample_symbols};
use crate::system::clearance::Clearance;
use crate::system::cusp::CuspWatch;
use crate::system::energy_scale::{raise_reduced, raise_scales, raise_tangents};
use crate::system::event_phases::{event_kinds, event_phases};
use crate::system::features::Features;
use crate::system::geometric::Geometric;
use crate::system::jacobian::{DescriptorJacobian, ModelJacobian};
use crate::system::kkt::Kkt;
use crate::system::ordinary::{OrdinarySystem, spread};
use crate::system::phase_divergence::Flow;
use crate::system::projection::project;
use crate::system::reduced::{LaneSamples, Reduced};
use crate::system::static_ldl::StaticLdl;
use crate::system::taylor_system::TaylorExpansion;
use crate::system::variational::VariationalFlow;

pub use crate::system::dynamics::Dynamics;
pub(crate) use jump::{Contradiction, JumpOutcome, Jumps};
pub(crate) use noise::NoiseSource;
pub(crate) use sampling::Samplers;

/// A compiled model: its dynamics, what it observes and the events it watches.
#[derive(Clone, Debug)]
pub(crate) struct CompiledSystem {
    pub(crate) dynamics: Compiled,
    /// The solve of the saddle-point form written out.
    static_ldl: Option<StaticLdl>,
    pub(crate) n: usize,
    pub(crate) m: usize,
    events: Vec<EventKind>,
    /// The event that each phase belongs to.
    phases: Vec<usize>,
    /// What events look at, and their phases, where there are any.
    watched: Option<Executor>,
    /// What is observed, where something is.
    observed: Option<Executor>,
    /// Tells where no event can be, if it knows all of them.
    clearance: Option<Clearance>,
    /// Whether events look at accelerations, reactions or energy.
    events_need_forces: bool,
    /// The divergence of the flow, where something asks for it.
    flow: Option<Flow>,
    observed_inputs: Vec<f64>,
    sample: Sample,
    pub(crate) cusp: CuspWatch,
    pub(super) features: Features,
    work: Vec<f64>,
    /// Taylor series of the saddle-point form or of an `equation` model; the reduced form has its own.
    pub(crate) series: Option<TaylorExpansion>,
    /// Where the exact Jacobian comes from, and what was compiled of it; the reduced form has its own.
    pub(crate) jacobian: Option<ModelJacobian>,
    pub(crate) descriptor: Option<Box<DescriptorJacobian>>,
    /// A geometric method, where one is asked for.
    pub(crate) geometric: Option<Geometric>,
    /// Places in time where the equations are not smooth, ascending.
    pub(crate) breaks: Vec<f64>,
    /// What happens at events, where something does.
    pub(crate) jumps: Option<Box<Jumps>>,
    /// Controls that are sampled.
    pub(crate) samplers: Option<Box<Samplers>>,
    /// Positions, then velocities, that earlier segments of the run had.
    pub(crate) sizes: Vec<f64>,
    /// When a segment begins, and below which values events are at zero there.
    pub(crate) begins: Option<(f64, Vec<f64>)>,
    /// White forces.
    pub(crate) noise: Option<Box<NoiseSource>>,
    /// The motion with its derivatives, where they are integrated together; the reduced form has its own.
    pub(crate) tangents: Option<Box<VariationalFlow>>,
}

/// The kinds of dynamics.
#[derive(Clone, Debug)]
pub(crate) enum Compiled {
    /// From a Lagrangian, in saddle-point form.
    Saddle(Box<Kkt>),
    /// From a Lagrangian, in independent quasi-velocities.
    Reduced(Box<Reduced>),
    /// From `equation` statements.
    Ordinary(Box<OrdinarySystem>),
}

impl CompiledSystem {
    /// Compiles a model with its derived dynamics.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let (n, m) = (model.coordinates.len(), model.constraints.len());
        let compiled = match dynamics {
            Dynamics::Saddle(equations) => {
                Compiled::Saddle(Box::new(Kkt::sketch(model, equations, backend)?))
            }
            Dynamics::Ordinary(ordinary) => {
                Compiled::Ordinary(Box::new(OrdinarySystem::new(model, ordinary, backend)?))
            }
        };
        let vakonomic = matches!(&compiled, Compiled::Saddle(kkt) if kkt.carried > 0);
        let inputs = sample_symbols(model, vakonomic);
        let parameters = model.parameter_symbols();
        let compile = |outputs: &[Expr]| -> Result<Option<Executor>, CompileError> {
            if outputs.is_empty() {
                return Ok(None);
            }
            let program = Program::compile(&model.graph, &inputs, &parameters, outputs)?;
            Ok(Some(program.tiered(&model.parameter_values(), backend)))
        };
        let mut watched: Vec<Expr> = model.events.iter().map(|e| e.expr).collect();
        let observed: Vec<Expr> = model.observed.iter().map(|o| o.expr).collect();
        let kinematic = 1 + 2 * n;
        let events_need_forces =
            watched.iter().any(|&e| model.graph.contains(e, &inputs[kinematic..]));
        let wanted = |e: &&Expr| model.graph.contains(**e, &[model.results.divergence]);
        let flow = match dynamics {
            Dynamics::Saddle(equations)
                if watched.iter().chain(&observed).any(|e| wanted(&e)) =>
            {
                Flow::new(model, equations, backend)?
            }
            _ => None,
        };
        let clearance = Clearance::new(model, &watched);
        let phases = event_phases(&model.graph, &watched);
        watched.extend(phases.iter().map(|&(_, phase)| phase));
        Ok(Self {
            dynamics: compiled,
            static_ldl: None,
            n,
            m,
            events: event_kinds(model),
            phases: phases.iter().map(|&(event, _)| event).collect(),
            watched: compile(&watched)?,
            observed: compile(&observed)?,
            clearance,
            events_need_forces,
            flow,
            observed_inputs: vec![f64::NAN; inputs.len()],
            sample: Sample::new(n, m),
            cusp: CuspWatch::new(n, m),
            features: Features::new(model, backend)?,
            work: Vec::new(),
            series: None,
            jacobian: None,
            descriptor: None,
            geometric: None,
            breaks: Vec::new(),
            jumps: Jumps::new(model, &inputs, backend)?.map(Box::new),
            samplers: Samplers::new(model, &inputs, backend)?.map(Box::new),
            sizes: Vec::new(),
            begins: None,
            noise: None,
            tangents: None,
        })
    }

    /// Takes the reduced form of the same model where there is one, given its saddle-point form and a consistent start.
    pub(crate) fn reduce(
        &mut self,
        model: &Workspace,
        statement: LagrangianData,
        equations: &Equations,
        at: &Sample,
    ) {
        let Compiled::Saddle(kkt) = &self.dynamics else { return };
        let parameters: Vec<(Expr, f64)> =
            model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let reduced =
            Reduced::new(statement, &equations.classes, &parameters, Kkt::clone(kkt), at);
        if let Some(mut reduced) = reduced {
            if !self.events_need_forces {
                reduced.watched = model.events.iter().map(|e| e.expr).collect();
            }
            self.dynamics = Compiled::Reduced(Box::new(reduced));
        }
    }

    /// Whether every constraint carries the motion.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.dynamics {
            Compiled::Saddle(kkt) => kkt.is_whole(),
            Compiled::Reduced(_) | Compiled::Ordinary(_) => true,
        }
    }

    /// The form of the equations.
    pub(crate) fn form(&self) -> Form {
        match self.dynamics {
            Compiled::Saddle(_) => Form::Saddle,
            Compiled::Reduced(_) => Form::Reduced,
            Compiled::Ordinary(_) => Form::Ordinary,
        }
    }

    /// The saddle-point form, evaluated at a state as far as that has a value.
    pub(crate) fn saddle_at(&mut self, t: f64, y: &[f64]) -> Option<&mut Kkt> {
        let n = self.n;
        match &mut self.dynamics {
            Compiled::Saddle(kkt) => {
                kkt.evaluate(t, &y[..n], &y[n..2 * n], &y[2 * n..2 * n + kkt.carried]);
                let _ = kkt.solve_reviewed();
                Some(kkt)
            }
            Compiled::Reduced(reduced) => {
                reduced.velocities(t, y, &mut self.sample.v);
                reduced.kkt.evaluate(t, &y[..n], &self.sample.v, &[]);
                let _ = reduced.kkt.solve_reviewed();
                Some(&mut reduced.kkt)
            }
            Compiled::Ordinary(_) => None,
        }
    }

    /// The same equations without events, or with those at which the state jumps if there are any.
    pub(crate) fn without_events(&self) -> Self {
        if self.jumps.is_some() {
            return self.without_stops();
        }
        Self { events: Vec::new(), phases: Vec::new(), watched: None, ..self.clone() }
    }

    /// Leaves residuals of this size, in parts of the terms of a constraint, when it projects.
    pub(crate) fn project_near(&mut self, near: f64) {
        if let Compiled::Saddle(kkt) = &mut self.dynamics {
            kkt.near = kkt.near.max(near);
        }
    }

    /// The instant of a state: projected onto the constraints first if asked to.
    pub(crate) fn resolve(
        &mut self,
        t: f64,
        y: &[f64],
        onto_constraints: bool,
        sample: &mut Sample,
    ) -> Result<(), EvalError> {
        let n = self.n;
        sample.t = t;
        sample.q.copy_from_slice(&y[..n]);
        match &mut self.dynamics {
            Compiled::Saddle(kkt) => {
                sample.v.copy_from_slice(&y[n..2 * n]);
                let μ = &y[2 * n..2 * n + kkt.carried];
                if onto_constraints {
                    project(kkt, t, &mut sample.q, &mut sample.v, μ)?;
                }
                kkt.evaluate(t, &sample.q, &sample.v, μ);
                sample.energy = kkt.energy();
                sample.constraint_energy = kkt.constraint_energy();
                kkt.solve_reviewed()?;
                kkt.least_norm();
                sample.a.copy_from_slice(kkt.acceleration());
                if kkt.carried > 0 {
                    sample.multipliers.copy_from_slice(μ);
                    sample.multiplier_rates.copy_from_slice(kkt.multipliers());
                } else {
                    sample.multipliers.copy_from_slice(kkt.multipliers());
                }
                kkt.reaction(&mut sample.reaction);
                if let Some(flow) = &mut self.flow {
                    sample.divergence = flow.divergence(kkt, sample).whole;
                }
            }
            Compiled::Reduced(reduced) => {
                reduced.resolve(t, y, sample)?;
                if let Some(flow) = &mut self.flow {
                    reduced.kkt.evaluate(t, &sample.q, &sample.v, &[]);
                    reduced.kkt.solve_reviewed()?;
                    let mut whole = sample.clone();
                    whole.multipliers.copy_from_slice(reduced.kkt.multipliers());
                    sample.divergence = flow.divergence(&reduced.kkt, &whole).whole;
                }
            }
            Compiled::Ordinary(kkt) => {
                spread(&kkt.orders, &y[n..], &mut sample.v);
                kkt.solve(t, &sample.q, &sample.v)?;
                for k in 0..n {
                    if kkt.orders[k] == 2 {
                        sample.a[k] = kkt.unknowns[k];
                    } else {
                        sample.v[k] = kkt.unknowns[k];
                    }
                }
            }
        }
        Ok(())
    }

    /// The instants of some states, with $\ddot q$ as given rates have it; packed from the first place on,
    /// with the numbers of the states that have one.
    pub(crate) fn resolve_all(
        &mut self,
        states: &[LaneSamples<'_>],
        instants: &mut [Sample],
    ) -> Vec<usize> {
        if let Compiled::Reduced(reduced) = &mut self.dynamics
            && reduced.resolve_together(states, instants)
        {
            return (0..states.len()).collect();
        }
        let mut found = Vec::with_capacity(states.len());
        for (i, &LaneSamples { t, y, rates }) in states.iter().enumerate() {
            let sample = &mut instants[found.len()];
            if self.resolve(t, y, false, sample).is_ok() {
                if let Some(rates) = rates {
                    self.moved(t, y, rates, sample);
                }
                found.push(i);
            }
        }
        found
    }

    /// Machine code that is all it takes to step from a state.
    pub(crate) fn machine_code(
        &mut self,
        step: &RungeKuttaStep<'_>,
    ) -> Option<&mut NativeExecutor> {
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => reduced.machine_code(step.t, step.y.as_flattened()),
            Compiled::Saddle(_) | Compiled::Ordinary(_) => {
                self.tangents.as_mut()?.machine_code()
            }
        }
    }

    /// What is observed at a sample.
    pub(crate) fn observe(&mut self, sample: &Sample, values: &mut [f64]) {
        sample.inputs(&mut self.observed_inputs);
        let inputs = &self.observed_inputs;
        self.observed.iter_mut().for_each(|observed| observed.evaluate(inputs, values));
    }
}

impl solver::System for CompiledSystem {
    fn dimension(&self) -> usize {
        match &self.dynamics {
            Compiled::Saddle(_) => self.controlled() + 2,
            Compiled::Reduced(reduced) => reduced.dimension(),
            Compiled::Ordinary(_) => self.controlled(),
        }
    }

    fn controlled(&self) -> usize {
        match &self.dynamics {
            Compiled::Reduced(reduced) => reduced.controlled(),
            Compiled::Saddle(_) | Compiled::Ordinary(_) => self.size() + self.derivatives(),
        }
    }

    fn motion(&self) -> usize {
        self.size()
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let n = self.n;
        if let Some(flow) = &mut self.tangents {
            return flow.rates(t, y, rates);
        }
        match &mut self.dynamics {
            Compiled::Saddle(kkt) => {
                let last = 2 * n + kkt.carried;
                let (q, v, μ) = (&y[..n], &y[n..2 * n], &y[2 * n..last]);
                rates[..n].copy_from_slice(v);
                if let Some(static_ldl) = &mut self.static_ldl
                    && kkt.active == static_ldl.active
                    && static_ldl.evaluate([&[t], q, v, μ])
                {
                    rates[n..last].copy_from_slice(&static_ldl.solution()[..last - n]);
                    rates[last..].copy_from_slice(&static_ldl.powers());
                    return Ok(());
                }
                kkt.evaluate(t, q, v, μ);
                kkt.solve()?;
                rates[n..2 * n].copy_from_slice(kkt.acceleration());
                rates[2 * n..last].copy_from_slice(&kkt.multipliers()[..kkt.carried]);
                rates[last] = kkt.power(v);
                rates[last + 1] = kkt.total_power();
            }
            Compiled::Reduced(reduced) => reduced.rates(t, y, rates)?,
            Compiled::Ordinary(kkt) => {
                let (q, given) = y.split_at(n);
                spread(&kkt.orders, given, &mut self.sample.v);
                kkt.solve(t, q, &self.sample.v)?;
                let mut second = n;
                for k in 0..n {
                    if kkt.orders[k] == 2 {
                        rates[k] = self.sample.v[k];
                        rates[second] = kkt.unknowns[k];
                        second += 1;
                    } else {
                        rates[k] = kkt.unknowns[k];
                    }
                }
            }
        }
        Ok(())
    }

    fn explicit_steps(&mut self) -> Option<&mut dyn ExplicitSteps> {
        let is_there = match (&self.dynamics, &mut self.tangents) {
            (Compiled::Reduced(_), _) => true,
            (_, Some(flow)) => flow.machine_code().is_some(),
            (_, None) => false,
        };
        if is_there { Some(self) } else { None }
    }

    fn taylor_series(&mut self) -> Option<&mut dyn TaylorSeries> {
        Some(self)
    }

    fn own_steps(&mut self) -> Option<&mut dyn OwnSteps> {
        if self.geometric.is_some() { Some(self) } else { None }
    }

    fn jacobian(&mut self) -> Option<&mut dyn Jacobian> {
        // NOTE: of derivatives that are carried along there is none.
        let is_there = match &self.dynamics {
            Compiled::Reduced(reduced) => !reduced.has_tangents(),
            Compiled::Saddle(_) | Compiled::Ordinary(_) => {
                self.jacobian.is_some() && self.tangents.is_none()
            }
        };
        if is_there { Some(self) } else { None }
    }

    fn project(&mut self, t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        if let Compiled::Saddle(kkt) = &mut self.dynamics {
            let (n, carried) = (kkt.n, kkt.carried);
            let (q, rest) = y.split_at_mut(n);
            let (v, rest) = rest.split_at_mut(n);
            project(kkt, t, q, v, &rest[..carried])?;
        }
        self.tangents.as_mut().map_or(Ok(()), |flow| flow.project_directions(t, y))
    }

    fn has_invariants(&self) -> bool {
        matches!(self.dynamics, Compiled::Saddle(_))
    }

    fn change_chart(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        if let Some(flow) = &mut self.tangents {
            flow.review(t, y);
        }
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => {
                let is_changed = reduced.change_chart(t, y)?;
                if is_changed {
                    self.apply_noise();
                }
                Ok(is_changed)
            }
            // The projection has left the core at this state.
            Compiled::Saddle(kkt) if self.cusp.is_lost(kkt, &y[self.n..2 * self.n]) => {
                Err(EvalError::Singular)
            }
            Compiled::Saddle(_) | Compiled::Ordinary(_) => Ok(false),
        }
    }

    fn feature_count(&self) -> usize {
        self.features.count
    }

    fn feature_phases(&mut self, t: f64, y: &[f64], phases: &mut [f64]) {
        let mut sample = std::mem::take(&mut self.sample);
        if self.features.needs_velocities {
            self.kinematics(t, y, &mut sample);
        } else {
            sample.q.copy_from_slice(&y[..self.n]);
        }
        self.features.evaluate(t, &sample.q, &sample.v, phases);
        self.sample = sample;
    }

    fn knot_count(&self) -> usize {
        self.features.knots.len()
    }

    fn knot_places(&mut self, t: f64, y: &[f64], places: &mut [f64]) {
        let mut sample = std::mem::take(&mut self.sample);
        self.kinematics(t, y, &mut sample);
        self.features.places(t, &sample.q, &sample.v, places);
        self.sample = sample;
    }

    fn raise_scales(&mut self, t: f64, y: &[f64], h: f64, scales: &mut [f64]) {
        match &mut self.dynamics {
            Compiled::Saddle(kkt) => raise_scales(kkt, t, y, h, scales),
            Compiled::Reduced(r) => {
                raise_reduced(r, &mut self.work, (t, y, h), scales);
                raise_tangents(&mut scales[..r.controlled()], r.n + r.k);
            }
            Compiled::Ordinary(_) => {}
        }
        if self.tangents.is_some() {
            let (size, controlled) = (self.size(), self.controlled());
            raise_tangents(&mut scales[..controlled], size);
        }
    }

    fn carried_scale(&mut self, t: f64, y: &[f64]) -> f64 {
        self.energy_scale(t, y)
    }

    fn next_break(&self, t: f64, t1: f64) -> Option<f64> {
        if t1 < t {
            return self.breaks[..self.breaks.partition_point(|&b| b < t)].last().copied();
        }
        let place = self.breaks.get(self.breaks.partition_point(|&b| b <= t)).copied();
        let sample = self.samplers.as_ref().and_then(|samplers| samplers.next(t));
        place.into_iter().chain(sample).reduce(f64::min)
    }

    fn events(&self) -> &[EventKind] {
        &self.events
    }

    fn event_phases(&self) -> &[usize] {
        &self.phases
    }

    fn event_values(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        self.watch(t, y, values)
    }

    fn is_clear(&mut self, t: [f64; 2], low: &[f64], high: &[f64]) -> bool {
        let positions = (&low[..self.n], &high[..self.n]);
        self.clearance.as_mut().is_some_and(|c| c.is_clear(t, positions.0, positions.1))
    }

    fn event_sizes(&mut self, t: f64, y: &[f64], sizes: &mut [f64]) {
        self.gap_sizes(t, y, sizes);
    }

    fn jump(
        &mut self,
        events: &[usize],
        t: f64,
        y: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        self.jump_at(events, t, y, rates)
    }

    fn known_sizes(&self, sizes: &mut [f64]) {
        let known = match self.dynamics {
            Compiled::Saddle(_) => &self.sizes[..],
            Compiled::Reduced(_) | Compiled::Ordinary(_) => {
                &self.sizes[..self.sizes.len().min(self.n)]
            }
        };
        sizes.iter_mut().zip(known).for_each(|(size, known)| *size = *known);
    }

    fn sample(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        if self.noise.is_some() {
            self.next_noise();
            return Ok(true);
        }
        self.sample_at(t, y)
    }
}
