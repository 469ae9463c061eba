//! Where a function of one variable is not smooth, or may be narrow.
//!
//! Every operation with branches has a switching function (`branches.rs`). Its zeros are known where it is linear;
//! elsewhere they are changes of sign between points of a grid, halved down to rounding. Narrow features of a
//! smooth function lie where the argument of one of its parts is zero.

use pfaff_expr::{Binary, Expr, Graph, Node, Unary};

/// Points of the grid.
const GRID: u32 = 1024;
/// Most places that are told.
const MOST: usize = 4096;

/// The variable, what else has values, and its range.
pub(crate) struct Variable<'a> {
    pub(crate) g: &'a Graph,
    pub(crate) symbol: Expr,
    /// Functions that contain one of these are left out.
    pub(crate) others: &'a [Expr],
    /// An expression at a value of the variable.
    pub(crate) value: &'a dyn Fn(Expr, f64) -> f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Variable<'_> {
    /// The places within the range where expressions are not smooth, ascending.
    pub(crate) fn breaks(&self, expressions: &[Expr]) -> Vec<f64> {
        let mut places = Vec::new();
        for u in switching_functions(self.g, expressions) {
            self.zeros(u, &mut places);
        }
        self.sorted(places)
    }

    /// The places within the range where the arguments of functions, powers and quotients are zero, ascending.
    pub(crate) fn centres(&self, expressions: &[Expr]) -> Vec<f64> {
        let g = self.g;
        let mut places = Vec::new();
        for e in g.live(expressions) {
            match g.node(e) {
                Node::Unary(_, a) | Node::Pow(a, _) | Node::Div(_, a) => {
                    self.zeros(a, &mut places);
                }
                _ => {}
            }
        }
        self.sorted(places)
    }

    /// The zeros of functions.
    pub(crate) fn all_zeros(&self, functions: &[Expr], places: &mut Vec<f64>) {
        for &u in functions {
            self.zeros(u, places);
        }
        places.retain(|x| *x > self.from && *x < self.to);
    }

    fn sorted(&self, mut places: Vec<f64>) -> Vec<f64> {
        places.retain(|x| *x > self.from && *x < self.to);
        places.sort_by(f64::total_cmp);
        places.dedup_by(|b, a| *b - *a <= 1e-14 * (a.abs() + b.abs()));
        places.truncate(MOST);
        places
    }

    /// The zeros of a function.
    fn zeros(&self, u: Expr, places: &mut Vec<f64>) {
        let g = self.g;
        if places.len() >= MOST || !g.contains(u, &[self.symbol]) || g.contains(u, self.others)
        {
            return;
        }
        if let Some(split) = g.try_linear(u, &[self.symbol]) {
            let [slope] = split.coefficients[..] else { return };
            let place = -(self.value)(split.rest, self.from) / (self.value)(slope, self.from);
            places.extend(place.is_finite().then_some(place));
            return;
        }
        let at = |x: f64| (self.value)(u, x);
        let grid = |i: u32| {
            // No simple parts, so that simple numbers lie between the points.
            let part = (f64::from(i) - 0.381_966).clamp(0.0, f64::from(GRID)) / f64::from(GRID);
            self.from + part * (self.to - self.from)
        };
        let mut last = (grid(0), at(grid(0)));
        for i in 1..=GRID + 1 {
            let here = (grid(i), at(grid(i)));
            if last.1 * here.1 < 0.0 {
                places.push(halved(last.0, here.0, last.1 > 0.0, &at));
            } else if here.1 == 0.0 && last.1 != 0.0 {
                places.push(here.0);
            }
            last = here;
        }
    }
}

/// The functions at whose zeros expressions may not be smooth.
pub(crate) fn switching_functions(g: &Graph, expressions: &[Expr]) -> Vec<Expr> {
    // A root is not smooth where its argument is zero; that of a square where the base is.
    let of_root = |a: Expr| match g.node(a) {
        Node::Pow(base, _) => base,
        _ => a,
    };
    let mut functions = Vec::new();
    for e in g.live(expressions) {
        match g.node(e) {
            Node::Unary(Unary::Abs | Unary::Sign, a) | Node::Binary(Binary::Atan2, a, _) => {
                functions.push(a);
            }
            Node::Unary(Unary::Tan, a) => functions.push(g.unary(Unary::Cos, a)),
            Node::Unary(Unary::Asin | Unary::Acos, a) => {
                functions.extend([g.sub(a, g.one()), g.add(a, g.one())]);
            }
            Node::Unary(Unary::Sqrt, a) => functions.push(of_root(a)),
            Node::Pow(a, p) if g.double_of(p).is_none_or(|p| p.fract() != 0.0) => {
                functions.push(of_root(a));
            }
            Node::Binary(Binary::Min | Binary::Max, a, b) | Node::Compare(_, a, b) => {
                functions.push(g.sub(a, b));
            }
            Node::Table { table, argument, .. } => {
                let knots = g.table_of(table).knots().to_vec();
                let knots = knots.into_iter().filter_map(pfaff_expr::number::from_f64);
                functions.extend(knots.map(|knot| g.sub(argument, g.number(knot))));
            }
            _ => {}
        }
    }
    functions
}

/// The change of sign between two points, the first of which is positive or not.
fn halved(mut a: f64, mut b: f64, positive: bool, at: &dyn Fn(f64) -> f64) -> f64 {
    for _ in 0..80 {
        let middle = f64::midpoint(a, b);
        if middle == a || middle == b {
            break;
        }
        if (at(middle) > 0.0) == positive {
            a = middle;
        } else {
            b = middle;
        }
    }
    b
}
