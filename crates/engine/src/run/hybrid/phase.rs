//! The phases of a motion: each is a smooth model with the constraints and forces that hold in it.
//!
//! | what | in a phase | ends where |
//! |---|---|---|
//! | contact, open | nothing | its gap closes: an impact |
//! | contact, sliding | $g = 0$ along $\partial_q g - s\mu\,\partial_{\dot q}\sigma$ | $\lambda = 0$, or $\sigma = 0$ |
//! | contact, held | $g = 0$ and $\sigma = 0$ | $\lambda = 0$, or $\lvert\lambda_\sigma\rvert = \mu\lambda$ |
//! | switching function $u$, not left | $u = 0$ along $\partial_s Q$, with $\lambda = s$ | $\lvert\lambda\rvert = 1$ |
//! | `constraint … when h` | as written | $h = 0$ |
//! | `… in a` | as written | the mode changes |

use std::rc::Rc;

use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::LagrangianData;
use pfaff_model::{
    Constraint, Contact, Direction, Event, Parameter, Principle, Span, Workspace,
};
use pfaff_program::Backend;
use pfaff_solver::ContactState;

use crate::derivation::derive_in;
use crate::error::Failure;
use crate::problem::branches::Branches;
use crate::system::compiled::Dynamics;
use crate::system::contact::ContactSolver;

/// What holds from a moment on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Discrete {
    pub(super) mode: usize,
    /// For each contact.
    pub(super) contacts: Vec<ContactState>,
    /// For each switching function: 0 where the motion stays at it.
    pub(super) signs: Vec<f64>,
    /// For each constraint: whether its condition holds.
    pub(super) conditions: Vec<bool>,
    /// The values of the model's own parameters.
    pub(super) parameters: Vec<f64>,
}

/// What decides about the equations of a phase, apart from the values of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    mode: usize,
    contacts: Vec<u8>,
    held: Vec<bool>,
    conditions: Vec<bool>,
}

impl Discrete {
    fn key(&self) -> Key {
        let kind = |state: &ContactState| match state {
            ContactState::Open => 0,
            ContactState::Slip(_) => 1,
            ContactState::Stick => 2,
        };
        Key {
            mode: self.mode,
            contacts: self.contacts.iter().map(kind).collect(),
            held: self.signs.iter().map(|&sign| sign == 0.0).collect(),
            conditions: self.conditions.clone(),
        }
    }

    /// The same without contacts.
    pub(super) fn without_contacts(&self) -> Self {
        let contacts = vec![ContactState::Open; self.contacts.len()];
        Self { contacts, ..self.clone() }
    }
}

/// Why a phase ends by an event that is not one of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Switch {
    /// A switching function leaves its sign.
    Branch(usize),
    /// A contact lets go.
    Lift(usize),
    /// Friction cannot hold a contact any longer, which slides with this sign.
    Break(usize, f64),
    /// A contact comes to rest along itself.
    Halt(usize),
    /// The motion leaves a switching function with this sign.
    Leave(usize, f64),
    /// The condition of a constraint ends.
    Drop(usize),
    /// A constraint may begin to hold.
    Grip(usize),
}

/// A smooth model.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) model: Workspace,
    pub(super) dynamics: Dynamics,
    pub(super) lagrangian: Option<LagrangianData>,
    /// The place of each constraint among all of [`Phases::names`]; none for what has no name.
    pub(super) places: Vec<Option<usize>>,
    /// What the events after those of the model mean.
    pub(super) switches: Vec<Switch>,
}

/// All phases of a model.
pub(super) struct Phases {
    /// The model with all its constraints and forces, its branches fixed.
    pub(super) branches: Branches,
    /// How many events and parameters the model has of its own.
    pub(super) own_events: usize,
    own_parameters: usize,
    /// The multipliers that are given out: of all constraints, contacts, and frictions that hold.
    pub(super) names: Vec<String>,
    principle: Option<Principle>,
    pub(super) backend: Backend,
    span: f64,
    /// With which force a contact that lets go would pull: more than rounding.
    pub(super) margin: f64,
    known: Vec<(Key, Phase)>,
    solvers: Vec<(Key, Option<ContactSolver>)>,
}

impl Phases {
    pub(super) fn new(
        model: &Workspace,
        principle: Option<Principle>,
        backend: Backend,
        span: f64,
    ) -> Self {
        let mut whole = model.clone();
        whole.constraints = model.hybrid.constraints.iter().map(|(c, _)| c.clone()).collect();
        whole.forces = model.hybrid.forces.iter().map(|(f, _)| f.clone()).collect();
        let branches = Branches::of(&whole).unwrap_or_else(|| Branches::none(whole));
        let constraints = branches.model.constraints.iter().map(|c| c.name.clone());
        let contacts = &model.hybrid.contacts;
        let rubbing = contacts.iter().filter(|c| c.slip.is_some()).map(friction_name);
        let names = constraints.chain(contacts.iter().map(|c| c.name.clone())).chain(rubbing);
        Self {
            names: names.collect(),
            branches,
            own_events: model.events.len(),
            own_parameters: model.parameters.len(),
            principle,
            backend,
            span,
            margin: 0.0,
            known: Vec::new(),
            solvers: Vec::new(),
        }
    }

