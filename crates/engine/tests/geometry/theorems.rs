//! Theorems on connections, distributions and momenta as executable identities over random systems.
//!
//! Values at points are compared to 1e-10 of their size: they come from a few thousand operations and one
//! elimination with a condition below 1e4 in these systems. Each theorem sees two systems, and
//! forty with `PFAFF_TESTS=full`.

use pfaff::{CurveKind, Model, Principle, Run, State, Verdict, at_state, curve, derive};
use serde_json::Value;

use crate::support::tensors::{at, entries, entry};
use crate::support::{Random, count, gallery, model, run};

const CLOSE: f64 = 1e-10;

fn systems() -> u64 {
    count(2, 40) as u64
}

/// What a random system holds in its coefficients.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    /// Base coordinates alone: a system of Chaplygin.
    Base,
    /// All coordinates.
    All,
}

/// Kinetic energy alone with a metric that is not constant, and one or two linear constraints.
fn system(random: &mut Random, holds: Holds, two: bool) -> Model {
    let mut names = vec!["x", "y", "u", "z"];
    if two {
        names.push("w");
    }
    let holding: &[&str] = if holds == Holds::Base { &names[..3] } else { &names };
    let mut terms = Vec::new();
    for (i, v) in names.iter().enumerate() {
        let q = holding[random.below(holding.len())];
        terms.push(format!("(1 + {}^2*sin({q})^2)*{v}'^2/2", random.decimal()));
        let w = names[(i + 1) % names.len()];
        terms.push(format!("0.2*{}*cos({q})*{v}'*{w}'", random.decimal()));
    }
    let mut text =
        format!("coordinates {}\nlagrangian {}\n", names.join(", "), terms.join(" + "));
    for z in &names[3..] {
        let mut slope = || {
            let (p, q) = (holding[random.below(holding.len())], holding[random.below(2)]);
            let (a, b, c) = (random.decimal(), random.decimal(), random.decimal());
            format!("({a}*{p} + {b}*{q}^2 + {c}*sin({p}*{q}))")
        };
        let (a, b, c) = (slope(), slope(), slope());
        text.push_str(&format!("constraint {z}' = {a}*x' + {b}*y' + {c}*u'\n"));
    }
    model(&text)
}

fn dependent(model: &Model) -> String {
    let names: Vec<&str> = model.coordinates[3..].iter().map(|c| c.name.as_str()).collect();
    names.join(",")
}

fn point(random: &mut Random, model: &Model) -> (Vec<f64>, String) {
    let q: Vec<f64> = model.coordinates.iter().map(|_| random.number()).collect();
    let text: Vec<String> =
        model.coordinates.iter().zip(&q).map(|(c, x)| format!("{}={x:?}", c.name)).collect();
    (q, text.join(", "))
}

fn check(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= CLOSE * (1.0 + b.abs()), "{what}: {a} and {b}");
}

/// ∇g = 0, and S, K, R have their symmetries: K_{σμρ} = −K_{ρμσ}, R_{ρσμν} = −R_{σρμν}.
#[test]
fn the_connection_is_metric() {
    for seed in 0..systems() {
        let mut random = Random::new(seed + 1);
        let model = system(&mut random, Holds::Base, seed % 2 == 1);
        let found = at(&model, "", &point(&mut random, &model).1);
        assert_eq!(found["chaplygin"], true);
        for (index, value) in entries(&found, "metricity") {
            check(value, 0.0, &format!("metricity{index:?}"));
        }
        let lower = |key: &str, i: &[usize]| -> f64 {
            let mut rest = i.to_vec();
            (0..3)
                .map(|σ| {
                    rest[0] = σ;
                    entry(&found, "metric", &[i[0], σ]) * entry(&found, key, &rest)
                })
                .sum()
        };
        for (σ, μ, ρ) in triples() {
            check(lower("contorsion", &[σ, μ, ρ]), -lower("contorsion", &[ρ, μ, σ]), "K");
            for key in ["curvature", "christoffel_curvature"] {
                let (a, b) = (lower(key, &[σ, ρ, 0, 1]), lower(key, &[ρ, σ, 0, 1]));
                check(a, -b, key);
                check(lower(key, &[σ, ρ, μ, 2]), -lower(key, &[σ, ρ, 2, μ]), key);
            }
        }
    }
}

