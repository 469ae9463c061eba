//! Memory operators on memory operators, where a single one says the same.
//!
//! With $m = \lceil a\rceil$, $n = \lceil b\rceil$, for $f$ that is bounded at the start, where integrals vanish:
//!
//! | | is | if |
//! |---|---|---|
//! | $J^a J^b f$ | $J^{a+b} f$ | |
//! | $D^a J^b f$ | $D^{a-b} f$, or $J^{b-a} f$ | |
//! | ${}^{C}\!D^a J^b f$ | $D^{a-b} f$, or $J^{b-a} f$ | $a \le b$ or $m - 1 < b$ |
//! | | ${}^{C}\!D^{a-b} f$ | $b$ is whole |
//! | $J^a\,{}^{C}\!D^b f$ | ${}^{C}\!D^{b-a} f$ | $a < b$ and $\lceil b - a\rceil = n$ |
//! | $J^a D^b f$ | $D^{b-a} f$, or $J^{a-b} f$ | $b < 1$ |
//! | $D^a D^b f$ | $D^{a+b} f$ | $b < 1$ |
//! | $D^a\,{}^{C}\!D^b f$ | ${}^{C}\!D^{a+b} f$ | $\lceil a + b\rceil = n$, $b$ not whole |
//! | | $D^{a+b-1} f'$ | $n = 1$, $a + b > 1$ |
//! | ${}^{C}\!D^a\,{}^{C}\!D^b f$ | as $D^a\,{}^{C}\!D^b f$ | $a \le 1$, $b$ not whole |
//! | | ${}^{C}\!D^{a+b} f$ | $b$ is whole |
//!
//! $D$ without a mark is that of Riemann and Liouville. So ${}^{C}\!D^a\,{}^{C}\!D^b \ne {}^{C}\!D^{a+b}$ in general:
//! for $a, b < 1 < a + b$ they differ by $f'(t_0)\,\tau^{1-a-b}/\Gamma(2-a-b)$. Sums with constant coefficients are
//! taken term by term; whatever else there is stays nested.

use pfaff_expr::{Expr, Memory, Node, Role};

use crate::elaborate::Elaborator;
use crate::elaborate::scope::Site;
use crate::shape::Value;

/// What rounding leaves of orders that are equal.
const ROUNDING: f64 = 1e-14;

impl Elaborator<'_> {
    /// An operator on an operand with memory.
    pub(super) fn composed(
        &mut self,
        site: Site,
        kind: Memory,
        operand: &Value,
        alpha: Expr,
    ) -> Value {
        let mut entries = Vec::new();
        for &e in operand.entries() {
            let Some(e) = self.composed_entry(site, kind, e, alpha) else {
                return Value::Poison;
            };
            entries.push(e);
        }
        operand.with_entries(entries)
    }

    fn composed_entry(
        &mut self,
        site: Site,
        kind: Memory,
        e: Expr,
        alpha: Expr,
    ) -> Option<Expr> {
        let g = self.graph;
        let inner = g.outermost_memory(e);
        let symbols: Vec<Expr> =
            (0..inner.len()).map(|i| g.symbol(&format!("memory {i}"), Role::Free)).collect();
        let held: Vec<(Expr, Expr)> =
            inner.iter().copied().zip(symbols.iter().copied()).collect();
        let linear = g.try_linear(g.substitute(&[e], &held)[0], &symbols);
        let steady = linear.filter(|l| l.coefficients.iter().all(|c| !g.varies(*c)));
        let Some(linear) = steady else { return Some(g.memory(kind, e, alpha)) };
        let mut sum = Vec::new();
        for (&node, &c) in inner.iter().zip(&linear.coefficients) {
            sum.push(g.mul(c, self.pair(site, kind, node, alpha)?));
        }
        if linear.rest != g.zero() {
            sum.push(self.single(site, kind, linear.rest, alpha)?);
        }
        Some(g.sum(sum))
    }

    /// An operator on one operator.
    fn pair(&mut self, site: Site, kind: Memory, node: Expr, alpha: Expr) -> Option<Expr> {
        use Memory::{Caputo, Integral, RiemannLiouville};
        let g = self.graph;
        let nested = g.memory(kind, node, alpha);
        let Node::Memory(inner, f, beta) = g.node(node) else { return Some(nested) };
        if !matches!(inner, Caputo | RiemannLiouville | Integral) {
            return Some(nested);
        }
        let value = |e: Expr| {
            let value = self.constant(e).map_or(f64::NAN, |c| c.value);
            let nearest = value.round();
            if (value - nearest).abs() <= ROUNDING { nearest } else { value }
        };
        let (total, less) = (g.add(alpha, beta), g.sub(alpha, beta));
        let (a, b, both, difference) = (value(alpha), value(beta), value(total), value(less));
        let is_whole = b == b.round();
        // D^d f, or J^{-d} f
        let mut lowered = |order: f64, d: Expr| {
            if order == 0.0 {
                Some(f)
            } else if order > 0.0 {
                self.single(site, RiemannLiouville, f, d)
            } else {
                self.single(site, Integral, f, g.neg(d))
            }
        };
        match (kind, inner) {
            (Integral, Integral) => self.single(site, Integral, f, total),
            (RiemannLiouville, Integral) => lowered(difference, less),
            (Caputo, Integral) if difference <= 0.0 || a.ceil() - 1.0 < b => {
                lowered(difference, less)
            }
            (Caputo, Integral) if is_whole => self.single(site, Caputo, f, less),
            (Integral, Caputo) if difference < 0.0 && (-difference).ceil() == b.ceil() => {
                self.single(site, Caputo, f, g.neg(less))
            }
            (Integral, RiemannLiouville) if b < 1.0 => lowered(-difference, g.neg(less)),
            (RiemannLiouville, RiemannLiouville) if b < 1.0 => {
                self.single(site, RiemannLiouville, f, total)
            }
            (Caputo, Caputo) if is_whole => self.single(site, Caputo, f, total),
            (Caputo | RiemannLiouville, Caputo)
                if !is_whole && (kind == RiemannLiouville || a <= 1.0) =>
            {
                if both.ceil() == b.ceil() {
                    return self.single(site, Caputo, f, total);
                }
                let moves = g.has_memory(f) || self.highest_order(&[f]) > 0;
                if b > 1.0 || moves {
                    return Some(nested);
                }
                let rate = self.rate(site, &Value::Scalar(f));
                let Value::Scalar(rate) = rate else { return None };
                self.single(site, RiemannLiouville, rate, g.sub(total, g.one()))
            }
            _ => Some(nested),
        }
    }

    fn single(&mut self, site: Site, kind: Memory, f: Expr, order: Expr) -> Option<Expr> {
        match self.operator(site, kind, &Value::Scalar(f), order) {
            Value::Scalar(e) => Some(e),
            _ => None,
        }
    }
}
