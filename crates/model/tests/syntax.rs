//! The language from text to syntax tree: texts in, s-expressions or mistakes out.

use pfaff_model::syntax::{NodeKind, StatementKind, Syntax};
use pfaff_model::{
    Diagnostic, EXPLANATIONS, NoFiles, Overrides, Source, explanation, parse,
    parse_assignments, parse_expression, parse_expressions, read_model,
};

use crate::random::Random;

const MODELS: &[(&str, &str)] = &[
    ("affine_body", include_str!("models/affine_body.pfaff")),
    ("appell_hamel", include_str!("models/appell_hamel.pfaff")),
    ("ball_on_turntable", include_str!("models/ball_on_turntable.pfaff")),
    ("disk", include_str!("models/disk.pfaff")),
    ("memory_constraint", include_str!("models/memory_constraint.pfaff")),
    ("shortest_path", include_str!("models/shortest_path.pfaff")),
    ("sleigh", include_str!("models/sleigh.pfaff")),
    ("thermostat", include_str!("models/thermostat.pfaff")),
    ("trailers", include_str!("models/trailers.pfaff")),
];

/// `code line:column message; hint`, one mistake a line.
fn said(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let line = |d: &Diagnostic| {
        let at = source.position(d.span.start);
        let hint = d.hint.as_deref().unwrap_or("NO HINT");
        format!("{} {}:{} {}; {hint}\n", d.code, at.line, at.column, d.message)
    };
    diagnostics.iter().map(line).collect()
}

fn well_formed(text: &str) -> Syntax {
    let source = Source::new("m", text);
    let parsed = parse(&source);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{}", said(&source, &parsed.diagnostics));
    parsed.syntax
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(well_formed(text).to_string().trim_end(), expected, "{text}");
}

#[track_caller]
fn check_expression(text: &str, expected: &str) {
    let source = Source::new("m", text);
    let parsed = parse_expression(&source).unwrap_or_else(|d| panic!("{}", said(&source, &d)));
    assert_eq!(parsed.arena.print(parsed.root), expected, "{text}");
}

