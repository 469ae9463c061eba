//! Motions between given ends, against closed forms.
//!
//! Sweeps over many ends run with a part of their number; `PFAFF_TESTS=full` runs all.

use pfaff::{Motion, Run, StopReason, Verdict};

use crate::support;
use crate::support::elliptic::{Jacobi, argument, jacobi};
use crate::support::ends::{best, gallery, gallery_by, last, named, solutions};

/// How many of a sweep are tried.
fn part(full: usize) -> usize {
    support::count(full / 10, full)
}

/// The length of the arc of a circle over the chord r that cuts off the area z.
fn dido(r: f64, z: f64) -> f64 {
    // Half the angle of the arc: (φ − sin φ cos φ)/(4 sin² φ) = z/r², growing from 0 to π.
    let wanted = z.abs() / (r * r);
    let (mut a, mut b) = (0.0, std::f64::consts::PI);
    for _ in 0..200 {
        let φ: f64 = 0.5 * (a + b);
        let ratio = (φ - libm::sin(φ) * libm::cos(φ)) / (4.0 * libm::sin(φ).powi(2));
        if ratio < wanted || φ == 0.0 { a = φ } else { b = φ }
    }
    let φ = 0.5 * (a + b);
    r * φ / libm::sin(φ)
}

/// Heisenberg: the shortest path is an arc of a circle.
#[test]
fn heisenberg_geodesics_are_arcs() {
    let mut random = support::Random::new(5);
    for _ in 0..part(50) {
        let (x, y, z) = (2.0 * random.number(), 2.0 * random.number(), random.number());
        let motion = gallery("heisenberg", &format!("X={x}, Y={y}, Z={z}"));
        let length = (2.0 * best(&motion).action).sqrt();
        let exact = dido(x.hypot(y), z);
        assert!((length - exact).abs() < 1e-10, "({x}, {y}, {z}): {length} against {exact}");
        assert_eq!(best(&motion).family_dimension, 0);
        assert_eq!(best(&motion).minimum, Some(true));
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    }
}

/// Straight up there is a circle for every direction of departure.
#[test]
fn vertical_displacement_has_a_family() {
    for z in [0.25, -1.0] {
        let motion = gallery("heisenberg", &format!("X=0, Y=0, Z={z}"));
        let solution = best(&motion);
        let exact = 2.0 * (std::f64::consts::PI * f64::abs(z)).sqrt();
        let length = (2.0 * solution.action).sqrt();
        assert!((length - exact).abs() < 1e-10, "{length} against {exact}");
        assert_eq!(solution.family_dimension, 1);
        // The family ends all its paths in one point: that is conjugate.
        assert_eq!(solution.conjugate.as_deref(), Some(&[1.0][..]));
    }
}

/// The end of a geodesic of SE(2) from its momentum at the start, by elliptic functions.
///
/// With P = |(p_x, p_y)|, α its direction and k² = 2H/P²: v = ±P k sn, θ' = P k cn, sin(θ − α) = ∓dn at u = P t + u₀,
/// so that along α the path moves by u − E(u), and across by k cn.
fn se2_end(p: [f64; 3]) -> [f64; 3] {
    let (size, α) = (p[0].hypot(p[1]), p[1].atan2(p[0]));
    let k = (p[0] * p[0] + p[2] * p[2]).sqrt() / size;
    // At the start θ = 0: v = p_x, sin(θ − α) = −sin α.
    let side = if k < 1.0 && -libm::sin(α) > 0.0 { -1.0 } else { 1.0 };
    let (sn, cn) = (side * p[0] / size / k, p[2] / size / k);
    if k < 1.0 {
        let u0 = argument(sn.atan2(cn), k);
        let (a, b) = (jacobi(u0, k), jacobi(u0 + size, k));
        let ξ = size - (b.e - a.e);
        let η = k * (b.cn - a.cn);
        let turned = (-side * b.dn).atan2(side * k * b.sn);
        return placed(ξ, η, α, turned + α);
    }
    // k sn(u, k) = sn(ku, 1/k), k cn(u, k) = k dn(ku, 1/k), dn(u, k) = cn(ku, 1/k)
    let κ = 1.0 / k;
    let w0 = argument((p[0] / size).atan2(libm::sin(α)), κ);
    let forward = 1.0_f64.copysign(p[2]);
    let (a, b) = (jacobi(w0, κ), jacobi(w0 + forward * k * size, κ));
    let ξ = k * (k * size - forward * (b.e - a.e));
    let η = forward * k * (b.dn - a.dn);
    let turned = (-b.cn).atan2(b.sn);
    placed(ξ, η, α, turned + α)
}

