//! Loops over the rows of a family, in executable memory, ready to be called.

use super::machine_code::MachineCode;
use super::simd::{RowCall, RowLoop};
use super::x86_64;
use crate::backend::Backend;
use crate::backend::aligned_buffer::AlignedBuffer;
use crate::backend::batch::LANE_BLOCK;
use crate::backend::row_plan::{LoopLimits, LoopShape, TermPlace};
use crate::tape::layer::FamilyLoop;

/// The loop of one shape. It owns its memory.
#[derive(Clone, Debug)]
pub(crate) struct RowCode {
    code: MachineCode,
    memory: AlignedBuffer,
    keeps: bool,
}

/// Doubles that AND leaves as they are, for so many lanes of a block.
#[repr(align(64))]
struct Masks([[u64; LANE_BLOCK]; LANE_BLOCK + 1]);

static MASKS: Masks = {
    let mut masks = [[0; LANE_BLOCK]; LANE_BLOCK + 1];
    let mut count = 0;
    while count <= LANE_BLOCK {
        let mut lane = 0;
        while lane < count {
            masks[count][lane] = u64::MAX;
            lane += 1;
        }
        count += 1;
    }
    Masks(masks)
};

/// What the code reads of a call: blocks, two masks, sums, groups.
#[repr(C)]
struct Table {
    blocks: usize,
    mask: *const u64,
    last_mask: *const u64,
    sums: *mut f64,
    groups: [*mut f64; MOST_GROUPS],
}

/// More than there are registers.
const MOST_GROUPS: usize = 12;

impl RowCode {
    /// What loops over these terms may have, if there can be any.
    pub(crate) fn limits(family: &FamilyLoop, backend: Backend) -> Option<LoopLimits> {
        if backend != Backend::Native {
            return None;
        }
        let isa = x86_64::instruction_sets().next()?;
        let limits = x86_64::loop_limits(&family.terms.tape, isa)?;
        Some(LoopLimits { groups: limits.groups.min(MOST_GROUPS), ..limits })
    }

    /// The loop of a shape for this processor.
    pub(crate) fn compile(family: &FamilyLoop, shape: &LoopShape) -> Option<Self> {
        Self::compile_for(family, shape, x86_64::instruction_sets().next()?)
    }

    pub(super) fn compile_for(
        family: &FamilyLoop,
        shape: &LoopShape,
        isa: x86_64::InstructionSet,
    ) -> Option<Self> {
        let tape = &family.terms.tape;
        let written = x86_64::write_loop(tape, isa, shape, &family.varying)?;
        let code = MachineCode::place(tape, crate::Lanes::Eight, written)?;
        let mut slots = vec![0.0; tape.layout.slots()];
        let first = tape.layout.first_constant();
        slots[first..first + tape.constants.len()].copy_from_slice(&tape.constants);
        tape.execute(&tape.per_run, &mut slots);
        let mut memory = AlignedBuffer::new(code.memory());
        for (row, &slot) in (1..).zip(code.fixed()) {
            let begin = code.middle() - row * LANE_BLOCK;
            memory.rows()[begin..][..LANE_BLOCK].fill(slots[slot as usize]);
        }
        let keeps = shape.terms.contains(&TermPlace::Kept);
        Some(Self { code, memory, keeps })
    }
}

impl RowLoop for RowCode {
    #[inline]
    fn keeps(&self) -> bool {
        self.keeps
    }

    #[inline]
    unsafe fn run(&mut self, call: RowCall<'_>) {
        let RowCall { list, begins, blocks, last, inputs, outputs, sums } = call;
        let Self { code, memory, keeps } = self;
        code.check_rows(
            inputs.as_flattened().len(),
            sums.as_flattened().len(),
            memory.all().len(),
        );
        assert!(blocks > 0 && usize::from(last) <= LANE_BLOCK, "rows");
        assert!(!*keeps || outputs.len() >= blocks * sums.len(), "room for values");
        let mut table = Table {
            blocks,
            mask: MASKS.0[LANE_BLOCK].as_ptr(),
            last_mask: MASKS.0[usize::from(last)].as_ptr(),
            sums: sums.as_mut_ptr().cast(),
            groups: [std::ptr::null_mut(); MOST_GROUPS],
        };
        let list = list.as_mut_ptr();
        for (group, &begin) in table.groups.iter_mut().zip(begins) {
            // SAFETY: by the caller's promise.
            *group = unsafe { list.add(begin as usize) };
        }
        for part in 0..code.parts() {
            // SAFETY: the code reads and writes what its table points at, which is there by the caller's promise, rows
            // of inputs, outputs and sums, whose numbers were checked, and its own memory.
            unsafe {
                code.enter_rows(
                    part,
                    (inputs.as_ptr().cast(), outputs.as_mut_ptr().cast()),
                    memory.rows().as_mut_ptr(),
                    std::ptr::from_ref(&table).cast(),
                );
                let step = code.step();
                table.mask = table.mask.add(step);
                table.last_mask = table.last_mask.add(step);
                table.sums = table.sums.add(step);
                for group in table.groups.iter_mut().take(begins.len()) {
                    *group = group.add(step);
                }
            }
        }
    }
}
