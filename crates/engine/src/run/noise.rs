//! Runs with white forces.
//!
//! In the step $[t_i, t_{i+1}]$ of length $h$ the force $\sigma\xi$ is $\sigma\,\Delta W_i/h$, as if the path $W$ of
//! Brown's motion went straight there (Wong and Zakai 1965): what comes out is Stratonovich's integral. It enters where
//! all forces do, so that constraints hold as they always do, and the work that it does is booked. With strengths that
//! do not depend on the state the path is right to order one in $h$.
//!
//! A run takes $2^k$ steps, and $W$ is found by halving the whole run again and again: a run with half the step has the
//! same path with more detail. So a second run with half the step tells the error of the first one.

use pfaff_expr::Role;
use pfaff_mechanics::LagrangianData;
use pfaff_model::{Diagnostic, Force, ForceOrigin, Parameter, Workspace};

use crate::clock::Stopwatch;
use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::Motion;
use crate::motion::note::{Note, brief};
use crate::motion::verdict::{Audit, Check};
use crate::problem::settings::{Method, Run, Settings};
use crate::run::hybrid;
use crate::run::initial_value::integrate_segment;
use crate::run::prepare::RunInput;
use crate::run::progress::Progress;
use crate::system::compiled::NoiseSource;

/// Steps of a run whose step is not given: 2^12.
const USUAL: u32 = 12;
/// Steps at most: 2^30.
const FINEST: u32 = 30;
/// What the steps of a run are measured by. The discretisation of noise is far coarser.
const TOLERANCE: f64 = 1e-6;

/// Errors of the path beyond this part of a coordinate's size are told.
const RESOLVED: f64 = 0.1;

/// Integrates a model with white forces, and audits the motion.
pub(crate) fn run(
    model: &Workspace,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    refused(model, request)?;
    let clock = Stopwatch::start(request.clock);
    let mut settings =
        Settings::new(model, &Run { method: Some(Method::Dop853), ..request.clone() })?;
    let (t0, t1) = settings.span();
    let level = match settings.options.step {
        Some(step) => libm::ceil(libm::log2((t1 - t0) / step) - 1e-9).max(0.0),
        None => f64::from(USUAL),
    };
    if level > f64::from(FINEST) {
        let why = format!("a run with noise takes at most 2^{FINEST} steps");
        return Err(Failure::Usage(why));
    }
    let level = level as u32;
    settings.auto = false;
    settings.options.method = pfaff_solver::Method::Rk4;
    settings.options.step = Some((t1 - t0) / f64::from(1 << level));
    settings.options.watches_stiffness = false;
    settings.options.tolerance = settings.options.tolerance.max(TOLERANCE);
    settings.options.max_steps = settings.options.max_steps.max(4 << level);
    let noisy = with_forces(model);
    let first = model.parameters.len();
    let source = NoiseSource::new(
        (request.seed.unwrap_or(0), request.stream.unwrap_or(0)),
        noisy.parameter_values(),
        first,
        (level, t1 - t0),
    );
    let lagrangian = LagrangianData::of(&noisy);
    let dynamics = derive_in(&noisy, request.principle)?;
    let derive_us = clock.microseconds();
    let known = RunInput { lagrangian, noise: Some(source), ..RunInput::default() };
    let mut motion = integrate_segment(&noisy, &dynamics, known, settings, watch)?.motion;
    motion.statistics.derive_us = derive_us;
    let is_checked = |name: &str| {
        ["constraint ", "energy balance", "error by"].iter().any(|word| name.starts_with(word))
            && !name.contains("differentiated at")
    };
    // NOTE: a path of Brown's motion has no velocity, so that equations between steps say nothing.
    let mut checks = std::mem::take(&mut motion.audit.checks);
    checks.retain(|check| is_checked(&check.name));
    let reason = "the path is found to order one in the step; beyond a tenth of the size of a coordinate it is not \
        resolved, although means may be right";
    for check in checks.iter_mut().filter(|check| check.name.starts_with("error by")) {
        let value = check.value.is_finite().then_some(check.value);
        let name = std::mem::take(&mut check.name);
        *check = Check { is_needed: true, ..Check::measured(name, value, RESOLVED, reason) };
    }
    motion.audit = Audit::of(checks);
    let step = brief((t1 - t0) / f64::from(1 << level));
    motion.notes.push(Note::Remark(format!(
        "noise in steps of {step}; the same seed has the same path whatever the step"
    )));
    Ok(motion)
}

/// The model with a force for each noise, whose strength is a parameter more.
fn with_forces(model: &Workspace) -> Workspace {
    let mut noisy = model.clone();
    let n = model.coordinates.len();
    for (k, noise) in model.noises.iter().enumerate() {
        let name = format!("noise {}", k + 1);
        let g = &noisy.graph;
        let symbol = g.symbol(&name, Role::Parameter);
        let mut components = vec![g.zero(); n];
        components[noise.coordinate] = g.mul(noise.strength, symbol);
        let (span, value) = (noise.span, 0.0);
        noisy.parameters.push(Parameter {
            name: name.clone(),
            symbol,
            value,
            definition: None,
            span,
        });
        let origin = ForceOrigin::Components;
        noisy.forces.push(Force { name, components, origin, span });
    }
    noisy.noises.clear();
    noisy
}

/// What white forces do not go with.
fn refused(model: &Workspace, request: &Run) -> Result<(), Failure> {
    let Some(first) = model.noises.first() else { return Ok(()) };
    if hybrid::is_hybrid(model) || !model.resets.is_empty() || !model.hybrid.samplers.is_empty()
    {
        let message =
            "`noise` does not apply to a model that jumps, switches or has branches".into();
        let hint = "leave out `on`, `contact`, `mode`, `every`, and `if`, `abs`, `min`, `max` of the state";
        let diagnostic = Diagnostic::error("E0451", first.span, message).with_hint(hint);
        return Err(Failure::Model(vec![diagnostic]));
    }
    if request.has_derivatives() {
        return Err(Failure::Usage("a motion with noise is not differentiated".into()));
    }
    let method = Method::of(model, request);
    if !matches!(method, Method::Auto | Method::Rk4) {
        return Err(Failure::Usage(format!(
            "a model with noise is integrated with a fixed step: `{}` does not apply, choose `auto`",
            method.name()
        )));
    }
    Ok(())
}
