//! A model made ready: everything between its equations and the first step.

use std::sync::Arc;

use crate::model::Model;
use pfaff_mechanics::{LARGE, LagrangianData};
use pfaff_model::{Principle, Workspace};
use pfaff_solver::{Method, OdeOptions, Outcome, System, integrate, taylor_order};

use crate::clock::Stopwatch;
use crate::derivation::{derive_in, derive_shortest_in};
use crate::error::{Error, Failure};
use crate::motion::note::Note;
use crate::problem::branches::Branches;
use crate::problem::settings::{Run, Settings};
use crate::problem::start::Start;
use crate::run::consistent_start::{begin, possible, redundant};
use crate::run::global_error::Late;
use crate::run::template::RunTemplate;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics, NoiseSource};
use crate::system::contact::ContactSolver;
use crate::system::geometric::Geometric;
use crate::system::jacobian::ModelJacobian;
use crate::system::taylor_system::Demand;

/// A model that is integrated again and again from its start, without outputs and without audit: for measurements.
#[derive(Clone, Debug)]
pub struct PreparedRun {
    system: CompiledSystem,
    y0: Vec<f64>,
    rates: Vec<f64>,
    options: OdeOptions,
}

impl PreparedRun {
    /// Makes a model ready.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin.
    pub fn new(model: &Model, request: &Run) -> Result<Self, Error> {
        let kept = model.workspace_with_families();
        let is_kept = !kept.has_families() || has_loops(&kept, request);
        let workspace = if is_kept { kept } else { model.workspace() };
        Self::in_workspace(&workspace, request)
            .map_err(|failure| failure.in_source(&model.source))
    }

    fn in_workspace(model: &Workspace, request: &Run) -> Result<Self, Failure> {
        let mut settings = Settings::new(model, request)?;
        settings.often = true;
        let principle = request.principle.unwrap_or(model.principle);
        let statement =
            if principle == Principle::Chetaev { LagrangianData::of(model) } else { None };
        let form = if settings.options.method == Method::Taylor {
            derive_in
        } else {
            derive_shortest_in
        };
        let dynamics = form(model, request.principle)
            .map_err(|refusal| Failure::Model(vec![refusal.diagnostic()]))?;
        let Prepared { system, y0, .. } = prepare(
            model,
            &dynamics,
            RunInput { lagrangian: statement, ..RunInput::default() },
            &mut settings,
        )?;
        Ok(Self { system, y0, rates: Vec::new(), options: settings.options })
    }

    /// Integrates from start to end.
    pub fn integrate(&mut self) -> Outcome {
        integrate(&mut self.system, &self.y0, &self.options, &mut ())
    }

    /// Evaluates the rates of the start; says whether they have a value.
    pub fn evaluate(&mut self) -> bool {
        let mut rates = std::mem::take(&mut self.rates);
        rates.resize(self.y0.len(), 0.0);
        let found = self.system.rates(self.options.t0, &self.y0, &mut rates).is_ok();
        self.rates = rates;
        found
    }

    /// The method that was chosen.
    pub fn method(&self) -> Method {
        self.options.method
    }
}

/// What is known beside the equations of a run.
#[derive(Default)]
pub(crate) struct RunInput {
    /// Where the equations come from, if their reduced form is wanted.
    pub(crate) lagrangian: Option<LagrangianData>,
    /// Where the run starts, if not at the start of the model.
    pub(crate) start: Option<Start>,
    /// How many of the last events only end a segment of the run.
    pub(crate) switches: usize,
    /// Where a second integration starts, if not there.
    pub(crate) second: Option<Start>,
    /// The largest values of the coordinates before, and the steps.
    pub(crate) scales: Vec<f64>,
    pub(crate) steps: usize,
    /// How much these made a change grow.
    pub(crate) growth: f64,
    /// What the rounding of time has done before.
    pub(crate) late: Late,
    /// Contacts that may be hit, and whether some are closed.
    pub(crate) contacts: Option<ContactSolver>,
    pub(crate) has_closed: bool,
    /// How often each event has happened before.
    pub(crate) counts: Vec<usize>,
    /// The sizes of positions and velocities before, where other equations have held.
    pub(crate) sizes: Vec<f64>,
    /// The largest energy before.
    pub(crate) energy: f64,
    /// White forces.
    pub(crate) noise: Option<NoiseSource>,
    /// What was made ready before.
    pub(crate) template: Option<Arc<RunTemplate>>,
    /// By what the motion is differentiated along with its own integration, where that applies.
    pub(crate) sensitivities: Vec<String>,
}

