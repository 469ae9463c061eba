//! Machine code: the part `per_evaluation` of a tape, under the contract of `tape/program.rs`.
//!
//! ```text
//! Tape ──liveness, schedule──► order and uses ──x86_64 or cranelift──► bytes ──machine_code──► executable pages
//! ```
//!
//! | room | |
//! |---|---|
//! | `x86_64/` | our own compiler for x86-64 on Unix, with AVX2 and FMA or with AVX-512 |
//! | `row_code.rs` | loops over the rows of families of like terms, by our own compiler |
//! | `cranelift/` | code by Cranelift, with the feature `cranelift`, for other processors or where it is asked for |
//! |  `web_assembly/` | a tape as a WebAssembly module of a page (`web_code.rs`), with the feature `web` |
//! | `simd/` | portable loops of the interpreters that are also compiled for wider vector registers |
//!
//! Without any of these the interpreter does the work (`absent.rs`). The bits are those of the interpreter:
//! the same operations in the same order, each rounded alike, and the same library functions.
//!
//! **Memory.** A page is writable or executable, never both. Code is shared by its clones and freed with the last one.
//!
//! This is the only module with `unsafe`: it calls machine code, machine code calls back, and loops are
//! compiled for instructions that only some processors have.
#![allow(unsafe_code, reason = "machine code is called here, and calls back")]

#[cfg(feature = "cranelift")]
mod cranelift;
#[cfg(any(
    all(target_arch = "x86_64", unix),
    feature = "cranelift",
    all(target_arch = "wasm32", feature = "web")
))]
mod library_call;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod liveness;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod machine_code;
#[cfg(all(target_arch = "x86_64", unix))]
mod row_code;
#[cfg(all(test, target_arch = "x86_64", unix))]
mod row_tests;
#[cfg(any(all(target_arch = "x86_64", unix), feature = "cranelift"))]
mod schedule;
mod simd;
#[cfg(all(test, any(all(target_arch = "x86_64", unix), feature = "cranelift")))]
mod tests;
#[cfg(any(
    all(test, target_arch = "x86_64", unix),
    all(target_arch = "wasm32", feature = "web")
))]
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "a page uses all of it"))]
mod web_assembly;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86_64;

#[cfg(all(target_arch = "wasm32", feature = "web"))]
#[path = "web_code.rs"]
mod machine_code;

#[cfg(not(any(
    all(target_arch = "x86_64", unix),
    feature = "cranelift",
    all(target_arch = "wasm32", feature = "web")
)))]
#[path = "absent.rs"]
mod machine_code;

#[cfg(not(all(target_arch = "x86_64", unix)))]
#[path = "row_code_absent.rs"]
mod row_code;

pub(crate) use machine_code::MachineCode;
pub(crate) use row_code::RowCode;
pub use simd::sincos_fused;
pub(crate) use simd::{
    LANES, Records, RightSide, RowRoom, RowWork, Rowed, Sums, convolve, execute_fused,
    function_row, pass_on, sum_rows, sweep_fused,
};
