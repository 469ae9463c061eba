//! $(B, b)$ of $\dot q = B u + b$ written out, for people.
//!
//! The elimination is the one that motions are integrated with, without a point: pivots need only not vanish
//! identically, so that the result belongs to the model and not to a start.

use pfaff_expr::{Expr, Graph, Role};

use super::eliminate::{ConstraintRows, Eliminated, eliminate};

/// $B$ and $b$ over $t$ and $q$, and what $u$ is.
#[derive(Clone, Debug)]
pub(crate) struct VelocityBasis {
    /// $u(q,\dot q,t)$
    pub(crate) forms: Vec<Expr>,
    /// $B$, column by column
    pub(crate) columns: Vec<Vec<Expr>>,
    /// $b$
    pub(crate) offset: Vec<Expr>,
    /// Coefficients that were divided by and may vanish somewhere.
    pub(crate) pivots: Vec<Expr>,
}

/// Solves the rows for velocities; `None` if they contradict each other.
pub(crate) fn basis(g: &Graph, given: ConstraintRows<'_>) -> Option<VelocityBasis> {
    g.merging(|| {
        let Eliminated { independent, forms, velocities, charts, .. } =
            eliminate(given, g, &[], None)?;
        // NOTE: hidden linearity leaves velocities whose coefficients cancel.
        let symbols = independent.iter().chain(given.velocities);
        let still: Vec<(Expr, Expr)> = symbols.map(|&s| (s, g.zero())).collect();
        let column =
            |&u: &Expr| g.substitute(&g.directional(&velocities, &[(u, g.one())]), &still);
        Some(VelocityBasis {
            columns: independent.iter().map(column).collect(),
            offset: g.substitute(&velocities, &still),
            pivots: charts.iter().map(|c| c.candidates[c.pivot]).collect(),
            forms,
        })
    })
}

/// A basis of the fields that all one-forms annihilate, the forms given by their components.
pub(crate) fn kernel(
    g: &Graph,
    forms: &[Vec<Expr>],
    parameters: &[(Expr, f64)],
) -> Vec<Vec<Expr>> {
    let Some(n) = forms.first().map(Vec::len) else { return Vec::new() };
    let symbol = |i: usize| g.symbol(&format!("component {i} of a field"), Role::Free);
    let components: Vec<Expr> = (0..n).map(symbol).collect();
    // NOTE: merged, the sum would become the row that it is equal to.
    let written: Vec<Expr> =
        forms.iter().map(|form| g.as_written(|| g.dot(form, &components))).collect();
    let rows = ConstraintRows { velocities: &components, written: &written, known: parameters };
    // Homogeneous rows cannot contradict each other.
    basis(g, rows).map(|b| b.columns).unwrap_or_default()
}
