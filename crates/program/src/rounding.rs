//! How $ab + c$ is rounded: twice (the product, then the sum) or once (fused).
//!
//! One rounding is faster where the processor has the instruction; where it does not, `libm` computes the
//! same bits. A program says which of the two it means ([`Program::fused`](crate::Program::fused)), so it
//! means the same on every machine.

/// A way to round $ab + c$. One implementation for each way to get it, so that a loop is compiled for each.
pub(crate) trait Rounding {
    /// $ab + c$
    fn mul_add(a: f64, b: f64, c: f64) -> f64;
}

/// The product, then the sum.
pub(crate) struct TwoRoundings;

/// Once, by the instruction of the processor: for code that is compiled for one that has it.
pub(crate) struct HardwareFma;

/// Once, by whole numbers.
pub(crate) struct SoftwareFma;

impl Rounding for TwoRoundings {
    #[allow(clippy::inline_always, reason = "it must become an instruction")]
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

impl Rounding for HardwareFma {
    #[allow(clippy::inline_always, reason = "it must become an instruction")]
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

impl Rounding for SoftwareFma {
    #[inline]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        libm::fma(a, b, c)
    }
}
