//! The linear equations about a state: `pfaff linearize`.

use pfaff_expr::Expr;
use pfaff_model::{
    ExpressionScope, Principle, Quantity, Workspace, read_assignments, read_expression,
};
use pfaff_program::Backend;
use pfaff_solver::{Eigenvector, EvalError, eigenvalues, eigenvector, singular_values};

use crate::analysis::phase::field::{Field, FieldPoint, ParameterPoint, ParameterSlopes};
use crate::analysis::phase::full_form::FullForm;
use crate::analysis::phase::integrals::{Integrals, has_definite_energy};
use crate::analysis::phase::quotient::{Quotient, QuotientPoint};
use crate::analysis::phase::stability::{
    Stability, StabilityReason, growth, judge, with_zeros, zero_multiplicity, zeros,
};
use crate::analysis::phase::symbolic::{self, SymbolicMatrix};
use crate::analysis::phase::symmetries::{
    AffineSymmetry, Beside, MovingFrame, beside, symmetries,
};
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
    /// In how many directions the matrix vanishes, and how often zero is an eigenvalue.
    pub zeros: (usize, usize),
    /// Symmetries along which the state moves steadily, such as `turn of x, y`, with their rates: the equations are
    /// then those in a frame that moves with it, beside the directions of all symmetries.
    pub frame: Vec<(String, f64)>,
    /// Symmetries that explain zero eigenvalues: they lead from the equilibrium to others.
    pub symmetries: Vec<String>,
    /// Inputs of the model.
    pub inputs: Vec<String>,
    /// $B$ of $\dot w = A w + B u$ by rows.
    pub input_matrix: Vec<f64>,
    /// The equations in all coordinates.
    pub full: FullForm,
    /// Matrices as formulas, where they are small.
    pub formulas: Vec<SymbolicMatrix>,
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

    /// The dimension of the family of equilibria through one, and whether it is stable.
    pub(crate) fn judge(
        &mut self,
        quotient: &Quotient,
        point: &FieldPoint,
        values: &[[f64; 2]],
    ) -> (usize, Stability, StabilityReason) {
        let Self { model, dynamics, field, .. } = self;
        judge(field, quotient, point, values, |field| {
            is_energy_definite((&*model, &*dynamics), field, quotient, point, None)
        })
    }
}

