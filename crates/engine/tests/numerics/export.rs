//! Source text in other languages: compiled, run at random states, and compared with the interpreter.
//!
//! Each language takes one compiler and one process for all models. Where the compiler is not there, the test
//! is skipped. Every model of the gallery is taken with `PFAFF_TESTS=full`, otherwise some that use every helper
//! between them.
#![allow(clippy::print_stdout, reason = "a test that cannot run says why")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pfaff::{
    ExportForm, GalleryFiles, Language, Model, NoFiles, Overrides, Source, exported,
    exported_for, gallery_model,
};
use pfaff_expr::Graph;
use pfaff_program::{Backend, Lanes, Module, Program};

use crate::support::{self, Random};

/// States at which each function is evaluated.
const STATES: usize = 20;

/// Every function that has words in all three languages.
const FUNCTIONS: &str = "
coordinates x, y, z
parameters k = 1.3
lagrangian x'^2/2 + y'^2/2 + z'^2/2 - exp(-x^2)*tanh(y) - k^1.5*x^4 - log(2 + sin(z))
force x: -sign(x')*max(abs(x'), 0.3) + atan2(y, x)
force y: min(x, y) + if(x < y, asin(x/4), acos(y/4)) + if(x <= 0 and not(y == 1), 1, 2) + if(z != 1 or x == 1, 0, 1)
force z: sinh(z)*cosh(y) + atan(x) + tan(z/3) + sqrt(x^2 + 1)^3 + (x^2 + 1)^z + cos(y*z)
";

/// Pairs, and bonds in a ring that do not follow each other in the list of coordinates.
const PAIRS: &str = "
parameters N = 26, k = 0.5
coordinates x[1..N], y[1..N]
kinetic sum(i = 1..N, x[i]'^2 + y[i]'^2)/2
potential sum(i = 1..N, sum(j = 1..i-1, k/(1 + (x[i] - x[j])^2 + (y[i] - y[j])^2)))
potential sum(i = 1..N, sum(j = 1..N, k*sin(x[i] - y[j])*x[if(i < j, j - i, 1 + i - j)]^2))
";

fn model(name: &str, text: &str) -> Model {
    let source = Source::new(name, text);
    let read = match gallery_model(name) {
        Some(_) => Model::read(source, &Overrides::default(), &GalleryFiles),
        None => Model::read(source, &Overrides::default(), &NoFiles),
    };
    read.unwrap_or_else(|r| panic!("{name}: {:?}", r.diagnostics))
}

fn modules() -> Vec<Module> {
    const SOME: [&str; 12] = [
        "sleigh",
        "disk",
        "ball_in_bowl",
        "trailers",
        "rattleback",
        "pendulum",
        "four_bar",
        "double_pendulum",
        "falling_disk",
        "bicycle",
        "appell_hamel_elevator",
        "disk_vakonomic",
    ];
    let all = support::full();
    let mut modules = Vec::new();
    for entry in support::gallery().iter().filter(|m| all || SOME.contains(&m.name)) {
        match exported(&model(entry.name, entry.text), None, ExportForm::Best) {
            Ok(module) => modules.push(module),
            Err(why) => println!("skipped: {}: {why}", entry.name),
        }
    }
    let taken = if all { 48 } else { 10 };
    assert!(modules.len() >= taken, "only {} models are written out", modules.len());
    for (name, of) in [("sleigh_saddle", "sleigh"), ("trailers_saddle", "trailers")] {
        let text = gallery_model(of).expect("a gallery model").text;
        modules.push(
            exported(&model(name, text), None, ExportForm::Saddle).expect("it is regular"),
        );
    }
    modules.push(
        exported(&model("functions", FUNCTIONS), None, ExportForm::Best)
            .expect("it has no constraints"),
    );
    modules
}

