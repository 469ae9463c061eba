//! The model differentiated by dual numbers at one instant: what the audit believes instead of the derivation.
//!
//! $$ \frac{d}{dt}\frac{\partial L}{\partial\dot q_k} - \frac{\partial L}{\partial q_k} - Q_k - \sum_a\lambda_a w_{ak}, \qquad \frac{d\varphi_a}{dt}, \qquad E $$
//!
//! with $w_a = \partial\varphi_a/\partial\dot q$ (or what `along` says); under the vakonomic principle the reaction is $\sum_a \dot\mu_a w_a + \mu_a(\dot w_a - \partial\varphi_a/\partial q)$.
//! Under the restricted principle $R - p_a(\dot w_a - \partial\varphi_a/\partial q)$ must lie in the span of the $w_a$, and $\sum_a p_a w_a$ be the momentum of the dependent coordinates.
//! Derivatives by symbols come from sweeps of `dual.rs`, rates along the motion $(\dot q, \ddot q, 1)$ from its dual numbers.

use pfaff_expr::Expr;
use pfaff_mechanics::{Class, classify};
use pfaff_model::{Dynamics, ForceOrigin, Model, Principle};
use pfaff_solver::least_squares;

use crate::dual::{Dual, Duals};
use crate::instant::Instant;

/// The parts of a model, laid out for dual numbers.
pub(crate) struct Witness {
    n: usize,
    lagrangian: Laid,
    constraints: Laid,
    /// $w$ of `along`, where given.
    along: Vec<Option<Laid>>,
    /// $Q_k$ as given.
    forces: Laid,
    /// $r$ and then $F$ of each force at a point.
    points: Vec<Laid>,
    /// $D$
    dissipation: Laid,
    holonomic: Vec<bool>,
    pub(crate) principle: Principle,
    /// The dependent coordinates of the restricted principle.
    dependent: Vec<usize>,
    /// Of each constraint at the instant last looked at.
    gradients: Vec<Gradient>,
    /// Of the Lagrangian, of places times the forces there, and of $D$.
    slopes: Gradient,
    push: Gradient,
    drag: Gradient,
}

/// Expressions with the meaning of their symbols.
pub(crate) struct Laid {
    duals: Duals,
    meaning: Vec<Meaning>,
}

#[derive(Clone, Copy, Debug)]
enum Meaning {
    Time,
    Position(usize),
    Velocity(usize),
}

/// Derivatives by positions, velocities and time, with their rates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gradient {
    pub(crate) q: Vec<Dual>,
    pub(crate) v: Vec<Dual>,
    t: Dual,
}

/// The largest relative deviations found so far; `None` where nothing was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Findings {
    pub(crate) equations: Option<f64>,
    pub(crate) differentiated: Option<f64>,
    pub(crate) energy: Option<f64>,
    pub(crate) velocities: Option<f64>,
}

/// The residuals of one constraint, relative to $1 + \sum|A_i x_i|$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Residual {
    pub(crate) velocity: f64,
    pub(crate) position: Option<f64>,
}

impl Witness {
    /// `None` for an `equation` model.
    pub(crate) fn new(
        model: &Model,
        principle: Principle,
        dependent: &[usize],
    ) -> Option<Self> {
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
        let g = &model.graph;
        let n = model.coordinates.len();
        let velocities = model.velocities();
        let constraints: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
        let (mut given, mut points, mut dissipation) = (Vec::new(), Vec::new(), g.zero());
        for f in &model.forces {
            match &f.origin {
                ForceOrigin::Components => given.push(&f.components),
                ForceOrigin::Point { position, force } => {
                    let both: Vec<Expr> = position.iter().chain(force).copied().collect();
                    points.push(Laid::new(model, &both));
                }
                ForceOrigin::Dissipation(d) => dissipation = g.add(dissipation, *d),
            }
        }
        let total: Vec<Expr> = (0..n).map(|k| g.sum(given.iter().map(|q| q[k]))).collect();
        Some(Self {
            n,
            lagrangian: Laid::new(model, &[lagrangian]),
            along: model
                .constraints
                .iter()
                .map(|c| {
                    c.along
                        .as_ref()
                        .filter(|_| principle == Principle::Chetaev)
                        .map(|w| Laid::new(model, w))
                })
                .collect(),
            holonomic: constraints
                .iter()
                .map(|&φ| classify(g, φ, &velocities).0 == Class::Holonomic)
                .collect(),
            constraints: Laid::new(model, &constraints),
            forces: Laid::new(model, &total),
            points,
            dissipation: Laid::new(model, &[dissipation]),
            principle,
            dependent: dependent.to_vec(),
            gradients: vec![Gradient::new(n); constraints.len()],
            slopes: Gradient::new(n),
            push: Gradient::new(n),
            drag: Gradient::new(n),
        })
    }

