//! Jumps of the state at events (`on`).
//!
//! New positions and velocities are expressions of the state before. What is not named stays; then the velocities that
//! are not named meet the constraints by the impact form of (K),
//!
//! $$ M\,(\dot q^+ - \dot q^*) = A^\top \Lambda + N, \qquad \psi(t, q^+, \dot q^+) = 0, $$
//!
//! where $\dot q^*$ has the new values of the named velocities, which the impulse $N$ keeps, and the old ones of the
//! others. The energy that is lost or gained counts as work: $w^+ - w^- = E^+ - E^-$.

use pfaff_expr::Expr;
use pfaff_model::{Quantity, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{self as solver, EvalError, RankRevealing};

use crate::motion::sample::Sample;
use crate::system::compiled::{Compiled, CompiledSystem};
use crate::system::contact::{ContactSolver, Impacted};
use crate::system::kkt::Kkt;
use crate::system::projection::{project_positions, worst_position};

/// How well the constraints must be met after a jump, in parts of their terms.
const MET: f64 = 1e-9;
/// What is smaller is rounding.
const ROUNDING: f64 = 1e-15;
/// Newton's iteration for constraints that are not linear.
const ITERATIONS: usize = 25;

/// What happens at the events of a model.
#[derive(Clone, Debug)]
pub(crate) struct Jumps {
    /// Which event sets what, in the order of the outputs.
    targets: Vec<(usize, Quantity)>,
    /// Which event sets which parameter.
    parameters: Vec<(usize, usize)>,
    /// Which event leads to which mode.
    modes: Vec<(usize, usize)>,
    /// Which event ends the run after how many times.
    stops: Vec<(usize, usize)>,
    /// How often each event has happened.
    pub(crate) counts: Vec<usize>,
    /// Contacts that may be hit.
    pub(crate) contacts: Option<Box<ContactSolver>>,
    /// Whether some contacts are closed in this phase.
    pub(crate) has_closed: bool,
    /// Whether the run goes on in this phase, whatever has happened.
    pub(super) goes_on: bool,
    /// Nothing jumps before this time.
    pub(crate) quiet_until: f64,
    /// What the jumps have led to.
    pub(crate) outcome: JumpOutcome,
    /// The new values, those of parameters, then the rates of all event functions.
    program: Executor,
    values: Vec<f64>,
    before: Sample,
    after: Sample,
    /// The events of the last jump.
    pub(crate) last: Vec<usize>,
    /// How many of the last events switch branches of the equations.
    pub(crate) switches: usize,
    /// Why the last jump has no state after it.
    pub(crate) contradiction: Option<Contradiction>,
}

/// What jumps have led to, apart from the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct JumpOutcome {
    pub(crate) mode: Option<usize>,
    pub(crate) parameters: Vec<(usize, f64)>,
    /// The event that ends the run.
    pub(crate) stop: Option<usize>,
    /// Positions and velocities before they met the constraints, where contacts are closed.
    pub(crate) state: Option<(Vec<f64>, Vec<f64>)>,
    /// Impacts so far.
    pub(crate) impacted: Impacted,
}

/// A constraint that new values contradict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contradiction {
    pub(crate) t: f64,
    pub(crate) event: usize,
    pub(crate) constraint: usize,
    /// Whether its position is off, and not only its velocity.
    pub(crate) positions: bool,
    /// By how much, in parts of its terms.
    pub(crate) residual: f64,
}

