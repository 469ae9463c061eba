//! A consistent initial state.
//!
//! What is given is kept. What is missing and touched by a constraint is solved for, as small as the constraints
//! allow in the kinetic metric, $\min \tfrac12 x^\top M x$ subject to the constraints; what no constraint touches is
//! zero. Only if that is impossible is everything moved, by the smallest change in the kinetic metric. Positions come
//! first, then velocities. Every value that was not given as it stands is noted.

use pfaff_expr::Expr;
use pfaff_model::{Diagnostic, Quantity, Workspace};
use pfaff_solver::{Advance, EvalError, Lu, NewtonProblem, NewtonRule, Stall, newton};

use crate::motion::note::Note;
use crate::system::independent_constraints::{DefinedRows, independent};
use crate::system::kkt::Kkt;
use crate::system::projection::{project_positions, project_velocities};
use crate::system::saddle_point::{Blocks, Saddle};
use crate::system::sparse_rows::{RowMatrix, SparseRow, SparseRows};

/// Residuals below this, relative to $1 + \sum|A_i x_i|$, count as met: given decimals are rounded at 1e-16.
const MET: f64 = 1e-12;
/// Newton's iteration converges soon or not at all.
const ITERATIONS: usize = 60;

/// Where a motion starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    /// $q(t_0)$
    pub(crate) q: Vec<f64>,
    /// $\dot q(t_0)$
    pub(crate) v: Vec<f64>,
    /// $\mu(t_0)$ under the vakonomic principle, else empty
    pub(crate) multipliers: Vec<f64>,
    /// What was solved for or changed.
    pub(crate) notes: Vec<Note>,
}

/// No consistent state was found near the given one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoStart {
    /// The constraint that is violated most, by index.
    pub(crate) constraint: usize,
    /// Its residual at the best state found.
    pub(crate) residual: f64,
    /// Whether positions or velocities could not be made consistent.
    pub(crate) positions: bool,
}

/// The given values at the start: `None` where nothing is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) q: Vec<Option<f64>>,
    pub(crate) v: Vec<Option<f64>>,
    pub(crate) multipliers: Vec<Option<f64>>,
}

/// The values of `initial` at the time $t_0$.
pub(crate) fn given(model: &Workspace, t0: f64) -> Given {
    let n = model.coordinates.len();
    let m = model.constraints.len();
    let mut given = Given { q: vec![None; n], v: vec![None; n], multipliers: vec![None; m] };
    let at = |e: Expr| {
        let parameter = model.parameters.iter().find(|p| p.symbol == e).map(|p| p.value);
        parameter.unwrap_or(if e == model.time { t0 } else { f64::NAN })
    };
    for datum in &model.initial {
        let value = model.graph.evaluate(&[datum.value], &at)[0];
        match datum.quantity {
            Quantity::Coordinate(k, 0) => given.q[k] = Some(value),
            Quantity::Coordinate(k, 1) => given.v[k] = Some(value),
            Quantity::Multiplier(a) => given.multipliers[a] = Some(value),
            Quantity::Coordinate(..) | Quantity::Time => {}
        }
    }
    given
}

/// Refuses initial values that are no numbers.
pub(crate) fn refuse_infinite_data(model: &Workspace, t0: f64) -> Result<(), Diagnostic> {
    let at = |e: Expr| {
        let parameter = model.parameters.iter().find(|p| p.symbol == e).map(|p| p.value);
        parameter.unwrap_or(if e == model.time { t0 } else { f64::NAN })
    };
    for datum in &model.initial {
        let finite = model.graph.evaluate(&[datum.value], &at)[0].is_finite();
        if matches!(datum.quantity, Quantity::Coordinate(..)) && !finite {
            let message = "this initial value is not a finite number".into();
            let hint = "check for a division by zero, a logarithm or root of a negative number, or a power too large";
            return Err(Diagnostic::error("E0604", datum.span, message).with_hint(hint));
        }
    }
    Ok(())
}

/// A consistent state of a Lagrangian model.
pub(crate) fn start(
    model: &Workspace,
    kkt: &mut Kkt,
    t0: f64,
    given: &Given,
) -> Result<Start, NoStart> {
    let mut notes = Vec::new();
    let zero = |x: &[Option<f64>]| -> Vec<f64> { x.iter().map(|x| x.unwrap_or(0.0)).collect() };
    let (mut q, mut v) = (zero(&given.q), zero(&given.v));
    // NOTE: the kinetic metric is that of L: with μ = 0 the vakonomic mass is the plain one.
    let multipliers = vec![0.0; kkt.carried];
    for level in [Level::Position, Level::Velocity] {
        let known = if level == Level::Position { &given.q } else { &given.v };
        let mut problem =
            Problem { model, kkt, t0, multipliers: &multipliers, level, q: &mut q, v: &mut v };
        let moved = problem.settle(known)?;
        let settled = if level == Level::Position { &q } else { &v };
        notes.extend(changes(model, level, known, settled, moved));
    }
    Ok(Start { q, v, multipliers, notes })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Position,
    Velocity,
}

