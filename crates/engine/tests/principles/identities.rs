//! What the three principles have in common and where they part, as executable identities over random systems.
//!
//! Accelerations at one state are compared to 1e-9 of their size: they come from one elimination with a
//! condition below 1e5 in these systems. Motions are compared at tolerance 1e-12
//! to 1e-8 over a few units of time.

use pfaff::{
    Model, Motion, Principle, Run, State, StateReport, Verdict, Workspace, at_state, derive,
};
use pfaff_mechanics::{Chaplygin, chaplygin, derive as derive_in};

use crate::support::{self, Random};

const SYSTEMS: u64 = 25;
const CLOSE: f64 = 1e-9;

fn at(model: &Model, principle: Principle, state: &State) -> StateReport {
    let dynamics = derive(model, Some(principle)).expect("equations");
    at_state(&dynamics, state).expect("a regular state")
}

fn assert_close(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().chain(b).fold(1.0_f64, |m, x| m.max(x.abs()));
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= CLOSE * size, "{what}: {a:?} and {b:?}");
    }
}

fn list(random: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| random.number()).collect()
}

/// A Lagrangian in the velocities of all coordinates and the positions of some: a metric that is far from
/// singular, gyroscopic terms and a potential.
fn lagrangian(random: &mut Random, moving: &[&str], holding: &[&str]) -> String {
    let mut terms = Vec::new();
    for (i, v) in moving.iter().enumerate() {
        let q = holding[random.below(holding.len())];
        terms.push(format!("(1 + {}^2*sin({q})^2)*{v}'^2/2", random.decimal()));
        let w = moving[(i + 1) % moving.len()];
        terms.push(format!("0.2*{}*cos({q})*{v}'*{w}'", random.decimal()));
        terms.push(format!("{}*{q}^2*{v}'", random.decimal()));
    }
    for q in holding {
        terms.push(format!("{}*cos({q} + 0.3)", random.decimal()));
    }
    terms.join(" + ")
}

/// The right side of `z' = …`, of the wanted shape in the base velocities.
fn rate(random: &mut Random, shape: &str) -> String {
    let mut slope = || {
        format!(
            "({}*x + {}*y^2 + {}*sin(x*y))",
            random.decimal(),
            random.decimal(),
            random.decimal()
        )
    };
    let linear = format!("{}*x' + {}*y' + 0.4*y*x'", slope(), slope());
    match shape {
        "linear" => linear,
        "affine" => format!("{linear} + {} + 0.2*cos(t)", slope()),
        "timed" => format!("{linear} + 0.3*t*x*y'"),
        _ => format!("{linear} + 0.2*x'^2*y' + 0.1*y*y'^2"),
    }
}

const SHAPES: [&str; 4] = ["linear", "affine", "timed", "nonlinear"];

/// A system in Chaplygin's form with base x, y and dependent z, w.
fn chaplygin_text(random: &mut Random, shape: &str, force: bool) -> String {
    let lagrangian = lagrangian(random, &["x", "y", "z", "w"], &["x", "y"]);
    let mut text = format!("coordinates x, y, z, w\nlagrangian {lagrangian}\n");
    for v in ["z", "w"] {
        let rate = rate(random, shape);
        text.push_str(&["constraint c", v, ": ", v, "' = ", &rate, "\n"].concat());
    }
    if force {
        text += "force x: 0.3*t - 0.2*x'\nforce y: 0.1*sin(x)\n";
    }
    text + "initial x = 0.3, y = -0.4, x' = 0.7, y' = 0.6, z = 0, w = 0\nsolve t = 0..1.5, tolerance = 1e-12\n"
}

