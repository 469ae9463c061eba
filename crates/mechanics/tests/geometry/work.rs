//! The work of each analysis, system by system, against `work.txt`: nodes that it adds to the graph.
//!
//! What is skipped because it is known to be zero, or was tried before, does not change a result. It is there to save
//! work, and only counts of work see whether it does. Counts are exact, for derivations are deterministic. A change
//! that saves work changes the file: the failing test prints the new lines.

use std::fmt::Write;

use pfaff_mechanics::{
    Distribution, Equations, Principle, abnormal, abnormal_places, closedness,
    constrained_system, derive, first_integrals, foliation, generates_everywhere, geometry,
    helmholtz, integrable, integrals, is_adapted, kept_momenta, lagrange_space, lepage,
    momenta, normal_form, prescribed_speed, split,
};
use pfaff_model::Workspace;

use crate::support::model;

/// Coordinates and constraints of systems whose Lagrangian is half a sum of squares, unless one is written.
const SYSTEMS: [(&str, &str); 22] = [
    ("x, y", ""),
    ("x, y, z", "constraint c: z' = y*x'"),
    ("x, y, z", "constraint c: z' = y^2*x'"),
    ("x, y, z", "constraint c: z' = y*x' + 1"),
    ("x, y, z", "constraint c: z' = t*y*x' + y"),
    ("x, y, z", "constraint c: z' = y*z*x'"),
    ("x, y, z", "constraint c: x*x' + y*y' + z' = 0"),
    ("x, y, z", "constraint c: x*y*z' + y*z*x' + x*z*y' = 0"),
    ("x, y, z", "constraint c: (1 + x^2)*z' = 2*x*z*x' + y'"),
    ("x, y, z", "constraint c: z'^2 = x'^2 + y'^2"),
    ("x, y, th", "constraint c: y'*cos(th) = x'*sin(th)"),
    ("x, y, th, ph", "constraint a: x' = cos(ph)*th'\nconstraint b: y' = sin(ph)*th'"),
    ("x, w, z, y", "constraint a: y' = z*x'\nconstraint b: z' = w*x'"),
    ("x, y, u, v, z", "constraint c: z' = x*y' + 3*u*v'"),
    ("x, y, u, z, w", "constraint a: z' = x*(2*y' + 3*u')\nconstraint b: w' = x*(4*y' + 6*u')"),
    ("x, y, z, w", "constraint a: z' = y^2*x'\nconstraint b: w' = y^2*x' + z*z'"),
    ("x, y, z, w", "constraint a: z' = y*x' + x*y'\nconstraint b: w' = exp(x)*sin(y)*x'"),
    (
        "x, a, b, c, d",
        "constraint p: b' = a*x'\nconstraint q: c' = b*x'\nconstraint r: d' = c*x'",
    ),
    ("x, y", "constraint c: x'^2 + y'^2 = 1 + t^2"),
    (
        "x, y, z",
        "constraint c: z' = y*x'\nforce x: -x - y\nforce y: -x + z'\nforce z: -y' - z^2",
    ),
    (
        "th, ph, z",
        "kinetic (th'^2 + sin(th)^2*ph'^2 + z'^2)/2\npotential cos(th)\nconstraint c: z' = cos(th)*ph'",
    ),
    (
        "x, y, z",
        "kinetic ((1 + x^2)*x'^2 + y'^2 + exp(y)*z'^2)/2 + x*y'\npotential x*y\nconstraint c: z' = x*y'",
    ),
];

/// An analysis; its result is tested elsewhere.
type Analysis = dyn Fn(&Workspace, &Equations);

fn ignored<T>(_: T) {}

fn lines(coordinates: &str, rest: &str) -> String {
    let kinetic: Vec<String> = coordinates.split(", ").map(|c| format!("{c}'^2")).collect();
    let lagrangian = if rest.starts_with("kinetic") {
        String::new()
    } else {
        format!("lagrangian ({})/2\n", kinetic.join(" + "))
    };
    let text = format!("coordinates {coordinates}\n{lagrangian}{rest}");
    let mut out = format!("{}\n", text.trim_end().replace('\n', "; "));
    let mut told = |name: &str, analysis: &Analysis| {
        let m = model(&text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        let before = m.graph.len();
        analysis(&m, &e);
        writeln!(out, "    {name}: {} nodes", m.graph.len() - before).unwrap();
    };
    told("integrability", &|m, e| ignored(integrable(m, e)));
    told("first integrals", &|m, e| ignored(first_integrals(m, e)));
    told("reach", &|m, e| ignored(generates_everywhere(m, e)));
    told("abnormal places", &|m, e| ignored(abnormal_places(m, e)));
    told("flag and integrals", &|m, e| {
        let Ok(s) = split(m, e, None) else { return };
        let d = Distribution::new(m, &s);
        let flag = d.flag(&m.graph);
        ignored(integrals(&m.graph, &d, &flag));
    });
    told("abnormal directions", &|m, e| {
        let (Ok(s), Ok(f)) = (split(m, e, None), geometry(m, e, None)) else { return };
        let d = Distribution::new(m, &s);
        if d.without_drift().is_some() {
            return;
        }
        ignored(abnormal(&m.graph, &d, &d.flag(&m.graph), &f.bundle_curvature, &e.jacobian));
    });
    told("connection", &|m, e| ignored(geometry(m, e, None)));
    told("foliation", &|m, e| {
        let Ok(n) = normal_form(m, e, None) else { return };
        ignored(foliation(m, e, &n));
        ignored(is_adapted(m, &n));
    });
    told("constrained system", &|m, e| {
        let Ok(n) = normal_form(m, e, None) else { return };
        ignored(constrained_system(m, e, &n).and_then(|s| s.accelerations(m)));
        ignored(lepage(m, e));
    });
    told("Lagrange space", &|m, e| {
        let space = lagrange_space(m, e);
        ignored(space.semispray.map(|spray| spray.connection(m)));
        ignored(closedness(m, &e.jacobian, &e.multipliers));
    });
    told("speed", &|m, e| ignored(prescribed_speed(m, e)));
    told("momenta", &|m, e| ignored(momenta(m, e)));
    told("kept momenta", &|m, e| ignored(kept_momenta(m, e)));
    told("potential", &|m, _| {
        m.forces.iter().for_each(|f| ignored(helmholtz(m, &f.components)));
    });
    out
}

#[test]
fn analyses_take_as_much_work_as_they_did() {
    let found: String = SYSTEMS.iter().map(|(names, rest)| lines(names, rest)).collect();
    let wanted = include_str!("work.txt");
    assert!(found == wanted, "other counts; tests/geometry/work.txt would be\n{found}");
}
