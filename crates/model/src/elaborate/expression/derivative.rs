//! `'`: the total derivative along the motion, $\dot e = e_q\dot q + e_{\dot q}\ddot q + e_t$.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::scope::{Meaning, Site};
use crate::shape::Value;
use crate::syntax::NodeKind;

/// What matters of an expression when it is differentiated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Content {
    /// The highest derivative of a coordinate.
    order: u8,
    /// Whether a coordinate occurs at all.
    pub(crate) moves: bool,
    /// A symbol whose rate is not known.
    unknown: Option<Expr>,
}

impl Elaborator<'_> {
    pub(crate) fn derive(&mut self, site: Site, base: Site, order: u32) {
        let value = self.pop();
        let value = self.derived(site, base, order, value);
        self.push(value);
    }

    fn derived(&mut self, site: Site, base: Site, order: u32, mut value: Value) -> Value {
        if value.is_poison() {
            return Value::Poison;
        }
        if value.shape().is_none() {
            let message = format!("{} has no derivative", value.describe());
            return self.error("E0303", self.span(site), message);
        }
        if let Some(name) = self.parameter_named(base) {
            let message = format!("`{name}` is a parameter and does not change");
            let hint = match value {
                Value::Scalar(_) => {
                    format!("declare `{name}` among the coordinates if it moves")
                }
                _ => format!("`'` is the velocity; the transpose is `transpose({name})`"),
            };
            return self.error_hint("E0402", self.span(site), message, &hint);
        }
        for _ in 0..order {
            value = self.rate(site, &value);
            if value.is_poison() {
                break;
            }
        }
        value
    }

    /// One total derivative, with everything that forbids it reported.
    pub(crate) fn rate(&mut self, site: Site, value: &Value) -> Value {
        let text = self.text(site).to_owned();
        if value.entries().iter().any(|&e| self.graph.has_memory(e)) {
            let message = format!("`{text}` is the time derivative of a memory operator");
            let hint = "differentiate inside the operator, or raise its order";
            return self.error_hint("E0402", self.span(site), message, hint);
        }
        let mut entries = Vec::with_capacity(value.entries().len());
        let mut highest = 0;
        for &e in value.entries() {
            let content = self.content(e);
            if let Some(symbol) = content.unknown {
                let text = self.graph.symbol_of(symbol).map(|s| s.text()).unwrap_or_default();
                let message = format!("`{text}` has no derivative here");
                let hint =
                    "of all results only `mu(c)` has one: the rate of a vakonomic multiplier";
                return self.error_hint("E0402", self.span(site), message, hint);
            }
            let before = self.graph.len();
            let rate = self.graph.rate_of(e, &mut self.cache.rates);
            if !self.spend(self.graph.len() - before, site) {
                return Value::Poison;
            }
            // NOTE: the order may fall, as in (x' - x')', so it is looked up where it matters.
            if content.order > 0 {
                highest = highest.max(self.content(rate).order);
            }
            entries.push(rate);
        }
        if highest > 2 {
            let message = format!("`{text}` contains a third derivative");
            let hint = "a model can use positions, velocities and accelerations, but no higher derivatives";
            return self.error_hint("E0401", self.span(site), message, hint);
        }
        if highest == 2 && !self.place.allows_accelerations() {
            return self.refuse_acceleration(site, &entries);
        }
        value.with_entries(entries)
    }

    /// What an expression contains; what is known of its parts is remembered.
    pub(crate) fn content(&mut self, e: Expr) -> Content {
        let g = self.graph;
        let mut stack = vec![e];
        let mut fresh = Vec::new();
        while let Some(x) = stack.pop() {
            if self.cache.contents.contains_key(&x) {
                continue;
            }
            self.cache.contents.insert(x, Content::default());
            if g.varies(x) {
                fresh.push(x);
                stack.extend(g.node(x).operands());
            }
        }
        fresh.sort_unstable();
        for x in fresh {
            let mut content = Content::default();
            for o in g.node(x).operands() {
                let part = self.cache.contents[&o];
                content.order = content.order.max(part.order);
                content.moves |= part.moves;
                content.unknown = content.unknown.or(part.unknown);
            }
            match g.symbol_of(x).map(|symbol| symbol.role) {
                Some(Role::Coordinate { order }) => {
                    (content.order, content.moves) = (order, true);
                }
                Some(Role::Free) => content.unknown = Some(x),
                Some(Role::Multiplier { order }) if order > 0 => content.unknown = Some(x),
                _ => {}
            }
            self.cache.contents.insert(x, content);
        }
        self.cache.contents[&e]
    }

    /// The highest derivative of a coordinate.
    pub(crate) fn highest_order(&mut self, entries: &[Expr]) -> u8 {
        entries.iter().map(|&e| self.content(e).order).max().unwrap_or(0)
    }

    /// Reports an acceleration where there may be none.
    pub(crate) fn refuse_acceleration(&mut self, site: Site, entries: &[Expr]) -> Value {
        let symbols = self.graph.symbols(entries);
        let culprit = symbols
            .into_iter()
            .filter_map(|s| self.graph.symbol_of(s))
            .find(|s| matches!(s.role, Role::Coordinate { order } if order >= 2));
        let culprit = culprit.map_or_else(|| self.text(site).to_owned(), |s| s.text());
        let message = format!("{} depends on `{culprit}`, an acceleration", self.subject());
        let diagnostic = Diagnostic::error("E0401", self.span(site), message)
            .with_hint("only coordinates, velocities and time are allowed here");
        self.report(diagnostic)
    }

    /// The parameter whose velocity is asked for.
    fn parameter_named(&self, base: Site) -> Option<String> {
        let mut site = base;
        while let NodeKind::Index { base, .. } = self.kind(site) {
            site.id = base;
        }
        let NodeKind::Name(symbol) = self.kind(site) else { return None };
        if self.local(symbol).is_some() {
            return None;
        }
        let name = self.arena(site).name(symbol);
        let entry = self.scope.get(name)?;
        matches!(entry.meaning, Meaning::Parameter(_)).then(|| name.to_owned())
    }
}
