//! Expressions as MathML (Presentation, MathML Core), for a page that brings no script to typeset it.
//!
//! Sums and products are written flat, side by side in their row, so that a long sum does not nest. A page breaks
//! lines before the signs of sums:
//! [`Graph::mathml_terms`] gives the pieces one by one.

use crate::graph::Graph;
use crate::graph::node::{Expr, Relation, Role};
use crate::graph::number::{self, Rational};
use crate::math::notation::MarkupLanguage;
use crate::print;
use crate::print::mathml_symbol::{self, escape};
use crate::print::typeset::{Fractional, Markup, is_fraction, typeset};

const PLUS: &str = "<mo form=\"infix\">+</mo>";
const MINUS: &str = "<mo form=\"infix\">−</mo>";
const NEGATIVE: &str = "<mo form=\"prefix\">−</mo>";
const THIN: &str = "<mspace width=\"0.17em\"/>";

impl Graph {
    /// The expression as the content of a `math` or `mrow` element.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Coordinate { order: 1 });
    /// assert_eq!(
    ///     g.to_mathml(g.pow(x, g.integer(2))),
    ///     "<msup><mover accent=\"true\"><mi>x</mi><mo>˙</mo></mover><mrow><mn>2</mn></mrow></msup>"
    /// );
    /// ```
    pub fn to_mathml(&self, e: Expr) -> String {
        self.mathml_terms(e).concat()
    }

    /// The same in pieces between which a line may break: before the signs of sums, also inside brackets of
    /// the height of a line. Together they are [`Graph::to_mathml`].
    pub fn mathml_terms(&self, e: Expr) -> Vec<String> {
        if print::is_small(self, e) {
            return self.mathml_in_full(e);
        }
        let named = self.named(&[e], &print::NameOptions::default());
        let mut terms = self.mathml_in_full(named.outputs[0]);
        for (i, (name, definition)) in named.definitions.iter().enumerate() {
            let word = if i == 0 { "<mtext> where </mtext>" } else { "<mo>,</mo>" };
            let symbol = self.symbol(name, Role::Free);
            let (left, right) =
                (self.mathml_in_full(symbol).concat(), self.mathml_in_full(*definition));
            terms.push(format!("{word}{left}<mo>=</mo>{}", right.concat()));
        }
        terms
    }

    fn mathml_in_full(&self, e: Expr) -> Vec<String> {
        let live = self.live(&[e]);
        split_at_signs(&typeset(&self.store.borrow(), &live, e, &MATHML))
    }
}

/// The row cut before each plus and minus that stands in no element: between the terms of a sum, also inside
/// brackets of the height of a line.
fn split_at_signs(row: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(start) = row[at..].find('<').map(|i| at + i) {
        let end = row[start..].find('>').map_or(row.len(), |i| start + i + 1);
        let tag = &row[start..end];
        let last = terms.last_mut().expect("there is always a last term");
        last.push_str(&row[at..start]);
        let sign = row[start..].starts_with(PLUS) || row[start..].starts_with(MINUS);
        if depth == 0 && sign && !last.is_empty() {
            terms.push(String::new());
        }
        terms.last_mut().expect("there is always a last term").push_str(tag);
        if tag.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if !tag.ends_with("/>") {
            depth += 1;
        }
        at = end;
    }
    terms.last_mut().expect("there is always a last term").push_str(&row[at..]);
    terms
}

