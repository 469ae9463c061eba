//! Eigenvalues and stability of rest and of steady motions.

use pfaff::{
    Linearization, LinearizeRequest, Model, Overrides, Source, Stability, StabilityReason,
    linearize,
};

fn at(model: &Model, state: &str) -> Linearization {
    let request = LinearizeRequest { at: Some(state.into()), ..LinearizeRequest::default() };
    linearize(model, &request).expect("the model has linear equations there")
}

fn of(text: &str, state: &str) -> Linearization {
    at(&Model::parse(text).expect("the text is right"), state)
}

/// Each wanted eigenvalue is there.
#[track_caller]
fn has(found: &Linearization, wanted: &[[f64; 2]], tolerance: f64) {
    for w in wanted {
        let near = |v: &[f64; 2]| {
            let size = 1.0 + w[0].abs().max(w[1].abs());
            (v[0] - w[0]).abs().max((v[1] - w[1]).abs()) <= tolerance * size
        };
        assert!(found.eigenvalues.iter().any(near), "{w:?} in {:?}", found.eigenvalues);
    }
}

#[test]
fn a_pendulum_swings_with_the_root_of_g_over_l() {
    let model = Model::gallery("pendulum").unwrap();
    let hanging = at(&model, "x=0, y=-1");
    let ω = 9.81_f64.sqrt();
    has(&hanging, &[[0.0, ω], [0.0, -ω]], 1e-15);
    assert_eq!(hanging.eigenvalues.len(), 2);
    assert_eq!(
        (hanging.stability, hanging.reason),
        (Stability::Stable, StabilityReason::Energy)
    );
    let standing = at(&model, "x=0, y=1");
    has(&standing, &[[ω, 0.0], [-ω, 0.0]], 1e-15);
    assert_eq!(standing.stability, Stability::Unstable);
}

/// Equal masses and lengths: ω² = (2 ± √2)g/l; with constraints written twice the same.
#[test]
fn a_double_pendulum_in_angles_and_with_redundant_constraints() {
    let angles = "
        coordinates a, b
        parameters g = 9.81, l = 0.7
        let P = [l*sin(a), -l*cos(a)]
        let Q = P + [l*sin(b), -l*cos(b)]
        lagrangian dot(P', P')/2 + dot(Q', Q')/2 - g*(P[2] + Q[2])";
    let places = "
        coordinates p[2], q[2]
        parameters g = 9.81, l = 0.7
        lagrangian dot(p', p')/2 + dot(q', q')/2 - g*(p[2] + q[2])
        constraint first: dot(p, p) = l^2
        constraint second: dot(q - p, q - p) = l^2
        constraint again: dot(p, p) + dot(q - p, q - p) = 2*l^2";
    let root = |sign: f64| ((2.0 + sign * 2.0_f64.sqrt()) * 9.81 / 0.7).sqrt();
    let wanted = [[0.0, root(1.0)], [0.0, -root(1.0)], [0.0, root(-1.0)], [0.0, -root(-1.0)]];
    for (text, state) in [(angles, "a=0"), (places, "p=[0, -0.7], q=[0, -1.4]")] {
        let found = of(text, state);
        assert_eq!(found.eigenvalues.len(), 4);
        has(&found, &wanted, 1e-13);
        assert_eq!(found.stability, Stability::Stable);
        let form = found.second_order.expect("coordinates and velocities");
        // M ω² − K has the vector of the mode in its kernel: the product of both ω² is det K/det M.
        let det = |m: &[f64]| m[0] * m[3] - m[1] * m[2];
        let product = (root(1.0) * root(-1.0)).powi(2);
        assert!((det(&form.stiffness) / det(&form.mass) - product).abs() < 1e-11 * product);
        assert!(form.damping.iter().all(|x| x.abs() < 1e-13));
    }
}

