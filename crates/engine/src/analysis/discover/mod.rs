//! Velocity constraints from measured motions: which rows $\sum_i \omega_i(q)\,\dot q_i = 0$ do they obey?
//!
//! Positions are smoothed into positions and velocities with known errors (`smooth.rs`); rows with few terms of a
//! library of functions are sought that hold as far as these errors allow (`regression.rs`). Of the rows found, the
//! shortest are kept, each if it says something that those before do not:
//!
//! $$ \text{mean over samples of } \frac{|P^\perp\omega|^2}{|\omega|^2} > \tfrac1{10}, $$
//!
//! with $P^\perp$ across the rows before, in units of the velocities. They are integrable if
//! $d\omega_b(X, Y) = 0$ for all $X$, $Y$ that they allow (Frobenius).
//!
//! **Affine rows.** If there may be more rows, $\sum_i \omega_i(q)\,\dot q_i + \omega_t(q) = 0$ is sought, with time as
//! one more coordinate, whose velocity is 1 without error.
//!
//! **What is not a constraint.** A row that vanishes where all motions begin, although their velocities there do not:
//! straight lines through one point obey such rows without being constrained.

mod library;
mod model_text;
mod motions;
mod regression;
mod smooth;

pub use motions::MeasuredMotions;

use crate::analysis::discover::library::{Function, libraries};
use crate::analysis::discover::model_text::model_text;
use crate::analysis::discover::regression::{FoundRow, Regression, Sample};
use crate::analysis::discover::smooth::{Smoothed, smoothed};
use crate::error::Error;

/// Samples that take part, at most; of more, every second, third, … one.
const SAMPLES: usize = 2000;
/// Columns of a library, at most.
const COLUMNS: usize = 600;
/// Below so many motions what they obey may be chance.
const FEW: usize = 4;
/// What a row must say beyond those before.
const NEW: f64 = 0.1;
/// Sines of an angle whose error is larger say nothing.
const ANGLE: f64 = 0.25;
/// Coefficients below so many of their standard deviations say nothing.
const CERTAIN: f64 = 5.0;
/// $d\omega$ below this part of $\omega$ over the range of the motions counts as zero.
const CLOSED: f64 = 0.05;

/// The velocity constraints that some motions obey.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovery {
    /// The coordinates, in the order of the request.
    pub coordinates: Vec<String>,
    /// The rows.
    pub rows: Vec<DiscoveredRow>,
    /// Whether the rows together are integrable; `None` if there are none.
    pub is_integrable: Option<bool>,
    /// Motions, and samples of all of them.
    pub motions: usize,
    /// How many samples there are.
    pub samples: usize,
    /// Estimated standard deviation of the noise of each coordinate.
    pub noise: Vec<f64>,
    /// A model text with the rows as constraints.
    pub model: String,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// A row $\sum_i \omega_i(q)\,\dot q_i + \omega_t(q) = 0$.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredRow {
    /// The left side as the model language writes it.
    pub text: String,
    /// Its terms: what stands before the coefficient's velocity (`cos(phi)*y'`), the coefficient and its standard
    /// deviation, 0 for the coefficient that is 1 by choice.
    pub terms: Vec<DiscoveredTerm>,
    /// What is left of the row along the motions over what the noise explains, squared: about 1.
    pub ratio: f64,
}

/// A term of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredTerm {
    /// Function and velocity.
    pub term: String,
    /// Its coefficient.
    pub coefficient: f64,
    /// The standard deviation of the coefficient.
    pub sigma: f64,
}

