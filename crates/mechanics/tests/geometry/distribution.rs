//! Growth vectors, kept functions and abnormal directions of classical distributions.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Abnormal, AbnormalPlaces, Distribution, Equations, Flag, Principle, Tensor, abnormal,
    abnormal_places, derive, first_integrals, generates_everywhere, geometry, integrals, split,
};
use pfaff_model::Workspace;

use crate::support::{Case, State, close, dot, model};

fn distribution(text: &str) -> (Workspace, Distribution, Flag, Tensor) {
    let (m, _, d, flag, curvature) = distribution_and_equations(text);
    (m, d, flag, curvature)
}

fn distribution_and_equations(
    text: &str,
) -> (Workspace, Equations, Distribution, Flag, Tensor) {
    let m = model(text).workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    let s = split(&m, &e, None).unwrap();
    let d = Distribution::new(&m, &s);
    let flag = d.flag(&m.graph);
    let g = geometry(&m, &e, None).unwrap();
    (m, e, d, flag, g.bundle_curvature)
}

fn with(coordinates: &str, constraints: &str) -> String {
    let kinetic: Vec<String> = coordinates.split(", ").map(|c| format!("{c}'^2")).collect();
    format!("coordinates {coordinates}\nlagrangian ({})/2\n{constraints}", kinetic.join(" + "))
}

/// Growth vectors of the classical distributions.
#[test]
fn flags_grow_as_known() {
    let growth = |coordinates: &str, constraints: &str| {
        let (_, _, flag, _) = distribution(&with(coordinates, constraints));
        assert!(flag.complete);
        assert_eq!(flag.closure_rank(), *flag.growth().last().unwrap());
        assert_eq!(flag.fields().len(), flag.closure_rank());
        flag.growth()
    };
    assert_eq!(growth("x, y, z", "constraint c: z' = (x*y' - y*x')/2"), [2, 3]);
    assert_eq!(
        growth("x, y, z, w", "constraint a: y' = z*x'\nconstraint b: z' = w*x'"),
        [2, 3, 4]
    );
    assert_eq!(growth("x, y, z", "constraint c: x*x' + y*y' + z' = 0"), [2]);
    // Two brackets in one direction.
    assert_eq!(
        growth("x, y, u, z, w", "constraint a: z' = y*x' + u*x'\nconstraint b: w' = 0"),
        [3, 4]
    );
    assert_eq!(growth("x, y, z", "constraint a: z' = y*x'\nconstraint b: y' = 0"), [1]);
    assert_eq!(
        growth(
            "x, w, z, y, u",
            "constraint a: z' = w*x'\nconstraint b: y' = w^2*x'\nconstraint c: u' = x*w*x'"
        ),
        [2, 3, 5]
    );
    // With drift the distribution lives over (q, t), the drift first.
    let (m, d, flag, _) = distribution(&with("x, y", "constraint c: y' = x"));
    assert_eq!((d.dimension(), flag.growth()), (3, vec![2, 3]));
    assert_eq!(d.names, ["X[t]", "X[x]"]);
    assert_eq!(d.text(&flag.levels[1][0].word), "[X[t], X[x]]");
    let last = |i: usize| *d.generators[i].field.last().unwrap();
    assert_eq!(
        (last(0), last(1)),
        (m.graph.one(), m.graph.zero()),
        "only the drift moves time"
    );
    // Without drift time takes part where a coefficient contains it.
    let (m, d, flag, _) = distribution(&with("x, y, z", "constraint c: z' = t*x'"));
    assert_eq!((d.dimension(), flag.growth()), (4, vec![3, 4]));
    let values = m.graph.evaluate(&d.generators[0].field, &|_| 0.4);
    assert_eq!(values, [0.0, 0.0, 0.0, 1.0]);
    let (m, _, flag, _) = distribution(&with("x, y", "constraint c: y' = x"));
    // [∂_t + x ∂_y, ∂_x] = −∂_y
    let values = m.graph.evaluate(&flag.levels[1][0].field, &|_| 0.4);
    assert_eq!(values, [0.0, -1.0, 0.0]);
    let (m, d, _, _) = distribution(&with("x, y, z", "constraint c: z' = y*x'"));
    let x = |i: usize| d.generators[i].field.clone();
    let bracket = d.bracket(&m.graph, &x(0), &x(1));
    assert_eq!(m.graph.evaluate(&bracket, &|_| 0.4), [0.0, 0.0, -1.0]);
    assert_eq!(d.deepen(&m.graph, &d.generators).len(), 1);
    let (flat, e, _, _) = distribution(&with("x, y, z", "constraint c: x*x' + y*y' + z' = 0"));
    assert!(e.deepen(&flat.graph, &e.generators).is_empty(), "brackets that are zero");
    assert!(
        d.is_beyond_reason(&m.graph, 0, 401)
            && !d.is_beyond_reason(&m.graph, m.graph.len(), 400)
    );
    let g = &m.graph;
    // Nodes that nothing needs.
    for k in 0..200_000 {
        g.integer(k);
    }
    let size = g.len();
    assert!(
        !d.is_beyond_reason(g, size - 100_000, 0) && d.is_beyond_reason(g, size - 100_001, 0)
    );
}

