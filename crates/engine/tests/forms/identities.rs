//! Foliations, cotangent form, Lagrange spaces and Krupková's system against the core, over random systems
//! and the reference tables.

use pfaff::{Point, Principle, Run, View, view_motion};
use pfaff_expr::Expr;
use pfaff_mechanics::{
    cartan_forms, closedness, constrained_system, cotangent, derive, foliation, hamilton_form,
    lagrange_space, lepage, normal_form,
};

use crate::support::cases::{Case, failed};
use crate::support::systems::{KINDS, Kind, RandomSystem};
use crate::support::{self, Random};

/// Residuals of identities between numbers of size one to ten, made of some thousand operations.
const HOLDS: f64 = 1e-12;

/// How many random systems of each kind; more with `PFAFF_TESTS=full`.
fn cases() -> usize {
    support::count(3, 30)
}

fn random_cases(seed: u64) -> Vec<(Kind, RandomSystem, Case, Random)> {
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    for kind in KINDS {
        for i in 0..cases() {
            let system = RandomSystem::new(kind, i % 2 == 1, i % 3 == 2, &mut random);
            let state = system.state(&mut random);
            let case = Case::new(&system.text, Some(&system.dependent), &state);
            all.push((kind, system, case, Random::new(random.next())));
        }
    }
    all
}

#[track_caller]
fn small(value: f64, size: f64, what: &str) {
    assert!(
        value.abs() <= HOLDS * (1.0 + size),
        "{what}: {value:e} for numbers of size {size}"
    );
}

/// [PP, Theorem 3.1] with y = +C: δL_c = ⟨R, 𝓛⟩ along the motions of the core, linear, affine, nonlinear,
/// implicit, with time, forces and leaf dependence.
#[test]
fn constrained_lagrangian_moves_by_the_s_curvature() {
    for (kind, system, case, _) in random_cases(41) {
        let form = foliation(&case.model, &case.equations, &case.normal).expect("a Lagrangian");
        let sides = form.equations.as_ref().expect("Chetaev's reactions");
        let (left, right) = (case.at(&sides.left), case.at(&sides.right));
        for (l, r) in left.iter().zip(&right) {
            small(l - r, l.abs(), &format!("{kind:?}\n{}", system.text));
        }
        let curvature = case.at(&form.s_curvature.entries);
        assert!(curvature.iter().any(|x| x.abs() > 1e-3), "the curvature takes part");
    }
}

/// R = γ + B ȳ for affine constraints, and B is the bracket of the fields D″.
#[test]
fn curvature_of_affine_constraints_is_affine() {
    for (kind, _, case, _) in random_cases(42) {
        let form = foliation(&case.model, &case.equations, &case.normal).expect("a Lagrangian");
        assert_eq!(form.gamma.is_some(), matches!(kind, Kind::Linear | Kind::Affine));
        let Some(gamma) = &form.gamma else { continue };
        let k = case.normal.transverse.len();
        let (R, B) = (case.at(&form.s_curvature.entries), case.at(&form.curvature.entries));
        let γ = case.at(&gamma.entries);
        for u in 0..case.normal.leaf.len() {
            for p in 0..k {
                let turned: f64 = (0..k)
                    .map(|q| B[(u * k + p) * k + q] * case.point.v[case.normal.transverse[q]])
                    .sum();
                small(R[u * k + p] - γ[u * k + p] - turned, turned.abs(), "R = γ + B ȳ");
            }
        }
    }
}

/// [PP, Theorem 4.1] corrected: H ṗ = right with ṗ = J ÿ + Dp of the core.
#[test]
fn momenta_move_by_the_cotangent_form() {
    for (kind, system, case, _) in random_cases(43) {
        let form = cotangent(&case.model, &case.equations, &case.normal).expect("J is regular");
        let k = case.normal.transverse.len();
        let (J, D) = (case.at(&form.jacobian.entries), case.at(&form.drift));
        let (H, right) = (case.at(&form.matrix.entries), case.at(&form.right));
        let a: Vec<f64> = case.normal.transverse.iter().map(|&i| case.point.a[i]).collect();
        let rate: Vec<f64> =
            (0..k).map(|p| D[p] + (0..k).map(|q| J[p * k + q] * a[q]).sum::<f64>()).collect();
        for p in 0..k {
            let left: f64 = (0..k).map(|q| H[p * k + q] * rate[q]).sum();
            small(left - right[p], left.abs(), &format!("{kind:?}\n{}", system.text));
        }
    }
}

