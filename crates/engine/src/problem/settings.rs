//! What a run is asked for, and what it then does.

use pfaff_model::{Declarations, Dynamics, Principle};
use pfaff_program::Backend;
use pfaff_solver::{self as solver, OdeOptions};

use crate::clock::{Clock, Interrupt};
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::problem::guess::Guess;
use crate::system::geometric::GeometricMethod;

/// What is asked of a run; what is `None` comes from the model's `solve` line or its defaults.
///
/// ```
/// use pfaff::{Method, Run};
/// let run = Run::to(5.0).tolerance(1e-12).method(Method::Taylor).samples(11);
/// assert_eq!((run.t1, run.samples), (Some(5.0), Some(11)));
/// ```
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Run {
    /// Instead of the model's own.
    pub principle: Option<Principle>,
    /// Start.
    pub t0: Option<f64>,
    /// End.
    pub t1: Option<f64>,
    /// Local error of a step in parts of each component and of its largest value so far.
    pub tolerance: Option<f64>,
    /// How it is solved.
    pub method: Option<Method>,
    /// Output times.
    pub at: Option<Vec<f64>>,
    /// How many evenly spaced output times.
    pub samples: Option<usize>,
    /// How many digits the numbers have.
    pub precision: Option<Precision>,
    /// The step of a fixed-step method, or the first one.
    pub step: Option<f64>,
    /// The most steps a run may take.
    pub max_steps: Option<usize>,
    /// Between given ends: where the search begins.
    pub guess: Option<Guess>,
    /// Between given ends: parameters with other values, whose motions are found first and then led to the
    /// values of the model.
    pub lead: Vec<(String, f64)>,
    /// Between given ends: the seconds that the search may take. Needs a clock.
    pub seconds: Option<f64>,
    /// Of white forces: another seed gives other paths.
    pub seed: Option<u64>,
    /// Of white forces: the number of the path among those of a seed.
    pub stream: Option<u64>,
    /// Parameters and initial values by which the motion is differentiated: `a`, `x(0)`, `x'(0)`, `mu(c)(0)`.
    pub sensitivities: Vec<String>,
    /// Whether second derivatives by the same quantities are computed too.
    pub second: bool,
    /// Whether the state-transition matrix is computed.
    pub transition: bool,
    /// A scalar whose gradient is computed by the adjoint equations.
    pub gradient: Option<GradientRequest>,
    /// Whether the motion is kept at the output times alone, without the states in between.
    pub outputs_only: bool,
    /// Whether the state in which a run stops early is an output too.
    pub with_last_state: bool,
    /// Whether the motion is integrated once and not audited: its verdict is `unchecked`. For pictures that follow a
    /// hand, which are drawn again with an audit when it rests.
    pub draft: bool,
    /// For statistics, and for limits of time.
    pub clock: Option<Clock>,
    /// Whether the run, or a search, is to end with what it has.
    pub interrupt: Option<Interrupt>,
    /// Whether rows may be forgotten once the watcher has them ([`Progress::forget`](crate::Progress::forget)): then
    /// the motion has some of them only, evenly spaced, as its audit needs them.
    pub streams: bool,
    /// What evaluates compiled expressions; the fastest backend that is available, if `None`. All backends
    /// give the same bits.
    pub backend: Option<Backend>,
}

impl Run {
    /// A run from the start that the model says, or 0, to this time.
    pub fn to(t1: f64) -> Self {
        Self { t1: Some(t1), ..Self::default() }
    }

    /// Begins at this time.
    #[must_use]
    pub fn from(self, t0: f64) -> Self {
        Self { t0: Some(t0), ..self }
    }

    /// Under this principle instead of the model's own.
    #[must_use]
    pub fn principle(self, principle: Principle) -> Self {
        Self { principle: Some(principle), ..self }
    }

