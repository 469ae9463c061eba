//! Modules against the interpreter, bit for bit, in Node.js.

#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use pfaff_expr::{Graph, Role};

use super::super::tests::program as program_of;
use super::super::tests::recipe::{
    Arguments, HARD, Mix, Recipe, Size, arguments, draw, recipe, same,
};
use super::*;
use crate::{Program, sincos_fused};

/// Runs modules, one a line: `bytes,middle,outputs,inputs,fixed …,arguments …`, doubles by their bits. Answers with
/// the results of all arguments, and with how many functions of the page were called: those give nothing here. The
/// first line says whether multiply-adds round once here, by a module that was written by hand.
const RUNNER: &str = "
    require('v8').setFlagsFromString('--experimental-wasm-relaxed-simd');
    const memory = new WebAssembly.Memory({initial: 4});
    const table = new WebAssembly.Table({initial: 4, element: 'anyfunc'});
    const bits = new BigUint64Array(memory.buffer);
    // Functions of JavaScript get into a table by a module that imports and exports them.
    const types = {1: [3, 127, 124, 124, 1, 124], 2: [2, 124, 127, 0]};
    let outside = 0;
    for (const k of [1, 2]) {
      const type = types[k];
      const helper = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, type.length + 2, 1, 96,
        ...type, 2, 7, 1, 1, 101, 1, 115, 0, 0, 7, 5, 1, 1, 115, 0, 0]));
      const called = () => { outside += 1; return NaN; };
      table.set(k, new WebAssembly.Instance(helper, {e: {s: called}}).exports.s);
    }
    const numbers = (text) => text ? text.split(' ').map((x) => BigInt('0x' + x)) : [];
    const answer = (line) => {
      const [code, middle, outputs, inputs, fixed, given] = line.split(',');
      const made = new WebAssembly.Module(Buffer.from(code, 'hex'));
      const f = new WebAssembly.Instance(made, {env: {memory, table}}).exports.f;
      numbers(fixed).forEach((x, i) => { bits[16384 + Number(middle) - 1 - i] = x; });
      const all = numbers(given), told = [];
      for (let k = 0; k < all.length; k += Number(inputs)) {
        all.slice(k, k + Number(inputs)).forEach((x, i) => { bits[i] = x; });
        outside = 0;
        f(0, 8 * 8192, 8 * 16384);
        told.push(outside);
        for (let i = 0; i < Number(outputs); i += 1) told.push(bits[8192 + i].toString(16));
      }
      return told.join(' ');
    };
    const small = 2 ** -30;
    let fuses = false;
    try {
      const byHand = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 124, 124, 124, 1, 124,
        3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 22, 1, 20, 0, 32, 0, 253, 20, 32, 1, 253, 20, 32, 2, 253, 20,
        253, 135, 2, 253, 33, 0, 11]));
      const f = new WebAssembly.Instance(byHand).exports.f;
      fuses = f(1 + small, 1 + small, -1 - 2 * small) === small * small;
    } catch {}
    console.log(fuses);
    const lines = require('fs').readFileSync(0, 'utf8').trim().split('\\n').filter(Boolean);
    console.log(lines.map(answer).join('\\n'));";

/// A program with its parameters, and the arguments that it is asked for.
struct Case {
    program: Program,
    /// The one whose interpreter it is compared with.
    reference: Program,
    parameters: Vec<f64>,
    arguments: Vec<Vec<f64>>,
}

/// How many functions of the page were called, and the outputs.
type Answer = (u32, Vec<f64>);

/// What the modules of programs give for each of their arguments; `None` where they cannot be run.
fn run(cases: &[Case], page_fuses: bool) -> Option<Vec<Vec<Answer>>> {
    let words = |list: &[f64]| -> String {
        let all: Vec<String> = list.iter().map(|x| format!("{:x}", x.to_bits())).collect();
        all.join(" ")
    };
    let mut lines = String::new();
    for case in cases {
        let tape = &case.program.tape;
        let mut functions = Functions { library: 1, sincos: 2, address: &mut |_| 0 };
        let module = module(tape, page_fuses, &mut functions).expect("it is small");
        let mut slots = vec![0.0; tape.layout.slots()];
        let first = tape.layout.first_parameter();
        slots[first..first + case.parameters.len()].copy_from_slice(&case.parameters);
        let first = tape.layout.first_constant();
        slots[first..first + tape.constants.len()].copy_from_slice(&tape.constants);
        case.reference.tape.execute(&tape.per_run, &mut slots);
        let fixed: Vec<f64> = module.fixed.iter().map(|&s| slots[s as usize]).collect();
        for byte in module.bytes {
            write!(lines, "{byte:02x}").expect("text grows");
        }
        let (outputs, inputs) = (case.program.outputs(), case.program.inputs());
        let (fixed, given) = (words(&fixed), words(&case.arguments.concat()));
        writeln!(lines, ",{},{outputs},{inputs},{fixed},{given}", module.middle)
            .expect("text grows");
    }
    let told = node(&lines)?;
    let answers = told.lines().skip(1).zip(cases).map(|(line, case)| {
        let words: Vec<&str> = line.split(' ').collect();
        let rows = words.chunks(1 + case.program.outputs());
        let number =
            |word: &&str| u64::from_str_radix(word, 16).map(f64::from_bits).expect("bits");
        rows.map(|row| {
            (row[0].parse().expect("a number"), row[1..].iter().map(number).collect())
        })
        .collect()
    });
    Some(answers.collect())
}