/// [BN, (3.7)]: A′ + B′ q̈ = 0 along the motions of the core; and A′, B′ are the values of the pulled-back
/// Lepage form on (δ_l, D) and (δ_l, ∂/∂q̇^s).
#[test]
fn reduced_equation_is_that_of_the_pulled_back_lepage_form() {
    for (kind, system, case, _) in random_cases(44) {
        let (model, normal) = (&case.model, &case.normal);
        let reduced = constrained_system(model, &case.equations, normal).expect("Chetaev");
        let (A, B) = (case.at(&reduced.force), case.at(&reduced.matrix.entries));
        let k = normal.transverse.len();
        for l in 0..k {
            let moved: f64 =
                (0..k).map(|s| B[l * k + s] * case.point.a[normal.transverse[s]]).sum();
            small(A[l] + moved, moved.abs(), &format!("{kind:?}\n{}", system.text));
        }
        let (g, x, v) = (&model.graph, model.positions(), model.velocities());
        if !normal.is_explicit {
            continue;
        }
        let (space, α) = lepage(model, &case.equations);
        let y = normal.transverse_velocities(model);
        let Q = pfaff_mechanics::Space::new([&[model.time][..], &x, &y].concat());
        let images = [&[model.time][..], &x, &normal.inserted(model, &v)].concat();
        let αQ = space.pull_back(g, &α, &images, &Q);
        let field = |pairs: &[(Expr, Expr)]| -> Vec<Expr> {
            let of = |c: &Expr| pairs.iter().find(|(s, _)| s == c).map_or(g.zero(), |p| p.1);
            Q.coordinates.iter().map(of).collect()
        };
        let D = field(&normal.drift(model));
        for l in 0..k {
            let δ = field(&normal.horizontal(model, l));
            let first = case.at(&[αQ.value(g, &[&δ, &D])])[0];
            small(first - A[l], A[l].abs(), "A′");
            for s in 0..k {
                let ahead = field(&[(y[s], g.one())]);
                let second = case.at(&[αQ.value(g, &[&δ, &ahead])])[0];
                small(second - B[l * k + s], second.abs(), "B′");
            }
        }
    }
}

/// [BN, (2.5), (2.8)]: −2G* is the acceleration and λ the multiplier of the core, and G* = G − ½ M⁻¹(F +
/// λa)/1 by its own formula.
#[test]
fn canonical_semispray_is_the_motion_of_chetaev() {
    for (_, system, case, _) in random_cases(45) {
        let model = &case.model;
        let space = lagrange_space(model, &case.equations);
        let semispray = space.semispray.expect("regular");
        let n = model.coordinates.len();
        let star = case.at(&semispray.coefficients);
        let λ = case.at(&semispray.multipliers);
        for i in 0..n {
            small(2.0 * star[i] + case.point.a[i], case.point.a[i].abs(), &system.text);
        }
        for (a, b) in λ.iter().zip(&case.multipliers) {
            small(a - b, b.abs(), "the multiplier");
        }
        // g (2G − 2G*) = ½ (F + λ a)
        let spray = case.at(&space.spray.expect("regular"));
        let metric = case.at(&space.metric.entries);
        let given: Vec<Expr> = (0..n)
            .map(|k| model.graph.sum(model.forces.iter().map(|f| f.components[k])))
            .collect();
        let given = case.at(&given);
        let a = case.at(&case.equations.jacobian.concat());
        for i in 0..n {
            let left: f64 =
                (0..n).map(|j| metric[i * n + j] * 2.0 * (spray[j] - star[j])).sum();
            let pull: f64 = (0..λ.len()).map(|σ| λ[σ] * a[σ * n + i]).sum();
            small(2.0 * left - (given[i] + pull), left.abs(), "2G − 2G*");
        }
    }
}

