//! The reduced equations (R) as numbers: velocities and $\dot u$ at a state, and everything that follows.
//!
//! The state is $(q, u, w, c)$: quasi-velocities $u$ of the chart number $c$, which never changes within a
//! step, and the work $w$ as everywhere; derivatives stand before $w$ where they are wanted (`tangents.rs`). Since
//! $\dot q = B u + b$ is computed, the velocity constraints hold to rounding at every state whatsoever. Charts are
//! derived when a run first needs them, and shared by all copies of a system.

use pfaff_expr::Expr;
use pfaff_mechanics::{Class, LagrangianData, Reduction};
use pfaff_model::Workspace;
use pfaff_program::{Executor, NativeExecutor, TaylorError, TaylorRecurrences};
use pfaff_solver::EvalError;

mod chart;
mod tangents;
mod together;

use crate::motion::sample::Sample;
use crate::system::jacobian::DescriptorJacobian;
use crate::system::kkt::Kkt;
use crate::system::taylor_system::{Demand, reduced_recurrences};

use chart::{Atlas, Chart, SharedAtlas};
use tangents::Tangents;
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
    pub(crate) kkt: Kkt,
    pub(crate) n: usize,
    /// How many quasi-velocities there are.
    pub(crate) k: usize,
    atlas: SharedAtlas,
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
    /// Derivatives that are integrated with the motion.
    tangents: Option<Box<Tangents>>,
}

impl Reduced {
    /// Reduces a model at a consistent start; `None` where the saddle-point form is the better one, or the
    /// two do not agree there.
    pub(crate) fn new(
        statement: LagrangianData,
        classes: &[Class],
        parameters: &[(Expr, f64)],
        mut kkt: Kkt,
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
            backend: kkt.backend,
        };
        let (n, m) = (kkt.n, kkt.m);
        kkt.evaluate(at.t, &at.q, &at.v, &[]);
        kkt.solve_reviewed().ok()?;
        let dependent = kkt.repeated().len();
        if n + dependent > m + MOST {
            return None;
        }
        let reduction = atlas.derive(at.t, &at.q, &scale(&mut kkt))?;
        let k = reduction.independent.len();
        if reduction.redundant.len() != dependent || n - k + dependent != m {
            return None;
        }
        let chart = Chart::new(&reduction, &atlas).ok()?;
        atlas.charts.push(chart.clone());
        atlas.reductions.push(reduction);
        let mut reduced = Self {
            kkt,
            n,
            k,
            atlas: SharedAtlas::new(atlas),
            charts: vec![chart],
            mark: 0.0,
            current: 0,
            scratch: vec![0.0; n + k + 2],
            moving: vec![0.0; n],
            watched: Vec::new(),
            tangents: None,
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

    /// Other parameters, as if nothing had been evaluated.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.kkt.set_parameters(parameters);
        self.atlas.set_parameters(parameters);
        self.charts.truncate(1);
        self.charts[0].set_parameters(parameters);
        (self.mark, self.current) = (0.0, 0);
    }

    /// Other forces in the rates of all charts.
    pub(crate) fn set_forces(&mut self, parameters: &[f64]) {
        self.charts.iter_mut().for_each(|chart| chart.set_forces(parameters));
    }

    /// Measures series anew at another start.
    pub(crate) fn begin_again(&mut self, parameters: &[f64], start: &[f64]) {
        if let Some(series) = &mut self.charts[0].series {
            series.begin_again(parameters, start);
        }
    }

    /// Compiles what is evaluated at every step of many runs.
    pub(crate) fn promote(&mut self, model: &Workspace) {
        // What can be sketched can be compiled.
        let _ = self.kkt.promote(model);
        if !self.watched.is_empty() && self.charts[0].events.is_none() {
            self.charts[0].events = Some(self.atlas.lock().events(0, &self.watched));
        }
        self.charts[0].promote();
        let mut atlas = self.atlas.lock();
        atlas.charts[0] = self.charts[0].clone();
    }

    /// The equations of the first chart, if they are solved for the rates.
    pub(crate) fn written_out(&self) -> Option<Reduction> {
        let atlas = self.atlas.lock();
        atlas.reductions.first().filter(|first| first.rates.is_some()).cloned()
    }

    /// Whether the first chart is as good as any at a point.
    pub(crate) fn fits(&mut self, t: f64, q: &[f64]) -> bool {
        let chart = &mut self.charts[0];
        chart.watch.pivots.is_empty() || chart.quality(t, q) >= ENTER
    }

