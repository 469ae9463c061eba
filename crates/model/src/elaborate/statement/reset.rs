//! `on`: what happens at an event.

use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Site};
use crate::model::{Quantity, Reset};
use crate::shape::{Value, component_name};
use crate::source::Span;
use crate::syntax;

impl Elaborator<'_> {
    /// `on hit: x' = -e*x', th = -th`
    pub(crate) fn reset(&mut self, reset: &syntax::Reset, span: Span) {
        let name = self.own_name(reset.event);
        self.speak_of(format!("what happens at `{name}`"));
        let Some(members) = self.members(0, &reset.slots) else { return };
        for indices in &members.indices {
            let whole = component_name(&name, indices);
            let Some(event) = self.event_named(&whole, reset.event.span) else { return };
            let mut made = Reset {
                event,
                values: Vec::new(),
                parameters: Vec::new(),
                mode: None,
                stop: None,
                span,
            };
            for assignment in &reset.values {
                self.with_locals(&members, indices, |e| e.new_values(assignment, &mut made));
            }
            self.draft.outputs.resets.push(made);
        }
    }

    /// The index of an event that does not end the run, or a report.
    fn event_named(&mut self, name: &str, span: Span) -> Option<usize> {
        let events = &self.draft.outputs.events;
        let Some(event) = events.iter().position(|e| e.name == name) else {
            if !self.draft.faulty {
                let names: Vec<&str> = events.iter().map(|e| e.name.as_str()).collect();
                let message = format!("there is no event `{name}` above");
                let hint = match closest(name, &names) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("add a line such as `event falling {name}: y` before it"),
                };
                self.error_hint("E0201", span, message, &hint);
            }
            return None;
        };
        if events[event].stop {
            let at = events[event].span;
            let message = format!("the event `{name}` ends the run: nothing happens after it");
            let diagnostic = Diagnostic::error("E0450", span, message)
                .with_note(at, "here".into())
                .with_hint("leave out `stop`");
            self.report(diagnostic);
            return None;
        }
        Some(event)
    }

    /// Adds what one assignment gives.
    fn new_values(&mut self, assignment: &syntax::Assignment, made: &mut Reset) {
        let site = Site { part: 0, id: assignment.value };
        let span = assignment.target.span;
        let target = &assignment.target;
        let name = self.own_name(target.name);
        let is_bare = target.slots.is_empty() && target.of.is_none() && target.order == 0;
        match self.scope.get(&name).map(|entry| &entry.meaning) {
            None if is_bare && name == "mode" => return self.new_mode(site, made),
            None if is_bare && name == "stop" => return self.last_time(site, made),
            Some(Meaning::Parameter(value)) if is_bare => {
                let value = value.clone();
                return self.new_parameter(&value, &name, site, made);
            }
            _ => {}
        }
        let Some(goal) = self.goal(0, &assignment.target, false) else { return };
        for (scalar, value) in self.assigned_values(&goal, site, Place::Reset) {
            let Quantity::Coordinate(_, 0 | 1) = scalar.quantity else {
                let message = format!("`{}` cannot be set at an event", scalar.name);
                let hint = "positions, velocities, states, parameters and the mode can; accelerations and multipliers \
                            follow from the equations";
                self.error_hint("E0450", span, message, hint);
                return;
            };
            let gives = |r: &Reset| {
                r.event == made.event && r.values.iter().any(|(q, _)| *q == scalar.quantity)
            };
            if gives(made) || self.draft.outputs.resets.iter().any(gives) {
                let message = format!("`{}` gets two values at the same event", scalar.name);
                self.error("E0450", span, message);
                return;
            }
            made.values.push((scalar.quantity, value));
        }
    }

    /// `mode = swing`
    fn new_mode(&mut self, site: Site, made: &mut Reset) {
        let text = self.text(site).to_owned();
        let Some(mode) = self.mode_named(&text, self.span(site)) else { return };
        let earlier = self.draft.outputs.resets.iter();
        let is_known =
            earlier.chain([&*made]).any(|r| r.event == made.event && r.mode.is_some());
        if is_known {
            let message = "an event leads to two modes".to_owned();
            self.error("E0450", self.span(site), message);
            return;
        }
        made.mode = Some(mode);
    }

    /// `stop = 5`
    fn last_time(&mut self, site: Site, made: &mut Reset) {
        let value = self.read(site, Place::Size);
        let what = "the number of times until the run ends";
        let Some(count) = self.whole(&value, site, what) else { return };
        match usize::try_from(count) {
            Ok(count) if count > 0 => made.stop = Some(count),
            _ => {
                self.error("E0450", self.span(site), format!("{what} must be positive"));
            }
        }
    }

    /// A parameter that has another value from there on.
    fn new_parameter(&mut self, of: &Value, name: &str, site: Site, made: &mut Reset) {
        let [symbol] = of.entries() else {
            let message = format!("`{name}` cannot be set at an event as a whole");
            self.error("E0450", self.span(site), message);
            return;
        };
        let symbol = *symbol;
        let value = self.read(site, Place::Reset);
        let Some(value) = self.scalar(&value, site, "the value of a parameter") else { return };
        let parameters = &self.draft.parameters;
        if let Some(k) = parameters.iter().position(|p| p.symbol == symbol) {
            made.parameters.push((k, value));
        }
    }
}
