//! A motion together with directions of its tangent space, for integrators.
//!
//! $$ \dot y = f(t, y), \qquad \dot s_k = \frac{\partial f}{\partial y}\,s_k, \qquad
//!    \dot\Theta = \operatorname{tr} Q^\top\frac{\partial f}{\partial y}\,Q \qquad (\mathrm T) $$
//!
//! with an orthonormal basis $Q$ of the tangent space of the constraints. Now and then the directions are made
//! orthonormal, and the logarithms of their lengths are added up, unless they are to stay as they become; the
//! divergence $\Theta$ is integrated beside them.
//!
//! Where the elimination is written out (no constraints), (T) is one program. Otherwise the derivatives come from the
//! solve of each state ([`Field::at`]).

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::solve_saddle;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{Block, EvalError, ExplicitSteps, RungeKuttaStep, System, least_squares};

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::split_mix::SplitMix64;
use crate::system::compiled::Dynamics;
use crate::system::energy_scale::raise_tangents;
use crate::system::explicit_steps;

/// Operations beyond which (T) is not one program.
const LONGEST: usize = 40_000;
/// Steps after which the directions are made orthonormal.
const STEPS: usize = 12;
/// Lengths at which they are before: what is short has a large error in parts of its size.
const LONG: f64 = 1e3;
const SHORT: f64 = 0.1;

/// The system (T).
pub(crate) struct TangentFlow {
    field: Field,
    explicit: Option<Explicit>,
    /// Components of the state.
    pub(crate) d: usize,
    /// Directions.
    pub(crate) r: usize,
    steps: usize,
    /// Whether the directions are made orthonormal now and then.
    is_renewed: bool,
    /// The sums of the logarithms.
    pub(crate) logarithms: Vec<f64>,
}

/// (T) as one program.
struct Explicit {
    run: Executor,
    inputs: Vec<f64>,
}

/// $f$ as expressions, without constraints.
pub(crate) fn solved(model: &Workspace, dynamics: &Dynamics) -> Option<Vec<Expr>> {
    match dynamics {
        Dynamics::Saddle(equations) if !equations.residual.is_empty() => None,
        _ => written_out(model, dynamics),
    }
}

/// $f$ with the elimination of its linear system written out, if that is short. On constraints its pivots may vanish
/// where the system is regular.
pub(crate) fn written_out(model: &Workspace, dynamics: &Dynamics) -> Option<Vec<Expr>> {
    /// Steps of elimination.
    const MOST: usize = 1_500;
    let g = &model.graph;
    match dynamics {
        Dynamics::Saddle(equations) => {
            let has_mass_of_multipliers =
                equations.multiplier_terms.mass.iter().flatten().any(|&e| e != g.zero());
            if has_mass_of_multipliers
                || equations.auxiliary.is_some()
                || !equations.multipliers.is_empty()
            {
                return None;
            }
            let accelerations = solve_saddle(g, equations, MOST)?.accelerations;
            Some([model.velocities(), accelerations].concat())
        }
        Dynamics::Ordinary(ordinary) => {
            let highest = ordinary.explicit(g)?;
            let second = |k: &usize| ordinary.orders[*k] == 2;
            let n = model.coordinates.len();
            let first = (0..n)
                .map(|k| if second(&k) { model.coordinates[k].velocity } else { highest[k] });
            Some(first.chain((0..n).filter(second).map(|k| highest[k])).collect())
        }
    }
}

impl Explicit {
    fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        field: &Field,
        r: usize,
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        let g = &model.graph;
        let Some(f) = g.merging(|| solved(model, dynamics)) else { return Ok(None) };
        let d = f.len();
        let mut inputs = vec![model.time];
        inputs.extend(&field.symbols);
        let mut outputs = f.clone();
        for k in 0..r {
            let along: Vec<Expr> = (0..d)
                .map(|i| g.symbol(&format!("direction {k} {i}"), Role::Coordinate { order: 0 }))
                .collect();
            let direction: Vec<(Expr, Expr)> =
                field.symbols.iter().copied().zip(along.iter().copied()).collect();
            outputs.extend(g.merging(|| g.directional(&f, &direction)));
            inputs.extend(along);
            if g.live(&outputs).len() > LONGEST {
                return Ok(None);
            }
        }
        let diagonal = f.iter().zip(&field.symbols).map(|(&f, &y)| g.derivative(f, y));
        outputs.push(g.merging(|| g.sum(diagonal)));
        let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs)?;
        let mut run = program.tiered(&model.parameter_values(), backend);
        run.promote();
        Ok(Some(Self { run, inputs: vec![0.0; inputs.len()] }))
    }
}

