//! A motion between given ends, with what is known of it.

/// A motion between the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// $\int L\,dt$
    pub action: f64,
    /// $\mu(t_0)$ by constraint
    pub mu0: Vec<(String, f64)>,
    /// $q(t_0)$ by coordinate
    pub q0: Vec<(String, f64)>,
    /// $\dot q(t_0)$ by coordinate
    pub v0: Vec<(String, f64)>,
    /// $p(t_0)$ by coordinate
    pub p0: Vec<(String, f64)>,
    /// When it ends.
    pub t1: f64,
    /// The largest deviation from the conditions and from a continuous path, in parts of 1 + |y|, where y is in
    /// units of the sizes of the problem.
    pub residual: f64,
    /// How many parameters the family of solutions has to which it belongs; 0 if it is isolated.
    pub family_dimension: usize,
    /// Times of conjugate points; none where that was not decided.
    pub conjugate: Option<Vec<f64>>,
    /// Whether it is a local minimum of the action; none where that was not decided.
    pub minimum: Option<bool>,
    /// The path is an abnormal extremal as well: its multipliers are not unique.
    pub abnormal: bool,
    /// How far the other method is away, in parts of the sizes of the coordinates; none where it did not converge.
    pub agreement: Option<f64>,
    /// An estimate of the error in units of 1 + |x|, where there is memory; none without.
    pub error: Option<f64>,
}
