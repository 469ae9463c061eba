//! The blocks of (K) with other parameters.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};

use crate::system::kkt::{Buffers, Kkt, Run};
use crate::system::saddle_point::Saddle;

impl Kkt {
    /// The blocks with other parameters, as if nothing had been evaluated.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        match &mut self.evaluator.run {
            Run::Sketch(sketch) => sketch.set_parameters(parameters),
            Run::Program(run) => run.set_parameters(parameters),
        }
        self.active.fill(true);
        self.saddle = Saddle::default();
        self.orientation = 0.0;
        self.buffers = Buffers::new(self.n, self.extra, self.m);
    }

    /// Other forces, with everything else as it is.
    pub(crate) fn set_forces(&mut self, parameters: &[f64]) {
        match &mut self.evaluator.run {
            Run::Sketch(sketch) => sketch.set_parameters(parameters),
            Run::Program(run) => run.set_parameters(parameters),
        }
    }
}

/// $Q\cdot\dot q - \partial L/\partial t$, from the model and not from the equations that it helps to check.
pub(crate) fn given_power(model: &Workspace) -> Expr {
    let g = &model.graph;
    let v = model.velocities();
    let forces = g.sum(model.forces.iter().map(|f| g.dot(&f.components, &v)));
    match model.dynamics {
        Dynamics::Lagrangian { lagrangian, .. } => {
            g.sub(forces, g.derivative(lagrangian, model.time))
        }
        Dynamics::Equations(_) => forces,
    }
}
