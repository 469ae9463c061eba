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
            let mut kkt = Kkt::new(model, equations, Backend::Interpreter).map_err(compiled)?;
            kkt.evaluate(state.t, &state.q, &state.v, &state.multipliers);
            kkt.solve().map_err(failed)?;
            kkt.least_norm();
            let mut reaction = vec![0.0; kkt.n];
            kkt.reaction(&mut reaction);
            let (vakonomic, solved) = (kkt.carried > 0, kkt.multipliers().to_vec());
            Ok(StateReport {
                mass: kkt.inertia(),
                effective_mass: if vakonomic { kkt.full_mass() } else { Vec::new() },
                jacobian: kkt.full_jacobian(),
                acceleration: kkt.acceleration().to_vec(),
                multipliers: if vakonomic { state.multipliers.clone() } else { solved.clone() },
                multiplier_rates: if vakonomic { solved } else { Vec::new() },
                reaction,
                energy: kkt.energy(),
                constraint_energy: kkt.constraint_energy(),
                principle: Some(kkt.principle),
                coordinates,
                constraints,
            })
        }
        Dynamics::Ordinary(ordinary) => {
            let mut kkt =
                OrdinarySystem::new(model, ordinary, Backend::Interpreter).map_err(compiled)?;
            kkt.solve(state.t, &state.q, &state.v).map_err(failed)?;
            let acceleration = kkt
                .unknowns
                .iter()
                .zip(&kkt.orders)
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
