//! The linear equations about a state: `pfaff linearize`.

use pfaff_model::{Principle, Quantity, Workspace, read_assignments};
use pfaff_program::Backend;
use pfaff_solver::{Eigenvector, EvalError, eigenvalues, eigenvector};

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::integrals::has_definite_energy;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::stability::{Stability, StabilityReason, judge};
use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::note::Note;
use crate::problem::start::{Given, Start, given};
use crate::run::consistent_start::begin_from;
use crate::run::volterra;
use crate::system::compiled::{CompiledSystem, Dynamics};

/// What is linearised, and where.
#[derive(Clone, Debug, Default)]
pub struct LinearizeRequest {
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// `x=0, x'=1`: what is missing follows from the constraints or is zero. The initial state if `None`.
    pub at: Option<String>,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// The linear equations $\dot w = A w$ about a state, without cyclic coordinates.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// The title of the model.
    pub title: String,
    /// The principle, `None` for an `equation` model.
    pub principle: Option<Principle>,
    /// $t$
    pub t: f64,
    /// The state that satisfies the constraints, by name.
    pub state: Vec<(String, f64)>,
    /// The variables $w$.
    pub variables: Vec<String>,
    /// The coordinates that were removed because nothing depends on them, with their rates.
    pub cyclic: Vec<(String, f64)>,
    /// $A$ by rows.
    pub matrix: Vec<f64>,
    /// $M$, $C$, $K$ where the variables are coordinates and their velocities.
    pub second_order: Option<SecondOrder>,
    /// The eigenvalues of $A$ as real and imaginary part, the largest real part first.
    pub eigenvalues: Vec<[f64; 2]>,
    /// An eigenvector for each.
    pub modes: Vec<Option<Eigenvector>>,
    /// The rates $\dot w$ at the state, which vanish at an equilibrium.
    pub rates: Vec<f64>,
    /// Whether they do, up to rounding.
    pub is_equilibrium: bool,
    /// If they do not: the equilibrium that is reached from the state, if one is.
    pub nearest: Option<Vec<(String, f64)>>,
    /// The dimension of the family of equilibria to which the state belongs.
    pub family: usize,
    /// Whether the equilibrium is stable.
    pub stability: Stability,
    /// How that is known.
    pub reason: StabilityReason,
    /// What was solved for or changed in the state.
    pub notes: Vec<Note>,
}

/// $M\ddot u + C\dot u + K u = 0$ for independent coordinates $u$; columns of $K$ are zero for cyclic ones.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrder {
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// $M$ by rows.
    pub mass: Vec<f64>,
    /// $C$ by rows.
    pub damping: Vec<f64>,
    /// $K$ by rows.
    pub stiffness: Vec<f64>,
}

/// A model in phase space: its equations, its field, and a consistent state.
pub(crate) struct Phase {
    pub(crate) model: Workspace,
    pub(crate) dynamics: Dynamics,
    pub(crate) field: Field,
    pub(crate) t: f64,
    pub(crate) y: Vec<f64>,
    pub(crate) notes: Vec<Note>,
}

impl Phase {
    /// Derives and compiles a model, at a given state or at its initial one.
    pub(crate) fn new(model: &Model, request: &LinearizeRequest) -> Result<Self, Failure> {
        let workspace = model.workspace();
        if volterra::has_memory(&workspace) {
            return Err(Failure::usage(
                "models with memory have no state of finitely many numbers that could be analysed",
            ));
        }
        let dynamics = derive_in(&workspace, request.principle)?;
        let backend = request.backend.unwrap_or_default();
        let (t, given) = match &request.at {
            Some(text) => read_state(&workspace, text)?,
            None => {
                let t = workspace.solve.range.map_or(0.0, |range| range.0);
                (t, given(&workspace, t))
            }
        };
        let mut system = CompiledSystem::new(&workspace, &dynamics, backend)?;
        let Start { q, v, multipliers, notes } =
            begin_from(&workspace, &dynamics, &mut system, t, &given)?;
        let field = Field::new(&workspace, &dynamics, backend)?;
        let mut y = system.state(t, &q, &v, &multipliers);
        y.truncate(field.size());
        Ok(Self { model: workspace, dynamics, field, t, y, notes })
    }

    /// The field at the state.
    pub(crate) fn point(&mut self) -> Result<FieldPoint, Failure> {
        self.field.at(self.t, &self.y).map_err(|halt| {
            Failure::usage(match halt {
                EvalError::Singular => {
                    "this is a singular point: the accelerations are not determined there"
                }
                EvalError::NotFinite => {
                    "at this state the equations or their derivatives are infinite or not a number"
                }
            })
        })
    }

    /// The state by name.
    pub(crate) fn named(&self, y: &[f64]) -> Vec<(String, f64)> {
        self.field.names.iter().cloned().zip(y.iter().copied()).collect()
    }

    /// Whether energy and momenta show that an equilibrium is stable.
    pub(crate) fn judge(
        &mut self,
        quotient: &Quotient,
        point: &FieldPoint,
        values: &[[f64; 2]],
    ) -> (usize, Stability, StabilityReason) {
        let Self { model, dynamics, field, .. } = self;
        judge(field, quotient, point, values, |field| match dynamics {
            Dynamics::Saddle(equations) => {
                has_definite_energy(model, equations, field, quotient, point)
            }
            Dynamics::Ordinary(_) => false,
        })
    }
}

