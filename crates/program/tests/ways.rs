//! A preferred way is taken by everything that evaluates. One test: the preference is one for the whole process.

use pfaff_expr::{Graph, Role};
use pfaff_program::{Executor, Lanes, Options, Program, Way};

#[test]
fn a_preferred_way_is_taken() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[g.sin(x)]).unwrap();
    let best = Way::best();
    for way in Way::ALL {
        Way::prefer(Some(way));
        // What is not here is replaced by the tape, not by another way.
        let taken = if way.is_here() { way } else { Way::Tape };
        assert_eq!(Way::best(), taken);
        assert_eq!(program.native(Lanes::Four).is_some(), taken != Way::Tape, "{way:?}");
        let bytes = |native: Option<pfaff_program::Native>| native.map(|n| n.bytes());
        let expected = bytes(program.native_by(taken, Lanes::One));
        assert_eq!(bytes(program.native(Lanes::One)), expected, "{way:?}");
        let mut executor = program.executor(&[], Options::default());
        let mut gradual = program.gradual(&[]);
        gradual.hasten();
        // Cranelift's code is written once it is worth it: not before 500 evaluations, before 10 000 in any case.
        for _ in 0..500 {
            executor.evaluate(&[0.3], &mut [0.0]);
        }
        let is_native = |e: &Executor| matches!(e, Executor::Native(_));
        assert_eq!(is_native(&executor), taken == Way::Native, "{way:?}");
        assert_eq!(is_native(&gradual), taken == Way::Native, "{way:?}");
        for _ in 0..10_000 {
            executor.evaluate(&[0.3], &mut [0.0]);
        }
        assert_eq!(is_native(&executor), taken != Way::Tape, "{way:?}");
        let tape = program.executor(&[], Options { native: false });
        assert!(matches!(tape, Executor::Interpreted(_)));
    }
    Way::prefer(None);
    assert_eq!(Way::best(), best);
}
