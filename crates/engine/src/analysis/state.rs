//! The numbers of the equations at one state, as given: `derive --state`.

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::EvalError;

use crate::derivation::Derivation;
use crate::error::Error;
use crate::problem::state::State;
use crate::system::compiled::Dynamics;
use crate::system::kkt::Kkt;
use crate::system::ordinary::{OrdinarySystem, spread};

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

/// The equations of a derivation, compiled: what follows from one state after another.
///
/// ```
/// use pfaff::{Model, Principle, StateEvaluator, State};
/// let model = Model::gallery("sleigh")?;
/// let mut equations = StateEvaluator::new(&model.derive(Principle::Chetaev)?)?;
/// let state = State { t: 0.0, q: vec![0.0; 3], v: vec![1.0, 0.0, 0.3], multipliers: vec![0.0] };
/// let report = equations.report(&state)?;
/// let mut rates = [0.0; 6];
/// assert!(equations.rates(0.0, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.3], &mut rates));
/// assert_eq!(rates[3..], report.acceleration[..]);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateEvaluator {
    compiled: Compiled,
    coordinates: Vec<String>,
    constraints: Vec<String>,
    /// Room for the velocities of an `equation` model.
    velocities: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Compiled {
    Saddle(Box<Kkt>),
    Ordinary(Box<OrdinarySystem>),
}

impl StateEvaluator {
    /// Compiles the equations.
    ///
    /// # Errors
    ///
    /// [`Error`] if they cannot be compiled.
    pub fn new(derivation: &Derivation) -> Result<Self, Error> {
        Self::with_backend(derivation, Backend::default())
    }

    fn with_backend(derivation: &Derivation, backend: Backend) -> Result<Self, Error> {
        let model = &derivation.workspace();
        let failed = |e: pfaff_program::CompileError| Error::Usage(e.to_string());
        let compiled = match &derivation.dynamics {
            Dynamics::Saddle(equations) => {
                let kkt = Kkt::new(model, equations, backend).map_err(failed)?;
                Compiled::Saddle(Box::new(kkt))
            }
            Dynamics::Ordinary(ordinary) => {
                let system = OrdinarySystem::new(model, ordinary, backend).map_err(failed)?;
                Compiled::Ordinary(Box::new(system))
            }
        };
        Ok(Self {
            compiled,
            coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            constraints: model.constraints.iter().map(|c| c.name.clone()).collect(),
            velocities: vec![0.0; model.coordinates.len()],
        })
    }

    /// The names of the numbers of a state $y$: positions, velocities, and multipliers under the vakonomic principle.
    /// An `equation` model has the velocities of its second-order coordinates only.
    pub fn state_names(&self) -> Vec<String> {
        let mut names = self.coordinates.clone();
        let rate = |name: &String| format!("{name}'");
        match &self.compiled {
            Compiled::Saddle(kkt) => {
                names.extend(self.coordinates.iter().map(rate));
                if kkt.carried > 0 {
                    names.extend(self.constraints.iter().map(|c| format!("mu({c})")));
                }
            }
            Compiled::Ordinary(system) => {
                let second = self.coordinates.iter().zip(&system.orders);
                names.extend(second.filter(|(_, order)| **order == 2).map(|(c, _)| rate(c)));
            }
        }
        names
    }

    /// The rates of a state, in the order of [`state_names`](Self::state_names); says whether they are determined. If
    /// not, they are not numbers.
    ///
    /// # Panics
    ///
    /// If a slice is not as long as the state.
    pub fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> bool {
        let n = self.coordinates.len();
        assert_eq!(y.len(), rates.len(), "rates are as many as numbers of the state");
        let (q, rest) = y.split_at(n);
        let solved = match &mut self.compiled {
            Compiled::Saddle(kkt) => {
                let (v, μ) = rest.split_at(n);
                let none = vec![0.0; if μ.is_empty() { self.constraints.len() } else { 0 }];
                kkt.evaluate(t, q, v, if μ.is_empty() { &none } else { μ });
                kkt.solve().is_ok().then(|| {
                    rates[..n].copy_from_slice(v);
                    rates[n..2 * n].copy_from_slice(kkt.acceleration());
                    rates[2 * n..].copy_from_slice(&kkt.multipliers()[..μ.len()]);
                })
            }
            Compiled::Ordinary(system) => {
                spread(&system.orders, rest, &mut self.velocities);
                system.solve(t, q, &self.velocities).is_ok().then(|| {
                    let mut next = n;
                    for (k, &order) in system.orders.iter().enumerate() {
                        let x = system.unknowns[k];
                        rates[k] = if order == 2 { self.velocities[k] } else { x };
                        if order == 2 {
                            rates[next] = x;
                            next += 1;
                        }
                    }
                })
            }
        };
        if solved.is_none() {
            rates.fill(f64::NAN);
        }
        solved.is_some()
    }

    /// Everything that follows from a state.
    ///
    /// # Errors
    ///
    /// [`Error`] if the accelerations are not determined there.
    pub fn report(&mut self, state: &State) -> Result<StateReport, Error> {
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
        let (coordinates, constraints) = (self.coordinates.clone(), self.constraints.clone());
        match &mut self.compiled {
            Compiled::Saddle(kkt) => {
                kkt.evaluate(state.t, &state.q, &state.v, &state.multipliers);
                kkt.solve().map_err(failed)?;
                kkt.least_norm();
                let mut reaction = vec![0.0; kkt.n];
                kkt.reaction(&mut reaction);
                let (vakonomic, solved) = (kkt.carried > 0, kkt.multipliers().to_vec());
                let given = || state.multipliers.clone();
                Ok(StateReport {
                    mass: kkt.inertia(),
                    effective_mass: if vakonomic { kkt.full_mass() } else { Vec::new() },
                    jacobian: kkt.full_jacobian(),
                    acceleration: kkt.acceleration().to_vec(),
                    multipliers: if vakonomic { given() } else { solved.clone() },
                    multiplier_rates: if vakonomic { solved } else { Vec::new() },
                    reaction,
                    energy: kkt.energy(),
                    constraint_energy: kkt.constraint_energy(),
                    principle: Some(kkt.principle),
                    coordinates,
                    constraints,
                })
            }
            Compiled::Ordinary(system) => {
                system.solve(state.t, &state.q, &state.v).map_err(failed)?;
                let highest = system.unknowns.iter().zip(&system.orders);
                let acceleration =
                    highest.map(|(&x, &order)| if order == 2 { x } else { f64::NAN }).collect();
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
}

/// Evaluates the equations at a state.
///
/// # Errors
///
/// [`Error`] if the accelerations are not determined there.
pub fn at_state(derivation: &Derivation, state: &State) -> Result<StateReport, Error> {
    StateEvaluator::with_backend(derivation, Backend::Interpreter)?.report(state)
}
