//! Eigenvalues and eigenvectors of general real matrices.
//!
//! $$ A x = \lambda x, \qquad \lambda \in \mathbb{C} \qquad (\mathrm{E}) $$
//!
//! Rows and columns that have no entry beside the diagonal give their eigenvalues exactly. What remains is balanced by
//! powers of two, brought to Hessenberg form by reflections, and the double-shift QR iteration finds the rest
//! (Golub and Van Loan 2013, §7.5; after `balanc`, `orthes` and `hqr` of EISPACK). Eigenvectors come from inverse
//! iteration, together with $\lVert A x - \lambda x\rVert$ for $\lVert x\rVert = 1$, which tells how far the
//! eigenvalue can be trusted.
//!
//! **Conventions.** Matrices are stored by rows. Eigenvalues are pairs of real and imaginary part, the largest real
//! part first, of conjugate ones the positive imaginary part first.

/// Sweeps after which the iteration for one eigenvalue is given up.
const SWEEPS: usize = 60;

/// An eigenvector by its components' real and imaginary parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenvector {
    /// The components; the largest is 1.
    pub components: Vec<[f64; 2]>,
    /// $\lVert A x - \lambda x\rVert / \lVert x\rVert$ in the largest component.
    pub residual: f64,
}

/// The eigenvalues of the `n` by `n` matrix `a`; `None` if it is not finite or the iteration fails.
///
/// ```
/// let values = pfaff_solver::eigenvalues(2, &[0.0, 1.0, -4.0, 0.0]).expect("it is finite");
/// assert_eq!(values, [[0.0, 2.0], [0.0, -2.0]]);
/// ```
pub fn eigenvalues(n: usize, a: &[f64]) -> Option<Vec<[f64; 2]>> {
    assert_eq!(a.len(), n * n, "the matrix has n rows of n entries");
    if a.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let (mut values, rest) = isolated(n, a);
    let k = rest.len();
    let mut h: Vec<f64> =
        rest.iter().flat_map(|&i| rest.iter().map(move |&j| a[i * n + j])).collect();
    balance(k, &mut h, &mut vec![1.0; k]);
    hessenberg(k, &mut h);
    values.extend(qr(k, &mut h)?);
    values.sort_by(|a, b| {
        let by_size = a[1].abs().total_cmp(&b[1].abs());
        b[0].total_cmp(&a[0]).then(by_size).then(b[1].total_cmp(&a[1]))
    });
    Some(values)
}

/// The eigenvalues that stand alone in their row or column, and the indices that are left.
fn isolated(n: usize, a: &[f64]) -> (Vec<[f64; 2]>, Vec<usize>) {
    let mut rest: Vec<usize> = (0..n).collect();
    let mut values = Vec::new();
    while let Some(at) = (0..rest.len()).find(|&at| {
        let i = rest[at];
        let others = || rest.iter().filter(|&&j| j != i);
        others().all(|&j| a[i * n + j] == 0.0) || others().all(|&j| a[j * n + i] == 0.0)
    }) {
        let i = rest.remove(at);
        values.push([a[i * n + i], 0.0]);
    }
    (values, rest)
}

/// Scales rows and columns to like sizes, $D^{-1} A D$ with powers of two in the diagonal matrix $D$.
fn balance(n: usize, a: &mut [f64], d: &mut [f64]) {
    let mut changed = true;
    while changed {
        changed = false;
        for i in 0..n {
            let others = || (0..n).filter(|&j| j != i);
            let column: f64 = others().map(|j| a[j * n + i].abs()).sum();
            let row: f64 = others().map(|j| a[i * n + j].abs()).sum();
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let (mut f, mut c) = (1.0, column);
            while c < row / 2.0 {
                f *= 2.0;
                c *= 4.0;
            }
            while c > row * 2.0 {
                f /= 2.0;
                c /= 4.0;
            }
            if (c + row) / f < 0.95 * (column + row) {
                changed = true;
                (0..n).for_each(|j| a[i * n + j] /= f);
                (0..n).for_each(|j| a[j * n + i] *= f);
                d[i] *= f;
            }
        }
    }
}

/// Scales rows and columns that have no entry beside the diagonal in the other direction, which is free: their entries
/// become as large as those of the rest.
fn balance_isolated(n: usize, a: &mut [f64], d: &mut [f64]) {
    let (_, rest) = isolated(n, a);
    let pairs = || rest.iter().flat_map(|&i| rest.iter().map(move |&j| (i, j)));
    let diagonal = (0..n).map(|i| a[i * n + i].abs()).fold(0.0, f64::max);
    let usual = pairs().map(|(i, j)| a[i * n + j].abs()).fold(diagonal, f64::max);
    if usual == 0.0 {
        return;
    }
    for i in 0..n {
        let others = || (0..n).filter(|&j| j != i);
        let column = others().map(|j| a[j * n + i].abs()).fold(0.0, f64::max);
        let row = others().map(|j| a[i * n + j].abs()).fold(0.0, f64::max);
        let wanted = match (row == 0.0, column == 0.0) {
            (true, false) => usual / column,
            (false, true) => row / usual,
            (true, true) | (false, false) => continue,
        };
        let f = libm::exp2(libm::floor(libm::log2(wanted)));
        (0..n).for_each(|j| a[i * n + j] /= f);
        (0..n).for_each(|j| a[j * n + i] *= f);
        d[i] *= f;
    }
}

