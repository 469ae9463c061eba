//! The words and functions of affine bodies: what they mean, what they refuse, where a body is stopped.

use pfaff::{Model, Motion, NoFiles, Overrides, Run, Source, StopReason};

use crate::support::matrix::{
    self, Matrix, chain, distance, half, inverse, plus, product, transposed,
};
use crate::support::{self, Random};

/// Numbers made by some dozen operations on entries of order 1.
const ROUNDING: f64 = 2e-13;

fn observed(motion: &Motion, name: &str, i: usize) -> Matrix {
    let own = |s: &&pfaff::Series| s.name == name || s.name.starts_with(&format!("{name}["));
    motion.observed.iter().filter(own).map(|s| s.values[i]).collect()
}

/// A body at a random state, with everything that can be observed of it.
fn random_body(
    n: usize,
    random: &mut Random,
) -> (Matrix, Matrix, Matrix, Matrix, Matrix, Motion) {
    let phi = plus(&matrix::random(n, random), 2.0, &matrix::identity(n));
    let v = matrix::random(n, random);
    let j = matrix::positive(n, 0.5, random);
    let g = matrix::positive(n, 0.5, random);
    let eta = matrix::positive(n, 0.5, random);
    let show = |a: &[f64]| matrix::text(n, a);
    let text = format!(
        "coordinates phi[{n},{n}]\nparameters J = {}, g = {}, eta = {}
let V = tr(green(phi, g)*inv(eta)*green(phi, g))/4
kinetic tr(transpose(phi')*g*phi'*J)/2\npotential V
initial phi = {}, phi' = {}
observe G = green(phi, g)\nobserve Om = gyration(phi)\nobserve Oh = comoving_gyration(phi)
observe K = affine_spin(phi, J)\nobserve S = spin(phi, J)
observe N = dipole(phi, V, g)\nobserve Nh = comoving_dipole(phi, V, g)
observe D = dipole(phi, phi')
observe U = rotation_part(phi)\nobserve A = stretch(phi)\nobserve Ad = stretch_rate(phi)
observe W = polar_spin(phi)\nobserve s = singular_values(phi)
observe Ug = rotation_part(phi, g, eta)\nobserve Ag = stretch(phi, g, eta)
observe Wg = polar_spin(phi, g, eta)\nobserve Ar = stretch_rate(phi, g, eta)
observe acc = phi''
solve t = 0..0.001",
        show(&j),
        show(&g),
        show(&eta),
        show(&phi),
        show(&v)
    );
    let model = support::model(&text);
    let request = Run { at: Some(vec![0.0]), ..Run::default() };
    (phi, v, j, g, eta, support::run(&model, &request))
}

#[test]
fn functions_are_the_matrices_that_their_names_say() {
    let mut random = Random::new(6);
    for case in 0..12 {
        let n = 2 + case % 2;
        let (phi, v, j, g, _, motion) = random_body(n, &mut random);
        let (i, t) = (inverse(n, &phi), |a: &[f64]| transposed(n, a));
        let see = |name: &str| observed(&motion, name, 0);
        let agree = |name: &str, b: &[f64]| {
            let size = b.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!(
                distance(&see(name), b) <= ROUNDING * size * 10.0,
                "{name} {case}: {:?} for {b:?}",
                see(name)
            );
        };
        agree("G", &chain(n, &[&t(&phi), &g, &phi]));
        agree("Om", &product(n, &v, &i));
        agree("Oh", &product(n, &i, &v));
        let k = chain(n, &[&phi, &j, &t(&v)]);
        agree("K", &k);
        agree("S", &plus(&k, -1.0, &t(&k)));
        agree("D", &product(n, &phi, &t(&v)));
        // φ J φ̈ᵀ = N, the balance that N is made for.
        agree("N", &chain(n, &[&phi, &j, &t(&see("acc"))]));
        agree("Nh", &chain(n, &[&i, &see("N"), &t(&i)]));
    }
}

#[test]
fn polar_parts_are_those_of_newtons_iteration() {
    let mut random = Random::new(7);
    for case in 0..12 {
        let n = 2 + case % 2;
        let (phi, v, _, g, eta, motion) = random_body(n, &mut random);
        let see = |name: &str| observed(&motion, name, 0);
        let (u, a) = matrix::polar(n, &phi);
        let near = |name: &str, b: &[f64]| {
            let off = distance(&see(name), b);
            assert!(off <= 1e-11, "{name} {case}: off by {off:e}");
        };
        near("U", &u);
        near("A", &a);
        let w = see("W");
        assert!(distance(&w, &half(n, &w, -1.0)) <= 1e-15, "ω̂ is skew");
        // φ̇ = U(ω̂A + Ȧ) with Ȧ symmetric determines both.
        let ad = see("Ad");
        near("Ad", &half(n, &ad, 1.0));
        let back = product(n, &u, &plus(&product(n, &w, &a), 1.0, &ad));
        assert!(distance(&back, &v) <= 1e-11, "φ̇ comes back");
        let s = see("s");
        assert!(s.windows(2).all(|p| p[0] >= p[1]), "largest first");
        let squares: f64 = s.iter().map(|x| x * x).sum();
        let frobenius: f64 = phi.iter().map(|x| x * x).sum();
        assert!((squares - frobenius).abs() <= 1e-12 * frobenius, "Σs² = |φ|²");
        // With metrics: UᵀgU = η, φ = UA, ηA symmetric, and U̇ = Uω̂, Ȧ by φ̇ = U(ω̂A + Ȧ).
        let (u, a) = (see("Ug"), see("Ag"));
        assert!(distance(&chain(n, &[&transposed(n, &u), &g, &u]), &eta) <= 1e-11, "isometry");
        assert!(distance(&product(n, &u, &a), &phi) <= 1e-11, "φ = UA");
        let sym = |x: &[f64]| product(n, &eta, x);
        assert!(distance(&sym(&a), &transposed(n, &sym(&a))) <= 1e-11, "η-symmetric");
        assert!(
            distance(&sym(&see("Wg")), &half(n, &sym(&see("Wg")), -1.0)) <= 1e-11,
            "η-skew"
        );
        let back = product(n, &u, &plus(&product(n, &see("Wg"), &a), 1.0, &see("Ar")));
        assert!(distance(&back, &v) <= 1e-10, "φ̇ comes back with metrics");
    }
}

/// Equal singular values are where closed forms of eigenvalues usually lose half of their digits.
#[test]
fn polar_parts_keep_their_digits_where_singular_values_are_equal() {
    for (stretch, turned) in [
        ("[[2,0,0],[0,1,0],[0,0,1]]", "identity(3)"),
        ("[[2,0,0],[0,2,0],[0,0,0.5]]", "R"),
        ("identity(3)", "R"),
    ] {
        let text = format!(
            "coordinates phi[3,3]\nparameters a = 0.7\nlet R = rotation([1, 2, 3], a)\nlet B = R*{stretch}*transpose(R)
kinetic tr(transpose(phi')*phi')/2\ninitial phi = {turned}*B
observe s = singular_values(phi)\nobserve dA = stretch(phi) - B\nobserve dU = rotation_part(phi) - {turned}\nsolve t = 0..1"
        );
        let motion = support::run(
            &support::model(&text),
            &Run { at: Some(vec![0.0]), ..Run::default() },
        );
        let s = observed(&motion, "s", 0);
        assert!(
            s.iter().all(|x| [0.5, 1.0, 2.0].iter().any(|y| (x - y).abs() <= 4e-15)),
            "{s:?}"
        );
        for name in ["dA", "dU"] {
            let off = observed(&motion, name, 0);
            assert!(off.iter().all(|x| x.abs() <= 1e-14), "{stretch} {turned} {name}: {off:?}");
        }
    }
}

#[test]
fn inertia_of_points_and_solids() {
    let value = |e: &str| {
        let text = format!(
            "coordinates phi[3,3]\nparameters P = [[1,1,0,0],[2,0,3,0],[1,0,0,1]]\nkinetic tr(transpose(phi')*phi')/2\ninitial phi = identity(3)\nobserve x = {e}\nsolve t = 0..1"
        );
        let motion = support::run(
            &support::model(&text),
            &Run { at: Some(vec![0.0]), ..Run::default() },
        );
        observed(&motion, "x", 0)
    };
    assert_eq!(value("mass_of_points(P)"), [4.0]);
    assert_eq!(value("centre_of_points(P)"), [0.25, 1.5, 0.25]);
    // Σ m a aᵀ − M c cᵀ
    let j = [1.0 - 0.25, -1.5, -0.25, -1.5, 18.0 - 9.0, -1.5, -0.25, -1.5, 1.0 - 0.25];
    assert!(distance(&value("inertia_points(P)"), &j) <= 1e-15);
    assert_eq!(value("inertia_box(12, 1, 2)"), [1.0, 0.0, 0.0, 4.0]);
    assert_eq!(
        value("inertia_box(12, 1, 2, 3)"),
        [1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 9.0]
    );
    assert_eq!(value("inertia_ball(5, 2)"), [4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0]);
    assert_eq!(value("inertia_disc(4, 3)"), [9.0, 0.0, 0.0, 9.0]);
    assert_eq!(value("inertia_ellipsoid(4, 1, 2)"), [1.0, 0.0, 0.0, 4.0]);
    assert_eq!(
        value("inertia_ellipsoid(5, 1, 2, 3)"),
        [1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 9.0]
    );
    // A ball cut into points: the second moments of many agree with the formula to the width of the grid.
    let h = 2.0 / 41.0;
    let grid = (0..41_i32.pow(3))
        .map(|k| [k % 41, k / 41 % 41, k / 1681].map(|i| f64::from(i - 20) * h));
    let inside: Vec<[f64; 3]> =
        grid.filter(|a| a.iter().map(|x| x * x).sum::<f64>() <= 1.0).collect();
    let share = inside.iter().map(|a| a[0] * a[0]).sum::<f64>() / inside.len() as f64;
    assert!((share - 0.2).abs() < 2e-3, "{share}");
}

/// A force at a material point x = r + φa gives F on r and the moment N = φ(F aᵀ)ᵀ on φ.
#[test]
fn a_force_at_a_material_point_pushes_and_deforms() {
    let body = "coordinates r[2], phi[2,2]\nparameters M = 3, J = [[1, 0.2], [0.2, 2]], a = [0.3, -0.7], F = [0.4, 1.1]
kinetic M*dot(r', r')/2 + tr(transpose(phi')*phi'*J)/2
initial phi = [[1.2, 0.3], [-0.1, 0.9]], phi' = [[0.2, 0.1], [0.4, -0.3]]
observe x = r + phi*a\nobserve N = dipole(phi, F*transpose(a))\nobserve left = phi*J*transpose(phi'')
observe push = M*r''\nsolve t = 0..1, tolerance = 1e-12\n";
    let run = |force: &str| {
        support::run(
            &support::model(&format!("{body}{force}")),
            &Run { at: Some(vec![0.0, 1.0]), ..Run::default() },
        )
    };
    let point = run("force at r + phi*a: F");
    let split = run("force r: F\nforce phi: F*transpose(a)");
    for i in 0..2 {
        for k in 0..6 {
            let (a, b) = (point.q[k].values[i], split.q[k].values[i]);
            assert!((a - b).abs() <= 1e-12, "{a} {b}");
        }
        assert!(distance(&observed(&point, "N", i), &observed(&point, "left", i)) <= ROUNDING);
        assert!(distance(&observed(&point, "push", i), &[0.4, 1.1]) <= ROUNDING);
    }
}

/// The structure of the reaction moment N_R: symmetric for a rigid body, a multiple of g⁻¹ for an
/// incompressible one, symmetric without g-trace for a
/// conformal one, antisymmetric for one without rotation, whatever loads and metrics.
#[test]
fn reaction_moments_have_the_structure_of_their_constraint() {
    let mut random = Random::new(11);
    for case in 0..8 {
        let n = 2 + case % 2;
        let g =
            if case < 4 { matrix::identity(n) } else { matrix::positive(n, 0.6, &mut random) };
        let g_inverse = inverse(n, &g);
        let load = matrix::random(n, &mut random);
        let j = matrix::positive(n, 0.5, &mut random);
        let start = plus(&matrix::random(n, &mut random), 2.5, &matrix::identity(n));
        let gyration = matrix::random(n, &mut random);
        for word in [
            "gyroscopic(phi, g)",
            "isochoric(phi)",
            "conformal(phi, g, eta)",
            "rotation_free(phi, g)",
        ] {
            // η = φᵀgφ makes any start conformal.
            let eta = half(n, &chain(n, &[&transposed(n, &start), &g, &start]), 1.0);
            let show = |a: &[f64]| matrix::text(n, a);
            let text = format!(
                "coordinates phi[{n},{n}]\nparameters J = {}, g = {}, eta = {}, load = {}
kinetic tr(transpose(phi')*g*phi'*J)/2
potential tr(green(phi)*green(phi))/50 - tr(transpose(load)*phi)
constraint c: {word}\ninitial phi = {}, phi' = {}
observe N = reaction_moment(phi, g)\nsolve t = 0..0.3, tolerance = 1e-11",
                show(&j),
                show(&g),
                show(&eta),
                show(&load),
                show(&start),
                show(&product(n, &gyration, &start))
            );
            let motion = support::run(
                &support::model(&text),
                &Run { at: Some(vec![0.0, 0.3]), ..Run::default() },
            );
            for i in 0..2 {
                let reaction = observed(&motion, "N", i);
                let size = reaction.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(size > 1e-3, "{word} {case}: there is a reaction");
                let trace = matrix::trace(n, &product(n, &g, &reaction));
                let symmetric = distance(&reaction, &transposed(n, &reaction));
                let pressure: Matrix = g_inverse.iter().map(|x| x * trace / n as f64).collect();
                let off = match word.as_bytes()[0] {
                    b'g' => symmetric,
                    b'i' => distance(&reaction, &pressure),
                    b'c' => symmetric.max(trace.abs()),
                    _ => distance(&reaction, &half(n, &reaction, -1.0)),
                };
                assert!(off <= 1e-11 * (1.0 + size), "{word} {case}: off by {off:e} of {size}");
            }
        }
    }
}

fn refused(text: &str, code: &str, says: &str) {
    let told = match Model::read(Source::new("test", text), &Overrides::default(), &NoFiles) {
        Err(rejected) => rejected.diagnostics,
        Ok(reading) => match pfaff::run(&reading, &Run::default(), &mut |_, _| true) {
            Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics, .. })) => diagnostics,
            other => panic!("not refused: {text}\n{other:?}"),
        },
    };
    let fits = told.iter().any(|d| d.code == code && d.message.contains(says));
    assert!(fits, "{text}\n{told:?}");
}

#[test]
fn wrong_bodies_are_refused_by_name() {
    let body = |rest: &str| {
        format!(
            "coordinates phi[2,2]\nkinetic tr(transpose(phi')*phi')/2\nsolve t = 0..1\n{rest}"
        )
    };
    let start = "initial phi = identity(2)\n";
    let case = |rest: &str, code: &str, says: &str| refused(&body(rest), code, says);
    case(
        "constraint c: isochoric(phi)\ninitial phi = [[1, 0], [0, -1]]",
        "E0621",
        "starts inside out: det(phi) = -1",
    );
    case(
        "constraint c: isochoric(phi)\ninitial phi = [[1, 2], [2, 4]]",
        "E0621",
        "starts without volume",
    );
    case("constraint c: rotation_free(phi)", "E0621", "would start as the zero matrix");
    case("observe A = stretch(phi)\ninitial phi = [[0, 1], [1, 0]]", "E0621", "inside out");
    case(
        "constraint c: conformal(phi)\ninitial phi = [[1, 0.1], [0, 1]]",
        "E0623",
        "proportional to η",
    );
    case(
        &format!(
            "parameters h = [[1, 0], [0, 2]]\nconstraint c: conformal(phi, identity(2), h)\n{start}"
        ),
        "E0623",
        "proportional to η",
    );
    case(
        &format!(
            "parameters h = [[1, 0.1], [0.2, 2]]\nconstraint c: gyroscopic(phi, h)\n{start}"
        ),
        "E0409",
        "not symmetric: its entries (1,2) and (2,1)",
    );
    case(
        &format!("parameters h = [[1, 0.1], [0.2, 2]]\nobserve S = spin(phi, h)\n{start}"),
        "E0409",
        "the inertia is not symmetric",
    );
    case(
        &format!("observe S = spin(phi, identity(3))\n{start}"),
        "E0409",
        "the inertia must be a 2×2 matrix",
    );
    case(
        &format!("observe A = stretch(phi, [[1, 2], [2, 1]])\n{start}"),
        "E0409",
        "not positive definite",
    );
    case(&format!("observe A = stretch(phi[1,1])\n{start}"), "E0301", "takes a square matrix");
    case(
        &format!("observe A = stretch(phi, identity(2), identity(2), 1)\n{start}"),
        "E0302",
        "1 to 3 arguments",
    );
    case(
        &format!("observe N = dipole(phi, [1, 2])\n{start}"),
        "E0301",
        "a 2×2 matrix or a potential",
    );
    case(&format!("let N = reaction_moment(phi)\n{start}"), "E0411", "is a result");
    case(
        &format!("parameters J = inertia_box(-1, 1, 2)\n{start}"),
        "E0409",
        "the mass of `inertia_box` is not positive",
    );
    case(
        &format!("parameters J = inertia_box(1, 1, 0)\n{start}"),
        "E0409",
        "a length of `inertia_box` is not positive",
    );
    case(
        &format!("parameters J = inertia_points([[1, 2], [3, 4]])\n{start}"),
        "E0301",
        "a row [m, x, y]",
    );
    case(
        &format!("parameters J = inertia_points([[1, 2, 0], [0, 4, 1]])\n{start}"),
        "E0409",
        "the mass of point 2",
    );
    refused(
        "coordinates phi[4,4]\nkinetic tr(transpose(phi')*phi')/2\ninitial phi = identity(4)\nobserve A = stretch(phi)\nsolve t = 0..1",
        "E0308",
        "2×2 or 3×3",
    );
    refused(
        "coordinates phi[2,3]\nkinetic tr(transpose(phi')*phi')/2\nconstraint c: isochoric(phi)\nsolve t = 0..1",
        "E0409",
        "a square matrix",
    );
    for j in ["[[1, 2], [2, 1]]", "[[1, 0], [0, -1]]", "[[1, 0], [0, 0]]"] {
        let text = format!(
            "coordinates phi[2,2]\nparameters J = {j}\nkinetic tr(transpose(phi')*phi'*J)/2\nconstraint c: isochoric(phi)\ninitial phi = identity(2)\nsolve t = 0..1"
        );
        refused(&text, "E0622", "not positive definite");
    }
    refused(
        &body("event stop continue e: det(phi)"),
        "E0122",
        "`continue` cannot be combined with",
    );
}

#[test]
fn what_two_words_leave_together_is_said() {
    let remark = |a: &str, b: &str| {
        let text = format!(
            "coordinates phi[2,2]\nkinetic tr(transpose(phi')*phi')/2\nconstraint first: {a}(phi)\nconstraint second: {b}(phi)\ninitial phi = identity(2), phi'[1,2] = -0.5, phi'[2,1] = 0.5\nsolve t = 0..1"
        );
        let reading = Model::read(Source::new("test", &text), &Overrides::default(), &NoFiles)
            .expect("a model");
        let said =
            reading.remarks().iter().find(|d| d.code == "E0418").map(|d| d.message.clone());
        (said.unwrap_or_default(), reading)
    };
    let (said, model) = remark("isochoric", "conformal");
    assert!(
        said.contains("`first` and `second` together leave `phi` only rigid motions"),
        "{said}"
    );
    let motion = support::run(&model, &Run::default());
    let last = motion.t.len() - 1;
    // The unit rotation at rate ½ about the origin.
    let angle: f64 = 0.5;
    assert!((motion.q[0].values[last] - libm::cos(angle)).abs() <= 1e-9, "it is a rotation");
    assert!(remark("gyroscopic", "rotation_free").0.contains("no motion at all"));
    assert!(remark("rotation_free", "conformal").0.contains("only changes of size"));
    assert!(
        remark("rotation_free", "isochoric")
            .0
            .contains("without rotation that keep the volume")
    );
    assert!(remark("gyroscopic", "isochoric").0.contains("`gyroscopic` alone"));
}

#[test]
fn functions_of_ones_own_come_first() {
    let text = "coordinates phi[2,2]\nkinetic tr(transpose(phi')*phi')/2\nlet spin(A) = tr(A)
initial phi = [[1, 0], [0, -1]]\nobserve x = spin(phi)\nsolve t = 0..1";
    let motion = support::run(&support::model(text), &Run::default());
    assert!(
        observed(&motion, "x", 0)[0].abs() < ROUNDING,
        "and it makes no body of the matrix"
    );
}

/// φ̇ = −φ' made to pass det φ = 0 at t = 1 with φ = diag(1 − t, 1).
#[test]
fn a_body_that_loses_its_volume_stops_unless_told_to_go_on() {
    let body = |rest: &str| {
        support::model(&format!(
            "coordinates phi[2,2]\nkinetic tr(transpose(phi')*phi')/2\ninitial phi = identity(2), phi'[1,1] = -1\nobserve U = rotation_part(phi)\nsolve t = 0..2, samples = 3\n{rest}"
        ))
    };
    let motion = support::run(&body(""), &Run::default());
    assert_eq!(motion.stop.reason, StopReason::Event("collapse(phi)".into()));
    assert!((motion.stop.t - 1.0).abs() <= 1e-12, "{}", motion.stop.t);
    let notes: Vec<String> = pfaff_present::notes(&motion);
    assert!(
        notes.iter().any(|n| n.contains("has lost its volume") && n.contains("event continue")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|n| n.contains("nearly singular")), "{notes:?}");
    let motion = support::run(&body("event continue inversion: det(phi)"), &Run::default());
    assert_eq!(motion.stop.reason, StopReason::End);
    assert_eq!(motion.events.len(), 1, "the passage is located");
    assert!((motion.q[0].values[2] + 1.0).abs() <= 1e-12, "it went on");
    // Inside out, U is a reflection and A stays positive.
    let u = observed(&motion, "U", 2);
    assert!(distance(&u, &[-1.0, 0.0, 0.0, 1.0]) <= 1e-14, "{u:?}");
    // An event of one's own at another expression takes nothing away.
    let motion = support::run(
        &body("event continue other: phi[1,1] - 0.5\nevent seen: det(phi)"),
        &Run::default(),
    );
    assert_eq!(motion.stop.reason, StopReason::Event("collapse(phi)".into()));
}

/// A body that only its inertia, its determinant or a force density shows is checked at the start and stops,
/// and `event continue` lets it go on from anywhere.
#[test]
fn bodies_without_a_word_are_watched() {
    let inertia = "kinetic tr(transpose(phi')*phi'*J)/2\n";
    let head = "coordinates phi[2,2]\nparameters J = [[1, 0], [0, 2]]\nsolve t = 0..2\n";
    let start = |phi: &str| format!("initial phi = {phi}, phi' = [[-1, 0], [0, 0.5]]\n");
    let plain = "kinetic tr(transpose(phi')*phi')/2\n";
    let pushed = "force density at phi*a for a in disc(1, 1): 0.1*a\n";
    for body in [inertia.to_owned(), format!("{plain}{pushed}")] {
        let inside_out = format!("{head}{body}{}", start("[[-1, 0], [0, 1]]"));
        refused(&inside_out, "E0621", "inside out");
        refused(&format!("{head}{body}"), "E0621", "zero matrix");
        let request = Run { at: Some(vec![0.5]), ..Run::default() };
        let model = support::model(&format!("{head}{body}{}", start("identity(2)")));
        let motion = support::run(&model, &request);
        assert_eq!(motion.stop.reason, StopReason::Event("collapse(phi)".into()), "{body}");
        let go_on = "event continue inversion: det(phi)\n";
        let free = support::run(&support::model(&format!("{inside_out}{go_on}")), &request);
        assert_eq!(free.stop.reason, StopReason::End, "{body}");
    }
    let model = support::model(&format!("{head}{plain}{}", start("identity(2)")));
    let motion = support::run(&model, &Run::default());
    assert_eq!(motion.stop.reason, StopReason::End, "a matrix of coordinates without a sign");
}
