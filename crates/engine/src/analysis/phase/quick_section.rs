//! Crossings of a surface by motions whose equations are one program: nothing but steps and signs.
//!
//! Where there are power series, they are taken (`series_section.rs`), otherwise steps of DOP853 from $y_0$ to $y_1$.
//! Where $g$ has changed its sign, the crossing is found by steps of other lengths from $y_0$ (after Hénon 1982), by
//! regula falsi with the modification of Illinois: it is a state of the method itself, and needs no interpolation.
//! Where $g$ has not changed its sign but turns towards zero within the step, the step is taken again in quarters.

use pfaff_expr::Expr;
use pfaff_model::{Direction, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{Block, RungeKuttaStep};

use crate::analysis::phase::bracket::Bracket;
use crate::analysis::phase::series_section::SeriesSection;
use crate::analysis::phase::tangent_flow::solved;
use crate::motion::StopReason;
use crate::system::dynamics::Dynamics;
use crate::system::explicit_steps;

/// Stages of a step with its dense output.
const STAGES: usize = 16;
const LANES: usize = 4;
/// Steps of regula falsi.
const ITERATIONS: usize = 60;

/// Crossings of a surface, by series or by steps.
pub(crate) enum QuickSection {
    Series(SeriesSection),
    Steps(StepSection),
}

/// Equations and surface as machine code, with the buffers of a step.
pub(crate) struct StepSection {
    surface: Surface,
    k: Vec<Block>,
    stage: Vec<Block>,
    end: Vec<Block>,
    errors: [Vec<Block>; 2],
}

/// Equations and surface of a model, at a state.
#[derive(Clone)]
pub(crate) struct Surface {
    rates: Executor,
    /// $g$ and $\dot g$
    function: Executor,
    pub(crate) d: usize,
    inputs: Vec<f64>,
    pub(crate) direction: Direction,
}

/// Motions by their values of the parameters, their beginning and their first state.
pub(crate) type Motions = [(Vec<f64>, f64, Vec<f64>)];

/// The crossings of a motion, and why there are fewer than asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossed {
    pub(crate) points: Vec<(f64, Vec<f64>)>,
    pub(crate) stop: Option<(StopReason, f64)>,
}

/// What a search is limited by.
pub(crate) struct Limits {
    pub(crate) count: usize,
    pub(crate) t1: Option<f64>,
    pub(crate) tolerance: f64,
    /// Steps without a crossing.
    pub(crate) patience: usize,
}

fn blocks(x: &[f64]) -> Vec<Block> {
    x.chunks(LANES)
        .map(|part| {
            let mut block = [0.0; LANES];
            block[..part.len()].copy_from_slice(part);
            block
        })
        .collect()
}

impl Surface {
    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, values: &[f64]) {
        self.rates.set_parameters(values);
        self.function.set_parameters(values);
    }

    fn put(&mut self, t: f64, y: &[f64]) {
        self.inputs[0] = t;
        self.inputs[1..].copy_from_slice(&y[..self.d]);
    }

    /// $g$ and $\dot g$ at a state.
    #[inline]
    pub(crate) fn values(&mut self, t: f64, y: &[f64]) -> [f64; 2] {
        self.put(t, y);
        let mut values = [0.0; 2];
        self.function.evaluate(&self.inputs, &mut values);
        values
    }

    /// $f$ at a state.
    #[inline]
    pub(crate) fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) {
        self.put(t, y);
        self.rates.evaluate(&self.inputs, rates);
    }

    /// Where a motion begins: $g$ and $\dot g$, the side on which it is, the sizes of its components and the length of
    /// a first step.
    pub(crate) fn begin(&mut self, t: f64, y: &[f64]) -> ([f64; 2], f64, Vec<f64>, f64) {
        let largest = y.iter().fold(1e-6_f64, |m, x| m.max(x.abs()));
        let scale = y.iter().map(|x| x.abs().max(largest)).collect();
        let mut rates = vec![0.0; self.d];
        self.rates(t, y, &mut rates);
        let fastest = rates.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let value = self.values(t, y);
        // A zero at the start does not count.
        let side = if value[0].abs() <= 1e-12 * largest { value[1] } else { value[0] };
        (value, side.signum(), scale, 0.01 * largest / fastest.max(1e-12))
    }

    /// Whether another one has the same values beside a state.
    pub(crate) fn is_like(&mut self, other: &mut Self, t: f64, y: &[f64]) -> bool {
        if self.d != other.d || self.direction != other.direction {
            return false;
        }
        let mut both = [vec![0.0; self.d], vec![0.0; self.d]];
        [0.0, 0.013, -0.021].into_iter().all(|change| {
            let there: Vec<f64> = y.iter().map(|x| x + change * (1.0 + x.abs())).collect();
            self.rates(t, &there, &mut both[0]);
            other.rates(t, &there, &mut both[1]);
            let (a, b) = (self.values(t, &there), other.values(t, &there));
            let pairs = both[0].iter().chain(&a).zip(both[1].iter().chain(&b));
            pairs.into_iter().all(|(x, y)| x == y || (x - y).abs() <= 1e-12 * (1.0 + y.abs()))
        })
    }
}

