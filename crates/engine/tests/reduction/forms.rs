//! The forms without multipliers against the saddle-point core; Helmholtz's test; variations; equivalence
//! along a motion; `compare`.

use pfaff::{
    Equations, Model, Principle, Run, State, VariationRequest, Workspace, at_state, compare,
    derive, variations,
};
use pfaff_expr::Expr;
use pfaff_mechanics::{Helmholtz, canonical, explicit, helmholtz, reduced_equations};
use pfaff_present::{ToJson, ToText};

use crate::support::{self, Random};

/// Expressions and elimination share all but the order of a few hundred operations, with conditions below 1e5.
const CLOSE: f64 = 1e-9;

fn equations(model: &Workspace, principle: Principle) -> Equations {
    pfaff_mechanics::derive(model, principle).expect("equations")
}

fn evaluate(
    model: &Workspace,
    outputs: &[Expr],
    state: &State,
    more: &[(Expr, f64)],
) -> Vec<f64> {
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
        let parameter = model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
        let known = more.iter().find(|(e, _)| *e == s).map(|(_, x)| *x);
        known.or(parameter).unwrap_or_else(|| {
            assert_eq!(s, model.time, "no other symbol");
            state.t
        })
    })
}

fn assert_close(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().chain(b).fold(1.0_f64, |m, x| m.max(x.abs()));
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= CLOSE * size, "{what}: {a:?} and {b:?}");
    }
}

/// Three coordinates in a plane with a turning blade, an affine and a timed row, a force and gyroscopic terms.
fn text(random: &mut Random, seed: u64) -> String {
    let (a, b, c) = (random.decimal(), random.decimal(), random.decimal());
    let second = match seed % 4 {
        0 => "constraint row: z' + sin(x)*w' = 0",
        1 => "constraint row: z' = 0.3*x*y + cos(t)*w'",
        2 => "constraint row: (2 + cos(z))*w' - x*z' + 0.2*t*phi' = 0.1",
        _ => "constraint row: z' - y*phi' = 0\nconstraint again: 2*z' - 2*y*phi' = 0",
    };
    format!(
        "coordinates x, y, phi, z, w\nparameters m = 1.3\n\
         lagrangian m*(x'^2 + y'^2)/2 + (1 + {a}^2*sin(x)^2)*phi'^2/2 + (2 + cos(y))*z'^2/2 + w'^2/2 + {b}*x*z' + 0.2*x'*w' - {c}*cos(phi)*y\n\
         constraint blade: y'*cos(phi) - x'*sin(phi) = 0\n{second}\nforce x: 0.2*t - 0.1*x'\n\
         initial x = 0.3, y = 0.4, phi = 0.7, z = 0.2, w = 0.1, x' = 0.5, phi' = 0.6, w' = -0.3\nsolve t = 0..1\n"
    )
}

/// A state that obeys the constraints: the start of a run.
fn consistent(model: &Model, random: &mut Random) -> State {
    let request = Run { samples: Some(2), t1: Some(0.01), ..Run::default() };
    let motion = support::run(model, &request);
    let first = |s: &[pfaff::Series]| s.iter().map(|s| s.values[0]).collect::<Vec<f64>>();
    State {
        t: 0.0,
        q: first(&motion.q),
        v: first(&motion.v),
        multipliers: model.constraints.iter().map(|_| random.number()).collect(),
    }
}

