//! Whether a motion of one principle is also a motion of the other.
//!
//! The vakonomic reaction is $A^\top\dot\mu + B\mu$ with $B = (\dot A - \partial\varphi/\partial q)^\top$. It
//! is one of Chetaev's kind along a motion exactly when $B\mu$ lies in the span of $A^\top$ there:
//! then $B\mu = A^\top\kappa$ and $\lambda = \dot\mu + \kappa$ (Tarasov and Zaslavsky 2006, proposition 2,
//! with $\kappa$ put right).
//! With $B = A^\top K + B_\perp$ the test along a vakonomic motion is $B_\perp\mu = 0$; a Chetaev motion is
//! vakonomic when some $\mu(t_0)$ gives
//!
//! $$ \dot\mu = \lambda - K\mu, \qquad \int |B_\perp\mu|^2\,dt = 0 . $$
//!
//! The $\mu(t_0)$ that makes the integral least solves a linear problem, whose data are integrated together
//! with the motion. The sign of a verdict is the ratio of what no multiplier explains to the reaction.

use pfaff_mechanics::derive;
use pfaff_model::{Principle, Workspace};
use pfaff_program::Backend;
use pfaff_solver::{
    Control, DenseStep, EvalError, Observer, OdeOptions, System, integrate, least_squares,
};

use crate::clock::Interrupt;
use crate::motion::Motion;
use crate::motion::equivalence::{Equivalence, MeanSquares, judged};
use crate::system::kkt::Kkt;
use crate::system::projection::project;

/// Below this part of the reaction what is left over counts as nothing: integrals at tolerance 1e-12 have
/// lost a few digits.
const NOTHING: f64 = 1e-8;

/// The test along a vakonomic motion, at its output times.
pub(crate) fn along_vakonomic(
    model: &Workspace,
    motion: &Motion,
    backend: Backend,
) -> Option<Equivalence> {
    let mut kkt = kkt(model, Principle::Vakonomic, backend)?;
    let (n, m) = (kkt.n, kkt.m);
    let (mut residual, mut reaction) = (0.0, 0.0);
    let row = |series: &[crate::motion::Series], i: usize| -> Vec<f64> {
        series.iter().map(|s| s.values[i]).collect()
    };
    for i in 0..motion.t.len() {
        let μ = row(&motion.multipliers, i);
        kkt.evaluate(motion.t[i], &row(&motion.q, i), &row(&motion.v, i), &μ);
        let mut bend = vec![0.0; n];
        kkt.added(&row(&motion.a, i), &mut bend);
        let (_, left) = split(&kkt.full_jacobian(), n, m, &bend);
        residual += square(&left);
        reaction += square(&row(&motion.reactions, i));
    }
    let count = motion.t.len().max(1) as f64;
    Some(judged(
        Principle::Vakonomic,
        MeanSquares { residual: residual / count, reaction: reaction / count },
        if motion.t.is_empty() { Vec::new() } else { row(&motion.multipliers, 0) },
        NOTHING,
    ))
}

/// The test along a Chetaev motion: is there a $\mu(t_0)$ that makes it vakonomic?
///
/// Nothing is said if it is interrupted: it takes as long as the motion.
pub(crate) fn along_chetaev(
    model: &Workspace,
    motion: &Motion,
    backend: Backend,
    interrupt: Option<Interrupt>,
) -> Option<Equivalence> {
    let (&t0, &t1) = (motion.t.first()?, motion.t.last()?);
    let mut companion = Companion::new(
        kkt(model, Principle::Chetaev, backend)?,
        kkt(model, Principle::Vakonomic, backend)?,
    );
    let (n, m) = (companion.plain.n, companion.plain.m);
    let start = |s: &[f64]| -> Vec<f64> {
        let first = |series: &[crate::motion::Series]| -> Vec<f64> {
            series.iter().map(|s| s.values[0]).collect()
        };
        let mut y = [first(&motion.q), first(&motion.v)].concat();
        y.extend((0..m * m).map(|i| f64::from(u8::from(i % (m + 1) == 0))));
        y.extend(s);
        y.resize(companion_size(n, m), 0.0);
        y
    };
    let options = OdeOptions { t0, t1, tolerance: 1e-12, ..OdeOptions::default() };
    let complete = |outcome: &pfaff_solver::Outcome| outcome.t == t1;
    let mut listener = Listener(interrupt);
    let first = integrate(&mut companion, &start(&vec![0.0; m]), &options, &mut listener);
    if !complete(&first) {
        return None;
    }
    let quadratures = &first.y[2 * n + m * m + m..];
    let right: Vec<f64> = quadratures[m * m..m * m + m].iter().map(|g| -g).collect();
    let best = least_squares(&quadratures[..m * m], m, m, &right, 1e-9).x;
    // Once more from there: the least integral without the difference of large numbers.
    let second = integrate(&mut companion, &start(&best), &options, &mut listener);
    if !complete(&second) {
        return None;
    }
    let [left, reaction] = second.y[second.y.len() - 2..] else { return None };
    let span = t1 - t0;
    let squares = MeanSquares { residual: left / span, reaction: reaction / span };
    Some(judged(Principle::Chetaev, squares, best, NOTHING))
}