impl Jumps {
    /// Of a model, if it has any.
    pub(crate) fn new(
        model: &Workspace,
        inputs: &[Expr],
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        if model.resets.is_empty() && model.hybrid.contacts.is_empty() {
            return Ok(None);
        }
        let resets = &model.resets;
        let of = |reset: &pfaff_model::Reset| {
            let event = reset.event;
            reset.values.iter().map(move |&(quantity, _)| (event, quantity)).collect::<Vec<_>>()
        };
        let targets: Vec<_> = model.resets.iter().flat_map(of).collect();
        let new = resets.iter().flat_map(|reset| reset.values.iter().map(|v| v.1));
        let others = resets.iter().flat_map(|reset| reset.parameters.iter().map(|v| v.1));
        let g = &model.graph;
        let state = [vec![model.time], model.positions(), model.velocities()].concat();
        let rates = [vec![g.one()], model.velocities(), model.accelerations()].concat();
        let rate = |e: Expr| g.dot(&g.gradient(e, &state), &rates);
        let outputs: Vec<Expr> =
            new.chain(others).chain(model.events.iter().map(|e| rate(e.expr))).collect();
        let parameters = resets
            .iter()
            .flat_map(|reset| reset.parameters.iter().map(|&(k, _)| (reset.event, k)));
        let program = Program::compile(g, inputs, &model.parameter_symbols(), &outputs)?;
        let sample = Sample::new(model.coordinates.len(), model.constraints.len());
        Ok(Some(Self {
            targets,
            parameters: parameters.collect(),
            modes: resets.iter().filter_map(|r| Some((r.event, r.mode?))).collect(),
            stops: resets.iter().filter_map(|r| Some((r.event, r.stop?))).collect(),
            counts: vec![0; model.events.len()],
            contacts: None,
            has_closed: false,
            goes_on: false,
            quiet_until: f64::NEG_INFINITY,
            outcome: JumpOutcome::default(),
            program: program.tiered(&model.parameter_values(), backend),
            values: vec![0.0; outputs.len()],
            before: sample.clone(),
            after: sample,
            last: Vec::new(),
            switches: 0,
            contradiction: None,
        }))
    }
}

impl CompiledSystem {
    /// The same equations with events at which nothing stops.
    pub(super) fn without_stops(&self) -> Self {
        let mut system = self.clone();
        for event in &mut system.events {
            // NOTE: errors may have taken gaps beyond zero.
            (event.stop, event.barrier) = (false, false);
        }
        if let Some(jumps) = &mut system.jumps {
            jumps.goes_on = true;
            jumps.outcome = JumpOutcome::default();
        }
        system
    }

    /// Replaces the state at some events; says whether the branches of the equations stay as they are.
    pub(super) fn jump_at(
        &mut self,
        events: &[usize],
        t: f64,
        y: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        let Some(mut jumps) = self.jumps.take_if(|jumps| t >= jumps.quiet_until) else {
            rates.fill(f64::NAN);
            return Ok(true);
        };
        let jumped = self.jump_by(&mut jumps, events, t, y, rates);
        self.jumps = Some(jumps);
        jumped
    }

    fn jump_by(
        &mut self,
        jumps: &mut Jumps,
        events: &[usize],
        t: f64,
        y: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        let Jumps { targets, program, values, before, after, last, switches, .. } = jumps;
        let Jumps { parameters, contacts, outcome, contradiction, .. } = jumps;
        last.clear();
        last.extend_from_slice(events);
        events.iter().for_each(|&event| jumps.counts[event] += 1);
        let mut signs = vec![0.0; self.events.len() + self.phases.len()];
        solver::System::event_values(self, t, y, &mut signs)?;
        let sides = self.events.len() - *switches..self.events.len();
        let sides_before = signs[sides.clone()].to_vec();

        self.resolve(t, y, true, before)?;
        before.inputs(&mut self.observed_inputs);
        program.evaluate(&self.observed_inputs, values);
        let (mut q, mut v) = (before.q.clone(), before.v.clone());
        let (mut moved, mut named) = (false, vec![false; self.n]);
        let mut rests = false;
        if let Some(contacts) = contacts
            && contacts.contacts.iter().any(|(_, event, _)| events.contains(event))
        {
            let impacted = contacts.impact(t, &q, &mut v, events, Some(&before.a))?;
            let Some(impacted) = impacted else { return Err(EvalError::Singular) };
            rests = impacted.rests || jumps.has_closed;
            outcome.impacted.add(&impacted);
        }
        for (&(event, quantity), &value) in targets.iter().zip(&*values) {
            if !events.contains(&event) {
                continue;
            }
            if !value.is_finite() {
                return Err(EvalError::NotFinite);
            }
            match quantity {
                Quantity::Coordinate(i, 0) => {
                    q[i] = value;
                    moved = true;
                }
                Quantity::Coordinate(i, _) => {
                    v[i] = value;
                    named[i] = true;
                }
                Quantity::Multiplier(_) | Quantity::Time => {}
            }
        }
        for (&(event, parameter), &value) in parameters.iter().zip(&values[targets.len()..]) {
            if events.contains(&event) {
                outcome.parameters.push((parameter, value));
            }
        }
        let led = |list: &[(usize, usize)]| {
            list.iter().find(|(event, _)| events.contains(event)).map(|&(_, to)| to)
        };
        outcome.mode = led(&jumps.modes).or(outcome.mode);
        let is_last = |&&(event, count): &&(usize, usize)| {
            events.contains(&event) && jumps.counts[event] >= count
        };
        outcome.stop = jumps.stops.iter().find(is_last).map(|&(event, _)| event);
        let is_over = rests || outcome.mode.is_some() || !outcome.parameters.is_empty();
        let is_over = is_over || outcome.stop.is_some();
        if jumps.has_closed || outcome.mode.is_some() {
            outcome.state = Some((q.clone(), v.clone()));
        }
        // What a constraint holds at rest has the rounding of what moves beside it.
        let speed = before.v.iter().chain(&v).fold(0.0_f64, |m, v| m.max(v.abs()));
        let landing = Landing { t, named: &named, moved, speed };
        let landed = self.land(landing, y, &mut q, &mut v)?;
        if let Err((constraint, positions, residual)) = landed {
            let event = events.first().copied().unwrap_or_default();
            *contradiction = Some(Contradiction { t, event, constraint, positions, residual });
            return Err(EvalError::Singular);
        }
        self.resolve(t, y, false, after)?;
        self.book(y, before, after);
        after.inputs(&mut self.observed_inputs);
        program.evaluate(&self.observed_inputs, values);
        for (rate, &event) in rates.iter_mut().zip(events) {
            *rate = values[targets.len() + parameters.len() + event];
        }
        solver::System::event_values(self, t, y, &mut signs)?;
        let stays = signs[sides].iter().zip(&sides_before).all(|(a, b)| a * b > 0.0);
        Ok(jumps.goes_on || (stays && !is_over))
    }

