//! Simplified expressions: smaller, and of the same value.

use crate::support::{Kind, Random, parse, random};
use pfaff_expr::{Expr, Graph, Role};

#[test]
fn known_forms_are_found() {
    let cases = [
        ("sin(x)^2 + cos(x)^2", "1"),
        ("a*sin(x)^2 + b + a*cos(x)^2", "a + b"),
        ("3*M*L^2*sin(q)^2*q'^2 + 3*M*L^2*cos(q)^2*q'^2", "3*M*L^2*q'^2"),
        ("sin(x)^4 + sin(x)^2*cos(x)^2", "sin(x)^2"),
        ("1 - sin(x)^2", "cos(x)^2"),
        ("y*z - y*z*cos(x)^2", "y*z*sin(x)^2"),
        ("cosh(x)^2 - sinh(x)^2", "1"),
        ("x + y + x - 2*y + y", "2*x"),
        ("2*x*y - y*x*2", "0"),
        ("x*y/x", "y"),
        ("x^3*y/(x*y^2)", "x^2/y"),
        ("2*sin(x)*cos(x)", "sin(2*x)"),
        ("sin(x)*cos(y) + cos(x)*sin(y)", "sin(x + y)"),
        ("cos(x)*cos(y)*z + sin(x)*sin(y)*z", "z*cos(x - y)"),
        ("sin(x)/cos(x)", "tan(x)"),
        ("exp(x)*exp(-x)", "1"),
        ("exp(x)*y*exp(z)", "y*exp(x + z)"),
        ("sqrt((x + y)^2)", "abs(x + y)"),
        ("exp(log(x))*y", "x*y"),
        ("log(x) + log(y) - log(z)", "log(x*y/z)"),
        ("abs(x)^2 + sign(y)*abs(y)", "x^2 + y"),
        ("sin(x*y + y*x)^2 + cos(2*x*y)^2", "1"),
        ("sqrt(sin(x)^2 + cos(x)^2)", "1"),
        ("if(x < y, 2*z - z, z)", "z"),
        ("atan2(y + y - y, x*1)", "atan2(y, x)"),
    ];
    for (before, after) in cases {
        let g = Graph::new();
        let simple = g.simplify(parse(&g, before));
        assert_eq!(g.to_text(simple), g.to_text(parse(&g, after)), "{before}");
    }
}

#[test]
fn values_are_preserved() {
    let mut r = Random(17);
    let (mut compared, mut smaller) = (0, 0);
    for case in 0..1200 {
        let g = Graph::new();
        let symbols = ["x", "y", "q", "q'"].map(|s| parse(&g, s));
        let kind = [Kind::All, Kind::Smooth, Kind::Printable][case % 3];
        let size = 4 + r.below(30);
        let mut e = random(&g, &mut r, &symbols, size, kind);
        if case % 2 == 0 {
            // Something to find.
            let a = random(&g, &mut r, &symbols, 4, Kind::Smooth);
            let two = g.integer(2);
            let circle = g.add(g.mul(e, g.pow(g.sin(a), two)), g.mul(e, g.pow(g.cos(a), two)));
            e = g.sub(g.add(circle, a), e);
        }
        let simple = g.simplify(e);
        assert!(g.live(&[simple]).len() <= g.live(&[e]).len());
        smaller += usize::from(simple != e);
        for _ in 0..4 {
            let values = symbols.map(|_| r.uniform(-1.5, 2.0));
            let at = |s: Expr| values[symbols.iter().position(|&x| x == s).unwrap()];
            let both = g.evaluate(&[e, simple], &at);
            let largest =
                g.evaluate(&g.live(&[e]), &at).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            if !both[0].is_finite() || largest > 1e5 {
                continue;
            }
            compared += 1;
            // A few dozen roundings of the largest number on the way, enlarged by slopes; a wrong rule is
            // wrong in the first digit.
            let close = (both[0] - both[1]).abs() <= 1e-9 * (1.0 + largest);
            let text = || format!("{} became {}", g.to_text(e), g.to_text(simple));
            assert!(close, "case {case} at {values:?}: {both:?} {}", text());
        }
    }
    assert!(compared > 1500 && smaller > 500, "{compared} {smaller}");
}

#[test]
fn memory_operators_are_left_alone() {
    let g = Graph::new();
    let e = parse(&g, "caputo(q + q - q*sin(t)^2 - q*cos(t)^2, 1/2) + y - y*1");
    let simple = g.simplify(e);
    let expected = parse(&g, "caputo(q + q - q*sin(t)^2 - q*cos(t)^2, 1/2)");
    assert_eq!(simple, expected);
    let twice = parse(&g, "mean(q)*x + 2*x*mean(q)");
    assert_eq!(g.to_text(g.simplify(twice)), "3*mean(q)*x");
}

#[test]
fn simplifying_again_changes_nothing_much_and_large_sums_are_quick() {
    let g = Graph::new();
    let [x, y] = ["x", "y"].map(|s| g.symbol(s, Role::Free));
    let (mut sum, mut nested) = (g.zero(), x);
    for i in 0..100_000 {
        sum = g.add(sum, g.mul(g.integer(i % 7 + 1), if i % 2 == 0 { x } else { y }));
        nested = g.sin(nested);
    }
    let simple = g.simplify(sum);
    assert_eq!(g.simplify(simple), simple);
    assert!(g.live(&[simple]).len() <= 7, "{}", g.to_text(simple));
    assert_eq!(g.simplify(nested), nested);
}
