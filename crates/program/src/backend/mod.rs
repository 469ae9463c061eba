//! The ways to evaluate a program, and which of them is taken.

pub(crate) mod batch;
pub(crate) mod executor;
pub(crate) mod graph_evaluator;
pub(crate) mod interpreter;
pub(crate) mod lanes;
pub(crate) mod native;
pub(crate) mod runge_kutta;
pub(crate) mod tiered;

use std::sync::atomic::{AtomicU8, Ordering};

use crate::backend::native::MachineCode;

/// A way to evaluate a program. All give the same bits; they differ in the time that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// By the tape, on every processor.
    Interpreter,
    /// By machine code of our own: x86-64 with AVX2 and FMA, on Unix.
    Native,
    /// By machine code of Cranelift, if this crate was built with the feature `cranelift`: x86-64, AArch64,
    /// RISC-V with 64 bits and s390x.
    Cranelift,
}

/// One more than the place of the preferred way in [`Backend::ALL`]; 0 if none is preferred.
static PREFERRED: AtomicU8 = AtomicU8::new(0);

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

    /// Whether this build has it and this processor allows it.
    pub fn is_available(self) -> bool {
        self == Self::Interpreter || MachineCode::exists(self)
    }

    /// From now on every program of this process is evaluated in this way where it is here, and by the tape
    /// otherwise; `None` leaves the choice to the program again. For tests,
    /// measurements, and users who trust one way more than another.
    pub fn prefer(way: Option<Self>) {
        let place = Self::ALL.iter().position(|&w| Some(w) == way);
        PREFERRED.store(place.map_or(0, |p| p as u8 + 1), Ordering::Relaxed);
    }

    /// The way that is taken: the preferred one, else the fastest; by the tape where that is not here.
    pub fn best() -> Self {
        Self::candidates()
            .iter()
            .copied()
            .find(|way| way.is_available())
            .unwrap_or(Self::Interpreter)
    }

    /// Whether its code takes so long to write that a run has to show first that it is long.
    pub(crate) fn compiles_slowly(self) -> bool {
        self == Self::Cranelift
    }

    /// The ways that come into question, the best first.
    pub(crate) fn candidates() -> &'static [Self] {
        match PREFERRED.load(Ordering::Relaxed) {
            0 => &Self::ALL[1..],
            place => std::slice::from_ref(&Self::ALL[usize::from(place) - 1]),
        }
    }
}
