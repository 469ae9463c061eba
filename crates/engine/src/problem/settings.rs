//! What a run is asked for, and what it then does.

use pfaff_model::{Declarations, Principle};
use pfaff_solver::{Method, OdeOptions};

use crate::error::Failure;
use crate::run::bvp::Guess;

/// What the caller asks for; what is `None` comes from the model's `solve` line or its defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Instead of the model's own.
    pub principle: Option<Principle>,
    /// Start.
    pub t0: Option<f64>,
    /// End.
    pub t1: Option<f64>,
    /// Local error ≤ tolerance·(1 + |y|) a step.
    pub tolerance: Option<f64>,
    /// `auto`, `dop853`, `taylor`, `rk4`
    pub method: Option<String>,
    /// Output times.
    pub at: Option<Vec<f64>>,
    /// How many evenly spaced output times.
    pub samples: Option<usize>,
    /// The step of a fixed-step method, or the first one.
    pub step: Option<f64>,
    /// The most steps a run may take.
    pub max_steps: Option<usize>,
    /// Between given ends: where the search begins.
    pub guess: Option<Guess>,
    /// Between given ends: parameters with other values, whose motions are found first and then led to the
    /// values of the model.
    pub lead: Vec<(String, f64)>,
    /// Between given ends: the seconds that the search may take.
    pub seconds: Option<f64>,
}

/// A request with everything filled in.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) t0: f64,
    pub(crate) times: Vec<f64>,
    /// Whether the method is left to the engine.
    pub(crate) auto: bool,
    /// Whether the run is repeated many times, so that what takes long to compile pays.
    pub(crate) often: bool,
    pub(crate) options: OdeOptions,
}

/// The methods by name.
const METHODS: [(&str, Method); 4] = [
    ("auto", Method::Dop853),
    ("dop853", Method::Dop853),
    ("taylor", Method::Taylor),
    ("rk4", Method::Rk4),
];

/// The name of a method.
pub(crate) fn method_name(method: Method) -> &'static str {
    match method {
        Method::Dop853 => "dop853",
        Method::Taylor => "taylor",
        Method::Rk4 => "rk4",
    }
}

impl Settings {
    pub(crate) fn new(model: &Declarations, request: &Request) -> Result<Self, Failure> {
        let usage = |message: String| Err(Failure::Usage(message));
        let solve = &model.solve;
        let t0 = request.t0.or(solve.range.map(|r| r.0)).unwrap_or(0.0);
        let Some(t1) = request.t1.or(solve.range.map(|r| r.1)) else {
            return usage("the model has no `solve t = …` line: give the end with --t1".into());
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
        let word = request.method.as_deref().unwrap_or(&solve.method);
        let Some((_, method)) = METHODS.iter().find(|(name, _)| *name == word) else {
            return usage(format!(
                "the method `{word}` is not built: choose `auto`, `dop853`, `taylor` or `rk4`"
            ));
        };
        let step = request.step.or(solve.step);
        if step.is_some_and(|h| !h.is_finite() || h <= 0.0) {
            return usage("the step must be positive".into());
        }
        if *method == Method::Rk4 && step.is_none() {
            return usage(
                "`rk4` has a fixed step: give it with `step = …` in `solve` or --step".into(),
            );
        }
        let times = match &request.at {
            Some(at) => chosen(at, t0, t1)?,
            None => even(t0, t1, request.samples.unwrap_or(solve.samples))?,
        };
        let most = OdeOptions::default().max_steps;
        Ok(Self {
            t0,
            times,
            auto: word == "auto",
            often: false,
            options: OdeOptions {
                t0,
                t1,
                tolerance,
                method: *method,
                step,
                max_steps: request.max_steps.unwrap_or(most),
            },
        })
    }
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
        return Err(Failure::Usage(format!("{samples} samples: choose from 2 to 10000000")));
    }
    let last = (samples - 1) as f64;
    let at = |i: usize| {
        if i + 1 == samples { t1 } else { t0 + (t1 - t0) * (i as f64 / last) }
    };
    Ok((0..samples).map(at).collect())
}