/// A state with random base and the dependent velocities that the constraints ask for.
fn chaplygin_state(model: &Workspace, random: &mut Random) -> (State, Chaplygin, Vec<f64>) {
    let equations = derive_in(model, Principle::Chetaev).expect("equations");
    let form = chaplygin(model, &equations).expect("Chaplygin's form");
    assert_eq!(form.dependent, [2, 3]);
    let mut state =
        State { t: 0.4, q: list(random, 4), v: list(random, 4), multipliers: list(random, 2) };
    let rates = evaluate(model, &form.rates, &state);
    state.v[2..].copy_from_slice(&rates);
    let momenta = evaluate(model, &form.momenta, &state);
    (state, form, momenta)
}

fn evaluate(model: &Workspace, outputs: &[pfaff_expr::Expr], state: &State) -> Vec<f64> {
    model.graph.evaluate(outputs, &|s| {
        for (k, c) in model.coordinates.iter().enumerate() {
            if s == c.position {
                return state.q[k];
            }
            if s == c.velocity {
                return state.v[k];
            }
        }
        if let Some(a) = model.results.mu.iter().position(|&μ| μ == s) {
            return state.multipliers[a];
        }
        assert_eq!(s, model.time, "no other symbols");
        state.t
    })
}

/// Base accelerations from (Ch) with the given π.
fn chaplygin_acceleration(
    model: &Workspace,
    form: &Chaplygin,
    π: &[f64],
    state: &State,
) -> Vec<f64> {
    // The symbols of μ stand for π here.
    let (mass, force) = form.blocks(model, &model.results.mu);
    let state = State { multipliers: π.to_vec(), ..state.clone() };
    let mass = evaluate(model, &mass.concat(), &state);
    let mut x = evaluate(model, &force, &state);
    let mut lu = pfaff_solver::Lu::new(2);
    lu.factor(2, &mass).expect("regular");
    lu.solve(&mut x);
    x
}

fn motion(model: &Model, principle: Principle) -> Motion {
    let request = Run {
        principle: Some(principle),
        tolerance: Some(1e-12),
        samples: Some(31),
        ..Run::default()
    };
    let motion = support::run(model, &request);
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?} {:?}", motion.audit, motion.notes);
    assert!(!motion.stop.reason.is_early(), "{:?}", motion.notes);
    motion
}

fn assert_same_motion(a: &Motion, b: &Motion, what: &str) {
    for (x, y) in a.q.iter().zip(&b.q) {
        for (i, (x, y)) in x.values.iter().zip(&y.values).enumerate() {
            assert!((x - y).abs() < 1e-8 * (1.0 + y.abs()), "{what} at {}: {x} {y}", a.t[i]);
        }
    }
}

/// A force on a dependent coordinate pulls the others through the constraint: under the restricted principle
/// d/dt((1 + y²)x') = Q_z·y, y″ = y·x'².
#[test]
fn a_force_on_a_dependent_coordinate_is_felt_under_the_restricted_principle() {
    let motion = support::run(
        &support::model(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = y*x'\nforce z: 0.7\n\
             principle restricted\ninitial y = 0.5, x' = 1, y' = 0.7\nsolve t = 0..1",
        ),
        &Run::default(),
    );
    let first = |k: usize| motion.a[k].values[0];
    // (0.7·0.5 − 2·0.5·0.7)/1.25
    assert!((first(0) + 0.28).abs() < 1e-12, "x″ = {}", first(0));
    assert!((first(1) - 0.5).abs() < 1e-12, "y″ = {}", first(1));
}

/// One routine for the three principles: [L_c]_μ = π_α [ε^α]_μ with π = p, c, 0 gives the accelerations of
/// the saddle-point core.
#[test]
fn chaplygin_form_agrees_with_the_core() {
    for seed in 0..SYSTEMS {
        let mut random = Random::new(seed);
        let shape = SHAPES[seed as usize % 4];
        let model = support::model(&chaplygin_text(&mut random, shape, seed % 2 == 0));
        let work = model.workspace();
        let (state, form, p) = chaplygin_state(&work, &mut random);
        let c: Vec<f64> = p.iter().zip(&state.multipliers).map(|(p, μ)| p - μ).collect();
        for (principle, π) in [
            (Principle::Chetaev, &p),
            (Principle::Vakonomic, &c),
            (Principle::Restricted, &vec![0.0; 2]),
        ] {
            let core = at(&model, principle, &state);
            let view = chaplygin_acceleration(&work, &form, π, &state);
            assert_close(
                &core.acceleration[..2],
                &view,
                &format!("{seed} {shape} {principle:?}"),
            );
        }
    }
}

