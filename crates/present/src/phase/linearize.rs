//! The linear equations about a state, and how their eigenvalues change with a parameter.

use std::fmt::Write;

use pfaff::{Linearization, Model, Motion, SecondOrder, SymbolicMatrix};
use serde_json::Value;

use crate::json::{matrix, number, numbers, object, string, strings};
use crate::number::significant;
use crate::phase::words::{complex, listed, named, pairs, verdict};
use crate::plot::{Axis, Curve, Figure, Look, Points};
use crate::report::analysis_page;
use crate::report::drawing::animation;
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
        if !self.inputs.is_empty() {
            matrices.push(("B", matrix(&self.input_matrix, self.inputs.len())));
        }
        let full = &self.full;
        let mut whole = vec![
            ("variables", strings(&full.variables)),
            ("E", matrix(&full.e, full.variables.len())),
            ("A", matrix(&full.a, full.variables.len())),
        ];
        if !self.inputs.is_empty() {
            whole.push(("B", matrix(&full.b, self.inputs.len())));
        }
        let formula = |m: &SymbolicMatrix| {
            let rows = m.text.chunks(m.columns.max(1)).map(strings).collect();
            (m.name, Value::Array(rows))
        };
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
            ("frame", named(&self.frame)),
            ("symmetries", strings(&self.symmetries)),
            ("inputs", strings(&self.inputs)),
            ("eigenvalues", pairs(&self.eigenvalues)),
            ("modes", Value::Array(modes)),
            ("stability", string(self.stability.name())),
            ("reason", string(&verdict(self.stability, self.reason))),
            ("family_dimension", Value::from(self.family as u64)),
            ("zeros", Value::from(self.zeros.1 as u64)),
            ("zero_directions", Value::from(self.zeros.0 as u64)),
            ("matrices", object(matrices)),
            ("formulas", object(self.formulas.iter().map(formula))),
            ("full", object(whole)),
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
        if !self.frame.is_empty() {
            let _ = writeln!(text, "  frame      {}", listed(&self.frame));
        }
        if self.is_equilibrium {
            let moves =
                self.cyclic.iter().any(|(_, rate)| *rate != 0.0) || !self.frame.is_empty();
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
        if !self.symmetries.is_empty() {
            let _ = writeln!(
                text,
                "  symmetry   zero eigenvalues come from the {}",
                self.symmetries.join(", the ")
            );
        }
        let (directions, zeros) = self.zeros;
        if self.is_equilibrium && zeros > directions {
            let why = if directions <= self.family {
                "the others belong to steady motions beside it"
            } else {
                "it is degenerate, as at a bifurcation"
            };
            let _ = writeln!(
                text,
                "  zeros      {zeros} eigenvalues along {directions} {}: {why}",
                if directions == 1 { "direction" } else { "directions" }
            );
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
        let heading = if self.inputs.is_empty() { "A, w' = A*w" } else { "A, w' = A*w + B*u" };
        text.push_str(&grid(heading, &self.matrix, &self.variables, &self.variables));
        if !self.inputs.is_empty() {
            text.push_str(&grid("B", &self.input_matrix, &self.variables, &self.inputs));
        }
        if let Some(form) = &self.second_order {
            let names = &form.coordinates;
            text.push_str("\nM*u'' + C*u' + K*u = 0\n");
            for (name, values) in
                [("M", &form.mass), ("C", &form.damping), ("K", &form.stiffness)]
            {
                text.push_str(&grid(name, values, names, names));
            }
        }
        for matrix in &self.formulas {
            let rows: &[String] = match (matrix.name, &self.second_order) {
                ("A" | "B", _) | (_, None) => &self.variables,
                (_, Some(form)) => &form.coordinates,
            };
            let columns = if matrix.name == "B" { &self.inputs } else { rows };
            text.push_str(&formula_grid(matrix, rows, columns));
        }
        text
    }
}

/// The width of a grid of formulas beyond which the entries that are not zero stand in lines of their own.
const WIDEST: usize = 110;

