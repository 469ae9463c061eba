//! Stationary points of growing degree: the search for several, and how far each is from the true one.
//!
//! Where the integrand is quadratic there is one stationary point. Otherwise the search begins at the
//! shortest densities, at what the user gives, and at functions bent by waves; those that are found on few
//! nodes are followed to more.
//! When a degree changes nothing any more, the degree is doubled once: the difference, doubled, is the
//! estimate of the error. It is that of positions and multipliers at places within the interval, in units of
//! 1 + |x|.

use pfaff_expr::Table;
use pfaff_model::{Quantity, Workspace};
use pfaff_solver::{
    Extremum, FractionalOperator, InitialGuess, IntervalPoint, NoExtremum, Side, extrema,
    extremum, ordinary_unit,
};

use super::ends::Ends;
use super::formulate::Formulation;
use super::integrand::Integrand;
use super::variation::first_variation;
use crate::audit::extremum::variation_limit;
use crate::problem::guess::Guess;

/// Nodes on each side of the middle, one degree after the other. The first four take at most 64 unknowns for
/// each function, its constants among them; the rest is for functions that oscillate.
const DEGREES: [usize; 8] = [8, 16, 24, 30, 40, 52, 68, 90];

/// The degree of the search for several stationary points.
const SEARCH: usize = 16;

/// The largest degree that is doubled; beyond it the last change takes the place of the difference.
const DOUBLED: usize = 52;

/// Test functions that a solution must pass before its degree is enough.
const TESTS: usize = 4;

/// Rounding of the operators on some hundred nodes.
const ROUNDING: f64 = 1e-13;

/// A solution, and how far it is from the true one.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    pub(crate) found: Extremum,
    /// The estimate of its error.
    pub(crate) error: f64,
    pub(crate) steps: usize,
    /// Independent variations along which the action falls; none where that was not decided.
    pub(crate) falling: Option<usize>,
}

/// What is searched, and how closely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtremumSearch<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) formulation: &'a Formulation,
    pub(crate) ends: &'a Ends,
    pub(crate) tolerance: f64,
}

