//! A quotient of polynomials as the shortest of several formulas: factors taken out, terms grouped, squares of sines or
//! cosines, angles added.

use std::collections::BTreeMap;

use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

use super::finish::{is_difference, with_positive_terms, with_whole_terms};
use super::form::{DECIMAL, Form, Leaf, rank};
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};
use super::quotient::{Field, Quotient};
use super::roots::{rational_root, square_root};
use super::trigonometry;

/// Longer sums are written as they are.
const MAX_GROUPED: usize = 60;
/// Sums that are tried as factors.
const MAX_CANDIDATES: usize = 24;
/// Sums above a denominator of so many terms are taken apart first.
const LONG_ABOVE: usize = 30;
/// Divisions that look for a factor.
pub(super) const DIVISION: usize = 3_000;

/// Writes quotients of a field; `leaf` says how an atom is written.
pub(super) struct Collector<'a> {
    pub(super) field: &'a mut Field,
    /// How the atoms are written, by number.
    pub(super) leaves: Vec<Leaf>,
    /// Says how a new atom is written.
    pub(super) leaf: &'a mut dyn FnMut(&Field, u32) -> Leaf,
    /// Sums that the expression was written with.
    pub(super) sums: Vec<Polynomial>,
    /// Differences as the expression was written with them.
    pub(super) differences: Vec<Polynomial>,
    /// Sums whose terms were grouped before.
    pub(super) grouped: FxHashMap<Polynomial, Form>,
    /// Factors of denominators, by their numbers in the field.
    pub(super) below: FxHashMap<usize, Form>,
    pub(super) work: Budget,
    /// Whether each rate should stand once, behind its coefficient.
    pub(super) is_linear: bool,
    /// Whether what is written stands above a sum.
    pub(super) is_above: bool,
}