    /// Writes positions and velocities into a state after the velocities that are not named have met the
    /// constraints.
    pub(super) fn land(
        &mut self,
        landing: Landing<'_>,
        y: &mut [f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<Result<(), Unmet>, EvalError> {
        let t = landing.t;
        let carried = match &self.dynamics {
            Compiled::Saddle(kkt) => y[2 * self.n..2 * self.n + kkt.carried].to_vec(),
            Compiled::Reduced(_) | Compiled::Ordinary(_) => Vec::new(),
        };
        let kkt = match &mut self.dynamics {
            Compiled::Saddle(kkt) => Some(&mut **kkt),
            Compiled::Reduced(reduced) => Some(&mut reduced.kkt),
            Compiled::Ordinary(_) => None,
        };
        if let Some(kkt) = kkt {
            let mut impact = Impact { kkt, μ: &carried, landing };
            if let Err(unmet) = impact.meet(q, v)? {
                return Ok(Err(unmet));
            }
        }
        self.set(t, y, q, v);
        Ok(Ok(()))
    }

    /// Lets positions and velocities meet all constraints; velocities are about as large as `speed`.
    pub(crate) fn meet(
        &mut self,
        t: f64,
        q: &mut [f64],
        v: &mut [f64],
        speed: f64,
    ) -> Result<Result<(), Unmet>, EvalError> {
        let named = vec![false; self.n];
        let mut y = self.state(t, q, v, &[]);
        self.land(Landing { t, named: &named, moved: true, speed }, &mut y, q, v)
    }

    /// Writes positions and velocities into a state.
    pub(crate) fn set(&mut self, t: f64, y: &mut [f64], q: &[f64], v: &[f64]) {
        let n = self.n;
        match &mut self.dynamics {
            Compiled::Reduced(reduced) => reduced.set(t, y, q, v),
            Compiled::Saddle(_) => {
                y[..n].copy_from_slice(q);
                y[n..2 * n].copy_from_slice(v);
            }
            Compiled::Ordinary(kkt) => {
                y[..n].copy_from_slice(q);
                let second = v.iter().zip(&kkt.orders).filter(|&(_, &order)| order == 2);
                y[n..].iter_mut().zip(second).for_each(|(y, (v, _))| *y = *v);
            }
        }
    }

    /// Counts a change of energy as work.
    pub(super) fn book(&self, y: &mut [f64], before: &Sample, after: &Sample) {
        let gained = after.energy - before.energy;
        match &self.dynamics {
            Compiled::Saddle(kkt) => {
                let last = 2 * kkt.n + kkt.carried;
                y[last] += gained;
                y[last + 1] += gained + after.constraint_energy - before.constraint_energy;
            }
            Compiled::Reduced(reduced) => y[reduced.place_of_work()] += gained,
            Compiled::Ordinary(_) => {}
        }
    }
}

/// How a state is to meet the constraints.
#[derive(Clone, Copy)]
pub(super) struct Landing<'a> {
    pub(super) t: f64,
    /// Velocities that are given.
    pub(super) named: &'a [bool],
    /// Whether positions have moved.
    pub(super) moved: bool,
    /// About how large velocities are, where those at hand may all be small.
    pub(super) speed: f64,
}

/// A state that is to meet the constraints, with some velocities given.
struct Impact<'a> {
    kkt: &'a mut Kkt,
    μ: &'a [f64],
    landing: Landing<'a>,
}

