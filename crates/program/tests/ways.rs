//! A preferred way is taken by everything that evaluates. One test: the preference is one for the whole process.

use pfaff_expr::{Graph, Role};
use pfaff_program::{Backend, Executor, Lanes, Options, Program};

#[test]
fn a_preferred_way_is_taken() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[g.sin(x)]).unwrap();
    let best = Backend::best();
    for way in Backend::ALL {
        Backend::prefer(Some(way));
        // What is not here is replaced by the tape, not by another way.
        let taken = if way.is_available() { way } else { Backend::Interpreter };
        assert_eq!(Backend::best(), taken);
        assert_eq!(
            program.native(Lanes::Four).is_some(),
            taken != Backend::Interpreter,
            "{way:?}"
        );
        let bytes = |native: Option<pfaff_program::NativeCode>| native.map(|n| n.bytes());
        let expected = bytes(program.native_with(taken, Lanes::One));
        assert_eq!(bytes(program.native(Lanes::One)), expected, "{way:?}");
        let mut executor = program.executor(&[], Options::default());
        let mut gradual = program.tiered(&[]);
        gradual.promote();
        // Cranelift's code is written once it is worth it: not before 500 evaluations, before 10 000 in any case.
        for _ in 0..500 {
            executor.evaluate(&[0.3], &mut [0.0]);
        }
        let is_native = |e: &Executor| matches!(e, Executor::Native(_));
        assert_eq!(is_native(&executor), taken == Backend::Native, "{way:?}");
        assert_eq!(is_native(&gradual), taken == Backend::Native, "{way:?}");
        for _ in 0..10_000 {
            executor.evaluate(&[0.3], &mut [0.0]);
        }
        assert_eq!(is_native(&executor), taken != Backend::Interpreter, "{way:?}");
        let tape = program.executor(&[], Options { native: false });
        assert!(matches!(tape, Executor::Interpreted(_)));
    }
    Backend::prefer(None);
    assert_eq!(Backend::best(), best);
}
