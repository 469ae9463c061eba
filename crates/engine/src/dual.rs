//! Derivatives by dual numbers, for checks that share nothing with the symbolic derivation.
//!
//! A [`Jet`] is $x + x_1\varepsilon_1 + x_2\varepsilon_2 + x_{12}\varepsilon_1\varepsilon_2$ with $\varepsilon_1^2 = \varepsilon_2^2 = 0$. Evaluating $e$ with $\varepsilon_1$ along one direction
//! and $\varepsilon_2$ along another gives both first derivatives and the mixed second one, exactly up to rounding [Fike11].

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Table, Unary, power};

/// A number with two infinitesimals.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Jet {
    pub(crate) x: f64,
    pub(crate) d1: f64,
    pub(crate) d2: f64,
    pub(crate) d12: f64,
}

impl Jet {
    pub(crate) fn constant(x: f64) -> Self {
        Self { x, d1: 0.0, d2: 0.0, d12: 0.0 }
    }

    fn is_constant(self) -> bool {
        self.d1 == 0.0 && self.d2 == 0.0 && self.d12 == 0.0
    }

    fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, d1: self.d1 + o.d1, d2: self.d2 + o.d2, d12: self.d12 + o.d12 }
    }

    fn neg(self) -> Self {
        Self { x: -self.x, d1: -self.d1, d2: -self.d2, d12: -self.d12 }
    }

    fn mul(self, o: Self) -> Self {
        Self {
            x: self.x * o.x,
            d1: self.d1 * o.x + self.x * o.d1,
            d2: self.d2 * o.x + self.x * o.d2,
            d12: self.d12 * o.x + self.d1 * o.d2 + self.d2 * o.d1 + self.x * o.d12,
        }
    }

    /// $f(x)$ from its value and first two derivatives.
    fn through(self, (f, f1, f2): (f64, f64, f64)) -> Self {
        // NOTE: what is constant stays constant even where the derivative is infinite.
        let term = |c: f64, d: f64| if d == 0.0 { 0.0 } else { c * d };
        Self {
            x: f,
            d1: term(f1, self.d1),
            d2: term(f1, self.d2),
            d12: term(f1, self.d12) + term(f2, self.d1 * self.d2),
        }
    }

    fn div(self, o: Self) -> Self {
        let r = 1.0 / o.x;
        self.mul(o.through((r, -r * r, 2.0 * r * r * r)))
    }

    fn pow(self, o: Self) -> Self {
        if o.is_constant() {
            let b = o.x;
            let slope = |c: f64, e: f64| if c == 0.0 { 0.0 } else { c * power(self.x, e) };
            return self.through((
                power(self.x, b),
                slope(b, b - 1.0),
                slope(b * (b - 1.0), b - 2.0),
            ));
        }
        let log = self.through(unary(Unary::Log, self.x));
        let exponent = o.mul(log);
        exponent.through(unary(Unary::Exp, exponent.x))
    }
}

/// Value and first two derivatives of a function of one argument.
fn unary(f: Unary, x: f64) -> (f64, f64, f64) {
    let y = f.value(x);
    match f {
        Unary::Sin => (y, libm::cos(x), -y),
        Unary::Cos => (y, -libm::sin(x), -y),
        Unary::Tan => (y, 1.0 + y * y, 2.0 * y * (1.0 + y * y)),
        Unary::Asin | Unary::Acos => {
            let sign = if f == Unary::Asin { 1.0 } else { -1.0 };
            let r = 1.0 / (1.0 - x * x).sqrt();
            (y, sign * r, sign * x * r * r * r)
        }
        Unary::Atan => {
            let r = 1.0 / (1.0 + x * x);
            (y, r, -2.0 * x * r * r)
        }
        Unary::Sinh => (y, libm::cosh(x), y),
        Unary::Cosh => (y, libm::sinh(x), y),
        Unary::Tanh => (y, 1.0 - y * y, -2.0 * y * (1.0 - y * y)),
        Unary::Exp => (y, y, y),
        Unary::Log => (y, 1.0 / x, -1.0 / (x * x)),
        Unary::Sqrt => (y, 0.5 / y, -0.25 / (y * x)),
        Unary::Abs => (y, Unary::Sign.value(x), 0.0),
        Unary::Sign => (y, 0.0, 0.0),
        Unary::Erf => {
            let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
            (y, slope, -2.0 * x * slope)
        }
        Unary::Gamma => {
            let (ψ, ψ1) = (Unary::Digamma.value(x), Binary::Polygamma.value(1.0, x));
            (y, y * ψ, y * (ψ * ψ + ψ1))
        }
        Unary::Digamma => (y, Binary::Polygamma.value(1.0, x), Binary::Polygamma.value(2.0, x)),
    }
}

fn binary(f: Binary, a: Jet, b: Jet) -> Jet {
    match f {
        Binary::Min if a.x <= b.x => a,
        Binary::Max if a.x > b.x => a,
        Binary::Min | Binary::Max => b,
        Binary::Polygamma => {
            let at = |n: f64| Binary::Polygamma.value(a.x + n, b.x);
            b.through((at(0.0), at(1.0), at(2.0)))
        }
        Binary::Atan2 => {
            let r = a.x * a.x + b.x * b.x;
            let turn1 = b.x * a.d1 - a.x * b.d1;
            let cross = b.d2 * a.d1 + b.x * a.d12 - a.d2 * b.d1 - a.x * b.d12;
            Jet {
                x: libm::atan2(a.x, b.x),
                d1: turn1 / r,
                d2: (b.x * a.d2 - a.x * b.d2) / r,
                d12: cross / r - turn1 * 2.0 * (a.x * a.d2 + b.x * b.d2) / (r * r),
            }
        }
    }
}