impl QuickSection {
    /// Equations and surface.
    pub(crate) fn surface(&mut self) -> &mut Surface {
        match self {
            Self::Series(series) => &mut series.surface,
            Self::Steps(steps) => &mut steps.surface,
        }
    }

    /// Goes on until there are enough crossings; each is given to `found`.
    pub(crate) fn run(
        &mut self,
        t0: f64,
        y0: &[f64],
        limits: &Limits,
        watch: &mut dyn FnMut() -> bool,
        found: &mut dyn FnMut(f64, &[f64]),
    ) -> Option<(StopReason, f64)> {
        let d = self.surface().d;
        match self {
            Self::Series(series) => series.run((t0, &y0[..d]), limits, watch, found),
            Self::Steps(steps) => steps.run(t0, y0, limits, watch, found),
        }
    }

    /// The crossings of many motions.
    pub(crate) fn run_many(
        &mut self,
        motions: &Motions,
        limits: &Limits,
        watch: &mut dyn FnMut() -> bool,
    ) -> Vec<Crossed> {
        match self {
            Self::Series(series) => series.run_many(motions, limits, watch),
            Self::Steps(steps) => {
                let one = |(values, t0, y0): &(Vec<f64>, f64, Vec<f64>)| {
                    steps.surface.set_parameters(values);
                    let mut points = Vec::new();
                    let mut add = |t: f64, y: &[f64]| points.push((t, y.to_vec()));
                    let stop = steps.run(*t0, y0, limits, watch, &mut add);
                    Crossed { points, stop }
                };
                motions.iter().map(one).collect()
            }
        }
    }

    /// If the equations of a model are solved by divisions alone, without branches, and nothing else happens.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        let g = &model.graph;
        let [event] = &model.events[..] else { return Ok(None) };
        let Some(f) = g.merging(|| solved(model, dynamics)) else { return Ok(None) };
        let mut symbols = model.positions();
        match dynamics {
            Dynamics::Saddle(_) => symbols.extend(model.velocities()),
            Dynamics::Ordinary(ordinary) => {
                let n = model.coordinates.len();
                let second = (0..n).filter(|&k| ordinary.orders[k] == 2);
                symbols.extend(second.map(|k| model.coordinates[k].velocity));
            }
        }
        let inputs: Vec<Expr> =
            [model.time].into_iter().chain(symbols.iter().copied()).collect();
        let is_known =
            |&e: &Expr| inputs.contains(&e) || model.parameter_symbols().contains(&e);
        let all: Vec<Expr> = f.iter().copied().chain([event.expr]).collect();
        if !g.symbols(&all).iter().all(is_known) || g.is_any_branched(&all, &inputs) {
            return Ok(None);
        }
        let mut along: Vec<(Expr, Expr)> =
            symbols.iter().copied().zip(f.iter().copied()).collect();
        along.push((model.time, g.one()));
        let slope = g.merging(|| g.directional(&[event.expr], &along)[0]);
        let compile = |outputs: &[Expr]| -> Result<Executor, CompileError> {
            let program = Program::compile(g, &inputs, &model.parameter_symbols(), outputs)?;
            let mut run = program.tiered(&model.parameter_values(), backend);
            run.promote();
            Ok(run)
        };
        let d = f.len();
        let surface = Surface {
            rates: compile(&f)?,
            function: compile(&[event.expr, slope])?,
            d,
            inputs: vec![0.0; 1 + d],
            direction: event.direction,
        };
        let surface = match SeriesSection::new(model, (&symbols, &f), surface, backend) {
            Ok(series) => return Ok(Some(Self::Series(series))),
            Err(surface) => *surface,
        };
        if !matches!(surface.rates, Executor::Native(_)) {
            return Ok(None);
        }
        let row = vec![[0.0; LANES]; d.div_ceil(LANES)];
        Ok(Some(Self::Steps(StepSection {
            surface,
            k: vec![[0.0; LANES]; STAGES * row.len()],
            stage: vec![[0.0; LANES]; row.len() + 1],
            end: row.clone(),
            errors: [row.clone(), row],
        })))
    }
}

impl StepSection {
    /// A step; whether all numbers are finite.
    fn step(&mut self, t: f64, h: f64, y: &[Block]) -> bool {
        let Executor::Native(rates) = &mut self.surface.rates else { return false };
        let [five, three] = &mut self.errors;
        let mut step = RungeKuttaStep {
            t,
            h,
            y,
            k: &mut self.k,
            stage: &mut self.stage,
            end: &mut self.end,
            errors: [five, three],
        };
        explicit_steps::step(rates, &mut step)
    }

