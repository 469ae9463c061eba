//! Symmetries that are linear in the coordinates, and what they keep.
//!
//! The ansatz is $\xi^k = a^k + b^k_l q^l$ with constants, a shift $\alpha$ of time, and a gauge function $G$ of degree
//! two in the coordinates. With $J = p\cdot\xi - \alpha E - G$
//!
//! $$ \dot J = \delta_\xi L + \alpha\,\partial_t L - \dot G + Q\cdot(\xi - \alpha\dot q) + \lambda\cdot W(\xi -
//! \alpha\dot q) , $$
//!
//! so that $J$ is kept where the terms without $\lambda$ and each factor of a $\lambda$ vanish. Translations and
//! rotations of Cartesian coordinates are of this kind, energy ($\alpha = 1$), Jacobi's integral where time enters by a
//! rotation, and the moving energy of affine constraints \[Fassò and Sansonetto 2016\]. Under the vakonomic principle
//! $J - \mu\cdot\varphi_{\dot q}(\xi - \alpha\dot q)$ is kept if the constraints have the symmetry too.

use pfaff_expr::{Expr, Graph};
use pfaff_model::{Principle, Workspace};

use super::ansatz::relations;
use super::conserved_quantity::{Conserved, ConservedKind, axis};
use crate::equations::{Class, Equations};

/// A term of the ansatz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    /// $G = q^k q^l$
    Square(usize, usize),
    /// $G = q^k$
    Gauge(usize),
    /// $\xi = q^l\,\partial_k$
    Linear { factor: usize, along: usize },
    /// $\xi = \partial_k$
    Shift(usize),
    /// $\alpha = 1$
    Time,
}

/// A symmetry of the ansatz.
#[derive(Clone, Debug)]
pub(super) struct LinearField {
    terms: Vec<(Term, Expr)>,
}

/// What the terms of the ansatz do to the Lagrangian and to the constraints.
struct Changes<'a> {
    model: &'a Workspace,
    equations: &'a Equations,
    /// $L_q + Q$
    slopes: Vec<Expr>,
    /// $L_t - Q\cdot\dot q$
    time: Expr,
    /// $W$, or $\varphi_q$ under the vakonomic principle.
    rows: Vec<Vec<Expr>>,
    /// What a shift of time has there.
    rows_of_time: Vec<Expr>,
}

impl<'a> Changes<'a> {
    /// `with_constraints` asks for symmetries that reactions leave alone, else for those of the Lagrangian.
    fn of(
        model: &'a Workspace,
        equations: &'a Equations,
        lagrangian: Expr,
        with_constraints: bool,
    ) -> Self {
        let g = &model.graph;
        let v = model.velocities();
        let force = |k: usize| g.sum(model.forces.iter().map(|f| f.components[k]));
        let slopes = g.gradient(lagrangian, &model.positions());
        let slopes = slopes.iter().enumerate().map(|(k, &s)| g.add(s, force(k))).collect();
        let power = g.sum(v.iter().enumerate().map(|(k, &v)| g.mul(force(k), v)));
        let time = g.sub(g.derivative(lagrangian, model.time), power);
        let (mut rows, mut rows_of_time) = (Vec::new(), Vec::new());
        let residual = if with_constraints { equations.residual.as_slice() } else { &[] };
        for (c, &ψ) in residual.iter().enumerate() {
            if equations.principle == Principle::Vakonomic {
                rows.push(g.gradient(ψ, &model.positions()));
                rows_of_time.push(g.derivative(ψ, model.time));
            } else {
                let w = &equations.directions[c];
                rows.push(w.clone());
                rows_of_time.push(g.neg(on_constraint(g, equations, c, g.dot(w, &v))));
            }
        }
        Self { model, equations, slopes, time, rows, rows_of_time }
    }

