//! What an error in the state is worth in energy.
//!
//! $$ \sum_i \left|\frac{\partial E}{\partial y_i}\right|\,(1 + |y_i|), \qquad y = (q, \dot q), $$
//!
//! times the tolerance, is what one step may add to the energy.

use pfaff_expr::Expr;
use pfaff_model::Model;
use pfaff_program::{Program, Run};

use crate::instant::Instant;

/// The gradient of the energy, compiled.
pub(crate) struct Sensitivity {
    run: Option<Run>,
    inputs: Vec<f64>,
    slopes: Vec<f64>,
}

impl Sensitivity {
    /// Without an energy every error is worth nothing.
    pub(crate) fn new(model: &Model, energy: Option<Expr>) -> Self {
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        let g = &model.graph;
        let program = energy.and_then(|e| {
            let slopes = g.merging(|| g.gradient(e, &inputs[1..]));
            Program::compile(g, &inputs, &model.parameter_symbols(), &slopes).ok()
        });
        Self {
            run: program.map(|p| p.start(&model.parameter_values())),
            slopes: vec![0.0; inputs.len() - 1],
            inputs: vec![0.0; inputs.len()],
        }
    }

    /// The worth of a unit of tolerance at an instant; zero where it has no value.
    pub(crate) fn at(&mut self, instant: &Instant) -> f64 {
        let Some(run) = &mut self.run else { return 0.0 };
        let n = instant.q.len();
        self.inputs[0] = instant.t;
        self.inputs[1..=n].copy_from_slice(&instant.q);
        self.inputs[n + 1..].copy_from_slice(&instant.v);
        run.evaluate(&self.inputs, &mut self.slopes);
        let worth: f64 = self
            .slopes
            .iter()
            .zip(&self.inputs[1..])
            .map(|(s, y)| s.abs() * (1.0 + y.abs()))
            .sum();
        if worth.is_finite() { worth } else { 0.0 }
    }
}
