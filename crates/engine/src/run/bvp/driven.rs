//! Curves that satisfy the constraints: the independent coordinates are arched, the others follow.
//!
//! As many velocities as there are constraints are solved for from $\psi(t, q, \dot q) = 0$, the others are given,
//!
//! $$ q_f(s) = q_{f,0} + s\,(q_{f,1} - q_{f,0}) + \sum_{j \le J} a_{fj}\,\sin(j\pi s), $$
//!
//! and the dependent coordinates are integrated. The amplitudes $a$ are moved by Gauss and Newton's method, each time
//! by the shortest change, until the dependent coordinates arrive where they should.

use std::f64::consts::PI;

use pfaff_solver::{Lu, least_squares};

use crate::run::bvp::arch::INTERVALS;
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::guess::straight_ends;

/// $J$
const MODES: usize = 5;
/// Half waves of the first amplitudes.
const FIRST_WAVES: usize = 3;
/// First amplitudes, in parts of the size of the ends: angles turn by about one.
const SIZES: [f64; 3] = [1.0, 2.0, 3.0];
/// Steps of Gauss and Newton's method.
const ITERATIONS: usize = 30;
/// A curve arrives if its end is as near as this, in parts of its size.
const NEAR: f64 = 1e-3;
/// Amplitudes beyond this are given up, in parts of the size of the ends.
const LARGEST: f64 = 20.0;

/// What a problem's curves are made of.
pub(crate) struct Driven {
    /// The coordinates that follow, and those that are given.
    dependent: Vec<usize>,
    free: Vec<usize>,
    /// The size of each free coordinate.
    sizes: Vec<f64>,
    /// The dependent coordinates that have a place to arrive at.
    targets: Vec<usize>,
}

