//! Gauss–Jacobi rules on the unit interval.
//!
//! $$ \int_0^1 (1-y)^{\mu-1} g(y)\,dy \approx \sum_i w_i\,g(y_i), \qquad \mu > 0 \qquad (\mathrm G) $$
//!
//! exact for polynomials of degree $2n-1$; $\mu = 1$ is the rule of Gauss and Legendre. Nodes are the
//! eigenvalues of the
//! symmetric tridiagonal matrix of the recurrence, weights the squares of the first components of
//! its eigenvectors (Golub and Welsch 1969).

use super::rule::QuadratureRule;

/// The nodes and weights of (G), ascending.
///
/// ```
/// let rule = pfaff_solver::gauss_jacobi(2, 0.5);
/// // B(2, 1/2) = 4/3
/// assert!((rule.integrate(|y| y) - 4.0 / 3.0).abs() < 1e-14);
/// ```
pub fn gauss_jacobi(n: usize, mu: f64) -> QuadratureRule {
    let a = mu - 1.0;
    let mut diagonal = Vec::with_capacity(n);
    let mut beside = Vec::with_capacity(n);
    for k in 0..n {
        let k2 = 2.0 * k as f64 + a;
        // Recurrence of P_k^{(a,0)} on [−1, 1].
        diagonal.push(if k == 0 { -a / (a + 2.0) } else { -a * a / (k2 * (k2 + 2.0)) });
        let j = k as f64 + 1.0;
        let c = 2.0 * j + a;
        let numerator = 4.0 * j * j * (j + a) * (j + a);
        beside.push((numerator / (c * c * (c + 1.0) * (c - 1.0))).sqrt());
    }
    let first = tridiagonal(&mut diagonal, &mut beside);
    let mut rule: Vec<(f64, f64)> =
        diagonal.iter().zip(&first).map(|(&x, &v)| (0.5 * (1.0 + x), v * v / mu)).collect();
    rule.sort_by(|p, q| p.0.total_cmp(&q.0));
    let (nodes, weights) = rule.into_iter().unzip();
    QuadratureRule { nodes, weights }
}

/// Eigenvalues in place of the diagonal `d`, with `e` beside it; gives the first components of the eigenvectors.
/// Implicit QL with shifts.
pub(crate) fn tridiagonal(d: &mut [f64], e: &mut [f64]) -> Vec<f64> {
    let n = d.len();
    let mut z = vec![0.0; n];
    z[0] = 1.0;
    e[n - 1] = 0.0;
    for l in 0..n {
        // NOTE: every pass makes one entry vanish cubically; 60 are never needed.
        for _ in 0..60 {
            let m = (l..n - 1)
                .find(|&m| e[m].abs() <= 0.5 * f64::EPSILON * (d[m].abs() + d[m + 1].abs()))
                .unwrap_or(n - 1);
            if m == l {
                break;
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut r = libm::hypot(g, 1.0);
            g = d[m] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                r = libm::hypot(f, g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                let f = z[i + 1];
                z[i + 1] = s * z[i] + c * f;
                z[i] = c * z[i] - s * f;
            }
            if r == 0.0 && m > l + 1 {
                continue;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0.0;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for mu in [0.1, 0.5, 1.0, 1.7] {
            let QuadratureRule { nodes: y, weights: w } = gauss_jacobi(9, mu);
            for p in 0..18 {
                let sum: f64 = y.iter().zip(&w).map(|(y, w)| w * y.powi(p)).sum();
                // B(p + 1, μ)
                let exact = libm::tgamma(f64::from(p) + 1.0) * libm::tgamma(mu)
                    / libm::tgamma(f64::from(p) + 1.0 + mu);
                // Rounding of nine products and of three Γ.
                assert!((sum / exact - 1.0).abs() < 3e-14, "{mu} {p} {sum} {exact}");
            }
        }
    }
}
