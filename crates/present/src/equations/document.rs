//! The equations as a LaTeX document that compiles: `derive --format latex --document`.
//!
//! Long right sides are broken between the terms of their sums. Names in scripts that pdfLaTeX does not know
//! need LuaLaTeX or XeLaTeX, and the document says so to them.

use std::fmt::Write;

use pfaff_expr::{Expr, Role};

use crate::equations::{Label, Presentation, Section, headings};
use pfaff::signs;

/// Characters of LaTeX in a line, about; a formula has a third as many on paper.
const LINE: usize = 170;

/// What a reader looks for first.
const LEADING: [&str; 2] = ["equations", "constraints"];
/// The same of a page with a Hamiltonian, whose `equations` are those without multipliers.
const LEADING_HAMILTON: [&str; 3] =
    ["hamiltonian", "hamilton_equations", "constraints_of_momenta"];

const PREAMBLE: &str = r"\documentclass[a4paper]{article}
\usepackage[margin=20mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage{iftex}
\ifPDFTeX\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\begin{document}
";

impl Presentation {
    /// A whole document.
    pub fn to_latex_document(&self) -> String {
        let mut text = PREAMBLE.to_owned();
        let _ = writeln!(text, "\\section*{{{}}}", escape(&self.title));
        if let Some(principle) = self.principle {
            let _ = writeln!(text, "Principle: {}.", principle.name());
            if self.is_constrained {
                let signs = signs(principle);
                let signs = headings::latex(signs).unwrap_or_else(|| escape(signs));
                let _ = writeln!(text, "\\\\\nSigns: {signs}.");
            }
        }
        for line in &self.preface {
            let line = headings::latex(line).unwrap_or_else(|| escape(line));
            let _ = writeln!(text, "\\\\\n{line}.");
        }
        if let Some(symbols) = self.symbols {
            let symbols = headings::latex(symbols).unwrap_or_else(|| escape(symbols));
            let _ = writeln!(text, "\\\\\nSymbols: {symbols}.");
        }
        let g = &self.graph;
        for section in self.leading() {
            self.latex_section(&mut text, section);
        }
        if !self.definitions.is_empty() {
            let rows = self
                .definitions
                .iter()
                .map(|(name, e)| self.row(&g.to_latex(g.symbol(name, Role::Free)), *e));
            block(&mut text, "With", rows.collect());
        }
        for section in self.following() {
            self.latex_section(&mut text, section);
        }
        if let Some(sentence) = self.kept_sentence() {
            let _ = writeln!(text, "\n{}", escape(&sentence));
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "\n{}", escape(remark));
        }
        text + "\\end{document}\n"
    }

    /// The sections that a document begins with: the equations themselves.
    pub(crate) fn leading(&self) -> impl Iterator<Item = &Section> {
        let keys = self.leading_keys();
        keys.iter().filter_map(|key| self.sections.iter().find(|s| s.key == *key))
    }

    /// The sections behind them, which they are made of.
    pub(crate) fn following(&self) -> impl Iterator<Item = &Section> {
        let keys = self.leading_keys();
        self.sections.iter().filter(|s| !keys.contains(&s.key))
    }

    fn leading_keys(&self) -> &'static [&'static str] {
        let has_hamiltonian = self.sections.iter().any(|s| s.key == "hamilton_equations");
        if has_hamiltonian { &LEADING_HAMILTON } else { &LEADING }
    }

    fn latex_section(&self, text: &mut String, section: &Section) {
        let g = &self.graph;
        let rows = self.shown(section).map(|line| {
            // NOTE: a long left side would push the equals sign off the page: the equation is then
            // written from the right side on.
            match &line.label {
                Label::Expression(left) if g.to_latex(*left).len() > LINE => {
                    format!(
                        "&{} \\\\\n&\\quad = {}",
                        self.broken(*left),
                        self.broken(line.right)
                    )
                }
                label => self.row(&self.latex_label(label), line.right),
            }
        });
        let rows: Vec<String> = rows.collect();
        if !rows.is_empty() {
            block(text, section.heading, rows);
        }
    }

    fn row(&self, left: &str, right: Expr) -> String {
        format!("{left} &= {}", self.broken(right))
    }

    /// An expression with breaks between its terms.
    fn broken(&self, e: Expr) -> String {
        let (mut out, mut line) = (String::new(), 0);
        for term in self.graph.latex_terms(e) {
            if line > 0 && line + term.len() > LINE {
                out += " \\\\\n&\\quad ";
                line = 0;
            } else if line > 0 {
                out.push(' ');
            }
            line += term.len();
            out += &term;
        }
        out
    }
}

fn block(text: &mut String, heading: &str, rows: Vec<String>) {
    let _ = writeln!(
        text,
        "\n\\subsection*{{{}}}\n\\begin{{align*}}\n{}\n\\end{{align*}}",
        headings::latex(heading).unwrap_or_else(|| escape(heading)),
        rows.join(" \\\\\n")
    );
}

/// Text with the characters that mean something to LaTeX made harmless.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '"' => escaped.push_str("\\textquotedbl{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            // NOTE: signs of formulas in sentences, which pdfLaTeX knows between dollars only.
            '≠' => escaped.push_str("$\\ne$"),
            '≤' => escaped.push_str("$\\le$"),
            '≥' => escaped.push_str("$\\ge$"),
            '∂' => escaped.push_str("$\\partial$"),
            '−' => escaped.push_str("$-$"),
            'λ' => escaped.push_str("$\\lambda$"),
            'μ' => escaped.push_str("$\\mu$"),
            'φ' => escaped.push_str("$\\varphi$"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
