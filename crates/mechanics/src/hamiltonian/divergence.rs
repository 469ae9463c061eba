//! The divergence of the flow on $(q, p)$: how fast it expands or compresses phase space.
//!
//! $$ \Omega = \sum_i \frac{\partial\dot q_i}{\partial q_i} + \frac{\partial\dot p_i}{\partial p_i}
//!    = \operatorname{tr} M^{-1}\,\frac{\partial (Q + R)}{\partial\dot q} \qquad (\mathrm D) $$
//!
//! with $p = \partial L/\partial\dot q$ and $M = \partial p/\partial\dot q$: what follows from a Hamiltonian
//! alone has no divergence, so that only forces $Q$ and reactions
//! $R = W^\top\lambda$ count. The multipliers are those of (K) as functions of all $(t, q, \dot q)$, not only
//! of those on the constraints: $\varphi$ is then constant along the
//! flow beside its zero set too, and the derivatives of $\lambda$ follow from (K) differentiated at fixed $q$,
//!
//! $$ \begin{pmatrix} M & -W^\top \\\\ A & 0 \end{pmatrix}
//!    \begin{pmatrix} \partial\ddot q \\\\ \partial\lambda \end{pmatrix} =
//!    \begin{pmatrix} \partial(f + W^\top\lambda - M\ddot q) \\\\ \partial(b - A\ddot q) \end{pmatrix}, \qquad
//!    \partial = \partial/\partial\dot q_j \text{ with } \ddot q, \lambda \text{ held}. $$
//!
//! Another way of writing the same constraint (a factor that moves) extends the flow differently and may
//! change $\Omega$.
//! Defined where $M$ is invertible, under Chetaev's principle and without memory.

use pfaff_expr::Expr;
use pfaff_model::{Principle, Workspace};

use crate::algebra::elimination::solve_linear;
use crate::equations::Equations;

/// The blocks of (D); symbols `lambda(c)` and accelerations stand for their values.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// $\partial(f + W^\top\lambda - M\ddot q)/\partial\dot q$, then $\partial(b - A\ddot q)/\partial\dot q$:
    /// (n + m) × n
    pub balance_jacobian: Vec<Vec<Expr>>,
    /// $\partial Q/\partial\dot q + \lambda\cdot\partial W/\partial\dot q$, n × n
    pub force_jacobian: Vec<Vec<Expr>>,
    /// $\partial Q/\partial\dot q$, n × n
    pub applied_jacobian: Vec<Vec<Expr>>,
}

/// The blocks of (D); `None` under another principle than Chetaev's, and with memory: then (q, p) is no
/// state, and there is no flow on it.
pub fn divergence(model: &Workspace, equations: &Equations) -> Option<Divergence> {
    let g = &model.graph;
    let forces = model.forces.iter().flat_map(|f| &f.components);
    let mut parts = model.constraints.iter().map(|c| &c.expr).chain(forces);
    if equations.principle != Principle::Chetaev || parts.any(|&e| g.has_memory(e)) {
        return None;
    }
    Some(g.merging(|| blocks(model, equations)))
}

fn blocks(model: &Workspace, e: &Equations) -> Divergence {
    let g = &model.graph;
    let (v, a, λ) = (model.velocities(), model.accelerations(), &model.results.lambda);
    let n = v.len();
    let reaction: Vec<Expr> = (0..n)
        .map(|k| g.sum(e.directions.iter().zip(λ).map(|(w, &λ)| g.mul(w[k], λ))))
        .collect();
    let mut balance: Vec<Expr> =
        (0..n).map(|k| g.sub(g.add(e.force[k], reaction[k]), g.dot(&e.mass[k], &a))).collect();
    balance.extend(e.jacobian.iter().zip(&e.drift).map(|(row, &b)| g.sub(b, g.dot(row, &a))));
    let forces: Vec<Expr> =
        (0..n).map(|k| g.sum(model.forces.iter().map(|f| f.components[k]))).collect();
    let pull: Vec<Expr> = (0..n).map(|k| g.add(forces[k], reaction[k])).collect();
    Divergence {
        balance_jacobian: g.jacobian(&balance, &v),
        force_jacobian: g.jacobian(&pull, &v),
        applied_jacobian: g.jacobian(&forces, &v),
    }
}

/// Unknowns up to which the formula is written out: elimination without numbers grows fast.
const WRITTEN_OUT: usize = 12;
/// Nodes that the formula may add.
const BUDGET: usize = 4_000;

/// $\Omega(t, q, \dot q)$ as a formula, with the multipliers inserted; `None` where it would be too large, or
/// where $M$ or (K) is singular.
pub fn divergence_formula(model: &Workspace, equations: &Equations) -> Option<Expr> {
    let (n, m) = (model.coordinates.len(), model.constraints.len());
    if n + m > WRITTEN_OUT || m > 3 {
        return None;
    }
    let parts = divergence(model, equations)?;
    let g = &model.graph;
    if parts.applied_jacobian.iter().flatten().all(|&e| e == g.zero()) && m == 0 {
        return Some(g.zero());
    }
    g.merging(|| formula(model, equations)).map(|Ω| g.simplify(Ω))
}

fn formula(model: &Workspace, e: &Equations) -> Option<Expr> {
    let g = &model.graph;
    let (n, m) = (model.coordinates.len(), model.constraints.len());
    let size = g.len();
    // M⁻¹ Wᵀ and M⁻¹ f at once.
    let columns = |k: usize| -> Vec<Expr> {
        let mut row: Vec<Expr> = e.directions.iter().map(|w| w[k]).collect();
        row.push(e.force[k]);
        row
    };
    let solved = solve_linear(g, &e.mass, &(0..n).map(columns).collect::<Vec<_>>())?;
    // S λ = b − A M⁻¹ f with S = A M⁻¹ Wᵀ
    let product = |row: &[Expr], c: usize| g.sum((0..n).map(|k| g.mul(row[k], solved[k][c])));
    let schur: Vec<Vec<Expr>> =
        e.jacobian.iter().map(|row| (0..m).map(|c| product(row, c)).collect()).collect();
    let right: Vec<Vec<Expr>> = e
        .jacobian
        .iter()
        .zip(&e.drift)
        .map(|(row, &b)| vec![g.sub(b, product(row, m))])
        .collect();
    let λ: Vec<Expr> = solve_linear(g, &schur, &right)?.into_iter().map(|row| row[0]).collect();
    let pull: Vec<Expr> = (0..n)
        .map(|k| {
            let given = g.sum(model.forces.iter().map(|f| f.components[k]));
            let reaction = e.directions.iter().zip(&λ).map(|(w, &λ)| g.mul(w[k], λ));
            g.add(given, g.sum(reaction))
        })
        .collect();
    if g.len() - size > BUDGET {
        return None;
    }
    let slopes = g.jacobian(&pull, &model.velocities());
    let inverse = solve_linear(g, &e.mass, &slopes)?;
    (g.len() - size <= BUDGET).then(|| g.sum((0..n).map(|k| inverse[k][k])))
}