/// What a run begins with.
pub(crate) struct Prepared {
    pub(crate) system: CompiledSystem,
    pub(crate) y0: Vec<f64>,
    /// Remarks on the start.
    pub(crate) notes: Vec<Note>,
    pub(crate) repeated: Option<Note>,
    pub(crate) compile_us: f64,
}

/// Whether a run evaluates the families of like terms of a model as loops, so that they need not be written out.
pub(crate) fn has_loops(model: &Workspace, request: &Run) -> bool {
    let is_taylor = Settings::new(model, request)
        .is_ok_and(|settings| settings.options.method == Method::Taylor);
    request.principle.unwrap_or(model.principle) == Principle::Chetaev
        && model.coordinates.len() >= LARGE
        && model.terminal.is_empty()
        && !is_taylor
        && Branches::of(model).is_none()
}

/// Compiles a model, takes the given start or finds its own, and takes the form and the method that suit it.
pub(crate) fn prepare(
    model: &Workspace,
    dynamics: &Dynamics,
    mut known: RunInput,
    settings: &mut Settings,
) -> Result<Prepared, Failure> {
    if let Some(template) = known.template.take() {
        if let Some(prepared) = template.prepared(model, dynamics, settings)? {
            return Ok(prepared);
        }
        if template.reduces {
            known.lagrangian = LagrangianData::of(model);
        }
    }
    let clock = Stopwatch::start(settings.clock);
    let mut system =
        CompiledSystem::new(model, dynamics, settings.backend).map_err(Failure::from)?;
    if let Some(samplers) = &mut system.samplers {
        samplers.begin(settings.first);
        if settings.options.method == Method::Rk4 {
            let why = "a control is sampled at times at which the steps of rk4 do not end";
            return Err(Failure::Usage(format!("{why}; choose another method")));
        }
    }
    system.sizes = known.sizes;
    system.noise = known.noise.map(Box::new);
    if let Some(jumps) = &mut system.jumps {
        jumps.contacts = known.contacts.map(Box::new);
        jumps.has_closed = known.has_closed;
        jumps.counts.iter_mut().zip(&known.counts).for_each(|(count, &before)| *count = before);
        jumps.switches = known.switches;
    }
    let is_later = known.start.is_some() && settings.t0 != settings.first;
    let Start { q, v, multipliers, notes } = match known.start {
        Some(start) => start,
        None => begin(model, dynamics, &mut system, settings.t0)?,
    };
    if let Compiled::Saddle(kkt) = &mut system.dynamics {
        kkt.scale.measure(model, settings.t0, &q);
        let zeros = vec![0.0; kkt.carried];
        kkt.evaluate(
            settings.t0,
            &q,
            &v,
            if multipliers.is_empty() { &zeros } else { &multipliers },
        );
        kkt.measure_velocities(&v);
        kkt.measure_held(&q);
    }
    if is_later {
        let noise =
            event_noise(model, model.events.len() - known.switches, settings.t0, &q, &v);
        system.begins = Some((settings.t0, noise));
    }
    let mut y0 = system.state(settings.t0, &q, &v, &multipliers);
    let at = possible(model, &mut system, settings.t0, &y0)?;
    let repeated = redundant(model, &mut system, settings.t0, &y0);
    if let Dynamics::Saddle(equations) = dynamics {
        if let Some(statement) = known.lagrangian.filter(|_| settings.geometric.is_none()) {
            system.reduce(model, statement, equations, &at);
            y0 = system.state(settings.t0, &q, &v, &multipliers);
        }
        system.unroll(model, equations, &at);
    }
    let may_be_stiff =
        settings.options.method.is_implicit() || settings.options.watches_stiffness;
    if may_be_stiff && !matches!(system.dynamics, Compiled::Reduced(_)) {
        system.jacobian = Some(ModelJacobian::new(model, dynamics, settings.backend));
    }
    if let Some(method) = settings.geometric {
        let active = match &system.dynamics {
            Compiled::Saddle(kkt) => kkt.active.clone(),
            Compiled::Reduced(_) | Compiled::Ordinary(_) => Vec::new(),
        };
        let backend = settings.backend;
        system.geometric = Some(Geometric::new(method, model, dynamics, &active, backend)?);
    }
    expand(model, dynamics, &mut system, settings, &y0)?;
    Ok(Prepared { system, y0, notes, repeated, compile_us: clock.microseconds() })
}

