//! Expressions made smaller by named rules, like terms and like factors.
//!
//! Bottom-up: each sum is taken apart into coefficients and products, each product into bases with whole
//! exponents; equal ones are collected, the rules of [`rules`](crate::simplify::rules) are tried, and what comes
//! out is kept only if it is smaller. Passes are repeated until nothing changes.
//!
//! **Assumed.** The result has the value of the expression wherever that is finite; it may be defined on more
//! ($x/x$ is 1, $\log a + \log b$ is $\log ab$), never on less. Memory operators are left as they are, operands
//! and all.

mod paper;
mod reading_order;
pub(crate) mod rules;

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::graph::number::Rational;
use crate::graph::residue::Residues;
use crate::graph::store::{ONE, Store, ZERO};
use rules::{Bindings, Left, Pattern, ProductPattern, RewriteRule};

/// Passes over the whole expression.
const MAX_PASSES: usize = 6;
/// Sums with more terms than this are collected but not searched for rules.
const MAX_SEARCHED: usize = 40;
/// Pairs of terms that are compared in one call, a sum that is written counting as its terms.
const MAX_WORK: usize = 4_000_000;
/// Parts that are shared are taken apart only up to this many terms.
const MAX_SHARED: usize = 64;

impl Graph {
    /// A smaller expression of the same value, or the expression itself.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let [m, x] = ["m", "x"].map(|n| g.symbol(n, Role::Free));
    /// let two = g.integer(2);
    /// let e = g.add(g.mul(m, g.pow(g.sin(x), two)), g.mul(g.pow(g.cos(x), two), m));
    /// assert_eq!(g.simplify(e), m);
    /// ```
    pub fn simplify(&self, e: Expr) -> Expr {
        let mut store = self.store.borrow_mut();
        let before = std::mem::replace(&mut store.merging, false);
        let size = store.live(&[e]).len();
        let mut simplifier = Simplifier {
            store: &mut store,
            rules: rules::rules(),
            costs: FxHashMap::default(),
            inner: FxHashSet::default(),
            work: 0,
        };
        let mut best = e;
        for _ in 0..MAX_PASSES {
            let next = simplifier.pass(best);
            if next == best {
                break;
            }
            best = next;
        }
        let smaller = store.live(&[best]).len() <= size;
        store.merging = before;
        if smaller { best } else { e }
    }
}

struct Simplifier<'a> {
    store: &'a mut Store,
    rules: &'static [RewriteRule],
    /// Nodes of the written-out form, saturating.
    costs: FxHashMap<Expr, u64>,
    /// Partial sums and products that serve one larger one only.
    inner: FxHashSet<Expr>,
    work: usize,
}

/// A coefficient and bases with whole exponents, in the order of first occurrence.
#[derive(Clone, Debug)]
struct SumTerm {
    coefficient: Rational,
    factors: Vec<(Expr, i64)>,
}

