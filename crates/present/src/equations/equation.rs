//! Both sides of an equation without what all terms have in common.

use pfaff_expr::{Expr, Graph};

use super::{Label, Line};

/// Equations of more operations are not tried in two ways.
const LONG: usize = 300;

/// An equation without the factors of all its terms; without denominators where that is shorter.
pub(super) fn equation(g: &Graph, left: Expr, right: Expr) -> Line {
    let line = |factor: Expr| Line {
        label: Label::Expression(g.div(left, factor)),
        right: g.div(right, factor),
    };
    let common = common_factor(g, left, right);
    if g.operations(&[left, right]) > LONG {
        return line(common);
    }
    // $3I/r^2$ beside $2m$
    let cleared = g.factor_of_equation(g.sub(left, right));
    let is_part = g.factor_of_equation(g.div(common, cleared));
    if cleared == common || is_part == g.one() {
        return line(common);
    }
    let width = |factor: Expr| -> usize {
        let desk = Graph::new();
        let sides = g.on_paper(&[g.div(left, factor), g.div(right, factor)], &desk);
        sides.into_iter().map(|e| desk.to_text(e).len()).sum()
    };
    line(if width(cleared) < width(common) { cleared } else { common })
}

/// The common factor of both sides of an equation; fractions such as 1/10 stay where they are.
fn common_factor(g: &Graph, left: Expr, right: Expr) -> Expr {
    let common = g.factor_of_all_terms(&[left, right]);
    let number = g.evaluate(&[g.common_factor(&[left, right])], &|_| 1.0)[0].abs();
    if number >= 1.0 {
        return common;
    }
    let clear = libm::round(1.0 / number);
    let is_whole = (clear * number - 1.0).abs() < 1e-9 && clear < 1e9;
    if is_whole { g.mul(common, g.integer(clear as i64)) } else { g.one() }
}
