//! Expressions as quotients of polynomials.

use num_traits::{One, Signed, ToPrimitive};
use rustc_hash::FxHashMap;

use super::atoms::{Arguments, Atom, Atoms, is_periodic};
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};
use super::quotient::{Field, Quotient};
use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::math::Unary;

/// Sums that are kept as possible factors.
const MAX_CANDIDATES: usize = 24;
/// Powers of sums are written out up to this exponent.
const MAX_POWER: i64 = 12;

/// The field in which expressions are written, and their quotients there; `None` if one is too large.
pub(super) fn normal_form(
    g: &Graph,
    roots: &[Expr],
    arguments: Arguments,
    budget: usize,
) -> Option<NormalForm> {
    let live = g.live(roots);
    let atoms = Atoms::new(g, &live, arguments)?;
    let field = Field { atoms, factors: Vec::new(), budget: Budget(budget) };
    let mut reader = Reader { g, field, known: FxHashMap::default() };
    for &x in &live {
        let value = reader.node(x)?;
        reader.known.insert(x, value);
    }
    let sums = candidates(&reader.known, &live);
    let differences = differences(&reader.known, &live);
    let values = roots.iter().map(|e| reader.known.get(e).cloned()).collect::<Option<_>>()?;
    Some(NormalForm { field: reader.field, values, sums, differences })
}

/// Expressions as quotients of polynomials.
pub(super) struct NormalForm {
    pub(super) field: Field,
    pub(super) values: Vec<Quotient>,
    /// Sums that the expressions were written with.
    pub(super) sums: Vec<Polynomial>,
    /// Differences as they were written, without common factors.
    pub(super) differences: Vec<Polynomial>,
}

impl NormalForm {
    /// Whether some sine or cosine is that of an even multiple.
    pub(super) fn has_multiple_angles(&self) -> bool {
        self.field.atoms.list.iter().any(|atom| match atom {
            Atom::Cos(angle) | Atom::Sin(angle) => angle.multiples.iter().all(|&(g, n)| {
                n % 2 == 0 || self.field.atoms.generators[g].unit.numer() % 2 == 0
            }),
            Atom::Node(_) | Atom::Tan(_) | Atom::Exp(_) | Atom::Root(_) => false,
        })
    }

    /// Takes the sines out of all values that divide each of them, also where $s^2$ is written as $1 - c^2$.
    pub(super) fn take_sines(&mut self) -> Vec<u32> {
        /// Longer values are left as they are.
        const MOST: usize = 60;
        let mut found = Vec::new();
        let mut atoms: Vec<u32> = Vec::new();
        for q in &self.values {
            if q.above.len() > MOST {
                return found;
            }
            atoms.extend(q.above.atoms());
        }
        atoms.sort_unstable();
        atoms.dedup();
        for sine in atoms {
            let Atom::Sin(_) = self.field.atoms.atom(sine) else { continue };
            let least = |p: &Polynomial| p.terms().map(|(m, _)| m.exponent(sine)).min();
            // NOTE: what all terms have as they stand is found with the other factors.
            if self.values.iter().all(|q| least(&q.above).is_none_or(|n| n != 0)) {
                continue;
            }
            let mut without = |q: &Quotient| {
                if q.above.is_zero() {
                    return Some(q.clone());
                }
                if least(&q.above)? < 0 {
                    return None;
                }
                let inverse = Monomial::atom(sine, -1);
                let above = q.above.times_term(&inverse, &Coefficient::one())?;
                let below = q.below.clone();
                let divided = self.field.cancelled(Quotient { above, below })?;
                (least(&divided.above)? >= 0).then_some(divided)
            };
            let all: Option<Vec<Quotient>> = self.values.iter().map(&mut without).collect();
            if let Some(all) = all {
                self.values = all;
                found.push(sine);
            }
        }
        found
    }