/// Eigenvalues at 5 m/s and the matrices M, C = v·C1, K = g·K0 + v²·K2 as printed by Meijaard, Papadopoulos, Ruina
/// and Schwab 2007 (Tables 1 and 2, equations 3.1 and 3.2 with the benchmark parameters).
#[test]
fn the_benchmark_bicycle_has_its_published_numbers() {
    let model = Model::gallery("bicycle").unwrap();
    let found = at(&model, "x'=5");
    has(
        &found,
        &[
            [-0.775_341_882_195_85, 4.464_867_713_788_23],
            [-0.775_341_882_195_85, -4.464_867_713_788_23],
            [-0.322_866_429_004_09, 0.0],
            [-14.078_389_692_798_22, 0.0],
            [0.0, 0.0],
        ],
        2e-13,
    );
    assert_eq!(found.eigenvalues.len(), 5);
    assert_eq!(found.reason, StabilityReason::Family(1));
    let form = found.second_order.expect("coordinates and velocities");
    let place = |name: &str| form.coordinates.iter().position(|c| c == name).unwrap();
    let (φ, δ, n) = (place("phi"), place("delta"), form.coordinates.len());
    let entries = |m: &[f64]| [m[φ * n + φ], m[φ * n + δ], m[δ * n + φ], m[δ * n + δ]];
    let (g, v) = (9.81, 5.0);
    let mass = [80.817_22, 2.319_413_322_087_09, 2.319_413_322_087_09, 0.297_841_881_996_86];
    let c1 = [0.0, 33.866_413_914_924_94, -0.850_356_414_569_78, 1.685_403_973_975_60];
    let k0 = [-80.95, -2.599_516_852_498_72, -2.599_516_852_498_72, -0.803_294_884_586_18];
    let k2 = [0.0, 76.597_345_895_732_22, 0.0, 2.654_315_237_946_04];
    for i in 0..4 {
        let near = |ours: f64, theirs: f64| {
            assert!((ours - theirs).abs() < 1e-12 * (1.0 + theirs.abs()), "{ours} {theirs}");
        };
        near(entries(&form.mass)[i], mass[i]);
        near(entries(&form.damping)[i], v * c1[i]);
        near(entries(&form.stiffness)[i], g * k0[i] + v * v * k2[i]);
    }
    assert_eq!(at(&model, "x'=4").stability, Stability::Unstable, "below the weave speed");
    assert_eq!(at(&model, "x'=6.1").stability, Stability::Unstable, "above the capsize speed");
    assert_eq!(at(&model, "x'=6, psi=1").eigenvalues.len(), 5, "in any direction");
}

/// An upright rolling disk: λ² = (A m g r − C(C + m r²)Ω²)/(A(A + m r²)), so that it is stable for
/// Ω² > A m g r/(C(C + m r²)).
#[test]
fn a_rolling_disk_is_stable_above_its_threshold() {
    let model = Model::gallery("falling_disk").unwrap();
    let (r, g): (f64, f64) = (0.5, 9.81);
    let (a, c) = (r * r / 4.0, r * r / 2.0);
    let threshold = (a * g * r / (c * (c + r * r))).sqrt();
    for (part, heading) in [(0.5, 0.0), (1.01, 0.0), (3.0, 0.7)] {
        let ω = part * threshold;
        let found = at(&model, &format!("phi'={ω}, psi={heading}"));
        let square = (a * g * r - c * (c + r * r) * ω * ω) / (a * (a + r * r));
        let λ = square.abs().sqrt();
        has(&found, &[if square > 0.0 { [λ, 0.0] } else { [0.0, λ] }], 1e-13);
        assert_eq!(found.eigenvalues.len(), 4, "{:?}", found.variables);
        let verdict = if part < 1.0 { Stability::Unstable } else { Stability::Stable };
        assert_eq!(found.stability, verdict, "{part} {:?}", found.reason);
        assert_eq!(found.family, 2, "all of psi' and phi' give a steady motion nearby");
    }
    // Steady rolling on a circle, with its lean: the model states its rates.
    let turning = at(&model, "th=0.3, psi'=1.5, phi'=-3.0668123549226");
    assert!(turning.is_equilibrium, "{:?}", turning.rates);
    assert_eq!(turning.eigenvalues.len(), 4);
}

