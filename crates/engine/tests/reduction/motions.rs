//! The reduced form against the saddle-point form: the same motion, multipliers and reactions, for every
//! model that has both.
//!
//! `run` takes the reduced form where there is one; `run_derived` keeps the saddle-point form.

use std::fmt::Write as _;

use pfaff::{Class, Dynamics, Form, Model, Motion, Run, Series, derive, run_derived};
use pfaff_mechanics::{ChartPoint, reduce};

use crate::support::{self, Random};

/// Both integrate at 1e-13; some thousand steps add up, and the rattleback magnifies what they lose.
const TOLERANCE: f64 = 1e-9;

fn saddle(model: &Model, request: &Run) -> Motion {
    let dynamics = derive(model, None).expect("equations");
    run_derived(&dynamics, request, &mut |_, _| true).expect("a motion")
}

fn is_flat(model: &Model) -> bool {
    match derive(model, None).map(|derivation| derivation.dynamics) {
        Ok(Dynamics::Saddle(e)) => {
            let flat = |c: &Class| matches!(c, Class::Linear | Class::Affine);
            e.principle == pfaff::Principle::Chetaev
                && e.classes.iter().all(flat)
                && model.constraints.iter().all(|c| c.along.is_none())
        }
        _ => false,
    }
}

fn compare(name: &str, model: &Model, request: &Run) -> Form {
    let (reduced, full) = (support::run(model, request), saddle(model, request));
    assert_eq!(full.form == Form::Saddle, reduced.form != Form::Ordinary, "{name}");
    assert_eq!(reduced.t, full.t, "{name}: {:?} {:?}", reduced.notes, full.notes);
    let close = |what: &str, a: &[Series], b: &[Series]| {
        for (a, b) in a.iter().zip(b) {
            let scale = b.values.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
            for (i, (x, y)) in a.values.iter().zip(&b.values).enumerate() {
                let same = (x - y).abs() <= TOLERANCE * scale || (x.is_nan() && y.is_nan());
                assert!(same, "{name}: {what} {} at {}: {x} for {y}", a.name, full.t[i]);
            }
        }
    };
    close("q", &reduced.q, &full.q);
    close("v", &reduced.v, &full.v);
    close("a", &reduced.a, &full.a);
    close("λ", &reduced.multipliers, &full.multipliers);
    close("R", &reduced.reactions, &full.reactions);
    let column = |values: &[f64]| vec![Series { name: String::new(), values: values.to_vec() }];
    close("E", &column(&reduced.energy), &column(&full.energy));
    close("w", &column(&reduced.work), &column(&full.work));
    assert_eq!(reduced.audit.verdict, full.audit.verdict, "{name}: {:?}", reduced.audit);
    reduced.form
}

fn precise(model: &Model) -> Run {
    let t1 = model.solve.range.map_or(1.0, |r| r.0 + (r.1 - r.0).min(4.0));
    Run { t1: Some(t1), tolerance: Some(1e-13), samples: Some(7), ..Run::default() }
}

#[test]
fn gallery_models_move_alike_in_both_forms() {
    for entry in support::gallery() {
        let model = support::model(entry.text);
        let has_memory = ["caputo(", "memory("].iter().any(|word| entry.text.contains(word));
        // Derived equations do not contain noise.
        if !model.noises.is_empty() {
            let refused = run_derived(
                &derive(&model, None).expect("equations"),
                &precise(&model),
                &mut |_, _| true,
            );
            assert!(refused.is_err_and(|e| e.to_string().contains("noise")), "{}", entry.name);
            continue;
        }
        // Models with memory have a form of their own, and those with given ends no initial state.
        if has_memory
            || !model.terminal.is_empty()
            || matches!(model.dynamics, pfaff_model::Dynamics::Equations(_))
        {
            continue;
        }
        let form = compare(entry.name, &model, &precise(&model));
        assert_eq!(form == Form::Reduced, is_flat(&model), "{}: {form:?}", entry.name);
    }
}

#[test]
fn reference_models_move_alike_in_both_forms() {
    let table: serde_json::Value =
        serde_json::from_str(include_str!("../reference/trajectories.json")).expect("JSON");
    let mut reduced = 0;
    for case in table["cases"].as_array().expect("a list of cases") {
        let name = case["id"].as_str().expect("an id");
        let model = support::model(case["model"].as_str().expect("a text"));
        let form = compare(name, &model, &precise(&model));
        assert_eq!(form == Form::Reduced, is_flat(&model), "{name}: {form:?}");
        reduced += usize::from(form == Form::Reduced);
    }
    assert!(reduced >= 15, "{reduced} of them were reduced");
}

