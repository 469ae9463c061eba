//! Directions of abnormal curves: admissible curves that are critical for every Lagrangian.
//!
//! A curve $\dot q = u^\mu X_\mu$ is abnormal if a covector $p \ne 0$ annihilates $D$ along it and $p_\alpha
//! F^\alpha_{\mu\nu}u^\nu = 0$. For rank two this forces $p$ to annihilate $D^2$ as well, and then
//! $u^\mu\,p([X_\mu,[X_1,X_2]]) = 0$. What is told is this condition at a generic point. It is necessary;
//! that $p$ can be carried along a curve is not looked at.
//!
//! | | |
//! |---|---|
//! | one constraint | the kernel of $F_{\mu\nu}$; without one, the places where $\omega\wedge(d\omega)^p = 0$ |
//! | rank 2, $D^2$ of corank 0 | none |
//! | rank 2, $D^2$ of corank 1 | one direction, written out |
//! | rank 2, $D^2$ of higher corank | every direction, with $p$ chosen to it |
//! | rank 3, $D^2$ of corank 0 | the span of the $f^\alpha$, for $u \parallel p_\alpha f^\alpha$ |
//! | higher rank, $D^2$ of higher corank | every direction, with $p$ that annihilates $D^2$ |
//! | at least as many constraints as directions | every direction: fewer equations than unknowns $p$ |
//! | else | left open |
//!
//! Here $f^\alpha_\lambda = \tfrac12\epsilon_{\lambda\mu\nu}F^\alpha_{\mu\nu}$, and one of the equations for $p$
//! follows from the others because $u^\mu F_{\mu\nu}u^\nu = 0$.

use pfaff_expr::{Expr, Graph};

use super::abnormal_places::twists;
use super::flag::{Distribution, Flag};
use crate::algebra::annihilator::annihilator;
use crate::algebra::tensor::{Tensor, simple};

/// What is known of abnormal directions at a generic point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abnormal {
    /// There are none; those of singular points lie where these expressions vanish.
    None(Vec<Expr>),
    /// These and their combinations, components $u^\mu$ in the frame.
    Directions(Vec<Vec<Expr>>),
    /// No direction is excluded.
    Every,
    /// Not decided by the conditions that are looked at.
    Open,
}

/// Abnormal directions of a distribution without drift; `forms` are the rows of the constraints as they are written,
/// which annihilate it.
pub fn abnormal(
    g: &Graph,
    distribution: &Distribution,
    flag: &Flag,
    curvature: &Tensor,
    forms: &[Vec<Expr>],
) -> Abnormal {
    let (d, m) = (curvature.shape[0], distribution.generators.len());
    let corank = distribution.dimension() - flag.growth().get(1).copied().unwrap_or(m);
    let one_form = |α: usize| -> Vec<Vec<Expr>> {
        (0..m).map(|μ| (0..m).map(|ν| curvature.at(&[α, μ, ν])).collect()).collect()
    };
    if d == 0 {
        return Abnormal::None(Vec::new());
    }
    if d == 1 {
        let rows = one_form(0);
        if g.rank(&rows) < m {
            return Abnormal::Directions(annihilator(g, &rows, m));
        }
        // NOTE: not the zeros of F, which has poles where the chart ends.
        let form = g.independent_rows(forms).first().map(|&a| forms[a].as_slice());
        let places = form.map(|ω| twists(g, &[ω], &distribution.variables));
        // dω = −F dq∧dq where ω = dq^n − ε.
        let sign = g.integer(if m % 4 == 2 { -1 } else { 1 });
        let places = places.into_iter().flatten().map(|e| simple(g, g.mul(sign, e)));
        return Abnormal::None(places.collect());
    }
    match (m, corank) {
        (2, 1) => {
            let two: Vec<Vec<Expr>> =
                flag.levels.iter().take(2).flatten().map(|b| b.field.clone()).collect();
            let Some(p) = annihilator(g, &two, distribution.dimension()).pop() else {
                return Abnormal::Open;
            };
            let Some([inner]) = flag.levels.get(1).map(Vec::as_slice) else {
                return Abnormal::Every;
            };
            let seen: Vec<Expr> = distribution
                .generators
                .iter()
                .map(|x| simple(g, g.dot(&p, &distribution.bracket(g, &x.field, &inner.field))))
                .collect();
            if seen.iter().all(|&e| g.is_zero(e)) {
                return Abnormal::Every;
            }
            Abnormal::Directions(annihilator(g, &[seen], m))
        }
        (2, _) => Abnormal::Every,
        (3, 0) => spanned(g, curvature),
        _ if corank > 0 || d >= m => Abnormal::Every,
        _ => Abnormal::Open,
    }
}

/// The span of $f^\alpha$ in three dimensions.
fn spanned(g: &Graph, curvature: &Tensor) -> Abnormal {
    let rows: Vec<Vec<Expr>> = (0..curvature.shape[0])
        .map(|α| {
            let f = |μ: usize, ν: usize| curvature.at(&[α, μ, ν]);
            vec![f(1, 2), f(2, 0), f(0, 1)]
        })
        .collect();
    let kept = g.independent_rows(&rows);
    match kept.len() {
        3 => Abnormal::Every,
        _ => Abnormal::Directions(kept.into_iter().map(|α| rows[α].clone()).collect()),
    }
}
