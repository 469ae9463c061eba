//! Derivatives by dual numbers swept backwards, for checks that share nothing with the symbolic derivation.
//!
//! A [`Dual`] is $x + \dot x\,\varepsilon$ with $\varepsilon^2 = 0$ [Fike11], where $\varepsilon$ goes along
//! the motion. Forwards, every node gets its value and its derivatives by its operands; then backwards
//! from an output $e$
//!
//! $$ \bar a \mathrel{+}= \bar n\,\frac{\partial n}{\partial a}, $$
//!
//! all of them dual numbers: at each symbol $s$ stand $\partial e/\partial s$ and its rate
//! $\tfrac{d}{dt}\,\partial e/\partial s$, exactly up to rounding and for all symbols at the cost of a few
//! evaluations.
//! What does not vary is evaluated once. A family of like terms is a loop over its rows, forwards and backwards.
//! [`LANES`] instants are looked at together: what a node is, is then
//! asked once for all of them, and plain arithmetic takes vectors.

mod broad;
mod dual;

use std::array::from_fn;

use crate::audit::family_duals::FamilyDuals;
use crate::motion::sample::LANES;
use broad::Broad;
pub(crate) use broad::Sized;
pub(crate) use dual::{Dual, Lanes};
use dual::{ZERO, term};

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Table, Unary, power};

/// Value and first two derivatives of a function of one argument.
fn unary(f: Unary, x: f64) -> (f64, f64, f64) {
    let y = f.value(x);
    let [first, second] = f.slopes(x, y);
    (y, first, second)
}

/// Expressions laid out for evaluation with dual numbers.
#[derive(Clone, Debug)]
pub(crate) struct Duals {
    /// What varies, operands first.
    steps: Vec<Step>,
    /// Of all nodes.
    values: Vec<Dual>,
    /// Derivatives by two operands, for the steps whose operands do not tell them.
    partials: Vec<[Dual; 2]>,
    /// Zero between sweeps.
    adjoints: Vec<Dual>,
    outputs: Vec<usize>,
    /// The steps that each output to be differentiated needs, last ones first, and the symbols.
    needed: Vec<Vec<u32>>,
    needed_symbols: Vec<Vec<u32>>,
    /// The symbols that vary, in the order in which their values are asked for.
    pub(crate) symbols: Vec<Expr>,
    /// Their places among the nodes.
    places: Vec<u32>,
    tables: Vec<Table>,
    families: Vec<FamilyDuals>,
    pub(crate) broad: Broad,
    /// Angles with their sines and cosines: the next ones are often the same.
    angle: [Lanes; 3],
}

/// A node with its place and those of its operands.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: Node,
    to: u32,
    from: [u32; 3],
    /// The operands that derivatives are taken by, [`NONE`] where they do not vary: the last two of an `if`,
    /// the first two of everything else.
    by: [u32; 2],
    /// Its place among the partials, [`NONE`] for sums and products.
    partials: u32,
}

/// No place.
pub(crate) const NONE: u32 = u32::MAX;

