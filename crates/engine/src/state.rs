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
    /// $\mu$ for each constraint; read under the vakonomic principle only
    pub multipliers: Vec<f64>,
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
    /// $\lambda$, or the given $\mu$ under the vakonomic principle
    pub multipliers: Vec<f64>,
    /// $\dot\mu$ under the vakonomic principle, else empty
    pub multiplier_rates: Vec<f64>,
    /// $R$
    pub reaction: Vec<f64>,
    /// $E$
    pub energy: f64,
    /// $E[M]$
    pub constraint_energy: f64,
    coordinates: Vec<String>,
    constraints: Vec<String>,
}

/// Evaluates the equations at a state.
///
/// # Errors
///
/// [`Failure`] if the accelerations are not determined there.
pub fn at_state(
    model: &Model,
    dynamics: &Dynamics,
    state: &State,
) -> Result<StateReport, Failure> {
    let failed = |halt: Halt| {
        Failure::Usage(
            match halt {
                Halt::Singular => {
                    "at this state accelerations and multipliers are not determined"
                }
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
            core.evaluate(state.t, &state.q, &state.v, &state.multipliers);
            core.solve().map_err(failed)?;
            let mut reaction = vec![0.0; core.n];
            core.reaction(&mut reaction);
            let (vakonomic, solved) = (core.carried > 0, core.multipliers().to_vec());
            Ok(StateReport {
                mass: core.mass().to_vec(),
                jacobian: core.jacobian().to_vec(),
                acceleration: core.acceleration().to_vec(),
                multipliers: if vakonomic { state.multipliers.clone() } else { solved.clone() },
                multiplier_rates: if vakonomic { solved } else { Vec::new() },
                reaction,
                energy: core.energy(),
                constraint_energy: core.constraint_energy(),
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
                multiplier_rates: Vec::new(),
                reaction: Vec::new(),
                energy: f64::NAN,
                constraint_energy: f64::NAN,
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
            ("constraint", Json::Number(self.constraint_energy)),
            ("total", Json::Number(self.energy + self.constraint_energy)),
        ]);
        Json::object([
            ("mass", Json::matrix(&self.mass, n)),
            ("jacobian", Json::matrix(&self.jacobian, n)),
            ("acceleration", by_name(&self.coordinates, &self.acceleration)),
            ("multipliers", by_name(&self.constraints, &self.multipliers)),
            ("multiplier_rates", by_name(&self.constraints, &self.multiplier_rates)),
            ("reaction", by_name(&self.coordinates, &self.reaction)),
            ("energy", energy),
        ])
    }

    /// For people.
    pub fn to_text(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        let mut list = |heading: &str, names: &[String], values: &[f64]| {
            if !values.is_empty() {
                let _ = writeln!(text, "{heading}");
                for (name, value) in names.iter().zip(values) {
                    let _ = writeln!(text, "  {name} = {value:?}");
                }
            }
        };
        list("acceleration", &self.coordinates, &self.acceleration);
        list("multipliers", &self.constraints, &self.multipliers);
        list("rates of the multipliers", &self.constraints, &self.multiplier_rates);
        list("reaction (M q'' = f + R)", &self.coordinates, &self.reaction);
        let n = self.coordinates.len().max(1);
        for (heading, rows) in [("mass", &self.mass), ("jacobian", &self.jacobian)] {
            if !rows.is_empty() {
                let _ = writeln!(text, "{heading}");
            }
            for row in rows.chunks(n) {
                let _ = writeln!(text, "  {row:?}");
            }
        }
        if self.energy.is_finite() {
            let _ = writeln!(text, "energy\n  E = {:?}", self.energy);
        }
        text
    }
}
