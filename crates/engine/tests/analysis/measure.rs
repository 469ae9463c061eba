//! Invariant measures and time reversal against what is known of the systems.

use pfaff::{Measure, MeasureRequest, Model, measure};

fn of(text: &str) -> Measure {
    measure(&Model::parse(text).expect("the text is right"), &MeasureRequest::default())
        .expect("an answer")
}

/// Liouville: in velocities the density is the determinant of the mass matrix.
#[test]
fn liouville() {
    let found =
        of("coordinates r, a\nlagrangian (r'^2 + r^2*a'^2)/2 + 1/r\ninitial r = 1, a' = 1");
    assert_eq!(found.density.as_deref(), Some("det(M)"));
    assert!(found.reversals.iter().any(|r| r == "t -> -t"), "{:?}", found.reversals);
    let flat = of("coordinates x\nlagrangian x'^2/2 - x^4");
    assert_eq!(flat.density.as_deref(), Some("1"));
}

/// x'' = −k x' x' has ρ = exp(2 k x): the divergence is −2k x'.
#[test]
fn an_exponential_density() {
    let found = of("coordinates x\nequation x'' = -3/2*x'^2 - x\ninitial x = 0.3, x' = 1");
    assert_eq!(found.density.as_deref(), Some("exp(3*x)"));
    assert!(found.residual < 1e-8);
}

/// A damped oscillator keeps no density of positions, and does not run back.
#[test]
fn damping_keeps_nothing() {
    let found = of("coordinates x\nequation x'' = -x - x'/5\ninitial x = 1");
    assert_eq!((found.density, found.reversals.len()), (None, 0));
}

/// The Chaplygin sleigh with its centre off the blade contracts: no measure; the knife edge alone keeps one.
#[test]
fn sleighs() {
    let sleigh = |a: &str| {
        format!(
            "
             coordinates x, y, th
             parameters m = 1, J = 0.5, a = {a}
             let X = [x + a*cos(th), y + a*sin(th)]
             lagrangian m*dot(X', X')/2 + J*th'^2/2
             constraint blade: -x'*sin(th) + y'*cos(th) = 0
             initial x' = 1, th' = 0.7, th = 0.3"
        )
    };
    assert!(of(&sleigh("0")).density.is_some());
    assert_eq!(of(&sleigh("0.4")).density, None);
}
