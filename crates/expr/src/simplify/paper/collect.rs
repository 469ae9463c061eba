//! A quotient of polynomials as the shortest of several formulas: factors taken out, terms grouped, squares of sines or
//! cosines, angles added.

use num_traits::{One, Signed};

use super::atoms::Atom;
use super::form::{Form, Leaf};
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};
use super::quotient::{Field, Quotient};
use super::trigonometry;

/// Longer sums are written as they are.
const MAX_GROUPED: usize = 60;
/// Sums that are tried as factors.
const MAX_CANDIDATES: usize = 24;
/// Divisions that look for a factor.
const DIVISION: usize = 3_000;

/// Writes quotients of a field; `leaf` says how an atom is written.
pub(super) struct Collector<'a> {
    pub(super) field: &'a mut Field,
    /// How the atoms are written, by number.
    pub(super) leaves: Vec<Leaf>,
    /// Says how a new atom is written.
    pub(super) leaf: &'a mut dyn FnMut(&Field, u32) -> Leaf,
    /// Sums that the expression was written with.
    pub(super) sums: Vec<Polynomial>,
    pub(super) work: Budget,
}

impl Collector<'_> {
    /// The shortest formula of a quotient: one fraction, or what the division gives and a rest.
    pub(super) fn quotient(&mut self, q: &Quotient) -> Form {
        let whole = self.fraction(q);
        let mut factors = q.below.iter();
        let (Some((&f, 1)), None) = (factors.next(), factors.next()) else { return whole };
        let divisor = self.field.factors[f].clone();
        let division = q.above.division(&divisor, &mut Budget(DIVISION));
        let Some((quotient, rest)) = division else { return whole };
        if quotient.is_zero() || rest.is_zero() {
            return whole;
        }
        let rest = self.fraction(&Quotient { above: rest, below: q.below.clone() });
        let quotient = self.fraction(&Quotient::of(quotient));
        let mut terms = Vec::new();
        for form in [quotient, rest] {
            match form {
                Form::Sum(more) => terms.extend(more),
                form => terms.push(form),
            }
        }
        let sum = Form::Sum(terms);
        if self.cost(&sum) < self.cost(&whole) { sum } else { whole }
    }

    fn fraction(&mut self, q: &Quotient) -> Form {
        let above = self.polynomial(&q.above);
        let mut whole = above;
        for (&f, &n) in &q.below {
            let factor = self.field.factors[f].clone();
            let (k, factors) = self.polynomial(&factor).parts();
            let n = n as i32;
            let powers: Vec<(Form, i32)> =
                factors.into_iter().map(|(f, m)| (f, -n * m)).collect();
            let k = (0..n).fold(Coefficient::one(), |p, _| p * k);
            whole = whole.times(Form::Product { coefficient: k.recip(), factors: powers });
        }
        self.finished(whole)
    }

    /// Roots with their squares as powers of halves, signs of denominators moved up, tangents.
    fn finished(&mut self, form: Form) -> Form {
        match form {
            Form::Leaf(_) => form,
            Form::Sum(terms) => {
                Form::Sum(terms.into_iter().map(|t| self.finished(t)).collect())
            }
            Form::Product { mut coefficient, factors } => {
                let mut made: Vec<(Form, i32)> = Vec::new();
                for (base, n) in factors {
                    let (mut base, mut n) = (self.finished(base), n);
                    if let Form::Leaf(leaf) = base
                        && let Atom::Root(X) = self.field.atoms.atom(leaf).clone()
                    {
                        let (k, inner) = self.polynomial(&X).parts();
                        // √X of a sum, which is not taken apart
                        if let ([(sum, 2)], true) = (&inner[..], k.is_one()) {
                            (base, n) = (sum.clone(), n / 2);
                        }
                    }
                    match made.iter_mut().find(|f| f.0 == base) {
                        Some(known) => known.1 += n,
                        None => made.push((base, n)),
                    }
                }
                made.retain(|f| f.1 != 0);
                self.tangents(&mut made);
                // −(a − b) = b − a
                if coefficient.is_negative()
                    && let Some((Form::Sum(terms), _)) =
                        made.iter_mut().find(|(f, n)| is_difference(f) && n % 4 == 2)
                {
                    for term in terms.iter_mut() {
                        *term = negated(term.clone());
                    }
                    coefficient = -coefficient;
                }
                Form::Product { coefficient, factors: Vec::new() }
                    .times(Form::Product { coefficient: Coefficient::one(), factors: made })
            }
        }
    }

    /// $s^n c^{-n} = \tan^n$
    fn tangents(&mut self, factors: &mut Vec<(Form, i32)>) {
        let is_sine = |f: &(Form, i32), field: &Field| match f.0 {
            Form::Leaf(l) => match field.atoms.atom(l) {
                Atom::Sin(angle) => Some(angle.clone()),
                _ => None,
            },
            _ => None,
        };
        let sines: Vec<_> = factors.iter().filter_map(|f| is_sine(f, self.field)).collect();
        for angle in sines {
            let (s, c) = self.field.atoms.circle(&angle);
            let power = |l: u32, factors: &[(Form, i32)]| {
                factors.iter().find(|f| f.0 == Form::Leaf(l)).map_or(0, |f| f.1)
            };
            let (n, m) = (power(s, factors), power(c, factors));
            if n * m >= 0 {
                continue;
            }
            let common = n.abs().min(m.abs()) * n.signum();
            let tangent = self.field.atoms.number(Atom::Tan(angle));
            self.know(tangent);
            for f in factors.iter_mut() {
                if f.0 == Form::Leaf(s) {
                    f.1 -= common;
                } else if f.0 == Form::Leaf(c) {
                    f.1 += common;
                }
            }
            factors.push((Form::Leaf(tangent), common));
            factors.retain(|f| f.1 != 0);
        }
    }

    fn know(&mut self, atom: u32) {
        for next in self.leaves.len() as u32..=atom {
            let leaf = (self.leaf)(self.field, next);
            self.leaves.push(leaf);
        }
    }

    fn cost(&self, form: &Form) -> usize {
        form.cost(&self.leaves)
    }

    /// The shortest formula of a reduced polynomial.
    fn polynomial(&mut self, p: &Polynomial) -> Form {
        if p.len() < 2 {
            return self.variant(p);
        }
        let plain = self.unfactored(p);
        match self.factored(p) {
            Some(product) if self.cost(&product) < self.cost(&plain) => product,
            _ => plain,
        }
    }

    fn term_of(&mut self, p: &Polynomial) -> Form {
        match p.as_term() {
            Some((m, k)) => self.term(m, *k),
            None => Form::number(Coefficient::from_integer(0)),
        }
    }

    fn term(&mut self, m: &Monomial, k: Coefficient) -> Form {
        if let Some(last) = m.factors().iter().map(|f| f.0).max() {
            self.know(last);
        }
        let factors = m.factors().iter().map(|&(a, n)| (Form::Leaf(a), 2 * n)).collect();
        match m.factors() {
            [(atom, 1)] if k.is_one() => Form::Leaf(*atom),
            _ => Form::Product { coefficient: k, factors },
        }
    }

    /// A product of polynomials, where one of the sums that are known divides it.
    fn factored(&mut self, p: &Polynomial) -> Option<Form> {
        if p.len() > MAX_GROUPED {
            return None;
        }
        let common = p.common_monomial();
        let (primitive, k) = p.primitive()?;
        let rest = primitive.times_term(&common.inverse(), &Coefficient::one())?;
        let mut candidates = self.sums.clone();
        for atom in rest.atoms() {
            if let Some((_, top)) = rest.by_power(atom).last_key_value()
                && let Some(sum) = top.stripped()
                && !candidates.contains(&sum)
            {
                candidates.push(sum);
            }
        }
        candidates.retain(|s| s.len() <= rest.len().max(2));
        for sum in candidates.into_iter().take(2 * MAX_CANDIDATES) {
            self.work.spend(rest.len() * sum.len())?;
            let plain = rest.divided_by(&sum, &mut Budget(DIVISION));
            let divided = match plain {
                Some(quotient) => Some(quotient),
                None if rest.len() <= 40 => self.field.divided(&rest, &sum),
                None => None,
            };
            let Some(quotient) = divided else { continue };
            if quotient.len() == 1 && rest.len() == sum.len() {
                continue;
            }
            let outer = self.term(&common, k);
            let product = self.polynomial(&quotient).times(self.unfactored(&sum));
            return Some(outer.times(product));
        }
        None
    }

    /// The shortest of the forms that trigonometry gives, each with its terms grouped.
    fn unfactored(&mut self, p: &Polynomial) -> Form {
        let mut best = self.variant(p);
        let mut least = self.cost(&best);
        if self.work.spend(20 * p.len()).is_none() {
            return best;
        }
        let angles = trigonometry::angles(&self.field.atoms, p);
        if angles.is_empty() {
            return best;
        }
        let mut consider = |this: &mut Self, q: &Polynomial| {
            let form = this.variant(q);
            let cost = this.cost(&form);
            let better = cost < least;
            if better {
                (best, least) = (form, cost);
            }
            better
        };
        let mut base = p.clone();
        for angle in &angles {
            let budget = &mut Budget(20_000);
            let Some(q) = trigonometry::by_sines(&mut self.field.atoms, &base, angle, budget)
            else {
                continue;
            };
            if q != base && consider(self, &q) {
                base = q;
            }
        }
        if let Some(q) = trigonometry::by_multiple_angles(&mut self.field.atoms, p)
            && q.len() <= p.len() + 8
        {
            consider(self, &q);
        }
        best
    }

    fn variant(&mut self, p: &Polynomial) -> Form {
        let paired = trigonometry::paired(&mut self.field.atoms, p);
        let form = self.grouped(&paired);
        match trigonometry::doubled(&mut self.field.atoms, &paired) {
            Some(doubled) if doubled != paired => {
                let other = self.grouped(&doubled);
                // Sines and cosines of one angle are read together.
                if self.cost(&other) < self.cost(&form) { other } else { form }
            }
            _ => form,
        }
    }

    /// The terms of a sum, with common factors taken out of all or of some.
    fn grouped(&mut self, p: &Polynomial) -> Form {
        if p.len() < 2 {
            return self.term_of(p);
        }
        let flat = self.flat(p);
        if p.len() > MAX_GROUPED || self.work.spend(p.len()).is_none() {
            return flat;
        }
        let mut best = flat;
        for shared in [strictly_common(p), p.common_monomial()] {
            let Some(form) = self.outside(p, &shared) else { continue };
            if self.cost(&form) < self.cost(&best) {
                best = form;
            }
        }
        if let Some(form) = self.partly(p)
            && self.cost(&form) < self.cost(&best)
        {
            best = form;
        }
        best
    }

    fn flat(&mut self, p: &Polynomial) -> Form {
        let terms: Vec<(Monomial, Coefficient)> =
            p.terms().rev().map(|(m, k)| (m.clone(), *k)).collect();
        Form::Sum(terms.iter().map(|(m, k)| self.term(m, *k)).collect())
    }

    /// A product of atoms and a number before the bracket.
    fn outside(&mut self, p: &Polynomial, shared: &Monomial) -> Option<Form> {
        let (_, k) = p.primitive()?;
        let k = if k.is_negative() && p.terms().any(|(_, k)| k.is_positive()) { -k } else { k };
        if shared.is_one() && k.is_one() && square_root(p).is_none() {
            return None;
        }
        let rest = p.times_term(&shared.inverse(), &k.recip())?;
        if let Some(root) = square_root(&rest) {
            let sum = self.flat(&root);
            return Some(self.term(shared, k).times(sum.clone()).times(sum));
        }
        let inner = match self.partly(&rest) {
            Some(form) => {
                let flat = self.flat(&rest);
                if self.cost(&form) < self.cost(&flat) { form } else { flat }
            }
            None => self.flat(&rest),
        };
        Some(self.term(shared, k).times(inner))
    }

    /// The terms with one atom in a bracket of their own, the others after them.
    fn partly(&mut self, p: &Polynomial) -> Option<Form> {
        let atoms = p.atoms();
        if p.len() < 3 || self.work.spend(p.len() * atoms.len()).is_none() {
            return None;
        }
        let mut best: Option<(usize, u32, bool)> = None;
        for atom in atoms {
            for above in [true, false] {
                let has = |m: &Monomial| {
                    let n = m.exponent(atom);
                    if above { n > 0 } else { n < 0 }
                };
                let count = p.terms().filter(|(m, _)| has(m)).count();
                if count < 2 || count == p.len() {
                    continue;
                }
                let mut part = Polynomial::zero();
                for (m, k) in p.terms().filter(|(m, _)| has(m)) {
                    part.add_term(m.clone(), k)?;
                }
                let shared = strictly_common(&part);
                let Some(inner) = part.times_term(&shared.inverse(), &Coefficient::one())
                else {
                    continue;
                };
                let before = self.flat(&part);
                let (_, content) = inner.primitive()?;
                let scaled = inner.times_term(&Monomial::one(), &content.recip())?;
                let after = self.term(&shared, content).times(self.flat(&scaled));
                let (before, after) = (self.cost(&before), self.cost(&after));
                let gain = before.saturating_sub(after);
                if gain > best.map_or(0, |b| b.0) {
                    best = Some((gain, atom, above));
                }
            }
        }
        let (_, atom, above) = best?;
        let (mut part, mut rest) = (Polynomial::zero(), Polynomial::zero());
        for (m, k) in p.terms() {
            let n = m.exponent(atom);
            let side =
                if (above && n > 0) || (!above && n < 0) { &mut part } else { &mut rest };
            side.add_term(m.clone(), k)?;
        }
        let mut terms = Vec::new();
        for side in [part, rest] {
            match self.grouped(&side) {
                Form::Sum(more) => terms.extend(more),
                form => terms.push(form),
            }
        }
        Some(Form::Sum(terms))
    }
}

