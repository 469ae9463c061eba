//! What holds from a moment on: contacts, branches, conditions; and the state that meets it.

use pfaff_expr::Expr;
use pfaff_model::{Diagnostic, Workspace};
use pfaff_solver::{ContactState, Rubbing};

use crate::error::Failure;
use crate::motion::note::brief;
use crate::motion::sample::Sample;
use crate::motion::side::Side;
use crate::motion::{EventRecord, Motion, Series};
use crate::problem::dynamics_span;
use crate::problem::start::Start;
use crate::run::hybrid::HybridRun;
use crate::run::hybrid::corner::Passed;
use crate::run::hybrid::filippov::{can_slide, movable};
use crate::run::hybrid::phase::{Discrete, Phase, Phases, Sliding, is_linear_in};
use crate::run::hybrid::switching::{Place, Settled};
use crate::system::compiled::CompiledSystem;

/// A gap that is further below zero, in parts of what is farthest away, is violated.
pub(super) const VIOLATED: f64 = 1e-8;
/// Friction that drives what slides by more, in parts of itself and of the velocities so far, has the wrong direction.
pub(super) const DRIVEN: f64 = 1e-6;
/// A contact lets go where it would pull by this part of the forces: less is rounding.
const MARGIN: f64 = 1e-12;
/// Velocities that are smaller, in parts of their largest, are rest where bounces have come to their end.
const REST: f64 = 1e-12;
/// Positions and velocities that are smaller, in parts of their largest, are the rounding of what others have lost.
const NOTHING: f64 = 1e-20;
/// Errors are measured by at least this part of what forces would do without contacts.
const LEAST: f64 = 1e-9;
/// What holds the motion at a switch lets go where it would need this part more than it may have.
const OVER: f64 = 1e-9;
/// How often contacts, branches and conditions are settled in turn.
const ROUNDS: usize = 8;
/// Velocities that change by less, in parts of the largest, have not changed.
const UNMOVED: f64 = 1e-9;

