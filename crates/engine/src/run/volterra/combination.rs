//! Operands of memory that are linear in coordinates and velocities with constant coefficients.

use pfaff_expr::Expr;
use pfaff_model::Workspace;

/// An operand of memory that is linear with constant coefficients.
pub(crate) struct Combination {
    /// Coordinates with their coefficients.
    pub(crate) positions: Vec<(usize, Expr)>,
    /// Velocities with theirs.
    pub(crate) velocities: Vec<(usize, Expr)>,
    /// The constant.
    pub(crate) rest: f64,
}

/// $g = \sum c_k q_k + \sum d_k \dot q_k + r$ with constants, or `None`.
pub(crate) fn combination(model: &Workspace, operand: Expr) -> Option<Combination> {
    let g = &model.graph;
    if g.has_memory(operand) {
        return None;
    }
    let symbols: Vec<Expr> = model.positions().into_iter().chain(model.velocities()).collect();
    let linear = g.try_linear(operand, &symbols)?;
    let steady = |e: &Expr| !g.contains(*e, &[model.time]);
    if !linear.coefficients.iter().all(steady) || !steady(&linear.rest) {
        return None;
    }
    let n = model.coordinates.len();
    let nonzero = |range: std::ops::Range<usize>, start: usize| {
        let pairs = range.map(|i| (i - start, linear.coefficients[i]));
        pairs.filter(|(_, c)| *c != g.zero()).collect()
    };
    Some(Combination {
        positions: nonzero(0..n, 0),
        velocities: nonzero(n..2 * n, n),
        rest: model.constant(linear.rest),
    })
}
