//! The same compiled system with other parameters.

use pfaff_model::Workspace;
use pfaff_program::Executor;

use crate::motion::sample::Sample;
use crate::system::compiled::{Compiled, CompiledSystem};
use crate::system::cusp::CuspWatch;

impl CompiledSystem {
    /// The same equations with other parameters, as if nothing had been evaluated. Not for systems that jump or sample.
    pub(crate) fn with_parameters(&self, parameters: &[f64]) -> Self {
        let mut system = self.clone();
        match &mut system.dynamics {
            Compiled::Saddle(kkt) => kkt.set_parameters(parameters),
            Compiled::Reduced(reduced) => reduced.set_parameters(parameters),
            Compiled::Ordinary(ordinary) => ordinary.set_parameters(parameters),
        }
        system.static_ldl.iter_mut().for_each(|ldl| ldl.set_parameters(parameters));
        let executors = system.watched.iter_mut().chain(&mut system.observed);
        executors.for_each(|executor| executor.set_parameters(parameters));
        system.flow.iter_mut().for_each(|flow| flow.set_parameters(parameters));
        system.features.set_parameters(parameters);
        system.jacobian.iter_mut().for_each(|jacobian| jacobian.set_parameters(parameters));
        // NOTE: it contains the values of parameters.
        system.clearance = None;
        system.descriptor = None;
        system.cusp = CuspWatch::new(system.n, system.m);
        system
    }

    /// Whether other parameters are all that another run needs.
    pub(crate) fn takes_parameters(&self) -> bool {
        self.jumps.is_none() && self.samplers.is_none() && self.geometric.is_none()
    }

    /// Compiles what is evaluated at every step of many runs.
    pub(crate) fn promote(&mut self, model: &Workspace) {
        match &mut self.dynamics {
            // What can be sketched can be compiled.
            Compiled::Saddle(kkt) => drop(kkt.promote(model)),
            Compiled::Reduced(reduced) => reduced.promote(model),
            Compiled::Ordinary(_) => {}
        }
        self.watched.iter_mut().chain(&mut self.observed).for_each(Executor::promote);
        self.features.promote();
    }

    /// Measures what depends on the start anew: the pivots of the solve that is written out, and those of series.
    pub(crate) fn calibrate(&mut self, parameters: &[f64], y: &[f64], at: &Sample) {
        let start: Vec<f64> = [at.t].iter().chain(y).copied().collect();
        self.series.iter_mut().for_each(|series| series.begin_again(parameters, &start));
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => reduced.begin_again(parameters, &start),
            Compiled::Saddle(kkt) => {
                let Some(ldl) = &mut self.static_ldl else { return };
                let carried = kkt.carried > 0;
                let forces = if carried { &at.multiplier_rates } else { &at.multipliers };
                let expected = [at.a.as_slice(), forces].concat();
                let μ = if carried { at.multipliers.as_slice() } else { &[] };
                if !ldl.calibrate([&[at.t], &at.q, &at.v, μ], &expected) {
                    self.static_ldl = None;
                }
            }
            Compiled::Ordinary(_) => {}
        }
    }
}
