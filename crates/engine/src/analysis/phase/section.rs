//! Points where a motion crosses a surface: `pfaff section`.

use pfaff_model::{
    Direction, Event, ExpressionScope, Principle, Span, Workspace, read_expression,
};
use pfaff_program::Backend;
use pfaff_solver::{
    self as solver, Control, DenseStep, LocatedEvent, Observer, System, integrate,
};

use crate::analysis::phase::quick_section::{Crossed, Limits, QuickSection};
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
            if !model.graph.varies(expr) {
                let formula = formula.trim();
                return Err(Failure::Usage(format!(
                    "`{formula}` is the same along every motion: a surface is an expression of coordinates, velocities \
                     or t"
                )));
            }
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

/// A model made ready for crossings.
struct Ready {
    title: String,
    workspace: Workspace,
    settings: Settings,
    system: CompiledSystem,
    y0: Vec<f64>,
    /// Coordinates whose velocities belong to the state.
    second: Vec<usize>,
    quick: Option<QuickSection>,
    /// Whether there was one.
    is_quick: bool,
}

impl Ready {
    fn new(model: &Model, request: &SectionRequest) -> Result<Self, Failure> {
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
        let Prepared { system, y0, .. } =
            prepare(&workspace, &dynamics, RunInput::default(), &mut settings)?;
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
            Dynamics::Ordinary(ordinary) => {
                (0..n).filter(|&k| ordinary.orders[k] == 2).collect()
            }
        };
        let title = model.name().to_owned();
        let is_quick = quick.is_some();
        Ok(Self { title, workspace, settings, system, y0, second, quick, is_quick })
    }

    fn limits(&self, request: &SectionRequest) -> Limits {
        Limits {
            count: request.count,
            t1: request.t1,
            tolerance: self.settings.options.tolerance,
            patience: PATIENCE,
        }
    }

    /// When it begins, and positions and velocities there.
    fn start(&mut self) -> Result<(f64, Vec<f64>), Failure> {
        let t = self.settings.options.t0;
        let mut start = Sample::new(self.system.n, self.system.m);
        self.system
            .resolve(t, &self.y0, true, &mut start)
            .map_err(|_| Failure::usage("at the initial state the equations have no value"))?;
        let mut state = start.q;
        state.extend(self.second.iter().map(|&k| start.v[k]));
        Ok((t, state))
    }

    /// The crossings by the solver of runs.
    fn integrated(
        &mut self,
        request: &SectionRequest,
        watch: &mut dyn FnMut() -> bool,
    ) -> Crossed {
        let mut crossings = Crossings {
            watch,
            found: Vec::new(),
            count: request.count,
            steps: 0,
            idle: 0,
            stop: None,
        };
        let (mut t, mut y, mut length) = (self.settings.options.t0, self.y0.clone(), PIECE);
        loop {
            let mut options = self.settings.options;
            options.t0 = t;
            options.max_steps = usize::MAX;
            if request.t1.is_none() {
                options.t1 = t + length;
                length = (2.0 * length).min(1e5);
            }
            let outcome = integrate(&mut self.system, &y, &options, &mut crossings);
            (t, y) = (outcome.t, outcome.y);
            if crossings.found.len() == request.count {
                return Crossed { points: crossings.found, stop: None };
            }
            let reason = match outcome.stop {
                solver::StopReason::End if request.t1.is_none() => continue,
                solver::StopReason::End => StopReason::End,
                solver::StopReason::Event(k) => {
                    StopReason::Event(self.workspace.events[k].name.clone())
                }
                solver::StopReason::StepTooSmall => StopReason::StepTooSmall,
                solver::StopReason::Singular => StopReason::Singular,
                solver::StopReason::NotFinite => StopReason::NotFinite,
                solver::StopReason::MaxSteps => StopReason::MaxSteps,
                solver::StopReason::Interrupted => {
                    crossings.stop.take().unwrap_or(StopReason::Interrupted)
                }
            };
            return Crossed { points: crossings.found, stop: Some((reason, t)) };
        }
    }

    /// A section without points.
    fn empty(&self, on: &str, stop: Option<(StopReason, f64)>) -> Section {
        let empty = |name: &String| Series { name: name.clone(), values: Vec::new() };
        let columns: Vec<Series> =
            self.workspace.coordinates.iter().map(|c| empty(&c.name)).collect();
        Section {
            title: self.title.clone(),
            on: on.to_owned(),
            t: Vec::new(),
            v: columns.clone(),
            q: columns,
            observed: self.workspace.observed.iter().map(|o| empty(&o.name)).collect(),
            stop,
        }
    }

    /// The section of positions and velocities.
    fn of_states(&mut self, on: &str, crossed: Crossed) -> Section {
        let mut found = self.empty(on, crossed.stop);
        let (system, n) = (&mut self.system, self.workspace.coordinates.len());
        let mut sample = Sample::new(system.n, system.m);
        let mut values = vec![f64::NAN; found.observed.len()];
        let has_rates = self.second.len() < n || !found.observed.is_empty();
        for (t, state) in crossed.points {
            sample.q.copy_from_slice(&state[..n]);
            sample.v.fill(0.0);
            self.second.iter().zip(&state[n..]).for_each(|(&k, v)| sample.v[k] = *v);
            if has_rates {
                let y = system.state(t, &sample.q.clone(), &sample.v.clone(), &[]);
                observe(system, t, &y, &mut sample, &mut values);
            }
            found.push(t, &sample, &values);
        }
        found
    }

    /// The section of this motion alone.
    fn section(
        mut self,
        request: &SectionRequest,
        watch: &mut dyn FnMut() -> bool,
    ) -> Result<Section, Failure> {
        let limits = self.limits(request);
        if let Some(mut quick) = self.quick.take() {
            let (t, state) = self.start()?;
            let mut points = Vec::new();
            let mut add = |t: f64, y: &[f64]| points.push((t, y.to_vec()));
            let stop = quick.run(t, &state, &limits, watch, &mut add);
            return Ok(self.of_states(&request.on, Crossed { points, stop }));
        }
        let Crossed { points: states, stop } = self.integrated(request, watch);
        let mut found = self.empty(&request.on, stop);
        let mut sample = Sample::new(self.system.n, self.system.m);
        let mut values = vec![f64::NAN; found.observed.len()];
        for (t, y) in states {
            observe(&mut self.system, t, &y, &mut sample, &mut values);
            found.push(t, &sample, &values);
        }
        Ok(found)
    }
}

