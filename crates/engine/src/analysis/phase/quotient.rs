//! The flow without its cyclic coordinates.
//!
//! A position on which none of the other rates depends is cyclic. Without it the flow is still one of the remaining
//! variables $w$, $\dot w = g(w)$, and where $g = 0$ the cyclic coordinates move uniformly: a steady motion. What is
//! cyclic depends on the chart, since with constraints the velocities that are held fixed matter: of all charts the one
//! with the most cyclic coordinates is taken. A column counts as zero if it vanishes at the state and at others that
//! are scattered around it.

use pfaff_solver::least_squares;

use crate::analysis::phase::chart::{Chart, ChartPoint};
use crate::analysis::phase::field::{Field, FieldPoint, ParameterPoint};
use crate::split_mix::SplitMix64;

/// Entries below this part of their terms, and of the largest terms of their row, vanish at scattered states.
const VANISHING: (f64, f64) = (1e-8, 1e-12);
/// The same for entries that are set to zero in the matrix of the state itself.
const ROUNDING: (f64, f64) = (1e-12, 1e-15);
/// How many states are looked at beside the given one.
const SCATTERED: usize = 3;
/// Charts that are tried.
const CHARTS: usize = 250;
/// Newton's iteration for an equilibrium, and the length of a last step that could not be taken whole, in parts of
/// 1 + |y|.
const ITERATIONS: usize = 60;
const NEAR: f64 = 1e-7;

/// A chart, and what remains in it.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    pub(crate) chart: Chart,
    /// Components of the state that are left, $w$.
    pub(crate) variables: Vec<usize>,
    /// Coordinates that were removed.
    pub(crate) cyclic: Vec<usize>,
    /// Places of $w$ among those of the chart.
    places: Vec<usize>,
    /// The order of the coordinates from which the chart was made.
    order: Vec<usize>,
}

/// The flow of the quotient at a state.
#[derive(Clone, Debug)]
pub(crate) struct QuotientPoint {
    /// $g$
    pub(crate) rates: Vec<f64>,
    /// $\partial g/\partial w$ by rows.
    pub(crate) matrix: Vec<f64>,
    /// What counts as zero in each component of $g$.
    pub(crate) rounding: Vec<f64>,
    /// $\partial y/\partial w$ by rows.
    pub(crate) tangent: Vec<f64>,
}

impl Quotient {
    /// The quotient at a state; `None` where the constraints are singular.
    pub(crate) fn at(field: &mut Field, point: &FieldPoint) -> Option<Self> {
        let mut best: Option<(usize, f64, Self)> = None;
        for (order, chart) in charts(field, point) {
            let Some(here) = chart.at(point) else { continue };
            let mut seen = vec![here];
            let others = scattered(field, &chart, point);
            seen.extend(others.iter().filter_map(|there| chart.at(there)));
            let cyclic = cyclic(&seen, &chart, field.n);
            let size = seen[0].tangent.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let better = best.as_ref().is_none_or(|(count, other, _)| {
                cyclic.len() > *count || (cyclic.len() == *count && size < 0.5 * other)
            });
            if better {
                let coordinates = cyclic.iter().map(|&place| chart.free[place]).collect();
                best = Some((cyclic.len(), size, Self::without(chart, coordinates, order)));
            }
        }
        best.map(|(.., found)| found)
    }

    fn without(chart: Chart, cyclic: Vec<usize>, order: Vec<usize>) -> Self {
        let places: Vec<usize> = (0..chart.free.len())
            .filter(|&place| !cyclic.contains(&chart.free[place]))
            .collect();
        let variables = places.iter().map(|&place| chart.free[place]).collect();
        Self { chart, variables, cyclic, places, order }
    }

    /// The same quotient in a chart that suits another state.
    pub(crate) fn moved(&self, field: &Field, point: &FieldPoint) -> Self {
        let chart = Chart::new(field, point, &self.order);
        Self::without(chart, self.cyclic.clone(), self.order.clone())
    }