const NAMES: [&str; 4] = ["x", "y", "z", "w"];

/// A random system: a metric that depends on positions and time, gyroscopic terms, functions of all kinds,
/// forces that depend on velocities.
fn random_text(random: &mut Random, rows: usize, is_affine: bool, repeats: bool) -> String {
    let mut terms: Vec<String> = Vec::new();
    for (i, a) in NAMES.iter().enumerate() {
        let (b, c) = (NAMES[random.below(4)], NAMES[(i + 1) % 4]);
        let d = random.decimal();
        terms.push(format!("(1 + {d}^2*{b}^2 + sin({b} + t)^2)*{a}'^2/2"));
        terms.push(format!("0.2*{}*cos({a})*{a}'*{c}'", random.decimal()));
        terms.push(format!("{}*{b}*{a}'*exp(-{c}^2)", random.decimal()));
        terms.push(format!("{}*atan2({a}, 2 + {c}^2)/sqrt(1 + {b}^2)", random.decimal()));
        terms.push(format!("0.1*if({c} > 9, 1, cos({c}))*tanh({a}')"));
    }
    let mut text = format!(
        "coordinates x, y, z, w\nparameters p = 0.7\nlagrangian {}\n",
        terms.join(" + ")
    );
    let mut sides: Vec<String> = Vec::new();
    for _ in 0..rows {
        let row: Vec<String> = NAMES
            .iter()
            .filter_map(|a| {
                let b = NAMES[random.below(4)];
                let plain = random.below(3) == 0;
                let term = if plain {
                    format!("{}*p*{a}'", random.decimal())
                } else {
                    format!("({} + {}*sin({b}))*{a}'", random.decimal(), random.decimal())
                };
                (random.below(4) > 0).then_some(term)
            })
            .collect();
        let row =
            if row.is_empty() { "x'*cos(w) + y'*sin(w)".to_owned() } else { row.join(" + ") };
        sides.push(if is_affine { format!("{row} - 0.3*x*y - 0.2*cos(t)") } else { row });
    }
    if repeats {
        sides.push(format!("(1 + y^2)*({})", sides[0]));
    }
    for side in &sides {
        writeln!(text, "constraint {side} = 0").expect("texts grow");
    }
    text += "force x: 0.3*t - 0.2*x'\nforce w: sin(y)\ndissipation 0.1*(y'^2 + z'^2)\n";
    text += "initial x = 0.3, y = -0.4, z = 0.2, w = 0.5, x' = 0.7, y' = 0.6\nsolve t = 0..1\n";
    text
}

/// The same Chetaev motion follows from $B^\top(\mathrm{EL} - Q) = 0$ and from the saddle point, for affine
/// rows with time, forces, dissipation and repeated rows.
#[test]
fn random_systems_move_alike_in_both_forms() {
    let mut reduced = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (is_affine, repeats) = (seed % 2 == 1, seed % 5 == 4);
        let text = random_text(&mut random, 1 + random_rows(seed), is_affine, repeats);
        let model = support::model(&text);
        let motion = saddle(&model, &precise(&model));
        if motion.stop.reason != pfaff::StopReason::End {
            // The rows happen to lose their rank: nothing to compare beyond.
            continue;
        }
        let form = compare(&text, &model, &precise(&model));
        reduced += usize::from(form == Form::Reduced);
    }
    assert!(reduced >= 50, "{reduced} of 60 were reduced");
}

/// With more than eight unknowns the reduced mass is factorised numerically at each evaluation.
#[test]
fn many_unknowns_are_solved_for_numerically() {
    let text = "coordinates q[12]\n\
        lagrangian sum(i = 1..12, (1 + 0.1*i)*q[i]'^2/2 - cos(q[i])) + 0.3*sum(i = 1..11, q[i]'*q[i+1]'*sin(q[i])) \n\
        constraint q[1]' = cos(q[3])*q[2]' + 0.2*t\nconstraint q[7]' = q[8]*q[9]' - q[2]'\n\
        force q[5]: -0.1*q[5]'\n\
        initial q[i = 1..12] = 0.1*i, q[i = 1..12]' = 0.3 - 0.05*i\nsolve t = 0..2\n";
    let model = support::model(text);
    assert_eq!(compare("twelve coordinates", &model, &precise(&model)), Form::Reduced);
}

fn random_rows(seed: u64) -> usize {
    (seed % 3) as usize
}

