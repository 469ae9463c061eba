//! Foliations: what does not depend on the chart, what is adapted to the leaves, and prescribed speeds.

use pfaff::{Point, Principle, at_state};
use pfaff_expr::Expr;
use pfaff_mechanics::{derive, foliation, is_adapted, normal_form, prescribed_speed};

use crate::support::cases::{Case, failed};
use crate::support::systems::{KINDS, RandomSystem};
use crate::support::{self, Random};

/// Residuals of identities between numbers of size one to ten, made of some thousand operations.
const HOLDS: f64 = 1e-12;

/// How many random systems of each kind; more with `PFAFF_TESTS=full`.
fn cases() -> usize {
    support::count(3, 30)
}

#[track_caller]
fn small(value: f64, size: f64, what: &str) {
    assert!(
        value.abs() <= HOLDS * (1.0 + size),
        "{what}: {value:e} for numbers of size {size}"
    );
}

/// R^u_ū is a tensor: under x = x(X, A), a = a(A) it holds that ∂x/∂X R′ = R ∂a/∂A, also with accelerations and time.
#[test]
fn s_curvature_is_tensorial_under_adapted_changes_of_chart() {
    let mut random = Random::new(49);
    for kind in KINDS {
        for i in 0..cases() {
            let system = RandomSystem::new(kind, i % 2 == 1, false, &mut random);
            let (k, m) = (system.transverse, system.leaf);
            let names: Vec<String> = (1..=k)
                .map(|i| format!("A{i}"))
                .chain((1..=m).map(|i| format!("X{i}")))
                .collect();
            let lets =
                ["let a1 = A1 + A2^2/4", "let a2 = A2 + sin(A1)/3", "let a3 = A3 + A1*A2/5"];
            let leaves = [
                "let x1 = (1 + A1^2/5)*X1 + cos(A2)",
                "let x2 = X2*(1 + X2^2/9) + A2*X1/3 + A1",
            ];
            let body: Vec<&str> = system
                .text
                .lines()
                .filter(|l| l.starts_with("lagrangian") || l.starts_with("constraint"))
                .collect();
            let turned = format!(
                "coordinates {}\n{}\n{}\n{}\n",
                names.join(", "),
                lets[..k].join("\n"),
                leaves[..m].join("\n"),
                body.join("\n")
            );
            let mut state = vec![format!("t = {}", random.number().abs())];
            for name in &names {
                state.push(format!("{name} = {}", random.number()));
            }
            for name in &names[..k] {
                state.push(format!("{name}' = {}", random.number()));
                state.push(format!("{name}'' = {}", random.number()));
            }
            let new = support::model(&turned).workspace();
            let equations = derive(&new, Principle::Chetaev).expect("equations");
            let normal =
                normal_form(&new, &equations, Some(&system.dependent)).expect("a normal form");
            let point = Point::read(&new, &state.join(", "))
                .expect("a state")
                .on_constraint(&new, &equations, &normal)
                .unwrap_or_else(|f| panic!("{}", failed(&f)));
            let R_new = point.evaluate(
                &new,
                &foliation(&new, &equations, &normal)
                    .expect("a Lagrangian")
                    .s_curvature
                    .entries,
            );
            let g = &new.graph;
            let old_of: Vec<Expr> = new.abbreviations.iter().map(|a| a.1).collect();
            let rates = g.total_derivatives(&old_of);
            let bends = g.total_derivatives(&rates);
            let values = [&old_of, &rates, &bends].map(|list| point.evaluate(&new, list));
            let slopes = point.evaluate(&new, &g.jacobian(&old_of, &new.positions()).concat());
            let old = support::model(&system.text).workspace();
            let old_equations = derive(&old, Principle::Chetaev).expect("equations");
            let old_normal = normal_form(&old, &old_equations, Some(&system.dependent))
                .expect("a normal form");
            let [q, v, a] = values;
            let there = Point { t: point.t, q, v: v.clone(), a };
            let there = there
                .on_constraint(&old, &old_equations, &old_normal)
                .unwrap_or_else(|f| panic!("{}", failed(&f)));
            for (a, b) in v.iter().zip(&there.v) {
                small(a - b, b.abs(), "the constraints agree");
            }
            let R_old = there.evaluate(
                &old,
                &foliation(&old, &old_equations, &old_normal)
                    .expect("a Lagrangian")
                    .s_curvature
                    .entries,
            );
            let n = k + m;
            for u in 0..m {
                for K in 0..k {
                    let left: f64 =
                        (0..m).map(|U| slopes[(k + u) * n + k + U] * R_new[U * k + K]).sum();
                    let right: f64 = (0..k).map(|p| R_old[u * k + p] * slopes[p * n + K]).sum();
                    small(left - right, right.abs(), &format!("{kind:?}\n{turned}"));
                }
            }
        }
    }
}

