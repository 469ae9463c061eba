//! A motion at the times of frames, and the expressions of a drawing there.
//!
//! Between output times positions follow the cubic through $q$ and $\dot q$ at both ends, velocities the
//! cubic through $\dot q$ and $\ddot q$; everything
//! else, and what has no finite rate, is joined by straight lines.

use pfaff_expr::{Expr, Role};
use pfaff_model::{Components, Drawing, Figure, Workspace};
use pfaff_program::Program;

use pfaff::Sample;
use pfaff::sample_symbols;
use pfaff::{Motion, Series};

/// Intervals between frames. A number with many divisors, so that frames can be left out evenly.
const INTERVALS: usize = 600;

/// Intervals of a trail.
const TRAIL_INTERVALS: usize = 1800;

/// How many numbers that change the frames may have together.
const BUDGET: usize = 250_000;

/// Divisors of the intervals: how many frames may be left out.
const STRIDES: [usize; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 120];

/// The values of expressions at the frames.
pub(crate) struct Frames {
    /// Start and end.
    pub(crate) span: [f64; 2],
    expressions: Vec<Expr>,
    /// By expression, one value for each frame.
    values: Vec<Vec<f64>>,
    trails: Vec<Expr>,
    trail_values: Vec<Vec<f64>>,
    count: usize,
}

impl Frames {
    /// Evaluates everything that is drawn.
    pub(crate) fn new(
        model: &Workspace,
        motion: &Motion,
        drawings: &[Drawing],
        stride: usize,
        notes: &mut Vec<String>,
    ) -> Self {
        let rows = motion.t.len();
        let span = match (motion.t.first(), motion.t.last()) {
            (Some(&a), Some(&b)) => [a, b],
            _ => [0.0, 0.0],
        };
        let mut expressions = vec![model.graph.zero()];
        let mut trails = Vec::new();
        for drawing in drawings {
            match &drawing.figure {
                Figure::Trail { at } => trails.extend(at),
                Figure::View { from, up, at, size } => {
                    let places = [from, up, at].into_iter().flatten().flatten();
                    expressions.extend(places.chain(size).copied());
                }
                figure => expressions.extend(figure.expressions()),
            }
        }
        for list in [&mut expressions, &mut trails] {
            list.sort_unstable();
            list.dedup();
        }
        let source = Source::new(model, motion);
        let times = |n: usize| -> Vec<f64> {
            let part = |k: usize| span[0] + (span[1] - span[0]) * k as f64 / n.max(1) as f64;
            (0..=n).map(part).collect()
        };
        let [of_frames, of_trails] =
            [INTERVALS, TRAIL_INTERVALS].map(|n| (n / stride.max(1)).max(1));
        let intervals = if rows < 2 { 0 } else { of_frames };
        let mut values = source.evaluate(&expressions, &times(intervals), notes);
        let moving = values.iter().filter(|column| changes(column)).count();
        let fits = |stride: &&usize| moving * (intervals / **stride) <= BUDGET;
        let stride = STRIDES.iter().find(fits).copied().unwrap_or(120);
        if stride > 10 {
            let frames = intervals / stride + 1;
            notes.push(format!(
                "the drawing has so many moving points that only {frames} frames are kept"
            ));
        }
        for column in &mut values {
            *column = column.iter().step_by(stride).copied().collect();
        }
        let trail_intervals = if rows < 2 { 0 } else { of_trails };
        let trail_values = source.evaluate(&trails, &times(trail_intervals), notes);
        let count = if rows == 0 { 0 } else { intervals / stride + 1 };
        Self { span, expressions, values, trails, trail_values, count }
    }

    /// How many frames there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The column of an expression, by its place.
    pub(crate) fn index(&self, e: Expr) -> usize {
        self.expressions.binary_search(&e).unwrap_or(0)
    }

    /// The column of an expression of a trail.
    pub(crate) fn trail_index(&self, e: Expr) -> usize {
        self.trails.binary_search(&e).unwrap_or(0)
    }

    /// The values of an expression, one for each frame.
    pub(crate) fn column(&self, e: Expr) -> &[f64] {
        &self.values[self.index(e)]
    }

