//! The special functions against values with thirty digits, and against their theorems.
//!
//! The reference is `special/mittag_leffler.txt` and, with random parameters,
//! `special/mittag_leffler_held_out.txt`; their heads say how they were made. Its condition numbers say how much
//! of an error in the last digit of $z$ or $\alpha$ no method can avoid; the tolerance is $10^{-13}$ times that,
//! some 450 roundings.

use std::f64::consts::PI;

use pfaff_expr::special::{
    Complex, MittagLeffler, gamma, gamma_complex, ln_gamma, ln_gamma_complex, mittag_leffler,
    mittag_leffler_complex, mittag_leffler_slope, mittag_leffler_slope_complex,
    reciprocal_gamma, reciprocal_gamma_complex,
};
use pfaff_expr::{Graph, Rational};

const TOLERANCE: f64 = 1e-13;

/// One line of the reference.
struct Reference {
    alpha: f64,
    beta: f64,
    z: Complex,
    value: Complex,
    slope: Complex,
    condition: f64,
    slope_condition: f64,
}

fn references() -> Vec<Reference> {
    let held_out = include_str!("special/mittag_leffler_held_out.txt");
    include_str!("special/mittag_leffler.txt")
        .lines()
        .chain(held_out.lines())
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let n: Vec<f64> =
                line.split(' ').map(|word| word.parse().expect("a number")).collect();
            let [alpha, beta, x, y, a, b, c, d, condition, slope_condition] = n[..] else {
                panic!("ten columns: {line}");
            };
            Reference {
                alpha,
                beta,
                z: Complex::new(x, y),
                value: Complex::new(a, b),
                slope: Complex::new(c, d),
                condition,
                slope_condition,
            }
        })
        .collect()
}

fn relative(value: Complex, expected: Complex) -> f64 {
    (value - expected).abs() / expected.abs()
}

#[test]
fn values_of_the_reference() {
    let all = references();
    assert!(all.len() >= 5900, "{}", all.len());
    for r in &all {
        let value = if r.z.im == 0.0 {
            Complex::from(mittag_leffler(r.alpha, r.beta, r.z.re))
        } else {
            mittag_leffler_complex(r.alpha, r.beta, r.z)
        };
        let error = relative(value, r.value);
        assert!(
            error <= TOLERANCE * r.condition,
            "E_{{{},{}}}({:?}): {error:e}",
            r.alpha,
            r.beta,
            r.z
        );
    }
}

#[test]
fn slopes_of_the_reference() {
    for r in references() {
        let slope = if r.z.im == 0.0 {
            Complex::from(mittag_leffler_slope(r.alpha, r.beta, r.z.re))
        } else {
            mittag_leffler_slope_complex(r.alpha, r.beta, r.z)
        };
        let error = relative(slope, r.slope);
        assert!(
            error <= TOLERANCE * r.slope_condition,
            "E′_{{{},{}}}({:?}): {error:e}",
            r.alpha,
            r.beta,
            r.z
        );
    }
}

#[test]
fn complex_values_on_the_axis_are_the_real_ones() {
    for r in references().iter().filter(|r| r.z.im == 0.0) {
        let value = mittag_leffler_complex(r.alpha, r.beta, r.z);
        let error = relative(value, r.value);
        assert!(error <= TOLERANCE * r.condition, "{} {} {:?}", r.alpha, r.beta, r.z);
    }
}

#[test]
fn conjugate_arguments_give_conjugate_values() {
    for r in references().iter().filter(|r| r.z.im != 0.0) {
        let value = mittag_leffler_complex(r.alpha, r.beta, r.z.conj());
        let error = relative(value.conj(), r.value);
        assert!(error <= TOLERANCE * r.condition, "{} {} {:?}", r.alpha, r.beta, r.z);
    }
}

/// $E_{\alpha,\beta}(z) = 1/\Gamma(\beta) + z E_{\alpha,\alpha+\beta}(z)$, which mixes the methods of both sides.
#[test]
fn recurrence_in_beta() {
    for r in references() {
        let neighbour =
            |shift: f64| mittag_leffler_complex(r.alpha, r.alpha + r.beta + shift, r.z) * r.z;
        let next = neighbour(0.0);
        let first = reciprocal_gamma(r.beta);
        let left = mittag_leffler_complex(r.alpha, r.beta, r.z);
        // α + β is rounded, and the derivative of the identity in α gives the condition of the neighbour:
        // both by the slope in β.
        let steep = (neighbour(1e-4) - neighbour(-1e-4)).abs() / 2e-4;
        let size = first.abs() + next.abs() + left.abs() * r.condition + r.alpha * steep;
        let rounding = f64::EPSILON * (r.alpha + r.beta).abs() * steep;
        let error = (left - next - Complex::from(first)).abs();
        assert!(
            error <= TOLERANCE * size + rounding,
            "{} {} {:?}: {:e}",
            r.alpha,
            r.beta,
            r.z,
            error / size
        );
    }
}

