//! Where a function of one variable is not smooth, or may be narrow.
//!
//! Every operation with branches has a switching function (`branches.rs`). Its zeros are known where it is linear;
//! elsewhere they are changes of sign between points of a grid, halved down to rounding. The zeros that are known
//! already are points of the grid, too: `abs(u) - v` may change its sign on both sides of a zero of u. Where three
//! points leave room for two zeros between them, the point that is nearest to zero is searched. Narrow features of a
//! smooth function lie where the argument of one of its parts is zero.

use pfaff_expr::{Binary, Expr, Graph, Node, Unary};
use pfaff_solver::narrow_places;

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
        let mut points: Vec<f64> = (0..=GRID + 1).map(grid).collect();
        points.extend(places.iter().filter(|x| **x > self.from && **x < self.to));
        points.sort_by(f64::total_cmp);
        let values: Vec<(f64, f64)> = points.into_iter().map(|x| (x, at(x))).collect();
        for (i, pair) in values.windows(2).enumerate() {
            let [last, here] = [pair[0], pair[1]];
            if last.1 * here.1 < 0.0 {
                places.push(halved(last.0, here.0, last.1 > 0.0, &at));
            } else if here.1 == 0.0 && last.1 != 0.0 {
                places.push(here.0);
            } else if let Some(&next) = values.get(i + 2)
                && let Some(x) = dip([last, here, next], &at)
            {
                let positive = here.1 > 0.0;
                if at(x) * here.1 < 0.0 {
                    places.extend([
                        halved(last.0, x, positive, &at),
                        halved(x, next.0, !positive, &at),
                    ]);
                } else {
                    places.push(x);
                }
            }
        }
    }

    /// Where panels of an integral of an expression are to end: its breaks, and where it is narrow.
    pub(crate) fn cuts(&self, e: Expr) -> Vec<f64> {
        let is_branched = self.g.has_branches(e, &[self.symbol]);
        let mut cuts = if is_branched { self.breaks(&[e]) } else { Vec::new() };
        let centres = self.centres(&[e]);
        if !centres.is_empty() {
            let known: Vec<f64> = cuts.iter().chain(&centres).copied().collect();
            let mut value = |x: f64| (self.value)(e, x);
            let narrow = narrow_places(self.from, self.to, &known, &mut value);
            cuts.extend(narrow.unwrap_or_default());
        }
        cuts
    }
}

/// Where a function is beyond zero, or touches it, between three points of one sign that leave room for that.
fn dip([a, b, c]: [(f64, f64); 3], at: &dyn Fn(f64) -> f64) -> Option<f64> {
    /// The golden section.
    const PART: f64 = 0.381_966_011_250_105;
    /// What is so much smaller than beside it counts as zero.
    const TOUCH: f64 = 1e-10;
    let side = b.1.signum();
    let [before, here, after] = [a, b, c].map(|(_, u)| side * u);
    // NOTE: an extremum of a parabola lies lower than the lowest of the points by an eighth of this at most.
    let is_near = before >= here && after >= here && here <= before + after - 2.0 * here;
    if !(here > 0.0 && is_near) {
        return None;
    }
    let (mut low, mut middle, mut high) = (a.0, b, c.0);
    for _ in 0..80 {
        let longer = if high - middle.0 > middle.0 - low { high } else { low };
        let x = middle.0 + PART * (longer - middle.0);
        if x == middle.0 {
            break;
        }
        let u = side * at(x);
        if u < 0.0 {
            return Some(x);
        }
        let is_lower = u < side * middle.1;
        let (left, right) = if x < middle.0 { (x, middle.0) } else { (middle.0, x) };
        if is_lower == (x < middle.0) {
            high = right;
        } else {
            low = left;
        }
        if is_lower {
            middle = (x, side * u);
        }
    }
    (side * middle.1 <= TOUCH * before.max(after)).then_some(middle.0)
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
