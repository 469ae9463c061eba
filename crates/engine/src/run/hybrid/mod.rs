//! Runs of models whose equations switch: one smooth segment after another.
//!
//! A segment is the motion of one phase (`phase.rs`): a smooth model with the constraints and forces that hold. It
//! ends where a branch of a function changes (`switching.rs`), a contact lets go or slides, a condition ends, or an
//! event leads to another mode. Then it is settled what holds from there on (`settle.rs`), the velocities meet the
//! constraints of the next phase by the impact form of (K), and the energy that this takes counts as work.

mod accumulation;
mod ahead;
mod columns;
mod condition;
mod condition_function;
mod corner;
mod crowd;
mod delay;
mod ending;
mod filippov;
mod friction;
mod joints;
mod modes;
mod phase;
mod second_history;
mod settle;
mod switching;
mod trail;

use pfaff_model::{Principle, Workspace};

use crate::clock::Stopwatch;
use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::note::Note;
use crate::motion::sample::Sample;
use crate::motion::side::Side;
use crate::motion::verdict::Verdict;
use crate::motion::{EventRecord, Motion, StopReason};
use crate::problem::branches::Branches;
use crate::problem::settings::{OutputSpacing, Run, Settings};
use crate::problem::start::Start;
use crate::run::consistent_start::begin;
use crate::run::global_error::Late;
use crate::run::hybrid::accumulation::ImpactLog;
use crate::run::hybrid::corner::Corners;
use crate::run::hybrid::crowd::Crowd;
use crate::run::hybrid::delay::Delays;
use crate::run::hybrid::phase::{Discrete, Phase, Phases, Switch};
use crate::run::hybrid::switching::{Place, Switching};
use crate::run::initial_value::{Segment, integrate_segment};
use crate::run::prepare::RunInput;
use crate::run::progress::Progress;
use crate::system::compiled::CompiledSystem;
use crate::system::contact::{Hints, Impacted};

pub(crate) use trail::{JumpMaps, Piece, Trail};

/// Segments in a row that are shorter than [`SHORT`] of the run: the motion switches without end.
const MOST_SHORT: usize = 100;
const SHORT: f64 = 1e-12;

/// Whether the equations of a model switch along its motion.
pub(crate) fn is_hybrid(model: &Workspace) -> bool {
    let changes = |reset: &pfaff_model::Reset| {
        reset.mode.is_some() || reset.stop.is_some() || !reset.parameters.is_empty()
    };
    model.hybrid.switches()
        || !model.hybrid.delays.is_empty()
        || model.resets.iter().any(changes)
        || Branches::of(model).is_some()
}

/// Integrates a model whose equations switch, and audits the motion.
pub(crate) fn run(
    model: &Workspace,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let motion = integrated(model, request, watch, None)?;
    if model.hybrid.delays.is_empty() {
        Ok(motion)
    } else {
        second_history::compared(model, request, motion, watch)
    }
}

