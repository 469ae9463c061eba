//! Ranks, integrability, split and normal form of constraints, against closed forms and differences.

use pfaff_mechanics::{
    NormalForm, Principle, Refusal, derive, integrable, normal_form, ranks, split,
};

use crate::support::{Case, LINEAR, NONLINEAR, State, all_close, close, model, slope, solve};

fn answers(constraints: &str) -> Vec<Option<bool>> {
    let text = format!(
        "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2\n{constraints}"
    );
    let m = model(&text).workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    integrable(&m, &e)
}

/// Frobenius: what comes from positions alone.
#[test]
fn integrable_constraints_are_recognised() {
    assert_eq!(answers("constraint a: x^2 + y = 1"), [Some(true)]);
    assert_eq!(answers("constraint a: x*x' + y*y' = 0"), [Some(true)]);
    assert_eq!(answers("constraint a: y*x' - x*y' = 0"), [Some(true)], "an integrating factor");
    assert_eq!(answers("constraint a: z' = y*x'"), [Some(false)]);
    // Together with y' = 0 the contact form is dz = c dx.
    assert_eq!(answers("constraint a: z' = y*x'\nconstraint b: y' = 0"), [Some(true); 2]);
    assert_eq!(
        answers("constraint a: z' = y*x'\nconstraint b: w' = x'"),
        [Some(false), Some(true)]
    );
    assert_eq!(answers("constraint a: x' = t"), [Some(true)]);
    assert_eq!(answers("constraint a: x' = y"), [Some(false)]);
    assert_eq!(
        answers("constraint a: x' = y\nconstraint b: w' = z'"),
        [Some(false), Some(true)]
    );
    assert_eq!(answers("constraint a: x' = t*y'"), [Some(false)]);
    assert_eq!(answers("constraint a: x' = cos(t)*x"), [Some(true)]);
    assert_eq!(answers("constraint a: x'^2 + y'^2 = 1"), [Some(false)]);
    let flat_there = "(x' - 1)*(1 + y'^2) = 0";
    assert_eq!(answers(&format!("constraint a: {flat_there}")), [None], "bent beside it alone");
    for plane in ["(x' + y*y')^3 = 8", "(2*x' - 3*y' + z' + w')^3 = 8", "(w' + y*x' + x)^5 = 1"]
    {
        assert_eq!(answers(&format!("constraint a: {plane}")), [None], "a plane in disguise");
    }
    for bent in ["w'^2 = 1 + x'*y'", "x'*y' + 1e-3*z'^2 = 2", "(w' + x')^2 + x'^3 = 3"] {
        assert_eq!(answers(&format!("constraint a: {bent}")), [Some(false)], "{bent}");
    }
    assert_eq!(answers("parameters k = 2\nconstraint a: k*w'^2 = 1 + x'*y'"), [Some(false)]);
    assert_eq!(answers("constraint a: w'^2 + 1 = 0"), [None], "no velocity obeys it");
}

/// Degrees of freedom and regularity.
#[test]
fn ranks_are_those_of_a_generic_point() {
    let rank = |text: &str, principle: Principle| {
        let m = model(text).workspace();
        let r = ranks(&m, &derive(&m, principle).unwrap());
        (r.constraints, r.degrees_of_freedom, r.regular)
    };
    let base = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n";
    let twice = format!(
        "{base}constraint a: z' = y*x'\nconstraint b: 2*z' = 2*y*x'\nconstraint c: x' = t"
    );
    assert_eq!(rank(&twice, Principle::Chetaev), (2, 1, true));
    assert_eq!(rank("coordinates x, y\nlagrangian x'^2/2", Principle::Chetaev), (0, 2, false));
    let held = "coordinates x, y\nlagrangian x'^2/2\nconstraint c: y' = x*x'";
    assert_eq!(rank(held, Principle::Chetaev), (1, 1, true), "massless, but on the constraint");
    let loose = "coordinates x, y, z\nlagrangian x'^2/2\nconstraint c: y' = x*x'";
    assert_eq!(rank(loose, Principle::Chetaev), (1, 2, false));
    let across =
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c along [1, 0]: y' = 1";
    assert_eq!(
        rank(across, Principle::Chetaev),
        (1, 1, false),
        "a reaction that cannot hold it"
    );
}

