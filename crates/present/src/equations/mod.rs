//! The equations for people: text, LaTeX and JSON of what `derive` shows.
//!
//! Large parts that occur more than once get names, so that what is printed grows with the graph and not with
//! the expanded formulas.

#[cfg(test)]
mod agreement_tests;
#[cfg(test)]
mod book_tests;
mod conserved;
mod document;
mod equation;
mod fit;
mod fractional;
mod graph;
mod hamilton;
pub(crate) mod headings;
mod json;
mod jumps;
mod lagrangian;
mod latex_lines;
mod markup;
mod names;
mod outline;
mod reduced;
mod restricted;
mod short;
mod short_words;
mod standard;
mod state;
mod symmetric;
mod typst_lines;
mod used_names;
mod vector_markup;
mod vectors;

pub use fractional::{present_fractional, present_fractional_hamilton};
pub use graph::expression_graph;
pub use hamilton::{is_long_in_velocities, present_hamilton, present_hamilton_in_velocities};
pub(crate) use names::{named_parts, names_of};
pub use outline::present_outline;
pub use reduced::{present_reduced, present_reduced_shortly};
pub use short::{present_short, present_short_quickly};
pub use standard::{StandardForm, present_standard};

use pfaff::{Derivation, Dynamics, Error, ParseErrors, Principle, Refusal, Workspace, signs};
use pfaff_expr::{Expr, Graph, NamedParts, Role};
use pfaff_mechanics::{Equations, Ordinary, divergence_formula};

use crate::{ToLatex, ToText};
use conserved::Kept;
use equation::equation;
use symmetric::with_symmetric_matrices;
pub(crate) use vectors::VectorLine;
use vectors::vector_lines;

/// Everything that is shown, as expressions under headings.
#[derive(Clone, Debug)]
pub struct Presentation {
    pub(crate) title: String,
    pub(crate) principle: Option<Principle>,
    pub(crate) graph: Graph,
    /// Named parts, in the order in which they build on each other.
    pub(crate) definitions: Vec<(String, Expr)>,
    pub(crate) sections: Vec<Section>,
    /// Sentences after the title.
    pub(crate) preface: Vec<String>,
    /// What the symbols are, in one sentence.
    pub(crate) symbols: Option<&'static str>,
    /// Sentences at the end.
    pub(crate) remarks: Vec<String>,
    /// Whether there are multipliers whose signs need a convention.
    pub(crate) is_constrained: bool,
    /// The names of the model.
    pub(crate) names: Vec<String>,
    /// What the conserved quantities are, in the order of their section.
    pub(crate) kept: Vec<Kept>,
    /// What the text says in vectors.
    pub(crate) vectors: Vec<VectorLine>,
}

/// A heading with its lines.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) key: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// `label = right`, or `left = right` for equations.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) label: Label,
    pub(crate) right: Expr,
}

/// What stands on the left.
#[derive(Clone, Debug)]
pub(crate) enum Label {
    /// A block entry: the symbol of the block in text and LaTeX, and the names of its indices.
    Entry { text: &'static str, latex: &'static str, indices: Vec<String> },
    /// A component of a tensor: upper indices, then lower ones.
    Component {
        text: &'static str,
        latex: &'static str,
        upper: Vec<String>,
        lower: Vec<String>,
    },
    /// An expression.
    Expression(Expr),
}

/// Lays out the derived dynamics of a model.
pub fn present(derivation: &Derivation) -> Presentation {
    if let Some((merged, remark)) = with_symmetric_matrices(derivation) {
        return present(&merged).with_remark(remark);
    }
    let (model, dynamics) = (&derivation.workspace(), &derivation.dynamics);
    let mut kept = Vec::new();
    let mut sections = match dynamics {
        Dynamics::Saddle(equations) => {
            let mut sections = mechanical(model, equations);
            let (section, words) = conserved::section(model, equations);
            sections.push(section);
            kept = words;
            sections
        }
        Dynamics::Ordinary(ordinary) => as_written(model, ordinary),
    };
    if let Dynamics::Saddle(equations) = dynamics {
        sections.extend(jumps::impacts(model, equations));
    }
    sections.extend(jumps::resets(model));
    let principle = match dynamics {
        Dynamics::Saddle(equations) => Some(equations.principle),
        Dynamics::Ordinary(_) => None,
    };
    Presentation::of(model, principle, sections, jumps::remarks(model))
        .with_conserved(kept)
        .with_vectors(model)
}

