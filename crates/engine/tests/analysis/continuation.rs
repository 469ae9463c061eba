//! Folds, branch points and Hopf points against closed forms.

use pfaff::{
    Continuation, ContinueRequest, Model, NoFiles, Overrides, Source, SpecialPoint,
    continue_equilibria,
};

fn over(text: &str, parameter: &str, from: f64, to: f64) -> Result<Continuation, pfaff::Error> {
    let set = Overrides { set: Some(format!("{parameter}={from:?}")), initial: None };
    let model = Model::read(Source::new("model", text), &set, &NoFiles)?;
    let request =
        ContinueRequest { parameter: parameter.into(), from, to, ..ContinueRequest::default() };
    continue_equilibria(&model, &request, &mut || true)
}

fn specials<'a>(found: &'a Continuation, kind: &str) -> Vec<&'a SpecialPoint> {
    let all = found.branches.iter().flat_map(|branch| &branch.special);
    all.filter(|special| special.kind == kind).collect()
}

/// A bead on a turning hoop: a pitchfork at ω² = g/l, and arms with cos(a) = g/(ω²l).
#[test]
fn a_bead_on_a_hoop_has_a_pitchfork() {
    let text = "
        coordinates a
        parameters w = 1, g = 9.81, l = 1.2
        lagrangian l^2*(a'^2 + w^2*sin(a)^2)/2 + g*l*cos(a)";
    let found = over(text, "w", 1.0, 5.0).unwrap();
    let exact = (9.81_f64 / 1.2).sqrt();
    let branch: Vec<f64> = specials(&found, "branch").iter().map(|s| s.parameter).collect();
    assert!(branch.iter().any(|w| (w - exact).abs() < 1e-10), "{branch:?} {exact}");
    // Both arms were followed to the end of the range.
    let angle = (9.81 / (25.0 * 1.2_f64)).acos();
    for sign in [1.0, -1.0] {
        let ends = found.branches.iter().filter_map(|branch| branch.points.last());
        let on_arm = |state: &[(String, f64)]| (state[0].1 - sign * angle).abs() < 1e-9;
        assert!(
            ends.clone().any(|end| (end.parameter - 5.0).abs() < 1e-9 && on_arm(&end.state))
        );
    }
}

/// x' = p − x²: a fold at p = 0, x = 0.
#[test]
fn a_parabola_has_a_fold() {
    let text = "coordinates x\nparameters p = 1\nequation x' = p - x^2\ninitial x = 1";
    let found = over(text, "p", 1.0, -1.0).unwrap();
    let folds = specials(&found, "fold");
    assert_eq!(folds.len(), 1, "{:?}", found.branches);
    assert!(folds[0].parameter.abs() < 1e-12 && folds[0].state[0].1.abs() < 1e-6, "{folds:?}");
}

/// The follower-force oscillator of van der Pol's kind: x'' = p x' − x − x³ has a Hopf point at p = 0.
#[test]
fn negative_damping_has_a_hopf_point() {
    let text = "
        coordinates x
        parameters p = -1
        equation x'' = p*x' - x - x^3";
    let found = over(text, "p", -1.0, 1.0).unwrap();
    let hopf = specials(&found, "hopf");
    assert_eq!(hopf.len(), 1, "{:?}", found.branches);
    assert!(hopf[0].parameter.abs() < 1e-10, "{hopf:?}");
    let points = &found.branches[0].points;
    assert_eq!(points[0].stability.name(), "asymptotically stable");
    assert_eq!(points.last().unwrap().stability.name(), "unstable");
}

/// Constraints: a bead on a parabola y = x² under a wind, x = F/(2mg).
#[test]
fn a_branch_stays_on_the_constraints() {
    let text = "
        coordinates x, y
        parameters F = 0
        lagrangian (x'^2 + y'^2)/2 - y
        force x: F
        constraint wire: y = x^2";
    let found = over(text, "F", 0.0, 1.0).unwrap();
    for point in &found.branches[0].points {
        let x = point.parameter / 2.0;
        assert!((point.state[0].1 - x).abs() < 1e-9 && (point.state[1].1 - x * x).abs() < 1e-9);
    }
    assert!((found.branches[0].points.last().unwrap().parameter - 1.0).abs() < 1e-9);
}

#[test]
fn what_cannot_be_continued_says_why() {
    let text = "coordinates x\nparameters k = 1, b = 2\nlagrangian x'^2/2 - k*x^2/2";
    let idle = over(text, "b", 0.0, 1.0).expect_err("nothing depends on b").to_string();
    assert!(idle.contains("does nothing"), "{idle}");
    let slope = "coordinates x\nparameters k = 1\nlagrangian x'^2/2 - k*x";
    let none = over(slope, "k", 1.0, 2.0).expect_err("nothing rests").to_string();
    assert!(none.contains("no equilibrium"), "{none}");
}

/// x' = p x − y − x(x² + y²), y' = x + p y − y(x² + y²): from the Hopf point at p = 0 circles of radius √p, period 2π.
#[test]
fn periodic_motions_begin_at_a_hopf_point() {
    let text = "
        coordinates x, y
        parameters p = -0.5
        equation x' = p*x - y - x*(x^2 + y^2)
        equation y' = x + p*y - y*(x^2 + y^2)";
    let model = Model::parse(text).expect("the text is right");
    let request = ContinueRequest {
        parameter: "p".into(),
        from: -0.5,
        to: 1.0,
        switch: true,
        ..ContinueRequest::default()
    };
    let found = continue_equilibria(&model, &request, &mut || true).unwrap();
    let hopf = specials(&found, "hopf");
    assert!(
        hopf[0].parameter.abs() < 1e-10 && (hopf[0].frequency.unwrap() - 1.0).abs() < 1e-10
    );
    let cycles = found.branches.iter().find(|b| b.from.is_some_and(|(kind, _)| kind == "hopf"));
    let cycles = cycles.expect("a branch of periodic motions");
    let last = cycles.points.last().expect("it has points");
    assert!((last.parameter - 1.0).abs() < 1e-9, "{}", last.parameter);
    assert!((last.period.unwrap() - std::f64::consts::TAU).abs() < 1e-9);
    let radius = libm::hypot(last.state[0].1, last.state[1].1);
    assert!((radius - 1.0).abs() < 1e-9, "{radius}");
    // The greatest value is that at steps of at most a sixtieth of the period.
    assert!((last.extent[0][1] - 1.0).abs() < 2e-3, "{:?}", last.extent);
}

/// A pendulum under a follower force with two links (Ziegler 1952): without damping it flutters at P l/k = 7/2 − √2
/// for masses
/// 2m and m (Bolotin 1963); with little damping the Hopf point is lower.
#[test]
fn zieglers_column_flutters() {
    let text = |d: f64| {
        format!(
            "
             coordinates a, b
             parameters P = 0.2, d = {d:?}
             lagrangian (3*a'^2 + b'^2 + 2*cos(a - b)*a'*b')/2 - (a^2 + (b - a)^2)/2
             dissipation d*(a'^2 + (b' - a')^2)/2
             force a: P*sin(a - b)"
        )
    };
    // Equal damping of both joints: the critical load of the damped system is 41/28 + d²/2 (Herrmann and Jong 1965).
    let d = 0.05;
    let found = over(&text(d), "P", 0.2, 3.0).unwrap();
    let hopf = specials(&found, "hopf");
    let exact = 41.0 / 28.0 + 0.5 * d * d;
    assert!(hopf.iter().any(|s| (s.parameter - exact).abs() < 1e-9), "{hopf:?} {exact}");
}

/// A toggle: a spring of unit stiffness between a fixed point and a slider under a load folds where the truss of von
/// Mises does.
#[test]
fn a_toggle_folds() {
    // V = (√(1 + x²) − √(1 + h²))²/2 + F x
    let text = "
        coordinates x
        parameters F = 0, h = 0.6
        lagrangian x'^2/2 - (sqrt(1 + x^2) - sqrt(1 + h^2))^2/2 - F*x
        force x: -x'/5
        initial x = 0.6";
    let found = over(text, "F", 0.0, 0.2).unwrap();
    // F = −x(1 − L/√(1+x²)), extreme where (1 + x²)^(3/2) = L.
    let l = 1.36_f64.sqrt();
    let x = (libm::pow(l, 2.0 / 3.0) - 1.0).sqrt();
    let exact = x * (l / (1.0 + x * x).sqrt() - 1.0);
    let folds = specials(&found, "fold");
    assert!(folds.iter().any(|f| (f.parameter - exact).abs() < 1e-10), "{folds:?} {exact}");
}

/// A toggle whose equilibria change the coordinate that follows from the bar: k l (sin α − (b/l) tan α) = F all the way
/// through the flat position, and the mirrored branch is another one.
#[test]
fn branches_go_on_where_charts_change() {
    let text = "
        coordinates y, s
        parameters F = 0, k = 100, b = 1, h = 0.4
        lagrangian (y'^2 + s'^2)/2 - k*(s - b)^2/2 - F*y
        constraint bar: s^2 + y^2 = b^2 + h^2
        initial y = 0.4, s = 1";
    let found = over(text, "F", -1.0, 5.0).unwrap();
    let bar = 1.16_f64.sqrt();
    let cos = libm::cbrt(1.0 / bar);
    let load = 100.0 * bar * libm::pow(1.0 - cos * cos, 1.5);
    let folds = specials(&found, "fold");
    assert!(folds.iter().any(|s| (s.parameter - load).abs() < 1e-10), "{folds:?} {load}");
    let through = found.branches.iter().any(|branch| {
        let y = |k: usize| branch.points[k].state[0].1;
        let last = branch.points.len() - 1;
        branch.end == "range" && y(0) > 0.4 && y(last) < 0.0
    });
    assert!(through, "{:?}", found.branches.iter().map(|b| b.end).collect::<Vec<_>>());
    for branch in &found.branches {
        for point in &branch.points {
            let (y, s) = (point.state[0].1, point.state[1].1);
            assert!((100.0 * (s - 1.0) * y - point.parameter * s).abs() < 1e-7);
        }
    }
    let last = |branch: &pfaff::Branch| branch.points.last().map(|p| p.state[0].1);
    let mirrored = found.branches.iter().filter_map(last).any(|y| y < -0.4);
    assert!(mirrored, "the branch that begins below is followed, too");
}

/// On families: a bead that rests anywhere along z leaves x = 0 at p = 0, to x² = p. The masses depend on z, so that it
/// is not cyclic.
#[test]
fn branch_points_on_families_are_found() {
    let text = "
        coordinates x, z
        parameters p = -1
        lagrangian ((2 + cos(z))*x'^2 + z'^2)/2 + p*x^2/2 - x^4/4
        initial x = 0, z = 0.4";
    let found = over(text, "p", -1.0, 1.0).unwrap();
    let branch = specials(&found, "branch");
    assert!(branch.iter().any(|s| s.parameter.abs() < 1e-9), "{branch:?}");
    let ends = found.branches.iter().filter_map(|branch| branch.points.last());
    let arms: Vec<f64> = ends
        .filter(|end| (end.parameter - 1.0).abs() < 1e-9)
        .map(|end| end.state[0].1)
        .collect();
    for sign in [1.0, -1.0] {
        assert!(arms.iter().any(|x| (x - sign).abs() < 1e-8), "{arms:?}");
    }
}

/// Two eigenvalues at once: a bead in a bowl that turns over at p = 1 rests on a ring with r² = p − 1.
#[test]
fn a_ring_of_equilibria_begins_where_two_eigenvalues_vanish() {
    let text = "
        coordinates x, y
        parameters p = 0
        lagrangian (x'^2 + y'^2)/2 - (1 - p)*(x^2 + y^2)/2 - (x^2 + y^2)^2/4
        initial x = 0, y = 0";
    let found = over(text, "p", 0.0, 2.0).unwrap();
    let branch = specials(&found, "branch");
    assert!(branch.iter().any(|s| (s.parameter - 1.0).abs() < 1e-9), "{branch:?}");
    let ends = found.branches.iter().filter_map(|branch| branch.points.last());
    let radius = |state: &[(String, f64)]| libm::hypot(state[0].1, state[1].1);
    assert!(
        ends.clone()
            .any(|end| (end.parameter - 2.0).abs() < 1e-9
                && (radius(&end.state) - 1.0).abs() < 1e-8),
        "{:?}",
        ends.collect::<Vec<_>>()
    );
}

/// Without weight a pendulum rests everywhere: that branch is a circle, which is followed once.
#[test]
fn a_branch_that_closes_is_followed_once() {
    let text = "
        coordinates x, y
        parameters g = -1
        lagrangian (x'^2 + y'^2)/2 - g*y
        constraint rod: x^2 + y^2 = 1
        initial x = 0, y = -1";
    let found = over(text, "g", -1.0, 1.0).unwrap();
    let circles: Vec<_> = found.branches.iter().filter(|b| b.end == "it closes").collect();
    assert_eq!((circles.len(), found.branches.len()), (1, 3), "{:?}", found.branches.len());
    let places = circles[0].special.iter().filter(|s| s.kind == "branch").count();
    assert_eq!(places, 2, "above and below: {:?}", circles[0].special);
}

/// The other rests of Lorenz's system begin near zero and grow: the steps grow with them.
#[test]
fn steps_grow_with_a_branch() {
    let text = "
        coordinates x, y, z
        parameters r = 0.5
        equation x' = 10*(y - x)
        equation y' = x*(r - z) - y
        equation z' = x*y - 8/3*z";
    let found = over(text, "r", 0.5, 28.0).unwrap();
    assert_eq!(found.branches.len(), 3);
    for branch in &found.branches[1..] {
        let end = branch.points.last().expect("it has points");
        assert!(branch.points.len() < 400, "{}", branch.points.len());
        assert!((end.state[0].1.abs() - 72.0_f64.sqrt()).abs() < 1e-9, "{end:?}");
    }
}
