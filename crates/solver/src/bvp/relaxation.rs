//! A path made shorter: nodes between two ends are moved until a discretised action is least nearby.
//!
//! $$ S_h = \sum_i h\,L\Big(s_i + \tfrac h2,\ \frac{q_i + q_{i+1}}2,\ \frac{q_{i+1} - q_i}h\Big), \qquad
//!    (\nabla^2 S_h + \sigma K)\,\delta = -\nabla S_h \qquad (\mathrm{RX}) $$
//!
//! $K$ is the part of $\nabla^2 S_h$ from $L_{vv}$ alone, so that σ has no unit. It grows where
//! the matrix is not positive or the action does not fall: a step always leads downhill. What is found
//! is a minimum, where Newton's iteration for the equations of motion goes to any stationary path.

use crate::ode::system::EvalError;

/// A Lagrangian as a function of the place $s$, positions and velocities $dq/ds$.
pub trait DiscreteAction {
    /// Number of positions.
    fn size(&self) -> usize;

    /// $L$
    ///
    /// # Errors
    ///
    /// [`EvalError`] if it has no value there.
    fn value(&mut self, s: f64, q: &[f64], v: &[f64]) -> Result<f64, EvalError>;

    /// The first and second derivatives of $L$.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if they have no value there.
    fn derivatives(
        &mut self,
        s: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<LagrangianDerivatives, EvalError>;
}

/// Derivatives of a Lagrangian; matrices by rows.
#[derive(Clone, Debug, Default)]
pub struct LagrangianDerivatives {
    /// $L_q$
    pub by_q: Vec<f64>,
    /// $L_v$
    pub by_v: Vec<f64>,
    /// $L_{qq}$
    pub by_qq: Vec<f64>,
    /// $L_{vq}$, a row for each velocity
    pub by_vq: Vec<f64>,
    /// $L_{vv}$
    pub by_vv: Vec<f64>,
}

/// Steps of (RX).
const STEPS: usize = 80;
/// A part of the action that is no longer worth a step.
const SETTLED: f64 = 1e-8;
/// The largest damping; beyond it no step leads downhill.
const MOST_DAMPED: f64 = 1e9;
/// A path that grows by this factor has no minimum to go to.
const LOST: f64 = 1e3;

/// Moves the nodes of a path, one after another in `path`, on an even mesh. Those marked as `fixed` at the first and
/// the last node stay. None if the path leaves all bounds or its action has no value.
pub fn relaxed(
    action: &mut dyn DiscreteAction,
    path: &[f64],
    fixed: [&[bool]; 2],
) -> Option<Vec<f64>> {
    let n = action.size();
    let mut path = path.to_vec();
    let bound = LOST * path.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
    let mut here = sum(action, n, &path).ok()?;
    let mut σ = 1.0;
    for _ in 0..STEPS {
        let model = Quadratic::new(action, n, &path, fixed).ok()?;
        let before = here;
        while σ < MOST_DAMPED {
            let moved = model
                .step(σ)
                .map(|δ| path.iter().zip(&δ).map(|(q, δ)| q + δ).collect::<Vec<f64>>());
            let next = moved.and_then(|moved| Some((sum(action, n, &moved).ok()?, moved)));
            match next {
                Some((value, moved)) if value < here => {
                    (here, path) = (value, moved);
                    σ *= 0.25;
                    break;
                }
                _ => σ *= 4.0,
            }
        }
        if path.iter().any(|q| q.abs() > bound) {
            return None;
        }
        let gained = before - here;
        if gained <= SETTLED * (before.abs() + here.abs()) {
            break;
        }
    }
    Some(path)
}

/// The middle of an interval: place, positions, velocities.
fn middle(n: usize, path: &[f64], i: usize) -> (f64, Vec<f64>, Vec<f64>) {
    let h = interval(n, path);
    let (a, b) = (&path[i * n..(i + 1) * n], &path[(i + 1) * n..(i + 2) * n]);
    let q = a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect();
    let v = a.iter().zip(b).map(|(a, b)| (b - a) / h).collect();
    ((i as f64 + 0.5) * h, q, v)
}

fn interval(n: usize, path: &[f64]) -> f64 {
    1.0 / (path.len() / n - 1) as f64
}

/// $S_h$
fn sum(action: &mut dyn DiscreteAction, n: usize, path: &[f64]) -> Result<f64, EvalError> {
    let mut sum = 0.0;
    for i in 0..path.len() / n - 1 {
        let (s, q, v) = middle(n, path, i);
        sum += action.value(s, &q, &v)?;
    }
    if sum.is_finite() { Ok(interval(n, path) * sum) } else { Err(EvalError::NotFinite) }
}

/// $\nabla S_h$, and the lower bands of $\nabla^2 S_h$ and $K$.
struct Quadratic {
    slope: Vec<f64>,
    curvature: Band,
    kinetic: Band,
}

impl Quadratic {
    fn new(
        action: &mut dyn DiscreteAction,
        n: usize,
        path: &[f64],
        fixed: [&[bool]; 2],
    ) -> Result<Self, EvalError> {
        let size = path.len();
        let h = interval(n, path);
        let mut slope = vec![0.0; size];
        let mut curvature = Band::new(size, 2 * n);
        let mut kinetic = Band::new(size, 2 * n);
        for i in 0..size / n - 1 {
            let (s, q, v) = middle(n, path, i);
            let L = action.derivatives(s, &q, &v)?;
            // ∂q/∂(node) is a half, ∂v/∂(node) is ∓1/h.
            for (a, by_a) in [(0, -1.0 / h), (1, 1.0 / h)] {
                for k in 0..n {
                    let row = (i + a) * n + k;
                    slope[row] += h * (0.5 * L.by_q[k] + by_a * L.by_v[k]);
                    for (b, by_b) in [(0, -1.0 / h), (1, 1.0 / h)] {
                        for l in 0..n {
                            let column = (i + b) * n + l;
                            if column > row {
                                continue;
                            }
                            let kinetic_part = h * by_a * by_b * L.by_vv[k * n + l];
                            let rest = 0.25 * L.by_qq[k * n + l]
                                + 0.5 * by_a * L.by_vq[k * n + l]
                                + 0.5 * by_b * L.by_vq[l * n + k];
                            kinetic.add(row, column, kinetic_part);
                            curvature.add(row, column, kinetic_part + h * rest);
                        }
                    }
                }
            }
        }
        let last = size - n;
        for (start, fixed) in [(0, fixed[0]), (last, fixed[1])] {
            for k in (0..n).filter(|&k| fixed[k]) {
                slope[start + k] = 0.0;
                curvature.fix(start + k);
                kinetic.fix(start + k);
            }
        }
        Ok(Self { slope, curvature, kinetic })
    }

