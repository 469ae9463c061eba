//! Numbers that must be known while the model is read: sizes, indices, ranges, orders, conditions.
//!
//! Parameters count with their values, exactly where these are rational.

use num_traits::ToPrimitive;
use pfaff_expr::{Expr, Rational, number};

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::scope::{Meaning, Site};
use crate::shape::Value;
use crate::syntax::{Binder, Name};

/// A constant's value.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    /// Where it is rational.
    pub(crate) exact: Option<Rational>,
    /// Perhaps not finite.
    pub(crate) value: f64,
}

impl Constant {
    /// The whole number that it is.
    pub(crate) fn whole(&self) -> Option<i64> {
        match &self.exact {
            Some(x) if x.is_integer() => x.numer().to_i64(),
            Some(_) => None,
            // NOTE: doubles beyond 2⁵³ are all whole by accident.
            None => (self.value.fract() == 0.0 && self.value.abs() < 9e15)
                .then_some(self.value as i64),
        }
    }

    /// As short text.
    pub(crate) fn text(&self) -> String {
        match &self.exact {
            Some(x) => number::to_text(x),
            None => self.value.to_string(),
        }
    }
}

impl Elaborator<'_> {
    /// The value of an expression of numbers and parameters, on which the model depends.
    pub(crate) fn constant(&self, e: Expr) -> Option<Constant> {
        let constant = self.definite(e)?;
        if self.graph.double_of(e).is_none() {
            self.consulted.borrow_mut().extend(self.graph.symbols(&[e]));
        }
        Some(constant)
    }

    /// The value of an expression of numbers and parameters, on which nothing but values depend.
    pub(crate) fn definite(&self, e: Expr) -> Option<Constant> {
        let g = self.graph;
        if let Some(exact) = g.number_of(e) {
            return Some(Constant { value: number::to_f64(&exact), exact: Some(exact) });
        }
        if g.varies(e) {
            return None;
        }
        let symbols = g.symbols(&[e]);
        let inserted: Vec<(Expr, Expr)> = symbols
            .iter()
            .filter_map(|s| Some((*s, g.number(self.scope.exact.get(s)?.clone()))))
            .collect();
        let plain = g.substitute(&[e], &inserted)[0];
        let exact = g.number_of(plain);
        let double = |s: Expr| self.scope.doubles.get(&s).copied().unwrap_or(f64::NAN);
        let value = match &exact {
            Some(x) => number::to_f64(x),
            None => g.evaluate(&[plain], &double)[0],
        };
        Some(Constant { exact, value })
    }

    /// Whether a condition of numbers and parameters holds.
    pub(crate) fn decided(&self, condition: Expr) -> Option<bool> {
        let constant = self.constant(condition)?;
        Some(constant.value != 0.0)
    }

    /// The whole number that a value is, or a report.
    pub(crate) fn whole(&mut self, value: &Value, site: Site, what: &str) -> Option<i64> {
        if let Value::Scalar(e) = value
            && let Some(whole) = self.graph.whole_of(*e)
        {
            return Some(whole);
        }
        let constant = self.constant_value(value, site, what)?;
        let whole = constant.whole().filter(|n| n.unsigned_abs() < 1 << 53);
        if whole.is_none() {
            let text = self.text(site);
            let shown = constant.text();
            let message = if constant.exact.as_ref().is_some_and(Rational::is_integer) {
                format!("{what} must lie between -2^53 and 2^53")
            } else if text == shown {
                format!("{what} must be a whole number, not {shown}")
            } else {
                format!("{what} must be a whole number; `{text}` is {shown}")
            };
            self.error("E0307", self.span(site), message);
        }
        whole
    }

    /// The constant that a value is, or a report.
    pub(crate) fn constant_value(
        &mut self,
        value: &Value,
        site: Site,
        what: &str,
    ) -> Option<Constant> {
        let e = match value {
            Value::Scalar(e) => *e,
            Value::Poison => return None,
            other => {
                let message = format!("{what} must be a number, not {}", other.describe());
                self.error("E0303", self.span(site), message);
                return None;
            }
        };
        let constant = self.constant(e);
        if constant.is_none() {
            let culprit = self.first_varying(&[e]);
            let message = format!("{what} must be constant, but depends on `{culprit}`");
            self.error("E0306", self.span(site), message);
        }
        constant
    }

    /// The first symbol that changes during a run, as text.
    pub(crate) fn first_varying(&self, entries: &[Expr]) -> String {
        let symbols = self.graph.symbols(entries);
        let varying = symbols.into_iter().find(|&s| self.graph.varies(s));
        varying
            .and_then(|s| self.graph.symbol_of(s))
            .map_or_else(|| "the past".to_owned(), |symbol| symbol.text())
    }

    /// Both ends of a range, after a look at its index variable.
    pub(crate) fn range(
        &mut self,
        site: Site,
        binder: Binder,
        from: &Value,
        to: &Value,
    ) -> Option<(i64, i64)> {
        let free = self.may_bind(site.part, binder.name);
        let from = self.whole(from, Site { id: binder.from, ..site }, "the start of a range");
        let to = self.whole(to, Site { id: binder.to, ..site }, "the end of a range");
        if !free {
            return None;
        }
        Some((from?, to?))
    }

    /// Whether an index variable hides nothing.
    pub(crate) fn may_bind(&mut self, part: u8, name: Name) -> bool {
        let text = self.parts[usize::from(part)].arena.name(name.symbol).to_owned();
        let span = self.shifted(part, name.span);
        let refuse = |what: String| {
            Diagnostic::error("E0204", span, what)
                .with_hint("choose another name for the index")
        };
        if text == "t" || text == "pi" {
            self.report(refuse(format!(
                "the index cannot be called `{text}`: this name is reserved"
            )));
            return false;
        }
        if self.local(name.symbol).is_some() {
            self.report(refuse(format!("the index `{text}` hides another index of this name")));
            return false;
        }
        let Some(entry) = self.scope.get(&text) else { return true };
        if matches!(entry.meaning, Meaning::Poison) {
            return true;
        }
        let what = entry.meaning.describe();
        let diagnostic = refuse(format!("the index `{text}` hides {what} of this name"))
            .with_note(entry.span, "declared here".into());
        self.report(diagnostic);
        false
    }
}
