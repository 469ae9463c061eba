//! The model differentiated by dual numbers at one instant: what the audit believes instead of the derivation.
//!
//! $$ \frac{d}{dt}\frac{\partial L}{\partial\dot q_k} - \frac{\partial L}{\partial q_k} - Q_k - \sum_a\lambda_a w_{ak}, \qquad \frac{d\varphi_a}{dt}, \qquad E $$
//!
//! with $w_a = \partial\varphi_a/\partial\dot q$ (or what `along` says); under the vakonomic principle the reaction is $\sum_a \dot\mu_a w_a + \mu_a(\dot w_a - \partial\varphi_a/\partial q)$.
//! Under the restricted principle $R - p_a(\dot w_a - \partial\varphi_a/\partial q)$ must lie in the span of the $w_a$, and $\sum_a p_a w_a$ be the momentum of the dependent coordinates.
//! Here $\varepsilon_1$ goes along $\dot q_k$ (or $q_k$) and $\varepsilon_2$ along the motion $(\dot q, \ddot q, 1)$.

use pfaff_expr::Expr;
use pfaff_mechanics::{Class, classify};
use pfaff_model::{Dynamics, ForceOrigin, Model, Principle};
use pfaff_solver::least_squares;

use crate::dual::{Jet, Jets};
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
}

/// Expressions with the meaning of their symbols.
struct Laid {
    jets: Jets,
    meaning: Vec<Meaning>,
}

#[derive(Clone, Copy, Debug)]
enum Meaning {
    Time,
    Position(usize),
    Velocity(usize),
    Value(f64),
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

/// Along which symbols an evaluation differentiates.
#[derive(Clone, Copy)]
enum Along {
    Velocity(usize),
    Position(usize),
    Motion,
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
        })
    }

    /// Dual-number operations of one [`Witness::judge`].
    pub(crate) fn cost(&self) -> usize {
        2 * self.n * self.lagrangian.jets.len() + (self.n + 1) * self.constraints.jets.len()
    }

    /// Dual-number operations of one [`Witness::constraints`].
    pub(crate) fn constraint_cost(&self) -> usize {
        (self.n + 1) * self.constraints.jets.len()
    }

    pub(crate) fn is_holonomic(&self, a: usize) -> bool {
        self.holonomic[a]
    }

    /// Residuals of all constraints at an instant.
    pub(crate) fn constraints(&mut self, instant: &Instant) -> Vec<Residual> {
        let m = self.holonomic.len();
        let mut slopes = vec![vec![0.0; self.n]; m];
        self.slopes(instant, &mut slopes);
        self.constraints.evaluate(instant, None);
        (0..m)
            .map(|a| {
                let scale = |x: &[f64]| {
                    1.0 + slopes[a].iter().zip(x).map(|(s, x)| (s * x).abs()).sum::<f64>()
                };
                let jet = self.constraints.jets.output(a);
                if self.holonomic[a] {
                    Residual {
                        velocity: (jet.d2 / scale(&instant.v)).abs(),
                        position: Some((jet.x / scale(&instant.q)).abs()),
                    }
                } else {
                    Residual { velocity: (jet.x / scale(&instant.v)).abs(), position: None }
                }
            })
            .collect()
    }

    /// Adds what is wrong at an instant to the findings.
    pub(crate) fn judge(&mut self, instant: &Instant, findings: &mut Findings) {
        let (n, m) = (self.n, self.holonomic.len());
        let mut directions = vec![vec![0.0; n]; m];
        self.slopes(instant, &mut directions);
        self.constraints.evaluate(instant, None);
        let mut differentiated = 0.0;
        for a in 0..m {
            let jet = self.constraints.jets.output(a);
            let off = if self.holonomic[a] { jet.d12 } else { jet.d2 };
            let terms = directions[a].iter().zip(&instant.a).map(|(s, a)| (s * a).abs());
            differentiated = worse(differentiated, off.abs() / (1.0 + terms.sum::<f64>()));
        }
        for (a, along) in self.along.iter_mut().enumerate() {
            if let Some(along) = along {
                along.evaluate(instant, None);
                (0..n).for_each(|k| directions[a][k] = along.jets.output(k).x);
            }
        }
        self.forces.evaluate(instant, None);
        let (mut equations, mut energy, mut size) = (0.0, 0.0, 1.0);
        let restricted = self.principle == Principle::Restricted;
        let (mut needed, mut needed_scale) = (vec![0.0; n], 1.0_f64);
        for k in 0..n {
            self.lagrangian.evaluate(instant, Some(Along::Velocity(k)));
            let p = self.lagrangian.jets.output(0);
            self.lagrangian.evaluate(instant, Some(Along::Position(k)));
            let slope = self.lagrangian.jets.output(0).d1;
            let force = self.force(instant, k);
            let (reaction, reactions) = self.reaction(instant, &directions, k);
            let scale = 1.0 + p.d12.abs() + slope.abs() + force.abs() + reactions;
            if restricted {
                // NOTE: here `reaction` is the part that the multipliers give whatever their rates are.
                let whole = p.d12 - slope - force;
                equations = worse(equations, (whole - instant.reaction[k]).abs() / scale);
                needed[k] = whole - reaction;
                needed_scale = needed_scale.max(scale);
                if self.dependent.contains(&k) {
                    let carried: f64 =
                        (0..m).map(|a| instant.multipliers[a] * directions[a][k]).sum();
                    equations = worse(equations, (carried - p.d1).abs() / (1.0 + p.d1.abs()));
                }
            } else {
                equations = worse(equations, (p.d12 - slope - force - reaction).abs() / scale);
                equations = worse(equations, (reaction - instant.reaction[k]).abs() / scale);
            }
            energy += instant.v[k] * p.d1;
            size += (instant.v[k] * p.d1).abs();
            if k + 1 == n {
                energy -= p.x;
                size += p.x.abs();
            }
        }
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

    /// $Q_k$: as given, $F\cdot\partial r/\partial q_k$ and $-\partial D/\partial\dot q_k$.
    fn force(&mut self, instant: &Instant, k: usize) -> f64 {
        let mut force = self.forces.jets.output(k).x;
        for point in &mut self.points {
            point.evaluate(instant, Some(Along::Position(k)));
            let half = point.jets.outputs() / 2;
            force += (0..half)
                .map(|i| point.jets.output(i).d1 * point.jets.output(half + i).x)
                .sum::<f64>();
        }
        self.dissipation.evaluate(instant, Some(Along::Velocity(k)));
        force - self.dissipation.jets.output(0).d1
    }

    /// $R_k$ and the sum of the magnitudes of its parts.
    fn reaction(&mut self, instant: &Instant, directions: &[Vec<f64>], k: usize) -> (f64, f64) {
        let m = self.holonomic.len();
        let (mut sum, mut size) = (0.0, 0.0);
        let mut add = |part: f64| {
            sum += part;
            size += part.abs();
        };
        if self.principle == Principle::Chetaev {
            (0..m).for_each(|a| add(instant.multipliers[a] * directions[a][k]));
            return (sum, size);
        }
        self.constraints.evaluate(instant, Some(Along::Velocity(k)));
        for a in 0..m {
            if self.principle == Principle::Vakonomic {
                add(instant.multiplier_rates[a] * directions[a][k]);
            }
            if !self.holonomic[a] {
                add(instant.multipliers[a] * self.constraints.jets.output(a).d12);
            }
        }
        self.constraints.evaluate(instant, Some(Along::Position(k)));
        for a in (0..m).filter(|&a| !self.holonomic[a]) {
            add(-instant.multipliers[a] * self.constraints.jets.output(a).d1);
        }
        (sum, size)
    }

    /// $\partial\varphi_a/\partial\dot q_k$, or $\partial\varphi_a/\partial q_k$ for the holonomic ones.
    fn slopes(&mut self, instant: &Instant, slopes: &mut [Vec<f64>]) {
        for k in 0..self.n {
            for along in [Along::Velocity(k), Along::Position(k)] {
                let position = matches!(along, Along::Position(_));
                if !self.holonomic.contains(&position) {
                    continue;
                }
                self.constraints.evaluate(instant, Some(along));
                for (a, row) in slopes.iter_mut().enumerate() {
                    if self.holonomic[a] == position {
                        row[k] = self.constraints.jets.output(a).d1;
                    }
                }
            }
        }
    }
}