    /// Dual-number operations of one [`Witness::judge`].
    pub(crate) fn cost(&self) -> usize {
        let duals = &self.lagrangian.duals;
        duals.len() + duals.swept() + self.constraint_cost()
    }

    /// Dual-number operations of one [`Witness::constraints`].
    pub(crate) fn constraint_cost(&self) -> usize {
        self.constraints.duals.len() + self.constraints.duals.swept()
    }

    pub(crate) fn is_holonomic(&self, a: usize) -> bool {
        self.holonomic[a]
    }

    /// The constraints and their derivatives at an instant.
    fn differentiate(&mut self, instant: &Instant) {
        self.constraints.evaluate(instant);
        for (a, gradient) in self.gradients.iter_mut().enumerate() {
            gradient.clear();
            self.constraints.sweep(a, 1.0, gradient);
        }
    }

    /// $\partial\varphi_a/\partial\dot q$, or $\partial\varphi_a/\partial q$ of a holonomic one.
    fn direction(&self, a: usize) -> &[Dual] {
        if self.holonomic[a] { &self.gradients[a].q } else { &self.gradients[a].v }
    }

    /// Residuals of a constraint at an instant whose derivatives are known.
    fn residual(&self, a: usize, instant: &Instant) -> Residual {
        let scale = |x: &[f64]| {
            1.0 + self.direction(a).iter().zip(x).map(|(s, x)| (s.x * x).abs()).sum::<f64>()
        };
        let value = self.constraints.duals.output(a);
        if self.holonomic[a] {
            Residual {
                velocity: (value.d / scale(&instant.v)).abs(),
                position: Some((value.x / scale(&instant.q)).abs()),
            }
        } else {
            Residual { velocity: (value.x / scale(&instant.v)).abs(), position: None }
        }
    }

    /// Residuals of all constraints at an instant.
    pub(crate) fn constraints(&mut self, instant: &Instant) -> Vec<Residual> {
        self.differentiate(instant);
        (0..self.holonomic.len()).map(|a| self.residual(a, instant)).collect()
    }

    /// The largest of $|d\varphi/dt|$ and, of holonomic ones, $|d^2\varphi/dt^2|$, relative to their terms with accelerations.
    fn differentiated(&self, instant: &Instant) -> f64 {
        let mut worst = 0.0;
        for a in 0..self.holonomic.len() {
            let off = if self.holonomic[a] {
                let Gradient { q, t, .. } = &self.gradients[a];
                let motion = instant.v.iter().zip(&instant.a);
                let moved = q.iter().zip(motion).map(|(s, (v, a))| s.d * v + s.x * a);
                moved.sum::<f64>() + t.d
            } else {
                self.constraints.duals.output(a).d
            };
            let terms = self.direction(a).iter().zip(&instant.a).map(|(s, a)| (s.x * a).abs());
            worst = worse(worst, off.abs() / (1.0 + terms.sum::<f64>()));
        }
        worst
    }

