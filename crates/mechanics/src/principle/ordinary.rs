//! Equations as they stand: `equation` models.
//!
//! Each coordinate has an order, the highest derivative of it that occurs. The highest derivatives $x$ are
//! the unknowns of $F(t, y, x) = 0$, with the
//! Jacobian $J = \partial F/\partial x$; where $F$ is affine in $x$ one solve of $J x = -F(t,y,0)$ is enough,
//! otherwise Newton's iteration is needed.

use pfaff_expr::{Expr, Graph};
use pfaff_model::{Dynamics, Workspace};
use rustc_hash::FxHashSet;

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
    /// $J = \partial F/\partial x$ by rows: the entries that are not zero, with their columns.
    pub jacobian: Vec<Vec<(usize, Expr)>>,
    /// Whether $F$ is affine in the unknowns.
    pub affine: bool,
}

impl Ordinary {
    /// The unknown of each equation with its entry of $J$, where every equation has one and each another one.
    pub fn own_unknowns(&self) -> Option<Vec<(usize, Expr)>> {
        let mut is_taken = vec![false; self.jacobian.len()];
        let own = |row: &Vec<(usize, Expr)>| match row[..] {
            [(j, e)] if !std::mem::replace(&mut is_taken[j], true) => Some((j, e)),
            _ => None,
        };
        self.jacobian.iter().map(own).collect()
    }

    /// $J$ with all its zeros.
    pub fn full_jacobian(&self, g: &Graph) -> Vec<Vec<Expr>> {
        let full = |row: &Vec<(usize, Expr)>| {
            let mut full = vec![g.zero(); self.unknowns.len()];
            row.iter().for_each(|&(j, e)| full[j] = e);
            full
        };
        self.jacobian.iter().map(full).collect()
    }

    /// $-F(t, y, 0)$, the right side of $Jx$ where the equations are affine.
    pub fn right_side(&self, g: &Graph) -> Vec<Expr> {
        let still: Vec<(Expr, Expr)> = self.unknowns.iter().map(|&x| (x, g.zero())).collect();
        g.substitute(&self.residual, &still).into_iter().map(|e| g.neg(e)).collect()
    }

    /// The highest derivatives, where each equation is affine in one of its own.
    pub fn explicit(&self, g: &Graph) -> Option<Vec<Expr>> {
        let own = self.own_unknowns().filter(|_| self.affine)?;
        let mut found = vec![g.zero(); own.len()];
        for (b, (j, e)) in self.right_side(g).into_iter().zip(own) {
            found[j] = g.div(b, e);
        }
        Some(found)
    }
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
    let present: FxHashSet<Expr> = g.symbols(&residual).into_iter().collect();
    let occurs = |s: Expr| present.contains(&s);
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
    let columns = g.merging(|| g.jacobian_columns(&residual, &unknowns));
    let mut jacobian = vec![Vec::new(); residual.len()];
    for (j, column) in columns.into_iter().enumerate() {
        column.into_iter().for_each(|(i, slope)| jacobian[i].push((j, slope)));
    }
    let entries: Vec<Expr> = jacobian.iter().flatten().map(|entry| entry.1).collect();
    let still: FxHashSet<Expr> = unknowns.iter().copied().collect();
    let affine = g.symbols(&entries).iter().all(|s| !still.contains(s));
    Ok(Ordinary { orders, unknowns, residual, jacobian, affine })
}
