//! Comparisons, logic and selection: 1 or 0 in each lane, by mask registers where the processor has them.

use pfaff_expr::Relation;

use super::assembler::{MachineOperand, Masking, VectorInstruction, Width};
use super::constants;
use super::emitter::{Emitter, InstructionSet, SCRATCH};
use super::opcode::{
    AND, BLEND, BLEND_MASK, COMPARE, COMPARE_MASK, MOVE, OR, SPREAD, relation,
};
use crate::backend::native::liveness::NONE;

impl Emitter<'_> {
    fn has_masks(&self) -> bool {
        self.target.isa == InstructionSet::Avx512
    }

    /// Compares into a scratch register, or into the mask register; there only in lanes that are set already,
    /// if `further`.
    fn test(&mut self, into: u8, a: u8, b: MachineOperand, relation: u8, further: bool) {
        let width = self.target.width;
        let instruction = if self.has_masks() {
            let masking = if further { Masking::Merge } else { Masking::None };
            VectorInstruction::new(COMPARE_MASK, width, [1, a], b).with_masking(masking)
        } else {
            VectorInstruction::new(COMPARE, width, [into, a], b)
        };
        self.assembler.encode(instruction.with_immediate(relation));
    }

    /// `d = b` in the lanes of mask register 1, `a` elsewhere.
    fn blend_by_mask(&mut self, d: u8, a: u8, b: MachineOperand) {
        let blend = VectorInstruction::new(BLEND_MASK, self.target.width.whole(), [d, a], b);
        self.assembler.encode(blend.with_masking(Masking::Merge));
    }

    /// 1 where the last test held.
    fn one_where(&mut self, tested: u8, d: u8) {
        let one = MachineOperand::Constant(constants::ONE);
        let width = self.target.width.whole();
        if self.has_masks() {
            let operation = if width == Width::Zmm { SPREAD } else { MOVE };
            let one = VectorInstruction::new(operation, width, [d, 0], one);
            self.assembler.encode(one.with_masking(Masking::Zero));
        } else {
            self.assembler.vector(AND, width, d, tested, one);
        }
    }

    pub(super) fn compare(&mut self, relation: Relation, a: u32, b: u32, to: u32) {
        let [_, scratch] = SCRATCH;
        let relation = match relation {
            Relation::Less => relation::LESS,
            Relation::LessEqual => relation::LESS_EQUAL,
            Relation::Equal => relation::EQUAL,
            Relation::NotEqual => relation::NOT_EQUAL,
        };
        let first = self.registers.load(&mut self.assembler, a);
        let place = self.registers.operand_near(&mut self.assembler, b);
        let d = self.result([a, b, NONE]);
        self.test(scratch, first, place, relation, false);
        self.one_where(scratch, d);
        self.registers.bind(to, d);
    }

    pub(super) fn is_zero(&mut self, a: u32, to: u32) {
        let [_, scratch] = SCRATCH;
        let first = self.registers.load(&mut self.assembler, a);
        let d = self.result([a, NONE, NONE]);
        self.test(
            scratch,
            first,
            MachineOperand::Constant(constants::ZERO),
            relation::EQUAL,
            false,
        );
        self.one_where(scratch, d);
        self.registers.bind(to, d);
    }

    pub(super) fn both(&mut self, a: u32, b: u32, to: u32) {
        let [other, scratch] = SCRATCH;
        let first = self.registers.load(&mut self.assembler, a);
        let second = self.registers.load(&mut self.assembler, b);
        let d = self.result([a, b, NONE]);
        let zero = MachineOperand::Constant(constants::ZERO);
        self.test(scratch, first, zero, relation::NOT_EQUAL, false);
        self.test(other, second, zero, relation::NOT_EQUAL, true);
        if !self.has_masks() {
            self.write(AND, scratch, scratch, MachineOperand::Register(other));
        }
        self.one_where(scratch, d);
        self.registers.bind(to, d);
    }

    /// With masks: 0 where both are zero, else 1.
    pub(super) fn either(&mut self, a: u32, b: u32, to: u32) {
        let [other, scratch] = SCRATCH;
        let first = self.registers.load(&mut self.assembler, a);
        let second = self.registers.load(&mut self.assembler, b);
        let d = self.result([a, b, NONE]);
        let zero = MachineOperand::Constant(constants::ZERO);
        if self.has_masks() {
            self.test(scratch, first, zero, relation::EQUAL, false);
            self.test(other, second, zero, relation::EQUAL, true);
            let width = self.target.width.whole();
            self.assembler.load(width, scratch, MachineOperand::Constant(constants::ONE));
            self.blend_by_mask(d, scratch, zero);
        } else {
            self.test(scratch, first, zero, relation::NOT_EQUAL, false);
            self.test(other, second, zero, relation::NOT_EQUAL, true);
            self.write(OR, scratch, scratch, MachineOperand::Register(other));
            self.one_where(scratch, d);
        }
        self.registers.bind(to, d);
    }

    pub(super) fn select(&mut self, operands: [u32; 3], to: u32) {
        let [_, scratch] = SCRATCH;
        let [condition, a, b] = operands.map(|v| self.registers.load(&mut self.assembler, v));
        let d = self.result(operands);
        let zero = MachineOperand::Constant(constants::ZERO);
        self.test(scratch, condition, zero, relation::EQUAL, false);
        let b = MachineOperand::Register(b);
        if self.has_masks() {
            self.blend_by_mask(d, a, b);
        } else {
            let blend = VectorInstruction::new(BLEND, self.target.width.whole(), [d, a], b);
            self.assembler.encode(blend.with_immediate(scratch << 4));
        }
        self.registers.bind(to, d);
    }
}
