//! Whether every point can be reached: brackets that are proved to span all directions at every point.
//!
//! Chow's theorem needs the full rank at every point: where it is full almost everywhere, as with
//! $\dot z = yz\,\dot x$, what is not generic ($z = 0$) may bound what can be reached. Against a drift, the
//! velocities that the constraints leave free must span by themselves, at a fixed time: they are not bounded, so
//! that a drift does not matter then (Jurdjevic 1997, chapter 4).

use pfaff_expr::{Expr, Graph, Node, Unary, ZeroTest};
use pfaff_model::Workspace;

use super::integrability::{PfaffianSystem, lie_bracket};
use crate::algebra::cramer::determinant;
use crate::equations::{Class, Equations};
use crate::reduction::kernel;

/// Brackets of more letters are not made.
const DEEPEST: usize = 6;
/// With more fields than these the question is left open.
const MANY: usize = 60;
/// Nodes that brackets, rows and minors may add before the question is left open: about 0.1 s.
const BUDGET: usize = 10_000;
/// Minors of what constant pivots leave that are looked at.
const MINORS: usize = 300;

/// Whether brackets of the free velocities are proved to span all directions at every point and time.
///
/// The fields are those of the elimination that clears denominators; a chart may have poles. Rows of all brackets
/// are eliminated by pivots that are constants, and what they leave must have a minor that is one.
pub fn generates_everywhere(model: &Workspace, equations: &Equations) -> bool {
    let g = &model.graph;
    let linear = |c: &Class| matches!(c, Class::Linear | Class::Affine);
    if !equations.classes.iter().all(linear) {
        return false;
    }
    g.merging(|| {
        let n = model.coordinates.len();
        let system = PfaffianSystem::of(model, equations);
        if system.forms.is_empty() {
            return true;
        }
        // NOTE: without dt, which stands first where it enters.
        let forms: Vec<Vec<Expr>> =
            system.forms.iter().map(|ω| ω[ω.len() - n..].to_vec()).collect();
        let parameters: Vec<(Expr, f64)> =
            model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let free = kernel(g, &forms, &parameters);
        let positions = model.positions();
        let moving = [&positions[..], &[model.time]].concat();
        if !free.iter().flatten().all(|&e| is_entire(g, e, &moving)) {
            return false;
        }
        let constants = Constants { g, moving, parameters, limit: g.len() + BUDGET };
        let (mut fields, mut layer) = (free.clone(), free.clone());
        for depth in 1..=DEEPEST {
            if constants.span(&fields, n) {
                return true;
            }
            let mut next = Vec::new();
            for (a, x) in free.iter().enumerate() {
                for (b, y) in layer.iter().enumerate() {
                    if depth == 1 && a >= b {
                        continue;
                    }
                    let bracket = lie_bracket(g, x, y, &positions);
                    if bracket.iter().any(|&e| !g.vanishes_modulo_prime(e)) {
                        next.push(bracket);
                    }
                }
            }
            fields.extend(next.iter().cloned());
            if next.is_empty() || fields.len() > MANY || constants.is_spent() {
                return false;
            }
            layer = next;
        }
        false
    })
}

/// Whether an expression is made of functions that are analytic everywhere.
fn is_entire(g: &Graph, e: Expr, variables: &[Expr]) -> bool {
    g.live(&[e]).into_iter().all(|part| match g.node(part) {
        Node::Number(_)
        | Node::Pi
        | Node::Symbol(_)
        | Node::Neg(_)
        | Node::Add(..)
        | Node::Sub(..)
        | Node::Mul(..)
        | Node::Unary(Unary::Sin | Unary::Cos | Unary::Exp | Unary::Sinh | Unary::Cosh, _) => {
            true
        }
        Node::Div(_, below) => !g.contains(below, variables),
        Node::Pow(_, exponent) => {
            let power = g.evaluate(&[exponent], &|_| f64::NAN)[0];
            power >= 0.0 && power.fract() == 0.0 || !g.contains(part, variables)
        }
        _ => !g.contains(part, variables),
    })
}

