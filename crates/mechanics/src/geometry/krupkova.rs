//! Krupková's constrained system: a dynamical form, its Lepage class, and the reduced equation on the constraint.
//!
//! $$ E = (A_\sigma + B_{\sigma\rho}\,\ddot q^\rho)\,dq^\sigma\wedge dt, \qquad \alpha =
//! A_\sigma\,\omega^\sigma\wedge dt + B_{\sigma\rho}\,\omega^\sigma\wedge d\dot q^\rho, \qquad \omega^\sigma =
//! dq^\sigma - \dot q^\sigma dt, $$
//!
//! with $A = f$ and $B = -M$ of (K). On the constraint $\dot q^a = g^a(t, q, \dot q^l)$ the class
//! $[\alpha_Q]$ is that of $A'_l\,\omega^l\wedge dt + B'_{ls}\,\omega^l\wedge d\dot q^s$, and the motion
//! obeys
//!
//! $$ A'_l + B'_{ls}\,\ddot q^s = 0 \qquad (\mathrm{Kr}) $$
//! $$ A'_l = A_l + A_a\,g^a_{,l} + (B_{lb} + B_{ab}\,g^a_{,l})\,Dg^b, \qquad B'_{ls} = B_{ls} +
//! B_{lb}\,g^b_{,s} + B_{as}\,g^a_{,l} + B_{ab}\,g^a_{,l}g^b_{,s}, $$
//!
//! with $g_{,l} = \partial g/\partial\dot q^l$ and $D = \partial_t + \dot q\,\partial_q$ on the constraint.
//! It is regular where $\det B' \neq 0$ \[BN, (3.6)–(3.7)\].

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use crate::algebra::elimination::solve_linear;
use crate::algebra::exterior::{DifferentialForm, Space, contact};
use crate::algebra::tensor::{Tensor, simple};
use crate::constraint::normal_form::NormalForm;
use crate::equations::Equations;

/// The blocks of (Kr). Indices count transverse coordinates.
#[derive(Clone, Debug)]
pub struct ConstrainedSystem {
    /// $A'_l$
    pub force: Vec<Expr>,
    /// $B'_{ls}$
    pub matrix: Tensor,
}

/// The constrained system of a model under Chetaev's principle; `None` where `along` gives the reactions
/// other directions.
pub fn constrained_system(
    model: &Workspace,
    equations: &Equations,
    normal: &NormalForm,
) -> Option<ConstrainedSystem> {
    if !equations.has_chetaev_reactions() {
        return None;
    }
    let g = &model.graph;
    Some(g.merging(|| {
        let k = normal.transverse.len();
        let A = normal.inserted(model, &equations.force);
        let negative =
            |row: &Vec<Expr>| -> Vec<Expr> { row.iter().map(|&e| g.neg(e)).collect() };
        let B: Vec<Vec<Expr>> =
            equations.mass.iter().map(|row| normal.inserted(model, &negative(row))).collect();
        // Dg^b
        let carried: Vec<Expr> = {
            let drift = normal.drift(model);
            (0..normal.leaf.len())
                .map(|u| g.sum(drift.iter().map(|&(z, d)| g.mul(normal.partial(z, u), d))))
                .collect()
        };
        let whole: Vec<Expr> = (0..A.len())
            .map(|i| {
                let moved = normal.leaf.iter().zip(&carried).map(|(&b, &d)| g.mul(B[i][b], d));
                g.add(A[i], g.sum(moved))
            })
            .collect();
        let force = normal.projected(model, &whole).into_iter().map(|e| simple(g, e)).collect();
        let rows: Vec<Vec<Expr>> = B.iter().map(|row| normal.projected(model, row)).collect();
        let columns: Vec<Vec<Expr>> = (0..k)
            .map(|s| normal.projected(model, &rows.iter().map(|r| r[s]).collect::<Vec<_>>()))
            .collect();
        let matrix = Tensor::new(&[k, k], |i| simple(g, columns[i[1]][i[0]]));
        ConstrainedSystem { force, matrix }
    }))
}

impl ConstrainedSystem {
    /// $\ddot q^l$ by elimination: the canonical semispray of the constraint. `None` where $B'$ is singular everywhere.
    pub fn accelerations(&self, model: &Workspace) -> Option<Vec<Expr>> {
        let g = &model.graph;
        let k = self.force.len();
        let rows: Vec<Vec<Expr>> =
            (0..k).map(|i| self.matrix.entries[i * k..][..k].to_vec()).collect();
        let right: Vec<Vec<Expr>> = self.force.iter().map(|&a| vec![g.neg(a)]).collect();
        let solved = g.merging(|| solve_linear(g, &rows, &right))?;
        Some(solved.into_iter().map(|x| x[0]).collect())
    }
}

/// The Lepage 2-form $\alpha$ of (K) on the space $(t, q, \dot q)$.
pub fn lepage(model: &Workspace, equations: &Equations) -> (Space, DifferentialForm) {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let space = Space::new([&[model.time][..], &q, &v].concat());
    let dt = space.differential(g, model.time);
    let mut α = DifferentialForm::zero(2);
    let mut join = |σ: usize, coefficient: Expr, with: &DifferentialForm| {
        let ω = contact(g, &space, (q[σ], v[σ]), model.time);
        let term = ω.wedge(g, with).scaled(g, coefficient);
        α = α.plus(g, &term).expect("two 2-forms");
    };
    for σ in 0..q.len() {
        join(σ, equations.force[σ], &dt);
        for ρ in 0..q.len() {
            join(σ, g.neg(equations.mass[σ][ρ]), &space.differential(g, v[ρ]));
        }
    }
    (space, α)
}
