//! Periodic motions against closed forms and published numbers.

use std::f64::consts::{PI, TAU};

use pfaff::{
    Continuation, ContinueRequest, Model, Orbit, OrbitRequest, Stability, continue_orbits,
    orbit,
};

pub(super) fn of(text: &str, on: Option<&str>, period: Option<&str>) -> Orbit {
    let model = Model::parse(text).expect("the text is right");
    let request = OrbitRequest {
        on: on.map(Into::into),
        period: period.map(Into::into),
        ..OrbitRequest::default()
    };
    orbit(&model, &request, &mut || true).expect("there is a periodic motion")
}

fn refused(text: &str, on: Option<&str>, period: Option<&str>) -> String {
    let model = Model::parse(text).expect("the text is right");
    let request = OrbitRequest {
        on: on.map(Into::into),
        period: period.map(Into::into),
        ..OrbitRequest::default()
    };
    orbit(&model, &request, &mut || true).expect_err("there is none").to_string()
}

pub(super) fn along(
    text: &str,
    range: (&str, f64, f64),
    period: Option<&str>,
    on: Option<&str>,
) -> Continuation {
    let model = Model::parse(text).expect("the text is right");
    let request = ContinueRequest {
        parameter: range.0.into(),
        from: range.1,
        to: range.2,
        ..ContinueRequest::default()
    };
    let start = OrbitRequest {
        on: on.map(Into::into),
        period: period.map(Into::into),
        ..OrbitRequest::default()
    };
    continue_orbits(&model, &request, &start, &mut || true).expect("it can be followed")
}

pub(super) const VAN_DER_POL: &str =
    "coordinates x\nparameters m = 1\nequation x'' = m*(1 - x^2)*x' - x\ninitial x = 2, x' = 0";

/// The period of van der Pol's limit cycle; its multiplier is that of the mean divergence.
#[test]
fn the_cycle_of_van_der_pol() {
    for found in [
        of(VAN_DER_POL, None, Some("6.4")),
        of(VAN_DER_POL, Some("rising x"), None),
        // Two and five turns are one.
        of(VAN_DER_POL, None, Some("13.3")),
        of(VAN_DER_POL, None, Some("33.2")),
    ] {
        assert!((found.period - 6.663_286_859_323_13).abs() < 1e-11, "{}", found.period);
        assert_eq!(found.stability, Stability::AsymptoticallyStable);
        let [along, across] = found.multipliers[..] else { panic!("two") };
        assert!((along[0] - 1.0).abs() < 1e-10 && along[1] == 0.0);
        assert_eq!(found.trivial[0], (0, "along the orbit".to_owned()));
        // exp ∫ (1 − x²) dt, integrated beside the motion at another tolerance.
        assert!((across[0] - 8.596_950_6e-4).abs() < 1e-10, "{}", across[0]);
    }
}

/// A driven linear oscillator: the amplitude and the multipliers exp(λT).
#[test]
fn a_driven_oscillator() {
    let text = "coordinates x\nparameters d = 0.2, w = 1.3\nequation x'' = -d*x' - x + cos(w*t)\ninitial x = 0.1";
    let found = of(text, None, Some("2*pi/w"));
    let (d, w) = (0.2, 1.3_f64);
    let size = (1.0 - w * w).powi(2) + (d * w).powi(2);
    let (x, v) = ((1.0 - w * w) / size, d * w * w / size);
    assert!((found.state[0].1 - x).abs() < 1e-10 && (found.state[1].1 - v).abs() < 1e-10);
    let λ = (-d / 2.0, (1.0 - d * d / 4.0).sqrt());
    let T = TAU / w;
    for multiplier in &found.multipliers {
        assert!((libm::hypot(multiplier[0], multiplier[1]) - libm::exp(λ.0 * T)).abs() < 1e-10);
        assert!((multiplier[0] - libm::exp(λ.0 * T) * libm::cos(λ.1 * T)).abs() < 1e-10);
    }
    assert!(found.trivial.is_empty());
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
}

/// The complete elliptic integral of the first kind, by the arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    PI / (2.0 * a)
}

