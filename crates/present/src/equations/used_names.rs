//! Names are worth looking up where they stand more than once: the others are written out, and what only programs read
//! explains no name to people.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph, Role};

use super::names::symbols_of;
use super::{Label, Presentation};

/// Our names that stand no more often are written out, if they are short.
const MOST: usize = 3;

/// Characters of a formula that is read at a glance.
const LINE: usize = 100;

impl Presentation {
    /// Writes out names that stand once in what people read, or that stand for another name.
    pub(super) fn write_out_names_used_once(&mut self) {
        // NOTE: the energy among the conserved quantities is hidden, which is known when these have their words.
        let waits = self.sections.iter().any(|s| s.key == "conserved") && self.kept.is_empty();
        if waits {
            return;
        }
        let mut i = self.definitions.len();
        let mut shown: Option<(Vec<Expr>, BTreeMap<Expr, usize>)> = None;
        while i > 0 {
            i -= 1;
            let (name, meaning) = self.definitions[i].clone();
            let symbol = self.graph.symbol(&name, Role::Free);
            let [_, place, rate] = symbols_of(&self.graph, &name);
            let (roots, counts) = shown.get_or_insert_with(|| {
                let mut roots = self.shown_sides();
                roots.extend(self.shown_definitions().map(|d| d.1));
                let counts = occurrences(&self.graph, &roots);
                (roots, counts)
            });
            let uses = counts.get(&symbol).copied().unwrap_or(0);
            let has_rate = [place, rate].iter().any(|s| counts.contains_key(s));
            let is_alias = self.graph.symbol_of(meaning).is_some();
            if has_rate || uses == 0 || (uses > MOST && !is_alias) {
                continue;
            }
            let is_side = roots.contains(&symbol);
            let length = self.graph.to_text(meaning).len();
            let host = roots.iter().find(|&&e| self.graph.contains(e, &[symbol]));
            let host = host.map_or(0, |&e| self.graph.to_text(e).len());
            // NOTE: a page in the words of the text keeps them.
            let is_short = is_side || (length + host <= LINE && self.preface.is_empty());
            let is_ours = !self.names.contains(&name) && uses <= MOST && length <= LINE;
            let is_once = uses == 1 && is_short;
            if is_once || is_alias || is_ours {
                self.definitions.remove(i);
                self.replace(symbol, meaning);
                shown = None;
            }
        }
        self.number_names();
    }

    /// Numbers the names that are ours from one on, without gaps.
    pub(super) fn number_names(&mut self) {
        let g = &self.graph;
        let mut images = Vec::new();
        let mut count = 0;
        for (name, _) in &mut self.definitions {
            let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            let stem = name[..name.len() - digits.len()].to_owned();
            if self.names.contains(name) || digits.is_empty() {
                continue;
            }
            let mut fresh = format!("{stem}{}", count + 1);
            while self.names.contains(&fresh) {
                count += 1;
                fresh = format!("{stem}{}", count + 1);
            }
            count += 1;
            if *name != fresh {
                images.push((g.symbol(name, Role::Free), g.symbol(&fresh, Role::Free)));
                *name = fresh;
            }
        }
        if images.is_empty() {
            return;
        }
        let put = |e: &mut Expr| *e = g.as_written(|| g.substitute(&[*e], &images))[0];
        for line in self.sections.iter_mut().flat_map(|s| &mut s.lines) {
            if let Label::Expression(left) = &mut line.label {
                put(left);
            }
            put(&mut line.right);
        }
        self.definitions.iter_mut().for_each(|d| put(&mut d.1));
    }

    /// The definitions of names that stand in what people read.
    pub(crate) fn shown_definitions(&self) -> impl Iterator<Item = &(String, Expr)> {
        let mut roots = self.shown_sides();
        let mut is_shown = vec![false; self.definitions.len()];
        // NOTE: later definitions build on earlier ones, so one sweep backwards finds all that are needed.
        for (i, (name, meaning)) in self.definitions.iter().enumerate().rev() {
            let symbols = symbols_of(&self.graph, name);
            if roots.iter().any(|&r| self.graph.contains(r, &symbols)) {
                roots.push(*meaning);
                is_shown[i] = true;
            }
        }
        self.definitions.iter().zip(is_shown).filter(|d| d.1).map(|d| d.0)
    }

    /// Both sides of all lines that people read.
    fn shown_sides(&self) -> Vec<Expr> {
        let mut sides = Vec::new();
        for line in self.sections.iter().flat_map(|s| self.shown(s)) {
            if let Label::Expression(left) = line.label {
                sides.push(left);
            }
            sides.push(line.right);
        }
        sides
    }

    /// Another expression for a symbol, everywhere; what it stands in is written anew.
    fn replace(&mut self, symbol: Expr, meaning: Expr) {
        let g = &self.graph;
        let image = [(symbol, meaning)];
        let replaced = |e: &mut Expr| {
            if g.contains(*e, &[symbol]) {
                let put = g.as_written(|| g.substitute(&[*e], &image))[0];
                *e = shorter(g, put);
            }
        };
        for line in self.sections.iter_mut().flat_map(|s| &mut s.lines) {
            if let Label::Expression(left) = &mut line.label {
                replaced(left);
            }
            replaced(&mut line.right);
        }
        self.definitions.iter_mut().for_each(|d| replaced(&mut d.1));
    }
}

/// A formula of the page, or a shorter one for it.
fn shorter(g: &Graph, e: Expr) -> Expr {
    written_if(g, e, |found, given| found < given)
}

/// A formula of the page as it is read, unless that is longer.
pub(super) fn tidy(g: &Graph, e: Expr) -> Expr {
    written_if(g, e, |found, given| found <= given)
}

fn written_if(g: &Graph, e: Expr, is_better: impl Fn(usize, usize) -> bool) -> Expr {
    /// Characters of a formula that is longer than those which people are shown.
    const LONG: usize = 2_000;
    let given = g.to_text(e).len();
    if given > LONG {
        return e;
    }
    let desk = Graph::new();
    let found = g.on_paper(&[e], &desk)[0];
    if is_better(desk.to_text(found).len(), given) {
        desk.in_reading_order(&[found], g)[0]
    } else {
        e
    }
}

/// How often each part stands in formulas that are written out.
fn occurrences(g: &Graph, formulas: &[Expr]) -> BTreeMap<Expr, usize> {
    let mut counts: BTreeMap<Expr, usize> = BTreeMap::new();
    for &e in formulas {
        *counts.entry(e).or_insert(0) += 1;
    }
    for e in g.live(formulas).into_iter().rev() {
        let own = counts[&e];
        for part in g.node(e).operands() {
            let count = counts.entry(part).or_insert(0);
            *count = count.saturating_add(own);
        }
    }
    counts
}
