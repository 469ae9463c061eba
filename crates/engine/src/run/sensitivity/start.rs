//! Derivatives of the initial state: what a consistent start does when parameters or initial values vary.
//!
//! The start satisfies the constraints $c(x) = 0$ of its level, positions first, then velocities
//! (`problem/start.rs`). Given values stay, missing ones $x_f$ are as small as the constraints allow, or all are as
//! near to the given ones as possible:
//!
//! $$ M_{ff}\,(x_f - x_0) - A_f^\top\nu = 0, \qquad c(x) = 0, \qquad A = \partial c/\partial x. \qquad (\mathrm N) $$
//!
//! The derivative of $x$ follows from (N) by the implicit function theorem, $\nu$ being an unknown beside $x_f$.
//! Where the mass is degenerate on what the constraints leave free, every component gets a unit mass in addition, as
//! for the start itself.

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::{Class, Equations, derive as derive_equations};
use pfaff_model::{MultiplierStart, Principle, Quantity, Workspace};
use pfaff_solver::least_squares;

use crate::error::Failure;
use crate::problem::start::{Given, Start, given};
use crate::run::sensitivity::direction::{Source, given_tangents};
use crate::system::compiled::Dynamics;

/// Values given to more than this many roundings count as moved.
const MOVED: f64 = 1e-11;
/// Singular values below this fraction of the largest belong to constraints that repeat others.
const RANK: f64 = 1e-11;
/// Constraints must be met along a direction to this fraction of their terms.
const MET: f64 = 1e-9;
/// The rounding of a solved component, in parts of the largest.
const ROUNDING: f64 = 1e-13;
/// What is so small a part of the largest is nothing.
const NOTHING: f64 = 1e-15;

/// The derivatives of the start along one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StartTangent {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) multipliers: Vec<f64>,
}

/// A model at its start.
pub(crate) struct StartPlace<'a> {
    model: &'a Workspace,
    dynamics: &'a Dynamics,
    start: &'a Start,
    given: Given,
    t0: f64,
    /// The equations whose mass decides what is small.
    metric: Option<Equations>,
}

/// One level of (N).
struct Level<'a> {
    constraints: &'a [Expr],
    symbols: &'a [Expr],
    values: &'a [f64],
    given: &'a [Option<f64>],
    /// What varies beside the level itself.
    others: &'a [(Expr, f64)],
}

impl<'a> StartPlace<'a> {
    /// The start of a model under given dynamics.
    pub(crate) fn new(
        model: &'a Workspace,
        dynamics: &'a Dynamics,
        start: &'a Start,
        t0: f64,
    ) -> Result<Self, Failure> {
        let metric = match dynamics {
            Dynamics::Saddle(e) if e.principle == Principle::Restricted => {
                Some(derive_equations(model, Principle::Chetaev)?)
            }
            Dynamics::Saddle(equations) => Some(equations.clone()),
            Dynamics::Ordinary(_) => None,
        };
        Ok(Self { model, dynamics, start, given: given(model, t0), t0, metric })
    }

    /// The derivative of the start along a direction, with the changes of all parameters.
    pub(crate) fn along(
        &self,
        source: Source,
        parameters: &[f64],
    ) -> Result<StartTangent, Failure> {
        let model = self.model;
        let n = model.coordinates.len();
        let mut known = Given {
            q: vec![None; n],
            v: vec![None; n],
            multipliers: vec![None; model.constraints.len()],
        };
        for (quantity, δ) in given_tangents(model, source, parameters, self.t0) {
            match quantity {
                Quantity::Coordinate(k, 0) => known.q[k] = Some(δ),
                Quantity::Coordinate(k, 1) => known.v[k] = Some(δ),
                Quantity::Multiplier(a) => known.multipliers[a] = Some(δ),
                Quantity::Coordinate(..) | Quantity::Time => {}
            }
        }
        let Some(metric) = &self.metric else {
            let zero = |x: &[Option<f64>]| x.iter().map(|x| x.unwrap_or(0.0)).collect();
            let (q, v) = (zero(&known.q), zero(&known.v));
            return Ok(StartTangent { q, v, multipliers: Vec::new() });
        };
        let mut others: Vec<(Expr, f64)> = model
            .parameter_symbols()
            .into_iter()
            .zip(parameters.iter().copied())
            .filter(|&(_, δ)| δ != 0.0)
            .collect();
        let holonomic: Vec<Expr> = metric.position.iter().flatten().copied().collect();
        let q = self.level(
            metric,
            &known.q,
            &Level {
                constraints: &holonomic,
                symbols: &model.positions(),
                values: &self.start.q,
                given: &self.given.q,
                others: &others,
            },
        )?;
        others.extend(model.positions().into_iter().zip(q.iter().copied()));
        let v = self.level(
            metric,
            &known.v,
            &Level {
                constraints: &metric.residual,
                symbols: &model.velocities(),
                values: &self.start.v,
                given: &self.given.v,
                others: &others,
            },
        )?;
        others.extend(model.velocities().into_iter().zip(v.iter().copied()));
        let multipliers = self.multipliers(&known.multipliers, &others);
        Ok(StartTangent { q, v, multipliers })
    }

