//! Parameters from measured motions: least squares on the sensitivities.
//!
//! $$ \min_p \sum_i \rho(r_i), \qquad r_i = \frac{y_i(t_i; p) - d_i}{\sigma_i} \qquad (\mathrm F) $$
//!
//! by the method of Levenberg and Marquardt, with $\partial r/\partial p$ from the variational equations. A robust
//! loss $\rho$ enters as weights $\rho'$ that are renewed in every step. Parameters at a bound that would leave it are
//! held. Without given $\sigma$, those of the columns are estimated from their residuals, again and again.
//!
//! **Confidence.** The covariance is $(J^\top J)^{-1}$, times the reduced $\chi^2$ if the $\sigma$ are estimated; an
//! interval has the quantile of Student's distribution that belongs to 95 %.
//!
//! **What cannot be known.** Directions in which the singular values of $J$, with columns scaled by the sizes of the
//! parameters, vanish up to the errors of the motion.

mod data;
mod request;
mod student;
mod values;

pub use data::{Measurements, named_bounds, named_values};
pub use request::{Estimate, Fit, FitRequest, Loss};

use pfaff_solver::{least_squares, singular_values};

use crate::analysis::fit::student::student_quantile;
use crate::analysis::fit::values::{with_parameters, with_values};
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::{Motion, Series};
use crate::problem::settings::{Run, Settings};

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
    let found = Problem::new(model, data, request).and_then(|mut problem| problem.solve());
    found.map_err(|failure| failure.in_source(&model.source))
}

/// Most steps of an iteration, and how often the standard deviations are estimated.
const STEPS: usize = 100;
const PASSES: usize = 4;
/// Steps below this part of the parameters, or of the sum of squares, end the iteration.
const SMALL: f64 = 1e-9;
/// Singular values below this part of the largest are errors of the motion.
const VANISHING: f64 = 1e-6;

struct Problem<'a> {
    /// The model with every quantity that is sought as a parameter.
    model: Model,
    data: &'a Measurements,
    names: Vec<String>,
    /// The parameters by index, their values, sizes and bounds.
    places: Vec<usize>,
    values: Vec<f64>,
    sizes: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    columns: Vec<Column>,
    loss: Loss,
    run: Run,
    has_sigmas: bool,
    notes: Vec<String>,
}

/// A column of the data, and where its values are in a motion.
struct Column {
    name: String,
    quantity: Fitted,
    values: Vec<Option<f64>>,
    /// One for each value.
    sigmas: Vec<f64>,
}

/// What a column is compared with, by index.
#[derive(Clone, Copy, Debug)]
enum Fitted {
    Position(usize),
    Velocity(usize),
    Multiplier(usize),
    Observed(usize),
}

/// Residuals, their slopes by rows, and the motion.
struct Evaluation {
    residuals: Vec<f64>,
    slopes: Vec<f64>,
    loss: f64,
    motion: Motion,
}

