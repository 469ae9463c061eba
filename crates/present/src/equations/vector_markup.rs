//! The signs of formulas with vectors in LaTeX, MathML and Typst.

use pfaff_expr::{Expr, Graph, escape_markup as escape};

/// The language of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latex,
    Mathml,
    Typst,
}

fn row(inner: &str) -> String {
    format!("<mrow>{inner}</mrow>")
}

fn operator(sign: &str) -> String {
    format!("<mo>{}</mo>", escape(sign))
}

impl Script {
    /// A symbol of a graph.
    pub(super) fn symbol(self, g: &Graph, e: Expr) -> String {
        match self {
            Self::Latex => g.to_latex(e),
            Self::Mathml => row(&g.to_mathml(e)),
            Self::Typst => g.to_typst(e),
        }
    }

    pub(super) fn number(self, text: &str) -> String {
        match self {
            Self::Latex | Self::Typst => text.to_owned(),
            Self::Mathml => format!("<mn>{}</mn>", escape(text)),
        }
    }

    pub(super) fn pi(self) -> String {
        match self {
            Self::Latex => "\\pi".to_owned(),
            Self::Mathml => "<mi>π</mi>".to_owned(),
            Self::Typst => "π".to_owned(),
        }
    }

    /// A vector.
    pub(super) fn bold(self, letter: &str) -> String {
        match self {
            Self::Latex => format!("\\boldsymbol{{{letter}}}"),
            Self::Mathml => format!("<mstyle style=\"font-weight: bold\">{letter}</mstyle>"),
            Self::Typst => format!("bold({letter})"),
        }
    }

    /// A matrix.
    pub(super) fn upright(self, letter: &str) -> String {
        match self {
            Self::Latex => format!("\\mathsf{{{letter}}}"),
            Self::Mathml => {
                format!("<mstyle style=\"font-family: sans-serif\">{letter}</mstyle>")
            }
            Self::Typst => format!("sans({letter})"),
        }
    }

    pub(super) fn brackets(self, inner: &str) -> String {
        match self {
            Self::Latex | Self::Typst => format!("({inner})"),
            Self::Mathml => row(&format!("<mo>(</mo>{inner}<mo>)</mo>")),
        }
    }

    pub(super) fn below(self, base: &str, index: &str) -> String {
        match self {
            Self::Latex => format!("{{{base}}}_{{{index}}}"),
            Self::Mathml => format!("<msub>{base}{}</msub>", row(index)),
            Self::Typst => format!("{base}_({index})"),
        }
    }

    pub(super) fn power(self, base: &str, exponent: &str) -> String {
        match self {
            Self::Latex => format!("{base}^{{{exponent}}}"),
            Self::Mathml => format!("<msup>{}{}</msup>", row(base), row(exponent)),
            Self::Typst => format!("{base}^({exponent})"),
        }
    }

    /// A rate, with dots above.
    pub(super) fn dotted(self, base: &str, order: u32) -> String {
        let [latex, mathml, typst] = match order {
            1 => ["\\dot", "˙", "dot"],
            2 => ["\\ddot", "¨", "dot.double"],
            _ => ["\\dddot", "⃛", "dot.triple"],
        };
        match self {
            Self::Latex => format!("{latex}{{{base}}}"),
            Self::Mathml => {
                format!("<mover accent=\"true\">{base}<mo>{mathml}</mo></mover>")
            }
            Self::Typst => format!("{typst}({base})"),
        }
    }

    /// The rate of a bracket.
    pub(super) fn rate_of_bracket(self, inner: &str) -> String {
        let bracket = self.brackets(inner);
        match self {
            Self::Latex => format!("{bracket}^{{\\textstyle\\cdot}}"),
            Self::Mathml => format!("<msup>{bracket}<mo>⋅</mo></msup>"),
            Self::Typst => format!("{bracket}^(⋅)"),
        }
    }

    /// Two sides with a sign between them, given in LaTeX and as a character.
    pub(super) fn between(self, left: &str, [latex, sign]: [&str; 2], right: &str) -> String {
        match self {
            Self::Latex => format!("{left} {latex} {right}"),
            Self::Mathml => format!("{left}{}{right}", operator(sign)),
            Self::Typst => format!("{left} {sign} {right}"),
        }
    }

    pub(super) fn negative(self, inner: &str) -> String {
        match self {
            Self::Latex | Self::Typst => format!("-{inner}"),
            Self::Mathml => format!("<mo form=\"prefix\">−</mo>{inner}"),
        }
    }

