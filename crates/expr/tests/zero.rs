//! The zero test on a list of identities and of what only looks like one.

use crate::support::{Kind, Random, parse, random, table};
use pfaff_expr::{Expr, Graph, Memory, NameOptions, Role, ZeroTest};

/// Each line holds wherever both sides are finite real numbers.
const IDENTITIES: &str = include_str!("zero/identities.txt");
/// Each line fails at some real point.
const OTHERS: &str = include_str!("zero/others.txt");

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect()
}

fn difference(g: &Graph, line: &str) -> Expr {
    let (left, right) = line.split_once(" = ").expect("a line is `left = right`");
    g.sub(parse(g, left), parse(g, right))
}

#[test]
fn none_of_the_list_is_decided_wrongly() {
    let (identities, others) = (lines(IDENTITIES), lines(OTHERS));
    assert!(
        identities.len() >= 150 && others.len() >= 150,
        "{} {}",
        identities.len(),
        others.len()
    );
    let mut unknown = Vec::new();
    for line in &identities {
        let g = Graph::new();
        match g.zero_test(difference(&g, line)) {
            ZeroTest::Zero => {}
            ZeroTest::Unknown => unknown.push(*line),
            other @ ZeroTest::Nonzero { .. } => panic!("`{line}` holds, but {other:?}"),
        }
    }
    for line in &others {
        let g = Graph::new();
        let e = difference(&g, line);
        match g.zero_test(e) {
            ZeroTest::Nonzero { witness, value } => {
                let at = |s: Expr| {
                    witness.iter().find(|(w, _)| *w == s).expect("every symbol has a value").1
                };
                assert_eq!(g.evaluate(&[e], &at)[0], value, "{line}");
                assert!(value != 0.0, "{line}");
            }
            ZeroTest::Unknown => unknown.push(*line),
            ZeroTest::Zero => panic!("`{line}` does not hold"),
        }
    }
    let share = unknown.len() as f64 / (identities.len() + others.len()) as f64;
    assert!(share <= 0.02, "undecided: {unknown:#?}");
}

/// One word of each identity is changed; what is then called zero must vanish at hundreds of points, and a
/// witness must be one.
#[test]
fn changed_identities_are_not_called_zero() {
    const CHANGES: [(&str, &str); 16] = [
        (" + ", " - "),
        (" - ", " + "),
        ("sin(", "cos("),
        ("cos(", "sin("),
        ("sinh(", "cosh("),
        ("exp(", "sqrt("),
        ("log(", "exp("),
        ("abs(", "sqrt("),
        ("sqrt(", "abs("),
        ("min(", "max("),
        ("x", "y"),
        ("x", "abs(x)"),
        ("y", "(-y)"),
        ("2", "3"),
        ("1", "2"),
        ("/", "*"),
    ];
    let mut r = Random(77);
    let (mut zeros, mut others, mut unknown) = (0, 0, 0);
    for line in lines(IDENTITIES) {
        for (from, to) in CHANGES {
            for (at, _) in line.match_indices(from) {
                let changed = format!("{}{to}{}", &line[..at], &line[at + from.len()..]);
                let joined = |a: Option<char>, b: Option<char>| {
                    a.zip(b).is_some_and(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric())
                };
                let end = at + from.len();
                // Whole words only.
                if joined(line[..at].chars().last(), from.chars().next())
                    || joined(from.chars().last(), line[end..].chars().next())
                {
                    continue;
                }
                let g = Graph::new();
                let e = difference(&g, &changed);
                let symbols = g.symbols(&[e]);
                match g.zero_test(e) {
                    ZeroTest::Zero => {
                        zeros += 1;
                        for _ in 0..300 {
                            let scale = [0.5, 1.0, 3.0, 10.0][r.below(4)];
                            let point: Vec<f64> =
                                symbols.iter().map(|_| r.uniform(-scale, scale)).collect();
                            let value_of = |s: Expr| {
                                point
                                    [symbols.iter().position(|&x| x == s).expect("one of them")]
                            };
                            let all = g.evaluate(&g.live(&[e]), &value_of);
                            let largest = all.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
                            let value = g.evaluate(&[e], &value_of)[0];
                            // Rounding of the largest number on the way.
                            assert!(
                                !value.is_finite()
                                    || largest > 1e6
                                    || value.abs() < 1e-7 * largest,
                                "`{changed}` is {value} at {point:?}"
                            );
                        }
                    }
                    ZeroTest::Nonzero { witness, value } => {
                        others += 1;
                        let value_of = |s: Expr| {
                            witness.iter().find(|(w, _)| *w == s).expect("a value for each").1
                        };
                        assert_eq!(g.evaluate(&[e], &value_of)[0], value);
                    }
                    ZeroTest::Unknown => unknown += 1,
                }
            }
        }
    }
    // Unknown is what differs only where it is not defined: 1/√x = √|x|/x, log(−xy) = log x + log y.
    assert!(others > 1_500 && unknown < 50, "{zeros} zero, {others} not, {unknown} unknown");
}

