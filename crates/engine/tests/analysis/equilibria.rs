//! Where systems rest, with constraints, families and steady motions.

use pfaff::{
    Equilibria, EquilibriaRequest, Model, NoFiles, Overrides, SearchRange, Source, Stability,
    equilibria,
};

fn search(model: &Model, ranges: &[(&str, f64, f64)]) -> Equilibria {
    let range =
        |&(name, from, to): &(&str, f64, f64)| SearchRange { name: name.into(), from, to };
    let request = EquilibriaRequest {
        search: ranges.iter().map(range).collect(),
        ..EquilibriaRequest::default()
    };
    equilibria(model, &request, &mut || true).expect("the model can be searched")
}

fn with(text: &str, set: &str) -> Model {
    let overrides = Overrides { set: Some(set.into()), initial: None };
    Model::read(Source::new("model", text), &overrides, &NoFiles).expect("the text is right")
}

#[test]
fn a_pendulum_rests_below_and_above() {
    let cartesian = Model::gallery("pendulum").unwrap();
    let angle =
        Model::parse("coordinates a\nlagrangian a'^2/2 + cos(a)\ninitial a=1, a'=0.5").unwrap();
    let found = search(&cartesian, &[]).found;
    let states: Vec<[f64; 2]> = found.iter().map(|e| [e.state[0].1, e.state[1].1]).collect();
    assert_eq!(states.len(), 2, "{states:?}");
    for (state, y) in states.iter().zip([-1.0, 1.0]) {
        assert!(state[0].abs() < 1e-12 && (state[1] - y).abs() < 1e-12, "{states:?}");
    }
    assert_eq!(found[0].stability, Stability::Stable);
    assert_eq!(found[1].stability, Stability::Unstable);
    let found = search(&angle, &[]).found;
    let places: Vec<f64> = found.iter().map(|e| e.state[0].1).collect();
    assert_eq!(places.len(), 2, "angles count once: {places:?}");
    let found = search(&angle, &[("a", 2.0, 10.0)]).found;
    let places: Vec<f64> = found.iter().map(|e| e.state[0].1).collect();
    let wanted = [1.0, 2.0, 3.0].map(|k| k * std::f64::consts::PI);
    assert_eq!(places.len(), 3, "{places:?}");
    assert!(places.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{places:?}");
}

/// A bead on a turning hoop: cos(a) = g/(ω²l) above ω² = g/l, nothing else but top and bottom below.
#[test]
fn a_bead_on_a_hoop_leaves_the_bottom() {
    let text = "
        coordinates a
        parameters w = 3, g = 9.81, l = 1.2
        lagrangian l^2*(a'^2 + w^2*sin(a)^2)/2 + g*l*cos(a)";
    let slow = search(&with(text, "w=2.5"), &[("a", -3.0, 3.0)]).found;
    assert_eq!(slow.len(), 1);
    assert_eq!(slow[0].stability, Stability::Stable);
    let fast = search(&with(text, "w=4"), &[("a", -3.0, 3.0)]).found;
    let angle = (9.81 / (16.0 * 1.2_f64)).acos();
    let places: Vec<f64> = fast.iter().map(|e| e.state[0].1).collect();
    assert_eq!(places.len(), 3, "{places:?}");
    assert!((places[0] + angle).abs() < 1e-12 && (places[2] - angle).abs() < 1e-12);
    let verdicts: Vec<&str> = fast.iter().map(|e| e.stability.name()).collect();
    assert_eq!(verdicts, ["stable", "unstable", "stable"]);
}

/// Families: all states of rest or straight motion of a sleigh, a circle of minima of a potential.
#[test]
fn families_are_one_with_their_dimension() {
    let sleigh = search(&Model::gallery("sleigh").unwrap(), &[("x'", 0.5, 2.0)]).found;
    assert!(!sleigh.is_empty());
    assert!(sleigh.iter().all(|e| e.family == 2), "heading and speed: {sleigh:?}");
    assert_eq!(sleigh.len(), 1, "one family: {sleigh:?}");
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2 - 1)^2
        dissipation (x'^2 + y'^2)/2
        initial x = 1.5, y = 0.2";
    let ring =
        search(&Model::parse(text).unwrap(), &[("x", -2.0, 2.0), ("y", -2.0, 2.0)]).found;
    let circles: Vec<_> = ring.iter().filter(|e| e.family == 1).collect();
    assert!(circles.iter().all(|e| e.stability == Stability::Stable), "{ring:?}");
    assert_eq!((ring.len(), circles.len()), (2, 1), "the circle and its centre: {ring:?}");
}

/// A spherical pendulum in Cartesian coordinates rests at the lowest and at the highest point of its sphere.
#[test]
fn constraints_are_respected() {
    let text = "
        coordinates x, y, z
        lagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*y
        constraint sphere: x^2 + y^2 + z^2 = 1";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    let heights: Vec<f64> = found.iter().map(|e| e.state[1].1).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(heights.iter().any(|y| (y + 1.0).abs() < 1e-12));
    assert!(heights.iter().any(|y| (y - 1.0).abs() < 1e-12));
    for e in &found {
        assert_eq!(e.eigenvalues.len(), 4);
        let below = e.state[1].1 < 0.0;
        assert_eq!(e.stability == Stability::Stable, below, "{e:?}");
    }
}

#[test]
fn nothing_is_found_where_nothing_rests() {
    let slope = Model::parse("coordinates x\nlagrangian x'^2/2 - x").unwrap();
    assert!(search(&slope, &[]).found.is_empty());
    let request = EquilibriaRequest {
        search: vec![SearchRange { name: "xx".into(), from: 0.0, to: 1.0 }],
        ..EquilibriaRequest::default()
    };
    let error = equilibria(&slope, &request, &mut || true).expect_err("there is no `xx`");
    assert!(error.to_string().contains("did you mean `x`"), "{error}");
    let stopped = equilibria(&slope, &EquilibriaRequest::default(), &mut || false).unwrap();
    assert!(stopped.interrupted && stopped.starts == 0);
}

/// Equilibria far from the origin are found without a box.
#[test]
fn lorenz_rests_in_three_places() {
    let text = "
        coordinates x, y, z
        equation x' = 10*(y - x)
        equation y' = x*(28 - z) - y
        equation z' = x*y - 8/3*z
        initial x = 1, y = 1, z = 20";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    let wings = 72.0_f64.sqrt();
    let places: Vec<f64> = found.iter().map(|e| e.state[0].1).collect();
    assert_eq!(places.len(), 3, "{places:?}");
    let wanted = [-wings, 0.0, wings];
    assert!(places.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-10), "{places:?}");
}

