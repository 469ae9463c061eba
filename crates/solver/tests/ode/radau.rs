//! Radau IIA: its orders, stiff problems of the IVP test set, events, and the change from and to explicit steps.
//!
//! Reference values are those of the Test Set for IVP Solvers (Mazzia and Magherini 2008), which agree with our own
//! runs at a tolerance of 1e-12 to 13 digits.

use pfaff_solver::{
    Direction, EvalError, EventKind, Jacobian, Method, OdeOptions, Outcome, StopReason, System,
    Trajectory, integrate,
};

type Rates = fn(f64, &[f64], &mut [f64]);

/// Rates as they stand; the Jacobian is left to differences.
struct Plain(Rates, usize);

impl System for Plain {
    fn dimension(&self) -> usize {
        self.1
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        (self.0)(t, y, rates);
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }
}

fn options(t1: f64, tolerance: f64) -> OdeOptions {
    OdeOptions {
        t1,
        tolerance,
        method: Method::Radau,
        follows_decay: true,
        ..OdeOptions::default()
    }
}

fn run(rates: Rates, y0: &[f64], options: &OdeOptions) -> Outcome {
    integrate(&mut Plain(rates, y0.len()), y0, options, &mut ())
}

/// $\dot y = (y_2, -y_1)$, for which one step of Newton's iteration is exact.
struct Rotation {
    watches: Vec<EventKind>,
}

impl Jacobian for Rotation {
    fn jacobian(&mut self, _: f64, _: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        matrix.copy_from_slice(&[0.0, 1.0, -1.0, 0.0]);
        Ok(())
    }
}

impl System for Rotation {
    fn dimension(&self) -> usize {
        2
    }

    fn rates(&mut self, _: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates.copy_from_slice(&[y[1], -y[0]]);
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn jacobian(&mut self) -> Option<&mut dyn Jacobian> {
        Some(self)
    }

    fn events(&self) -> &[EventKind] {
        &self.watches
    }

    fn event_values(&mut self, _: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        values[0] = y[0];
        Ok(())
    }
}

/// The error at the end and the largest one between steps, and the median length of a step, at a tolerance.
fn rotation(order: usize, tolerance: f64) -> [f64; 3] {
    let options =
        OdeOptions { order: Some(order), follows_decay: false, ..options(10.0, tolerance) };
    let mut trajectory = Trajectory::default();
    let mut system = Rotation { watches: Vec::new() };
    let outcome = integrate(&mut system, &[0.0, 1.0], &options, &mut trajectory);
    assert_eq!(outcome.stop, StopReason::End);
    let end = (outcome.y[0] - libm::sin(10.0)).hypot(outcome.y[1] - libm::cos(10.0));
    let between = (1..1000).map(|i| {
        let t = 0.01 * f64::from(i);
        (trajectory.state(t).expect("within the run")[0] - libm::sin(t)).abs()
    });
    let mut lengths: Vec<f64> = trajectory
        .steps()
        .iter()
        .map(|step| step.as_step().end() - step.as_step().start())
        .collect();
    lengths.sort_by(f64::total_cmp);
    [end, between.fold(0.0, f64::max), lengths[lengths.len() / 2]]
}

#[test]
fn orders_are_five_nine_and_thirteen() {
    // Tolerances between which errors are above rounding, and steps short enough for the leading term.
    for (order, tolerances) in [(5, [1e-5, 1e-8]), (9, [1e-5, 1e-8]), (13, [1e-5, 1e-7])] {
        let [coarse, fine] = tolerances.map(|tolerance| rotation(order, tolerance));
        let ratio = libm::log(coarse[2] / fine[2]);
        let observed = libm::log(coarse[0] / fine[0]) / ratio;
        // The lengths of steps vary a little within a run, which moves the slope by some percent.
        let expected = order as f64;
        assert!((observed - expected).abs() < 0.1 * expected, "{observed} for {expected}");
        let dense = libm::log(coarse[1] / fine[1]) / ratio;
        let stages = 0.5 * (expected + 1.0);
        assert!(dense > stages, "dense output has {dense}, more than {stages}");
        assert!(fine[1] < tolerances[1], "dense output meets the tolerance: {:e}", fine[1]);
    }
}

/// The largest relative error.
fn off(outcome: &Outcome, expected: &[f64]) -> f64 {
    assert_eq!(outcome.stop, StopReason::End);
    let parts = outcome.y.iter().zip(expected).map(|(y, e)| ((y - e) / e).abs());
    parts.fold(0.0, f64::max)
}

fn robertson(_: f64, y: &[f64], rates: &mut [f64]) {
    let first = -0.04 * y[0] + 1e4 * y[1] * y[2];
    let third = 3e7 * y[1] * y[1];
    rates.copy_from_slice(&[first, -first - third, third]);
}

fn hires(_: f64, y: &[f64], rates: &mut [f64]) {
    let bound = 280.0 * y[5] * y[7];
    let seventh = bound - 1.81 * y[6];
    rates.copy_from_slice(&[
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -bound + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        seventh,
        -seventh,
    ]);
}

fn oregonator(_: f64, y: &[f64], rates: &mut [f64]) {
    rates.copy_from_slice(&[
        77.27 * (y[1] + y[0] * (1.0 - 8.375e-6 * y[0] - y[1])),
        (y[2] - (1.0 + y[0]) * y[1]) / 77.27,
        0.161 * (y[0] - y[2]),
    ]);
}

fn van_der_pol(_: f64, y: &[f64], rates: &mut [f64]) {
    rates.copy_from_slice(&[y[1], ((1.0 - y[0] * y[0]) * y[1] - y[0]) / 1e-6]);
}

/// Start, end and reference of each problem.
const PROBLEMS: [(Rates, &[f64], f64, &[f64]); 4] = [
    (
        robertson,
        &[1.0, 0.0, 0.0],
        1e11,
        &[0.208_334_014_970_125_5e-7, 0.833_336_077_033_471_3e-13, 0.999_999_979_166_505],
    ),
    (
        hires,
        &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057],
        321.8122,
        &[
            0.737_131_257_332_566_8e-3,
            0.144_248_572_631_618_5e-3,
            0.588_872_974_096_757_5e-4,
            0.117_565_134_328_314_9e-2,
            0.238_635_619_883_133_1e-2,
            0.623_896_825_274_279_6e-2,
            0.284_999_839_518_576_9e-2,
            0.285_000_160_481_423_1e-2,
        ],
    ),
    (
        oregonator,
        &[1.0, 2.0, 3.0],
        360.0,
        &[0.100_081_487_031_852_3e1, 0.122_817_852_154_991_7e4, 0.132_055_494_284_670_6e3],
    ),
    (van_der_pol, &[2.0, 0.0], 2.0, &[0.170_616_773_217_048_3e1, -0.892_809_701_024_797_5]),
];