/// The inputs of every call, and what the interpreter makes of them.
fn calls(modules: &[Module]) -> (String, Vec<Vec<f64>>) {
    let (mut random, mut given, mut expected) = (Random::new(7), String::new(), Vec::new());
    for module in modules {
        let p: Vec<f64> = module.parameters.iter().map(|p| p.1).collect();
        for function in &module.functions {
            let mut run = function.program.interpreter(&p);
            for state in 0..STATES {
                let far = if state == 1 { 1e3 } else { 1.0 };
                let inputs: Vec<f64> = (0..function.program.inputs())
                    .map(|_| far * 1.5 * random.number())
                    .collect();
                let mut outputs = vec![0.0; function.program.outputs()];
                run.evaluate(&inputs, &mut outputs);
                for x in inputs {
                    given.push_str(&format!("{x:?}\n"));
                }
                expected.push(outputs);
            }
        }
    }
    (given, expected)
}

fn folder(language: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export_{language}"));
    fs::create_dir_all(&path).expect("a folder for tests");
    path
}

/// The answers of a program to the calls, call by call.
fn answers(command: &mut Command, given: &str, expected: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it was made");
    let mut stdin = child.stdin.take().expect("piped");
    let given = given.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(given.as_bytes()));
    let output = child.wait_with_output().expect("it was started");
    let _ = writer.join();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("numbers");
    let mut numbers = text.split_whitespace().map(|word| match word.trim_start_matches('-') {
        "nan" | "NaN" => f64::NAN,
        _ => word.parse::<f64>().unwrap_or_else(|_| panic!("{word}")),
    });
    let answers = expected
        .iter()
        .map(|e| e.iter().map(|_| numbers.next().expect("a number an output")).collect())
        .collect();
    assert_eq!(numbers.next(), None);
    answers
}

/// Compares the answers; `tolerance(text)` is relative to the largest output of the call.
fn compare(
    modules: &[Module],
    language: Language,
    answers: &[Vec<f64>],
    expected: &[Vec<f64>],
    tolerance: impl Fn(&str) -> f64,
) {
    let mut call = 0;
    for module in modules {
        let text = module.text(language).expect("all functions have words");
        let tolerance = tolerance(&text);
        for function in &module.functions {
            for _ in 0..STATES {
                let (found, wanted) = (&answers[call], &expected[call]);
                call += 1;
                let finite = wanted.iter().filter(|x| x.is_finite());
                let scale = finite.fold(0.0_f64, |m, x| m.max(x.abs()));
                for (i, (a, b)) in found.iter().zip(wanted).enumerate() {
                    let same = a == b || (a.is_nan() && b.is_nan());
                    assert!(
                        same || (a - b).abs() <= tolerance * scale,
                        "{} {}[{i}]: {a:?} instead of {b:?}",
                        module.prefix,
                        function.name
                    );
                }
            }
        }
    }
}

/// Whether a text calls functions of the platform, whose last bits are its own.
fn calls_the_platform(text: &str) -> bool {
    let words = [
        "exp", "log", "ln", "tan", "atan", "asin", "acos", "sinh", "cosh", "tanh", "atan2",
        "power",
    ];
    words.iter().any(|word| {
        text.contains(&format!(" {word}("))
            || text.contains(&format!("f64::{word}("))
            || text.contains(&format!("pfaff_{word}("))
    })
}

/// Platform functions differ by a unit in the last place from ours; sums behind them may cancel some digits more.
const PLATFORM: f64 = 1e-12;

fn has(compiler: &str) -> bool {
    let found = Command::new(compiler).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        println!("skipped: there is no `{compiler}`");
    }
    found
}

/// The code of a model that jumps says what it leaves out.
#[test]
fn jumps_that_are_not_written_are_named() {
    for (name, said) in [
        ("bouncing_ball", "Contacts are not here: all are open (floor)."),
        ("compass_walker", "Jumps are not here: what happens on"),
        ("compass_walker", "Equations of the mode"),
        ("cart_pole", "Sampled controls keep their values: u."),
    ] {
        let model = model(name, gallery_model(name).expect("it is there").text);
        let module = exported(&model, None, ExportForm::Best).expect(name);
        assert!(module.comment.iter().any(|line| line.starts_with(said)), "{name}: {said}");
    }
    let sleigh = model("sleigh", gallery_model("sleigh").expect("it is there").text);
    let module = exported(&sleigh, None, ExportForm::Best).expect("the sleigh");
    assert!(!module.comment.iter().any(|line| line.contains("not here")));
}

