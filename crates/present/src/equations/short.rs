//! The equations of models whose blocks would fill many pages: what the text says, in its own names, and the equations
//! as a formula. All entries are written if the form is named.

use std::collections::BTreeMap;

use pfaff::{Derivation, Dynamics, Principle, Workspace};
use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::Equations;

use super::names::own_words;
use super::symmetric::with_symmetric_matrices;
use super::{Label, Line, Presentation, Section, conserved, names_of};

/// Operations of all blocks together that fit two pages.
const TWO_PAGES: usize = 1_500;
/// The same with all shared parts written out wherever they occur: names for them then fill pages.
const WRITTEN_OUT: u64 = 100_000;

/// Lays out a model whose blocks are long, in the names of the text; `None` if they are short.
pub fn present_short(derivation: &Derivation) -> Option<Presentation> {
    laid_out(derivation, true)
}

/// As [`present_short`], without the searches for short formulas and for conserved quantities, which take longer than
/// all the rest.
pub fn present_short_quickly(derivation: &Derivation) -> Option<Presentation> {
    laid_out(derivation, false)
}

fn laid_out(derivation: &Derivation, with_conserved: bool) -> Option<Presentation> {
    if let Some((merged, remark)) = with_symmetric_matrices(derivation) {
        return Some(laid_out(&merged, with_conserved)?.with_remark(remark));
    }
    let model = &derivation.workspace();
    let Dynamics::Saddle(e) = &derivation.dynamics else { return None };
    let operations = operations_if_long(model, e)?;
    if e.principle == Principle::Restricted {
        return None;
    }
    let mut sections = vec![energies(model), forces(model), held(model)];
    let words = with_conserved.then(|| {
        let (kept, words) = conserved::section(model, e);
        sections.push(kept);
        words
    });
    sections.retain(|s| !s.lines.is_empty());
    let equations = match e.principle {
        Principle::Chetaev => "(dL/dq')' - dL/dq = Q + A^T lambda with A = dphi/dq'",
        Principle::Vakonomic | Principle::Restricted => {
            "(dL/dq')' - dL/dq = Q + A^T mu' + (A' - dphi/dq)^T mu with A = dphi/dq'"
        }
    };
    let preface = vec![
        format!(
            "equations of motion: {equations}, phi being the left sides of the constraints"
        ),
        format!(
            "written out, M, f, A and b have {operations} operations; the form `multipliers` writes them all"
        ),
    ];
    let presentation = Presentation {
        title: model.name().to_owned(),
        principle: Some(e.principle),
        graph: Graph::new(),
        definitions: Vec::new(),
        sections,
        preface,
        symbols: None,
        remarks: Vec::new(),
        is_constrained: !model.constraints.is_empty(),
        names: names_of(model),
        kept: Vec::new(),
        vectors: Vec::new(),
    };
    let presentation = presentation.in_own_words(model, !with_conserved).with_vectors(model);
    Some(match words {
        Some(words) => presentation.with_conserved(words),
        None => presentation,
    })
}

/// How many operations the blocks of the equations have, where they fill more than two pages.
pub(super) fn operations_if_long(model: &Workspace, e: &Equations) -> Option<usize> {
    let g = &model.graph;
    let mut blocks: Vec<Expr> =
        [&e.mass, &e.jacobian].into_iter().flatten().flatten().copied().collect();
    blocks.extend(e.force.iter().chain(&e.drift));
    let operations = g.operations(&blocks);
    let is_short = operations <= TWO_PAGES && written_out(g, &blocks) <= WRITTEN_OUT;
    (!is_short).then_some(operations)
}

/// Nodes of expressions whose shared parts are written out.
fn written_out(g: &Graph, roots: &[Expr]) -> u64 {
    let mut sizes: BTreeMap<Expr, u64> = BTreeMap::new();
    for e in g.live(roots) {
        let size = g.node(e).operands().fold(1_u64, |n, o| n.saturating_add(sizes[&o]));
        sizes.insert(e, size);
    }
    roots.iter().fold(0, |n, e| n.saturating_add(sizes[e]))
}

fn entry(text: &'static str, indices: &[&str], right: Expr) -> Line {
    let indices = indices.iter().map(|&i| i.to_owned()).collect();
    Line { label: Label::Entry { text, latex: text, indices }, right }
}

fn energies(model: &Workspace) -> Section {
    let pfaff_model::Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } =
        model.dynamics
    else {
        return Section { key: "lagrangian", heading: "", lines: Vec::new() };
    };
    match (kinetic, potential) {
        (Some(t), v) => {
            let mut lines = vec![entry("T", &[], t)];
            lines.extend(v.map(|v| entry("V", &[], v)));
            Section { key: "lagrangian", heading: "Lagrangian L = T - V", lines }
        }
        _ => Section {
            key: "lagrangian",
            heading: "Lagrangian",
            lines: vec![entry("L", &[], lagrangian)],
        },
    }
}

fn forces(model: &Workspace) -> Section {
    let g = &model.graph;
    let force = |k: usize| g.sum(model.forces.iter().map(|f| f.components[k]));
    let lines = model.coordinates.iter().enumerate();
    let mut lines: Vec<Line> = lines.map(|(k, c)| entry("Q", &[&c.name], force(k))).collect();
    lines.retain(|l| !g.is_zero(l.right));
    Section { key: "forces", heading: "Forces", lines }
}

fn held(model: &Workspace) -> Section {
    let zero = model.graph.zero();
    let lines = model.constraints.iter();
    let lines = lines.map(|c| Line { label: Label::Expression(c.expr), right: zero }).collect();
    Section { key: "constraints", heading: "Constraints", lines }
}

impl Presentation {
    /// All lines with the names of the text.
    fn in_own_words(mut self, model: &Workspace, is_quick: bool) -> Self {
        let named = own_words(model, &self.outputs(), &self.graph, is_quick);
        self.rename(named);
        self
    }
}
