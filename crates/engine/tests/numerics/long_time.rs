//! Geometric methods: their orders, what they keep over many steps, and what they refuse.

use pfaff::{Method, Model, Motion, Run, StopReason};

use crate::support;

fn run(model: &Model, method: Method, step: f64, t1: f64) -> Motion {
    let steps = (t1 / step) as usize + 10;
    let request = Run::to(t1).method(method).step(step).samples(201).max_steps(steps);
    let motion = support::run(model, &request);
    assert_eq!(motion.stop.reason, StopReason::End, "{method:?}");
    motion
}

/// The largest deviation of the energy from its start, in parts of it.
fn drift(motion: &Motion) -> f64 {
    let first = motion.energy[0];
    motion.energy.iter().fold(0.0, |m, e| f64::max(m, ((e - first) / first).abs()))
}

fn error(model: &Model, method: Method, step: f64, t1: f64) -> f64 {
    let exact = support::run(model, &Run::to(t1).tolerance(1e-13).at([t1]));
    let found = run(model, method, step, t1);
    let pairs = found.q.iter().zip(&exact.q);
    pairs.fold(0.0, |m, (a, b)| f64::max(m, (a.values[200] - b.values[0]).abs()))
}

const DOUBLE: &str = "\
coordinates a, b
let P = [sin(a), -cos(a)]
let R = P + [sin(b), -cos(b)]
lagrangian dot(P', P')/2 + dot(R', R')/2 - 9.81*(P[2] + R[2])
initial a = 0.5, b = 0.9
";

/// A pendulum in the plane by a holonomic constraint.
const ROD: &str = "\
coordinates x, y
lagrangian (x'^2 + y'^2)/2 - y
constraint rod: x^2 + y^2 = 1
initial x = 0.8, y = -0.6
";

#[test]
fn orders_are_two_and_four() {
    let contact = Model::gallery("contact_oscillator").expect("a model");
    let double = support::model(DOUBLE);
    let rod = support::model(ROD);
    for (model, method, order) in [
        (&contact, Method::Dalembert, 2.0),
        (&contact, Method::Energy, 2.0),
        (&double, Method::Dalembert, 2.0),
        (&double, Method::Gauss, 4.0),
        (&double, Method::Energy, 2.0),
        (&rod, Method::Dalembert, 2.0),
        (&rod, Method::Gauss, 4.0),
        (&rod, Method::Energy, 2.0),
    ] {
        let [coarse, fine] = [0.02, 0.01].map(|h| error(model, method, h, 2.0));
        let found = (coarse / fine).log2();
        // The next term of the error is a hundredth of the first.
        assert!((found - order).abs() < 0.1, "{method:?} of {:?}: {found}", model.title);
    }
}

#[test]
fn energy_stays_bounded_or_exact() {
    let contact = Model::gallery("contact_oscillator").expect("a model");
    let double = support::model(DOUBLE);
    let rod = support::model(ROD);
    // Bounded by a multiple of h², over as many steps as a test may take.
    for (model, method, limit) in [
        (&contact, Method::Dalembert, 1e-3),
        (&double, Method::Dalembert, 1e-2),
        (&double, Method::Gauss, 1e-5),
        (&rod, Method::Dalembert, 1e-2),
        (&rod, Method::Gauss, 1e-4),
    ] {
        let [first, second] = [100.0, 1000.0].map(|t1| drift(&run(model, method, 0.05, t1)));
        assert!(first < limit && second < 2.0 * first + 1e-12, "{method:?}: {first}, {second}");
    }
    for model in [&contact, &double, &rod] {
        let motion = run(model, Method::Energy, 0.02, 100.0);
        // Rounding of 5 000 steps.
        assert!(drift(&motion) < 1e-11, "{:?}: {:e}", model.title, drift(&motion));
    }
}

#[test]
fn the_energy_follows_the_work_of_forces() {
    let model = support::model(
        "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: -0.1*x'\ninitial x = 1\n",
    );
    for method in [Method::Dalembert, Method::Gauss, Method::Energy] {
        let motion = run(&model, method, 0.01, 10.0);
        let end = motion.q[0].values[200];
        let w = (1.0_f64 - 0.0025).sqrt();
        let phase = w * 10.0;
        let exact = libm::exp(-0.5) * (libm::cos(phase) + 0.05 / w * libm::sin(phase));
        // h² times the time.
        assert!((end - exact).abs() < 1e-3, "{method:?}: {end} for {exact}");
    }
}

