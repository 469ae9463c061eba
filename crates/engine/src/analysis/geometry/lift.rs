//! The lift of a base path: dependent coordinates that follow the constraints along it, and its holonomy.
//!
//! $$ \dot q^\alpha = \varepsilon^\alpha_\mu(q,t)\,\dot q^\mu(t) + b^\alpha(q,t) $$
//!
//! The base path is given as functions of $t$, or as a table whose first column is $t$. After a loop of the
//! base the dependent coordinates have changed by the holonomy of the loop.

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::split;
use pfaff_model::{Diagnostic, ParseErrors, Principle, Source, Span, Workspace, table_of};
use pfaff_program::{Interpreter, Program};
use pfaff_solver::{EvalError, System};

use super::trace::{Trace, series, states};
use crate::analysis::variations::functions;
use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::problem::settings::{Run, Settings};
use crate::problem::start::given;
use crate::system::compiled::Dynamics;

/// A path of the base.
#[derive(Clone, Debug)]
pub enum Path {
    /// `x = cos(t), y = sin(t)`
    Formulas(String),
    /// A table: name of the file and its text.
    Table(String, String),
}

/// A loop closes where its ends agree to this part of its size.
const CLOSED: f64 = 1e-9;

/// Lifts a path. Dependent coordinates begin where `initial` says, or at 0.
///
/// # Errors
///
/// [`Error`] says what is wrong.
pub fn lift(
    model: &Model,
    path: &Path,
    dependent: Option<&[usize]>,
    request: &Run,
) -> Result<Trace, Error> {
    lift_in(&model.workspace(), path, dependent, request)
        .map_err(|failure| failure.in_source(&model.source))
}

fn lift_in(
    model: &Workspace,
    path: &Path,
    dependent: Option<&[usize]>,
    request: &Run,
) -> Result<Trace, Failure> {
    let Dynamics::Saddle(equations) = derive_in(model, Some(Principle::Chetaev))? else {
        let message = "an `equation` model has no constraints to lift with";
        return Err(Failure::usage(message));
    };
    let split = split(model, &equations, dependent)?;
    let g = &model.graph;
    let mut request = request.clone();
    let base = read_path(model, path, &split.base, &mut request)?;
    let settings = Settings::new(model, &request)?;
    let speeds: Vec<Expr> = base.iter().map(|&e| g.derivative(e, model.time)).collect();
    let rates: Vec<Expr> = split
        .slopes
        .iter()
        .zip(&split.drift)
        .map(|(row, &b)| g.add(g.dot(row, &speeds), b))
        .collect();
    let positions = model.positions();
    let inserted: Vec<(Expr, Expr)> =
        split.base.iter().map(|&k| positions[k]).zip(base.iter().copied()).collect();
    let mut outputs = g.substitute(&rates, &inserted);
    outputs.extend(base.iter().chain(&speeds));
    let mut inputs = vec![model.time];
    inputs.extend(split.dependent.iter().map(|&k| positions[k]));
    let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs)
        .map_err(|e| Failure::Usage(e.to_string()))?;
    let mut along = Along {
        run: program.interpreter(&model.parameter_values()),
        inputs: vec![0.0; inputs.len()],
        outputs: vec![0.0; outputs.len()],
    };
    let begin = given(model, settings.t0).q;
    let y: Vec<f64> = split.dependent.iter().map(|&k| begin[k].unwrap_or(0.0)).collect();
    let (reached, reason, end) = states(&mut along, &y, &settings);
    let (d, m, n) = (split.dependent.len(), split.base.len(), model.coordinates.len());
    let (mut t, mut q, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for (time, y) in reached {
        along.evaluate(time, &y);
        let (mut position, mut velocity) = (vec![0.0; n], vec![0.0; n]);
        for (i, &k) in split.dependent.iter().enumerate() {
            (position[k], velocity[k]) = (y[i], along.outputs[i]);
        }
        for (i, &k) in split.base.iter().enumerate() {
            (position[k], velocity[k]) = (along.outputs[d + i], along.outputs[d + m + i]);
        }
        t.push(time);
        q.push(position);
        v.push(velocity);
    }
    let holonomy = holonomy(model, &split.base, &split.dependent, &q)
        .filter(|_| t.last() == Some(&settings.options.t1));
    let name = |&k: &usize| model.coordinates[k].name.clone();
    Ok(Trace {
        kind: "lift",
        title: model.name().to_owned(),
        base: split.base.iter().map(name).collect(),
        dependent: split.dependent.iter().map(name).collect(),
        reason,
        end,
        t,
        q: series(model, &q),
        v: series(model, &v),
        figures: Vec::new(),
        holonomy,
    })
}

/// Base coordinates as functions of $t$; a table also says from when to when.
fn read_path(
    model: &Workspace,
    path: &Path,
    base: &[usize],
    request: &mut Run,
) -> Result<Vec<Expr>, Failure> {
    let name = |k: usize| &model.coordinates[k].name;
    match path {
        Path::Formulas(text) => {
            let found = functions(model, base, "<path>", text)?;
            let missing = base.iter().zip(&found).find(|(_, f)| f.is_none());
            if let Some((&k, _)) = missing {
                let message =
                    format!("the path does not give the base coordinate `{}`", name(k));
                return Err(rejected(
                    "<path>",
                    text,
                    message,
                    "give every base coordinate as a function of t; constants are allowed",
                ));
            }
            Ok(found.into_iter().flatten().collect())
        }
        Path::Table(file, text) => {
            let mut functions = Vec::new();
            for &k in base {
                let table = table_of(text, file, name(k))
                    .map_err(|why| rejected(file, text, why.message, &why.hint))?;
                let (from, to) = table.range();
                request.t0.get_or_insert(from);
                request.t1.get_or_insert(to);
                functions.push(model.graph.table(table, model.time));
            }
            Ok(functions)
        }
    }
}

fn rejected(option: &str, text: &str, message: String, hint: &str) -> Failure {
    let first = text.lines().next().map_or(0, str::len);
    let span = Span::new(0, u32::try_from(first).unwrap_or(u32::MAX));
    let diagnostics = vec![Diagnostic::error("E0610", span, message).with_hint(hint)];
    Failure::Text(ParseErrors { source: Source::new(option, text), diagnostics })
}

/// What the dependent coordinates changed by, if the base came back to where it began.
fn holonomy(
    model: &Workspace,
    base: &[usize],
    dependent: &[usize],
    q: &[Vec<f64>],
) -> Option<Vec<(String, f64)>> {
    let (first, last) = (q.first()?, q.last()?);
    let size = q.iter().flatten().fold(1.0_f64, |m, x| m.max(x.abs()));
    let closed = base.iter().all(|&k| (last[k] - first[k]).abs() <= CLOSED * size);
    let change = |&k: &usize| (model.coordinates[k].name.clone(), last[k] - first[k]);
    (closed && q.len() > 1).then(|| dependent.iter().map(change).collect())
}

/// The dependent coordinates along the path.
struct Along {
    run: Interpreter,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl Along {
    fn evaluate(&mut self, t: f64, y: &[f64]) {
        self.inputs[0] = t;
        self.inputs[1..].copy_from_slice(y);
        self.run.evaluate(&self.inputs, &mut self.outputs);
    }
}

impl System for Along {
    fn dimension(&self) -> usize {
        self.inputs.len() - 1
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        self.evaluate(t, y);
        rates.copy_from_slice(&self.outputs[..rates.len()]);
        Ok(())
    }
}
