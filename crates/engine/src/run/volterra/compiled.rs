//! A plan, compiled: what the collocation evaluates.

use std::cell::RefCell;
use std::rc::Rc;

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_program::{CompileError, Interpreter, Program};
use pfaff_solver::{EvalError, EventKind, Operand, VolterraPoint, VolterraSystem};

use crate::run::volterra::kernel_run::KernelRun;
use crate::run::volterra::projection::Projection;
use crate::run::volterra::slow_inputs::SlowInputs;
use crate::run::volterra::volterra_equations::VolterraEquations;
use crate::system::event_phases::event_kinds;

/// The compiled equations of a model with memory.
#[derive(Clone, Debug)]
pub(crate) struct CompiledVolterra {
    unknowns: usize,
    operands: Vec<Operand>,
    guess: Vec<f64>,
    projection: Projection,
    residual: Interpreter,
    jacobian: Interpreter,
    /// Where each entry of the tape goes: row and column, the columns of $z$ after those of $x$.
    entries: Vec<(usize, usize)>,
    values: Vec<f64>,
    inputs: Vec<f64>,
    kernels: Vec<Option<KernelRun>>,
    events: Vec<EventKind>,
    watched: Interpreter,
    switches: Interpreter,
    breaks: Vec<f64>,
    stops: Vec<f64>,
    signs: Signs,
    slow: SlowInputs,
}

/// The branches that a run has taken, for all who read its points.
pub(crate) type Signs = Rc<RefCell<Vec<f64>>>;

impl CompiledVolterra {
    pub(crate) fn new(
        model: &Workspace,
        plan: &VolterraEquations,
        watched: &[Expr],
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let variables: Vec<Expr> = plan.unknowns.iter().chain(&plan.symbols).copied().collect();
        let inputs = plan.inputs(model);
        let compile =
            |inputs: &[Expr], outputs: &[Expr]| -> Result<Interpreter, CompileError> {
                let program = Program::compile(g, inputs, &model.parameter_symbols(), outputs)?;
                Ok(program.interpreter(&model.parameter_values()))
            };
        let rows = g.merging(|| g.jacobian(&plan.residual, &variables));
        let (mut entries, mut slopes) = (Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            for (j, &e) in row.iter().enumerate() {
                if e != g.zero() {
                    entries.push((i, j));
                    slopes.push(e);
                }
            }
        }
        let kernel = |k: &Option<Expr>| k.map(|k| KernelRun::new(model, k, plan.times));
        let kernels = plan.kernels.iter().map(kernel).collect();
        Ok(Self {
            unknowns: plan.unknowns.len(),
            operands: plan.operands.clone(),
            guess: plan.guess(),
            projection: Projection::new(model, plan)?,
            residual: compile(&inputs, &plan.residual)?,
            jacobian: compile(&inputs, &slopes)?,
            values: vec![0.0; entries.len()],
            entries,
            inputs: vec![0.0; inputs.len()],
            kernels,
            events: event_kinds(model),
            watched: compile(&inputs, watched)?,
            switches: compile(&inputs, &plan.switches)?,
            breaks: plan.breaks.clone(),
            stops: plan.stops.clone(),
            slow: SlowInputs::new(model, plan),
            signs: Rc::new(RefCell::new(vec![1.0; plan.signs.len()])),
        })
    }

    /// The branches that are taken.
    pub(crate) fn signs(&self) -> Signs {
        Rc::clone(&self.signs)
    }

    fn fill(&mut self, at: VolterraPoint<'_>) -> Result<(), EvalError> {
        let VolterraPoint { t, elapsed, x, z } = at;
        let (first, second) = (2 + x.len(), 2 + x.len() + z.len());
        self.inputs[0] = t;
        self.inputs[1] = elapsed;
        self.inputs[2..first].copy_from_slice(x);
        self.inputs[first..second].copy_from_slice(z);
        let third = second + self.signs.borrow().len();
        self.inputs[second..third].copy_from_slice(&self.signs.borrow());
        self.slow.fill(elapsed, &mut self.inputs[third..]);
        self.projection.apply(t, &mut self.inputs[first..second])
    }
}

impl VolterraSystem for CompiledVolterra {
    fn unknowns(&self) -> usize {
        self.unknowns
    }

    fn operands(&self) -> Vec<Operand> {
        self.operands.clone()
    }

    fn guess(&self) -> Vec<f64> {
        self.guess.clone()
    }

    fn residual(&mut self, at: VolterraPoint<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        self.fill(at)?;
        self.residual.evaluate(&self.inputs, out);
        Ok(())
    }

    fn jacobian(
        &mut self,
        at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        self.fill(at)?;
        self.jacobian.evaluate(&self.inputs, &mut self.values);
        by_x.fill(0.0);
        by_z.fill(0.0);
        let (n, p) = (self.unknowns, self.operands.len());
        for (&(i, j), &value) in self.entries.iter().zip(&self.values) {
            if j < n {
                by_x[i * n + j] = value;
            } else {
                by_z[i * p + j - n] = value;
            }
        }
        self.projection.carry(by_z, p);
        Ok(())
    }

    fn kernel(&mut self, operand: usize, t: f64, lags: &[f64], out: &mut [f64]) {
        if let Some(kernel) = &mut self.kernels[operand] {
            out.iter_mut().zip(lags).for_each(|(k, s)| *k = kernel.value(t, *s));
        }
    }

    fn breaks(&self) -> &[f64] {
        &self.breaks
    }

    fn stops(&self) -> &[f64] {
        &self.stops
    }

    fn switches(&self) -> usize {
        self.signs.borrow().len()
    }

    fn switch_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.fill(at)?;
        self.switches.evaluate(&self.inputs, values);
        Ok(())
    }

    fn choose(&mut self, signs: &[f64]) {
        self.signs.borrow_mut().copy_from_slice(signs);
    }

    fn events(&self) -> &[EventKind] {
        &self.events
    }

    fn event_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.fill(at)?;
        self.watched.evaluate(&self.inputs, values);
        Ok(())
    }
}