    /// A direction of $w$ in the variables of another chart of the same quotient.
    pub(crate) fn carried(
        &self,
        to: &Self,
        point: &FieldPoint,
        along: &[f64],
    ) -> Option<Vec<f64>> {
        let w = self.variables.len();
        let tangent = self.point(point)?.tangent;
        let component = |&c: &usize| {
            let row = tangent[c * w..(c + 1) * w].iter().zip(along);
            row.map(|(t, x)| t * x).sum()
        };
        Some(to.variables.iter().map(component).collect())
    }

    /// The flow at a state on the constraints; `None` where the chart ends.
    pub(crate) fn point(&self, point: &FieldPoint) -> Option<QuotientPoint> {
        let ChartPoint { tangent, mut matrix, scale } = self.chart.at(point)?;
        let r = self.chart.free.len();
        round(&mut matrix, &scale, r, ROUNDING);
        let rows = |values: &[f64]| -> Vec<f64> {
            let entries =
                self.places.iter().flat_map(|&i| self.places.iter().map(move |&j| (i, j)));
            entries.map(|(i, j)| values[i * r + j]).collect()
        };
        let w = self.variables.len();
        let scale = rows(&scale);
        let size = |i: usize| -> f64 {
            let terms = scale[i * w..(i + 1) * w].iter().zip(&self.variables);
            terms.map(|(a, &c)| a * point.y[c].abs()).sum()
        };
        let columns =
            (0..point.y.len()).flat_map(|i| self.places.iter().map(move |&j| i * r + j));
        Some(QuotientPoint {
            rates: self.variables.iter().map(|&c| point.rates[c]).collect(),
            matrix: rows(&matrix),
            rounding: (0..w).map(|i| 1.0 + size(i)).collect(),
            tangent: columns.map(|at| tangent[at]).collect(),
        })
    }

    /// $\partial g/\partial p$ by rows.
    pub(crate) fn by_parameters(
        &self,
        point: &FieldPoint,
        by: &ParameterPoint,
    ) -> Option<Vec<f64>> {
        let (d, k) = (point.y.len(), by.count);
        let shift = self.chart.shift(point, by)?;
        let rows = self.variables.iter().flat_map(|&c| (0..k).map(move |j| (c, j)));
        let entry = |(c, j): (usize, usize)| {
            let moved = point.jacobian[c * d..(c + 1) * d].iter().enumerate();
            by.rates[c * k + j] + moved.map(|(i, f)| f * shift[i * k + j]).sum::<f64>()
        };
        Some(rows.map(entry).collect())
    }

    /// The equilibrium of the quotient that Newton's iteration reaches from a state, by the shortest steps; `None` if
    /// it reaches none.
    pub(crate) fn settle(&self, field: &mut Field, start: &FieldPoint) -> Option<FieldPoint> {
        let mut point = start.clone();
        let mut left = 0.0;
        for _ in 0..ITERATIONS {
            let quotient = self.moved(field, &point);
            let w = quotient.variables.len();
            let here = quotient.point(&point)?;
            let size = norm(&here.rates);
            let step = least_squares(&here.matrix, w, w, &here.rates, 1e-11);
            let mut part = 1.0;
            let next = loop {
                if part < 1e-4 {
                    return None;
                }
                let mut y = point.y.clone();
                quotient.variables.iter().zip(&step.x).for_each(|(&c, δ)| y[c] -= part * δ);
                let moved = quotient.chart.complete(field, point.t, &mut y);
                let next = moved.and_then(|()| field.at(point.t, &y)).ok();
                let there = next.as_ref().and_then(|next| quotient.point(next));
                if let (Some(next), Some(there)) = (next, there) {
                    // Near the end rounding may make a step longer.
                    let rounding = there.rounding.iter().fold(0.0_f64, |m, x| m.max(*x));
                    if norm(&there.rates) <= (1.0 - 0.1 * part) * size + 1e-12 * rounding {
                        break next;
                    }
                }
                part *= 0.5;
            };
            let moved = quotient.variables.iter().zip(&step.x);
            let whole = moved.map(|(&c, δ)| δ.abs() / (1.0 + next.y[c].abs()));
            let whole = whole.fold(0.0_f64, f64::max);
            left = if part < 1.0 { whole } else { 0.0 };
            point = next;
            if part * whole < 1e-14 {
                break;
            }
        }
        // Where only parts of steps can be taken, as at the edge of a chart, nothing is near.
        if left > NEAR {
            return None;
        }
        let there = self.moved(field, &point).point(&point)?;
        there.is_equilibrium().then_some(point)
    }

