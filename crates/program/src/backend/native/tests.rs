//! Machine code against the interpreter, bit for bit; `x86_64/disassembly.rs` checks our own against a
//! disassembler, instruction by instruction.

#[path = "../../../tests/main/support/recipe.rs"]
pub(super) mod recipe;

use pfaff_expr::{Expr, Graph, Role, Unary};
use proptest::bool::weighted;
use proptest::prelude::*;

use self::recipe::{
    Arguments, Expressions, Mix, Recipe, Size, arguments, cases, draw, recipe, same,
};

use super::MachineCode;
#[cfg(feature = "cranelift")]
use super::cranelift::{self, Allocator, CraneliftTarget};
#[cfg(all(target_arch = "x86_64", unix))]
use super::x86_64::{self, InstructionSet};
use crate::{Lanes, NativeCode, Program};

/// A kind of code that this processor runs.
#[derive(Clone, Copy, Debug)]
enum CodeKind {
    #[cfg(all(target_arch = "x86_64", unix))]
    Own(InstructionSet),
    #[cfg(feature = "cranelift")]
    Cranelift(CraneliftTarget),
}

impl CodeKind {
    /// All of them; without those that take long to compile, which are left out of most of many programs.
    fn all(with_slow: bool) -> Vec<Self> {
        let mut kinds = Vec::new();
        #[cfg(all(target_arch = "x86_64", unix))]
        kinds.extend(x86_64::instruction_sets().map(Self::Own));
        #[cfg(feature = "cranelift")]
        for allocator in Allocator::ALL {
            for multiply_add in [cranelift::has_multiply_add(), false] {
                kinds.push(Self::Cranelift(CraneliftTarget { allocator, multiply_add }));
            }
        }
        kinds.retain(|kind| kind.is_quick() || with_slow);
        kinds
    }

    fn is_quick(self) -> bool {
        match self {
            #[cfg(all(target_arch = "x86_64", unix))]
            Self::Own(_) => true,
            #[cfg(feature = "cranelift")]
            Self::Cranelift(_) => false,
        }
    }

    fn native(self, program: &Program, lanes: Lanes) -> NativeCode {
        let tape = &program.tape;
        let written = match self {
            #[cfg(all(target_arch = "x86_64", unix))]
            Self::Own(isa) => x86_64::write(tape, lanes, isa),
            #[cfg(feature = "cranelift")]
            Self::Cranelift(target) => cranelift::write_for(tape, lanes, target),
        };
        let code = MachineCode::place(tape, lanes, written.expect("the tape is short"));
        NativeCode::with_code(tape, code.expect("there is memory"), lanes)
    }
}

pub(super) fn program(recipe: &Recipe) -> Program {
    let Expressions { graph, inputs, parameters, outputs } = recipe.build();
    Program::compile(&graph, &inputs, &parameters, &outputs).expect("every symbol is given")
}

/// Code of every kind that this processor runs has the bits of the interpreter.
fn check(program: &Program, with_slow: bool, arguments: &Arguments) {
    for program in [program.clone(), program.clone().fused()] {
        for kind in CodeKind::all(with_slow) {
            for lanes in Lanes::ALL {
                check_one(&program, kind, lanes, arguments.clone());
            }
        }
    }
}

fn check_one(program: &Program, kind: CodeKind, lanes: Lanes, mut arguments: Arguments) {
    let native = kind.native(program, lanes);
    let count = lanes.count();
    let p = arguments.take(program.parameters() * count);
    let mut run = native.start(&vec![0.5; program.parameters()]);
    run.set_parameters(&p);
    for _ in 0..2 {
        let x = arguments.take(program.inputs() * count);
        let mut found = vec![f64::NAN; program.outputs() * count];
        run.evaluate(&x, &mut found);
        for l in 0..count {
            let lane = |all: &[f64]| -> Vec<f64> {
                all.iter().skip(l).step_by(count).copied().collect()
            };
            let mut expected = vec![0.0; program.outputs()];
            program.interpreter(&lane(&p)).evaluate(&lane(&x), &mut expected);
            for (o, (a, b)) in lane(&found).into_iter().zip(expected).enumerate() {
                assert!(
                    same(a, b),
                    "{kind:?}, {lanes:?}, lane {l}, output {o}: {a:e} and {b:e} at {:?}, {:?}\n{program}",
                    lane(&x),
                    lane(&p)
                );
            }
        }
    }
}

