//! The other forms of the equations of an affine body: each holds along the motions of the general core, and
//! each, integrated by itself, gives the same motion.

use pfaff::{Motion, Run};

use crate::support::matrix::{
    self, Matrix, chain, distance, half, inverse, plus, product, transposed,
};
use crate::support::{self, Random};

fn observed(motion: &Motion, name: &str, i: usize) -> Matrix {
    let own = |s: &&pfaff::Series| s.name == name || s.name.starts_with(&format!("{name}["));
    motion.observed.iter().filter(own).map(|s| s.values[i]).collect()
}

fn at(times: &[f64]) -> Run {
    Run { at: Some(times.to_vec()), tolerance: Some(1e-12), ..Run::default() }
}

/// A body with the potential κ/4·tr((G − 1)²) + β/2·(log det φ)² and a random start.
struct Body {
    n: usize,
    j: Matrix,
    phi: Matrix,
    velocity: Matrix,
}

impl Body {
    fn random(n: usize, random: &mut Random) -> Self {
        let j = matrix::positive(n, 0.7, random);
        let small = |x: &[f64], s: f64| x.iter().map(|x| s * x).collect::<Matrix>();
        let phi = plus(&matrix::identity(n), 0.2, &matrix::random(n, random));
        // Ω symmetric, so that every constraint of `rotation_free` holds at the start.
        let gyration = small(&half(n, &matrix::random(n, random), 1.0), 0.6);
        let velocity = product(n, &gyration, &phi);
        Self { n, j, phi, velocity }
    }

