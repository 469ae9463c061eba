//! `sum(i = 1..N, …)` and `product(i = 1..N, …)`, folded from the left.
//!
//! Inside a family or another sum, partial results of a fold that does not depend on the outer indices are
//! remembered: `sum(j = 1..i, …)` for
//! i = 1, 2, … costs one term each.
//!
//! The outermost sum of an energy is read in pieces: like terms are taken out of each as rows of a family
//! ([`LongSum`]), so that pairs of thousands of particles need no nodes of their own.

use std::sync::Arc;

use pfaff_expr::{Expr, LongSum, Rates};
use rustc_hash::FxHashMap;

use crate::elaborate::Elaborator;
use crate::elaborate::expression::derivative::Content;
use crate::elaborate::expression::machine::{Step, WORK};
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::shape::Value;
use crate::syntax::{Binder, ExprId, Fold, NodeKind, Symbol};

/// How many terms a sum may have.
const TERMS: i64 = 1_000_000;

/// Where a fold is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    site: Site,
    next: i64,
    last: i64,
    /// The first index, if partial results are to be remembered.
    remembered: Option<i64>,
    /// Whether it is read in pieces.
    is_long: bool,
    /// The index at which it began, and the work that was done before.
    begun: (i64, u64),
}

/// Bytes of a short term that is written out, and of a step of reading on average.
const TERM_BYTES: f64 = 700.0;
const STEP_BYTES: f64 = 70.0;
/// Terms after which the work for all of them is estimated.
const LOOKED_AT: i64 = 16;
/// How much more than what is allowed an estimate must be to be believed.
const CLEARLY: f64 = 4.0;

/// Terms from which on a sum is read in pieces.
const LONG: i64 = 16;

/// The sum that is read in pieces, and what was known before: what is found meanwhile does not stay.
#[derive(Debug)]
pub(crate) struct LongFold {
    sum: LongSum,
    prefixes: FxHashMap<(Site, i64, Place), Vec<Value>>,
    rates: Rates,
    contents: FxHashMap<Expr, Content>,
}

/// What is remembered of folds.
#[derive(Debug, Default)]
pub(crate) struct Folds {
    /// Partial results by the first index.
    prefixes: FxHashMap<(Site, i64, Place), Vec<Value>>,
    /// The names in the body of a fold.
    names: FxHashMap<Site, Arc<[Symbol]>>,
    /// At most one at a time.
    long: Option<LongFold>,
}

