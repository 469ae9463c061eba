//! Sprays of Lagrange spaces, differentials of reactions, and prescribed speed.

use pfaff_mechanics::{Principle, closedness, derive, lagrange_space, prescribed_speed};

use crate::support::{Case, LINEAR, NONLINEAR, State, all_close, close, model, solve};

/// Spray, semispray, nonlinear connection and its curvature.
#[test]
fn lagrange_spaces_have_their_sprays() {
    for (name, text) in LINEAR[..7].iter().chain(&NONLINEAR[..2]) {
        let case = Case::new(text, Principle::Chetaev, 35).in_motion();
        let (s, n) = (&case.state, case.n());
        let space = lagrange_space(&case.model, &case.equations);
        let mass = case.rows(&case.equations.mass);
        let velocity = |k: usize, f: &dyn Fn(&State) -> f64| case.by_velocity(s, k, f);
        for i in 0..n {
            for j in 0..n {
                close(case.value(space.metric.at(&[i, j])), mass[i][j] / 2.0, name);
                let wanted =
                    velocity(i, &|s| case.forces(s)[j]) - velocity(j, &|s| case.forces(s)[i]);
                close(case.value(space.elicoidal.at(&[i, j])), wanted, name);
            }
        }
        // 2G = M⁻¹(Q − f): minus the acceleration without forces and reactions.
        let mut free = s.clone();
        free.a = vec![0.0; n];
        let rest = case.euler(&free, &|s| case.lagrangian(s));
        let wanted = solve(mass, rest);
        let spray: Vec<f64> =
            case.values(space.spray.as_ref().unwrap()).iter().map(|x| 2.0 * x).collect();
        all_close(&spray, &wanted, name);
        let semispray = space.semispray.as_ref().unwrap();
        let doubled: Vec<f64> =
            case.values(&semispray.coefficients).iter().map(|x| -2.0 * x).collect();
        all_close(&doubled, &s.a, name);
        all_close(&case.values(&semispray.multipliers), &s.lambda, name);
        let N = semispray.connection(&case.model);
        let R = semispray.curvature(&case.model, &N);
        let at = |s: &State, i: usize, j: usize| case.at(s, N.at(&[i, j]));
        for i in 0..n {
            for j in 0..n {
                let wanted = velocity(j, &|s| case.at(s, semispray.coefficients[i]));
                close(at(s, i, j), wanted, name);
                for k in 0..n {
                    let step = |k: usize, j: usize| {
                        let vertical: f64 =
                            (0..n).map(|l| at(s, l, k) * velocity(l, &|s| at(s, i, j))).sum();
                        case.by_position(s, k, &|s| at(s, i, j)) - vertical
                    };
                    close(case.value(R.at(&[i, j, k])), step(k, j) - step(j, k), name);
                }
            }
        }
    }
}

/// $C_{ij} = \partial_j(\lambda a_i) - \partial_i(\lambda a_j)$
#[test]
fn closedness_is_the_differential_of_the_reaction() {
    let case = Case::new(LINEAR[1].1, Principle::Chetaev, 36);
    let g = &case.model.graph;
    let q = case.model.positions();
    let λ = g.mul(q[0], g.sin(q[2]));
    let c = closedness(&case.model, &case.equations.jacobian, &[λ]);
    for i in 0..3 {
        for j in 0..3 {
            let form =
                |s: &State, i: usize| case.at(s, λ) * case.at(s, case.equations.jacobian[0][i]);
            let wanted = case.by_position(&case.state, j, &|s| form(s, i))
                - case.by_position(&case.state, i, &|s| form(s, j));
            close(case.value(c.at(&[i, j])), wanted, "C");
        }
    }
}

/// $[L]_k = \lambda_v\,g_{kl}\dot q^l$ along a motion with prescribed speed, with and without `potential`.
#[test]
fn prescribed_speed_pulls_along_the_velocity() {
    let metric = "2*u'^2 + sin(u)^2*v'^2 + 0.3*u'*v'";
    let pace = format!("constraint pace: 3*({metric}) = 3*(1 + t^2)");
    let texts = [
        format!("coordinates u, v\nkinetic ({metric})/2\npotential u*v^2\n{pace}"),
        format!("coordinates u, v\nlagrangian ({metric})/2 - u*v^2\n{pace}"),
        format!("coordinates u, v\nkinetic ({metric})/2 + u^2\npotential u*v^2 + u^2\n{pace}"),
    ];
    for text in &texts {
        let case = Case::new(text, Principle::Chetaev, 37).in_motion();
        let s = &case.state;
        let found = prescribed_speed(&case.model, &case.equations).expect("a speed");
        close(case.value(found.square), 1.0 + s.t * s.t, "square");
        let euler = case.euler(s, &|s| case.lagrangian(s));
        let p = case.values(&case.equations.momenta);
        let factor = case.value(found.factor);
        (0..2).for_each(|k| close(euler[k], factor * p[k], text));
    }
    let none = |text: &str| {
        let m = model(text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        prescribed_speed(&m, &e).is_none()
    };
    assert!(none(&format!("{}\nforce u: 1", texts[0])));
    assert!(!none("coordinates u\nlagrangian u'^2/2\nconstraint c: u'^2 = 1 + t^2"));
    let plain = "coordinates u, v\nlagrangian (u'^2 + v'^2)/2";
    assert!(none(&format!("{plain} + u*v'\nconstraint c: u'^2 + v'^2 = 1")));
    assert!(none(&format!("{plain}\nconstraint c: u'^2 + 2*v'^2 = 1")));
    assert!(none(&format!("{plain}\nconstraint c: u'^2 + v'^2 = 1 + u")));
    assert!(none(&format!("{plain}\nconstraint c: u' = v*v'")));
    assert!(none(
        "coordinates u, v\nlagrangian (1 + t)*(u'^2 + v'^2)/2\nconstraint c: (1 + t)*(u'^2 + v'^2) = 1"
    ));
    assert!(none(&format!("{plain}\nconstraint c: u*(u'^2 + v'^2) = u")));
    let across = "constraint c along [1, 0]: u'^2 + v'^2 = 1";
    assert!(none(&format!("{plain}\n{across}")), "the reaction is not along the velocity");
}
