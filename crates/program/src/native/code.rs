//! Machine code in memory, ready to be called.

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::assembler::Width;
use super::call::Call;
use super::emitter::{Emitted, Machine, Target, emit};
use crate::instruction::Slot;
use crate::lanes::Lanes;
use crate::program::Tape;

/// The code of a tape for some lanes.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Executable and not writable.
    pages: Mmap,
    /// Addresses of these stand in the code.
    _calls: Vec<Arc<Call>>,
    fixed: Vec<Slot>,
    rows: usize,
    lanes: usize,
    /// How many lanes one call of the code evaluates.
    step: usize,
    inputs: usize,
    outputs: usize,
    bytes: usize,
}

/// Inputs, outputs, and the middle of the rows.
type Entry = unsafe extern "sysv64" fn(*const f64, *mut f64, *mut f64);

impl Code {
    /// The code for this processor, if there is any.
    pub(crate) fn compile(tape: &Arc<Tape>, lanes: Lanes) -> Option<Self> {
        Self::compile_for(tape, lanes, machines().next()?)
    }

    /// The code for a machine that this processor is.
    pub(super) fn compile_for(
        tape: &Arc<Tape>,
        lanes: Lanes,
        machine: Machine,
    ) -> Option<Self> {
        let target = target(lanes, machine);
        let Emitted { assembler, calls, fixed, rows } = emit(tape, target)?;
        let bytes = assembler.code.len();
        let mut pages = MmapMut::map_anon(bytes).ok()?;
        pages.copy_from_slice(&assembler.code);
        let shared = Shared {
            pages: pages.make_exec().ok()?,
            _calls: calls,
            fixed,
            rows,
            lanes: lanes.count(),
            step: target.lanes,
            inputs: tape.layout.inputs,
            outputs: tape.outputs.len(),
            bytes,
        };
        Some(Self { shared: Arc::new(shared) })
    }

    /// The slots whose values the code reads from the rows, from the last row before the middle downwards.
    pub(crate) fn fixed(&self) -> &[Slot] {
        &self.shared.fixed
    }

    /// How many rows there are before the middle, so that it begins a line of the cache.
    pub(crate) fn rows_before(&self) -> usize {
        self.shared.fixed.len().next_multiple_of(8)
    }

    /// How many rows it needs behind the middle.
    pub(crate) fn rows(&self) -> usize {
        self.shared.rows
    }

    /// Its size, constants included.
    pub(crate) fn bytes(&self) -> usize {
        self.shared.bytes
    }

    /// Evaluates all lanes. `memory` holds the rows, first those before the middle.
    pub(crate) fn run(&self, inputs: &[f64], outputs: &mut [f64], memory: &mut [f64]) {
        let Shared { ref pages, rows, lanes, step, .. } = *self.shared;
        assert_eq!(inputs.len(), self.shared.inputs * lanes, "number of inputs");
        assert_eq!(outputs.len(), self.shared.outputs * lanes, "number of outputs");
        let before = self.rows_before();
        assert!(memory.len() >= (before + rows) * lanes, "rows of the code");
        // SAFETY: the pages begin with a function of this type that `emit` wrote.
        let entry: Entry = unsafe { std::mem::transmute(pages.as_ptr()) };
        let middle = &raw mut memory[before * lanes..];
        for first in (0..lanes).step_by(step) {
            // SAFETY: the code reads `inputs` rows of `lanes` doubles, writes `outputs` such rows, and uses at most `before` rows before the middle and `rows`
            // behind it: just what was checked above. It is written for this processor, and what it calls lives as long as the pages.
            unsafe {
                entry(
                    inputs.as_ptr().add(first),
                    outputs.as_mut_ptr().add(first),
                    middle.cast::<f64>().add(first),
                );
            }
        }
    }
}

/// What this processor is, the best first.
pub(super) fn machines() -> impl Iterator<Item = Machine> {
    use std::arch::is_x86_feature_detected as has;
    let avx2 = has!("avx2") && has!("fma");
    let avx512 = avx2 && has!("avx512f") && has!("avx512dq") && has!("avx512vl");
    let found = [avx512.then_some(Machine::Avx512), avx2.then_some(Machine::Avx2)];
    found.into_iter().flatten()
}

/// Eight lanes are two times four where registers are narrow.
pub(super) fn target(lanes: Lanes, machine: Machine) -> Target {
    let stride = 8 * lanes.count() as i32;
    let width = match (lanes, machine) {
        (Lanes::One, _) => Width::Scalar,
        (Lanes::Eight, Machine::Avx512) => Width::Zmm,
        (Lanes::Four, _) | (Lanes::Eight, Machine::Avx2) => Width::Ymm,
    };
    Target { machine, width, stride, lanes: width.bytes() as usize / 8 }
}