/// Expressions that are constants, not zero with the values of the parameters.
struct Constants<'a> {
    g: &'a Graph,
    moving: Vec<Expr>,
    parameters: Vec<(Expr, f64)>,
    /// How many nodes the graph may have.
    limit: usize,
}

impl Constants<'_> {
    fn is_spent(&self) -> bool {
        self.g.len() > self.limit
    }

    fn contains(&self, e: Expr) -> bool {
        let g = self.g;
        if self.is_spent() || g.vanishes_modulo_prime(e) {
            return false;
        }
        let still = |s: Expr| g.zero_test(s) == ZeroTest::Zero;
        if !g.gradient(e, &self.moving).into_iter().all(still) {
            return false;
        }
        let at = |s: Expr| self.parameters.iter().find(|p| p.0 == s).map_or(0.3, |p| p.1);
        let value = g.evaluate(&[e], &at)[0];
        value.is_finite() && value.abs() > 1e-9
    }

    /// Whether the rows are proved to span the space of $n$ dimensions at every point.
    fn span(&self, rows: &[Vec<Expr>], n: usize) -> bool {
        let g = self.g;
        let mut rows = rows.to_vec();
        let mut columns: Vec<usize> = (0..n).collect();
        while let Some((a, k)) = self.pivot(&rows, &columns) {
            let pivot = rows.swap_remove(a);
            for row in rows.iter_mut().filter(|r| !g.vanishes_modulo_prime(r[k])) {
                let factor = g.div(row[k], pivot[k]);
                for &j in columns.iter().filter(|&&j| j != k) {
                    row[j] = g.sub(row[j], g.mul(factor, pivot[j]));
                }
            }
            columns.retain(|&j| j != k);
        }
        rows.retain(|r| columns.iter().any(|&k| !g.vanishes_modulo_prime(r[k])));
        let rest: Vec<Vec<Expr>> =
            rows.iter().map(|r| columns.iter().map(|&k| r[k]).collect()).collect();
        let sets = subsets(rest.len(), columns.len());
        // NOTE: determinants are written out by minors, which grow with the factorial of their size.
        columns.len() <= 4
            && sets.into_iter().any(|set| {
                let minor: Vec<Vec<Expr>> = set.iter().map(|&a| rest[a].clone()).collect();
                !self.is_spent() && self.contains(determinant(g, &minor))
            })
    }

    /// A row and a column with a constant.
    fn pivot(&self, rows: &[Vec<Expr>], columns: &[usize]) -> Option<(usize, usize)> {
        let mut places = (0..rows.len()).flat_map(|a| columns.iter().map(move |&k| (a, k)));
        places.find(|&(a, k)| self.contains(rows[a][k]))
    }
}