impl Elaborator<'_> {
    pub(crate) fn fold_range(&mut self, site: Site) {
        let (fold, binder, _) = self.fold_parts(site);
        let (to, from) = (self.pop(), self.pop());
        let range = self.range(site, binder, &from, &to);
        let Some((from, last)) = range else { return self.push(Value::Poison) };
        if last.saturating_sub(from) >= TERMS {
            let count = last.saturating_sub(from) as f64 + 1.0;
            let message = format!(
                "the range {from}..{last} has more than {TERMS} terms: all of them would take about {}",
                memory(count * TERM_BYTES)
            );
            self.error("E0308", self.span(site), message);
            return self.push(Value::Poison);
        }
        let is_energy = matches!(self.place, Place::Lagrangian | Place::Potential);
        let is_long = is_energy
            && fold == Fold::Sum
            && last - from + 1 >= LONG
            && self.folds.long.is_none();
        let remembered = (!is_long && self.is_memorable(site)).then_some(from);
        let known = remembered.and_then(|from| self.prefix(site, from, last));
        let (next, so_far) = known.map_or((from, None), |(k, v)| (k + 1, Some(v)));
        // NOTE: a vector without entries marks a fold without a term so far.
        self.push(so_far.unwrap_or_else(|| Value::Vector(Arc::from([]))));
        let index = Value::Scalar(self.graph.integer(from));
        self.stacks.locals.push((binder.name.symbol, index));
        if is_long {
            self.begin_long();
        }
        let begun = (next, self.effort.work);
        self.later(Step::Next(Loop { site, next, last, remembered, is_long, begun }));
    }

    pub(crate) fn fold_next(&mut self, at: Loop) {
        let (fold, _, body) = self.fold_parts(at.site);
        if at.is_long {
            self.long_next(at.next > at.last);
        }
        if at.next > at.last {
            self.stacks.locals.pop();
            let so_far = self.pop();
            let empty = match fold {
                Fold::Sum => self.graph.zero(),
                Fold::Product => self.graph.one(),
            };
            let value = if is_empty(&so_far) { Value::Scalar(empty) } else { so_far };
            return self.push(value);
        }
        if self.is_hopeless(at) {
            self.stacks.locals.pop();
            if at.is_long {
                self.folds.long = None;
            }
            self.pop();
            return self.push(Value::Poison);
        }
        let index = Value::Scalar(self.graph.integer(at.next));
        if let Some(local) = self.stacks.locals.last_mut() {
            local.1 = index;
        }
        self.later(Step::Accumulate(at));
        self.later(Step::Visit(Site { id: body, ..at.site }));
    }

    pub(crate) fn fold_accumulate(&mut self, at: Loop) {
        let (fold, _, _) = self.fold_parts(at.site);
        let (term, so_far) = (self.pop(), self.pop());
        let value = if term.is_poison() {
            Value::Poison
        } else if term.shape().is_none() {
            let what = if fold == Fold::Sum { "added up" } else { "multiplied" };
            let message = format!("{} cannot be {what}", term.describe());
            self.error("E0303", self.span(at.site), message);
            Value::Poison
        } else if is_empty(&so_far) {
            term
        } else {
            self.accumulate(&so_far, &term, fold == Fold::Product, at.site)
        };
        if value.is_poison() {
            // One mistake is enough: the other terms are not looked at.
            self.stacks.locals.pop();
            if at.is_long {
                self.folds.long = None;
            }
            return self.push(Value::Poison);
        }
        if let Some(from) = at.remembered {
            let known = self.folds.prefixes.entry((at.site, from, self.place)).or_default();
            if from + known.len() as i64 == at.next {
                known.push(value.clone());
            }
        }
        self.push(value);
        self.later(Step::Next(Loop { next: at.next + 1, ..at }));
    }

    /// Whether the terms that are left are clearly too many, which is reported.
    fn is_hopeless(&mut self, at: Loop) -> bool {
        let (first, before) = at.begun;
        let done = at.next - first;
        if done < LOOKED_AT || self.effort.exhausted {
            return false;
        }
        let each = (self.effort.work - before) as f64 / done as f64;
        let all = each * (at.last - first + 1) as f64;
        let is_hopeless = all > CLEARLY * WORK as f64;
        if is_hopeless {
            let message = format!(
                "the terms {first}..{} take about {all:.0e} steps to write out, more than {WORK}: that would take \
                 about {}",
                at.last,
                memory(all * STEP_BYTES)
            );
            self.error("E0308", self.span(at.site), message);
        }
        is_hopeless
    }

    fn begin_long(&mut self) {
        self.folds.long = Some(LongFold {
            sum: self.graph.begin_long_sum(),
            prefixes: std::mem::take(&mut self.folds.prefixes),
            rates: std::mem::take(&mut self.cache.rates),
            contents: std::mem::take(&mut self.cache.contents),
        });
    }

    /// Takes a piece of the sum on the stack if it is long enough, or the last one.
    fn long_next(&mut self, is_last: bool) {
        let Some(mut long) = self.folds.long.take() else { return };
        let so_far = self.pop();
        let sum = match &so_far {
            Value::Scalar(sum) => Some(*sum),
            _ if is_empty(&so_far) => None,
            // NOTE: only numbers are gathered. Everything stays as it was read.
            _ => return self.push(so_far),
        };
        if is_last {
            let LongFold { sum: whole, prefixes, rates, contents } = long;
            let (made, is_void) = whole.finish(self.graph, sum);
            if is_void {
                self.folds.prefixes = prefixes;
                self.cache.rates = rates;
                self.cache.contents = contents;
            }
            return self.push(Value::Scalar(made));
        }
        let is_taken = match sum {
            Some(sum) if long.sum.is_due(self.graph) => {
                let is_void = long.sum.take(self.graph, sum);
                if is_void {
                    self.folds.prefixes.clear();
                    self.cache.rates = Rates::default();
                    self.cache.contents.clear();
                }
                true
            }
            _ => false,
        };
        self.push(if is_taken { Value::Vector(Arc::from([])) } else { so_far });
        self.folds.long = Some(long);
    }

    fn fold_parts(&self, site: Site) -> (Fold, Binder, ExprId) {
        match self.kind(site) {
            NodeKind::Fold { fold, binder, body } => (fold, binder, body),
            _ => unreachable!("only folds take the steps of a fold"),
        }
    }

    /// The longest remembered partial result, with its last index.
    fn prefix(&self, site: Site, from: i64, last: i64) -> Option<(i64, Value)> {
        let known = self.folds.prefixes.get(&(site, from, self.place))?;
        let count = (known.len() as i64).min(last - from + 1);
        (count > 0).then(|| (from + count - 1, known[count as usize - 1].clone()))
    }

    /// Whether the fold stands among local names and its body uses none of them.
    fn is_memorable(&mut self, site: Site) -> bool {
        let visible = &self.stacks.locals[self.stacks.frame..];
        if visible.is_empty() {
            return false;
        }
        let (_, _, body) = self.fold_parts(site);
        let arena = self.arena(site);
        let names = self.folds.names.get(&site).cloned().unwrap_or_else(|| {
            let names = arena.subtree(body).filter_map(|id| match arena.kind(id) {
                NodeKind::Name(symbol) => Some(symbol),
                _ => None,
            });
            names.collect()
        });
        let memorable = !visible.iter().any(|(symbol, _)| names.contains(symbol));
        self.folds.names.insert(site, names);
        memorable
    }
}

/// An amount of memory in words.
pub(crate) fn memory(bytes: f64) -> String {
    let units = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    let (size, unit) = units.into_iter().find(|u| bytes >= u.0).unwrap_or((1e3, "kB"));
    let amount = bytes / size;
    if amount < 1e4 { format!("{amount:.0} {unit}") } else { format!("{amount:.0e} {unit}") }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Vector(entries) if entries.is_empty())
}
