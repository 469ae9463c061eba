//! The variational flow: a motion together with its derivatives along some directions.
//!
//! $$ \dot y = f(t, y; p), \qquad
//!    \dot s_k = \frac{\partial f}{\partial y}\,s_k + \frac{\partial f}{\partial p}\,\delta p_k
//!    \qquad (\mathrm S) $$
//!
//! The state of the integrator is $(y, s_1, s_2, \dots)$, and every component takes part in error control. The product
//! $\partial_y f\,s$ comes from the differentiated equations (`system/linearisation.rs`): one evaluation and one
//! factorisation for all directions, one substitution for each.
//!
//! After each step $y$ is projected onto the constraints, and each $s_k$ onto their tangent space, by the smallest
//! change in the kinetic metric.

mod explicit;

use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, NativeExecutor, TaylorError};
use pfaff_solver::{Block, EvalError, ExplicitSteps, RungeKuttaStep, System};

use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::energy_scale::raise_tangents;
use crate::system::explicit_steps;
use crate::system::linearisation::{
    EquationChange, Rate, Slopes, Variables, constraint_slopes, equation_slopes,
};
use crate::system::ordinary::spread;
use crate::system::taylor_system::{Demand, TaylorExpansion};
use explicit::ExplicitFlow;

/// How the rates of (S) are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// By one program, where the elimination can be written out: for many evaluations.
    Explicit,
    /// The same, with the work at the end of the state, as a run has it.
    Carried,
    /// By the differentiated equations, direction by direction: for a few evaluations.
    ByDirections,
}

/// The differentiated equations.
#[derive(Clone, Debug)]
enum Differentiated {
    Rows(Slopes),
    Along(EquationChange),
}

/// The system (S).
#[derive(Clone, Debug)]
pub(crate) struct VariationalFlow {
    pub(crate) variables: Variables,
    system: CompiledSystem,
    equations: Differentiated,
    constraints: Option<Slopes>,
    pub(crate) rates: Vec<Rate>,
    /// $\delta p_k$
    tangents: Vec<Vec<f64>>,
    /// $x$ at the state last solved.
    pub(crate) unknowns: Vec<f64>,
    /// A direction $(\delta t, \delta y, \delta p)$.
    direction: Vec<f64>,
    /// The response $\delta x$ last asked for.
    pub(crate) response: Vec<f64>,
    residual: Vec<f64>,
    velocities: Vec<f64>,
    /// All rates as one program, where that can be trusted.
    explicit: Option<Box<ExplicitFlow>>,
    /// Taylor series of all of them.
    series: Option<Box<TaylorExpansion>>,
    /// Quadratures at the end of the state: $w$ and $u$, or none.
    quadratures: usize,
    /// Whether that program is the one that is evaluated; of an `equation` model it gives Taylor series alone.
    is_evaluated: bool,
}

