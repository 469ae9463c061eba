//! Which instructions the processor has, asked once and no more than is needed: in a virtual machine each
//! question takes some microseconds, and the standard library asks a dozen.

use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

/// Instructions that code here is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct CpuFeatures {
    pub(crate) fma: bool,
    pub(crate) avx2: bool,
    /// F, DQ and VL.
    pub(crate) avx512: bool,
}

/// Those of this processor.
#[inline]
pub(crate) fn cpu_features() -> CpuFeatures {
    static KNOWN: OnceLock<CpuFeatures> = OnceLock::new();
    *KNOWN.get_or_init(ask)
}

fn ask() -> CpuFeatures {
    // Miri has the instructions that it was told of, and cannot be asked.
    if cfg!(miri) {
        return CpuFeatures {
            fma: cfg!(target_feature = "fma"),
            avx2: cfg!(target_feature = "avx2"),
            avx512: cfg!(target_feature = "avx512f"),
        };
    }
    let bit = |register: u32, bit: u32| register & (1 << bit) != 0;
    let most = __cpuid(0).eax;
    let first = __cpuid(1).ecx;
    // Registers that the system does not save are not there.
    let is_saving = bit(first, 27) && bit(first, 26);
    if most < 7 || !is_saving {
        return CpuFeatures::default();
    }
    // SAFETY: the processor has the instruction.
    let saved = unsafe { saved() };
    let seventh = __cpuid_count(7, 0).ebx;
    let avx = bit(first, 28) && saved & 0b110 == 0b110;
    CpuFeatures {
        fma: avx && bit(first, 12),
        avx2: avx && bit(seventh, 5),
        avx512: avx
            && saved & 0b1110_0000 == 0b1110_0000
            && [16, 17, 31].into_iter().all(|b| bit(seventh, b)),
    }
}

/// The registers that the system saves.
#[target_feature(enable = "xsave")]
fn saved() -> u64 {
    // SAFETY: register 0 is always there.
    unsafe { _xgetbv(0) }
}

#[cfg(test)]
mod tests {
    use std::arch::is_x86_feature_detected as has;

    use super::*;

    #[test]
    fn the_standard_library_knows_the_same() {
        let known = CpuFeatures {
            fma: has!("fma"),
            avx2: has!("avx2"),
            avx512: has!("avx512f") && has!("avx512dq") && has!("avx512vl"),
        };
        assert_eq!(cpu_features(), known);
    }
}
