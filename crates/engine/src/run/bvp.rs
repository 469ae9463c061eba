//! Boundary value problems: a model with `final` into the motions between its ends.
//!
//! ```text
//! Model ─► conditions ─► canonical equations ─► starts ─► paths ─► solutions ─► Motion of the first
//! ```
//!
//! Motions under the vakonomic and the restricted principle, and those without velocity constraints, are
//! stationary points of the action $\int L\,dt$ among the curves between the ends. All that a search
//! finds are reported, least action first. What is shown is the first, integrated once more from its start as
//! any other motion and audited as such.

mod arch;
mod canonical;
mod conditions;
mod driven;
mod end_sensitivity;
mod guess;
mod homotopy;
mod length;
mod natural_units;
mod reachability;
mod search;
mod search_budget;
mod second_solution;
mod second_variation;
mod solution;
mod solution_family;
mod units;

use std::cell::Cell;

use pfaff_mechanics::{
    AbnormalPlaces, Class, Equations, Refusal, abnormal_places, derive as derive_equations,
};
use pfaff_model::{Diagnostic, Dynamics as Written, Principle, Quantity, Workspace};
use pfaff_solver::{BoundaryPath, Scheme};

use crate::audit::ends::EndsEvidence;
use crate::clock::Stopwatch;
use crate::error::Failure;
use crate::motion::note::{Note, brief};
use crate::motion::solution::Solution;
use crate::motion::{Form, Motion, StopReason};
use crate::problem::settings::{Method, Run};
use crate::problem::start::Start;
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::conditions::conditions;
use crate::run::bvp::end_sensitivity::EndsSolution;
use crate::run::bvp::homotopy::homotopy;
use crate::run::bvp::natural_units::natural_units;
use crate::run::bvp::search::{Candidate, Found, search};
use crate::run::bvp::search_budget::{Ended, SearchBudget};
use crate::run::bvp::second_solution::{Distances, second_solution};
use crate::run::bvp::solution::solution;
use crate::run::bvp::units::Units;
use crate::run::initial_value::integrated_from;
use crate::run::progress::Progress;
use crate::run::record::Record;
use crate::run::record::Setting;
use crate::run::volterra::has_memory;
use crate::system::compiled::Dynamics;

/// How long a search may take if nothing else is said.
const SEARCH_SECONDS: f64 = 60.0;

/// Whether a run of the model is a boundary value problem.
pub(crate) fn has_ends(model: &Workspace) -> bool {
    !model.terminal.is_empty()
}

