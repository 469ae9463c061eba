//! A foliation and a constraint: curvatures, the constrained Lagrangian, and the equations in them.
//!
//! With (N), $\delta_{\bar u} = \partial_{\bar u} + C^u_{\bar u}\partial_u$, accelerations $S^{\bar v} =
//! \ddot x^{\bar v}$ and $L_c = L\circ C$,
//!
//! $$ B^u_{\bar u\bar v} = -[\delta_{\bar u}, \delta_{\bar v}]^u, \qquad
//!    R^u_{\bar u} = C^v\partial_vC^u_{\bar u} + y^{\bar v}\partial_{\bar v}C^u_{\bar u} +
//!    \partial_tC^u_{\bar u} + S^{\bar v}\frac{\partial^2C^u}{\partial y^{\bar u}\partial y^{\bar v}} -
//!    \delta_{\bar u}C^u , $$
//! $$ \frac{d}{dt}\frac{\partial L_c}{\partial y^{\bar u}} - \frac{\partial L_c}{\partial x^{\bar u}} -
//! C^u_{\bar u}\frac{\partial L_c}{\partial x^u}
//!    = \frac{\partial L}{\partial y^u}R^u_{\bar u} + Q_{\bar u} + C^u_{\bar u}Q_u . \qquad (\mathrm{PP}) $$
//!
//! For $C^u = C^u_{\bar u}(x,t)\,y^{\bar u} + b^u(x,t)$ the curvature is $R = \gamma + B\bar y$ with
//! $\gamma^u_{\bar u} = b^v\partial_vC^u_{\bar u} + \partial_tC^u_{\bar u} - \delta_{\bar u}b^u$.
//! \[PP, Theorem 3.1\] with $y^u = +C^u$: the printed $+C^u_{\bar u}\partial L_c/\partial x^u$ belongs to the
//! other sign, and $R$ has the term with $\partial_t$.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};

use crate::algebra::tensor::{Tensor, simple};
use crate::constraint::normal_form::NormalForm;
use crate::equations::Equations;

/// Curvatures of a constraint and the equations (PP). The first index counts leaf coordinates, the others
/// transverse ones.
#[derive(Clone, Debug)]
pub struct Foliation {
    /// $b^u$, where $C$ is affine in $\bar y$
    pub drift: Option<Vec<Expr>>,
    /// $B^u_{\bar u\bar v}$; for nonlinear $C$ that of the lifted linear constraint, at fixed $\bar y$
    pub curvature: Tensor,
    /// $\gamma^u_{\bar u}$, where $C$ is affine in $\bar y$
    pub gamma: Option<Tensor>,
    /// $\partial^2C^u/\partial y^{\bar u}\partial y^{\bar v}$
    pub bend: Tensor,
    /// $R^u_{\bar u}$ with the accelerations as symbols
    pub s_curvature: Tensor,
    /// $L_c$
    pub lagrangian: Expr,
    /// The equations (PP); `None` where `along` gives a reaction another direction than Chetaev's
    pub equations: Option<ProjectedEquations>,
}

/// Both sides of (PP), by transverse coordinate.
#[derive(Clone, Debug)]
pub struct ProjectedEquations {
    /// $L_{\bar u\bar v}$ restricted to the constraint, $(1\ C^\top)\,L_{yy}\,(1\ C)^\top$: the equations are
    /// regular where it is invertible
    pub hessian: Tensor,
    /// The left sides
    pub left: Vec<Expr>,
    /// The right sides
    pub right: Vec<Expr>,
}

/// The curvatures and equations of a constraint in normal form; `None` for a model without Lagrangian.
pub fn foliation(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
) -> Option<Foliation> {
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
    model.graph.merging(|| Some(built(model, equations, normal, lagrangian)))
}

fn built(model: &Workspace, e: &Equations, normal: &NormalForm, L: Expr) -> Foliation {
    let g = &model.graph;
    let (x, v, a) = (model.positions(), model.velocities(), model.accelerations());
    let (m, k) = (normal.leaf.len(), normal.transverse.len());
    let y = normal.transverse_velocities(model);
    let slopes = &normal.slopes.entries;
    // horizontal[ū] holds δ_ū C^u_v̄ by u, then v̄.
    let horizontal: Vec<Vec<Expr>> =
        (0..k).map(|i| normal.along(model, slopes, &normal.horizontal(model, i))).collect();
    let curvature = Tensor::new(&[m, k, k], |i| {
        let (u, p, q) = (i[0], i[1], i[2]);
        simple(g, g.sub(horizontal[q][u * k + p], horizontal[p][u * k + q]))
    });
    let columns: Vec<Vec<Expr>> =
        y.iter().map(|&z| normal.derivatives(model, slopes, z)).collect();
    let bend = Tensor::new(&[m, k, k], |i| simple(g, columns[i[2]][i[0] * k + i[1]]));
    let mut motion = normal.drift(model);
    motion.extend(normal.transverse.iter().map(|&i| (v[i], a[i])));
    let carried = normal.along(model, slopes, &motion);
    // δ_ū C^u
    let steep = |u: usize, p: usize| {
        let own = normal.partial(x[normal.transverse[p]], u);
        let side = normal
            .leaf
            .iter()
            .enumerate()
            .map(|(w, &i)| g.mul(normal.slopes.at(&[w, p]), normal.partial(x[i], u)));
        g.sum([own].into_iter().chain(side))
    };
    let s_curvature =
        Tensor::new(&[m, k], |i| simple(g, g.sub(carried[i[0] * k + i[1]], steep(i[0], i[1]))));
    let drift = normal.is_affine(model).then(|| at_rest(model, normal, &y));
    let gamma = drift.as_ref().map(|b| gamma(model, normal, b));
    let [lagrangian] = normal.inserted(model, &[L])[..] else {
        unreachable!("one in, one out")
    };
    let equations = e
        .has_chetaev_reactions()
        .then(|| projected_equations(model, normal, L, (lagrangian, &motion, &s_curvature)));
    Foliation { drift, curvature, gamma, bend, s_curvature, lagrangian, equations }
}

