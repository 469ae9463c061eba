//! Each theorem that the engine relies on, as an executable identity over random systems.
//!
//! One test a theorem. Systems are random texts of the model language, so that the whole road is tested;
//! seeds are fixed.

use pfaff::{Model, Run, State, StateReport, at_state, derive};

use crate::support::{self, Random};

const NAMES: [&str; 4] = ["x", "y", "z", "w"];
const SYSTEMS: u64 = 40;

/// What the constraints of a random system look like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Linear,
    Affine,
    Nonlinear,
    /// Homogeneous of degree one in the velocities, with time in it.
    Homogeneous,
}

/// A kinetic energy with a positive definite metric that depends on positions, a potential and gyroscopic terms.
fn lagrangian(random: &mut Random) -> String {
    let mut terms: Vec<String> = Vec::new();
    for (i, a) in NAMES.iter().enumerate() {
        let b = NAMES[random.below(4)];
        terms.push(format!("(1 + {}^2*{b}^2 + sin({b})^2)*{a}'^2/2", random.decimal()));
        let c = NAMES[(i + 1) % 4];
        terms.push(format!("0.2*{}*cos({a})*{a}'*{c}'", random.decimal()));
        terms.push(format!("{}*{b}*{a}'", random.decimal()));
        terms.push(format!("{}*cos({a} + {}*{c})", random.decimal(), random.decimal()));
    }
    terms.join(" + ")
}

fn constraint(random: &mut Random, shape: Shape) -> String {
    let mut row = |scale: &str| -> String {
        let term = |random: &mut Random, a: &str| {
            let b = NAMES[random.below(4)];
            format!("({} + {}*sin({b}){scale})*{a}'", random.decimal(), random.decimal())
        };
        let terms: Vec<String> = NAMES.iter().map(|a| term(random, a)).collect();
        terms.join(" + ")
    };
    match shape {
        Shape::Linear => format!("{} = 0", row("")),
        Shape::Affine => format!("{} = 0.3*x*y + 0.2*cos(t)", row("*cos(t)")),
        Shape::Nonlinear => format!("{} + 0.1*x'*y'*z' + 0.2*w'^2 = 0.1*z", row("")),
        Shape::Homogeneous => {
            format!("{} = 0.3*sqrt(x'^2 + y'^2 + z'^2 + w'^2)", row("*cos(t)"))
        }
    }
}

fn text(random: &mut Random, shape: Shape, count: usize, force: bool) -> String {
    let mut text = format!("coordinates x, y, z, w\nlagrangian {}\n", lagrangian(random));
    for _ in 0..count {
        text += &format!("constraint {}\n", constraint(random, shape));
    }
    if force {
        text += "force x: 0.3*t - 0.2*x'\nforce w: sin(y)\n";
    }
    text += "initial x = 0.3, y = -0.4, z = 0.2, w = 0.5, x' = 0.7, y' = 0.6\nsolve t = 0..2\n";
    text
}

fn report(model: &Model, random: &mut Random) -> StateReport {
    let mut list = || (0..4).map(|_| random.number()).collect::<Vec<f64>>();
    let (q, v) = (list(), list());
    let dynamics = derive(model, None).expect("equations");
    at_state(&dynamics, &State { t: 0.4, q, v, multipliers: Vec::new() })
        .expect("a regular state")
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A virtual displacement: a random vector made orthogonal to the rows of A by Gram–Schmidt.
fn virtual_displacement(r: &StateReport, random: &mut Random) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in r.jacobian.chunks(4) {
        let mut e = row.to_vec();
        for u in &basis {
            let c = dot(&e, u);
            e.iter_mut().zip(u).for_each(|(x, y)| *x -= c * y);
        }
        let norm = dot(&e, &e).sqrt();
        basis.push(e.iter().map(|x| x / norm).collect());
    }
    let mut δq: Vec<f64> = (0..4).map(|_| random.number()).collect();
    for u in &basis {
        let c = dot(&δq, u);
        δq.iter_mut().zip(u).for_each(|(x, y)| *x -= c * y);
    }
    δq
}

fn systems(mut test: impl FnMut(Shape, &mut Random)) {
    for seed in 0..SYSTEMS {
        for shape in [Shape::Linear, Shape::Affine, Shape::Nonlinear, Shape::Homogeneous] {
            test(shape, &mut Random::new(seed * 7 + shape as u64));
        }
    }
}

/// D'Alembert: reactions do no virtual work, R·δq = 0 whenever A δq = 0.
#[test]
fn dalembert_reactions_do_no_virtual_work() {
    systems(|shape, random| {
        let model = support::model(&text(random, shape, 2, true));
        let r = report(&model, random);
        let work = dot(&r.reaction, &virtual_displacement(&r, random));
        let size = 1.0 + dot(&r.reaction, &r.reaction).sqrt();
        // Rounding of a 6 × 6 solve; the matrices here have condition numbers up to some hundreds.
        assert!(work.abs() < 1e-11 * size, "{shape:?}: {work}");
    });
}

