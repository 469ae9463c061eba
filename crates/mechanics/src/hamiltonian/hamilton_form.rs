//! Hamilton's form of the vakonomic equations for constraints linear or affine in the velocities.
//!
//! $$ \mathcal L = L - \mu\cdot(A\dot q + a), \qquad p = \frac{\partial\mathcal L}{\partial\dot q} = M\dot q +
//! g_1 - A^\top\mu , $$
//!
//! and $A\dot q + a = 0$ determine the multipliers and the velocities,
//!
//! $$ \mu = -(AM^{-1}A^\top)^{-1}\big(AM^{-1}(p - g_1) + a\big), \qquad \dot q = M^{-1}(p - g_1 + A^\top\mu), \qquad
//!    \dot p = \frac{\partial\mathcal L}{\partial q}\Big|_{\dot q,\mu} + Q . \qquad (\mathrm{Ha}) $$
//!
//! For $M = 1$ and one constraint $A_k\dot q_k = 0$ this is $\dot q = (1 - AA^\top/A^2)\,p$ with $\mu =
//! -A\cdot p/A^2$ \[TZ06, (84)–(93) with $\mu \mapsto -\mu$; (86) lacks the minus before $\partial\mathcal
//! H/\partial q$\].

use pfaff_expr::{Expr, Role};
use pfaff_model::{Dynamics, Workspace};

use super::legendre::{Legendre, LegendreInput, legendre};
use crate::algebra::tensor::simple as tidy;
use crate::equations::Class;
use crate::equations::{Equations, Refusal};

/// The equations (Ha).
#[derive(Clone, Debug)]
pub struct HamiltonForm {
    /// $p$
    pub symbols: Vec<Expr>,
    /// $\dot p$ as symbols
    pub rates: Vec<Expr>,
    /// $p$ as functions of $(t, q, \dot q, \mu)$
    pub momenta: Vec<Expr>,
    /// $\mu(t, q, p)$
    pub multipliers: Vec<Expr>,
    /// $\dot q(t, q, p)$
    pub velocities: Vec<Expr>,
    /// $\dot p(t, q, p)$
    pub forces: Vec<Expr>,
    /// $\mathcal H = p\cdot\dot q - \mathcal L$
    pub hamiltonian: Expr,
}

/// Hamilton's form of the vakonomic equations; `equations` are those of the vakonomic principle.
///
/// # Errors
///
/// [`Refusal::NoHamilton`] says which hypothesis fails.
pub fn hamilton_form(
    model: &Workspace,
    equations: &Equations,
) -> Result<HamiltonForm, Refusal> {
    let Dynamics::Lagrangian { lagrangian: L, span, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let why = |what: &'static str| Refusal::NoHamilton { what, span };
    let affine = [Class::Linear, Class::Affine];
    if !equations.classes.iter().all(|c| affine.contains(c)) {
        return Err(why(
            "its velocities and multipliers follow from the momenta where every constraint is linear or affine \
             in the velocities",
        ));
    }
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let μ = &model.results.mu;
    let named = |mark: &str| -> Vec<Expr> {
        let symbol = |name: &str| g.symbol(&mark.replace('*', name), Role::Free);
        model.coordinates.iter().map(|c| symbol(&c.name)).collect()
    };
    let (symbols, rates) = (named("p[*]"), named("p[*]'"));
    g.merging(|| {
        let rows = g.independent_rows(&equations.jacobian);
        if rows.len() < equations.jacobian.len() {
            return Err(why(
                "a constraint repeats others, so its multiplier is not determined",
            ));
        }
        let given = LegendreInput {
            lagrangian: L,
            residuals: &equations.residual,
            velocities: &v,
            momenta: &symbols,
        };
        let Legendre { velocities, multipliers, hamiltonian } =
            legendre(g, given).map_err(why)?;
        let extended = g.sub(L, g.dot(μ, &equations.residual));
        let given = |k: usize| g.sum(model.forces.iter().map(|f| f.components[k]));
        let pulled: Vec<Expr> = g
            .gradient(extended, &q)
            .into_iter()
            .enumerate()
            .map(|(k, e)| g.add(e, given(k)))
            .collect();
        let pairs: Vec<(Expr, Expr)> = v
            .iter()
            .chain(μ)
            .copied()
            .zip(velocities.iter().chain(&multipliers).copied())
            .collect();
        let insert = |es: &[Expr]| -> Vec<Expr> {
            g.substitute(es, &pairs).into_iter().map(|e| tidy(g, e)).collect()
        };
        Ok(HamiltonForm {
            momenta: g.gradient(extended, &v),
            forces: insert(&pulled),
            velocities,
            multipliers,
            hamiltonian,
            symbols,
            rates,
        })
    })
}
