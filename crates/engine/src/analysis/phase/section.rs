//! Points where a motion crosses a surface: `pfaff section`.

use pfaff_model::{
    Direction, Event, ExpressionScope, Principle, Span, Workspace, read_expression,
};
use pfaff_program::Backend;
use pfaff_solver::{
    self as solver, Control, DenseStep, LocatedEvent, Observer, System, integrate,
};

use crate::analysis::phase::quick_section::{Limits, QuickSection};
use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::sample::Sample;
use crate::motion::{Series, StopReason};
use crate::problem::settings::{Run, Settings};
use crate::run::prepare::{Prepared, RunInput, prepare};
use crate::run::volterra;
use crate::system::compiled::CompiledSystem;
use crate::system::dynamics::Dynamics;

/// Steps without a crossing after which the surface counts as never met.
const PATIENCE: usize = 200_000;
/// How long a piece of a motion without given end is at first.
const PIECE: f64 = 100.0;

/// Which surface, and how often.
#[derive(Clone, Debug, Default)]
pub struct SectionRequest {
    /// The name of an event, or an expression, perhaps after `rising` or `falling`.
    pub on: String,
    /// How many points.
    pub count: usize,
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// When the motion ends at the latest.
    pub t1: Option<f64>,
    /// The largest local error of a step.
    pub tolerance: Option<f64>,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// Points of a section.
#[derive(Clone, Debug)]
pub struct Section {
    /// The title of the model.
    pub title: String,
    /// The surface as it was asked for.
    pub on: String,
    /// When it was crossed.
    pub t: Vec<f64>,
    /// The positions there.
    pub q: Vec<Series>,
    /// The velocities there.
    pub v: Vec<Series>,
    /// What the model observes, there.
    pub observed: Vec<Series>,
    /// Why there are fewer points than asked for, and when that was.
    pub stop: Option<(StopReason, f64)>,
}

impl Section {
    /// Adds a point, with what is observed there.
    fn push(&mut self, t: f64, sample: &Sample, observed: &[f64]) {
        self.t.push(t);
        let lists = [&mut self.q, &mut self.v, &mut self.observed];
        for (list, values) in lists.into_iter().zip([&sample.q[..], &sample.v, observed]) {
            list.iter_mut().zip(values).for_each(|(series, x)| series.values.push(*x));
        }
    }

    /// Adds the points of another motion of the same model.
    pub fn append(&mut self, other: Self) {
        self.t.extend(other.t);
        let pairs = [
            (&mut self.q, other.q),
            (&mut self.v, other.v),
            (&mut self.observed, other.observed),
        ];
        for (own, more) in pairs {
            own.iter_mut().zip(more).for_each(|(own, more)| own.values.extend(more.values));
        }
        if self.stop.is_none() {
            self.stop = other.stop;
        }
    }
}

/// Integrates until a surface was crossed as often as asked. `watch` is asked now and then and may end it by `false`.
///
/// # Errors
///
/// [`Error`] if no motion can begin, or the surface is neither an event nor an expression.
pub fn section(
    model: &Model,
    request: &SectionRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Section, Error> {
    sections(model, request, watch).map_err(|failure| failure.in_source(&model.source))
}

/// The event that a text means; other events stay if they end the run.
fn watched(model: &mut Workspace, text: &str) -> Result<(), Failure> {
    let text = text.trim();
    let known = model.events.iter().find(|e| e.name == text).cloned();
    let event = match known {
        Some(event) => Event { stop: false, ..event },
        None => {
            let word =
                |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with(' '));
            let (direction, formula) = match (word("rising"), word("falling")) {
                (Some(rest), _) => (Direction::Rising, rest),
                (_, Some(rest)) => (Direction::Falling, rest),
                (None, None) => (Direction::Both, text),
            };
            let (_, entries) =
                read_expression(model, "<on>", formula, ExpressionScope::Motion)?;
            let [expr] = entries[..] else {
                return Err(Failure::usage("a surface is one expression that vanishes on it"));
            };
            let name = text.to_owned();
            Event { name, expr, direction, stop: false, span: Span::default() }
        }
    };
    let stops = model.events.iter().filter(|e| e.stop && e.name != event.name);
    let stops: Vec<Event> = stops.cloned().collect();
    model.events = [event].into_iter().chain(stops).collect();
    Ok(())
}

/// Collects crossings.
struct Crossings<'a> {
    watch: &'a mut dyn FnMut() -> bool,
    found: Vec<(f64, Vec<f64>)>,
    count: usize,
    steps: usize,
    /// Steps since the last crossing.
    idle: usize,
    stop: Option<StopReason>,
}

impl Observer for Crossings<'_> {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }

    fn step(&mut self, _step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        self.steps += 1;
        self.idle += 1;
        if self.steps.is_multiple_of(256) && !(self.watch)() {
            self.stop = Some(StopReason::Interrupted);
            return Control::Stop;
        }
        if self.idle > PATIENCE {
            self.stop = Some(StopReason::MaxSteps);
            return Control::Stop;
        }
        Control::Continue
    }

    fn event(&mut self, event: &LocatedEvent, y: &[f64]) -> Control {
        if event.index != 0 || self.found.len() == self.count {
            return Control::Continue;
        }
        self.idle = 0;
        self.found.push((event.t, y.to_vec()));
        if self.found.len() == self.count { Control::Stop } else { Control::Continue }
    }
}

