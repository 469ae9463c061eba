//! The value of an expression at a random point of $\mathbb F_{p^2}$, with the identities of the functions built in.
//!
//! An argument is a sum of monomials, and each monomial $m$ gets a random unit for $e^{m/D}$ and a random point
//! of the circle for $e^{im/D}$, $D = 5040$. Sums of angles, multiple and half angles, products of powers are
//! then exact: an identity of these kinds vanishes, and anything else vanishes with probability about $1/p$.
//! Signs, roots and comparisons follow the Legendre symbol, which is multiplicative and odd as the sign of a real
//! number is, but knows nothing of sums: they take a random branch at each point.

use num_traits::{Signed, ToPrimitive};
use rustc_hash::FxHashMap;

use super::compared_with_zero;
use super::form::{Atom, Monomial, MonomialSum, MonomialSums, prime_factors};
use super::interval::Signs;
use super::quadratic::{HALF, I, ONE, Z, ZERO, turn};
use crate::graph::field;
use crate::graph::node::{Expr, Node, Relation};
use crate::graph::number::Rational;
use crate::graph::store::Store;

/// $e^{m/D}$ is what is random.
const D: i64 = 5040;

/// The value of the last node at one point, and the signs that were taken on the way.
pub(super) struct ModularSample {
    pub(super) value: Z,
    /// What was compared with zero, by node, and its sign.
    pub(super) signs: Vec<(Expr, i8)>,
}

/// Storage for the values at one point, used again for the next.
#[derive(Default)]
pub(super) struct ModularBuffer(Vec<Z>);

/// Everything that is the same at all points.
pub(super) struct ModularProblem<'a> {
    pub(super) store: &'a Store,
    pub(super) live: &'a [Expr],
    pub(super) forms: &'a MonomialSums,
    /// Signs that hold for all real values of the symbols.
    pub(super) known: &'a Signs,
}

impl ModularProblem<'_> {
    /// The value at the point that belongs to a seed; `None` where the field lacks a root or a denominator vanishes.
    pub(super) fn sample(&self, seed: u64, room: &mut ModularBuffer) -> Option<ModularSample> {
        let point = self.point(seed, room)?;
        let root = self.live.last()?;
        Some(ModularSample { value: point.values[root.index()], signs: point.signs })
    }

    /// The values of several nodes at one point.
    pub(super) fn values(
        &self,
        seed: u64,
        nodes: &[Expr],
        room: &mut ModularBuffer,
    ) -> Option<Vec<Z>> {
        let point = self.point(seed, room)?;
        Some(nodes.iter().map(|e| point.values[e.index()]).collect())
    }

    fn point<'a>(&'a self, seed: u64, room: &'a mut ModularBuffer) -> Option<FieldPoint<'a>> {
        room.0.resize(self.live.last().map_or(0, |e| e.index() + 1), ZERO);
        let mut point = FieldPoint {
            problem: self,
            seed: field::random(seed ^ 0x5eed),
            values: &mut room.0,
            exponentials: FxHashMap::default(),
            circles: FxHashMap::default(),
            signs: Vec::new(),
        };
        for &e in self.live {
            let value = point.node(e)?;
            point.values[e.index()] = value;
        }
        Some(point)
    }
}

/// A point at which an expression is evaluated.
pub(crate) struct FieldPoint<'a> {
    problem: &'a ModularProblem<'a>,
    seed: u64,
    /// By the position of the node in its graph.
    values: &'a mut [Z],
    exponentials: FxHashMap<Z, Z>,
    circles: FxHashMap<Z, Z>,
    signs: Vec<(Expr, i8)>,
}

/// Sine and cosine of an argument.
pub(crate) struct Circle {
    pub(crate) sin: Z,
    pub(crate) cos: Z,
}

/// Hyperbolic sine and cosine of an argument.
pub(crate) struct Hyperbola {
    pub(crate) sinh: Z,
    pub(crate) cosh: Z,
}

/// An argument $a = x + k$ with a whole number $k$ taken out.
struct Shifted {
    x: Z,
    /// $\Gamma(a)/\Gamma(x)$
    factor: Z,
    /// $\sum_{j=0}^{k-1}(x + j)^{-n-1}$
    sum: Z,
}

