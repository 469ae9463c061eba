//! Expressions as Typst, for its math mode.
//!
//! Greek letters and signs are written as characters, words of several letters in quotes, so that no name of a model
//! is taken for a name of Typst. Brackets grow by themselves.

use crate::graph::Graph;
use crate::graph::node::{Expr, Relation, Role};
use crate::graph::number::{self, Rational};
use crate::math::notation::MarkupLanguage;
use crate::print::typeset::{Fractional, Markup, typeset};
use crate::print::{self, typst_symbol};

impl Graph {
    /// The expression in Typst, for math mode.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let phi = g.symbol("phi[1,2]", Role::Coordinate { order: 1 });
    /// let e = g.neg(g.div(g.pow(g.sin(phi), g.integer(2)), g.add(phi, g.one())));
    /// assert_eq!(g.to_typst(e), "-frac(sin^(2) dot(φ)_(12), dot(φ)_(12) + 1)");
    /// ```
    pub fn to_typst(&self, e: Expr) -> String {
        if print::is_small(self, e) {
            return self.typst_in_full(e);
        }
        let named = self.named(&[e], &print::NameOptions::default());
        let definitions: Vec<String> = (named.definitions.iter())
            .map(|(name, d)| {
                let symbol = self.symbol(name, Role::Free);
                format!("{} = {}", self.typst_in_full(symbol), self.typst_in_full(*d))
            })
            .collect();
        let value = self.typst_in_full(named.outputs[0]);
        format!("{value} quad \"where\" quad {}", definitions.join(", "))
    }

    /// The terms of a sum in Typst, each with its sign; one term if it is no sum or too large to be written out.
    pub fn typst_terms(&self, e: Expr) -> Vec<String> {
        if !print::is_small(self, e) {
            return vec![self.to_typst(e)];
        }
        let one = |term: Expr| self.typst_in_full(term);
        print::terms_of_sum(self, e, &one, TYPST.growing)
    }

    fn typst_in_full(&self, e: Expr) -> String {
        let live = self.live(&[e]);
        typeset(&self.store.borrow(), &live, e, &TYPST)
    }
}

static TYPST: Markup = Markup {
    language: MarkupLanguage::Typst,
    number: number_typst,
    symbol: typst_symbol::typst,
    pi: "π",
    negative: "-",
    plus: " + ",
    minus: " - ",
    times: " ⋅ ",
    thin: " thin ",
    fraction: ["frac(", ", ", ")"],
    power: ["", "^(", ")"],
    group: ["", ""],
    e: "upright(e)",
    root: ["sqrt(", ")"],
    bars: ["abs(", ")"],
    flat: ["(", ")"],
    growing: ["(", ")"],
    order: ["(", ")"],
    // A name directly before a bracket would be a call.
    apply: " ",
    apply_to_symbol: |_| " ",
    comma: ", ",
    mittag_leffler: ["E_(", ", ", ")"],
    cases: ["cases(", " & \"if\" ", ", ", " & \"otherwise\")"],
    relation: |r| match r {
        Relation::Less => " < ",
        Relation::LessEqual => " ≤ ",
        Relation::Equal => " = ",
        Relation::NotEqual => " ≠ ",
    },
    not: "¬ ",
    and: " ∧ ",
    or: " ∨ ",
    table: |column, order| {
        let primes = "′".repeat(order as usize);
        typst_symbol::quoted(&format!("{column}{primes}"))
    },
    fractional: |operator| match operator {
        Fractional::Caputo => ["attach(D, tl: upright(C), bl: t_0, br: t, tr: ", ")"],
        Fractional::RiemannLiouville => ["attach(D, tl: \"RL\", bl: t_0, br: t, tr: ", ")"],
        Fractional::CaputoRight => ["attach(D, tl: upright(C), bl: t, br: t_1, tr: ", ")"],
        Fractional::RiemannLiouvilleRight => {
            ["attach(D, tl: \"RL\", bl: t, br: t_1, tr: ", ")"]
        }
        Fractional::Integral => ["attach(I, bl: t_0, br: t, tr: ", ")"],
    },
    integral: "integral_(t_0)^t ",
    d_tau: " thin upright(d) τ",
    over_time: "frac(1, t - t_0) thin ",
};

fn number_typst(value: &Rational) -> String {
    let text = number::to_text(value);
    match text.split_once('/') {
        Some((n, d)) => {
            let sign = if n.starts_with('-') { "-" } else { "" };
            format!("{sign}frac({}, {d})", n.trim_start_matches('-'))
        }
        None => text,
    }
}