fn triples() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..27).map(|k| (k / 9, k / 3 % 3, k % 3))
}

/// The acceleration of the base at a state under a principle.
fn acceleration(model: &Model, principle: Principle, q: &[f64], v: &[f64]) -> Vec<f64> {
    let dynamics = derive(model, Some(principle)).expect("equations");
    let multipliers = vec![0.0; model.constraints.len()];
    let state = State { t: 0.0, q: q.to_vec(), v: v.to_vec(), multipliers };
    at_state(&dynamics, &state).expect("a regular state").acceleration
}

/// −Γ^σ_{μν} v^μ v^ν of a tensor of three indices.
fn turned(found: &Value, key: &str, v: &[f64]) -> Vec<f64> {
    let component = |σ: usize| -> f64 {
        (0..9).map(|k| -entry(found, key, &[σ, k / 3, k % 3]) * v[k / 3] * v[k % 3]).sum()
    };
    (0..3).map(component).collect()
}

/// Velocities that the constraints allow.
fn admissible(found: &Value, model: &Model, random: &mut Random) -> Vec<f64> {
    let mut v: Vec<f64> = (0..3).map(|_| random.number()).collect();
    for α in 0..model.coordinates.len() - 3 {
        v.push((0..3).map(|μ| entry(found, "epsilon", &[α, μ]) * v[μ]).sum());
    }
    v
}

/// For L = T and linear, homogeneous, time-free constraints autoparallels are the motions of Chetaev's
/// principle (Guo et al. 2005, (30)): on the base in Chaplygin form, with the projected connection otherwise.
#[test]
fn autoparallels_are_chetaev_motions() {
    for holds in [Holds::Base, Holds::All] {
        for seed in 0..systems() {
            let mut random = Random::new(seed + 100);
            let model = system(&mut random, holds, seed % 2 == 1);
            let (q, state) = point(&mut random, &model);
            let found = at(&model, &dependent(&model), &state);
            let v = admissible(&found, &model, &mut random);
            let motion = acceleration(&model, Principle::Chetaev, &q, &v);
            for (σ, a) in turned(&found, "connection", &v).into_iter().enumerate() {
                check(a, motion[σ], "autoparallel");
            }
        }
    }
}

/// The restricted principle moves along geodesics of the metric on the base (Guo et al. 2005, (33)).
#[test]
fn restricted_motions_are_geodesics() {
    for seed in 0..systems() {
        let mut random = Random::new(seed + 200);
        let model = system(&mut random, Holds::Base, seed % 2 == 1);
        let (q, state) = point(&mut random, &model);
        let found = at(&model, "", &state);
        let v = admissible(&found, &model, &mut random);
        let motion = acceleration(&model, Principle::Restricted, &q, &v);
        for (σ, a) in turned(&found, "christoffel", &v).into_iter().enumerate() {
            check(a, motion[σ], "geodesic");
        }
    }
}