    /// The nearer one of the equilibria to which Newton's iteration and the damped flow lead: Newton's steps may go far
    /// where the matrix is nearly singular.
    pub(crate) fn nearest(&self, field: &mut Field, start: &FieldPoint) -> Option<FieldPoint> {
        let direct = self.settle(field, start);
        let low = self.descend(field, start).and_then(|low| self.settle(field, &low));
        let off = |at: &FieldPoint| {
            let all = self.variables.iter().map(|&c| (at.y[c] - start.y[c]).powi(2));
            all.sum::<f64>()
        };
        let found = [direct, low].into_iter().flatten();
        found.min_by(|a, b| off(a).total_cmp(&off(b)))
    }

    /// Where the flow leads to, by implicit Euler steps that become longer as its rates vanish: to states that attract,
    /// and to those around which the flow turns, since such steps damp. Newton's iteration goes by the shortest way
    /// instead, which leads past places where forces vary fast. `None` where a step is not possible.
    pub(crate) fn descend(&self, field: &mut Field, start: &FieldPoint) -> Option<FieldPoint> {
        let mut point = start.clone();
        let mut h = 0.0;
        let mut last = f64::INFINITY;
        for _ in 0..DESCENT {
            let quotient = self.moved(field, &point);
            let w = quotient.variables.len();
            let here = quotient.point(&point)?;
            let steepest = here.matrix.iter().fold(1e-12_f64, |m, x| m.max(x.abs()));
            let rate = norm(&here.rates);
            if here.is_equilibrium() || h * steepest > 1e9 {
                return Some(point);
            }
            // The length of a step grows as the rates become less.
            h = if h == 0.0 { 0.3 / steepest } else { h * (last / rate).clamp(0.4, 2.5) };
            last = rate;
            let mut matrix: Vec<f64> = here.matrix.iter().map(|a| -h * a).collect();
            (0..w).for_each(|i| matrix[i * w + i] += 1.0);
            let right: Vec<f64> = here.rates.iter().map(|g| h * g).collect();
            let step = least_squares(&matrix, w, w, &right, 1e-13).x;
            let mut part = 1.0;
            point = loop {
                let mut y = point.y.clone();
                quotient.variables.iter().zip(&step).for_each(|(&c, δ)| y[c] += part * δ);
                let moved = quotient.chart.complete(field, point.t, &mut y);
                if let Ok(next) = moved.and_then(|()| field.at(point.t, &y)) {
                    break next;
                }
                part *= 0.5;
                if part < 1e-3 {
                    return None;
                }
            };
        }
        Some(point)
    }
}

/// Implicit steps of a descent.
const DESCENT: usize = 80;

/// Rates below this part of their terms vanish.
const STILL: f64 = 1e-10;

impl QuotientPoint {
    /// Whether the rates vanish.
    pub(crate) fn is_equilibrium(&self) -> bool {
        self.rates.iter().zip(&self.rounding).all(|(rate, size)| rate.abs() <= STILL * size)
    }
}

