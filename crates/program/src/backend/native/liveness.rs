//! Liveness of the values of a tape: each is written once here, with all places where it is read.
//!
//! Slots are reused, but a register allocator wants to know which value is needed when. Inputs, parameters,
//! constants and kept values are the values `0 ..`, numbered as their slots; every result of an instruction
//! is a further one. Instructions are in the order of `schedule.rs`.

use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

/// No value.
pub(super) const NONE: u32 = u32::MAX;
/// Later than every instruction.
pub(super) const NEVER: u32 = u32::MAX;

/// Which values the instructions of the part `per_evaluation` read and write.
#[derive(Debug)]
pub(super) struct Liveness {
    /// Which instruction of the tape comes when.
    pub(super) order: Vec<u32>,
    /// By place in that order; [`NONE`] where there are fewer.
    pub(super) operands: Vec<[u32; 3]>,
    /// By place in that order.
    pub(super) results: Vec<[u32; 2]>,
    /// By output.
    pub(super) outputs: Vec<u32>,
    /// How many there are.
    pub(super) count: usize,
    /// When each operand is read again after this place.
    after: Vec<[u32; 3]>,
    /// When each value is read next.
    upcoming: Vec<u32>,
    /// An output of each value, and the next output of the same value.
    first_output: Vec<u32>,
    next_output: Vec<u32>,
}

/// Which values each instruction reads and writes.
struct Accesses {
    operands: Vec<[u32; 3]>,
    results: Vec<[u32; 2]>,
}

impl Liveness {
    /// With the instructions in their order.
    pub(super) fn of(tape: &Tape) -> Self {
        let mut value_of: Vec<u32> = (0..tape.layout.slots() as u32).collect();
        let mut count = tape.layout.first_temporary();
        let mut operands = Vec::with_capacity(tape.per_evaluation.len());
        let mut results = Vec::with_capacity(tape.per_evaluation.len());
        for instruction in &tape.per_evaluation {
            let mut read = [NONE; 3];
            for (place, slot) in read.iter_mut().zip(instruction.operands()) {
                *place = value_of[slot as usize];
            }
            let mut written = [NONE; 2];
            for (place, slot) in written.iter_mut().zip(instruction.results()) {
                *place = count as u32;
                value_of[slot as usize] = count as u32;
                count += 1;
            }
            operands.push(read);
            results.push(written);
        }
        let outputs = tape.outputs.iter().map(|&slot: &Slot| value_of[slot as usize]).collect();
        let order = (0..operands.len() as u32).collect();
        Self::with_uses(order, Accesses { operands, results }, outputs, count)
    }

    /// With the instructions in another order.
    pub(super) fn reordered(self, order: Vec<u32>) -> Self {
        let operands = order.iter().map(|&i| self.operands[i as usize]).collect();
        let results = order.iter().map(|&i| self.results[i as usize]).collect();
        Self::with_uses(order, Accesses { operands, results }, self.outputs, self.count)
    }

    fn with_uses(
        order: Vec<u32>,
        Accesses { operands, results }: Accesses,
        outputs: Vec<u32>,
        count: usize,
    ) -> Self {
        let mut upcoming = vec![NEVER; count];
        let mut after = vec![[NEVER; 3]; operands.len()];
        for (i, list) in operands.iter().enumerate().rev() {
            for (k, &v) in list.iter().enumerate() {
                if v != NONE {
                    after[i][k] = upcoming[v as usize];
                }
            }
            for &v in list {
                if v != NONE {
                    upcoming[v as usize] = i as u32;
                }
            }
        }
        let (mut first_output, mut next_output) =
            (vec![NONE; count], vec![NONE; outputs.len()]);
        for (o, &v) in outputs.iter().enumerate().rev() {
            next_output[o] = first_output[v as usize];
            first_output[v as usize] = o as u32;
        }
        Self {
            order,
            operands,
            results,
            outputs,
            count,
            after,
            upcoming,
            first_output,
            next_output,
        }
    }

    /// The instruction at this place reads its operands now.
    pub(super) fn pass(&mut self, place: usize) {
        for (v, after) in self.operands[place].into_iter().zip(self.after[place]) {
            if v != NONE {
                self.upcoming[v as usize] = after;
            }
        }
    }

    /// The next place that reads the value, or [`NEVER`].
    #[inline]
    pub(super) fn next_use(&self, v: u32) -> u32 {
        self.upcoming[v as usize]
    }

    /// Whether nothing reads it any more.
    #[inline]
    pub(super) fn is_dead(&self, v: u32) -> bool {
        self.upcoming[v as usize] == NEVER
    }

    /// The first output that is this value.
    pub(super) fn output_of(&self, v: u32) -> Option<u32> {
        Some(self.first_output[v as usize]).filter(|&o| o != NONE)
    }

    /// The next output of the same value.
    pub(super) fn output_after(&self, o: u32) -> Option<u32> {
        Some(self.next_output[o as usize]).filter(|&o| o != NONE)
    }
}
