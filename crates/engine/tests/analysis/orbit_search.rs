//! Periodic motions from starts that are not near to them, or at which contacts are closed.

use pfaff::{Model, Orbit, OrbitRequest, Stability, orbit};

use super::orbit::of;

const SPHERICAL: &str = "
    coordinates x, y, z
    parameters g = 9.81
    lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
    constraint rod: x^2 + y^2 + z^2 = 1
    initial x = 0.6, z = -0.8, y' = 1.2";

/// The time between two heights of a spherical pendulum of length 1, from its energy and angular momentum: with the
/// roots of z'² = 2(E − gz)(1 − z²) − h² = 2g(z − z₁)(z₂ − z)(z₃ − z) it is ∫ dz/z', twice.
fn period_of(found: &Orbit) -> f64 {
    let value = |name: &str| found.state.iter().find(|(own, _)| own == name).unwrap().1;
    let [x, y, z] = ["x", "y", "z"].map(value);
    let [u, v, w] = ["x'", "y'", "z'"].map(value);
    let g = 9.81;
    let energy = (u * u + v * v + w * w) / 2.0 + g * z;
    let h = x * v - y * u;
    let square = |z: f64| 2.0 * (energy - g * z) * (1.0 - z * z) - h * h;
    let derivative = |z: f64| -2.0 * g * (1.0 - z * z) - 4.0 * z * (energy - g * z);
    // Between the roots the function is positive; its top is where the derivative vanishes.
    let bisect = |f: &dyn Fn(f64) -> f64, mut a: f64, mut b: f64| {
        for _ in 0..200 {
            let c = 0.5 * (a + b);
            if f(a) * f(c) <= 0.0 { b = c } else { a = c }
        }
        0.5 * (a + b)
    };
    let top = bisect(&derivative, -1.0, 1.0);
    let (low, high) = (bisect(&square, -1.0, top), bisect(&square, top, 1.0));
    let third = energy / g - low - high;
    // z = middle + half sin θ: the integrand is smooth and periodic, the rule exact.
    let (middle, half, n) = (0.5 * (low + high), 0.5 * (high - low), 400);
    let term = |k: usize| {
        let θ = std::f64::consts::TAU * k as f64 / n as f64;
        1.0 / (2.0 * g * (third - middle - half * θ.sin())).sqrt()
    };
    (0..n).map(term).sum::<f64>() * std::f64::consts::TAU / n as f64
}

/// Each motion of a spherical pendulum returns up to a turn about the vertical: from a guess of the period that is a
/// little off, from a surface, and from one that is met twice in a period.
#[test]
fn a_spherical_pendulum_returns_after_a_turn() {
    for found in [
        of(SPHERICAL, None, Some("1")),
        of(SPHERICAL, Some("rising z'"), None),
        of(SPHERICAL, Some("z'"), None),
    ] {
        assert_eq!(found.turns.len(), 1, "{:?}", found.turns);
        let period = period_of(&found);
        // Newton's iteration ends at 1e-8 of the state.
        assert!((found.period - period).abs() < 1e-8, "{} and {period}", found.period);
    }
}

fn gallery(name: &str) -> Orbit {
    let model = Model::gallery(name).unwrap();
    orbit(&model, &OrbitRequest::default(), &mut || true).expect("there is a periodic motion")
}

/// Of two events that change modes, that after which the first mode holds.
#[test]
fn a_walker_begins_after_the_event_that_leads_to_the_first_mode() {
    let found = gallery("compass_walker");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
}
