//! Stationary points of functionals with fractional operators, against closed forms.

use pfaff_solver::{
    EndCondition, EndTerm, FractionalOperator, Functional, IntervalPoint, NoExtremum, Side,
    Unknown, VariationalProblem, extremum,
};

type Integrand = dyn Fn(IntervalPoint, &[f64], &mut [f64], &mut [f64]) -> f64;

struct Closure<'a>(&'a Integrand);

impl Functional for Closure<'_> {
    fn evaluate(&mut self, p: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]) -> f64 {
        g.fill(0.0);
        h.fill(0.0);
        (self.0)(p, x, g, h)
    }
}

fn given(unknown: usize, end: Side, order: usize, value: f64) -> EndCondition {
    EndCondition { terms: vec![EndTerm { unknown, end, order, factor: 1.0 }], value }
}

fn at(left: f64) -> IntervalPoint {
    IntervalPoint { left, right: 1.0 - left }
}

/// ∫ ½(D^α q)² with q(0) = 0, q(1) = 1: D^α q = C (1−t)^(α−1), and q is an incomplete beta function.
#[test]
fn least_fractional_speed_from_either_side() {
    let gamma = libm::tgamma;
    for alpha in [0.6, 0.75, 1.3, 1.8] {
        for side in [Side::Left, Side::Right] {
            let (zero, one) = (side, side.other());
            let unknown = Unknown { side, order: alpha };
            let problem = VariationalProblem {
                length: 1.0,
                unknowns: vec![unknown],
                // One condition at the far end: the density is like (1−t)^(α−1).
                tails: vec![alpha - 1.0],
                operators: vec![(0, FractionalOperator::Caputo(side, alpha))],
                conditions: if alpha < 1.0 {
                    vec![given(0, zero, 0, 0.0), given(0, one, 0, 1.0)]
                } else {
                    vec![given(0, zero, 0, 0.0), given(0, zero, 1, 0.0), given(0, one, 0, 1.0)]
                },
                decay: alpha.min(1.0),
            };
            let half_square = |_: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]| {
                g[0] = x[0];
                h[0] = 1.0;
                0.5 * x[0] * x[0]
            };
            let mut found = extremum(&problem, &mut Closure(&half_square), 31, None)
                .expect("a quadratic action has its minimum");
            // q(1) = C Γ(α) B-integral: ∫ (1−τ)^(2α−2)/Γ(α) dτ = 1/((2α−1) Γ(α)).
            let c = (2.0 * alpha - 1.0) * gamma(alpha);
            let exact = 0.5 * c * c / (2.0 * alpha - 1.0);
            // Cardinal functions leave out about e^{-π²/2h} ≈ 1e-14 here.
            assert!((found.action - exact).abs() < 1e-12 * exact, "{alpha} {}", found.action);
            for x in [0.1, 0.5, 0.9] {
                let place = if side == Side::Left { at(x) } else { at(1.0 - x) };
                let density = found.value(0, FractionalOperator::Caputo(side, alpha), place);
                let wanted = c * libm::pow(1.0 - x, alpha - 1.0);
                assert!((density - wanted).abs() < 1e-10, "{alpha} {side:?} {x} {density}");
            }
            assert!(found.unknowns_per_function() <= 65);
        }
    }
}

