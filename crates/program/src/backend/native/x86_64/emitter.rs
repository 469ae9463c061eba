//! Compiles a tape in one pass: each instruction finds its operands, gets a register for its result, and is emitted.
//!
//! ```text
//! fn(inputs: rdi, outputs: rsi, middle of the rows: rdx)
//! ```
//!
//! Inputs are read and outputs written where the caller has them. Programs that call library functions
//! (`call.rs`) keep the three pointers in callee-saved registers.

use std::sync::Arc;

use pfaff_expr::Unary;

use super::assembler::{
    Assembler, CodeLabel, MachineOperand, R14, RBP, RBX, RDI, RDX, RSI, Width,
};
use super::constants;
use super::opcode::{
    ADD, AND, DIV, MUL, MUL_ADD_213, MUL_ADD_231, MUL_SUB_213, MUL_SUB_231, Opcode, SQRT, SUB,
    SUB_MUL_213, SUB_MUL_231, XOR,
};
use super::packing::{Packing, width_for};
use super::registers::{FrameLayout, RegisterFile, Registers};
use super::row_loop::{LoopPlaces, OutputPlace};
use super::trigonometry::{COS, OutOfLinePart, SIN};
use crate::backend::native::library_call::{LibraryCall, LibraryFunction};
use crate::backend::native::liveness::{Liveness, NONE};
use crate::backend::native::schedule::{AngleGroup, Schedule, is_angle, schedule};
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::program::Tape;

/// Which instructions the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend::native) enum InstructionSet {
    /// AVX2 and FMA: 16 registers of four doubles.
    Avx2,
    /// AVX-512 F, DQ and VL: 32 registers of eight doubles.
    Avx512,
}

/// The first of the eight registers of sine and cosine: VEX reaches them.
pub(super) const TRIGONOMETRIC: u8 = 8;

/// Two of those eight that never hold values between instructions.
pub(super) const SCRATCH: [u8; 2] = [TRIGONOMETRIC + 6, TRIGONOMETRIC + 7];

impl InstructionSet {
    /// Bits of the registers that values may be in; they share six of the eight with sine and cosine.
    fn allocatable(self) -> u32 {
        match self {
            Self::Avx2 => 0x3fff,
            Self::Avx512 => 0xffff_3fff,
        }
    }

    /// The widest register in bytes.
    fn widest(self) -> usize {
        match self {
            Self::Avx2 => 32,
            Self::Avx512 => 64,
        }
    }
}

/// What is to be written, for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodegenTarget {
    pub(super) isa: InstructionSet,
    pub(super) width: Width,
    /// From row to row in bytes.
    pub(super) stride: i32,
    /// How many lanes a register holds.
    pub(super) lanes: usize,
}

impl CodegenTarget {
    /// How many bytes each constant takes: eight lanes read one double for all, narrower code reads whole registers.
    pub(super) fn pool_row(self) -> usize {
        if self.width == Width::Zmm { 8 } else { 32 }
    }
}

/// Code, and the memory that it needs.
#[derive(Debug)]
pub(super) struct EmittedCode {
    pub(super) assembler: Assembler,
    /// What the code calls, at addresses that stand in the code.
    pub(super) calls: Vec<Arc<LibraryCall>>,
    /// The slots of the rows below the middle, from the middle down.
    pub(super) fixed: Vec<Slot>,
    /// How many rows there are above the middle.
    pub(super) rows: usize,
}

/// The longest tape that is compiled. An instruction takes up to some tens of bytes, with what it saves and fetches, so
/// that distances within the code fit into 31 bits.
const LONGEST: usize = 1 << 24;

/// Whether code and rows of such a tape are within reach of a displacement of 32 bits.
pub(super) fn is_within_reach(instructions: usize, others: usize, stride: i32) -> bool {
    let rows = instructions.checked_mul(2).and_then(|rows| rows.checked_add(others));
    let bytes = rows.and_then(|rows| rows.checked_mul(2 * stride as usize));
    instructions <= LONGEST && bytes.is_some_and(|bytes| i32::try_from(bytes).is_ok())
}

