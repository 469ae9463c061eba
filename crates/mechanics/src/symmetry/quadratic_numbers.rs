//! Whether a quadratic integral is to be looked for at all, by numbers.
//!
//! At random states that the constraints allow, (K) is solved for the accelerations, and the rates of the ansatz
//! $c^{ab}(q)\,\dot q_a\dot q_b + h(q)$ are computed. Where no combination stands still but those that are known, there
//! is nothing to be derived and proved. It costs a small part of that.

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use super::ansatz::somewhere;
use super::null_space::NullSpace;
use crate::equations::{Class, Equations};

/// Points in a row that say nothing new, after which there is nothing new.
const IDLE: usize = 4;
/// Pivots below this fraction of the largest coefficient are no pivots.
const PIVOT: f64 = 1e-9;

/// Whether some combination of the ansatz may be kept that is none of known quantities and their products in pairs:
/// a sure "no" otherwise. `varies` says whether the coefficients do.
pub(super) fn may_be_new(
    model: &Workspace,
    equations: &Equations,
    potential: Expr,
    known: &[Expr],
    varies: bool,
) -> bool {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let (n, m) = (q.len(), equations.residual.len());
    if equations.classes.contains(&Class::Nonlinear) {
        return false;
    }
    let slopes = g.gradient(potential, &q);
    // Those of the state before the velocities are brought onto the constraints, and those after it.
    let before: Vec<Expr> =
        equations.jacobian.iter().flatten().chain(&equations.residual).copied().collect();
    let mut after: Vec<Expr> = equations.mass.concat();
    after.extend(equations.directions.iter().flatten());
    after.extend(equations.jacobian.iter().flatten());
    after.extend(equations.force.iter().chain(&equations.drift));
    after.push(potential);
    after.extend(&slopes);
    after.extend(known);
    if after.iter().any(|&e| g.contains(e, &[model.time])) {
        return false;
    }
    let (mut first, mut second) = (g.evaluator(&before), g.evaluator(&after));
    let mut space: Option<NullSpace> = None;
    let mut states: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let mut idle = 0;
    for point in 0.. {
        // NOTE: between −1 and 1, where powers differ most: the ranks of rows are told by their sizes.
        let place = |s: Expr| 2.0 * somewhere(g, s, point) - 1.4;
        let at: Vec<f64> = q.iter().map(|&s| place(s)).collect();
        let mut speed: Vec<f64> = v.iter().map(|&s| place(s)).collect();
        let value = |s: Expr, speed: &[f64]| {
            let known = |list: &[Expr]| list.iter().position(|&x| x == s);
            match (known(&q), known(&v)) {
                (Some(k), _) => at[k],
                (_, Some(k)) => speed[k],
                (None, None) => somewhere(g, s, point),
            }
        };
        let rows = first.at(&|s| value(s, &speed));
        let moved = allowed(&rows, &mut speed, m);
        let values = second.at(&|s| value(s, &speed));
        let (matrices, rest) = values.split_at(n * n + 2 * m * n);
        let (right, rest) = rest.split_at(n + m);
        let x = if moved { solved(saddle(matrices, right, n, m)) } else { None };
        let Some(x) = x.filter(|x| x.iter().chain(rest).all(|x| x.is_finite())) else {
            // NOTE: redundant constraints are singular everywhere.
            if point > 500 || (states.is_empty() && point > 20) {
                return true;
            }
            continue;
        };
        let (h, own) = rest.split_at(1 + n);
        let state = Terms { q: &at, v: &speed, a: &x[..n], potential: h[0], slopes: &h[1..] };
        let terms = state.terms(varies);
        let (function, rate): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
        let space = space.get_or_insert_with(|| NullSpace::new(rate.len()));
        idle = if space.add(rate) { 0 } else { idle + 1 };
        if space.dimension() == 0 {
            return false;
        }
        states.push((products(own), function));
        let known = states[0].0.len();
        if idle >= IDLE && states.len() >= known + 2 {
            break;
        }
    }
    let Some(space) = space else { return false };
    let rank = |sum: &dyn Fn(&[f64]) -> Option<f64>| {
        let columns = states[0].0.len() + usize::from(sum(&states[0].1).is_some());
        let mut space = NullSpace::new(columns);
        for (known, function) in &states {
            space.add(known.iter().copied().chain(sum(function)).collect());
        }
        columns - space.dimension()
    };
    let alone = rank(&|_| None);
    let is_new = |c: &Vec<f64>| {
        let sum = |f: &[f64]| Some(f.iter().zip(c).map(|(x, c)| x * c).sum::<f64>());
        rank(&sum) > alone
    };
    space.basis().iter().any(is_new)
}