fn placed(ξ: f64, η: f64, α: f64, θ: f64) -> [f64; 3] {
    [ξ * libm::cos(α) - η * libm::sin(α), ξ * libm::sin(α) + η * libm::cos(α), θ]
}

/// SE(2): every solution is a geodesic by elliptic functions.
#[test]
fn se2_geodesics_are_elliptic() {
    let mut random = support::Random::new(11);
    let mut kinds = [0, 0];
    // Little way and much turning makes the pendulum go round.
    let mut ends = vec![[0.3, 0.2, 2.5], [-0.2, 0.4, -2.0]];
    ends.extend((0..part(40)).map(|_| [0; 3].map(|_| 1.5 * random.number())));
    for end in ends {
        let set = format!("X={}, Y={}, Theta={}", end[0], end[1], end[2]);
        let motion = gallery("se2", &set);
        for solution in solutions(&motion) {
            let p = ["x", "y", "theta"].map(|name| named(&solution.p0, name));
            kinds[usize::from(p[0].hypot(p[2]) > p[0].hypot(p[1]))] += 1;
            let closed = se2_end(p);
            for k in 0..3 {
                let turn = if k == 2 { std::f64::consts::TAU } else { f64::INFINITY };
                let off = (closed[k] - end[k]).abs();
                let off =
                    if turn.is_finite() { off - turn * (off / turn).round() } else { off };
                // Newton's iteration stops at 1e-13 and long geodesics stretch that a thousandfold.
                assert!(off.abs() < 1e-9, "{set}: {closed:?} from {p:?}");
            }
            let energy = 0.5 * (p[0] * p[0] + p[2] * p[2]);
            assert!((solution.action - energy).abs() < 1e-10 * (1.0 + energy));
        }
    }
    assert!(kinds.iter().all(|k| *k > 0), "both kinds of pendulum occur: {kinds:?}");
}

/// The end of a normal extremal of the flat Martinet structure from its momentum at the start.
///
/// y = Y k' sd(ωt) with ω² = p_z c, k² = (c − p_x)/(2c), Y² = 2(c − p_x)/p_z, c² = 2H; x and z follow by
/// integrating cn² and cn⁴.
fn martinet_end(p: [f64; 3]) -> [f64; 3] {
    let side = 1.0_f64.copysign(p[2]);
    let (px, pz) = (side * p[0], p[2].abs());
    let c = px.hypot(p[1]);
    let (ω, k) = ((pz * c).sqrt(), ((c - px) / (2.0 * c)).sqrt());
    let rising = 1.0_f64.copysign(p[1]);
    let top = (2.0 * (c - px) / pz).sqrt();
    let quarter = argument(std::f64::consts::FRAC_PI_2, k);
    let (a, b) = (jacobi(-quarter, k), jacobi(ω - quarter, k));
    let (k2, rest) = (k * k, 1.0 - k * k);
    let second = ((b.e - a.e) - rest * ω) / k2;
    let product = |j: &Jacobi| j.sn * j.cn * j.dn;
    let fourth = ((2.0 - 3.0 * k2) * rest * ω
        + 2.0 * (2.0 * k2 - 1.0) * (b.e - a.e)
        + k2 * (product(&b) - product(&a)))
        / (3.0 * k2 * k2);
    let (square, quartic) = (top * top * second / ω, top.powi(4) * fourth / ω);
    let x = px + 0.5 * pz * square;
    let z = 0.5 * (px * square + 0.5 * pz * quartic);
    [side * x, rising * top * b.cn, side * z]
}

