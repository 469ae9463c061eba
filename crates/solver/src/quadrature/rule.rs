//! A quadrature rule on the unit interval.

/// $\int_0^1 w(y)\,g(y)\,dy \approx \sum_i w_i\,g(y_i)$
#[derive(Clone, Debug, PartialEq)]
pub struct QuadratureRule {
    /// $y_i$, ascending
    pub nodes: Vec<f64>,
    /// $w_i$
    pub weights: Vec<f64>,
}

impl QuadratureRule {
    /// The pairs $(y_i, w_i)$.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.nodes.iter().copied().zip(self.weights.iter().copied())
    }

    /// The sum for a function.
    ///
    /// ```
    /// let rule = pfaff_solver::gauss_jacobi(3, 1.0);
    /// assert!((rule.integrate(|y| y * y) - 1.0 / 3.0).abs() < 1e-15);
    /// ```
    pub fn integrate(&self, mut g: impl FnMut(f64) -> f64) -> f64 {
        self.points().map(|(y, w)| w * g(y)).sum()
    }
}
