//! `initial`: values at the start, with references to each other inserted.
//!
//! Later rules win over earlier ones: the text gives a whole vector or matrix, the text gives a component,
//! `--initial` gives a whole,
//! `--initial` gives a component. Within one rule a name stands once.

use pfaff_expr::{Expr, Role};
use rustc_hash::FxHashMap;

use crate::diagnostic::Diagnostic;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::elaborate::{Elaborator, Given};
use crate::model::{Datum, MultiplierStart, Quantity};
use crate::source::Span;
use crate::syntax::NodeKind;

/// One value as it was given.
#[derive(Clone, Debug)]
struct Entry {
    quantity: Quantity,
    name: String,
    value: Expr,
    span: Span,
    rank: u8,
}

impl Elaborator<'_> {
    pub(crate) fn finish_initial(&mut self) {
        let own = std::mem::take(&mut self.draft.conditions.initial);
        let overriding = std::mem::take(&mut self.draft.options.overriding);
        let mut entries: Vec<Entry> = Vec::new();
        let mut places: FxHashMap<Quantity, usize> = FxHashMap::default();
        for (given, rank) in
            own.iter().map(|g| (g, 0_u8)).chain(overriding.iter().map(|g| (g, 2)))
        {
            if self.is_multiplier_start(given) {
                self.multiplier_start(given, rank);
                continue;
            }
            for entry in self.initial_entries(given, rank) {
                self.enter_value(&mut entries, &mut places, entry);
            }
        }
        entries.sort_by_key(|entry| match entry.quantity {
            Quantity::Coordinate(i, order) => (0, i, order),
            Quantity::Multiplier(i) => (1, i, 0),
            Quantity::Time => (2, 0, 0),
        });
        self.draft.conditions.data = self.resolved(&entries);
    }

    fn initial_entries(&mut self, given: &Given, rank: u8) -> Vec<Entry> {
        let span = self.shifted(given.part, given.assignment.target.span);
        let Some(goal) = self.goal(given.part, &given.assignment.target, false) else {
            return Vec::new();
        };
        let is_acceleration =
            |a: &super::data::Assigned| matches!(a.quantity, Quantity::Coordinate(_, 2..));
        if goal.scalars.iter().any(is_acceleration) && !self.has_memory() {
            let text = self.source.slice(span);
            let message = format!("`{text}` follows from the equations of motion");
            let hint = "give positions and velocities; only memory of an order above 2 needs accelerations";
            self.error_hint("E0413", span, message, hint);
            return Vec::new();
        }
        let site = Site { part: given.part, id: given.assignment.value };
        let rank = rank + u8::from(!goal.whole);
        let values = self.assigned_values(&goal, site, Place::Initial);
        let entry = |(scalar, value): (super::data::Assigned, Expr)| Entry {
            quantity: scalar.quantity,
            name: scalar.name,
            value,
            span,
            rank,
        };
        values.into_iter().map(entry).collect()
    }

    /// Whether the motion has memory.
    fn has_memory(&self) -> bool {
        let laws = &self.draft.dynamics;
        let expressions = laws.equations.iter().map(|e| e.expr);
        let expressions = expressions.chain(laws.constraints.iter().map(|c| c.expr));
        let mut expressions =
            expressions.chain(laws.forces.iter().flat_map(|f| f.components.iter().copied()));
        expressions.any(|e| self.graph.has_memory(e))
    }

    fn enter_value(
        &mut self,
        entries: &mut Vec<Entry>,
        places: &mut FxHashMap<Quantity, usize>,
        entry: Entry,
    ) {
        let Some(&k) = places.get(&entry.quantity) else {
            places.insert(entry.quantity, entries.len());
            entries.push(entry);
            return;
        };
        if entries[k].rank == entry.rank {
            let message = format!("the initial value of `{}` is given twice", entry.name);
            let diagnostic = Diagnostic::error("E0413", entry.span, message)
                .with_note(entries[k].span, "first here".into());
            self.report(diagnostic);
        } else if entries[k].rank < entry.rank {
            entries[k] = entry;
        }
    }

    /// Inserts values into each other until only parameters and `t` are left.
    fn resolved(&mut self, entries: &[Entry]) -> Vec<Datum> {
        let symbols: FxHashMap<Expr, usize> =
            entries.iter().enumerate().map(|(k, e)| (self.symbol_of(e.quantity), k)).collect();
        let mut needs: Vec<Vec<(Expr, usize)>> = Vec::with_capacity(entries.len());
        let mut sound = true;
        for entry in entries {
            let mut own = Vec::new();
            for s in self.graph.symbols(&[entry.value]) {
                let Some(symbol) = self.graph.symbol_of(s) else { continue };
                match (symbol.role, symbols.get(&s)) {
                    (Role::Parameter | Role::Time, _) => {}
                    (_, Some(&k)) => own.push((s, k)),
                    (_, None) => {
                        sound = false;
                        let message = format!(
                            "the initial value of `{}` uses `{}`, which has no initial value",
                            entry.name,
                            symbol.text()
                        );
                        let hint = format!("add `{} = …`", symbol.text());
                        self.error_hint("E0414", entry.span, message, &hint);
                    }
                }
            }
            needs.push(own);
        }
        if !sound {
            return Vec::new();
        }
        let Some(order) = self.in_order(entries, &needs) else { return Vec::new() };
        let mut values: Vec<Expr> = entries.iter().map(|e| e.value).collect();
        for k in order {
            if !needs[k].is_empty() {
                let inserted: Vec<(Expr, Expr)> =
                    needs[k].iter().map(|&(s, j)| (s, values[j])).collect();
                values[k] = self.graph.substitute(&[values[k]], &inserted)[0];
            }
        }
        let datum = |(e, value): (&Entry, Expr)| Datum {
            quantity: e.quantity,
            value,
            written: e.value,
            span: e.span,
        };
        entries.iter().zip(values).map(datum).collect()
    }

    /// An order in which every value comes after those it uses; `None` after a report of a cycle.
    fn in_order(
        &mut self,
        entries: &[Entry],
        needs: &[Vec<(Expr, usize)>],
    ) -> Option<Vec<usize>> {
        let mut missing: Vec<usize> = needs.iter().map(Vec::len).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
        for (k, own) in needs.iter().enumerate() {
            for &(_, j) in own {
                users[j].push(k);
            }
        }
        let mut order: Vec<usize> = (0..entries.len()).filter(|&k| missing[k] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            for &user in &users[order[next]] {
                missing[user] -= 1;
                if missing[user] == 0 {
                    order.push(user);
                }
            }
            next += 1;
        }
        if order.len() == entries.len() {
            return Some(order);
        }
        // Follow the first open need until a value comes again.
        let mut chain = vec![(0..entries.len()).find(|&k| missing[k] > 0)?];
        loop {
            let last = *chain.last()?;
            let open = needs[last].iter().map(|&(_, j)| j).find(|&j| missing[j] > 0)?;
            if let Some(start) = chain.iter().position(|&k| k == open) {
                let cycle = &chain[start..];
                let mut names: Vec<String> =
                    cycle.iter().map(|&k| format!("`{}`", entries[k].name)).collect();
                names.push(format!("`{}`", entries[open].name));
                let message = format!(
                    "initial values depend on each other in a circle: {}",
                    names.join(" uses ")
                );
                self.error("E0414", entries[open].span, message);
                return None;
            }
            chain.push(open);
        }
    }

    /// The symbol of a quantity.
    pub(crate) fn symbol_of(&self, quantity: Quantity) -> Expr {
        match quantity {
            Quantity::Coordinate(i, order) => {
                let name = &self.draft.coordinates[i].name;
                self.graph.symbol(name, Role::Coordinate { order })
            }
            Quantity::Multiplier(i) => {
                let name = &self.draft.dynamics.constraints[i].name;
                self.graph.symbol(name, Role::Multiplier { order: 0 })
            }
            Quantity::Time => self.time(),
        }
    }

    fn is_multiplier_start(&self, given: &Given) -> bool {
        let target = &given.assignment.target;
        let name = self.parts[usize::from(given.part)].arena.name(target.name.symbol);
        name == "multipliers" && target.of.is_none() && self.scope.get(name).is_none()
    }

    /// `initial multipliers = zero`, or `transversal(z, …)`
    fn multiplier_start(&mut self, given: &Given, rank: u8) {
        let span = self.shifted(given.part, given.assignment.target.span);
        if rank == 0
            && let Some(first) = &self.draft.conditions.multipliers
        {
            let first = match first {
                MultiplierStart::Zero(span) | MultiplierStart::Transversal(_, span) => *span,
            };
            let message = "the start of the multipliers is given twice";
            let diagnostic = Diagnostic::error("E0413", span, message.into())
                .with_note(first, "first here".into());
            self.report(diagnostic);
            return;
        }
        let site = Site { part: given.part, id: given.assignment.value };
        let start = match self.kind(site) {
            NodeKind::Name(symbol) if self.arena(site).name(symbol) == "zero" => {
                Some(MultiplierStart::Zero(span))
            }
            NodeKind::Call { .. } if self.called(site) == "transversal" => {
                self.transversal(site).map(|list| MultiplierStart::Transversal(list, span))
            }
            _ => {
                let text = self.text(site).to_owned();
                let message = format!("multipliers cannot start as `{text}`");
                let hint = "write `zero` or `transversal(z)`, or `mu(c) = …` for one of them";
                self.error_hint("E0413", self.span(site), message, hint);
                None
            }
        };
        if start.is_some() {
            self.draft.conditions.multipliers = start;
        }
    }

    /// The coordinates in `transversal(z, q[1], …)`.
    fn transversal(&mut self, site: Site) -> Option<Vec<usize>> {
        let NodeKind::Call { arguments, .. } = self.kind(site) else { return None };
        let mut list = Vec::new();
        for k in 0..arguments.len() {
            let at = self.argument(site, k);
            let value = self.read(at, Place::Initial);
            for &e in value.entries() {
                if let Some(i) = self.draft.coordinates.iter().position(|c| c.position == e) {
                    list.push(i);
                } else {
                    let message = format!("`{}` is not a coordinate", self.text(at));
                    self.error("E0413", self.span(at), message);
                    return None;
                }
            }
            value.shape()?;
        }
        if list.is_empty() {
            let message = "`transversal` takes the names of coordinates";
            self.error("E0302", self.span(site), message.into());
            return None;
        }
        Some(list)
    }
}