    /// Takes the sums of certain atoms out of all values that divide each of them, or that all have below; with their
    /// powers.
    pub(super) fn take_common_sums(
        &mut self,
        is_taken: &dyn Fn(&Field, u32) -> bool,
    ) -> Vec<(Polynomial, i64)> {
        /// Longer values are left as they are.
        const MOST: usize = 60;
        let mut found = Vec::new();
        let is_short = self.values.iter().all(|q| q.above.len() <= MOST);
        if !is_short {
            return found;
        }
        let of_taken =
            |p: &Polynomial, field: &Field| p.atoms().into_iter().all(|a| is_taken(field, a));
        let mut sums = self.sums.clone();
        sums.retain(|s| of_taken(s, &self.field));
        for sum in sums {
            // NOTE: also what is divided by may be zero somewhere, as for coordinates: there the limit counts.
            let mut n = 0;
            loop {
                let divided = |q: &Quotient, budget: &mut Budget| {
                    let above = q.above.divided_by(&sum, budget)?;
                    Some(Quotient { above, below: q.below.clone() })
                };
                let budget = &mut self.field.budget;
                let all: Option<Vec<Quotient>> =
                    self.values
                        .iter()
                        .map(|q| {
                            if q.above.is_zero() { Some(q.clone()) } else { divided(q, budget) }
                        })
                        .collect();
                let Some(all) = all.filter(|_| self.values.iter().any(|q| !q.above.is_zero()))
                else {
                    break;
                };
                self.values = all;
                n += 1;
            }
            if n > 0 {
                found.push((sum, n));
            }
        }
        for f in 0..self.field.factors.len() {
            let own = self.values.iter().filter(|q| !q.above.is_zero());
            let least = own.map(|q| q.below.get(&f).copied().unwrap_or(0)).min().unwrap_or(0);
            if least > 0 && of_taken(&self.field.factors[f], &self.field) {
                for q in &mut self.values {
                    if let Some(n) = q.below.get_mut(&f) {
                        *n -= least;
                    }
                }
                found.push((self.field.factors[f].clone(), -i64::from(least)));
            }
        }
        found
    }
}

struct Reader<'a> {
    g: &'a Graph,
    field: Field,
    known: FxHashMap<Expr, Quotient>,
}

