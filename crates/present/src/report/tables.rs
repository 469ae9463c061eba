//! What a page says in tables and sentences: constraint classes, audit, statistics, events, notes, provenance.

use std::fmt::Write;

use pfaff_expr::escape_markup as escape;
use pfaff_mechanics::Class;
use pfaff_model::Principle;
use sha2::{Digest, Sha256};

use super::Report;
use crate::motion::compare::parted;
use crate::motion::equivalence::sentence;
use crate::motion::sentence as note_sentence;
use crate::number::short;
use pfaff::Comparison;
use pfaff::Settings;
use pfaff::Verdict;
use pfaff::{ConstraintReport, check, check_of};
use pfaff::{Form, Motion, StopReason};

/// Rows of a table that is only illustrative.
const ROWS: usize = 60;

/// A table with a caption for those who do not see it; cells are HTML already.
pub(crate) fn table(caption: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!(
        "<div class=\"scroll\"><table><caption>{}</caption><thead><tr>",
        escape(caption)
    );
    for head in heads {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(head));
    }
    out += "</tr></thead><tbody>";
    for row in rows {
        out += "<tr>";
        for (i, cell) in row.iter().enumerate() {
            let _ = if i == 0 {
                write!(out, "<th scope=\"row\">{cell}</th>")
            } else {
                write!(out, "<td>{cell}</td>")
            };
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

/// The size of a deviation, kept on one line: `1.0e-12` could break at its sign.
pub(crate) fn size(x: f64) -> String {
    if x.is_nan() {
        "–".into()
    } else if x == 0.0 {
        "0".into()
    } else {
        format!("<span class=\"number\">{x:.1e}</span>")
    }
}

/// A verdict that does not speak by colour alone.
pub(crate) fn badge(verdict: Verdict) -> String {
    let sign = match verdict {
        Verdict::Pass => "✓",
        Verdict::Unchecked => "–",
        Verdict::Warn => "!",
        Verdict::Fail => "✗",
    };
    format!("<span class=\"verdict {0}\">{sign} {0}</span>", verdict.name())
}

/// Degrees of freedom, and each constraint in words.
pub(crate) fn classes(report: &Report<'_>) -> String {
    let check = match report.chetaev() {
        Some(derivation) => check_of(&derivation),
        None => check(report.model),
    };
    let count = |n: usize, word: &str| {
        if n == 1 { format!("one {word}") } else { format!("{n} {word}s") }
    };
    let mut out = format!(
        "<p>{} and {} leave {} of freedom.",
        capitalised(&count(check.coordinates.len(), "coordinate")),
        if check.constraints.is_empty() {
            "no constraint".into()
        } else {
            count(check.constraints.len(), "constraint")
        },
        if check.degrees_of_freedom == 1 {
            "one degree".into()
        } else {
            format!("{} degrees", check.degrees_of_freedom)
        },
    );
    if check.regular == Some(false) {
        out += " The equations do not determine all accelerations and multipliers.";
    }
    out += "</p>";
    if !check.constraints.is_empty() {
        out += "<ul>";
        for c in check.constraints.iter().take(ROWS) {
            let _ = write!(
                out,
                "<li><code>{}</code> {}</li>",
                escape(&c.name),
                escape(&class_in_words(c))
            );
        }
        if check.constraints.len() > ROWS {
            let _ = write!(out, "<li>… and {} more</li>", check.constraints.len() - ROWS);
        }
        out += "</ul>";
    }
    out
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}

fn class_in_words(c: &ConstraintReport) -> String {
    let class = match c.class {
        Class::Holonomic => "is holonomic: it restricts positions alone",
        Class::Linear => "is linear in the velocities",
        Class::Affine => {
            "is affine in the velocities: linear with a part that does not depend on them"
        }
        Class::Nonlinear => "is nonlinear in the velocities",
        Class::Memory => "has memory: it depends on the past of the motion",
    };
    let integrable = match (c.class, c.integrable) {
        (Class::Holonomic | Class::Memory, _) => "",
        (_, Some(true)) => ", and integrable: it is equivalent to a relation between positions",
        (_, Some(false)) => {
            ", and not integrable: no relation between positions is equivalent to it"
        }
        (_, None) => "; whether it is integrable is not known",
    };
    let orders: Vec<String> = c.orders.iter().map(f64::to_string).collect();
    let orders = if orders.is_empty() {
        String::new()
    } else {
        format!(" (order {})", orders.join(", "))
    };
    let open =
        if c.undecided { "; whether velocities occur at all could not be decided" } else { "" };
    format!("{class}{orders}{integrable}{open}.")
}

/// The audit of each motion.
pub(crate) fn audits(motions: &[Motion]) -> String {
    let mut out = String::new();
    for motion in motions {
        if motions.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", principle_name(motion));
        }
        let _ = write!(out, "<p>In all: {}</p>", badge(motion.audit.verdict));
        let rows: Vec<Vec<String>> = motion
            .audit
            .checks
            .iter()
            .map(|c| {
                vec![
                    escape(&c.name),
                    size(c.value),
                    size(c.limit),
                    badge(c.verdict),
                    escape(c.reason),
                ]
            })
            .collect();
        out += &table(
            "Checks of the motion against the model, by an independent computation",
            &["check", "found", "limit", "verdict", "why this limit"],
            &rows,
        );
    }
    out
}

pub(crate) fn principle_name(motion: &Motion) -> &'static str {
    motion.principle.map_or("equations as written", Principle::name)
}