    fn text(&self, rest: &str) -> String {
        let n = self.n;
        let show = |a: &[f64]| matrix::text(n, a);
        format!(
            "coordinates phi[{n},{n}]\nparameters J = {}\nlet E = green(phi) - identity({n})
let V = 0.4*tr(E*E) + 0.5*log(det(phi))^2\nkinetic tr(transpose(phi')*phi'*J)/2\npotential V
initial phi = {}, phi' = {}\nobserve N = dipole(phi, V)\nobserve NR = reaction_moment(phi)\nobserve acc = phi''
observe A = stretch(phi)\nobserve U = rotation_part(phi)\nobserve S = spin(phi, J)
observe K = affine_spin(phi, J)\nobserve Kd = affine_spin(phi, J)'\nobserve Om = gyration(phi)
solve t = 0..1, tolerance = 1e-12\n{rest}",
            show(&self.j), show(&self.phi), show(&self.velocity)
        )
    }

    fn run(&self, rest: &str, times: &[f64]) -> Motion {
        support::run(&support::model(&self.text(rest)), &at(times))
    }
}

fn matrix_at(series: &[pfaff::Series], i: usize) -> Matrix {
    series.iter().map(|s| s.values[i]).collect()
}

const WORDS: [&str; 5] = ["", "gyroscopic", "isochoric", "conformal", "rotation_free"];

fn constraint(word: &str, eta: &str) -> String {
    match word {
        "" => String::new(),
        "conformal" => {
            format!("parameters eta = {eta}\nconstraint c: conformal(phi, identity(2), eta)\n")
        }
        _ => format!("constraint c: {word}(phi)\n"),
    }
}

/// (A2): K′ = ΩK + N + N_R = φ′Jφ′ᵀ + N + N_R, S′ = (N + N_R) − (N + N_R)ᵀ; and ∂T/∂g of T = ½tr(φ′ᵀgφ′J) at
/// g = 1 is ½φ′Jφ′ᵀ.
#[test]
fn balance_of_affine_spin() {
    let mut random = Random::new(21);
    for word in WORDS {
        let body = Body::random(2, &mut random);
        let n = body.n;
        let eta = half(n, &product(n, &transposed(n, &body.phi), &body.phi), 1.0);
        let motion = body.run(&constraint(word, &matrix::text(n, &eta)), &[0.0, 0.5, 1.0]);
        for i in 0..3 {
            let see = |name: &str| observed(&motion, name, i);
            let v = matrix_at(&motion.v, i);
            let moment = plus(&see("N"), 1.0, &see("NR"));
            let kinetic = chain(n, &[&v, &body.j, &transposed(n, &v)]);
            assert!(distance(&see("Kd"), &plus(&kinetic, 1.0, &moment)) <= 1e-12, "{word}");
            let turned = product(n, &see("Om"), &see("K"));
            assert!(distance(&see("Kd"), &plus(&turned, 1.0, &moment)) <= 1e-11, "{word}");
            // 2 ∂T/∂g_ab by a difference that is exact for a linear function.
            for k in 0..n * n {
                let energy = |s: f64| {
                    let mut g = matrix::identity(n);
                    g[k] += s;
                    matrix::trace(n, &chain(n, &[&transposed(n, &v), &g, &v, &body.j])) / 2.0
                };
                assert!(
                    ((energy(0.5) - energy(-0.5)) * 2.0 - kinetic[k]).abs() <= 1e-13,
                    "{word}"
                );
            }
        }
    }
}

/// The equations of slides 6–8 without reactions: with R = φJφ″ᵀ − N the named part of R vanishes.
#[test]
fn equations_without_reactions() {
    let mut random = Random::new(22);
    for word in &WORDS[1..] {
        let body = Body::random(2, &mut random);
        let n = body.n;
        let eta = half(n, &product(n, &transposed(n, &body.phi), &body.phi), 1.0);
        let motion = body.run(&constraint(word, &matrix::text(n, &eta)), &[0.0, 0.5, 1.0]);
        for i in 0..3 {
            let phi = matrix_at(&motion.q, i);
            let left = chain(n, &[&phi, &body.j, &transposed(n, &observed(&motion, "acc", i))]);
            let rest = plus(&left, -1.0, &observed(&motion, "N", i));
            let (skew, trace) = (half(n, &rest, -1.0), matrix::trace(n, &rest));
            let traceless = plus(&rest, -trace / n as f64, &matrix::identity(n));
            let size = |a: &[f64]| a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let (vanishes, stays) = match *word {
                "gyroscopic" => (size(&skew), size(&rest)),
                "isochoric" => (size(&traceless), trace.abs()),
                "conformal" => (size(&skew).max(trace.abs()), size(&rest)),
                _ => (size(&half(n, &rest, 1.0)), size(&skew)),
            };
            assert!(vanishes <= 1e-11, "{word}: {vanishes:e}");
            assert!(stays >= 1e-4, "{word}: there is a reaction ({stays:e})");
        }
    }
}

/// The parts of (A3), (A4) for symmetric A, A′, A″.
fn commutator(n: usize, a: &[f64], ad: &[f64]) -> Matrix {
    let i = inverse(n, a);
    plus(&product(n, &i, ad), -1.0, &product(n, ad, &i))
}

fn commutator_rate(n: usize, a: &[f64], ad: &[f64], add: &[f64]) -> Matrix {
    let i = inverse(n, a);
    let id = chain(n, &[&i, ad, &i]);
    let first = plus(&product(n, &i, add), -1.0, &product(n, &id, ad));
    let second = plus(&product(n, add, &i), -1.0, &product(n, ad, &id));
    plus(&first, -1.0, &second)
}

/// T_int and T_vak of slides 15–16 over random U, A, A′, J: the printed ½ before the first term is wrong, ⅛
/// is right; and ω̂ = ½[A⁻¹, A′] is what makes Ω symmetric.
#[test]
fn kinetic_energy_in_polar_variables() {
    let mut random = Random::new(23);
    for case in 0..40 {
        let n = 2 + case % 2;
        let (u, _) =
            matrix::polar(n, &plus(&matrix::random(n, &mut random), 2.0, &matrix::identity(n)));
        let a = matrix::positive(n, 0.4, &mut random);
        let ad = half(n, &matrix::random(n, &mut random), 1.0);
        let j = matrix::positive(n, 0.4, &mut random);
        let norm = |x: &[f64]| matrix::trace(n, &chain(n, &[&transposed(n, x), x, &j]));
        let half_spin: Matrix = commutator(n, &a, &ad).iter().map(|x| x / 2.0).collect();
        let velocity = product(n, &u, &plus(&product(n, &half_spin, &a), 1.0, &ad));
        let phi = product(n, &u, &a);
        let gyration = product(n, &velocity, &inverse(n, &phi));
        assert!(distance(&gyration, &transposed(n, &gyration)) <= 1e-11, "Ω is symmetric");
        let direct = norm(&velocity) / 2.0;
        let i = inverse(n, &a);
        let other = chain(n, &[&i, &ad, &a]);
        let cross = matrix::trace(n, &chain(n, &[&transposed(n, &ad), &other, &j]));
        let t = |first: f64| first * norm(&ad) + cross / 4.0 + norm(&other) / 8.0;
        assert!(
            (t(0.125) - direct).abs() <= 1e-11 * (1.0 + direct),
            "{} for {direct}",
            t(0.125)
        );
        assert!((t(0.5) - direct).abs() >= 1e-3, "the printed coefficient is wrong");
        // T_int for any ω̂: ½|A′|² + <A′, ω̂A> + ½|ω̂A|².
        let spin = half(n, &matrix::random(n, &mut random), -1.0);
        let turned = product(n, &spin, &a);
        let whole = norm(&plus(&turned, 1.0, &ad)) / 2.0;
        let mixed = matrix::trace(n, &chain(n, &[&transposed(n, &ad), &turned, &j]));
        assert!(
            (norm(&ad) / 2.0 + mixed + norm(&turned) / 2.0 - whole).abs()
                <= 1e-11 * (1.0 + whole)
        );
        // Slide 15: UᵀU = 1 and not φᵀφ = 1.
        assert!(distance(&product(n, &transposed(n, &u), &u), &matrix::identity(n)) <= 1e-13);
        assert!(
            distance(&product(n, &transposed(n, &phi), &phi), &matrix::identity(n)) >= 1e-2
        );
    }
}

/// (A4) against the motion of the core; the printed slide 18 has AJ·d/dt[…] in its third term and d/dt of the
/// square in its fourth.
#[test]
fn tensor_equation_of_slide_18() {
    let mut random = Random::new(24);
    for case in 0..8 {
        let body = Body::random(2 + case % 2, &mut random);
        let n = body.n;
        let motion = body.run("constraint c: rotation_free(phi)\nobserve Ad = stretch_rate(phi)\nobserve Add = stretch_rate(phi)'", &[0.2, 0.6]);
        for i in 0..2 {
            let see = |name: &str| observed(&motion, name, i);
            let (a, ad, add, u, j) = (see("A"), see("Ad"), see("Add"), see("U"), &body.j);
            let (c, cd) = (commutator(n, &a, &ad), commutator_rate(n, &a, &ad, &add));
            let aj = product(n, &a, j);
            let aja = product(n, &aj, &a);
            let start = plus(&product(n, &aj, &add), -0.5, &product(n, &aja, &cd));
            let right = plus(
                &plus(&start, -1.0, &chain(n, &[&aj, &ad, &c])),
                0.25,
                &chain(n, &[&aja, &c, &c]),
            );
            let moment = chain(n, &[&transposed(n, &u), &see("N"), &u]);
            let sym = |x: &[f64]| half(n, x, 1.0);
            assert!(
                distance(&sym(&right), &sym(&moment)) <= 1e-9,
                "{case}: {:e}",
                distance(&sym(&right), &sym(&moment))
            );
            let square_rate = plus(&product(n, &cd, &c), 1.0, &product(n, &c, &cd));
            // The square of the rate, or the rate of the square.
            for last in [&square_rate, &product(n, &cd, &cd)] {
                let third = plus(&start, -1.0, &product(n, &aj, &cd));
                let printed = plus(&third, 0.25, &product(n, &aja, last));
                let off = distance(&sym(&printed), &sym(&moment));
                assert!(off >= 1e-3, "{case}: the printed equation fails");
            }
        }
    }
}

/// (A4) integrated by itself as equations for A and U, and φ = UA put together again: the motion of the core.
#[test]
fn polar_equations_give_the_motion_back() {
    let mut random = Random::new(25);
    for n in [2, 3] {
        let body = Body::random(n, &mut random);
        let times = [0.3, 0.7, 1.0];
        let core = body.run(
            "constraint c: rotation_free(phi)\nobserve Ad = stretch_rate(phi)",
            &[0.0, 0.3, 0.7, 1.0],
        );
        let entries: Vec<(usize, usize)> =
            (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
        let k = entries.len();
        let place = |i: usize, j: usize| {
            1 + entries.iter().position(|&e| e == (i.min(j), i.max(j))).expect("an entry")
        };
        let rows: Vec<String> = (0..n)
            .map(|i| {
                format!(
                    "[{}]",
                    (0..n)
                        .map(|j| format!("a[{}]", place(i, j)))
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            })
            .collect();
        let start = |m: &[f64]| {
            entries
                .iter()
                .map(|&(i, j)| format!("({:?})", m[i * n + j]))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (a0, ad0, u0) =
            (observed(&core, "A", 0), observed(&core, "Ad", 0), observed(&core, "U", 0));
        let equations: Vec<String> = entries
            .iter()
            .map(|(i, j)| format!("equation left[{0},{1}] = right[{0},{1}]\n", i + 1, j + 1))
            .collect();
        // N = −φ(∂V/∂φ)ᵀ = −1.6·φ(G − 1)φᵀ − log det φ, so that N̄ = UᵀNU = −1.6·G(G − 1) − log det A with G = A².
        let text = format!(
            "coordinates a[{k}], U[{n},{n}]\nparameters J = {}\nlet A = [{}]\nlet C = inv(A)*A' - A'*inv(A)
let left = sym(A*J*A'' - A*J*A*C'/2 - A*J*A'*C + A*J*A*C*C/4)
let G = A*A\nlet right = -(1.6*G*(G - identity({n})) + log(det(A))*identity({n}))
{}equation U' = U*C/2\ninitial a = [{}], a' = [{}], U = {}\nobserve back = U*A\nsolve t = 0..1, tolerance = 1e-12",
            matrix::text(n, &body.j), rows.join(", "), equations.concat(), start(&a0), start(&ad0), matrix::text(n, &u0)
        );
        let polar = support::run(&support::model(&text), &at(&times));
        for i in 0..times.len() {
            let off = distance(&observed(&polar, "back", i), &matrix_at(&core.q, i + 1));
            assert!(off <= 1e-9, "{n} {i}: {off:e}");
        }
    }
}

/// (A5): the vakonomic body in the plane as a Lagrangian system for A with the constant Π; Π = 0 is one
/// multiplier of many.
#[test]
fn vakonomic_equations_for_the_stretch() {
    let mut random = Random::new(26);
    for case in 0..4 {
        let body = Body::random(2, &mut random);
        let det = body.phi[0] * body.phi[3] - body.phi[1] * body.phi[2];
        let k = chain(2, &[&body.phi, &body.j, &transposed(2, &body.velocity)]);
        let spin = k[1] - k[2];
        let momentum = if case % 2 == 0 { 0.0 } else { 0.7 };
        let mu = (momentum - spin) / (2.0 * det);
        let rest = format!(
            "constraint c: rotation_free(phi)\nprinciple vakonomic\ninitial mu(c) = {mu:?}\nobserve Ad = stretch_rate(phi)\nobserve P = spin(phi, J)[1,2] + 2*mu(c)*det(phi)"
        );
        let times = [0.0, 0.5, 1.0];
        let core = body.run(&rest, &times);
        for i in 0..3 {
            let kept = observed(&core, "P", i)[0];
            assert!(
                (kept - momentum).abs() <= 1e-10,
                "Lusternik momentum {kept} for {momentum}"
            );
        }
        let start = |m: &[f64]| format!("[({:?}), ({:?}), ({:?})]", m[0], m[1], m[3]);
        let view = |momentum: f64| {
            let text = format!(
                "coordinates a[3]\nparameters J = {}, P = {momentum:?}\nlet A = [[a[1], a[2]], [a[2], a[3]]]
let X = A' + inv(A)*A'*A\nlet C = inv(A)*A' - A'*inv(A)\nlet E = A*A - identity(2)
lagrangian tr(transpose(X)*X*J)/8 - 0.4*tr(E*E) - 0.5*log(det(A))^2 + P*C[1,2]/2
initial a = {}, a' = {}\nsolve t = 0..1, tolerance = 1e-12",
                matrix::text(2, &body.j), start(&observed(&core, "A", 0)), start(&observed(&core, "Ad", 0))
            );
            let motion = support::run(&support::model(&text), &at(&times));
            let found = matrix_at(&motion.q, 2);
            let core = observed(&core, "A", 2);
            distance(&found, &[core[0], core[1], core[3]])
        };
        assert!(view(momentum) <= 1e-9, "{case}: off by {:e}", view(momentum));
        assert!(view(momentum + 0.5) >= 1e-4, "{case}: the momentum matters");
    }
}

/// In space: with the multipliers that make the Lusternik momentum S − 2φMφᵀ vanish, M the skew matrix of −μ,
/// the stretch moves by T_vak − V alone.
#[test]
fn vakonomic_body_in_space_without_momentum() {
    let mut random = Random::new(27);
    let n = 3;
    let body = Body::random(n, &mut random);
    let k = chain(n, &[&body.phi, &body.j, &transposed(n, &body.velocity)]);
    let spin = plus(&k, -1.0, &transposed(n, &k));
    let back = inverse(n, &body.phi);
    let m = chain(n, &[&back, &spin, &transposed(n, &back)]);
    let times = [0.0, 0.5, 1.0];
    let run = |scale: f64| {
        let mu = |i: usize, j: usize| {
            format!("mu(c[{},{}]) = {:?}", i + 1, j + 1, -scale * m[i * n + j] / 2.0)
        };
        body.run(
            &format!(
                "constraint c: rotation_free(phi)\nprinciple vakonomic\ninitial {}, {}, {}\nobserve Ad = stretch_rate(phi)",
                mu(0, 1), mu(0, 2), mu(1, 2)
            ),
            &times,
        )
    };
    let start = |m: &[f64]| {
        let entries: Vec<String> =
            [0, 1, 2, 4, 5, 8].iter().map(|&k| format!("({:?})", m[k])).collect();
        format!("[{}]", entries.join(", "))
    };
    let core = run(1.0);
    let text = format!(
        "coordinates a[6]\nparameters J = {}\nlet A = [[a[1], a[2], a[3]], [a[2], a[4], a[5]], [a[3], a[5], a[6]]]
let X = A' + inv(A)*A'*A\nlet E = A*A - identity(3)
lagrangian tr(transpose(X)*X*J)/8 - 0.4*tr(E*E) - 0.5*log(det(A))^2
initial a = {}, a' = {}\nsolve t = 0..1, tolerance = 1e-12",
        matrix::text(n, &body.j), start(&observed(&core, "A", 0)), start(&observed(&core, "Ad", 0))
    );
    let view = support::run(&support::model(&text), &at(&times));
    let off = |core: &Motion| {
        let a = observed(core, "A", 2);
        distance(&matrix_at(&view.q, 2), &[0, 1, 2, 4, 5, 8].map(|k| a[k]))
    };
    assert!(off(&core) <= 1e-9, "off by {:e}", off(&core));
    assert!(off(&run(0.0)) >= 1e-5, "other multipliers, another motion");
}

/// A gyration that is skew keeps G whatever it is; the co-moving one is skew only where G is the identity,
/// and skew for G otherwise.
#[test]
fn comoving_gyration_of_a_rigid_body_is_skew_for_its_own_green_matrix() {
    let mut random = Random::new(28);
    for case in 0..10 {
        let n = 2 + case % 2;
        let phi = plus(&matrix::random(n, &mut random), 2.0, &matrix::identity(n));
        let gyration = half(n, &matrix::random(n, &mut random), -1.0);
        let comoving = chain(n, &[&inverse(n, &phi), &gyration, &phi]);
        let green = product(n, &transposed(n, &phi), &phi);
        let lowered = product(n, &green, &comoving);
        let even = |x: &[f64]| half(n, x, 1.0).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(even(&lowered) <= 1e-13, "{case}: skew for G");
        assert!(even(&comoving) >= 1e-4, "{case}: not skew for the identity");
    }
}
