//! Values of tapes against plain evaluation: bit by bit.
//!
//! Sines and cosines are the crate's own and may differ by two units (one of each side) from those of
//! `Graph::evaluate`; what is computed from them may then differ by any amount. So random expressions without
//! them are compared with `Graph::evaluate`, those with them with a second evaluation that takes the same
//! sine and cosine, and these alone with `Graph::evaluate`.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_program::{GraphEvaluator, Program};
use proptest::prelude::*;

use crate::support::{
    Arguments, Expressions, HARD, Mix, ORDINARY, PARAMETERS, argument, arguments, cases, draw,
    operations, recipe, same, ulps, values,
};

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn random_expressions_have_the_bits_of_plain_evaluation(
        recipe in recipe(Mix::NoAngles, ORDINARY),
        arguments in arguments(),
    ) {
        check(&recipe.build(), arguments, &|s, symbol| s.graph.evaluate(&s.outputs, symbol));
    }

    #[test]
    fn random_expressions_with_angles_have_the_bits_of_a_second_evaluation(
        recipe in recipe(Mix::All, ORDINARY),
        arguments in arguments(),
    ) {
        check(&recipe.build(), arguments, &|s, symbol| values(&s.graph, &s.outputs, symbol));
    }
}

type Evaluation<'a> = &'a dyn Fn(&Expressions, &dyn Fn(Expr) -> f64) -> Vec<f64>;

/// One program at several parameters and inputs, by the tape and by another evaluation.
fn check(expressions: &Expressions, mut arguments: Arguments, other: Evaluation) {
    let Expressions { graph, inputs, parameters, outputs } = expressions;
    let program = expressions.compile();
    let mut run = program.interpreter(&[0.0; PARAMETERS]);
    for _ in 0..2 {
        let p = arguments.take(PARAMETERS);
        run.set_parameters(&p);
        let given: Vec<(Expr, f64)> =
            parameters.iter().copied().zip(p.iter().copied()).collect();
        let mut evaluator =
            GraphEvaluator::new(graph, inputs, &given, outputs).expect("every symbol is given");
        for _ in 0..3 {
            let x = arguments.take(inputs.len());
            let mut found = vec![0.0; outputs.len()];
            run.evaluate(&x, &mut found);
            let mut directly = vec![0.0; outputs.len()];
            evaluator.evaluate(&x, &mut directly);
            assert!(
                found.iter().zip(&directly).all(|(&a, &b)| same(a, b)),
                "{found:?} {directly:?}"
            );
            let expected = other(expressions, &|e| expressions.symbol(e, &x, &p));
            for (i, (&a, &b)) in found.iter().zip(&expected).enumerate() {
                assert!(same(a, b), "output {i}: {a:e} {b:e} {x:?} {p:?}\n{program}");
            }
        }
    }
}

#[test]
fn sine_and_cosine_agree_with_libm() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[g.sin(x), g.cos(x)]).unwrap();
    let (mut run, mut found) = (program.interpreter(&[]), [0.0; 2]);
    for v in HARD.into_iter().chain(draw(-100.0..100.0, 20_000)) {
        run.evaluate(&[v], &mut found);
        for (a, b) in found.into_iter().zip(g.evaluate(&[g.sin(x), g.cos(x)], &|_| v)) {
            assert!(ulps(a, b) <= 2, "one unit on each side: {v:?} {a:e} {b:e}");
        }
    }
}

