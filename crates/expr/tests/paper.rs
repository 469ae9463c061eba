//! Formulas as a person prints them: a corpus of textbook expressions, and random ones by value.

use crate::support::{Kind, Random, parse, random};
use pfaff_expr::{Graph, ZeroTest};

/// What is printed for an expression.
fn printed(text: &str) -> String {
    let (g, page) = (Graph::new(), Graph::new());
    let e = parse(&g, text);
    page.to_text(g.on_paper(&[e], &page)[0])
}

/// `raw form => form of the book`, with comments.
const CORPUS: &str = include_str!("paper/corpus.txt");

fn corpus() -> Vec<(&'static str, &'static str)> {
    let lines = CORPUS.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|l| l.split_once(" => ").expect("two forms in a line")).collect()
}

/// The forms of the books are those of the raw expressions: what is compared is one quantity.
#[test]
fn the_corpus_is_right() {
    for (raw, book) in corpus() {
        let g = Graph::new();
        let difference = g.sub(parse(&g, raw), parse(&g, book));
        assert_eq!(g.zero_test(difference), ZeroTest::Zero, "{raw} is not {book}");
    }
}

#[test]
fn formulas_are_as_short_as_in_books() {
    let (mut sum, mut worst) = (0.0, Vec::new());
    let all = corpus();
    for (raw, book) in &all {
        let ours = printed(raw);
        let g = Graph::new();
        let theirs = g.to_text(parse(&g, book));
        let ratio = ours.len() as f64 / theirs.len() as f64;
        sum += ratio;
        if ratio > 1.5 {
            worst.push(format!("{ratio:.2}: {raw}\n    ours {ours}\n    book {theirs}"));
        }
    }
    let mean = sum / all.len() as f64;
    assert!(worst.is_empty(), "longer than 1.5 times:\n{}", worst.join("\n"));
    assert!(mean <= 1.15, "mean length {mean:.3} of the books'");
}

