//! The model differentiated by dual numbers at one sample: what the audit believes instead of the derivation.
//!
//! $$ \frac{d}{dt}\frac{\partial L}{\partial\dot q_k} - \frac{\partial L}{\partial q_k} - Q_k -
//! \sum_a\lambda_a w_{ak}, \qquad \frac{d\varphi_a}{dt}, \qquad E $$
//!
//! with $w_a = \partial\varphi_a/\partial\dot q$ (or what `along` says); under the vakonomic principle the
//! reaction is $\sum_a \dot\mu_a w_a + \mu_a(\dot w_a - \partial\varphi_a/\partial q)$.
//! Under the restricted principle $R - p_a(\dot w_a - \partial\varphi_a/\partial q)$ must lie in the span of
//! the $w_a$, and $\sum_a p_a w_a$ be the momentum of the dependent coordinates.
//! Derivatives by symbols come from sweeps of `dual.rs`, rates along the motion $(\dot q, \ddot q, 1)$ from
//! its dual numbers, at several instants together.

use std::collections::BTreeMap;

use pfaff_expr::Expr;
use pfaff_mechanics::Class;
use pfaff_model::{Dynamics, ForceOrigin, Principle, Workspace};
use pfaff_solver::least_squares;

use crate::audit::autodiff::{Dual, Duals, Lanes, Sized};
use crate::audit::deviation::{Deviation, worse};
use crate::audit::laid::{Gradient, Laid, SparseGradient};
use crate::motion::sample::{LANES, Sample};

/// The parts of a model, laid out for dual numbers.
pub(crate) struct DualResidual {
    n: usize,
    /// $L$, $D$ and the constraints, which are differentiated; then $Q_k$ as given; then $w$ of `along`,
    /// where given. Together, because they have much in common.
    parts: Laid,
    /// The constraints alone.
    rows: Laid,
    /// Where $w$ of `along` begins among them, by constraint.
    along: Vec<Option<usize>>,
    /// $r$ and then $F$ of each force at a point.
    points: Vec<Laid>,
    holonomic: Vec<bool>,
    pub(crate) principle: Principle,
    /// Positions, velocities and accelerations below which nothing matters.
    pub(crate) least: [Vec<f64>; 3],
    /// The dependent coordinates of the restricted principle.
    dependent: Vec<usize>,
    /// Of each constraint at the instants last looked at.
    gradients: Vec<SparseGradient>,
    /// Of the Lagrangian, of places times the forces there, and of $D$.
    slopes: Gradient,
    push: Gradient,
    drag: Gradient,
    /// $R_k$ at one sample, and the sums of the magnitudes of its parts.
    reactions: Vec<(f64, f64)>,
    /// Which constraints are broad, and what is known of them.
    is_broad: Vec<bool>,
    broad: BroadSums,
}

/// What is known of broad constraints at the instants last looked at.
#[derive(Default)]
struct BroadSums {
    nodes: Vec<Sized>,
    /// $\partial\varphi_a/\partial\dot q$ times numbers and sizes, by constraint.
    rows: Vec<Sized>,
    /// $\sum_a\lambda_a\,\partial\varphi_a/\partial\dot q_k$
    reactions: Vec<Sized>,
}

/// Places among the parts.
const LAGRANGIAN: usize = 0;
const DISSIPATION: usize = 1;
const CONSTRAINTS: usize = 2;

/// The deviations found so far, and the largest values on the way.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    /// By coordinate; after these what the restricted principle asks for besides.
    equations: Vec<Deviation>,
    /// By constraint.
    differentiated: Vec<Deviation>,
    energy: Deviation,
    velocities: Vec<Deviation>,
    /// Of positions, velocities and accelerations.
    largest: [Vec<f64>; 3],
    longest_step: f64,
    /// Samples that were looked at.
    count: usize,
}

