//! Crossings of a surface by motions whose equations are one program: nothing but steps and signs.
//!
//! A step of DOP853 goes from $y_0$ to $y_1$. Where $g$ has changed its sign, the crossing is found by steps of
//! other lengths
//! from $y_0$ (after Hénon 1982), by regula falsi with the modification of Illinois: it is a state of the method
//! itself, and
//! needs no interpolation. Where $g$ has not changed its sign but turns towards zero within the step, the step is taken
//! again in quarters.

use pfaff_expr::Expr;
use pfaff_model::{Direction, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{Block, RungeKuttaStep};

use crate::analysis::phase::tangent_flow::solved;
use crate::motion::StopReason;
use crate::system::dynamics::Dynamics;
use crate::system::explicit_steps;

/// Stages of a step with its dense output.
const STAGES: usize = 16;
const LANES: usize = 4;
/// Steps of regula falsi.
const ITERATIONS: usize = 60;

/// Equations and surface as machine code, with the buffers of a step.
pub(crate) struct QuickSection {
    rates: Executor,
    /// $g$ and $\dot g$
    surface: Executor,
    d: usize,
    k: Vec<Block>,
    stage: Vec<Block>,
    end: Vec<Block>,
    errors: [Vec<Block>; 2],
    inputs: Vec<f64>,
    direction: Direction,
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

impl QuickSection {
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
        let rates = compile(&f)?;
        if !matches!(rates, Executor::Native(_)) {
            return Ok(None);
        }
        let d = f.len();
        let row = vec![[0.0; LANES]; d.div_ceil(LANES)];
        Ok(Some(Self {
            rates,
            surface: compile(&[event.expr, slope])?,
            d,
            k: vec![[0.0; LANES]; STAGES * row.len()],
            stage: vec![[0.0; LANES]; row.len() + 1],
            end: row.clone(),
            errors: [row.clone(), row],
            inputs: vec![0.0; 1 + d],
            direction: event.direction,
        }))
    }

    /// A step; whether all numbers are finite.
    fn step(&mut self, t: f64, h: f64, y: &[Block]) -> bool {
        let Executor::Native(rates) = &mut self.rates else { return false };
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

    /// $g$ and $\dot g$ at a state.
    fn surface(&mut self, t: f64, y: &[Block]) -> [f64; 2] {
        self.inputs[0] = t;
        self.inputs[1..].copy_from_slice(&y.as_flattened()[..self.d]);
        let mut values = [0.0; 2];
        self.surface.evaluate(&self.inputs, &mut values);
        values
    }

    /// The error of the last step as a multiple of what is allowed.
    fn error(&self, h: f64, scale: &[f64], tolerance: f64) -> f64 {
        let end = self.end.as_flattened();
        let [five, three] = &self.errors;
        let (five, three) = (five.as_flattened(), three.as_flattened());
        let (mut a, mut b) = (0.0_f64, 0.0_f64);
        for i in 0..self.d {
            let allowed = tolerance * scale[i].max(end[i].abs());
            a = a.max((five[i] / allowed).abs());
            b = b.max((three[i] / allowed).abs());
        }
        if a == 0.0 { 0.0 } else { h.abs() * a * a / (a * a + 0.01 * b * b).sqrt() }
    }

    /// Goes on until there are enough crossings; each is given to `found`, which may end it by `false`.
    pub(crate) fn run(
        &mut self,
        t0: f64,
        y0: &[f64],
        limits: &Limits,
        watch: &mut dyn FnMut() -> bool,
        found: &mut dyn FnMut(f64, &[f64]),
    ) -> Option<(StopReason, f64)> {
        let (mut t, mut y) = (t0, blocks(&y0[..self.d]));
        let width = y.len();
        let largest = y0.iter().fold(1e-6_f64, |m, x| m.max(x.abs()));
        let mut scale: Vec<f64> = y0[..self.d].iter().map(|x| x.abs().max(largest)).collect();
        self.inputs[0] = t;
        self.inputs[1..].copy_from_slice(&y0[..self.d]);
        let mut first = vec![0.0; self.d];
        let inputs = self.inputs.clone();
        self.rates.evaluate(&inputs, &mut first);
        self.k[..width].copy_from_slice(&blocks(&first));
        let fastest = first.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut h = 0.01 * largest / fastest.max(1e-12);
        let mut before = self.surface(t, &y);
        // A zero at the start does not count.
        let mut sign =
            if before[0].abs() <= 1e-12 * largest { before[1] } else { before[0] }.signum();
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
            let after = self.surface(t + h, &end);
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
            let counts = match self.direction {
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
                    found(t + s, &self.end.as_flattened()[..self.d]);
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
        let ((mut a, mut fa), (mut b, mut fb)) = ((0.0, ends.0), (h, ends.1));
        if fa == 0.0 {
            // The step began on the surface, and comes back to it.
            (a, fa) = (1e-6 * h, -fb);
        }
        let mut s = h;
        for _ in 0..ITERATIONS {
            s = (a * fb - b * fa) / (fb - fa);
            if !(s > f64::min(a, b) && s < f64::max(a, b)) {
                s = 0.5 * (a + b);
            }
            self.step(t, s, y);
            let end = self.end.clone();
            let [f, slope] = self.surface(t + s, &end);
            if f == 0.0 || f.abs() <= 1e-16 * slope.abs() * (1.0 + t.abs()) {
                break;
            }
            if f64::abs(b - a) <= 1e-15 * h {
                break;
            }
            if f.signum() == fb.signum() {
                fa *= 0.5;
            } else {
                (a, fa) = (b, fb);
            }
            (b, fb) = (s, f);
        }
        s
    }
}
