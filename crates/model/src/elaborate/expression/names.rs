//! What a name in an expression means, its components and members.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::Elaborator;
use crate::elaborate::expression::functions;
use crate::elaborate::scope::{Family, Group, Meaning, Site};
use crate::shape::{Shape, Value, component_name};
use crate::source::Span;
use crate::syntax::{Name, NodeKind, Symbol};

impl Elaborator<'_> {
    /// The value of a bare name.
    pub(crate) fn name(&mut self, site: Site, symbol: Symbol) -> Value {
        if let Some(value) = self.local(symbol) {
            return value;
        }
        let name = self.arena(site).name(symbol).to_owned();
        match name.as_str() {
            "t" => return Value::Scalar(self.time()),
            "pi" => return Value::Scalar(self.graph.pi()),
            _ => {}
        }
        let Some(entry) = self.scope.get(&name) else {
            if is_result(&name) && self.place.allows_results() {
                return Value::Scalar(self.graph.symbol(&name, Role::Free));
            }
            return self.unknown_name(site, &name);
        };
        let span = entry.span;
        match &entry.meaning {
            Meaning::Coordinate(group) => group.value.clone(),
            Meaning::Parameter(value) => value.clone(),
            Meaning::Observed(value) if self.place.allows_results() => value.clone(),
            Meaning::Observed(_) => {
                let message = format!(
                    "`{name}` is an observed quantity, so {} cannot use it",
                    self.subject()
                );
                let hint = "define it with `let` to use it everywhere";
                self.error_hint("E0411", self.span(site), message, hint)
            }
            Meaning::Let(value, order) => {
                let (value, order) = (value.clone(), *order);
                self.used(site, value, order)
            }
            Meaning::Family(family) => {
                let whole = whole_family(family);
                let poisoned = family.poisoned;
                match whole {
                    Some((value, order)) => self.used(site, value, order),
                    None if poisoned => Value::Poison,
                    None => {
                        let message = format!("`{name}` is a family and needs an index");
                        let hint = format!("write `{name}[i]`");
                        self.error_hint("E0207", self.span(site), message, &hint)
                    }
                }
            }
            Meaning::Function { .. } => {
                let message = format!("`{name}` is a function and needs its arguments");
                let hint = format!("write `{name}(…)`");
                self.error_hint("E0207", self.span(site), message, &hint)
            }
            Meaning::Constraint(_) | Meaning::Event | Meaning::Mode(_) => {
                let what = entry.meaning.describe();
                let message = format!("`{name}` is {what} and has no value");
                let diagnostic = Diagnostic::error("E0207", self.span(site), message)
                    .with_note(span, "declared here".into());
                self.report(diagnostic)
            }
            Meaning::Poison => Value::Poison,
        }
    }

    /// An abbreviation where it is used: accelerations in it may not belong there.
    fn used(&mut self, site: Site, value: Value, order: u8) -> Value {
        if order >= 2 && !self.place.allows_accelerations() {
            return self.refuse_acceleration(site, value.entries());
        }
        if !self.place.allows_memory()
            && value.entries().iter().any(|&e| self.graph.has_memory(e))
        {
            let text = self.text(site).to_owned();
            let message =
                format!("`{text}` contains a memory operator, which {} cannot", self.subject());
            return self.error("E0412", self.span(site), message);
        }
        value
    }

    pub(crate) fn unknown_name(&mut self, site: Site, name: &str) -> Value {
        let span = self.span(site);
        if functions::is_function(name) {
            let message = format!("`{name}` is a function and needs its arguments");
            return self.error_hint("E0207", span, message, &format!("write `{name}(…)`"));
        }
        if self.defining.as_ref().is_some_and(|(of, _)| of == name) {
            let message = format!("`{name}` is defined in terms of itself");
            let hint = "an abbreviation can use only what is declared above it";
            return self.error_hint("E0206", span, message, hint);
        }
        let message = format!("`{name}` is not declared");
        if is_result(name) {
            let hint = format!("`{name}` can be used only in `observe`, `event` and `draw`");
            return self.error_hint("E0411", span, message, &hint);
        }
        let hint = self.similar(site, name);
        let diagnostic = Diagnostic::error("E0201", span, message);
        self.report(match hint {
            Some(meant) => diagnostic.with_hint(&format!("did you mean `{meant}`?")),
            None => diagnostic.with_hint("names are declared before they are used"),
        })
    }

    /// Whether all names in the body of a function mean something; else reports.
    pub(crate) fn names_are_known(&mut self, arguments: &[Name], body: Site) -> bool {
        let arena = self.parts[usize::from(body.part)].arena.clone();
        let mut bound: Vec<Symbol> = arguments.iter().map(|a| a.symbol).collect();
        for id in arena.subtree(body.id) {
            match arena.kind(id) {
                NodeKind::Fold { binder, .. } => bound.push(binder.name.symbol),
                NodeKind::Call { function, .. } if arena.name(function.symbol) == "memory" => {
                    bound.extend(arena.find_symbol("s"));
                }
                _ => {}
            }
        }
        let before = self.diagnostics.len();
        for id in arena.subtree(body.id) {
            let site = Site { id, ..body };
            match arena.kind(id) {
                NodeKind::Name(symbol) if !bound.contains(&symbol) => {
                    let name = arena.name(symbol);
                    let known = matches!(name, "t" | "pi") || is_result(name);
                    if !known && self.scope.get(name).is_none() {
                        self.unknown_name(site, name);
                    }
                }
                NodeKind::Call { function, arguments } => {
                    let name = arena.name(function.symbol);
                    if self.scope.get(name).is_none() {
                        self.is_callable(site, name, arguments.len());
                    }
                }
                _ => {}
            }
        }
        self.diagnostics.len() == before
    }

    /// A visible name that is like this one.
    fn similar(&self, site: Site, name: &str) -> Option<String> {
        let arena = self.arena(site);
        let visible = &self.stacks.locals[self.stacks.frame..];
        let locals = visible.iter().map(|(symbol, _)| arena.name(*symbol));
        let names: Vec<&str> = locals.chain(self.scope.names()).chain(["t", "pi"]).collect();
        closest(name, &names).map(str::to_owned)
    }

    /// The innermost local name written so.
    pub(crate) fn local(&self, symbol: Symbol) -> Option<Value> {
        let visible = &self.stacks.locals[self.stacks.frame..];
        visible.iter().rev().find(|(s, _)| *s == symbol).map(|(_, value)| value.clone())
    }

    /// `name[i, j]` with the indices on the stack.
    pub(crate) fn member(&mut self, index: Site, base: Site) {
        let (NodeKind::Index { indices, .. }, NodeKind::Name(symbol)) =
            (self.kind(index), self.kind(base))
        else {
            return;
        };
        let values = self.pop_many(indices.len());
        let value = self.member_value(index, base, symbol, &values);
        self.push(value);
    }

    fn member_value(
        &mut self,
        index: Site,
        base: Site,
        symbol: Symbol,
        values: &[Value],
    ) -> Value {
        let name = self.arena(base).name(symbol).to_owned();
        if self.local(symbol).is_none() {
            // NOTE: the meaning is looked at in place: families may be large.
            match self.scope.get(&name).map(|entry| &entry.meaning) {
                Some(Meaning::Coordinate(_)) => {
                    let Some(indices) = self.indices(index, values) else {
                        return Value::Poison;
                    };
                    return self.coordinate_component(index, &name, &indices);
                }
                Some(Meaning::Family(_)) => {
                    let Some(indices) = self.indices(index, values) else {
                        return Value::Poison;
                    };
                    return self.family_member(index, &name, &indices);
                }
                _ => {}
            }
        }
        let whole = self.name(base, symbol);
        self.component(&whole, values, index)
    }

    fn coordinate_component(&mut self, site: Site, name: &str, indices: &[i64]) -> Value {
        let Some(Meaning::Coordinate(group)) = self.scope.get(name).map(|e| &e.meaning) else {
            return Value::Poison;
        };
        if let Some(offset) = group.offset(indices) {
            return Value::Scalar(group.value.entries()[offset]);
        }
        let (ranges, shape) = (group.ranges.clone(), group.value.describe());
        self.outside(site, name, &shape, indices, &ranges)
    }

    /// Reports wrong indices: their number, or the first one outside its range.
    pub(crate) fn outside(
        &mut self,
        site: Site,
        name: &str,
        shape: &str,
        indices: &[i64],
        ranges: &[(i64, i64)],
    ) -> Value {
        self.outside_at(self.span(site), name, shape, indices, ranges)
    }

    /// The same at a place that is no expression.
    pub(crate) fn outside_at(
        &mut self,
        span: Span,
        name: &str,
        shape: &str,
        indices: &[i64],
        ranges: &[(i64, i64)],
    ) -> Value {
        if indices.len() != ranges.len() {
            let wanted = match ranges.len() {
                0 => "no index".to_owned(),
                n => functions::count_indices(n),
            };
            let message =
                format!("`{name}` is {shape} and takes {wanted}, not {}", indices.len());
            return self.error("E0305", span, message);
        }
        let wrong = indices.iter().zip(ranges).position(|(&i, &(a, b))| i < a || i > b);
        let k = wrong.unwrap_or(0);
        let ((from, to), i) = (ranges[k], indices[k]);
        let which = match (ranges.len(), k) {
            (1, _) => "index".to_owned(),
            (_, 0) => "first index".to_owned(),
            (_, 1) => "second index".to_owned(),
            _ => format!("index number {}", k + 1),
        };
        let message = format!("{which} {i} of `{name}` is outside {from}..{to}");
        self.error("E0304", span, message)
    }

    fn family_member(&mut self, site: Site, name: &str, indices: &[i64]) -> Value {
        let Some(Meaning::Family(family)) = self.scope.get(name).map(|e| &e.meaning) else {
            return Value::Poison;
        };
        if let Some((value, order)) = family.members.get(indices) {
            let (value, order) = (value.clone(), *order);
            return self.used(site, value, order);
        }
        if family.poisoned {
            return Value::Poison;
        }
        let member = component_name(name, indices);
        let span = self.span(site);
        if indices.len() != family.slots {
            let wanted = functions::count_indices(family.slots);
            let message = format!("`{name}` takes {wanted}, not {}", indices.len());
            let hint = format!("a component of a member is written `{name}[i][k]`");
            return self.error_hint("E0305", span, message, &hint);
        }
        if self.defining.as_ref().is_some_and(|(of, _)| of == name) {
            let message = format!("`{member}` is used before it is defined");
            let hint = "a family can use only its earlier members; define the first one separately, as in `let \
                        X[0] = x`";
            return self.error_hint("E0206", span, message, hint);
        }
        let message = format!("`{name}` has no member `{member}`");
        let valid = describe_members(family);
        self.error_hint("E0304", span, message, &valid)
    }

    /// A component of any value; indices count from 1.
    pub(crate) fn component(&mut self, base: &Value, indices: &[Value], site: Site) -> Value {
        let Some(indices) = self.indices(site, indices) else { return Value::Poison };
        let Some(shape) = base.shape() else {
            if base.is_poison() {
                return Value::Poison;
            }
            let message = format!("{} has no components", base.describe());
            return self.error("E0303", self.span(site), message);
        };
        let ranges: Vec<(i64, i64)> = match shape {
            Shape::Scalar => Vec::new(),
            Shape::Vector(n) | Shape::Row(n) => vec![(1, n as i64)],
            Shape::Matrix(n, m) => vec![(1, n as i64), (1, m as i64)],
        };
        let group = Group { ranges, value: base.clone(), first: 0 };
        if let Some(offset) = group.offset(&indices) {
            Value::Scalar(base.entries()[offset])
        } else {
            let text = self.base_text(site);
            self.outside(site, &text, &shape.to_string(), &indices, &group.ranges)
        }
    }

    /// The text before the index brackets.
    fn base_text(&self, site: Site) -> String {
        match self.kind(site) {
            NodeKind::Index { base, .. } => self.text(Site { id: base, ..site }).to_owned(),
            _ => self.text(site).to_owned(),
        }
    }

    /// Whole numbers of the index values of an [`NodeKind::Index`].
    fn indices(&mut self, site: Site, values: &[Value]) -> Option<Vec<i64>> {
        let NodeKind::Index { indices, .. } = self.kind(site) else { return None };
        let mut whole = Vec::with_capacity(values.len());
        for (k, value) in values.iter().enumerate() {
            let id = *self.arena(site).list(indices).get(k)?;
            whole.push(self.whole(value, Site { id, ..site }, "an index")?);
        }
        Some(whole)
    }

    /// The symbol of the time.
    pub(crate) fn time(&self) -> Expr {
        self.graph.symbol("t", Role::Time)
    }

    /// The symbol of the lag in a kernel.
    pub(crate) fn lag(&self) -> Expr {
        self.graph.symbol("s", Role::Free)
    }
}

