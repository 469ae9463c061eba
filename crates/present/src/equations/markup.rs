//! The equations as MathML and as Typst: `derive --format mathml`, `derive --format typst`.
//!
//! As in LaTeX, every section is one block of lines aligned at their equals signs, under a comment; with `--document`
//! the headings are set as well.

use std::fmt::Write;

use pfaff::signs;
use pfaff_expr::{Expr, Role, escape_markup as escape};

use crate::equations::document::widest_left;
use crate::equations::latex_lines::{LINE, width};
use crate::equations::{Label, Presentation, headings, typst_lines};

/// The names of one table of equations.
struct Block<'a> {
    heading: &'a str,
    lines: Vec<(Label, Expr)>,
}

/// NOTE: browsers do not know `columnalign`.
const STYLE: &str =
    "<style>mtd:first-child { text-align: right } mtd:last-child { text-align: left }</style>";

/// One table for the lines of a section.
const TABLE: &str = "<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">\
                     <mtable displaystyle=\"true\" columnalign=\"right left\">\n";

fn mathml_row(left: &str, right: &str) -> String {
    format!("<mtr><mtd>{left}</mtd><mtd><mo form=\"infix\">=</mo>{right}</mtd></mtr>")
}

impl Presentation {
    /// Comments before the equations.
    fn introduction(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(principle) = self.principle {
            lines.push(format!("principle {}", principle.name()));
            if self.is_constrained {
                lines.push(format!("signs: {}", signs(principle)));
            }
        }
        lines.extend(self.preface.iter().map(|line| line.trim().to_owned()));
        lines.extend(self.symbols.map(|s| format!("symbols: {s}")));
        lines
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        if self.shown_definitions().next().is_some() {
            let symbol = |name: &str| Label::Expression(self.graph.symbol(name, Role::Free));
            let lines = self.shown_definitions().map(|(name, e)| (symbol(name), *e)).collect();
            blocks.push(Block { heading: "with", lines });
        }
        for section in &self.sections {
            let lines: Vec<(Label, Expr)> =
                self.shown(section).map(|l| (l.label.clone(), l.right)).collect();
            if !lines.is_empty() {
                blocks.push(Block { heading: section.heading, lines });
            }
        }
        blocks
    }

    /// MathML: one `math` element for each section.
    pub fn to_mathml(&self) -> String {
        let remark = |text: &str| format!("<!-- {} -->\n", comment(text));
        self.mathml(false, &remark, &remark)
    }

    /// The equations as a piece of a page: a heading and a `math` element for each section, and
    /// sentences as paragraphs.
    pub fn to_html(&self) -> String {
        let heading = |text: &str| {
            format!("<h2>{}</h2>\n", headings::html(text, &|c| self.has_letter(c)))
        };
        let sentence = |text: &str| {
            let (word, rest) = headings::beginning(text);
            format!(
                "<p>{}{}</p>\n",
                escape(word),
                headings::html(rest, &|c| self.has_letter(c))
            )
        };
        self.mathml(true, &heading, &sentence)
    }

    /// What motions keep, in HTML.
    pub(crate) fn kept_html(&self) -> Option<String> {
        let formula = |name: &str| format!("<math>{}</math>", self.mathml_name(name));
        self.kept_sentence_by(&formula, &escape)
    }

