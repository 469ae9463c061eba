//! The numbers of the equations at one state, as given: `derive --state`.

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::EvalError;

use crate::derivation::Derivation;
use crate::error::Error;
use crate::problem::state::State;
use crate::system::compiled::Dynamics;
use crate::system::kkt::Kkt;
use crate::system::ordinary::OrdinarySystem;

/// Everything that follows from a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateReport {
    /// $M = \partial^2L/\partial\dot q^2$ by rows.
    pub mass: Vec<f64>,
    /// $M - \mu\cdot\partial^2\varphi/\partial\dot q^2$ by rows under the vakonomic principle, else empty.
    pub effective_mass: Vec<f64>,
    /// $A$ by rows.
    pub jacobian: Vec<f64>,
    /// $\ddot q$
    pub acceleration: Vec<f64>,
    /// $\lambda$, or the given $\mu$ under the vakonomic principle, or $p_\alpha$ under the restricted one
    pub multipliers: Vec<f64>,
    /// $\dot\mu$ under the vakonomic principle, else empty
    pub multiplier_rates: Vec<f64>,
    /// $R$
    pub reaction: Vec<f64>,
    /// $E$
    pub energy: f64,
    /// $E\[M\]$
    pub constraint_energy: f64,
    /// The principle, `None` for an `equation` model.
    pub principle: Option<Principle>,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Names of the constraints.
    pub constraints: Vec<String>,
}

/// Evaluates the equations at a state.
///
/// # Errors
///
/// [`Error`] if the accelerations are not determined there.
pub fn at_state(derivation: &Derivation, state: &State) -> Result<StateReport, Error> {
    let model = &derivation.workspace();
    let failed = |halt: EvalError| {
        Error::Usage(
            match halt {
                EvalError::Singular => {
                    "at this state accelerations and multipliers are not determined"
                }
                EvalError::NotFinite => {
                    "at this state the equations are infinite or not a number"
                }
            }
            .into(),
        )
    };
    let compiled = |e: pfaff_program::CompileError| Error::Usage(e.to_string());
    let coordinates = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let constraints = model.constraints.iter().map(|c| c.name.clone()).collect();
    match &derivation.dynamics {
        Dynamics::Saddle(equations) => {
            let mut core =
                Kkt::new(model, equations, Backend::Interpreter).map_err(compiled)?;
            core.evaluate(state.t, &state.q, &state.v, &state.multipliers);
            core.solve().map_err(failed)?;
            let mut reaction = vec![0.0; core.n];
            core.reaction(&mut reaction);
            let (vakonomic, solved) = (core.carried > 0, core.multipliers().to_vec());
            Ok(StateReport {
                mass: core.inertia(),
                effective_mass: if vakonomic { core.mass().to_vec() } else { Vec::new() },
                jacobian: core.jacobian().to_vec(),
                acceleration: core.acceleration().to_vec(),
                multipliers: if vakonomic { state.multipliers.clone() } else { solved.clone() },
                multiplier_rates: if vakonomic { solved } else { Vec::new() },
                reaction,
                energy: core.energy(),
                constraint_energy: core.constraint_energy(),
                principle: Some(core.principle),
                coordinates,
                constraints,
            })
        }
        Dynamics::Ordinary(ordinary) => {
            let mut core =
                OrdinarySystem::new(model, ordinary, Backend::Interpreter).map_err(compiled)?;
            core.solve(state.t, &state.q, &state.v).map_err(failed)?;
            let acceleration = core
                .unknowns
                .iter()
                .zip(&core.orders)
                .map(|(&x, &order)| if order == 2 { x } else { f64::NAN })
                .collect();
            Ok(StateReport {
                mass: Vec::new(),
                effective_mass: Vec::new(),
                jacobian: Vec::new(),
                acceleration,
                multipliers: Vec::new(),
                multiplier_rates: Vec::new(),
                reaction: Vec::new(),
                energy: f64::NAN,
                constraint_energy: f64::NAN,
                principle: None,
                coordinates,
                constraints,
            })
        }
    }
}