#[test]
fn each_operation_on_hard_arguments() {
    let g = Graph::new();
    let symbols = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
    let [x, y, z] = symbols;
    let all = operations(&g, symbols);
    let mut arguments = HARD.to_vec();
    arguments.extend(draw(-6.0..6.0, 30));
    let mut thirds = draw(argument(), 997).into_iter().cycle();
    for &operation in &all {
        // Alone, so that nothing is shared with other operations.
        let program = Program::compile(&g, &[x, y, z], &[], &[operation]).unwrap();
        let (mut run, mut found) = (program.interpreter(&[]), [0.0]);
        let mut evaluator = GraphEvaluator::new(&g, &[x, y, z], &[], &[operation]).unwrap();
        let second = if g.contains(operation, &[y]) { &arguments[..] } else { &[0.0] };
        for (&a, &b) in arguments.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
            let third = thirds.next().expect("it goes on for ever");
            run.evaluate(&[a, b, third], &mut found);
            let mut directly = [0.0];
            evaluator.evaluate(&[a, b, third], &mut directly);
            assert!(same(found[0], directly[0]), "{a:e} {b:e}: {directly:?}\n{program}");
            let value = |e| {
                if e == x {
                    a
                } else if e == y {
                    b
                } else {
                    third
                }
            };
            let expected = values(&g, &[operation], &value)[0];
            assert!(
                same(found[0], expected),
                "{a:e} {b:e}: {} {expected}\n{program}",
                found[0]
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn every_lane_has_the_bits_of_a_single_state(
        recipe in recipe(Mix::All, ORDINARY),
        fused: bool,
        mut arguments in arguments(),
    ) {
        let program = recipe.build().compile();
        let program = if fused { program.fused() } else { program };
        let usual = [0.5, 0.25, 2.0];
        for lanes in [1, 3, 8, 13, 64, 70] {
            let mut batch = program.batch_interpreter(lanes, &usual);
            let mut p: Vec<f64> = usual.into_iter().flat_map(|p| vec![p; lanes]).collect();
            for _ in 0..2 {
                let x = arguments.take(program.inputs() * lanes);
                let mut found = vec![f64::NAN; program.outputs() * lanes];
                batch.evaluate(&x, &mut found);
                for l in 0..lanes {
                    let lane = |all: &[f64]| -> Vec<f64> {
                        all.iter().skip(l).step_by(lanes).copied().collect()
                    };
                    let mut expected = vec![0.0; program.outputs()];
                    program.interpreter(&lane(&p)).evaluate(&lane(&x), &mut expected);
                    for (a, b) in lane(&found).into_iter().zip(expected) {
                        assert!(same(a, b), "lane {l} of {lanes}: {a:e} {b:e}\n{program}");
                    }
                }
                // Then each lane with its own parameters.
                p = arguments.take(PARAMETERS * lanes);
                batch.set_parameters(&p);
            }
        }
    }

    #[test]
    fn a_second_evaluation_does_not_remember_the_first(
        recipe in recipe(Mix::All, ORDINARY),
        mut arguments in arguments(),
    ) {
        let program = recipe.build().compile();
        let mut run = program.interpreter(&[1.0, 2.0, 3.0]);
        let x = arguments.take(program.inputs());
        let (mut first, mut again) = (vec![0.0; program.outputs()], vec![0.0; program.outputs()]);
        run.set_parameters(&arguments.take(PARAMETERS));
        run.evaluate(&x, &mut first);
        run.evaluate(&arguments.take(program.inputs()), &mut again);
        run.evaluate(&x, &mut again);
        assert!(first.iter().zip(&again).all(|(a, b)| same(*a, *b)));
    }
}

#[test]
fn every_operation_has_the_same_bits_in_lanes() {
    let g = Graph::new();
    let symbols = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
    let all = operations(&g, symbols);
    let program = Program::compile(&g, &symbols, &[], &all).unwrap();
    let (mut run, mut expected) = (program.interpreter(&[]), vec![0.0; all.len()]);
    let mut arguments = draw(arguments(), 1).remove(0);
    for lanes in [1, 3, 8, 64] {
        let mut batch = program.batch_interpreter(lanes, &[]);
        let mut found = vec![0.0; all.len() * lanes];
        for _ in 0..200 {
            let x = arguments.take(3 * lanes);
            batch.evaluate(&x, &mut found);
            for l in 0..lanes {
                run.evaluate(&[x[l], x[lanes + l], x[2 * lanes + l]], &mut expected);
                for (i, &b) in expected.iter().enumerate() {
                    let a = found[i * lanes + l];
                    assert!(same(a, b), "output {i}, lane {l} of {lanes}: {a:e} {b:e}");
                }
            }
        }
    }
}
