//! Is this expression zero for all values of its symbols?
//!
//! Two methods must agree. *Exact:* the value at random points of a finite field in which sines, exponentials,
//! roots and signs obey their identities; what does not vanish there is not zero. *Numerical:* doubles with a
//! bound of their error at real points; a value above its bound proves that it is not zero, and the point is the
//! witness. Zero is claimed only if the exact method finds zero and the numerical one finds no witness.
//!
//! **Domains.** An expression counts as zero if it vanishes wherever it is a finite real number: $x/x - 1$,
//! $\log x^2 - 2\log x$ and $\sqrt{x}^2 - x$ are zero.
//! **Branches.** Roots and signs take one branch at each point of the field. An expression with such
//! functions counts as exactly zero if it vanishes at one point at least, and at every point whose signs no real
//! point has shown together.

mod form;
mod independence;
pub(crate) mod interval;
pub(crate) mod modular;
pub(crate) mod numeric;
pub(crate) mod quadratic;
mod quadratic_terms;
pub(crate) mod rank;

use rustc_hash::FxHashSet;

use crate::graph::Graph;
use crate::graph::field;
use crate::graph::node::{Expr, Node};
use crate::graph::store::Store;
use crate::interrupt;
use crate::math::Unary;
use crate::math::function::Compares;
use form::MonomialSums;
use modular::{ModularBuffer, ModularProblem, ModularSample};
use numeric::Bounded;

/// Room for the values of all nodes, which the next test uses again.
#[derive(Debug, Default)]
pub(crate) struct ValueRoom(Vec<Bounded>);

/// What is left over from the last test means nothing.
impl Clone for ValueRoom {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The answer of [`Graph::zero_test`].
#[derive(Clone, Debug, PartialEq)]
pub enum ZeroTest {
    /// Zero wherever it is defined.
    Zero,
    /// Not zero, with a point that shows it.
    Nonzero {
        /// The symbols of the expression and their values at the point.
        witness: Vec<(Expr, f64)>,
        /// The value there.
        value: f64,
    },
    /// Neither was proved.
    Unknown,
}

/// Real points that are tried.
const REAL_POINTS: u64 = 32;
/// Points of the field at which an expression without branches must vanish: each misses with a probability of
/// its degree in $1/p$.
const PLAIN_POINTS: usize = 4;
/// Points of the field for an expression with branches.
const BRANCHED_POINTS: usize = 64;
/// Points that may be given up because a root is missing.
const MAX_TRIES: u64 = 800;

impl Graph {
    /// Whether the expression is proved zero for all values of its symbols.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Free);
    /// let double = g.sin(g.mul(g.integer(2), x));
    /// let product = g.mul(g.integer(2), g.mul(g.sin(x), g.cos(x)));
    /// assert!(g.is_zero(g.sub(double, product)));
    /// ```
    pub fn is_zero(&self, e: Expr) -> bool {
        self.zero_test(e) == ZeroTest::Zero
    }

