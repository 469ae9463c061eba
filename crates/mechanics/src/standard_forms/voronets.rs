//! Voronets' and Chaplygin's equations: dependent velocities inserted into the Lagrangian.
//!
//! With $\dot q^\alpha = \varepsilon^\alpha_\mu\dot q^\mu + b^\alpha$, $X_\mu = \partial_\mu +
//! \varepsilon^\alpha_\mu\partial_\alpha$, $X_0 = \partial_t + b^\alpha\partial_\alpha$, $L_c$ the Lagrangian with
//! these velocities and $p_\alpha = \partial L/\partial\dot q^\alpha$ on the constraint,
//!
//! $$ \frac{d}{dt}\frac{\partial L_c}{\partial\dot q^\mu} - X_\mu L_c + p_\alpha\big(F^\alpha_{\mu\nu}\dot q^\nu +
//! F^\alpha_{\mu0}\big) = Q_\mu + \varepsilon^\alpha_\mu Q_\alpha , $$
//!
//! $F^\alpha_{\mu\nu} = X_\mu\varepsilon^\alpha_\nu - X_\nu\varepsilon^\alpha_\mu$, $F^\alpha_{\mu0} = X_\mu b^\alpha -
//! X_0\varepsilon^\alpha_\mu$. Chaplygin's equations are those where neither $L$ nor the constraints contain a
//! $q^\alpha$: then $X_\mu = \partial_\mu$ throughout.

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use super::{affine, given_forces, no_form};
use crate::constraint::split::{holder, is_inside};
use crate::constraint::{Split, split};
use crate::equations::{Equations, Refusal};

/// The equations without dependent velocities.
#[derive(Clone, Debug)]
pub struct Voronets {
    /// Base and dependent coordinates, $\varepsilon$ and $b$.
    pub split: Split,
    /// $\dot q^\alpha(q, \dot q^\mu, t)$
    pub rates: Vec<Expr>,
    /// $L_c$
    pub lagrangian: Expr,
    /// $p_\alpha$ on the constraint
    pub momenta: Vec<Expr>,
    /// $F^\alpha_{\mu\nu}$
    pub curvature: Vec<Vec<Vec<Expr>>>,
    /// $F^\alpha_{\mu0}$
    pub curvature_in_time: Vec<Vec<Expr>>,
    /// $\partial^2L_c/\partial\dot q^\mu\partial\dot q^\nu$
    pub mass: Vec<Vec<Expr>>,
    /// All that stands beside the accelerations.
    pub force: Vec<Expr>,
}

/// Voronets' equations; `wanted` names the dependent coordinates by index.
///
/// # Errors
///
/// [`Refusal`] says which hypothesis fails.
pub fn voronets(
    model: &Workspace,
    e: &Equations,
    wanted: Option<&[usize]>,
) -> Result<Voronets, Refusal> {
    inserted(model, e, wanted, "Voronets' form")
}

/// Chaplygin's equations: those of Voronets where the dependent coordinates occur with a prime only.
///
/// # Errors
///
/// [`Refusal`] says which hypothesis fails.
pub fn chaplygin_form(
    model: &Workspace,
    e: &Equations,
    wanted: Option<&[usize]>,
) -> Result<Voronets, Refusal> {
    let form = "Chaplygin's form";
    let lagrangian = affine(model, e, form)?;
    let made = inserted(model, e, wanted, form)?;
    let rows: Vec<usize> = (0..e.residual.len()).collect();
    for &k in &made.split.dependent {
        let inside = if is_inside(model, lagrangian, k) {
            "the Lagrangian".to_owned()
        } else if let Some(a) = holder(model, e, &rows, k) {
            format!("the constraint `{}`", model.constraints[a].name)
        } else {
            continue;
        };
        let name = &model.coordinates[k].name;
        let what = format!(
            "{inside} contains the dependent coordinate `{name}`, which may occur only as `{name}'`"
        );
        return Err(no_form(model, form, what));
    }
    Ok(made)
}

