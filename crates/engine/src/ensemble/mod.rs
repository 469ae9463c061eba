//! Ensembles: many motions of one model with other values.
//!
//! Each case is what [`run`](crate::run) gives for the model with these values, to the last bit, on any thread and in
//! any order. [`Cases`] says what is varied; who calls chooses the cases, the threads and what is kept.

pub(crate) mod cases;
mod distribution;
pub(crate) mod sequence;

use std::fmt::Write as _;

use pfaff_model::{Files, Overrides, ParseErrors, Source, closest};

use crate::error::Error;
use crate::model::Model;
use crate::motion::Motion;
use crate::pipeline::run_watched;
use crate::problem::settings::Run;
use crate::run::progress::Progress;

/// A model of which some parameters and initial values are varied.
///
/// ```
/// use pfaff::{Cases, Ensemble, NoFiles, Overrides, Run, Source};
/// let text = "coordinates x\nparameters k = 1\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1";
/// let cases = Cases::default().vary("k=1..4:4, x'(0)=[0, 1]")?;
/// let source = Source::new("oscillator", text);
/// let ensemble = Ensemble::new(source, Overrides::default(), &NoFiles, &cases, Run::to(1.0))?;
/// assert_eq!(ensemble.columns(), ["k", "x'(0)"]);
/// let motion = ensemble.motion(&cases.values(6), &mut |_| true)?;
/// assert!((motion.position("x")?.last() - 2.0_f64.cos()).abs() < 1e-9);
/// # Ok::<(), pfaff::Error>(())
/// ```
pub struct Ensemble<'a> {
    source: Source,
    overrides: Overrides,
    files: &'a (dyn Files + Sync),
    varied: Vec<Varied>,
    request: Run,
    first: Model,
}

/// One quantity that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Varied {
    Parameter(String),
    /// By its name in `initial`.
    Initial(String),
}

impl Varied {
    /// The quantity of this name: a parameter, or a value at the start with or without `(0)`.
    fn named(name: &str, model: &Model) -> Result<Self, Error> {
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
    fn column(&self) -> String {
        match self {
            Self::Parameter(name) => name.clone(),
            Self::Initial(name) => format!("{name}(0)"),
        }
    }
}

impl<'a> Ensemble<'a> {
    /// A model whose cases are run as asked for.
    ///
    /// # Errors
    ///
    /// [`Error`] if the model cannot be read, or has nothing of a name that is varied.
    pub fn new(
        source: Source,
        overrides: Overrides,
        files: &'a (dyn Files + Sync),
        cases: &cases::Cases,
        request: Run,
    ) -> Result<Self, Error> {
        let values = cases.values(0);
        let known = read(&source, &overrides, files, cases.names(), &values)?;
        let mut varied: Vec<Varied> = Vec::with_capacity(values.len());
        for name in cases.names() {
            let one = Varied::named(name, &known)?;
            if varied.contains(&one) {
                return Err(Error::Usage(format!("`{}` is varied twice", one.column())));
            }
            varied.push(one);
        }
        let mut ensemble = Self { source, overrides, files, varied, request, first: known };
        ensemble.first = ensemble.model(&values)?;
        Ok(ensemble)
    }

    /// The names of what is varied, as columns of a table: `a`, `x'(0)`.
    pub fn columns(&self) -> Vec<String> {
        self.varied.iter().map(Varied::column).collect()
    }

    /// The model of the first case.
    pub fn first(&self) -> &Model {
        &self.first
    }

    /// The model with these values, one for each name that is varied.
    ///
    /// # Errors
    ///
    /// [`Error`] if the text makes no model with them.
    pub fn model(&self, values: &[f64]) -> Result<Model, Error> {
        let mut overrides = self.overrides.clone();
        for (varied, value) in self.varied.iter().zip(values) {
            let (list, name) = match varied {
                Varied::Parameter(name) => (&mut overrides.set, name),
                Varied::Initial(name) => (&mut overrides.initial, name),
            };
            assign(list, name, *value);
        }
        Ok(Model::read(self.source.clone(), &overrides, self.files)?)
    }

    /// The motion with these values; `watch` sees after each step what was computed so far, and may end it.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin.
    pub fn motion(
        &self,
        values: &[f64],
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<Motion, Error> {
        run_watched(&self.model(values)?, &self.request, watch)
    }
}

/// Adds `name=value` to a list of assignments.
fn assign(list: &mut Option<String>, name: &str, value: f64) {
    let list = list.get_or_insert_with(String::new);
    if !list.trim().is_empty() {
        list.push_str(", ");
    }
    // The shortest digits that read back as the same number.
    let _ = write!(list, "{name}={value:?}");
}

/// The model as it stands. Parameters that the text leaves open have the values of the first case.
fn read(
    source: &Source,
    overrides: &Overrides,
    files: &dyn Files,
    names: &[String],
    values: &[f64],
) -> Result<Model, ParseErrors> {
    let errors = match Model::read(source.clone(), overrides, files) {
        Ok(model) => return Ok(model),
        Err(errors) => errors,
    };
    let open: Vec<&str> = errors
        .diagnostics
        .iter()
        .filter(|d| d.code == "E0501")
        .map(|d| errors.source.slice(d.span))
        .collect();
    let mut overrides = overrides.clone();
    for (name, value) in names.iter().zip(values).filter(|(n, _)| open.contains(&n.as_str())) {
        assign(&mut overrides.set, name, *value);
    }
    Model::read(source.clone(), &overrides, files)
}