/// $\alpha z E' = E_{\alpha,\beta-1} - (\beta - 1)E_{\alpha,\beta}$
#[test]
fn slope_by_the_neighbour_in_beta() {
    // Beside the poles of Γ the rounding of β − 1 would be seen.
    let exact = |r: &Reference| (r.beta - 1.0) + 1.0 == r.beta && r.beta.fract().abs() < 0.999;
    for r in references().into_iter().filter(exact) {
        let slope = mittag_leffler_slope_complex(r.alpha, r.beta, r.z) * r.z * r.alpha;
        let lower = mittag_leffler_complex(r.alpha, r.beta - 1.0, r.z);
        let same = mittag_leffler_complex(r.alpha, r.beta, r.z) * (r.beta - 1.0);
        // The neighbour has a condition number of its own, at most that of this function and its slope together.
        let size = same.abs() * r.condition + slope.abs() * r.slope_condition + lower.abs();
        let error = (slope - lower + same).abs();
        assert!(error <= 2.0 * TOLERANCE * size, "{} {} {:?}", r.alpha, r.beta, r.z);
    }
}

#[test]
fn closed_forms() {
    let near = |value: f64, expected: f64, condition: f64| {
        assert!(
            (value - expected).abs() <= 4e-15 * expected.abs() * condition.max(1.0),
            "{value} {expected}"
        );
    };
    for i in 0..400 {
        let x = -20.0 + 0.1 * f64::from(i) + 0.037;
        let root = x.abs().sqrt();
        assert_eq!(mittag_leffler(1.0, 1.0, x), libm::exp(x));
        near(mittag_leffler(1.0, 2.0, x), libm::expm1(x) / x, 1.0);
        near(mittag_leffler(1.0, 0.0, x), x * libm::exp(x), 1.0);
        near(mittag_leffler(1.0, -2.0, x), x * x * x * libm::exp(x), 1.0);
        if x < 0.0 {
            // Near the zeros of the cosine its condition is |r tan r|.
            let tan = libm::tan(root);
            near(mittag_leffler(2.0, 1.0, x), libm::cos(root), (root * tan).abs());
            near(mittag_leffler(2.0, 2.0, x), libm::sin(root) / root, (root / tan).abs());
        } else {
            near(mittag_leffler(2.0, 1.0, x), libm::cosh(root), root);
            near(mittag_leffler(2.0, 2.0, x), libm::sinh(root) / root, root);
        }
        // E_{1/2,1}(−y) = e^{y²} erfc y, by a method that has nothing in common with this one.
        let y = 0.0123 * f64::from(i);
        let erfcx = libm::exp(y * y) * libm::erfc(y);
        near(mittag_leffler(0.5, 1.0, -y), erfcx, 1.0 + 2.0 * y * y);
    }
}

/// $\int_0^\infty e^{-pt} t^{\beta-1}E_{\alpha,\beta}(-t^\alpha)\,dt = p^{\alpha-\beta}/(p^\alpha+1)$
#[test]
fn laplace_transforms() {
    for (α, β) in [(0.5, 1.0), (0.7, 2.0), (1.3, 1.0), (1.8, 1.5), (0.25, 3.0), (1.0, 2.5)] {
        let function = MittagLeffler::new(α, β);
        for p in [1.0, 2.5] {
            // t = exp(u − e^{−u}) makes both ends fall doubly exponentially; the trapezoidal rule then is
            // exact to rounding.
            let h = 1.0 / 64.0;
            let sum: f64 = (-400..400)
                .map(|i| {
                    let u = f64::from(i) * h;
                    let t = libm::exp(u - libm::exp(-u));
                    let rate = t * (1.0 + libm::exp(-u));
                    let value = function.value(-libm::pow(t, α));
                    h * rate * libm::exp(-p * t) * libm::pow(t, β - 1.0) * value
                })
                .sum();
            let exact = libm::pow(p, α - β) / (libm::pow(p, α) + 1.0);
            assert!((sum - exact).abs() < 1e-13 * exact, "{α} {β} {p}: {sum} {exact}");
        }
    }
}