/// Martinet: normal extremals by elliptic functions; the diagnostic speaks of the abnormal ones.
#[test]
fn martinet_extremals_are_elliptic() {
    let mut random = support::Random::new(3);
    for _ in 0..part(40) {
        let end = [1.5 * random.number(), random.number(), 0.5 * random.number()];
        let set = format!("X={}, Y={}, Z={}", end[0], end[1], end[2]);
        let motion = gallery("martinet", &set);
        assert!(
            pfaff_present::notes(&motion)
                .iter()
                .any(|n| n.contains("abnormal extremals can exist where y = 0"))
        );
        for solution in solutions(&motion) {
            let closed = martinet_end(["x", "y", "z"].map(|name| named(&solution.p0, name)));
            for k in 0..3 {
                assert!((closed[k] - end[k]).abs() < 1e-9, "{set}: {closed:?}");
            }
        }
    }
}

/// The brachistochrone is a cycloid: T = θ √(r/g) with X/Y = (θ − sin θ)/(1 − cos θ).
#[test]
fn brachistochrone_is_a_cycloid() {
    for (x, y) in [(2.0, 1.0), (0.3, 1.2), (3.0, 0.1)] {
        let motion = gallery("brachistochrone", &format!("X={x}, Y={y}"));
        let (mut a, mut b) = (1e-6, std::f64::consts::TAU - 1e-9);
        for _ in 0..200 {
            let θ: f64 = 0.5 * (a + b);
            if (θ - libm::sin(θ)) / (1.0 - libm::cos(θ)) < x / y { a = θ } else { b = θ }
        }
        let θ = 0.5 * (a + b);
        let exact = θ * (y / (1.0 - libm::cos(θ)) / 9.81).sqrt();
        let time = (2.0 * best(&motion).action).sqrt();
        assert!((time - exact).abs() < 1e-10, "({x}, {y}): {time} against {exact}");
        assert!((last(&motion, "x") - x).abs() < 1e-9);
    }
}

/// The time of descent itself, homogeneous of degree one in the velocities: from the place θ = a of a cycloid of
/// radius r to the place θ = b it takes √(2r)(b − a), however long the motion is said to last.
#[test]
fn a_time_of_descent_is_stationary_on_a_cycloid() {
    for (r, a, b, end) in
        [(1.0, 0.32, 2.5, "t = 1"), (0.7, 0.9, 3.8, "t = 3"), (1.0, 0.32, 2.5, "t = free")]
    {
        let place = |θ: f64| [r * (θ - libm::sin(θ)), r * (1.0 - libm::cos(θ))];
        let ([x0, y0], [x1, y1]) = (place(a), place(b));
        let text = format!(
            "coordinates x, y\nlagrangian sqrt((x'^2 + y'^2)/y)\ninitial x = {x0}, y = {y0}\n\
             final x = {x1}, y = {y1}, {end}"
        );
        let motion = support::run(&support::model(&text), &Run::default());
        let exact = (2.0 * r).sqrt() * (b - a);
        assert!(
            (best(&motion).action - exact).abs() < 1e-10,
            "{} {exact}",
            best(&motion).action
        );
        assert_eq!(best(&motion).minimum, Some(true));
        // p_x = L_x' = x'/(ds √y) = 1/√(2r) on a cycloid.
        assert!((named(&best(&motion).p0, "x") - 1.0 / (2.0 * r).sqrt()).abs() < 1e-10);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
        assert!(pfaff_present::notes(&motion).iter().any(|n| n.contains("degree one")));
        // The curve is the cycloid, and the errors that are told are at least those it has.
        let worst = |k: usize| {
            motion.q[0].values.iter().zip(&motion.q[1].values).fold(0.0_f64, |m, (x, y)| {
                let up = libm::acos(1.0 - y / r);
                let θ =
                    if *x > r * std::f64::consts::PI { std::f64::consts::TAU - up } else { up };
                let there = place(θ);
                m.max((there[k] - [*x, *y][k]).abs())
            })
        };
        assert_eq!(motion.errors.len(), 2);
        assert!(
            worst(0) < 1e-8 && motion.errors.iter().all(|e| *e < 1e-9),
            "{:?}",
            motion.errors
        );
    }
}

