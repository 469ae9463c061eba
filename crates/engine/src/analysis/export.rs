//! A model as source text of another language: `derive --format c`, `rust` and `python`.
//!
//! $$ \dot y = F(t, y; p) $$
//!
//! In independent quasi-velocities, $y = (q, u)$, where that form applies, else in saddle-point form with the
//! solve written out, $y = (q, \dot q)$, with $\mu$ behind it under the vakonomic
//! principle. Multipliers have a function of their own, and so has the way from $\dot q$ to $u$. The programs
//! are those that a run compiles.

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::{
    ChartPoint, Equations, LagrangianData, Ordinary, Reduction, explicit, solve_linear,
    solve_saddle,
};
use pfaff_model::{Principle, Workspace};
use pfaff_program::{Argument, Backend, ExportedFunction, Language, Module, Program};

use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::problem::settings::Run;
use crate::problem::start::given;
use crate::run::consistent_start::{begin, possible};
use crate::run::prepare::has_loops;
use crate::run::volterra;
use crate::signs::signs;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::reduced::{MOST, order, scale};

/// Steps of elimination beyond which the text would be of no use.
const LONGEST: usize = 200_000;

/// Which form of the equations is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// Reduced where that applies, else the saddle point.
    Best,
    /// In independent quasi-velocities.
    Reduced,
    /// Accelerations and multipliers.
    Saddle,
}

/// Writes the equations of a model in a language.
///
/// # Errors
///
/// [`Error`] says what stands in the way.
pub fn export(
    model: &Model,
    principle: Option<Principle>,
    form: ExportForm,
    language: Language,
) -> Result<String, Error> {
    let module = exported_for(model, principle, form, language)?;
    module.text(language).map_err(|e| Error::Usage(e.to_string()))
}

/// The functions of a model for a language: C has loops over families of like terms, the others have all terms written
/// out.
///
/// # Errors
///
/// As [`export`].
pub fn exported_for(
    model: &Model,
    principle: Option<Principle>,
    form: ExportForm,
    language: Language,
) -> Result<Module, Error> {
    let kept = model.workspace_with_families();
    let request = Run { principle, ..Run::default() };
    if language == Language::C && has_loops(&kept, &request) {
        exported_in(&kept, principle, form).map_err(|failure| failure.in_source(&model.source))
    } else {
        exported(model, principle, form)
    }
}

/// The functions of a model, in no language yet, all terms written out.
///
/// # Errors
///
/// As [`export`].
pub fn exported(
    model: &Model,
    principle: Option<Principle>,
    form: ExportForm,
) -> Result<Module, Error> {
    exported_in(&model.workspace(), principle, form)
        .map_err(|failure| failure.in_source(&model.source))
}

fn exported_in(
    model: &Workspace,
    principle: Option<Principle>,
    form: ExportForm,
) -> Result<Module, Failure> {
    let chetaev = principle.unwrap_or(model.principle) == Principle::Chetaev;
    let statement =
        if chetaev && form != ExportForm::Saddle { LagrangianData::of(model) } else { None };
    let dynamics = derive_in(model, principle)?;
    if volterra::has_memory(model) {
        return Err(unwritable("the rates of a motion with memory depend on its past"));
    }
    match &dynamics {
        Dynamics::Ordinary(_) if form == ExportForm::Reduced => {
            Err(unwritable("an `equation` model has no multipliers to eliminate"))
        }
        Dynamics::Ordinary(ordinary) => written_as_it_stands(model, ordinary),
        Dynamics::Saddle(equations) => {
            let reduction = statement.and_then(|s| reduced_at_start(model, &s, &dynamics));
            match reduction {
                Some(reduction) => in_quasi_velocities(model, equations, &reduction),
                None if form == ExportForm::Reduced => Err(unwritable(
                    "this model is not reduced: that takes Chetaev's principle, constraints linear or affine in \
                     the velocities, and at most 8 independent ones",
                )),
                None => with_multipliers(model, equations),
            }
        }
    }
}

fn unwritable(why: &str) -> Failure {
    Failure::usage(why)
}

fn uncompiled(error: pfaff_program::CompileError) -> Failure {
    Failure::Usage(error.to_string())
}