impl Driven {
    /// `None` if nothing is free, the duration is, or no velocities can be solved for.
    pub(crate) fn new(problem: &mut Canonical) -> Option<Self> {
        let (n, m) = (problem.n, problem.m);
        problem.conditions.duration?;
        if m == 0 || m >= n || problem.conditions.holonomic > 0 {
            return None;
        }
        let (q0, q1, duration) = straight_ends(problem);
        let slope: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| (b - a) / duration).collect();
        let t0 = problem.conditions.t0;
        let rows = problem.constraints(t0, &q0, &slope).1.to_vec();
        let dependent = pivots(rows, n)?;
        let free: Vec<usize> = (0..n).filter(|k| !dependent.contains(k)).collect();
        let size = |&k: &usize| {
            let size = (q1[k] - q0[k]).abs();
            if size > 1e-9 { size } else { 1.0 }
        };
        let sizes = free.iter().map(size).collect();
        let given = |k: &&usize| problem.conditions.last[**k].is_some();
        let targets = dependent.iter().filter(given).copied().collect();
        Some(Self { dependent, free, sizes, targets })
    }

    /// Where the amplitudes begin: one coordinate, one number of half waves, either sign.
    pub(crate) fn firsts(&self) -> Vec<Vec<f64>> {
        let mut firsts = Vec::new();
        for size in SIZES {
            for f in 0..self.free.len() {
                for j in 0..FIRST_WAVES {
                    for sign in [1.0, -1.0] {
                        let mut a = vec![0.0; self.free.len() * MODES];
                        a[f * MODES + j] = sign * size * self.sizes[f];
                        firsts.push(a);
                    }
                }
            }
        }
        firsts
    }

    /// The curve near these amplitudes that arrives; `None` if there is none.
    pub(crate) fn arriving(&self, problem: &mut Canonical, first: &[f64]) -> Option<Vec<f64>> {
        let mut a = first.to_vec();
        let (rows, columns) = (self.targets.len(), a.len());
        for _ in 0..ITERATIONS {
            let nodes = self.curve(problem, &a)?;
            let miss = self.miss(problem, &nodes);
            let size = nodes.iter().fold(1e-9_f64, |m, x| m.max(x.abs()));
            if miss.iter().all(|x| x.abs() <= NEAR * size) {
                return Some(nodes);
            }
            let mut slopes = vec![0.0; rows * columns];
            for c in 0..columns {
                let step = 1e-6 * self.sizes[c / MODES];
                let mut moved = a.clone();
                moved[c] += step;
                let nodes = self.curve(problem, &moved)?;
                for (r, (x, y)) in self.miss(problem, &nodes).iter().zip(&miss).enumerate() {
                    slopes[r * columns + c] = (x - y) / step;
                }
            }
            let right: Vec<f64> = miss.iter().map(|x| -x).collect();
            let change = least_squares(&slopes, rows, columns, &right, 1e-10).x;
            // NOTE: a change of more than a turn leaves the neighbourhood in which it was computed.
            let parts =
                change.iter().enumerate().map(|(c, x)| (x / self.sizes[c / MODES]).abs());
            let largest = parts.fold(0.0_f64, f64::max);
            let part = if largest > 1.0 { 1.0 / largest } else { 1.0 };
            a.iter_mut().zip(&change).for_each(|(a, x)| *a += part * x);
            let too_far = |(c, a): (usize, &f64)| a.abs() > LARGEST * self.sizes[c / MODES];
            if !part.is_finite() || a.iter().enumerate().any(too_far) {
                return None;
            }
        }
        None
    }

    /// How far the dependent coordinates are from where they should arrive.
    fn miss(&self, problem: &Canonical, nodes: &[f64]) -> Vec<f64> {
        let n = problem.n;
        let end = &nodes[nodes.len() - n..];
        let place = |k: &usize| end[*k] - problem.conditions.last[*k].unwrap_or(end[*k]);
        self.targets.iter().map(place).collect()
    }

    /// Positions on an even mesh, by the classical Runge–Kutta method.
    fn curve(&self, problem: &mut Canonical, a: &[f64]) -> Option<Vec<f64>> {
        let (q0, q1, duration) = straight_ends(problem);
        let t0 = problem.conditions.t0;
        // Positions and velocities of the free coordinates.
        let given = |s: f64, f: usize| {
            let k = self.free[f];
            let (mut q, mut v) = (q0[k] + s * (q1[k] - q0[k]), q1[k] - q0[k]);
            for j in 0..MODES {
                let wave = PI * (j + 1) as f64;
                q += a[f * MODES + j] * libm::sin(wave * s);
                v += a[f * MODES + j] * wave * libm::cos(wave * s);
            }
            (q, v / duration)
        };
        let mut velocity = q0.iter().zip(&q1).map(|(a, b)| (b - a) / duration).collect();
        let mut rates = |s: f64, dependent: &[f64]| -> Option<(Vec<f64>, Vec<f64>)> {
            let mut q = q0.clone();
            let v: &mut Vec<f64> = &mut velocity;
            for f in 0..self.free.len() {
                (q[self.free[f]], v[self.free[f]]) = given(s, f);
            }
            self.dependent.iter().zip(dependent).for_each(|(&k, x)| q[k] = *x);
            self.solve(problem, t0 + s * duration, &q, v)?;
            Some((q, self.dependent.iter().map(|&k| duration * v[k]).collect()))
        };
        let mut x: Vec<f64> = self.dependent.iter().map(|&k| q0[k]).collect();
        let h = 1.0 / INTERVALS as f64;
        let mut nodes = Vec::with_capacity((INTERVALS + 1) * q0.len());
        let along = |x: &[f64], part: f64, k: &[f64]| -> Vec<f64> {
            x.iter().zip(k).map(|(x, k)| x + part * k).collect()
        };
        for i in 0..=INTERVALS {
            let s = i as f64 * h;
            let (q, k1) = rates(s, &x)?;
            nodes.extend(q);
            if i < INTERVALS {
                let (_, k2) = rates(s + 0.5 * h, &along(&x, 0.5 * h, &k1))?;
                let (_, k3) = rates(s + 0.5 * h, &along(&x, 0.5 * h, &k2))?;
                let (_, k4) = rates(s + h, &along(&x, h, &k3))?;
                for (r, x) in x.iter_mut().enumerate() {
                    *x += h / 6.0 * (k1[r] + 2.0 * k2[r] + 2.0 * k3[r] + k4[r]);
                }
            }
        }
        nodes.iter().all(|x| x.is_finite()).then_some(nodes)
    }

    /// Solves the constraints for the dependent velocities.
    fn solve(&self, problem: &mut Canonical, t: f64, q: &[f64], v: &mut [f64]) -> Option<()> {
        let (n, m) = (problem.n, problem.m);
        let mut lu = Lu::new(m);
        for _ in 0..8 {
            let (residual, rows) = problem.constraints(t, q, v);
            let mut x: Vec<f64> = residual.to_vec();
            let size = x.iter().fold(0.0_f64, |m, r| m.max(r.abs()));
            if size <= 1e-10 {
                return Some(());
            }
            let matrix: Vec<f64> = (0..m)
                .flat_map(|a| self.dependent.iter().map(move |&k| rows[a * n + k]))
                .collect();
            lu.factor(m, &matrix).ok()?;
            lu.solve(&mut x);
            self.dependent.iter().zip(&x).for_each(|(&k, x)| v[k] -= x);
            if v.iter().any(|v| !v.is_finite()) {
                return None;
            }
        }
        None
    }
}

/// Independent columns of a matrix with `n` columns, as many as it has rows, by elimination with full pivoting.
fn pivots(mut rows: Vec<f64>, n: usize) -> Option<Vec<usize>> {
    let m = rows.len() / n;
    let largest = rows.iter().fold(0.0_f64, |l, x| l.max(x.abs()));
    let (mut taken, mut columns) = (vec![false; m], Vec::new());
    for _ in 0..m {
        let open = (0..m).filter(|a| !taken[*a]);
        let places = open.flat_map(|a| (0..n).map(move |k| (a, k)));
        // NOTE: of equal entries the last one counts: what is written last is usually what follows.
        let (a, k) = places
            .max_by(|x, y| rows[x.0 * n + x.1].abs().total_cmp(&rows[y.0 * n + y.1].abs()))?;
        let pivot = rows[a * n + k];
        if pivot.abs() <= 1e-9 * largest {
            return None;
        }
        taken[a] = true;
        columns.push(k);
        let own: Vec<f64> = rows[a * n..(a + 1) * n].to_vec();
        for b in (0..m).filter(|b| !taken[*b]) {
            let factor = rows[b * n + k] / pivot;
            rows[b * n..(b + 1) * n].iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    columns.sort_unstable();
    Some(columns)
}