#[test]
fn quasi_velocities_and_explicit_multipliers_agree_with_the_core() {
    for seed in 0..16 {
        let mut random = Random::new(seed);
        let frozen = support::model(&text(&mut random, seed));
        let model = frozen.workspace();
        let state = consistent(&frozen, &mut random);
        for principle in [Principle::Chetaev, Principle::Vakonomic] {
            let what = format!("{seed} {principle:?}");
            let e = equations(&model, principle);
            let derived = derive(&frozen, Some(principle)).expect("equations");
            let core = at_state(&derived, &state).expect("regular");
            let solution = explicit(&model, &e).expect("regular");
            let a = evaluate(&model, &solution.accelerations, &state, &[]);
            assert_close(&a, &core.acceleration, &what);
            // With a repeated row the multipliers are not unique: compare the reaction.
            let λ = evaluate(&model, &solution.multipliers, &state, &[]);
            let solved = if principle == Principle::Chetaev {
                &core.multipliers
            } else {
                &core.multiplier_rates
            };
            let along = |λ: &[f64]| -> Vec<f64> {
                (0..5)
                    .map(|k| (0..λ.len()).map(|a| λ[a] * core.jacobian[a * 5 + k]).sum())
                    .collect()
            };
            assert_close(&along(&λ), &along(solved), &what);

            let reduced = reduced_equations(&model, &e).expect("affine");
            assert_eq!(reduced.quasi.symbols.len(), 3, "{what}");
            let g = &model.graph;
            // u and u̇ along the motion of the core, from the definition of u.
            let mut along: Vec<(Expr, Expr)> = Vec::new();
            for (c, &a) in model.coordinates.iter().zip(&solution.accelerations) {
                along.push((c.position, c.velocity));
                along.push((c.velocity, a));
            }
            along.push((model.time, g.one()));
            let u = evaluate(&model, &reduced.quasi.definitions, &state, &[]);
            let rates = g.directional(&reduced.quasi.definitions, &along);
            let rates = evaluate(&model, &rates, &state, &[]);
            let known: Vec<(Expr, f64)> =
                reduced.quasi.symbols.iter().copied().zip(u.iter().copied()).collect();
            assert_close(
                &evaluate(&model, &reduced.velocities, &state, &known),
                &state.v,
                &what,
            );
            let mass = evaluate(&model, &reduced.mass.concat(), &state, &known);
            let force = evaluate(&model, &reduced.force, &state, &known);
            let moved: Vec<f64> =
                (0..3).map(|i| (0..3).map(|j| mass[i * 3 + j] * rates[j]).sum()).collect();
            assert_close(&moved, &force, &what);
        }
    }
}

#[test]
fn a_turning_blade_needs_no_singular_chart() {
    let model = support::model(&text(&mut Random::new(0), 0)).workspace();
    let e = equations(&model, Principle::Chetaev);
    let reduced = reduced_equations(&model, &e).expect("linear");
    assert!(reduced.quasi.pivots.is_empty(), "{:?}", reduced.quasi.pivots);
    assert_eq!(model.graph.to_text(reduced.velocities[0]), "cos(phi)*u1");
}

/// The second row is left with the quasi-velocity of the first alone; the third contradicts it.
#[test]
fn a_row_may_fix_the_quasi_velocity_of_a_turning_blade() {
    let text = "coordinates x, y, phi\nlagrangian (x'^2 + y'^2 + phi'^2)/2\n\
                constraint blade: y'*cos(phi) - x'*sin(phi) = 0\n\
                constraint pace: x'*cos(phi) + y'*sin(phi) = 0.2*t\n\
                initial phi = 0.1, phi' = 0.5\nsolve t = 0..2\n";
    let model = support::model(text).workspace();
    let g = &model.graph;
    let e = equations(&model, Principle::Chetaev);
    let reduced = reduced_equations(&model, &e).expect("affine");
    let expected = force_of(&model, &["0.2*t*cos(phi)", "0.2*t*sin(phi)"]);
    assert_eq!(reduced.quasi.definitions, [model.velocities()[2]]);
    for (&v, &x) in reduced.velocities.iter().zip(&expected) {
        assert!(g.is_zero(g.sub(v, x)), "{}", g.to_text(v));
    }
    let motion =
        support::run(&support::model(text), &Run { samples: Some(3), ..Run::default() });
    // phi = 0.1 + t/2, and x' = 0.2 t cos(phi) at the end; the tolerance of the run is 1e-10.
    let end = motion.v[0].values.last().copied().expect("three samples");
    assert!((end - 0.4 * libm::cos(1.1)).abs() < 1e-9, "{end}");
    let contradiction =
        text.replace("initial", "constraint again: x'*cos(phi) + y'*sin(phi) = 1\ninitial");
    let model = support::model(&contradiction).workspace();
    let e = equations(&model, Principle::Chetaev);
    assert!(reduced_equations(&model, &e).is_none());
}

#[test]
fn constraints_in_canonical_momenta_vanish_where_they_hold() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let frozen = support::model(&text(&mut random, seed));
        let model = frozen.workspace();
        let state = consistent(&frozen, &mut random);
        let e = equations(&model, Principle::Chetaev);
        let p: Vec<Expr> = (0..5)
            .map(|k| model.graph.symbol(&format!("momentum {k}"), pfaff_expr::Role::Free))
            .collect();
        let (velocities, constraints) = canonical(&model, &e, &p).expect("quadratic");
        let values = evaluate(&model, &e.momenta, &state, &[]);
        let known: Vec<(Expr, f64)> = p.into_iter().zip(values).collect();
        assert_close(&evaluate(&model, &velocities, &state, &known), &state.v, "velocities");
        let zero = vec![0.0; constraints.len()];
        assert_close(&evaluate(&model, &constraints, &state, &known), &zero, "constraints");
    }
}

