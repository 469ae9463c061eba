//! Choices → an expression → shorter ones, and printed ones that are read again: the same value at some points.
//!
//! A rewritten expression may round in another order. So deviations count beside the largest number that occurs in the
//! expression, and beside what a change of the arguments in the tenth digit does; where that is not small either, such
//! as at a jump, nothing is compared.

use pfaff_expr::{Binary, Expr, Graph, Relation, Role, Unary};

use crate::choices::Choices;

const NAMES: [&str; 3] = ["x", "y", "k"];
/// The part of the largest number that rounding may cost: some hundred operations, each of which may lose digits.
const ROUNDING: f64 = 1e-9;
/// Numbers beyond this leave no digits for a comparison.
const LARGEST: f64 = 1e6;

/// Rewrites an expression in every way.
pub(crate) fn rewritten(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let at: Vec<[f64; 3]> = (0..3)
        .map(|_| [0; 3].map(|_: u8| (choices.below(4000) as f64 - 2000.0) / 997.0))
        .collect();
    let g = Graph::new();
    let roles = [Role::Free, Role::Free, Role::Parameter];
    let symbols: Vec<Expr> =
        NAMES.iter().zip(roles).map(|(name, role)| g.symbol(name, role)).collect();
    let mut known = symbols.clone();
    known.extend([g.one(), g.fraction(1, 3), g.integer(-2), g.pi()]);
    for _ in 0..choices.below(24) {
        let next = step(&g, &mut choices, &known);
        known.push(next);
    }
    let e = known[known.len() - 1];
    let page = Graph::new();
    let written = g.on_paper(&[e], &page)[0];
    let ordered = Graph::new();
    let in_order = g.in_reading_order(&[e], &ordered)[0];
    let simple = g.simplify(e);
    let text = g.to_text(e);
    for shown in [g.to_latex(e), g.to_mathml(e), g.to_typst(e), page.to_latex(written)] {
        assert!(!shown.is_empty());
    }
    for point in at {
        let Some((value, allowed)) = reference(&g, e, &symbols, point) else { continue };
        let check = |what: &str, found: f64| {
            assert!(
                (found - value).abs() <= allowed,
                "{what} at {point:?}: {found:e} instead of {value:e} (within {allowed:e})\n{text}"
            );
        };
        check("simplified", evaluated(&g, simple, point));
        check("on paper", evaluated(&page, written, point));
        check("in reading order", evaluated(&ordered, in_order, point));
        check("its text, read again", read_again(&text, point));
        check("paper, read again", read_again(&page.to_text(written), point));
    }
}

/// The value at a point and how far others may be from it; `None` where it says nothing.
fn reference(g: &Graph, e: Expr, symbols: &[Expr], at: [f64; 3]) -> Option<(f64, f64)> {
    let nodes = g.live(&[e]);
    let values = |factor: f64| {
        let value = |s: Expr| {
            let i = symbols.iter().position(|known| *known == s).expect("a known symbol");
            at[i] * factor
        };
        g.evaluate(&nodes, &value)
    };
    let (here, below, above) = (values(1.0), values(1.0 - 1e-10), values(1.0 + 1e-10));
    let mut largest = 1.0_f64;
    for ((a, b), c) in here.iter().zip(&below).zip(&above) {
        // A part that is not finite, or that jumps nearby, may be missing in another form.
        let moves = (a - b).abs() + (a - c).abs();
        if moves.is_nan() || moves > 1e-5 * (1.0 + a.abs()) || a.abs() > LARGEST {
            return None;
        }
        largest = largest.max(a.abs());
    }
    let last = nodes.iter().position(|n| *n == e).expect("it is one of its parts");
    let moves = (here[last] - below[last]).abs() + (here[last] - above[last]).abs();
    // NOTE: divisions by what is small make the parts of other forms larger than these.
    let smallest = nodes.iter().zip(&here).filter_map(|(n, v)| {
        let is_divisor = matches!(g.node(*n), pfaff_expr::Node::Number(_));
        (!is_divisor).then_some(v.abs())
    });
    if smallest.fold(f64::INFINITY, f64::min) < 1e-4 {
        return None;
    }
    Some((here[last], ROUNDING * largest * largest + 1e3 * moves))
}

fn evaluated(g: &Graph, e: Expr, at: [f64; 3]) -> f64 {
    let value = |s: Expr| {
        let name = g.to_text(s);
        at[NAMES.iter().position(|known| *known == name).expect("a known symbol")]
    };
    g.evaluate(&[e], &value)[0]
}

fn read_again(text: &str, at: [f64; 3]) -> f64 {
    let with: Vec<String> = NAMES.iter().zip(at).map(|(n, v)| format!("{n}={v:?}")).collect();
    match pfaff::evaluate(text, &with.join(", "), pfaff::Range::default()) {
        Ok(pfaff::Value::Number(value)) => value,
        Ok(pfaff::Value::List(_)) => panic!("a list: {text}"),
        Err(wrong) => {
            let why: Vec<&str> = wrong.diagnostics.iter().map(|d| d.message.as_str()).collect();
            panic!("`{text}` is not read: {}", why.join("; "))
        }
    }
}

fn step(g: &Graph, choices: &mut Choices<'_>, known: &[Expr]) -> Expr {
    let mut operand = || known[choices.below(known.len())];
    let [a, b] = [operand(), operand()];
    match choices.below(18) {
        0..=2 => g.add(a, b),
        3 => g.sub(a, b),
        4..=6 => g.mul(a, b),
        7 => g.div(a, b),
        8 => g.neg(a),
        9 => g.pow(a, g.integer(choices.one(&[2, 3, -1, -2]))),
        10 => g.sin(a),
        11 => g.cos(a),
        12 => g.sqrt(g.add(g.one(), g.mul(a, a))),
        13 => g.unary(choices.one(&[Unary::Exp, Unary::Tanh, Unary::Atan, Unary::Abs]), a),
        14 => g.choose(g.compare(Relation::Less, a, b), a, b),
        15 => g.binary(choices.one(&[Binary::Max, Binary::Min, Binary::Atan2]), a, b),
        16 => g.unary(Unary::Log, g.add(g.integer(2), g.mul(a, a))),
        _ => g.add(g.pow(g.sin(a), g.integer(2)), g.pow(g.cos(a), g.integer(2))),
    }
}