/// A pendulum swings and turns over; in coordinates with a constraint, too. The periods are those of their energies.
#[test]
fn families_of_a_pendulum() {
    let text = |a: f64, v: f64| {
        format!("coordinates a\nlagrangian a'^2/2 + cos(a)\ninitial a = {a}, a' = {v}")
    };
    let energy = |found: &Orbit| found.state[1].1.powi(2) / 2.0 - libm::cos(found.state[0].1);
    let swing = of(&text(1.0, 0.0), None, Some("6.5"));
    let k = f64::midpoint(1.0, energy(&swing)).sqrt();
    assert!((swing.period - 4.0 * elliptic(k)).abs() < 1e-9, "{}", swing.period);
    let over = of(&text(0.0, 3.0), None, Some("2"));
    let k = (2.0 / (1.0 + energy(&over))).sqrt();
    assert!((over.period - 2.0 * k * elliptic(k)).abs() < 1e-9, "{}", over.period);
    let rod = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint rod: x^2 + y^2 = 1\n\
               initial x = 0.8, y = -0.6, x' = 0";
    let found = of(rod, None, Some("6.8"));
    let value = |name: &str| {
        found.state.iter().find(|(known, _)| known == name).expect("it is there").1
    };
    let E = f64::midpoint(value("x'").powi(2), value("y'").powi(2)) + value("y");
    let k = f64::midpoint(1.0, E).sqrt();
    assert!((found.period - 4.0 * elliptic(k)).abs() < 1e-8, "{}", found.period);
}

/// Kepler's ellipses in polar coordinates: the angle moves on by a whole turn.
#[test]
fn an_ellipse_is_periodic_up_to_its_angle() {
    let text =
        "coordinates r, th\nlagrangian (r'^2 + r^2*th'^2)/2 + 1/r\ninitial r = 1, th' = 1.2";
    let found = of(text, None, Some("10"));
    let [(name, turn)] = &found.drift[..] else { panic!("one angle") };
    assert_eq!(name, "th");
    assert!((turn - TAU).abs() < 1e-8, "{turn}");
}

/// Rössler 1976 with a = b = 0.2: the first doubling of the period, at c = 2.832445.
#[test]
fn the_first_doubling_of_roesslers_period() {
    let text = "coordinates x, y, z\nparameters c = 2.5\nequation x' = -y - z\nequation y' = x + 0.2*y\n\
                equation z' = 0.2 + z*(x - c)\ninitial x = 4";
    let found = along(text, ("c", 2.5, 4.0), None, Some("rising y"));
    let [branch] = &found.branches[..] else { panic!("one") };
    let [flip] = &branch.special[..] else { panic!("{:?}", branch.special) };
    assert_eq!(flip.kind, "flip");
    assert!((flip.parameter - 2.832_445).abs() < 1e-6, "{}", flip.parameter);
    let before = |p: f64| p < flip.parameter;
    for point in &branch.points {
        let expected = if before(point.parameter) {
            Stability::AsymptoticallyStable
        } else {
            Stability::Unstable
        };
        assert_eq!(point.stability, expected, "{}", point.parameter);
    }
}

/// The resonance of a weakly driven Duffing oscillator, x″ + d x′ + x + ε x³ = g cos wt, jumps at two folds. To second
/// order in ε its backbone is w₀ = 1 + 3εA²/8 − 15ε²A⁴/256, and around it 4(w − w₀)² + (d w)² = (g/A)².
#[test]
fn folds_of_a_resonance() {
    let text = "coordinates x\nparameters d = 0.002, g = 0.004, w = 0.99\n\
                equation x'' = -d*x' - x - 0.01*x^3 + g*cos(w*t)\ninitial x = 0.2";
    let found = along(text, ("w", 0.99, 1.03), Some("2*pi/w"), None);
    let folds: Vec<f64> = found.branches[0]
        .special
        .iter()
        .filter(|s| s.kind == "fold")
        .map(|s| s.parameter)
        .collect();
    let [high, low] = folds[..] else { panic!("{:?}", found.branches[0].special) };
    let side = |A: f64, sign: f64| {
        let ε = 0.01 * A * A;
        let backbone = 1.0 + 3.0 * ε / 8.0 - 15.0 * ε * ε / 256.0;
        let left = (0.004 / A).powi(2) - (0.002 * backbone).powi(2);
        if left < 0.0 { f64::NAN } else { backbone + 0.5 * sign * left.sqrt() }
    };
    let grid = || (1..20_000).map(|k| 2.0 * f64::from(k) / 20_000.0);
    let top = grid().map(|A| side(A, -1.0)).fold(0.0, f64::max);
    let valley =
        grid().filter(|&A| A < 1.9).map(|A| side(A, 1.0)).fold(f64::INFINITY, f64::min);
    // What is left out is of the order of (w − 1)².
    assert!((high - top).abs() < 1e-4, "{high} {top}");
    assert!((low - valley).abs() < 1e-4, "{low} {valley}");
}