/// Recipes of the three mixes that machine code is tested with.
pub(super) fn recipes(size: Size) -> impl Strategy<Value = Recipe> {
    prop_oneof![
        recipe(Mix::All, size.clone()),
        recipe(Mix::Own, size.clone()),
        recipe(Mix::Smooth, size),
    ]
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn random_programs_have_the_bits_of_the_interpreter(
        recipe in recipes(Size { inputs: 1..7, operations: 1..61, reach: 12 }),
        with_slow in weighted(0.1),
        arguments in arguments(),
    ) {
        check(&program(&recipe), with_slow, &arguments);
    }
}

proptest! {
    #![proptest_config(cases(30))]

    // Operands from everywhere keep hundreds of values alive.
    #[test]
    fn many_values_at_once_are_spilled_and_found_again(
        recipe in recipes(Size { inputs: 1..301, operations: 400..801, reach: 100_000 }),
        with_slow in weighted(0.1),
        arguments in arguments(),
    ) {
        check(&program(&recipe), with_slow, &arguments);
    }
}

#[test]
fn two_hundred_products_wait_for_their_sum() {
    let g = Graph::new();
    let x: Vec<Expr> = (0..250).map(|i| g.symbol(&format!("x{i}"), Role::Free)).collect();
    let products: Vec<Expr> = (0..250).map(|i| g.mul(x[i], x[(i + 7) % 250])).collect();
    let call = g.unary(Unary::Tanh, products[3]);
    let forwards = products.iter().fold(call, |s, &p| g.add(s, p));
    let backwards = products.iter().rev().fold(call, |s, &p| g.div(s, p));
    let program = Program::compile(&g, &x, &[], &[forwards, backwards]).unwrap();
    check(&program, true, &draw(arguments(), 1)[0]);
}

#[test]
fn programs_may_be_empty_or_only_copy() {
    let g = Graph::new();
    let (x, p) = (g.symbol("x", Role::Free), g.symbol("p", Role::Parameter));
    for outputs in [&[][..], &[x], &[p, x, g.pi(), x, g.sqrt(p), g.zero()]] {
        let program = Program::compile(&g, &[x], &[p], outputs).unwrap();
        check(&program, true, &draw(arguments(), 1)[0]);
    }
}

/// Where the system gives no executable page, at whichever compilation, the interpreter does the work, with its bits.
#[test]
fn refused_pages_leave_the_interpreter() {
    use super::machine_code::LEFT;
    use crate::{Backend, Executor};
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let y = g.add(g.sin(x), g.pow(x, g.integer(3)));
    let program = Program::compile(&g, &[x], &[], &[y]).unwrap();
    let mut expected = [0.0];
    program.interpreter(&[]).evaluate(&[0.3], &mut expected);
    for given in 0..3 {
        LEFT.set(given);
        for attempt in 0..3 {
            let code = program.native_code(Lanes::Four, Backend::Native);
            let has_code = Backend::Native.is_available() && attempt < given;
            assert_eq!(code.is_some(), has_code, "{given} pages, attempt {attempt}");
        }
        for backend in Backend::ALL {
            for mut executor in [program.executor(&[], backend), program.tiered(&[], backend)] {
                let mut found = [0.0];
                (0..20_000).for_each(|_| executor.evaluate(&[0.3], &mut found));
                assert!(!matches!(executor, Executor::Native(_)), "{backend:?}");
                assert_eq!(found[0].to_bits(), expected[0].to_bits(), "{backend:?}");
            }
        }
    }
    LEFT.set(usize::MAX);
}
