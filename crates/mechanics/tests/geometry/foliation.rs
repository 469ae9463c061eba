//! Motions on foliations and as constrained systems, against accelerations by hand.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Principle, constrained_system, derive, foliation, is_adapted, lepage, normal_form,
};

use crate::support::{Case, LINEAR, NONLINEAR, all_close, close, dot, model, slope};

/// (PP): both sides agree along the motion; curvatures are differences of the slopes.
#[test]
fn foliations_give_the_motion() {
    let linear = LINEAR
        .iter()
        .filter(|(n, _)| !["snake", "ball", "robot"].iter().any(|w| n.starts_with(w)));
    for (name, text) in linear.chain(&NONLINEAR[..3]) {
        let case = Case::new(text, Principle::Chetaev, 33).in_motion();
        let s = &case.state;
        let n = normal_form(&case.model, &case.equations, None).unwrap();
        let f = foliation(&case.model, &case.equations, &n).unwrap();
        let sides = f.equations.as_ref().unwrap();
        all_close(&case.values(&sides.left), &case.values(&sides.right), name);
        let (m, k) = (n.leaf.len(), n.transverse.len());
        close(case.value(f.lagrangian), case.lagrangian(s), name);
        // (1 C) L_yy (1 C)ᵀ
        let mass = case.rows(&case.equations.mass);
        let lift = |i: usize| -> Vec<f64> {
            let mut x = vec![0.0; case.n()];
            x[n.transverse[i]] = 1.0;
            n.leaf
                .iter()
                .enumerate()
                .for_each(|(u, &j)| x[j] = case.value(n.slopes.at(&[u, i])));
            x
        };
        for i in 0..k {
            for j in 0..k {
                let (x, y) = (lift(i), lift(j));
                let wanted: f64 = (0..case.n()).map(|r| x[r] * dot(&mass[r], &y)).sum();
                close(case.value(sides.hessian.at(&[i, j])), wanted, name);
            }
        }
        if !n.is_explicit {
            continue;
        }
        // δ_i e by differences at fixed ȳ
        let step = |i: usize, e: Expr| {
            let x = lift(i);
            slope(|h| {
                let mut there = s.clone();
                there.q.iter_mut().zip(&x).for_each(|(q, x)| *q += h * x);
                case.at(&there, e)
            })
        };
        for u in 0..m {
            for i in 0..k {
                for j in 0..k {
                    let wanted = step(j, n.slopes.at(&[u, i])) - step(i, n.slopes.at(&[u, j]));
                    close(case.value(f.curvature.at(&[u, i, j])), wanted, name);
                    let slopes = n.slopes.at(&[u, i]);
                    let bend = case.by_velocity(s, n.transverse[j], &|s| case.at(s, slopes));
                    close(case.value(f.bend.at(&[u, i, j])), bend, name);
                }
                let carried = case.rate(&|s| case.at(s, n.slopes.at(&[u, i])));
                let wanted = carried - step(i, n.rates[u]);
                close(case.value(f.s_curvature.at(&[u, i])), wanted, name);
                if let Some(γ) = &f.gamma {
                    let turned: f64 = (0..k)
                        .map(|j| case.value(f.curvature.at(&[u, i, j])) * s.v[n.transverse[j]])
                        .sum();
                    close(case.value(γ.at(&[u, i])) + turned, wanted, "R = γ + B ȳ");
                }
            }
            if let Some(b) = &f.drift {
                let mut still = s.clone();
                n.transverse.iter().for_each(|&i| still.v[i] = 0.0);
                close(case.value(b[u]), case.at(&still, n.rates[u]), "drift");
            }
        }
    }
}

