//! What stands left of `=` in data, and data that hang together with coordinates: `final`, `symmetry`.

use pfaff_expr::{Expr, Role};

use crate::diagnostic::{Diagnostic, closest};
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Group, Meaning, Site};
use crate::elaborate::statement::contact::NO_POSITION;
use crate::elaborate::statement::slots::Members;
use crate::elaborate::{Elaborator, Given};
use crate::model::{GroupKind, LieGroup, Quantity, Symmetry, Terminal, TerminalValue};
use crate::shape::{Shape, Value};
use crate::source::Span;
use crate::syntax::{self, NodeKind, Target};

/// The scalars that one assignment gives.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    pub(crate) quantity: Quantity,
    /// What to write it as.
    pub(crate) name: String,
    /// The index variables that its value sees.
    pub(crate) indices: Vec<i64>,
    /// Which component of the value it takes, if the target is a whole vector or matrix.
    pub(crate) component: usize,
}

/// What an assignment is about.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) scalars: Vec<Assigned>,
    pub(crate) members: Members,
    /// The shape that each value must have.
    pub(crate) shape: Shape,
    /// Whether it names a whole declared coordinate.
    pub(crate) whole: bool,
}

/// The highest derivative that may be given at the start.
const HIGHEST: u32 = 63;

impl Elaborator<'_> {
    /// The coordinate of a name, or a report.
    pub(crate) fn coordinate_group(&mut self, name: &str, span: Span) -> Option<Group> {
        match self.scope.get(name).map(|entry| &entry.meaning) {
            Some(Meaning::Coordinate(group)) => Some(group.clone()),
            Some(Meaning::Poison) => None,
            Some(other) => {
                let message = format!("`{name}` is {}, not a coordinate", other.describe());
                let hint = match other {
                    Meaning::Parameter(_) => "parameters get their values in `parameters`",
                    _ => "only coordinates and their velocities can be given here",
                };
                self.error_hint("E0413", span, message, hint);
                None
            }
            None => {
                let is_coordinate = |n: &&str| {
                    let meaning = self.scope.get(n).map(|e| &e.meaning);
                    matches!(meaning, Some(Meaning::Coordinate(_)))
                };
                let names: Vec<&str> = self.scope.names().filter(is_coordinate).collect();
                let message = format!("there is no coordinate `{name}`");
                let hint = match closest(name, &names) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("the coordinates are {}", names.join(", ")),
                };
                self.error_hint("E0201", span, message, &hint);
                None
            }
        }
    }

    /// What a target names, or `None` after a report.
    pub(crate) fn goal(&mut self, part: u8, target: &Target, allow_time: bool) -> Option<Goal> {
        let arena = self.parts[usize::from(part)].arena.clone();
        let name = arena.name(target.name.symbol);
        let span = self.shifted(part, target.span);
        let members = self.members(part, &target.slots)?;
        if let Some(of) = target.of {
            return self.multiplier_goal(part, target, name, arena.name(of.symbol), members);
        }
        if name == "t" {
            if !allow_time || !target.slots.is_empty() || target.order > 0 {
                let message = "the time cannot be set here";
                let hint = "write `solve t = 0..20`";
                self.error_hint("E0413", span, message.into(), hint);
                return None;
            }
            let scalar = Assigned {
                quantity: Quantity::Time,
                name: "t".into(),
                indices: Vec::new(),
                component: 0,
            };
            return Some(Goal {
                scalars: vec![scalar],
                members,
                shape: Shape::Scalar,
                whole: true,
            });
        }
        let group = self.coordinate_group(name, self.shifted(part, target.name.span))?;
        // An equation with memory may be of any order, and its motions begin with as many derivatives.
        let has_memory = |e: &crate::model::Equation| self.graph.has_memory(e.expr);
        let highest =
            if self.draft.dynamics.equations.iter().any(has_memory) { HIGHEST } else { 2 };
        if target.order > highest {
            let text = self.source.slice(span);
            if highest == HIGHEST {
                let message = format!("`{text}` is a derivative of order {}", target.order);
                let hint = format!("derivatives go up to order {HIGHEST}");
                self.error_hint("E0413", span, message, &hint);
            } else {
                let message = format!("`{text}` is a derivative of an order above 2");
                let hint =
                    "only `equation` models with memory of a higher order need such data";
                self.error_hint("E0413", span, message, hint);
            }
            return None;
        }
        let order = target.order as u8;
        let mut scalars = Vec::new();
        let whole = target.slots.is_empty();
        if whole {
            for k in 0..group.value.entries().len() {
                scalars.push(self.assigned(&group, k, order, Vec::new(), k));
            }
        } else {
            for indices in &members.indices {
                let Some(k) = group.offset(indices) else {
                    let shape = group.value.describe();
                    self.outside_at(span, name, &shape, indices, &group.ranges);
                    return None;
                };
                scalars.push(self.assigned(&group, k, order, indices.clone(), 0));
            }
        }
        let shape = if whole { group.value.shape()? } else { Shape::Scalar };
        Some(Goal { scalars, members, shape, whole })
    }

    fn assigned(
        &self,
        group: &Group,
        k: usize,
        order: u8,
        indices: Vec<i64>,
        component: usize,
    ) -> Assigned {
        let i = group.first + k;
        let name = self
            .graph
            .symbol_of(group.value.entries()[k])
            .map_or_else(String::new, |s| s.name + &"'".repeat(usize::from(order)));
        Assigned { quantity: Quantity::Coordinate(i, order), name, indices, component }
    }

    /// `mu(c)`, `mu(wheel[2])`
    fn multiplier_goal(
        &mut self,
        part: u8,
        target: &Target,
        word: &str,
        name: &str,
        members: Members,
    ) -> Option<Goal> {
        let span = self.shifted(part, target.span);
        if word != "mu" || target.order > 0 {
            let message = format!("`{}` cannot be given", self.source.slice(span));
            let hint = "multipliers are given as `mu(c) = …`";
            self.error_hint("E0413", span, message, hint);
            return None;
        }
        let mut scalars = Vec::new();
        for indices in &members.indices {
            let rows = match self.scope.get(name).map(|entry| &entry.meaning) {
                Some(Meaning::Constraint(rows)) => rows.clone(),
                Some(Meaning::Poison) => return None,
                _ => {
                    let is_constraint = |n: &&str| {
                        let meaning = self.scope.get(n).map(|e| &e.meaning);
                        matches!(meaning, Some(Meaning::Constraint(_)))
                    };
                    let names: Vec<&str> = self.scope.names().filter(is_constraint).collect();
                    let message = format!("there is no constraint `{name}`");
                    let hint = match closest(name, &names) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("the constraints are {}", names.join(", ")),
                    };
                    self.error_hint("E0201", span, message, &hint);
                    return None;
                }
            };
            let chosen: Vec<usize> = rows
                .rows
                .iter()
                .filter(|(row, _)| row.starts_with(indices))
                .map(|(_, position)| *position)
                .collect();
            if chosen.is_empty() {
                if !rows.poisoned {
                    let wanted = crate::shape::component_name(name, indices);
                    let message = format!("there is no constraint `{wanted}`");
                    self.error("E0304", span, message);
                }
                return None;
            }
            if chosen.contains(&NO_POSITION) {
                let message =
                    format!("`{name}` is a contact: its impulse follows from the motion");
                self.error("E0413", span, message);
                return None;
            }
            let several = chosen.len() > 1;
            for (k, position) in chosen.into_iter().enumerate() {
                scalars.push(Assigned {
                    quantity: Quantity::Multiplier(position),
                    name: format!("mu({})", self.draft.constraint_name(position)),
                    indices: indices.clone(),
                    component: if several { k } else { 0 },
                });
            }
        }
        let each = scalars.len() / members.indices.len().max(1);
        let shape = if each > 1 { Shape::Vector(each) } else { Shape::Scalar };
        let whole = target.slots.is_empty();
        Some(Goal { scalars, members, shape, whole })
    }

    /// `final x = 1, …`
    pub(crate) fn finish_final(&mut self) {
        let mut seen: Vec<(Quantity, bool, Span)> = Vec::new();
        let mut chosen: Vec<(Terminal, bool)> = Vec::new();
        for given in std::mem::take(&mut self.draft.conditions.terminal) {
            let span = self.shifted(given.part, given.assignment.target.span);
            let Some(goal) = self.goal(given.part, &given.assignment.target, true) else {
                continue;
            };
            for (quantity, value) in self.terminal_values(&given, &goal) {
                if let Some((.., first)) =
                    seen.iter().find(|(q, whole, _)| *q == quantity && *whole == goal.whole)
                {
                    let diagnostic = Diagnostic::error(
                        "E0413",
                        span,
                        "this final value is given twice".into(),
                    )
                    .with_note(*first, "first here".into());
                    self.report(diagnostic);
                    continue;
                }
                seen.push((quantity, goal.whole, span));
                let terminal = Terminal { quantity, value, span };
                match chosen.iter().position(|(t, _)| t.quantity == quantity) {
                    Some(k) if !goal.whole => chosen[k] = (terminal, false),
                    Some(_) => {}
                    None => chosen.push((terminal, goal.whole)),
                }
            }
        }
        self.draft.conditions.terminals =
            chosen.into_iter().map(|(terminal, _)| terminal).collect();
    }

    fn terminal_values(
        &mut self,
        given: &Given,
        goal: &Goal,
    ) -> Vec<(Quantity, TerminalValue)> {
        let site = Site { part: given.part, id: given.assignment.value };
        let word = match self.kind(site) {
            NodeKind::Name(symbol) => self.arena(site).name(symbol),
            _ => "",
        };
        if word == "free" && self.scope.get("free").is_none() {
            let free = |a: &Assigned| (a.quantity, TerminalValue::Free);
            return goal.scalars.iter().map(free).collect();
        }
        // `initial` stands for the value at the start, in the shape of the target.
        let g = self.graph;
        let starts: Vec<Expr> = (0..goal.shape.len())
            .map(|k| g.symbol(&format!("initial[{k}]"), Role::Free))
            .collect();
        let symbol = self.arena(site).find_symbol("initial");
        let symbol = symbol.filter(|_| self.scope.get("initial").is_none());
        let start = symbol.map(|s| (s, Value::new(goal.shape, starts.clone())));
        let mut values = Vec::new();
        let (mut last, mut entries) = (None, None);
        for scalar in &goal.scalars {
            if last.as_ref() != Some(&scalar.indices) {
                last = Some(scalar.indices.clone());
                let value = self.with_locals(&goal.members, &scalar.indices, |e| {
                    let before = e.stacks.locals.len();
                    e.stacks.locals.extend(start.clone());
                    let value = e.read(site, Place::Final);
                    e.stacks.locals.truncate(before);
                    value
                });
                entries = self.shaped(&value, goal.shape, site, "the final value");
            }
            let Some(entries) = &entries else { continue };
            let e = entries[scalar.component];
            let own = starts[scalar.component];
            if let Some(value) = self.terminal_value(site, e, own) {
                values.push((scalar.quantity, value));
            }
        }
        values
    }

    /// A value of parameters and time, perhaps plus the start.
    fn terminal_value(&mut self, site: Site, e: Expr, start: Expr) -> Option<TerminalValue> {
        let g = self.graph;
        let rest = g.substitute(&[e], &[(start, g.zero())])[0];
        let foreign = g
            .symbols(&[rest])
            .into_iter()
            .filter_map(|s| g.symbol_of(s))
            .find(|s| !matches!(s.role, Role::Parameter | Role::Time));
        if let Some(symbol) = foreign {
            let culprit =
                if symbol.role == Role::Free { "initial".into() } else { symbol.text() };
            let message = format!("a final value depends on `{culprit}`");
            let hint = "it may use parameters and `t`, or be `initial + …` or `free`";
            self.error_hint("E0413", self.span(site), message, hint);
            return None;
        }
        if rest == e {
            return Some(TerminalValue::Given(e));
        }
        if !g.vanishes_modulo_prime(g.sub(g.sub(e, start), rest)) {
            let message =
                "in a final value `initial` can only be a term, as in `initial + 2*pi`";
            self.error("E0413", self.span(site), message.into());
            return None;
        }
        Some(TerminalValue::Shifted(rest))
    }

    /// `symmetry name: x = 1, y = 0`
    pub(crate) fn symmetry(&mut self, symmetry: &syntax::Symmetry, span: Span) {
        let number = self.draft.symmetries.len() + 1;
        let name = match symmetry.name {
            Some(name) => self.own_name(name),
            None => format!("symmetry {number}"),
        };
        self.speak_of(format!("symmetry `{name}`"));
        if self.draft.symmetries.iter().any(|s| s.name == name) {
            self.error("E0202", span, format!("the symmetry `{name}` is defined twice"));
        }
        let mut generator = vec![self.graph.zero(); self.draft.coordinates.len()];
        let mut seen: Vec<usize> = Vec::new();
        for assignment in &symmetry.components {
            let site = Site { part: 0, id: assignment.value };
            let at = assignment.target.span;
            let Some(goal) = self.goal(0, &assignment.target, false) else { continue };
            for (scalar, e) in self.assigned_values(&goal, site, Place::Symmetry) {
                let Quantity::Coordinate(i, 0) = scalar.quantity else {
                    let message = "a symmetry moves coordinates, not velocities";
                    self.error("E0416", at, message.into());
                    break;
                };
                if seen.contains(&i) {
                    self.error("E0416", at, format!("`{}` is given twice", scalar.name));
                }
                seen.push(i);
                generator[i] = e;
            }
        }
        if self.highest_order(&generator) > 0 {
            let message = format!("the symmetry `{name}` depends on velocities");
            self.error_hint(
                "E0416",
                span,
                message,
                "only coordinates and time are allowed here",
            );
        }
        self.draft.symmetries.push(Symmetry { name, generator, span });
    }

    /// `group SE(2): x, y, theta`
    pub(crate) fn group(&mut self, group: &syntax::Group, span: Span) {
        let name = self.own_name(group.name);
        let (kind, wanted) = match (name.as_str(), group.size) {
            ("SE", 2) => (GroupKind::PlaneMotions, 3),
            ("SO", 2) => (GroupKind::Rotations, 1),
            ("R", n) if n > 0 => (GroupKind::Translations, n as usize),
            _ => {
                let message = format!("there is no group `{name}({})`", group.size);
                let hint =
                    "the groups are SE(2): x, y, theta; SO(2): theta; R(n): n coordinates";
                self.error_hint("E0455", group.name.span, message, hint);
                return;
            }
        };
        let mut coordinates: Vec<usize> = Vec::new();
        for target in &group.coordinates {
            let Some(goal) = self.goal(0, target, false) else { return };
            for scalar in &goal.scalars {
                let Quantity::Coordinate(k, 0) = scalar.quantity else {
                    let message = "a group moves coordinates, not velocities";
                    self.error("E0455", target.span, message.into());
                    return;
                };
                let known = self.draft.groups.iter().flat_map(|group| &group.coordinates);
                if known.chain(&coordinates).any(|other| *other == k) {
                    let message = format!("`{}` is moved twice", scalar.name);
                    self.error("E0455", target.span, message);
                    return;
                }
                coordinates.push(k);
            }
        }
        if coordinates.len() != wanted {
            let message = format!(
                "`{name}({})` moves {wanted} coordinates, not {}",
                group.size,
                coordinates.len()
            );
            self.error("E0455", span, message);
            return;
        }
        self.draft.groups.push(LieGroup { kind, coordinates, span });
    }

    /// Each scalar of a goal with its value; mistakes are reported.
    pub(crate) fn assigned_values(
        &mut self,
        goal: &Goal,
        site: Site,
        place: Place,
    ) -> Vec<(Assigned, Expr)> {
        let mut values = Vec::with_capacity(goal.scalars.len());
        let mut last: Option<&Vec<i64>> = None;
        let mut entries = None;
        for scalar in &goal.scalars {
            if last != Some(&scalar.indices) {
                last = Some(&scalar.indices);
                let value =
                    self.with_locals(&goal.members, &scalar.indices, |e| e.read(site, place));
                entries = self.shaped(&value, goal.shape, site, &format!("`{}`", scalar.name));
            }
            if let Some(entries) = &entries {
                values.push((scalar.clone(), entries[scalar.component]));
            }
        }
        values
    }
}
