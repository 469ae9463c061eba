//! What a run went through, piece by piece: for derivatives of the whole motion.
//!
//! A piece is the motion of one phase. Within it and at its end the state jumps; the map from the state just before a
//! jump to the one just after it can be evaluated beside the motion, with other parameters as well, as long as the same
//! things happen there.

use pfaff_model::Workspace;
use pfaff_solver::{ContactState, System};

use crate::error::Failure;
use crate::motion::{Motion, StopReason};
use crate::problem::settings::{Run, Settings};
use crate::problem::start::Start;
use crate::run::hybrid::HybridRun;
use crate::run::hybrid::phase::{Discrete, Phase, Phases, Sliding};
use crate::run::initial_value::Segment;
use crate::run::progress::Progress;
use crate::run::record::Jump;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics, JumpOutcome};
use crate::system::contact::ContactSolver;

/// How often a state is moved onto the surface of an event.
const ITERATIONS: usize = 8;

/// The motion of one phase.
pub(crate) struct Piece {
    phase: Phase,
    now: Discrete,
    sliding: Vec<Sliding>,
    idle: Vec<(usize, f64)>,
    margin: f64,
    sizes: Vec<f64>,
    speed: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) start: Start,
    /// Jumps within it, and the events of each.
    pub(crate) jumps: Vec<Jump>,
    /// The jump that ends it, or what ends it without a jump.
    pub(crate) end: Option<Jump>,
    /// Whether the next piece begins at the limit of infinitely many jumps.
    pub(crate) is_limit: bool,
}

impl Piece {
    /// The smooth model that holds in it.
    pub(crate) fn model(&self) -> &Workspace {
        &self.phase.model
    }

    /// Its equations.
    pub(crate) fn dynamics(&self) -> &Dynamics {
        &self.phase.dynamics
    }
}

impl HybridRun<'_> {
    /// What the segment that has just been integrated is for derivatives.
    pub(super) fn piece(&self, phase: &Phase, segment: &Segment) -> Piece {
        let mut jumps = segment.jumps.clone();
        let to = segment.motion.stop.t;
        let end = match &segment.motion.stop.reason {
            StopReason::Event(name) => {
                let event = phase.model.events.iter().position(|event| event.name == *name);
                let jumped = jumps.pop_if(|jump| jump.t == to);
                jumped.or(event.map(|event| Jump { t: to, events: vec![event] }))
            }
            _ => None,
        };
        Piece {
            phase: phase.clone(),
            now: self.now.clone(),
            sliding: self.phases.sliding.clone(),
            idle: self.phases.idle.clone(),
            margin: self.phases.margin,
            sizes: self.sizes.clone(),
            speed: self.speed,
            from: self.t,
            to,
            start: self.state.clone(),
            jumps,
            end,
            is_limit: false,
        }
    }
}

/// The pieces of a run, and the maps of the jumps between them.
pub(crate) struct Trail {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) maps: JumpMaps,
}

