//! The gallery: values at a point against formulas written by hand.

use pfaff_expr::Expr;
use pfaff_model::{AffineWord, Dynamics, Quantity, TerminalValue};

use super::support::{close, close_all, evaluate, gallery, lagrangian, names, state};

#[test]
fn sleigh() {
    let model = gallery("sleigh");
    assert_eq!(model.title.as_deref(), Some("Chaplygin sleigh"));
    let (q, v) = state(&model);
    let (m, j, a) = (1.0, 0.5, 0.2);
    let (s, c) = (libm::sin(q[2]), libm::cos(q[2]));
    let (x, y) = (v[0] - a * s * v[2], v[1] + a * c * v[2]);
    close(
        evaluate(&model, lagrangian(&model)),
        m * (x * x + y * y) / 2.0 + j * v[2] * v[2] / 2.0,
    );
    close_all(&model, &[model.constraints[0].expr], &[v[1] * c - v[0] * s]);
    assert_eq!(names(&model), ["blade"]);
    close_all(&model, &[model.observed[0].expr], &[v[0] * c + v[1] * s]);
    assert_eq!(model.solve.range, Some((0.0, 20.0)));
    assert_eq!(model.solve.tolerance, 1e-10);
    assert_eq!(model.solve.samples, 201);
    let data: Vec<Quantity> = model.initial.iter().map(|d| d.quantity).collect();
    assert_eq!(data, [Quantity::Coordinate(0, 1), Quantity::Coordinate(2, 1)]);
    let abbreviations: Vec<&str> =
        model.abbreviations.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(abbreviations, ["X", "Y"]);
}

#[test]
fn appell_hamel() {
    let model = gallery("appell_hamel");
    let (q, v) = state(&model);
    let speed = (v[0] * v[0] + v[1] * v[1]).sqrt();
    let expected =
        2.0 * (v[0] * v[0] + v[1] * v[1]) / 2.0 + 0.5 * v[2] * v[2] / 2.0 - 0.5 * 9.81 * q[2];
    close(evaluate(&model, lagrangian(&model)), expected);
    close(evaluate(&model, model.constraints[0].expr), v[2] - 0.6 * speed);
}

#[test]
fn disk() {
    let model = gallery("disk");
    let (q, v) = state(&model);
    let (m, r, g, beta) = (1.0, 0.4, 9.81, 0.2);
    let kinetic = m * (v[2] * v[2] + v[3] * v[3]) / 2.0
        + m * r * r / 2.0 * v[0] * v[0] / 2.0
        + m * r * r / 4.0 * v[1] * v[1] / 2.0;
    close(evaluate(&model, lagrangian(&model)), kinetic + m * g * libm::sin(beta) * q[2]);
    let expected = [v[2] - r * libm::cos(q[1]) * v[0], v[3] - r * libm::sin(q[1]) * v[0]];
    close_all(&model, &[model.constraints[0].expr, model.constraints[1].expr], &expected);
    let Dynamics::Lagrangian { kinetic: t, potential, .. } = model.dynamics else {
        panic!("kinetic and potential were given")
    };
    close(evaluate(&model, t.expect("given")), kinetic);
    close(evaluate(&model, potential.expect("given")), -m * g * libm::sin(beta) * q[2]);
}

#[test]
fn ball_on_turntable() {
    let model = gallery("ball_on_turntable");
    let (q, v) = state(&model);
    let (m, r, om) = (1.0, 0.5, 1.4);
    let inertia = 0.4 * m * r * r;
    let (psi, theta) = (q[2], q[3]);
    let (psi_v, theta_v, phi_v) = (v[2], v[3], v[4]);
    // Spatial angular velocity for the angles z-x-z (Euler).
    let omega = [
        theta_v * libm::cos(psi) + phi_v * libm::sin(theta) * libm::sin(psi),
        theta_v * libm::sin(psi) - phi_v * libm::sin(theta) * libm::cos(psi),
        psi_v + phi_v * libm::cos(theta),
    ];
    let square: f64 = omega.iter().map(|w| w * w).sum();
    let kinetic = m * (v[0] * v[0] + v[1] * v[1]) / 2.0 + inertia * square / 2.0;
    close(evaluate(&model, lagrangian(&model)), kinetic);
    // slip = c' + ω × (0, 0, −r) − Om (−y, x, 0)
    let slip = [v[0] - omega[1] * r + om * q[1], v[1] + omega[0] * r - om * q[0]];
    close_all(&model, &[model.constraints[0].expr, model.constraints[1].expr], &slip);
}

