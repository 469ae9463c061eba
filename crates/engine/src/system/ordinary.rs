//! An `equation` model as numbers: the highest derivatives at a state.
//!
//! $F(t, y, x) = 0$ is solved for the highest derivatives $x$ by Newton's iteration, $J\,\delta x = -F$;
//! where $F$ is affine in $x$ one step is exact. Where each equation has one unknown of its own, its entry of $J$ is
//! divided by; any other $J$ is treated as (K) without constraints.

use pfaff_expr::Expr;
use pfaff_mechanics::Ordinary;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{Advance, EvalError, NewtonProblem, NewtonRule, Stall, newton};

use crate::system::saddle_point::{Blocks, Saddle};
use crate::system::sparse_rows::RowPattern;

/// The compiled equations of an `equation` model.
#[derive(Clone, Debug)]
pub(crate) struct OrdinarySystem {
    pub(crate) orders: Vec<u8>,
    affine: bool,
    run: Executor,
    /// $t$, $q$, $\dot q$, $\ddot q$
    inputs: Vec<f64>,
    /// Where each unknown stands in `inputs`.
    unknown_at: Vec<usize>,
    /// $F$, then the entries of $J$ by rows.
    outputs: Vec<f64>,
    pattern: RowPattern,
    /// The unknown of each equation, where it has one of its own.
    own: Option<Vec<usize>>,
    saddle: Saddle,
    step: Vec<f64>,
    /// The highest derivatives of the last solve.
    pub(crate) unknowns: Vec<f64>,
}

impl OrdinarySystem {
    /// Compiles the equations.
    pub(crate) fn new(
        model: &Workspace,
        ordinary: &Ordinary,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let n = model.coordinates.len();
        let mut inputs: Vec<Expr> = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        inputs.extend(model.accelerations());
        let mut outputs = ordinary.residual.clone();
        outputs.extend(ordinary.jacobian.iter().flatten().map(|entry| entry.1));
        let columns: Vec<Vec<usize>> = ordinary
            .jacobian
            .iter()
            .map(|row| row.iter().map(|entry| entry.0).collect())
            .collect();
        let program =
            Program::compile(&model.graph, &inputs, &model.parameter_symbols(), &outputs)?;
        Ok(Self {
            orders: ordinary.orders.clone(),
            affine: ordinary.affine,
            run: program.executor(&model.parameter_values(), backend),
            unknown_at: ordinary
                .orders
                .iter()
                .enumerate()
                .map(|(k, &order)| 1 + usize::from(order) * n + k)
                .collect(),
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            pattern: RowPattern::new(columns.iter().map(Vec::as_slice)),
            own: ordinary.own_unknowns().map(|own| own.iter().map(|entry| entry.0).collect()),
            saddle: Saddle::default(),
            step: vec![0.0; n],
            unknowns: vec![0.0; n],
        })
    }

    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.run.set_parameters(parameters);
        self.unknowns.fill(0.0);
    }

    /// Solves for the highest derivatives. Velocities of first-order coordinates are unknowns and not read.
    pub(crate) fn solve(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), EvalError> {
        let n = q.len();
        self.inputs[0] = t;
        self.inputs[1..=n].copy_from_slice(q);
        self.inputs[n + 1..=2 * n].copy_from_slice(v);
        if self.affine {
            self.unknowns.fill(0.0);
        }
        // Where the equations are affine one step is exact; else steps that no longer shrink are rounding.
        let rule = NewtonRule {
            steps: if self.affine { 1 } else { 50 },
            stall: Some(Stall { below: 1e-13, ratio: 0.25, after: 0 }),
            acceptable: 1e-10,
            ..NewtonRule::DEFAULT
        };
        let converged = newton(self, &rule)?.converged;
        if self.affine || converged { Ok(()) } else { Err(EvalError::Singular) }
    }
}

impl OrdinarySystem {
    /// Factorises $J$ at the solution last found, for [`solve_again`](Self::solve_again).
    pub(crate) fn factor_at_solution(&mut self) -> Result<(), EvalError> {
        // NOTE: where the equations are affine, J does not depend on the unknowns.
        if self.affine { Ok(()) } else { self.linearise().map(|_| ()) }
    }

    /// Solves $J x = b$ for a right side, which becomes the solution.
    pub(crate) fn solve_again(&mut self, right: &mut [f64]) -> Result<(), EvalError> {
        if let Some(own) = &self.own {
            let entries = &self.outputs[self.unknowns.len()..];
            self.step.copy_from_slice(right);
            for (&j, (b, d)) in own.iter().zip(self.step.iter().zip(entries)) {
                right[j] = b / d;
            }
            return Ok(());
        }
        self.saddle.solve_again(right)
    }
}

impl NewtonProblem for OrdinarySystem {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let n = self.unknowns.len();
        for (&at, &x) in self.unknown_at.iter().zip(&self.unknowns) {
            self.inputs[at] = x;
        }
        self.run.evaluate(&self.inputs, &mut self.outputs);
        let (residual, jacobian) = self.outputs.split_at(n);
        if self.outputs.iter().any(|x| !x.is_finite()) {
            self.unknowns.fill(0.0);
            return Err(EvalError::NotFinite);
        }
        if let Some(own) = &self.own {
            if jacobian.contains(&0.0) {
                return Err(EvalError::Singular);
            }
            for (&j, (f, d)) in own.iter().zip(residual.iter().zip(jacobian)) {
                self.step[j] = f / d;
            }
            return Ok(0.0);
        }
        let none = RowPattern::default();
        let (mass, none) = (self.pattern.with(jacobian), none.with(&[]));
        let blocks =
            Blocks { mass, left: none, right: none, force: residual, drift: &[], condensed: 0 };
        self.saddle.solve(&blocks)?;
        self.step.copy_from_slice(&self.saddle.solution);
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let mut change = 0.0_f64;
        for (x, δ) in self.unknowns.iter_mut().zip(&self.step) {
            *x -= δ;
            change = change.max(δ.abs() / (1.0 + x.abs()));
        }
        Ok(Advance::Taken(change))
    }
}

/// Velocities of the second-order coordinates at their places; zero at the others, which are unknowns.
pub(crate) fn spread(orders: &[u8], given: &[f64], v: &mut [f64]) {
    let mut given = given.iter();
    for (v, &order) in v.iter_mut().zip(orders) {
        *v = if order == 2 { given.next().copied().unwrap_or(f64::NAN) } else { 0.0 };
    }
}