/// (PP) from $L$, $L_c$, the direction of the motion and $R$.
fn projected_equations(
    model: &Workspace,
    normal: &NormalForm,
    L: Expr,
    (lagrangian, motion, s_curvature): (Expr, &[(Expr, Expr)], &Tensor),
) -> ProjectedEquations {
    let (g, v, k) = (&model.graph, model.velocities(), normal.transverse.len());
    let y = normal.transverse_velocities(model);
    let momenta: Vec<Expr> =
        y.iter().map(|&z| normal.derivatives(model, &[lagrangian], z)[0]).collect();
    let rates = normal.along(model, &momenta, motion);
    let left = (0..k).map(|p| {
        let slope = normal.along(model, &[lagrangian], &normal.horizontal(model, p))[0];
        g.sub(rates[p], slope)
    });
    let given: Vec<Expr> =
        (0..v.len()).map(|i| g.sum(model.forces.iter().map(|f| f.components[i]))).collect();
    let given = normal.projected(model, &normal.inserted(model, &given));
    let pulls = normal.inserted(model, &g.gradient(L, &v));
    let right = (0..k).map(|p| {
        let leaves = normal.leaf.iter().enumerate();
        let curved = leaves.map(|(u, &i)| g.mul(pulls[i], s_curvature.at(&[u, p])));
        g.add(g.sum(curved), given[p])
    });
    let (left, right) = (left.collect(), right.collect());
    ProjectedEquations { hessian: restricted(model, normal, L), left, right }
}

/// $b^u = C^u$ at $\bar y = 0$.
fn at_rest(model: &Workspace, normal: &NormalForm, y: &[Expr]) -> Vec<Expr> {
    let g = &model.graph;
    let still: Vec<(Expr, Expr)> = y.iter().map(|&z| (z, g.zero())).collect();
    g.substitute(&normal.rates, &still).into_iter().map(|e| simple(g, e)).collect()
}

fn gamma(model: &Workspace, normal: &NormalForm, b: &[Expr]) -> Tensor {
    let (g, x) = (&model.graph, model.positions());
    let (m, k) = (normal.leaf.len(), normal.transverse.len());
    // b^v ∂_v + ∂_t
    let drift: Vec<(Expr, Expr)> = normal
        .leaf
        .iter()
        .zip(b)
        .map(|(&i, &b)| (x[i], b))
        .chain([(model.time, g.one())])
        .collect();
    let carried = normal.slopes.map(|slope| g.directional(&[slope], &drift)[0]);
    let steep: Vec<Vec<Expr>> =
        (0..k).map(|p| g.directional(b, &normal.horizontal(model, p))).collect();
    Tensor::new(&[m, k], |i| simple(g, g.sub(carried.at(i), steep[i[1]][i[0]])))
}

/// $(1\ C^\top)\,L_{yy}\,(1\ C)^\top$
fn restricted(model: &Workspace, normal: &NormalForm, L: Expr) -> Tensor {
    let (g, v) = (&model.graph, model.velocities());
    let mass = g.hessian(L, &v);
    let rows: Vec<Vec<Expr>> =
        mass.iter().map(|row| normal.projected(model, &normal.inserted(model, row))).collect();
    let k = normal.transverse.len();
    let column = |q: usize| rows.iter().map(|r| r[q]).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = (0..k).map(|q| normal.projected(model, &column(q))).collect();
    Tensor::new(&[k, k], |i| {
        // The Hessian is symmetric: the same expression on both sides.
        let (p, q) = (i[0].min(i[1]), i[0].max(i[1]));
        simple(g, columns[q][p])
    })
}

/// Whether $L(X) = L_0(C'(X)) + \bar L(\Pi_0 X)$ \[PP, (7)\]: in terms of $w^u = y^u - C^u$ no term joins $w$
/// and $\bar y$, and what depends on $\bar y$ is a function of the leaves alone, not of the place on
/// them. `None` where $C$ is not written out or a derivative could not be decided.
pub fn is_adapted(model: &Workspace, normal: &NormalForm) -> Option<bool> {
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
    if !normal.is_explicit {
        return None;
    }
    let (g, x, v) = (&model.graph, model.positions(), model.velocities());
    let pairs: Vec<(Expr, Expr)> =
        normal.leaf.iter().zip(&normal.rates).map(|(&i, &c)| (v[i], g.add(v[i], c))).collect();
    let shifted = g.substitute(&[lagrangian], &pairs)[0];
    let slopes = g.gradient(shifted, &normal.transverse_velocities(model));
    let leaf: Vec<Expr> = normal.leaf.iter().flat_map(|&i| [v[i], x[i]]).collect();
    let mut decided = true;
    for e in g.jacobian(&slopes, &leaf).into_iter().flatten() {
        match g.zero_test(e) {
            pfaff_expr::ZeroTest::Zero => {}
            pfaff_expr::ZeroTest::Nonzero { .. } => return Some(false),
            pfaff_expr::ZeroTest::Unknown => decided = false,
        }
    }
    decided.then_some(true)
}
