//! Texts that nobody would write: no panic, no hang.
//!
//! A usual test run takes a sample. `cargo xtask fuzz` feeds a million mutated models and a hundred thousand
//! random token strings to the parser, and takes ten thousand random valid models through derivation and one step.

use std::fmt::Write;
use std::time::{Duration, Instant};

use pfaff::{Model, NoFiles, Overrides, Run, Source};
use pfaff_model::parse;

use crate::support::{self, Random};

/// No text of this size may take longer, by far, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The full number, or a part of it.
fn count(full: usize) -> u64 {
    support::count(full / 250, full) as u64
}

/// Words and signs of the language, and some that are not.
const TOKENS: &[&str] = &[
    "title",
    "coordinates",
    "parameters",
    "let",
    "lagrangian",
    "kinetic",
    "potential",
    "constraint",
    "along",
    "force",
    "at",
    "dissipation",
    "equation",
    "principle",
    "initial",
    "final",
    "observe",
    "event",
    "rising",
    "falling",
    "stop",
    "draw",
    "solve",
    "symmetry",
    "x",
    "y",
    "q",
    "phi",
    "m",
    "t",
    "pi",
    "s",
    "N",
    "x'",
    "q[1]",
    "q[i]'",
    "phi[1,2]",
    "''",
    "'",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    "and",
    "or",
    "not",
    "+",
    "-",
    "*",
    "/",
    "^",
    "..",
    "0",
    "1",
    "2",
    "0.5",
    "1e-3",
    "1e400",
    "99999999999",
    "\"text\"",
    "\"",
    "#",
    "\n",
    "\n",
    "\n",
    "\n  ",
    "\t",
    "sin(",
    "if(",
    "sum(i = 1..3,",
    "product(",
    "table(t,",
    "caputo(",
    "memory(",
    "rotation(",
    "lambda(",
    "mu(",
    "inv(",
    "det(",
    "gyroscopic(",
    "λ",
    "é",
    "\u{200b}",
    "“",
    "→",
    "²",
    "\\",
    "$",
    "@",
    "\u{feff}",
    "\0",
];

/// A gallery text with some of its parts changed.
fn mutated(random: &mut Random) -> String {
    let small = support::gallery();
    let mut text: Vec<char> = small[random.below(small.len())].text.chars().collect();
    for _ in 0..=random.below(6) {
        let at = random.below(text.len().max(1)).min(text.len());
        let end = (at + random.below(12)).min(text.len());
        match random.below(7) {
            0 => drop(text.drain(at..end)),
            1 => {
                let copy: Vec<char> = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copy);
            }
            2 => {
                let token = TOKENS[random.below(TOKENS.len())];
                text.splice(at..at, token.chars());
            }
            3 => {
                let token = TOKENS[random.below(TOKENS.len())];
                text.splice(at..end, token.chars());
            }
            4 => {
                let other = random.below(text.len().max(1));
                if at < text.len() && other < text.len() {
                    text.swap(at, other);
                }
            }
            5 => {
                let code = random.below(0x3000) as u32;
                text.splice(at..at, char::from_u32(code));
            }
            _ => text.truncate(at),
        }
    }
    text.into_iter().collect()
}

/// Parses a text and shows its mistakes, in time.
fn parsed(text: &str) {
    let begun = Instant::now();
    let source = Source::new("fuzz", text);
    let result = parse(&source);
    for diagnostic in &result.diagnostics {
        assert!(!diagnostic.render(&source).is_empty());
    }
    assert!(begun.elapsed() < PATIENCE, "{text}");
}

/// Reads a text as a model, in time.
fn elaborated(text: &str) {
    let begun = Instant::now();
    if let Err(rejected) =
        Model::read(Source::new("fuzz", text), &Overrides::default(), &NoFiles)
    {
        assert!(!rejected.diagnostics.is_empty(), "a refusal has a reason: {text}");
        for diagnostic in &rejected.diagnostics {
            assert!(!diagnostic.render(&rejected.source).is_empty());
        }
    }
    assert!(begun.elapsed() < PATIENCE, "{text}");
}

#[test]
fn mutated_models_are_read_or_refused() {
    for seed in 0..count(1_000_000) {
        let text = mutated(&mut Random::new(seed));
        parsed(&text);
        // NOTE: the whole of the model crate costs ten times the parser.
        if seed % 10 == 0 {
            elaborated(&text);
        }
    }
}

