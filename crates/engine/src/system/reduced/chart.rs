//! Charts: choices of pivots, each with its compiled equations, and the atlas of those that a run has met.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pfaff_expr::Expr;
use pfaff_mechanics::{ChartPoint, Class, LagrangianData, Reduction};
use pfaff_program::{
    Backend, BatchInterpreter, CompileError, Executor, GraphEvaluator, Program,
    TaylorRecurrences,
};
use pfaff_solver::{EvalError, Lu};

use crate::system::event_phases::event_phases;
use crate::system::jacobian::{DescriptorForm, DescriptorJacobian};
use crate::system::reduced::order;
use crate::system::taylor_system::{Demand, TaylorExpansion, reduced_recurrences};

/// All charts derived so far.
#[derive(Debug)]
pub(super) struct Atlas {
    pub(super) statement: LagrangianData,
    pub(super) classes: Vec<Class>,
    pub(super) symbols: Vec<Expr>,
    pub(super) values: Vec<f64>,
    pub(super) charts: Vec<Chart>,
    /// By chart.
    pub(super) reductions: Vec<Reduction>,
    /// Of the Taylor series, where they are wanted.
    pub(super) demand: Option<Demand>,
    /// What evaluates the programs of the charts.
    pub(super) backend: Backend,
}

/// The atlas of a system and its copies. One with other parameters is made when it is first asked for.
#[derive(Clone, Debug)]
pub(super) struct SharedAtlas {
    first: Arc<Mutex<Atlas>>,
    own: Option<Arc<OwnAtlas>>,
}

#[derive(Debug)]
struct OwnAtlas {
    values: Vec<f64>,
    atlas: OnceLock<Mutex<Atlas>>,
}

impl SharedAtlas {
    pub(super) fn new(atlas: Atlas) -> Self {
        Self { first: Arc::new(Mutex::new(atlas)), own: None }
    }

