//! Every form of the equations without multipliers, against the motion by finite differences.

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::{
    ChartPoint, Class, Principle, Reduction, canonical, explicit, lagrange_space,
    quasi_velocities, reduce, reduced_equations, solve_saddle,
};

use crate::support::{
    Case, LINEAR, NONLINEAR, all_close, close, dot, model, random_system, solve,
};

/// A pair of coefficients whose norm is not one, with a rest; its velocities occur in a later row.
const PAIR: (&str, &str) = (
    "a pair with a norm of four",
    "coordinates x, y, phi, psi
     lagrangian (x'^2 + 2*y'^2 + phi'^2 + 3*psi'^2)/2 + 0.2*x'*psi' - x*y
     constraint side: 2*y'*cos(phi) - 2*x'*sin(phi) = 0.6*x*psi' + 0.3
     constraint wheel: phi' = x*x' - 0.4*y' + y*psi'
     force x: 0.3*t",
);

/// A pair after a row that its rest contains.
const LATE_PAIR: (&str, &str) = (
    "a pair whose rest has the velocity of an earlier row",
    "coordinates z, x, y, phi, psi
     lagrangian (x'^2 + 2*y'^2 + phi'^2 + 3*psi'^2 + z'^2)/2 + 0.2*x'*psi' - x*y + 0.3*z^2
     constraint lift: z' = 0.4*x*psi' + x
     constraint side: 2*y'*cos(phi) - 2*x'*sin(phi) = 0.6*z' + 0.3
     force x: 0.3*t",
);

/// A pair that the row has only once the definition of z' is inserted.
const HIDDEN_PAIR: (&str, &str) = (
    "a pair that is not written",
    "coordinates z, x, y, phi
     lagrangian (x'^2 + 2*y'^2 + phi'^2 + z'^2)/2 - x*y
     constraint lift: z' = 0.5*x'
     constraint side: y'*cos(phi) - x'*sin(phi) + 2*z' - x' = 0.2",
);

/// A pair with a positive first coefficient, in which no velocity is without a given part.
const MOVING_PAIR: (&str, &str) = (
    "a pair that turns with time",
    "coordinates x, y
     lagrangian (x'^2 + 2*y'^2)/2 - x*y
     constraint side: 2*x'*sin(t) + 2*y'*cos(t) = 0.3*x + 0.2
     force x: 0.3*t",
);

/// The second row determines what the first leaves free.
const TURNED: (&str, &str) = (
    "a speed along the blade",
    "coordinates x, y, phi
     lagrangian (x'^2 + y'^2 + phi'^2)/2 + 0.3*x*phi'
     constraint side: y'*cos(phi) - x'*sin(phi) = 0.1
     constraint ahead: (2 + sin(phi))*(x'*cos(phi) + y'*sin(phi)) = 0.5 + x
     force phi: 0.2*y",
);

/// Two blades in one row that holds their speeds together, and a row for the speed that is left.
const TURNED_TWICE: (&str, &str) = (
    "two blades",
    "coordinates x, y, phi, a, b, psi
     lagrangian (x'^2 + y'^2 + phi'^2 + 2*a'^2 + b'^2 + psi'^2)/2 + 0.3*x*psi'
     constraint one: y'*cos(phi) - x'*sin(phi) = 0.1
     constraint two: b'*cos(psi) - a'*sin(psi) = 0
     constraint both: 3*(x'*cos(phi) + y'*sin(phi)) = a'*cos(psi) + b'*sin(psi) + 0.2
     constraint ahead: 2*a'*cos(psi) + 2*b'*sin(psi) = 0.5 + x",
);

/// Forms of the model beside a pair, whose speed is no form of it.
const PAIR_AND_FORMS: (&str, &str) = (
    "a pair beside forms",
    "coordinates x, y, phi, psi
     let a = psi' + y*x'
     let b = x' - psi*y'
     lagrangian (x'^2 + 2*y'^2 + phi'^2)/2 + a^2 + b^2 + 0.2*a*b + a*x*y + b*sin(x)
     constraint side: y'*cos(phi) - x'*sin(phi) = 0.6*x*psi' + 0.3
     constraint wheel: phi' = x*x' - 0.4*y' + y*psi'",
);

/// The pivot of the second row is another one than it is written with.
const HIDDEN_PIVOT: (&str, &str) = (
    "a pivot that is not written",
    "coordinates z, x, phi
     lagrangian (x'^2 + 2*z'^2 + phi'^2)/2 - x*phi
     constraint lift: z' = 0.5*x'
     constraint pull: 2*z' + x' = (1 + x)*phi' + 0.1",
);

/// Velocities in a turning frame as forms of the model, with parts that contain no velocity.
const FRAME: (&str, &str) = (
    "a turning frame",
    "coordinates x, y
     let a = x' - y
     let b = y' + x
     lagrangian (a^2 + b^2)/2 + 0.3*a*x*y + 0.2*b*x - x^2",
);

/// Signs, quotients by parameters and a coefficient with velocities that cancel.
const SIGNS: (&str, &str) = (
    "signs and quotients",
    "coordinates x, y, z
     parameters k = 1.7
     lagrangian -sqrt(9 + k^2 - x'^2 - y'^2*(1 + x^2) - z'^2)/k - exp(-x*y)/k
     constraint c: z'*(sin(x')^2 + cos(x')^2) = y*x' + 0.2",
);

/// A Lagrangian that is not quadratic in the velocities, with functions of one and two arguments.
const RICH: (&str, &str) = (
    "a rich Lagrangian",
    "coordinates x, y, z
     let f = exp(0.3*x*y') + sqrt(4 + x'^2*y^2 + y'^2) + z*atan2(x', 2 + y) + (x'*y')^2/10
     let h = log(3 + x*x' + y') + (2 + x)*x'/(3 + y') + cosh(0.2*z')*cos(x' - y) - 2*(x + y*y')/3
     lagrangian x'^2 + y'^2 + z'^2 + f + h
     constraint c: z' = y*x' + sin(x)*y' + 0.2*t
     force y: 0.2*x'",
);

fn texts() -> Vec<(String, String)> {
    let own = [
        &PAIR,
        &LATE_PAIR,
        &HIDDEN_PAIR,
        &MOVING_PAIR,
        &TURNED,
        &FRAME,
        &TURNED_TWICE,
        &HIDDEN_PIVOT,
        &PAIR_AND_FORMS,
    ];
    let given = LINEAR.iter().chain(own).map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    given.chain((20..30).map(|s| (format!("random system {s}"), random_system(s)))).collect()
}

fn reduced(case: &Case) -> Reduction {
    let point = ChartPoint { t: case.state.t, q: &case.state.q, scale: &[] };
    reduce(&case.model, &case.equations.classes, point).expect("linear or affine constraints")
}

fn pairs(symbols: &[Expr], values: &[f64]) -> Vec<(Expr, f64)> {
    symbols.iter().copied().zip(values.iter().copied()).collect()
}

/// $u$ and $\dot u$ of the state, the latter by solving $B^\top MB\,\dot u = r$.
fn quasi(case: &Case, r: &Reduction) -> Vec<(Expr, f64)> {
    let u = case.values_in(&r.graph, &r.forms, &[]);
    let mut known = pairs(&r.independent, &u);
    let lower = case.values_in(&r.graph, &r.mass, &known);
    let k = u.len();
    let entry = |i: usize, j: usize| lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    let mass = (0..k).map(|i| (0..k).map(|j| entry(i, j)).collect()).collect();
    let rates = solve(mass, case.values_in(&r.graph, &r.force, &known));
    known.extend(pairs(&r.independent_rates, &rates));
    known
}

/// (R): velocities, accelerations, reactions, multipliers, energy and power of the motion.
#[test]
fn reduced_motion_is_the_motion() {
    let mut swept = 0;
    let rich = [RICH, SIGNS].map(|(n, t)| (n.to_owned(), t.to_owned()));
    for (name, text) in texts().into_iter().chain(rich) {
        let case = Case::new(&text, Principle::Chetaev, 6).in_motion();
        let (s, r) = (&case.state, reduced(&case));
        assert_eq!(r.independent.len(), case.n() - case.m(), "{name}");
        let known = quasi(&case, &r);
        all_close(&case.values_in(&r.graph, &r.velocities, &known), &s.v, &name);
        all_close(&case.values_in(&r.graph, &r.accelerations(), &known), &s.a, &name);
        if let Some(rates) = &r.rates {
            let k = r.independent.len();
            let written = case.values_in(&r.graph, rates, &known);
            let solved: Vec<f64> = known[k..].iter().map(|x| x.1).collect();
            all_close(&written, &solved, &name);
        }
        let m = r.multipliers();
        all_close(&case.values_in(&r.graph, &m.accelerations, &known), &s.a, &name);
        let reaction = case.values_in(&r.graph, &m.reaction, &known);
        let rows = case.rows(&case.equations.jacobian);
        for k in 0..case.n() {
            let pulled: f64 = (0..case.m()).map(|a| rows[a][k] * s.lambda[a]).sum();
            close(reaction[k], pulled, &name);
        }
        if let Some(λ) = &m.multipliers {
            all_close(&case.values_in(&r.graph, λ, &known), &s.lambda, &name);
            swept += 1;
        }
        close(
            case.values_in(&r.graph, &[m.energy], &known)[0],
            case.value(case.equations.energy),
            &name,
        );
        let power = case.values_in(&r.graph, &r.power, &known);
        let k = r.independent.len();
        let rates: Vec<f64> = known[k..].iter().map(|x| x.1).collect();
        let rate = case.rate(&|s| case.at(s, case.equations.energy));
        close(power[0] + dot(&power[1..], &rates), rate, &name);
        assert!(r.operations() > 0 && r.products() <= r.operations());
    }
    assert!(swept > 10, "multipliers by the sweep for {swept} systems");
}

/// Multipliers follow from one sweep where rows are triangular, and need a dense solve elsewhere.
#[test]
fn the_sweep_is_taken_where_rows_are_triangular() {
    let swept = |name: &str| {
        let (_, text) = LINEAR.iter().find(|(n, _)| n.starts_with(name)).unwrap();
        let case = Case::new(text, Principle::Chetaev, 6);
        let r = reduced(&case);
        // The sweep is linear in the size of the rows.
        let m = r.multipliers();
        m.multipliers.map(|λ| r.graph.operations(&λ))
    };
    for name in ["sleigh", "contact", "affine", "disk", "snake", "a chart"] {
        let operations = swept(name).unwrap_or_else(|| panic!("{name}: no sweep"));
        assert!(operations < 1000, "{name}: {operations} operations");
    }
    // The second row is left with the free speed along the blade, and turns the pair of the first.
    let turned = "coordinates x, y, phi\nlagrangian (x'^2 + y'^2 + phi'^2)/2
        constraint side: y'*cos(phi) - x'*sin(phi) = 0
        constraint ahead: x'*cos(phi) + y'*sin(phi) = 2*phi'^0";
    let case = Case::new(turned, Principle::Chetaev, 6);
    assert!(reduced(&case).multipliers().multipliers.is_none());
    assert!(reduced(&case).charts.is_empty(), "the speed has a constant coefficient");
    // The coefficient of the speed varies, and is watched.
    let r = reduced(&Case::new(TURNED.1, Principle::Chetaev, 6));
    assert_eq!((r.charts.len(), r.charts[0].row, r.charts[0].pivot), (1, Some(1), 0));
    let r = reduced(&Case::new(TURNED_TWICE.1, Principle::Chetaev, 6));
    assert!(r.charts.is_empty(), "constant coefficients");
}

#[test]
fn redundant_and_contradictory_rows_are_seen() {
    let base = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n";
    let text = format!("{base}constraint a: z' = y*x'\nconstraint b: 2*z' = 2*y*x'");
    let m = model(&text).workspace();
    let point = ChartPoint { t: 0.0, q: &[0.1, 0.2, 0.3], scale: &[] };
    let r = reduce(&m, &[Class::Linear; 2], point).unwrap();
    assert_eq!((r.redundant.clone(), r.independent.len()), (vec![1], 2));
    assert!(r.multipliers().multipliers.is_none());
    let text = format!("{base}constraint a: z' = y*x'\nconstraint b: z' = y*x' + 1");
    let m = model(&text).workspace();
    assert!(reduce(&m, &[Class::Linear, Class::Affine], point).is_none());
    let along = model(NONLINEAR[3].1).workspace();
    assert!(
        reduce(&along, &[Class::Linear], point).is_none(),
        "reactions along something else"
    );
    let ring = model(&format!("{base}constraint a: x^2 + y^2 = 1")).workspace();
    assert!(reduce(&ring, &[Class::Holonomic], point).is_none());
}

fn ball(spin: &str) -> String {
    format!(
        "coordinates x, y, z, psi, theta, phi
        parameters m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036, J = 0.05
        let w1 = theta'*cos(psi) + phi'*sin(theta)*sin(psi)
        let w2 = theta'*sin(psi) - phi'*sin(theta)*cos(psi)
        let w = [w1, w2, psi' + phi'*cos(theta)]
        let s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
        lagrangian m*(x'^2 + y'^2 + z'^2)/2 + {spin} - m*g*z
        constraint roll: [x', y', z'] = R*cross(w, [-k1*x*s, -k2*y*s, s])"
    )
}

/// Angular velocities of the model are quasi-velocities where that is shorter. A homogeneous ball leaves 91
/// operations; the solve of another one takes some 50 more.
#[test]
fn forms_of_the_model_shorten_the_equations() {
    let operations = |spin: &str| {
        let case = Case::new(&ball(spin), Principle::Chetaev, 6).in_motion();
        let r = reduced(&case);
        let known = quasi(&case, &r);
        all_close(&case.values_in(&r.graph, &r.accelerations(), &known), &case.state.a, spin);
        r.operations()
    };
    let even = operations("I*(psi'^2 + theta'^2 + phi'^2 + 2*psi'*phi'*cos(theta))/2");
    let body = operations("I*(w[1]^2 + w[2]^2)/2 + J*w[3]^2/2");
    assert!(even <= 95 && body > even + 40, "{even} {body}");
}

/// The equations of the sleigh are short only once they are written as polynomials of the quasi-velocities;
/// those of a chain grow with its length.
#[test]
fn reduced_equations_are_short() {
    let sleigh = "coordinates x, y, phi
        parameters m = 1, J = 0.5, a = 0.2
        let X = x + a*cos(phi)
        let Y = y + a*sin(phi)
        lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2
        constraint blade: y'*cos(phi) - x'*sin(phi) = 0";
    let case = Case::new(sleigh, Principle::Chetaev, 6);
    assert!(reduced(&case).operations() <= 16, "{}", reduced(&case).operations());
    let chain = |n: usize| {
        let text = format!(
            "coordinates x, y, th[0..{n}]
            let X[0] = x
            let Y[0] = y
            let X[i = 1..{n}] = X[i-1] - cos(th[i])
            let Y[i = 1..{n}] = Y[i-1] - sin(th[i])
            kinetic sum(i = 0..{n}, (X[i]'^2 + Y[i]'^2 + th[i]'^2)/2)
            constraint edge[i = 0..{n}]: Y[i]'*cos(th[i]) - X[i]'*sin(th[i]) = 0"
        );
        let m = model(&text).workspace();
        let q: Vec<f64> = (0..n + 3).map(|i| 0.1 * i as f64).collect();
        let point = ChartPoint { t: 0.0, q: &q, scale: &[] };
        reduce(&m, &vec![Class::Linear; n + 1], point).expect("a chain").operations()
    };
    let counts = [2, 4, 8].map(chain);
    let steps: Vec<usize> = counts.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(steps[1] <= 5 * steps[0] / 2, "{counts:?}");
}

/// (U), (K) by elimination, and (K) by its factors: accelerations and multipliers of the motion.
#[test]
fn eliminations_give_the_motion() {
    for (name, text) in texts() {
        let case = Case::new(&text, Principle::Chetaev, 8).in_motion();
        let (s, e, g) = (&case.state, &case.equations, &case.model.graph);
        let quasi = quasi_velocities(&case.model, e).expect("linear or affine");
        let (basis, offset) = (case.rows(&quasi.basis), case.values(&quasi.offset));
        let rows = case.rows(&e.jacobian);
        for row in &rows {
            for c in 0..quasi.symbols.len() {
                let column: Vec<f64> = basis.iter().map(|b| b[c]).collect();
                close(dot(row, &column), 0.0, &name);
            }
            // A (Bu + b) + a = 0 with A q̇ + a = 0
            close(dot(row, &offset), dot(row, &s.v), &name);
        }
        let u = case.values(&quasi.definitions);
        (0..case.n()).for_each(|i| close(dot(&basis[i], &u) + offset[i], s.v[i], &name));
        let r = reduced_equations(&case.model, e).expect("no `along`");
        let known = pairs(&r.quasi.symbols, &u);
        let at = |es: &[Expr]| case.values_in(g, es, &known);
        all_close(&at(&r.velocities), &s.v, &name);
        let rates = solve(r.mass.iter().map(|row| at(row)).collect(), at(&r.force));
        let rate = |i: usize| {
            crate::support::slope(|h| {
                let moved = s.moved(h);
                // B u + b at the moved place with the moved u
                let there: Vec<f64> = u.iter().zip(&rates).map(|(u, d)| u + h * d).collect();
                let row: Vec<f64> =
                    quasi.basis[i].iter().map(|&e| case.at(&moved, e)).collect();
                dot(&row, &there) + case.at(&moved, quasi.offset[i])
            })
        };
        (0..case.n()).for_each(|i| close(rate(i), s.a[i], &name));
        if case.n() + case.m() <= 8 {
            let x = explicit(&case.model, e).expect("regular");
            all_close(&case.values(&x.accelerations), &s.a, &name);
            all_close(&case.values(&x.multipliers), &s.lambda, &name);
        }
        let x = solve_saddle(g, e, 10_000).expect("regular");
        all_close(&case.values(&x.accelerations), &s.a, &name);
        all_close(&case.values(&x.multipliers), &s.lambda, &name);
        assert_eq!(x.pivots.len(), case.n() + case.m());
        let negative = case.values(&x.pivots).iter().filter(|p| **p < 0.0).count();
        assert_eq!(negative, case.m(), "{name}: pivots of constraints are negative");
        assert!(solve_saddle(g, e, 1).is_none(), "a budget");
    }
}

/// Quasi-velocities take names that the model leaves free.
#[test]
fn quasi_velocities_have_names_of_their_own() {
    let names = |[a, b]: [&str; 2], more: &str| {
        let text = format!("coordinates {a}, {b}\nlagrangian ({a}'^2 + {b}'^2)/2\n{more}");
        let case = Case::new(&text, Principle::Chetaev, 1);
        let symbols = quasi_velocities(&case.model, &case.equations).unwrap().symbols;
        symbols.iter().map(|&s| case.model.graph.to_text(s)).collect::<Vec<_>>()
    };
    assert_eq!(names(["x", "y"], ""), ["u1", "u2"]);
    let case = Case::new("coordinates x\nlagrangian x'^2/2", Principle::Chetaev, 1);
    let quasi = quasi_velocities(&case.model, &case.equations).unwrap();
    assert_eq!(case.model.graph.to_text(quasi.rates[0]), "u1'");
    assert_eq!(names(["x", "u2"], ""), ["w1", "w2"]);
    assert_eq!(names(["x", "u2"], "parameters w1 = 2"), ["nu1", "nu2"]);
    assert_eq!(names(["x", "y"], "let u1 = x*y"), ["w1", "w2"]);
    assert_eq!(names(["x", "u3"], ""), ["u1", "u2"]);
    assert_eq!(names(["x", "u0"], ""), ["u1", "u2"]);
}

/// Nonlinear and holonomic constraints, vakonomic multipliers and reactions along given directions.
#[test]
fn elimination_covers_every_class() {
    for (name, text) in NONLINEAR {
        for principle in [Principle::Chetaev, Principle::Vakonomic] {
            let case = Case::new(text, principle, 12).in_motion();
            let e = &case.equations;
            let x = explicit(&case.model, e).expect("regular");
            all_close(&case.values(&x.accelerations), &case.state.a, name);
            all_close(&case.values(&x.multipliers), &case.state.lambda, name);
            let own = e.directions == e.jacobian;
            let saddle = solve_saddle(&case.model.graph, e, 10_000);
            assert_eq!(saddle.is_some(), own, "{name}");
            if let Some(x) = saddle {
                all_close(&case.values(&x.accelerations), &case.state.a, name);
            }
            assert_eq!(
                reduced_equations(&case.model, e).is_some(),
                own && name.starts_with("reaction")
            );
        }
    }
    let twice = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x
        constraint a: y' = x*x'\nconstraint b: 2*y' = 2*x*x'";
    let m = model(twice).workspace();
    let e = pfaff_mechanics::derive(&m, Principle::Chetaev).unwrap();
    let x = explicit(&m, &e).expect("the first row is enough");
    assert_eq!(x.multipliers[1], m.graph.zero());
}

/// $\dot q(q, p, t)$ is the inverse of $p = M\dot q + g_1$.
#[test]
fn velocities_follow_from_momenta() {
    for (name, text) in texts() {
        let case = Case::new(&text, Principle::Chetaev, 4);
        if case.n() > 4 {
            continue;
        }
        let g = &case.model.graph;
        let p: Vec<Expr> =
            (0..case.n()).map(|k| g.symbol(&format!("momentum {k}"), Role::Free)).collect();
        let (velocities, written) = canonical(&case.model, &case.equations, &p).unwrap();
        let known = pairs(&p, &case.values(&case.equations.momenta));
        all_close(&case.values_in(g, &velocities, &known), &case.state.v, &name);
        all_close(&case.values_in(g, &written, &known), &vec![0.0; case.m()], &name);
    }
}

/// Seventeen coordinates are more than is solved for symbolically.
#[test]
fn momenta_of_large_systems_are_not_inverted() {
    let names: Vec<String> = (1..=17).map(|k| format!("q{k}")).collect();
    let squares: Vec<String> = names.iter().map(|q| format!("{q}'^2")).collect();
    let text = format!("coordinates {}\nlagrangian {}", names.join(", "), squares.join(" + "));
    let case = Case::new(&text, Principle::Chetaev, 1);
    let g = &case.model.graph;
    let p: Vec<Expr> =
        (0..17).map(|k| g.symbol(&format!("momentum {k}"), Role::Free)).collect();
    assert!(canonical(&case.model, &case.equations, &p).is_none());
    assert!(lagrange_space(&case.model, &case.equations).spray.is_none());
    assert!(explicit(&case.model, &case.equations).is_none());
    // Sixteen unknowns are not too many, multipliers counted.
    for (coordinates, more) in [(16, ""), (15, "\nconstraint c: q1' = q2*q3'")] {
        let (q, v) = (&names[..coordinates], &squares[..coordinates]);
        let text = format!("coordinates {}\nlagrangian {}{more}", q.join(", "), v.join(" + "));
        let case = Case::new(&text, Principle::Chetaev, 1).in_motion();
        let x = explicit(&case.model, &case.equations).expect("sixteen unknowns");
        all_close(&case.values(&x.accelerations), &case.state.a, &text);
        let g = &case.model.graph;
        let p: Vec<Expr> =
            (0..coordinates).map(|k| g.symbol(&format!("momentum {k}"), Role::Free)).collect();
        assert!(canonical(&case.model, &case.equations, &p).is_some());
        assert!(lagrange_space(&case.model, &case.equations).spray.is_some());
    }
    let crowded = format!("{text}\nconstraint c: q1' = q2*q3'").replace(", q17", "");
    let crowded = crowded.replace(" + q17'^2", "");
    let case = Case::new(&crowded, Principle::Chetaev, 1);
    assert!(explicit(&case.model, &case.equations).is_none(), "seventeen unknowns");
}

/// Where the model's own forms are the unknowns: their names, the chart that watches them, and when they are not taken.
#[test]
fn forms_of_the_model_are_watched() {
    let reduction = |text: &str, q: &[f64]| {
        let m = model(text).workspace();
        let classes = vec![Class::Linear; m.constraints.len()];
        reduce(&m, &classes, ChartPoint { t: 0.0, q, scale: &[] }).unwrap()
    };
    let texts = |r: &Reduction, es: &[Expr]| -> Vec<String> {
        es.iter().map(|&e| r.graph.to_text(e)).collect()
    };
    let r = reduction(FRAME.1, &[0.3, 0.4]);
    assert_eq!(texts(&r, &r.independent), ["u1", "u2"]);
    assert_eq!(texts(&r, &r.independent_rates), ["u1'", "u2'"]);
    assert_ne!(r.forms, r.velocity_symbols, "the forms of the frame");
    assert!(r.charts.is_empty(), "they are orthogonal");
    // Two forms at an angle are watched, and not taken where they are nearly parallel: √(1 − 0.9²) < 0.7.
    let forms = "coordinates x, y\nlet a = x' + y*y'\nlet b = y' - 0.2*x*x'\n";
    let joined = |c: &str| {
        let text = format!("{forms}lagrangian (a^2 + b^2)/2 + {c}*a*b + a*x*y + b*x^2");
        reduction(&text, &[0.3, 0.4])
    };
    let r = joined("0.1");
    assert_ne!(r.forms, r.velocity_symbols);
    let [chart] = &r.charts[..] else { panic!("one chart") };
    assert_eq!((chart.row, chart.pivot, &chart.scale[..]), (None, 0, &[1.0, 1.0][..]));
    let values = r.graph.evaluate(&chart.candidates, &|_| 0.3);
    all_close(&values, &[0.99_f64.sqrt(), 1.0], "how far apart they are");
    let r = joined("0.9");
    assert_eq!((r.forms, r.charts.len()), (r.velocity_symbols, 0));
    // Forms that make the equations longer are not taken either.
    let text =
        format!("{forms}lagrangian (x'^2 + y'^2)/2 + a*x*y + b*x^2 + a*sin(x) + b*cos(y)");
    let r = reduction(&text, &[0.3, 0.4]);
    assert_eq!(r.forms, r.velocity_symbols);
    assert_eq!(texts(&r, &r.independent), ["u1", "u2"]);
    // The solve is written out for up to eight unknowns.
    for (count, written) in [(8, true), (9, false)] {
        let names: Vec<String> = (0..count).map(|k| format!("q{k}")).collect();
        let squares: Vec<String> = names.iter().map(|q| format!("{q}'^2/2")).collect();
        let text =
            format!("coordinates {}\nlagrangian {}", names.join(", "), squares.join(" + "));
        assert_eq!(reduction(&text, &vec![0.1; count]).rates.is_some(), written);
    }
    // A form that vanishes at the point is not taken, one beyond a thousandth is.
    let weak = "coordinates x\nlet a = x*x' + 1\nlagrangian a^2/2 + 3*a*x^2 + a*sin(x)";
    let taken = |x: f64| reduction(weak, &[x]).velocity_symbols != reduction(weak, &[x]).forms;
    assert_eq!([0.5, 0.001_1, 0.001, 0.0].map(taken), [true, true, false, false]);
}
