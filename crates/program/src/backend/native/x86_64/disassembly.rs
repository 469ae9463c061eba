//! Checks the emitted bytes with a disassembler that is not ours.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, Instruction as Decoded, OpKind, Register};
use pfaff_expr::{Expr, Graph, Role};

use super::assembler::Width;
use super::constants;
use super::emitter::{EmittedCode, InstructionSet, emit, is_within_reach};
use super::row_loop::emit_loop;
use super::target;
use crate::backend::native::tests::recipe::{Size, draw};
use crate::backend::native::tests::{program, recipes};
use crate::backend::row_plan::{LoopShape, TermPlace};
use crate::{Lanes, Program};

#[test]
fn every_instruction_reads_as_it_is_meant() {
    let mut names = BTreeSet::new();
    let short = draw(recipes(Size { inputs: 1..7, operations: 1..81, reach: 12 }), 270);
    let long = Size { inputs: 300..301, operations: 500..501, reach: 100_000 };
    for recipe in short.iter().chain(&draw(recipes(long), 30)) {
        let plain = program(recipe);
        for program in [plain.clone(), plain.fused()] {
            for isa in [InstructionSet::Avx2, InstructionSet::Avx512] {
                for lanes in Lanes::ALL {
                    let target = target(lanes, isa);
                    let emitted = emit(&program.tape, target).expect("the tape is short");
                    read_back(&emitted, target.pool_row(), &mut names);
                }
            }
        }
    }
    // Enough of them have been seen: the test is not empty.
    for name in ["vfnmadd231sd", "vblendmpd", "vblendvpd", "kortestb", "vsqrtpd", "vmovmskpd"] {
        assert!(names.contains(name), "{name} among {names:?}");
    }
}

/// Loops over rows, with operands near and far, sums, rows and kept values, with a call out of the loop and without.
#[test]
fn every_instruction_of_a_loop_reads_as_it_is_meant() {
    let g = Graph::new();
    let x: Vec<Expr> = (0..9).map(|i| g.symbol(&format!("x{i}"), Role::Free)).collect();
    let first = g.div(g.one(), g.add(g.mul(x[0], x[1]), x[2]));
    let mut names = BTreeSet::new();
    for angle in [g.mul(x[3], x[4]), g.sin(g.sub(x[3], x[4]))] {
        let outputs = [g.mul(first, angle), angle, x[5], g.add(x[7], x[8]), g.neg(first)];
        let program = Program::compile(&g, &x, &[], &outputs).unwrap().fused();
        let varying: Vec<usize> = (0..9).filter(|&i| i != 6).collect();
        let run = |group, distance| Some((group, distance));
        let loads = vec![run(0, 0), None, run(0, 7), run(1, 0), run(1, 1 << 20)];
        let loads = [loads, vec![run(2, 0), None, run(2, -3)]].concat();
        let terms = vec![
            TermPlace::Sum,
            TermPlace::Run(0, 1000),
            TermPlace::Run(2, 64),
            TermPlace::Kept,
            TermPlace::Nowhere,
        ];
        let shape = LoopShape { loads, terms, groups: 3 };
        for isa in [InstructionSet::Avx2, InstructionSet::Avx512] {
            let target = target(Lanes::Eight, isa);
            let emitted = emit_loop(&program.tape, target, &shape, &varying).unwrap();
            read_back(&emitted, target.pool_row(), &mut names);
        }
    }
    for name in ["cmove", "cmp", "add", "sub", "mov", "jne"] {
        assert!(names.contains(name), "{name} among {names:?}");
    }
}

/// Disassembles the code and compares each instruction with what the assembler noted.
fn read_back(emitted: &EmittedCode, row: usize, names: &mut BTreeSet<String>) {
    let assembler = &emitted.assembler;
    let pool_start = assembler.code.len().saturating_sub(constants::rows().len() * row);
    let end = assembler.end;
    let mut decoder = Decoder::with_ip(64, &assembler.code[..end], 0, DecoderOptions::NONE);
    for (offset, meant) in &assembler.meant {
        let instruction = decoder.decode();
        assert_eq!(instruction.ip() as usize, *offset, "{meant}");
        let read = text(&instruction, pool_start, row, &|at| assembler.label_at(at));
        assert_eq!(&read, meant);
        names.insert(read.split(' ').next().unwrap_or_default().to_owned());
    }
    assert_eq!(decoder.position(), end);
}