    /// Other parameters. Charts beyond the first are found anew, so that a run does not depend on those before it.
    pub(super) fn set_parameters(&mut self, values: &[f64]) {
        let own = OwnAtlas { values: values.to_vec(), atlas: OnceLock::new() };
        self.own = Some(Arc::new(own));
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Atlas> {
        let first = || self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = &self.own else { return first() };
        let atlas = own.atlas.get_or_init(|| Mutex::new(first().begun_again(&own.values)));
        atlas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One choice of pivots, compiled.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub(super) pivots: Vec<Vec<usize>>,
    pub(super) k: usize,
    pub(super) rates: RateProgram,
    pub(super) follow: FollowProgram,
    pub(super) watch: PivotWatch,
    /// $(t, q, \dot q)$ to $u$.
    forms: GraphEvaluator,
    /// Room for the inputs of every program.
    pub(super) inputs: Vec<f64>,
    pub(super) series: Option<TaylorExpansion>,
    /// $(t, q, u)$ to the values of the events, once somebody has asked; `None` inside where that is not to be had.
    pub(super) events: Option<Option<Executor>>,
    /// The slopes of the equations, once somebody has asked; `None` inside where they cannot be compiled.
    pub(super) descriptor: Option<Option<DescriptorJacobian>>,
}

/// $(t, q, u)$ to $\dot q$, then $\dot u$ and the power, or mass, force and power for a numeric solve.
#[derive(Clone, Debug)]
pub(super) struct RateProgram {
    pub(super) program: Executor,
    /// Whether it gives $\dot u$.
    pub(super) solved: bool,
    pub(super) outputs: Vec<f64>,
    /// The mass of the numeric solve.
    matrix: Vec<f64>,
    lu: Lu,
}

/// $(t, q, u, \dot u, \dot q)$ to $\ddot q$, $R$, $E$ and, if `has_multipliers`, $\lambda$.
#[derive(Clone, Debug)]
pub(super) struct FollowProgram {
    program: Executor,
    pub(super) has_multipliers: bool,
    pub(super) outputs: Vec<f64>,
    /// What the batch is made of.
    pub(super) tape: Program,
    pub(super) parameters: Vec<f64>,
    /// The same for several states at once, once somebody has asked.
    pub(super) batch: Option<BatchInterpreter>,
}

/// What tells when a chart is to be left.
#[derive(Clone, Debug)]
pub(super) struct PivotWatch {
    /// $(t, q)$ to the candidates of all watched pivots, where there are any.
    program: Option<Executor>,
    /// Where each watched pivot's candidates begin, and the pivot among them.
    pub(super) pivots: Vec<(usize, usize)>,
    /// By what each candidate is multiplied before they are compared.
    scale: Vec<f64>,
    candidates: Vec<f64>,
}

impl Atlas {
    /// The first chart alone, with other parameters.
    fn begun_again(&self, values: &[f64]) -> Self {
        let mut first = self.charts[0].clone();
        first.set_parameters(values);
        let parameters = self.symbols.iter().copied().zip(values.iter().copied()).collect();
        Self {
            statement: self.statement.clone().with_parameters(parameters),
            classes: self.classes.clone(),
            symbols: self.symbols.clone(),
            values: values.to_vec(),
            charts: vec![first],
            reductions: vec![self.reductions[0].clone()],
            ..*self
        }
    }

    pub(super) fn derive(&self, t: f64, q: &[f64], scale: &[f64]) -> Option<Reduction> {
        self.statement.reduce(&self.classes, ChartPoint { t, q, scale })
    }

    /// Taylor series in a chart; the mass, which decides on pivots, depends on the position alone, with which
    /// the given state begins.
    pub(super) fn series(
        &self,
        recurrences: &TaylorRecurrences,
        demand: Demand,
        t: f64,
        y: &[f64],
    ) -> TaylorExpansion {
        let mut at = vec![0.0; 1 + recurrences.dimension()];
        at[0] = t;
        at[1..=y.len()].copy_from_slice(y);
        TaylorExpansion::new(recurrences, &self.values, demand, &at)
    }

    /// Events in a chart.
    pub(super) fn events(&self, chart: usize, watched: &[Expr]) -> Option<Executor> {
        let reduction = &self.reductions[chart];
        let g = &reduction.graph;
        let state: Vec<Expr> = [reduction.time]
            .into_iter()
            .chain(reduction.positions.iter().chain(&reduction.independent).copied())
            .collect();
        let velocities = reduction.velocity_symbols.iter().zip(&reduction.velocities);
        let replacement: Vec<_> = velocities.map(|(&symbol, &value)| (symbol, value)).collect();
        let phases = event_phases(g, watched);
        let mut outputs = watched.to_vec();
        outputs.extend(phases.iter().map(|&(_, phase)| phase));
        let outputs = g.merging(|| g.substitute(&outputs, &replacement));
        let program = Program::compile(g, &state, &self.symbols, &outputs).ok()?;
        Some(program.fused().tiered(&self.values, self.backend))
    }

    /// The slopes of the equations in a chart.
    pub(super) fn descriptor(&self, chart: usize) -> Option<DescriptorJacobian> {
        let reduction = &self.reductions[chart];
        let form = DescriptorForm::reduced(reduction);
        let parameters = (self.symbols.as_slice(), self.values.as_slice());
        DescriptorJacobian::new(&reduction.graph, &form, parameters, self.backend).ok()
    }

    /// The chart that is best at a point, derived if it is a new one.
    pub(super) fn find(&mut self, t: f64, q: &[f64], scale: &[f64]) -> Option<usize> {
        let reduction = self.derive(t, q, scale)?;
        if let Some(known) = self.charts.iter().position(|c| c.pivots == reduction.pivots) {
            return Some(known);
        }
        let mut chart = Chart::new(&reduction, self).ok()?;
        if chart.k != self.charts[0].k {
            return None;
        }
        if let Some(demand) = self.demand {
            let recurrences =
                reduced_recurrences(&reduction, &self.symbols, demand.order).ok()?;
            chart.series = Some(self.series(&recurrences, demand, t, q));
        }
        self.reductions.push(reduction);
        self.charts.push(chart);
        Some(self.charts.len() - 1)
    }
}

impl Chart {
    pub(super) fn new(reduction: &Reduction, atlas: &Atlas) -> Result<Self, CompileError> {
        let g = &reduction.graph;
        let (n, k) = (reduction.velocities.len(), reduction.independent.len());
        let compile = |inputs: &[Expr], outputs: &[Expr]| -> Result<Executor, CompileError> {
            let program = Program::compile(g, inputs, &atlas.symbols, outputs)?;
            Ok(program.tiered(&atlas.values, atlas.backend))
        };
        let parameters: Vec<(Expr, f64)> =
            atlas.symbols.iter().copied().zip(atlas.values.iter().copied()).collect();
        let place: Vec<Expr> =
            [reduction.time].into_iter().chain(reduction.positions.iter().copied()).collect();
        let state = [place.as_slice(), &reduction.independent].concat();
        let mut outputs = reduction.velocities.clone();
        if let Some(rates) = &reduction.rates {
            outputs.extend(rates);
            let driven = g.merging(|| g.dot(&reduction.power[1..], rates));
            outputs.push(g.add(reduction.power[0], driven));
            // The number of the chart stays.
            outputs.push(g.zero());
        } else {
            outputs.extend(reduction.mass.iter().chain(&reduction.force));
            outputs.extend(&reduction.power);
        }
        let rates =
            Program::compile_ordered(g, &state, &atlas.symbols, &outputs, order(reduction))?
                .fused();
        let results = reduction.multipliers();
        let mut followed = results.accelerations;
        followed.extend(&results.reaction);
        followed.push(results.energy);
        followed.extend(results.multipliers.iter().flatten());
        let moving =
            [state.as_slice(), &reduction.independent_rates, &reduction.velocity_symbols]
                .concat();
        let follow_program = Program::compile(g, &moving, &atlas.symbols, &followed)?;
        let mut watched = Vec::new();
        let mut candidates: Vec<Expr> = Vec::new();
        let mut scale: Vec<f64> = Vec::new();
        for chart in &reduction.charts {
            watched.push((candidates.len(), chart.pivot));
            candidates.extend(&chart.candidates);
            scale.extend(&chart.scale);
        }
        let mut watch = None;
        if !watched.is_empty() {
            watch = Some(compile(&place, &candidates)?);
            watch.iter_mut().for_each(Executor::promote);
        }
        Ok(Self {
            pivots: reduction.pivots.clone(),
            k,
            rates: RateProgram {
                program: rates.executor(&atlas.values, atlas.backend),
                solved: reduction.rates.is_some(),
                outputs: vec![0.0; outputs.len()],
                matrix: Vec::with_capacity(k * k),
                lu: Lu::default(),
            },
            follow: FollowProgram {
                program: follow_program.tiered(&atlas.values, atlas.backend),
                has_multipliers: results.multipliers.is_some(),
                outputs: vec![0.0; followed.len()],
                tape: follow_program,
                parameters: atlas.values.clone(),
                batch: None,
            },
            watch: PivotWatch {
                program: watch,
                pivots: watched,
                scale,
                candidates: vec![0.0; candidates.len()],
            },
            forms: GraphEvaluator::new(
                g,
                &[place.as_slice(), &reduction.velocity_symbols].concat(),
                &parameters,
                &reduction.forms,
            )?,
            inputs: vec![0.0; 1 + 2 * n + 2 * k],
            series: None,
            events: None,
            descriptor: None,
        })
    }

    /// Other parameters.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        self.rates.program.set_parameters(parameters);
        self.follow.program.set_parameters(parameters);
        self.follow.parameters.copy_from_slice(parameters);
        self.follow.batch = None;
        self.watch.program.iter_mut().for_each(|watch| watch.set_parameters(parameters));
        self.forms.set_parameters(parameters);
        let events = self.events.iter_mut().flatten();
        events.for_each(|events| events.set_parameters(parameters));
        let descriptors = self.descriptor.iter_mut().flatten();
        descriptors.for_each(|descriptor| descriptor.set_parameters(parameters));
    }

    /// Other forces in the rates.
    pub(super) fn set_forces(&mut self, parameters: &[f64]) {
        self.rates.program.set_parameters(parameters);
    }

    /// Compiles what is evaluated at every step of many runs.
    pub(super) fn promote(&mut self) {
        self.follow.program.promote();
        self.events.iter_mut().flatten().for_each(Executor::promote);
    }

    pub(super) fn kinematics(&mut self, t: f64, state: &[f64]) {
        let inputs = &mut self.inputs[..=state.len()];
        inputs[0] = t;
        inputs[1..].copy_from_slice(state);
        self.rates.program.evaluate(inputs, &mut self.rates.outputs);
    }

    /// $(\dot q, \dot u, \dot w)$
    pub(super) fn evaluate(
        &mut self,
        t: f64,
        state: &[f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        if self.rates.solved {
            let inputs = &mut self.inputs[..=state.len()];
            inputs[0] = t;
            inputs[1..].copy_from_slice(state);
            self.rates.program.evaluate(inputs, rates);
            return Ok(());
        }
        self.kinematics(t, state);
        let k = self.k;
        let RateProgram { outputs, matrix, lu, .. } = &mut self.rates;
        let (v, rest) = outputs.split_at(state.len() - k);
        let (mass, rest) = rest.split_at(k * (k + 1) / 2);
        let (force, power) = rest.split_at(k);
        let (q_rates, tail) = rates.split_at_mut(v.len());
        q_rates.copy_from_slice(v);
        matrix.resize(k * k, 0.0);
        for a in 0..k {
            for b in 0..=a {
                let entry = mass[a * (a + 1) / 2 + b];
                matrix[a * k + b] = entry;
                matrix[b * k + a] = entry;
            }
        }
        let (u_rates, work) = tail.split_at_mut(k);
        u_rates.copy_from_slice(force);
        if matrix[..k * k].iter().any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        lu.factor(k, &matrix[..k * k]).map_err(|_| EvalError::Singular)?;
        lu.solve(u_rates);
        let driven: f64 = power[1..].iter().zip(&*u_rates).map(|(p, u)| p * u).sum();
        work[0] = power[0] + driven;
        Ok(())
    }

    /// Velocities that are not given are those of the last [`Chart::kinematics`] of the same state.
    pub(super) fn follow(&mut self, t: f64, state: &[f64], u_rates: &[f64], v: Option<&[f64]>) {
        let (known, n) = (1 + state.len(), state.len() - self.k);
        let inputs = &mut self.inputs[..known + self.k + n];
        inputs[0] = t;
        inputs[1..known].copy_from_slice(state);
        inputs[known..known + self.k].copy_from_slice(u_rates);
        inputs[known + self.k..].copy_from_slice(v.unwrap_or(&self.rates.outputs[..n]));
        self.follow.program.evaluate(inputs, &mut self.follow.outputs);
    }

    /// $u$ of admissible velocities.
    pub(super) fn quasi(&mut self, t: f64, q: &[f64], v: &[f64], u: &mut [f64]) {
        let inputs = &mut self.inputs[..=q.len() + v.len()];
        inputs[0] = t;
        inputs[1..=q.len()].copy_from_slice(q);
        inputs[1 + q.len()..].copy_from_slice(v);
        self.forms.evaluate(inputs, u);
    }

    /// The smallest pivot as a fraction of the largest that could stand in its place.
    pub(super) fn quality(&mut self, t: f64, q: &[f64]) -> f64 {
        let inputs = &mut self.inputs[..=q.len()];
        inputs[0] = t;
        inputs[1..].copy_from_slice(q);
        let PivotWatch { program, pivots, scale, candidates } = &mut self.watch;
        if let Some(program) = program {
            program.evaluate(inputs, candidates);
        }
        candidates.iter_mut().zip(&*scale).for_each(|(c, s)| *c *= s);
        let ends = pivots.iter().skip(1).map(|w| w.0).chain([candidates.len()]);
        let fractions = pivots.iter().zip(ends).map(|(&(start, pivot), end)| {
            let candidates = &candidates[start..end];
            let largest = candidates.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            candidates[pivot].abs() / largest
        });
        // NOTE: what is not a number counts as the worst.
        fractions.fold(1.0, |m, x| if x.is_nan() { 0.0 } else { m.min(x) })
    }
}
