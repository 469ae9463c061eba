//! Routh's form: cyclic coordinates eliminated by their momenta.
//!
//! Where neither $L$ contains $q^c$ nor forces and reactions act along it, $\beta_c = \partial L/\partial\dot q^c$ is
//! constant, and with $\dot q^c(q, \dot q, \beta)$ from it
//!
//! $$ R(q^i, \dot q^i, \beta, t) = L - \beta_c\,\dot q^c, \qquad \frac{d}{dt}\frac{\partial R}{\partial\dot q^i} -
//! \frac{\partial R}{\partial q^i} = Q_i + A^a_i\lambda_a, \qquad \dot q^c = -\frac{\partial R}{\partial\beta_c} . $$

use pfaff_expr::{Expr, Role, ZeroTest};
use pfaff_model::Workspace;

use super::{given_forces, ideal, no_form};
use crate::algebra::elimination::solve_linear;
use crate::equations::{Equations, Refusal};
use crate::lagrangian::motion::motion_direction;

/// A model with its cyclic velocities eliminated. Rows count within `base`.
#[derive(Clone, Debug)]
pub struct Routhian {
    /// The cyclic coordinates $q^c$, by index.
    pub cyclic: Vec<usize>,
    /// The other coordinates $q^i$, by index.
    pub base: Vec<usize>,
    /// $\beta_c$ as symbols
    pub symbols: Vec<Expr>,
    /// $\dot q^c(q, \dot q, \beta, t)$
    pub velocities: Vec<Expr>,
    /// $R$
    pub routhian: Expr,
    /// $\partial^2R/\partial\dot q^i\partial\dot q^j$
    pub mass: Vec<Vec<Expr>>,
    /// All that stands beside the accelerations and the reactions.
    pub force: Vec<Expr>,
    /// The directions of the reactions on $q^i$, by constraint, then by $i$.
    pub directions: Vec<Vec<Expr>>,
    /// The constraints at velocity level.
    pub constraints: Vec<Expr>,
}

/// Eliminates all cyclic coordinates.
///
/// # Errors
///
/// [`Refusal`] says which hypothesis fails.
pub fn routhian(model: &Workspace, e: &Equations) -> Result<Routhian, Refusal> {
    let form = "Routh's form";
    let lagrangian = ideal(model, e, form)?;
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let forces = given_forces(model);
    let slopes = g.gradient(lagrangian, &q);
    let vanishes = |x: Expr| x == g.zero() || g.zero_test(x) == ZeroTest::Zero;
    let is_cyclic = |k: &usize| {
        vanishes(slopes[*k])
            && vanishes(forces[*k])
            && e.jacobian.iter().all(|row| vanishes(row[*k]))
    };
    let (cyclic, base): (Vec<usize>, Vec<usize>) = (0..q.len()).partition(is_cyclic);
    if cyclic.is_empty() {
        let what = "no coordinate is cyclic: each is in the Lagrangian, or a force or a reaction acts along it";
        return Err(no_form(model, form, what));
    }
    let pick = |list: &[Expr], ks: &[usize]| ks.iter().map(|&k| list[k]).collect::<Vec<_>>();
    let (fast, slow) = (pick(&v, &cyclic), pick(&v, &base));
    let symbols: Vec<Expr> =
        names(model, &cyclic).iter().map(|name| g.symbol(name, Role::Free)).collect();
    let momenta = pick(&e.momenta, &cyclic);
    let block = g.jacobian(&momenta, &fast);
    if block.iter().flatten().any(|&x| g.contains(x, &fast)) {
        let what = "the momenta of the cyclic coordinates are not linear in their velocities";
        return Err(no_form(model, form, what));
    }
    let still: Vec<(Expr, Expr)> = fast.iter().map(|&v| (v, g.zero())).collect();
    let rest = g.substitute(&momenta, &still);
    let right: Vec<Vec<Expr>> =
        symbols.iter().zip(&rest).map(|(&β, &r)| vec![g.sub(β, r)]).collect();
    let solved = solve_linear(g, &block, &right).ok_or_else(|| {
        let what = "the momenta of the cyclic coordinates do not determine their velocities";
        no_form(model, form, what)
    })?;
    let velocities: Vec<Expr> = solved.iter().map(|x| g.simplify(x[0])).collect();
    let inserted: Vec<(Expr, Expr)> =
        fast.iter().copied().zip(velocities.iter().copied()).collect();
    let insert = |list: &[Expr]| g.substitute(list, &inserted);
    let routhian = g.simplify(insert(&[g.sub(lagrangian, g.dot(&symbols, &fast))])[0]);
    let slopes = g.gradient(routhian, &slow);
    // NOTE: cyclic coordinates are not in R, and the others move with their own velocities.
    let carried = g.directional(&slopes, &motion_direction(model));
    let pulls = g.gradient(routhian, &pick(&q, &base));
    let given = insert(&pick(&forces, &base));
    let force = (0..base.len()).map(|i| g.sum([pulls[i], g.neg(carried[i]), given[i]]));
    Ok(Routhian {
        mass: g.jacobian(&slopes, &slow),
        force: force.collect(),
        directions: e.directions.iter().map(|row| insert(&pick(row, &base))).collect(),
        constraints: insert(&e.residual),
        cyclic,
        base,
        symbols,
        velocities,
        routhian,
    })
}

/// `beta[phi]`, or with another letter where the model has this one.
fn names(model: &Workspace, cyclic: &[usize]) -> Vec<String> {
    let taken = |stem: &str| {
        let own = |name: &str| name == stem || name.starts_with(&format!("{stem}["));
        model.coordinates.iter().any(|c| own(&c.name))
            || model.parameters.iter().any(|p| own(&p.name))
            || model.abbreviations.iter().any(|(name, _)| own(name))
    };
    let stems = ["beta", "p", "momentum"];
    let stem = stems.iter().find(|s| !taken(s)).copied().unwrap_or("cyclic_momentum");
    cyclic.iter().map(|&k| format!("{stem}[{}]", model.coordinates[k].name)).collect()
}