/// Lengths on a sphere and in the Heisenberg group, where the action of half their square is known.
#[test]
fn lengths_are_roots_of_their_squares() {
    let sphere = "coordinates a, b\nlagrangian sqrt(a'^2 + sin(a)^2*b'^2)\ninitial a = 1, b = 0\n\
        final a = 1.4, b = 1.3, t = 2";
    let motion = support::run(&support::model(sphere), &Run::default());
    let cosine =
        libm::cos(1.0) * libm::cos(1.4) + libm::sin(1.0) * libm::sin(1.4) * libm::cos(1.3);
    assert!((best(&motion).action - libm::acos(cosine)).abs() < 1e-11);
    let text = pfaff::gallery_model("heisenberg").expect("it is in the gallery").text;
    let energy = gallery("heisenberg", "X=1, Y=0.5, Z=0.4");
    let half = "(x'^2 + y'^2)/2";
    assert!(text.contains(half), "{text}");
    let length = text.replace(half, "sqrt(x'^2 + y'^2)");
    let motion =
        support::run(&support::model_with(&length, "X=1, Y=0.5, Z=0.4", ""), &Run::default());
    let wanted = (2.0 * best(&energy).t1 * best(&energy).action).sqrt();
    assert!((best(&motion).action - wanted).abs() < 1e-11);
}

/// Parking: found without a guess, mirrored paths have equal action, both methods agree.
#[test]
fn sleigh_parks_by_both_methods() {
    let by = |method: &str| {
        let request = Run { method: pfaff::Method::from_name(method), ..Run::default() };
        gallery_by("shortest_path", "", &request)
    };
    let (shot, collocated) = (by("shooting"), by("collocation"));
    assert_eq!(collocated.method, "collocation");
    for motion in [&shot, &collocated] {
        let list = solutions(motion);
        assert!(list.len() > 1 && list[0].residual <= 1e-9, "{list:?}");
        assert!(list[0].agreement.is_some_and(|x| x < 1e-9), "{list:?}");
        assert!((list[0].action - list[1].action).abs() < 1e-9);
        assert_eq!((list[0].minimum, list[0].family_dimension), (Some(true), 0));
    }
    let difference = best(&shot).action - best(&collocated).action;
    assert!(difference.abs() < 1e-9, "{difference:e}");
}

/// Random poses of a sleigh: at least 95 of 100 are reached, and where none is found the run says so.
#[test]
fn sleigh_reaches_random_poses() {
    let mut random = support::Random::new(17);
    let (mut reached, all) = (0, part(200));
    for _ in 0..all {
        let [x, y] = [0; 2].map(|_| 3.0 * random.number());
        let θ = std::f64::consts::PI * random.number();
        let motion = gallery("se2", &format!("X={x}, Y={y}, Theta={θ}"));
        match solutions(&motion).first() {
            Some(solution) => {
                reached += 1;
                assert!(solution.residual <= 1e-9 && motion.stop.reason == StopReason::End);
                let off = [("x", x), ("y", y), ("theta", θ)].map(|(n, q)| last(&motion, n) - q);
                assert!(off.iter().all(|d| d.abs() < 1e-8), "({x}, {y}, {θ}): {off:?}");
            }
            None => assert_eq!(motion.stop.reason, StopReason::MaxSteps),
        }
    }
    assert!(100 * reached >= 95 * all, "{reached} of {all}");
}

