//! Derivatives of motions against differences of motions, and against closed forms.
//!
//! Differences are central, with steps $h, h/2, h/4, h/8$ and three extrapolations: what is left is $h^8$ of a ninth
//! derivative, and the rounding $10^{-14}/(h/8)$ of the motions. Both are below $10^{-11}$ for the steps used here, so
//! that ten digits can be asked for.

use pfaff::{Error, Form, Method, Model, Motion, NoFiles, Overrides, Run, Source, Verdict};

use crate::support;

const DIGITS: f64 = 1e-10;

/// A model with other parameters and initial values.
fn changed(text: &str, set: &str, initial: &str) -> Model {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let overrides = Overrides { set: some(set), initial: some(initial) };
    Model::read(Source::new("model", text), &overrides, &NoFiles)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What is compared: positions and velocities at the last output, what is observed, times and positions of events.
fn numbers(motion: &Motion) -> Vec<f64> {
    let last = |s: &pfaff::Series| s.values[s.values.len() - 1];
    let series = motion.q.iter().chain(&motion.v).chain(&motion.multipliers);
    let mut list: Vec<f64> = series.chain(&motion.observed).map(last).collect();
    for event in &motion.events {
        list.push(event.t);
        list.extend(event.q.iter().chain(&event.v));
    }
    list
}

/// The same of a derivative.
fn derivatives(motion: &Motion, name: &str) -> Vec<f64> {
    let found = motion.sensitivity(name).unwrap_or_else(|error| panic!("{error}"));
    let last = |s: &pfaff::Series| s.values[s.values.len() - 1];
    let series = found.q.iter().chain(&found.v).chain(&found.multipliers);
    let mut list: Vec<f64> = series.chain(&found.observed).map(last).collect();
    for event in &found.events {
        list.push(event.t);
        list.extend(event.q.iter().chain(&event.v));
    }
    list
}

/// Derivatives by differences.
fn differences(text: &str, request: &Run, name: &str, value: f64, h: f64) -> Vec<f64> {
    let at = |x: f64| {
        let (set, initial) = match name.strip_suffix("(0)") {
            Some(quantity) => (String::new(), format!("{quantity} = {x:?}")),
            None => (format!("{name} = {x:?}"), String::new()),
        };
        numbers(&support::run(&changed(text, &set, &initial), request))
    };
    let quotient = |h: f64| -> Vec<f64> {
        at(value + h).iter().zip(at(value - h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
    };
    let mut rows: Vec<Vec<f64>> = (0..4).map(|k| quotient(h / f64::from(1 << k))).collect();
    for level in 1..4 {
        let four = f64::from(1 << (2 * level));
        rows = rows
            .windows(2)
            .map(|pair| {
                let finer = pair[1].iter().zip(&pair[0]);
                finer.map(|(fine, coarse)| fine + (fine - coarse) / (four - 1.0)).collect()
            })
            .collect();
    }
    rows.swap_remove(0)
}

/// The run with the derivatives by names, each with its value and a step, against differences.
fn agrees(text: &str, t: f64, directions: &[(&str, f64, f64)]) -> Motion {
    agrees_by(&Run::default().tolerance(1e-14).at([t]), text, directions)
}

fn agrees_by(request: &Run, text: &str, directions: &[(&str, f64, f64)]) -> Motion {
    let names: Vec<&str> = directions.iter().map(|d| d.0).collect();
    let model = support::model(text);
    let motion = support::run(&model, &request.clone().sensitivity(&names.join(", ")));
    for &(name, value, h) in directions {
        let found = derivatives(&motion, name);
        let expected = differences(text, request, name, value, h);
        assert_eq!(found.len(), expected.len(), "{text}\n{name}");
        // Sensitivities are compared in parts of the largest one.
        let size = expected.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
        for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (a - b).abs() <= DIGITS * size,
                "{text}\nby {name}, number {i}: {a} for {b}, off by {:e} of {size}",
                (a - b).abs()
            );
        }
    }
    let check = motion.audit.checks.iter().find(|c| c.name.starts_with("sensitivities"));
    assert_eq!(check.map(|c| c.verdict), Some(Verdict::Pass), "{text}\n{:?}", motion.audit);
    motion
}

const SLEIGH: &str = "\
coordinates x, y, phi
parameters m = 1, k = 0.5, J = k*m, a = 0.2
let X = x + a*cos(phi)
let Y = y + a*sin(phi)
lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
initial x' = 1, phi = 0.4, phi' = 0.3
observe side = reaction(y)
observe speed = energy
solve t = 0..3
";

#[test]
fn a_reduced_model_with_a_parameter_defined_by_others() {
    agrees(
        SLEIGH,
        3.0,
        &[
            ("a", 0.2, 0.02),
            ("m", 1.0, 0.1),
            ("k", 0.5, 0.05),
            ("x'(0)", 1.0, 0.1),
            ("phi(0)", 0.4, 0.05),
            ("phi'(0)", 0.3, 0.05),
        ],
    );
}

/// By DOP853 the derivatives are integrated with the motion, in its reduced form: with events, observed reactions, a
/// parameter in the initial values, an affine constraint that depends on time, and charts that change on the way.
#[test]
fn derivatives_integrated_with_the_motion() {
    let by_dop853 = |t: f64| Run::to(t).method(Method::Dop853).tolerance(1e-14).at([t]);
    let with_event = format!("{SLEIGH}event far: x - 1\n");
    let directions =
        [("a", 0.2, 0.02), ("k", 0.5, 0.05), ("x'(0)", 1.0, 0.1), ("phi(0)", 0.4, 0.05)];
    let motion = agrees_by(&by_dop853(3.0), &with_event, &directions);
    assert_eq!((motion.form, motion.events.len()), (Form::Reduced, 1));
    let text = "\
coordinates x, y
parameters w = 1.7, b = 0.3
lagrangian (x'^2 + y'^2)/2 - y
constraint c: y' - w*x'*sin(w*t) = b*t
initial x = w/17, x' = 1
";
    let directions = [("w", 1.7, 0.05), ("b", 0.3, 0.05), ("x'(0)", 1.0, 0.1)];
    assert_eq!(agrees_by(&by_dop853(3.0), text, &directions).form, Form::Reduced);
    let text = "\
coordinates x, y, z
parameters a = 0.7, k = 2
lagrangian (x'^2 + y'^2 + z'^2)/2 - k*(x^2 + y^2 + z^2)/2
constraint c: cos(a*y)*z' + sin(a*y)*(1 + x^2)*x' = 0
initial x = 1, y = 0.5, z = 0, x' = 0.3, y' = 3
";
    let directions = [("a", 0.7, 0.03), ("k", 2.0, 0.1), ("y'(0)", 3.0, 0.1)];
    assert_eq!(agrees_by(&by_dop853(3.0), text, &directions).form, Form::Reduced);
    // The same through changes of charts by Taylor series.
    let by_taylor = |t: f64| Run::to(t).method(Method::Taylor).tolerance(1e-14).at([t]);
    let motion = agrees_by(&by_taylor(3.0), text, &directions);
    assert_eq!((motion.form, motion.method), (Form::Reduced, "taylor"));
    // In saddle-point form, and of equations as they stand, by both methods.
    let linkage = "\
coordinates x, y, z
parameters l = 1.2, k = 0.7
lagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*y - k*z^2/2
constraint rod: x^2 + y^2 = l^2
constraint screw: z = k*x
initial y = -1.1, x' = 1
observe pull = lambda(rod)
";
    let equation = "\
coordinates x, y
parameters k = 1.1, c = 0.2
equation x'' = -k*x^3 - c*x' + y
equation y' = k*cos(t) - x*y
initial x = 0.5, y = 0.2
";
    for request in [by_dop853(2.0), by_taylor(2.0)] {
        let directions = [("l", 1.2, 0.02), ("k", 0.7, 0.03), ("x'(0)", 1.0, 0.05)];
        let motion = agrees_by(&request, linkage, &directions);
        assert_eq!(motion.form, Form::Saddle);
        let directions = [("k", 1.1, 0.05), ("c", 0.2, 0.05), ("y(0)", 0.2, 0.05)];
        assert_eq!(agrees_by(&request, equation, &directions).form, Form::Ordinary);
    }
}

#[test]
fn the_vakonomic_principle_with_its_multiplier() {
    let text = SLEIGH
        .replace("observe side = reaction(y)", "principle vakonomic\ninitial mu(blade) = 0.2");
    agrees(&text, 2.0, &[("a", 0.2, 0.02), ("mu(blade)(0)", 0.2, 0.05), ("x'(0)", 1.0, 0.1)]);
    let text = "\
coordinates x, y, z
parameters c = 0.7
lagrangian (x'^2 + y'^2 + z'^2)/2
constraint contact: z' - c*y*x' = 0
principle vakonomic
initial x' = 1, y' = 0.5, y = 0.2
initial multipliers = transversal(z)
solve t = 0..2
";
    agrees(text, 2.0, &[("c", 0.7, 0.1), ("y(0)", 0.2, 0.1), ("x'(0)", 1.0, 0.1)]);
}

#[test]
fn the_restricted_principle() {
    let text = "\
coordinates x, y, z
parameters c = 0.7, g = 0.3
lagrangian (x'^2 + y'^2 + z'^2)/2 - g*y^2/2
constraint contact: z' - c*y*x' = 0
principle restricted
initial x' = 1, y' = 0.5, y = 0.2
solve t = 0..2
";
    agrees(text, 2.0, &[("c", 0.7, 0.1), ("g", 0.3, 0.1), ("y(0)", 0.2, 0.1)]);
}

/// The speed is a parameter: the initial velocities, which are given for another one, are moved.
#[test]
fn a_nonlinear_constraint_and_a_start_that_is_moved() {
    let text = "\
coordinates x, y
parameters c = 1.3, g = 0.8, w = 2
lagrangian (x'^2 + w*y'^2)/2 - g*y
constraint speed: x'^2 + y'^2 = c^2
initial x' = 1, y' = 0.5
solve t = 0..2
";
    agrees(text, 2.0, &[("c", 1.3, 0.1), ("w", 2.0, 0.2), ("y'(0)", 0.5, 0.05)]);
}

/// A pendulum in Cartesian coordinates: one position and one velocity follow from the constraint.
#[test]
fn a_holonomic_constraint_and_a_start_that_is_solved_for() {
    let text = "\
coordinates x, y
parameters l = 1, g = 9.81
lagrangian (x'^2 + y'^2)/2 - g*y
constraint rod: x^2 + y^2 = l^2
initial y = -0.6, x' = 0.3
event bottom: x
solve t = 0..1.2
";
    let motion = agrees(
        text,
        1.2,
        &[("l", 1.0, 0.02), ("g", 9.81, 0.2), ("y(0)", -0.6, 0.02), ("x'(0)", 0.3, 0.05)],
    );
    assert!(!motion.events.is_empty(), "the pendulum passes the bottom");
    // The derivatives of the constraint vanish along each direction.
    for (name, own) in [("g", 0.0), ("l", 1.0), ("y(0)", 0.0)] {
        let by = motion.sensitivity(name).expect("asked for");
        let row: f64 = motion.q.iter().zip(&by.q).map(|(q, s)| q.values[0] * s.values[0]).sum();
        assert!((row - own).abs() < 1e-13, "by {name}: {row}, rounding only");
    }
}

#[test]
fn missing_values_are_as_small_as_the_constraints_allow() {
    // Two missing velocities share one constraint, in a metric that depends on a parameter.
    let text = "\
coordinates x, y, z
parameters m = 2, s = 0.5, g = 1
lagrangian (x'^2 + m*y'^2 + (1 + x^2)*z'^2)/2 - g*z
constraint c: y' + s*z' = x'^2
initial x = 0.7, x' = 1.1
solve t = 0..1
";
    agrees(
        text,
        1.0,
        &[("m", 2.0, 0.2), ("s", 0.5, 0.05), ("x(0)", 0.7, 0.05), ("x'(0)", 1.1, 0.1)],
    );
    // An initial value that nothing gives varies as if it were given.
    let motion = agrees(text, 1.0, &[("z(0)", 0.0, 0.1)]);
    assert_eq!(motion.sensitivity("z(0)").expect("asked for").q[2].values, [1.0]);
}

/// The mass decides what is small, but the velocity of the centre determines all rates, and the mass cancels.
#[test]
fn missing_values_that_the_constraints_determine() {
    let text = "\
coordinates x, y, a, b
parameters m = 1, r = 0.5, W = 1.4, k = 0.4
lagrangian m*(x'^2 + y'^2)/2 + k*m*r^2*(a'^2 + b'^2)/2
constraint rx: x' - r*b' = -W*y
constraint ry: y' + r*a' = W*x
initial x = 0.5, y = -0.3, x' = 0.2, y' = 0.4
solve t = 0..2
";
    let motion = agrees(text, 2.0, &[("m", 1.0, 0.1), ("k", 0.4, 0.04), ("r", 0.5, 0.05)]);
    let by = motion.sensitivity("m").expect("asked for");
    assert!(by.q.iter().all(|s| s.values[0].abs() < 1e-14), "{by:?}");
}

/// What is given contains a parameter, and meets a constraint with each value of it; another velocity is missing.
#[test]
fn given_values_that_meet_a_constraint_together() {
    let text = "\
coordinates x, y, z, u
parameters a = 0.8, g = 1.5, b = 0.1
lagrangian x'^2 + y'^2 + z'^2/2 + u'^2/2 - g*z - 0.2*u^2*x
constraint roll: z'^2 = a^2*(x'^2 + y'^2)
constraint gear: u' = b*z'*x + 0.1*cos(t)
initial x' = 1, y' = 0.5, z' = -a*sqrt(1.25), x = 0.2
solve t = 0..1
";
    agrees(text, 1.0, &[("a", 0.8, 0.05), ("b", 0.1, 0.02)]);
    // All velocities are given.
    let text = text.replace(", x = 0.2", ", x = 0.2, u' = b*z'*x + 0.1");
    agrees(&text, 1.0, &[("a", 0.8, 0.05), ("b", 0.1, 0.02)]);
}

#[test]
fn repeated_constraints() {
    let text = "\
coordinates x, y
parameters l = 1, g = 2
lagrangian (x'^2 + y'^2)/2 - g*y
constraint rod: x^2 + y^2 = l^2
constraint again: 2*x*x' + 2*y*y' = 0
initial x = 0.6, y = -0.8
solve t = 0..1
";
    let request = Run::default().tolerance(1e-14).at([1.0]);
    let motion = support::run(&support::model(text), &request.clone().sensitivity("g"));
    let found = motion.sensitivity("g").expect("asked for");
    assert!(found.multipliers.is_empty(), "they are not unique");
    let expected = differences(text, &request, "g", 2.0, 0.1);
    for (a, b) in found.q.iter().chain(&found.v).zip(&expected) {
        assert!((a.values[0] - b).abs() < DIGITS, "{} for {b}", a.values[0]);
    }
}

#[test]
fn equation_models_of_both_orders() {
    let text = "\
coordinates x, y, z
parameters s = 10, r = 28, b = 8/3
equation x' = s*(y - x)
equation y' = x*(r - z) - y
equation z' + x'^3/1000000 = x*y - b*z
initial x = 1, y = 2*x, z = 3
observe fast = y'
solve t = 0..0.5
";
    agrees(text, 0.5, &[("r", 28.0, 0.5), ("b", 8.0 / 3.0, 0.1), ("x(0)", 1.0, 0.05)]);
    let text = "\
coordinates x, y
parameters d = 0.3
equation x'' + d*x' + y*x = 0
equation y' = -y + x^2
initial x = 1, y = 0.4
solve t = 0..3
";
    agrees(text, 3.0, &[("d", 0.3, 0.1), ("y(0)", 0.4, 0.1), ("x'(0)", 0.0, 0.1)]);
}

/// A thrown stone: the time of flight is 2v/g, and the range 2uv/g.
#[test]
fn the_time_and_place_of_a_stopping_event() {
    let text = "\
coordinates x, y
parameters g = 9.81, h = 0
lagrangian (x'^2 + y'^2)/2 - g*y
initial x' = 3, y' = 4
event stop falling ground: y - h
solve t = 0..10
";
    let model = support::model(text);
    let motion = support::run(&model, &Run::default().sensitivity("g, h, x'(0), y'(0)"));
    let (u, v, g) = (3.0, 4.0, 9.81);
    let expected = [
        ("g", -2.0 * v / (g * g), -2.0 * u * v / (g * g)),
        ("h", -1.0 / v, -u / v),
        ("x'(0)", 0.0, 2.0 * v / g),
        ("y'(0)", 2.0 / g, 2.0 * u / g),
    ];
    for (name, time, place) in expected {
        let found = &motion.sensitivity(name).expect("asked for").events[0];
        // Parabolas are integrated exactly: rounding alone.
        assert!((found.t - time).abs() < 1e-13, "{name}: {} for {time}", found.t);
        assert!((found.q[0] - place).abs() < 1e-13, "{name}: {} for {place}", found.q[0]);
        let height = if name == "h" { 1.0 } else { 0.0 };
        assert!((found.q[1] - height).abs() < 1e-13, "{name}: the stone stays at the ground");
    }
}

#[test]
fn branches_of_forces_that_jump() {
    // Dry friction with two reversals, a spring that begins at a place, a force that ends at a time.
    let text = "\
coordinates x
parameters k = 3, mu = 0.1, e = 0.3, T = 2.1
lagrangian x'^2/2 - k*x^2/2
force x: -mu*sign(x') - if(x > e, 5*(x - e), 0) + if(t < T, 0.2, 0)
initial x = 1, x' = 0.5
solve t = 0..4
";
    agrees(
        text,
        4.0,
        &[
            ("k", 3.0, 0.05),
            ("mu", 0.1, 0.01),
            ("e", 0.3, 0.01),
            ("T", 2.1, 0.05),
            ("x(0)", 1.0, 0.02),
        ],
    );
}

/// ẍ = sin t − sin x, x(4) = 1, ẋ(4) = 2 at t = 10, with its monodromy: from Taylor series of 60 digits.
#[test]
fn a_driven_pendulum_to_thirteen_digits() {
    let text = "\
coordinates x
equation x'' = sin(t) - sin(x)
initial x = 1, x' = 2
solve t = 4..10, tolerance = 1e-15
";
    let model = support::model(text);
    let motion = support::run(&model, &Run::default().at([10.0]).sensitivity("x(4), x'(4)"));
    let by = |name: &str| {
        let s = motion.sensitivity(name).expect("asked for");
        [s.q[0].values[0], s.v[0].values[0]]
    };
    let found = [[motion.q[0].values[0], motion.v[0].values[0]], by("x(4)"), by("x'(4)")];
    for (found, expected) in found.iter().flatten().zip(PENDULUM.iter().flatten()) {
        assert!(
            (found - expected).abs() < 1e-13 * (1.0 + expected.abs()),
            "{found} for {expected}"
        );
    }
    let [_, [a, c], [b, d]] = found;
    // The flow keeps areas.
    assert!(
        (a * d - b * c - 1.0).abs() < 1e-12,
        "the determinant is 1, up to the errors of its terms"
    );
}

/// $x$ and $\dot x$, then their derivatives by $x(4)$ and by $\dot x(4)$.
const PENDULUM: [[f64; 2]; 3] = [
    [1.204_837_033_348_257_7, 1.170_414_826_617_747_2],
    [-1.219_614_688_886_359_2, -0.024_860_798_370_869_22],
    [-2.195_347_329_448_256, -0.864_681_359_548_386_3],
];

#[test]
fn names_that_are_not_there_and_parameters_that_do_nothing() {
    let model = support::model(SLEIGH);
    let refused = |names: &str| -> String {
        match model.run(&Run::default().sensitivity(names)) {
            Err(Error::Usage(message)) => message,
            other => panic!("{names}: {other:?}"),
        }
    };
    assert!(refused("b").contains("`b` is no parameter and no initial value"));
    assert!(refused("phi").contains("write `phi(0)`"));
    assert!(refused("x'").contains("write `x'(0)`"));
    assert!(refused("q(0)").contains("`q(0)` is no parameter"));
    assert!(refused("x(1)").contains("the run starts at t = 0"));
    assert!(refused("a, a").contains("twice"));
    assert!(refused("a,, m").contains("a name is missing"));
    let text = SLEIGH.replace("a = 0.2", "a = 0.2, idle = 4");
    let motion = support::run(&support::model(&text), &Run::default().sensitivity("idle"));
    let idle = motion.sensitivity("idle").expect("asked for");
    assert!(idle.q.iter().chain(&idle.v).flat_map(|s| &s.values).all(|x| *x == 0.0));
    let notes = format!("{:?}", motion.notes);
    assert!(notes.contains("nothing depends on `idle`"), "{notes}");
    let memory = support::model(
        "coordinates x\nequation caputo(x, 0.7) + x = 0\nobserve twice = 2*x\ninitial x = 1\nsolve t = 0..1",
    );
    // The state of a motion with memory is its whole past.
    let error = memory.run(&Run::default().transition()).expect_err("not available");
    assert!(error.to_string().contains("whole past"), "{error}");
    let request = Run::default().gradient("integral(twice)", "x(0)");
    let error = memory.run(&request).expect_err("not available");
    assert!(error.to_string().contains("whole past"), "{error}");
}

/// $\ddot x = \sin t - \sin x$ with $x(4) = 1$, $\dot x(4) = 2$, to $t = 10$. The reference values are those of a
/// Taylor integration of motion and variation with 60 digits.
#[test]
fn solution_and_monodromy_to_thirteen_digits() {
    let model = support::model(
        "coordinates x\nequation x'' = sin(t) - sin(x)\ninitial x = 1, x' = 2\nsolve t = 4..10\n",
    );
    let run = Run::default().tolerance(1e-15).at([10.0]).transition();
    let motion = support::run(&model, &run);
    let transition = motion.transition.as_ref().expect("asked for");
    assert_eq!(transition.names, ["x", "x'"]);
    let matrix = &transition.matrices[0];
    // The flow keeps areas: the determinant is 1.
    let determinant = matrix[0] * matrix[3] - matrix[1] * matrix[2];
    assert!((determinant - 1.0).abs() < 1e-12, "{determinant}");
    let found = [
        motion.q[0].values[0],
        motion.v[0].values[0],
        matrix[0],
        matrix[1],
        matrix[2],
        matrix[3],
    ];
    let expected = [
        1.204_837_033_348_257_6,
        1.170_414_826_617_747_2,
        -1.219_614_688_886_359_3,
        -2.195_347_329_448_256,
        -0.024_860_798_370_869_22,
        -0.864_681_359_548_386_3,
    ];
    for (found, expected) in found.iter().zip(expected) {
        let off = (found - expected).abs() / (1.0 + expected.abs());
        assert!(off < 1e-13, "{found} for {expected}: {off:e}");
    }
}

#[test]
fn transitions_stay_on_the_constraints() {
    // A pendulum by a constraint: two directions are tangent, and areas on them are kept.
    let model = support::model(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint rod: x^2 + y^2 = 1\n\
         initial x = 0.6, y = -0.8, x' = 0.4, y' = 0.3\n",
    );
    let motion =
        support::run(&model, &Run::to(3.0).tolerance(1e-12).at([0.0, 3.0]).transition());
    let transition = motion.transition.as_ref().expect("asked for");
    let end = &transition.matrices[1];
    let (x, y) = (motion.q[0].values[1], motion.q[1].values[1]);
    for column in 0..4 {
        let along = x * end[column] + y * end[4 + column];
        assert!(along.abs() < 1e-9, "column {column} leaves the circle by {along}");
    }
    // The start is a projection: twice is once.
    let first = &transition.matrices[0];
    for i in 0..4 {
        for j in 0..4 {
            let twice: f64 = (0..4).map(|k| first[4 * i + k] * first[4 * k + j]).sum();
            assert!((twice - first[4 * i + j]).abs() < 1e-12);
        }
    }
}