    /// What holds before anything is known.
    pub(super) fn first(&self) -> Discrete {
        let model = &self.branches.model;
        Discrete {
            mode: 0,
            contacts: vec![ContactState::Open; model.hybrid.contacts.len()],
            signs: vec![1.0; self.branches.functions.len()],
            conditions: vec![false; model.constraints.len()],
            parameters: model.parameters[..self.own_parameters]
                .iter()
                .map(|p| p.value)
                .collect(),
        }
    }

    /// The phase of what holds, with its values.
    pub(super) fn phase(&mut self, now: &Discrete) -> Result<Phase, Failure> {
        let key = now.key();
        if !self.known.iter().any(|(known, _)| *known == key) {
            let phase = self.made(now)?;
            self.known.push((key.clone(), phase));
        }
        let found = self.known.iter().find(|(known, _)| *known == key);
        let mut phase = found.expect("it was made").1.clone();
        self.set(&mut phase.model, now);
        let values = phase.model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        phase.lagrangian = phase.lagrangian.map(|l| l.with_parameters(values));
        for (event, switch) in
            phase.model.events[self.own_events..].iter_mut().zip(&phase.switches)
        {
            let sign = match switch {
                Switch::Branch(k) => now.signs[*k],
                Switch::Halt(k) => match now.contacts[*k] {
                    ContactState::Slip(sign) => sign,
                    ContactState::Open | ContactState::Stick => 1.0,
                },
                _ => continue,
            };
            event.direction = if sign > 0.0 { Direction::Falling } else { Direction::Rising };
        }
        Ok(phase)
    }

    /// The contacts of what holds, with its values.
    pub(super) fn solver(&mut self, now: &Discrete) -> Result<Option<ContactSolver>, Failure> {
        let bare = now.without_contacts();
        let key = bare.key();
        let contacts = &self.branches.model.hybrid.contacts;
        let is_in = |c: &Contact| c.modes.is_empty() || c.modes.contains(&now.mode);
        let active: Vec<usize> = (0..contacts.len()).filter(|&k| is_in(&contacts[k])).collect();
        if active.is_empty() {
            return Ok(None);
        }
        // NOTE: values of parameters are part of what is compiled.
        let is_fixed = bare.signs.is_empty() && bare.parameters == self.first().parameters;
        if let Some((_, solver)) =
            self.solvers.iter().find(|(known, _)| is_fixed && *known == key)
        {
            return Ok(solver.clone());
        }
        let phase = self.phase(&bare)?;
        let (span, backend) = (self.span, self.backend);
        let Dynamics::Saddle(equations) = &phase.dynamics else { return Ok(None) };
        let solver = ContactSolver::new(&phase.model, equations, &active, span, backend)?;
        if is_fixed {
            self.solvers.push((key, solver.clone()));
        }
        Ok(solver)
    }

    /// Writes values into a model.
    fn set(&self, model: &mut Workspace, now: &Discrete) {
        let contacts = now.contacts.iter().zip(&model.hybrid.contacts);
        let slips: Vec<(String, f64)> = contacts
            .filter_map(|(state, contact)| match state {
                ContactState::Slip(sign) => Some((slip_name(contact), *sign)),
                ContactState::Open | ContactState::Stick => None,
            })
            .collect();
        let own = now.parameters.iter().chain(&now.signs);
        let count = now.parameters.len() + now.signs.len();
        for (parameter, value) in model.parameters.iter_mut().zip(own) {
            parameter.value = *value;
        }
        for parameter in &mut model.parameters[count..] {
            if let Some((_, sign)) = slips.iter().find(|(name, _)| *name == parameter.name) {
                parameter.value = *sign;
            } else if parameter.name == MARGIN {
                parameter.value = self.margin;
            }
        }
    }

    /// Makes the model of a phase, and derives its equations.
    fn made(&self, now: &Discrete) -> Result<Phase, Failure> {
        let mut model = self.branches.model.clone();
        let graph = Rc::new(std::mem::replace(&mut model.graph, Graph::new()));
        let mut making = Making {
            model,
            graph: Rc::clone(&graph),
            now,
            own_events: self.own_events,
            places: Vec::new(),
            switches: Vec::new(),
        };
        making.statements();
        making.contacts();
        making.held(&self.branches);
        making.conditions();
        making.events();
        making.results(&self.names);
        let Making { mut model, places, switches, graph: copy, .. } = making;
        drop(copy);
        model.graph = Rc::into_inner(graph).expect("nothing else holds the graph");
        let dynamics = derive_in(&model, self.principle)?;
        let lagrangian = match self.principle.unwrap_or(model.principle) {
            Principle::Chetaev => LagrangianData::of(&model),
            Principle::Vakonomic | Principle::Restricted => None,
        };
        Ok(Phase { model, dynamics, lagrangian, places, switches })
    }
}