/// The first solution of a text.
fn solved(text: &str) -> Motion {
    let motion = support::run(&support::model(text), &Run::default());
    assert_eq!(motion.stop.reason, StopReason::End, "{:?}", motion.notes);
    motion
}

/// The code of the first diagnostic of a text that is refused, with its message.
fn refused(text: &str) -> String {
    match pfaff::run(&support::model(text), &Run::default(), &mut |_, _| true) {
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics: list, .. })) => {
            format!("{}: {}", list[0].code, list[0].message)
        }
        other => panic!("it is refused: {other:?}"),
    }
}

const PLANE: &str = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\n";

/// What is not given is free: the shortest way to a line meets it at a right angle.
#[test]
fn free_ends_have_natural_conditions() {
    let motion = solved(&format!("{PLANE}initial x = 0, y = 0\nfinal y = 2\nsolve t = 0..1"));
    assert!((best(&motion).action - 2.0).abs() < 1e-12);
    assert!(last(&motion, "x").abs() < 1e-12);
}

/// A harmonic oscillator between ends: x = sin t/sin 1; beyond half a period it is no minimum.
#[test]
fn oscillator_has_conjugate_points_at_half_periods() {
    let text = |t1: f64| {
        format!(
            "coordinates x\nlagrangian (x'^2 - x^2)/2\ninitial x = 0\nfinal x = 1\nsolve t = 0..{t1}"
        )
    };
    for t1 in [1.0_f64, 4.0, 8.0] {
        let motion = solved(&text(t1));
        let solution = best(&motion);
        let exact = 0.5 / t1.tan();
        assert!((solution.action - exact).abs() < 1e-11 * (1.0 + exact.abs()));
        let conjugate = solution.conjugate.as_ref().expect("decided");
        let half = std::f64::consts::PI;
        assert_eq!(conjugate.len(), (t1 / half) as usize);
        for (i, t) in conjugate.iter().enumerate() {
            assert!((t - half * (i + 1) as f64).abs() < 1e-7);
        }
        assert_eq!(solution.minimum, Some(t1 < half));
    }
}

/// A free end time has H = 0 there, or H = p·ġ where the goal moves.
#[test]
fn free_end_time_has_zero_energy() {
    let motion = solved(
        "coordinates x\nlagrangian x'^2/2 + 2\ninitial x = 0\nfinal x = 3, t = free\nsolve t = 0..1",
    );
    // H = v²/2 − 2 = 0: v = 2 and T = 3/2, with action 2·3/2 + 2·3/2.
    let solution = best(&motion);
    assert!((solution.t1 - 1.5).abs() < 1e-11 && (solution.action - 6.0).abs() < 1e-10);
    // A goal that moves away: x = 1 + t. H = p·1, v²/2 − 2 = v.
    let motion = solved(
        "coordinates x\nlagrangian x'^2/2 + 2\ninitial x = 0\nfinal x = 1 + t, t = free\nsolve t = 0..1",
    );
    let v = 1.0 + 5.0_f64.sqrt();
    assert!((best(&motion).t1 - 1.0 / (v - 1.0)).abs() < 1e-11);
}

/// Periodic conditions: once around a cylinder whose radius is free; the velocity comes back and the path may
/// begin anywhere.
#[test]
fn periodic_conditions_tie_the_ends() {
    let motion = solved(
        "coordinates phi, r\nparameters L = 6.25\nlagrangian (phi'^2*(1 + r^2) + r'^2 + r^2)/2\ninitial phi = 0\nfinal phi = initial + L, r = initial\nsolve t = 0..1",
    );
    let (v, r) = (&motion.v, &motion.q[1].values);
    assert!((r[0] - r[r.len() - 1]).abs() < 1e-9);
    for s in v {
        assert!((s.values[0] - s.values[s.values.len() - 1]).abs() < 1e-8, "{}", s.name);
    }
}

