//! Backends: what evaluates a program, one state at a time or several at once.
//!
//! ```text
//! Program ──interpreter──► Interpreter         one state, on every processor
//!         ──batch────────► BatchInterpreter    many states, on every processor
//!         ──native_code──► NativeCode ──start──► NativeExecutor    one, four or eight states
//!         ──executor─────► Executor            one state, with the backend that the caller names
//! ```
//!
//! All of them keep the contract of `tape/program.rs`, so all give the same bits; they differ in the time
//! that they take to prepare and to run. Which backend is used is always an argument: nothing here is global.

pub(crate) mod aligned_buffer;
pub(crate) mod batch;
pub(crate) mod executor;
pub(crate) mod graph_evaluator;
pub(crate) mod interpreter;
pub(crate) mod lane_executor;
pub(crate) mod lanes;
pub(crate) mod layer_executor;
pub(crate) mod layer_lanes;
pub(crate) mod native;
pub(crate) mod native_executor;
pub(crate) mod row_plan;
pub(crate) mod runge_kutta;
pub(crate) mod tiered;

use crate::backend::native::MachineCode;

/// What evaluates a program. All backends give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The interpreter of the tape, on every processor.
    Interpreter,
    /// Machine code by this crate's own compiler: x86-64 with AVX2 and FMA, on Unix.
    Native,
    /// Machine code by Cranelift, if this crate was built with the feature `cranelift`: x86-64, AArch64,
    /// RISC-V with 64 bits and s390x.
    Cranelift,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Interpreter, Self::Native, Self::Cranelift];

    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interpreter => "tape",
            Self::Native => "native",
            Self::Cranelift => "cranelift",
        }
    }

    /// Whether this build contains it and this processor can run it. Where a backend is not available, the
    /// interpreter takes its place.
    pub fn is_available(self) -> bool {
        self == Self::Interpreter || MachineCode::exists(self)
    }

    /// The fastest backend that is available.
    pub fn fastest() -> Self {
        let by_speed = [Self::Native, Self::Cranelift];
        by_speed.into_iter().find(|b| b.is_available()).unwrap_or(Self::Interpreter)
    }

    /// Whether its code takes so long to compile that a run has to be long to be worth it.
    pub(crate) fn compiles_slowly(self) -> bool {
        self == Self::Cranelift
    }
}

/// The fastest backend that is available.
impl Default for Backend {
    fn default() -> Self {
        Self::fastest()
    }
}