impl Simplifier<'_> {
    fn pass(&mut self, root: Expr) -> Expr {
        let live = self.store.live(&[root]);
        let partial = partial_nodes(self.store, &live);
        let mut node_map: FxHashMap<Expr, Expr> = FxHashMap::default();
        for &e in &live {
            let node = self.store.node(e);
            if matches!(node, Node::Memory(..)) {
                node_map.insert(e, e);
                continue;
            }
            let plain = self.store.rebuild(node, |o| node_map[&o]);
            let image = if partial.contains(&e) {
                self.inner.insert(plain);
                plain
            } else {
                self.improve(plain)
            };
            node_map.insert(e, image);
        }
        node_map[&root]
    }

    fn improve(&mut self, e: Expr) -> Expr {
        let candidate = match self.store.node(e) {
            Node::Add(..) | Node::Sub(..) => self.sum(e),
            Node::Mul(..) | Node::Div(..) | Node::Neg(_) => self.product(e),
            _ => self.node(e),
        };
        if candidate != e && self.cost(candidate) < self.cost(e) { candidate } else { e }
    }

    fn node(&mut self, e: Expr) -> Expr {
        for i in 0..self.rules.len() {
            let Left::Node(left) = &self.rules[i].left else { continue };
            let mut bound = Bindings::default();
            if left.matches(self.store, e, &mut bound) {
                return self.rules[i].right.build(self.store, &bound);
            }
        }
        e
    }

    fn product(&mut self, e: Expr) -> Expr {
        let mut term = self.term(e);
        while let Some(next) = self.product_rule(&term) {
            term = next;
        }
        self.write_term(&term)
    }

    /// The first rule that makes the product smaller.
    fn product_rule(&mut self, term: &SumTerm) -> Option<SumTerm> {
        let before = self.write_term(term);
        for i in 0..self.rules.len() {
            let Left::Product(left) = &self.rules[i].left else { continue };
            let mut bound = Bindings::default();
            let Some(rest) = split(self.store, left, term, &mut bound) else { continue };
            let right = self.rules[i].right.build(self.store, &bound);
            let mut next = self.term(right);
            next.coefficient *= &rest.coefficient;
            next.factors = merge_factors(&rest.factors, &next.factors);
            let after = self.write_term(&next);
            if self.cost(after) < self.cost(before) {
                return Some(next);
            }
        }
        None
    }

    fn sum(&mut self, e: Expr) -> Expr {
        let mut terms = self.terms(e);
        if terms.len() <= MAX_SEARCHED {
            while let Some(next) = self.sum_rule(&terms) {
                terms = next;
            }
        }
        self.write_sum(&terms)
    }

    /// The first rule and pair of terms that make the sum smaller.
    fn sum_rule(&mut self, terms: &[SumTerm]) -> Option<Vec<SumTerm>> {
        let before = self.write_sum(terms);
        for rule in 0..self.rules.len() {
            if !matches!(self.rules[rule].left, Left::Sum(..)) {
                continue;
            }
            for i in 0..terms.len() {
                for j in 0..terms.len() {
                    self.work += 1;
                    if self.work > MAX_WORK {
                        return None;
                    }
                    let Some(made) = self.pair(rule, terms, i, j) else { continue };
                    let mut next: Vec<SumTerm> = Vec::with_capacity(terms.len());
                    for (k, t) in terms.iter().enumerate() {
                        if k == i.min(j) {
                            next.extend(made.iter().cloned());
                        } else if k != i.max(j) {
                            next.push(t.clone());
                        }
                    }
                    let next = Self::collected(next);
                    self.work += next.len();
                    let after = self.write_sum(&next);
                    if self.cost(after) < self.cost(before) {
                        return Some(next);
                    }
                }
            }
        }
        None
    }

    /// What two terms with a common factor become by a rule.
    fn pair(
        &mut self,
        rule: usize,
        terms: &[SumTerm],
        i: usize,
        j: usize,
    ) -> Option<Vec<SumTerm>> {
        let Left::Sum(first, second) = &self.rules[rule].left else { return None };
        if i == j {
            return None;
        }
        let mut bound = Bindings::default();
        // A side that is a bare number binds nothing, so the other one goes first.
        let (rest, other) = if first.factors.is_empty() {
            let other = split(self.store, second, &terms[j], &mut bound)?;
            (split(self.store, first, &terms[i], &mut bound)?, other)
        } else {
            let rest = split(self.store, first, &terms[i], &mut bound)?;
            (rest, split(self.store, second, &terms[j], &mut bound)?)
        };
        if rest.coefficient != other.coefficient || !same_factors(&rest, &other) {
            return None;
        }
        let right = self.rules[rule].right.build(self.store, &bound);
        let made = self.terms(right);
        Some(
            made.into_iter()
                .map(|t| SumTerm {
                    coefficient: t.coefficient * &rest.coefficient,
                    factors: merge_factors(&rest.factors, &t.factors),
                })
                .collect(),
        )
    }

    /// The terms of a sum, like ones collected.
    fn terms(&mut self, e: Expr) -> Vec<SumTerm> {
        let mut found = Vec::new();
        let mut stack = vec![(e, Rational::one())];
        while let Some((x, k)) = stack.pop() {
            let opens = x == e || found.len() < MAX_SHARED || self.inner.contains(&x);
            match self.store.node(x) {
                Node::Add(a, b) if opens => stack.extend([(b, k.clone()), (a, k)]),
                Node::Sub(a, b) if opens => stack.extend([(b, -k.clone()), (a, k)]),
                Node::Neg(a) if opens => stack.push((a, -k)),
                _ => {
                    let mut term = self.term(x);
                    term.coefficient *= k;
                    found.push(term);
                }
            }
        }
        Self::collected(found)
    }

    /// Like terms added, zeros left out.
    fn collected(terms: Vec<SumTerm>) -> Vec<SumTerm> {
        let mut places: FxHashMap<Vec<(Expr, i64)>, usize> = FxHashMap::default();
        let mut sums: Vec<SumTerm> = Vec::with_capacity(terms.len());
        for term in terms {
            let mut key = term.factors.clone();
            key.sort_unstable();
            if let Some(&place) = places.get(&key) {
                sums[place].coefficient += term.coefficient;
            } else {
                places.insert(key, sums.len());
                sums.push(term);
            }
        }
        sums.retain(|t| !t.coefficient.is_zero());
        sums
    }

    /// A product as coefficient and factors, like ones collected.
    fn term(&self, e: Expr) -> SumTerm {
        let mut coefficient = Rational::one();
        let mut factors: Vec<(Expr, i64)> = Vec::new();
        let mut places: FxHashMap<Expr, usize> = FxHashMap::default();
        let mut by_value: FxHashMap<Residues, Expr> = FxHashMap::default();
        let mut stack = vec![(e, 1_i64)];
        let mut opened = 0;
        while let Some((x, n)) = stack.pop() {
            let opens = x == e || opened < MAX_SHARED || self.inner.contains(&x);
            opened += 1;
            match self.store.node(x) {
                Node::Number(_) if n.abs() == 1 && (n > 0 || x != ZERO) => {
                    let value = self.store.exact(x).expect("the node is a number");
                    coefficient *= if n > 0 { value.clone() } else { value.recip() };
                }
                Node::Neg(a) if opens => {
                    if n % 2 != 0 {
                        coefficient = -coefficient;
                    }
                    stack.push((a, n));
                }
                Node::Mul(a, b) if opens => stack.extend([(b, n), (a, n)]),
                // NOTE: a quotient by zero stays as it is.
                Node::Div(a, b) if opens && b != ZERO => stack.extend([(b, -n), (a, n)]),
                Node::Pow(a, m) if opens && self.whole(m, n).is_some() => {
                    stack.push((a, self.whole(m, n).unwrap_or(n)));
                }
                _ => {
                    let well_behaved = self.store.facts[x.index()].total;
                    let value = self.store.values[x.index()];
                    let x = if well_behaved { *by_value.entry(value).or_insert(x) } else { x };
                    let place = *places.entry(x).or_insert(factors.len());
                    if place == factors.len() {
                        factors.push((x, 0));
                    }
                    factors[place].1 += n;
                }
            }
        }
        factors.retain(|f| f.1 != 0);
        SumTerm { coefficient, factors }
    }

    /// The product of a whole exponent of a power with another, if both are small.
    fn whole(&self, m: Expr, n: i64) -> Option<i64> {
        let m = self.store.small_integer(m).filter(|m| m.abs() <= 1000)?;
        (n.abs() <= 1000).then_some(m * n)
    }

    fn write_sum(&mut self, terms: &[SumTerm]) -> Expr {
        // A positive term in front saves a sign.
        let first = terms.iter().position(|t| t.coefficient.is_positive()).unwrap_or(0);
        let mut sum = ZERO;
        let order = std::iter::once(first).chain((0..terms.len()).filter(|&i| i != first));
        for i in order.take(terms.len()) {
            let term = self.write_term(&terms[i]);
            sum = self.store.add(sum, term);
        }
        sum
    }

    fn write_term(&mut self, term: &SumTerm) -> Expr {
        let (mut above, mut below) = (ONE, ONE);
        for &(base, n) in &term.factors {
            let exponent = self.store.number(crate::graph::number::integer(n.abs()));
            let power = self.store.pow(base, exponent);
            let side = if n > 0 { &mut above } else { &mut below };
            *side = self.store.mul(*side, power);
        }
        let quotient = self.store.div(above, below);
        let k = self.store.number(term.coefficient.clone());
        self.store.mul(k, quotient)
    }

    /// Nodes of the expression written out.
    fn cost(&mut self, e: Expr) -> u64 {
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            let node = self.store.node(x);
            let waiting: Vec<Expr> =
                node.operands().filter(|o| !self.costs.contains_key(o)).collect();
            if waiting.is_empty() {
                let total =
                    node.operands().fold(1_u64, |n, o| n.saturating_add(self.costs[&o]));
                self.costs.insert(x, total);
                stack.pop();
            } else {
                stack.extend(waiting);
            }
        }
        self.costs[&e]
    }
}

