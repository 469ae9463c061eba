//! White forces: orders of convergence, closed forms of their statistics, constraints, and what they do not go with.

use pfaff::{Model, Run};

fn run(model: &Model, seed: u64, step: f64, t1: f64) -> pfaff::Motion {
    let request = Run { seed: Some(seed), step: Some(step), samples: Some(2), ..Run::to(t1) };
    model.run(&request).expect("a motion")
}

fn last(motion: &pfaff::Motion, k: usize) -> (f64, f64) {
    let end = |s: &pfaff::Series| *s.values.last().expect("a row");
    (end(&motion.q[k]), end(&motion.v[k]))
}

/// A damped particle: x'' = -c x' - k x + s ξ.
const PARTICLE: &str = "coordinates x\nparameters k = 1, c = 0.5, s = 0.8\nlagrangian x'^2/2 - k*x^2/2\n\
                        dissipation c*x'^2/2\nnoise x: s\ninitial x = 1\nsolve t = 0..2";

/// The path itself, at half the step again and again: errors against a fine path fall as h for additive noise. Over 24
/// paths the measured order is 1 within 0.25.
#[test]
fn additive_noise_has_strong_order_one() {
    let model = Model::parse(PARTICLE).expect("a model");
    let levels = [32.0, 64.0, 128.0];
    let mut errors = [0.0; 3];
    for seed in 0..24 {
        let fine = last(&run(&model, seed, 2.0 / 4096.0, 2.0), 0);
        for (error, n) in errors.iter_mut().zip(levels) {
            let found = last(&run(&model, seed, 2.0 / n, 2.0), 0);
            *error += (found.0 - fine.0).powi(2) + (found.1 - fine.1).powi(2);
        }
    }
    let order = (errors[0] / errors[2]).log2() / 4.0;
    assert!((order - 1.0).abs() < 0.25, "order {order}, {errors:?}");
}

/// The bias of ⟨v²⟩ for a free damped particle is that of theory: with the step h the recursion v ← A v + B ΔW of rk4
/// has A = 1 − z + z²/2 − z³/6 + z⁴/24 and B = 1 − z/2 + z²/6 − z³/24 for z = c h, so that ⟨v²⟩ = s² h B² (1 − A²ⁿ)/(1
/// − A²), which is of order two in h. On the same paths, a coarse against a fine step, within four deviations of the
/// mean.
#[test]
fn means_have_the_bias_of_theory() {
    let text = PARTICLE
        .replace("k = 1, c = 0.5", "k = 0, c = 1")
        .replace("initial x = 1", "initial x = 0");
    let model = Model::parse(&text).expect("a model");
    let variance = |n: i32| {
        let z = 4.0 / f64::from(n);
        let a = 1.0 - z + z * z / 2.0 - z.powi(3) / 6.0 + z.powi(4) / 24.0;
        let b = 1.0 - z / 2.0 + z * z / 6.0 - z.powi(3) / 24.0;
        0.64 * z * b * b * (1.0 - a.powi(2 * n)) / (1.0 - a * a)
    };
    // Order two: a quarter of the step has a sixteenth of the bias, up to higher orders.
    let exact = 0.32 * (1.0 - libm::exp(-8.0));
    let order = ((variance(16) / exact - 1.0) / (variance(64) / exact - 1.0)).log2() / 2.0;
    assert!((order - 2.0).abs() < 0.1, "{order}");
    let differences: Vec<f64> = (0..400)
        .map(|seed| {
            let square = |n: f64| last(&run(&model, seed, 4.0 / n, 4.0), 0).1.powi(2);
            square(4.0) - square(64.0)
        })
        .collect();
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let spread = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let (bias, deviation) = (variance(4) - variance(64), (spread / n).sqrt());
    assert!((mean - bias).abs() < 4.0 * deviation, "{mean} {bias} {deviation}");
    assert!(4.0 * deviation < 0.2 * exact, "{deviation}");
}