    /// The value of a symbol at the start; under the vakonomic principle with $\mu = 0$, as the metric has it.
    fn value(&self, s: Expr) -> f64 {
        let model = self.model;
        let place = |symbols: &[Expr]| symbols.iter().position(|&x| x == s);
        if s == model.time {
            self.t0
        } else if let Some(k) = place(&model.positions()) {
            self.start.q[k]
        } else if let Some(k) = place(&model.velocities()) {
            self.start.v[k]
        } else if model.results.mu.contains(&s) {
            0.0
        } else {
            let parameter = model.parameters.iter().find(|p| p.symbol == s);
            parameter.map_or(f64::NAN, |p| p.value)
        }
    }

    /// Settles one level: what is missing takes up the change, or everything does.
    fn level(
        &self,
        metric: &Equations,
        known: &[Option<f64>],
        level: &Level<'_>,
    ) -> Result<Vec<f64>, Failure> {
        let g = &self.model.graph;
        let rigid: Vec<f64> = known.iter().map(|δ| δ.unwrap_or(0.0)).collect();
        if level.constraints.is_empty() {
            return Ok(rigid);
        }
        let slopes = g.jacobian(level.constraints, level.symbols);
        let is_moved = level.given.iter().zip(level.values).any(|(given, x)| {
            given.is_some_and(|given| (given - x).abs() > MOVED * (1.0 + given.abs()))
        });
        let is_touched = |k: usize| slopes.iter().any(|row| row[k] != g.zero());
        let missing: Vec<usize> =
            (0..known.len()).filter(|&k| known[k].is_none() && is_touched(k)).collect();
        if !is_moved {
            let anchor = vec![0.0; known.len()];
            let near = Near { free: &missing, anchor: &anchor, rigid: &rigid };
            if let Some(found) = self.nearest(metric, &slopes, level, &near) {
                return Ok(found);
            }
        }
        let all: Vec<usize> = (0..known.len()).collect();
        // What varies counts as given, with the value that it has.
        let fixed = |k: usize| known[k].map_or(0.0, |_| level.values[k]);
        let given = level.given.iter().enumerate();
        let anchor: Vec<f64> = given.map(|(k, x)| x.unwrap_or_else(|| fixed(k))).collect();
        let near = Near { free: &all, anchor: &anchor, rigid: &rigid };
        self.nearest(metric, &slopes, level, &near).ok_or_else(|| {
            Failure::usage(
                "the derivative of the initial state does not exist: the constraints are singular there",
            )
        })
    }

