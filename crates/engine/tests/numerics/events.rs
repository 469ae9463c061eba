//! Events of whole models: none is missed, their times are those of the motion, and what is known there.

use std::fmt::Write;

use pfaff::{Method, Motion, Run};

use crate::support::{self, Random};

/// A function of t, x and y that oscillates.
enum Wave {
    /// a sin(w·(linear in t, x, y) + c), or its cosine
    Term {
        cosine: bool,
        a: f64,
        w: [f64; 3],
        c: f64,
    },
    Sum(Box<[Wave; 2]>),
    Product(Box<[Wave; 2]>),
    /// sin(k·inner)
    Nested(f64, Box<Wave>),
    /// a·(t − c)
    Line {
        a: f64,
        c: f64,
    },
}

fn run_of(text: &str, request: &Run) -> Motion {
    support::run(&support::model(text), request)
}

/// Between 0 and 1.
fn unit(random: &mut Random) -> f64 {
    0.5 + 0.5 * random.number()
}

/// The motion of the model below: polynomials of time, which every method has exactly.
fn coordinates(t: f64) -> [f64; 3] {
    [t, 0.3 + 1.1 * t, -0.2 * t + 0.5 * t * t]
}

impl Wave {
    fn random(random: &mut Random, depth: u32) -> Self {
        let kind = if depth == 0 { 0 } else { (6.0 * unit(random)) as u32 };
        let two = |random: &mut Random| {
            Box::new([Self::random(random, depth - 1), Self::random(random, depth - 1)])
        };
        match kind {
            0 => {
                let fast = libm::pow(10.0, 2.8 * unit(random) - 0.5);
                let mut part = || if unit(random) < 0.4 { unit(random) - 0.5 } else { 0.0 };
                let w = [part() + 0.6, part(), part()].map(|w| w * fast);
                Self::Term {
                    cosine: unit(random) < 0.5,
                    a: libm::pow(10.0, -2.0 * unit(random)),
                    w,
                    c: 6.0 * unit(random),
                }
            }
            1 | 2 => Self::Sum(two(random)),
            3 => Self::Product(two(random)),
            4 => Self::Nested(3.0 * unit(random), Box::new(Self::random(random, depth - 1))),
            _ => Self::Line { a: unit(random) - 0.5, c: 2.0 * unit(random) },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Term { cosine, a, w, c } => {
                let f = if *cosine { "cos" } else { "sin" };
                format!("{a}*{f}({}*t + {}*x + {}*y + {c})", w[0], w[1], w[2])
            }
            Self::Sum(two) => format!("({} + {})", two[0].text(), two[1].text()),
            Self::Product(two) => format!("({})*({})", two[0].text(), two[1].text()),
            Self::Nested(k, inner) => format!("sin({k}*({}))", inner.text()),
            Self::Line { a, c } => format!("({a}*(t - {c}))"),
        }
    }

    fn value(&self, t: f64) -> f64 {
        match self {
            Self::Term { cosine, a, w, c } => {
                let at = coordinates(t);
                let phase = w[0] * at[0] + w[1] * at[1] + w[2] * at[2] + c;
                a * if *cosine { libm::cos(phase) } else { libm::sin(phase) }
            }
            Self::Sum(two) => two[0].value(t) + two[1].value(t),
            Self::Product(two) => two[0].value(t) * two[1].value(t),
            Self::Nested(k, inner) => libm::sin(k * inner.value(t)),
            Self::Line { a, c } => a * (t - c),
        }
    }

    /// The fastest rate of a phase on 0..2, a bound.
    fn rate(&self) -> f64 {
        match self {
            Self::Term { w, .. } => w[0].abs() + 1.1 * w[1].abs() + 1.8 * w[2].abs(),
            Self::Sum(two) | Self::Product(two) => two[0].rate() + two[1].rate(),
            Self::Nested(k, inner) => (1.0 + k) * inner.rate(),
            Self::Line { .. } => 1.0,
        }
    }
}

