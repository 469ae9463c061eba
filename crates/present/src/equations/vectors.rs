//! Energies, constraints and vectors as the text has them: vectors in bold type, $\dot{\boldsymbol c}^2$ and
//! $\boldsymbol W\cdot\mathsf J\,\boldsymbol W$ in the place of sums over components.
//!
//! The equations of a page are written by components. What the text says in vectors is shorter, and it is what a reader
//! starts from.

use pfaff::Workspace;
use pfaff_expr::{Graph, Role};
use pfaff_model::parse;
use pfaff_model::syntax::{
    Arena, Binary, Definition, DefinitionForm, ExprId, Fold, NodeKind, StatementKind, Syntax,
};

/// Both sides of a line.
#[derive(Clone, Debug)]
pub(crate) struct VectorLine {
    /// In the words of the model language.
    pub(crate) text: [String; 2],
    pub(crate) latex: [String; 2],
}

/// Longer lines are not shown.
const LONGEST: usize = 400;

/// The lines of a model that has vectors; none for one that has not.
pub(crate) fn vector_lines(model: &Workspace) -> Vec<VectorLine> {
    let parsed = parse(&model.source);
    let syntax = &parsed.syntax;
    let words = Words { model, syntax, page: Graph::new() };
    let statements = || syntax.statements.iter().map(|s| &s.kind);
    let is_energy = |kind: &&StatementKind| {
        use StatementKind::{Constraint, Kinetic, Lagrangian, Potential};
        matches!(kind, Lagrangian(_) | Kinetic(_) | Potential(_) | Constraint(_))
    };
    // The energies, what they are made of, and so on.
    let mut needed: Vec<String> = Vec::new();
    for kind in statements().filter(is_energy) {
        roots(kind).into_iter().for_each(|e| words.mention(e, &mut needed));
    }
    let definitions: Vec<&Definition> = statements()
        .filter_map(|kind| match kind {
            StatementKind::Let(d) if matches!(d.form, DefinitionForm::Plain) => Some(d),
            _ => None,
        })
        .collect();
    for d in definitions.iter().rev() {
        if needed.iter().any(|n| n == words.name(d)) {
            words.mention(d.value, &mut needed);
        }
    }
    let is_shown = |d: &Definition| {
        let name = words.name(d);
        needed.iter().any(|n| n == name) && words.shape(name) != Shape::Number
    };
    let mut lines: Vec<VectorLine> = Vec::new();
    for d in definitions.into_iter().filter(|d| is_shown(d)) {
        let name = words.name(d);
        lines.push(words.line([name.to_owned(), words.symbol(name)], d.value));
    }
    let has_vectors =
        !lines.is_empty() || words.multiplies_vectors(statements().filter(is_energy));
    if !has_vectors {
        return Vec::new();
    }
    let plain = |letter: &str| [letter.to_owned(), letter.to_owned()];
    for kind in statements() {
        match kind {
            StatementKind::Lagrangian(e) => lines.push(words.line(plain("L"), *e)),
            StatementKind::Kinetic(e) => lines.push(words.line(plain("T"), *e)),
            StatementKind::Potential(e) => lines.push(words.line(plain("V"), *e)),
            StatementKind::Constraint(c) if c.slots.is_empty() => {
                let Some(right) = c.right else { continue };
                let left = [words.text(c.left), words.latex(c.left, 0)];
                lines.push(words.line(left, right));
            }
            _ => {}
        }
    }
    lines.retain(|l| l.text.iter().map(String::len).sum::<usize>() <= LONGEST);
    lines
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Number,
    Vector,
    Matrix,
}

struct Words<'a> {
    model: &'a Workspace,
    syntax: &'a Syntax,
    page: Graph,
}

/// The expressions of the Lagrangian and of a constraint.
fn roots(kind: &StatementKind) -> Vec<ExprId> {
    match kind {
        StatementKind::Lagrangian(e)
        | StatementKind::Kinetic(e)
        | StatementKind::Potential(e) => vec![*e],
        StatementKind::Constraint(c) => [c.left].into_iter().chain(c.right).collect(),
        _ => Vec::new(),
    }
}

