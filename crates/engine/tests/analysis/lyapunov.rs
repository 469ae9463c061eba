//! Lyapunov exponents against closed forms, symmetries and published values.

use pfaff::{Lyapunov, LyapunovRequest, Model, Principle, Run, lyapunov};

fn of(text: &str, t1: f64) -> Lyapunov {
    let model = Model::parse(text).expect("the text is right");
    let request = LyapunovRequest { t1: Some(t1), ..LyapunovRequest::default() };
    lyapunov(&model, &request, &mut || true).expect("the motion begins")
}

/// Constant coefficients: the exponents are the real parts of the eigenvalues.
#[test]
fn linear_equations_have_their_real_parts() {
    let found = of(
        "
        coordinates x, y
        equation x' = 0.3*x - y
        equation y' = -2*y
        initial x = 1, y = 1",
        40.0,
    );
    assert!((found.exponents[0] - 0.3).abs() < 1e-6, "{found:?}");
    assert!((found.exponents[1] + 2.0).abs() < 1e-6, "{found:?}");
    assert!((found.divergence + 1.7).abs() < 1e-9 && (found.sum + 1.7).abs() < 1e-6);
    // x'' = −x − 0.2 x': both real parts are −0.1.
    let found =
        of("coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: -0.2*x'\ninitial x = 1", 200.0);
    assert!(found.exponents.iter().all(|λ| (λ + 0.1).abs() < 2e-3), "{found:?}");
    assert!((found.sum + 0.2).abs() < 1e-6 && found.dimension == 0.0, "{found:?}");
}

/// Lorenz 1963 with r = 28: 0.9056, 0, −14.5723 (Sprott 2003). A short motion knows them to a few hundredths.
#[test]
fn lorenz_has_its_spectrum() {
    let found = of(
        "
        coordinates x, y, z
        equation x' = 10*(y - x)
        equation y' = x*(28 - z) - y
        equation z' = x*y - 8/3*z
        initial x = 1, y = 1, z = 20",
        1500.0,
    );
    for ((λ, ε), wanted) in
        found.exponents.iter().zip(&found.error).zip([0.9056, 0.0, -14.5723])
    {
        assert!((λ - wanted).abs() < 4.0 * ε + 2e-3, "{found:?}");
    }
    assert!((found.sum - found.divergence).abs() < 1e-6, "{found:?}");
    assert!((found.divergence + 41.0 / 3.0).abs() < 1e-9);
    assert!((found.dimension - 2.062).abs() < 5e-3, "{found:?}");
}

/// A pendulum in Cartesian coordinates has as many exponents as in an angle, all zero, and keeps its volume.
#[test]
fn constraints_leave_their_directions_out() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - y
        constraint rod: x^2 + y^2 = 1
        initial x = 0.8, y = -0.6";
    let found = of(text, 100.0);
    assert_eq!(found.exponents.len(), 2);
    assert!(found.exponents.iter().all(|λ| λ.abs() < 0.06), "{found:?}");
    assert!((found.sum - found.divergence).abs() < 1e-6, "{found:?}");
}

#[test]
fn what_ends_early_says_so() {
    let model = Model::parse("coordinates x\nequation x' = x\ninitial x = 1").unwrap();
    let request = LyapunovRequest { t1: Some(1e4), ..LyapunovRequest::default() };
    // It grows beyond all numbers: the exponent is 1 until then.
    let found = lyapunov(&model, &request, &mut || true).expect("it begins");
    assert!(found.stop.is_some(), "{found:?}");
    let past = LyapunovRequest { t1: Some(-1.0), ..LyapunovRequest::default() };
    assert!(lyapunov(&model, &past, &mut || true).is_err());
}