#[test]
fn what_has_no_orbit_is_refused() {
    let rest = "coordinates x\nlagrangian x'^2/2 - x^2/2";
    assert!(refused(rest, None, Some("6")).contains("equilibrium"));
    let free = "coordinates x\nequation x' = 1 + x^2";
    assert!(refused(free, None, Some("1")).contains("no periodic motion"));
    assert!(refused(VAN_DER_POL, None, None).contains("needs a guess"));
    assert!(refused(VAN_DER_POL, None, Some("-1")).contains("above zero"));
    assert!(refused(VAN_DER_POL, None, Some("x")).contains("above zero"));
    assert!(refused(VAN_DER_POL, Some("x - 7"), None).contains("never met"));
    let driven = "coordinates x\nequation x' = cos(t) - x";
    assert!(refused(driven, Some("x"), None).contains("contain t"));
    let jumps = "coordinates y\nparameters k = 1\nlagrangian y'^2/2 - k*y\n\
                 event falling hit: y\non hit: y' = -y', k = 2*k\ninitial y = 1";
    assert!(refused(jumps, Some("hit"), None).contains("jumps of parameters"));
    let memory = "coordinates q\nequation caputo(q, 0.5) = -q\ninitial q = 1";
    assert!(refused(memory, None, Some("1")).contains("memory"));
}

/// The rimless wheel on a slope: ω₊² = e d/(1 − e) with e = cos²2α and the energy d that a step gains; multiplier e.
#[test]
fn the_rimless_wheel_rolls() {
    let text = "
        coordinates a
        parameters g = 9.81, l = 1, s = 0.08, al = 0.3
        lagrangian l^2*a'^2/2 - g*l*cos(a)
        event rising step: a - s - al
        on step: a = a - 2*al, a' = cos(2*al)*a'
        initial a = -0.2, a' = 1.2
        solve t = 0..10";
    let found = of(text, None, None);
    let e = libm::cos(0.6_f64).powi(2);
    let d = 2.0 * 9.81 * (libm::cos(0.08_f64 - 0.3) - libm::cos(0.08_f64 + 0.3));
    assert!((found.state[1].1 - (e * d / (1.0 - e)).sqrt()).abs() < 1e-10, "{:?}", found.state);
    // Differences of runs with a tolerance of 1e-12.
    assert!((found.multipliers[0][0] - e).abs() < 1e-8, "{:?}", found.multipliers);
    assert_eq!(found.trivial, [(1, "across the section".to_owned())]);
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
}

/// A ball on a table that kicks: the return may be measured at another event than the jump.
#[test]
fn a_bouncing_ball_is_kept_going() {
    let text = "
        coordinates y
        parameters g = 9.81, e = 0.8, v = 0.5
        lagrangian y'^2/2 - g*y
        event falling hit: y
        on hit: y' = -e*y' + (1 + e)*v
        initial y = 1
        solve t = 0..3";
    for on in [None, Some("hit"), Some("falling y'")] {
        let found = of(text, on, None);
        assert!((found.period - 9.0 / 9.81).abs() < 1e-9, "{on:?} {}", found.period);
        assert!((found.multipliers[0][0] - 0.8).abs() < 1e-7, "{:?}", found.multipliers);
    }
}

/// A repelling circle with the multiplier e^(24π) ≈ 5.6e32, which no single shot survives.
#[test]
fn a_very_unstable_orbit_is_found_in_parts() {
    let text = "
        coordinates x, y
        equation x' = -6*x - y + 6*x*(x^2 + y^2)
        equation y' = x - 6*y + 6*y*(x^2 + y^2)
        initial x = 0.999, y = 0";
    let found = of(text, None, Some("6.3"));
    assert!((found.period - TAU).abs() < 1e-10, "{}", found.period);
    let log = libm::log(found.multipliers[0][0]);
    assert!((log - 24.0 * PI).abs() < 1e-6, "{log}");
    assert!((found.multipliers[1][0] - 1.0).abs() < 1e-6, "{:?}", found.multipliers);
    assert_eq!(found.stability, Stability::Unstable);
}

