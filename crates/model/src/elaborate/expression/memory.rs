//! Memory operators: `caputo`, `rl`, their right forms, `integral`, `memory` and `mean`.
//!
//! An integer order from 1 on is the ordinary derivative, $D^n g = d^n g/dt^n$ (on the right $(-1)^n d^n
//! g/dt^n$), and `integral(g, 0)` is g.

use pfaff_expr::{Expr, Memory, Role};

use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::shape::Value;

/// The highest ordinary derivative that is written out.
const DERIVATIVES: i64 = 64;
/// The highest order of a memory operator: its start is a polynomial of as many terms.
const ORDER: f64 = 1000.0;

impl Elaborator<'_> {
    pub(crate) fn memory_operator(
        &mut self,
        site: Site,
        name: &str,
        values: &[Value],
    ) -> Value {
        if !self.place.allows_memory() {
            let message = format!("{} cannot contain a memory operator", self.subject());
            return self.error("E0412", self.span(site), message);
        }
        let (operand, at) = match name {
            "memory" => (&values[1], self.argument(site, 1)),
            _ => (&values[0], self.argument(site, 0)),
        };
        if operand.shape().is_none() {
            let message = format!("`{name}` cannot be applied to {}", operand.describe());
            return self.error("E0303", self.span(at), message);
        }
        if !self.has_no_acceleration(operand, at, name) {
            return Value::Poison;
        }
        match name {
            "memory" => self.kernel(site, &values[0], operand),
            "mean" => {
                let g = self.graph;
                operand.map(|e| g.memory(Memory::Mean, e, g.zero()))
            }
            _ => self.fractional(site, name, operand, &values[1]),
        }
    }

    /// The operand may hold q, q', t and memory, but no accelerations.
    fn has_no_acceleration(&mut self, operand: &Value, at: Site, name: &str) -> bool {
        let hint =
            "any expression of coordinates, velocities, time and memory operators is allowed";
        if self.highest_order(operand.entries()) > 1 {
            let message = format!("`{name}` cannot be applied to an acceleration");
            self.error_hint("E0412", self.span(at), message, hint);
            return false;
        }
        true
    }

    fn kernel(&mut self, site: Site, kernel: &Value, operand: &Value) -> Value {
        let at = self.argument(site, 0);
        let Some(k) = self.scalar(kernel, at, "the kernel") else { return Value::Poison };
        let g = self.graph;
        let foreign =
            g.symbols(&[k]).into_iter().filter_map(|s| g.symbol_of(s)).find(|s| match s.role {
                Role::Time | Role::Parameter => false,
                Role::Free => s.name != "s",
                _ => true,
            });
        if foreign.is_some() || g.has_memory(k) {
            let culprit = foreign.map_or_else(|| self.text(at).to_owned(), |s| s.text());
            let message = format!("the kernel depends on `{culprit}`");
            let hint = "a kernel is an expression of the lag `s`, of `t` and of parameters";
            return self.error_hint("E0412", self.span(at), message, hint);
        }
        operand.map(|e| g.memory(Memory::Kernel, e, k))
    }

    fn fractional(&mut self, site: Site, name: &str, operand: &Value, order: &Value) -> Value {
        let at = self.argument(site, 1);
        let what = format!("the order of `{name}`");
        let Some(constant) = self.constant_value(order, at, &what) else {
            return Value::Poison;
        };
        if constant.value.is_nan() || constant.value < 0.0 {
            let message = format!("{what} is {}, but may not be negative", constant.text());
            return self.error("E0412", self.span(at), message);
        }
        if constant.value == 0.0 && name != "integral" {
            let message = format!("{what} is 0, but must be positive");
            let hint = "a derivative of order 0 is the expression itself: write the expression instead";
            return self.error_hint("E0412", self.span(at), message, hint);
        }
        let kind = match name {
            "caputo" => Memory::Caputo,
            "rl" => Memory::RiemannLiouville,
            "caputo_right" => Memory::CaputoRight,
            "rl_right" => Memory::RiemannLiouvilleRight,
            _ => Memory::Integral,
        };
        let Some(alpha) = self.scalar(order, at, &what) else { return Value::Poison };
        self.operator(site, kind, operand, alpha)
    }

    /// The operator of order `alpha` on an operand that may contain memory itself.
    pub(super) fn operator(
        &mut self,
        site: Site,
        kind: Memory,
        operand: &Value,
        alpha: Expr,
    ) -> Value {
        let g = self.graph;
        let constant = self.constant(alpha);
        if let Some(order) = constant.as_ref().filter(|order| order.value > ORDER) {
            let message =
                format!("the order {} is too high: orders go up to {ORDER}", order.text());
            return self.error("E0308", self.span(site), message);
        }
        let whole = constant.and_then(|c| c.whole());
        if whole == Some(0) {
            return operand.clone();
        }
        if operand.entries().iter().any(|&e| g.has_memory(e)) {
            return self.composed(site, kind, operand, alpha);
        }
        match whole {
            Some(n) if kind != Memory::Integral => self.ordinary(site, kind, operand, n),
            _ => operand.map(|e| g.memory(kind, e, alpha)),
        }
    }

    /// The ordinary derivative of whole order.
    fn ordinary(&mut self, site: Site, kind: Memory, operand: &Value, order: i64) -> Value {
        if order > DERIVATIVES {
            let message = format!(
                "the order {order} is too high: derivatives go up to order {DERIVATIVES}"
            );
            return self.error("E0308", self.span(site), message);
        }
        let highest = order + i64::from(self.highest_order(operand.entries()));
        let allowed = if self.place.allows_accelerations() { 2 } else { 1 };
        let moves = self.graph.symbols(operand.entries()).into_iter().any(|s| {
            let role = self.graph.symbol_of(s).map(|s| s.role);
            matches!(role, Some(Role::Coordinate { .. }))
        });
        if moves && highest > 2 && matches!(self.place, Place::Equation) {
            // Beyond accelerations the derivative is kept as an operator, which runs with memory know.
            let g = self.graph;
            let alpha = g.integer(order);
            return operand.map(|e| g.memory(Memory::Caputo, e, alpha));
        }
        if moves && highest > 2 {
            let message = format!(
                "the order {order} is a whole number, so `{}` is the ordinary derivative of order {highest} of a \
                 coordinate",
                self.text(site)
            );
            let hint = format!(
                "ordinary derivatives go up to order {allowed} here; fractional orders may be higher"
            );
            return self.error_hint("E0401", self.span(site), message, &hint);
        }
        let mut value = operand.clone();
        for _ in 0..order {
            value = self.rate(site, &value);
        }
        let g = self.graph;
        let right = matches!(kind, Memory::CaputoRight | Memory::RiemannLiouvilleRight);
        let sign = |e: Expr| if right && order % 2 == 1 { g.neg(e) } else { e };
        if value.is_poison() { Value::Poison } else { value.map(sign) }
    }
}