impl Findings {
    /// Of n coordinates and m constraints, whose positions and velocities are at least as large as given.
    pub(crate) fn new(n: usize, m: usize, [q, v]: [&[f64]; 2]) -> Self {
        let none = Deviation::default();
        Self {
            equations: vec![none; 2 * n + 1],
            differentiated: vec![none; m],
            energy: none,
            velocities: vec![none; n],
            largest: [q.to_vec(), v.to_vec(), vec![0.0; n]],
            longest_step: 0.0,
            count: 0,
        }
    }

    /// The rates of the interpolant, beside the velocities of the sample.
    pub(crate) fn compare(&mut self, sample: &Sample, rates: &[f64], length: f64) {
        for ((found, v), rate) in self.velocities.iter_mut().zip(&sample.v).zip(rates) {
            found.include(Deviation::within(rate - v, v.abs(), length));
        }
    }

    fn include_values(&mut self, sample: &Sample, length: f64) {
        for (largest, values) in self.largest.iter_mut().zip([&sample.q, &sample.v, &sample.a])
        {
            for (most, x) in largest.iter_mut().zip(values) {
                *most = most.max(x.abs());
            }
        }
        self.longest_step = self.longest_step.max(length);
        self.count += 1;
    }

    /// The rate of the fastest position or velocity, in parts of its largest value.
    pub(crate) fn pace(&self) -> f64 {
        pace(&self.largest)
    }

    /// Of all of them, if there are any.
    fn worst(&self, values: impl Iterator<Item = f64>) -> Option<f64> {
        if self.count == 0 { None } else { values.reduce(worse) }
    }

    /// Of the equations of motion, in parts of their largest terms. A force that does a thousandth of the energy over
    /// the largest position is nothing.
    pub(crate) fn equations(&self) -> Option<f64> {
        let [q, v, a] = &self.largest;
        let ratios = a.iter().zip(v).filter(|(a, _)| **a > 0.0).map(|(a, v)| a / v);
        let rate = ratios.fold(0.0, f64::max);
        let least = |k: usize| q.get(k).map_or(0.0, |q| NOTHING * self.energy.size() / q);
        let rows = self.equations.iter().enumerate();
        self.worst(rows.map(|(k, row)| row.relative_in_motion(least(k), rate)))
    }

    /// Of the differentiated constraints.
    pub(crate) fn differentiated(&self) -> Option<f64> {
        self.worst(self.differentiated.iter().map(|row| row.relative(0.0)))
    }

    pub(crate) fn energy(&self) -> Option<f64> {
        self.worst(std::iter::once(self.energy.relative(0.0)))
    }

    /// Of the velocities against the rates of positions.
    pub(crate) fn velocities(&self) -> Option<f64> {
        let [q, v, _] = &self.largest;
        let rows = self.velocities.iter().zip(q.iter().zip(v));
        self.worst(rows.map(|(row, (q, v))| row.relative_in_motion(*v, v / q)))
    }
}

/// The rate of the fastest component, in parts of its largest value, from the largest positions, velocities and
/// accelerations.
pub(crate) fn pace([q, v, a]: &[Vec<f64>; 3]) -> f64 {
    let ratios = v.iter().zip(q).chain(a.iter().zip(v)).map(|(rate, x)| rate / x);
    ratios.filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// The part of the largest terms that does not matter.
pub(crate) const NOTHING: f64 = 1e-3;

/// The residuals of one constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Residual {
    pub(crate) velocity: Deviation,
    pub(crate) position: Option<Deviation>,
}