    pub(super) fn product(self, left: &str, right: &str) -> String {
        match self {
            Self::Latex => format!("{left}\\,{right}"),
            Self::Mathml => format!("{left}<mspace width=\"0.17em\"/>{right}"),
            Self::Typst => format!("{left} thin {right}"),
        }
    }

    pub(super) fn fraction(self, above: &str, below: &str, is_small: bool) -> String {
        match self {
            Self::Latex if is_small => format!("\\tfrac{{{above}}}{{{below}}}"),
            Self::Latex => format!("\\frac{{{above}}}{{{below}}}"),
            Self::Mathml => format!("<mfrac>{}{}</mfrac>", row(above), row(below)),
            Self::Typst => format!("frac({above}, {below})"),
        }
    }

    pub(super) fn root(self, inner: &str) -> String {
        match self {
            Self::Latex => format!("\\sqrt{{{inner}}}"),
            Self::Mathml => format!("<msqrt>{inner}</msqrt>"),
            Self::Typst => format!("sqrt({inner})"),
        }
    }

    pub(super) fn bars(self, inner: &str) -> String {
        match self {
            Self::Latex => format!("\\lvert {inner} \\rvert"),
            Self::Mathml => row(&format!("<mo>|</mo>{inner}<mo>|</mo>")),
            Self::Typst => format!("abs({inner})"),
        }
    }

    /// A function that is known by its name, of an argument in brackets.
    pub(super) fn function(self, name: &str, arguments: &str) -> String {
        match self {
            Self::Latex => format!("\\{name}({arguments})"),
            Self::Mathml => {
                format!("<mi>{}</mi>{}", escape(name), self.brackets(arguments))
            }
            Self::Typst => format!("{name}({arguments})"),
        }
    }

    /// A power of such a function: $\sin^2(x)$.
    pub(super) fn function_to(self, name: &str, exponent: &str, argument: &str) -> String {
        let raised = match self {
            Self::Latex => self.power(&format!("\\{name}"), exponent),
            Self::Mathml => self.power(&format!("<mi>{name}</mi>"), exponent),
            Self::Typst => self.power(name, exponent),
        };
        format!("{raised}{}", self.brackets(argument))
    }

    /// Any other function.
    pub(super) fn named(self, name: &str, arguments: &str) -> String {
        match self {
            Self::Latex => {
                let name = name.replace('_', "\\_");
                format!("\\operatorname{{{name}}}({arguments})")
            }
            Self::Mathml => {
                format!("<mi>{}</mi>{}", escape(name), self.brackets(arguments))
            }
            Self::Typst => format!("op(\"{name}\")({arguments})"),
        }
    }

    pub(super) fn comma(self) -> &'static str {
        match self {
            Self::Latex => ",\\, ",
            Self::Mathml => "<mo separator=\"true\">,</mo>",
            Self::Typst => ", ",
        }
    }

    /// What stands between indices.
    pub(super) fn thin(self) -> &'static str {
        match self {
            Self::Latex => "\\,",
            Self::Mathml => "<mspace width=\"0.17em\"/>",
            Self::Typst => " thin ",
        }
    }

    /// A sum or product over an index.
    pub(super) fn fold(self, is_sum: bool, [index, from, to]: [&str; 3], body: &str) -> String {
        let [latex, sign] = if is_sum { ["\\sum", "∑"] } else { ["\\prod", "∏"] };
        match self {
            Self::Latex => format!("{latex}_{{{index}={from}}}^{{{to}}} {body}"),
            Self::Mathml => {
                let first = row(&format!("{index}<mo>=</mo>{from}"));
                format!("<munderover>{}{first}{}</munderover>{body}", operator(sign), row(to))
            }
            Self::Typst => format!("{sign}_({index} = {from})^({to}) {body}"),
        }
    }

    /// A matrix by its rows.
    pub(super) fn matrix(self, rows: &[Vec<String>]) -> String {
        match self {
            Self::Latex => {
                let rows: Vec<String> = rows.iter().map(|r| r.join(" & ")).collect();
                format!("\\begin{{pmatrix}} {} \\end{{pmatrix}}", rows.join(" \\\\ "))
            }
            Self::Mathml => {
                let cell = |x: &String| format!("<mtd>{x}</mtd>");
                let line = |r: &Vec<String>| {
                    format!("<mtr>{}</mtr>", r.iter().map(cell).collect::<String>())
                };
                let rows: String = rows.iter().map(line).collect();
                self.brackets(&format!("<mtable>{rows}</mtable>"))
            }
            Self::Typst => {
                let rows: Vec<String> = rows.iter().map(|r| r.join(", ")).collect();
                format!("mat({})", rows.join("; "))
            }
        }
    }
}
