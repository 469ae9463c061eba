//! Derivatives of a motion that are integrated with it, in reduced form.
//!
//! The state is $(q, u, s_1, s_2, \dots, w, c)$ with $s = (\delta q, \delta u)$ for each direction. Motion and
//! derivatives are one program, so that they share what they have in common, and a whole step can be machine code:
//!
//! $$ \dot s = \frac{\partial(\dot q, \dot u)}{\partial(q, u)}\,s
//!      + \frac{\partial(\dot q, \dot u)}{\partial p}\,\delta p. $$
//!
//! The derivative of $\dot q$ is the rate of $\delta q$. At a change of charts
//! $\delta u = \delta\bigl(u(t, q, \dot q; p)\bigr)$ is that of the new forms.

use pfaff_expr::Expr;
use pfaff_mechanics::Reduction;
use pfaff_program::{Executor, Program, TaylorRecurrences, VectorField};
use pfaff_solver::EvalError;

use super::Reduced;
use super::chart::Atlas;
use crate::system::tangent_rates::tangent_rates;
use crate::system::taylor_system::{TaylorExpansion, fresh};

/// What is carried with a motion.
#[derive(Clone, Debug)]
pub(super) struct Tangents {
    /// The change of every parameter along each direction.
    changes: Vec<Vec<f64>>,
    /// By chart, once it was met.
    programs: Vec<Option<TangentProgram>>,
    inputs: Vec<f64>,
    rates: Vec<f64>,
}

/// The derivatives in one chart.
#[derive(Clone, Debug)]
pub(super) struct TangentProgram {
    /// $(t, q, u, s)$ to the rates of the whole state.
    pub(super) rates: Executor,
    /// $(t, q, \dot q, \delta q, \delta\dot q)$ to $\delta u$, the directions one after another.
    forms: Executor,
    /// Taylor series of the whole state, where they are wanted.
    pub(super) series: Option<TaylorExpansion>,
}

impl TangentProgram {
    /// For a state in a chart. `None` where $\dot u$ is not written out, or the program would be long.
    fn new(
        reduction: &Reduction,
        atlas: &Atlas,
        changes: &[Vec<f64>],
        (t, y): (f64, &[f64]),
    ) -> Option<Self> {
        let g = &reduction.graph;
        let time = [reduction.time];
        let state = [reduction.positions.as_slice(), &reduction.independent].concat();
        let plain =
            [&reduction.velocities, reduction.rates.as_ref()?].map(Vec::as_slice).concat();
        let moving = [reduction.positions.as_slice(), &reduction.velocity_symbols].concat();
        let pairs = |change: &Vec<f64>| -> Vec<(Expr, f64)> {
            let varied = atlas.symbols.iter().copied().zip(change.iter().copied());
            varied.filter(|(_, δ)| *δ != 0.0).collect()
        };
        let changes: Vec<_> = changes.iter().map(pairs).collect();
        let along = tangent_rates(g, &plain, &state, &changes)?;
        let inputs = [&time[..], &state, &along.symbols].concat();
        let mut outputs = [plain.clone(), along.rates].concat();
        let of_forms = tangent_rates(g, &reduction.forms, &moving, &changes)?;
        let form_inputs = [&time[..], &moving, &of_forms.symbols].concat();
        let form_outputs = of_forms.rates;
        let driven =
            g.merging(|| g.dot(&reduction.power[1..], &plain[reduction.velocities.len()..]));
        // The work, and the number of the chart, which stays.
        outputs.extend([g.add(reduction.power[0], driven), g.zero()]);
        let series = match atlas.demand {
            Some(demand) => {
                let whole = [&inputs[1..], &fresh(g, "w", 2)].concat();
                let recurrences = TaylorRecurrences::of(&VectorField {
                    graph: g,
                    time: reduction.time,
                    state: &whole,
                    parameters: &atlas.symbols,
                    rates: &outputs,
                    unknowns: &[],
                    matrix: &[],
                    right: &[],
                });
                Some(atlas.series(&recurrences.ok()?, demand, t, y))
            }
            None => None,
        };
        let rates = Program::compile(g, &inputs, &atlas.symbols, &outputs).ok()?.fused();
        let forms = Program::compile(g, &form_inputs, &atlas.symbols, &form_outputs).ok()?;
        Some(Self {
            rates: rates.executor(&atlas.values, atlas.backend),
            forms: forms.tiered(&atlas.values, atlas.backend),
            series,
        })
    }
}

impl Reduced {
    /// Components of the state that are derivatives.
    pub(super) fn carried(&self) -> usize {
        let directions = self.tangents.as_ref().map_or(0, |tangents| tangents.changes.len());
        directions * (self.n + self.k)
    }