/// Every change of sign on a fine grid has its event, at all tolerances and by all methods; and every event is a
/// zero, located to 1e-12 where the function crosses zero steeply.
#[test]
fn no_random_wave_has_a_zero_that_is_missed() {
    const T: f64 = 2.0;
    let (runs, functions) = (support::count(60, 2500), support::count(10, 40));
    let mut random = Random::new(28);
    let (mut zeros, mut missed, mut noted) = (0, Vec::new(), 0);
    for run in 0..runs {
        let waves: Vec<Wave> =
            (0..functions).map(|_| Wave::random(&mut random, (run % 3) as u32)).collect();
        let mut text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nforce y: 1\n\
             initial x = 0.3, x' = 1.1, y' = -0.2\n"
            .to_owned();
        for (k, wave) in waves.iter().enumerate() {
            let _ = writeln!(text, "event e{k}: {}", wave.text());
        }
        let tolerance = [1e-13, 1e-10, 1e-7, 1e-4][run % 4];
        let method = ["dop853", "taylor", "rk4", "auto"][(run / 4) % 4];
        let request = Run {
            method: Method::from_name(method),
            tolerance: Some(tolerance),
            step: (method == "rk4").then_some(0.1),
            ..Run::to(T)
        };
        let motion = run_of(&text, &request);
        for (k, wave) in waves.iter().enumerate() {
            let name = format!("e{k}");
            let times: Vec<f64> =
                motion.events.iter().filter(|e| e.name == name).map(|e| e.t).collect();
            let note = format!("`{name}`");
            let is_noted = motion.notes.iter().any(|n| format!("{n:?}").contains(&note));
            noted += usize::from(is_noted);
            let cells = (40.0 * T * wave.rate()) as usize + 200;
            let at = |i: usize| T * i as f64 / cells as f64;
            let mut before = wave.value(0.0);
            for i in 1..=cells {
                let here = wave.value(at(i));
                if before * here < 0.0 {
                    zeros += 1;
                    let first = times.partition_point(|&t| t < at(i - 1) - 1e-12);
                    let found = times.get(first).is_some_and(|&t| t <= at(i) + 1e-12);
                    if !found && !is_noted {
                        missed.push((run, k, method, tolerance, at(i), wave.text()));
                    }
                }
                before = here;
            }
            for &t in &times {
                let δ = 1e-7;
                let slope = (wave.value(t + δ) - wave.value(t - δ)) / (2.0 * δ);
                // The rounding of the function, of phases of some hundred.
                let allowed = 1e-12 * slope.abs() + 1e-12 * (1.0 + wave.rate());
                assert!(wave.value(t).abs() <= allowed, "{t}: {}", wave.text());
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {zeros}: {:?}",
        missed.len(),
        &missed[..3.min(missed.len())]
    );
    assert!(zeros > 10 * runs && noted * 100 <= runs * functions, "{zeros} {noted}");
}

const NESTED: &str = "exp(-((exp(-((t - 4.321)/0.0005)^2) - 0.25)/0.001)^2) - 0.5";

/// $\pm 0.0005\sqrt{-\log(\tfrac14 \pm 0.001\sqrt{\log 2})}$ around 4.321.
fn nested_pulse() -> Vec<f64> {
    let half = 0.001 * libm::sqrt(std::f64::consts::LN_2);
    let far = |level: f64| 0.0005 * libm::sqrt(-libm::log(level));
    let (a, b) = (far(0.25 - half), far(0.25 + half));
    vec![4.321 - a, 4.321 - b, 4.321 + b, 4.321 + a]
}

/// A narrow pulse and a steep step as events, wherever the steps of the method are.
#[test]
fn narrow_features_of_events_are_seen() {
    for (event, times) in [
        (
            "exp(-((t - 2.3456)/0.001)^2) - 0.5",
            vec![2.3456 - 8.325_546e-4, 2.3456 + 8.325_546e-4],
        ),
        ("if(t > 2.1 and t < 2.101, 1, -1)", vec![2.1, 2.101]),
        ("tanh((x - 3)/0.0001) - 0.5", vec![3.0 + 5.493_061e-5]),
        ("0.001/(0.001^2 + (x - 1.2345)^2) - 500", vec![1.2335, 1.2355]),
        // A pulse of a pulse: two zeros 10⁻⁶ apart on both sides, in a step that may be as long as the run.
        (NESTED, nested_pulse()),
    ] {
        let text = format!(
            "coordinates x\nlagrangian x'^2/2\ninitial x' = 1\nevent e: {event}\nsolve t = 0..10"
        );
        for method in ["dop853", "taylor"] {
            let request = Run { method: Method::from_name(method), ..Run::default() };
            let motion = run_of(&text, &request);
            let found: Vec<f64> = motion.events.iter().map(|e| e.t).collect();
            assert_eq!(found.len(), times.len(), "{method} {event}: {found:?}");
            for (found, expected) in found.iter().zip(&times) {
                // As many digits as are given above.
                assert!((found - expected).abs() < 1e-9, "{method} {event}: {found}");
            }
        }
    }
}

/// What cannot be followed is said.
#[test]
fn events_that_vary_too_fast_are_noted() {
    let motion = run_of(
        "coordinates x\nlagrangian x'^2/2\ninitial x' = 1\nevent e: sin(1e12*t)\nsolve t = 0..1",
        &Run::default(),
    );
    assert_eq!(motion.stop.reason.name(), "end");
    let notes: Vec<String> = motion.notes.iter().map(|n| format!("{n:?}")).collect();
    assert!(notes.iter().any(|n| n.contains("`e` varies too fast")), "{notes:?}");
}

const PENDULUM: &str = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\nconstraint rod: x^2 + y^2 = 1\n\
     initial x = 0.6, y = -0.8\nobserve height = y + 1\nevent stop falling bottom: x\nevent level: y + 0.9\n";

/// The state at a stopping event is the last row, and the record of an event has what a row has.
#[test]
fn the_last_row_is_the_stopping_event() {
    for principle in ["", "principle vakonomic\n"] {
        let motion = run_of(&format!("{PENDULUM}{principle}solve t = 0..10"), &Run::default());
        let last = motion.t.len() - 1;
        assert_eq!(motion.t[last], motion.stop.t);
        assert!(motion.q[0].values[last].abs() < 1e-12);
        let event = motion.events.last().unwrap();
        assert_eq!((event.name.as_str(), event.t), ("bottom", motion.stop.t));
        for (series, values) in [
            (&motion.q, &event.q),
            (&motion.v, &event.v),
            (&motion.multipliers, &event.multipliers),
            (&motion.multiplier_rates, &event.multiplier_rates),
            (&motion.reactions, &event.reactions),
            (&motion.observed, &event.observed),
        ] {
            assert_eq!(series.len(), values.len());
            for (series, &value) in series.iter().zip(values) {
                assert_eq!(series.values[last].to_bits(), value.to_bits(), "{}", series.name);
            }
        }
        assert_eq!(event.energy, motion.energy[last]);
        // Energy: v² = 2 g (0.2), and the rod holds v² + g at the bottom.
        assert!((event.reactions[1] - 9.81 * 1.4).abs() < 1e-8, "{:?}", event.reactions);
        assert!((motion.events[0].observed[0] - 0.1).abs() < 1e-12, "level");
    }
    // With given outputs too, and where the run has branches and memory.
    let request = Run { at: Some(vec![0.1, 0.2, 9.0]), ..Run::default() };
    let motion = run_of(&format!("{PENDULUM}solve t = 0..10"), &request);
    assert_eq!(motion.t.len(), 3);
    assert_eq!(motion.t[2], motion.stop.t);
    let motion = run_of(
        "coordinates x\nlagrangian x'^2/2\nforce x: -abs(x)*x\ninitial x = 1\nevent stop e: x + 0.5\n\
         solve t = 0..10, samples = 11",
        &Run::default(),
    );
    let last = motion.t.len() - 1;
    assert_eq!(motion.t[last], motion.stop.t);
    assert!((motion.q[0].values[last] + 0.5).abs() < 1e-12);
    assert!(motion.t.windows(2).all(|w| w[0] < w[1]), "{:?}", motion.t);
    let motion = run_of(
        "coordinates x\nequation caputo(x, 0.5) + x = 0\ninitial x = 1\nevent stop e: x - 0.5\nsolve t = 0..10",
        &Run::default(),
    );
    assert_eq!(*motion.t.last().unwrap(), motion.stop.t);
    assert!((motion.q[0].values.last().unwrap() - 0.5).abs() < 1e-9);
}

/// At a loose tolerance the function vanishes at the state that is reported, and an event of an exact motion comes
/// at its exact time.
#[test]
fn events_are_zeros_of_the_motion_at_any_tolerance() {
    for method in ["dop853", "taylor", "rk4"] {
        for tolerance in [1e-3, 1e-6, 1e-9, 1e-12] {
            let request = Run {
                method: Method::from_name(method),
                tolerance: Some(tolerance),
                step: (method == "rk4").then_some(0.1),
                ..Run::default()
            };
            let motion = run_of(
                "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x^4/4 - 9.81*y\ninitial x = 1, y' = 10\n\
                 observe g = x - 0.2\nevent e: x - 0.2\nevent floor: y\nsolve t = 0..20",
                &request,
            );
            let of_e = motion.events.iter().filter(|e| e.name == "e");
            let worst = of_e.map(|e| e.observed[0].abs()).fold(0.0, f64::max);
            assert!(worst < 1e-13, "{method} {tolerance:e}: {worst:e}");
            let floor = motion.events.iter().find(|e| e.name == "floor").unwrap();
            let expected = 2.0 * 10.0 / 9.81;
            assert!((floor.t - expected).abs() < 1e-12, "{method} {tolerance:e}: {}", floor.t);
        }
    }
}

/// A pole is no zero, however near to it a point lies at which the function is looked at: tan has zeros at whole
/// multiples of π, all of them rising.
#[test]
fn poles_beside_the_points_of_a_scan_are_no_zeros() {
    for rate in [3.228_860_116_624_38, 1.0, 2.5, 3.1, 5.7, 0.7] {
        let text = format!(
            "coordinates x\nkinetic x'^2/2\npotential x^2/2\ninitial x' = 1\nevent falling e: tan({rate}*t) + 0.69\n\
             solve t = 0..29.44192358949738"
        );
        let found = run_of(&text, &Run::default());
        assert!(found.events.is_empty(), "{rate}: {:?}", found.events[0].t);
    }
}
