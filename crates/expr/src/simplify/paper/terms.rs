//! Long expressions without a short formula as a whole: their terms, or what stands above and below a line, by
//! themselves.
//!
//! Terms with denominators of their own are not brought over a common one where that is longer.

use super::{Choice, Paper};
use crate::graph::node::{Expr, Node};
use crate::math::Unary;
use crate::print;

/// Shorter texts are not taken apart.
const LONG: usize = 80;

impl Paper<'_> {
    /// A long sum that has no short formula as a whole: its terms by themselves.
    pub(super) fn choose_terms(&mut self, e: Expr, best: usize, depth: usize) {
        let is_given = matches!(self.chosen.get(&e), Some(Choice::AsItIs));
        if !is_given || best < LONG || depth > 0 {
            return;
        }
        let terms = self.plain_terms(e);
        if terms.len() < 2 {
            self.choose_within(e, best);
            return;
        }
        // NOTE: energies are sums of two or three; many terms would be shortened as a whole if at all.
        let halves = match self.source.node(e) {
            Node::Add(a, b) => vec![(false, a), (false, b)],
            Node::Sub(a, b) => vec![(false, a), (true, b)],
            _ => return,
        };
        let apart = self.parts_by_kind(&terms);
        let first = if terms.len() <= 4 { terms } else { halves };
        let best = self.choose_shorter(e, first, best);
        if let Some(apart) = apart {
            self.choose_shorter(e, apart, best);
        }
    }

    /// A long formula over one denominator: its terms with denominators of their own, where that is shorter.
    pub(super) fn choose_parts_of_formula(&mut self, e: Expr) {
        if !matches!(self.chosen.get(&e), Some(Choice::Formula { .. })) || self.left == 0 {
            return;
        }
        let best = self.text_width(self.write(e, &self.desk));
        if best < LONG {
            return;
        }
        let plain = self.plain_terms(e);
        let terms = if plain.len() < 2 { self.terms_apart(e) } else { plain };
        if let Some(parts) = self.parts_by_kind(&terms) {
            self.choose_shorter(e, parts, best);
        }
    }

    /// Takes an expression by parts, if that is shorter; and how wide it then is.
    fn choose_shorter(&mut self, e: Expr, parts: Vec<(bool, Expr)>, best: usize) -> usize {
        for &(_, part) in &parts {
            self.choose(part, 1);
        }
        let written = self.write(e, &self.desk);
        let written = print::is_small(&self.desk, written).then_some(written);
        let before = self.chosen.insert(e, Choice::Sum(parts));
        let made = self.write(e, &self.desk);
        // An acceleration stands once, behind its mass.
        let accelerations = |e: Expr| self.desk.to_text(e).matches("\'\'").count();
        let width = self.text_width(made);
        let is_longer =
            width >= best || written.is_some_and(|w| accelerations(made) > accelerations(w));
        match before {
            Some(before) if is_longer => {
                self.chosen.insert(e, before);
                best
            }
            _ => width,
        }
    }

    /// The terms of a sum, with their signs: `true` for minus.
    fn plain_terms(&self, e: Expr) -> Vec<(bool, Expr)> {
        let (mut terms, mut rest) = (Vec::new(), vec![(false, e)]);
        while let Some((is_less, e)) = rest.pop() {
            match self.source.node(e) {
                Node::Add(a, b) => rest.extend([(is_less, b), (is_less, a)]),
                Node::Sub(a, b) => rest.extend([(!is_less, b), (is_less, a)]),
                _ => terms.push((is_less, e)),
            }
        }
        terms
    }

    /// A long product or quotient that has no short formula as a whole: with the terms of its sum apart, or above and
    /// below the line by themselves.
    fn choose_within(&mut self, e: Expr, best: usize) {
        /// Longer ones may be parts of other lines, which then share a name with them as long as they stay as they are.
        const LONGEST: usize = 400;
        if best > LONGEST {
            return;
        }
        let g = self.source;
        let choice = match g.node(e) {
            Node::Div(above, below) if g.varies(below) => {
                self.choose(above, 0);
                self.choose(below, 0);
                Choice::Quotient(above, below)
            }
            Node::Neg(_) | Node::Mul(..) | Node::Div(..) => {
                let parts = self.terms_apart(e);
                if parts.len() < 2 {
                    return;
                }
                for &(_, part) in &parts {
                    self.choose(part, 1);
                }
                Choice::Sum(parts)
            }
            _ => return,
        };
        let before = self.chosen.insert(e, choice);
        let made = self.write(e, &self.desk);
        let width = self.text_width(made).saturating_add(self.untidiness(made));
        if width >= best
            && let Some(before) = before
        {
            self.chosen.insert(e, before);
        }
    }

    /// The terms of sums that are multiplied and divided by constants, with these factors.
    fn terms_apart(&self, e: Expr) -> Vec<(bool, Expr)> {
        let g = self.source;
        let is_constant = |e: Expr| !g.varies(e);
        let mut terms = Vec::new();
        let mut rest = vec![(false, g.one(), g.one(), e)];
        while let Some((is_less, above, below, e)) = rest.pop() {
            match g.node(e) {
                Node::Add(a, b) => {
                    rest.extend([(is_less, above, below, b), (is_less, above, below, a)]);
                }
                Node::Sub(a, b) => {
                    rest.extend([(!is_less, above, below, b), (is_less, above, below, a)]);
                }
                Node::Neg(a) => rest.push((!is_less, above, below, a)),
                Node::Mul(a, b) if is_constant(a) => {
                    rest.push((is_less, g.mul(above, a), below, b));
                }
                Node::Div(a, b) if is_constant(b) => {
                    rest.push((is_less, above, g.mul(below, b), a));
                }
                _ => terms.push((is_less, g.div(g.mul(above, e), below))),
            }
        }
        terms
    }

    /// Terms that are divided by what varies, or contain functions other than sines, each by itself, and the others
    /// together; `None` where they are of one kind.
    fn parts_by_kind(&self, terms: &[(bool, Expr)]) -> Option<Vec<(bool, Expr)>> {
        let g = self.source;
        let is_apart = |e: &Expr| match g.node(*e) {
            Node::Div(_, below) => g.varies(below),
            Node::Unary(f, a) => !matches!(f, Unary::Sin | Unary::Cos) && g.varies(a),
            _ => false,
        };
        let (mut parts, mut others, mut place) = (Vec::new(), Vec::new(), None);
        for &(is_less, term) in terms {
            if g.live(&[term]).iter().any(is_apart) {
                parts.push((is_less, term));
            } else {
                place.get_or_insert(parts.len());
                others.push(if is_less { g.neg(term) } else { term });
            }
        }
        if parts.is_empty() || parts.len() + others.len() < 2 {
            return None;
        }
        if let Some(place) = place {
            parts.insert(place, (false, g.sum(others)));
        }
        Some(parts)
    }
}