/// Finds the velocity constraints that measured motions obey.
///
/// ```
/// use pfaff::{MeasuredMotions, discover};
/// // A knife edge along circles of several radii and centres.
/// let mut text = String::from("case,t,x,y,phi\n");
/// for case in 0..6 {
///     for k in 0..80 {
///         let (r, w) = (1.0 + 0.3 * f64::from(case), 0.5 + 0.2 * f64::from(case));
///         let (t, first) = (0.05 * f64::from(k), 0.7 * f64::from(case));
///         let phi = first + w * t;
///         let (x, y) = (first + r * phi.sin(), first * first - r * phi.cos());
///         text += &format!("{case},{t},{x},{y},{phi}\n");
///     }
/// }
/// let motions = MeasuredMotions::read("m.csv", &text, &["x", "y", "phi"])?;
/// let found = discover(&[motions])?;
/// assert_eq!(found.rows[0].text, "sin(phi)*x' - cos(phi)*y'");
/// # Ok::<(), pfaff::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Usage`] if there are too few samples.
pub fn discover(data: &[MeasuredMotions]) -> Result<Discovery, Error> {
    let Some(first) = data.first() else {
        return Err(Error::Usage("there are no data".into()));
    };
    let names = first.coordinates.clone();
    if data.iter().any(|d| d.coordinates != names) {
        return Err(Error::Usage("the data have different coordinates".into()));
    }
    let n = names.len();
    let motions: Vec<&(Vec<f64>, Vec<Vec<f64>>)> =
        data.iter().flat_map(|d| &d.motions).collect();
    let mut notes = Vec::new();
    let mut all: Vec<(usize, Vec<Smoothed>)> = Vec::new();
    let mut starts: Vec<usize> = Vec::new();
    for (k, (t, columns)) in motions.iter().enumerate() {
        let found = smoothed(t, columns);
        starts.push(all.len());
        let at = |j: usize| found.iter().map(|series| series[j]).collect::<Vec<Smoothed>>();
        all.extend((0..t.len()).map(|j| (k, at(j))));
    }
    let samples = weighted(&all);
    let noise = noise_of(&motions, &all);
    let error = |i: usize| {
        let mean = all.iter().map(|s| s.1[i].variance_q).sum::<f64>() / all.len() as f64;
        mean.sqrt()
    };
    let is_angle: Vec<bool> = (0..n).map(|i| error(i) < ANGLE).collect();
    for (name, _) in names.iter().zip(&is_angle).filter(|(_, is_angle)| !**is_angle) {
        notes.push(format!("{name} is too noisy for sines and cosines of it"));
    }
    let common = common_start(&samples, &all, &starts, n);
    let scale = sizes(&samples, n);
    let mut found = Rows { coordinates: n, kept: Vec::new(), covectors: Vec::new() };
    for functions in libraries(&is_angle, COLUMNS / n) {
        if found.kept.len() + 1 >= n.max(2) {
            break;
        }
        found.extend(&samples, &functions, &scale, common.as_deref());
    }
    if found.kept.len() + 1 < n.max(2)
        && let Some(functions) = libraries(&is_angle, COLUMNS / (n + 1)).first()
    {
        let samples = with_time(&samples);
        let scale = [scale.as_slice(), &[1.0]].concat();
        found.extend(&samples, functions, &scale, common.as_deref());
    }
    found.kept.sort_by_key(|row| {
        let factors: usize = row.terms.iter().map(|(_, f)| f.complexity()).sum();
        let places: Vec<usize> = row.terms.iter().map(|(i, _)| *i).collect();
        (factors, places)
    });
    let rows: Vec<DiscoveredRow> = found.kept.iter().map(|row| row.shown(&names)).collect();
    if !rows.is_empty() && motions.len() < FEW {
        notes.push(format!(
            "rows of {} only may hold by chance: ten motions that start in different directions are a good beginning",
            if motions.len() == 1 { "one motion".into() } else { format!("{} motions", motions.len()) }
        ));
    }
    let duration = |t: &[f64]| t[t.len() - 1] - t[0];
    let longest = motions.iter().map(|(t, _)| duration(t)).fold(0.0, f64::max);
    let is_integrable = (!rows.is_empty()).then(|| found.is_integrable(&samples, n, longest));
    let model = model_text(&names, &rows, &motions, &all);
    Ok(Discovery {
        coordinates: names,
        rows,
        is_integrable,
        motions: motions.len(),
        samples: all.len(),
        noise,
        model,
        notes,
    })
}

/// Samples with weights by the errors of their velocities.
fn weighted(all: &[(usize, Vec<Smoothed>)]) -> Vec<Sample> {
    let n = all.first().map_or(0, |s| s.1.len());
    let mean = |f: &dyn Fn(&Smoothed) -> f64, i: usize| {
        all.iter().map(|s| f(&s.1[i])).sum::<f64>() / all.len().max(1) as f64
    };
    let sizes: Vec<f64> =
        (0..n).map(|i| mean(&|s| s.v * s.v, i).max(f64::MIN_POSITIVE)).collect();
    let error = |s: &[Smoothed]| -> f64 {
        s.iter().zip(&sizes).map(|(at, size)| at.variance_v / size).sum()
    };
    let mut errors: Vec<f64> = all.iter().map(|s| error(&s.1)).collect();
    errors.sort_by(f64::total_cmp);
    let middle = errors.get(errors.len() / 2).copied().unwrap_or(1.0);
    let stride = all.len().div_ceil(SAMPLES).max(1);
    all.iter()
        .step_by(stride)
        .map(|(motion, at)| Sample {
            motion: *motion,
            q: at.iter().map(|s| s.q).collect(),
            weight: (middle / (middle + error(at))).sqrt(),
            at: at.clone(),
        })
        .map(|s| if s.weight.is_finite() { s } else { Sample { weight: 1.0, ..s } })
        .collect()
}