impl ExtremumSearch<'_> {
    /// All stationary points that are found, least action first.
    pub(crate) fn all(
        self,
        integrand: &mut Integrand,
        guess: Option<&Guess>,
    ) -> Result<Vec<Reached>, NoExtremum> {
        let mut why = None;
        let mut reached: Vec<(Reached, Vec<f64>)> = Vec::new();
        // The shortest densities first, from few nodes on.
        match self.refine(integrand, None) {
            Ok(found) => reached.push(found),
            Err(no) => why = Some(no),
        }
        let more =
            if integrand.is_quadratic { Vec::new() } else { self.coarse(integrand, guess) };
        for (near, values) in more {
            // On few nodes a stationary point is known to three digits or more.
            if reached.iter().any(|r| difference(&values, &r.1) < 1e-3) {
                continue;
            }
            if let Ok(found) = self.refine(integrand, Some(near))
                && !reached.iter().any(|r| difference(&found.1, &r.1) < 1e-6)
            {
                reached.push(found);
            }
        }
        reached.sort_by(|a, b| a.0.found.action.total_cmp(&b.0.found.action));
        match (reached.is_empty(), why) {
            (true, Some(why)) => Err(why),
            _ => Ok(reached.into_iter().map(|r| r.0).collect()),
        }
    }

    /// Stationary points on few nodes, from many starts, with their values.
    fn coarse(
        self,
        integrand: &mut Integrand,
        guess: Option<&Guess>,
    ) -> Vec<(Extremum, Vec<f64>)> {
        let Self { model, formulation, .. } = self;
        let bends = bends(model, formulation, guess);
        let functions: Vec<Box<Bend<'_>>> = bends
            .iter()
            .map(|b| Box::new(|k, p| b.at(model, formulation, k, p)) as Box<Bend<'_>>)
            .collect();
        let starts: Vec<InitialGuess<'_>> =
            functions.iter().map(|f| InitialGuess::Values(&**f)).collect();
        let places = places(formulation.problem.length);
        let mut all: Vec<(Extremum, Vec<f64>)> = Vec::new();
        for mut found in
            extrema(&formulation.problem, integrand, SEARCH, &starts).into_iter().flatten()
        {
            let values = values(model, &mut found, &places);
            if !all.iter().any(|other| difference(&values, &other.1) < 1e-3) {
                all.push((found, values));
            }
        }
        all
    }

    /// Degree after degree, until the solution does not change; then once the double degree.
    fn refine(
        self,
        integrand: &mut Integrand,
        near: Option<Extremum>,
    ) -> Result<(Reached, Vec<f64>), NoExtremum> {
        let Self { model, formulation, ends, tolerance } = self;
        let problem = &formulation.problem;
        let places = places(problem.length);
        let least = if near.is_some() { SEARCH } else { 0 };
        let mut before = near.map(|mut e| {
            let values = values(model, &mut e, &places);
            (e, values)
        });
        let mut last = f64::INFINITY;
        let (mut steps, mut falling) = (0, None);
        let mut best: Option<(Reached, Vec<f64>)> = None;
        let constants = problem.unknowns.iter().map(|c| c.constants()).max().unwrap_or(0);
        for half in DEGREES.into_iter().filter(|&h| h > least) {
            let half = if half == 30 && constants < 2 { 31 } else { half };
            let found = extremum(problem, integrand, half, before.as_ref().map(|b| &b.0));
            let mut found = match (found, &before) {
                (Ok(found), _) => found,
                (Err(_), None) if half < 24 => continue,
                // NOTE: on many nodes rounding may stop what fewer solve.
                (Err(why), _) => return best.ok_or(why),
            };
            steps += found.steps;
            if let Some(count) = found.negative {
                let multipliers = model.constraints.len() + formulation.operands.len();
                let border = multipliers * found.grid.len() + problem.conditions.len();
                falling = Some(count.saturating_sub(border));
            }
            let values = values(model, &mut found, &places);
            let change = before.as_ref().map_or(f64::INFINITY, |b| difference(&values, &b.1));
            // The differences fall at least as fast as they did.
            let hoped =
                if last.is_finite() && change < last { change * change / last } else { change };
            let end = half == DEGREES[DEGREES.len() - 1];
            if hoped <= tolerance || end {
                let error = if half <= DOUBLED {
                    self.doubled(integrand, &found, &values)
                } else {
                    change
                };
                let error = error + ROUNDING;
                // The highest derivatives are known less well than the positions: half of what the audit allows.
                let limit = 0.5 * variation_limit(tolerance);
                let mut stationary =
                    || first_variation(problem, integrand, &mut found, ends, TESTS) <= limit;
                let enough = error <= tolerance && stationary();
                let better =
                    |b: &(Reached, Vec<f64>)| error < b.0.error || b.0.error > tolerance;
                if enough || best.as_ref().is_none_or(better) {
                    let found = found.clone();
                    best = Some((Reached { found, error, steps, falling }, values.clone()));
                }
                if enough || end {
                    break;
                }
            }
            last = change;
            before = Some((found, values));
        }
        best.ok_or(NoExtremum::Unconverged(f64::NAN))
    }

    /// Twice the difference from the solution of the double degree.
    fn doubled(self, integrand: &mut Integrand, found: &Extremum, values_here: &[f64]) -> f64 {
        let Self { model, formulation, .. } = self;
        let half = found.grid.half;
        let places = places(formulation.problem.length);
        // NOTE: where rounding stops the double degree, three halves and four thirds of it serve.
        for finer in [2 * half, 3 * half / 2, 4 * half / 3] {
            let solved = extremum(&formulation.problem, integrand, finer, Some(found));
            if let Ok(mut finer) = solved {
                return 2.0 * difference(&values(model, &mut finer, &places), values_here);
            }
        }
        f64::INFINITY
    }
}

/// Parts of the interval, between which solutions are compared.
pub(super) const PARTS: u32 = 12;

/// Places within the interval, nearer to each other at the ends.
fn places(length: f64) -> Vec<IntervalPoint> {
    let place = |i: u32| {
        let s = libm::sin(std::f64::consts::FRAC_PI_2 * f64::from(i) / f64::from(PARTS));
        let left = length * s * s;
        IntervalPoint { left, right: length - left }
    };
    (1..PARTS).map(place).collect()
}

/// Positions and multipliers at places.
fn values(model: &Workspace, found: &mut Extremum, places: &[IntervalPoint]) -> Vec<f64> {
    let count = model.coordinates.len() + model.constraints.len();
    let mut values = Vec::new();
    for &place in places {
        values.extend(
            (0..count).map(|k| found.value(k, FractionalOperator::Derivative(0), place)),
        );
    }
    values
}

