//! `state`, `input`, `control` and `mode`, and when statements hold.
//!
//! A `state` is a coordinate without inertia whose rate a constraint gives: its reaction acts on nothing else, so that
//! everything that works for coordinates works for it. What a sampled `control` holds is a state that rests.

use pfaff_expr::{Expr, Relation};

use crate::elaborate::Elaborator;
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Site};
use crate::model::{Activity, Constraint, Equation, Observed, Sampler};
use crate::source::Span;
use crate::syntax::{
    self, Binary, Condition, Control, Name, NodeKind, Statement, StatementKind,
};

impl Elaborator<'_> {
    /// What statements further above may use: states of each other, and a control where its input is declared.
    pub(crate) fn look_ahead(&mut self, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::State(state) => self.draft.hybrid.states.push(state.name),
                StatementKind::Control(control) => {
                    self.draft.hybrid.controls.push((control.clone(), statement.span));
                }
                _ => {}
            }
        }
    }

    /// `state z: expr`
    pub(crate) fn state(&mut self, state: &syntax::State, span: Span) {
        for name in std::mem::take(&mut self.draft.hybrid.states) {
            self.declare_state(name);
        }
        let name = self.own_name(state.name);
        self.speak_of(format!("the rate of `{name}`"));
        let Some(Meaning::Coordinate(group)) = self.scope.get(&name).map(|e| &e.meaning) else {
            return;
        };
        let coordinate = group.first;
        let site = Site { part: 0, id: state.rate };
        let value = self.read(site, Place::Force);
        let Some(rate) = self.scalar(&value, site, "the rate of a state") else { return };
        if self.draft.coordinates.get(coordinate).is_some_and(|c| c.is_state) {
            self.add_rate(coordinate, rate, span);
        }
    }

    /// A coordinate without inertia.
    fn declare_state(&mut self, name: Name) -> Option<usize> {
        let text = self.own_name(name);
        if !self.may_declare(&text, name.span) {
            return None;
        }
        let place = self.draft.coordinates.len();
        self.declare_group(&text, name.span, Vec::new());
        self.draft.coordinates[place].is_state = true;
        Some(place)
    }

    /// The state that an input of this name has declared for its control.
    fn held_state(&self, name: &str) -> Option<usize> {
        let Some(Meaning::Coordinate(group)) = self.scope.get(name).map(|e| &e.meaning) else {
            return None;
        };
        let is_free = |place: &usize| {
            let coordinate = &self.draft.coordinates[*place];
            let rates = self.draft.dynamics.constraints.iter().filter(|c| c.is_rate);
            coordinate.is_state && !rates.into_iter().any(|c| c.name == coordinate.name)
        };
        Some(group.first).filter(is_free)
    }

    /// The equation $\dot z = r$.
    fn add_rate(&mut self, coordinate: usize, rate: Expr, span: Span) {
        let g = self.graph;
        let variable = &self.draft.coordinates[coordinate];
        let name = variable.name.clone();
        let expr = g.sub(variable.velocity, rate);
        // NOTE: without velocities in its rate, the reaction has this direction by itself.
        let along = (self.highest_order(&[rate]) > 0).then(Vec::new);
        let made = Constraint { name, expr, along, word: None, is_rate: true, span };
        self.draft.dynamics.constraints.push(made);
    }

    /// In a model of equations, the rate of a state is one of them.
    pub(crate) fn finish_rates(&mut self) {
        let laws = &mut self.draft.dynamics;
        if laws.energy.equation.is_none() {
            return;
        }
        let (rates, others) = laws.constraints.drain(..).partition(|c| c.is_rate);
        laws.constraints = others;
        let equation = |c: Constraint| Equation { name: c.name, expr: c.expr, span: c.span };
        let rates: Vec<Constraint> = rates;
        laws.equations.extend(rates.into_iter().map(equation));
    }

    /// Gives rates their directions, when all coordinates are known.
    pub(crate) fn finish_states(&mut self) {
        let g = self.graph;
        let coordinates = &self.draft.coordinates;
        for constraint in self.draft.dynamics.constraints.iter_mut().filter(|c| c.is_rate) {
            if let Some(along) = &mut constraint.along {
                let own = |name: &str| if name == constraint.name { g.one() } else { g.zero() };
                *along = coordinates.iter().map(|c| own(&c.name)).collect();
            }
        }
    }

    /// `input u = 0`, `input u: table("u.csv")`
    pub(crate) fn input(&mut self, input: &syntax::Input, span: Span) {
        let name = self.own_name(input.name);
        let arena = self.parts[0].arena.clone();
        let own = |(control, _): &(Control, Span)| arena.name(control.name.symbol) == name;
        if let Some(k) = self.draft.hybrid.controls.iter().position(own) {
            if self.draft.hybrid.controls[k].0.every.is_some() {
                // What holds it is there from here on; the law is read where it stands.
                self.declare_state(input.name);
                return;
            }
            let (control, at) = self.draft.hybrid.controls.remove(k);
            self.law(&control, at);
            return;
        }
        self.speak_of(format!("the input `{name}`"));
        if !input.is_function {
            let value = Some(input.value);
            let first = self.draft.parameters.len();
            self.parameters(&[syntax::Parameter { name: input.name, value }]);
            self.draft.hybrid.inputs.extend(first..self.draft.parameters.len());
            return;
        }
        let site = Site { part: 0, id: input.value };
        let value = self.read(site, Place::Force);
        let Some(expr) = self.scalar(&value, site, "an input") else { return };
        if self.content(expr).moves {
            let message = format!("the input `{name}` depends on the motion");
            let hint = format!("write `control {name} = …`");
            self.error_hint("E0452", self.span(site), message, &hint);
            return;
        }
        self.declare_signal(input.name, expr, span);
    }

    /// A name for an expression, which is an output as well.
    fn declare_signal(&mut self, name: Name, expr: Expr, span: Span) {
        let text = self.own_name(name);
        if !self.may_declare(&text, name.span) {
            return;
        }
        let value = crate::shape::Value::Scalar(expr);
        let order = self.highest_order(&[expr]);
        self.scope.insert(&text, Meaning::Let(value, order), name.span);
        self.draft.abbreviations.push((text.clone(), expr));
        self.draft.outputs.observed.push(Observed { name: text, expr, span });
    }

    /// `control u = expr every 0.01`, unless it was read where its input is declared.
    pub(crate) fn control(&mut self, control: &Control, span: Span) {
        let known = |(_, at): &(Control, Span)| *at == span;
        if let Some(k) = self.draft.hybrid.controls.iter().position(known) {
            self.draft.hybrid.controls.remove(k);
            self.law(control, span);
        }
    }

    fn law(&mut self, control: &Control, span: Span) {
        let name = self.own_name(control.name);
        self.speak_of(format!("the control `{name}`"));
        let held = match control.every {
            Some(every) => {
                let period = self.period(&name, every);
                self.held_state(&name).or_else(|| self.declare_state(control.name)).zip(period)
            }
            None => None,
        };
        self.speak_of(format!("the control `{name}`"));
        let site = Site { part: 0, id: control.value };
        let value = self.read(site, Place::Force);
        let Some(law) = self.scalar(&value, site, "a control") else { return };
        if control.every.is_none() {
            self.declare_signal(control.name, law, span);
        } else if let Some((coordinate, period)) = held {
            self.add_rate(coordinate, self.graph.zero(), span);
            self.draft.hybrid.samplers.push(Sampler { coordinate, law, period, span });
        }
    }

    /// The time between samples.
    fn period(&mut self, name: &str, every: syntax::ExprId) -> Option<f64> {
        let site = Site { part: 0, id: every };
        self.speak_of("the time between samples".into());
        let value = self.read(site, Place::Setting);
        let what = self.subject();
        let period = self.constant_value(&value, site, &what)?.value;
        if period.is_finite() && period > 0.0 {
            return Some(period);
        }
        let message =
            format!("the time between samples of `{name}` must be positive, not {period}");
        let hint = "without `every` the control acts all the time";
        self.error_hint("E0452", self.span(site), message, hint);
        None
    }

    /// `mode stance, flight`
    pub(crate) fn modes(&mut self, names: &[Name]) {
        for &name in names {
            let text = self.own_name(name);
            if self.may_declare(&text, name.span) {
                let place = self.draft.hybrid.modes.len();
                self.scope.insert(&text, Meaning::Mode(place), name.span);
                self.draft.hybrid.modes.push(text);
            }
        }
    }

    /// The mode of a name, or a report.
    pub(crate) fn mode_named(&mut self, name: &str, span: Span) -> Option<usize> {
        match self.scope.get(name).map(|entry| &entry.meaning) {
            Some(Meaning::Mode(place)) => Some(*place),
            Some(Meaning::Poison) => None,
            _ => {
                let modes: Vec<&str> =
                    self.draft.hybrid.modes.iter().map(String::as_str).collect();
                let message = format!("there is no mode `{name}`");
                let hint = match crate::diagnostic::closest(name, &modes) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None if modes.is_empty() => "declare modes with `mode a, b`".to_owned(),
                    None => format!("the modes are {}", modes.join(", ")),
                };
                self.error_hint("E0453", span, message, &hint);
                None
            }
        }
    }

    /// When a statement holds; `None` after a report.
    pub(crate) fn activity(&mut self, condition: &Condition) -> Option<Activity> {
        let mut modes = Vec::with_capacity(condition.modes.len());
        for &name in &condition.modes {
            let text = self.own_name(name);
            modes.push(self.mode_named(&text, name.span)?);
        }
        let when = match condition.when {
            Some(id) => Some(self.condition(Site { part: 0, id })?),
            None => None,
        };
        Some(Activity { modes, when })
    }

    /// A condition of comparisons.
    fn condition(&mut self, site: Site) -> Option<Expr> {
        let g = self.graph;
        let NodeKind::Binary { operator, left, right } = self.kind(site) else {
            return self.refuse_condition(site);
        };
        let [left, right] = [left, right].map(|id| Site { id, ..site });
        match operator {
            Binary::And | Binary::Or => {
                let (a, b) = (self.condition(left)?, self.condition(right)?);
                Some(match operator {
                    Binary::And => g.logic_and(a, b),
                    _ => g.logic_or(a, b),
                })
            }
            Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast => {
                let [a, b] = [left, right].map(|side| {
                    let value = self.read(side, Place::Event);
                    self.scalar(&value, side, "a side of a comparison")
                });
                let (a, b) = (a?, b?);
                let is_less = matches!(operator, Binary::Less | Binary::AtMost);
                let (low, high) = if is_less { (a, b) } else { (b, a) };
                let relation = match operator {
                    Binary::Less | Binary::Greater => Relation::Less,
                    _ => Relation::LessEqual,
                };
                Some(g.compare(relation, low, high))
            }
            _ => self.refuse_condition(site),
        }
    }

    fn refuse_condition(&mut self, site: Site) -> Option<Expr> {
        let message = "`when` takes comparisons";
        let hint = "write `when x > 0`, or several with `and` and `or`";
        self.error_hint("E0453", self.span(site), message.into(), hint);
        None
    }
}
