//! Texts of systems that the tests share.

use super::Numbers;

/// Constraints linear or affine in the velocities, each with what it is good for.
pub(crate) const LINEAR: [(&str, &str); 11] = [
    (
        "sleigh: a pair of coefficients with constant norm",
        "coordinates x, y, phi
         parameters m = 1.3, J = 0.5, a = 0.2
         let X = x + a*cos(phi)
         let Y = y + a*sin(phi)
         lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2 - 0.4*x*phi
         constraint blade: y'*cos(phi) - x'*sin(phi) = 0
         force x: 0.3*y' - 0.2*x'
         force phi: -0.5*phi' + t",
    ),
    (
        "contact particle: a constant coefficient",
        "coordinates x, y, z
         lagrangian (x'^2 + y'^2 + z'^2)/2 - x*y + 0.3*x*y'
         constraint contact: z' = y*x'",
    ),
    (
        "affine, with time in everything",
        "coordinates x, y, z
         parameters k = 0.7
         lagrangian (1 + t^2/4)*(x'^2 + y'^2)/2 + z'^2*(1 + x^2)/2 + t*x'*y - sin(t)*z
         constraint ratio: k*t*x' - y' = sin(t) + x
         force z: -0.1*z'*t",
    ),
    (
        "two rows, the second with the velocities of the first",
        "coordinates x, y, z, w
         lagrangian (x'^2 + 2*y'^2 + z'^2 + w'^2*(2 + sin(x)))/2 - z*x
         constraint slope: y' = z*x' + w'
         constraint bend: z' = w*x' + y*y'",
    ),
    (
        "a chart: no coefficient is constant",
        "coordinates x, y, z
         lagrangian (x'^2 + y'^2 + z'^2)/2 - x*z^2
         constraint tilt: x*x' + (1 + y)*y' + sin(z)*z' = 0.3",
    ),
    (
        "mass that depends on position, drift beside the constraint",
        "coordinates x, y, z
         lagrangian (2 + cos(y))*x'^2/2 + y'^2/2 + (1 + x^2)*z'^2/2 + 0.4*x'*y'*sin(z) + y*z' - x^2*z
         constraint c: z' - x*y' = y^2",
    ),
    (
        "disk: two pivots, both constant",
        "coordinates phi, psi, x, y
         parameters m = 1, R = 0.4, g = 9.81, beta = 0.2
         kinetic m*(x'^2 + y'^2)/2 + 0.3*phi'^2/2 + 0.2*psi'^2/2
         potential -m*g*sin(beta)*x + 0.1*psi^2
         constraint roll_x: x' = R*cos(psi)*phi'
         constraint roll_y: y' = R*sin(psi)*phi'",
    ),
    (
        "robot: a turned pair",
        "coordinates x, y, th, p1, p2
         parameters m = 3, J = 0.4, Jw = 0.02, d = 0.1, r = 0.1, b = 0.25
         let ahead = [cos(th), sin(th)]
         let left = [-sin(th), cos(th)]
         let P = [x, y]
         let C = P + d*ahead
         kinetic m*dot(C', C')/2 + J*th'^2/2 + Jw*(p1'^2 + p2'^2)/2
         constraint side: dot(left, P') = 0
         constraint forward: dot(ahead, P') = r*(p1' + p2')/2
         constraint turn: th' = r*(p1' - p2')/(2*b)
         force p1: 0.2 - 0.1*p1'",
    ),
    (
        "ball: forms of the model as quasi-velocities",
        "coordinates psi, th, phi, x, y
         parameters m = 1, r = 0.5
         let I = 2/5*m*r^2
         let R = rotation_z(psi)*rotation_x(th)*rotation_z(phi)
         let omega = vee(R'*transpose(R))
         let centre = [x, y, 0]
         kinetic m*dot(centre', centre')/2 + I*dot(omega, omega)/2
         potential 0.3*x
         let slip = centre' + cross(omega, [0, 0, -r])
         constraint roll_x: slip[1] = 0
         constraint roll_y: slip[2] = 0.2*y",
    ),
    (
        "snake: a chain",
        "parameters N = 3, m = 1, J = 0.1, l = 0.5
         coordinates x, y, th[0..N]
         let X[0] = x
         let Y[0] = y
         let X[i = 1..N] = X[i-1] - l*cos(th[i])
         let Y[i = 1..N] = Y[i-1] - l*sin(th[i])
         kinetic sum(i = 0..N, m*(X[i]'^2 + Y[i]'^2)/2 + J*th[i]'^2/2)
         constraint edge[i = 0..2]: Y[i]'*cos(th[i]) - X[i]'*sin(th[i]) = 0",
    ),
    (
        "without constraints: a double pendulum",
        "coordinates a, b
         parameters m = 1, l = 1, g = 9.81
         let down(u) = l*[sin(u), -cos(u)]
         let P = down(a)
         let Q = P + down(b)
         kinetic m*(dot(P', P') + dot(Q', Q'))/2
         potential m*g*(P[2] + Q[2])
         force a: -0.2*a' + 0.1*b'",
    ),
];

/// Constraints that the reduction does not take.
pub(crate) const NONLINEAR: [(&str, &str); 4] = [
    (
        "Appell and Hamel",
        "coordinates x, y, z
         lagrangian (x'^2 + y'^2) + z'^2/4 - 2*z + 0.2*x*y'
         constraint wheel: z' = 0.6*sqrt(x'^2 + y'^2)",
    ),
    (
        "prescribed speed",
        "coordinates x, y
         lagrangian (2 + sin(x))*x'^2/2 + y'^2/2 + 0.3*x'*y' - x*y
         constraint pace: x'^2 + x*x'*y' + y'^2*t = 1 + t^2
         force y: x'*y'",
    ),
    (
        "holonomic and nonlinear together",
        "coordinates x, y, z
         lagrangian (x'^2 + y'^2 + z'^2)/2 - z*x
         constraint ring: x^2 + y^2 + t*z = 3
         constraint pace: x'^2 + z'^2 = 1 + y^2",
    ),
    (
        "reaction along a given direction",
        "coordinates x, y, z
         lagrangian (x'^2 + y'^2 + 2*z'^2)/2 - x*z
         constraint push along [1, x, -y]: z' = y*x'",
    ),
];

/// A Lagrangian with a mass that depends on everything, and constraints linear or affine in the velocities.
pub(crate) fn random_system(seed: u64) -> String {
    let mut n = Numbers::new(seed);
    let count = 3 + n.below(2);
    let q: Vec<String> =
        ["x", "y", "z", "w"][..count].iter().map(|s| (*s).to_owned()).collect();
    let pick = |n: &mut Numbers| q[n.below(count)].clone();
    let c = |n: &mut Numbers| format!("({:.2})", n.between(-0.4, 0.4));
    let mut text = format!("coordinates {}\nlagrangian 0", q.join(", "));
    for x in &q {
        text += &format!(" + (2 + {}*sin({}))*{x}'^2/2", c(&mut n), pick(&mut n));
        text += &format!(
            " + {}*{}*{x}' + {}*{x}^2*{}",
            c(&mut n),
            pick(&mut n),
            c(&mut n),
            pick(&mut n)
        );
    }
    let (i, j) = (n.below(count - 1), count - 1);
    text += &format!(" + {}*{}'*{}'*cos({} + t)", c(&mut n), q[i], q[j], pick(&mut n));
    for a in 0..=n.below(count - 2) {
        let (x, y) = (&q[a], &q[(a + 1) % count]);
        let mut terms = String::new();
        for s in q.iter().filter(|s| *s != x) {
            terms += &format!(" + {}*{}*{s}'", c(&mut n), pick(&mut n));
        }
        text += &format!(
            "\nconstraint c{a}: (1 + {}*{y})*{x}'{terms} = {}*t*{y}",
            c(&mut n),
            c(&mut n)
        );
    }
    text + &format!("\nforce {}: {}*{}' + {}*t\n", q[0], c(&mut n), q[1], c(&mut n))
}
