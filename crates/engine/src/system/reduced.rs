//! The reduced equations (R) as numbers: velocities and $\dot u$ at a state, and everything that follows.
//!
//! The state is $(q, u, w, c)$: quasi-velocities $u$ of the chart number $c$, which never changes within a
//! step, and the work $w$ as everywhere. Since $\dot q = B u + b$ is computed, the velocity
//! constraints hold to rounding at every state whatsoever. Charts are derived when a run first needs them,
//! and shared by all copies of a system.

use std::sync::{Arc, Mutex};

use pfaff_expr::Expr;
use pfaff_mechanics::{ChartPoint, Class, LagrangianData, Reduction};
use pfaff_program::{
    Backend, BatchInterpreter, CompileError, Executor, GraphEvaluator, NativeExecutor, Program,
    TaylorError, TaylorRecurrences,
};
use pfaff_solver::{EvalError, Lu};

mod together;

use crate::motion::sample::Sample;
use crate::system::kkt::Kkt;
use crate::system::taylor_system::{Demand, TaylorExpansion, reduced_recurrences};

pub(crate) use together::LaneSamples;

/// A chart is left when its pivot falls below this fraction of the largest candidate.
const LEAVE: f64 = 0.5;
/// A known chart is entered without asking for a better one when its pivots are at least this fraction of the
/// largest candidates.
const ENTER: f64 = 0.9;
/// Unknowns beyond which the saddle-point form is taken.
pub(crate) const MOST: usize = 16;
/// Operations beyond which the order of evaluation is chosen.
const LONG: usize = 500;
/// Agreement with the saddle-point form that is asked for at the start: rounding, amplified by the condition
/// of either solve.
const AGREEMENT: f64 = 1e-7;

/// The compiled reduced equations of one model.
#[derive(Clone, Debug)]
pub(crate) struct Reduced {
    /// The saddle-point form of the same model.
    pub(crate) core: Kkt,
    pub(crate) n: usize,
    /// How many quasi-velocities there are.
    pub(crate) k: usize,
    atlas: Arc<Mutex<Atlas>>,
    /// Copies of the charts met so far.
    charts: Vec<Chart>,
    /// The number of the chart last used, as it stands in the state, and as an index.
    mark: f64,
    current: usize,
    scratch: Vec<f64>,
    /// $\dot q$ at a change of charts.
    moving: Vec<f64>,
    /// Events that look at nothing but time, positions and velocities.
    pub(crate) watched: Vec<Expr>,
}

/// All charts derived so far.
#[derive(Debug)]
struct Atlas {
    statement: LagrangianData,
    classes: Vec<Class>,
    symbols: Vec<Expr>,
    values: Vec<f64>,
    charts: Vec<Chart>,
    /// By chart.
    reductions: Vec<Reduction>,
    /// Of the Taylor series, where they are wanted.
    demand: Option<Demand>,
    /// What evaluates the programs of the charts.
    backend: Backend,
}

/// One choice of pivots, compiled.
#[derive(Clone, Debug)]
struct Chart {
    pivots: Vec<Vec<usize>>,
    k: usize,
    /// $(t, q, u)$ to $\dot q$, then $\dot u$ and the power, or mass, force and power for a numeric solve.
    rates: Executor,
    solved: bool,
    /// $(t, q, u, \dot u, \dot q)$ to $\ddot q$, $R$, $E$ and, if `has_multipliers`, $\lambda$.
    follow: Executor,
    /// The same for several states at once, once somebody has asked.
    follow_program: Program,
    parameters: Vec<f64>,
    together: Option<BatchInterpreter>,
    has_multipliers: bool,
    /// $(t, q)$ to the candidates of all watched pivots, where there are any.
    watch: Option<Executor>,
    /// Where each watched pivot's candidates begin, and the pivot among them.
    watched: Vec<(usize, usize)>,
    /// By what each candidate is multiplied before they are compared.
    scale: Vec<f64>,
    /// $(t, q, \dot q)$ to $u$.
    forms: GraphEvaluator,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    followed: Vec<f64>,
    candidates: Vec<f64>,
    matrix: Vec<f64>,
    lu: Lu,
    series: Option<TaylorExpansion>,
    /// $(t, q, u)$ to the values of the events, once somebody has asked; `None` inside where that is not to be had.
    events: Option<Option<Executor>>,
}

