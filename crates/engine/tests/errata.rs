//! What the papers print and what is right: each printed formula is evaluated and fails, the right one holds. One test for each entry of docs/errata.md.

mod support;

use pfaff::{
    Model, Principle, Request, Series, StateReport, at_state, derive, read_state, survey,
};

/// Rounding of a handful of operations on numbers of size one.
const HOLDS: f64 = 1e-12;
/// Motions at tolerance 1e-12, a hundredfold for their steps.
const MOVES: f64 = 1e-10;
/// Far beyond any rounding.
const FAILS: f64 = 1e-2;

#[track_caller]
fn differ(right: f64, printed: f64) {
    assert!(right.abs() < HOLDS, "the right formula is off by {right}");
    assert!(printed.abs() > FAILS, "the printed formula is off by {printed} only");
}

fn at(model: &Model, principle: Principle, state: &str) -> StateReport {
    let dynamics = derive(model, Some(principle)).expect("equations");
    let state = read_state(model, state).expect("a state");
    at_state(model, &dynamics, &state).expect("numbers")
}

fn chetaev(text: &str, state: &str) -> StateReport {
    at(&support::model(text), Principle::Chetaev, state)
}

fn last(series: &[Series], name: &str) -> f64 {
    let found = series.iter().find(|s| s.name == name).expect("a series of this name");
    *found.values.last().expect("a value")
}

/// [TZ06, (17)–(19)]: λ = −(f_t + f_q·q̇ + f_q̇·a₀)/(f_q̇ M⁻¹ f_q̇ᵀ) with the accelerations a₀ without constraint.
#[test]
fn tarasov_zaslavsky_17_multiplier() {
    let text = "parameters m = 1.7, c = 0.4\ncoordinates r, phi\nlagrangian m*(r'^2 + r^2*phi'^2)/2\n\
                constraint f: r' - c*r*phi' + sin(t) + r^2*r'^2 = 0\n";
    let (m, c, t, r, v, w) = (1.7, 0.4, 0.3_f64, 1.2, 0.5, 0.9);
    let state = chetaev(text, "t=0.3, r=1.2, r'=0.5, phi'=0.9");
    let f_v = [1.0 + 2.0 * r * r * v, -c * r];
    let carried = libm::cos(t) + (-c * w + 2.0 * r * v * v) * v;
    let free = [r * w * w, -2.0 * v * w / r];
    let numerator = carried + f_v[0] * free[0] + f_v[1] * free[1];
    let λ = -numerator / (f_v[0] * f_v[0] / m + f_v[1] * f_v[1] / (m * r * r));
    assert!((state.multipliers[0] - λ).abs() < HOLDS);
    // As printed the derivatives are those of f̃(p, q, t), which contains no velocity.
    let f_tilde_v = 0.0;
    assert!((-numerator / (f_tilde_v / m)).is_infinite());
}

/// [TZ06]: Helmholtz's condition ∂Λ_k/∂q^m − ∂Λ_m/∂q^k = ½ d/dt(∂Λ_k/∂q̇^m − ∂Λ_m/∂q̇^k); a plus is printed.
#[test]
fn tarasov_zaslavsky_helmholtz_sign() {
    // Λ = (−y, −x) comes from the potential xy.
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x*y\n";
    let force = |state: &str| chetaev(text, state).acceleration;
    let origin = force("x=0");
    let by_y = force("y=1")[0] - origin[0];
    let by_x = force("x=1")[1] - origin[1];
    // Λ contains no velocities: the right side is zero.
    differ(by_y - by_x, by_y + by_x);
}

