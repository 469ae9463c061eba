//! A model made ready once and run many times, with other parameters and initial values.

use std::sync::{Mutex, PoisonError};

use pfaff_expr::{Expr, Role};
use pfaff_model::{Coordinate, Datum, Parameter, Quantity, Span, Workspace, closest};
use pfaff_program::GraphEvaluator;

use crate::ensemble::lanes::Lanes;
use crate::error::Error;
use crate::model::Model;
use crate::motion::Motion;
use crate::pipeline::{ReadyModel, run_watched};
use crate::problem::settings::{Precision, Run};
use crate::run::progress::Progress;

/// A model that is run again and again with other values: it is read, derived and compiled once.
///
/// It is shared between threads at no cost. Motions between given ends, with memory, with jumps and with branches are
/// derived anew in each run; [`is_ready`](Self::is_ready) says so.
///
/// ```
/// use pfaff::{Model, PreparedModel, Run};
/// let model = Model::parse("coordinates x\nparameters k = 1\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1")?;
/// let prepared = PreparedModel::new(&model, &["k", "x'(0)"], &Run::to(1.0))?;
/// let motion = prepared.run(&[4.0, 0.0])?;
/// assert!((motion.position("x")?.last() - 2.0_f64.cos()).abs() < 1e-9);
/// // Other settings compile nothing either.
/// let motion = prepared.motion(&[1.0, 1.0], &Run::to(2.0).tolerance(1e-8), &mut |_| true)?;
/// assert!((motion.position("x")?.last() - (2.0_f64.cos() + 2.0_f64.sin())).abs() < 1e-7);
/// # Ok::<(), pfaff::Error>(())
/// ```
pub struct PreparedModel {
    /// The model, with a parameter for each initial value that is varied.
    pub(super) model: Model,
    /// The parameters that are varied, by index.
    pub(super) places: Vec<usize>,
    pub(super) ready: Option<ReadyModel>,
    followers: Option<Followers>,
    request: Run,
}

/// One quantity that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Varied {
    Parameter(String),
    /// By its name in `initial`.
    Initial(String),
}

