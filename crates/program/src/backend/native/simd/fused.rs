//! The interpreters with fused multiply-adds (one rounding), compiled for processors that have the
//! instruction and for those that do not.

use pfaff_expr::Table;

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::backend::batch::{LaneBlock, sweep_with};
use crate::backend::interpreter::execute_with;
use crate::rounding::{HardwareFma, SoftwareFma};
use crate::sincos::{sincos_lanes_with_fma, sincos_software_fma, sincos_with_fma};
use crate::tape::instruction::Instruction;

/// Carries out the instructions on the slots.
pub(crate) fn execute_fused(code: &[Instruction], slots: &mut [f64], tables: &[Table]) {
    #[cfg(target_arch = "x86_64")]
    if cpu_features().fma {
        // SAFETY: the processor has the instruction.
        unsafe { execute(code, slots, tables) }
        return;
    }
    if cfg!(target_arch = "aarch64") {
        execute_with::<HardwareFma>(code, slots, tables, sincos_with_fma::<HardwareFma>);
    } else {
        execute_with::<SoftwareFma>(code, slots, tables, sincos_software_fma);
    }
}

/// Carries out the instructions on rows of `W` blocks.
pub(crate) fn sweep_fused<const W: usize>(
    code: &[Instruction],
    slots: &mut [[LaneBlock; W]],
    tables: &[Table],
    count: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if cpu_features().avx2 && cpu_features().fma {
        // SAFETY: the processor has both sets of instructions.
        unsafe { sweep(code, slots, tables, count) }
        return;
    }
    if cfg!(target_arch = "aarch64") {
        sweep_with::<HardwareFma, W>(
            code,
            slots,
            tables,
            count,
            sincos_lanes_with_fma::<HardwareFma, 8>,
        );
    } else {
        sweep_with::<SoftwareFma, W>(
            code,
            slots,
            tables,
            count,
            sincos_lanes_with_fma::<SoftwareFma, 8>,
        );
    }
}

/// $(\sin x, \cos x)$ as a program whose multiply-adds round once has them: each within one unit in the last
/// place, and not always the bits of [`sincos`](crate::sincos()).
pub fn sincos_fused(x: f64) -> (f64, f64) {
    #[cfg(target_arch = "x86_64")]
    if cpu_features().fma {
        // SAFETY: the processor has the instruction.
        return unsafe { sincos(x) };
    }
    if cfg!(target_arch = "aarch64") {
        sincos_with_fma::<HardwareFma>(x)
    } else {
        sincos_software_fma(x)
    }
}

/// Sines and cosines of a row, with the bits of [`sincos_fused`].
#[cfg(feature = "cranelift")]
pub(crate) fn sincos_row_fused(x: &LaneBlock) -> (LaneBlock, LaneBlock) {
    #[cfg(target_arch = "x86_64")]
    if cpu_features().avx2 && cpu_features().fma {
        // SAFETY: the processor has both sets of instructions.
        return unsafe { sincos_lanes(x) };
    }
    if cfg!(target_arch = "aarch64") {
        sincos_lanes_with_fma::<HardwareFma, 8>(x)
    } else {
        sincos_lanes_with_fma::<SoftwareFma, 8>(x)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
fn execute(code: &[Instruction], slots: &mut [f64], tables: &[Table]) {
    execute_with::<HardwareFma>(code, slots, tables, |x| sincos(x));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn sweep<const W: usize>(
    code: &[Instruction],
    slots: &mut [[LaneBlock; W]],
    tables: &[Table],
    count: usize,
) {
    sweep_with::<HardwareFma, W>(code, slots, tables, count, |x| sincos_lanes(x));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn sincos_lanes(x: &LaneBlock) -> (LaneBlock, LaneBlock) {
    sincos_lanes_with_fma::<HardwareFma, 8>(x)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
#[inline(never)]
fn sincos(x: f64) -> (f64, f64) {
    sincos_with_fma::<HardwareFma>(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_the_instruction_the_bits_are_equal() {
        let mut x = 1e-9_f64;
        while x < 1e9 {
            for x in [x, -x] {
                let (with, without) = (sincos_fused(x), sincos_software_fma(x));
                assert_eq!(
                    (with.0.to_bits(), with.1.to_bits()),
                    (without.0.to_bits(), without.1.to_bits()),
                    "{x}"
                );
            }
            // NOTE: Miri is a thousand times slower.
            x *= if cfg!(miri) { 2.3 } else { 1.003 };
        }
    }

    #[test]
    fn multiply_adds_have_the_same_bits_with_and_without_the_instruction() {
        let code = [
            Instruction::MulAdd { to: 3, a: 0, b: 1, c: 2 },
            Instruction::MulSub { to: 4, a: 0, b: 1, c: 2 },
            Instruction::SubMul { to: 5, a: 0, b: 1, c: 2 },
        ];
        let hard = [0.0, -0.0, 1.0 + f64::EPSILON, -1.0, 1e-160, -3e-170, 1e160, 7e153, 5e-324];
        for (i, a) in hard.into_iter().enumerate() {
            for b in hard {
                for c in
                    hard.into_iter().map(|c| c * hard[(i + 3) % hard.len()]).chain([-a * b])
                {
                    let mut with = [a, b, c, 0.0, 0.0, 0.0];
                    let mut without = with;
                    let mut lanes = with.map(|x| [[x; 8]]);
                    execute_fused(&code, &mut with, &[]);
                    execute_with::<SoftwareFma>(&code, &mut without, &[], sincos_software_fma);
                    sweep_fused(&code, &mut lanes, &[], 8);
                    for k in 3..6 {
                        assert_eq!(
                            with[k].to_bits(),
                            without[k].to_bits(),
                            "{a:e} {b:e} {c:e}"
                        );
                        assert_eq!(with[k].to_bits(), lanes[k][0][7].to_bits());
                    }
                }
            }
        }
    }
}
