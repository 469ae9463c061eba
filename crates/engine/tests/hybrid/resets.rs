//! `on`: jumps of the state at events, against closed forms.

use pfaff::{Motion, Run, StopReason, Verdict};

use crate::support;

const G: f64 = 9.81;

fn motion(text: &str, request: &Run) -> Motion {
    support::run(&support::model(text), request)
}

/// A ball that falls from a height of 1 and keeps the part `e` of its speed.
fn ball(e: f64, end: f64) -> String {
    format!(
        "coordinates x, y\nparameters g = {G}, e = {e}\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
         event falling hit: y\non hit: y' = -e*y'\ninitial y = 1, x' = 1\nsolve t = 0..{end}"
    )
}

fn balance(motion: &Motion) -> f64 {
    let check = motion.audit.checks.iter().find(|c| c.name == "energy balance");
    check.map(|c| c.value).expect("there is an energy")
}

/// The n-th hit is at T (1 + 2 (e + … + e^(n-1))) with T = √(2/g), and the ball rises to e^(2n) after it.
#[test]
fn a_ball_bounces_at_known_times_to_known_heights() {
    let e: f64 = 0.8;
    let motion = motion(&ball(e, 3.9), &Run::default());
    let fall = (2.0 / G).sqrt();
    let mut t = fall;
    assert!(motion.events.len() > 10);
    for (n, event) in motion.events.iter().enumerate() {
        assert!((event.t - t).abs() < 1e-12, "hit {n}: {} and not {t}", event.t);
        let speed = (2.0 * G).sqrt() * e.powi(n as i32);
        assert!((event.v[1] + speed).abs() < 1e-11, "hit {n}: {}", event.v[1]);
        t += 2.0 * fall * e.powi(n as i32 + 1);
    }
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    // What is lost is booked: half of v² (1 − e²) at each hit.
    let lost: f64 =
        (0..motion.events.len()).map(|n| G * e.powi(2 * n as i32) * (1.0 - e * e)).sum();
    let work = *motion.work.last().expect("a row");
    assert!((work + lost).abs() < 1e-11, "{work} and not {lost}");
    assert!(balance(&motion) < 1e-11);
}

#[test]
fn a_jump_has_two_rows_at_one_time() {
    let even = motion(&ball(0.5, 0.6), &Run::default());
    let hit = even.events[0].t;
    let rows: Vec<usize> = (0..even.t.len()).filter(|&i| even.t[i] == hit).collect();
    assert_eq!(rows.len(), 2);
    let v = &even.v[1].values;
    assert!((v[rows[1]] + 0.5 * v[rows[0]]).abs() < 1e-15);
    assert_eq!(even.t.len(), 203);
    // Output times of one's own stay as they are, unless the jump is at one of them.
    let own = motion(&ball(0.5, 0.6), &Run::default().at([0.2, 0.5]));
    assert_eq!(own.t, [0.2, 0.5]);
    let at_hit = motion(&ball(0.5, 0.6), &Run::default().at([0.2, hit, 0.5]));
    assert_eq!(at_hit.t, [0.2, hit, hit, 0.5]);
}

/// t* = T (1 + e)/(1 − e), where x = t* and everything else is at rest.
#[test]
fn jumps_that_accumulate_end_the_run_there() {
    for e in [0.1, 0.5, 0.8, 0.95] {
        let motion = motion(&ball(e, 200.0), &Run::default());
        let end = (2.0 / G).sqrt() * (1.0 + e) / (1.0 - e);
        assert_eq!(motion.stop.reason, StopReason::Singular);
        assert!(
            (motion.stop.t - end).abs() < 1e-12 * end.max(1.0),
            "{e}: {}",
            motion.stop.t - end
        );
        let last = motion.t.len() - 1;
        assert_eq!(motion.t[last], motion.stop.t);
        assert!((motion.q[0].values[last] - end).abs() < 1e-11 * end);
        assert!(
            motion.v[1].values[last].abs() < 1e-9 && motion.q[1].values[last].abs() < 1e-12
        );
        let notes = pfaff_present::notes(&motion).join("\n");
        assert!(notes.contains("infinitely often"), "{notes}");
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{e}: {:?}", motion.audit);
    }
    // What comes to rest at once cannot go through the floor either.
    let motion = motion(&ball(0.0, 2.0), &Run::default());
    assert_eq!(motion.stop.reason, StopReason::Singular);
    assert!((motion.stop.t - (2.0 / G).sqrt()).abs() < 1e-14);
}

/// Ten thousand hits of a ball that loses nothing: 10⁴ · 2T.
#[test]
fn the_balance_closes_over_ten_thousand_jumps() {
    let period = 2.0 * (2.0 / G).sqrt();
    let text = ball(1.0, 10_000.0 * period);
    let motion = motion(&text, &Run::default().samples(11));
    assert_eq!((motion.stop.reason.clone(), motion.events.len()), (StopReason::End, 10_000));
    assert_eq!(motion.t.len(), 11 + 20_000);
    // In parts of the energy.
    assert!(balance(&motion) / G < 1e-9, "{:e}", balance(&motion));
}