/// Ends a run that is interrupted.
struct Listener(Option<Interrupt>);

impl Observer for Listener {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }

    fn step(&mut self, _step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        if Interrupt::is_asked(self.0) { Control::Stop } else { Control::Continue }
    }
}

fn kkt(model: &Workspace, principle: Principle, backend: Backend) -> Option<Kkt> {
    Kkt::new(model, &derive(model, principle).ok()?, backend).ok()
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// A vector as a combination of the rows of $A$ and what is left.
fn split(rows: &[f64], n: usize, m: usize, vector: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let columns: Vec<f64> = (0..n).flat_map(|k| (0..m).map(move |a| rows[a * n + k])).collect();
    let κ = least_squares(&columns, n, m, vector, 1e-12).x;
    let left = (0..n)
        .map(|k| vector[k] - (0..m).map(|a| rows[a * n + k] * κ[a]).sum::<f64>())
        .collect();
    (κ, left)
}

/// Size of the state $(q, \dot q, \Phi, s, G, g, h, r)$.
fn companion_size(n: usize, m: usize) -> usize {
    2 * n + 2 * (m * m + m) + 2
}

/// A Chetaev motion with the multipliers $\mu = \Phi\mu_0 + s$ that would make it vakonomic, and the
/// quadratures of the least-squares problem.
struct Companion {
    plain: Kkt,
    extended: Kkt,
}

impl Companion {
    fn new(plain: Kkt, extended: Kkt) -> Self {
        Self { plain, extended }
    }
}

impl System for Companion {
    fn dimension(&self) -> usize {
        companion_size(self.plain.n, self.plain.m)
    }

    fn controlled(&self) -> usize {
        let (n, m) = (self.plain.n, self.plain.m);
        2 * n + m * m + m
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let (n, m) = (self.plain.n, self.plain.m);
        let (q, v) = (&y[..n], &y[n..2 * n]);
        self.plain.evaluate(t, q, v, &[]);
        self.plain.solve()?;
        let (acceleration, λ) =
            (self.plain.acceleration().to_vec(), self.plain.multipliers().to_vec());
        let mut reaction = vec![0.0; n];
        self.plain.reaction(&mut reaction);
        let (mut κ, mut left) = (Vec::with_capacity(m), Vec::with_capacity(m));
        for a in 0..m {
            let mut unit = vec![0.0; m];
            unit[a] = 1.0;
            self.extended.evaluate(t, q, v, &unit);
            let mut added = vec![0.0; n];
            self.extended.added(&acceleration, &mut added);
            let (along, beside) = split(&self.plain.full_jacobian(), n, m, &added);
            κ.push(along);
            left.push(beside);
        }
        // The columns of Φ, then s.
        let column = |c: usize| -> Vec<f64> {
            (0..m).map(|a| y[2 * n + if c < m { a * m + c } else { m * m + a }]).collect()
        };
        let beside = |μ: &[f64]| -> Vec<f64> {
            (0..n).map(|k| (0..m).map(|a| left[a][k] * μ[a]).sum()).collect()
        };
        rates[..n].copy_from_slice(v);
        rates[n..2 * n].copy_from_slice(&acceleration);
        let columns: Vec<Vec<f64>> = (0..=m).map(column).collect();
        let images: Vec<Vec<f64>> = columns.iter().map(|μ| beside(μ)).collect();
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let quadratures = 2 * n + m * m + m;
        for c in 0..=m {
            for b in 0..m {
                let fed = if c < m { 0.0 } else { λ[b] };
                let place = if c < m { b * m + c } else { m * m + b };
                rates[2 * n + place] =
                    fed - (0..m).map(|a| κ[a][b] * columns[c][a]).sum::<f64>();
                rates[quadratures + place] = dot(&images[b], &images[c]);
            }
        }
        rates[quadratures + m * m + m] = square(&images[m]);
        rates[quadratures + m * m + m + 1] = square(&reaction);
        Ok(())
    }

    fn project(&mut self, t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        let n = self.plain.n;
        let (q, rest) = y.split_at_mut(n);
        project(&mut self.plain, t, q, &mut rest[..n], &[])
    }
}
