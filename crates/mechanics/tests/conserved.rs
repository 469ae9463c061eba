//! What motions keep: integrals of books are found, and what is found is constant along motions by differences.

use pfaff_mechanics::{Conserved, ConservedKind, Effort, Principle, conserved, kept_momenta};

use crate::support::{Case, LINEAR, NONLINEAR, random_system};

/// A system and, as observed quantities, a basis of what books say that it keeps.
struct System {
    text: &'static str,
    principle: Principle,
    kinds: &'static str,
}

const SYSTEMS: [System; 20] = [
    // A spherical pendulum in Cartesian coordinates.
    System {
        text: "coordinates x, y, z\nparameters m = 1.2, g = 9.8, l = 0.7
            lagrangian m*(x'^2 + y'^2 + z'^2)/2 - m*g*z
            constraint rod: x^2 + y^2 + z^2 = l^2
            observe a = m*(x'^2 + y'^2 + z'^2)/2 + m*g*z\nobserve b = x*y' - y*x'",
        principle: Principle::Chetaev,
        kinds: "E L_z",
    },
    // Two bodies and a spring between them: the angular momenta of the centre and about it are kept each.
    System {
        text: "coordinates x1, y1, x2, y2\nparameters m1 = 1, m2 = 2, k = 3
            lagrangian m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2 - k*((x1 - x2)^2 + (y1 - y2)^2)^2
            observe a = m1*x1' + m2*x2'\nobserve b = m1*y1' + m2*y2'
            observe c = m1*(x1*y1' - y1*x1') + m2*(x2*y2' - y2*x2')
            observe d = m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2 + k*((x1 - x2)^2 + (y1 - y2)^2)^2",
        principle: Principle::Chetaev,
        kinds: "E P_x1 P_y1 L_z L_z2",
    },
    // Three omnidirectional wheels.
    System {
        text: "coordinates x, y, th, w[3]\nparameters m = 2, J = 0.3, I = 0.1, r = 0.05, R = 0.2
            lagrangian m*(x'^2 + y'^2)/2 + J*th'^2/2 + I*sum(i = 1..3, w[i]'^2)/2
            constraint roll[i = 1..3]: cos(th + 2*pi*i/3)*y' - sin(th + 2*pi*i/3)*x' + R*th' = r*w[i]'
            observe a = r*(w[1] + w[2] + w[3]) - 3*R*th
            observe b = m*(x'^2 + y'^2)/2 + J*th'^2/2 + I*sum(i = 1..3, w[i]'^2)/2
            observe c = J*r*th' + I*R*(w[1]' + w[2]' + w[3]')",
        principle: Principle::Chetaev,
        kinds: "E P_th C",
    },
    // A cylinder on a wedge: products with what the constraint keeps are not told again.
    System {
        text: "coordinates X, s, phi\nparameters M = 3, m = 1, R = 0.3, g = 9.81
            lagrangian M*X'^2/2 + m*(X'^2 + s'^2 + X'*s')/2 + m*R^2*phi'^2/4 + m*g*s/2
            constraint rolling: s' = R*phi'
            observe a = M*X'^2/2 + m*(X'^2 + s'^2 + X'*s')/2 + m*R^2*phi'^2/4 - m*g*s/2
            observe b = (M + m)*X' + m*s'/2\nobserve c = R*phi - s
            observe d = (6*M + 5*m)*X'^2 + 2*m*g*X",
        principle: Principle::Chetaev,
        kinds: "E p_X C F1 F2",
    },
    // Kepler's problem: Laplace's vector.
    System {
        text: "coordinates x, y\nparameters m = 1.3, k = 2
            lagrangian m*(x'^2 + y'^2)/2 + k/sqrt(x^2 + y^2)
            observe a = m*(x'^2 + y'^2)/2 - k/sqrt(x^2 + y^2)\nobserve b = x*y' - y*x'
            observe c = m*(x*y' - y*x')*y' - k*x/sqrt(x^2 + y^2)
            observe d = m*(x*y' - y*x')*x' + k*y/sqrt(x^2 + y^2)",
        principle: Principle::Chetaev,
        kinds: "E L_z A_x A_y",
    },
    // An isotropic oscillator: Fradkin's tensor.
    System {
        text: "coordinates x, y\nparameters m = 1.3, k = 2
            lagrangian m*(x'^2 + y'^2)/2 - k*(x^2 + y^2)/2
            observe a = m*x'^2 + k*x^2\nobserve b = m*y'^2 + k*y^2\nobserve c = x*y' - y*x'
            observe d = m*x'*y' + k*x*y",
        principle: Principle::Chetaev,
        kinds: "E L_z F1 F2",
    },
    // A charge in a uniform magnetic field.
    System {
        text: "coordinates x, y, z\nparameters m = 1.3, b = 2
            lagrangian m*(x'^2 + y'^2 + z'^2)/2 + b*x*y'
            observe a = m*x' - b*y\nobserve c = m*y' + b*x\nobserve d = z'
            observe e = m*(x'^2 + y'^2)/2 + m*z'^2/2\nobserve f = m*(x*y' - y*x') + b*(x^2 + y^2)/2",
        principle: Principle::Chetaev,
        kinds: "E P_x p_y p_z L_z",
    },
    // A potential that turns: Jacobi's integral.
    System {
        text: "coordinates x, y\nparameters w = 0.4, k = 2
            lagrangian (x'^2 + y'^2)/2 - k*(x*cos(w*t) + y*sin(w*t))^4
            observe a = (x'^2 + y'^2)/2 + k*(x*cos(w*t) + y*sin(w*t))^4 - w*(x*y' - y*x')",
        principle: Principle::Chetaev,
        kinds: "E_J",
    },
    // A potential that turns at a rate which contains a parameter.
    System {
        text: "coordinates x, y\nparameters w = 0.4, k = 2, c = 3
            lagrangian c*(x'^2 + y'^2)/2 - k*(x*cos(w*t/c) + y*sin(w*t/c))^4
            observe a = c*(x'^2 + y'^2)/2 + k*(x*cos(w*t/c) + y*sin(w*t/c))^4 - w*(x*y' - y*x')",
        principle: Principle::Chetaev,
        kinds: "E_J",
    },
    // A force that makes a potential round which is not.
    System {
        text: "coordinates x, y\nparameters c = 2
            lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^2 + c*x^2\nforce x: -2*c*x
            observe a = (x'^2 + y'^2)/2 + (x^2 + y^2)^2\nobserve b = x*y' - y*x'",
        principle: Principle::Chetaev,
        kinds: "E_J L_z",
    },
    // An upright rolling disk.
    System {
        text: "coordinates x, y, phi, psi\nparameters m = 2, I = 0.4, J = 0.3, R = 0.5
            lagrangian m*(x'^2 + y'^2)/2 + I*phi'^2/2 + J*psi'^2/2
            constraint rx: x' = R*cos(psi)*phi'\nconstraint ry: y' = R*sin(psi)*phi'
            observe a = psi'\nobserve b = I*phi' + m*R*(cos(psi)*x' + sin(psi)*y')
            observe c = m*(x'^2 + y'^2)/2 + I*phi'^2/2 + J*psi'^2/2",
        principle: Principle::Chetaev,
        kinds: "E p_psi J2",
    },
    // A ball that rolls on a turntable: the moving energy.
    System {
        text: "coordinates x, y, a, b, c\nparameters m = 2, I = 0.4, R = 0.5, W = 0.7
            lagrangian m*(x'^2 + y'^2)/2 + I*(a'^2 + b'^2 + c'^2)/2
            constraint rx: x' = R*b' - W*y\nconstraint ry: y' = W*x - R*a'
            observe s = c'\nobserve p = I*a' - m*R*y' + 0\nobserve q = I*b' + m*R*x'",
        principle: Principle::Chetaev,
        kinds: "E_J P_x P_y p_c L L2 L_z",
    },
    // A bead that a turning line guides by an affine constraint, in a field without angle.
    System {
        text: "coordinates x, y\nparameters W = 0.7
            lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^2
            constraint turn: x*y' - y*x' = W*(x^2 + y^2)
            observe a = (x'^2 + y'^2)/2 + (x^2 + y^2)^2 - W*(x*y' - y*x')",
        principle: Principle::Chetaev,
        kinds: "E_J",
    },
    // Two integrable constraints, neither of which is written as a rate.
    System {
        text: "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x*y^3
            constraint a: x*x' + y*y' + z' = 0\nconstraint b: z' + cos(z)*z' = y*y'
            observe p = x^2 + y^2 + 2*z\nobserve q = z + sin(z) - y^2/2
            observe r = (x'^2 + y'^2 + z'^2)/2 + x*y^3",
        principle: Principle::Chetaev,
        kinds: "E C1 C2",
    },
    // The sleigh of Chaplygin as a problem of optimal control.
    System {
        text: "coordinates x, y, phi\nparameters m = 1.3, J = 0.5
            lagrangian m*(x'^2 + y'^2)/2 + J*phi'^2/2
            constraint blade: y'*cos(phi) - x'*sin(phi) = 0
            observe a = m*x' + mu(blade)*sin(phi)\nobserve b = m*y' - mu(blade)*cos(phi)
            observe c = m*(x*y' - y*x') - mu(blade)*(x*cos(phi) + y*sin(phi)) + J*phi'
            observe d = m*(x'^2 + y'^2)/2 + J*phi'^2/2 - mu(blade)*(y'*cos(phi) - x'*sin(phi))",
        principle: Principle::Vakonomic,
        kinds: "E p_x p_y L_z",
    },
    // A rigid body by the matrix of its attitude: three spatial components of the angular momentum.
    System {
        text: "coordinates R[2,2]\nparameters A = 1.2, B = 0.7
            kinetic A*(R[1,1]'^2 + R[2,1]'^2)/2 + B*(R[1,2]'^2 + R[2,2]'^2)/2\npotential 0
            constraint rigid: transpose(R)*R = identity(2)
            observe a = A*(R[1,1]*R[2,1]' - R[2,1]*R[1,1]') + B*(R[1,2]*R[2,2]' - R[2,2]*R[1,2]')
            observe b = A*(R[1,1]'^2 + R[2,1]'^2)/2 + B*(R[1,2]'^2 + R[2,2]'^2)/2",
        principle: Principle::Chetaev,
        kinds: "E L",
    },
    // A free body in Euler's angles: its angular momentum in space, of which only one angle is cyclic.
    System {
        text: "coordinates ph, th, ps\nparameters A = 1.2, B = 0.7, C = 2
            let R = rotation_z(ph)*rotation_x(th)*rotation_z(ps)
            let W = vee(transpose(R)*R')
            kinetic (A*W[1]^2 + B*W[2]^2 + C*W[3]^2)/2
            observe a = A*R[1,1]*W[1] + B*R[1,2]*W[2] + C*R[1,3]*W[3]
            observe b = A*R[2,1]*W[1] + B*R[2,2]*W[2] + C*R[2,3]*W[3]
            observe c = A*R[3,1]*W[1] + B*R[3,2]*W[2] + C*R[3,3]*W[3]",
        principle: Principle::Chetaev,
        kinds: "E p_ph L_1 L_2",
    },
    // A homogeneous ball on a turntable [Neimark and Fufaev 1972]: momenta that rolling keeps.
    System {
        text: "coordinates x, y, ph, th, ps\nparameters m = 1.3, a = 0.4, I = 0.2, w = 0.5
            let R = rotation_z(ph)*rotation_x(th)*rotation_z(ps)
            let omega = vee(R'*transpose(R))
            kinetic m*(x'^2 + y'^2)/2 + I*dot(omega, omega)/2
            constraint rx: x' - a*omega[2] = -w*y
            constraint ry: y' + a*omega[1] = w*x
            observe a1 = I*omega[1] - m*a*y'\nobserve a2 = I*omega[2] + m*a*x'\nobserve a3 = omega[3]",
        principle: Principle::Chetaev,
        kinds: "E_J p_ph J J2",
    },
    // A relativistic particle, whose Lagrangian is no polynomial and needs small velocities.
    System {
        text: "coordinates x, y\nparameters m = 1.3, c = 5, k = 0.5
            lagrangian -m*c^2*sqrt(1 - (x'^2 + y'^2)/c^2) - k*(x^2 + y^2)/2
            observe a = (x*y' - y*x')/sqrt(1 - (x'^2 + y'^2)/c^2)",
        principle: Principle::Chetaev,
        kinds: "E L_z",
    },
    // A driven pendulum with friction keeps nothing.
    System {
        text: "coordinates a\nparameters k = 2\nlagrangian a'^2/2 + k*cos(a)*(1 + sin(t)/2)
            force a: -0.1*a'",
        principle: Principle::Chetaev,
        kinds: "",
    },
];

fn names(found: &[Conserved]) -> String {
    found.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// The quantities of the books are combinations of those that are found.
#[test]
fn integrals_of_books_are_found() {
    let mut others = Vec::new();
    for System { text, principle, kinds } in &SYSTEMS {
        let case = Case::new(text, *principle, 3);
        let g = &case.model.graph;
        let found = conserved(&case.model, &case.equations, Effort::Full);
        let told: Vec<String> =
            found.iter().map(|c| format!("{}: {}", c.name, g.to_text(c.quantity))).collect();
        if names(&found) != *kinds {
            others.push(format!("{text}\n{} instead of {kinds}\n{told:#?}", names(&found)));
        }
        // NOTE: on the constraints, where quantities may be equal that are not elsewhere.
        let velocities = pfaff_mechanics::quasi_velocities(&case.model, &case.equations);
        let own: Vec<_> = match velocities {
            Some(quasi) if *principle == Principle::Chetaev => {
                let rows = quasi.basis.iter().zip(&quasi.offset);
                let own = rows.map(|(row, &b)| g.add(g.dot(row, &quasi.symbols), b));
                case.model.velocities().into_iter().zip(own).collect()
            }
            _ => Vec::new(),
        };
        let mut all = vec![g.one()];
        all.extend(found.iter().map(|c| c.quantity));
        let known = all.len();
        all.extend(case.model.observed.iter().map(|o| o.expr));
        let all = g.substitute(&all, &own);
        let independent = g.independent_over_constants(&all);
        for (i, observed) in case.model.observed.iter().enumerate() {
            let is_new = independent.contains(&(known + i));
            assert!(!is_new, "{} is not found: {told:#?}\n{text}", observed.name);
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// What is found is constant along the motion, by differences; in random systems too.
#[test]
fn what_is_found_is_constant() {
    let mut checked = 0;
    let check = |case: Case, text: &str, checked: &mut usize| {
        let case = case.in_motion();
        for effort in [Effort::Full, Effort::Audit] {
            for c in conserved(&case.model, &case.equations, effort) {
                let rate: f64 = case.rate(&|s| case.at(s, c.quantity));
                // Differences have nine digits.
                let size = 1.0 + case.value(c.quantity).abs();
                assert!(rate.abs() < 1e-7 * size, "{}: {rate}\n{text}", c.name);
                *checked += 1;
            }
        }
    };
    for System { text, principle, .. } in &SYSTEMS {
        check(Case::new(text, *principle, 5), text, &mut checked);
    }
    for seed in 0..12 {
        let text = random_system(seed);
        check(Case::new(&text, Principle::Chetaev, seed), &text, &mut checked);
    }
    for (_, text) in LINEAR.iter().chain(&NONLINEAR) {
        check(Case::new(text, Principle::Chetaev, 2), text, &mut checked);
    }
    assert!(checked > 60, "{checked}");
}

/// Momenta that the older search finds are among them.
#[test]
fn kept_momenta_are_among_them() {
    for System { text, principle, .. } in &SYSTEMS {
        let case = Case::new(text, *principle, 3);
        let g = &case.model.graph;
        let mut all = vec![g.one()];
        let found = conserved(&case.model, &case.equations, Effort::Audit);
        all.extend(found.iter().map(|c| c.quantity));
        let known = all.len();
        all.extend(kept_momenta(&case.model, &case.equations).iter().map(|m| m.momentum));
        assert!(g.independent_over_constants(&all).iter().all(|&i| i < known), "{text}");
    }
}

/// Names give way to those of the model, and kinds say where a quantity comes from.
#[test]
fn names_are_free() {
    let text = "coordinates x, y\nparameters E = 2, p_x = 1
        kinetic (x'^2 + y'^2)/2 + E*(x*y' - y*x') + E^2*(x^2 + y^2)/2\npotential p_x*(x^2 + y^2)^2";
    let case = Case::new(text, Principle::Chetaev, 1);
    let found = conserved(&case.model, &case.equations, Effort::Full);
    assert_eq!(names(&found), "E_J L_z");
    assert_eq!(found[0].kind, ConservedKind::JacobiIntegral);
    let text = "coordinates x\nparameters E = 2, p_x = 1\nlagrangian E*p_x*x'^2/2";
    let case = Case::new(text, Principle::Chetaev, 1);
    let found = conserved(&case.model, &case.equations, Effort::Full);
    assert_eq!(names(&found), "E2 p_x2");
    assert_eq!(found[1].kind, ConservedKind::Momentum(0));
}