/// A near-circular orbit of the force r^2: relative period 2π/κ with κ² = 5 ω², turned by ω times that; the amplitude
/// changes the ratio by some parts in a hundred.
#[test]
fn orbits_return_up_to_a_turn() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^(3/2)
        initial x = 1, y' = 1.75";
    let found = of(text, None, Some("1.62"));
    // Circular motion at r = 1: ω² = 3 r, and the radial frequency is √5 ω for small deviations.
    assert_eq!(found.turns.len(), 1, "{:?}", found.turns);
    let radial = TAU / found.period;
    let mean = found.turns[0].1 / found.period;
    assert!((radial / mean.abs() - 5.0_f64.sqrt()).abs() < 0.05, "{radial} {mean}");
    assert!(found.residual < 1e-10);
}

/// Lorenz's shortest cycle (Viswanath 2003): T = 1.558652210716, multiplier 4.7129.
#[test]
fn a_cycle_of_lorenz() {
    let text = "
        coordinates x, y, z
        equation x' = 10*(y - x)
        equation y' = x*(28 - z) - y
        equation z' = x*y - 8/3*z
        initial x = 1, y = 1, z = 20";
    let found = of(text, None, Some("1.55"));
    assert!((found.period - 1.558_652_210_716).abs() < 1e-10, "{}", found.period);
    assert!((found.multipliers[0][0] - 4.7129).abs() < 1e-3, "{:?}", found.multipliers);
}

/// The doubled branch of Rössler's system begins at the flip with twice the period.
#[test]
fn doubled_orbits_are_followed() {
    let text = "
        coordinates x, y, z
        parameters c = 2
        equation x' = -y - z
        equation y' = x + y/5
        equation z' = 1/5 + z*(x - c)
        initial x = 2, y = -2, z = 0.1";
    let model = Model::parse(text).expect("the text is right");
    let request = ContinueRequest {
        parameter: "c".into(),
        from: 2.0,
        to: 3.2,
        switch: true,
        ..ContinueRequest::default()
    };
    let start = OrbitRequest { on: Some("rising y".into()), ..OrbitRequest::default() };
    let found =
        continue_orbits(&model, &request, &start, &mut || true).expect("it is followed");
    let doubled =
        found.branches.iter().find(|b| b.from.is_some_and(|(kind, _)| kind == "flip"));
    let doubled = doubled.expect("the other branch");
    let (_, p) = doubled.from.expect("it comes from the flip");
    let single = found.branches[0]
        .points
        .iter()
        .min_by(|a, b| (a.parameter - p).abs().total_cmp(&(b.parameter - p).abs()));
    let single = single.and_then(|point| point.period).expect("a period");
    let first = doubled.points[0].period.expect("a period");
    assert!((first / single - 2.0).abs() < 0.05, "{first} {single}");
    assert_eq!(doubled.points[1].stability, Stability::AsymptoticallyStable);
}

/// A sleigh that is driven by a periodic torque and braked: its motion may be turned as a whole, and is followed over
/// the torque all the same.
#[test]
fn the_driven_sleigh_is_followed() {
    let text = "
        coordinates x, y, th
        parameters m = 1, J = 1, a = 0.5, A = 1, w = 2, c = 0.2
        let X = [x + a*cos(th), y + a*sin(th)]
        lagrangian m*dot(X', X')/2 + J*th'^2/2
        constraint blade: -x'*sin(th) + y'*cos(th) = 0
        force th: A*cos(w*t)
        force at [x, y]: -c*[x', y']
        initial x' = 0.5";
    let single = of(text, None, Some("2*pi/w"));
    assert_eq!(single.trivial, [(0, "of a symmetry".to_owned())]);
    assert_eq!(single.stability, Stability::AsymptoticallyStable);
    let found = along(text, ("A", 1.0, 3.0), Some("2*pi/w"), None);
    let last = found.branches[0].points.last().expect("it has points");
    assert!(
        (last.parameter - 3.0).abs() < 1e-9,
        "{} {}",
        last.parameter,
        found.branches[0].end
    );
    // The same motion from a start of its own at the last value.
    let other = of(&text.replace("A = 1", "A = 3"), None, Some("2*pi/w"));
    let speed = |state: &[(String, f64)]| libm::hypot(state[3].1, state[4].1);
    assert!((speed(&last.state) - speed(&other.state)).abs() < 1e-8);
}

