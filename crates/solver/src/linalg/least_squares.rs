//! A linear system of any shape and rank into its shortest least-squares solution.
//!
//! $$ x = A^{+} b: \quad \lVert A x - b \rVert \to \min, \quad
//!    \lVert x \rVert \to \min \text{ among those} \qquad (\mathrm{LS}) $$
//!
//! by Householder reflections with column pivoting, $A \Pi = Q \begin{pmatrix} R \\\\ 0
//! \end{pmatrix}$ with $R$ of $r$ rows, and, where $r < n$, a second factorisation
//! $R^\top = Z \begin{pmatrix} T \\\\ 0 \end{pmatrix}$ that leaves the kernel out.
//! The rank $r$ is reached when no remaining column is longer than the tolerance times the
//! longest of all (Golub and Van Loan 2013, §5.5).
//!
//! **Conventions.** Matrices are stored by rows. Norms are Euclidean and nothing is scaled:
//! weights, such as a kinetic metric, belong into `a` and `b`.

/// Storage for (LS) that is used again by the next system.
///
/// ```
/// // The shortest vector on the line x + y = 2.
/// let mut x = [0.0; 2];
/// let fit = pfaff_solver::LeastSquares::default().solve(&[1.0, 1.0], 1, &[2.0], 1e-12, &mut x);
/// assert_eq!(fit.rank, 1);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LeastSquares {
    /// $A$ by columns, then the reflections below and $R$ on and above the diagonal.
    factors: Vec<f64>,
    /// $R^\top$ by columns, then $T$ and its reflections.
    kernel: Vec<f64>,
    right: Vec<f64>,
    turned: Vec<f64>,
    columns: Vec<usize>,
}

/// How well (LS) was solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastSquaresFit {
    /// Numerical rank of the matrix.
    pub rank: usize,
    /// $\lVert A x - b \rVert$
    pub residual: f64,
}

/// The answer of [`least_squares`].
#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquaresSolution {
    /// $A^{+} b$
    pub x: Vec<f64>,
    /// Numerical rank of the matrix.
    pub rank: usize,
    /// $\lVert A x - b \rVert$
    pub residual: f64,
}

/// Solves (LS) once for the `m` by `n` matrix `a`.
///
/// ```
/// // A straight line through (0, 1), (1, 3), (2, 5).
/// let a = [1.0, 0.0, 1.0, 1.0, 1.0, 2.0];
/// let line = pfaff_solver::least_squares(&a, 3, 2, &[1.0, 3.0, 5.0], 1e-12);
/// assert!((line.x[0] - 1.0).abs() < 1e-14 && (line.x[1] - 2.0).abs() < 1e-14);
/// ```
pub fn least_squares(
    a: &[f64],
    m: usize,
    n: usize,
    b: &[f64],
    tolerance: f64,
) -> LeastSquaresSolution {
    let mut x = vec![0.0; n];
    let LeastSquaresFit { rank, residual } =
        LeastSquares::default().solve(a, m, b, tolerance, &mut x);
    LeastSquaresSolution { x, rank, residual }
}

impl LeastSquares {
    /// Solves (LS) for a matrix of `m` rows and `x.len()` columns.
    pub fn solve(
        &mut self,
        a: &[f64],
        m: usize,
        b: &[f64],
        tolerance: f64,
        x: &mut [f64],
    ) -> LeastSquaresFit {
        let n = x.len();
        assert!(a.len() == m * n && b.len() == m, "the matrix has m rows of n entries");
        self.prepare(a, b, m, n);
        let rank = self.triangularise(m, n, tolerance);
        let residual = norm(&self.right[rank..]);
        if rank == n {
            self.substitute(m, n);
        } else {
            self.shorten(m, n, rank);
        }
        for (k, &j) in self.columns.iter().enumerate() {
            x[j] = self.turned[k];
        }
        LeastSquaresFit { rank, residual }
    }

    fn prepare(&mut self, a: &[f64], b: &[f64], m: usize, n: usize) {
        self.factors.clear();
        for j in 0..n {
            self.factors.extend((0..m).map(|i| a[i * n + j]));
        }
        self.right.clear();
        self.right.extend_from_slice(b);
        self.turned.clear();
        self.turned.resize(n, 0.0);
        self.columns.clear();
        self.columns.extend(0..n);
    }