    /// The frame next to a time.
    pub(crate) fn at(&self, time: f64) -> usize {
        let [a, b] = self.span;
        let part = if a == b { 0.0 } else { ((time - a) / (b - a)).clamp(0.0, 1.0) };
        libm::round(part * self.count.saturating_sub(1) as f64) as usize
    }

    /// The value of an expression at a frame.
    pub(crate) fn value(&self, e: Expr, frame: usize) -> f64 {
        self.column(e).get(frame).copied().unwrap_or(f64::NAN)
    }

    /// A point at a frame; what lies in the plane has the height 0.
    pub(crate) fn place(&self, point: &Components, frame: usize) -> [f64; 3] {
        std::array::from_fn(|k| point.get(k).map_or(0.0, |&e| self.value(e, frame)))
    }

    /// The points of a trail from the start to a frame.
    pub(crate) fn trail(&self, point: &Components, frame: usize) -> Vec<[f64; 3]> {
        let columns: Vec<&Vec<f64>> =
            point.iter().map(|&e| &self.trail_values[self.trail_index(e)]).collect();
        let length = columns.first().map_or(0, |c| c.len());
        let last = frame * length.saturating_sub(1) / self.count.saturating_sub(1).max(1);
        let at = |i: usize| std::array::from_fn(|k| columns.get(k).map_or(0.0, |c| c[i]));
        (0..length).take(last + 1).map(at).collect()
    }

    /// All columns: of the figures, and of the trails.
    pub(crate) fn columns(&self) -> [&[Vec<f64>]; 2] {
        [&self.values, &self.trail_values]
    }
}

/// Whether a column is more than one number.
pub(crate) fn changes(column: &[f64]) -> bool {
    column.windows(2).any(|w| w[0].to_bits() != w[1].to_bits())
}

/// A motion as a function of time.
struct Source<'a> {
    model: &'a Workspace,
    motion: &'a Motion,
    symbols: Vec<Expr>,
    /// The values of the last symbols: observed quantities with memory, and multipliers of what does not hold from the
    /// start, such as contacts.
    further: Vec<Option<&'a Series>>,
}

