//! The equations for people: text, LaTeX and JSON of what `derive` shows.
//!
//! Large parts that occur more than once get names, so that what is printed grows with the graph and not with the expanded formulas.

use pfaff_expr::{Expr, Graph, NameOptions};
use pfaff_mechanics::{Equations, Ordinary};
use pfaff_model::Model;

use crate::json::Json;
use crate::mechanism::Dynamics;

/// Everything that is shown, as expressions under headings.
#[derive(Clone, Debug)]
pub struct Presentation {
    title: String,
    principle: Option<&'static str>,
    graph: Graph,
    /// Named parts, in the order in which they build on each other.
    definitions: Vec<(String, Expr)>,
    sections: Vec<Section>,
}

/// A heading with its lines.
#[derive(Clone, Debug)]
struct Section {
    key: &'static str,
    heading: &'static str,
    lines: Vec<Line>,
}

/// `label = right`, or `left = right` for equations.
#[derive(Clone, Debug)]
struct Line {
    label: Label,
    right: Expr,
}

/// What stands on the left.
#[derive(Clone, Debug)]
enum Label {
    /// A block entry: the symbol of the block in text and LaTeX, and the names of its indices.
    Entry { text: &'static str, latex: &'static str, indices: Vec<String> },
    /// An expression.
    Expression(Expr),
}

/// Lays out the derived dynamics of a model.
pub fn present(model: &Model, dynamics: &Dynamics) -> Presentation {
    let sections = match dynamics {
        Dynamics::Saddle(equations) => mechanical(model, equations),
        Dynamics::Ordinary(ordinary) => as_written(model, ordinary),
    };
    let mut presentation = Presentation {
        title: model.title.clone().unwrap_or_else(|| model.source.name().to_owned()),
        principle: match dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle.name()),
            Dynamics::Ordinary(_) => None,
        },
        graph: model.graph.clone(),
        definitions: Vec::new(),
        sections,
    };
    presentation.name_parts(model);
    presentation
}

fn mechanical(model: &Model, e: &Equations) -> Vec<Section> {
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
                if !upper || i <= j {
                    lines.push(entry(
                        text,
                        latex,
                        vec![row.clone(), column.clone()],
                        values[i][j],
                    ));
                }
            }
        }
        nonzero(lines)
    };
    let mut sections = Vec::new();
    if let Some(k) = &e.kinetic {
        let v = model.velocities();
        let mut lines = matrix("g", "g", &names, &k.metric, true);
        lines.extend(vector("g", "g", &names, &k.vector));
        let scalar = if k.potential.is_some() { ("T0", "T_0") } else { ("L0", "L_0") };
        lines.push(entry("T2", "T_2", vec![], k.quadratic(g, &v)));
        lines.push(entry("T1", "T_1", vec![], k.linear(g, &v)));
        lines.push(entry(scalar.0, scalar.1, vec![], k.scalar));
        lines.extend(k.potential.map(|p| entry("V", "V", vec![], p)));
        let heading = if k.potential.is_some() {
            "Kinetic energy T2 + T1 + T0 and potential: T2 = g[k,l] q'_k q'_l / 2, T1 = g[k] q'_k"
        } else {
            "Lagrangian T2 + T1 + L0: T2 = g[k,l] q'_k q'_l / 2, T1 = g[k] q'_k"
        };
        sections.push(Section { key: "kinetic", heading, lines });
    }
    let section = |key, heading, lines| Section { key, heading, lines };
    sections.push(section("momenta", "Momenta", vector("p", "p", &names, &e.momenta)));
    sections.push(section(
        "mass",
        "Mass matrix M (symmetric)",
        matrix("M", "M", &names, &e.mass, true),
    ));
    sections.push(section("force", "Force f", vector("f", "f", &names, &e.force)));
    if !constraints.is_empty() {
        let heading = "Constraint matrix A";
        sections.push(section(
            "jacobian",
            heading,
            matrix("A", "A", &constraints, &e.jacobian, false),
        ));
        if e.directions != e.jacobian {
            let heading = "Directions of the reactions W";
            let lines = matrix("W", "W", &constraints, &e.directions, false);
            sections.push(section("directions", heading, lines));
        }
        let heading = "Drift b";
        sections.push(section("drift", heading, vector("b", "b", &constraints, &e.drift)));
    }
    let accelerations = model.accelerations();
    let equations = (0..names.len())
        .map(|k| {
            let reaction = g.sum(
                model.results.lambda.iter().zip(&e.directions).map(|(&λ, w)| g.mul(w[k], λ)),
            );
            Line {
                label: Label::Expression(g.dot(&e.mass[k], &accelerations)),
                right: g.add(e.force[k], reaction),
            }
        })
        .collect();
    sections.push(section("equations", "Equations of motion", equations));
    let held = model
        .constraints
        .iter()
        .map(|c| Line { label: Label::Expression(c.expr), right: g.zero() })
        .collect();
    sections.push(section("constraints", "Constraints", held));
    sections.push(section("energy", "Energy", vec![entry("E", "E", vec![], e.energy)]));
    sections.retain(|s| !s.lines.is_empty());
    sections
}

