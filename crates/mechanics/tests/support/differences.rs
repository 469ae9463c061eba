//! Derivatives by central differences, and the motion that follows from them.
//!
//! $$ [L]_k = \frac{d}{ds}\frac{\partial L}{\partial\dot q_k}\Big|_{q + \dot q s + \ddot q s^2/2} -
//! \frac{\partial L}{\partial q_k} $$
//!
//! is affine in $\ddot q$ and in the multipliers, so that values at unit vectors give the linear system.

use pfaff_mechanics::Principle;

use super::{Case, State};

/// $f'(0)$ by central differences at three steps, extrapolated twice: the error is of sixth order in the step.
pub(crate) fn slope(f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 0.02;
    let d = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    let (one, two, four) = (d(STEP), d(STEP / 2.0), d(STEP / 4.0));
    let (first, second) = ((4.0 * two - one) / 3.0, (4.0 * four - two) / 3.0);
    (16.0 * second - first) / 15.0
}

/// $x$ with $Mx = y$ by elimination with pivoting.
pub(crate) fn solve(mut m: Vec<Vec<f64>>, mut y: Vec<f64>) -> Vec<f64> {
    let n = y.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        assert!(m[p][k].abs() > 1e-12, "a singular system");
        m.swap(k, p);
        y.swap(k, p);
        for i in k + 1..n {
            let factor = m[i][k] / m[k][k];
            for j in k..n {
                m[i][j] -= factor * m[k][j];
            }
            y[i] -= factor * y[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * y[j]).sum();
        y[k] = (y[k] - known) / m[k][k];
    }
    y
}

/// A function of the state.
type Function<'a> = dyn Fn(&State) -> f64 + 'a;

/// Accelerations and multipliers.
pub(crate) struct ByHand {
    /// $\ddot q$
    pub(crate) accelerations: Vec<f64>,
    /// $\lambda$ or $\dot\mu$
    pub(crate) multipliers: Vec<f64>,
}

#[expect(clippy::unused_self, reason = "derivatives read as those of the case")]
impl Case {
    /// $\partial f/\partial\dot q_k$
    pub(crate) fn by_velocity(&self, state: &State, k: usize, f: &Function<'_>) -> f64 {
        slope(|h| {
            let mut there = state.clone();
            there.v[k] += h;
            f(&there)
        })
    }

    /// $\partial f/\partial q_k$
    pub(crate) fn by_position(&self, state: &State, k: usize, f: &Function<'_>) -> f64 {
        slope(|h| {
            let mut there = state.clone();
            there.q[k] += h;
            f(&there)
        })
    }

    /// $\partial f/\partial t$
    pub(crate) fn by_time(&self, state: &State, f: &Function<'_>) -> f64 {
        slope(|h| {
            let mut there = state.clone();
            there.t += h;
            f(&there)
        })
    }
}

impl Case {
    /// $[f]_k$ for all $k$
    pub(crate) fn euler(&self, state: &State, f: &Function<'_>) -> Vec<f64> {
        (0..self.n())
            .map(|k| {
                let rate = slope(|s| self.by_velocity(&state.moved(s), k, f));
                rate - self.by_position(state, k, f)
            })
            .collect()
    }

    /// $L - \mu\cdot\psi$, or $L$ for principles without $\mu$ in it.
    pub(crate) fn extended(&self, state: &State) -> f64 {
        let constraints: f64 =
            (0..self.m()).map(|a| state.mu[a] * self.residual(state, a)).sum();
        self.lagrangian(state) - constraints
    }

    /// The direction of a reaction: what `along` says, or $\partial\psi/\partial\dot q$.
    pub(crate) fn direction(&self, state: &State, a: usize) -> Vec<f64> {
        match &self.model.constraints[a].along {
            Some(along) => along.iter().map(|&e| self.at(state, e)).collect(),
            None => (0..self.n())
                .map(|k| self.by_velocity(state, k, &|s| self.residual(s, a)))
                .collect(),
        }
    }

    /// The balance of forces and the rates of the constraints, zero along the motion.
    fn defect(&self, state: &State, x: &[f64]) -> Vec<f64> {
        let (n, m) = (self.n(), self.m());
        let mut state = state.clone();
        state.a = x[..n].to_vec();
        let forces = self.forces(&state);
        let mut balance: Vec<f64> = match self.equations.principle {
            Principle::Chetaev => {
                let mut balance = self.euler(&state, &|s| self.lagrangian(s));
                for a in 0..m {
                    let w = self.direction(&state, a);
                    (0..n).for_each(|k| balance[k] -= x[n + a] * w[k]);
                }
                balance
            }
            Principle::Vakonomic => {
                state.mu_rate = x[n..].to_vec();
                self.euler(&state, &|s| self.extended(s))
            }
            Principle::Restricted => panic!("its tests have their own equations"),
        };
        (0..n).for_each(|k| balance[k] -= forces[k]);
        let rates = (0..m).map(|a| slope(|s| self.residual(&state.moved(s), a)));
        balance.extend(rates);
        balance
    }

    /// Accelerations and multipliers by differences of $L$, $\varphi$ and $Q$.
    pub(crate) fn by_hand(&self) -> ByHand {
        self.by_hand_at(&self.state)
    }

    /// As [`Case::by_hand`], at another state, which need not obey the constraints.
    pub(crate) fn by_hand_at(&self, state: &State) -> ByHand {
        let size = self.n() + self.m();
        let unit =
            |c: usize| (0..size).map(|i| f64::from(u8::from(i == c))).collect::<Vec<_>>();
        let rest = self.defect(state, &vec![0.0; size]);
        let columns: Vec<Vec<f64>> = (0..size).map(|c| self.defect(state, &unit(c))).collect();
        let matrix =
            (0..size).map(|i| columns.iter().map(|c| c[i] - rest[i]).collect()).collect();
        let x = solve(matrix, rest.iter().map(|r| -r).collect());
        let (a, λ) = x.split_at(self.n());
        ByHand { accelerations: a.to_vec(), multipliers: λ.to_vec() }
    }

    /// The case with accelerations and multipliers of its motion in the state.
    pub(crate) fn in_motion(mut self) -> Self {
        let ByHand { accelerations, multipliers } = self.by_hand();
        self.state.a = accelerations;
        self.state.lambda.clone_from(&multipliers);
        self.state.mu_rate = multipliers;
        self
    }

    /// The rate of a function along the curve of the state.
    pub(crate) fn rate(&self, f: &Function<'_>) -> f64 {
        slope(|s| f(&self.state.moved(s)))
    }
}
