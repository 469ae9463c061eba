//! InstructionSet code against the interpreter, bit for bit; our own against a disassembler, instruction by instruction.

use pfaff_expr::{Binary, Expr, Graph, Relation, Role, Table, Unary};

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
    /// All of them; Cranelift takes a thousand times as long to write code, and is left out of most programs
    /// of long lists.
    fn of(number: usize) -> Vec<Self> {
        let mut kinds = Vec::new();
        #[cfg(all(target_arch = "x86_64", unix))]
        kinds.extend(x86_64::instruction_sets().map(Self::Own));
        #[cfg(feature = "cranelift")]
        for allocator in Allocator::ALL {
            for multiply_add in [cranelift::has_multiply_add(), false] {
                kinds.push(Self::Cranelift(CraneliftTarget { allocator, multiply_add }));
            }
        }
        kinds.retain(|kind| kind.is_quick() || number.is_multiple_of(10));
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
            Self::Own(machine) => x86_64::write(tape, lanes, machine),
            #[cfg(feature = "cranelift")]
            Self::Cranelift(target) => cranelift::write_for(tape, lanes, target),
        };
        let code = MachineCode::place(tape, lanes, written.expect("the tape is short"));
        NativeCode::with_code(tape, code.expect("there is memory"), lanes)
    }
}

/// SplitMix64: the same numbers in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    fn argument(&mut self) -> f64 {
        const HARD: [f64; 16] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            -5e-324,
            1e160,
            1e8,
            -1.000_000_1e8,
            1e22,
            std::f64::consts::FRAC_PI_2,
            45.553_093_477_052,
        ];
        if self.below(8) == 0 {
            HARD[self.below(HARD.len())]
        } else {
            (self.bits() >> 11) as f64 / (1u64 << 53) as f64 * 6.0 - 3.0
        }
    }
}

/// What random programs are made of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mix {
    /// Everything.
    All,
    /// Only what has instructions of its own.
    Own,
    /// Products, sums and angles.
    Smooth,
}

pub(super) struct Sample {
    pub(super) program: Program,
    text: String,
}

/// `inputs` inputs, three parameters, some `size` operations, of which the last `recent` are preferred as operands.
pub(super) fn sample(
    random: &mut Random,
    mix: Mix,
    [inputs, size, recent]: [usize; 3],
) -> Sample {
    let g = Graph::new();
    let symbol = |name: String, role| g.symbol(&name, role);
    let x: Vec<Expr> = (0..inputs).map(|i| symbol(format!("x{i}"), Role::Free)).collect();
    let p: Vec<Expr> = (0..3).map(|i| symbol(format!("p{i}"), Role::Parameter)).collect();
    let numbers = [g.fraction(1, 3), g.pi(), g.integer(-2)];
    let mut pool = [&x[..], &p, &numbers].concat();
    for _ in 0..size {
        let made = operation(&g, random, &pool, mix, recent);
        pool.push(made);
    }
    let count = 1 + random.below(8);
    let outputs: Vec<Expr> =
        (0..count).map(|_| pool[pool.len() - 1 - random.below(size.max(1))]).collect();
    let program = Program::compile(&g, &x, &p, &outputs).expect("every symbol is given");
    let text = program.to_string();
    Sample { program, text }
}

