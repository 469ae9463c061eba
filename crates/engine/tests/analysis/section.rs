//! Sections against closed forms.

use pfaff::{Model, Section, SectionRequest, StopReason, section, section_many};

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

/// Many starts in lanes have the points that each has alone, in any number, and with other parameters.
#[test]
fn many_starts_have_the_points_of_each() {
    let text = |y: f64, k: f64| {
        format!(
            "coordinates x, y\nparameters k = {k}\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - k*(x^2*y - y^3/3)\n\
             initial y = {y}, x' = 0.4\nsolve t = 0..10, tolerance = 1e-10"
        )
    };
    let models: Vec<Model> = (0..11)
        .map(|i| {
            let (y, k) = (-0.2 + 0.04 * f64::from(i), 1.0 - 0.05 * f64::from(i % 3));
            Model::parse(&text(y, k)).expect("the text is right")
        })
        .collect();
    let request =
        SectionRequest { on: "rising x".into(), count: 25, ..SectionRequest::default() };
    let together = section_many(&models, &request, &mut || true);
    for (model, found) in models.iter().zip(together) {
        let found = found.expect("it begins");
        let alone = section(model, &request, &mut || true).expect("it begins");
        assert_eq!((found.t.len(), &found.stop), (25, &None));
        assert_eq!((&found.t, &found.q, &found.v), (&alone.t, &alone.q, &alone.v));
    }
}

/// By series, by steps (which an exponential asks for) and by runs (which a rod asks for): the same pendulum.
#[test]
fn sections_do_not_depend_on_the_way_they_are_taken() {
    let start = "initial a = 1.2\nsolve t = 0..10, tolerance = 1e-12";
    let series = format!("coordinates a\nlagrangian a'^2/2 + cos(a)\n{start}");
    let steps = format!("coordinates a\nlagrangian a'^2/2 + cos(a) - exp(a)/1e300\n{start}");
    let rod = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 - y
        constraint rod: x^2 + y^2 = 1
        initial x = sin(1.2), y = -cos(1.2)
        solve t = 0..10, tolerance = 1e-12";
    let [a, b, c] =
        [of(&series, "a", 20), of(&steps, "a", 20), of(rod, "x", 20)].map(|found| found.t);
    for k in 0..20 {
        assert!(
            (a[k] - b[k]).abs() < 1e-9 && (a[k] - c[k]).abs() < 1e-8,
            "{k}: {a:?} {b:?} {c:?}"
        );
    }
}

/// A surface that is met twice within a step, nearly touched: x = 0.999 for a cosine.
#[test]
fn two_crossings_within_a_step_are_both_found() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 0, x' = 1\nsolve t = 0..10, tolerance = 1e-6";
    let found = of(text, "x - 0.999", 40);
    let half = libm::acos(0.999);
    for k in 0..20 {
        let top = std::f64::consts::FRAC_PI_2 + std::f64::consts::TAU * k as f64;
        // The tolerance moves the amplitude, and the crossings near the top with it.
        assert!((found.t[2 * k] - (top - half)).abs() < 2e-3, "{k}: {:?}", found.t);
        assert!((found.t[2 * k + 1] - (top + half)).abs() < 2e-3, "{k}: {:?}", found.t);
    }
}