impl FieldPoint<'_> {
    fn node(&mut self, e: Expr) -> Option<Z> {
        let store = self.problem.store;
        let v = |o: Expr| self.values[o.index()];
        let truth = |holds: bool| if holds { ONE } else { ZERO };
        Some(match store.node(e) {
            Node::Number(n) => Z(store.numbers.residue(n), 0),
            Node::Pi => Z::random(self.seed ^ 0x314_159),
            Node::Symbol(s) => Z::random(self.seed ^ field::random(0x51_0000 + u64::from(s))),
            Node::Neg(a) => v(a).opposite(),
            Node::Add(a, b) => v(a).plus(v(b)),
            Node::Sub(a, b) => v(a).minus(v(b)),
            Node::Mul(a, b) => v(a).times(v(b)),
            Node::Div(a, b) => v(a).over(v(b))?,
            Node::Pow(a, b) => return self.power(e, a, b),
            Node::Unary(f, a) => return f.modular(self, e, a),
            Node::Binary(f, a, b) => return f.modular(self, e, a, b),
            Node::MittagLeffler(a, b, z) => self.opaque(0x171, &[v(a), v(b), v(z)]),
            Node::If(c, a, b) => {
                if v(c) == ZERO {
                    v(b)
                } else {
                    v(a)
                }
            }
            Node::Compare(Relation::Equal, a, b) => truth(v(a) == v(b)),
            Node::Compare(Relation::NotEqual, a, b) => truth(v(a) != v(b)),
            Node::Compare(r, a, b) => {
                let difference = v(b).minus(v(a));
                let sign = self.sign(e, difference);
                truth(sign > 0 || (sign == 0 && r == Relation::LessEqual))
            }
            Node::Not(a) => truth(v(a) == ZERO),
            Node::And(a, b) => truth(v(a) != ZERO && v(b) != ZERO),
            Node::Or(a, b) => truth(v(a) != ZERO || v(b) != ZERO),
            Node::Table { table, order, argument } => {
                let name = Z(u64::from(table), u64::from(order));
                self.opaque(0x7ab, &[name, v(argument)])
            }
            Node::List(a, b) => self.opaque(0x115, &[v(a), v(b)]),
            Node::Family { family, part, list } => {
                let name = Z(u64::from(family), u64::from(part));
                self.opaque(0xfa3, &[name, v(list)])
            }
            // NOTE: a memory operator sees the whole past, so its value hangs on the handles.
            Node::Memory(kind, a, b) => {
                self.opaque(0x3e0 + kind as u64, &[Z(a.index() as u64, b.index() as u64)])
            }
        })
    }

    /// A random number that depends on these values alone.
    pub(crate) fn opaque(&self, tag: u64, parts: &[Z]) -> Z {
        let start = field::random(self.seed ^ field::random(tag));
        Z::random(parts.iter().fold(start, |h, x| field::random(h ^ x.seed().rotate_left(17))))
    }

    /// The sign of what is compared with zero at this node: the known one where it is the same everywhere.
    pub(crate) fn sign(&mut self, at: Expr, value: Z) -> i8 {
        let sign = match (value.sign(), self.problem.known.get(&at)) {
            (1 | -1, Some(&known)) => known,
            (random, _) => random,
        };
        self.signs.push((at, sign));
        sign
    }

    /// $x$ without a positive number in front, and that number.
    fn content(&self, x: Expr) -> (Option<Rational>, Z) {
        let store = self.problem.store;
        if let Node::Mul(k, y) = store.node(x)
            && let Some(k) = store.exact(k).filter(|k| k.is_positive())
        {
            return (Some(k.clone()), self.values[y.index()]);
        }
        (None, self.values[x.index()])
    }

    pub(crate) fn signed(&mut self, e: Expr, a: Expr) -> Z {
        let (_, value) = self.content(a);
        match self.sign(e, value) {
            0 => ZERO,
            1 => ONE,
            _ => ONE.opposite(),
        }
    }

    pub(crate) fn root(&mut self, e: Expr, a: Expr) -> Option<Z> {
        let store = self.problem.store;
        if let Some(u) = compared_with_zero(store, store.node(e))
            && let Node::Pow(_, n) = store.node(a)
        {
            // √u²ᵐ = |u|ᵐ
            let size = self.signed(e, u).times(self.values[u.index()]);
            return size.whole_power(store.small_integer(n)? / 2);
        }
        if let Some(number) = store.exact(a) {
            return number_power(number, 1, 2);
        }
        let (k, rest) = self.content(a);
        let root = rest.root()?;
        match k {
            Some(k) => Some(root.times(number_power(&k, 1, 2)?)),
            None => Some(root),
        }
    }

    fn power(&mut self, e: Expr, a: Expr, b: Expr) -> Option<Z> {
        let store = self.problem.store;
        if let Some(n) = store.small_integer(b) {
            return self.values[a.index()].whole_power(n);
        }
        match self.problem.forms.exponent(e) {
            Some(form) => self.exponential(form),
            None => Some(self.opaque(0x90, &[self.values[a.index()], self.values[b.index()]])),
        }
    }

    /// The value of a node that comes before the present one.
    pub(crate) fn value(&self, e: Expr) -> Z {
        self.values[e.index()]
    }

    /// The whole number, if the expression is a small one.
    pub(crate) fn small_integer(&self, e: Expr) -> Option<i64> {
        self.problem.store.small_integer(e)
    }

    /// $\sin a$ and $\cos a$
    pub(crate) fn circle_of(&mut self, a: Expr) -> Option<Circle> {
        let z = self.circle(self.problem.forms.argument(a)?)?;
        let (sine, cos) = halves(z)?;
        Some(Circle { sin: sine.over(I)?, cos })
    }

    /// $\sinh a$ and $\cosh a$
    pub(crate) fn hyperbola_of(&mut self, a: Expr) -> Option<Hyperbola> {
        let (sinh, cosh) = halves(self.exponential_of(a)?)?;
        Some(Hyperbola { sinh, cosh })
    }

    /// $e^a$
    pub(crate) fn exponential_of(&mut self, a: Expr) -> Option<Z> {
        self.exponential(self.problem.forms.argument(a)?)
    }

    /// $\log a$
    pub(crate) fn logarithm_of(&self, a: Expr) -> Option<Z> {
        self.form_value(self.problem.forms.log(a)?)
    }

    /// $\theta$ where the node is an inverse function of the circle.
    pub(crate) fn inverse_of_circle(&mut self, e: Expr) -> Option<Z> {
        let z = self.direction(e)??;
        self.angle(z)
    }

    /// A random number that depends on this value alone, and changes its sign with it.
    pub(crate) fn odd_opaque(&self, tag: u64, x: Z) -> Z {
        let opposite = x.opposite();
        let value = self.opaque(tag, &[x.min(opposite)]);
        if x < opposite { value } else { value.opposite() }
    }

    /// $e^{i\theta}$ for an inverse function $\theta$ of the circle; outside `None` for other nodes, inside
    /// where the field lacks a root.
    fn direction(&self, e: Expr) -> Option<Option<Z>> {
        let parts = match self.problem.store.node(e) {
            Node::Unary(f, a) => f.identities().direction?(self.value(a)),
            Node::Binary(f, a, b) => f.direction()?(self.value(a), self.value(b)),
            _ => return None,
        };
        Some(parts.and_then(|[x, y]| {
            let length = x.times(x).plus(y.times(y)).root()?;
            x.plus(I.times(y)).over(length)
        }))
    }

    /// $\theta$ from $e^{i\theta}$: quarter turns and reflections are exact, the rest is random.
    fn angle(&mut self, z: Z) -> Option<Z> {
        let quarter = Z::random(self.seed ^ 0x314_159).times(HALF);
        let mut best = (z, 0_u32, false);
        let mut turned = z;
        for k in 0..4 {
            // turned = z i^{−k}
            for (w, flipped) in [(turned, false), (turned.inverse()?, true)] {
                if w < best.0 {
                    best = (w, k, flipped);
                }
            }
            turned = turned.over(I)?;
        }
        let (w, k, flipped) = best;
        // A turn by more than half is one the other way round.
        let turns = [ZERO, ONE, ONE.plus(ONE), ONE.opposite()][k as usize];
        let base = if w == ONE { ZERO } else { self.opaque(0xa17, &[w]) };
        let base = if flipped { base.opposite() } else { base };
        Some(base.plus(turns.times(quarter)))
    }

    /// $\Gamma(a)$ with whole numbers in the argument taken out by recurrence.
    pub(crate) fn gamma_of(&mut self, a: Expr) -> Option<Z> {
        let Shifted { x, factor, .. } = self.shifted(0, a)?;
        let base = if x == HALF {
            Z::random(self.seed ^ 0x314_159).root()?
        } else {
            self.opaque(0x6a, &[x])
        };
        Some(base.times(factor))
    }

    /// $\psi^{(n)}(a)$ in the same way, $\psi$ itself for $n = 0$.
    pub(crate) fn polygamma_of(&mut self, n: i64, a: Expr) -> Option<Z> {
        let Shifted { x, sum, .. } = self.shifted(n, a)?;
        // ψ⁽ⁿ⁾(x+1) = ψ⁽ⁿ⁾(x) + (−1)ⁿ n! x^{−n−1}
        let factorial = (1..=n).fold(1, |p, k| field::mul(p, k as u64));
        let scale = Z(if n % 2 == 0 { factorial } else { field::neg(factorial) }, 0);
        Some(self.opaque(0xd16, &[Z(n as u64, 0), x]).plus(scale.times(sum)))
    }

    fn shifted(&self, n: i64, a: Expr) -> Option<Shifted> {
        let mut x = self.values[a.index()];
        let constant = self.problem.forms.argument(a).and_then(|form| {
            form.0.iter().find(|(m, _)| m.is_empty()).map(|(_, r)| r.floor().to_integer())
        });
        let shift = constant.and_then(|c| c.to_i64()).filter(|c| c.abs() <= 40).unwrap_or(0);
        let (mut factor, mut sum) = (ONE, ZERO);
        let term = |x: Z| x.whole_power(-n - 1);
        for _ in 0..shift.max(0) {
            x = x.minus(ONE);
            factor = factor.times(x);
            sum = sum.plus(term(x)?);
        }
        for _ in 0..(-shift).max(0) {
            factor = factor.over(x)?;
            sum = sum.minus(term(x)?);
            x = x.plus(ONE);
        }
        Some(Shifted { x, factor, sum })
    }

    fn atom(&self, atom: Atom) -> Z {
        match atom {
            Atom::Node(e) => self.values[e.index()],
            Atom::Log(e) => self.opaque(0x106, &[self.values[e.index()]]),
            Atom::LogPrime(p) => self.opaque(0x107, &[Z(p, 0)]),
        }
    }

    fn monomial(&self, monomial: &Monomial) -> Option<Z> {
        monomial.iter().try_fold(ONE, |p, &(a, n)| Some(p.times(self.atom(a).whole_power(n)?)))
    }

    fn form_value(&self, form: &MonomialSum) -> Option<Z> {
        form.0.iter().try_fold(ZERO, |sum, (m, r)| {
            Some(sum.plus(self.monomial(m)?.times(Z(field::residue(r), 0))))
        })
    }

    /// $e^{f}$
    fn exponential(&mut self, form: &MonomialSum) -> Option<Z> {
        let total = self.form_value(form)?;
        if let Some(&known) = self.exponentials.get(&total) {
            return Some(known);
        }
        let mut result = ONE;
        for (m, r) in &form.0 {
            let factor = match m[..] {
                [(Atom::Log(x), 1)] => self.values[x.index()]
                    .rational_power(r.numer().to_i64()?, r.denom().to_u64()?)?,
                [(Atom::LogPrime(p), 1)] => number_power(
                    &Rational::from_integer(p.into()),
                    r.numer().to_i64()?,
                    r.denom().to_u64()?,
                )?,
                _ => self.unit(m, r, Z::random, 0xe4e4)?,
            };
            result = result.times(factor);
        }
        self.exponentials.insert(total, result);
        self.exponentials.insert(total.opposite(), result.inverse()?);
        Some(result)
    }

    /// $e^{if}$
    fn circle(&mut self, form: &MonomialSum) -> Option<Z> {
        let total = self.form_value(form)?;
        if let Some(&known) = self.circles.get(&total) {
            return Some(known);
        }
        let store = self.problem.store;
        let mut result = ONE;
        for (m, r) in &form.0 {
            let fraction = r.numer().to_i64().zip(r.denom().to_u64());
            let exact = match (&m[..], fraction) {
                (&[(Atom::Node(x), 1)], Some((n, d))) => match store.node(x) {
                    Node::Pi => turn(n, d),
                    _ => match self.direction(x) {
                        Some(direction) => Some(direction?.rational_power(n, d)?),
                        None => None,
                    },
                },
                _ => None,
            };
            let factor = match exact {
                Some(z) => z,
                None => self.unit(m, r, Z::random_on_circle, 0xc19c)?,
            };
            result = result.times(factor);
        }
        self.circles.insert(total, result);
        self.circles.insert(total.opposite(), result.inverse()?);
        Some(result)
    }

    /// $e^{rm}$ as a power of the random unit of $m/D$; a denominator that does not divide $D$ is drawn into
    /// the monomial.
    fn unit(&self, m: &Monomial, r: &Rational, random: fn(u64) -> Z, tag: u64) -> Option<Z> {
        let denominator = r.denom().to_i64()?;
        let drawn = denominator / num_integer::gcd(denominator, D);
        let value = self.monomial(m)?.over(Z(drawn.unsigned_abs(), 0))?;
        let steps = r * Rational::from_integer(drawn.into()) * Rational::from_integer(D.into());
        let seed = field::random(self.seed ^ field::random(tag)) ^ value.seed();
        random(seed).whole_power(steps.to_integer().to_i64()?)
    }
}

/// $(z - 1/z)/2$ and $(z + 1/z)/2$.
fn halves(z: Z) -> Option<(Z, Z)> {
    let reciprocal = z.inverse()?;
    Some((z.minus(reciprocal).times(HALF), z.plus(reciprocal).times(HALF)))
}

/// $k^{n/d}$ through the prime factors, so that $\sqrt 2\sqrt 3 = \sqrt 6$.
fn number_power(k: &Rational, n: i64, d: u64) -> Option<Z> {
    match prime_factors(k) {
        Some(factors) => factors.into_iter().try_fold(ONE, |product, (prime, exponent)| {
            let root = Z(prime, 0).rational_power(1, d)?;
            Some(product.times(root.whole_power(exponent.checked_mul(n)?)?))
        }),
        None => Z(field::residue(k), 0).rational_power(n, d),
    }
}
