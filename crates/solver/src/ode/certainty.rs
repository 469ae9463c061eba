//! Whether the zeros of a function in a part of a step can be told from nine values.
//!
//! Three questions, each of which may ask for the part to be halved:
//!
//! 1. *Is it slow?* Every argument of a function that oscillates, jumps or has a narrow feature (a *phase* of the
//!    event, [`System::event_phases`](crate::System::event_phases)) varies by less than [`PHASE`] over the part, so
//!    that nothing hides between the points.
//! 2. *Is it foretold?* The polynomial through five of the values comes to the other four, up to $e$, at most
//!    [`FORETOLD`] of the range.
//! 3. *Is its sign known?* With the coefficients $b_0, \dots, b_8$ of Bernstein's polynomials,
//!    $p(x) = \sum_i b_i \binom8i x^i (1-x)^{8-i}$ has no zero if all $b_i > e$, and one at most if all
//!    $b_{i+1} - b_i > e$ (or all $< -e$).

/// Number of intervals in which a step, or a part of it, is looked at.
pub(crate) const PARTS: usize = 8;
/// Values in a part.
pub(crate) const POINTS: usize = PARTS + 1;
/// Their places, as parts of the whole: no two distances are alike.
pub(crate) const PLACES: [f64; POINTS] =
    [0.0, 0.123_001, 0.225_092, 0.373_924, 0.485_855, 0.624_847, 0.719_557, 0.880_689, 1.0];
/// By how much of its range a function may differ from what is foretold.
const FORETOLD: f64 = 0.02;
/// By how much a phase may vary over a part: a quarter of a turn.
pub(crate) const PHASE: f64 = 1.5;
/// So many times its range away from zero, a function need not be foretold.
const AWAY: f64 = 3.0;

/// The magnitudes, as parts of the largest in the step and in the run, below which a function without a change of
/// sign need not be looked at more closely; and those for one with a change of sign.
const EXTREMUM: [f64; 2] = [1e-6, 1e-8];
const FLAT: [f64; 2] = [1e-9, 1e-12];

/// What nine values say of the zeros of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum View {
    /// There is one zero at most, and the signs at the ends show it.
    Certain,
    /// The function is foretold, and close to zero without being monotone.
    Close,
    /// The values do not foretell the function.
    Rough,
}

/// What tells the zeros of a function from its values.
pub(crate) struct Certainty {
    /// From values to the coefficients of Bernstein's polynomials.
    coefficients: [[f64; POINTS]; POINTS],
}

impl Certainty {
    pub(crate) fn new() -> Self {
        Self { coefficients: inverse(bernstein()) }
    }

    /// Judges a function by its values; `local` and `reach` are the largest magnitudes that it had in the step and in
    /// the run.
    pub(crate) fn view(&self, g: &[f64; POINTS], local: f64, reach: f64) -> View {
        if g.iter().any(|x| x.is_nan()) {
            // NOTE: what is not a number is not foretold by more points either.
            return View::Certain;
        }
        let low = g.iter().copied().fold(f64::INFINITY, f64::min);
        let high = g.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (size, range) = (low.abs().max(high.abs()), high - low);
        // NOTE: what rounding leaves of a function at rest is not foretold by anything.
        let rounding = 64.0 * f64::EPSILON * size.max(reach);
        if range <= rounding || low > AWAY * range || -high > AWAY * range {
            return View::Certain;
        }
        let off = WEIGHTS.iter().enumerate().map(|(odd, weights)| {
            let foretold: f64 =
                weights.iter().zip(g.iter().step_by(2)).map(|(w, x)| w * x).sum();
            (foretold - g[2 * odd + 1]).abs()
        });
        let off = off.fold(0.0, f64::max);
        if off > (FORETOLD * range).max(rounding) {
            return View::Rough;
        }
        let b = self.coefficients.map(|row| row.iter().zip(g).map(|(w, x)| w * x).sum::<f64>());
        let off = off + 16.0 * rounding;
        let signed = |values: &mut dyn Iterator<Item = f64>| {
            let (low, high) = values
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            low > off || high < -off
        };
        let is_certain = signed(&mut b.iter().copied())
            || signed(&mut b.windows(2).map(|pair| pair[1] - pair[0]));
        // A part around an extremum at zero, or around a zero of higher order, is small enough once the function is.
        let keeps_sign = g[0] * g[PARTS] > 0.0 || g[0].abs().min(g[PARTS].abs()) <= rounding;
        let [part, digits] = if keeps_sign { EXTREMUM } else { FLAT };
        let enough = (part * local).max(digits * reach);
        if is_certain || size <= enough { View::Certain } else { View::Close }
    }
}

