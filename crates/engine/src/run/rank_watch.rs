//! Places on the way where constraints lose their hold on the velocities.
//!
//! The rows of $A = \partial\varphi/\partial\dot q$, each divided by its largest length so far and in the metric of
//! the masses, have $r$ independent directions at the start. Their measure $s$ is the length of the $r$-th pivot of
//! Gram and Schmidt with exchange, or for many rows their least singular value: 0 where the rank falls. It is taken at
//! the end of every step; between two points it cannot vanish if
//!
//! $$ \lVert A_1 - A_0\rVert < c\,(s_0 + s_1), \qquad c < 1 $$
//!
//! (singular values move by no more than the matrix); otherwise the dense output in the middle decides, and so on,
//! while $s$ is small at an end. Up to eight steps are passed over for as long as $A$ can be expected to change by less
//! than a tenth of $s$.
//! Columns of constants that are independent keep the rank for ever, and so does a single row of constant length.
//!
//! Where $s$ falls below what the tolerance can tell from zero, the motion is
//!
//! - *followed* if only holonomic constraints take part, whose branches the velocity tells apart, or if a factor of one
//!   constraint vanishes, $A_a = f\hat A$: all derivatives of the row are parallel to it;
//! - *not determined* otherwise: the run ends there.

use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::{Equations, SparseBlocks};
use pfaff_model::{Principle, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::DenseStep;

use crate::motion::sample::Sample;
use crate::system::compiled::CompiledSystem;
use crate::system::independent_constraints::{
    APART, DefinedRows, LARGE, LeastSingularValue, independent, nearest_dependence,
};
use crate::system::sparse_rows::{RowPattern, SparseRow};

/// $c$ above.
const SAFE: f64 = 0.7;
/// How often a step is halved at most, and how many points in it are looked at.
const DEPTH: u32 = 30;
const MOST_POINTS: usize = 200;
/// Parts of a step with $s$ above this fraction of its largest value at both ends are halved so often only.
const HIGH: f64 = 0.2;
const COARSE: u32 = 2;
/// Steps that are passed over at most, and by what part of $s$ the rows may be expected to change in them.
const MOST_PASSED: usize = 8;
const SLOW: f64 = 0.1;
/// What is so much below zero, as it counts, does not fall further.
const DEEP: f64 = 0.1;
/// What the derivatives of a row may have across it where a factor of the constraint vanishes.
const ACROSS: f64 = 0.05;

/// Watches the rank of $A$ along a run.
#[derive(Clone)]
pub(crate) struct RankWatch {
    /// $(t, q, \dot q, \mu)$ to the entries of $A$.
    program: Executor,
    pattern: RowPattern,
    /// Measures many independent rows.
    least: Option<LeastSingularValue>,
    /// Which rows it measures, those of definitions included: one of each dependence at the start is left out.
    chosen: Vec<bool>,
    inputs: Vec<f64>,
    needs_velocities: bool,
    /// How many rows define auxiliary velocities, before those of the constraints.
    extra: usize,
    /// $1/\sqrt{M_{jj}}$; auxiliary velocities stay as they are.
    metric: Vec<f64>,
    /// Entries in columns of constants; and whether the only row has a constant length.
    constant: Vec<bool>,
    has_constant_length: bool,
    holonomic: Vec<bool>,
    /// The largest length of each row so far.
    reach: Vec<f64>,
    rank: usize,
    /// The largest $s$ so far.
    most: f64,
    /// What counts as zero, as a part of that: the motion is not known better.
    zero: f64,
    /// Points of the present step that were looked at.
    points: usize,
    /// Up to how long after the last look steps are passed over, and how many were.
    to_pass: f64,
    passed: usize,
    /// Whether the present place was told.
    is_told: bool,
    before: RankPoint,
    sample: Sample,
    y: Vec<f64>,
    rest: Vec<f64>,
    /// Points that are not in use.
    spare: Vec<RankPoint>,
    /// Places where the rank fell.
    pub(crate) places: Vec<RankPlace>,
}

/// What counts as zero: of the order of the interpolant, 7/8 of the order of the step.
fn least_rank(tolerance: f64) -> f64 {
    (100.0 * libm::pow(tolerance, 0.875)).clamp(1e-9, 1e-2)
}

/// A place where the rank fell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankPlace {
    pub(crate) t: f64,
    /// The constraints that take part.
    pub(crate) constraints: Vec<usize>,
    pub(crate) outcome: RankOutcome,
}

