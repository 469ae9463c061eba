//! The parts of a Lagrangian and Helmholtz's test, against differences and closed forms.

use pfaff_expr::Expr;
use pfaff_mechanics::{Helmholtz, Principle, helmholtz};

use crate::support::{Case, all_close, close, slope};

/// A bead in a turning frame: positions depend on time, so that all of $T_2, T_1, T_0$ occur.
const TURNING: &str = "coordinates x, y
    let X = x*cos(t) - y*sin(2*t)
    let Y = x*sin(t) + y^2
    kinetic (X'^2 + 3*Y'^2)/2
    potential x*y^2 + t*x";

/// $E = T_2 - T_0 + V$, $T_1 = g_k\dot q_k$, whether or not the text tells $V$ apart.
#[test]
fn energy_is_t2_less_t0_and_v() {
    let alone = TURNING.replace("potential", "let V =").replace("kinetic", "let T =");
    let alone = format!("{alone}\nlagrangian T - V");
    let moving = TURNING.replace("t*x", "t*x + 0.3*x*y'");
    for text in [TURNING, &alone, &moving] {
        let case = Case::new(text, Principle::Chetaev, 2);
        let (g, s, v) = (&case.model.graph, &case.state, case.model.velocities());
        let kinetic = case.equations.kinetic.as_ref().expect("quadratic");
        let scaled = |factor: f64| {
            let mut there = s.clone();
            there.v.iter_mut().for_each(|v| *v *= factor);
            case.lagrangian(&there)
        };
        // L(σ v) = σ² T2 + σ T1 + L0
        let (still, plus, minus) = (scaled(0.0), scaled(1.0), scaled(-1.0));
        let (t2, t1) = (f64::midpoint(plus, minus) - still, (plus - minus) / 2.0);
        close(case.value(kinetic.quadratic(g, &v)), t2, "T2");
        close(case.value(kinetic.linear(g, &v)), t1, "T1");
        close(case.value(kinetic.energy(g, &v)), t2 - still, "E");
        close(case.value(kinetic.energy(g, &v)), case.value(case.equations.energy), "E by p");
        let potential = s.q[0] * s.q[1].powi(2) + s.t * s.q[0];
        match kinetic.potential {
            Some(v) => {
                assert_eq!(text, TURNING);
                close(case.value(v), potential, "V");
                close(case.value(kinetic.scalar), still + potential, "T0");
            }
            None => close(case.value(kinetic.scalar), still, "L0"),
        }
    }
}

#[test]
fn other_lagrangians_have_no_parts() {
    let case = Case::new("coordinates x\nlagrangian x'^4 + x'^2", Principle::Chetaev, 1);
    assert!(case.equations.kinetic.is_none());
    // Quadratic, although velocities stand in the written mass.
    let text = "coordinates x\nlagrangian x'^2*(sin(x')^2 + cos(x')^2) + x'";
    let case = Case::new(text, Principle::Chetaev, 1);
    let kinetic = case.equations.kinetic.as_ref().expect("quadratic in disguise");
    all_close(&case.values(&kinetic.metric[0]), &[2.0], "metric");
    all_close(&case.values(&kinetic.vector), &[1.0], "vector");
}

fn tested(text: &str) -> (Case, Vec<Expr>, Helmholtz) {
    let case = Case::new(text, Principle::Chetaev, 4);
    let force: Vec<Expr> =
        case.model.forces.iter().fold(vec![case.model.graph.zero(); case.n()], |sum, f| {
            sum.iter().zip(&f.components).map(|(&a, &b)| case.model.graph.add(a, b)).collect()
        });
    let answer = helmholtz(&case.model, &force);
    (case, force, answer)
}

