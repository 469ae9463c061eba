//! The phases of a motion: each is a smooth model with the constraints and forces that hold in it.
//!
//! | what | in a phase | ends where |
//! |---|---|---|
//! | contact, open | nothing | its gap closes: an impact |
//! | contact, sliding | $g = 0$ along $g_q - \mu s\cdot\sigma_{\dot q}$ | $\lambda = 0$, $\sigma = 0$ |
//! | contact, held | $g = 0$ and $\sigma = 0$ | $\lambda = 0$, or $\lvert\lambda_\sigma\rvert = \mu\lambda$ |
//! | switching function $u$, not left | $u = 0$ along $\partial_s Q$, with $\lambda = s$ | $\lvert\lambda\rvert = 1$ |
//! | the same without inertia | a mean of both branches (`filippov.rs`) | it is one of them |
//! | `constraint … when h` | as written | $h = 0$ |
//! | `… in a` | as written | the mode changes |
//!
//! What contacts add is in `friction.rs`.

use std::rc::Rc;

use pfaff_expr::{Expr, Graph, Node, Role};
use pfaff_mechanics::LagrangianData;
use pfaff_model::{
    Constraint, Contact, Direction, Event, Joint, Parameter, Principle, Span, Workspace,
};
use pfaff_program::Backend;
use pfaff_solver::{ContactState, Rubbing};

use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::side::Side;
use crate::problem::branches::Branches;
use crate::run::hybrid::condition_function::function;
use crate::run::hybrid::joints;
use crate::system::compiled::Dynamics;
use crate::system::contact::{ContactSolver, Slowness};

/// What holds from a moment on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Discrete {
    pub(super) mode: usize,
    /// For each contact.
    pub(super) contacts: Vec<ContactState>,
    /// For each switching function.
    pub(super) signs: Vec<Side>,
    /// For each constraint: whether its condition holds.
    pub(super) conditions: Vec<bool>,
    /// The values of the model's own parameters.
    pub(super) parameters: Vec<f64>,
}

/// What decides about the equations of a phase, apart from the values of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    mode: usize,
    contacts: Vec<Vec<usize>>,
    held: Vec<bool>,
    conditions: Vec<bool>,
}

impl Discrete {
    fn key(&self) -> Key {
        let kind = |state: &ContactState| match state {
            ContactState::Open => vec![0],
            ContactState::Idle => vec![2],
            ContactState::Closed(rubbing) => {
                let one = |rubs: &Rubbing| match rubs {
                    Rubbing::Slip(_) => 0,
                    Rubbing::Stick => 1,
                    Rubbing::Follow(None) => 2,
                    Rubbing::Follow(Some((leader, _))) => 3 + leader,
                };
                [1].into_iter().chain(rubbing.iter().map(one)).collect()
            }
        };
        Key {
            mode: self.mode,
            contacts: self.contacts.iter().map(kind).collect(),
            held: self.signs.iter().map(|&side| side == Side::Held).collect(),
            conditions: self.conditions.clone(),
        }
    }

    /// The same without contacts.
    pub(super) fn without_contacts(&self) -> Self {
        let contacts = vec![ContactState::Open; self.contacts.len()];
        Self { contacts, ..self.clone() }
    }
}

/// Whether constraints contain what jumps at a switch: branches, parameters that an event sets, delayed values. `own`
/// parameters are those of the text.
pub(super) fn constraints_jump(model: &Workspace, own: usize, branches: &Branches) -> bool {
    let set = model.resets.iter().flat_map(|reset| &reset.parameters);
    let mut symbols: Vec<Expr> =
        set.map(|(place, _)| model.parameters[*place].symbol).collect();
    symbols.extend(model.parameters[own..].iter().map(|p| p.symbol));
    symbols.extend(branches.symbols());
    let fixed = &branches.model;
    fixed.constraints.iter().any(|c| fixed.graph.contains(c.expr, &symbols))
}

/// Whether branches stand in constraints.
pub(super) fn constraints_switch(branches: &Branches) -> bool {
    let symbols: Vec<Expr> = branches.symbols().collect();
    let fixed = &branches.model;
    fixed.constraints.iter().any(|c| fixed.graph.contains(c.expr, &symbols))
}

/// Why a phase ends by an event that is not one of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Switch {
    /// A switching function leaves its sign.
    Branch(usize),
    /// A contact lets go.
    Lift(usize),
    /// A friction of a contact cannot hold it any longer, so that it slides: with this sign along a line.
    Break(usize, usize, Option<f64>),
    /// A friction of a contact comes to rest.
    Halt(usize, usize),
    /// A contact that others kept closed is not kept closed any longer, or slip in a plane has a direction by itself.
    Stir,
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
    /// Friction of what slides: its place among [`Phases::names`], and its value.
    pub(super) sliding: Vec<(usize, Expr)>,
}