/// Writes the part `per_evaluation`; `None` if something would be too far away for a displacement.
pub(super) fn emit(tape: &Arc<Tape>, target: CodegenTarget) -> Option<EmittedCode> {
    let mut emitter = Emitter::new(tape, target)?;
    emitter.enter();
    emitter.body();
    emitter.leave();
    Some(emitter.finish())
}

/// The values in the order in which code is written, and the groups of angles.
fn ordered(tape: &Tape, target: CodegenTarget) -> (Liveness, Vec<AngleGroup>) {
    let values = Liveness::of(tape);
    match schedule(tape, &values, target.isa.widest() / 8) {
        Some(Schedule { order, mut groups }) => {
            // Lanes are full already: each angle by itself.
            groups.retain(|_| target.width == Width::Scalar);
            (values.reordered(order), groups)
        }
        None => (values, Vec::new()),
    }
}

/// Which widths of sine and cosine are needed just once.
fn alone(tape: &Tape, target: CodegenTarget, groups: &[AngleGroup]) -> [bool; 4] {
    let mut count = [0; 4];
    let angles = tape.per_evaluation.iter().filter(|&&i| is_angle(i)).count();
    count[target.width as usize] = angles - groups.iter().map(|g| g.count).sum::<usize>();
    for group in groups {
        count[width_for(group.count) as usize] += 1;
    }
    count.map(|n| n == 1)
}

/// Where rows are: pointers point beyond the first rows if short displacements then reach more.
fn frame(tape: &Tape, target: CodegenTarget, calls_out: bool) -> FrameLayout {
    let unit = if target.isa == InstructionSet::Avx512 { target.width.bytes() } else { 1 };
    let reach = 128 * unit;
    let shift = |rows: usize| if rows as i32 * target.stride <= reach { 0 } else { reach };
    let [inputs, outputs, middle] = if calls_out { [RBP, R14, RBX] } else { [RDI, RSI, RDX] };
    FrameLayout {
        inputs,
        outputs,
        middle,
        input_shift: shift(tape.layout.inputs),
        output_shift: shift(tape.outputs.len()),
        stride: target.stride,
    }
}

/// The function that the instruction calls, if it has none of its own.
pub(super) fn function_of(instruction: Instruction) -> Option<LibraryFunction> {
    match instruction {
        Instruction::Power { .. } => Some(LibraryFunction::Power),
        Instruction::Unary { function: Unary::Abs | Unary::Sqrt, .. } => None,
        Instruction::Unary { function, .. } => Some(LibraryFunction::Unary(function)),
        Instruction::Binary { function, .. } => Some(LibraryFunction::Binary(function)),
        Instruction::Table { table, order, .. } => {
            Some(LibraryFunction::Table { table, order })
        }
        _ => None,
    }
}

pub(super) struct Emitter<'a> {
    pub(super) tape: &'a Arc<Tape>,
    pub(super) target: CodegenTarget,
    pub(super) assembler: Assembler,
    pub(super) registers: Registers,
    pub(super) calls: Vec<Arc<LibraryCall>>,
    /// The subroutine of each width, if it is used.
    pub(super) sincos: [Option<CodeLabel>; 4],
    /// Whether the subroutine of a width is needed once only.
    pub(super) alone: [bool; 4],
    pub(super) calls_out: bool,
    /// What belongs to those that stand in place.
    pub(super) aside: Vec<(Width, OutOfLinePart)>,
    groups: Vec<AngleGroup>,
    /// Where results go in a loop over rows.
    pub(super) places: Option<LoopPlaces>,
}

impl<'a> Emitter<'a> {
    /// With no code; `None` if something would be too far away.
    pub(super) fn new(tape: &'a Arc<Tape>, target: CodegenTarget) -> Option<Self> {
        let others = tape.layout.slots() + tape.outputs.len();
        if !is_within_reach(tape.per_evaluation.len(), others, target.stride) {
            return None;
        }
        let calls_out = tape.per_evaluation.iter().any(|&i| function_of(i).is_some());
        let frame = frame(tape, target, calls_out);
        let assembler = Assembler::new(
            target.isa == InstructionSet::Avx512,
            64 + 10 * tape.per_evaluation.len(),
        );
        let (values, groups) = ordered(tape, target);
        let file = RegisterFile {
            frame,
            width: target.width,
            allocatable: target.isa.allocatable(),
            inputs: tape.layout.inputs,
            lasting: tape.layout.first_temporary(),
        };
        Some(Self {
            tape,
            target,
            assembler,
            registers: Registers::new(values, file),
            calls: Vec::new(),
            sincos: [None; 4],
            alone: alone(tape, target, &groups),
            calls_out,
            aside: Vec::new(),
            groups,
            places: None,
        })
    }