impl Varied {
    /// The quantity of this name: a parameter, or a value at the start with or without `(0)`.
    pub(super) fn named(name: &str, model: &Model) -> Result<Self, Error> {
        let plain = name.strip_suffix("(0)").unwrap_or(name).trim();
        let is_parameter = |name: &str| {
            let components = format!("{name}[");
            let vector = name.split_once('[').map(|(whole, _)| format!("{whole}["));
            model.parameters.iter().any(|p| {
                p.name == name || vector.as_ref().is_some_and(|v| p.name.starts_with(v))
            }) && !model.parameters.iter().any(|p| p.name.starts_with(&components))
        };
        if plain == name && is_parameter(name) {
            return Ok(Self::Parameter(name.to_owned()));
        }
        let order = plain.chars().filter(|&c| c == '\'').count();
        let base: String = plain.chars().filter(|&c| c != '\'' && !c.is_whitespace()).collect();
        if order <= 2 && model.coordinates.iter().any(|c| c.name == base) {
            return Ok(Self::Initial(base + &"'".repeat(order)));
        }
        let multiplier = plain.strip_prefix("mu(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(constraint) = multiplier
            && model.constraints.iter().any(|c| c.name == constraint)
        {
            return Ok(Self::Initial(plain.to_owned()));
        }
        let coordinates = model.coordinates.iter().map(|c| c.name.clone());
        let names: Vec<String> =
            model.parameters.iter().map(|p| p.name.clone()).chain(coordinates).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let hint = match closest(&base, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        Err(Error::Usage(format!(
            "`{name}` cannot be varied: it is no parameter and no value at the start; {hint}"
        )))
    }

    /// Its column in a table: a value at the start is not mistaken for one at the end.
    pub(super) fn column(&self) -> String {
        match self {
            Self::Parameter(name) => name.clone(),
            Self::Initial(name) => format!("{name}(0)"),
        }
    }
}

impl PreparedModel {
    /// Makes a model ready. What is varied are parameters (`a`, `J[1,2]`) and values at the start (`x(0)`, `x'(0)`,
    /// `mu(c)`).
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the model has nothing of a name, or the value of a parameter decides what the model is, such
    /// as a size or an order of a derivative: then the text must be read anew.
    pub fn new(model: &Model, varied: &[&str], request: &Run) -> Result<Self, Error> {
        let varied = varied.iter().map(|name| Varied::named(name, model));
        let varied = varied.collect::<Result<Vec<Varied>, Error>>()?;
        let (model, places) = with_places(model, &varied).map_err(|name| {
            Error::Usage(format!("`{name}` decides what the model is: read its text anew"))
        })?;
        // NOTE: what cannot begin with the values of the model may begin with others.
        let ready = ReadyModel::new(&model, request).ok().flatten();
        let followers = Followers::new(&model, &places);
        Ok(Self { model, places, ready, followers, request: request.clone() })
    }

    /// Makes a model ready; `None` where that saves nothing.
    pub(super) fn ready(
        model: &Model,
        varied: &[Varied],
        request: &Run,
    ) -> Result<Option<Self>, Error> {
        let Ok((model, places)) = with_places(model, varied) else { return Ok(None) };
        let ready = ReadyModel::new(&model, request)
            .map_err(|failure| failure.in_source(&model.source))?;
        let request = request.clone();
        let followers = Followers::new(&model, &places);
        Ok(ready.map(|ready| Self { model, places, ready: Some(ready), followers, request }))
    }

    /// Whether runs derive and compile nothing.
    pub fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// The motions in lanes, where that applies.
    pub(super) fn lanes(&self, request: &Run) -> Option<Lanes> {
        self.ready.as_ref().filter(|_| self.is_double(request))?.lanes(request, Lanes::new)
    }

    /// Whether doubles are enough: what is compiled has no more digits.
    fn is_double(&self, request: &Run) -> bool {
        Precision::of(&self.model, request) == Precision::Double
    }

    /// The model that is run.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The values that the model has of itself.
    pub(super) fn first_values(&self) -> Vec<f64> {
        self.places.iter().map(|&k| self.model.parameters[k].value).collect()
    }

    /// Writes values among those of all parameters; what is defined by them follows.
    pub(super) fn place(&self, values: &[f64], all: &mut [f64]) {
        for (&k, value) in self.places.iter().zip(values) {
            all[k] = *value;
        }
        if let Some(followers) = &self.followers {
            followers.write(all);
        }
    }

    /// The motion with these values, one for each name that is varied.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin.
    pub fn run(&self, values: &[f64]) -> Result<Motion, Error> {
        self.motion(values, &self.request, &mut |_| true)
    }

    /// The motion with these values and other settings. `watch` sees after each step what was computed so far, and may
    /// end it. Another principle, or a tolerance that asks for Taylor series of another order, is derived anew.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin.
    pub fn motion(
        &self,
        values: &[f64],
        request: &Run,
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<Motion, Error> {
        if values.len() != self.places.len() {
            let (given, wanted) = (values.len(), self.places.len());
            return Err(Error::Usage(format!("{wanted} values are varied, but {given} given")));
        }
        let pairs = self.places.iter().copied().zip(values.iter().copied());
        match &self.ready {
            Some(ready)
                if request.principle == self.request.principle
                    && !request.has_derivatives()
                    && self.is_double(request) =>
            {
                ready
                    .run(pairs, request, watch)
                    .map_err(|failure| failure.in_source(&self.model.source))
            }
            _ => {
                let mut workspace = self.model.workspace_with_families();
                workspace.set_parameters(pairs);
                run_watched(&Model::from(workspace.freeze()), request, watch)
            }
        }
    }
}

/// Parameters that are defined by those that are varied.
struct Followers {
    places: Vec<usize>,
    definitions: Mutex<(GraphEvaluator, Vec<f64>)>,
}

impl Followers {
    fn new(model: &Model, varied: &[usize]) -> Option<Self> {
        let workspace = model.workspace_with_families();
        let g = &workspace.graph;
        let (mut places, mut definitions) = (Vec::new(), Vec::new());
        let mut known: Vec<(Expr, Expr)> = Vec::new();
        for (k, parameter) in workspace.parameters.iter().enumerate() {
            let Some(definition) = parameter.definition else { continue };
            if varied.contains(&k) || g.double_of(definition).is_some() {
                continue;
            }
            let definition = g.substitute(&[definition], &known)[0];
            known.push((parameter.symbol, definition));
            places.push(k);
            definitions.push(definition);
        }
        let symbols = workspace.parameter_symbols();
        let evaluator = GraphEvaluator::new(g, &symbols, &[], &definitions).ok()?;
        let values = vec![0.0; places.len()];
        let is_empty = places.is_empty();
        let followers = Self { places, definitions: Mutex::new((evaluator, values)) };
        (!is_empty).then_some(followers)
    }

    fn write(&self, all: &mut [f64]) {
        let mut definitions = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        let (evaluator, values) = &mut *definitions;
        evaluator.evaluate(all, values);
        self.places.iter().zip(values).for_each(|(&k, value)| all[k] = *value);
    }
}

/// The model with a parameter for each varied value at the start, and the parameters that are varied; or the name of
/// what has no place.
fn with_places(model: &Model, varied: &[Varied]) -> Result<(Model, Vec<usize>), String> {
    let mut workspace = model.workspace_with_families();
    let mut places = Vec::with_capacity(varied.len());
    for one in varied {
        let place = match one {
            Varied::Parameter(name) => {
                let is_free = |p: &Parameter| {
                    p.name == *name && !workspace.structural.contains(&p.symbol)
                };
                workspace.parameters.iter().position(is_free)
            }
            Varied::Initial(name) => initial_place(&mut workspace, name),
        };
        places.push(place.ok_or_else(|| one.column())?);
    }
    Ok((Model::from(workspace.freeze()), places))
}

/// A parameter that is the value of this name at the start.
fn initial_place(model: &mut Workspace, name: &str) -> Option<usize> {
    let order = name.chars().filter(|&c| c == '\'').count() as u8;
    let base = name.trim_end_matches('\'');
    let multiplier = base.strip_prefix("mu(").and_then(|rest| rest.strip_suffix(')'));
    let quantity = match multiplier {
        Some(c) => Quantity::Multiplier(model.constraints.iter().position(|k| k.name == c)?),
        None if order < 2 => {
            let k = model.coordinates.iter().position(|c| c.name == base)?;
            Quantity::Coordinate(k, order)
        }
        None => return None,
    };
    let datum = model.initial.iter().position(|d| d.quantity == quantity);
    // NOTE: other initial values may be made of this one; then they have its value in them already.
    if let Quantity::Coordinate(k, _) = quantity {
        let Coordinate { position, velocity, .. } = model.coordinates[k];
        let itself = if order == 0 { position } else { velocity };
        let mut others = model.initial.iter().filter(|d| d.quantity != quantity);
        if others.any(|d| model.graph.contains(d.written, &[itself])) {
            return None;
        }
    }
    let name = format!("{name}(0)");
    let symbol = model.graph.symbol(&name, Role::Parameter);
    let (value, span) = match datum {
        Some(k) => (model.constant(model.initial[k].value), model.initial[k].span),
        None => (0.0, Span::default()),
    };
    let datum = datum.unwrap_or(model.initial.len());
    let given = Datum { quantity, value: symbol, written: symbol, span };
    if datum == model.initial.len() {
        model.initial.push(given);
    } else {
        model.initial[datum] = given;
    }
    model.parameters.push(Parameter { name, symbol, value, definition: None, span });
    Some(model.parameters.len() - 1)
}