/// (Sp): $\dot q^\alpha = \varepsilon^\alpha_\mu\dot q^\mu + b^\alpha$, fields and drift.
#[test]
fn split_velocities_satisfy_the_constraints() {
    for (name, text) in LINEAR {
        let case = Case::new(text, Principle::Chetaev, 5);
        let s = split(&case.model, &case.equations, None).unwrap();
        assert_eq!(s.dependent.len(), case.m(), "{name}");
        let (rows, drift) = (case.rows(&s.slopes), case.values(&s.drift));
        let base: Vec<f64> = s.base.iter().map(|&k| case.state.v[k]).collect();
        for (α, &k) in s.dependent.iter().enumerate() {
            close(crate::support::dot(&rows[α], &base) + drift[α], case.state.v[k], name);
        }
        let jacobian = case.rows(&case.equations.jacobian);
        for field in s.fields(&case.model) {
            let field = case.values(&field);
            jacobian.iter().for_each(|row| close(crate::support::dot(row, &field), 0.0, name));
        }
        let affine = drift.iter().any(|b| b.abs() > 1e-12);
        let field = s.drift_field(&case.model);
        assert_eq!(field.is_some(), affine, "{name}");
        if let Some(field) = field {
            let field = case.values(&field);
            for row in &jacobian {
                let whole = crate::support::dot(row, &case.state.v);
                close(crate::support::dot(row, &field), whole, name);
            }
        }
        let timely = name.starts_with("affine");
        assert_eq!(s.is_timely(&case.model), timely, "{name}");
    }
}

#[test]
fn dependent_coordinates_are_those_asked_for() {
    let text =
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = x*y'";
    let case = Case::new(text, Principle::Chetaev, 5);
    let chosen = |wanted: Option<&[usize]>| split(&case.model, &case.equations, wanted);
    assert_eq!(chosen(None).unwrap().dependent, [2]);
    assert_eq!(chosen(Some(&[1])).unwrap().dependent, [1]);
    for wrong in [&[0][..], &[1, 2], &[]] {
        let r = chosen(Some(wrong));
        assert!(matches!(r, Err(Refusal::Undetermined { needed: 1, .. })), "{wrong:?}");
    }
    // Coordinates that a coefficient contains come last.
    let text =
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: y' = z*x' + z'";
    let case = Case::new(text, Principle::Chetaev, 5);
    assert_eq!(split(&case.model, &case.equations, None).unwrap().dependent, [1]);
    let case = Case::new(NONLINEAR[0].1, Principle::Chetaev, 5);
    let r = split(&case.model, &case.equations, None);
    assert!(matches!(r, Err(Refusal::NotLinear { .. })));
}

/// Memory leaves no normal form.
#[test]
fn constraints_with_memory_have_no_normal_form() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2
        constraint a: z' = x*y'\nconstraint b: y' = caputo(x, 0.5)";
    let m = model(text).workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    let named = |r: Refusal| match r {
        Refusal::NotLinear { constraint, what, .. } => (constraint, what),
        other => panic!("{other:?}"),
    };
    let wanted = ("b".to_owned(), "has memory");
    assert_eq!(named(normal_form(&m, &e, None).unwrap_err()), wanted);
    assert_eq!(named(split(&m, &e, None).unwrap_err()), wanted);
}

/// The leaf velocities as functions of $(t, x, \bar y)$, by Newton's iteration from the state.
fn leaf_rates(case: &Case, n: &NormalForm, there: &State) -> Vec<f64> {
    let mut s = there.clone();
    for _ in 0..12 {
        let r: Vec<f64> = n.rows.iter().map(|&a| case.residual(&s, a)).collect();
        let entry = |&a: &usize, &k: &usize| case.by_velocity(&s, k, &|s| case.residual(s, a));
        let rows =
            n.rows.iter().map(|a| n.leaf.iter().map(|k| entry(a, k)).collect()).collect();
        let step = solve(rows, r);
        n.leaf.iter().zip(step).for_each(|(&k, d)| s.v[k] -= d);
    }
    n.leaf.iter().map(|&k| s.v[k]).collect()
}

