//! The connections that a Lagrangian and linear constraints give to the base, with torsion and curvature.
//!
//! $$ \Gamma^\sigma_{\mu\nu} = g^{\sigma\rho}\langle X_\rho, \nabla_{X_\mu}X_\nu\rangle, \qquad
//!    \bar\Gamma_{\rho\mu\nu} = \tfrac12(X_\mu g_{\nu\rho} + X_\nu g_{\mu\rho} - X_\rho g_{\mu\nu}), \qquad
//!    S = \tfrac12(\Gamma^\sigma_{\mu\nu} - \Gamma^\sigma_{\nu\mu}),\quad K = \Gamma - \bar\Gamma, $$
//!
//! the first lower index being the direction of differentiation, with the ambient Christoffel terms \[Guo et
//! al. 2005, (5), which holds for constant $g_{ij}$ only\]. For a metric connection the curvature needs no
//! derivative of the inverse:
//!
//! $$ R_{\rho\sigma\mu\nu} = X_\mu\Gamma_{\rho\nu\sigma} - X_\nu\Gamma_{\rho\mu\sigma} -
//! \Gamma_{\lambda\mu\rho}\Gamma^\lambda_{\nu\sigma} + \Gamma_{\lambda\nu\rho}\Gamma^\lambda_{\mu\sigma} . $$
//!
//! Where coefficients contain dependent coordinates nothing of this lives on the base; $\Gamma$ is then the
//! nonholonomic connection in the frame $X_\mu$, and the curvatures of the base are left out.
//! The curvature of the nonholonomic connection itself has one term more,
//! $-F^\alpha_{\mu\nu}\Gamma^\rho_{\alpha\sigma}$, for $[X_\mu,X_\nu]$ leaves the distribution.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use super::frame::{Ambient, Frame};
use crate::algebra::cramer::solve_small;
use crate::algebra::elimination::solve_linear;
use crate::algebra::tensor::{Tensor, simple};
use crate::constraint::split::Split;

/// Metric, connections, torsion, contorsion and curvatures. Upper indices come first.
#[derive(Clone, Debug)]
pub struct Connection {
    /// $g_{\mu\nu}$
    pub metric: Tensor,
    /// $g^{\mu\nu}$
    pub inverse: Tensor,
    /// $\Gamma_{\rho\mu\nu}$
    pub lowered: Tensor,
    /// $\bar\Gamma_{\rho\mu\nu}$
    pub christoffel_lowered: Tensor,
    /// $\Gamma^\sigma_{\mu\nu}$
    pub connection: Tensor,
    /// $\bar\Gamma^\sigma_{\mu\nu}$
    pub christoffel: Tensor,
    /// $S^\sigma_{\mu\nu}$
    pub torsion: Tensor,
    /// $K^\sigma_{\mu\nu}$
    pub contorsion: Tensor,
    /// $X_\mu g_{\nu\sigma} - \Gamma_{\sigma\mu\nu} - \Gamma_{\nu\mu\sigma}$, zero by construction: a check.
    pub metricity: Tensor,
    /// $f^i_{\mu\nu}$, the part of $\nabla_{X_\mu}X_\nu$ orthogonal to the distribution; `None` where the
    /// mass is singular.
    pub second_form: Option<Tensor>,
    /// $R^\rho{}_{\sigma\mu\nu}$ of $\Gamma$ and of $\bar\Gamma$ on the base.
    pub curvatures: Option<(Tensor, Tensor)>,
    /// Curvature of the nonholonomic connection on the distribution.
    pub nonholonomic_curvature: Tensor,
    /// $\langle X_\mu : X_\nu\rangle^\sigma = \Gamma^\sigma_{\mu\nu} + \Gamma^\sigma_{\nu\mu}$, the symmetric product.
    pub symmetric_product: Tensor,
}