/// Holonomic constraints: the shortest path on a sphere is the arc of a great circle, also to a free end.
#[test]
fn holonomic_paths_are_great_circles() {
    let sphere = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint ball: x^2 + y^2 + z^2 = 1\n";
    let motion = solved(&format!(
        "{sphere}initial x = 1, y = 0, z = 0\nfinal x = 0, y = 0.6, z = 0.8\nsolve t = 0..1"
    ));
    let quarter = 0.5 * (std::f64::consts::FRAC_PI_2).powi(2);
    assert!((best(&motion).action - quarter).abs() < 1e-10, "{:?}", solutions(&motion));
    assert_eq!(best(&motion).family_dimension, 0);
    let motion =
        solved(&format!("{sphere}initial x = 1, y = 0, z = 0\nfinal z = 0.5\nsolve t = 0..1"));
    let arc = std::f64::consts::FRAC_PI_6;
    assert!((best(&motion).action - 0.5 * arc * arc).abs() < 1e-10, "{:?}", solutions(&motion));
}

/// The restricted principle: the base moves freely, the dependent coordinate follows.
#[test]
fn restricted_motions_have_ends_for_the_base() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2)/2\nconstraint area: z' = y*x'\nprinciple restricted\n";
    let motion = solved(&format!(
        "{text}initial x = 0, y = 0, z = 0\nfinal x = 1, y = 2\nsolve t = 0..1"
    ));
    assert!((last(&motion, "z") - 1.0).abs() < 1e-10);
    assert!((best(&motion).action - 2.5).abs() < 1e-12);
    let many = refused(&format!(
        "{text}initial x = 0, y = 0, z = 0\nfinal x = 1, y = 2, z = 3\nsolve t = 0..1"
    ));
    assert!(many.starts_with("E0631") && many.contains("`z`"), "{many}");
    let few =
        refused(&format!("{text}initial x = 0, y = 0\nfinal x = 1, y = 2\nsolve t = 0..1"));
    assert!(few.starts_with("E0631") && few.contains("`z`"), "{few}");
}

/// Bad data are named.
#[test]
fn bad_ends_are_refused_by_name() {
    let many = refused(&format!(
        "{PLANE}initial x = 0, x' = 1, y = 0\nfinal x = 1, y = 1\nsolve t = 0..1"
    ));
    assert!(many.starts_with("E0631") && many.contains("`x'`"), "{many}");
    let contradiction = refused(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint ring: x^2 + y^2 = 1\ninitial x = 1, y = 0\nfinal x = 0, y = 2\nsolve t = 0..1",
    );
    assert!(
        contradiction.starts_with("E0632") && contradiction.contains("`ring`"),
        "{contradiction}"
    );
    let time = refused(&format!(
        "{PLANE}initial x = 0, y = 0\nfinal x = 1, y = 1, t = 3\nsolve t = 0..1"
    ));
    assert!(time.starts_with("E0632"), "{time}");
    let chetaev = refused(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = y*x'\ninitial x = 0, y = 0, z = 0\nfinal x = 1\nsolve t = 0..1",
    );
    assert!(chetaev.starts_with("E0634") && chetaev.contains("`c`"), "{chetaev}");
}

/// An integrable constraint forbids ends on other surfaces, and its integral is named.
#[test]
fn unreachable_ends_name_the_integral() {
    let text = |constraint: &str| {
        format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: {constraint}\nprinciple vakonomic\ninitial x = 1, y = 2, z = 0\nfinal x = 2, y = 1, z = 1\nsolve t = 0..1"
        )
    };
    for (constraint, integral) in [
        ("x*x' + y*y' + z*z' = 0", "x^2"),
        ("y*z' - z*y' = 0", "z/y"),
        ("cos(z)*z' = y*x' + x*y'", "sin(z)"),
    ] {
        let message = refused(&text(constraint));
        assert!(
            message.starts_with("E0633")
                && message.contains("`c`")
                && message.contains(integral),
            "{message}"
        );
    }
}
