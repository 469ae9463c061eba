//! The divergence of the flow on $(q, p)$ as a number at a state.
//!
//! $$ \Omega = \operatorname{tr} M^{-1}\,\frac{\partial(Q + W^\top\lambda)}{\partial\dot q} \qquad (\mathrm D) $$
//!
//! The derivatives of $\lambda$ come from (K) differentiated, with the matrix of (K) and one right side for
//! each velocity. Constraints that repeat others take no part.

use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, divergence};
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::Lu;

use crate::motion::sample::Sample;
use crate::system::kkt::Kkt;

/// The compiled blocks of (D).
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    run: Executor,
    inputs: Vec<f64>,
    /// The slopes (n + m) × n, the pull n × n and that of the given forces n × n.
    outputs: Vec<f64>,
    lu: Lu,
}

/// $\Omega$ at a state; not a number where the momenta do not determine the velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Of forces and reactions.
    pub(crate) whole: f64,
    /// Of the given forces alone.
    pub(crate) given: f64,
}

impl Flow {
    /// Compiles (D); `None` under another principle than Chetaev's.
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        let Some(parts) = divergence(model, equations) else { return Ok(None) };
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        inputs.extend(model.accelerations());
        inputs.extend(&model.results.lambda);
        let blocks = [&parts.balance_jacobian, &parts.force_jacobian, &parts.applied_jacobian];
        let outputs: Vec<Expr> = blocks.into_iter().flatten().flatten().copied().collect();
        let program =
            Program::compile(&model.graph, &inputs, &model.parameter_symbols(), &outputs)?;
        Ok(Some(Self {
            run: program.tiered(&model.parameter_values(), backend),
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            lu: Lu::new(model.coordinates.len() + model.constraints.len()),
        }))
    }

    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.run.set_parameters(parameters);
    }

    /// $\Omega$ at an sample whose blocks the core has evaluated and solved last.
    pub(crate) fn divergence(&mut self, kkt: &Kkt, sample: &Sample) -> Rate {
        let (n, m) = (kkt.n, kkt.m);
        self.inputs.clear();
        self.inputs.push(sample.t);
        for part in [&sample.q, &sample.v, &sample.a, &sample.multipliers] {
            self.inputs.extend_from_slice(part);
        }
        self.run.evaluate(&self.inputs, &mut self.outputs);
        let (slopes, rest) = self.outputs.split_at((n + m) * n);
        let (pull, given) = rest.split_at(n * n);
        let kept: Vec<usize> = (0..m).filter(|&a| kkt.active[a]).collect();
        let mut pull = pull.to_vec();
        if !kept.is_empty() {
            if self.lu.factor(n + kept.len(), &saddle(kkt, &kept)).is_err() {
                return Rate { whole: f64::NAN, given: f64::NAN };
            }
            let mut column = vec![0.0; n + kept.len()];
            for j in 0..n {
                for k in 0..n {
                    column[k] = slopes[k * n + j];
                }
                for (i, a) in kept.iter().enumerate() {
                    column[n + i] = slopes[(n + a) * n + j];
                }
                self.lu.solve(&mut column);
                // + Wᵀ ∂λ/∂q̇ⱼ
                for (i, &a) in kept.iter().enumerate() {
                    for (k, w) in kkt.direction(a).entries() {
                        pull[k * n + j] += w * column[n + i];
                    }
                }
            }
        }
        if self.lu.factor(n, &kkt.full_mass()).is_err() {
            return Rate { whole: f64::NAN, given: f64::NAN };
        }
        Rate { whole: trace(&self.lu, &pull, n), given: trace(&self.lu, given, n) }
    }
}

/// $\operatorname{tr} M^{-1} T$
fn trace(mass: &Lu, T: &[f64], n: usize) -> f64 {
    let mut column = vec![0.0; n];
    let mut sum = 0.0;
    for j in 0..n {
        for k in 0..n {
            column[k] = T[k * n + j];
        }
        mass.solve(&mut column);
        sum += column[j];
    }
    sum
}

/// The matrix of (K) with the kept rows.
fn saddle(kkt: &Kkt, kept: &[usize]) -> Vec<f64> {
    let n = kkt.n;
    let size = n + kept.len();
    let mass = kkt.full_mass();
    let mut matrix = vec![0.0; size * size];
    for i in 0..n {
        matrix[i * size..i * size + n].copy_from_slice(&mass[i * n..][..n]);
    }
    for (c, &a) in kept.iter().enumerate() {
        kkt.direction(a).entries().for_each(|(i, w)| matrix[i * size + n + c] = -w);
        kkt.row(a).entries().for_each(|(i, x)| matrix[(n + c) * size + i] = x);
    }
    matrix
}
