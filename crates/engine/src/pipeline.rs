//! The whole road in one place: what is asked of a model becomes a motion.
//!
//! ```text
//! text ─► Model ─► Derivation (Principle) ─► CompiledSystem ─► Motion ─► Audit
//! ```
//!
//! | the model has | kind of run |
//! |---|---|
//! | a start | `run/initial_value.rs` |
//! | a start and memory | `run/volterra.rs` |
//! | a start and noise | `run/noise.rs` |
//! | ends (`final`) | `run/bvp.rs`, then as from a start |
//! | ends and memory | `run/variational.rs` |

mod differences;

use std::sync::Arc;

use pfaff_expr::with_shield;
use pfaff_mechanics::LagrangianData;
use pfaff_model::{Diagnostic, Principle, Workspace};
use pfaff_solver::Method;

use crate::audit::error::error_check;
use crate::clock::{Interrupt, Stopwatch};
use crate::derivation::{Derivation, derive, derive_shortest};
use crate::error::{Error, Failure, WHOLE};
use crate::model::Model;
use crate::motion::note::Note;
use crate::motion::sensitivity::{Gradient, Sensitivity};
use crate::motion::verdict::{Audit, Check};
use crate::motion::{Motion, Series, StopReason};
use crate::pipeline::differences::Runs;
use crate::problem::settings::{GradientRequest, Precision, Run, Settings};
use crate::run::initial_value::integrated;
use crate::run::prepare::{RunInput, has_loops};
use crate::run::progress::Progress;
use crate::run::sensitivity::adjoint;
use crate::run::sensitivity::values::with_parameters;
use crate::run::template::RunTemplate;
use crate::run::{
    bvp, double_double, hybrid, jump, jump_sensitivity, noise, sensitivity, variational,
    volterra,
};
use crate::system::compiled::Dynamics;

