//! Memory operators on operands that contain memory themselves: `pfaff eval`.
//!
//! The operand $h$ is a function of time whose values come from the operators within it, at every node of a
//! quadrature. With the rates of these operators, ${}^{C}\!D^\alpha h = J^{m-\alpha} h^{(m)}$.

use std::cell::RefCell;

use pfaff_expr::special::reciprocal_gamma;
use pfaff_expr::{Expr, Graph, Memory, Node, Role, Unary};

use crate::analysis::operator::{Ends, does_not_exist, operate, weighted};
use crate::problem::break_points::Variable;
use crate::run::memory_operator::{MemoryOperator, Surroundings, with_symbols};

/// An expression with memory as a function of time.
struct Function<'a> {
    g: &'a Graph,
    time: Expr,
    ends: Ends,
    value: &'a dyn Fn(Expr) -> f64,
    /// Why it had no value somewhere.
    failure: RefCell<Option<String>>,
}

impl Function<'_> {
    /// The value of an expression at a time; not a number where it has none.
    fn at(&self, e: Expr, t: f64) -> f64 {
        let g = self.g;
        let value = |s: Expr| if s == self.time { t } else { (self.value)(s) };
        let nodes = g.outermost_memory(e);
        let mut past = Vec::new();
        for &node in &nodes {
            let Some(term) = MemoryOperator::of(g, node) else { continue };
            match operate(g, term, self.time, Ends { at: t, ..self.ends }, &value) {
                Ok(x) => past.push(x),
                Err(why) => {
                    self.failure.borrow_mut().get_or_insert(why);
                    past.push(f64::NAN);
                }
            }
        }
        let (held, symbols) = with_symbols(g, e, &nodes);
        let all = |s: Expr| match symbols.iter().position(|&x| x == s) {
            Some(i) => past[i],
            None => value(s),
        };
        g.evaluate(&[held], &all)[0]
    }

    /// Where panels of an integral of an expression are to end, counted from the start: what its parts without memory
    /// say.
    fn cuts(&self, e: Expr) -> Vec<f64> {
        let g = self.g;
        let (held, symbols) = with_symbols(g, e, &g.outermost_memory(e));
        let value = |part: Expr, t: f64| self.at(if part == held { e } else { part }, t);
        let Ends { from, at: to, .. } = self.ends;
        let variable =
            Variable { g, symbol: self.time, others: &symbols, value: &value, from, to };
        variable.cuts(held).into_iter().map(|t| t - from).collect()
    }
}

/// The value of an operator whose operand contains memory.
///
/// # Errors
///
/// A sentence that says why there is none.
pub(crate) fn operate_nested(
    g: &Graph,
    term: MemoryOperator,
    time: Expr,
    ends: Ends,
    value: &dyn Fn(Expr) -> f64,
) -> Result<f64, String> {
    let MemoryOperator { kind, operand, second } = term;
    let right = matches!(kind, Memory::CaputoRight | Memory::RiemannLiouvilleRight);
    if right {
        return Err(format!("`{}` of a memory operator is not evaluated", kind.name()));
    }
    let x = ends.at - ends.from;
    if x < 0.0 {
        return Err("the point lies outside the interval of the operator".into());
    }
    let f = Function { g, time, ends, value, failure: RefCell::new(None) };
    let h = |e: Expr| {
        let f = &f;
        move |u: f64| f.at(e, ends.from + u)
    };
    let order = g.evaluate(&[second], value)[0];
    let found = match kind {
        Memory::Integral => {
            let sum = weighted(order, x, &f.cuts(operand), &h(operand));
            sum.map(|sum| sum * reciprocal_gamma(order))
        }
        Memory::Mean if x == 0.0 => Ok(f.at(operand, ends.at)),
        Memory::Mean => weighted(1.0, x, &f.cuts(operand), &h(operand)).map(|sum| sum / x),
        Memory::Kernel => {
            let lag = g.symbol("s", Role::Free);
            let kernel = |s: f64| {
                let at = |y: Expr| {
                    if y == lag {
                        s
                    } else if y == time {
                        ends.at
                    } else {
                        value(y)
                    }
                };
                g.evaluate(&[second], &at)[0]
            };
            // Both ends may be singular: each half has its own at 0.
            let cuts = f.cuts(operand);
            let lags: Vec<f64> = cuts.iter().map(|u| x - u).collect();
            let near = weighted(1.0, 0.5 * x, &lags, &|s| kernel(s) * h(operand)(x - s));
            let far = weighted(1.0, 0.5 * x, &cuts, &|u| kernel(x - u) * h(operand)(u));
            near.and_then(|near| Ok(near + far?))
        }
        _ => derivative(&f, term, order, x),
    };
    if let Some(why) = f.failure.into_inner() {
        return Err(why);
    }
    let found = found?;
    if found.is_finite() { Ok(found) } else { Err(does_not_exist(kind)) }
}

/// ${}^{C}\!D^\alpha h$ or $D^\alpha h$ at $x$ after the start.
fn derivative(
    f: &Function<'_>,
    term: MemoryOperator,
    alpha: f64,
    x: f64,
) -> Result<f64, String> {
    let (g, from) = (f.g, f.ends.from);
    if g.live(&[term.operand]).into_iter().any(|e| may_jump(g.node(e))) {
        return Err("the operand of a derivative that contains memory may not jump".into());
    }
    let around = Surroundings { g, time: f.time, start: from, parameter: f.value };
    let m = alpha.ceil();
    let (mut rate, mut total) = (term.operand, 0.0);
    for k in 0..m as usize {
        if term.kind == Memory::RiemannLiouville {
            let e = k as f64 - alpha;
            total += f.at(rate, from) * libm::pow(x, e) * reciprocal_gamma(e + 1.0);
        }
        rate =
            around.rate(rate).ok_or("the operand has no derivative that could be evaluated")?;
    }
    if alpha == m {
        return Ok(f.at(rate, from + x));
    }
    let sum = weighted(m - alpha, x, &f.cuts(rate), &|u| f.at(rate, from + u))?;
    Ok(total + sum * reciprocal_gamma(m - alpha))
}

fn may_jump(node: Node) -> bool {
    matches!(node, Node::If(..) | Node::Unary(Unary::Sign, _))
}
