//! Sines and cosines: the subroutines of a program, and their calls for one angle or several.

use super::assembler::{MachineOperand, Width};
use super::call::{beyond, beyond_fused};
use super::emitter::{Emitter, InstructionSet, TRIGONOMETRIC};
use super::packing::{room, width_for};
use super::trigonometry::{ARGUMENT, COS, SIN, SinCosRoutine};
use crate::backend::native::liveness::NONE;
use crate::backend::native::schedule::AngleGroup;
use crate::tape::instruction::Instruction;

impl Emitter<'_> {
    fn subroutine(&self, width: Width) -> SinCosRoutine {
        SinCosRoutine {
            width,
            lanes: room(width) as u64,
            first: TRIGONOMETRIC,
            fused: self.tape.fused,
            registers: if self.target.isa == InstructionSet::Avx512 { 32 } else { 16 },
        }
    }

    pub(super) fn subroutines(&mut self) {
        let beyond = if self.tape.fused { beyond_fused } else { beyond };
        for width in [Width::Scalar, Width::Xmm, Width::Ymm, Width::Zmm] {
            if let Some(label) = self.sincos[width as usize] {
                self.subroutine(width).write(&mut self.assembler, label, beyond);
            }
        }
        for (width, aside) in std::mem::take(&mut self.aside) {
            self.subroutine(width).write_aside(&mut self.assembler, aside, beyond);
        }
    }

    fn call_sincos(&mut self, width: Width) {
        if self.alone[width as usize] {
            let aside = self.subroutine(width).write_here(&mut self.assembler);
            return self.aside.push((width, aside));
        }
        let label = self.sincos[width as usize].get_or_insert_with(|| self.assembler.label());
        self.assembler.call(*label);
    }

    pub(super) fn trigonometric(&mut self, a: u32, results: [(u32, u8); 2]) {
        let Self { assembler, registers, .. } = self;
        let first = TRIGONOMETRIC;
        let own = 0xff << first;
        registers.evict(assembler, own, a);
        let from = registers.operand(a);
        assembler.load(self.target.width, first + ARGUMENT, from);
        registers.release([a, NONE, NONE]);
        self.call_sincos(self.target.width);
        let Self { assembler, registers, .. } = self;
        let found = 1 << (first + SIN) | 1 << (first + COS);
        // Nothing else will need these registers: the results stay where they are.
        let stays = self.alone[self.target.width as usize] && !self.calls_out;
        registers.reserve(found);
        let mut kept = 0;
        for (to, place) in results {
            if to != NONE {
                let d = if stays { first + place } else { registers.allocate(assembler) };
                assembler.load(self.target.width, d, MachineOperand::Register(first + place));
                registers.bind(to, d);
                kept |= 1 << d;
            }
        }
        registers.allow(found & !kept);
    }

    /// Sines and cosines of several angles at once; they stay in memory until they are read.
    pub(super) fn group(&mut self, AngleGroup { first, count }: AngleGroup) {
        let own = TRIGONOMETRIC;
        let width = width_for(count);
        let mut angles = Vec::with_capacity(room(width));
        let (mut sines, mut cosines) = (vec![NONE; room(width)], vec![NONE; room(width)]);
        for (k, i) in (first..first + count).enumerate() {
            self.registers.pass(i);
            let values = &self.registers.values;
            angles.push(values.operands[i][0]);
            let [to, second] = values.results[i];
            match self.tape.per_evaluation[values.order[i] as usize] {
                Instruction::Sin { .. } => sines[k] = to,
                Instruction::Cos { .. } => cosines[k] = to,
                _ => (sines[k], cosines[k]) = (to, second),
            }
        }
        // What is left of the register repeats the last angle.
        angles.resize(room(width), angles[count - 1]);
        self.registers.evict(&mut self.assembler, 0xff << own, NONE);
        self.packing().pack(width, own + ARGUMENT, &angles);
        self.call_sincos(width);
        for (values, from) in [(&sines, SIN), (&cosines, COS)] {
            if values.iter().any(|&v| v != NONE) {
                let offset = self.registers.new_rows(values);
                let middle = self.registers.frame.middle;
                self.assembler.store(width, middle, offset, own + from);
            }
        }
        for i in first..first + count {
            let operands = self.registers.values.operands[i];
            self.registers.release(operands);
            self.registers.end(operands);
        }
        for v in sines.into_iter().chain(cosines).filter(|&v| v != NONE) {
            self.written(v);
        }
    }
}