/// Finds the motions between the ends of a model, and integrates and audits the first of them.
pub(crate) fn run(
    model: &Workspace,
    request: &Run,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let clock = Stopwatch::start(request.clock);
    let principle = request.principle.unwrap_or(model.principle);
    let wrong = |d: Diagnostic| Failure::Model(vec![d]);
    possible(model).map_err(wrong)?;
    let equations =
        derive_equations(model, principle).map_err(|r: Refusal| wrong(r.diagnostic()))?;
    stationary(model, &equations).map_err(wrong)?;
    if let Some(squared) = length::squared(model, &equations) {
        let mut motion = run(&squared, request, watch)?;
        let t0 = request.t0.or(squared.solve.range.map(|r| r.0)).unwrap_or(0.0);
        if let Some(solutions) = &mut motion.solutions {
            solutions.iter_mut().for_each(|s| length::turned_back(model, t0, s));
        }
        motion.notes.push(length::note());
        return Ok(motion);
    }
    let derive_us = clock.microseconds();

    let clock = Stopwatch::start(request.clock);
    let conditions = conditions(model, &equations, request).map_err(Failure::Model)?;
    let unreachable = reachability::unreachable(model, &equations, &conditions);
    if !unreachable.is_empty() {
        return Err(Failure::Model(unreachable));
    }
    let backend = request.chosen_backend();
    let (n, m) = (model.coordinates.len(), model.constraints.len());
    let in_units = |units: Units| {
        Canonical::new(model, &equations, conditions.clone(), units, backend)
            .map_err(Failure::from)
    };
    // What is asked and answered is in the units of the model, what is searched in those of the problem.
    let mut stated = in_units(Units::ones(n, m))?;
    end_sensitivity::check(model, &stated, request)?;
    let units = natural_units(&mut stated, request.guess.as_ref());
    let mut problem = if units.are_ones() { stated.clone() } else { in_units(units.clone())? };
    let compile_us = clock.microseconds();

    let clock = Stopwatch::start(request.clock);
    let scheme = scheme(model, request)?;
    let setting = Setting {
        model,
        principle: Some(principle),
        method: name(scheme),
        form: Form::Saddle,
        t0: stated.conditions.t0,
        t1: stated.conditions.t0 + stated.conditions.guess,
    };
    let record = Record::new(model, 0);
    let mut going = |steps: usize| {
        watch(&Progress {
            t: setting.t0,
            steps,
            rows: 0,
            is_last: false,
            setting,
            record: &record,
            forgotten: &Cell::new(0),
            earlier: None,
            complete: None,
        })
    };
    let seconds = request.seconds.unwrap_or(SEARCH_SECONDS);
    let positive = seconds > 0.0;
    if !positive {
        return Err(Failure::Usage(format!("the search cannot take {seconds} seconds")));
    }
    if request.seconds.is_some() && request.clock.is_none() {
        return Err(Failure::usage("a limit of seconds needs a clock: give the run one"));
    }
    let mut budget = SearchBudget::new(seconds, request.clock, request.interrupt, &mut going);
    let mut begin = Vec::new();
    if let Some(guess) = &request.guess {
        let path = guess::first_path(guess, &mut problem);
        begin.push((path, problem.branch.clone()));
    }
    let mut notes = Vec::new();
    if !request.lead.is_empty() {
        let arrived = homotopy(model, &equations, request, &units, &mut budget)?;
        if arrived.is_empty() {
            let text = "no motion could be continued to the model's own parameters, so the search started again";
            notes.push(Note::Remark(text.into()));
        }
        begin.extend(arrived);
    }
    let Found { mut paths, best, integrations } =
        search(&mut problem, scheme, begin, &mut budget);
    let ended = budget.ended;
    let mut solutions: Vec<(Solution, Candidate)> = Vec::new();
    for found in paths.drain(..) {
        if let Ok(solved) = solution(model, &equations, &mut problem, &found) {
            solutions.push((solved, found));
        }
    }
    solutions.sort_by(|a, b| a.0.action.total_cmp(&b.0.action));
    let mut second = None;
    if let Some((_, found)) = solutions.first() {
        problem.branch.clone_from(&found.branch);
        second = second_solution(&mut problem, &found.path);
    }
    let search_us = clock.microseconds();

    let first = match solutions.first() {
        Some((_, found)) => {
            problem.branch.clone_from(&found.branch);
            found.path.first().to_vec()
        }
        None => {
            let Some(best) = &best else {
                return Err(Failure::Model(vec![hopeless(model)]));
            };
            problem.branch.clone_from(&best.branch);
            notes.push(Note::Stopped(unsolved(model, &equations, best.residual, ended)));
            best.first.clone()
        }
    };
    let solved = !solutions.is_empty();
    let t0 = stated.conditions.t0;
    let duration = units.time * problem.duration(&first);
    let (v, μ) = {
        use pfaff_solver::BoundaryProblem;
        problem.rewind();
        let t0 = problem.conditions.t0;
        problem.velocities(t0, &first).map_err(|_| Failure::Model(vec![hopeless(model)]))?
    };
    let moving = units.branch_in_model(&[v, μ].concat());
    // NOTE: Newton's iteration leaves rounding where a value is given.
    let given = stated.conditions.first.iter().zip(&first).zip(&units.lengths);
    let start = Start {
        q: given.map(|((given, found), unit)| given.unwrap_or(unit * found)).collect(),
        v: moving[..n].to_vec(),
        multipliers: if principle == Principle::Vakonomic {
            moving[n..].to_vec()
        } else {
            Vec::new()
        },
        notes: Vec::new(),
    };
    let asked = Run {
        t0: Some(t0),
        t1: Some(t0 + duration),
        // NOTE: errors grow along the path; the ends are to be met to about 1e-10.
        tolerance: Some(request.tolerance.unwrap_or(model.solve.tolerance).min(1e-12)),
        method: Some(Method::Auto),
        // The second method is compared all along the motion.
        outputs_only: false,
        ..request.clone()
    };
    let interrupted = ended == Some(Ended::Interrupted);
    let dynamics = Dynamics::Saddle(equations.clone());
    // NOTE: who interrupts a search wants to see what it has so far: that one motion is integrated to its end.
    let mut motion = if interrupted {
        integrated_from(model, &dynamics, &asked, start.clone(), &mut |_| true)?
    } else {
        integrated_from(model, &dynamics, &asked, start.clone(), watch)?
    };
    motion.method = name(scheme);
    let sizes = sizes(&units, &motion, solutions.first().map(|(_, found)| &found.path));
    let second = second.and_then(|path| Distances::new(&problem, &motion, &path, &sizes));
    if let (Some(second), Some((solved, _))) = (&second, solutions.first_mut()) {
        solved.agreement = Some(second.largest);
        second.add_to(&mut motion.errors);
        // NOTE: the second integration knows nothing of the error of the initial velocities.
        motion.velocity_errors.clear();
    }
    if let Some(note) = abnormal_note(model, &equations) {
        notes.push(note);
    }
    let evidence = EndsEvidence {
        final_values: final_values(model, &stated, &motion, &sizes),
        two_methods: second.map(|second| second.largest),
    };
    motion.audit.add(evidence.checks());
    if let Some((solved, found)) = solutions.first().filter(|_| request.has_derivatives()) {
        let family_dimension = solved.family_dimension;
        let holonomic: Vec<usize> =
            (0..m).filter(|&a| equations.position[a].is_some()).collect();
        let found = Candidate {
            path: units.path_in_model(&found.path, &holonomic),
            residual: found.residual,
            branch: units.branch_in_model(&found.branch),
        };
        let shown = EndsSolution {
            model,
            equations: &equations,
            found: &found,
            start: &start,
            family_dimension,
        };
        end_sensitivity::add(&shown, &mut stated, &asked, &mut motion)?;
    }
    if interrupted && motion.stop.reason == StopReason::End {
        motion.stop.reason = StopReason::Interrupted;
        if solved {
            let text = "the search was interrupted: the motions found so far are shown, there may be more";
            notes.push(Note::Stopped(text.into()));
        }
    } else if !solved && motion.stop.reason == StopReason::End {
        motion.stop.reason = StopReason::MaxSteps;
    }
    if solved && ended == Some(Ended::Late) {
        let text = format!(
            "the search reached its limit of {} s: there may be more motions than it found",
            brief(seconds)
        );
        notes.push(Note::Remark(text));
    }
    motion.notes.extend(notes);
    motion.solutions = Some(solutions.into_iter().map(|(s, ..)| s).collect());
    motion.statistics.evaluations += integrations;
    motion.statistics.derive_us = derive_us;
    motion.statistics.compile_us += compile_us;
    motion.statistics.integrate_us += search_us;
    Ok(motion)
}

