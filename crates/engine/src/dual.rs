//! Derivatives by dual numbers swept backwards, for checks that share nothing with the symbolic derivation.
//!
//! A [`Dual`] is $x + \dot x\,\varepsilon$ with $\varepsilon^2 = 0$ [Fike11], where $\varepsilon$ goes along the motion. Forwards, every node gets its value and its derivatives by its operands; then backwards
//! from an output $e$
//!
//! $$ \bar a \mathrel{+}= \bar n\,\frac{\partial n}{\partial a}, $$
//!
//! all of them dual numbers: at each symbol $s$ stand $\partial e/\partial s$ and its rate $\tfrac{d}{dt}\,\partial e/\partial s$, exactly up to rounding and for all symbols at the cost of a few evaluations.
//! What does not vary is evaluated once.

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Table, Unary, power};

/// A number and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Dual {
    pub(crate) x: f64,
    pub(crate) d: f64,
}

impl Dual {
    pub(crate) fn constant(x: f64) -> Self {
        Self { x, d: 0.0 }
    }

    pub(crate) fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, d: self.d + o.d }
    }

    fn neg(self) -> Self {
        Self { x: -self.x, d: -self.d }
    }

    fn mul(self, o: Self) -> Self {
        Self { x: self.x * o.x, d: self.d * o.x + self.x * o.d }
    }

    fn recip(self) -> Self {
        let r = 1.0 / self.x;
        Self { x: r, d: term(-r * r, self.d) }
    }

    /// $\bar n\,\partial n/\partial a$; what is zero stays zero even where the other factor is infinite.
    fn chain(self, partial: Self) -> Self {
        let plain = self.mul(partial);
        if plain.x.is_nan() || plain.d.is_nan() {
            let d = term(self.d, partial.x) + term(self.x, partial.d);
            return Self { x: term(self.x, partial.x), d };
        }
        plain
    }
}

/// A product that is zero if a factor is.
fn term(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
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

/// Expressions laid out for evaluation with dual numbers.
#[derive(Clone, Debug)]
pub(crate) struct Duals {
    /// What varies, operands first.
    steps: Vec<Step>,
    /// Of all nodes.
    values: Vec<Dual>,
    /// Derivatives by two operands, one pair for each step.
    partials: Vec<[Dual; 2]>,
    /// Zero between sweeps.
    adjoints: Vec<Dual>,
    outputs: Vec<usize>,
    /// The steps that each output needs, last ones first.
    needed: Vec<Vec<u32>>,
    /// The symbols that vary, in the order in which their values are asked for.
    pub(crate) symbols: Vec<Expr>,
    /// Their places among the nodes.
    places: Vec<u32>,
    tables: Vec<Table>,
    /// An angle with its sine and cosine: the next one is often the same.
    angle: [f64; 3],
}

/// A node with its place and those of its operands.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: Node,
    to: u32,
    from: [u32; 3],
    /// The operands that derivatives are taken by, [`NONE`] where they do not vary: the last two of an `if`, the first two of everything else.
    by: [u32; 2],
}

/// No place.
const NONE: u32 = u32::MAX;

