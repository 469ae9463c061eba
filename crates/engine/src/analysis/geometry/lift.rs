//! The lift of a base path: dependent coordinates that follow the constraints along it, and its holonomy.
//!
//! $$ \dot q^\alpha = \varepsilon^\alpha_\mu(q,t)\,\dot q^\mu(t) + b^\alpha(q,t) $$
//!
//! The base path is given as functions of $t$, or as a table whose first column is $t$. After a loop of the
//! base the dependent coordinates have changed by the holonomy of the loop.
//!
//! A table is interpolated by cubic splines that end at its [`corners`], so that a polygon stays one; the integration
//! begins anew at each of them.

use crate::model::Model;
use pfaff_expr::{Expr, Table};
use pfaff_mechanics::split;
use pfaff_model::{Diagnostic, ParseErrors, Principle, Source, Span, Workspace, table_of};
use pfaff_program::{Interpreter, Program};
use pfaff_solver::{EvalError, System};

use super::trace::{Trace, series, states};
use crate::analysis::variations::functions;
use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::motion::StopReason;
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
/// A jump of the velocity by this part of it is a corner: a regular polygon of eight corners has 0.77, of nine 0.68.
const SHARP: f64 = 0.7;
/// A jump of the velocity is a corner if it is this many times what the velocity changes by at the rows beside it.
const ABRUPT: f64 = 10.0;
/// Changes of the velocity that differ by this factor at most are those of a smooth path.
const ALIKE: f64 = 1.5;
/// Jumps below this part of the velocity may be rounding of the table.
const ROUNDING: f64 = 1e-6;

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
    let (base, corners) = read_path(model, path, &split.base, &mut request)?;
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
        within: (f64::NEG_INFINITY, f64::INFINITY),
    };
    let begin = given(model, settings.t0).q;
    let y: Vec<f64> = split.dependent.iter().map(|&k| begin[k].unwrap_or(0.0)).collect();
    let (reached, reason, end) = between_corners(&mut along, y, &settings, &corners);
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
) -> Result<(Vec<Expr>, Vec<f64>), Failure> {
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
            Ok((found.into_iter().flatten().collect(), Vec::new()))
        }
        Path::Table(file, text) => {
            let mut tables = Vec::new();
            for &k in base {
                let table = table_of(text, file, name(k))
                    .map_err(|why| rejected(file, text, why.message, &why.hint))?;
                let (from, to) = table.range();
                request.t0.get_or_insert(from);
                request.t1.get_or_insert(to);
                tables.push(table);
            }
            let Some(times) = tables.first().map(|t| t.knots().to_vec()) else {
                return Ok((Vec::new(), Vec::new()));
            };
            let columns: Vec<Vec<f64>> =
                tables.iter().map(|t| times.iter().map(|&x| t.value(0, x)).collect()).collect();
            let rows = corners(&times, &columns);
            let broken = |(table, column): (&Table, &Vec<f64>)| {
                Table::with_corners(&table.file, &table.column, (&times, column), &rows)
                    .map_err(|why| rejected(file, text, why.to_string(), ""))
            };
            let functions: Result<Vec<Expr>, Failure> = tables
                .iter()
                .zip(&columns)
                .map(|each| broken(each).map(|t| model.graph.table(t, model.time)))
                .collect();
            Ok((functions?, rows.iter().map(|&row| times[row]).collect()))
        }
    }
}

/// The rows at which a path has a corner. The velocity between rows jumps there by more than [`SHARP`] of itself, and
/// not as it does at a smooth turning point, where it changes by as much at one of two rows beside that is not sharp;
/// or it jumps by [`ABRUPT`] times what it changes by at both rows beside. Coordinates count by their range.
fn corners(times: &[f64], columns: &[Vec<f64>]) -> Vec<usize> {
    let range = |column: &&Vec<f64>| {
        let (low, high) = column
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        high - low
    };
    let moving: Vec<(&Vec<f64>, f64)> =
        columns.iter().map(|c| (c, range(&c))).filter(|(_, size)| *size > 0.0).collect();
    let segments = times.len() - 1;
    let velocity = |i: usize| -> Vec<f64> {
        let step = times[i + 1] - times[i];
        moving.iter().map(|(c, size)| (c[i + 1] - c[i]) / (size * step)).collect()
    };
    let velocities: Vec<Vec<f64>> = (0..segments).map(velocity).collect();
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    let speeds: Vec<f64> = velocities.iter().map(|v| norm(&mut v.iter().copied())).collect();
    // By row: what the velocity changes by, and as a part of the larger one; nothing is known of both ends.
    let jump = |row: usize| -> Option<(f64, f64)> {
        if row == 0 || row >= segments {
            return None;
        }
        let pair = velocities[row - 1].iter().zip(&velocities[row]);
        let change = norm(&mut pair.map(|(a, b)| b - a));
        let speed = speeds[row - 1].max(speeds[row]);
        Some((change, if speed > 0.0 { change / speed } else { 0.0 }))
    };
    let is_corner = |&row: &usize| {
        let Some((change, part)) = jump(row) else { return false };
        let beside = [jump(row - 1), jump(row + 1)];
        let smooth =
            |&(other, its_part): &(f64, f64)| its_part <= SHARP && change <= ALIKE * other;
        let abrupt = beside.iter().all(|j| j.is_some_and(|(other, _)| change > ABRUPT * other));
        let mut around =
            (row.saturating_sub(2)..=row + 2).filter(|&r| r != row).filter_map(&jump);
        part > SHARP && !around.any(|other| smooth(&other)) || part > ROUNDING && abrupt
    };
    (1..segments).filter(is_corner).collect()
}