fn as_written(model: &Model, ordinary: &Ordinary) -> Vec<Section> {
    let zero = model.graph.zero();
    let lines = ordinary
        .residual
        .iter()
        .map(|&e| Line { label: Label::Expression(e), right: zero })
        .collect();
    vec![Section { key: "equations", heading: "Equations", lines }]
}

impl Presentation {
    /// Gives names to large parts that occur more than once.
    fn name_parts(&mut self, model: &Model) {
        let mut outputs = Vec::new();
        for line in self.sections.iter().flat_map(|s| &s.lines) {
            if let Label::Expression(left) = line.label {
                outputs.push(left);
            }
            outputs.push(line.right);
        }
        let mut taken: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
        taken.extend(model.parameters.iter().map(|p| p.name.clone()));
        taken.extend(model.abbreviations.iter().map(|(name, _)| name.clone()));
        taken.extend(model.constraints.iter().map(|c| c.name.clone()));
        let options = NameOptions { taken, ..NameOptions::default() };
        let named = self.graph.named(&outputs, &options);
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

    /// In the words of the model language.
    pub fn to_text(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("{}\n", self.title);
        if let Some(principle) = self.principle {
            let _ = writeln!(text, "principle {principle}");
            let _ = writeln!(
                text,
                "signs: M q'' = f + R with R = A^T lambda; multiplying a velocity constraint by -1 flips its lambda"
            );
        }
        if !self.definitions.is_empty() {
            let _ = writeln!(text, "\nwith");
            for (name, e) in &self.definitions {
                let _ = writeln!(text, "  {name} = {}", self.graph.to_text(*e));
            }
        }
        for section in &self.sections {
            let _ = writeln!(text, "\n{}", section.heading);
            for line in &section.lines {
                let _ = writeln!(
                    text,
                    "  {} = {}",
                    self.left(&line.label),
                    self.graph.to_text(line.right)
                );
            }
        }
        text
    }

    fn left(&self, label: &Label) -> String {
        match label {
            Label::Entry { text, indices, .. } if indices.is_empty() => (*text).into(),
            Label::Entry { text, indices, .. } => format!("{text}[{}]", indices.join(",")),
            Label::Expression(e) => self.graph.to_text(*e),
        }
    }

    /// As LaTeX: one `align*` for each section.
    pub fn to_latex(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        let _ = writeln!(text, "% {}", self.title.replace(['\n', '\r'], " "));
        if self.principle.is_some() {
            let _ = writeln!(text, "% M \\ddot q = f + A^\\top\\lambda, A \\ddot q = b");
        }
        let block = |text: &mut String, heading: &str, rows: Vec<String>| {
            let _ = writeln!(text, "% {heading}\n\\begin{{align*}}");
            let _ = writeln!(text, "{}", rows.join(" \\\\\n"));
            let _ = writeln!(text, "\\end{{align*}}");
        };
        if !self.definitions.is_empty() {
            let rows = self.definitions.iter().map(|(name, e)| {
                let symbol = self.graph.symbol(name, pfaff_expr::Role::Free);
                format!("{} &= {}", self.graph.to_latex(symbol), self.graph.to_latex(*e))
            });
            block(&mut text, "with", rows.collect());
        }
        for section in &self.sections {
            let rows = section.lines.iter().map(|line| {
                let left = match &line.label {
                    Label::Entry { latex, indices, .. } if indices.is_empty() => {
                        (*latex).to_owned()
                    }
                    Label::Entry { latex, indices, .. } => {
                        let names: Vec<String> =
                            indices.iter().map(|i| self.index(i)).collect();
                        format!("{latex}_{{{}}}", names.join(" \\, "))
                    }
                    Label::Expression(e) => self.graph.to_latex(*e),
                };
                format!("{left} &= {}", self.graph.to_latex(line.right))
            });
            block(&mut text, section.heading, rows.collect());
        }
        text
    }

    /// The name of a coordinate or constraint as an index.
    fn index(&self, name: &str) -> String {
        self.graph.to_latex(self.graph.symbol(name, pfaff_expr::Role::Free))
    }

    /// As `derive --json` prints it.
    pub fn to_json(&self) -> Json {
        let line = |l: &Line| match &l.label {
            Label::Entry { text, indices, .. } => Json::object([
                ("name", Json::text(text)),
                ("index", Json::texts(indices)),
                ("value", Json::text(&self.graph.to_text(l.right))),
            ]),
            Label::Expression(e) => Json::object([
                ("left", Json::text(&self.graph.to_text(*e))),
                ("right", Json::text(&self.graph.to_text(l.right))),
            ]),
        };
        let definition = |(name, e): &(String, Expr)| {
            Json::object([
                ("name", Json::text(name)),
                ("value", Json::text(&self.graph.to_text(*e))),
            ])
        };
        let mut entries = vec![
            ("model".to_owned(), Json::text(&self.title)),
            ("principle".to_owned(), self.principle.map_or(Json::Null, Json::text)),
            (
                "definitions".to_owned(),
                Json::List(self.definitions.iter().map(definition).collect()),
            ),
        ];
        for section in &self.sections {
            let lines = section.lines.iter().map(line).collect();
            entries.push((section.key.to_owned(), Json::List(lines)));
        }
        Json::Object(entries)
    }
}
