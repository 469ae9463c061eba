//! More rows: steady motions, orbits, test sets, and the reference tables.

use pfaff::{
    ContinueRequest, GaitRequest, LinearizeRequest, Method, Model, OrbitRequest, Run,
    continue_equilibria, gait, linearize, orbit,
};
use serde_json::Value;

use super::{Row, row};
use crate::support;

fn parsed(text: &str) -> Model {
    Model::parse(text).expect("the text is right")
}

/// Frequencies of a steady motion from the initial state, ascending and without repetitions.
fn frequencies(text: &str) -> Vec<f64> {
    let found = linearize(&parsed(text), &LinearizeRequest::default()).expect("it is steady");
    let mut list: Vec<f64> =
        found.eigenvalues.iter().filter(|v| v[1] > 1e-9).map(|v| v[1]).collect();
    list.sort_by(f64::total_cmp);
    list.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    list
}

pub(super) fn steady(rows: &mut Vec<Row>) {
    let conical = "
        coordinates x, y, z
        parameters l = 2, g = 9.81, w = 3
        lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
        constraint rod: x^2 + y^2 + z^2 = l^2
        initial x = sqrt(l^2 - (g/w^2)^2), z = -g/w^2, y' = w*sqrt(l^2 - (g/w^2)^2)";
    let cos: f64 = 9.81 / 18.0;
    rows.push(row(
        "conical pendulum in Cartesian coordinates, frequency about its cone",
        "w √(1 + 3 cos²θ), cos θ = g/(l w²)",
        3.0 * (1.0 + 3.0 * cos * cos).sqrt(),
        frequencies(conical)[0],
        12,
    ));
    let (m2, m3) = (0.02_f64, 0.01_f64);
    let total = 1.0 + m2 + m3;
    let (w, h) = (total.sqrt(), 3.0_f64.sqrt() / 2.0);
    let (cx, cy) = ((m2 + 0.5 * m3) / total, m3 * h / total);
    let mut text = "
        coordinates x1, y1, x2, y2, x3, y3
        parameters m1 = 1, m2 = 0.02, m3 = 0.01
        let r12 = sqrt((x1-x2)^2 + (y1-y2)^2)
        let r13 = sqrt((x1-x3)^2 + (y1-y3)^2)
        let r23 = sqrt((x2-x3)^2 + (y2-y3)^2)
        lagrangian m1*(x1'^2+y1'^2)/2 + m2*(x2'^2+y2'^2)/2 + m3*(x3'^2+y3'^2)/2 + m1*m2/r12 + m1*m3/r13 + m2*m3/r23
        "
    .to_owned();
    for (k, [x, y]) in [[-cx, -cy], [1.0 - cx, -cy], [0.5 - cx, h - cy]].into_iter().enumerate()
    {
        let k = k + 1;
        text += &format!(
            "initial x{k} = {x:?}, y{k} = {y:?}, x{k}' = {:?}, y{k}' = {:?}\n        ",
            -w * y,
            w * x
        );
    }
    let found = frequencies(&text);
    let c = 6.75 * (m2 + m2 * m3 + m3) / (total * total);
    let root = (1.0 - 4.0 * c).sqrt();
    let wanted = [0.5 * (1.0 - root), 0.5 * (1.0 + root)].map(|s| w * s.sqrt());
    let names = [
        "triangle of Lagrange, masses 1, 0.02, 0.01, slow frequency",
        "triangle of Lagrange, masses 1, 0.02, 0.01, fast frequency",
    ];
    for (name, theirs) in names.into_iter().zip(wanted) {
        let near = |a: &&f64, b: &&f64| (*a - theirs).abs().total_cmp(&(*b - theirs).abs());
        let ours = *found.iter().min_by(near).expect("it swings");
        rows.push(row(name, "λ⁴ + λ²ω² + 27/4 Σmₖmₗ/M² ω⁴ = 0 (Routh 1875)", theirs, ours, 9));
    }
    let column = parsed(
        "
         coordinates a, b
         parameters P = 0.2, d = 0.05
         lagrangian (3*a'^2 + b'^2 + 2*cos(a - b)*a'*b')/2 - (a^2 + (b - a)^2)/2
         dissipation d*(a'^2 + (b' - a')^2)/2
         force a: P*sin(a - b)",
    );
    let request = ContinueRequest {
        parameter: "P".into(),
        from: 0.2,
        to: 3.0,
        ..ContinueRequest::default()
    };
    let found = continue_equilibria(&column, &request, &mut || true).expect("it rests");
    let mut all = found.branches.iter().flat_map(|branch| &branch.special);
    let ours = all.find(|s| s.kind == "hopf").map_or(f64::NAN, |s| s.parameter);
    rows.push(row(
        "column of Ziegler with a follower force and damping 0.05, Hopf point",
        "41/28 + d²/2 (Herrmann and Jong 1965)",
        41.0 / 28.0 + 0.5 * 0.05 * 0.05,
        ours,
        10,
    ));
}

pub(super) fn orbits(rows: &mut Vec<Row>) {
    let lorenz = parsed(
        "
         coordinates x, y, z
         equation x' = 10*(y - x)
         equation y' = x*(28 - z) - y
         equation z' = x*y - 8/3*z
         initial x = 1, y = 1, z = 20",
    );
    let request = OrbitRequest { period: Some("1.55".into()), ..OrbitRequest::default() };
    let cycle = orbit(&lorenz, &request, &mut || true).expect("it has cycles");
    rows.push(row(
        "Lorenz's system, period of its shortest cycle",
        "Viswanath 2003",
        1.558_652_210_716_174_7,
        cycle.period,
        11,
    ));
    let wheel = parsed(
        "
         coordinates a
         parameters g = 9.81, l = 1, s = 0.08, al = 0.3
         lagrangian l^2*a'^2/2 - g*l*cos(a)
         event rising step: a - s - al
         on step: a = a - 2*al, a' = cos(2*al)*a'
         initial a = -0.2, a' = 1.2
         solve t = 0..10",
    );
    let found = orbit(&wheel, &OrbitRequest::default(), &mut || true).expect("it rolls");
    let e = libm::cos(0.6_f64).powi(2);
    let gain = 2.0 * 9.81 * (libm::cos(0.08_f64 - 0.3) - libm::cos(0.08_f64 + 0.3));
    rows.push(row(
        "rimless wheel on a slope, speed after a step",
        "√(e d/(1 − e)), e = cos²2α (McGeer 1990)",
        (e * gain / (1.0 - e)).sqrt(),
        found.state[1].1,
        10,
    ));
    rows.push(row(
        "rimless wheel on a slope, multiplier of the step",
        "cos²2α (McGeer 1990)",
        e,
        found.multipliers[0][0],
        7,
    ));
    let arms = parsed(
        "
         coordinates th, r, a
         group SO(2): th
         parameters J = 2, m = 1
         lagrangian J*th'^2/2 + m*(r'^2 + r^2*(th' + a')^2)/2",
    );
    let request = GaitRequest {
        shape: vec!["r".into(), "a".into()],
        path: Some("r = 1 + 0.5*cos(s), a = 0.7*sin(s)".into()),
        ..GaitRequest::default()
    };
    let found = gait(&arms, &request, &mut || true).expect("it turns");
    // By the rule of the trapezium, which is exact to rounding for periodic functions.
    let count = 256;
    let step = std::f64::consts::TAU / f64::from(count);
    let rate = |k: i32| {
        let s = step * f64::from(k);
        let r = 1.0 + 0.5 * libm::cos(s);
        -r * r / (2.0 + r * r) * 0.7 * libm::cos(s) * step
    };
    rows.push(row(
        "free body with an arm, turn over a loop of its shape",
        "−∮ m r²/(J + m r²) da",
        (0..count).map(rate).sum(),
        found.displacement[0].1,
        10,
    ));
}