/// What [`RUNNER`] says of these lines; nothing where there is no Node.js.
fn node(lines: &str) -> Option<String> {
    let child = Command::new("node")
        .args(["-e", RUNNER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: no Node.js, which runs WebAssembly modules");
        return None;
    };
    child.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// Compares modules with the interpreter where they call no function of the page; how many results were compared.
fn compared(cases: &[Case], page_fuses: bool) -> Option<usize> {
    let mut count = 0;
    for (case, answers) in cases.iter().zip(run(cases, page_fuses)?) {
        assert_eq!(answers.len(), case.arguments.len());
        for (x, (outside, found)) in case.arguments.iter().zip(answers) {
            if outside > 0 {
                continue;
            }
            let mut expected = vec![0.0; case.program.outputs()];
            case.reference.interpreter(&case.parameters).evaluate(x, &mut expected);
            for (k, (a, b)) in found.into_iter().zip(expected).enumerate() {
                assert!(
                    same(a, b),
                    "fuses {page_fuses}, output {k}: {a:e} and {b:e} at {x:?}, {:?}\n{}",
                    case.parameters,
                    case.program
                );
                count += 1;
            }
        }
    }
    Some(count)
}

/// Whether multiply-adds round once here; else there is nothing to be tested of them.
fn has_instruction() -> bool {
    let fuses = node("").is_some_and(|told| told.starts_with("true"));
    if !fuses {
        println!("skipped: no multiply-adds that round once");
    }
    fuses
}

/// $ab + c$, $ab - c$ or $c - ab$, rounded once. Not together: a product that is used twice joins no sum.
fn products(form: usize, arguments: Vec<Vec<f64>>) -> Case {
    let g = Graph::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| g.symbol(name, Role::Free));
    let ab = g.mul(a, b);
    let output = [g.add(ab, c), g.sub(ab, c), g.sub(c, ab)][form];
    let program = Program::compile(&g, &[a, b, c], &[], &[output]).expect("it compiles");
    let program = program.fused();
    Case { reference: program.clone(), program, parameters: Vec::new(), arguments }
}

#[test]
fn random_programs_have_the_bits_of_the_interpreter() {
    let size = Size { inputs: 1..7, operations: 1..61, reach: 12 };
    let recipes = [Mix::All, Mix::Own, Mix::Smooth, Mix::Smooth];
    let recipes = recipes.into_iter().flat_map(|mix| draw(recipe(mix, size.clone()), 60));
    let numbers: Vec<Arguments> = draw(arguments(), 8);
    // A fused program rounds twice where the page does.
    let cases = |fused: bool, page_fuses: bool| -> Vec<Case> {
        let one = |(k, recipe): (usize, Recipe)| {
            let plain = program_of(&recipe);
            let program = if fused { plain.clone().fused() } else { plain.clone() };
            let reference = if page_fuses { program.clone() } else { plain };
            let mut numbers = numbers[k % numbers.len()].clone();
            let parameters = numbers.take(program.parameters());
            let arguments = (0..4).map(|_| numbers.take(program.inputs())).collect();
            Case { program, reference, parameters, arguments }
        };
        recipes.clone().enumerate().map(one).collect()
    };
    let instruction = has_instruction();
    for (fused, page_fuses) in [(false, false), (true, false), (true, true)] {
        if page_fuses && !instruction {
            continue;
        }
        let Some(count) = compared(&cases(fused, page_fuses), page_fuses) else { return };
        assert!(count > 1_500, "fused {fused}, page {page_fuses}: only {count} results");
    }
}

/// Products that cancel, ties that the last bit of a product decides, and what overflows and underflows.
#[test]
fn multiply_adds_round_once() {
    let mut rows = Vec::new();
    let powers = [1, 2, 5, 26, 27, 28, 51, 52].map(|k| 2.0_f64.powi(-k));
    let factors: Vec<f64> =
        powers.into_iter().flat_map(|p| [1.0 + p, 1.0 - p]).chain([1.0, -3.0, 1e160]).collect();
    for &a in &factors {
        for &b in &factors {
            let p = a * b;
            let e = libm::fma(a, b, -p);
            rows.extend([-p, p, -p - e, e, -e].map(|c| vec![a, b, c]));
            for k in [-110, -107, -106, -54, -53, -52, 1, 51, 52, 53, 54, 104, 105, 106, 107] {
                let power = p * 2.0_f64.powi(k);
                let near = power * (1.0 + f64::EPSILON);
                rows.extend([power, -power, near, -near].map(|c| vec![a, b, c]));
            }
        }
    }
    for a in HARD {
        for b in HARD {
            rows.extend(HARD.map(|c| vec![a, b, c]));
        }
    }
    let count = 3 * rows.len();
    let case = [0, 1, 2].map(|form| products(form, rows.clone()));
    if has_instruction() {
        assert_eq!(compared(&case, true), Some(count));
    }
}

#[test]
fn angles_have_the_bits_of_the_interpreter() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program =
        Program::compile(&g, &[x], &[], &[g.sin(x), g.cos(x)]).expect("it compiles").fused();
    let mut arguments = vec![vec![0.0], vec![-0.0], vec![1e8], vec![14_461_176.670_278_38]];
    let mut at = 1e-9_f64;
    while at < 1e8 {
        arguments.extend([vec![at], vec![-at]]);
        at *= 1.01;
    }
    let (sine, cosine) = sincos_fused(0.7);
    let mut told = [0.0; 2];
    program.interpreter(&[]).evaluate(&[0.7], &mut told);
    assert_eq!(told, [sine, cosine]);
    let all = 2 * arguments.len();
    let far = [1.000_1e8, -1e22, f64::INFINITY, f64::NAN].map(|x| vec![x]);
    let case = [Case {
        reference: program.clone(),
        program,
        parameters: Vec::new(),
        arguments: arguments.into_iter().chain(far).collect(),
    }];
    if has_instruction() {
        // What is far away is left to the function of the page.
        assert_eq!(compared(&case, true), Some(all));
    }
}