impl Duals {
    /// Lays expressions out; `fixed` gives the values of the symbols that do not vary.
    pub(crate) fn new(
        g: &Graph,
        outputs: &[Expr],
        fixed: &dyn Fn(Expr) -> Option<f64>,
    ) -> Self {
        let live = g.live(outputs);
        let place = |e: Expr| live.binary_search(&e).expect("operands of live nodes are live");
        let mut laid = Self {
            steps: Vec::with_capacity(live.len()),
            values: vec![Dual::default(); live.len()],
            partials: Vec::new(),
            adjoints: vec![Dual::default(); live.len()],
            outputs: outputs.iter().map(|&o| place(o)).collect(),
            needed: Vec::with_capacity(outputs.len()),
            symbols: Vec::new(),
            places: Vec::new(),
            tables: Vec::new(),
            angle: [0.0, 0.0, 1.0],
        };
        let mut step_of = vec![NONE; live.len()];
        let mut varies = vec![false; live.len()];
        for (to, &e) in live.iter().enumerate() {
            let mut node = g.node(e);
            match node {
                Node::Number(_) | Node::Pi => {
                    laid.values[to].x = g.double_of(e).unwrap_or(f64::NAN);
                    continue;
                }
                Node::Symbol(_) => {
                    if let Some(value) = fixed(e) {
                        laid.values[to].x = value;
                    } else {
                        varies[to] = true;
                        laid.symbols.push(e);
                        laid.places.push(to as u32);
                    }
                    continue;
                }
                Node::Table { ref mut table, .. } => {
                    laid.tables.push(g.table_of(*table));
                    *table = laid.tables.len() as u32 - 1;
                }
                _ => {}
            }
            let (mut from, mut by) = ([0; 3], [NONE; 3]);
            for ((slot, by), o) in from.iter_mut().zip(&mut by).zip(node.operands()) {
                let operand = place(o);
                *slot = operand as u32;
                if varies[operand] {
                    *by = operand as u32;
                    varies[to] = true;
                }
            }
            let by = if matches!(node, Node::If(..)) { [by[1], by[2]] } else { [by[0], by[1]] };
            let step = Step { node, to: to as u32, from, by };
            if varies[to] {
                step_of[to] = laid.steps.len() as u32;
                laid.steps.push(step);
            } else {
                laid.values[to].x = laid.operate(step).0.x;
            }
        }
        laid.partials = vec![[Dual::default(); 2]; laid.steps.len()];
        for &output in outputs {
            let nodes = if outputs.len() == 1 { live.clone() } else { g.live(&[output]) };
            let steps = nodes.iter().rev().map(|&e| step_of[place(e)]);
            laid.needed.push(steps.filter(|&s| s != NONE).collect());
        }
        laid
    }

    /// How many nodes an evaluation visits.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// How many nodes a sweep from every output visits.
    pub(crate) fn swept(&self) -> usize {
        self.needed.iter().map(Vec::len).sum()
    }

    /// How many outputs there are.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Evaluates all outputs; `symbol` gives the value of the i-th of [`Duals::symbols`].
    pub(crate) fn evaluate(&mut self, symbol: &dyn Fn(usize) -> Dual) {
        for (s, &place) in self.places.iter().enumerate() {
            self.values[place as usize] = symbol(s);
        }
        for i in 0..self.steps.len() {
            let step = self.steps[i];
            let (value, partials) = self.operate(step);
            self.values[step.to as usize] = value;
            self.partials[i] = partials;
        }
    }

    /// The i-th output of the last evaluation.
    pub(crate) fn output(&self, i: usize) -> Dual {
        self.values[self.outputs[i]]
    }

    /// The derivatives of the i-th output of the last evaluation, times a weight, are given to `tell` with the numbers of their symbols.
    pub(crate) fn sweep(&mut self, i: usize, weight: f64, tell: &mut dyn FnMut(usize, Dual)) {
        self.adjoints[self.outputs[i]] = Dual::constant(weight);
        for &s in &self.needed[i] {
            let step = self.steps[s as usize];
            let adjoint = std::mem::take(&mut self.adjoints[step.to as usize]);
            if adjoint == Dual::default() {
                continue;
            }
            for (by, &partial) in step.by.into_iter().zip(&self.partials[s as usize]) {
                if by != NONE {
                    let sum = &mut self.adjoints[by as usize];
                    *sum = sum.add(adjoint.chain(partial));
                }
            }
        }
        for (s, &place) in self.places.iter().enumerate() {
            let adjoint = std::mem::take(&mut self.adjoints[place as usize]);
            if adjoint != Dual::default() {
                tell(s, adjoint);
            }
        }
    }

