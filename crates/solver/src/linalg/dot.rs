//! Sums of products $\sum_i a_i b_i$.
//!
//! The order of additions decides the last bits and the speed. There are three, each fixed whatever the
//! processor is: four running sums for factorisations, eight for long rows in the hot loops of memory, and one
//! sum from left to right where few terms are added.

/// In four running sums, so that it vectorises.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (sums, rest) = running_sums::<4>(a, b);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// In eight running sums, for long rows.
pub(crate) fn dot_wide(a: &[f64], b: &[f64]) -> f64 {
    let (sums, rest) = running_sums::<8>(a, b);
    sums.iter().sum::<f64>() + rest
}

/// From left to right.
pub(crate) fn dot_in_order(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `N` sums over every `N`th product, and the sum of the products that are left.
#[inline]
fn running_sums<const N: usize>(a: &[f64], b: &[f64]) -> ([f64; N], f64) {
    let mut sums = [0.0; N];
    let count = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..count].as_chunks::<N>(), b[..count].as_chunks::<N>());
    for (a, b) in a.iter().zip(b) {
        for i in 0..N {
            sums[i] += a[i] * b[i];
        }
    }
    (sums, dot_in_order(a_rest, b_rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_give_the_sum_of_every_length() {
        for n in 0..40 {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i + 1)).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(2 * i)).collect();
            // Σ 2i(i+1), whole numbers that need no rounding.
            let exact = f64::from(2 * (n * n - n) * (n + 1) / 3);
            assert_eq!([dot(&a, &b), dot_wide(&a, &b), dot_in_order(&a, &b)], [exact; 3]);
        }
    }
}