/// The poles of a sphere are no states of its angles.
#[test]
fn singular_points_of_coordinates_are_left_out() {
    let text = "
        coordinates th, ph
        parameters l = 2, g = 9.81, w = 3
        lagrangian l^2*(th'^2 + sin(th)^2*ph'^2)/2 + g*l*cos(th)
        initial th = acos(g/(l*w^2)), ph' = w";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].state[0].1 - (9.81 / 18.0_f64).acos()).abs() < 1e-12, "{found:?}");
}

/// A governor: spinning with its arms down, up, or raised. The first and the last family meet, but are two.
#[test]
fn families_that_cross_are_told_apart() {
    let text = "
        coordinates th, ph
        lagrangian (th'^2 + ph'^2*sin(th)^2)/4 + 0.3*ph'^2/2 + 9.81*cos(th)
        initial th = 1, ph' = 6";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    assert!(found.iter().all(|e| e.family == 1), "{found:?}");
    for th in [0.0, std::f64::consts::PI] {
        assert!(found.iter().any(|e| (e.state[0].1 - th).abs() < 1e-9), "{th}: {found:?}");
    }
    assert!(found.iter().any(|e| e.state[0].1 > 0.1 && e.state[0].1 < 1.5), "{found:?}");
}

/// What is in balance at one time only is no equilibrium; what rests at all times is.
#[test]
fn driven_systems_rest_where_they_rest_always() {
    let driven = Model::parse("coordinates x\nequation x'' = -x - x^3 + 0.3*cos(t)").unwrap();
    assert!(search(&driven, &[]).found.is_empty());
    let mathieu = Model::parse("coordinates x\nequation x'' = -(1 + cos(t))*x").unwrap();
    assert_eq!(search(&mathieu, &[]).found.len(), 1);
}

/// A spherical pendulum by two components of its direction: at the edge of that chart all rates vanish, but nothing
/// rests there.
#[test]
fn edges_of_charts_are_no_equilibria() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2 + (x*x' + y*y')^2/(1 - x^2 - y^2))/2 + 9.81*sqrt(1 - x^2 - y^2)
        initial x = 0.3, y = 0.1";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].state.iter().all(|(_, x)| x.abs() < 1e-9), "{found:?}");
    // What lies on a steep wall rests in truth.
    let text = "coordinates x\nlagrangian x'^2/2 - x - exp(-60*x)";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].state[0].1 - libm::log(60.0) / 60.0).abs() < 1e-10, "{found:?}");
}

