//! Long formulas in Typst on several lines.
//!
//! Widths are those of the same formulas in LaTeX. Lines end before signs; a product or a quotient that is wider than a
//! line is written as a factor before a bracket, in which lines may end too.

use pfaff_expr::{Expr, Graph, Node, Role};

use super::latex_lines::width;

/// A part that stays on one line.
struct Piece {
    text: String,
    width: f64,
}

/// A formula with breaks, where it is wider than the room.
pub(super) fn broken(g: &Graph, e: Expr, room: f64) -> String {
    let (mut out, mut used) = (String::new(), 0.0);
    for piece in pieces(g, e, room) {
        if used > 0.0 && used + piece.width > room {
            out += " \\\n  &quad ";
            used = 0.0;
        } else if used > 0.0 {
            out.push(' ');
        }
        used += piece.width;
        out += &piece.text;
    }
    out
}

/// The terms of a formula with their signs; those that are too wide by the terms of a bracket in them.
fn pieces(g: &Graph, e: Expr, room: f64) -> Vec<Piece> {
    let texts = g.typst_terms(e);
    let widths: Vec<f64> = g.latex_terms(e).iter().map(|term| width(term)).collect();
    let terms = terms(g, e);
    let mut all = Vec::new();
    for (i, (text, width)) in texts.into_iter().zip(widths).enumerate() {
        let term = terms.get(i).filter(|_| width > room);
        match term.and_then(|&(is_less, term)| Some((is_less, opened(g, term, room)?))) {
            Some((is_less, Opened { before, inner, after })) => {
                let sign = match (i, is_less) {
                    (0, false) => "",
                    (0, true) => "-",
                    (_, false) => "+ ",
                    (_, true) => "- ",
                };
                let mut parts = pieces(g, inner, room);
                if let Some(first) = parts.first_mut() {
                    first.text = format!("{sign}{before} paren.l {}", first.text);
                    first.width += self::width(&before) + 1.0;
                }
                if let Some(last) = parts.last_mut() {
                    last.text += &format!(" paren.r {after}");
                }
                all.extend(parts);
            }
            None => all.push(Piece { text, width }),
        }
    }
    all
}

/// The terms of a sum, in the order in which they are printed.
fn terms(g: &Graph, e: Expr) -> Vec<(bool, Expr)> {
    let (mut terms, mut waiting) = (Vec::new(), vec![(false, e)]);
    while let Some((is_less, rest)) = waiting.pop() {
        match g.node(rest) {
            Node::Add(a, b) => waiting.extend([(is_less, b), (is_less, a)]),
            Node::Sub(a, b) => waiting.extend([(!is_less, b), (is_less, a)]),
            Node::Neg(a) => waiting.push((!is_less, a)),
            _ => terms.push((is_less, rest)),
        }
    }
    terms
}

/// A product as a bracket with what stands before and after it.
struct Opened {
    before: String,
    inner: Expr,
    after: String,
}

/// A product or quotient that is too wide, by the sum in it that makes it so.
fn opened(g: &Graph, e: Expr, room: f64) -> Option<Opened> {
    /// The widest factor beside a bracket, in parts of the room.
    const BESIDE: f64 = 0.5;
    let is_narrow = |e: Expr| width(&g.to_latex(e)) < BESIDE * room;
    let bracket = g.symbol("the bracket", Role::Free);
    if matches!(g.node(e), Node::Add(..) | Node::Sub(..)) {
        return Some(Opened { before: String::new(), inner: e, after: String::new() });
    }
    match g.node(e) {
        Node::Div(above, below) if is_narrow(below) => {
            let factor = g.to_typst(g.as_written(|| g.div(g.one(), below)));
            let rest = opened(g, above, room)?;
            Some(Opened { before: format!("{factor} thin {}", rest.before), ..rest })
        }
        Node::Div(above, below) if width(&g.to_latex(below)) <= room => {
            let rest = opened(g, above, room)?;
            let below = g.to_typst(below);
            let after = format!("{} slash.big paren.l {below} paren.r", rest.after);
            Some(Opened { after, ..rest })
        }
        // NOTE: beside another factor, sums have brackets and arguments of sines too.
        Node::Mul(a, b) if is_narrow(a) => {
            let text = g.to_typst(g.as_written(|| g.mul(a, bracket)));
            let factor = text.strip_suffix(&g.to_typst(bracket))?;
            let rest = opened(g, b, room)?;
            Some(Opened { before: format!("{factor}{}", rest.before), ..rest })
        }
        Node::Mul(a, b) if is_narrow(b) => {
            let text = g.to_typst(g.as_written(|| g.mul(bracket, b)));
            let factor = text.strip_prefix(&g.to_typst(bracket))?;
            let rest = opened(g, a, room)?;
            Some(Opened { after: format!("{}{factor}", rest.after), ..rest })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No line is much wider than the room, and brackets that are opened are closed.
    #[test]
    fn wide_quotients_are_opened() {
        let g = Graph::new();
        let names = ["a", "b", "c", "d", "h", "k"].map(|n| g.symbol(n, Role::Parameter));
        let sum = g.sum(names);
        let e = g.as_written(|| g.div(g.mul(names[0], sum), names[1]));
        assert_eq!(broken(&g, e, 100.0), g.to_typst(e));
        let text = broken(&g, e, 14.0);
        let lines: Vec<&str> = text.split(" \\\n  &quad ").collect();
        assert!(lines.len() > 1 && lines[0].starts_with("frac(1, b) thin"), "{text}");
        assert_eq!(text.matches("paren.l").count(), 1, "{text}");
        assert_eq!(text.matches("paren.r").count(), 1, "{text}");
    }
}