fn inserted(
    model: &Workspace,
    e: &Equations,
    wanted: Option<&[usize]>,
    form: &'static str,
) -> Result<Voronets, Refusal> {
    let lagrangian = affine(model, e, form)?;
    if e.residual.is_empty() {
        let what = "there are no constraints, so no velocity depends on the others";
        return Err(no_form(model, form, what));
    }
    let g = &model.graph;
    let split = split(model, e, wanted)?;
    let (q, v) = (model.positions(), model.velocities());
    let pick = |list: &[Expr], ks: &[usize]| ks.iter().map(|&k| list[k]).collect::<Vec<_>>();
    let slow = pick(&v, &split.base);
    let rows = split.slopes.iter().zip(&split.drift);
    let rates: Vec<Expr> =
        rows.map(|(row, &b)| g.simplify(g.add(g.dot(row, &slow), b))).collect();
    let images: Vec<(Expr, Expr)> =
        pick(&v, &split.dependent).into_iter().zip(rates.iter().copied()).collect();
    let restricted = g.simplify(g.substitute(&[lagrangian], &images)[0]);
    let momenta = g.substitute(&pick(&e.momenta, &split.dependent), &images);
    let momenta: Vec<Expr> = momenta.into_iter().map(|p| g.simplify(p)).collect();
    // X_μ, X_0, and the motion on the constraint.
    let field = |components: &[Expr]| -> Vec<(Expr, Expr)> {
        q.iter().copied().zip(components.iter().copied()).collect()
    };
    let fields = split.fields(model);
    let mut in_time = vec![g.zero(); q.len()];
    split.dependent.iter().zip(&split.drift).for_each(|(&α, &b)| in_time[α] = b);
    let mut in_time = field(&in_time);
    in_time.push((model.time, g.one()));
    let mut moving = v.clone();
    split.dependent.iter().zip(&rates).for_each(|(&α, &ε)| moving[α] = ε);
    let mut along = field(&moving);
    along.push((model.time, g.one()));
    let changes = |x: &[Expr], es: &[Expr]| g.directional(es, &field(x));
    let k = split.base.len();
    let (mut curvature, mut curvature_in_time) = (Vec::new(), Vec::new());
    for (row, &b) in split.slopes.iter().zip(&split.drift) {
        let turned: Vec<Vec<Expr>> = fields.iter().map(|x| changes(x, row)).collect();
        let entry = |μ: usize, ν: usize| g.simplify(g.sub(turned[μ][ν], turned[ν][μ]));
        curvature.push(
            (0..k).map(|μ| (0..k).map(|ν| entry(μ, ν)).collect()).collect::<Vec<Vec<_>>>(),
        );
        let passing = g.directional(row, &in_time);
        let entry = |μ: usize| g.simplify(g.sub(changes(&fields[μ], &[b])[0], passing[μ]));
        curvature_in_time.push((0..k).map(entry).collect::<Vec<_>>());
    }
    let slopes = g.gradient(restricted, &slow);
    let carried = g.directional(&slopes, &along);
    let given = g.substitute(&given_forces(model), &images);
    let force = |μ: usize| {
        let pulled = changes(&fields[μ], &[restricted])[0];
        let bent = momenta.iter().enumerate().map(|(α, &p)| {
            let turned = g.add(g.dot(&curvature[α][μ], &slow), curvature_in_time[α][μ]);
            g.mul(p, turned)
        });
        let rest = [pulled, g.neg(carried[μ]), g.neg(g.sum(bent)), g.dot(&fields[μ], &given)];
        g.simplify(g.sum(rest))
    };
    Ok(Voronets {
        mass: g.jacobian(&slopes, &slow),
        force: (0..k).map(force).collect(),
        rates,
        lagrangian: restricted,
        momenta,
        curvature,
        curvature_in_time,
        split,
    })
}