/// A constraint that cannot be met, whether by its positions, and by how much.
pub(crate) type Unmet = (usize, bool, f64);

impl Impact<'_> {
    /// Changes the velocities that are not named, and positions by rounding.
    fn meet(&mut self, q: &mut [f64], v: &mut [f64]) -> Result<Result<(), Unmet>, EvalError> {
        let Landing { t, moved, .. } = self.landing;
        if self.kkt.m == 0 {
            return Ok(Ok(()));
        }
        if moved && self.kkt.holonomic.iter().any(|&h| h) {
            self.kkt.evaluate(t, q, v, self.μ);
            let worst = worst_position(self.kkt, q);
            if worst.is_nan() {
                return Err(EvalError::NotFinite);
            }
            if worst > MET {
                return Ok(Err(self.position_unmet(q)));
            }
            project_positions(self.kkt, t, q, v, self.μ)?;
        }
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            self.kkt.evaluate(t, q, v, self.μ);
            let worst = self.worst(v);
            if worst.is_nan() {
                return Err(EvalError::NotFinite);
            }
            if worst <= ROUNDING || worst > 0.5 * last {
                last = worst;
                break;
            }
            last = worst;
            self.correct(v);
        }
        Ok(if last > MET { Err(self.velocity_unmet(v)) } else { Ok(()) })
    }

    /// The largest residual of a velocity constraint, in parts of its terms.
    fn worst(&self, v: &[f64]) -> f64 {
        let parts = (0..self.kkt.m).map(|a| self.residual(a, v));
        parts.fold(0.0, |m, x| if x.is_nan() { x } else { x.max(m) })
    }

    fn residual(&self, a: usize, v: &[f64]) -> f64 {
        let kkt = &self.kkt;
        let typical = self.landing.speed * kkt.row_length(a);
        kkt.residual()[a].abs() / (kkt.velocity_size(a, v, kkt.largest_velocity(v)) + typical)
    }

    /// One step of Newton's iteration: the smallest change in the kinetic metric of what is not named.
    fn correct(&mut self, v: &mut [f64]) {
        let (n, m) = (self.kkt.n, self.kkt.m);
        let (mass, rows) = (self.kkt.inertia(), self.kkt.full_jacobian());
        let free: Vec<usize> = (0..n).filter(|&i| !self.landing.named[i]).collect();
        let size = free.len() + m;
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        for (i, &row) in free.iter().enumerate() {
            for (j, &column) in free.iter().enumerate() {
                matrix[i * size + j] = mass[row * n + column];
            }
            for a in 0..m {
                matrix[i * size + free.len() + a] = -rows[a * n + row];
                matrix[(free.len() + a) * size + i] = rows[a * n + row];
            }
        }
        for a in 0..m {
            right[free.len() + a] = -self.kkt.residual()[a];
        }
        let mut split = RankRevealing::default();
        split.factor(size, size, &matrix, 1e-12);
        let mut change = vec![0.0; size];
        split.solve(&right, &mut change);
        free.iter().zip(change).for_each(|(&i, δ)| v[i] += δ);
    }

    fn position_unmet(&self, q: &[f64]) -> Unmet {
        let kkt = &self.kkt;
        let off = |a: usize| (a, true, kkt.position()[a].abs() / kkt.position_size(a, q));
        worst_of((0..kkt.m).filter(|&a| kkt.holonomic[a]).map(off))
    }

    fn velocity_unmet(&self, v: &[f64]) -> Unmet {
        let kkt = &self.kkt;
        let off = |a: usize| (a, false, self.residual(a, v));
        worst_of((0..kkt.m).map(off))
    }
}

fn worst_of(all: impl Iterator<Item = Unmet>) -> Unmet {
    all.fold((0, false, 0.0), |worst, one| if one.2 > worst.2 { one } else { worst })
}
