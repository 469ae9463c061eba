//! The parts of a Lagrangian that is quadratic in the velocities.
//!
//! $$ L = \tfrac12 g_{kl}\,\dot q^k\dot q^l + g_k\,\dot q^k + L_0, \qquad T_2 = \tfrac12 g_{kl}\dot q^k\dot
//! q^l,\quad T_1 = g_k\dot q^k, $$
//!
//! and $L_0 = T_0 - V$; the two are told apart where the text gives `kinetic` and `potential`. For positions
//! $r(q,t)$ these are the metric
//! $g_{kl} = m\,\partial_k r\cdot\partial_l r$, the vector $g_k = m\,\partial_k r\cdot\partial_t r$ and the
//! scalar $T_0 = \tfrac12 m\,(\partial_t r)^2$.

use pfaff_expr::{Expr, Graph};
use pfaff_model::{Dynamics, Workspace};

/// $T_2$, $T_1$, $T_0$ and $V$.
#[derive(Clone, Debug)]
pub struct Kinetic {
    /// $g_{kl}$
    pub metric: Vec<Vec<Expr>>,
    /// $g_k$
    pub vector: Vec<Expr>,
    /// $T_0$, or $L_0 = T_0 - V$ where the text does not tell them apart.
    pub scalar: Expr,
    /// $V$, where the text gives it.
    pub potential: Option<Expr>,
}

impl Kinetic {
    /// The parts, or `None` if the Lagrangian is not (provably) quadratic in the velocities.
    pub fn of(model: &Workspace, mass: &[Vec<Expr>], momenta: &[Expr]) -> Option<Self> {
        let g = &model.graph;
        let Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } = model.dynamics else {
            return None;
        };
        let velocities = model.velocities();
        let rest: Vec<(Expr, Expr)> = velocities.iter().map(|&v| (v, g.zero())).collect();
        let mut entries: Vec<Expr> = mass.iter().flatten().copied().collect();
        entries.sort_unstable();
        entries.dedup();
        let slopes = g.jacobian_columns(&entries, &velocities);
        if !slopes.iter().flatten().all(|&(_, slope)| g.is_zero(slope)) {
            return None;
        }
        let at_rest = |es: &[Expr]| g.substitute(es, &rest);
        let still = |v: Option<Expr>| v.is_none_or(|v| !g.contains(v, &velocities));
        let (whole, potential) = match (kinetic, potential) {
            (Some(t), v) if still(v) => (t, v),
            _ => (lagrangian, None),
        };
        Some(Self {
            metric: mass.iter().map(|row| at_rest(row)).collect(),
            vector: at_rest(momenta),
            scalar: at_rest(&[whole])[0],
            potential,
        })
    }

    /// $T_2 = \sum_k \tfrac12 g_{kk}\dot q_k^2 + \sum_{k<l} g_{kl}\,\dot q_k\dot q_l$
    pub fn quadratic(&self, g: &Graph, velocities: &[Expr]) -> Expr {
        let half = g.fraction(1, 2);
        let mut sum = g.zero();
        for (k, &v) in velocities.iter().enumerate() {
            sum = g.add(sum, g.mul(half, g.mul(self.metric[k][k], g.mul(v, v))));
            for (l, &w) in velocities.iter().enumerate().skip(k + 1) {
                sum = g.add(sum, g.mul(self.metric[k][l], g.mul(v, w)));
            }
        }
        sum
    }

    /// $E = T_2 - T_0 + V$
    pub fn energy(&self, g: &Graph, velocities: &[Expr]) -> Expr {
        let rest = self.potential.map_or_else(|| g.neg(self.scalar), |v| g.sub(v, self.scalar));
        g.add(self.quadratic(g, velocities), rest)
    }

    /// $T_1$
    pub fn linear(&self, g: &Graph, velocities: &[Expr]) -> Expr {
        g.dot(&self.vector, velocities)
    }
}