impl Duals {
    /// Lays expressions out, the first of which will be differentiated, or be broad if they are among `broad`;
    /// `fixed` gives the values of the symbols that do not vary.
    pub(crate) fn new(
        g: &Graph,
        outputs: &[Expr],
        differentiated: usize,
        broad: &[usize],
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
            needed: Vec::with_capacity(differentiated),
            needed_symbols: Vec::with_capacity(differentiated),
            symbols: Vec::new(),
            places: Vec::new(),
            tables: Vec::new(),
            families: Vec::new(),
            broad: Broad::default(),
            angle: [ZERO, ZERO, [1.0; LANES]],
        };
        let mut varies = vec![false; live.len()];
        for (to, &e) in live.iter().enumerate() {
            let mut node = g.node(e);
            match node {
                Node::Number(_) | Node::Pi => {
                    laid.values[to] = Dual::constant(g.double_of(e).unwrap_or(f64::NAN));
                    continue;
                }
                Node::Symbol(_) => {
                    if let Some(value) = fixed(e) {
                        laid.values[to] = Dual::constant(value);
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
                Node::List(first, rest) => {
                    varies[to] = varies[place(first)] || varies[place(rest)];
                    continue;
                }
                Node::Family { ref mut family, part, list } => {
                    let entries = g.entries(list).into_iter().map(place);
                    let entries = entries.map(|place| (place as u32, varies[place]));
                    let of = g.family_of(*family);
                    laid.families.push(FamilyDuals::new(g, of, part, entries, fixed));
                    *family = laid.families.len() as u32 - 1;
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
            let plain = matches!(
                node,
                Node::Neg(_)
                    | Node::Add(..)
                    | Node::Sub(..)
                    | Node::Mul(..)
                    | Node::Family { .. }
            );
            let by = if matches!(node, Node::Family { .. }) { [NONE; 2] } else { by };
            let partials = if plain { NONE } else { laid.partials.len() as u32 };
            let step = Step { node, to: to as u32, from, by, partials };
            if varies[to] {
                laid.steps.push(step);
                if !plain {
                    laid.partials.push([Dual::default(); 2]);
                }
            } else {
                let x = match node {
                    Node::Family { family, .. } => {
                        laid.families[family as usize].value(&laid.values).x
                    }
                    _ => laid.operate(step).0.x,
                };
                laid.values[to] = Dual { x, d: ZERO };
            }
        }
        laid.find_broad(broad);
        laid.find_needed(differentiated);
        laid
    }

    /// What each of the first outputs needs.
    fn find_needed(&mut self, differentiated: usize) {
        let mut step_at = vec![NONE; self.values.len()];
        let numbered = self.steps.iter().enumerate();
        numbered.for_each(|(i, step)| step_at[step.to as usize] = i as u32);
        let mut symbol_at = vec![NONE; self.values.len()];
        let numbered = self.places.iter().enumerate();
        numbered.for_each(|(s, &place)| symbol_at[place as usize] = s as u32);
        let mut met = vec![usize::MAX; self.values.len()];
        for (i, &output) in self.outputs[..differentiated].iter().enumerate() {
            let (mut steps, mut symbols) = (Vec::new(), Vec::new());
            let mut stack = if self.broad.contains(i) { Vec::new() } else { vec![output] };
            met[output] = i;
            while let Some(place) = stack.pop() {
                symbols.extend(Some(symbol_at[place]).filter(|&s| s != NONE));
                if step_at[place] == NONE {
                    continue;
                }
                steps.push(step_at[place]);
                let step = &self.steps[step_at[place] as usize];
                let rows: &[u32] = match step.node {
                    Node::Family { family, .. } => &self.families[family as usize].by,
                    _ => &[],
                };
                for &by in step.by.iter().chain(rows) {
                    if by != NONE && met[by as usize] != i {
                        met[by as usize] = i;
                        stack.push(by as usize);
                    }
                }
            }
            steps.sort_unstable_by(|a, b| b.cmp(a));
            symbols.sort_unstable();
            self.needed.push(steps);
            self.needed_symbols.push(symbols);
        }
    }

    /// How many nodes an evaluation visits.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.families.iter().map(FamilyDuals::len).sum::<usize>()
    }

    /// How many outputs are differentiated.
    pub(crate) fn swept_outputs(&self) -> usize {
        self.needed.len()
    }

    /// How many nodes a sweep from every one of them visits.
    pub(crate) fn swept(&self) -> usize {
        let rows = |&s: &u32| match self.steps[s as usize].node {
            Node::Family { family, .. } => 2 * self.families[family as usize].len(),
            _ => 1,
        };
        self.needed.iter().flatten().map(rows).sum::<usize>() + 4 * self.broad.len()
    }

    /// Evaluates all outputs; `symbol` gives the value of the i-th of [`Duals::symbols`].
    pub(crate) fn evaluate(&mut self, symbol: &dyn Fn(usize) -> Dual) {
        for (s, &place) in self.places.iter().enumerate() {
            self.values[place as usize] = symbol(s);
        }
        for i in 0..self.steps.len() {
            let step = self.steps[i];
            let [a, b] = [step.from[0], step.from[1]].map(|place| &self.values[place as usize]);
            let value = match step.node {
                Node::Neg(_) => a.neg(),
                Node::Add(..) => a.add(b),
                Node::Sub(..) => a.sub(b),
                Node::Mul(..) => a.mul(b),
                Node::Family { family, .. } => {
                    let Self { values, families, .. } = self;
                    families[family as usize].value(values)
                }
                _ => {
                    let (value, partials) = self.operate(step);
                    self.partials[step.partials as usize] = partials;
                    value
                }
            };
            self.values[step.to as usize] = value;
        }
    }

    /// The i-th output of the last evaluation.
    pub(crate) fn output(&self, i: usize) -> &Dual {
        &self.values[self.outputs[i]]
    }

    /// The derivatives of the i-th output of the last evaluation, times a weight, are given to `tell` with
    /// the numbers of their symbols.
    pub(crate) fn sweep(&mut self, i: usize, weight: Lanes, tell: &mut dyn FnMut(usize, Dual)) {
        let Self { steps, values, partials, adjoints, families, .. } = self;
        adjoints[self.outputs[i]] = Dual { x: weight, d: ZERO };
        for &s in &self.needed[i] {
            let step = &steps[s as usize];
            let adjoint = std::mem::take(&mut adjoints[step.to as usize]);
            if adjoint.is_zero() {
                continue;
            }
            if let Node::Family { family, .. } = step.node {
                families[family as usize].sweep(values, &adjoint, adjoints);
                continue;
            }
            let mut give = |which: usize, part: Dual| {
                let sum = &mut adjoints[step.by[which] as usize];
                *sum = sum.add(&part);
            };
            for which in [0, 1] {
                if step.by[which] == NONE {
                    continue;
                }
                match step.node {
                    Node::Neg(_) => give(which, adjoint.neg()),
                    Node::Sub(..) if which == 1 => give(which, adjoint.neg()),
                    Node::Add(..) | Node::Sub(..) => give(which, adjoint),
                    Node::Mul(..) => {
                        let other = &values[step.from[1 - which] as usize];
                        give(which, adjoint.chain(other));
                    }
                    _ => give(which, adjoint.chain(&partials[step.partials as usize][which])),
                }
            }
        }
        for &s in &self.needed_symbols[i] {
            let adjoint = std::mem::take(&mut adjoints[self.places[s as usize] as usize]);
            if !adjoint.is_zero() {
                tell(s as usize, adjoint);
            }
        }
    }

    /// The value of a node and its derivatives by two operands.
    fn operate(&mut self, step: Step) -> (Dual, [Dual; 2]) {
        let at = |i: usize| self.values[step.from[i] as usize];
        let (a, b, c) = (at(0), at(1), at(2));
        let (zero, one) = (Dual::default(), Dual::constant(1.0));
        let truth = |holds: &dyn Fn(usize) -> bool| {
            let x = from_fn(|l| f64::from(u8::from(holds(l))));
            (Dual { x, d: ZERO }, [zero; 2])
        };
        match step.node {
            Node::Neg(_) => (a.neg(), [one.neg(), zero]),
            Node::Add(..) => (a.add(&b), [one, one]),
            Node::Sub(..) => (a.sub(&b), [one, one.neg()]),
            Node::Mul(..) => (a.mul(&b), [b, a]),
            Node::Div(..) => {
                let r = b.recip();
                // NOTE: rounded once, as everywhere else.
                let value = Dual { x: from_fn(|l| a.x[l] / b.x[l]), d: a.mul(&r).d };
                (value, [r, value.mul(&r).neg()])
            }
            Node::Pow(..) => raised(&a, &b, step.by[1] != NONE),
            Node::Unary(f @ (Unary::Sin | Unary::Cos), _) => {
                if self.angle[0] != a.x {
                    let both = a.x.map(libm::sincos);
                    self.angle = [a.x, both.map(|b| b.0), both.map(|b| b.1)];
                }
                let [_, sin, cos] = &self.angle;
                let sine = f == Unary::Sin;
                through(&a, |l| {
                    let (s, c) = (sin[l], cos[l]);
                    if sine { (s, c, -s) } else { (c, -s, -c) }
                })
            }
            Node::Unary(f, _) => through(&a, |l| unary(f, a.x[l])),
            Node::Binary(f, ..) => binary(f, &a, &b),
            Node::If(..) => chosen(&b, &c, |l| a.x[l] != 0.0),
            Node::Compare(r, ..) => truth(&|l| Relation::holds(r, a.x[l], b.x[l])),
            Node::Not(_) => truth(&|l| a.x[l] == 0.0),
            Node::And(..) => truth(&|l| a.x[l] != 0.0 && b.x[l] != 0.0),
            Node::Or(..) => truth(&|l| a.x[l] != 0.0 || b.x[l] != 0.0),
            Node::Table { table, order, .. } => {
                let table = &self.tables[table as usize];
                let at = |n: u32, l: usize| table.value(order + n, a.x[l]);
                through(&a, |l| (at(0, l), at(1, l), at(2, l)))
            }
            Node::MittagLeffler(..)
            | Node::Memory(..)
            | Node::List(..)
            | Node::Family { .. }
            | Node::Number(_)
            | Node::Pi
            | Node::Symbol(_) => (Dual::constant(f64::NAN), [zero; 2]),
        }
    }
}

/// $f(a)$ from its value and first two derivatives.
fn through(a: &Dual, f: impl Fn(usize) -> (f64, f64, f64)) -> (Dual, [Dual; 2]) {
    let (mut value, mut slope) = (Dual::default(), Dual::default());
    for l in 0..LANES {
        let (f, f1, f2) = f(l);
        // NOTE: what is constant stays constant even where the derivative is infinite.
        (value.x[l], value.d[l]) = (f, term(f1, a.d[l]));
        (slope.x[l], slope.d[l]) = (f1, term(f2, a.d[l]));
    }
    (value, [slope, Dual::default()])
}

/// One of two, with derivatives by them.
fn chosen(a: &Dual, b: &Dual, first: impl Fn(usize) -> bool) -> (Dual, [Dual; 2]) {
    let first: [bool; LANES] = from_fn(first);
    let value = Dual {
        x: from_fn(|l| if first[l] { a.x[l] } else { b.x[l] }),
        d: from_fn(|l| if first[l] { a.d[l] } else { b.d[l] }),
    };
    let share =
        |which: bool| Dual { x: first.map(|f| if f == which { 1.0 } else { 0.0 }), d: ZERO };
    (value, [share(true), share(false)])
}

/// $a^b$, where the exponent varies or not.
fn raised(a: &Dual, b: &Dual, varies: bool) -> (Dual, [Dual; 2]) {
    let slope = |l: usize, c: f64, e: f64| if c == 0.0 { 0.0 } else { c * power(a.x[l], e) };
    let of_base = |l: usize| {
        let e = b.x[l];
        (power(a.x[l], e), slope(l, e, e - 1.0), slope(l, e * (e - 1.0), e - 2.0))
    };
    if !varies && b.x == [2.0; LANES] {
        // Most powers are squares.
        return through(a, |l| (a.x[l] * a.x[l], 2.0 * a.x[l], 2.0));
    }
    if !varies {
        return through(a, of_base);
    }
    let (mut value, mut by_base, mut by_exponent) =
        (Dual::default(), Dual::default(), Dual::default());
    for l in 0..LANES {
        let (x, f1, f11) = of_base(l);
        // NOTE: a logarithm that does not exist is nobody's business where the exponent stays the same.
        let log = libm::log(a.x[l]);
        let f12 = power(a.x[l], b.x[l] - 1.0) * (1.0 + b.x[l] * log);
        let (da, db) = (a.d[l], b.d[l]);
        (by_base.x[l], by_base.d[l]) = (f1, term(f11, da) + term(f12, db));
        (by_exponent.x[l], by_exponent.d[l]) =
            (x * log, term(f12, da) + term(x * log * log, db));
        (value.x[l], value.d[l]) = (x, term(f1, da) + term(x * log, db));
    }
    (value, [by_base, by_exponent])
}

fn binary(f: Binary, a: &Dual, b: &Dual) -> (Dual, [Dual; 2]) {
    match f {
        Binary::Min => chosen(a, b, |l| a.x[l] <= b.x[l]),
        Binary::Max => chosen(a, b, |l| a.x[l] > b.x[l]),
        Binary::Polygamma => {
            let at = |n: f64, l: usize| Binary::Polygamma.value(a.x[l] + n, b.x[l]);
            let (value, [slope, zero]) = through(b, |l| (at(0.0, l), at(1.0, l), at(2.0, l)));
            (value, [zero, slope])
        }
        Binary::Atan2 => {
            let r = a.mul(a).add(&b.mul(b)).recip();
            let partials = [b.mul(&r), a.mul(&r).neg()];
            let d =
                from_fn(|l| term(partials[0].x[l], a.d[l]) + term(partials[1].x[l], b.d[l]));
            (Dual { x: from_fn(|l| libm::atan2(a.x[l], b.x[l])), d }, partials)
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
            g.binary(Binary::Polygamma, g.one(), g.add(x, y)),
            g.mul(g.sin(k), g.mul(x, y)),
        ];
        for f in Unary::ALL {
            expressions.push(g.unary(f, g.mul(g.fraction(3, 10), g.add(x, y))));
        }
        let (at_x, at_y, x_rate, y_rate) = (0.7, 1.3, 0.4, -0.6);
        // Every lane a little further on, and the last of them the one that is looked at.
        let lanes = |at: f64| from_fn(|l| at + 0.01 * (LANES - 1 - l) as f64);
        let last = LANES - 1;
        let value = |e: Expr| if e == x { at_x } else { at_y };
        let fixed = |e: Expr| (e == k).then_some(at_y);
        // All at once, so that sweeps of other outputs leave nothing behind.
        let mut all = Duals::new(&g, &expressions, expressions.len(), &[], &fixed);
        let symbols = all.symbols.clone();
        all.evaluate(&|s| Dual {
            x: lanes(value(symbols[s])),
            d: lanes(if symbols[s] == x { x_rate } else { y_rate }),
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
            (found[0], found[1]) = (all.output(i).x[last], all.output(i).d[last]);
            all.sweep(i, [2.0; LANES], &mut |s, d| {
                let place = if symbols[s] == x { 2 } else { 4 };
                (found[place], found[place + 1]) = (0.5 * d.x[last], 0.5 * d.d[last]);
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
        let mut duals = Duals::new(&g, &[e], 1, &[], &|_| None);
        let symbols = duals.symbols.clone();
        let moving = Dual { x: [2.0; LANES], d: [3.0; LANES] };
        duals.evaluate(&|s| {
            if symbols[s] == x { moving } else { Dual::constant(0.0) }
        });
        assert_eq!(*duals.output(0), moving);
        duals.sweep(0, [1.0; LANES], &mut |s, d| {
            if symbols[s] == x {
                assert_eq!(d, Dual::constant(1.0));
            }
        });
    }
}
