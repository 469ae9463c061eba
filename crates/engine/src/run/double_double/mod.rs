//! A motion with some thirty digits: `precision = double_double`.
//!
//! After the run in doubles the same equations are integrated once more by Taylor series of sums of two doubles,
//! interpreted from the graph, in saddle-point form or as the text has them. The unknowns $x$ (accelerations and
//! multipliers) are linear in the equations, $K(t, y)\,x + r(t, y) = 0$, and follow order by order,
//!
//! $$ K^{[0]} x^{[k]} = -r^{[k]} - \sum_{j=1}^{k} K^{[j]} x^{[k-j]}. $$
//!
//! A second integration with a lower order and other steps tells how many digits are right. Numbers of the text are
//! taken exactly; output times are doubles.

mod linear;
mod start;

use pfaff_expr::{DoubleDouble, Expr};
use pfaff_model::Workspace;
use pfaff_program::{DoubleSeries, NoDoubleSeries};

use crate::clock::Interrupt;
use crate::error::Failure;
use crate::motion::double_double::{DoubleDoubleMotion, DoubleDoubleSeries};
use crate::motion::note::{Note, brief};
use crate::motion::verdict::{Audit, Check};
use crate::motion::{Motion, StopReason};
use crate::problem::branches::Branches;
use crate::problem::settings::Settings;
use crate::run::double_double::linear::DoubleLu;
use crate::run::double_double::start::{exact_parameters, exact_start};
use crate::run::sensitivity::results;
use crate::system::compiled::Dynamics;
use crate::system::linearisation::{Rate, Variables, balance};

/// The orders of the two integrations, and the local errors that they allow.
const ORDERS: [(usize, f64); 2] = [(34, 1e-34), (26, 1e-32)];
/// Steps of one integration, at most.
const MOST_STEPS: usize = 1_000_000;
/// Digits that two integrations must agree to, and the part of the largest value that this is.
const AGREED: f64 = 1e-25;

/// Refuses what has no motion with so many digits.
pub(crate) fn check(model: &Workspace) -> Result<(), Failure> {
    let refused = |why: &str| {
        Err(Failure::Usage(format!(
            "`precision = double_double` is not available for {why}: leave it out, or choose `double`"
        )))
    };
    if !model.terminal.is_empty() {
        return refused("motions between given ends (`final`)");
    }
    if crate::run::volterra::has_memory(model) {
        return refused("models with memory");
    }
    if !model.resets.is_empty()
        || model.hybrid.switches()
        || !model.hybrid.samplers.is_empty()
        || Branches::of(model).is_some()
    {
        return refused("models whose equations have branches or jumps");
    }
    Ok(())
}

