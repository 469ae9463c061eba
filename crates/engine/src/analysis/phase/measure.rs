//! Invariant measures and time reversal: `pfaff measure`.
//!
//! In independent coordinates $z$ of the constraint manifold the flow is $\dot z = X(z)$. A density $\rho =
//! e^{\sigma(q)}$
//! is kept if
//!
//! $$ \operatorname{div}(\rho X) = 0 \iff \sigma_q\cdot\dot q + \operatorname{div} X = 0 . \qquad (\mathrm I) $$
//!
//! (I) is linear in $\sigma$, and linear in $\rho$ if that is a polynomial. It is asked at scattered states for
//! functions of a
//! growing list: powers of the determinant of the mass matrix, then linear and quadratic functions of the positions,
//! then
//! sines and cosines. What solves it there, and at other states, is the answer; otherwise the answer is that none of
//! these
//! is kept.

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::{least_squares, singular_values, symmetric_eigenvalues};

use crate::analysis::phase::chart::Chart;
use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::quotient::{Quotient, scattered_many};
use crate::error::{Error, Failure};
use crate::model::Model;

/// What vanishes to this part of its terms is zero.
const ZERO: f64 = 1e-7;
/// Coordinates up to which reversals are tried.
const MOST: usize = 8;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct MeasureRequest {
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// What is kept.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The title of the model.
    pub title: String,
    /// The independent variables: the measure is `density` times their product.
    pub variables: Vec<String>,
    /// The largest divergence at the states that were looked at.
    pub divergence: f64,
    /// A density that is kept, as a formula; `1` if volume is. `det(M)` is that of the mass matrix of the independent
    /// velocities.
    pub density: Option<String>,
    /// How well (I) holds with it, in parts of its terms.
    pub residual: f64,
    /// Mirrors that turn the flow back: signs of the positions.
    pub reversals: Vec<String>,
    /// How many states were looked at.
    pub states: usize,
}

/// Looks for an invariant measure and for time reversal.
///
/// # Errors
///
/// [`Error`] if the model has no equations, or its initial state no tangent space.
pub fn measure(model: &Model, request: &MeasureRequest) -> Result<Measure, Error> {
    found(model, request).map_err(|failure| failure.in_source(&model.source))
}

/// A function of positions that may occur in $\sigma$ or $\rho$.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Basis {
    One,
    LogDeterminant,
    Linear(usize),
    Product(usize, usize),
    Sin(usize),
    Cos(usize),
    SinTwice(usize),
    CosTwice(usize),
}

impl Basis {
    /// Its value and its slope along velocities.
    fn value(self, y: &[f64], v: &[f64], log: [f64; 2]) -> [f64; 2] {
        match self {
            Self::One => [1.0, 0.0],
            Self::LogDeterminant => log,
            Self::Linear(i) => [y[i], v[i]],
            Self::Product(i, j) => [y[i] * y[j], v[i] * y[j] + y[i] * v[j]],
            Self::Sin(i) => [libm::sin(y[i]), libm::cos(y[i]) * v[i]],
            Self::Cos(i) => [libm::cos(y[i]), -libm::sin(y[i]) * v[i]],
            Self::SinTwice(i) => [libm::sin(2.0 * y[i]), 2.0 * libm::cos(2.0 * y[i]) * v[i]],
            Self::CosTwice(i) => [libm::cos(2.0 * y[i]), -2.0 * libm::sin(2.0 * y[i]) * v[i]],
        }
    }

    fn text(self, names: &[String]) -> String {
        match self {
            Self::One => "1".into(),
            Self::LogDeterminant => "log(det(M))".into(),
            Self::Linear(i) => names[i].clone(),
            Self::Product(i, j) if i == j => format!("{}^2", names[i]),
            Self::Product(i, j) => format!("{}*{}", names[i], names[j]),
            Self::Sin(i) => format!("sin({})", names[i]),
            Self::Cos(i) => format!("cos({})", names[i]),
            Self::SinTwice(i) => format!("sin(2*{})", names[i]),
            Self::CosTwice(i) => format!("cos(2*{})", names[i]),
        }
    }
}

