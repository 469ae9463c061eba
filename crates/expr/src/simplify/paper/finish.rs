//! The last touch to a formula: roots beside their squares, tangents, signs.

use num_traits::{One, Signed};

use super::atoms::Atom;
use super::collect::Collector;
use super::form::{DECIMAL, Form, rank};
use super::polynomial::{Coefficient, Monomial, Polynomial};
use super::quotient::Field;
use super::roots::rational_root;

impl Collector<'_> {
    /// How a factor of denominators is written.
    pub(super) fn factor_below(&mut self, factor: usize) -> Form {
        if let Some(known) = self.below.get(&factor) {
            return known.clone();
        }
        let sum = self.field.factors[factor].clone();
        let form = with_positive_factors(self.denominator(&sum));
        self.below.insert(factor, form.clone());
        form
    }

    /// Roots with their squares as powers of halves, signs of denominators moved up, tangents.
    pub(super) fn finished(&mut self, form: Form) -> Form {
        match form {
            Form::Leaf(leaf) if matches!(self.field.atoms.atom(leaf), Atom::Root(_)) => {
                let (coefficient, factors) = (Coefficient::one(), vec![(form, 2)]);
                self.finished(Form::Product { coefficient, factors })
            }
            Form::Leaf(_) => form,
            Form::Sum(terms) => {
                Form::Sum(terms.into_iter().map(|t| self.finished(t)).collect())
            }
            Form::Product { coefficient, factors } => {
                self.finished_product(coefficient, factors)
            }
        }
    }

    fn finished_product(
        &mut self,
        mut coefficient: Coefficient,
        factors: Vec<(Form, i32)>,
    ) -> Form {
        let mut made: Vec<(Form, i32)> = Vec::new();
        let factors = self.by_radicands(&mut coefficient, factors);
        for (base, n) in factors {
            let (base, n) = match self.under_root(&base) {
                Some((number, under)) => {
                    coefficient *= number.pow(n / 2);
                    (under, n / 2)
                }
                None => (base, n),
            };
            let mut base = self.finished(base);
            base.sort(&self.leaves);
            if self.join(&mut made, base, n) {
                coefficient = -coefficient;
            }
        }
        made.retain(|f| f.1 != 0);
        for (base, _) in made.iter_mut().filter(|f| f.1 % 4 == 0) {
            self.turn_square(base);
        }
        self.tangents(&mut made);
        // −(a − b) = b − a
        if coefficient.is_negative()
            && let Some((Form::Sum(terms), _)) =
                made.iter_mut().find(|(f, n)| is_difference(f) && n.rem_euclid(4) == 2)
        {
            for term in terms.iter_mut() {
                *term = negated(term.clone());
            }
            coefficient = -coefficient;
        }
        Form::Product { coefficient, factors: Vec::new() }
            .times(Form::Product { coefficient: Coefficient::one(), factors: made })
    }

    /// $c^2 - v^2$ beside $\sqrt{1 - v^2/c^2}$ is $c^2$ times what stands under the root.
    fn by_radicands(
        &mut self,
        coefficient: &mut Coefficient,
        factors: Vec<(Form, i32)>,
    ) -> Vec<(Form, i32)> {
        let mut all = factors;
        for i in 0..all.len() {
            let Form::Leaf(leaf) = all[i].0 else { continue };
            let Atom::Root(X) = self.field.atoms.atom(leaf).clone() else { continue };
            let common = X.common_monomial();
            let cleared = X.times_term(&common.inverse(), &Coefficient::one());
            let Some((primitive, k)) = cleared.and_then(|p| p.primitive()) else { continue };
            if common.is_one() {
                continue;
            }
            let mut sum = self.denominator(&primitive);
            sum.sort(&self.leaves);
            let mut opposite = negated_sum(&sum);
            opposite.sort(&self.leaves);
            let mut more = Vec::new();
            for (base, n) in &mut all {
                let mut own = base.clone();
                own.sort(&self.leaves);
                if *n % 2 != 0 || (own != sum && own != opposite) {
                    continue;
                }
                if own == opposite && own != sum && (*n / 2) % 2 != 0 {
                    *coefficient = -*coefficient;
                }
                let power = *n / 2;
                *coefficient *= k.recip().pow(power);
                *base = Form::Leaf(leaf);
                more.extend(common.factors().iter().map(|&(a, e)| (Form::Leaf(a), -e * *n)));
                *n *= 2;
            }
            for (base, n) in more {
                match all.iter_mut().find(|f| f.0 == base) {
                    Some(known) => known.1 += n,
                    None => all.push((base, n)),
                }
            }
        }
        all.retain(|f| f.1 != 0);
        all
    }

    /// Differences of constants as the expression was written with them, where that costs no sign: $x - (1 - \mu)y$ for
    /// $x + (\mu - 1)y$.
    pub(super) fn with_own_differences(&self, mut form: Form) -> Form {
        let Form::Sum(terms) = &mut form else {
            self.turn_to_own_difference(&mut form);
            return form;
        };
        let leads = terms.iter().skip(1).any(|t| !t.is_negative());
        let turned = leads && terms.first_mut().is_some_and(|t| self.turn_to_own_difference(t));
        for term in terms.iter_mut().skip(1) {
            self.turn_to_own_difference(term);
        }
        // A positive term stands in front.
        if turned && let Some(lead) = terms.iter().position(|t| !t.is_negative()) {
            terms[..=lead].rotate_right(1);
        }
        form
    }

    /// $-(a - b)x$ for $(b - a)x$; whether that is how the expression was written.
    fn turn_to_own_difference(&self, term: &mut Form) -> bool {
        let Form::Product { coefficient, factors } = term else { return false };
        let turned = factors.iter_mut().find(|(f, n)| {
            n.rem_euclid(4) == 2 && is_difference(f) && self.is_own_difference(&negated_sum(f))
        });
        let (true, Some((base, _))) = (coefficient.is_positive(), turned) else { return false };
        *base = negated_sum(base);
        base.sort(&self.leaves);
        *coefficient = -*coefficient;
        true
    }

    /// Whether it is a difference of constants as the expression was written with it, and its opposite was not.
    fn is_own_difference(&self, form: &Form) -> bool {
        let written =
            |form: &Form| flat_polynomial(form).is_some_and(|p| self.differences.contains(&p));
        form.place(&self.leaves).rank < rank::TIME
            && written(form)
            && !written(&negated_sum(form))
    }

    /// $(R - r)^2$ for $(r - R)^2$, where that is how it was written, and velocities first.
    fn turn_square(&self, base: &mut Form) {
        let Form::Sum(terms) = &*base else { return };
        if !is_difference(base) {
            return;
        }
        let opposite = negated_sum(base);
        let written =
            |form: &Form| flat_polynomial(form).is_some_and(|p| self.differences.contains(&p));
        let speed = |t: &Form| t.speed(&self.leaves);
        let fastest = terms.iter().max_by_key(|t| speed(t));
        let is_fast = fastest.is_some_and(|t| {
            t.is_negative() && terms.iter().filter(|u| speed(u) == speed(t)).count() == 1
        });
        if written(&opposite) || (is_fast && !written(base)) {
            *base = opposite;
            base.sort(&self.leaves);
        }
    }

    /// A number and $X$ for an atom that is their product under a root, the number outside of it.
    fn under_root(&mut self, base: &Form) -> Option<(Coefficient, Form)> {
        let Form::Leaf(leaf) = base else { return None };
        let Atom::Root(X) = self.field.atoms.atom(*leaf).clone() else { return None };
        // NOTE: as it would stand in a denominator, so that the two are found to be powers of one sum.
        let (primitive, k) = X.primitive()?;
        // NOTE: products of large numbers would overflow.
        let is_small = |r: &Coefficient| r.numer().abs() < 1 << 20 && *r.denom() < 1 << 20;
        match rational_root(&k).filter(is_small) {
            Some(number) => Some((number, self.denominator(&primitive))),
            None => Some((Coefficient::one(), self.denominator(&X))),
        }
    }

    /// Multiplies a product by a power; whether its sign changes, because the opposite of the base was there.
    fn join(&self, factors: &mut Vec<(Form, i32)>, base: Form, n: i32) -> bool {
        if let Some(known) = factors.iter_mut().find(|f| f.0 == base) {
            known.1 += n;
            return false;
        }
        let mut turned = negated_sum(&base);
        turned.sort(&self.leaves);
        let opposite =
            factors.iter_mut().find(|f| f.0 == turned && (f.1 % 2 == 0 || n % 2 == 0));
        let Some(known) = opposite else {
            factors.push((base, n));
            return false;
        };
        // (−X)ᵏ = (−1)ᵏ Xᵏ for whole k: that of the two which is not a root gives the sign.
        let whole = if n % 2 == 0 { n / 2 } else { known.1 / 2 };
        if n % 2 != 0 {
            known.0 = base;
        }
        known.1 += n;
        whole % 2 != 0
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
}

