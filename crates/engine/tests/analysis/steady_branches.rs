//! Steady motions along turns and joint shifts over a parameter, and what is held in families, against closed forms.

use pfaff::{
    Branch, BranchPoint, Continuation, ContinueRequest, Model, NoFiles, OrbitRequest,
    Overrides, Source, Stability, continue_equilibria, continue_orbits,
};

fn model(text: &str, parameter: &str, from: f64) -> Model {
    let set = Overrides { set: Some(format!("{parameter}={from:?}")), initial: None };
    Model::read(Source::new("model", text), &set, &NoFiles).expect("the text is right")
}

fn request((parameter, from, to): (&str, f64, f64), fix: Option<&str>) -> ContinueRequest {
    ContinueRequest {
        parameter: parameter.into(),
        from,
        to,
        fix: fix.map(Into::into),
        ..ContinueRequest::default()
    }
}

fn over(
    text: &str,
    range: (&str, f64, f64),
    fix: Option<&str>,
) -> Result<Continuation, pfaff::Error> {
    let model = model(text, range.0, range.1);
    continue_equilibria(&model, &request(range, fix), &mut || true)
}

/// The branches of motions along symmetries.
fn moving(found: &Continuation) -> Vec<&Branch> {
    found.branches.iter().filter(|b| b.points.iter().any(|p| !p.frame.is_empty())).collect()
}

fn value(point: &BranchPoint, name: &str) -> f64 {
    let all = point.state.iter().chain(&point.frame);
    all.into_iter().find(|(known, _)| known == name).expect(name).1
}

const CONICAL: &str = "
    coordinates x, y, z
    parameters l = 2, g = 9.81, w = 3, E = 0
    lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
    constraint rod: x^2 + y^2 + z^2 = l^2
    initial x = sqrt(l^2 - (g/w^2)^2), z = -g/w^2, y' = w*sqrt(l^2 - (g/w^2)^2)";

/// A conical pendulum in Cartesian coordinates: cos θ = g/(l w²), over its angular velocity.
#[test]
fn a_conical_pendulum_over_its_angular_velocity() {
    let fix = "x*y' - y*x' = w*(x^2 + y^2)";
    let found = over(CONICAL, ("w", 3.0, 6.0), Some(fix)).unwrap();
    let branches = moving(&found);
    assert_eq!(branches.len(), 1, "{:?}", found.branches.len());
    let points = &branches[0].points;
    assert!((points.last().unwrap().parameter - 6.0).abs() < 1e-12 && points.len() > 5);
    for point in points {
        let w = point.parameter;
        assert!((value(point, "z") + 9.81 / (w * w)).abs() < 1e-10, "{point:?}");
        assert!((value(point, "turn of x, y") - w).abs() < 1e-9, "{point:?}");
        let rod = value(point, "x").powi(2) + value(point, "y").powi(2);
        assert!((rod - (4.0 - (9.81 / (w * w)).powi(2))).abs() < 1e-9);
        assert_eq!(point.stability, Stability::Stable);
    }
    assert_eq!(branches[0].held, [(fix.to_owned(), None)]);
}

/// Over its energy: 3 c² + 2 (E/gl) c = 1 for c = cos θ.
#[test]
fn a_conical_pendulum_over_its_energy() {
    let gl = 19.62;
    let energy = |w: f64| {
        let c = 9.81 / (2.0 * w * w);
        0.5 * gl * (1.0 - c * c) / c - gl * c
    };
    let (from, to) = (energy(3.0), energy(8.0));
    let found = over(CONICAL, ("E", from, to), Some("energy = E")).unwrap();
    let branch = moving(&found)[0];
    assert!((branch.points.last().unwrap().parameter - to).abs() < 1e-9 * to);
    for point in &branch.points {
        let e = point.parameter / gl;
        let c = (-e + (e * e + 3.0).sqrt()) / 3.0;
        assert!((value(point, "z") + 2.0 * c).abs() < 1e-9, "{point:?} {c}");
    }
}

