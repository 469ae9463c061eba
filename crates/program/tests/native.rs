//! Executors against each other: machine code, interpreter and batch have the same bits, rounding
//! multiply-adds twice or once.

mod support;

use pfaff_expr::{Expr, Graph, Role, Unary};
use pfaff_program::{
    Backend, BatchInterpreter, Executor, Interpreter, Lanes, NativeCode, NativeExecutor,
    Options, Program,
};
use support::{HARD, Random, Sample, codes, operations, same};

/// By the tape, and by machine code in every way that is here.
fn executors(program: &Program, parameters: &[f64]) -> Vec<Executor> {
    let tape = Executor::Interpreted(program.interpreter(parameters));
    let by_code = codes(program, Lanes::One);
    let by_code = by_code.map(|(_, native)| Executor::Native(native.start(parameters)));
    std::iter::once(tape).chain(by_code).collect()
}

/// All executors give the bits of the first.
fn check(executors: &mut [Executor], x: &[f64], outputs: usize, program: &Program) {
    let mut expected = vec![0.0; outputs];
    executors[0].evaluate(x, &mut expected);
    for (way, executor) in executors.iter_mut().enumerate().skip(1) {
        let mut found = vec![0.0; outputs];
        executor.evaluate(x, &mut found);
        let equal = expected.iter().zip(&found).all(|(a, b)| same(*a, *b));
        assert!(equal, "executor {way} at {x:?}: {expected:?} {found:?}\n{program}");
    }
}

/// Machine code takes over after some evaluations, in a copy too, with the same bits before and after;
/// parameters changed before stay changed. A program without steps never gets any.
#[test]
fn a_gradual_executor_goes_over_to_machine_code() {
    let g = Graph::new();
    let [x, k] = [("x", Role::Free), ("k", Role::Parameter)].map(|(n, r)| g.symbol(n, r));
    let program = Program::compile(&g, &[x], &[k], &[g.mul(k, g.sin(x)), x]).unwrap();
    let mut tape = program.executor(&[3.0], Options { native: false });
    let mut gradual = program.tiered(&[2.0]);
    gradual.set_parameters(&[3.0]);
    let mut copy = gradual.clone();
    let there_is_code = program.native(Lanes::One).is_some();
    for (run, name) in [(&mut gradual, "first"), (&mut copy, "copy")] {
        assert!(matches!(run, Executor::Tiered(_)), "{name}");
        for i in 0..10_000 {
            let at = 0.37 * f64::from(i);
            let (mut ours, mut theirs) = ([0.0; 2], [0.0; 2]);
            run.evaluate(&[at], &mut ours);
            tape.evaluate(&[at], &mut theirs);
            assert_eq!(ours.map(f64::to_bits), theirs.map(f64::to_bits), "{name} at {at}");
        }
        assert_eq!(matches!(run, Executor::Native(_)), there_is_code, "{name}");
    }
    let mut hastened = program.tiered(&[3.0]);
    hastened.promote();
    assert_eq!(matches!(hastened, Executor::Native(_)), Backend::best() == Backend::Native);
    let mut empty = Program::compile(&g, &[x], &[], &[x]).unwrap().tiered(&[]);
    (0..20_000).for_each(|_| empty.evaluate(&[1.0], &mut [0.0]));
    assert!(matches!(empty, Executor::Tiered(_)));
}

#[test]
fn the_options_choose_the_executor() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[g.sin(x)]).unwrap();
    let [by_tape, by_code] =
        [false, true].map(|native| program.executor(&[], Options { native }));
    assert!(matches!(by_tape, Executor::Interpreted(_)));
    let there_is_code = program.native(Lanes::One).is_some();
    assert!(match Backend::best() {
        Backend::Interpreter => matches!(by_code, Executor::Interpreted(_)),
        Backend::Native => matches!(by_code, Executor::Native(_)),
        Backend::Cranelift => matches!(by_code, Executor::Tiered(_)),
    });
    assert!(Options::default().native);
    // The best way that is here comes first; a way gives code if it is here.
    let found: Vec<Backend> = codes(&program, Lanes::One).map(|(way, _)| way).collect();
    let here: Vec<Backend> = Backend::ALL.into_iter().filter(|w| w.is_available()).collect();
    assert_eq!(here, [&[Backend::Interpreter], &found[..]].concat());
    assert_eq!(there_is_code, !found.is_empty());
    assert!(!cfg!(feature = "cranelift") || found.contains(&Backend::Cranelift));
    assert!(cfg!(feature = "cranelift") || !found.contains(&Backend::Cranelift));
    #[cfg(all(target_arch = "x86_64", unix))]
    assert_eq!(
        found.contains(&Backend::Native),
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
    );
}