/// Steady precession Ω of a symmetric top at the angle θ: nutation with
/// ω² = (A²Ω⁴ − 2AΩ²mgl cos θ + (mgl)²)/(A²Ω²).
#[test]
fn a_top_nutates_about_its_precession() {
    let text = "
        coordinates phi, th, psi
        parameters A = 0.7, C = 0.3, k = 1.3
        lagrangian A*(th'^2 + phi'^2*sin(th)^2)/2 + C*(psi' + phi'*cos(th))^2/2 - k*cos(th)";
    let (a, c, k, th, w): (f64, f64, f64, f64, f64) = (0.7, 0.3, 1.3, 0.8, 2.1);
    let spin = (k + a * w * w * libm::cos(th)) / (c * w) - w * libm::cos(th);
    let found = of(text, &format!("th={th}, phi'={w}, psi'={spin}"));
    assert!(found.is_equilibrium, "{:?}", found.rates);
    let square =
        (a * a * w.powi(4) - 2.0 * a * w * w * k * libm::cos(th) + k * k) / (a * w).powi(2);
    has(&found, &[[0.0, square.sqrt()], [0.0, -square.sqrt()]], 1e-12);
    assert_eq!((found.stability, found.reason), (Stability::Stable, StabilityReason::Energy));
    let names: Vec<&str> = found.cyclic.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["phi", "psi"]);
}

/// ω̇ = −m a u ω/(J + m a²): running straight is stable with the mass ahead of the blade.
#[test]
fn a_sleigh_runs_straight_with_its_mass_ahead() {
    let model = Model::gallery("sleigh").unwrap();
    let parameter =
        |name: &str| model.parameters.iter().find(|p| p.name == name).unwrap().value;
    let (m, j, a) = (parameter("m"), parameter("J"), parameter("a"));
    for u in [1.0, -2.0] {
        // In any direction, not only along an axis.
        let (c, s) = (0.6_f64, 0.8_f64);
        let angle = s.atan2(c);
        let found = at(&model, &format!("phi={angle}, x'={}", u * c));
        has(&found, &[[0.0, 0.0], [-m * a * u / (j + m * a * a), 0.0]], 1e-13);
        // The heading and the speed.
        assert_eq!((found.eigenvalues.len(), found.family), (3, 2));
        let wanted = if u > 0.0 { Stability::Stable } else { Stability::Unstable };
        assert_eq!(found.stability, wanted);
    }
    let resting = at(&model, "x=0");
    assert_eq!(resting.eigenvalues, [[0.0, 0.0]; 3]);
}

#[test]
fn equations_of_first_and_second_order() {
    let found = of("coordinates x\nequation x'' = -x - 0.2*x'", "x=0");
    assert_eq!(found.stability, Stability::AsymptoticallyStable);
    has(&found, &[[-0.1, 0.99_f64.sqrt()]], 1e-15);
    let lorenz = "
        coordinates x, y, z
        equation x' = 10*(y - x)
        equation y' = x*(28 - z) - y
        equation z' = x*y - 8/3*z";
    let origin = of(lorenz, "x=0");
    let root = 1201.0_f64.sqrt();
    let wanted = [[0.5 * (root - 11.0), 0.0], [-0.5 * (root + 11.0), 0.0], [-8.0 / 3.0, 0.0]];
    has(&origin, &wanted, 1e-14);
    // At the other equilibria λ³ + 41/3 λ² + 8/3·38 λ + 1440 = 0.
    let fixed = of(lorenz, "x=6*sqrt(2), y=6*sqrt(2), z=27");
    for λ in &fixed.eigenvalues {
        let times =
            |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
        let (λ2, λ3) = (times(*λ, *λ), times(times(*λ, *λ), *λ));
        for k in 0..2 {
            let constant = if k == 0 { 1440.0 } else { 0.0 };
            let sum = λ3[k] + 41.0 / 3.0 * λ2[k] + 304.0 / 3.0 * λ[k] + constant;
            assert!(sum.abs() < 1e-9, "{sum}");
        }
    }
    assert_eq!(fixed.stability, Stability::Unstable);
}

