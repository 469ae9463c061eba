//! The equations as a LaTeX document that compiles: `derive --format latex --document`.
//!
//! Long right sides are broken between the terms of their sums. Names in scripts that pdfLaTeX does not know
//! need LuaLaTeX or XeLaTeX, and the document says so to them.

use std::fmt::Write;

use pfaff_expr::{Expr, Role};

use crate::equations::latex_lines::{LINE, lines, width};
use crate::equations::{Presentation, Section, headings};
use pfaff::signs;

/// Left sides that leave room for nothing else.
const WIDE: f64 = 0.5 * LINE;

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
        let is_taken = |c: char| self.has_letter(c);
        let _ = writeln!(text, "\\section*{{{}}}", escape(&self.title));
        if let Some(principle) = self.principle {
            let _ = writeln!(text, "Principle: {}.", principle.name());
            if self.is_constrained {
                let signs = signs(principle);
                let signs = headings::latex(signs, &is_taken).unwrap_or_else(|| escape(signs));
                let _ = writeln!(text, "\\\\\nSigns: {signs}.");
            }
        }
        for line in &self.preface {
            let (word, rest) = headings::beginning(line.trim());
            let rest = headings::latex(rest, &is_taken).unwrap_or_else(|| escape(rest));
            let line = format!("{word}{rest}");
            let mut letters = line.chars();
            let first: String =
                letters.next().into_iter().flat_map(char::to_uppercase).collect();
            let _ = writeln!(text, "\\\\\n{first}{}.", letters.as_str());
        }
        if let Some(symbols) = self.symbols {
            let symbols =
                headings::latex(symbols, &is_taken).unwrap_or_else(|| escape(symbols));
            let _ = writeln!(text, "\\\\\nSymbols: {symbols}.");
        }
        let g = &self.graph;
        for section in self.leading() {
            self.latex_section(&mut text, section);
        }
        if !self.vectors.is_empty() {
            let sides: Vec<(String, String)> =
                self.vectors.iter().map(|l| (l.latex[0].clone(), l.latex[1].clone())).collect();
            let room = room_beside(&sides);
            // NOTE: a vector of long components has no place where a line may end.
            let fits = |side: &&(String, String)| {
                lines(&side.1, room.1).iter().all(|l| width(l) <= room.1)
            };
            let rows: Vec<String> =
                sides.iter().filter(fits).map(|(l, r)| aligned(l, r, room)).collect();
            if !rows.is_empty() {
                block(&mut text, "In vectors", rows, &is_taken);
            }
        }
        if self.shown_definitions().next().is_some() {
            let rows = self.shown_definitions();
            let rows = rows.map(|(name, e)| (g.to_latex(g.symbol(name, Role::Free)), *e));
            block(&mut text, "With", self.rows(rows.collect()), &is_taken);
        }
        for section in self.following() {
            self.latex_section(&mut text, section);
        }
        let formula = |name: &str| match name {
            "𝖤" => "$\\mathsf{E}$".to_owned(),
            name => format!("${}$", g.to_latex(g.symbol(name, Role::Free))),
        };
        if let Some(sentence) = self.kept_sentence_by(&formula, &escape) {
            let _ = writeln!(text, "\n{sentence}");
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
        let lines = self.shown(section).map(|line| (self.latex_label(&line.label), line.right));
        let rows = self.rows(lines.collect());
        if !rows.is_empty() {
            block(text, section.heading, rows, &|c| self.has_letter(c));
        }
    }

    /// Left and right sides with breaks in what is longer than a line.
    fn rows(&self, sides: Vec<(String, Expr)>) -> Vec<String> {
        let written =
            |(left, right): (String, Expr)| (left, self.graph.latex_terms(right).join(" "));
        let sides: Vec<(String, String)> = sides.into_iter().map(written).collect();
        let room = room_beside(&sides);
        sides.iter().map(|(left, right)| aligned(left, right, room)).collect()
    }
}

/// The widest left side that stands beside right ones of a width.
pub(super) fn widest_left(right: f64) -> f64 {
    /// The equals sign.
    const SIGN: f64 = 3.0;
    WIDE.max(LINE - SIGN - right)
}

/// The widest left side that has its right side beside it, and the room of the right ones.
fn room_beside(sides: &[(String, String)]) -> (f64, f64) {
    let right = sides.iter().map(|(_, right)| width(right)).fold(0.0, f64::max);
    let widest = widest_left(right);
    let widths = sides.iter().map(|(left, _)| width(left)).filter(|&w| w <= widest);
    (widest, LINE - widths.fold(0.0, f64::max))
}

/// An equation with breaks in what is longer than a line.
fn aligned(left: &str, right: &str, (widest, room): (f64, f64)) -> String {
    let joined = |formula: &str| lines(formula, room).join(" \\\\\n&\\quad ");
    // NOTE: a long left side would push the equals sign off the page: the equation is then written from the right side
    // on.
    if width(left) > widest {
        format!("&{} \\\\\n&\\quad = {}", joined(left), joined(right))
    } else {
        format!("{left} &= {}", joined(right))
    }
}

fn block(text: &mut String, heading: &str, rows: Vec<String>, is_taken: &headings::Taken<'_>) {
    let _ = writeln!(
        text,
        "\n\\subsection*{{{}}}\n\\begin{{align*}}\n{}\n\\end{{align*}}",
        headings::latex(heading, is_taken).unwrap_or_else(|| escape(heading)),
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
