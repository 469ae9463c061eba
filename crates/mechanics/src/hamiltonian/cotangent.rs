//! The cotangent form of Chetaev's equations: momenta $p_{\bar u}$ instead of transverse velocities.
//!
//! With (N), $p_i = (\partial L/\partial y^i)\circ C$, $J_{\bar u\bar v} = \partial p_{\bar u}/\partial
//! y^{\bar v}$, $h_{u\bar v} = \partial p_u/\partial y^{\bar v}$ and $D = \partial_t + C^v\partial_v +
//! y^{\bar v}\partial_{\bar v}$ on the constraint,
//!
//! $$ \dot x^{\bar u} = y^{\bar u}, \quad \dot x^u = C^u, \qquad
//!    H_{\bar u}{}^{\bar w}\,\dot p_{\bar w} = \frac{\partial L}{\partial x^{\bar u}} + Q_{\bar u} +
//!    C^u_{\bar u}\Big(\frac{\partial L}{\partial x^u} + Q_u\Big) - C^u_{\bar u}\big(Dp_u - h_{u\bar
//!    v}(J^{-1})^{\bar v\bar w}Dp_{\bar w}\big), \qquad (\mathrm{Co}) $$
//! $$ H_{\bar u}{}^{\bar w} = \delta_{\bar u}^{\bar w} + C^u_{\bar u}\,h_{u\bar v}\,(J^{-1})^{\bar v\bar w}, $$
//!
//! where $\bar y$ is the function of $(t, x, p)$ that the definition of $p$ gives. This needs $J$ invertible,
//! which regularity of the equations does not imply: for $L = \tfrac12(\dot x^2 + \dot z^2)$ and $\dot z =
//! \dot y$ the momentum of $y$ is zero.
//! \[PP, Theorem 4.1\] with $J$ for the Hessian of the constrained Lagrangian, the inverse of $H$ for the
//! bare one, and $-hJ^{-1}L_{w\bar w}$ joined to $g_{wu}$ before $\partial_tC^w$.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::{Dynamics, Workspace};

use crate::algebra::elimination::solve_linear;
use crate::algebra::tensor::{Tensor, simple};
use crate::constraint::normal_form::NormalForm;
use crate::equations::{Equations, Refusal};

/// The blocks of (Co).
#[derive(Clone, Debug)]
pub struct Cotangent {
    /// $p_{\bar u}$ as functions of $(t, x, \bar y)$
    pub momenta: Vec<Expr>,
    /// $J_{\bar u\bar v}$
    pub jacobian: Tensor,
    /// $h_{u\bar v}$
    pub leaf_jacobian: Tensor,
    /// $Dp_{\bar u}$
    pub drift: Vec<Expr>,
    /// $Dp_u$
    pub leaf_drift: Vec<Expr>,
    /// $\partial L/\partial x^{\bar u} + Q_{\bar u} + C^u_{\bar u}(\partial L/\partial x^u + Q_u)$
    pub force: Vec<Expr>,
    /// $H_{\bar u}{}^{\bar w}$
    pub matrix: Tensor,
    /// The right side of (Co)
    pub right: Vec<Expr>,
}

/// The equations (Co) with momenta as symbols.
#[derive(Clone, Debug)]
pub struct CotangentEquations {
    /// $p_{\bar u}$
    pub symbols: Vec<Expr>,
    /// $\dot p_{\bar u}$
    pub rates: Vec<Expr>,
    /// $\bar y(t, x, p)$, or `None` where $p$ is not affine in $\bar y$; the equations then contain $\bar y$.
    pub velocities: Option<Vec<Expr>>,
    /// $C^u$
    pub leaf_rates: Vec<Expr>,
    /// $H$
    pub matrix: Tensor,
    /// The right side of (Co)
    pub right: Vec<Expr>,
}

