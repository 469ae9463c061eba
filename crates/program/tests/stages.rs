//! A step as one program against the same step stage by stage.

mod support;

use pfaff_expr::{Expr, Graph, Role, Table};
use pfaff_program::{Lanes, Program, Stages, Term};
use support::codes;

/// A method of no worth, so that no two numbers are alike.
const NODES: [f64; 3] = [0.21, 0.37, 0.83];
const ROWS: [&[Term]; 3] = [&[(0, 0.21)], &[(0, -0.4), (1, 0.77)], &[(1, 0.5), (2, 0.33)]];
const WEIGHTS: &[Term] = &[(0, 0.3), (2, 0.6), (3, 0.1)];
const SUMS: [&[Term]; 2] = [&[(0, 1.3), (3, -0.9)], &[(1, 0.2), (2, -0.7), (3, 0.5)]];

const PARAMETERS: [f64; 2] = [1.7, 0.6];

/// $(t, x, \varphi)$ to their rates and two components that are carried along: a quadrature and a constant. With a table, and something that depends on
/// parameters alone.
fn right_side() -> Program {
    let g = Graph::new();
    let [t, x, φ] = ["t", "x", "φ"].map(|name| g.symbol(name, Role::Free));
    let [p, r] = ["p", "r"].map(|name| g.symbol(name, Role::Parameter));
    let twice = g.mul(g.sin(φ), g.cos(g.add(x, φ)));
    let places: Vec<f64> = (0..5).map(f64::from).collect();
    let values = places.clone().into_iter().map(|x| x * x - 1.3 * x);
    let table = Table::new("a.csv", "y", &places, &values.collect::<Vec<f64>>());
    let read = g.table(table.expect("the rows grow"), x);
    let slow = g.div(x, g.sqrt(g.sub(p, r)));
    let outputs = [g.mul(p, g.mul(t, twice)), g.add(slow, read), g.mul(x, g.cos(φ)), g.zero()];
    Program::compile(&g, &[t, x, φ], &[p, r], &outputs).expect("all symbols are given")
}

fn step(program: &Program) -> Program {
    let stages = Stages { nodes: &NODES, rows: &ROWS, weights: WEIGHTS, sums: &SUMS };
    let step = program.step(&stages).expect("as many rates as components");
    assert_eq!(step.outputs(), stages.outputs() * program.outputs());
    step
}

const H: f64 = 0.9;
const START: [f64; 4] = [0.7, 1.2, -0.3, 5.0];

/// Stage by stage, each operation rounded by itself.
fn by_hand(rates: &mut dyn FnMut(f64, &[f64]) -> Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let t = 0.4;
    let sum = |k: &[Vec<f64>], terms: &[Term], i: usize| {
        terms.iter().map(|&(j, w)| w * k[j][i]).reduce(|a, b| a + b).expect("terms")
    };
    let along = |k: &[Vec<f64>], terms: &[Term]| -> Vec<f64> {
        (0..4).map(|i| START[i] + H * sum(k, terms, i)).collect()
    };
    let first = rates(t, &START);
    let at = [&[t, H], &START[..], &first].concat();
    let mut k = vec![first];
    for (node, row) in NODES.iter().zip(ROWS) {
        let state = along(&k, row);
        k.push(rates(t + node * H, &state));
    }
    let end = along(&k, WEIGHTS);
    let mut rows = k[1..].concat();
    rows.extend(&end);
    SUMS.iter().for_each(|terms| rows.extend((0..4).map(|i| sum(&k, terms, i))));
    rows.extend(rates(t + H, &end));
    (at, rows)
}

#[test]
fn a_step_is_its_stages_to_the_bit() {
    let program = right_side();
    let mut run = program.start(&PARAMETERS);
    let (at, wanted) = by_hand(&mut |t, y| {
        let mut rates = vec![0.0; 4];
        run.evaluate(&[t, y[0], y[1]], &mut rates);
        rates
    });
    let mut rows = vec![0.0; wanted.len()];
    step(&program).start(&PARAMETERS).evaluate(&at, &mut rows);
    assert_eq!(rows, wanted);
}

#[test]
fn machine_code_of_a_step_has_the_bits_of_the_tape() {
    let mut found_twice = Vec::new();
    for program in [right_side(), right_side().fused()] {
        let step = step(&program);
        let mut run = program.start(&PARAMETERS);
        let (at, wanted) = by_hand(&mut |t, y| {
            let mut rates = vec![0.0; 4];
            run.evaluate(&[t, y[0], y[1]], &mut rates);
            rates
        });
        let mut tape = vec![0.0; wanted.len()];
        step.start(&PARAMETERS).evaluate(&at, &mut tape);
        for (way, code) in codes(&step, Lanes::One) {
            let mut rows = vec![0.0; wanted.len()];
            code.start(&PARAMETERS).evaluate(&at, &mut rows);
            assert_eq!(tape, rows, "{way:?}");
        }
        // Multiply-adds that round once differ by a few roundings of numbers below 10.
        for (found, wanted) in tape.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-14, "{found} {wanted}");
        }
        found_twice.push(tape);
    }
    assert_ne!(found_twice[0], found_twice[1], "sums of stages round as the program does");
}

#[test]
fn fewer_rates_than_components_make_no_step() {
    let g = Graph::new();
    let [t, x, y] = ["t", "x", "y"].map(|name| g.symbol(name, Role::Free));
    let program = Program::compile(&g, &[t, x, y], &[], &[g.mul(x, y)]).expect("given");
    let stages = Stages { nodes: &NODES, rows: &ROWS, weights: WEIGHTS, sums: &SUMS };
    assert!(program.step(&stages).is_none());
    let constant = Program::compile(&g, &[], &[], &[g.one()]).expect("no symbols");
    assert!(constant.step(&stages).is_none(), "there is no time");
}

#[test]
fn a_step_has_no_operation_too_many() {
    let g = Graph::new();
    let [t, x] = ["t", "x"].map(|name| g.symbol(name, Role::Free));
    let count = |rates: &[Expr]| {
        let program = Program::compile(&g, &[t, x], &[], rates).expect("given");
        step(&program).counts().per_evaluation
    };
    // Products and multiply-adds of the rows 2 + 3 + 3, of the weights 4, of the sums 2 + 3. No rate reads the time, so that none is passed on.
    assert_eq!(count(&[x]), 17);
    // A component at rest: its rate at the start is given, those of the stages are known; two operations for the weights and one for the sums.
    assert_eq!(count(&[x, g.zero()]), 20);
}