#[test]
fn a_state_that_is_no_equilibrium_says_by_how_much() {
    let text = "coordinates a\nlagrangian a'^2/2 + 4*cos(a)";
    let found = of(text, "a=0.3");
    assert!(!found.is_equilibrium);
    assert!((found.rates[1] + 4.0 * libm::sin(0.3)).abs() < 1e-15);
    assert_eq!(found.stability, Stability::Undecided);
    let nearest = found.nearest.expect("hanging is near");
    assert!(nearest[0].1.abs() < 1e-14, "{nearest:?}");
    // Two rods with a spring between them under a load: Newton's iteration goes to rods that are folded after turns.
    let rods = "
        coordinates a, b, x, y
        lagrangian (a'^2 + b'^2)/6 + x'^2/2 + y'^2/20 - (a - b)^2/2 - x
        constraint cx: x = cos(a) + cos(b)
        constraint cy: y = sin(a) + sin(b)
        constraint support: y = 0";
    let nearest = of(rods, "a=0.5, b=-0.5").nearest.expect("straight rods are near");
    assert!(nearest[0].1.abs() < 1e-9 && (nearest[2].1 - 2.0).abs() < 1e-9, "{nearest:?}");
    // On a slope there is none.
    let slope = of("coordinates x\nlagrangian x'^2/2 - x", "x=0");
    assert!(!slope.is_equilibrium && slope.nearest.is_none());
    // A degenerate rest is left undecided.
    let quartic = of("coordinates x\nlagrangian x'^2/2 + x^4", "x=0");
    assert_eq!(quartic.reason, StabilityReason::Degenerate);
    assert_eq!(quartic.family, 0);
    // Gyroscopic stabilisation of a maximum is not decided by the linear equations.
    let gyro = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 + 3*(x*y' - y*x') + (x^2 + 2*y^2)/2 + x^2*y";
    let found = of(gyro, "x=0");
    assert_eq!(found.reason, StabilityReason::Oscillation, "{:?}", found.eigenvalues);
    // Time in the equations.
    let driven =
        of("coordinates x\nparameters e = 0\nlagrangian x'^2/2 - x^2/2 + e*x*sin(t)", "x=0");
    assert_eq!(driven.reason, StabilityReason::ExplicitTime);
}

#[test]
fn singular_points_and_memory_are_refused() {
    let refused = |text: &str, state: &str| {
        let model = Model::parse(text).expect("the text is right");
        let request =
            LinearizeRequest { at: Some(state.into()), ..LinearizeRequest::default() };
        linearize(&model, &request).expect_err("it is refused").to_string()
    };
    let massless = refused("coordinates x, y\nlagrangian x^2*y'^2/2 + x'^2/2", "x=0");
    assert!(massless.contains("singular"), "{massless}");
    let memory = refused("coordinates x\nequation caputo(x, 0.5) = -x", "x=0");
    assert!(memory.contains("memory"), "{memory}");
    let unknown = refused("coordinates x\nlagrangian x'^2/2", "z=1");
    assert!(unknown.contains('z'), "{unknown}");
}