/// For linear constraints the bracket is the curvature: mass·(a_vak − a_restricted) = −c_α F^α_μν v^ν, so the
/// two agree exactly when c·F·v = 0, also with c ≠ 0.
#[test]
fn vakonomic_is_restricted_exactly_when_curvature_and_momentum_do_not_meet() {
    for seed in 0..SYSTEMS {
        let mut random = Random::new(100 + seed);
        let model = support::model(&chaplygin_text(&mut random, "linear", false));
        let work = model.workspace();
        let (mut state, form, p) = chaplygin_state(&work, &mut random);
        let curvature = form.curvature(&work).expect("linear");
        let f: Vec<f64> = evaluate(&work, &[curvature[0][0][1], curvature[1][0][1]], &state);
        let restricted = at(&model, Principle::Restricted, &state).acceleration;
        let (mass, _) = form.blocks(&work, &[work.graph.zero(), work.graph.zero()]);
        let mass = evaluate(&work, &mass.concat(), &state);
        let meets = |c: &[f64]| c[0] * f[0] + c[1] * f[1];
        for (c, agree) in [
            (vec![0.0, 0.0], true),
            // c ⟂ F: no force although c ≠ 0.
            (vec![f[1], -f[0]], true),
            (list(&mut random, 2), false),
        ] {
            state.multipliers = vec![p[0] - c[0], p[1] - c[1]];
            let vakonomic = at(&model, Principle::Vakonomic, &state).acceleration;
            let d = [vakonomic[0] - restricted[0], vakonomic[1] - restricted[1]];
            let moved = [mass[0] * d[0] + mass[1] * d[1], mass[2] * d[0] + mass[3] * d[1]];
            let force = [-meets(&c) * state.v[1], meets(&c) * state.v[0]];
            assert_close(&moved, &force, &format!("{seed}"));
            if agree {
                assert_close(&vakonomic, &restricted, &format!("{seed}"));
            } else {
                assert!(d[0].abs() + d[1].abs() > 1e-6, "{seed}: c F v ≠ 0 must part them");
            }
        }
    }
}

/// The transversal start is the restricted motion, on the whole run and for every shape of constraint.
#[test]
fn transversal_multipliers_give_the_restricted_motion() {
    for seed in 0..8 {
        let mut random = Random::new(200 + seed);
        let shape = SHAPES[seed as usize % 4];
        let text = chaplygin_text(&mut random, shape, true)
            + "principle vakonomic\ninitial multipliers = transversal(z, w)\n";
        let model = support::model(&text);
        let vakonomic = motion(&model, Principle::Vakonomic);
        let restricted = motion(&model, Principle::Restricted);
        assert_same_motion(&vakonomic, &restricted, &format!("{seed} {shape}"));
        for (μ, p) in vakonomic.multipliers.iter().zip(&restricted.multipliers) {
            for (μ, p) in μ.values.iter().zip(&p.values) {
                assert!(
                    (μ - p).abs() < 1e-8 * (1.0 + p.abs()),
                    "the multipliers are p: {μ} {p}"
                );
            }
        }
    }
}