/// The connections, or `None` where the metric is singular on the distribution.
///
/// `on_base` says that everything is a function on the base.
pub(crate) fn connection(
    model: &Workspace,
    (split, frame, ambient): (&Split, &Frame, &Ambient),
    curvature: &Tensor,
    on_base: bool,
) -> Option<Connection> {
    let g = &model.graph;
    let m = frame.fields.len();
    let metric =
        symmetric(m, |i, j| simple(g, ambient.product(g, &frame.fields[i], &frame.fields[j])));
    let inverse = inverse(g, m, &metric)?;
    let raise = |lowered: &Tensor| raised(g, m, &inverse, lowered);
    // covectors[μ][ν] = ⟨∂_i, ∇_{X_μ} X_ν⟩
    let covectors: Vec<Vec<Vec<Expr>>> = frame
        .fields
        .iter()
        .map(|x| frame.fields.iter().map(|y| ambient.derivative(g, frame, x, y)).collect())
        .collect();
    let lowered = Tensor::new(&[m, m, m], |i| {
        simple(g, g.dot(&frame.fields[i[0]], &covectors[i[1]][i[2]]))
    });
    let steps: Vec<Vec<Expr>> =
        frame.fields.iter().map(|x| frame.along(g, x, &metric.entries)).collect();
    let slope = |μ: usize, i: usize, j: usize| steps[μ][i * m + j];
    let half = g.fraction(1, 2);
    let christoffel_lowered = Tensor::new(&[m, m, m], |i| {
        let (ρ, μ, ν) = (i[0], i[1], i[2]);
        let turned = g.add(slope(μ, ν, ρ), slope(ν, μ, ρ));
        simple(g, g.mul(half, g.sub(turned, slope(ρ, μ, ν))))
    });
    let metricity = Tensor::new(&[m, m, m], |i| {
        let &[μ, ν, σ] = i else { unreachable!("three indices") };
        g.sub(g.sub(slope(μ, ν, σ), lowered.at(&[σ, μ, ν])), lowered.at(&[ν, μ, σ]))
    });
    let connection = raise(&lowered);
    let christoffel = raise(&christoffel_lowered);
    let pair = |t: &Tensor, sign: bool, factor: Expr| {
        Tensor::new(&[m, m, m], |i| {
            let (a, b) = (t.at(&[i[0], i[1], i[2]]), t.at(&[i[0], i[2], i[1]]));
            g.mul(factor, if sign { g.add(a, b) } else { g.sub(a, b) })
        })
    };
    // NOTE: lowered first, where differences cancel without the inverse.
    let torsion = raise(&pair(&lowered, false, half).map(|e| simple(g, e)));
    let symmetric_product = raise(&pair(&lowered, true, g.one()).map(|e| simple(g, e)));
    let contorsion = raise(&Tensor::new(&[m, m, m], |i| {
        simple(g, g.sub(lowered.at(i), christoffel_lowered.at(i)))
    }));
    let curved = curved(g, frame, &lowered, &connection);
    // Γ_{ρασ} = ⟨X_ρ, ∇_{∂_α} X_σ⟩
    let unit = |k: usize| -> Vec<Expr> {
        let entry = |i: usize| if i == k { g.one() } else { g.zero() };
        (0..ambient.metric.len()).map(entry).collect()
    };
    let sideways: Vec<Vec<Vec<Expr>>> = split
        .dependent
        .iter()
        .map(|&α| {
            let ahead = unit(α);
            frame.fields.iter().map(|y| ambient.derivative(g, frame, &ahead, y)).collect()
        })
        .collect();
    let nonholonomic = Tensor::new(&[m, m, m, m], |i| {
        let (ρ, σ, μ, ν) = (i[0], i[1], i[2], i[3]);
        let terms = (0..split.dependent.len()).map(|α| {
            let side = g.dot(&frame.fields[ρ], &sideways[α][σ]);
            g.mul(curvature.at(&[α, μ, ν]), side)
        });
        simple(g, g.sub(curved.at(i), g.sum(terms)))
    });
    let nonholonomic_curvature = raise(&nonholonomic);
    let curvatures = on_base.then(|| {
        let plain = self::curved(g, frame, &christoffel_lowered, &christoffel);
        (raise(&curved.map(|e| simple(g, e))), raise(&plain.map(|e| simple(g, e))))
    });
    let second_form = second_form(g, frame, ambient, (&covectors, &connection));
    Some(Connection {
        metric,
        inverse,
        lowered,
        christoffel_lowered,
        connection,
        christoffel,
        torsion,
        contorsion,
        metricity,
        second_form,
        curvatures,
        nonholonomic_curvature,
        symmetric_product,
    })
}

