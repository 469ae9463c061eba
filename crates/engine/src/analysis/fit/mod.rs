//! Parameters from measured motions: least squares on the sensitivities.
//!
//! $$ \min_p \sum_i \rho(r_i), \qquad r_i = \frac{y_i(t_i; p) - d_i}{\sigma_i} \qquad (\mathrm F) $$
//!
//! by the method of Levenberg and Marquardt, with $\partial r/\partial p$ from the variational equations. A robust
//! loss $\rho$ enters as weights $\rho'$ that are renewed in every step. Parameters at a bound that would leave it are
//! held. Without given $\sigma$, those of the columns are estimated from their residuals, again and again: by their
//! root mean square, or for a robust loss by $1.4826$ times the median of $|r|$, which outliers do not move.
//!
//! **Confidence.** The covariance is $(J^\top J)^{-1}$, times the reduced $\chi^2$ if the $\sigma$ are estimated; an
//! interval has the quantile of Student's distribution that belongs to 95 %. For a robust loss with estimated
//! $\sigma$ it is that of Huber (1981), `confidence.rs`.
//!
//! **What cannot be known.** Directions in which the singular values of $J$, with columns scaled by the sizes of the
//! parameters, vanish up to the errors of the motion; how far the data stay the same along them is tried out
//! (`freedom.rs`).

mod columns;
mod confidence;
mod data;
mod freedom;
mod request;
mod student;

pub(crate) use data::cells;
pub use data::{Measurements, named_bounds, named_priors, named_values};
pub use request::{Estimate, Fit, FitRequest, FitRun, Freedom, Loss, Prior};

use pfaff_solver::least_squares;

use crate::analysis::fit::columns::{Column, columns};
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::Motion;
use crate::problem::settings::{Run, Settings};
use crate::run::sensitivity::values::{with_parameters, with_values};

/// Finds parameters of a model from measured data.
///
/// ```
/// use pfaff::{FitRequest, Measurements, Model, fit};
/// let model = Model::parse("coordinates x\nparameters k = 3\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\n")?;
/// let rows: String = (0..20).map(|i| {
///     let t = 0.2 * f64::from(i);
///     format!("{t},{}\n", (2.0 * t).cos())
/// }).collect();
/// let data = Measurements::read("measured.csv", &format!("t,x\n{rows}"))?;
/// let request = FitRequest { parameters: vec!["k".into()], ..FitRequest::default() };
/// let found = fit(&model, &data, &request)?;
/// assert!((found.parameters[0].value - 4.0).abs() < 1e-6);
/// # Ok::<(), pfaff::Error>(())
/// ```
///
/// # Errors
///
/// [`Error`] if a name is not there, if there are more parameters than data, or if no motion reaches the data.
pub fn fit(model: &Model, data: &Measurements, request: &FitRequest) -> Result<Fit, Error> {
    let run = FitRun { data: data.clone(), values: Vec::new() };
    fit_runs(model, &[run], request)
}

/// Finds parameters of a model from the data of several runs, which share them.
///
/// # Errors
///
/// As [`fit`].
pub fn fit_runs(model: &Model, runs: &[FitRun], request: &FitRequest) -> Result<Fit, Error> {
    let found = Problem::new(model, runs, request).and_then(|mut problem| problem.solve());
    found.map_err(|failure| failure.in_source(&model.source))
}

/// Most steps of an iteration, and how often the standard deviations are estimated.
const STEPS: usize = 100;
const PASSES: usize = 4;
const ROBUST_PASSES: usize = 20;
/// Standard deviations that change by less than this part are known.
const SETTLED: f64 = 1e-3;
/// A parameter on which the data depend less than this part of what they depend on others does nothing.
const NOTHING: f64 = 1e-9;
/// Steps below this part of the parameters, or of the sum of squares, end the iteration.
const SMALL: f64 = 1e-9;
/// Singular values below this part of the largest are errors of the motion.
const VANISHING: f64 = 1e-6;

