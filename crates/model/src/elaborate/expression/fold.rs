//! `sum(i = 1..N, …)` and `product(i = 1..N, …)`, folded from the left.
//!
//! Inside a family or another sum, partial results of a fold that does not depend on the outer indices are
//! remembered: `sum(j = 1..i, …)` for
//! i = 1, 2, … costs one term each.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::elaborate::Elaborator;
use crate::elaborate::expression::machine::Step;
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
}

/// What is remembered of folds.
#[derive(Debug, Default)]
pub(crate) struct Folds {
    /// Partial results by the first index.
    prefixes: FxHashMap<(Site, i64, Place), Vec<Value>>,
    /// The names in the body of a fold.
    names: FxHashMap<Site, Arc<[Symbol]>>,
}

impl Elaborator<'_> {
    pub(crate) fn fold_range(&mut self, site: Site) {
        let (_, binder, _) = self.fold_parts(site);
        let (to, from) = (self.pop(), self.pop());
        let range = self.range(site, binder, &from, &to);
        let Some((from, last)) = range else { return self.push(Value::Poison) };
        if last.saturating_sub(from) >= TERMS {
            let message = format!("the range {from}..{last} has more than {TERMS} terms");
            self.error("E0308", self.span(site), message);
            return self.push(Value::Poison);
        }
        let remembered = self.is_memorable(site).then_some(from);
        let known = remembered.and_then(|from| self.prefix(site, from, last));
        let (next, so_far) = known.map_or((from, None), |(k, v)| (k + 1, Some(v)));
        // NOTE: a vector without entries marks a fold without a term so far.
        self.push(so_far.unwrap_or_else(|| Value::Vector(Arc::from([]))));
        let index = Value::Scalar(self.graph.integer(from));
        self.stacks.locals.push((binder.name.symbol, index));
        self.later(Step::Next(Loop { site, next, last, remembered }));
    }

    pub(crate) fn fold_next(&mut self, at: Loop) {
        let (fold, _, body) = self.fold_parts(at.site);
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

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Vector(entries) if entries.is_empty())
}
