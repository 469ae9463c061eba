//! Legendre and Lagrange polynomials on the unit interval.

/// $P_0 \dots P_{n-1}$ at $2x - 1$.
pub(crate) fn legendre(n: usize, x: f64) -> Vec<f64> {
    let y = 2.0 * x - 1.0;
    let mut p = vec![1.0; n.max(2)];
    p[1] = y;
    for k in 1..n.saturating_sub(1) {
        p[k + 1] = ((2 * k + 1) as f64 * y * p[k] - k as f64 * p[k - 1]) / (k + 1) as f64;
    }
    p.truncate(n);
    p
}

/// The Lagrange polynomial of node `k` at `x`: 1 at its own node, 0 at the others.
pub(crate) fn lagrange(nodes: &[f64], k: usize, x: f64) -> f64 {
    let others = nodes.iter().enumerate().filter(|&(j, _)| j != k);
    others.map(|(_, c)| (x - c) / (nodes[k] - c)).product()
}

/// Legendre coefficients of $\int_0^\theta p$ from those of $p$: one more.
pub(crate) fn integrate_coefficients(p: &[f64], out: &mut [f64]) {
    let n = p.len();
    out[..=n].fill(0.0);
    // ∫_0^θ P_m(2y−1) dy = (P_{m+1} − P_{m−1})/(2(2m+1)), and (P_1 + P_0)/2 for m = 0.
    for (m, &p) in p.iter().enumerate() {
        let share = p / (2 * (2 * m + 1)) as f64;
        out[m + 1] += share;
        if m == 0 {
            out[0] += share;
        } else {
            out[m - 1] -= share;
        }
    }
}
