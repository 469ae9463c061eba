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
//! An even number $2p$ of fields with one direction beyond them has one where all [`twists`] vanish:
//!
//! $$ \omega^1\wedge\dots\wedge\omega^d\wedge(d\omega^a)^p = 0 \quad\text{for all } a . $$
//!
//! These are made from the constraints as they are written, so that no chart of the velocities enters: fields and
//! their curvature $F$ have poles and zeros where a chart ends.

use pfaff_expr::{Expr, Graph, ZeroTest};
use pfaff_model::Workspace;

use super::integrability::PfaffianSystem;
use crate::algebra::exterior::{DifferentialForm, Space};
use crate::equations::Class;
use crate::equations::Equations;

/// The largest space whose forms of the highest degree are written out: those of half that degree have up to 252
/// coefficients.
const LARGEST: usize = 10;

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
        let Some(closure) = distribution.whole_closure(g) else {
            return Some(AbnormalPlaces::Possible);
        };
        let (k, beyond) = (fields.len(), closure.len() - fields.len());
        match (k, beyond) {
            (_, 0) => None,
            (k, 1) if k % 2 == 0 && n <= LARGEST => {
                let rows = g.independent_rows(&distribution.forms);
                let forms: Vec<&[Expr]> =
                    rows.iter().map(|&a| distribution.forms[a].as_slice()).collect();
                common_zeros(g, twists(g, &forms, &distribution.variables), &model.positions())
            }
            (2, 1) => Some(AbnormalPlaces::Possible),
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
        let closure = distribution.whole_closure(g)?;
        Some(distribution.variables.len() - closure.len())
    })
}

/// $\omega^1\wedge\dots\wedge\omega^d\wedge(d\omega^a)^p/p!$ for each $a$, with $d + 2p = n$: the one coefficient of
/// these forms of the highest degree.
pub(super) fn twists(g: &Graph, forms: &[&[Expr]], variables: &[Expr]) -> Vec<Expr> {
    let space = Space::new(variables.to_vec());
    let one_form = |ω: &[Expr]| {
        let terms = variables.iter().zip(ω);
        let scaled = terms.map(|(&x, &e)| space.differential(g, x).scaled(g, e));
        scaled.fold(DifferentialForm::zero(1), |sum, term| {
            sum.plus(g, &term).expect("two one-forms")
        })
    };
    let forms: Vec<DifferentialForm> = forms.iter().map(|ω| one_form(ω)).collect();
    let all = forms
        .iter()
        .fold(DifferentialForm::function(g, g.one()), |product, ω| product.wedge(g, ω));
    let pairs = (variables.len() - forms.len()) / 2;
    let place: Vec<usize> = (0..variables.len()).collect();
    forms
        .iter()
        .map(|ω| {
            let bend = space.d(g, ω);
            let top = (1..=pairs).fold(all.clone(), |product, k| {
                product.wedge(g, &bend).scaled(g, g.fraction(1, k as i64))
            });
            top.coefficient(g, &place)
        })
        .collect()
}

/// Where functions of position vanish together, not all of them being zero everywhere.
fn common_zeros(g: &Graph, all: Vec<Expr>, positions: &[Expr]) -> Option<AbnormalPlaces> {
    let mut seen: Vec<Expr> = Vec::new();
    for e in all.into_iter().filter(|&e| !g.vanishes_modulo_prime(e)) {
        if g.gradient(e, positions).into_iter().all(|s| g.zero_test(s) == ZeroTest::Zero) {
            // A constant that is not zero.
            return None;
        }
        let e = g.simplify(e);
        let same = |&f: &Expr| g.is_zero(g.sub(e, f)) || g.is_zero(g.add(e, f));
        if !seen.iter().any(same) {
            seen.push(e);
        }
    }
    Some(AbnormalPlaces::Where(match seen[..] {
        [e] => e,
        _ => g.sum(seen.into_iter().map(|e| g.mul(e, e))),
    }))
}