/// Expressions laid out for evaluation with jets.
#[derive(Clone, Debug)]
pub(crate) struct Jets {
    nodes: Vec<Laid>,
    values: Vec<Jet>,
    outputs: Vec<usize>,
    /// The symbols, in the order in which their values are asked for.
    pub(crate) symbols: Vec<Expr>,
    tables: Vec<Table>,
}

/// A node with the places of its operands.
#[derive(Clone, Copy, Debug)]
enum Laid {
    Constant(f64),
    Symbol(usize),
    Operation(Node, [usize; 3]),
}

impl Jets {
    pub(crate) fn new(g: &Graph, outputs: &[Expr]) -> Self {
        let live = g.live(outputs);
        let place = |e: Expr| live.binary_search(&e).expect("operands of live nodes are live");
        let symbols = g.symbols(outputs);
        let mut tables = Vec::new();
        let nodes = live
            .iter()
            .map(|&e| match g.node(e) {
                Node::Number(_) | Node::Pi => {
                    Laid::Constant(g.double_of(e).unwrap_or(f64::NAN))
                }
                Node::Symbol(_) => {
                    Laid::Symbol(symbols.iter().position(|&s| s == e).unwrap_or_default())
                }
                mut node => {
                    let mut operands = [0; 3];
                    for (slot, o) in operands.iter_mut().zip(node.operands()) {
                        *slot = place(o);
                    }
                    if let Node::Table { table, .. } = &mut node {
                        tables.push(g.table_of(*table));
                        *table = tables.len() as u32 - 1;
                    }
                    Laid::Operation(node, operands)
                }
            })
            .collect();
        Self {
            nodes,
            values: vec![Jet::default(); live.len()],
            outputs: outputs.iter().map(|&o| place(o)).collect(),
            symbols,
            tables,
        }
    }

    /// How many nodes an evaluation visits.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How many outputs there are.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Evaluates all outputs; `symbol` gives the jet of the i-th of [`Jets::symbols`].
    pub(crate) fn evaluate(&mut self, symbol: &dyn Fn(usize) -> Jet) {
        for i in 0..self.nodes.len() {
            self.values[i] = match self.nodes[i] {
                Laid::Constant(x) => Jet::constant(x),
                Laid::Symbol(s) => symbol(s),
                Laid::Operation(node, operands) => self.operate(node, operands),
            };
        }
    }

    /// The i-th output of the last evaluation.
    pub(crate) fn output(&self, i: usize) -> Jet {
        self.values[self.outputs[i]]
    }

    fn operate(&self, node: Node, [i, j, k]: [usize; 3]) -> Jet {
        let (a, b, c) = (self.values[i], self.values[j], self.values[k]);
        let truth = |holds: bool| Jet::constant(f64::from(u8::from(holds)));
        match node {
            Node::Neg(_) => a.neg(),
            Node::Add(..) => a.add(b),
            Node::Sub(..) => a.add(b.neg()),
            Node::Mul(..) => a.mul(b),
            Node::Div(..) => a.div(b),
            Node::Pow(..) => a.pow(b),
            Node::Unary(f, _) => a.through(unary(f, a.x)),
            Node::Binary(f, ..) => binary(f, a, b),
            Node::If(..) if a.x == 0.0 => c,
            Node::If(..) => b,
            Node::Compare(r, ..) => truth(Relation::holds(r, a.x, b.x)),
            Node::Not(_) => truth(a.x == 0.0),
            Node::And(..) => truth(a.x != 0.0 && b.x != 0.0),
            Node::Or(..) => truth(a.x != 0.0 || b.x != 0.0),
            Node::Table { table, order, .. } => {
                let at = |n: u32| self.tables[table as usize].value(order + n, a.x);
                a.through((at(0), at(1), at(2)))
            }
            Node::MittagLeffler(..)
            | Node::Memory(..)
            | Node::Number(_)
            | Node::Pi
            | Node::Symbol(_) => Jet::constant(f64::NAN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    /// Jets against symbolic second derivatives: two roads, agreeing to rounding of a dozen operations.
    #[test]
    fn jets_agree_with_symbols() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let mut expressions = vec![
            g.div(g.sin(g.mul(x, y)), g.add(g.one(), g.mul(x, x))),
            g.pow(x, y),
            g.pow(g.add(x, y), g.integer(3)),
            g.binary(Binary::Atan2, g.mul(x, y), g.sub(x, g.integer(2))),
            g.binary(Binary::Max, x, g.mul(y, y)),
        ];
        for f in Unary::ALL {
            expressions.push(g.unary(f, g.mul(g.fraction(3, 10), g.add(x, y))));
        }
        let (at_x, at_y) = (0.7, 1.3);
        let symbol = |e: Expr| if e == x { at_x } else { at_y };
        for e in expressions {
            let mut jets = Jets::new(&g, &[e]);
            let symbols = jets.symbols.clone();
            jets.evaluate(&|s| {
                if symbols[s] == x {
                    Jet { x: at_x, d1: 1.0, ..Jet::default() }
                } else {
                    Jet { x: at_y, d2: 1.0, ..Jet::default() }
                }
            });
            let (dx, dy) = (g.derivative(e, x), g.derivative(e, y));
            let values = g.evaluate(&[e, dx, dy, g.derivative(dx, y)], &symbol);
            let jet = jets.output(0);
            for (a, b) in [jet.x, jet.d1, jet.d2, jet.d12].iter().zip(values) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{:?}: {a} {b}", g.node(e));
            }
        }
    }
}
