//! Choices → a program → machine code, one state and lanes, against the interpreter: every bit.

use pfaff_expr::{Binary, Expr, Graph, Relation, Role, Table, Unary};
use pfaff_program::{Backend, Lanes, Program};

use crate::choices::Choices;

/// Machine code of this crate's own compiler.
pub(crate) fn native(bytes: &[u8]) {
    compared(bytes, Backend::Native);
}

/// Machine code by Cranelift.
pub(crate) fn cranelift(bytes: &[u8]) {
    compared(bytes, Backend::Cranelift);
}

const PARAMETERS: usize = 2;

fn compared(bytes: &[u8], backend: Backend) {
    let mut choices = Choices::new(bytes);
    let inputs = 1 + choices.below(4);
    let is_fused = choices.is_one_in(2);
    let lanes = choices.one(&[Lanes::Four, Lanes::Eight]);
    let one_in_all = choices.below(4);
    let parameters: Vec<f64> = (0..PARAMETERS).map(|_| choices.number()).collect();
    let x: Vec<f64> = (0..inputs * lanes.count()).map(|_| choices.number()).collect();
    let program = program(&mut choices, inputs, one_in_all);
    let program = if is_fused { program.fused() } else { program };
    let outputs = program.outputs();
    let count = lanes.count();
    let mut expected = vec![0.0; outputs * count];
    program.batch_interpreter(count, &parameters).evaluate(&x, &mut expected);
    let first: Vec<f64> = (0..inputs).map(|i| x[i * count]).collect();
    let mut alone = vec![0.0; outputs];
    program.interpreter(&parameters).evaluate(&first, &mut alone);
    let of_batch: Vec<f64> = (0..outputs).map(|i| expected[i * count]).collect();
    assert_same("batch", &of_batch, &alone, &program, &x);
    if let Some(code) = program.native_code(Lanes::One, backend) {
        let mut found = vec![0.0; outputs];
        code.start(&parameters).evaluate(&first, &mut found);
        assert_same("one state", &found, &alone, &program, &x);
    }
    if let Some(code) = program.native_code(lanes, backend) {
        let mut found = vec![0.0; outputs * count];
        code.start(&parameters).evaluate(&x, &mut found);
        assert_same("lanes", &found, &expected, &program, &x);
    }
}

fn assert_same(what: &str, found: &[f64], expected: &[f64], program: &Program, x: &[f64]) {
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let equal = found.iter().zip(expected).all(same);
    assert!(equal, "{what} at {x:?}: {found:?}, expected {expected:?}\n{program}");
}

fn program(choices: &mut Choices<'_>, inputs: usize, one_in_all: usize) -> Program {
    let g = Graph::new();
    let symbols = |name: &str, role, n: usize| -> Vec<Expr> {
        (0..n).map(|i| g.symbol(&format!("{name}{i}"), role)).collect()
    };
    let inputs = symbols("x", Role::Free, inputs);
    let parameters = symbols("p", Role::Parameter, PARAMETERS);
    let mut known = [&inputs[..], &parameters, &[g.fraction(1, 3), g.integer(-2)]].concat();
    while !choices.is_empty() {
        let next = operation(&g, choices, &known, one_in_all);
        known.push(next);
    }
    let outputs: Vec<Expr> = known.iter().rev().step_by(3).take(6).copied().collect();
    Program::compile(&g, &inputs, &parameters, &outputs).expect("every symbol is given")
}

/// An operation on earlier results; library functions are rarer in some programs than in others.
pub(super) fn operation(
    g: &Graph,
    choices: &mut Choices<'_>,
    known: &[Expr],
    one_in_all: usize,
) -> Expr {
    let mut operand = || known[known.len() - 1 - choices.below(known.len().min(200))];
    let [a, b, c] = [operand(), operand(), operand()];
    let relation = choices.one(&[
        Relation::Less,
        Relation::LessEqual,
        Relation::Equal,
        Relation::NotEqual,
    ]);
    match choices.below(if one_in_all == 0 { 24 } else { 20 }) {
        0 => g.add(a, b),
        1 => g.sub(a, b),
        2 => g.mul(a, b),
        3 => g.div(a, b),
        4 => g.neg(a),
        5 => g.add(g.mul(a, b), c),
        6 => g.sub(g.mul(a, b), c),
        7 => g.sub(c, g.mul(a, b)),
        8 => g.pow(a, g.integer(choices.one(&[2, 3, 5, -2, -6, -1, 4, 7, 9, 14, 65]))),
        9 => g.sin(a),
        10 => g.cos(a),
        11 => g.mul(g.sin(a), g.cos(a)),
        12 => g.sqrt(a),
        13 => g.unary(Unary::Abs, a),
        14 | 15 => g.choose(g.compare(relation, a, b), c, b),
        16 => g.logic_not(g.compare(relation, a, b)),
        17 => g.logic_and(a, b),
        18 => g.logic_or(a, b),
        19 => g.choose(a, b, c),
        20 => g.pow(a, b),
        21 => g.unary(choices.one(&Unary::ALL), a),
        22 => g.binary(choices.one(&Binary::ALL), a, b),
        _ => g.table(wave(), a),
    }
}

/// Data on [-4, 4].
fn wave() -> Table {
    let x: Vec<f64> = (-8..=8).map(|i| 0.5 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x - 1.0 / (1.0 + x * x)).collect();
    Table::new("wave.csv", "y", &x, &y).expect("the rows grow")
}