/// In a sentence: principle, time, how it ended.
pub(crate) fn summary(motion: &Motion) -> String {
    let end = match &motion.stop.reason {
        StopReason::End => String::new(),
        StopReason::Event(name) => {
            format!(", ended by the event <code>{}</code>", escape(name))
        }
        reason => {
            format!(", <strong>stopped early: {}</strong>", reason.name().replace('_', " "))
        }
    };
    format!(
        "{}, t = {} to {}{end}",
        principle_name(motion),
        short(motion.start),
        short(motion.stop.t)
    )
}

/// Notes of the run, its events, the last state.
pub(crate) fn course(motions: &[Motion]) -> String {
    let mut out = String::new();
    for motion in motions {
        if motions.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", principle_name(motion));
        }
        if !motion.notes.is_empty() {
            out += "<ul class=\"notes\">";
            for note in &motion.notes {
                let _ = write!(out, "<li>{}</li>", escape(&note_sentence(note, motion)));
            }
            out += "</ul>";
        }
        if !motion.events.is_empty() {
            let rows: Vec<Vec<String>> = motion
                .events
                .iter()
                .take(ROWS)
                .map(|e| vec![short(e.t), escape(&e.name), e.direction.to_owned()])
                .collect();
            out += &table("Events", &["t", "event", "crossing"], &rows);
            if motion.events.len() > ROWS {
                let _ = write!(out, "<p>… and {} more.</p>", motion.events.len() - ROWS);
            }
        }
        out += &ends(motion);
    }
    out
}

/// First and last state.
fn ends(motion: &Motion) -> String {
    let Some((&t0, &t1)) = motion.t.first().zip(motion.t.last()) else {
        return "<p>No output time was reached.</p>".into();
    };
    let (a, b) = (short(t0), short(t1));
    let at = |values: &[f64]| -> [String; 2] {
        [values.first(), values.last()].map(|x| x.map_or("–".into(), |&x| short(x)))
    };
    let rows: Vec<Vec<String>> = motion
        .columns()
        .into_iter()
        .skip(1)
        .filter(|(name, _)| !name.ends_with("''"))
        .take(ROWS)
        .map(|(name, values)| {
            let [first, last] = at(values);
            vec![escape(&name), first, last]
        })
        .collect();
    let heads = [String::new(), format!("t = {a}"), format!("t = {b}")];
    table("First and last output", &heads.each_ref().map(String::as_str), &rows)
}