/// Numbers of a state, with accelerations and the slopes of the potential.
struct Terms<'a> {
    q: &'a [f64],
    v: &'a [f64],
    a: &'a [f64],
    potential: f64,
    slopes: &'a [f64],
}

impl Terms<'_> {
    /// The values and rates of the ansatz.
    fn terms(&self, varies: bool) -> Vec<(f64, f64)> {
        let pairs = |x: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let mut all = Vec::new();
            for (i, &a) in x.iter().enumerate() {
                all.extend(x[i..].iter().map(|&b| times(a, b)));
            }
            all
        };
        let with_rates = |x: &[f64], rate: &[f64]| -> Vec<(f64, f64)> {
            x.iter().copied().zip(rate.iter().copied()).collect()
        };
        let (q, v) = (with_rates(self.q, self.v), with_rates(self.v, self.a));
        let squares = pairs(&v);
        let mut factors = vec![(1.0, 0.0)];
        if varies {
            factors.extend(q.iter().copied().chain(pairs(&q)));
        }
        let mut all: Vec<(f64, f64)> = Vec::new();
        for &f in &factors {
            all.extend(squares.iter().map(|&s| times(f, s)));
        }
        let slope = self.slopes.iter().zip(self.v).map(|(s, v)| s * v).sum::<f64>();
        let potential = (self.potential, slope);
        all.extend(pairs(&q));
        all.extend(&q);
        all.extend(q.iter().map(|&q| times(potential, q)));
        all.push(potential);
        all
    }
}

/// Product of two values with rates.
fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0, a.1 * b.0 + a.0 * b.1)
}

/// 1, the numbers, and their products in pairs.
fn products(x: &[f64]) -> Vec<f64> {
    let mut all = vec![1.0];
    all.extend(x);
    for (i, a) in x.iter().enumerate() {
        all.extend(x[i..].iter().map(|b| a * b));
    }
    all
}

/// Brings velocities onto $A\dot q + a = 0$, given $A$ and what the constraints leave; false where that fails.
fn allowed(rows: &[f64], v: &mut [f64], m: usize) -> bool {
    let n = v.len();
    let (a, off) = rows.split_at(m * n);
    let normal = (0..m).map(|i| {
        let row = &a[i * n..][..n];
        let dot = |j: usize| row.iter().zip(&a[j * n..][..n]).map(|(x, y)| x * y).sum::<f64>();
        (0..m).map(dot).chain([off[i]]).collect()
    });
    let Some(y) = solved(normal.collect()) else { return false };
    for (k, v) in v.iter_mut().enumerate() {
        *v -= (0..m).map(|i| a[i * n + k] * y[i]).sum::<f64>();
    }
    true
}

/// The rows of (K) with their right sides.
fn saddle(matrices: &[f64], right: &[f64], n: usize, m: usize) -> Vec<Vec<f64>> {
    let (mass, rest) = matrices.split_at(n * n);
    let (directions, jacobian) = rest.split_at(m * n);
    let motion = (0..n).map(|k| {
        let reactions = (0..m).map(|c| -directions[c * n + k]);
        mass[k * n..][..n].iter().copied().chain(reactions).chain([right[k]]).collect()
    });
    let held = (0..m).map(|c| {
        let zeros = std::iter::repeat_n(0.0, m);
        jacobian[c * n..][..n].iter().copied().chain(zeros).chain([right[n + c]]).collect()
    });
    motion.chain(held).collect()
}

/// The solution of linear equations whose right sides stand last; `None` where they are singular.
fn solved(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    let size = rows.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))?;
        rows.swap(k, best);
        // NOTE: written so that what is not a number is no pivot.
        let is_sound = rows[k][k].abs() > PIVOT * size;
        if !is_sound {
            return None;
        }
        let pivot = rows[k].clone();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    Some(x)
}