/// N^i_j = ∂G*^i/∂y^j, and R^i_jk is the vertical part of −[δ_j, δ_k]: both by differences of G* at
/// neighbouring points.
#[test]
fn nonlinear_connection_and_its_curvature() {
    let mut random = Random::new(46);
    let system = RandomSystem::new(Kind::Linear, false, true, &mut random);
    let case = Case::new(&system.text, Some(&system.dependent), &system.state(&mut random));
    let model = &case.model;
    let n = model.coordinates.len();
    let space = lagrange_space(model, &case.equations);
    let semispray = space.semispray.expect("regular");
    let N = semispray.connection(model);
    let R = semispray.curvature(model, &N);
    let h = 1e-4;
    // Central differences of fourth order: their error is of size h⁴ = 1e-16 besides rounding 1e-16/h.
    let slope = |outputs: &[Expr], change: &dyn Fn(&mut Point, f64)| -> Vec<f64> {
        let at = |s: f64| {
            let mut point = case.point.clone();
            change(&mut point, s * h);
            point.evaluate(model, outputs)
        };
        let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
        (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * h)).collect()
    };
    let (values, curved) = (case.at(&N.entries), case.at(&R.entries));
    for j in 0..n {
        let found = slope(&semispray.coefficients, &|p, s| p.v[j] += s);
        for i in 0..n {
            let exact = values[i * n + j];
            assert!((found[i] - exact).abs() < 1e-10 * (1.0 + exact.abs()), "N");
        }
    }
    let steps: Vec<Vec<f64>> = (0..n)
        .map(|k| {
            slope(&N.entries, &|p, s| {
                p.q[k] += s;
                (0..n).for_each(|l| p.v[l] -= s * values[l * n + k]);
            })
        })
        .collect();
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                let exact = curved[(i * n + j) * n + k];
                let found = steps[k][i * n + j] - steps[j][i * n + k];
                assert!((found - exact).abs() < 1e-9 * (1.0 + exact.abs()), "R");
            }
        }
    }
    assert!(curved.iter().any(|x| x.abs() > 1e-3), "there is curvature");
}

/// i_X(dω − C) = 0 on the motions of the core, component by component: dq, dp, dv and dt.
#[test]
fn poincare_cartan_and_chetaev_forms_give_the_equations() {
    for (_, system, case, _) in random_cases(47) {
        let (model, point) = (&case.model, &case.point);
        let forms = cartan_forms(model, &case.equations).expect("a Lagrangian");
        let g = &model.graph;
        let along: Vec<(Expr, Expr)> = model
            .positions()
            .into_iter()
            .zip(model.velocities())
            .chain(model.velocities().into_iter().zip(model.accelerations()))
            .chain([(model.time, g.one())])
            .collect();
        let p = case.at(&case.equations.momenta);
        let p_rate = case.at(&g.directional(&case.equations.momenta, &along));
        let base = point.symbol(model);
        let symbol = |s: Expr| {
            let find = |list: &[Expr]| list.iter().position(|&e| e == s);
            if let Some(k) = find(&forms.momenta) {
                p[k]
            } else if let Some(k) = find(&forms.rates[0]) {
                point.v[k]
            } else if let Some(k) = find(&forms.rates[1]) {
                p_rate[k]
            } else if let Some(k) = find(&forms.rates[2]) {
                point.a[k]
            } else if let Some(k) = find(&model.results.lambda) {
                case.multipliers[k]
            } else {
                base(s)
            }
        };
        let n = model.coordinates.len();
        assert!(forms.equations.terms().count() > 3 * n, "all components are there");
        for (place, f) in forms.equations.terms() {
            let value = g.evaluate(&[f], &symbol)[0];
            small(value, 10.0, &format!("{place:?}\n{}", system.text));
        }
    }
}

/// The motions of the cotangent form, of the semispray and of the reduced equation are those of the core.
#[test]
fn motions_of_the_views_are_those_of_the_core() {
    for (kind, system, case, _) in random_cases(48) {
        for &(view, word) in View::of(Principle::Chetaev) {
            let request = Run { samples: Some(5), ..Run::default() };
            let motion = view_motion(
                &case.model.clone().freeze().into(),
                view,
                Some(&system.dependent),
                &request,
            )
            .unwrap_or_else(|f| panic!("{word}: {}\n{}", failed(&f), system.text));
            // Tolerance 1e-13 a step, some dozens of steps, and motions that part like eᵗ.
            assert!(motion.deviation < 1e-10, "{kind:?} {word}: {:e}", motion.deviation);
            assert_eq!(motion.t.len(), 5);
        }
    }
}