/// What the margin of contacts that let go is called.
const MARGIN: &str = "margin of contacts";

/// What the multiplier of friction that holds is called.
pub(super) fn friction_name(contact: &Contact) -> String {
    format!("friction({})", contact.name)
}

/// What the sign of sliding is called.
fn slip_name(contact: &Contact) -> String {
    format!("slip({})", contact.name)
}

/// A phase that is being made.
struct Making<'a> {
    model: Workspace,
    /// Its graph, as long as it is made.
    graph: Rc<Graph>,
    now: &'a Discrete,
    own_events: usize,
    places: Vec<Option<usize>>,
    switches: Vec<Switch>,
}

impl Making<'_> {
    /// Constraints and forces as they are written.
    fn statements(&mut self) {
        let hybrid = self.model.hybrid.clone();
        let holds = |i: usize| {
            let activity = &hybrid.constraints[i].1;
            activity.is_in(self.now.mode) && (activity.when.is_none() || self.now.conditions[i])
        };
        self.places = (0..hybrid.constraints.len()).filter(|&i| holds(i)).map(Some).collect();
        let mut index = 0..;
        self.model.constraints.retain(|_| index.next().is_some_and(holds));
        let mut activities = hybrid.forces.iter();
        let mode = self.now.mode;
        self.model.forces.retain(|_| activities.next().is_some_and(|(_, a)| a.is_in(mode)));
    }

    fn constrain(&mut self, constraint: Constraint, place: Option<usize>) {
        self.model.constraints.push(constraint);
        self.places.push(place);
    }

    /// An event that only ends the phase.
    fn switch(&mut self, switch: Switch, expr: Expr, direction: Direction) {
        let name = format!("switch {}", self.switches.len() + 1);
        self.switches.push(switch);
        let span = Span::default();
        self.model.events.push(Event { name, expr, direction, stop: true, span });
    }

    /// A further parameter.
    fn parameter(&mut self, name: &str) -> Expr {
        let symbol = self.graph.symbol(name, Role::Parameter);
        self.model.parameters.push(Parameter {
            name: name.to_owned(),
            symbol,
            value: 1.0,
            definition: None,
            span: Span::default(),
        });
        symbol
    }

    /// What contacts that carry add.
    fn contacts(&mut self) {
        let hybrid = self.model.hybrid.clone();
        let first = hybrid.constraints.len();
        let mut rubbing = first + hybrid.contacts.len();
        let g = Rc::clone(&self.graph);
        let margin = self.parameter(MARGIN);
        for (k, contact) in hybrid.contacts.iter().enumerate() {
            let place = rubbing;
            rubbing += usize::from(contact.slip.is_some());
            let state = self.now.contacts[k];
            if state == ContactState::Open {
                continue;
            }
            let slip = contact.slip.unwrap_or(g.zero());
            let along = match state {
                ContactState::Slip(_) if contact.slip.is_some() => {
                    let sign = self.parameter(&slip_name(contact));
                    let normal = g.gradient(contact.gap, &self.model.positions());
                    let tangent = g.gradient(slip, &self.model.velocities());
                    let part = g.mul(sign, contact.friction);
                    let tilted = |(n, t): (&Expr, &Expr)| g.sub(*n, g.mul(part, *t));
                    Some(normal.iter().zip(&tangent).map(tilted).collect())
                }
                ContactState::Slip(_) | ContactState::Stick | ContactState::Open => None,
            };
            let constraint = |name: String, expr, along| Constraint {
                name,
                expr,
                along,
                word: None,
                is_rate: false,
                span: contact.span,
            };
            self.constrain(
                constraint(contact.name.clone(), contact.gap, along),
                Some(first + k),
            );
            let carried = g.symbol(&format!("lambda({})", contact.name), Role::Free);
            self.switch(Switch::Lift(k), g.add(carried, margin), Direction::Falling);
            if state == ContactState::Stick {
                let name = friction_name(contact);
                let held = g.symbol(&format!("lambda({name})"), Role::Free);
                self.constrain(constraint(name, slip, None), Some(place));
                let most = g.mul(contact.holding, carried);
                // Friction acts against the slip that it prevents.
                let (above, below) = (g.sub(most, held), g.add(most, held));
                self.switch(Switch::Break(k, -1.0), above, Direction::Falling);
                self.switch(Switch::Break(k, 1.0), below, Direction::Falling);
            } else if contact.slip.is_some() {
                self.switch(Switch::Halt(k), slip, Direction::Falling);
            }
        }
    }

    /// What keeps the motion at switching functions.
    fn held(&mut self, branches: &Branches) {
        let g = Rc::clone(&self.graph);
        let symbols: Vec<Expr> = branches.symbols().collect();
        for (k, &function) in branches.functions.iter().enumerate() {
            if self.now.signs[k] != 0.0 {
                continue;
            }
            let total = |i: usize| g.sum(self.model.forces.iter().map(|f| f.components[i]));
            let n = self.model.coordinates.len();
            let along = (0..n).map(|i| g.derivative(total(i), symbols[k])).collect();
            let name = format!("held {}", k + 1);
            let multiplier = g.symbol(&format!("lambda({name})"), Role::Free);
            let span = Span::default();
            self.constrain(
                Constraint {
                    name,
                    expr: function,
                    along: Some(along),
                    word: None,
                    is_rate: false,
                    span,
                },
                None,
            );
            let (above, below) = (g.sub(g.one(), multiplier), g.add(g.one(), multiplier));
            self.switch(Switch::Leave(k, 1.0), above, Direction::Falling);
            self.switch(Switch::Leave(k, -1.0), below, Direction::Falling);
        }
    }

    /// Where conditional constraints may begin and end.
    fn conditions(&mut self) {
        let hybrid = self.model.hybrid.clone();
        let g = Rc::clone(&self.graph);
        for (i, (constraint, activity)) in hybrid.constraints.iter().enumerate() {
            let Some(when) = activity.when.filter(|_| activity.is_in(self.now.mode)) else {
                continue;
            };
            if self.now.conditions[i] {
                self.switch(Switch::Drop(i), when, Direction::Falling);
            } else if g.contains(when, &[own_multiplier(&g, constraint)]) {
                self.switch(Switch::Grip(i), constraint.expr, Direction::Both);
            } else {
                self.switch(Switch::Grip(i), when, Direction::Rising);
            }
        }
    }

    /// Takes away what does not count, and moves the switching functions of branches behind the model's own events.
    fn events(&mut self) {
        let one = self.graph.one();
        let hybrid = self.model.hybrid.clone();
        let mode = self.now.mode;
        for (event, modes) in self.model.events.iter_mut().zip(&hybrid.event_modes) {
            if !modes.is_empty() && !modes.contains(&mode) {
                event.expr = one;
            }
        }
        for (k, contact) in hybrid.contacts.iter().enumerate() {
            if self.now.contacts[k] != ContactState::Open {
                self.model.events[contact.event].expr = one;
            }
        }
        let branches = self.now.signs.len();
        for (k, sign) in self.now.signs.iter().enumerate() {
            if *sign == 0.0 {
                self.model.events[self.own_events + k].expr = one;
            }
        }
        let own: Vec<Switch> = (0..branches).map(Switch::Branch).collect();
        self.switches.splice(0..0, own);
    }

    /// The symbols of multipliers; what is not there is zero.
    fn results(&mut self, names: &[String]) {
        let g = Rc::clone(&self.graph);
        let lambda = |name: &str| g.symbol(&format!("lambda({name})"), Role::Free);
        let there: Vec<Expr> = self.model.constraints.iter().map(|c| lambda(&c.name)).collect();
        let absent: Vec<(Expr, Expr)> = names
            .iter()
            .map(|name| (lambda(name), g.zero()))
            .filter(|(symbol, _)| !there.contains(symbol))
            .collect();
        let put = |e: &mut Expr| {
            if !absent.is_empty() {
                *e = g.substitute(&[*e], &absent)[0];
            }
        };
        let model = &mut self.model;
        model.observed.iter_mut().for_each(|o| put(&mut o.expr));
        model.events.iter_mut().for_each(|e| put(&mut e.expr));
        for reset in &mut model.resets {
            reset.values.iter_mut().for_each(|(_, e)| put(e));
            reset.parameters.iter_mut().for_each(|(_, e)| put(e));
        }
        let of = |order: u8| {
            let symbol = |c: &Constraint| g.symbol(&c.name, Role::Multiplier { order });
            model.constraints.iter().map(symbol).collect::<Vec<_>>()
        };
        let (mu, mu_rate) = (of(0), of(1));
        model.results.lambda = there;
        (model.results.mu, model.results.mu_rate) = (mu, mu_rate);
    }
}

/// $\lambda$ of a constraint.
pub(super) fn own_multiplier(g: &Graph, constraint: &Constraint) -> Expr {
    g.symbol(&format!("lambda({})", constraint.name), Role::Free)
}