/// (N): values, first derivatives and slopes of $C$, written out or implicit.
#[test]
fn normal_form_is_the_implicit_function() {
    let linear =
        LINEAR.iter().filter(|(n, _)| !n.starts_with("snake") && !n.starts_with("ball"));
    for (name, text) in linear.chain(&NONLINEAR[..3]) {
        let case = Case::new(text, Principle::Chetaev, 5);
        let (g, s) = (&case.model.graph, &case.state);
        let n = normal_form(&case.model, &case.equations, None).unwrap();
        let leaf: Vec<f64> = n.leaf.iter().map(|&k| s.v[k]).collect();
        all_close(&case.values(&n.rates), &leaf, name);
        for u in 0..n.leaf.len() {
            let along = |change: &dyn Fn(&mut State, f64)| {
                slope(|h| {
                    let mut there = s.clone();
                    change(&mut there, h);
                    leaf_rates(&case, &n, &there)[u]
                })
            };
            let (x, v) = (case.model.positions(), case.model.velocities());
            let found = case.value(n.partial(case.model.time, u));
            close(found, along(&|s, h| s.t += h), name);
            for k in 0..case.n() {
                close(case.value(n.partial(x[k], u)), along(&|s, h| s.q[k] += h), name);
            }
            for (i, &k) in n.transverse.iter().enumerate() {
                let by_hand = along(&|s, h| s.v[k] += h);
                close(case.value(n.partial(v[k], u)), by_hand, name);
                close(case.value(n.slopes.at(&[u, i])), by_hand, name);
            }
        }
        all_close(&case.values(&n.velocities(&case.model)), &s.v, name);
        // The block is ∂φ/∂y of the leaves.
        let block = case.rows(&n.block);
        for (row, &a) in block.iter().zip(&n.rows) {
            let w = case.direction(s, a);
            let wanted: Vec<f64> = n.leaf.iter().map(|&k| w[k]).collect();
            all_close(row, &wanted, name);
        }
        // Chetaev's covectors are annihilated, a lift has no leaf part, and both parts add up.
        for row in &case.equations.jacobian {
            let left = case.values(&n.projected(&case.model, row));
            all_close(&left, &vec![0.0; n.transverse.len()], name);
        }
        let unit: Vec<_> = (0..n.transverse.len()).map(|i| g.integer(i as i64 + 1)).collect();
        let lifted = n.lift(&case.model, &unit);
        let rows = case.rows(&case.equations.jacobian);
        let field = case.values(&lifted);
        rows.iter().for_each(|row| close(crate::support::dot(row, &field), 0.0, name));
        let part = case.values(&n.leaf_part(&case.model, &lifted));
        all_close(&part, &vec![0.0; n.leaf.len()], name);
        let affine =
            name != &"Appell and Hamel" && n.is_explicit && !name.starts_with("holonomic");
        assert_eq!(n.is_affine(&case.model), affine, "{name}");
    }
}

/// New transverse coordinates keep the leaves where they contain no leaf coordinate.
#[test]
fn adapted_changes_keep_the_leaves() {
    let text =
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = x*y'";
    let case = Case::new(text, Principle::Chetaev, 5);
    let n = normal_form(&case.model, &case.equations, None).unwrap();
    let (g, q) = (&case.model.graph, case.model.positions());
    let keeps = |new: &[pfaff_expr::Expr]| n.is_adapted_change(&case.model, new);
    assert!(keeps(&[g.add(q[0], q[1]), g.sin(q[1])]));
    assert!(!keeps(&[g.add(q[0], q[2]), q[1]]), "a leaf coordinate");
    assert!(!keeps(&[q[0], g.mul(g.integer(2), q[0])]), "no change of coordinates");
    assert!(!keeps(&[q[0]]), "too few");
}

/// With two leaf coordinates, one of them in a new coordinate is enough to leave the leaves.
#[test]
fn one_leaf_coordinate_of_two_is_too_many() {
    let text = "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2\n\
                constraint c: z' = x*y'\nconstraint d: w' = y*x'";
    let case = Case::new(text, Principle::Chetaev, 6);
    let n = normal_form(&case.model, &case.equations, None).unwrap();
    assert_eq!(n.leaf, [2, 3]);
    let (g, q) = (&case.model.graph, case.model.positions());
    assert!(!n.is_adapted_change(&case.model, &[g.add(q[0], q[3]), q[1]]));
    assert!(n.is_adapted_change(&case.model, &[g.add(q[0], q[1]), q[1]]));
    // The refusal of a wrong choice counts its coordinates.
    let refused = normal_form(&case.model, &case.equations, Some(&[0])).unwrap_err();
    assert!(refused.diagnostic().message.contains("2 dependent coordinates"), "{refused:?}");
}