    /// δ of (RX); none if the matrix is not positive.
    fn step(&self, σ: f64) -> Option<Vec<f64>> {
        let mut matrix = self.curvature.clone();
        matrix.entries.iter_mut().zip(&self.kinetic.entries).for_each(|(a, b)| *a += σ * b);
        let mut δ: Vec<f64> = self.slope.iter().map(|g| -g).collect();
        matrix.factor()?;
        matrix.solve(&mut δ);
        Some(δ)
    }
}

/// The lower half of a symmetric matrix with few diagonals.
#[derive(Clone, Debug)]
struct Band {
    size: usize,
    /// Diagonals, the main one among them.
    width: usize,
    /// By rows, the main diagonal last.
    entries: Vec<f64>,
}

impl Band {
    fn new(size: usize, width: usize) -> Self {
        Self { size, width, entries: vec![0.0; size * width] }
    }

    fn place(&self, row: usize, column: usize) -> usize {
        row * self.width + self.width - 1 - (row - column)
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        let place = self.place(row, column);
        self.entries[place] += value;
    }

    /// Makes a row and its column those of the unit matrix.
    fn fix(&mut self, k: usize) {
        for other in k.saturating_sub(self.width - 1)..(k + self.width).min(self.size) {
            let place = self.place(k.max(other), k.min(other));
            self.entries[place] = if other == k { 1.0 } else { 0.0 };
        }
    }

