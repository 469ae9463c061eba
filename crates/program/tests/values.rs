//! Values of tapes against plain evaluation: bit by bit.
//!
//! Sines and cosines are the crate's own and may differ by two units (one of each side) from those of
//! `Graph::evaluate`; what is computed from them
//! may then differ by any amount. So random expressions without them are compared with `Graph::evaluate`,
//! those with them with a second
//! evaluation that takes the same sine and cosine, and these alone with `Graph::evaluate`.

mod support;

use pfaff_expr::{Expr, Graph, Role};
use pfaff_program::{GraphEvaluator, Program};
use support::{HARD, Random, Sample, operations, same, ulps, values};

#[test]
fn random_expressions_have_the_bits_of_plain_evaluation() {
    let mut random = Random(3);
    for case in 0..3_000 {
        let size = 1 + random.below(60);
        check(&Sample::random(&mut random, size, false), &mut random, case, &|s, symbol| {
            s.graph.evaluate(&s.outputs, symbol)
        });
    }
}

#[test]
fn random_expressions_with_angles_have_the_bits_of_a_second_evaluation() {
    let mut random = Random(4);
    for case in 0..3_000 {
        let size = 1 + random.below(60);
        check(&Sample::random(&mut random, size, true), &mut random, case, &|s, symbol| {
            values(&s.graph, &s.outputs, symbol)
        });
    }
}

type Road<'a> = &'a dyn Fn(&Sample, &dyn Fn(Expr) -> f64) -> Vec<f64>;

/// One program at several parameters and inputs, by the tape and by another road.
fn check(sample: &Sample, random: &mut Random, case: usize, road: Road) {
    let Sample { graph, inputs, parameters, outputs } = sample;
    let program =
        Program::compile(graph, inputs, parameters, outputs).expect("every symbol is given");
    let mut run = program.interpreter(&vec![0.0; parameters.len()]);
    for _ in 0..2 {
        let p: Vec<f64> = parameters.iter().map(|_| random.argument()).collect();
        run.set_parameters(&p);
        let given: Vec<(Expr, f64)> =
            parameters.iter().copied().zip(p.iter().copied()).collect();
        let mut sketch =
            GraphEvaluator::new(graph, inputs, &given, outputs).expect("every symbol is given");
        for _ in 0..3 {
            let x: Vec<f64> = inputs.iter().map(|_| random.argument()).collect();
            let mut found = vec![0.0; outputs.len()];
            run.evaluate(&x, &mut found);
            let mut sketched = vec![0.0; outputs.len()];
            sketch.evaluate(&x, &mut sketched);
            assert!(
                found.iter().zip(&sketched).all(|(&a, &b)| same(a, b)),
                "case {case}: {found:?} {sketched:?}"
            );
            let expected = road(sample, &|e| sample.symbol(e, &x, &p));
            for (i, (&a, &b)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    same(a, b),
                    "case {case}, output {i}: {a:e} {b:e} {x:?} {p:?}\n{program}"
                );
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
    let mut random = Random(5);
    let ordinary = (0..20_000).map(|_| random.uniform(-100.0, 100.0));
    for v in HARD.into_iter().chain(ordinary) {
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
    let mut random = Random(6);
    let mut arguments = HARD.to_vec();
    arguments.extend((0..30).map(|_| random.uniform(-6.0, 6.0)));
    for &operation in &all {
        // Alone, so that nothing is shared with other operations.
        let program = Program::compile(&g, &[x, y, z], &[], &[operation]).unwrap();
        let (mut run, mut found) = (program.interpreter(&[]), [0.0]);
        let mut sketch = GraphEvaluator::new(&g, &[x, y, z], &[], &[operation]).unwrap();
        let second = if g.contains(operation, &[y]) { &arguments[..] } else { &[0.0] };
        for (&a, &b) in arguments.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
            let third = random.argument();
            run.evaluate(&[a, b, third], &mut found);
            let mut sketched = [0.0];
            sketch.evaluate(&[a, b, third], &mut sketched);
            assert!(same(found[0], sketched[0]), "{a:e} {b:e}: {sketched:?}\n{program}");
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

#[test]
fn every_lane_has_the_bits_of_a_run() {
    let mut random = Random(7);
    for case in 0..400 {
        let size = 1 + random.below(80);
        let sample = Sample::random(&mut random, size, true);
        let Sample { graph, inputs, parameters, outputs } = &sample;
        let program = Program::compile(graph, inputs, parameters, outputs).unwrap();
        for lanes in [1, 3, 8, 13, 64, 70] {
            let mut batch = program.batch_interpreter(lanes, &[0.5, 0.25, 2.0]);
            let mut p: Vec<f64> =
                [0.5, 0.25, 2.0].into_iter().flat_map(|p| vec![p; lanes]).collect();
            for _ in 0..2 {
                let x: Vec<f64> =
                    (0..inputs.len() * lanes).map(|_| random.argument()).collect();
                let mut found = vec![f64::NAN; outputs.len() * lanes];
                batch.evaluate(&x, &mut found);
                for l in 0..lanes {
                    let lane = |all: &[f64]| -> Vec<f64> {
                        all.iter().skip(l).step_by(lanes).copied().collect()
                    };
                    let mut expected = vec![0.0; outputs.len()];
                    program.interpreter(&lane(&p)).evaluate(&lane(&x), &mut expected);
                    for (a, b) in lane(&found).into_iter().zip(expected) {
                        assert!(
                            same(a, b),
                            "case {case}, lane {l} of {lanes}: {a:e} {b:e}\n{program}"
                        );
                    }
                }
                // Then each lane with its own parameters.
                p = (0..parameters.len() * lanes).map(|_| random.argument()).collect();
                batch.set_parameters(&p);
            }
        }
    }
}

#[test]
fn every_operation_has_the_same_bits_in_lanes() {
    let g = Graph::new();
    let symbols = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
    let all = operations(&g, symbols);
    let program = Program::compile(&g, &symbols, &[], &all).unwrap();
    let (mut run, mut expected) = (program.interpreter(&[]), vec![0.0; all.len()]);
    let mut random = Random(8);
    for lanes in [1, 3, 8, 64] {
        let mut batch = program.batch_interpreter(lanes, &[]);
        let mut found = vec![0.0; all.len() * lanes];
        for _ in 0..200 {
            let x: Vec<f64> = (0..3 * lanes).map(|_| random.argument()).collect();
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

#[test]
fn a_second_evaluation_does_not_remember_the_first() {
    let mut random = Random(9);
    let sample = Sample::random(&mut random, 80, true);
    let Sample { graph, inputs, parameters, outputs } = &sample;
    let program = Program::compile(graph, inputs, parameters, outputs).unwrap();
    let (mut run, p) = (program.interpreter(&[1.0, 2.0, 3.0]), [0.5, 0.6, 0.7]);
    let (mut first, mut again) = (vec![0.0; outputs.len()], vec![0.0; outputs.len()]);
    run.set_parameters(&p);
    run.evaluate(&[0.1, 0.2, 0.3, 0.4], &mut first);
    run.evaluate(&[f64::NAN, 1e300, 0.0, -5.0], &mut again);
    run.evaluate(&[0.1, 0.2, 0.3, 0.4], &mut again);
    assert!(first.iter().zip(&again).all(|(a, b)| same(*a, *b)));
}