impl Reduced {
    /// Reduces a model at a consistent start; `None` where the saddle-point form is the better one, or the
    /// two do not agree there.
    pub(crate) fn new(
        statement: LagrangianData,
        classes: &[Class],
        parameters: &[(Expr, f64)],
        mut core: Kkt,
        at: &Sample,
    ) -> Option<Self> {
        let mut atlas = Atlas {
            statement,
            classes: classes.to_vec(),
            symbols: parameters.iter().map(|p| p.0).collect(),
            values: parameters.iter().map(|p| p.1).collect(),
            charts: Vec::new(),
            reductions: Vec::new(),
            demand: None,
            backend: core.backend,
        };
        let (n, m) = (core.n, core.m);
        core.evaluate(at.t, &at.q, &at.v, &[]);
        core.solve_reviewed().ok()?;
        let dependent = core.repeated().len();
        let reduction = atlas.derive(at.t, &at.q, &scale(&core))?;
        let k = reduction.independent.len();
        if k > MOST || reduction.redundant.len() != dependent || n - k + dependent != m {
            return None;
        }
        let chart = Chart::new(&reduction, &atlas).ok()?;
        atlas.charts.push(chart.clone());
        atlas.reductions.push(reduction);
        let mut reduced = Self {
            core,
            n,
            k,
            atlas: Arc::new(Mutex::new(atlas)),
            charts: vec![chart],
            mark: 0.0,
            current: 0,
            scratch: vec![0.0; n + k + 2],
            moving: vec![0.0; n],
            watched: Vec::new(),
        };
        let y = reduced.state(at.t, &at.q, &at.v);
        let mut found = Sample::new(n, m);
        reduced.resolve(at.t, &y, &mut found).ok()?;
        let agree = |x: &[f64], y: &[f64]| {
            let scale = y.iter().fold(1.0_f64, |s, y| s.max(y.abs()));
            x.iter().zip(y).all(|(x, y)| (x - y).abs() <= AGREEMENT * scale)
        };
        (agree(&found.v, &at.v)
            && agree(&found.a, &at.a)
            && agree(&found.reaction, &at.reaction))
        .then_some(reduced)
    }

    /// How many components the state has.
    pub(crate) fn dimension(&self) -> usize {
        self.n + self.k + 2
    }

