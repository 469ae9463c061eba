//! The second variation along a path: is it a minimum?
//!
//! Fields of variations $(\delta q, \delta p)$ that satisfy the conditions at the start span n directions.
//! Where some of them have $\delta q(s) = 0$, the path has a conjugate (or focal) point, and beyond
//! it is no minimum. Without such points, with $\mathcal L_{\dot q\dot q}$ positive on the admissible
//! velocities (Legendre) and $\delta q\cdot\delta p \ge 0$ at the end for what is free there,
//! the path is a local minimum of the action (Jacobi; for constrained problems Agrachev and Sachkov 2004,
//! chapters 20 and 21).

use pfaff_solver::{
    BoundaryProblem, EvalError, FlowMap, Lu, singular_values, symmetric_eigenvalues,
};

use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::conditions::Condition;

/// What the second variation says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SecondVariation {
    /// Places of conjugate points, from 0 to 1; none where the question was not decided.
    pub(crate) conjugate: Option<Vec<f64>>,
    /// Whether the path is a local minimum; none where that was not decided.
    pub(crate) minimum: Option<bool>,
}

/// Places at which fields are looked at.
const PLACES: usize = 800;
/// $|\delta q|$ relative to the largest field below which a field vanishes: the fields are known to about 1e-10.
const VANISHED: f64 = 1e-7;

/// Looks along a path.
pub(crate) fn second(
    problem: &mut Canonical,
    flow: &FlowMap,
    first: &[f64],
) -> Result<SecondVariation, EvalError> {
    let n = problem.n;
    let Some(fields) = Fields::new(problem, flow, first)? else {
        return Ok(SecondVariation::default());
    };
    let positive = legendre(problem, flow)?;
    let conjugate = fields.conjugate();
    let inside = conjugate.iter().any(|s| *s < 1.0 - 1e-6);
    let minimum = match positive {
        Some(false) => Some(false),
        None => None,
        Some(true) if inside => Some(false),
        // A conjugate point at the end itself, or fewer fields than directions: only higher variations could tell.
        Some(true) if !conjugate.is_empty() || fields.rank < n => None,
        Some(true) => fields.end_is_positive(problem),
    };
    Ok(SecondVariation { conjugate: Some(conjugate), minimum })
}

/// Variations that satisfy the conditions at the start.
struct Fields<'a> {
    flow: &'a FlowMap,
    n: usize,
    d: usize,
    /// At the start, one after another.
    starts: Vec<Vec<f64>>,
    /// How many of them are independent as δq, generically.
    rank: usize,
}

impl<'a> Fields<'a> {
    fn new(
        problem: &mut Canonical,
        flow: &'a FlowMap,
        first: &[f64],
    ) -> Result<Option<Self>, EvalError> {
        let (n, d, k) = (problem.n, first.len(), problem.conditions());
        let tied = problem.conditions.list.iter().any(|c| {
            matches!(
                c,
                Condition::Shift { .. }
                    | Condition::Periodic { .. }
                    | Condition::SolvedShift { .. }
                    | Condition::SolvedEnd { .. }
                    | Condition::Time
            )
        });
        if tied || d != 2 * n {
            return Ok(None);
        }
        let (mut rows, mut ignored) = (vec![0.0; k * d], vec![0.0; k * d]);
        problem.ends_jacobian(first, &flow.last, &mut rows, &mut ignored)?;
        let kernel = singular_values(&rows, k, d);
        let starts: Vec<Vec<f64>> = kernel
            .values
            .iter()
            .zip(&kernel.directions)
            .filter(|(σ, _)| **σ < 1e-9)
            .map(|(_, v)| v.clone())
            .collect();
        if starts.len() != n {
            return Ok(None);
        }
        let mut fields = Self { flow, n, d, starts, rank: n };
        let ranks = [0.31, 0.52, 0.77].map(|s| {
            let σ = fields.singular(s);
            σ.iter().filter(|x| **x > 1e-9 * σ[0]).count()
        });
        fields.rank = ranks.into_iter().max().unwrap_or(n);
        Ok((fields.rank > 0).then_some(fields))
    }

    /// δq of all fields at a place, n × n by rows; δp if asked for.
    fn at(&self, s: f64, momenta: bool) -> Vec<f64> {
        let y = self.flow.trajectory.state(s.clamp(0.0, 1.0)).unwrap_or_default();
        let offset = if momenta { self.n } else { 0 };
        let mut rows = Vec::with_capacity(self.n * self.n);
        for k in 0..self.n {
            let row = &y[self.d + (offset + k) * self.d..][..self.d];
            let value = |v: &Vec<f64>| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
            rows.extend(self.starts.iter().map(value));
        }
        rows
    }

    fn singular(&self, s: f64) -> Vec<f64> {
        singular_values(&self.at(s, false), self.n, self.n).values
    }

    /// The smallest that generically is not zero, relative to the largest.
    fn smallest(&self, s: f64) -> f64 {
        let σ = self.singular(s);
        if σ[0] > 0.0 { σ[self.rank - 1] / σ[0] } else { 0.0 }
    }

    fn orientation(&self, s: f64) -> f64 {
        let mut lu = Lu::new(self.n);
        match lu.factor(self.n, &self.at(s, false)) {
            Ok(()) => lu.orientation(),
            Err(_) => 0.0,
        }
    }

