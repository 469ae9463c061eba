//! `let`: abbreviations, functions and families.

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::expression::functions;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Family, Meaning, Site};
use crate::elaborate::statement::slots::Members;
use crate::shape::{Value, component_name};
use crate::source::Span;
use crate::syntax::{Definition, DefinitionForm, Name, Slot};

impl Elaborator<'_> {
    pub(crate) fn definition(&mut self, definition: &Definition) {
        let name = self.own_name(definition.name);
        let span = definition.name.span;
        self.defining = Some((name.clone(), span));
        let body = Site { part: 0, id: definition.value };
        match &definition.form {
            DefinitionForm::Plain => {
                let value = self.read(body, Place::Let);
                let value = self.only_numbers(body, value);
                if self.may_declare(&name, span) {
                    let order = self.highest_order(value.entries());
                    self.abbreviate(&name, &value);
                    let meaning = match value {
                        Value::Poison => Meaning::Poison,
                        value => Meaning::Let(value, order),
                    };
                    self.scope.insert(&name, meaning, span);
                }
            }
            DefinitionForm::Function(arguments) => self.define_function(&name, arguments, body),
            DefinitionForm::Family(slots) => self.define_family(&name, span, slots, body),
        }
        self.defining = None;
    }

    /// An abbreviation is a number, vector or matrix.
    fn only_numbers(&mut self, site: Site, value: Value) -> Value {
        match value {
            Value::Truth(_) | Value::Text(_) => {
                let message = format!("an abbreviation cannot be {}", value.describe());
                self.error("E0303", self.span(site), message)
            }
            value => value,
        }
    }

    fn abbreviate(&mut self, name: &str, value: &Value) {
        let Some(shape) = value.shape() else { return };
        for (k, &e) in value.entries().iter().enumerate() {
            let name = component_name(name, &shape.indices(k));
            self.draft.abbreviations.push((name, e));
        }
    }

    fn define_function(&mut self, name: &str, arguments: &[Name], body: Site) {
        let span = self.defining.as_ref().map(|(_, span)| *span).unwrap_or_default();
        if functions::is_reserved(name) {
            let message = format!("`{name}` is a built-in function");
            self.error_hint("E0203", span, message, "choose another name");
            return;
        }
        let mut good = true;
        for (k, argument) in arguments.iter().enumerate() {
            let text = self.own_name(*argument);
            if matches!(text.as_str(), "t" | "pi") {
                let message = format!("`{text}` is reserved and cannot be an argument");
                self.error_hint("E0203", argument.span, message, "choose another name");
                good = false;
            } else if arguments[..k].iter().any(|a| a.symbol == argument.symbol) {
                let message = format!("the argument `{text}` appears twice");
                self.error("E0202", argument.span, message);
                good = false;
            }
        }
        good &= self.names_are_known(arguments, body);
        if self.may_declare(name, span) {
            let symbols = arguments.iter().map(|a| a.symbol).collect();
            let meaning = if good {
                Meaning::Function { arguments: symbols, body }
            } else {
                Meaning::Poison
            };
            self.scope.insert(name, meaning, span);
        }
    }

    fn define_family(&mut self, name: &str, span: Span, slots: &[Slot], body: Site) {
        let known = match self.scope.get(name).map(|entry| &entry.meaning) {
            Some(Meaning::Family(family)) => Some(family.slots),
            _ => None,
        };
        match known {
            Some(count) if count != slots.len() => {
                let message = format!(
                    "`{name}` takes {}, not {}",
                    functions::count_indices(count),
                    slots.len()
                );
                self.error("E0305", span, message);
                return;
            }
            Some(_) => {}
            None => {
                if !self.may_declare(name, span) {
                    return;
                }
                let family = Family { slots: slots.len(), ..Family::default() };
                self.scope.insert(name, Meaning::Family(family), span);
            }
        }
        let Some(members) = self.members(0, slots) else {
            self.poison_family(name);
            return;
        };
        self.define_members(name, span, &members, body);
    }

    fn define_members(&mut self, name: &str, span: Span, members: &Members, body: Site) {
        for indices in &members.indices {
            if self.effort.exhausted {
                return;
            }
            let value = self.with_locals(members, indices, |e| {
                let value = e.read(body, Place::Let);
                e.only_numbers(body, value)
            });
            let order = self.highest_order(value.entries());
            let member = component_name(name, indices);
            if let Some(shape) = value.shape() {
                for (k, &e) in value.entries().iter().enumerate() {
                    let name = component_name(&member, &shape.indices(k));
                    self.draft.abbreviations.push((name, e));
                }
            }
            let Some(entry) = self.scope.get_mut(name) else { return };
            let Meaning::Family(family) = &mut entry.meaning else { return };
            if value.is_poison() {
                family.poisoned = true;
                continue;
            }
            if family.members.contains_key(indices) {
                let first = entry.span;
                let message = format!("`{member}` is defined twice");
                let diagnostic = Diagnostic::error("E0202", span, message)
                    .with_note(first, "the family begins here".into());
                self.report(diagnostic);
                return;
            }
            family.members.insert(indices.clone(), (value, order));
            family.order.push(indices.clone());
        }
    }

    fn poison_family(&mut self, name: &str) {
        if let Some(Meaning::Family(family)) = self.scope.get_mut(name).map(|e| &mut e.meaning)
        {
            family.poisoned = true;
        }
    }
}
