//! Momenta of symmetries: their rates along motions by differences, and two roads to those that are kept.

use pfaff_mechanics::{Momentum, Principle, derive, kept_momenta, momenta};

use crate::support::{Case, LINEAR, close, model};

const SLEIGH: &str = "coordinates x, y, phi
    parameters m = 1.3, J = 0.5, a = 0.2
    let X = x + a*cos(phi)
    let Y = y + a*sin(phi)
    lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2
    constraint blade: y'*cos(phi) - x'*sin(phi) = 0
    symmetry turn: x = -y, y = x, phi = 1";

/// The blade at the centre of mass: the angular momentum about it is kept.
const CENTRED: &str = "coordinates x, y, phi
    lagrangian (x'^2 + y'^2)/2 + phi'^2/3
    constraint blade: y'*cos(phi) - x'*sin(phi) = 0
    symmetry turn: x = -y, y = x, phi = 1";

const FORCED: &str = "coordinates x, y, z
    lagrangian (x'^2 + y'^2)/2 + z'^2*(1 + y^2)/2 + x'*y
    constraint c: z' = y*x'
    force x: 0.3*y'
    force z: 0.2";

const MOVING: &str = "coordinates x, y, z
    lagrangian (x'^2 + y'^2 + z'^2)/2
    constraint c: z' = t*x' + y'";

const NONLINEAR: &str = "coordinates x, y, z
    lagrangian (x'^2 + y'^2 + z'^2)/2
    constraint c: z'^2 = x'^2 + x'*y'";

const FREE: &str = "coordinates r, f
    lagrangian (r'^2 + r^2*f'^2)/2 + 1/r
    symmetry twice: f = 2";

const DISK: &str = "coordinates phi, psi, x, y
    lagrangian (x'^2 + y'^2)/2 + 0.3*phi'^2/2 + 0.2*psi'^2/2
    constraint roll_x: x' = 0.4*cos(psi)*phi'
    constraint roll_y: y' = 0.4*sin(psi)*phi'";

const TEXTS: [&str; 7] = [SLEIGH, CENTRED, FORCED, MOVING, NONLINEAR, FREE, DISK];

/// $\dot J$ as told, with $\lambda$ of the motion, is the rate of $J$ along it.
#[test]
fn momenta_change_as_told() {
    for principle in [Principle::Chetaev, Principle::Vakonomic] {
        let mut told = 0;
        for text in TEXTS {
            let case = Case::new(text, principle, 9).in_motion();
            for m in momenta(&case.model, &case.equations) {
                let by_hand: f64 = case.rate(&|s| case.at(s, m.momentum));
                let Some(rate) = m.rate else { continue };
                told += 1;
                close(case.value(rate), by_hand, &format!("{}: {principle:?}\n{text}", m.name));
                let p = case.values(&case.equations.momenta);
                let ξ = case.values(&m.generator);
                let carried: f64 = match principle {
                    Principle::Chetaev => 0.0,
                    Principle::Vakonomic | Principle::Restricted => {
                        let rows = case.rows(&case.equations.jacobian);
                        let along = |row: &Vec<f64>| crate::support::dot(row, &ξ);
                        rows.iter().zip(&case.state.mu).map(|(row, μ)| μ * along(row)).sum()
                    }
                };
                close(case.value(m.momentum), crate::support::dot(&p, &ξ) - carried, &m.name);
            }
        }
        assert!(told > 8, "{told} momenta with a rate");
    }
}

/// Which are kept, by name.
#[test]
fn kept_momenta_are_known() {
    let kept = |text: &str, principle: Principle| -> Vec<String> {
        let case = Case::new(text, principle, 1);
        kept_momenta(&case.model, &case.equations).into_iter().map(|m| m.name).collect()
    };
    assert!(kept(SLEIGH, Principle::Chetaev).is_empty());
    assert_eq!(kept(CENTRED, Principle::Chetaev), ["phi"]);
    assert_eq!(kept(FREE, Principle::Chetaev), ["twice", "f"]);
    assert_eq!(kept(DISK, Principle::Chetaev), ["psi"]);
    assert_eq!(kept(SLEIGH, Principle::Vakonomic), ["turn", "x", "y"]);
    assert!(kept(FORCED, Principle::Chetaev).is_empty());
    let plain =
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: y' = 2*x'";
    assert_eq!(kept(plain, Principle::Chetaev), ["z", "(1/2)*x + y"]);
    let case = Case::new(CENTRED, Principle::Restricted, 1);
    assert!(kept_momenta(&case.model, &case.equations).is_empty(), "nothing is told");
    assert!(momenta(&case.model, &case.equations).is_empty(), "nothing is told");
}

/// A vakonomic momentum is told where every constraint has the symmetry, and combinations are Chetaev's alone.
#[test]
fn symmetries_are_those_of_all_constraints() {
    let text = "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2
        constraint a: y' = z*x'\nconstraint b: w' = x'\nsymmetry lift: z = 1";
    let case = Case::new(text, Principle::Vakonomic, 1);
    let told = momenta(&case.model, &case.equations);
    assert!(told.iter().any(|m| m.name == "lift" && m.rate.is_none()), "{told:?}");
    let along = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2
        constraint c along [1, 0, 0]: y' = 2*x'";
    let plain = along.replace(" along [1, 0, 0]", "");
    for (text, principle, combined) in [
        (plain.as_str(), Principle::Chetaev, 1),
        (plain.as_str(), Principle::Vakonomic, 0),
        (along, Principle::Chetaev, 0),
    ] {
        let case = Case::new(text, principle, 1);
        let told = momenta(&case.model, &case.equations);
        let count = told.iter().filter(|m| m.name.contains('*')).count();
        assert_eq!(count, combined, "{principle:?}: {text}");
    }
    // Two vakonomic momenta that forces change, along an allowed direction.
    let pushed = format!("{plain}\nforce x: 1\nforce y: 0.3");
    let case = Case::new(&pushed, Principle::Vakonomic, 1);
    let told = momenta(&case.model, &case.equations);
    assert_eq!(told.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["z"]);
}

/// A force that is zero by an identity between functions changes no momentum.
#[test]
fn forces_that_are_zero_keep_momenta() {
    for zero in [
        "exp(2*y) - exp(y)^2",
        "cos(2*y) - 1 + 2*sin(y)^2",
        "sinh(2*y) - 2*sinh(y)*cosh(y)",
        "sqrt(y^4) - y^2",
    ] {
        let text =
            format!("coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y^2\nforce x: {zero}");
        let case = Case::new(&text, Principle::Chetaev, 1);
        for told in [momenta, kept_momenta] {
            let told = told(&case.model, &case.equations);
            let names: Vec<&str> = told.iter().map(|m| m.name.as_str()).collect();
            assert_eq!(names, ["x"], "{zero}");
        }
    }
}

/// Coefficients of more than 200 nodes are not told.
#[test]
fn combinations_are_told_up_to_a_length() {
    let longest = (185..205).filter_map(|depth| {
        let sines = "sin(".repeat(depth);
        let text = format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2
             constraint c: y' = {sines}z{}*x'",
            ")".repeat(depth)
        );
        let m = model(&text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        let told = momenta(&m, &e);
        let combined = told.iter().find(|m| !m.given && m.name.contains('*'))?;
        Some(m.graph.size(&combined.generator[..2]))
    });
    assert_eq!(longest.max(), Some(200));
}

/// Coefficients that fill pages are not told.
#[test]
fn long_combinations_are_left_out() {
    let combined = |terms: usize| {
        let sum: Vec<String> =
            (1..=terms).map(|k| format!("sin({k}*z)*cos(z/{})", k + 1)).collect();
        let text = format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2
             constraint c: y' = (2 + {})*x'",
            sum.join(" + ")
        );
        let case = Case::new(&text, Principle::Chetaev, 1);
        let told = momenta(&case.model, &case.equations);
        told.iter().filter(|m| m.name.contains('*')).count()
    };
    assert_eq!((combined(5), combined(60)), (1, 0));
}

/// Coefficients with time or velocities are those of moving or nonlinear constraints: nothing is combined.
#[test]
fn moving_constraints_have_no_combinations() {
    for text in [MOVING, NONLINEAR] {
        let case = Case::new(text, Principle::Chetaev, 1);
        let told = momenta(&case.model, &case.equations);
        assert!(told.iter().all(|m| !m.name.contains('*')), "{text}");
        assert!(kept_momenta(&case.model, &case.equations).is_empty(), "{text}");
    }
}

/// The quick road gives what the long one gives, and is the shorter where nothing has to be proved.
#[test]
fn both_roads_to_kept_momenta_agree() {
    let linear = LINEAR.iter().map(|(_, t)| *t);
    let mut quick = 0;
    for text in TEXTS.into_iter().chain(linear) {
        for principle in [Principle::Chetaev, Principle::Vakonomic] {
            let (one, two) = (Case::new(text, principle, 1), Case::new(text, principle, 1));
            let begun = one.model.graph.len();
            let found = kept_momenta(&one.model, &one.equations);
            let all = momenta(&two.model, &two.equations);
            let zero = two.model.graph.zero();
            let kept: Vec<Momentum> =
                all.into_iter().filter(|m| m.rate == Some(zero)).collect();
            let names =
                |all: &[Momentum]| all.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&found), names(&kept), "{text}");
            for (a, b) in found.iter().zip(&kept) {
                close(one.value(a.momentum), two.value(b.momentum), &a.name);
            }
            let (short, long) = (one.model.graph.len() - begun, two.model.graph.len() - begun);
            quick += usize::from(short < long);
            if text == SLEIGH && principle == Principle::Chetaev {
                assert!(
                    short < long,
                    "{short} nodes by the quick road, {long} by the long one"
                );
            }
        }
    }
    assert!(quick > 8, "the quick road was taken {quick} times");
}
