//! Crossings of a surface by motions whose equations have power series: one motion, or eight beside each other.
//!
//! $$ y(t + s) = \sum_{k=0}^{p} y^{[k]} s^k, \qquad
//!    \max_i \frac{|y_i^{[k]}|}{s_i} h^k \le \tfrac15 E \quad\text{for } k = p - 1, p \qquad (\mathrm H) $$
//!
//! The coefficients are one program, evaluated once for a step; a crossing within the step is a zero of $g(y(t + s))$,
//! which asks for nothing but sums. The end of a step is compared with the equations there. Where $g$ turns towards
//! zero or back within a step, the step is looked at in eight parts.

use pfaff_expr::Expr;
use pfaff_model::{Direction, Workspace};
use pfaff_program::{Backend, LANES, LaneRows, Program, TaylorRecurrences, VectorField};

use crate::analysis::phase::bracket::Bracket;
use crate::analysis::phase::quick_section::{Crossed, Limits, Motions, Surface};
use crate::motion::StopReason;
use crate::system::features::has_algebraic_equations;

/// $p$, a power of two, so that a root of this order is a few square roots.
const ORDER: usize = 16;
/// Instructions of all coefficients beyond which the code would not fit the caches.
const LONGEST: usize = 20_000;
/// The part of the tolerance that the last terms may have.
const SHARE: f64 = 0.2;
/// How many tolerances the rates may differ in at the end of a step, all components together.
const DEFECT: f64 = 100.0;
/// Into how many parts a step is divided where the surface may be crossed more than once.
const PARTS: usize = 8;
/// Steps of regula falsi.
const ITERATIONS: usize = 60;

/// The coefficients as a program, beside the equations and the surface.
pub(crate) struct SeriesSection {
    coefficients: Program,
    values: Vec<f64>,
    backend: Backend,
    pub(crate) surface: Surface,
}

/// A motion on its way from crossing to crossing.
struct Walker {
    t: f64,
    y: Vec<f64>,
    /// The length of the last step, and what the next may not exceed after one was rejected.
    h: f64,
    most: f64,
    /// $g$ and $\dot g$, and the side on which the motion is.
    value: [f64; 2],
    sign: f64,
    scale: Vec<f64>,
    points: usize,
    idle: usize,
    /// Why it ended; nothing if it has all its points.
    end: Option<Option<(StopReason, f64)>>,
    state: Vec<f64>,
    slopes: Vec<f64>,
    rates: Vec<f64>,
}

impl SeriesSection {
    /// If there are series, and they show what lies ahead.
    pub(crate) fn new(
        model: &Workspace,
        (symbols, f): (&[Expr], &[Expr]),
        surface: Surface,
        backend: Backend,
    ) -> Result<Self, Box<Surface>> {
        if !has_algebraic_equations(model) {
            return Err(Box::new(surface));
        }
        let field = VectorField {
            graph: &model.graph,
            time: model.time,
            state: symbols,
            parameters: &model.parameter_symbols(),
            rates: f,
            unknowns: &[],
            matrix: &[],
            right: &[],
        };
        let Ok(recurrences) = TaylorRecurrences::of(&field) else {
            return Err(Box::new(surface));
        };
        if recurrences.operations(ORDER) > LONGEST {
            return Err(Box::new(surface));
        }
        let coefficients = recurrences.unrolled(ORDER, &[]).fused();
        let values = model.parameter_values();
        Ok(Self { coefficients, values, backend, surface })
    }

    /// Goes on until there are enough crossings.
    pub(crate) fn run(
        &mut self,
        (t0, y0): (f64, &[f64]),
        limits: &Limits,
        watch: &mut dyn FnMut() -> bool,
        found: &mut dyn FnMut(f64, &[f64]),
    ) -> Option<(StopReason, f64)> {
        let d = y0.len();
        let mut run = self.coefficients.executor(&self.values, self.backend);
        let mut inputs = vec![0.0; 1 + 2 * d];
        let mut series = vec![0.0; ORDER * d];
        let mut walker = Walker::new(&mut self.surface, t0, y0, limits);
        let mut steps = 0_usize;
        loop {
            inputs[0] = walker.t;
            inputs[1..=d].copy_from_slice(&walker.y);
            run.evaluate(&inputs, &mut series);
            walker.step(&mut self.surface, &series, limits, found);
            if let Some(end) = walker.end {
                return end;
            }
            steps += 1;
            if steps.is_multiple_of(4096) && !watch() {
                return Some((StopReason::Interrupted, walker.t));
            }
        }
    }

