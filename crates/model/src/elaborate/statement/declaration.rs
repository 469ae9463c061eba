//! `coordinates` and `parameters`.

use pfaff_expr::{Expr, Role};
use rustc_hash::FxHashSet;

use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::expression::constants::Constant;
use crate::elaborate::expression::fold::memory;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Group, Meaning, Site};
use crate::elaborate::statement::slots::Members;
use crate::elaborate::{Elaborator, Given};
use crate::model::{Coordinate, Parameter};
use crate::shape::{Shape, Value, component_name};
use crate::source::Span;
use crate::syntax::{self, ExprId, Name};

/// How many coordinates a model may have.
const COORDINATES: usize = 10_000;
/// Bytes that a run of a chain of bodies takes for each of them.
const COORDINATE_BYTES: f64 = 150e3;

/// The constant value of a parameter.
struct Constants {
    shape: Shape,
    entries: Vec<DefinedConstant>,
}

/// A constant with the expression that gives it.
#[derive(Clone)]
struct DefinedConstant {
    definition: Expr,
    constant: Constant,
}

impl Elaborator<'_> {
    /// Whether a name is free; else a report.
    pub(crate) fn may_declare(&mut self, name: &str, span: Span) -> bool {
        if matches!(name, "t" | "pi") {
            let what = if name == "t" { "the time" } else { "the number π" };
            let message = format!("`{name}` is reserved for {what}");
            self.error_hint("E0203", span, message, "choose another name");
            return false;
        }
        let Some(entry) = self.scope.get(name) else { return true };
        if matches!(entry.meaning, Meaning::Poison) {
            return true;
        }
        let message = format!("`{name}` is declared twice");
        let what = entry.meaning.describe();
        let diagnostic = Diagnostic::error("E0202", span, message)
            .with_hint("all names live in one namespace: choose another name")
            .with_note(entry.span, format!("it already is {what}"));
        self.report(diagnostic);
        false
    }

    pub(crate) fn own_name(&self, name: Name) -> String {
        self.parts[0].arena.name(name.symbol).to_owned()
    }

    pub(crate) fn coordinates(&mut self, list: &[syntax::Coordinate]) {
        for declared in list {
            let name = self.own_name(declared.name);
            let span = declared.name.span;
            let ranges = self.extents(&name, declared);
            if !self.may_declare(&name, span) {
                continue;
            }
            let Some(ranges) = ranges else {
                self.scope.insert(&name, Meaning::Poison, span);
                continue;
            };
            self.declare_group(&name, span, ranges);
        }
    }

    /// First and last index of each size.
    fn extents(
        &mut self,
        name: &str,
        declared: &syntax::Coordinate,
    ) -> Option<Vec<(i64, i64)>> {
        let span = declared.name.span;
        if declared.extents.len() > 2 {
            let message = format!("`{name}` has {} indices", declared.extents.len());
            self.error_hint(
                "E0305",
                span,
                message,
                "a coordinate is a scalar, a vector or a matrix",
            );
            return None;
        }
        let mut ranges = Vec::new();
        for extent in &declared.extents {
            let from = match extent.from {
                Some(id) => self.size(id, "the start of a range"),
                None => Some(1),
            };
            let what = if extent.from.is_some() { "the end of a range" } else { "a size" };
            let to = self.size(extent.to, what);
            ranges.push((from?, to?));
        }
        let mut total = self.draft.coordinates.len() as i128;
        let mut count = 1_i128;
        for &(from, to) in &ranges {
            count *= (i128::from(to) - i128::from(from) + 1).max(0);
        }
        total += count;
        if count == 0 {
            let hint = "a size is 1 or more, and a range does not end before its start";
            self.error_hint("E0308", span, format!("`{name}` has no components"), hint);
            return None;
        }
        if total > COORDINATES as i128 {
            let message = format!(
                "`{name}` makes {total} coordinates, more than {COORDINATES}: a run would take about {}",
                memory(total as f64 * COORDINATE_BYTES)
            );
            self.error("E0308", span, message);
            return None;
        }
        Some(ranges)
    }

    /// A constant whole number of the model's text.
    fn size(&mut self, id: ExprId, what: &str) -> Option<i64> {
        let site = Site { part: 0, id };
        let value = self.read(site, Place::Size);
        self.whole(&value, site, what)
    }

    pub(crate) fn declare_group(&mut self, name: &str, span: Span, ranges: Vec<(i64, i64)>) {
        let g = self.graph;
        let sizes: Vec<usize> = ranges.iter().map(|&(a, b)| (b - a + 1) as usize).collect();
        let shape = match sizes[..] {
            [n] => Shape::Vector(n),
            [n, m] => Shape::Matrix(n, m),
            _ => Shape::Scalar,
        };
        let first = self.draft.coordinates.len();
        let mut group = Group { ranges, value: Value::Poison, first };
        let mut entries: Vec<Expr> = Vec::with_capacity(shape.len());
        for k in 0..shape.len() {
            let name = component_name(name, &group.indices(k));
            let [position, velocity, acceleration] =
                [0, 1, 2].map(|order| g.symbol(&name, Role::Coordinate { order }));
            entries.push(position);
            let is_state = false;
            let made = Coordinate { name, position, velocity, acceleration, is_state, span };
            self.draft.coordinates.push(made);
        }
        group.value = Value::new(shape, entries);
        self.scope.insert(name, Meaning::Coordinate(group), span);
    }

    pub(crate) fn parameters(&mut self, list: &[syntax::Parameter]) {
        for declared in list {
            let name = self.own_name(declared.name);
            let span = declared.name.span;
            self.speak_of(format!("the parameter `{name}`"));
            let value = self.parameter_value(&name, declared);
            if !self.may_declare(&name, span) {
                continue;
            }
            let meaning = match value {
                Some(constants) => {
                    Meaning::Parameter(self.declare_parameter(&name, span, constants))
                }
                None => Meaning::Poison,
            };
            self.scope.insert(&name, meaning, span);
        }
    }

    /// The value that the text or `--set` gives.
    fn parameter_value(
        &mut self,
        name: &str,
        declared: &syntax::Parameter,
    ) -> Option<Constants> {
        let mut known = declared.value.is_some();
        let mut value = declared.value.and_then(|id| self.constants(Site { part: 0, id }));
        for (k, Given { part, assignment }) in
            self.draft.options.set.clone().into_iter().enumerate()
        {
            let target = &assignment.target;
            if self.parts[usize::from(part)].arena.name(target.name.symbol) != name
                || target.of.is_some()
            {
                continue;
            }
            self.draft.options.set_used.push(k);
            let site = Site { part, id: assignment.value };
            let span = self.shifted(part, target.span);
            if target.order > 0 {
                let message = format!("`{name}` is a parameter and has no velocity");
                self.error("E0502", span, message);
                return None;
            }
            let given = self.constants(site);
            if target.slots.is_empty() {
                if let (Some(Constants { shape: old, .. }), Some(Constants { shape: new, .. })) =
                    (&value, &given)
                    && std::mem::discriminant(old) != std::mem::discriminant(new)
                {
                    let message = format!("`{name}` is {old}, not {new}");
                    self.error("E0301", self.span(site), message);
                    return None;
                }
                known = true;
                value = given;
            } else if let (Some(value), Some(given), Some(members)) =
                (&mut value, given, self.members(part, &target.slots))
            {
                self.set_component(name, span, &given, &members, value);
            }
        }
        if !known {
            let message = format!("the parameter `{name}` has no value");
            let hint = format!("write `parameters {name} = …`");
            self.error_hint("E0501", declared.name.span, message, &hint);
        }
        value
    }

    /// `--set "J[1,2]=3"`
    fn set_component(
        &mut self,
        name: &str,
        span: Span,
        given: &Constants,
        members: &Members,
        value: &mut Constants,
    ) {
        let Constants { shape, entries } = value;
        for indices in &members.indices {
            let found = (0..shape.len()).find(|&k| shape.indices(k) == *indices);
            match found {
                Some(k) if given.shape == Shape::Scalar => {
                    entries[k] = given.entries[0].clone();
                }
                Some(_) => {
                    let message = format!("a component must be a number, not {}", given.shape);
                    self.error("E0301", span, message);
                }
                None => {
                    let member = component_name(name, indices);
                    let message =
                        format!("`{name}` is {shape} and has no component `{member}`");
                    self.error("E0304", span, message);
                }
            }
        }
    }

    /// The constants that an expression is, or a report.
    fn constants(&mut self, site: Site) -> Option<Constants> {
        let value = self.read(site, Place::Parameter);
        let Some(shape) = value.shape() else {
            if !value.is_poison() {
                let message = format!("a parameter cannot be {}", value.describe());
                self.error("E0303", self.span(site), message);
            }
            return None;
        };
        let mut entries = Vec::with_capacity(shape.len());
        for &e in value.entries() {
            let Some(constant) = self.definite(e) else {
                let culprit = self.first_varying(&[e]);
                let message =
                    format!("{} must be constant, but depends on `{culprit}`", self.subject());
                self.error("E0306", self.span(site), message);
                return None;
            };
            if !constant.value.is_finite() {
                let message = format!("the value of {} is not finite", self.subject());
                self.error("E0503", self.span(site), message);
                return None;
            }
            entries.push(DefinedConstant { definition: e, constant });
        }
        Some(Constants { shape, entries })
    }

    /// Makes the symbols. Exact zeros in vectors and matrices become numbers, so that the structure is seen.
    fn declare_parameter(&mut self, name: &str, span: Span, constants: Constants) -> Value {
        let shape = constants.shape;
        let mut entries = Vec::with_capacity(shape.len());
        for (k, defined) in constants.entries.into_iter().enumerate() {
            let DefinedConstant { definition, constant: Constant { exact, value } } = defined;
            if shape != Shape::Scalar && value == 0.0 {
                entries.push(self.graph.zero());
                continue;
            }
            let name = component_name(name, &shape.indices(k));
            let symbol = self.graph.symbol(&name, Role::Parameter);
            self.scope.doubles.insert(symbol, value);
            if let Some(exact) = exact {
                self.scope.exact.insert(symbol, exact);
            }
            let definition = Some(definition);
            self.draft.parameters.push(Parameter { name, symbol, value, definition, span });
            entries.push(symbol);
        }
        Value::new(shape, entries)
    }

    /// Reports what `--set` names and no declaration took.
    pub(crate) fn finish_set(&mut self) {
        let used: FxHashSet<usize> = self.draft.options.set_used.iter().copied().collect();
        let mut seen: Vec<(String, bool)> = Vec::new();
        for (k, Given { part, assignment }) in
            self.draft.options.set.clone().into_iter().enumerate()
        {
            let target = &assignment.target;
            let name = self.parts[usize::from(part)].arena.name(target.name.symbol).to_owned();
            let span = self.shifted(part, target.span);
            let whole = target.slots.is_empty();
            if whole && seen.iter().any(|(n, w)| *n == name && *w) {
                self.error("E0502", span, format!("`{name}` is set twice"));
            }
            seen.push((name.clone(), whole));
            if used.contains(&k) {
                continue;
            }
            let meaning = self.scope.get(&name).map(|entry| &entry.meaning);
            match meaning {
                Some(Meaning::Poison) => {}
                Some(Meaning::Coordinate(_)) => {
                    let message = format!("`{name}` is a coordinate, not a parameter");
                    let hint = "give its value as an initial value";
                    self.error_hint("E0502", span, message, hint);
                }
                _ => {
                    let is_parameter = |n: &&str| {
                        let meaning = self.scope.get(n).map(|e| &e.meaning);
                        matches!(meaning, Some(Meaning::Parameter(_) | Meaning::Poison))
                    };
                    let names: Vec<&str> = self.scope.names().filter(is_parameter).collect();
                    let hint = match closest(&name, &names) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None if names.is_empty() => "the model has no parameters".to_owned(),
                        None => format!("the parameters are {}", names.join(", ")),
                    };
                    let message = format!("there is no parameter `{name}`");
                    self.error_hint("E0502", span, message, &hint);
                }
            }
        }
    }
}