struct Problem<'a> {
    model: &'a Workspace,
    kkt: &'a mut Kkt,
    t0: f64,
    /// Multipliers take no part in what is consistent, but in the metric of the vakonomic principle.
    multipliers: &'a [f64],
    level: Level,
    q: &'a mut Vec<f64>,
    v: &'a mut Vec<f64>,
}

/// Newton's iteration to the nearest point on the constraints, in the kinetic metric.
struct Nearest<'a, 'b> {
    problem: &'a mut Problem<'b>,
    saddle: Saddle,
    free: &'a [usize],
    anchor: &'a [f64],
    rows: &'a [usize],
    /// The free components after the step.
    next: Vec<f64>,
}

impl NewtonProblem for Nearest<'_, '_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let Self { problem, saddle, free, anchor, rows, .. } = self;
        problem.evaluate();
        self.next = problem.step(saddle, free, anchor, rows).ok_or(EvalError::Singular)?;
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let mut change = 0.0_f64;
        for (&k, &value) in self.free.iter().zip(&self.next) {
            let x = &mut self.problem.x()[k];
            change = change.max((value - *x).abs() / (1.0 + value.abs()));
            *x = value;
        }
        Ok(Advance::Taken(change))
    }
}

impl Problem<'_> {
    /// Settles one level; tells whether given values had to be moved, and which constraint they contradict.
    fn settle(&mut self, known: &[Option<f64>]) -> Result<Option<(usize, f64)>, NoStart> {
        let given = self.x().clone();
        let rows = self.rows();
        self.evaluate();
        self.kkt.measure_velocities(self.v);
        self.kkt.measure_held(self.q);
        if rows.is_empty() {
            return Ok(None);
        }
        if self.met() {
            self.polish();
            return Ok(None);
        }
        let (touched, reached) = self.touched(known, &rows);
        // What misses a constraint without any of them stays as it is, whatever they are.
        let is_open = |(&a, reached): (&usize, bool)| reached || self.scaled(a).abs() <= MET;
        let is_open = !touched.is_empty() && rows.iter().zip(reached).all(is_open);
        if is_open && self.fill(&touched, &given, &rows) {
            self.polish();
            return Ok(None);
        }
        self.x().clone_from(&given);
        let contradiction = self.worst();
        if self.move_all(&given, &rows) {
            self.polish();
            return Ok(Some(contradiction));
        }
        let (constraint, residual) = self.worst();
        Err(NoStart { constraint, residual, positions: self.level == Level::Position })
    }

    fn x(&mut self) -> &mut Vec<f64> {
        if self.level == Level::Position { self.q } else { self.v }
    }

    /// The constraints of this level.
    fn rows(&self) -> Vec<usize> {
        let level = self.level;
        (0..self.kkt.m).filter(|&a| level == Level::Velocity || self.kkt.holonomic[a]).collect()
    }

    fn evaluate(&mut self) {
        self.kkt.evaluate(self.t0, self.q, self.v, self.multipliers);
    }

    fn value(&self, a: usize) -> f64 {
        let values = if self.level == Level::Position {
            self.kkt.position()
        } else {
            self.kkt.residual()
        };
        values[a]
    }

    fn scaled(&self, a: usize) -> f64 {
        self.value(a)
            / match self.level {
                Level::Position => self.kkt.position_size(a, self.q),
                Level::Velocity => self.kkt.velocity_size(a, self.v, 0.0),
            }
    }

    /// The constraint violated most and its residual at the current values.
    fn worst(&mut self) -> (usize, f64) {
        self.evaluate();
        let rank = |a: &usize| {
            let s = self.scaled(*a).abs();
            if s.is_nan() { f64::INFINITY } else { s }
        };
        let a = self
            .rows()
            .into_iter()
            .max_by(|a, b| rank(a).total_cmp(&rank(b)))
            .unwrap_or_default();
        (a, self.value(a))
    }

    fn met(&mut self) -> bool {
        self.evaluate();
        self.rows().into_iter().all(|a| self.scaled(a).abs() <= MET)
    }

    /// Missing components that a constraint contains, at the current state or at a scattered one, and which of the
    /// constraints contain one.
    fn touched(&mut self, known: &[Option<f64>], rows: &[usize]) -> (Vec<usize>, Vec<bool>) {
        let n = self.kkt.n;
        let kept = self.x().clone();
        let mut touched = vec![false; n + self.kkt.extra];
        let mut reached = vec![false; rows.len()];
        for seed in SEEDS {
            for (k, x) in self.x().iter_mut().enumerate() {
                if known[k].is_none() {
                    *x = seed * (1.0 + 0.1 * k as f64);
                }
            }
            self.evaluate();
            for (&a, reached) in rows.iter().zip(&mut reached) {
                for (k, c) in self.kkt.row(a).entries() {
                    touched[k] |= c != 0.0;
                    // NOTE: an auxiliary velocity may contain a missing one.
                    *reached |= c != 0.0 && known.get(k).is_none_or(Option::is_none);
                }
            }
            for k in (0..self.kkt.extra).rev() {
                let (row, own) = (self.kkt.definition(k), touched[n + k]);
                row.entries().for_each(|(j, c)| touched[j] |= own && c != 0.0);
            }
        }
        *self.x() = kept;
        self.evaluate();
        let touched = (0..n).filter(|&k| known[k].is_none() && touched[k]).collect();
        (touched, reached)
    }

    /// Solves for the missing components, as small as possible, from zero and then from scattered guesses.
    fn fill(&mut self, missing: &[usize], given: &[f64], rows: &[usize]) -> bool {
        let anchor = vec![0.0; self.kkt.n];
        ATTEMPTS.into_iter().any(|(seed, effort)| {
            let mut guess = given.to_vec();
            for (i, &k) in missing.iter().enumerate() {
                guess[k] = seed * (1.0 + 0.1 * i as f64);
            }
            *self.x() = guess;
            let found = self.newton(missing, &anchor, rows, effort);
            if found {
                self.round(missing);
            }
            found
        })
    }

    /// What is zero up to rounding is zero, if the constraints are still met.
    fn round(&mut self, missing: &[usize]) {
        let kept = self.x().clone();
        let size = kept.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for &k in missing {
            let x = &mut self.x()[k];
            if x.abs() <= 1e-14 * size {
                *x = 0.0;
            }
        }
        if !self.met() {
            *self.x() = kept;
        }
    }

    /// Moves everything by the smallest change from the given values.
    fn move_all(&mut self, given: &[f64], rows: &[usize]) -> bool {
        let all: Vec<usize> = (0..self.kkt.n).collect();
        let found = ATTEMPTS.into_iter().any(|(seed, effort)| {
            let shift = |(k, x): (usize, &f64)| x + seed * (1.0 + 0.1 * k as f64);
            *self.x() = given.iter().enumerate().map(shift).collect();
            self.newton(&all, given, rows, effort)
        });
        if !found {
            *self.x() = given.to_vec();
        }
        found
    }

    /// The admissible values nearest to the anchor, from the current ones.
    fn newton(
        &mut self,
        free: &[usize],
        anchor: &[f64],
        rows: &[usize],
        effort: Effort,
    ) -> bool {
        if effort == Effort::Plain {
            return self.iterate(free, anchor, rows);
        }
        // It may take long. What can be sketched can be compiled.
        let _ = self.kkt.compile(self.model);
        // NOTE: rows that repeat others on the constraints but not beside them spoil the iteration: first
        // reach the constraints, then drop these rows.
        if !self.approach(free, rows) {
            return false;
        }
        let reached = self.x().clone();
        let kept = self.independent(free, rows);
        if self.relax(free, anchor, &kept) {
            return true;
        }
        *self.x() = reached;
        effort == Effort::Any && self.met()
    }

    /// $\min \tfrac12 (x - x_0)^\top M (x - x_0)$ over the free components subject to the linearised
    /// constraints, again and again.
    fn iterate(&mut self, free: &[usize], anchor: &[f64], rows: &[usize]) -> bool {
        // NOTE: in systems of hundreds of coordinates rounding is above 1e-14.
        let stall = Some(Stall { below: 2e-13, ratio: 0.9, after: 2 });
        let rule =
            NewtonRule { steps: ITERATIONS, converged: 1e-14, stall, ..NewtonRule::DEFAULT };
        let mut nearest = Nearest {
            problem: self,
            saddle: Saddle::default(),
            free,
            anchor,
            rows,
            next: Vec::new(),
        };
        newton(&mut nearest, &rule).is_ok_and(|report| report.size.is_finite()) && self.met()
    }

    /// From a point on the constraints to the nearest one: a part of the step of [`Problem::iterate`], and
    /// back onto the constraints. Where these bend, whole
    /// steps overshoot; the part is halved until the steps shrink.
    fn relax(&mut self, free: &[usize], anchor: &[f64], rows: &[usize]) -> bool {
        let mut saddle = Saddle::default();
        let (mut part, mut last) = (1.0, f64::INFINITY);
        let mut base: Option<(Vec<f64>, Vec<f64>)> = None;
        for _ in 0..4 * ITERATIONS {
            self.evaluate();
            let Some(mut next) = self.step(&mut saddle, free, anchor, rows) else {
                return false;
            };
            let mut here = self.x().clone();
            let size = free
                .iter()
                .zip(&next)
                .fold(0.0_f64, |s, (&k, x)| s.max((x - here[k]).abs() / (1.0 + x.abs())));
            if size.is_nan() {
                return false;
            }
            if size < 1e-14 || (size < 1e-12 && size >= 0.5 * last) {
                return self.met();
            }
            match base.take() {
                // Not better than where it came from: again, with half the part.
                Some(better) if size > 0.9 * last => {
                    part *= 0.5;
                    (here, next) = better;
                }
                _ => last = size,
            }
            self.x().clone_from(&here);
            for (&k, x) in free.iter().zip(&next) {
                self.x()[k] += part * (x - here[k]);
            }
            let moved = self.x().clone();
            if part < 1e-5 {
                return false;
            }
            if self.iterate(free, &moved, rows) {
                base = Some((here, next));
            } else {
                part *= 0.5;
                *self.x() = here;
            }
        }
        last < 1e-10 && self.met()
    }

    /// Levenberg and Marquardt's iteration onto the constraints: $(A^\top A + \mu)\,\delta = -A^\top\varphi$
    /// with $\mu$ in proportion to $|\varphi|$.
    fn approach(&mut self, free: &[usize], rows: &[usize]) -> bool {
        let f = free.len();
        let mut lu = Lu::new(f);
        let mut damping = 1.0;
        self.evaluate();
        let mut size = self.size(rows);
        for _ in 0..4 * ITERATIONS {
            if !size.is_finite() {
                return false;
            }
            let (mut normal, mut δ) = (vec![0.0; f * f], vec![0.0; f]);
            for &a in rows {
                let row = self.kkt.full_row(self.kkt.row(a));
                for (i, &k) in free.iter().enumerate().filter(|&(_, &k)| row[k] != 0.0) {
                    δ[i] -= row[k] * self.value(a);
                    for (j, &l) in free.iter().enumerate() {
                        normal[i * f + j] += row[k] * row[l];
                    }
                }
            }
            (0..f).for_each(|i| normal[i * f + i] += damping * size);
            if size == 0.0 || lu.factor(f, &normal).is_err() {
                break;
            }
            lu.solve(&mut δ);
            let before = self.x().clone();
            free.iter().zip(&δ).for_each(|(&k, δ)| self.x()[k] += δ);
            self.evaluate();
            let next = self.size(rows);
            if next < size {
                damping = (0.25 * damping).max(1e-3);
                size = next;
            } else if size < 1e-13 || damping > 1e12 {
                *self.x() = before;
                break;
            } else {
                *self.x() = before;
                self.evaluate();
                damping *= 8.0;
            }
        }
        self.met()
    }

    /// $|\varphi|$ over the rows.
    fn size(&self, rows: &[usize]) -> f64 {
        rows.iter().map(|&a| self.value(a) * self.value(a)).sum::<f64>().sqrt()
    }

    /// The rows that do not repeat others in the free components, at the current values.
    fn independent(&mut self, free: &[usize], rows: &[usize]) -> Vec<usize> {
        self.evaluate();
        let matrix = self.kkt.restricted(&self.kkt.places(free), rows);
        let entries: Vec<SparseRow<'_>> = matrix.view().rows().collect();
        let (definitions, all) = entries.split_at(self.kkt.extra);
        let all = DefinedRows { rows: all, definitions, n: free.len() };
        let holonomic: Vec<bool> = rows.iter().map(|&a| self.kkt.holonomic[a]).collect();
        let kept = independent(all, &holonomic, &[]);
        rows.iter().zip(kept).filter(|(_, k)| *k).map(|(&a, _)| a).collect()
    }

    fn step(
        &mut self,
        saddle: &mut Saddle,
        free: &[usize],
        anchor: &[f64],
        rows: &[usize],
    ) -> Option<Vec<f64>> {
        let x = self.x().clone();
        let (kept, extra) = (self.kkt.places(free), self.kkt.extra);
        let left = self.kkt.restricted(&kept, rows);
        // A δ = A (x − x₀) − φ with δ = x_new − x₀
        let mut moved: Vec<f64> = x.iter().zip(anchor).map(|(x, x0)| x - x0).collect();
        (0..self.kkt.n).filter(|&k| kept[k].is_none()).for_each(|k| moved[k] = 0.0);
        let moved = self.kkt.extended(&moved);
        let mut drift = vec![0.0; extra];
        drift.extend(rows.iter().map(|&a| self.kkt.row(a).dot(&moved) - self.value(a)));
        let mass = self.kkt.mass();
        let rows = free.iter().copied().chain(self.kkt.n..self.kkt.n + extra);
        let mut metric = RowMatrix::restricted(rows.map(|i| mass.row(i)), &kept);
        let (force, condensed) = (vec![0.0; free.len() + extra], self.kkt.condensed);
        let blocks = |mass: SparseRows<'_>, saddle: &mut Saddle| {
            let left = left.view();
            let (right, force, drift) = (left, &force[..], &drift[..]);
            saddle.solve(&Blocks { mass, left, right, force, drift, condensed })
        };
        if blocks(metric.view(), saddle).is_err() {
            // NOTE: where the Lagrangian is degenerate every component gets a unit mass in addition.
            metric.add_to_diagonal(free.len(), 1.0);
            blocks(metric.view(), saddle).ok()?;
        }
        Some(free.iter().zip(&saddle.solution).map(|(&k, δ)| anchor[k] + δ).collect())
    }

    /// The last digits: what is left is rounding.
    fn polish(&mut self) {
        let all: Vec<usize> = (0..self.kkt.n).collect();
        let kept = self.independent(&all, &self.rows());
        for a in self.rows() {
            self.kkt.active[a] = kept.contains(&a);
        }
        let (mut q, mut v) = (self.q.clone(), self.v.clone());
        let polished = match self.level {
            Level::Position => {
                project_positions(self.kkt, self.t0, &mut q, &v, self.multipliers)
            }
            Level::Velocity => {
                project_velocities(self.kkt, self.t0, &q, &mut v, self.multipliers)
            }
        };
        if polished.is_ok() {
            (*self.q, *self.v) = (q, v);
        }
    }
}