#[test]
fn c_has_the_bits_of_the_interpreter() {
    if !has("cc") {
        return;
    }
    let mut modules = modules();
    let gas = exported_for(&model("pairs", PAIRS), None, ExportForm::Best, Language::C);
    modules.push(gas.expect("it has no constraints"));
    let text = modules[modules.len() - 1].text(Language::C).expect("C has loops");
    assert!(text.contains("pairs_rates_loop0(x0, f0)"), "pairs are a loop");
    assert!(text.len() < 40_000, "and not 276 terms of forty assignments: {}", text.len());
    let (given, expected) = calls(&modules);
    let folder = folder("c");
    let mut main = String::from("#include <stdio.h>\n");
    let mut body = String::new();
    let mut files = vec![folder.join("main.c")];
    for module in &modules {
        let file = folder.join(format!("{}.c", module.prefix));
        fs::write(&file, module.text(Language::C).unwrap()).unwrap();
        files.push(file);
        let prefix = &module.prefix;
        main.push_str(&format!("void {prefix}_prepare(const double *, double *);\n"));
        let parameters = if module.parameters.is_empty() {
            "0".to_owned()
        } else {
            main.push_str(&format!("extern const double {prefix}_parameters[];\n"));
            format!("{prefix}_parameters")
        };
        body.push_str(&format!("    {prefix}_prepare({parameters}, c);\n"));
        for function in &module.functions {
            let mut types = String::new();
            let (mut arguments, mut at) = (String::new(), 0);
            for argument in &function.inputs {
                types.push_str(if argument.length.is_some() {
                    "const double *, "
                } else {
                    "double, "
                });
                arguments.push_str(&match argument.length {
                    Some(_) => format!("in + {at}, "),
                    None => format!("in[{at}], "),
                });
                at += argument.length.unwrap_or(1);
            }
            let (name, outputs) = (&function.name, function.program.outputs());
            main.push_str(&format!("void {prefix}_{name}({types}const double *, double *);\n"));
            body.push_str(&format!(
                "    for (int s = 0; s < {STATES}; s++) {{\n        for (int i = 0; i < {at}; i++) if (scanf(\"%lf\", in + i) != 1) return 1;\n        {prefix}_{name}({arguments}c, out);\n        for (int i = 0; i < {outputs}; i++) printf(\"%.17g\\n\", out[i]);\n    }}\n"
            ));
        }
    }
    main.push_str(&format!(
        "static double in[1000], c[5000], out[1000];\nint main(void)\n{{\n{body}    return 0;\n}}\n"
    ));
    fs::write(&files[0], main).unwrap();
    let binary = folder.join("compare");
    let status = Command::new("cc")
        .args(["-std=c99", "-O1", "-Wall", "-Werror", "-Wno-unused-parameter", "-o"])
        .arg(&binary)
        .args(&files)
        .arg("-lm")
        .status();
    assert!(status.unwrap().success(), "the texts compile");
    let answers = answers(&mut Command::new(&binary), &given, &expected);
    let tolerance = |text: &str| if calls_the_platform(text) { PLATFORM } else { 0.0 };
    compare(&modules, Language::C, &answers, &expected, tolerance);
}