pub(crate) fn mechanical(model: &Workspace, e: &Equations) -> Vec<Section> {
    let g = &model.graph;
    let names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let constraints: Vec<String> = model.constraints.iter().map(|c| c.name.clone()).collect();
    let entry = |text: &'static str, latex: &'static str, indices: Vec<String>, right: Expr| {
        Line { label: Label::Entry { text, latex, indices }, right }
    };
    let nonzero = |lines: Vec<Line>| -> Vec<Line> {
        lines.into_iter().filter(|l| l.right != g.zero()).collect()
    };
    let vector =
        |text: &'static str, latex: &'static str, names: &[String], values: &[Expr]| {
            let lines = names.iter().zip(values);
            nonzero(lines.map(|(n, &x)| entry(text, latex, vec![n.clone()], x)).collect())
        };
    let matrix = |text: &'static str,
                  latex: &'static str,
                  rows: &[String],
                  values: &[Vec<Expr>],
                  upper: bool| {
        let mut lines = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            for (j, column) in names.iter().enumerate() {
                if (!upper || i <= j) && values[i][j] != g.zero() {
                    lines.push(entry(
                        text,
                        latex,
                        vec![row.clone(), column.clone()],
                        values[i][j],
                    ));
                }
            }
        }
        lines
    };
    let mut sections = vec![lagrangian::section(model, e)];
    if let Some(k) = &e.kinetic {
        let v = model.velocities();
        let mut lines = matrix("g", "g", &names, &k.metric, true);
        lines.extend(vector("g", "g", &names, &k.vector));
        let scalar = if k.potential.is_some() { ("T0", "T_0") } else { ("L0", "L_0") };
        lines.push(entry("T2", "T_2", vec![], k.quadratic(g, &v)));
        lines.push(entry("T1", "T_1", vec![], k.linear(g, &v)));
        lines.push(entry(scalar.0, scalar.1, vec![], k.scalar));
        lines.extend(k.potential.map(|p| entry("V", "V", vec![], p)));
        // NOTE: for programs; people read the Lagrangian and the mass matrix.
        sections.push(Section { key: "kinetic", heading: "", lines });
    }
    let section = |key, heading, lines| Section { key, heading, lines };
    let restricted = e.principle == Principle::Restricted;
    if restricted {
        sections.extend(restricted::inserted(model, e));
    }
    let accelerations = model.accelerations();
    let multipliers = match e.principle {
        Principle::Chetaev => model.results.lambda.as_slice(),
        Principle::Vakonomic => model.results.mu_rate.as_slice(),
        Principle::Restricted => &[],
    };
    let equations = (0..names.len())
        .filter(|k| !e.dependent.contains(k))
        .map(|k| {
            let reaction =
                g.sum(multipliers.iter().zip(&e.directions).map(|(&λ, w)| g.mul(w[k], λ)));
            let (left, right) =
                (g.dot(&e.mass[k], &accelerations), g.add(e.force[k], reaction));
            equation(model, left, right)
        })
        .collect();
    sections.push(section("equations", "Equations of motion", equations));
    let held = model
        .constraints
        .iter()
        .map(|c| Line { label: Label::Expression(c.expr), right: g.zero() })
        .collect();
    sections.push(section("constraints", "Constraints", held));
    sections.push(section("momenta", "Momenta", vector("p", "p", &names, &e.momenta)));
    let mut energies = vec![entry("E", "E", vec![], lagrangian::energy(model, e))];
    if e.principle == Principle::Vakonomic {
        energies.push(entry("E[M]", "E[M]", vec![], e.multiplier_terms.energy));
    }
    sections.push(section("energy", "Energy", energies));
    let (mass, force) = match e.principle {
        Principle::Chetaev => ("Mass matrix M (symmetric)", "Force f"),
        Principle::Vakonomic => (
            "Effective mass matrix M - mu*d2phi/dq'2 (symmetric)",
            "Force f, including ((dphi/dq')' - dphi/dq)*mu without accelerations",
        ),
        Principle::Restricted => ("Mass matrix of L_c (symmetric)", "Force of L_c"),
    };
    sections.push(section("mass", mass, matrix("M", "M", &names, &e.mass, true)));
    let lines = match e.principle {
        Principle::Restricted => {
            let base = (0..names.len()).filter(|k| !e.dependent.contains(k));
            let (names, force): (Vec<String>, Vec<Expr>) =
                base.map(|k| (names[k].clone(), e.force[k])).unzip();
            vector("f", "f", &names, &force)
        }
        Principle::Chetaev | Principle::Vakonomic => vector("f", "f", &names, &e.force),
    };
    sections.push(section("force", force, lines));
    if !constraints.is_empty() {
        let heading = "Constraint matrix A";
        sections.push(section(
            "jacobian",
            heading,
            matrix("A", "A", &constraints, &e.jacobian, false),
        ));
        if e.directions != e.jacobian && !restricted {
            let heading = "Directions of the reactions W";
            let lines = matrix("W", "W", &constraints, &e.directions, false);
            sections.push(section("directions", heading, lines));
        }
        let heading = "Drift b";
        sections.push(section("drift", heading, vector("b", "b", &constraints, &e.drift)));
    }
    let flow = divergence_formula(model, e);
    let lines = flow.filter(|&Ω| !g.is_zero(Ω)).map(|Ω| entry("Omega", "\\Omega", vec![], Ω));
    let lines = lines.into_iter().collect();
    let heading = "Divergence of the flow on (q, p)";
    sections.push(section("divergence", heading, lines));
    sections.retain(|s| !s.lines.is_empty());
    sections
}

