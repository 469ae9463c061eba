//! Runs of models with branches: one smooth segment after another.
//!
//! With the branches fixed (`problem/branches.rs`) a segment ends where a switching function $u$ passes zero. The
//! state stays, $u$ takes its new sign, and the next segment begins. Where $u = 0$ at the start of a segment, its
//! rate decides:
//!
//! $$ s = \operatorname{sign} \dot u, \qquad
//!    \dot u = \partial_t u + \partial_q u\,\dot q + \partial_{\dot q} u\,\ddot q(s). $$
//!
//! If no sign agrees with the rate that it leads to, the motion is pushed back to $u = 0$ from both sides (dry
//! friction that holds). The equations do not say how it goes on, and the run stops there.

use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::LagrangianData;
use pfaff_model::{Diagnostic, Principle, Workspace};

use crate::clock::Stopwatch;
use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::dense::Dense;
use crate::motion::note::{Note, brief};
use crate::motion::sample::Sample;
use crate::motion::verdict::Check;
use crate::motion::{Motion, Stop, StopReason};
use crate::problem::branches::Branches;
use crate::problem::settings::{Run, Settings};
use crate::problem::start::{Start, dynamics_span};
use crate::run::consistent_start::begin;
use crate::run::initial_value::{Segment, integrate_segment};
use crate::run::prepare::RunInput;
use crate::run::progress::Progress;
use crate::system::compiled::{CompiledSystem, Dynamics};

/// Segments in a row that are shorter than [`SHORT`] of the run: the motion switches without end.
const MOST_SHORT: usize = 100;
const SHORT: f64 = 1e-12;

/// Integrates a model with branches and audits the motion.
pub(crate) fn run(
    model: &Workspace,
    mut branches: Branches,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let settings = Settings::new(model, request)?;
    let clock = Stopwatch::start(request.clock);
    let lagrangian = match request.principle.unwrap_or(model.principle) {
        Principle::Chetaev => LagrangianData::of(&branches.model),
        Principle::Vakonomic | Principle::Restricted => None,
    };
    let dynamics = derive_in(&branches.model, request.principle)?;
    let mut state = first_state(model, request, &settings)?;
    let derive_us = clock.microseconds();

    let switching = Switching::new(&branches);
    let mut signs = vec![1.0; branches.functions.len()];
    let mut t = settings.t0;
    let mut whole: Option<Motion> = None;
    let mut short = 0;
    let mut fired = None;
    let mut work = [0.0; 2];
    let mut second = None;
    let mut reach = vec![0.0; signs.len()];
    let mut scales = Vec::new();
    let mut switches = Vec::new();
    // Rates before the switch.
    let mut before = Sample::new(model.coordinates.len(), 0);
    loop {
        let place = Place { t, state: &state, fired };
        let at_switch = second.as_ref().zip(fired).map(|(second, k)| {
            let place = Place { state: second, ..place };
            let span = settings.options.t1 - settings.t0;
            switching.values(&branches.model, &place, span).swap_remove(k)
        });
        let settled =
            switching.settle(&mut branches, &dynamics, &settings, &place, &mut signs)?;
        let Settled::From(rates) = settled else { return held(whole, model, t, switches) };
        if let (Some(second), Some(u), Some(rates)) = (&mut second, at_switch, rates) {
            u.shift(second, &before, &rates);
        }
        branches.set(&signs);
        switches.push((t, signs.clone()));
        let known = RunInput {
            lagrangian: lagrangian.clone().map(|l| with_parameters(l, &branches.model)),
            start: Some(state.clone()),
            switches: branches.functions.len(),
            second: second.take(),
            scales: std::mem::take(&mut scales),
            steps: whole.as_ref().map_or(0, |whole| whole.statistics.steps),
        };
        let rest = remaining(&settings, &branches, whole.as_ref(), t);
        let mut tell = |progress: &Progress<'_>| {
            let before = whole.as_ref();
            watch(&Progress {
                steps: progress.steps + before.map_or(0, |m| m.statistics.steps),
                rows: progress.rows + before.map_or(0, |m| m.t.len()),
                earlier: before,
                ..*progress
            })
        };
        let Segment {
            mut motion,
            end,
            second: again,
            scales: reached,
            acceleration,
            work: more,
        } = integrate_segment(&branches.model, &dynamics, known, rest, &mut tell)?;
        if !signs.is_empty() {
            // What a symmetry of one branch keeps is not kept over the switch, and has no name that users know.
            motion.audit.checks.retain(|check| !check.name.contains("branch "));
            let tolerance = settings.options.tolerance;
            let check =
                switching.check(&branches.model, &motion, &signs, &mut reach, tolerance);
            motion.audit.add(vec![check]);
        }
        motion.work.iter_mut().for_each(|w| *w += work[0]);
        work = [work[0] + more[0], work[1] + more[1]];
        let crossing = motion.events.last().cloned();
        motion.events.retain(|event| branches.is_own(&event.name));
        let (stop, length) = (motion.stop.clone(), motion.stop.t - t);
        match &mut whole {
            Some(whole) => whole.append(motion),
            None => whole = Some(motion),
        }
        let StopReason::Event(name) = &stop.reason else { break };
        fired = branches.switch(name);
        match (fired, crossing.map(|crossing| crossing.direction)) {
            (Some(k), Some("rising")) => signs[k] = 1.0,
            (Some(k), Some("falling")) => signs[k] = -1.0,
            (Some(_), _) => {}
            // The state has jumped to where other branches hold.
            (None, _) if model.is_reset(name) => {}
            (None, _) => break,
        }
        short =
            if length < SHORT * (settings.options.t1 - settings.t0) { short + 1 } else { 0 };
        if short > MOST_SHORT {
            return held(whole, model, stop.t, switches);
        }
        (before.t, before.a) = (stop.t, acceleration);
        scales = reached;
        before.v.clone_from(&end.v);
        (t, state, second) = (stop.t, end, again);
    }
    let mut motion = whole.expect("at least one segment");
    motion.statistics.derive_us = derive_us;
    motion.switches = switches;
    if settings.outputs_only {
        motion.dense = Dense::default();
    }
    Ok(motion)
}