/// A force made so that q = t^p (1 − t)² solves the swapped equation: −D_right^α RL D^α q = F for ∫ ½(D^α q)² + F q.
#[test]
fn a_wrong_side_would_not_solve_this() {
    for alpha in [0.3, 0.5, 0.8, 1.2, 1.7] {
        let m = f64::ceil(alpha) as usize;
        // D^α q = g = t²(1−t)³, q = J^α g; RL-right derivative of g by powers of 1 − t.
        let (n1, n2) = (2_usize, 3_usize);
        let binomial = |n: usize, k: usize| -> f64 {
            (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
        };
        let gamma = libm::tgamma;
        let sign = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
        let q = move |t: f64| -> f64 {
            (0..=n2)
                .map(|j| {
                    let p = (n1 + j) as f64;
                    sign(j) * binomial(n2, j) * gamma(p + 1.0) / gamma(p + 1.0 + alpha)
                        * libm::pow(t, p + alpha)
                })
                .sum()
        };
        let f = move |z: f64| -> f64 {
            -(0..=n1)
                .map(|j| {
                    let p = (n2 + j) as f64;
                    sign(j) * binomial(n1, j) * gamma(p + 1.0) / gamma(p + 1.0 - alpha)
                        * libm::pow(z, p - alpha)
                })
                .sum::<f64>()
        };
        let integrand = move |p: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]| {
            g[0] = x[0];
            g[1] = f(p.right);
            h[0] = 1.0;
            0.5 * x[0] * x[0] + g[1] * x[1]
        };
        let mut conditions = vec![given(0, Side::Left, 0, 0.0)];
        if m == 2 {
            conditions.push(given(0, Side::Left, 1, 0.0));
        }
        // The end is free: natural conditions hold, for g vanishes there three times over.
        let problem = VariationalProblem {
            length: 1.0,
            unknowns: vec![Unknown { side: Side::Left, order: alpha }],
            tails: vec![0.0],
            operators: vec![
                (0, FractionalOperator::Caputo(Side::Left, alpha)),
                (0, FractionalOperator::Derivative(0)),
            ],
            conditions,
            decay: 1.0,
        };
        let mut found = extremum(&problem, &mut Closure(&integrand), 31, None)
            .expect("a quadratic action has its minimum");
        for t in [0.1, 0.4, 0.9] {
            let value = found.value(0, FractionalOperator::Derivative(0), at(t));
            assert!((value - q(t)).abs() < 1e-11, "{alpha} {t} {value} {}", q(t));
        }
    }
}

/// ∫ ½ q'² + ½ (right RL D^½ q)² − r q: the weak form is tested with a function of its own.
#[test]
fn operators_from_both_sides_at_once() {
    let side = Side::Left;
    let operators = vec![
        (0, FractionalOperator::Derivative(1)),
        (0, FractionalOperator::RiemannLiouville(Side::Right, 0.4)),
        (0, FractionalOperator::Caputo(Side::Left, 0.7)),
        (0, FractionalOperator::Derivative(0)),
    ];
    let problem = VariationalProblem {
        length: 1.0,
        unknowns: vec![Unknown { side, order: 1.0 }],
        tails: vec![0.0],
        operators: operators.clone(),
        conditions: vec![given(0, side, 0, 0.5), given(0, Side::Right, 0, 1.0)],
        // (1−t)^(−0.4) of the right operator enters with its square, but nodes nearer to the end than 1e-40
        // would bring rounding.
        decay: 0.4,
    };
    let integrand = |_: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]| {
        for i in 0..3 {
            g[i] = x[i];
            h[i * 4 + i] = 1.0;
        }
        g[3] = x[3] * x[3] * x[3] - 1.0;
        h[15] = 3.0 * x[3] * x[3];
        0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) + 0.25 * x[3].powi(4) - x[3]
    };
    let mut coarse = extremum(&problem, &mut Closure(&integrand), 20, None).expect("convex");
    let mut found =
        extremum(&problem, &mut Closure(&integrand), 31, Some(&coarse)).expect("convex");
    assert!((coarse.action - found.action).abs() < 1e-6, "{} {}", coarse.action, found.action);
    for t in [0.2, 0.7] {
        let a = coarse.value(0, FractionalOperator::Derivative(0), at(t));
        let b = found.value(0, FractionalOperator::Derivative(0), at(t));
        assert!((a - b).abs() < 1e-7, "{t} {a} {b}");
    }
    // First variation along η = t²(1−t)², whose derivatives are sums of powers.
    let (gamma, pow) = (libm::tgamma, libm::pow);
    let by_powers = |x: f64, beta: f64| -> f64 {
        [(2.0, 1.0), (3.0, -2.0), (4.0, 1.0)]
            .iter()
            .map(|&(p, c)| c * gamma(p + 1.0) / gamma(p + 1.0 - beta) * pow(x, p - beta))
            .sum()
    };
    let grid = pfaff_solver::SincGrid::new(1.0, 60, 0.4);
    let (mut g, mut h) = (vec![0.0; 4], vec![0.0; 16]);
    let mut variation = 0.0;
    for (p, w) in grid.places.iter().zip(&grid.weights) {
        let values = found.values(*p);
        Closure(&integrand).evaluate(*p, &values, &mut g, &mut h);
        let eta = [
            by_powers(p.left, 1.0),
            by_powers(p.right, 0.4),
            by_powers(p.left, 0.7),
            by_powers(p.left, 0.0),
        ];
        let sum: f64 = g.iter().zip(eta).map(|(g, e)| g * e).sum();
        variation += grid.step * w * sum;
    }
    // The solution is known to some 1e-9 near the end; η is of size 1/16.
    assert!(variation.abs() < 1e-9, "{variation}");
}