/// Reduces to Hessenberg form by Householder's reflections.
fn hessenberg(n: usize, a: &mut [f64]) {
    let mut u = vec![0.0; n];
    for k in 1..n.saturating_sub(1) {
        let scale: f64 = (k..n).map(|i| a[i * n + k - 1].abs()).sum();
        if (k + 1..n).all(|i| a[i * n + k - 1] == 0.0) {
            continue;
        }
        let mut square = 0.0;
        for i in k..n {
            u[i] = a[i * n + k - 1] / scale;
            square += u[i] * u[i];
        }
        let norm = square.sqrt().copysign(-u[k]);
        // The reflection I − u uᵀ/h with u = x − norm·e.
        let h = square - u[k] * norm;
        u[k] -= norm;
        for j in 0..n {
            let f = (k..n).map(|i| u[i] * a[i * n + j]).sum::<f64>() / h;
            (k..n).for_each(|i| a[i * n + j] -= f * u[i]);
        }
        for i in 0..n {
            let f = (k..n).map(|j| u[j] * a[i * n + j]).sum::<f64>() / h;
            (k..n).for_each(|j| a[i * n + j] -= f * u[j]);
        }
        a[k * n + k - 1] = scale * norm;
        (k + 1..n).for_each(|i| a[i * n + k - 1] = 0.0);
    }
}

/// The eigenvalues of a Hessenberg matrix.
fn qr(n: usize, a: &mut [f64]) -> Option<Vec<[f64; 2]>> {
    let norm: f64 = a.iter().map(|x| x.abs()).sum();
    let mut values = Vec::with_capacity(n);
    let (mut left, mut shift, mut sweeps) = (n, 0.0, 0);
    while left > 0 {
        let last = left - 1;
        let first = first_of_block(n, a, last, norm);
        let x = a[last * n + last];
        if first == last {
            values.push([x + shift, 0.0]);
            (left, sweeps) = (left - 1, 0);
            continue;
        }
        let y = a[(last - 1) * n + last - 1];
        let w = a[last * n + last - 1] * a[(last - 1) * n + last];
        if first + 1 == last {
            values.extend(pair(x, y, w, shift));
            (left, sweeps) = (left - 2, 0);
            continue;
        }
        if sweeps == SWEEPS {
            return None;
        }
        let mut shifts = (x, y, w);
        if sweeps % 10 == 9 {
            // An exceptional shift breaks a cycle.
            shift += x;
            (0..left).for_each(|i| a[i * n + i] -= x);
            let s = a[last * n + last - 1].abs() + a[(last - 1) * n + last - 2].abs();
            shifts = (0.75 * s, 0.75 * s, -0.4375 * s * s);
        }
        sweeps += 1;
        sweep(n, a, first, last, shifts);
    }
    Some(values)
}

/// Where the last block that is not yet split begins.
fn first_of_block(n: usize, a: &mut [f64], last: usize, norm: f64) -> usize {
    for l in (1..=last).rev() {
        let size = a[(l - 1) * n + l - 1].abs() + a[l * n + l].abs();
        let size = if size == 0.0 { norm } else { size };
        if a[l * n + l - 1].abs() <= f64::EPSILON * size {
            a[l * n + l - 1] = 0.0;
            return l;
        }
    }
    0
}

/// The eigenvalues of a block of two with the diagonal y, x and the product w of the others.
fn pair(x: f64, y: f64, w: f64, shift: f64) -> [[f64; 2]; 2] {
    let p = 0.5 * (y - x);
    let q = p * p + w;
    let z = q.abs().sqrt();
    let x = x + shift;
    if q < 0.0 {
        return [[x + p, z], [x + p, -z]];
    }
    let z = p + z.copysign(p);
    let other = if z == 0.0 { x } else { x - w / z };
    [[x + z, 0.0], [other, 0.0]]
}