    /// The error of the last step as a multiple of what is allowed.
    fn error(&self, h: f64, scale: &[f64], tolerance: f64) -> f64 {
        let end = self.end.as_flattened();
        let [five, three] = &self.errors;
        let (five, three) = (five.as_flattened(), three.as_flattened());
        let (mut a, mut b) = (0.0_f64, 0.0_f64);
        for i in 0..scale.len() {
            let allowed = tolerance * scale[i].max(end[i].abs());
            a = a.max((five[i] / allowed).abs());
            b = b.max((three[i] / allowed).abs());
        }
        if a == 0.0 { 0.0 } else { h.abs() * a * a / (a * a + 0.01 * b * b).sqrt() }
    }

    /// Goes on until there are enough crossings; each is given to `found`.
    fn run(
        &mut self,
        t0: f64,
        y0: &[f64],
        limits: &Limits,
        watch: &mut dyn FnMut() -> bool,
        found: &mut dyn FnMut(f64, &[f64]),
    ) -> Option<(StopReason, f64)> {
        let d = self.surface.d;
        let (mut t, mut y) = (t0, blocks(&y0[..d]));
        let width = y.len();
        let (mut before, mut sign, mut scale, mut h) = self.surface.begin(t, &y0[..d]);
        let mut first = vec![0.0; d];
        self.surface.rates(t, &y0[..d], &mut first);
        self.k[..width].copy_from_slice(&blocks(&first));
        let (mut points, mut idle, mut steps) = (0, 0, 0_usize);
        let mut short = 0;
        let mut end = y.clone();
        loop {
            if limits.t1.is_some_and(|t1| t >= t1) {
                return Some((StopReason::End, t));
            }
            if idle > limits.patience {
                return Some((StopReason::MaxSteps, t));
            }
            if let Some(t1) = limits.t1 {
                h = h.min(t1 - t);
            }
            steps += 1;
            idle += 1;
            if steps.is_multiple_of(4096) && !watch() {
                return Some((StopReason::Interrupted, t));
            }
            let is_finite = self.step(t, h, &y);
            let error =
                if is_finite { self.error(h, &scale, limits.tolerance) } else { f64::INFINITY };
            if error.is_nan() || error > 1.0 {
                h *= if error.is_finite() {
                    (0.9 * libm::pow(error, -0.125)).max(0.2)
                } else {
                    0.1
                };
                if h.abs() <= 1e-14 * (1.0 + t.abs()) {
                    let why = if is_finite {
                        StopReason::StepTooSmall
                    } else {
                        StopReason::NotFinite
                    };
                    return Some((why, t));
                }
                continue;
            }
            end.copy_from_slice(&self.end);
            let after = self.surface.values(t + h, end.as_flattened());
            let changed = after[0] != 0.0 && after[0].signum() != sign;
            // It turned towards the surface on both sides: perhaps it was there twice.
            let turned = !changed
                && before[1] * sign < 0.0
                && after[1] * sign > 0.0
                && after[0].abs().min(before[0].abs())
                    < h * before[1].abs().max(after[1].abs());
            if turned && short == 0 {
                short = 4;
                h *= 0.25;
                continue;
            }
            let counts = match self.surface.direction {
                Direction::Rising => after[0] > 0.0,
                Direction::Falling => after[0] < 0.0,
                Direction::Both => true,
            };
            if changed {
                if counts {
                    let ends =
                        (if before[0].signum() == sign { before[0] } else { 0.0 }, after[0]);
                    let kept = self.k.clone();
                    let s = self.crossing(t, h, &y, ends);
                    found(t + s, &self.end.as_flattened()[..d]);
                    points += 1;
                    idle = 0;
                    if points == limits.count {
                        return None;
                    }
                    self.k = kept;
                }
                sign = after[0].signum();
            }
            t += h;
            y.copy_from_slice(&end);
            // The rates at the end are the first stage of the next step.
            let at = 12 * width;
            self.k.copy_within(at..at + width, 0);
            before = after;
            for (scale, x) in scale.iter_mut().zip(end.as_flattened()) {
                *scale = scale.max(x.abs());
            }
            short = short.max(1) - 1;
            if short == 0 {
                let grown = if error == 0.0 { 5.0 } else { 0.9 * libm::pow(error, -0.125) };
                h *= grown.clamp(0.3, 5.0);
            }
        }
    }

    /// The length of the step that ends on the surface; its end is left in the buffers.
    fn crossing(&mut self, t: f64, h: f64, y: &[Block], ends: (f64, f64)) -> f64 {
        // Where the step began on the surface, it comes back to it.
        let begin = if ends.0 == 0.0 { (1e-6 * h, -ends.1) } else { (0.0, ends.0) };
        let mut bracket = Bracket::new(begin, (h, ends.1));
        let mut s = h;
        for _ in 0..ITERATIONS {
            s = bracket.next();
            self.step(t, s, y);
            let [f, slope] = self.surface.values(t + s, self.end.as_flattened());
            if f == 0.0 || f.abs() <= 1e-16 * slope.abs() * (1.0 + t.abs()) {
                break;
            }
            if bracket.width() <= 1e-15 * h {
                break;
            }
            bracket.include(s, f);
        }
        s
    }
}
