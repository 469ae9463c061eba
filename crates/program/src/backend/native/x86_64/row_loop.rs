//! A loop over blocks of rows: operands are read and results added where they stand in the list.
//!
//! ```text
//! fn(rows that hold one number: rdi, kept results: rsi, middle of the rows: rdx, table: rcx)
//! table: blocks, mask of all lanes, mask of the last block, sums, begin of each group
//! ```
//!
//! The body is that of [`emit`](super::emitter::emit). Results of lanes beyond the last row become 0 by the mask before
//! they are added. Pointers and counters are in registers that survive calls of the fallback of sine and cosine.

use std::sync::Arc;

use super::assembler::{
    Assembler, GeneralRegister, MachineOperand, R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBP,
    RBX, RCX, RSI, Width,
};
use super::emitter::{
    CodegenTarget, EmittedCode, Emitter, InstructionSet, SCRATCH, function_of,
};
use super::opcode::{ADD, AND};
use crate::backend::native::schedule::is_angle;
use crate::backend::row_plan::{LoopLimits, LoopShape, TermPlace};
use crate::tape::program::Tape;

/// What the table of a call begins with; the begins of groups follow.
pub(in crate::backend::native) const TABLE: usize = 4;

/// Registers that a call leaves alone: for the first groups, for the masks, and for the blocks that are left.
const KEPT_GROUPS: [GeneralRegister; 3] = [RBX, RBP, R13];
const MASK: GeneralRegister = R14;
const LAST_MASK: GeneralRegister = R15;
const LEFT: GeneralRegister = R12;
/// Registers for more groups where nothing is called; the table is read last.
const OTHER_GROUPS: [GeneralRegister; 6] = [R8, R9, R10, R11, RAX, RCX];

/// All registers that belong to the caller.
const SAVED: [GeneralRegister; 6] = [RBX, RBP, R12, R13, R14, R15];

/// Where the operands of a loop are read and its results added.
#[derive(Clone, Debug)]
pub(super) struct LoopPlaces {
    /// By output.
    pub(super) outputs: Vec<OutputPlace>,
}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum OutputPlace {
    Nowhere,
    /// Added to this register.
    Sum(u8),
    /// Added to memory.
    Memory(GeneralRegister, i32),
    /// Its row, as without a loop.
    Row,
}

/// What a loop over these terms may have; nothing if they cannot be in one.
pub(in crate::backend::native) fn limits(
    tape: &Tape,
    isa: InstructionSet,
) -> Option<LoopLimits> {
    if tape.per_evaluation.iter().any(|&i| function_of(i).is_some()) {
        return None;
    }
    let has_angles = tape.per_evaluation.iter().any(|&i| is_angle(i));
    let groups = KEPT_GROUPS.len() + if has_angles { 0 } else { OTHER_GROUPS.len() };
    let sums = match isa {
        InstructionSet::Avx2 => 4,
        InstructionSet::Avx512 => 12,
    };
    Some(LoopLimits { groups, sums })
}

/// The registers of sums: the last ones, or the first where sine and cosine have the last.
fn sum_registers(isa: InstructionSet) -> impl Iterator<Item = u8> {
    let registers: Vec<u8> = match isa {
        InstructionSet::Avx2 => (0..8).collect(),
        InstructionSet::Avx512 => (16..32).rev().collect(),
    };
    registers.into_iter()
}

fn group(which: usize) -> GeneralRegister {
    *KEPT_GROUPS.iter().chain(&OTHER_GROUPS).nth(which).expect("the plan keeps to the limits")
}