/// One double-shift sweep over the rows from `first` to `last`.
fn sweep(n: usize, a: &mut [f64], first: usize, last: usize, shifts: (f64, f64, f64)) {
    let (x, y, w) = shifts;
    let mut m = last - 2;
    let mut column;
    loop {
        let z = a[m * n + m];
        let (r, s) = (x - z, y - z);
        let p = (r * s - w) / a[(m + 1) * n + m] + a[m * n + m + 1];
        let q = a[(m + 1) * n + m + 1] - z - r - s;
        let r = a[(m + 2) * n + m + 1];
        let size = p.abs() + q.abs() + r.abs();
        column = [p / size, q / size, r / size];
        if m == first {
            break;
        }
        let small = a[m * n + m - 1].abs() * (column[1].abs() + column[2].abs());
        let near = a[(m - 1) * n + m - 1].abs() + z.abs() + a[(m + 1) * n + m + 1].abs();
        if small <= f64::EPSILON * column[0].abs() * near {
            break;
        }
        m -= 1;
    }
    for i in m + 2..=last {
        a[i * n + i - 2] = 0.0;
        if i > m + 2 {
            a[i * n + i - 3] = 0.0;
        }
    }
    for k in m..last {
        let whole = k + 1 < last;
        let mut size = 1.0;
        if k > m {
            let r = if whole { a[(k + 2) * n + k - 1] } else { 0.0 };
            column = [a[k * n + k - 1], a[(k + 1) * n + k - 1], r];
            size = column.iter().map(|x| x.abs()).sum();
            if size == 0.0 {
                continue;
            }
            column = column.map(|x| x / size);
        }
        let [p, q, r] = column;
        let s = (p * p + q * q + r * r).sqrt().copysign(p);
        if s == 0.0 {
            continue;
        }
        if k > m {
            a[k * n + k - 1] = -s * size;
        } else if first < m {
            a[k * n + k - 1] = -a[k * n + k - 1];
        }
        let p = p + s;
        let (x, y, z, q, r) = (p / s, q / s, r / s, q / p, r / p);
        for j in k..n {
            let mut f = a[k * n + j] + q * a[(k + 1) * n + j];
            if whole {
                f += r * a[(k + 2) * n + j];
                a[(k + 2) * n + j] -= f * z;
            }
            a[(k + 1) * n + j] -= f * y;
            a[k * n + j] -= f * x;
        }
        for i in 0..=last.min(k + 3) {
            let mut f = x * a[i * n + k] + y * a[i * n + k + 1];
            if whole {
                f += z * a[i * n + k + 2];
                a[i * n + k + 2] -= f * r;
            }
            a[i * n + k + 1] -= f * q;
            a[i * n + k] -= f;
        }
    }
}

/// An eigenvector of the `n` by `n` matrix `a` for an eigenvalue, by inverse iteration; `None` for an empty matrix.
pub fn eigenvector(n: usize, a: &[f64], value: [f64; 2]) -> Option<Eigenvector> {
    assert_eq!(a.len(), n * n, "the matrix has n rows of n entries");
    let (mut balanced, mut d) = (a.to_vec(), vec![1.0; n]);
    balance(n, &mut balanced, &mut d);
    balance_isolated(n, &mut balanced, &mut d);
    let norm = balanced.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let step = f64::EPSILON * if norm == 0.0 { 1.0 } else { norm };
    let mut m: Vec<[f64; 2]> = balanced.iter().map(|&x| [x, 0.0]).collect();
    for i in 0..n {
        m[i * n + i] = [a[i * n + i] - value[0], -value[1]];
    }
    let rows = factor(n, &mut m, step);
    // Any start that is not an invariant direction by accident.
    let mut x: Vec<[f64; 2]> = (0..n).map(|i| [1.0 + 0.1 * i as f64, 0.0]).collect();
    for _ in 0..3 {
        substitute(n, &m, &rows, &mut x);
        let largest = *x.iter().max_by(|a, b| size(**a).total_cmp(&size(**b)))?;
        if size(largest) == 0.0 || !size(largest).is_finite() {
            return None;
        }
        x.iter_mut().for_each(|x| *x = divided(*x, largest));
    }
    x.iter_mut().zip(&d).for_each(|(x, d)| *x = x.map(|part| d * part));
    let largest = *x.iter().max_by(|a, b| size(**a).total_cmp(&size(**b)))?;
    x.iter_mut().for_each(|x| *x = divided(*x, largest));
    let mut residual = 0.0_f64;
    for i in 0..n {
        let mut sum = times(value, x[i]).map(|x| -x);
        for j in 0..n {
            sum[0] += a[i * n + j] * x[j][0];
            sum[1] += a[i * n + j] * x[j][1];
        }
        residual = residual.max(size(sum));
    }
    Some(Eigenvector { components: x, residual })
}

fn size(x: [f64; 2]) -> f64 {
    libm::hypot(x[0], x[1])
}