    /// The components of one term: the rate without $\lambda$, then the factor of each $\lambda$.
    fn components(&self, term: Term) -> Vec<Expr> {
        let g = &self.model.graph;
        let q = self.model.positions();
        let v = self.model.velocities();
        let still = || self.rows.iter().map(|_| g.zero());
        match term {
            Term::Square(k, l) => {
                let rate = g.add(g.mul(q[k], v[l]), g.mul(v[k], q[l]));
                [g.neg(rate)].into_iter().chain(still()).collect()
            }
            Term::Gauge(k) => [g.neg(v[k])].into_iter().chain(still()).collect(),
            Term::Linear { factor: l, along: k } => {
                let turned = g.mul(v[l], self.equations.momenta[k]);
                let rate = g.add(g.mul(q[l], self.slopes[k]), turned);
                let mut all = vec![rate];
                for (c, row) in self.rows.iter().enumerate() {
                    let mut change = g.mul(q[l], row[k]);
                    if self.equations.principle == Principle::Vakonomic {
                        let slope = self.equations.jacobian[c][k];
                        change = g.add(change, g.mul(v[l], slope));
                    }
                    all.push(change);
                }
                all
            }
            Term::Shift(k) => {
                let rows = self.rows.iter().map(|row| row[k]);
                [self.slopes[k]].into_iter().chain(rows).collect()
            }
            Term::Time => {
                let rows = self.rows_of_time.iter().copied();
                [self.time].into_iter().chain(rows).collect()
            }
        }
    }
}

/// $W\dot q$ of a constraint where that constraint holds.
fn on_constraint(g: &Graph, equations: &Equations, c: usize, power: Expr) -> Expr {
    let ψ = equations.residual[c];
    let affine = equations.classes[c] != Class::Nonlinear && equations.has_chetaev_reactions();
    if affine {
        return g.sub(power, ψ);
    }
    // Euler's theorem: a homogeneous function of degree d has the power dψ.
    let homogeneous = (1..=4).any(|d| g.is_zero(g.sub(power, g.mul(g.integer(d), ψ))));
    if homogeneous { g.zero() } else { power }
}

/// The symmetries of the ansatz up to so many coordinates.
pub(super) fn linear_fields(
    model: &Workspace,
    equations: &Equations,
    lagrangian: Expr,
    with_constraints: bool,
    with_gauge: bool,
) -> Vec<LinearField> {
    let g = &model.graph;
    let n = model.coordinates.len();
    let mut terms: Vec<Term> = Vec::new();
    if with_gauge {
        for k in 0..n {
            terms.extend((k..n).map(|l| Term::Square(k, l)));
        }
        terms.extend((0..n).map(Term::Gauge));
    }
    for along in 0..n {
        terms.extend((0..n).map(|factor| Term::Linear { factor, along }));
    }
    terms.extend((0..n).rev().map(Term::Shift));
    terms.push(Term::Time);
    let changes = Changes::of(model, equations, lagrangian, with_constraints);
    let functions: Vec<Vec<Expr>> = terms.iter().map(|&t| changes.components(t)).collect();
    let mut fields: Vec<LinearField> = relations(g, &functions)
        .into_iter()
        .map(|relation| LinearField {
            terms: relation.into_iter().map(|(j, c)| (terms[j], c)).collect(),
        })
        .collect();
    // Energy first, then momenta of coordinates in their order.
    fields.reverse();
    fields
}

impl LinearField {
    /// Coordinates that are factors, with those that they turn.
    fn turned(&self) -> Vec<(usize, usize)> {
        let turned = self.terms.iter().filter_map(|t| match t.0 {
            Term::Linear { factor, along } => Some((factor, along)),
            Term::Square(..) | Term::Gauge(_) | Term::Shift(_) | Term::Time => None,
        });
        turned.collect()
    }

    /// What the momentum is divided by to be that of a book: $p_x + \dots$, $x p_y - y p_x$.
    fn unit(&self, model: &Workspace) -> Option<Expr> {
        let g = &model.graph;
        let turn = self.terms.iter().find_map(|t| match t.0 {
            Term::Linear { factor, along } if factor < along => Some((factor, along, t.1)),
            _ => None,
        });
        let shift = self.terms.iter().filter_map(|t| match t.0 {
            Term::Shift(k) => Some((k, t.1)),
            _ => None,
        });
        // $p_x + qBy/2c$ for $2c\,p_x + qBy$
        if let (None, 1) = (turn, shift.clone().count()) {
            return shift.map(|s| s.1).next();
        }
        let unit = match turn {
            Some((a, b, c)) if axis(model, a, b).is_some_and(|a| a.1) => g.neg(c),
            Some((.., c)) => c,
            None => shift.min_by_key(|s| s.0)?.1,
        };
        g.number_of(unit).map(|_| unit)
    }

    /// $\alpha$
    fn time(&self, g: &Graph) -> Expr {
        let time = self.terms.iter().find(|t| t.0 == Term::Time);
        time.map_or(g.zero(), |t| t.1)
    }

