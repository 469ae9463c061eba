//! What polynomials are made of: symbols, sines and cosines of angles, exponentials, roots, and whatever else is
//! left as it is.
//!
//! An angle is $\sum_i n_i b_i x_i$ with whole $n_i$, where $b_i$ is the greatest number such that all multiples of
//! $x_i$ in the expression are whole ones of $b_i x_i$. In a reduced polynomial sines and roots have the exponents 0
//! and 1: $s^2 = 1 - c^2$, $S^2 = C^2 - 1$ (hyperbolic), $r^2 = X$ for $r = \sqrt X$.

use std::collections::BTreeMap;

use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};
use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::math::Unary;

/// Multiples of an angle are written by powers up to this one.
const MAX_MULTIPLE: i64 = 6;

/// The meaning of an atom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    /// A node of the expression: a symbol, $\pi$, or a function that has no rules here.
    Node(Expr),
    Cos(Angle),
    Sin(Angle),
    /// Sine by cosine, in written formulas only.
    Tan(Angle),
    /// $e^{b x}$ of a generator.
    Exp(usize),
    /// $\sqrt X$
    Root(Polynomial),
}

/// Multiples of generators, ascending; the first is positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Angle {
    pub(super) hyperbolic: bool,
    pub(super) multiples: Vec<(usize, i64)>,
}

impl Angle {
    /// The angle with its sign taken out: whether it was turned.
    pub(super) fn signed(hyperbolic: bool, mut multiples: Vec<(usize, i64)>) -> (Self, bool) {
        multiples.retain(|m| m.1 != 0);
        let turned = multiples.first().is_some_and(|m| m.1 < 0);
        if turned {
            multiples.iter_mut().for_each(|m| m.1 = -m.1);
        }
        (Self { hyperbolic, multiples }, turned)
    }

    /// $a + kb$
    pub(super) fn plus(&self, other: &Self, k: i64) -> Vec<(usize, i64)> {
        let mut sum: BTreeMap<usize, i64> = self.multiples.iter().copied().collect();
        for &(g, n) in &other.multiples {
            *sum.entry(g).or_insert(0) += k * n;
        }
        sum.into_iter().collect()
    }
}

/// A linear form of nodes, of which multiples are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Generator {
    /// Nodes and their coefficients.
    pub(super) form: Vec<(Expr, Coefficient)>,
    /// All multiples are whole ones of this.
    pub(super) unit: Coefficient,
}

/// How arguments of sines, cosines and exponentials are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    /// Each argument is one angle.
    Whole,
    /// A sum is several angles.
    Apart,
}

/// The atoms of some expressions.
#[derive(Debug)]
pub(super) struct Atoms {
    pub(super) list: Vec<Atom>,
    numbers: FxHashMap<Atom, u32>,
    arguments: Arguments,
    pub(super) generators: Vec<Generator>,
}

/// $\sum_i k_i x_i + r\pi$
#[derive(Clone, Debug, Default)]
struct LinearForm {
    terms: BTreeMap<Expr, Coefficient>,
    turns: Coefficient,
}

impl Atoms {
    /// Generators for all arguments among the nodes.
    pub(super) fn new(g: &Graph, live: &[Expr], arguments: Arguments) -> Option<Self> {
        let mut atoms = Self {
            list: Vec::new(),
            numbers: FxHashMap::default(),
            arguments,
            generators: Vec::new(),
        };
        for &e in live {
            if let Node::Unary(f, a) = g.node(e)
                && is_periodic(f)
            {
                for (form, k) in atoms.parts(&linear(g, a, arguments)?) {
                    atoms.register(form, k);
                }
            }
        }
        Some(atoms)
    }

    pub(super) fn number(&mut self, atom: Atom) -> u32 {
        if let Some(&known) = self.numbers.get(&atom) {
            return known;
        }
        let number = self.list.len() as u32;
        self.list.push(atom.clone());
        self.numbers.insert(atom, number);
        number
    }

    pub(super) fn atom(&self, number: u32) -> &Atom {
        &self.list[number as usize]
    }

    /// Sine and cosine of an angle, as atoms.
    pub(super) fn circle(&mut self, angle: &Angle) -> (u32, u32) {
        (self.number(Atom::Sin(angle.clone())), self.number(Atom::Cos(angle.clone())))
    }

    /// What an argument consists of: linear forms whose first coefficient is one, and their multiples.
    fn parts(&self, argument: &LinearForm) -> Vec<(Vec<(Expr, Coefficient)>, Coefficient)> {
        let terms = &argument.terms;
        match (self.arguments, terms.first_key_value()) {
            (_, None) => Vec::new(),
            (Arguments::Whole, Some((_, &first))) => {
                vec![(terms.iter().map(|(&e, k)| (e, k / first)).collect(), first)]
            }
            (Arguments::Apart, Some(_)) => {
                terms.iter().map(|(&e, &k)| (vec![(e, Coefficient::one())], k)).collect()
            }
        }
    }