#[test]
fn what_does_not_apply_is_refused() {
    let refused = |text: &str, method: Method, words: &str| {
        let model = support::model(text);
        let request = Run::to(1.0).method(method).step(0.1);
        let error = model.run(&request).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    let edge = "coordinates x, y, phi\nlagrangian (x'^2 + y'^2 + phi'^2)/2\nconstraint x'*sin(phi) = y'*cos(phi)\n";
    refused(edge, Method::Gauss, "holonomic");
    refused("coordinates x\nequation x' = x\ninitial x = 1\n", Method::Energy, "`equation`");
    let vakonomic = format!("{ROD}principle vakonomic\n");
    refused(&vakonomic, Method::Dalembert, "chetaev");
    let model = support::model(DOUBLE);
    let error = model.run(&Run::to(1.0).method(Method::Gauss)).expect_err("no step");
    assert!(error.to_string().contains("fixed step"), "{error}");
}

/// The symplectic form of a step on a holonomic constraint: a loop of states of the pendulum encloses the same area
/// $\\oint p\\,dq$ before and after. With the angle $a$ and $p = a'$, the states of a small triangle give it to second
/// order in its size.
#[test]
fn steps_on_a_holonomic_constraint_are_symplectic() {
    let at = |angle: f64, rate: f64| {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint rod: x^2 + y^2 = 1\n\
             initial x = sin({angle:?}), y = -cos({angle:?}), x' = {rate:?}*cos({angle:?}), y' = {rate:?}*sin({angle:?})\n"
        );
        let motion = run(&support::model(&text), Method::Gauss, 0.1, 5.0);
        let last = |s: &pfaff::Series| s.values[200];
        let [x, y] = [0, 1].map(|k| last(&motion.q[k]));
        let [u, v] = [0, 1].map(|k| last(&motion.v[k]));
        assert!((x * x + y * y - 1.0).abs() < 1e-12, "on the rod");
        (libm::atan2(x, -y), u * -y + v * x)
    };
    // Central differences with two steps, extrapolated: what is left is of the order h⁴.
    let determinant = |h: f64| {
        let (a, b) = (at(0.9 + h, 0.2), at(0.9 - h, 0.2));
        let (c, d) = (at(0.9, 0.2 + h), at(0.9, 0.2 - h));
        let slope = |x: f64, y: f64| (x - y) / (2.0 * h);
        slope(a.0, b.0) * slope(c.1, d.1) - slope(a.1, b.1) * slope(c.0, d.0)
    };
    let [coarse, fine] = [4e-3, 2e-3].map(determinant);
    let area = fine + (fine - coarse) / 3.0;
    assert!((area - 1.0).abs() < 1e-8, "{area}");
}

/// A constraint that says the same as another one changes nothing, neither on the level of positions nor of velocities.
#[test]
fn constraints_that_repeat_others_carry_nothing() {
    let twice = ROD.replace("initial", "constraint again: 2*x^2 + 2*y^2 = 2\ninitial");
    let contact = Model::gallery("contact_oscillator").expect("a model");
    let text = contact.source.text();
    let line = text.lines().find(|line| line.starts_with("constraint")).expect("a constraint");
    let (_, row) = line.split_once(':').expect("a name");
    let (left, right) = row.split_once('=').expect("two sides");
    let again = format!("{line}\nconstraint again: 3*({left}) = 3*({right})");
    let repeated = text.replace(line, &again);
    for (one, two, methods) in [
        (ROD, &twice, &[Method::Dalembert, Method::Gauss, Method::Energy][..]),
        (text, &repeated, &[Method::Dalembert, Method::Energy][..]),
    ] {
        for &method in methods {
            let [one, two] =
                [one, two.as_str()].map(|text| run(&support::model(text), method, 0.01, 2.0));
            for (a, b) in one.q.iter().zip(&two.q) {
                let off = (a.values[200] - b.values[200]).abs();
                assert!(off < 1e-10, "{method:?}: {} {}", a.values[200], b.values[200]);
            }
        }
    }
}