/// The deviation of the data from their smoothed values, by coordinate.
fn noise_of(
    motions: &[&(Vec<f64>, Vec<Vec<f64>>)],
    all: &[(usize, Vec<Smoothed>)],
) -> Vec<f64> {
    let n = all.first().map_or(0, |s| s.1.len());
    (0..n)
        .map(|i| {
            let data = motions.iter().flat_map(|(_, columns)| &columns[i]);
            let off = data.zip(all).map(|(x, s)| (x - s.1[i].q).powi(2));
            (off.sum::<f64>() / all.len() as f64).sqrt()
        })
        .collect()
}

/// The mean sizes of the velocities.
fn sizes(samples: &[Sample], n: usize) -> Vec<f64> {
    let mean = |i: usize| samples.iter().map(|s| s.at[i].v.powi(2)).sum::<f64>();
    (0..n).map(|i| (mean(i) / samples.len() as f64).sqrt()).collect()
}

/// Where all motions begin, if that is one point within a hundredth of their range.
fn common_start(
    samples: &[Sample],
    all: &[(usize, Vec<Smoothed>)],
    starts: &[usize],
    n: usize,
) -> Option<Vec<f64>> {
    if starts.len() < 2 {
        return None;
    }
    let range = |i: usize| {
        let ends = samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| {
            (a.min(s.q[i]), b.max(s.q[i]))
        });
        ends.1 - ends.0
    };
    let middle =
        |i: usize| starts.iter().map(|&j| all[j].1[i].q).sum::<f64>() / starts.len() as f64;
    let point: Vec<f64> = (0..n).map(middle).collect();
    let is_near = |i: usize| {
        let far = 0.03 * range(i);
        starts.iter().all(|&j| (all[j].1[i].q - point[i]).abs() <= far)
    };
    (0..n).all(is_near).then_some(point)
}

/// Samples with time as one more coordinate.
fn with_time(samples: &[Sample]) -> Vec<Sample> {
    let time = Smoothed { v: 1.0, ..Smoothed::default() };
    let more = |s: &Sample| Sample { at: [s.at.as_slice(), &[time]].concat(), ..s.clone() };
    samples.iter().map(more).collect()
}

/// The rows so far.
struct Rows {
    /// Coordinates; time is the next one.
    coordinates: usize,
    kept: Vec<KeptRow>,
    /// The covectors of each row at all samples, in units of the velocities.
    covectors: Vec<Vec<Vec<f64>>>,
}

/// A row with coefficients in the units of the data.
struct KeptRow {
    terms: Vec<(usize, Function)>,
    coefficients: Vec<f64>,
    sigmas: Vec<f64>,
    ratio: f64,
}

impl Rows {
    /// Adds the rows of a library that say something new.
    fn extend(
        &mut self,
        samples: &[Sample],
        functions: &[Function],
        scale: &[f64],
        common: Option<&[f64]>,
    ) {
        let n = self.coordinates;
        let regression = Regression::new(samples, functions, scale.len());
        for row in regression.rows() {
            let moves = |&i: &usize| regression.terms[i].coordinate < n;
            if !row.terms.iter().any(moves) {
                // NOTE: a function of the positions alone.
                continue;
            }
            if self.kept.len() + 1 >= n.max(2) {
                return;
            }
            let in_units = |q: &[f64]| -> Vec<f64> {
                let ω = regression.covector(&row, q);
                ω.iter().zip(scale).map(|(ω, s)| ω * s).collect()
            };
            let covectors: Vec<Vec<f64>> = samples.iter().map(|s| in_units(&s.q)).collect();
            let size = covectors.iter().map(|ω| dot(ω, ω)).sum::<f64>() / samples.len() as f64;
            if let Some(start) = common {
                let there = in_units(start);
                if dot(&there, &there) < 0.01 * size {
                    continue;
                }
            }
            if self.news(&covectors) <= NEW || !regression.holds_everywhere(&row) {
                continue;
            }
            let row = kept(&regression, &row, n);
            if row.is_certain() {
                self.kept.push(row);
                self.covectors.push(covectors);
            }
        }
    }