    fn register(&mut self, form: Vec<(Expr, Coefficient)>, k: Coefficient) {
        match self.generators.iter_mut().find(|g| g.form == form) {
            Some(known) => {
                // gcd of fractions: that of the numerators over the least common denominator
                let (a, b) = (known.unit, k);
                let below = a.denom().lcm(b.denom());
                let above =
                    (a.numer() * (below / a.denom())).gcd(&(b.numer() * (below / b.denom())));
                known.unit = Coefficient::new(above, below);
            }
            // An even multiple may be a square in disguise: 1 − cos 2a = 2 sin² a.
            None => {
                let even = self.arguments == Arguments::Apart && k.numer() % 2 == 0;
                let unit = if even { k.abs() / Coefficient::from_integer(2) } else { k.abs() };
                self.generators.push(Generator { form, unit });
            }
        }
    }

    /// The multiples of generators that make an argument, and the turns by $\pi$; `None` where a multiple is large.
    fn multiples(&self, g: &Graph, argument: Expr) -> Option<(Vec<(usize, i64)>, Coefficient)> {
        let form = linear(g, argument, self.arguments)?;
        let mut multiples = Vec::new();
        for (part, k) in self.parts(&form) {
            let place = self.generators.iter().position(|g| g.form == part)?;
            let n = (k / self.generators[place].unit).to_integer().to_i64()?;
            if n.abs() > MAX_MULTIPLE {
                return None;
            }
            multiples.push((place, n));
        }
        Some((multiples, form.turns))
    }

    /// $\cos$ and $\sin$ of an argument, or their hyperbolic relatives, as reduced polynomials.
    pub(super) fn cos_and_sin(
        &mut self,
        g: &Graph,
        argument: Expr,
        hyperbolic: bool,
        budget: &mut Budget,
    ) -> Option<(Polynomial, Polynomial)> {
        let (multiples, turns) = self.multiples(g, argument)?;
        if hyperbolic && !turns.is_zero() {
            return None;
        }
        let mut point = self.constant(&turns)?;
        for (generator, n) in multiples {
            let (angle, _) = Angle::signed(hyperbolic, vec![(generator, 1)]);
            let (s, c) = self.circle(&angle);
            let mut s = Polynomial::atom(s);
            if n < 0 {
                s = s.opposite();
            }
            let unit = (Polynomial::atom(c), s);
            for _ in 0..n.abs() {
                point = self.turned(&point, &unit, hyperbolic, budget)?;
            }
        }
        Some(point)
    }

    /// $\cos(a+b)$, $\sin(a+b)$
    fn turned(
        &self,
        (c, s): &(Polynomial, Polynomial),
        (d, t): &(Polynomial, Polynomial),
        hyperbolic: bool,
        budget: &mut Budget,
    ) -> Option<(Polynomial, Polynomial)> {
        let mut both = s.times(t, budget)?;
        if !hyperbolic {
            both = both.opposite();
        }
        let cos = c.times(d, budget)?.plus(&both)?;
        let sin = s.times(d, budget)?.plus(&c.times(t, budget)?)?;
        Some((self.reduced(cos, budget)?, self.reduced(sin, budget)?))
    }

    /// $\cos r\pi$, $\sin r\pi$ for multiples of $\pi/6$ and $\pi/4$.
    fn constant(&mut self, turns: &Coefficient) -> Option<(Polynomial, Polynomial)> {
        let twelfths = turns * Coefficient::from_integer(12);
        if !twelfths.is_integer() {
            return None;
        }
        let k = twelfths.to_integer().rem_euclid(24) as usize;
        let root = |atoms: &mut Self, n: i128| {
            let X = Polynomial::number(Coefficient::from_integer(n));
            let r = atoms.number(Atom::Root(X));
            Polynomial::term(Monomial::atom(r, 1), Coefficient::new(1, 2))
        };
        let mut quarter = |k: usize| -> Option<Polynomial> {
            // sin(kπ/12) for 0 ≤ k ≤ 6
            Some(match k {
                0 => Polynomial::zero(),
                2 => Polynomial::number(Coefficient::new(1, 2)),
                3 => root(self, 2),
                4 => root(self, 3),
                6 => Polynomial::one(),
                _ => return None,
            })
        };
        let mut sine = |k: usize| {
            let (half, rest) = (k / 12 % 2, k % 12);
            let value = quarter(if rest > 6 { 12 - rest } else { rest })?;
            Some(if half == 1 { value.opposite() } else { value })
        };
        Some((sine(k + 6)?, sine(k)?))
    }

