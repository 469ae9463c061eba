//! Constraints in normal form: some velocities as functions of the others.
//!
//! $$ y^u = C^u(t, x, \bar y), \qquad x = (x^u, x^{\bar u}), \quad y = \dot x \qquad (\mathrm N) $$
//!
//! with leaf coordinates $x^u$ and transverse ones $x^{\bar u}$; the sign is plus throughout. Where the
//! constraints are linear in the leaf velocities, $C$ is written out. Where they are not, $C$ exists near
//! every
//! point with $\det\partial\varphi/\partial y^u \neq 0$, and nothing needs to be solved: $y^u$ stands for
//! itself and is differentiated implicitly,
//!
//! $$ \frac{\partial\varphi}{\partial y^v}\,\frac{\partial C^v}{\partial z} =
//! -\frac{\partial\varphi}{\partial z}, \qquad
//!    \frac{D e}{\partial z} = \frac{\partial e}{\partial z} + \frac{\partial e}{\partial y^u}\frac{\partial
//!    C^u}{\partial z} , \qquad z \in \{t, x, \bar y\} . $$
//!
//! The branch is that of the state at which the results are evaluated \[PP, con- and cov-constraints\].

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use super::split::{checked, last_declared};
use crate::algebra::elimination::solve_linear;
use crate::algebra::tensor::{Tensor, simple};
use crate::equations::Class;
use crate::equations::{Equations, Refusal};

/// Constraints in the form (N). Indices count within `leaf` and `transverse`.
#[derive(Clone, Debug)]
pub struct NormalForm {
    /// The coordinates $x^u$, by index.
    pub leaf: Vec<usize>,
    /// The coordinates $x^{\bar u}$, by index.
    pub transverse: Vec<usize>,
    /// The independent constraints that determine $y^u$, by index.
    pub rows: Vec<usize>,
    /// $C^u$, or $y^u$ itself where the constraints are not linear in the leaf velocities.
    pub rates: Vec<Expr>,
    /// Whether $C$ is written out.
    pub is_explicit: bool,
    /// $\partial\varphi/\partial y^u$, whose determinant must not vanish.
    pub block: Vec<Vec<Expr>>,
    /// $C^u_{\bar u} = \partial C^u/\partial y^{\bar u}$
    pub slopes: Tensor,
    /// $t$, then all $x$, then $\bar y$
    symbols: Vec<Expr>,
    /// $\partial C^u/\partial z$ by $z$, then $u$
    partials: Vec<Vec<Expr>>,
    /// $y^u$
    hidden: Vec<Expr>,
}

/// Brings the constraints of a model into normal form; `wanted` names the leaf coordinates by index.
///
/// # Errors
///
/// [`Refusal`] names a constraint with memory, or what is wrong with the coordinates that were asked for.
pub fn normal_form(
    model: &Workspace,
    equations: &Equations,
    wanted: Option<&[usize]>,
) -> Result<NormalForm, Refusal> {
    let g = &model.graph;
    let memory = equations.classes.iter().position(|&c| c == Class::Memory);
    if let Some(a) = memory {
        return Err(Refusal::NotLinear {
            constraint: model.constraints[a].name.clone(),
            what: "has memory",
            span: model.constraints[a].span,
        });
    }
    let rows = g.independent_rows(&equations.jacobian);
    let leaf = match wanted {
        Some(wanted) => checked(model, equations, &rows, wanted)?,
        None => last_declared(model, equations, &rows),
    };
    g.merging(|| Ok(solved(model, equations, rows, leaf)))
}