/// [GKS13, slide 3]: N is the dipole of the forces; ∫φφaa dμ = φJφᵀ is the inertia.
#[test]
fn affine_dipole_is_made_of_forces() {
    let text = "coordinates phi[2,2]\nlagrangian tr(transpose(phi')*phi')/2\n";
    let free = chetaev(text, "phi=[[1,0.2],[0,1.5]], phi'=[[0.1,0],[0.3,0.2]]");
    // φJφ̈ᵀ = N with J = 1: nothing pulls, so N = 0; row 1, column 1.
    let φ = [1.0, 0.2, 0.0, 1.5];
    let a = &free.acceleration;
    let moment = φ[0] * a[0] + φ[1] * a[1];
    let inertia = φ[0] * φ[0] + φ[1] * φ[1];
    differ(moment, moment - inertia);
}

/// [GKS13, slide 6]: Ω^i_j = −g_jk Ω^k_l g^li; by the first equality there, Ω^i_j = −Ω^i_j, nothing could turn.
#[test]
fn gyroscopic_rates_are_skew_and_not_zero() {
    let text = "coordinates phi[2,2]\nlagrangian tr(transpose(phi')*phi')/2\nconstraint rigid: gyroscopic(phi)\n\
                initial phi = [[1,0],[0,1]], phi' = [[0,-0.7],[0.7,0]]\nlet W = phi'*inv(phi)\n\
                observe skew = W[1,2] + W[2,1]\nobserve turn = W[2,1]\nsolve t = 0..2, tolerance = 1e-12\n";
    let motion = support::run(&support::model(text), &Request::default());
    assert!(last(&motion.observed, "skew").abs() < MOVES);
    assert!((last(&motion.observed, "turn") - 0.7).abs() < MOVES, "it turns");
}

/// [GKS13, slide 12]: a constraint ω(t,q)q̇ has the vakonomic reaction μ̇ω + μ(∂_tω + …); the slide has ω(q) and omits ∂_tω, where slide 9 allows explicit time.
#[test]
fn vakonomic_reaction_knows_explicit_time() {
    let text = "parameters m = 1.5, k = 0.7\ncoordinates x, y\nlagrangian m*(x'^2 + y'^2)/2\n\
                constraint ratio: k*t*x' - y' = 0\n";
    let state = at(
        &support::model(text),
        Principle::Vakonomic,
        "t=1.1, x'=0.9, y'=0.693, mu(ratio)=0.6",
    );
    let (m, k, t, μ) = (1.5, 0.7, 1.1, 0.6);
    let (force, rate) = (m * state.acceleration[0], state.multiplier_rates[0]);
    differ(force - (rate * k * t + μ * k), force - rate * k * t);
}

/// [GKS13, slide 16]: L = T − V, as slides 5 and 17 have it; T + V is printed.
#[test]
fn lagrangian_is_the_difference() {
    // A spring pulls back: x'' = −x.
    let right = chetaev("coordinates x\nkinetic x'^2/2\npotential x^2/2\n", "x=1");
    let printed = chetaev("coordinates x\nlagrangian x'^2/2 + x^2/2\n", "x=1");
    differ(right.acceleration[0] + 1.0, printed.acceleration[0] + 1.0);
}

const RATIO: &str = "parameters m = 2, k = 0.7, v0 = 1.3\ncoordinates x, y\nlagrangian m*(x'^2 + y'^2)/2\n\
                     constraint ratio: k*t*x' - y' = 0\ninitial x' = v0\n\
                     observe right = y' - k*t*x'\nobserve printed = y' - k*y*x'\n\
                     solve t = 0..5, tolerance = 1e-12\n";

/// [BN, (3.1)]: the Lagrangian needs its m: (3.7) has it, A' = −mk²tẋ and B' = −m(1+k²t²).
#[test]
fn mass_of_the_moving_ratio() {
    let state = chetaev(RATIO, "t=2, x'=1, y'=1.4");
    // −A' = B'·x'' with the constraint inserted is m(1+k²t²)x'' + mk²tx' = 0.
    let (m, k, t) = (2.0, 0.7, 2.0);
    let x2 = state.acceleration[0];
    assert!((m * (1.0 + k * k * t * t) * x2 + m * k * k * t).abs() < HOLDS);
    // The reaction is m times that of a Lagrangian without m.
    let bare = chetaev(&RATIO.replace("m = 2", "m = 1"), "t=2, x'=1, y'=1.4");
    differ(
        state.multipliers[0] - m * bare.multipliers[0],
        state.multipliers[0] - bare.multipliers[0],
    );
}

