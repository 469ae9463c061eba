//! Places on a branch of equilibria or steady motions, and the way from one to the next.
//!
//! The unknowns are $x = (w, \omega, p)$: the variables of a chart, the rates of the symmetries along which the motion
//! is steady (none at rest), and the parameter. The equations are
//!
//! $$ f_w(y, p) - \sum\omega_i\,\xi_i(y) = 0, \qquad \xi_i\cdot\delta w = 0, \qquad c(y, \omega, p) = c_0: \qquad
//!    (\mathrm B) $$
//!
//! the flow in the moving frame, a condition that holds the motion where it is among those that its symmetries make of
//! it, and what is held where motions form families (`held.rs`).

use pfaff_solver::{eigenvalues, least_squares};

use crate::analysis::phase::branch::set_parameter;
use crate::analysis::phase::branch_place::{Chartered, Place, Steady, tangent};
use crate::analysis::phase::field::{FieldPoint, Frame, ParameterSlopes};
use crate::analysis::phase::held::{Condition, Held, chosen};
use crate::analysis::phase::linearize::Phase;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::symmetries::beside;

/// Newton's iteration across a branch.
const ITERATIONS: usize = 12;
/// Singular values below this part of the largest vanish at a motion that a search has just found.
const FOUND: f64 = 1e-7;
/// Directions shorter than this part of 1 + |y| are none.
const NOTHING: f64 = 1e-9;

/// What follows branches over a parameter.
pub(crate) struct Follower<'a> {
    pub(crate) phase: Phase,
    pub(crate) index: usize,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) slopes: ParameterSlopes,
    /// What is to be held where motions form families.
    pub(crate) conditions: Vec<Condition>,
    pub(crate) watch: &'a mut dyn FnMut() -> bool,
}

