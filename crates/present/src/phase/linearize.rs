//! The linear equations about a state, and how their eigenvalues change with a parameter.

use std::fmt::Write;

use pfaff::{Linearization, SecondOrder};
use serde_json::Value;

use crate::json::{matrix, number, numbers, object, string, strings};
use crate::number::significant;
use crate::phase::words::{complex, listed, named, pairs, verdict};
use crate::table::Table;
use crate::{ToJson, ToLatex, ToText};

/// Digits of eigenvalues in a table.
const DIGITS: usize = 10;

/// $|\lambda|$ and $-\operatorname{Re}\lambda/|\lambda|$ of an oscillation.
fn oscillation(value: [f64; 2]) -> (f64, f64) {
    let ω = libm::hypot(value[0], value[1]);
    (ω, -value[0] / ω)
}

impl ToJson for Linearization {
    /// As `linearize --json` prints it.
    fn to_json(&self) -> Value {
        let w = self.variables.len();
        let mut matrices = vec![("A", matrix(&self.matrix, w))];
        if let Some(SecondOrder { coordinates, mass, damping, stiffness }) = &self.second_order
        {
            let u = coordinates.len();
            let forms = [("M", mass), ("C", damping), ("K", stiffness)];
            matrices.extend(forms.map(|(name, values)| (name, matrix(values, u))));
        }
        let mode = |(k, value): (usize, &[f64; 2])| {
            let mut entries = vec![("eigenvalue", numbers(value))];
            if value[1] != 0.0 {
                let (ω, ζ) = oscillation(*value);
                entries.push(("frequency", number(ω)));
                entries.push(("damping", number(ζ)));
            }
            if let Some(vector) = &self.modes[k] {
                let shape = self.variables.iter().zip(&vector.components);
                entries.push(("shape", object(shape.map(|(name, x)| (name, numbers(x))))));
                entries.push(("residual", number(vector.residual)));
            }
            object(entries)
        };
        let modes = self.eigenvalues.iter().enumerate().map(mode).collect();
        let rates: Vec<(String, f64)> =
            self.variables.iter().cloned().zip(self.rates.iter().copied()).collect();
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("principle", self.principle.map_or(Value::Null, |p| string(p.name()))),
            ("t", number(self.t)),
            ("state", named(&self.state)),
            ("equilibrium", Value::Bool(self.is_equilibrium)),
            ("rates", named(&rates)),
            ("nearest", self.nearest.as_deref().map_or(Value::Null, named)),
            ("variables", strings(&self.variables)),
            (
                "coordinates",
                strings(self.second_order.iter().flat_map(|form| &form.coordinates)),
            ),
            ("cyclic", named(&self.cyclic)),
            ("eigenvalues", pairs(&self.eigenvalues)),
            ("modes", Value::Array(modes)),
            ("stability", string(self.stability.name())),
            ("reason", string(&verdict(self.stability, self.reason))),
            ("family_dimension", Value::from(self.family as u64)),
            ("matrices", object(matrices)),
        ])
    }
}

/// A matrix for people, with the names of rows and columns.
fn grid(name: &str, values: &[f64], rows: &[String], columns: &[String]) -> String {
    // What is rounding beside the others is not worth a look.
    let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let shown = |&x: &f64| significant(if x.abs() <= 1e-15 * largest { 0.0 } else { x }, 8);
    let cells: Vec<String> = values.iter().map(shown).collect();
    let width = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let left = width(&mut rows.iter());
    let cell = width(&mut cells.iter().chain(columns));
    let mut text = format!("\n{name}\n  {:left$}", "");
    columns.iter().for_each(|c| text.push_str(&format!("  {c:>cell$}")));
    for (row, values) in rows.iter().zip(cells.chunks(columns.len().max(1))) {
        let _ = write!(text, "\n  {row:left$}");
        values.iter().for_each(|x| text.push_str(&format!("  {x:>cell$}")));
    }
    text.push('\n');
    text
}