/// Where there is a potential, $\Lambda = \frac{d}{dt}U_{\dot q} - U_q$ by differences along a curve.
#[test]
fn forces_with_a_potential_are_recognised() {
    let forces = [
        // A magnetic field, an electric one that changes with time, and a spring.
        "force x: 2*y' - x + 3*t^2\nforce y: -2*x' - y*z\nforce z: -y^2/2",
        // H = 2xy dx∧dy depends on place; V is not a polynomial.
        "force x: 2*x*y*y' + cos(x)*z\nforce y: -2*x*y*x'\nforce z: sin(x)",
        "force x: exp(y)*y' + 1/(1 + x)\nforce y: -exp(y)*x'\nforce z: 0",
        // A = (0, z exp(x), 2y exp(x) + sin(x)), found coordinate by coordinate.
        "force x: -exp(x)*z*y' - (2*exp(x)*y + cos(x))*z'\nforce y: exp(x)*z*x' - exp(x)*z'
         force z: (2*exp(x)*y + cos(x))*x' + exp(x)*y'",
        // A(t): the force −∂A/∂t acts beside the field.
        "force x: t*x*y' + y/(2 + y^2)*0\nforce y: -t*x*x' - x^2/2\nforce z: z^3 + 1",
    ];
    for forces in forces {
        let text = format!("coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n{forces}");
        let (case, force, answer) = tested(&text);
        let Helmholtz::Potential(Some(u)) = answer else { panic!("{forces}: {answer:?}") };
        let found = case.euler(&case.state, &|s| case.at(s, u));
        all_close(&found, &case.values(&force), forces);
    }
}

/// Along rays $A_k = \int_0^1 s\,q^mH_{km}(sq)\,ds$ with skew $H$, so $A\cdot q = 0$: the symmetric gauge, here of
/// fields that are polynomials of degree 0 to 3. $V$ vanishes at the origin.
#[test]
fn potentials_of_polynomial_fields_have_the_symmetric_gauge() {
    for forces in [
        "force x: 2*y' - x + t\nforce y: -2*x'",
        "force x: x*y*y' - z\nforce y: -x*y*x' + 3*z'*z^3*y + y^2\nforce z: -3*z^3*y*y' - x",
        "force x: x^2*y'*t\nforce y: -x^2*x'*t - x^3/3",
    ] {
        let text = format!("coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n{forces}");
        let (case, force, answer) = tested(&text);
        let Helmholtz::Potential(Some(u)) = answer else { panic!("{forces}: {answer:?}") };
        all_close(&case.euler(&case.state, &|s| case.at(s, u)), &case.values(&force), forces);
        let mut radial = case.state.clone();
        radial.v.clone_from(&radial.q);
        let mut still = case.state.clone();
        still.v.fill(0.0);
        close(case.at(&radial, u), case.at(&still, u), "A·q");
        still.q.fill(0.0);
        close(case.at(&still, u), 0.0, "V at the origin");
    }
}

#[test]
fn other_forces_fail_with_their_condition() {
    let base = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n";
    for (forces, condition, pair) in [
        ("force y: -y'", 1, (1, 1)),
        ("force x: z'\nforce z: x'", 1, (0, 2)),
        ("force y: z", 2, (1, 2)),
        ("force x: -y\nforce y: x", 2, (0, 1)),
        ("force x: x'*y'^2\nforce y: 0", 1, (0, 0)),
        // Skew in the velocities, but d/dt of the field contains accelerations.
        ("force x: z'*y'\nforce y: -z'*x'\nforce z: 0", 1, (0, 2)),
        // The field changes with time, and nothing makes up for it.
        ("force x: t*y'\nforce y: -t*x'", 2, (0, 1)),
    ] {
        let (_, _, answer) = tested(&format!("{base}{forces}"));
        assert_eq!(answer, Helmholtz::Fails { condition, pair }, "{forces}");
    }
    let (_, _, answer) = tested(&format!("{base}force x: exp(-x^2)"));
    assert_eq!(answer, Helmholtz::Potential(None), "an integral that is not elementary");
}

/// The potential of a force that has a part along rays with several powers.
#[test]
fn potentials_are_those_of_their_gradients() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2
        force x: 3*x^2*y^2 + 2*x + y + 4\nforce y: 2*x^3*y + x - 1";
    let (case, _, answer) = tested(text);
    let Helmholtz::Potential(Some(u)) = answer else { panic!("{answer:?}") };
    let potential = |x: f64, y: f64| -(x.powi(3) * y * y + x * x + x * y + 4.0 * x - y);
    let (x, y) = (case.state.q[0], case.state.q[1]);
    let zero = slope(|h| {
        let mut there = case.state.clone();
        there.q[0] += h;
        case.at(&there, u) - potential(x + h, y)
    });
    close(zero, 0.0, "one function up to a constant");
    close(case.value(u), potential(x, y), "and the constant is zero along rays");
}