impl Follower<'_> {
    /// Gives the parameter a value, and with it what is defined by it.
    pub(crate) fn set(&mut self, p: f64) {
        set_parameter(&mut self.phase.model, self.index, p);
        let values = self.phase.model.parameter_values();
        self.phase.field.set_parameters(&values);
        self.slopes.set_parameters(&values);
    }

    /// Whether a value of the parameter belongs to the range.
    pub(crate) fn is_inside(&self, p: f64) -> bool {
        (self.from.min(self.to)..=self.from.max(self.to)).contains(&p)
    }

    /// The length in which the parameter is measured.
    pub(crate) fn unit(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// The field at a state for a value of the parameter, completed in a chart.
    fn at(
        &mut self,
        quotient: &Quotient,
        frame: Option<Frame>,
        y: &[f64],
        p: f64,
    ) -> Option<FieldPoint> {
        self.set(p);
        let mut y = y.to_vec();
        quotient.chart.complete(&mut self.phase.field, self.phase.t, &mut y).ok()?;
        self.phase.field.frame = frame;
        let found = self.phase.field.at(self.phase.t, &y).ok();
        self.phase.field.frame = None;
        found
    }

    /// The row of something that is held, and how far its value is from the one it had.
    fn held_row(
        &self,
        within: &Chartered,
        (point, embedding, shift): (&FieldPoint, &[f64], &[f64]),
        what: Held,
    ) -> (Vec<f64>, f64) {
        let (w, r) = (within.quotient.variables.len(), within.rates());
        let mut row = vec![0.0; w + r + 1];
        let value = match what {
            Held::Component(c) => {
                row[..w].copy_from_slice(&embedding[c * w..(c + 1) * w]);
                row[w + r] = shift[c] * self.unit();
                point.y[c]
            }
            Held::Rate(i) => {
                row[w + i] = 1.0;
                within.steady.as_ref().map_or(0.0, |steady| steady.rates[i])
            }
            Held::Condition(k) => {
                let condition = &self.conditions[k];
                let (by_state, by_parameter) = condition.slopes(&self.phase, point);
                for (c, slope) in by_state.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                    for j in 0..w {
                        row[j] += slope * embedding[c * w + j];
                    }
                    row[w + r] += slope * shift[c] * self.unit();
                }
                row[w + r] += by_parameter * self.unit();
                condition.value(&self.phase, point)
            }
        };
        (row, value)
    }

    /// The rows of (B) at a state with its derivative by the parameter in its unit, and their values.
    fn equations(
        &mut self,
        within: &Chartered,
        point: &FieldPoint,
        p: f64,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let quotient = &within.quotient;
        let here = quotient.point(point)?;
        let (w, r) = (quotient.variables.len(), within.rates());
        self.set(p);
        let by = self.slopes.at(&mut self.phase.field, point.t, &point.y).ok()?;
        let slopes = quotient.by_parameters(point, &by)?;
        let shift = quotient.chart.shift(point, &by)?;
        let moved: Vec<Vec<f64>> = within
            .steady
            .iter()
            .flat_map(|steady| &steady.symmetries)
            .map(|s| {
                let all = self.phase.field.prolonged(&s.frame, &point.y);
                quotient.variables.iter().map(|&c| all[c]).collect()
            })
            .collect();
        let mut matrix = Vec::with_capacity((w + r) * (w + r + 1));
        for i in 0..w {
            matrix.extend_from_slice(&here.matrix[i * w..(i + 1) * w]);
            matrix.extend(moved.iter().map(|x| -x[i]));
            matrix.push(slopes[i] * self.unit());
        }
        let mut values = here.rates.clone();
        let size = point.y.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for x in moved.iter().filter(|x| x.iter().any(|x| x.abs() > NOTHING * size)) {
            matrix.extend_from_slice(x);
            matrix.extend(std::iter::repeat_n(0.0, r + 1));
            values.push(0.0);
        }
        for &(what, level) in &within.held {
            let (row, value) = self.held_row(within, (point, &here.tangent, &shift), what);
            matrix.extend(row);
            values.push(value - level);
        }
        Some((matrix, values))
    }

    /// What is held on the branch that begins at a place, so that it is a curve: conditions that were asked for, then
    /// rates of symmetries and of cyclic coordinates.
    pub(crate) fn held(
        &mut self,
        within: &Chartered,
        point: &FieldPoint,
        p: f64,
    ) -> Option<Vec<(Held, f64)>> {
        let free = Chartered { held: Vec::new(), ..within.clone() };
        let (matrix, _) = self.equations(&free, point, p)?;
        let quotient = &within.quotient;
        let (w, r) = (quotient.variables.len(), within.rates());
        let fixed: Vec<f64> =
            matrix.chunks_exact(w + r + 1).flat_map(|row| row[..w + r].to_vec()).collect();
        let here = quotient.point(point)?;
        let field = &mut self.phase.field;
        let by = self.slopes.at(field, point.t, &point.y).ok()?;
        let shift = quotient.chart.shift(point, &by)?;
        let mut candidates: Vec<Held> =
            (0..self.conditions.len()).map(Held::Condition).collect();
        if let Some(steady) = &within.steady {
            let turns = steady.symmetries.iter().enumerate().filter(|(_, s)| !s.is_cyclic);
            candidates.extend(turns.map(|(i, _)| Held::Rate(i)));
        }
        let speeds = quotient.cyclic.iter().filter_map(|&c| field.velocity_at[c]);
        candidates
            .extend(speeds.filter(|c| quotient.variables.contains(c)).map(Held::Component));
        let mut rows = Vec::new();
        let mut levels = Vec::new();
        for what in candidates {
            let (mut row, value) = self.held_row(&free, (point, &here.tangent, &shift), what);
            row.truncate(w + r);
            if row.iter().chain([&value]).any(|x| !x.is_finite()) {
                continue;
            }
            let is_equation =
                matches!(what, Held::Condition(k) if self.conditions[k].is_equation);
            levels.push((what, if is_equation { 0.0 } else { value }));
            rows.push((what, row));
        }
        let taken = chosen(&fixed, w + r, &rows, FOUND);
        levels.retain(|(what, _)| taken.contains(what));
        Some(levels)
    }

    /// A place with its tangent, in the direction of another one.
    pub(crate) fn place(
        &mut self,
        within: Chartered,
        point: FieldPoint,
        p: f64,
        along: &[f64],
    ) -> Option<Place> {
        let (matrix, values) = self.equations(&within, &point, p)?;
        let here = within.quotient.point(&point)?;
        let (equations, w) = match &within.steady {
            None => (here.matrix, within.quotient.variables.len()),
            Some(steady) => {
                let field = &self.phase.field;
                let all = &steady.symmetries;
                let left = beside(field, &within.quotient, &here, &point, all);
                (left.matrix, left.kept.len())
            }
        };
        let tangent = tangent(&matrix, values.len(), along)?;
        let values = eigenvalues(w, &equations)?;
        Some(Place { p, point, within, matrix, tangent, equations, values })
    }

    /// The same place in a chart that suits it, with the same direction.
    pub(crate) fn renewed(&mut self, place: Place) -> Option<Place> {
        let quotient = place.quotient().moved(&self.phase.field, &place.point);
        let old = place.quotient();
        if quotient.variables == old.variables {
            return Some(place);
        }
        let w = old.variables.len();
        let mut along = old.carried(&quotient, &place.point, &place.tangent[..w])?;
        // What follows from the constraints moves with the parameter, too.
        let Place { point, p, .. } = &place;
        self.set(*p);
        let by = self.slopes.at(&mut self.phase.field, point.t, &point.y).ok()?;
        let shift = old.chart.shift(point, &by)?;
        let part = place.slope();
        for (x, &c) in along.iter_mut().zip(&quotient.variables) {
            *x += shift[c] * part * self.unit();
        }
        along.extend_from_slice(&place.tangent[w..]);
        let within = Chartered { quotient, ..place.within };
        self.place(within, place.point, place.p, &along)
    }

    /// The point of the branch at a distance along a direction from a place.
    pub(crate) fn corrected(&mut self, place: &Place, s: f64, along: &[f64]) -> Option<Place> {
        let mut within = place.within.clone();
        let (w, r, n) = (within.quotient.variables.len(), within.rates(), self.phase.field.n);
        let unit = self.unit();
        let last_column = w + r;
        let mut y = place.point.y.clone();
        for (&c, x) in within.quotient.variables.iter().zip(along) {
            y[c] += s * x;
        }
        let turn = |within: &mut Chartered, step: &[f64], part: f64| {
            let rates = within.steady.iter_mut().flat_map(|steady| &mut steady.rates);
            rates.zip(&step[w..]).for_each(|(ω, δ)| *ω += part * δ);
        };
        turn(&mut within, along, s);
        let frame = |within: &Chartered| within.steady.as_ref().map(|s: &Steady| s.frame(n));
        let mut p = place.p + s * along[last_column] * unit;
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let point = self.at(&within.quotient, frame(&within), &y, p)?;
            let (mut matrix, mut right) = self.equations(&within, &point, p)?;
            matrix.extend_from_slice(along);
            right.push(0.0);
            let rows = right.len();
            let step = least_squares(&matrix, rows, last_column + 1, &right, 1e-13).x;
            y.clone_from(&point.y);
            for (&c, δ) in within.quotient.variables.iter().zip(&step) {
                y[c] -= δ;
            }
            turn(&mut within, &step, -1.0);
            p -= step[last_column] * unit;
            let size = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if !size.is_finite() || size > 1e6 {
                return None;
            }
            if size < 1e-13 || (size < 1e-10 && size >= 0.25 * last) {
                let point = self.at(&within.quotient, frame(&within), &y, p)?;
                let is_settled = within.quotient.point(&point)?.is_equilibrium();
                return if is_settled { self.place(within, point, p, along) } else { None };
            }
            last = size;
        }
        None
    }
}