/// Small things that are easily wrong, to the letter.
#[test]
fn known_formulas() {
    let cases = [
        ("1/R*(K/R)", "K/R^2"),
        ("cos(phi + 2*pi)", "cos(phi)"),
        ("cos(phi + 2*pi/3)*Q + cos(phi + 8*pi/3)*Q", "2*Q*cos(phi + 2*pi/3)"),
        ("2*(1/sin(phi))", "2/sin(phi)"),
        ("R*(1/(2*M))", "R/(2*M)"),
        ("A*cos(phi)*sin(phi)*phi'^2 + 0*q", "A*sin(phi)*cos(phi)*phi'^2"),
        ("2*A*cos(phi)*sin(phi)*phi'^2", "A*sin(2*phi)*phi'^2"),
        ("(A^2 + 2*A*B + B^2)/(A + B)^3", "1/(A + B)"),
        ("K*q1*(q1^2 + q2^2)^(-3/2)", "K*q1/(q1^2 + q2^2)^(3/2)"),
        ("if(q < 1, q + q, 1/q*q)", "if(q < 1, 2*q, 1)"),
        ("abs(q*A + A*q)", "abs(2*A*q)"),
        ("A*exp(q1)*(A*exp(-q1))*exp(q2)", "A^2*exp(q2)"),
        ("caputo(q + q, 1/2)*A/A", "caputo(2*q, 1/2)"),
        ("q1*q2'*A + A*q1'*q2", "A*(q1*q2' + q2*q1')"),
        (
            "-(q*q1'^2 + q*q2'^2 + q*phi'^2) - G*q1^2 - G*q2^2",
            "-q*(q1'^2 + q2'^2 + phi'^2) - G*(q1^2 + q2^2)",
        ),
        // One rate stands once, a double angle is seen, squares of sines are powers
        (
            "(M*B^2 + J)*phi' + M*A*(A - 2*B*cos(phi))*phi'",
            "(M*A^2 + J + M*B*(B - 2*A*cos(phi)))*phi'",
        ),
        ("A - B + C + 2*(B - A)*cos(q)^2", "C - (A - B)*cos(2*q)"),
        ("A*(1 - cos(q)^2)^2", "A*sin(q)^4"),
        // What needs no denominator stands beside the fraction
        (
            "(A*q1' - G*sin(q)*(M + A*sin(q)^2)^2)/(M + A*sin(q)^2)^2",
            "A*q1'/(M + A*sin(q)^2)^2 - G*sin(q)",
        ),
        // Squares of three terms, and of parts of sums
        (
            "A^2*sin(phi)^2*q1'^2/J + q1'^2/M + (q2' - A*cos(phi)*phi')^2/J \
             + 2*A*sin(phi)*q1'*(q2' - A*cos(phi)*phi')/J",
            "q1'^2/M + (A*sin(phi)*q1' + q2' - A*cos(phi)*phi')^2/J",
        ),
        (
            "A*sin(q)^2*phi'^2/2 + C*cos(q)^2*phi'^2/2 + C*cos(q)*phi'*q2' + A*q'^2/2 + C*q2'^2/2",
            "C*(cos(q)*phi' + q2')^2/2 + A*(sin(q)^2*phi'^2 + q'^2)/2",
        ),
        // Terms with the same coefficient
        ("M*q1'^2/2 + M*q2'^2/2 + M*G*q1", "M*(q1'^2 + q2'^2)/2 + M*G*q1"),
        (
            "(1/M + A^2/J)*cos(phi)*q2' - (1/M + A^2/J)*sin(phi)*q1' - A*q3'/J",
            "(M*A^2 + J)*(cos(phi)*q2' - sin(phi)*q1')/(M*J) - A*q3'/J",
        ),
        // Denominators that are seen to be positive; what they divide stands apart
        ("-4*sin(2*q)*q'/(4*cos(q)^2 - 5)", "4*sin(2*q)*q'/(1 + 4*sin(q)^2)"),
        (
            "(q'^2*sin(q) - L*G*sin(q1)*(M1 + M2*sin(q)^2)^2)/(M1 + M2*sin(q)^2)^2",
            "sin(q)*q'^2/(M1 + M2*sin(q)^2)^2 - L*G*sin(q1)",
        ),
        // Parts with denominators of their own
        (
            "q'^2/(2*(A + M*cos(q)^2)) + (q1'^2 + q2'^2)/(2*M)",
            "q'^2/(2*(A + M*cos(q)^2)) + (q1'^2 + q2'^2)/(2*M)",
        ),
        (
            "M*G*sin(q) + (B*cos(q)*q1'^2 - B*(1 + cos(q)^2)*q1'*q2' + B*cos(q)*q2'^2)/(A*sin(q)^3)",
            "B*(q1' - cos(q)*q2')*(cos(q)*q1' - q2')/(A*sin(q)^3) + M*G*sin(q)",
        ),
        ("q1'^2/(2*A) + q2'^2/(2*B) + M*G*cos(q)", "q1'^2/(2*A) + q2'^2/(2*B) + M*G*cos(q)"),
        // Squares beside each other
        ("A/((q1 - q)^2 + (q2 - phi)^2)^(3/2)", "A/((q1 - q)^2 + (q2 - phi)^2)^(3/2)"),
        ("M*(R - S)^2*q'^2/2", "M*(R - S)^2*q'^2/2"),
        // Each rate once
        ("q2' + K^2*q1^2*q2' - K^2*q1*q2*q1'", "(1 + K^2*q1^2)*q2' - K^2*q2*q1*q1'"),
        // What stands above a sum may be of any degree
        (
            "M*(1/sqrt(1 - (q1'^2 + q2'^2)/C^2) + q1'^2/C^2/(1 - (q1'^2 + q2'^2)/C^2)^(3/2))",
            "M*(C^2 - q2'^2)/(C^2*(1 - (q1'^2 + q2'^2)/C^2)^(3/2))",
        ),
        // Coefficients of one coordinate, and masses before their brackets
        ("G*(M1*q1 - M2*q1 + K*q2)", "G*((M1 - M2)*q1 + K*q2)"),
        ("M*q1'^2/2 + M*q2'^2/2 + J*q'^2/2", "J*q'^2/2 + M*(q1'^2 + q2'^2)/2"),
        ("q1'' + 4*A^2*q^2*q1''", "(1 + 4*A^2*q^2)*q1''"),
        // Squares beside constants, and with a minus
        ("1 + q1^2 + q2^2 + 2*q2", "q1^2 + (1 + q2)^2"),
        ("q1'^2*M/2 - K*A^2/2 - K*q1^2/2 + K*A*q1", "M*q1'^2/2 - K*(A - q1)^2/2"),
        // One fraction, and decimals of the text as they are
        ("3/10/q - q1*q2/q - q2/q - M*sin(phi)/q", "(3/10 - q1*q2 - q2 - M*sin(phi))/q"),
        ("q1*q1' + q2' + q2*q2' - 3/10", "q1*q1' + (1 + q2)*q2' - 3/10"),
        ("A/(q1/2 + q2 - 5/2)", "2*A/(q1 + 2*q2 - 5)"),
        // Energies are not mixed, and differences of constants stay as they were written
        (
            "A*M^2*q1'^2/2 + B*M^2*q1'^2/2 + A*M*G*cos(q1) + B*M*G*cos(q1) + B*M*q1'*q2'*cos(q)",
            "M^2*(A + B)*q1'^2/2 + M*B*cos(q)*q1'*q2' + M*G*(A + B)*cos(q1)",
        ),
        ("q1'' - (1 - A)*q/q2^3", "q1'' - (1 - A)*q/q2^3"),
        // The terms of equations of motion on paper
        (
            "(M2*sin(2*q1 - 2*q2)*q2'^2 + (M1 + M2)*(2*A*sin(q1 - q2)*q1'^2 + G*sin(2*q1 - q2) - G*sin(q2))/B) \
             /(2*M1 + M2*(1 - cos(2*q1 - 2*q2)))",
            "sin(q1 - q2)*(M2*B*cos(q1 - q2)*q2'^2 + (M2 + M1)*(A*q1'^2 + G*cos(q1)))/(B*(M1 + M2*sin(q1 - q2)^2))",
        ),
        // Roots
        ("sqrt(4*A^2 + 4*B^2)", "2*sqrt(A^2 + B^2)"),
        ("A*(q/sqrt(A - q^2)) + B*(1/sqrt(A - q^2))", "(B + A*q)/sqrt(A - q^2)"),
    ];
    let printed = cases.map(|(raw, _)| (raw, printed(raw)));
    let wrong: Vec<_> =
        printed.iter().zip(cases).filter(|(ours, case)| ours.1 != case.1).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is written is the expression: at random points, by doubles.
#[test]
fn values_are_kept() {
    let mut r = Random(23);
    let (mut compared, mut shorter) = (0, 0);
    for case in 0..600 {
        let g = Graph::new();
        let symbols = ["q", "q'", "A", "B"].map(|s| parse(&g, s));
        let kind = [Kind::All, Kind::Smooth, Kind::Printable][case % 3];
        let size = 4 + r.below(24);
        let mut e = random(&g, &mut r, &symbols, size, kind);
        if case % 2 == 0 {
            let a = random(&g, &mut r, &symbols, 4, Kind::Smooth);
            let two = g.integer(2);
            let circle = g.add(g.mul(e, g.pow(g.sin(a), two)), g.mul(e, g.pow(g.cos(a), two)));
            e = g.div(g.add(circle, a), g.add(e, e));
        }
        let page = Graph::new();
        let short = g.on_paper(&[e], &page)[0];
        shorter += usize::from(page.to_text(short).len() < g.to_text(e).len());
        for point in 0..4 {
            let value_of = |name: &str| {
                0.3 + 0.37 * f64::from(point)
                    + name.len() as f64 * 0.11
                    + f64::from(name.as_bytes()[0]) * 0.003
            };
            let at = |g: &Graph, e| {
                g.evaluate(&[e], &|s| value_of(&g.symbol_of(s).expect("a symbol").text()))[0]
            };
            let (before, after) = (at(&g, e), at(&page, short));
            if !before.is_finite() {
                continue;
            }
            compared += 1;
            // Rounding of some dozen operations, which differences of nearly equal numbers make larger.
            let close = (before - after).abs() <= 1e-6 * (1.0 + before.abs());
            assert!(close, "{before} {after}: {} and {}", g.to_text(e), page.to_text(short));
        }
    }
    assert!(compared > 1000 && shorter > 200, "{compared} {shorter}");
}

/// The same expression gives the same text, whatever was asked before it.
#[test]
fn formulas_do_not_depend_on_what_came_before() {
    for (raw, _) in corpus().into_iter().step_by(7) {
        let (g, page) = (Graph::new(), Graph::new());
        let e = parse(&g, raw);
        let other = parse(&g, "sin(q1)*(A + B)*q2' - B*cos(q1)/A");
        let both = g.on_paper(&[e, other, e], &page);
        assert_eq!(both[0], both[2]);
        assert_eq!(page.to_text(both[0]), printed(raw));
    }
}

/// Large expressions come to an end.
#[test]
fn work_has_an_end() {
    let (g, page) = (Graph::new(), Graph::new());
    let mut e = parse(&g, "q1");
    for k in 0..30 {
        let other = parse(&g, &format!("sin(q1 + {k}*q2) + B{k}"));
        e = g.add(g.mul(e, e), g.div(other, g.add(e, other)));
    }
    g.on_paper(&[e], &page);
    let page = Graph::new();
    let long = (0..400).map(|k| parse(&g, &format!("A{k}*cos(q{k} + phi)*q{k}'")));
    let sum = g.sum(long.collect::<Vec<_>>());
    g.on_paper(&[sum], &page);
    // Written out, this has 2^100 letters.
    let mut deep = parse(&g, "q1");
    for _ in 0..100 {
        deep = g.mul(g.sin(deep), g.cos(deep));
    }
    let page = Graph::new();
    g.on_paper(&[g.add(deep, parse(&g, "q2")), g.mul(deep, parse(&g, "q2"))], &page);
}
