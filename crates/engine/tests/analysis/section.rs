//! Sections against closed forms.

use pfaff::{Model, Section, SectionRequest, StopReason, section};

fn of(text: &str, on: &str, count: usize) -> Section {
    let model = Model::parse(text).expect("the text is right");
    let request = SectionRequest { on: on.into(), count, ..SectionRequest::default() };
    section(&model, &request, &mut || true).expect("the motion begins")
}

/// Two uncoupled oscillators: the points of x = 0 lie on a circle, a turn by 2π·√2 apart.
#[test]
fn two_oscillators_fill_a_circle() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - x^2/2 - y^2
        initial x = 1, y = 0.5
        solve t = 0..10, tolerance = 1e-12";
    let found = of(text, "rising x", 50);
    assert_eq!((found.t.len(), &found.stop), (50, &None));
    let ω = 2.0_f64.sqrt();
    for k in 0..50 {
        let t = std::f64::consts::PI * (1.5 + 2.0 * k as f64);
        assert!((found.t[k] - t).abs() < 1e-8, "{k}");
        assert!((found.q[1].values[k] - 0.5 * libm::cos(ω * t)).abs() < 1e-8);
        assert!((found.v[1].values[k] + 0.5 * ω * libm::sin(ω * t)).abs() < 1e-8);
    }
    assert_eq!(of(text, "x", 4).t.len(), 4, "both directions");
    let between = of(text, "x", 2);
    assert!((between.t[1] - between.t[0] - std::f64::consts::PI).abs() < 1e-9);
}

/// On constraints: a pendulum through its lowest point, with the speed that its energy gives.
#[test]
fn a_pendulum_through_its_lowest_point() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - y
        constraint rod: x^2 + y^2 = 1
        initial x = 0.8, y = -0.6
        observe energy_of_it = (x'^2 + y'^2)/2 + y
        event falling bottom: x";
    let found = of(text, "bottom", 5);
    for k in 0..5 {
        assert!(
            found.q[0].values[k].abs() < 1e-9 && (found.q[1].values[k] + 1.0).abs() < 1e-12
        );
        assert!((found.v[0].values[k] + 0.8_f64.sqrt()).abs() < 1e-8);
        assert!((found.observed[0].values[k] + 0.6).abs() < 1e-8);
    }
}

#[test]
fn a_surface_that_is_never_met_says_so() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1";
    let model = Model::parse(text).unwrap();
    let request = SectionRequest {
        on: "x - 2".into(),
        count: 1,
        t1: Some(30.0),
        ..SectionRequest::default()
    };
    let found = section(&model, &request, &mut || true).expect("the motion begins");
    assert!(found.t.is_empty());
    assert_eq!(found.stop, Some((StopReason::End, 30.0)));
    let unknown = SectionRequest { on: "y".into(), count: 1, ..SectionRequest::default() };
    assert!(section(&model, &unknown, &mut || true).is_err());
}
