//! 𝓛 with its first and second derivatives as one program.

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{Functional, IntervalPoint};

use super::formulate::Formulation;
use crate::problem::interval::TimeInterval;

/// The integrand of the action.
#[derive(Debug)]
pub(crate) struct Integrand {
    /// Whether the second derivatives are functions of time alone.
    pub(crate) is_quadratic: bool,
    program: Executor,
    interval: TimeInterval,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl Integrand {
    pub(crate) fn new(
        model: &Workspace,
        formulation: &Formulation,
        interval: TimeInterval,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let symbols = &formulation.symbols;
        let mut outputs = vec![formulation.lagrangian];
        let gradient = g.gradient(formulation.lagrangian, symbols);
        let hessian: Vec<Vec<Expr>> = g.jacobian(&gradient, symbols);
        outputs.extend(&gradient);
        let is_quadratic = !hessian.iter().flatten().any(|&e| g.contains(e, symbols));
        outputs.extend(hessian.into_iter().flatten());
        let program = compiled(model, symbols, &outputs)?;
        let program = program.executor(&model.parameter_values(), backend);
        let inputs = vec![0.0; symbols.len() + 1];
        Ok(Self { is_quadratic, program, interval, inputs, outputs: vec![0.0; outputs.len()] })
    }
}

/// Expressions of the time and of the symbols as a program.
pub(crate) fn compiled(
    model: &Workspace,
    symbols: &[Expr],
    outputs: &[Expr],
) -> Result<Program, CompileError> {
    let inputs: Vec<Expr> = [model.time].iter().chain(symbols).copied().collect();
    let parameters = model.parameter_symbols();
    Program::compile(&model.graph, &inputs, &parameters, outputs)
}

/// The time of a place, from the nearer end.
pub(crate) fn time(place: IntervalPoint, interval: TimeInterval) -> f64 {
    if place.left < place.right {
        interval.start + place.left
    } else {
        interval.end - place.right
    }
}

impl Functional for Integrand {
    fn evaluate(
        &mut self,
        place: IntervalPoint,
        values: &[f64],
        gradient: &mut [f64],
        hessian: &mut [f64],
    ) -> f64 {
        self.inputs[0] = time(place, self.interval);
        self.inputs[1..].copy_from_slice(values);
        self.program.evaluate(&self.inputs, &mut self.outputs);
        let n = values.len();
        gradient.copy_from_slice(&self.outputs[1..=n]);
        hessian.copy_from_slice(&self.outputs[n + 1..]);
        self.outputs[0]
    }
}
