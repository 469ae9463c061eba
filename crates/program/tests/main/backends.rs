//! Executors against each other: machine code, interpreter and batch have the same bits, rounding
//! multiply-adds twice or once.

use pfaff_expr::{Expr, Graph, Role, Unary};
use pfaff_program::{
    Backend, BatchInterpreter, Executor, Interpreter, Lanes, NativeCode, NativeExecutor,
    Program,
};

use crate::support::{
    HARD, Mix, Size, argument, arguments, codes, draw, operations, recipe, same,
};

/// The interpreter, and machine code by every backend that is available.
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
    for (number, executor) in executors.iter_mut().enumerate().skip(1) {
        let mut found = vec![0.0; outputs];
        executor.evaluate(x, &mut found);
        let equal = expected.iter().zip(&found).all(|(a, b)| same(*a, *b));
        assert!(equal, "executor {number} at {x:?}: {expected:?} {found:?}\n{program}");
    }
}

/// Machine code takes over after some evaluations, in a copy too, with the same bits before and after;
/// parameters changed before stay changed. A program without instructions is never compiled.
#[test]
fn a_tiered_executor_switches_to_machine_code() {
    let g = Graph::new();
    let [x, k] = [("x", Role::Free), ("k", Role::Parameter)].map(|(n, r)| g.symbol(n, r));
    let program = Program::compile(&g, &[x], &[k], &[g.mul(k, g.sin(x)), x]).unwrap();
    for backend in Backend::ALL {
        let mut interpreter = program.executor(&[3.0], Backend::Interpreter);
        let mut tiered = program.tiered(&[2.0], backend);
        tiered.set_parameters(&[3.0]);
        let mut copy = tiered.clone();
        let has_code = program.native_code(Lanes::One, backend).is_some();
        for (run, name) in [(&mut tiered, "first"), (&mut copy, "copy")] {
            assert!(matches!(run, Executor::Tiered(_)), "{name}");
            for i in 0..10_000 {
                let at = 0.37 * f64::from(i);
                let (mut ours, mut theirs) = ([0.0; 2], [0.0; 2]);
                run.evaluate(&[at], &mut ours);
                interpreter.evaluate(&[at], &mut theirs);
                assert_eq!(ours.map(f64::to_bits), theirs.map(f64::to_bits), "{name} at {at}");
            }
            assert_eq!(matches!(run, Executor::Native(_)), has_code, "{name}");
        }
        let mut promoted = program.tiered(&[3.0], backend);
        promoted.promote();
        let at_once = backend == Backend::Native && has_code;
        assert_eq!(matches!(promoted, Executor::Native(_)), at_once, "{backend:?}");
        let copying = Program::compile(&g, &[x], &[], &[x]).unwrap();
        let mut empty = copying.tiered(&[], backend);
        (0..20_000).for_each(|_| empty.evaluate(&[1.0], &mut [0.0]));
        assert!(matches!(empty, Executor::Tiered(_)));
    }
}

#[test]
fn the_backend_that_is_named_is_used() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[g.sin(x)]).unwrap();
    for backend in Backend::ALL {
        // The interpreter takes the place of what is not available.
        let used = if backend.is_available() { backend } else { Backend::Interpreter };
        let has_code = program.native_code(Lanes::Four, backend).is_some();
        assert_eq!(has_code, used != Backend::Interpreter, "{backend:?}");
        let mut executor = program.executor(&[], backend);
        assert!(match used {
            Backend::Interpreter => matches!(executor, Executor::Interpreted(_)),
            Backend::Native => matches!(executor, Executor::Native(_)),
            Backend::Cranelift => matches!(executor, Executor::Tiered(_)),
        });
        // Cranelift compiles once it is worth it: not before 500 evaluations, before 10 000 in any case.
        let is_native = |e: &Executor| matches!(e, Executor::Native(_));
        (0..500).for_each(|_| executor.evaluate(&[0.3], &mut [0.0]));
        assert_eq!(is_native(&executor), used == Backend::Native, "{backend:?}");
        (0..10_000).for_each(|_| executor.evaluate(&[0.3], &mut [0.0]));
        assert_eq!(is_native(&executor), used != Backend::Interpreter, "{backend:?}");
    }
}

#[test]
fn the_fastest_backend_that_is_available_is_the_default() {
    let available: Vec<Backend> =
        Backend::ALL.into_iter().filter(|b| b.is_available()).collect();
    assert_eq!(available[0], Backend::Interpreter);
    assert_eq!(available.contains(&Backend::Cranelift), cfg!(feature = "cranelift"));
    #[cfg(all(target_arch = "x86_64", unix))]
    assert_eq!(
        available.contains(&Backend::Native),
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
    );
    let fastest = available.get(1).copied().unwrap_or(Backend::Interpreter);
    assert_eq!(Backend::default(), fastest);
}

#[test]
fn each_operation_on_hard_arguments_has_the_same_bits() {
    let g = Graph::new();
    let symbols = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
    let mut arguments = HARD.to_vec();
    arguments.extend(draw(-6.0..6.0, 20));
    let mut thirds = draw(argument(), 997).into_iter().cycle();
    for operation in operations(&g, symbols) {
        let plain = Program::compile(&g, &symbols, &[], &[operation]).unwrap();
        let second = if g.contains(operation, &[symbols[1]]) { &arguments[..] } else { &[0.0] };
        for program in [plain.clone(), plain.fused()] {
            let mut all = executors(&program, &[]);
            for (&a, &b) in arguments.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
                let third = thirds.next().expect("it goes on for ever");
                check(&mut all, &[a, b, third], 1, &program);
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
    let mut arguments = draw(arguments(), 1).remove(0);
    for program in [plain.clone(), plain.fused()] {
        for lanes in Lanes::ALL {
            let count = lanes.count();
            let mut batch = program.batch_interpreter(count, &[]);
            let mut runs: Vec<(Backend, NativeExecutor)> =
                codes(&program, lanes).map(|(b, native)| (b, native.start(&[]))).collect();
            let mut expected = vec![0.0; all.len() * count];
            let mut found = expected.clone();
            for _ in 0..300 {
                let x = arguments.take(3 * count);
                batch.evaluate(&x, &mut expected);
                for (backend, run) in &mut runs {
                    run.evaluate(&x, &mut found);
                    for (i, (&a, &b)) in found.iter().zip(&expected).enumerate() {
                        let output = i / count;
                        assert!(
                            same(a, b),
                            "{backend:?}, {lanes:?}, output {output}: {a:e} {b:e}"
                        );
                    }
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
    let mut arguments = draw(arguments(), 1).remove(0);
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
                let x = arguments.take(40);
                check(&mut all, &x, outputs.len(), &program);
            }
        }
    }
}

/// A program of so many random operations on four inputs.
fn some_program(operations: usize) -> Program {
    let size = Size { inputs: 4..5, operations: operations..operations + 1, reach: 12 };
    draw(recipe(Mix::All, size), 1).remove(0).build().compile()
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
    let program = some_program(50);
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
    // Pages without a file and without a name: the code of each backend and width; the system shows neighbours as one.
    let anonymous = flags.iter().filter(|line| line.split_whitespace().count() == 5).count();
    assert!(anonymous >= usize::from(!runs.is_empty()), "{flags:?}");
    for run in &mut runs {
        let lanes = run.lanes().count();
        run.evaluate(&vec![0.5; 4 * lanes], &mut vec![0.0; program.outputs() * lanes]);
    }
}

#[test]
fn threads_share_code() {
    let program = some_program(200);
    let (p, x) = ([0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8]);
    let mut expected = vec![0.0; program.outputs()];
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