/// The rimless wheel [McGeer 1990]: with ω² before a step, the next one has
/// ω₊² = ω² cos²2α + 4 (g/l) sin α sin γ, whose fixed point is 4 (g/l) sin α sin γ / sin² 2α.
#[test]
fn a_rimless_wheel_comes_to_its_fixed_point() {
    let text = "coordinates th\nparameters l = 1, g = 9.81, alpha = pi/8, gamma = 0.08\n\
        lagrangian l^2*th'^2/2 - g*l*cos(th + gamma)\nevent rising step: th - alpha\n\
        on step: th = -alpha, th' = th'*cos(2*alpha)\ninitial th = 0, th' = 1.5\nsolve t = 0..40";
    let motion = motion(text, &Run::default());
    let (α, γ) = (std::f64::consts::FRAC_PI_8, 0.08);
    let gain = 4.0 * G * libm::sin(α) * libm::sin(γ);
    let fixed = gain.sqrt() / libm::sin(2.0 * α);
    let ω = motion.events.last().expect("steps").v[0];
    assert!((ω - fixed).abs() < 1e-8, "{ω} and not {fixed}");
    let mut before = motion.events[0].v[0];
    for event in &motion.events[1..] {
        let next = (before * before * libm::cos(2.0 * α).powi(2) + gain).sqrt();
        assert!((event.v[0] - next).abs() < 1e-8, "{} and not {next}", event.v[0]);
        before = event.v[0];
    }
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

/// A sleigh with a blade under its centre runs straight. At a wall x = 1 its x' is turned round, the blade asks for
/// y' = x' tan φ, and φ' stays: it runs back along its own line.
#[test]
fn a_sleigh_runs_back_along_its_blade() {
    let text = "coordinates x, y, phi\nlagrangian (x'^2 + y'^2)/2 + phi'^2/4\n\
        constraint blade: y'*cos(phi) - x'*sin(phi) = 0\nevent wall: x - 1\non wall: x' = -x'\n\
        initial x' = 0.8, y' = 0.6, phi = 0.6435011087932844\nsolve t = 0..2.5";
    let motion = motion(text, &Run::default().at([2.5]));
    let end = |series: &[pfaff::Series], k: usize| *series[k].values.last().expect("a row");
    for (k, (q, v)) in
        [(0.0, -0.8), (0.0, -0.6), (0.643_501_108_793_284_4, 0.0)].iter().enumerate()
    {
        assert!((end(&motion.q, k) - q).abs() < 1e-12 && (end(&motion.v, k) - v).abs() < 1e-12);
    }
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

/// Without constraints, what has no new value stays, however the masses are coupled.
#[test]
fn what_is_not_named_stays() {
    let text = "coordinates a, b\nlagrangian a'^2 + a'*b' + b'^2\nevent kick: t - 1\n\
        on kick: a' = 5 + b'\ninitial a' = 1, b' = 2\nsolve t = 0..2";
    let motion = motion(text, &Run::default());
    assert_eq!(motion.v[0].values.last(), Some(&7.0));
    assert_eq!(motion.v[1].values.last(), Some(&2.0));
}

/// On a track b' = 2 a' the kick of a' is felt by b' too; a third coordinate that is tied to b by its mass and to
/// nothing by constraints follows the impact form: M_cc δc + M_cb δb = 0.
#[test]
fn velocities_that_are_not_named_follow_the_impact_form() {
    let text = "coordinates a, b, c\nlagrangian (a'^2 + b'^2 + 4*c'^2)/2 + b'*c'\n\
        constraint track: b' = 2*a'\nevent kick: t - 1\non kick: a' = 3\n\
        initial a' = 1, c' = 0\nsolve t = 0..2";
    let motion = motion(text, &Run::default().at([2.0]));
    let v: Vec<f64> = motion.v.iter().map(|s| s.values[0]).collect();
    let exact = [3.0, 6.0, -1.0];
    assert!(v.iter().zip(exact).all(|(v, x)| (v - x).abs() < 1e-12), "{v:?}");
}

/// Balls in a row at one height hit the floor at the same time, and all of them bounce.
#[test]
fn events_at_one_time_happen_together() {
    let text = "coordinates y[3]\nparameters e = 0.5\nlagrangian sum(i = 1..3, y[i]'^2/2 - 9.81*y[i])\n\
        event falling hit[i = 1..3]: y[i] - 3\non hit[i = 1..3]: y[i]' = -e*y[i]'\n\
        initial y = [4, 4, 4.5]\nsolve t = 0..1";
    let motion = motion(text, &Run::default());
    assert_eq!(motion.stop.reason, StopReason::End);
    for series in &motion.q {
        assert!(series.values.iter().all(|&y| y > 3.0 - 1e-12), "{}", series.name);
    }
    assert_eq!(motion.audit.verdict, Verdict::Pass);
}

/// Drag has branches at y' = 0, and a bounce goes from one of them to the other. On the way up from speed u the
/// height is log(1 + c u²/g)/(2c), and the speed after a fall from h is √(g (1 − exp(−2ch))/c).
#[test]
fn jumps_between_branches() {
    let text = "coordinates y\nparameters g = 9.81, e = 0.8, c = 0.1\nlagrangian y'^2/2 - g*y\n\
        force y: -c*abs(y')*y'\nevent falling hit: y\non hit: y' = -e*y'\n\
        initial y = 1\nsolve t = 0..3";
    let motion = motion(text, &Run::default());
    let (c, e): (f64, f64) = (0.1, 0.8);
    let mut height = 1.0_f64;
    assert!(motion.events.len() > 4);
    for event in &motion.events {
        let speed = (G * (1.0 - libm::exp(-2.0 * c * height)) / c).sqrt();
        assert!((event.v[0] + speed).abs() < 1e-9, "{} and not {speed}", event.v[0]);
        height = libm::log(1.0 + c * (e * speed).powi(2) / G) / (2.0 * c);
    }
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

/// Equations as they stand jump too: x'' = −1 from 1, and z' = −z gains 1 at each hit.
#[test]
fn equations_as_they_stand_jump() {
    let text = "coordinates x, z\nequation x'' = -1\nequation z' = -z\nevent falling hit: x\n\
        on hit: x' = -x', z = z + 1\ninitial x = 1, z = 1\nsolve t = 0..4";
    let motion = motion(text, &Run::default().at([4.0]));
    let first = 2.0_f64.sqrt();
    assert!((motion.events[0].t - first).abs() < 1e-12);
    let z = libm::exp(-4.0) + libm::exp(first - 4.0);
    assert!((motion.q[1].values[0] - z).abs() < 1e-9);
    assert!((motion.q[0].values[0] - (1.0 - (4.0 - 2.0 * first).powi(2) / 2.0)).abs() < 1e-9);
}

#[test]
fn mistakes_are_told() {
    let told = |text: &str| match pfaff::Model::parse(text).and_then(|m| m.run(&Run::default()))
    {
        Ok(motion) => panic!("it runs: {:?}", motion.stop),
        Err(error) => error.diagnostics().iter().map(|d| d.code).collect::<Vec<_>>(),
    };
    let head = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\ninitial x' = 1\nsolve t = 0..2\n";
    let cases = [
        ("on hit: x' = 0", "E0201"),
        ("event stop hit: x - 1\non hit: x' = 0", "E0450"),
        ("event hit: x - 1\non hit: x'' = 0", "E0450"),
        ("event hit: x - 1\non hit: x' = 0, x' = 1", "E0450"),
        ("event hit: x - 1\non hit: x' = 0\non hit: x' = 1", "E0450"),
        ("event hit: x - 1\non hit: x' = 0\nfinal x = 1", "E0451"),
        ("force y: -caputo(y, 0.5)\nevent hit: x - 1\non hit: x' = 0", "E0451"),
        ("constraint c: y' = x'\nevent hit: x - 1\non hit: x' = 0, y' = 1", "E0640"),
        ("constraint c: y = x\nevent hit: x - 1\non hit: x = 0", "E0640"),
        ("constraint c: y' = 1\nevent hit: x - 1\non hit: y' = 2", "E0640"),
        ("event hit x - 1", "E0118"),
    ];
    for (rest, code) in cases {
        assert_eq!(told(&format!("{head}{rest}")), [code], "{rest}");
    }
}

/// A thermostat with two thresholds heats until 20 and cools until 18. An error of its times must not make the second
/// integration of the audit switch twice.
#[test]
fn a_thermostat_with_two_thresholds_passes() {
    let text = "parameters h = 5\ncoordinates x\nlagrangian x'^2/2\nstate T: -0.1*T + h\n\
        event rising hot: T - 20\nevent falling cold: T - 18\non hot: h = 0\non cold: h = 5\n\
        initial T = 0, x' = 1\nsolve t = 0..60";
    let cooling = 10.0 * libm::log(20.0 / 18.0);
    let heating = 10.0 * libm::log(32.0 / 30.0);
    let first = 10.0 * libm::log(50.0 / 30.0);
    let left = (60.0 - first) % (cooling + heating);
    let truth = if left < cooling {
        20.0 * libm::exp(-0.1 * left)
    } else {
        50.0 - 32.0 * libm::exp(-0.1 * (left - cooling))
    };
    for method in ["dop853", "taylor", "radau"] {
        for tolerance in [1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12] {
            let request = Run {
                method: pfaff::Method::from_name(method),
                tolerance: Some(tolerance),
                ..Run::default()
            };
            let found = motion(text, &request);
            assert_eq!(
                found.audit.verdict,
                Verdict::Pass,
                "{method} {tolerance}: {:?}",
                found.audit
            );
            let end = found.q[1].values.last().expect("an output");
            assert!(
                (end - truth).abs() < 1e3 * tolerance + 1e-10,
                "{method} {tolerance}: {end}"
            );
        }
    }
}