fn as_written(model: &Workspace, ordinary: &Ordinary) -> Vec<Section> {
    let zero = model.graph.zero();
    let lines = ordinary
        .residual
        .iter()
        .map(|&e| Line { label: Label::Expression(e), right: zero })
        .collect();
    vec![Section { key: "equations", heading: "Equations", lines }]
}

impl Presentation {
    /// Sections with names for what they share; empty ones are left out.
    pub(crate) fn of(
        model: &Workspace,
        principle: Option<Principle>,
        mut sections: Vec<Section>,
        remarks: Vec<String>,
    ) -> Self {
        sections.retain(|s| !s.lines.is_empty());
        let mut presentation = Self {
            title: model.name().to_owned(),
            principle,
            graph: Graph::new(),
            definitions: Vec::new(),
            sections,
            preface: Vec::new(),
            symbols: None,
            remarks,
            is_constrained: !model.constraints.is_empty(),
            names: names_of(model),
            kept: Vec::new(),
            vectors: Vec::new(),
        };
        presentation.name_parts(model);
        presentation.write_out_names_used_once();
        presentation
    }

    /// With what the text says in vectors.
    fn with_vectors(mut self, model: &Workspace) -> Self {
        let known: Vec<&str> = self.shown_definitions().map(|d| d.0.as_str()).collect();
        self.vectors = vector_lines(model, &known);
        self
    }

    /// With one sentence more at the end.
    fn with_remark(mut self, remark: String) -> Self {
        self.remarks.push(remark);
        self
    }

    /// With sentences after the title.
    pub(crate) fn with_preface(mut self, preface: Vec<String>) -> Self {
        self.preface = preface;
        self
    }

    /// Writes products as they are read, then gives names to large parts that occur more than once.
    fn name_parts(&mut self, model: &Workspace) {
        let named = named_parts(model, &self.outputs(), &self.graph);
        self.rename(named);
    }

    /// All expressions of the lines, left sides before right ones.
    fn outputs(&self) -> Vec<Expr> {
        let mut outputs = Vec::new();
        for line in self.sections.iter().flat_map(|s| &s.lines) {
            if let Label::Expression(left) = line.label {
                outputs.push(left);
            }
            outputs.push(line.right);
        }
        outputs
    }

    /// Puts other formulas into their places.
    fn rename(&mut self, named: NamedParts) {
        let mut renamed = named.outputs.into_iter();
        let mut next = || renamed.next().expect("as many outputs as were given");
        for line in self.sections.iter_mut().flat_map(|s| &mut s.lines) {
            if let Label::Expression(left) = &mut line.label {
                *left = next();
            }
            line.right = next();
        }
        self.definitions = named.definitions;
    }