/// What is known of the flow at a state.
struct Seen {
    y: Vec<f64>,
    rates: Vec<f64>,
    divergence: f64,
    /// The sum of the magnitudes of its terms.
    size: f64,
    /// log det M and its rate.
    log: [f64; 2],
}

/// log det M of the independent velocities; zero without a mass matrix.
fn log_determinant(field: &Field, chart: &Chart, point: &FieldPoint) -> Option<f64> {
    let (n, r) = (field.n, chart.free.len());
    if point.mass.is_empty() {
        return Some(0.0);
    }
    let tangent = chart.tangent(point)?;
    let velocities: Vec<usize> =
        (0..r).filter(|&j| (n..2 * n).contains(&chart.free[j])).collect();
    let u = velocities.len();
    let mut mass = vec![0.0; u * u];
    for a in 0..u {
        for b in 0..u {
            for i in 0..n {
                for k in 0..n {
                    mass[a * u + b] += tangent[(n + i) * r + velocities[a]]
                        * point.mass[i * n + k]
                        * tangent[(n + k) * r + velocities[b]];
                }
            }
        }
    }
    let values = symmetric_eigenvalues(u, &mass);
    let log: f64 = values.iter().map(|x| libm::log(x.abs())).sum();
    log.is_finite().then_some(log)
}

fn look(field: &mut Field, chart: &Chart, point: &FieldPoint) -> Option<Seen> {
    const STEP: f64 = 1e-4;
    let here = chart.at(point)?;
    let r = chart.free.len();
    let diagonal = |values: &[f64]| (0..r).map(|i| values[i * r + i]).sum::<f64>();
    let mut ends = [0.0; 4];
    for (end, part) in ends.iter_mut().zip([-2.0, -1.0, 1.0, 2.0]) {
        let mut y = point.y.clone();
        y.iter_mut().zip(&point.rates).for_each(|(y, v)| *y += part * STEP * v);
        chart.complete(field, point.t, &mut y).ok()?;
        let there = field.at(point.t, &y).ok()?;
        *end = log_determinant(field, chart, &there)?;
    }
    let rate = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12.0 * STEP);
    Some(Seen {
        y: point.y.clone(),
        rates: point.rates.clone(),
        divergence: diagonal(&here.matrix),
        size: diagonal(&here.scale),
        log: [log_determinant(field, chart, point)?, rate],
    })
}

fn found(model: &Model, request: &MeasureRequest) -> Result<Measure, Failure> {
    if !model.resets.is_empty() || model.hybrid.switches() {
        return Err(Failure::usage(
            "invariant measures of models with jumps or modes are not asked for",
        ));
    }
    let at =
        LinearizeRequest { principle: request.principle, at: None, backend: request.backend };
    let mut phase = Phase::new(model, &at)?;
    let point = phase.point()?;
    let quotient = Quotient::at(&mut phase.field, &point)
        .ok_or_else(|| Failure::usage("the constraints are singular at the initial state"))?;
    let chart = &quotient.chart;
    let n = phase.field.n;
    let positions: Vec<usize> = chart.free.iter().copied().filter(|&c| c < n).collect();
    let stages = stages(&positions);
    let most = stages.iter().map(Vec::len).max().unwrap_or(0);
    let points = scattered_many(&mut phase.field, chart, &point, 3 * most + 12);
    let seen: Vec<Seen> =
        points.iter().filter_map(|p| look(&mut phase.field, chart, p)).collect();
    if seen.len() < 6 {
        return Err(Failure::usage("around the initial state the equations have no values"));
    }
    let divergence = seen.iter().fold(0.0_f64, |m, s| m.max(s.divergence.abs()));
    let is_free = seen.iter().all(|s| s.divergence.abs() <= 1e-9 * (s.size + 1e-6));
    let names = &phase.field.names;
    let (density, residual) = if is_free {
        (Some("1".to_owned()), 0.0)
    } else {
        match stages.iter().find_map(|stage| exponential(&seen, stage, names)) {
            Some((text, residual)) => (Some(text), residual),
            None => {
                match stages.iter().skip(1).find_map(|stage| polynomial(&seen, stage, names)) {
                    Some((text, residual)) => (Some(text), residual),
                    None => (None, f64::NAN),
                }
            }
        }
    };
    let variables = chart.free.iter().map(|&c| names[c].clone()).collect();
    let reversals = reversals(&mut phase, &points);
    Ok(Measure {
        title: model.name().to_owned(),
        variables,
        divergence,
        density,
        residual,
        reversals,
        states: seen.len(),
    })
}