/// A pendulum over three magnets: between them one place and three saddles, and near each magnet a place where it rests
/// in a narrow and steep well, past which Newton's iteration goes. Where y = 0 the force on x is that of the text.
#[test]
fn narrow_wells_are_found() {
    let text = "
        coordinates x, y
        parameters h = 0.25, w = 0.5, c = 0.2
        let r1 = (x - 1)^2 + y^2 + h^2
        let r2 = (x + 1/2)^2 + (y - sqrt(3)/2)^2 + h^2
        let r3 = (x + 1/2)^2 + (y + sqrt(3)/2)^2 + h^2
        lagrangian (x'^2 + y'^2)/2 - w^2*(x^2 + y^2)/2 + r1^(-3/2)/3 + r2^(-3/2)/3 + r3^(-3/2)/3
        dissipation c*(x'^2 + y'^2)/2";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    let stable: Vec<[f64; 2]> = found
        .iter()
        .filter(|e| e.stability == Stability::AsymptoticallyStable)
        .map(|e| [e.state[0].1, e.state[1].1])
        .collect();
    assert_eq!((found.len(), stable.len()), (7, 3), "{stable:?}");
    let force = |x: f64| {
        let near = (x - 1.0) * libm::pow((x - 1.0).powi(2) + 0.0625, -2.5);
        let far = 2.0 * (x + 0.5) * libm::pow((x + 0.5).powi(2) + 0.75 + 0.0625, -2.5);
        -0.25 * x - near - far
    };
    let [x, y] = stable.iter().copied().max_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
    // The well is 1000 times as steep as its rounding is large.
    assert!(y.abs() < 1e-10 && force(x).abs() < 1e-9, "{x}, {y}");
}

/// A toggle whose slide is at the joint of its crank turns about it without moving the spring: such places are a
/// family, of two arcs between singular points, and not single ones by the rounding of their double eigenvalue.
#[test]
fn rounding_does_not_hide_a_family() {
    let text = "
        coordinates x, y, X
        parameters l = 1, k = 50, b = 1.8
        lagrangian (x'^2 + y'^2 + X'^2)/2 - k*(X - b)^2/2
        constraint crank: x^2 + y^2 = l^2
        constraint rod: (X - x)^2 + y^2 = l^2
        constraint again: 2*((X - x)^2 + y^2) = 2*l^2
        initial x = 0.9, y = sqrt(0.19), X = 1.8";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    let turning: Vec<usize> =
        found.iter().filter(|e| e.state[2].1.abs() < 1e-9).map(|e| e.family).collect();
    assert!((1..=2).contains(&turning.len()), "{turning:?}");
    assert!(turning.iter().all(|family| *family == 1), "{turning:?}");
    assert_eq!(found.len() - turning.len(), 4, "two rests with the spring, two dead centres");
}

/// Two rods with a spring between them: whole turns of both change nothing. Places at which more can move, where
/// constraints repeat each other up to rounding, are none at which nothing moves.
#[test]
fn turns_of_several_coordinates_count_once() {
    let rods = "
        coordinates a, b
        lagrangian (a'^2 + b'^2)/2 - (a - b)^2 + cos(a)";
    let found = search(&Model::parse(rods).expect("it is right"), &[]);
    assert!(!found.found.is_empty());
    for one in &found.found {
        assert!(one.state[0].1.abs() < 3.2, "{:?}", one.state);
    }
    let cranks = "
        coordinates x, y, p, a1, a2, a3
        let G(u) = [x + u*cos(p), y + u*sin(p)]
        lagrangian x'^2 + y'^2 + p'^2/5 + (a1'^2 + a2'^2 + a3'^2)/20 - 20*y - 5*(a1 + 1)^2/2
        constraint h1: G(-1) = [-1 + cos(a1), sin(a1)]
        constraint h2: G(0.3) = [0.3 + cos(a2), sin(a2)]
        constraint h3: G(1) = [1 + cos(a3), sin(a3)]
        initial a1 = -1, a2 = -1, a3 = -1";
    let found = search(&Model::parse(cranks).expect("it is right"), &[]);
    assert!(found.found.iter().all(|one| !one.eigenvalues.is_empty()), "{found:?}");
}