/// Time and given values of a text; multipliers that are not given are zero.
fn read_state(model: &Workspace, text: &str) -> Result<(f64, Given), Failure> {
    let n = model.coordinates.len();
    let zeros = vec![Some(0.0); model.constraints.len()];
    let mut given = Given { q: vec![None; n], v: vec![None; n], multipliers: zeros };
    let mut t = model.solve.range.map_or(0.0, |range| range.0);
    for (quantity, value) in read_assignments(model, "<at>", text)? {
        match quantity {
            Quantity::Time => t = value,
            Quantity::Coordinate(k, 0) => given.q[k] = Some(value),
            Quantity::Coordinate(k, 1) => given.v[k] = Some(value),
            Quantity::Multiplier(a) => given.multipliers[a] = Some(value),
            Quantity::Coordinate(..) => {}
        }
    }
    Ok((t, given))
}

/// Linearises a model about a state.
///
/// ```
/// use pfaff::{LinearizeRequest, Model, Stability, linearize};
/// let pendulum = Model::parse("coordinates a\nlagrangian a'^2/2 + 9*cos(a)")?;
/// let hanging = linearize(&pendulum, &LinearizeRequest::default())?;
/// assert_eq!(hanging.eigenvalues, [[0.0, 3.0], [0.0, -3.0]]);
/// assert_eq!(hanging.stability, Stability::Stable);
/// # Ok::<(), pfaff::Error>(())
/// ```
///
/// # Errors
///
/// [`Error`] if the model has no equations, the state contradicts the constraints, or nothing is determined there.
pub fn linearize(model: &Model, request: &LinearizeRequest) -> Result<Linearization, Error> {
    linearized(model, request).map_err(|failure| failure.in_source(&model.source))
}

fn linearized(model: &Model, request: &LinearizeRequest) -> Result<Linearization, Failure> {
    let mut phase = Phase::new(model, request)?;
    let point = phase.point()?;
    let singular = || {
        Failure::usage("this is a singular point: there the constraints give no tangent space")
    };
    let quotient = Quotient::at(&mut phase.field, &point).ok_or_else(singular)?;
    let here = quotient.point(&point).ok_or_else(singular)?;
    let w = quotient.variables.len();
    let values = eigenvalues(w, &here.matrix)
        .ok_or_else(|| Failure::usage("the eigenvalues could not be computed"))?;
    let (family, stability, reason) = phase.judge(&quotient, &point, &values);
    let is_equilibrium = here.is_equilibrium();
    let nearest = if is_equilibrium { None } else { quotient.settle(&mut phase.field, &point) };
    let name = |c: usize| phase.field.names[c].clone();
    Ok(Linearization {
        title: model.name().to_owned(),
        principle: match &phase.dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle),
            Dynamics::Ordinary(_) => None,
        },
        t: phase.t,
        state: phase.named(&phase.y),
        variables: quotient.variables.iter().map(|&c| name(c)).collect(),
        cyclic: quotient.cyclic.iter().map(|&c| (name(c), point.rates[c])).collect(),
        second_order: second_order(&phase, &quotient, &point, &here.matrix),
        modes: values.iter().map(|&value| eigenvector(w, &here.matrix, value)).collect(),
        nearest: nearest.map(|found| phase.named(&found.y)),
        matrix: here.matrix,
        eigenvalues: values,
        rates: here.rates,
        is_equilibrium,
        family,
        stability,
        reason,
        notes: phase.notes,
    })
}

/// $M = B^\top M B$ over the independent velocities, $C$ and $K$ from it and $A$.
fn second_order(
    phase: &Phase,
    quotient: &Quotient,
    point: &FieldPoint,
    matrix: &[f64],
) -> Option<SecondOrder> {
    let field = &phase.field;
    let (n, d, w) = (field.n, field.size(), quotient.variables.len());
    if point.mass.is_empty() || d != 2 * n {
        return None;
    }
    let tangent = quotient.chart.tangent(point)?;
    let r = quotient.chart.free.len();
    let velocities: Vec<usize> = (0..w).filter(|&i| quotient.variables[i] >= n).collect();
    let u = velocities.len();
    // Each position that is left has its velocity among the variables.
    for i in (0..w).filter(|&i| quotient.variables[i] < n) {
        let own =
            velocities.iter().any(|&j| quotient.variables[j] == quotient.variables[i] + n);
        let others = (0..w).all(|j| {
            let unit = quotient.variables[j] == quotient.variables[i] + n;
            matrix[i * w + j] == f64::from(u8::from(unit))
        });
        if !own || !others {
            return None;
        }
    }
    let column = |j: usize| {
        let c = quotient.variables[velocities[j]];
        quotient.chart.free.iter().position(|&free| free == c)
    };
    let columns: Vec<usize> = (0..u).map(column).collect::<Option<_>>()?;
    let entry = |k: usize, j: usize| tangent[(n + k) * r + columns[j]];
    let mut mass = vec![0.0; u * u];
    for a in 0..u {
        for b in 0..u {
            for i in 0..n {
                let row = (0..n).map(|j| point.mass[i * n + j] * entry(j, b)).sum::<f64>();
                mass[a * u + b] += entry(i, a) * row;
            }
        }
    }
    let product = |a: usize, column: usize| -> f64 {
        -(0..u).map(|b| mass[a * u + b] * matrix[velocities[b] * w + column]).sum::<f64>() + 0.0
    };
    let (mut damping, mut stiffness) = (vec![0.0; u * u], vec![0.0; u * u]);
    for a in 0..u {
        for b in 0..u {
            damping[a * u + b] = product(a, velocities[b]);
            let position = quotient.variables[velocities[b]] - n;
            if let Some(at) = quotient.variables.iter().position(|&c| c == position) {
                stiffness[a * u + b] = product(a, at);
            }
        }
    }
    let coordinates =
        velocities.iter().map(|&i| field.names[quotient.variables[i] - n].clone()).collect();
    Some(SecondOrder { coordinates, mass, damping, stiffness })
}
