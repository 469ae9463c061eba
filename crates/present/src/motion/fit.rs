//! A fit for people and for programs.

use std::fmt::Write;

use pfaff::{Estimate, Fit, Freedom};
use serde_json::Value;

use crate::json::{number, numbers, object, strings};
use crate::number::{brief, column};
use crate::plot::{Axis, Curve, Figure};
use crate::{ToJson, ToText};

impl ToText for Fit {
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.motion.title);
        let state = if self.is_converged { "converged" } else { "not converged" };
        let _ = writeln!(
            text,
            "  {} values, {} parameters, {} steps, {state}; residual (RMS) {}\n",
            self.values,
            self.parameters.len(),
            self.iterations,
            brief(self.residual)
        );
        let heads = ["", "value", "sigma", "95 % from", "to"].map(str::to_owned);
        let rows: Vec<[String; 5]> = self.parameters.iter().map(cells).collect();
        let width = |c: usize| {
            rows.iter().chain([&heads]).map(|row| row[c].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..5).map(width).collect();
        for row in [&heads].into_iter().chain(&rows) {
            let mut line = format!("  {:<w$}", row[0], w = widths[0]);
            for (cell, w) in row.iter().zip(&widths).skip(1) {
                let _ = write!(line, "  {cell:>w$}");
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for estimate in &self.parameters {
            if let Some([low, high]) = estimate.profile {
                let _ = writeln!(
                    text,
                    "  by the profile of the likelihood, {} is between {} and {} (95 %)",
                    estimate.name,
                    brief(low),
                    brief(high)
                );
            }
        }
        for freedom in &self.freedoms {
            let _ = writeln!(text, "\nThe data {}", sentence(freedom));
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        text
    }
}

fn cells(estimate: &Estimate) -> [String; 5] {
    let cell = |x: f64| if x.is_finite() { column(x) } else { "–".to_owned() };
    let [low, high] = estimate.interval;
    [estimate.name.clone(), column(estimate.value), cell(estimate.sigma), cell(low), cell(high)]
}

/// What can change without the data: one parameter, or several together.
fn sentence(freedom: &Freedom) -> String {
    let (Freedom::Factor(parts) | Freedom::Line(parts) | Freedom::Tangent(parts)) = freedom;
    if let [(name, _)] = parts.as_slice() {
        return format!("do not determine {name}: nothing measured depends on it.");
    }
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(", ");
    let along = along(freedom).join(", ");
    let what = match determined(freedom) {
        Some(formula) => format!("determine only {formula}, not {names} separately"),
        None => format!("do not determine {names} separately"),
    };
    match freedom {
        Freedom::Factor(_) => {
            format!("{what}: all measured values stay the same for {along} with any f > 0.")
        }
        Freedom::Line(_) => {
            format!("{what}: all measured values stay the same along {along}, for any s.")
        }
        Freedom::Tangent(_) => {
            format!(
                "{what}: near these values all measured values stay the same along {along}."
            )
        }
    }
}

/// The parameters as they change together.
fn along(freedom: &Freedom) -> Vec<String> {
    let shifted = |(name, x): &(String, f64)| {
        let sign = if *x < 0.0 { "-" } else { "+" };
        format!("{name} {sign} {}*s", brief(x.abs()))
    };
    match freedom {
        Freedom::Factor(parts) => {
            let scaled = |(name, c): &(String, f64)| match *c {
                1.0 => format!("{name}*f"),
                -1.0 => format!("{name}/f"),
                c if c < 0.0 => format!("{name}/f^{}", brief(-c)),
                c => format!("{name}*f^{}", brief(c)),
            };
            parts.iter().map(scaled).collect()
        }
        Freedom::Line(parts) | Freedom::Tangent(parts) => parts.iter().map(shifted).collect(),
    }
}

/// The only combination of two parameters that is determined, if their scale is not: $p_1^{c_2}/p_2^{c_1}$.
fn determined(freedom: &Freedom) -> Option<String> {
    let Freedom::Factor(parts) = freedom else { return None };
    let [(first, a), (second, b)] = parts.as_slice() else { return None };
    let power = |name: &str, c: f64| match c.abs() {
        1.0 => name.to_owned(),
        c => format!("{name}^{}", brief(c)),
    };
    let (first, second) = (power(first, *b), power(second, *a));
    Some(if a * b < 0.0 { format!("{first}*{second}") } else { format!("{second}/{first}") })
}

impl ToJson for Fit {
    fn to_json(&self) -> Value {
        let estimate = |e: &Estimate| {
            object([
                ("value", number(e.value)),
                ("sigma", number(e.sigma)),
                ("interval", numbers(&e.interval)),
                ("profile", e.profile.map_or(Value::Null, |p| numbers(&p))),
            ])
        };
        let parts = |parts: &Vec<(String, f64)>| {
            object(parts.iter().map(|(name, x)| (name.clone(), number(*x))))
        };
        let list = |values: &[Option<f64>]| {
            Value::Array(values.iter().map(|x| x.map_or(Value::Null, number)).collect())
        };
        object([
            (
                "parameters",
                object(self.parameters.iter().map(|e| (e.name.clone(), estimate(e)))),
            ),
            ("residual", number(self.residual)),
            ("unidentifiable", Value::Array(self.unidentifiable.iter().map(parts).collect())),
            ("freedoms", Value::Array(self.freedoms.iter().map(freedom_json).collect())),
            (
                "covariance",
                Value::Array(self.covariance.iter().map(|row| numbers(row)).collect()),
            ),
            ("values", Value::from(self.values as u64)),
            ("iterations", Value::from(self.iterations as u64)),
            ("converged", Value::Bool(self.is_converged)),
            (
                "residuals",
                object(
                    self.residuals.iter().map(|(name, values)| (name.clone(), list(values))),
                ),
            ),
            ("sigmas", object(self.sigmas.iter().map(|(name, x)| (name.clone(), number(*x))))),
            ("t", numbers(&self.motion.t)),
            ("notes", strings(&self.notes)),
        ])
    }
}

fn freedom_json(freedom: &Freedom) -> Value {
    let kind = match freedom {
        Freedom::Factor(_) => "factor",
        Freedom::Line(_) => "line",
        Freedom::Tangent(_) => "tangent",
    };
    object([
        ("kind", Value::from(kind)),
        ("along", strings(along(freedom))),
        ("determined", determined(freedom).map_or(Value::Null, Value::from)),
    ])
}

/// The residuals over time, one curve for each column.
pub fn residual_figure(fit: &Fit) -> Figure<'static> {
    let mut curves = Vec::new();
    for (colour, ((name, values), t)) in fit.residuals.iter().zip(&fit.times).enumerate() {
        let measured = t.iter().zip(values).filter_map(|(t, r)| Some((*t, (*r)?)));
        let (x, y): (Vec<f64>, Vec<f64>) = measured.unzip();
        let name = name.clone();
        curves.push(Curve { name, x: x.into(), y: y.into(), colour, ..Curve::default() });
    }
    Figure {
        title: format!("{}: residuals", fit.motion.title),
        x: Axis { label: "t".into(), log: false },
        y: Axis { label: "model - data".into(), log: false },
        curves,
        areas: Vec::new(),
        equal: false,
    }
}
