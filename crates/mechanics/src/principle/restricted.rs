//! The restricted principle: Hamilton's principle for $L_c(t, q^\mu, \dot q^\mu)$, the Lagrangian with the
//! dependent velocities inserted.
//!
//! That is (Ch) with $\pi = 0$. As blocks of (K), with the base coordinates $\mu$ and the dependent ones $\alpha$,
//!
//! $$ M = \begin{pmatrix} \partial^2 L_c & 0 \\\\ 0 & 0 \end{pmatrix},\quad f = \begin{pmatrix} f_c \\\\
//! -p_\alpha \end{pmatrix},\quad
//!    W = \begin{pmatrix} 0 & A_\alpha \end{pmatrix}, $$
//!
//! so that the base moves by itself, the constraints carry the dependent coordinates along, and the
//! multipliers solve $A_\alpha^\top\lambda = p_\alpha$: they are $p_\alpha$ where the constraint
//! reads $\dot q^\alpha - \dots = 0$, the transversal $\mu$ of the vakonomic principle. The reaction is what
//! the motion needs, $R = M\ddot q - f$ with the mass and force of $L$ itself.

use pfaff_model::{Principle, Workspace};

use crate::equations::{Equations, MultiplierTerms, Refusal};
use crate::reduction::chaplygin::chaplygin;

/// Turns the blocks of Chetaev's principle into those of the restricted one.
pub(crate) fn restricted(model: &Workspace, mut e: Equations) -> Result<Equations, Refusal> {
    let form = chaplygin(model, &e)?;
    let g = &model.graph;
    let n = model.coordinates.len();
    let none = vec![g.zero(); form.dependent.len()];
    let (mass, force) = form.blocks(model, &none);
    let full_mass = std::mem::replace(&mut e.mass, vec![vec![g.zero(); n]; n]);
    let negative_force = e.force.iter().map(|&f| g.neg(f)).collect();
    for (i, &k) in form.base.iter().enumerate() {
        e.force[k] = force[i];
        for (j, &l) in form.base.iter().enumerate() {
            e.mass[k][l] = mass[i][j];
        }
    }
    for &k in &form.dependent {
        e.force[k] = g.neg(e.momenta[k]);
    }
    let keep = |k: usize| form.dependent.contains(&k);
    e.directions.clone_from(&e.jacobian);
    for row in &mut e.directions {
        (0..n).filter(|&k| !keep(k)).for_each(|k| row[k] = g.zero());
    }
    e.multiplier_terms = MultiplierTerms {
        force: negative_force,
        mass: full_mass,
        energy: g.sub(form.energy, e.energy),
        power: g.sub(form.power(model), e.power),
    };
    e.dependent = form.dependent;
    e.principle = Principle::Restricted;
    Ok(e)
}
