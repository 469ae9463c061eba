//! Compiles a tape with Cranelift, for processors that our own compiler does not know.
//!
//! ```text
//! Tape ──liveness, schedule──► ClifBuilder ──► one block of CLIF ──Cranelift──► bytes without relocations
//! fn(inputs, outputs, middle of the rows), with the platform's calling convention
//! ```
//!
//! The bits are those of the interpreter: Cranelift neither reassociates nor contracts. Fused multiply-adds
//! are the processor's instruction, or the routine that the interpreter uses. Sines, cosines and functions
//! are calls of the interpreter's own, with angles that do not depend on each other grouped as in
//! `schedule.rs`. Several states go two at a time where the processor has registers of two doubles, else one
//! after the other.
//!
//! **Compile time.** Register allocation dominates, and grows faster than the length of the code. So a value
//! that is not read within the next `REACH` instructions waits in memory, which keeps live ranges short;
//! beyond [`LONG`] instructions a faster allocator is used, whose code is slower.

mod builder;
mod instruction;
mod routine;

use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::{F64, F64X2};
use cranelift_codegen::ir::{AbiParam, Function as Body, Signature, UserFuncName};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};

use self::builder::{BuiltFunction, ClifBuilder, FunctionShape};
use super::machine_code::GeneratedCode;
use crate::backend::lanes::Lanes;
use crate::tape::program::Tape;

/// Instructions beyond which the quicker allocator is taken.
const LONG: usize = 4_000;

/// How registers are given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocator {
    /// With ranges that are split and tried again: good code.
    Backtracking,
    /// In one pass: quickly.
    SinglePass,
}

impl Allocator {
    pub(super) const ALL: [Self; 2] = [Self::Backtracking, Self::SinglePass];
}

/// What the code is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct CraneliftTarget {
    pub(super) allocator: Allocator,
    /// Multiply-adds that round once are an instruction.
    pub(super) multiply_add: bool,
}

/// The code of the part `per_evaluation`; `None` where Cranelift knows no such processor.
pub(super) fn write(tape: &Arc<Tape>, lanes: Lanes) -> Option<GeneratedCode> {
    let is_long = tape.per_evaluation.len() > LONG;
    let allocator = if is_long { Allocator::SinglePass } else { Allocator::Backtracking };
    write_for(tape, lanes, CraneliftTarget { allocator, multiply_add: has_multiply_add() })
}

pub(super) fn write_for(
    tape: &Arc<Tape>,
    lanes: Lanes,
    target: CraneliftTarget,
) -> Option<GeneratedCode> {
    let isa = isa(target.allocator)?;
    let kind = if lanes == Lanes::One || !HAS_PAIRS { F64 } else { F64X2 };
    let mut context = Context::new();
    context.func = Body::with_name_signature(UserFuncName::default(), entry(&*isa));
    let shape = FunctionShape { kind, multiply_add: target.multiply_add, lanes: lanes.count() };
    let writer = ClifBuilder::new(tape, &mut context.func, &*isa, shape);
    let BuiltFunction { calls, fixed, rows } = writer.write()?;
    let code = context.compile(&*isa, &mut ControlPlane::default()).ok()?;
    // A relocation would ask for a routine that is not ours.
    let is_whole = code.buffer.relocs().is_empty();
    let bytes = code.code_buffer().to_vec();
    is_whole.then_some(GeneratedCode {
        bytes,
        calls,
        fixed,
        rows,
        step: kind.lane_count() as usize,
    })
}

/// Whether there is code for this processor.
pub(super) fn knows_processor() -> bool {
    isa(Allocator::Backtracking).is_some()
}

/// Processors whose registers of two doubles Cranelift always uses.
const HAS_PAIRS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// What this processor is, with an allocator.
fn isa(allocator: Allocator) -> Option<OwnedTargetIsa> {
    static FOUND: OnceLock<[Option<OwnedTargetIsa>; 2]> = OnceLock::new();
    FOUND.get_or_init(|| Allocator::ALL.map(find))[allocator as usize].clone()
}

fn find(allocator: Allocator) -> Option<OwnedTargetIsa> {
    let allocator = match allocator {
        Allocator::Backtracking => "backtracking",
        Allocator::SinglePass => "single_pass",
    };
    let mut flags = settings::builder();
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", "none"),
        ("regalloc_algorithm", allocator),
        ("enable_verifier", verifier),
        ("unwind_info", "false"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).ok()?;
    }
    cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()
}

fn entry(isa: &dyn TargetIsa) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params = vec![AbiParam::new(isa.pointer_type()); 3];
    signature
}

/// Whether multiply-adds that round once are an instruction: of all processors that Cranelift knows, only
/// x86-64 may lack it.
pub(super) fn has_multiply_add() -> bool {
    #[cfg(target_arch = "x86_64")]
    return super::simd::cpu_features().fma;
    #[cfg(not(target_arch = "x86_64"))]
    true
}
