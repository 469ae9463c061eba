//! A method that keeps the energy and all constraints: the midpoint rule with discrete gradients.
//!
//! For the invariants $I$ of $\dot z = f(t, z)$ (the energy with its balance $\dot E = P$, the constraints $\varphi$
//! and $\psi$) the discrete gradient \[Gon96\] in a metric $W$
//!
//! $$ g = \nabla I(\bar z) + \frac{I(t_1, z_1) - I(t_0, z_0) - \nabla I(\bar z)\cdot\Delta z - h\,\partial_t I}
//!    {\Delta z^\top W\,\Delta z}\,W\,\Delta z $$
//!
//! satisfies $\Delta I = g\cdot\Delta z + h\,\partial_t I$ exactly. The step
//!
//! $$ \Delta z = h\,f(\bar t, \bar z) - W^{-1} G^\top c, \qquad
//!    G\,\Delta z = h\,(P, 0, \dots)^\top - h\,\partial_t I \qquad (\mathrm E) $$
//!
//! therefore follows the balance of the energy and keeps the constraints, to rounding; it is symmetric and of order 2.
//! (E) is solved by repeated insertion, which converges where $h$ is short for the fastest vibration.

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError};
use pfaff_solver::{EvalError, Lu, least_squares};

use super::tape::Tape;

/// Insertions, at most.
const ITERATIONS: usize = 200;

/// The compiled method.
#[derive(Clone, Debug)]
pub(crate) struct EnergyKeeping {
    n: usize,
    /// $E$, $\varphi$ of the holonomic constraints and $\psi$ of all, with slopes by $t$, $q$ and $\dot q$.
    invariants: Tape,
    count: usize,
    /// Values at the start, and slopes in the middle.
    first: Vec<f64>,
    slopes: Vec<f64>,
    /// $G$ by rows, $\Delta z$ and $h f$.
    gradients: Vec<f64>,
    change: Vec<f64>,
    flow: Vec<f64>,
    /// $W$
    metric: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    lu: Lu,
}

/// What a step needs of the system: rates at a state, with the power behind them.
pub(crate) trait Flow {
    /// Writes the rates of $(q, \dot q)$ and returns $P$.
    fn flow(&mut self, t: f64, z: &[f64], rates: &mut [f64]) -> Result<f64, EvalError>;

    /// $M_{ii}$ at the state of the last rates.
    fn masses(&mut self) -> &[f64];
}

