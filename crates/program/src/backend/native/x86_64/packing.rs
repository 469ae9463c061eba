//! Packs several angles into one register.

use super::assembler::{Assembler, MachineOperand, VectorInstruction, Width};
use super::opcode::{JOIN_FOUR, JOIN_TWO, JOIN_TWO_EVEX, PAIR, PAIR_MEMORY};
use super::registers::{FrameLayout, Registers};

/// The narrowest width that holds so many doubles.
pub(super) fn width_for(count: usize) -> Width {
    match count {
        0..=2 => Width::Xmm,
        3..=4 => Width::Ymm,
        _ => Width::Zmm,
    }
}

/// How many doubles fit.
pub(super) fn room(width: Width) -> usize {
    width.bytes() as usize / 8
}

/// Packs scalars into a register and the two that follow it, which are scratch.
pub(super) struct Packing<'a> {
    pub(super) assembler: &'a mut Assembler,
    pub(super) registers: &'a mut Registers,
    pub(super) evex: bool,
}

impl Packing<'_> {
    /// `to` holds the angles, whose number is that of the width.
    pub(super) fn pack(&mut self, width: Width, to: u8, angles: &[u32]) {
        if width != Width::Xmm && self.load_together(width, to, angles) {
            return;
        }
        let (low, high) = angles.split_at(angles.len() / 2);
        match width {
            Width::Zmm => {
                self.pack(Width::Ymm, to, low);
                self.pack(Width::Ymm, to + 1, high);
                self.join(width, to);
            }
            Width::Ymm => {
                self.pack(Width::Xmm, to, low);
                self.pack(Width::Xmm, to + 1, high);
                self.join(width, to);
            }
            Width::Xmm | Width::Scalar => self.pair(to, low[0], high[0]),
        }
    }

    /// Inputs that follow each other in memory.
    fn load_together(&mut self, width: Width, to: u8, angles: &[u32]) -> bool {
        let follow = angles.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let inputs = angles.iter().all(|&v| self.registers.is_input(v));
        if follow && inputs {
            let (base, offset) = self.registers.memory_of(angles[0]);
            self.assembler.load(width, to, MachineOperand::Memory(base, offset));
        }
        follow && inputs
    }

    /// Copies an output of one lane and those after it, if they are inputs that follow each other; says how many.
    pub(super) fn copy(&mut self, output: usize, through: u8) -> usize {
        let width = if self.evex { Width::Zmm } else { Width::Ymm };
        let given = self.registers.values.outputs.get(output..output + room(width));
        let given = given.map_or_else(Vec::new, <[u32]>::to_vec);
        let FrameLayout { outputs, output_shift, stride, .. } = self.registers.frame;
        let is_one_lane = stride as usize == size_of::<f64>();
        if !is_one_lane || given.is_empty() || !self.load_together(width, through, &given) {
            return 0;
        }
        self.assembler.store(width, outputs, output as i32 * stride - output_shift, through);
        given.len()
    }

    fn join(&mut self, width: Width, to: u8) {
        let operation = match (width, self.evex) {
            (Width::Zmm, _) => JOIN_FOUR,
            (_, true) => JOIN_TWO_EVEX,
            (_, false) => JOIN_TWO,
        };
        let high = MachineOperand::Register(to + 1);
        let join = VectorInstruction::new(operation, width, [to, to], high);
        self.assembler.encode(join.with_immediate(1));
    }

    fn pair(&mut self, to: u8, low: u32, high: u32) {
        let first = match self.registers.operand(low) {
            MachineOperand::Register(r) => r,
            memory => {
                self.assembler.load(Width::Scalar, to, memory);
                to
            }
        };
        let high = self.registers.operand(high);
        let operation = if let MachineOperand::Register(_) = high { PAIR } else { PAIR_MEMORY };
        self.assembler.vector(operation, Width::Xmm, to, first, high);
    }
}