pub(super) fn is_difference(form: &Form) -> bool {
    match form {
        Form::Sum(terms) => {
            terms.iter().any(Form::is_negative) && terms.iter().any(|t| !t.is_negative())
        }
        Form::Leaf(_) | Form::Product { .. } => false,
    }
}

/// $-(a + b)$ for $-a - b$
pub(super) fn with_positive_terms(form: Form) -> Form {
    match form {
        Form::Sum(terms) if terms.iter().all(Form::is_negative) => {
            negated(negated_sum(&Form::Sum(terms)))
        }
        other => other,
    }
}

/// The same for the factors of a product.
pub(super) fn with_positive_factors(form: Form) -> Form {
    let Form::Product { mut coefficient, mut factors } = form else {
        return with_positive_terms(form);
    };
    for (base, n) in &mut factors {
        let is_negative =
            matches!(base, Form::Sum(terms) if terms.iter().all(Form::is_negative));
        if is_negative && n.rem_euclid(4) == 2 {
            *base = negated_sum(base);
            coefficient = -coefficient;
        }
    }
    Form::Product { coefficient, factors }
}

/// $\frac12(a + 2b)$ for $\frac a2 + b$
pub(super) fn with_whole_terms(form: Form) -> Form {
    let Form::Sum(terms) = &form else { return form };
    let below = |t: &Form| match t {
        Form::Product { coefficient, .. } => *coefficient.denom(),
        Form::Leaf(_) | Form::Sum(_) => 1,
    };
    let common = terms.iter().map(below).fold(1, num_integer::lcm);
    // NOTE: decimals stay.
    if common == 1 || common >= DECIMAL {
        return form;
    }
    let k = Coefficient::from_integer(common);
    let scaled = terms.iter().map(|t| Form::number(k).times(t.clone())).collect();
    Form::Product { coefficient: k.recip(), factors: vec![(Form::Sum(scaled), 2)] }
}

/// $b - a$ for $a - b$
fn negated_sum(form: &Form) -> Form {
    match form {
        Form::Sum(terms) => Form::Sum(terms.iter().cloned().map(negated).collect()),
        other => other.clone(),
    }
}

fn negated(form: Form) -> Form {
    Form::number(-Coefficient::one()).times(form)
}

/// The polynomial of a sum of products of atoms.
fn flat_polynomial(form: &Form) -> Option<Polynomial> {
    let Form::Sum(terms) = form else { return None };
    let mut sum = Polynomial::zero();
    for term in terms {
        let (k, factors) = term.clone().parts();
        let mut monomial = Monomial::one();
        for (base, n) in factors {
            let Form::Leaf(atom) = base else { return None };
            if n % 2 != 0 {
                return None;
            }
            monomial = monomial.times(&Monomial::atom(atom, n / 2));
        }
        sum.add_term(monomial, &k)?;
    }
    Some(sum)
}
