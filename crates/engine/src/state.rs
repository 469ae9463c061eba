//! The numbers of the equations at one state, as given: `derive --state`.

use pfaff_model::Model;
use pfaff_solver::Halt;

use crate::core::Core;
use crate::json::Json;
use crate::mechanism::Dynamics;
use crate::ordinary::OrdinaryCore;
use crate::pipeline::Failure;

/// A state as given; nothing is projected.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: Vec<f64>,
    /// $\dot q$
    pub v: Vec<f64>,
}

/// Everything that follows from a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateReport {
    /// $M$ by rows.
    pub mass: Vec<f64>,
    /// $A$ by rows.
    pub jacobian: Vec<f64>,
    /// $\ddot q$
    pub acceleration: Vec<f64>,
    /// $\lambda$
    pub multipliers: Vec<f64>,
    /// $R$
    pub reaction: Vec<f64>,
    /// $E$
    pub energy: f64,
    coordinates: Vec<String>,
    constraints: Vec<String>,
}

/// Evaluates the equations at a state.
///
/// # Errors
///
/// [`Failure`] if the accelerations are not determined there.
pub fn at_state(model: &Model, dynamics: &Dynamics, state: &State) -> Result<StateReport, Failure> {
    let failed = |halt: Halt| {
        Failure::Usage(
            match halt {
                Halt::Singular => "at this state accelerations and multipliers are not determined",
                Halt::NotFinite => "at this state the equations are infinite or not a number",
            }
            .into(),
        )
    };
    let compiled = |e: pfaff_program::CompileError| Failure::Usage(e.to_string());
    let coordinates = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let constraints = model.constraints.iter().map(|c| c.name.clone()).collect();
    match dynamics {
        Dynamics::Saddle(equations) => {
            let mut core = Core::new(model, equations).map_err(compiled)?;
            core.evaluate(state.t, &state.q, &state.v);
            core.solve().map_err(failed)?;
            let mut reaction = vec![0.0; core.n];
            core.reaction(&mut reaction);
            Ok(StateReport {
                mass: core.mass().to_vec(),
                jacobian: core.jacobian().to_vec(),
                acceleration: core.acceleration().to_vec(),
                multipliers: core.multipliers().to_vec(),
                reaction,
                energy: core.energy(),
                coordinates,
                constraints,
            })
        }
        Dynamics::Ordinary(ordinary) => {
            let mut core = OrdinaryCore::new(model, ordinary).map_err(compiled)?;
            core.solve(state.t, &state.q, &state.v).map_err(failed)?;
            let acceleration = core
                .unknowns
                .iter()
                .zip(&core.orders)
                .map(|(&x, &order)| if order == 2 { x } else { f64::NAN })
                .collect();
            Ok(StateReport {
                mass: Vec::new(),
                jacobian: Vec::new(),
                acceleration,
                multipliers: Vec::new(),
                reaction: Vec::new(),
                energy: f64::NAN,
                coordinates,
                constraints,
            })
        }
    }
}

impl StateReport {
    /// As `derive --state --json` prints it.
    pub fn to_json(&self) -> Json {
        let n = self.coordinates.len();
        let by_name = |names: &[String], values: &[f64]| {
            Json::object(names.iter().cloned().zip(values.iter().map(|&x| Json::Number(x))))
        };
        let energy = Json::object([
            ("E", Json::Number(self.energy)),
            ("constraint", Json::Number(0.0)),
            ("total", Json::Number(self.energy)),
        ]);
        let none: [(String, Json); 0] = [];
        Json::object([
            ("mass", Json::matrix(&self.mass, n)),
            ("jacobian", Json::matrix(&self.jacobian, n)),
            ("acceleration", by_name(&self.coordinates, &self.acceleration)),
            ("multipliers", by_name(&self.constraints, &self.multipliers)),
            ("multiplier_rates", Json::object(none)),
            ("reaction", by_name(&self.coordinates, &self.reaction)),
            ("energy", energy),
        ])
    }
}