/// [TZ06, (84)–(93)] with μ ↦ −μ: Hamilton's form of the vakonomic principle moves as the core does, and for
/// M = 1 it is q̇ = (1 − AAᵀ/A²)p.
#[test]
fn hamiltonian_form_of_the_vakonomic_principle() {
    let mut random = Random::new(52);
    for kind in [Kind::Linear, Kind::Affine] {
        for i in 0..cases() {
            let system = RandomSystem::new(kind, i % 2 == 1, i % 3 == 2, &mut random);
            let starts: Vec<String> =
                (1..=system.leaf).map(|a| format!("mu(c{a}) = {}", random.decimal())).collect();
            let text = format!("{}initial {}\n", system.text, starts.join(", "));
            let model = support::model(&text);
            let principle = Some(Principle::Vakonomic);
            let request = Run { samples: Some(5), principle, ..Run::default() };
            let motion = view_motion(&model, View::Hamilton, None, &request)
                .unwrap_or_else(|f| panic!("{}\n{text}", failed(&f)));
            // As for the other views: tolerance 1e-13 a step.
            assert!(motion.deviation < 1e-10, "{kind:?}: {:e}\n{text}", motion.deviation);
        }
    }
    let model = support::model(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x*y\nconstraint f: y*x' - z*y' + (1 + x^2)*z' = 0\n",
    ).workspace();
    let equations = derive(&model, Principle::Vakonomic).expect("equations");
    let form = hamilton_form(&model, &equations).expect("a Hamiltonian form");
    let (q, p) = ([0.3, -0.4, 0.7], [0.9, 0.2, -0.5]);
    let at = |s: Expr| {
        let find = |list: &[Expr]| list.iter().position(|&e| e == s);
        find(&form.symbols)
            .map(|k| p[k])
            .or_else(|| find(&model.positions()).map(|k| q[k]))
            .unwrap_or(f64::NAN)
    };
    let A = [q[1], -q[2], 1.0 + q[0] * q[0]];
    let dot = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
    let share = dot(&A, &p) / dot(&A, &A);
    let velocities = model.graph.evaluate(&form.velocities, &at);
    for k in 0..3 {
        small(velocities[k] - (p[k] - A[k] * share), 1.0, "(93)");
    }
    small(model.graph.evaluate(&form.multipliers, &at)[0] + share, 1.0, "(92)");
}

/// [BN, Theorem 2.1] corrected: the equations of L* = L + λ(x)Q less those of L are C_ij y^j, C_ij =
/// ∂_j(λa_i) − ∂_i(λa_j).
#[test]
fn equivalent_lagrangians_differ_by_a_closed_form() {
    let (a, λ) = (["x2*sin(x3)", "x1*x3", "exp(x1) + x2"], "1 + x1*x2^2");
    let q = "coordinates x1, x2, x3\n";
    let form = format!("({})*x1' + ({})*x2' + ({})*x3'", a[0], a[1], a[2]);
    let kinetic = "(x1'^2 + x2'^2 + x3'^2)/2";
    let state = "x1 = 0.4, x2 = -0.3, x3 = 0.8, x1' = 0.6, x2' = 1.1, x3' = -0.7";
    let force = |text: &str| {
        let model = support::model(text).workspace();
        let equations = derive(&model, Principle::Chetaev).expect("equations");
        let point = Point::read(&model, state).expect("a state");
        point.evaluate(&model, &equations.force)
    };
    let plain = force(&format!("{q}lagrangian {kinetic}\n"));
    let star = force(&format!("{q}lagrangian {kinetic} + ({λ})*({form})\n"));
    let model = support::model(&format!(
        "{q}lagrangian {kinetic}\nconstraint {form} = 0\nobserve l = {λ}\n"
    ))
    .workspace();
    let equations = derive(&model, Principle::Chetaev).expect("equations");
    let C = closedness(&model, &equations.jacobian, &[model.observed[0].expr]);
    let point = Point::read(&model, state).expect("a state");
    let C = point.evaluate(&model, &C.entries);
    for i in 0..3 {
        let turned: f64 = (0..3).map(|j| C[i * 3 + j] * point.v[j]).sum();
        // [L]_i = M q̈ − f, so that the difference of the brackets is −(f* − f).
        small(star[i] - plain[i] + turned, turned.abs(), "C y");
        assert!(turned.abs() > 1e-3);
    }
}