    /// All instructions.
    pub(super) fn body(&mut self) {
        let mut groups = std::mem::take(&mut self.groups).into_iter().peekable();
        let mut i = 0;
        while i < self.tape.per_evaluation.len() {
            if let Some(group) = groups.next_if(|group| group.first == i) {
                self.group(group);
                i += group.count;
            } else {
                self.instruction(i);
                i += 1;
            }
        }
    }

    /// The code with its subroutines and constants.
    pub(super) fn finish(mut self) -> EmittedCode {
        self.subroutines();
        self.assembler.finish(&constants::rows(), self.target.pool_row());
        let Self { assembler, registers, calls, .. } = self;
        EmittedCode { assembler, calls, rows: registers.rows as usize, fixed: registers.fixed }
    }

    fn enter(&mut self) {
        if self.calls_out {
            for r in [RBX, RBP, R14] {
                self.assembler.push(r);
            }
            self.assembler.copy(self.registers.frame.middle, RDX);
        }
        self.shift_pointers();
    }

    /// The pointers to inputs and outputs where the code wants them.
    pub(super) fn shift_pointers(&mut self) {
        let FrameLayout { inputs, outputs, input_shift, output_shift, .. } =
            self.registers.frame;
        for (to, from, shift) in [(inputs, RDI, input_shift), (outputs, RSI, output_shift)] {
            if to != from || shift != 0 {
                self.assembler.address(to, from, shift);
            }
        }
    }

    /// Stores outputs that no instruction computes; says whether vector registers took several at once.
    pub(super) fn given_outputs(&mut self) -> bool {
        let [_, scratch] = SCRATCH;
        let (mut o, mut has_copied) = (0, false);
        while o < self.registers.values.outputs.len() {
            let count = self.packing().copy(o, scratch);
            has_copied |= count > 0;
            let v = self.registers.values.outputs[o];
            if count == 0 && (v as usize) < self.tape.layout.first_temporary() {
                let from = match self.registers.operand(v) {
                    MachineOperand::Register(r) => r,
                    memory => {
                        self.assembler.load(self.target.width, scratch, memory);
                        scratch
                    }
                };
                self.output(o as u32, from);
            }
            o += count.max(1);
        }
        has_copied
    }

    /// Stores outputs that no instruction computes, and returns.
    fn leave(&mut self) {
        let has_copied = self.given_outputs();
        let wide = has_copied
            || self.sincos[Width::Ymm as usize..].iter().any(Option::is_some)
            || self.aside.iter().any(|a| a.0 as usize >= Width::Ymm as usize);
        if self.target.width != Width::Scalar || wide {
            self.assembler.clear_upper();
        }
        if self.calls_out {
            for r in [R14, RBP, RBX] {
                self.assembler.pop(r);
            }
        }
        self.assembler.ret();
    }