#[test]
fn each_operation_on_hard_arguments_has_the_same_bits() {
    let g = Graph::new();
    let symbols = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
    let mut random = Random(11);
    let mut arguments = HARD.to_vec();
    arguments.extend((0..20).map(|_| random.uniform(-6.0, 6.0)));
    for operation in operations(&g, symbols) {
        let plain = Program::compile(&g, &symbols, &[], &[operation]).unwrap();
        let second = if g.contains(operation, &[symbols[1]]) { &arguments[..] } else { &[0.0] };
        for program in [plain.clone(), plain.fused()] {
            let mut all = executors(&program, &[]);
            for (&a, &b) in arguments.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
                check(&mut all, &[a, b, random.argument()], 1, &program);
            }
        }
    }
}

#[test]
fn every_lane_has_the_bits_of_a_batch() {
    let g = Graph::new();
    let symbols = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
    let all = operations(&g, symbols);
    let plain = Program::compile(&g, &symbols, &[], &all).unwrap();
    let mut random = Random(12);
    for program in [plain.clone(), plain.fused()] {
        for lanes in Lanes::ALL {
            let count = lanes.count();
            let mut batch = program.batch_interpreter(count, &[]);
            let mut runs: Vec<(Backend, NativeExecutor)> =
                codes(&program, lanes).map(|(way, native)| (way, native.start(&[]))).collect();
            let mut expected = vec![0.0; all.len() * count];
            let mut found = expected.clone();
            for _ in 0..300 {
                let x: Vec<f64> = (0..3 * count).map(|_| random.argument()).collect();
                batch.evaluate(&x, &mut expected);
                for (way, run) in &mut runs {
                    run.evaluate(&x, &mut found);
                    for (i, (&a, &b)) in found.iter().zip(&expected).enumerate() {
                        let output = i / count;
                        assert!(same(a, b), "{way:?}, {lanes:?}, output {output}: {a:e} {b:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn fused_lanes_have_the_bits_of_a_fused_run() {
    let mut random = Random(13);
    for case in 0..300 {
        let size = 1 + random.below(80);
        let Sample { graph, inputs, parameters, outputs } =
            Sample::random(&mut random, size, true);
        let program = Program::compile(&graph, &inputs, &parameters, &outputs).unwrap().fused();
        for lanes in [1, 3, 8, 40] {
            let p = [0.5, 0.25, 2.0];
            let mut batch = program.batch_interpreter(lanes, &p);
            let x: Vec<f64> = (0..inputs.len() * lanes).map(|_| random.argument()).collect();
            let mut found = vec![f64::NAN; outputs.len() * lanes];
            batch.evaluate(&x, &mut found);
            for l in 0..lanes {
                let lane: Vec<f64> = x.iter().skip(l).step_by(lanes).copied().collect();
                let mut expected = vec![0.0; outputs.len()];
                program.interpreter(&p).evaluate(&lane, &mut expected);
                for (o, &b) in expected.iter().enumerate() {
                    let a = found[o * lanes + l];
                    assert!(same(a, b), "case {case}, lane {l} of {lanes}: {a:e} {b:e}");
                }
            }
        }
    }
}

#[test]
fn a_fused_product_is_not_rounded() {
    let g = Graph::new();
    let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
    // (1 + ε)² = 1 + 2ε + ε², whose last term is lost when the product is rounded.
    let ε = f64::EPSILON;
    for (output, sign) in [
        (g.add(g.mul(x, x), y), 1.0),
        (g.sub(g.mul(x, x), g.neg(y)), 1.0),
        (g.sub(g.neg(y), g.mul(x, x)), -1.0),
    ] {
        let program = Program::compile(&g, &[x, y], &[], &[output]).unwrap();
        for (program, expected) in [(program.clone().fused(), sign * ε * ε), (program, 0.0)] {
            for mut executor in executors(&program, &[]) {
                let mut found = [f64::NAN];
                executor.evaluate(&[1.0 + ε, -1.0 - 2.0 * ε], &mut found);
                assert_eq!(found[0], expected, "{program}");
            }
        }
    }
}

#[test]
fn other_parameters_reach_the_code() {
    let g = Graph::new();
    let (x, k) = (g.symbol("x", Role::Free), g.symbol("k", Role::Parameter));
    let output = g.add(g.mul(g.sqrt(k), x), g.unary(Unary::Tanh, k));
    let program = Program::compile(&g, &[x], &[k], &[output, k]).unwrap();
    for mut executor in executors(&program, &[4.0]) {
        let mut found = [0.0; 2];
        executor.set_parameters(&[9.0]);
        executor.evaluate(&[2.0], &mut found);
        assert_eq!(found, [6.0 + libm::tanh(9.0), 9.0]);
        let mut copy = executor.clone();
        executor.set_parameters(&[1.0]);
        copy.evaluate(&[1.0], &mut found);
        assert_eq!(found, [3.0 + libm::tanh(9.0), 9.0]);
    }
}

#[test]
fn angles_in_groups_have_the_bits_of_angles_alone() {
    let mut random = Random(14);
    for count in 1..40 {
        let g = Graph::new();
        let x: Vec<Expr> = (0..40).map(|i| g.symbol(&format!("x{i}"), Role::Free)).collect();
        let angle = |i: usize| match i % 4 {
            0 | 1 => x[i],
            2 => g.add(x[i], x[i - 1]),
            _ => g.mul(x[i], x[(7 * i) % 40]),
        };
        // Sines, cosines, both; then angles of those, which come later.
        let first: Vec<Expr> = (0..count)
            .map(|i| match i % 3 {
                0 => g.sin(angle(i)),
                1 => g.cos(angle(i)),
                _ => g.mul(g.sin(angle(i)), g.cos(angle(i))),
            })
            .collect();
        let second = first.iter().map(|&e| g.sin(g.add(e, x[0])));
        let outputs: Vec<Expr> = second.chain(first.iter().copied()).collect();
        let plain = Program::compile(&g, &x, &[], &outputs).unwrap();
        for program in [plain.clone(), plain.fused()] {
            let mut all = executors(&program, &[]);
            for _ in 0..30 {
                let x: Vec<f64> = (0..40).map(|_| random.argument()).collect();
                check(&mut all, &x, outputs.len(), &program);
            }
        }
    }
}

#[test]
fn executors_may_be_sent_to_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<NativeCode>();
    shared::<NativeExecutor>();
    shared::<Executor>();
    shared::<Interpreter>();
    shared::<BatchInterpreter>();
}

#[test]
#[cfg(target_os = "linux")]
fn no_page_is_writable_and_executable() {
    let Sample { graph, inputs, parameters, outputs } =
        Sample::random(&mut Random(15), 50, true);
    let program = Program::compile(&graph, &inputs, &parameters, &outputs).unwrap();
    let mut runs: Vec<NativeExecutor> = Lanes::ALL
        .into_iter()
        .flat_map(|lanes| codes(&program, lanes))
        .map(|(_, native)| native.start(&[1.0; 3]))
        .collect();
    let flags: Vec<String> = std::fs::read_to_string("/proc/self/maps")
        .expect("Linux has it")
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|flags| flags.contains('x')))
        .map(str::to_owned)
        .collect();
    let writable = |line: &&String| line.split(' ').nth(1).is_some_and(|f| f.contains('w'));
    assert_eq!(flags.iter().find(writable), None);
    // Pages without a file and without a name: the code of each way and width; the system shows neighbours as one.
    let anonymous = flags.iter().filter(|line| line.split_whitespace().count() == 5).count();
    assert!(anonymous >= usize::from(!runs.is_empty()), "{flags:?}");
    for run in &mut runs {
        let lanes = run.lanes().count();
        run.evaluate(&vec![0.5; 4 * lanes], &mut vec![0.0; outputs.len() * lanes]);
    }
}

#[test]
fn threads_share_code() {
    let Sample { graph, inputs, parameters, outputs } =
        Sample::random(&mut Random(16), 200, true);
    let program = Program::compile(&graph, &inputs, &parameters, &outputs).unwrap();
    let (p, x) = ([0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8]);
    let mut expected = vec![0.0; outputs.len()];
    program.interpreter(&p).evaluate(&x, &mut expected);
    std::thread::scope(|scope| {
        for (_, native) in
            codes(&program, Lanes::One).flat_map(|code| [(); 4].map(|()| code.clone()))
        {
            let expected = &expected;
            scope.spawn(move || {
                let mut run = native.start(&p);
                drop(native);
                for _ in 0..1_000 {
                    let mut found = vec![0.0; expected.len()];
                    run.evaluate(&x, &mut found);
                    assert!(found.iter().zip(expected).all(|(a, b)| same(*a, *b)));
                }
            });
        }
    });
}
