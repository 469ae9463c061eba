//! Every gallery model runs, passes its audit and keeps what its text says.

use pfaff::{GALLERY, Model, Motion, Run, Series, StopReason, Verdict, gallery_model};
use serde_json::Value;

use crate::support;

/// A gallery model with other parameters and initial values.
fn model(name: &str, set: &str, initial: &str) -> Model {
    let gallery = gallery_model(name).unwrap_or_else(|| panic!("{name} is in the gallery"));
    support::model_with(gallery.text, set, initial)
}

fn run(name: &str, set: &str, initial: &str, request: &Run) -> Motion {
    support::run(&model(name, set, initial), request)
}

fn exact(t1: f64) -> Run {
    Run { tolerance: Some(1e-13), t1: Some(t1), ..Run::default() }
}

fn series<'a>(motion: &'a Motion, name: &str) -> &'a [f64] {
    let of = [&motion.q, &motion.observed].into_iter().flatten().find(|s| s.name == name);
    &of.unwrap_or_else(|| panic!("{name} is there")).values
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| if x.is_nan() { f64::NAN } else { f64::max(m, x.abs()) })
}

#[test]
fn every_model_runs_and_keeps_its_closed_forms() {
    let mut faults = Vec::new();
    for gallery in GALLERY {
        let model = model(gallery.name, "", "");
        let motion = support::run(&model, &Run::default());
        if motion.audit.verdict != Verdict::Pass {
            faults.push(format!("{}: audit {:?}", gallery.name, motion.audit));
        }
        if motion.stop.reason.is_early() {
            faults.push(format!("{}: {:?} {:?}", gallery.name, motion.stop, motion.notes));
        }
        for seen in motion.observed.iter().filter(|s| s.name.starts_with("error_")) {
            // Local errors of 1e-9 to 1e-11 add up over some hundred steps.
            let limit = 100.0 * model.solve.tolerance;
            let worst = largest(&seen.values);
            if worst.is_nan() || worst > limit {
                faults.push(format!("{}: {} is {worst:e}", gallery.name, seen.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Gallery texts with the data of a reference table give its numbers, multipliers with the table's signs:
/// constraints stand in its order and are written left side − right side as there.
#[test]
fn gallery_texts_agree_with_the_tables() {
    let table: Value = serde_json::from_str(include_str!("../reference/trajectories.json"))
        .expect("the table is JSON");
    let cases = [
        ("two_wheel_robot", "two-wheel-robot-nonholonomic", "", ""),
        ("turntable", "ball-turntable-nonholonomic", "", "psi'=0.28600371455856918"),
        ("appell", "appell-linear-nonholonomic", "", ""),
        ("appell_hamel", "appell-hamel-nonlinear-chetaev", "", ""),
        ("decelerated", "decelerated-phi-1-over-t", "", ""),
    ];
    let mut faults = Vec::new();
    for (name, id, set, initial) in cases {
        let all = table["cases"].as_array().expect("a list");
        let case = all.iter().find(|c| c["id"] == id).expect("the case is there");
        let times: Vec<f64> = serde_json::from_value(case["times"].clone()).expect("numbers");
        let request = Run {
            at: Some(times.clone()),
            t1: times.last().copied(),
            tolerance: Some(1e-13),
            ..Run::default()
        };
        let motion = run(name, set, initial, &request);
        assert_eq!(
            motion.multipliers.len(),
            case["multipliers"].as_object().map_or(0, serde_json::Map::len)
        );
        let named =
            |(a, s): (usize, &Series)| Series { name: format!("c{}", a + 1), ..s.clone() };
        let multipliers: Vec<Series> =
            motion.multipliers.iter().enumerate().map(named).collect();
        for (kind, computed) in
            [("q", &motion.q), ("v", &motion.v), ("multipliers", &multipliers)]
        {
            for series in computed {
                let expected: Vec<f64> =
                    serde_json::from_value(case[kind][&series.name].clone())
                        .unwrap_or_else(|_| panic!("{id} has {kind} {}", series.name));
                for (i, (a, b)) in series.values.iter().zip(&expected).enumerate() {
                    if (a - b).abs() > 1e-10 * (1.0 + b.abs()) || a.is_nan() {
                        let t = times[i];
                        faults.push(format!(
                            "{name}: {kind} {} at {t}: {a}, not {b}",
                            series.name
                        ));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// $x(T) = x(0)$ after $T = 2\pi/(\tfrac27\Omega)$, whatever the spin.
#[test]
fn ball_on_a_turntable_closes_its_circles() {
    let period = 2.0 * std::f64::consts::PI / (2.0 / 7.0 * 1.4);
    for spin in ["psi'=0.3", "psi'=-1", "psi'=0.3, x'=0.1, y'=-0.3"] {
        let motion = run("turntable", "", spin, &exact(period));
        assert_eq!(motion.stop.reason, StopReason::End, "{:?}", motion.notes);
        for name in ["x", "y"] {
            let x = series(&motion, name);
            let gap = (x[x.len() - 1] - x[0]).abs();
            assert!(gap < 1e-9, "{spin}: {name} is off by {gap:e}");
        }
    }
    let tilted = run("turntable", "beta=0.02", "psi'=0.3", &exact(5.0));
    for name in ["error_x", "error_y"] {
        // A hundred steps at 1e-13.
        assert!(largest(series(&tilted, name)) < 1e-10, "{name}");
    }
}

#[test]
fn rattleback_turns_back_and_its_energy_balance_closes() {
    for sigma in ["sigma=0", "sigma=0.0001", "sigma=0.001"] {
        let motion = run("rattleback", sigma, "", &Run::default());
        let spin = series(&motion, "spin");
        let last = spin.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(spin[0] < -4.9, "spun against its liking");
        assert!(last > 0.5, "{sigma}: the spin reaches {last}");
        assert!(motion.events.iter().any(|e| e.name == "turns_back"));
        let scale = motion.energy[0].abs();
        let worst = motion
            .energy
            .iter()
            .zip(&motion.work)
            .map(|(e, w)| (e - motion.energy[0] - w).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-9 * (1.0 + scale), "{sigma}: balance off by {worst:e}");
        if sigma == "sigma=0" {
            let work = largest(&motion.work);
            assert!(work < 1e-9, "rolling does no work: {work:e}");
        } else {
            assert!(motion.work[motion.work.len() - 1] < -1e-4, "the air takes energy");
        }
    }
}

/// $\sum mv^2$ constant, and $\lambda = -\zeta$ with $\zeta = F\cdot v/\sum mv^2$.
#[test]
fn isokinetic_particles_keep_their_temperature() {
    for set in ["eps=1", "eps=0.2, m=1.7", "K=0.3"] {
        let request = Run { tolerance: Some(1e-12), ..Run::default() };
        let motion = run("isokinetic", set, "", &request);
        for name in ["error_temperature", "error_thermostat", "error_compression"] {
            let worst = largest(series(&motion, name));
            assert!(worst < 1e-12, "{set}: {name} {worst:e}");
        }
        assert!(largest(series(&motion, "friction")) > 0.01, "there is something to keep");
    }
}

/// The same pendulum by angles and by positions with rods.
#[test]
fn double_pendulum_by_angles_and_by_rods() {
    let angles = run("double_pendulum", "", "", &exact(2.0));
    let rods = support::run(
        &support::model(
            "coordinates x1, y1, x2, y2\n\
             lagrangian (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2 - 9.81*(y1 + y2)\n\
             constraint upper: x1^2 + y1^2 = 1\n\
             constraint lower: (x2 - x1)^2 + (y2 - y1)^2 = 1\n\
             initial x1 = sin(1.6), y1 = -cos(1.6), x2 = x1 + sin(2.2), y2 = y1 - cos(2.2)\n\
             initial x1' = 0, y1' = 0, x2' = 0, y2' = 0\n\
             solve t = 0..2, samples = 201",
        ),
        &exact(2.0),
    );
    let (a, b) = (series(&angles, "a"), series(&angles, "b"));
    for i in 0..a.len() {
        let x2 = libm::sin(a[i]) + libm::sin(b[i]);
        // Chaos doubles errors of 1e-13 some ten times in two seconds.
        assert!((series(&rods, "x2")[i] - x2).abs() < 1e-9, "sample {i}");
    }
}

/// Steady rolling: with the rates of the text the lean stays.
#[test]
fn falling_disk_rolls_steadily_where_it_should() {
    let (m, r, g, th, psi) = (1.0, 0.5, 9.81, 0.3_f64, 1.5);
    let (a, c) = (m * r * r / 4.0, m * r * r / 2.0);
    let (s, co) = (libm::sin(th), libm::cos(th));
    // (C + m r²) w ψ̇ cos θ = A ψ̇² sin θ cos θ − m g r sin θ
    let w = (a * psi * psi * s * co - m * g * r * s) / ((c + m * r * r) * psi * co);
    let phi = w - psi * s;
    let initial = format!("th={th}, th'=0, psi'={psi}, phi'={phi:e}");
    let motion = run("falling_disk", "", &initial, &exact(3.0));
    let lean = series(&motion, "th");
    let off = lean.iter().fold(0.0_f64, |m, x| m.max((x - th).abs()));
    assert!(off < 1e-10, "the lean moves by {off:e}, phi' = {phi}");
    assert!((phi - -3.066_812_354_922_6).abs() < 1e-9, "as the text says: {phi}");
}

/// $(\ddot\phi, \ddot\delta)$ of the bicycle at 5 m/s for a small lean, steer and their rates.
fn bicycle_rates(y: [f64; 4]) -> [f64; 2] {
    let [lean, steer, lean_rate, steer_rate] = y;
    let initial =
        format!("phi={lean:e}, delta={steer:e}, phi'={lean_rate:e}, delta'={steer_rate:e}");
    let request = Run { samples: Some(2), t1: Some(1e-3), ..Run::default() };
    let motion = run("bicycle", "v=5, push=0", &initial, &request);
    ["phi", "delta"].map(|name| {
        let series = motion.a.iter().find(|s| s.name == name).expect("an acceleration");
        series.values[0]
    })
}

/// The coefficients of $\det(\lambda - A)$, highest first, by Faddeev and LeVerrier.
fn characteristic(a: &[[f64; 4]; 4]) -> [f64; 5] {
    let product = |x: &[[f64; 4]; 4], y: &[[f64; 4]; 4]| -> [[f64; 4]; 4] {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..4).map(|k| x[i][k] * y[k][j]).sum())
        })
    };
    let mut coefficients = [1.0, 0.0, 0.0, 0.0, 0.0];
    let mut m = [[0.0; 4]; 4];
    for k in 1..=4 {
        for (i, row) in m.iter_mut().enumerate() {
            row[i] += coefficients[k - 1];
        }
        m = product(a, &m);
        coefficients[k] = -(0..4).map(|i| m[i][i]).sum::<f64>() / k as f64;
    }
    coefficients
}

/// The eigenvalues of the upright bicycle at 5 m/s: weave −0.775… ± 4.464…i, capsize −0.322…, castering
/// −14.078…, as published [Meijaard and others 2007, table 2].
///
/// The linearised motion is that of the model itself, by central differences of its accelerations; the same
/// roots come from the published matrices, in
/// [`bicycle_agrees_with_the_linear_benchmark`].
#[test]
fn bicycle_has_the_published_eigenvalues() {
    let h = 1e-3;
    let mut a = [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0; 4], [0.0; 4]];
    for j in 0..4 {
        let at = |s: f64| {
            let mut y = [0.0; 4];
            y[j] = s * h;
            bicycle_rates(y)
        };
        let (near, far) = ([at(1.0), at(-1.0)], [at(2.0), at(-2.0)]);
        for i in 0..2 {
            let slope = |f: &[[f64; 2]; 2]| f[0][i] - f[1][i];
            a[2 + i][j] = (8.0 * slope(&near) - slope(&far)) / (12.0 * h);
        }
    }
    let found = characteristic(&a);
    let (re, im) = (-0.775_341_882_195_845, 4.464_867_713_788_23);
    let (capsize, castering) = (-0.322_866_429_004_087, -14.078_389_692_798_2);
    let (sum, size) = (-2.0 * re, re * re + im * im);
    let (s, p) = (-(capsize + castering), capsize * castering);
    // (λ² + sum λ + size)(λ² + s λ + p)
    let published = [1.0, s + sum, p + s * sum + size, p * sum + s * size, p * size];
    for (k, (x, y)) in found.iter().zip(&published).enumerate() {
        // Differences of fourth order, h⁴ = 1e-12, of motions that start on the constraints to 1e-13:
        // 1e-13/h, times accelerations of some hundred.
        assert!((x - y).abs() < 1e-7 * (1.0 + y.abs()), "coefficient {k}: {x} for {y}");
    }
}

/// [the benchmark of Meijaard and others 2007]: $M\ddot q + vC_1\dot q + (gK_0 + v^2K_2)q = 0$ for lean and
/// steer, with their published matrices.
#[test]
fn bicycle_agrees_with_the_linear_benchmark() {
    let v = 5.0;
    let mass =
        [[80.817_22, 2.319_413_322_087_09], [2.319_413_322_087_09, 0.297_841_881_996_86]];
    let damping = [[0.0, 33.866_413_914_924_94], [-0.850_356_414_569_78, 1.685_403_973_975_60]];
    let weight =
        [[-80.95, -2.599_516_852_498_72], [-2.599_516_852_498_72, -0.803_294_884_586_18]];
    let gyro = [[0.0, 76.597_345_895_732_22], [0.0, 2.654_315_237_946_04]];
    let determinant = mass[0][0] * mass[1][1] - mass[0][1] * mass[1][0];
    let rates = |y: &[f64; 4]| -> [f64; 4] {
        let mut f = [0.0; 2];
        for i in 0..2 {
            for j in 0..2 {
                f[i] -= v * damping[i][j] * y[2 + j]
                    + (9.81 * weight[i][j] + v * v * gyro[i][j]) * y[j];
            }
        }
        let lean = (mass[1][1] * f[0] - mass[0][1] * f[1]) / determinant;
        let steer = (mass[0][0] * f[1] - mass[1][0] * f[0]) / determinant;
        [y[2], y[3], lean, steer]
    };
    // The eigenvalues at this speed that the same source prints follow from its matrices.
    let columns: [[f64; 4]; 4] =
        std::array::from_fn(|j| rates(&std::array::from_fn(|i| f64::from(u8::from(i == j)))));
    let a: [[f64; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]));
    let polynomial = characteristic(&a);
    let at = |x: f64| polynomial.iter().fold(0.0, |sum, c| sum * x + c);
    for root in [-0.322_866_429_004_087, -14.078_389_692_798_2] {
        // 15 printed digits, amplified by slopes of some thousand.
        assert!(at(root).abs() < 1e-9, "{root}: {:e}", at(root));
    }
    // A push so small that what is not linear, its square, is below 1e-6 of it.
    let push = 1e-4;
    let mut y = [0.0, 0.0, push, 0.0];
    let h = 1e-4;
    let mut expected = vec![y];
    for step in 1..=20_000 {
        let shift = |y: &[f64; 4], k: &[f64; 4], h: f64| -> [f64; 4] {
            std::array::from_fn(|i| y[i] + h * k[i])
        };
        let k1 = rates(&y);
        let k2 = rates(&shift(&y, &k1, h / 2.0));
        let k3 = rates(&shift(&y, &k2, h / 2.0));
        let k4 = rates(&shift(&y, &k3, h));
        y = std::array::from_fn(|i| {
            y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
        });
        if step % 1_000 == 0 {
            expected.push(y);
        }
    }
    let request = Run { samples: Some(21), ..exact(2.0) };
    let motion = run("bicycle", "v=5, push=0.0001", "", &request);
    assert_eq!(motion.audit.verdict, Verdict::Pass);
    let (lean, steer) = (series(&motion, "phi"), series(&motion, "delta"));
    for (i, y) in expected.iter().enumerate() {
        // The matrices have 14 digits; the motion 1e-12 of a push of 1e-4.
        assert!((lean[i] - y[0]).abs() < 1e-6 * push, "lean at {i}: {} for {}", lean[i], y[0]);
        assert!((steer[i] - y[1]).abs() < 1e-6 * push, "steer at {i}");
    }
}