/// Energy and work belong together at outputs within steps as they do at their ends: what the audit says does not
/// depend on how many outputs there are.
#[test]
fn work_of_noise_is_booked_within_steps() {
    let model = Model::parse(SPHERE).expect("a model");
    let request = Run { seed: Some(5), step: Some(0.05), samples: Some(161), ..Run::to(2.0) };
    let motion = model.run(&request).expect("a motion");
    let largest = motion.energy.iter().fold(0.0_f64, |a, b| a.max(*b));
    for (row, (energy, work)) in motion.energy.iter().zip(&motion.work).enumerate() {
        let off = (energy - motion.energy[0] - work).abs();
        // The steps themselves are of order four in 0.05, with forces as rough as the noise.
        assert!(off < 1e-3 * largest, "{off:e} of {largest} in row {row}");
    }
    let at_ends = model.run(&request.samples(2)).expect("a motion");
    assert_eq!(motion.audit.verdict, at_ends.audit.verdict);
}

/// ⟨v²⟩ = s²/(2c) (1 − exp(−2cT)) for a free damped particle, and ⟨x²⟩ as given by Uhlenbeck and Ornstein (1930),
/// within four standard deviations of 400 paths.
#[test]
fn a_free_particle_has_the_variances_of_uhlenbeck_and_ornstein() {
    let text = PARTICLE.replace("k = 1", "k = 0").replace("initial x = 1", "initial x = 0");
    let model = Model::parse(&text).expect("a model");
    let (c, s, t, n) = (0.5_f64, 0.8_f64, 2.0_f64, 400.0);
    let (mut x2, mut v2) = (0.0, 0.0);
    for seed in 0..400 {
        let (x, v) = last(&run(&model, seed, 2.0 / 64.0, t), 0);
        x2 += x * x / n;
        v2 += v * v / n;
    }
    let e = libm::exp(-c * t);
    let exact_v = s * s / (2.0 * c) * (1.0 - e * e);
    let exact_x = s * s / (c * c) * (t - 2.0 * (1.0 - e) / c + (1.0 - e * e) / (2.0 * c));
    let margin = 4.0 * (2.0_f64 / n).sqrt();
    assert!((v2 / exact_v - 1.0).abs() < margin, "{v2} {exact_v}");
    assert!((x2 / exact_x - 1.0).abs() < margin, "{x2} {exact_x}");
}