#[test]
fn rust_has_the_bits_of_the_interpreter() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    if !has(&rustc) {
        return;
    }
    let modules = modules();
    let (given, expected) = calls(&modules);
    let folder = folder("rust");
    let mut main = String::from("#![deny(warnings)]\n");
    let mut body = String::new();
    for module in &modules {
        let prefix = &module.prefix;
        let text = module.text(Language::Rust).unwrap();
        fs::write(folder.join(format!("{prefix}.rs")), text).unwrap();
        main.push_str(&format!("#[allow(dead_code)]\nmod {prefix};\n"));
        let constants = module.parameters.len()
            + module.functions.iter().map(|f| f.program.kept()).sum::<usize>();
        let upper = prefix.to_uppercase();
        body.push_str(&format!(
            "    let mut c = [0.0; {constants}];\n    {prefix}::{prefix}_prepare(&{prefix}::{upper}_PARAMETERS, &mut c);\n"
        ));
        for function in &module.functions {
            let (mut arguments, mut at) = (String::new(), 0);
            for argument in &function.inputs {
                let length = argument.length.unwrap_or(1);
                arguments.push_str(&match argument.length {
                    Some(_) => format!("x[{at}..{}].try_into().unwrap(), ", at + length),
                    None => format!("x[{at}], "),
                });
                at += length;
            }
            let (name, outputs) = (&function.name, function.program.outputs());
            body.push_str(&format!(
                "    for _ in 0..{STATES} {{\n        let x: Vec<f64> = numbers.by_ref().take({at}).collect();\n        let mut out = [0.0; {outputs}];\n        {prefix}::{prefix}_{name}({arguments}&c, &mut out);\n        for x in out {{ println!(\"{{x:?}}\"); }}\n    }}\n"
            ));
        }
    }
    main.push_str(&format!(
        "fn main() {{\n    let mut text = String::new();\n    std::io::Read::read_to_string(&mut std::io::stdin(), &mut text).unwrap();\n    let mut numbers = text.split_whitespace().map(|w| w.parse::<f64>().unwrap());\n{body}}}\n"
    ));
    fs::write(folder.join("main.rs"), main).unwrap();
    let binary = folder.join("compare");
    let status = Command::new(&rustc)
        .args(["--edition", "2021", "-o"])
        .arg(&binary)
        .arg(folder.join("main.rs"))
        .status();
    assert!(status.unwrap().success(), "the texts compile");
    let answers = answers(&mut Command::new(&binary), &given, &expected);
    let tolerance = |text: &str| if calls_the_platform(text) { PLATFORM } else { 0.0 };
    compare(&modules, Language::Rust, &answers, &expected, tolerance);
}

#[test]
fn python_agrees_to_rounding() {
    if !has("python3") {
        return;
    }
    let modules = modules();
    let (given, expected) = calls(&modules);
    let folder = folder("python");
    let mut main = String::from(
        "import sys\nnumbers = iter(float(w) for w in sys.stdin.read().split())\n",
    );
    for module in &modules {
        let prefix = &module.prefix;
        let text = module.text(Language::Python).unwrap();
        fs::write(folder.join(format!("m_{prefix}.py")), text).unwrap();
        main.push_str(&format!(
            "import m_{prefix} as m\nc = m.{prefix}_prepare(m.{prefix}_parameters)\n"
        ));
        for function in &module.functions {
            let (mut arguments, mut at) = (String::new(), 0);
            for argument in &function.inputs {
                let length = argument.length.unwrap_or(1);
                arguments.push_str(&match argument.length {
                    Some(_) => format!("x[{at}:{}], ", at + length),
                    None => format!("x[{at}], "),
                });
                at += length;
            }
            let (name, outputs) = (&function.name, function.program.outputs());
            // NOTE: Python raises where others go on with what is not a number.
            main.push_str(&format!(
                "for s in range({STATES}):\n    x = [next(numbers) for i in range({at})]\n    try:\n        out = m.{prefix}_{name}({arguments}c)\n    except (ArithmeticError, ValueError):\n        out = ['raised'] * {outputs}\n    for y in out:\n        print(repr(y) if y != 'raised' else '1e999')\n"
            ));
        }
    }
    fs::write(folder.join("main.py"), main).unwrap();
    let mut command = Command::new("python3");
    let mut answers =
        answers(command.arg("-B").arg("main.py").current_dir(&folder), &given, &expected);
    // Where Python raised, ours must have no value either in some place.
    for (found, wanted) in answers.iter_mut().zip(&expected) {
        if found.iter().all(|x| *x == f64::INFINITY) && wanted.iter().any(|x| !x.is_finite()) {
            found.clone_from(wanted);
        }
    }
    // Multiply-adds round twice there, and solves at random states, far from the constraints, lose up to
    // seven digits (Bricard's linkage).
    compare(&modules, Language::Python, &answers, &expected, |_| 1e-9);
}