    /// Local error of a step in parts of each component and of its largest value so far.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance: Some(tolerance), ..self }
    }

    /// By this method.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// With output at these times.
    #[must_use]
    pub fn at(self, times: impl Into<Vec<f64>>) -> Self {
        Self { at: Some(times.into()), ..self }
    }

    /// With output at so many evenly spaced times.
    #[must_use]
    pub fn samples(self, samples: usize) -> Self {
        Self { samples: Some(samples), ..self }
    }

    /// With numbers of these digits.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision: Some(precision), ..self }
    }

    /// With this step: of a fixed-step method, or the first one.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self { step: Some(step), ..self }
    }

    /// With at most so many steps.
    #[must_use]
    pub fn max_steps(self, steps: usize) -> Self {
        Self { max_steps: Some(steps), ..self }
    }

    /// With derivatives by these parameters and initial values, as in `"a, m, x'(0)"`.
    #[must_use]
    pub fn sensitivity(self, names: &str) -> Self {
        Self { sensitivities: separated(names), ..self }
    }

    /// With second derivatives by the quantities of [`sensitivity`](Self::sensitivity).
    #[must_use]
    pub fn second(self) -> Self {
        Self { second: true, ..self }
    }

    /// With the state-transition matrix.
    #[must_use]
    pub fn transition(self) -> Self {
        Self { transition: true, ..self }
    }

    /// With the gradient of an observed quantity, a coordinate or a velocity at the end, or of `integral(NAME)`, by
    /// these parameters and initial values; by all parameters if there are none.
    #[must_use]
    pub fn gradient(self, of: &str, by: &str) -> Self {
        let by = if by.trim().is_empty() { Vec::new() } else { separated(by) };
        Self { gradient: Some(GradientRequest { of: of.trim().to_owned(), by }), ..self }
    }

    /// Whether something is to be differentiated.
    pub(crate) fn has_derivatives(&self) -> bool {
        !self.sensitivities.is_empty() || self.transition || self.gradient.is_some()
    }

    /// With a clock, so that statistics have times.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Ends with what it has when this says so.
    #[must_use]
    pub fn interrupt(self, interrupt: Interrupt) -> Self {
        Self { interrupt: Some(interrupt), ..self }
    }

    /// Compiled expressions are evaluated by this backend.
    #[must_use]
    pub fn backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The backend asked for, else the fastest one.
    pub(crate) fn chosen_backend(&self) -> Backend {
        self.backend.unwrap_or_default()
    }
}

/// A scalar of a motion, and what it is differentiated by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradientRequest {
    /// The name of an observed quantity, a coordinate or a velocity, at the end of the run; or `integral(NAME)`, over
    /// the run.
    pub of: String,
    /// Parameters and initial values, as for sensitivities; all parameters if empty.
    pub by: Vec<String>,
}

impl GradientRequest {
    /// Whether it is of an integral over the run.
    pub(crate) fn is_integral(&self) -> bool {
        self.of.starts_with("integral(")
    }
}

/// How many digits the numbers of a run have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Doubles, of some sixteen digits.
    #[default]
    Double,
    /// Sums of two doubles, of some thirty digits: the motion is computed a second time by Taylor series of these
    /// numbers, and what is shown is that one.
    DoubleDouble,
}

impl Precision {
    /// All of them with their words.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Double, "double"), (Self::DoubleDouble, "double_double")];

    /// The one of a word.
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(precision, _)| *precision)
    }

    /// What a run asks for, or what the model says.
    pub(crate) fn of(model: &Declarations, request: &Run) -> Self {
        let written =
            if model.solve.is_double_double { Self::DoubleDouble } else { Self::Double };
        request.precision.unwrap_or(written)
    }
}

/// How a run is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// What suits the problem.
    #[default]
    Auto,
    /// Dormand and Prince's method of order 8(5,3).
    Dop853,
    /// Taylor series of an order that follows from the tolerance.
    Taylor,
    /// Radau IIA of orders 5, 9 and 13, for stiff equations.
    Radau,
    /// A Rosenbrock method of order 4, for stiff equations at loose tolerances.
    Rosenbrock,
    /// The classical method of order 4 with a fixed step.
    Rk4,
    /// The discrete Lagrange–d'Alembert principle with a fixed step; with holonomic constraints, RATTLE.
    Dalembert,
    /// Gauss's symplectic method of order 4 with a fixed step; with holonomic constraints, RATTLE composed to order 4.
    Gauss,
    /// A method of order 2 with a fixed step that keeps the energy and the constraints.
    Energy,
    /// Between given ends: by multiple shooting.
    Shooting,
    /// Between given ends: by Gauss collocation.
    Collocation,
    /// Between given ends with memory: by a two-sided sinc basis.
    Spectral,
}

