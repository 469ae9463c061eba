//! A consistent start as expressions: the velocities that are missing, as `problem/start.rs` finds them.
//!
//! Given velocities are kept if they meet the constraints together with zeros for the missing ones. Otherwise the
//! missing ones that a constraint contains are solved for, as small as possible in the kinetic metric,
//!
//! $$ \begin{pmatrix} M & A^\top \\ A & 0 \end{pmatrix}
//!    \begin{pmatrix} x \\ \lambda \end{pmatrix} = \begin{pmatrix} 0 \\ -\varphi \end{pmatrix}, $$
//!
//! by elimination in a fixed order, which is safe because $M$ comes first. Every other start is left to a single run.

use pfaff_expr::{Expr, Graph, Relation};
use pfaff_model::{Dynamics, Quantity, Workspace};

use crate::ensemble::lanes::field::{Field, magnitude, real};

/// Residuals below this part of their terms count as met.
const MET: f64 = 1e-12;

/// The velocities at the start, and whether they are consistent.
pub(super) fn velocities_at_start(
    model: &Workspace,
    field: &Field<'_>,
    t0: Expr,
    q: &[Expr],
) -> Option<(Vec<Expr>, Expr)> {
    let g = field.g;
    let n = q.len();
    let mut given = vec![None; n];
    for datum in &model.initial {
        if let Quantity::Coordinate(i, 1) = datum.quantity {
            given[i] = Some(g.substitute(&[datum.value], &[(model.time, t0)])[0]);
        }
    }
    let zero: Vec<Expr> = given.iter().map(|v| v.unwrap_or_else(|| g.zero())).collect();
    let rows: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    if rows.is_empty() {
        return Some((zero, g.one()));
    }
    let symbols = model.velocities();
    let mut place: Vec<(Expr, Expr)> =
        model.positions().into_iter().zip(q.iter().copied()).collect();
    place.push((model.time, t0));
    let jacobian: Vec<Vec<Expr>> = rows.iter().map(|&φ| g.gradient(φ, &symbols)).collect();
    let flat: Vec<Expr> = jacobian.iter().flatten().copied().collect();
    let flat = g.substitute(&flat, &place);
    let row = |a: usize| &flat[a * n..(a + 1) * n];
    // φ = A v + b
    let still: Vec<(Expr, Expr)> =
        place.iter().copied().chain(symbols.iter().map(|&v| (v, g.zero()))).collect();
    let drift = g.substitute(&rows, &still);
    let residual = |v: &[Expr], a: usize| {
        let terms: Vec<Expr> = row(a)
            .iter()
            .zip(v)
            .filter(|&(&c, &v)| c != g.zero() && v != g.zero())
            .map(|(&c, &v)| g.mul(c, v))
            .chain([drift[a]])
            .collect();
        let size = g.sum(terms.iter().map(|&x| magnitude(g, x)));
        (g.sum(terms), size)
    };
    let met = |v: &[Expr]| {
        let each = (0..rows.len()).map(|a| {
            let (φ, size) = residual(v, a);
            g.compare(Relation::LessEqual, magnitude(g, φ), g.mul(real(g, MET), size))
        });
        each.fold(g.one(), |all, one| g.logic_and(all, one))
    };
    let is_met = met(&zero);
    let missing: Vec<usize> = (0..n)
        .filter(|&i| given[i].is_none() && (0..rows.len()).any(|a| row(a)[i] != g.zero()))
        .collect();
    if missing.len() < rows.len() {
        return Some((zero, is_met));
    }
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
    let momenta = g.gradient(lagrangian, &symbols);
    let (f, m) = (missing.len(), rows.len());
    let mut matrix = vec![vec![g.zero(); f + m + 1]; f + m];
    for (i, &p) in missing.iter().enumerate() {
        let slopes = g.gradient(momenta[p], &symbols);
        for (j, &r) in missing.iter().enumerate() {
            matrix[i][j] = g.substitute(&[slopes[r]], &still)[0];
        }
        for a in 0..m {
            matrix[i][f + a] = row(a)[p];
            matrix[f + a][i] = row(a)[p];
        }
    }
    for a in 0..m {
        matrix[f + a][f + m] = g.neg(residual(&zero, a).0);
    }
    let solved = eliminated(g, matrix)?;
    let mut filled = zero.clone();
    let mut good = g.one();
    for (i, &p) in missing.iter().enumerate() {
        filled[p] = solved[i];
        // NOTE: what no constraint contains at this place stays zero in a single run.
        let sum = g.sum((0..m).map(|a| magnitude(g, row(a)[p])));
        good = g.logic_and(good, g.compare(Relation::Less, g.zero(), sum));
    }
    good = g.logic_and(good, met(&filled));
    let v = (0..n).map(|i| g.choose(is_met, zero[i], filled[i])).collect();
    Some((v, g.logic_or(is_met, good)))
}

/// The solution of a linear system with its right side as the last column, without exchanges.
fn eliminated(g: &Graph, mut rows: Vec<Vec<Expr>>) -> Option<Vec<Expr>> {
    let n = rows.len();
    for i in 0..n {
        let pivot = rows[i][i];
        if pivot == g.zero() {
            return None;
        }
        for j in i + 1..n {
            if rows[j][i] == g.zero() {
                continue;
            }
            let factor = g.div(rows[j][i], pivot);
            for c in i + 1..=n {
                if rows[i][c] != g.zero() {
                    let product = g.mul(factor, rows[i][c]);
                    rows[j][c] = g.sub(rows[j][c], product);
                }
            }
            rows[j][i] = g.zero();
        }
    }
    let mut x = vec![g.zero(); n];
    for i in (0..n).rev() {
        let known = g.dot(&rows[i][i + 1..n], &x[i + 1..]);
        x[i] = g.div(g.sub(rows[i][n], known), rows[i][i]);
    }
    Some(x)
}