/// Whether energy and momenta show that an equilibrium is stable: those of coordinates, then those of symmetries that
/// turn coordinates into each other, which are looked for if they are not given.
fn is_energy_definite(
    (model, dynamics): (&Workspace, &Dynamics),
    field: &mut Field,
    quotient: &Quotient,
    point: &FieldPoint,
    known: Option<&[AffineSymmetry]>,
) -> bool {
    let Dynamics::Saddle(equations) = dynamics else { return false };
    let definite = |field: &Field, all: &[AffineSymmetry]| {
        let found = Integrals::around(model, equations, field, &quotient.chart, point, all);
        found.map(|found| has_definite_energy(&found, field, quotient, point, all))
    };
    if let Some(all) = known {
        return definite(field, all) == Some(true);
    }
    match definite(field, &[]) {
        Some(true) => true,
        Some(false) => {
            let all = symmetries(field, &quotient.chart, point);
            // Shifts of single coordinates were known before.
            all.iter().any(|s| !s.is_cyclic) && definite(field, &all) == Some(true)
        }
        None => false,
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

/// What the inputs of a model do at a state.
fn inputs(phase: &mut Phase, backend: Backend) -> Result<Option<ParameterPoint>, Failure> {
    let list = phase.model.hybrid.inputs.clone();
    if list.is_empty() {
        return Ok(None);
    }
    let Phase { model, dynamics, field, t, y, .. } = phase;
    let mut slopes = ParameterSlopes::new(model, dynamics, field, &list, backend)?;
    let found = slopes.at(field, *t, y);
    found
        .map(Some)
        .map_err(|_| Failure::usage("at this state the inputs have no effect that is finite"))
}

/// Components of the state that are given as formulas, by `--at` or by the model.
fn given_formulas(phase: &Phase, at: Option<&str>) -> Vec<(usize, Expr)> {
    let (model, names) = (&phase.model, &phase.field.names);
    let n = model.coordinates.len();
    let Some(text) = at else {
        let component = |quantity: Quantity| match quantity {
            Quantity::Coordinate(k, 0) => Some(k),
            Quantity::Coordinate(k, 1) => phase.field.velocity_at[k],
            Quantity::Multiplier(a) => (2 * n + a < names.len()).then_some(2 * n + a),
            Quantity::Coordinate(..) | Quantity::Time => None,
        };
        let data = model.initial.iter();
        return data.filter_map(|d| Some((component(d.quantity)?, d.value))).collect();
    };
    let mut found = Vec::new();
    let mut depth = 0_i32;
    let parts = text.split(|c: char| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == ',' && depth <= 0
    });
    for part in parts {
        let Some((name, value)) = part.split_once('=') else { continue };
        let name: String = name.split_whitespace().collect();
        if let Some(c) = names.iter().position(|known| *known == name)
            && let Ok((_, entries)) =
                read_expression(model, "<at>", value, ExpressionScope::State)
            && let [e] = entries[..]
            && !model.graph.varies(e)
        {
            found.push((c, e));
        }
    }
    found
}

/// The flow about a state: in the frame in which it is an equilibrium, if there is one.
pub(crate) struct Setting {
    pub(crate) point: FieldPoint,
    pub(crate) quotient: Quotient,
    here: QuotientPoint,
    /// Symmetries of the flow, as far as they were looked for, and in a frame the rates along them.
    pub(crate) symmetries: Vec<AffineSymmetry>,
    pub(crate) rates: Vec<f64>,
    pub(crate) frame: Vec<(String, f64)>,
    /// What is left beside the symmetries, in a frame.
    pub(crate) beside: Option<Beside>,
}

impl Setting {
    pub(crate) fn new(phase: &mut Phase) -> Result<Self, Failure> {
        let singular = || {
            Failure::usage(
                "this is a singular point: there the constraints give no tangent space",
            )
        };
        let mut point = phase.point()?;
        let mut quotient = Quotient::at(&mut phase.field, &point).ok_or_else(singular)?;
        if quotient.chart.is_singular(&mut phase.field, &point) {
            return Err(Failure::usage(
                "this is a singular point: constraints that repeat each other here do not do so beside it",
            ));
        }
        let mut here = quotient.point(&point).ok_or_else(singular)?;
        let (mut all, mut frame, mut left) = (Vec::new(), Vec::new(), None);
        let mut rates = Vec::new();
        if !here.is_equilibrium() && !phase.field.has_time {
            all = symmetries(&mut phase.field, &quotient.chart, &point);
            let moving = MovingFrame::of(&phase.field, &all, &point);
            if let Some(moving) = moving.filter(MovingFrame::is_steady) {
                phase.field.frame = Some(moving.frame);
                point = phase.point()?;
                quotient = Quotient::at(&mut phase.field, &point).ok_or_else(singular)?;
                here = quotient.point(&point).ok_or_else(singular)?;
                left = Some(beside(&phase.field, &quotient, &here, &point, &all));
                rates = moving.rates;
                let named = all.iter().map(|s| s.name.clone()).zip(rates.iter().copied());
                frame = named.filter(|(_, rate)| rate.abs() > 1e-12).collect();
            }
        }
        Ok(Self { point, quotient, here, symmetries: all, rates, frame, beside: left })
    }

    /// The equilibrium or steady motion next to a state that is none.
    fn nearest(&self, phase: &mut Phase) -> Option<Vec<f64>> {
        if let Some(moving) = MovingFrame::of(&phase.field, &self.symmetries, &self.point) {
            phase.field.frame = Some(moving.frame);
            let mut found = None;
            if let Ok(point) = phase.field.at(self.point.t, &self.point.y)
                && let Some(quotient) = Quotient::at(&mut phase.field, &point)
            {
                found = quotient.settle(&mut phase.field, &point);
            }
            phase.field.frame = None;
            if let Some(found) = found {
                return Some(found.y);
            }
        }
        self.quotient.nearest(&mut phase.field, &self.point).map(|found| found.y)
    }

    /// Names of symmetries that lead from an equilibrium to others.
    fn moving_symmetries(&mut self, phase: &mut Phase, values: &[[f64; 2]]) -> Vec<String> {
        if phase.field.frame.is_some() || !zeros(values).contains(&true) {
            return Vec::new();
        }
        self.symmetries = symmetries(&mut phase.field, &self.quotient.chart, &self.point);
        let size = self.point.y.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let moves = |s: &&AffineSymmetry| {
            let moved = phase.field.prolonged(&s.frame, &self.point.y);
            self.quotient.variables.iter().any(|&c| moved[c].abs() > 1e-9 * size)
        };
        self.symmetries.iter().filter(moves).map(|s| s.name.clone()).collect()
    }
}

/// The dimension of the family of steady motions, and the verdict beside the symmetries of a moving frame.
pub(crate) fn judge_in_frame(
    phase: &mut Phase,
    setting: &Setting,
    beside: &Beside,
    values: &[[f64; 2]],
) -> (usize, Stability, StabilityReason) {
    use {Stability as S, StabilityReason as R};
    let zero = zeros(values).into_iter().filter(|z| *z).count();
    let family = if zero > 0 { steady_family(phase, setting, beside) } else { 0 };
    let signs = growth(values);
    let neutral = signs.iter().filter(|sign| **sign == 0).count();
    let is_definite = |phase: &mut Phase| {
        let Phase { model, dynamics, field, .. } = phase;
        let Setting { quotient, point, symmetries, .. } = setting;
        is_energy_definite((&*model, &*dynamics), field, quotient, point, Some(symmetries))
    };
    if signs.contains(&1) {
        (family, S::Unstable, R::Growth)
    } else if neutral == 0 {
        (family, S::AsymptoticallyStable, R::Decay)
    } else if neutral == zero && zero == family {
        (family, S::Stable, R::Family(family))
    } else if is_definite(phase) {
        (family, S::Stable, R::Energy)
    } else if zero > family {
        (family, S::Undecided, R::Degenerate)
    } else {
        (family, S::Undecided, R::Oscillation)
    }
}

/// Directions in which the matrix beside the symmetries vanishes, and along which there are other steady motions.
fn steady_family(phase: &mut Phase, setting: &Setting, beside: &Beside) -> usize {
    /// How far along, and what may then be left of the rates: it is of second order.
    const STEP: f64 = 1e-4;
    const LEFT: f64 = 1e-6;
    let (k, quotient) = (beside.kept.len(), &setting.quotient);
    let split = singular_values(&beside.matrix, k, k);
    let largest = split.values.first().copied().unwrap_or(0.0).max(1e-300);
    let flat = split.values.iter().zip(&split.directions);
    let kernel: Vec<Vec<f64>> = flat
        .filter(|(s, _)| **s <= 1e-9 * largest || largest <= 1e-12)
        .map(|(_, direction)| direction.clone())
        .collect();
    let frame = phase.field.frame.take();
    let mut found = 0;
    for direction in kernel {
        let mut y = setting.point.y.clone();
        for (&i, x) in beside.kept.iter().zip(&direction) {
            y[quotient.variables[i]] += STEP * x;
        }
        let t = setting.point.t;
        let there = quotient.chart.complete(&mut phase.field, t, &mut y);
        let there = there.and_then(|()| phase.field.at(t, &y)).ok();
        let moving =
            there.and_then(|there| MovingFrame::of(&phase.field, &setting.symmetries, &there));
        found += usize::from(moving.is_some_and(|moving| moving.left <= LEFT));
    }
    phase.field.frame = frame;
    found
}

fn linearized(model: &Model, request: &LinearizeRequest) -> Result<Linearization, Failure> {
    let mut phase = Phase::new(model, request)?;
    let mut setting = Setting::new(&mut phase)?;
    let backend = request.backend.unwrap_or_default();
    let by_inputs = inputs(&mut phase, backend)?;
    let columns = by_inputs.as_ref().map_or(0, |by| by.count);
    let mut input_matrix = match &by_inputs {
        Some(by) => setting.quotient.by_parameters(&setting.point, by).unwrap_or_default(),
        None => Vec::new(),
    };
    let (mut matrix, mut rates) = (setting.here.matrix.clone(), setting.here.rates.clone());
    let mut variables = setting.quotient.variables.clone();
    if let Some(beside) = &setting.beside {
        matrix.clone_from(&beside.matrix);
        rates = beside.of(&rates);
        variables = beside.kept.iter().map(|&i| variables[i]).collect();
        let column = |j: usize| -> Vec<f64> {
            beside.of(&input_matrix
                .iter()
                .skip(j)
                .step_by(columns)
                .copied()
                .collect::<Vec<_>>())
        };
        let all: Vec<Vec<f64>> = (0..columns).map(column).collect();
        let rows = (0..variables.len()).flat_map(|i| all.iter().map(move |list| list[i]));
        input_matrix = rows.collect();
    }
    let w = variables.len();
    let zeros = zero_multiplicity(&matrix, w);
    let values = eigenvalues(w, &matrix)
        .map(|values| with_zeros(&values, zeros, &matrix))
        .ok_or_else(|| Failure::usage("the eigenvalues could not be computed"))?;
    let is_equilibrium = setting.beside.is_some() || setting.here.is_equilibrium();
    let (family, stability, reason) = match &setting.beside {
        Some(beside) => judge_in_frame(&mut phase, &setting, beside, &values),
        None => phase.judge(&setting.quotient, &setting.point, &values),
    };
    let explained = if is_equilibrium {
        setting.moving_symmetries(&mut phase, &values)
    } else {
        Vec::new()
    };
    // What is in balance at one time only is no equilibrium.
    let is_sought = !is_equilibrium && !phase.field.has_time;
    let nearest = if is_sought { setting.nearest(&mut phase) } else { None };
    let second_order = second_order(&phase, &setting.quotient, &setting.point, &matrix)
        .filter(|_| setting.beside.is_none());
    let Phase { model: workspace, dynamics, field, .. } = &mut phase;
    let full = FullForm::at(workspace, dynamics, field, &setting.point, by_inputs.as_ref())
        .map_err(|_| Failure::usage("the matrices in all coordinates are not finite here"))?;
    let given = given_formulas(&phase, request.at.as_deref());
    let mut numbers =
        vec![("A", matrix.as_slice(), w), ("B", input_matrix.as_slice(), columns)];
    if let Some(SecondOrder { coordinates, mass, damping, stiffness }) = &second_order {
        let u = coordinates.len();
        numbers.extend([("M", &mass[..], u), ("C", &damping[..], u), ("K", &stiffness[..], u)]);
    }
    numbers.retain(|(.., columns)| *columns > 0);
    let place = symbolic::Place {
        model: &phase.model,
        dynamics: &phase.dynamics,
        field: &phase.field,
        quotient: &setting.quotient,
        point: &setting.point,
        given: &given,
        inputs: &phase.model.hybrid.inputs,
    };
    let formulas = place.matrices(&numbers);
    let name = |c: usize| phase.field.names[c].clone();
    let parameters = &phase.model.parameters;
    Ok(Linearization {
        title: model.name().to_owned(),
        principle: match &phase.dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle),
            Dynamics::Ordinary(_) => None,
        },
        t: phase.t,
        state: phase.named(&phase.y),
        variables: variables.iter().map(|&c| name(c)).collect(),
        cyclic: setting
            .quotient
            .cyclic
            .iter()
            .map(|&c| (name(c), setting.point.rates[c]))
            .collect(),
        second_order,
        modes: values.iter().map(|&value| eigenvector(w, &matrix, value)).collect(),
        nearest: nearest.map(|y| phase.named(&y)),
        matrix,
        eigenvalues: values,
        rates,
        is_equilibrium,
        family,
        zeros,
        frame: setting.frame,
        symmetries: explained,
        inputs: phase.model.hybrid.inputs.iter().map(|&k| parameters[k].name.clone()).collect(),
        input_matrix,
        full,
        formulas,
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
    let free =
        |&j: &usize| quotient.chart.free.iter().position(|&free| free == quotient.variables[j]);
    let columns: Vec<usize> = velocities.iter().map(free).collect::<Option<_>>()?;
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
        let terms = (0..u).map(|b| mass[a * u + b] * matrix[velocities[b] * w + column]);
        let (sum, size) = terms.fold((0.0, 0.0_f64), |(s, m), x| (s + x, m + x.abs()));
        if sum.abs() <= 1e-14 * size { 0.0 } else { -sum }
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