/// Vakonomic: the multiplier belongs to the state.
#[test]
fn the_vakonomic_state_has_its_multipliers() {
    let source = Source::new(
        "model",
        "
        coordinates x, y, phi
        lagrangian (x'^2 + y'^2 + phi'^2)/2
        constraint blade: y'*cos(phi) - x'*sin(phi) = 0
        principle vakonomic
        initial multipliers = zero",
    );
    let model = Model::read(source, &Overrides::default(), &pfaff::NoFiles).unwrap();
    // With L_c: μ couples to φ by μ u, so that φ″ = −μ u … about μ = 0 nothing acts.
    let found = at(&model, "x'=1, mu(blade)=0");
    assert!(found.is_equilibrium, "{:?}", found.rates);
    assert!(found.variables.iter().any(|name| name == "mu(blade)"), "{:?}", found.variables);
}

/// A cart with a pole: B in closed form, the formulas as numbers, and every eigenvalue makes λE − A singular.
#[test]
fn inputs_formulas_and_all_coordinates() {
    let text = "
        coordinates x, a
        parameters M = 1.3, m = 0.2, l = 0.5, g = 9.81, d = 0.1
        input u = 0
        let P = [x + l*sin(a), l*cos(a)]
        lagrangian M*x'^2/2 + m*dot(P', P')/2 - m*g*P[2]
        force x: u - d*x'";
    let found = of(text, "a=0");
    assert_eq!(found.variables, ["a", "x'", "a'"]);
    // x'' = u/M, a'' = −u/(M l)
    for (ours, theirs) in found.input_matrix.iter().zip([0.0, 1.0 / 1.3, -1.0 / (1.3 * 0.5)]) {
        assert!((ours - theirs).abs() < 1e-14, "{:?}", found.input_matrix);
    }
    let formulas = found.formulas.iter().find(|m| m.name == "A").expect("it is small");
    for (formula, number) in formulas.text.iter().zip(&found.matrix) {
        let value = pfaff::evaluate(
            formula,
            "M=1.3, m=0.2, l=0.5, g=9.81, d=0.1",
            pfaff::Range::default(),
        );
        let Ok(pfaff::Value::Number(value)) = value else { panic!("{formula}") };
        assert!((value - number).abs() < 1e-12, "{formula} = {value}, not {number}");
    }
    is_a_pencil(&found, 1e-12);
}

/// The finite eigenvalues of (E, A) are those of the reduced equations: the smallest singular value of λE − A vanishes.
#[track_caller]
fn is_a_pencil(found: &Linearization, tolerance: f64) {
    let n = found.full.variables.len();
    for &[re, im] in &found.eigenvalues {
        // Real and imaginary part side by side.
        let mut all = vec![0.0; 4 * n * n];
        for i in 0..n {
            for j in 0..n {
                let (e, a) = (found.full.e[i * n + j], found.full.a[i * n + j]);
                all[i * 2 * n + j] = re * e - a;
                all[i * 2 * n + n + j] = -im * e;
                all[(n + i) * 2 * n + j] = im * e;
                all[(n + i) * 2 * n + n + j] = re * e - a;
            }
        }
        let values = pfaff_solver::singular_values(&all, 2 * n, 2 * n).values;
        let (largest, least) = (values[0], values[2 * n - 1]);
        assert!(least < tolerance * largest, "{re} + {im}i: {least} of {largest}");
    }
}

#[test]
fn constraints_in_all_coordinates() {
    let pendulum = Model::gallery("pendulum").unwrap();
    is_a_pencil(&at(&pendulum, "x=0, y=-1"), 1e-12);
    // Velocity constraints, and many coordinates.
    let bicycle = Model::gallery("bicycle").unwrap();
    is_a_pencil(&at(&bicycle, "x'=5"), 1e-10);
}

/// An input may stand in a constraint: a driven cart x' = u, and a pendulum on it.
#[test]
fn an_input_in_a_constraint() {
    let text = "
        coordinates x, a
        parameters l = 0.5, g = 9.81, c = 0.3
        input u = 0
        lagrangian x'^2/2 + (l^2*a'^2 + 2*l*x'*a')/2 - g*l*a^2/2
        force a: -c*(x' + l*a')
        constraint drive: x' = u";
    let found = of(text, "a=0");
    // With x'' = 0 between changes of u: l² a'' = −g l a − c(u + l a').
    let place = found.variables.iter().position(|v| v == "a'").expect("it is free");
    assert!((found.input_matrix[place] + 0.3 / 0.25).abs() < 1e-13, "{:?}", found.input_matrix);
}