#[test]
fn stiff_problems_of_the_test_set() {
    for (i, (rates, y0, t1, expected)) in PROBLEMS.into_iter().enumerate() {
        // The errors of some hundred steps add up: ten and some tolerances, and rounding.
        for (tolerance, limit, steps) in
            [(1e-6, 1e-5, 400), (1e-10, 1e-9, 700), (1e-12, 1e-12, 1500)]
        {
            let outcome = run(rates, y0, &options(t1, tolerance));
            let off = off(&outcome, expected);
            assert!(off < limit, "problem {i} at {tolerance:e}: {off:e}");
            assert!(outcome.statistics.steps < steps, "problem {i}: {:?}", outcome.statistics);
        }
    }
}

/// Prothero and Robinson's problem, $\dot y = -k (y - \cos t) - \sin t$, whose rates depend on time at every node of a
/// step: the solution is the cosine, and large k need no more steps than small ones.
#[test]
fn rates_are_taken_at_the_times_of_the_nodes() {
    for (k, rates) in [
        (1e3, (|t, y, r| r[0] = -1e3 * (y[0] - libm::cos(t)) - libm::sin(t)) as Rates),
        (1e7, (|t, y, r| r[0] = -1e7 * (y[0] - libm::cos(t)) - libm::sin(t)) as Rates),
    ] {
        let outcome = run(rates, &[1.0], &options(10.0, 1e-9));
        assert_eq!(outcome.stop, StopReason::End);
        // The tolerance, which errors that decay do not exceed by much.
        let off = (outcome.y[0] - libm::cos(10.0)).abs();
        assert!(off < 1e-8, "{k}: off by {off:e}");
        let taken = outcome.statistics.steps;
        assert!(taken < 150, "{k}: {taken} steps");
    }
}