/// Gauss: among the accelerations that the constraints allow the true one makes Z = ½aᵀMa − fᵀa least (M is
/// positive definite here).
#[test]
fn gauss_least_constraint() {
    systems(|shape, random| {
        let model = support::model(&text(random, shape, 2, true));
        let r = report(&model, random);
        let apply =
            |a: &[f64]| -> Vec<f64> { r.mass.chunks(4).map(|row| dot(row, a)).collect() };
        let f: Vec<f64> =
            apply(&r.acceleration).iter().zip(&r.reaction).map(|(x, y)| x - y).collect();
        let z = |a: &[f64]| 0.5 * dot(a, &apply(a)) - dot(&f, a);
        let δ = virtual_displacement(&r, random);
        let varied: Vec<f64> = r.acceleration.iter().zip(&δ).map(|(a, d)| a + d).collect();
        let least = z(&r.acceleration);
        assert!(z(&varied) > least - 1e-11 * (1.0 + least.abs()), "{shape:?}");
    });
}

/// Gauss for an indefinite mass: Z is stationary, its first variation along every virtual displacement vanishes.
#[test]
fn gauss_is_stationary_for_an_indefinite_mass() {
    for seed in 0..SYSTEMS {
        let mut random = Random::new(seed);
        let text = format!(
            "coordinates x, y, z, w\nlagrangian (x'^2 - y'^2 + 2*z'^2 + w'^2)/2 + {}*x*y + {}*cos(z)\n\
             constraint {}\nsolve t = 0..1\n",
            random.decimal(),
            random.decimal(),
            constraint(&mut random, Shape::Linear)
        );
        let model = support::model(&text);
        let r = report(&model, &mut random);
        let δ = virtual_displacement(&r, &mut random);
        // δZ = (M a − f)·δ = R·δ
        let size = 1.0 + dot(&r.reaction, &r.reaction).sqrt();
        assert!(dot(&r.reaction, &δ).abs() < 1e-11 * size);
    }
}

/// Energy is kept where ∂L/∂t = 0, no force acts and φ is homogeneous in the velocities (φ may contain t).
#[test]
fn energy_is_kept_for_homogeneous_constraints() {
    for seed in 0..12 {
        for shape in [Shape::Linear, Shape::Homogeneous] {
            let mut random = Random::new(100 + seed);
            let model = support::model(&text(&mut random, shape, 1, false));
            let motion =
                support::run(&model, &Run { tolerance: Some(1e-12), ..Run::default() });
            let first = motion.energy[0];
            for e in &motion.energy {
                // Some hundred steps of local error 1e-12.
                assert!(
                    (e - first).abs() < 1e-9 * (1.0 + first.abs()),
                    "{shape:?} {seed}: {e} {first}"
                );
            }
        }
    }
}

/// An affine constraint does work: the energy of a generic system with drift is not kept, and the balance
/// closes all the same.
#[test]
fn affine_constraints_do_work_and_the_balance_closes() {
    let mut moved = 0;
    for seed in 0..12 {
        let mut random = Random::new(200 + seed);
        let model = support::model(&text(&mut random, Shape::Affine, 1, false));
        let motion = support::run(&model, &Run { tolerance: Some(1e-12), ..Run::default() });
        let last = motion.energy.len() - 1;
        let gained = motion.energy[last] - motion.energy[0];
        assert!((gained - motion.work[last]).abs() < 1e-9 * (1.0 + gained.abs()));
        moved += usize::from(gained.abs() > 1e-3);
    }
    assert!(moved > 6, "drift does work in most systems: {moved}");
}

/// φ → c(q)φ with c ≠ 0 leaves motion and reactions alone.
#[test]
fn scaling_a_constraint_changes_nothing() {
    for seed in 0..12 {
        for shape in [Shape::Linear, Shape::Affine, Shape::Nonlinear] {
            let mut random = Random::new(300 + seed);
            let base = text(&mut random, shape, 1, true);
            let line =
                base.lines().find(|l| l.starts_with("constraint")).expect("one constraint");
            let (left, right) =
                line["constraint ".len()..].split_once('=').expect("an equation");
            let scaled = format!("constraint (2 + sin(x*y + z))*({left} - ({right})) = 0");
            let other = base.replace(line, &scaled);
            let request = Run { tolerance: Some(1e-12), ..Run::default() };
            let a = support::run(&support::model(&base), &request);
            let b = support::run(&support::model(&other), &request);
            for (s, r) in
                a.q.iter()
                    .chain(&a.v)
                    .chain(&a.reactions)
                    .zip(b.q.iter().chain(&b.v).chain(&b.reactions))
            {
                for (x, y) in s.values.iter().zip(&r.values) {
                    // Two integrations at tolerance 1e-12.
                    assert!(
                        (x - y).abs() < 1e-9 * (1.0 + y.abs()),
                        "{shape:?} {seed} {}: {x} {y}",
                        s.name
                    );
                }
            }
        }
    }
}
