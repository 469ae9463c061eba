//! Calls from machine code to Rust functions: all lanes at once where `elementary.rs` has the function, else
//! lane by lane.
//!
//! Before a call all values that are read again are in memory, so that no register has to survive it. With
//! one state, operands and result are passed in registers, with several in rows of memory.

use std::slice;
use std::sync::Arc;

use super::assembler::{MachineOperand, RAX, RCX, RDI, RDX, RSI, Width};
use super::emitter::{Emitter, SCRATCH};
use crate::backend::native::library_call::{LibraryCall, LibraryFunction};
use crate::backend::native::liveness::NONE;
use crate::backend::native::simd::{Rowed, function_row, sincos_fused};
use crate::sincos::sincos;

/// The register of the first operand of a function of doubles, and of its result.
const FIRST: u8 = 0;
/// The register of the second.
const SECOND: u8 = 1;

impl Emitter<'_> {
    /// `to = function(a, b)`
    pub(super) fn call(&mut self, function: LibraryFunction, operands: [u32; 3], to: u32) {
        let lanes = self.target.lanes;
        let call = Arc::new(LibraryCall { tape: Arc::clone(self.tape), function, lanes });
        if self.target.width == Width::Scalar {
            self.call_by_registers(&call, operands, to);
        } else {
            self.call_by_memory(&call, operands, to);
        }
        self.calls.push(call);
    }

    fn call_by_registers(&mut self, call: &Arc<LibraryCall>, operands: [u32; 3], to: u32) {
        let Self { assembler, registers, .. } = self;
        let [a, b, _] = operands;
        let first = registers.operand(a);
        let second = (b != NONE).then(|| registers.operand(b));
        // What is in registers stays there until the call, though it is nobody's any more.
        registers.release(operands);
        registers.spill_all(assembler);
        let [_, scratch] = SCRATCH;
        assembler.load(Width::Scalar, scratch, first);
        if let Some(second) = second {
            assembler.load(Width::Scalar, SECOND, second);
        }
        assembler.load(Width::Scalar, FIRST, MachineOperand::Register(scratch));
        assembler.clear_upper();
        assembler.immediate(RDI, std::ptr::from_ref(&**call) as u64);
        assembler.immediate(RAX, value as *const () as u64);
        assembler.call_register(RAX);
        let d = registers.allocate(assembler);
        assembler.load(Width::Scalar, d, MachineOperand::Register(FIRST));
        registers.bind(to, d);
    }

    fn call_by_memory(&mut self, call: &Arc<LibraryCall>, [a, b, _]: [u32; 3], to: u32) {
        let Self { assembler, registers, .. } = self;
        registers.spill_all(assembler);
        let first = registers.memory_of(a);
        let second = if b == NONE { first } else { registers.memory_of(b) };
        registers.new_row(to);
        let result = registers.memory_of(to);
        assembler.clear_upper();
        for (r, (base, offset)) in [(RSI, first), (RDX, second), (RCX, result)] {
            assembler.address(r, base, offset);
        }
        assembler.immediate(RDI, std::ptr::from_ref(&**call) as u64);
        assembler.immediate(RAX, dispatch as *const () as u64);
        assembler.call_register(RAX);
    }
}

/// Carries out a call of one lane.
///
/// # Safety
///
/// `call` points at a call.
unsafe extern "sysv64" fn value(call: *const LibraryCall, a: f64, b: f64) -> f64 {
    // SAFETY: by the caller's promise.
    unsafe { &*call }.value(a, b)
}

/// Carries out a call: `to[l] = function(a[l], b[l])`.
///
/// # Safety
///
/// `call` points at a call; `a`, `b` and `to` at as many doubles as it has lanes. `to` does not overlap the others.
unsafe extern "sysv64" fn dispatch(
    call: *const LibraryCall,
    a: *const f64,
    b: *const f64,
    to: *mut f64,
) {
    // SAFETY: by the caller's promise.
    let (call, a, b, to) = unsafe {
        let lanes = (*call).lanes;
        (
            &*call,
            slice::from_raw_parts(a, lanes),
            slice::from_raw_parts(b, lanes),
            slice::from_raw_parts_mut(to, lanes),
        )
    };
    let done = match call.lanes {
        8 => in_rows::<8>(call.function, a, b, to),
        4 => in_rows::<4>(call.function, a, b, to),
        _ => false,
    };
    if done {
        return;
    }
    for ((&a, &b), to) in a.iter().zip(b).zip(to) {
        *to = call.value(a, b);
    }
}

/// All lanes at once; `false` where there is no such function.
fn in_rows<const N: usize>(
    function: LibraryFunction,
    a: &[f64],
    b: &[f64],
    to: &mut [f64],
) -> bool {
    let function = match function {
        LibraryFunction::Power => Rowed::Power,
        LibraryFunction::Unary(function) => Rowed::Unary(function),
        LibraryFunction::Binary(function) => Rowed::Binary(function),
        LibraryFunction::Table { .. } => return false,
    };
    let (Ok(a), Ok(b)) = (a.try_into(), b.try_into()) else { return false };
    to.try_into().is_ok_and(|to| function_row::<N>(function, [a, b], to))
}

/// Sine and cosine where an argument is beyond the range of the subroutine.
///
/// # Safety
///
/// All point at as many doubles as there are lanes; the results do not overlap anything.
pub(super) unsafe extern "sysv64" fn beyond(
    x: *const f64,
    sin: *mut f64,
    cos: *mut f64,
    lanes: u64,
) {
    // SAFETY: by the caller's promise.
    unsafe { in_lanes(sincos, x, sin, cos, lanes) }
}

/// The same for multiply-adds that round once.
///
/// # Safety
///
/// As for [`beyond`].
pub(super) unsafe extern "sysv64" fn beyond_fused(
    x: *const f64,
    sin: *mut f64,
    cos: *mut f64,
    lanes: u64,
) {
    // SAFETY: by the caller's promise.
    unsafe { in_lanes(sincos_fused, x, sin, cos, lanes) }
}

/// # Safety
///
/// As for [`beyond`].
unsafe fn in_lanes(
    function: fn(f64) -> (f64, f64),
    x: *const f64,
    sin: *mut f64,
    cos: *mut f64,
    lanes: u64,
) {
    for l in 0..lanes as usize {
        // SAFETY: by the caller's promise.
        unsafe { (*sin.add(l), *cos.add(l)) = function(*x.add(l)) }
    }
}
