//! Energies, constraints and vectors as the text has them, in text, LaTeX, MathML and Typst: vectors in bold type,
//! $\dot{\boldsymbol c}^2$ and $\boldsymbol W\cdot\mathsf J\,\boldsymbol W$ in the place of sums over components.
//!
//! The equations of a page are written by components. What the text says in vectors is shorter, and it is what a reader
//! starts from.

use pfaff::Workspace;
use pfaff_expr::{Graph, Role};
use pfaff_model::parse;
use pfaff_model::syntax::{
    Arena, Binary, Definition, DefinitionForm, ExprId, Fold, Name, NodeKind, Slot,
    StatementKind, Syntax,
};

use super::headings::sans_serif;
use super::names::names_of;
use super::vector_markup::Script;

/// Both sides of a line.
#[derive(Clone, Debug)]
pub(crate) struct VectorLine {
    /// In the words of the model language.
    pub(crate) text: [String; 2],
    pub(crate) latex: [String; 2],
    pub(crate) mathml: [String; 2],
    pub(crate) typst: [String; 2],
}

/// Longer lines are not shown.
const LONGEST: usize = 400;

/// The lines of a model that has vectors; none for one that has not. `known` are names that are explained elsewhere.
pub(crate) fn vector_lines(model: &Workspace, known: &[&str]) -> Vec<VectorLine> {
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
        .filter_map(|kind| if let StatementKind::Let(d) = kind { Some(d) } else { None })
        .collect();
    for d in definitions.iter().rev() {
        if needed.iter().any(|n| n == words.name(d)) {
            words.mention(d.value, &mut needed);
        }
    }
    let is_shown = |d: &Definition| {
        let name = words.name(d);
        let has_shape = match d.form {
            DefinitionForm::Plain => words.shape(name) != Shape::Number,
            DefinitionForm::Function(_) => true,
            DefinitionForm::Family(_) => words.has_vectors(d.value),
        };
        has_shape && needed.iter().any(|n| n == name)
    };
    // Numbers that vectors are made of.
    let mut inside: Vec<String> = Vec::new();
    for d in definitions.iter().filter(|d| is_shown(d)) {
        words.mention(d.value, &mut inside);
    }
    for d in definitions.iter().rev().filter(|d| !is_shown(d)) {
        if inside.iter().any(|n| n == words.name(d)) {
            words.mention(d.value, &mut inside);
        }
    }
    let is_inside = |d: &Definition| {
        let name = words.name(d);
        inside.iter().any(|n| n == name) && !known.contains(&name)
    };
    let has_vectors = definitions.iter().any(|d| is_shown(d));
    let mut lines: Vec<VectorLine> = Vec::new();
    for d in definitions.into_iter().filter(|d| is_shown(d) || is_inside(d)) {
        let name = words.name(d);
        let text = match &d.form {
            DefinitionForm::Plain => name.to_owned(),
            DefinitionForm::Function(arguments) => {
                let given = arguments.iter().map(|a| words.arena().name(a.symbol));
                format!("{name}({})", given.collect::<Vec<_>>().join(", "))
            }
            DefinitionForm::Family(slots) => words.family(name, slots),
        };
        let left = Side { text, typeset: &|s| words.defined(s, d) };
        lines.push(words.line(&left, d.value));
    }
    if !has_vectors && !words.multiplies_vectors(statements().filter(is_energy)) {
        return Vec::new();
    }
    let taken = names_of(model);
    let energy = |letter: &'static str, e: ExprId| {
        let is_taken = taken.iter().any(|n| n == letter);
        let own = |s: Script| {
            let symbol = s.symbol(&words.page, words.page.symbol(letter, Role::Free));
            if is_taken { s.upright(&symbol) } else { symbol }
        };
        let text = letter.chars().map(|c| if is_taken { sans_serif(c) } else { c });
        words.line(&Side { text: text.collect(), typeset: &own }, e)
    };
    for kind in statements() {
        match kind {
            StatementKind::Lagrangian(e) => lines.push(energy("L", *e)),
            StatementKind::Kinetic(e) => lines.push(energy("T", *e)),
            // NOTE: what has no vectors stands among the equations as it is.
            StatementKind::Potential(e) => {
                lines.extend(words.has_vectors(*e).then(|| energy("V", *e)));
            }
            StatementKind::Constraint(c)
                if c.slots.is_empty()
                    && roots(kind).into_iter().any(|e| words.has_vectors(e)) =>
            {
                let Some(right) = c.right else { continue };
                let own = |s: Script| words.typeset(s, c.left, 0);
                let left = Side { text: words.text(c.left), typeset: &own };
                lines.push(words.line(&left, right));
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

/// The left side of a line.
struct Side<'a> {
    text: String,
    typeset: &'a dyn Fn(Script) -> String,
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
            let symbol = match self.arena().kind(id) {
                NodeKind::Name(symbol) => Some(symbol),
                NodeKind::Call { function, .. } => Some(function.symbol),
                _ => None,
            };
            if let Some(symbol) = symbol {
                let name = self.arena().name(symbol);
                if !names.iter().any(|n| n == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }

    /// Whether an expression has vectors or matrices in it.
    fn has_vectors(&self, e: ExprId) -> bool {
        let is_vector = |id: ExprId| match self.arena().kind(id) {
            NodeKind::Name(symbol) => self.shape(self.arena().name(symbol)) != Shape::Number,
            NodeKind::Vector(_) => true,
            _ => false,
        };
        self.arena().subtree(e).any(is_vector)
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

    /// A name: vectors in bold type, matrices upright.
    fn symbol(&self, script: Script, name: &str) -> String {
        let letter = self.letter(script, name);
        match self.shape(name) {
            Shape::Number => letter,
            Shape::Vector => script.bold(&letter),
            Shape::Matrix => script.upright(&letter),
        }
    }

    /// The left side of a definition.
    fn defined(&self, script: Script, d: &Definition) -> String {
        let name = self.name(d);
        match &d.form {
            DefinitionForm::Plain => self.symbol(script, name),
            DefinitionForm::Function(arguments) => {
                let argument = |a: &Name| self.symbol(script, self.arena().name(a.symbol));
                let arguments: Vec<String> = arguments.iter().map(argument).collect();
                script.named(name, &arguments.join(script.comma()))
            }
            DefinitionForm::Family(slots) => self.member(script, name, slots),
        }
    }

    /// The left side of a family, with its ranges.
    fn family(&self, name: &str, slots: &[Slot]) -> String {
        let slot = |slot: &Slot| match slot {
            Slot::At(e) => self.text(*e),
            Slot::Each(b) => {
                let index = self.arena().name(b.name.symbol);
                format!("{index} = {}..{}", self.text(b.from), self.text(b.to))
            }
        };
        format!("{name}[{}]", slots.iter().map(slot).collect::<Vec<_>>().join(", "))
    }

    /// The same with the indices below.
    fn member(&self, script: Script, name: &str, slots: &[Slot]) -> String {
        let slot = |slot: &Slot| match slot {
            Slot::At(e) => self.typeset(script, *e, 0),
            Slot::Each(b) => self.symbol(script, self.arena().name(b.name.symbol)),
        };
        let indices: Vec<String> = slots.iter().map(slot).collect();
        script.below(&self.letter(script, name), &indices.join(script.thin()))
    }

    /// A name without the type of its shape.
    fn letter(&self, script: Script, name: &str) -> String {
        script.symbol(&self.page, self.page.symbol(name, Role::Free))
    }

    fn line(&self, left: &Side<'_>, right: ExprId) -> VectorLine {
        let both = |script| [(left.typeset)(script), self.typeset(script, right, 0)];
        VectorLine {
            text: [left.text.clone(), self.text(right)],
            latex: both(Script::Latex),
            mathml: both(Script::Mathml),
            typst: both(Script::Typst),
        }
    }

    /// As it stands in the text, in one line.
    fn text(&self, e: ExprId) -> String {
        let span = self.arena().span(e);
        let whole = self.model.source.text();
        let part = whole.get(span.start as usize..span.end as usize).unwrap_or_default();
        let lines = part.lines().map(|l| l.split('#').next().unwrap_or_default());
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    /// A formula; `least` is how strongly its last operation must bind: 1 for factors, 2 for bases of powers.
    fn typeset(&self, script: Script, e: ExprId, least: u8) -> String {
        let (formula, strength) = self.formula(script, e);
        if strength < least { script.brackets(&formula) } else { formula }
    }

    /// The formula, and how strongly its last operation binds: 0 for sums, 1 for products, 2 for the rest.
    fn formula(&self, script: Script, e: ExprId) -> (String, u8) {
        let of = |e: ExprId, least: u8| self.typeset(script, e, least);
        match self.arena().kind(e) {
            NodeKind::Number(_) | NodeKind::Text(_) => (script.number(&self.text(e)), 2),
            NodeKind::Name(symbol) => match self.arena().name(symbol) {
                "pi" => (script.pi(), 2),
                name => (self.symbol(script, name), 2),
            },
            NodeKind::Call { function, arguments } => {
                let name = self.arena().name(function.symbol);
                self.call(script, name, self.arena().list(arguments))
            }
            NodeKind::Fold { fold, binder, body } => {
                let is_sum = matches!(fold, Fold::Sum);
                let index = self.symbol(script, self.arena().name(binder.name.symbol));
                let [from, to] = [binder.from, binder.to].map(|e| of(e, 0));
                (script.fold(is_sum, [&index, &from, &to], &of(body, 1)), 1)
            }
            NodeKind::Vector(list) => (self.components(script, self.arena().list(list)), 2),
            NodeKind::Index { base, indices } => {
                let index = self.indices(script, self.arena().list(indices));
                (script.below(&self.plain(script, base), &index), 2)
            }
            NodeKind::Prime { base, order } => match self.arena().kind(base) {
                NodeKind::Name(_) => (script.dotted(&of(base, 2), order), 2),
                NodeKind::Index { base: vector, indices } => {
                    let index = self.indices(script, self.arena().list(indices));
                    let dotted = script.dotted(&self.plain(script, vector), order);
                    (script.below(&dotted, &index), 2)
                }
                _ => (script.rate_of_bracket(&of(base, 0)), 2),
            },
            NodeKind::Negate(e) => (script.negative(&of(e, 1)), 0),
            NodeKind::Not(e) => (script.between("", ["\\neg", "¬"], &of(e, 2)), 1),
            NodeKind::Binary { operator, left, right } => {
                self.operation(script, operator, left, right)
            }
        }
    }

    fn indices(&self, script: Script, list: &[ExprId]) -> String {
        let list: Vec<String> = list.iter().map(|&i| self.typeset(script, i, 0)).collect();
        list.join(script.thin())
    }

    /// A name without the type of its shape, or any other base.
    fn plain(&self, script: Script, e: ExprId) -> String {
        match self.arena().kind(e) {
            NodeKind::Name(symbol) => self.letter(script, self.arena().name(symbol)),
            _ => self.typeset(script, e, 2),
        }
    }

    fn operation(
        &self,
        script: Script,
        operator: Binary,
        left: ExprId,
        right: ExprId,
    ) -> (String, u8) {
        let of = |e: ExprId, least: u8| self.typeset(script, e, least);
        let between = |signs: [&str; 2], least: u8| {
            (script.between(&of(left, 0), signs, &of(right, least)), 0)
        };
        // −r ω is read as −(r ω).
        if let (Binary::Multiply | Binary::Divide, NodeKind::Negate(positive)) =
            (operator, self.arena().kind(left))
        {
            let (whole, _) = self.operation(script, operator, positive, right);
            return (script.negative(&whole), 0);
        }
        match operator {
            Binary::Add => between(["+", "+"], 0),
            Binary::Subtract => between(["-", "-"], 1),
            Binary::Multiply => (script.product(&of(left, 1), &of(right, 1)), 1),
            Binary::Divide => match self.arena().kind(right) {
                // x/2 is ½ x
                NodeKind::Number(_) => {
                    let [one, below] = ["1", &self.text(right)].map(|n| script.number(n));
                    (script.product(&script.fraction(&one, &below, true), &of(left, 1)), 1)
                }
                _ => (script.fraction(&of(left, 0), &of(right, 0), false), 1),
            },
            Binary::Power => {
                if let Some((name, argument)) = self.circular(left) {
                    let exponent = of(right, 0);
                    return (script.function_to(name, &exponent, &of(argument, 0)), 2);
                }
                let (base, strength) = self.formula(script, left);
                let is_dotted = matches!(
                    self.arena().kind(left),
                    NodeKind::Name(_) | NodeKind::Prime { .. }
                );
                let is_bare = strength == 2 && is_dotted;
                let base = if is_bare { base } else { script.brackets(&base) };
                (script.power(&base, &of(right, 0)), 2)
            }
            Binary::AtMost => between(["\\le", "≤"], 0),
            Binary::AtLeast => between(["\\ge", "≥"], 0),
            Binary::Differs => between(["\\ne", "≠"], 0),
            Binary::Same => between(["=", "="], 0),
            Binary::And => between(["\\land", "∧"], 0),
            Binary::Or => between(["\\lor", "∨"], 0),
            other => between([other.sign(), other.sign()], 0),
        }
    }

    /// A sine or cosine with its argument.
    fn circular(&self, e: ExprId) -> Option<(&'static str, ExprId)> {
        let NodeKind::Call { function, arguments } = self.arena().kind(e) else { return None };
        let called = self.arena().name(function.symbol);
        let name = ["sin", "cos", "tan"].into_iter().find(|name| *name == called)?;
        Some((name, *self.arena().list(arguments).first()?))
    }

    fn call(&self, script: Script, name: &str, arguments: &[ExprId]) -> (String, u8) {
        let of = |e: ExprId, least: u8| self.typeset(script, e, least);
        let one = |least: u8| arguments.first().map_or_else(String::new, |&e| of(e, least));
        let all = || {
            let list: Vec<String> = arguments.iter().map(|&e| of(e, 0)).collect();
            list.join(script.comma())
        };
        match (name, arguments) {
            ("dot", &[a, b]) if self.text(a) == self.text(b) => {
                let (base, strength) = self.formula(script, a);
                let base = if strength < 2 { script.brackets(&base) } else { base };
                (script.power(&base, &script.number("2")), 2)
            }
            ("dot", &[a, b]) => (script.between(&of(a, 1), ["\\cdot", "⋅"], &of(b, 1)), 1),
            ("cross", &[a, b]) => (script.between(&of(a, 2), ["\\times", "×"], &of(b, 2)), 0),
            ("norm", _) => (script.bars(&one(0)), 2),
            ("transpose", _) => {
                let transposed = script.upright(&self.letter(script, "T"));
                (script.power(&one(2), &transposed), 2)
            }
            ("sqrt", _) => (script.root(&one(0)), 2),
            ("rotation_x" | "rotation_y" | "rotation_z", _) => {
                let rotation = script.upright(&self.letter(script, "R"));
                let axis = self.letter(script, &name["rotation_".len()..]);
                let turned = script.below(&rotation, &axis);
                (format!("{turned}{}", script.brackets(&one(0))), 2)
            }
            ("sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "exp" | "log", _) => {
                (script.function(name, &one(0)), 2)
            }
            _ => (script.named(name, &all()), 2),
        }
    }

    /// A vector as a row, a matrix as rows.
    fn components(&self, script: Script, list: &[ExprId]) -> String {
        let row = |e: &ExprId| match self.arena().kind(*e) {
            NodeKind::Vector(row) => Some(self.arena().list(row).to_vec()),
            _ => None,
        };
        let rows: Option<Vec<Vec<ExprId>>> = list.iter().map(row).collect();
        let entries = |list: &[ExprId]| -> Vec<String> {
            list.iter().map(|&e| self.typeset(script, e, 0)).collect()
        };
        match rows {
            Some(rows) => script.matrix(&rows.iter().map(|r| entries(r)).collect::<Vec<_>>()),
            None => script.brackets(&entries(list).join(script.comma())),
        }
    }
}

/// The names whose rates stand in the text of a model.
pub(crate) fn names_with_rates(model: &Workspace) -> Vec<String> {
    let parsed = parse(&model.source);
    let arena = &parsed.syntax.arena;
    let mut names: Vec<String> = Vec::new();
    let mut look = |e: ExprId| {
        for id in arena.subtree(e) {
            let NodeKind::Prime { base, .. } = arena.kind(id) else { continue };
            let base = match arena.kind(base) {
                NodeKind::Index { base, .. } => base,
                _ => base,
            };
            if let NodeKind::Name(symbol) = arena.kind(base) {
                names.push(arena.name(symbol).to_owned());
            }
        }
    };
    for statement in &parsed.syntax.statements {
        if let StatementKind::Let(d) = &statement.kind {
            look(d.value);
        }
        roots(&statement.kind).into_iter().for_each(&mut look);
    }
    names
}