fn operation(g: &Graph, random: &mut Random, pool: &[Expr], mix: Mix, recent: usize) -> Expr {
    let mut operand = || {
        let late = pool.len() - 1 - random.below(pool.len().min(recent));
        let any = random.below(pool.len());
        pool[if random.below(3) > 0 { late } else { any }]
    };
    let (a, b, c) = (operand(), operand(), operand());
    let relations = [Relation::Less, Relation::LessEqual, Relation::Equal, Relation::NotEqual];
    let kinds = match mix {
        Mix::All => 24,
        Mix::Own => 20,
        Mix::Smooth => 12,
    };
    match random.below(kinds) {
        0 => g.add(a, b),
        1 => g.sub(a, b),
        2 => g.mul(a, b),
        3 => g.div(a, b),
        4 => g.neg(a),
        5 => g.add(g.mul(a, b), c),
        6 => g.sub(g.mul(a, b), c),
        7 => g.sub(c, g.mul(a, b)),
        8 => g.pow(a, g.integer([2, 3, 5, -2][random.below(4)])),
        9 => g.sin(a),
        10 => g.cos(a),
        11 => g.mul(g.sin(a), g.cos(a)),
        12 => g.sqrt(a),
        13 => g.unary(Unary::Abs, a),
        14 | 15 => g.choose(g.compare(relations[random.below(4)], a, b), c, b),
        16 => g.logic_not(g.compare(relations[random.below(4)], a, b)),
        17 => g.logic_and(a, b),
        18 => g.logic_or(a, b),
        19 => g.choose(a, b, c),
        20 => g.pow(a, b),
        21 => g.unary(Unary::ALL[random.below(Unary::ALL.len())], a),
        22 => g.binary(Binary::ALL[random.below(Binary::ALL.len())], a, b),
        _ => g.table(wave(), a),
    }
}

/// Data on [-4, 4].
fn wave() -> Table {
    let x: Vec<f64> = (-8..=8).map(|i| 0.5 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x - 1.0 / (1.0 + x * x)).collect();
    Table::new("wave.csv", "y", &x, &y).expect("the rows grow")
}

/// Equal bits; what is not a number has no bits of its own.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Code of every kind that this processor runs has the bits of the interpreter.
fn check(sample: &Sample, number: usize, random: &mut Random) {
    for program in [sample.program.clone(), sample.program.clone().fused()] {
        for kind in CodeKind::of(number) {
            for lanes in Lanes::ALL {
                check_one(&program, kind, lanes, random, &sample.text);
            }
        }
    }
}

fn check_one(program: &Program, kind: CodeKind, lanes: Lanes, random: &mut Random, text: &str) {
    let native = kind.native(program, lanes);
    let count = lanes.count();
    let mut of = |n: usize| -> Vec<f64> { (0..n).map(|_| random.argument()).collect() };
    let p = of(program.parameters() * count);
    let mut run = native.start(&vec![0.5; program.parameters()]);
    run.set_parameters(&p);
    for _ in 0..2 {
        let x = of(program.inputs() * count);
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
                    "{kind:?}, {lanes:?}, lane {l}, output {o}: {a:e} and {b:e} at {:?}, {:?}\n{text}",
                    lane(&x),
                    lane(&p)
                );
            }
        }
    }
}

#[test]
fn random_programs_have_the_bits_of_the_interpreter() {
    let mut random = Random(1);
    for i in 0..1_500 {
        let mix = [Mix::All, Mix::Own, Mix::Smooth][i % 3];
        let shape = [1 + random.below(6), 1 + random.below(60), 12];
        check(&sample(&mut random, mix, shape), i, &mut random);
    }
}

#[test]
fn many_values_at_once_are_put_aside_and_found_again() {
    let mut random = Random(2);
    for i in 0..30 {
        let mix = [Mix::All, Mix::Own, Mix::Smooth][i % 3];
        // Operands from everywhere keep hundreds of values alive.
        let shape = [1 + random.below(300), 400 + random.below(400), 100_000];
        check(&sample(&mut random, mix, shape), i, &mut random);
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
    let text = program.to_string();
    check(&Sample { program, text }, 0, &mut Random(3));
}

#[test]
fn programs_may_be_empty_or_only_copy() {
    let g = Graph::new();
    let (x, p) = (g.symbol("x", Role::Free), g.symbol("p", Role::Parameter));
    for outputs in [&[][..], &[x], &[p, x, g.pi(), x, g.sqrt(p), g.zero()]] {
        let program = Program::compile(&g, &[x], &[p], outputs).unwrap();
        let text = program.to_string();
        check(&Sample { program, text }, 0, &mut Random(4));
    }
}