    fn conjugate(&self) -> Vec<f64> {
        let place = |i: usize| i as f64 / PLACES as f64;
        let values: Vec<f64> = (0..=PLACES).map(|i| self.smallest(place(i))).collect();
        // Near the start all fields that begin at a point are small: the search begins where they have grown.
        let Some(begin) = values.iter().position(|σ| *σ > 10.0 * VANISHED) else {
            return Vec::new();
        };
        let mut zeros = Vec::new();
        for i in begin..PLACES {
            let (a, b) = (place(i), place(i + 1));
            let signs = (self.orientation(a), self.orientation(b));
            if self.rank == self.n && signs.0 * signs.1 < 0.0 {
                zeros.push(self.crossing(a, b, signs.0));
            } else if i > begin && values[i] < values[i - 1] && values[i] <= values[i + 1] {
                // A dip without change of sign: two fields vanish at once, or there is no sign.
                let s = self.dip(place(i - 1), b);
                if self.smallest(s) < VANISHED {
                    zeros.push(s);
                }
            }
        }
        if values[PLACES] < VANISHED && zeros.last().is_none_or(|s| *s < 1.0 - 1e-6) {
            zeros.push(1.0);
        }
        zeros.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
        zeros
    }

    fn crossing(&self, mut a: f64, mut b: f64, sign: f64) -> f64 {
        for _ in 0..50 {
            let middle = 0.5 * (a + b);
            if self.orientation(middle) * sign > 0.0 {
                a = middle;
            } else {
                b = middle;
            }
        }
        0.5 * (a + b)
    }

    fn dip(&self, mut a: f64, mut b: f64) -> f64 {
        for _ in 0..60 {
            let (c, d) = (a + 0.382 * (b - a), a + 0.618 * (b - a));
            if self.smallest(c) < self.smallest(d) {
                b = d;
            } else {
                a = c;
            }
        }
        0.5 * (a + b)
    }

    /// $\delta q\cdot\delta p \ge 0$ at the end for the directions that are free there.
    fn end_is_positive(&self, problem: &Canonical) -> Option<bool> {
        let n = self.n;
        let natural = |k: usize| {
            problem.conditions.list.iter().any(|c| {
                matches!(c, Condition::Natural { component, at_end: true, .. } if *component == k)
            })
        };
        let free: Vec<usize> = (0..n).filter(|&k| natural(k)).collect();
        if free.is_empty() {
            return Some(true);
        }
        let (q, p) = (self.at(1.0, false), self.at(1.0, true));
        let mut lu = Lu::new(n);
        lu.factor(n, &q).ok()?;
        // W = P Q⁻¹ on the free directions.
        let mut form = vec![0.0; free.len() * free.len()];
        for (j, &l) in free.iter().enumerate() {
            let mut x: Vec<f64> = (0..n).map(|k| f64::from(u8::from(k == l))).collect();
            lu.solve(&mut x);
            for (i, &k) in free.iter().enumerate() {
                let w: f64 = (0..n).map(|c| p[k * n + c] * x[c]).sum();
                form[i * free.len() + j] += 0.5 * w;
                form[j * free.len() + i] += 0.5 * w;
            }
        }
        let least =
            symmetric_eigenvalues(free.len(), &form).into_iter().fold(f64::INFINITY, f64::min);
        let size = form.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if least > 1e-8 * size {
            Some(true)
        } else if least < -1e-8 * size {
            Some(false)
        } else {
            None
        }
    }
}

/// Whether $\mathcal L_{\dot q\dot q}$ is positive on the admissible velocities at all places looked at.
fn legendre(problem: &mut Canonical, flow: &FlowMap) -> Result<Option<bool>, EvalError> {
    let (n, m) = (problem.n, problem.m);
    let mut verdict = Some(true);
    problem.rewind();
    for i in 0..=16 {
        let s = f64::from(i) / 16.0;
        let Some(y) = flow.trajectory.state(s) else { continue };
        let y = &y[..problem.dimension()];
        let t = problem.time(s, y);
        let (mass, rows) = problem.legendre_form(t, y)?;
        let kernel = if m == 0 {
            (0..n).map(|j| (0..n).map(|i| f64::from(u8::from(i == j))).collect()).collect()
        } else {
            let a = singular_values(&rows, m, n);
            let limit = 1e-10 * a.values[0];
            a.values
                .iter()
                .zip(a.directions)
                .filter(|(σ, _)| **σ <= limit)
                .map(|(_, v)| v)
                .collect::<Vec<Vec<f64>>>()
        };
        let k = kernel.len();
        let mut form = vec![0.0; k * k];
        for (a, x) in kernel.iter().enumerate() {
            for (b, z) in kernel.iter().enumerate() {
                form[a * k + b] = (0..n)
                    .map(|i| (0..n).map(|j| x[i] * mass[i * n + j] * z[j]).sum::<f64>())
                    .sum();
            }
        }
        let size = form.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let least = symmetric_eigenvalues(k, &form).into_iter().fold(f64::INFINITY, f64::min);
        if least < -1e-10 * size {
            return Ok(Some(false));
        }
        if least <= 1e-10 * size {
            verdict = None;
        }
    }
    Ok(verdict)
}