/// Charts that keep the leaves are told from others.
#[test]
fn adapted_changes_of_chart_are_recognised() {
    let case = Case::new(
        "coordinates a, b, z\nlagrangian (a'^2 + b'^2 + z'^2)/2\nconstraint z' = b*a'\n",
        Some(&[2]),
        "a' = 1",
    );
    let (model, g) = (&case.model, &case.model.graph);
    let x = model.positions();
    let good = [g.add(x[0], x[1]), g.sin(x[1])];
    assert!(case.normal.is_adapted_change(model, &good));
    assert!(!case.normal.is_adapted_change(model, &[g.add(x[0], x[2]), x[1]]));
    assert!(!case.normal.is_adapted_change(model, &[x[0], x[0]]), "no coordinates at all");
}

/// [PP, (7)]: L = L₀(y − C) + L̄(x̄, ȳ) is adapted, and one cross term or leaf coordinate more makes it not so.
#[test]
fn adapted_lagrangians_are_recognised() {
    let with = |more: &str| {
        let text = format!(
            "coordinates a, b, z\nlet w = z' - b*a' - sin(a)\nlagrangian (2 + z^2)*w^2/2 + w*cos(z) + (1 + b^2)*a'^2/2 + b'^2/2 + a*b'{more}\n\
             constraint z' = b*a' + sin(a)\n"
        );
        let case = Case::new(&text, Some(&[2]), "a' = 1");
        is_adapted(&case.model, &case.normal)
    };
    assert_eq!(with(""), Some(true));
    assert_eq!(with(" + w*a'/9"), Some(false));
    assert_eq!(with(" + z*b'^2/9"), Some(false));
}

/// [PP, Proposition 3.2]: every combination of ∂φ/∂y is annihilated by E_ū + C^u_ū E_u, also for constraints
/// that are not solved; and C″ annihilates D″.
#[test]
fn covectors_of_chetaev_vanish_on_the_splitting() {
    let mut random = Random::new(50);
    for kind in KINDS {
        let system = RandomSystem::new(kind, true, false, &mut random);
        let case = Case::new(&system.text, Some(&system.dependent), &system.state(&mut random));
        let (model, normal, g) = (&case.model, &case.normal, &case.model.graph);
        let n = model.coordinates.len();
        let weights: Vec<Expr> =
            normal.rows.iter().map(|_| g.fraction(random.below(9) as i64 + 1, 7)).collect();
        let covector: Vec<Expr> = (0..n)
            .map(|i| {
                let rows = normal.rows.iter().zip(&weights);
                g.sum(rows.map(|(&a, &w)| g.mul(w, case.equations.jacobian[a][i])))
            })
            .collect();
        let inserted = normal.inserted(model, &covector);
        for e in case.at(&normal.projected(model, &inserted)) {
            small(e, 1.0, "Proposition 3.2");
        }
        let any: Vec<Expr> = normal
            .transverse
            .iter()
            .map(|_| g.fraction(random.below(9) as i64 - 4, 3))
            .collect();
        let lifted = normal.lift(model, &any);
        for e in case.at(&normal.leaf_part(model, &lifted)) {
            small(e, 1.0, "C″ D″ = 0");
        }
    }
}

/// [PP, (20)] on a curved metric: q̈ − q̈_free = λ_v q̇ with λ_v = (φ′/2 + dV(v))/φ, and φ′/2φ without potential.
#[test]
fn prescribed_speed_on_a_curved_metric() {
    let mut random = Random::new(51);
    for i in 0..2 * cases() {
        let mut c = || random.decimal();
        let metric = format!(
            "(2 + {}*sin(x*y))*x'^2 + (2 + {}*z^2)*y'^2 + (3 + {}*x)*z'^2 + {}*z*x'*y'",
            c(),
            c(),
            c(),
            c()
        );
        let potential =
            if i % 2 == 0 { String::new() } else { format!(" - {}*x*y + z^2", c()) };
        let free = format!("coordinates x, y, z\nlagrangian ({metric})/2{potential}\n");
        let text = format!("{free}constraint speed: {metric} = 2 + sin(t) + 1/(1 + t)\n");
        let state = "t = 0.4, x = 0.3, y = -0.2, z = 0.5, x' = 0.4, y' = 0.2, z' = 0.7";
        let case = Case::new(&text, None, state);
        let found = prescribed_speed(&case.model, &case.equations).expect("a speed programme");
        let λ = case.at(&[found.factor])[0];
        if i % 2 == 0 {
            let φ = 2.0 + libm::sin(0.4) + 1.0 / 1.4;
            let slope = libm::cos(0.4) - 1.0 / (1.4 * 1.4);
            small(λ - slope / (2.0 * φ), 1.0, "φ′/2φ");
        }
        let plain = support::model(&free);
        let dynamics = pfaff::derive(&plain, None).expect("equations");
        let at = pfaff::State {
            t: case.point.t,
            q: case.point.q.clone(),
            v: case.point.v.clone(),
            multipliers: vec![],
        };
        let inertial = at_state(&dynamics, &at).expect("numbers").acceleration;
        for k in 0..3 {
            let left = case.point.a[k] - inertial[k];
            small(left - λ * case.point.v[k], left.abs(), "∇_v v");
        }
    }
    let no = Case::new(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint x'^2 + 2*y'^2 = 1\n",
        None,
        "y' = 0.5, x' = 0.5",
    );
    assert_eq!(prescribed_speed(&no.model, &no.equations), None, "another metric");
}
