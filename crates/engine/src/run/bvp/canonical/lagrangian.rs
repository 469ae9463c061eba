//! The Lagrangian and its derivatives at given velocities, not at given momenta.

use pfaff_solver::{DiscreteAction, EvalError, LagrangianDerivatives};

use crate::run::bvp::canonical::Canonical;

impl Canonical {
    /// Whether motions are the stationary points of the action among all curves: nothing binds the velocities, and
    /// no force comes from elsewhere.
    pub(crate) fn is_unconstrained(&self) -> bool {
        self.m == 0 && self.conservative
    }

    fn place(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let (n, inputs) = (self.n, &mut self.solve.inputs);
        inputs[0] = t;
        inputs[1..=n].copy_from_slice(q);
        inputs[1 + n..][..n].copy_from_slice(v);
        inputs[1 + 2 * n..].fill(0.0);
    }

    /// $L_q + Q$ without multipliers.
    pub(crate) fn push(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        self.place(t, q, v);
        self.push.evaluate(&self.solve.inputs, &mut self.solve.push);
        &self.solve.push[..self.n]
    }

    /// ψ and A, by rows, without multipliers.
    pub(crate) fn constraints(&mut self, t: f64, q: &[f64], v: &[f64]) -> (&[f64], &[f64]) {
        self.place(t, q, v);
        self.legendre.evaluate(&self.solve.inputs, &mut self.solve.legendre);
        let (n, m) = (self.n, self.m);
        let (residual, rest) = self.solve.legendre[n..].split_at(m);
        (residual, &rest[n * n..])
    }

    /// The action of a problem with a given duration, as a function of curves over $0 \le s \le 1$.
    pub(crate) fn action(&mut self, duration: f64) -> Action<'_> {
        Action { problem: self, duration }
    }
}

/// $T\,L(t_0 + sT, q, (dq/ds)/T)$
pub(crate) struct Action<'a> {
    problem: &'a mut Canonical,
    duration: f64,
}

impl Action<'_> {
    fn place(&mut self, s: f64, q: &[f64], slope: &[f64]) {
        let t = self.problem.conditions.t0 + s * self.duration;
        let v: Vec<f64> = slope.iter().map(|v| v / self.duration).collect();
        self.problem.place(t, q, &v);
    }
}

impl DiscreteAction for Action<'_> {
    fn size(&self) -> usize {
        self.problem.n
    }

    fn value(&mut self, s: f64, q: &[f64], v: &[f64]) -> Result<f64, EvalError> {
        self.place(s, q, v);
        let Canonical { push, solve, n, .. } = &mut *self.problem;
        push.evaluate(&solve.inputs, &mut solve.push);
        let value = self.duration * solve.push[2 * *n + 1];
        let is_late = self.problem.limit.is_some_and(|limit| limit.is_over());
        if value.is_finite() && !is_late { Ok(value) } else { Err(EvalError::NotFinite) }
    }

    fn derivatives(
        &mut self,
        s: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<LagrangianDerivatives, EvalError> {
        if self.problem.limit.is_some_and(|limit| limit.is_over()) {
            return Err(EvalError::NotFinite);
        }
        self.place(s, q, v);
        let Canonical { legendre, push, bend, solve, n, .. } = &mut *self.problem;
        let (n, T) = (*n, self.duration);
        legendre.evaluate(&solve.inputs, &mut solve.legendre);
        push.evaluate(&solve.inputs, &mut solve.push);
        bend.evaluate(&solve.inputs, &mut solve.bend);
        Ok(LagrangianDerivatives {
            by_q: solve.push[..n].iter().map(|x| T * x).collect(),
            by_v: solve.legendre[..n].to_vec(),
            by_qq: solve.bend[n * n..2 * n * n].iter().map(|x| T * x).collect(),
            by_vq: solve.bend[..n * n].to_vec(),
            by_vv: solve.legendre[n..n + n * n].iter().map(|x| x / T).collect(),
        })
    }
}