/// Functions that the constraints keep: constant along the fields, with a gradient that is not zero.
#[test]
fn kept_functions_are_constant_on_leaves() {
    for (coordinates, constraints, count) in [
        ("x, y, z", "constraint c: x*x' + y*y' + z' = 0", 1),
        ("x, y, z", "constraint c: y*x' - x*y' = 0", 1),
        ("x, y, z", "constraint a: z' = y*x'\nconstraint b: y' = 0", 1),
        ("x, y, z", "constraint c: z' = y*x'", 0),
        ("x, y", "constraint c: cos(x)*x' + exp(y)*(1 + x^2)*y'/(1 + x^2) = 0", 1),
        // (z + x²)/(1 + x), with the inverse of a denominator for a factor; log(z) − sin(x), with that of z.
        ("x, z", "constraint c: z' = ((z + x^2)/(1 + x) - 2*x)*x'", 1),
        ("x, z", "constraint c: z' = z*cos(x)*x'", 1),
    ] {
        let (m, d, flag, _) = distribution(&with(coordinates, constraints));
        let g = &m.graph;
        let found = integrals(g, &d, &flag);
        assert_eq!(found.len(), count, "{constraints}");
        let at = |s: Expr| 0.3 + 0.07 * s.index() as f64;
        for h in found {
            let gradient = g.evaluate(&g.gradient(h, &d.variables), &at);
            assert!(gradient.iter().any(|x| x.abs() > 1e-3), "{}", g.to_text(h));
            for x in &d.generators {
                close(dot(&gradient, &g.evaluate(&x.field, &at)), 0.0, &g.to_text(h));
            }
        }
    }
}