/// The reduced equations in the chart that a run would take, if their solve is written out.
fn reduced_at_start(
    model: &Workspace,
    statement: &LagrangianData,
    dynamics: &Dynamics,
) -> Option<Reduction> {
    let Dynamics::Saddle(equations) = dynamics else { return None };
    if model.coordinates.len() > MOST + model.constraints.len() {
        return None;
    }
    let t = model.solve.range.map_or(0.0, |r| r.0);
    let (q, scale) = at_start(model, dynamics, t).unwrap_or_else(|| {
        // NOTE: without a start any chart is as good as another.
        let q = given(model, t).q.into_iter().map(|x| x.unwrap_or(0.0)).collect();
        (q, Vec::new())
    });
    let reduction =
        statement.reduce(&equations.classes, ChartPoint { t, q: &q, scale: &scale })?;
    (reduction.rates.is_some() && reduction.independent.len() <= MOST).then_some(reduction)
}

/// The positions at the start, and the scale of each coordinate there.
fn at_start(model: &Workspace, dynamics: &Dynamics, t: f64) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut system = CompiledSystem::new(model, dynamics, Backend::Interpreter).ok()?;
    let start = begin(model, dynamics, &mut system, t).ok()?;
    let y = system.state(t, &start.q, &start.v, &start.multipliers);
    possible(model, &mut system, t, &y).ok()?;
    let Compiled::Saddle(kkt) = &mut system.dynamics else { return None };
    Some((start.q, scale(kkt)))
}

fn in_quasi_velocities(
    model: &Workspace,
    equations: &Equations,
    r: &Reduction,
) -> Result<Module, Failure> {
    let g = &r.graph;
    let (n, k) = (r.positions.len(), r.independent.len());
    let parameters = model.parameter_symbols();
    let state: Vec<Expr> = [&[r.time], r.positions.as_slice(), &r.independent].concat();
    let rates = r.rates.as_ref().expect("asked for before");
    let outputs = [r.velocities.as_slice(), rates].concat();
    let program = Program::compile_ordered(g, &state, &parameters, &outputs, order(r));
    let mut functions = vec![ExportedFunction {
        name: "rates".into(),
        comment: "dy = (q', u') at the time t and the state y = (q, u).".into(),
        inputs: vec![number("t"), array("y", n + k)],
        output: "dy".into(),
        program: program.map_err(uncompiled)?.fused(),
    }];
    if let Some(λ) = r.multipliers().multipliers.filter(|λ| !λ.is_empty()) {
        let moving = [state.as_slice(), &r.velocity_symbols, &r.independent_rates].concat();
        let first: Vec<Expr> = λ.iter().rev().copied().collect();
        let program = Program::compile_ordered(g, &moving, &parameters, &λ, &first);
        functions.push(ExportedFunction {
            name: "multipliers".into(),
            comment: "The multipliers at t and y, given dy from the function above.".into(),
            inputs: vec![number("t"), array("y", n + k), array("dy", n + k)],
            output: "lambda".into(),
            program: program.map_err(uncompiled)?.fused(),
        });
    }
    let place = [&[r.time], r.positions.as_slice(), &r.velocity_symbols].concat();
    let whole = [r.positions.as_slice(), &r.forms].concat();
    let program = Program::compile(g, &place, &parameters, &whole).map_err(uncompiled)?;
    functions.push(ExportedFunction {
        name: "state".into(),
        comment: "The state y of positions q and admissible velocities v.".into(),
        inputs: vec![number("t"), array("q", n), array("v", n)],
        output: "y".into(),
        program: program.fused(),
    });
    let mut state_lines = positions(model, "y", 0);
    for (i, &form) in r.forms.iter().enumerate() {
        state_lines.push(format!("y[{}] = u{} = {}", n + i, i + 1, g.to_text(form)));
    }
    let mut remarks = vec![
        "Independent quasi-velocities u: q' = B(q,t) u + b(q,t) satisfies the constraints exactly."
            .to_owned(),
    ];
    for chart in &r.charts {
        remarks.push(match chart.row {
            Some(_) => {
                format!("Valid while {} is not zero.", g.to_text(chart.candidates[chart.pivot]))
            }
            None => "Valid while the forms u are independent of each other.".to_owned(),
        });
    }
    if functions.len() == 2 && !model.constraints.is_empty() {
        remarks.push(
            "The multipliers have no function here: the constraints do not determine them one after another."
                .to_owned(),
        );
    }
    Ok(module(
        model,
        Some(equations.principle),
        Comments { state: state_lines, remarks },
        functions,
    ))
}