/// Lagrange: $\partial(\dot e)/\partial\dot q = \partial e/\partial q$ and $\frac{d}{dt}\partial e/\partial q =
/// \partial\dot e/\partial q$.
#[test]
fn lagranges_lemma() {
    let mut r = Random(3);
    for case in 0..60 {
        let g = Graph::new();
        let symbols = ["q1", "q2", "q3", "t", "L"].map(|s| parse(&g, s));
        let e = random(&g, &mut r, &symbols, 12, Kind::Smooth);
        let rate = g.total_derivative(e);
        for q in &symbols[..3] {
            let dot = g.rate(*q).unwrap();
            let lemma = g.sub(g.derivative(rate, dot), g.derivative(e, *q));
            assert!(g.is_zero(lemma), "case {case}: {}", g.to_text(lemma));
            let exchange =
                g.sub(g.total_derivative(g.derivative(e, *q)), g.derivative(rate, *q));
            assert_ne!(
                std::mem::discriminant(&g.zero_test(exchange)),
                std::mem::discriminant(&ZeroTest::Nonzero { witness: vec![], value: 0.0 }),
                "case {case}: {}",
                g.to_text(exchange)
            );
        }
    }
}

/// The kinetic metric of a rotation in Euler angles has determinant $A^2 C\sin^2\theta$ for the moments $A, A, C$.
#[test]
fn metric_of_the_top() {
    let g = Graph::new();
    let theta = parse(&g, "q1");
    let [td, fd, pd] = ["q1'", "q2'", "q3'"].map(|s| parse(&g, s));
    // ω in the body frame
    let w = [
        "q2'*sin(q1)*sin(q3) + q1'*cos(q3)",
        "q2'*sin(q1)*cos(q3) - q1'*sin(q3)",
        "q2'*cos(q1) + q3'",
    ]
    .map(|s| parse(&g, s));
    let [a, c] = ["A", "C"].map(|s| parse(&g, s));
    let two = g.integer(2);
    let energy = g.div(
        g.add(g.mul(a, g.add(g.pow(w[0], two), g.pow(w[1], two))), g.mul(c, g.pow(w[2], two))),
        two,
    );
    let m = g.hessian(energy, &[td, fd, pd]);
    let minor = |i: usize, j: usize, k: usize, l: usize| {
        g.sub(g.mul(m[i][k], m[j][l]), g.mul(m[i][l], m[j][k]))
    };
    let det = g.sum([
        g.mul(m[0][0], minor(1, 2, 1, 2)),
        g.neg(g.mul(m[0][1], minor(1, 2, 0, 2))),
        g.mul(m[0][2], minor(1, 2, 0, 1)),
    ]);
    let expected = g.mul(g.mul(g.mul(a, a), c), g.pow(g.sin(theta), two));
    assert!(g.is_zero(g.sub(det, expected)));
    assert!(!g.is_zero(g.sub(det, g.mul(expected, g.cos(theta)))));
}

#[test]
fn a_root_of_a_square_is_the_absolute_value() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let root = g.sqrt(g.mul(x, x));
    let ZeroTest::Nonzero { witness, .. } = g.zero_test(g.sub(root, x)) else {
        panic!("a witness exists")
    };
    assert!(witness[0].1 < 0.0);
    assert_eq!(g.zero_test(g.sub(root, parse(&g, "abs(x)"))), ZeroTest::Zero);
}