/// Abnormal directions of the classical distributions.
#[test]
fn abnormal_directions_are_known() {
    let of = |coordinates: &str, constraints: &str| {
        let (m, e, d, flag, f) = distribution_and_equations(&with(coordinates, constraints));
        let found = abnormal(&m.graph, &d, &flag, &f, &e.jacobian);
        let numbers = |es: &[Expr]| m.graph.evaluate(es, &|s| 0.3 + 0.1 * s.index() as f64);
        match found {
            Abnormal::None(es) => ("none", vec![numbers(&es)]),
            Abnormal::Directions(all) => {
                ("directions", all.iter().map(|d| numbers(d)).collect())
            }
            Abnormal::Every => ("every", Vec::new()),
            Abnormal::Open => ("open", Vec::new()),
        }
    };
    let parallel = |found: &[f64], wanted: &[f64]| {
        let cosine = dot(found, wanted) / (dot(found, found) * dot(wanted, wanted)).sqrt();
        close(cosine.abs(), 1.0, "the direction");
    };
    let (kind, all) = of("x, y, z", "constraint c: z' = y*x'");
    assert_eq!(kind, "none");
    // ω ∧ dω of ω = dz − y dx is 1, and −F.
    close(all[0][0], -1.0, "the curvature does not vanish");
    // ω ∧ (dω)²/2 of ω = dz − x dy − 3u dv, with the sign of dω in it twice.
    let (kind, all) = of("x, y, u, v, z", "constraint c: z' = x*y' + 3*u*v'");
    assert_eq!(kind, "none");
    close(all[0][0], 3.0, "two pairs");
    let (kind, all) = of("x, y, u, z", "constraint c: z' = y*x' + u*x'");
    assert_eq!((kind, all.len()), ("directions", 1));
    parallel(&all[0], &[0.0, 1.0, -1.0]);
    let (kind, all) = of("x, w, z, y", "constraint a: y' = z*x'\nconstraint b: z' = w*x'");
    assert_eq!((kind, all.len()), ("directions", 1), "Engel's");
    // D² has no bracket in the direction of y, whichever row comes first.
    let (_, turned) = of("x, w, y, z", "constraint b: z' = w*x'\nconstraint a: y' = z*x'");
    parallel(&turned[0], &[1.0, 0.0]);
    // Base coordinates are w and z, which the coefficients contain: the direction is that of w.
    parallel(&all[0], &[1.0, 0.0]);
    assert_eq!(
        of(
            "x, w, z, y, u",
            "constraint a: z' = w*x'\nconstraint b: y' = w^2*x'\nconstraint c: u' = x*w*x'"
        )
        .0,
        "every"
    );
    let (kind, all) = of("x, y, u, a, b", "constraint c: a' = y*x'\nconstraint d: b' = u*x'");
    assert_eq!((kind, all.len()), ("directions", 2));
    // f^α = ½ε F^α: of F_xy and F_xu, the planes without x.
    all.iter().for_each(|d| close(d[0], 0.0, "in the span of the curvatures"));
    assert_eq!(
        of(
            "x, y, u, a, b, c",
            "constraint d: a' = y*x'\nconstraint e: b' = u*x'\nconstraint f: c' = y*u'"
        )
        .0,
        "every"
    );
    assert_eq!(
        of(
            "x, y, u, v, a, b",
            "constraint d: a' = y*x' + v*u'\nconstraint e: b' = u*x' + v*y'"
        )
        .0,
        "open"
    );
    // D² has corank one, and the brackets end there: p is carried along every curve.
    assert_eq!(of("x, y, z, w", "constraint a: z' = y*x'\nconstraint b: w' = 0").0, "every");
    assert_eq!(of("x, y, u, a, b", "constraint c: a' = y*x'\nconstraint d: b' = 0").0, "every");
    assert_eq!(
        of(
            "x, y, u, v, a, b, c, d",
            "constraint e: a' = y*x'\nconstraint f: b' = u*x'
             constraint h: c' = v*x'\nconstraint i: d' = u*y'"
        )
        .0,
        "every",
        "as many constraints as directions"
    );
    assert_eq!(of("x, y, z", "constraint c: z' = x'").0, "directions");
    assert_eq!(of("x, y", "").0, "none");
    assert_eq!(of("x, y, u", "").0, "none");
}