impl DualResidual {
    /// `None` for an `equation` model.
    pub(crate) fn new(
        model: &Workspace,
        principle: Principle,
        dependent: &[usize],
        classes: &[Class],
    ) -> Option<Self> {
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
        let g = &model.graph;
        let n = model.coordinates.len();
        let (mut given, mut points, mut dissipation) = (Vec::new(), Vec::new(), g.zero());
        for f in &model.forces {
            match &f.origin {
                ForceOrigin::Components => given.push(&f.components),
                ForceOrigin::Point { position, force } => {
                    let both: Vec<Expr> = position.iter().chain(force).copied().collect();
                    points.push(Laid::new(model, &both, position.len()));
                }
                ForceOrigin::Dissipation(d) => dissipation = g.add(dissipation, *d),
            }
        }
        let mut parts = vec![lagrangian, dissipation];
        parts.extend(model.constraints.iter().map(|c| c.expr));
        let differentiated = parts.len();
        parts.extend((0..n).map(|k| g.sum(given.iter().map(|q| q[k]))));
        let mut along = Vec::with_capacity(model.constraints.len());
        for constraint in &model.constraints {
            let given = constraint.along.as_ref().filter(|_| principle == Principle::Chetaev);
            along.push(given.map(|_| parts.len()));
            parts.extend(given.into_iter().flatten());
        }
        let m = model.constraints.len();
        let may_be_broad = |a: &usize| {
            let class = classes.get(*a);
            principle == Principle::Chetaev
                && along[*a].is_none()
                && class.is_some_and(|&class| class != Class::Holonomic)
        };
        let broad: Vec<usize> = (0..m).filter(may_be_broad).collect();
        let among: Vec<usize> = broad.iter().map(|a| CONSTRAINTS + a).collect();
        let rows = Laid::with_broad(model, &parts[CONSTRAINTS..differentiated], m, &broad);
        let is_broad = (0..m).map(|a| rows.duals.broad.contains(a)).collect();
        Some(Self {
            n,
            rows,
            is_broad,
            parts: Laid::with_broad(model, &parts, differentiated, &among),
            along,
            points,
            holonomic: classes.iter().map(|&class| class == Class::Holonomic).collect(),
            principle,
            dependent: dependent.to_vec(),
            least: [vec![0.0; n], vec![0.0; n], vec![0.0; n]],
            gradients: vec![SparseGradient::default(); model.constraints.len()],
            slopes: Gradient::new(n),
            push: Gradient::new(n),
            drag: Gradient::new(n),
            reactions: Vec::new(),
            broad: BroadSums {
                rows: vec![[[0.0; LANES]; 2]; m],
                reactions: vec![[[0.0; LANES]; 2]; n],
                ..BroadSums::default()
            },
        })
    }

    /// Dual-number operations of looking at a sample.
    pub(crate) fn cost(&self) -> usize {
        self.parts.cost()
    }

    pub(crate) fn is_holonomic(&self, a: usize) -> bool {
        self.holonomic[a]
    }

    /// Dual-number operations of looking at the constraints of a sample.
    pub(crate) fn constraint_cost(&self) -> usize {
        self.rows.cost()
    }

    /// All parts at some instants, and the derivatives of the constraints.
    fn differentiate(&mut self, instants: &[Sample]) {
        self.parts.evaluate(instants);
        for (a, gradient) in self.gradients.iter_mut().enumerate() {
            if !self.is_broad[a] {
                self.parts.sweep_into(CONSTRAINTS + a, gradient);
            }
        }
    }

    /// $\varphi_a$
    fn constraint(&self, a: usize) -> &Dual {
        self.parts.duals.output(CONSTRAINTS + a)
    }

    /// $\partial\varphi_a/\partial\dot q$, or $\partial\varphi_a/\partial q$ of a holonomic one.
    fn direction(&self, a: usize) -> &[(usize, Dual)] {
        if self.holonomic[a] { &self.gradients[a].q } else { &self.gradients[a].v }
    }

    /// Residuals of a constraint at a sample, from its value and the derivatives that are known.
    fn residual(&self, a: usize, value: &Dual, sample: &Sample, l: usize) -> Residual {
        if self.is_broad[a] {
            let size = self.broad.rows[a][1][l];
            return Residual { velocity: Deviation::new(value.x[l], size), position: None };
        }
        let deviation = |value: f64, x: &[f64], least: &[f64]| {
            let terms = self.direction(a).iter();
            let terms = terms.map(|(k, s)| s.x[l].abs() * x[*k].abs().max(least[*k]));
            Deviation::new(value, terms.sum())
        };
        let [q, v, _] = &self.least;
        if self.holonomic[a] {
            Residual {
                velocity: deviation(value.d[l], &sample.v, v),
                position: Some(deviation(value.x[l], &sample.q, q)),
            }
        } else {
            Residual { velocity: deviation(value.x[l], &sample.v, v), position: None }
        }
    }