/// The largest difference in parts of 1 + |a|, in units of the sizes of the components where these are far from one.
pub(super) fn difference(a: &[f64], b: &[f64]) -> f64 {
    let components = a.len() / (PARTS as usize - 1);
    let mut sizes = vec![0.0_f64; components];
    for place in a.chunks(components) {
        sizes.iter_mut().zip(place).for_each(|(size, x)| *size = size.max(x.abs()));
    }
    let most = sizes.iter().fold(0.0_f64, |m, size| m.max(*size));
    let units: Vec<f64> =
        sizes.iter().map(|size| ordinary_unit(size.max(NOISE * most))).collect();
    let off = |((a, b), unit): ((&f64, &f64), &f64)| (a - b).abs() / (unit + a.abs());
    // NOTE: what is not a number must not be lost in a maximum.
    let larger = |m: f64, x: f64| if x.is_nan() { f64::INFINITY } else { m.max(x) };
    a.iter().zip(b).zip(units.iter().cycle()).map(off).fold(0.0, larger)
}

/// What stays below this part of the largest component may be its rounding.
const NOISE: f64 = 1e-9;

type Bend<'a> = dyn Fn(usize, IntervalPoint) -> Option<f64> + 'a;

/// A course at which the search begins.
#[derive(Clone, Debug)]
enum Bent<'a> {
    /// A coordinate, the number of half waves, and their height.
    Wave(usize, f64, f64),
    /// Positions and multipliers as tables.
    Tables(&'a [Table], &'a [(usize, Table)]),
    /// Velocities and multipliers at the start.
    Begun(&'a [(Quantity, f64)]),
}

fn bends<'a>(
    model: &Workspace,
    formulation: &Formulation,
    guess: Option<&'a Guess>,
) -> Vec<Bent<'a>> {
    let mut bends = Vec::new();
    match guess {
        Some(Guess::Motion { positions, multipliers, .. }) => {
            bends.push(Bent::Tables(positions, multipliers));
        }
        Some(Guess::Start(list)) => bends.push(Bent::Begun(list)),
        None => {}
    }
    // NOTE: many coordinates get few waves each, so that the search stays short.
    let waves = if model.coordinates.len() > 4 { 1 } else { 2 };
    for k in 0..model.coordinates.len() {
        let (a, b) = ends_of(formulation, k);
        let size = 1.0 + (b - a).abs();
        for wave in 1..=waves {
            for height in [size, -size, 4.0 * size, -4.0 * size] {
                bends.push(Bent::Wave(k, f64::from(wave), height));
            }
        }
    }
    bends
}

impl Bent<'_> {
    fn at(
        &self,
        model: &Workspace,
        formulation: &Formulation,
        k: usize,
        place: IntervalPoint,
    ) -> Option<f64> {
        let n = model.coordinates.len();
        let length = formulation.problem.length;
        let s = place.left / length;
        let straight = |k: usize| {
            let (a, b) = ends_of(formulation, k);
            a + (b - a) * s
        };
        match self {
            Self::Wave(bent, wave, height) => {
                let up = height * libm::sin(std::f64::consts::PI * wave * s);
                (k < n).then(|| straight(k) + if k == *bent { up } else { 0.0 })
            }
            Self::Tables(positions, multipliers) => {
                let table = match k.checked_sub(n) {
                    None => positions.get(k),
                    Some(a) => multipliers.iter().find(|m| m.0 == a).map(|m| &m.1),
                }?;
                let (from, to) = table.range();
                Some(table.value(0, (from + s * (to - from)).clamp(from, to)))
            }
            Self::Begun(list) => {
                let given = |q: Quantity| list.iter().find(|l| l.0 == q).map(|l| l.1);
                match k.checked_sub(n) {
                    None => {
                        let (a, b) = ends_of(formulation, k);
                        let rate = given(Quantity::Coordinate(k, 1))
                            .map_or(0.0, |v| v * length - (b - a));
                        let start = given(Quantity::Coordinate(k, 0)).map_or(0.0, |q| q - a);
                        let far = 1.0 - s;
                        Some(straight(k) + rate * s * far * far + start * far * far)
                    }
                    Some(a) => given(Quantity::Multiplier(a)),
                }
            }
        }
    }
}

/// The positions that are given at both ends; the same one where one is given, 0 where none is.
fn ends_of(formulation: &Formulation, k: usize) -> (f64, f64) {
    let given = |end: Side| {
        let mut alone =
            formulation.problem.conditions.iter().filter_map(|c| match c.terms[..] {
                [t] if t.unknown == k && t.end == end && t.order == 0 => {
                    Some(c.value / t.factor)
                }
                _ => None,
            });
        alone.next()
    };
    let (a, b) = (given(Side::Left), given(Side::Right));
    (a.or(b).unwrap_or(0.0), b.or(a).unwrap_or(0.0))
}