/// The Gauss equation with ambient terms, by way of the curvature of P∇: R^P_{ρσμν} = R_{ρσμν} −
/// F^α_{μν}⟨X_ρ, ∇_α X_σ⟩, and for a flat ambient metric R^P = ⟨f_{μρ},f_{νσ}⟩ − ⟨f_{νρ},f_{μσ}⟩.
#[test]
fn gauss_equation() {
    for seed in 0..systems() {
        let mut random = Random::new(seed + 300);
        let (a, b, c) = (random.decimal(), random.decimal(), random.decimal());
        // Flat ambient space in coordinates that are not Cartesian: X = x + a y², Y = y, U = u + b sin(x), Z =
        // z + u z/4, so that the bracket, along ∂_z, is not parallel either.
        let model = model(&format!(
            "coordinates x, y, u, z\nlet X = x + {a}*y^2\nlet U = u + {b}*sin(x)\nlet Z = z + u*z/4\n\
             lagrangian (X'^2 + y'^2 + U'^2 + Z'^2)/2\n\
             constraint z' = ({a}*y + {c}*u^2)*x' + {b}*sin(x*u)*y' + {c}*x*u'\n"
        ));
        let (q, state) = point(&mut random, &model);
        let found = at(&model, "z", &state);
        let dynamics = derive(&model, Some(Principle::Chetaev)).expect("equations");
        let rest = State { t: 0.0, q, v: vec![0.0; 4], multipliers: vec![0.0] };
        let mass = at_state(&dynamics, &rest).expect("regular").mass;
        let form = |μ: usize, ν: usize| -> Vec<f64> {
            (0..4).map(|i| entry(&found, "second_fundamental_form", &[i, μ, ν])).collect()
        };
        let product = |f: &[f64], h: &[f64]| -> f64 {
            (0..16).map(|k| f[k / 4] * mass[k] * h[k % 4]).sum()
        };
        let inner = &found["nonholonomic"];
        for (ρ, σ, μ) in triples() {
            let ν = (μ + 1) % 3;
            let lowered: f64 = (0..3)
                .map(|λ| {
                    entry(&found, "metric", &[ρ, λ]) * entry(inner, "curvature", &[λ, σ, μ, ν])
                })
                .sum();
            let gauss = product(&form(μ, ρ), &form(ν, σ)) - product(&form(ν, ρ), &form(μ, σ));
            check(lowered, gauss, "Gauss");
        }
    }
}

/// S zero or totally antisymmetric ⇔ both curves agree for all initial velocities.
#[test]
fn curves_agree_exactly_where_the_torsion_is_antisymmetric() {
    // The frame of the rotation group over a base of itself: S is totally antisymmetric, not zero.
    let group = "coordinates a, b, c, x, y, z\n\
        let R = rotation_z(a)*rotation_x(b)*rotation_z(c)\nlet om = vee(R'*transpose(R))\n\
        lagrangian (a'^2 + b'^2 + c'^2 + x'^2 + y'^2 + z'^2)/2 - (a'^2 + b'^2 + c'^2)/2\n\
        constraint x' = om[1]\nconstraint y' = om[2]\nconstraint z' = om[3]\n";
    let flat = "coordinates p, s, x, y\nlagrangian (p'^2 + s'^2 + x'^2 + y'^2)/2\n\
        constraint x' = cos(s)*p'\nconstraint y' = sin(s)*p'\n";
    let bent = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z' = y*x'\n";
    for (text, kind) in [(group, "totally antisymmetric"), (flat, "zero"), (bent, "general")] {
        let model = model(text);
        let names: Vec<&str> = model.coordinates.iter().map(|c| c.name.as_str()).collect();
        let state: Vec<String> =
            names.iter().enumerate().map(|(k, n)| format!("{n}=0.{}", k + 3)).collect();
        let found = at(&model, "", &state.join(", "));
        assert_eq!(found["torsion_kind"], kind, "{text}");
        // The symmetric part of K is what tells the curves apart.
        let m = found["base"].as_array().expect("a list").len();
        let mut worst = 0.0_f64;
        for σ in 0..m {
            for μ in 0..m {
                for ν in 0..m {
                    let k = |i: &[usize]| entry(&found, "contorsion", i);
                    worst = worst.max((k(&[σ, μ, ν]) + k(&[σ, ν, μ])).abs());
                }
            }
        }
        assert_eq!(worst < CLOSE, kind != "general", "{kind}: {worst}");
    }
}

