//! Periodic motions from starts at which contacts are closed, or after which other modes hold; up to turns; and their
//! extents.

use std::f64::consts::TAU;

use pfaff::{Model, Orbit, OrbitRequest, Stability, orbit};

use super::orbit::{along, of};

fn gallery(name: &str) -> Orbit {
    let model = Model::gallery(name).expect("a model of the gallery");
    orbit(&model, &OrbitRequest::default(), &mut || true).expect("there is a periodic motion")
}

/// Of two events that change modes, that after which the first mode holds.
#[test]
fn a_walker_begins_after_the_event_that_leads_to_the_first_mode() {
    let found = gallery("compass_walker");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
}

/// A woodpecker on its pole: after the beak and the sleeve have struck a contact stays closed, so that no motion can
/// begin beside it. Its cycle attracts, and it comes down a little each time.
#[test]
fn a_woodpecker_comes_down_in_a_cycle() {
    let found = gallery("woodpecker");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
    let [(name, moved)] = &found.drift[..] else { panic!("{:?}", found.drift) };
    assert!(name == "y" && *moved < 0.0 && found.residual < 1e-10, "{found:?}");
}

/// A spherical pendulum in a general motion: its height oscillates with a period and turns it by an angle that were
/// integrated in polar angles (DOP853 of SciPy with a relative tolerance of 2e-14). The start itself is on the orbit.
#[test]
fn a_general_motion_returns_up_to_a_turn() {
    let text = "
        coordinates x, y, z
        parameters g = 9.81
        lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
        constraint rod: x^2 + y^2 + z^2 = 1
        initial x = 0.6, z = -0.8, y' = 1.5";
    // Of twice the period the shortest one is given out.
    for guess in ["0.7", "1", "2.1"] {
        let found = of(text, None, Some(guess));
        assert!((found.period - 1.040_009_246_4).abs() < 1e-8, "{guess}: {}", found.period);
        assert_eq!(found.turns.len(), 1, "{:?}", found.turns);
        let turn = found.turns[0].1;
        let off = (turn - 3.513_457_253_1) / TAU;
        assert!((off - off.round()).abs() < 1e-8, "{guess}: {turn}");
        let start = [0.6, 0.0, -0.8, 0.0, 1.5, 0.0];
        let apart = found.state.iter().zip(start).map(|((_, x), y)| (x - y).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-8, "{:?}", found.state);
        assert!(found.residual < 1e-10);
    }
}