#[test]
fn what_is_opaque_cancels_against_itself_only() {
    let g = Graph::new();
    let q = parse(&g, "q");
    let past = g.memory(Memory::Caputo, q, g.fraction(1, 2));
    let other = g.memory(Memory::Caputo, g.add(q, g.one()), g.fraction(1, 2));
    let twice = g.mul(past, g.integer(2));
    assert!(g.is_zero(g.sub(g.sub(twice, past), past)));
    assert_eq!(g.zero_test(g.sub(past, other)), ZeroTest::Unknown);
    let data = g.table(table("a.csv", "b"), q);
    let square = parse(&g, "(q + 1)^2 - q^2 - 2*q");
    assert!(g.is_zero(g.sub(g.mul(data, square), data)));
    assert!(!g.is_zero(g.sub(data, q)));
}

#[test]
fn numbers_that_agree_modulo_the_prime_are_told_apart() {
    let g = Graph::new();
    assert!(!g.is_zero(parse(&g, "x*2305843009213693952 - x")));
    assert!(!g.is_zero(parse(&g, "2305843009213693951*x")));
    assert!(g.is_zero(parse(&g, "x*2305843009213693952*y - y*x*2305843009213693952")));
}

/// Many independent angles and signs at once, as in the equations of a long chain.
#[test]
fn a_wide_identity_is_found() {
    let g = Graph::new();
    let one = g.one();
    let mut sum = g.zero();
    for i in 0..400 {
        let line = format!("sin(x{i} + x{})^2*abs(1 + x{i}^2) - x{i}^2", i + 1);
        sum = g.add(sum, parse(&g, &line));
        let line = format!("(1 + x{i}^2)*cos(x{} + x{i})^2", i + 1);
        sum = g.sub(g.add(sum, parse(&g, &line)), one);
    }
    assert!(g.is_zero(sum));
    assert!(!g.is_zero(g.add(sum, parse(&g, "x3/1000"))));
}

/// They vanish at every point that is tried, but not everywhere.
#[test]
fn a_branch_that_no_point_has_shown_is_not_passed_over() {
    let g = Graph::new();
    for text in [
        "max(0, 1 - abs(x - 1000))",
        "if(x < 1000, 0, if(x < 1001, 1, 0))",
        "abs(sin(x) + 0.9999999999) - sin(x) - 0.9999999999",
        "1 - sqrt((x - 1000)^2) + sqrt((1 - sqrt((x - 1000)^2))^2)",
        "abs(x^2 - 1000000001) - sign(x^2 - 1000000000)*(x^2 - 1000000001)",
    ] {
        assert!(!g.is_zero(parse(&g, text)), "{text}");
    }
}

#[test]
fn a_large_or_deep_expression_is_tested_without_overflow() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let (mut nested, mut sum) = (x, g.zero());
    for i in 0..100_000 {
        nested = g.sin(nested);
        sum = g.add(sum, g.div(x, g.integer(i + 2)));
    }
    assert!(!g.is_zero(nested));
    assert!(!g.is_zero(g.sub(sum, nested)));
    assert_eq!(g.named(&[sum], &NameOptions::default()).definitions.len(), 0);
}

/// A look at many expressions together shows nothing of what is zero, and most of what is not.
#[test]
fn a_first_look_agrees_with_the_test() {
    let g = Graph::new();
    let [x, y] = ["x", "y"].map(|name| g.symbol(name, Role::Free));
    let square = |e: Expr| g.mul(e, e);
    let one = g.add(square(g.sin(x)), square(g.cos(x)));
    let zero = [g.zero(), g.sub(one, g.one()), g.mul(y, g.sub(one, g.one()))];
    let other = [x, g.sub(x, y), g.add(one, y), g.div(x, y), g.sub(one, g.integer(2))];
    let all: Vec<Expr> = zero.iter().chain(&other).copied().collect();
    let shown = g.shown_nonzero(&all);
    for (&e, shown) in all.iter().zip(shown) {
        assert_eq!(shown, !zero.contains(&e), "{}", g.to_text(e));
        assert_eq!(g.is_zero(e), !shown, "{}", g.to_text(e));
    }
    assert!(g.shown_nonzero(&[]).is_empty());
}
