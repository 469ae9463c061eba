//! Native code: the part `per_evaluation` of a tape as machine code, under the contract of `program.rs`.
//!
//! ```text
//! Tape ──values──► who reads what ──emitter (registers, operation)──► assembler ──► bytes ──► pages: written, then executed
//! ```
//!
//! For x86-64 on Unix, with AVX2 and FMA or with AVX-512, whichever the processor has. On other processors
//! and systems, and where it is asked for, `cranelift.rs` writes the code if the
//! feature `cranelift` is there; else the interpreter serves. Either way the bytes go the same road into the
//! same kind of pages. What depends on parameters alone is left to the interpreter. Bits are those of the
//! interpreter: the same operations in the same order, each rounded alike,
//! functions called where it calls them.
//!
//! **Memory.** A page is writable or executable, never both. Code belongs to all its clones and goes with the last one.
//!
//! The only module with `unsafe`: calling the code, functions that the code calls, and interpreters compiled
//! for processors with more instructions.
#![allow(unsafe_code, reason = "machine code is called here, and calls back")]

#[cfg(feature = "cranelift")]
mod cranelift;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod library_call;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod liveness;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod machine_code;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod schedule;
mod simd;
#[cfg(all(test, any(all(target_arch = "x86_64", unix), feature = "cranelift")))]
mod tests;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86_64;

#[cfg(not(any(all(target_arch = "x86_64", unix), feature = "cranelift")))]
#[path = "absent.rs"]
mod machine_code;

pub(crate) use machine_code::MachineCode;
pub(crate) use simd::{
    LANES, Records, RightSide, Rowed, Sums, convolve, execute_fused, function_row, pass_on,
    sincos_fused, sweep_fused,
};
