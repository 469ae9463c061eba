//! `contact`: unilateral constraints with their law of impact and friction.
//!
//! `contact rail: y = 0, friction = mu` is one that holds from both sides, as a joint does: it is two contacts, of
//! which one carries at a time, so that friction follows the size of the load.

use pfaff_expr::Expr;

use crate::diagnostic::closest;
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Rows, Site};
use crate::elaborate::statement::friction::FrictionWords;
use crate::elaborate::statement::joint::{JointPlace, JointWords, several};
use crate::model::{Contact, Direction, Event, ImpactLaw};
use crate::shape::{Value, component_name};
use crate::source::Span;
use crate::syntax::{self, Binary, ExprId, NodeKind, Setting, SettingValue};

/// What may be said of a contact.
const SETTINGS: [&str; 9] = [
    "restitution",
    "friction",
    "static",
    "slip",
    "at",
    "rolling",
    "roll",
    "regularised",
    "law",
];

/// The position of a contact among the constraints: it has none.
pub(crate) const NO_POSITION: usize = usize::MAX;

/// What a `contact` is.
enum Made {
    Contact(Contact),
    /// A joint that carries in several directions.
    Joint {
        rows: Vec<Expr>,
        words: JointWords,
    },
}

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
        self.scope.insert(&name, Meaning::Constraint(Rows::default()), contact.name.span);
        for indices in &members.indices {
            let whole = component_name(&name, indices);
            self.speak_of(format!("contact `{whole}`"));
            let made = self.with_locals(&members, indices, |e| {
                let gap = e.gap_value(Site { part: 0, id: contact.relation })?;
                Some(match e.is_two_sided(contact).then(|| several(&gap)).flatten() {
                    Some(rows) => {
                        let site = Site { part: 0, id: contact.relation };
                        if !rows.iter().all(|&row| e.is_gap(row, site)) {
                            return None;
                        }
                        let words = e.joint_words(contact, span)?;
                        Made::Joint { rows, words }
                    }
                    None => Made::Contact(e.one_contact(contact, &gap, span)?),
                })
            });
            let made = match made {
                Some(Made::Contact(made)) => {
                    self.add_contact_row(&name, (indices.clone(), NO_POSITION));
                    made
                }
                Some(Made::Joint { rows, words }) => {
                    let place = JointPlace { name: &name, indices, span };
                    self.add_joint(&place, rows, words, activity.clone());
                    continue;
                }
                None => {
                    self.add_contact_row(&name, (indices.clone(), NO_POSITION));
                    continue;
                }
            };
            let made = Contact { name: whole.clone(), modes: activity.modes.clone(), ..made };
            let other = self.is_two_sided(contact).then(|| Contact {
                name: format!("other({whole})"),
                gap: self.graph.neg(made.gap),
                ..made.clone()
            });
            for contact in [made].into_iter().chain(other) {
                self.add_contact(contact);
            }
        }
    }

    /// Whether a contact is held from both sides.
    fn is_two_sided(&self, contact: &syntax::Contact) -> bool {
        let kind = self.kind(Site { part: 0, id: contact.relation });
        matches!(kind, NodeKind::Binary { operator: Binary::Same, .. })
    }

    /// Adds a contact, and the event at which it is hit.
    fn add_contact(&mut self, contact: Contact) {
        let event = self.draft.outputs.events.len();
        self.draft.hybrid.event_modes.resize(event, Vec::new());
        self.draft.hybrid.event_modes.push(contact.modes.clone());
        self.draft.outputs.events.push(Event {
            name: contact.name.clone(),
            expr: contact.gap,
            direction: Direction::Falling,
            stop: false,
            span: contact.span,
        });
        self.draft.hybrid.contacts.push(Contact { event, ..contact });
    }

    /// Adds what `lambda(c)` and the like speak of.
    pub(super) fn add_contact_row(&mut self, name: &str, row: (Vec<i64>, usize)) {
        if let Some(Meaning::Constraint(known)) =
            self.scope.get_mut(name).map(|e| &mut e.meaning)
        {
            known.rows.push(row);
        }
    }

    fn one_contact(
        &mut self,
        contact: &syntax::Contact,
        gap: &Value,
        span: Span,
    ) -> Option<Contact> {
        let gap = self.gap(gap, Site { part: 0, id: contact.relation })?;
        let g = self.graph;
        let mut made = Contact {
            name: String::new(),
            gap,
            restitution: g.zero(),
            frictions: Vec::new(),
            law: ImpactLaw::default(),
            event: 0,
            modes: Vec::new(),
            span,
        };
        let mut words = FrictionWords::default();
        let mut seen: Vec<String> = Vec::new();
        for setting in &contact.settings {
            let word = self.own_name(setting.name);
            if seen.contains(&word) {
                self.error("E0454", setting.name.span, format!("`{word}` is given twice"));
                return None;
            }
            self.contact_setting(&mut made, &mut words, (&word, setting))?;
            seen.push(word);
        }
        made.frictions = self.frictions(words, span)?;
        Some(made)
    }

    /// The gap of `y >= h` or `y = h` as it is written, or a report.
    fn gap_value(&mut self, site: Site) -> Option<Value> {
        let sides = match self.kind(site) {
            NodeKind::Binary {
                operator: Binary::AtLeast | Binary::Greater | Binary::Same,
                left,
                right,
            } => [left, right],
            NodeKind::Binary { operator: Binary::AtMost | Binary::Less, left, right } => {
                [right, left]
            }
            _ => {
                let message =
                    "a contact is an inequality, or an equation if it holds from both sides";
                let hint = "write `contact floor: y >= 0`";
                self.error_hint("E0454", self.span(site), message.into(), hint);
                return None;
            }
        };
        let sides = sides.map(|id| Site { id, ..site });
        Some(self.difference(sides, Place::Constraint))
    }

    /// The gap as one number, or a report.
    fn gap(&mut self, value: &Value, site: Site) -> Option<Expr> {
        let gap = self.scalar(value, site, "the gap of a contact")?;
        self.is_gap(gap, site).then_some(gap)
    }

    /// Whether an expression can be a gap, or a report.
    pub(super) fn is_gap(&mut self, gap: Expr, site: Site) -> bool {
        let span = self.span(site);
        if self.highest_order(&[gap]) > 0 {
            let message = "the gap of a contact depends on velocities";
            let hint = "a contact is between positions";
            self.error_hint("E0454", span, message.into(), hint);
            return false;
        }
        if !self.content(gap).moves {
            self.error("E0454", span, "the gap of a contact contains no coordinate".into());
            return false;
        }
        true
    }

    fn contact_setting(
        &mut self,
        made: &mut Contact,
        words: &mut FrictionWords,
        (word, setting): (&str, &Setting),
    ) -> Option<()> {
        let at = setting.name.span;
        let SettingValue::Value(id) = setting.value else {
            self.error("E0454", at, format!("`{word}` takes a value, not a range"));
            return None;
        };
        let site = Site { part: 0, id };
        match word {
            "restitution" => made.restitution = self.contact_number(word, id, 1.0)?,
            "friction" => {
                words.friction = Some(self.contact_number(word, id, f64::INFINITY)?);
            }
            "static" => words.holding = Some(self.contact_number(word, id, f64::INFINITY)?),
            "rolling" => words.rolling = Some(self.contact_number(word, id, f64::INFINITY)?),
            "regularised" => {
                words.regular = Some(self.contact_number(word, id, f64::INFINITY)?);
            }
            "slip" => words.slip = self.rates(site, "the slip of a contact")?,
            "roll" => words.roll = self.rates(site, "the rolling of a contact")?,
            "at" => words.slip = self.slip_of_point(made.gap, site)?,
            "law" => made.law = self.impact_law(site)?,
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
    pub(super) fn contact_number(&mut self, word: &str, id: ExprId, most: f64) -> Option<Expr> {
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
}