/// A singular J is refused, with the word that the equations themselves still work; they do.
#[test]
fn singular_legendre_map_is_refused_and_the_core_works() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + z'^2)/2 - x*z\nconstraint z' = y'\n\
                initial x' = 1, y' = 0.5\nsolve t = 0..1\n";
    let model = support::model(text).workspace();
    let equations = derive(&model, Principle::Chetaev).expect("equations");
    let normal = normal_form(&model, &equations, None).expect("a normal form");
    assert_eq!(normal.leaf, [2]);
    let refusal = cotangent(&model, &equations, &normal).expect_err("J = diag(1, 0)");
    let diagnostic = refusal.diagnostic();
    assert!(diagnostic.message.contains("`y`"), "{}", diagnostic.message);
    let hints = diagnostic.hint.unwrap_or_default();
    assert!(hints.contains("and a run"), "{hints}");
    support::run(&support::model(text), &Run::default());
    let system = constrained_system(&model, &equations, &normal).expect("Chetaev");
    let second = system.accelerations(&model).expect("regular in the sense of Krupková");
    let point = Point::read(&model, "x = 0.4, y = 0.1, z = 0.8").expect("a state");
    // By hand: y has no mass, so λ = 0 and x″ = −z, y″ = z″ = −x.
    for (found, right) in point.evaluate(&model, &second).iter().zip([-0.8, -0.4]) {
        small(found - right, 1.0, "Krupková's accelerations");
    }
    let other = normal_form(&model, &equations, Some(&[1])).expect("a normal form");
    assert!(cotangent(&model, &equations, &other).is_ok(), "with y as the dependent one");
}

/// A constraint that does not give the leaf velocities at the point is refused there.
#[test]
fn unsolvable_leaf_velocities_are_refused() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z'^2 = x'^2 - y'^2\n";
    let model = support::model(text).workspace();
    let equations = derive(&model, Principle::Chetaev).expect("equations");
    let normal = normal_form(&model, &equations, Some(&[2])).expect("a normal form");
    let at = |state: &str| {
        let point = Point::read(&model, state).expect("a state");
        point.on_constraint(&model, &equations, &normal)
    };
    let singular = at("x' = 1, y' = 1").expect_err("∂φ/∂z′ = 0");
    assert!(failed(&singular).contains("`z'`"), "{}", failed(&singular));
    let none = at("x' = 1, y' = 2, z' = 1").expect_err("no real velocity");
    assert!(failed(&none).contains("do not give"), "{}", failed(&none));
    let there = at("x' = 2, y' = 1, z' = -1").map_err(|f| failed(&f)).expect("a branch");
    assert!((there.v[2] + libm::sqrt(3.0)).abs() < 1e-14, "the branch of the guess");
}

/// A form of one principle is no motion of another: it is refused, and not integrated by its own principle silently.
#[test]
fn views_follow_the_principle_of_the_model() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = y*x'\n\
        initial x' = 1, y' = 1\nsolve t = 0..1\n";
    let request = Run { samples: Some(3), ..Run::default() };
    for (principle, name) in Principle::ALL {
        let start =
            if principle == Principle::Vakonomic { "initial mu(c) = 0.3\n" } else { "" };
        let model = support::model(&format!("{text}principle {name}\n{start}"));
        for &(view, word) in Principle::ALL.iter().flat_map(|(p, _)| View::of(*p)) {
            let found = view_motion(&model, view, None, &request);
            let own = View::of(principle).iter().any(|v| v.0 == view);
            match found {
                Ok(motion) => assert!(own && motion.deviation < 1e-8, "{name}, {word}"),
                Err(refusal) => {
                    let message = failed(&refusal);
                    assert!(!own && message.contains(name), "{name}, {word}: {message}");
                }
            }
        }
    }
    // Without constraints all principles are one.
    let free = support::model(
        "coordinates x\nlagrangian x'^2/2 - x^2\ninitial x = 1\nsolve t = 0..1\n",
    );
    let motion = view_motion(&free, View::Hamilton, None, &request).map_err(|f| failed(&f));
    assert!(motion.expect("a motion").deviation < 1e-8);
}
