//! Smooth kernels as sums of exponentials and waves, by least squares, tried at lags between those that were fitted.

use pfaff_solver::{DampedWave, Kernel, least_squares};

/// The largest error of a fit, relative to the largest value of the kernel.
const FITTED: f64 = 1e-12;
/// Weights far above the kernel lose to rounding what they win by cancelling.
const HEAVIEST: f64 = 1e3;

/// A kernel that is bounded and smooth from the lag 0 to `longest` as a sum of exponentials or waves, if few do.
pub(crate) fn fit(longest: f64, value: &dyn Fn(f64) -> f64) -> Option<Kernel> {
    let largest = (0..=40)
        .map(|i| value(longest * f64::from(i) / 40.0).abs())
        .fold(0.0_f64, |a, b| if b.is_nan() { b } else { a.max(b) });
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    let scaled = |s: f64| value(s) / largest;
    let kernel = exponentials(longest, &scaled).or_else(|| waves(longest, &scaled))?;
    Some(match kernel {
        Kernel::Exponentials(pairs) => {
            Kernel::Exponentials(pairs.into_iter().map(|(w, r)| (w * largest, r)).collect())
        }
        Kernel::Waves(mu, waves) => {
            let large =
                |w: DampedWave| DampedWave { weight: w.weight.map(|x| x * largest), ..w };
            Kernel::Waves(mu, waves.into_iter().map(large).collect())
        }
        kernel => kernel,
    })
}

fn exponentials(longest: f64, value: &dyn Fn(f64) -> f64) -> Option<Kernel> {
    const RATES: usize = 60;
    // From slower than the run to a thousand times faster.
    let rates: Vec<f64> = (0..RATES)
        .map(|l| {
            let exponent = -2.0 + 5.5 * l as f64 / (RATES - 1) as f64;
            if l == 0 { 0.0 } else { libm::pow(10.0, exponent) / longest }
        })
        .collect();
    // Lags that are dense at 0, where the fast rates live.
    let lags = |count: usize, shift: f64| {
        (0..count).map(move |i| {
            let u = (i as f64 + shift) / count as f64;
            longest * u * u * u
        })
    };
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for s in lags(4 * RATES, 0.0).chain([longest]) {
        matrix.extend(rates.iter().map(|r| libm::exp(-r * s)));
        right.push(value(s));
    }
    let rows = right.len();
    let weights = least_squares(&matrix, rows, RATES, &right, 1e-14).x;
    if weights.iter().map(|w| w.abs()).sum::<f64>() > HEAVIEST {
        return None;
    }
    let close = |s: f64| {
        let sum: f64 = rates.iter().zip(&weights).map(|(r, w)| w * libm::exp(-r * s)).sum();
        (sum - value(s)).abs() <= FITTED
    };
    let pairs = rates.iter().zip(&weights).map(|(&r, w)| (*w, r)).collect();
    lags(1999, 0.5).chain([0.0, longest]).all(close).then_some(Kernel::Exponentials(pairs))
}

/// Waves of the period of twice the run: beyond the run they do as they like, so that neither end matters.
fn waves(longest: f64, value: &dyn Fn(f64) -> f64) -> Option<Kernel> {
    for count in [16_usize, 32, 64] {
        let frequencies: Vec<f64> =
            (0..count).map(|m| std::f64::consts::PI * m as f64 / longest).collect();
        let rates: Vec<[f64; 2]> = frequencies.iter().map(|w| [0.0, *w]).collect();
        // Lags that are dense at both ends.
        let lags = |count: usize, shift: f64| {
            (0..count).map(move |i| {
                let u = std::f64::consts::PI * (i as f64 + shift) / count as f64;
                0.5 * longest * (1.0 - libm::cos(u))
            })
        };
        let fitted: Vec<f64> = lags(6 * count, 0.0).chain([longest]).collect();
        let tried: Vec<f64> = lags(1999, 0.5).chain([0.0, longest]).collect();
        let found = weighted(&rates, &fitted, &tried, FITTED, value);
        if let Some(waves) = found {
            return Some(Kernel::Waves(1.0, waves));
        }
    }
    None
}

/// $\operatorname{Re} \sum w\,e^{-zs}$ with given $z$ and weights by least squares, if it meets the values,
/// which are of size 1, at the lags that are tried.
pub(crate) fn weighted(
    rates: &[[f64; 2]],
    fitted: &[f64],
    tried: &[f64],
    allowed: f64,
    value: &dyn Fn(f64) -> f64,
) -> Option<Vec<DampedWave>> {
    let row = |s: f64| -> Vec<f64> {
        let pair = |&[r, w]: &[f64; 2]| {
            let size = libm::exp(-r * s);
            [size * libm::cos(w * s), size * libm::sin(w * s)]
        };
        rates.iter().flat_map(pair).collect()
    };
    let matrix: Vec<f64> = fitted.iter().flat_map(|s| row(*s)).collect();
    let right: Vec<f64> = fitted.iter().map(|s| value(*s)).collect();
    if matrix.iter().chain(&right).any(|x| !x.is_finite()) {
        return None;
    }
    let weights = least_squares(&matrix, right.len(), 2 * rates.len(), &right, 1e-14).x;
    if weights.iter().map(|w| w.abs()).sum::<f64>() > HEAVIEST {
        return None;
    }
    let close = |s: &f64| {
        let sum: f64 = row(*s).iter().zip(&weights).map(|(r, w)| r * w).sum();
        (sum - value(*s)).abs() <= allowed
    };
    let wave = |(w, r): (&[f64], &[f64; 2])| DampedWave { weight: [w[0], w[1]], rate: *r };
    tried.iter().all(close).then(|| weights.chunks_exact(2).zip(rates).map(wave).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_kernels_are_fitted_and_others_refused() {
        for k in [|s: f64| 1.0 / (1.0 + s), |s: f64| libm::pow(1.0 + 3.0 * s, -1.5)] {
            assert!(matches!(fit(10.0, &k), Some(Kernel::Exponentials(_))));
        }
        assert!(fit(5.0, &|s| 1.0 / (1.0 + s * s)).is_some());
        assert!(matches!(fit(5.0, &|s| libm::exp(-s * s)), Some(Kernel::Waves(1.0, _))));
        // Singular at 0, and a jump of the slope.
        assert_eq!(fit(10.0, &|s| libm::pow(s, -0.5) * libm::exp(-s)), None);
        assert_eq!(fit(10.0, &|s| (1.0 - s).abs()), None);
    }
}
