//! `'`: the total derivative along the motion, $\dot e = e_q\dot q + e_{\dot q}\ddot q + e_t$.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::scope::{Meaning, Site};
use crate::shape::Value;
use crate::syntax::NodeKind;

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
        if value.entries().iter().any(|&e| self.graph.remembers(e)) {
            let message = format!("`{text}` differentiates a memory operator");
            let hint = "take the derivative inside, or raise the order of the operator";
            return self.error_hint("E0402", self.span(site), message, hint);
        }
        let mut entries = Vec::with_capacity(value.entries().len());
        let mut highest = 0;
        for &e in value.entries() {
            let (rate, order) = match self.rates.get(&e) {
                Some(&known) => known,
                None => match self.fresh_rate(site, e) {
                    Some(made) => made,
                    None => return Value::Poison,
                },
            };
            highest = highest.max(order);
            entries.push(rate);
        }
        if highest > 2 {
            let message = format!("`{text}` contains a third derivative");
            let hint = "positions, velocities and accelerations are all there is";
            return self.error_hint("E0401", self.span(site), message, hint);
        }
        if highest == 2 && !self.place.allows_accelerations() {
            return self.refuse_acceleration(site, &entries);
        }
        value.with_entries(entries)
    }

    /// The derivative of one expression and its highest order; `None` if it has none, which is reported.
    fn fresh_rate(&mut self, site: Site, e: Expr) -> Option<(Expr, u8)> {
        let g = self.graph;
        let live = g.live(&[e]);
        if !self.spend(live.len(), site) {
            return None;
        }
        for &s in &live {
            let Some(symbol) = g.symbol_of(s) else { continue };
            let refused = match symbol.role {
                Role::Free => true,
                Role::Multiplier { order } => order > 0,
                _ => false,
            };
            if refused {
                let message = format!("the derivative of `{}` is not known", symbol.text());
                let hint = "only `mu(c)'` is there: the rate of a vakonomic multiplier";
                self.error_hint("E0402", self.span(site), message, hint);
                return None;
            }
        }
        let rate = g.total_derivative(e);
        let made = (rate, self.highest_order(&[rate]));
        self.rates.insert(e, made);
        Some(made)
    }

    /// The highest derivative of a coordinate.
    pub(crate) fn highest_order(&self, entries: &[Expr]) -> u8 {
        let symbols = self.graph.symbols(entries);
        let orders = symbols.into_iter().filter_map(|s| match self.graph.symbol_of(s)?.role {
            Role::Coordinate { order } => Some(order),
            _ => None,
        });
        orders.max().unwrap_or(0)
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
            .with_hint("here may stand coordinates, velocities and time");
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
