//! Machine code in executable memory, ready to be called.

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use super::library_call::LibraryCall;
#[cfg(all(target_arch = "x86_64", unix))]
use super::x86_64;
use crate::backend::Backend;
use crate::backend::lanes::Lanes;
use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

/// Machine code that is not in its place yet; it does not care where that is.
pub(super) struct GeneratedCode {
    pub(super) bytes: Vec<u8>,
    /// Addresses of these stand in it.
    pub(super) calls: Vec<Arc<LibraryCall>>,
    /// The slots whose values it reads from the rows, from the last row before the middle downwards.
    pub(super) fixed: Vec<Slot>,
    /// How many rows behind the middle it uses.
    pub(super) rows: usize,
    /// How many lanes one call of it evaluates.
    pub(super) step: usize,
}

/// The code of a tape for some lanes. What a call needs is at hand, not behind the shared pointer.
#[derive(Clone, Debug)]
pub(crate) struct MachineCode {
    /// The begin of the pages.
    entry: EntryPoint,
    lanes: usize,
    /// How many lanes one call of the code evaluates, and how many calls all lanes take.
    step: usize,
    parts: usize,
    /// How many doubles there are in all lanes: inputs, outputs, memory, and memory before the middle.
    inputs: usize,
    outputs: usize,
    memory: usize,
    middle: usize,
    shared: Arc<SharedCode>,
}

#[derive(Debug)]
struct SharedCode {
    /// Executable and not writable.
    _pages: Mmap,
    /// Addresses of these stand in the code.
    _calls: Vec<Arc<LibraryCall>>,
    fixed: Vec<Slot>,
    bytes: usize,
}

/// Inputs, outputs, the middle of the rows, and what a loop over rows reads besides.
#[cfg(all(target_arch = "x86_64", unix))]
type LoopEntryPoint = unsafe extern "C" fn(*const f64, *mut f64, *mut f64, *const u64);

/// Inputs, outputs, and the middle of the rows.
type EntryPoint = unsafe extern "C" fn(*const f64, *mut f64, *mut f64);

impl MachineCode {
    /// The code for this processor, if it can be had in this way.
    pub(crate) fn compile(tape: &Arc<Tape>, lanes: Lanes, backend: Backend) -> Option<Self> {
        let written = match backend {
            #[cfg(all(target_arch = "x86_64", unix))]
            Backend::Native => x86_64::write(tape, lanes, x86_64::instruction_sets().next()?),
            #[cfg(feature = "cranelift")]
            Backend::Cranelift => super::cranelift::write(tape, lanes),
            _ => None,
        };
        Self::place(tape, lanes, written?)
    }

    /// Whether code can be had in this way here.
    pub(crate) fn exists(backend: Backend) -> bool {
        match backend {
            #[cfg(all(target_arch = "x86_64", unix))]
            Backend::Native => x86_64::instruction_sets().next().is_some(),
            #[cfg(feature = "cranelift")]
            Backend::Cranelift => super::cranelift::knows_processor(),
            _ => false,
        }
    }

    /// The code in pages of its own.
    pub(super) fn place(tape: &Tape, lanes: Lanes, written: GeneratedCode) -> Option<Self> {
        let GeneratedCode { bytes, calls, fixed, rows, step } = written;
        if refused() {
            return None;
        }
        let mut pages = MmapMut::map_anon(bytes.len()).ok()?;
        pages.copy_from_slice(&bytes);
        let pages = pages.make_exec().ok()?;
        #[cfg(feature = "cranelift")]
        announce(&pages)?;
        // SAFETY: the pages begin with a function of this type, by construction of the code generators, and live as
        // long as `shared`.
        let entry: EntryPoint = unsafe { std::mem::transmute(pages.as_ptr()) };
        // The middle begins a line of the cache.
        let before = fixed.len().next_multiple_of(8);
        let lanes = lanes.count();
        Some(Self {
            entry,
            lanes,
            step,
            parts: lanes.div_ceil(step),
            inputs: tape.layout.inputs * lanes,
            outputs: tape.outputs.len() * lanes,
            memory: (before + rows) * lanes,
            middle: before * lanes,
            shared: Arc::new(SharedCode {
                _pages: pages,
                _calls: calls,
                fixed,
                bytes: bytes.len(),
            }),
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
        // SAFETY: the code reads rows of `lanes` doubles from the inputs, writes such rows to the outputs,
        // and uses rows before and behind the middle: just those whose number was checked above. It is
        // written for this processor, and what it calls lives as long as the pages.
        unsafe { (self.entry)(inputs, outputs, memory.add(self.middle)) }
    }

    /// How many calls all lanes take.
    #[inline]
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// Evaluates the lanes of one call.
    #[inline]
    pub(crate) fn run_part(
        &self,
        part: usize,
        inputs: &[f64],
        outputs: &mut [f64],
        memory: &mut [f64],
    ) {
        assert!(part < self.parts(), "a part");
        assert!(inputs.len() == self.inputs, "number of inputs");
        assert!(outputs.len() == self.outputs, "number of outputs");
        assert!(memory.len() >= self.memory, "memory of the code");
        let first = part * self.step;
        // SAFETY: as in `run`: the lanes from `first` on of rows whose number was checked above.
        unsafe {
            let middle = memory.as_mut_ptr().add(self.middle + first);
            (self.entry)(inputs.as_ptr().add(first), outputs.as_mut_ptr().add(first), middle);
        }
    }

    /// Lanes that one register does not hold, one register after another. Apart, so that nothing has to
    /// survive the call of the others.
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

/// Loops over rows.
#[cfg(all(target_arch = "x86_64", unix))]
impl MachineCode {
    /// Whether there is room for the rows of a loop: doubles of all inputs, of a row for each output, of its memory.
    #[inline]
    pub(super) fn check_rows(&self, inputs: usize, outputs: usize, memory: usize) {
        assert!(inputs >= self.inputs, "number of inputs");
        assert!(outputs == self.outputs, "number of outputs");
        assert!(memory >= self.memory, "memory of the code");
    }

    /// How many lanes a part has.
    #[inline]
    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// Calls a loop over rows for the lanes of one part.
    ///
    /// # Safety
    ///
    /// The code is that of a loop; its rows were checked, and the table is one of its part.
    #[inline]
    pub(super) unsafe fn enter_rows(
        &self,
        part: usize,
        (inputs, outputs): (*const f64, *mut f64),
        memory: *mut f64,
        table: *const u64,
    ) {
        let first = part * self.step;
        // SAFETY: a loop has this type, and the rest is the caller's promise.
        unsafe {
            let entry: LoopEntryPoint = std::mem::transmute(self.entry);
            entry(
                inputs.add(first),
                outputs.add(first),
                memory.add(self.middle + first),
                table,
            );
        }
    }
}

#[cfg(not(test))]
fn refused() -> bool {
    false
}

#[cfg(test)]
thread_local! {
    /// Pages that are still given before the system refuses them; tests say how many.
    pub(super) static LEFT: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

/// Whether the system would refuse a page.
#[cfg(test)]
fn refused() -> bool {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(usize::from(left != usize::MAX)));
    left == 0
}

/// Tells the processor of new code, where it does not see by itself that memory has changed.
#[cfg(feature = "cranelift")]
fn announce(pages: &Mmap) -> Option<()> {
    use wasmtime_internal_jit_icache_coherence::{clear_cache, pipeline_flush_mt};
    // SAFETY: the range is that of the pages, which are there.
    unsafe { clear_cache(pages.as_ptr().cast(), pages.len()) }.ok()?;
    pipeline_flush_mt().ok()
}
