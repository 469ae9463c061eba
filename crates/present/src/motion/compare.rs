//! A comparison for people and for programs: text, JSON and CSV.

use std::fmt::Write;

use pfaff::{Comparison, Equivalence, Kept, Motion, Parting, Principle, Series, signs};
use serde_json::Value;

use crate::equations::present;
use crate::json::{number, numbers, object, string, strings};
use crate::{Table, ToJson, ToText};

/// Rows of the table of positions.
const ROWS: usize = 7;
/// Coordinates in the table of positions.
const COORDINATES: usize = 4;

impl ToText for Comparison {
    /// For people.
    fn to_text(&self) -> String {
        let mut text = String::new();
        let Some(first) = self.motions.first() else { return text };
        let _ = writeln!(text, "{}", first.title);
        for (derivation, motion) in self.derivations.iter().zip(&self.motions) {
            let _ = writeln!(text, "\n{}", word(motion));
            if let Some(principle) = motion.principle {
                let _ = writeln!(text, "  ({})", signs(principle));
            }
            present(derivation)
                .lines(&["definitions", "dependent", "equations"])
                .iter()
                .for_each(|line| {
                    let _ = writeln!(text, "  {line}");
                });
            let _ = writeln!(
                text,
                "  {} steps, audit: {}",
                motion.statistics.steps,
                motion.audit.verdict.name()
            );
        }
        for (principle, why) in &self.left_out {
            let _ = writeln!(text, "\n{}: left out, because {why}", principle.name());
        }
        positions(self, &mut text);
        for parting in &self.partings {
            parted(parting, &first.q, &mut text);
        }
        conserved(self, &mut text);
        if !self.equivalences.is_empty() {
            let _ = writeln!(text, "\nDoes one motion satisfy both principles?");
        }
        for e in &self.equivalences {
            let _ = writeln!(text, "  {}", sentence(e, first));
        }
        text
    }
}

fn positions(c: &Comparison, text: &mut String) {
    let Some(first) = c.motions.first() else { return };
    let count = first.t.len();
    let _ = writeln!(text, "\nPositions at common times");
    let shown: Vec<usize> = match count {
        0 => return,
        1..=ROWS => (0..count).collect(),
        _ => (0..ROWS).map(|i| i * (count - 1) / (ROWS - 1)).collect(),
    };
    let mut rows = vec![vec!["t".to_owned()]];
    let shown_coordinates = first.q.len().min(COORDINATES);
    for q in &first.q[..shown_coordinates] {
        for m in &c.motions {
            rows[0].push(format!("{} {}", q.name, short(m)));
        }
    }
    for i in shown {
        let mut row = vec![format!("{:.4}", first.t[i])];
        for k in 0..shown_coordinates {
            row.extend(c.motions.iter().map(|m| format!("{:.8}", m.q[k].values[i])));
        }
        rows.push(row);
    }
    table(&rows, text);
    if first.q.len() > COORDINATES {
        let more = first.q.len() - COORDINATES;
        let _ = writeln!(text, "  … and {more} more coordinates; CSV and JSON have all");
    }
}

fn conserved(c: &Comparison, text: &mut String) {
    let _ = writeln!(text, "\nLargest change since the start (conserved where marked *)");
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(c.motions.iter().map(word));
    for kept in &c.kept {
        let mut row = vec![kept.name.clone()];
        for (change, kept) in kept.change.iter().zip(&kept.kept) {
            let mark = if *kept { "*" } else { " " };
            row.push(change.map_or("– ".into(), |c| format!("{c:.1e}{mark}")));
        }
        rows.push(row);
    }
    table(&rows, text);
}

impl ToJson for Comparison {
    /// As `compare --json` prints it.
    fn to_json(&self) -> Value {
        let first = self.motions.first();
        let by_principle =
            |values: Vec<Value>| object(self.motions.iter().map(word).zip(values));
        let kept = |k: &Kept| {
            let change = k.change.iter().map(|c| c.map_or(Value::Null, number));
            object([
                ("name", string(&k.name)),
                ("change", by_principle(change.collect())),
                ("kept", by_principle(k.kept.iter().map(|&k| Value::Bool(k)).collect())),
            ])
        };
        let left_out = self
            .left_out
            .iter()
            .map(|(p, why)| object([("principle", string(p.name())), ("reason", string(why))]));
        let names = first.map_or(&[][..], |m| &m.multipliers);
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", first.map_or(Value::Null, |m| string(&m.title))),
            ("principles", strings(self.motions.iter().map(word))),
            ("left_out", Value::Array(left_out.collect())),
            ("t", first.map_or(Value::Null, |m| numbers(&m.t))),
            ("motions", by_principle(self.motions.iter().map(Motion::to_json).collect())),
            (
                "equations",
                by_principle(self.derivations.iter().map(|d| present(d).to_json()).collect()),
            ),
            (
                "differences",
                Value::Array(self.partings.iter().map(|p| difference(p, first)).collect()),
            ),
            ("conserved", Value::Array(self.kept.iter().map(kept).collect())),
            (
                "equivalence",
                Value::Array(
                    self.equivalences.iter().map(|e| equivalence_json(e, names)).collect(),
                ),
            ),
        ])
    }
}