fn with_multipliers(model: &Workspace, equations: &Equations) -> Result<Module, Failure> {
    let g = &model.graph;
    // NOTE: repeated rows, or reactions along other directions, leave no symmetric solve: then all is
    // eliminated, and multipliers may be undetermined.
    let (accelerations, multipliers) = match solve_saddle(g, equations, LONGEST) {
        Some(solved) => (solved.accelerations, Some(solved.multipliers)),
        None => {
            let solved = g.merging(|| explicit(model, equations)).ok_or_else(|| {
                unwritable("the equations of this model are singular everywhere, or too many to be solved \
                    symbolically")
            })?;
            if !equations.multipliers.is_empty() {
                return Err(unwritable(
                    "the rates of the multipliers are not determined one by one",
                ));
            }
            (solved.accelerations, None)
        }
    };
    let (n, μ) = (model.coordinates.len(), equations.multipliers.len());
    let v = model.velocities();
    let mut inputs = vec![model.time];
    inputs.extend(model.positions());
    inputs.extend(&v);
    inputs.extend(&equations.multipliers);
    let parameters = model.parameter_symbols();
    let mut outputs = [v.as_slice(), &accelerations].concat();
    if μ > 0 {
        outputs.extend(multipliers.iter().flatten());
    }
    let compile = |outputs: &[Expr]| {
        Program::compile(g, &inputs, &parameters, outputs)
            .map_err(uncompiled)
            .map(Program::fused)
    };
    let state = || vec![number("t"), array("y", 2 * n + μ)];
    let tail = if μ > 0 { ", mu" } else { "" };
    let mut functions = vec![ExportedFunction {
        name: "rates".into(),
        comment: format!("dy at the time t and the state y = (q, q'{tail})."),
        inputs: state(),
        output: "dy".into(),
        program: compile(&outputs)?,
    }];
    if μ == 0
        && let Some(λ) = multipliers.filter(|λ| !λ.is_empty())
    {
        functions.push(ExportedFunction {
            name: "multipliers".into(),
            comment: "The multipliers at t and y.".into(),
            inputs: state(),
            output: "lambda".into(),
            program: compile(&λ)?,
        });
    }
    let mut lines = positions(model, "y", 0);
    let names = model.coordinates.iter().enumerate();
    lines.extend(names.map(|(i, c)| format!("y[{}] = {}'", n + i, c.name)));
    if μ > 0 {
        let names = model.constraints.iter().enumerate();
        lines.extend(names.map(|(i, c)| format!("y[{}] = mu({})", 2 * n + i, c.name)));
    }
    let remarks = if model.constraints.is_empty() {
        Vec::new()
    } else {
        vec!["Constraints hold as long as they hold at the start, up to the error of the integration.".to_owned()]
    };
    Ok(module(model, Some(equations.principle), Comments { state: lines, remarks }, functions))
}

fn written_as_it_stands(model: &Workspace, ordinary: &Ordinary) -> Result<Module, Failure> {
    let g = &model.graph;
    let none =
        "the equations of this model do not give their highest derivatives by elimination";
    if !ordinary.affine {
        return Err(unwritable(none));
    }
    let by_elimination = || {
        let right: Vec<Vec<Expr>> =
            ordinary.right_side(g).into_iter().map(|x| vec![x]).collect();
        let solved = solve_linear(g, &ordinary.full_jacobian(g), &right)?;
        Some(solved.into_iter().map(|x| x[0]).collect())
    };
    let solved: Vec<Expr> =
        ordinary.explicit(g).or_else(by_elimination).ok_or_else(|| unwritable(none))?;
    let (positions_of, velocities) = (model.positions(), model.velocities());
    let second: Vec<usize> =
        (0..positions_of.len()).filter(|&k| ordinary.orders[k] == 2).collect();
    let mut inputs = vec![model.time];
    inputs.extend(&positions_of);
    inputs.extend(second.iter().map(|&k| velocities[k]));
    let rate = |k: usize| if ordinary.orders[k] == 1 { solved[k] } else { velocities[k] };
    let mut outputs: Vec<Expr> = (0..positions_of.len()).map(rate).collect();
    outputs.extend(second.iter().map(|&k| solved[k]));
    let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs);
    let functions = vec![ExportedFunction {
        name: "rates".into(),
        comment: "dy at the time t and the state y.".into(),
        inputs: vec![number("t"), array("y", outputs.len())],
        output: "dy".into(),
        program: program.map_err(uncompiled)?.fused(),
    }];
    let mut lines = positions(model, "y", 0);
    for (i, &k) in second.iter().enumerate() {
        lines.push(format!("y[{}] = {}'", positions_of.len() + i, model.coordinates[k].name));
    }
    Ok(module(model, None, Comments { state: lines, remarks: Vec::new() }, functions))
}

