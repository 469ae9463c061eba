//! Friction of contacts: along which velocities it acts.

use pfaff_expr::Expr;

use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::model::Friction;
use crate::shape::Shape;
use crate::source::Span;

/// What a contact says of its friction.
#[derive(Debug, Default)]
pub(super) struct FrictionWords {
    pub(super) friction: Option<Expr>,
    pub(super) holding: Option<Expr>,
    pub(super) regular: Option<Expr>,
    pub(super) rolling: Option<Expr>,
    /// Velocities along the contact, and rates of rolling: one, or two across each other.
    pub(super) slip: Vec<Expr>,
    pub(super) roll: Vec<Expr>,
}

impl Elaborator<'_> {
    /// The frictions of a contact. The slip may be missing as yet ([`Self::finish_contacts`]).
    pub(super) fn frictions(
        &mut self,
        words: FrictionWords,
        span: Span,
    ) -> Option<Vec<Friction>> {
        let zero = self.graph.zero();
        let FrictionWords { friction, holding, regular, rolling, slip, roll } = words;
        let mut frictions = Vec::new();
        if friction.is_some() || holding.is_some() || !slip.is_empty() {
            let sliding = friction.unwrap_or(zero);
            let holding = holding.unwrap_or(sliding);
            if !slip.is_empty() || sliding != zero || holding != zero {
                frictions.push(Friction {
                    is_rolling: false,
                    rates: slip,
                    sliding,
                    holding,
                    regular,
                });
            }
        }
        match (rolling, roll.is_empty()) {
            (None, true) => {}
            (Some(sliding), false) => frictions.push(Friction {
                is_rolling: true,
                rates: roll,
                sliding,
                holding: sliding,
                regular,
            }),
            _ => {
                let message = "resistance to rolling needs both a length and a rate";
                let hint = "write `rolling = 0.01, roll = phi'`";
                self.error_hint("E0454", span, message.into(), hint);
                return None;
            }
        }
        Some(frictions)
    }

    /// A velocity, or the two components of one.
    pub(super) fn rates(&mut self, site: Site, what: &str) -> Option<Vec<Expr>> {
        let value = self.read(site, Place::Constraint);
        if let Some(Shape::Vector(2)) = value.shape() {
            return Some(value.entries().to_vec());
        }
        if let Some(Shape::Vector(_) | Shape::Matrix(..)) = value.shape() {
            let message = format!("{what} has one component, or two in the plane of contact");
            self.error("E0454", self.span(site), message);
            return None;
        }
        Some(vec![self.scalar(&value, site, what)?])
    }

    /// The velocity along the contact of a material point $r$. In the plane, with $\partial g/\partial q = n\cdot
    /// \partial r/\partial q$, it is $(n_2\dot r_1 - n_1\dot r_2)/|n|$; in space the contact must be across an axis.
    pub(super) fn slip_of_point(&mut self, gap: Expr, site: Site) -> Option<Vec<Expr>> {
        let value = self.read(site, Place::Along);
        let g = self.graph;
        let q: Vec<Expr> = self.draft.coordinates.iter().map(|c| c.position).collect();
        let v: Vec<Expr> = self.draft.coordinates.iter().map(|c| c.velocity).collect();
        match (value.shape(), value.entries()) {
            (Some(Shape::Vector(2)), &[x, y]) => {
                let [across, along, of_gap] = [x, y, gap].map(|e| g.gradient(e, &q));
                let [aa, ab, bb] = [(&across, &across), (&across, &along), (&along, &along)]
                    .map(|(u, w)| g.dot(u, w));
                let [a, b] = [&across, &along].map(|u| g.dot(u, &of_gap));
                let n = [g.sub(g.mul(bb, a), g.mul(ab, b)), g.sub(g.mul(aa, b), g.mul(ab, a))];
                let [dx, dy] = [&across, &along].map(|u| g.dot(u, &v));
                Some(vec![self.unit_slip(n, [dx, dy])])
            }
            (Some(Shape::Vector(3)), &[x, y, z]) => {
                let of_gap = g.gradient(gap, &q);
                let slopes = [x, y, z].map(|e| g.gradient(e, &q));
                let is_normal = |k: &usize| {
                    let mut pairs = slopes[*k].iter().zip(&of_gap);
                    let mut turned = pairs.clone();
                    pairs.all(|(a, b)| g.vanishes_modulo_prime(g.sub(*a, *b)))
                        || turned.all(|(a, b)| g.vanishes_modulo_prime(g.add(*a, *b)))
                };
                let Some(normal) = (0..3).find(is_normal) else {
                    let message = "the gap of the contact is not a height along an axis";
                    let hint = "give the two components of the velocity in the plane of contact: `slip = [a, b]`";
                    self.error_hint("E0454", self.span(site), message.into(), hint);
                    return None;
                };
                Some((0..3).filter(|&k| k != normal).map(|k| g.dot(&slopes[k], &v)).collect())
            }
            _ => {
                let message = "the point of a contact has two or three components";
                let hint = "write `at = [X, Y]`, or give the velocity: `slip = x' - r*phi'`";
                self.error_hint("E0454", self.span(site), message.into(), hint);
                None
            }
        }
    }

    /// $(n_2 v_1 - n_1 v_2)/|n|$
    fn unit_slip(&self, n: [Expr; 2], v: [Expr; 2]) -> Expr {
        let g = self.graph;
        let along = g.sub(g.mul(n[1], v[0]), g.mul(n[0], v[1]));
        if g.vanishes_modulo_prime(n[0]) {
            // NOTE: a straight floor needs no root.
            return if self.constant(n[1]).is_some_and(|c| c.value < 0.0) {
                g.neg(v[0])
            } else {
                v[0]
            };
        }
        g.div(along, g.sqrt(g.add(g.mul(n[0], n[0]), g.mul(n[1], n[1]))))
    }

    /// Gives contacts with friction their slip where a model is a point in the plane, when everything is known.
    pub(crate) fn finish_contacts(&mut self) {
        for k in 0..self.draft.hybrid.contacts.len() {
            let contact = &self.draft.hybrid.contacts[k];
            let missing = contact.frictions.iter().position(|f| f.rates.is_empty());
            let Some(missing) = missing else { continue };
            let (span, gap) = (contact.span, contact.gap);
            match self.point_slip(gap) {
                Some(slip) => {
                    self.draft.hybrid.contacts[k].frictions[missing].rates = vec![slip];
                }
                None if self.draft.faulty => {}
                None => {
                    let message = "the model does not say how fast this contact slides";
                    let hint = "give the velocity along the contact, `slip = x' - r*phi'`, or the point that \
                                touches, `at = [X, Y]`";
                    self.error_hint("E0454", span, message.into(), hint);
                }
            }
        }
    }

    /// The slip of a point in the plane: two coordinates with the same mass.
    fn point_slip(&self, gap: Expr) -> Option<Expr> {
        let g = self.graph;
        let moving: Vec<_> = self.draft.coordinates.iter().filter(|c| !c.is_state).collect();
        let [a, b] = moving[..] else { return None };
        let energy = &self.draft.dynamics.energy;
        let (l, _) = energy.lagrangian.or(energy.kinetic)?;
        let momenta = g.gradient(l?, &[a.velocity, b.velocity]);
        let mass = |p: Expr| g.gradient(p, &[a.velocity, b.velocity]);
        let [first, second] = [mass(momenta[0]), mass(momenta[1])];
        let is_point = g.vanishes_modulo_prime(first[1])
            && g.vanishes_modulo_prime(g.sub(first[0], second[1]));
        let n = g.gradient(gap, &[a.position, b.position]);
        is_point.then(|| self.unit_slip([n[0], n[1]], [a.velocity, b.velocity]))
    }
}
