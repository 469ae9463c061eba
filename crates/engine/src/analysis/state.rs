//! The numbers of the equations at one state, as given: `derive --state`.

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::EvalError;

use crate::derivation::Derivation;
use crate::error::Error;
use crate::json::Json;
use crate::problem::state::State;
use crate::signs::signs;
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
    principle: Option<Principle>,
    coordinates: Vec<String>,
    constraints: Vec<String>,
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
        let report = Json::object([
            ("mass", Json::matrix(&self.mass, n)),
            ("effective_mass", Json::matrix(&self.effective_mass, n)),
            ("jacobian", Json::matrix(&self.jacobian, n)),
            ("acceleration", by_name(&self.coordinates, &self.acceleration)),
            ("multipliers", by_name(&self.constraints, &self.multipliers)),
            ("multiplier_rates", by_name(&self.constraints, &self.multiplier_rates)),
            ("reaction", by_name(&self.coordinates, &self.reaction)),
            ("energy", energy),
            ("signs", self.principle.map_or(Json::Null, |p| Json::text(signs(p)))),
        ]);
        match report {
            // NOTE: the effective mass is another one than the mass under the vakonomic principle only.
            Json::Object(mut entries) if self.effective_mass.is_empty() => {
                entries.retain(|(key, _)| key != "effective_mass");
                Json::Object(entries)
            }
            report => report,
        }
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
        let multipliers = match self.principle {
            Some(Principle::Vakonomic) => "multipliers mu (given)",
            Some(Principle::Restricted) => "multipliers p",
            _ => "multipliers lambda",
        };
        list(multipliers, &self.constraints, &self.multipliers);
        list("rates of the multipliers mu'", &self.constraints, &self.multiplier_rates);
        list("reaction (M q'' = f + R)", &self.coordinates, &self.reaction);
        let n = self.coordinates.len().max(1);
        let blocks = [
            ("mass", &self.mass),
            ("effective mass", &self.effective_mass),
            ("jacobian", &self.jacobian),
        ];
        for (heading, rows) in blocks {
            if !rows.is_empty() {
                let _ = writeln!(text, "{heading}");
            }
            for row in rows.chunks(n) {
                let _ = writeln!(text, "  {row:?}");
            }
        }
        if self.energy.is_finite() {
            let _ = writeln!(text, "energy\n  E = {:?}", self.energy);
            let total = self.energy + self.constraint_energy;
            match self.principle {
                Some(Principle::Vakonomic) => {
                    let _ = writeln!(text, "  E[M] = {:?}", self.constraint_energy);
                    let _ = writeln!(text, "  E[L,M] = {total:?}");
                }
                Some(Principle::Restricted) => {
                    let _ = writeln!(text, "  E of L_c = {total:?}");
                }
                _ => {}
            }
        }
        if let Some(principle) = self.principle {
            let _ = writeln!(text, "signs: {}", signs(principle));
        }
        text
    }
}
