//! Periodic motions by collocation: the second road to what `shooting.rs` finds, and one that needs no flow.
//!
//! $$ \frac{dy}{ds} = T f(t_0 + sT, y), \qquad w(y(1)) = w(y(0)), \quad \varphi(y(0)) = 0, \quad \psi(y(0)) = 0, \quad
//!    \dot w_0\cdot(w(0) - w_0) = 0 \qquad (\mathrm{PC}) $$
//!
//! $y$ are all components of the state, $T$ and the angles after which a motion returns up to a symmetry are components
//! without rates. The constraints need to hold at one place only, because the flow keeps them; cyclic coordinates
//! begin where they are. The last condition, which is absent where time occurs explicitly, keeps the motion from
//! sliding along itself; rows of the same form hold it along symmetries. The mesh follows the residual of the
//! polynomials. The matrices of the intervals, from charts at their starts to charts at their ends, give Floquet's
//! multipliers.

use pfaff_solver::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, EvalError, Scheme, collocated_state,
    collocation_transitions, eigenvalues, singular_values, solve_boundary,
};

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::multiple_shooting::{Node, along};
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{Multipliers, Return, Shooter, largest, size};
use crate::analysis::phase::symmetries::{AffineSymmetry, Carried};

/// Gauss points on an interval: order 16 at its ends.
const STAGES: usize = 8;
/// The residual between Gauss points, of order 8: its square is rounding.
const RESIDUAL: f64 = 1e-9;
/// Intervals of the first mesh, and at most.
const FIRST: usize = 40;
const MOST: usize = 400;
/// Components beyond which the matrices of an interval take seconds.
const LARGEST: usize = 60;

/// A periodic motion on a mesh.
pub(crate) struct Collocated {
    pub(crate) period: f64,
    /// The state at the start.
    pub(crate) y: Vec<f64>,
    /// How far the motion is turned when it returns.
    pub(crate) turned: Vec<f64>,
    pub(crate) intervals: usize,
    pub(crate) multipliers: Multipliers,
    path: BoundaryPath,
}

/// Where the iteration begins: states at equal distances in time, the first of them twice, at the start and as the
/// motion comes back; and the period.
pub(crate) struct First {
    pub(crate) states: Vec<Vec<f64>>,
    pub(crate) period: f64,
    /// Directions of $w$ in which other periodic motions lie: the start stays in them.
    pub(crate) families: Vec<Vec<f64>>,
}

/// (PC)
struct Periodic<'a> {
    field: &'a mut Field,
    t0: f64,
    /// The period where it is given.
    given: Option<f64>,
    turning: &'a [AffineSymmetry],
    quotient: &'a Quotient,
    /// The start of the first path.
    reference: FieldPoint,
    /// By how much each of $w$ has grown when it returns: whole turns.
    whole: Vec<f64>,
    /// Directions in which the start stays.
    held: Vec<Vec<f64>>,
    watch: &'a mut dyn FnMut() -> bool,
}

impl Periodic<'_> {
    fn d(&self) -> usize {
        self.reference.y.len()
    }

    fn period(&self, y: &[f64]) -> f64 {
        self.given.unwrap_or_else(|| y[self.d()])
    }

    /// What turns the end of a path back.
    fn back(&self, last: &[f64]) -> Option<Carried> {
        let first = self.d() + usize::from(self.given.is_none());
        let angles: Vec<f64> = last[first..].iter().map(|x| -x).collect();
        (!angles.is_empty()).then(|| Carried::along(self.field, self.turning, &angles))
    }

    fn rows(&self) -> usize {
        self.reference.positions.values.len() + self.reference.velocities.values.len()
    }
}