impl Words<'_> {
    fn arena(&self) -> &Arena {
        &self.syntax.arena
    }

    fn name(&self, d: &Definition) -> &str {
        self.arena().name(d.name.symbol)
    }

    /// The names in an expression.
    fn mention(&self, e: ExprId, names: &mut Vec<String>) {
        for id in self.arena().subtree(e) {
            if let NodeKind::Name(symbol) = self.arena().kind(id) {
                let name = self.arena().name(symbol);
                if !names.iter().any(|n| n == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }

    /// Whether there are products of vectors.
    fn multiplies_vectors<'k>(&self, kinds: impl Iterator<Item = &'k StatementKind>) -> bool {
        let is_product = |id: ExprId| match self.arena().kind(id) {
            NodeKind::Call { function, .. } => {
                matches!(self.arena().name(function.symbol), "dot" | "cross" | "norm")
            }
            _ => false,
        };
        let mut roots = kinds.flat_map(roots);
        roots.any(|e| self.arena().subtree(e).any(is_product))
    }

    fn shape(&self, name: &str) -> Shape {
        let model = self.model;
        let coordinates = model.coordinates.iter().map(|c| c.name.as_str());
        let parameters = model.parameters.iter().map(|p| p.name.as_str());
        let lets = model.abbreviations.iter().map(|a| a.0.as_str());
        let component = coordinates
            .chain(parameters)
            .chain(lets)
            .find_map(|n| n.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']'));
        match component {
            Some(index) if index.contains(',') => Shape::Matrix,
            Some(_) => Shape::Vector,
            None => Shape::Number,
        }
    }

    /// A name in LaTeX: vectors in bold type, matrices upright.
    fn symbol(&self, name: &str) -> String {
        let letter = self.page.to_latex(self.page.symbol(name, Role::Free));
        match self.shape(name) {
            Shape::Number => letter,
            Shape::Vector => format!("\\boldsymbol{{{letter}}}"),
            Shape::Matrix => format!("\\mathsf{{{letter}}}"),
        }
    }

    fn line(&self, left: [String; 2], right: ExprId) -> VectorLine {
        let [text, latex] = left;
        VectorLine { text: [text, self.text(right)], latex: [latex, self.latex(right, 0)] }
    }

    /// As it stands in the text, in one line.
    fn text(&self, e: ExprId) -> String {
        let span = self.arena().span(e);
        let whole = self.model.source.text();
        let part = whole.get(span.start as usize..span.end as usize).unwrap_or_default();
        let lines = part.lines().map(|l| l.split('#').next().unwrap_or_default());
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    /// In LaTeX; `least` is how strongly its last operation must bind: 1 for factors, 2 for bases of powers.
    fn latex(&self, e: ExprId, least: u8) -> String {
        let (formula, strength) = self.formula(e);
        if strength < least { format!("({formula})") } else { formula }
    }

    /// The formula, and how strongly its last operation binds: 0 for sums, 1 for products, 2 for the rest.
    fn formula(&self, e: ExprId) -> (String, u8) {
        match self.arena().kind(e) {
            NodeKind::Number(_) | NodeKind::Text(_) => (self.text(e), 2),
            NodeKind::Name(symbol) => match self.arena().name(symbol) {
                "pi" => ("\\pi".to_owned(), 2),
                name => (self.symbol(name), 2),
            },
            NodeKind::Call { function, arguments } => {
                let name = self.arena().name(function.symbol);
                self.call(name, self.arena().list(arguments))
            }
            NodeKind::Fold { fold, binder, body } => {
                let sign = match fold {
                    Fold::Sum => "\\sum",
                    Fold::Product => "\\prod",
                };
                let index = self.symbol(self.arena().name(binder.name.symbol));
                let [from, to] = [binder.from, binder.to].map(|e| self.latex(e, 0));
                (format!("{sign}_{{{index}={from}}}^{{{to}}} {}", self.latex(body, 1)), 1)
            }
            NodeKind::Vector(list) => (self.components(self.arena().list(list)), 2),
            NodeKind::Index { base, indices } => {
                let indices = self.arena().list(indices).iter().map(|&i| self.latex(i, 0));
                let indices = indices.collect::<Vec<_>>().join("\\,");
                let base = match self.arena().kind(base) {
                    NodeKind::Name(symbol) => {
                        let name = self.arena().name(symbol);
                        self.page.to_latex(self.page.symbol(name, Role::Free))
                    }
                    _ => self.latex(base, 2),
                };
                (format!("{{{base}}}_{{{indices}}}"), 2)
            }
            NodeKind::Prime { base, order } => {
                let dots = match order {
                    1 => "\\dot",
                    2 => "\\ddot",
                    _ => "\\dddot",
                };
                match self.arena().kind(base) {
                    NodeKind::Name(_) => (format!("{dots}{{{}}}", self.latex(base, 2)), 2),
                    NodeKind::Index { base: of, indices } => {
                        let index =
                            self.arena().list(indices).iter().map(|&i| self.latex(i, 0));
                        let index = index.collect::<Vec<_>>().join("\\,");
                        (format!("{dots}{{{}}}_{{{index}}}", self.plain(of)), 2)
                    }
                    _ => (format!("({})^{{\\textstyle\\cdot}}", self.latex(base, 0)), 2),
                }
            }
            NodeKind::Negate(e) => (format!("-{}", self.latex(e, 1)), 0),
            NodeKind::Not(e) => (format!("\\neg {}", self.latex(e, 2)), 1),
            NodeKind::Binary { operator, left, right } => self.operation(operator, left, right),
        }
    }

    /// A name without the type of its shape.
    fn plain(&self, e: ExprId) -> String {
        match self.arena().kind(e) {
            NodeKind::Name(symbol) => {
                let name = self.arena().name(symbol);
                self.page.to_latex(self.page.symbol(name, Role::Free))
            }
            _ => self.latex(e, 2),
        }
    }

    fn operation(&self, operator: Binary, left: ExprId, right: ExprId) -> (String, u8) {
        match operator {
            Binary::Add => (format!("{} + {}", self.latex(left, 0), self.latex(right, 0)), 0),
            Binary::Subtract => {
                (format!("{} - {}", self.latex(left, 0), self.latex(right, 1)), 0)
            }
            Binary::Multiply => {
                (format!("{}\\,{}", self.latex(left, 1), self.latex(right, 1)), 1)
            }
            Binary::Divide => match self.arena().kind(right) {
                // x/2 is ½ x
                NodeKind::Number(_) => (
                    format!("\\tfrac{{1}}{{{}}}\\,{}", self.text(right), self.latex(left, 1)),
                    1,
                ),
                _ => (
                    format!("\\frac{{{}}}{{{}}}", self.latex(left, 0), self.latex(right, 0)),
                    1,
                ),
            },
            Binary::Power => {
                let (base, strength) = self.formula(left);
                let is_dotted = matches!(
                    self.arena().kind(left),
                    NodeKind::Name(_) | NodeKind::Prime { .. }
                );
                let base = if strength == 2 && is_dotted { base } else { format!("({base})") };
                (format!("{base}^{{{}}}", self.latex(right, 0)), 2)
            }
            other => {
                let sign = match other {
                    Binary::AtMost => "\\le",
                    Binary::AtLeast => "\\ge",
                    Binary::Differs => "\\ne",
                    Binary::Same => "=",
                    Binary::And => "\\land",
                    Binary::Or => "\\lor",
                    _ => other.sign(),
                };
                (format!("{} {sign} {}", self.latex(left, 0), self.latex(right, 0)), 0)
            }
        }
    }

    fn call(&self, name: &str, arguments: &[ExprId]) -> (String, u8) {
        let one =
            |least: u8| arguments.first().map_or_else(String::new, |&e| self.latex(e, least));
        let all =
            || arguments.iter().map(|&e| self.latex(e, 0)).collect::<Vec<_>>().join(",\\,");
        match (name, arguments) {
            ("dot", &[a, b]) if self.text(a) == self.text(b) => {
                let (base, strength) = self.formula(a);
                let is_sum = strength < 2;
                (if is_sum { format!("({base})^{{2}}") } else { format!("{base}^{{2}}") }, 2)
            }
            ("dot", &[a, b]) => {
                (format!("{} \\cdot {}", self.latex(a, 1), self.latex(b, 1)), 1)
            }
            ("cross", &[a, b]) => {
                (format!("{} \\times {}", self.latex(a, 2), self.latex(b, 2)), 0)
            }
            ("norm", _) => (format!("\\lvert {} \\rvert", one(0)), 2),
            ("transpose", _) => (format!("{}^{{\\mathsf{{T}}}}", one(2)), 2),
            ("sqrt", _) => (format!("\\sqrt{{{}}}", one(0)), 2),
            ("rotation_x" | "rotation_y" | "rotation_z", _) => {
                let axis = &name["rotation_".len()..];
                (format!("\\mathsf{{R}}_{{{axis}}}({})", one(0)), 2)
            }
            ("sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "exp" | "log", _) => {
                (format!("\\{name}({})", one(0)), 2)
            }
            _ => {
                let name = name.replace('_', "\\_");
                (format!("\\operatorname{{{name}}}({})", all()), 2)
            }
        }
    }

    /// A vector as a row, a matrix as rows.
    fn components(&self, list: &[ExprId]) -> String {
        let row = |e: &ExprId| match self.arena().kind(*e) {
            NodeKind::Vector(row) => Some(self.arena().list(row).to_vec()),
            _ => None,
        };
        let rows: Option<Vec<Vec<ExprId>>> = list.iter().map(row).collect();
        let entries = |list: &[ExprId], between: &str| {
            list.iter().map(|&e| self.latex(e, 0)).collect::<Vec<_>>().join(between)
        };
        match rows {
            Some(rows) => {
                let rows: Vec<String> = rows.iter().map(|r| entries(r, " & ")).collect();
                format!("\\begin{{pmatrix}} {} \\end{{pmatrix}}", rows.join(" \\\\ "))
            }
            None => format!("({})", entries(list, ",\\, ")),
        }
    }
}