impl Reader<'_> {
    fn node(&mut self, e: Expr) -> Option<Quotient> {
        let of = |a: Expr| self.known.get(&a).cloned();
        match self.g.node(e) {
            Node::Number(_) => {
                let value = self.g.number_of(e)?;
                let (n, d) = (value.numer().to_i128()?, value.denom().to_i128()?);
                Some(Quotient::of(Polynomial::number(Coefficient::new(n, d))))
            }
            Node::Neg(a) => {
                let Quotient { above, below } = of(a)?;
                Some(Quotient { above: above.opposite(), below })
            }
            Node::Add(a, b) => self.field.plus(&of(a)?, &of(b)?),
            Node::Sub(a, b) => {
                let Quotient { above, below } = of(b)?;
                self.field.plus(&of(a)?, &Quotient { above: above.opposite(), below })
            }
            Node::Mul(a, b) => self.field.times(&of(a)?, &of(b)?),
            Node::Div(a, b) => {
                let inverse = self.field.inverse(&of(b)?)?;
                self.field.times(&of(a)?, &inverse)
            }
            Node::Pow(a, b) => self.power(e, a, b),
            Node::Unary(f, a) => self.function(e, f, a),
            _ => Some(self.opaque(e)),
        }
    }

    fn opaque(&mut self, e: Expr) -> Quotient {
        let atom = self.field.atoms.number(Atom::Node(e));
        Quotient::of(Polynomial::atom(atom))
    }

    fn power(&mut self, e: Expr, a: Expr, b: Expr) -> Option<Quotient> {
        let exponent = self.g.number_of(b);
        let halves =
            exponent.and_then(|n| (n * crate::number::integer(2)).to_integer_exactly());
        let Some(halves) = halves.filter(|n| n.abs() <= 2 * MAX_POWER) else {
            return Some(self.opaque(e));
        };
        let base = self.known.get(&a)?.clone();
        if halves % 2 == 0 {
            return self.whole_power(&base, halves / 2);
        }
        match self.root(&base) {
            Some(root) => self.whole_power(&root, halves),
            None => Some(self.opaque(e)),
        }
    }

    fn whole_power(&mut self, base: &Quotient, n: i64) -> Option<Quotient> {
        let base = if n < 0 { self.field.inverse(base)? } else { base.clone() };
        let mut power = Quotient::of(Polynomial::one());
        for _ in 0..n.abs() {
            power = self.field.times(&power, &base)?;
        }
        Some(power)
    }

    /// $\sqrt X$ of a polynomial.
    fn root(&mut self, of: &Quotient) -> Option<Quotient> {
        if !of.below.is_empty() || of.above.is_zero() {
            return None;
        }
        let atom = self.field.atoms.number(Atom::Root(of.above.clone()));
        Some(Quotient::of(Polynomial::atom(atom)))
    }

    fn function(&mut self, e: Expr, f: Unary, a: Expr) -> Option<Quotient> {
        let hyperbolic = matches!(f, Unary::Sinh | Unary::Cosh | Unary::Tanh);
        let field = &mut self.field;
        match f {
            Unary::Sqrt => {
                let base = self.known.get(&a)?.clone();
                return Some(self.root(&base).unwrap_or_else(|| self.opaque(e)));
            }
            Unary::Exp => {
                let power = field.atoms.exponential(self.g, a);
                return Some(power.map_or_else(|| self.opaque(e), Quotient::of));
            }
            _ if !is_periodic(f) => return Some(self.opaque(e)),
            _ => {}
        }
        let point = field.atoms.cos_and_sin(self.g, a, hyperbolic, &mut field.budget);
        let Some((cos, sin)) = point else { return Some(self.opaque(e)) };
        match f {
            Unary::Sin | Unary::Sinh => Some(Quotient::of(sin)),
            Unary::Cos | Unary::Cosh => Some(Quotient::of(cos)),
            _ => {
                let inverse = field.inverse(&Quotient::of(cos))?;
                field.times(&Quotient::of(sin), &inverse)
            }
        }
    }
}

/// Whole numbers of machine size.
trait ToIntegerExactly {
    fn to_integer_exactly(&self) -> Option<i64>;
}

impl ToIntegerExactly for crate::Rational {
    fn to_integer_exactly(&self) -> Option<i64> {
        if self.is_integer() { self.numer().to_i64() } else { None }
    }
}

/// The sums of an expression that may divide its polynomial.
fn candidates(known: &FxHashMap<Expr, Quotient>, order: &[Expr]) -> Vec<Polynomial> {
    let mut sums: Vec<Polynomial> = Vec::new();
    for e in order {
        let Some(q) = known.get(e).filter(|q| q.below.is_empty()) else { continue };
        if (2..=8).contains(&q.above.len())
            && let Some(sum) = q.above.stripped()
            && !sums.contains(&sum)
        {
            sums.push(sum);
        }
    }
    // The longest first: what is found in them is then found in the quotient.
    sums.sort_by_key(|s| std::cmp::Reverse(s.len()));
    sums.truncate(MAX_CANDIDATES);
    sums
}

/// Differences in the direction in which they are written first.
fn differences(known: &FxHashMap<Expr, Quotient>, order: &[Expr]) -> Vec<Polynomial> {
    let mut found: Vec<Polynomial> = Vec::new();
    for e in order {
        let Some(q) = known.get(e).filter(|q| q.below.is_empty()) else { continue };
        let signs = || q.above.terms().map(|(_, k)| k.is_negative());
        let is_mixed = signs().any(|s| s) && signs().any(|s| !s);
        if !(2..=4).contains(&q.above.len()) || !is_mixed || found.len() == MAX_CANDIDATES {
            continue;
        }
        let Some(stripped) = q.above.stripped() else { continue };
        let is_last_negative = signs().next_back() == Some(true);
        let written = if is_last_negative { stripped.opposite() } else { stripped.clone() };
        if !found.contains(&stripped) && !found.contains(&stripped.opposite()) {
            found.push(written);
        }
    }
    found
}
