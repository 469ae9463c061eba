//! The rates of each view, compiled.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Equations, NormalForm, Refusal, constrained_system, cotangent, hamilton_form,
    lagrange_space, normal_form,
};
use pfaff_model::{Diagnostic, Span, Workspace};
use pfaff_program::{Backend, Executor, Program};
use pfaff_solver::{Advance, EvalError, Lu, NewtonProblem, NewtonRule, System, newton};

use super::View;
use crate::error::Failure;

/// Newton's iteration from the last solution: the next one is a step away.
const ITERATIONS: usize = 30;
/// Corrections of this part of the velocities are rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Expressions compiled together, evaluated one state at a time.
struct Tape {
    run: Executor,
    outputs: Vec<f64>,
}

impl Tape {
    fn new(
        model: &Workspace,
        inputs: &[Expr],
        outputs: &[Expr],
        backend: Backend,
    ) -> Result<Self, Failure> {
        let program =
            Program::compile(&model.graph, inputs, &model.parameter_symbols(), outputs)
                .map_err(Failure::from)?;
        Ok(Self {
            run: program.executor(&model.parameter_values(), backend),
            outputs: vec![0.0; outputs.len()],
        })
    }

    fn at(&mut self, inputs: &[f64]) -> &[f64] {
        self.run.evaluate(inputs, &mut self.outputs);
        &self.outputs
    }
}

/// A view as a first-order system.
pub(crate) struct Road {
    view: View,
    n: usize,
    leaf: Vec<usize>,
    transverse: Vec<usize>,
    /// What the velocities must satisfy, less momenta or velocities of the state, and its Jacobian.
    conditions: Option<Tape>,
    /// The rates, or the blocks that they follow from.
    blocks: Tape,
    /// The momenta that belong to velocities.
    momenta: Tape,
    /// The last velocities, where Newton's method begins.
    v: Vec<f64>,
    lu: Lu,
}

impl Road {
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        view: View,
        dependent: Option<&[usize]>,
        backend: Backend,
    ) -> Result<Self, Failure> {
        let refused = |r: Refusal| Failure::Model(vec![r.diagnostic()]);
        let (t, q, v) = (model.time, model.positions(), model.velocities());
        let n = q.len();
        let state = [&[t][..], &q, &v].concat();
        let tape = |outputs: &[Expr]| Tape::new(model, &state, outputs, backend);
        let road = |normal: Option<&NormalForm>, blocks, momenta, conditions| Self {
            view,
            n,
            leaf: normal.map_or_else(Vec::new, |f| f.leaf.clone()),
            transverse: normal.map_or_else(Vec::new, |f| f.transverse.clone()),
            conditions,
            blocks,
            momenta,
            v: vec![0.0; n],
            lu: Lu::new(n),
        };
        let rows = |f: &NormalForm, slopes: &[Vec<Expr>]| -> (Vec<Expr>, Vec<Expr>) {
            let φ: Vec<Expr> = f.rows.iter().map(|&a| equations.residual[a]).collect();
            let A = f.rows.iter().flat_map(|&a| equations.jacobian[a].clone());
            (φ, A.chain(slopes.concat()).collect())
        };
        Ok(match view {
            View::Semispray => {
                let space = lagrange_space(model, equations);
                let Some(semispray) = space.semispray else { return Err(singular()) };
                road(None, tape(&semispray.coefficients)?, tape(&[])?, None)
            }
            View::Hamilton => {
                let form = hamilton_form(model, equations).map_err(refused)?;
                let inputs = [&[t][..], &q, &form.symbols].concat();
                let outputs = [form.velocities, form.forces].concat();
                let start = [&state[..], &model.results.mu].concat();
                let blocks = Tape::new(model, &inputs, &outputs, backend)?;
                road(None, blocks, Tape::new(model, &start, &form.momenta, backend)?, None)
            }
            View::Krupkova => {
                let normal = normal_form(model, equations, dependent).map_err(refused)?;
                let Some(system) = constrained_system(model, equations, &normal) else {
                    return Err(refused(along(model)));
                };
                let blocks = [&system.force[..], &system.matrix.entries].concat();
                let zero = model.graph.zero();
                let unit = |&k: &usize| -> Vec<Expr> {
                    (0..n).map(|i| if i == k { model.graph.one() } else { zero }).collect()
                };
                let own: Vec<Vec<Expr>> = normal.transverse.iter().map(unit).collect();
                let (φ, jacobian) = rows(&normal, &own);
                let held: Vec<Expr> = normal.transverse.iter().map(|&k| v[k]).collect();
                let conditions = tape(&[φ, held.clone(), jacobian].concat())?;
                road(Some(&normal), tape(&blocks)?, tape(&held)?, Some(conditions))
            }
            View::Cotangent => {
                let normal = normal_form(model, equations, dependent).map_err(refused)?;
                let form = cotangent(model, equations, &normal).map_err(refused)?;
                let blocks = [&form.right[..], &form.matrix.entries].concat();
                // NOTE: L_y off the constraint, so that Newton's method sees all velocities alike.
                let held: Vec<Expr> =
                    normal.transverse.iter().map(|&k| equations.momenta[k]).collect();
                let own: Vec<Vec<Expr>> =
                    normal.transverse.iter().map(|&k| equations.mass[k].clone()).collect();
                let (φ, jacobian) = rows(&normal, &own);
                let conditions = tape(&[φ, held.clone(), jacobian].concat())?;
                road(Some(&normal), tape(&blocks)?, tape(&held)?, Some(conditions))
            }
        })
    }

    /// The state that belongs to positions and velocities.
    pub(crate) fn state(&mut self, t: f64, q: &[f64], v: &[f64], μ: &[f64]) -> Vec<f64> {
        self.v.copy_from_slice(v);
        let second = match self.view {
            View::Semispray => v.to_vec(),
            View::Hamilton => self.momenta.at(&[&[t][..], q, v, μ].concat()).to_vec(),
            View::Krupkova | View::Cotangent => {
                self.momenta.at(&[&[t][..], q, v].concat()).to_vec()
            }
        };
        [q, &second].concat()
    }

    /// The positions and velocities of a state.
    pub(crate) fn velocities(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), EvalError> {
        let (q, rest) = y.split_at(self.n);
        let v = match self.view {
            View::Semispray => rest.to_vec(),
            View::Hamilton => self.blocks.at(&[&[t][..], y].concat())[..self.n].to_vec(),
            View::Krupkova | View::Cotangent => self.solved(t, q, rest)?,
        };
        Ok((q.to_vec(), v))
    }

    /// All velocities from the constraints and what the state holds of them.
    fn solved(&mut self, t: f64, q: &[f64], held: &[f64]) -> Result<Vec<f64>, EvalError> {
        let conditions = self.conditions.as_mut().expect("views with momenta have conditions");
        let rule = NewtonRule { steps: ITERATIONS, converged: ROUNDING, ..NewtonRule::DEFAULT };
        let mut velocities = Velocities {
            conditions,
            t,
            q,
            held,
            leaf: self.leaf.len(),
            v: self.v.clone(),
            lu: &mut self.lu,
            step: Vec::new(),
        };
        newton(&mut velocities, &rule)?;
        let v = velocities.v;
        self.v.copy_from_slice(&v);
        Ok(v)
    }
}