/// A function that nothing determines is named.
#[test]
fn what_is_not_determined_is_said() {
    let problem = VariationalProblem {
        length: 1.0,
        unknowns: vec![Unknown { side: Side::Left, order: 0.75 }],
        tails: vec![0.0],
        operators: vec![(0, FractionalOperator::Caputo(Side::Left, 0.75))],
        conditions: Vec::new(),
        decay: 0.75,
    };
    let half_square = |_: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]| {
        g[0] = x[0];
        h[0] = 1.0;
        0.5 * x[0] * x[0]
    };
    let none = extremum(&problem, &mut Closure(&half_square), 12, None).err();
    assert_eq!(none, Some(NoExtremum::Singular(0)));
}

/// The table of `docs/memory.md`: errors by the number of nodes, for least effort of order 0.75 and for a
/// driven particle with a constraint of order ½.
#[test]
fn convergence_is_exponential() {
    let gamma = libm::tgamma;
    let effort = VariationalProblem {
        length: 1.0,
        unknowns: vec![Unknown { side: Side::Left, order: 0.75 }],
        tails: vec![-0.25],
        operators: vec![(0, FractionalOperator::Caputo(Side::Left, 0.75))],
        conditions: vec![given(0, Side::Left, 0, 0.0), given(0, Side::Right, 0, 1.0)],
        decay: 0.75,
    };
    let half_square = |_: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]| {
        g[0] = x[0];
        h[0] = 1.0;
        0.5 * x[0] * x[0]
    };
    let effort_exact = [
        0.120_327_502_173_462_62,
        0.245_250_455_333_611_92,
        0.434_147_892_582_709_14,
        0.634_279_665_248_753_2,
        0.785_011_667_161_054_4,
    ];
    // ∫ ½ q'² + ½ (D^½ q)² + F q, with F made for q = J^½ t²(1−t)².
    let particle = VariationalProblem {
        length: 1.0,
        unknowns: vec![Unknown { side: Side::Left, order: 1.0 }],
        tails: vec![0.0],
        operators: vec![
            (0, FractionalOperator::Derivative(1)),
            (0, FractionalOperator::Caputo(Side::Left, 0.5)),
            (0, FractionalOperator::Derivative(0)),
        ],
        conditions: vec![
            given(0, Side::Left, 0, 0.0),
            given(0, Side::Right, 0, 0.028_657_248_688_140_003),
        ],
        decay: 1.0,
    };
    let driven = move |p: IntervalPoint, x: &[f64], g: &mut [f64], h: &mut [f64]| {
        let binomial = [1.0, -2.0, 1.0];
        let mut f = 0.0;
        for (j, c) in binomial.iter().enumerate() {
            let k = j as f64;
            f += c * gamma(k + 3.0) / gamma(k + 1.5) * libm::pow(p.left, k + 0.5);
            f -= c * gamma(k + 3.0) / gamma(k + 2.5) * libm::pow(p.right, k + 1.5);
        }
        (g[0], g[1], g[2]) = (x[0], x[1], f);
        (h[0], h[4]) = (1.0, 1.0);
        0.5 * (x[0] * x[0] + x[1] * x[1]) + f * x[2]
    };
    let particle_exact = [
        0.001_591_325_433_886_611_3,
        0.011_642_007_279_556_875,
        0.035_461_536_035_682_9,
        0.041_880_215_305_964_565,
        0.034_353_054_981_647_875,
    ];
    let times = [0.1, 0.25, 0.5, 0.75, 0.9];
    // Twice what the table says, for the last digit.
    let table = [
        (4, [7e-4, 2e-3]),
        (8, [2e-6, 7e-5]),
        (12, [9e-9, 2e-6]),
        (16, [9e-11, 6e-8]),
        (24, [4e-15, 3e-11]),
        (31, [1e-15, 4e-14]),
    ];
    for (half, limits) in table {
        let cases: [(&VariationalProblem, &Integrand, &[f64; 5]); 2] =
            [(&effort, &half_square, &effort_exact), (&particle, &driven, &particle_exact)];
        for ((problem, integrand, exact), limit) in cases.into_iter().zip(limits) {
            let mut found =
                extremum(problem, &mut Closure(integrand), half, None).expect("convex");
            let mut error = 0.0_f64;
            for (&t, &q) in times.iter().zip(exact) {
                error = error
                    .max((found.value(0, FractionalOperator::Derivative(0), at(t)) - q).abs());
            }
            assert!(error < 2.0 * limit, "{half} {error:e}");
        }
    }
}