/// A matrix of formulas for people.
fn formula_grid(matrix: &SymbolicMatrix, rows: &[String], names: &[String]) -> String {
    let columns = matrix.columns.max(1);
    let width = |c: usize| {
        let cells = matrix.text.iter().skip(c).step_by(columns);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let left = rows.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    let mut text = format!("\n{} as formulas\n", matrix.name);
    if left + widths.iter().map(|w| w + 2).sum::<usize>() > WIDEST {
        for (row, cells) in rows.iter().zip(matrix.text.chunks(columns)) {
            for (column, cell) in names.iter().zip(cells).filter(|(_, cell)| *cell != "0") {
                let _ = writeln!(text, "  {}[{row}, {column}] = {cell}", matrix.name);
            }
        }
        return text;
    }
    for (row, cells) in rows.iter().zip(matrix.text.chunks(columns)) {
        let _ = write!(text, "  {row:left$}");
        cells.iter().zip(&widths).for_each(|(cell, w)| text.push_str(&format!("  {cell:>w$}")));
        text.push('\n');
    }
    text
}

/// A matrix in LaTeX.
fn latex_block(name: &str, cells: &[String], columns: usize) -> String {
    let rows: Vec<String> = cells.chunks(columns.max(1)).map(|row| row.join(" & ")).collect();
    format!(
        "\\[\n{name} = \\begin{{pmatrix}}\n  {}\n\\end{{pmatrix}}\n\\]\n",
        rows.join(" \\\\\n  ")
    )
}

impl ToLatex for Linearization {
    /// Matrices and eigenvalues; formulas where there are any.
    fn to_latex(&self) -> String {
        let block = |name: &str, values: &[f64], columns: usize| {
            let formula = self.formulas.iter().find(|m| m.name == name);
            let cells: Vec<String> = match formula {
                Some(formula) => formula.latex.clone(),
                None => values.iter().map(|&x| latex_number(x)).collect(),
            };
            latex_block(name, &cells, columns)
        };
        let mut text = block("A", &self.matrix, self.variables.len());
        if !self.inputs.is_empty() {
            text.push_str(&block("B", &self.input_matrix, self.inputs.len()));
        }
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

/// The matrices in all coordinates, for people.
pub fn full_text(found: &Linearization) -> String {
    let full = &found.full;
    let names = &full.variables;
    let rows: Vec<String> = (1..=names.len()).map(|k| k.to_string()).collect();
    let mut text = grid("E, E*x' = A*x in all coordinates", &full.e, &rows, names);
    text.push_str(&grid("A", &full.a, &rows, names));
    if !found.inputs.is_empty() {
        text.push_str(&grid("B", &full.b, &rows, &found.inputs));
    }
    text
}

/// One matrix as CSV: A, B, M, C, K, or of the equations in all coordinates `E`, `full A`, `full B`.
pub fn matrix_csv(found: &Linearization, name: &str) -> Option<String> {
    let form = found.second_order.as_ref();
    let names = |form: Option<&SecondOrder>| form.map(|f| f.coordinates.clone());
    let (values, columns): (&[f64], Vec<String>) = match name {
        "A" => (&found.matrix, found.variables.clone()),
        "B" => (&found.input_matrix, found.inputs.clone()),
        "M" => (&form?.mass, names(form)?),
        "C" => (&form?.damping, names(form)?),
        "K" => (&form?.stiffness, names(form)?),
        "E" => (&found.full.e, found.full.variables.clone()),
        "full A" => (&found.full.a, found.full.variables.clone()),
        "full B" => (&found.full.b, found.inputs.clone()),
        _ => return None,
    };
    let width = columns.len();
    let column = |(k, name): (usize, String)| -> (String, Vec<f64>) {
        (name, values.iter().skip(k).step_by(width).copied().collect())
    };
    Some(csv(&columns.into_iter().enumerate().map(column).collect::<Vec<_>>()))
}

impl RootLocus {
    /// The eigenvalues of all points, each list in the order in which they go on from the one before.
    fn tracks(&self) -> Vec<Vec<[f64; 2]>> {
        let most = self.points.iter().map(|(_, f)| f.eigenvalues.len()).max().unwrap_or(0);
        let mut tracks: Vec<Vec<[f64; 2]>> = vec![Vec::new(); most];
        for (_, found) in &self.points {
            let mut left = found.eigenvalues.clone();
            let mut chosen = vec![[f64::NAN; 2]; most];
            // The nearest pairs first.
            let mut open: Vec<usize> = (0..most).collect();
            while !left.is_empty() && !open.is_empty() {
                let mut best = (f64::INFINITY, 0, 0);
                for (a, &k) in open.iter().enumerate() {
                    for (b, value) in left.iter().enumerate() {
                        let distance = match tracks[k].last() {
                            Some(last) if last[0].is_finite() => {
                                libm::hypot(last[0] - value[0], last[1] - value[1])
                            }
                            _ => 1e300 + (k * most + b) as f64,
                        };
                        if distance < best.0 {
                            best = (distance, a, b);
                        }
                    }
                }
                chosen[open.remove(best.1)] = left.remove(best.2);
            }
            tracks.iter_mut().zip(chosen).for_each(|(track, value)| track.push(value));
        }
        tracks
    }

    /// Real parts as lines and imaginary parts as dots over the parameter.
    pub fn over_parameter(&self) -> Figure<'static> {
        let x: Vec<f64> = self.points.iter().map(|(x, _)| *x).collect();
        let mut curves = Vec::new();
        for (k, track) in self.tracks().into_iter().enumerate() {
            let part = |i: usize| track.iter().map(|v| v[i]).collect::<Vec<f64>>();
            curves.push(Curve {
                name: format!("re[{}]", k + 1),
                x: x.clone().into(),
                y: part(0).into(),
                colour: k,
                ..Curve::default()
            });
            // Of a pair one imaginary part is enough.
            let imaginary: Vec<f64> =
                part(1).iter().map(|y| if *y > 0.0 { *y } else { f64::NAN }).collect();
            if imaginary.iter().any(|y| y.is_finite()) {
                curves.push(Curve {
                    name: format!("im[{}]", k + 1),
                    x: x.clone().into(),
                    y: imaginary.into(),
                    colour: k,
                    dash: 2,
                    ..Curve::default()
                });
            }
        }
        Figure {
            x: Axis { label: self.parameter.clone(), log: false },
            y: Axis { label: "lambda".into(), log: false },
            curves,
            ..Figure::default()
        }
    }

    /// The paths of the eigenvalues in the complex plane; rings where they begin.
    pub fn in_plane(&self) -> Figure<'static> {
        let tracks = self.tracks();
        let first: Vec<[f64; 2]> = tracks.iter().filter_map(|t| t.first().copied()).collect();
        let mut curves: Vec<Curve<'static>> = tracks
            .into_iter()
            .enumerate()
            .map(|(k, track)| Curve {
                name: format!("lambda[{}]", k + 1),
                x: track.iter().map(|v| v[0]).collect::<Vec<_>>().into(),
                y: track.iter().map(|v| v[1]).collect::<Vec<_>>().into(),
                colour: k,
                ..Curve::default()
            })
            .collect();
        curves.push(Curve {
            name: self.points.first().map_or(String::new(), |(x, _)| {
                format!("{} = {}", self.parameter, significant(*x, 6))
            }),
            x: first.iter().map(|v| v[0]).collect::<Vec<_>>().into(),
            y: first.iter().map(|v| v[1]).collect::<Vec<_>>().into(),
            colour: 4,
            points: Points::Rings,
            ..Curve::default()
        });
        Figure {
            x: Axis { label: "re".into(), log: false },
            y: Axis { label: "im".into(), log: false },
            curves,
            ..Figure::default()
        }
    }
}

/// A page: numbers and modes that move.
pub fn linear_page(
    model: &Model,
    found: &Linearization,
    modes: &[(usize, Motion)],
    command: &str,
) -> String {
    let mut parts: Vec<(String, String)> = Vec::new();
    for (k, motion) in modes {
        let value = found.eigenvalues[*k];
        let moving = animation(model, motion, &format!("mode-{}", k + 1));
        if moving.frames == 0 {
            continue;
        }
        let note = if value[1] > 0.0 {
            let (ω, ζ) = oscillation(value);
            format!(
                "<p>Natural frequency {}, damping {}. Growth and decay are left out.</p>",
                significant(ω, 8),
                significant(ζ, 6)
            )
        } else {
            "<p>It does not oscillate: its shape is swung to and fro.</p>".to_owned()
        };
        parts.push((format!("Mode of {}", complex(value, 8)), note + &moving.html));
    }
    parts.push(("Numbers".into(), crate::report::preformatted(&found.to_text())));
    analysis_page(&found.title, command, &parts)
}

/// The paths of eigenvalues on a page.
pub fn locus_page(locus: &RootLocus, title: &str, command: &str) -> String {
    let look = Look { width: 760.0, height: 460.0, ..Look::default() };
    let parts = [
        (
            "Over the parameter".to_owned(),
            crate::report::figure_html(&locus.over_parameter(), look),
        ),
        ("In the plane".to_owned(), crate::report::figure_html(&locus.in_plane(), look)),
        ("Numbers".to_owned(), crate::report::preformatted(&locus.to_text())),
    ];
    analysis_page(title, command, &parts)
}