impl BoundaryProblem for Periodic<'_> {
    fn dimension(&self) -> usize {
        self.d() + usize::from(self.given.is_none()) + self.turning.len()
    }

    fn conditions(&self) -> usize {
        let Quotient { variables, cyclic, .. } = self.quotient;
        variables.len() + self.rows() + cyclic.len() + self.held.len()
    }

    fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let (d, period) = (self.d(), self.period(y));
        let found = self.field.rates(self.t0 + s * period, &y[..d])?;
        rates.fill(0.0);
        rates.iter_mut().zip(&found).for_each(|(rate, f)| *rate = period * f);
        Ok(())
    }

    fn jacobian(
        &mut self,
        s: f64,
        y: &[f64],
        rates: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvalError> {
        if !(self.watch)() {
            return Err(EvalError::NotFinite);
        }
        let (d, all, period) = (self.d(), y.len(), self.period(y));
        let point = self.field.at(self.t0 + s * period, &y[..d])?;
        rates.fill(0.0);
        jacobian.fill(0.0);
        for i in 0..d {
            rates[i] = period * point.rates[i];
            for j in 0..d {
                jacobian[i * all + j] = period * point.jacobian[i * d + j];
            }
            if self.given.is_none() {
                jacobian[i * all + d] = point.rates[i];
            }
        }
        Ok(())
    }

    fn ends(
        &mut self,
        first: &[f64],
        last: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let d = self.d();
        let end = match self.back(last) {
            Some(back) => back.apply(self.field, &last[..d], true),
            None => last[..d].to_vec(),
        };
        let [positions, velocities] = self.field.constraints(self.t0, &first[..d])?;
        let Quotient { variables, cyclic, .. } = self.quotient;
        let returned = variables.iter().zip(&self.whole);
        let returned = returned.map(|(&c, whole)| end[c] - first[c] - whole);
        let start = &self.reference.y;
        let stays = |row: &Vec<f64>| -> f64 {
            let moved = first.iter().zip(start);
            row.iter().zip(moved).map(|(r, (y, start))| r * (y - start)).sum()
        };
        let all = returned
            .chain(positions.values)
            .chain(velocities.values)
            .chain(cyclic.iter().map(|&c| first[c] - start[c]))
            .chain(self.held.iter().map(stays));
        values.iter_mut().zip(all).for_each(|(value, x)| *value = x);
        Ok(())
    }

    fn ends_jacobian(
        &mut self,
        first: &[f64],
        last: &[f64],
        at_first: &mut [f64],
        at_last: &mut [f64],
    ) -> Result<(), EvalError> {
        let (d, all) = (self.d(), first.len());
        at_first.fill(0.0);
        at_last.fill(0.0);
        let back = self.back(last);
        let Quotient { variables, cyclic, .. } = self.quotient;
        for (i, &c) in variables.iter().enumerate() {
            at_first[i * all + c] = -1.0;
            if back.is_none() {
                at_last[i * all + c] = 1.0;
            }
        }
        if let Some(back) = back {
            for j in 0..d {
                let mut unit = vec![0.0; d];
                unit[j] = 1.0;
                let column = back.apply(self.field, &unit, false);
                for (i, &c) in variables.iter().enumerate() {
                    at_last[i * all + j] = column[c];
                }
            }
            let end = back.apply(self.field, &last[..d], true);
            let angles = all - self.turning.len();
            for (k, symmetry) in self.turning.iter().enumerate() {
                let moved = self.field.prolonged(&symmetry.frame, &end);
                for (i, &c) in variables.iter().enumerate() {
                    at_last[i * all + angles + k] = -moved[c];
                }
            }
        }
        let [positions, velocities] = self.field.constraints(self.t0, &first[..d])?;
        let mut row = variables.len();
        for slopes in positions.slopes.chunks(d).chain(velocities.slopes.chunks(d)) {
            at_first[row * all..row * all + d].copy_from_slice(slopes);
            row += 1;
        }
        for &c in cyclic {
            at_first[row * all + c] = 1.0;
            row += 1;
        }
        for held in &self.held {
            at_first[row * all..row * all + d].copy_from_slice(held);
            row += 1;
        }
        Ok(())
    }
}

/// A periodic motion by collocation, from a first path; `None` where the iteration finds none.
pub(crate) fn collocated(
    shooter: &mut Shooter,
    quotient: &Quotient,
    first: &First,
    watch: &mut dyn FnMut() -> bool,
) -> Option<Collocated> {
    let t0 = shooter.phase.t;
    let (start, end) = (first.states.first()?.clone(), first.states.last()?.clone());
    if start.len() > LARGEST {
        return None;
    }
    let reference = shooter.phase.field.at(t0, &start).ok()?;
    let returned = shooter.turned_back(&end, true);
    let whole = |&c: &usize| {
        let moved = returned[c] - start[c];
        moved - shooter.less_turns(c, moved)
    };
    let whole = quotient.variables.iter().map(whole).collect();
    let mut held = held(shooter, quotient, &reference);
    for family in &first.families {
        let mut row = vec![0.0; start.len()];
        quotient.variables.iter().zip(family).for_each(|(&c, x)| row[c] = *x);
        held.push(row);
    }
    let more: Vec<f64> = {
        let period = (!shooter.is_driven).then_some(first.period);
        period.into_iter().chain(shooter.turned.iter().copied()).collect()
    };
    let intervals = first.states.len() - 1;
    let nodes = first.states.iter().flat_map(|y| y.iter().chain(&more).copied());
    let path = BoundaryPath {
        mesh: (0..=intervals).map(|k| k as f64 / intervals as f64).collect(),
        nodes: nodes.collect(),
        slopes: Vec::new(),
    };
    let options = BoundaryOptions {
        scheme: Scheme::Collocation { stages: STAGES, adaptive: true },
        tolerance: RESIDUAL,
        iterations: 25,
        intervals: MOST,
        ..BoundaryOptions::default()
    };
    let given = shooter.is_driven.then_some(first.period);
    let turning = shooter.turning.clone();
    let field = &mut shooter.phase.field;
    let mut problem = Periodic {
        field,
        t0,
        given,
        turning: &turning,
        quotient,
        reference,
        whole,
        held,
        watch,
    };
    let report = solve_boundary(&mut problem, path, &options).ok()?;
    if !report.converged {
        return None;
    }
    let path = report.path;
    let transitions = collocation_transitions(&mut problem, &path, STAGES).ok()?;
    let d = start.len();
    let y = path.first()[..d].to_vec();
    let period = given.unwrap_or_else(|| path.first()[d]);
    let turned = path.first()[path.dimension() - turning.len()..].to_vec();
    let before = std::mem::replace(&mut shooter.turned, turned.clone());
    let multipliers = multipliers(shooter, quotient, &path, (period, &transitions));
    shooter.turned = before;
    let intervals = path.intervals();
    (period > 0.0).then_some(())?;
    Some(Collocated { period, y, turned, intervals, multipliers: multipliers?, path })
}