/// A start far from the attractor: the motion itself leads to a place that nearly returns.
#[test]
fn a_cycle_is_found_from_far_away() {
    let found = of(
        "
        coordinates x, y, z
        equation x' = -y - z
        equation y' = x + 0.2*y
        equation z' = 0.2 + z*(x - 5.7)
        initial x = 1, y = 1, z = 0",
        None,
        Some("5.9"),
    );
    assert!((found.period - 5.881_088_455_554).abs() < 1e-8, "{found:?}");
    // The product of the multipliers is the exponential of the mean divergence: x − 5.5, with the mean of x.
    assert!((found.multipliers[0][0] + 2.403_953_5).abs() < 1e-6, "{found:?}");
}

/// The second multiplier of a plane cycle is positive, however small.
#[test]
fn multipliers_of_different_size_keep_their_digits() {
    let stiff = VAN_DER_POL.replace("m = 1", "m = 5");
    let found = of(&stiff, None, Some("11.6"));
    let model = Model::parse(&stiff).unwrap();
    let request =
        pfaff::LyapunovRequest { t1: Some(200.0), ..pfaff::LyapunovRequest::default() };
    let mean = pfaff::lyapunov(&model, &request, &mut || true).unwrap().exponents[1];
    let exponent = libm::log(found.multipliers[1][0]) / found.period;
    assert!(found.multipliers[1][0] > 0.0, "{found:?}");
    // The mean over 180 is that of fifteen and a half turns.
    assert!((exponent / mean - 1.0).abs() < 0.05, "{exponent} {mean} {found:?}");
}

/// Librations of a pendulum surround each other: each is stable as a curve. With two degrees of freedom energy alone
/// does not show that.
#[test]
fn curves_of_constant_energy_are_stable() {
    let found = of(
        "coordinates a\nlagrangian a'^2/2 + cos(a)\ninitial a = 1, a' = 0",
        Some("rising a"),
        None,
    );
    assert_eq!(found.stability, Stability::Stable, "{found:?}");
    // 2π over the mean of Gauss of 1 and cos(1/2).
    let (mut a, mut b) = (1.0_f64, libm::cos(0.5));
    for _ in 0..5 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    assert!((found.period - TAU / a).abs() < 1e-9, "{} {}", found.period, TAU / a);
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - x^2*y + y^3/3
        initial y = 0.1, x' = 0.48";
    assert_eq!(of(text, None, Some("6.3")).stability, Stability::Undecided);
}

/// Garcia, Chatterjee, Ruina and Coleman 1998: feet strike the surface from which they begin, and a state counts steps.
#[test]
fn the_simplest_walker_repeats_its_step() {
    let walker = Model::gallery("simplest_walker").unwrap();
    let gait = orbit(&walker, &OrbitRequest::default(), &mut || true).expect("it walks");
    let state = |name: &str| gait.state.iter().find(|(n, _)| n == name).unwrap().1;
    assert!((state("th") - 0.200_310_900_544_287).abs() < 1e-10, "{gait:?}");
    assert!((state("th'") + 0.199_832_473_004_977).abs() < 1e-10, "{gait:?}");
    let [re, im] = gait.multipliers[0];
    assert!((re + 0.1901).abs() < 1e-4 && (im.abs() - 0.5576).abs() < 1e-4, "{gait:?}");
    assert_eq!(gait.stability, Stability::AsymptoticallyStable);
    let drift = gait.drift.iter().find(|(name, _)| name == "x").expect("it gets on");
    assert!((drift.1.abs() - 2.0 * libm::sin(0.200_310_900_544_287)).abs() < 1e-9, "{drift:?}");
}