    /// The value of a node and its derivatives by two operands.
    fn operate(&mut self, step: Step) -> (Dual, [Dual; 2]) {
        let at = |i: usize| self.values[step.from[i] as usize];
        let (a, b, c) = (at(0), at(1), at(2));
        let (zero, one) = (Dual::default(), Dual::constant(1.0));
        let truth = |holds: bool| (Dual::constant(f64::from(u8::from(holds))), [zero; 2]);
        match step.node {
            Node::Neg(_) => (a.neg(), [one.neg(), zero]),
            Node::Add(..) => (a.add(b), [one, one]),
            Node::Sub(..) => (a.add(b.neg()), [one, one.neg()]),
            Node::Mul(..) => (a.mul(b), [b, a]),
            Node::Div(..) => {
                let r = b.recip();
                // NOTE: rounded once, as everywhere else.
                let value = Dual { x: a.x / b.x, d: a.mul(r).d };
                (value, [r, value.mul(r).neg()])
            }
            Node::Pow(..) => raised(a, b, step.by[1] != NONE),
            Node::Unary(f @ (Unary::Sin | Unary::Cos), _) => {
                if self.angle[0] != a.x {
                    let (sin, cos) = libm::sincos(a.x);
                    self.angle = [a.x, sin, cos];
                }
                let [_, sin, cos] = self.angle;
                through(a, if f == Unary::Sin { (sin, cos, -sin) } else { (cos, -sin, -cos) })
            }
            Node::Unary(f, _) => through(a, unary(f, a.x)),
            Node::Binary(f, ..) => binary(f, a, b),
            Node::If(..) if a.x == 0.0 => (c, [zero, one]),
            Node::If(..) => (b, [one, zero]),
            Node::Compare(r, ..) => truth(Relation::holds(r, a.x, b.x)),
            Node::Not(_) => truth(a.x == 0.0),
            Node::And(..) => truth(a.x != 0.0 && b.x != 0.0),
            Node::Or(..) => truth(a.x != 0.0 || b.x != 0.0),
            Node::Table { table, order, .. } => {
                let at = |n: u32| self.tables[table as usize].value(order + n, a.x);
                through(a, (at(0), at(1), at(2)))
            }
            Node::MittagLeffler(..)
            | Node::Memory(..)
            | Node::Number(_)
            | Node::Pi
            | Node::Symbol(_) => (Dual::constant(f64::NAN), [zero; 2]),
        }
    }
}

/// $f(a)$ from its value and first two derivatives.
fn through(a: Dual, (f, f1, f2): (f64, f64, f64)) -> (Dual, [Dual; 2]) {
    // NOTE: what is constant stays constant even where the derivative is infinite.
    let slope = Dual { x: f1, d: term(f2, a.d) };
    (Dual { x: f, d: term(f1, a.d) }, [slope, Dual::default()])
}

/// $a^b$, where the exponent varies or not.
fn raised(a: Dual, b: Dual, varies: bool) -> (Dual, [Dual; 2]) {
    let slope = |c: f64, e: f64| if c == 0.0 { 0.0 } else { c * power(a.x, e) };
    let x = power(a.x, b.x);
    let (f1, f11) = (slope(b.x, b.x - 1.0), slope(b.x * (b.x - 1.0), b.x - 2.0));
    if !varies {
        return through(a, (x, f1, f11));
    }
    // NOTE: a logarithm that does not exist is nobody's business where the exponent stays the same.
    let log = libm::log(a.x);
    let f12 = power(a.x, b.x - 1.0) * (1.0 + b.x * log);
    let by_base = Dual { x: f1, d: term(f11, a.d) + term(f12, b.d) };
    let by_exponent = Dual { x: x * log, d: term(f12, a.d) + term(x * log * log, b.d) };
    let d = term(f1, a.d) + term(x * log, b.d);
    (Dual { x, d }, [by_base, by_exponent])
}