/// An orthonormal basis of the rows of the constraints at a state.
fn normals(point: &FieldPoint) -> Vec<Vec<f64>> {
    let d = point.y.len();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for level in [&point.positions, &point.velocities] {
        for row in level.slopes.chunks(d.max(1)) {
            add_to_basis(&mut basis, row.to_vec());
        }
    }
    basis
}

/// Adds the part of a vector that is new, with length 1.
pub(crate) fn add_to_basis(basis: &mut Vec<Vec<f64>>, mut x: Vec<f64>) {
    let size = dot(&x, &x).sqrt();
    for _ in 0..2 {
        for b in &*basis {
            let part = dot(b, &x);
            x.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
        }
    }
    let left = dot(&x, &x).sqrt();
    if left > 1e-9 * size && left > 0.0 {
        x.iter_mut().for_each(|x| *x /= left);
        basis.push(x);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl TangentFlow {
    /// The flow with as many directions as the tangent space at a state has, and its start. They are those of single
    /// components, or tilted ones: components of a direction that begin as high powers of time have no size there.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        mut field: Field,
        backend: Backend,
        (t, y): (f64, &[f64]),
        is_tilted: bool,
    ) -> Result<Option<(Self, Vec<f64>)>, CompileError> {
        let Ok(point) = field.at(t, y) else { return Ok(None) };
        let d = field.size();
        let mut basis = normals(&point);
        let first = basis.len();
        let mut random = SplitMix64(1);
        for k in 0..d {
            let mut direction = vec![0.0; d];
            direction[k] = 1.0;
            if is_tilted {
                let unit = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
                direction.iter_mut().for_each(|x| *x += unit(random.bits()));
            }
            add_to_basis(&mut basis, direction);
        }
        let r = basis.len() - first;
        let mut start = y.to_vec();
        start.extend(basis[first..].iter().flatten());
        start.push(0.0);
        let explicit = Explicit::new(model, dynamics, &field, r, backend)?;
        let logarithms = vec![0.0; r];
        let flow = Self { field, explicit, d, r, steps: 0, is_renewed: true, logarithms };
        Ok(Some((flow, start)))
    }

    /// The flow with some directions, which stay as they become.
    pub(crate) fn along(
        model: &Workspace,
        dynamics: &Dynamics,
        field: Field,
        backend: Backend,
        r: usize,
    ) -> Result<Self, CompileError> {
        let explicit = Explicit::new(model, dynamics, &field, r, backend)?;
        let (d, logarithms) = (field.size(), vec![0.0; r]);
        Ok(Self { field, explicit, d, r, steps: 0, is_renewed: false, logarithms })
    }

    /// Gives the parameters other values.
    pub(crate) fn set_parameters(&mut self, values: &[f64]) {
        self.field.set_parameters(values);
        if let Some(explicit) = &mut self.explicit {
            explicit.run.set_parameters(values);
        }
    }

    /// Whether an evaluation is one program.
    pub(crate) fn is_explicit(&self) -> bool {
        self.explicit.is_some()
    }

    /// Makes the directions of a state orthonormal.
    pub(crate) fn renew(&mut self, state: &mut [f64]) {
        self.steps = 0;
        let last = state.len() - 1;
        self.orthonormalise(&mut state[self.d..last]);
    }

    /// Makes the directions orthonormal and adds the logarithms of their lengths.
    fn orthonormalise(&mut self, directions: &mut [f64]) {
        let d = self.d;
        for k in 0..self.r {
            let (done, rest) = directions.split_at_mut(k * d);
            let x = &mut rest[..d];
            for _ in 0..2 {
                for b in done.chunks_exact(d) {
                    let part = dot(b, x);
                    x.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
                }
            }
            let length = dot(x, x).sqrt();
            self.logarithms[k] += libm::log(length);
            x.iter_mut().for_each(|x| *x /= length);
        }
    }
}

impl System for TangentFlow {
    fn dimension(&self) -> usize {
        self.d * (1 + self.r) + 1
    }

    fn controlled(&self) -> usize {
        self.d * (1 + self.r)
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let d = self.d;
        if let Some(Explicit { run, inputs }) = &mut self.explicit {
            inputs[0] = t;
            inputs[1..].copy_from_slice(&y[..y.len() - 1]);
            run.evaluate(inputs, rates);
            return Ok(());
        }
        let point = self.field.at(t, &y[..d])?;
        rates[..d].copy_from_slice(&point.rates);
        let along = |x: &[f64], i: usize| dot(&point.jacobian[i * d..(i + 1) * d], x);
        let last = y.len() - 1;
        for (s, rates) in y[d..last].chunks_exact(d).zip(rates[d..last].chunks_exact_mut(d)) {
            rates.iter_mut().enumerate().for_each(|(i, rate)| *rate = along(s, i));
        }
        // tr Qᵀ J Q = tr J − tr Nᵀ J N with the normals N.
        let mut trace: f64 = (0..d).map(|i| point.jacobian[i * d + i]).sum();
        for normal in normals(&point) {
            trace -= (0..d).map(|i| normal[i] * along(&normal, i)).sum::<f64>();
        }
        rates[last] = trace;
        Ok(())
    }

    fn explicit_steps(&mut self) -> Option<&mut dyn ExplicitSteps> {
        match &self.explicit {
            Some(Explicit { run: Executor::Native(_), .. }) => Some(self),
            _ => None,
        }
    }

    fn project(&mut self, t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        if self.field.m == 0 {
            return Ok(());
        }
        let d = self.d;
        for _ in 0..3 {
            let [positions, velocities] = self.field.constraints(t, &y[..d])?;
            let values = [positions.values, velocities.values].concat();
            let rows = [positions.slopes, velocities.slopes].concat();
            let change = least_squares(&rows, values.len(), d, &values, 1e-10).x;
            y[..d].iter_mut().zip(&change).for_each(|(y, δ)| *y -= δ);
            let size = change.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if size < 1e-13 {
                break;
            }
        }
        let point = self.field.at(t, &y[..d])?;
        let last = y.len() - 1;
        let normals = normals(&point);
        for s in y[d..last].chunks_exact_mut(d) {
            for normal in &normals {
                let part = dot(normal, s);
                s.iter_mut().zip(normal).for_each(|(x, n)| *x -= part * n);
            }
        }
        Ok(())
    }

    /// What stays zero but for rounding, as the rates across a steady motion, is measured by the others.
    fn raise_scales(&mut self, _t: f64, y: &[f64], _h: f64, scales: &mut [f64]) {
        /// The part of the largest component, and that of a direction of length 1.
        const PARTS: [f64; 2] = [1e-6, 1e-3];
        let (state, directions) = scales.split_at_mut(self.d);
        let largest = y[..self.d].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        state.iter_mut().for_each(|s| *s = s.max(PARTS[0] * largest));
        if self.is_renewed {
            directions.iter_mut().for_each(|s| *s = s.max(PARTS[1]));
        } else {
            // Components of a direction may begin as high powers of time.
            raise_tangents(&mut scales[..self.d * (1 + self.r)], self.d);
        }
    }

    fn has_invariants(&self) -> bool {
        self.field.m > 0
    }

    fn change_chart(&mut self, _t: f64, y: &mut [f64]) -> Result<bool, EvalError> {
        if !self.is_renewed {
            return Ok(false);
        }
        self.steps += 1;
        let last = y.len() - 1;
        let directions = &mut y[self.d..last];
        let is_long = directions.iter().any(|x| x.abs() > LONG);
        let is_short = |s: &[f64]| s.iter().all(|x| x.abs() < SHORT);
        if self.steps < STEPS && !is_long && !directions.chunks_exact(self.d).any(is_short) {
            return Ok(false);
        }
        self.steps = 0;
        self.orthonormalise(directions);
        if self.logarithms.iter().all(|x| x.is_finite()) {
            Ok(true)
        } else {
            Err(EvalError::NotFinite)
        }
    }
}

impl ExplicitSteps for TangentFlow {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        match &mut self.explicit {
            Some(Explicit { run: Executor::Native(rates), .. }) => {
                explicit_steps::step(rates, step)
            }
            _ => false,
        }
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        match &mut self.explicit {
            Some(Explicit { run: Executor::Native(rates), .. }) => {
                explicit_steps::dense_output(rates, step, dense)
            }
            _ => false,
        }
    }
}