    /// $e^a$ as a product of powers.
    pub(super) fn exponential(&mut self, g: &Graph, argument: Expr) -> Option<Polynomial> {
        let (multiples, turns) = self.multiples(g, argument)?;
        if !turns.is_zero() {
            return None;
        }
        let mut product = Monomial::one();
        for (generator, n) in multiples {
            let atom = self.number(Atom::Exp(generator));
            product = product.times(&Monomial::atom(atom, n.to_i32()?));
        }
        Some(Polynomial::term(product, Coefficient::one()))
    }

    /// What the square of an atom is, for sines and roots.
    pub(super) fn square(&self, atom: u32) -> Option<Polynomial> {
        match self.atom(atom) {
            Atom::Root(X) => Some(X.clone()),
            Atom::Sin(angle) => {
                let cos = *self.numbers.get(&Atom::Cos(angle.clone()))?;
                let one =
                    if angle.hyperbolic { -Coefficient::one() } else { Coefficient::one() };
                let mut square = Polynomial::number(one);
                square.add_term(Monomial::atom(cos, 2), &-one)?;
                Some(square)
            }
            Atom::Node(_) | Atom::Cos(_) | Atom::Tan(_) | Atom::Exp(_) => None,
        }
    }

    /// The polynomial with squares of sines and roots written out.
    pub(super) fn reduced(&self, p: Polynomial, budget: &mut Budget) -> Option<Polynomial> {
        let mut p = p;
        for atom in p.atoms() {
            if p.terms().all(|(m, _)| m.exponent(atom) < 2) {
                continue;
            }
            let Some(square) = self.square(atom) else { continue };
            let mut sum = Polynomial::zero();
            for (n, part) in p.by_power(atom) {
                let mut part = part;
                for _ in 0..n.max(0) / 2 {
                    part = part.times(&square, budget)?;
                }
                let rest = if n < 0 { n } else { n % 2 };
                let part = part.times_term(&Monomial::atom(atom, rest), &Coefficient::one())?;
                sum = sum.plus(&part)?;
            }
            p = sum;
        }
        let is_done = p
            .terms()
            .all(|(m, _)| m.factors().iter().all(|&(a, n)| n < 2 || self.square(a).is_none()));
        if is_done { Some(p) } else { self.reduced(p, budget) }
    }
}

/// Whether sums in the argument of a function can be taken apart.
pub(super) fn is_periodic(f: Unary) -> bool {
    matches!(
        f,
        Unary::Sin
            | Unary::Cos
            | Unary::Tan
            | Unary::Sinh
            | Unary::Cosh
            | Unary::Tanh
            | Unary::Exp
    )
}

/// An argument as a sum of multiples of nodes.
fn linear(g: &Graph, argument: Expr, arguments: Arguments) -> Option<LinearForm> {
    let mut form = LinearForm::default();
    let mut circle = None;
    let mut stack = vec![(argument, Coefficient::one())];
    while let Some((e, k)) = stack.pop() {
        if k.numer().abs() > 1 << 40 || *k.denom() > 1 << 40 || form.terms.len() > 24 {
            return None;
        }
        let number = |e: Expr| {
            let k = g.number_of(e)?;
            Some(Coefficient::new(k.numer().to_i128()?, k.denom().to_i128()?))
        };
        match g.node(e) {
            Node::Add(a, b) => stack.extend([(b, k), (a, k)]),
            Node::Sub(a, b) => stack.extend([(b, -k), (a, k)]),
            Node::Neg(a) => stack.push((a, -k)),
            Node::Mul(a, b) if g.number_of(a).is_some() => {
                let factor = number(a).filter(|n| n.numer().abs() < 1 << 40)?;
                stack.push((b, k * factor));
            }
            Node::Div(a, b) if number(b).is_some_and(|n| !n.is_zero()) => {
                let factor = number(b).filter(|n| n.numer().abs() < 1 << 40)?;
                stack.push((a, k / factor));
            }
            Node::Pi => {
                circle = Some(e);
                form.turns += k;
            }
            _ => *form.terms.entry(e).or_insert_with(Coefficient::zero) += k,
        }
    }
    form.terms.retain(|_, k| !k.is_zero());
    let by = |n: i128| (form.turns * Coefficient::from_integer(n)).is_integer();
    // An angle that is written with a part of a turn is kept, unless the part is one of quarters or stands alone.
    let exact = match arguments {
        Arguments::Whole if !form.terms.is_empty() => by(2),
        Arguments::Whole | Arguments::Apart => by(6) || by(4),
    };
    if let (false, Some(pi)) = (exact, circle) {
        let two = Coefficient::from_integer(2);
        form.terms.insert(pi, form.turns - (form.turns / two).trunc() * two);
        form.turns = Coefficient::zero();
    }
    Some(form)
}