fn binary(f: Binary, a: Dual, b: Dual) -> (Dual, [Dual; 2]) {
    let (zero, one) = (Dual::default(), Dual::constant(1.0));
    match f {
        Binary::Min if a.x <= b.x => (a, [one, zero]),
        Binary::Max if a.x > b.x => (a, [one, zero]),
        Binary::Min | Binary::Max => (b, [zero, one]),
        Binary::Polygamma => {
            let at = |n: f64| Binary::Polygamma.value(a.x + n, b.x);
            let (value, [slope, _]) = through(b, (at(0.0), at(1.0), at(2.0)));
            (value, [zero, slope])
        }
        Binary::Atan2 => {
            let r = a.mul(a).add(b.mul(b)).recip();
            let partials = [b.mul(r), a.mul(r).neg()];
            let d = term(partials[0].x, a.d) + term(partials[1].x, b.d);
            (Dual { x: libm::atan2(a.x, b.x), d }, partials)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    /// Sweeps against symbolic second derivatives: two roads, agreeing to rounding of a dozen operations.
    #[test]
    fn sweeps_agree_with_symbols() {
        let g = Graph::new();
        let [x, y, k] = ["x", "y", "k"].map(|n| g.symbol(n, Role::Free));
        let half = g.fraction(1, 2);
        let mut expressions = vec![
            g.div(g.sin(g.mul(x, y)), g.add(g.one(), g.mul(x, x))),
            g.sub(g.cos(g.mul(x, y)), g.mul(g.sin(g.mul(x, y)), g.cos(g.neg(x)))),
            g.pow(x, y),
            g.pow(y, x),
            g.pow(g.add(x, y), g.integer(3)),
            g.pow(g.add(x, y), half),
            g.pow(k, x),
            g.binary(Binary::Atan2, g.mul(x, y), g.sub(x, g.integer(2))),
            g.binary(Binary::Max, x, g.mul(y, y)),
            g.mul(g.sin(k), g.mul(x, y)),
        ];
        for f in Unary::ALL {
            expressions.push(g.unary(f, g.mul(g.fraction(3, 10), g.add(x, y))));
        }
        let (at_x, at_y, x_rate, y_rate) = (0.7, 1.3, 0.4, -0.6);
        let value = |e: Expr| if e == x { at_x } else { at_y };
        let fixed = |e: Expr| (e == k).then_some(at_y);
        // All at once, so that sweeps of other outputs leave nothing behind.
        let mut all = Duals::new(&g, &expressions, &fixed);
        let symbols = all.symbols.clone();
        all.evaluate(&|s| Dual {
            x: value(symbols[s]),
            d: if symbols[s] == x { x_rate } else { y_rate },
        });
        for (i, &e) in expressions.iter().enumerate() {
            let along = |e: Expr| {
                let by = g.gradient(e, &[x, y]);
                g.add(g.mul(g.fraction(4, 10), by[0]), g.mul(g.fraction(-6, 10), by[1]))
            };
            let slopes = g.gradient(e, &[x, y]);
            let wanted =
                [e, along(e), slopes[0], along(slopes[0]), slopes[1], along(slopes[1])];
            let wanted = g.evaluate(&wanted, &value);
            let mut found = [0.0; 6];
            (found[0], found[1]) = (all.output(i).x, all.output(i).d);
            all.sweep(i, 2.0, &mut |s, d| {
                let place = if symbols[s] == x { 2 } else { 4 };
                (found[place], found[place + 1]) = (0.5 * d.x, 0.5 * d.d);
            });
            for (a, b) in found.iter().zip(wanted) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{:?}: {a} {b}", g.node(e));
            }
        }
    }

    /// A root at zero of something that does not move has no derivative that anybody could notice.
    #[test]
    fn what_stays_is_constant_even_at_a_root() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let e = g.add(g.unary(Unary::Sqrt, g.mul(g.sub(y, y), x)), g.unary(Unary::Sqrt, y));
        let e = g.add(e, x);
        let mut duals = Duals::new(&g, &[e], &|_| None);
        let symbols = duals.symbols.clone();
        duals.evaluate(&|s| {
            if symbols[s] == x { Dual { x: 2.0, d: 3.0 } } else { Dual::constant(0.0) }
        });
        assert_eq!(duals.output(0), Dual { x: 2.0, d: 3.0 });
        duals.sweep(0, 1.0, &mut |s, d| {
            if symbols[s] == x {
                assert_eq!(d, Dual::constant(1.0));
            }
        });
    }
}