#[test]
fn precedence_is_that_of_paper() {
    for (text, expected) in [
        ("-x^2", "(- (^ x 2))"),
        ("2^-1", "(^ 2 (- 1))"),
        ("2^3^2", "(^ 2 (^ 3 2))"),
        ("2^-x^2*y", "(* (^ 2 (- (^ x 2))) y)"),
        ("x'^2", "(^ (' x) 2)"),
        ("x''", "('' x)"),
        ("1/2*x", "(* (/ 1 2) x)"),
        ("a - b - c", "(- (- a b) c)"),
        ("a + b*c", "(+ a (* b c))"),
        ("-a*b", "(* (- a) b)"),
        ("a*-b", "(* a (- b))"),
        ("--a", "(- (- a))"),
        ("not a < b and c", "(and (not (< a b)) c)"),
        ("a or b and not not c", "(or a (and b (not (not c))))"),
        ("a + 1 <= 2*b or a != b", "(or (<= (+ a 1) (* 2 b)) (!= a b))"),
        ("a and b or c and d == e", "(or (and a b) (and c (== d e)))"),
        ("(a + b)*c", "(* (+ a b) c)"),
        ("0.50 + 1e-3 + 1200", "(+ (+ 5e-1 1e-3) 12e2)"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn indices_calls_and_primes_bind_tightest() {
    for (text, expected) in [
        ("q[1]", "(@ q 1)"),
        ("phi[1,2]", "(@ phi 1 2)"),
        ("q'[i]", "(@ (' q) i)"),
        ("q[i]'", "(' (@ q i))"),
        ("q[i]'^2", "(^ (' (@ q i)) 2)"),
        ("(A*B)[1,2]", "(@ (* A B) 1 2)"),
        ("f(x)'", "(' (f x))"),
        ("gamma(gamma)", "(gamma gamma)"),
        ("[a, -b]", "(vec a (- b))"),
        ("[[1,0],[0,1]][2]", "(@ (vec (vec 1 0) (vec 0 1)) 2)"),
        ("if(a < b, 1, 2)", "(if (< a b) 1 2)"),
        ("sum(i = 1..N-1, q[i])", "(sum (i 1 (- N 1)) (@ q i))"),
        ("product(k = 0..2, sum(j = 1..k, j))", "(product (k 0 2) (sum (j 1 k) j))"),
        ("table(t, \"a #1.csv\", \"b\\\"c\")", "(table t \"a #1.csv\" \"b\\\"c\")"),
        ("now()", "(now)"),
        ("θ₁*質量 + _a", "(+ (* θ₁ 質量) _a)"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn a_line_goes_on_in_brackets_or_when_indented_deeper() {
    let expected = "(lagrangian (+ x y))\n(kinetic z)";
    check("lagrangian x +\n  y\nkinetic z", expected);
    check("lagrangian (x\n+ y\n)\nkinetic z", expected);
    check("  lagrangian x\n   + y\n  kinetic z", expected);
    check("    lagrangian x\n      + y\nkinetic z", expected);
    check("lagrangian x +\n\n# comment\n  # another\n\n  y # third\nkinetic z", expected);
    check("lagrangian x +\r\n\ty\r\nkinetic z\r\n", expected);
    check("\u{feff}lagrangian x + y\nkinetic z", expected);
    check("lagrangian [x,\nforce]\nkinetic z", "(lagrangian (vec x force))\n(kinetic z)");
    check("", "");
    check("# nothing\n\n   # at all", "");
}

#[test]
fn keywords_count_only_at_the_start_of_a_line() {
    check(
        "coordinates force, title\nlet final = title\nobserve let = force +\n  final",
        "(coordinates force title)\n(let final title)\n(observe let (+ force final))",
    );
}

#[test]
fn comments_end_where_quotes_begin() {
    check(
        "title \"no # comment, \\\"quoted\\\"\" # but this \"is\"",
        "(title \"no # comment, \\\"quoted\\\"\")",
    );
    check("title \"C:\\dir\"", "(title \"C:\\\\dir\")");
}

#[test]
fn every_statement_has_its_form() {
    for (text, expected) in [
        (
            "coordinates x, q[3], phi[2,2], th[0..N]",
            "(coordinates x (q 3) (phi 2 2) (th (.. 0 N)))",
        ),
        (
            "parameters m = 1, J = [[1,0],[0,2]], k",
            "(parameters (= m 1) (= J (vec (vec 1 0) (vec 0 2))) k)",
        ),
        ("let e = 2*x", "(let e (* 2 x))"),
        ("let f(u, v) = u*v", "(let (f (of u v)) (* u v))"),
        ("let X[0] = x", "(let (X 0) x)"),
        ("let X[i = 1..N] = X[i-1]", "(let (X (i 1 N)) (@ X (- i 1)))"),
        ("let A[i = 1..2, j = 1..i] = i*j", "(let (A (i 1 2) (j 1 i)) (* i j))"),
        ("potential -g*z", "(potential (* (- g) z))"),
        ("constraint y' = x'", "(constraint _ (= (' y) (' x)))"),
        ("constraint wheel: y' = 0", "(constraint wheel (= (' y) 0))"),
        ("constraint wheel[i = 1..N]: q[i] = 0", "(constraint (wheel (i 1 N)) (= (@ q i) 0))"),
        ("constraint c along [1, x]: y = 0", "(constraint c (along (vec 1 x)) (= y 0))"),
        ("constraint along [1, x]: y = 0", "(constraint _ (along (vec 1 x)) (= y 0))"),
        ("constraint along along w: y = 0", "(constraint along (along w) (= y 0))"),
        ("constraint along: y = 0", "(constraint along (= y 0))"),
        ("constraint along[i = 1..2]: y = 0", "(constraint (along (i 1 2)) (= y 0))"),
        ("constraint c: isochoric(phi)", "(constraint c (isochoric phi))"),
        ("constraint gyroscopic(phi, g)", "(constraint _ (gyroscopic phi g))"),
        ("force x: -x'", "(force x (- (' x)))"),
        ("force at [X, Y]: [0, -m*g]", "(force (at (vec X Y)) (vec 0 (* (- m) g)))"),
        ("force at r: F", "(force (at r) F)"),
        ("force at: 1", "(force at 1)"),
        ("force q[1]: 2", "(force (q 1) 2)"),
        ("force q[i = 1..N]: i", "(force (q (i 1 N)) i)"),
        ("dissipation c*x'^2/2", "(dissipation (/ (* c (^ (' x) 2)) 2))"),
        ("equation x'' = -x", "(equation _ (= ('' x) (- x)))"),
        ("equation a: x'' = 0", "(equation a (= ('' x) 0))"),
        ("equation [i = 1..N]: q[i]'' = 0", "(equation (_ (i 1 N)) (= ('' (@ q i)) 0))"),
        ("principle vakonomic", "(principle vakonomic)"),
        (
            "initial x = 0, th[i = 1..N] = 0.1*i, x' = 1, mu(blade) = 0.2",
            "(initial (= x 0) (= (th (i 1 N)) (* 1e-1 i)) (= (' x) 1) (= (mu blade) 2e-1))",
        ),
        (
            "initial q'[1] = 1, q[2]' = 2, x'' = 3, mu(w[2])' = 4",
            "(initial (= (' (q 1)) 1) (= (' (q 2)) 2) (= ('' x) 3) (= (' (mu (w 2))) 4))",
        ),
        ("initial multipliers = zero", "(initial (= multipliers zero))"),
        (
            "initial multipliers = transversal(z, y)",
            "(initial (= multipliers (transversal z y)))",
        ),
        ("final t = free, x = initial + L", "(final (= t free) (= x (+ initial L)))"),
        ("observe speed = norm(r')", "(observe speed (norm (' r)))"),
        ("observe h[i = 1..2] = q[i]", "(observe (h (i 1 2)) (@ q i))"),
        ("event up: x", "(event up x)"),
        ("event stop rising up: x", "(event stop rising up x)"),
        ("event falling stop up: x", "(event stop falling up x)"),
        ("event stop: x", "(event stop x)"),
        ("event rising stop: x", "(event rising stop x)"),
        ("event stop e[i = 1..2]: q[i]", "(event stop (e (i 1 2)) (@ q i))"),
        ("draw point [x, y]  # comment", "(draw point (vec x y))"),
        (
            "draw line [x,\n y] to P to Q, colour blue dashed",
            "(draw line (vec x y) (to P) (to Q) (colour blue) dashed)",
        ),
        (
            "draw wheel[i = 1..N] P[i] heading -th[i] length 0.4",
            "(draw (wheel (i 1 N)) (@ P i) (heading (- (@ th i))) (length 4e-1))",
        ),
        (
            "draw surface [u, v, u*v] for u = -1..1, v = 0..pi steps 8",
            "(draw surface (vec u v (* u v)) (for (u (- 1) 1) (v 0 pi)) (steps 8))",
        ),
        ("draw view from [1, 2, 3] size 4", "(draw view (from (vec 1 2 3)) (size 4))"),
        ("draw text \"a b\" at [x, y]", "(draw text \"a b\" (at (vec x y)))"),
        (
            "solve t = 0..2*pi, tolerance = 1e-10, method = auto, samples = 201",
            "(solve (= t (.. 0 (* 2 pi))) (= tolerance 1e-10) (= method auto) (= samples 201))",
        ),
        ("symmetry shift: x = 1, y = 0", "(symmetry shift (= x 1) (= y 0))"),
        ("group SE(2): x, y, th[1]", "(group SE(2) x y th)"),
        ("symmetry x = -y", "(symmetry _ (= x (- y)))"),
    ] {
        check(text, expected);
    }
}

#[test]
fn gallery_parses() {
    for (name, text) in MODELS {
        let syntax = well_formed(text);
        let lines = text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
        // No statement of the gallery goes over more than one line.
        assert_eq!(syntax.statements.len(), lines.count(), "{name}");
    }
}

#[test]
fn command_line_lists_keep_commas_in_brackets() {
    let source = Source::new("<set>", "x=1, x'=2, J=[[1,0],[0,2]], mu(c)=max(1, 2)");
    let parsed = parse_assignments(&source).expect("well formed");
    let printed: Vec<String> =
        parsed.assignments.iter().map(|item| item.print(&parsed.arena)).collect();
    assert_eq!(
        printed,
        ["(= x 1)", "(= (' x) 2)", "(= J (vec (vec 1 0) (vec 0 2)))", "(= (mu c) (max 1 2))"]
    );
    assert!(
        parse_assignments(&Source::new("<set>", " ")).expect("empty").assignments.is_empty()
    );
    let times = parse_expressions(&Source::new("<at>", "1,2,5")).expect("well formed");
    assert_eq!(times.roots.len(), 3);
    let source = Source::new("<set>", "a, b=, c=3");
    let mistakes = parse_assignments(&source).expect_err("two mistakes");
    assert_eq!(
        said(&source, &mistakes),
        "E0115 1:1 `a` has no value; it is written like `x = 1, x' = 2, J = [1, 2]`\n\
         E0112 1:6 expected an expression after `=`, found `,`; \
         it is written like `x = 1, x' = 2, J = [1, 2]`\n"
    );
    assert!(parse_expression(&Source::new("eval", "")).is_err());
}

#[test]
fn mistakes_are_told_with_place_and_hint() {
    let table = include_str!("syntax_mistakes.txt");
    let mut cases = 0;
    for block in table.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let (text, expected): (Vec<&str>, Vec<&str>) =
            block.lines().partition(|line| line.starts_with('|'));
        let text: Vec<&str> = text.iter().map(|line| &line[1..]).collect();
        let source = Source::new("m", &text.join("\n"));
        let parsed = parse(&source);
        let found = said(&source, &parsed.diagnostics);
        assert_eq!(found.trim_end(), expected.join("\n"), "{block}");
        cases += expected.len();
        for diagnostic in &parsed.diagnostics {
            assert!(explanation(diagnostic.code).is_some(), "{diagnostic:?}");
            assert!(diagnostic.render(&source).contains("= hint: "), "{diagnostic:?}");
        }
    }
    assert!(cases > 80, "{cases}");
}

#[test]
fn codes_are_in_order_and_unique() {
    assert!(EXPLANATIONS.windows(2).all(|pair| pair[0].code < pair[1].code));
}

#[test]
fn faulty_statements_say_which_names_they_mention() {
    let parsed = parse(&Source::new("m", "coordinates x y\nlagrangian x\nz = a"));
    let names = |statement: usize| -> Vec<&str> {
        let StatementKind::Faulty { mentions } = &parsed.syntax.statements[statement].kind
        else {
            panic!("statement {statement} is faulty")
        };
        mentions.iter().map(|name| parsed.syntax.arena.name(name.symbol)).collect()
    };
    assert_eq!(names(0), ["x", "y"]);
    assert!(matches!(parsed.syntax.statements[1].kind, StatementKind::Lagrangian(_)));
    assert_eq!(names(2), ["z", "a"]);
}

#[test]
fn spans_cover_what_was_written() {
    let source = Source::new("m", "force x: (a + b)*-c[1]'  # end");
    let syntax = parse(&source).syntax;
    let StatementKind::Force(force) = &syntax.statements[0].kind else { panic!("a force") };
    assert_eq!(source.slice(syntax.statements[0].span), "force x: (a + b)*-c[1]'");
    let subtree = syntax.arena.subtree(force.value);
    let spans: Vec<&str> = subtree.map(|id| source.slice(syntax.arena.span(id))).collect();
    assert_eq!(
        spans,
        ["a", "b", "a + b", "c", "1", "c[1]", "c[1]'", "-c[1]'", "(a + b)*-c[1]'"]
    );
}

#[test]
fn deep_nesting_is_refused_and_costs_no_stack() {
    let n = 100_000;
    let deep = [
        "(".repeat(n) + "x" + &")".repeat(n),
        "[".repeat(n) + "x" + &"]".repeat(n),
        "f(".repeat(n) + "x" + &")".repeat(n),
        "-".repeat(n) + "x",
        "not ".repeat(n) + "x",
        "x^".repeat(n) + "x",
        "q[".repeat(n) + "x" + &"]".repeat(n),
    ];
    for expression in deep {
        let parsed = parse(&Source::new("m", &format!("kinetic {expression}\nforce x: 1")));
        let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["E0111"], "{}", &expression[..8]);
        assert_eq!(parsed.syntax.statements.len(), 2);
    }
    let unclosed = parse(&Source::new("m", &format!("kinetic {}", "(".repeat(n))));
    assert_eq!(unclosed.diagnostics[0].code, "E0108");
    let lines = parse(&Source::new("m", &"kinetic (\n".repeat(n)));
    assert_eq!(lines.diagnostics.len(), 10_001, "after so many mistakes reading ends");
    assert_eq!(lines.diagnostics.last().map(|d| d.code), Some("E0126"));
}

/// Neither time nor memory grows with the square of a text that means nothing.
#[test]
fn long_texts_without_meaning_are_refused_soon() {
    let n = 2_000_000;
    for piece in ["$", "$ ", "$a", "x$y ", "1_", "1..", "\"a", "€", "\u{1b}"] {
        let text = piece.repeat(n / piece.len());
        let parsed = parse(&Source::new("m", &text));
        assert!((1..=110).contains(&parsed.diagnostics.len()), "{piece:?}");
        for diagnostic in &parsed.diagnostics {
            assert!(diagnostic.render(&Source::new("m", &text)).len() < 5_000, "{piece:?}");
        }
    }
    let parsed = parse(&Source::new("m", &"a\n".repeat(n)));
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].code, "E0102");
}

#[test]
fn control_characters_in_quotes_are_refused() {
    for c in ['\u{1b}', '\u{7}', '\u{7f}', '\u{9b}', '\u{202e}'] {
        let parsed = parse(&Source::new("m", &format!("title \"a{c}b\"")));
        let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["E0103"], "{c:?}");
    }
    let tab = parse(&Source::new("m", "title \"a\tb\""));
    assert!(tab.diagnostics.is_empty());
}

#[test]
fn moderate_nesting_is_fine() {
    check_expression(&("(".repeat(200) + "x" + &")".repeat(200)), "x");
}

#[test]
fn long_flat_expressions_are_fine() {
    let n = 100_000;
    let sum = vec!["x"; n].join(" + ");
    let syntax = well_formed(&format!("lagrangian {sum}"));
    assert_eq!(syntax.arena.len(), 2 * n - 1);
    assert_eq!(syntax.to_string().matches('+').count(), n - 1);
    let StatementKind::Lagrangian(root) = syntax.statements[0].kind else {
        panic!("as written")
    };
    assert_eq!(syntax.arena.subtree(root).count(), 2 * n - 1);
    let primes = well_formed(&format!("lagrangian x{}", "'".repeat(n)));
    let StatementKind::Lagrangian(root) = primes.statements[0].kind else {
        panic!("as written")
    };
    assert!(matches!(primes.arena.kind(root), NodeKind::Prime { order: 100_000, .. }));
    well_formed(&format!("lagrangian x{}", "[1]'".repeat(n)));
    well_formed(&format!("parameters {}", vec!["a = [1, 2]"; n].join(", ")));
}

#[test]
fn text_beyond_the_limit_is_refused() {
    let parsed = parse(&Source::new("m", &" ".repeat(Source::LIMIT + 1)));
    assert_eq!(parsed.diagnostics[0].code, "E0102");
}

/// Cuts, doubles, inserts and swaps pieces of a text.
fn mutated(text: &str, random: &mut Random) -> String {
    const PIECES: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "\"",
        "'",
        "..",
        ".",
        "=",
        "==",
        ":",
        ",",
        "\n",
        "\n  ",
        "#",
        "^",
        "-",
        "not ",
        " and ",
        "sum(",
        "1e999",
        "2x",
        "²",
        "×",
        "\u{307}",
        "“",
        "\t",
        "\r",
        "\0",
        "質",
        "force ",
        "\nlet ",
        "constraint ",
        "\\",
        "&&",
        "1.",
        "_",
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(6) {
        let at = random.below(letters.len() + 1);
        let end = (at + random.below(12)).min(letters.len());
        match random.below(4) {
            0 => drop(letters.drain(at..end)),
            1 => {
                let copy: Vec<char> = letters[at..end].to_vec();
                let to = random.below(letters.len() + 1);
                letters.splice(to..to, copy);
            }
            2 => drop(letters.splice(at..end, PIECES[random.below(PIECES.len())].chars())),
            _ => drop(letters.splice(at..at, PIECES[random.below(PIECES.len())].chars())),
        }
    }
    letters.into_iter().collect()
}

#[test]
fn mutated_models_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for round in 0..6000 {
        let text = mutated(MODELS[round % MODELS.len()].1, &mut random);
        let source = Source::new("m", &text);
        let parsed = parse(&source);
        let faulty = parsed.syntax.statements.iter();
        let faulty = faulty.filter(|s| matches!(s.kind, StatementKind::Faulty { .. })).count();
        assert!(faulty <= parsed.diagnostics.len(), "a silent fault in\n{text}");
        refused += usize::from(!parsed.diagnostics.is_empty());
        for diagnostic in &parsed.diagnostics {
            assert!(diagnostic.hint.is_some(), "{diagnostic:?}");
            assert!(text.get(diagnostic.span.range()).is_some(), "a span cuts a character");
            assert!(diagnostic.render(&source).contains('^'));
        }
        assert_eq!(parsed.syntax.to_string().lines().count(), parsed.syntax.statements.len());
        drop(parse_expression(&source));
        drop(parse_assignments(&source));
    }
    // Most mutations break a model; if none did, the mutations or the checks would be idle.
    assert!((3000..6000).contains(&refused), "{refused}");
}

/// What is too small is not to be made smaller.
#[test]
fn families_without_components_say_what_sizes_are() {
    for size in ["0", "-3", "2..1"] {
        let text = format!("coordinates w[{size}]\nkinetic 0");
        let read = read_model(Source::new("m", &text), &Overrides::default(), &NoFiles);
        let found = read.expect_err("no components").diagnostics;
        let hint = found[0].hint.as_deref().unwrap_or_default();
        assert!(hint.starts_with("a size is 1 or more"), "{size}: {hint}");
    }
}