/// Two pendulums below each other that go round together: their azimuths are no cyclic coordinates, but both together
/// can be turned. What was found satisfies the two balances of moments.
#[test]
fn a_conical_double_pendulum_goes_round() {
    let text = "
        coordinates a, b, p, q
        parameters g = 9.81, l = 1, k = 0.7, m = 1, n = 0.5
        let P = l*[sin(a)*cos(p), sin(a)*sin(p), -cos(a)]
        let Q = P + k*[sin(b)*cos(q), sin(b)*sin(q), -cos(b)]
        lagrangian m*dot(P', P')/2 + n*dot(Q', Q')/2 - m*g*P[3] - n*g*Q[3]
        initial a = 0.3, b = 0.4, p' = 3, q' = 3";
    let box_ = [("a", 0.2, 1.4), ("b", 0.2, 1.4), ("p'", 2.5, 6.0), ("q'", 2.5, 6.0)];
    let found = search(&Model::parse(text).unwrap(), &box_).found;
    assert!(!found.is_empty());
    for one in &found {
        let value = |k: usize| one.state[k].1;
        let (a, b) = (value(0), value(1));
        assert_eq!(one.frame.len(), 1, "{:?}", one.frame);
        assert_eq!(one.frame[0].0, "shift of p, q");
        let square = one.frame[0].1.powi(2);
        let side = |phase: f64| if libm::cos(phase) > 0.0 { 1.0 } else { -1.0 };
        let radius = libm::sin(a) + side(value(3) - value(2)) * 0.7 * libm::sin(b);
        // The lower rod points along the force on its particle, and the upper one carries both.
        let lower = side(value(3) - value(2)) * square * radius * libm::cos(b);
        assert!((lower - 9.81 * libm::sin(b)).abs() < 1e-8, "{one:?}");
        let upper = square * (libm::sin(a) + 0.5 * radius) * libm::cos(a);
        assert!((upper - 1.5 * 9.81 * libm::sin(a)).abs() < 1e-8, "{one:?}");
    }
}

/// The circles of a spherical pendulum are two families, one for each sense, not as many as starts.
#[test]
fn motions_along_symmetries_are_families() {
    let text = "
        coordinates x, y, z
        lagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*z
        constraint rod: x^2 + y^2 + z^2 = 1
        initial x = 0.8, z = -0.6, y' = 1.5";
    let found = search(&Model::parse(text).unwrap(), &[("x", -1.0, 1.0), ("y'", -3.0, 3.0)]);
    let steady: Vec<f64> =
        found.found.iter().filter_map(|e| e.frame.first().map(|(_, rate)| *rate)).collect();
    assert_eq!(found.found.len(), 4, "{steady:?}");
    assert!(steady.len() == 2 && steady[0] * steady[1] < 0.0, "{steady:?}");
}

/// Steady turns of a bicycle that were found at different headings belong to the same families, and where they branch
/// off from straight motion no member is a family of its own.
#[test]
fn turns_of_a_bicycle_are_few_families() {
    let ranges = [("phi", -0.5, 0.5), ("delta", -1.0, 1.0), ("x'", 2.0, 8.0)];
    let found = search(&Model::gallery("bicycle").unwrap(), &ranges).found;
    assert!((3..=6).contains(&found.len()), "{}", found.len());
    assert!(found.iter().all(|e| e.family == 1), "{found:?}");
    // All are shown at the heading of the start.
    let heading = |e: &pfaff::Equilibrium| {
        e.state.iter().find(|(name, _)| name == "psi").expect("it is there").1
    };
    assert!(found.iter().all(|e| heading(e).abs() < 1e-12), "{found:?}");
}

/// A platform on three parallel cranks, whose constraints hold each other up to whole turns.
#[test]
fn cranks_of_a_platform_are_counted_once() {
    let text = "
        coordinates a, b, c, x, y, th
        parameters r = 0.3, d = 0.4
        lagrangian x'^2 + y'^2 + th'^2/40 + 3*(a'^2 + b'^2 + c'^2)/400 - 19.62*y
          - 0.73575*(sin(a) + sin(b) + sin(c)) - 2*(a - 1)^2
        constraint p1: [x - d*cos(th), y - d*sin(th)] = [-d + r*cos(a), r*sin(a)]
        constraint p2: [x, y] = [r*cos(b), r*sin(b)]
        constraint p3: [x + d*cos(th), y + d*sin(th)] = [d + r*cos(c), r*sin(c)]
        initial a = 1, b = 1, c = 1, th = 0";
    let found = search(&Model::parse(text).unwrap(), &[]).found;
    for one in &found {
        for (name, x) in &one.state[..6] {
            assert!(x.abs() < 3.2, "{name} = {x}");
        }
    }
    for (k, one) in found.iter().enumerate() {
        let is_same =
            |other: &pfaff::Equilibrium| (other.state[0].1 - one.state[0].1).abs() < 1e-6;
        assert!(!found[..k].iter().any(is_same), "{found:?}");
    }
}
