//! Exponents of a motion that are zero for a known reason.
//!
//! The direction of the motion and those of its symmetries neither grow nor shrink: they span $V$. Nor do the
//! directions across the levels of conserved quantities, $T/W$ with the common kernel $W$ of their slopes. So at least
//! $\dim V + \operatorname{codim} W - \dim V/(V\cap W)$ exponents are zero. All this is asked at the end of the motion:
//! what becomes dependent on the way, as the motion of a sleigh on its shifts when it no longer turns, shrinks. So does
//! the motion itself when it comes to rest.

use pfaff_solver::singular_values;

use crate::analysis::phase::chart::Chart;
use crate::analysis::phase::field::FieldPoint;
use crate::analysis::phase::integrals::Integrals;
use crate::analysis::phase::linearize::Phase;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::symmetries::symmetries;
use crate::system::compiled::Dynamics;

/// Singular values below this part of the largest vanish.
const DEPENDENT: f64 = 1e-4;
/// Sums below this part of their terms do.
const ROUNDING: f64 = 1e-9;
/// Rates below this part of those at the start do.
const RESTING: f64 = 1e-3;

/// How many exponents are zero for which reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroExponents {
    /// Along the motion itself, where the equations do not contain the time.
    pub time: usize,
    /// Along symmetries: shifts and turns of coordinates.
    pub symmetries: usize,
    /// Across the levels of the energy and of momenta.
    pub conserved: usize,
}

impl ZeroExponents {
    /// All of them.
    pub fn count(self) -> usize {
        self.time + self.symmetries + self.conserved
    }

    /// Those of a motion that began with some rates and ends at a state.
    pub(crate) fn of(phase: &mut Phase, first: &[f64], point: &FieldPoint) -> Self {
        let Some(quotient) = Quotient::at(&mut phase.field, point) else {
            return Self::default();
        };
        let chart = &quotient.chart;
        let Some(tangent) = chart.tangent(point) else { return Self::default() };
        let all = symmetries(&mut phase.field, chart, point);
        let rests = norm(&point.rates) <= RESTING * norm(first);
        let rates = (!phase.field.has_time && !rests).then(|| point.rates.clone());
        let time = rank(&rates.clone().into_iter().collect::<Vec<_>>());
        let moved = all.iter().map(|s| phase.field.prolonged(&s.frame, &point.y));
        let fields: Vec<Vec<f64>> = rates.into_iter().chain(moved).collect();
        let along = rank(&fields);
        let slopes = match &phase.dynamics {
            Dynamics::Saddle(equations) => {
                let Phase { model, field, .. } = &*phase;
                let found = Integrals::around(model, equations, field, chart, point, &all);
                found.map_or_else(Vec::new, |found| found.gradients(point))
            }
            Dynamics::Ordinary(_) => Vec::new(),
        };
        let across = rank(&restricted(&slopes, &tangent, chart));
        // What the quantities of symmetries do to each other: zero where it is the rounding of its terms.
        let product = |slope: &[f64], x: &[f64]| {
            let terms = slope.iter().zip(x).map(|(a, b)| a * b);
            let (sum, size) = terms.fold((0.0, 0.0_f64), |(s, m), x| (s + x, m + x.abs()));
            if sum.abs() <= ROUNDING * size { 0.0 } else { sum }
        };
        let row = |slope: &Vec<f64>| fields.iter().map(|x| product(slope, x)).collect();
        let pairing: Vec<Vec<f64>> = slopes.iter().map(row).collect();
        let mixed = rank(&pairing);
        Self { time, symmetries: along - time, conserved: across - mixed }
    }
}

/// Slopes along the free components.
fn restricted(slopes: &[Vec<f64>], tangent: &[f64], chart: &Chart) -> Vec<Vec<f64>> {
    let r = chart.free.len();
    let along = |slope: &Vec<f64>| -> Vec<f64> {
        let column = |j: usize| {
            let terms = slope.iter().enumerate();
            terms.map(|(i, x)| x * tangent[i * r + j]).sum::<f64>()
        };
        (0..r).map(column).collect()
    };
    slopes.iter().map(along).collect()
}

/// How many of some vectors are independent, each in its own unit.
fn rank(rows: &[Vec<f64>]) -> usize {
    let sizes: Vec<f64> = rows.iter().map(|row| norm(row)).collect();
    let largest = sizes.iter().copied().fold(0.0_f64, f64::max);
    let kept = rows.iter().zip(&sizes).filter(|(_, size)| **size > 1e-12 * largest);
    let unit: Vec<Vec<f64>> =
        kept.map(|(row, size)| row.iter().map(|x| x / size).collect()).collect();
    let Some(columns) = unit.first().map(Vec::len) else { return 0 };
    let split = singular_values(&unit.concat(), unit.len(), columns);
    split.values.iter().filter(|s| **s > DEPENDENT).count()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
