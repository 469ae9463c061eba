//! MathML: well-formed, escaped, and the same formula as the LaTeX beside it, whose values are checked
//! against the expression.

use crate::latex::evaluator;

use crate::support::{Kind, Random, parse, random};
use pfaff_expr::{Expr, Graph, Role};

/// Stands for the sign that a function is applied.
const APPLIED: &str = "\u{1}";

/// An element with its content, or text.
enum Element {
    Text(String),
    Node(String, Vec<Element>),
}

/// Reads elements until the end of the text or of the enclosing element.
fn read(text: &str, at: &mut usize) -> Vec<Element> {
    let mut list = Vec::new();
    while *at < text.len() && !text[*at..].starts_with("</") {
        if text[*at..].starts_with('<') {
            let end = *at + text[*at..].find('>').expect("a closed tag") + 1;
            let tag = &text[*at + 1..end - 1];
            *at = end;
            let name = tag.trim_end_matches('/').split(' ').next().expect("a name").to_owned();
            let mut inside = Vec::new();
            if !tag.ends_with('/') {
                inside = read(text, at);
                let close = format!("</{name}>");
                assert!(text[*at..].starts_with(&close), "{close} at {}", &text[*at..]);
                *at += close.len();
            }
            list.push(Element::Node(name, inside));
        } else {
            let end = text[*at..].find('<').map_or(text.len(), |i| *at + i);
            list.push(Element::Text(text[*at..end].to_owned()));
            *at = end;
        }
    }
    list
}

/// The LaTeX of the same formula.
fn latex(list: &[Element]) -> String {
    list.iter().map(one).collect()
}

fn one(element: &Element) -> String {
    let Element::Node(name, inside) = element else {
        let Element::Text(text) = element else { unreachable!() };
        return text.clone();
    };
    let text = latex(inside);
    let part = |i: usize| one(&inside[i]);
    match name.as_str() {
        "mrow" => text,
        "mn" => text,
        "mi" => match text.as_str() {
            "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "ln" | "arcsin" | "arccos"
            | "arctan" | "min" | "max" => format!("\\{text}"),
            "erf" | "erfc" | "sgn" | "atan2" => format!("\\operatorname{{{text}}}"),
            "e" => "\\mathrm{e}".into(),
            "π" => "\\pi".into(),
            "Γ" => "\\Gamma".into(),
            _ => text,
        },
        "mo" => match text.as_str() {
            "−" => "-".into(),
            "·" => "\\cdot ".into(),
            "\u{2061}" => APPLIED.into(),
            "≤" => " \\le ".into(),
            "≠" => " \\ne ".into(),
            "&lt;" => " < ".into(),
            "¬" => "\\lnot ".into(),
            "∧" => " \\land ".into(),
            "∨" => " \\lor ".into(),
            "+" | "=" => format!(" {text} "),
            "," => ",\\,".into(),
            _ => text,
        },
        "mspace" => "\\,".into(),
        "mfrac" => format!("\\frac{{{}}}{{{}}}", part(0), part(1)),
        "msup" => format!("{}^{{{}}}", part(0), part(1)),
        "msqrt" => format!("\\sqrt{{{text}}}"),
        other => panic!("{other}"),
    }
}

#[test]
fn values_survive_the_printing() {
    let mut r = Random(29);
    let g = Graph::new();
    let symbols = ["x", "y", "L", "t", "z"].map(|s| parse(&g, s));
    let values: Vec<f64> = symbols.iter().map(|_| r.uniform(-1.5, 2.0)).collect();
    let written: Vec<(String, f64)> =
        symbols.iter().zip(&values).map(|(&s, &v)| (g.to_latex(s), v)).collect();
    let at = |s: Expr| values[symbols.iter().position(|&x| x == s).expect("one of them")];
    let mut finite = 0;
    for case in 0..20_000 {
        let size = 1 + r.below(14);
        let e = random(&g, &mut r, &symbols, size, Kind::Printable);
        let mathml = g.to_mathml(e);
        // What has a form of its own that LaTeX writes otherwise is tested below.
        let special = ["<mmultiscripts", "<mtable", "<msub", "column", "|", "ψ", "∫"];
        if special.iter().any(|s| mathml.contains(s)) {
            continue;
        }
        let mut start = 0;
        let list = read(&mathml, &mut start);
        assert_eq!(start, mathml.len(), "{mathml}");
        let value = g.evaluate(&[e], &at)[0];
        if !value.is_finite() || value.abs() > 1e6 {
            continue;
        }
        let text = latex(&list).replace(&format!("{APPLIED}\\,"), " ").replace(APPLIED, "");
        let read = evaluator::value(&text, &written);
        // As for LaTeX: numbers are rounded elsewhere, which later steps may enlarge.
        let close = (read - value).abs() <= 1e-7 * (1.0 + value.abs());
        finite += 1;
        assert!(close, "case {case}: {} is {value}, but {text} is {read}", g.to_text(e));
    }
    assert!(finite > 4_000, "{finite}");
}

#[test]
fn pieces_are_the_formula_and_each_is_well_formed() {
    let g = Graph::new();
    for (text, count) in [
        ("x + y - 2*z", 3),
        ("-(x + y)*sin(x - 1)", 3),
        ("(x + y)/z", 1),
        ("x^(y + 1) - 1", 2),
        ("x", 1),
    ] {
        let e = parse(&g, text);
        let terms = g.mathml_terms(e);
        assert_eq!(terms.concat(), g.to_mathml(e));
        assert_eq!(terms.len(), count, "{text}: {terms:?}");
        for term in terms {
            let mut at = 0;
            read(&term, &mut at);
            assert_eq!(at, term.len(), "{term}");
        }
    }
}

#[test]
fn memory_cases_and_names() {
    let g = Graph::new();
    for (text, part) in [
        ("caputo(x, 0.5)", "<mprescripts/>"),
        ("if(x < y, 1, 2)", "<mtable"),
        ("mean(x)", "∫"),
        ("abs(x/y)", "|"),
    ] {
        let mathml = g.to_mathml(parse(&g, text));
        assert!(mathml.contains(part), "{text}: {mathml}");
        let mut at = 0;
        read(&mathml, &mut at);
        assert_eq!(at, mathml.len(), "{mathml}");
    }
    let evil = g.symbol("a<b&c", Role::Free);
    assert!(!g.to_mathml(evil).contains("a<b"));
}
