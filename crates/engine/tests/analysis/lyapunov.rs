//! Lyapunov exponents against closed forms, symmetries and published values.

use pfaff::{Lyapunov, LyapunovRequest, Model, lyapunov};

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
