//! Equations as they stand: `equation` models.
//!
//! Each coordinate has an order, the highest derivative of it that occurs. The highest derivatives $x$ are
//! the unknowns of $F(t, y, x) = 0$, with the
//! Jacobian $J = \partial F/\partial x$; where $F$ is affine in $x$ one solve of $J x = -F(t,y,0)$ is enough,
//! otherwise Newton's iteration is needed.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};

use crate::equations::Refusal;

/// An `equation` model, ready to be solved for its highest derivatives.
#[derive(Clone, Debug)]
pub struct Ordinary {
    /// 1 or 2 for each coordinate; empty where memory occurs, whose orders may be any.
    pub orders: Vec<u8>,
    /// The highest derivative of each coordinate.
    pub unknowns: Vec<Expr>,
    /// $F$, one for each equation.
    pub residual: Vec<Expr>,
    /// $J = \partial F/\partial x$ by rows.
    pub jacobian: Vec<Vec<Expr>>,
    /// Whether $F$ is affine in the unknowns.
    pub affine: bool,
}

/// The equations of an `equation` model.
///
/// # Errors
///
/// [`Refusal`] where memory, a constraint, a force or a coordinate without derivative stands in the way.
pub fn ordinary(model: &Workspace) -> Result<Ordinary, Refusal> {
    let Dynamics::Equations(equations) = &model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let g = &model.graph;
    if let Some(c) = model.constraints.first() {
        let what = format!("the constraint `{}`", c.name);
        return Err(Refusal::MixedDynamics { what, span: c.span });
    }
    if let Some(f) = model.forces.first() {
        return Err(Refusal::MixedDynamics { what: format!("`{}`", f.name), span: f.span });
    }
    let residual: Vec<Expr> = equations.iter().map(|e| e.expr).collect();
    if residual.iter().any(|&e| g.has_memory(e)) {
        // NOTE: fractional orders are found where the run is planned.
        let (orders, unknowns, jacobian) = (Vec::new(), Vec::new(), Vec::new());
        return Ok(Ordinary { orders, unknowns, residual, jacobian, affine: false });
    }
    let occurs = |s: Expr| residual.iter().any(|&e| g.contains(e, &[s]));
    let mut orders = Vec::new();
    let mut unknowns = Vec::new();
    for c in &model.coordinates {
        if occurs(c.acceleration) {
            orders.push(2);
            unknowns.push(c.acceleration);
        } else if occurs(c.velocity) {
            orders.push(1);
            unknowns.push(c.velocity);
        } else {
            return Err(Refusal::Algebraic { name: c.name.clone(), span: c.span });
        }
    }
    let jacobian = g.merging(|| g.jacobian(&residual, &unknowns));
    let affine = jacobian.iter().flatten().all(|&e| !g.contains(e, &unknowns));
    Ok(Ordinary { orders, unknowns, residual, jacobian, affine })
}
