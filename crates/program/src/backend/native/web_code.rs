//! Machine code in a page: the tape becomes a WebAssembly module, which the page instantiates over our memory and puts
//! into our table of functions.
//!
//! The page gives two functions in the module `pfaff`: `instantiate(bytes, length)` returns the number that the
//! module's function has in our table, or 0, and `release(number)` takes it out again.
//!
//! A small module tells once whether the instructions of the page round $ab + c$ once.

use std::sync::{Arc, OnceLock};

use pfaff_expr::{Graph, Role};

use super::library_call::{LibraryCall, LibraryFunction};
use super::web_assembly::{BEHIND, Functions, module};
use crate::Program;
use crate::backend::Backend;
use crate::backend::lanes::Lanes;
use crate::sincos::sincos;
use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

#[link(wasm_import_module = "pfaff")]
unsafe extern "C" {
    fn instantiate(bytes: *const u8, length: usize) -> usize;
    fn release(number: usize);
}

/// Inputs, outputs, memory.
type EntryPoint = unsafe extern "C" fn(*const f64, *mut f64, *mut f64);

/// The code of a tape, for one state at a time.
#[derive(Clone, Debug)]
pub(crate) struct MachineCode {
    entry: EntryPoint,
    inputs: usize,
    outputs: usize,
    shared: Arc<SharedCode>,
}

#[derive(Debug)]
struct SharedCode {
    number: usize,
    /// Addresses of these stand in the code.
    _calls: Vec<Arc<LibraryCall>>,
    fixed: Vec<Slot>,
    middle: usize,
    bytes: usize,
}

impl Drop for SharedCode {
    fn drop(&mut self) {
        // SAFETY: the number came from `instantiate`, and nobody calls the function any more.
        unsafe { release(self.number) }
    }
}

extern "C" fn library(call: *const LibraryCall, a: f64, b: f64) -> f64 {
    // SAFETY: addresses in the code are those of `SharedCode::_calls`, which live as long as the code.
    unsafe { &*call }.value(a, b)
}

extern "C" fn sine_and_cosine(x: f64, to: *mut f64) {
    let (sine, cosine) = sincos(x);
    // SAFETY: the code passes the two doubles behind the middle of its memory.
    unsafe {
        *to = sine;
        *to.add(1) = cosine;
    }
}

/// Whether multiply-adds of the page round once. It is the same for as long as the page is open.
fn page_fuses() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| instruction_rounds_once() == Some(true))
}

/// Whether the instructions round once: with $d = 2^{-30}$ and $a = b = 1 + d$, the product rounded is $1 + 2d$, and
/// $d^2$ is left of the difference if it is not. `None` where the page does not know them.
fn instruction_rounds_once() -> Option<bool> {
    let g = Graph::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| g.symbol(name, Role::Free));
    let sums = [g.add(g.mul(a, b), c), g.sub(d, g.mul(b, b))];
    let program = Program::compile(&g, &[a, b, c, d], &[], &sums).ok()?.fused();
    let code = MachineCode::with(&program.tape, true)?;
    let small = 2.0_f64.powi(-30);
    let (factor, product) = (1.0 + small, 1.0 + 2.0 * small);
    let mut found = [0.0; 2];
    let mut memory = vec![0.0; code.memory()];
    code.run(&[factor, factor, -product, product], &mut found, &mut memory);
    Some(found == [small * small, -small * small])
}

impl MachineCode {
    pub(crate) fn compile(tape: &Arc<Tape>, lanes: Lanes, backend: Backend) -> Option<Self> {
        if lanes != Lanes::One || !Self::exists(backend) {
            return None;
        }
        Self::with(tape, page_fuses())
    }

    fn with(tape: &Arc<Tape>, fuses: bool) -> Option<Self> {
        let mut calls: Vec<Arc<LibraryCall>> = Vec::new();
        let mut address = |function: LibraryFunction| {
            let call = Arc::new(LibraryCall { tape: Arc::clone(tape), function, lanes: 1 });
            let address = Arc::as_ptr(&call) as usize as u32;
            calls.push(call);
            address
        };
        let mut functions = Functions {
            library: library as *const () as usize as u32,
            sincos: sine_and_cosine as *const () as usize as u32,
            address: &mut address,
        };
        let made = module(tape, fuses, &mut functions)?;
        // SAFETY: the page reads so many bytes at this address, and keeps nothing of them.
        let number = unsafe { instantiate(made.bytes.as_ptr(), made.bytes.len()) };
        if number == 0 {
            return None;
        }
        // SAFETY: a function pointer is its number in the table, and the function there has this type.
        let entry: EntryPoint = unsafe { std::mem::transmute(number as *const ()) };
        Some(Self {
            entry,
            inputs: tape.layout.inputs,
            outputs: tape.outputs.len(),
            shared: Arc::new(SharedCode {
                number,
                _calls: calls,
                fixed: made.fixed,
                middle: made.middle,
                bytes: made.bytes.len(),
            }),
        })
    }

    pub(crate) fn exists(backend: Backend) -> bool {
        backend == Backend::Native
    }

    pub(crate) fn fixed(&self) -> &[Slot] {
        &self.shared.fixed
    }

    pub(crate) fn middle(&self) -> usize {
        self.shared.middle
    }

    pub(crate) fn memory(&self) -> usize {
        self.shared.middle + BEHIND
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shared.bytes
    }

    /// One call for all lanes: there is one.
    pub(crate) fn parts(&self) -> usize {
        1
    }

    pub(crate) fn run_part(
        &self,
        part: usize,
        inputs: &[f64],
        outputs: &mut [f64],
        memory: &mut [f64],
    ) {
        assert!(part == 0, "a part");
        self.run(inputs, outputs, memory);
    }

    pub(crate) fn run(&self, inputs: &[f64], outputs: &mut [f64], memory: &mut [f64]) {
        assert!(inputs.len() == self.inputs, "number of inputs");
        assert!(outputs.len() == self.outputs, "number of outputs");
        assert!(memory.len() >= self.memory(), "memory of the code");
        // SAFETY: the code reads the inputs, writes the outputs, and uses the memory whose lengths were checked.
        unsafe { (self.entry)(inputs.as_ptr(), outputs.as_mut_ptr(), memory.as_mut_ptr()) }
    }
}