/// $E_{2\alpha,\beta}(z^2) = ½(E_{\alpha,\beta}(z) + E_{\alpha,\beta}(-z))$
#[test]
fn duplication() {
    for i in 1..40 {
        let α = 0.05 * f64::from(i);
        for (β, z) in [(1.0, 1.7), (0.3, 3.1), (2.0, 0.6), (5.5, 6.0)] {
            for angle in [0.0, 0.4, 1.1, 1.57, 2.6] {
                let z = Complex::polar(z, angle);
                let (a, b) =
                    (mittag_leffler_complex(α, β, z), mittag_leffler_complex(α, β, -z));
                if a.abs() + b.abs() > 1e10 {
                    continue; // the exponential's own condition
                }
                let whole = mittag_leffler_complex(2.0 * α, β, z * z);
                let error = (whole - (a + b) * 0.5).abs();
                // Growing values have a condition of ln|E|/α.
                let size = (a.abs() + b.abs()) * (1.0 + libm::log1p(a.abs() + b.abs()) / α);
                assert!(error <= TOLERANCE * size, "{α} {β} {z:?}: {error:e}");
            }
        }
    }
}

#[test]
fn outside_the_domain() {
    for (α, β, z) in [
        (0.0, 1.0, 0.5),
        (-1.0, 1.0, 0.5),
        (f64::NAN, 1.0, 0.5),
        (0.5, f64::INFINITY, 0.5),
        (0.5, 1.0, f64::NAN),
        (0.5, 1.0, f64::NEG_INFINITY),
    ] {
        assert!(mittag_leffler(α, β, z).is_nan(), "{α} {β} {z}");
        assert!(mittag_leffler_slope(α, β, z).is_nan(), "{α} {β} {z}");
    }
    assert_eq!(mittag_leffler(0.1, 1.0, 50.0), f64::INFINITY);
    assert_eq!(mittag_leffler(0.7, 3.0, 0.0), 0.5);
    assert_eq!(mittag_leffler(0.7, -2.0, 0.0), 0.0);
    assert_eq!(mittag_leffler(0.4, 0.0, -0.0), 0.0);
}

/// $E_{\alpha,\beta}(-x)$ is completely monotone for $0 < \alpha \le 1$, $\beta \ge \alpha$ [Schneider 1996].
#[test]
fn completely_monotone() {
    for i in 1..=20 {
        let α = 0.05 * f64::from(i);
        for β in [α, α + 0.3, 1.0 + α, 7.0] {
            let function = MittagLeffler::new(α, β);
            let mut before = f64::INFINITY;
            for j in -40..120 {
                let x = libm::exp2(0.25 * f64::from(j));
                if α == 1.0 && β == 1.0 && x > 700.0 {
                    break; // the exponential underflows
                }
                let value = function.value(-x);
                assert!(value > 0.0 && value < before, "{α} {β} {x}");
                assert!(function.slope(-x) > 0.0, "{α} {β} {x}");
                before = value;
            }
        }
    }
}

/// Nothing hangs or panics at the ends of the range, and what is representable is found.
#[test]
fn extreme_arguments() {
    let ends = [1e-308, 1e-20, 1e-3, 1.0, 7.5, 210.0, 1e5, 1e20, 1e308];
    for α in ends {
        for β in ends.iter().flat_map(|&b| [b, -b]) {
            for x in ends.iter().flat_map(|&x| [x, -x]) {
                let _ = mittag_leffler(α, β, x);
                let _ = mittag_leffler_slope(α, β, x);
                let _ = mittag_leffler_complex(α, β, Complex::new(x, -0.3 * x));
            }
        }
    }
    assert_eq!(mittag_leffler(210.0, 1.0, 1e300), 1.0);
    assert_eq!(mittag_leffler(1e300, 2.0, -1e300), 1.0);
    // z^{501} e^z
    let value = mittag_leffler(1.0, -500.0, -2.0);
    let exact = -libm::exp2(501.0) * libm::exp(-2.0);
    assert!((value - exact).abs() < 1e-15 * exact.abs());
    // −1/(zΓ(β − α)) far out.
    let far = mittag_leffler(0.7, 1.0, -1e200);
    assert!((far * 1e200 * gamma(0.3) - 1.0).abs() < 1e-15);
    // E_{α,β} → 1/(Γ(β)(1 − z)) as α → 0
    let flat = mittag_leffler(1e-30, 2.5, -3.0);
    assert!((flat * 4.0 * gamma(2.5) - 1.0).abs() < 2e-15);
}

