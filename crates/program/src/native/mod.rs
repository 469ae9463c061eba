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

#[cfg(target_arch = "x86_64")]
mod abilities;
mod convolution;
mod fused;
mod rows;
mod steps;

#[cfg(all(target_arch = "x86_64", unix))]
mod assembler;
#[cfg(all(target_arch = "x86_64", unix))]
mod call;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod code;
#[cfg(feature = "cranelift")]
mod cranelift;
#[cfg(all(target_arch = "x86_64", unix))]
mod emitter;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod function;
#[cfg(all(target_arch = "x86_64", unix))]
mod group;
#[cfg(all(target_arch = "x86_64", unix))]
mod listing;
#[cfg(all(target_arch = "x86_64", unix))]
mod operation;
#[cfg(all(target_arch = "x86_64", unix))]
mod pool;
#[cfg(all(target_arch = "x86_64", unix))]
mod processor;
#[cfg(all(target_arch = "x86_64", unix))]
mod registers;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod schedule;
#[cfg(all(test, any(all(target_arch = "x86_64", unix), feature = "cranelift")))]
mod tests;
#[cfg(all(target_arch = "x86_64", unix))]
mod trigonometry;
#[cfg(all(target_arch = "x86_64", unix))]
mod truth;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod values;

#[cfg(not(any(all(target_arch = "x86_64", unix), feature = "cranelift")))]
#[path = "absent.rs"]
mod code;

pub(crate) use code::Code;
pub(crate) use convolution::{LANES, Records, Sums, convolve, pass_on};
pub(crate) use fused::{execute_fused, sincos_fused, sweep_fused};
pub(crate) use rows::{Rowed, function_row};
pub(crate) use steps::RightSide;
