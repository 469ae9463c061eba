//! Random expressions, and a second way to their values.
#![allow(dead_code, unused_imports, reason = "each binary uses its part")]

pub(crate) mod recipe;

use std::collections::BTreeMap;

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Unary, power};
use pfaff_program::{Backend, Lanes, NativeCode, Program};

pub(crate) use recipe::{
    Arguments, Expressions, HARD, Mix, PARAMETERS, Recipe, Size, argument, arguments, cases,
    draw, recipe, same, wave,
};

/// Programs of ordinary size.
pub(crate) const ORDINARY: Size = Size { inputs: 4..5, operations: 1..61, reach: 12 };

impl Expressions {
    pub(crate) fn compile(&self) -> Program {
        let Self { graph, inputs, parameters, outputs } = self;
        Program::compile(graph, inputs, parameters, outputs).expect("every symbol is given")
    }

    /// The value of a symbol among given inputs and parameters.
    pub(crate) fn symbol(&self, e: Expr, inputs: &[f64], parameters: &[f64]) -> f64 {
        let symbols = self.inputs.iter().chain(&self.parameters);
        let mut given = symbols.zip(inputs.iter().chain(parameters));
        *given.find(|(s, _)| **s == e).expect("every symbol is given").1
    }
}

/// Machine code of the program by every backend that is available.
pub(crate) fn codes(
    program: &Program,
    lanes: Lanes,
) -> impl Iterator<Item = (Backend, NativeCode)> {
    let code = move |backend| Some((backend, program.native_code(lanes, backend)?));
    Backend::ALL.into_iter().filter_map(code)
}

/// How many doubles lie between two; 0 for two that are not numbers.
pub(crate) fn ulps(a: f64, b: f64) -> u64 {
    let ordered = |x: f64| {
        let bits = x.to_bits().cast_signed();
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    if a.is_nan() && b.is_nan() { 0 } else { ordered(a).abs_diff(ordered(b)) }
}

/// Every operation once, with `x` and `y` and `z` as operands: each function, each comparison, each kind of power.
pub(crate) fn operations(g: &Graph, [x, y, z]: [Expr; 3]) -> Vec<Expr> {
    let mut all = vec![
        g.add(x, y),
        g.sub(x, y),
        g.mul(x, y),
        g.div(x, y),
        g.neg(x),
        g.pow(x, y),
        g.pow(x, g.fraction(3, 2)),
        g.pow(x, g.integer(65)),
        g.pow(x, g.integer(-70)),
        g.choose(x, y, z),
        g.logic_not(x),
        g.logic_and(x, y),
        g.logic_or(x, y),
    ];
    all.extend((-64..=64).map(|n| g.pow(x, g.integer(n))));
    all.extend(Unary::ALL.map(|f| g.unary(f, x)));
    all.extend(Binary::ALL.map(|f| g.binary(f, x, y)));
    all.extend((0..4).map(|n| g.binary(Binary::Polygamma, g.integer(n), x)));
    let relations = [Relation::Less, Relation::LessEqual, Relation::Equal, Relation::NotEqual];
    all.extend(relations.map(|r| g.compare(r, x, y)));
    let mut data = g.table(wave(), x);
    for _ in 0..5 {
        all.push(data);
        data = g.derivative(data, x);
    }
    all
}

/// The values of the outputs, node by node, with the crate's own sine and cosine.
pub(crate) fn values(g: &Graph, outputs: &[Expr], symbol: &dyn Fn(Expr) -> f64) -> Vec<f64> {
    let mut known: BTreeMap<Expr, f64> = BTreeMap::new();
    let indicator = |holds: bool| if holds { 1.0 } else { 0.0 };
    for e in g.live(outputs) {
        let v = |o: Expr| known[&o];
        let value = match g.node(e) {
            Node::Number(_) | Node::Pi => g.double_of(e).expect("a number"),
            Node::Symbol(_) => symbol(e),
            Node::Neg(a) => -v(a),
            Node::Add(a, b) => v(a) + v(b),
            Node::Sub(a, b) => v(a) - v(b),
            Node::Mul(a, b) => v(a) * v(b),
            Node::Div(a, b) => v(a) / v(b),
            Node::Pow(a, b) => power(v(a), v(b)),
            Node::Unary(Unary::Sin, a) => pfaff_program::sincos(v(a)).0,
            Node::Unary(Unary::Cos, a) => pfaff_program::sincos(v(a)).1,
            Node::Unary(f, a) => f.value(v(a)),
            Node::Binary(f, a, b) => f.value(v(a), v(b)),
            Node::If(c, a, _) if v(c) != 0.0 || v(c).is_nan() => v(a),
            Node::If(_, _, b) => v(b),
            Node::Compare(r, a, b) => indicator(r.holds(v(a), v(b))),
            Node::Not(a) => indicator(v(a) == 0.0),
            Node::And(a, b) => indicator(v(a) != 0.0 && v(b) != 0.0),
            Node::Or(a, b) => indicator(v(a) != 0.0 || v(b) != 0.0),
            Node::Table { table, order, argument } => {
                g.table_of(table).value(order, v(argument))
            }
            Node::MittagLeffler(..)
            | Node::Memory(..)
            | Node::List(..)
            | Node::Family { .. } => f64::NAN,
        };
        known.insert(e, value);
    }
    outputs.iter().map(|o| known[o]).collect()
}
