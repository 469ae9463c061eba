//! The equations of large models: some lines of each block, and how many there are.

use pfaff::{Derivation, Dynamics, Workspace};
use pfaff_expr::{Expr, Node};
use pfaff_mechanics::{Equations, SparseBlocks};

use super::{Label, Line, Presentation, Section};

/// Lines of a block that are shown.
const SHOWN: usize = 12;
/// Nodes of a line that is shown.
const LONGEST: usize = 400;

/// Lays out some lines of each block of a derivation that was made for a run, and says what is left out.
pub fn present_outline(derivation: &Derivation) -> Presentation {
    let model = &derivation.workspace();
    let (sections, left_out, principle) = match &derivation.dynamics {
        Dynamics::Saddle(equations) => {
            let (sections, left_out) = outline(model, equations);
            (sections, left_out, Some(equations.principle))
        }
        Dynamics::Ordinary(ordinary) => {
            let zero = model.graph.zero();
            let line = |&e: &Expr| Line { label: Label::Expression(e), right: zero };
            let section = Section {
                key: "equations",
                heading: "Equations",
                lines: ordinary.residual.iter().map(line).collect(),
            };
            let mut left_out = Vec::new();
            (vec![shortened(model, section, &mut left_out)], left_out, None)
        }
    };
    let count = model.coordinates.len();
    let mut remarks = vec![format!(
        "This model has {count} coordinates. At most {SHOWN} lines of each block are shown, and no line of more than \
         {LONGEST} operations. Left out:"
    )];
    remarks.extend(left_out);
    Presentation::of(model, principle, sections, remarks)
}

fn outline(model: &Workspace, e: &Equations) -> (Vec<Section>, Vec<String>) {
    let g = &model.graph;
    let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
    let constraints: Vec<&str> = model.constraints.iter().map(|c| c.name.as_str()).collect();
    let entry = |text: &'static str, indices: &[&str], right: Expr| Line {
        label: Label::Entry {
            text,
            latex: text,
            indices: indices.iter().map(|&i| i.to_owned()).collect(),
        },
        right,
    };
    let vector = |text: &'static str, names: &[&str], values: &[Expr]| -> Vec<Line> {
        let values = names.iter().zip(values).filter(|(_, x)| **x != g.zero());
        values.map(|(n, &x)| entry(text, &[n], x)).collect()
    };
    let mut left_out = Vec::new();
    let mut sections = vec![Section {
        key: "momenta",
        heading: "Momenta",
        lines: vector("p", &names, &e.momenta),
    }];
    if e.auxiliary.as_ref().is_some_and(|a| !a.definitions.is_empty()) {
        let n = names.len();
        left_out.push(format!(
            "the mass matrix M and the matrix of the constraints A: M has up to {} different entries. A run does not \
             use them, but solves for the velocities of intermediate points too.",
            n * (n + 1) / 2
        ));
    } else {
        let SparseBlocks { mass, jacobian, .. } = e.sparse(g);
        let lines =
            |text: &'static str, rows: &[&str], of: Vec<Vec<(usize, Expr)>>, upper: bool| {
                let mut lines = Vec::new();
                for (i, row) in of.iter().enumerate() {
                    let wanted = row.iter().filter(|(j, _)| !upper || i <= *j);
                    lines.extend(wanted.map(|&(j, x)| entry(text, &[rows[i], names[j]], x)));
                }
                lines
            };
        let heading = "Mass matrix M (symmetric)";
        sections.push(Section { key: "mass", heading, lines: lines("M", &names, mass, true) });
        let heading = "Constraint matrix A";
        let lines = lines("A", &constraints, jacobian, false);
        sections.push(Section { key: "jacobian", heading, lines });
    }
    sections.push(Section {
        key: "force",
        heading: "Force f",
        lines: vector("f", &names, &e.force),
    });
    let lines = vector("b", &constraints, &e.drift);
    sections.push(Section { key: "drift", heading: "Drift b", lines });
    let held = |c: &pfaff_model::Constraint| Line {
        label: Label::Expression(c.expr),
        right: g.zero(),
    };
    let lines = model.constraints.iter().map(held).collect();
    sections.push(Section { key: "constraints", heading: "Constraints", lines });
    let lines = vec![entry("E", &[], e.energy)];
    sections.push(Section { key: "energy", heading: "Energy", lines });
    let sections = sections.into_iter().map(|s| shortened(model, s, &mut left_out)).collect();
    (sections, left_out)
}

/// The first lines that are not too long; says what is left out.
fn shortened(model: &Workspace, section: Section, left_out: &mut Vec<String>) -> Section {
    let g = &model.graph;
    let is_short = |e: Expr| {
        let live = g.live(&[e]);
        live.len() <= LONGEST && !live.iter().any(|&e| matches!(g.node(e), Node::Family { .. }))
    };
    let all = section.lines.len();
    let mut lines = section.lines;
    lines.truncate(SHOWN);
    lines.retain(|line| {
        is_short(line.right) && !matches!(line.label, Label::Expression(e) if !is_short(e))
    });
    if lines.len() < all {
        let heading = section.heading;
        left_out.push(format!("{heading}: {} of {all} lines", all - lines.len()));
    }
    Section { lines, ..section }
}
