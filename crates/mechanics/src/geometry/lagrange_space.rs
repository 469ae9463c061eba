//! A Lagrange space with forces and constraints: fundamental tensor, spray, canonical semispray, nonlinear connection.
//!
//! $$ g_{ij} = \tfrac12\frac{\partial^2L}{\partial y^i\partial y^j}, \quad F_{ij} = \frac{\partial
//! F_j}{\partial y^i} - \frac{\partial F_i}{\partial y^j}, \quad
//!    2G^i = \tfrac12 g^{ij}\Big(\frac{\partial^2L}{\partial y^j\partial x^k}y^k +
//!    \frac{\partial^2L}{\partial y^j\partial t} - \frac{\partial L}{\partial x^j}\Big), $$
//! $$ 2G^{*i} = 2G^i - \tfrac12 g^{ij}\big(F_j + \lambda_\sigma\,a_{\sigma j}\big), \qquad \ddot x^i = -2G^{*i}, \qquad
//!    N^i_j = \frac{\partial G^{*i}}{\partial y^j}, \quad R^i_{jk} = \delta_kN^i_j - \delta_jN^i_k, \quad
//!    \delta_k = \partial_k - N^l_k\frac{\partial}{\partial y^l} . $$
//!
//! Here $g = \tfrac12L_{yy}$, half the mass. The multipliers follow from $\dot Q_\sigma = 0$ and depend on
//! the velocities \[BN, (2.4) would make $\lambda_\sigma(x)a_\sigma$ closed, and then there is no reaction\].

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use crate::algebra::elimination::solve_linear;
use crate::algebra::tensor::{Tensor, simple};
use crate::equations::Equations;
use crate::reduction::reduced::solved;

/// The geometry of a Lagrange space.
#[derive(Clone, Debug)]
pub struct LagrangeSpace {
    /// $g_{ij}$
    pub metric: Tensor,
    /// $F_{ij}$
    pub elicoidal: Tensor,
    /// $G^i$; `None` where $g$ is singular everywhere or the system too large to be written out
    pub spray: Option<Vec<Expr>>,
    /// $\lambda_\sigma$ and $G^{*i}$; `None` where (K) is singular everywhere or too large to be written out
    pub semispray: Option<Semispray>,
}

/// The canonical semispray $S^* = y^i\partial_i - 2G^{*i}\,\partial/\partial y^i$.
#[derive(Clone, Debug)]
pub struct Semispray {
    /// $\lambda_\sigma(t, x, y)$
    pub multipliers: Vec<Expr>,
    /// $G^{*i}$
    pub coefficients: Vec<Expr>,
}

/// The largest space whose inverse metric is written out.
const LARGEST: usize = 16;

/// The Lagrange space of a model under Chetaev's principle.
pub fn lagrange_space(model: &Workspace, equations: &Equations) -> LagrangeSpace {
    let g = &model.graph;
    g.merging(|| {
        let n = model.coordinates.len();
        let y = model.velocities();
        let half = g.fraction(1, 2);
        let metric = Tensor::new(&[n, n], |i| {
            simple(g, g.mul(half, equations.mass[i[0].min(i[1])][i[0].max(i[1])]))
        });
        let given: Vec<Expr> =
            (0..n).map(|k| g.sum(model.forces.iter().map(|f| f.components[k]))).collect();
        let slopes = g.jacobian(&given, &y);
        let elicoidal =
            Tensor::new(&[n, n], |i| simple(g, g.sub(slopes[i[1]][i[0]], slopes[i[0]][i[1]])));
        let spray = spray(model, equations, &given, half);
        let semispray = solved(model, equations).map(|solved| Semispray {
            multipliers: solved.multipliers.into_iter().map(|λ| simple(g, λ)).collect(),
            coefficients: solved
                .accelerations
                .into_iter()
                .map(|a| simple(g, g.mul(g.neg(half), a)))
                .collect(),
        });
        LagrangeSpace { metric, elicoidal, spray, semispray }
    })
}

/// $G = \tfrac12 M^{-1}(Q - f)$, for $f = L_x - L_{yx}y - L_{yt} + Q$.
fn spray(model: &Workspace, e: &Equations, given: &[Expr], half: Expr) -> Option<Vec<Expr>> {
    let g = &model.graph;
    if e.mass.len() > LARGEST {
        return None;
    }
    let right: Vec<Vec<Expr>> =
        e.force.iter().zip(given).map(|(&f, &q)| vec![g.sub(q, f)]).collect();
    let solved = solve_linear(g, &e.mass, &right)?;
    Some(solved.into_iter().map(|x| simple(g, g.mul(half, x[0]))).collect())
}

impl Semispray {
    /// $N^i_j = \partial G^{*i}/\partial y^j$
    pub fn connection(&self, model: &Workspace) -> Tensor {
        let g = &model.graph;
        let n = self.coefficients.len();
        g.merging(|| {
            let rows = g.jacobian(&self.coefficients, &model.velocities());
            Tensor::new(&[n, n], |i| rows[i[0]][i[1]])
        })
    }

    /// $R^i_{jk} = \delta_kN^i_j - \delta_jN^i_k$, whether the horizontal distribution of $N$ is integrable.
    pub fn curvature(&self, model: &Workspace, N: &Tensor) -> Tensor {
        let g = &model.graph;
        let n = self.coefficients.len();
        let (x, y) = (model.positions(), model.velocities());
        g.merging(|| {
            // steps[k] holds δ_k N^i_j by i, then j.
            let steps: Vec<Vec<Expr>> = (0..n)
                .map(|k| {
                    let mut direction = vec![(x[k], g.one())];
                    direction.extend((0..n).map(|l| (y[l], g.neg(N.at(&[l, k])))));
                    g.directional(&N.entries, &direction)
                })
                .collect();
            Tensor::new(&[n, n, n], |i| {
                let (r, j, k) = (i[0], i[1], i[2]);
                g.sub(steps[k][r * n + j], steps[j][r * n + k])
            })
        })
    }
}

/// $C_{ij} = \partial_j(\lambda_\sigma a_{\sigma i}) - \partial_i(\lambda_\sigma a_{\sigma j})$ of
/// multipliers that are functions of the place: zero where $\lambda_\sigma a_\sigma$ is closed.
///
/// For $L^* = L + \lambda_\sigma Q_\sigma$, the equations of $L^*$ less those of $L$ are $\[L^*\]_i - \[L\]_i =
/// C_{ij}y^j$, so that the two Lagrangians are equivalent where this is zero \[BN, Theorem 2.1, (2.4) with
/// its indices\].
pub fn closedness(model: &Workspace, rows: &[Vec<Expr>], multipliers: &[Expr]) -> Tensor {
    let g = &model.graph;
    let x = model.positions();
    let n = x.len();
    let form: Vec<Expr> = (0..n)
        .map(|i| g.sum(rows.iter().zip(multipliers).map(|(a, &λ)| g.mul(λ, a[i]))))
        .collect();
    let slopes = g.jacobian(&form, &x);
    Tensor::new(&[n, n], |i| simple(g, g.sub(slopes[i[0]][i[1]], slopes[i[1]][i[0]])))
}