/// Adds the motion with some thirty digits, and shows its values. If the run is asked to end meanwhile, the motion
/// stays as it is in doubles, and says so.
pub(crate) fn add(
    model: &Workspace,
    dynamics: &Dynamics,
    settings: &Settings,
    motion: &mut Motion,
    interrupt: Option<Interrupt>,
) -> Result<(), Failure> {
    let unknown = |NoDoubleSeries(word): NoDoubleSeries| {
        Failure::Usage(format!(
            "`{word}` has no value with thirty digits: leave `precision = double_double` out"
        ))
    };
    let parameters = exact_parameters(model).map_err(unknown)?;
    let mut field = Field::new(model, dynamics, &parameters).map_err(unknown)?;
    let first = exact_start(model, dynamics, settings, &parameters)?;
    let times = motion.t.clone();
    let mut runs = Vec::new();
    for (order, tolerance) in ORDERS {
        let found =
            field.integrated(settings.t0, &first, &times, (order, tolerance), interrupt);
        match found {
            Ok(found) => runs.push(found),
            Err(Lost::Beyond(t)) => {
                return Err(Failure::Usage(format!(
                    "the motion with thirty digits could not be followed beyond t = {t}"
                )));
            }
            Err(Lost::Interrupted(t)) => {
                motion.stop.reason = StopReason::Interrupted;
                let why = format!(
                    "interrupted while thirty digits were computed, at t = {}: the values are those of doubles",
                    brief(t)
                );
                motion.notes.push(Note::Stopped(why));
                return Ok(());
            }
        }
    }
    let (n, rows, steps) = (model.coordinates.len(), &runs[0].rows, runs[0].steps);
    let mut sizes = vec![0.0_f64; field.variables.state.len()];
    for row in rows {
        sizes.iter_mut().zip(&row.y).for_each(|(s, y)| *s = s.max(y.high.abs()));
    }
    let mut apart = 0.0_f64;
    for (a, b) in rows.iter().zip(&runs[1].rows) {
        for ((a, b), size) in a.y.iter().zip(&b.y).zip(&sizes) {
            let difference = (*a - *b).high.abs();
            apart = apart.max(if difference == 0.0 { 0.0 } else { difference / size });
        }
    }
    let velocity = |row: &Row, k: usize| match field.variables.rates[k] {
        Rate::State(i) => row.y[i],
        Rate::Unknown(i) => row.x[i],
    };
    let series = |name: &str, value: &dyn Fn(&Row) -> DoubleDouble| DoubleDoubleSeries {
        name: name.to_owned(),
        values: rows.iter().map(value).collect(),
    };
    let names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let q = (0..n).map(|k| series(&names[k], &|row| row.y[k])).collect::<Vec<_>>();
    let v = (0..n).map(|k| series(&names[k], &|row| velocity(row, k))).collect::<Vec<_>>();
    let observed = observed(model, dynamics, &field.variables, &parameters, rows);
    // The error of the motion in doubles is known now.
    let mut worst = 0.0_f64;
    let shown = motion.q.iter_mut().zip(&q).chain(motion.v.iter_mut().zip(&v));
    for (doubles, exact) in shown {
        let size = exact.values.iter().fold(0.0_f64, |s, x| s.max(x.high.abs()));
        for (x, exact) in doubles.values.iter_mut().zip(&exact.values) {
            let error = (*x - exact.high).abs();
            worst = worst.max(if error == 0.0 { 0.0 } else { error / size });
            *x = exact.high;
        }
    }
    for (doubles, exact) in motion.observed.iter_mut().zip(&observed) {
        let pairs = doubles.values.iter_mut().zip(&exact.values);
        pairs.for_each(|(x, exact)| *x = exact.high);
    }
    // Doubles know no more than their rounding.
    let limit = 1e5 * settings.options.tolerance.max(1e-15);
    let checks = [
        Check::new(
            "double-double by two orders".into(),
            apart,
            AGREED,
            "two integrations of \
            different orders and steps, each with some thirty digits",
        ),
        Check::new(
            "doubles against double-double".into(),
            worst,
            limit,
            "errors of steps add up \
            and are amplified; the values shown are those of the motion with thirty digits",
        ),
    ];
    motion.audit.checks.extend(checks);
    motion.audit = Audit::of(std::mem::take(&mut motion.audit.checks));
    let digits = if apart > 0.0 { -libm::log10(apart) } else { 32.0 };
    motion.double_double = Some(DoubleDoubleMotion { q, v, observed, digits, steps });
    Ok(())
}

/// What is observed with thirty digits; no values where a function has none.
fn observed(
    model: &Workspace,
    dynamics: &Dynamics,
    variables: &Variables,
    parameters: &[(Expr, DoubleDouble)],
    rows: &[Row],
) -> Vec<DoubleDoubleSeries> {
    let g = &model.graph;
    let images = results(model, dynamics, variables);
    let mut inputs = vec![variables.time];
    inputs.extend(variables.state.iter().chain(&variables.unknowns));
    let one = |o: &pfaff_model::Observed| {
        let written = g.substitute(&[o.expr], &images);
        let values = match DoubleSeries::new(g, &inputs, parameters, &written) {
            Ok(mut series) => rows
                .iter()
                .map(|row| {
                    let mut all = vec![DoubleDouble::from(row.t)];
                    all.extend(row.y.iter().chain(&row.x));
                    series.begin();
                    series.advance(0, &all);
                    series.output(0, 0)
                })
                .collect(),
            Err(_) => Vec::new(),
        };
        DoubleDoubleSeries { name: o.name.clone(), values }
    };
    model.observed.iter().map(one).collect()
}

