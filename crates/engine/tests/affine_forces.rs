//! Force densities over affine bodies, as sums over weighted material points: F, N and the motion they make, against closed forms.

mod support;

use pfaff::{Motion, Request};

fn observed(motion: &Motion, name: &str, i: usize) -> Vec<f64> {
    let own = |s: &&pfaff::Series| s.name == name || s.name.starts_with(&format!("{name}["));
    let found: Vec<f64> = motion.observed.iter().filter(own).map(|s| s.values[i]).collect();
    assert!(!found.is_empty(), "`{name}` is observed");
    found
}

/// A body in n dimensions with its points [w, a], its inertia, and the field 𝓕 = `field`, which may use `x` and `a` of the point.
fn text(n: usize, points: &[Vec<String>], inertia: &str, field: &str, rest: &str) -> String {
    let list: Vec<String> = points.iter().map(|p| format!("[{}]", p.join(", "))).collect();
    let (count, list) = (points.len(), list.join(", "));
    let entries = |f: &dyn Fn(usize) -> String| (1..=n).map(f).collect::<Vec<_>>().join(", ");
    let start = if n == 2 {
        "phi = [[1.2, 0.3], [-0.1, 0.9]], phi' = [[0, -0.5], [0.4, 0.1]]"
    } else {
        "phi = [[1.1, 0.2, -0.1], [0, 0.9, 0.3], [0.1, -0.2, 1.2]], phi' = [[0, 0.1, 0], [0.2, 0, 0.3], [0, -0.4, 0]]"
    };
    format!(
        "coordinates r[{n}], phi[{n},{n}]\nparameters M = 3, P = [{list}]\nparameters J = {inertia}
let a[i = 1..{count}] = [{}]\nlet x[i = 1..{count}] = r + phi*a[i]\nlet row(v) = [[{}]]
let f[i = 1..{count}] = P[i,1]*({field})\nlet F = sum(i = 1..{count}, f[i])
let Q = sum(i = 1..{count}, transpose(row(f[i]))*row(a[i]))
kinetic M*dot(r', r')/2 + tr(transpose(phi')*phi'*J)/2\ninitial {start}
observe F_sum = F\nobserve N_sum = dipole(phi, Q)\nobserve J_error = J - inertia_points(P)
solve t = 0..0.5, tolerance = 1e-12\n{rest}",
        entries(&|k| format!("P[i,{}]", k + 1)),
        entries(&|k| format!("v[{k}]")),
    )
}

/// The points of docs/affine.md with the inertia they stand for: a plate, a box, an ellipsoid, an elliptic disc.
fn bodies() -> Vec<(usize, Vec<Vec<String>>, &'static str)> {
    let corners = |edges: &[&str]| {
        let n = edges.len();
        (0..1_usize << n)
            .map(|k| {
                let place = |(i, l): (usize, &&str)| {
                    format!("{}{l}/sqrt(12)", if k >> i & 1 == 0 { "" } else { "-" })
                };
                let mut point = vec![format!("M/{}", 1_usize << n)];
                point.extend(edges.iter().enumerate().map(place));
                point
            })
            .collect::<Vec<_>>()
    };
    let axes = |half: &[&str], factor: &str| {
        let n = half.len();
        let mut points = Vec::new();
        for axis in 0..n {
            for sign in ["", "-"] {
                let mut point = vec![format!("M/{}", 2 * n)];
                point.extend((0..n).map(|k| {
                    if k == axis {
                        format!("{sign}{}*sqrt({factor})", half[k])
                    } else {
                        "0".to_owned()
                    }
                }));
                points.push(point);
            }
        }
        points
    };
    vec![
        (2, corners(&["1", "2"]), "inertia_box(M, 1, 2)"),
        (3, corners(&["1", "2", "1.5"]), "inertia_box(M, 1, 2, 1.5)"),
        (3, axes(&["1", "0.7", "1.4"], "3/5"), "inertia_ellipsoid(M, 1, 0.7, 1.4)"),
        (2, axes(&["1", "0.7"], "1/2"), "inertia_ellipsoid(M, 1, 0.7)"),
    ]
}

fn run(text: &str) -> Motion {
    let request = Request { at: Some(vec![0.0, 0.25, 0.5]), ..Request::default() };
    support::run(&support::model(text), &request)
}

fn near(found: &[f64], right: &[f64], what: &str) {
    assert_eq!(found.len(), right.len(), "{what}");
    for (x, y) in found.iter().zip(right) {
        // A dozen sums of numbers of size 30.
        assert!((x - y).abs() <= 1e-12, "{what}: {found:?} for {right:?}");
    }
}

/// 𝓕 = g: F = Mg and N = 0, so that φ″ = 0 and r falls.
#[test]
fn uniform_gravity_has_no_moment() {
    for (n, points, inertia) in bodies() {
        let g = if n == 2 { "[0, -9.81]" } else { "[0, 0, -9.81]" };
        let rest = "force r: F\nforce phi: Q\nobserve acc = phi''\n";
        let motion = run(&text(n, &points, inertia, g, rest));
        let mut weight = vec![0.0; n];
        weight[n - 1] = -29.43;
        for i in 0..3 {
            near(&observed(&motion, "F_sum", i), &weight, inertia);
            near(&observed(&motion, "N_sum", i), &vec![0.0; n * n], inertia);
            near(&observed(&motion, "acc", i), &vec![0.0; n * n], inertia);
            near(&observed(&motion, "J_error", i), &vec![0.0; n * n], inertia);
        }
        let fallen = motion.q[n - 1].values[2];
        assert!((fallen + 9.81 * 0.125).abs() <= 1e-11, "{inertia}: {fallen}");
    }
}

/// 𝓕 = Bx + (c·a)e: F = MBr and N = φJφᵀBᵀ + φJc eᵀ; and `force at` every point by itself makes the same motion.
#[test]
fn linear_densities_have_their_moment() {
    for (n, points, inertia) in bodies() {
        let (b, c, e) = if n == 2 {
            ("[[0.2, -0.5], [0.3, 0.1]]", "[0.4, -0.3]", "[0.6, 0.8]")
        } else {
            (
                "[[0.2, -0.5, 0], [0.3, 0.1, 0.4], [-0.2, 0, 0.3]]",
                "[0.4, -0.3, 0.2]",
                "[0.6, 0.8, -1]",
            )
        };
        let given = format!("parameters B = {b}, c = {c}, e = {e}\n");
        let right = "observe F_right = M*B*r
observe N_right = phi*J*transpose(phi)*transpose(B) + phi*J*transpose(row(c))*row(e)\n";
        let field = "B*x[i] + dot(c, a[i])*e";
        let summed = format!("{right}force r: F\nforce phi: Q\n");
        let each: Vec<String> =
            (1..=points.len()).map(|i| format!("force at x[{i}]: f[{i}]")).collect();
        let motion = run(&(given.clone() + &text(n, &points, inertia, field, &summed)));
        let other = run(&(given + &text(n, &points, inertia, field, &each.join("\n"))));
        for i in 0..3 {
            let see = |name: &str| observed(&motion, name, i);
            near(&see("F_sum"), &see("F_right"), inertia);
            near(&see("N_sum"), &see("N_right"), inertia);
            let q = |m: &Motion| m.q.iter().map(|s| s.values[i]).collect::<Vec<f64>>();
            near(&q(&motion), &q(&other), inertia);
        }
        let moment = observed(&motion, "N_sum", 2).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(moment >= 1e-2, "{inertia}: there is a moment");
    }
}