/// Sums used only by one sum, products used only by one product.
fn partial_nodes(store: &Store, live: &[Expr]) -> FxHashSet<Expr> {
    let kind = |e: Expr| match store.node(e) {
        Node::Add(..) | Node::Sub(..) => 1,
        Node::Mul(..) | Node::Div(..) => 2,
        _ => 0,
    };
    let mut users: FxHashMap<Expr, (usize, u8)> = FxHashMap::default();
    for &e in live {
        for o in store.node(e).operands() {
            let entry = users.entry(o).or_insert((0, 0));
            *entry = (entry.0 + 1, kind(e));
        }
    }
    let is_partial = |e: &Expr| {
        kind(*e) != 0 && users.get(e).is_some_and(|&(count, by)| count == 1 && by == kind(*e))
    };
    live.iter().copied().filter(is_partial).collect()
}

/// What is left of a term when the factors of a pattern are taken out.
fn split(
    store: &Store,
    pattern: &ProductPattern,
    term: &SumTerm,
    bound: &mut Bindings,
) -> Option<SumTerm> {
    // NOTE: the factors first: most patterns do not match, and exact divisions take long.
    let factors = take(store, &pattern.factors, &term.factors, bound)?;
    let coefficient = if pattern.coefficient.is_one() {
        term.coefficient.clone()
    } else {
        &term.coefficient / &pattern.coefficient
    };
    Some(SumTerm { coefficient, factors })
}