/// A double pendulum in Cartesian coordinates, which passes states where its first coefficients vanish:
/// elimination in a fixed order is watched and must not show.
#[test]
fn elimination_in_a_fixed_order_keeps_a_loop_closed() {
    let text = "coordinates x, y, X, Y\nparameters g = 9.81\n\
        lagrangian (x'^2 + y'^2)/2 + (X'^2 + Y'^2)/2 - g*(y + Y)\n\
        constraint rod: x^2 + y^2 = 1\nconstraint link: (X - x)^2 + (Y - y)^2 = 1\n\
        initial x = 1, y = 0, X = 2, Y = 0\nsolve t = 0..3, tolerance = 1e-12\n";
    let cartesian = support::run(&support::model(text), &Run::default());
    assert_eq!(cartesian.form, Form::Saddle);
    assert_eq!(cartesian.audit.verdict, pfaff::Verdict::Pass, "{:?}", cartesian.audit);
    let text = "coordinates a, b\nparameters g = 9.81\n\
        let p = [cos(a), sin(a)]\nlet q = p + [cos(b), sin(b)]\n\
        lagrangian (dot(p', p') + dot(q', q'))/2 - g*(p[2] + q[2])\n\
        observe x = q[1]\nobserve y = q[2]\nsolve t = 0..3, tolerance = 1e-12\n";
    let angles = support::run(&support::model(text), &Run::default());
    for (series, expected) in cartesian.q[2..].iter().zip(&angles.observed) {
        for (a, b) in series.values.iter().zip(&expected.values) {
            // The motion is chaotic: errors of 1e-12 grow by some hundreds in this time.
            assert!((a - b).abs() < 1e-8, "{}: {a} for {b}", series.name);
        }
    }
}

/// A particle that keeps its distance from $x\cdot\dot x = 0$ alone: no coefficient of the row stays away from zero.
#[test]
fn a_sphere_is_covered_by_charts() {
    let text = |constraint: &str| {
        format!(
            "coordinates x, y, z\nparameters m = 1, g = 9.81\n\
             lagrangian m*(x'^2 + y'^2 + z'^2)/2 - m*g*z\nconstraint sphere: {constraint}\n\
             event slow: g*z' + x*y' - t/9\n\
             initial x = 1, y = 0, z = 0, y' = 2.5, z' = 0.3\nsolve t = 0..20, tolerance = 1e-14\n"
        )
    };
    let model = support::model(&text("x*x' + y*y' + z*z' = 0"));
    let request = Run::default();
    let motion = support::run(&model, &request);
    assert_eq!(motion.form, Form::Reduced);
    assert_eq!(motion.stop.reason, pfaff::StopReason::End);
    let holonomic = support::run(&support::model(&text("x^2 + y^2 + z^2 = 1")), &request);
    for (a, b) in motion.q.iter().chain(&motion.v).zip(holonomic.q.iter().chain(&holonomic.v)) {
        assert!(a.values.iter().all(|x| x.is_finite()), "{}", a.name);
        let (x, y) = (a.values.last().unwrap(), b.values.last().unwrap());
        // Asked for at the end; the pendulum goes round about fifteen times.
        assert!((x - y).abs() < 1e-10 * (1.0 + y.abs()), "{}: {x} for {y}", a.name);
    }
    // Events that look at velocities mean the same in every chart: the function passes zero with slopes above 1.
    assert!(motion.events.len() > 10, "{:?}", motion.events);
    assert_eq!(motion.events.len(), holonomic.events.len());
    for (a, b) in motion.events.iter().zip(&holonomic.events) {
        assert!(a.direction == b.direction && (a.t - b.t).abs() < 1e-9, "{a:?} {b:?}");
    }
    assert_eq!(motion.audit.verdict, pfaff::Verdict::Pass, "{:?}", motion.audit);
}

/// The operations of the right-hand side of a chain of knife edges grow with its length, and not faster.
/// Forms that the model uses may depend on each other where its coordinates are regular, here at psi = 0:
/// they are left before.
#[test]
fn forms_of_the_model_are_left_before_they_degenerate() {
    let ball = pfaff::gallery_model("ball").expect("built in").text;
    let start = ball.replace("psi = 1,", "psi = 0.2,");
    let text = start.replace("u = -0.35, v = -0.2", "u = -0.4, v = 0.1");
    assert_eq!(text.matches("psi = 0.2,").count() + text.matches("v = 0.1").count(), 2);
    let model = support::model(&text);
    let request = Run { method: Some(pfaff::Method::Dop853), ..Run::default() };
    let motion = support::run(&model, &request);
    assert_eq!(motion.form, Form::Reduced);
    let psi = &motion.q[0].values;
    assert!(psi[0] > 0.0 && psi.iter().any(|&x| x < -0.1), "psi passes through 0");
    assert_eq!(motion.audit.verdict, pfaff::Verdict::Pass, "{:?}", motion.audit);
    // The tolerance is 1e-11 a step; forms that had degenerated lost a good part of the energy.
    let (first, last) = (motion.energy[0], motion.energy[psi.len() - 1]);
    assert!((last - first).abs() <= 1e-9 * first.abs(), "{first} {last}");
}