    /// A page with the equations in MathML.
    pub fn to_mathml_document(&self) -> String {
        let title = escape(&self.title);
        let body = self.to_html();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>{STYLE}</head>\n\
             <body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
        )
    }

    fn mathml(
        &self,
        is_page: bool,
        heading: &dyn Fn(&str) -> String,
        sentence: &dyn Fn(&str) -> String,
    ) -> String {
        let mut text = String::new();
        for line in self.introduction() {
            text += &sentence(&line);
        }
        if !self.vectors.is_empty() {
            text += &heading("In vectors");
            text += TABLE;
            for line in &self.vectors {
                let [left, right] = &line.mathml;
                let _ = writeln!(text, "{}", mathml_row(left, right));
            }
            text += "</mtable></math>\n";
        }
        for block in self.blocks() {
            text += &heading(block.heading);
            text += TABLE;
            for (label, right) in &block.lines {
                let left = self.mathml_label(label).concat();
                let right = self.graph.to_mathml(*right);
                let _ = writeln!(text, "{}", mathml_row(&left, &right));
            }
            text += "</mtable></math>\n";
        }
        let kept =
            if is_page { self.kept_html().map(|s| format!("<p>{s}</p>\n")) } else { None };
        text +=
            &kept.or_else(|| self.kept_sentence().map(|s| sentence(&s))).unwrap_or_default();
        for remark in &self.remarks {
            text += &sentence(remark);
        }
        text
    }

    /// The terms of a left side in MathML.
    pub(crate) fn mathml_label(&self, label: &Label) -> Vec<String> {
        let list = |names: &[String]| -> String {
            let names: Vec<String> = names.iter().map(|i| self.mathml_name(i)).collect();
            names.join("<mspace width=\"0.2em\"/>")
        };
        match label {
            Label::Expression(e) => self.graph.mathml_terms(*e),
            Label::Entry { text, indices, .. } => {
                let base = self.mathml_own(text);
                vec![if indices.is_empty() {
                    base
                } else {
                    format!("<msub>{base}<mrow>{}</mrow></msub>", list(indices))
                }]
            }
            Label::Component { text, upper, lower, .. } => {
                let (base, above, below) = (self.mathml_own(text), list(upper), list(lower));
                vec![format!(
                    "<msubsup>{base}<mrow>{below}</mrow><mrow>{above}</mrow></msubsup>"
                )]
            }
        }
    }

    /// A symbol of ours in MathML.
    fn mathml_own(&self, text: &str) -> String {
        match text.strip_suffix('*') {
            Some(base) => {
                format!("<msup>{}<mo>*</mo></msup>", self.mathml_name(&self.own(base)))
            }
            None => self.mathml_name(&self.own(text)),
        }
    }

    pub(crate) fn mathml_name(&self, name: &str) -> String {
        // NOTE: text output shortens the Greek letter.
        let name = if name == "eps" { "epsilon" } else { name };
        self.graph.to_mathml(self.graph.symbol(name, Role::Free))
    }

    /// Typst: one equation for each section.
    pub fn to_typst(&self) -> String {
        let remark = |text: &str| format!("// {}\n", text.replace(['\n', '\r'], " "));
        let kept = self.kept_sentence().map(|s| remark(&s));
        format!("{}{}", remark(&self.title), self.typst(kept, &remark, &remark))
    }

    /// A document in Typst.
    pub fn to_typst_document(&self) -> String {
        let is_taken = |c: char| self.has_letter(c);
        let typeset = |text: &str| {
            headings::typst(text, &plain, &is_taken).unwrap_or_else(|| plain(text))
        };
        let heading = |text: &str| format!("\n== {}\n", typeset(text));
        let sentence = |text: &str| {
            let (word, rest) = headings::beginning(text);
            format!("\n{}{}\n", plain(word), typeset(rest))
        };
        let formula = |name: &str| format!("${}$", self.typst_name(name));
        let kept = self.kept_sentence_by(&formula, &plain);
        let body = self.typst(kept, &heading, &sentence);
        format!("#set page(margin: 20mm)\n= {}\n{body}", plain(&self.title))
    }

    fn typst(
        &self,
        kept: Option<String>,
        heading: &dyn Fn(&str) -> String,
        sentence: &dyn Fn(&str) -> String,
    ) -> String {
        let mut text = String::new();
        for line in self.introduction() {
            text += &sentence(&line);
        }
        if !self.vectors.is_empty() {
            text += &heading("In vectors");
            let lines: Vec<String> = self
                .vectors
                .iter()
                .map(|l| format!("{} &= {}", l.typst[0], l.typst[1]))
                .collect();
            let _ = writeln!(text, "$ {} $", lines.join(" \\\n  "));
        }
        for block in self.blocks() {
            text += &heading(block.heading);
            // NOTE: a wide left side has lines of its own.
            let rights = block.lines.iter().map(|line| width(&self.graph.to_latex(line.1)));
            let most = widest_left(rights.fold(0.0, f64::max));
            let is_narrow = |label: &Label| width(&self.latex_label(label)) <= most;
            let narrow = block.lines.iter().filter(|(label, _)| is_narrow(label));
            let widest =
                narrow.map(|(label, _)| width(&self.latex_label(label))).fold(0.0, f64::max);
            let room = LINE - widest;
            let line = |(label, right): &(Label, Expr)| {
                let right = typst_lines::broken(&self.graph, *right, room);
                match label {
                    Label::Expression(left) if !is_narrow(label) => {
                        let left = typst_lines::broken(&self.graph, *left, room);
                        format!("&{left} \\\n  &quad = {right}")
                    }
                    _ => format!("{} &= {right}", self.typst_label(label)),
                }
            };
            let lines: Vec<String> = block.lines.iter().map(line).collect();
            let _ = writeln!(text, "$ {} $", lines.join(" \\\n  "));
        }
        text.extend(kept.map(|s| format!("\n{s}\n")));
        for remark in &self.remarks {
            text += &sentence(remark);
        }
        text
    }

    fn typst_label(&self, label: &Label) -> String {
        let list = |names: &[String]| -> String {
            let names: Vec<String> = names.iter().map(|i| self.typst_name(i)).collect();
            names.join(" thin ")
        };
        match label {
            Label::Expression(e) => self.graph.to_typst(*e),
            Label::Entry { text, indices, .. } => {
                let (base, star) = match text.strip_suffix('*') {
                    Some(base) => (base, "^(*)"),
                    None => (*text, ""),
                };
                let base = self.typst_name(&self.own(base));
                if indices.is_empty() {
                    format!("{base}{star}")
                } else {
                    format!("{base}_({}){star}", list(indices))
                }
            }
            Label::Component { text, upper, lower, .. } => {
                let base = self.typst_name(&self.own(text));
                format!("{base}_({})^({})", list(lower), list(upper))
            }
        }
    }

    fn typst_name(&self, name: &str) -> String {
        let name = if name == "eps" { "epsilon" } else { name };
        self.graph.to_typst(self.graph.symbol(name, Role::Free))
    }
}

/// Text that ends no comment of XML.
fn comment(text: &str) -> String {
    text.replace("--", "- -")
}

/// Text with the characters that mean something to Typst made harmless.
fn plain(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => escaped.push(' '),
            c if c.is_ascii_punctuation() => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}