impl Collector<'_> {
    /// The shortest formula of a quotient: one fraction, what the division gives and a rest, or the terms that the
    /// denominator divides apart from the others.
    pub(super) fn quotient(&mut self, q: &Quotient) -> Form {
        self.is_linear = self.is_linear_in_rates(&q.above);
        if q.below.is_empty() {
            return self.fraction_or_parts(q);
        }
        // NOTE: a long sum over one denominator would take the work that its parts need.
        let is_long = q.above.len() > LONG_ABOVE;
        let first = (!is_long).then(|| self.fraction_or_parts(q));
        let mut sums = Vec::new();
        for (whole, rest) in self.division(q).into_iter().chain(self.divisible_terms(q)) {
            let parts = [self.fraction(&whole), self.fraction_or_parts(&rest)];
            sums.push(Form::Sum(parts.into_iter().flat_map(Form::terms).collect()));
        }
        let mut best = first.unwrap_or_else(|| self.fraction_or_parts(q));
        for sum in sums {
            if self.cost(&sum) < self.cost(&best) {
                best = sum;
            }
        }
        best
    }

    /// One fraction, or the sum of those that have other denominators.
    fn fraction_or_parts(&mut self, q: &Quotient) -> Form {
        let whole = self.fraction(q);
        let Some(parts) = self.apart(q) else { return whole };
        let parts: Vec<Form> = parts.iter().map(|part| self.fraction(part)).collect();
        let sum = Form::Sum(parts.into_iter().flat_map(Form::terms).collect());
        if self.cost(&sum) < self.cost(&whole) { sum } else { whole }
    }

    fn fraction(&mut self, q: &Quotient) -> Form {
        // NOTE: before what stands above, which may take all the work: one denominator is written alike everywhere.
        let below: Vec<(Form, i32)> =
            q.below.iter().map(|(&f, &n)| (self.factor_below(f), n as i32)).collect();
        self.is_above = !q.below.is_empty();
        let above = self.polynomial(&q.above);
        self.is_above = false;
        let mut whole = if q.below.is_empty() { above } else { with_whole_terms(above) };
        for (form, n) in below {
            let (k, factors) = form.parts();
            let powers: Vec<(Form, i32)> =
                factors.into_iter().map(|(f, m)| (f, -n * m)).collect();
            let k = (0..n).fold(Coefficient::one(), |p, _| p * k);
            whole = whole.times(Form::Product { coefficient: k.recip(), factors: powers });
        }
        self.finished(whole)
    }

    /// The shortest formula of a sum in a denominator; one that is seen to be positive may be a little longer.
    pub(super) fn denominator(&mut self, p: &Polynomial) -> Form {
        const POSITIVE: usize = 4;
        let shortest = with_whole_terms(self.polynomial(p));
        if !is_difference(&shortest) {
            return shortest;
        }
        for angle in trigonometry::angles(&self.field.atoms, p) {
            let budget = &mut Budget(DIVISION);
            let made = trigonometry::by_sines(&mut self.field.atoms, p, &angle, budget);
            let Some(q) = made else { continue };
            let form = with_positive_terms(self.grouped(&q));
            if !is_difference(&form) && self.cost(&form) <= self.cost(&shortest) + POSITIVE {
                return form;
            }
        }
        shortest
    }

    pub(super) fn know(&mut self, atom: u32) {
        for next in self.leaves.len() as u32..=atom {
            let leaf = (self.leaf)(self.field, next);
            self.leaves.push(leaf);
        }
    }

    fn cost(&self, form: &Form) -> usize {
        /// Characters for a rate that stands there again.
        const AGAIN: usize = 8;
        let cost =
            if self.is_above { form.cost_above(&self.leaves) } else { form.cost(&self.leaves) };
        if !self.is_linear {
            return cost;
        }
        let mut counts = BTreeMap::new();
        form.count_rates(&self.leaves, &mut counts);
        cost + AGAIN * counts.values().map(|n| n - 1).sum::<usize>()
    }

    /// Whether no term has more than one velocity or acceleration: momenta, constraints, and the left sides of
    /// equations of motion.
    fn is_linear_in_rates(&mut self, p: &Polynomial) -> bool {
        let atoms = p.atoms();
        if let Some(&last) = atoms.iter().max() {
            self.know(last);
        }
        let rates: Vec<u32> =
            atoms.into_iter().filter(|&a| self.leaves[a as usize].place.is_rate()).collect();
        !rates.is_empty()
            && p.terms().all(|(m, _)| {
                let powers = || rates.iter().map(|&a| m.exponent(a).abs());
                powers().all(|n| (0..=1).contains(&n)) && powers().sum::<i32>() <= 1
            })
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

    pub(super) fn term(&mut self, m: &Monomial, k: Coefficient) -> Form {
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
        candidates.extend(self.factor_of_quadratic(&rest));
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
            // 1/100 stays with the terms.
            let (k, scale) = if *k.denom() < DECIMAL {
                (k, Coefficient::one())
            } else {
                (Coefficient::one(), k)
            };
            let quotient = quotient.times_term(&Monomial::one(), &scale)?;
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
            // 2*m1 + m2*(1 - cos(2*a)) = 2*(m1 + m2*sin(a)^2)
            for angle in trigonometry::angles(&self.field.atoms, &q) {
                for is_sine in [true, false] {
                    let (atoms, budget) = (&mut self.field.atoms, &mut Budget(DIVISION));
                    let made = trigonometry::by_half_angle(atoms, &q, &angle, is_sine, budget);
                    if let Some(made) = made.filter(|r| r.len() <= q.len()) {
                        consider(self, &made);
                    }
                }
            }
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
    pub(super) fn grouped(&mut self, p: &Polynomial) -> Form {
        if p.len() < 2 {
            return self.term_of(p);
        }
        if let Some(known) = self.grouped.get(p) {
            return known.clone();
        }
        let form = self.newly_grouped(p);
        self.grouped.insert(p.clone(), form.clone());
        form
    }

    fn newly_grouped(&mut self, p: &Polynomial) -> Form {
        let flat = self.flat(p);
        if p.len() > MAX_GROUPED || self.work.spend(p.len()).is_none() {
            return flat;
        }
        let (mut best, mut is_flat) = (flat, true);
        for shared in [strictly_common(p), p.common_monomial()] {
            let Some(form) = self.outside(p, &shared) else { continue };
            // A mass stands before its bracket and an acceleration behind it, also where that saves nothing.
            let is_usual = self.is_constant(&shared) || self.is_rate(&shared);
            if self.cost(&form) < self.cost(&best) + usize::from(is_usual) {
                // NOTE: a number alone before a bracket gives way to parts with factors of their own.
                (best, is_flat) = (form, shared.is_one());
            }
        }
        if let Some(form) = self.partly(p) {
            let least = self.cost(&best) + usize::from(is_flat);
            if self.cost(&form) < least {
                best = form;
            }
        }
        if let Some(product) = self.product_of_known(p)
            && self.cost(&product) < self.cost(&best)
        {
            best = product;
        }
        let further = [
            self.by_coefficients(p, rank::TIME),
            self.by_coefficients(p, rank::VELOCITY),
            self.by_squares(p),
            self.by_speeds(p),
        ];
        for form in further.into_iter().flatten() {
            if self.cost(&form) < self.cost(&best) {
                best = form;
            }
        }
        best
    }

    /// Whether all factors are parameters.
    fn is_constant(&self, m: &Monomial) -> bool {
        m.factors().iter().all(|f| self.leaves[f.0 as usize].place.rank < rank::TIME)
    }

    /// Whether all factors are velocities or accelerations.
    fn is_rate(&self, m: &Monomial) -> bool {
        let is_rate =
            |f: &(u32, i32)| f.1 > 0 && self.leaves[f.0 as usize].place.rank >= rank::VELOCITY;
        !m.is_one() && m.factors().iter().all(is_rate)
    }

    /// $C(x + ky) + \dots$ where $x$ and $y$ have the same coefficient $C$; coefficients consist of atoms that stand
    /// before `border`.
    fn by_coefficients(&mut self, p: &Polynomial, border: u8) -> Option<Form> {
        if p.len() < 3 {
            return None;
        }
        self.work.spend(2 * p.len())?;
        let coefficients = self.coefficients(p, border)?;
        if coefficients.len() < 2 {
            return None;
        }
        let mut alike: Vec<Alike> = Vec::new();
        for (outer, coefficient) in coefficients {
            let (common, sum) = match coefficient.stripped() {
                Some(sum) => {
                    let quotient = coefficient.divided_by(&sum, &mut Budget(DIVISION))?;
                    (quotient, Some(sum))
                }
                None => (coefficient, None),
            };
            let (inner, k) = common.as_term()?;
            let known = alike.iter_mut().find(|a| match &sum {
                Some(_) => a.sum == sum,
                None => a.sum.is_none() && a.inner == *inner,
            });
            match known {
                Some(known) => {
                    known
                        .outer
                        .add_term(outer.times(inner).times(&known.inner.inverse()), k)?;
                }
                None => alike.push(Alike {
                    sum,
                    inner: inner.clone(),
                    outer: Polynomial::term(outer, *k),
                }),
            }
        }
        let is_alone = |a: &Alike| a.sum.is_none() && a.outer.len() < 2;
        if alike.len() < 2 || alike.iter().all(is_alone) {
            return None;
        }
        let (mut terms, mut rest) = (Vec::new(), Polynomial::zero());
        for Alike { sum, inner, outer } in alike {
            let whole = outer.times_term(&inner, &Coefficient::one())?;
            match sum {
                Some(sum) => {
                    let sum = self.grouped(&sum);
                    terms.push(sum.times(self.grouped(&whole)));
                }
                None if outer.len() > 1 => terms.push(self.grouped(&whole)),
                None => rest = rest.plus(&whole)?,
            }
        }
        if !rest.is_zero() {
            terms.push(self.grouped(&rest));
        }
        let terms: Vec<Form> = terms.into_iter().flat_map(Form::terms).collect();
        (terms.len() > 1).then_some(Form::Sum(terms))
    }

    /// What is multiplied with each product of atoms that do not stand before `border`.
    fn coefficients(
        &mut self,
        p: &Polynomial,
        border: u8,
    ) -> Option<BTreeMap<Monomial, Polynomial>> {
        let mut coefficients: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
        for (m, k) in p.terms() {
            let (mut inner, mut outer) = (Monomial::one(), Monomial::one());
            for &(atom, n) in m.factors() {
                self.know(atom);
                let is_inner = self.leaves[atom as usize].place.rank < border;
                let side = if is_inner { &mut inner } else { &mut outer };
                *side = side.times(&Monomial::atom(atom, n));
            }
            coefficients.entry(outer).or_default().add_term(inner, k)?;
        }
        Some(coefficients)
    }

    pub(super) fn flat(&mut self, p: &Polynomial) -> Form {
        let terms: Vec<(Monomial, Coefficient)> =
            p.terms().rev().map(|(m, k)| (m.clone(), *k)).collect();
        Form::Sum(terms.iter().map(|(m, k)| self.term(m, *k)).collect())
    }

    /// A product of atoms and a number before the bracket.
    fn outside(&mut self, p: &Polynomial, shared: &Monomial) -> Option<Form> {
        let (primitive, k) = p.primitive()?;
        if let Some(root) =
            square_root(&primitive.times_term(&shared.inverse(), &Coefficient::one())?)
        {
            let (k, scale) = match rational_root(&k) {
                Some(root) if *k.denom() >= DECIMAL => (Coefficient::one(), root),
                _ => (k, Coefficient::one()),
            };
            let sum = self.root(&root.times_term(&Monomial::one(), &scale)?);
            return Some(self.term(shared, k).times(sum.clone()).times(sum));
        }
        let k = if k.is_negative() && p.terms().any(|(_, k)| k.is_positive()) { -k } else { k };
        let whole = self.scaled(p, shared, k);
        // 3/10 - u beside (3 - 10*u)/10
        if *k.denom() < DECIMAL {
            return whole;
        }
        let plain = self.scaled(p, shared, Coefficient::from_integer(k.numer().signum()));
        match (whole, plain) {
            (Some(whole), Some(plain)) if self.cost(&whole) < self.cost(&plain) => Some(whole),
            (whole, plain) => plain.or(whole),
        }
    }

    /// What is squared: $s^4$ for $(1 - c^2)^2$.
    pub(super) fn root(&mut self, p: &Polynomial) -> Form {
        let paired = trigonometry::paired(&mut self.field.atoms, p);
        if paired.len() < 2 { self.term_of(&paired) } else { self.flat(&paired) }
    }

    /// The same with a certain number.
    fn scaled(&mut self, p: &Polynomial, shared: &Monomial, k: Coefficient) -> Option<Form> {
        if shared.is_one() && k.is_one() {
            return None;
        }
        let rest = p.times_term(&shared.inverse(), &k.recip())?;
        let mut inner = self.flat(&rest);
        for form in [self.partly(&rest), self.by_squares(&rest)].into_iter().flatten() {
            if self.cost(&form) <= self.cost(&inner) {
                inner = form;
            }
        }
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
                // −(a − b) is written as b − a.
                let is_mixed = inner.terms().any(|t| t.1.is_positive())
                    && inner.terms().any(|t| t.1.is_negative());
                let content = if is_mixed { content.abs() } else { content };
                let scaled = inner.times_term(&Monomial::one(), &content.recip())?;
                // −a² + 2ab − b² = −(a − b)²
                let roots = [Some(&scaled), Some(&scaled.opposite()).filter(|_| is_mixed)]
                    .map(|p| p.and_then(square_root));
                let bracket = match roots {
                    [Some(root), _] => {
                        let sum = self.flat(&root);
                        sum.clone().times(sum)
                    }
                    [None, Some(root)] => {
                        let sum = self.flat(&root);
                        Form::number(-Coefficient::one()).times(sum.clone()).times(sum)
                    }
                    [None, None] => self.flat(&scaled),
                };
                let after = self.term(&shared, content).times(bracket);
                // A mass stands before its bracket, and the coefficients of a coordinate are one, also where that saves
                // nothing.
                let mass = !shared.is_one()
                    && (self.is_constant(&shared) || shared.factors().len() == 1);
                let (before, after) = (self.cost(&before), self.cost(&after));
                let gain = match before.saturating_sub(after) {
                    0 => usize::from(mass && before == after),
                    gain => 2 * gain,
                };
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
        let sides = [self.grouped(&part), self.grouped(&rest)];
        Some(Form::Sum(sides.into_iter().flat_map(Form::terms).collect()))
    }
}

/// Terms with the same coefficient: `sum * inner * outer`.
struct Alike {
    /// `None` for a coefficient that is a product.
    sum: Option<Polynomial>,
    inner: Monomial,
    outer: Polynomial,
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