/// Guesses for what is missing: zero, then places where a gradient that vanishes at zero does not.
const SEEDS: [f64; 7] = [0.0, 1.0, -1.0, 0.3, -0.3, 3.0, -3.0];

/// How far an attempt goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// Newton's iteration for the nearest values.
    Plain,
    /// The constraints first, then the nearest values.
    Patient,
    /// Any values on the constraints.
    Any,
}

/// Everything is tried near the given values before anything is tried far from them.
const ATTEMPTS: [(f64, Effort); 21] = {
    let mut attempts = [(0.0, Effort::Plain); 21];
    attempts[1] = (0.0, Effort::Patient);
    let mut i = 1;
    while i < SEEDS.len() {
        attempts[1 + i] = (SEEDS[i], Effort::Plain);
        attempts[7 + i] = (SEEDS[i], Effort::Patient);
        i += 1;
    }
    i = 0;
    while i < SEEDS.len() {
        attempts[14 + i] = (SEEDS[i], Effort::Any);
        i += 1;
    }
    attempts
};

/// Notes on what was solved for or moved.
fn changes(
    model: &Workspace,
    level: Level,
    known: &[Option<f64>],
    settled: &[f64],
    moved: Option<(usize, f64)>,
) -> Vec<Note> {
    let prime = if level == Level::Position { "" } else { "'" };
    // What was solved for is as exact as its neighbours.
    let rounding = 1e-15 * settled.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let mut notes = Vec::new();
    for (k, coordinate) in model.coordinates.iter().enumerate() {
        let name = format!("{}{prime}", coordinate.name);
        let now = settled[k];
        match known[k] {
            // The rate of a state is what its statement says.
            None if coordinate.is_state && level == Level::Velocity => {}
            None if now.abs() > rounding => notes.push(Note::Solved { name, value: now }),
            Some(old) if (old - now).abs() > MET * (1.0 + old.abs()) => {
                let (a, residual) = moved.unwrap_or_default();
                let constraint = model.constraints[a].name.clone();
                notes.push(Note::Moved { name, old, new: now, constraint, residual });
            }
            _ => {}
        }
    }
    notes
}