    /// The lines of some sections as text; `definitions` are the named parts.
    pub(crate) fn lines(&self, keys: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        if keys.contains(&"definitions") {
            let wanted = self.sections.iter().filter(|s| keys.contains(&s.key));
            let mut roots: Vec<Expr> = Vec::new();
            for line in wanted.flat_map(|s| &s.lines) {
                roots.push(line.right);
                if let Label::Expression(left) = line.label {
                    roots.push(left);
                }
            }
            // NOTE: later definitions build on earlier ones, so one sweep backwards finds all that are needed.
            let mut used: Vec<&(String, Expr)> = Vec::new();
            for definition in self.definitions.iter().rev() {
                let symbol = self.graph.symbol(&definition.0, Role::Free);
                if roots.iter().any(|&r| self.graph.contains(r, &[symbol])) {
                    roots.push(definition.1);
                    used.push(definition);
                }
            }
            for (name, e) in used.into_iter().rev() {
                lines.push(format!("{name} = {}", self.graph.to_text(*e)));
            }
        }
        for section in self.sections.iter().filter(|s| keys.contains(&s.key)) {
            for line in &section.lines {
                let right = self.graph.to_text(line.right);
                lines.push(format!("{} = {right}", self.left(&line.label)));
            }
        }
        lines
    }

    fn left(&self, label: &Label) -> String {
        match label {
            Label::Entry { text, indices, .. } if indices.is_empty() => self.own(text),
            Label::Entry { text, indices, .. } => {
                format!("{}[{}]", self.own(text), indices.join(","))
            }
            Label::Component { text, upper, lower, .. }
                if upper.is_empty() && lower.is_empty() =>
            {
                self.own(text)
            }
            Label::Component { text, upper, lower, .. } => {
                format!("{}[{}]", self.own(text), [upper.as_slice(), lower].concat().join(","))
            }
            Label::Expression(e) => self.graph.to_text(*e),
        }
    }

    /// Whether the model has the letter of a symbol of ours, with a star or without.
    fn is_taken(&self, text: &str) -> bool {
        self.names.iter().any(|n| n == text.trim_end_matches('*'))
    }

    /// A symbol of ours, in another script where the model has the same name.
    fn own(&self, text: &str) -> String {
        if self.is_taken(text) {
            text.chars().map(headings::sans_serif).collect()
        } else {
            text.to_owned()
        }
    }

    /// Whether a letter of ours in a heading is one of the model's.
    pub(crate) fn has_letter(&self, c: char) -> bool {
        self.names.iter().any(|n| n.len() == 1 && n.starts_with(c))
    }

    /// The same in LaTeX.
    fn own_latex(&self, text: &str, latex: &str) -> String {
        if self.is_taken(text) { format!("\\mathsf{{{latex}}}") } else { latex.to_owned() }
    }

    /// The left side in LaTeX.
    pub(crate) fn latex_label(&self, label: &Label) -> String {
        match label {
            Label::Entry { text, latex, indices } if indices.is_empty() => {
                self.own_latex(text, latex)
            }
            Label::Entry { text, latex, indices } => {
                let latex = self.own_latex(text, latex);
                let names: Vec<String> = indices.iter().map(|i| self.index(i)).collect();
                format!("{latex}_{{{}}}", names.join(" \\, "))
            }
            Label::Component { text, latex, upper, lower } => {
                let latex = self.own_latex(text, latex);
                let list = |names: &[String]| -> String {
                    let names: Vec<String> = names.iter().map(|i| self.index(i)).collect();
                    names.join(" \\, ")
                };
                format!("{latex}^{{{}}}_{{{}}}", list(upper), list(lower))
            }
            Label::Expression(e) => self.graph.to_latex(*e),
        }
    }

    /// The name of a coordinate or constraint as an index.
    fn index(&self, name: &str) -> String {
        self.graph.to_latex(self.graph.symbol(name, Role::Free))
    }
}