/// Lists of functions, each longer than the one before.
fn stages(positions: &[usize]) -> Vec<Vec<Basis>> {
    let linear = positions.iter().map(|&i| Basis::Linear(i));
    let pairs = positions.iter().enumerate();
    let products =
        pairs.flat_map(|(a, &i)| positions[a..].iter().map(move |&j| Basis::Product(i, j)));
    let waves = positions.iter().flat_map(|&i| [Basis::Sin(i), Basis::Cos(i)]);
    let twice = positions.iter().flat_map(|&i| [Basis::SinTwice(i), Basis::CosTwice(i)]);
    let first = vec![Basis::LogDeterminant];
    let second: Vec<Basis> = linear.collect();
    let third: Vec<Basis> = second.iter().copied().chain(products).collect();
    let fourth: Vec<Basis> = waves.chain(twice).collect();
    let mut all = first.clone();
    all.extend(&third);
    all.extend(&fourth);
    vec![first, second, third, fourth, all]
}

/// $\sigma$ of some functions, if there is one.
fn exponential(seen: &[Seen], basis: &[Basis], names: &[String]) -> Option<(String, f64)> {
    let (fitted, other) = seen.split_at(2 * seen.len() / 3);
    let row = |s: &Seen| -> Vec<f64> {
        basis.iter().map(|b| b.value(&s.y, &s.rates, s.log)[1]).collect()
    };
    let matrix: Vec<f64> = fitted.iter().flat_map(row).collect();
    let right: Vec<f64> = fitted.iter().map(|s| -s.divergence).collect();
    let solved = least_squares(&matrix, fitted.len(), basis.len(), &right, 1e-9);
    let mut c = solved.x;
    c.iter_mut().for_each(|x| *x = short(*x));
    let mut worst = 0.0_f64;
    for s in other.iter().chain(fitted) {
        let terms: Vec<f64> = row(s).iter().zip(&c).map(|(b, c)| b * c).collect();
        let size = s.size.max(terms.iter().map(|x| x.abs()).sum::<f64>()) + 1e-6;
        worst = worst.max((terms.iter().sum::<f64>() + s.divergence).abs() / size);
    }
    if worst > ZERO {
        return None;
    }
    if let ([Basis::LogDeterminant], [power]) = (basis, &c[..]) {
        let text = match power {
            1.0 => "det(M)".to_owned(),
            power => format!("det(M)^({})", number(*power)),
        };
        return Some((text, worst));
    }
    Some((format!("exp({})", sum(&c, basis, names)), worst))
}

/// A polynomial $\rho$ that does not change its sign, if there is one.
fn polynomial(seen: &[Seen], basis: &[Basis], names: &[String]) -> Option<(String, f64)> {
    let mut all = vec![Basis::One];
    all.extend(basis.iter().copied().filter(|b| *b != Basis::LogDeterminant));
    let k = all.len();
    let (fitted, other) = seen.split_at(2 * seen.len() / 3);
    let row = |s: &Seen| -> Vec<f64> {
        let entry = |b: &Basis| {
            let [value, slope] = b.value(&s.y, &s.rates, s.log);
            slope + value * s.divergence
        };
        all.iter().map(entry).collect()
    };
    let matrix: Vec<f64> = fitted.iter().flat_map(row).collect();
    let split = singular_values(&matrix, fitted.len(), k);
    let largest = split.values.first().copied().unwrap_or(0.0);
    let kernel = split.values.iter().zip(&split.directions);
    for (_, direction) in kernel.filter(|(s, _)| **s <= 1e-9 * largest) {
        let top = direction.iter().fold(0.0_f64, |m, x| if x.abs() > m.abs() { *x } else { m });
        let c: Vec<f64> = direction.iter().map(|x| short(x / top)).collect();
        let value = |s: &Seen| -> f64 {
            all.iter().zip(&c).map(|(b, c)| c * b.value(&s.y, &s.rates, s.log)[0]).sum()
        };
        let signs: Vec<f64> = seen.iter().map(|s| value(s).signum()).collect();
        let worst = other
            .iter()
            .map(|s| {
                let terms: Vec<f64> = row(s).iter().zip(&c).map(|(b, c)| b * c).collect();
                let size = terms.iter().map(|x| x.abs()).sum::<f64>() + 1e-9;
                terms.iter().sum::<f64>().abs() / size
            })
            .fold(0.0_f64, f64::max);
        if worst <= ZERO && signs.iter().all(|s| *s == signs[0]) {
            return Some((sum(&c, &all, names), worst));
        }
    }
    None
}

