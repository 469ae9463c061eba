//! Typst: expected strings, and what every formula must satisfy to be read.
//!
//! The walk is the one of LaTeX, whose values are read back; here the words must be those of Typst.

use crate::support::{Kind, Random, parse, random};
use pfaff_expr::{Graph, Role};

/// Names of several letters that Typst knows in math mode.
const KNOWN: [&str; 29] = [
    "frac", "sqrt", "abs", "cases", "attach", "thin", "upright", "op", "dot", "double",
    "triple", "integral", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "ln", "max", "min", "tl", "bl", "br", "tr", "quad",
];

#[test]
fn formulas_look_as_expected() {
    for (text, typst) in [
        ("-x/3", "-frac(1, 3) thin x"),
        ("2*3^x", "2 ⋅ 3^(x)"),
        ("x*(y - z)", "x thin (y - z)"),
        ("(x + y)/(x - y)", "frac(x + y, x - y)"),
        ("sqrt(x)^3", "sqrt(x)^(3)"),
        ("sin(phi)*y", "sin (φ) thin y"),
        ("sin(phi)^2", "sin^(2) φ"),
        ("exp(-x)", "upright(e)^(-x)"),
        ("abs(x)", "abs(x)"),
        ("atan2(x, y)", "op(\"atan2\") (x, y)"),
        ("q1''", "dot.double(q)_(1)"),
        ("x_max", "x_(\"max\")"),
        ("phi[1,2]'", "dot(φ)_(12)"),
        ("if(x < 1, x, 2)", "cases(x & \"if\" x < 1, 2 & \"otherwise\")"),
    ] {
        let g = Graph::new();
        assert_eq!(g.to_typst(parse(&g, text)), typst, "{text}");
    }
    let g = Graph::new();
    let symbol = |name: &str| g.to_typst(g.symbol(name, Role::Free));
    assert_eq!(symbol("c[i,j]"), "c_(i j)");
    assert_eq!(symbol("lambda(blade)"), "λ_(\"blade\")");
    assert_eq!(symbol("w[10,2]"), "w_(10,2)");
}

#[test]
fn sums_come_apart_at_their_signs() {
    let g = Graph::new();
    let e = parse(&g, "x - (y - z) + 2*y");
    let terms = g.typst_terms(e);
    // What is taken away stands by its terms, so that a line can break between them.
    assert_eq!(terms, ["x", "- y", "+ z", "+ 2 thin y"]);
}

#[test]
fn formulas_have_closed_brackets_and_known_names_only() {
    let mut r = Random(5);
    let g = Graph::new();
    let symbols =
        ["x", "t", "q1'", "q''", "phi[1,2]'", "mu(c)'", "beta_1", "q''''", "abc_x", "th"]
            .map(|s| parse(&g, s));
    for case in 0..4_000 {
        let kind = if case % 2 == 0 { Kind::All } else { Kind::Printable };
        let size = 1 + r.below(16);
        let e = random(&g, &mut r, &symbols, size, kind);
        let text = g.to_typst(e);
        let (mut depth, mut quoted, mut word) = (0_i32, false, String::new());
        for c in text.chars().chain([' ']) {
            if c == '"' {
                quoted = !quoted;
            }
            if quoted {
                continue;
            }
            if c.is_ascii_alphabetic() {
                word.push(c);
                continue;
            }
            let known = word.len() < 2 || KNOWN.contains(&word.as_str());
            assert!(known, "{word} in {text}");
            word.clear();
            depth += i32::from(c == '(') - i32::from(c == ')');
            assert!(depth >= 0, "{text}");
        }
        assert!(depth == 0 && !quoted, "{text}");
    }
}