/// c_α = p_α − μ_α is kept when q^α is cyclic in L and in every φ, φ^α = v^α − ε v, and no force acts on it.
#[test]
fn momentum_less_multiplier_is_kept_for_a_cyclic_coordinate() {
    for seed in 0..8 {
        let mut random = Random::new(300 + seed);
        let shape = SHAPES[seed as usize % 4];
        let text = chaplygin_text(&mut random, shape, true)
            + "principle vakonomic\ninitial mu(cz) = 0.4, mu(cw) = -0.3\n";
        let model = support::model(&text);
        let motion = motion(&model, Principle::Vakonomic);
        let model = model.workspace();
        let equations = derive_in(&model, Principle::Vakonomic).expect("equations");
        let mut first: Option<Vec<f64>> = None;
        for i in 0..motion.t.len() {
            let row = |series: &[pfaff::Series]| series.iter().map(|s| s.values[i]).collect();
            let μ: Vec<f64> = row(&motion.multipliers);
            let state = State {
                t: motion.t[i],
                q: row(&motion.q),
                v: row(&motion.v),
                multipliers: vec![],
            };
            let p = evaluate(&model, &equations.momenta[2..], &state);
            let c: Vec<f64> = p.iter().zip(&μ).map(|(p, μ)| p - μ).collect();
            let first = first.get_or_insert_with(|| c.clone());
            for (a, b) in c.iter().zip(first) {
                assert!((a - *b).abs() < 1e-9, "{seed} {shape} at {}: {a} {b}", motion.t[i]);
            }
        }
    }
}

/// Holonomic ⇒ both principles give one motion for every μ(0), with λ = μ̇; also where dφ/dt stands as a
/// velocity constraint.
#[test]
fn holonomic_constraints_give_one_motion_under_both_principles() {
    for seed in 0..SYSTEMS {
        let mut random = Random::new(400 + seed);
        let names = ["x", "y", "z"];
        let lagrangian = lagrangian(&mut random, &names, &names);
        let (a, b, c) = (random.decimal(), random.decimal(), random.decimal());
        let φ = format!("x^2 + 2*y^2 + z^2 + {a}*x*y*z + {b}*sin(z) + {c}*cos(t)*x - 1");
        for constraint in [format!("{φ} = 0"), format!("({φ})' = 0")] {
            let text = format!(
                "coordinates x, y, z\nlagrangian {lagrangian}\nconstraint c: {constraint}\nforce y: 0.2 - 0.1*y'\n\
                 initial x = 0.5, y = 0.4, z = 0.6, x' = 0.3, y' = -0.2\nprinciple vakonomic\ninitial mu(c) = 0.7\nsolve t = 0..1\n"
            );
            let model = support::model(&text);
            let mut state = State {
                t: 0.3,
                q: list(&mut random, 3),
                v: list(&mut random, 3),
                multipliers: vec![],
            };
            let chetaev = at(&model, Principle::Chetaev, &state);
            state.multipliers = list(&mut random, 1);
            let vakonomic = at(&model, Principle::Vakonomic, &state);
            let what = format!("{seed}: {constraint}");
            assert_close(&chetaev.acceleration, &vakonomic.acceleration, &what);
            assert_close(&chetaev.multipliers, &vakonomic.multiplier_rates, &what);
            assert_close(&chetaev.reaction, &vakonomic.reaction, &what);
            if seed < 4 {
                let (a, b) =
                    (motion(&model, Principle::Chetaev), motion(&model, Principle::Vakonomic));
                assert_same_motion(&a, &b, &what);
            }
        }
    }
}

/// At μ = 0 both principles give one acceleration, whatever the constraint.
#[test]
fn accelerations_agree_where_the_multiplier_vanishes() {
    for seed in 0..SYSTEMS {
        let mut random = Random::new(500 + seed);
        let shape = SHAPES[seed as usize % 4];
        let model = support::model(&chaplygin_text(&mut random, shape, true));
        let (mut state, _, _) = chaplygin_state(&model.workspace(), &mut random);
        state.multipliers = vec![0.0, 0.0];
        let (a, b) =
            (at(&model, Principle::Chetaev, &state), at(&model, Principle::Vakonomic, &state));
        assert_close(&a.acceleration, &b.acceleration, shape);
        assert_close(&a.multipliers, &b.multiplier_rates, shape);
        // It is the multiplier that parts them.
        state.multipliers = vec![0.8, 0.5];
        let b = at(&model, Principle::Vakonomic, &state);
        let apart =
            a.acceleration.iter().zip(&b.acceleration).any(|(a, b)| (a - b).abs() > 1e-6);
        assert!(apart, "{seed} {shape}");
    }
}