/// One row for each common time: t, then every coordinate under every principle, then the distances of the pairs.
pub fn comparison_table(c: &Comparison) -> Table<'_> {
    let Some(first) = c.motions.first() else { return Table::default() };
    let mut columns: Vec<(String, &[f64])> = vec![("t".into(), &first.t)];
    for (k, q) in first.q.iter().enumerate() {
        for m in &c.motions {
            columns.push((format!("{}({})", word(m), q.name), &m.q[k].values));
        }
    }
    for p in &c.partings {
        let [a, b] = p.between.map(Principle::name);
        columns.push((format!("distance({a} {b})"), &p.distance));
    }
    Table { columns, ..Table::default() }
}

fn word(motion: &Motion) -> String {
    motion.principle.map_or("", Principle::name).to_owned()
}

fn short(motion: &Motion) -> &'static str {
    match motion.principle {
        Some(Principle::Vakonomic) => "vak",
        Some(Principle::Restricted) => "res",
        Some(Principle::Chetaev) | None => "che",
    }
}

pub(crate) fn parted(parting: &Parting, names: &[Series], text: &mut String) {
    let [a, b] = parting.between.map(Principle::name);
    let _ = writeln!(text, "\n{a} and {b}");
    let Some(t) = parting.apart_from else {
        let _ = writeln!(
            text,
            "  no difference: largest distance {:.1e}, within the errors of the two motions",
            parting.largest.0
        );
        return;
    };
    let worst =
        parting.acceleration.iter().zip(names).max_by(|x, y| x.0.abs().total_cmp(&y.0.abs()));
    if let Some((a, q)) = worst {
        if a.abs() > 1e-12 {
            let _ = writeln!(
                text,
                "  accelerations differ at the start, most in {}'': by {a:.6}",
                q.name
            );
        } else {
            let _ = writeln!(text, "  accelerations agree at the start");
        }
    }
    if let Some((k, c)) = parting.law {
        let _ = writeln!(
            text,
            "  the distance grows like {c:.4}*(t - t0)^{:.0} (measured exponent {k:.3})",
            libm::round(k)
        );
    }
    let _ = writeln!(
        text,
        "  from t = {t} on the difference exceeds the errors of the two motions"
    );
    let _ = writeln!(
        text,
        "  largest distance {:.6} at t = {}; at the end the distance grows at the rate {:.4}",
        parting.largest.0, parting.largest.1, parting.speed
    );
}

fn difference(p: &Parting, first: Option<&Motion>) -> Value {
    let by_name =
        |values: Vec<Value>| object(p.difference.iter().map(|s| s.name.clone()).zip(values));
    let law =
        |pick: &dyn Fn((f64, f64)) -> f64| p.law.map_or(Value::Null, |law| number(pick(law)));
    object([
        ("between", strings(p.between.map(Principle::name))),
        ("t", first.map_or(Value::Null, |m| numbers(&m.t))),
        ("q", by_name(p.difference.iter().map(|s| numbers(&s.values)).collect())),
        ("distance", numbers(&p.distance)),
        ("acceleration", by_name(p.acceleration.iter().map(|&a| number(a)).collect())),
        ("order", law(&|l| l.0)),
        ("coefficient", law(&|l| l.1)),
        ("apart_from", p.apart_from.map_or(Value::Null, number)),
        ("largest", object([("distance", number(p.largest.0)), ("t", number(p.largest.1))])),
        ("speed_at_end", number(p.speed)),
    ])
}

/// As JSON, with the names of the multipliers.
pub(super) fn equivalence_json(e: &Equivalence, names: &[Series]) -> Value {
    let values = names.iter().zip(&e.multipliers);
    let μ = values.map(|(s, &x)| (s.name.clone(), number(x)));
    object([
        ("along", string(e.along.name())),
        ("equivalent", Value::Bool(e.equivalent)),
        ("residual", number(e.residual)),
        ("reaction", number(e.reaction)),
        ("mu0", object(μ)),
    ])
}

pub(crate) fn sentence(e: &Equivalence, first: &Motion) -> String {
    let names = first.multipliers.iter().map(|s| &s.name);
    let μ: Vec<String> =
        names.zip(&e.multipliers).map(|(n, x)| format!("mu({n}) = {x:.8}")).collect();
    let part = percent(e.residual, e.reaction);
    match (e.along, e.equivalent) {
        (Principle::Chetaev, true) => {
            format!(
                "this chetaev motion is also vakonomic, with {} at the start ({part} of its reaction (RMS) \
                 remains unexplained)",
                μ.join(", ")
            )
        }
        (Principle::Chetaev, false) => format!(
            "this chetaev motion is not vakonomic, whatever mu is at the start: the best choice, {}, leaves \
             {part} of its reaction (RMS) unexplained",
            μ.join(", ")
        ),
        (_, true) => format!(
            "this vakonomic motion also satisfies the d'Alembert–Chetaev equations ({part} of its reaction (RMS) lies \
             outside the span of the constraint gradients)"
        ),
        (_, false) => format!(
            "this vakonomic motion does not satisfy the d'Alembert–Chetaev equations: {part} of its reaction (RMS) \
             lies outside the span of the constraint gradients"
        ),
    }
}

/// A part of a whole: `8.2 %`, `3e-7 %`.
fn percent(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    if percent < 0.1 { format!("{percent:.0e} %") } else { format!("{percent:.1} %") }
}

fn table(rows: &[Vec<String>], text: &mut String) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |c: usize| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::from(" ");
        for (c, cell) in row.iter().enumerate() {
            let w = widths[c];
            let _ =
                if c == 0 { write!(line, " {cell:<w$}") } else { write!(line, "  {cell:>w$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