/// Places of abnormal extremals: the sheet of Martinet, and everywhere for Engel.
#[test]
fn abnormal_places_are_known() {
    let of = |coordinates: &str, constraints: &str| {
        let m = model(&with(coordinates, constraints)).workspace();
        let e = derive(&m, Principle::Vakonomic).unwrap();
        let found = abnormal_places(&m, &e);
        (found, m, e)
    };
    assert_eq!(of("x, y, z", "constraint c: z' = y*x'").0, None);
    let (found, m, _) = of("x, y, z", "constraint c: z' = y^2*x'");
    let Some(AbnormalPlaces::Where(e)) = found else { panic!("{found:?}") };
    let y = m.coordinates[1].position;
    let at = |value: f64| m.graph.evaluate(&[e], &|s| if s == y { value } else { 0.7 })[0];
    close(at(0.0), 0.0, "on the sheet");
    assert!(at(0.5).abs() > 0.1, "beside it");
    // Two forms with the same places, up to a sign: 2y once, and not a sum of squares.
    for second in ["w' = y^2*x'", "w' = -y^2*x'"] {
        let constraints = format!("constraint c: z' = y^2*x'\nconstraint d: {second}");
        let (found, m, _) = of("x, y, z, w", &constraints);
        let Some(AbnormalPlaces::Where(e)) = found else { panic!("{second}: {found:?}") };
        let y = m.coordinates[1].position;
        let at = |value: f64| m.graph.evaluate(&[e], &|s| if s == y { value } else { 0.7 })[0];
        close(at(0.5).abs(), 1.0, second);
    }
    let everywhere = Some(AbnormalPlaces::Everywhere);
    assert_eq!(
        of("x, w, z, y", "constraint a: y' = z*x'\nconstraint b: z' = w*x'").0,
        everywhere
    );
    assert_eq!(
        of("x, y, u, z", "constraint c: z' = y*x'").0,
        everywhere,
        "an odd number of fields"
    );
    assert_eq!(of("x, y, u, v, z", "constraint c: z' = y*x' + v*u'").0, None);
    let (found, m, _) = of("x, y, u, v, z", "constraint c: z' = y^2*x' + v*u'");
    let Some(AbnormalPlaces::Where(e)) = found else { panic!("{found:?}") };
    let y = m.coordinates[1].position;
    close(m.graph.evaluate(&[e], &|s| if s == y { 0.0 } else { 0.7 })[0], 0.0, "the Pfaffian");
    assert_eq!(of("x, y, z", "constraint c: x^2 + y^2 = 1").0, None);
    assert_eq!(of("x, y, z", "constraint c: x^2 + y^2 = 1 + t").0, None);
    let possible = Some(AbnormalPlaces::Possible);
    assert_eq!(of("x, y, z", "constraint c: z'^2 = x'^2 + y'^2").0, possible);
    assert_eq!(of("x, y, z", "constraint c: z' = t*x'").0, possible);
    let two = "constraint d: a' = y*x' + v*u'\nconstraint e: b' = u*x' + v*y'";
    assert_eq!(of("x, y, u, v, a, b", two).0, possible, "four fields, two brackets");
    let mixed = "constraint a: z' = y*x'\nconstraint b: w'^2 = 1 + x'^2";
    let (found, m, e) = of("x, y, z, w", mixed);
    assert_eq!((found, first_integrals(&m, &e)), (possible, Some(0)), "of the linear one");
    // Beside a first integral, the bracket of two fields in four dimensions.
    let (found, m, e) = of("x, y, z, w", "constraint a: z' = y^2*x'\nconstraint b: w' = 0");
    assert!(matches!(found, Some(AbnormalPlaces::Where(_))), "{found:?}");
    assert_eq!(first_integrals(&m, &e), Some(1));
    let (_, m, e) = of("x, y, z", "constraint c: z' = y*x'");
    assert_eq!(first_integrals(&m, &e), Some(0));
}

/// In three dimensions the places are the zeros of $\omega\wedge d\omega = \omega\cdot\operatorname{rot}\omega$,
/// here with every slope of $\omega$ by differences.
#[test]
fn abnormal_places_in_space_are_the_zeros_of_the_twist() {
    for constraint in [
        "(1 + x*y*z)*z' = (y^2 + z*x)*x' + (x^2*z - y)*y'",
        "(2 + x*z)*x' + (1 + y*x^2)*y' + (x*y*z)*z' = 0",
        "(x + z^2)*y' = (1 + y*z)*z' - x^2*y*x'",
    ] {
        let text = with("x, y, z", &format!("constraint c: {constraint}"));
        let case = Case::new(&text, Principle::Vakonomic, 41);
        let found = abnormal_places(&case.model, &case.equations);
        let Some(AbnormalPlaces::Where(e)) = found else { panic!("{constraint}: {found:?}") };
        let ω = |s: &State, i: usize| case.at(s, case.equations.jacobian[0][i]);
        let s = &case.state;
        let slope = |i: usize, j: usize| case.by_position(s, j, &|s| ω(s, i));
        let twist = ω(s, 0) * (slope(2, 1) - slope(1, 2))
            + ω(s, 1) * (slope(0, 2) - slope(2, 0))
            + ω(s, 2) * (slope(1, 0) - slope(0, 1));
        close(case.value(e), twist, constraint);
    }
}