struct Problem {
    /// The model with every quantity that is sought or differs between runs as a parameter.
    model: Model,
    runs: Vec<RunData>,
    names: Vec<String>,
    /// The parameters by index, their values, sizes and bounds.
    places: Vec<usize>,
    values: Vec<f64>,
    sizes: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    /// Which are held for the time being.
    held: Vec<bool>,
    /// Mean and standard deviation of what is known before.
    priors: Vec<(usize, f64, f64)>,
    loss: Loss,
    has_sigmas: bool,
    wants_profile: bool,
    notes: Vec<String>,
}

/// The data of one run.
struct RunData {
    t: Vec<f64>,
    columns: Vec<Column>,
    request: Run,
    /// Parameters with values of their own, by index.
    fixed: Vec<(usize, f64)>,
}

impl RunData {
    /// How many different times the data have.
    fn distinct(&self) -> usize {
        1 + self.t.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

/// Residuals, their slopes by rows, and the motion.
struct Evaluation {
    /// Those of the data, run by run, and then those of the priors.
    residuals: Vec<f64>,
    slopes: Vec<f64>,
    loss: f64,
    /// Of the first run.
    motion: Motion,
}

impl Problem {
    fn new(model: &Model, runs: &[FitRun], request: &FitRequest) -> Result<Self, Failure> {
        let t0 = request.run.t0.or(model.solve.range.map(|r| r.0)).unwrap_or(0.0);
        if request.parameters.is_empty() {
            return Err(Failure::usage("no parameters are asked for"));
        }
        if runs.is_empty() {
            return Err(Failure::usage("there are no data"));
        }
        let mut wanted = request.parameters.clone();
        let sought = wanted.len();
        for (name, _) in runs.iter().flat_map(|run| &run.values) {
            if request.parameters.contains(name) {
                return Err(Failure::Usage(format!(
                    "`{name}` is sought, and cannot have values of its own in single runs"
                )));
            }
            if !wanted.contains(name) {
                wanted.push(name.clone());
            }
        }
        let (model, all) = with_parameters(model, &wanted, t0)?;
        let places = all[..sought].to_vec();
        let mut notes = Vec::new();
        let mut list = Vec::new();
        for (k, run) in runs.iter().enumerate() {
            let place = |name: &String| wanted.iter().position(|w| w == name);
            let fixed = run.values.iter().filter_map(|(name, x)| Some((all[place(name)?], *x)));
            let mut told = Vec::new();
            list.push(RunData {
                t: run.data.t.clone(),
                columns: columns(&model, &run.data, request, &mut told)?,
                request: timed(&model, &run.data, request, t0)?,
                fixed: fixed.collect(),
            });
            if k == 0 {
                notes = told;
            }
        }
        let names: Vec<String> =
            places.iter().map(|&k| model.parameters[k].name.clone()).collect();
        let values: Vec<f64> = places.iter().map(|&k| model.parameters[k].value).collect();
        let place = |name: &str, what: &str| {
            names.iter().position(|n| n == name).ok_or_else(|| {
                Failure::Usage(format!("`{name}` has {what} but is not asked for"))
            })
        };
        let mut bounds = vec![[f64::NEG_INFINITY, f64::INFINITY]; names.len()];
        for (name, low, high) in &request.bounds {
            let k = place(name, "bounds")?;
            if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) {
                return Err(Failure::Usage(format!(
                    "the bounds {low} and {high} of `{name}` do not ascend"
                )));
            }
            bounds[k] = [*low, *high];
        }
        let mut priors = Vec::new();
        for Prior { name, mean, sigma } in &request.priors {
            let k = place(name, "a prior")?;
            if !(*sigma > 0.0 && sigma.is_finite() && mean.is_finite()) {
                return Err(Failure::Usage(format!(
                    "the standard deviation of the prior of `{name}` must be positive"
                )));
            }
            priors.push((k, *mean, *sigma));
        }
        let columns = || list.iter().flat_map(|run| &run.columns);
        let measured = columns().flat_map(|c| &c.values).flatten().count() + priors.len();
        if measured < names.len() {
            return Err(Failure::Usage(format!(
                "{} parameters cannot be found from {measured} values: more parameters than data",
                names.len()
            )));
        }
        let has_sigmas =
            columns().any(|c| c.sigmas.iter().any(|s| *s != 1.0)) || !request.sigmas.is_empty();
        Ok(Self {
            sizes: values.iter().map(|x| if *x == 0.0 { 1.0 } else { x.abs() }).collect(),
            values: values.iter().zip(&bounds).map(|(x, b)| x.clamp(b[0], b[1])).collect(),
            held: vec![false; names.len()],
            model,
            runs: list,
            names,
            places,
            bounds,
            priors,
            loss: request.loss,
            has_sigmas,
            wants_profile: request.profile,
            notes,
        })
    }

    /// The motion of a run with these values; `None` where it does not reach the data.
    fn motion(&self, run: &RunData, values: &[f64]) -> Result<Option<Motion>, Failure> {
        let mut places = self.places.clone();
        let mut values = values.to_vec();
        for &(k, x) in &run.fixed {
            places.push(k);
            values.push(x);
        }
        let model = with_values(&self.model, &places, &values);
        let request = Run { sensitivities: self.names.clone(), ..run.request.clone() };
        let motion = crate::pipeline::run_with(&model, None, &request, &mut |_| true)?;
        let is_whole = motion.t.last() == run.t.last() && motion.t.len() == run.distinct();
        Ok(is_whole.then_some(motion))
    }

    fn evaluate(&self, values: &[f64]) -> Result<Option<Evaluation>, Failure> {
        let (mut residuals, mut slopes) = (Vec::new(), Vec::new());
        let mut first = None;
        for run in &self.runs {
            let Some(motion) = self.motion(run, values)? else { return Ok(None) };
            let mut row = 0;
            for (i, t) in run.t.iter().enumerate() {
                if i > 0 && *t != run.t[i - 1] {
                    row += 1;
                }
                for column in &run.columns {
                    let Some(measured) = column.values[i] else { continue };
                    let σ = column.sigmas[i];
                    let lists = [&motion.q, &motion.v, &motion.multipliers, &motion.observed];
                    let series = column.quantity.series(lists.map(Vec::as_slice));
                    let value = series.map_or(f64::NAN, |s| s.values[row]);
                    residuals.push((value - measured) / σ);
                    for by in &motion.sensitivities {
                        let lists = [&by.q, &by.v, &by.multipliers, &by.observed];
                        let series = column.quantity.series(lists.map(Vec::as_slice));
                        slopes.push(series.map_or(f64::NAN, |s| s.values[row]) / σ);
                    }
                }
            }
            first.get_or_insert(motion);
        }
        let mut loss: f64 = residuals.iter().map(|r| self.loss.value(*r)).sum();
        for &(k, mean, σ) in &self.priors {
            let r = (values[k] - mean) / σ;
            residuals.push(r);
            loss += r * r;
            slopes.extend((0..self.names.len()).map(|j| if j == k { 1.0 / σ } else { 0.0 }));
        }
        if residuals.iter().chain(&slopes).any(|x| !x.is_finite()) {
            return Ok(None);
        }
        Ok(first.map(|motion| Evaluation { residuals, slopes, loss, motion }))
    }

    /// The roots of the weights of all residuals; priors are never down-weighted.
    fn weights(&self, found: &Evaluation) -> Vec<f64> {
        let measured = found.residuals.len() - self.priors.len();
        let weight = |(i, r): (usize, &f64)| {
            if i < measured { self.loss.weight(*r).sqrt() } else { 1.0 }
        };
        found.residuals.iter().enumerate().map(weight).collect()
    }

    fn solve(&mut self) -> Result<Fit, Failure> {
        let mut found = self.evaluate(&self.values)?.ok_or_else(|| {
            Failure::usage(
                "the motion of the model does not reach all times of the data: begin with other parameters",
            )
        })?;
        let (mut iterations, mut is_converged) = (0, false);
        let is_robust = self.loss != Loss::Squares;
        let passes = match self.has_sigmas {
            true => 1,
            false if is_robust => ROBUST_PASSES,
            false => PASSES,
        };
        let loss = self.loss;
        if is_robust && !self.has_sigmas {
            // NOTE: before the sizes of the errors are known, nothing tells an outlier.
            self.loss = Loss::Squares;
        }
        for pass in 0..passes {
            self.loss = if pass > 0 { loss } else { self.loss };
            if pass > 0 && !self.estimate_sigmas(&mut found) {
                break;
            }
            (iterations, is_converged) = self.minimise(&mut found, iterations)?;
        }
        self.loss = loss;
        self.finish(found, iterations, is_converged)
    }

    /// Levenberg and Marquardt's iteration.
    fn minimise(
        &mut self,
        found: &mut Evaluation,
        mut iterations: usize,
    ) -> Result<(usize, bool), Failure> {
        let p = self.names.len();
        let mut damping = 1e-3_f64;
        for _ in 0..STEPS {
            let n = found.residuals.len();
            let weights = self.weights(found);
            let slope =
                |i: usize, k: usize| weights[i] * found.slopes[i * p + k] * self.sizes[k];
            let gradient: Vec<f64> = (0..p)
                .map(|k| (0..n).map(|i| slope(i, k) * weights[i] * found.residuals[i]).sum())
                .collect();
            let is_free = |k: usize| {
                let [low, high] = self.bounds[k];
                let is_leaving = (self.values[k] <= low && gradient[k] > 0.0)
                    || (self.values[k] >= high && gradient[k] < 0.0);
                !is_leaving && !self.held[k]
            };
            let free: Vec<usize> = (0..p).filter(|&k| is_free(k)).collect();
            if free.is_empty() {
                return Ok((iterations, true));
            }
            let lengths: Vec<f64> = free
                .iter()
                .map(|&k| (0..n).map(|i| slope(i, k) * slope(i, k)).sum::<f64>().sqrt())
                .collect();
            let longest = lengths.iter().fold(0.0_f64, |m, x| m.max(*x));
            // NOTE: a parameter that does nothing stays where it is: its slopes are rounding.
            let (free, lengths): (Vec<usize>, Vec<f64>) = free
                .into_iter()
                .zip(lengths)
                .filter(|(_, length)| *length > NOTHING * longest)
                .unzip();
            if free.is_empty() {
                return Ok((iterations, true));
            }
            let f = free.len();
            let (mut matrix, mut right) = (vec![0.0; (n + f) * f], vec![0.0; n + f]);
            for i in 0..n {
                for (c, &k) in free.iter().enumerate() {
                    matrix[i * f + c] = slope(i, k);
                }
                right[i] = -weights[i] * found.residuals[i];
            }
            for (c, length) in lengths.iter().enumerate() {
                matrix[(n + c) * f + c] = damping.sqrt() * length;
            }
            let step = least_squares(&matrix, n + f, f, &right, 1e-14).x;
            let mut values = self.values.clone();
            for (&k, δ) in free.iter().zip(&step) {
                let [low, high] = self.bounds[k];
                values[k] = (values[k] + δ * self.sizes[k]).clamp(low, high);
            }
            let change = (0..p)
                .map(|k| {
                    (values[k] - self.values[k]).abs() / self.sizes[k].max(values[k].abs())
                })
                .fold(0.0, f64::max);
            iterations += 1;
            let next = self.evaluate(&values)?;
            match next {
                Some(next) if next.loss <= found.loss => {
                    let gain = (found.loss - next.loss) / found.loss.max(f64::MIN_POSITIVE);
                    self.values = values;
                    *found = next;
                    damping = (0.1 * damping).max(1e-12);
                    if change < SMALL || (gain < SMALL && change < 1e-4) {
                        return Ok((iterations, true));
                    }
                }
                _ => {
                    if change < SMALL {
                        return Ok((iterations, true));
                    }
                    damping *= 10.0;
                    if damping > 1e12 {
                        return Ok((iterations, false));
                    }
                }
            }
        }
        Ok((iterations, false))
    }

    /// Takes the size of the residuals of each column for its standard deviation; says whether that changes something.
    fn estimate_sigmas(&mut self, found: &mut Evaluation) -> bool {
        let is_robust = self.loss != Loss::Squares;
        if self.runs[0].columns.len() < 2 && self.priors.is_empty() && !is_robust {
            return false;
        }
        let residuals = self.by_column(found);
        let columns = || self.runs.iter().flat_map(|run| &run.columns);
        let sizes: Vec<(String, f64)> = columns()
            .map(|column| {
                let same = || columns().zip(&residuals).filter(|(c, _)| c.name == column.name);
                let all: Vec<f64> =
                    same().flat_map(|(_, list)| list).flatten().copied().collect();
                let size = if is_robust { median_size(&all) } else { root_mean_square(&all) };
                let values = same().flat_map(|(c, _)| &c.values).flatten();
                let scale = values.fold(0.0_f64, |m, x| m.max(x.abs()));
                // NOTE: data without noise leave residuals of rounding, which say nothing.
                (column.name.clone(), size.max(1e-9 * scale).max(f64::MIN_POSITIVE))
            })
            .collect();
        let mut change = 0.0_f64;
        for column in self.runs.iter_mut().flat_map(|run| &mut run.columns) {
            let size = sizes.iter().find(|(name, _)| *name == column.name).map_or(1.0, |s| s.1);
            let before = column.sigmas.first().map_or(size, |s| *s);
            change = change.max((size / before - 1.0).abs());
            column.sigmas.fill(size);
        }
        match self.evaluate(&self.values) {
            Ok(Some(again)) => {
                *found = again;
                change > SETTLED
            }
            _ => false,
        }
    }

    /// Residuals in the units of the data, for each column of each run.
    fn by_column(&self, found: &Evaluation) -> Vec<Vec<Option<f64>>> {
        let mut next = found.residuals.iter();
        let mut all: Vec<Vec<Option<f64>>> = Vec::new();
        for run in &self.runs {
            let mut lists: Vec<Vec<Option<f64>>> = vec![Vec::new(); run.columns.len()];
            for i in 0..run.t.len() {
                for (column, list) in run.columns.iter().zip(&mut lists) {
                    let residual = column.values[i].and_then(|_| next.next());
                    list.push(residual.map(|r| r * column.sigmas[i]));
                }
            }
            all.extend(lists);
        }
        all
    }
}

fn root_mean_square(list: &[f64]) -> f64 {
    (list.iter().map(|r| r * r).sum::<f64>() / list.len().max(1) as f64).sqrt()
}

/// The standard deviation of normal errors by the median of their sizes.
fn median_size(list: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = list.iter().map(|r| r.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let half = sizes.len() / 2;
    let median = match sizes.len() {
        0 => 0.0,
        n if n % 2 == 1 => sizes[half],
        _ => 0.5 * (sizes[half - 1] + sizes[half]),
    };
    1.4826 * median
}

/// The run that belongs to data.
fn timed(
    model: &Model,
    data: &Measurements,
    request: &FitRequest,
    t0: f64,
) -> Result<Run, Failure> {
    if data.t[0] < t0 {
        return Err(Failure::Usage(format!(
            "the data begin at t = {}, before the motion, which starts at t = {t0}",
            data.t[0]
        )));
    }
    let last = data.t[data.t.len() - 1];
    let run = Run {
        t1: Some(if last > t0 { last } else { t0 + 1.0 }),
        at: Some(data.t.clone()),
        samples: None,
        outputs_only: true,
        sensitivities: Vec::new(),
        ..request.run.clone()
    };
    Settings::new(model, &run)?;
    Ok(run)
}