/// A family of numbers with indices without a gap is a vector.
fn whole_family(family: &Family) -> Option<(Value, u8)> {
    if family.slots != 1 {
        return None;
    }
    let mut indices: Vec<i64> = family.order.iter().map(|i| i[0]).collect();
    indices.sort_unstable();
    let gapless = indices.windows(2).all(|w| w[1] == w[0] + 1);
    let mut entries = Vec::with_capacity(indices.len());
    let mut highest = 0;
    for i in &indices {
        let (value, order) = &family.members[&vec![*i]];
        let Value::Scalar(e) = value else { return None };
        entries.push(*e);
        highest = highest.max(*order);
    }
    (gapless && !entries.is_empty()).then(|| (Value::Vector(entries.into()), highest))
}

/// Which members a family has.
fn describe_members(family: &Family) -> String {
    let bounds = |k: usize| {
        let all = family.order.iter().map(|i| i[k]);
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    let ranges: Vec<String> = (0..family.slots)
        .map(|k| {
            let (a, b) = bounds(k);
            format!("{a}..{b}")
        })
        .collect();
    format!("its indices are in {}", ranges.join(", "))
}

/// Whether a name that nobody declared stands for a result of the motion.
fn is_result(name: &str) -> bool {
    matches!(name, "energy" | "divergence")
}
