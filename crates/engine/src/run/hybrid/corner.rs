//! Corners: what a switch in the Lagrangian demands of momenta and energy.
//!
//! The equations on both sides of a switch $u(t, q) = 0$ belong to one action only if its first variation vanishes for
//! other places of the switch too. With $p = \partial_{\dot q}\mathcal L$ and $E = p\,\dot q - \mathcal L$ this is the
//! condition of Weierstrass and Erdmann,
//!
//! $$ \Delta p = \kappa\,\partial_q u + A^\top\Lambda, \qquad -\Delta E = \kappa\,\partial_t u - \Lambda A\dot q, $$
//!
//! with $\kappa = 0$ where $u$ contains velocities, and impulses $\Lambda$ of the constraints. A motion that keeps its
//! velocities meets it where $\mathcal L$ has kinks in $q$, and no corners in $\dot q$. Where $\mathcal L$ jumps (a
//! step of the potential, another mass) an impulse acts that the equations of neither side contain. Under the
//! vakonomic principle $\mathcal L = L - \mu\varphi$ and $\Lambda = 0$. Momenta are measured by the largest velocities.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Principle, Workspace};

use crate::motion::Motion;
use crate::motion::note::{Note, brief};
use crate::motion::side::Side;
use crate::motion::verdict::Check;
use crate::problem::branches::Branches;
use crate::problem::start::Start;
use crate::run::hybrid::switching::SwitchValue;

/// A jump of the Lagrangian that an error of the tolerance would not do, in parts of the energies.
const FIRM: f64 = 1e-9;
const AMPLIFIED: f64 = 1e3;

/// Watches the Lagrangian at switches.
#[derive(Default)]
pub(super) struct Corners {
    is_vakonomic: bool,
    /// $t, q, \dot q$, then the signs of the branches.
    symbols: Vec<Expr>,
    n: usize,
    /// $L$, $\partial_{\dot q}L$, then for each constraint $\varphi$ and its row of $A$.
    outputs: Vec<Expr>,
    /// For each switching function: whether it stands in the Lagrangian.
    concerned: Vec<bool>,
    /// The largest velocities so far, and the largest energy.
    fast: Vec<f64>,
    energy: f64,
    /// The largest violation in parts of the energies, and when it was.
    worst: Option<(f64, f64)>,
}

/// A switch that has been passed.
pub(super) struct Passed<'a> {
    pub(super) t: f64,
    pub(super) state: &'a Start,
    /// The signs before and after, and the switching functions there.
    pub(super) signs: [&'a [Side]; 2],
    pub(super) values: &'a [SwitchValue],
    /// When the first of them is zero, from here; and the accelerations until then.
    pub(super) late: f64,
    pub(super) accelerations: &'a [f64],
}