fn times(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

fn divided(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let square = b[0] * b[0] + b[1] * b[1];
    times(a, [b[0] / square, -b[1] / square])
}

/// Triangular factors with pivoting by rows; pivots below `least` are replaced by it.
fn factor(n: usize, m: &mut [[f64; 2]], least: f64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| size(m[i * n + k]).total_cmp(&size(m[j * n + k])));
        let best = best.unwrap_or(k);
        if best != k {
            (0..n).for_each(|j| m.swap(k * n + j, best * n + j));
            rows.swap(k, best);
        }
        if size(m[k * n + k]) < least {
            m[k * n + k] = [least, 0.0];
        }
        for i in k + 1..n {
            let l = divided(m[i * n + k], m[k * n + k]);
            m[i * n + k] = l;
            for j in k + 1..n {
                let product = times(l, m[k * n + j]);
                m[i * n + j][0] -= product[0];
                m[i * n + j][1] -= product[1];
            }
        }
    }
    rows
}

fn substitute(n: usize, m: &[[f64; 2]], rows: &[usize], x: &mut Vec<[f64; 2]>) {
    let mut y: Vec<[f64; 2]> = rows.iter().map(|&i| x[i]).collect();
    for i in 0..n {
        for j in 0..i {
            let product = times(m[i * n + j], y[j]);
            y[i] = [y[i][0] - product[0], y[i][1] - product[1]];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            let product = times(m[i * n + j], y[j]);
            y[i] = [y[i][0] - product[0], y[i][1] - product[1]];
        }
        y[i] = divided(y[i], m[i * n + i]);
    }
    *x = y;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The companion matrix of (x − 1)(x − 2)…(x − 6).
    #[test]
    fn roots_of_a_polynomial() {
        let c = [720.0, -1764.0, 1624.0, -735.0, 175.0, -21.0];
        let n = c.len();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            a[i * n + n - 1] = -c[i];
            if i > 0 {
                a[i * n + i - 1] = 1.0;
            }
        }
        let values = eigenvalues(n, &a).unwrap();
        for (value, exact) in values.iter().zip([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) {
            assert!((value[0] - exact).abs() < 1e-10 && value[1] == 0.0, "{values:?}");
        }
    }

    /// Frank's matrix: its small eigenvalues are ill conditioned, and its determinant is 1.
    #[test]
    fn eigenvalues_of_franks_matrix_multiply_to_one() {
        let n = 8;
        let entry = |i: usize, j: usize| if j + 1 < i { 0.0 } else { (n - i.max(j)) as f64 };
        let a: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let values = eigenvalues(n, &a).unwrap();
        let product: f64 = values.iter().map(|v| v[0]).product();
        assert!((product - 1.0).abs() < 1e-9, "{product}");
        assert!(values.iter().all(|v| v[1] == 0.0 && v[0] > 0.0), "{values:?}");
    }

    /// A cycle of n has the n-th roots of one, which need an exceptional shift.
    #[test]
    fn a_permutation_has_roots_of_one() {
        let n = 7;
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|i| a[i * n + (i + 1) % n] = 1.0);
        let values = eigenvalues(n, &a).unwrap();
        for v in values {
            assert!((libm::hypot(v[0], v[1]) - 1.0).abs() < 1e-14);
            let angle = libm::atan2(v[1], v[0]) * n as f64 / std::f64::consts::TAU;
            assert!((angle - angle.round()).abs() < 1e-13, "{v:?}");
        }
    }

    #[test]
    fn eigenvalues_that_stand_alone_are_exact() {
        #[rustfmt::skip]
        let a = [
            0.0, 1.0, 0.0, 0.3,
            0.0, 0.0, 0.0, 0.7,
            5.0, 6.0, 0.1, 8.0,
            0.0, 0.0, 0.0, -2.0,
        ];
        let values = eigenvalues(4, &a).unwrap();
        assert_eq!(values, [[0.1, 0.0], [0.0, 0.0], [0.0, 0.0], [-2.0, 0.0]]);
        let nothing = eigenvalues(0, &[]).unwrap();
        assert!(nothing.is_empty());
        assert_eq!(eigenvalues(1, &[f64::NAN]), None);
    }

    #[test]
    fn badly_scaled_matrices_are_balanced() {
        // Similar to [[1, 2, 3], [4, 5, 6], [7, 8, 10]] by diag(1, 1e9, 1e-8).
        let d = [1.0, 1e9, 1e-8];
        let plain = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0];
        let a: Vec<f64> = (0..9).map(|k| plain[k] * d[k / 3] / d[k % 3]).collect();
        let (ours, exact) = (eigenvalues(3, &a).unwrap(), eigenvalues(3, &plain).unwrap());
        for (x, y) in ours.iter().zip(&exact) {
            assert!((x[0] - y[0]).abs() < 1e-13 * (1.0 + y[0].abs()), "{ours:?} {exact:?}");
        }
        let trace: f64 = exact.iter().map(|x| x[0]).sum();
        assert!((trace - 16.0).abs() < 1e-13);
    }
}