    /// The state of positions and admissible velocities, in the first chart.
    pub(crate) fn state(&mut self, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.dimension()];
        y[..self.n].copy_from_slice(q);
        self.charts[0].quasi(t, q, v, &mut y[self.n..self.n + self.k]);
        y
    }

    fn chart(&mut self, y: &[f64]) -> &mut Chart {
        self.numbered(y[self.n + self.k + 1])
    }

    fn numbered(&mut self, mark: f64) -> &mut Chart {
        // NOTE: compared and not computed with, so that a processor that looks ahead need not wait for the
        // state to find the code.
        if mark != self.mark {
            (self.mark, self.current) = (mark, mark as usize);
            if self.current >= self.charts.len() {
                let atlas =
                    self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                self.charts.extend_from_slice(&atlas.charts[self.charts.len()..]);
            }
        }
        &mut self.charts[self.current]
    }

    /// $\dot y$
    pub(crate) fn rates(
        &mut self,
        t: f64,
        y: &[f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, k) = (self.n, self.k);
        let chart = self.chart(y);
        let solved = chart.evaluate(t, &y[..n + k], rates);
        rates[n + k + 1] = 0.0;
        let finite = rates.iter().all(|x| x.is_finite());
        if solved.is_ok() && finite {
            return Ok(());
        }
        // NOTE: the saddle-point form tells a singular system from a quotient by zero.
        self.core.evaluate(t, &y[..n], &rates[..n], &[]);
        Err(self.core.solve().err().unwrap_or(EvalError::NotFinite))
    }

    /// Machine code of $\dot y$, where that is all it takes.
    pub(crate) fn machine_code(&mut self, y: &[f64]) -> Option<&mut NativeExecutor> {
        let chart = self.chart(y);
        match &mut chart.rates {
            Executor::Native(rates) if chart.solved => Some(rates),
            _ => None,
        }
    }

    /// Whether a Taylor step of the first chart written out has far more instructions: every product of two
    /// varying factors takes $p(p+1)/2$.
    pub(crate) fn is_surely_longer(&self, order: usize, most: usize) -> bool {
        /// TaylorRecurrences may share what the reduced equations write twice.
        const SHARED: usize = 2;
        let atlas = self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        atlas.reductions[0].products() * order * (order + 1) / 2 > SHARED * most
    }

    /// The recurrences of the first chart.
    pub(crate) fn recurrences(&self, order: usize) -> Result<TaylorRecurrences, TaylorError> {
        let atlas = self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        reduced_recurrences(&atlas.reductions[0], &atlas.symbols, order)
    }

    /// Makes the Taylor series of the first chart ready, and those of further charts when they are met.
    pub(crate) fn expand(
        &mut self,
        recurrences: &TaylorRecurrences,
        demand: Demand,
        t: f64,
        y: &[f64],
    ) {
        let mut atlas = self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        atlas.demand = Some(demand);
        let series = atlas.series(recurrences, demand, t, y);
        self.charts[0].series = Some(series.clone());
        atlas.charts[0].series = Some(series);
    }

    /// $y^{[1]}, y^{[2]}, \dots$ of a state.
    pub(crate) fn coefficients(
        &mut self,
        at: &[f64],
        rows: &mut [f64],
    ) -> Result<(), EvalError> {
        match &mut self.chart(&at[1..]).series {
            Some(series) => series.evaluate(at, rows),
            None => Err(EvalError::NotFinite),
        }
    }

    /// $\dot q$ of a state.
    pub(crate) fn velocities(&mut self, t: f64, y: &[f64], v: &mut [f64]) {
        let (n, k) = (self.n, self.k);
        let chart = self.chart(y);
        chart.kinematics(t, &y[..n + k]);
        v.copy_from_slice(&chart.outputs[..n]);
    }

    /// The values of the events at a state; says whether they are to be had without velocities.
    pub(crate) fn event_values(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> bool {
        let (n, k) = (self.n, self.k);
        if self.chart(y).events.is_none() {
            let atlas = self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let events = atlas.events(self.current, &self.watched);
            self.charts[self.current].events = Some(events);
        }
        let Chart { events: Some(Some(events)), inputs, .. } = &mut self.charts[self.current]
        else {
            return false;
        };
        let inputs = &mut inputs[..=n + k];
        inputs[0] = t;
        inputs[1..].copy_from_slice(&y[..n + k]);
        events.evaluate(inputs, values);
        true
    }

    /// $\ddot q$ where the state moves with the given rates.
    pub(crate) fn acceleration(&mut self, t: f64, y: &[f64], rates: &[f64], a: &mut [f64]) {
        let (n, k) = (self.n, self.k);
        let chart = self.chart(y);
        chart.kinematics(t, &y[..n + k]);
        chart.follow(t, &y[..n + k], &rates[n..n + k], None);
        a.copy_from_slice(&chart.followed[..n]);
    }

    /// Everything that follows from a state.
    pub(crate) fn resolve(
        &mut self,
        t: f64,
        y: &[f64],
        sample: &mut Sample,
    ) -> Result<(), EvalError> {
        let (n, k) = (self.n, self.k);
        let mut rates = std::mem::take(&mut self.scratch);
        let known = self.rates(t, y, &mut rates);
        sample.t = t;
        sample.q.copy_from_slice(&y[..n]);
        sample.v.copy_from_slice(&rates[..n]);
        let chart = self.chart(y);
        chart.follow(t, &y[..n + k], &rates[n..n + k], Some(&rates[..n]));
        let (a, rest) = chart.followed.split_at(n);
        let (reaction, rest) = rest.split_at(n);
        sample.a.copy_from_slice(a);
        sample.reaction.copy_from_slice(reaction);
        sample.energy = rest[0];
        let has_multipliers = chart.has_multipliers;
        if has_multipliers {
            sample.multipliers.copy_from_slice(&rest[1..]);
        }
        self.scratch = rates;
        known?;
        if !has_multipliers {
            self.core.evaluate(t, &sample.q, &sample.v, &[]);
            self.core.solve()?;
            sample.multipliers.copy_from_slice(self.core.multipliers());
            self.core.reaction(&mut sample.reaction);
        }
        Ok(())
    }

    /// The known chart whose pivots are largest at a point, if they are all close to the largest candidates.
    fn known(&mut self, t: f64, q: &[f64]) -> Option<usize> {
        {
            let atlas = self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.charts.extend_from_slice(&atlas.charts[self.charts.len()..]);
        }
        let qualities = self.charts.iter_mut().map(|c| c.quality(t, q)).enumerate();
        let (best, quality) = qualities.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (quality >= ENTER).then_some(best)
    }

    /// Changes to a better chart where the present one comes near its end; says whether the state was rewritten.
    pub(crate) fn change_chart(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        let n = self.n;
        let chart = self.chart(y);
        if chart.watched.is_empty() || chart.quality(t, &y[..n]) >= LEAVE {
            return Ok(false);
        }
        let mut v = std::mem::take(&mut self.moving);
        self.velocities(t, y, &mut v);
        let changed = self.change(t, y, &v);
        self.moving = v;
        changed
    }

    /// Writes the state in the best chart, given its velocities; says whether it is another one.
    fn change(&mut self, t: f64, y: &mut [f64], v: &[f64]) -> Result<bool, EvalError> {
        let (n, k) = (self.n, self.k);
        let index = if let Some(known) = self.known(t, &y[..n]) {
            known
        } else {
            self.core.evaluate(t, &y[..n], v, &[]);
            let scale = scale(&self.core);
            let mut atlas =
                self.atlas.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            atlas.find(t, &y[..n], &scale).ok_or(EvalError::Singular)?
        };
        let mark = index as f64;
        if mark == y[n + k + 1] {
            return Ok(false);
        }
        y[n + k + 1] = mark;
        let (q, rest) = y.split_at_mut(n);
        self.numbered(mark).quasi(t, q, v, &mut rest[..k]);
        Ok(true)
    }
}

