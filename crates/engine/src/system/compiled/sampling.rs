//! Controls that are sampled (`control u = … every T`) at $t_0 + kT$ and held in between.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::EvalError;

use crate::motion::sample::Sample;
use crate::system::compiled::CompiledSystem;
use crate::system::compiled::jump::Landing;

/// The sampled controls of a model.
#[derive(Clone, Debug)]
pub(crate) struct Samplers {
    /// The coordinate that holds each, and the time between samples.
    held: Vec<(usize, f64)>,
    laws: Executor,
    values: Vec<f64>,
    /// When the first samples are taken.
    start: f64,
    /// Whether constraints or the Lagrangian see the controls: then velocities or the energy jump with them.
    is_felt: bool,
    before: Sample,
    after: Sample,
}

impl Samplers {
    /// Of a model, if it has any.
    pub(crate) fn new(
        model: &Workspace,
        inputs: &[Expr],
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        let samplers = &model.hybrid.samplers;
        if samplers.is_empty() {
            return Ok(None);
        }
        let g = &model.graph;
        let laws: Vec<Expr> = samplers.iter().map(|s| s.law).collect();
        let program = Program::compile(g, inputs, &model.parameter_symbols(), &laws)?;
        let symbols: Vec<Expr> =
            samplers.iter().map(|s| model.coordinates[s.coordinate].position).collect();
        let sees = |e: Expr| g.contains(e, &symbols);
        let is_felt = model.constraints.iter().any(|c| !c.is_rate && sees(c.expr))
            || matches!(model.dynamics, Dynamics::Lagrangian { lagrangian, .. } if sees(lagrangian));
        let sample = Sample::new(model.coordinates.len(), model.constraints.len());
        Ok(Some(Self {
            held: samplers.iter().map(|s| (s.coordinate, s.period)).collect(),
            laws: program.tiered(&model.parameter_values(), backend),
            values: vec![0.0; laws.len()],
            start: f64::NAN,
            is_felt,
            before: sample.clone(),
            after: sample,
        }))
    }

    /// Samples are counted from this time on.
    pub(crate) fn begin(&mut self, start: f64) {
        self.start = start;
    }

    /// The next sample after a time.
    pub(crate) fn next(&self, t: f64) -> Option<f64> {
        let next = |&(_, period): &(usize, f64)| next_multiple(self.start, period, t);
        self.held.iter().map(next).reduce(f64::min)
    }
}

/// The first of $t_0 + kT$ after a time.
fn next_multiple(start: f64, period: f64, t: f64) -> f64 {
    let mut k = ((t - start) / period).floor() - 1.0;
    while start + k * period <= t {
        k += 1.0;
    }
    start + k * period
}

/// Whether a time is one of $t_0 + kT$.
fn is_multiple(start: f64, period: f64, t: f64) -> bool {
    let k = ((t - start) / period).round();
    [k - 1.0, k, k + 1.0].iter().any(|k| start + k * period == t)
}

impl CompiledSystem {
    /// Takes the samples that are due; says whether any is.
    pub(super) fn sample_at(&mut self, t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        let Some(mut samplers) = self.samplers.take() else { return Ok(false) };
        let taken = self.sample_by(&mut samplers, t, y);
        self.samplers = Some(samplers);
        taken
    }

    fn sample_by(
        &mut self,
        samplers: &mut Samplers,
        t: f64,
        y: &mut [f64],
    ) -> Result<bool, EvalError> {
        let Samplers { held, laws, values, start, is_felt, before, after } = samplers;
        if !held.iter().any(|&(_, period)| is_multiple(*start, period, t)) {
            return Ok(false);
        }
        if *is_felt {
            self.resolve(t, y, true, before)?;
        } else {
            self.kinematics(t, y, before);
        }
        before.inputs(&mut self.observed_inputs);
        laws.evaluate(&self.observed_inputs, values);
        let (mut q, mut v) = (before.q.clone(), before.v.clone());
        for (&(coordinate, period), &value) in held.iter().zip(&*values) {
            if !is_multiple(*start, period, t) {
                continue;
            }
            if !value.is_finite() {
                return Err(EvalError::NotFinite);
            }
            q[coordinate] = value;
            y[coordinate] = value;
        }
        if *is_felt {
            let named = vec![false; self.n];
            let landing = Landing { t, named: &named, moved: true, speed: 0.0 };
            if self.land(landing, y, &mut q, &mut v)?.is_err() {
                return Err(EvalError::Singular);
            }
            self.resolve(t, y, false, after)?;
            self.book(y, before, after);
        }
        Ok(true)
    }
}