/// State and unknowns at an output.
struct Row {
    t: f64,
    y: Vec<DoubleDouble>,
    x: Vec<DoubleDouble>,
}

struct Integrated {
    rows: Vec<Row>,
    steps: usize,
}

/// The equations as series.
struct Field {
    variables: Variables,
    /// $K$ by the places of its entries, and $r$ after them.
    series: DoubleSeries,
    entries: Vec<(usize, usize)>,
}

impl Field {
    fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        parameters: &[(Expr, DoubleDouble)],
    ) -> Result<Self, NoDoubleSeries> {
        let g = &model.graph;
        let variables = Variables::of(model, dynamics, Vec::new());
        let residual = balance(model, dynamics);
        let columns = g.merging(|| g.jacobian_columns(&residual, &variables.unknowns));
        let (mut entries, mut outputs) = (Vec::new(), Vec::new());
        for (j, column) in columns.into_iter().enumerate() {
            for (i, slope) in column.into_iter().filter(|&(_, slope)| slope != g.zero()) {
                if g.contains(slope, &variables.unknowns) {
                    let word = "an equation that is not linear in its highest derivatives";
                    return Err(NoDoubleSeries(word.into()));
                }
                entries.push((i, j));
                outputs.push(slope);
            }
        }
        let zeros: Vec<(Expr, Expr)> =
            variables.unknowns.iter().map(|&x| (x, g.zero())).collect();
        outputs.extend(g.substitute(&residual, &zeros));
        let mut inputs = vec![variables.time];
        inputs.extend(&variables.state);
        let series = DoubleSeries::new(g, &inputs, parameters, &outputs)?;
        Ok(Self { variables, series, entries })
    }

    /// The coefficients of state and unknowns at a point; nothing where the equations have no solution.
    fn expand(
        &mut self,
        t: DoubleDouble,
        y: &[DoubleDouble],
        order: usize,
    ) -> Option<[Vec<Vec<DoubleDouble>>; 2]> {
        let size = self.variables.unknowns.len();
        let zero = DoubleDouble::default();
        let mut states: Vec<Vec<DoubleDouble>> = vec![y.to_vec()];
        let mut unknowns: Vec<Vec<DoubleDouble>> = Vec::new();
        let mut lu = DoubleLu::default();
        self.series.begin();
        for k in 0..order {
            let time = match k {
                0 => t,
                1 => DoubleDouble::from(1.0),
                _ => zero,
            };
            let inputs: Vec<DoubleDouble> =
                [time].into_iter().chain(states[k].iter().copied()).collect();
            self.series.advance(k, &inputs);
            if k == 0 {
                let mut matrix = vec![zero; size * size];
                for (e, &(i, j)) in self.entries.iter().enumerate() {
                    matrix[i * size + j] = self.series.output(e, 0);
                }
                lu = DoubleLu::new(size, matrix)?;
            }
            let count = self.entries.len();
            let mut right: Vec<DoubleDouble> =
                (0..size).map(|i| -self.series.output(count + i, k)).collect();
            for (e, &(i, j)) in self.entries.iter().enumerate() {
                for earlier in 1..=k {
                    let x = unknowns[k - earlier][j];
                    right[i] = right[i] - self.series.output(e, earlier) * x;
                }
            }
            lu.solve(&mut right);
            if right.iter().any(|x| !x.is_finite()) {
                return None;
            }
            let divisor = DoubleDouble::from((k + 1) as f64);
            let next = self.variables.rates.iter().map(|rate| match *rate {
                Rate::State(i) => states[k][i] / divisor,
                Rate::Unknown(i) => right[i] / divisor,
            });
            let next: Vec<DoubleDouble> = next.collect();
            states.push(next);
            unknowns.push(right);
        }
        Some([states, unknowns])
    }

    /// The motion at some times, or where it could not be followed.
    fn integrated(
        &mut self,
        t0: f64,
        first: &[DoubleDouble],
        times: &[f64],
        (order, tolerance): (usize, f64),
        interrupt: Option<Interrupt>,
    ) -> Result<Integrated, Lost> {
        let mut t = DoubleDouble::from(t0);
        let mut y = first.to_vec();
        let mut sizes: Vec<f64> = y.iter().map(|y| y.high.abs()).collect();
        let mut rows: Vec<Row> = Vec::new();
        let mut steps = 0;
        let end = times.last().copied().unwrap_or(t0);
        while rows.len() < times.len() {
            if Interrupt::is_asked(interrupt) {
                return Err(Lost::Interrupted(t.high));
            }
            let [states, unknowns] = self.expand(t, &y, order).ok_or(Lost::Beyond(t.high))?;
            let left = (DoubleDouble::from(end) - t).high;
            let h = step_length(&states, &sizes, tolerance, end - t0);
            // Shorter steps would not end, and rounding of time is far below.
            let positive = h > 1e-13 * (end - t0).abs();
            if steps >= MOST_STEPS || (!positive && left > 0.0) {
                return Err(Lost::Beyond(t.high));
            }
            let until = t + DoubleDouble::from(h);
            while let Some(&wanted) = times.get(rows.len()) {
                let ahead = DoubleDouble::from(wanted) - t;
                if (DoubleDouble::from(wanted) - until).high > 0.0 {
                    break;
                }
                let (y, x) = (sums(&states, ahead), sums(&unknowns, ahead));
                rows.push(Row { t: wanted, y, x });
            }
            y = sums(&states, DoubleDouble::from(h));
            t = until;
            steps += 1;
            sizes.iter_mut().zip(&y).for_each(|(s, y)| *s = s.max(y.high.abs()));
            if y.iter().any(|y| !y.is_finite()) {
                return Err(Lost::Beyond(t.high));
            }
        }
        Ok(Integrated { rows, steps })
    }
}

