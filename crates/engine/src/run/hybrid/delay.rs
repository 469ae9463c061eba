//! Delays by the method of steps.
//!
//! A delayed value $g(t - \tau)$ is known before the motion gets to $t$: from the history before the start, or from
//! the motion itself as its nodes have it. On a piece of the run it is replaced by a polynomial,
//!
//! $$ g(t - \tau) \approx \sum_k c_k\,x^k, \qquad x = (t - m)/h, $$
//!
//! whose coefficients are parameters of the equations, so that one derivation serves all pieces. Pieces end at the
//! corners that a jump or the start leaves in the motion, $t_j + \tau$, $t_j + 2\tau$, …, and are so short that the
//! polynomial agrees with the value as well as the tolerance asks.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::{Delay, Dynamics, Parameter, Span, Workspace};

use crate::motion::Motion;
use crate::motion::dense::Order;
use crate::problem::start::Start;

/// The degree of the polynomials.
const DEGREE: usize = 13;
/// How many values a delayed value has: m, 1/h and the coefficients.
const VALUES: usize = DEGREE + 3;
/// How often a corner is handed on: each time the motion is once more differentiable.
const SMOOTH: u8 = 9;
/// Halvings of a piece.
const HALVINGS: usize = 40;
/// Polynomials that are off by more, in parts of their size, are not off by rounding.
const NOISE: f64 = 1e-12;
/// Corners that are nearer are one.
const NEAR: f64 = 1e-12;
/// The most corners that are looked after.
const MOST: usize = 20_000;

/// The delays of a run.
pub(super) struct Delays {
    list: Vec<Delay>,
    /// The index of the first parameter.
    first: usize,
    /// Positions and velocities before the start as functions of time, where they are given.
    histories: Vec<Option<[Expr; 2]>>,
    initial: Vec<f64>,
    start: f64,
    end: f64,
    /// Where the motion is not smooth, in order.
    corners: Vec<f64>,
    tolerance: f64,
}

/// The model with polynomials for its delayed values.
pub(super) fn substituted(model: &Workspace) -> Workspace {
    let mut model = model.clone();
    let delays = model.hybrid.delays.clone();
    let mut pairs = Vec::with_capacity(delays.len());
    for (i, delay) in delays.iter().enumerate() {
        let mut parameter = |k: usize| {
            let name = format!("delay {i} {k}");
            let symbol = model.graph.symbol(&name, Role::Parameter);
            let span = Span::default();
            model.parameters.push(Parameter {
                name,
                symbol,
                value: 0.0,
                definition: None,
                span,
            });
            symbol
        };
        let all: Vec<Expr> = (0..VALUES).map(&mut parameter).collect();
        let g = &model.graph;
        let x = g.mul(g.sub(model.time, all[0]), all[1]);
        let polynomial =
            all[2..].iter().rev().copied().reduce(|sum, c| g.add(c, g.mul(sum, x)));
        pairs.push((delay.symbol, polynomial.unwrap_or(g.zero())));
    }
    let graph = std::mem::replace(&mut model.graph, Graph::new());
    let put = |e: &mut Expr| *e = graph.substitute(&[*e], &pairs)[0];
    model.forces.iter_mut().flat_map(|f| &mut f.components).for_each(put);
    model.constraints.iter_mut().for_each(|c| put(&mut c.expr));
    let hybrid = &mut model.hybrid;
    hybrid.forces.iter_mut().flat_map(|(f, _)| &mut f.components).for_each(put);
    hybrid.constraints.iter_mut().for_each(|(c, _)| put(&mut c.expr));
    hybrid.samplers.iter_mut().for_each(|s| put(&mut s.law));
    if let Dynamics::Equations(equations) = &mut model.dynamics {
        equations.iter_mut().for_each(|e| put(&mut e.expr));
    }
    model.observed.iter_mut().for_each(|o| put(&mut o.expr));
    model.graph = graph;
    model
}

