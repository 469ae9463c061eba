//! Legendre's transformation of a Lagrangian with constraints, with respect to any velocities.
//!
//! For $L$ quadratic and $\varphi$ affine in velocities $u$ (ordinary or fractional ones),
//!
//! $$ p = \frac{\partial}{\partial u}(L - \mu\cdot\varphi) = Mu + g - A^\top\mu, \qquad Au + a = 0
//! \qquad\Longrightarrow\qquad \begin{pmatrix} M & -A^\top\\\\ A & 0\end{pmatrix}\begin{pmatrix}u\\\\
//! \mu\end{pmatrix} = \begin{pmatrix} p - g\\\\ -a\end{pmatrix}, $$
//!
//! and $\mathcal H = p\cdot u - L$ with these $u$. For $M = 1$ and one constraint $A\cdot u = 0$ this is $u =
//! (1 - AA^\top/A^2)\,p$, $\mu = -A\cdot p/A^2$ \[TZ06, (88)–(93) with $\mu \mapsto -\mu$\].

use pfaff_expr::{Expr, Graph};

use crate::algebra::elimination::solve_linear;
use crate::algebra::tensor::simple;

/// What is transformed.
#[derive(Clone, Copy, Debug)]
pub struct LegendreInput<'a> {
    /// $L$
    pub lagrangian: Expr,
    /// $\varphi$
    pub residuals: &'a [Expr],
    /// $u$
    pub velocities: &'a [Expr],
    /// $p$
    pub momenta: &'a [Expr],
}

/// The transformation.
#[derive(Clone, Debug)]
pub struct Legendre {
    /// $u$ by momenta.
    pub velocities: Vec<Expr>,
    /// $\mu$ by momenta.
    pub multipliers: Vec<Expr>,
    /// $\mathcal H$
    pub hamiltonian: Expr,
}

/// Legendre's transformation.
///
/// # Errors
///
/// Which hypothesis fails, in words.
pub fn legendre(g: &Graph, given: LegendreInput<'_>) -> Result<Legendre, &'static str> {
    let LegendreInput { lagrangian, residuals, velocities: u, momenta: p } = given;
    let slopes = g.gradient(lagrangian, u);
    let mass = g.jacobian(&slopes, u);
    let rows = g.jacobian(residuals, u);
    let varies = |list: &[Vec<Expr>]| list.iter().flatten().any(|&e| g.contains(e, u));
    if varies(&mass) {
        return Err("the Lagrangian is not quadratic in the velocities");
    }
    if varies(&rows) {
        return Err("a constraint is not linear or affine in the velocities");
    }
    let still: Vec<(Expr, Expr)> = u.iter().map(|&u| (u, g.zero())).collect();
    let vector = g.substitute(&slopes, &still);
    let rest = g.substitute(residuals, &still);
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for i in 0..u.len() {
        let side = rows.iter().map(|row| g.neg(row[i]));
        matrix.push(mass[i].iter().copied().chain(side).collect::<Vec<_>>());
        right.push(vec![g.sub(p[i], vector[i])]);
    }
    for (row, &a) in rows.iter().zip(&rest) {
        let zeros = std::iter::repeat_n(g.zero(), rows.len());
        matrix.push(row.iter().copied().chain(zeros).collect());
        right.push(vec![g.neg(a)]);
    }
    let solved = solve_linear(g, &matrix, &right).ok_or(
        "the momenta do not determine the velocities and multipliers: the mass is singular on the constraint",
    )?;
    let solved: Vec<Expr> = solved.iter().map(|x| simple(g, x[0])).collect();
    let velocities = solved[..u.len()].to_vec();
    let pairs: Vec<(Expr, Expr)> = u.iter().copied().zip(velocities.iter().copied()).collect();
    let whole = g.sub(g.dot(p, u), lagrangian);
    let hamiltonian = simple(g, g.substitute(&[whole], &pairs)[0]);
    Ok(Legendre { velocities, multipliers: solved[u.len()..].to_vec(), hamiltonian })
}
