//! Times, numbers and mistakes that all parts of a run with memory share.

use pfaff_expr::{Expr, Graph, number};
use pfaff_model::{Diagnostic, Span, Workspace};

/// When a run takes place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunTimes {
    pub(crate) start: f64,
    /// How long it lasts.
    pub(crate) length: f64,
}

/// A mistake in the use of memory.
pub(crate) fn mistake(span: Span, message: String, hint: &str) -> Diagnostic {
    Diagnostic::error("E0441", span, message).with_hint(hint)
}

/// The value of an expression of parameters.
pub(crate) fn constant(model: &Workspace, e: Expr) -> f64 {
    model.constant(e)
}

/// A number as an expression.
pub(crate) fn real(g: &Graph, x: f64) -> Expr {
    number::from_f64(x).map_or(g.zero(), |x| g.number(x))
}

/// The value of a parameter; not a number for any other symbol.
pub(crate) fn parameter(model: &Workspace, symbol: Expr) -> f64 {
    let found = model.parameters.iter().find(|p| p.symbol == symbol);
    found.map_or(f64::NAN, |p| p.value)
}