fn integrated(
    model: &Workspace,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    mut pieces: Option<&mut Vec<Piece>>,
) -> Result<Motion, Failure> {
    let settings = Settings::new(model, request)?;
    let clock = Stopwatch::start(request.clock);
    let span = settings.options.t1 - settings.t0;
    let own = model.parameters.len();
    let times = (settings.t0, settings.options.t1);
    let mut delays = Delays::new(model, own, times, settings.options.tolerance);
    let mut changed;
    let model = match &mut delays {
        Some(delays) => {
            changed = delay::substituted(model);
            // What is known of the start does not depend on what was before, apart from sampled laws.
            delays.begin(&first_state(&changed, request, &settings)?);
            let mut values: Vec<f64> = changed.parameters.iter().map(|p| p.value).collect();
            delays.piece(&changed, None, settings.t0, &mut values);
            changed.parameters.iter_mut().zip(values).for_each(|(p, value)| p.value = value);
            &changed
        }
        None => model,
    };
    let phases = Phases::new(model, request.principle, settings.backend, span);
    // NOTE: other principles determine velocities by their multipliers.
    let is_chetaev = request.principle.unwrap_or(model.principle) == Principle::Chetaev;
    let velocities_jump = model.hybrid.switches()
        || (is_chetaev && phase::constraints_jump(model, own, &phases.branches));
    let state = first_state(model, request, &settings)?;
    let mut run = HybridRun {
        switching: Switching::new(&phases.branches),
        corners: Corners::new(&phases.branches, request.principle.unwrap_or(model.principle)),
        branches: phases.branches.clone(),
        now: phases.first(),
        t: settings.t0,
        reach: vec![0.0; phases.branches.functions.len()],
        before: Sample::new(model.coordinates.len(), 0),
        counts: vec![0; model.events.len()],
        until: settings.options.t1,
        delays,
        phases,
        model,
        settings,
        state,
        landed: None,
        second: None,
        cause: Cause::default(),
        log: ImpactLog::default(),
        whole: None,
        short: 0,
        crowd: Crowd::default(),
        growth: 1.0,
        late: Late::default(),
        work: [0.0; 2],
        scales: Vec::new(),
        switches: Vec::new(),
        impacted: Impacted::default(),
        is_ambiguous: false,
        blurred: None,
        is_moved: false,
        velocities_jump,
        astray: None,
        speed: 0.0,
        sizes: Vec::new(),
        energy: 0.0,
    };
    let derive_us = clock.microseconds();
    loop {
        run.look_back();
        let has_contacts = !model.hybrid.contacts.is_empty();
        match run.settle() {
            Ok(None) => {}
            Ok(Some(why)) => return run.held(&why),
            // NOTE: contacts close by themselves; other constraints begin where the text lets them.
            Err(Failure::Model(found)) if has_contacts => return run.contradicted(found),
            Err(failure) => return Err(failure),
        }
        let (phase, segment) = match run.integrate(watch) {
            Ok(found) => found,
            Err(Failure::Model(found)) => return run.contradicted(found),
            Err(failure) => return Err(failure),
        };
        let piece = pieces.as_ref().map(|_| run.piece(&phase, &segment));
        let goes_on = run.go_on(&phase, segment);
        if let (Some(pieces), Some(mut piece)) = (&mut pieces, piece) {
            piece.is_limit = goes_on && run.t != piece.to;
            pieces.push(piece);
        }
        if let Some(why) = run.astray {
            return run.held(why);
        }
        if !goes_on {
            break;
        }
        if run.multiplies() {
            return Ok(run.given_up());
        }
        if run.short > MOST_SHORT || run.is_crowded() {
            let why = "the motion switches without end";
            return run.held(why);
        }
    }
    let mut motion = run.finished();
    motion.statistics.derive_us = derive_us;
    Ok(motion)
}

/// The start of the model as it is written.
fn first_state(
    model: &Workspace,
    request: &Run,
    settings: &Settings,
) -> Result<Start, Failure> {
    let mut bare = model.clone();
    // NOTE: they may speak of contacts, which have no multipliers yet; the start does not need them.
    bare.observed.clear();
    bare.events.clear();
    bare.resets.clear();
    let dynamics = derive_in(&bare, request.principle)?;
    let mut system = CompiledSystem::new(&bare, &dynamics, settings.backend)?;
    begin(&bare, &dynamics, &mut system, settings.t0)
}

/// Why a segment has ended, as far as the next one must know.
#[derive(Debug, Default)]
struct Cause {
    /// A switching function that has left its sign, and all signs before.
    fired: Option<usize>,
    signs: Vec<Side>,
    /// A switching function at which the motion stayed until now.
    left: Option<usize>,
    hints: Hints,
    /// A constraint that may begin to hold, or has just ended.
    grip: Option<usize>,
    dropped: Option<usize>,
}