impl VariationalFlow {
    /// Compiles a model with its derivatives, for directions with these changes of the varying parameters.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        variables: Variables,
        tangents: Vec<Vec<f64>>,
        (evaluation, backend): (Evaluation, Backend),
    ) -> Result<Self, CompileError> {
        let mut system = CompiledSystem::new(model, dynamics, backend)?.without_events();
        let n = system.n;
        if let Compiled::Saddle(kkt) = &mut system.dynamics {
            kkt.promote(model)?;
        }
        let rates = variables.rates.clone();
        let carries_work =
            evaluation == Evaluation::Carried && matches!(dynamics, Dynamics::Saddle(_));
        let (explicit, equations);
        match evaluation {
            Evaluation::Explicit | Evaluation::Carried => {
                let how = (carries_work, backend);
                explicit = ExplicitFlow::new(model, dynamics, &variables, &tangents, how);
                let slopes = equation_slopes(model, dynamics, &variables, backend)?;
                equations = Differentiated::Rows(slopes);
            }
            Evaluation::ByDirections => {
                explicit = None;
                let change = EquationChange::new(model, dynamics, &variables, backend)?;
                equations = Differentiated::Along(change);
            }
        }
        Ok(Self {
            explicit: explicit.map(Box::new),
            series: None,
            quadratures: if carries_work { 2 } else { 0 },
            is_evaluated: matches!(dynamics, Dynamics::Saddle(_)),
            equations,
            constraints: constraint_slopes(model, dynamics, &variables, backend)?,
            unknowns: vec![0.0; variables.unknowns.len()],
            direction: vec![0.0; variables.width()],
            response: vec![0.0; variables.unknowns.len()],
            residual: vec![0.0; system.m],
            velocities: vec![0.0; n],
            rates,
            tangents,
            system,
            variables,
        })
    }

    /// Steps end at these times, ascending.
    pub(crate) fn break_at(&mut self, times: Vec<f64>) {
        self.system.breaks = times;
    }

    /// Takes the sizes of the constraints and decides which of them carry the motion, at the start.
    pub(crate) fn begin(&mut self, model: &Workspace, t: f64, y: &[f64]) {
        let n = self.system.n;
        if let Compiled::Saddle(kkt) = &mut self.system.dynamics {
            kkt.scale.measure(model, t, &y[..n]);
            kkt.evaluate(t, &y[..n], &y[n..2 * n], &y[2 * n..2 * n + kkt.carried]);
            kkt.measure_velocities(&y[n..2 * n]);
            kkt.decide();
            if !kkt.repeated().is_empty() {
                self.explicit = None;
            }
        }
        let Some(mut explicit) = self.explicit.take() else { return };
        let mut expected = vec![0.0; y.len()];
        if y.len() == self.dimension()
            && self.rates(t, y, &mut expected).is_ok()
            && explicit.calibrate(t, y, &expected)
        {
            self.explicit = Some(explicit);
        }
    }

    /// Makes Taylor series of motion and derivatives ready, given the start.
    pub(crate) fn expand(
        &mut self,
        model: &Workspace,
        demand: Demand,
        t: f64,
        whole: &[f64],
    ) -> Result<(), TaylorError> {
        let Some(explicit) = &self.explicit else { return Err(TaylorError::Implicit) };
        let recurrences = explicit.recurrences(model)?;
        let at = [&[t], whole].concat();
        let parameters = model.parameter_values();
        let series = TaylorExpansion::new(&recurrences, &parameters, demand, &at);
        self.series = Some(Box::new(series));
        Ok(())
    }

    /// $y^{[1]}, y^{[2]}, \dots$ of the whole state.
    pub(crate) fn coefficients(
        &mut self,
        at: &[f64],
        rows: &mut [f64],
    ) -> Result<(), EvalError> {
        match &mut self.series {
            Some(series) if self.explicit.is_some() => series.evaluate(at, rows),
            _ => Err(EvalError::NotFinite),
        }
    }

    /// Components of the state that are derivatives.
    pub(crate) fn derivatives(&self) -> usize {
        self.size() * self.tangents.len()
    }

    /// Whether all rates are one program.
    pub(crate) fn is_explicit(&self) -> bool {
        self.explicit.is_some()
    }

    /// Machine code of all rates, if there is any.
    pub(crate) fn machine_code(&mut self) -> Option<&mut NativeExecutor> {
        let explicit = self.explicit.as_mut().filter(|_| self.is_evaluated)?;
        explicit.machine_code()
    }

    /// Components of the state $y$.
    pub(crate) fn size(&self) -> usize {
        self.rates.len()
    }

    /// The start of the flow: a state and its directions one after another.
    pub(crate) fn joined(y: &[f64], directions: &[Vec<f64>]) -> Vec<f64> {
        y.iter().chain(directions.iter().flatten()).copied().collect()
    }

    /// A direction of the state of the flow.
    pub(crate) fn part<'a>(&self, whole: &'a [f64], k: usize) -> &'a [f64] {
        let d = self.size();
        &whole[(k + 1) * d..(k + 2) * d]
    }

    /// Solves the equations at a state, and evaluates their slopes there.
    pub(crate) fn solve(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        let n = self.system.n;
        let y = &y[..self.rates.len()];
        match &mut self.system.dynamics {
            Compiled::Saddle(kkt) => {
                kkt.evaluate(t, &y[..n], &y[n..2 * n], &y[2 * n..]);
                kkt.solve()?;
                self.unknowns[..n].copy_from_slice(kkt.acceleration());
                self.unknowns[n..].copy_from_slice(kkt.multipliers());
            }
            Compiled::Ordinary(ordinary) => {
                spread(&ordinary.orders, &y[n..], &mut self.velocities);
                ordinary.solve(t, &y[..n], &self.velocities)?;
                ordinary.factor_at_solution()?;
                self.unknowns.copy_from_slice(&ordinary.unknowns);
            }
            Compiled::Reduced(_) => unreachable!("nothing has reduced the system"),
        }
        match &mut self.equations {
            Differentiated::Rows(slopes) => slopes.evaluate(t, y, &self.unknowns),
            Differentiated::Along(change) => change.at(t, y, &self.unknowns),
        }
        Ok(())
    }

    /// $\delta x$ of a direction at the state last solved, into [`response`](Self::response).
    pub(crate) fn respond(
        &mut self, δt: f64, δy: &[f64], δp: &[f64]
    ) -> Result<(), EvalError> {
        self.direction[0] = δt;
        let (state, parameters) = self.direction[1..].split_at_mut(self.rates.len());
        state.copy_from_slice(δy);
        parameters.copy_from_slice(δp);
        match &mut self.equations {
            Differentiated::Rows(slopes) => {
                let rows = slopes.rows().rows();
                self.response
                    .iter_mut()
                    .zip(rows)
                    .for_each(|(x, row)| *x = row.dot(&self.direction));
            }
            Differentiated::Along(change) => change.along(&self.direction, &mut self.response),
        }
        self.response.iter_mut().for_each(|x| *x = -*x);
        if self.response.iter().any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        match &mut self.system.dynamics {
            Compiled::Saddle(kkt) => kkt.solve_again(&mut self.response),
            Compiled::Ordinary(ordinary) => ordinary.solve_again(&mut self.response),
            Compiled::Reduced(_) => unreachable!("nothing has reduced the system"),
        }
    }

    /// $\delta p$ of a direction.
    pub(crate) fn tangent(&self, k: usize) -> &[f64] {
        &self.tangents[k]
    }

    /// The rates of the state last solved.
    pub(crate) fn state_rates(&self, y: &[f64], rates: &mut [f64]) {
        Self::read(&self.rates, y, &self.unknowns, rates);
    }

    /// The rates of a direction, with the response last asked for.
    pub(crate) fn rates_along(&self, δy: &[f64], rates: &mut [f64]) {
        Self::read(&self.rates, δy, &self.response, rates);
    }

    /// The unknowns that are multipliers of constraints that repeat others.
    pub(crate) fn repeated(&self) -> Vec<usize> {
        match &self.system.dynamics {
            Compiled::Saddle(kkt) => kkt.repeated().iter().map(|a| self.system.n + a).collect(),
            Compiled::Reduced(_) | Compiled::Ordinary(_) => Vec::new(),
        }
    }

    /// Whether no constraint repeats others.
    pub(crate) fn has_unique_multipliers(&self) -> bool {
        self.system.is_whole()
    }

    fn read(places: &[Rate], y: &[f64], x: &[f64], rates: &mut [f64]) {
        for (rate, place) in rates.iter_mut().zip(places) {
            *rate = match *place {
                Rate::State(i) => y[i],
                Rate::Unknown(i) => x[i],
            };
        }
    }

    /// Moves a direction into the tangent space of the constraints, at the state at which the core was evaluated.
    fn project_direction(&mut self, k: usize, δy: &mut [f64]) -> Result<(), EvalError> {
        let (n, m) = (self.system.n, self.system.m);
        let Compiled::Saddle(kkt) = &mut self.system.dynamics else { return Ok(()) };
        let Some(slopes) = &self.constraints else { return Ok(()) };
        let rows = slopes.rows();
        self.direction[0] = 0.0;
        self.direction[1 + δy.len()..].copy_from_slice(&self.tangents[k]);
        let levels = [(kkt.holonomic.contains(&true), 0, 0), (true, m, n)];
        for (is_there, first, place) in levels {
            if !is_there {
                continue;
            }
            self.direction[1..=δy.len()].copy_from_slice(δy);
            for (a, value) in self.residual.iter_mut().enumerate() {
                *value = rows.row(first + a).dot(&self.direction);
            }
            let change = if first == 0 {
                kkt.position_change(&self.residual)?
            } else {
                kkt.velocity_change(&self.residual)?
            };
            δy[place..place + n].iter_mut().zip(change).for_each(|(x, δ)| *x += δ);
        }
        Ok(())
    }

    /// Moves all directions into the tangent space of the constraints at a state that satisfies them.
    pub(crate) fn project_directions(
        &mut self,
        t: f64,
        y: &mut [f64],
    ) -> Result<(), EvalError> {
        let (d, n) = (self.size(), self.system.n);
        let Some(slopes) = &mut self.constraints else { return Ok(()) };
        if let Compiled::Saddle(kkt) = &mut self.system.dynamics {
            kkt.evaluate(t, &y[..n], &y[n..2 * n], &y[2 * n..d]);
        }
        // NOTE: constraints contain no accelerations and no multipliers.
        slopes.evaluate(t, &y[..d], &self.unknowns);
        for k in 0..self.tangents.len() {
            self.project_direction(k, &mut y[(k + 1) * d..(k + 2) * d])?;
        }
        Ok(())
    }

    /// Gives the program of all rates up where its pivots at a state are not what they were.
    pub(crate) fn review(&mut self, t: f64, y: &[f64]) {
        if self.explicit.as_mut().is_some_and(|explicit| !explicit.is_trusted(t, y)) {
            self.explicit = None;
        }
    }
}