/// Over its length nothing says which of the family is meant: it turns as fast as at the start.
#[test]
fn the_rate_is_held_where_motions_form_a_family() {
    let found = over(CONICAL, ("l", 2.0, 1.2), None).unwrap();
    let branch = moving(&found)[0];
    assert_eq!(branch.held.len(), 1);
    let (name, rate) = &branch.held[0];
    assert!(name == "turn of x, y" && (rate.unwrap() - 3.0).abs() < 1e-9, "{:?}", branch.held);
    assert_eq!(branch.loose, 0);
    for point in &branch.points {
        assert!((value(point, "z") + 9.81 / 9.0).abs() < 1e-10, "{point:?}");
        assert!((value(point, "turn of x, y") - 3.0).abs() < 1e-10);
    }
    // At l = g/w² it hangs: there the branch turns round, through circles the other way.
    let found = over(CONICAL, ("l", 2.0, 1.0), None).unwrap();
    let branch = moving(&found)[0];
    let fold = branch.special.iter().find(|s| s.kind == "fold").expect("a fold");
    assert!((fold.parameter - 1.09).abs() < 1e-10, "{fold:?}");
    assert!(branch.points.iter().all(|p| p.parameter > 1.09 - 1e-10));
}

/// Two carts with a spring on a line: they keep its length, at any speed.
#[test]
fn carts_move_on_together() {
    let text = "
        coordinates a, b
        parameters s = 1, k = 3, V = 0.7
        lagrangian (2*a'^2 + b'^2)/2 - k*(b - a - s)^2/2
        initial a = 0, b = s, a' = V, b' = V";
    let found = over(text, ("s", 1.0, 2.5), None).unwrap();
    let branch = moving(&found)[0];
    let last = branch.points.last().unwrap();
    assert!((last.parameter - 2.5).abs() < 1e-12);
    for point in &branch.points {
        assert!((value(point, "b") - value(point, "a") - point.parameter).abs() < 1e-10);
        assert!((value(point, "a'") - 0.7).abs() < 1e-10);
        assert!((value(point, "b'") - 0.7).abs() < 1e-10);
    }
    // By their energy 3 V²/2 instead.
    let energy = 1.5 * 0.49;
    let fast = "energy = V*V*3/2";
    let found = over(text, ("V", 0.7, 2.0), Some(fast)).unwrap();
    let point = moving(&found)[0].points.last().unwrap();
    assert!((value(point, "a'") - 2.0).abs() < 1e-9 && energy > 0.0, "{point:?}");
}

/// A bead on a surface of revolution circles with w² = g h(s), s = x² + y²; here h = (s − 1)² + 1: a fold at s = 1.
#[test]
fn circles_on_a_surface_fold() {
    let text = "
        coordinates x, y, z
        parameters w = 4, g = 9.81
        lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
        constraint surface: z = ((x^2 + y^2 - 1)^3/3 + x^2 + y^2)/2
        initial x = sqrt(1 + sqrt(w^2/g - 1)), y' = w*sqrt(1 + sqrt(w^2/g - 1))";
    let fix = "x*y' - y*x' = w*(x^2 + y^2)";
    let found = over(text, ("w", 4.0, 3.0), Some(fix)).unwrap();
    let branch = moving(&found)[0];
    let fold = branch.special.iter().find(|s| s.kind == "fold").expect("a fold");
    assert!((fold.parameter - 9.81_f64.sqrt()).abs() < 1e-10, "{fold:?}");
    let radius = |state: &[(String, f64)]| state[0].1.powi(2) + state[1].1.powi(2);
    // The place of a fold is known to half of the digits.
    assert!((radius(&fold.state) - 1.0).abs() < 1e-6);
    for point in &branch.points {
        let s = radius(&point.state);
        let w = point.parameter;
        assert!((w * w - 9.81 * ((s - 1.0).powi(2) + 1.0)).abs() < 1e-8, "{point:?}");
    }
    assert!(radius(&branch.points.last().unwrap().state) < 0.9, "through the fold");
}