/// Below which values events of the model are at zero where a segment begins: what has just ended one is there up to
/// rounding, and must not end the next one at once.
fn event_noise(model: &Workspace, own: usize, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
    let g = &model.graph;
    let symbols = [vec![model.time], model.positions(), model.velocities()].concat();
    let values = [&[t], q, v].concat();
    let at = |e| {
        let state = symbols.iter().position(|&s| s == e).map(|k| values[k]);
        let parameter = || model.parameters.iter().find(|p| p.symbol == e).map(|p| p.value);
        state.or_else(parameter).unwrap_or(f64::NAN)
    };
    let noise = |event: &pfaff_model::Event| {
        let slopes = g.evaluate(&g.gradient(event.expr, &symbols), &at);
        let terms = slopes.iter().zip(&values).skip(1).map(|(slope, x)| (slope * x).abs());
        // NOTE: what contains forces is left as it is.
        Some(1e-12 * terms.sum::<f64>()).filter(|noise| noise.is_finite()).unwrap_or(0.0)
    };
    model.events[..own].iter().map(noise).collect()
}

/// Tolerances from which on `auto` takes the Taylor method.
const STRICT: f64 = 1e-11;
/// Instructions of a step up to which it does.
const SHORT: usize = 20_000;

/// Whether `auto` takes the Taylor method: measured on the gallery, see `docs/performance.md`.
fn is_worth(tolerance: f64, operations: usize) -> bool {
    tolerance <= STRICT && operations <= SHORT
}

/// What a run asks of its Taylor series.
pub(crate) fn demand(settings: &Settings) -> Demand {
    let OdeOptions { t0, t1, tolerance, .. } = settings.options;
    let span = if settings.often { f64::INFINITY } else { (t1 - t0).abs() };
    Demand { order: taylor_order(tolerance), tolerance, span, backend: settings.backend }
}

/// Makes Taylor series ready where they are asked for, or where `auto` finds them worth it.
fn expand(
    model: &Workspace,
    dynamics: &Dynamics,
    system: &mut CompiledSystem,
    settings: &mut Settings,
    y0: &[f64],
) -> Result<(), Failure> {
    let OdeOptions { t0, tolerance, method, .. } = settings.options;
    let wanted = settings.auto && tolerance <= STRICT;
    if method != Method::Taylor && !wanted {
        return Ok(());
    }
    let order = taylor_order(tolerance);
    if method != Method::Taylor && system.is_surely_longer(order, SHORT) {
        return Ok(());
    }
    let refused = |why: String| {
        Err(Failure::Usage(format!(
            "the Taylor method does not apply: {why}; choose `dop853` or `auto`"
        )))
    };
    let full;
    let dynamics = match dynamics {
        Dynamics::Saddle(equations) if equations.auxiliary.is_some() => {
            let Some(written) = equations.by_full_rows(&model.graph) else { return Ok(()) };
            full = Dynamics::Saddle(written);
            &full
        }
        Dynamics::Saddle(_) | Dynamics::Ordinary(_) => dynamics,
    };
    let recurrences = if system.is_whole() {
        system.recurrences(model, dynamics, order).map_err(|error| error.to_string())
    } else {
        Err("some constraints repeat others".to_owned())
    };
    match recurrences {
        Ok(recurrences) => {
            let worth =
                method == Method::Taylor || is_worth(tolerance, recurrences.operations(order));
            if worth {
                system.expand(model, &recurrences, demand(settings), t0, y0);
                settings.options.method = Method::Taylor;
                settings.options.falls_back = true;
            }
            Ok(())
        }
        Err(_) if settings.auto => Ok(()),
        Err(why) => refused(why),
    }
}