    /// Turns $A \Pi$ into $R$ and $b$ into $Q^\top b$; gives the rank.
    fn triangularise(&mut self, m: usize, n: usize, tolerance: f64) -> usize {
        let mut threshold = 0.0;
        for k in 0..m.min(n) {
            let (length, j) = self.longest(k, m, n);
            if k == 0 {
                threshold = tolerance * length;
            }
            // Written so that a length that is not a number ends the factorisation too.
            let sound = length > threshold && length.is_finite();
            if !sound {
                return k;
            }
            self.columns.swap(k, j);
            if j != k {
                let (left, right) = self.factors.split_at_mut(j * m);
                left[k * m..(k + 1) * m].swap_with_slice(&mut right[..m]);
            }
            let (done, rest) = self.factors.split_at_mut((k + 1) * m);
            let (r, v) = reflection(&mut done[k * m + k..]);
            for column in rest.chunks_exact_mut(m) {
                reflect(v, &mut column[k..]);
            }
            reflect(v, &mut self.right[k..]);
            done[k * m + k] = r;
        }
        m.min(n)
    }

    /// The longest remaining column. Lengths are taken afresh: updating them cancels.
    fn longest(&self, k: usize, m: usize, n: usize) -> (f64, usize) {
        let mut best = (-1.0, k);
        for j in k..n {
            let length = norm(&self.factors[j * m + k..(j + 1) * m]);
            if length > best.0 {
                best = (length, j);
            }
        }
        best
    }

    /// Full column rank: $R z = Q^\top b$.
    fn substitute(&mut self, m: usize, n: usize) {
        for i in (0..n).rev() {
            let mut sum = self.right[i];
            for j in i + 1..n {
                sum -= self.factors[j * m + i] * self.turned[j];
            }
            self.turned[i] = sum / self.factors[i * m + i];
        }
    }

    /// Rank below `n`: $R^\top = Z T$, $T^\top w = Q^\top b$, $z = Z w$.
    fn shorten(&mut self, m: usize, n: usize, r: usize) {
        self.kernel.clear();
        for i in 0..r {
            self.kernel
                .extend((0..n).map(|j| if j < i { 0.0 } else { self.factors[j * m + i] }));
        }
        let diagonal = &mut self.right[..r];
        for k in 0..r {
            let (done, rest) = self.kernel.split_at_mut((k + 1) * n);
            let (t, v) = reflection(&mut done[k * n + k..]);
            for column in rest.chunks_exact_mut(n) {
                reflect(v, &mut column[k..]);
            }
            // Row k of Tᵀ w = c, as soon as column k of T is known.
            let known: f64 = (0..k).map(|i| done[k * n + i] * self.turned[i]).sum();
            self.turned[k] = (diagonal[k] - known) / t;
        }
        for k in (0..r).rev() {
            reflect(&self.kernel[k * n + k..(k + 1) * n], &mut self.turned[k..]);
        }
    }
}

/// Turns `x` into the vector $v$, $\lVert v \rVert^2 = 2$, whose reflection $1 - v v^\top$ takes
/// it to $(r, 0, \dots)$; gives $r$ and $v$.
fn reflection(x: &mut [f64]) -> (f64, &[f64]) {
    let length = norm(x);
    if length == 0.0 {
        return (0.0, x);
    }
    // The sign that does not cancel.
    let r = if x[0] > 0.0 { -length } else { length };
    x[0] -= r;
    let factor = std::f64::consts::SQRT_2 / norm(x);
    for x in x.iter_mut() {
        *x *= factor;
    }
    (r, x)
}

fn reflect(v: &[f64], x: &mut [f64]) {
    let projection: f64 = v.iter().zip(x.iter()).map(|(v, x)| v * x).sum();
    for (x, v) in x.iter_mut().zip(v) {
        *x -= projection * v;
    }
}

/// Euclidean norm, scaled so that squares neither overflow nor vanish.
fn norm(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return if x.iter().any(|x| x.is_nan()) { f64::NAN } else { largest };
    }
    largest * x.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflections_do_not_cancel() {
        // (1, ε) is almost reflected onto itself: x = ε b₁/(1 + ε²).
        let answer = least_squares(&[1.0, 1e-9], 2, 1, &[0.0, 1e9], 1e-12);
        // Rounding of b, 1e9·1e-16, enters with ε.
        assert!((answer.x[0] - 1.0).abs() < 1e-7, "{}", answer.x[0]);
    }

    #[test]
    fn tiny_and_huge_entries_neither_vanish_nor_overflow() {
        for scale in [1e-200, 1e200] {
            let answer = least_squares(&[3.0 * scale, 4.0 * scale], 2, 1, &[6.0, 8.0], 1e-12);
            assert_eq!(answer.rank, 1);
            // One fit of rounding.
            assert!((answer.x[0] * scale - 2.0).abs() < 1e-14);
        }
    }
}