impl HybridRun<'_> {
    /// Settles what holds from the present state on; says why nothing does.
    pub(super) fn settle(&mut self) -> Result<Option<String>, Failure> {
        let at_switch = self.second.as_ref().zip(self.cause.fired).map(|(second, k)| {
            let values = self.switching.values(&self.branches.model, &self.place(second));
            (values, k)
        });
        let given = self.landed.take().unwrap_or_else(|| self.state.clone());
        let energy = self.energy(&given)?;
        let mut rates = None;
        let mut released = Vec::new();
        for _ in 0..ROUNDS + self.now.signs.len() {
            let before = self.now.clone();
            if let Some(why) = self.settle_contacts()? {
                return Ok(Some(why));
            }
            let mut settled = self.settle_branches()?;
            if let Settled::From(Some(found)) = &settled {
                let found = found.clone();
                settled = match self.look_ahead(&found)? {
                    Settled::From(None) => Settled::From(Some(found)),
                    other => other,
                };
            }
            match settled {
                Settled::From(found) => rates = found,
                Settled::Held(at) => {
                    if !at
                        .iter()
                        .all(|&k| self.can_stay(k, &at) || can_slide(&self.branches, k))
                    {
                        let why = "the motion is pushed back from both sides of a switch (as by dry friction that \
                                   holds)";
                        return Ok(Some(why.into()));
                    }
                    at.iter().for_each(|&k| self.now.signs[k] = Side::Held);
                    continue;
                }
            }
            if self.release(&mut released)? {
                continue;
            }
            self.settle_conditions()?;
            if before == self.now {
                break;
            }
        }
        if let (Some(second), Some((mut values, k)), Some(rates)) =
            (&mut self.second, at_switch, rates)
        {
            values.swap_remove(k).shift(second, &self.before, &rates);
            self.late.pass(self.t, &self.before, &rates);
        }
        for _ in 0..ROUNDS {
            let (contacts, v) = (self.now.contacts.clone(), self.state.v.clone());
            self.meet()?;
            // What closes turns what slides: at the end of bounces another direction may be left, or none.
            if self.state.v == v || !contacts.iter().any(slides) {
                break;
            }
            if let Some(why) = self.settle_contacts()? {
                return Ok(Some(why));
            }
            if self.now.contacts == contacts {
                break;
            }
        }
        let size = given.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let pairs = self.state.v.iter().zip(&given.v);
        let moved = pairs.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        self.is_moved = moved > UNMOVED * size;
        if self.is_moved
            && let (Some(before), Some(after)) = (energy, self.energy(&self.state.clone())?)
        {
            self.work[0] += after - before;
        }
        self.watch_corner(&given);
        Ok(None)
    }

    /// Looks at what the Lagrangian demands of a switch that was passed.
    fn watch_corner(&mut self, given: &Start) {
        let Some(k) = self.cause.fired.filter(|_| !self.corners.is_idle()) else { return };
        let values = self.switching.values(&self.branches.model, &self.place(given));
        let passed = Passed {
            t: self.t,
            state: given,
            signs: [&self.cause.signs, &self.now.signs],
            values: &values,
            late: values[k].until_zero(&self.before),
            accelerations: &self.before.a,
        };
        self.corners.pass(&self.branches.model, &passed);
    }

    /// The energy of a state, if the model has one that may change at a switch.
    fn energy(&mut self, state: &Start) -> Result<Option<f64>, Failure> {
        if !self.velocities_jump {
            return Ok(None);
        }
        let phase = self.phases.phase(&self.now)?;
        let mut system = compiled(&self.phases, &phase)?;
        let y = system.state(self.t, &state.q, &state.v, &state.multipliers);
        Ok(system.saddle_at(self.t, &y).map(|kkt| kkt.energy()))
    }

    /// Impacts that are due, and which contacts carry from here on.
    fn settle_contacts(&mut self) -> Result<Option<String>, Failure> {
        let Some(mut solver) = self.phases.solver(&self.now, &self.sizes)? else {
            self.now.contacts.fill(ContactState::Open);
            return Ok(None);
        };
        solver.has_accumulated = !self.cause.hints.closed.is_empty();
        let (t, is_start) = (self.t, self.whole.is_none());
        let mut undetermined = |_| failure(self.model, "the contacts have no value");
        solver.measure(t, &self.state.q, &self.state.v);
        self.phases.margin = MARGIN * solver.largest_force();
        for (k, &(index, ..)) in solver.contacts.iter().enumerate() {
            if let Some(by) = solver.violation(k).filter(|_| is_start) {
                let contact = &self.model.hybrid.contacts[index];
                let message = format!(
                    "the contact `{}` is violated at the start: its gap is {}",
                    contact.name,
                    brief(-by)
                );
                let diagnostic = Diagnostic::error("E0641", contact.span, message)
                    .with_hint("choose initial positions with a gap of 0 or more");
                return Err(Failure::Model(vec![diagnostic]));
            }
        }
        let impacted = solver
            .impact(t, &self.state.q, &mut self.state.v, &[], None)
            .map_err(&mut undetermined)?;
        let Some(impacted) = impacted else {
            return Ok(Some("no impulses of the contacts fit together".into()));
        };
        let impacted = crate::system::contact::Impacted { rests: false, ..impacted };
        self.impacted.add(&impacted);
        if solver.has_accumulated {
            // What is left of ever smaller bounces is rounding, and so is the direction in which it slips.
            let (_, fast) = self.sizes.split_at(self.sizes.len().min(self.state.q.len()));
            forget(&mut self.state.v, fast, REST);
        }
        let (q, v) = (&self.state.q, &self.state.v);
        let rest = solver.settle(t, q, v, &self.cause.hints).map_err(&mut undetermined)?;
        let Some(rest) = rest else {
            return Ok(Some("no forces of the contacts fit together".into()));
        };
        self.is_ambiguous |= !rest.is_unique;
        // What rests from the start has no size of its own.
        let (far, gained) = solver.reach();
        self.scales.resize(self.scales.len().max(self.state.q.len()), 0.0);
        self.scales.iter_mut().for_each(|scale| *scale = scale.max(LEAST * far));
        self.energy = self.energy.max(LEAST * gained);
        let mut contacts = vec![ContactState::Open; self.now.contacts.len()];
        let (mut sliding, mut idle) = (Vec::new(), Vec::new());
        for (k, (&(index, ..), state)) in solver.contacts.iter().zip(rest.states).enumerate() {
            if let ContactState::Closed(rubbing) = &state {
                for (f, rubs) in rubbing.iter().enumerate() {
                    let Rubbing::Slip(direction) = rubs else { continue };
                    if !self.phases.is_plane(index, f) {
                        continue;
                    }
                    let has_stopped = self.cause.hints.stopped.contains(&(index, f));
                    let tolerance = self.settings.options.tolerance;
                    let slowness = solver.slowness(k, f, &self.state.v, tolerance, has_stopped);
                    let offset = direction.map(|s| slowness.offset * s);
                    sliding.push(Sliding { contact: index, friction: f, offset, slowness });
                }
            }
            if state == ContactState::Idle {
                idle.push((index, solver.slack(k)));
            }
            contacts[index] = state;
        }
        (self.phases.sliding, self.phases.idle) = (sliding, idle);
        self.now.contacts = contacts;
        Ok(None)
    }

    fn settle_branches(&mut self) -> Result<Settled, Failure> {
        if self.now.signs.is_empty() {
            return Ok(Settled::From(None));
        }
        // NOTE: what has just closed keeps its gap to rounding, and then exactly.
        let is_moved = self.velocities_jump && !self.switching.is_in_constraints;
        let met = if is_moved { self.met(&self.now.clone())? } else { None };
        let Self { switching, branches, phases, now, state, cause, t, settings, speed, .. } =
            self;
        let state = met.as_ref().unwrap_or(state);
        let span = settings.options.t1 - settings.t0;
        let place = Place { t: *t, state, fired: cause.fired, span };
        let base = now.clone();
        let (meets, speed) = (switching.is_in_constraints, *speed);
        let mut accelerations = |signs: &[Side]| {
            let trial = Discrete { signs: signs.to_vec(), ..base.clone() };
            if !meets {
                return resolved(phases, &trial, *t, state);
            }
            // With other branches other velocities hold, such as the rates of states.
            let phase = phases.phase(&trial)?;
            let mut met = (*state).clone();
            let _ = compiled(phases, &phase)?.meet(*t, &mut met.q, &mut met.v, speed);
            resolved(phases, &trial, *t, &met)
        };
        switching.settle(branches, &mut accelerations, &place, cause.left, &mut now.signs)
    }

    /// Lets go a switching function at which the motion cannot stay any longer, since something else holds now: that
    /// which needs most beyond what it may have. Says whether there is one; each is let go once.
    fn release(&mut self, released: &mut Vec<usize>) -> Result<bool, Failure> {
        let now = self.now.clone();
        let mut worst: Option<(f64, usize, f64)> = None;
        let is_held = |k: &usize| now.signs[*k] == Side::Held && !released.contains(k);
        for k in (0..now.signs.len()).filter(is_held) {
            let [Some(above), Some(below)] = self.phases.ends_of_hold(&now, k)? else {
                continue;
            };
            let (Some(above), Some(below)) =
                (self.condition(&now, above)?, self.condition(&now, below)?)
            else {
                continue;
            };
            let (least, sign) = if above < below { (above, 1.0) } else { (below, -1.0) };
            let part = -least / (above + below).abs();
            if part > OVER && worst.is_none_or(|(most, ..)| part > most) {
                worst = Some((part, k, sign));
            }
        }
        if let Some((_, k, sign)) = worst {
            self.now.signs[k] = Side::of(sign);
            released.push(k);
        }
        Ok(worst.is_some())
    }

    /// Whether the motion can stay at a switching function of velocities: if forces alone contain its sign, and are
    /// linear in it, without the signs of others that are held or about to be; or, whatever they are, if there are no
    /// such others (then they are a mean of both sides, as Filippov has it).
    fn can_stay(&self, k: usize, at: &[usize]) -> bool {
        let model = &self.branches.model;
        let g = &model.graph;
        let Some(symbol) = self.branches.symbols().nth(k) else { return false };
        let mut energies = match model.dynamics {
            pfaff_model::Dynamics::Lagrangian { lagrangian, .. } => vec![lagrangian],
            pfaff_model::Dynamics::Equations(_) => return false,
        };
        energies.extend(model.constraints.iter().map(|c| c.expr));
        energies.extend(self.branches.functions.iter().copied());
        let components: Vec<Expr> =
            model.forces.iter().flat_map(|force| force.components.iter().copied()).collect();
        let is_held = |i: usize| i != k && (self.now.signs[i] == Side::Held || at.contains(&i));
        let symbols = self.branches.symbols().enumerate();
        let others: Vec<Expr> = symbols.filter(|&(i, _)| is_held(i)).map(|(_, s)| s).collect();
        let is_apart = |&e: &Expr| !g.contains(g.derivative(e, symbol), &others);
        self.switching.is_of_velocities(k)
            && energies.iter().all(|&e| !g.contains(e, &[symbol]))
            && components.iter().any(|&e| g.contains(e, &[symbol]))
            && (others.is_empty()
                || (is_linear_in(g, &components, symbol) && components.iter().all(is_apart)))
    }

    /// The state after it has met the constraints of a phase; `None` if it does not.
    pub(super) fn met(&mut self, now: &Discrete) -> Result<Option<Start>, Failure> {
        let phase = self.phases.phase(now)?;
        let mut system = compiled(&self.phases, &phase)?;
        let mut state = self.state.clone();
        let met = system.meet(self.t, &mut state.q, &mut state.v, self.speed);
        Ok(matches!(met, Ok(Ok(()))).then_some(state))
    }

    /// Lets the state meet the constraints of the present phase.
    fn meet(&mut self) -> Result<(), Failure> {
        if !self.velocities_jump && self.now.signs.iter().all(|&side| side != Side::Held) {
            return Ok(());
        }
        self.return_to_switches();
        let phase = self.phases.phase(&self.now)?;
        let mut system = compiled(&self.phases, &phase)?;
        let (t, speed) = (self.t, self.speed);
        let Start { q, v, .. } = &mut self.state;
        let (far, fast) = self.sizes.split_at(self.sizes.len().min(q.len()));
        let met = system.meet(t, q, v, speed);
        // NOTE: where nothing else moves, residuals would be measured by it.
        forget(q, far, NOTHING);
        forget(v, fast, NOTHING);
        match met {
            Err(_) => return Err(failure(self.model, "the constraints have no value")),
            Ok(Err((constraint, positions, residual))) => {
                let constraint = &phase.model.constraints[constraint];
                let what = if positions { "positions" } else { "velocities" };
                let message = format!(
                    "the {what} at t = {} contradict the constraint `{}`, which begins to hold there: it is off by {} \
                     of its terms",
                    brief(t),
                    constraint.name,
                    brief(residual)
                );
                let diagnostic = Diagnostic::error("E0640", constraint.span, message)
                    .with_hint("let it begin at an event at which its positions meet it");
                return Err(Failure::Model(vec![diagnostic]));
            }
            Ok(Ok(())) => {}
        }
        if let Some(Start { q, v, .. }) = &mut self.second {
            // NOTE: what the second integration cannot meet is left to its comparison with the first.
            let _ = system.meet(t, q, v, speed);
        }
        Ok(())
    }

    /// Moves the state to the switching functions at which it stays without a constraint that keeps it there.
    fn return_to_switches(&mut self) {
        for k in 0..self.now.signs.len() {
            if self.now.signs[k] == Side::Held && can_slide(&self.branches, k) {
                let mut values =
                    self.switching.values(&self.branches.model, &self.place(&self.state));
                values.swap_remove(k).remove(&mut self.state, &movable(&self.branches));
            }
        }
    }

    /// Lets the second integration hit the contacts of some events as well: it reaches them at another time, $\delta =
    /// -g/\dot g$ from here.
    pub(super) fn hit_second(&mut self, events: &[usize]) {
        let Some(mut second) = self.second.take() else { return };
        if let Ok(Some(mut solver)) = self.phases.solver(&self.now, &self.sizes) {
            solver.measure(self.t, &second.q, &second.v);
            let hit = solver.contacts.iter().position(|(_, event, _)| events.contains(event));
            let δ = hit.map(|k| -solver.touch(k).gap / solver.touch(k).closing);
            let span = self.settings.options.t1 - self.settings.t0;
            if let Some(δ) = δ.filter(|δ| δ.abs() <= 1e-2 * span) {
                let Start { q, v, .. } = &mut second;
                q.iter_mut().zip(&*v).for_each(|(q, v)| *q += δ * v);
                // NOTE: what the second integration cannot do is left to its comparison with the first.
                let _ = solver.impact(self.t, q, v, events, None);
                q.iter_mut().zip(&*v).for_each(|(q, v)| *q -= δ * v);
            }
        }
        self.second = Some(second);
    }

    /// Frictions that repeat one slide with it.
    pub(super) fn followers(&mut self, k: usize, f: usize, sign: f64) {
        let contacts = &self.model.hybrid.contacts;
        let place: usize = contacts[..k].iter().map(|c| c.frictions.len()).sum::<usize>() + f;
        for (other, state) in self.now.contacts.iter().enumerate() {
            let ContactState::Closed(rubbing) = state else { continue };
            for (i, rubs) in rubbing.iter().enumerate() {
                if let Rubbing::Follow(Some((leader, part))) = rubs
                    && *leader == place
                {
                    let direction = [sign * part.signum(), 0.0];
                    self.cause.hints.sliding.push((other, i, direction));
                }
            }
        }
    }

    /// The direction in which a friction in a plane gives way: against the force that it had.
    pub(super) fn broken(
        &self,
        phase: &Phase,
        (contact, friction): (usize, usize),
        crossing: Option<&EventRecord>,
    ) -> [f64; 2] {
        let contact = &self.model.hybrid.contacts[contact];
        let names = contact.friction_names(&contact.frictions[friction]);
        let force = |name: &String| {
            let row = phase.model.constraints.iter().position(|c| c.name == *name);
            row.and_then(|row| crossing?.multipliers.get(row).copied()).unwrap_or(0.0)
        };
        let [x, y] = [&names[0], &names[1]].map(force);
        let length = libm::hypot(x, y);
        if length > 0.0 { [-x / length, -y / length] } else { [1.0, 0.0] }
    }

    /// A motion that ends where what begins to hold contradicts itself: what was computed so far is kept.
    pub(super) fn contradicted(self, found: Vec<Diagnostic>) -> Result<Motion, Failure> {
        if self.whole.is_none() {
            return Err(Failure::Model(found));
        }
        let why = found.first().map(|d| d.message.clone()).unwrap_or_default();
        self.held(&format!("what begins to hold contradicts itself: {why}"))
    }

    /// By how much frictions at the outputs drive what they act on, in parts of their sizes: they must brake it.
    pub(super) fn driven(&mut self, motion: &Motion) -> Option<f64> {
        let mut solver = self.phases.solver(&self.now, &self.sizes).ok()??;
        let n = self.state.q.len();
        if (motion.q.len(), motion.v.len()) != (n, n) || self.model.hybrid.modes.len() > 1 {
            return None;
        }
        let column = |name: &String| motion.multipliers.iter().find(|s| s.name == *name);
        let row = |list: &[Series], i: usize| -> Vec<f64> {
            list.iter().map(|series| series.values[i]).collect()
        };
        let mut worst = None;
        for i in 0..motion.t.len() {
            solver.measure_contacts(motion.t[i], &row(&motion.q, i), &row(&motion.v, i));
            for (k, &(index, ..)) in solver.contacts.iter().enumerate() {
                let contact = &self.model.hybrid.contacts[index];
                for (friction, rub) in contact.frictions.iter().zip(solver.rubs(k)) {
                    let forces: Vec<f64> = contact
                        .friction_names(friction)
                        .iter()
                        .map(|name| column(name).map_or(0.0, |series| series.values[i]))
                        .collect();
                    let force = forces.iter().fold(0.0_f64, |m, f| libm::hypot(m, *f));
                    let fastest =
                        rub.tangents.iter().map(|t| solver.fastest(t)).fold(0.0, f64::max);
                    let power: f64 = forces.iter().zip(rub.slip).map(|(f, s)| f * s).sum();
                    if force > 0.0 && fastest > 0.0 {
                        let part = power / (force * fastest);
                        worst = Some(worst.map_or(part, |w: f64| w.max(part)));
                    }
                }
            }
        }
        worst.map(|worst: f64| worst.max(0.0))
    }

    /// The size of what is farthest away.
    fn farthest(&self) -> f64 {
        self.sizes.iter().take(self.state.q.len()).fold(0.0_f64, |m, x| m.max(*x))
    }

    /// By how much gaps are below zero at the outputs (with modes, at the last one), in parts of what is farthest away.
    pub(super) fn violated(&mut self, motion: &Motion) -> Option<f64> {
        let mut solver = self.phases.solver(&self.now, &self.sizes).ok()??;
        let size = self.farthest();
        let is_whole =
            (motion.q.len(), motion.v.len()) == (self.state.q.len(), self.state.v.len());
        if !is_whole || motion.t.is_empty() || size == 0.0 {
            return None;
        }
        let first = if self.model.hybrid.modes.len() > 1 { motion.t.len() - 1 } else { 0 };
        let row = |list: &[Series], i: usize| -> Vec<f64> {
            list.iter().map(|series| series.values[i]).collect()
        };
        let mut worst = 0.0_f64;
        for i in first..motion.t.len() {
            solver.measure(motion.t[i], &row(&motion.q, i), &row(&motion.v, i));
            for k in 0..solver.contacts.len() {
                let by = solver.violation(k).unwrap_or(0.0);
                worst = worst.max(by / (size * solver.steepness(k)));
            }
        }
        Some(worst)
    }
}

