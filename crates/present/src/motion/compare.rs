//! A comparison for people and for programs: text, JSON and CSV.

use std::fmt::Write;
use std::io;

use pfaff::{Comparison, Derivation, Kept, Motion, Parting, Principle, Series, signs};
use serde_json::Value;

use super::equivalence::{equivalence_json, sentence};
use super::json::{Entries, Entry};
use crate::equations::present;
use crate::hurry::in_time;
use crate::json::{number, numbers, object, string, strings, text_of, write_text};
use crate::{Table, ToJson, ToText};

/// Rows of the table of positions.
const ROWS: usize = 7;
/// Coordinates in the table of positions.
const COORDINATES: usize = 4;
/// What stands for equations where there was no time for them.
const LEFT_OUT: &str = "(the equations are left out: the time was over)";

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
            let lines = in_time(|| {
                present(derivation).lines(&["definitions", "dependent", "equations"])
            });
            for line in lines.unwrap_or_else(|| vec![LEFT_OUT.to_owned()]) {
                let _ = writeln!(text, "  {line}");
            }
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
        object(entries(self).into_iter().map(|(key, entry)| (key, entry.into_value())))
    }

    fn to_json_line(&self) -> String {
        text_of(&Entries(entries(self))) + "\n"
    }

    fn write_json_line(&self, out: &mut dyn io::Write) -> io::Result<()> {
        write_text(&Entries(entries(self)), out)?;
        out.write_all(b"\n")
    }
}

fn entries(comparison: &Comparison) -> Vec<(&'static str, Entry<'_>)> {
    let motions = &comparison.motions;
    let first = motions.first();
    let by_principle = |values: Vec<Value>| object(motions.iter().map(word).zip(values));
    let kept = |k: &Kept| {
        let change = k.change.iter().map(|c| c.map_or(Value::Null, number));
        object([
            ("name", string(&k.name)),
            ("change", by_principle(change.collect())),
            ("kept", by_principle(k.kept.iter().map(|&k| Value::Bool(k)).collect())),
        ])
    };
    let left_out = comparison
        .left_out
        .iter()
        .map(|(p, why)| object([("principle", string(p.name())), ("reason", string(why))]));
    let names = first.map_or(&[][..], |m| &m.multipliers);
    let equations = |d: &Derivation| in_time(|| present(d).to_json()).unwrap_or(Value::Null);
    let list = |values: Vec<Value>| Entry::Value(Value::Array(values));
    let equivalences = comparison.equivalences.iter();
    vec![
        ("pfaff", Entry::Value(string(env!("CARGO_PKG_VERSION")))),
        ("model", Entry::Value(first.map_or(Value::Null, |m| string(&m.title)))),
        ("principles", Entry::Value(strings(motions.iter().map(word)))),
        ("left_out", list(left_out.collect())),
        ("t", first.map_or(Entry::Value(Value::Null), |m| Entry::Numbers(&m.t))),
        ("motions", Entry::Motions(motions.iter().map(|m| (word(m), m)).collect())),
        (
            "equations",
            Entry::Value(by_principle(comparison.derivations.iter().map(equations).collect())),
        ),
        (
            "differences",
            list(comparison.partings.iter().map(|p| difference(p, first)).collect()),
        ),
        ("conserved", list(comparison.kept.iter().map(kept).collect())),
        ("equivalence", list(equivalences.map(|e| equivalence_json(e, names)).collect())),
    ]
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

#[cfg(test)]
mod tests {
    use pfaff::{Model, Run, compare};

    use super::*;
    use crate::hurried;

    /// Where there is no time for equations, all the rest is there.
    #[test]
    fn equations_are_left_out_of_a_late_comparison() {
        let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n\
            constraint c: z' = y*x' + sin(y)*y'\ninitial x' = 1, y' = 0.5, mu(c) = 0.1\nsolve t = 0..1\n";
        let model = Model::parse(text).expect("a model");
        let compared = compare(&model, &Run::default(), None).expect("motions");
        let (whole, late) = (compared.to_text(), hurried(|| false, || compared.to_text()));
        assert!(late.contains(LEFT_OUT) && !whole.contains(LEFT_OUT));
        assert!(late.contains("Positions at common times") && late.len() < whole.len());
        let rest = |text: &str| text[text.find("Positions").expect("it is there")..].to_owned();
        assert_eq!(rest(&late), rest(&whole));
        let written = |goes_on: fn() -> bool| {
            hurried(goes_on, || {
                let mut bytes = Vec::new();
                compared.write_json_line(&mut bytes).expect("a vector takes every byte");
                String::from_utf8(bytes).expect("JSON is text")
            })
        };
        assert_eq!(written(|| true), compared.to_json_line());
        let read = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
        let (late, mut whole) = (read(&written(|| false)), read(&compared.to_json_line()));
        for (principle, equations) in whole["equations"].as_object_mut().expect("an object") {
            assert!(!equations.is_null(), "{principle}");
            *equations = Value::Null;
        }
        assert_eq!(late, whole);
    }
}