/// $1/\sqrt{M_{jj}}$ at the state last evaluated; 1 where a coordinate has no mass.
pub(crate) fn scale(core: &Kkt) -> Vec<f64> {
    let diagonal = (0..core.n).map(|j| core.mass()[j * core.n + j]);
    diagonal.map(|m| if m > 0.0 { 1.0 / m.sqrt() } else { 1.0 }).collect()
}

/// The order of evaluation: that of the Lagrangian for long programs, that of writing for short ones, which
/// fit the registers anyway.
pub(crate) fn order(reduction: &Reduction) -> &[Expr] {
    if reduction.operations() > LONG { &reduction.order } else { &[] }
}

impl Atlas {
    fn derive(&self, t: f64, q: &[f64], scale: &[f64]) -> Option<Reduction> {
        self.statement.reduce(&self.classes, ChartPoint { t, q, scale })
    }

    /// Taylor series in a chart; the mass, which decides on pivots, depends on the position alone, with which
    /// the given state begins.
    fn series(
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
    fn events(&self, chart: usize, watched: &[Expr]) -> Option<Executor> {
        let reduction = &self.reductions[chart];
        let g = &reduction.graph;
        let state: Vec<Expr> = [reduction.time]
            .into_iter()
            .chain(reduction.positions.iter().chain(&reduction.independent).copied())
            .collect();
        let velocities = reduction.velocity_symbols.iter().zip(&reduction.velocities);
        let replacement: Vec<_> = velocities.map(|(&symbol, &value)| (symbol, value)).collect();
        let outputs = g.merging(|| g.substitute(watched, &replacement));
        let program = Program::compile(g, &state, &self.symbols, &outputs).ok()?;
        Some(program.fused().tiered(&self.values, self.backend))
    }

    /// The chart that is best at a point, derived if it is a new one.
    fn find(&mut self, t: f64, q: &[f64], scale: &[f64]) -> Option<usize> {
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
    fn new(reduction: &Reduction, atlas: &Atlas) -> Result<Self, CompileError> {
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
        let solved = reduction.rates.is_some();
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
            solved,
            follow: follow_program.tiered(&atlas.values, atlas.backend),
            follow_program,
            parameters: atlas.values.clone(),
            together: None,
            has_multipliers: results.multipliers.is_some(),
            watch,
            watched,
            scale,
            forms: GraphEvaluator::new(
                g,
                &[place.as_slice(), &reduction.velocity_symbols].concat(),
                &parameters,
                &reduction.forms,
            )?,
            rates: rates.executor(&atlas.values, atlas.backend),
            inputs: vec![0.0; 1 + 2 * n + 2 * k],
            outputs: vec![0.0; outputs.len()],
            followed: vec![0.0; followed.len()],
            candidates: vec![0.0; candidates.len()],
            matrix: Vec::with_capacity(k * k),
            lu: Lu::default(),
            series: None,
            events: None,
        })
    }