    /// Motions beside each other, each with its values of the parameters and its start.
    pub(crate) fn run_many(
        &mut self,
        motions: &Motions,
        limits: &Limits,
        watch: &mut dyn FnMut() -> bool,
    ) -> Vec<Crossed> {
        let d = self.surface.d;
        let mut crossed: Vec<Crossed> = motions.iter().map(|_| Crossed::default()).collect();
        let mut run = self.coefficients.lane_executor(&self.values, self.backend);
        let (mut inputs, mut series) = (LaneRows::new(1 + 2 * d), LaneRows::new(ORDER * d));
        let mut own = vec![0.0; ORDER * d];
        // In each lane the number of its motion, its own surface and the motion itself.
        let mut lanes: Vec<Option<(usize, Surface, Walker)>> = Vec::new();
        lanes.resize_with(LANES, || None);
        let mut waiting = motions.iter().enumerate();
        let mut rounds = 0_usize;
        loop {
            for (lane, place) in lanes.iter_mut().enumerate() {
                if place.as_ref().is_none_or(|(.., walker)| walker.end.is_some()) {
                    *place = waiting.next().map(|(number, (values, t0, y0))| {
                        let mut surface = self.surface.clone();
                        surface.set_parameters(values);
                        run.set_parameters(lane, values);
                        let walker = Walker::new(&mut surface, *t0, y0, limits);
                        (number, surface, walker)
                    });
                }
                if let Some((.., walker)) = place {
                    inputs.set(0, lane, walker.t);
                    for (i, x) in walker.y.iter().enumerate() {
                        inputs.set(1 + i, lane, *x);
                    }
                }
            }
            if lanes.iter().all(Option::is_none) {
                return crossed;
            }
            run.evaluate(inputs.rows(), series.rows_mut());
            for (lane, place) in lanes.iter_mut().enumerate() {
                let Some((number, surface, walker)) = place else { continue };
                for (own, row) in own.iter_mut().zip(series.rows().chunks_exact(LANES)) {
                    *own = row[lane];
                }
                let Crossed { points, stop } = &mut crossed[*number];
                let mut add = |t: f64, y: &[f64]| points.push((t, y.to_vec()));
                walker.step(surface, &own, limits, &mut add);
                if let Some(end) = &walker.end {
                    stop.clone_from(end);
                }
            }
            rounds += 1;
            if rounds.is_multiple_of(1024) && !watch() {
                for (number, _, walker) in lanes.iter().flatten() {
                    crossed[*number].stop = Some((StopReason::Interrupted, walker.t));
                }
                for (number, (_, t0, _)) in waiting {
                    crossed[number].stop = Some((StopReason::Interrupted, *t0));
                }
                return crossed;
            }
        }
    }
}

impl Walker {
    fn new(surface: &mut Surface, t: f64, y: &[f64], limits: &Limits) -> Self {
        let (value, sign, scale, h) = surface.begin(t, y);
        let d = y.len();
        Self {
            t,
            y: y.to_vec(),
            h,
            most: limits.t1.map_or(f64::INFINITY, |t1| t1 - t),
            value,
            sign,
            scale,
            points: 0,
            idle: 0,
            end: None,
            state: vec![0.0; d],
            slopes: vec![0.0; d],
            rates: vec![0.0; d],
        }
    }

    /// $y(t + s)$ and its derivative by a series.
    #[inline]
    fn sum(&mut self, series: &[f64], s: f64) {
        let d = self.y.len();
        let (others, last) = series.split_at((ORDER - 1) * d);
        self.state.copy_from_slice(last);
        self.slopes.fill(0.0);
        for row in others.chunks_exact(d).rev().chain([self.y.as_slice()]) {
            for i in 0..d {
                self.slopes[i] = self.state[i] + s * self.slopes[i];
                self.state[i] = row[i] + s * self.state[i];
            }
        }
    }

    /// The length of a step by (H), from one nearby.
    fn length(&self, series: &[f64], tolerance: f64) -> f64 {
        let d = self.y.len();
        let weighted = |k: usize| {
            let row = series[(k - 1) * d..k * d].iter().zip(&self.scale);
            row.fold(0.0_f64, |m, (x, s)| m.max(x.abs() / s))
        };
        let nearby = self.h;
        let power = (1..ORDER - 1).fold(nearby, |power, _| power * nearby);
        let last = (weighted(ORDER) * nearby).max(weighted(ORDER - 1));
        let mut root = last * power / (SHARE * tolerance) + 1e-200;
        for _ in 0..ORDER.ilog2() {
            root = root.sqrt();
        }
        (nearby / root).min(1e3 * nearby)
    }

