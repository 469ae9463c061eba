//! Both sides of an equation without what all terms have in common.

use std::collections::BTreeMap;

use pfaff::Workspace;
use pfaff_expr::{Expr, Graph, Node};

use super::{Label, Line};

/// Equations of more operations are not tried in two ways.
const LONG: usize = 300;

/// Denominators from this one on are those of decimals.
const DECIMAL: i64 = 10;

/// Equations of more operations are not shortened before their factors are looked for.
const LONGEST: usize = 600;

/// Characters that a person would give for not reading a fraction on the left.
const FRACTION: usize = 6;

/// An equation without the factors of all its terms; without denominators where that is shorter.
pub(super) fn equation(model: &Workspace, left: Expr, right: Expr) -> Line {
    let g = &model.graph;
    // NOTE: as they were derived, long sides do not show what they have in common.
    let is_long = (LONG + 1..=LONGEST).contains(&g.operations(&[left, right]));
    let [left, right] = if is_long { shortened(g, [left, right]) } else { [left, right] };
    let line = |factor: Expr| {
        let factor = if is_negative(model, factor) { g.neg(factor) } else { factor };
        Line { label: Label::Expression(g.div(left, factor)), right: g.div(right, factor) }
    };
    let CommonFactor { common, number } = common_factor(g, left, right);
    if g.operations(&[left, right]) > LONG {
        return line(common);
    }
    let mut others = Vec::new();
    // $3I/r^2$ beside $2m$
    let difference = g.sub(left, right);
    let cleared = without_decimal(g, g.factor_of_equation(difference));
    let is_part = g.factor_of_equation(g.div(common, cleared));
    if cleared != common && is_part != g.one() {
        others.push(cleared);
    }
    // $\ddot x/\cos^2\varphi$
    if let Some(below) = g.factor_of_quotients(g.div(left, common)) {
        let cleared = g.mul(common, below);
        let half = g.common_factor(&[g.div(left, cleared), g.div(right, cleared)]);
        others.extend([cleared, g.mul(cleared, without_decimal(g, half))]);
    }
    // $3R\ddot\varphi/2$
    others.extend(number.map(|k| g.mul(common, k)));
    if others.is_empty() {
        return line(common);
    }
    let texts = |factor: Expr| -> (usize, bool) {
        let desk = Graph::new();
        let sides = g.on_paper(&[g.div(left, factor), g.div(right, factor)], &desk);
        let [left, right] = [sides[0], sides[1]].map(|e| desk.to_text(e));
        let has_fraction = left.contains('/');
        (left.len() + right.len() + if has_fraction { FRACTION } else { 0 }, has_fraction)
    };
    let (mut best, mut least) = (common, texts(common));
    for factor in others {
        let other = texts(factor);
        // NOTE: of two that are equally long the one without a fraction on the left is taken.
        if other < least {
            (best, least) = (factor, other);
        }
    }
    line(best)
}

/// A factor without its number, if that is a decimal such as 3/10 or 0.01: an equation is not multiplied by 100.
pub(super) fn without_decimal(g: &Graph, factor: Expr) -> Expr {
    let number = match g.node(factor) {
        Node::Mul(k, _) if g.number_of(k).is_some() => k,
        _ if g.number_of(factor).is_some() => factor,
        _ => return factor,
    };
    let value = g.evaluate(&[number], &|_| 1.0)[0].abs();
    if value <= 1.0 / DECIMAL as f64 { g.div(factor, number) } else { factor }
}

/// Whether a factor is negative where the parameters are what they are and coordinates and their sines are positive: an
/// equation keeps the sign of its accelerations.
fn is_negative(model: &Workspace, factor: Expr) -> bool {
    let value = |e: Expr| {
        let golden = 0.618_033_988_749_895 * e.index() as f64;
        let some = 0.4 + 0.6 * (golden - libm::floor(golden));
        model.parameters.iter().find(|p| p.symbol == e).map_or(some, |p| p.value)
    };
    model.graph.evaluate(&[factor], &value)[0] < 0.0
}

/// Whether a denominator is that of a decimal: 1/10 stays, 1/12 is cleared.
pub(super) fn is_decimal(n: i64) -> bool {
    n >= DECIMAL && (n % 5 == 0 || n > 100)
}

/// What both sides of an equation have in common, and a number before all terms that may be cleared as well.
struct CommonFactor {
    common: Expr,
    number: Option<Expr>,
}

/// Both sides as short as they are found, without the factors that both are written with. The left one is linear in
/// rates, so that these factors are functions of positions.
fn shortened(g: &Graph, sides: [Expr; 2]) -> [Expr; 2] {
    let desk = Graph::new();
    let short = g.on_paper(&sides, &desk);
    let short = g.as_written(|| desk.in_reading_order(&short, g));
    let [left, right] = [short[0], short[1]].map(|e| factors(g, e));
    let power = |base: &Expr| {
        let (n, m) = (left[base], right.get(base).copied().unwrap_or(0));
        if n * m > 0 { n.signum() * n.abs().min(m.abs()) } else { 0 }
    };
    let taken = left.keys().filter(|base| g.number_of(**base).is_none());
    let shared = taken.fold(g.one(), |product, base| match power(base) {
        0 => product,
        n => g.mul(product, g.pow(*base, g.integer(n))),
    });
    [g.div(short[0], shared), g.div(short[1], shared)]
}

/// The factors that a product is written with, differences in one order.
fn factors(g: &Graph, e: Expr) -> BTreeMap<Expr, i64> {
    let mut found = BTreeMap::new();
    let mut rest = vec![(e, 1_i64)];
    while let Some((e, n)) = rest.pop() {
        match g.node(e) {
            Node::Mul(a, b) => rest.extend([(a, n), (b, n)]),
            Node::Div(a, b) => rest.extend([(a, n), (b, -n)]),
            Node::Neg(a) => rest.push((a, n)),
            Node::Pow(a, b) => match g.number_of(b).map(|k| k.to_integer().try_into()) {
                Some(Ok(k)) if g.integer(k) == b => rest.push((a, n * k)),
                _ => *found.entry(e).or_insert(0) += n,
            },
            Node::Sub(a, b) if a > b => *found.entry(g.sub(b, a)).or_insert(0) += n,
            _ => *found.entry(e).or_insert(0) += n,
        }
    }
    found
}

/// The common factor of both sides of an equation; fractions such as 1/10 stay where they are.
fn common_factor(g: &Graph, left: Expr, right: Expr) -> CommonFactor {
    let plain = |common| CommonFactor { common, number: None };
    let common = g.factor_of_all_terms(&[left, right]);
    // NOTE: 2/5 before all terms goes, 1/10 stays.
    let number = g.evaluate(&[g.common_factor(&[left, right])], &|_| 1.0)[0].abs();
    if number >= 1.0 {
        return plain(common);
    }
    let clear = libm::round(1.0 / number);
    let is_whole = (clear * number - 1.0).abs() < 1e-9 && clear < 1e9;
    match is_whole {
        true => {
            let n = clear as i64;
            let number = (n > 1 && !is_decimal(n)).then(|| g.fraction(1, n));
            CommonFactor { common: g.mul(common, g.integer(n)), number }
        }
        false if number.is_finite() && number > 0.0 => plain(common),
        false => plain(g.one()),
    }
}