/// Charts by different choices of what follows from what: the preferred one first.
fn charts(field: &Field, point: &FieldPoint) -> Vec<(Vec<usize>, Chart)> {
    let n = field.n;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&k| field.preference[k]);
    let first = Chart::new(field, point, &order);
    let dependent = field.size() - first.free.len();
    let count = dependent - (0..n).filter(|c| !first.free.contains(c)).count();
    let mut found = vec![(order.clone(), first)];
    if dependent == 0 || field.m == field.holonomic() {
        return found;
    }
    let mut backward: Vec<usize> = (0..n).rev().collect();
    backward.sort_by_key(|&k| field.preference[k]);
    let mut candidates = vec![backward];
    if n <= 16 && binomial(n, count) <= CHARTS as f64 {
        candidates.extend(
            (0_u32..1 << n).filter(|set| set.count_ones() as usize == count).map(|set| {
                let first = order.iter().filter(|&&k| set >> k & 1 == 1);
                first.chain(order.iter().filter(|&&k| set >> k & 1 == 0)).copied().collect()
            }),
        );
    }
    for order in candidates {
        let chart = Chart::new(field, point, &order);
        if found.iter().all(|(_, known)| *known != chart) {
            found.push((order, chart));
        }
    }
    found
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Other states on the constraints, scattered around one.
pub(crate) fn scattered(
    field: &mut Field,
    chart: &Chart,
    point: &FieldPoint,
) -> Vec<FieldPoint> {
    scattered_many(field, chart, point, SCATTERED)
}

/// As many as asked for, if the constraints allow.
pub(crate) fn scattered_many(
    field: &mut Field,
    chart: &Chart,
    point: &FieldPoint,
    count: usize,
) -> Vec<FieldPoint> {
    let mut found = Vec::new();
    for seed in 0..count {
        for spread in [0.3, 0.1, 0.02] {
            let mut random = SplitMix64(seed as u64 + 1);
            let mut y = point.y.clone();
            for &c in &chart.free {
                let unit = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                y[c] += spread * (1.0 + 0.5 * y[c].abs()) * (2.0 * unit - 1.0);
            }
            let moved = chart.complete(field, point.t, &mut y);
            if let Ok(there) = moved.and_then(|()| field.at(point.t, &y))
                && keeps_all(&there)
            {
                found.push(there);
                break;
            }
        }
    }
    found
}

/// Whether a state keeps all constraints: those that follow from others at one state may not do so on another branch of
/// them.
fn keeps_all(there: &FieldPoint) -> bool {
    let d = there.y.len();
    let size = there.y.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    [&there.positions, &there.velocities].into_iter().all(|level| {
        let rows = level.slopes.chunks(d.max(1)).zip(&level.values);
        rows.into_iter().all(|(slopes, value)| {
            let steepest = slopes.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            value.abs() <= 1e-8 * steepest * size
        })
    })
}

/// Places of the chart that are cyclic positions in all of these points.
fn cyclic(seen: &[ChartPoint], chart: &Chart, n: usize) -> Vec<usize> {
    let r = chart.free.len();
    let mut left: Vec<usize> = (0..r).collect();
    let vanishes = |i: usize, j: usize| {
        seen.iter()
            .all(|p| is_zero(p.matrix[i * r + j], &p.scale[i * r..(i + 1) * r], j, VANISHING))
    };
    while let Some(at) = (0..left.len()).find(|&at| {
        let j = left[at];
        chart.free[j] < n && left.iter().all(|&i| vanishes(i, j))
    }) {
        left.remove(at);
    }
    (0..r).filter(|place| !left.contains(place)).collect()
}

fn is_zero(x: f64, scale: &[f64], j: usize, (own, row): (f64, f64)) -> bool {
    let largest = scale.iter().fold(0.0_f64, |m, x| m.max(*x));
    x.abs() <= own * scale[j] + row * largest
}

fn round(matrix: &mut [f64], scale: &[f64], r: usize, parts: (f64, f64)) {
    for (row, scale) in matrix.chunks_mut(r.max(1)).zip(scale.chunks(r.max(1))) {
        for (j, x) in row.iter_mut().enumerate() {
            // An entry that is a single term is not the rounding of others.
            if is_zero(*x, scale, j, parts) {
                *x = 0.0;
            }
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
