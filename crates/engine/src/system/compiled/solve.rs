//! The solve of the saddle-point form, written out.

use pfaff_mechanics::Equations;
use pfaff_model::{Principle, Workspace};

use crate::motion::sample::Sample;
use crate::system::compiled::{Compiled, CompiledSystem};
use crate::system::static_ldl::StaticLdl;

impl CompiledSystem {
    /// Writes the solve of the saddle-point form out, where it stays and that applies, given its solution at the start.
    pub(crate) fn unroll(&mut self, model: &Workspace, equations: &Equations, at: &Sample) {
        let Compiled::Saddle(kkt) = &mut self.dynamics else { return };
        if kkt.held().len() >= kkt.n {
            // The constraints say what moves, to rounding.
            return;
        }
        let is_whole = kkt.is_whole();
        // What can be sketched can be compiled.
        if kkt.promote(model).is_err()
            || (!is_whole && equations.principle != Principle::Chetaev)
        {
            return;
        }
        let some;
        let equations = if is_whole {
            equations
        } else {
            some = equations.with_constraints(&kkt.active);
            &some
        };
        let Some(mut static_ldl) = StaticLdl::new(model, equations, &kkt.active, kkt.backend)
        else {
            return;
        };
        let carried = kkt.carried > 0;
        let forces = if carried { &at.multiplier_rates } else { &at.multipliers };
        // NOTE: where constraints repeat others, multipliers are shared between them there.
        let forces = if is_whole { forces.as_slice() } else { &[] };
        let expected = [at.a.as_slice(), forces].concat();
        let μ = if carried { at.multipliers.as_slice() } else { &[] };
        if static_ldl.calibrate([&[at.t], &at.q, &at.v, μ], &expected) {
            self.static_ldl = Some(static_ldl);
        }
    }
}
