//! Jacobi's elliptic functions by the arithmetic-geometric mean (Abramowitz and Stegun 1964, 16.4 and 17.6).

/// sn, cn, dn and the integral E(u) of dn² at `u` for the modulus 0 ≤ k < 1.
pub(crate) struct Jacobi {
    pub(crate) sn: f64,
    pub(crate) cn: f64,
    pub(crate) dn: f64,
    pub(crate) e: f64,
}

pub(crate) fn jacobi(u: f64, k: f64) -> Jacobi {
    let (mut a, mut b, mut c) = (1.0, (1.0 - k * k).sqrt(), k);
    let mut means = vec![(a, c)];
    let mut sum = 0.5 * c * c;
    let mut power = 1.0;
    // Convergence is quadratic; ten rounds leave rounding only.
    for _ in 0..10 {
        (a, b, c) = (0.5 * (a + b), (a * b).sqrt(), 0.5 * (a - b));
        power *= 2.0;
        sum += 0.5 * power * c * c;
        means.push((a, c));
    }
    let mut φ = power * a * u;
    let mut zeta = 0.0;
    for &(a, c) in means[1..].iter().rev() {
        zeta += c * libm::sin(φ);
        φ = 0.5 * (φ + (c / a * libm::sin(φ)).asin());
    }
    let (sn, cn) = (libm::sin(φ), libm::cos(φ));
    Jacobi { sn, cn, dn: (1.0 - k * k * sn * sn).sqrt(), e: zeta + u * (1.0 - sum) }
}

/// The argument with the given amplitude: the integral of the first kind, by Landen's transformation
/// (Abramowitz and Stegun 1964, 17.6.8).
pub(crate) fn argument(amplitude: f64, k: f64) -> f64 {
    let (mut a, mut b) = (1.0_f64, (1.0 - k * k).sqrt());
    let (mut φ, mut power) = (amplitude, 1.0);
    for _ in 0..10 {
        let half_turns = ((φ - φ.tan().atan()) / std::f64::consts::PI).round();
        φ += (b / a * φ.tan()).atan() + std::f64::consts::PI * half_turns;
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        power *= 2.0;
    }
    φ / (power * a)
}

#[test]
fn a_quarter_period_is_an_argument() {
    // K(sin 75°), Abramowitz and Stegun 1964, table 17.1.
    let k = (0.25 * (6.0_f64.sqrt() + 2.0_f64.sqrt()), 2.768_063_145_368_768);
    assert!((argument(std::f64::consts::FRAC_PI_2, k.0) - k.1).abs() < 1e-14);
}

#[test]
fn arguments_belong_to_their_amplitudes() {
    for k in [0.0, 0.3, 0.9, 0.9616, 0.999_99] {
        for i in -40..=40 {
            let φ = 0.1 * f64::from(i);
            let j = jacobi(argument(φ, k), k);
            // Near k = 1 the amplitude moves by 1/k' times rounding of the argument.
            assert!((j.sn - libm::sin(φ)).abs() < 1e-11, "{k} {φ}");
            assert!((j.cn - libm::cos(φ)).abs() < 1e-11, "{k} {φ}");
        }
    }
}
