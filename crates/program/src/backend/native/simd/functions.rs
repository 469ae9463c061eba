//! The functions of `elementary.rs` on several lanes, compiled for wider vector registers; the processor is
//! asked at every call.

use pfaff_expr::{Binary, Unary, power_row};

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;

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

/// Writes its values, with the bits of one at a time; `false` if it has no such way.
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
        Rowed::Unary(function) => function.row(a),
        Rowed::Binary(function) => function.row(a, b),
        Rowed::Power => Some(power_row(a, b)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// For the registers of this processor, eight and four at once.
    #[test]
    fn wider_registers_change_no_bit() {
        let number = |i: u32| f64::from(i % 1777) * 0.013 - 9.0 + f64::from(i) * 1e-7;
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        // NOTE: Miri, which is a thousand times slower, sees the same instructions in fewer numbers.
        let stride = if cfg!(miri) { 1608 } else { 8 };
        for function in Unary::ALL.into_iter().filter(|f| f.row(&[0.5; 8]).is_some()) {
            for start in (0..40_000).step_by(stride) {
                let x: [f64; 8] = std::array::from_fn(|l| number(start + l as u32));
                let half: [f64; 4] = std::array::from_fn(|l| x[l]);
                let (mut wide, mut narrow) = ([0.0; 8], [0.0; 4]);
                assert!(function_row(Rowed::Unary(function), [&x, &x], &mut wide));
                assert!(function_row(Rowed::Unary(function), [&half, &half], &mut narrow));
                for l in 0..8 {
                    let wanted = function.value(x[l]);
                    assert!(same(wide[l], wanted), "{}({:e})", function.name(), x[l]);
                    assert!(same(narrow[l % 4], function.value(x[l % 4])));
                }
            }
        }
    }
}