/// A run under way.
struct HybridRun<'a> {
    model: &'a Workspace,
    settings: Settings,
    phases: Phases,
    branches: Branches,
    switching: Switching,
    corners: Corners,
    now: Discrete,
    t: f64,
    state: Start,
    /// That in which the last segment has ended, if the run goes on from another one.
    landed: Option<Start>,
    /// That of the second integration.
    second: Option<Start>,
    cause: Cause,
    log: ImpactLog,
    delays: Option<Delays>,
    /// How far what is delayed is known.
    until: f64,
    whole: Option<Motion>,
    /// Short segments in a row.
    short: usize,
    crowd: Crowd,
    /// How much the motion made a change grow so far, as far as that was measured.
    growth: f64,
    /// What the rounding of time has done so far.
    late: Late,
    work: [f64; 2],
    reach: Vec<f64>,
    scales: Vec<f64>,
    switches: Vec<(f64, Vec<Side>)>,
    /// Rates before the switch.
    before: Sample,
    counts: Vec<usize>,
    impacted: Impacted,
    /// Whether contacts could carry in several ways.
    is_ambiguous: bool,
    /// A condition that rounding has decided, and when.
    blurred: Option<(String, f64)>,
    /// Whether the velocities have changed at the start of the segment.
    is_moved: bool,
    /// Whether velocities may jump at a switch because other constraints, or other branches of them, hold then.
    velocities_jump: bool,
    /// Why a segment that was on the wrong side of a switch is left out.
    astray: Option<&'static str>,
    /// The largest velocity so far, and the largest values of all positions and velocities.
    speed: f64,
    sizes: Vec<f64>,
    /// The largest energy so far.
    energy: f64,
}

