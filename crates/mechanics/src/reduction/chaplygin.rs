//! Chaplygin's form: the dependent velocities inserted into the Lagrangian, and what the three principles then say.
//!
//! Where the constraints give $\dot q^\alpha = \varepsilon^\alpha(t, q^\mu, \dot q^\mu)$ and neither they nor
//! $L$ contain a dependent coordinate $q^\alpha$, put $L_c = L$ with
//! $\varepsilon$ inserted and $[F]_\mu = \frac{d}{dt}\frac{\partial F}{\partial\dot q^\mu} - \frac{\partial
//! F}{\partial q^\mu}$. All three principles read
//!
//! $$ [L_c]_\mu = \pi_\alpha\,[\varepsilon^\alpha]_\mu + Q_\mu +
//! Q_\alpha\,\partial\varepsilon^\alpha/\partial\dot q^\mu \qquad (\mathrm{Ch}) $$
//!
//! with $\pi_\alpha = p_\alpha = \partial L/\partial\dot q^\alpha$ (Chetaev), $\pi_\alpha = c_\alpha =
//! p_\alpha - \mu_\alpha$, a constant of a motion without forces on $q^\alpha$ (vakonomic), or
//! $\pi = 0$ (restricted). For constraints linear in the velocities, $\varepsilon^\alpha =
//! \varepsilon^\alpha_\mu\dot q^\mu$, the bracket is
//! $[\varepsilon^\alpha]_\mu = -F^\alpha_{\mu\nu}\dot q^\nu$ with the curvature $F^\alpha_{\mu\nu} =
//! \partial_\mu\varepsilon^\alpha_\nu - \partial_\nu\varepsilon^\alpha_\mu$.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};

use crate::algebra::elimination::solve_linear;
use crate::constraint::split::{holder, is_inside, last_declared};
use crate::equations::{Equations, Refusal};
use crate::lagrangian::motion::motion_direction;

/// A model in Chaplygin's form. Greek indices count within `base` and `dependent`.
#[derive(Clone, Debug)]
pub struct Chaplygin {
    /// The coordinates $q^\mu$, by index.
    pub base: Vec<usize>,
    /// The coordinates $q^\alpha$, by index.
    pub dependent: Vec<usize>,
    /// A dependent coordinate that the Lagrangian contains, if there is one.
    pub held: Option<usize>,
    /// $\varepsilon^\alpha(t, q^\mu, \dot q^\mu)$
    pub rates: Vec<Expr>,
    /// $L_c$
    pub lagrangian: Expr,
    /// $p_\alpha$ with $\varepsilon$ inserted
    pub momenta: Vec<Expr>,
    /// $E_c = \dot q^\mu\,\partial L_c/\partial\dot q^\mu - L_c$
    pub energy: Expr,
}

/// Brings a model into Chaplygin's form. The dependent coordinates are the last declared ones whose
/// velocities the constraints determine and that they do not contain.
///
/// # Errors
///
/// [`Refusal::Dependent`] names a coordinate that stands in the way, [`Refusal::Unsolvable`] a constraint.
pub fn chaplygin(model: &Workspace, equations: &Equations) -> Result<Chaplygin, Refusal> {
    let form = chaplygin_of_constraints(model, equations)?;
    match form.held {
        None => Ok(form),
        Some(k) => Err(Refusal::Dependent {
            name: model.coordinates[k].name.clone(),
            inside: "the Lagrangian".into(),
            span: model.coordinates[k].span,
        }),
    }
}

/// As [`chaplygin`], but the Lagrangian may contain dependent coordinates: only what concerns the constraints
/// is then of use.
///
/// # Errors
///
/// As [`chaplygin`].
pub fn chaplygin_of_constraints(
    model: &Workspace,
    equations: &Equations,
) -> Result<Chaplygin, Refusal> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let velocities = model.velocities();
    let rows = g.independent_rows(&equations.jacobian);
    let dependent = dependent(model, equations, &rows)?;
    let held = dependent.iter().copied().find(|&k| is_inside(model, lagrangian, k));
    let base: Vec<usize> = (0..velocities.len()).filter(|k| !dependent.contains(k)).collect();
    let unknown: Vec<Expr> = dependent.iter().map(|&k| velocities[k]).collect();
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for &a in &rows {
        let constraint = &model.constraints[a];
        let Some(split) = g.try_linear(equations.residual[a], &unknown) else {
            return Err(Refusal::Unsolvable {
                constraint: constraint.name.clone(),
                coordinates: dependent
                    .iter()
                    .map(|&k| model.coordinates[k].name.clone())
                    .collect(),
                span: constraint.span,
            });
        };
        matrix.push(split.coefficients);
        right.push(vec![g.neg(split.rest)]);
    }
    let solved = solve_linear(g, &matrix, &right)
        .expect("the dependent columns were chosen to be independent");
    let rates: Vec<Expr> = solved.into_iter().map(|x| g.simplify(x[0])).collect();
    let inserted: Vec<(Expr, Expr)> =
        unknown.iter().copied().zip(rates.iter().copied()).collect();
    let restricted = g.substitute(&[lagrangian], &inserted)[0];
    let momenta: Vec<Expr> = dependent.iter().map(|&k| equations.momenta[k]).collect();
    let moving: Vec<Expr> = base.iter().map(|&k| velocities[k]).collect();
    let energy = g.sub(g.dot(&moving, &g.gradient(restricted, &moving)), restricted);
    Ok(Chaplygin {
        base,
        dependent,
        held,
        rates,
        lagrangian: restricted,
        momenta: g.substitute(&momenta, &inserted),
        energy,
    })
}

