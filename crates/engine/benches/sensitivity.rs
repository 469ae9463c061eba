//! What sensitivities cost beside the motion itself: `cargo bench -p pfaff --bench sensitivity [model] [tolerance]`.
//!
//! Milliseconds of whole runs with their audits, with and without sensitivities in turn, and the ratio beside 1 + 0.7 p
//! for p of them.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::Instant;

use pfaff::{Method, Model, Run, gallery_model};

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

const LINKAGE: &str = "\
coordinates a, b, c
parameters r1 = 0.4, r2 = 1.2, r3 = 0.9, d = 1, m = 1, T = 0.8, k = 0.5, g = 9.81
let e(u) = [cos(u), sin(u)]
let A = r1*e(a)
let C = [d, 0] + r3*e(c)
let mid = A + r2/2*e(b)
kinetic m*r1^2*a'^2/6 + m*dot(mid', mid')/2 + m*r2^2*b'^2/24 + m*r3^2*c'^2/6
potential m*g*(A[2]/2 + mid[2] + C[2] - r3*sin(c)/2)
force a: T - k*a'
constraint loop: A + r2*e(b) = C
initial a = 0.3, a' = 3
";

const DUFFING: &str = "\
coordinates x, y
parameters k = 1, c = 0.02, b = 0.3, e = 0.1, F = 0.4, w = 1.3
equation x'' = -k*x - b*x^3 - c*x' + e*y + F*cos(w*t)
equation y'' = -2*k*y - c*y' + e*x - b*x*y
initial x = 0.5, y = 0.2
";

/// A model, the length of its runs, and by what it is differentiated.
struct Case {
    name: &'static str,
    text: String,
    t1: f64,
    names: [&'static str; 8],
}

fn cases() -> Vec<Case> {
    let gallery = |name: &str| gallery_model(name).expect("it is there").text.to_owned();
    let case = |name, text: String, t1, names| Case { name, text, t1, names };
    let of_disk = ["R", "m", "g", "beta", "psi'(0)", "phi'(0)", "x(0)", "phi(0)"];
    vec![
        case(
            "sleigh",
            SLEIGH.to_owned(),
            500.0,
            ["a", "J", "m", "k", "x(0)", "y(0)", "phi(0)", "x'(0)"],
        ),
        case(
            "double pendulum",
            PENDULUM.to_owned(),
            100.0,
            ["l", "m", "g", "r", "n", "a(0)", "b(0)", "a'(0)"],
        ),
        case("disk", gallery("disk"), 200.0, of_disk),
        case(
            "rattleback",
            gallery("rattleback"),
            5.0,
            ["a", "b", "c", "h", "m", "g", "alpha(0)", "beta(0)"],
        ),
        case("linkage", LINKAGE.to_owned(), 200.0, ["r1", "r2", "r3", "d", "m", "T", "k", "g"]),
        case(
            "four_bar",
            gallery("four_bar"),
            200.0,
            ["r1", "r2", "r3", "d", "m", "T", "k", "g"],
        ),
        case(
            "vakonomic sleigh",
            format!("{SLEIGH}principle vakonomic\ninitial multipliers = zero\n"),
            50.0,
            ["a", "J", "m", "k", "x(0)", "y(0)", "phi(0)", "x'(0)"],
        ),
        case(
            "equation",
            DUFFING.to_owned(),
            200.0,
            ["k", "c", "b", "e", "F", "w", "x(0)", "y(0)"],
        ),
    ]
}

/// Milliseconds of this thread's work, where the system tells, so that others do not count; else of the clock.
fn now(begin: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    told.map_or_else(|| begin.elapsed().as_secs_f64() * 1e3, |nanoseconds| nanoseconds / 1e6)
}

/// The mean milliseconds of two kinds of runs, some of each in turn: the time of a thread is told in steps of
/// milliseconds.
fn mean(model: &Model, requests: [&Run; 2]) -> [f64; 2] {
    const TURNS: usize = 4;
    const TURN: f64 = 60.0;
    let begin = Instant::now();
    let (mut spent, mut count) = ([0.0; 2], [0.0; 2]);
    for _ in 0..TURNS {
        for (k, request) in requests.iter().enumerate() {
            let before = now(begin);
            while now(begin) < before + TURN {
                let motion = model.run(request).expect("it runs");
                assert!(motion.q[0].values.iter().all(|x| x.is_finite()));
                count[k] += 1.0;
            }
            spent[k] += now(begin) - before;
        }
    }
    [spent[0] / count[0], spent[1] / count[1]]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let wanted = |name: &str| arguments.first().is_none_or(|a| name.contains(a.as_str()));
    println!(
        "model             method  tolerance   p   plain ms   with ms   ratio   1 + 0.7 p   steps"
    );
    for Case { name, text, t1, names } in cases().into_iter().filter(|c| wanted(c.name)) {
        let model = Model::parse(&text).expect("a model");
        for tolerance in [1e-8, 1e-10, 1e-12] {
            if arguments.get(1).is_some_and(|a| a.parse() != Ok(tolerance)) {
                continue;
            }
            let plain = Run::to(t1).samples(21).method(Method::Auto).tolerance(tolerance);
            let steps = |request: &Run| {
                let motion = model.run(request).expect("it runs");
                (motion.method, motion.statistics.steps, motion.statistics.evaluations)
            };
            for count in [1, 3, 8] {
                let with = plain.clone().sensitivity(&names[..count].join(", "));
                let [a, b] = mean(&model, [&plain, &with]);
                let (method, steps_a, _) = steps(&plain);
                let (_, steps_b, _) = steps(&with);
                println!(
                    "{name:17} {method:8} {tolerance:8.0e} {count:4} {a:10.2} {b:9.2} {:7.2} {:8.1} \
                     {steps_a:8} {steps_b}",
                    b / a,
                    1.0 + 0.7 * count as f64
                );
            }
        }
    }
}