/// The states at the output times, with a new start at every corner.
fn between_corners(
    along: &mut Along,
    start: Vec<f64>,
    settings: &Settings,
    corners: &[f64],
) -> (Vec<(f64, Vec<f64>)>, StopReason, f64) {
    let (t0, t1) = (settings.t0, settings.options.t1);
    let forward = t1 >= t0;
    let mut stops: Vec<f64> =
        corners.iter().copied().filter(|&c| (c - t0) * (t1 - c) > 0.0).collect();
    if !forward {
        stops.reverse();
    }
    stops.push(t1);
    let (mut y, mut from, mut reached) = (start, t0, Vec::new());
    for to in stops {
        let within =
            |t: &f64| if forward { (from..=to).contains(t) } else { (to..=from).contains(t) };
        let mut times: Vec<f64> = settings
            .times
            .iter()
            .copied()
            .filter(|t| within(t) && (*t != from || from == t0))
            .collect();
        let asked = times.last() == Some(&to);
        if !asked {
            times.push(to);
        }
        let mut own = settings.clone();
        (own.t0, own.options.t0, own.options.t1, own.times) = (from, from, to, times);
        // NOTE: the piece before the corner, or after it in reversed time, up to the corner itself.
        along.within = if forward { (from, to.next_down()) } else { (to, from.next_down()) };
        let (mut states, reason, end) = states(along, &y, &own);
        let last = states.last().filter(|s| s.0 == to).map(|s| s.1.clone());
        if !asked && last.is_some() {
            states.pop();
        }
        reached.extend(states);
        match last {
            Some(last) if reason == StopReason::End => (y, from) = (last, to),
            _ => return (reached, reason, end),
        }
    }
    along.within = (f64::NEG_INFINITY, f64::INFINITY);
    (reached, StopReason::End, t1)
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
    /// The times of the piece of the path that is being followed.
    within: (f64, f64),
}

impl Along {
    fn evaluate(&mut self, t: f64, y: &[f64]) {
        self.inputs[0] = t.clamp(self.within.0, self.within.1);
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

#[cfg(test)]
mod tests {
    use super::corners;

    fn sampled(n: usize, t1: f64, f: &dyn Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let times: Vec<f64> = (0..=n).map(|i| t1 * i as f64 / n as f64).collect();
        let values = times.iter().map(|&t| f(t)).collect();
        (times, values)
    }

    /// Smooth paths have no corner, also where they turn back: with twelve rows for each turn or many.
    #[test]
    fn smooth_paths_have_no_corners() {
        for n in [25, 31, 100, 401] {
            let (times, x) = sampled(n, 12.6, &|t| libm::cos(t + 0.1));
            let (_, y) = sampled(n, 12.6, &|t| libm::sin(t + 0.1));
            assert!(corners(&times, &[x.clone(), y]).is_empty(), "a circle of {n} rows");
            assert!(corners(&times, &[x]).is_empty(), "an oscillation of {n} rows");
            let (times, x) = sampled(n, 4.0, &|t| t * t * (t - 2.5));
            assert!(corners(&times, &[x]).is_empty(), "a cubic of {n} rows");
        }
    }

    #[test]
    fn polygons_have_theirs() {
        let times = [0.0, 1.0, 2.0, 3.0, 4.0];
        let square = [vec![0.0, 1.0, 1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0, 1.0, 0.0]];
        assert_eq!(corners(&times, &square), [1, 2, 3]);
        // A slight bend of a straight path, between many rows.
        let (times, x) = sampled(40, 4.0, &|t| t + 0.05 * (t - 2.0).max(0.0));
        assert_eq!(corners(&times, &[x]), [20]);
        // A zigzag, and a path at rest.
        assert_eq!(corners(&[0.0, 1.0, 2.0, 3.0], &[vec![0.0, 1.0, 0.0, 1.0]]), [1, 2]);
        assert!(corners(&[0.0, 1.0, 2.0], &[vec![3.0; 3]]).is_empty());
    }
}