/// Lines of the comment above the functions.
struct Comments {
    /// What stands where in the state.
    state: Vec<String>,
    remarks: Vec<String>,
}

/// The functions with a comment that says what stands where.
fn module(
    model: &Workspace,
    principle: Option<Principle>,
    comments: Comments,
    functions: Vec<ExportedFunction>,
) -> Module {
    let mut comment = vec![model.name().to_owned()];
    if let Some(principle) = principle {
        comment.push(format!("principle {}", principle.name()));
        if !model.constraints.is_empty() {
            comment.push(format!("signs: {}", signs(principle)));
        }
    }
    comment.extend(comments.remarks);
    comment.extend(jumps_left_out(model));
    let mut section = |lines: Vec<String>| {
        if !lines.is_empty() {
            comment.push(String::new());
            comment.extend(lines);
        }
    };
    section(comments.state);
    let parameters = model.parameters.iter().enumerate();
    section(parameters.map(|(i, p)| format!("p[{i}] = {}", p.name)).collect());
    if functions.iter().any(|f| f.name == "multipliers") {
        let names = model.constraints.iter().enumerate();
        section(names.map(|(i, c)| format!("lambda[{i}] = lambda({})", c.name)).collect());
    }
    section(vec![
        "`prepare` fills c from the parameters p, once; the arrays of a call must not overlap."
            .into(),
    ]);
    Module {
        prefix: identifier(model.source.name()),
        comment,
        parameters: model.parameters.iter().map(|p| (p.name.clone(), p.value)).collect(),
        functions,
    }
}

/// What the functions do not do: they are the motion between two jumps.
fn jumps_left_out(model: &Workspace) -> Vec<String> {
    let listed = |names: Vec<&str>| names.join(", ");
    let mut lines = Vec::new();
    if let [first, others @ ..] = model.hybrid.modes.as_slice()
        && !others.is_empty()
    {
        let others = others.join(", ");
        lines.push(format!("Equations of the mode {first}; those of {others} are not here."));
    }
    let contacts: Vec<&str> = model.hybrid.contacts.iter().map(|c| c.name.as_str()).collect();
    if !contacts.is_empty() {
        lines.push(format!("Contacts are not here: all are open ({}).", listed(contacts)));
    }
    let joints: Vec<&str> = model.hybrid.joints.iter().map(|j| j.name.as_str()).collect();
    if !joints.is_empty() {
        lines.push(format!("Friction of joints is not here ({}).", listed(joints)));
    }
    let mut events: Vec<&str> =
        model.resets.iter().map(|reset| model.events[reset.event].name.as_str()).collect();
    events.dedup();
    if !events.is_empty() {
        lines.push(format!("Jumps are not here: what happens on {}.", listed(events)));
    }
    let samplers = model.hybrid.samplers.iter().map(|s| s.coordinate);
    let held: Vec<&str> = samplers.map(|i| model.coordinates[i].name.as_str()).collect();
    if !held.is_empty() {
        lines.push(format!("Sampled controls keep their values: {}.", listed(held)));
    }
    lines
}

fn number(name: &str) -> Argument {
    Argument { name: name.into(), length: None }
}

fn array(name: &str, length: usize) -> Argument {
    Argument { name: name.into(), length: Some(length) }
}

fn positions(model: &Workspace, array: &str, first: usize) -> Vec<String> {
    let names = model.coordinates.iter().enumerate();
    names.map(|(i, c)| format!("{array}[{}] = {}", first + i, c.name)).collect()
}

/// The name of a file as a word that a function may begin with.
fn identifier(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.strip_suffix(".pfaff").unwrap_or(file);
    let word: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        word
    } else {
        format!("model_{}", word.trim_start_matches('_'))
    }
}