impl Delays {
    /// Of a model, if it has any. `first` is the index of the first parameter that [`substituted`] has added.
    pub(super) fn new(
        model: &Workspace,
        first: usize,
        (start, end): (f64, f64),
        tolerance: f64,
    ) -> Option<Self> {
        if model.hybrid.delays.is_empty() {
            return None;
        }
        let g = &model.graph;
        let history = |k: usize| {
            let given = model.hybrid.histories.iter().rev().find(|(of, _)| *of == k)?.1;
            Some([given, g.derivative(given, model.time)])
        };
        let mut delays = Self {
            list: model.hybrid.delays.clone(),
            first,
            histories: (0..model.coordinates.len()).map(history).collect(),
            initial: Vec::new(),
            start,
            end,
            corners: Vec::new(),
            tolerance,
        };
        delays.corner(start);
        Some(delays)
    }

    /// The state at the start, which is the history where none is given.
    pub(super) fn begin(&mut self, state: &Start) {
        self.initial.clone_from(&state.q);
    }

    /// The motion has a corner, which comes back after each delay.
    pub(super) fn corner(&mut self, t: f64) {
        let mut new = vec![(t, 0_u8)];
        let mut next = 0;
        let near = NEAR * (self.end - self.start);
        while let Some(&(t, level)) = new.get(next) {
            next += 1;
            if level == SMOOTH || new.len() > MOST {
                continue;
            }
            for delay in &self.list {
                let later = t + delay.lag;
                let is_known = new.iter().any(|(other, _)| (other - later).abs() <= near);
                if later < self.end && !is_known {
                    new.push((later, level + 1));
                }
            }
        }
        for (t, _) in new.drain(1..) {
            if !self.corners.iter().any(|other| (other - t).abs() <= near) {
                self.corners.push(t);
            }
        }
        self.corners.sort_by(f64::total_cmp);
    }

    /// The next piece from a time on: its end, and the values of its parameters.
    pub(super) fn piece(
        &self,
        model: &Workspace,
        whole: Option<&Motion>,
        t: f64,
        parameters: &mut [f64],
    ) -> f64 {
        let near = NEAR * (self.end - self.start);
        let corner = self.corners.iter().find(|&&corner| corner > t + near);
        let mut until = corner.map_or(self.end, |corner| corner.min(self.end));
        for delay in &self.list {
            // What lies ahead of the motion is not known.
            until = until.min(t + delay.lag);
        }
        let mut best = f64::INFINITY;
        for _ in 0..HALVINGS {
            let fits: Vec<(Vec<f64>, f64)> = self
                .list
                .iter()
                .map(|delay| {
                    let at =
                        |s: f64| self.value(model, whole, delay, s - delay.lag, parameters);
                    fitted(&at, t, until)
                })
                .collect();
            let parts = fits.iter().map(|(c, error)| {
                let size = c.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
                if *error == 0.0 { 0.0 } else { error / size }
            });
            let off = parts.fold(0.0_f64, |m, x| if x.is_nan() { x } else { m.max(x) });
            // NOTE: what a half as long piece does not make better is the rounding of the past motion.
            let is_rounding = off > 0.3 * best && off < NOISE;
            let is_good = off <= 0.1 * self.tolerance + 1e-14 || is_rounding;
            best = off;
            for (i, (coefficients, _)) in fits.iter().enumerate() {
                let place = self.first + i * VALUES;
                parameters[place] = f64::midpoint(t, until);
                parameters[place + 1] = 2.0 / (until - t);
                parameters[place + 2..place + VALUES].copy_from_slice(coefficients);
            }
            if is_good {
                break;
            }
            until = t + 0.5 * (until - t);
        }
        until
    }

