//! Gibbs and Appell, Kane, Maggi: (K) projected on the columns of $B$, $\dot q = Bu + b$.
//!
//! With the active forces $\Pi_a = B_a\cdot(Q - \partial V/\partial q)$ and what inertia has beside them,
//!
//! $$ m_{ab}\,\dot u^b + c_a = \Pi_a, \qquad m = B^\top M B, \qquad S = \tfrac12 m_{ab}\,\dot u^a\dot u^b + c_a\dot
//! u^a, $$
//!
//! so that the equations are $\partial S/\partial\dot u^a = \Pi_a$ (Gibbs, Appell), and $F_a + F^*_a = 0$ with $F =
//! \Pi$, $F^*_a = -(m_{ab}\dot u^b + c_a)$ (Kane), where $B_{ka} = \partial\dot q^k/\partial u^a$ are the partial
//! velocities. $S$ is the energy of accelerations up to terms without $\dot u$, which no equation contains. Maggi's
//! equations are $B^\top(M\ddot q - f) = 0$ beside the constraints, over $q$, $\dot q$ and $\ddot q$.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use super::{affine, given_forces, no_form};
use crate::equations::{Equations, Refusal};
use crate::reduction::{QuasiVelocities, ReducedEquations, as_derived, quasi_velocities};

/// The equations by inertia and active forces.
#[derive(Clone, Debug)]
pub struct ProjectedForm {
    /// Quasi-velocities, velocities and mass.
    pub reduced: ReducedEquations,
    /// $\Pi_a(q, u, t)$
    pub active: Vec<Expr>,
    /// $c_a(q, u, t)$
    pub inertia: Vec<Expr>,
}

/// Maggi's equations.
#[derive(Clone, Debug)]
pub struct Maggi {
    /// The quasi-velocities, with $B$.
    pub quasi: QuasiVelocities,
    /// $B^\top M$, k × n
    pub mass: Vec<Vec<Expr>>,
    /// $B^\top f$
    pub force: Vec<Expr>,
}

/// Inertia and active forces along the columns of $B$; `form` is how a refusal calls it.
///
/// # Errors
///
/// [`Refusal`] says which hypothesis fails.
pub fn projected_form(
    model: &Workspace,
    e: &Equations,
    form: &'static str,
) -> Result<ProjectedForm, Refusal> {
    affine(model, e, form)?;
    let g = &model.graph;
    let Some(kinetic) = &e.kinetic else {
        let what = "the Lagrangian is not quadratic in the velocities, so it has no kinetic energy beside a potential";
        return Err(no_form(model, form, what));
    };
    let reduced = as_derived(model, e).ok_or_else(|| contradiction(model, form))?;
    let potential = kinetic.potential.unwrap_or_else(|| g.neg(kinetic.scalar));
    let slopes = g.gradient(potential, &model.positions());
    let inserted: Vec<(Expr, Expr)> =
        model.velocities().into_iter().zip(reduced.velocities.iter().copied()).collect();
    let given = g.substitute(&given_forces(model), &inserted);
    let total: Vec<Expr> = given.iter().zip(&slopes).map(|(&q, &s)| g.sub(q, s)).collect();
    let k = reduced.quasi.symbols.len();
    let column = |a: usize| reduced.quasi.basis.iter().map(|r| r[a]).collect::<Vec<_>>();
    let active: Vec<Expr> = (0..k).map(|a| g.dot(&column(a), &total)).collect();
    let (reduced, active) = reduced.in_names_or_simplified(model, &active);
    let rest = active.iter().zip(&reduced.force).map(|(&p, &f)| g.simplify(g.sub(p, f)));
    Ok(ProjectedForm { inertia: rest.collect(), active, reduced })
}

/// Maggi's equations.
///
/// # Errors
///
/// [`Refusal`] says which hypothesis fails.
pub fn maggi(model: &Workspace, e: &Equations) -> Result<Maggi, Refusal> {
    let form = "Maggi's form";
    affine(model, e, form)?;
    let g = &model.graph;
    let quasi = quasi_velocities(model, e).ok_or_else(|| contradiction(model, form))?;
    let n = model.coordinates.len();
    let column = |a: usize| quasi.basis.iter().map(|row| row[a]).collect::<Vec<_>>();
    let columns: Vec<Vec<Expr>> = (0..quasi.symbols.len()).map(column).collect();
    let entry = |x: &[Expr], j: usize| g.sum((0..n).map(|i| g.mul(x[i], e.mass[i][j])));
    let mass = columns.iter().map(|x| (0..n).map(|j| g.simplify(entry(x, j))).collect());
    let force = columns.iter().map(|x| g.simplify(g.dot(x, &e.force)));
    Ok(Maggi { mass: mass.collect(), force: force.collect(), quasi })
}

/// Quasi-velocities do not exist for constraints that are linear or affine.
pub(super) fn contradiction(model: &Workspace, form: &'static str) -> Refusal {
    no_form(model, form, "the constraints contradict each other")
}

impl ProjectedForm {
    /// $S(q, u, \dot u, t)$ without terms that have no $\dot u$.
    pub fn gibbs_function(&self, g: &Graph) -> Expr {
        let rates = &self.reduced.quasi.rates;
        let mut sum = g.zero();
        for (a, row) in self.reduced.mass.iter().enumerate() {
            let own = g.mul(g.fraction(1, 2), g.mul(row[a], g.mul(rates[a], rates[a])));
            sum = g.add(sum, own);
            for b in a + 1..rates.len() {
                sum = g.add(sum, g.mul(row[b], g.mul(rates[a], rates[b])));
            }
        }
        g.add(sum, g.dot(&self.inertia, rates))
    }

    /// $m_{ab}\dot u^b + c_a$, which is $\partial S/\partial\dot u^a$ and $-F^*_a$
    pub fn inertia_terms(&self, g: &Graph) -> Vec<Expr> {
        let rows = self.reduced.mass.iter().zip(&self.inertia);
        rows.map(|(row, &c)| g.add(g.dot(row, &self.reduced.quasi.rates), c)).collect()
    }
}
