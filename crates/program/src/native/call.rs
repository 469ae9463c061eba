//! Functions of Rust that native code calls: all lanes at once where `elementary.rs` has the function, lane by lane otherwise.

use std::slice;

use super::function::{Call, Function};
use super::rows::{Rowed, function_row};
use crate::sincos::{sincos, sincos_fused};

/// Carries out a call: `to[l] = function(a[l], b[l])`.
///
/// # Safety
///
/// `call` points at a call; `a`, `b` and `to` at as many doubles as it has lanes. `to` does not overlap the others.
pub(super) unsafe extern "sysv64" fn dispatch(
    call: *const Call,
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
fn in_rows<const N: usize>(function: Function, a: &[f64], b: &[f64], to: &mut [f64]) -> bool {
    let function = match function {
        Function::Power => Rowed::Power,
        Function::Unary(function) => Rowed::Unary(function),
        Function::Binary(function) => Rowed::Binary(function),
        Function::Table { .. } => return false,
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