#[test]
fn the_text_has_the_operations_of_the_tape() {
    for module in modules() {
        let text = module.text(Language::C).unwrap();
        for function in &module.functions {
            let head = format!("void {}_{}(", module.prefix, function.name);
            let (_, body) = text.split_once(&head).expect("a function of this name");
            let (_, body) = body.split_once("{\n").expect("a body");
            let body = body.split("\n}").next().expect("its end");
            let steps = body.lines().filter(|line| line.contains("double w")).count();
            assert_eq!(steps, function.program.counts().per_evaluation, "{}", module.prefix);
        }
    }
}

/// Machine code for one, four and eight states has the bits of the interpreter, for the programs of every
/// gallery model in both forms.
#[test]
fn native_code_has_the_bits_of_the_interpreter_on_every_gallery_model() {
    let (mut random, mut compared) = (Random::new(11), 0);
    for entry in support::gallery() {
        for form in [ExportForm::Best, ExportForm::Saddle] {
            let Ok(module) = exported(&model(entry.name, entry.text), None, form) else {
                continue;
            };
            let p: Vec<f64> = module.parameters.iter().map(|p| p.1).collect();
            for function in &module.functions {
                let program = &function.program;
                let mut interpreter = program.interpreter(&p);
                for lanes in [Lanes::One, Lanes::Four, Lanes::Eight] {
                    let Some(native) = program.native_code(lanes, Backend::default()) else {
                        continue;
                    };
                    let n = lanes.count();
                    let inputs: Vec<f64> =
                        (0..n * program.inputs()).map(|_| 1.5 * random.number()).collect();
                    let mut found = vec![0.0; n * program.outputs()];
                    native.start(&p).evaluate(&inputs, &mut found);
                    for l in 0..n {
                        let one: Vec<f64> = inputs.iter().skip(l).step_by(n).copied().collect();
                        let mut wanted = vec![0.0; program.outputs()];
                        interpreter.evaluate(&one, &mut wanted);
                        for (x, y) in found.iter().skip(l).step_by(n).zip(&wanted) {
                            let same = x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
                            assert!(same, "{} {}: {x:e} {y:e}", entry.name, function.name);
                            compared += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(
        compared > 10_000
            || Program::compile(&Graph::new(), &[], &[], &[])
                .is_ok_and(|p| p.native_code(Lanes::One, Backend::default()).is_none())
    );
}

#[test]
fn what_a_language_has_not_is_said() {
    let error = "coordinates x\nlagrangian x'^2/2\nforce x: erf(x) + gamma(x)\n";
    let module = exported(&model("error", error), None, ExportForm::Best).unwrap();
    assert!(module.text(Language::C).unwrap().contains("tgamma("));
    assert!(module.text(Language::Python).unwrap().contains("math.erf("));
    assert!(module.text(Language::Rust).is_err());
    let complement = "coordinates x\nlagrangian x'^2/2\nforce x: erfc(x)\n";
    let module = exported(&model("complement", complement), None, ExportForm::Best).unwrap();
    assert!(module.text(Language::C).unwrap().contains(" = erfc("));
    assert!(module.text(Language::Python).unwrap().contains("math.erfc("));
    assert!(module.text(Language::Rust).is_err());
    let gamma = "coordinates x\nlagrangian x'^2/2\nforce x: digamma(x)\n";
    let module = exported(&model("gamma", gamma), None, ExportForm::Best).unwrap();
    for language in [Language::C, Language::Rust, Language::Python] {
        let why = module.text(language).unwrap_err().to_string();
        assert!(why.contains("`digamma`") && why.contains(language.name()), "{why}");
    }
}
