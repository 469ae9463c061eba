//! What moves the system: `lagrangian`, `kinetic`, `potential`, `force`, `dissipation`, `equation`.

use pfaff_expr::Expr;

use crate::diagnostic::Diagnostic;
use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Site};
use crate::model::{Activity, Equation, Force, ForceOrigin, Noise};
use crate::shape::algebra;
use crate::shape::{Shape, Value, component_name};
use crate::source::Span;
use crate::syntax::{self, ExprId, ForceTarget, Slot};

impl Elaborator<'_> {
    /// `lagrangian`, or a term of `kinetic` or `potential`.
    pub(crate) fn energy_term(&mut self, place: Place, id: ExprId, span: Span) {
        let site = Site { part: 0, id };
        let value = self.read(site, place);
        let e = self.scalar(&value, site, place.words());
        let twice = match place {
            Place::Lagrangian => self.draft.dynamics.energy.lagrangian.map(|(_, first)| first),
            _ => None,
        };
        if let Some(first) = twice {
            return self.only_once("lagrangian", span, first);
        }
        let g = self.graph;
        let energy = &mut self.draft.dynamics.energy;
        let part = match place {
            Place::Lagrangian => &mut energy.lagrangian,
            Place::Kinetic => &mut energy.kinetic,
            _ => &mut energy.potential,
        };
        *part = Some(match *part {
            None => (e, span),
            Some((sum, first)) => (sum.zip(e).map(|(a, b)| g.add(a, b)), first),
        });
    }

    /// Reports a statement that may stand once.
    pub(crate) fn only_once(&mut self, keyword: &str, span: Span, first: Span) {
        let message = format!("`{keyword}` is given twice");
        let diagnostic =
            Diagnostic::error("E0403", span, message).with_note(first, "first here".into());
        self.report(diagnostic);
    }

    /// Whether what moves the system is said once, wholly, and in one way.
    pub(crate) fn finish_dynamics(&mut self) {
        let energy = &self.draft.dynamics.energy;
        let span = |part: Option<(Option<Expr>, Span)>| part.map(|(_, span)| span);
        let (l, t) = (span(energy.lagrangian), span(energy.kinetic));
        let (v, equation) = (span(energy.potential), energy.equation);
        if let (Some(first), Some(second)) = (l, t.or(v)) {
            let message = "the lagrangian is given in two ways";
            let diagnostic = Diagnostic::error("E0404", second, message.into())
                .with_hint("write either `lagrangian`, or `kinetic` and `potential`")
                .with_note(first, "the other way is here".into());
            self.report(diagnostic);
        }
        if let (Some(other), Some(first)) = (l.or(t).or(v), equation) {
            let message = "a model has either a `lagrangian` or `equation` lines, not both";
            let diagnostic = Diagnostic::error("E0405", first, message.into())
                .with_note(other, "the lagrangian is here".into());
            self.report(diagnostic);
        }
        if let (None, None, Some(potential)) = (l, t, v)
            && !self.draft.faulty
        {
            let message = "a potential alone moves nothing: there is no kinetic energy";
            self.error_hint("E0404", potential, message.into(), "add `kinetic …`");
        }
        let end = self.source.text().len() as u32;
        if self.draft.faulty {
            return;
        }
        if self.draft.coordinates.is_empty() && !self.has_poison() {
            let message = "the model has no coordinates";
            self.error_hint("E0406", Span::empty(end), message.into(), "add `coordinates x`");
        }
        if l.or(t).or(v).or(equation).is_none() {
            let message = "the model has no lagrangian";
            let hint = "add `lagrangian …`, or `kinetic …` and `potential …`, or `equation …`";
            self.error_hint("E0406", Span::empty(end), message.into(), hint);
        }
        if let Some(first) = equation {
            self.finish_equations(first);
        }
    }

    /// Whether a declaration had a mistake.
    fn has_poison(&self) -> bool {
        let mut names = self.scope.names();
        names.any(|n| self.scope.get(n).is_some_and(|e| matches!(e.meaning, Meaning::Poison)))
    }

    fn finish_equations(&mut self, first: Span) {
        let (n, m) = (self.draft.coordinates.len(), self.draft.dynamics.equations.len());
        let sound = self.diagnostics.iter().all(|d| d.severity < crate::Severity::Error);
        if n != m && sound {
            let message = format!("there are {m} equations for {n} coordinates");
            self.error_hint("E0405", first, message, "write one equation for each coordinate");
        }
        for (span, what) in [
            self.draft.dynamics.constraints.first().map(|c| (c.span, "constraints")),
            self.draft.dynamics.forces.first().map(|f| (f.span, "forces")),
            self.draft.dynamics.noises.first().map(|n| (n.span, "noise")),
        ]
        .into_iter()
        .flatten()
        {
            let message = format!("{what} cannot be combined with `equation`");
            let hint = "write them into the equations, or give a lagrangian";
            self.error_hint("E0405", span, message, hint);
        }
    }

    pub(crate) fn equation(&mut self, equation: &syntax::Equation, span: Span) {
        self.draft.dynamics.energy.equation.get_or_insert(span);
        let name = equation.name.map(|name| self.own_name(name));
        if let Some(name) = &name {
            self.speak_of(format!("equation `{name}`"));
            let taken = self
                .draft
                .dynamics
                .equations
                .iter()
                .any(|e| e.name == *name || e.name.starts_with(&format!("{name}[")));
            if taken {
                let message = format!("the equation `{name}` is defined twice");
                self.error("E0202", span, message);
            }
        }
        let Some(members) = self.members(0, &equation.slots) else { return };
        let sides = [equation.left, equation.right].map(|id| Site { part: 0, id });
        for indices in &members.indices {
            let value =
                self.with_locals(&members, indices, |e| e.difference(sides, Place::Equation));
            let Some(shape) = value.shape() else { continue };
            for (k, &expr) in value.entries().iter().enumerate() {
                if self.graph.vanishes_modulo_prime(expr) {
                    let message = "the equation always holds, so it determines nothing";
                    self.error("E0407", span, message.into());
                    continue;
                }
                let all: Vec<i64> = [&indices[..], &shape.indices(k)].concat();
                let name = match &name {
                    Some(name) => component_name(name, &all),
                    None => format!("equation {}", self.draft.dynamics.equations.len() + 1),
                };
                self.draft.dynamics.equations.push(Equation { name, expr, span });
            }
        }
    }

    /// left − right
    pub(crate) fn difference(&mut self, sides: [Site; 2], place: Place) -> Value {
        let [left, right] = sides.map(|site| self.read(site, place));
        for (value, site) in [(&left, sides[0]), (&right, sides[1])] {
            if value.shape().is_none() && !value.is_poison() {
                let message = format!("a side of an equation cannot be {}", value.describe());
                self.error("E0303", self.span(site), message);
                return Value::Poison;
            }
        }
        if left.is_poison() || right.is_poison() {
            return Value::Poison;
        }
        if let Ok(value) = algebra::add(self.graph, &left, &right, true) {
            value
        } else {
            let span = self.span(sides[0]).to(self.span(sides[1]));
            let (a, b) = (left.describe(), right.describe());
            self.error(
                "E0301",
                span,
                format!("the left side is {a}, but the right side is {b}"),
            )
        }
    }

    pub(crate) fn force(&mut self, force: &syntax::Force, span: Span) {
        let site = Site { part: 0, id: force.value };
        let (name, made) = match &force.on {
            ForceTarget::Coordinate { name, slots } => {
                let text = self.own_name(*name);
                self.speak_of(format!("the force on `{text}`"));
                let made = self.force_on(&text, name.span, slots, site);
                let indices = match slots[..] {
                    [] => String::new(),
                    _ => self.slots_text(span, name.span),
                };
                (format!("force {text}{indices}"), made.map(|q| (q, ForceOrigin::Components)))
            }
            ForceTarget::Point(point) => {
                let point = Site { part: 0, id: *point };
                let name = format!("force at {}", self.text(point));
                (name, self.force_at(point, site))
            }
            ForceTarget::Density { point, name, body } => {
                let point = Site { part: 0, id: *point };
                let text = format!("force density at {}", self.text(point));
                (text, self.force_density(point, *name, *body, site))
            }
        };
        if let Some((components, origin)) = made {
            let activity = self.activity(&force.condition).unwrap_or_default();
            let place = self.draft.dynamics.forces.len();
            self.add_force(Force { name, components, origin, span });
            self.draft.hybrid.forces.resize(place, Activity::default());
            self.draft.hybrid.forces.push(activity);
        }
    }

    /// `noise x: sigma`, one process for each component.
    pub(crate) fn noise(&mut self, noise: &syntax::Noise, span: Span) {
        let text = self.own_name(noise.name);
        self.speak_of(format!("the noise on `{text}`"));
        let site = Site { part: 0, id: noise.value };
        let Some(strengths) = self.force_on(&text, noise.name.span, &noise.slots, site) else {
            return;
        };
        if strengths.iter().any(|&e| self.graph.has_memory(e)) {
            let message = "the strength of noise cannot contain memory".into();
            self.error("E0451", span, message);
            return;
        }
        for (coordinate, &strength) in strengths.iter().enumerate() {
            if strength != self.graph.zero() {
                self.draft.dynamics.noises.push(Noise { coordinate, strength, span });
            }
        }
    }

    /// Adds a force, unless `applied(x)` has summed them already.
    fn add_force(&mut self, force: Force) {
        if let Some(first) = self.draft.dynamics.applied {
            let message = "this force comes after `applied`, whose sum would leave it out";
            let diagnostic = Diagnostic::error("E0411", force.span, message.into())
                .with_hint("write all forces above the first `applied(x)`")
                .with_note(first, "the forces above are summed here".into());
            self.report(diagnostic);
        }
        self.draft.dynamics.forces.push(force);
    }

    /// `[…]` after the name of a target, as written.
    fn slots_text(&self, statement: Span, name: Span) -> String {
        let rest = self.source.slice(Span::new(name.end, statement.end));
        rest.find(']').map_or_else(String::new, |end| rest[..=end].to_owned())
    }

    fn force_on(
        &mut self,
        name: &str,
        span: Span,
        slots: &[Slot],
        site: Site,
    ) -> Option<Vec<Expr>> {
        let group = self.coordinate_group(name, span)?;
        if self.draft.coordinates.get(group.first).is_some_and(|c| c.is_state) {
            let message = format!("`{name}` has no inertia: no force acts on it");
            let hint = format!("write what changes it into `state {name}: …`");
            self.error_hint("E0452", span, message, &hint);
            return None;
        }
        let mut components = vec![self.graph.zero(); self.draft.coordinates.len()];
        if slots.is_empty() {
            let value = self.read(site, Place::Force);
            let shape = group.value.shape()?;
            let what = self.subject();
            let q = self.shaped(&value, shape, site, &what)?;
            components[group.first..group.first + q.len()].copy_from_slice(&q);
            return Some(components);
        }
        let members = self.members(0, slots)?;
        let mut sound = true;
        for indices in &members.indices {
            let Some(offset) = group.offset(indices) else {
                let shape = group.value.describe();
                self.outside_at(span, name, &shape, indices, &group.ranges);
                return None;
            };
            let value = self.with_locals(&members, indices, |e| e.read(site, Place::Force));
            match self.scalar(&value, site, "the force on a component") {
                Some(e) => components[group.first + offset] = e,
                None => sound = false,
            }
        }
        sound.then_some(components)
    }

    /// `force at [X, Y]: [Fx, Fy]`
    fn force_at(&mut self, point: Site, site: Site) -> Option<(Vec<Expr>, ForceOrigin)> {
        let (position, force) = self.point_and_force(point, site)?;
        Some((self.pulled_back(&position, &force), ForceOrigin::Point { position, force }))
    }

    /// $Q_k = F\cdot\partial r/\partial q_k$
    pub(crate) fn pulled_back(&self, position: &[Expr], force: &[Expr]) -> Vec<Expr> {
        let positions: Vec<Expr> = self.draft.coordinates.iter().map(|c| c.position).collect();
        let weighted: Vec<(Expr, Expr)> =
            position.iter().copied().zip(force.iter().copied()).collect();
        self.graph.weighted_gradient(&weighted, &positions)
    }

    /// A point and a force there, of one shape.
    pub(crate) fn point_and_force(
        &mut self,
        point: Site,
        site: Site,
    ) -> Option<(Vec<Expr>, Vec<Expr>)> {
        self.speak_of("the point of a force".into());
        let r = self.read(point, Place::Along);
        self.speak_of("the force".into());
        let force = self.read(site, Place::Force);
        let (r, force) = match (r.shape(), &r) {
            (Some(shape @ Shape::Vector(_)), _) => {
                (r.entries().to_vec(), self.shaped(&force, shape, site, "the force")?)
            }
            (_, Value::Poison) => return None,
            _ => {
                let message =
                    format!("the point of a force must be a vector, not {}", r.describe());
                self.error_hint(
                    "E0301",
                    self.span(point),
                    message,
                    "write `force at [X, Y]: …`",
                );
                return None;
            }
        };
        if self.highest_order(&r) > 0 {
            let message = "the point of a force depends on velocities";
            self.error("E0417", self.span(point), message.into());
            return None;
        }
        Some((r, force))
    }

    /// $Q = -\partial D/\partial\dot q$
    pub(crate) fn dissipation(&mut self, id: ExprId, span: Span) {
        let site = Site { part: 0, id };
        let value = self.read(site, Place::Dissipation);
        let Some(d) = self.scalar(&value, site, "the dissipation") else { return };
        let velocities: Vec<Expr> = self.draft.coordinates.iter().map(|c| c.velocity).collect();
        let gradient = self.graph.gradient(d, &velocities);
        let components = gradient.into_iter().map(|e| self.graph.neg(e)).collect();
        let origin = ForceOrigin::Dissipation(d);
        self.add_force(Force { name: "dissipation".into(), components, origin, span });
    }
}