/// The dependent coordinates, none of which the constraints may contain.
fn dependent(
    model: &Workspace,
    equations: &Equations,
    rows: &[usize],
) -> Result<Vec<usize>, Refusal> {
    let chosen = last_declared(model, equations, rows);
    let place = |&k: &usize| holder(model, equations, rows, k).map(|a| (k, a));
    match chosen.iter().find_map(place) {
        Some((k, a)) => Err(Refusal::Dependent {
            name: model.coordinates[k].name.clone(),
            inside: format!("the constraint `{}`", model.constraints[a].name),
            span: model.coordinates[k].span,
        }),
        None => Ok(chosen),
    }
}

impl Chaplygin {
    /// $(\partial^2 L_c - \pi\cdot\partial^2\varepsilon)$ and the right side of (Ch) as
    /// $\text{mass}\cdot\ddot q^\mu = \text{force}$, with $\pi_\alpha$ as given.
    pub fn blocks(&self, model: &Workspace, π: &[Expr]) -> (Vec<Vec<Expr>>, Vec<Expr>) {
        let g = &model.graph;
        let (q, v) = self.base_symbols(model);
        // [F]_μ without its accelerations, and the Hessian that multiplies them.
        let bracket = |f: Expr| -> (Vec<Vec<Expr>>, Vec<Expr>) {
            let slopes = g.gradient(f, &v);
            let rates = g.directional(&slopes, &motion_direction(model));
            let rest = rates.into_iter().zip(g.gradient(f, &q)).map(|(r, s)| g.sub(r, s));
            (g.hessian(f, &v), rest.collect())
        };
        let (mut mass, rest) = bracket(self.lagrangian);
        let mut force: Vec<Expr> = rest.into_iter().map(|r| g.neg(r)).collect();
        let given = self.given(model);
        for (α, (&ε, &π)) in self.rates.iter().zip(π).enumerate() {
            let pull = given[self.dependent[α]];
            if pull != g.zero() {
                for (force, slope) in force.iter_mut().zip(g.gradient(ε, &v)) {
                    *force = g.add(*force, g.mul(pull, slope));
                }
            }
            if π != g.zero() {
                let (bend, rest) = bracket(ε);
                for i in 0..v.len() {
                    for j in 0..v.len() {
                        mass[i][j] = g.sub(mass[i][j], g.mul(π, bend[i][j]));
                    }
                    force[i] = g.add(force[i], g.mul(π, rest[i]));
                }
            }
        }
        for (force, &k) in force.iter_mut().zip(&self.base) {
            *force = g.add(*force, given[k]);
        }
        (mass, force)
    }

    /// $F^\alpha_{\mu\nu} = \partial_\mu\varepsilon^\alpha_\nu - \partial_\nu\varepsilon^\alpha_\mu$, or
    /// `None` unless every $\varepsilon^\alpha$ is linear in the velocities and free of time.
    pub fn curvature(&self, model: &Workspace) -> Option<Vec<Vec<Vec<Expr>>>> {
        let g = &model.graph;
        let (q, v) = self.base_symbols(model);
        let mut all = Vec::new();
        for &ε in &self.rates {
            let split = g.try_linear(ε, &v)?;
            if !g.is_zero(split.rest) || g.contains(ε, &[model.time]) {
                return None;
            }
            let slopes = g.jacobian(&split.coefficients, &q);
            let entry = |μ: usize, ν: usize| g.simplify(g.sub(slopes[ν][μ], slopes[μ][ν]));
            all.push(
                (0..v.len()).map(|μ| (0..v.len()).map(|ν| entry(μ, ν)).collect()).collect(),
            );
        }
        Some(all)
    }

    /// $Q$ with $\varepsilon$ inserted.
    fn given(&self, model: &Workspace) -> Vec<Expr> {
        let g = &model.graph;
        let velocities = model.velocities();
        let inserted: Vec<(Expr, Expr)> = self
            .dependent
            .iter()
            .map(|&k| velocities[k])
            .zip(self.rates.iter().copied())
            .collect();
        let component = |k: usize| g.sum(model.forces.iter().map(|f| f.components[k]));
        let given: Vec<Expr> = (0..velocities.len()).map(component).collect();
        g.substitute(&given, &inserted)
    }

    /// The power of the forces along $(\dot q^\mu, \partial\varepsilon^\alpha/\partial\dot q^\mu\,\dot
    /// q^\mu)$ less $\partial_t L_c$: the rate of $E_c$ under the restricted principle.
    pub(crate) fn power(&self, model: &Workspace) -> Expr {
        let g = &model.graph;
        let (_, v) = self.base_symbols(model);
        let given = self.given(model);
        let direct = self.base.iter().zip(&v).map(|(&k, &v)| g.mul(given[k], v));
        let pulled = self.dependent.iter().zip(&self.rates);
        let pulled = pulled.filter(|part| given[*part.0] != g.zero());
        let pulled = pulled.map(|(&k, &ε)| g.mul(given[k], g.dot(&g.gradient(ε, &v), &v)));
        let work = g.sum(direct.chain(pulled));
        g.sub(work, g.derivative(self.lagrangian, model.time))
    }

    fn base_symbols(&self, model: &Workspace) -> (Vec<Expr>, Vec<Expr>) {
        let (q, v) = (model.positions(), model.velocities());
        let pick = |list: &[Expr]| self.base.iter().map(|&k| list[k]).collect::<Vec<_>>();
        (pick(&q), pick(&v))
    }
}