impl ToText for Presentation {
    /// In the words of the model language.
    fn to_text(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("{}\n", self.title);
        if let Some(principle) = self.principle {
            let _ = writeln!(text, "principle {}", principle.name());
            if self.is_constrained {
                let signs = headings::plain(signs(principle), &|c| self.has_letter(c));
                let _ = writeln!(text, "signs: {signs}");
            }
        }
        for line in &self.preface {
            let line = headings::plain(line, &|c| self.has_letter(c));
            let _ = writeln!(text, "{line}");
        }
        if let Some(symbols) = self.symbols {
            let _ = writeln!(text, "symbols: {symbols}");
        }
        if !self.vectors.is_empty() {
            let _ = writeln!(text, "\nIn vectors");
            for VectorLine { text: [left, right], .. } in &self.vectors {
                let _ = writeln!(text, "  {left} = {right}");
            }
        }
        if self.shown_definitions().next().is_some() {
            let _ = writeln!(text, "\nwith");
            for (name, e) in self.shown_definitions() {
                let _ = writeln!(text, "  {name} = {}", self.graph.to_text(*e));
            }
        }
        for section in &self.sections {
            let mut lines = self.shown(section).peekable();
            if lines.peek().is_some() {
                let _ = writeln!(
                    text,
                    "\n{}",
                    headings::plain(section.heading, &|c| self.has_letter(c))
                );
            }
            for line in lines {
                let _ = writeln!(
                    text,
                    "  {} = {}",
                    self.left(&line.label),
                    self.graph.to_text(line.right)
                );
            }
        }
        if let Some(sentence) = self.kept_sentence() {
            let _ = writeln!(text, "\n{sentence}");
            let lines = self.observe_lines();
            if !lines.is_empty() {
                let _ = writeln!(text, "To watch them in a run, add to the model:");
            }
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
        for (i, remark) in self.remarks.iter().enumerate() {
            let _ = writeln!(text, "{}{remark}", if i == 0 { "\n" } else { "" });
        }
        text
    }
}

impl ToLatex for Presentation {
    /// As LaTeX: one `align*` for each section.
    fn to_latex(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        let _ = writeln!(text, "% {}", self.title.replace(['\n', '\r'], " "));
        if let Some(principle) = self.principle {
            let signs = if self.is_constrained {
                format!(": {}", signs(principle))
            } else {
                String::new()
            };
            let _ = writeln!(text, "% principle {}{signs}", principle.name());
        }
        for line in &self.preface {
            let _ = writeln!(text, "% {line}");
        }
        if let Some(symbols) = self.symbols {
            let _ = writeln!(text, "% symbols: {symbols}");
        }
        let block = |text: &mut String, heading: &str, rows: Vec<String>| {
            let _ = writeln!(text, "% {heading}\n\\begin{{align*}}");
            let _ = writeln!(text, "{}", rows.join(" \\\\\n"));
            let _ = writeln!(text, "\\end{{align*}}");
        };
        if !self.vectors.is_empty() {
            let rows = self.vectors.iter().map(|l| format!("{} &= {}", l.latex[0], l.latex[1]));
            block(&mut text, "In vectors", rows.collect());
        }
        if self.shown_definitions().next().is_some() {
            let rows = self.shown_definitions().map(|(name, e)| {
                let symbol = self.graph.symbol(name, Role::Free);
                format!("{} &= {}", self.graph.to_latex(symbol), self.graph.to_latex(*e))
            });
            block(&mut text, "with", rows.collect());
        }
        for section in &self.sections {
            let rows = self.shown(section).map(|line| {
                let left = self.latex_label(&line.label);
                format!("{left} &= {}", self.graph.to_latex(line.right))
            });
            let rows: Vec<String> = rows.collect();
            if !rows.is_empty() {
                block(&mut text, section.heading, rows);
            }
        }
        if let Some(sentence) = self.kept_sentence() {
            let _ = writeln!(text, "% {sentence}");
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "% {remark}");
        }
        text
    }
}

/// A refusal that points into the text of its model.
pub(crate) fn refused(refusal: &Refusal, model: &Workspace) -> Error {
    let diagnostics = vec![refusal.diagnostic()];
    Error::Text(ParseErrors { source: model.source.clone(), diagnostics })
}
