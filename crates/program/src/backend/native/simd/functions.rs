//! The functions of `elementary.rs` for processors with wider registers: which ones there are is asked at every call.

use pfaff_expr::{Binary, Unary};

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::elementary;

/// A function of every lane.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rowed {
    /// Of the first operand.
    Unary(Unary),
    /// Of both.
    Binary(Binary),
    /// The first to the power of the second.
    Power,
}

/// Writes its values, with the bits of one at a time; `false` if it is not one of `elementary.rs`.
pub(crate) fn function_row<const N: usize>(
    function: Rowed,
    [a, b]: [&[f64; N]; 2],
    to: &mut [f64; N],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let can = cpu_features();
        if can.avx512 {
            // SAFETY: the processor has all three sets of instructions.
            return unsafe { widest(function, [a, b], to) };
        }
        if can.avx2 {
            // SAFETY: the processor has the set of instructions.
            return unsafe { wide(function, [a, b], to) };
        }
    }
    plain(function, [a, b], to)
}

#[allow(clippy::inline_always, reason = "it is compiled for more instructions below")]
#[inline(always)]
fn plain<const N: usize>(function: Rowed, [a, b]: [&[f64; N]; 2], to: &mut [f64; N]) -> bool {
    let row = match function {
        Rowed::Unary(function) => elementary::unary_row(function, a),
        Rowed::Binary(function) => elementary::binary_row(function, a, b),
        Rowed::Power => Some(elementary::power_row(a, b)),
    };
    // Written here, by whole registers: pieces could not be read as one right afterwards.
    row.map(|row| *to = row).is_some()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide<const N: usize>(function: Rowed, ab: [&[f64; N]; 2], to: &mut [f64; N]) -> bool {
    plain(function, ab, to)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn widest<const N: usize>(function: Rowed, ab: [&[f64; N]; 2], to: &mut [f64; N]) -> bool {
    plain(function, ab, to)
}