/// The cotangent form of a model.
///
/// # Errors
///
/// [`Refusal::SingularLegendre`] where $J$ is singular everywhere, [`Refusal::ReactionAlong`] where `along`
/// gives a reaction another direction.
pub fn cotangent(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
) -> Result<Cotangent, Refusal> {
    let Dynamics::Lagrangian { lagrangian: L, span, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    if let Some(c) = model.constraints.iter().find(|c| c.along.is_some()) {
        return Err(Refusal::ReactionAlong { constraint: c.name.clone(), span: c.span });
    }
    let g = &model.graph;
    let names =
        || normal.transverse.iter().map(|&k| model.coordinates[k].name.clone()).collect();
    let singular = || Refusal::SingularLegendre { coordinates: names(), span };
    g.merging(|| built(model, equations, normal, L)).ok_or_else(singular)
}

fn built(model: &Workspace, e: &Equations, normal: &NormalForm, L: Expr) -> Option<Cotangent> {
    let g = &model.graph;
    let k = normal.transverse.len();
    let all = normal.inserted(model, &e.momenta);
    let pick = |part: &[usize]| part.iter().map(|&i| all[i]).collect::<Vec<Expr>>();
    let (momenta, leaf) = (pick(&normal.transverse), pick(&normal.leaf));
    let y = normal.transverse_velocities(model);
    let by_velocity = |outputs: &[Expr]| -> Tensor {
        let columns: Vec<Vec<Expr>> =
            y.iter().map(|&z| normal.derivatives(model, outputs, z)).collect();
        Tensor::new(&[outputs.len(), k], |i| simple(g, columns[i[1]][i[0]]))
    };
    let (jacobian, leaf_jacobian) = (by_velocity(&momenta), by_velocity(&leaf));
    let along = normal.drift(model);
    let (drift, leaf_drift) =
        (normal.along(model, &momenta, &along), normal.along(model, &leaf, &along));
    let slopes = g.gradient(L, &model.positions());
    let pulled: Vec<Expr> = slopes
        .into_iter()
        .enumerate()
        .map(|(i, s)| model.forces.iter().fold(s, |s, f| g.add(s, f.components[i])))
        .collect();
    let force = normal.projected(model, &normal.inserted(model, &pulled));
    // X = h J⁻¹, from Jᵀ Xᵀ = hᵀ
    let transposed = |t: &Tensor, rows: usize| -> Vec<Vec<Expr>> {
        (0..k).map(|j| (0..rows).map(|i| t.at(&[i, j])).collect()).collect()
    };
    let m = leaf.len();
    let X = if m == 0 {
        if g.rank(&transposed(&jacobian, k)) < k {
            return None;
        }
        vec![Vec::new(); k]
    } else {
        solve_linear(g, &transposed(&jacobian, k), &transposed(&leaf_jacobian, m))?
    };
    let matrix = Tensor::new(&[k, k], |i| {
        let joined = g.sum((0..m).map(|u| g.mul(normal.slopes.at(&[u, i[0]]), X[i[1]][u])));
        let unit = if i[0] == i[1] { g.one() } else { g.zero() };
        simple(g, g.add(unit, joined))
    });
    let bent: Vec<Expr> = (0..m)
        .map(|u| g.sub(leaf_drift[u], g.sum((0..k).map(|w| g.mul(X[w][u], drift[w])))))
        .collect();
    let right = (0..k)
        .map(|p| {
            let taken = g.sum((0..m).map(|u| g.mul(normal.slopes.at(&[u, p]), bent[u])));
            simple(g, g.sub(force[p], taken))
        })
        .collect();
    Some(Cotangent {
        momenta,
        jacobian,
        leaf_jacobian,
        drift,
        leaf_drift,
        force,
        matrix,
        right,
    })
}

/// The equations (Co) in $(t, x, p)$, the velocities inserted where $p$ is affine in them.
pub fn cotangent_equations(
    model: &Workspace,
    normal: &NormalForm,
    form: &Cotangent,
) -> CotangentEquations {
    let g = &model.graph;
    let k = normal.transverse.len();
    let named = |mark: &str| -> Vec<Expr> {
        let name = |&i: &usize| mark.replace('*', &model.coordinates[i].name);
        normal.transverse.iter().map(|i| g.symbol(&name(i), Role::Free)).collect()
    };
    let (symbols, rates) = (named("p[*]"), named("p[*]'"));
    let y = normal.transverse_velocities(model);
    g.merging(|| {
        let velocities = inverse(model, normal, form, &symbols).map(|h| short(g, &h));
        let pairs: Vec<(Expr, Expr)> =
            velocities.iter().flat_map(|h| y.iter().copied().zip(h.iter().copied())).collect();
        let insert = |es: &[Expr]| -> Vec<Expr> {
            let es = short(g, es);
            g.as_written(|| g.substitute(&es, &pairs))
        };
        let matrix = Tensor { shape: vec![k, k], entries: insert(&form.matrix.entries) };
        CotangentEquations {
            leaf_rates: insert(&normal.rates),
            right: insert(&form.right),
            matrix,
            symbols,
            rates,
            velocities,
        }
    })
}

/// Shortest formulas: what is put into others, or takes others in, is to be short before.
fn short(g: &Graph, es: &[Expr]) -> Vec<Expr> {
    let desk = Graph::new();
    let short = g.on_paper(es, &desk);
    g.as_written(|| desk.in_reading_order(&short, g))
}

/// $\bar y(t, x, p)$ where $p$ is affine in $\bar y$.
fn inverse(
    model: &Workspace,
    normal: &NormalForm,
    form: &Cotangent,
    p: &[Expr],
) -> Option<Vec<Expr>> {
    let g = &model.graph;
    let v = model.velocities();
    let hidden: Vec<Expr> = normal.leaf.iter().map(|&i| v[i]).collect();
    if form.momenta.iter().any(|&e| g.contains(e, &hidden)) {
        return None;
    }
    let y = normal.transverse_velocities(model);
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for (&e, &p) in form.momenta.iter().zip(p) {
        let split = g.try_linear(e, &y)?;
        matrix.push(split.coefficients);
        right.push(vec![g.sub(p, split.rest)]);
    }
    let solved = solve_linear(g, &matrix, &right)?;
    Some(solved.into_iter().map(|x| simple(g, x[0])).collect())
}