pub(crate) fn sections(
    model: &Model,
    request: &SectionRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Section, Failure> {
    Ready::new(model, request)?.section(request, watch)
}

/// Integrates many motions, such as those of one text with other values, each until a surface was crossed as often as
/// asked. Where their equations are the same but for parameters and starts, they go on in lanes, eight at once.
pub fn section_many(
    models: &[Model],
    request: &SectionRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Vec<Result<Section, Error>> {
    let mut ready: Vec<Result<Ready, Failure>> =
        models.iter().map(|model| Ready::new(model, request)).collect();
    // The programs of the first serve all that are like it.
    let first = ready.iter_mut().flatten().find(|ready| ready.quick.is_some());
    let mut shared = first.map(|ready| (ready.limits(request), ready.quick.take()));
    let mut motions: Vec<(Vec<f64>, f64, Vec<f64>)> = Vec::new();
    let mut numbers = Vec::new();
    if let Some((_, Some(shared))) = &mut shared {
        for (number, ready) in ready.iter_mut().enumerate() {
            let Ok(ready) = ready else { continue };
            let Ok((t, state)) = ready.start() else { continue };
            let values = ready.workspace.parameter_values();
            shared.surface().set_parameters(&values);
            // The first has lent its own.
            let is_like = ready
                .quick
                .as_mut()
                .is_none_or(|own| own.surface().is_like(shared.surface(), t, &state));
            if is_like && ready.is_quick {
                motions.push((values, t, state));
                numbers.push(number);
            }
        }
    }
    let mut crossed = match &mut shared {
        Some((limits, Some(shared))) => shared.run_many(&motions, limits, watch),
        _ => Vec::new(),
    };
    let mut found: Vec<Option<Crossed>> = ready.iter().map(|_| None).collect();
    numbers.into_iter().zip(crossed.drain(..)).for_each(|(number, crossed)| {
        found[number] = Some(crossed);
    });
    let all = ready.into_iter().zip(found).zip(models);
    all.map(|((ready, crossed), model)| {
        ready
            .and_then(|mut ready| match crossed {
                Some(crossed) => Ok(ready.of_states(&request.on, crossed)),
                None => ready.section(request, watch),
            })
            .map_err(|failure| failure.in_source(&model.source))
    })
    .collect()
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
