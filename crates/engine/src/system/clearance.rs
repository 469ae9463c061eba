//! Whether event functions keep away from zero while a motion stays within bounds.
//!
//! Interval arithmetic on the functions of positions and time: a step whose bounds exclude every zero need not be
//! looked at. Functions that never vanish at all, as the gap of a wall beyond the reach of a pendulum, are recognised
//! once and for all, with angles that may have any value.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use pfaff_expr::{Expr, Graph, Node, Unary};
use pfaff_model::Workspace;

/// How far from zero a function must stay, in parts of its largest value: much more than rounding.
const APART: f64 = 1e-9;

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    low: f64,
    high: f64,
}

/// One operation on bounds that are already known.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Constant(f64),
    /// Time, or a position after it.
    Input(usize),
    Opposite(usize),
    Sum(usize, usize),
    Difference(usize, usize),
    Product(usize, usize),
    Quotient(usize, usize),
    Power(usize, u32),
    Root(usize),
    Size(usize),
    Sine(usize),
    Cosine(usize),
}

/// The event functions of a model, by operations on bounds.
#[derive(Clone, Debug)]
pub(crate) struct Clearance {
    operations: Vec<Operation>,
    bounds: Vec<Bounds>,
    /// The results that are functions which may vanish somewhere.
    functions: Vec<usize>,
}

impl Clearance {
    /// Of some functions of a model, if all of them are known.
    pub(crate) fn new(model: &Workspace, functions: &[Expr]) -> Option<Self> {
        let g = &model.graph;
        let inputs: Vec<Expr> = [model.time].into_iter().chain(model.positions()).collect();
        let live = g.live(functions);
        let places: HashMap<Expr, usize> = live.iter().copied().zip(0..).collect();
        let mut operations = Vec::with_capacity(live.len());
        for &e in &live {
            let place = |o: Expr| places.get(&o).copied();
            operations.push(match inputs.iter().position(|&input| input == e) {
                Some(k) => Operation::Input(k),
                None => operation(model, g, e, &place)?,
            });
        }
        let bounds = vec![Bounds::ALL; operations.len()];
        let functions = functions.iter().map(|e| places[e]).collect();
        let mut known = Self { operations, bounds, functions };
        known.evaluate(&|_| Bounds::ALL);
        let Self { bounds, functions, .. } = &mut known;
        functions.retain(|&k| !bounds[k].is_apart());
        Some(known)
    }

    /// Whether no function can vanish while time and positions are within bounds.
    pub(crate) fn is_clear(&mut self, t: [f64; 2], low: &[f64], high: &[f64]) -> bool {
        if self.functions.is_empty() {
            return true;
        }
        self.evaluate(&|k| match k {
            0 => Bounds { low: t[0].min(t[1]), high: t[0].max(t[1]) },
            k => Bounds { low: low[k - 1], high: high[k - 1] },
        });
        self.functions.iter().all(|&k| self.bounds[k].is_apart())
    }

    fn evaluate(&mut self, input: &dyn Fn(usize) -> Bounds) {
        for (k, operation) in self.operations.iter().enumerate() {
            let of = |place: usize| self.bounds[place];
            self.bounds[k] = match *operation {
                Operation::Constant(x) => Bounds { low: x, high: x },
                Operation::Input(place) => input(place),
                Operation::Opposite(a) => of(a).opposite(),
                Operation::Sum(a, b) => of(a).plus(of(b)),
                Operation::Difference(a, b) => of(a).plus(of(b).opposite()),
                Operation::Product(a, b) if a == b => of(a).power(2),
                Operation::Product(a, b) => of(a).times(of(b)),
                Operation::Quotient(a, b) => of(a).times(of(b).inverse()),
                Operation::Power(a, n) => of(a).power(n),
                Operation::Root(a) => of(a).root(),
                Operation::Size(a) => of(a).size(),
                Operation::Sine(a) => of(a).sine(),
                Operation::Cosine(a) => of(a).shifted(FRAC_PI_2).sine(),
            };
        }
    }
}

/// The operation of a node that is no input; `None` where bounds are not known.
fn operation(
    model: &Workspace,
    g: &Graph,
    e: Expr,
    place: &dyn Fn(Expr) -> Option<usize>,
) -> Option<Operation> {
    Some(match g.node(e) {
        Node::Number(_) => Operation::Constant(g.double_of(e)?),
        Node::Pi => Operation::Constant(PI),
        Node::Symbol(_) => {
            let parameter = model.parameters.iter().find(|p| p.symbol == e)?;
            Operation::Constant(parameter.value)
        }
        Node::Neg(a) => Operation::Opposite(place(a)?),
        Node::Add(a, b) => Operation::Sum(place(a)?, place(b)?),
        Node::Sub(a, b) => Operation::Difference(place(a)?, place(b)?),
        Node::Mul(a, b) => Operation::Product(place(a)?, place(b)?),
        Node::Div(a, b) => Operation::Quotient(place(a)?, place(b)?),
        Node::Pow(a, b) => {
            let n = g.double_of(b).filter(|n| n.fract() == 0.0 && (1.0..=64.0).contains(n))?;
            Operation::Power(place(a)?, n as u32)
        }
        Node::Unary(Unary::Sqrt, a) => Operation::Root(place(a)?),
        Node::Unary(Unary::Abs, a) => Operation::Size(place(a)?),
        Node::Unary(Unary::Sin, a) => Operation::Sine(place(a)?),
        Node::Unary(Unary::Cos, a) => Operation::Cosine(place(a)?),
        _ => return None,
    })
}