fn take(
    store: &Store,
    wanted: &[(Pattern, i64)],
    factors: &[(Expr, i64)],
    bound: &mut Bindings,
) -> Option<Vec<(Expr, i64)>> {
    let Some(((pattern, n), others)) = wanted.split_first() else {
        return Some(factors.to_vec());
    };
    for i in 0..factors.len() {
        let (base, m) = factors[i];
        if (*n > 0 && m < *n) || (*n < 0 && m > *n) {
            continue;
        }
        let mut attempt = bound.clone();
        if pattern.matches(store, base, &mut attempt) {
            let mut rest = factors.to_vec();
            rest[i].1 -= n;
            if rest[i].1 == 0 {
                rest.remove(i);
            }
            if let Some(rest) = take(store, others, &rest, &mut attempt) {
                *bound = attempt;
                return Some(rest);
            }
        }
    }
    None
}

fn same_factors(a: &SumTerm, b: &SumTerm) -> bool {
    let sorted = |t: &SumTerm| {
        let mut factors = t.factors.clone();
        factors.sort_unstable();
        factors
    };
    sorted(a) == sorted(b)
}

fn merge_factors(a: &[(Expr, i64)], b: &[(Expr, i64)]) -> Vec<(Expr, i64)> {
    let mut all = a.to_vec();
    for &(base, n) in b {
        match all.iter_mut().find(|(x, _)| *x == base) {
            Some((_, m)) => *m += n,
            None => all.push((base, n)),
        }
    }
    all.retain(|f| f.1 != 0);
    all
}