/// What every term has above or every term has below.
fn strictly_common(p: &Polynomial) -> Monomial {
    let mut common = Monomial::one();
    for atom in p.atoms() {
        let powers = || p.terms().map(|(m, _)| m.exponent(atom));
        let (least, most) = (powers().min().unwrap_or(0), powers().max().unwrap_or(0));
        let n = if least > 0 {
            least
        } else if most < 0 {
            most
        } else {
            0
        };
        common = common.times(&Monomial::atom(atom, n));
    }
    common
}

/// $a \pm b$ for $a^2 \pm 2ab + b^2$
fn square_root(p: &Polynomial) -> Option<Polynomial> {
    if p.len() != 3 {
        return None;
    }
    let mut roots = Vec::new();
    for (m, k) in p.terms() {
        let even = m.factors().iter().all(|f| f.1 % 2 == 0);
        if let (true, Some(n), Some(d)) = (even, whole_root(*k.numer()), whole_root(*k.denom()))
        {
            let half = m.factors().iter().map(|&(a, n)| Monomial::atom(a, n / 2));
            let half = half.fold(Monomial::one(), |p, f| p.times(&f));
            roots.push((half, Coefficient::new(n, d)));
        }
    }
    for (i, (m, k)) in roots.iter().enumerate() {
        for (n, j) in &roots[..i] {
            let cross = p.coefficient(&m.times(n))?;
            let double = k * j * Coefficient::from_integer(2);
            if *cross == double || *cross == -double {
                let mut root = Polynomial::term(n.clone(), *j);
                root.add_term(m.clone(), &if *cross == double { *k } else { -*k })?;
                return Some(root);
            }
        }
    }
    None
}

fn whole_root(n: i128) -> Option<i128> {
    let root = num_integer::Roots::sqrt(&n.max(0));
    (root * root == n).then_some(root)
}

fn is_difference(form: &Form) -> bool {
    match form {
        Form::Sum(terms) => {
            terms.iter().any(Form::is_negative) && terms.iter().any(|t| !t.is_negative())
        }
        Form::Leaf(_) | Form::Product { .. } => false,
    }
}

fn negated(form: Form) -> Form {
    Form::number(-Coefficient::one()).times(form)
}
