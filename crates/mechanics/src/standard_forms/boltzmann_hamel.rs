//! The equations of Boltzmann and Hamel: quasi-velocities with the γ symbols of their frame.
//!
//! Independent quasi-velocities $u^a$ and those of the constraints, $\omega^c = A^c\dot q + a^c$, are coordinates of
//! the velocities, $\dot q = X_a u^a + X_c\omega^c + X_0$. With $\ell(q, u, t)$ the Lagrangian on $\omega = 0$, $P_C =
//! \partial L/\partial\omega^C = p\cdot X_C$ there for all quasi-velocities, and
//!
//! $$ [X_a, X_b] = \gamma^C_{ab}X_C, \qquad [X_a, X_0 + \partial_t] = \gamma^C_{a0}X_C, $$
//!
//! the equations are
//!
//! $$ \frac{d}{dt}\frac{\partial\ell}{\partial u^a} - X_a\ell + P_C\big(\gamma^C_{ab}u^b + \gamma^C_{a0}\big) = Q\cdot
//! X_a . $$

use pfaff_expr::{Expr, Role};
use pfaff_model::Workspace;

use super::projected::contradiction;
use super::{affine, given_forces};
use crate::equations::{Equations, Refusal};
use crate::reduction::{QuasiVelocities, in_names_if_long, independent_and_constrained};

/// The equations in quasi-velocities. Capital indices count $u$, then `constraints`.
#[derive(Clone, Debug)]
pub struct BoltzmannHamel {
    /// $u$, with $X_a$ and $X_0$.
    pub quasi: QuasiVelocities,
    /// The constraints whose forms are the further quasi-velocities: all but those that repeat others.
    pub constraints: Vec<usize>,
    /// $X_a u^a + X_0$
    pub velocities: Vec<Expr>,
    /// $\ell$
    pub lagrangian: Expr,
    /// $P_C(q, u, t)$
    pub momenta: Vec<Expr>,
    /// $\gamma^C_{ab}$ by $C$, $a$, $b$
    pub gamma: Vec<Vec<Vec<Expr>>>,
    /// $\gamma^C_{a0}$ by $C$, $a$
    pub gamma_in_time: Vec<Vec<Expr>>,
    /// $\partial^2\ell/\partial u^a\partial u^b$
    pub mass: Vec<Vec<Expr>>,
    /// All that stands beside the rates.
    pub force: Vec<Expr>,
}