    /// One step with the series at the present state.
    fn step(
        &mut self,
        surface: &mut Surface,
        series: &[f64],
        limits: &Limits,
        found: &mut dyn FnMut(f64, &[f64]),
    ) {
        if limits.t1.is_some_and(|t1| self.t >= t1) {
            self.end = Some(Some((StopReason::End, self.t)));
            return;
        }
        if self.idle > limits.patience {
            self.end = Some(Some((StopReason::MaxSteps, self.t)));
            return;
        }
        let own = self.length(series, limits.tolerance);
        let rest = limits.t1.map_or(f64::INFINITY, |t1| t1 - self.t);
        let mut h = own.min(self.most).min(rest);
        loop {
            self.sum(series, h);
            surface.rates(self.t + h, &self.state, &mut self.rates);
            let off = self.slopes.iter().zip(&self.rates).zip(&self.scale);
            let defect: f64 = off.map(|((a, b), s)| (a - b).abs() / s).sum();
            // NOTE: what is not a number is not small.
            if h * defect <= DEFECT * limits.tolerance {
                break;
            }
            h *= 0.5;
            let is_short = h <= 1e-14 * (1.0 + self.t.abs());
            if is_short || h.is_nan() {
                let finite = series.iter().all(|x| x.is_finite());
                let why = if finite { StopReason::StepTooSmall } else { StopReason::NotFinite };
                self.end = Some(Some((why, self.t)));
                return;
            }
        }
        self.most = if h < own { 2.0 * h } else { f64::INFINITY };
        self.h = if h < own && h == rest { own } else { h };
        self.idle += 1;
        let after = surface.values(self.t + h, &self.state);
        let ends = self.state.clone();
        let changed = after[0] != 0.0 && after[0].signum() != self.sign;
        // Towards the surface, and away from it, as a single crossing has it.
        let towards = self.value[1] * self.sign < 0.0;
        let away = after[1] * after[0] > 0.0;
        let near = after[0].abs().min(self.value[0].abs())
            < h * self.value[1].abs().max(after[1].abs());
        let parts = if changed != (towards && away) && (changed || near) { PARTS } else { 1 };
        let (mut from, mut before) = (0.0, self.value);
        for part in 1..=parts {
            let to = h * part as f64 / parts as f64;
            let there =
                if part == parts { after } else { self.surface_at(surface, series, to) };
            let mut ways = [(to, there); 2];
            // On one side at both ends, but nearer in between.
            let turns = before[1] * self.sign < 0.0 && there[1] * self.sign > 0.0;
            if turns && near && there[0].signum() == self.sign {
                let turning = ((from, before[1]), (to, there[1]));
                let s = self.zero(surface, series, turning, 1);
                ways[0] = (s, self.surface_at(surface, series, s));
            }
            for (to, there) in ways {
                self.pass(surface, series, limits, (from, before), (to, there), found);
                if self.end.is_some() {
                    return;
                }
                (from, before) = (to, there);
            }
        }
        self.t += h;
        self.y.copy_from_slice(&ends);
        self.value = after;
        for (scale, x) in self.scale.iter_mut().zip(&self.y) {
            *scale = scale.max(x.abs());
        }
    }

    /// $g$ and $\dot g$ within a step; the state there is left in the buffer.
    fn surface_at(&mut self, surface: &mut Surface, series: &[f64], s: f64) -> [f64; 2] {
        self.sum(series, s);
        surface.values(self.t + s, &self.state)
    }

    /// Goes from one place of a step to another, with the crossing in between, if there is one.
    fn pass(
        &mut self,
        surface: &mut Surface,
        series: &[f64],
        limits: &Limits,
        (from, before): (f64, [f64; 2]),
        (to, there): (f64, [f64; 2]),
        found: &mut dyn FnMut(f64, &[f64]),
    ) {
        let [before, there] = [before[0], there[0]];
        if there == 0.0 || there.signum() == self.sign {
            return;
        }
        let counts = match surface.direction {
            Direction::Rising => there > 0.0,
            Direction::Falling => there < 0.0,
            Direction::Both => true,
        };
        if counts {
            // A step that began on the surface comes back to it.
            let begin = if before != 0.0 && before.signum() == self.sign {
                (from, before)
            } else {
                (from + 1e-6 * (to - from), -there)
            };
            let s = self.zero(surface, series, (begin, (to, there)), 0);
            found(self.t + s, &self.state);
            self.points += 1;
            self.idle = 0;
            if self.points == limits.count {
                self.end = Some(None);
            }
        }
        self.sign = there.signum();
    }

    /// The zero of $g$, or of $\dot g$, between two places of a step; the state there is left in the buffer.
    fn zero(
        &mut self,
        surface: &mut Surface,
        series: &[f64],
        (begin, end): ((f64, f64), (f64, f64)),
        which: usize,
    ) -> f64 {
        // Where it turns need not be known as exactly.
        let room = if which == 0 { 1e-15 } else { 1e-9 } * end.0;
        let mut bracket = Bracket::new(begin, end);
        let mut s = end.0;
        for _ in 0..ITERATIONS {
            s = bracket.next();
            let values = self.surface_at(surface, series, s);
            let f = values[which];
            let is_there =
                which == 0 && f.abs() <= 1e-16 * values[1].abs() * (1.0 + self.t.abs());
            if f == 0.0 || is_there || bracket.width() <= room {
                break;
            }
            bracket.include(s, f);
        }
        s
    }
}
