//! Force densities over affine bodies, as sums over weighted material points: F, N and the motion they make,
//! against closed forms.

use pfaff::{Motion, Run};

use crate::support;

fn observed(motion: &Motion, name: &str, i: usize) -> Vec<f64> {
    let own = |s: &&pfaff::Series| s.name == name || s.name.starts_with(&format!("{name}["));
    let found: Vec<f64> = motion.observed.iter().filter(own).map(|s| s.values[i]).collect();
    assert!(!found.is_empty(), "`{name}` is observed");
    found
}

/// A body in n dimensions with its points [w, a], its inertia, and the field 𝓕 = `field`, which may use `x`
/// and `a` of the point.
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
    let request = Run { at: Some(vec![0.0, 0.25, 0.5]), ..Run::default() };
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

/// The statement in place of the sum: `force density` over each solid, and over its points, has the F and N
/// of the closed form.
#[test]
fn force_density_over_solids_and_points() {
    for (n, points, inertia) in bodies() {
        let list: Vec<String> = points.iter().map(|p| format!("[{}]", p.join(", "))).collect();
        let solid = inertia.trim_start_matches("inertia_").to_owned();
        let (b, c, e) = if n == 2 {
            ("[[0.2, -0.5], [0.3, 0.1]]", "[0.4, -0.3]", "[0.6, 0.8]")
        } else {
            (
                "[[0.2, -0.5, 0], [0.3, 0.1, 0.4], [-0.2, 0, 0.3]]",
                "[0.4, -0.3, 0.2]",
                "[0.6, 0.8, -1]",
            )
        };
        let start = if n == 2 {
            "[[1.2, 0.3], [-0.1, 0.9]]"
        } else {
            "[[1.1, 0.2, -0.1], [0, 0.9, 0.3], [0.1, -0.2, 1.2]]"
        };
        let row = if n == 2 { "[[v[1], v[2]]]" } else { "[[v[1], v[2], v[3]]]" };
        for body in [solid, format!("points([{}])", list.join(", "))] {
            // 𝓕 = Bx + (c·a)e − k x′: F = M(Br − kr′), N = φJφᵀBᵀ + φJc eᵀ − kφJφ′ᵀ.
            let motion = run(&format!(
                "coordinates r[{n}], phi[{n},{n}]
parameters M = 3, k = 0.4, B = {b}, c = {c}, e = {e}\nparameters J = {inertia}
let x(a) = r + phi*a\nlet row(v) = {row}
kinetic M*dot(r', r')/2 + tr(transpose(phi')*phi'*J)/2
force density at x(a) for a in {body}: B*x(a) + dot(c, a)*e - k*x(a)'
initial phi = {start}, phi'[1,2] = 0.5, r'[1] = 1\nobserve F = applied(r)
observe N = dipole(phi, applied(phi))\nobserve F_right = M*(B*r - k*r')
observe N_right = phi*J*transpose(phi)*transpose(B) + phi*J*transpose(row(c))*row(e) - k*affine_spin(phi, J)
observe acc = phi*J*transpose(phi'')\nsolve t = 0..0.5, tolerance = 1e-12"
            ));
            for i in 0..3 {
                let see = |name: &str| observed(&motion, name, i);
                near(&see("F"), &see("F_right"), &body);
                near(&see("N"), &see("N_right"), &body);
                near(&see("acc"), &see("N_right"), &body);
            }
            let size = |name: &str| {
                observed(&motion, name, 2).iter().fold(0.0_f64, |m, x| m.max(x.abs()))
            };
            assert!(size("N") >= 1e-2 && size("F") >= 1e-2, "{body}: there are forces");
        }
    }
}

/// Nodes and weights of Gauss and Legendre on [−1, 1].
fn legendre(n: usize) -> Vec<(f64, f64)> {
    (1..=n)
        .map(|k| {
            let mut x = libm::cos(std::f64::consts::PI * (k as f64 - 0.25) / (n as f64 + 0.5));
            let mut slope = 1.0;
            for _ in 0..50 {
                let (mut p, mut before) = (1.0, 0.0);
                for j in 1..=n {
                    let j = j as f64;
                    (p, before) = (((2.0 * j - 1.0) * x * p - (j - 1.0) * before) / j, p);
                }
                slope = n as f64 * (x * p - before) / (x * x - 1.0);
                x -= p / slope;
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// Quadrature of total weight 1 over the cube [−½, ½]ⁿ or the unit ball, exact to degree 9.
fn quadrature(n: usize, is_box: bool) -> Vec<(f64, Vec<f64>)> {
    let nodes = legendre(8);
    let mut all = Vec::new();
    for &(x, u) in &nodes {
        for &(y, v) in &nodes {
            if is_box && n == 2 {
                all.push((u * v / 4.0, vec![x / 2.0, y / 2.0]));
                continue;
            }
            if is_box {
                for &(z, w) in &nodes {
                    all.push((u * v * w / 8.0, vec![x / 2.0, y / 2.0, z / 2.0]));
                }
                continue;
            }
            let radius = f64::midpoint(x, 1.0);
            for k in 0..16 {
                let angle = std::f64::consts::PI * f64::from(k) / 8.0;
                let (s, c) = libm::sincos(angle);
                if n == 2 && y == nodes[0].0 {
                    // ∫₀¹ 2r dr, and 1/16 for each angle.
                    all.push((u * radius / 16.0, vec![radius * c, radius * s]));
                } else if n == 3 {
                    // ∫₀¹ 3r² dr, ½∫ d cos θ, and 1/16 for each angle.
                    let across = radius * (1.0 - y * y).sqrt();
                    let weight = 1.5 * u * radius * radius * v / 2.0 / 16.0;
                    all.push((weight, vec![across * c, across * s, radius * y]));
                }
            }
        }
    }
    let total: f64 = all.iter().map(|(w, _)| w).sum();
    assert!((total - 1.0).abs() <= 1e-13, "the weights add up: {total}");
    all
}

/// Densities of degree four in a, whose moments of degree five and less the statement takes in closed form,
/// against quadrature.
#[test]
fn polynomial_densities_are_exact() {
    for (solid, lengths) in [
        ("box", vec![1.0, 2.0]),
        ("box", vec![1.0, 2.0, 1.5]),
        ("ellipsoid", vec![1.0, 0.7]),
        ("ellipsoid", vec![1.0, 0.7, 1.4]),
        ("ball", vec![1.3; 3]),
        ("disc", vec![1.3; 2]),
    ] {
        let n = lengths.len();
        let mut field =
            vec!["0.3 + 5*a[1]^2*a[2]^2 + 0.4*a[1]*a[2]^2", "3*a[1]^3 - 2*a[2]^4 + a[2]"];
        if n == 3 {
            field.push("a[1]*a[2]*a[3] + 4*a[3]^2*a[1]^2 + a[3]^3");
        }
        let density = |a: &[f64]| {
            let (x, y) = (a[0], a[1]);
            let mut f = vec![
                0.3 + 5.0 * x * x * y * y + 0.4 * x * y * y,
                3.0 * x * x * x - 2.0 * y * y * y * y + y,
            ];
            if n == 3 {
                let z = a[2];
                f.push(x * y * z + 4.0 * z * z * x * x + z * z * z);
            }
            f
        };
        let given = if matches!(solid, "ball" | "disc") { &lengths[..1] } else { &lengths[..] };
        let given: Vec<String> = given.iter().map(|l| format!("{l:?}")).collect();
        let motion = run(&format!(
            "coordinates r[{n}], phi[{n},{n}]\nkinetic (dot(r', r') + tr(transpose(phi')*phi'))/2
force density at r + phi*a for a in {solid}(2.5, {}): [{}]
initial phi = identity({n})\nobserve F = applied(r)\nobserve Q = applied(phi)\nsolve t = 0..0.5",
            given.join(", "), field.join(", ")
        ));
        let (mut force, mut moment) = (vec![0.0; n], vec![0.0; n * n]);
        for (weight, place) in quadrature(n, solid == "box") {
            let a: Vec<f64> = place.iter().zip(&lengths).map(|(x, l)| x * l).collect();
            let f = density(&a);
            for i in 0..n {
                force[i] += 2.5 * weight * f[i];
                for k in 0..n {
                    moment[i * n + k] += 2.5 * weight * f[i] * a[k];
                }
            }
        }
        near(&observed(&motion, "F", 0), &force, solid);
        near(&observed(&motion, "Q", 0), &moment, solid);
    }
}