/// Zeros of time, symmetries and conserved quantities, on eight models; the exponents that are then least are small.
#[test]
fn zero_exponents_are_counted() {
    let models: [(&str, [usize; 3]); 8] = [
        // Lorenz: the motion itself.
        (
            "coordinates x, y, z\nequation x' = 10*(y - x)\nequation y' = x*(28 - z) - y\n\
             equation z' = x*y - 8/3*z\ninitial x = 1, y = 1, z = 20",
            [1, 0, 0],
        ),
        // Duffing: none.
        (
            "coordinates x\nequation x'' = -0.2*x' + x - x^3 + 0.3*cos(t)\ninitial x = 0.5",
            [0, 0, 0],
        ),
        // Hénon and Heiles: time and energy.
        (
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - x^2*y + y^3/3\n\
             initial y = -0.1, x' = 0.55, y' = 0.1",
            [1, 0, 1],
        ),
        // A spherical pendulum by angles: also the azimuth and its momentum.
        (
            "coordinates th, ph\nlagrangian (th'^2 + sin(th)^2*ph'^2)/2 + cos(th)\n\
             initial th = 1, ph' = 1.3",
            [1, 1, 2],
        ),
        // The same by positions on a sphere.
        (
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - z\n\
             constraint rod: x^2 + y^2 + z^2 = 1\n\
             initial x = 0.8, z = -0.6, y' = 1, z' = 0.2",
            [1, 1, 2],
        ),
        // A sleigh, which ends in a straight line: of shifts and turn two are left beside it. The energy is kept.
        (
            "coordinates x, y, p\nlagrangian (x'^2 + y'^2)/2 + 0.2*p'*(y'*cos(p) - x'*sin(p)) + p'^2/2\n\
             constraint blade: y'*cos(p) - x'*sin(p) = 0\ninitial x' = 1, p' = 0.3",
            [1, 2, 1],
        ),
        // Two bodies in the plane: shifts, a turn, energy, momenta, angular momentum; the turn of the shifts takes one.
        (
            "coordinates x, y, u, v\nlagrangian (x'^2 + y'^2)/2 + u'^2 + v'^2 + 1/sqrt((x-u)^2 + (y-v)^2)\n\
             initial x = 1, y' = 1, v' = -0.3, u' = 0.1",
            [1, 3, 2],
        ),
        // A driven pendulum on a free cart: the shift and its momentum.
        (
            "coordinates x, a\nlagrangian x'^2 + a'^2/2 + x'*a'*cos(a) + (1 + 0.3*cos(2*t))*cos(a)\n\
             initial a = 1, x' = 0.1",
            [0, 1, 1],
        ),
    ];
    for (text, wanted) in models {
        let found = of(text, 300.0);
        let zeros = found.zeros;
        let counted = [zeros.time, zeros.symmetries, zeros.conserved];
        assert_eq!(counted, wanted, "{text}\n{:?}", found.exponents);
        let mut sizes: Vec<f64> = found.exponents.iter().map(|λ| λ.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        // Directions that shear grow like t: log(300)/300.
        assert!(sizes.iter().take(zeros.count()).all(|λ| *λ < 0.04), "{text}\n{found:?}");
        assert!((found.sum - found.divergence).abs() < 1e-6, "{text}\n{found:?}");
    }
}

/// A steady motion has components that stay zero: a cone in Cartesian coordinates.
#[test]
fn steady_motions_have_exponents() {
    let text = "
        coordinates x, y, z
        parameters l = 2, g = 9.81, w = 3
        lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
        constraint rod: x^2 + y^2 + z^2 = l^2
        initial x = sqrt(l^2 - (g/w^2)^2), z = -g/w^2, y' = w*sqrt(l^2 - (g/w^2)^2)";
    let found = of(text, 50.0);
    assert!(found.stop.is_none() && found.exponents.len() == 4, "{found:?}");
    assert!(found.exponents.iter().all(|λ| λ.abs() < 0.2), "{found:?}");
}

/// The sum of the exponents is the mean divergence also where directions shrink fast: Rössler 1976.
#[test]
fn sums_are_the_mean_divergence() {
    let found = of(
        "
        coordinates x, y, z
        equation x' = -y - z
        equation y' = x + 0.2*y
        equation z' = 0.2 + z*(x - 5.7)
        initial x = 1, y = 1, z = 0",
        1500.0,
    );
    assert!((found.sum - found.divergence).abs() < 1e-6, "{found:?}");
}

/// Published spectra: Rössler 1976 in Sprott 2003, and the simplest dissipative flow of Sprott 1997.
#[test]
fn spectra_are_those_of_the_literature() {
    let rössler = "
        coordinates x, y, z
        equation x' = -y - z
        equation y' = x + 0.2*y
        equation z' = 0.2 + z*(x - 5.7)
        initial x = 1, y = 1, z = 0";
    let sprott = "
        coordinates x, y, z
        equation x' = y
        equation y' = z
        equation z' = -x + y^2 - 2.017*z
        initial x = 5, y = 2, z = -3";
    for (text, wanted) in [(rössler, [0.0714, 0.0, -5.3943]), (sprott, [0.0551, 0.0, -2.0721])]
    {
        let found = of(text, 3000.0);
        for ((λ, ε), wanted) in found.exponents.iter().zip(&found.error).zip(wanted) {
            assert!((λ - wanted).abs() < 4.0 * ε + 1e-4, "{wanted}: {found:?}");
            assert!(*ε < 0.02, "{found:?}");
        }
    }
}

/// Until the errors are small, without an end: eight stretches of the motion beside each other know Lorenz's spectrum
/// to three decimals (0.9056, 0, −14.5723, Sprott 2003).
#[test]
fn lorenz_is_known_to_three_decimals() {
    let text = "
        coordinates x, y, z
        equation x' = 10*(y - x)
        equation y' = x*(28 - z) - y
        equation z' = x*y - 8/3*z
        initial x = 1, y = 1, z = 20";
    let model = Model::parse(text).expect("the text is right");
    let found = lyapunov(&model, &LyapunovRequest::default(), &mut || true).expect("it begins");
    assert_eq!((found.stretches, found.zeros.count()), (8, 1), "{found:?}");
    for (λ, wanted) in found.exponents.iter().zip([0.9056, 0.0, -14.5723]) {
        assert!((λ - wanted).abs() < 1e-3, "{found:?}");
    }
    assert!((found.sum - found.divergence).abs() < 1e-6, "{found:?}");
    assert!(found.error.iter().all(|ε| *ε < 5e-4), "{found:?}");
}

fn until_exact(text: &str) -> Lyapunov {
    let model = Model::parse(text).expect("the text is right");
    lyapunov(&model, &LyapunovRequest::default(), &mut || true).expect("the motion begins")
}

/// A driven pendulum with friction by its angle, and on a rod in the plane: the same two exponents in lanes.
#[test]
fn lanes_on_constraints_have_the_exponents_of_free_coordinates() {
    let by_angle = until_exact(
        "
        coordinates a
        equation a'' = -0.5*a' - sin(a) + 1.15*cos(2*t/3)
        initial a = 0.3",
    );
    let on_rod = until_exact(
        "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - y
        constraint rod: x^2 + y^2 = 1
        force x: -0.5*x' - 1.15*cos(2*t/3)*y
        force y: -0.5*y' + 1.15*cos(2*t/3)*x
        initial x = sin(0.3), y = -cos(0.3)",
    );
    assert_eq!((by_angle.stretches, on_rod.stretches), (8, 8));
    for found in [&by_angle, &on_rod] {
        assert!((found.divergence + 0.5).abs() < 1e-6, "{found:?}");
        assert!((found.sum - found.divergence).abs() < 1e-6, "{found:?}");
    }
    assert_eq!(on_rod.exponents.len(), 2);
    for k in 0..2 {
        let room = 4.0 * libm::hypot(by_angle.error[k], on_rod.error[k]) + 1e-4;
        assert!(
            (by_angle.exponents[k] - on_rod.exponents[k]).abs() < room,
            "{by_angle:?}\n{on_rod:?}"
        );
    }
}

/// A sleigh with friction and a torque that comes and goes: of its five exponents three are those of shifts and turn,
/// and two those of the equations for its speed and its turning, u' = a w² − k u and
/// (J + a²) w' = −a u w − c w + M cos t.
#[test]
fn a_driven_sleigh_has_the_exponents_of_its_reduced_equations() {
    let reduced = until_exact(
        "
        coordinates u, w
        equation u' = 0.4*w^2 - 0.1*u
        equation w' = (-0.4*u*w - 0.05*w + 2*cos(t))/1.16
        initial u = 0.3, w = 0.2",
    );
    let whole = until_exact(
        "
        coordinates x, y, p
        lagrangian (x'^2 + y'^2)/2 + 0.4*p'*(y'*cos(p) - x'*sin(p)) + (1 + 0.4^2)*p'^2/2
        constraint blade: y'*cos(p) - x'*sin(p) = 0
        force x: -0.1*x'
        force y: -0.1*y'
        force p: -0.05*p' + 2*cos(t)
        initial x' = 0.3, p' = 0.2",
    );
    assert_eq!((whole.exponents.len(), whole.stretches), (5, 8), "{whole:?}");
    assert!((whole.sum - whole.divergence).abs() < 1e-6, "{whole:?}");
    assert!((reduced.sum - reduced.divergence).abs() < 1e-6, "{reduced:?}");
    assert_eq!(whole.zeros.symmetries, 3, "{whole:?}");
    let mut left = whole.exponents.clone();
    left.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    assert!(left[..3].iter().all(|λ| λ.abs() < 2e-3), "{whole:?}");
    let mut two = left[3..].to_vec();
    two.sort_by(|a, b| b.total_cmp(a));
    let error = whole.error.iter().chain(&reduced.error).fold(0.0_f64, |m, ε| m.max(*ε));
    for (λ, wanted) in two.iter().zip(&reduced.exponents) {
        assert!((λ - wanted).abs() < 4.0 * error + 1e-3, "{whole:?}\n{reduced:?}");
    }
}

/// The logistic map 4 z (1 − z) at each turn of a clock: the exponent is log 2. The clock and what moves freely have
/// zeros.
#[test]
fn exponents_across_resets() {
    let text = "coordinates x, z\nlagrangian (x'^2 + z'^2)/2\nevent turn: x - 1\n\
                on turn: x = 0, z = 4*z*(1 - z)\ninitial x = 0.3, x' = 1, z = 0.37";
    let model = Model::parse(text).expect("a model");
    let request = LyapunovRequest { t1: Some(400.0), ..LyapunovRequest::default() };
    let found = lyapunov(&model, &request, &mut || true).expect("exponents");
    // A mean over 360 turns, four times its error.
    let off = (found.exponents[0] - libm::log(2.0)).abs();
    assert!(off < 4.0 * found.error[0] && found.error[0] < 0.05, "{:?}", found.exponents);
    // Shears x' → x and z' → z grow as the logarithm of the time.
    assert!(found.exponents[1..].iter().all(|λ| λ.abs() < 0.05), "{:?}", found.exponents);
    assert_eq!(found.zeros.time, 1);
}

/// A ball between two walls, one of which vibrates (Fermi 1949; Ulam 1961): at each impact a volume of (θ, x, x')
/// shrinks by e², so that the sum of the exponents is 2 log e times the impacts in a unit of time. Without loss it is
/// zero, and the exponents are those of a symplectic map: opposite pairs.
#[test]
fn exponents_across_impacts() {
    let text = |e: f64| {
        format!(
            "coordinates x\nparameters A = 0.05, w = 20, e = {e}\nstate th: w\nlagrangian x'^2/2\n\
             contact left: x - A*sin(th) >= 0, restitution = e\n\
             contact right: 1 - x >= 0, restitution = e\ninitial x = 0.4, x' = 3\nsolve t = 0..20"
        )
    };
    let found = of(&text(1.0), 20.0);
    // The derivatives of 200 pieces, each to the tolerance of its run.
    assert!(found.sum.abs() < 1e-8, "{found:?}");
    assert!(found.exponents[0] > 0.3, "{found:?}");
    assert!(found.exponents[1].abs() < 0.02 && found.zeros.time == 1, "{found:?}");
    let found = of(&text(0.95), 12.0);
    let model = Model::parse(&text(0.95)).expect("a model");
    let equations = model.derive(Principle::Chetaev).expect("equations");
    let motion = equations.run(Run::to(12.0).tolerance(1e-10)).expect("a motion");
    let impacts = motion.events.iter().filter(|e| e.t > found.time.0).count() as f64;
    let expected = 2.0 * libm::log(0.95) * impacts / (12.0 - found.time.0);
    // The motion with loss is the same in both while errors grow; one impact more or less.
    assert!((found.sum - expected).abs() < 0.02, "{} {expected}", found.sum);
}

#[test]
fn exponents_that_jumps_do_not_have() {
    let refused = |text: &str, t1: Option<f64>| {
        let model = Model::parse(text).expect("a model");
        let request = LyapunovRequest { t1, ..LyapunovRequest::default() };
        lyapunov(&model, &request, &mut || true).expect_err("refused").to_string()
    };
    let ball = "coordinates y\nlagrangian y'^2/2 - 9.81*y\ncontact floor: y >= 0, restitution = 0.5\n\
                initial y = 1";
    assert!(refused(ball, None).contains("end of the motion"));
    // It comes to rest.
    assert!(refused(ball, Some(10.0)).contains("between t ="));
    let modes = "coordinates y\nmode a, b\nlagrangian y'^2/2 - 9.81*y\nevent h: y\non h: y' = -y', mode = b\n\
                 initial y = 1";
    assert!(refused(modes, Some(10.0)).contains("modes"));
}

/// Lorenz's model of 1996 from a state at rest but for one component: the directions begin as high powers of time. Its
/// divergence is −8, and there is one exponent of the motion itself.
#[test]
fn directions_may_begin_as_high_powers_of_time() {
    let found = of(
        "
        coordinates x[0..7]
        equation x[0]' = (x[1] - x[6])*x[7] - x[0] + 8
        equation x[1]' = (x[2] - x[7])*x[0] - x[1] + 8
        equation e[i = 2..6]: x[i]' = (x[i+1] - x[i-2])*x[i-1] - x[i] + 8
        equation x[7]' = (x[0] - x[5])*x[6] - x[7] + 8
        initial x[0] = 8.01, x[i = 1..7] = 8",
        60.0,
    );
    assert!(
        (found.sum + 8.0).abs() < 1e-6 && (found.divergence + 8.0).abs() < 1e-9,
        "{found:?}"
    );
    // About 1.6 in long motions; in so short a one it is known to be clearly positive.
    assert!(found.exponents[0] > 0.8 && found.exponents[7] < -3.0, "{found:?}");
}

/// A regular motion of Hénon and Heiles: its exponents are zero, but over a finite time t those of its shear are as
/// large as log t/t, and the standard error of parts says nothing of that.
#[test]
fn exponents_of_regular_motions_are_zero_within_their_errors() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - x^2*y + y^3/3
        initial y = 0.1, x' = 0.48";
    let model = Model::parse(text).expect("the text is right");
    let found = lyapunov(&model, &LyapunovRequest::default(), &mut || true);
    let found = found.expect("the motion begins");
    for (λ, ε) in found.exponents.iter().zip(&found.error) {
        assert!(λ.abs() <= *ε, "{:?} {:?}", found.exponents, found.error);
    }
}