    fn kinematics(&mut self, t: f64, state: &[f64]) {
        let inputs = &mut self.inputs[..=state.len()];
        inputs[0] = t;
        inputs[1..].copy_from_slice(state);
        self.rates.evaluate(inputs, &mut self.outputs);
    }

    /// $(\dot q, \dot u, \dot w)$
    fn evaluate(&mut self, t: f64, state: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        if self.solved {
            let inputs = &mut self.inputs[..=state.len()];
            inputs[0] = t;
            inputs[1..].copy_from_slice(state);
            self.rates.evaluate(inputs, rates);
            return Ok(());
        }
        self.kinematics(t, state);
        let k = self.k;
        let (v, rest) = self.outputs.split_at(state.len() - k);
        let (mass, rest) = rest.split_at(k * (k + 1) / 2);
        let (force, power) = rest.split_at(k);
        let (q_rates, tail) = rates.split_at_mut(v.len());
        q_rates.copy_from_slice(v);
        self.matrix.resize(k * k, 0.0);
        for a in 0..k {
            for b in 0..=a {
                let entry = mass[a * (a + 1) / 2 + b];
                self.matrix[a * k + b] = entry;
                self.matrix[b * k + a] = entry;
            }
        }
        let (u_rates, work) = tail.split_at_mut(k);
        u_rates.copy_from_slice(force);
        if self.matrix[..k * k].iter().any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        self.lu.factor(k, &self.matrix[..k * k]).map_err(|_| EvalError::Singular)?;
        self.lu.solve(u_rates);
        let driven: f64 = power[1..].iter().zip(&*u_rates).map(|(p, u)| p * u).sum();
        work[0] = power[0] + driven;
        Ok(())
    }

    /// Velocities that are not given are those of the last [`Chart::kinematics`] of the same state.
    fn follow(&mut self, t: f64, state: &[f64], u_rates: &[f64], v: Option<&[f64]>) {
        let (known, n) = (1 + state.len(), state.len() - self.k);
        let inputs = &mut self.inputs[..known + self.k + n];
        inputs[0] = t;
        inputs[1..known].copy_from_slice(state);
        inputs[known..known + self.k].copy_from_slice(u_rates);
        inputs[known + self.k..].copy_from_slice(v.unwrap_or(&self.outputs[..n]));
        self.follow.evaluate(inputs, &mut self.followed);
    }

    /// $u$ of admissible velocities.
    fn quasi(&mut self, t: f64, q: &[f64], v: &[f64], u: &mut [f64]) {
        let inputs = &mut self.inputs[..=q.len() + v.len()];
        inputs[0] = t;
        inputs[1..=q.len()].copy_from_slice(q);
        inputs[1 + q.len()..].copy_from_slice(v);
        self.forms.evaluate(inputs, u);
    }

    /// The smallest pivot as a fraction of the largest that could stand in its place.
    fn quality(&mut self, t: f64, q: &[f64]) -> f64 {
        let inputs = &mut self.inputs[..=q.len()];
        inputs[0] = t;
        inputs[1..].copy_from_slice(q);
        if let Some(watch) = &mut self.watch {
            watch.evaluate(inputs, &mut self.candidates);
        }
        self.candidates.iter_mut().zip(&self.scale).for_each(|(c, s)| *c *= s);
        let ends = self.watched.iter().skip(1).map(|w| w.0).chain([self.candidates.len()]);
        let fractions = self.watched.iter().zip(ends).map(|(&(start, pivot), end)| {
            let candidates = &self.candidates[start..end];
            let largest = candidates.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            candidates[pivot].abs() / largest
        });
        // NOTE: what is not a number counts as the worst.
        fractions.fold(1.0, |m, x| if x.is_nan() { 0.0 } else { m.min(x) })
    }
}