/// Four fields $\partial_i + a_i\partial_z$ have $F_{ij} = \partial_ia_j - \partial_ja_i$, and the places are the zeros
/// of the Pfaffian $F_{12}F_{34} - F_{13}F_{24} + F_{14}F_{23}$.
#[test]
fn abnormal_places_of_four_fields_are_the_zeros_of_the_pfaffian() {
    let slopes = ["y*u + v^2", "x^2*v - u", "2*x*y + v*y", "u^2*x - y"];
    let text = with(
        "x, y, u, v, z",
        &format!(
            "constraint c: z' = ({})*x' + ({})*y' + ({})*u' + ({})*v'",
            slopes[0], slopes[1], slopes[2], slopes[3]
        ),
    );
    let case = Case::new(&text, Principle::Vakonomic, 42);
    let found = abnormal_places(&case.model, &case.equations);
    let Some(AbnormalPlaces::Where(e)) = found else { panic!("{found:?}") };
    let a = |s: &State, i: usize| -case.at(s, case.equations.jacobian[0][i]);
    let s = &case.state;
    let f = |i: usize, j: usize| {
        case.by_position(s, i, &|s| a(s, j)) - case.by_position(s, j, &|s| a(s, i))
    };
    let pfaffian = f(0, 1) * f(2, 3) - f(0, 2) * f(1, 3) + f(0, 3) * f(1, 2);
    // The order of the fields is free, and with it the sign.
    close(case.value(e).abs(), pfaffian.abs(), "the Pfaffian");
}

/// Holonomic constraints beside others: only the latter matter.
#[test]
fn holonomic_constraints_leave_the_places_of_the_others() {
    let text = with("x, y, z, w", "constraint a: w = x\nconstraint b: z' = y^2*x'");
    let m = model(&text).workspace();
    let e = derive(&m, Principle::Vakonomic).unwrap();
    let Some(AbnormalPlaces::Where(e)) = abnormal_places(&m, &e) else { panic!("a sheet") };
    let y = m.coordinates[1].position;
    let at = |value: f64| m.graph.evaluate(&[e], &|s| if s == y { value } else { 0.7 })[0];
    close(at(0.0), 0.0, "on the sheet");
    assert!(at(0.5).abs() > 0.1, "beside it");
}

/// The sheet of $\dot z = y^2\dot x$ is $y = 0$, whichever velocity depends on the others: with $\dot x$ for it,
/// $F = -2/y^3$ has no zero.
#[test]
fn abnormal_places_do_not_depend_on_the_chart() {
    for order in ["x, y, z", "z, y, x", "y, z, x", "x, z, y"] {
        for dependent in ["x", "z"] {
            let m = model(&with(order, "constraint c: z' = y^2*x'")).workspace();
            let e = derive(&m, Principle::Chetaev).unwrap();
            let index = |name: &str| m.coordinates.iter().position(|c| c.name == name).unwrap();
            let wanted = [index(dependent)];
            let s = split(&m, &e, Some(&wanted)).unwrap();
            let d = Distribution::new(&m, &s);
            let f = geometry(&m, &e, Some(&wanted)).unwrap().bundle_curvature;
            let found = abnormal(&m.graph, &d, &d.flag(&m.graph), &f, &e.jacobian);
            let Abnormal::None(places) = found else { panic!("{order}: {found:?}") };
            let y = m.coordinates[index("y")].position;
            for value in [0.0, 0.5] {
                let at = |s: Expr| if s == y { value } else { 0.7 };
                close(m.graph.evaluate(&places, &at)[0].abs(), 2.0 * value, order);
            }
        }
    }
    // Two constraints that are combined with a function of position: the sheet is still y = 0, and not where the
    // first of them has no bracket, x = 0.
    let text = "constraint a: x*(z' - y^2*x') + (w' - z') = 0\nconstraint b: z' - y^2*x' = x*w' - x*z'";
    let m = model(&with("x, y, z, w", text)).workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    let Some(AbnormalPlaces::Where(place)) = abnormal_places(&m, &e) else { panic!("a sheet") };
    let at = |x: f64, y: f64| {
        let known = [(m.coordinates[0].position, x), (m.coordinates[1].position, y)];
        let value = |s: Expr| known.iter().find(|k| k.0 == s).map_or(0.7, |k| k.1);
        m.graph.evaluate(&[place], &value)[0].abs()
    };
    assert!(at(0.0, 0.0) < 1e-12 && at(0.8, 0.0) < 1e-12, "on the sheet");
    assert!(at(0.0, 0.5) > 0.1 && at(0.8, 0.5) > 0.1, "beside it");
}