/// How a friction in a plane slides from a moment on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sliding {
    pub(super) contact: usize,
    pub(super) friction: usize,
    /// What is added to the slip, so that it has a direction where it begins.
    pub(super) offset: [f64; 2],
    pub(super) slowness: Slowness,
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
    /// Where those of joints begin.
    first_joint: usize,
    principle: Option<Principle>,
    pub(super) backend: Backend,
    span: f64,
    /// With which force a contact that lets go would pull: more than rounding.
    pub(super) margin: f64,
    /// How frictions in planes slide.
    pub(super) sliding: Vec<Sliding>,
    /// Contacts that others keep closed, and by how much their gaps may vary.
    pub(super) idle: Vec<(usize, f64)>,
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
        joints::add_forces(&mut whole);
        whole.forces = whole.hybrid.forces.iter().map(|(f, _)| f.clone()).collect();
        let branches = Branches::of(&whole).unwrap_or_else(|| Branches::none(whole));
        let constraints = branches.model.constraints.iter().map(|c| c.name.clone());
        let contacts = &model.hybrid.contacts;
        let rubbing =
            contacts.iter().flat_map(|c| c.frictions.iter().flat_map(|f| c.friction_names(f)));
        let names = constraints.chain(contacts.iter().map(|c| c.name.clone())).chain(rubbing);
        let mut names: Vec<String> = names.collect();
        let first_joint = names.len();
        names.extend(model.hybrid.joints.iter().map(Joint::friction_name));
        Self {
            names,
            first_joint,
            branches,
            own_events: model.events.len(),
            own_parameters: model.parameters.len(),
            principle,
            backend,
            span,
            margin: 0.0,
            sliding: Vec::new(),
            idle: Vec::new(),
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
            signs: vec![Side::Above; self.branches.functions.len()],
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
            let side = match switch {
                Switch::Branch(k) => now.signs[*k],
                Switch::Halt(k, f) if !self.is_plane(*k, *f) => match &now.contacts[*k] {
                    ContactState::Closed(rubbing) => match rubbing[*f] {
                        Rubbing::Slip(direction) => Side::of(direction[0]),
                        Rubbing::Stick | Rubbing::Follow(_) => Side::Above,
                    },
                    ContactState::Open | ContactState::Idle => Side::Above,
                },
                _ => continue,
            };
            event.direction = side.leaving();
        }
        Ok(phase)
    }

    /// Whether a friction acts in a plane.
    pub(super) fn is_plane(&self, contact: usize, friction: usize) -> bool {
        self.branches.model.hybrid.contacts[contact].frictions[friction].rates.len() > 1
    }

    /// The contacts of what holds, with its values, where coordinates have been so far away from zero.
    pub(super) fn solver(
        &mut self,
        now: &Discrete,
        reach: &[f64],
    ) -> Result<Option<ContactSolver>, Failure> {
        let mut solver = self.compiled_contacts(now)?;
        if let Some(solver) = &mut solver {
            solver.reach = reach.to_vec();
        }
        Ok(solver)
    }

    fn compiled_contacts(&mut self, now: &Discrete) -> Result<Option<ContactSolver>, Failure> {
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
        let mut slips: Vec<(String, f64)> = Vec::new();
        for (k, state) in now.contacts.iter().enumerate() {
            let ContactState::Closed(rubbing) = state else { continue };
            for (f, rubs) in rubbing.iter().enumerate() {
                if let Rubbing::Follow(Some((_, part))) = rubs {
                    slips.push((slip_name(k, f, "share"), part.abs()));
                }
                let Rubbing::Slip(direction) = rubs else { continue };
                slips.push((slip_name(k, f, "sign"), direction[0]));
                let known = self.sliding.iter().find(|s| (s.contact, s.friction) == (k, f));
                if let Some(Sliding { offset, slowness, .. }) = known {
                    slips.push((slip_name(k, f, "first"), offset[0]));
                    slips.push((slip_name(k, f, "second"), offset[1]));
                    slips.push((slip_name(k, f, "width"), slowness.width));
                    slips.push((slip_name(k, f, "slow"), slowness.rest));
                    slips.push((slip_name(k, f, "wide"), slowness.wide));
                }
            }
        }
        slips.extend(self.idle.iter().map(|&(k, slack)| (slack_name(k), slack)));
        let signs = now.signs.iter().map(|side| side.sign());
        let own = now.parameters.iter().copied().chain(signs);
        let count = now.parameters.len() + now.signs.len();
        for (parameter, value) in model.parameters.iter_mut().zip(own) {
            parameter.value = value;
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
            sliding: Vec::new(),
            slides: Vec::new(),
        };
        making.statements();
        making.contacts();
        making.held(&self.branches, self.first_joint);
        making.sliding_joints(&self.branches, self.first_joint);
        making.conditions();
        making.events();
        making.results(&self.names);
        let Making { mut model, places, switches, mut sliding, graph: copy, .. } = making;
        drop(copy);
        model.graph = Rc::into_inner(graph).expect("nothing else holds the graph");
        let symbols: Vec<Expr> = self.branches.symbols().collect();
        let functions = &self.branches.functions;
        let loads =
            joints::put_loads(&mut model, self.principle, functions, (&now.signs, &symbols))?;
        if !loads.is_empty() {
            sliding.iter_mut().for_each(|(_, e)| *e = model.graph.substitute(&[*e], &loads)[0]);
        }
        let dynamics = derive_in(&model, self.principle)?;
        let lagrangian = match self.principle.unwrap_or(model.principle) {
            Principle::Chetaev => LagrangianData::of(&model),
            Principle::Vakonomic | Principle::Restricted => None,
        };
        Ok(Phase { model, dynamics, lagrangian, places, switches, sliding })
    }
}

