//! Small square matrices of numbers, by rows, for checks that share nothing with the engine.

use super::Random;

/// An n×n matrix by rows.
pub(crate) type Matrix = Vec<f64>;

pub(crate) fn product(n: usize, a: &[f64], b: &[f64]) -> Matrix {
    (0..n * n).map(|k| (0..n).map(|l| a[k / n * n + l] * b[l * n + k % n]).sum()).collect()
}

/// A product of any number of factors.
pub(crate) fn chain(n: usize, factors: &[&[f64]]) -> Matrix {
    factors[1..].iter().fold(factors[0].to_vec(), |a, b| product(n, &a, b))
}

pub(crate) fn transposed(n: usize, a: &[f64]) -> Matrix {
    (0..n * n).map(|k| a[k % n * n + k / n]).collect()
}

/// a + s·b
pub(crate) fn plus(a: &[f64], s: f64, b: &[f64]) -> Matrix {
    a.iter().zip(b).map(|(x, y)| x + s * y).collect()
}

pub(crate) fn identity(n: usize) -> Matrix {
    (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect()
}

/// By elimination with pivots.
pub(crate) fn inverse(n: usize, a: &[f64]) -> Matrix {
    let mut a = a.to_vec();
    let mut x = identity(n);
    for c in 0..n {
        let p = (c..n)
            .max_by(|&i, &j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs()))
            .expect("a row");
        for k in 0..n {
            a.swap(c * n + k, p * n + k);
            x.swap(c * n + k, p * n + k);
        }
        let pivot = a[c * n + c];
        for k in 0..n {
            a[c * n + k] /= pivot;
            x[c * n + k] /= pivot;
        }
        for i in (0..n).filter(|&i| i != c) {
            let factor = a[i * n + c];
            for k in 0..n {
                a[i * n + k] -= factor * a[c * n + k];
                x[i * n + k] -= factor * x[c * n + k];
            }
        }
    }
    x
}

pub(crate) fn trace(n: usize, a: &[f64]) -> f64 {
    (0..n).map(|i| a[i * n + i]).sum()
}

/// The largest entry of a − b.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "shapes agree");
    // NOTE: `max` would swallow what is not a number.
    a.iter().zip(b).fold(0.0, |m, (x, y)| if (x - y).abs() <= m { m } else { (x - y).abs() })
}

/// (a ± aᵀ)/2
pub(crate) fn half(n: usize, a: &[f64], sign: f64) -> Matrix {
    plus(a, sign, &transposed(n, a)).iter().map(|x| x / 2.0).collect()
}

/// The polar parts (U, A) by Newton's iteration U ← (U + U⁻ᵀ)/2.
pub(crate) fn polar(n: usize, phi: &[f64]) -> (Matrix, Matrix) {
    let mut u = phi.to_vec();
    for _ in 0..60 {
        let next = plus(&u, 1.0, &transposed(n, &inverse(n, &u)));
        u = next.iter().map(|x| x / 2.0).collect();
    }
    let a = product(n, &transposed(n, &u), phi);
    (u, a)
}

pub(crate) fn random(n: usize, random: &mut Random) -> Matrix {
    (0..n * n).map(|_| random.number()).collect()
}

/// Symmetric with eigenvalues above `least`.
pub(crate) fn positive(n: usize, least: f64, source: &mut Random) -> Matrix {
    let x = random(n, source);
    plus(&product(n, &x, &transposed(n, &x)), least, &identity(n))
}

/// As text of the language.
pub(crate) fn text(n: usize, a: &[f64]) -> String {
    let row = |r: &[f64]| {
        format!("[{}]", r.iter().map(|x| format!("({x:?})")).collect::<Vec<_>>().join(", "))
    };
    format!("[{}]", a.chunks(n).map(row).collect::<Vec<_>>().join(", "))
}
