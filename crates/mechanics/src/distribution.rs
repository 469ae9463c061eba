//! The distribution of the admissible velocities: its rank, and whether a constraint comes from positions alone.
//!
//! Constraints linear or affine in the velocities are one-forms $\omega^a = A^a_i\,dq^i + a^a\,dt$. Their common kernel, closed under Lie brackets, is
//! $\bar D$; a constraint is integrable (by itself or with the help of the others, with any integrating factor) exactly when $\omega^a$ vanishes on $\bar D$
//! (Frobenius). Fields are found by elimination with pivots that are not identically zero.

use pfaff_expr::{Expr, Graph, ZeroTest};
use pfaff_model::Model;

use crate::class::Class;
use crate::equations::Equations;

/// What is generically true of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Independent constraints.
    pub constraints: usize,
    /// $n$ − independent constraints.
    pub degrees_of_freedom: usize,
    /// Whether (K) determines the accelerations.
    pub regular: bool,
}

/// Ranks at a generic point, by values modulo a prime.
pub fn ranks(model: &Model, equations: &Equations) -> Rank {
    let (g, n) = (&model.graph, model.coordinates.len());
    let constraints = g.rank(&equations.jacobian);
    let independent = g.independent_rows(&equations.jacobian);
    let m = independent.len();
    let mut saddle = Vec::with_capacity(n + m);
    for i in 0..n {
        let reactions = independent.iter().map(|&a| g.neg(equations.directions[a][i]));
        saddle.push(equations.mass[i].iter().copied().chain(reactions).collect::<Vec<_>>());
    }
    for &a in &independent {
        let zeros = std::iter::repeat_n(g.zero(), m);
        saddle.push(equations.jacobian[a].iter().copied().chain(zeros).collect());
    }
    let regular = g.rank(&saddle) == n + m;
    Rank { constraints, degrees_of_freedom: n - constraints, regular }
}

/// For each constraint: does it come from positions alone? `None` where that could not be decided.
pub fn integrable(model: &Model, equations: &Equations) -> Vec<Option<bool>> {
    let g = &model.graph;
    let forms = Forms::of(model, equations);
    let (closure, whole) = g.merging(|| forms.closure(g));
    equations
        .classes
        .iter()
        .enumerate()
        .map(|(a, class)| match class {
            Class::Holonomic => Some(true),
            Class::Linear | Class::Affine => {
                let row = forms.owners.iter().position(|&o| o == a)?;
                let verdict = g.merging(|| annihilates(g, &forms.rows[row], &closure));
                // One field on which it does not vanish is enough; to vanish on all, all are needed.
                verdict.filter(|&vanishes| whole || !vanishes)
            }
            Class::Nonlinear => is_curved(model, equations, a).then_some(false),
            Class::Memory => None,
        })
        .collect()
}

/// The one-forms over the coordinates and, where time enters, $t$ in front.
struct Forms {
    rows: Vec<Vec<Expr>>,
    /// Which constraint each row belongs to.
    owners: Vec<usize>,
    variables: Vec<Expr>,
}

impl Forms {
    fn of(model: &Model, equations: &Equations) -> Self {
        let g = &model.graph;
        let still: Vec<(Expr, Expr)> =
            model.velocities().into_iter().map(|v| (v, g.zero())).collect();
        let mut variables = model.positions();
        let (mut rows, mut owners) = (Vec::new(), Vec::new());
        for (a, class) in equations.classes.iter().enumerate() {
            if matches!(class, Class::Holonomic | Class::Linear | Class::Affine) {
                let mut row = g.substitute(&equations.jacobian[a], &still);
                row.push(g.substitute(&[equations.residual[a]], &still)[0]);
                rows.push(row);
                owners.push(a);
            }
        }
        let timely = rows.iter().flatten().any(|&e| g.contains(e, &[model.time]))
            || rows.iter().any(|r| r.last().is_some_and(|&a| !g.vanishes_modulo_prime(a)));
        if timely {
            variables.push(model.time);
        } else {
            rows.iter_mut().for_each(|r| r.truncate(variables.len()));
        }
        Self { rows, owners, variables }
    }

    /// Fields in $\bar D$, and whether they span it: where the brackets grow beyond reason the rest is left open.
    fn closure(&self, g: &Graph) -> (Vec<Vec<Expr>>, bool) {
        /// Nodes that brackets may add before the question is left open: about 0.1 s.
        const BUDGET: usize = 100_000;
        let size = g.len();
        let generators = kernel(g, &self.rows, self.variables.len());
        let mut fields = generators.clone();
        let mut next = 0;
        while next < fields.len() && fields.len() < self.variables.len() {
            for x in &generators {
                let bracket = lie_bracket(g, x, &fields[next], &self.variables);
                if g.len() - size > BUDGET {
                    return (fields, false);
                }
                let mut extended = fields.clone();
                extended.push(bracket);
                if g.rank(&extended) == extended.len() {
                    fields = extended;
                }
            }
            next += 1;
        }
        (fields, true)
    }
}

/// $\omega(X) = 0$ for all fields?
fn annihilates(g: &Graph, form: &[Expr], fields: &[Vec<Expr>]) -> Option<bool> {
    let mut open = false;
    for field in fields {
        match g.zero_test(g.dot(form, field)) {
            ZeroTest::Zero => {}
            ZeroTest::Nonzero { .. } => return Some(false),
            ZeroTest::Unknown => open = true,
        }
    }
    if open { None } else { Some(true) }
}