/// What the margin of contacts that let go is called.
pub(super) const MARGIN: &str = "margin of contacts";

/// What the variation of the gap of a contact that others keep closed is called.
pub(super) fn slack_name(contact: usize) -> String {
    format!("slack {contact}")
}

/// What a value that says how a friction slides is called.
pub(super) fn slip_name(contact: usize, friction: usize, what: &str) -> String {
    format!("slip {contact} {friction} {what}")
}

/// A phase that is being made.
pub(super) struct Making<'a> {
    pub(super) model: Workspace,
    /// Its graph, as long as it is made.
    pub(super) graph: Rc<Graph>,
    pub(super) now: &'a Discrete,
    own_events: usize,
    places: Vec<Option<usize>>,
    switches: Vec<Switch>,
    pub(super) sliding: Vec<(usize, Expr)>,
    /// Switching functions at which the motion stays by a mean of both branches, and that of the upper one.
    pub(super) slides: Vec<(usize, Expr)>,
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

    pub(super) fn constrain(&mut self, constraint: Constraint, place: Option<usize>) {
        self.model.constraints.push(constraint);
        self.places.push(place);
    }

    /// An event that only ends the phase.
    pub(super) fn switch(&mut self, switch: Switch, expr: Expr, direction: Direction) {
        let name = format!("switch {}", self.switches.len() + 1);
        self.switches.push(switch);
        let span = Span::default();
        self.model.events.push(Event { name, expr, direction, stop: true, span });
    }

    /// A further parameter.
    pub(super) fn parameter(&mut self, name: &str) -> Expr {
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

    /// How forces change with the sign of a switching function, $\partial Q/\partial s$. Where they are not linear in
    /// it, they become the mean of both sides, and this is half of their difference.
    fn along(&mut self, symbol: Expr) -> Vec<Expr> {
        let g = Rc::clone(&self.graph);
        let n = self.model.coordinates.len();
        let mut along = vec![g.zero(); n];
        for force in &mut self.model.forces {
            let is_linear = is_linear_in(&g, &force.components, symbol);
            for (sum, component) in along.iter_mut().zip(&mut force.components) {
                let slope = if is_linear {
                    g.derivative(*component, symbol)
                } else {
                    let at = |s: Expr| g.substitute(&[*component], &[(symbol, s)])[0];
                    let (above, below) = (at(g.one()), at(g.neg(g.one())));
                    let half = |e: Expr| g.div(e, g.integer(2));
                    *component = half(g.add(above, below));
                    half(g.sub(above, below))
                };
                *sum = g.add(*sum, slope);
            }
        }
        along
    }

    /// What keeps the motion at switching functions.
    fn held(&mut self, branches: &Branches, first_joint: usize) {
        let g = Rc::clone(&self.graph);
        let symbols: Vec<Expr> = branches.symbols().collect();
        for (k, &function) in branches.functions.iter().enumerate() {
            if self.now.signs[k] != Side::Held
                || self.hold_joint(k, function, first_joint)
                || self.slide(k, function, symbols[k])
            {
                continue;
            }
            let along = self.along(symbols[k]);
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
        self.slides_end();
    }

    /// Where conditional constraints may begin and end.
    fn conditions(&mut self) {
        let hybrid = self.model.hybrid.clone();
        let g = Rc::clone(&self.graph);
        for (i, (constraint, activity)) in hybrid.constraints.iter().enumerate() {
            let Some(when) = activity.when.filter(|_| activity.is_in(self.now.mode)) else {
                continue;
            };
            let h = function(&g, &self.model, when);
            if self.now.conditions[i] {
                self.switch(Switch::Drop(i), h, Direction::Falling);
            } else if g.contains(when, &[own_multiplier(&g, constraint)]) {
                self.switch(Switch::Grip(i), constraint.expr, Direction::Both);
            } else {
                self.switch(Switch::Grip(i), h, Direction::Rising);
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
            if *sign == Side::Held {
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
        let value = |place: usize| {
            let sliding = self.sliding.iter().find(|(of, _)| *of == place);
            sliding.map_or(g.zero(), |(_, value)| *value)
        };
        let absent: Vec<(Expr, Expr)> = names
            .iter()
            .enumerate()
            .map(|(place, name)| (lambda(name), value(place)))
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

/// Whether expressions are linear in the sign of a switching function, and none of them chooses by it.
pub(super) fn is_linear_in(g: &Graph, expressions: &[Expr], symbol: Expr) -> bool {
    let chooses = g.live(expressions).iter().any(|&e| match g.node(e) {
        Node::If(condition, ..) => g.contains(condition, &[symbol]),
        _ => false,
    });
    !chooses && expressions.iter().all(|&e| !g.contains(g.derivative(e, symbol), &[symbol]))
}