fn force_of(model: &Workspace, parts: &[&str]) -> Vec<Expr> {
    let scope = pfaff_model::ExpressionScope::State;
    let read = |p: &&str| {
        pfaff_model::read_expression(model, "test", p, scope).expect("an expression").1[0]
    };
    parts.iter().map(read).collect()
}

const PLANE: &str = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nsolve t = 0..1\n";

/// Λ = d/dt U_v − U_q for U = A(q,t)·v + V(q,t) passes, and the potential gives Λ back; friction, a force
/// that turns and one quadratic in the velocities fail, each in its condition.
#[test]
fn helmholtz_knows_potential_forces() {
    let model = support::model(PLANE).workspace();
    let g = &model.graph;
    for parts in [
        ["-y", "-x"],
        ["-4*x^3*y^2", "-2*x^4*y - y"],
        // A charge in the field B = 1 + x² y + t and the electric field that its change induces.
        ["(1 + x^2*y + t)*y'", "-(1 + x^2*y + t)*x' - x"],
        ["0", "0"],
        ["-cos(x)*sin(y)", "-sin(x)*cos(y)"],
        ["-x/(x^2 + y^2)^(3/2)", "-y/(x^2 + y^2)^(3/2)"],
        ["-exp(x + 2*y)*(1 + x)", "-2*exp(x + 2*y)*x"],
        ["1/(x - y)^2 - 1/x", "-1/(x - y)^2"],
        // Each coordinate by itself: no other integral makes up for a wrong one.
        ["-x^2*sin(3*x)", "-y*exp(2*y)*cos(y)"],
        ["-sin(x)", "1/(y^2 + 2*y + 5)"],
        ["-x*sin(3*x)*y", "-(sin(3*x)/9 - x*cos(3*x)/3) - 1"],
        // A charge in the fields B = exp(x)·cos(y) and B = x/(1 + y^2), with nothing induced.
        ["exp(x)*cos(y)*y'", "-exp(x)*cos(y)*x'"],
        ["x/(1 + y^2)*y' - sin(x)^2", "-x/(1 + y^2)*x' - 1/(y*(y + 2))"],
    ] {
        let force = force_of(&model, &parts);
        let Helmholtz::Potential(Some(u)) = helmholtz(&model, &force) else {
            panic!("{parts:?}: {:?}", helmholtz(&model, &force))
        };
        let (q, v) = (model.positions(), model.velocities());
        let mut along: Vec<(Expr, Expr)> = q.iter().copied().zip(v.iter().copied()).collect();
        along.push((model.time, g.one()));
        let rates = g.directional(&g.gradient(u, &v), &along);
        for (k, slope) in g.gradient(u, &q).into_iter().enumerate() {
            assert!(g.is_zero(g.sub(g.sub(rates[k], slope), force[k])), "{parts:?}");
        }
    }
    let fails = |parts: [&str; 2]| match helmholtz(&model, &force_of(&model, &parts)) {
        Helmholtz::Fails { condition, pair } => (condition, pair),
        other => panic!("{parts:?}: {other:?}"),
    };
    assert_eq!(fails(["-x'", "0"]), (1, (0, 0)));
    assert_eq!(fails(["y", "-x"]), (2, (0, 1)));
    assert_eq!(fails(["y'^2", "-x'*y'"]), (1, (0, 1)));
    assert_eq!(
        fails(["t*y'", "-t*x'"]),
        (2, (0, 1)),
        "a field that changes needs an induced one"
    );
    // The error function is not among the patterns, and ∫ exp(exp(x)) dx is not elementary at all.
    for open in ["exp(-x^2)", "exp(exp(x))"] {
        let force = force_of(&model, &[open, "0"]);
        assert_eq!(helmholtz(&model, &force), Helmholtz::Potential(None), "{open}");
    }
}

/// A charge in space, in the fields B = curl of (y·z·sin(x), z²·exp(y), x·y/z) and in B = curl of (cos(y +
/// z), x/(1 + z²), 0).
#[test]
fn helmholtz_writes_vector_potentials_in_space() {
    let model = support::model(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nsolve t = 0..1\n",
    )
    .workspace();
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let mut along: Vec<(Expr, Expr)> = q.iter().copied().zip(v.iter().copied()).collect();
    along.push((model.time, g.one()));
    let force = |u: Expr| -> Vec<Expr> {
        let rates = g.directional(&g.gradient(u, &v), &along);
        rates.into_iter().zip(g.gradient(u, &q)).map(|(r, s)| g.simplify(g.sub(r, s))).collect()
    };
    for parts in [
        ["y*z*sin(x)", "z^2*exp(y)", "x*y/z", "0"],
        ["cos(y + z)", "x/(1 + z^2)", "0", "log(x)*y + z/y"],
    ] {
        let planted = force_of(&model, &parts);
        let Λ = force(g.add(g.dot(&planted[..3], &v), planted[3]));
        let Helmholtz::Potential(Some(u)) = helmholtz(&model, &Λ) else {
            panic!("{parts:?}: {:?}", helmholtz(&model, &Λ))
        };
        for (k, e) in force(u).into_iter().enumerate() {
            assert!(g.is_zero(g.sub(e, Λ[k])), "{parts:?}: component {k}");
        }
    }
}

