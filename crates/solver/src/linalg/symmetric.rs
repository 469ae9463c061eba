//! Symmetric matrices: triangular root and eigenvalues.
//!
//! $$ A = L L^\top, \qquad A = V \operatorname{diag}(\lambda_1 \le \dots \le \lambda_n) V^\top
//!    \qquad (\mathrm{S}) $$
//!
//! The root exists for positive definite $A$ and is the cheapest way to weigh with a kinetic
//! metric. Eigenvalues come from cyclic Jacobi rotations (Golub and Van Loan 2013, §8.5),
//! which are slow for large $n$ but keep small eigenvalues accurate.
//!
//! **Conventions.** Matrices are stored by rows; only the lower triangle is read.

use crate::linalg::dot::dot;
use crate::linalg::lu::Singular;

/// Replaces the lower triangle of the `n` by `n` matrix `a` by $L$ of (S); the rest stays.
///
/// # Errors
///
/// [`Singular`] with the first column whose leading block is not positive definite to rounding.
pub fn cholesky(n: usize, a: &mut [f64]) -> Result<(), Singular> {
    assert_eq!(a.len(), n * n, "the matrix has n rows of n entries");
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..j * n + n];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let square = row[i] - dot(&row[..i], &row[..i]);
        // What is left of the diagonal must stand out of its rounding; NaN does not.
        let sound = square > 4.0 * n as f64 * f64::EPSILON * row[i].abs();
        if !sound {
            return Err(Singular { column: i });
        }
        row[i] = square.sqrt();
    }
    Ok(())
}

/// Replaces `b` by the solution of $L L^\top x = b$, with $L$ from [`cholesky`].
///
/// ```
/// # use pfaff_solver::{cholesky, cholesky_solve};
/// let mut a = [4.0, 2.0, 2.0, 5.0];
/// cholesky(2, &mut a)?;
/// let mut x = [8.0, 12.0];
/// cholesky_solve(2, &a, &mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), pfaff_solver::Singular>(())
/// ```
pub fn cholesky_solve(n: usize, factor: &[f64], b: &mut [f64]) {
    assert!(factor.len() == n * n && b.len() == n, "one entry per row");
    for i in 0..n {
        let (done, rest) = b.split_at_mut(i);
        rest[0] = (rest[0] - dot(&factor[i * n..i * n + i], done)) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        b[i] /= factor[i * n + i];
        for j in 0..i {
            b[j] -= factor[i * n + j] * b[i];
        }
    }
}

/// The eigenvalues of the symmetric `n` by `n` matrix `a`, ascending.
///
/// ```
/// let values = pfaff_solver::symmetric_eigenvalues(2, &[2.0, 1.0, 1.0, 2.0]);
/// assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 3.0).abs() < 1e-15);
/// ```
pub fn symmetric_eigenvalues(n: usize, a: &[f64]) -> Vec<f64> {
    assert_eq!(a.len(), n * n, "the matrix has n rows of n entries");
    let mut s: Vec<f64> =
        (0..n * n).map(|e| a[(e / n).max(e % n) * n + (e / n).min(e % n)]).collect();
    // Convergence is quadratic: fewer than ten sweeps for any n met here.
    for _ in 0..50 {
        if !sweep(n, &mut s) {
            break;
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| s[i * n + i]).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Rotates every off-diagonal entry away once; tells whether any was worth it.
fn sweep(n: usize, s: &mut [f64]) -> bool {
    let mut rotated = false;
    for p in 0..n {
        for q in p + 1..n {
            let (off, dp, dq) = (s[p * n + q], s[p * n + p], s[q * n + q]);
            let negligible = off.abs() <= f64::EPSILON * 0.25 * (dp.abs() * dq.abs()).sqrt();
            if off == 0.0 || negligible || off.is_nan() {
                continue;
            }
            rotated = true;
            rotate(n, s, p, q);
        }
    }
    rotated
}

/// The Jacobi rotation that makes $s_{pq}$ zero.
fn rotate(n: usize, s: &mut [f64], p: usize, q: usize) {
    let (off, dp, dq) = (s[p * n + q], s[p * n + p], s[q * n + q]);
    // t = tan of the smaller angle with t² + 2τt − 1 = 0.
    let τ = (dq - dp) / (2.0 * off);
    let t = τ.signum() / (τ.abs() + libm::hypot(1.0, τ));
    let c = 1.0 / libm::hypot(1.0, t);
    let sine = t * c;
    for k in 0..n {
        let (x, y) = (s[k * n + p], s[k * n + q]);
        s[k * n + p] = c * x - sine * y;
        s[k * n + q] = sine * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (s[p * n + k], s[q * n + k]);
        s[p * n + k] = c * x - sine * y;
        s[q * n + k] = sine * x + c * y;
    }
    s[p * n + p] = dp - t * off;
    s[q * n + q] = dq + t * off;
    s[p * n + q] = 0.0;
    s[q * n + p] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indefinite_and_semidefinite_matrices_have_no_root() {
        assert_eq!(cholesky(2, &mut [1.0, 2.0, 2.0, 1.0]), Err(Singular { column: 1 }));
        // v vᵀ, rounded: what is left of the second pivot is of either sign.
        for e in 0..900 {
            let (u, v) = (0.1 * f64::from(1 + e / 30), 0.07 * f64::from(1 + e % 30));
            let root = cholesky(2, &mut [u * u, u * v, u * v, v * v]);
            assert_eq!(root, Err(Singular { column: 1 }), "({u}, {v})");
        }
    }

    #[test]
    fn chain_of_springs_has_its_known_spectrum() {
        // tridiag(−1, 2, −1): λ_k = 4 sin²(kπ/(2(n+1))).
        let n = 12_usize;
        let a: Vec<f64> = (0..n * n)
            .map(|e| match (e / n).abs_diff(e % n) {
                0 => 2.0,
                1 => -1.0,
                _ => 0.0,
            })
            .collect();
        for (k, value) in symmetric_eigenvalues(n, &a).into_iter().enumerate() {
            let s = libm::sin((k + 1) as f64 * std::f64::consts::PI / (2 * (n + 1)) as f64);
            // ‖A‖ = 4 and a few sweeps of rounding.
            assert!((value - 4.0 * s * s).abs() < 1e-14);
        }
    }

    #[test]
    fn equal_diagonal_and_zero_matrices_have_eigenvalues_too() {
        assert_eq!(symmetric_eigenvalues(2, &[0.0, 0.0, 0.0, 0.0]), [0.0, 0.0]);
        let values = symmetric_eigenvalues(2, &[0.0, 1.0, 1.0, 0.0]);
        // One rotation by 45°.
        assert!((values[0] + 1.0).abs() < 1e-15 && (values[1] - 1.0).abs() < 1e-15);
    }
}
