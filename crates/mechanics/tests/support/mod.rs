//! Systems, states, and the motion by finite differences.

mod differences;
mod systems;

use std::collections::HashMap;

use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::{Equations, Principle, derive};
use pfaff_model::{Dynamics, Model, NoFiles, Overrides, Source, Workspace, read_model};

pub(crate) use differences::{slope, solve};
pub(crate) use systems::{LINEAR, NONLINEAR, random_system};

/// A model from its text, whose lines may be indented.
pub(crate) fn model(text: &str) -> Model {
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    match read_model(Source::new("test", &text), &Overrides::default(), &NoFiles) {
        Ok((model, _)) => model,
        Err(errors) => panic!("{text}\n{:?}", errors.diagnostics),
    }
}

/// Numbers that look random and depend on the seed alone (splitmix64).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between the two.
    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below the number.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    pub(crate) fn list(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.between(-0.9, 0.9)).collect()
    }
}

/// Where expressions are evaluated.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) t: f64,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) a: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
    pub(crate) mu: Vec<f64>,
    pub(crate) mu_rate: Vec<f64>,
}

impl State {
    /// After the time $s$, on the curve with these velocities, constant accelerations and rates of $\mu$.
    pub(crate) fn moved(&self, s: f64) -> Self {
        let mut there = self.clone();
        there.t += s;
        for k in 0..self.q.len() {
            there.q[k] += s * self.v[k] + 0.5 * s * s * self.a[k];
            there.v[k] += s * self.a[k];
        }
        for a in 0..self.mu.len() {
            there.mu[a] += s * self.mu_rate[a];
        }
        there
    }
}

/// A model with its equations and a state at which constraints hold.
pub(crate) struct Case {
    pub(crate) model: Workspace,
    pub(crate) equations: Equations,
    pub(crate) state: State,
    lagrangian: Expr,
}

