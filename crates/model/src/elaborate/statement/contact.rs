//! `contact`: unilateral constraints with their law of impact and friction.

use pfaff_expr::Expr;

use crate::diagnostic::closest;
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Rows, Site};
use crate::model::{Contact, Direction, Event, ImpactLaw};
use crate::shape::{Shape, component_name};
use crate::source::Span;
use crate::syntax::{self, Binary, ExprId, NodeKind, Setting, SettingValue};

/// What may be said of a contact.
const SETTINGS: [&str; 6] = ["restitution", "friction", "static", "slip", "at", "law"];

/// The position of a contact among the constraints: it has none.
pub(crate) const NO_POSITION: usize = usize::MAX;

impl Elaborator<'_> {
    /// `contact floor: y >= 0, restitution = 0.8, friction = 0.3, law = newton`
    pub(crate) fn contact(&mut self, contact: &syntax::Contact, span: Span) {
        let name = self.own_name(contact.name);
        self.speak_of(format!("contact `{name}`"));
        let activity = self.activity(&contact.condition).unwrap_or_default();
        if activity.when.is_some() {
            let message = "a contact is there in modes (`in`), not under a condition (`when`)";
            self.error("E0453", span, message.into());
        }
        let Some(members) = self.members(0, &contact.slots) else { return };
        if !self.may_declare(&name, contact.name.span) {
            return;
        }
        let rows = members.indices.iter().map(|indices| (indices.clone(), NO_POSITION));
        let rows = Rows { rows: rows.collect(), poisoned: false };
        self.scope.insert(&name, Meaning::Constraint(rows), contact.name.span);
        for indices in &members.indices {
            let whole = component_name(&name, indices);
            self.speak_of(format!("contact `{whole}`"));
            let made = self.with_locals(&members, indices, |e| e.one_contact(contact, span));
            let Some(made) = made else { continue };
            let event = self.draft.outputs.events.len();
            self.draft.hybrid.event_modes.resize(event, Vec::new());
            self.draft.hybrid.event_modes.push(activity.modes.clone());
            self.draft.outputs.events.push(Event {
                name: whole.clone(),
                expr: made.gap,
                direction: Direction::Falling,
                stop: false,
                span,
            });
            let modes = activity.modes.clone();
            self.draft.hybrid.contacts.push(Contact { name: whole, event, modes, ..made });
        }
    }

    fn one_contact(&mut self, contact: &syntax::Contact, span: Span) -> Option<Contact> {
        let gap = self.gap(Site { part: 0, id: contact.relation })?;
        let g = self.graph;
        let mut made = Contact {
            name: String::new(),
            gap,
            restitution: g.zero(),
            friction: g.zero(),
            holding: g.zero(),
            slip: None,
            law: ImpactLaw::default(),
            event: 0,
            modes: Vec::new(),
            span,
        };
        let mut seen: Vec<String> = Vec::new();
        for setting in &contact.settings {
            let word = self.own_name(setting.name);
            if seen.contains(&word) {
                self.error("E0454", setting.name.span, format!("`{word}` is given twice"));
                return None;
            }
            self.contact_setting(&mut made, &word, setting)?;
            seen.push(word);
        }
        if !seen.iter().any(|word| word == "static") {
            made.holding = made.friction;
        }
        Some(made)
    }

    /// The gap of `y >= h`, or a report.
    fn gap(&mut self, site: Site) -> Option<Expr> {
        let sides = match self.kind(site) {
            NodeKind::Binary { operator: Binary::AtLeast | Binary::Greater, left, right } => {
                [left, right]
            }
            NodeKind::Binary { operator: Binary::AtMost | Binary::Less, left, right } => {
                [right, left]
            }
            _ => {
                let message = "a contact is an inequality";
                let hint = "write `contact floor: y >= 0`";
                self.error_hint("E0454", self.span(site), message.into(), hint);
                return None;
            }
        };
        let sides = sides.map(|id| Site { id, ..site });
        let value = self.difference(sides, Place::Constraint);
        let gap = self.scalar(&value, site, "the gap of a contact")?;
        let span = self.span(site);
        if self.highest_order(&[gap]) > 0 {
            let message = "the gap of a contact depends on velocities";
            let hint = "a contact is between positions";
            self.error_hint("E0454", span, message.into(), hint);
            return None;
        }
        if !self.content(gap).moves {
            self.error("E0454", span, "the gap of a contact contains no coordinate".into());
            return None;
        }
        Some(gap)
    }

    fn contact_setting(
        &mut self,
        made: &mut Contact,
        word: &str,
        setting: &Setting,
    ) -> Option<()> {
        let at = setting.name.span;
        let SettingValue::Value(id) = setting.value else {
            self.error("E0454", at, format!("`{word}` takes a value, not a range"));
            return None;
        };
        match word {
            "restitution" => made.restitution = self.contact_number(word, id, 1.0)?,
            "friction" => made.friction = self.contact_number(word, id, f64::INFINITY)?,
            "static" => made.holding = self.contact_number(word, id, f64::INFINITY)?,
            "slip" => {
                let site = Site { part: 0, id };
                let value = self.read(site, Place::Constraint);
                made.slip = Some(self.scalar(&value, site, "the slip of a contact")?);
            }
            "at" => made.slip = Some(self.slip_of_point(made.gap, Site { part: 0, id })?),
            "law" => made.law = self.impact_law(Site { part: 0, id })?,
            _ => {
                let hint = match closest(word, &SETTINGS) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("a contact knows {}", SETTINGS.join(", ")),
                };
                self.error_hint("E0454", at, format!("a contact has no `{word}`"), &hint);
                return None;
            }
        }
        Some(())
    }

    /// A number from 0 to `most`, as far as it is constant.
    fn contact_number(&mut self, word: &str, id: ExprId, most: f64) -> Option<Expr> {
        let site = Site { part: 0, id };
        let value = self.read(site, Place::Force);
        let e = self.scalar(&value, site, &format!("the {word} of a contact"))?;
        if let Some(constant) = self.constant(e)
            && !(0.0..=most).contains(&constant.value)
        {
            let range = if most.is_finite() { "from 0 to 1" } else { "0 or more" };
            let message = format!("the {word} must be {range}, not {}", constant.value);
            self.error("E0454", self.span(site), message);
            return None;
        }
        Some(e)
    }

    fn impact_law(&mut self, site: Site) -> Option<ImpactLaw> {
        let word = self.text(site).to_owned();
        let found = ImpactLaw::ALL.iter().find(|(_, name)| *name == word);
        if found.is_none() {
            let words: Vec<&str> = ImpactLaw::ALL.iter().map(|(_, name)| *name).collect();
            let hint = match closest(&word, &words) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the laws are {}", words.join(", ")),
            };
            let message = format!("there is no law of impact `{word}`");
            self.error_hint("E0454", self.span(site), message, &hint);
        }
        found.map(|(law, _)| *law)
    }

    /// The velocity along the contact of a material point $r$ in the plane: with $\partial g/\partial q = n\cdot
    /// \partial r/\partial q$, it is $(n_2\dot r_1 - n_1\dot r_2)/|n|$.
    fn slip_of_point(&mut self, gap: Expr, site: Site) -> Option<Expr> {
        let value = self.read(site, Place::Along);
        let (Some(Shape::Vector(2)), [x, y]) = (value.shape(), value.entries()) else {
            let message = "the point of a contact has two components";
            let hint = "write `at = [X, Y]`, or give the velocity: `slip = x' - r*phi'`";
            self.error_hint("E0454", self.span(site), message.into(), hint);
            return None;
        };
        let (x, y, g) = (*x, *y, self.graph);
        let q: Vec<Expr> = self.draft.coordinates.iter().map(|c| c.position).collect();
        let v: Vec<Expr> = self.draft.coordinates.iter().map(|c| c.velocity).collect();
        let [across, along, of_gap] = [x, y, gap].map(|e| g.gradient(e, &q));
        let [aa, ab, bb] =
            [(&across, &across), (&across, &along), (&along, &along)].map(|(u, w)| g.dot(u, w));
        let [a, b] = [&across, &along].map(|u| g.dot(u, &of_gap));
        let n = [g.sub(g.mul(bb, a), g.mul(ab, b)), g.sub(g.mul(aa, b), g.mul(ab, a))];
        let [dx, dy] = [&across, &along].map(|u| g.dot(u, &v));
        Some(self.unit_slip(n, [dx, dy]))
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
            let g = self.graph;
            let is_smooth = [contact.friction, contact.holding].iter().all(|&e| e == g.zero());
            if is_smooth || contact.slip.is_some() {
                continue;
            }
            let (span, gap) = (contact.span, contact.gap);
            match self.point_slip(gap) {
                Some(slip) => self.draft.hybrid.contacts[k].slip = Some(slip),
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