/// Constraints made of $dh_1$ and $dh_2$ keep both functions, whichever coordinate comes first. For $h_1 = x + yz$ and
/// $h_2 = x - y$, the forms of one choice of columns alone have an integrating factor for one of them only.
#[test]
fn kept_functions_do_not_depend_on_the_first_column() {
    let text = "constraint a: x' + y'*z + y*z' = 0\nconstraint b: x' = y'";
    for order in ["x, y, z", "y, z, x", "z, x, y", "z, y, x"] {
        let (m, d, flag, _) = distribution(&with(order, text));
        let g = &m.graph;
        let found = integrals(g, &d, &flag);
        assert_eq!(found.len(), 2, "{order}");
        let slopes: Vec<Vec<Expr>> =
            found.iter().map(|&h| g.gradient(h, &d.variables)).collect();
        assert_eq!(g.rank(&slopes), 2, "{order}: independent");
        // Along the curve x = y + c, z = k/y − 1 − c/y.
        let value = |t: f64| {
            let (y, c, k) = (t, 0.4, 2.0);
            let [x, z] = [y + c, (k - y - c) / y];
            let at = |s: Expr| {
                let place = m.coordinates.iter().find(|q| q.position == s).unwrap();
                match place.name.as_str() {
                    "x" => x,
                    "y" => y,
                    _ => z,
                }
            };
            g.evaluate(&found, &at)
        };
        for (a, b) in value(0.6).into_iter().zip(value(1.7)) {
            close(a, b, order);
        }
    }
}

/// Full rank at every point is proved, and not claimed where it fails: $z = 0$ cannot be left with
/// $\dot z = yz\dot x$, and $\dot y = x^2$ never sinks.
#[test]
fn brackets_that_span_everywhere_are_told_from_those_that_almost_do() {
    for (coordinates, constraints, everywhere) in [
        ("x, y", "", true),
        ("x, y, z", "constraint c: z' = y*x'", true),
        ("x, y, z", "constraint c: z' = y^2*x'", true),
        ("x, y, z", "constraint c: z' = y*x' + 1", true),
        ("x, y, th", "constraint c: y'*cos(th) = x'*sin(th)", true),
        (
            "x, y, th, ph",
            "constraint a: x' = cos(ph)*th'\nconstraint b: y' = sin(ph)*th'",
            true,
        ),
        ("x, w, z, y", "constraint a: y' = z*x'\nconstraint b: z' = w*x'", true),
        ("x, y, z", "constraint c: z' = y*z*x'", false),
        ("x, y, z", "constraint c: z' = if(y > 0, y^2, 0)*x'", false),
        ("x, y, z", "constraint c: z' = x*x' + y*y'", false),
        ("x, y", "constraint c: y' = x^2", false),
        ("x, y, z", "constraint c: z'^2 = x'^2 + y'^2", false),
        ("x, y, z, w", "constraint a: z' = y*x'\nconstraint b: w'^2 = x'^2 + y'^2", false),
        // Two brackets in one direction: 2z − w stays.
        (
            "x, y, u, z, w",
            "constraint a: z' = x*(2*y' + 3*u')\nconstraint b: w' = x*(4*y' + 6*u')",
            false,
        ),
    ] {
        let m = model(&with(coordinates, constraints)).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        assert_eq!(generates_everywhere(&m, &e), everywhere, "{constraints}");
    }
}

/// At a fixed time the drift is left out; where time takes no part there is nothing to leave out.
#[test]
fn distributions_at_a_fixed_time_have_no_drift() {
    let text = with("x, y, z", "constraint c: z' = t*y*x' + y");
    let (m, d, flag, _) = distribution(&text);
    assert_eq!(d.names, ["X[t]", "X[x]", "X[y]"]);
    assert_eq!((d.dimension(), flag.growth()), (4, vec![3, 4]));
    let still = d.without_drift().expect("time takes part");
    assert_eq!(still.names, ["X[x]", "X[y]"]);
    assert_eq!(still.variables, m.positions());
    let g = &m.graph;
    let [t, y] = [m.time, m.coordinates[1].position];
    let fields: Vec<&Vec<Expr>> = still.generators.iter().map(|b| &b.field).collect();
    assert_eq!(*fields[0], [g.one(), g.zero(), g.mul(t, y)]);
    assert_eq!(*fields[1], [g.zero(), g.one(), g.zero()]);
    assert_eq!(still.generators[1].word, [1]);
    assert_eq!(still.flag(g).growth(), [2, 3]);
    assert!(still.without_drift().is_none());
}