#[test]
fn graph_evaluates_it() {
    let g = Graph::new();
    let number = |n: i64, d: i64| g.number(Rational::new(n.into(), d.into()));
    let e = g.mittag_leffler(number(1, 2), number(1, 1), number(-1, 1));
    let value = g.evaluate(&[e], &|_| f64::NAN)[0];
    assert!((value - 0.427_583_576_155_807).abs() < 1e-15, "{value}"); // e·erfc(1)
}

#[test]
fn gamma_of_real_numbers() {
    assert_eq!(gamma(5.0), 24.0);
    assert!(gamma(0.0).is_nan() && gamma(-3.0).is_nan());
    assert_eq!(reciprocal_gamma(0.0), 0.0);
    assert_eq!(reciprocal_gamma(-7.0), 0.0);
    // Near a pole 1/Γ(−n + ε) = (−1)ⁿ n! ε(1 − ψ(n+1)ε): ψ(4) = 1.2561…
    let ε = 2.0_f64.powi(-40);
    let expected = -6.0 * ε * (1.0 - 1.256_117_668_431_800_5 * ε);
    assert!((reciprocal_gamma(-3.0 + ε) - expected).abs() < 4e-16 * expected.abs());
    for i in 0..400 {
        let x = -9.87 + 0.1 * f64::from(i);
        // Three roundings of libm's 7·10⁻¹⁶.
        let product = gamma(x) * reciprocal_gamma(x);
        assert!((product - 1.0).abs() < 3e-15, "{x} {product}");
        assert!(
            (ln_gamma(x) - libm::log(gamma(x).abs())).abs() < 3e-15 * (1.0 + x.abs() * 4.0)
        );
    }
    // Beyond the range of Γ its reciprocal is still there: 1/Γ(172) = 8.0…·10⁻³¹⁰, not normal.
    assert!(reciprocal_gamma(172.0) > 0.0);
}

/// Some fifteen roundings: of the last steps in doubles, the rest has thirty digits.
#[test]
fn gamma_of_complex_numbers() {
    let lines = include_str!("special/gamma.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let n: Vec<f64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let (z, exact) = (Complex::new(n[0], n[1]), Complex::new(n[2], n[3]));
        let ln = Complex::new(n[4], n[5]);
        assert!(relative(gamma_complex(z), exact) < 3e-15, "{z:?}");
        let product = reciprocal_gamma_complex(z) * exact;
        assert!((product - Complex::from(1.0)).abs() < 3e-15, "{z:?}");
        // ln Γ vanishes at 1 and 2, so the error is measured beside 1.
        assert!((ln_gamma_complex(z) - ln).abs() < 2e-15 * (1.0 + ln.abs()), "{z:?}");
        assert_eq!(gamma_complex(z.conj()), gamma_complex(z).conj());
        assert_eq!(ln_gamma_complex(z.conj()), ln_gamma_complex(z).conj());
        count += 1;
    }
    assert!(count > 250);
}

#[test]
fn complex_gamma_on_the_axis() {
    for x in [-7.3, -0.5, 0.25, 3.0, 55.5] {
        let z = Complex::from(x);
        assert_eq!(gamma_complex(z), Complex::from(gamma(x)));
        assert_eq!(reciprocal_gamma_complex(z), Complex::from(reciprocal_gamma(x)));
        // On the cut the logarithm is that of the upper side: one half turn for every pole passed.
        let ln = ln_gamma_complex(z);
        let turns = if x < 0.0 { x.floor() } else { 0.0 };
        assert!((ln.re - ln_gamma(x)).abs() < 3e-15 * (1.0 + ln.re.abs()), "{x} {ln:?}");
        assert!((ln.im - PI * turns).abs() < 1e-14 * (1.0 + turns.abs()), "{x} {ln:?}");
    }
    assert!(gamma_complex(Complex::from(-2.0)).re.is_nan());
    assert_eq!(reciprocal_gamma_complex(Complex::from(-2.0)), Complex::default());
}