impl Corners {
    pub(super) fn new(branches: &Branches, principle: Principle) -> Self {
        let model = &branches.model;
        let g = &model.graph;
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
            return Self::default();
        };
        let is_vakonomic = principle == Principle::Vakonomic;
        let mut of = vec![lagrangian];
        if is_vakonomic {
            of.extend(model.constraints.iter().map(|c| c.expr));
        }
        let concerned: Vec<bool> =
            branches.symbols().map(|s| of.iter().any(|&e| g.contains(e, &[s]))).collect();
        if !concerned.contains(&true) {
            return Self::default();
        }
        let (positions, velocities) = (model.positions(), model.velocities());
        let n = positions.len();
        let mut outputs = vec![lagrangian];
        outputs.extend(g.gradient(lagrangian, &velocities));
        for constraint in &model.constraints {
            let slopes = g.gradient(constraint.expr, &velocities);
            let is_holonomic = slopes.iter().all(|&s| s == g.zero());
            outputs.push(constraint.expr);
            outputs.extend(if is_holonomic && !is_vakonomic {
                g.gradient(constraint.expr, &positions)
            } else {
                slopes
            });
        }
        let symbols = [vec![model.time], positions, velocities, branches.symbols().collect()];
        let symbols = symbols.concat();
        let fast = vec![0.0; n];
        Self { is_vakonomic, symbols, n, outputs, concerned, fast, ..Self::default() }
    }

    /// Whether there is nothing to look at.
    pub(super) fn is_idle(&self) -> bool {
        self.concerned.is_empty()
    }

    /// Takes the sizes of a segment.
    pub(super) fn see(&mut self, motion: &Motion) {
        if self.is_idle() {
            return;
        }
        for (_, _, v) in motion.dense.states_between() {
            self.fast.iter_mut().zip(&v).for_each(|(fast, v)| *fast = fast.max(v.abs()));
        }
        let energies = motion.energy.iter().filter(|e| e.is_finite());
        self.energy = energies.fold(self.energy, |m, e| m.max(e.abs()));
    }

    /// Looks at a switch that has been passed.
    pub(super) fn pass(&mut self, model: &Workspace, passed: &Passed<'_>) {
        let [before, after] = passed.signs;
        let changed: Vec<usize> =
            (0..before.len()).filter(|&k| before[k] != after[k]).collect();
        if !changed.iter().any(|&k| self.concerned[k]) {
            return;
        }
        let Start { q, v, multipliers, .. } = passed.state;
        let δ = passed.late;
        let moved = |x: &[f64], rates: &[f64]| -> Vec<f64> {
            let pairs = x.iter().zip(rates);
            pairs.map(|(x, r)| if r.is_finite() { x + δ * r } else { *x }).collect()
        };
        let (q, v) = (moved(q, v), moved(v, passed.accelerations));
        let [first, then] = [before, after].map(|signs| {
            let signs: Vec<f64> = signs.iter().map(|side| side.sign()).collect();
            let values = [&[passed.t + δ], &q[..], &v, &signs].concat();
            let at = |s: Expr| {
                let parameter =
                    || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
                let known = self.symbols.iter().position(|&x| x == s).map(|k| values[k]);
                known.or_else(parameter).unwrap_or(f64::NAN)
            };
            model.graph.evaluate(&self.outputs, &at)
        });
        let sides = [&first, &then].map(|values| self.side(values, &v, multipliers));
        let [(p, e), (p2, e2)] = &sides;
        let mut fast = self.fast.clone();
        fast.iter_mut().zip(&v).for_each(|(fast, v)| *fast = fast.max(v.abs()));
        let mut jump: Vec<f64> =
            p.iter().zip(p2).zip(&fast).map(|((a, b), s)| (b - a) * s).collect();
        jump.push(e - e2);
        for along in self.allowed(passed, &changed, &then, (&fast, &v)) {
            let part: f64 = jump.iter().zip(&along).map(|(x, a)| x * a).sum();
            jump.iter_mut().zip(&along).for_each(|(x, a)| *x -= part * a);
        }
        let sizes = p.iter().zip(p2).zip(&fast).map(|((a, b), s)| a.abs().max(b.abs()) * s);
        let scale = sizes.sum::<f64>().max(e.abs()).max(e2.abs()).max(self.energy);
        let part = length(&jump) / scale;
        if part > self.worst.map_or(0.0, |(worst, _)| worst) {
            self.worst = Some((part, passed.t));
        }
    }

    /// $p$ and $E$ on one side.
    fn side(&self, values: &[f64], v: &[f64], multipliers: &[f64]) -> (Vec<f64>, f64) {
        let (l, rest) = values.split_at(1);
        let (p, constraints) = rest.split_at(self.n);
        let (mut l, mut p) = (l[0], p.to_vec());
        if self.is_vakonomic {
            for (row, μ) in constraints.chunks_exact(1 + self.n).zip(multipliers) {
                l -= μ * row[0];
                p.iter_mut().zip(&row[1..]).for_each(|(p, a)| *p -= μ * a);
            }
        }
        let e = p.iter().zip(v).map(|(p, v)| p * v).sum::<f64>() - l;
        (p, e)
    }

    /// Directions in which momenta and energy may jump, orthonormal.
    fn allowed(
        &self,
        passed: &Passed<'_>,
        changed: &[usize],
        values: &[f64],
        (fast, v): (&[f64], &[f64]),
    ) -> Vec<Vec<f64>> {
        let scaled = |slopes: &[f64], last: f64| -> Vec<f64> {
            let parts = slopes.iter().zip(fast).map(|(a, s)| a * s);
            parts.chain([last]).collect()
        };
        let mut all: Vec<Vec<f64>> = Vec::new();
        for &k in changed {
            let slopes = passed.values[k].slopes();
            let (of_place, of_velocity) = slopes[1..].split_at(self.n);
            if of_velocity.iter().all(|&a| a == 0.0) {
                all.push(scaled(of_place, slopes[0]));
            }
        }
        if !self.is_vakonomic {
            for row in values[1 + self.n..].chunks_exact(1 + self.n) {
                let rate: f64 = row[1..].iter().zip(v).map(|(a, v)| a * v).sum();
                all.push(scaled(&row[1..], -rate));
            }
        }
        let mut found: Vec<Vec<f64>> = Vec::new();
        for mut next in all {
            let whole = length(&next);
            for _ in 0..2 {
                for known in &found {
                    let part: f64 = next.iter().zip(known).map(|(x, a)| x * a).sum();
                    next.iter_mut().zip(known).for_each(|(x, a)| *x -= part * a);
                }
            }
            let rest = length(&next);
            if rest > 1e-9 * whole {
                next.iter_mut().for_each(|x| *x /= rest);
                found.push(next);
            }
        }
        found
    }

    /// The check and the note, if the Lagrangian has jumped.
    pub(super) fn told(&self, tolerance: f64) -> Option<(Check, Note)> {
        let limit = FIRM + AMPLIFIED * tolerance;
        let (worst, t) = self.worst.filter(|(worst, _)| *worst > limit || worst.is_nan())?;
        let reason = "where a Lagrangian jumps, or has a corner in the velocities, an impulse acts that the equations \
            on neither side contain";
        let check = Check {
            is_needed: true,
            ..Check::new("Lagrangian at switches".into(), worst, limit, reason)
        };
        let sentence = format!(
            "at t = {} the Lagrangian jumps, or has a corner in the velocities: an impulse acts there, and this motion \
             goes on without it; give the velocities after it with `event` and `on`",
            brief(t)
        );
        Some((check, Note::Remark(sentence)))
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