/// Why an integration did not come to its end, and when.
enum Lost {
    Beyond(f64),
    Interrupted(f64),
}

/// The step after which the last two terms are below the tolerance.
fn step_length(
    states: &[Vec<DoubleDouble>],
    sizes: &[f64],
    tolerance: f64,
    length: f64,
) -> f64 {
    let order = states.len() - 1;
    let mut h = f64::INFINITY;
    let largest = sizes.iter().fold(0.0_f64, |m, s| m.max(*s));
    // NOTE: where everything begins at zero, sizes are what the first rates would make of it.
    let moved = states[1].iter().fold(0.0_f64, |m, c| m.max(c.high.abs())) * length;
    let largest = if largest > 0.0 { largest } else { moved };
    let largest = if largest > 0.0 { largest } else { 1.0 };
    for k in [order - 1, order] {
        for (i, c) in states[k].iter().enumerate() {
            let c = c.high.abs();
            if c > 0.0 {
                // NOTE: a component that begins at zero is measured by the others.
                let size = if sizes[i] > 0.0 { sizes[i] } else { largest };
                h = h.min(libm::pow(tolerance * size / c, 1.0 / k as f64));
            }
        }
    }
    // A polynomial of low degree has no last terms.
    if h.is_finite() { 0.9 * h } else { 1e6 }
}

/// $\sum_k c_k s^k$ for every component.
fn sums(coefficients: &[Vec<DoubleDouble>], s: DoubleDouble) -> Vec<DoubleDouble> {
    let count = coefficients.first().map_or(0, Vec::len);
    let one = |i: usize| {
        let zero = DoubleDouble::default();
        coefficients.iter().rev().fold(zero, |sum, c| sum * s + c[i])
    };
    (0..count).map(one).collect()
}