fn solved(
    model: &Workspace,
    equations: &Equations,
    rows: Vec<usize>,
    leaf: Vec<usize>,
) -> NormalForm {
    let g = &model.graph;
    let (x, v) = (model.positions(), model.velocities());
    let transverse: Vec<usize> = (0..v.len()).filter(|k| !leaf.contains(k)).collect();
    let hidden: Vec<Expr> = leaf.iter().map(|&k| v[k]).collect();
    let mut symbols = vec![model.time];
    symbols.extend(&x);
    symbols.extend(transverse.iter().map(|&k| v[k]));
    let written: Vec<Expr> = rows.iter().map(|&a| equations.residual[a]).collect();
    let explicit = explicit(model, &written, &hidden);
    let block: Vec<Vec<Expr>> = rows
        .iter()
        .map(|&a| leaf.iter().map(|&k| equations.jacobian[a][k]).collect())
        .collect();
    let is_explicit = explicit.is_some();
    let partials: Vec<Vec<Expr>> = match &explicit {
        Some(rates) => symbols.iter().map(|&z| g.directional(rates, &[(z, g.one())])).collect(),
        None => {
            // ∂φ/∂y^v · ∂C^v/∂z = −∂φ/∂z, all z at once
            let right: Vec<Vec<Expr>> = g
                .jacobian(&written, &symbols)
                .into_iter()
                .map(|row| row.into_iter().map(|e| g.neg(e)).collect())
                .collect();
            let solution = solve_linear(g, &block, &right)
                .expect("the leaf columns were chosen to be independent");
            (0..symbols.len()).map(|z| solution.iter().map(|row| row[z]).collect()).collect()
        }
    };
    let first = 1 + x.len();
    let slopes = Tensor::new(&[leaf.len(), transverse.len()], |i| {
        simple(g, partials[first + i[1]][i[0]])
    });
    let rates = explicit.unwrap_or_else(|| hidden.clone());
    NormalForm {
        leaf,
        transverse,
        rows,
        rates,
        is_explicit,
        block,
        slopes,
        symbols,
        partials,
        hidden,
    }
}

/// $C$ where the constraints are linear in the leaf velocities.
fn explicit(model: &Workspace, written: &[Expr], hidden: &[Expr]) -> Option<Vec<Expr>> {
    let g = &model.graph;
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for &φ in written {
        let split = g.try_linear(φ, hidden)?;
        matrix.push(split.coefficients);
        right.push(vec![g.neg(split.rest)]);
    }
    let solved = solve_linear(g, &matrix, &right)?;
    Some(solved.into_iter().map(|row| simple(g, row[0])).collect())
}

impl NormalForm {
    /// $e\circ C$: the leaf velocities inserted where they are written out, themselves elsewhere.
    pub fn inserted(&self, model: &Workspace, outputs: &[Expr]) -> Vec<Expr> {
        let pairs: Vec<(Expr, Expr)> =
            self.hidden.iter().copied().zip(self.rates.iter().copied()).collect();
        model.graph.substitute(outputs, &pairs)
    }

    /// The derivatives of functions on the constraint along a direction in $(t, x, \bar y)$.
    pub fn along(
        &self,
        model: &Workspace,
        outputs: &[Expr],
        direction: &[(Expr, Expr)],
    ) -> Vec<Expr> {
        let g = &model.graph;
        let mut whole = direction.to_vec();
        if !self.is_explicit {
            for (u, &y) in self.hidden.iter().enumerate() {
                let parts = direction.iter().map(|&(z, rate)| g.mul(self.partial(z, u), rate));
                whole.push((y, g.sum(parts)));
            }
        }
        g.directional(outputs, &whole)
    }

    /// $De/\partial z$ for $z$ among $t$, $x$, $\bar y$.
    pub fn derivatives(&self, model: &Workspace, outputs: &[Expr], z: Expr) -> Vec<Expr> {
        self.along(model, outputs, &[(z, model.graph.one())])
    }

    /// $\partial C^u/\partial z$
    pub fn partial(&self, z: Expr, u: usize) -> Expr {
        let place = self.symbols.iter().position(|&s| s == z);
        self.partials[place.expect("a time, position or transverse velocity")][u]
    }

    /// $\partial_t + C^v\partial_v + y^{\bar v}\partial_{\bar v}$: the motion without accelerations.
    pub fn drift(&self, model: &Workspace) -> Vec<(Expr, Expr)> {
        let g = &model.graph;
        let (x, y) = (model.positions(), self.velocities(model));
        [(model.time, g.one())].into_iter().chain(x.into_iter().zip(y)).collect()
    }

