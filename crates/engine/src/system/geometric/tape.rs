//! Functions with their Jacobian as one program.

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};

/// Values and slopes of some functions.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    run: Executor,
    pub(super) inputs: Vec<f64>,
    outputs: Vec<f64>,
    values: usize,
    /// The places of the slopes in a full matrix by rows.
    places: Vec<usize>,
    entries: usize,
}

impl Tape {
    /// Of functions over inputs; the first `rows` of them are differentiated by `by`.
    pub(super) fn new(
        model: &Workspace,
        inputs: &[Expr],
        functions: &[Expr],
        rows: usize,
        by: &[Expr],
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let columns = g.merging(|| g.jacobian_columns(&functions[..rows], by));
        let mut outputs = functions.to_vec();
        let mut places = Vec::new();
        for (j, column) in columns.into_iter().enumerate() {
            for (i, slope) in column.into_iter().filter(|&(_, slope)| slope != g.zero()) {
                outputs.push(slope);
                places.push(i * by.len() + j);
            }
        }
        let program = Program::compile(g, inputs, &model.parameter_symbols(), &outputs)?;
        let mut run = program.tiered(&model.parameter_values(), backend);
        run.promote();
        Ok(Self {
            run,
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            values: functions.len(),
            places,
            entries: rows * by.len(),
        })
    }

    pub(super) fn evaluate(&mut self) {
        self.run.evaluate(&self.inputs, &mut self.outputs);
    }

    /// The values of all functions.
    pub(super) fn values(&self) -> &[f64] {
        &self.outputs[..self.values]
    }

    /// Writes the slopes by rows.
    pub(super) fn matrix(&self, matrix: &mut Vec<f64>) {
        matrix.clear();
        matrix.resize(self.entries, 0.0);
        for (&place, &x) in self.places.iter().zip(&self.outputs[self.values..]) {
            matrix[place] = x;
        }
    }
}