    /// Whether derivatives are integrated with the motion.
    pub(crate) fn has_tangents(&self) -> bool {
        self.tangents.is_some()
    }

    /// Integrates derivatives with the motion from a start in the first chart, along directions with these changes of
    /// all parameters and of $(q, \dot q)$ at the start; the state with them, or nothing where that does not apply.
    pub(crate) fn carry(
        &mut self,
        t: f64,
        y: &[f64],
        changes: Vec<Vec<f64>>,
        starts: &[(Vec<f64>, Vec<f64>)],
    ) -> Option<Vec<f64>> {
        let (n, k) = (self.n, self.k);
        let mut program = {
            let atlas = self.atlas.lock();
            TangentProgram::new(&atlas.reductions[0], &atlas, &changes, (t, &y[..n + k]))?
        };
        let mut v = vec![0.0; n];
        self.velocities(t, y, &mut v);
        let mut inputs = [&[t], &y[..n], &v].concat();
        starts.iter().for_each(|(q, v)| inputs.extend(q.iter().chain(v)));
        let mut u = vec![0.0; k * starts.len()];
        program.forms.evaluate(&inputs, &mut u);
        let mut whole = y[..n + k].to_vec();
        for ((q, _), u) in starts.iter().zip(u.chunks_exact(k)) {
            whole.extend(q.iter().chain(u));
        }
        whole.extend_from_slice(&y[n + k..]);
        let programs = vec![Some(program)];
        self.tangents = Some(Box::new(Tangents {
            changes,
            programs,
            inputs: Vec::new(),
            rates: Vec::new(),
        }));
        self.scratch.resize(whole.len(), 0.0);
        Some(whole)
    }

    /// The derivatives in the chart of a state.
    pub(super) fn tangent_program(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<Option<&mut TangentProgram>, EvalError> {
        let (size, place) = (self.n + self.k, self.place_of_work() + 1);
        let Some(tangents) = &mut self.tangents else { return Ok(None) };
        let chart = y[place] as usize;
        if tangents.programs.len() <= chart {
            tangents.programs.resize(chart + 1, None);
        }
        let program = &mut tangents.programs[chart];
        if program.is_none() {
            let atlas = self.atlas.lock();
            *program = TangentProgram::new(
                &atlas.reductions[chart],
                &atlas,
                &tangents.changes,
                (t, &y[..size]),
            );
        }
        program.as_mut().map(Some).ok_or(EvalError::Singular)
    }

    /// The rates of motion and derivatives; says whether there are derivatives.
    pub(super) fn tangent_rates(
        &mut self,
        t: f64,
        y: &[f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        let known = self.n + self.k + self.carried();
        let mut inputs = match &mut self.tangents {
            Some(tangents) => std::mem::take(&mut tangents.inputs),
            None => return Ok(false),
        };
        inputs.clear();
        inputs.push(t);
        inputs.extend_from_slice(&y[..known]);
        let program = self.tangent_program(t, y)?;
        program.into_iter().for_each(|program| program.rates.evaluate(&inputs, rates));
        self.tangents.iter_mut().for_each(|t| std::mem::swap(&mut t.inputs, &mut inputs));
        Ok(true)
    }

    /// Positions and velocities of a state and their derivatives, direction by direction, if there are any.
    pub(crate) fn with_tangents(&mut self, t: f64, y: &[f64]) -> Option<Vec<f64>> {
        let (n, k) = (self.n, self.k);
        let mut rates = std::mem::take(&mut self.tangents.as_mut()?.rates);
        rates.resize(y.len(), 0.0);
        let known = self.tangent_rates(t, y, &mut rates);
        let mut whole = Vec::with_capacity(2 * n * (1 + self.carried() / (n + k)));
        let last = n + k + self.carried();
        for (s, rates) in y[..last].chunks_exact(n + k).zip(rates.chunks_exact(n + k)) {
            whole.extend(s[..n].iter().chain(&rates[..n]));
        }
        self.tangents.as_mut()?.rates = rates;
        known.is_ok_and(|known| known).then_some(whole)
    }

    /// Derivatives in another chart, from those of positions and velocities.
    pub(super) fn enter_with_tangents(
        &mut self,
        t: f64,
        y: &mut [f64],
        whole: &[f64],
    ) -> Result<(), EvalError> {
        let (n, k) = (self.n, self.k);
        let last = n + k + self.carried();
        let Some(program) = self.tangent_program(t, y)? else { return Ok(()) };
        let inputs = [&[t], whole].concat();
        let mut u = vec![0.0; (last / (n + k) - 1) * k];
        program.forms.evaluate(&inputs, &mut u);
        for (s, u) in y[n + k..last].chunks_exact_mut(n + k).zip(u.chunks_exact(k)) {
            s[n..].copy_from_slice(u);
        }
        Ok(())
    }
}