/// A motion that stays where it is over a parameter may still lose its stability: Mathieu's equation.
#[test]
fn parameters_that_change_only_the_neighbours() {
    let text = "coordinates x\nparameters a = 1.5, q = 5\nequation x'' = -(a - 2*q*cos(2*t))*x";
    let found = along(text, ("a", 1.5, 3.0), Some("pi"), None);
    let special = &found.branches[0].special;
    let kinds: Vec<&str> = special.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, ["flip", "branch"], "{special:?}");
    assert!((special[0].parameter - 1.858_187_541_547_75).abs() < 1e-9);
    assert!((special[1].parameter - 2.099_460_445_486_665).abs() < 1e-9);
}

/// Beside van der Pol's oscillator a quantity that runs away as e^{10 t}: its periodic motion has a multiplier of about
/// 10²⁹, and is followed in parts. The period is that of the oscillator alone.
#[test]
fn very_unstable_motions_are_followed() {
    let alone = "
        coordinates x
        parameters m = 1
        equation x'' = m*(1 - x^2)*x' - x
        initial x = 2, x' = 0";
    let beside = "
        coordinates x, z
        parameters m = 1
        equation x'' = m*(1 - x^2)*x' - x
        equation z' = 10*(z - x)
        initial x = 2, x' = 0, z = 2";
    let [alone, beside] =
        [alone, beside].map(|text| along(text, ("m", 1.0, 1.4), Some("6.66"), None));
    let last = |found: &Continuation| {
        let point = found.branches[0].points.last().expect("it has points").clone();
        (point.parameter, point.period.expect("it is periodic"), point.stability)
    };
    let ((p, period, stability), (q, other, unstable)) = (last(&alone), last(&beside));
    assert!((p - 1.4).abs() < 1e-9 && (q - 1.4).abs() < 1e-9, "{p} {q}");
    assert!((period - other).abs() < 1e-8, "{period} {other}");
    assert_eq!(stability, Stability::AsymptoticallyStable);
    assert_eq!(unstable, Stability::Unstable);
}

/// A ball that bounces once in each period of a vibrating table: it leaves with gT/2, so that the table has the speed
/// Aw cos θ = r gT/2 there, r = (1 − e)/(1 + e), and comes to be where A = π g r/w² (a fold). Its period doubles where
/// (1 + e)² A w² sin θ = 2 (1 + e²) g. The product of the multipliers is e².
#[test]
fn a_ball_on_a_vibrating_table_is_followed() {
    let text = |a: f64| {
        let theta = libm::acos(PI * 9.81 / 3.0 / 1600.0 / a);
        format!(
            "coordinates y\nparameters g = 9.81, A = {a}, w = 40, e = 0.5\nstate th: w\n\
             lagrangian y'^2/2 - g*y\ncontact table: y - A*sin(th) >= 0, restitution = e\n\
             initial th = {theta}, y = A*sin({theta}) + 1e-6, y' = 9.81*pi/40\nsolve t = 0..3"
        )
    };
    let found = of(&text(0.008), None, None);
    assert!((found.period - TAU / 40.0).abs() < 1e-10, "{}", found.period);
    let product = found.multipliers[0][0] * found.multipliers[1][0]
        - found.multipliers[0][1] * found.multipliers[1][1];
    assert!((product - 0.25).abs() < 1e-8, "{:?}", found.multipliers);
    let branch = |to: f64| {
        let request =
            ContinueRequest { parameter: "A".into(), from: 0.008, to, ..Default::default() };
        let model = Model::parse(&text(0.008)).expect("a model");
        let orbit = OrbitRequest::default();
        let found = continue_orbits(&model, &request, &orbit, &mut || true).expect("a branch");
        found.branches.into_iter().next().expect("a branch")
    };
    let at = |branch: &pfaff::Branch, kind: &str| {
        branch.special.iter().find(|s| s.kind == kind).expect(kind).parameter
    };
    let fold = PI * 9.81 / 3.0 / 1600.0;
    let flip = libm::hypot(fold, 2.0 * 1.25 * 9.81 / (2.25 * 1600.0));
    // Differences of runs with a tolerance of 1e-12.
    let found = at(&branch(0.011), "flip");
    assert!((found - flip).abs() < 1e-7 * flip, "{found} {flip}");
    let found = at(&branch(0.006), "fold");
    assert!((found - fold).abs() < 1e-6 * fold, "{found} {fold}");
}