/// A wind that goes round takes a bead along: it turns as fast, with nothing to hold, at x² + y² = W² − k.
#[test]
fn rates_that_are_determined_follow_the_parameter() {
    let text = "
        coordinates x, y
        parameters W = 1.5, k = 1, c = 0.3
        lagrangian (x'^2 + y'^2)/2 - k*(x^2 + y^2)/2 - (x^2 + y^2)^2/4
        force x: -c*(x' + W*y)
        force y: -c*(y' - W*x)
        initial x = sqrt(W^2 - k), y' = W*sqrt(W^2 - k)";
    let found = over(text, ("W", 1.5, 3.0), None).unwrap();
    let branch = moving(&found)[0];
    assert!(branch.held.is_empty() && branch.loose == 0, "{:?}", branch.held);
    let last = branch.points.last().unwrap();
    assert!((last.parameter - 3.0).abs() < 1e-12);
    for point in &branch.points {
        let (w, x, y) = (point.parameter, value(point, "x"), value(point, "y"));
        assert!((x * x + y * y - (w * w - 1.0)).abs() < 1e-9, "{point:?}");
        assert!((value(point, "turn of x, y") - w).abs() < 1e-9);
    }
    // What is determined is not to be picked.
    let none = over(text, ("W", 1.5, 3.0), Some("energy")).expect_err("no family").to_string();
    assert!(none.contains("`energy` picks none"), "{none}");
}

/// A bead that circles in a valley leaves its plane where x² + y² = c, at w² = k + c; then x² + y² = 2 (w² − k) − c.
#[test]
fn steady_motions_branch() {
    let text = "
        coordinates x, y, z
        parameters w = 2.2, k = 1, c = 2
        lagrangian (x'^2 + y'^2 + z'^2)/2 - k*(x^2 + y^2)/2 - (x^2 + y^2)^2/4 - z^4/2 - (x^2 + y^2 - c)*z^2/2
        initial x = sqrt(w^2 - k), y' = w*sqrt(w^2 - k)";
    let fix = "x*y' - y*x' = w*(x^2 + y^2)";
    let found = over(text, ("w", 2.2, 1.6), Some(fix)).unwrap();
    let branches = moving(&found);
    let place =
        branches[0].special.iter().find(|s| s.kind == "branch").expect("a branch point");
    assert!((place.parameter - 3.0_f64.sqrt()).abs() < 1e-9, "{place:?}");
    let (s, z) = (2.0 * (1.6_f64.powi(2) - 1.0) - 2.0, (0.22_f64 * 2.0).sqrt());
    for sign in [1.0, -1.0] {
        assert!(
            branches.iter().filter_map(|b| b.points.last()).any(|p| {
                let radius = value(p, "x").powi(2) + value(p, "y").powi(2);
                (p.parameter - 1.6).abs() < 1e-12
                    && (radius - s).abs() < 1e-8
                    && (value(p, "z") - sign * z).abs() < 1e-8
            }),
            "{sign}: {:?}",
            branches.iter().map(|b| b.points.last()).collect::<Vec<_>>()
        );
    }
}

/// A spherical pendulum in angles: `phi` is cyclic, and its rate is held.
#[test]
fn rates_of_cyclic_coordinates_are_held() {
    let text = "
        coordinates th, phi
        parameters l = 2, g = 9.81, W = 3
        lagrangian l^2*(th'^2 + phi'^2*sin(th)^2)/2 + g*l*cos(th)
        initial th = acos(g/(l*W^2)), phi' = W";
    let found = over(text, ("l", 2.0, 3.0), None).unwrap();
    let tilted: Vec<&Branch> = found
        .branches
        .iter()
        .filter(|b| b.points.first().is_some_and(|p| (value(p, "phi'") - 3.0).abs() < 1e-9))
        .collect();
    let branch = tilted.iter().find(|b| value(&b.points[0], "th").abs() > 0.1).expect("one");
    for point in &branch.points {
        let cosine = 9.81 / (point.parameter * 9.0);
        assert!((libm::cos(value(point, "th")) - cosine).abs() < 1e-9, "{point:?}");
    }
}

/// Without damping the column of Ziegler flutters where two frequencies meet, at P l/k = 7/2 − √2 for masses 2m and m;
/// and the triangular points of the restricted problem lose their stability at μ = (1 − √69/9)/2.
#[test]
fn frequencies_that_meet_are_located() {
    let column = "
        coordinates a, b
        parameters P = 0.5
        lagrangian (3*a'^2 + b'^2 + 2*cos(a - b)*a'*b')/2 - (a^2 + (b - a)^2)/2
        force a: P*sin(a - b)";
    let triangle = "
        coordinates x, y
        parameters mu = 0.03
        let r1 = sqrt((x + mu)^2 + y^2)
        let r2 = sqrt((x - 1 + mu)^2 + y^2)
        lagrangian (x'^2 + y'^2)/2 + x*y' - y*x' + (x^2 + y^2)/2 + (1 - mu)/r1 + mu/r2
        initial x = 0.5 - mu, y = sqrt(3)/2";
    let flutter = 3.5 - 2.0_f64.sqrt();
    let routh = 0.5 * (1.0 - 69.0_f64.sqrt() / 9.0);
    for (text, range, exact) in
        [(column, ("P", 0.5, 3.0), flutter), (triangle, ("mu", 0.03, 0.045), routh)]
    {
        let found = over(text, range, None).unwrap();
        let hopf: Vec<f64> = found
            .branches
            .iter()
            .flat_map(|b| &b.special)
            .filter(|s| s.kind == "hopf")
            .map(|s| s.parameter)
            .collect();
        assert!(!hopf.is_empty(), "{range:?}");
        // Near it the eigenvalues are known to half of the digits, and the place to all.
        assert!(hopf.iter().all(|p| (p - exact).abs() < 1e-12), "{hopf:?} {exact}");
    }
}

/// Swings of a pendulum over its weight keep their energy; over their energy the period is 4 K(k)/√(g/l),
/// k² = (1 + E/gl)/2.
#[test]
fn periodic_motions_keep_their_energy() {
    let text = "
        coordinates a
        parameters g = 9.81, E = -4
        lagrangian a'^2/2 + g*cos(a)
        initial a = 1";
    let start = OrbitRequest { period: Some("2.15".into()), ..OrbitRequest::default() };
    let follow = |range: (&str, f64, f64), fix: Option<&str>| {
        let model = model(text, range.0, range.1);
        continue_orbits(&model, &request(range, fix), &start, &mut || true)
    };
    let found = follow(("g", 9.81, 15.0), None).unwrap();
    let branch = &found.branches[0];
    let (name, level) = branch.held.first().expect("the energy").clone();
    let level = level.expect("a value");
    assert!(name == "energy" && branch.loose == 0, "{:?}", branch.held);
    for p in &branch.points {
        let (a, v) = (value(p, "a"), value(p, "a'"));
        assert!((v * v / 2.0 - p.parameter * libm::cos(a) - level).abs() < 1e-8, "{p:?}");
    }
    assert!((branch.points.last().unwrap().parameter - 15.0).abs() < 1e-9);
    let found = follow(("E", -4.0, 4.0), Some("energy = E")).unwrap();
    let branch = &found.branches[0];
    assert_eq!(branch.held, [("energy = E".to_owned(), None)]);
    assert!((branch.points.last().unwrap().parameter - 4.0).abs() < 1e-9);
    for p in &branch.points {
        // K by the arithmetic-geometric mean.
        let (mut a, mut b) = (1.0_f64, (0.5 * (1.0 - p.parameter / 9.81)).sqrt());
        for _ in 0..8 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        let period = 2.0 * std::f64::consts::PI / a / 9.81_f64.sqrt();
        assert!((p.period.unwrap() - period).abs() < 1e-9, "{p:?} {period}");
    }
}

/// Mistakes in what is to be held.
#[test]
fn conditions_that_cannot_be_held_say_why() {
    let why = |fix: &str| {
        over(CONICAL, ("w", 3.0, 6.0), Some(fix)).expect_err("it cannot be held").to_string()
    };
    assert!(why("x = y = z").contains("is no condition"), "{}", why("x = y = z"));
    assert!(why("x*q").contains('q'), "{}", why("x*q"));
    assert!(why("[x, y]").contains("single number"), "{}", why("[x, y]"));
}
