//! The constant pool behind the code, by rows.

use crate::sincos::{COS, HALF_PI, HALF_PI_WHOLE, LIMIT, ROUND, SIN, TWO_OVER_PI};

pub(super) const SIGN: u32 = 0;
pub(super) const MAGNITUDE: u32 = 1;
pub(super) const ZERO: u32 = 2;
pub(super) const ONE: u32 = 3;
pub(super) const HALF: u32 = 4;
/// The last bit.
pub(super) const LAST: u32 = 5;
pub(super) const RANGE: u32 = 6;
pub(super) const QUARTERS: u32 = 7;
pub(super) const ROUNDING: u32 = 8;
pub(super) const PARTS: u32 = 9;
pub(super) const WHOLE: u32 = PARTS + 4;
pub(super) const SINE: u32 = WHOLE + 3;
pub(super) const COSINE: u32 = SINE + 6;

/// The bits of all rows.
pub(super) fn rows() -> Vec<u64> {
    let first = [
        1 << 63,
        u64::MAX >> 1,
        0,
        1f64.to_bits(),
        0.5f64.to_bits(),
        1,
        LIMIT.to_bits(),
        TWO_OVER_PI.to_bits(),
        ROUND.to_bits(),
    ];
    let rest = HALF_PI.iter().chain(&HALF_PI_WHOLE).chain(&SIN).chain(&COS);
    first.into_iter().chain(rest.map(|c| c.to_bits())).collect()
}