impl ToText for Linearization {
    /// For people.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(text, "  state      {}", listed(&self.state));
        if !self.cyclic.is_empty() {
            let moving: Vec<(String, f64)> =
                self.cyclic.iter().map(|(name, rate)| (format!("{name}'"), *rate)).collect();
            let _ = writeln!(text, "  cyclic     {}", listed(&moving));
        }
        if self.is_equilibrium {
            let moves = self.cyclic.iter().any(|(_, rate)| *rate != 0.0);
            let kind = if moves { "steady motion" } else { "rest" };
            let _ = writeln!(text, "  kind       {kind}");
        } else {
            let rates: Vec<(String, f64)> = self
                .variables
                .iter()
                .zip(&self.rates)
                .filter(|(_, rate)| **rate != 0.0)
                .map(|(name, rate)| (format!("{name}'"), *rate))
                .collect();
            let _ = writeln!(text, "  kind       no equilibrium: {}", listed(&rates));
            let near = self.nearest.as_deref().map_or_else(
                || "none was found from here".to_owned(),
                |state| format!("the one found from here is {}", listed(state)),
            );
            let _ = writeln!(text, "             {near}");
        }
        let _ = writeln!(text, "  stability  {}", verdict(self.stability, self.reason));
        if self.family > 0 {
            let _ = writeln!(text, "  family     of equilibria, dimension {}", self.family);
        }
        let _ = writeln!(
            text,
            "\nEigenvalues\n  {:>32}  {:>14}  {:>14}",
            "", "frequency", "damping"
        );
        for &value in &self.eigenvalues {
            let shown = complex(value, DIGITS);
            if value[1] == 0.0 {
                let _ = writeln!(text, "  {shown:>32}");
            } else {
                let (ω, ζ) = oscillation(value);
                let ζ = if ζ.abs() < 1e-13 { 0.0 } else { ζ };
                let (ω, ζ) = (significant(ω, 8), significant(ζ, 6));
                let _ = writeln!(text, "  {shown:>32}  {ω:>14}  {ζ:>14}");
            }
        }
        text.push_str(&grid("A, w' = A*w", &self.matrix, &self.variables, &self.variables));
        if let Some(form) = &self.second_order {
            let names = &form.coordinates;
            text.push_str("\nM*u'' + C*u' + K*u = 0\n");
            for (name, values) in
                [("M", &form.mass), ("C", &form.damping), ("K", &form.stiffness)]
            {
                text.push_str(&grid(name, values, names, names));
            }
        }
        text
    }
}

impl ToLatex for Linearization {
    /// Matrices and eigenvalues.
    fn to_latex(&self) -> String {
        let block = |name: &str, values: &[f64], columns: usize| {
            let rows: Vec<String> = values
                .chunks(columns.max(1))
                .map(|row| {
                    let cells: Vec<String> = row.iter().map(|&x| latex_number(x)).collect();
                    cells.join(" & ")
                })
                .collect();
            format!(
                "\\[\n{name} = \\begin{{pmatrix}}\n  {}\n\\end{{pmatrix}}\n\\]\n",
                rows.join(" \\\\\n  ")
            )
        };
        let mut text = block("A", &self.matrix, self.variables.len());
        if let Some(form) = &self.second_order {
            let u = form.coordinates.len();
            for (name, values) in
                [("M", &form.mass), ("C", &form.damping), ("K", &form.stiffness)]
            {
                text.push_str(&block(name, values, u));
            }
        }
        let values: Vec<String> = self
            .eigenvalues
            .iter()
            .enumerate()
            .map(|(k, &value)| {
                let shown = complex(value, DIGITS).replace('i', "\\,\\mathrm{i}");
                let shown = power_of_ten(&shown);
                format!("  \\lambda_{{{}}} &= {shown}", k + 1)
            })
            .collect();
        text.push_str(&format!(
            "\\begin{{align*}}\n{}\n\\end{{align*}}\n",
            values.join(" \\\\\n")
        ));
        text
    }
}

fn latex_number(x: f64) -> String {
    power_of_ten(&significant(x, 8))
}

