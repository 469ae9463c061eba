//! The vakonomic principle: $\delta\int(L - \mu\cdot\psi)\,dt = 0$ among curves that obey the constraints.
//!
//! With $\mathcal L = L - \mu\cdot\psi$ the Euler–Lagrange equations are
//!
//! $$ (M - \mu\cdot\psi_{\dot q\dot q})\,\ddot q = f + A^\top\dot\mu + (\psi_{\dot q q}\,\dot q + \psi_{\dot
//! q t} - \psi_q)^\top\mu , $$
//!
//! so that $\dot\mu$ stands where Chetaev's principle has $\lambda$. A holonomic $\psi = d\varphi/dt$ adds
//! nothing but $A^\top\dot\mu$, whatever $\mu$ is: for it
//! the correction is left out, and its $\mu$ is only carried along; in $E\[M\] = -\mu\cdot\psi_{\dot q}\,\dot
//! q$ it counts like the others. `along` has no meaning here: the direction of the reaction is part of the
//! principle.

use pfaff_expr::Expr;
use pfaff_model::{Principle, Workspace};

use crate::equations::{Class, Equations, MultiplierTerms};
use crate::lagrangian::motion::motion_direction;

/// Turns the blocks of Chetaev's principle into those of the vakonomic one.
pub(crate) fn vakonomic(model: &Workspace, mut e: Equations) -> Equations {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let μ = model.results.mu.clone();
    let weighted: Vec<(Expr, Expr)> = (0..μ.len())
        .filter(|&a| e.classes[a] != Class::Holonomic)
        .map(|a| (e.residual[a], μ[a]))
        .collect();
    // σ = μ·ψ with μ held fixed.
    let σ = g.sum(weighted.iter().map(|&(ψ, μ)| g.mul(μ, ψ)));
    let slopes = g.gradient(σ, &v);
    let rates = g.directional(&slopes, &motion_direction(model));
    let positions = g.gradient(σ, &q);
    let force = (0..q.len()).map(|k| g.sub(rates[k], positions[k])).collect();
    let mass = g.hessian(σ, &v);
    let whole = g.dot(&μ, &e.residual);
    e.multiplier_terms = MultiplierTerms {
        force,
        mass,
        energy: g.neg(g.dot(&g.gradient(whole, &v), &v)),
        power: g.derivative(whole, model.time),
    };
    for k in 0..q.len() {
        e.force[k] = g.add(e.force[k], e.multiplier_terms.force[k]);
        for j in 0..q.len() {
            e.mass[k][j] = g.sub(e.mass[k][j], e.multiplier_terms.mass[k][j]);
        }
    }
    e.directions.clone_from(&e.jacobian);
    e.multipliers = μ;
    e.principle = Principle::Vakonomic;
    e
}
