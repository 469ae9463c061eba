//! The Taylor method on whole trajectories, given L and the constraints: `cargo bench -p pfaff --bench taylor`.
//!
//! Microseconds a run, the smallest of many, compiled once and without output; the error is the largest of
//! all positions at the end, relative to $1 + |q|$, against
//! references in long double. `benches/peers/heyoka_taylor.py` runs this beside heyoka and prints the ratios.
//!
//! With `--only P3`: that problem alone. With `--gallery`: both methods on every gallery model at three
//! tolerances, for the rule of `method = auto`.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::Instant;

use pfaff::{GALLERY, GalleryFiles, Model, Overrides, PreparedRun, Run, Source};

const SLEIGH: &str = "
coordinates  x, y, phi
parameters   m = 1, J = 1, a = 0.05
let          X = x + a*cos(phi)
let          Y = y + a*sin(phi)
lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
initial      x' = -0.9, phi' = 0.4
solve        t = 0..100
";
const DISK: &str = "
coordinates  x, y, th, phi
parameters   m = 1, R = 0.5, I = 0.125, J = 0.0625, g = 9.81, beta = 0.3
lagrangian   m*(x'^2 + y'^2)/2 + I*th'^2/2 + J*phi'^2/2 + m*g*sin(beta)*x
constraint   x' = R*cos(phi)*th'
constraint   y' = R*sin(phi)*th'
initial      x' = 0.5, th' = 1, phi' = 0.7
solve        t = 0..100
";
const BALL: &str = "
coordinates  x, y, z, psi, theta, phi
parameters   m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036
let          w1 = theta'*cos(psi) + phi'*sin(theta)*sin(psi)
let          w2 = theta'*sin(psi) - phi'*sin(theta)*cos(psi)
let          w3 = psi' + phi'*cos(theta)
let          s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
let          n = [-k1*x*s, -k2*y*s, s]
lagrangian   m*(x'^2 + y'^2 + z'^2)/2 + I*(psi'^2 + theta'^2 + phi'^2 + 2*psi'*phi'*cos(theta))/2 - m*g*z
constraint   roll: [x', y', z'] = R*cross([w1, w2, w3], n)
initial      x = 0.6, y = 0.1, z = 0.094, psi = 0.3, theta = 1.3
initial      psi' = PSI, theta' = THETA, phi' = PHI
solve        t = 0..20
";

/// Positions at the end by their places, from `benches/peers/heyoka_taylor.py`.
const P1: [(usize, f64); 3] =
    [(0, -2.145_797_994_892_486), (1, 8.937_635_891_549_606), (2, 53.141_285_090_776_115)];
const P2: [(usize, f64); 4] = [
    (0, 1.733_910_115_220_943_3),
    (1, 137.345_481_140_791_78),
    (2, 102.892_590_878_092_8),
    (3, 70.0),
];
const P3: [(usize, f64); 5] = [
    (0, -0.042_015_225_522_276_42),
    (1, -0.158_778_743_558_459_2),
    (3, 9.250_183_577_499_461),
    (4, 0.912_776_423_921_432_9),
    (5, -10.759_650_595_558_995),
];

fn main() {
    if std::env::args().any(|a| a == "--gallery") {
        gallery();
        return;
    }
    println!(
        "{:<6} {:>8} {:>8} {:>6} {:>10} {:>10}",
        "", "method", "tol", "steps", "µs", "error"
    );
    let only: Option<String> = std::env::args().skip_while(|a| a != "--only").nth(1);
    let ball = ball();
    for (name, text, reference) in
        [("P1", SLEIGH, &P1[..]), ("P2", DISK, &P2), ("P3", ball.as_str(), &P3)]
    {
        if only.as_deref().is_none_or(|only| only == name) {
            problem(name, text, reference);
        }
    }
}

/// The ball with the angular velocity (0.8, 1.5, 0.7).
fn ball() -> String {
    let (w, psi, theta) = ([0.8, 1.5, 0.7], 0.3, 1.3);
    let (s, c) = (libm::sin(psi), libm::cos(psi));
    let phi_rate = (w[0] * s - w[1] * c) / libm::sin(theta);
    let theta_rate = w[0] * c + w[1] * s;
    let psi_rate = w[2] - phi_rate * libm::cos(theta);
    BALL.replace("PSI", &psi_rate.to_string())
        .replace("THETA", &theta_rate.to_string())
        .replace("PHI", &phi_rate.to_string())
}

fn problem(name: &str, text: &str, reference: &[(usize, f64)]) {
    let model = model(text);
    for tolerance in [1e-10, 1e-14] {
        for method in ["taylor", "dop853"] {
            let mut prepared = prepare(&model, method, tolerance);
            let outcome = prepared.integrate();
            let error = |&(i, x): &(usize, f64)| (outcome.y[i] - x).abs() / x.abs().max(1.0);
            let error = reference.iter().map(error).fold(0.0, f64::max);
            let µs = best(|| prepared.integrate());
            println!(
                "{name:<6} {method:>8} {tolerance:>8.0e} {:>6} {µs:>10.2} {error:>10.1e}",
                outcome.statistics.steps
            );
        }
    }
}

/// Both methods on the gallery: microseconds a run, microseconds to make it ready, and the difference of the ends.
fn gallery() {
    println!(
        "{:<28} {:>6} {:>5} {:>9} {:>9} {:>6} {:>9} {:>9} {:>9}",
        "", "tol", "dim", "dop853", "taylor", "ratio", "ready", "ready", "differ"
    );
    for entry in GALLERY.iter().filter(|m| !m.is_large()) {
        let source = Source::new(entry.name, entry.text);
        let Ok(reading) = Model::read(source, &Overrides::default(), &GalleryFiles) else {
            continue;
        };
        for tolerance in [1e-6, 1e-8, 1e-10, 1e-12, 1e-14] {
            let make = |method: &str| PreparedRun::new(&reading, &request(method, tolerance));
            let (Ok(mut a), Ok(mut b)) = (make("dop853"), make("taylor")) else { continue };
            let (x, y) = (a.integrate(), b.integrate());
            let differ =
                x.y.iter()
                    .zip(&y.y)
                    .map(|(x, y)| (x - y).abs() / (1.0 + x.abs()))
                    .fold(0.0, f64::max);
            let (a, b) = (best(|| a.integrate()), best(|| b.integrate()));
            println!(
                "{:<28} {tolerance:>6.0e} {:>5} {a:>9.1} {b:>9.1} {:>6.2} {:>9.1} {:>9.1} {differ:>9.1e}",
                entry.name,
                x.y.len(),
                b / a,
                best(|| make("dop853")),
                best(|| make("taylor")),
            );
        }
    }
}

fn request(method: &str, tolerance: f64) -> Run {
    Run {
        method: pfaff::Method::from_name(method),
        tolerance: Some(tolerance),
        ..Run::default()
    }
}

fn prepare(model: &Model, method: &str, tolerance: f64) -> PreparedRun {
    PreparedRun::new(model, &request(method, tolerance))
        .unwrap_or_else(|e| panic!("a model of the benchmark does not run: {e:?}"))
}

fn model(text: &str) -> Model {
    let read = Model::read(Source::new("bench", text), &Overrides::default(), &GalleryFiles);
    read.unwrap_or_else(|r| panic!("a model of the benchmark is wrong: {:?}", r.diagnostics))
}

/// Microseconds of the fastest of many repetitions.
fn best<T>(mut run: impl FnMut() -> T) -> f64 {
    let (start, mut best, mut count) = (Instant::now(), f64::INFINITY, 0);
    while count < 3 || (start.elapsed().as_secs_f64() < 0.25 && count < 20_000) {
        let clock = Instant::now();
        std::hint::black_box(run());
        best = best.min(clock.elapsed().as_secs_f64() * 1e6);
        count += 1;
    }
    best
}