    /// The derivative of (N) for some free components, if the constraints can be met so.
    fn nearest(
        &self,
        metric: &Equations,
        slopes: &[Vec<Expr>],
        level: &Level<'_>,
        near: &Near<'_>,
    ) -> Option<Vec<f64>> {
        let g = &self.model.graph;
        let Near { free, anchor, rigid } = *near;
        let (f, r) = (free.len(), level.constraints.len());
        let symbol = |word: &str, k: usize| g.symbol(&format!("{word} {k}"), Role::Free);
        let ν: Vec<Expr> = (0..r).map(|a| symbol("start reaction", a)).collect();
        let x0: Vec<Expr> = (0..anchor.len()).map(|k| symbol("start anchor", k)).collect();
        let unit = symbol("start unit mass", 0);
        let at = |s: Expr| -> f64 {
            let place = |symbols: &[Expr]| symbols.iter().position(|&x| x == s);
            match place(&x0) {
                Some(k) => anchor[k],
                None => self.value(s),
            }
        };
        // M_ff (x_f − x₀) without the unit mass, A_f by rows, and what the constraints do along the rigid part.
        let shift = |k: usize| g.sub(level.symbols[k], x0[k]);
        let pull: Vec<Expr> = free
            .iter()
            .map(|&i| {
                let inertia = g.sum(free.iter().map(|&j| g.mul(metric.mass[i][j], shift(j))));
                g.add(inertia, g.mul(unit, shift(i)))
            })
            .collect();
        let rows: Vec<Expr> =
            slopes.iter().flat_map(|row| free.iter().map(|&k| row[k])).collect();
        let rows = g.evaluate(&rows, &at);
        let columns: Vec<f64> = (0..f)
            .flat_map(|k| (0..r).map(move |a| (a, k)))
            .map(|(a, k)| rows[a * f + k])
            .collect();
        let is_free = |k: usize| free.contains(&k);
        let held = (0..anchor.len()).filter(|&k| !is_free(k) && rigid[k] != 0.0);
        let mut moving: Vec<(Expr, f64)> = level.others.to_vec();
        moving.extend(held.map(|k| (level.symbols[k], rigid[k])));
        // δx₀ is the change of what is given, where everything moves.
        if f == anchor.len() {
            moving.extend(free.iter().map(|&k| (x0[k], rigid[k])).filter(|m| m.1 != 0.0));
        }
        let along = |functions: &[Expr], at: &dyn Fn(Expr) -> f64| -> Vec<f64> {
            let rates: Vec<Expr> = (0..moving.len()).map(|k| symbol("start rate", k)).collect();
            let direction: Vec<(Expr, Expr)> =
                moving.iter().zip(&rates).map(|(&(s, _), &rate)| (s, rate)).collect();
            let rate_of = |s: Expr| rates.iter().position(|&rate| rate == s);
            g.evaluate(&g.directional(functions, &direction), &|s| {
                rate_of(s).map_or_else(|| at(s), |k| moving[k].1)
            })
        };
        let drift = along(level.constraints, &at);
        // The terms of which each drift is the sum: what is given may meet a constraint up to their rounding.
        let movers: Vec<Expr> = moving.iter().map(|&(s, _)| s).collect();
        let parts = g.jacobian(level.constraints, &movers);
        let terms = parts.iter().map(|row| {
            let slopes = g.evaluate(row, &at);
            slopes.iter().zip(&moving).map(|(slope, (_, δ))| (slope * δ).abs()).sum::<f64>()
        });
        let terms: Vec<f64> = terms.collect();
        if f == 0 {
            let met = drift.iter().zip(&terms).all(|(sum, size)| sum.abs() <= MET * size);
            return met.then(|| rigid.to_vec());
        }
        for mass in [0.0, 1.0] {
            let at = |s: Expr| if s == unit { mass } else { at(s) };
            let force = g.evaluate(&pull, &at);
            let pushes = least_squares(&columns, f, r, &force, RANK).x;
            let with_reactions = |s: Expr| {
                let place = ν.iter().position(|&x| x == s);
                place.map_or_else(|| at(s), |a| pushes[a])
            };
            let balance: Vec<Expr> = (0..f)
                .map(|i| {
                    let reaction = (0..r).map(|a| g.mul(ν[a], slopes[a][free[i]]));
                    g.sub(pull[i], g.sum(reaction))
                })
                .collect();
            let free_symbols: Vec<Expr> = free.iter().map(|&k| level.symbols[k]).collect();
            let stiffness: Vec<Expr> =
                g.jacobian(&balance, &free_symbols).into_iter().flatten().collect();
            let stiffness = g.evaluate(&stiffness, &with_reactions);
            let unbalance = along(&balance, &with_reactions);
            let scale = stiffness.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            let scale = if scale > 0.0 { scale } else { 1.0 };
            let n = f + r;
            let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
            for i in 0..f {
                for j in 0..f {
                    matrix[i * n + j] = stiffness[i * f + j] / scale;
                }
                for a in 0..r {
                    matrix[i * n + f + a] = -rows[a * f + i];
                    matrix[(f + a) * n + i] = rows[a * f + i];
                }
                right[i] = -unbalance[i] / scale;
            }
            right[f..].iter_mut().zip(&drift).for_each(|(x, d)| *x = -d);
            let solution = least_squares(&matrix, n, n, &right, RANK);
            let independent = least_squares(&rows, r, f, &vec![0.0; r], RANK).rank;
            if solution.rank < f + independent && mass == 0.0 {
                continue;
            }
            // NOTE: where the constraints determine what is missing, a change may be taken up by their reactions alone,
            // and the solution is rounding of the right-hand side.
            let known = right[..f].iter();
            let largest =
                solution.x[..f].iter().chain(known).fold(0.0_f64, |m, x| m.max(x.abs()));
            let met = (0..r).all(|a| {
                let row = &rows[a * f..(a + 1) * f];
                let (mut sum, mut terms_size) = (drift[a], terms[a]);
                let products = row.iter().zip(&solution.x).map(|(c, x)| c * x);
                products.for_each(|x| (sum, terms_size) = (sum + x, terms_size + x.abs()));
                // NOTE: where a constraint does not change, all of its terms are rounding of the others.
                let rounding = ROUNDING * largest * row.iter().map(|c| c.abs()).sum::<f64>();
                sum.abs() <= MET * terms_size + rounding
            });
            if !met || solution.x.iter().any(|x| !x.is_finite()) {
                return None;
            }
            let mut found = rigid.to_vec();
            let is_nothing = |x: f64| x.abs() <= NOTHING * largest;
            for (&k, &x) in free.iter().zip(&solution.x) {
                found[k] = if is_nothing(x) { 0.0 } else { x };
            }
            return Some(found);
        }
        None
    }