    /// Adds what is wrong at an instant to the findings.
    pub(crate) fn judge(&mut self, instant: &Instant, findings: &mut Findings) {
        let (n, m) = (self.n, self.holonomic.len());
        self.differentiate(instant);
        let differentiated = self.differentiated(instant);
        let mut directions: Vec<f64> =
            (0..m).flat_map(|a| self.direction(a)).map(|s| s.x).collect();
        for (a, along) in self.along.iter_mut().enumerate() {
            if let Some(along) = along {
                along.evaluate(instant);
                (0..n).for_each(|k| directions[a * n + k] = along.duals.output(k).x);
            }
        }
        self.push(instant);
        self.lagrangian.evaluate(instant);
        self.slopes.clear();
        self.lagrangian.sweep(0, 1.0, &mut self.slopes);
        let (mut equations, mut energy, mut size) = (0.0, 0.0, 1.0);
        let restricted = self.principle == Principle::Restricted;
        let (mut needed, mut needed_scale) = (Vec::new(), 1.0_f64);
        for k in 0..n {
            let (p, slope) = (self.slopes.v[k], self.slopes.q[k].x);
            let force = self.forces.duals.output(k).x + self.push.q[k].x - self.drag.v[k].x;
            let (reaction, reactions) = self.reaction(instant, &directions, k);
            let scale = 1.0 + p.d.abs() + slope.abs() + force.abs() + reactions;
            if restricted {
                // NOTE: here `reaction` is the part that the multipliers give whatever their rates are.
                let whole = p.d - slope - force;
                equations = worse(equations, (whole - instant.reaction[k]).abs() / scale);
                needed.push(whole - reaction);
                needed_scale = needed_scale.max(scale);
                if self.dependent.contains(&k) {
                    let carried: f64 =
                        (0..m).map(|a| instant.multipliers[a] * directions[a * n + k]).sum();
                    equations = worse(equations, (carried - p.x).abs() / (1.0 + p.x.abs()));
                }
            } else {
                equations = worse(equations, (p.d - slope - force - reaction).abs() / scale);
                equations = worse(equations, (reaction - instant.reaction[k]).abs() / scale);
            }
            energy += instant.v[k] * p.x;
            size += (instant.v[k] * p.x).abs();
        }
        let lagrangian = self.lagrangian.duals.output(0).x;
        energy -= lagrangian;
        size += lagrangian.abs();
        if restricted {
            let off = beside(&directions, &needed);
            equations = worse(equations, off / needed_scale);
        }
        let note = |slot: &mut Option<f64>, value: f64| {
            *slot = Some(worse(slot.unwrap_or(0.0), value));
        };
        note(&mut findings.equations, equations);
        if m > 0 {
            note(&mut findings.differentiated, differentiated);
        }
        note(&mut findings.energy, (energy - instant.energy).abs() / size);
    }

    /// Forces as given; $F\cdot\partial r/\partial q$ in `push`, $\partial D/\partial\dot q$ in `drag`.
    fn push(&mut self, instant: &Instant) {
        self.forces.evaluate(instant);
        self.push.clear();
        for point in &mut self.points {
            point.evaluate(instant);
            let half = point.duals.outputs() / 2;
            for i in 0..half {
                let force = point.duals.output(half + i).x;
                point.sweep(i, force, &mut self.push);
            }
        }
        self.drag.clear();
        self.dissipation.evaluate(instant);
        self.dissipation.sweep(0, 1.0, &mut self.drag);
    }

    /// $R_k$ and the sum of the magnitudes of its parts.
    fn reaction(&self, instant: &Instant, directions: &[f64], k: usize) -> (f64, f64) {
        let m = self.holonomic.len();
        let (mut sum, mut size) = (0.0, 0.0);
        let mut add = |part: f64| {
            sum += part;
            size += part.abs();
        };
        if self.principle == Principle::Chetaev {
            (0..m).for_each(|a| add(instant.multipliers[a] * directions[a * self.n + k]));
            return (sum, size);
        }
        for a in 0..m {
            if self.principle == Principle::Vakonomic {
                add(instant.multiplier_rates[a] * directions[a * self.n + k]);
            }
            if !self.holonomic[a] {
                add(instant.multipliers[a] * self.gradients[a].v[k].d);
                add(-instant.multipliers[a] * self.gradients[a].q[k].x);
            }
        }
        (sum, size)
    }
}