/// The start of the model as it is written.
fn first_state(
    model: &Workspace,
    request: &Run,
    settings: &Settings,
) -> Result<Start, Failure> {
    let dynamics = derive_in(model, request.principle)?;
    let mut system = CompiledSystem::new(model, &dynamics, settings.backend)?;
    begin(model, &dynamics, &mut system, settings.t0)
}

fn with_parameters(lagrangian: LagrangianData, model: &Workspace) -> LagrangianData {
    lagrangian.with_parameters(model.parameters.iter().map(|p| (p.symbol, p.value)).collect())
}

/// The settings of what is left from a time on.
fn remaining(
    settings: &Settings,
    branches: &Branches,
    whole: Option<&Motion>,
    t: f64,
) -> Settings {
    let mut rest = settings.clone();
    rest.t0 = t;
    rest.options.t0 = t;
    rest.breaks.clone_from(&branches.breaks);
    // NOTE: the check of the branches looks between the outputs.
    rest.outputs_only &= branches.functions.is_empty();
    if let Some(whole) = whole {
        let reached = whole.t.last().copied().unwrap_or(f64::NEG_INFINITY);
        rest.times.retain(|&time| time > reached.max(t) || (time == t && time > reached));
        rest.options.max_steps -= whole.statistics.steps.min(rest.options.max_steps);
    }
    rest
}

/// A motion that ends where it is held between two branches; at the start there is none.
fn held(
    whole: Option<Motion>,
    model: &Workspace,
    t: f64,
    switches: Vec<(f64, Vec<f64>)>,
) -> Result<Motion, Failure> {
    let why =
        "the motion is pushed back from both sides of a switch (as by dry friction that holds)";
    let Some(mut motion) = whole else {
        let message = format!("at the initial state {why}: the equations do not determine it");
        let diagnostic = Diagnostic::error("E0603", dynamics_span(model), message)
            .with_hint("give an initial velocity, or replace `sign(v)` by a steep function such as `tanh(v/0.001)`");
        return Err(Failure::Model(vec![diagnostic]));
    };
    motion.stop = Stop { reason: StopReason::Singular, t };
    motion.switches = switches;
    let sentence =
        format!("at t = {} {why}: beyond, the equations do not determine it", brief(t));
    motion.notes.push(Note::Stopped(sentence));
    Ok(motion)
}