impl Bounds {
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Whether zero is clearly outside. Bounds that are not numbers exclude nothing.
    fn is_apart(self) -> bool {
        let Self { low, high } = self;
        let far = |near: f64, far: f64| near > 0.0 && (far.is_infinite() || near > APART * far);
        far(low, high) || far(-high, -low)
    }

    fn opposite(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn plus(self, o: Self) -> Self {
        Self { low: self.low + o.low, high: self.high + o.high }
    }

    fn shifted(self, by: f64) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    fn times(self, o: Self) -> Self {
        // 0 · ∞ is 0 here: bounds at infinity are not reached.
        let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        let [a, b] = [times(self.low, o.low), times(self.low, o.high)];
        let [c, d] = [times(self.high, o.low), times(self.high, o.high)];
        Self { low: a.min(b).min(c.min(d)), high: a.max(b).max(c.max(d)) }
    }

    fn inverse(self) -> Self {
        if self.low > 0.0 || self.high < 0.0 {
            Self { low: 1.0 / self.high, high: 1.0 / self.low }
        } else {
            Self::ALL
        }
    }

    fn power(self, n: u32) -> Self {
        let ends = [self.low.powi(n as i32), self.high.powi(n as i32)];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if n.is_multiple_of(2) && self.low < 0.0 && self.high > 0.0 {
            Self { low: 0.0, high }
        } else {
            Self { low, high }
        }
    }

    fn root(self) -> Self {
        // NOTE: what is negative has no root, and what is not a number excludes nothing.
        Self { low: self.low.sqrt(), high: self.high.sqrt() }
    }

    fn size(self) -> Self {
        if self.low >= 0.0 {
            self
        } else if self.high <= 0.0 {
            self.opposite()
        } else {
            Self { low: 0.0, high: self.high.max(-self.low) }
        }
    }

    fn sine(self) -> Self {
        let Self { low, high } = self;
        // NOTE: written so that infinite bounds, and such that are not numbers, allow everything.
        let is_short = high - low < TAU;
        if !is_short {
            return Self { low: -1.0, high: 1.0 };
        }
        // Whether a place p + 2πk lies within.
        let contains = |p: f64| ((low - p) / TAU).ceil() * TAU + p <= high;
        let (a, b) = (libm::sin(low), libm::sin(high));
        Self {
            low: if contains(-FRAC_PI_2) { -1.0 } else { a.min(b) },
            high: if contains(FRAC_PI_2) { 1.0 } else { a.max(b) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    fn clearance(gap: &str) -> Option<Clearance> {
        let text = format!(
            "coordinates x, a\nparameters l = 2\nlagrangian x'^2/2 + a'^2/2\nevent e: {gap}\nsolve t = 0..1\n"
        );
        let model = Model::parse(&text).expect("a model").workspace();
        let events: Vec<Expr> = model.events.iter().map(|e| e.expr).collect();
        Clearance::new(&model, &events)
    }

    fn is_clear(gap: &str, x: [f64; 2], a: [f64; 2]) -> bool {
        let clearance = clearance(gap);
        clearance.is_some_and(|mut c| c.is_clear([0.0, 1.0], &[x[0], a[0]], &[x[1], a[1]]))
    }

    #[test]
    fn bounds_tell_where_a_function_cannot_vanish() {
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        assert!(is_clear("3 - l*sin(a)", all, all) && !is_clear("1.9 - l*sin(a)", all, all));
        assert!(is_clear("1.9 - l*sin(a)", all, [2.0, 6.0]));
        assert!(!is_clear("1.9 - l*sin(a)", all, [1.0, 2.0]));
        assert!(!is_clear("1.9 - l*sin(a)", all, [1.0 + 8.0 * PI, 2.0 + 8.0 * PI]));
        assert!(is_clear("l*cos(a) - x", [-9.0, 0.9], [-1.0, 1.0]));
        assert!(!is_clear("l*cos(a) - x", [-9.0, 1.2], [-1.0, 1.0]));
        assert!(is_clear("x^2 + 1", all, all) && is_clear("x*x*x + 9", [-2.0, 2.0], all));
        assert!(is_clear("sqrt(x^2 + a^2) - 1", [0.9, 2.0], [0.5, 2.0]));
        assert!(
            !is_clear("sqrt(x) - 1", [-1.0, 9.0], all) && !is_clear("1/x", [-1.0, 1.0], all)
        );
        assert!(is_clear("abs(x) + abs(a) - t", [-4.0, -0.8], [0.3, 2.0]));
        assert!(!is_clear("x", [f64::NAN, f64::NAN], all));
        assert!(clearance("x' + 3").is_none() && clearance("exp(x)").is_none());
    }
}