    /// $\delta_{\bar u} = \partial_{\bar u} + C^u_{\bar u}\partial_u$ at fixed $\bar y$.
    pub fn horizontal(&self, model: &Workspace, k: usize) -> Vec<(Expr, Expr)> {
        let x = model.positions();
        let own = (x[self.transverse[k]], model.graph.one());
        let carried =
            self.leaf.iter().enumerate().map(|(u, &i)| (x[i], self.slopes.at(&[u, k])));
        [own].into_iter().chain(carried).collect()
    }

    /// All velocities on the constraint, in declared order.
    pub fn velocities(&self, model: &Workspace) -> Vec<Expr> {
        self.inserted(model, &model.velocities())
    }

    /// $\bar y$
    pub fn transverse_velocities(&self, model: &Workspace) -> Vec<Expr> {
        let v = model.velocities();
        self.transverse.iter().map(|&k| v[k]).collect()
    }

    /// Whether every $C^u$ is written out and affine in $\bar y$.
    pub fn is_affine(&self, model: &Workspace) -> bool {
        let g = &model.graph;
        let y = self.transverse_velocities(model);
        self.is_explicit && self.rates.iter().all(|&c| g.try_linear(c, &y).is_some())
    }

    /// $E_{\bar u} + C^u_{\bar u}E_u$ of a covector on the constraint: zero for every combination of
    /// Chetaev's covectors $\partial\varphi/\partial y$ \[PP, Proposition 3.2\].
    pub fn projected(&self, model: &Workspace, covector: &[Expr]) -> Vec<Expr> {
        let g = &model.graph;
        let part = |(k, &i): (usize, &usize)| {
            let carried = self
                .leaf
                .iter()
                .enumerate()
                .map(|(u, &j)| g.mul(self.slopes.at(&[u, k]), covector[j]));
            g.sum([covector[i]].into_iter().chain(carried))
        };
        self.transverse.iter().enumerate().map(part).collect()
    }
}

impl NormalForm {
    /// $C''(X)^u = X^u - C^u_{\bar u}X^{\bar u}$, the part of a field along the leaves \[PP, (9); the printed
    /// plus belongs to $y^u = -C^u$\].
    pub fn leaf_part(&self, model: &Workspace, field: &[Expr]) -> Vec<Expr> {
        let g = &model.graph;
        let part = |(u, &i): (usize, &usize)| {
            let rows = self.transverse.iter().enumerate();
            let carried = g.sum(rows.map(|(k, &j)| g.mul(self.slopes.at(&[u, k]), field[j])));
            g.sub(field[i], carried)
        };
        self.leaf.iter().enumerate().map(part).collect()
    }

    /// $D''(\bar X) = (C^u_{\bar u}\bar X^{\bar u}, \bar X)$, with a component for each coordinate.
    pub fn lift(&self, model: &Workspace, transverse: &[Expr]) -> Vec<Expr> {
        let g = &model.graph;
        let mut field = vec![g.zero(); self.leaf.len() + self.transverse.len()];
        self.transverse.iter().zip(transverse).for_each(|(&k, &x)| field[k] = x);
        for (u, &i) in self.leaf.iter().enumerate() {
            let rows = transverse.iter().enumerate();
            field[i] = g.sum(rows.map(|(k, &x)| g.mul(self.slopes.at(&[u, k]), x)));
        }
        field
    }

    /// Whether new transverse coordinates, as functions of the old ones, keep the leaves: they contain no
    /// leaf coordinate.
    pub fn is_adapted_change(&self, model: &Workspace, transverse: &[Expr]) -> bool {
        let (g, x) = (&model.graph, model.positions());
        let leaf: Vec<Expr> = self.leaf.iter().map(|&k| x[k]).collect();
        let keeps = |&e: &Expr| g.gradient(e, &leaf).into_iter().all(|d| g.is_zero(d));
        let own: Vec<Expr> = self.transverse.iter().map(|&k| x[k]).collect();
        transverse.iter().all(keeps)
            && transverse.len() == own.len()
            && g.rank(&g.jacobian(transverse, &own)) == own.len()
    }
}
