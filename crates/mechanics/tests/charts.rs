//! What rows are solved for: strong coefficients, and charts where a coefficient may vanish.

use pfaff_mechanics::{ChartPoint, Class, reduce};

use crate::support::model;

/// The coefficient that is largest at the point is divided by, after scaling.
#[test]
fn charts_are_chosen_at_the_point() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2
        constraint tilt: x*x' + y*y' + sin(z)*z' = 0";
    let m = model(text).workspace();
    let chosen = |q: [f64; 3], scale: &[f64]| {
        let point = ChartPoint { t: 0.0, q: &q, scale };
        let r = reduce(&m, &[Class::Linear], point).unwrap();
        assert_eq!(r.charts.len(), 1);
        assert_eq!(r.charts[0].candidates.len(), 3);
        assert_eq!((r.charts[0].row, r.charts[0].pivot), (Some(0), r.pivots[0][0]));
        r.charts[0].pivot
    };
    assert_eq!(chosen([2.0, 1.0, 1.0], &[]), 0);
    assert_eq!(chosen([0.1, -1.0, 0.5], &[]), 1);
    assert_eq!(chosen([0.1, 0.2, 1.5], &[]), 2);
    assert_eq!(chosen([2.0, 1.0, 1.0], &[1.0, 10.0, 1.0]), 1);
    // A coefficient that vanishes everywhere is no candidate.
    let hidden = text.replace("sin(z)*z'", "(sin(z)^2 + cos(z)^2 - 1)*z'");
    let point = ChartPoint { t: 0.0, q: &[2.0, 1.0, 1.0], scale: &[] };
    let r = reduce(&model(&hidden).workspace(), &[Class::Linear], point).unwrap();
    assert_eq!(r.charts[0].candidates.len(), 2);
    let point = ChartPoint { t: 0.0, q: &[0.0, 0.0, 0.0], scale: &[] };
    assert!(reduce(&m, &[Class::Linear], point).is_none(), "nothing can be divided by");
}

/// A coefficient that is positive everywhere needs no chart, one that may vanish is watched.
#[test]
fn charts_are_needed_where_a_coefficient_may_vanish() {
    let charts = |coefficient: &str| {
        let text = format!(
            "coordinates x, y, z\nparameters k = 2, l = -2\nlagrangian (x'^2 + y'^2 + z'^2)/2
             constraint c: ({coefficient})*z' = sin(y)*x' + x*y'"
        );
        let m = model(&text).workspace();
        let point = ChartPoint { t: 0.0, q: &[0.5, 0.7, 0.3], scale: &[] };
        reduce(&m, &[Class::Linear], point).expect(coefficient).charts.len()
    };
    for positive in [
        "3",
        "l",
        "2 + x^2",
        "k + y^4",
        "exp(x)",
        "cosh(y)",
        "sqrt(1 + x^2)",
        "1 + abs(x)",
        "(1 + x^2)*(3 + y^2)",
        "(k + x^2)/(2 + y^2)",
        "k + l + exp(x)",
        &nested(20),
    ] {
        assert_eq!(charts(positive), 0, "{positive}");
    }
    for other in [
        "x",
        "x^2",
        "l + x^2",
        "x^2 - 1",
        "2 + x",
        "2 + x^3",
        "abs(x)",
        "(1 + x^2)*x^2",
        "(1 + x^2)*(l + y^2)",
        "sqrt(x^2)",
        "x^2 + y^2",
        "2 + sin(x)*3",
        "exp(x) + l",
        &nested(21),
    ] {
        assert_eq!(charts(other), 1, "{other}");
    }
}

/// What is divided by is more than a tenth of the largest coefficient of its row, and more than rounding.
#[test]
fn pivots_are_strong() {
    let reduced = |row: &str| {
        let text = format!(
            "coordinates x, y, z\nparameters k = 1e-11, l = 1.1e-11\nlagrangian (x'^2 + y'^2 + z'^2)/2
             constraint c: {row} = 0"
        );
        let m = model(&text).workspace();
        let point = ChartPoint { t: 0.0, q: &[0.5, 0.7, 0.0], scale: &[] };
        let r = reduce(&m, &[Class::Linear], point)?;
        Some((r.pivots[0].clone(), r.charts.len()))
    };
    assert_eq!(reduced("x' + 10*y'"), Some((vec![1], 0)), "a tenth");
    assert_eq!(reduced("1.1*x' + 10*y'"), Some((vec![0], 0)), "more than a tenth");
    assert_eq!(reduced("k*x'"), None, "rounding");
    assert_eq!(reduced("l*x'"), Some((vec![0], 0)), "more than rounding");
    assert_eq!(reduced("(k + z^2)*x'"), None, "rounding at the point");
    assert_eq!(reduced("(l + z^2)*x'"), Some((vec![0], 0)), "positive");
    assert_eq!(reduced("(l + z)*x'"), Some((vec![0], 1)), "to be watched");
    // Nothing in the sum of squares is more than rounding.
    assert_eq!(reduced("k*x'*cos(z) + k*y'*sin(z)"), None);
}

/// 1 + y²(1 + y²(… x²)), positive, with a square at twice this depth: beyond 40 nobody looks.
fn nested(depth: usize) -> String {
    (0..depth).fold("x^2".to_owned(), |inner, _| format!("1 + y^2*({inner})"))
}