/// The instruction in the words of the assembler.
fn text(i: &Decoded, pool: usize, row: usize, label: &dyn Fn(usize) -> String) -> String {
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    let lower = |r: Register| format!("{r:?}").to_lowercase();
    let operand = |n: u32| match i.op_kind(n) {
        OpKind::Register => lower(i.op_register(n)),
        OpKind::Memory if i.memory_base() == Register::RIP => {
            let distance = i.memory_displacement64() as usize - pool;
            assert_eq!(distance % row, 0);
            let spread = if i.is_broadcast() { "{1to8}" } else { "" };
            format!("[pool {}]{spread}", distance / row)
        }
        OpKind::Memory => {
            assert_eq!(i.memory_index(), Register::None);
            format!("[{}{:+}]", lower(i.memory_base()), i.memory_displacement64().cast_signed())
        }
        OpKind::NearBranch64 => label(i.near_branch64() as usize),
        _ => format!("{:#x}", i.immediate(n)),
    };
    let mut operands: Vec<String> = (0..i.op_count()).map(operand).collect();
    if i.op_mask() != Register::None {
        operands[0] = format!("{} {{{}}}", operands[0], lower(i.op_mask()));
    }
    if i.zeroing_masking() {
        operands[0] += "{z}";
    }
    if operands.is_empty() { name } else { format!("{name} {}", operands.join(", ")) }
}

#[test]
fn several_states_have_their_angles_first() {
    let g = Graph::new();
    let x: Vec<Expr> = (0..6).map(|i| g.symbol(&format!("x{i}"), Role::Free)).collect();
    // Each quotient waits for the one before, and has an angle of its own.
    let last = x.iter().fold(g.one(), |q, &x| g.div(g.sin(g.mul(x, x)), q));
    let program = Program::compile(&g, &x, &[], &[last]).unwrap();
    for lanes in [Lanes::Four, Lanes::Eight] {
        let emitted = emit(&program.tape, target(lanes, InstructionSet::Avx512)).unwrap();
        let meant: Vec<&str> =
            emitted.assembler.meant.iter().map(|(_, text)| text.as_str()).collect();
        let first_quotient = meant.iter().position(|text| text.starts_with("vdivpd")).unwrap();
        let angles = meant[..first_quotient].iter().filter(|text| text.starts_with("call"));
        assert_eq!(angles.count(), x.len(), "{lanes:?}");
    }
}

#[test]
fn constants_of_eight_lanes_take_one_double_each() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let program = Program::compile(&g, &[x], &[], &[g.sin(x)]).unwrap();
    for (lanes, row) in [(Lanes::One, 32), (Lanes::Four, 32), (Lanes::Eight, 8)] {
        let emitted = emit(&program.tape, target(lanes, InstructionSet::Avx512)).unwrap();
        let assembler = &emitted.assembler;
        let start = assembler.end.next_multiple_of(64);
        assert_eq!(assembler.code.len() - start, constants::rows().len() * row, "{lanes:?}");
    }
}

/// Displacements of one byte reach 127 bytes, or as many registers; inputs, outputs and what is put aside at these
/// edges are read where they are, and code of every length reaches its constants.
#[test]
fn displacements_change_their_length_at_the_edges() {
    let g = Graph::new();
    let mut names = BTreeSet::new();
    for count in
        [1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 257, 520]
    {
        let x: Vec<Expr> = (0..count).map(|i| g.symbol(&format!("x{i}"), Role::Free)).collect();
        // All products wait for the last input, so that they are put aside.
        let products: Vec<Expr> = x.iter().map(|&a| g.mul(a, x[count - 1])).collect();
        let outputs: Vec<Expr> = products.iter().map(|&p| g.add(p, products[0])).collect();
        let program = Program::compile(&g, &x, &[], &outputs).unwrap();
        for isa in [InstructionSet::Avx2, InstructionSet::Avx512] {
            for lanes in Lanes::ALL {
                let target = target(lanes, isa);
                let emitted = emit(&program.tape, target).expect("the tape is short");
                read_back(&emitted, target.pool_row(), &mut names);
            }
        }
    }
    assert!(names.contains("vmulsd") && names.contains("vmulpd"), "{names:?}");
}

#[test]
fn what_is_out_of_reach_is_not_compiled() {
    for stride in [8, 32, 64] {
        // Two doubles a row are counted, of which rows before the middle are half.
        let most = (i32::MAX as usize) / (2 * stride as usize);
        assert!(is_within_reach(0, most, stride));
        assert!(!is_within_reach(0, most + 1, stride));
        assert!(!is_within_reach(1, most, stride));
        assert!(!is_within_reach(usize::MAX, 1, stride));
        assert!(!is_within_reach(1, usize::MAX, stride));
    }
    assert!(is_within_reach(1 << 24, 0, 8));
    assert!(!is_within_reach((1 << 24) + 1, 0, 8));
}

#[test]
fn widths_are_those_of_registers() {
    assert_eq!(target(Lanes::Eight, InstructionSet::Avx2).width, Width::Ymm);
    assert_eq!(target(Lanes::Eight, InstructionSet::Avx512).lanes, 8);
}