impl System for VariationalFlow {
    fn dimension(&self) -> usize {
        self.size() + self.derivatives() + self.quadratures
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        // NOTE: the factorisation with pivoting tells what is singular.
        if let Some(explicit) = self.explicit.as_mut().filter(|_| self.is_evaluated)
            && explicit.rates(t, y, rates)
        {
            return Ok(());
        }
        self.solve(t, y)?;
        let d = self.size();
        Self::read(&self.rates, y, &self.unknowns, &mut rates[..d]);
        if let (Compiled::Saddle(kkt), 2) = (&mut self.system.dynamics, self.quadratures) {
            let n = kkt.n;
            let powers = [kkt.power(&y[n..2 * n]), kkt.total_power()];
            rates[d + self.derivatives()..].copy_from_slice(&powers);
        }
        let last = d + self.derivatives();
        let tangents = std::mem::take(&mut self.tangents);
        let mut outcome = Ok(());
        let blocks = y[d..last].chunks_exact(d).zip(rates[d..last].chunks_exact_mut(d));
        for ((δy, rates), δp) in blocks.zip(&tangents) {
            outcome = self.respond(0.0, δy, δp);
            if outcome.is_err() {
                break;
            }
            Self::read(&self.rates, δy, &self.response, rates);
        }
        self.tangents = tangents;
        outcome
    }