    /// Cholesky's factor instead of the matrix; none if it is not positive.
    fn factor(&mut self) -> Option<()> {
        for row in 0..self.size {
            let begin = row.saturating_sub(self.width - 1);
            for column in begin..=row {
                let from = begin.max(column.saturating_sub(self.width - 1));
                let mut rest = self.entries[self.place(row, column)];
                for k in from..column {
                    rest -=
                        self.entries[self.place(row, k)] * self.entries[self.place(column, k)];
                }
                let place = self.place(row, column);
                self.entries[place] = if column < row {
                    rest / self.entries[self.place(column, column)]
                } else if rest > 0.0 {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(())
    }

    fn solve(&self, b: &mut [f64]) {
        for row in 0..self.size {
            for k in row.saturating_sub(self.width - 1)..row {
                b[row] -= self.entries[self.place(row, k)] * b[k];
            }
            b[row] /= self.entries[self.place(row, row)];
        }
        for row in (0..self.size).rev() {
            b[row] /= self.entries[self.place(row, row)];
            for k in row.saturating_sub(self.width - 1)..row {
                b[k] -= self.entries[self.place(row, k)] * b[row];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $v^2/2 + c\,q_0 q_1 - q\cdot f$ of two positions: the minimum satisfies $q'' = (c\,q_1 - f_0, c\,q_0 - f_1)$.
    struct Coupled;

    impl DiscreteAction for Coupled {
        fn size(&self) -> usize {
            2
        }

        fn value(&mut self, _: f64, q: &[f64], v: &[f64]) -> Result<f64, EvalError> {
            Ok(0.5 * (v[0] * v[0] + v[1] * v[1]) + 2.0 * q[0] * q[1] - q[0] - 3.0 * q[1])
        }

        fn derivatives(
            &mut self,
            _: f64,
            q: &[f64],
            v: &[f64],
        ) -> Result<LagrangianDerivatives, EvalError> {
            Ok(LagrangianDerivatives {
                by_q: vec![2.0 * q[1] - 1.0, 2.0 * q[0] - 3.0],
                by_v: v.to_vec(),
                by_qq: vec![0.0, 2.0, 2.0, 0.0],
                by_vq: vec![0.0; 4],
                by_vv: vec![1.0, 0.0, 0.0, 1.0],
            })
        }
    }

    #[test]
    fn a_quadratic_action_is_least_on_its_motion() {
        let pieces = 16_usize;
        let path = vec![0.5; 2 * (pieces + 1)];
        let (all, free) = ([true, true], [false, true]);
        let q = relaxed(&mut Coupled, &path, [&all, &free]).expect("it has a minimum");
        assert_eq!((q[0], q[1], q[2 * pieces + 1]), (0.5, 0.5, 0.5));
        let h2 = 1.0 / (pieces * pieces) as f64;
        let mean = |i: usize, k: usize| {
            0.25 * (q[2 * i - 2 + k] + 2.0 * q[2 * i + k] + q[2 * i + 2 + k])
        };
        for i in 1..pieces {
            for k in 0..2 {
                let second = (q[2 * i - 2 + k] - 2.0 * q[2 * i + k] + q[2 * i + 2 + k]) / h2;
                let wanted = 2.0 * mean(i, 1 - k) - [1.0, 3.0][k];
                // The action settles to 1e-8 of itself, positions to its root.
                assert!((second - wanted).abs() < 1e-3, "{second} {wanted}");
            }
        }
        // Free at the end: no momentum there, up to half an interval.
        let slope = (q[2 * pieces] - q[2 * pieces - 2]) * pieces as f64;
        let force = 2.0 * 0.5 * (q[2 * pieces + 1] + q[2 * pieces - 1]) - 1.0;
        assert!((slope + 0.5 * force / pieces as f64).abs() < 1e-4, "{slope}");
    }

    /// $v^2/2 - 8 q^2$ on a unit interval falls without bound: π² < 16.
    struct Unbounded;

    impl DiscreteAction for Unbounded {
        fn size(&self) -> usize {
            1
        }

        fn value(&mut self, _: f64, q: &[f64], v: &[f64]) -> Result<f64, EvalError> {
            Ok(0.5 * v[0] * v[0] - 8.0 * q[0] * q[0])
        }

        fn derivatives(
            &mut self,
            _: f64,
            q: &[f64],
            v: &[f64],
        ) -> Result<LagrangianDerivatives, EvalError> {
            Ok(LagrangianDerivatives {
                by_q: vec![-16.0 * q[0]],
                by_v: v.to_vec(),
                by_qq: vec![-16.0],
                by_vq: vec![0.0],
                by_vv: vec![1.0],
            })
        }
    }

    #[test]
    fn an_action_without_a_minimum_has_no_path() {
        let arch: Vec<f64> =
            (0..=16).map(|i| libm::sin(std::f64::consts::PI * f64::from(i) / 16.0)).collect();
        assert_eq!(relaxed(&mut Unbounded, &arch, [&[true], &[true]]), None);
    }
}