/// Integrates a model and audits the motion. `watch` is told the time and the steps after each step and may
/// end the run by `false`.
///
/// # Errors
///
/// [`Error`] if no motion can begin. A motion that ends early is no error: it says why it stopped.
pub fn run(
    model: &Model,
    request: &Run,
    watch: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<Motion, Error> {
    run_watched(model, request, &mut |progress| watch(progress.t, progress.steps))
}

/// As [`run`]; `watch` sees after each step what was computed so far.
///
/// # Errors
///
/// As [`run`].
pub fn run_watched(
    model: &Model,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Error> {
    run_with(model, None, request, watch).map_err(|failure| failure.in_source(&model.source))
}

/// Runs a model, by equations that were derived before or by its own.
pub(crate) fn run_with(
    model: &Model,
    derivation: Option<&Derivation>,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    with_shield(|shield| shielded(model, derivation, request, watch, shield))
}

/// Steps of an interrupted run, beyond which its derivatives are left out.
const DERIVED: usize = 300;

/// A run that can be given up until its first step; from then on it ends with what it has.
fn shielded(
    model: &Model,
    derivation: Option<&Derivation>,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    shield: fn(),
) -> Result<Motion, Failure> {
    let own = model.workspace_with_families();
    let watch = &mut |progress: &Progress<'_>| {
        shield();
        watch(progress) && !Interrupt::is_asked(request.interrupt)
    };
    let is_exact = Precision::of(&own, request) == Precision::DoubleDouble;
    if !WHOLE && (is_exact || request.has_derivatives()) {
        return Err(Failure::left_out());
    }
    if WHOLE && is_exact {
        double_double::check(&model.workspace())?;
    }
    if !WHOLE || !request.has_derivatives() {
        let mut motion = solved(model, derivation, request, watch)?;
        if request.draft {
            // NOTE: whatever was checked on the way is no audit of this motion.
            motion.audit = Audit::of(Vec::new());
        }
        if WHOLE && is_exact {
            let derived = derive(model, request.principle)?;
            let workspace = derived.workspace();
            let settings = Settings::new(&workspace, request)?;
            let (dynamics, interrupt) = (&derived.dynamics, request.interrupt);
            double_double::add(&workspace, dynamics, &settings, &mut motion, interrupt)?;
        }
        motion.leave_out_rates(&own);
        return Ok(motion);
    }
    if is_exact {
        return Err(Failure::usage(
            "derivatives are computed in doubles: leave `precision = double_double` out",
        ));
    }
    if !own.noises.is_empty() {
        return noise::run(&model.workspace(), request, watch);
    }
    check_derivatives(&own, request)?;
    let mut motion = solved(model, derivation, request, watch)?;
    if motion.stop.reason == StopReason::Interrupted && motion.statistics.steps > DERIVED {
        let why =
            "derivatives are left out: they take longer than the run, which was interrupted";
        motion.notes.push(Note::Remark(why.into()));
        return Ok(motion);
    }
    // NOTE: between given ends they belong to the search.
    if volterra::has_memory(&own) && !bvp::has_ends(&own) {
        add_memory(model, request, &mut motion)?;
    } else if !bvp::has_ends(&own) {
        // NOTE: branches are fixed before equations are derived.
        match derivation.filter(|_| motion.switches.is_empty()) {
            Some(derived) => {
                let workspace = derived.workspace();
                sensitivity::add(
                    &workspace,
                    Some(&derived.dynamics),
                    request,
                    jump_sensitivity::derivatives,
                    &mut motion,
                )?;
            }
            None => sensitivity::add(
                &model.workspace(),
                None,
                request,
                jump_sensitivity::derivatives,
                &mut motion,
            )?,
        }
    }
    if request.second {
        let runs: Runs<'_> =
            &mut |model, request| run_with(model, None, request, &mut |_| true);
        differences::add_second(model, request, &mut motion, runs)?;
    }
    Ok(motion)
}

/// Refuses derivatives that a kind of run does not have, and names that the model does not have.
fn check_derivatives(model: &Workspace, request: &Run) -> Result<(), Failure> {
    let refused = |what: &str, why: &str| {
        Err(Failure::Usage(format!("sensitivities are not available for {what}: {why}")))
    };
    if variational::is_fractional(model) {
        let why = "the variational equations of the extremum are not derived";
        return refused("extrema with memory between given ends (`final`)", why);
    }
    if bvp::has_ends(model) {
        // NOTE: names are looked up where the end time is known, before the search.
        return Ok(());
    }
    if volterra::has_memory(model) {
        if request.transition {
            let why = "the state of such a motion is its whole past";
            return refused("models with memory as a matrix", why);
        }
        if request.gradient.as_ref().is_some_and(GradientRequest::is_integral) {
            let why = "what the adjoint equations integrate is its whole past";
            return refused("integrals of models with memory as a gradient", why);
        }
    }
    jump_sensitivity::check(model, request)?;
    sensitivity::check(model, request)
}

/// Adds the derivatives of a motion with memory. Gradients are those of the sensitivities at the end.
fn add_memory(model: &Model, request: &Run, motion: &mut Motion) -> Result<(), Failure> {
    motion.sensitivities =
        memory_sensitivities(model, request, &request.sensitivities, motion)?;
    let Some(gradient) = &request.gradient else { return Ok(()) };
    let (scalar, _) = adjoint::quantity(&model.workspace(), gradient)?;
    let names = adjoint::names(&model.workspace(), gradient);
    let found = memory_sensitivities(model, request, &names, motion)?;
    let last =
        |lists: [&[Series]; 3]| scalar.of(lists).values.last().copied().unwrap_or(f64::NAN);
    motion.gradient = Some(Gradient {
        of: gradient.of.clone(),
        value: last([&motion.q, &motion.v, &motion.observed]),
        by: found.iter().map(|s| (s.name.clone(), last([&s.q, &s.v, &s.observed]))).collect(),
    });
    Ok(())
}

/// The sensitivities of a motion with memory: by the variational equations where there are any, else by differences.
fn memory_sensitivities(
    model: &Model,
    request: &Run,
    names: &[String],
    motion: &mut Motion,
) -> Result<Vec<Sensitivity>, Failure> {
    let t0 = Settings::new(&model.workspace(), request)?.t0;
    let (varied, places) = with_parameters(model, names, t0)?;
    let derived = derive(&varied, request.principle)?;
    let workspace = derived.workspace();
    let settings = Settings::new(&workspace, request)?;
    let mut worst = Some(0.0_f64);
    let mut steps = 0;
    let mut all = Vec::new();
    for (name, place) in names.iter().zip(places) {
        let found = volterra::variation::derivative(
            &workspace,
            &derived.dynamics,
            &settings,
            place,
            motion,
        )?;
        let sensitivity = match found {
            Some(found) => {
                worst =
                    worst.zip(found.error).map(|(a, b)| if b.is_nan() { b } else { a.max(b) });
                steps = steps.max(found.steps);
                found.sensitivity
            }
            None => {
                let runs: Runs<'_> =
                    &mut |model, request| run_with(model, None, request, &mut |_| true);
                motion.notes.push(differences::note(name.trim()));
                differences::by_parameter(&varied, request, place, motion, runs)?
            }
        };
        let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        all.push(Sensitivity { name, ..sensitivity });
    }
    if steps > 0 {
        let check = error_check(worst, settings.options.tolerance, steps);
        let name = "sensitivities by a second integration".into();
        motion.audit.checks.push(Check { name, ..check });
        motion.audit = Audit::of(std::mem::take(&mut motion.audit.checks));
    }
    Ok(all)
}

/// Runs a model as [`run_with`], without sensitivities.
fn solved(
    model: &Model,
    derivation: Option<&Derivation>,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let own = workspace_for_run(model, derivation, request)?;
    let workspace = &own;
    if variational::is_fractional(workspace) || bvp::has_ends(workspace) {
        jump::refused(workspace, "a motion between given ends (`final`)")?;
    } else if volterra::has_memory(workspace) {
        jump::refused(workspace, "a model with memory")?;
    }
    jump::refused_principle(workspace, request.principle.unwrap_or(model.principle))?;
    let has_noise = !workspace.noises.is_empty();
    if WHOLE {
        if variational::is_fractional(workspace) {
            return variational::run(workspace, request);
        }
        if bvp::has_ends(workspace) {
            return bvp::run(workspace, request, watch);
        }
    } else if has_noise || bvp::has_ends(workspace) || volterra::has_memory(workspace) {
        return Err(Failure::left_out());
    }
    if !has_noise && !volterra::has_memory(workspace) && hybrid::is_hybrid(workspace) {
        return hybrid::run(workspace, request, watch);
    }
    if WHOLE && has_noise {
        return noise::run(workspace, request, watch);
    }
    let clock = Stopwatch::start(request.clock);
    let chetaev = request.principle.unwrap_or(model.principle) == Principle::Chetaev;
    let lagrangian = if chetaev { LagrangianData::of(workspace) } else { None };
    let derived;
    let (workspace, dynamics) = match derivation {
        Some(derivation) => (derivation.workspace(), &derivation.dynamics),
        None => {
            let found = if has_full_mass(workspace, request)? {
                derive(model, request.principle)?
            } else {
                derive_shortest(model, own, request.principle)?
            };
            let (workspace, dynamics) = found.into_workspace();
            derived = dynamics;
            (workspace, &derived)
        }
    };
    let derive_us = clock.microseconds();
    let known = RunInput { lagrangian, ..RunInput::default() };
    let mut motion = integrated(&workspace, dynamics, known, request, watch)?;
    motion.statistics.derive_us = derive_us;
    Ok(motion)
}

/// A model made ready for many runs with other parameters: its equations are derived and compiled once.
pub(crate) struct ReadyModel {
    /// With everything that was derived.
    model: pfaff_model::Model,
    dynamics: Dynamics,
    template: Arc<RunTemplate>,
}

impl ReadyModel {
    /// Makes a model ready; `None` where every run must be derived by itself: between given ends, with memory, with
    /// jumps and switches, and with derivatives.
    pub(crate) fn new(model: &Model, request: &Run) -> Result<Option<Self>, Failure> {
        let workspace = workspace_for_run(model, None, request)?;
        if request.has_derivatives()
            || variational::is_fractional(&workspace)
            || bvp::has_ends(&workspace)
            || volterra::has_memory(&workspace)
            || !workspace.resets.is_empty()
            || !workspace.noises.is_empty()
            || !workspace.hybrid.samplers.is_empty()
            || hybrid::is_hybrid(&workspace)
        {
            return Ok(None);
        }
        let chetaev = request.principle.unwrap_or(model.principle) == Principle::Chetaev;
        let lagrangian = if chetaev { LagrangianData::of(&workspace) } else { None };
        let derivation = if has_full_mass(&workspace, request)? {
            derive(model, request.principle)?
        } else {
            derive_shortest(model, workspace, request.principle)?
        };
        let (workspace, dynamics) = derivation.into_workspace();
        let settings = Settings::new(&workspace, request)?;
        let template = RunTemplate::new(&workspace, &dynamics, lagrangian, &settings)?;
        Ok(template.map(|template| Self {
            model: workspace.freeze(),
            dynamics,
            template: Arc::new(template),
        }))
    }

    /// The same in lanes, where that applies.
    pub(crate) fn lanes<T>(
        &self,
        request: &Run,
        build: impl FnOnce(&Workspace, &RunTemplate, &Settings) -> Option<T>,
    ) -> Option<T> {
        let workspace = self.model.workspace_with_families();
        let settings = Settings::new(&workspace, request).ok()?;
        build(&workspace, &self.template, &settings)
    }

    /// A run with these values of the parameters, by index.
    pub(crate) fn run(
        &self,
        values: impl IntoIterator<Item = (usize, f64)>,
        request: &Run,
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<Motion, Failure> {
        let mut workspace = self.model.workspace_with_families();
        workspace.set_parameters(values);
        let known =
            RunInput { template: Some(Arc::clone(&self.template)), ..RunInput::default() };
        let mut motion = integrated(&workspace, &self.dynamics, known, request, watch)?;
        motion.leave_out_rates(&workspace);
        Ok(motion)
    }
}

/// The model for a run: with the families of like terms as they were read if the run evaluates them as loops, else with
/// all terms written out.
fn workspace_for_run(
    model: &Model,
    derivation: Option<&Derivation>,
    request: &Run,
) -> Result<Workspace, Failure> {
    let kept = model.workspace_with_families();
    let is_kept = !kept.has_families()
        || (derivation.is_none()
            && has_loops(&kept, request)
            && !has_full_mass(&kept, request)?);
    Ok(if is_kept { kept } else { model.workspace() })
}

/// Whether a run needs the mass matrix by its entries: for Taylor series, geometric methods, memory or the divergence
/// of the flow.
fn has_full_mass(model: &Workspace, request: &Run) -> Result<bool, Failure> {
    let settings = Settings::new(model, request)?;
    let watched = model.events.iter().map(|e| e.expr);
    let mut outputs = watched.chain(model.observed.iter().map(|o| o.expr));
    Ok(settings.options.method == Method::Taylor
        || settings.geometric.is_some()
        || volterra::has_memory(model)
        || outputs.any(|e| model.graph.contains(e, &[model.results.divergence])))
}

/// Integrates given dynamics of a model, in saddle-point form as they stand, and audits the motion against the model.
///
/// # Errors
///
/// As [`run`].
pub fn run_derived(
    derivation: &Derivation,
    request: &Run,
    watch: &mut dyn FnMut(f64, usize) -> bool,
) -> Result<Motion, Error> {
    let model = &derivation.workspace();
    let told = &mut |progress: &Progress<'_>| {
        watch(progress.t, progress.steps) && !Interrupt::is_asked(request.interrupt)
    };
    if let Some(terminal) = model.terminal.first() {
        let message =
            "`final` makes this a boundary value problem, but an initial value problem is needed here".into();
        let failure = Failure::from(Diagnostic::error("E0430", terminal.span, message));
        return Err(failure.in_source(&model.source));
    }
    if !model.noises.is_empty() {
        let why =
            "derived equations do not contain the `noise` of their model: run the model itself";
        return Err(Failure::Usage(why.into()).in_source(&model.source));
    }
    integrated(model, &derivation.dynamics, RunInput::default(), request, told)
        .map_err(|failure| failure.in_source(&model.source))
}

impl Model {
    /// Integrates the model under its own principle, or that of the run, and audits the motion.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin. One that ends early is no error: it says why it stopped.
    pub fn run(&self, request: &Run) -> Result<Motion, Error> {
        run(self, request, &mut |_, _| true)
    }
}

impl Derivation {
    /// Integrates the equations and audits the motion: the same bits as a run of the model under this principle, if
    /// it has fewer than 24 coordinates. A run of a larger one may take a shorter form of the same equations.
    ///
    /// # Errors
    ///
    /// [`Error`] if no motion can begin. One that ends early is no error: it says why it stopped.
    pub fn run(&self, request: Run) -> Result<Motion, Error> {
        self.run_watched(request, &mut |_| true)
    }

    /// As [`run`](Self::run); `watch` sees after each step what was computed so far.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_watched(
        &self,
        request: Run,
        watch: &mut dyn FnMut(&Progress<'_>) -> bool,
    ) -> Result<Motion, Error> {
        let request = Run { principle: self.principle().or(request.principle), ..request };
        run_with(&self.model, Some(self), &request, watch)
            .map_err(|failure| failure.in_source(&self.model.source))
    }
}