fn symmetric(m: usize, entry: impl Fn(usize, usize) -> Expr) -> Tensor {
    let rows: Vec<Vec<Expr>> = (0..m).map(|i| (0..=i).map(|j| entry(j, i)).collect()).collect();
    Tensor::new(&[m, m], |i| rows[i[0].max(i[1])][i[0].min(i[1])])
}

/// The inverse of a symmetric matrix, its intermediate results shared.
fn inverse(g: &Graph, m: usize, matrix: &Tensor) -> Option<Tensor> {
    let rows: Vec<Vec<Expr>> = matrix.entries.chunks(m.max(1)).map(<[Expr]>::to_vec).collect();
    let unit: Vec<Vec<Expr>> = (0..m)
        .map(|i| (0..m).map(|j| if i == j { g.one() } else { g.zero() }).collect())
        .collect();
    let solved = solve_small(g, &rows, &unit)?;
    Some(symmetric(m, |i, j| solved[i][j]))
}

/// The first index raised.
fn raised(g: &Graph, m: usize, inverse: &Tensor, lowered: &Tensor) -> Tensor {
    Tensor::new(&lowered.shape, |i| {
        let mut place = i.to_vec();
        let terms: Vec<Expr> = (0..m)
            .map(|ρ| {
                place[0] = ρ;
                g.mul(inverse.at(&[i[0], ρ]), lowered.at(&place))
            })
            .collect();
        simple(g, g.sum(terms))
    })
}

/// $R_{\rho\sigma\mu\nu}$ of a metric connection along the frame.
fn curved(g: &Graph, frame: &Frame, lowered: &Tensor, upper: &Tensor) -> Tensor {
    let m = frame.fields.len();
    let steps: Vec<Vec<Expr>> =
        frame.fields.iter().map(|x| frame.along(g, x, &lowered.entries)).collect();
    let slope = |μ: usize, ρ: usize, ν: usize, σ: usize| steps[μ][(ρ * m + ν) * m + σ];
    let product = |ρ: usize, σ: usize, μ: usize, ν: usize| {
        g.sum((0..m).map(|λ| g.mul(lowered.at(&[λ, μ, ρ]), upper.at(&[λ, ν, σ]))))
    };
    Tensor::new(&[m, m, m, m], |i| {
        let (ρ, σ, μ, ν) = (i[0], i[1], i[2], i[3]);
        let turned = g.sub(slope(μ, ρ, ν, σ), slope(ν, ρ, μ, σ));
        g.add(turned, g.sub(product(ρ, σ, ν, μ), product(ρ, σ, μ, ν)))
    })
}

/// $f^i_{\mu\nu} = (\nabla_{X_\mu}X_\nu)^i - \Gamma^\sigma_{\mu\nu}X^i_\sigma$
fn second_form(
    g: &Graph,
    frame: &Frame,
    ambient: &Ambient,
    (covectors, connection): (&[Vec<Vec<Expr>>], &Tensor),
) -> Option<Tensor> {
    let (m, n) = (frame.fields.len(), ambient.metric.len());
    let right: Vec<Vec<Expr>> = (0..n)
        .map(|i| covectors.iter().flatten().map(|covector| covector[i]).collect())
        .collect();
    let raised = solve_linear(g, &ambient.metric, &right)?;
    Some(Tensor::new(&[n, m, m], |i| {
        let (k, μ, ν) = (i[0], i[1], i[2]);
        let tangent = (0..m).map(|σ| g.mul(connection.at(&[σ, μ, ν]), frame.fields[σ][k]));
        simple(g, g.sub(raised[k][μ * m + ν], g.sum(tangent)))
    }))
}