    /// Zero, not zero with a witness, or unknown. Memory operators, tables and Mittag-Leffler functions are
    /// opaque: they cancel only against themselves.
    pub fn zero_test(&self, e: Expr) -> ZeroTest {
        let stored_zero = self.store.borrow().values[e.index()] == [0, 0];
        if stored_zero && !self.store.borrow().numbers.has_large_ones() {
            return ZeroTest::Zero;
        }
        let (symbols, live) = (self.symbols(&[e]), self.live(&[e]));
        let room = &mut self.room.borrow_mut().0;
        let reals = real_points(&self.store.borrow(), &live, &symbols, room);
        let reals = match reals {
            Ok(reals) => reals,
            Err((witness, value)) => return ZeroTest::Nonzero { witness, value },
        };
        let store = self.store.borrow();
        let zero = stored_zero || vanishes_exactly(&store, &live, &reals);
        if zero { ZeroTest::Zero } else { ZeroTest::Unknown }
    }
}

impl Graph {
    /// Which of some expressions are not zero, as a first look at two real points shows, for all of them together:
    /// at the cost of the nodes that they have together. What is not shown may be anything.
    pub fn shown_nonzero(&self, es: &[Expr]) -> Vec<bool> {
        let live = self.live(es);
        let store = self.store.borrow();
        let (mut shown, mut room) = (vec![false; es.len()], Vec::new());
        for point in 0..2 {
            numeric::evaluate(&store, &live, &|s| coordinate(point, s), &mut room);
            for (shown, e) in shown.iter_mut().zip(es) {
                *shown |= room[e.index()].is_clearly_nonzero();
            }
        }
        shown
    }
}

/// What the real points have shown without finding a witness.
struct Reals {
    /// The signs of all comparisons at each point that gave a finite value with a finite bound.
    patterns: Vec<Vec<(Expr, i8)>>,
}

/// Looks for a witness.
fn real_points(
    store: &Store,
    live: &[Expr],
    symbols: &[Expr],
    room: &mut Vec<Bounded>,
) -> Result<Reals, (Vec<(Expr, f64)>, f64)> {
    let mut reals = Reals { patterns: Vec::new() };
    for point in 0..REAL_POINTS {
        interrupt::checkpoint();
        let value_of = |s: Expr| coordinate(point, s);
        let (result, signs) = numeric::evaluate(store, live, &value_of, room);
        if result.is_clearly_nonzero() {
            return Err((symbols.iter().map(|&s| (s, value_of(s))).collect(), result.value));
        }
        if result.value.is_finite() && result.error.is_finite() {
            reals.patterns.push(signs);
        }
    }
    Ok(reals)
}

/// The value of a symbol at a real point: several scales, and every third point positive.
fn coordinate(point: u64, symbol: Expr) -> f64 {
    const SCALES: [f64; 16] = [
        2.0, 1.0, 0.9, 3.0, 2.0, 10.0, 0.5, 1.5, 0.05, 100.0, 5.0, 1e-4, 1e4, 1e10, 1e20, 1e50,
    ];
    let bits = field::random(field::random(point ^ 0x0009_2ea1) ^ (symbol.index() as u64) << 8);
    let unit = (bits >> 9) as f64 / (1_u64 << 52) as f64;
    let size = SCALES[point as usize % SCALES.len()] * (0.05 + 0.95 * unit);
    if point % 3 == 2 || bits & 1 == 0 { size } else { -size }
}

/// Whether the expression vanishes in the field, as far as its branches go.
fn vanishes_exactly(store: &Store, live: &[Expr], reals: &Reals) -> bool {
    if !live.iter().any(|&e| has_identities(store.node(e))) {
        // NOTE: the stored value is exact for these, and it is not zero.
        return false;
    }
    let branched = live.iter().any(|&e| is_branched(store, store.node(e)));
    if branched && reals.patterns.len() < 3 {
        return false;
    }
    let forms = MonomialSums::new(store, live);
    let known = interval::known_signs(store, live);
    let problem = ModularProblem { store, live, forms: &forms, known: &known };
    let undecided = |signs: Vec<(Expr, i8)>| -> Vec<(Expr, i8)> {
        signs.into_iter().filter(|(e, _)| !known.contains_key(e)).collect()
    };
    let seen: FxHashSet<Vec<(Expr, i8)>> =
        reals.patterns.iter().cloned().map(undecided).collect();
    let needed = if branched { BRANCHED_POINTS } else { PLAIN_POINTS };
    let tries = MAX_TRIES.min(40_000_000 / live.len().max(1) as u64).max(2 * needed as u64);
    let (mut points, mut zeros, mut room) = (0, 0, ModularBuffer::default());
    for seed in 0..tries {
        let Some(ModularSample { value, signs }) = problem.sample(seed, &mut room) else {
            continue;
        };
        points += 1;
        if value == quadratic::ZERO {
            zeros += 1;
            // Where nothing is compared, no further point could be held against it.
            if branched && undecided(signs).is_empty() && seen.contains(&Vec::new()) {
                return true;
            }
        } else if !branched || !seen.contains(&undecided(signs)) {
            return false;
        }
        if points == needed {
            break;
        }
    }
    if branched { zeros >= 1 } else { zeros == needed && zeros == points }
}

/// Values at points of the field, with the identities of the functions: at one point, or at a few where branches
/// may differ. Nothing where there are no identities beyond those that stored values know, or no point was found.
/// Points at which every root is that of a number with positive sign go before others, where
/// $\sqrt a\sqrt b = -\sqrt{ab}$.
pub(crate) fn exact_values(g: &Graph, expressions: &[Expr]) -> Vec<Vec<quadratic::Z>> {
    /// A point fails where the field lacks a root: half of them for each root.
    const TRIES: u64 = 64;
    let live = g.live(expressions);
    let store = g.store.borrow();
    if !live.iter().any(|&e| has_identities(store.node(e))) {
        return Vec::new();
    }
    let branched = live.iter().any(|&e| is_branched(&store, store.node(e)));
    let forms = MonomialSums::new(&store, &live);
    let known = interval::known_signs(&store, &live);
    let problem = ModularProblem { store: &store, live: &live, forms: &forms, known: &known };
    let is_root = |e: &Expr| matches!(store.node(*e), Node::Unary(Unary::Sqrt, _));
    let roots = live.iter().copied().filter(is_root);
    let asked: Vec<Expr> = expressions.iter().copied().chain(roots).collect();
    let wanted = if branched { 4 } else { 1 };
    let (mut real, mut imaginary, mut room) =
        (Vec::new(), Vec::new(), ModularBuffer::default());
    for seed in 0..TRIES {
        let Some(mut values) = problem.values(seed, &asked, &mut room) else { continue };
        let roots = values.split_off(expressions.len());
        let is_real = roots.iter().all(|root| root.1 == 0);
        (if is_real { &mut real } else { &mut imaginary }).push(values);
        if real.len() == wanted {
            return real;
        }
    }
    imaginary.truncate(wanted);
    if real.is_empty() { imaginary } else { real }
}

/// What a function of one argument compares with zero: the argument of `abs` and `sign`, and $u$ in
/// $\sqrt{u^{2m}} = |u|^m$.
fn compared_with_zero(store: &Store, node: Node) -> Option<Expr> {
    match node {
        Node::Unary(f, a) => match (f.identities().compares, store.node(a)) {
            (Compares::Argument, _) => Some(a),
            (Compares::Base, Node::Pow(u, n))
                if store.small_integer(n).is_some_and(|n| n % 2 == 0) =>
            {
                Some(u)
            }
            (Compares::Base | Compares::Nothing, _) => None,
        },
        _ => None,
    }
}

/// Nodes that may take part in an identity which the stored values do not know.
fn has_identities(node: Node) -> bool {
    match node {
        Node::Unary(..)
        | Node::Binary(..)
        | Node::If(..)
        | Node::Compare(..)
        | Node::Not(_)
        | Node::And(..)
        | Node::Or(..)
        | Node::Pow(..) => true,
        Node::Number(_)
        | Node::Pi
        | Node::Symbol(_)
        | Node::Neg(_)
        | Node::Add(..)
        | Node::Sub(..)
        | Node::Mul(..)
        | Node::Div(..)
        | Node::MittagLeffler(..)
        | Node::Table { .. }
        | Node::List(..)
        | Node::Family { .. }
        | Node::Memory(..) => false,
    }
}

fn is_branched(store: &Store, node: Node) -> bool {
    match node {
        Node::Unary(f, _) => f.identities().branched,
        Node::Binary(f, ..) => f.is_branched(),
        Node::Pow(_, b) => store.small_integer(b).is_none(),
        Node::If(..) | Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => true,
        _ => false,
    }
}