/// Sets of $k$ of the first $n$ numbers, as many as are looked at.
fn subsets(n: usize, k: usize) -> Vec<Vec<usize>> {
    match (n, k) {
        (_, 0) => vec![Vec::new()],
        (0, _) => Vec::new(),
        _ => {
            let with = subsets(n - 1, k - 1).into_iter().map(|mut set| {
                set.push(n - 1);
                set
            });
            let without = subsets(n - 1, k);
            without.into_iter().chain(with).take(MINORS).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    fn constants(g: &Graph, x: Expr, parameters: Vec<(Expr, f64)>) -> Constants<'_> {
        Constants { g, moving: vec![x], parameters, limit: g.len() + 10_000 }
    }

    #[test]
    fn constants_are_finite_and_not_zero() {
        let g = Graph::new();
        let [x, k] = ["x", "k"].map(|name| g.symbol(name, Role::Free));
        let one = g.add(g.mul(g.sin(x), g.sin(x)), g.mul(g.cos(x), g.cos(x)));
        let at = |value: f64, e: Expr| constants(&g, x, vec![(k, value)]).contains(e);
        for e in [g.one(), g.integer(-2), one, k, g.div(g.one(), k), g.add(k, one)] {
            assert!(at(0.7, e) && at(-0.7, e), "{}", g.to_text(e));
        }
        for e in [g.zero(), x, g.mul(k, x), g.sub(one, g.one())] {
            assert!(!at(0.7, e), "{}", g.to_text(e));
        }
        assert!(!at(1e-9, k) && at(1.1e-9, k) && at(-1.1e-9, k));
        assert!(!at(0.0, g.div(g.one(), k)), "not finite");
        let spent = Constants { limit: g.len() - 1, ..constants(&g, x, Vec::new()) };
        assert!(!spent.contains(g.one()) && spent.is_spent());
        assert!(!Constants { limit: g.len(), ..spent }.is_spent());
    }

    #[test]
    fn rows_span_where_a_minor_is_a_constant() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let (zero, one, square) = (g.zero(), g.one(), g.mul(x, x));
        let more = g.add(one, square);
        let spans = |rows: &[Vec<Expr>], n: usize| constants(&g, x, Vec::new()).span(rows, n);
        assert!(spans(&[vec![one, x], vec![x, more]], 2), "the second pivot is 1");
        assert!(!spans(&[vec![one, x], vec![x, one]], 2), "1 − x²");
        assert!(spans(&[vec![one, x], vec![x, one], vec![zero, one]], 2), "one row too many");
        // No entry is a constant.
        let (plus, less) = (g.add(one, x), g.sub(one, x));
        assert!(spans(&[vec![plus, x], vec![x, g.neg(less)]], 2), "−(1 − x²) − x² = −1");
        assert!(!spans(&[vec![plus, x], vec![x, less]], 2), "1 − 2x²");
        // The same several times, which takes minors of as many rows: four at most.
        let block = [[plus, x], [x, g.neg(less)]];
        let blocks = |count: usize| -> Vec<Vec<Expr>> {
            let entry =
                |i: usize, j: usize| if i / 2 == j / 2 { block[i % 2][j % 2] } else { zero };
            (0..2 * count).map(|i| (0..2 * count).map(|j| entry(i, j)).collect()).collect()
        };
        assert!(spans(&blocks(2), 4) && !spans(&blocks(3), 6));
        // −x times the first row leaves nothing of the second.
        assert!(!spans(&[vec![one, x], vec![x, square]], 2));
        assert!(!spans(&[vec![one, zero, x], vec![zero, one, x]], 3), "two rows");
        let third =
            |last: Expr| [vec![one, zero, x], vec![zero, one, x], vec![square, x, last]];
        assert!(!spans(&third(more), 3), "1 − x³");
        assert!(spans(&third(g.add(more, g.mul(square, x))), 3), "1");
    }

    #[test]
    fn entire_functions_have_no_poles_and_no_corners() {
        let g = Graph::new();
        let [x, k] = ["x", "k"].map(|name| g.symbol(name, Role::Free));
        let is = |e: Expr| is_entire(&g, e, &[x]);
        let root = g.sqrt(g.add(k, g.one()));
        for e in [
            g.pow(x, g.integer(3)),
            g.div(g.sin(x), k),
            g.mul(root, g.unary(Unary::Exp, g.neg(x))),
            g.pow(k, g.integer(-2)),
            g.pow(k, g.fraction(1, 2)),
        ] {
            assert!(is(e), "{}", g.to_text(e));
        }
        for e in [
            g.div(k, x),
            g.pow(x, g.integer(-2)),
            g.pow(x, g.fraction(3, 2)),
            g.pow(x, k),
            g.sqrt(x),
            g.unary(Unary::Abs, x),
            g.add(k, g.unary(Unary::Log, x)),
        ] {
            assert!(!is(e), "{}", g.to_text(e));
        }
    }

    #[test]
    fn subsets_are_all_sets_of_their_size() {
        let sets = subsets(4, 2);
        assert_eq!(sets, [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
        assert_eq!(subsets(3, 3), [[0, 1, 2]]);
        assert_eq!(subsets(2, 3), Vec::<Vec<usize>>::new());
        assert_eq!(subsets(2, 0), [Vec::<usize>::new()]);
        assert_eq!(subsets(30, 3).len(), MINORS);
    }
}
