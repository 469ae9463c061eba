//! Machine code in memory, ready to be called.

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::assembler::Width;
use super::call::Call;
use super::emitter::{Emitted, Machine, Target, emit};
use crate::instruction::Slot;
use crate::lanes::Lanes;
use crate::program::Tape;

/// The code of a tape for some lanes. What a call needs is at hand, not behind the shared pointer.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// The begin of the pages.
    entry: Entry,
    lanes: usize,
    /// How many lanes one call of the code evaluates.
    step: usize,
    /// How many doubles there are in all lanes: inputs, outputs, memory, and memory before the middle.
    inputs: usize,
    outputs: usize,
    memory: usize,
    middle: usize,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Executable and not writable.
    _pages: Mmap,
    /// Addresses of these stand in the code.
    _calls: Vec<Arc<Call>>,
    fixed: Vec<Slot>,
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
        let pages = pages.make_exec().ok()?;
        // SAFETY: the pages begin with a function of this type that `emit` wrote, and live as long as `shared`.
        let entry: Entry = unsafe { std::mem::transmute(pages.as_ptr()) };
        // The middle begins a line of the cache.
        let before = fixed.len().next_multiple_of(8);
        let lanes = lanes.count();
        Some(Self {
            entry,
            lanes,
            step: target.lanes,
            inputs: tape.layout.inputs * lanes,
            outputs: tape.outputs.len() * lanes,
            memory: (before + rows) * lanes,
            middle: before * lanes,
            shared: Arc::new(Shared { _pages: pages, _calls: calls, fixed, bytes }),
        })
    }

    /// The slots whose values the code reads from the rows, from the last row before the middle downwards.
    pub(crate) fn fixed(&self) -> &[Slot] {
        &self.shared.fixed
    }

    /// How many doubles of memory a run needs.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Where the middle of this memory is.
    pub(crate) fn middle(&self) -> usize {
        self.middle
    }

    /// Its size, constants included.
    pub(crate) fn bytes(&self) -> usize {
        self.shared.bytes
    }

    /// Evaluates all lanes.
    #[inline]
    pub(crate) fn run(&self, inputs: &[f64], outputs: &mut [f64], memory: &mut [f64]) {
        assert!(inputs.len() == self.inputs, "number of inputs");
        assert!(outputs.len() == self.outputs, "number of outputs");
        assert!(memory.len() >= self.memory, "memory of the code");
        let (inputs, outputs, memory) =
            (inputs.as_ptr(), outputs.as_mut_ptr(), memory.as_mut_ptr());
        if self.step < self.lanes {
            return self.run_in_parts(inputs, outputs, memory);
        }
        // SAFETY: the code reads rows of `lanes` doubles from the inputs, writes such rows to the outputs, and uses rows before and behind the
        // middle: just those whose number was checked above. It is written for this processor, and what it calls lives as long as the pages.
        unsafe { (self.entry)(inputs, outputs, memory.add(self.middle)) }
    }

    /// Lanes that one register does not hold, one register after another. Apart, so that nothing has to survive the call of the others.
    #[inline(never)]
    fn run_in_parts(&self, inputs: *const f64, outputs: *mut f64, memory: *mut f64) {
        for first in (0..self.lanes).step_by(self.step) {
            // SAFETY: as above, and `run` has checked the numbers.
            unsafe {
                let middle = memory.add(self.middle + first);
                (self.entry)(inputs.add(first), outputs.add(first), middle);
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
