//! What sensitivities cost beside the motion itself: `cargo bench -p pfaff --bench sensitivity`.
//!
//! Milliseconds of whole runs with their audits, the smallest of many, with and without sensitivities in turn, and the
//! ratio beside 1 + 0.7 p for p of them.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::Instant;

use pfaff::{Method, Model, Run};

const SLEIGH: &str = "\
coordinates x, y, phi
parameters m = 1, J = 0.5, a = 0.2, k = 1
let X = x + a*cos(phi)
let Y = y + a*sin(phi)
lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2 - k*(x^2 + y^2)/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
initial x = 0.8, x' = 0.3, phi' = 0.4
";

const PENDULUM: &str = "\
coordinates a, b
parameters m = 1, l = 1, g = 9.81, r = 0.8, n = 0.5
let P = l*[sin(a), -cos(a)]
let R = P + r*[sin(b), -cos(b)]
lagrangian m*dot(P', P')/2 + n*dot(R', R')/2 - g*(m*P[2] + n*R[2])
initial a = 0.5, b = 0.9
";

/// The smallest of the milliseconds of runs.
fn least(model: &Model, request: &Run) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..15 {
        let begin = Instant::now();
        let motion = model.run(request).expect("it runs");
        least = least.min(begin.elapsed().as_secs_f64() * 1e3);
        assert!(motion.q[0].values.iter().all(|x| x.is_finite()));
    }
    least
}

fn main() {
    println!(
        "model            method   tolerance   p   plain ms   with ms   ratio   1 + 0.7 p"
    );
    let cases = [
        ("sleigh", SLEIGH, 500.0, ["a", "a, J", "a, J, m, k"]),
        ("double pendulum", PENDULUM, 100.0, ["l", "l, m", "l, m, g, r, n"]),
    ];
    for (name, text, t1, lists) in cases {
        let model = Model::parse(text).expect("a model");
        for (method, tolerance) in
            [(Method::Dop853, 1e-8), (Method::Dop853, 1e-10), (Method::Taylor, 1e-10)]
        {
            let plain = Run::to(t1).samples(21).method(method).tolerance(tolerance);
            for list in lists {
                let count = list.split(',').count();
                let with = plain.clone().sensitivity(list);
                let (a, b) = (least(&model, &plain), least(&model, &with));
                println!(
                    "{name:16} {:8} {tolerance:8.0e} {count:4} {a:10.2} {b:9.2} {:7.2} {:8.1}",
                    method.name(),
                    b / a,
                    1.0 + 0.7 * count as f64
                );
            }
        }
    }
}
