//! The fields of a split, derivatives along them, and the metric that the Lagrangian gives them.
//!
//! $$ X_\mu = \partial_\mu + \varepsilon^\alpha_\mu\,\partial_\alpha, \qquad g_{\mu\nu} = g_{ij}X^i_\mu X^j_\nu, \qquad
//!    [X_\mu, X_\nu] = F^\alpha_{\mu\nu}\,\partial_\alpha, \quad F^\alpha_{\mu\nu} =
//!    X_\mu\varepsilon^\alpha_\nu - X_\nu\varepsilon^\alpha_\mu . $$
//!
//! The covariant derivative of the ambient metric, index lowered, needs no inverse:
//! $\langle\partial_i, \nabla_X Y\rangle = g_{ij}X(Y^j) + \tfrac12\big(X(g_{il})Y^l + Y(g_{ik})X^k -
//! \partial_i g_{kl}\,X^kY^l\big)$.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use crate::algebra::tensor::{Tensor, simple};
use crate::constraint::split::Split;

/// Fields over the coordinates of a model.
#[derive(Clone, Debug)]
pub struct Frame {
    /// $X_\mu$, with a component for each coordinate.
    pub fields: Vec<Vec<Expr>>,
    positions: Vec<Expr>,
}

impl Frame {
    /// The fields $X_\mu$ of a split.
    pub fn new(model: &Workspace, split: &Split) -> Self {
        Self { fields: split.fields(model), positions: model.positions() }
    }

    /// $X(e)$ for some expressions.
    pub fn along(&self, g: &Graph, field: &[Expr], outputs: &[Expr]) -> Vec<Expr> {
        let direction: Vec<(Expr, Expr)> =
            self.positions.iter().copied().zip(field.iter().copied()).collect();
        g.directional(outputs, &direction)
    }

    /// $F^\alpha_{\mu\nu}$, the curvature of the constraints.
    pub fn bundle_curvature(&self, g: &Graph, split: &Split) -> Tensor {
        let (m, d) = (self.fields.len(), split.dependent.len());
        // slopes[μ] holds X_μ ε^α_ν by α, then ν.
        let flat: Vec<Expr> = split.slopes.concat();
        let slopes: Vec<Vec<Expr>> =
            self.fields.iter().map(|x| self.along(g, x, &flat)).collect();
        Tensor::new(&[d, m, m], |i| {
            let (α, μ, ν) = (i[0], i[1], i[2]);
            simple(g, g.sub(slopes[μ][α * m + ν], slopes[ν][α * m + μ]))
        })
    }
}

/// $g_{ij}$ with what its derivatives need.
#[derive(Clone, Debug)]
pub struct Ambient {
    /// $g_{ij}$
    pub metric: Vec<Vec<Expr>>,
    /// Places $i \le j$ whose entries vary.
    varying: Vec<(usize, usize)>,
}

impl Ambient {
    /// The metric of a Lagrangian, simplified.
    pub fn new(model: &Workspace, metric: &[Vec<Expr>]) -> Self {
        let g = &model.graph;
        let n = metric.len();
        let q = model.positions();
        let mut entries = metric.to_vec();
        let mut varying = Vec::new();
        for i in 0..n {
            for j in i..n {
                let e = simple(g, metric[i][j]);
                (entries[i][j], entries[j][i]) = (e, e);
                if g.contains(e, &q) {
                    varying.push((i, j));
                }
            }
        }
        Self { metric: entries, varying }
    }

    /// $\langle X, Y\rangle$
    pub fn product(&self, g: &Graph, x: &[Expr], y: &[Expr]) -> Expr {
        g.sum((0..x.len()).map(|i| g.mul(x[i], g.dot(&self.metric[i], y))))
    }

    /// $\langle\partial_i, \nabla_X Y\rangle$ for each coordinate.
    pub fn derivative(&self, g: &Graph, frame: &Frame, x: &[Expr], y: &[Expr]) -> Vec<Expr> {
        let change = frame.along(g, x, y);
        let mut lowered: Vec<Expr> =
            self.metric.iter().map(|row| g.dot(row, &change)).collect();
        let entries: Vec<Expr> = self.varying.iter().map(|&(i, j)| self.metric[i][j]).collect();
        let (by_x, by_y) = (frame.along(g, x, &entries), frame.along(g, y, &entries));
        let half = g.fraction(1, 2);
        for (e, &(i, j)) in self.varying.iter().enumerate() {
            let mut add = |k: usize, l: usize| {
                let turned = g.add(g.mul(by_x[e], y[l]), g.mul(by_y[e], x[l]));
                lowered[k] = g.add(lowered[k], g.mul(half, turned));
            };
            add(i, j);
            if i != j {
                add(j, i);
            }
            let pair = if i == j {
                g.mul(x[i], y[i])
            } else {
                g.add(g.mul(x[i], y[j]), g.mul(x[j], y[i]))
            };
            let slopes = g.gradient(entries[e], &frame.positions);
            for (low, s) in lowered.iter_mut().zip(slopes) {
                *low = g.sub(*low, g.mul(half, g.mul(s, pair)));
            }
        }
        lowered
    }
}
