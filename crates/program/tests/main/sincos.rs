//! Sine and cosine against exact arithmetic: Taylor series in whole numbers of $2^{-300}$.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use pfaff_program::{sincos, sincos_fused};

use crate::support::{draw, same};

/// Places after the binary point.
const PLACES: usize = 300;

#[test]
fn one_unit_in_the_last_place() {
    let mut arguments = draw(-10.0..10.0, 20_000);
    let scales = [1.0, 1e2, 1e3, 1e5, 1e6, 1e7, 1e8].into_iter().cycle();
    arguments.extend(draw(-1.0..1.0, 20_000).into_iter().zip(scales).map(|(x, s)| s * x));
    arguments.extend(draw(-1e8..1e8, 10_000));
    arguments.extend((-40..0).map(|i| 10f64.powi(i)));
    arguments.extend([1e8, -1e8]);
    check(&arguments);
}

#[test]
fn next_to_multiples_of_a_quarter_turn() {
    // Where the reduction cancels, and (odd multiples of π/4) where quadrants meet.
    let mut arguments = Vec::new();
    for k in (1..4_000).chain(draw(1..127_000_000, 8_000)) {
        let nearest = to_double(&(quarter_turn() * k / 2));
        arguments.extend([nearest, -nearest, nearest.next_up(), nearest.next_down()]);
    }
    check(&arguments);
}

#[test]
fn the_hardest_doubles() {
    // By a search over all k: the six doubles up to 10⁸ closest to kπ/2, absolutely (2⁻⁶¹) or relative to k.
    let base = [45.553_093_477_052, 14_461_176.670_278_38];
    check(&base.map(|x| [x, 2.0 * x, 4.0 * x, -x]).concat());
}

#[test]
fn beyond_the_range_libm_answers() {
    for x in [1.000_000_1e8, -3e9, 1e22, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for (s, c) in [sincos(x), sincos_fused(x)] {
            assert!(same(s, libm::sin(x)) && same(c, libm::cos(x)), "{x}");
        }
    }
}

#[test]
fn small_arguments_keep_their_sign() {
    for x in [0.0, -0.0, 5e-324, -5e-324, f64::MIN_POSITIVE, -1e-300, 1e-20] {
        for (s, c) in [sincos(x), sincos_fused(x)] {
            assert_eq!((s.to_bits(), c), (x.to_bits(), 1.0));
        }
    }
}

/// Both within one unit in the last place of the exact value.
fn check(arguments: &[f64]) {
    for &x in arguments {
        let exact = exact(x);
        for (sin, cos) in [sincos(x), sincos_fused(x)] {
            let (of_sin, of_cos) = (units(sin, &exact.0), units(cos, &exact.1));
            assert!(of_sin < 1.0 && of_cos < 1.0, "{x:?}: {of_sin} and {of_cos} units");
        }
    }
}

/// $|v - \text{exact}|$ in units of the last place of `v`.
fn units(v: f64, exact: &BigInt) -> f64 {
    if v == 0.0 {
        return if exact.is_zero() { 0.0 } else { f64::INFINITY };
    }
    let place = (v.abs().to_bits() >> 52) as usize + PLACES - 1075;
    let difference: BigInt = fixed(v) - exact;
    difference.abs().to_f64().expect("finite")
        / (BigInt::from(1) << place).to_f64().expect("finite")
}

/// $\sin x$ and $\cos x$ as whole numbers of $2^{-300}$, exact to a few of them per turn.
fn exact(x: f64) -> (BigInt, BigInt) {
    let (x, quarter) = (fixed(x), quarter_turn());
    let half_up: BigInt = &x * 2 + &quarter;
    let twice: BigInt = &quarter * 2;
    let mut k = &half_up / &twice;
    if half_up.is_negative() {
        k -= 1;
    }
    let r = x - &k * quarter;
    let (sin, cos) = (series(&r, r.clone(), 1), series(&r, BigInt::from(1) << PLACES, 0));
    let turn: BigInt = ((k % 4) + 4) % 4;
    match turn.to_u8() {
        Some(0) => (sin, cos),
        Some(1) => (cos, -sin),
        Some(2) => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// $\sum_j (-r^2)^j \cdot \text{first} / ((n+1)(n+2)\cdots(n+2j))$
fn series(r: &BigInt, first: BigInt, n: u32) -> BigInt {
    let square: BigInt = (r * r) >> PLACES;
    let (mut term, mut sum, mut n) = (first, BigInt::zero(), n);
    while term.magnitude().bits() > 1 {
        sum += &term;
        term = -((term * &square) >> PLACES) / ((n + 1) * (n + 2));
        n += 2;
    }
    sum
}

/// $\pi/2$, from $\pi = 3.243\mathrm{f}6\dots_{16}$.
fn quarter_turn() -> BigInt {
    let digits =
        b"3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89452821e638d01377";
    let pi = BigInt::parse_bytes(digits, 16).expect("hexadecimal digits");
    pi >> (320 + 1 - PLACES)
}

/// A double as a whole number of $2^{-300}$; exact from $2^{-248}$ on.
fn fixed(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (mantissa, exponent) = ((bits & ((1 << 52) - 1)) | (1 << 52), (bits >> 52) as usize);
    let magnitude = BigInt::from(mantissa) << (exponent + PLACES - 1075);
    if x < 0.0 { -magnitude } else { magnitude }
}

fn to_double(number: &BigInt) -> f64 {
    number.to_f64().expect("finite") / (BigInt::from(1) << PLACES).to_f64().expect("finite")
}
