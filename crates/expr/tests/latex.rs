//! LaTeX: expected strings, and values read back from what is printed.

pub(crate) mod evaluator;

use crate::support::{Kind, Random, parse, random};
use pfaff_expr::{Expr, Graph};

/// Lines `expression → LaTeX`.
const EXPECTED: &str = include_str!("latex/expected.txt");

#[test]
fn formulas_look_as_expected() {
    let cases: Vec<(&str, &str)> =
        EXPECTED.lines().filter_map(|l| l.split_once(" → ")).collect();
    assert!(cases.len() >= 80, "{}", cases.len());
    for (text, latex) in cases {
        let g = Graph::new();
        assert_eq!(g.to_latex(parse(&g, text)), latex, "{text}");
    }
}

/// Conditions are real numbers here: 1 where they hold and 0 where not.
#[test]
fn values_survive_the_printing() {
    let mut r = Random(11);
    let g = Graph::new();
    let symbols = [
        "x",
        "y",
        "L",
        "t",
        "q1'",
        "q''",
        "phi[1,2]'",
        "mu(c)'",
        "beta_1",
        "q''''",
        "th",
        "abc_x",
    ]
    .map(|s| parse(&g, s));
    let values: Vec<f64> = symbols.iter().map(|_| r.uniform(-1.5, 2.0)).collect();
    let written: Vec<(String, f64)> =
        symbols.iter().zip(&values).map(|(&s, &v)| (g.to_latex(s), v)).collect();
    let at = |s: Expr| values[symbols.iter().position(|&x| x == s).expect("one of them")];
    let mut finite = 0;
    for case in 0..20_000 {
        let kind = if case % 2 == 0 { Kind::All } else { Kind::Printable };
        let size = 1 + r.below(16);
        let e = random(&g, &mut r, &symbols, size, kind);
        let latex = g.to_latex(e);
        if g.has_memory(e) || latex.contains("E_{") || latex.contains("\\mathrm{column}") {
            continue;
        }
        let (read, value) = (evaluator::value(&latex, &written), g.evaluate(&[e], &at)[0]);
        // Products are regrouped and numbers rounded elsewhere, which costs some units of rounding that later
        // steps may enlarge.
        let close = (read - value).abs() <= 1e-7 * (1.0 + value.abs());
        if !value.is_finite() || value.abs() > 1e6 {
            continue;
        }
        finite += 1;
        assert!(close, "case {case}: {} is {value}, but {latex} is {read}", g.to_text(e));
    }
    assert!(finite > 5_000, "{finite}");
}
