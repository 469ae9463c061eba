//! Base and dependent velocities: the constraints solved for some velocities in terms of the others.
//!
//! $$ \dot q^\alpha = \varepsilon^\alpha_\mu(q,t)\,\dot q^\mu + b^\alpha(q,t) \qquad (\mathrm{Sp}) $$
//!
//! for constraints linear or affine in the velocities; holonomic ones enter differentiated. The dependent
//! coordinates are those that are asked for, or the last declared ones whose columns of $A$ are
//! independent, preferring those that no coefficient contains.

use pfaff_expr::{Expr, ZeroTest};
use pfaff_model::Workspace;

use crate::algebra::tensor::simple;

use crate::algebra::cramer::solve_small;
use crate::equations::Class;
use crate::equations::{Equations, Refusal};

/// The velocities in two parts. Greek indices count within `base` and `dependent`.
#[derive(Clone, Debug)]
pub struct Split {
    /// The coordinates $q^\mu$, by index.
    pub base: Vec<usize>,
    /// The coordinates $q^\alpha$, by index.
    pub dependent: Vec<usize>,
    /// $\varepsilon^\alpha_\mu$ by $\alpha$, then $\mu$
    pub slopes: Vec<Vec<Expr>>,
    /// $b^\alpha$, zero for linear constraints
    pub drift: Vec<Expr>,
}

/// Splits the velocities; `wanted` names the dependent coordinates by index.
///
/// # Errors
///
/// [`Refusal`] names a constraint that is not linear in the velocities, or what is wrong with the coordinates
/// that were asked for.
pub fn split(
    model: &Workspace,
    equations: &Equations,
    wanted: Option<&[usize]>,
) -> Result<Split, Refusal> {
    let g = &model.graph;
    let velocities = model.velocities();
    linear(model, equations)?;
    let rows = g.independent_rows(&equations.jacobian);
    let dependent = match wanted {
        Some(wanted) => checked(model, equations, &rows, wanted)?,
        None => last_declared(model, equations, &rows),
    };
    let base: Vec<usize> = (0..velocities.len()).filter(|k| !dependent.contains(k)).collect();
    let still: Vec<(Expr, Expr)> = velocities.iter().map(|&v| (v, g.zero())).collect();
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for &a in &rows {
        let row = g.substitute(&equations.jacobian[a], &still);
        let rest = g.substitute(&[equations.residual[a]], &still)[0];
        matrix.push(dependent.iter().map(|&k| simple(g, row[k])).collect::<Vec<_>>());
        let known = base.iter().map(|&k| g.neg(row[k])).chain([g.neg(rest)]);
        right.push(known.collect::<Vec<_>>());
    }
    let solved = g
        .merging(|| solve_small(g, &matrix, &right))
        .expect("the dependent columns were chosen to be independent");
    let (mut slopes, mut drift) = (Vec::new(), Vec::new());
    for mut row in solved {
        drift.push(row.pop().expect("the last column is the rest"));
        slopes.push(row);
    }
    Ok(Split { base, dependent, slopes, drift })
}

/// Nothing but linear and affine constraints.
fn linear(model: &Workspace, equations: &Equations) -> Result<(), Refusal> {
    for (class, constraint) in equations.classes.iter().zip(&model.constraints) {
        let what = match class {
            Class::Holonomic | Class::Linear | Class::Affine => continue,
            Class::Nonlinear => "is not linear in the velocities",
            Class::Memory => "has memory",
        };
        let (constraint, span) = (constraint.name.clone(), constraint.span);
        return Err(Refusal::NotLinear { constraint, what, span });
    }
    Ok(())
}

/// The coordinates that were asked for, if the constraints determine their velocities.
pub(crate) fn checked(
    model: &Workspace,
    equations: &Equations,
    rows: &[usize],
    wanted: &[usize],
) -> Result<Vec<usize>, Refusal> {
    let names = |ks: &[usize]| -> Vec<String> {
        ks.iter().map(|&k| model.coordinates[k].name.clone()).collect()
    };
    let mut chosen = wanted.to_vec();
    chosen.sort_unstable();
    chosen.dedup();
    let columns: Vec<Vec<Expr>> = chosen
        .iter()
        .map(|&k| rows.iter().map(|&a| equations.jacobian[a][k]).collect())
        .collect();
    if chosen.len() == rows.len() && model.graph.rank(&columns) == rows.len() {
        return Ok(chosen);
    }
    Err(Refusal::Undetermined { coordinates: names(&chosen), needed: rows.len() })
}

/// The last declared coordinates whose columns of $A$ are independent, preferring those that occur in the
/// constraints with a prime only.
pub(crate) fn last_declared(
    model: &Workspace,
    equations: &Equations,
    rows: &[usize],
) -> Vec<usize> {
    let g = &model.graph;
    let (free, bound): (Vec<usize>, Vec<usize>) = (0..model.coordinates.len())
        .rev()
        .partition(|&k| holder(model, equations, rows, k).is_none());
    let order = [free, bound].concat();
    let column = |&k: &usize| rows.iter().map(|&a| equations.jacobian[a][k]).collect();
    let columns: Vec<Vec<Expr>> = order.iter().map(column).collect();
    let first = g.independent_rows(&columns).into_iter();
    let mut chosen: Vec<usize> = first.map(|i| order[i]).collect();
    chosen.sort_unstable();
    chosen
}

/// The first of the constraints that contains a position.
pub(crate) fn holder(
    model: &Workspace,
    equations: &Equations,
    rows: &[usize],
    k: usize,
) -> Option<usize> {
    rows.iter().copied().find(|&a| is_inside(model, equations.residual[a], k))
}

/// Whether an expression contains a position.
pub(crate) fn is_inside(model: &Workspace, e: Expr, k: usize) -> bool {
    let (g, q) = (&model.graph, model.coordinates[k].position);
    g.contains(e, &[q]) && !matches!(g.zero_test(g.derivative(e, q)), ZeroTest::Zero)
}

impl Split {
    /// $X_\mu = \partial_\mu + \varepsilon^\alpha_\mu\partial_\alpha$, one field for each base coordinate,
    /// with a component for each coordinate.
    pub fn fields(&self, model: &Workspace) -> Vec<Vec<Expr>> {
        let g = &model.graph;
        let field = |(μ, &k): (usize, &usize)| {
            let mut field = vec![g.zero(); model.coordinates.len()];
            field[k] = g.one();
            self.dependent.iter().zip(&self.slopes).for_each(|(&α, row)| field[α] = row[μ]);
            field
        };
        self.base.iter().enumerate().map(field).collect()
    }

    /// $b = b^\alpha\partial_\alpha$, or `None` where it is zero.
    pub fn drift_field(&self, model: &Workspace) -> Option<Vec<Expr>> {
        let g = &model.graph;
        if self.drift.iter().all(|&b| g.is_zero(b)) {
            return None;
        }
        let mut field = vec![g.zero(); model.coordinates.len()];
        self.dependent.iter().zip(&self.drift).for_each(|(&α, &b)| field[α] = b);
        Some(field)
    }

    /// Whether time occurs in (Sp).
    pub fn is_timely(&self, model: &Workspace) -> bool {
        let all = self.slopes.iter().flatten().chain(&self.drift);
        all.into_iter().any(|&e| model.graph.contains(e, &[model.time]))
    }
}
