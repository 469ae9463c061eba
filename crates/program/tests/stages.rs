//! A step as one program against the same step stage by stage.

mod support;

use pfaff_expr::{Graph, Role};
use pfaff_program::{Lanes, Program, Stages, Term};
use support::codes;

/// A method of no worth, so that no two numbers are alike.
const NODES: [f64; 3] = [0.21, 0.37, 0.83];
const ROWS: [&[Term]; 3] = [&[(0, 0.21)], &[(0, -0.4), (1, 0.77)], &[(1, 0.5), (2, 0.33)]];
const WEIGHTS: &[Term] = &[(0, 0.3), (2, 0.6), (3, 0.1)];
const SUMS: [&[Term]; 2] = [&[(0, 1.0), (3, -1.0)], &[(1, 0.2), (2, -0.7), (3, 0.5)]];

/// $(t, x, \varphi)$ to their rates and two components that are carried along: a quadrature and a constant.
fn right_side() -> Program {
    let g = Graph::new();
    let [t, x, φ] = ["t", "x", "φ"].map(|name| g.symbol(name, Role::Free));
    let p = g.symbol("p", Role::Parameter);
    let twice = g.mul(g.sin(φ), g.cos(g.add(x, φ)));
    let outputs = [g.mul(p, g.mul(t, twice)), g.div(x, p), g.mul(x, g.cos(φ)), g.zero()];
    Program::compile(&g, &[t, x, φ], &[p], &outputs).expect("all symbols are given")
}

fn step(program: &Program) -> Program {
    let stages = Stages { nodes: &NODES, rows: &ROWS, weights: WEIGHTS, sums: &SUMS };
    let step = program.step(&stages).expect("as many rates as components");
    assert_eq!(step.outputs(), stages.outputs() * program.outputs());
    step
}

const H: f64 = 0.1;
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
    let mut run = program.start(&[1.7]);
    let (at, wanted) = by_hand(&mut |t, y| {
        let mut rates = vec![0.0; 4];
        run.evaluate(&[t, y[0], y[1]], &mut rates);
        rates
    });
    let mut rows = vec![0.0; wanted.len()];
    step(&program).start(&[1.7]).evaluate(&at, &mut rows);
    assert_eq!(rows, wanted);
}

#[test]
fn machine_code_of_a_step_has_the_bits_of_the_tape() {
    for program in [right_side(), right_side().fused()] {
        let step = step(&program);
        let mut run = program.start(&[1.7]);
        let (at, wanted) = by_hand(&mut |t, y| {
            let mut rates = vec![0.0; 4];
            run.evaluate(&[t, y[0], y[1]], &mut rates);
            rates
        });
        let mut tape = vec![0.0; wanted.len()];
        step.start(&[1.7]).evaluate(&at, &mut tape);
        for (way, code) in codes(&step, Lanes::One) {
            let mut rows = vec![0.0; wanted.len()];
            code.start(&[1.7]).evaluate(&at, &mut rows);
            assert_eq!(tape, rows, "{way:?}");
        }
        // Multiply-adds that round once differ by a few roundings of numbers below 10.
        for (found, wanted) in tape.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-14, "{found} {wanted}");
        }
    }
}

#[test]
fn fewer_rates_than_components_make_no_step() {
    let g = Graph::new();
    let [t, x, y] = ["t", "x", "y"].map(|name| g.symbol(name, Role::Free));
    let program = Program::compile(&g, &[t, x, y], &[], &[g.mul(x, y)]).expect("given");
    let stages = Stages { nodes: &NODES, rows: &ROWS, weights: WEIGHTS, sums: &SUMS };
    assert!(program.step(&stages).is_none());
}