/// Integrable ⇔ F = 0, also where ε contains dependent coordinates: z′ = h_x x′ + … made from h(x, y, u, z) = const.
#[test]
fn integrable_exactly_where_the_bundle_curvature_vanishes() {
    for seed in 0..systems() {
        let mut random = Random::new(seed + 400);
        let (a, b, c) = (random.decimal(), random.decimal(), random.decimal());
        let h = format!("(3*z + sin(z) + {a}*x*y + {b}*u*z + {c}*x*z*u)");
        let text = format!(
            "coordinates x, y, u, z\nlagrangian (x'^2 + y'^2 + u'^2 + z'^2)/2\nlet h = {h}\n\
             constraint h' = 0\n"
        );
        let kept = model(&text);
        let (_, state) = point(&mut random, &kept);
        let found = at(&kept, "z", &state);
        assert_eq!(found["integrable"], true);
        assert_eq!(found["growth_vector"], Value::from(vec![3]));
        for (index, value) in entries(&found, "bundle_curvature") {
            check(value, 0.0, &format!("F{index:?}"));
        }
        let bent = model(&text.replace("h' = 0", "h' = 0.1*y*z*x'"));
        let found = at(&bent, "z", &state);
        assert_eq!(found["integrable"], false);
        let largest = entries(&found, "bundle_curvature")
            .iter()
            .fold(0.0_f64, |m, (_, x)| m.max(x.abs()));
        assert!(largest > 1e-6, "F must see it: {largest}");
    }
}

/// Curves integrated by themselves end where the motions of the principles end.
#[test]
fn curves_are_the_motions_of_the_principles() {
    let model = model(
        "coordinates x, y, z\nlagrangian (1 + y^2/4)*(x'^2 + y'^2)/2 + z'^2/2\n\
         constraint z' = y*x' + x^2*y'\ninitial x = 0.2, y = 0.5, x' = 1, y' = 0.7\n",
    );
    let request = Run { t1: Some(2.0), tolerance: Some(1e-12), ..Run::default() };
    for (kind, principle) in [
        (CurveKind::Autoparallel, Principle::Chetaev),
        (CurveKind::Geodesic, Principle::Restricted),
    ] {
        let found = curve(&model, kind, None, &request).expect("a curve");
        let motion = run(&model, &Run { principle: Some(principle), ..request.clone() });
        for (a, b) in found.q.iter().zip(&motion.q) {
            let (a, b) = (a.values.last().expect("an end"), b.values.last().expect("an end"));
            // Two integrations at tolerance 1e-12 over a hundred steps.
            assert!((a - b).abs() < 1e-9, "{kind:?}: {a} {b}");
        }
        assert!(found.figures[0].1 < 1e-10, "the speed is kept");
    }
}

/// Momenta of symmetries are kept where the theorem says so, and the audit looks at them.
#[test]
fn momenta_of_symmetries_are_kept() {
    // A ball that rolls: spin about the vertical is a symmetry that no reaction sees.
    let disk = "coordinates x, y, th, ps\nlagrangian (x'^2 + y'^2)/2 + th'^2/4 + ps'^2/8 - 0.3*cos(th)\n\
        constraint x' = cos(ps)*th'\nconstraint y' = sin(ps)*th'\n\
        initial th' = 1, ps' = 0.4\nsolve t = 0..5, tolerance = 1e-10\n";
    let central = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - sqrt(1 + x^2 + y^2)\n\
        constraint z' = x*y' - y*x'\nsymmetry turn: x = -y, y = x\n\
        initial x = 1, y' = 0.5, x' = 0.1, mu(c1) = 0.2\nsolve t = 0..5, tolerance = 1e-10\n";
    for (text, principle, name, kept) in [
        (disk, Principle::Chetaev, "momentum of ps", true),
        (disk, Principle::Chetaev, "momentum of x", false),
        (central, Principle::Chetaev, "momentum of turn", false),
        (central, Principle::Vakonomic, "momentum of turn", true),
        (central, Principle::Vakonomic, "momentum of z", true),
    ] {
        let without = text.replace(", mu(c1) = 0.2", "");
        let chetaev = principle == Principle::Chetaev;
        let model = model(if chetaev { &without } else { text });
        let motion = run(&model, &Run { principle: Some(principle), ..Run::default() });
        let check = motion.audit.checks.iter().find(|c| c.name == name);
        assert_eq!(check.is_some(), kept, "{name} under {principle:?}");
        if let Some(check) = check {
            assert_eq!(check.verdict, Verdict::Pass, "{check:?}");
        }
    }
}