#[test]
fn explicit_steps_change_over_and_back() {
    let watching = |t1, tolerance| OdeOptions {
        method: Method::Dop853,
        watches_stiffness: true,
        ..options(t1, tolerance)
    };
    for (i, (rates, y0, t1, expected)) in PROBLEMS.into_iter().enumerate() {
        let outcome = run(rates, y0, &watching(t1, 1e-8));
        let off = off(&outcome, expected);
        assert!(off < 1e-6 && !outcome.stiff.is_empty(), "problem {i}: {off:e}, {outcome:?}");
        // DOP853 alone takes millions.
        assert!(
            outcome.statistics.evaluations < 30_000,
            "problem {i}: {:?}",
            outcome.statistics
        );
    }
    // Van der Pol's oscillator jumps twice, where explicit steps are better.
    let (rates, y0, t1, _) = PROBLEMS[3];
    let outcome = run(rates, y0, &watching(t1, 1e-8));
    assert!(outcome.stiff.len() >= 3, "over, back and over again: {:?}", outcome.stiff);
    // What is not stiff stays with the explicit method, and has its bits.
    let rotation = |_: f64, y: &[f64], rates: &mut [f64]| rates.copy_from_slice(&[y[1], -y[0]]);
    for tolerance in [1e-3, 1e-6, 1e-9, 1e-12] {
        let watched = run(rotation, &[0.0, 1.0], &watching(300.0, tolerance));
        let plain = OdeOptions { watches_stiffness: false, ..watching(300.0, tolerance) };
        assert_eq!(watched, run(rotation, &[0.0, 1.0], &plain));
    }
}

/// A stiff spring with strong damping that follows a moving end: at 1e-10 explicit steps are limited by accuracy, at
/// hλ = 0.7, and a step of Radau's method is a hundred times as long.
#[test]
fn stiffness_is_noticed_where_accuracy_limits_explicit_steps() {
    let spring = |t: f64, y: &[f64], rates: &mut [f64]| {
        rates.copy_from_slice(&[y[1], -4e3 * y[1] - 2e6 * (y[0] - 0.3 * libm::sin(t))]);
    };
    let watching = |t1| OdeOptions {
        method: Method::Dop853,
        watches_stiffness: true,
        ..options(t1, 1e-10)
    };
    let outcome = run(spring, &[0.0, 0.0], &watching(3.0));
    assert!(!outcome.stiff.is_empty() && outcome.stiff[0] < 1.0, "{outcome:?}");
    // DOP853 alone takes more than a hundred thousand.
    assert!(outcome.statistics.evaluations < 50_000, "{:?}", outcome.statistics);
    // The solution without its transient is the imaginary part of 0.3 eⁱᵗ/(1 + 2e-3 i − 5e-7).
    let (a, b) = (1.0 - 5e-7, 2e-3);
    let slow = 0.3 * (a * libm::sin(3.0) - b * libm::cos(3.0)) / (a * a + b * b);
    assert!((outcome.y[0] - slow).abs() < 1e-9, "{} {slow}", outcome.y[0]);
    // What is not stiff is tried as well, and stays with the explicit method and its bits.
    let rotation = |_: f64, y: &[f64], rates: &mut [f64]| rates.copy_from_slice(&[y[1], -y[0]]);
    let watched = run(rotation, &[0.0, 1.0], &watching(6000.0));
    let plain = OdeOptions { watches_stiffness: false, ..watching(6000.0) };
    let plain = run(rotation, &[0.0, 1.0], &plain);
    assert!(watched.stiff.is_empty() && watched.statistics.steps > 4000, "{watched:?}");
    assert!(watched.statistics.evaluations > plain.statistics.evaluations, "it was tried");
    assert_eq!(watched.y, plain.y);
}

#[test]
fn events_are_located_and_bits_repeat() {
    let stop =
        EventKind { direction: Direction::Falling, stop: true, jump: false, barrier: false };
    let find = || {
        let mut system = Rotation { watches: vec![stop] };
        integrate(&mut system, &[0.0, 1.0], &options(10.0, 1e-9), &mut ())
    };
    let outcome = find();
    assert_eq!(outcome.stop, StopReason::Event(0));
    // The event is located by an integration to rounding from the start of its step.
    assert!((outcome.t - std::f64::consts::PI).abs() < 1e-8, "{}", outcome.t);
    assert_eq!(outcome, find());
    let (rates, y0, t1, _) = PROBLEMS[1];
    let again = || run(rates, y0, &options(t1, 1e-7));
    assert_eq!(again(), again());
}

#[test]
fn a_pole_is_not_crossed() {
    // y' = y² from 1 has a pole at t = 1.
    let outcome = run(|_, y, rates| rates[0] = y[0] * y[0], &[1.0], &options(2.0, 1e-8));
    assert_ne!(outcome.stop, StopReason::End);
    assert!((outcome.t - 1.0).abs() < 1e-6, "{outcome:?}");
}