/// [BN, (3.4)]: ẏ = k t ẋ; the normal form beside it, ẏ = k y ẋ, is another constraint, and an integrable one.
#[test]
fn moving_ratio_contains_time() {
    let motion = support::run(&support::model(RATIO), &Request::default());
    differ(last(&motion.observed, "right"), last(&motion.observed, "printed"));
    let class = |constraint: &str| {
        let text = RATIO.replace("k*t*x' - y' = 0", constraint);
        survey(&support::model(&text)).constraints[0].integrable
    };
    assert_ne!(class("k*t*x' - y' = 0"), class("k*y*x' - y' = 0"));
}

/// [BN, section 3]: y = y0 + (v0/k)(√(1+k²t²) − 1); kt + √(1+k²t²) is printed.
#[test]
fn solution_of_the_moving_ratio() {
    let request = Request { at: Some(vec![0.0, 5.0]), ..Request::default() };
    let motion = support::run(&support::model(RATIO), &request);
    let (k, v0, t) = (0.7, 1.3, 5.0_f64);
    let root = (1.0 + k * k * t * t).sqrt();
    let y = last(&motion.q, "y");
    assert!((y - v0 / k * (root - 1.0)).abs() < MOVES);
    assert!((y - v0 / k * (k * t + root)).abs() > FAILS);
    assert!((v0 / k).abs() > FAILS, "and at t = 0 the printed one is v0/k");
}

/// [BN, Theorem 2.1]: λ is no function of the position. For ż = yẋ it is −ẋẏ/(1+y²), up to the sign of the constraint.
#[test]
fn multipliers_depend_on_velocities() {
    let text =
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: y*x' - z' = 0\n";
    let λ = |state: &str| chetaev(text, state).multipliers[0];
    let slow = λ("y=0.3, x'=1.1, y'=0.5, z'=0.33");
    let fast = λ("y=0.3, x'=2.2, y'=0.5, z'=0.66");
    let formula = |u: f64, v: f64| -u * v / (1.0 + 0.3 * 0.3);
    assert!((slow - formula(1.1, 0.5)).abs() < HOLDS);
    assert!((fast - formula(2.2, 0.5)).abs() < HOLDS);
    // A λ(x) that makes λa closed would be the same for both, and zero here.
    assert!((slow - fast).abs() > FAILS && slow.abs() > FAILS);
}

/// [GWCM05, (5)]: Γ^σ_μν needs the derivatives of g_ij too. Sleigh with offset mass on the base (x, φ): Γ^1_22 = −a cos φ, and 0 as printed.
#[test]
fn connection_of_a_metric_that_varies() {
    let text = "parameters m = 1, J = 0.5, a = 0.2\ncoordinates x, y, phi\nlet X = x + a*cos(phi)\nlet Y = y + a*sin(phi)\n\
                lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2\nconstraint blade: y'*cos(phi) - x'*sin(phi) = 0\n";
    let (φ, v, ω, a) = (0.5_f64, 0.8, 0.6, 0.2);
    let tan = libm::tan(φ);
    let state = chetaev(text, "phi=0.5, x'=0.8, y'=0.8*sin(0.5)/cos(0.5), phi'=0.6");
    // Autoparallels: ẍ + Γ^1_21 φ̇ẋ + Γ^1_22 φ̇² = 0 with Γ^1_21 = tan φ.
    let printed = state.acceleration[0] + tan * ω * v;
    differ(printed - a * libm::cos(φ) * ω * ω, printed);
}

