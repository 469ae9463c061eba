//! Several numbers at once against `libm` one at a time, bit for bit.

use super::lanes::high;
use super::power::{self, power, power_row};
use super::{Binary, Unary, acos, asin, atan, cosh, erf, exp, gamma, log, sinh, tan, tanh};

const LANES: usize = 8;
type Row = [f64; LANES];

/// What branches and special cases of the functions look at.
fn hard() -> Vec<f64> {
    let mut numbers = vec![0.0, 5e-324, 2.2e-308, f64::MIN_POSITIVE, f64::MAX];
    numbers.extend([f64::INFINITY, f64::NAN, 1e-300, 1e300, 0.5, 1.0, 1.5, 2.0, 64.0, 65.0]);
    for word in [
        0x3fd6_2e42_u64,
        0x3fd6_2e43,
        0x3ff0_a2b2,
        0x3e30_0000,
        0x3e30_0001,
        0x4086_232b,
        0x3fe6_a09e,
        0x3ff6_a09e,
        0x3fdc_0000,
        0x3fe6_0000,
        0x3ff3_0000,
        0x4003_8000,
        0x4410_0000,
        0x3e40_0000,
        0x3fe9_21fb,
        0x3fe9_21fc,
        0x3fe5_9428,
        0x3ff9_21fb,
        0x4002_d97c,
        0x400f_6a7a,
        0x4012_d97c,
        0x4015_fdbc,
        0x4019_21fb,
        0x401c_463b,
        0x4139_21fb,
        0x3ff3_988e,
        0x3ffb_b67a,
        0x41e0_0000,
        0x3c30_0000,
        0x43b0_0000,
    ] {
        let x = high(word);
        numbers.extend([x.next_down().next_down(), x.next_down(), x, x.next_up()]);
        numbers.push(f64::from_bits(x.to_bits() | 0xffff_ffff));
    }
    for k in 1..40 {
        let x = f64::from(k) * std::f64::consts::FRAC_PI_4;
        numbers.extend([x.next_down(), x, x.next_up(), x * (1.0 + 1e-6), x * (1.0 - 3e-7)]);
    }
    numbers.extend([708.0, 708.4, 709.0, 709.1, 709.78, 709.79, 745.1, 746.0]);
    let negative: Vec<f64> = numbers.iter().map(|x| -x).collect();
    numbers.extend(negative);
    numbers
}

/// The same for functions of one argument alone.
fn harder() -> Vec<f64> {
    let mut numbers = hard();
    for word in [
        0x3fe0_0000_u64,
        0x3fef_3333,
        0x3e50_0000,
        0x3c60_0000,
        0x3c60_0001,
        0x3c90_0000,
        0x4086_2e42,
        0x3fe6_2e42,
        0x3fd0_58ae,
        0x3fd0_58af,
        0x3fe1_93ea,
        0x3fe1_93eb,
        0x4034_0000,
        0x4034_0001,
        0x3feb_0000,
        0x3ff4_0000,
        0x4006_db6d,
        0x4018_0000,
        0x4020_0000,
        0x4067_0000,
    ] {
        let x = high(word);
        numbers.extend([x.next_down(), x]);
        // Formulas on both sides of a change agree in most bits: take enough numbers to see a difference.
        let step = 0x9e37_79b9_u64;
        numbers.extend((1..100).map(|j| f64::from_bits(x.to_bits() + ((j * step) >> 8))));
    }
    // Where expm1 changes its way, also at the doubled argument of tanh.
    for k in [1.0, 2.0, 19.0, 20.0, 56.0, 57.0, 1023.0] {
        let x: f64 = (k + 0.5) * std::f64::consts::LN_2;
        for x in [x, 0.5 * x] {
            numbers.extend([x.next_down(), x, x.next_up(), x - 1e-3, x + 1e-3]);
        }
    }
    // Whole numbers and those between, for Γ; 5.52… is where its sum changes.
    numbers.extend((1..400).map(|k| 0.5 * f64::from(k)));
    numbers.extend([5.524_680_040_776_729_5, 5.524_680_040_776_73, 171.6, 171.7, 183.9]);
    let negative: Vec<f64> = numbers.iter().map(|x| -x).collect();
    numbers.extend(negative);
    numbers
}