impl EnergyKeeping {
    pub(super) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let n = model.coordinates.len();
        let mut functions = vec![equations.energy];
        functions.extend(equations.position.iter().flatten());
        functions.extend(&equations.residual);
        let state: Vec<Expr> = [model.time]
            .into_iter()
            .chain(model.positions())
            .chain(model.velocities())
            .collect();
        let count = functions.len();
        Ok(Self {
            n,
            invariants: Tape::new(model, &state, &functions, count, &state, backend)?,
            count,
            first: vec![0.0; count],
            slopes: Vec::new(),
            gradients: vec![0.0; count * 2 * n],
            change: vec![0.0; 2 * n],
            flow: vec![0.0; 2 * n],
            metric: vec![1.0; 2 * n],
            matrix: vec![0.0; count * count],
            right: vec![0.0; count],
            lu: Lu::new(count),
        })
    }

    fn evaluate(&mut self, t: f64, z: &[f64]) {
        self.invariants.inputs[0] = t;
        self.invariants.inputs[1..].copy_from_slice(z);
        self.invariants.evaluate();
    }

    /// A step of length `h` from positions and velocities.
    pub(crate) fn step(
        &mut self,
        system: &mut dyn Flow,
        (t, h): (f64, f64),
        y: &[f64],
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let d = 2 * self.n;
        let z0 = &y[..d];
        self.evaluate(t, z0);
        self.first.copy_from_slice(self.invariants.values());
        // NOTE: the constraints hold at the start up to rounding, which must not add up.
        self.first[1..].fill(0.0);
        system.flow(t, z0, &mut self.flow)?;
        self.measure(system.masses(), h);
        self.change.iter_mut().zip(&self.flow).for_each(|(x, f)| *x = h * f);
        let mut middle = vec![0.0; d];
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let z1 = &mut end[..d];
            z1.iter_mut().zip(z0.iter().zip(&self.change)).for_each(|(x, (z, δ))| *x = z + δ);
            self.evaluate(t + h, z1);
            self.right.copy_from_slice(self.invariants.values());
            let ends = z0.iter().zip(&*z1);
            middle.iter_mut().zip(ends).for_each(|(x, (a, b))| *x = 0.5 * (a + b));
            self.evaluate(t + 0.5 * h, &middle);
            self.invariants.matrix(&mut self.slopes);
            let power = system.flow(t + 0.5 * h, &middle, &mut self.flow)?;
            let moved = self.correct(h, power);
            if !moved.is_finite() {
                return Err(EvalError::NotFinite);
            }
            if moved <= super::SMALL || (moved < 1e-11 && moved >= 0.5 * last) {
                let z1 = &mut end[..d];
                z1.iter_mut()
                    .zip(z0.iter().zip(&self.change))
                    .for_each(|(x, (z, δ))| *x = z + δ);
                return Ok(());
            }
            last = moved;
        }
        Err(EvalError::Singular)
    }

    /// $W$: the masses for velocities, and for positions the same by $h^2$.
    fn measure(&mut self, masses: &[f64], h: f64) {
        for (i, &m) in masses.iter().enumerate() {
            let m = if m > 0.0 { m } else { 1.0 };
            self.metric[i] = m / (h * h);
            self.metric[self.n + i] = m;
        }
    }

    /// The next $\Delta z$ of (E); tells how far it moved.
    fn correct(&mut self, h: f64, power: f64) -> f64 {
        let (d, k) = (2 * self.n, self.count);
        let size: f64 = self.change.iter().zip(&self.metric).map(|(x, w)| w * x * x).sum();
        for (a, row) in self.gradients.chunks_exact_mut(d).enumerate() {
            let slopes = &self.slopes[a * (d + 1)..(a + 1) * (d + 1)];
            row.copy_from_slice(&slopes[1..]);
            let along: f64 = row.iter().zip(&self.change).map(|(g, x)| g * x).sum();
            let missed = self.right[a] - self.first[a] - along - h * slopes[0];
            if size > 0.0 {
                for ((g, x), w) in row.iter_mut().zip(&self.change).zip(&self.metric) {
                    *g += missed / size * w * x;
                }
            }
            let wanted = if a == 0 { h * power } else { 0.0 } - h * slopes[0];
            let flow: f64 = row.iter().zip(&self.flow).map(|(g, f)| g * h * f).sum();
            self.right[a] = flow - wanted;
        }
        for a in 0..k {
            for b in 0..k {
                let pairs =
                    self.gradients[a * d..][..d].iter().zip(&self.gradients[b * d..][..d]);
                let parts = pairs.zip(&self.metric).map(|((x, y), w)| x * y / w);
                self.matrix[a * k + b] = parts.sum();
            }
        }
        if self.lu.factor(k, &self.matrix).is_ok() {
            self.lu.solve(&mut self.right);
        } else {
            self.right = least_squares(&self.matrix, k, k, &self.right, 1e-12).x;
        }
        let (mut moved, mut whole) = (0.0_f64, 0.0_f64);
        for i in 0..d {
            let pulled: f64 =
                (0..k).map(|a| self.right[a] * self.gradients[a * d + i]).sum::<f64>();
            let next = h * self.flow[i] - pulled / self.metric[i];
            let root = self.metric[i].sqrt();
            moved = moved.max(root * (next - self.change[i]).abs());
            whole = whole.max(root * next.abs());
            self.change[i] = next;
        }
        if whole > 0.0 { moved / whole } else { 0.0 }
    }
}