/// How the motions part and what each keeps.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let mut out = String::new();
    let Some(first) = comparison.motions.first() else { return out };
    for (principle, why) in &comparison.left_out {
        let _ = write!(
            out,
            "<p><code>{}</code> is left out: {}.</p>",
            principle.name(),
            escape(why)
        );
    }
    for parting in &comparison.partings {
        let mut text = String::new();
        parted(parting, &first.q, &mut text);
        let mut lines = text.trim().lines();
        let _ = write!(out, "<h3>{}</h3><ul>", escape(lines.next().unwrap_or("")));
        lines.for_each(|l| {
            let _ = write!(out, "<li>{}</li>", escape(l.trim()));
        });
        out += "</ul>";
    }
    if !comparison.equivalences.is_empty() {
        out += "<h3>Does one motion satisfy both principles?</h3><ul>";
        for e in &comparison.equivalences {
            let _ = write!(out, "<li>{}</li>", escape(&sentence(e, first)));
        }
        out += "</ul>";
    }
    let names: Vec<&str> = comparison.motions.iter().map(principle_name).collect();
    let mut heads = vec!["quantity"];
    heads.extend(&names);
    let rows: Vec<Vec<String>> = comparison
        .kept
        .iter()
        .map(|kept| {
            let mut row = vec![escape(&kept.name)];
            for (change, kept) in kept.change.iter().zip(&kept.kept) {
                let word = if *kept { " (kept)" } else { "" };
                row.push(change.map_or("–".into(), |c| format!("{}{word}", size(c))));
            }
            row
        })
        .collect();
    out + &table("Largest change since the start", &heads, &rows)
}

/// What it cost, in steps: times would make two pages of the same run differ.
pub(crate) fn statistics(motions: &[Motion]) -> String {
    let rows: Vec<Vec<String>> = motions
        .iter()
        .map(|m| {
            let s = &m.statistics;
            let form = match m.form {
                Form::Saddle => "multipliers",
                Form::Reduced => "independent quasi-velocities",
                Form::Ordinary => "as written",
            };
            vec![
                principle_name(m).to_owned(),
                m.method.to_owned(),
                form.to_owned(),
                s.steps.to_string(),
                s.rejected.to_string(),
                s.evaluations.to_string(),
            ]
        })
        .collect();
    table("Cost of the run", &["", "method", "form", "steps", "rejected", "evaluations"], &rows)
}

/// Where the numbers come from, and how to get them again.
pub(crate) fn provenance(report: &Report<'_>) -> String {
    let model = report.model;
    let mut rows = vec![
        vec!["pfaff".into(), env!("CARGO_PKG_VERSION").to_owned()],
        vec!["model".into(), format!("<code>{}</code>", escape(model.source.name()))],
        vec![
            "SHA-256 of its text".into(),
            format!("<code class=\"hash\">{}</code>", check_sum(model.source.text())),
        ],
    ];
    if let Ok(settings) = Settings::of(model, report.request) {
        let (t0, t1) = settings.span();
        rows.push(vec![
            "settings".into(),
            format!(
                "t = {} to {}, tolerance {:e}, {}, {} outputs",
                t0,
                t1,
                settings.tolerance(),
                report.shown.motions().first().map_or("", |m| m.method),
                settings.times().len()
            ),
        ]);
    }
    if !model.parameters.is_empty() {
        let list: Vec<String> = model
            .parameters
            .iter()
            .take(ROWS)
            .map(|p| format!("{} = {}", escape(&p.name), p.value))
            .collect();
        rows.push(vec!["parameters".into(), list.join(", ")]);
    }
    let mut out = table("Where the numbers come from", &["", ""], &rows)
        .replace("<thead><tr><th scope=\"col\"></th><th scope=\"col\"></th></tr></thead>", "");
    out += "<p>This command gives the same numbers again, with the same version of pfaff:</p>";
    let _ = write!(out, "<pre class=\"command\"><code>{}</code></pre>", escape(report.command));
    if report.name == "-" {
        out += "<p>The model came from standard input: its text is shown above.</p>";
    }
    out
}

/// SHA-256 in hexadecimal digits.
fn check_sum(text: &str) -> String {
    let mut hexadecimal = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hexadecimal, "{byte:02x}");
    }
    hexadecimal
}