/// The rows that hold the start: along the motion, and along symmetries that lead to other motions.
fn held(shooter: &Shooter, quotient: &Quotient, start: &FieldPoint) -> Vec<Vec<f64>> {
    let field = &shooter.phase.field;
    let symmetries = if shooter.turning.is_empty() { &shooter.held } else { &shooter.turning };
    let along = (!shooter.is_driven).then(|| start.rates.clone());
    let across = symmetries.iter().map(|s| field.prolonged(&s.frame, &start.y));
    let row = |moved: Vec<f64>| {
        let mut row = vec![0.0; moved.len()];
        quotient.variables.iter().for_each(|&c| row[c] = moved[c]);
        let size = largest(&row).max(1e-300);
        row.iter_mut().for_each(|x| *x /= size);
        row
    };
    along.into_iter().chain(across).map(row).collect()
}

/// Floquet's multipliers from the matrices of the intervals; in parts where they are of very different size.
fn multipliers(
    shooter: &mut Shooter,
    quotient: &Quotient,
    path: &BoundaryPath,
    (period, transitions): (f64, &[Vec<f64>]),
) -> Option<Multipliers> {
    /// As for shooting: the logarithm of the ratio above which one matrix does not hold all, and what a part may hold.
    const WIDE: f64 = 12.0;
    const PART: f64 = 5.0;
    let w = quotient.variables.len();
    let one = parts(shooter, quotient, path, (period, transitions), 1)?;
    let values = eigenvalues(w, &one[0])?;
    let sizes: Vec<f64> = values.iter().map(|v| libm::log(size(v).max(1e-300))).collect();
    let most = sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let wide = most - least;
    if wide.is_nan() || wide < WIDE {
        return Multipliers::of_parts(&one, w, shooter);
    }
    let count = (wide / PART).ceil().clamp(4.0, 40.0) as usize;
    let count = count.min(transitions.len());
    let parts = parts(shooter, quotient, path, (period, transitions), count)?;
    Multipliers::of_parts(&parts, w, shooter)
}

/// $\partial w/\partial w$ over so many parts of the mesh, one after another, each from its own chart to the next.
fn parts(
    shooter: &mut Shooter,
    quotient: &Quotient,
    path: &BoundaryPath,
    (period, transitions): (f64, &[Vec<f64>]),
    count: usize,
) -> Option<Vec<Vec<f64>>> {
    let d = shooter.phase.field.size();
    let w = quotient.variables.len();
    let (n, all) = (transitions.len(), path.dimension());
    let ends: Vec<usize> = (0..=count).map(|k| k * n / count).collect();
    let t0 = shooter.phase.t;
    let mut charts = Vec::with_capacity(count);
    for &k in &ends[..count] {
        let t = t0 + path.mesh[k] * period;
        let point = shooter.phase.field.at(t, &path.node(k)[..d]).ok()?;
        let chart = quotient.moved(&shooter.phase.field, &point);
        if chart.variables.len() != w {
            return None;
        }
        let tangent = if k == 0 { quotient.point(&point)? } else { chart.point(&point)? };
        charts.push((if k == 0 { quotient.clone() } else { chart }, tangent.tangent));
    }
    let mut found = Vec::with_capacity(count);
    for part in 0..count {
        let mut columns: Vec<Vec<f64>> =
            (0..w).map(|j| (0..d).map(|i| charts[part].1[i * w + j]).collect()).collect();
        for matrix in &transitions[ends[part]..ends[part + 1]] {
            for x in &mut columns {
                let row = |i: usize| -> f64 {
                    matrix[i * all..i * all + d].iter().zip(&*x).map(|(g, x)| g * x).sum()
                };
                *x = (0..d).map(row).collect();
            }
        }
        if part + 1 == count {
            columns = columns.iter().map(|x| shooter.turned_back(x, false)).collect();
        }
        let next = &charts[(part + 1) % count].0;
        let rows = next.variables.iter().flat_map(|&c| (0..w).map(move |j| (c, j)));
        found.push(rows.map(|(c, j)| columns[j][c]).collect());
    }
    Some(found)
}