/// Whether a phase varies so little over a part that nothing hides between the points.
pub(crate) fn is_slow(phase: &[f64; POINTS]) -> bool {
    phase.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>() <= PHASE
}

/// The values of Bernstein's polynomials of degree eight in the places.
fn bernstein() -> [[f64; POINTS]; POINTS] {
    const CHOICES: [f64; POINTS] = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];
    PLACES.map(|x| {
        std::array::from_fn(|i| {
            CHOICES[i] * x.powi(i as i32) * (1.0 - x).powi((PARTS - i) as i32)
        })
    })
}

/// The inverse of a matrix that is well enough conditioned (here $10^4$), by elimination with pivots.
fn inverse(mut a: [[f64; POINTS]; POINTS]) -> [[f64; POINTS]; POINTS] {
    let mut inverse = [[0.0; POINTS]; POINTS];
    (0..POINTS).for_each(|i| inverse[i][i] = 1.0);
    for k in 0..POINTS {
        let pivot = (k..POINTS).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        let pivot = pivot.unwrap_or(k);
        a.swap(k, pivot);
        inverse.swap(k, pivot);
        let scale = 1.0 / a[k][k];
        a[k].iter_mut().chain(&mut inverse[k]).for_each(|x| *x *= scale);
        let (row, image) = (a[k], inverse[k]);
        for i in (0..POINTS).filter(|&i| i != k) {
            let factor = a[i][k];
            a[i].iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            inverse[i].iter_mut().zip(&image).for_each(|(x, r)| *x -= factor * r);
        }
    }
    inverse
}

/// The part that the value in each even place has in each odd one, in the polynomial through all even ones.
const WEIGHTS: [[f64; PARTS / 2 + 1]; PARTS / 2] = {
    let mut weights = [[1.0; PARTS / 2 + 1]; PARTS / 2];
    let mut odd = 0;
    while odd < PARTS / 2 {
        let mut even = 0;
        while even <= PARTS / 2 {
            let mut other = 0;
            while other <= PARTS / 2 {
                if other != even {
                    let (x, a, b) = (PLACES[2 * odd + 1], PLACES[2 * even], PLACES[2 * other]);
                    weights[odd][even] *= (x - b) / (a - b);
                }
                other += 1;
            }
            even += 1;
        }
        odd += 1;
    }
    weights
};

#[cfg(test)]
mod tests {
    use super::*;

    fn view(g: impl Fn(f64) -> f64) -> View {
        Certainty::new().view(&PLACES.map(g), 1.0, 1.0)
    }

    #[test]
    fn one_zero_is_certain_and_three_between_two_points_are_not() {
        assert_eq!(view(|x| libm::sin(x) - 0.4), View::Certain);
        assert_eq!(view(|x| libm::cos(x) + 0.1), View::Certain);
        assert_eq!(view(|x| (x - 0.55) * ((x - 0.55) * (x - 0.55) - 1e-4)), View::Close);
        assert_eq!(view(|x| (x - 0.55) * (x - 0.55)), View::Close);
        assert_eq!(view(|x| libm::sin(40.0 * x)), View::Rough);
        assert_eq!(view(|_| 0.0), View::Certain);
    }

    #[test]
    fn phases_are_slow_up_to_a_quarter_of_a_turn() {
        assert!(is_slow(&PLACES.map(|x| 1.4 * x)) && !is_slow(&PLACES.map(|x| 1.6 * x)));
        assert!(
            !is_slow(&PLACES.map(|x| libm::sin(40.0 * x))) && !is_slow(&[f64::NAN; POINTS])
        );
    }
}