/// `1e-9` as a product.
fn power_of_ten(text: &str) -> String {
    text.split(' ')
        .map(|word| match word.split_once('e') {
            Some((mantissa, exponent)) => {
                let end = exponent.find(|c: char| !c.is_ascii_digit() && c != '-');
                let (exponent, rest) = exponent.split_at(end.unwrap_or(exponent.len()));
                format!("{mantissa}\\cdot 10^{{{exponent}}}{rest}")
            }
            None => word.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// How eigenvalues change with a parameter.
#[derive(Clone, Debug)]
pub struct RootLocus {
    /// The name of the parameter.
    pub parameter: String,
    /// Its values, and the linear equations for each.
    pub points: Vec<(f64, Linearization)>,
}

impl RootLocus {
    /// The columns of a table: the parameter, then `re[1]`, `im[1]`, `re[2]`, …
    fn columns(&self) -> Vec<(String, Vec<f64>)> {
        let most = self.points.iter().map(|(_, found)| found.eigenvalues.len()).max();
        let values = self.points.iter().map(|(x, _)| *x).collect();
        let mut columns = vec![(self.parameter.clone(), values)];
        for k in 0..most.unwrap_or(0) {
            for (part, name) in ["re", "im"].into_iter().enumerate() {
                let value = |found: &Linearization| {
                    found.eigenvalues.get(k).map_or(f64::NAN, |value| value[part])
                };
                let values = self.points.iter().map(|(_, found)| value(found)).collect();
                columns.push((format!("{name}[{}]", k + 1), values));
            }
        }
        columns
    }

    /// As CSV.
    pub fn to_csv(&self) -> String {
        csv(&self.columns())
    }
}

/// Columns as CSV.
fn csv(columns: &[(String, Vec<f64>)]) -> String {
    let columns = columns.iter().map(|(name, values)| (name.clone(), values.as_slice()));
    Table { columns: columns.collect(), ..Table::default() }.to_csv()
}

/// Eigenvalues as CSV: real and imaginary part, natural frequency and damping of oscillations.
pub fn eigenvalue_csv(found: &Linearization) -> String {
    let part = |k: usize| found.eigenvalues.iter().map(|value| value[k]).collect();
    let oscillations: Vec<(f64, f64)> = found
        .eigenvalues
        .iter()
        .map(|&value| if value[1] == 0.0 { (f64::NAN, f64::NAN) } else { oscillation(value) })
        .collect();
    csv(&[
        ("re".into(), part(0)),
        ("im".into(), part(1)),
        ("frequency".into(), oscillations.iter().map(|x| x.0).collect()),
        ("damping".into(), oscillations.iter().map(|x| x.1).collect()),
    ])
}

impl ToJson for RootLocus {
    /// As `linearize --vary --json` prints it.
    fn to_json(&self) -> Value {
        let point = |(x, found): &(f64, Linearization)| {
            object([
                ("parameter", number(*x)),
                ("state", named(&found.state)),
                ("eigenvalues", pairs(&found.eigenvalues)),
                ("stability", string(found.stability.name())),
            ])
        };
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("parameter", string(&self.parameter)),
            ("points", Value::Array(self.points.iter().map(point).collect())),
        ])
    }
}

impl ToText for RootLocus {
    /// A line for each value.
    fn to_text(&self) -> String {
        let mut text = format!("{:>12}  eigenvalues\n", self.parameter);
        for (x, found) in &self.points {
            let values = found.eigenvalues.iter().filter(|value| value[1] >= 0.0);
            let shown: Vec<String> = values
                .map(|&value| {
                    let shown = complex(value, 6);
                    let is_pair = value[1] > 0.0 && !shown.contains("+ ");
                    if is_pair { format!("±{shown}") } else { shown.replacen("+ ", "± ", 1) }
                })
                .collect();
            let _ = writeln!(
                text,
                "{:>12}  {}  ({})",
                significant(*x, 6),
                shown.join(", "),
                found.stability.name()
            );
        }
        text
    }
}
