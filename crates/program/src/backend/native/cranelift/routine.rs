//! What the code calls: the routines of the interpreter, with the platform's calling convention.

use super::builder::ROW;
use crate::backend::native::library_call::LibraryCall;
use crate::backend::native::simd::{sincos_fused, sincos_row_fused};
use crate::rounding::{Rounding, SoftwareFma};
use crate::sincos::{sincos, sincos_lanes};

/// The value of a function that is called.
///
/// # Safety
///
/// `call` points at a call.
pub(super) unsafe extern "C" fn value(call: *const LibraryCall, a: f64, b: f64) -> f64 {
    // SAFETY: by the caller's promise.
    unsafe { (*call).value(a, b) }
}

/// Sine and cosine.
///
/// # Safety
///
/// `to` points at two doubles.
pub(super) unsafe extern "C" fn angle<const FUSED: bool>(x: f64, to: *mut [f64; 2]) {
    let found = if FUSED { sincos_fused(x) } else { sincos(x) };
    // SAFETY: by the caller's promise.
    unsafe { *to = found.into() }
}

/// Sines and cosines of a row of angles, behind it.
///
/// # Safety
///
/// `row` points at three rows.
pub(super) unsafe extern "C" fn angles<const FUSED: bool>(row: *mut [[f64; ROW]; 3]) {
    // SAFETY: by the caller's promise.
    let [x, sines, cosines] = unsafe { &mut *row };
    (*sines, *cosines) = if FUSED { sincos_row_fused(x) } else { sincos_lanes(x) };
}

/// $ab + c$, rounded once, where there is no instruction for it.
pub(super) extern "C" fn fused_product(a: f64, b: f64, c: f64) -> f64 {
    SoftwareFma::mul_add(a, b, c)
}
