//! The d'Alembert–Chetaev principle: reactions do no work along virtual displacements $A\,\delta q = 0$.
//!
//! $$ \frac{d}{dt}\frac{\partial L}{\partial\dot q} - \frac{\partial L}{\partial q} = Q + W^\top\lambda $$
//!
//! gives $M\ddot q = f + R$ with $f = L_q - L_{\dot q q}\,\dot q - L_{\dot q t} + Q$.

use pfaff_expr::Expr;
use pfaff_model::{Principle, Span, Workspace};

use crate::equations::{Class, Equations, MultiplierTerms, Refusal, classify, classify_all};
use crate::lagrangian::auxiliary_velocities::AuxiliaryVelocities;
use crate::lagrangian::kinetic::Kinetic;
use crate::lagrangian::motion::motion_direction;
use crate::principle::Form;

/// Coordinates from which on auxiliary velocities and families of like terms are looked for, and constraints are
/// classified together: fewer are solved faster than one counts.
pub const LARGE: usize = 24;

pub(super) fn chetaev(
    model: &Workspace,
    L: Expr,
    span: Span,
    form: Form,
) -> Result<Equations, Refusal> {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    // Families of like terms stay loops in numbers, and are written out for people.
    let L = if form == Form::Shortest && v.len() >= LARGE { g.gathered(L) } else { L };
    let momenta = g.gradient(L, &v);
    if momenta.iter().all(|&p| g.is_zero(p)) {
        return Err(Refusal::NoVelocity { span });
    }
    let is_large = form == Form::Shortest
        && v.len() >= LARGE
        && model.constraints.iter().all(|c| c.along.is_none() && !g.has_memory(c.expr));
    let mut mass = Vec::new();
    if !is_large {
        mass = symmetric(&g.jacobian(&momenta, &v));
    }
    let along_motion = motion_direction(model);
    let force = {
        let slopes = g.gradient(L, &q);
        let rates = g.directional(&momenta, &along_motion);
        (0..q.len())
            .map(|k| {
                // f = L_q − (L_vq v + L_vt) + Q
                let inertial = g.sub(slopes[k], rates[k]);
                model.forces.iter().fold(inertial, |f, force| g.add(f, force.components[k]))
            })
            .collect()
    };
    let mut undecided = Vec::new();
    let mut classes = Vec::new();
    let mut position = Vec::new();
    let mut residual = Vec::new();
    let written: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    // Large systems have what all constraints need at once.
    let (known, rates) = if is_large {
        (classify_all(g, &written, &v), g.directional(&written, &along_motion))
    } else {
        (Vec::new(), Vec::new())
    };
    for (a, &written) in written.iter().enumerate() {
        let (class, open) = known.get(a).copied().unwrap_or_else(|| classify(g, written, &v));
        if open {
            undecided.push(a);
        }
        let holonomic = class == Class::Holonomic;
        classes.push(class);
        position.push(holonomic.then_some(written));
        residual.push(if holonomic {
            let rate = || g.directional(&[written], &along_motion)[0];
            rates.get(a).copied().unwrap_or_else(rate)
        } else {
            written
        });
    }
    let auxiliary = is_large.then(|| AuxiliaryVelocities::of(model, L, &momenta, &residual));
    let mut jacobian = Vec::new();
    if auxiliary.is_none() {
        jacobian = g.jacobian(&residual, &v);
    }
    let drift = g
        .directional(&residual, &along_motion)
        .into_iter()
        .zip(&classes)
        // NOTE: a constraint with memory is never differentiated, so it has no drift.
        .map(|(d, class)| if *class == Class::Memory { g.zero() } else { g.neg(d) })
        .collect();
    let directions = model
        .constraints
        .iter()
        .zip(&jacobian)
        .map(|(c, row)| c.along.clone().unwrap_or_else(|| row.clone()))
        .collect();
    let kinetic = match form {
        Form::Full => Kinetic::of(model, &mass, &momenta),
        Form::Shortest => None,
    };
    let energy = g.sub(g.dot(&v, &momenta), L);
    let work = g.sum(model.forces.iter().map(|f| g.dot(&f.components, &v)));
    let power = g.sub(work, g.derivative(L, model.time));
    Ok(Equations {
        principle: Principle::Chetaev,
        multipliers: Vec::new(),
        multiplier_terms: MultiplierTerms::none(g, q.len()),
        power,
        dependent: Vec::new(),
        momenta,
        mass,
        auxiliary,
        force,
        jacobian,
        directions,
        drift,
        residual,
        position,
        classes,
        undecided,
        energy,
        kinetic,
    })
}

/// $M_{ij}$ and $M_{ji}$ are the same expression.
fn symmetric(rows: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    let upper = |i: usize, j: usize| rows[i.min(j)][i.max(j)];
    let size = rows.len();
    (0..size).map(|i| (0..size).map(|j| upper(i, j)).collect()).collect()
}