    /// The residuals of all constraints at some instants, at most [`LANES`], are told with the numbers of the
    /// constraints.
    pub(crate) fn constraints(
        &mut self,
        instants: &[Sample],
        tell: &mut dyn FnMut(usize, Residual),
    ) {
        if self.holonomic.is_empty() {
            return;
        }
        self.rows.evaluate(instants);
        for (a, gradient) in self.gradients.iter_mut().enumerate() {
            if !self.is_broad[a] {
                self.rows.sweep_into(a, gradient);
            }
        }
        if self.is_broad.contains(&true) {
            let Self { rows, broad, least, is_broad, .. } = self;
            let size = |k: usize| lanes(instants, |s| s.v[k].abs().max(least[1][k]));
            rows.spread(&|k| [[0.0; LANES], size(k)], &mut broad.nodes);
            broad.take(&rows.duals, is_broad, 0);
        }
        for (l, sample) in instants.iter().enumerate() {
            for a in 0..self.holonomic.len() {
                tell(a, self.residual(a, self.rows.duals.output(a), sample, l));
            }
        }
    }

    /// $|d\varphi/dt|$ or, of a holonomic one, $|d^2\varphi/dt^2|$, with the size of its terms.
    fn differentiated(
        &self,
        a: usize,
        sample: &Sample,
        l: usize,
        largest: &[f64],
    ) -> Deviation {
        let off = if self.holonomic[a] {
            let SparseGradient { q, t, .. } = &self.gradients[a];
            let rate = |(k, s): &(usize, Dual)| s.d[l] * sample.v[*k] + s.x[l] * sample.a[*k];
            let moved = q.iter().map(rate);
            moved.sum::<f64>() + t.d[l]
        } else {
            self.constraint(a).d[l]
        };
        if self.is_broad[a] {
            let [sum, size] = self.broad.rows[a].map(|x| x[l]);
            return Deviation::new(off, size + (off - sum).abs());
        }
        let (mut sum, mut size) = (0.0, 0.0);
        for (k, s) in self.direction(a) {
            sum += s.x[l] * sample.a[*k];
            size += (s.x[l] * sample.a[*k]).abs().max(s.x[l].abs() * largest[*k]);
        }
        Deviation::new(off, size + (off - sum).abs())
    }

    /// Adds what is wrong at some instants, at most [`LANES`], to the findings; with the lengths of their steps.
    pub(crate) fn judge(
        &mut self,
        instants: &[Sample],
        lengths: &[f64],
        findings: &mut Findings,
    ) {
        if instants.is_empty() {
            return;
        }
        self.differentiate(instants);
        self.push(instants);
        self.slopes.clear();
        self.parts.sweep(LAGRANGIAN, [1.0; LANES], &mut self.slopes);
        if self.is_broad.contains(&true) {
            self.sum_up(instants, lengths, findings);
        }
        for (l, (sample, &length)) in instants.iter().zip(lengths).enumerate() {
            findings.include_values(sample, length);
            self.judge_one(sample, l, length, findings);
        }
    }

    /// What broad constraints do together, at instants that are about to be judged.
    fn sum_up(&mut self, instants: &[Sample], lengths: &[f64], findings: &Findings) {
        let Self { parts, broad, is_broad, n, least, .. } = self;
        let longest = lengths.iter().copied().fold(findings.longest_step, f64::max);
        let most = |k: usize| {
            let values = instants.iter().map(|s| s.v[k].abs());
            values.fold(findings.largest[1][k], f64::max)
        };
        let least: Vec<f64> =
            (0..*n).map(|k| (most(k) * NOTHING / longest).max(least[2][k])).collect();
        let along = |k: usize| {
            let size = lanes(instants, |s| s.a[k].abs().max(least[k]));
            [lanes(instants, |s| s.a[k]), size]
        };
        parts.spread(&along, &mut broad.nodes);
        broad.take(&parts.duals, is_broad, CONSTRAINTS);
        let weight = |i: usize| lanes(instants, |s| s.multipliers[i - CONSTRAINTS]);
        parts.pull(&weight, &mut broad.nodes, &mut broad.reactions);
    }