/// Directions in which other periodic motions lie: the kernel of $(S - 1)\,\delta w + \dot w\,\delta T$.
fn families(quotient: &Quotient, found: &Return, is_free: bool) -> Vec<Vec<f64>> {
    /// Singular values below this part of the largest vanish: what rounding leaves of double multipliers.
    const VANISHING: f64 = 1e-5;
    /// Of a matrix that is larger nothing is known about multipliers at 1.
    const LARGEST: f64 = 1e5;
    let w = quotient.variables.len();
    // Over the whole period: of several shots the matrix is that of the last one.
    let mut whole: Option<Vec<f64>> = None;
    for part in &found.parts {
        whole = Some(whole.map_or_else(
            || part.clone(),
            |whole| {
                let entry = |at: usize| -> f64 {
                    (0..w).map(|k| part[at / w * w + k] * whole[k * w + at % w]).sum()
                };
                (0..w * w).map(entry).collect()
            },
        ));
    }
    let matrix = whole.as_ref().unwrap_or(&found.matrix);
    if largest(matrix) > LARGEST {
        return Vec::new();
    }
    let columns = w + usize::from(is_free);
    let mut rows = Vec::with_capacity(w * columns);
    for (i, &c) in quotient.variables.iter().enumerate() {
        for j in 0..w {
            rows.push(matrix[i * w + j] - f64::from(u8::from(i == j)));
        }
        if is_free {
            rows.push(found.end.rates[c]);
        }
    }
    let split = singular_values(&rows, w, columns);
    let largest = split.values.first().copied().unwrap_or(0.0);
    let kernel = split.values.iter().zip(&split.directions);
    let flat = kernel.filter(|(s, _)| **s <= VANISHING * largest);
    flat.map(|(_, x)| x[..w].to_vec()).collect()
}

impl First {
    /// Along a motion that returns.
    pub(crate) fn along(
        shooter: &mut Shooter,
        quotient: &Quotient,
        found: &Return,
    ) -> Option<Self> {
        let mut states: Vec<Vec<f64>> = if found.nodes.is_empty() {
            let first = Node { quotient: quotient.clone(), y: found.point.y.clone() };
            let nodes = along(shooter, &first, found.period, FIRST)?;
            nodes.into_iter().map(|node| node.y).collect()
        } else {
            found.nodes.iter().map(|node| node.y.clone()).collect()
        };
        states.push(found.landed.clone());
        let families = families(quotient, found, !shooter.is_driven);
        Some(Self { states, period: found.period, families })
    }
}

impl Collocated {
    /// States at equal distances in time, in charts of their own.
    pub(crate) fn nodes(
        &self,
        shooter: &mut Shooter,
        quotient: &Quotient,
        count: usize,
    ) -> Option<Vec<Node>> {
        let t0 = shooter.phase.t;
        (0..count)
            .map(|k| {
                let s = k as f64 / count as f64;
                let mut y = collocated_state(&self.path, STAGES, s);
                y.truncate(self.y.len());
                let t = t0 + s * self.period;
                let point = shooter.phase.field.at(t, &y).ok()?;
                let own = quotient.moved(&shooter.phase.field, &point);
                own.chart.complete(&mut shooter.phase.field, t, &mut y).ok()?;
                Some(Node { quotient: own, y })
            })
            .collect()
    }

    /// The largest difference from a motion that was found by shooting: of period and state in parts of their sizes,
    /// of multipliers in parts of 1 + |μ|.
    pub(crate) fn apart(
        &self,
        quotient: &Quotient,
        found: &Return,
        multipliers: &Multipliers,
    ) -> f64 {
        let period = (self.period - found.period).abs() / found.period;
        let scale = 1.0 + largest(&found.point.y);
        let state = |&c: &usize| (self.y[c] - found.point.y[c]).abs() / scale;
        let state = quotient.variables.iter().map(state).fold(0.0_f64, f64::max);
        let mut left = self.multipliers.values.clone();
        let mut worst = 0.0_f64;
        for value in &multipliers.values {
            let off = |x: &[f64; 2]| libm::hypot(x[0] - value[0], x[1] - value[1]);
            let nearest =
                (0..left.len()).min_by(|&a, &b| off(&left[a]).total_cmp(&off(&left[b])));
            let Some(nearest) = nearest else { return f64::INFINITY };
            worst = worst.max(off(&left.swap_remove(nearest)) / (1.0 + size(value)));
        }
        period.max(state).max(worst)
    }
}
