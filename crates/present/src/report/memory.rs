//! What a motion has_memory: its operators with their orders, where they stand, and how the motion begins.

use std::fmt::Write;

use pfaff_expr::{Expr, Graph, Memory, Node, escape_markup as escape};
use pfaff_model::{Dynamics as Written, Workspace};

use super::Report;
use super::tables::table;
use crate::motion::sentence;
use pfaff::{Note, departures, has_memory, order};

/// The most operators and coordinates that are listed.
const ROWS: usize = 40;

/// The section; empty without memory.
pub(crate) fn memory(report: &Report<'_>) -> String {
    let (model, motions) = (&report.model.workspace(), report.shown.motions());
    if !has_memory(model) {
        return String::new();
    }
    let heads = ["operator", "what it is", "order", "used in"];
    let mut out =
        table("Memory operators, which start with the run", &heads, &operators(model));
    let Some(motion) = motions.first() else { return out };
    let powers = report
        .derivations
        .first()
        .and_then(|d| departures(&d.workspace(), &d.dynamics, motion.start));
    if let Some(powers) = powers {
        out += "<p>Near the start each coordinate is the polynomial of its initial values plus a term that \
            grows like the power of <i>t</i> − <i>t</i>₀ given here, or a higher one: ";
        let one = |(c, p): (&pfaff_model::Coordinate, &f64)| {
            format!("<code>{}</code> {}", escape(&c.name), crate::number::short(*p))
        };
        let list: Vec<String> =
            model.coordinates.iter().zip(&powers).take(ROWS).map(one).collect();
        out += &list.join(", ");
        out += if powers.len() > ROWS { ", ….</p>" } else { ".</p>" };
    }
    let remarks: Vec<String> = motion
        .notes
        .iter()
        .filter(|note| matches!(note, Note::Remark(_) | Note::Equivalence))
        .map(|note| sentence(note, motion))
        .collect();
    if !remarks.is_empty() {
        out += "<ul>";
        for remark in remarks {
            let _ = write!(out, "<li>{}</li>", escape(&remark));
        }
        out += "</ul>";
    }
    out
}

/// Each operator once in each place.
fn operators(model: &Workspace) -> Vec<Vec<String>> {
    let g: &Graph = &model.graph;
    let mut places: Vec<(String, Vec<Expr>)> = Vec::new();
    places.extend(
        model.constraints.iter().map(|c| (format!("constraint {}", c.name), vec![c.expr])),
    );
    if let Written::Equations(equations) = &model.dynamics {
        places.extend(equations.iter().map(|e| (e.name.clone(), vec![e.expr])));
    }
    places.extend(model.forces.iter().map(|f| (f.name.clone(), f.components.clone())));
    places.extend(model.observed.iter().map(|o| (format!("observe {}", o.name), vec![o.expr])));
    places.extend(model.events.iter().map(|e| (format!("event {}", e.name), vec![e.expr])));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, parts) in &places {
        for node in g.live(parts) {
            let Node::Memory(kind, ..) = g.node(node) else { continue };
            rows.push(vec![
                format!("<math>{}</math>", g.to_mathml(node)),
                in_words(kind).into(),
                order(model, node).map_or("–".into(), |x| x.to_string()),
                escape(place),
            ]);
        }
    }
    rows.truncate(ROWS);
    rows
}

fn in_words(kind: Memory) -> &'static str {
    match kind {
        Memory::Caputo => "Caputo derivative",
        Memory::RiemannLiouville => "Riemann–Liouville derivative",
        Memory::CaputoRight => "right Caputo derivative",
        Memory::RiemannLiouvilleRight => "right Riemann–Liouville derivative",
        Memory::Integral => "fractional integral",
        Memory::Kernel => "integral over the past with a kernel of the lag",
        Memory::Mean => "average since the start",
    }
}