/// φ → s(q)φ with μ → μ/s changes neither motion nor reaction nor E[L,M].
#[test]
fn scaling_a_constraint_scales_its_multiplier_alone() {
    for seed in 0..SYSTEMS {
        let mut random = Random::new(600 + seed);
        let shape = SHAPES[seed as usize % 4];
        let text = chaplygin_text(&mut random, shape, true);
        let plain = support::model(&text);
        let scaled: String = text
            .lines()
            .map(|line| match line.strip_prefix("constraint cz: z' = ") {
                Some(rate) => {
                    format!("constraint cz: (2 + sin(x)*cos(z))*(z' - ({rate})) = 0\n")
                }
                None => format!("{line}\n"),
            })
            .collect();
        let scaled = support::model(&scaled);
        let (mut state, _, _) = chaplygin_state(&plain.workspace(), &mut random);
        let before = at(&plain, Principle::Vakonomic, &state);
        let s = 2.0 + libm::sin(state.q[0]) * libm::cos(state.q[2]);
        state.multipliers[0] /= s;
        let after = at(&scaled, Principle::Vakonomic, &state);
        assert_close(&before.acceleration, &after.acceleration, shape);
        assert_close(&before.reaction, &after.reaction, shape);
        let total = |r: &StateReport| r.energy + r.constraint_energy;
        assert_close(&[total(&before)], &[total(&after)], shape);
    }
}

/// E[M] = 0 along motions with φ homogeneous in q̇, and dE[L,M]/dt = Q·q̇ − L_t + μ·φ_t for all: the audit
/// closes for every principle and class.
#[test]
fn energy_of_the_constraints_vanishes_for_homogeneous_ones_and_balances_close_for_all() {
    for seed in 0..8 {
        let mut random = Random::new(700 + seed);
        let shape = SHAPES[seed as usize % 4];
        let text = chaplygin_text(&mut random, shape, true)
            + "principle vakonomic\ninitial mu(cz) = 0.2, mu(cw) = -0.3\n";
        let model = support::model(&text);
        // NOTE: `motion` asks for an audit that passes, with the balances of E and E[L,M] among its checks.
        for principle in [Principle::Chetaev, Principle::Vakonomic, Principle::Restricted] {
            let motion = motion(&model, principle);
            let largest = motion.constraint_energy.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
            let homogeneous = matches!(shape, "linear" | "timed");
            if homogeneous {
                assert!(largest < 1e-11, "{shape} {principle:?}: {largest}");
            } else if principle != Principle::Chetaev {
                assert!(largest > 1e-4, "{shape} {principle:?}: {largest}");
            }
        }
    }
}

/// R·q̇ = −dE[M]/dt + μ·φ_t + … : the power column is the work of the reactions; under Chetaev's principle it
/// is λ·A q̇, zero for homogeneous constraints.
#[test]
fn reactions_of_homogeneous_constraints_have_no_power() {
    for (seed, shape) in [(0, "linear"), (1, "timed"), (2, "affine"), (3, "nonlinear")] {
        let mut random = Random::new(800 + seed);
        let model = support::model(&chaplygin_text(&mut random, shape, false));
        let motion = motion(&model, Principle::Chetaev);
        let largest = motion.reaction_power.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        if matches!(shape, "linear" | "timed") {
            assert!(largest < 1e-11, "{shape}: {largest}");
        } else {
            assert!(largest > 1e-5, "{shape}: {largest}");
        }
    }
}

