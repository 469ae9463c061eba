//! Our own compiler for x86-64: which instruction sets this processor has, and the code for one of them.
//!
//! ```text
//! Tape ──emitter (registers, comparison, packing, angles, call)──► assembler (opcode, constants) ──► bytes
//!             └──row_loop: the same in a loop over rows──┘
//! ```

mod angles;
mod assembler;
mod call;
mod comparison;
mod constants;
#[cfg(test)]
mod disassembly;
mod emitter;
mod listing;
mod opcode;
mod packing;
mod registers;
mod row_loop;
mod trigonometry;

use std::sync::Arc;

use super::simd::cpu_features;
use crate::backend::lanes::Lanes;
use crate::backend::native::machine_code::GeneratedCode;
use crate::backend::row_plan::LoopShape;
use crate::tape::program::Tape;
use assembler::Width;
pub(super) use emitter::InstructionSet;
use emitter::{CodegenTarget, EmittedCode, emit};
pub(super) use row_loop::limits as loop_limits;

/// The code for a isa that this processor is.
pub(super) fn write(
    tape: &Arc<Tape>,
    lanes: Lanes,
    isa: InstructionSet,
) -> Option<GeneratedCode> {
    let target = target(lanes, isa);
    let EmittedCode { assembler, calls, fixed, rows } = emit(tape, target)?;
    Some(GeneratedCode { bytes: assembler.code, calls, fixed, rows, step: target.lanes })
}

/// The loop of a shape over rows of these terms, whose varying arguments its loads are.
pub(super) fn write_loop(
    tape: &Arc<Tape>,
    isa: InstructionSet,
    shape: &LoopShape,
    varying: &[usize],
) -> Option<GeneratedCode> {
    let target = target(Lanes::Eight, isa);
    let EmittedCode { assembler, calls, fixed, rows } =
        row_loop::emit_loop(tape, target, shape, varying)?;
    Some(GeneratedCode { bytes: assembler.code, calls, fixed, rows, step: target.lanes })
}

/// What this processor is, the best first.
pub(super) fn instruction_sets() -> impl Iterator<Item = InstructionSet> {
    let can = cpu_features();
    let avx2 = can.avx2 && can.fma;
    let avx512 = avx2 && can.avx512;
    let found =
        [avx512.then_some(InstructionSet::Avx512), avx2.then_some(InstructionSet::Avx2)];
    found.into_iter().flatten()
}

/// Eight lanes are two times four where registers are narrow.
fn target(lanes: Lanes, isa: InstructionSet) -> CodegenTarget {
    let stride = 8 * lanes.count() as i32;
    let width = match (lanes, isa) {
        (Lanes::One, _) => Width::Scalar,
        (Lanes::Eight, InstructionSet::Avx512) => Width::Zmm,
        (Lanes::Four, _) | (Lanes::Eight, InstructionSet::Avx2) => Width::Ymm,
    };
    CodegenTarget { isa, width, stride, lanes: width.bytes() as usize / 8 }
}
