//! One table of all symbols of a page: those of the model, and ours.

use std::fmt::Write;

use pfaff::{Model, Principle};
use pfaff_expr::escape_markup as escape;

use super::tables::table;
use crate::equations::{Label, Presentation};
use crate::number::short;

/// Rows of each kind.
const ROWS: usize = 40;

/// Our symbols: the section that has them, the letter in text and in LaTeX, and what it is.
const OWN: [(&str, &str, &str, &str); 13] = [
    ("lagrangian", "L", "L", "Lagrangian"),
    ("lagrangian", "T", "T", "kinetic energy"),
    ("lagrangian", "T2", "T_2", "kinetic energy, the part quadratic in the velocities"),
    ("lagrangian", "T1", "T_1", "kinetic energy, the part linear in the velocities"),
    ("lagrangian", "T0", "T_0", "kinetic energy of the frame, without velocities"),
    ("lagrangian", "V", "V", "potential energy"),
    ("momenta", "p", "p", "momenta"),
    ("mass", "M", "M", "mass matrix"),
    ("force", "f", "f", "all forces of the equations without accelerations and reactions"),
    (
        "jacobian",
        "A",
        "A",
        "coefficients of the accelerations in the differentiated constraints",
    ),
    ("drift", "b", "b", "their right sides"),
    ("energy", "E", "E", "energy"),
    ("divergence", "Omega", "\\Omega", "divergence of the flow"),
];

/// The table, folded.
pub(super) fn symbols(model: &Model, presentation: &Presentation) -> String {
    let formula = |name: &str| format!("<math>{}</math>", presentation.mathml_name(name));
    let mut rows: Vec<Vec<String>> = vec![vec![formula("t"), "time".into()]];
    for c in model.coordinates.iter().take(ROWS) {
        rows.push(vec![formula(&c.name), "coordinate".into()]);
    }
    for p in model.parameters.iter().take(ROWS) {
        rows.push(vec![formula(&p.name), format!("parameter, {}", short(p.value))]);
    }
    let multiplier = match presentation.principle {
        Some(Principle::Vakonomic) => "mu",
        Some(Principle::Chetaev | Principle::Restricted) | None => "lambda",
    };
    for c in model.constraints.iter().take(ROWS) {
        let name = formula(&format!("{multiplier}({})", c.name));
        rows.push(vec![name, format!("multiplier of the constraint {}", escape(&c.name))]);
    }
    let has = |key: &str, letter: &str| {
        let is_letter = |label: &Label| match label {
            Label::Entry { text, .. } => *text == letter,
            _ => false,
        };
        let lines = presentation.sections.iter().filter(|s| s.key == key);
        lines.flat_map(|s| &s.lines).any(|l| is_letter(&l.label))
    };
    for (key, text, latex, meaning) in OWN {
        if has(key, text) {
            let label = Label::Entry { text, latex, indices: Vec::new() };
            let symbol = presentation.mathml_label(&label).concat();
            rows.push(vec![format!("<math>{symbol}</math>"), meaning.into()]);
        }
    }
    let is_own = |name: &str| presentation.names.iter().any(|n| n == name);
    for (name, _) in presentation.shown_definitions().take(ROWS) {
        let whose = if is_own(name) { "name of the model" } else { "abbreviation" };
        rows.push(vec![formula(name), format!("{whose}, see below")]);
    }
    for kept in &presentation.kept {
        let is_energy = kept.kind == "energy";
        if !is_energy {
            rows.push(vec![
                formula(&kept.name),
                format!("conserved: {}", escape(&kept.meaning)),
            ]);
        }
    }
    let mut out = String::from("<details class=\"block\"><summary>Symbols</summary>");
    let _ = write!(out, "{}", table("Symbols", &["symbol", "what it is"], &rows));
    out + "</details>"
}
