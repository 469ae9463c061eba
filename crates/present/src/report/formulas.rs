//! Equations → HTML with MathML: a block for each section, a line for each equation, breaks between the terms of a sum.

use std::fmt::Write;

use pfaff_expr::{Expr, Graph, Role, escape_markup as escape};

use crate::equations::{Label, Presentation, VectorLine, headings};

/// Bytes of the equations in one page; beyond them the page says how to get the rest.
const ROOM: usize = 500_000;

/// Blocks that are folded: the matrices, which the equations are made of.
const FOLDED: [&str; 6] = ["momenta", "mass", "force", "jacobian", "directions", "drift"];

/// The equations under headings of the third level.
pub(crate) fn formulas(presentation: &Presentation) -> String {
    formulas_within(presentation, ROOM, "pfaff derive")
}

/// At most so many bytes of formulas; the command writes the others.
pub(crate) fn formulas_within(
    presentation: &Presentation,
    room: usize,
    command: &str,
) -> String {
    let g = &presentation.graph;
    let mut out = String::new();
    let mut left_out = 0;
    let mut block = |heading: &str, folded: bool, lines: Vec<String>| {
        let mut body = String::new();
        for line in lines {
            if out.len() + body.len() + line.len() > room {
                left_out += 1;
            } else {
                body += &line;
            }
        }
        if body.is_empty() {
            return;
        }
        let heading = headings::html(heading, &|c| presentation.has_letter(c));
        let _ = if folded {
            write!(
                out,
                "<details class=\"block\"><summary>{heading}</summary><div \
                 class=\"formulas\">{body}</div></details>"
            )
        } else {
            write!(out, "<h3>{heading}</h3><div class=\"formulas\">{body}</div>")
        };
    };
    // The equations of motion first, and what they are made of behind them.
    let (leading, rest) = (presentation.leading(), presentation.following());
    let symbol =
        |name: &str| presentation.mathml_label(&Label::Expression(g.symbol(name, Role::Free)));
    let lines = |section: &crate::equations::Section| -> Vec<String> {
        let shown = presentation.shown(section);
        shown.map(|l| formula(g, &presentation.mathml_label(&l.label), l.right)).collect()
    };
    for section in leading {
        block(section.heading, false, lines(section));
    }
    if !presentation.vectors.is_empty() {
        let line = |l: &VectorLine| in_terms(&l.mathml[..1], &l.mathml[1..]);
        block("In vectors", false, presentation.vectors.iter().map(line).collect());
    }
    if presentation.shown_definitions().next().is_some() {
        let named = presentation.shown_definitions();
        let lines = named.map(|(n, e)| formula(g, &symbol(n), *e)).collect();
        block("With the abbreviations", false, lines);
    }
    for section in rest {
        block(section.heading, FOLDED.contains(&section.key), lines(section));
    }
    if let Some(sentence) = presentation.kept_html() {
        let _ = write!(out, "<p>{sentence}</p>");
    }
    let observe = presentation.observe_lines();
    if !observe.is_empty() {
        let _ = write!(out, "<pre>{}</pre>", escape(&observe.join("\n")));
    }
    if left_out > 0 {
        let _ = write!(
            out,
            "<p class=\"note\">{left_out} further formulas are too long for a page; <code>{}</code> writes them \
             all.</p>",
            escape(command)
        );
    }
    for remark in &presentation.remarks {
        let _ = write!(out, "<p>{}</p>", escape(remark));
    }
    out
}

/// One line: the left side, then each term as a formula of its own, so that lines can break between them.
fn formula(g: &Graph, left: &[String], right: Expr) -> String {
    in_terms(left, &g.mathml_terms(right))
}

fn in_terms(left: &[String], right: &[String]) -> String {
    let mut line = String::from("<div class=\"formula\">");
    for (i, term) in left.iter().enumerate() {
        let equals = if i + 1 == left.len() { "<mo form=\"infix\">=</mo>" } else { "" };
        let _ = write!(line, "<math>{term}{equals}</math><wbr>");
    }
    for term in right {
        let _ = write!(line, "<math>{term}</math><wbr>");
    }
    line + "</div>"
}