impl Case {
    /// The equations, and a random state with velocities on the constraints.
    pub(crate) fn new(text: &str, principle: Principle, seed: u64) -> Self {
        let model = model(text).workspace();
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
            panic!("a Lagrangian")
        };
        let equations = derive(&model, principle).unwrap_or_else(|r| panic!("{text}\n{r:?}"));
        let (n, m) = (model.coordinates.len(), model.constraints.len());
        let mut numbers = Numbers::new(seed);
        let q = (0..n).map(|_| numbers.between(0.3, 1.1)).collect();
        let state = State {
            t: numbers.between(0.4, 1.2),
            q,
            v: (0..n).map(|_| numbers.between(0.2, 1.2)).collect(),
            a: numbers.list(n),
            lambda: numbers.list(m),
            mu: numbers.list(m),
            mu_rate: numbers.list(m),
        };
        let mut case = Self { model, equations, state, lagrangian };
        case.admit();
        case
    }

    /// The number of coordinates.
    pub(crate) fn n(&self) -> usize {
        self.model.coordinates.len()
    }

    /// The number of constraints.
    pub(crate) fn m(&self) -> usize {
        self.model.constraints.len()
    }

    fn symbols(&self, state: &State) -> HashMap<Expr, f64> {
        let m = &self.model;
        let mut known: HashMap<Expr, f64> =
            m.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        known.insert(m.time, state.t);
        let mut add = |symbols: &[Expr], values: &[f64]| {
            known.extend(symbols.iter().copied().zip(values.iter().copied()));
        };
        add(&m.positions(), &state.q);
        add(&m.velocities(), &state.v);
        add(&m.accelerations(), &state.a);
        add(&m.results.lambda, &state.lambda);
        add(&m.results.mu, &state.mu);
        add(&m.results.mu_rate, &state.mu_rate);
        known
    }

    /// Values in a graph that began with the model's, with further symbols.
    pub(crate) fn values_in(&self, g: &Graph, es: &[Expr], more: &[(Expr, f64)]) -> Vec<f64> {
        let mut known = self.symbols(&self.state);
        known.extend(more.iter().copied());
        g.evaluate(es, &|s| known.get(&s).copied().unwrap_or(f64::NAN))
    }

    /// Values at the state of the case.
    pub(crate) fn values(&self, es: &[Expr]) -> Vec<f64> {
        self.values_in(&self.model.graph, es, &[])
    }

    /// The value at the state of the case.
    pub(crate) fn value(&self, e: Expr) -> f64 {
        self.values(&[e])[0]
    }

    /// Rows of values at the state of the case.
    pub(crate) fn rows(&self, rows: &[Vec<Expr>]) -> Vec<Vec<f64>> {
        rows.iter().map(|row| self.values(row)).collect()
    }

    /// The value at another state.
    pub(crate) fn at(&self, state: &State, e: Expr) -> f64 {
        let known = self.symbols(state);
        let symbol = |s: Expr| known.get(&s).copied().unwrap_or(f64::NAN);
        self.model.graph.evaluate(&[e], &symbol)[0]
    }

    /// $L$
    pub(crate) fn lagrangian(&self, state: &State) -> f64 {
        self.at(state, self.lagrangian)
    }

    /// $Q$
    pub(crate) fn forces(&self, state: &State) -> Vec<f64> {
        (0..self.n())
            .map(|k| self.model.forces.iter().map(|f| self.at(state, f.components[k])).sum())
            .collect()
    }

    /// Whether velocities count in the constraint, by differences at the state.
    fn is_holonomic(&self, a: usize) -> bool {
        let φ = self.model.constraints[a].expr;
        (0..self.n()).all(|k| self.by_velocity(&self.state, k, &|s| self.at(s, φ)).abs() < 1e-9)
    }

    /// $\psi$: the constraint, or its rate where it is holonomic.
    pub(crate) fn residual(&self, state: &State, a: usize) -> f64 {
        let φ = self.model.constraints[a].expr;
        if !self.is_holonomic(a) {
            return self.at(state, φ);
        }
        slope(|s| self.at(&state.moved(s), φ))
    }

    /// Brings positions onto holonomic constraints and velocities onto all of them (Newton's iteration with
    /// the smallest change).
    fn admit(&mut self) {
        for _ in 0..40 {
            let holonomic: Vec<usize> =
                (0..self.m()).filter(|&a| self.is_holonomic(a)).collect();
            let position =
                |c: &Self, s: &State, i: usize| c.at(s, c.model.constraints[holonomic[i]].expr);
            let step = self.least_change(holonomic.len(), &position, &|s| &mut s.q);
            self.state.q.iter_mut().zip(step).for_each(|(q, d)| *q -= d);
            let velocity = |c: &Self, s: &State, a: usize| c.residual(s, a);
            let step = self.least_change(self.m(), &velocity, &|s| &mut s.v);
            self.state.v.iter_mut().zip(step).for_each(|(v, d)| *v -= d);
        }
        for a in 0..self.m() {
            let left = self.residual(&self.state, a);
            assert!(left.abs() < 1e-9, "constraint {a} is left at {left}");
        }
    }

    /// $J^\top(JJ^\top + \epsilon)^{-1}r$, where ε lets rows depend on each other.
    fn least_change(
        &self,
        count: usize,
        residual: &dyn Fn(&Self, &State, usize) -> f64,
        part: &dyn Fn(&mut State) -> &mut Vec<f64>,
    ) -> Vec<f64> {
        let n = self.n();
        let entry = |i: usize, k: usize| {
            slope(|h| {
                let mut there = self.state.clone();
                part(&mut there)[k] += h;
                residual(self, &there, i)
            })
        };
        let J: Vec<Vec<f64>> =
            (0..count).map(|i| (0..n).map(|k| entry(i, k)).collect()).collect();
        let mut gram = vec![vec![0.0; count]; count];
        for i in 0..count {
            for j in 0..count {
                gram[i][j] = dot(&J[i], &J[j]) + if i == j { 1e-9 } else { 0.0 };
            }
        }
        let r: Vec<f64> = (0..count).map(|i| residual(self, &self.state, i)).collect();
        let x = solve(gram, r);
        (0..n).map(|k| (0..count).map(|i| J[i][k] * x[i]).sum()).collect()
    }
}

/// The scalar product.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Differences of both roads: those of finite differences are near 1e-10, and sums of terms lose a few
/// digits.
pub(crate) const CLOSE: f64 = 2e-7;

/// Asserts that two numbers agree as well as finite differences can tell.
#[track_caller]
pub(crate) fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= CLOSE * (1.0 + b.abs()), "{what}: {a} instead of {b}");
}

/// Asserts that two lists agree as well as finite differences can tell.
#[track_caller]
pub(crate) fn all_close(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(
            (x - y).abs() <= CLOSE * (1.0 + y.abs()),
            "{what}, entry {i}: {a:?} instead of {b:?}"
        );
    }
}