    /// One of them.
    fn judge_one(&mut self, sample: &Sample, l: usize, length: f64, findings: &mut Findings) {
        let (n, m) = (self.n, self.holonomic.len());
        // Accelerations that change no velocity by more than this are nothing.
        let per_step = NOTHING / findings.longest_step;
        let largest = findings.largest[1].iter().zip(&self.least[2]);
        let least: Vec<f64> = largest.map(|(v, least)| (v * per_step).max(*least)).collect();
        for (a, found) in findings.differentiated.iter_mut().enumerate() {
            found.include(self.differentiated(a, sample, l, &least));
        }
        let mut reactions = std::mem::take(&mut self.reactions);
        self.react(sample, l, &mut reactions);
        let first_force = CONSTRAINTS + m;
        let (mut energy, mut size) = (0.0, 0.0);
        let restricted = self.principle == Principle::Restricted;
        let directions = if restricted { self.full_directions(l) } else { Vec::new() };
        let (mut needed, mut needed_scale) = (Vec::new(), 0.0_f64);
        for k in 0..n {
            let (p, p_rate) = (self.slopes.v[k].x[l], self.slopes.v[k].d[l]);
            let slope = self.slopes.q[k].x[l];
            let given = self.parts.duals.output(first_force + k).x[l];
            let force = given + self.push.q[k].x[l] - self.drag.v[k].x[l];
            let (reaction, parts) = reactions[k];
            let scale = p_rate.abs() + slope.abs() + force.abs() + parts;
            let mut include = |row: usize, off: f64, size: f64| {
                findings.equations[row].include(Deviation::within(off, size, length));
            };
            if restricted {
                // NOTE: here `reaction` is the part that the multipliers give whatever their rates are.
                let whole = p_rate - slope - force;
                include(k, whole - sample.reaction[k], scale + sample.reaction[k].abs());
                needed.push(whole - reaction);
                needed_scale = needed_scale.max(scale);
                if self.dependent.contains(&k) {
                    let carried: f64 =
                        (0..m).map(|a| sample.multipliers[a] * directions[a * n + k]).sum();
                    include(n + k, carried - p, p.abs().max(carried.abs()));
                }
            } else {
                include(k, p_rate - slope - force - reaction, scale);
                include(k, reaction - sample.reaction[k], scale);
            }
            energy += sample.v[k] * p;
            size += (sample.v[k] * p).abs();
        }
        let lagrangian = self.parts.duals.output(LAGRANGIAN).x[l];
        energy -= lagrangian;
        size += lagrangian.abs();
        if restricted {
            let off = beside(&directions, &needed);
            findings.equations[2 * n].include(Deviation::within(off, needed_scale, length));
        }
        self.reactions = reactions;
        findings.energy.include(Deviation::new(energy - sample.energy, size));
    }

    /// $F\cdot\partial r/\partial q$ in `push`, $\partial D/\partial\dot q$ in `drag`.
    fn push(&mut self, instants: &[Sample]) {
        self.push.clear();
        for point in &mut self.points {
            point.evaluate(instants);
            let half = point.duals.swept_outputs();
            for i in 0..half {
                let force = point.duals.output(half + i).x;
                point.sweep(i, force, &mut self.push);
            }
        }
        self.drag.clear();
        self.parts.sweep(DISSIPATION, [1.0; LANES], &mut self.drag);
    }