/// The constraints and what a state holds, as equations for all velocities.
struct Velocities<'a> {
    conditions: &'a mut Tape,
    t: f64,
    q: &'a [f64],
    held: &'a [f64],
    /// How many of the conditions are constraints.
    leaf: usize,
    v: Vec<f64>,
    lu: &'a mut Lu,
    step: Vec<f64>,
}

impl NewtonProblem for Velocities<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let n = self.v.len();
        let values = self.conditions.at(&[&[self.t][..], self.q, &self.v].concat());
        self.step = values[..n].to_vec();
        self.step[self.leaf..].iter_mut().zip(self.held).for_each(|(x, h)| *x -= h);
        self.lu.factor(n, &values[n..]).map_err(|_| EvalError::Singular)?;
        self.lu.solve(&mut self.step);
        if self.step.iter().all(|x| x.is_finite()) {
            Ok(0.0)
        } else {
            Err(EvalError::NotFinite)
        }
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let mut change = 0.0_f64;
        for (v, d) in self.v.iter_mut().zip(&self.step) {
            *v -= d;
            change = change.max(d.abs() / (1.0 + v.abs()));
        }
        Ok(Advance::Taken(change))
    }
}

impl System for Road {
    fn dimension(&self) -> usize {
        match self.view {
            View::Semispray | View::Hamilton => 2 * self.n,
            View::Krupkova | View::Cotangent => self.n + self.transverse.len(),
        }
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let n = self.n;
        let (q, v) = self.velocities(t, y)?;
        rates[..n].copy_from_slice(&v);
        match self.view {
            View::Semispray => {
                let doubled = self.blocks.at(&[&[t][..], y].concat()).iter().map(|g| -2.0 * g);
                rates[n..].iter_mut().zip(doubled).for_each(|(r, a)| *r = a);
            }
            View::Hamilton => rates[n..].copy_from_slice(&self.blocks.outputs[n..]),
            View::Krupkova | View::Cotangent => {
                let k = self.transverse.len();
                let values = self.blocks.at(&[&[t][..], &q, &v].concat());
                self.lu.factor(k, &values[k..]).map_err(|_| EvalError::Singular)?;
                // A′ + B′ ÿ = 0, but H ṗ = right
                let sign = if self.view == View::Krupkova { -1.0 } else { 1.0 };
                rates[n..].iter_mut().zip(values).for_each(|(r, a)| *r = sign * a);
                self.lu.solve(&mut rates[n..]);
            }
        }
        Ok(())
    }
}

fn singular() -> Failure {
    let message = "there is no semispray: accelerations and multipliers are not determined, or the system is too \
         large to be written out";
    Failure::Model(vec![Diagnostic::error("E0615", Span::default(), message.into())])
}

fn along(model: &Workspace) -> Refusal {
    let constraint = model.constraints.iter().find(|c| c.along.is_some());
    let constraint = constraint.expect("only `along` gives the reaction another direction");
    Refusal::ReactionAlong { constraint: constraint.name.clone(), span: constraint.span }
}
