//! A riemannian flow: a metric and a prescribed speed.
//!
//! Where $L = \tfrac12 g(v,v) - V(x)$ and the one constraint says $g(v,v) = \phi(t)$, Chetaev's motion is
//!
//! $$ \nabla_v v = -\operatorname{grad} V + \lambda_v\,v, \qquad \lambda_v = \frac{\phi'/2 + dV(v)}{\phi}, $$
//!
//! which is $\nabla_v v = (\phi'/2\phi)\,v$ without potential: the trajectories are geodesics, run through at
//! the given speed \[PP, (20), printed for flat metrics\].

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use crate::equations::Equations;

/// A prescribed speed $g(v,v) = \phi(t)$.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrescribedSpeed {
    /// $\phi$
    pub square: Expr,
    /// $\lambda_v$, the factor of the velocity in the acceleration
    pub factor: Expr,
}

/// Recognises a prescribed speed; `None` where there is none.
pub fn prescribed_speed(model: &Workspace, equations: &Equations) -> Option<PrescribedSpeed> {
    let g = &model.graph;
    let kinetic = equations.kinetic.as_ref()?;
    let [φ] = equations.residual[..] else { return None };
    if !equations.has_chetaev_reactions() {
        return None;
    }
    let (x, v) = (model.positions(), model.velocities());
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    if !kinetic.vector.iter().all(|&e| g.is_zero(e)) || !model.forces.is_empty() {
        return None;
    }
    let place = (0..v.len()).find(|&k| !g.is_zero(kinetic.metric[k][k]))?;
    let bend = g.derivative(equations.jacobian[0][place], v[place]);
    // φ = c (g(v,v) − φ(t)) with a constant c
    let scale = g.simplify(g.div(bend, g.mul(g.integer(2), kinetic.metric[place][place])));
    if g.is_zero(scale) || !g.is_constant(scale) {
        return None;
    }
    let twice = g.mul(g.integer(2), kinetic.quadratic(g, &v));
    let rest = g.div(g.substitute(&[φ], &still)[0], scale);
    if !g.is_zero(g.sub(φ, g.mul(scale, g.add(twice, rest)))) {
        return None;
    }
    let square = g.simplify(g.neg(rest));
    let timely = kinetic.metric.iter().flatten().any(|&e| g.contains(e, &[model.time]));
    if timely || !g.gradient(square, &x).into_iter().all(|e| g.is_zero(e)) {
        return None;
    }
    let potential =
        kinetic.potential.map_or_else(|| g.neg(kinetic.scalar), |p| g.sub(p, kinetic.scalar));
    let drawn = g.dot(&g.gradient(potential, &x), &v);
    let half = g.mul(g.fraction(1, 2), g.derivative(square, model.time));
    Some(PrescribedSpeed { square, factor: g.simplify(g.div(g.add(half, drawn), square)) })
}