    /// Takes the samples of controls that are due where a piece begins: the piece before did not know them.
    pub(super) fn sample(
        &self,
        model: &Workspace,
        t: f64,
        parameters: &[f64],
        states: [Option<&mut Start>; 2],
    ) {
        let g = &model.graph;
        let (positions, velocities) = (model.positions(), model.velocities());
        for state in states.into_iter().flatten() {
            for sampler in &model.hybrid.samplers {
                let count = (t - self.start) / sampler.period;
                if (count - count.round()).abs() > 1e-9 * count.max(1.0) {
                    continue;
                }
                let at = |e: Expr| {
                    let of = |list: &[Expr], values: &[f64]| {
                        list.iter().position(|&x| x == e).map(|k| values[k])
                    };
                    let parameter = || {
                        let place = model.parameters.iter().position(|p| p.symbol == e)?;
                        parameters.get(place).copied()
                    };
                    let time = (e == model.time).then_some(t);
                    time.or(of(&positions, &state.q))
                        .or(of(&velocities, &state.v))
                        .or_else(parameter)
                        .unwrap_or(f64::NAN)
                };
                let value = g.evaluate(&[sampler.law], &at)[0];
                state.q[sampler.coordinate] = value;
            }
        }
    }

    /// What an operand was at a time.
    fn value(
        &self,
        model: &Workspace,
        whole: Option<&Motion>,
        delay: &Delay,
        s: f64,
        parameters: &[f64],
    ) -> f64 {
        let g = &model.graph;
        let (positions, velocities) = (model.positions(), model.velocities());
        let parameter = |e: Expr| {
            let place = model.parameters.iter().position(|p| p.symbol == e)?;
            parameters.get(place).copied()
        };
        let before =
            |e: Expr| if e == model.time { s } else { parameter(e).unwrap_or(f64::NAN) };
        let state = |k: usize, order: Order| match whole.filter(|_| s >= self.start) {
            Some(motion) => motion.dense.value(k, order, s),
            None => match (self.histories[k], order) {
                (Some([position, _]), Order::Position) => g.evaluate(&[position], &before)[0],
                (Some([_, velocity]), _) => g.evaluate(&[velocity], &before)[0],
                (None, Order::Position) => self.initial.get(k).copied().unwrap_or(0.0),
                (None, _) => 0.0,
            },
        };
        let at = |e: Expr| {
            if e == model.time {
                return s;
            }
            let of = |list: &[Expr]| list.iter().position(|&x| x == e);
            match (of(&positions), of(&velocities)) {
                (Some(k), _) => state(k, Order::Position),
                (_, Some(k)) => state(k, Order::Velocity),
                _ => parameter(e).unwrap_or(f64::NAN),
            }
        };
        g.evaluate(&[delay.operand], &at)[0]
    }
}

/// The polynomial through Chebyshev's points on [a, b], in powers of x from −1 to 1, and how far it is off between
/// them.
fn fitted(of: &dyn Fn(f64) -> f64, a: f64, b: f64) -> (Vec<f64>, f64) {
    use std::f64::consts::PI;
    let n = DEGREE + 1;
    let time = |x: f64| f64::midpoint(a, b) + 0.5 * (b - a) * x;
    let angle = |j: usize| PI * (j as f64 + 0.5) / n as f64;
    let values: Vec<f64> = (0..n).map(|j| of(time(libm::cos(angle(j))))).collect();
    let mut powers = vec![0.0; n];
    // T₀, T₁, … in powers of x.
    let (mut last, mut now) = (vec![0.0; n], vec![0.0; n]);
    now[0] = 1.0;
    for k in 0..n {
        let sum: f64 = (0..n).map(|j| values[j] * libm::cos(k as f64 * angle(j))).sum::<f64>();
        let c = sum * if k == 0 { 1.0 } else { 2.0 } / n as f64;
        powers.iter_mut().zip(&now).for_each(|(p, t)| *p += c * t);
        let mut next = vec![0.0; n];
        for i in 0..n {
            let shifted = if i > 0 { now[i - 1] } else { 0.0 };
            next[i] = if k == 0 { shifted } else { 2.0 * shifted - last[i] };
        }
        last = std::mem::replace(&mut now, next);
    }
    let polynomial = |x: f64| powers.iter().rev().fold(0.0, |sum, c| c + x * sum);
    let between = (1..n).map(|j| libm::cos(PI * j as f64 / n as f64));
    let error = between.map(|x| (polynomial(x) - of(time(x))).abs());
    let error = error.fold(0.0_f64, |m, e| if e.is_nan() { f64::NAN } else { m.max(e) });
    (powers, error)
}
