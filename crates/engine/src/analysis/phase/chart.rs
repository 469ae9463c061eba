//! Independent coordinates of the constraint manifold.
//!
//! $\varphi(t, q) = 0$ gives some of the positions and $\psi(t, q, \dot q) = 0$ some of the velocities as functions of
//! the others, $z$. With the embedding $y = Y(z)$ and its derivative $T$, the flow is $\dot z = P\,f(Y(z))$, where $P$
//! takes the components of $z$ out of $y$, and
//!
//! $$ \frac{\partial\dot z}{\partial z} = P\,\frac{\partial f}{\partial y}\,T. \qquad (\mathrm C) $$

use pfaff_solver::{EvalError, Lu};

use crate::analysis::phase::field::{Field, FieldPoint, ParameterPoint, Rows};

/// Pivots below this part of a row count as zero.
const NOTHING: f64 = 1e-9;
/// A preferred pivot is taken if it is at least this part of the largest entry.
const ACCEPTABLE: f64 = 0.05;
const ITERATIONS: usize = 30;
/// How far beside a point it is looked whether constraints repeat each other there, too.
const BESIDE: f64 = 1e-4;

/// Which components of the state follow from the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chart {
    /// Rows of $\varphi$, and the components of the state that they give.
    positions: (Vec<usize>, Vec<usize>),
    /// Rows of $\psi$, and the components of the state that they give.
    velocities: (Vec<usize>, Vec<usize>),
    /// The other components.
    pub(crate) free: Vec<usize>,
}

/// The flow in a chart at a state.
#[derive(Clone, Debug)]
pub(crate) struct ChartPoint {
    /// $T$ by rows.
    pub(crate) tangent: Vec<f64>,
    /// (C) by rows.
    pub(crate) matrix: Vec<f64>,
    /// The sum of the magnitudes whose sum is each entry.
    pub(crate) scale: Vec<f64>,
}