impl<'a> Problem<'a> {
    fn new(
        model: &Model,
        data: &'a Measurements,
        request: &FitRequest,
    ) -> Result<Self, Failure> {
        let last = data.t[data.t.len() - 1];
        let t0 = request.run.t0.or(model.solve.range.map(|r| r.0)).unwrap_or(0.0);
        if data.t[0] < t0 {
            return Err(Failure::Usage(format!(
                "the data begin at t = {}, before the motion, which starts at t = {t0}",
                data.t[0]
            )));
        }
        let t1 = if last > t0 { last } else { t0 + 1.0 };
        let run = Run {
            t1: Some(t1),
            at: Some(data.t.clone()),
            samples: None,
            outputs_only: true,
            sensitivities: Vec::new(),
            ..request.run.clone()
        };
        Settings::new(model, &run)?;
        if request.parameters.is_empty() {
            return Err(Failure::usage("no parameters are asked for"));
        }
        let (model, places) = with_parameters(model, &request.parameters, t0)?;
        let names: Vec<String> =
            places.iter().map(|&k| model.parameters[k].name.clone()).collect();
        let values: Vec<f64> = places.iter().map(|&k| model.parameters[k].value).collect();
        let mut bounds = vec![[f64::NEG_INFINITY, f64::INFINITY]; names.len()];
        for (name, low, high) in &request.bounds {
            let Some(k) = names.iter().position(|n| n == name) else {
                return Err(Failure::Usage(format!(
                    "`{name}` has bounds but is not asked for"
                )));
            };
            if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) {
                return Err(Failure::Usage(format!(
                    "the bounds {low} and {high} of `{name}` do not ascend"
                )));
            }
            bounds[k] = [*low, *high];
        }
        let mut notes = Vec::new();
        let columns = columns(&model, data, request, &mut notes)?;
        let measured = columns.iter().flat_map(|c| &c.values).flatten().count();
        if measured < names.len() {
            return Err(Failure::Usage(format!(
                "{} parameters cannot be found from {measured} values: more parameters than data",
                names.len()
            )));
        }
        let has_sigmas = columns.iter().any(|c| c.sigmas.iter().any(|s| *s != 1.0))
            || !request.sigmas.is_empty();
        Ok(Self {
            sizes: values.iter().map(|x| if *x == 0.0 { 1.0 } else { x.abs() }).collect(),
            values: values.iter().zip(&bounds).map(|(x, b)| x.clamp(b[0], b[1])).collect(),
            model,
            data,
            names,
            places,
            bounds,
            columns,
            loss: request.loss,
            run,
            has_sigmas,
            notes,
        })
    }

    /// The motion with these values; `None` where it does not reach the data.
    fn motion(
        &self,
        values: &[f64],
        is_differentiated: bool,
    ) -> Result<Option<Motion>, Failure> {
        let model = with_values(&self.model, &self.places, values);
        let sensitivities = if is_differentiated { self.names.clone() } else { Vec::new() };
        let run = Run { sensitivities, ..self.run.clone() };
        let motion = crate::pipeline::run_with(&model, None, &run, &mut |_| true)?;
        let is_whole =
            motion.t.last() == self.data.t.last() && motion.t.len() == self.distinct();
        Ok(is_whole.then_some(motion))
    }

    /// How many different times the data have.
    fn distinct(&self) -> usize {
        1 + self.data.t.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    fn evaluate(&self, values: &[f64]) -> Result<Option<Evaluation>, Failure> {
        let Some(motion) = self.motion(values, true)? else { return Ok(None) };
        let (mut residuals, mut slopes) = (Vec::new(), Vec::new());
        let mut row = 0;
        for (i, t) in self.data.t.iter().enumerate() {
            if i > 0 && *t != self.data.t[i - 1] {
                row += 1;
            }
            for column in &self.columns {
                let Some(measured) = column.values[i] else { continue };
                let σ = column.sigmas[i];
                let series = column.quantity.series([
                    &motion.q,
                    &motion.v,
                    &motion.multipliers,
                    &motion.observed,
                ]);
                residuals.push((series.map_or(f64::NAN, |s| s.values[row]) - measured) / σ);
                for by in &motion.sensitivities {
                    let series =
                        column.quantity.series([&by.q, &by.v, &by.multipliers, &by.observed]);
                    slopes.push(series.map_or(f64::NAN, |s| s.values[row]) / σ);
                }
            }
        }
        if residuals.iter().chain(&slopes).any(|x| !x.is_finite()) {
            return Ok(None);
        }
        let loss = residuals.iter().map(|r| self.loss.value(*r)).sum();
        Ok(Some(Evaluation { residuals, slopes, loss, motion }))
    }

    fn solve(&mut self) -> Result<Fit, Failure> {
        let mut found = self.evaluate(&self.values)?.ok_or_else(|| {
            Failure::usage(
                "the motion of the model does not reach all times of the data: begin with other parameters",
            )
        })?;
        let (mut iterations, mut is_converged) = (0, false);
        let passes = if self.has_sigmas { 1 } else { PASSES };
        for pass in 0..passes {
            if pass > 0 && !self.estimate_sigmas(&mut found) {
                break;
            }
            (iterations, is_converged) = self.minimise(&mut found, iterations)?;
        }
        Ok(self.finish(found, iterations, is_converged))
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
            let weights: Vec<f64> =
                found.residuals.iter().map(|r| self.loss.weight(*r).sqrt()).collect();
            let slope =
                |i: usize, k: usize| weights[i] * found.slopes[i * p + k] * self.sizes[k];
            let gradient: Vec<f64> = (0..p)
                .map(|k| (0..n).map(|i| slope(i, k) * weights[i] * found.residuals[i]).sum())
                .collect();
            let is_free = |k: usize| {
                let [low, high] = self.bounds[k];
                let is_leaving = (self.values[k] <= low && gradient[k] > 0.0)
                    || (self.values[k] >= high && gradient[k] < 0.0);
                !is_leaving
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
            let f = free.len();
            let (mut matrix, mut right) = (vec![0.0; (n + f) * f], vec![0.0; n + f]);
            for i in 0..n {
                for (c, &k) in free.iter().enumerate() {
                    matrix[i * f + c] = slope(i, k);
                }
                right[i] = -weights[i] * found.residuals[i];
            }
            for (c, length) in lengths.iter().enumerate() {
                // NOTE: a parameter that does nothing stays where it is.
                let floor = length.max(1e-9 * longest).max(f64::MIN_POSITIVE);
                matrix[(n + c) * f + c] = damping.sqrt() * floor;
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

    /// Takes the root mean square of the residuals of each column for its standard deviation; says whether that
    /// changes something.
    fn estimate_sigmas(&mut self, found: &mut Evaluation) -> bool {
        if self.columns.len() < 2 {
            return false;
        }
        let residuals = self.by_column(found);
        let mut sizes: Vec<f64> = Vec::new();
        for (column, residuals) in self.columns.iter().zip(&residuals) {
            let (count, sum) =
                residuals.iter().flatten().fold((0.0, 0.0), |(n, s), r| (n + 1.0, s + r * r));
            let scale = column.values.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
            // NOTE: data without noise leave residuals of rounding, which say nothing.
            sizes.push(
                (sum / f64::max(count, 1.0)).sqrt().max(1e-9 * scale).max(f64::MIN_POSITIVE),
            );
        }
        for (column, size) in self.columns.iter_mut().zip(&sizes) {
            column.sigmas.fill(*size);
        }
        match self.evaluate(&self.values) {
            Ok(Some(again)) => {
                *found = again;
                true
            }
            _ => false,
        }
    }

    /// Residuals in the units of the data.
    fn by_column(&self, found: &Evaluation) -> Vec<Vec<Option<f64>>> {
        let mut next = found.residuals.iter();
        let mut lists: Vec<Vec<Option<f64>>> = vec![Vec::new(); self.columns.len()];
        for i in 0..self.data.t.len() {
            for (column, list) in self.columns.iter().zip(&mut lists) {
                let residual = column.values[i].and_then(|_| next.next());
                list.push(residual.map(|r| r * column.sigmas[i]));
            }
        }
        lists
    }

    fn finish(&self, found: Evaluation, iterations: usize, is_converged: bool) -> Fit {
        let (n, p) = (found.residuals.len(), self.names.len());
        let weights: Vec<f64> =
            found.residuals.iter().map(|r| self.loss.weight(*r).sqrt()).collect();
        let matrix: Vec<f64> = (0..n * p)
            .map(|at| weights[at / p] * found.slopes[at] * self.sizes[at % p])
            .collect();
        let is_held = |k: usize| {
            self.values[k] <= self.bounds[k][0] || self.values[k] >= self.bounds[k][1]
        };
        let svd = singular_values(&matrix, n, p);
        let largest = svd.values.first().copied().unwrap_or_default();
        let is_known = |σ: f64| σ > VANISHING * largest;
        let squares: f64 =
            found.residuals.iter().zip(&weights).map(|(r, w)| (w * r).powi(2)).sum();
        let rank = svd.values.iter().filter(|σ| is_known(**σ)).count();
        let freedom = n.saturating_sub(rank);
        let variance = if self.has_sigmas { 1.0 } else { squares / freedom.max(1) as f64 };
        let mut covariance = vec![vec![0.0; p]; p];
        let mut is_determined = vec![true; p];
        let mut unidentifiable = Vec::new();
        for (σ, direction) in svd.values.iter().zip(&svd.directions) {
            let step: Vec<f64> =
                direction.iter().zip(&self.sizes).map(|(v, s)| v * s).collect();
            if is_known(*σ) {
                for i in 0..p {
                    for j in 0..p {
                        covariance[i][j] += variance * step[i] * step[j] / (σ * σ);
                    }
                }
                continue;
            }
            let most = direction.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let largest = step.iter().zip(direction).filter(|(_, v)| v.abs() > 1e-4 * most);
            let largest =
                largest.fold(0.0_f64, |m: f64, (x, _)| if x.abs() > m.abs() { *x } else { m });
            let mut parts = Vec::new();
            for k in 0..p {
                if direction[k].abs() > 1e-4 * most {
                    is_determined[k] = false;
                    parts.push((self.names[k].clone(), step[k] / largest));
                }
            }
            unidentifiable.push(parts);
        }
        let quantile = if self.has_sigmas {
            student_quantile(f64::INFINITY)
        } else {
            student_quantile(freedom as f64)
        };
        let mut notes = self.notes.clone();
        let mut parameters = Vec::new();
        for k in 0..p {
            if !is_determined[k] || is_held(k) {
                for j in 0..p {
                    covariance[k][j] = f64::NAN;
                    covariance[j][k] = f64::NAN;
                }
            }
            if is_held(k) {
                notes.push(format!("`{}` is held at its bound", self.names[k]));
            }
            let sigma = covariance[k][k].sqrt();
            let value = self.values[k];
            parameters.push(Estimate {
                name: self.names[k].clone(),
                value,
                sigma,
                interval: [value - quantile * sigma, value + quantile * sigma],
            });
        }
        for parts in &unidentifiable {
            if let [(name, _)] = parts.as_slice() {
                notes.push(format!("the data do not depend on `{name}`"));
            }
        }
        if !is_converged {
            notes.push(
                "the iteration did not converge: the values are the best ones found".into(),
            );
        }
        if freedom == 0 && !self.has_sigmas {
            notes.push("there are as many parameters as values: nothing is left to estimate errors from".into());
        }
        let residuals = self.by_column(&found);
        let plain = residuals.iter().flatten().flatten();
        let sum: f64 = if self.has_sigmas {
            found.residuals.iter().map(|r| r * r).sum()
        } else {
            plain.map(|r| r * r).sum()
        };
        Fit {
            parameters,
            covariance,
            residual: (sum / n as f64).sqrt(),
            unidentifiable,
            values: n,
            iterations,
            is_converged,
            residuals: self.columns.iter().map(|c| c.name.clone()).zip(residuals).collect(),
            sigmas: self
                .columns
                .iter()
                .map(|c| {
                    let given = c.sigmas.first().copied().unwrap_or(f64::NAN);
                    let is_estimated = !self.has_sigmas && self.columns.len() < 2;
                    (c.name.clone(), if is_estimated { variance.sqrt() } else { given })
                })
                .collect(),
            notes,
            motion: found.motion,
        }
    }
}

impl Fitted {
    fn series(self, [q, v, multipliers, observed]: [&[Series]; 4]) -> Option<&Series> {
        match self {
            Self::Position(k) => q.get(k),
            Self::Velocity(k) => v.get(k),
            Self::Multiplier(k) => multipliers.get(k),
            Self::Observed(k) => observed.get(k),
        }
    }
}

/// The columns that are fitted.
fn columns(
    model: &Model,
    data: &Measurements,
    request: &FitRequest,
    notes: &mut Vec<String>,
) -> Result<Vec<Column>, Failure> {
    let quantity = |name: &str| {
        let place = |k: Option<usize>, of: fn(usize) -> Fitted| k.map(of);
        let coordinates = &model.coordinates;
        let observed = model.observed.iter().position(|o| o.name == name);
        place(observed, Fitted::Observed)
            .or_else(|| {
                place(coordinates.iter().position(|c| c.name == name), Fitted::Position)
            })
            .or_else(|| {
                let own = name.strip_suffix('\'')?;
                place(coordinates.iter().position(|c| c.name == own), Fitted::Velocity)
            })
            .or_else(|| {
                let inner =
                    name.strip_prefix("lambda(").or_else(|| name.strip_prefix("mu("))?;
                let own = inner.strip_suffix(')')?;
                place(model.constraints.iter().position(|c| c.name == own), Fitted::Multiplier)
            })
    };
    let is_usual = |name: &str| !matches!(quantity(name), None | Some(Fitted::Multiplier(_)));
    let names: Vec<String> = if request.columns.is_empty() {
        let usual = data.columns.iter().map(|c| c.0.clone());
        usual.filter(|name| is_usual(name)).collect()
    } else {
        request.columns.clone()
    };
    if request.columns.is_empty() {
        let is_other = |name: &&String| !is_usual(name) && !name.starts_with("sigma(");
        let others: Vec<String> = data
            .columns
            .iter()
            .map(|c| &c.0)
            .filter(is_other)
            .map(|n| format!("`{n}`"))
            .collect();
        if !others.is_empty() {
            notes.push(format!("not fitted: {}", others.join(", ")));
        }
    }
    if names.is_empty() {
        return Err(Failure::usage(
            "the data have no column of a coordinate, a velocity or an observed quantity of the model",
        ));
    }
    let mut list = Vec::new();
    for name in names {
        let Some(values) = data.column(&name) else {
            return Err(Failure::Usage(format!("the data have no column `{name}`")));
        };
        let Some(quantity) = quantity(&name) else {
            return Err(Failure::Usage(format!(
                "`{name}` is no coordinate, velocity, multiplier or observed quantity of the model"
            )));
        };
        let given = request.sigmas.iter().find(|(n, _)| *n == name).map_or(1.0, |(_, σ)| *σ);
        let own = data.column(&format!("sigma({name})"));
        let sigmas: Vec<f64> =
            (0..values.len()).map(|i| own.and_then(|own| own[i]).unwrap_or(given)).collect();
        if sigmas.iter().any(|σ| !σ.is_finite() || *σ <= 0.0) {
            return Err(Failure::Usage(format!(
                "the standard deviations of `{name}` must be positive"
            )));
        }
        list.push(Column { name, quantity, values: values.to_vec(), sigmas });
    }
    for (name, _) in &request.sigmas {
        if !list.iter().any(|column| column.name == *name) {
            return Err(Failure::Usage(format!(
                "`{name}` has a standard deviation but is not fitted"
            )));
        }
    }
    Ok(list)
}