/// [GWCM05]: ε_i^μ ε_μ^j is the projector onto the admissible directions, with trace m; δ_i^j is printed.
#[test]
fn embedding_makes_a_projector() {
    // ż = yẋ with the Euclidean metric at y = 0.5: directions (1,0,y) and (0,1,0), orthogonal.
    let y = 0.5;
    let directions = [[1.0, 0.0, y], [0.0, 1.0, 0.0]];
    let norms = [1.0 + y * y, 1.0];
    let entry = |i: usize, j: usize| -> f64 {
        (0..2).map(|μ| directions[μ][i] * directions[μ][j] / norms[μ]).sum()
    };
    let trace: f64 = (0..3).map(|i| entry(i, i)).sum();
    differ(trace - 2.0, trace - 3.0);
    let square: f64 = (0..3).map(|k| entry(0, k) * entry(k, 2)).sum();
    assert!((square - entry(0, 2)).abs() < HOLDS, "applied twice it is itself");
}

/// [GWCM05, (33)]: vakonomic motions are geodesics of the induced metric for one initial multiplier only, c = p − μ = 0.
#[test]
fn vakonomic_motions_are_a_family() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' - y*x' = 0\n\
                initial y = 0.5, x' = 1, y' = 0.7, mu(c) = MU\nprinciple vakonomic\nsolve t = 0..3, tolerance = 1e-12\n";
    // Geodesics of (1+y²)dx² + dy²: the Lagrangian with the constraint inserted.
    let geodesic = "coordinates x, y\nlagrangian ((1 + y^2)*x'^2 + y'^2)/2\ninitial y = 0.5, x' = 1, y' = 0.7\n\
                    solve t = 0..3, tolerance = 1e-12\n";
    let end = |text: &str| {
        let motion = support::run(&support::model(text), &Request::default());
        (last(&motion.q, "x"), last(&motion.q, "y"))
    };
    let (x, y) = end(geodesic);
    let special = end(&text.replace("MU", "0.5"));
    assert!((special.0 - x).abs() < MOVES && (special.1 - y).abs() < MOVES, "c = 0");
    let other = end(&text.replace("MU", "0"));
    assert!((other.0 - x).abs() > FAILS && (other.1 - y).abs() > FAILS, "c = 0.5");
    // Eight digits of an independent integration.
    assert!((other.0 - 1.591_567_62).abs() < 1e-8 && (other.1 - 3.215_331_54).abs() < 1e-8);
}

/// [PP, (17)]: for y^u = +C^u the equations are E_ū + C^u_ū E_u = 0; a minus is printed. E is the reaction.
#[test]
fn projected_equations_have_a_plus() {
    let text = "parameters g = 9.81, al = 0.6\ncoordinates x, y, z\nlagrangian x'^2 + y'^2 + z'^2/4 - g*z/2\n\
                constraint c: z' = al*sqrt(x'^2 + y'^2)\n";
    let state = chetaev(text, "x'=0.3, y'=0.4, z'=0.3");
    let slope = 0.6 * 0.3 / 0.5;
    let (e_x, e_z) = (state.reaction[0], state.reaction[2]);
    differ(e_x + slope * e_z, e_x - slope * e_z);
}

/// [PP, (20)]: q̈ = (φ'/2φ)q̇ stands behind a general metric and holds in Cartesian coordinates of a flat one; in general ∇_v v = (φ'/2φ)v. In polar
/// coordinates r̈ = rθ̇² + (φ'/2φ)ṙ.
#[test]
fn prescribed_speed_needs_the_connection() {
    let text = "coordinates r, th\nlagrangian (r'^2 + r^2*th'^2)/2\n\
                constraint speed: (r'^2 + r^2*th'^2)/2 = 1/(2*t)\n";
    // φ = 1/t at t = 1, speed 1: φ'/2φ = −1/2.
    let state = chetaev(text, "t=1, r=2, r'=0.6, th'=0.4");
    let printed = state.acceleration[0] + 0.5 * 0.6;
    differ(printed - 2.0 * 0.4 * 0.4, printed);
}