/// How a motion goes on where the rank falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RankOutcome {
    /// Along the branch that its velocity has.
    Branches,
    /// As if the factor that vanishes were not there.
    Factor,
    /// Not determined.
    Undetermined,
}

/// $A$ and $s$ at a time.
#[derive(Clone, Debug, Default)]
struct RankPoint {
    t: f64,
    rows: Vec<f64>,
    s: f64,
}

impl RankPoint {
    /// Takes the values of another point, in the storage that is already there.
    fn copy(&mut self, other: &Self) {
        (self.t, self.s) = (other.t, other.s);
        self.rows.clear();
        self.rows.extend_from_slice(&other.rows);
    }
}

impl RankWatch {
    /// Room for a point.
    fn point(&mut self) -> RankPoint {
        self.spare.pop().unwrap_or_default()
    }

    /// Watches a system from its start, if its rank can change.
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        tolerance: f64,
        metric: Vec<f64>,
        backend: Backend,
    ) -> Result<Option<Self>, CompileError> {
        let g = &model.graph;
        let SparseBlocks { definitions, jacobian, .. } = equations.sparse(g);
        let extra = definitions.len();
        let jacobian = [definitions, jacobian].concat();
        let outputs: Vec<Expr> = jacobian.iter().flatten().map(|entry| entry.1).collect();
        let columns: Vec<Vec<usize>> =
            jacobian.iter().map(|row| row.iter().map(|entry| entry.0).collect()).collect();
        let is_watched = match equations.principle {
            Principle::Chetaev | Principle::Vakonomic => outputs.iter().any(|&e| g.varies(e)),
            Principle::Restricted => false,
        };
        if !is_watched {
            return Ok(None);
        }
        let mut is_constant = vec![true; model.coordinates.len() + extra];
        for &(k, e) in jacobian.iter().flatten() {
            is_constant[k] &= !g.varies(e);
        }
        let constant =
            columns.iter().flatten().map(|&k| is_constant[k] && extra == 0).collect();
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        inputs.extend(&equations.multipliers);
        let program = Program::compile(g, &inputs, &model.parameter_symbols(), &outputs)?;
        let (n, m) = (model.coordinates.len(), model.constraints.len());
        Ok(Some(Self {
            program: program.tiered(&model.parameter_values(), backend),
            needs_velocities: {
                let live = g.live(&outputs);
                model.velocities().iter().any(|v| live.binary_search(v).is_ok())
            },
            inputs: vec![0.0; inputs.len()],
            pattern: RowPattern::new(columns.iter().map(Vec::as_slice)),
            least: (m >= LARGE).then(LeastSingularValue::default),
            chosen: vec![true; extra + m],
            extra,
            metric,
            constant,
            has_constant_length: extra == 0
                && m == 1
                && is_constant_length(g, &outputs, &inputs),
            holonomic: equations.position.iter().map(Option::is_some).collect(),
            reach: vec![0.0; extra + m],
            rank: 0,
            most: 0.0,
            zero: least_rank(tolerance),
            points: 0,
            to_pass: 0.0,
            passed: 0,
            is_told: false,
            before: RankPoint::default(),
            sample: Sample::new(n, m),
            y: Vec::new(),
            rest: Vec::new(),
            spare: Vec::new(),
            places: Vec::new(),
        }))
    }

    /// The same with other parameters, to be begun at another start.
    pub(crate) fn with_parameters(
        &self,
        parameters: &[f64],
        tolerance: f64,
        metric: Vec<f64>,
    ) -> Self {
        let mut watch = Self { metric, zero: least_rank(tolerance), ..self.clone() };
        watch.program.set_parameters(parameters);
        watch
    }

    /// Compiles what is evaluated at every step of many runs.
    pub(crate) fn promote(&mut self) {
        self.program.promote();
    }

    /// Begins at a state.
    pub(crate) fn start(&mut self, system: &mut CompiledSystem, t: f64, y: &[f64]) {
        self.y = y.to_vec();
        let size = self.pattern.len();
        let room = |_| RankPoint { rows: Vec::with_capacity(size), ..RankPoint::default() };
        self.spare = (0..DEPTH + 4).map(room).collect();
        let mut rows = Vec::new();
        self.rows(system, t, &mut rows);
        let _ = self.extend_reach(&rows);
        self.rank = self.reach.len() - self.extra;
        if self.least.is_some() && self.measure(&rows) < 1e-9 {
            self.choose(&rows);
        }
        // The rank at the start: the pivots above rounding.
        while self.rank > 0 && self.measure(&rows) < 1e-9 {
            self.rank -= 1;
        }
        if self.is_safe(&rows) {
            self.rank = 0;
        }
        let s = self.measure(&rows);
        self.most = s;
        self.before = RankPoint { t, rows, s };
    }

    /// Whether the rank cannot fall.
    fn is_safe(&mut self, rows: &[f64]) -> bool {
        /// What is left of the rows by the columns of constants alone is well above rounding.
        const CLEAR: f64 = 1e-6;
        if self.has_constant_length {
            return self.rank == 1;
        }
        let of_constants = rows.iter().zip(&self.constant);
        let rows: Vec<f64> = of_constants.map(|(&x, &c)| if c { x } else { 0.0 }).collect();
        self.constant.contains(&true) && self.measure(&rows) > CLEAR
    }

    /// Leaves out one row of each dependence.
    fn choose(&mut self, rows: &[f64]) {
        let all: Vec<SparseRow<'_>> = self.pattern.with(rows).rows().collect();
        let (definitions, rows) = all.split_at(self.extra);
        let rows = DefinedRows { rows, definitions, n: self.metric.len() };
        let kept = independent(rows, &self.holonomic, &[]);
        self.rank = kept.iter().filter(|&&kept| kept).count();
        self.chosen[self.extra..].copy_from_slice(&kept);
    }

    /// Looks at a step; gives the place within from which on the motion is not determined.
    pub(crate) fn undetermined(
        &mut self,
        system: &mut CompiledSystem,
        step: &DenseStep<'_>,
    ) -> Option<f64> {
        if self.rank == 0 {
            return None;
        }
        let is_soon = (step.end() - self.before.t).abs() < self.to_pass;
        if is_soon && self.passed < MOST_PASSED {
            self.passed += 1;
            return None;
        }
        let mut end = self.point();
        end.t = step.end();
        self.y.copy_from_slice(step.state_at_end());
        self.rows(system, end.t, &mut end.rows);
        if self.extend_reach(&end.rows) {
            // What came before counts in parts of the new lengths too.
            let before = std::mem::take(&mut self.before.rows);
            self.before.s = self.measure(&before);
            self.before.rows = before;
        }
        end.s = self.measure(&end.rows);
        if !end.s.is_finite() {
            self.spare.push(end);
            return None;
        }
        self.most = self.most.max(end.s);
        let change = self.change(&self.before, &end);
        let duration = (end.t - self.before.t).abs();
        if self.passed > 0 && change >= SAFE * (self.before.s + end.s) {
            // It changed faster than expected: what is left to look at is this step.
            let mut start = std::mem::take(&mut self.before);
            start.t = step.start();
            step.state(start.t, &mut self.y);
            self.rows(system, start.t, &mut start.rows);
            start.s = self.measure(&start.rows);
            self.before = start;
        }
        let mut lowest = self.point();
        lowest.copy(if end.s < self.before.s { &end } else { &self.before });
        let before = std::mem::take(&mut self.before);
        self.points = 0;
        self.closer(system, step, &before, &end, DEPTH, &mut lowest);
        self.spare.push(before);
        let is_low = lowest.s <= self.zero * self.most;
        self.plan(end.s, change, duration);
        // Where it is still falling, the next step tells; and one place is told once.
        let is_told = self.is_told;
        self.is_told &= is_low;
        // NOTE: steps may become ever shorter towards the place, and never pass it.
        let is_falling = lowest.t == end.t && lowest.s > DEEP * self.zero * self.most;
        self.before = end;
        let is_new = is_low && !is_told && !is_falling;
        self.is_told |= is_new;
        let is_lost = is_new && !self.judge(system, step, &lowest);
        let t = lowest.t;
        self.spare.push(lowest);
        is_lost.then_some(t)
    }

    /// Decides how long steps are passed over, from $s$ and the change of the rows since the last look.
    fn plan(&mut self, s: f64, change: f64, duration: f64) {
        let is_high = s > HIGH * self.most && s > SLOW;
        self.to_pass = if is_high { SLOW * s * duration / change } else { 0.0 };
        self.passed = 0;
    }

    /// How far the rows of two points are apart, in parts of their largest lengths.
    fn change(&self, a: &RankPoint, b: &RankPoint) -> f64 {
        let (before, after) = (self.pattern.with(&a.rows), self.pattern.with(&b.rows));
        let pairs = before.rows().zip(after.rows()).zip(&self.reach);
        let squares = pairs.flat_map(|((a, b), reach)| {
            a.values.iter().zip(b.values).map(move |(x, y)| ((x - y) / reach).powi(2))
        });
        squares.sum::<f64>().sqrt()
    }

    /// Finds the lowest $s$ between two points, where it may come near zero.
    fn closer(
        &mut self,
        system: &mut CompiledSystem,
        step: &DenseStep<'_>,
        a: &RankPoint,
        b: &RankPoint,
        depth: u32,
        lowest: &mut RankPoint,
    ) {
        let change = self.change(a, b);
        let high = DEPTH - depth >= COARSE && a.s.min(b.s) > HIGH * self.most;
        let safe = high || change < SAFE * (a.s + b.s);
        let is_found = lowest.s <= 1e-3 * self.zero * self.most;
        if safe || depth == 0 || is_found || self.points == MOST_POINTS {
            return;
        }
        self.points += 1;
        let mut middle = self.point();
        middle.t = f64::midpoint(a.t, b.t);
        step.state(middle.t, &mut self.y);
        self.rows(system, middle.t, &mut middle.rows);
        middle.s = self.measure(&middle.rows);
        if middle.s < lowest.s {
            lowest.copy(&middle);
        }
        if middle.s.is_finite() {
            // The half that leads towards zero first.
            if a.s <= b.s {
                self.closer(system, step, a, &middle, depth - 1, lowest);
                self.closer(system, step, &middle, b, depth - 1, lowest);
            } else {
                self.closer(system, step, &middle, b, depth - 1, lowest);
                self.closer(system, step, a, &middle, depth - 1, lowest);
            }
        }
        self.spare.push(middle);
    }

    /// Decides whether the motion goes on beyond a place where the rank falls.
    fn judge(
        &mut self,
        system: &mut CompiledSystem,
        step: &DenseStep<'_>,
        place: &RankPoint,
    ) -> bool {
        let constraints = self.members(&place.rows);
        let outcome = if constraints.iter().all(|&a| self.holonomic[a]) {
            RankOutcome::Branches
        } else if constraints.len() == 1 && self.is_factor(system, step, place, constraints[0])
        {
            RankOutcome::Factor
        } else {
            RankOutcome::Undetermined
        };
        self.places.push(RankPlace { t: place.t, constraints, outcome });
        outcome != RankOutcome::Undetermined
    }

    /// The constraints that take part in a loss of rank: one whose row vanishes, or those whose combination is
    /// nearest to zero.
    fn members(&self, rows: &[f64]) -> Vec<usize> {
        let n = self.metric.len();
        let full = self.full(rows);
        let reach = full.chunks_exact(n).zip(&self.reach[self.extra..]);
        let sizes = reach.map(|(row, reach)| length(row) / reach);
        let shortest = sizes.enumerate().min_by(|x, y| x.1.total_cmp(&y.1));
        match shortest {
            Some((a, size)) if size <= 10.0 * self.zero * self.most => vec![a],
            _ => {
                let entries: Vec<SparseRow<'_>> = self.pattern.with(rows).rows().collect();
                let (definitions, rows) = entries.split_at(self.extra);
                nearest_dependence(DefinedRows { rows, definitions, n }).0
            }
        }
    }

    /// $A$ by full rows, without auxiliary velocities.
    fn full(&self, rows: &[f64]) -> Vec<f64> {
        let entries: Vec<SparseRow<'_>> = self.pattern.with(rows).rows().collect();
        let (definitions, rows) = entries.split_at(self.extra);
        DefinedRows { rows, definitions, n: self.metric.len() }.full()
    }

    /// Whether the derivatives of a row, as it vanishes, are parallel to the row as it was on the way.
    fn is_factor(
        &mut self,
        system: &mut CompiledSystem,
        step: &DenseStep<'_>,
        place: &RankPoint,
        constraint: usize,
    ) -> bool {
        /// How far before and beside the place, in steps and in units of the state.
        const BEFORE: f64 = 0.01;
        const BESIDE: f64 = 1e-4;
        let n = self.metric.len();
        let mut rows = Vec::new();
        step.state(place.t - BEFORE * (step.end() - step.start()), &mut self.y);
        self.rows(system, place.t - BEFORE * (step.end() - step.start()), &mut rows);
        let own = constraint * n..(constraint + 1) * n;
        let mut unit = self.full(&rows)[own.clone()].to_vec();
        let size = length(&unit);
        unit.iter_mut().for_each(|x| *x /= size);
        step.state(place.t, &mut self.y);
        self.place(system, place.t);
        // By time and places, and by velocities: where it is these that vanish, the row has no direction.
        let (mut across, mut whole) = ([0.0_f64; 2], [0.0_f64; 2]);
        let last = if self.needs_velocities { 2 * n } else { n };
        for input in 0..=last {
            let kind = usize::from(input > n);
            let at = self.inputs[input];
            let δ = BESIDE * (1.0 + at.abs());
            let mut change = vec![0.0; n];
            for sign in [1.0, -1.0] {
                self.inputs[input] = at + sign * δ;
                self.evaluate(&mut rows);
                let full = self.full(&rows);
                change.iter_mut().zip(&full[own.clone()]).for_each(|(c, x)| *c += sign * x);
            }
            self.inputs[input] = at;
            let along: f64 = change.iter().zip(&unit).map(|(c, u)| c * u).sum();
            whole[kind] = whole[kind].max(length(&change) / δ);
            change.iter_mut().zip(&unit).for_each(|(c, u)| *c -= along * u);
            across[kind] = across[kind].max(length(&change) / δ);
        }
        across.iter().zip(whole).all(|(across, whole)| *across <= ACROSS * whole)
    }

    /// $A$ at the state in `y`, in the metric of the masses.
    fn rows(&mut self, system: &mut CompiledSystem, t: f64, rows: &mut Vec<f64>) {
        self.place(system, t);
        self.evaluate(rows);
    }

    /// Puts the state in `y` where the program reads it.
    fn place(&mut self, system: &mut CompiledSystem, t: f64) {
        let n = self.metric.len();
        if self.needs_velocities {
            system.kinematics(t, &self.y, &mut self.sample);
        } else {
            self.sample.q.copy_from_slice(&self.y[..n]);
        }
        self.inputs[0] = t;
        self.inputs[1..=n].copy_from_slice(&self.sample.q);
        self.inputs[n + 1..=2 * n].copy_from_slice(&self.sample.v);
        let multipliers = self.inputs.len() - 2 * n - 1;
        if multipliers > 0 {
            self.inputs[2 * n + 1..].copy_from_slice(&self.y[2 * n..][..multipliers]);
        }
    }

    fn evaluate(&mut self, rows: &mut Vec<f64>) {
        rows.resize(self.pattern.len(), 0.0);
        self.program.evaluate(&self.inputs, rows);
        let n = self.metric.len();
        for (x, &k) in rows.iter_mut().zip(self.pattern.columns()).filter(|(_, k)| **k < n) {
            *x *= self.metric[k];
        }
    }

    /// Takes the lengths of rows into account; says whether one is longer than ever.
    fn extend_reach(&mut self, rows: &[f64]) -> bool {
        let mut is_longer = false;
        for (reach, row) in self.reach.iter_mut().zip(self.pattern.with(rows).rows()) {
            let length = row.length();
            is_longer |= length > *reach;
            *reach = reach.max(length);
        }
        is_longer
    }

    /// $s$: the `rank`-th pivot of Gram and Schmidt with exchange, or the least singular value.
    fn measure(&mut self, rows: &[f64]) -> f64 {
        let n = self.metric.len();
        if self.rank == 0 {
            return 0.0;
        }
        if let ([reach], 0) = (&self.reach[..], self.extra) {
            return length(rows) / reach;
        }
        let matrix = self.pattern.with(rows);
        if let Some(least) = &mut self.least {
            let chosen = || matrix.rows().zip(&self.reach).zip(&self.chosen).filter(|c| *c.1);
            let rows: Vec<SparseRow<'_>> = chosen().map(|((row, _), _)| row).collect();
            let reach: Vec<f64> = chosen().map(|((_, &reach), _)| reach).collect();
            let found = least.of(&rows, &reach, n + self.extra);
            // NOTE: other rows may take the place of those that come to depend on each other.
            if found > APART || rows.len() == self.chosen.len() {
                return found;
            }
        }
        let m = self.reach.len() - self.extra;
        let mut rest = std::mem::take(&mut self.rest);
        rest.clear();
        rest.resize(m * n, 0.0);
        if self.extra > 0 {
            rest.copy_from_slice(&self.full(rows));
        } else {
            let places = matrix.rows().zip(rest.chunks_exact_mut(n));
            places.for_each(|(row, full)| row.entries().for_each(|(k, x)| full[k] = x));
        }
        for (row, reach) in rest.chunks_exact_mut(n).zip(&self.reach[self.extra..]) {
            row.iter_mut().for_each(|x| *x = if *reach > 0.0 { *x / reach } else { 0.0 });
        }
        let mut pivot = f64::INFINITY;
        for k in 0..self.rank {
            let longest = (k..m).max_by(|&a, &b| {
                length(&rest[a * n..][..n]).total_cmp(&length(&rest[b * n..][..n]))
            });
            let a = longest.unwrap_or(k);
            for j in 0..n {
                rest.swap(k * n + j, a * n + j);
            }
            let (first, others) = rest.split_at_mut((k + 1) * n);
            let unit = &mut first[k * n..];
            pivot = length(unit);
            if pivot == 0.0 || pivot.is_nan() {
                break;
            }
            unit.iter_mut().for_each(|x| *x /= pivot);
            for row in others.chunks_exact_mut(n) {
                let along: f64 = row.iter().zip(&*unit).map(|(x, u)| x * u).sum();
                row.iter_mut().zip(&*unit).for_each(|(x, u)| *x -= along * u);
            }
        }
        self.rest = rest;
        pivot
    }
}

/// Whether the squares of the entries of a row have a constant sum.
fn is_constant_length(g: &Graph, row: &[Expr], inputs: &[Expr]) -> bool {
    /// Longer rows are watched: the test is not for free.
    const LONG: usize = 4;
    if row.len() > LONG {
        return false;
    }
    let squares = row.iter().map(|&e| g.mul(e, e));
    let sum = squares.reduce(|a, b| g.add(a, b));
    sum.is_some_and(|sum| inputs.iter().all(|&x| g.is_zero(g.derivative(sum, x))))
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}
