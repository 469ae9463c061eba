//! What is printed reads back as the same handle.

use crate::support::{Kind, Random, parse, random};
use pfaff_expr::{Binary, Graph, NameOptions, Role, Unary};

#[test]
fn text_reads_back_to_the_same_handle() {
    let mut r = Random(7);
    let g = Graph::new();
    let symbols = ["x", "y", "L", "t", "q'", "q''", "phi[1,2]'", "mu(c)'", "beta_1"]
        .map(|s| parse(&g, s));
    for case in 0..20_000 {
        let size = 1 + r.below(24);
        let e = random(&g, &mut r, &symbols, size, Kind::Printable);
        let text = g.to_text(e);
        assert_eq!(
            parse(&g, &text),
            e,
            "case {case}: {text} gives {}",
            g.to_text(parse(&g, &text))
        );
    }
}

/// Derived expressions read back too, whether nodes of equal value were merged or not.
#[test]
fn derivatives_read_back() {
    let mut r = Random(9);
    for case in 0..400 {
        let g = Graph::new();
        let symbols = ["x", "y", "q", "q'"].map(|s| parse(&g, s));
        let e = random(&g, &mut r, &symbols, 14, Kind::All);
        let derive = || g.gradient(e, &symbols);
        let all = if case % 2 == 0 { g.merging(derive) } else { derive() };
        for d in all {
            let text = g.to_text(d);
            assert_eq!(parse(&g, &text), d, "case {case}: {text}");
        }
    }
}

#[test]
fn brackets_are_few() {
    let g = Graph::new();
    let same = [
        "-1/3",
        "2*x/3",
        "-2*x/3",
        "x/3",
        "-x^2",
        "(-x)^y",
        "x^y^z",
        "(x^y)^z",
        "x^(-y)",
        "x^(1/3)",
        "a - b + c",
        "a - (b + c)",
        "a*b*c",
        "a*(b*c)",
        "a/b/c",
        "a/(b*c)",
        "a/(b/c)",
        "a*b/c",
        "a*(b/c)",
        "2*a/(3*b)",
        "-x - y",
        "-sin(x)^2",
        "sin(-x + 0.12345)",
        "2*(1/x)",
        "2/3/x",
        "-x*y",
        "if(a < b, x, y)",
        "not a < b and (c or d)",
        "a or b and not c",
        "(a < b)*x",
        "q''",
        "phi[1,2]'",
        "mu(blade)'",
        "caputo(q, 1/2)",
        "memory(exp(-s), q')",
        "mean(q^2)",
        "table(t, \"file.csv\", \"column\")'",
        "atan2(y, x)",
        "1/(3*x)",
        "-3/(10*x)",
        "x/0",
        "-(x/0)",
        "-3 - x",
        "x^2*y^2",
        "2*pi*x",
        "(x + 1)^2/2",
        "mittag_leffler(a, 1, -x)",
    ];
    for text in same {
        let printed = g.to_text(parse(&g, text));
        if text == "sin(-x + 0.12345)" {
            assert_eq!(printed, "sin(0.12345 - x)");
        } else {
            assert_eq!(printed, text);
        }
    }
}

#[test]
fn names_keep_the_text_of_a_shared_graph_small() {
    let g = Graph::new();
    let mut e = g.symbol("x", Role::Free);
    let s1 = g.symbol("s1", Role::Free);
    for _ in 0..200 {
        e = g.sin(g.add(g.mul(e, s1), g.sqrt(e)));
    }
    let named =
        g.named(&[e, e], &NameOptions { taken: vec!["s3".into()], ..Default::default() });
    let length: usize = named.definitions.iter().map(|(_, d)| g.to_text(*d).len()).sum();
    assert!(length < 200 * 40, "linear in the graph: {length}");
    assert!(named.definitions.iter().all(|(n, _)| n != "s1" && n != "s3"));
    // Put back, the names give the expression.
    let mut back = named.outputs[0];
    for (name, d) in named.definitions.iter().rev() {
        back = g.substitute(&[back], &[(g.symbol(name, Role::Free), *d)])[0];
    }
    assert_eq!(back, e);
    assert!(g.to_text(e).contains(" where "));
    assert!(g.to_text(e).len() < 200 * 60);
}

#[test]
fn a_kernel_keeps_its_lag() {
    let g = Graph::new();
    let e = parse(&g, "memory(exp(-s*s*x), q) + exp(-s*s*x)*sin(x*x + 1) + sin(x*x + 1)^3");
    let named = g.named(&[e], &NameOptions::default());
    assert_eq!(g.to_text(named.definitions[0].1), "sin(x^2 + 1)");
    assert!(g.to_text(named.outputs[0]).starts_with("memory(exp(-s^2*x), q)"));
}

#[test]
fn depth_does_not_overflow_the_stack() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let mut nested = x;
    let mut sum = x;
    for i in 0..100_000 {
        nested = g.sin(nested);
        sum = g.add(sum, g.mul(g.integer(i + 2), x));
    }
    assert_eq!(g.to_text(nested).len(), 5 * 100_000 + 1);
    assert!(g.to_text(sum).starts_with("x + 2*x + 3*x"));
    assert_eq!(g.to_latex(nested).matches("\\sin").count(), 100_000);
    assert!(g.to_latex(sum).starts_with("x + 2\\,x"));
    assert_eq!(g.named(&[sum, nested], &NameOptions::default()).outputs.len(), 2);
}

/// The table of functions in the reference is that of the sources.
#[test]
fn the_reference_lists_every_function() {
    let page = include_str!("../../../docs/language.md");
    let unary = Unary::ALL.iter().map(|f| (format!("{}(x)", f.name()), f.meaning()));
    let binary = Binary::ALL.iter().map(|f| (f.form().to_owned(), f.meaning()));
    for (form, meaning) in unary.chain(binary) {
        let row = format!("| `{form}` | {meaning} |");
        assert!(page.contains(&row), "docs/language.md has no row\n{row}");
    }
}