impl Method {
    /// All methods with their words.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Auto, "auto"),
        (Self::Dop853, "dop853"),
        (Self::Taylor, "taylor"),
        (Self::Radau, "radau"),
        (Self::Rosenbrock, "rosenbrock"),
        (Self::Rk4, "rk4"),
        (Self::Dalembert, "dalembert"),
        (Self::Gauss, "gauss"),
        (Self::Energy, "energy"),
        (Self::Shooting, "shooting"),
        (Self::Collocation, "collocation"),
        (Self::Spectral, "spectral"),
    ];

    /// Its word in the model language.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(method, _)| *method == self).map_or("auto", |(_, word)| word)
    }

    /// The method of a word.
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(method, _)| *method)
    }

    /// What a run is solved by: what it asks for, or what the model says.
    pub(crate) fn of(model: &Declarations, request: &Run) -> Self {
        request.method.or_else(|| Self::from_name(&model.solve.method)).unwrap_or_default()
    }
}

/// A request with everything filled in.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Settings {
    pub(crate) t0: f64,
    /// When the whole run begins, of which this may be a segment.
    pub(crate) first: f64,
    pub(crate) times: Vec<f64>,
    pub(crate) spacing: OutputSpacing,
    /// Whether the method is left to the engine.
    pub(crate) auto: bool,
    /// A geometric method, where one is asked for.
    pub(crate) geometric: Option<GeometricMethod>,
    /// Whether the run is repeated many times, so that what takes long to compile pays.
    pub(crate) often: bool,
    pub(crate) options: OdeOptions,
    /// Places in time where the equations are not smooth, ascending: steps end there.
    pub(crate) breaks: Vec<f64>,
    pub(crate) outputs_only: bool,
    pub(crate) with_last_state: bool,
    pub(crate) draft: bool,
    pub(crate) clock: Option<Clock>,
    pub(crate) interrupt: Option<Interrupt>,
    pub(crate) streams: bool,
    pub(crate) backend: Backend,
}

/// How the output times came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputSpacing {
    /// Evenly spaced: where the state jumps, a row before and a row after are added.
    Even,
    /// Chosen one by one.
    Chosen,
}

/// The name of the method of a run.
pub(crate) fn method_name(settings: &Settings) -> &'static str {
    if let Some(method) = settings.geometric {
        return method.name();
    }
    match settings.options.method {
        solver::Method::Dop853 => "dop853",
        solver::Method::Taylor => "taylor",
        solver::Method::Radau => "radau",
        solver::Method::Rosenbrock => "rosenbrock",
        solver::Method::Rk4 => "rk4",
        solver::Method::Own => "own",
    }
}

impl Settings {
    /// When the run begins and ends.
    pub fn span(&self) -> (f64, f64) {
        (self.options.t0, self.options.t1)
    }