#[test]
fn thermostat() {
    let model = gallery("thermostat");
    let (q, v) = state(&model);
    assert_eq!(model.coordinates[3].name, "r[2,2]");
    let mut expected: f64 = v.iter().map(|v| v * v / 2.0).sum();
    expected -= q.iter().map(|q| q * q).sum::<f64>() / 2.0;
    for i in 0..4 {
        for j in 0..i {
            let (x, y) = (q[2 * i] - q[2 * j], q[2 * i + 1] - q[2 * j + 1]);
            expected -= 1.0 / (x * x + y * y);
        }
    }
    close(evaluate(&model, lagrangian(&model)), expected);
    let kinetic: f64 = v.iter().map(|v| v * v / 2.0).sum();
    close(evaluate(&model, model.constraints[0].expr), kinetic - 1.75);
    assert_eq!(model.initial.len(), 16);
    close(evaluate(&model, model.initial[4].value), -0.0);
}

/// The chain of knife edges at a state, by its own formulas.
fn chain(q: &[f64], v: &[f64], n: usize) -> (f64, Vec<f64>) {
    let (m, j, b, k) = (1.0, 0.1, 0.5, 0.5);
    let (th, om) = (&q[2..], &v[2..]);
    let mut c = [v[0], v[1]];
    let (mut energy, mut edges) = (0.0, Vec::new());
    for i in 0..=n {
        if i > 0 {
            for h in [i - 1, i] {
                c[0] += b * libm::sin(th[h]) * om[h];
                c[1] -= b * libm::cos(th[h]) * om[h];
            }
            energy -= k * (th[i] - th[i - 1]) * (th[i] - th[i - 1]) / 2.0;
            edges.push(-libm::sin(th[i]) * c[0] + libm::cos(th[i]) * c[1]);
        }
        energy += m * (c[0] * c[0] + c[1] * c[1]) / 2.0 + j * om[i] * om[i] / 2.0;
    }
    (energy, edges)
}

#[test]
fn trailers() {
    let model = gallery("trailers");
    let (q, v) = state(&model);
    let (energy, edges) = chain(&q, &v, 5);
    close(evaluate(&model, lagrangian(&model)), energy);
    let rows: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    close_all(&model, &rows, &edges);
    assert_eq!(names(&model), ["edge[1]", "edge[2]", "edge[3]", "edge[4]", "edge[5]"]);
    assert_eq!(model.coordinates[2].name, "th[0]");
    let datum = model.initial.iter().find(|d| d.quantity == Quantity::Coordinate(4, 0));
    close(evaluate(&model, datum.expect("th[2]").value), 0.3 * libm::sin(1.8));
}

#[test]
fn affine_body() {
    let model = gallery("affine_body");
    let (q, v) = state(&model);
    let det = q[0] * v[3] + v[0] * q[3] - q[1] * v[2] - v[1] * q[2];
    close(evaluate(&model, model.constraints[0].expr), det);
    assert_eq!(names(&model), ["volume"]);
    assert_eq!(model.constraints[0].word, Some(AffineWord::Isochoric));
    let j = [[1.5, -0.3], [-0.3, 0.8]];
    let at = |x: &[f64], i: usize, k: usize| x[2 * i + k];
    let mut expected = 0.0;
    for i in 0..2 {
        for a in 0..2 {
            for b in 0..2 {
                expected += at(&v, i, a) * at(&v, i, b) * j[b][a] / 2.0;
            }
        }
    }
    for a in 0..2 {
        for b in 0..2 {
            let g: f64 = (0..2).map(|i| at(&q, i, a) * at(&q, i, b)).sum();
            let e = g - f64::from(u8::from(a == b));
            expected -= 2.2 / 4.0 * e * e;
        }
    }
    close(evaluate(&model, lagrangian(&model)), expected);
}

#[test]
fn memory_and_path() {
    let model = gallery("memory_constraint");
    assert!(model.graph.has_memory(model.constraints[0].expr));
    let path = gallery("shortest_path");
    assert_eq!(path.principle.name(), "vakonomic");
    assert_eq!(path.terminal.len(), 3);
    assert!(matches!(path.terminal[1].value, TerminalValue::Given(e) if e == path.graph.one()));
}