/// Kinds of models that have no ends.
fn possible(model: &Workspace) -> Result<(), Diagnostic> {
    let Some(terminal) = model.terminal.first() else { return Ok(()) };
    let refused = |message: &str, hint: &str| {
        Err(Diagnostic::error("E0430", terminal.span, message.into()).with_hint(hint))
    };
    if matches!(model.dynamics, Written::Equations(_)) {
        return refused(
            "`final` needs a Lagrangian: it cannot be combined with `equation`",
            "write `lagrangian …`, or leave `final` out and give all initial values",
        );
    }
    if has_memory(model) {
        return refused(
            "`final` in a model with memory is not supported yet",
            "leave `final` out and give all initial values",
        );
    }
    Ok(())
}

/// Chetaev's principle with velocity constraints has no action that would be stationary.
fn stationary(model: &Workspace, equations: &Equations) -> Result<(), Diagnostic> {
    if equations.principle != Principle::Chetaev {
        return Ok(());
    }
    let Some(a) = equations.classes.iter().position(|c| *c != Class::Holonomic) else {
        return Ok(());
    };
    let span = model.terminal.first().map(|t| t.span).unwrap_or_default();
    let name = &model.constraints[a].name;
    let message = format!(
        "under `chetaev` with the velocity constraint `{name}`, a motion follows from its initial state and does \
         not connect given ends: it is not a stationary point of the action"
    );
    Err(Diagnostic::error("E0634", span, message).with_hint(
        "`principle vakonomic` gives the shortest admissible paths, `restricted` those of L with the dependent \
         velocities inserted",
    ))
}

fn name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Shooting => "shooting",
        Scheme::Collocation { .. } => "collocation",
    }
}

fn scheme(model: &Workspace, request: &Run) -> Result<Scheme, Failure> {
    match Method::of(model, request) {
        Method::Auto | Method::Dop853 | Method::Shooting => Ok(Scheme::Shooting),
        Method::Collocation => Ok(Scheme::Collocation { stages: 5, adaptive: true }),
        other @ (Method::Taylor
        | Method::Radau
        | Method::Rosenbrock
        | Method::Rk4
        | Method::Dalembert
        | Method::Gauss
        | Method::Energy
        | Method::Spectral) => Err(Failure::Usage(format!(
            "the method `{}` does not solve boundary value problems: choose `auto`, `shooting` or `collocation`",
            other.name()
        ))),
    }
}