    /// How much of covectors is outside the rows, in the mean.
    fn news(&self, covectors: &[Vec<f64>]) -> f64 {
        let parts = covectors.iter().enumerate().map(|(j, ω)| {
            let mut basis: Vec<Vec<f64>> = Vec::new();
            for row in &self.covectors {
                let mut x = row[j].clone();
                let size = dot(&x, &x);
                reduce(&basis, &mut x);
                let left = dot(&x, &x);
                if left > 1e-6 * size && left > 0.0 {
                    let norm = left.sqrt();
                    x.iter_mut().for_each(|x| *x /= norm);
                    basis.push(x);
                }
            }
            let size = dot(ω, ω);
            let mut x = ω.clone();
            reduce(&basis, &mut x);
            if size > 0.0 { dot(&x, &x) / size } else { 0.0 }
        });
        parts.sum::<f64>() / covectors.len() as f64
    }

    /// Whether $d\omega(X, Y)$ vanishes for all $X$, $Y$ that the rows allow.
    fn is_integrable(&self, samples: &[Sample], n: usize, duration: f64) -> bool {
        let m = self.kept.len();
        let terms = self.kept.iter().flat_map(|row| &row.terms);
        // NOTE: time is a direction too where a row is affine.
        let size = n + usize::from(terms.into_iter().any(|term| term.0 == n));
        if size < m + 2 {
            return true;
        }
        let mut range: Vec<f64> = (0..n)
            .map(|i| {
                let mean = samples.iter().map(|s| s.q[i]).sum::<f64>() / samples.len() as f64;
                let square = samples.iter().map(|s| (s.q[i] - mean).powi(2)).sum::<f64>();
                (square / samples.len() as f64).sqrt()
            })
            .collect();
        range.resize(size, duration);
        let stride = samples.len().div_ceil(200);
        let mut sums = vec![[0.0, 0.0]; m];
        for sample in samples.iter().step_by(stride) {
            let values: Vec<Vec<f64>> = self
                .kept
                .iter()
                .map(|row| {
                    let ω = row.covector(&sample.q, size);
                    ω.iter().zip(&range).map(|(x, s)| x * s).collect()
                })
                .collect();
            let free = kernel(&values, size);
            for (row, (sums, ω)) in self.kept.iter().zip(sums.iter_mut().zip(&values)) {
                let slopes = row.slopes(&sample.q, size);
                sums[1] += dot(ω, ω);
                for (a, x) in free.iter().enumerate() {
                    for y in &free[a + 1..] {
                        let mut d = 0.0;
                        for i in 0..size {
                            for j in 0..size {
                                let part = (slopes[i * size + j] - slopes[j * size + i])
                                    * range[i]
                                    * range[j];
                                d += part * x[i] * y[j];
                            }
                        }
                        sums[0] += d * d;
                    }
                }
            }
        }
        sums.iter().all(|[d, ω]| *d <= CLOSED * CLOSED * ω)
    }
}

/// A row in the units of the data, the first plain coefficient 1, with errors from leaving out motions in turn.
fn kept(regression: &Regression<'_>, row: &FoundRow, coordinates: usize) -> KeptRow {
    let terms: Vec<(usize, Function)> = row
        .terms
        .iter()
        .map(|&i| (regression.terms[i].coordinate, regression.terms[i].function))
        .collect();
    let moving = (0..terms.len()).filter(|&k| terms[k].0 < coordinates);
    let leading = moving.min_by_key(|&k| terms[k].1.complexity()).unwrap_or(0);
    let in_units = |coefficients: &[f64]| -> Vec<f64> {
        let mut list: Vec<f64> = coefficients
            .iter()
            .zip(&row.terms)
            .map(|(c, &i)| c / regression.lengths[i])
            .collect();
        let first = list[leading];
        list.iter_mut().for_each(|c| *c /= first);
        list
    };
    let coefficients = in_units(&row.coefficients);
    // Parts that are left out in turn: motions, or stretches of a few.
    let motions = 1 + regression.samples.iter().map(|s| s.motion).max().unwrap_or(0);
    let samples = regression.samples.len();
    let parts = if motions >= 5 { motions.min(20) } else { 10 };
    let place = |j: usize, s: &Sample| {
        if motions >= 5 { s.motion % parts } else { j * parts / samples }
    };
    let mut squares = vec![0.0; coefficients.len()];
    let mut found = 0.0;
    for part in 0..parts {
        let Some(other) = regression.fitted(&row.terms, |j, s| place(j, s) != part) else {
            continue;
        };
        found += 1.0;
        for ((sum, a), b) in
            squares.iter_mut().zip(in_units(&other.coefficients)).zip(&coefficients)
        {
            *sum += (a - b) * (a - b);
        }
    }
    let factor: f64 = if found > 1.0 { (found - 1.0) / found } else { f64::INFINITY };
    KeptRow {
        sigmas: squares.iter().map(|s| (factor * s).sqrt()).collect(),
        terms,
        coefficients,
        ratio: row.ratio,
    }
}

