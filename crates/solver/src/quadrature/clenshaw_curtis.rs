//! Clenshaw–Curtis rules on the unit interval.

use super::rule::QuadratureRule;

/// The rule of Clenshaw and Curtis with `n + 1` points: it sees the ends, where a jump may hide.
pub(crate) fn clenshaw_curtis(n: u32) -> QuadratureRule {
    let angle = |i: u32| std::f64::consts::PI * f64::from(i) / f64::from(n);
    let nodes = (0..=n).map(|i| 0.5 * (1.0 - libm::cos(angle(i)))).collect();
    let weight = |i: u32| {
        let terms = (1..=n / 2).map(|k| {
            let b = if 2 * k == n { 1.0 } else { 2.0 };
            b / f64::from(4 * k * k - 1) * libm::cos(2.0 * f64::from(k) * angle(i))
        });
        let c = if i == 0 || i == n { 1.0 } else { 2.0 };
        0.5 * c / f64::from(n) * (1.0 - terms.sum::<f64>())
    };
    QuadratureRule { nodes, weights: (0..=n).map(weight).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_up_to_the_number_of_points_are_integrated_exactly() {
        let rule = clenshaw_curtis(8);
        assert!(rule.nodes[0] == 0.0 && rule.nodes.is_sorted(), "{:?}", rule.nodes);
        for p in 0..=8 {
            let exact = 1.0 / f64::from(p + 1);
            // Nine terms below 1.
            assert!((rule.integrate(|y| y.powi(p)) - exact).abs() < 1e-15, "{p}");
        }
    }
}