    /// The tolerance of a step.
    pub fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    /// Whether the method is left to the engine, or is the explicit one with steps of its own choice.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.geometric.is_none() && (self.auto || self.options.method == solver::Method::Dop853)
    }

    /// The output times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// What a run of the model does that is asked for this.
    ///
    /// # Errors
    ///
    /// [`Error`] says what cannot be done.
    pub fn of(model: &Model, request: &Run) -> Result<Self, Error> {
        Self::new(model, request).map_err(|failure| failure.in_source(&model.source))
    }

    pub(crate) fn new(model: &Declarations, request: &Run) -> Result<Self, Failure> {
        let usage = |message: String| Err(Failure::Usage(message));
        let solve = &model.solve;
        let t0 = request.t0.or(solve.range.map(|r| r.0)).unwrap_or(0.0);
        let Some(t1) = request.t1.or(solve.range.map(|r| r.1)) else {
            return usage(
                "the run has no end: add `solve t = 0..20` to the model, or set `t1`".into(),
            );
        };
        if !t0.is_finite() || !t1.is_finite() || t1 <= t0 {
            return usage(format!(
                "the run must go forward in time, but it would go from {t0} to {t1}"
            ));
        }
        let tolerance = request.tolerance.unwrap_or(solve.tolerance);
        let positive = tolerance.is_finite() && tolerance > 0.0;
        if !positive {
            return usage(format!("the tolerance must be positive, not {tolerance}"));
        }
        let asked = Method::of(model, request);
        let method = match asked {
            Method::Auto | Method::Dop853 => solver::Method::Dop853,
            Method::Taylor => solver::Method::Taylor,
            Method::Radau => solver::Method::Radau,
            Method::Rosenbrock => solver::Method::Rosenbrock,
            Method::Rk4 => solver::Method::Rk4,
            Method::Dalembert | Method::Gauss | Method::Energy => solver::Method::Own,
            Method::Shooting | Method::Collocation | Method::Spectral => {
                let name = asked.name();
                return usage(format!(
                    "the method `{name}` is for motions between given ends: choose `auto`, `dop853`, `taylor`, \
                     `radau`, `rosenbrock`, \
                     `rk4`, `dalembert`, `gauss` or `energy`"
                ));
            }
        };
        let step = request.step.or(solve.step);
        if step.is_some_and(|h| !h.is_finite() || h <= 0.0) {
            return usage("the step must be positive".into());
        }
        if method.has_fixed_step() && step.is_none() {
            return usage(format!(
                "`{}` has a fixed step: write `step = …` in `solve`, or set `step`",
                asked.name()
            ));
        }
        let times = match &request.at {
            Some(at) => chosen(at, t0, t1)?,
            None => even(t0, t1, request.samples.unwrap_or(solve.samples))?,
        };
        let most = OdeOptions::default().max_steps;
        Ok(Self {
            t0,
            first: t0,
            times,
            spacing: if request.at.is_some() {
                OutputSpacing::Chosen
            } else {
                OutputSpacing::Even
            },
            auto: asked == Method::Auto,
            geometric: match asked {
                Method::Dalembert => Some(GeometricMethod::Dalembert),
                Method::Gauss => Some(GeometricMethod::Gauss),
                Method::Energy => Some(GeometricMethod::Energy),
                _ => None,
            },
            often: false,
            backend: request.chosen_backend(),
            options: OdeOptions {
                t0,
                t1,
                tolerance,
                absolute: 0.0,
                method,
                step,
                max_steps: request.max_steps.unwrap_or(most),
                falls_back: false,
                watches_stiffness: asked == Method::Auto,
                // Errors of mechanical systems are measured by their energy too.
                follows_decay: matches!(model.dynamics, Dynamics::Equations(_)),
                order: None,
                longest: f64::INFINITY,
            },
            breaks: Vec::new(),
            outputs_only: request.outputs_only,
            with_last_state: request.with_last_state,
            draft: request.draft,
            clock: request.clock,
            interrupt: request.interrupt,
            streams: request.streams,
        })
    }
}

/// Names that are separated by commas outside of brackets.
pub fn separated(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            names.push(String::new());
        } else if let Some(last) = names.last_mut() {
            last.push(letter);
        }
    }
    names.iter().map(|name| name.trim().to_owned()).collect()
}

/// The given times, ascending and each once.
fn chosen(at: &[f64], t0: f64, t1: f64) -> Result<Vec<f64>, Failure> {
    if let Some(t) = at.iter().find(|t| !(t0..=t1).contains(*t)) {
        return Err(Failure::Usage(format!("the time {t} lies outside the run, {t0} to {t1}")));
    }
    let mut times = at.to_vec();
    times.sort_by(f64::total_cmp);
    times.dedup();
    Ok(times)
}

fn even(t0: f64, t1: f64, samples: usize) -> Result<Vec<f64>, Failure> {
    if !(2..=10_000_000).contains(&samples) {
        return Err(Failure::Usage(format!(
            "the number of samples must be from 2 to 10000000, not {samples}"
        )));
    }
    let last = (samples - 1) as f64;
    let at = |i: usize| {
        if i + 1 == samples { t1 } else { t0 + (t1 - t0) * (i as f64 / last) }
    };
    Ok((0..samples).map(at).collect())
}