/// The rimless wheel over its slope: ω₊² = e d/(1 − e) at every point, until it does not get over the top.
#[test]
fn the_rimless_wheel_is_followed_over_its_slope() {
    let text = "
        coordinates a
        parameters s = 0.08, g = 9.81, al = 0.3
        lagrangian a'^2/2 - g*cos(a)
        event rising step: a - s - al
        on step: a = a - 2*al, a' = cos(2*al)*a'
        initial a = -0.2, a' = 1.2
        solve t = 0..10";
    let request =
        ContinueRequest { parameter: "s".into(), from: 0.08, to: 0.01, ..Default::default() };
    let model = Model::parse(text).expect("a model");
    let found = continue_orbits(&model, &request, &OrbitRequest::default(), &mut || true);
    let found = found.expect("a branch");
    let points = &found.branches[0].points;
    let e = libm::cos(0.6_f64).powi(2);
    for point in points {
        let s = point.parameter;
        let d = 2.0 * 9.81 * (libm::cos(s - 0.3) - libm::cos(s + 0.3));
        let expected = (e * d / (1.0 - e)).sqrt();
        assert!((point.state[1].1 - expected).abs() < 1e-9, "{s} {:?}", point.state);
        assert_eq!(point.stability, Stability::AsymptoticallyStable);
    }
    assert_eq!(found.branches[0].end, "no further periodic motion");
    // It gets over the top where ω₊² ≥ 2g(1 − cos(al − s)): there the branch ends.
    let last = points.last().expect("a point").parameter;
    let over = |s: f64| {
        let d = 2.0 * 9.81 * (libm::cos(s - 0.3) - libm::cos(s + 0.3));
        e * d / (1.0 - e) - 2.0 * 9.81 * (1.0 - libm::cos(0.3 - s))
    };
    assert!(over(last) > 0.0 && over(last - 2e-3) < 0.0, "{last}");
}

/// A driven table in t itself is refused, with the way to write it.
#[test]
fn jumps_in_time_are_refused() {
    let text = "coordinates y\nlagrangian y'^2/2 - 9.81*y\ncontact table: y - 0.01*sin(40*t) >= 0, restitution = 0.5\n\
                initial y = 0.1\nsolve t = 0..3";
    assert!(refused(text, Some("table"), None).contains("state th: w"));
}

/// The branch of twice the period of a ball on a vibrating table begins at its doubling.
#[test]
fn doubled_orbits_with_jumps_are_followed() {
    let theta = libm::acos(PI * 9.81 / 3.0 / 1600.0 / 0.009);
    let text = format!(
        "coordinates y\nparameters g = 9.81, A = 0.009, w = 40, e = 0.5\nstate th: w\n\
         lagrangian y'^2/2 - g*y\ncontact table: y - A*sin(th) >= 0, restitution = e\n\
         initial th = {theta}, y = A*sin({theta}) + 1e-6, y' = 9.81*pi/40\nsolve t = 0..3"
    );
    let fold = PI * 9.81 / 3.0 / 1600.0;
    let flip = libm::hypot(fold, 2.0 * 1.25 * 9.81 / (2.25 * 1600.0));
    let to = flip + 0.0008;
    let request = ContinueRequest {
        parameter: "A".into(),
        from: 0.009,
        to,
        switch: true,
        ..Default::default()
    };
    let model = Model::parse(&text).expect("a model");
    let found = continue_orbits(&model, &request, &OrbitRequest::default(), &mut || true);
    let found = found.expect("branches");
    let doubled =
        found.branches.iter().find(|b| b.from.is_some_and(|(kind, _)| kind == "flip"));
    let doubled = doubled.expect("a doubled branch");
    let from = doubled.from.expect("a place").1;
    assert!((from - flip).abs() < 1e-7 * flip, "{from} {flip}");
    for point in &doubled.points {
        let period = point.period.expect("a period");
        assert!((period - 2.0 * TAU / 40.0).abs() < 1e-8, "{period}");
    }
    // The doubled motion is stable where the simple one is not.
    assert_eq!(doubled.points[0].stability, Stability::AsymptoticallyStable);
    assert_eq!(
        found.branches[0].points.last().expect("a point").stability,
        Stability::Unstable
    );
}