    /// $\xi$
    pub(super) fn generator(&self, model: &Workspace) -> Vec<Expr> {
        let g = &model.graph;
        let q = model.positions();
        let mut ξ = vec![g.zero(); q.len()];
        for &(term, c) in &self.terms {
            match term {
                Term::Linear { factor, along } => {
                    ξ[along] = g.add(ξ[along], g.mul(c, q[factor]));
                }
                Term::Shift(k) => ξ[k] = g.add(ξ[k], c),
                Term::Square(..) | Term::Gauge(_) | Term::Time => {}
            }
        }
        ξ
    }

    /// Whether it moves the coordinates and nothing else.
    pub(super) fn is_of_coordinates(&self) -> bool {
        let moves = |t: &(Term, Expr)| matches!(t.0, Term::Linear { .. } | Term::Shift(_));
        self.terms.iter().all(moves)
    }

    /// $J$, or $-J$ where that begins with the energy.
    fn quantity(&self, model: &Workspace, equations: &Equations) -> Expr {
        let g = &model.graph;
        let q = model.positions();
        let α = self.time(g);
        let ξ = self.generator(model);
        let mut gauge = Vec::new();
        for &(term, c) in &self.terms {
            match term {
                Term::Square(k, l) => gauge.push(g.mul(c, g.mul(q[k], q[l]))),
                Term::Gauge(k) => gauge.push(g.mul(c, q[k])),
                Term::Linear { .. } | Term::Shift(_) | Term::Time => {}
            }
        }
        let mut carried = g.dot(&equations.momenta, &ξ);
        let mut energy = equations.energy;
        if equations.principle == Principle::Vakonomic {
            let parts = equations.jacobian.iter().map(|row| g.dot(row, &ξ));
            let parts = equations.multipliers.iter().zip(parts).map(|(&μ, a)| g.mul(μ, a));
            carried = g.sub(carried, g.sum(parts));
            energy = g.add(energy, equations.multiplier_terms.energy);
        }
        let rest = g.sub(carried, g.sum(gauge));
        if α == g.zero() {
            self.unit(model).map_or(rest, |unit| g.div(rest, unit))
        } else if g.number_of(α).is_some() {
            g.sub(energy, g.div(rest, α))
        } else {
            g.sub(g.mul(α, energy), rest)
        }
    }

    /// What it keeps.
    pub(super) fn conserved(&self, model: &Workspace, equations: &Equations) -> Conserved {
        let g = &model.graph;
        let moves = || self.terms.iter().filter(|t| t.0 != Term::Time);
        let shifted: Vec<usize> = self
            .terms
            .iter()
            .filter_map(|t| if let Term::Shift(k) = t.0 { Some(k) } else { None })
            .collect();
        let turned = self.turned();
        let has_gauge =
            self.terms.iter().any(|t| matches!(t.0, Term::Square(..) | Term::Gauge(_)));
        let is_rotation = turned.iter().all(|&(l, k)| l != k && turned.contains(&(k, l)));
        let kind = if self.time(g) != g.zero() {
            let is_plain = moves().next().is_none();
            // T₂ − T₀ + V is not the energy T + V; what turns by itself is given as a function of time.
            let is_driven =
                || model.abbreviations.iter().any(|a| g.contains(a.1, &[model.time]));
            let is_jacobi = equations.kinetic.as_ref().is_some_and(|k| {
                (k.potential.is_some() || is_driven()) && !g.is_zero(k.scalar)
            });
            match (is_plain, is_jacobi) {
                (true, false) => ConservedKind::Energy,
                (true, true) => ConservedKind::JacobiIntegral,
                (false, _) => ConservedKind::MovingEnergy,
            }
        } else if !turned.is_empty() {
            if is_rotation {
                ConservedKind::AngularMomentum { pairs: turned, shifted }
            } else {
                ConservedKind::LinearSymmetry
            }
        } else if shifted.len() == 1 && !has_gauge && self.terms.len() == 1 {
            ConservedKind::Momentum(shifted[0])
        } else if has_gauge {
            ConservedKind::GaugeMomentum(shifted)
        } else {
            ConservedKind::LinearMomentum(shifted)
        };
        Conserved { name: String::new(), kind, quantity: self.quantity(model, equations) }
    }
}
