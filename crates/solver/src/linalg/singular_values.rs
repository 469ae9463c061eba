//! The singular values of a small matrix, with the directions they belong to.
//!
//! One-sided rotations of Jacobi make the columns of $A V$ orthogonal; their lengths are the singular values.
//! Small ones come out with
//! small relative error where the columns are well scaled, which is what rank decisions need (Demmel and Veselić 1992).

use crate::linalg::dot::dot_in_order as dot;

/// Singular values, descending, with the columns of $V$ in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularValues {
    /// $\sigma$, one for each column of the matrix
    pub values: Vec<f64>,
    /// The direction $v_i$ with $|A v_i| = \sigma_i$, one after another.
    pub directions: Vec<Vec<f64>>,
}

/// The singular values of the `m` by `n` matrix `a`, stored by rows.
///
/// ```
/// let s = pfaff_solver::singular_values(&[3.0, 0.0, 0.0, 0.0, 4.0, 0.0], 2, 3);
/// assert_eq!(s.values, [4.0, 3.0, 0.0]);
/// assert_eq!(s.directions[2], [0.0, 0.0, 1.0]);
/// ```
pub fn singular_values(a: &[f64], m: usize, n: usize) -> SingularValues {
    let mut columns: Vec<Vec<f64>> =
        (0..n).map(|j| (0..m).map(|i| a[i * n + j]).collect()).collect();
    let unit = |j: usize| (0..n).map(|i| f64::from(u8::from(i == j))).collect();
    let mut directions: Vec<Vec<f64>> = (0..n).map(unit).collect();
    // NOTE: convergence is quadratic; ten sweeps are rarely needed.
    for _ in 0..60 {
        let mut turned = false;
        for i in 0..n {
            for j in i + 1..n {
                let (α, β) = (dot(&columns[i], &columns[i]), dot(&columns[j], &columns[j]));
                let γ = dot(&columns[i], &columns[j]);
                if γ.abs() <= 1e-16 * (α * β).sqrt() || γ == 0.0 {
                    continue;
                }
                turned = true;
                let ζ = (β - α) / (2.0 * γ);
                let t = 1.0_f64.copysign(ζ) / (ζ.abs() + (1.0 + ζ * ζ).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                for list in [&mut columns, &mut directions] {
                    let (head, tail) = list.split_at_mut(j);
                    for (x, y) in head[i].iter_mut().zip(&mut tail[0]) {
                        (*x, *y) = (c * (*x - t * *y), c * (t * *x + *y));
                    }
                }
            }
        }
        if !turned {
            break;
        }
    }
    let mut order: Vec<(f64, Vec<f64>)> =
        columns.iter().map(|c| dot(c, c).sqrt()).zip(directions).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let (values, directions) = order.into_iter().unzip();
    SingularValues { values, directions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_one_matrix_has_one_value_and_a_kernel() {
        let a: Vec<f64> = (0..9).map(|k| f64::from(1 + k / 3) * f64::from(2 - k % 3)).collect();
        let s = singular_values(&a, 3, 3);
        // |(1, 2, 3)|·|(2, 1, 0)|
        assert!((s.values[0] - (14.0_f64 * 5.0).sqrt()).abs() < 1e-14 * s.values[0]);
        assert!(s.values[1] < 1e-14);
        for v in &s.directions[1..] {
            assert!((2.0 * v[0] + v[1]).abs() < 1e-14);
        }
    }
}