/// The equations of Boltzmann and Hamel.
///
/// # Errors
///
/// [`Refusal`] says which hypothesis fails.
pub fn boltzmann_hamel(model: &Workspace, e: &Equations) -> Result<BoltzmannHamel, Refusal> {
    let form = "the form of Boltzmann and Hamel";
    let lagrangian = affine(model, e, form)?;
    let g = &model.graph;
    let simple = |list: Vec<Expr>| list.into_iter().map(|x| g.simplify(x)).collect::<Vec<_>>();
    let constraints = g.independent_rows(&e.jacobian);
    let symbol = |a: &usize| g.symbol(&format!("quasi-velocity of constraint {a}"), Role::Free);
    let surplus: Vec<Expr> = constraints.iter().map(symbol).collect();
    let (quasi, across) = independent_and_constrained(model, e, &constraints, &surplus)
        .ok_or_else(|| contradiction(model, form))?;
    let (q, v, u) = (model.positions(), model.velocities(), &quasi.symbols);
    let (n, k) = (q.len(), u.len());
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    let frame: Vec<Vec<Expr>> =
        (0..k).map(|a| quasi.basis.iter().map(|row| row[a]).collect()).collect();
    let mut forms: Vec<Vec<Expr>> = g.jacobian(&quasi.definitions, &v);
    forms.extend(constraints.iter().map(|&a| g.substitute(&e.jacobian[a], &still)));
    // X_c with u^a(X_c) = 0: the frame is then dual to the forms.
    let dual = |x: &Vec<Expr>| -> Vec<Expr> {
        let parts: Vec<Expr> = forms[..k].iter().map(|w| g.dot(w, x)).collect();
        let component = |i: usize| g.sub(x[i], g.dot(&quasi.basis[i], &parts));
        simple((0..n).map(component).collect())
    };
    let across: Vec<Vec<Expr>> = across.iter().map(dual).collect();
    let velocities: Vec<Expr> =
        simple((0..n).map(|i| g.add(g.dot(&quasi.basis[i], u), quasi.offset[i])).collect());
    let images: Vec<(Expr, Expr)> = v.iter().copied().zip(velocities.iter().copied()).collect();
    let ℓ = g.simplify(g.substitute(&[lagrangian], &images)[0]);
    let p = g.substitute(&e.momenta, &images);
    let momenta: Vec<Expr> =
        simple(frame.iter().chain(&across).map(|x| g.dot(&p, x)).collect());
    let along = |x: &[Expr]| -> Vec<(Expr, Expr)> {
        q.iter().copied().zip(x.iter().copied()).collect()
    };
    let mut in_time = along(&quasi.offset);
    in_time.push((model.time, g.one()));
    let components = |field: &[Expr]| -> Vec<Expr> {
        simple(forms.iter().map(|w| g.dot(w, field)).collect())
    };
    let difference = |x: Vec<Expr>, y: Vec<Expr>| -> Vec<Expr> {
        x.into_iter().zip(y).map(|(x, y)| g.sub(x, y)).collect()
    };
    let mut gamma = vec![vec![vec![g.zero(); k]; k]; forms.len()];
    let mut gamma_in_time = vec![vec![g.zero(); k]; forms.len()];
    for a in 0..k {
        let own = along(&frame[a]);
        for b in a + 1..k {
            let turned = g.directional(&frame[b], &own);
            let bracket = difference(turned, g.directional(&frame[a], &along(&frame[b])));
            for (c, x) in components(&bracket).into_iter().enumerate() {
                gamma[c][a][b] = x;
                gamma[c][b][a] = g.neg(x);
            }
        }
        let turned = g.directional(&quasi.offset, &own);
        let bracket = difference(turned, g.directional(&frame[a], &in_time));
        for (c, x) in components(&bracket).into_iter().enumerate() {
            gamma_in_time[c][a] = x;
        }
    }
    let slopes = g.gradient(ℓ, u);
    let mut moving = along(&velocities);
    moving.push((model.time, g.one()));
    let carried = g.directional(&slopes, &moving);
    let given = g.substitute(&given_forces(model), &images);
    let force = |a: usize| {
        let pulled = g.directional(&[ℓ], &along(&frame[a]))[0];
        let bent = momenta
            .iter()
            .enumerate()
            .map(|(c, &p)| g.mul(p, g.add(g.dot(&gamma[c][a], u), gamma_in_time[c][a])));
        let rest = [pulled, g.neg(carried[a]), g.neg(g.sum(bent)), g.dot(&frame[a], &given)];
        g.sum(rest)
    };
    let force: Vec<Expr> = (0..k).map(force).collect();
    let mass = g.jacobian(&slopes, u);
    let named = |list: &[Expr]| in_names_if_long(model, u, &velocities, list);
    let (mass, force) = match named(&[mass.concat(), force.clone()].concat()) {
        Some(mut mass) => {
            let force = mass.split_off(k * k);
            (mass.chunks(k.max(1)).map(<[Expr]>::to_vec).collect(), force)
        }
        None => (mass, simple(force)),
    };
    let short = |e: Expr| named(&[e]).map_or(e, |named| named[0]);
    let (lagrangian, momenta) = (short(ℓ), momenta.into_iter().map(short).collect());
    Ok(BoltzmannHamel {
        quasi,
        constraints,
        velocities,
        lagrangian,
        momenta,
        gamma,
        gamma_in_time,
        mass,
        force,
    })
}