#[test]
fn adapted_lagrangians_are_recognised() {
    let of = |lagrangian: &str| {
        let text =
            format!("coordinates x, y, z\nlagrangian {lagrangian}\nconstraint c: z' = y*x'");
        let m = model(&text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        is_adapted(&m, &normal_form(&m, &e, None).unwrap())
    };
    assert_eq!(of("(x'^2 + y'^2 + (z' - y*x')^2)/2 - x"), Some(true));
    assert_eq!(of("(x'^2 + y'^2 + z'^2)/2"), Some(false), "z' and x' are joined");
    let implicit = "coordinates x, y, z\nlagrangian (x'^2 + y'^2)/2
        constraint c: z'^3 + z' = x'*y'";
    let m = model(implicit).workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    let n = normal_form(&m, &e, None).unwrap();
    assert_eq!((n.is_explicit, is_adapted(&m, &n)), (false, None), "not written out");
    assert_eq!(of("((1 + z^2)*x'^2 + (z' - y*x')^2)/2"), Some(false), "the place on the leaf");
}

/// A system that cannot move: no field is left, and no acceleration.
#[test]
fn systems_without_freedom_have_empty_forms() {
    let m = model("coordinates x\nlagrangian x'^2/2\nconstraint c: x' = 0").workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    let n = normal_form(&m, &e, None).unwrap();
    let system = constrained_system(&m, &e, &n).unwrap();
    assert_eq!(system.accelerations(&m), Some(Vec::new()));
    let found = pfaff_mechanics::geometry(&m, &e, None).unwrap().connection.unwrap();
    assert!(found.metric.entries.is_empty() && found.inverse.entries.is_empty());
}

/// (Kr) and the Lepage form: accelerations of the motion.
#[test]
fn constrained_systems_give_the_motion() {
    let linear =
        LINEAR.iter().filter(|(n, _)| !n.starts_with("snake") && !n.starts_with("ball"));
    for (name, text) in linear.chain(&NONLINEAR[..3]) {
        let case = Case::new(text, Principle::Chetaev, 34).in_motion();
        let s = &case.state;
        let n = normal_form(&case.model, &case.equations, None).unwrap();
        let system = constrained_system(&case.model, &case.equations, &n).unwrap();
        let a: Vec<f64> = n.transverse.iter().map(|&k| s.a[k]).collect();
        let k = a.len();
        let (force, matrix) = (case.values(&system.force), case.values(&system.matrix.entries));
        (0..k).for_each(|i| close(force[i] + dot(&matrix[i * k..][..k], &a), 0.0, name));
        let solved = system.accelerations(&case.model).expect("regular");
        all_close(&case.values(&solved), &a, name);
        // i_Γ α = (f − M q̈)·ω with Γ = (1, q̇, q̈)
        let g = &case.model.graph;
        let (space, α) = lepage(&case.model, &case.equations);
        let field =
            [vec![g.one()], case.model.velocities(), case.model.accelerations()].concat();
        let inner = α.interior(g, &field);
        let (mass, f) = (case.rows(&case.equations.mass), case.values(&case.equations.force));
        assert_eq!(space.coordinates.len(), 2 * case.n() + 1);
        // ω = dq − q̇ dt vanishes on Γ.
        let mut along_time = 0.0;
        for i in 0..case.n() {
            let balance = f[i] - dot(&mass[i], &s.a);
            let found = case.value(inner.coefficient(g, &[1 + i]));
            close(found, -balance, name);
            along_time += balance * s.v[i];
            close(case.value(inner.coefficient(g, &[1 + case.n() + i])), 0.0, name);
        }
        close(case.value(inner.coefficient(g, &[0])), along_time, name);
    }
    let case = Case::new(NONLINEAR[3].1, Principle::Chetaev, 34);
    let n = normal_form(&case.model, &case.equations, None).unwrap();
    assert!(constrained_system(&case.model, &case.equations, &n).is_none());
}

/// Reactions along other directions: (PP) is not the motion, and is not claimed to be.
#[test]
fn other_directions_of_reactions_have_no_projected_equations() {
    for (along, has) in [("", true), (" along [-y, 0, 1]", true), (" along [0, 0, 1]", false)] {
        let text = format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - z\nconstraint c{along}: z' = y*x'\n"
        );
        let case = Case::new(&text, Principle::Chetaev, 35);
        let n = normal_form(&case.model, &case.equations, None).unwrap();
        let f = foliation(&case.model, &case.equations, &n).unwrap();
        assert_eq!(f.equations.is_some(), has, "{along}");
    }
}