const SPHERE: &str = "\
coordinates x, y, z
parameters m = 1, gamma = 1, kT = 0.2
kinetic m*(x'^2 + y'^2 + z'^2)/2
constraint sphere: x^2 + y^2 + z^2 = 1
dissipation gamma*(x'^2 + y'^2 + z'^2)/2
noise x: sqrt(2*gamma*kT)
noise y: sqrt(2*gamma*kT)
noise z: sqrt(2*gamma*kT)
initial z = 1
observe heat = m*(x'^2 + y'^2 + z'^2)/(2*kT)
solve t = 0..6
";

/// On a sphere two directions are free: m v²/2 = kT in the mean, within four standard deviations of 100 paths (heat has
/// an exponential distribution with mean and deviation 1); the constraint holds to rounding, and the audit passes.
#[test]
fn equipartition_on_a_sphere() {
    let model = Model::parse(SPHERE).expect("a model");
    let mut mean = 0.0;
    for seed in 0..100 {
        let motion = run(&model, seed, 6.0 / 1024.0, 6.0);
        mean += motion.observed[0].values.last().expect("a row") / 100.0;
        let r: f64 = (0..3).map(|k| last(&motion, k).0.powi(2)).sum();
        assert!((r - 1.0).abs() < 1e-12, "{r}");
        assert_eq!(motion.audit.verdict.name(), "pass", "{:?}", motion.audit);
    }
    assert!((mean - 1.0).abs() < 4.0 / 100.0_f64.sqrt(), "{mean}");
}

/// A blade holds, whatever pushes: the noisy sleigh in reduced form.
#[test]
fn velocity_constraints_hold_and_paths_are_reproducible() {
    let text = "coordinates x, y, phi\nparameters m = 1, J = 0.5, a = 0.2\n\
        kinetic m*((x' - a*phi'*sin(phi))^2 + (y' + a*phi'*cos(phi))^2)/2 + J*phi'^2/2\n\
        constraint blade: y'*cos(phi) - x'*sin(phi) = 0\n\
        noise phi: 0.5\nnoise x: 0.1*phi\ninitial x' = 1\nsolve t = 0..4";
    let model = Model::parse(text).expect("a sleigh");
    let (a, b) = (run(&model, 5, 0.01, 4.0), run(&model, 5, 0.01, 4.0));
    assert_eq!(last(&a, 2), last(&b, 2));
    assert_ne!(last(&a, 2), last(&run(&model, 6, 0.01, 4.0), 2));
    let [(_, vx), (_, vy), (phi, _)] = [last(&a, 0), last(&a, 1), last(&a, 2)];
    assert!((vy * libm::cos(phi) - vx * libm::sin(phi)).abs() < 1e-13);
    assert_eq!(a.audit.verdict.name(), "pass", "{:?}", a.audit);
    // Another path of the same seed.
    let request = Run { seed: Some(5), stream: Some(1), step: Some(0.01), ..Run::to(4.0) };
    assert_ne!(last(&model.run(&request).expect("a motion"), 2), last(&a, 2));
}

/// Stratonovich's sense: v' = v ξ has the solution exp(W), whose mean is exp(T/2) and not 1. On the same path a run
/// with v' = ξ tells W.
#[test]
fn products_are_those_of_stratonovich() {
    let multiplied =
        "coordinates x\nlagrangian x'^2/2\nnoise x: x'\ninitial x' = 1\nsolve t = 0..1";
    let plain = "coordinates x\nlagrangian x'^2/2\nnoise x: 1\nsolve t = 0..1";
    let (a, b) = (Model::parse(multiplied).expect("a"), Model::parse(plain).expect("b"));
    for seed in 0..8 {
        let step = 1.0 / 1024.0;
        let (v, w) =
            (last(&run(&a, seed, step, 1.0), 0).1, last(&run(&b, seed, step, 1.0), 0).1);
        // One noise commutes with itself: constant forces in each step give exp(W) up to the error of rk4.
        assert!((v / libm::exp(w) - 1.0).abs() < 1e-6, "{v} {}", libm::exp(w));
    }
}

#[test]
fn what_noise_does_not_go_with() {
    let refused = |text: &str| {
        Model::parse(text)
            .and_then(|model| model.run(&Run::to(1.0)))
            .err()
            .map(|e| e.to_string())
    };
    for text in [
        "coordinates x\nequation x' = -x\nnoise x: 1",
        "coordinates x\nlagrangian x'^2/2\nforce x: -caputo(x, 0.5)\nnoise x: 1",
        "coordinates x\nlagrangian x'^2/2\nnoise x: 1\nfinal x = 1",
        "coordinates x, y\nlagrangian x'^2/2 + y'^2/2\nconstraint y' = x*x'\nprinciple vakonomic\nnoise x: 1",
        "coordinates x\nlagrangian x'^2/2\nforce x: -sign(x')\nnoise x: 1\ninitial x' = 1",
        "coordinates x\nlagrangian x'^2/2\nnoise y: 1",
        "coordinates x\nlagrangian x'^2/2\nnoise x",
        "coordinates x\nlagrangian x'^2/2\nnoise x: [1, 2]",
    ] {
        assert!(refused(text).is_some(), "{text}");
    }
    let model = Model::parse(PARTICLE).expect("a model");
    assert!(model.run(&Run::to(1.0).method(pfaff::Method::Taylor)).is_err());
    assert!(model.run(&Run::to(1.0).sensitivity("k")).is_err());
}