impl HybridRun<'_> {
    fn place<'b>(&self, state: &'b Start) -> Place<'b> {
        let span = self.settings.options.t1 - self.settings.t0;
        Place { t: self.t, state, fired: self.cause.fired, span }
    }

    /// Finds what is delayed from here on.
    fn look_back(&mut self) {
        if let Some(delays) = &self.delays {
            let (model, whole) = (&self.phases.branches.model, self.whole.as_ref());
            self.until = delays.piece(model, whole, self.t, &mut self.now.parameters);
            if self.whole.is_some() {
                let (t, parameters) = (self.t, &self.now.parameters);
                delays.sample(
                    model,
                    t,
                    parameters,
                    [Some(&mut self.state), self.second.as_mut()],
                );
            }
        }
    }

    /// The motion of the present phase.
    fn integrate(
        &mut self,
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<(Phase, Segment), Failure> {
        let phase = self.phases.phase(&self.now)?;
        self.switches.push((self.t, self.now.signs.clone()));
        let known = RunInput {
            lagrangian: phase.lagrangian.clone(),
            start: Some(self.state.clone()),
            switches: phase.switches.len(),
            second: self.second.take(),
            scales: std::mem::take(&mut self.scales),
            steps: self.whole.as_ref().map_or(0, |whole| whole.statistics.steps),
            growth: self.growth,
            late: std::mem::take(&mut self.late),
            contacts: self.phases.solver(&self.now, &self.sizes)?,
            has_closed: self.now.contacts.iter().any(|c| !c.is_open()),
            counts: self.counts.clone(),
            sizes: self.sizes.clone(),
            energy: self.energy,
            noise: None,
            template: None,
            sensitivities: Vec::new(),
        };
        let rest = self.remaining();
        let (whole, names) = (&self.whole, &self.phases.names);
        let complete = |segment: &mut Motion| {
            Self::complete_columns(names, &phase, segment);
        };
        let mut tell = |progress: &Progress<'_>| {
            let before = whole.as_ref();
            watch(&Progress {
                steps: progress.steps + before.map_or(0, |m| m.statistics.steps),
                rows: progress.rows + before.map_or(0, |m| m.t.len()),
                earlier: before,
                complete: Some(&complete),
                ..*progress
            })
        };
        let segment = integrate_segment(&phase.model, &phase.dynamics, known, rest, &mut tell)?;
        Ok((phase, segment))
    }

    /// The settings of what is left.
    fn remaining(&mut self) -> Settings {
        let mut rest = self.settings.clone();
        // NOTE: the rows of a segment are put together with those before it.
        rest.streams = false;
        let t = self.t;
        rest.t0 = t;
        rest.options.t0 = t;
        if self.delays.is_some() {
            rest.options.t1 = self.until;
            rest.times.retain(|time| *time <= self.until);
            rest.outputs_only = false;
        }
        rest.breaks.clone_from(&self.branches.breaks);
        // NOTE: the check of the branches looks between the outputs.
        rest.outputs_only &= self.branches.functions.is_empty();
        if let Some(whole) = &mut self.whole {
            let reached = whole.t.last().copied().unwrap_or(f64::NEG_INFINITY);
            rest.times.retain(|&time| time > reached.max(t) || (time == t && time > reached));
            rest.options.max_steps -= whole.statistics.steps.min(rest.options.max_steps);
            let is_shown = rest.spacing == OutputSpacing::Even || reached == t;
            let rows = whole.t.len();
            let has_jumped = rows > 1 && whole.t[rows - 2..] == [t; 2];
            if (self.is_moved && is_shown || has_jumped) && rest.times.first() != Some(&t) {
                // The row after the jump is that of the new phase: its forces are those of what slides now.
                if has_jumped {
                    whole.truncate(rows - 1);
                }
                rest.times.insert(0, t);
            }
        }
        rest
    }

    /// Takes a segment into the motion, and why it has ended; says whether another one follows.
    fn go_on(&mut self, phase: &Phase, segment: Segment) -> bool {
        let Segment { mut motion, end, second, scales, acceleration, work, .. } = segment;
        if !self.now.signs.is_empty() {
            // What a symmetry of one branch keeps is not kept over the switch, and has no name that users know.
            motion.audit.checks.retain(|check| !check.name.contains("branch "));
            let (signs, reach) = (&self.now.signs, &mut self.reach);
            let tolerance = self.settings.options.tolerance;
            let check = self.switching.check(&phase.model, &motion, signs, reach, tolerance);
            if check.verdict == Verdict::Fail && self.whole.is_some() {
                // Rounding decides on which side it is: switches have accumulated.
                self.astray = Some("the motion switches ever faster");
                return false;
            }
            motion.audit.add(vec![check]);
        }
        motion.work.iter_mut().for_each(|w| *w += self.work[0]);
        self.work = [self.work[0] + work[0], self.work[1] + work[1]];
        let crossing = motion.events.last().cloned();
        self.corners.see(&motion);
        Self::complete_columns(&self.phases.names, phase, &mut motion);
        columns::tell_once(self.whole.as_ref(), &mut motion);
        let closing = segment.accumulated.and_then(|event| self.contact_of(event));
        if closing.is_some() {
            motion.notes.retain(|note| !matches!(note, Note::Stopped(_)));
        }
        let energies = motion.energy.iter().filter(|e| e.is_finite());
        self.energy = energies.fold(self.energy, |m, e| m.max(e.abs()));
        if self.velocities_jump {
            let columns = motion.q.iter().chain(&motion.v);
            self.sizes.resize(motion.q.len() + motion.v.len(), 0.0);
            for (size, series) in self.sizes.iter_mut().zip(columns) {
                let finite = series.values.iter().filter(|x| x.is_finite());
                *size = finite.fold(*size, |m, x| m.max(x.abs()));
            }
            self.speed = self.sizes[motion.q.len()..].iter().fold(0.0, |m, v| m.max(*v));
        }
        let (stop, length) = (motion.stop.clone(), motion.stop.t - self.t);
        match &mut self.whole {
            Some(whole) => whole.append(motion),
            None => self.whole = Some(motion),
        }
        self.impacted.add(&segment.outcome.impacted);
        self.counts.iter_mut().zip(&segment.counts).for_each(|(count, &now)| *count = now);
        self.cause = Cause::default();
        let span = self.settings.options.t1 - self.settings.t0;
        self.short = if length < SHORT * span { self.short + 1 } else { 0 };
        (self.before.t, self.before.a) = (stop.t, acceleration);
        self.before.v.clone_from(&end.v);
        (self.growth, self.late) = (segment.growth, segment.late);
        self.scales = scales;
        if self.velocities_jump {
            // The other variables may be different ones in the next phase.
            self.scales.truncate(self.model.coordinates.len());
            // What has not moved is measured by what has.
            let largest = self.scales.iter().fold(0.0_f64, |m, x| m.max(*x));
            for scale in self.scales.iter_mut().filter(|scale| **scale < 1e-100 * largest) {
                *scale = largest;
            }
        }
        (self.t, self.state, self.second) = (stop.t, end, second);
        let is_piece = self.delays.is_some() && stop.t < self.settings.options.t1;
        if let Some(delays) = &mut self.delays
            && stop.reason != StopReason::End
        {
            delays.corner(stop.t);
        }
        match (&stop.reason, closing) {
            (StopReason::End, _) => is_piece,
            (StopReason::Singular, Some(contact)) => {
                self.cause.hints.closed.push(contact);
                true
            }
            (StopReason::Event(name), _) => {
                let place = phase.model.events.iter().position(|event| event.name == *name);
                let place = place.expect("an event of the phase");
                match place.checked_sub(self.phases.own_events) {
                    Some(k) => {
                        self.switched(phase, phase.switches[k], crossing.as_ref());
                        true
                    }
                    None => self.jumped(&segment.outcome, place, &segment.last),
                }
            }
            _ => false,
        }
    }

    /// The contact of an event.
    fn contact_of(&self, event: usize) -> Option<usize> {
        self.model.hybrid.contacts.iter().position(|contact| contact.event == event)
    }

    /// A phase has ended by itself.
    fn switched(&mut self, phase: &Phase, switch: Switch, crossing: Option<&EventRecord>) {
        match switch {
            Switch::Branch(k) => {
                self.cause.fired = Some(k);
                self.cause.signs.clone_from(&self.now.signs);
                match crossing.map(|crossing| crossing.direction) {
                    Some("rising") => self.now.signs[k] = Side::Above,
                    Some("falling") => self.now.signs[k] = Side::Below,
                    _ => {}
                }
            }
            Switch::Lift(k) => self.cause.hints.released.push(k),
            Switch::Break(k, f, sign) => {
                let direction = match sign {
                    Some(sign) => [sign, 0.0],
                    None => self.broken(phase, (k, f), crossing),
                };
                self.cause.hints.sliding.push((k, f, direction));
                self.followers(k, f, direction[0]);
            }
            Switch::Stir => {}
            Switch::Halt(k, f) => self.cause.hints.stopped.push((k, f)),
            Switch::Leave(k, sign) => {
                self.now.signs[k] = Side::of(sign);
                self.cause.left = Some(k);
            }
            Switch::Drop(i) => self.cause.dropped = Some(i),
            Switch::Grip(i) => self.cause.grip = Some(i),
        }
    }

    /// An event of the model has ended a segment; says whether the run goes on.
    fn jumped(
        &mut self,
        outcome: &crate::system::compiled::JumpOutcome,
        event: usize,
        last: &[usize],
    ) -> bool {
        let is_jump = |event: usize| {
            self.contact_of(event).is_some()
                || self.model.is_reset(&self.model.events[event].name)
        };
        if outcome.stop.is_some() || !is_jump(event) {
            return false;
        }
        debug_assert!(last.contains(&event), "the events of the last jump");
        self.hit_second(last);
        self.now.mode = outcome.mode.unwrap_or(self.now.mode);
        for &(parameter, value) in &outcome.parameters {
            self.now.parameters[parameter] = value;
        }
        if let Some((q, v)) = &outcome.state {
            self.landed = Some(self.state.clone());
            self.state.q.clone_from(q);
            self.state.v.clone_from(v);
        }
        let hit: Vec<usize> = last.iter().filter_map(|&event| self.contact_of(event)).collect();
        if !hit.is_empty() {
            let times = (self.settings.t0, self.t);
            let limit = self.log.note(times, hit, &self.state);
            if let Some(limit) = limit.filter(|limit| limit.t < self.settings.options.t1) {
                (self.t, self.state) = (limit.t, limit.state);
                self.cause.hints.closed.extend(limit.contacts);
            }
        }
        true
    }
}
