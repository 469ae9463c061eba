//! Random matrices for tests: the same numbers in every run.

/// A linear congruential sequence (Knuth's MMIX constants).
pub(crate) struct Sequence(u64);

impl Sequence {
    pub(crate) fn new(start: u64) -> Self {
        Self(start)
    }

    /// The next number in [−1, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// The next `n` numbers.
    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// $\max_i |b - A x|_i$ for a matrix of `n` columns.
pub(crate) fn residual(a: &[f64], n: usize, x: &[f64], b: &[f64]) -> f64 {
    a.chunks_exact(n)
        .zip(b)
        .map(|(row, b)| (row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - b).abs())
        .fold(0.0, f64::max)
}
