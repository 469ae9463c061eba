//! The blocks of (K) with other parameters.

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