fn hopeless(model: &Workspace) -> Diagnostic {
    let span = model.terminal.first().map(|t| t.span).unwrap_or_default();
    let message = "no path could be followed from the start to the end: the equations have no finite value on \
        the way".into();
    Diagnostic::error("E0635", span, message).with_hint(
        "check that the Lagrangian determines the admissible velocities (one that is linear in them does not), and \
         that nothing is divided by zero between the ends",
    )
}

/// Why there may be no solution.
fn unsolved(
    model: &Workspace,
    equations: &Equations,
    residual: f64,
    ended: Option<Ended>,
) -> String {
    let tried = match ended {
        Some(Ended::Interrupted) => "The search was interrupted",
        Some(Ended::Late) => "The search reached its time limit",
        None => {
            "The search tries a straight line, many initial velocities, and paths that are continued to the end \
             step by step"
        }
    };
    let mut text = format!(
        "no motion between the ends was found: the best path, which is shown, misses them by {}. {tried}",
        brief(residual)
    );
    let integrable = pfaff_mechanics::integrable(model, equations);
    let names: Vec<String> = integrable
        .iter()
        .zip(&model.constraints)
        .zip(&equations.classes)
        .filter(|((verdict, _), class)| **verdict == Some(true) && **class != Class::Holonomic)
        .map(|((_, c), _)| format!("`{}`", c.name))
        .collect();
    if !names.is_empty() {
        text += &format!(
            ". {} integrable: the ends may lie on different surfaces, which no admissible path connects",
            if names.len() == 1 {
                format!("The constraint {} is", names[0])
            } else {
                format!("The constraints {} are", names.join(", "))
            }
        );
    }
    text
}

/// 𝓛 = L − μφ gives normal extremals only.
fn abnormal_note(model: &Workspace, equations: &Equations) -> Option<Note> {
    if equations.principle != Principle::Vakonomic {
        return None;
    }
    let text = match abnormal_places(model, equations)? {
        AbnormalPlaces::Everywhere => {
            "abnormal extremals, curves that are stationary for the constraints alone whatever L is, pass \
             through every \
             point; only normal extremals are computed, and a shortest path may be abnormal"
                .to_owned()
        }
        AbnormalPlaces::Where(place) => format!(
            "abnormal extremals can exist where {}; these are curves that are stationary for the constraints alone, \
             whatever L is. Only normal extremals are computed, and a shortest path that stays there may be abnormal",
            place_text(model, place)
        ),
        AbnormalPlaces::Possible => {
            "whether abnormal extremals exist was not decided; only normal ones are computed".to_owned()
        }
    };
    Some(Note::Remark(text))
}

/// A place where a function vanishes, if that can be read.
fn place_text(model: &Workspace, place: pfaff_expr::Expr) -> String {
    let text = model.graph.to_text(place);
    if text.chars().count() > 80 {
        "the brackets of the admissible fields are admissible themselves".to_owned()
    } else {
        format!("{text} = 0")
    }
}

/// What is smaller than this part of its unit all along a motion may be the rounding of the others.
const ROUNDING: f64 = 1e-4;

/// The largest size of each coordinate along a motion and its path.
fn sizes(units: &Units, motion: &Motion, path: Option<&BoundaryPath>) -> Vec<f64> {
    let mut sizes: Vec<f64> = units.lengths.iter().map(|unit| ROUNDING * unit).collect();
    for (size, q) in sizes.iter_mut().zip(&motion.q) {
        *size = q.values.iter().fold(*size, |m, x| m.max(x.abs()));
    }
    for y in path.iter().flat_map(|path| (0..=path.intervals()).map(|i| path.node(i))) {
        for ((size, unit), x) in sizes.iter_mut().zip(&units.lengths).zip(y) {
            *size = size.max((unit * x).abs());
        }
    }
    sizes
}

/// How well the motion, integrated from its start, meets what is given at the end, in parts of the sizes.
fn final_values(
    model: &Workspace,
    stated: &Canonical,
    motion: &Motion,
    sizes: &[f64],
) -> Option<f64> {
    let c = &stated.conditions;
    if motion.stop.reason != StopReason::End || motion.t.last() != Some(&motion.stop.t) {
        return None;
    }
    let mut worst = f64::NAN;
    for (k, q) in motion.q.iter().enumerate() {
        if let (Some(wanted), Some(x)) = (c.last[k], q.values.last()) {
            worst = worst.max((x - wanted).abs() / sizes[k].max(wanted.abs()));
        }
    }
    let given = model.terminal.iter().any(|t| t.quantity != Quantity::Time);
    (given && !worst.is_nan()).then_some(worst)
}