/// A basis of the common kernel of the rows: one field for each column without pivot.
fn kernel(g: &Graph, rows: &[Vec<Expr>], n: usize) -> Vec<Vec<Expr>> {
    let mut reduced: Vec<(usize, Vec<Expr>)> = Vec::new();
    for row in rows {
        let mut row = row.clone();
        for (pivot, known) in &reduced {
            let factor = row[*pivot];
            if !g.vanishes_modulo_prime(factor) {
                row = (0..n).map(|j| g.sub(row[j], g.mul(factor, known[j]))).collect();
            }
        }
        // NOTE: a number as pivot spoils no denominator.
        let usable = |j: &usize| !g.vanishes_modulo_prime(row[*j]);
        let pivot = (0..n)
            .filter(usable)
            .find(|&j| g.number_of(row[j]).is_some())
            .or_else(|| (0..n).rev().find(usable));
        let Some(pivot) = pivot else { continue };
        let scale = row[pivot];
        let row: Vec<Expr> =
            (0..n).map(|j| if j == pivot { g.one() } else { g.div(row[j], scale) }).collect();
        for (_, known) in &mut reduced {
            let factor = known[pivot];
            if !g.vanishes_modulo_prime(factor) {
                *known = (0..n).map(|j| g.sub(known[j], g.mul(factor, row[j]))).collect();
            }
        }
        reduced.push((pivot, row));
    }
    let free = (0..n).filter(|j| reduced.iter().all(|(p, _)| p != j));
    free.map(|j| {
        let mut field = vec![g.zero(); n];
        field[j] = g.one();
        for (pivot, row) in &reduced {
            field[*pivot] = g.neg(row[j]);
        }
        field
    })
    .collect()
}

/// $[X, Y]^i = X^j\partial_j Y^i - Y^j\partial_j X^i$
fn lie_bracket(g: &Graph, x: &[Expr], y: &[Expr], variables: &[Expr]) -> Vec<Expr> {
    let along = |field: &[Expr]| -> Vec<(Expr, Expr)> {
        variables.iter().copied().zip(field.iter().copied()).collect()
    };
    let (dy, dx) = (g.directional(y, &along(x)), g.directional(x, &along(y)));
    dy.into_iter().zip(dx).map(|(a, b)| g.sub(a, b)).collect()
}

/// Whether the velocities that a nonlinear constraint allows bend somewhere: then it is no $d\varphi(t,q)/dt$ in disguise.
///
/// At a point with $\psi = 0$ found by Newton's iteration, $\tau^\top\psi_{\dot q\dot q}\,\tau \ne 0$ for some $\tau$ with $\psi_{\dot q}\cdot\tau = 0$.
fn is_curved(model: &Model, equations: &Equations, a: usize) -> bool {
    let g = &model.graph;
    let v = model.velocities();
    let n = v.len();
    let ψ = equations.residual[a];
    let mut outputs = vec![ψ];
    outputs.extend(&equations.jacobian[a]);
    outputs.extend(g.merging(|| g.hessian(ψ, &v)).into_iter().flatten());
    let parameters = model.parameters.iter().map(|p| (p.symbol, p.value));
    let known: Vec<(Expr, f64)> = parameters.collect();
    for attempt in 0..8_u32 {
        let start = |e: Expr| 0.3 + scatter(e.index() as u32 * 7 + attempt * 13);
        let mut velocity: Vec<f64> = v.iter().map(|&e| start(e)).collect();
        for _ in 0..60 {
            let at = |e: Expr| {
                let given = known.iter().find(|(s, _)| *s == e).map(|(_, x)| *x);
                let moving = v.iter().position(|&s| s == e).map(|i| velocity[i]);
                given.or(moving).unwrap_or_else(|| start(e))
            };
            let values = g.evaluate(&outputs, &at);
            if values.iter().any(|x| !x.is_finite()) {
                break;
            }
            let (value, slope, bend) = (values[0], &values[1..=n], &values[n + 1..]);
            let square: f64 = slope.iter().map(|s| s * s).sum();
            if square < 1e-12 {
                break;
            }
            if value.abs() < 1e-12 * (1.0 + square) {
                return bends(slope, bend, n);
            }
            for (x, s) in velocity.iter_mut().zip(slope) {
                *x -= value * s / square;
            }
        }
    }
    false
}

/// Whether the quadratic form is not zero on the plane orthogonal to the slope.
fn bends(slope: &[f64], bend: &[f64], n: usize) -> bool {
    let square: f64 = slope.iter().map(|s| s * s).sum();
    let project = |k: usize| -> Vec<f64> {
        (0..n).map(|i| f64::from(u8::from(i == k)) - slope[i] * slope[k] / square).collect()
    };
    let scale = bend.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
    let tangents: Vec<Vec<f64>> = (0..n).map(project).collect();
    let form = |x: &[f64], y: &[f64]| -> f64 {
        (0..n).map(|i| (0..n).map(|j| x[i] * bend[i * n + j] * y[j]).sum::<f64>()).sum()
    };
    // Rounding of a sum of n² products is far below 1e-9 of the largest entry.
    tangents.iter().any(|x| tangents.iter().any(|y| form(x, y).abs() > 1e-9 * scale))
}

/// A number between −½ and ½ that looks random and depends on the seed alone.
fn scatter(seed: u32) -> f64 {
    let mixed = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995_9e37_79b9;
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}
