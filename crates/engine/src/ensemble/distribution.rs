//! Distributions of one number, by their quantile functions: a number between 0 and 1 → a value.

use std::f64::consts::{PI, SQRT_2};

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Distribution {
    Uniform { low: f64, high: f64 },
    Normal { mean: f64, deviation: f64 },
    LogUniform { low: f64, high: f64 },
    LogNormal { mean: f64, deviation: f64 },
    Exponential { mean: f64 },
}

/// The words of all distributions, with their arguments.
pub(super) const WORDS: &str = "`uniform(low, high)`, `normal(mean, deviation)`, `loguniform(low, high)`, \
     `lognormal(mean, deviation)` of the logarithm, `exponential(mean)`";

impl Distribution {
    /// The distribution of a word and its arguments, or what is wrong with them.
    pub(super) fn new(word: &str, arguments: &[f64]) -> Result<Self, String> {
        let distribution = match (word, arguments) {
            ("uniform", &[low, high]) => Self::Uniform { low, high },
            ("normal", &[mean, deviation]) => Self::Normal { mean, deviation },
            ("loguniform", &[low, high]) => Self::LogUniform { low, high },
            ("lognormal", &[mean, deviation]) => Self::LogNormal { mean, deviation },
            ("exponential", &[mean]) => Self::Exponential { mean },
            ("uniform" | "normal" | "loguniform" | "lognormal" | "exponential", _) => {
                let count = arguments.len();
                return Err(format!(
                    "`{word}` does not take {count} arguments; the distributions are {WORDS}"
                ));
            }
            _ => {
                return Err(format!(
                    "there is no distribution `{word}`; the distributions are {WORDS}"
                ));
            }
        };
        match distribution {
            Self::Uniform { low, high } | Self::LogUniform { low, high } if low >= high => {
                Err(format!("the low end {low} of `{word}` is not below its high end {high}"))
            }
            Self::LogUniform { low, .. } if low <= 0.0 => {
                Err(format!("the low end of `{word}` must be positive, not {low}"))
            }
            Self::Normal { deviation, .. } | Self::LogNormal { deviation, .. }
                if deviation <= 0.0 =>
            {
                Err(format!("the deviation of `{word}` must be positive, not {deviation}"))
            }
            Self::Exponential { mean } if mean <= 0.0 => {
                Err(format!("the mean of `{word}` must be positive, not {mean}"))
            }
            // The quantiles of the smallest and the largest number that is drawn.
            _ if ![f64::EPSILON / 4.0, 1.0 - f64::EPSILON / 2.0]
                .iter()
                .all(|&u| distribution.quantile(u).is_finite()) =>
            {
                Err(format!("this `{word}` is too wide: its values are not all finite"))
            }
            _ => Ok(distribution),
        }
    }

    /// The value below which the part `u` of all values lies.
    pub(super) fn quantile(self, u: f64) -> f64 {
        match self {
            Self::Uniform { low, high } => low + (high - low) * u,
            Self::Normal { mean, deviation } => mean + deviation * normal_quantile(u),
            Self::LogUniform { low, high } => {
                low * libm::exp((libm::log(high) - libm::log(low)) * u)
            }
            Self::LogNormal { mean, deviation } => {
                libm::exp(mean + deviation * normal_quantile(u))
            }
            Self::Exponential { mean } => -mean * libm::log1p(-u),
        }
    }
}

/// $\Phi^{-1}(u)$: a rational function after P. J. Acklam, good to 1e-9, and one step of Halley's method.
fn normal_quantile(u: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    /// Below it lies the tail.
    const TAIL: f64 = 0.024_25;
    if u > 0.5 {
        return -normal_quantile(1.0 - u);
    }
    let polynomial = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    let x = if u < TAIL {
        let q = libm::sqrt(-2.0 * libm::log(u));
        polynomial(&C, q) / polynomial(&D, q)
    } else {
        let q = u - 0.5;
        q * polynomial(&A, q * q) / polynomial(&B, q * q)
    };
    let error = 0.5 * libm::erfc(-x / SQRT_2) - u;
    let step = error * libm::sqrt(2.0 * PI) * libm::exp(0.5 * x * x);
    x - step / (1.0 + 0.5 * x * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // Φ⁻¹ to 16 digits, by mpmath: sqrt(2)*erfinv(2*u - 1).
        let table = [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.1, -1.281_551_565_544_600_4),
            (0.01, -2.326_347_874_040_841),
            (1e-10, -6.361_340_902_404_056),
        ];
        for (u, x) in table {
            let error = normal_quantile(u) - x;
            assert!(error.abs() < 1e-14 * (1.0 + x.abs()), "{u}: {error:e}");
        }
    }

    /// $F(F^{-1}(u)) = u$ for the distributions whose $F$ is elementary.
    #[test]
    fn quantiles_invert_distribution_functions() {
        for u in [1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9] {
            let x = Distribution::Uniform { low: -1.0, high: 3.0 }.quantile(u);
            assert!(((x + 1.0) / 4.0 - u).abs() < 1e-15);
            let x = Distribution::LogUniform { low: 0.01, high: 10.0 }.quantile(u);
            assert!((libm::log(x / 0.01) / libm::log(1000.0) - u).abs() < 1e-14);
            let x = Distribution::Exponential { mean: 2.0 }.quantile(u);
            assert!((1.0 - libm::exp(-x / 2.0) - u).abs() < 1e-15);
            let x = Distribution::LogNormal { mean: 1.0, deviation: 0.5 }.quantile(u);
            let y = Distribution::Normal { mean: 1.0, deviation: 0.5 }.quantile(u);
            assert!((libm::log(x) - y).abs() < 1e-14);
        }
    }

    #[test]
    fn impossible_distributions_are_refused() {
        let bad: [(&str, &[f64]); 10] = [
            ("uniform", &[-1e308, 1e308]),
            ("lognormal", &[0.0, 1e3]),
            ("normal", &[0.0, 1e308]),
            ("normal", &[0.0, -1.0]),
            ("normal", &[0.0, 0.0]),
            ("uniform", &[1.0, 1.0]),
            ("loguniform", &[-1.0, 1.0]),
            ("exponential", &[-1.0]),
            ("gauss", &[0.0, 1.0]),
            ("normal", &[1.0]),
        ];
        for (word, arguments) in bad {
            assert!(Distribution::new(word, arguments).is_err(), "{word} {arguments:?}");
        }
    }
}