/// Writes the loop of a shape; `varying` are the arguments that its loads are.
pub(super) fn emit_loop(
    tape: &Arc<Tape>,
    target: CodegenTarget,
    shape: &LoopShape,
    varying: &[usize],
) -> Option<EmittedCode> {
    let double = size_of::<f64>() as i32;
    let mut sums = sum_registers(target.isa);
    let outputs: Vec<OutputPlace> = shape
        .terms
        .iter()
        .map(|&term| match term {
            TermPlace::Nowhere => OutputPlace::Nowhere,
            TermPlace::Sum => {
                OutputPlace::Sum(sums.next().expect("the plan keeps to the limits"))
            }
            TermPlace::Run(of, distance) => OutputPlace::Memory(group(of), distance * double),
            TermPlace::Kept => OutputPlace::Row,
        })
        .collect();
    let mut emitter = Emitter::new(tape, target)?;
    let taken = |o: &OutputPlace| if let OutputPlace::Sum(r) = o { 1 << r } else { 0 };
    emitter.registers.withhold(outputs.iter().map(taken).fold(0, |all, r: u32| all | r));
    for (&argument, load) in varying.iter().zip(&shape.loads) {
        if let Some((of, distance)) = load {
            emitter.registers.read_at(argument as u32, group(*of), distance * double);
        }
    }
    let keeps = shape.terms.contains(&TermPlace::Kept);
    emitter.places = Some(LoopPlaces { outputs });
    emitter.begin_loop(shape.groups);
    let again = emitter.assembler.label();
    emitter.assembler.place(again);
    emitter.assembler.compare(LEFT, 1);
    emitter.assembler.copy_if_equal(MASK, LAST_MASK);
    emitter.body();
    emitter.given_outputs();
    (0..shape.groups).for_each(|g| emitter.assembler.add(group(g), LANES_BYTES));
    if keeps {
        emitter.assembler.add(RSI, tape.outputs.len() as i32 * target.stride);
    }
    emitter.assembler.subtract(LEFT, 1);
    emitter.assembler.jump_if_any(again);
    emitter.end_loop();
    Some(emitter.finish())
}

/// From block to block in the list.
const LANES_BYTES: i32 = 64;

impl Emitter<'_> {
    fn begin_loop(&mut self, groups: usize) {
        SAVED.into_iter().for_each(|r| self.assembler.push(r));
        let entry = |place: usize| (place * size_of::<u64>()) as i32;
        for (place, to) in [LEFT, MASK, LAST_MASK, RAX].into_iter().enumerate() {
            self.assembler.read(to, RCX, entry(place));
        }
        self.assembler.push(RAX);
        self.sums(|assembler, width, register, offset| {
            assembler.load(width, register, MachineOperand::Memory(RAX, offset));
        });
        for which in 0..groups {
            self.assembler.read(group(which), RCX, entry(TABLE + which));
        }
        self.shift_pointers();
    }

    fn end_loop(&mut self) {
        self.assembler.pop(RAX);
        self.sums(|assembler, width, register, offset| {
            assembler.store(width, RAX, offset, register);
        });
        self.assembler.clear_upper();
        SAVED.into_iter().rev().for_each(|r| self.assembler.pop(r));
        self.assembler.ret();
    }

    /// The registers of sums with their places behind the pointer to the sums, which has one row for every term.
    fn sums(&mut self, each: impl Fn(&mut Assembler, Width, u8, i32)) {
        let Self { places, assembler, target, .. } = self;
        for (row, place) in (0..).zip(places.iter().flat_map(|p| &p.outputs)) {
            if let OutputPlace::Sum(register) = *place {
                each(assembler, target.width, register, row * target.stride);
            }
        }
    }

    /// Adds the lanes of a result that count to its place.
    pub(super) fn add_to(&mut self, place: OutputPlace, from: u8) {
        let [masked, _] = SCRATCH;
        let mask = MachineOperand::Memory(MASK, 0);
        match place {
            OutputPlace::Nowhere | OutputPlace::Row => {}
            OutputPlace::Sum(sum) => {
                self.write(AND, masked, from, mask);
                self.write(ADD, sum, sum, MachineOperand::Register(masked));
            }
            OutputPlace::Memory(base, offset) => {
                self.write(AND, masked, from, mask);
                self.write(ADD, masked, masked, MachineOperand::Memory(base, offset));
                self.assembler.store(self.target.width, base, offset, masked);
            }
        }
    }
}
