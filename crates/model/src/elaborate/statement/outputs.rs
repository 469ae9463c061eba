//! `title`, `observe` and `event`.

use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Site};
use crate::model::{Direction, Event, Observed};
use crate::shape::{Value, component_name};
use crate::source::Span;
use crate::syntax;

impl Elaborator<'_> {
    pub(crate) fn title(&mut self, title: &str, span: Span) {
        match &self.draft.title {
            Some((_, first)) => {
                let first = *first;
                self.only_once("title", span, first);
            }
            None => self.draft.title = Some((title.to_owned(), span)),
        }
    }

    pub(crate) fn observe(&mut self, observation: &syntax::Observation, span: Span) {
        let name = self.own_name(observation.name);
        self.speak_of(format!("observed `{name}`"));
        let site = Site { part: 0, id: observation.value };
        let Some(members) = self.members(0, &observation.slots) else { return };
        let mut whole = Value::Poison;
        let mut made = Vec::new();
        for indices in &members.indices {
            let value = self.with_locals(&members, indices, |e| e.read(site, Place::Observe));
            let Some(shape) = value.shape() else {
                if !value.is_poison() {
                    let message = format!("{} cannot be observed", value.describe());
                    let hint = "write `if(condition, 1, 0)`";
                    self.error_hint("E0303", self.span(site), message, hint);
                }
                continue;
            };
            for (k, &expr) in value.entries().iter().enumerate() {
                let all: Vec<i64> = [&indices[..], &shape.indices(k)].concat();
                made.push(Observed { name: component_name(&name, &all), expr, span });
            }
            whole = value;
        }
        if !self.may_declare(&name, observation.name.span) {
            return;
        }
        let meaning = match whole {
            Value::Poison => Meaning::Poison,
            value if observation.slots.is_empty() => Meaning::Observed(value),
            _ => Meaning::Event,
        };
        self.scope.insert(&name, meaning, observation.name.span);
        self.draft.outputs.observed.extend(made);
    }

    pub(crate) fn event(&mut self, event: &syntax::Event, span: Span) {
        let name = self.own_name(event.name);
        self.speak_of(format!("event `{name}`"));
        let site = Site { part: 0, id: event.value };
        let direction = match event.direction {
            syntax::Direction::Both => Direction::Both,
            syntax::Direction::Rising => Direction::Rising,
            syntax::Direction::Falling => Direction::Falling,
        };
        let Some(members) = self.members(0, &event.slots) else { return };
        let mut made = Vec::new();
        for indices in &members.indices {
            let value = self.with_locals(&members, indices, |e| e.read(site, Place::Event));
            let Some(expr) = self.scalar(&value, site, "what becomes zero at an event") else {
                continue;
            };
            if event.goes_on {
                self.draft.affine.let_go.push((expr, span));
            }
            let name = component_name(&name, indices);
            made.push(Event { name, expr, direction, stop: event.stop, span });
        }
        let activity = self.activity(&event.condition).unwrap_or_default();
        if activity.when.is_some() {
            let message = "an event counts in modes (`in`), not under a condition (`when`)";
            self.error("E0453", span, message.into());
        }
        if self.may_declare(&name, event.name.span) {
            self.scope.insert(&name, Meaning::Event, event.name.span);
            let first = self.draft.outputs.events.len();
            self.draft.hybrid.event_modes.resize(first, Vec::new());
            self.draft.hybrid.event_modes.resize(first + made.len(), activity.modes);
            self.draft.outputs.events.extend(made);
        }
    }
}