/// Momenta of a charge in a magnetic field, along which the Lagrangian changes by a rate, are compared along a run.
#[test]
fn momenta_of_a_charge_are_compared() {
    let text = "coordinates x, y\nparameters b = 2\nlagrangian (x'^2 + y'^2)/2 + b*x*y'\n\
        initial x' = 1\nsolve t = 0..20, tolerance = 1e-10\n";
    let motion = run(&model(text), &Run::default());
    for name in ["linear momentum P_x", "momentum of y"] {
        let check = motion.audit.checks.iter().find(|c| c.name == name);
        let check = check.unwrap_or_else(|| panic!("{name}: {:?}", motion.audit.checks));
        assert_eq!(check.verdict, Verdict::Pass, "{check:?}");
        // A motion that lost a part in 10⁴ would not pass.
        assert!(check.limit < 1e-4, "{check:?}");
    }
}

/// The rates that are told are those of the motion: dJ/dt = J_q q′ + J_q′ q″ + J_μ μ′ at a state, with the
/// multipliers of the core.
#[test]
fn momentum_equations_hold() {
    let sleigh = "coordinates x, y, th\nparameters a = 0.3\n\
        lagrangian ((x' - a*sin(th)*th')^2 + (y' + a*cos(th)*th')^2)/2 + 0.4*th'^2\n\
        constraint b: y'*cos(th) = x'*sin(th)\nsymmetry turn: x = -y, y = x, th = 1\n\
        force th: 0.7*cos(x)\n";
    let disk = "coordinates x, y, th, ps\nlagrangian (x'^2 + y'^2)/2 + th'^2/4 + ps'^2/8\n\
        constraint rx: x' = cos(ps)*th'\nconstraint ry: y' = sin(ps)*th'\n\
        symmetry move: x = -y, y = x, ps = 1\n";
    let central = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - sqrt(1 + x^2 + y^2)\n\
        constraint c: z' = x*y' - y*x'\nsymmetry turn: x = -y, y = x\nforce z: 0.2*x\n";
    let mut told = 0;
    for (text, principle, q, free) in [
        (sleigh, Principle::Chetaev, vec![0.3, -0.2, 0.6], vec![0.9, 0.5]),
        (disk, Principle::Chetaev, vec![0.3, -0.2, 0.6, 0.4], vec![0.9, 0.5]),
        (central, Principle::Chetaev, vec![0.3, -0.2, 0.6], vec![0.9, 0.5]),
        (central, Principle::Vakonomic, vec![0.3, -0.2, 0.6], vec![0.9, 0.5]),
    ] {
        let model = model(text);
        let v = match model.coordinates.len() {
            4 => vec![libm::cos(q[3]) * free[0], libm::sin(q[3]) * free[0], free[0], free[1]],
            _ if text == sleigh => {
                vec![libm::cos(q[2]) * free[0], libm::sin(q[2]) * free[0], free[1]]
            }
            _ => vec![free[0], free[1], q[0] * free[1] - q[1] * free[0]],
        };
        let dynamics = derive(&model, Some(principle)).expect("equations");
        let multipliers = vec![0.35; model.constraints.len()];
        let state = State { t: 0.0, q: q.clone(), v: v.clone(), multipliers };
        let report = at_state(&dynamics, &state).expect("a regular state");
        let pfaff::Dynamics::Saddle(equations) = &dynamics.dynamics else {
            panic!("a Lagrangian")
        };
        let model = &dynamics.workspace();
        let g = &model.graph;
        let lambda = &model.results.lambda;
        let at = |s| -> f64 {
            let position = model.coordinates.iter().position(|c| c.position == s);
            let velocity = model.coordinates.iter().position(|c| c.velocity == s);
            let μ = equations.multipliers.iter().position(|&m| m == s);
            let λ = lambda.iter().position(|&l| l == s);
            let parameter = model.parameters.iter().find(|p| p.symbol == s);
            None.or(position.map(|k| q[k]))
                .or(velocity.map(|k| v[k]))
                .or(μ.filter(|_| principle == Principle::Vakonomic).map(|_| 0.35))
                .or(λ.map(|k| report.multipliers[k]))
                .or(parameter.map(|p| p.value))
                .unwrap_or(f64::NAN)
        };
        for m in pfaff_mechanics::momenta(model, equations) {
            let Some(rate) = m.rate else { continue };
            let slopes = |by: &[pfaff_expr::Expr]| g.evaluate(&g.gradient(m.momentum, by), &at);
            let along = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let mut change = along(&slopes(&model.positions()), &v)
                + along(&slopes(&model.velocities()), &report.acceleration);
            if principle == Principle::Vakonomic {
                change += along(&slopes(&equations.multipliers), &report.multiplier_rates);
            }
            check(g.evaluate(&[rate], &at)[0], change, &format!("{} of {text}", m.name));
            told += 1;
        }
    }
    assert!(told >= 7, "{told} momenta were told");
}