    /// How many components the state has.
    pub(crate) fn dimension(&self) -> usize {
        self.n + self.k + self.carried() + 2
    }

    /// Components that take part in error control.
    pub(crate) fn controlled(&self) -> usize {
        self.n + self.k + self.carried()
    }

    /// Where the work stands in the state; the number of the chart follows.
    pub(crate) fn place_of_work(&self) -> usize {
        self.controlled()
    }

    /// The state of positions and admissible velocities, in the first chart.
    pub(crate) fn state(&mut self, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.dimension()];
        y[..self.n].copy_from_slice(q);
        self.charts[0].quasi(t, q, v, &mut y[self.n..self.n + self.k]);
        y
    }

    /// Writes positions and admissible velocities into a state, in its own chart.
    pub(crate) fn set(&mut self, t: f64, y: &mut [f64], q: &[f64], v: &[f64]) {
        let (n, k) = (self.n, self.k);
        y[..n].copy_from_slice(q);
        self.numbered(y[y.len() - 1]).quasi(t, q, v, &mut y[n..n + k]);
    }

    fn chart(&mut self, y: &[f64]) -> &mut Chart {
        self.numbered(y[self.place_of_work() + 1])
    }

    fn numbered(&mut self, mark: f64) -> &mut Chart {
        // NOTE: compared and not computed with, so that a processor that looks ahead need not wait for the
        // state to find the code.
        if mark != self.mark {
            (self.mark, self.current) = (mark, mark as usize);
            if self.current >= self.charts.len() {
                let atlas = self.atlas.lock();
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
        if !self.tangent_rates(t, y, rates)? {
            return self.plain_rates(t, y, rates);
        }
        if rates.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(self.reason(t, y, rates)) }
    }

    /// $(\dot q, \dot u, \dot w)$, whatever else the state carries.
    fn plain_rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let (n, k) = (self.n, self.k);
        let rates = &mut rates[..n + k + 2];
        let solved = self.chart(y).evaluate(t, &y[..n + k], rates);
        rates[n + k + 1] = 0.0;
        let finite = rates.iter().all(|x| x.is_finite());
        if solved.is_ok() && finite { Ok(()) } else { Err(self.reason(t, y, rates)) }
    }

    /// Why rates have no value: the saddle-point form tells a singular system from a quotient by zero.
    fn reason(&mut self, t: f64, y: &[f64], rates: &[f64]) -> EvalError {
        self.kkt.evaluate(t, &y[..self.n], &rates[..self.n], &[]);
        self.kkt.solve().err().unwrap_or(EvalError::NotFinite)
    }

    /// Machine code of $\dot y$, where that is all it takes.
    pub(crate) fn machine_code(&mut self, t: f64, y: &[f64]) -> Option<&mut NativeExecutor> {
        if self.has_tangents() {
            let program = self.tangent_program(t, y).ok()??;
            return match &mut program.rates {
                Executor::Native(rates) => Some(rates),
                Executor::Interpreted(_) | Executor::Tiered(_) => None,
            };
        }
        let chart = self.chart(y);
        match &mut chart.rates.program {
            Executor::Native(rates) if chart.rates.solved => Some(rates),
            _ => None,
        }
    }

    /// Whether a Taylor step of the first chart written out has far more instructions: every product of two
    /// varying factors takes $p(p+1)/2$.
    pub(crate) fn is_surely_longer(&self, order: usize, most: usize) -> bool {
        /// Recurrences may share what the reduced equations write twice.
        const SHARED: usize = 2;
        let atlas = self.atlas.lock();
        atlas.reductions[0].products() * order * (order + 1) / 2 > SHARED * most
    }

    /// The recurrences of the first chart.
    pub(crate) fn recurrences(&self, order: usize) -> Result<TaylorRecurrences, TaylorError> {
        let atlas = self.atlas.lock();
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
        let mut atlas = self.atlas.lock();
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
        let (t, y) = (at[0], &at[1..]);
        let series = if self.has_tangents() {
            self.tangent_program(t, y)?.and_then(|program| program.series.as_mut())
        } else {
            self.chart(y).series.as_mut()
        };
        match series {
            Some(series) => series.evaluate(at, rows),
            None => Err(EvalError::NotFinite),
        }
    }

    /// $\dot q$ of a state.
    pub(crate) fn velocities(&mut self, t: f64, y: &[f64], v: &mut [f64]) {
        let (n, k) = (self.n, self.k);
        let chart = self.chart(y);
        chart.kinematics(t, &y[..n + k]);
        v.copy_from_slice(&chart.rates.outputs[..n]);
    }

    /// The values of the events at a state; says whether they are to be had without velocities.
    pub(crate) fn event_values(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> bool {
        let (n, k) = (self.n, self.k);
        if self.chart(y).events.is_none() {
            let atlas = self.atlas.lock();
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

    /// The slopes of the equations at a state, evaluated.
    pub(crate) fn descriptor(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<&mut DescriptorJacobian, EvalError> {
        let (n, k) = (self.n, self.k);
        let mut rates = std::mem::take(&mut self.scratch);
        let known = self.rates(t, y, &mut rates);
        self.scratch = rates;
        known?;
        if self.charts[self.current].descriptor.is_none() {
            let atlas = self.atlas.lock();
            self.charts[self.current].descriptor = Some(atlas.descriptor(self.current));
        }
        let Some(Some(descriptor)) = &mut self.charts[self.current].descriptor else {
            return Err(EvalError::NotFinite);
        };
        descriptor.evaluate(t, y, &self.scratch[n..n + k])?;
        Ok(descriptor)
    }

    /// $\ddot q$ where the state moves with the given rates.
    pub(crate) fn acceleration(&mut self, t: f64, y: &[f64], rates: &[f64], a: &mut [f64]) {
        let (n, k) = (self.n, self.k);
        let chart = self.chart(y);
        chart.kinematics(t, &y[..n + k]);
        chart.follow(t, &y[..n + k], &rates[n..n + k], None);
        a.copy_from_slice(&chart.follow.outputs[..n]);
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
        let known = self.plain_rates(t, y, &mut rates);
        sample.t = t;
        sample.q.copy_from_slice(&y[..n]);
        sample.v.copy_from_slice(&rates[..n]);
        let chart = self.chart(y);
        chart.follow(t, &y[..n + k], &rates[n..n + k], Some(&rates[..n]));
        let (a, rest) = chart.follow.outputs.split_at(n);
        let (reaction, rest) = rest.split_at(n);
        sample.a.copy_from_slice(a);
        sample.reaction.copy_from_slice(reaction);
        sample.energy = rest[0];
        let has_multipliers = chart.follow.has_multipliers;
        if has_multipliers {
            sample.multipliers.copy_from_slice(&rest[1..]);
        }
        self.scratch = rates;
        known?;
        if !has_multipliers {
            self.kkt.evaluate(t, &sample.q, &sample.v, &[]);
            self.kkt.solve()?;
            self.kkt.least_norm();
            sample.multipliers.copy_from_slice(self.kkt.multipliers());
            self.kkt.reaction(&mut sample.reaction);
        }
        Ok(())
    }

    /// The known chart whose pivots are largest at a point, if they are all close to the largest candidates.
    fn known(&mut self, t: f64, q: &[f64]) -> Option<usize> {
        {
            let atlas = self.atlas.lock();
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
        if chart.watch.pivots.is_empty() || chart.quality(t, &y[..n]) >= LEAVE {
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
        let place = self.place_of_work() + 1;
        let index = if let Some(known) = self.known(t, &y[..n]) {
            known
        } else {
            self.kkt.evaluate(t, &y[..n], v, &[]);
            let scale = scale(&mut self.kkt);
            let mut atlas = self.atlas.lock();
            atlas.find(t, &y[..n], &scale).ok_or(EvalError::Singular)?
        };
        let mark = index as f64;
        if mark == y[place] {
            return Ok(false);
        }
        let whole = self.with_tangents(t, y);
        y[place] = mark;
        let (q, rest) = y.split_at_mut(n);
        self.numbered(mark).quasi(t, q, v, &mut rest[..k]);
        if let Some(whole) = whole {
            self.enter_with_tangents(t, y, &whole)?;
        }
        Ok(true)
    }
}

/// $1/\sqrt{M_{jj}}$ at the state last evaluated; 1 where a coordinate has no mass.
pub(crate) fn scale(kkt: &mut Kkt) -> Vec<f64> {
    let diagonal = kkt.mass_diagonal().iter();
    diagonal.map(|&m| if m > 0.0 { 1.0 / m.sqrt() } else { 1.0 }).collect()
}

/// The order of evaluation: that of the Lagrangian for long programs, that of writing for short ones, which
/// fit the registers anyway.
pub(crate) fn order(reduction: &Reduction) -> &[Expr] {
    if reduction.operations() > LONG { &reduction.order } else { &[] }
}
