//! Appends instructions to a tape in SSA form and decides when each is carried out.
//!
//! Operations on constants are folded. What depends on parameters alone goes to the part `per_run`,
//! everything else to `per_evaluation`. Equal products, squares and sine-cosine pairs share one instruction.

use rustc_hash::FxHashMap;

use crate::backend::interpreter::execute;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{SsaTape, ValueOrigin};

/// No value; also the result of an instruction that has none yet.
pub(crate) const NONE: Slot = Slot::MAX;

/// Values and instructions so far.
#[derive(Debug, Default)]
pub(crate) struct TapeBuilder {
    pub(crate) tape: SsaTape,
    /// By bits, so that −0 is not 0.
    constants: FxHashMap<u64, Slot>,
    /// Instructions without results to their first result: powers share their squares.
    known: FxHashMap<Instruction, Slot>,
}

impl TapeBuilder {
    pub(crate) fn reserve(&mut self, values: usize) {
        self.tape.values.reserve(values);
        self.tape.per_evaluation.reserve(values);
    }

    /// The value of an instruction whose results are [`NONE`]; powers, products in them, and sines with
    /// cosines may have been met before.
    pub(crate) fn emit(&mut self, instruction: Instruction) -> Slot {
        let shared = matches!(
            instruction,
            Instruction::Mul { .. } | Instruction::Square { .. } | Instruction::SinCos { .. }
        );
        if !shared {
            return self.emit_new(instruction);
        }
        if let Some(&value) = self.known.get(&instruction) {
            return value;
        }
        let value = self.emit_new(instruction);
        self.known.insert(instruction, value);
        value
    }

    /// The value of an instruction whose results are [`NONE`] and that was not met before, as each operation
    /// of a graph: carried out if its operands are constants, else put into its part.
    pub(crate) fn emit_new(&mut self, instruction: Instruction) -> Slot {
        if let Some(number) = self.carried_out(instruction) {
            self.tape.once += 1;
            return self.constant(number);
        }
        let varies = |v: Slot| {
            matches!(
                self.tape.values[v as usize],
                ValueOrigin::Input(_) | ValueOrigin::PerEvaluation
            )
        };
        let origin = if instruction.operands().any(varies) {
            ValueOrigin::PerEvaluation
        } else {
            ValueOrigin::PerRun
        };
        let value = self.value(origin);
        let mut placed = instruction.rename(|v| v, |_| value);
        if let Instruction::SinCos { cos, .. } = &mut placed {
            *cos = self.value(origin);
        }
        if origin == ValueOrigin::PerRun {
            self.tape.per_run.push(placed);
        } else {
            self.tape.per_evaluation.push(placed);
        }
        value
    }

    /// Its result, if all operands are constants.
    fn carried_out(&self, instruction: Instruction) -> Option<f64> {
        let mut slots = [0.0; 4];
        for (i, operand) in instruction.operands().enumerate() {
            slots[i] = self.constant_of(operand)?;
        }
        let place = |v: Slot| {
            let position = instruction.operands().position(|o| o == v);
            position.expect("the value is an operand") as Slot
        };
        execute(&[instruction.rename(place, |_| 3)], &mut slots, &self.tape.tables);
        Some(slots[3])
    }

    pub(crate) fn constant_of(&self, value: Slot) -> Option<f64> {
        match self.tape.values[value as usize] {
            ValueOrigin::Constant(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn constant(&mut self, number: f64) -> Slot {
        if let Some(&value) = self.constants.get(&number.to_bits()) {
            return value;
        }
        let value = self.value(ValueOrigin::Constant(number));
        self.constants.insert(number.to_bits(), value);
        value
    }

    pub(crate) fn value(&mut self, origin: ValueOrigin) -> Slot {
        let value = Slot::try_from(self.tape.values.len());
        self.tape.values.push(origin);
        value.expect("a graph has fewer than 2³² nodes, and few of them make several values")
    }
}