#[test]
fn random_tokens_are_read_or_refused() {
    for seed in 0..count(100_000) {
        let mut random = Random::new(seed ^ 0x5eed_0000_0000);
        let mut text = String::new();
        for _ in 0..random.below(60) {
            text.push_str(TOKENS[random.below(TOKENS.len())]);
            if random.below(3) > 0 {
                text.push(' ');
            }
        }
        parsed(&text);
        elaborated(&text);
    }
}

/// An expression of these names; division and roots only of what is positive.
fn expression(random: &mut Random, names: &[String], depth: usize) -> String {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(4) {
            0 => random.decimal(),
            1 => "t".into(),
            _ => names[random.below(names.len())].clone(),
        };
    }
    let mut part = || expression(random, names, depth - 1);
    let (a, b) = (part(), part());
    match random.below(10) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 | 4 => format!("({a})*({b})"),
        5 => format!("({a})/(1 + ({b})^2)"),
        6 => format!("sin({a})"),
        7 => format!("cos({a})*exp(-({b})^2)"),
        8 => format!("sqrt(1 + ({a})^2)"),
        _ => format!("if({a} > {b}, atan({a}), tanh({b}))"),
    }
}

/// A model with a positive definite kinetic energy and anything else that the language knows.
fn valid(random: &mut Random) -> String {
    let n = 2 + random.below(4);
    let q: Vec<String> = (1..=n).map(|k| format!("q[{k}]")).collect();
    let v: Vec<String> = q.iter().map(|q| format!("{q}'")).collect();
    let all: Vec<String> = q.iter().chain(&v).cloned().collect();
    let mut text = format!("parameters a = 0.3, m = 2\ncoordinates q[{n}]\n");
    let _ = writeln!(text, "let e = {}", expression(random, &q, 2));
    text += "kinetic m*dot(q', q')/2 + (1 + sin(e)^2)*q[1]'^2/2\n";
    let _ = writeln!(text, "potential a*({}) + e^2", expression(random, &q, 3));
    for k in 0..random.below(n.min(3)) {
        let drift = expression(random, &q, 2);
        let slope = expression(random, &q, 2);
        let row = match random.below(4) {
            0 => format!("{} = {}", v[k], drift),
            1 => format!("{} = ({slope})*{}", v[k], v[n - 1]),
            2 => format!("{} - 0.2*sin({}) = 0.1*t", q[k], q[n - 1]),
            _ => format!("{} + 0.1*{}^2 = {drift}", v[k], v[n - 1]),
        };
        let _ = writeln!(text, "constraint c{k}: {row}");
    }
    if random.below(2) == 0 {
        let _ = writeln!(
            text,
            "force q[{}]: 0.1*({})",
            1 + random.below(n),
            expression(random, &all, 2)
        );
    }
    if random.below(3) == 0 {
        text += "dissipation 0.1*dot(q', q')/2\n";
    }
    if random.below(3) == 0 {
        let _ = writeln!(
            text,
            "event {}: {}",
            ["up", "rising up", "stop falling up"][random.below(3)],
            q[0]
        );
    }
    let _ = writeln!(text, "observe z = {}", expression(random, &all, 2));
    let start: Vec<String> =
        (1..=n).map(|k| format!("q[{k}]' = {}", random.decimal())).collect();
    text + &format!("initial {}\nsolve t = 0..1\n", start.join(", "))
}

#[test]
fn random_models_are_derived_and_take_a_step() {
    let (mut moved, total) = (0, count(10_000));
    let request = Run { max_steps: Some(1), samples: Some(2), ..Run::default() };
    for seed in 0..total {
        let begun = Instant::now();
        let text = valid(&mut Random::new(seed ^ 0xface_0000_0000));
        let model = support::model(&text);
        let dynamics = pfaff::derive(&model, None);
        assert!(dynamics.is_ok(), "{text}");
        // NOTE: random constraints may contradict each other; that is a refusal and no panic.
        if let Ok(motion) = pfaff::run(&model, &request, &mut |_, _| true) {
            assert_eq!(motion.t.first(), Some(&0.0), "{text}");
            moved += 1;
        }
        assert!(begun.elapsed() < PATIENCE, "{text}");
    }
    assert!(moved * 10 > total * 9, "only {moved} of {total} moved");
}