/// Rows and columns of pivots, the columns tried in the given order.
fn pivots(rows: &Rows, width: usize, columns: &[usize]) -> Vec<(usize, usize)> {
    let k = rows.values.len();
    let mut a = rows.slopes.clone();
    for row in a.chunks_mut(width) {
        let largest = columns.iter().fold(0.0_f64, |m, &c| m.max(row[c].abs()));
        if largest > 0.0 {
            row.iter_mut().for_each(|x| *x /= largest);
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for part in [ACCEPTABLE, NOTHING] {
        for &c in columns {
            if found.iter().any(|&(_, used)| used == c) {
                continue;
            }
            let left: Vec<usize> =
                (0..k).filter(|r| !found.iter().any(|(used, _)| used == r)).collect();
            let entry = |r: usize| a[r * width + c].abs();
            let Some(&r) = left.iter().max_by(|&&r, &&s| entry(r).total_cmp(&entry(s))) else {
                return found;
            };
            let largest = left
                .iter()
                .flat_map(|&r| columns.iter().map(move |&c| (r, c)))
                .fold(0.0_f64, |m, (r, c)| m.max(a[r * width + c].abs()));
            if entry(r) <= (part * largest).max(NOTHING) {
                continue;
            }
            let pivot = a[r * width..(r + 1) * width].to_vec();
            for &other in left.iter().filter(|&&other| other != r) {
                let l = a[other * width + c] / pivot[c];
                let row = &mut a[other * width..(other + 1) * width];
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= l * p);
                row[c] = 0.0;
            }
            found.push((r, c));
        }
    }
    found
}

impl Chart {
    /// The chart in which the first coordinates of an order that can follow from the others do so.
    pub(crate) fn new(field: &Field, point: &FieldPoint, order: &[usize]) -> Self {
        let (n, d) = (field.n, field.size());
        let columns: Vec<usize> = order.iter().map(|&k| n + k).collect();
        let found =
            if field.m == 0 { Vec::new() } else { pivots(&point.velocities, d, &columns) };
        let velocities: (Vec<usize>, Vec<usize>) = found.into_iter().unzip();
        let mut columns: Vec<usize> = velocities.1.iter().map(|c| c - n).collect();
        columns.extend((0..n).filter(|k| !velocities.1.contains(&(n + k))));
        let found =
            if field.m == 0 { Vec::new() } else { pivots(&point.positions, d, &columns) };
        let positions: (Vec<usize>, Vec<usize>) = found.into_iter().unzip();
        let given = |c: &usize| positions.1.contains(c) || velocities.1.contains(c);
        let free = (0..d).filter(|c| !given(c)).collect();
        Self { positions, velocities, free }
    }

    /// $T$ at a state; `None` where the chart ends.
    pub(crate) fn tangent(&self, point: &FieldPoint) -> Option<Vec<f64>> {
        let (d, r) = (point.y.len(), self.free.len());
        let mut tangent = vec![0.0; d * r];
        self.free.iter().enumerate().for_each(|(j, &c)| tangent[c * r + j] = 1.0);
        let levels =
            [(&self.positions, &point.positions), (&self.velocities, &point.velocities)];
        for ((rows, columns), values) in levels {
            let k = rows.len();
            let lu = factored(rows, columns, values, d)?;
            for j in 0..r {
                let mut right = vec![0.0; k];
                for (x, &row) in right.iter_mut().zip(rows) {
                    let slopes = values.slopes[row * d..(row + 1) * d].iter();
                    *x = -slopes.enumerate().map(|(c, a)| a * tangent[c * r + j]).sum::<f64>();
                }
                lu.solve(&mut right);
                columns.iter().zip(&right).for_each(|(&c, x)| tangent[c * r + j] = *x);
            }
        }
        Some(tangent)
    }

    /// $\partial Y/\partial p$ by rows: how the components that follow change with parameters of the constraints.
    pub(crate) fn shift(&self, point: &FieldPoint, by: &ParameterPoint) -> Option<Vec<f64>> {
        let (d, k) = (point.y.len(), by.count);
        let mut shift = vec![0.0; d * k];
        let levels = [
            (&self.positions, &point.positions, &by.positions),
            (&self.velocities, &point.velocities, &by.velocities),
        ];
        for ((rows, columns), values, slopes) in levels {
            let lu = factored(rows, columns, values, d)?;
            for j in 0..k {
                let right = |&row: &usize| {
                    let terms = values.slopes[row * d..(row + 1) * d].iter().enumerate();
                    let moved = terms.map(|(c, a)| a * shift[c * k + j]).sum::<f64>();
                    -(moved + slopes[row * k + j])
                };
                let mut right: Vec<f64> = rows.iter().map(right).collect();
                lu.solve(&mut right);
                columns.iter().zip(&right).for_each(|(&c, x)| shift[c * k + j] = *x);
            }
        }
        Some(shift)
    }

    /// Rows of $\varphi$ and $\psi$ with the components that they give.
    pub(crate) fn dependents(&self) -> [(&[usize], &[usize]); 2] {
        [&self.positions, &self.velocities].map(|(rows, columns)| (&rows[..], &columns[..]))
    }

    /// (C) at a state; `None` where the chart ends.
    pub(crate) fn at(&self, point: &FieldPoint) -> Option<ChartPoint> {
        let (d, r) = (point.y.len(), self.free.len());
        let tangent = self.tangent(point)?;
        let (mut matrix, mut scale) = (vec![0.0; r * r], vec![0.0; r * r]);
        for (i, &row) in self.free.iter().enumerate() {
            for (k, &f) in point.jacobian[row * d..(row + 1) * d].iter().enumerate() {
                for j in 0..r {
                    let term = f * tangent[k * r + j];
                    matrix[i * r + j] += term;
                    scale[i * r + j] += term.abs();
                }
            }
        }
        Some(ChartPoint { tangent, matrix, scale })
    }

    /// Whether constraints that follow from the others at a point do not do so beside it: there a state that the chart
    /// gives violates them, by the square of its distance.
    pub(crate) fn is_singular(&self, field: &mut Field, point: &FieldPoint) -> bool {
        let kept = [self.positions.0.len(), self.velocities.0.len()];
        if kept == [point.positions.values.len(), point.velocities.values.len()] {
            return false;
        }
        let n = field.n;
        [1.0, -0.6].into_iter().any(|sign: f64| {
            let (mut y, mut factor) = (point.y.clone(), BESIDE);
            for &c in self.free.iter().filter(|&&c| c < n) {
                y[c] += factor * (1.0 + point.y[c].abs());
                factor *= sign;
            }
            if self.complete(field, point.t, &mut y).is_err() {
                return true;
            }
            let off = field.constraints(point.t, &y).map(|[positions, _]| {
                let size = positions.slopes.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
                positions.values.iter().fold(0.0_f64, |m, x| m.max(x.abs())) / size
            });
            off.is_ok_and(|off| off > 1e-3 * BESIDE * BESIDE)
        })
    }

    /// Solves for the components that follow, from their present values.
    pub(crate) fn complete(
        &self,
        field: &mut Field,
        t: f64,
        y: &mut [f64],
    ) -> Result<(), EvalError> {
        let d = y.len();
        for level in 0..2 {
            let (rows, columns) = if level == 0 { &self.positions } else { &self.velocities };
            if rows.is_empty() {
                continue;
            }
            let mut last = f64::INFINITY;
            let mut settled = false;
            for _ in 0..ITERATIONS {
                let values = &field.constraints(t, y)?[level];
                let lu = factored(rows, columns, values, d).ok_or(EvalError::Singular)?;
                let mut δ: Vec<f64> = rows.iter().map(|&row| values.values[row]).collect();
                lu.solve(&mut δ);
                let mut change = 0.0_f64;
                for (&c, δ) in columns.iter().zip(&δ) {
                    y[c] -= δ;
                    change = change.max(δ.abs() / (1.0 + y[c].abs()));
                }
                if !change.is_finite() {
                    return Err(EvalError::NotFinite);
                }
                if change < 1e-15 || (change < 1e-12 && change >= 0.5 * last) {
                    settled = true;
                    break;
                }
                last = change;
            }
            if !settled {
                return Err(EvalError::Singular);
            }
        }
        Ok(())
    }
}

/// The factors of some rows and columns of a level.
fn factored(rows: &[usize], columns: &[usize], values: &Rows, d: usize) -> Option<Lu> {
    let k = rows.len();
    let block: Vec<f64> = rows
        .iter()
        .flat_map(|&row| columns.iter().map(move |&c| row * d + c))
        .map(|at| values.slopes[at])
        .collect();
    let mut lu = Lu::new(k);
    lu.factor(k, &block).ok()?;
    Some(lu)
}