/// The momenta that the audit follows are those that are told with the rate zero, found without writing the
/// others out. A gallery of models, and texts with a symmetry of their own and
/// combinations along the constraints: of the vertical disk with a spring on its angle, of a knife edge that
/// is symmetric.
#[test]
fn kept_momenta_are_those_whose_rate_is_zero() {
    let own = [
        "coordinates x, y, phi\nlagrangian (x'^2 + y'^2 + phi'^2)/2 - x\nconstraint y'*cos(phi) = x'*sin(phi)\nsymmetry s: y = 1",
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z' = x' + y'\nsymmetry s: x = 1, y = -1",
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z' = 2*x' + y'",
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint x'^2 + y'^2 = 1",
    ];
    let texts = gallery().into_iter().map(|model| model.text);
    let mut found = 0;
    for text in own.into_iter().chain(texts) {
        let of = |kept: bool| -> Vec<(String, Vec<f64>)> {
            let Ok(derivation) = derive(&model(text), None) else { return Vec::new() };
            let model = derivation.workspace();
            let pfaff::Dynamics::Saddle(equations) = derivation.dynamics else {
                return Vec::new();
            };
            let all = if kept {
                pfaff_mechanics::kept_momenta(&model, &equations)
            } else {
                pfaff_mechanics::momenta(&model, &equations)
            };
            let zero = Some(model.graph.zero());
            let values = |e| -> Vec<f64> {
                let at = |s: pfaff_expr::Expr| 0.3 + 0.1 * (s.index() as f64).sqrt();
                model.graph.evaluate(&[e], &at)
            };
            let all = all.into_iter().filter(|m| m.rate == zero);
            all.map(|m| (m.name, values(m.momentum))).collect()
        };
        let (quick, told) = (of(true), of(false));
        let names = |of: &[(String, Vec<f64>)]| -> Vec<String> {
            of.iter().map(|m| m.0.clone()).collect()
        };
        assert_eq!(names(&quick), names(&told), "{text}");
        for (a, b) in quick.iter().zip(&told) {
            check(a.1[0], b.1[0], &format!("{} of {text}", a.0));
        }
        found += quick.len();
    }
    assert!(found >= 20, "{found} momenta are kept");
}
