//! Expressions as LaTeX.
//!
//! Memory operators are ${}^{C}_{t_0}D^{\alpha}_{t}$ (Caputo), ${}^{RL}_{t_0}D^{\alpha}_{t}$
//! (Riemann–Liouville), ${}_{t_0}I_t^\mu$; in the kernel of $\int_{t_0}^t$ the lag is $s = t - \tau$.
//!
//! What is larger than 2²⁰ nodes when its shared parts are written out is printed with names, "… where $s_1 = …$".

use crate::graph::Graph;
use crate::graph::node::{Expr, Relation, Role};
use crate::graph::number::{self, Rational};
use crate::math::notation::MarkupLanguage;
use crate::print::typeset::{Fractional, Markup, typeset};
use crate::print::{self, latex_symbol};

impl Graph {
    /// The expression in LaTeX, for math mode.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let phi = g.symbol("phi[1,2]", Role::Coordinate { order: 1 });
    /// let e = g.neg(g.div(g.pow(g.sin(phi), g.integer(2)), g.add(phi, g.one())));
    /// assert_eq!(
    ///     g.to_latex(e),
    ///     r"-\frac{\sin^{2}\dot{\varphi}_{12}}{\dot{\varphi}_{12} + 1}"
    /// );
    /// ```
    pub fn to_latex(&self, e: Expr) -> String {
        if print::is_small(self, e) {
            return self.latex_in_full(e);
        }
        let named = self.named(&[e], &print::NameOptions::default());
        let definitions: Vec<String> = (named.definitions.iter())
            .map(|(name, d)| {
                let symbol = self.symbol(name, Role::Free);
                format!("{} = {}", self.latex_in_full(symbol), self.latex_in_full(*d))
            })
            .collect();
        let (value, where_) = (self.latex_in_full(named.outputs[0]), definitions.join(",\\; "));
        format!("{value} \\quad\\text{{where}}\\quad {where_}")
    }

    /// The terms of a sum in LaTeX, each with its sign; one term if it is no sum or too large to be written out.
    pub fn latex_terms(&self, e: Expr) -> Vec<String> {
        if !print::is_small(self, e) {
            return vec![self.to_latex(e)];
        }
        let one = |term: Expr| self.latex_in_full(term);
        print::terms_of_sum(self, e, &one, LATEX.growing)
    }

    fn latex_in_full(&self, e: Expr) -> String {
        let live = self.live(&[e]);
        typeset(&self.store.borrow(), &live, e, &LATEX)
    }
}

static LATEX: Markup = Markup {
    language: MarkupLanguage::Latex,
    number: number_latex,
    symbol: latex_symbol::latex,
    pi: "\\pi",
    negative: "-",
    plus: " + ",
    minus: " - ",
    times: "\\cdot ",
    thin: "\\,",
    fraction: ["\\frac{", "}{", "}"],
    power: ["", "^{", "}"],
    group: ["", ""],
    e: "\\mathrm{e}",
    root: ["\\sqrt{", "}"],
    bars: ["\\left|", "\\right|"],
    flat: ["(", ")"],
    growing: ["\\left(", "\\right)"],
    order: ["(", ")"],
    apply: "",
    // A command needs no blank before another command.
    apply_to_symbol: |text| if text.starts_with('\\') { "" } else { " " },
    comma: ",\\,",
    mittag_leffler: ["E_{", ",", "}"],
    cases: [
        "\\begin{cases} ",
        " & \\text{if } ",
        " \\\\ ",
        " & \\text{otherwise} \\end{cases}",
    ],
    relation: |r| match r {
        Relation::Less => " < ",
        Relation::LessEqual => " \\le ",
        Relation::Equal => " = ",
        Relation::NotEqual => " \\ne ",
    },
    not: "\\lnot ",
    and: " \\land ",
    or: " \\lor ",
    table: |column, order| {
        let primes = "'".repeat(order as usize);
        format!("\\mathrm{{{}}}{primes}", latex_symbol::escape(column))
    },
    fractional: |operator| match operator {
        Fractional::Caputo => ["{}^{C}_{t_0}D^{", "}_{t}"],
        Fractional::RiemannLiouville => ["{}^{RL}_{t_0}D^{", "}_{t}"],
        Fractional::CaputoRight => ["{}^{C}_{t}D^{", "}_{t_1}"],
        Fractional::RiemannLiouvilleRight => ["{}^{RL}_{t}D^{", "}_{t_1}"],
        Fractional::Integral => ["{}_{t_0}I_{t}^{", "}"],
    },
    integral: "\\int_{t_0}^{t} ",
    d_tau: "\\,\\mathrm{d}\\tau",
    over_time: "\\frac{1}{t - t_0}",
};

fn number_latex(value: &Rational) -> String {
    let text = number::to_text(value);
    match text.split_once('/') {
        Some((n, d)) => {
            let sign = if n.starts_with('-') { "-" } else { "" };
            format!("{sign}\\frac{{{}}}{{{d}}}", n.trim_start_matches('-'))
        }
        None => text,
    }
}
