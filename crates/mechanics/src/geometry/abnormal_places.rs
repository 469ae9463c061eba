//! Places of abnormal extremals: curves that are stationary for the constraints alone, whatever the Lagrangian is.
//!
//! With fields $X_i$ that span the admissible velocities, an abnormal extremal has multipliers $\nu \ne 0$ with
//!
//! $$ \sum_j \nu_a\,\omega^a([X_i, X_j])\,u^j = 0 , $$
//!
//! so that the skew matrix $F(\nu)_{ij} = \nu_a\,\omega^a([X_i, X_j])$ has a kernel (Montgomery 2002, chapter
//! 3). Multipliers of constraints with a first integral do not count: only the directions that brackets
//! reach.
//! An odd number of fields always has a kernel. Two fields have one where $\nu$ annihilates their bracket:
//! everywhere if brackets must still grow beyond it, else where the bracket is admissible itself.

use pfaff_expr::{Expr, ZeroTest};
use pfaff_model::Workspace;

use super::integrability::{PfaffianSystem, lie_bracket};
use crate::equations::Class;
use crate::equations::Equations;

/// Where abnormal extremals are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbnormalPlaces {
    /// Through every point.
    Everywhere,
    /// At most where this vanishes.
    Where(Expr),
    /// Not decided.
    Possible,
}

/// Where abnormal extremals of the constraints are; `None` if there are none.
pub fn abnormal_places(model: &Workspace, equations: &Equations) -> Option<AbnormalPlaces> {
    if equations.classes.iter().all(|c| *c == Class::Holonomic) {
        return None;
    }
    let linear = |c: &Class| matches!(c, Class::Holonomic | Class::Linear | Class::Affine);
    if !equations.classes.iter().all(linear) {
        return Some(AbnormalPlaces::Possible);
    }
    let g = &model.graph;
    g.merging(|| {
        let distribution = PfaffianSystem::of(model, equations);
        let n = distribution.variables.len();
        if n != model.coordinates.len() {
            return Some(AbnormalPlaces::Possible);
        }
        let fields = &distribution.fields;
        let closure = distribution.closure(g);
        if !closure.is_whole {
            return Some(AbnormalPlaces::Possible);
        }
        let (k, beyond) = (fields.len(), closure.fields.len() - fields.len());
        match (k, beyond) {
            (_, 0) => None,
            (2, 1) if n == 3 => vanishing(model, twist(model, &distribution.forms[0])),
            (2, 1) => {
                let bracket = lie_bracket(g, &fields[0], &fields[1], &distribution.variables);
                let out = distribution.forms.iter().map(|ω| g.dot(ω, &bracket));
                vanishing(model, out.into_iter().find(|&e| !g.vanishes_modulo_prime(e))?)
            }
            (4, 1) => {
                let f = |i: usize, j: usize| {
                    let bracket =
                        lie_bracket(g, &fields[i], &fields[j], &distribution.variables);
                    let values: Vec<Expr> =
                        distribution.forms.iter().map(|ω| g.dot(ω, &bracket)).collect();
                    g.sum(values)
                };
                // The Pfaffian F₁₂F₃₄ − F₁₃F₂₄ + F₁₄F₂₃.
                let pairs = [
                    g.mul(f(0, 1), f(2, 3)),
                    g.neg(g.mul(f(0, 2), f(1, 3))),
                    g.mul(f(0, 3), f(1, 2)),
                ];
                vanishing(model, g.sum(pairs))
            }
            (2, _) => Some(AbnormalPlaces::Everywhere),
            (k, _) if k % 2 == 1 => Some(AbnormalPlaces::Everywhere),
            _ => Some(AbnormalPlaces::Possible),
        }
    })
}

/// How many independent functions of position the constraints keep constant; `None` where that was not decided.
pub fn first_integrals(model: &Workspace, equations: &Equations) -> Option<usize> {
    let g = &model.graph;
    g.merging(|| {
        let distribution = PfaffianSystem::of(model, equations);
        let closure = distribution.closure(g);
        closure.is_whole.then(|| distribution.variables.len() - closure.fields.len())
    })
}

/// $\omega\wedge d\omega = \omega\cdot\operatorname{rot}\omega$ in three dimensions, without the denominators
/// that fields may have.
fn twist(model: &Workspace, ω: &[Expr]) -> Expr {
    let g = &model.graph;
    let q = model.positions();
    let slope = |i: usize, j: usize| g.derivative(ω[i], q[j]);
    let rot = [
        g.sub(slope(2, 1), slope(1, 2)),
        g.sub(slope(0, 2), slope(2, 0)),
        g.sub(slope(1, 0), slope(0, 1)),
    ];
    g.dot(ω, &rot)
}

/// The zeros of a function of position.
fn vanishing(model: &Workspace, e: Expr) -> Option<AbnormalPlaces> {
    let g = &model.graph;
    let slopes = g.gradient(e, &model.positions());
    if slopes.into_iter().all(|s| matches!(g.zero_test(s), ZeroTest::Zero)) {
        // A constant that is not zero, since brackets grow somewhere.
        return None;
    }
    Some(AbnormalPlaces::Where(g.simplify(e)))
}
