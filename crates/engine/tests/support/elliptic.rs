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

/// The argument with the given amplitude between −π and π: the integral of the first kind, by Newton's iteration on the amplitude.
pub(crate) fn argument(amplitude: f64, k: f64) -> f64 {
    let mut u = amplitude;
    for _ in 0..100 {
        let j = jacobi(u, k);
        // The amplitude of u, on the branch of u itself.
        let turns = (u * quarter_rate(k) / std::f64::consts::TAU).round();
        let here = j.sn.atan2(j.cn) + std::f64::consts::TAU * turns;
        let δ = (amplitude - here) / j.dn;
        u += δ;
        if δ.abs() < 1e-15 {
            break;
        }
    }
    u
}

/// π/(2K): the mean rate of the amplitude.
fn quarter_rate(k: f64) -> f64 {
    let (mut a, mut b) = (1.0_f64, (1.0 - k * k).sqrt());
    for _ in 0..40 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}