    /// The derivative of $\mu(t_0)$; empty unless the principle is vakonomic.
    fn multipliers(&self, known: &[Option<f64>], others: &[(Expr, f64)]) -> Vec<f64> {
        let Dynamics::Saddle(equations) = self.dynamics else { return Vec::new() };
        if equations.principle != Principle::Vakonomic {
            return Vec::new();
        }
        let mut found: Vec<f64> = known.iter().map(|δ| δ.unwrap_or(0.0)).collect();
        let Some(MultiplierStart::Transversal(coordinates, _)) = &self.model.multipliers else {
            return found;
        };
        // p_z − μ·∂ψ/∂ż = 0 is linear in μ.
        let g = &self.model.graph;
        let free: Vec<usize> = (0..equations.classes.len())
            .filter(|&a| equations.classes[a] != Class::Holonomic)
            .collect();
        let entries = coordinates.iter().flat_map(|&k| free.iter().map(move |&a| (a, k)));
        let entries: Vec<Expr> = entries.map(|(a, k)| equations.jacobian[a][k]).collect();
        let momenta: Vec<Expr> = coordinates.iter().map(|&k| equations.momenta[k]).collect();
        let at = |s: Expr| self.value(s);
        let matrix = g.evaluate(&entries, &at);
        let size = free.len();
        let μ = least_squares(&matrix, size, size, &g.evaluate(&momenta, &at), 1e-12).x;
        let mut right = vec![0.0; size];
        for &(s, δ) in others {
            let slopes = g.evaluate(&g.directional(&momenta, &[(s, g.one())]), &at);
            let turned = g.evaluate(&g.directional(&entries, &[(s, g.one())]), &at);
            for (i, x) in right.iter_mut().enumerate() {
                let pull: f64 = (0..size).map(|a| turned[i * size + a] * μ[a]).sum();
                *x += (slopes[i] - pull) * δ;
            }
        }
        let change = least_squares(&matrix, size, size, &right, 1e-12).x;
        for (&a, x) in free.iter().zip(change) {
            if self.given.multipliers[a].is_none() && known[a].is_none() {
                found[a] = x;
            }
        }
        found
    }
}

/// Which components take up a change, where they are pulled to, and how the others change.
struct Near<'a> {
    free: &'a [usize],
    anchor: &'a [f64],
    rigid: &'a [f64],
}