fn refusal(text: &str, principle: Option<Principle>) -> String {
    let model = support::model(text);
    let request = Run { principle, ..Run::default() };
    match pfaff::run(&model, &request, &mut |_, _| true) {
        Ok(_) => panic!("refused: {text}"),
        Err(pfaff::Error::Usage(message)) => message,
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics, .. })) => {
            diagnostics.iter().map(|d| d.render(&model.source)).collect()
        }
    }
}

const CONTACT: &str = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' - y*x' = 0\nsolve t = 0..1\n";

#[test]
fn a_vakonomic_run_without_multipliers_is_refused_and_the_choice_explained() {
    let said = refusal(CONTACT, Some(Principle::Vakonomic));
    for word in ["mu(c)", "zero", "transversal"] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn multipliers_in_a_chetaev_or_restricted_run_are_refused() {
    for principle in ["chetaev", "restricted"] {
        let text = format!("{CONTACT}principle {principle}\ninitial mu(c) = 1\n");
        let said = refusal(&text, None);
        assert!(said.contains("E0606") && said.contains(principle), "{said}");
        let text = format!("{CONTACT}principle {principle}\ninitial multipliers = zero\n");
        assert!(refusal(&text, None).contains("E0606"));
    }
}

#[test]
fn transversal_of_a_coordinate_that_is_not_cyclic_is_refused_by_name() {
    let text = format!("{CONTACT}principle vakonomic\ninitial multipliers = transversal(y)\n");
    let said = refusal(&text, None);
    assert!(said.contains("`y` is not cyclic") && said.contains("`c`"), "{said}");
    let text =
        format!("{CONTACT}principle vakonomic\ninitial multipliers = transversal(x, z)\n");
    assert!(refusal(&text, None).contains("2 coordinates for 1"));
}

#[test]
fn a_dependent_coordinate_that_appears_is_refused_by_name() {
    let text = CONTACT.replace(")/2", ")/2 - z");
    let said = refusal(&text, Some(Principle::Restricted));
    assert!(said.contains("`z`") && said.contains("Lagrangian"), "{said}");
    // Every velocity that this constraint can give belongs to a coordinate that it contains.
    let text = CONTACT.replace("z' - y*x'", "z*z' - y*z*y' - x*y*x'");
    let said = refusal(&text, Some(Principle::Restricted));
    assert!(said.contains("`z`") && said.contains("`c`"), "{said}");
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: x'^2 + y'^2 = 1\nsolve t = 0..1\n";
    assert!(refusal(text, Some(Principle::Restricted)).contains("not linear"));
}

#[test]
fn a_singular_effective_mass_is_named_at_the_start_and_on_the_way() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: x'^2 + y'^2 = 1\nprinciple vakonomic\n\
                initial x' = 1, mu(c) = 0.5\nsolve t = 0..1\n";
    let said = refusal(text, None);
    assert!(said.contains("effective mass") && said.contains("mu(c)"), "{said}");
    // x' − 3 t x'² = 0.3 folds where 12·0.3·t = 1.
    let text = "coordinates x, z\nlagrangian x'^2/2 + z\nconstraint c: z' = x'^3\nprinciple vakonomic\n\
                initial x' = 0.3, mu(c) = 0\nsolve t = 0..5\n";
    let model = support::model(text);
    for (method, step, close) in [("auto", None, 1e-6), ("rk4", Some(0.01), 0.011)] {
        let request = Run { method: pfaff::Method::from_name(method), step, ..Run::default() };
        let motion = support::run(&model, &request);
        assert_eq!(motion.stop.reason, pfaff::StopReason::Singular);
        assert!((motion.stop.t - 1.0 / 3.6).abs() < close, "{}", motion.stop.t);
        let notes = pfaff_present::notes(&motion).concat();
        assert!(notes.contains("effective mass") && notes.contains("mu(c)"), "{notes}");
    }
}