/// A turn about an axis that is that of no pair of coordinates: the motion in a central field in space.
#[test]
fn a_motion_in_space_returns_up_to_a_turn_about_its_axis() {
    let plane = of(
        "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 + 1/sqrt(x^2 + y^2) + 0.05/(x^2 + y^2)
        initial x = 0.6, y' = 1.5",
        None,
        Some("3"),
    );
    let space = of(
        "
        coordinates x, y, z
        parameters r = sqrt(2)
        lagrangian (x'^2 + y'^2 + z'^2)/2 + 1/sqrt(x^2 + y^2 + z^2) + 0.05/(x^2 + y^2 + z^2)
        initial x = 0.6, y' = 1.5/r, z' = 1.5/r",
        None,
        Some("3"),
    );
    assert!((plane.period - space.period).abs() < 1e-8, "{} {}", plane.period, space.period);
    let size = space.turns.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
    assert!(
        (plane.turns[0].1.abs() - size).abs() < 1e-7,
        "{:?} {:?}",
        plane.turns,
        space.turns
    );
}

/// A driven sleigh that comes to rest in its place while it turns to and fro: derivatives begin as high powers of time.
/// Its speed and its angle are linear: the multipliers are exponentials (NumPy).
#[test]
fn a_driven_sleigh_comes_to_rest_in_its_place() {
    let found = of(
        "
        coordinates x, y, a
        parameters w = 1.3, c = 0.2
        lagrangian (x'^2 + y'^2 + a'^2)/2
        constraint blade: y'*cos(a) - x'*sin(a) = 0
        force a: cos(w*t) - 0.3*a' - a
        force x: -c*x'
        force y: -c*y'
        initial x' = 1",
        None,
        Some("2*pi/w"),
    );
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
    let wanted =
        [[0.032_014_01, 0.483_273_63], [0.032_014_01, -0.483_273_63], [0.380_357_42, 0.0]];
    for (found, wanted) in found.multipliers.iter().zip(wanted) {
        let off = libm::hypot(found[0] - wanted[0], found[1] - wanted[1]);
        assert!(off < 1e-7, "{found:?} for {wanted:?}");
    }
}

/// A spherical pendulum: energy and angular momentum leave the motion and the turn alone, so that its motions nearby
/// are others of the same kind. Without that symmetry two degrees of freedom have more directions than integrals.
#[test]
fn motions_up_to_a_turn_that_integrals_hold_are_stable() {
    let text = |more: &str| {
        format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*z{more}\n\
             constraint rod: x^2 + y^2 + z^2 = 1\ninitial x = 0.8, z = -0.6, y' = 1.5"
        )
    };
    let found = of(&text(""), None, Some("1.1"));
    assert_eq!(found.turns.len(), 1, "{:?}", found.turns);
    assert_eq!(found.stability, Stability::Stable);
    let swing = text(" - 3*x^2").replace("y' = 1.5", "y' = 0");
    let found = of(&swing, None, Some("1.6"));
    assert_ne!(found.stability, Stability::Stable, "{:?}", found.multipliers);
}

/// The circle r² = m of the normal form of Hopf: least and greatest values of x are those of its radius, not of the
/// nearest step.
#[test]
fn extents_lie_between_steps() {
    let text = "
        coordinates x, y
        parameters m = 0.3
        equation x' = m*x - 2*y - x*(x^2 + y^2)
        equation y' = 2*x + m*y - y*(x^2 + y^2)
        initial x = 0.37, y = 0.41";
    let found = along(text, ("m", 0.3, 1.0), Some("pi"), None);
    for point in &found.branches[0].points {
        let radius = point.parameter.sqrt();
        for extent in &point.extent {
            // Sixty steps in a period: the parabola is right to (π/60)⁴/8.
            assert!((extent[0] + radius).abs() < 1e-5 * radius, "{point:?}");
            assert!((extent[1] - radius).abs() < 1e-5 * radius, "{point:?}");
        }
    }
}

/// A swing along x in a potential of two degrees of freedom: for each value of the parameter there is one for every
/// energy, which makes two multipliers one to the errors of integration and is no branch point. The period at the end
/// is that of x'' = -k x - x³ for its amplitude.
#[test]
fn families_of_energies_are_followed_over_a_parameter() {
    let text = "
        coordinates x, y
        parameters k = 1
        lagrangian (x'^2 + y'^2)/2 - k*x^2/2 - 2.2*y^2 - x^2*y^2/2 - x^4/4 - y^3/3
        initial x = 1";
    let found = along(text, ("k", 1.0, 2.0), Some("5"), None);
    let branch = &found.branches[0];
    assert!(
        branch.end == "range" && branch.points.len() < 150,
        "{} points",
        branch.points.len()
    );
    assert!(branch.special.iter().all(|s| s.kind != "branch"), "{:?}", branch.special);
    let last = branch.points.last().expect("it has points");
    let (k, [_, high]) = (last.parameter, last.extent[0]);
    // x' = √((A² − x²)(k + (A² + x²)/2)) by the elliptic integral of m = A²/(2 (k + A²)).
    let (mut a, mut b) = (1.0, (1.0 - high * high / (2.0 * (k + high * high))).sqrt());
    for _ in 0..30 {
        (a, b) = (f64::midpoint(a, b), (a * b).sqrt());
    }
    let exact = TAU / (a * (k + high * high).sqrt());
    // The extent is that of a parabola through steps.
    assert!(
        (last.period.expect("it has one") - exact).abs() < 1e-4 * exact,
        "{last:?} {exact}"
    );
}