impl Gradient {
    pub(crate) fn new(n: usize) -> Self {
        let none = vec![Dual::default(); n];
        Self { q: none.clone(), v: none, t: Dual::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.q.fill(Dual::default());
        self.v.fill(Dual::default());
        self.t = Dual::default();
    }
}

impl Laid {
    pub(crate) fn new(model: &Model, outputs: &[Expr]) -> Self {
        let place = |find: &dyn Fn(&pfaff_model::Coordinate) -> bool| {
            model.coordinates.iter().position(find)
        };
        let meaning = |s: Expr| {
            if s == model.time {
                Some(Meaning::Time)
            } else if let Some(k) = place(&|c| c.position == s) {
                Some(Meaning::Position(k))
            } else {
                place(&|c| c.velocity == s).map(Meaning::Velocity)
            }
        };
        let value = |s: Expr| model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
        let duals = Duals::new(&model.graph, outputs, &|s| match meaning(s) {
            Some(_) => None,
            None => Some(value(s).unwrap_or(f64::NAN)),
        });
        let meaning = duals.symbols.iter().filter_map(|&s| meaning(s)).collect();
        Self { duals, meaning }
    }

    /// Values, with their rates along the motion; the first of them is told.
    pub(crate) fn evaluate(&mut self, instant: &Instant) -> f64 {
        let Self { duals, meaning } = self;
        duals.evaluate(&|s| match meaning[s] {
            Meaning::Time => Dual { x: instant.t, d: 1.0 },
            Meaning::Position(k) => Dual { x: instant.q[k], d: instant.v[k] },
            Meaning::Velocity(k) => Dual { x: instant.v[k], d: instant.a[k] },
        });
        if duals.outputs() == 0 { f64::NAN } else { duals.output(0).x }
    }

    /// Adds the derivatives of an output, times a weight, at the instant last evaluated.
    pub(crate) fn sweep(&mut self, output: usize, weight: f64, into: &mut Gradient) {
        let Self { duals, meaning } = self;
        duals.sweep(output, weight, &mut |s, derivative| {
            let place = match meaning[s] {
                Meaning::Time => &mut into.t,
                Meaning::Position(k) => &mut into.q[k],
                Meaning::Velocity(k) => &mut into.v[k],
            };
            *place = place.add(derivative);
        });
    }
}

/// The largest residual of an `equation` model at an instant, relative to what its terms are worth there.
pub(crate) fn equation_residual(model: &Model, instant: &Instant) -> f64 {
    let Dynamics::Equations(equations) = &model.dynamics else { return f64::NAN };
    let g = &model.graph;
    let at = |shift: f64| {
        move |s: Expr| {
            for (k, c) in model.coordinates.iter().enumerate() {
                if c.position == s {
                    return instant.q[k];
                }
                if c.velocity == s {
                    return instant.v[k] * (1.0 + shift);
                }
                if c.acceleration == s {
                    return instant.a[k] * (1.0 + shift);
                }
            }
            if s == model.time {
                return instant.t;
            }
            model.parameters.iter().find(|p| p.symbol == s).map_or(f64::NAN, |p| p.value)
        }
    };
    let outputs: Vec<Expr> = equations.iter().map(|e| e.expr).collect();
    let residual = g.evaluate(&outputs, &at(0.0));
    let shifted = g.evaluate(&outputs, &at(1.0));
    let relative = |(r, s): (&f64, &f64)| r.abs() / (1.0 + (s - r).abs());
    residual.iter().zip(&shifted).map(relative).fold(0.0, worse)
}

/// The largest component of what is left of a vector after the best combination of the rows is taken away.
fn beside(rows: &[f64], vector: &[f64]) -> f64 {
    let n = vector.len();
    let m = rows.len() / n.max(1);
    let columns: Vec<f64> = (0..n).flat_map(|k| (0..m).map(move |a| rows[a * n + k])).collect();
    let x = least_squares(&columns, n, m, vector, 1e-12).x;
    let left = |k: usize| vector[k] - (0..m).map(|a| rows[a * n + k] * x[a]).sum::<f64>();
    (0..n).map(|k| left(k).abs()).fold(0.0, worse)
}

fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