/// The last position of a run by Radau's method.
fn last(text: &str, tolerance: f64, place: usize) -> f64 {
    let run = Run {
        method: Some(Method::Radau),
        tolerance: Some(tolerance),
        samples: Some(2),
        ..Run::default()
    };
    let motion = parsed(text).run(&run).expect("it runs");
    *motion.q[place].values.last().expect("it has an end")
}

pub(super) fn test_set(rows: &mut Vec<Row>) {
    let axis = "
        coordinates xl, yl, xr, yr
        parameters M = 10, eps = 0.01, L = 1, L0 = 0.5, r = 0.1, w = 10
        let k = M*eps^2/2
        let yb = r*sin(w*t)
        let xb = sqrt(L^2 - yb^2)
        kinetic k*(xl'^2 + yl'^2 + xr'^2 + yr'^2)/2
        potential (sqrt(xl^2 + yl^2) - L0)^2/2 + (sqrt((xr - xb)^2 + (yr - yb)^2) - L0)^2/2 + k*(yl + yr)
        constraint axle: xb*xl + yb*yl = 0
        constraint rod: (xl - xr)^2 + (yl - yr)^2 = L^2
        initial xl = 0, yl = L0, xr = L, yr = L0, xl' = -L0/L, yl' = 0, xr' = -L0/L, yr' = 0
        solve t = 0..3";
    let source = "Test Set for IVP Solvers (Mazzia and Magherini 2008)";
    let wanted = [
        ("car axis, left wheel, yl at t = 3", 1, 0.496_989_460_230_171_15),
        ("car axis, right wheel, xr at t = 3", 2, 1.041_742_524_885_421_5),
        ("car axis, right wheel, yr at t = 3", 3, 0.373_911_027_265_361_25),
    ];
    for (what, place, theirs) in wanted {
        rows.push(row(what, source, theirs, last(axis, 1e-12, place), 9));
    }
    let robertson = "
        coordinates a, b, c
        equation a' = -0.04*a + 1e4*b*c
        equation b' = 0.04*a - 1e4*b*c - 3e7*b^2
        equation c' = 3e7*b^2
        initial a = 1
        solve t = 0..1e11";
    rows.push(row(
        "Robertson's reaction, third concentration at t = 1e11",
        source,
        0.999_999_979_166_505,
        last(robertson, 1e-10, 2),
        12,
    ));
}

