//! One-step methods of mechanics with a fixed step, for long times.
//!
//! - `dalembert`: discrete Lagrange–d'Alembert with the midpoint rule. It keeps the symplectic form and momenta without
//!   velocity constraints (with holonomic ones it is RATTLE), and the discrete constraints with them.
//! - `gauss`: Gauss's collocation of order 4 in $(q, p)$, for models without constraints; with holonomic ones five
//!   steps of RATTLE, composed to order 4. It keeps the symplectic form, and without constraints quadratic invariants.
//! - `energy`: the midpoint rule with discrete gradients. It keeps the energy, to rounding.
//!
//! All are symmetric, so that reversible motions stay reversible.

mod composed;
mod dalembert;
mod energy;
mod gauss;
mod legendre;
mod tape;

use pfaff_mechanics::Class;
use pfaff_model::{Principle, Workspace};
use pfaff_program::Backend;
use pfaff_solver::EvalError;

use crate::error::Failure;
use crate::system::dynamics::Dynamics;
pub(crate) use composed::Composed;
pub(crate) use dalembert::Dalembert;
pub(crate) use energy::{EnergyKeeping, Flow};
pub(crate) use gauss::Gauss;

/// Which method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GeometricMethod {
    Dalembert,
    Gauss,
    Energy,
}

impl GeometricMethod {
    /// Its word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dalembert => "dalembert",
            Self::Gauss => "gauss",
            Self::Energy => "energy",
        }
    }

    /// Refuses dynamics that the method is not for.
    pub(crate) fn check(self, model: &Workspace, dynamics: &Dynamics) -> Result<(), Failure> {
        let refused = |why: &str| {
            Err(Failure::Usage(format!(
                "the method `{}` does not apply: {why}; choose `auto`, `dop853` or `taylor`",
                self.name()
            )))
        };
        let Dynamics::Saddle(equations) = dynamics else {
            return refused("it is for motions of a Lagrangian, not for `equation` models");
        };
        if equations.principle != Principle::Chetaev {
            return refused("it is for the principle `chetaev`");
        }
        if !model.resets.is_empty() {
            return refused("the state jumps (`on`)");
        }
        let moving = equations.classes.iter().any(|class| *class != Class::Holonomic);
        if self == Self::Gauss && moving {
            return refused(
                "it is for models without constraints or with holonomic ones, and a velocity constraint leaves no \
                 symplectic form to keep; `dalembert` and `energy` are for these",
            );
        }
        Ok(())
    }
}

/// A compiled method.
#[derive(Clone, Debug)]
pub(crate) enum Geometric {
    Dalembert(Box<Dalembert>),
    Gauss(Box<Gauss>),
    Composed(Box<Composed>),
    Energy(Box<EnergyKeeping>),
}

impl Geometric {
    /// Compiles a method, with those of the constraints that do not repeat others.
    pub(crate) fn new(
        method: GeometricMethod,
        model: &Workspace,
        dynamics: &Dynamics,
        active: &[bool],
        backend: Backend,
    ) -> Result<Self, Failure> {
        method.check(model, dynamics)?;
        let Dynamics::Saddle(equations) = dynamics else {
            unreachable!("checked before");
        };
        let carrying = || equations.with_constraints(active);
        Ok(match method {
            GeometricMethod::Dalembert => {
                Self::Dalembert(Box::new(Dalembert::new(model, &carrying(), backend)?))
            }
            GeometricMethod::Gauss if !model.constraints.is_empty() => {
                Self::Composed(Box::new(Composed::new(model, &carrying(), backend)?))
            }
            GeometricMethod::Gauss => {
                Self::Gauss(Box::new(Gauss::new(model, equations, backend)?))
            }
            GeometricMethod::Energy => {
                Self::Energy(Box::new(EnergyKeeping::new(model, equations, backend)?))
            }
        })
    }
}

/// Newton's iteration of an implicit step: steps of at most this size relative to the unknowns end it.
const SMALL: f64 = 1e-14;
const ITERATIONS: usize = 30;

/// Repeats `improve`, which moves the unknowns and tells by how much relative to their sizes, until that is small or no
/// longer shrinks below rounding.
fn iterate(mut improve: impl FnMut() -> Result<f64, EvalError>) -> Result<(), EvalError> {
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let change = improve()?;
        if !change.is_finite() {
            return Err(EvalError::NotFinite);
        }
        if change <= SMALL || (change < 1e-10 && change >= 0.5 * last) {
            return Ok(());
        }
        last = change;
    }
    Err(EvalError::Singular)
}
