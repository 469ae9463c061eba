//! Sine and cosine as a subroutine: the operations of `sincos.rs` in their order, on eight registers. Where
//! it is needed only once it is inlined.
//!
//! It takes its argument from the first of the eight registers and leaves the sine in the third, the cosine
//! in the fourth; all other registers keep their values. Where an argument is out of range, all registers are
//! saved on the stack and a Rust function writes the results into their places.

use super::assembler::{
    Assembler, CodeLabel, MachineOperand, Masking, RAX, RBP, RCX, RDI, RDX, RSI, RSP,
    VectorInstruction, Width,
};
use super::constants;
use super::opcode::{
    ADD, ADD_WHOLE, AND, BLEND, BLEND_MASK, COMPARE, COMPARE_FLAGS, COMPARE_MASK, MUL,
    MUL_ADD_213, MUL_ADD_231, MUL_SUB_231, Opcode, SHIFT, SHIFT_LEFT, SIGNS, SUB, SUB_MUL_213,
    SUB_MUL_231, TERNARY, TEST_MASK, XOR, XOR_OF_AND, relation,
};

/// The registers of the subroutine, from the first.
pub(super) const ARGUMENT: u8 = 0;
pub(super) const SIN: u8 = 2;
pub(super) const COS: u8 = 3;

/// The subroutine of one program.
#[derive(Clone, Copy, Debug)]
pub(super) struct SinCosRoutine {
    pub(super) width: Width,
    /// How many lanes count.
    pub(super) lanes: u64,
    /// The first of its eight registers.
    pub(super) first: u8,
    pub(super) fused: bool,
    /// How many registers must survive.
    pub(super) registers: u8,
}

/// Where operations that stand in place go beyond the range, and where they go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutOfLinePart {
    slow: CodeLabel,
    back: CodeLabel,
}

/// What answers beyond the range: argument, sine, cosine, lanes.
pub(super) type FallbackFunction =
    unsafe extern "sysv64" fn(*const f64, *mut f64, *mut f64, u64);

impl SinCosRoutine {
    /// Lanes are chosen by mask registers where there is no other way.
    fn by_mask(self) -> bool {
        self.width == Width::Zmm
    }

    /// Writes the subroutine at the label.
    pub(super) fn write(
        self,
        assembler: &mut Assembler,
        label: CodeLabel,
        beyond: FallbackFunction,
    ) {
        let slow = assembler.label();
        assembler.place(label);
        self.write_body(assembler, slow);
        assembler.ret();
        assembler.place(slow);
        self.call_out(assembler, beyond);
    }

    /// Writes the operations here, for arguments within the range.
    pub(super) fn write_here(self, assembler: &mut Assembler) -> OutOfLinePart {
        let aside = OutOfLinePart { slow: assembler.label(), back: assembler.label() };
        self.write_body(assembler, aside.slow);
        assembler.place(aside.back);
        aside
    }

    /// Writes what is done beyond the range.
    pub(super) fn write_aside(
        self,
        assembler: &mut Assembler,
        aside: OutOfLinePart,
        beyond: FallbackFunction,
    ) {
        let function = assembler.label();
        assembler.place(aside.slow);
        assembler.call(function);
        assembler.jump(aside.back);
        assembler.place(function);
        self.call_out(assembler, beyond);
    }

    fn write_body(self, assembler: &mut Assembler, slow: CodeLabel) {
        let mut body = SinCosBody { assembler, subroutine: self };
        body.check_range(slow);
        if self.fused {
            body.reduce_once();
        } else {
            body.reduce_twice();
        }
        body.kernels();
        body.turn();
    }

    fn call_out(self, assembler: &mut Assembler, beyond: FallbackFunction) {
        let width = self.width.whole();
        let place = |r: u8| i32::from(r) * width.bytes();
        assembler.push(RBP);
        assembler.copy(RBP, RSP);
        for r in [RDI, RSI, RDX] {
            assembler.push(r);
        }
        assembler.lower_stack(place(self.registers));
        assembler.copy(RAX, RSP);
        for r in 0..self.registers {
            assembler.store(width, RAX, place(r), r);
        }
        for (to, r) in [(RDI, ARGUMENT), (RSI, SIN), (RDX, COS)] {
            assembler.address(to, RAX, place(self.first + r));
        }
        assembler.immediate(RCX, self.lanes);
        assembler.immediate(RAX, beyond as usize as u64);
        assembler.clear_upper();
        assembler.call_register(RAX);
        assembler.copy(RAX, RSP);
        for r in 0..self.registers {
            assembler.load(width, r, MachineOperand::Memory(RAX, place(r)));
        }
        assembler.address(RSP, RBP, -24);
        for r in [RDX, RSI, RDI, RBP] {
            assembler.pop(r);
        }
        assembler.ret();
    }
}

