//! Random numbers, random expressions, and a second road to their values.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Role, Table, Unary, power};
use pfaff_program::{Backend, Lanes, NativeCode, Program};

/// Machine code of the program in every way that is here.
pub(crate) fn codes(
    program: &Program,
    lanes: Lanes,
) -> impl Iterator<Item = (Backend, NativeCode)> {
    let code = move |way| Some((way, program.native_with(way, lanes)?));
    Backend::ALL.into_iter().filter_map(code)
}

/// SplitMix64: the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Mostly of ordinary size, one in six from [`HARD`].
    pub(crate) fn argument(&mut self) -> f64 {
        if self.below(6) == 0 { HARD[self.below(HARD.len())] } else { self.uniform(-3.0, 3.0) }
    }
}

/// Arguments at which functions are apt to differ.
pub(crate) const HARD: [f64; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    -4.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-160,
    1e160,
    1e8,
    -1.000_000_1e8,
    1e22,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    -std::f64::consts::FRAC_PI_4,
    45.553_093_477_052,
    710.0,
];

/// Equal bits. What is not a number has no bits of its own: its sign and payload depend on the order of
/// operands in the machine.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// How many doubles lie between two; 0 for two that are not numbers.
pub(crate) fn ulps(a: f64, b: f64) -> u64 {
    let ordered = |x: f64| {
        let bits = x.to_bits().cast_signed();
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    if a.is_nan() && b.is_nan() { 0 } else { ordered(a).abs_diff(ordered(b)) }
}

/// A graph with inputs, parameters and outputs.
pub(crate) struct Sample {
    pub(crate) graph: Graph,
    pub(crate) inputs: Vec<Expr>,
    pub(crate) parameters: Vec<Expr>,
    pub(crate) outputs: Vec<Expr>,
}

impl Sample {
    /// Some `size` operations of every kind on shared operands; sines and cosines only if wanted.
    pub(crate) fn random(random: &mut Random, size: usize, trigonometric: bool) -> Self {
        let graph = Graph::new();
        let symbols = |name: &str, role, n: usize| -> Vec<Expr> {
            (0..n).map(|i| graph.symbol(&format!("{name}{i}"), role)).collect()
        };
        let inputs = symbols("x", Role::Coordinate { order: 0 }, 4);
        let parameters = symbols("p", Role::Parameter, 3);
        let numbers = [graph.fraction(1, 3), graph.pi(), graph.integer(-2), graph.integer(7)];
        let mut pool = [&inputs[..], &parameters, &numbers].concat();
        for _ in 0..size {
            let made = operation(&graph, random, &pool, trigonometric);
            pool.push(made);
        }
        let outputs = (0..5).map(|_| pool[pool.len() - 1 - random.below(size)]).collect();
        Self { graph, inputs, parameters, outputs }
    }

    /// The value of a symbol among given inputs and parameters.
    pub(crate) fn symbol(&self, e: Expr, inputs: &[f64], parameters: &[f64]) -> f64 {
        let symbols = self.inputs.iter().chain(&self.parameters);
        let mut given = symbols.zip(inputs.iter().chain(parameters));
        *given.find(|(s, _)| **s == e).expect("every symbol is given").1
    }
}

fn operation(g: &Graph, random: &mut Random, pool: &[Expr], trigonometric: bool) -> Expr {
    let mut operand = || {
        let recent = random.below(pool.len().min(12));
        let any = random.below(pool.len());
        pool[if random.below(2) == 0 { pool.len() - 1 - recent } else { any }]
    };
    let (a, b, c) = (operand(), operand(), operand());
    let relations = [Relation::Less, Relation::LessEqual, Relation::Equal, Relation::NotEqual];
    match random.below(20) {
        0..=2 => g.add(a, b),
        3..=4 => g.sub(a, b),
        5..=7 => g.mul(a, b),
        8 => g.div(a, b),
        9 => g.neg(a),
        10 => g.pow(a, g.integer([-6, -2, -1, 2, 3, 4, 5, 7, 9, 14][random.below(10)])),
        11 => g.pow(a, b),
        12..=13 if trigonometric => {
            let function = if random.below(2) == 0 { Unary::Sin } else { Unary::Cos };
            g.unary(function, a)
        }
        12..=14 => {
            let function = Unary::ALL[random.below(Unary::ALL.len())];
            let own = matches!(function, Unary::Sin | Unary::Cos);
            g.unary(if own { Unary::Tanh } else { function }, a)
        }
        15 => g.binary(Binary::ALL[random.below(Binary::ALL.len())], a, b),
        16 => g.choose(g.compare(relations[random.below(4)], a, b), c, b),
        17 => g.logic_not(g.compare(relations[random.below(4)], a, b)),
        18 if random.below(2) == 0 => g.logic_and(a, b),
        18 => g.logic_or(a, b),
        _ => g.table(wave(), a),
    }
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

/// Data on [-4, 4].
pub(crate) fn wave() -> Table {
    let x: Vec<f64> = (-8..=8).map(|i| 0.5 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x - 1.0 / (1.0 + x * x)).collect();
    Table::new("wave.csv", "y", &x, &y).expect("the rows grow")
}

/// The values of the outputs, node by node, with the crate's own sine and cosine.
pub(crate) fn values(g: &Graph, outputs: &[Expr], symbol: &dyn Fn(Expr) -> f64) -> Vec<f64> {
    let mut known: BTreeMap<Expr, f64> = BTreeMap::new();
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
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
            Node::Compare(r, a, b) => truth(r.holds(v(a), v(b))),
            Node::Not(a) => truth(v(a) == 0.0),
            Node::And(a, b) => truth(v(a) != 0.0 && v(b) != 0.0),
            Node::Or(a, b) => truth(v(a) != 0.0 || v(b) != 0.0),
            Node::Table { table, order, argument } => {
                g.table_of(table).value(order, v(argument))
            }
            Node::MittagLeffler(..) | Node::Memory(..) => f64::NAN,
        };
        known.insert(e, value);
    }
    outputs.iter().map(|o| known[o]).collect()
}