/// A coefficient as it would be written, if it is near to that.
fn short(x: f64) -> f64 {
    for denominator in 1..=12 {
        let scaled = x * f64::from(denominator);
        if (scaled - scaled.round()).abs() < 1e-7 {
            return scaled.round() / f64::from(denominator) + 0.0;
        }
    }
    x
}

fn number(x: f64) -> String {
    for denominator in 1..=12 {
        let scaled = x * f64::from(denominator);
        if (scaled - scaled.round()).abs() < 1e-12 {
            let whole = scaled.round();
            return if denominator == 1 {
                format!("{whole}")
            } else {
                format!("{whole}/{denominator}")
            };
        }
    }
    crate::motion::note::brief(x)
}

fn sum(c: &[f64], basis: &[Basis], names: &[String]) -> String {
    let mut text = String::new();
    for (c, b) in c.iter().zip(basis).filter(|(c, _)| c.abs() > 1e-9) {
        let sign = if *c < 0.0 { "-" } else { "+" };
        let part = match (number(c.abs()).as_str(), b) {
            (size, Basis::One) => size.to_owned(),
            ("1", _) => b.text(names),
            (size, _) => format!("{size}*{}", b.text(names)),
        };
        match (text.is_empty(), sign) {
            (true, "-") => text = format!("-{part}"),
            (true, _) => text = part,
            (false, sign) => text = format!("{text} {sign} {part}"),
        }
    }
    text
}

/// Mirrors of positions, with velocities turned round, that turn the flow back.
fn reversals(phase: &mut Phase, points: &[FieldPoint]) -> Vec<String> {
    let (n, d) = (phase.field.n, phase.field.size());
    let places = phase.field.velocity_at.clone();
    let seconds = places.iter().flatten().count();
    if n > MOST || d != n + seconds || phase.field.has_time {
        return Vec::new();
    }
    let mut found = Vec::new();
    for signs in 0_u32..1 << n {
        let sign = |k: usize| if signs >> k & 1 == 1 { -1.0 } else { 1.0 };
        let mirror = |x: &[f64]| -> Vec<f64> {
            let mut y = x.to_vec();
            for k in 0..n {
                y[k] *= sign(k);
                if let Some(at) = places[k] {
                    y[at] *= -sign(k);
                }
            }
            y
        };
        let is_one = points.iter().take(6).all(|at| {
            let y = mirror(&at.y);
            let Ok([positions, velocities]) = phase.field.constraints(at.t, &y) else {
                return false;
            };
            let size = 1.0 + at.rates.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let holds = |x: &f64| x.abs() <= 1e-8 * size;
            let Ok(rates) = phase.field.rates(at.t, &y) else { return false };
            let wanted = mirror(&at.rates);
            positions.values.iter().chain(&velocities.values).all(holds)
                && rates.iter().zip(&wanted).all(|(a, b)| (a + b).abs() <= 1e-8 * size)
        });
        if is_one {
            let turned: Vec<&str> = (0..n)
                .filter(|&k| sign(k) < 0.0)
                .map(|k| phase.field.names[k].as_str())
                .collect();
            found.push(if turned.is_empty() {
                "t -> -t".to_owned()
            } else {
                let mirrored: Vec<String> =
                    turned.iter().map(|name| format!("{name} -> -{name}")).collect();
                format!("t -> -t, {}", mirrored.join(", "))
            });
        }
    }
    found.sort_by_key(String::len);
    found
}