pub(crate) fn sections(
    model: &Model,
    request: &SectionRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Section, Failure> {
    let mut workspace = model.workspace();
    if volterra::has_memory(&workspace) {
        return Err(Failure::usage(
            "models with memory have no section: their state is a whole past",
        ));
    }
    if request.count == 0 {
        return Err(Failure::usage("a section has at least one point"));
    }
    watched(&mut workspace, &request.on)?;
    let t0 = workspace.solve.range.map_or(0.0, |range| range.0);
    let run = Run {
        principle: request.principle,
        t1: Some(request.t1.unwrap_or(t0 + PIECE)),
        tolerance: request.tolerance,
        backend: request.backend,
        ..Run::default()
    };
    let mut settings = Settings::new(&workspace, &run)?;
    settings.often = true;
    let dynamics = derive_in(&workspace, request.principle)?;
    let Prepared { mut system, y0, .. } =
        prepare(&workspace, &dynamics, RunInput::default(), &mut settings)?;
    let mut crossings = Crossings {
        watch,
        found: Vec::new(),
        count: request.count,
        steps: 0,
        idle: 0,
        stop: None,
    };
    let (mut t, mut y, mut length) = (settings.options.t0, y0, PIECE);
    let is_plain = workspace.resets.is_empty()
        && !workspace.hybrid.switches()
        && workspace.hybrid.samplers.is_empty()
        && settings.breaks.is_empty();
    let backend = request.backend.unwrap_or_default();
    let quick =
        if is_plain { QuickSection::new(&workspace, &dynamics, backend)? } else { None };
    let n = workspace.coordinates.len();
    let second: Vec<usize> = match &dynamics {
        Dynamics::Saddle(_) => (0..n).collect(),
        Dynamics::Ordinary(ordinary) => (0..n).filter(|&k| ordinary.orders[k] == 2).collect(),
    };
    // Positions and velocities of a quick search.
    let mut states: Vec<(f64, Vec<f64>)> = Vec::new();
    let stop = if let Some(mut quick) = quick {
        let limits = Limits {
            count: request.count,
            t1: request.t1,
            tolerance: settings.options.tolerance,
            patience: PATIENCE,
        };
        let mut start = Sample::new(system.n, system.m);
        system
            .resolve(t, &y, true, &mut start)
            .map_err(|_| Failure::usage("at the initial state the equations have no value"))?;
        let mut state = start.q.clone();
        state.extend(second.iter().map(|&k| start.v[k]));
        let mut add = |t: f64, y: &[f64]| states.push((t, y.to_vec()));
        quick.run(t, &state, &limits, &mut *crossings.watch, &mut add)
    } else {
        loop {
            let mut options = settings.options;
            options.t0 = t;
            options.max_steps = usize::MAX;
            if request.t1.is_none() {
                options.t1 = t + length;
                length = (2.0 * length).min(1e5);
            }
            let outcome = integrate(&mut system, &y, &options, &mut crossings);
            (t, y) = (outcome.t, outcome.y);
            if crossings.found.len() == request.count {
                break None;
            }
            let reason = match outcome.stop {
                solver::StopReason::End if request.t1.is_none() => continue,
                solver::StopReason::End => StopReason::End,
                solver::StopReason::Event(k) => {
                    StopReason::Event(workspace.events[k].name.clone())
                }
                solver::StopReason::StepTooSmall => StopReason::StepTooSmall,
                solver::StopReason::Singular => StopReason::Singular,
                solver::StopReason::NotFinite => StopReason::NotFinite,
                solver::StopReason::MaxSteps => StopReason::MaxSteps,
                solver::StopReason::Interrupted => {
                    crossings.stop.take().unwrap_or(StopReason::Interrupted)
                }
            };
            break Some((reason, t));
        }
    };
    let empty = |name: &String| Series { name: name.clone(), values: Vec::new() };
    let columns: Vec<Series> = workspace.coordinates.iter().map(|c| empty(&c.name)).collect();
    let mut found = Section {
        title: model.name().to_owned(),
        on: request.on.clone(),
        t: Vec::new(),
        v: columns.clone(),
        q: columns,
        observed: workspace.observed.iter().map(|o| empty(&o.name)).collect(),
        stop,
    };
    let mut sample = Sample::new(system.n, system.m);
    let mut values = vec![f64::NAN; found.observed.len()];
    let has_rates = second.len() < n || !found.observed.is_empty();
    for (t, state) in states {
        sample.q.copy_from_slice(&state[..n]);
        sample.v.fill(0.0);
        second.iter().zip(&state[n..]).for_each(|(&k, v)| sample.v[k] = *v);
        if has_rates {
            let y = system.state(t, &sample.q.clone(), &sample.v.clone(), &[]);
            observe(&mut system, t, &y, &mut sample, &mut values);
        }
        found.push(t, &sample, &values);
    }
    for (t, y) in crossings.found {
        observe(&mut system, t, &y, &mut sample, &mut values);
        found.push(t, &sample, &values);
    }
    Ok(found)
}

/// What is observed at a state; not numbers where nothing follows from it.
fn observe(
    system: &mut CompiledSystem,
    t: f64,
    y: &[f64],
    sample: &mut Sample,
    values: &mut [f64],
) {
    if system.resolve(t, y, true, sample).is_ok() {
        system.observe(sample, values);
    } else {
        values.fill(f64::NAN);
    }
}
