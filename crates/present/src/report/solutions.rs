//! The motions between given ends as a table, least action first.

use std::fmt::Write;

use pfaff_expr::escape_markup as escape;

use super::tables::{principle_name, size, table};
use crate::number::short;
use pfaff::Motion;
use pfaff::Solution;

/// The most rows, and the most multipliers and conjugate points in one of them.
const ROWS: usize = 40;
const TIMES: usize = 3;
const MULTIPLIERS: usize = 8;

/// The section; empty without given ends.
pub(crate) fn solutions(motions: &[Motion]) -> String {
    let mut out = String::new();
    for motion in motions {
        let Some(list) = &motion.solutions else { continue };
        if motions.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", principle_name(motion));
        }
        out += match list.len() {
            0 => "<p>No motion between the ends was found.</p>",
            1 => "<p>One motion between the ends was found.</p>",
            _ => {
                "<p>Several motions between the ends were found; the page shows the first.</p>"
            }
        };
        if list.is_empty() {
            continue;
        }
        let rows: Vec<Vec<String>> =
            list.iter().take(ROWS).enumerate().map(|(i, s)| row(i + 1, s)).collect();
        let heads = [
            "",
            "action",
            "ends at t",
            "multipliers at the start",
            "residual",
            "error",
            "isolated?",
            "conjugate points",
            "minimum?",
        ];
        out += &table("Stationary points of the action, least action first", &heads, &rows);
        if list.len() > ROWS {
            let _ = write!(out, "<p>… and {} more.</p>", list.len() - ROWS);
        }
    }
    out
}

fn row(number: usize, s: &Solution) -> Vec<String> {
    let mut μ: Vec<String> = s
        .mu0
        .iter()
        .take(MULTIPLIERS)
        .map(|(name, x)| format!("{} {}", escape(name), short(*x)))
        .collect();
    if s.mu0.len() > MULTIPLIERS {
        μ.push("…".into());
    }
    let family = match s.family_dimension {
        0 => "yes".to_owned(),
        1 => "one of a family with one parameter".to_owned(),
        n => format!("one of a family with {n} parameters"),
    };
    let conjugate = match s.conjugate.as_deref() {
        None => "not computed".to_owned(),
        Some([]) => "none".to_owned(),
        Some(times) => {
            let first: Vec<String> = times.iter().take(TIMES).map(|t| short(*t)).collect();
            let more = times.len().saturating_sub(TIMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("t = {}{more}", first.join(", "))
        }
    };
    let minimum = match s.minimum {
        Some(true) => "a local minimum",
        Some(false) => "no",
        None => "not decided",
    };
    vec![
        number.to_string(),
        format!("{:.10}", s.action),
        short(s.t1),
        if μ.is_empty() { "–".into() } else { μ.join(", ") },
        size(s.residual),
        s.error.map_or_else(|| "–".into(), size),
        if s.abnormal { format!("{family}; also abnormal") } else { family },
        conjugate,
        minimum.into(),
    ]
}