/// A conical pendulum in Cartesian coordinates moves steadily along a rotation: ω² = w²(1 + 3 cos²θ), and the zero
/// belongs
/// to the family of cones.
#[test]
fn a_steady_turn_of_cartesian_coordinates() {
    let text = "
        coordinates x, y, z
        parameters l = 2, g = 9.81, w = 3
        lagrangian (x'^2 + y'^2 + z'^2)/2 - g*z
        constraint rod: x^2 + y^2 + z^2 = l^2
        initial x = sqrt(l^2 - (g/w^2)^2), z = -g/w^2, y' = w*sqrt(l^2 - (g/w^2)^2)";
    let model = Model::parse(text).unwrap();
    let found = linearize(&model, &LinearizeRequest::default()).unwrap();
    assert_eq!(found.frame.len(), 1);
    assert!((found.frame[0].1 - 3.0).abs() < 1e-12);
    let cos: f64 = 9.81 / 18.0;
    let ω = 3.0 * (1.0 + 3.0 * cos * cos).sqrt();
    has(&found, &[[0.0, ω], [0.0, -ω], [0.0, 0.0]], 1e-12);
    assert_eq!((found.eigenvalues.len(), found.family), (3, 1));
}

/// Lagrange's triangle of three masses: λ⁴ + λ²ω² + 27/4 (m₁m₂ + m₂m₃ + m₃m₁)/M² ω⁴ = 0 (Routh 1875).
#[test]
fn the_triangle_of_lagrange() {
    let (m2, m3) = (0.02_f64, 0.01_f64);
    let total = 1.0 + m2 + m3;
    let w = total.sqrt();
    let h = 3.0_f64.sqrt() / 2.0;
    let (cx, cy) = ((m2 + 0.5 * m3) / total, m3 * h / total);
    let places = [[-cx, -cy], [1.0 - cx, -cy], [0.5 - cx, h - cy]];
    let mut text =
        "coordinates x1, y1, x2, y2, x3, y3\nparameters m1 = 1, m2 = 0.02, m3 = 0.01\n"
            .to_owned();
    text += "let r12 = sqrt((x1-x2)^2 + (y1-y2)^2)\nlet r13 = sqrt((x1-x3)^2 + (y1-y3)^2)\n";
    text += "let r23 = sqrt((x2-x3)^2 + (y2-y3)^2)\nlagrangian m1*(x1'^2+y1'^2)/2 + m2*(x2'^2+y2'^2)/2";
    text += " + m3*(x3'^2+y3'^2)/2 + m1*m2/r12 + m1*m3/r13 + m2*m3/r23\n";
    for (k, [x, y]) in places.into_iter().enumerate() {
        let k = k + 1;
        text += &format!(
            "initial x{k} = {x:?}, y{k} = {y:?}, x{k}' = {:?}, y{k}' = {:?}\n",
            -w * y,
            w * x
        );
    }
    let model = Model::parse(&text).unwrap();
    let found = linearize(&model, &LinearizeRequest::default()).unwrap();
    assert!((found.frame.last().expect("it turns").1 - w).abs() < 1e-9, "{:?}", found.frame);
    let c = 6.75 * (m2 + m2 * m3 + m3) / (total * total);
    let root = (1.0 - 4.0 * c).sqrt();
    for square in [0.5 * (1.0 - root), 0.5 * (1.0 + root)] {
        has(&found, &[[0.0, w * square.sqrt()]], 1e-9);
    }
}

/// A knife edge on a circle: all speeds and all circles are steady, so that both zeros are a family.
#[test]
fn a_knife_edge_turns_steadily() {
    let text = "
        coordinates x, y, th
        lagrangian (x'^2 + y'^2)/2 + th'^2/4
        constraint blade: x'*sin(th) - y'*cos(th) = 0
        initial x' = 1, th' = 0.5";
    let found = linearize(&Model::parse(text).unwrap(), &LinearizeRequest::default()).unwrap();
    assert!(found.is_equilibrium && found.frame.len() == 2, "{:?}", found.frame);
    assert_eq!((found.family, found.stability), (2, Stability::Stable));
}

/// A bead in a ring-shaped valley: the zero is the rotation, which mixes the coordinates.
#[test]
fn zeros_of_rotations_are_named() {
    let found = of("coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2 - 1)^2", "x=1");
    assert_eq!(found.symmetries, ["turn of x, y"]);
    assert_eq!(found.family, 1);
    has(&found, &[[0.0, 8.0_f64.sqrt()], [0.0, 0.0]], 1e-9);
}

/// A sleeping top is stable by energy and momenta above (CΩ)² = 4 A m g l, and unstable below.
#[test]
fn a_top_sleeps_if_it_is_fast() {
    let text = "
        coordinates x, y, psi
        parameters A = 1, C = 0.5, k = 1, W = 6
        let z = sqrt(1 - x^2 - y^2)
        lagrangian A*(x'^2 + y'^2 + z'^2)/2 + C*(psi' + (x*y' - y*x')/(1 + z))^2/2 - k*z";
    let top = Model::parse(text).unwrap();
    for (spin, wanted) in [("4.05", Stability::Stable), ("3.95", Stability::Unstable)] {
        let request = LinearizeRequest {
            at: Some(format!("x=0, y=0, psi'={spin}")),
            ..LinearizeRequest::default()
        };
        let found = linearize(&top, &request).unwrap();
        assert_eq!(found.stability, wanted, "{spin}: {:?}", found.reason);
    }
}

/// Two imaginary pairs with energies of opposite signs: no energy is definite, and the linear equations do not decide,
/// unless they are the equations themselves.
#[test]
fn gyroscopic_forces_on_a_hill_do_not_decide() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 + 3*(x*y' - y*x')/2 + x^2/2 + 1.3*y^2/2";
    for (more, wanted) in [(" + x^4 + x*y^2", Stability::Undecided), ("", Stability::Stable)] {
        let hill = Model::parse(&format!("{text}{more}")).unwrap();
        let hill = linearize(&hill, &LinearizeRequest::default()).unwrap();
        assert!(hill.eigenvalues.iter().all(|v| v[0].abs() < 1e-12), "{:?}", hill.eigenvalues);
        assert_eq!(hill.stability, wanted, "{more}");
    }
}

