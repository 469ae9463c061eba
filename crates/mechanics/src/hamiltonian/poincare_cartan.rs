//! The Poincaré–Cartan form and Chetaev's form on $(t, q, p, v)$, and the equations that they give.
//!
//! $$ \omega = p_k\,dq^k + (L - p_kv^k)\,dt, \qquad C = (Q_k + \lambda_a\,\partial\varphi^a/\partial
//! v^k)\,dt\wedge dq^k, \qquad
//!    i_X(d\omega - C) = 0, \quad X = \partial_t + \dot q\,\partial_q + \dot p\,\partial_p + \dot v\,\partial_v . $$
//!
//! The coefficient of $dq^k$ says $\dot p_k = \partial_{q^k}L + Q_k + \lambda_a\varphi^a_{v^k}$, that of
//! $dp_k$ says $\dot q^k = v^k$, that of $dv^k$ says $p_k = \partial_{v^k}L$. The sign of $C$ is plus:
//! \[TZ06, (97)\] has a
//! minus, and (98) counts $dp_k\wedge dq^k$ twice, $p$ being a coordinate here.

use pfaff_expr::{Expr, Role};
use pfaff_model::{Dynamics, Workspace};

use crate::algebra::exterior::{DifferentialForm, Space};
use crate::equations::Equations;

/// The forms of a model.
#[derive(Clone, Debug)]
pub struct CartanForms {
    /// $(t, q, p, v)$
    pub space: Space,
    /// $p_k$
    pub momenta: Vec<Expr>,
    /// $\omega$
    pub poincare_cartan: DifferentialForm,
    /// $C$
    pub chetaev: DifferentialForm,
    /// $X$, with $\dot q$, $\dot p$ and $\dot v$ as symbols
    pub field: Vec<Expr>,
    /// $i_X(d\omega - C)$
    pub equations: DifferentialForm,
    /// $\dot q$, $\dot p$, $\dot v$
    pub rates: [Vec<Expr>; 3],
}

/// The forms of a model under Chetaev's principle; `None` without Lagrangian.
///
/// The velocities of the model are the coordinates $v$; holonomic constraints enter by their rates.
pub fn cartan_forms(model: &Workspace, equations: &Equations) -> Option<CartanForms> {
    let Dynamics::Lagrangian { lagrangian: L, .. } = model.dynamics else { return None };
    let g = &model.graph;
    let (t, q, v) = (model.time, model.positions(), model.velocities());
    let named = |mark: &str| named(model, mark);
    let rates = [named("rate(*)"), named("rate(p[*])"), named("rate(*')")];
    let (space, p) = cartan_space(model);
    let one = |e: Expr| space.differential(g, e);
    let mut ω = one(t).scaled(g, g.sub(L, g.dot(&p, &v)));
    for (&q, &p) in q.iter().zip(&p) {
        ω = ω.plus(g, &one(q).scaled(g, p)).expect("two 1-forms");
    }
    let (C, _) = chetaev_form(model, equations, &space);
    let field = [&[g.one()][..], &rates[0], &rates[1], &rates[2]].concat();
    let difference = space.d(g, &ω).minus(g, &C).expect("two 2-forms");
    let equations = difference.interior(g, &field);
    Some(CartanForms {
        space,
        momenta: p,
        poincare_cartan: ω,
        chetaev: C,
        field,
        equations,
        rates,
    })
}

/// $(t, q, p, v)$, and $p$.
pub(crate) fn cartan_space(model: &Workspace) -> (Space, Vec<Expr>) {
    let p = named(model, "p[*]");
    let all = [&[model.time][..], &model.positions(), &p, &model.velocities()].concat();
    (Space::new(all), p)
}

/// $C$, and $Q_k + \lambda_a\varphi^a_{v^k}$.
pub(crate) fn chetaev_form(
    model: &Workspace,
    equations: &Equations,
    space: &Space,
) -> (DifferentialForm, Vec<Expr>) {
    let g = &model.graph;
    let one = |e: Expr| space.differential(g, e);
    let mut C = DifferentialForm::zero(2);
    let mut pulls = Vec::new();
    for (k, q) in model.positions().into_iter().enumerate() {
        let given = g.sum(model.forces.iter().map(|f| f.components[k]));
        let rows = equations.directions.iter().zip(&model.results.lambda);
        let pull = g.add(given, g.sum(rows.map(|(row, &λ)| g.mul(row[k], λ))));
        let term = one(model.time).wedge(g, &one(q)).scaled(g, pull);
        C = C.plus(g, &term).expect("two 2-forms");
        pulls.push(pull);
    }
    (C, pulls)
}

/// A symbol for each coordinate, by its name in the place of `*`.
fn named(model: &Workspace, mark: &str) -> Vec<Expr> {
    let symbol = |name: &str| model.graph.symbol(&mark.replace('*', name), Role::Free);
    model.coordinates.iter().map(|c| symbol(&c.name)).collect()
}