    /// All $R_k$, each with the sum of the magnitudes of its parts.
    fn react(&self, sample: &Sample, l: usize, reactions: &mut Vec<(f64, f64)>) {
        reactions.clear();
        reactions.resize(self.n, (0.0, 0.0));
        if self.is_broad.contains(&true) {
            let sums = reactions.iter_mut().zip(&self.broad.reactions);
            sums.for_each(|(reaction, sum)| *reaction = (sum[0][l], sum[1][l]));
        }
        let mut add = |k: usize, part: f64| {
            reactions[k].0 += part;
            reactions[k].1 += part.abs();
        };
        let others = (0..self.holonomic.len()).filter(|&a| !self.is_broad[a]);
        for a in others {
            let λ = match self.principle {
                Principle::Chetaev => Some(sample.multipliers[a]),
                Principle::Vakonomic => Some(sample.multiplier_rates[a]),
                Principle::Restricted => None,
            };
            match (λ, self.along[a]) {
                (None, _) => {}
                (Some(λ), Some(first)) => (0..self.n)
                    .for_each(|k| add(k, λ * self.parts.duals.output(first + k).x[l])),
                (Some(λ), None) => {
                    self.direction(a).iter().for_each(|(k, s)| add(*k, λ * s.x[l]));
                }
            }
            if self.principle != Principle::Chetaev && !self.holonomic[a] {
                let SparseGradient { q, v, .. } = &self.gradients[a];
                v.iter().for_each(|(k, s)| add(*k, sample.multipliers[a] * s.d[l]));
                q.iter().for_each(|(k, s)| add(*k, -sample.multipliers[a] * s.x[l]));
            }
        }
    }

    /// $w$ of all constraints by full rows.
    fn full_directions(&self, l: usize) -> Vec<f64> {
        let mut directions = vec![0.0; self.holonomic.len() * self.n];
        for (a, row) in directions.chunks_exact_mut(self.n).enumerate() {
            self.direction(a).iter().for_each(|(k, s)| row[*k] = s.x[l]);
        }
        directions
    }
}

impl BroadSums {
    /// The sums at the outputs of broad constraints, the first of which has this place.
    fn take(&mut self, duals: &Duals, is_broad: &[bool], first: usize) {
        for (a, row) in self.rows.iter_mut().enumerate().filter(|row| is_broad[row.0]) {
            *row = *duals.spread_of(first + a, &self.nodes);
        }
    }
}

/// A number at each of some instants; what is left of the lanes repeats the last.
fn lanes(instants: &[Sample], of: impl Fn(&Sample) -> f64) -> Lanes {
    std::array::from_fn(|l| of(&instants[l.min(instants.len() - 1)]))
}

/// The residuals of an `equation` model at an sample, with the size of what they do to the equations that all
/// rates, or all positions, are twice as large.
pub(crate) fn equation_residuals(model: &Workspace, sample: &Sample) -> Vec<Deviation> {
    let Dynamics::Equations(equations) = &model.dynamics else { return Vec::new() };
    let g = &model.graph;
    // Each value, and whether it is a position.
    let mut known: BTreeMap<Expr, (f64, bool)> = BTreeMap::new();
    for (k, c) in model.coordinates.iter().enumerate() {
        known.insert(c.position, (sample.q[k], true));
        known.insert(c.velocity, (sample.v[k], false));
        known.insert(c.acceleration, (sample.a[k], false));
    }
    let known = &known;
    let at = |positions: f64, rates: f64| {
        move |s: Expr| match known.get(&s) {
            Some(&(x, is_position)) => x * if is_position { positions } else { rates },
            None if s == model.time => sample.t,
            None => {
                model.parameters.iter().find(|p| p.symbol == s).map_or(f64::NAN, |p| p.value)
            }
        }
    };
    let outputs: Vec<Expr> = equations.iter().map(|e| e.expr).collect();
    let residuals = g.evaluate(&outputs, &at(1.0, 1.0));
    let shifted = [(1.0, 2.0), (2.0, 1.0)].map(|(q, v)| g.evaluate(&outputs, &at(q, v)));
    let deviation = |(k, &r): (usize, &f64)| {
        // NOTE: what has no value at twice the positions does not enter.
        let size = shifted.iter().map(|s| (s[k] - r).abs()).filter(|x| x.is_finite()).sum();
        Deviation::new(r, size)
    };
    residuals.iter().enumerate().map(deviation).collect()
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