/// A linear oscillation that drives another one of the same frequency grows with time: the same eigenvalue twice.
#[test]
fn resonance_of_linear_equations_is_not_stable() {
    for (square, wanted) in [("1", Stability::Undecided), ("2", Stability::Stable)] {
        let text =
            format!("coordinates x, y\nequation x'' = -x\nequation y'' = -{square}*y + x");
        let found = linearize(&Model::parse(&text).unwrap(), &LinearizeRequest::default());
        assert_eq!(found.unwrap().stability, wanted, "{square}");
    }
}

/// Three particles joined by springs that move along together: a steady motion in a frame that is shifted. Their
/// frequencies ω² = λ k are those of m⁻¹ (1, −1, 0; −1, 2, −1; 0, −1, 1) with masses 1, 1, 2: λ² − 7λ/2 + 2 = 0.
#[test]
fn a_chain_that_moves_along_is_a_steady_motion() {
    let text = "
        coordinates a, b, c
        parameters k = 2
        lagrangian (a'^2 + b'^2 + 2*c'^2)/2 - k*(b - a - 1)^2/2 - k*(c - b - 1)^2/2
        initial a = 0, b = 1, c = 2, a' = 1.5, b' = 1.5, c' = 1.5";
    let found = linearize(&Model::parse(text).unwrap(), &LinearizeRequest::default()).unwrap();
    assert!(found.is_equilibrium, "{:?}", found.rates);
    assert_eq!(found.frame.len(), 1, "{:?}", found.frame);
    assert!(found.frame[0].0 == "shift of a, b, c", "{:?}", found.frame);
    assert!((found.frame[0].1 - 1.5).abs() < 1e-12, "{:?}", found.frame);
    assert_eq!((found.stability, found.family), (Stability::Stable, 1));
    let root = (3.5_f64 * 3.5 - 8.0).sqrt();
    for λ in [f64::midpoint(3.5, root), f64::midpoint(3.5, -root)] {
        let ω = (2.0 * λ).sqrt();
        let is_there = found.eigenvalues.iter().any(|v| (v[1] - ω).abs() < 1e-12);
        assert!(is_there, "{ω} {:?}", found.eigenvalues);
    }
    let is_zero = |v: &[f64; 2]| libm::hypot(v[0], v[1]) < 1e-12;
    assert_eq!(found.eigenvalues.iter().filter(|v| is_zero(v)).count(), 1);
}

/// On a hill that is round, the angular momentum helps: the same forces are stable for good.
#[test]
fn gyroscopic_forces_on_a_round_hill_are_stable() {
    let text = "
        coordinates x, y
        lagrangian (x'^2 + y'^2)/2 + 3*(x*y' - y*x')/2 + (x^2 + y^2)/2";
    let hill = linearize(&Model::parse(text).unwrap(), &LinearizeRequest::default()).unwrap();
    assert_eq!(hill.stability, Stability::Stable, "{:?}", hill.reason);
}

/// What is in balance at one time only is not offered as an equilibrium.
#[test]
fn a_driven_oscillator_has_no_nearest_equilibrium() {
    let text = "coordinates x\nequation x'' = -x - x^3 + 0.3*cos(t)\ninitial x = 0.5";
    let found = linearize(&Model::parse(text).unwrap(), &LinearizeRequest::default()).unwrap();
    assert!(!found.is_equilibrium && found.nearest.is_none());
    assert_eq!(found.reason, StabilityReason::ExplicitTime);
}

/// Constraints that repeat each other at one point only: two circles that touch, and the crossing of two lines.
#[test]
fn singular_points_are_refused() {
    let circles = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint c: x^2 + y^2 = 1\n\
                   constraint d: x^2 + (y + 2)^2 = 1\ninitial x = 0, y = -1";
    let lines = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: x*y = 0\ninitial x = 0, y = 0";
    for text in [circles, lines] {
        let model = Model::parse(text).expect("the text is right");
        let refused =
            linearize(&model, &LinearizeRequest::default()).expect_err("it is singular");
        assert!(refused.to_string().contains("singular point"), "{refused}");
    }
    // A loop that repeats its constraints everywhere is regular.
    let twice = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint c: x^2 + y^2 = 1\n\
                 constraint d: 2*x^2 + 2*y^2 = 2\ninitial x = 0, y = -1";
    has(&of(twice, "x=0, y=-1"), &[[0.0, 1.0]], 1e-12);
}

/// A cart with a double pendulum in Cartesian coordinates, one constraint repeated: it may stand anywhere, which a
/// shift of three coordinates together says, and it is stable up to that shift.
#[test]
fn a_shift_of_several_coordinates_is_no_instability() {
    let found = of(
        "
        coordinates x, x1, y1, x2, y2
        parameters M = 3, m = 1, l = 1, g = 9.81
        lagrangian M*x'^2/2 + m*(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2 - m*g*(y1 + y2)
        constraint a: (x1 - x)^2 + y1^2 = l^2
        constraint b: (x2 - x1)^2 + (y2 - y1)^2 = l^2
        constraint c: (x2 - x1)^2 + (y2 - y1)^2 + (x1 - x)^2 + y1^2 = 2*l^2
        initial y1 = -1, y2 = -2",
        "y1=-1, y2=-2",
    );
    assert_eq!((found.stability, found.reason), (Stability::Stable, StabilityReason::Energy));
    // det(K − ω² M) = 0 is 3λ² − 14λ + 10 = 0 with λ = ω² l/g.
    let squares = [-1.0, 1.0].map(|sign: f64| 9.81 * (14.0 + sign * 76.0_f64.sqrt()) / 6.0);
    for square in squares {
        has(&found, &[[0.0, square.sqrt()]], 1e-12);
    }
}