    pub(super) fn packing(&mut self) -> Packing<'_> {
        let evex = self.target.isa == InstructionSet::Avx512;
        Packing { assembler: &mut self.assembler, registers: &mut self.registers, evex }
    }

    fn instruction(&mut self, i: usize) {
        use Instruction as I;
        self.registers.pass(i);
        let operands @ [a, b, _] = self.registers.values.operands[i];
        let results @ [to, second] = self.registers.values.results[i];
        let instruction = self.tape.per_evaluation[self.registers.values.order[i] as usize];
        match instruction {
            I::Add { .. } => self.binary(ADD, true, operands, to),
            I::Sub { .. } => self.binary(SUB, false, operands, to),
            I::Mul { .. } => self.binary(MUL, true, operands, to),
            I::Div { .. } => self.binary(DIV, false, operands, to),
            I::Square { .. } => self.binary(MUL, true, [a, a, NONE], to),
            I::MulAdd { .. } if self.tape.fused => {
                self.multiply_add([MUL_ADD_213, MUL_ADD_231], operands, to);
            }
            I::MulSub { .. } if self.tape.fused => {
                self.multiply_add([MUL_SUB_213, MUL_SUB_231], operands, to);
            }
            I::SubMul { .. } if self.tape.fused => {
                self.multiply_add([SUB_MUL_213, SUB_MUL_231], operands, to);
            }
            I::MulAdd { .. } => self.multiply_then(ADD, operands, to),
            I::MulSub { .. } => self.multiply_then(SUB, operands, to),
            I::SubMul { .. } => self.subtract_product(operands, to),
            I::Neg { .. } => self.with_constant(XOR, constants::SIGN, a, to),
            I::Unary { function: Unary::Abs, .. } => {
                self.with_constant(AND, constants::MAGNITUDE, a, to);
            }
            I::Sqrt { .. } | I::Unary { function: Unary::Sqrt, .. } => self.root(a, to),
            I::Sin { .. } => self.trigonometric(a, [(to, SIN), (NONE, COS)]),
            I::Cos { .. } => self.trigonometric(a, [(NONE, SIN), (to, COS)]),
            I::SinCos { .. } => self.trigonometric(a, [(to, SIN), (second, COS)]),
            I::Compare { relation, .. } => self.compare(relation, a, b, to),
            I::Not { .. } => self.is_zero(a, to),
            I::And { .. } => self.both(a, b, to),
            I::Or { .. } => self.either(a, b, to),
            I::Select { .. } => self.select(operands, to),
            I::Power { .. } | I::Unary { .. } | I::Binary { .. } | I::Table { .. } => {
                let function = function_of(instruction);
                self.call(function.expect("it has no instruction of its own"), operands, to);
            }
        }
        for v in results {
            if v != NONE {
                self.written(v);
            }
        }
        self.registers.end(operands);
    }

    /// Outputs are stored as soon as they are there.
    pub(super) fn written(&mut self, v: u32) {
        let mut next = self.registers.values.output_of(v);
        if next.is_some() {
            let [_, scratch] = SCRATCH;
            let from = self.registers.register_of(v).unwrap_or_else(|| {
                let (base, offset) = self.registers.memory_of(v);
                let memory = MachineOperand::Memory(base, offset);
                self.assembler.load(self.target.width, scratch, memory);
                scratch
            });
            while let Some(o) = next {
                self.output(o, from);
                next = self.registers.values.output_after(o);
            }
        }
        if self.registers.values.is_dead(v) {
            self.registers.forget(v);
            self.registers.free_row(v);
        }
    }

    fn output(&mut self, o: u32, from: u8) {
        let place = self.places.as_ref().map_or(OutputPlace::Row, |p| p.outputs[o as usize]);
        if !matches!(place, OutputPlace::Row) {
            return self.add_to(place, from);
        }
        let FrameLayout { outputs, output_shift, stride, .. } = self.registers.frame;
        let offset = o as i32 * stride - output_shift;
        self.assembler.store(self.target.width, outputs, offset, from);
    }

    pub(super) fn write(
        &mut self,
        operation: &'static Opcode,
        to: u8,
        a: u8,
        b: MachineOperand,
    ) {
        self.assembler.vector(operation, self.target.width, to, a, b);
    }

    /// The register of a result, which may be one of operands that are dead now.
    pub(super) fn result(&mut self, operands: [u32; 3]) -> u8 {
        self.registers.release(operands);
        self.registers.allocate(&mut self.assembler)
    }

    fn binary(
        &mut self,
        operation: &'static Opcode,
        commutes: bool,
        [mut a, mut b, _]: [u32; 3],
        to: u32,
    ) {
        let in_register = |v: u32| self.registers.register_of(v).is_some();
        if commutes && !in_register(a) && in_register(b) {
            (a, b) = (b, a);
        }
        let first = self.registers.load(&mut self.assembler, a);
        let place = self.registers.operand_near(&mut self.assembler, b);
        let d = self.result([a, b, NONE]);
        self.write(operation, d, first, place);
        self.registers.bind(to, d);
    }

    /// Rounded once: the result takes the register of an operand.
    fn multiply_add(
        &mut self,
        [on_factor, on_sum]: [&'static Opcode; 2],
        operands: [u32; 3],
        to: u32,
    ) {
        let [mut a, mut b, c] = operands;
        let Self { assembler, registers, .. } = self;
        let ends = |registers: &Registers, v: u32| {
            registers.register_of(v).filter(|_| registers.values.is_dead(v))
        };
        let swap = |registers: &Registers| {
            registers.register_of(a).is_none() && registers.register_of(b).is_some()
        };
        if let Some(d) = ends(registers, c) {
            if swap(registers) {
                (a, b) = (b, a);
            }
            registers.operand(c); // keeps it
            let first = registers.load(assembler, a);
            let place = registers.operand_near(assembler, b);
            self.write(on_sum, d, first, place);
            return self.take_over(d, operands, to);
        }
        if ends(registers, a).is_none() && ends(registers, b).is_some() {
            (a, b) = (b, a);
        }
        if let Some(d) = ends(registers, a) {
            registers.operand(a);
            let other = registers.load(assembler, b);
            let place = registers.operand_near(assembler, c);
            self.write(on_factor, d, other, place);
            return self.take_over(d, operands, to);
        }
        if registers.register_of(a).is_none() && registers.register_of(b).is_some() {
            (a, b) = (b, a);
        }
        let first = registers.load(assembler, a);
        let place = registers.operand_near(assembler, b);
        let sum = registers.operand(c);
        let d = registers.allocate(assembler);
        assembler.load(self.target.width, d, sum);
        self.write(on_sum, d, first, place);
        self.registers.release(operands);
        self.registers.bind(to, d);
    }

    fn take_over(&mut self, d: u8, operands: [u32; 3], to: u32) {
        self.registers.release(operands);
        self.registers.claim(d);
        self.registers.bind(to, d);
    }

    /// The product in a scratch register, then $ab \pm c$.
    fn multiply_then(&mut self, operation: &'static Opcode, operands: [u32; 3], to: u32) {
        let product = self.product(operands);
        let [_, _, c] = operands;
        let place = self.registers.operand_near(&mut self.assembler, c);
        let d = self.result(operands);
        self.write(operation, d, product, place);
        self.registers.bind(to, d);
    }

    /// $c - ab$
    fn subtract_product(&mut self, operands: [u32; 3], to: u32) {
        let product = self.product(operands);
        let c = self.registers.load(&mut self.assembler, operands[2]);
        let d = self.result(operands);
        self.write(SUB, d, c, MachineOperand::Register(product));
        self.registers.bind(to, d);
    }

    fn product(&mut self, [mut a, mut b, _]: [u32; 3]) -> u8 {
        let in_register = |v: u32| self.registers.register_of(v).is_some();
        if !in_register(a) && in_register(b) {
            (a, b) = (b, a);
        }
        let [_, scratch] = SCRATCH;
        let first = self.registers.load(&mut self.assembler, a);
        let place = self.registers.operand_near(&mut self.assembler, b);
        self.write(MUL, scratch, first, place);
        scratch
    }

    fn with_constant(&mut self, operation: &'static Opcode, row: u32, a: u32, to: u32) {
        let first = self.registers.load(&mut self.assembler, a);
        let d = self.result([a, NONE, NONE]);
        self.write(operation, d, first, MachineOperand::Constant(row));
        self.registers.bind(to, d);
    }

    fn root(&mut self, a: u32, to: u32) {
        let place = MachineOperand::Register(self.registers.load(&mut self.assembler, a));
        let d = self.result([a, NONE, NONE]);
        // The scalar root copies the upper half of its first source.
        let upper = match place {
            MachineOperand::Register(r) if self.target.width == Width::Scalar => r,
            _ => 0,
        };
        self.write(SQRT, d, upper, place);
        self.registers.bind(to, d);
    }
}