const CONTACT: &str = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' - y*x' = 0\n\
    initial y = 0.5, x' = 1, y' = 0.7\nprinciple vakonomic\ninitial multipliers = transversal(z)\nsolve t = 0..3\n";

const DISK: &str = "coordinates phi, psi, x, y\nparameters R = 1\nlagrangian 0.75*phi'^2 + 0.5*psi'^2 + (x'^2 + y'^2)/2\n\
    constraint cx: x' = R*cos(psi)*phi'\nconstraint cy: y' = R*sin(psi)*phi'\n\
    initial phi' = 1, psi' = 0.6\nprinciple vakonomic\ninitial multipliers = zero\nsolve t = 0..3\n";

/// The disk's Chetaev motion is vakonomic with μ = p; the contact particle's with no μ at all; an integrable
/// constraint's with every one.
#[test]
fn equivalence_along_a_motion_finds_the_multipliers() {
    let request = Run { tolerance: Some(1e-12), ..Run::default() };
    let both = |text: &str| compare(&support::model(text), &request, None).expect("motions");
    let disk = both(DISK);
    let along = &disk.equivalences[0];
    assert!(along.along == Principle::Chetaev && along.equivalent, "{along:?}");
    assert_close(&along.multipliers, &[1.0, 0.0], "p = m R φ' (cos ψ, sin ψ)");
    assert!(!disk.equivalences[1].equivalent, "with μ(0) = 0 the vakonomic disk departs");
    let contact = both(CONTACT);
    assert!(contact.equivalences.iter().all(|e| !e.equivalent && e.residual > 0.05));
    let integrable = CONTACT.replace("z' - y*x'", "z' - y*x' - x*y'");
    let integrable = integrable.replace("transversal(z)", "zero");
    assert!(both(&integrable).equivalences.iter().all(|e| e.equivalent));
}

#[test]
fn compare_tells_how_motions_part_and_what_each_keeps() {
    let request = Run { tolerance: Some(1e-12), ..Run::default() };
    let found = compare(&support::model(CONTACT), &request, None).expect("motions");
    let principles: Vec<Principle> = found.motions.iter().filter_map(|m| m.principle).collect();
    assert_eq!(principles, [Principle::Chetaev, Principle::Vakonomic, Principle::Restricted]);
    // At the start y'' = 0 and y'' = μ x' = ½: ¼ t² apart in y, over 1 + |y| = 3/2.
    let (order, coefficient) = found.partings[0].law.expect("they part");
    assert!((order - 2.0).abs() < 0.02 && (coefficient - 0.25 / 1.5).abs() < 0.002);
    assert_eq!(found.partings[2].apart_from, None, "transversal is restricted");
    let kept =
        |name: &str| found.kept.iter().find(|k| k.name == name).expect("there").kept.clone();
    assert_eq!(kept("E"), [true, true, true]);
    assert_eq!(kept("p[y]"), [true, false, false]);
    assert_eq!(kept("p[z] - mu*dphi/dz'"), [false, true, false]);
    // With μ(0) = 0 the accelerations agree and the motions part like t³.
    let zero = support::model(&CONTACT.replace("transversal(z)", "zero"));
    let list = [Principle::Chetaev, Principle::Vakonomic];
    let found = compare(&zero, &request, Some(&list)).expect("motions");
    assert!((found.partings[0].law.expect("they part").0 - 3.0).abs() < 0.02);
    let csv = pfaff_present::comparison_table(&found).to_csv();
    assert_eq!(csv.lines().count(), 202);
    assert!(csv.starts_with("t,chetaev(x),vakonomic(x),"), "{csv}");
    let json = found.to_json().to_string();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["principles"], serde_json::json!(["chetaev", "vakonomic"]));
    assert_eq!(json["motions"]["vakonomic"]["t"].as_array().expect("times").len(), 201);
    let text = found.to_text();
    assert!(text.contains("accelerations agree at the start") && text.contains("lambda(c)"));
}