    fn project(&mut self, t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        if self.constraints.is_none() {
            return Ok(());
        }
        self.system.project(t, y)?;
        self.project_directions(t, y)
    }

    fn has_invariants(&self) -> bool {
        self.constraints.is_some()
    }

    fn explicit_steps(&mut self) -> Option<&mut dyn ExplicitSteps> {
        self.machine_code().is_some().then_some(self as &mut dyn ExplicitSteps)
    }

    fn change_chart(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        self.review(t, y);
        self.system.change_chart(t, y)
    }

    fn raise_scales(&mut self, t: f64, y: &[f64], h: f64, scales: &mut [f64]) {
        let d = self.size();
        if let Compiled::Saddle(_) = &self.system.dynamics {
            self.system.raise_scales(t, y, h, &mut scales[..d]);
        }
        raise_tangents(scales, d);
    }

    fn feature_count(&self) -> usize {
        self.system.feature_count()
    }

    fn feature_phases(&mut self, t: f64, y: &[f64], phases: &mut [f64]) {
        self.system.feature_phases(t, &y[..self.size()], phases);
    }

    fn next_break(&self, t: f64, t1: f64) -> Option<f64> {
        self.system.next_break(t, t1)
    }
}

impl ExplicitSteps for VariationalFlow {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        self.machine_code().is_some_and(|rates| explicit_steps::step(rates, step))
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        self.machine_code()
            .is_some_and(|rates| explicit_steps::dense_output(rates, step, dense))
    }
}
