//! Planted faults: each breaks the derived equations in one place, and each must turn the audit to `fail`.
//!
//! The audit goes back to the model by dual numbers, so it shares nothing with the equations that are broken
//! here. The same models pass unbroken.

use pfaff::{
    Derivation, Dynamics, Equations, Motion, Run, Verdict, Workspace, derive, run_derived,
};

use crate::support;

/// Gyroscopic terms, a force, dissipation, explicit time in L and in an affine constraint.
const DRIVEN: &str = "
title        \"driven\"
coordinates  x, y, phi
parameters   m = 1.3, J = 0.5, a = 0.2, k = 0.7, c = 0.1
let          X = x + a*cos(phi)
let          Y = y + a*sin(phi)
lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2*(1 + 0.3*sin(t)) - k*x^2/2 + 0.4*t*y' + 0.3*(x*y' - y*x')
force        x: 0.5*cos(2*t)
force        at [X, Y]: [0.2, -0.1*y]
dissipation  c*(x'^2 + y'^2)/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0.2*sin(t)*(1 + x^2)
initial      x = 0.4, y = -0.2, phi = 0.3, x' = 1, phi' = 0.7
solve        t = 0..3
";

/// A moving holonomic constraint in three dimensions.
const MOVING: &str = "
title        \"moving\"
coordinates  x, y, z
parameters   m = 1, g = 9.81, w = 0.9
lagrangian   m*(x'^2 + y'^2 + z'^2)/2 - m*g*z
constraint   bowl: z = (1 + 0.2*sin(w*t))*(x^2 + y^2)/2
initial      x = 0.8, y = 0.1, x' = 0.2, y' = 0.6
solve        t = 0..2
";

/// A constraint nonlinear in the velocities, with positions and time in it.
const NONLINEAR: &str = "
title        \"nonlinear\"
coordinates  x, y, z
lagrangian   (x'^2 + y'^2 + 2*z'^2)/2 - 0.35*x^2 - 0.3*x*y*z - 0.4*y^2 - 0.9*z
constraint   tie: z' = x'*y'*(1 + 0.3*z^2) - cos(x)/2 + 0.1*t
initial      x = 0.4, y = 0.3, z = 0.2, x' = 0.9, y' = 0.5
solve        t = 0..2
";

/// A servo-constraint: the reaction acts along another direction than the constraint's.
const SERVO: &str = "
title        \"servo\"
coordinates  x, y
lagrangian   (x'^2 + y'^2 + 0.4*x'*y')/2 - y^2/2
constraint   hold along [1, 0.3*x]: y' = 0.5*x
initial      x = 0.7, y = 0.2, x' = 0.3
solve        t = 0..3
";

type Fault = fn(&Workspace, &mut Equations);

/// The sign of an expression turned.
fn negated(model: &Workspace, e: &mut pfaff_expr::Expr) {
    *e = model.graph.neg(*e);
}

const FAULTS: &[(&str, &str, Fault)] = &[
    ("the sign of the force on x", DRIVEN, |m, e| negated(m, &mut e.force[0])),
    ("the sign of the force on phi", DRIVEN, |m, e| negated(m, &mut e.force[2])),
    ("a dropped force", DRIVEN, |m, e| {
        e.force[0] = m.graph.sub(e.force[0], m.forces[0].components[0]);
    }),
    ("a force counted twice", DRIVEN, |m, e| {
        e.force[0] = m.graph.add(e.force[0], m.forces[0].components[0]);
    }),
    ("a dropped force at a point", DRIVEN, |m, e| {
        for k in 0..3 {
            e.force[k] = m.graph.sub(e.force[k], m.forces[1].components[k]);
        }
    }),
    ("dissipation that drives", DRIVEN, |m, e| {
        for k in 0..3 {
            let q = m.forces[2].components[k];
            e.force[k] = m.graph.sub(e.force[k], m.graph.add(q, q));
        }
    }),
    ("a missing second derivative by velocity and time", DRIVEN, |m, e| {
        for k in 0..3 {
            let term = m.graph.derivative(e.momenta[k], m.time);
            e.force[k] = m.graph.add(e.force[k], term);
        }
    }),
    ("missing gyroscopic terms", DRIVEN, |m, e| {
        for k in 0..3 {
            let along: Vec<_> =
                m.coordinates.iter().map(|c| (c.position, c.velocity)).collect();
            let term = m.graph.directional(&[e.momenta[k]], &along)[0];
            e.force[k] = m.graph.add(e.force[k], term);
        }
    }),
    ("a missing gradient of L", DRIVEN, |m, e| {
        let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = m.dynamics else { return };
        let slope = m.graph.derivative(lagrangian, m.coordinates[0].position);
        e.force[0] = m.graph.sub(e.force[0], slope);
    }),
    ("a mass doubled", DRIVEN, |m, e| {
        e.mass[0][0] = m.graph.add(e.mass[0][0], e.mass[0][0]);
    }),
    ("the sign of an off-diagonal mass", DRIVEN, |m, e| {
        negated(m, &mut e.mass[0][2]);
        negated(m, &mut e.mass[2][0]);
    }),
    ("a mass matrix that is not symmetric", DRIVEN, |m, e| negated(m, &mut e.mass[2][0])),
    ("the multiplier turned", DRIVEN, |m, e| {
        e.directions[0].iter_mut().for_each(|w| negated(m, w));
    }),
    ("one component of the reaction turned", DRIVEN, |m, e| {
        negated(m, &mut e.directions[0][1]);
    }),
    ("a reaction without its component", DRIVEN, |m, e| e.directions[0][0] = m.graph.zero()),
    ("a missing time derivative of the constraint", DRIVEN, |m, e| {
        let term = m.graph.derivative(m.constraints[0].expr, m.time);
        e.drift[0] = m.graph.add(e.drift[0], term);
    }),
    ("the sign of the drift", DRIVEN, |m, e| negated(m, &mut e.drift[0])),
    ("a drift without positions", DRIVEN, |m, e| {
        e.drift[0] = m.graph.neg(m.graph.derivative(m.constraints[0].expr, m.time));
    }),
    ("the sign of the potential in the energy", DRIVEN, |m, e| {
        let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = m.dynamics else { return };
        let twice = m.graph.add(lagrangian, lagrangian);
        e.energy = m.graph.add(e.energy, twice);
    }),
    ("an energy without its linear part", DRIVEN, |m, e| {
        e.energy = m.graph.mul(m.graph.fraction(1, 2), e.energy);
    }),
    ("a holonomic drift with the wrong sign", MOVING, |m, e| negated(m, &mut e.drift[0])),
    ("a moving constraint taken as fixed", MOVING, |m, e| {
        let term = m.graph.derivative(m.constraints[0].expr, m.time);
        e.residual[0] = m.graph.sub(e.residual[0], term);
    }),
    ("a moving constraint without its second time derivative", MOVING, |m, e| {
        let rate = m.graph.derivative(m.constraints[0].expr, m.time);
        e.drift[0] = m.graph.add(e.drift[0], m.graph.derivative(rate, m.time));
    }),
    ("a holonomic multiplier turned", MOVING, |m, e| {
        e.directions[0].iter_mut().for_each(|w| negated(m, w));
    }),
    ("gravity turned", MOVING, |m, e| negated(m, &mut e.force[2])),
    ("a position constraint that is off", MOVING, |m, e| {
        e.position[0] = e.position[0].map(|φ| m.graph.add(φ, m.graph.fraction(1, 1000)));
    }),
    ("a nonlinear constraint without its slope in y'", NONLINEAR, |m, e| {
        e.jacobian[0][1] = m.graph.zero();
        e.directions[0][1] = m.graph.zero();
    }),
    ("a reaction along the positions' gradient", NONLINEAR, |m, e| {
        e.directions[0] = m.graph.gradient(m.constraints[0].expr, &m.positions());
    }),
    ("a nonlinear constraint without its time", NONLINEAR, |m, e| {
        let term = m.graph.derivative(m.constraints[0].expr, m.time);
        e.drift[0] = m.graph.add(e.drift[0], term);
    }),
    ("the coupling in the potential dropped", NONLINEAR, |m, e| {
        let xy = m.graph.mul(m.coordinates[0].position, m.coordinates[1].position);
        e.force[2] = m.graph.add(e.force[2], m.graph.mul(m.graph.fraction(3, 10), xy));
    }),
    ("`along` forgotten", SERVO, |_, e| e.directions = e.jacobian.clone()),
    ("the servo's reaction turned in x", SERVO, |m, e| negated(m, &mut e.directions[0][0])),
    ("the product of velocities dropped from the mass", SERVO, |m, e| {
        e.mass[0][1] = m.graph.zero();
        e.mass[1][0] = m.graph.zero();
    }),
];

fn broken(text: &str, fault: Option<Fault>) -> Motion {
    let model = support::model(text);
    let derivation = derive(&model, None).expect("the model has equations");
    let workspace = derivation.workspace();
    let mut dynamics = derivation.dynamics;
    if let (Dynamics::Saddle(equations), Some(fault)) = (&mut dynamics, fault) {
        fault(&workspace, equations);
    }
    let derivation = Derivation::new(&model, workspace, dynamics);
    run_derived(&derivation, &Run::default(), &mut |_, _| true)
        .unwrap_or_else(|failure| panic!("{failure:?}"))
}

#[test]
fn unbroken_models_pass() {
    for text in [DRIVEN, MOVING, NONLINEAR, SERVO] {
        let motion = broken(text, None);
        assert_eq!(
            motion.audit.verdict,
            Verdict::Pass,
            "{}: {:#?}",
            motion.title,
            motion.audit
        );
    }
}

#[test]
fn every_planted_fault_fails_the_audit() {
    assert!(FAULTS.len() >= 30);
    for (name, text, fault) in FAULTS {
        let motion = broken(text, Some(*fault));
        assert_eq!(motion.audit.verdict, Verdict::Fail, "{name}: {:#?}", motion.audit);
    }
}