/// Whether a contact is closed and slides.
fn slides(contact: &ContactState) -> bool {
    let ContactState::Closed(rubbing) = contact else { return false };
    rubbing.iter().any(|rubs| matches!(rubs, Rubbing::Slip(_)))
}

/// Takes away what is a small part of the largest values so far.
fn forget(values: &mut [f64], sizes: &[f64], part: f64) {
    let small = values.iter_mut().zip(sizes).filter(|(x, size)| x.abs() <= part * **size);
    small.for_each(|(x, _)| *x = 0.0);
}

pub(super) fn compiled(phases: &Phases, phase: &Phase) -> Result<CompiledSystem, Failure> {
    Ok(CompiledSystem::new(&phase.model, &phase.dynamics, phases.backend)?)
}

/// Everything at a state if some things hold; `None` where that has no value.
pub(super) fn resolved(
    phases: &mut Phases,
    now: &Discrete,
    t: f64,
    state: &Start,
) -> Result<Option<Sample>, Failure> {
    let phase = phases.phase(now)?;
    let mut system = compiled(phases, &phase)?;
    let y = system.state(t, &state.q, &state.v, &state.multipliers);
    let model = &phase.model;
    let mut sample = Sample::new(model.coordinates.len(), model.constraints.len());
    Ok(system.resolve(t, &y, false, &mut sample).is_ok().then_some(sample))
}

fn failure(model: &Workspace, what: &str) -> Failure {
    let message = format!("{what} at a switch: something is infinite or not a number");
    Failure::Model(vec![Diagnostic::error("E0602", dynamics_span(model), message)])
}