impl Laid {
    fn new(model: &Model, outputs: &[Expr]) -> Self {
        let jets = Jets::new(&model.graph, outputs);
        let meaning = jets
            .symbols
            .iter()
            .map(|&s| {
                let place = |find: &dyn Fn(&pfaff_model::Coordinate) -> bool| {
                    model.coordinates.iter().position(find)
                };
                if s == model.time {
                    Meaning::Time
                } else if let Some(k) = place(&|c| c.position == s) {
                    Meaning::Position(k)
                } else if let Some(k) = place(&|c| c.velocity == s) {
                    Meaning::Velocity(k)
                } else {
                    let parameter = model.parameters.iter().find(|p| p.symbol == s);
                    Meaning::Value(parameter.map_or(f64::NAN, |p| p.value))
                }
            })
            .collect();
        Self { jets, meaning }
    }

    /// $\varepsilon_2$ goes along the motion. $\varepsilon_1$ goes where asked, or also along the motion: then $d_{12}$ is the second time derivative.
    fn evaluate(&mut self, instant: &Instant, first: Option<Along>) {
        let Self { jets, meaning } = self;
        let first = first.unwrap_or(Along::Motion);
        jets.evaluate(&|s| {
            let moving = matches!(first, Along::Motion);
            match meaning[s] {
                Meaning::Time => {
                    Jet { x: instant.t, d1: f64::from(u8::from(moving)), d2: 1.0, d12: 0.0 }
                }
                Meaning::Position(k) => Jet {
                    x: instant.q[k],
                    d1: match first {
                        Along::Motion => instant.v[k],
                        Along::Position(i) if i == k => 1.0,
                        _ => 0.0,
                    },
                    d2: instant.v[k],
                    d12: if moving { instant.a[k] } else { 0.0 },
                },
                // NOTE: the rate of the acceleration is not known; no second time derivative of a velocity is ever read.
                Meaning::Velocity(k) => Jet {
                    x: instant.v[k],
                    d1: match first {
                        Along::Motion => instant.a[k],
                        Along::Velocity(i) if i == k => 1.0,
                        _ => 0.0,
                    },
                    d2: instant.a[k],
                    d12: 0.0,
                },
                Meaning::Value(x) => Jet::constant(x),
            }
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
fn beside(rows: &[Vec<f64>], vector: &[f64]) -> f64 {
    let (n, m) = (vector.len(), rows.len());
    let columns: Vec<f64> = (0..n).flat_map(|k| rows.iter().map(move |r| r[k])).collect();
    let x = least_squares(&columns, n, m, vector, 1e-12).x;
    let left = |k: usize| vector[k] - (0..m).map(|a| rows[a][k] * x[a]).sum::<f64>();
    (0..n).map(|k| left(k).abs()).fold(0.0, worse)
}

fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