/// The branch-free part. Registers are numbered from 0 to 7; a constant is a row of the pool.
struct SinCosBody<'a> {
    assembler: &'a mut Assembler,
    subroutine: SinCosRoutine,
}

use MachineOperand::Constant;

impl SinCosBody<'_> {
    fn r(&self, r: u8) -> MachineOperand {
        MachineOperand::Register(self.subroutine.first + r)
    }

    /// `to = a ∘ b`
    fn op(&mut self, operation: &'static Opcode, to: u8, a: u8, b: MachineOperand) {
        let SinCosRoutine { width, first, .. } = self.subroutine;
        self.assembler.vector(operation, width, first + to, first + a, b);
    }

    fn constant(&mut self, to: u8, row: u32) {
        let SinCosRoutine { width, first, .. } = self.subroutine;
        self.assembler.load(width, first + to, Constant(row));
    }

    /// `to = to · a + b`
    fn mul_add(&mut self, to: u8, a: u8, b: MachineOperand) {
        if self.subroutine.fused {
            self.op(MUL_ADD_213, to, a, b);
        } else {
            self.op(MUL, to, to, self.r(a));
            self.op(ADD, to, to, b);
        }
    }

    /// `to = lost · a + to`
    fn add_mul(&mut self, to: u8, lost: u8, a: u8) {
        if self.subroutine.fused {
            self.op(MUL_ADD_231, to, lost, self.r(a));
        } else {
            self.op(MUL, lost, lost, self.r(a));
            self.op(ADD, to, lost, self.r(to));
        }
    }

    fn check_range(&mut self, slow: CodeLabel) {
        let SinCosRoutine { width, first, .. } = self.subroutine;
        self.op(AND, 1, 0, Constant(constants::MAGNITUDE));
        if width == Width::Scalar {
            // What is not a number may take either way.
            self.assembler.vector(
                COMPARE_FLAGS,
                width,
                first + 1,
                0,
                Constant(constants::RANGE),
            );
            return self.assembler.jump_if_larger(slow);
        }
        if self.subroutine.by_mask() {
            self.compare_range(COMPARE_MASK, 1);
            self.assembler.test_mask();
        } else {
            self.compare_range(COMPARE, first + 1);
            self.assembler.vector(SIGNS, width, RAX.0, 0, self.r(1));
            self.assembler.test_eax();
        }
        self.assembler.jump_if_any(slow);
    }

    /// Which magnitudes in 1 are outside the range.
    fn compare_range(&mut self, opcode: &'static Opcode, to: u8) {
        let SinCosRoutine { width, first, .. } = self.subroutine;
        let range = Constant(constants::RANGE);
        let compare = VectorInstruction::new(opcode, width, [to, first + 1], range);
        self.assembler.encode(compare.with_immediate(relation::NOT_LESS_EQUAL));
    }

    /// Argument in 0; then the quadrant in 1, r in 5, rest in 0.
    fn reduce_once(&mut self) {
        let whole = |i: u32| Constant(constants::WHOLE + i);
        self.constant(1, constants::ROUNDING);
        self.op(MUL_ADD_231, 1, 0, Constant(constants::QUARTERS));
        self.op(SUB, 2, 1, Constant(constants::ROUNDING)); // k
        self.op(SUB_MUL_231, 0, 2, whole(0)); // exact
        self.op(MUL, 3, 2, whole(1)); // p
        self.assembler.load(self.subroutine.width, self.subroutine.first + 4, self.r(3));
        self.op(MUL_SUB_231, 4, 2, whole(1)); // e
        self.op(SUB, 5, 0, self.r(3)); // r
        self.op(SUB, 0, 5, self.r(0));
        self.op(ADD, 0, 0, self.r(3));
        self.op(ADD, 0, 0, self.r(4));
        self.op(MUL_ADD_231, 0, 2, whole(2)); // rest
    }

    /// The same with products of parts.
    fn reduce_twice(&mut self) {
        let part = |i: u32| Constant(constants::PARTS + i);
        self.op(MUL, 1, 0, Constant(constants::QUARTERS));
        self.op(ADD, 1, 1, Constant(constants::ROUNDING));
        self.op(SUB, 2, 1, Constant(constants::ROUNDING)); // k
        for i in 0..2 {
            self.op(MUL, 3, 2, part(i));
            self.op(SUB, 0, 0, self.r(3)); // exact
        }
        self.op(MUL, 3, 2, part(2)); // third
        self.op(SUB, 4, 0, self.r(3)); // high
        self.op(SUB, 0, 0, self.r(4));
        self.op(SUB, 0, 0, self.r(3));
        self.op(MUL, 2, 2, part(3));
        self.op(SUB, 0, 2, self.r(0)); // behind
        self.op(SUB, 5, 4, self.r(0)); // r
        self.op(SUB, 4, 4, self.r(5));
        self.op(SUB, 0, 0, self.r(4)); // rest
    }

    /// r in 5, rest in 0; then sine in 7, cosine in 4.
    fn kernels(&mut self) {
        let sine = |i: u32| Constant(constants::SINE + i);
        let cosine = |i: u32| Constant(constants::COSINE + i);
        self.op(MUL, 2, 5, self.r(5)); // z
        self.op(MUL, 3, 2, self.r(2)); // w
        self.op(MUL, 4, 2, self.r(3)); // cube
        self.constant(6, constants::SINE + 5);
        self.mul_add(6, 2, sine(4));
        self.constant(7, constants::SINE + 3);
        self.mul_add(7, 2, sine(2));
        self.mul_add(7, 2, sine(1));
        self.add_mul(7, 6, 4);
        self.mul_add(7, 2, sine(0)); // series
        self.op(MUL, 6, 2, self.r(5));
        if self.subroutine.fused {
            self.op(SUB_MUL_213, 7, 6, self.r(0));
        } else {
            self.op(MUL, 7, 7, self.r(6));
            self.op(SUB, 7, 0, self.r(7));
        }
        self.op(SUB, 7, 5, self.r(7)); // sine
        self.op(MUL, 0, 5, self.r(0)); // r · rest
        self.constant(5, constants::COSINE + 5);
        self.mul_add(5, 2, cosine(4));
        self.mul_add(5, 2, cosine(3));
        self.constant(6, constants::COSINE + 2);
        self.mul_add(6, 2, cosine(1));
        self.mul_add(6, 2, cosine(0));
        self.add_mul(6, 5, 4); // series
        self.mul_add(6, 3, self.r(0)); // small
        self.op(MUL, 2, 2, Constant(constants::HALF));
        self.constant(3, constants::ONE);
        self.op(SUB, 3, 3, self.r(2)); // one
        self.constant(4, constants::ONE);
        self.op(SUB, 4, 4, self.r(3));
        self.op(SUB, 4, 4, self.r(2));
        self.op(ADD, 4, 4, self.r(6));
        self.op(ADD, 4, 3, self.r(4)); // cosine
    }

    /// Sine in 7, cosine in 4, quadrant in 1; then the results in 2 and 3.
    fn turn(&mut self) {
        let SinCosRoutine { width, first, .. } = self.subroutine;
        let width = width.whole();
        let at = |r: u8| first + r;
        if self.subroutine.by_mask() {
            self.assembler.vector(TEST_MASK, width, 1, at(1), Constant(constants::LAST));
            for (to, even, odd) in [(SIN, 7, 4), (COS, 4, 7)] {
                let registers = [at(to), at(even)];
                let blend = VectorInstruction::new(BLEND_MASK, width, registers, self.r(odd));
                self.assembler.encode(blend.with_masking(Masking::Merge));
            }
        } else {
            self.shift(0, 63);
            for (to, even, odd) in [(SIN, 7, 4), (COS, 4, 7)] {
                let registers = [at(to), at(even)];
                let blend = VectorInstruction::new(BLEND, width, registers, self.r(odd));
                self.assembler.encode(blend.with_immediate(at(0) << 4));
            }
        }
        self.sign(SIN);
        self.op(ADD_WHOLE, 1, 1, Constant(constants::LAST));
        self.sign(COS);
    }

    /// Turns the sign where the second bit of the quadrant in 1 is set.
    fn sign(&mut self, of: u8) {
        self.shift(0, 62);
        let SinCosRoutine { width, first, registers, .. } = self.subroutine;
        if registers == 32 {
            let at = [first + of, first];
            let sign = Constant(constants::SIGN);
            let turn = VectorInstruction::new(TERNARY, width.whole(), at, sign);
            self.assembler.encode(turn.with_immediate(XOR_OF_AND));
        } else {
            self.op(AND, 0, 0, Constant(constants::SIGN));
            self.op(XOR, of, of, self.r(0));
        }
    }

    /// The quadrant in 1, shifted to the left.
    fn shift(&mut self, to: u8, by: u8) {
        let SinCosRoutine { width, first, .. } = self.subroutine;
        let registers = [SHIFT_LEFT, first + to];
        let shift = VectorInstruction::new(SHIFT, width.whole(), registers, self.r(1));
        self.assembler.encode(shift.with_immediate(by));
    }
}