static MATHML: Markup = Markup {
    language: MarkupLanguage::MathMl,
    number: number_mathml,
    symbol: mathml_symbol::mathml,
    pi: "<mi>π</mi>",
    negative: NEGATIVE,
    plus: PLUS,
    minus: MINUS,
    times: "<mo>·</mo>",
    thin: THIN,
    fraction: ["<mfrac><mrow>", "</mrow><mrow>", "</mrow></mfrac>"],
    power: ["<msup>", "<mrow>", "</mrow></msup>"],
    group: ["<mrow>", "</mrow>"],
    e: "<mi mathvariant=\"normal\">e</mi>",
    root: ["<msqrt><mrow>", "</mrow></msqrt>"],
    bars: [
        "<mrow><mo form=\"prefix\" stretchy=\"true\">|</mo>",
        "<mo form=\"postfix\" stretchy=\"true\">|</mo></mrow>",
    ],
    flat: [
        "<mo form=\"prefix\" stretchy=\"false\">(</mo>",
        "<mo form=\"postfix\" stretchy=\"false\">)</mo>",
    ],
    growing: ["<mrow><mo form=\"prefix\">(</mo>", "<mo form=\"postfix\">)</mo></mrow>"],
    order: ["<mo stretchy=\"false\">(</mo>", "<mo stretchy=\"false\">)</mo>"],
    // The sign, not seen, that a function is applied.
    apply: "<mo>\u{2061}</mo>",
    apply_to_symbol: |_| "<mo>\u{2061}</mo><mspace width=\"0.17em\"/>",
    comma: "<mo>,</mo>",
    mittag_leffler: ["<msub><mi>E</mi><mrow>", "<mo>,</mo>", "</mrow></msub>"],
    cases: [
        "<mrow><mo>{</mo><mtable columnalign=\"left\"><mtr><mtd>",
        "</mtd><mtd><mtext>if </mtext>",
        "</mtd></mtr><mtr><mtd>",
        "</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
    ],
    relation: |r| match r {
        Relation::Less => "<mo>&lt;</mo>",
        Relation::LessEqual => "<mo>≤</mo>",
        Relation::Equal => "<mo>=</mo>",
        Relation::NotEqual => "<mo>≠</mo>",
    },
    not: "<mo>¬</mo>",
    and: "<mo>∧</mo>",
    or: "<mo>∨</mo>",
    table: |column, order| {
        let primes = "′".repeat(order as usize);
        format!("<mi mathvariant=\"normal\">{}{primes}</mi>", escape(column))
    },
    fractional: |operator| match operator {
        Fractional::Caputo => [
            "<mmultiscripts><mi>D</mi><mi>t</mi><mrow>",
            "</mrow><mprescripts/><msub><mi>t</mi><mn>0</mn></msub><mi>C</mi></mmultiscripts>",
        ],
        Fractional::RiemannLiouville => [
            "<mmultiscripts><mi>D</mi><mi>t</mi><mrow>",
            "</mrow><mprescripts/><msub><mi>t</mi><mn>0</mn></msub><mi>RL</mi></mmultiscripts>",
        ],
        Fractional::CaputoRight => [
            "<mmultiscripts><mi>D</mi><msub><mi>t</mi><mn>1</mn></msub><mrow>",
            "</mrow><mprescripts/><mi>t</mi><mi>C</mi></mmultiscripts>",
        ],
        Fractional::RiemannLiouvilleRight => [
            "<mmultiscripts><mi>D</mi><msub><mi>t</mi><mn>1</mn></msub><mrow>",
            "</mrow><mprescripts/><mi>t</mi><mi>RL</mi></mmultiscripts>",
        ],
        Fractional::Integral => [
            "<mmultiscripts><mi>I</mi><mi>t</mi><mrow>",
            "</mrow><mprescripts/><msub><mi>t</mi><mn>0</mn></msub><mrow></mrow></mmultiscripts>",
        ],
    },
    integral: concat!(
        "<msubsup><mo stretchy=\"false\">∫</mo>",
        "<msub><mi>t</mi><mn>0</mn></msub><mi>t</mi></msubsup>"
    ),
    d_tau: "<mspace width=\"0.17em\"/><mi mathvariant=\"normal\">d</mi><mi>τ</mi>",
    over_time: concat!(
        "<mfrac><mn>1</mn><mrow><mi>t</mi><mo>−</mo>",
        "<msub><mi>t</mi><mn>0</mn></msub></mrow></mfrac>"
    ),
};

fn number_mathml(value: &Rational) -> String {
    let text = number::to_text(value);
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (NEGATIVE, size),
        None => ("", text.as_str()),
    };
    match size.split_once('/') {
        Some((n, d)) if is_fraction(value) => {
            format!("{sign}<mfrac><mn>{n}</mn><mn>{d}</mn></mfrac>")
        }
        _ => format!("{sign}<mn>{size}</mn>"),
    }
}
