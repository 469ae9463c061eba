//! Taylor series of a compiled system.

use pfaff_model::Workspace;
use pfaff_program::{TaylorError, TaylorRecurrences};

use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::taylor_system::{
    Demand, TaylorExpansion, ordinary_recurrences, saddle_recurrences,
};

impl CompiledSystem {
    /// Whether a Taylor step written out has far more instructions, as far as that is seen without writing it.
    pub(crate) fn is_surely_longer(&self, order: usize, most: usize) -> bool {
        match &self.dynamics {
            Compiled::Reduced(reduced) => reduced.is_surely_longer(order, most),
            // A matrix that can be inverted has an entry in each row, and a factor has as many as there are rows.
            Compiled::Saddle(kkt) => (kkt.n + kkt.m).saturating_pow(2) > most,
            Compiled::Ordinary(_) => false,
        }
    }

    /// The Taylor recurrences of the equations in their present form.
    pub(crate) fn recurrences(
        &self,
        model: &Workspace,
        dynamics: &Dynamics,
        order: usize,
    ) -> Result<TaylorRecurrences, TaylorError> {
        match (&self.dynamics, dynamics) {
            (Compiled::Reduced(reduced), _) => reduced.recurrences(order),
            (_, Dynamics::Saddle(equations)) => saddle_recurrences(model, equations),
            (_, Dynamics::Ordinary(ordinary)) => ordinary_recurrences(model, ordinary),
        }
    }

    /// Makes Taylor series ready, given the start.
    pub(crate) fn expand(
        &mut self,
        model: &Workspace,
        recurrences: &TaylorRecurrences,
        demand: Demand,
        t: f64,
        y: &[f64],
    ) {
        if let Compiled::Reduced(reduced) = &mut self.dynamics {
            reduced.expand(recurrences, demand, t, y);
            return;
        }
        let at = [&[t], y].concat();
        let parameters = model.parameter_values();
        self.series = Some(TaylorExpansion::new(recurrences, &parameters, demand, &at));
    }
}
