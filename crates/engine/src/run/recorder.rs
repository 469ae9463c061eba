//! The observer of a run: samples at the output times, and a thinned set of steps for the audit.

use std::cell::Cell;

use pfaff_solver::{Control, DenseStep, LocatedEvent, Observer, StoredStep, System};

use crate::motion::dense::{Dense, Node};
use crate::motion::sample::Sample;
use crate::problem::settings::{OutputSpacing, Settings};
use crate::run::progress::Progress;
use crate::run::rank_watch::{RankOutcome, RankWatch};
use crate::run::record::{Jump, Record, RecordedEvent, Setting};
use crate::run::work_within::WorkWithin;
use crate::system::compiled::CompiledSystem;

/// How many steps the audit keeps: when there are more, every second one is dropped and the stride doubles.
const KEPT: usize = 64;
/// Outputs of one step between which the watcher is asked: a step may have more of them than there is memory.
const OUTPUTS: usize = 4096;

/// Watches a run.
pub(crate) struct Recorder<'a> {
    system: CompiledSystem,
    times: &'a [f64],
    backward: bool,
    /// One row of the samples, re-used.
    sample: Sample,
    y: Vec<f64>,
    seen: Vec<f64>,
    work: WorkWithin,
    tolerance: f64,
    pub(crate) record: Record,
    pub(crate) kept: Vec<StoredStep>,
    spare: Vec<StoredStep>,
    stride: usize,
    steps: usize,
    setting: Setting<'a>,
    /// The states in between, unless only the outputs are wanted; and how close the nodes lie.
    pub(crate) dense: Dense,
    spacing: Option<f64>,
    /// When the state jumped, and whether each jump has its rows.
    pub(crate) jumps: Vec<f64>,
    shows_jumps: bool,
    /// Where constraints lose their hold.
    pub(crate) rank: Option<RankWatch>,
    /// Derivatives that are integrated with the motion, at outputs and events, where they are wanted.
    pub(crate) tangents: Option<Vec<(f64, Vec<f64>)>>,
    /// Whether rows are forgotten that the watcher has.
    streams: bool,
    /// Where in a step the run was ended by its watcher.
    pub(crate) cut: Option<f64>,
    watch: &'a mut dyn FnMut(&Progress<'_>) -> bool,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        system: &CompiledSystem,
        setting: Setting<'a>,
        settings: &'a Settings,
        watch: &'a mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Self {
        let times = &settings.times;
        let observed = setting.model.observed.len();
        let system = system.clone();
        let (n, m) = (system.n, system.m);
        Self {
            times,
            backward: times.len() > 1 && times[1] < times[0],
            sample: Sample::new(n, m),
            y: vec![0.0; system.dimension()],
            seen: vec![0.0; observed],
            work: WorkWithin::default(),
            tolerance: settings.options.tolerance,
            record: Record::new(setting.model, times.len()),
            kept: Vec::with_capacity(KEPT),
            spare: Vec::with_capacity(KEPT),
            stride: 1,
            steps: 0,
            setting,
            dense: Dense::new(n),
            spacing: (!settings.outputs_only).then_some(settings.options.tolerance),
            jumps: Vec::new(),
            shows_jumps: settings.spacing == OutputSpacing::Even,
            rank: None,
            tangents: None,
            streams: settings.streams,
            cut: None,
            watch,
            system,
        }
    }

    /// Samples at the start, if that is an output time.
    pub(crate) fn start(&mut self, t: f64, y: &[f64]) {
        if let Some(rank) = &mut self.rank {
            rank.start(&mut self.system, t, y);
        }
        self.y.copy_from_slice(y);
        if self.times.first() == Some(&t) {
            self.output(t);
        } else {
            self.resolve(t);
        }
        if let Some(work) = self.system.work(y) {
            self.work.see(self.sample.energy, work[0]);
        }
        self.put_node(t, y);
    }

    /// A node of the dense output, if that is wanted.
    fn put_node(&mut self, t: f64, y: &[f64]) {
        if self.spacing.is_some() {
            let mut node = Node::default();
            let (system, sample) = (&mut self.system, &mut self.sample);
            node_at(system, sample, t, y, &mut node);
            self.dense.push(&node);
        }
    }

    /// Nodes of the dense output up to the end of a step.
    fn extend(&mut self, step: &DenseStep<'_>, tolerance: f64) {
        let Self { dense, system, sample, y, .. } = self;
        dense.extend(step.end(), tolerance, &mut |t, node| {
            step.state(t, y);
            node_at(system, sample, t, y, node);
        });
    }

    /// Whether the run ended because nothing is determined beyond.
    pub(crate) fn is_undetermined(&self) -> bool {
        let last = self.rank.as_ref().and_then(|rank| rank.places.last());
        last.is_some_and(|place| place.outcome == RankOutcome::Undetermined)
    }

    /// The state in which the run stopped, unless it is an output already.
    pub(crate) fn stopped(&mut self, t: f64, y: &[f64]) {
        if self.record.last_time() != Some(t) {
            self.y.copy_from_slice(y);
            self.sample(t);
        }
    }

    /// Shows how far the run is.
    pub(crate) fn show(&mut self, t: f64, is_last: bool) -> bool {
        let forgotten = Cell::new(0);
        let progress = Progress {
            t,
            steps: self.steps,
            rows: self.record.len(),
            is_last,
            setting: self.setting,
            record: &self.record,
            forgotten: &forgotten,
            earlier: None,
            complete: None,
        };
        let goes_on = (self.watch)(&progress);
        if self.streams {
            self.record.forget(forgotten.get());
        }
        goes_on
    }

    /// The row of the next output time, from the state in `y`.
    fn output(&mut self, t: f64) {
        self.sample(t);
        self.record.reached += 1;
    }

    /// One row from the state in `y`.
    fn sample(&mut self, t: f64) {
        self.resolve(t);
        self.record.push(&self.sample, &self.seen);
        self.record.work.extend(self.system.work(&self.y));
        self.keep_tangents(t);
    }

    /// The derivatives in `y`, where they are wanted.
    fn keep_tangents(&mut self, t: f64) {
        if let Some(rows) = &mut self.tangents {
            rows.extend(self.system.with_tangents(t, &self.y).map(|row| (t, row)));
        }
    }

    /// What follows from the state in `y`, and what is observed there.
    fn resolve(&mut self, t: f64) {
        let resolved = self.system.resolve(t, &self.y, true, &mut self.sample);
        if resolved.is_err() {
            // NOTE: the state is what it is; what follows from it has no value there.
            self.sample.a.fill(f64::NAN);
            self.sample.multipliers.fill(f64::NAN);
            self.sample.reaction.fill(f64::NAN);
        }
        self.system.observe(&self.sample, &mut self.seen);
    }

    /// Writes the work of the last row again if it does not belong to its energy.
    fn check_work(&mut self, step: &DenseStep<'_>, t: f64) {
        let Some(&[mut work, _]) = self.record.work.last() else { return };
        let energy = self.sample.energy;
        // NOTE: the power of a white force is known to the step alone.
        if t != step.end()
            && self.system.noise.is_none()
            && self.work.is_off(energy, work, self.tolerance)
            && let Some(integrated) = self.work.integrate(&mut self.system, step, t)
        {
            self.record.work.pop();
            self.record.work.push(integrated);
            work = integrated[0];
        }
        self.work.see(energy, work);
    }

    fn is_before(&self, t: f64, end: f64) -> bool {
        if self.backward { t >= end } else { t <= end }
    }

    fn keep(&mut self, step: &DenseStep<'_>) {
        if self.kept.len() == KEPT {
            for k in 0..KEPT / 2 {
                self.kept.swap(k, 2 * k);
            }
            self.stride *= 2;
            // NOTE: the dropped half stays behind as storage for the steps to come.
            self.spare.extend(self.kept.drain(KEPT / 2..));
        }
        let mut stored = self.spare.pop().unwrap_or_default();
        stored.copy_from(step);
        self.kept.push(stored);
    }
}