/// A ball on Euler's angles that rolls in an elliptic bowl; `spin` is its kinetic energy of turning.
fn ball_text(spin: &str) -> String {
    format!(
        "coordinates  x, y, z, psi, theta, phi
parameters   m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036, J = 0.05
let          w = [theta'*cos(psi) + phi'*sin(theta)*sin(psi), theta'*sin(psi) - phi'*sin(theta)*cos(psi), psi' + phi'*cos(theta)]
let          s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
lagrangian   m*(x'^2 + y'^2 + z'^2)/2 + {spin} - m*g*z
constraint   roll: [x', y', z'] = R*cross(w, [-k1*x*s, -k2*y*s, s])
initial      x = 0.6, y = 0.1, psi = 0.3, theta = 1.3, theta' = 0.7, psi' = 0.5, phi' = 0.2
solve        t = 0..2"
    )
}

/// The mass of a homogeneous ball stretches all forces by one number, which only exact identities show: $|n| =
/// 1$, $n\cdot r = 0$, and a kinetic energy of turning
/// $I\omega^2/2$ that is written in angles. That leaves 91 operations, a multiply-add counted twice; the
/// general solve alone would take some 50 more.
#[test]
fn a_homogeneous_ball_needs_no_solve() {
    let operations = |spin: &str| {
        let model = support::model(&ball_text(spin));
        let form = compare(spin, &model, &precise(&model));
        assert_eq!(form, Form::Reduced, "{spin}");
        let q = [0.6, 0.1, 0.0, 0.3, 1.3, 0.0];
        let point = ChartPoint { t: 0.0, q: &q, scale: &[] };
        reduce(&model.workspace(), &[Class::Linear; 3], point)
            .expect("linear rows")
            .operations()
    };
    let even = operations("I*(psi'^2 + theta'^2 + phi'^2 + 2*psi'*phi'*cos(theta))/2");
    let body = operations("I*(w[1]^2 + w[2]^2)/2 + J*w[3]^2/2");
    assert!(even <= 95 && body > even + 40, "{even} {body}");
}

/// With an offset mass the equations of the sleigh have one term each in the quasi-velocities, which shows
/// only once they are written as polynomials of these.
#[test]
fn a_sleigh_has_one_term_an_equation() {
    let model = support::model(pfaff::gallery_model("sleigh").expect("a gallery model").text);
    let point = ChartPoint { t: 0.0, q: &[0.0, 0.0, 0.3], scale: &[] };
    let reduction = reduce(&model.workspace(), &[Class::Linear], point).expect("a linear row");
    // Sine, cosine and two products for the velocities, two or three products for each rate, and as many
    // operations on parameters; as they are derived the equations take some 30 more.
    assert!(reduction.operations() <= 16, "{}", reduction.operations());
}

#[test]
fn a_chain_costs_its_length() {
    let operations = |count: usize| {
        let text = pfaff::gallery_model("trailers").expect("a gallery model").text;
        let text = text.replace("N = 5", &format!("N = {count}"));
        assert!(text.contains(&format!("N = {count}")), "the size is a parameter");
        let model = support::model(&text);
        let n = model.coordinates.len();
        let q: Vec<f64> = (0..n).map(|i| 0.3 * f64::from(i as u32)).collect();
        let classes = vec![Class::Linear; count];
        let reduction =
            reduce(&model.workspace(), &classes, ChartPoint { t: 0.0, q: &q, scale: &[] })
                .expect("a reduction");
        assert_eq!(reduction.independent.len(), 3);
        assert!(reduction.charts.is_empty(), "every pivot is constant");
        reduction.operations()
    };
    let counts = [5, 10, 20, 40].map(operations);
    let steps: Vec<usize> = counts.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(steps[2], 2 * steps[1], "{counts:?}");
    // Hand-reduced C takes about 91 a body with multiply-adds counted once, 155 otherwise.
    assert!(steps[0] <= 5 * 155, "{counts:?}");
}