/// The switching functions with their slopes.
struct Switching {
    graph: Graph,
    functions: Vec<Expr>,
    /// Along $t$, $q$ and $\dot q$.
    slopes: Vec<Vec<Expr>>,
    state: Vec<Expr>,
}

/// Where a segment begins.
struct Place<'a> {
    t: f64,
    state: &'a Start,
    /// The switching function that ended the segment before.
    fired: Option<usize>,
}

/// How a motion goes on from a state.
enum Settled {
    /// With these rates, if they were needed.
    From(Option<Sample>),
    /// It is pushed back from both sides of a switch.
    Held,
}

/// A switching function at a state.
struct SwitchValue {
    u: f64,
    slopes: Vec<f64>,
    /// The rounding that it has.
    noise: f64,
}

impl Switching {
    fn new(branches: &Branches) -> Self {
        let model = &branches.model;
        let mut state = vec![model.time];
        state.extend(model.positions().into_iter().chain(model.velocities()));
        let graph = model.graph.clone();
        let slopes = branches.functions.iter().map(|&u| graph.gradient(u, &state)).collect();
        Self { graph, functions: branches.functions.clone(), slopes, state }
    }

    /// Finds the signs with which a motion goes on from a state. Functions at zero begin with the signs given.
    fn settle(
        &self,
        branches: &mut Branches,
        dynamics: &Dynamics,
        settings: &Settings,
        place: &Place<'_>,
        signs: &mut [f64],
    ) -> Result<Settled, Failure> {
        let span = settings.options.t1 - settings.t0;
        let mut zeros = Vec::new();
        // A function may contain branches of others: it is known when they are.
        for _ in 0..=signs.len() {
            branches.set(signs);
            let before = signs.to_vec();
            zeros.clear();
            let values = self.values(&branches.model, place, span);
            for (k, (SwitchValue { u, noise, .. }, sign)) in
                values.iter().zip(&mut *signs).enumerate()
            {
                if place.fired == Some(k) || u.abs() <= *noise {
                    zeros.push(k);
                } else {
                    *sign = u.signum();
                }
            }
            if before == *signs {
                break;
            }
        }
        if zeros.is_empty() {
            return Ok(Settled::From(None));
        }
        for _ in 0..2 * zeros.len() + 2 {
            branches.set(signs);
            let Some(sample) = accelerations(branches, dynamics, settings, place)? else {
                // The segment itself says why it cannot begin.
                return Ok(Settled::From(None));
            };
            let values = self.values(&branches.model, place, span);
            let mut settled = true;
            for &k in &zeros {
                let (rate, noise) = values[k].rate(&sample);
                if rate.abs() > noise && rate.signum() != signs[k] {
                    signs[k] = rate.signum();
                    settled = false;
                }
            }
            if settled {
                return Ok(Settled::From(Some(sample)));
            }
        }
        Ok(Settled::Held)
    }