/// The worst position of all motions of a reference table, relative to 1 + |b|.
pub(super) fn tables(rows: &mut Vec<Row>) {
    let tables = [
        (
            "worst position of the reference motions after Chetaev",
            include_str!("../../reference/trajectories.json"),
        ),
        (
            "worst position of the vakonomic reference motions",
            include_str!("../../reference/vakonomic.json"),
        ),
    ];
    for (what, text) in tables {
        let table: Value = serde_json::from_str(text).expect("the table is JSON");
        let mut worst = (0.0, f64::NAN, f64::NAN);
        for case in table["cases"].as_array().expect("a list of cases") {
            let Some(times) = case["times"].as_array() else { continue };
            let times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
            let model = support::model(case["model"].as_str().expect("a text"));
            let run = Run { at: Some(times), tolerance: Some(1e-12), ..Run::default() };
            let motion = support::run(&model, &run);
            for series in &motion.q {
                let Some(list) = case["q"][&series.name].as_array() else { continue };
                for (ours, theirs) in series.values.iter().zip(list) {
                    let theirs = theirs.as_f64().expect("a number");
                    let off = (ours - theirs).abs() / (1.0 + theirs.abs());
                    if off > worst.0 || worst.1.is_nan() {
                        worst = (off, theirs, *ours);
                    }
                }
            }
        }
        // One is added to both, so that digits are those relative to 1 + |b|.
        let lift = |x: f64| x + 1.0_f64.copysign(worst.1);
        rows.push(row(
            what,
            "extended precision, in parts of 1 + abs b",
            lift(worst.1),
            lift(worst.2),
            9,
        ));
    }
}