#[test]
fn a_model_that_restricted_refuses_is_compared_without_it_unless_it_is_asked_for() {
    let text = CONTACT.replace(")/2", ")/2 - z^2/2").replace("transversal(z)", "zero");
    let model = support::model(&text);
    let found = compare(&model, &Run::default(), None).expect("motions");
    assert_eq!(found.left_out.len(), 1);
    assert!(found.left_out[0].1.contains("`z`"), "{:?}", found.left_out);
    assert!(compare(&model, &Run::default(), Some(&[Principle::Restricted])).is_err());
}

/// Each kind of variation keeps two conditions, and the third costs F v w: for z' = y x' and w = (w_x, w_y)
/// that is x' w_y − y' w_x.
#[test]
fn variations_keep_two_conditions_and_pay_with_curvature() {
    let model = support::model(CONTACT);
    let request = VariationRequest {
        vary: "x = sin(pi*t), y = t*(1 - t)".into(),
        motion: Some("x = t + t^3, y = cos(t)".into()),
        run: Run { t1: Some(1.0), samples: Some(101), ..Run::default() },
    };
    let found = variations(&model, &request).expect("variations");
    let names: Vec<&str> = found.kinds.iter().map(|k| k.name).collect();
    assert_eq!(
        names,
        ["hoelder", "suslov (classical)", "suslov (kleinert-fiziev)", "vakonomic"]
    );
    for (i, &t) in found.t.iter().enumerate() {
        let (w, wy) = (libm::sin(std::f64::consts::PI * t), t * (1.0 - t));
        let (vx, vy, y) = (1.0 + 3.0 * t * t, -libm::sin(t), libm::cos(t));
        let cost = vx * wy - vy * w;
        let at = |s: &[pfaff::Series], k: usize| s[k].values[i];
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "at {t}: {a} {b}");
        let [hoelder, classical, fiziev, vakonomic] = &found.kinds[..] else { panic!() };
        // (16a), (16b) for x and y, (16c), commutation of z.
        let expect = |k: &pfaff::Variation, [a, bx, by, c, d]: [f64; 5]| {
            close(at(&k.chetaev, 0), a);
            close(at(&k.commutation, 0), bx);
            close(at(&k.commutation, 1), by);
            close(at(&k.constraint, 0), c);
            close(at(&k.dependent_commutation, 0), d);
        };
        expect(hoelder, [0.0, 0.0, 0.0, -cost, 0.0]);
        expect(classical, [0.0, 0.0, 0.0, 0.0, cost]);
        expect(vakonomic, [cost, 0.0, 0.0, 0.0, 0.0]);
        // 2S^x = y F v w/(1 + y²) with F v w = −cost, and z pays the rest.
        let torsion = -cost * y / (1.0 + y * y);
        expect(fiziev, [0.0, torsion, 0.0, 0.0, cost + y * torsion]);
    }
    let integrable = support::model(&CONTACT.replace("z' - y*x'", "z' - y*x' - x*y'"));
    let found = variations(&integrable, &request).expect("variations");
    assert!(found.curvature.expect("linear") < 1e-12);
    assert!(found.to_text().contains("all conditions hold together"));
}

#[test]
fn wrong_variations_are_refused_by_name() {
    let model = support::model(CONTACT);
    let refused = |vary: &str| {
        let request = VariationRequest { vary: vary.into(), ..VariationRequest::default() };
        match variations(&model, &request) {
            Err(pfaff::Error::Text(r)) => {
                r.diagnostics.iter().map(|d| d.message.clone()).collect::<String>()
            }
            other => panic!("{vary}: {other:?}"),
        }
    };
    assert!(refused("z = t").contains("dependent"));
    assert!(refused("q = t").contains("`q`"));
    assert!(refused("x = y").contains("function of t"));
    assert!(refused("x").contains("not an assignment"));
    assert!(refused("x = sin(").len() > 3);
}

/// Without initial multipliers there is no vakonomic motion: the others are compared, and the reason is told.
#[test]
fn principles_whose_motion_cannot_begin_are_left_out() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' - y*x' = 0\n\
                initial x' = 1, y' = 0.5\nevent stop e: x - 0.5\nsolve t = 0..1\n";
    let model = support::model(text);
    let found = compare(&model, &Run::default(), None).expect("motions");
    let names: Vec<&str> = found.left_out.iter().map(|(p, _)| p.name()).collect();
    assert_eq!(names, ["vakonomic"], "{:?}", found.left_out);
    assert!(found.left_out[0].1.contains("mu"), "{:?}", found.left_out);
    assert!(found.motions.len() == 2 && found.motions[0].t == found.motions[1].t);
    assert!(compare(&model, &Run::default(), Some(&[Principle::Vakonomic])).is_err());
}