    /// Whether every switching function kept its sign along a segment: the largest value with the other sign, as a
    /// part of the largest value in all segments so far.
    fn check(
        &self,
        model: &Workspace,
        motion: &Motion,
        signs: &[f64],
        reach: &mut [f64],
        tolerance: f64,
    ) -> Check {
        let mut worst = None;
        let mut off = vec![0.0_f64; signs.len()];
        for (t, q, v) in motion.dense.states_between() {
            let at = |δ: f64| {
                let q: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + δ * v).collect();
                self.graph.evaluate(&self.functions, &self.symbols(model, t + δ, &q, &v))
            };
            worst = Some(0.0);
            for (k, u) in at(0.0).into_iter().enumerate() {
                reach[k] = reach[k].max(u.abs());
                if -u * signs[k] > off[k] {
                    // Time is rounded.
                    let δ = 4.0 * f64::EPSILON * t.abs();
                    let around = [at(-δ)[k], u, at(δ)[k]];
                    let least =
                        around.iter().map(|u| -u * signs[k]).fold(f64::INFINITY, f64::min);
                    off[k] = off[k].max(least);
                }
            }
        }
        for (off, reach) in off.iter().zip(reach) {
            if *off > 0.0 {
                worst = worst.map(|w: f64| w.max(off / *reach));
            }
        }
        let reason = "a segment ends where a switching function passes zero, as accurately as the interpolant shows \
            it: 100·tolerance^(7/8)";
        let limit = 100.0 * libm::pow(tolerance, 0.875) + 3e-8;
        Check::measured("branches".into(), worst, limit, reason)
    }

    /// The values of symbols at a state.
    fn symbols<'a>(
        &'a self,
        model: &'a Workspace,
        t: f64,
        q: &'a [f64],
        v: &'a [f64],
    ) -> impl Fn(Expr) -> f64 + 'a {
        let n = q.len();
        move |s: Expr| {
            let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
            match self.state.iter().position(|&x| x == s) {
                Some(0) => t,
                Some(k) if k <= n => q[k - 1],
                Some(k) => v[k - 1 - n],
                None => parameter().unwrap_or(f64::NAN),
            }
        }
    }

    fn values(&self, model: &Workspace, place: &Place<'_>, span: f64) -> Vec<SwitchValue> {
        let Place { t, state: Start { q, v, .. }, .. } = place;
        // Events are located to about 1e-12 of the run.
        let sizes =
            [span].into_iter().chain(q.iter().zip(v).map(|(q, v)| q.abs() + v.abs() * span));
        let sizes: Vec<f64> = sizes.chain(v.iter().map(|v| v.abs())).collect();
        let at = self.symbols(model, *t, q, v);
        let one = |(k, &u): (usize, &Expr)| {
            let value = self.graph.evaluate(&[u], &at)[0];
            let slopes = self.graph.evaluate(&self.slopes[k], &at);
            let parts = slopes.iter().zip(&sizes).map(|(slope, size)| slope.abs() * size);
            let noise = 1e-12 * parts.sum::<f64>();
            SwitchValue { u: value, slopes, noise }
        };
        self.functions.iter().enumerate().map(one).collect()
    }
}

impl SwitchValue {
    /// Moves the state of another integration over a switch that this one reaches at another time,
    /// $\delta = -u/\dot u$: until then it has the rates from before.
    fn shift(&self, state: &mut Start, before: &Sample, after: &Sample) {
        let (rate, _) = self.rate(before);
        let rounding = 0.5 * f64::EPSILON * before.t.abs();
        let δ = -self.u / rate;
        let δ = δ + rounding.copysign(δ);
        if !δ.is_finite() {
            return;
        }
        let move_by = |x: &mut f64, before: f64, after: f64| {
            let change = δ * (before - after);
            if change.is_finite() {
                *x += change;
            }
        };
        for (k, (q, v)) in state.q.iter_mut().zip(&mut state.v).enumerate() {
            move_by(q, before.v[k], after.v[k]);
            move_by(v, before.a[k], after.a[k]);
        }
    }

    /// $\dot u$, and the rounding that it has.
    fn rate(&self, sample: &Sample) -> (f64, f64) {
        let rates = [1.0].into_iter().chain(sample.v.iter().chain(&sample.a).copied());
        let (mut rate, mut size) = (0.0, 0.0);
        for (slope, x) in self.slopes.iter().zip(rates) {
            if *slope != 0.0 {
                rate += slope * x;
                size += (slope * x).abs();
            }
        }
        (rate, 1e-12 * size)
    }
}

/// Velocities and accelerations at a state with the branches as they are set; `None` where they have no value.
fn accelerations(
    branches: &Branches,
    dynamics: &Dynamics,
    settings: &Settings,
    place: &Place<'_>,
) -> Result<Option<Sample>, Failure> {
    let model = &branches.model;
    let Place { t, state: Start { q, v, multipliers, .. }, .. } = place;
    let mut system = CompiledSystem::new(model, dynamics, settings.backend)?;
    let y = system.state(*t, q, v, multipliers);
    let mut sample = Sample::new(model.coordinates.len(), model.constraints.len());
    Ok(system.resolve(*t, &y, false, &mut sample).is_ok().then_some(sample))
}