impl Trail {
    /// Integrates a model, piece by piece.
    pub(crate) fn of(
        model: &Workspace,
        request: &Run,
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<(Motion, Self), Failure> {
        let settings = Settings::new(model, request)?;
        let span = settings.options.t1 - settings.t0;
        let phases = Phases::new(model, request.principle, settings.backend, span);
        let mut pieces = Vec::new();
        let motion = super::integrated(model, request, watch, Some(&mut pieces))?;
        Ok((motion, Self { pieces, maps: JumpMaps { phases } }))
    }
}

/// What makes the maps of jumps.
pub(crate) struct JumpMaps {
    phases: Phases,
}

impl JumpMaps {
    /// The map of a jump within a piece or to the next one, with parameters that may differ from those of the run.
    pub(crate) fn map(
        &mut self,
        piece: &Piece,
        next: Option<&Piece>,
        jump: &Jump,
        parameters: &[f64],
    ) -> Result<JumpMap, Failure> {
        let phases = &mut self.phases;
        let (phase, contacts) = compiled(phases, piece, parameters)?;
        let mut before = CompiledSystem::new(&phase.model, &phase.dynamics, phases.backend)?;
        if let Some(jumps) = &mut before.jumps {
            jumps.contacts = contacts.map(Box::new);
            jumps.has_closed =
                piece.now.contacts.iter().any(|state| *state != ContactState::Open);
            jumps.switches = phase.switches.len();
        }
        before.sizes.clone_from(&piece.sizes);
        let Start { q, v, .. } = &piece.start;
        if let Compiled::Saddle(kkt) = &mut before.dynamics {
            kkt.scale.measure(&phase.model, piece.from, q);
            kkt.evaluate(piece.from, q, v, &[]);
            kkt.measure_velocities(v);
            kkt.measure_held(q);
            kkt.decide();
        }
        let own = phases.own_events;
        let events = jump.events.iter().copied().filter(|event| *event < own).collect();
        let after = match next {
            Some(next) => {
                let (phase, contacts) = compiled(phases, next, parameters)?;
                let system =
                    CompiledSystem::new(&phase.model, &phase.dynamics, phases.backend)?;
                Some((system, contacts, next.speed))
            }
            None => None,
        };
        Ok(JumpMap { before, events, surface: jump.events[0], after })
    }
}

/// The phase of a piece and its contacts, with other parameters.
fn compiled(
    phases: &mut Phases,
    piece: &Piece,
    parameters: &[f64],
) -> Result<(Phase, Option<ContactSolver>), Failure> {
    phases.sliding.clone_from(&piece.sliding);
    phases.idle.clone_from(&piece.idle);
    phases.margin = piece.margin;
    let mut now = piece.now.clone();
    now.parameters.iter_mut().zip(parameters).for_each(|(own, x)| *own = *x);
    let phase = phases.phase(&now)?;
    let contacts = phases.solver(&now, &piece.sizes)?;
    Ok((phase, contacts))
}

/// The state after a jump as a function of the state before it.
pub(crate) struct JumpMap {
    before: CompiledSystem,
    /// The events at which something jumps.
    events: Vec<usize>,
    /// The event at whose zero the jump happens.
    surface: usize,
    /// What holds afterwards, if that is something else, and how large velocities are.
    after: Option<(CompiledSystem, Option<ContactSolver>, f64)>,
}

impl JumpMap {
    /// Moves a state along its motion onto the surface, and lets it jump there. The time moves as well.
    pub(crate) fn apply(
        &mut self,
        t: &mut f64,
        q: &[f64],
        v: &[f64],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut y = self.before.state(*t, q, v, &[]);
        self.meet_surface(t, &mut y)?;
        let Self { before, events, after, .. } = self;
        let n = before.n;
        let mut sample = crate::motion::sample::Sample::new(n, before.m);
        if let Some(jumps) = &mut before.jumps {
            jumps.outcome = JumpOutcome::default();
        }
        let mut state = None;
        if !events.is_empty() && before.jumps.is_some() {
            let mut rates = vec![0.0; events.len()];
            before.jump(events, *t, &mut y, &mut rates).ok()?;
            state = before.jumps.as_mut().and_then(|jumps| jumps.outcome.state.take());
        }
        before.kinematics(*t, &y, &mut sample);
        let (mut q, mut v) = state.unwrap_or((sample.q, sample.v));
        if let Some((system, contacts, speed)) = after {
            if let Some(contacts) = contacts {
                contacts.impact(*t, &q, &mut v, &[], None).ok()??;
            }
            system.meet(*t, &mut q, &mut v, *speed).ok()?.ok()?;
        }
        let is_finite = q.iter().chain(&v).all(|x| x.is_finite());
        is_finite.then_some((q, v))
    }

    /// Moves a state onto the constraints, and along its rates to where the surface is met.
    fn meet_surface(&mut self, t: &mut f64, y: &mut [f64]) -> Option<()> {
        let system = &mut self.before;
        let mut values = vec![0.0; system.events().len() + system.event_phases().len()];
        let mut rates = vec![0.0; y.len()];
        system.project(*t, y).ok()?;
        system.event_values(*t, y, &mut values).ok()?;
        let mut last = values[self.surface];
        system.rates(*t, y, &mut rates).ok()?;
        // The first step is short: it tells how fast the function changes.
        let speed = rates.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let size = y.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut step = 1e-7 * size / speed;
        if !step.is_finite() || last == 0.0 {
            return Some(());
        }
        for _ in 0..ITERATIONS {
            y.iter_mut().zip(&rates).for_each(|(y, rate)| *y += step * rate);
            *t += step;
            system.project(*t, y).ok()?;
            system.event_values(*t, y, &mut values).ok()?;
            system.rates(*t, y, &mut rates).ok()?;
            let value = values[self.surface];
            let slope = (value - last) / step;
            last = value;
            step = -value / slope;
            if !step.is_finite() || step.abs() <= 4.0 * f64::EPSILON * t.abs() {
                break;
            }
        }
        Some(())
    }
}