/// Numbers of all sizes, the same in every run.
fn random(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let number = |i: usize| {
        let unit = (next() >> 11) as f64 / (1_u64 << 53) as f64;
        let sign = if next() & 1 == 0 { 1.0 } else { -1.0 };
        match i % 5 {
            0 => sign * unit,
            1 => sign * 20.0 * unit,
            2 => sign * 800.0 * unit,
            3 => sign * 3.0 * unit,
            _ => f64::from_bits(next()),
        }
    };
    (0..count).map(number).collect()
}

fn rows(numbers: &[f64]) -> Vec<Row> {
    numbers.chunks(LANES).map(|c| std::array::from_fn(|l| c[l % c.len()])).collect()
}

#[track_caller]
fn same(found: f64, wanted: f64, what: &dyn Fn() -> String) {
    let equal = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
    assert!(equal, "{}: {found:e} instead of {wanted:e}", what());
}

#[test]
fn functions_of_one_argument_have_the_bits_of_libm() {
    let numbers = [harder(), random(200_000)].concat();
    let all = Unary::ALL.into_iter().filter(|f| f.row(&[0.5; LANES]).is_some());
    assert!(all.clone().count() >= 11, "none is forgotten");
    for function in all {
        for x in rows(&numbers) {
            let y = function.row(&x).unwrap();
            for l in 0..LANES {
                let what = || format!("{}({:e})", function.name(), x[l]);
                same(y[l], function.value(x[l]), &what);
            }
        }
    }
}

#[test]
fn functions_of_two_arguments_have_the_bits_of_libm() {
    let hard = hard();
    let random = random(200_000);
    let mut pairs: Vec<(f64, f64)> =
        hard.iter().flat_map(|&a| hard.iter().map(move |&b| (a, b))).collect();
    pairs.extend(random.iter().copied().zip(random.iter().rev().copied()));
    pairs.extend(random.iter().map(|x| x.abs()).zip(random.iter().skip(7).copied()));
    for chunk in pairs.chunks_exact(LANES) {
        let (a, b): (Row, Row) =
            (std::array::from_fn(|l| chunk[l].0), std::array::from_fn(|l| chunk[l].1));
        let (angle, powers) = (Binary::Atan2.row(&a, &b).unwrap(), power_row(&a, &b));
        for l in 0..LANES {
            let what = |name: &str| format!("{name}({:e}, {:e})", a[l], b[l]);
            same(angle[l], Binary::Atan2.value(a[l], b[l]), &|| what("atan2"));
            same(powers[l], power(a[l], b[l]), &|| what("power"));
        }
    }
}

#[test]
fn ordinary_arguments_take_the_ordinary_way() {
    // Otherwise all would be right and nothing fast.
    let numbers: Vec<f64> = random(40_000).into_iter().filter(|x| x.abs() < 700.0).collect();
    let functions = [
        exp::usual,
        tan::usual,
        atan::usual,
        sinh::usual,
        cosh::usual,
        tanh::usual,
        erf::usual,
    ];
    for f in functions {
        let usual = numbers.iter().filter(|&&x| f(x).1).count();
        assert!(usual * 100 > 99 * numbers.len(), "{usual} of {}", numbers.len());
    }
    assert!(numbers.iter().all(|x| log::usual(x.abs() + 1e-300).1));
    assert!(numbers.iter().all(|x| asin::usual(x / 700.0).1 && acos::usual(x / 700.0).1));
    assert!(numbers.iter().all(|x| gamma::usual(x.abs() / 5.0 + 1e-3).1));
    let pairs = numbers.iter().zip(numbers.iter().skip(1));
    let usual = pairs.filter(|(x, y)| power::usual(x.abs() + 1e-3, 0.1 * **y).1).count();
    assert!(usual * 100 > 90 * numbers.len(), "{usual} of {}", numbers.len());
}
