//! `lambda(c)`, `mu(c)` and `reaction(x)`: symbols that stand for results of the motion; and `applied(x)`,
//! the sum of the forces.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::Elaborator;
use crate::elaborate::expression::machine::Step;
use crate::elaborate::scope::{Meaning, Rows, Site};
use crate::model::{Contact, Friction};
use crate::shape::{Value, component_name};
use crate::syntax::{List, NodeKind};

impl Elaborator<'_> {
    pub(crate) fn visit_result(&mut self, site: Site, arguments: List) {
        let word = self.called(site);
        let allowed = if word == "mu" {
            self.place.allows_multipliers()
        } else {
            self.place.allows_results()
        };
        if !allowed {
            let message = format!(
                "`{word}` is a result of the motion, so {} cannot use it",
                self.subject()
            );
            let hint = "use results of the motion in `observe`, `event` and `draw`";
            let value = self.error_hint("E0411", self.span(site), message, hint);
            return self.push(value);
        }
        let argument = Site { id: self.arena(site).list(arguments)[0], ..site };
        match self.kind(argument) {
            NodeKind::Name(_) => self.later(Step::Result(site)),
            NodeKind::Index { base, indices }
                if matches!(self.kind(Site { id: base, ..site }), NodeKind::Name(_)) =>
            {
                self.visit_list(site, Step::Result(site), indices);
            }
            _ => {
                let what = match word.as_str() {
                    "reaction" | "applied" => "a coordinate",
                    "friction" | "rolling" => "a contact",
                    _ => "a constraint",
                };
                let message = format!("`{word}` takes the name of {what}");
                let value = self.error("E0303", self.span(argument), message);
                self.push(value);
            }
        }
    }

    /// The indices of the argument are on the stack.
    pub(crate) fn result(&mut self, site: Site) {
        let argument = self.argument(site, 0);
        let (name, ids) = match self.kind(argument) {
            NodeKind::Name(symbol) => (symbol, Vec::new()),
            NodeKind::Index { base, indices } => {
                let NodeKind::Name(symbol) = self.kind(Site { id: base, ..site }) else {
                    return;
                };
                (symbol, self.arena(site).list(indices).to_vec())
            }
            _ => return,
        };
        let name = self.arena(site).name(name).to_owned();
        let values = self.pop_many(ids.len());
        let mut indices = Vec::with_capacity(ids.len());
        for (value, id) in values.iter().zip(ids) {
            match self.whole(value, Site { id, ..site }, "an index") {
                Some(i) => indices.push(i),
                None => return self.push(Value::Poison),
            }
        }
        let word = self.called(site);
        let value = match word.as_str() {
            "reaction" | "applied" => self.on_coordinate(argument, &word, &name, &indices),
            "friction" | "rolling" => self.rubbing(argument, &word, &name, &indices),
            _ => self.multiplier(argument, &word, &name, &indices),
        };
        self.push(value);
    }

    /// The reaction on a coordinate, or the sum of the forces that stand above.
    fn on_coordinate(&mut self, site: Site, word: &str, name: &str, indices: &[i64]) -> Value {
        if word == "applied" {
            let span = self.span(site);
            self.draft.dynamics.applied.get_or_insert(span);
        }
        let Some(Meaning::Coordinate(group)) = self.scope.get(name).map(|e| &e.meaning) else {
            return self.not_a(site, name, "coordinate");
        };
        let g = self.graph;
        let symbol = |e: Expr| {
            if word == "applied" {
                let k = self.draft.coordinates.iter().position(|c| c.position == e);
                let forces = self.draft.dynamics.forces.iter();
                let on = forces.filter_map(|f| f.components.get(k?).copied());
                return g.sum(on);
            }
            let name = g.symbol_of(e).map(|s| s.name).unwrap_or_default();
            g.symbol(&format!("reaction({name})"), Role::Free)
        };
        if indices.is_empty() {
            return group.value.map(symbol);
        }
        if let Some(offset) = group.offset(indices) {
            Value::Scalar(symbol(group.value.entries()[offset]))
        } else {
            let (ranges, shape) = (group.ranges.clone(), group.value.describe());
            self.outside(site, name, &shape, indices, &ranges)
        }
    }

    /// The friction of a contact, along its slip, or against its rolling.
    fn rubbing(&mut self, site: Site, word: &str, name: &str, indices: &[i64]) -> Value {
        let Some(rows) = self.rows_of(site, name, indices) else { return Value::Poison };
        let g = self.graph;
        let whole = component_name(name, indices);
        if let Some(joint) = self.draft.hybrid.joints.iter().find(|joint| joint.name == whole)
            && word == "friction"
        {
            let symbol = g.symbol(&format!("lambda({})", joint.friction_name()), Role::Free);
            return Value::Scalar(symbol);
        }
        let mut symbols = Vec::new();
        for (indices, _) in &rows {
            let name = component_name(name, indices);
            let contact = self.draft.hybrid.contacts.iter().find(|c| c.name == name);
            let of_word = |f: &&Friction| f.is_rolling == (word == "rolling");
            let found = contact.and_then(|c| Some((c, c.frictions.iter().find(of_word)?)));
            let Some((contact, friction)) = found else {
                let message = format!("`{name}` has no {word}");
                let hint = "a contact with friction that stands above has one";
                return self.error_hint("E0304", self.span(site), message, hint);
            };
            let symbols_of = |contact: &Contact| -> Vec<Expr> {
                let names = contact.friction_names(friction);
                let symbol = |name: &String| g.symbol(&format!("lambda({name})"), Role::Free);
                names.iter().map(symbol).collect()
            };
            let one = symbols_of(contact);
            // NOTE: of two sides one carries at a time, and both rub along the same slip.
            symbols.extend(match self.other_side(&name) {
                Some(other) => {
                    let both = one.into_iter().zip(symbols_of(other));
                    both.map(|(a, b)| g.add(a, b)).collect()
                }
                None => one,
            });
        }
        match symbols[..] {
            [one] => Value::Scalar(one),
            _ => Value::Vector(symbols.into()),
        }
    }

    /// The other side of a contact that holds from both.
    fn other_side(&self, name: &str) -> Option<&Contact> {
        let other = format!("other({name})");
        self.draft.hybrid.contacts.iter().find(|contact| contact.name == other)
    }

    fn multiplier(&mut self, site: Site, word: &str, name: &str, indices: &[i64]) -> Value {
        let Some(rows) = self.rows_of(site, name, indices) else { return Value::Poison };
        let g = self.graph;
        let symbols: Vec<Expr> = rows
            .iter()
            .map(|(indices, _)| {
                let name = component_name(name, indices);
                match word {
                    "mu" => g.symbol(&name, Role::Multiplier { order: 0 }),
                    _ => {
                        let symbol =
                            |name: &str| g.symbol(&format!("lambda({name})"), Role::Free);
                        match self.other_side(&name) {
                            Some(other) => g.sub(symbol(&name), symbol(&other.name)),
                            None => symbol(&name),
                        }
                    }
                }
            })
            .collect();
        match symbols[..] {
            [one] => Value::Scalar(one),
            _ => Value::Vector(symbols.into()),
        }
    }

    /// The scalar constraints of a name and some first indices, or a report.
    pub(crate) fn rows_of(
        &mut self,
        site: Site,
        name: &str,
        indices: &[i64],
    ) -> Option<Vec<(Vec<i64>, usize)>> {
        let Some(Meaning::Constraint(Rows { rows, poisoned })) =
            self.scope.get(name).map(|e| &e.meaning)
        else {
            self.not_a(site, name, "constraint");
            return None;
        };
        let chosen: Vec<(Vec<i64>, usize)> =
            rows.iter().filter(|(row, _)| row.starts_with(indices)).cloned().collect();
        if chosen.is_empty() && !poisoned {
            let known: Vec<String> =
                rows.iter().take(6).map(|(row, _)| component_name(name, row)).collect();
            let wanted = component_name(name, indices);
            let message = format!("there is no constraint `{wanted}`");
            let hint = format!("there is {}", known.join(", "));
            self.error_hint("E0304", self.span(site), message, &hint);
        }
        (!chosen.is_empty()).then_some(chosen)
    }

    /// Reports a name that is not what it should be.
    fn not_a(&mut self, site: Site, name: &str, wanted: &str) -> Value {
        let span = self.span(site);
        let Some(entry) = self.scope.get(name) else {
            let fits = |n: &&str| {
                let meaning = self.scope.get(n).map(|e| &e.meaning);
                match wanted {
                    "constraint" => matches!(meaning, Some(Meaning::Constraint(_))),
                    _ => matches!(meaning, Some(Meaning::Coordinate(_))),
                }
            };
            let names: Vec<&str> = self.scope.names().filter(fits).collect();
            let message = format!("there is no {wanted} `{name}`");
            let hint = match closest(name, &names) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if names.is_empty() => format!("no {wanted} is declared before this"),
                None => format!("there is {}", names.join(", ")),
            };
            return self.error_hint("E0201", span, message, &hint);
        };
        if matches!(entry.meaning, Meaning::Poison) {
            return Value::Poison;
        }
        let what = entry.meaning.describe();
        let diagnostic =
            Diagnostic::error("E0207", span, format!("`{name}` is {what}, not a {wanted}"))
                .with_note(entry.span, "declared here".into());
        self.report(diagnostic)
    }
}
