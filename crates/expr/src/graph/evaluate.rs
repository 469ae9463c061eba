//! Plain evaluation in doubles: slow and simple, the reference for compiled programs.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::math::power::power;
use crate::math::special::mittag_leffler;

/// Outputs that are evaluated at several points, with room for the values of all nodes.
#[derive(Debug)]
pub struct Evaluator<'a> {
    graph: &'a Graph,
    outputs: &'a [Expr],
    live: Vec<Expr>,
    /// The place of the first node in the graph; values of others follow by their places.
    first: usize,
    values: Vec<f64>,
}

impl Evaluator<'_> {
    /// The values of the outputs, given those of the symbols.
    pub fn at(&mut self, symbol: &dyn Fn(Expr) -> f64) -> Vec<f64> {
        for &e in &self.live {
            let v = |o: Expr| self.values[o.index() - self.first];
            let value = self.graph.evaluate_node(e, &v, symbol);
            self.values[e.index() - self.first] = value;
        }
        self.outputs.iter().map(|o| self.values[o.index() - self.first]).collect()
    }
}

impl Graph {
    /// The values of the outputs, given those of the symbols.
    ///
    /// What cannot be evaluated at one instant (memory operators) or is outside its domain is not a number.
    pub fn evaluate(&self, outputs: &[Expr], symbol: &dyn Fn(Expr) -> f64) -> Vec<f64> {
        let mut values: FxHashMap<Expr, f64> = FxHashMap::default();
        for e in self.live(outputs) {
            let value = self.evaluate_node(e, &|o| values[&o], symbol);
            values.insert(e, value);
        }
        outputs.iter().map(|o| values[o]).collect()
    }

    /// The same outputs at several points: faster than one after the other.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Free);
    /// let outputs = [g.mul(x, x), g.sin(x)];
    /// let mut values = g.evaluator(&outputs);
    /// assert_eq!(values.at(&|_| 2.0), [4.0, 2.0_f64.sin()]);
    /// assert_eq!(values.at(&|_| 0.0), [0.0, 0.0]);
    /// ```
    pub fn evaluator<'a>(&'a self, outputs: &'a [Expr]) -> Evaluator<'a> {
        let live = self.live(outputs);
        let first = live.first().map_or(0, |e| e.index());
        let count = live.last().map_or(0, |e| e.index() + 1 - first);
        Evaluator { graph: self, outputs, live, first, values: vec![f64::NAN; count] }
    }

    /// The value of one expression, where values of symbols and of other expressions are known already; what
    /// is computed is added to them.
    ///
    /// A symbol without value is not a number.
    pub fn evaluate_further(&self, e: Expr, known: &mut FxHashMap<Expr, f64>) -> f64 {
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            if known.contains_key(&x) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(self.node(x).operands().filter(|o| !known.contains_key(o)));
            if stack.len() == before {
                let value = self.evaluate_node(x, &|o| known[&o], &|_| f64::NAN);
                known.insert(x, value);
                stack.pop();
            }
        }
        known[&e]
    }

    fn evaluate_node(
        &self,
        e: Expr,
        v: &dyn Fn(Expr) -> f64,
        symbol: &dyn Fn(Expr) -> f64,
    ) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self.node(e) {
            Node::Number(_) | Node::Pi => self.double_of(e).unwrap_or(f64::NAN),
            Node::Symbol(_) => symbol(e),
            Node::Neg(a) => -v(a),
            Node::Add(a, b) => v(a) + v(b),
            Node::Sub(a, b) => v(a) - v(b),
            Node::Mul(a, b) => v(a) * v(b),
            Node::Div(a, b) => v(a) / v(b),
            Node::Pow(a, b) => power(v(a), v(b)),
            Node::Unary(f, a) => f.value(v(a)),
            Node::Binary(f, a, b) => f.value(v(a), v(b)),
            Node::If(c, a, b) => {
                if v(c) == 0.0 {
                    v(b)
                } else {
                    v(a)
                }
            }
            Node::Compare(r, a, b) => truth(r.holds(v(a), v(b))),
            Node::Not(a) => truth(v(a) == 0.0),
            Node::And(a, b) => truth(v(a) != 0.0 && v(b) != 0.0),
            Node::Or(a, b) => truth(v(a) != 0.0 || v(b) != 0.0),
            Node::Table { table, order, argument } => {
                self.store.borrow().tables[table as usize].value(order, v(argument))
            }
            Node::MittagLeffler(a, b, z) => mittag_leffler(v(a), v(b), v(z)),
            Node::Memory(..) | Node::List(..) => f64::NAN,
            Node::Family { family, part, list } => {
                self.part_value(&self.family_of(family), part, list, v)
            }
        }
    }
}