impl<'a> Source<'a> {
    fn new(model: &'a Workspace, motion: &'a Motion) -> Self {
        let vakonomic = motion.principle == Some(pfaff_model::Principle::Vakonomic);
        let mut symbols = sample_symbols(model, vakonomic);
        let mut further = Vec::new();
        for (k, observed) in model.observed.iter().enumerate() {
            let known = symbols.contains(&observed.expr);
            if model.graph.has_memory(observed.expr) && !known {
                symbols.push(observed.expr);
                further.push(motion.observed.get(k));
            }
        }
        for series in &motion.multipliers {
            let symbol = model.graph.symbol(&format!("lambda({})", series.name), Role::Free);
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
                further.push(Some(series));
            }
        }
        Self { model, motion, symbols, further }
    }

    /// The values of expressions at times. What cannot be computed is not a number, and a note says why.
    fn evaluate(
        &self,
        outputs: &[Expr],
        times: &[f64],
        notes: &mut Vec<String>,
    ) -> Vec<Vec<f64>> {
        let g = &self.model.graph;
        let compile = |outputs: &[Expr]| {
            let parameters = self.model.parameter_symbols();
            Program::compile(g, &self.symbols, &parameters, outputs)
        };
        let good: Vec<usize> = match compile(outputs) {
            Ok(_) => (0..outputs.len()).collect(),
            Err(error) => {
                notes.push(format!("a part of the drawing has no value: {error}"));
                (0..outputs.len()).filter(|&k| compile(&outputs[k..=k]).is_ok()).collect()
            }
        };
        let mut columns = vec![vec![f64::NAN; times.len()]; outputs.len()];
        let chosen: Vec<Expr> = good.iter().map(|&k| outputs[k]).collect();
        let Ok(program) = compile(&chosen) else { return columns };
        // NOTE: the interpreter: for some hundred evaluations machine code is not worth its making.
        let mut run = program.interpreter(&self.model.parameter_values());
        let mut inputs = vec![f64::NAN; self.symbols.len()];
        let mut row = vec![0.0; chosen.len()];
        for (i, &t) in times.iter().enumerate() {
            self.inputs(t, &mut inputs);
            run.evaluate(&inputs, &mut row);
            for (&k, &x) in good.iter().zip(&row) {
                columns[k][i] = x;
            }
        }
        columns
    }

    /// Everything about the motion at a time, in the order of the symbols.
    fn inputs(&self, t: f64, inputs: &mut [f64]) {
        let m = self.motion;
        let (i, s) = self.place(t);
        let linear = |values: &[f64]| between(values, i, s);
        let all = |series: &[Series], n: usize| -> Vec<f64> {
            (0..n).map(|k| series.get(k).map_or(f64::NAN, |s| linear(&s.values))).collect()
        };
        let smooth = |series: &[Series], rates: &[Series], n: usize| -> Vec<f64> {
            let value = |k: usize| match (series.get(k), rates.get(k)) {
                (Some(x), Some(v)) => hermite(&m.t, &x.values, &v.values, i, s),
                (Some(x), None) => linear(&x.values),
                _ => f64::NAN,
            };
            (0..n).map(value).collect()
        };
        let (n, c) = (self.model.coordinates.len(), self.model.constraints.len());
        // NOTE: there may be more of them than hold at the start.
        let multipliers = self.model.constraints.iter().map(|constraint| {
            let own = m.multipliers.iter().find(|series| series.name == constraint.name);
            own.map_or(f64::NAN, |series| linear(&series.values))
        });
        let sample = Sample {
            t,
            q: smooth(&m.q, &m.v, n),
            v: smooth(&m.v, &m.a, n),
            a: all(&m.a, n),
            multipliers: multipliers.collect(),
            multiplier_rates: all(&m.multiplier_rates, c),
            reaction: all(&m.reactions, n),
            energy: linear(&m.energy),
            constraint_energy: linear(&m.constraint_energy),
            divergence: f64::NAN,
        };
        inputs.fill(f64::NAN);
        sample.inputs(inputs);
        let first = inputs.len() - self.further.len();
        for (place, series) in inputs[first..].iter_mut().zip(&self.further) {
            *place = series.map_or(f64::NAN, |s| linear(&s.values));
        }
    }

    /// The interval of output times around a time, and the part of it that has passed.
    fn place(&self, t: f64) -> (usize, f64) {
        let times = &self.motion.t;
        let last = times.len().saturating_sub(2);
        let backward = times.first() > times.last();
        let after = times.partition_point(|&x| if backward { x >= t } else { x <= t });
        let i = after.saturating_sub(1).min(last);
        match (times.get(i), times.get(i + 1)) {
            (Some(&a), Some(&b)) if a != b => (i, ((t - a) / (b - a)).clamp(0.0, 1.0)),
            _ => (i, 0.0),
        }
    }
}

/// On the straight line between two values.
fn between(values: &[f64], i: usize, s: f64) -> f64 {
    match (values.get(i), values.get(i + 1)) {
        (Some(&a), Some(&b)) if s > 0.0 => a + s * (b - a),
        (Some(&a), _) => a,
        _ => f64::NAN,
    }
}

/// On the cubic through two values with their rates.
fn hermite(t: &[f64], x: &[f64], v: &[f64], i: usize, s: f64) -> f64 {
    let straight = between(x, i, s);
    if s == 0.0 || i + 1 >= x.len() || i + 1 >= v.len() {
        return straight;
    }
    let h = t[i + 1] - t[i];
    let (a, b) = (x[i], x[i + 1]);
    let (u, w) = (h * v[i] - (b - a), (b - a) - h * v[i + 1]);
    let bend = s * (1.0 - s) * ((1.0 - s) * u + s * w);
    if bend.is_finite() { straight + bend } else { straight }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_met_exactly() {
        let x = |t: f64| 2.0 - t + 3.0 * t * t - 0.5 * t * t * t;
        let v = |t: f64| -1.0 + 6.0 * t - 1.5 * t * t;
        let t = [0.5, 1.75];
        let (xs, vs) = (t.map(x), t.map(v));
        for s in [0.0, 0.25, 0.5, 0.9, 1.0] {
            let at = t[0] + s * (t[1] - t[0]);
            // Rounding of a few operations on numbers below 10.
            assert!((hermite(&t, &xs, &vs, 0, s) - x(at)).abs() < 1e-13, "{s}");
        }
        assert_eq!(hermite(&t, &xs, &[f64::NAN; 2], 0, 0.5), f64::midpoint(xs[0], xs[1]));
    }
}