impl KeptRow {
    /// Whether every coefficient is well above its error.
    fn is_certain(&self) -> bool {
        self.coefficients.iter().zip(&self.sigmas).all(|(c, sigma)| c.abs() >= CERTAIN * sigma)
    }

    fn covector(&self, q: &[f64], n: usize) -> Vec<f64> {
        let mut ω = vec![0.0; n];
        for (&(i, f), c) in self.terms.iter().zip(&self.coefficients) {
            ω[i] += c * f.value(q);
        }
        ω
    }

    /// $\partial_i\omega_j$ by rows.
    fn slopes(&self, q: &[f64], n: usize) -> Vec<f64> {
        let mut slopes = vec![0.0; n * n];
        let mut gradient = vec![0.0; n];
        for (&(j, f), &c) in self.terms.iter().zip(&self.coefficients) {
            gradient.fill(0.0);
            f.add_gradient(q, c, &mut gradient);
            gradient.iter().enumerate().for_each(|(i, g)| slopes[i * n + j] += g);
        }
        slopes
    }

    /// For people: coefficients that are whole numbers within their errors are written so.
    fn shown(&self, names: &[String]) -> DiscoveredRow {
        let mut terms = Vec::new();
        let mut text = String::new();
        for ((&(i, f), &c), &sigma) in
            self.terms.iter().zip(&self.coefficients).zip(&self.sigmas)
        {
            let function = f.text(names);
            let velocity = names.get(i).map_or_else(String::new, |name| format!("{name}'"));
            let factors = [function, velocity];
            let factors: Vec<&str> =
                factors.iter().map(String::as_str).filter(|f| !f.is_empty()).collect();
            let term = if factors.is_empty() { "1".to_owned() } else { factors.join("*") };
            let coefficient = rounded(c, sigma);
            let size = coefficient.abs();
            let sign = match (text.is_empty(), coefficient < 0.0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += sign;
            text += &match (size, term.as_str()) {
                (1.0, term) => term.to_owned(),
                (_, "1") => format!("{size}"),
                (_, term) => format!("{size}*{term}"),
            };
            terms.push(DiscoveredTerm { term, coefficient, sigma });
        }
        DiscoveredRow { text, terms, ratio: self.ratio }
    }
}

/// A coefficient with the digits that its error allows; whole where that is within two errors.
fn rounded(x: f64, sigma: f64) -> f64 {
    let whole = x.round();
    if whole != 0.0 && (x - whole).abs() <= (2.0 * sigma).max(1e-9) && sigma < 0.2 {
        return whole;
    }
    let sigma = if sigma > 0.0 && sigma.is_finite() { sigma } else { 1e-12 * x.abs() };
    let digits = (1.0 - libm::log10(sigma).floor()).clamp(-300.0, 17.0);
    let digits = if digits > 0.0 { digits as usize } else { 0 };
    format!("{x:.digits$}").parse().unwrap_or(x)
}

/// Vectors that span the common kernel of covectors, of length 1 each.
fn kernel(rows: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut add = |mut x: Vec<f64>| {
        let size = dot(&x, &x);
        reduce(&basis, &mut x);
        reduce(&basis, &mut x);
        let left = dot(&x, &x);
        if left > 1e-6 * size && left > 0.0 {
            let norm = left.sqrt();
            x.iter_mut().for_each(|x| *x /= norm);
            basis.push(x);
        }
        basis.len()
    };
    let mut taken = 0;
    for row in rows {
        taken = add(row.clone());
    }
    for i in 0..n {
        add((0..n).map(|j| f64::from(u8::from(i == j))).collect());
    }
    basis.split_off(taken)
}

fn reduce(basis: &[Vec<f64>], x: &mut [f64]) {
    for b in basis {
        let part = dot(b, x);
        x.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