impl Observer for Recorder<'_> {
    fn wants_dense(&self, start: f64, end: f64) -> bool {
        let sampled = self
            .times
            .get(self.record.reached)
            .is_some_and(|&t| self.is_before(t, end) && t != start && t != end);
        sampled || self.spacing.is_some() || self.steps.is_multiple_of(self.stride)
    }

    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        let undetermined = match &mut self.rank {
            Some(rank) => rank.undetermined(&mut self.system, step),
            None => None,
        };
        let end = undetermined.unwrap_or(step.end());
        let first = self.record.reached;
        while let Some(&t) = self.times.get(self.record.reached)
            && self.is_before(t, end)
        {
            step.state(t, &mut self.y);
            self.output(t);
            self.check_work(step, t);
            let count = self.record.reached - first;
            if count.is_multiple_of(OUTPUTS) && t != end && !self.show(t, false) {
                self.cut = Some(t);
                break;
            }
        }
        if undetermined.is_some() {
            return Control::Stop;
        }
        if self.steps.is_multiple_of(self.stride) {
            self.keep(step);
        }
        if let Some(tolerance) = self.spacing {
            self.extend(step, tolerance);
        }
        self.steps += 1;
        let goes_on = self.cut.is_none() && self.show(step.end(), false);
        if goes_on { Control::Continue } else { Control::Stop }
    }

    fn event(&mut self, event: &LocatedEvent, y: &[f64]) -> Control {
        self.y.copy_from_slice(y);
        self.resolve(event.t);
        self.keep_tangents(event.t);
        self.record.events.push(RecordedEvent {
            event: *event,
            sample: self.sample.clone(),
            observed: self.seen.clone(),
        });
        Control::Continue
    }

    fn sampled(&mut self, t: f64, after: &[f64]) {
        if self.record.last_time() == Some(t) {
            self.y.copy_from_slice(after);
            self.resolve(t);
            self.record.replace_last(&self.sample, &self.seen);
            self.record.work.pop();
            self.record.work.extend(self.system.work(&self.y));
        }
        self.put_node(t, after);
    }

    fn jump(&mut self, t: f64, before: &[f64], after: &[f64]) {
        self.jumps.push(t);
        let mut is_shown = self.record.last_time() == Some(t);
        if self.shows_jumps && !is_shown {
            self.y.copy_from_slice(before);
            self.sample(t);
            is_shown = true;
        }
        if is_shown {
            self.y.copy_from_slice(after);
            self.sample(t);
        }
        self.put_node(t, after);
    }
}

impl Recorder<'_> {
    /// The jumps so far, with the events of each.
    pub(crate) fn jumps_with_events(&self) -> Vec<Jump> {
        let mut events = self.record.events.iter().map(|recorded| &recorded.event).peekable();
        let mut at = |t: f64| {
            let is_same =
                |event: &&LocatedEvent| (event.t - t).abs() <= 8.0 * f64::EPSILON * t.abs();
            while events.next_if(|event| !is_same(event)).is_some() {}
            std::iter::from_fn(|| events.next_if(is_same)).map(|event| event.index).collect()
        };
        self.jumps.iter().map(|&t| Jump { t, events: at(t) }).collect()
    }
}

/// Positions, velocities and accelerations at a state; accelerations that are not determined are not numbers.
fn node_at(
    system: &mut CompiledSystem,
    sample: &mut Sample,
    t: f64,
    y: &[f64],
    node: &mut Node,
) {
    if system.resolve(t, y, true, sample).is_err() {
        sample.a.fill(f64::NAN);
    }
    node.t = t;
    node.row.clear();
    node.row.extend(sample.q.iter().chain(&sample.v).chain(&sample.a));
}
