//! The length of every form of the equations, system by system, against `lengths.txt`.
//!
//! A formula may stay right and become longer, or take more work to find. Then a motion is slower and a page
//! cannot be read, and no comparison of values sees it. Counts are exact, for derivations are deterministic. A
//! change that shortens formulas changes the file: the failing test prints the new lines.

use std::fmt::Write;

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::{
    ChartPoint, Equations, Principle, canonical, cotangent, derive, divergence_formula,
    explicit, hamilton_form, kept_momenta, momenta, normal_form, quasi_velocities, reduce,
    reduced_equations, solve_saddle, split,
};
use pfaff_model::Workspace;

use crate::support::{Case, LINEAR, NONLINEAR, model, random_system};

/// A ball on a saddle, whose angular velocities are better unknowns than the rates of its angles.
const BALL: &str = "coordinates x, y, z, psi, theta, phi
    parameters m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036
    let w1 = theta'*cos(psi) + phi'*sin(theta)*sin(psi)
    let w2 = theta'*sin(psi) - phi'*sin(theta)*cos(psi)
    let w = [w1, w2, psi' + phi'*cos(theta)]
    let s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
    lagrangian m*(x'^2 + y'^2 + z'^2)/2 + I*(w[1]^2 + w[2]^2 + w[3]^2)/2 - m*g*z
    constraint roll: [x', y', z'] = R*cross(w, [-k1*x*s, -k2*y*s, s])";

/// A body that turns without constraints: its rates of rotation are the unknowns.
const TOP: &str = "coordinates psi, theta, phi
    parameters A = 1.2, C = 0.7
    let w1 = theta'*cos(phi) + psi'*sin(theta)*sin(phi)
    let w2 = psi'*sin(theta)*cos(phi) - theta'*sin(phi)
    let w3 = phi' + psi'*cos(theta)
    lagrangian A*(w1^2 + w2^2)/2 + C*w3^2/2 - 3*cos(theta)";

/// Rows with constants, repeated factors and a repeated row.
const WORDY: &str = "coordinates x, y, z, w
    parameters m = 2, k = 3
    lagrangian m*(x'^2 + y'^2)/2 + 2*m*z'^2 + w'^2*(1 + x^2)*(1 + x^2)/2 - 2*k*x*3*y - k*x*y*5
    constraint a: 2*k*z' = 4*k*y*x' + 6*k*sin(x)*sin(x)*y'
    constraint b: 3*w' - 3*x*y*z' = 2*(1 + x^2)*x'
    constraint c: 6*w' - 6*x*y*z' = 4*(1 + x^2)*x'
    force x: 2*3*k*y'*x - m*x'/m
    force w: -0.5*w'*2";

/// Terms of two weights in turn: those of `I` belong to a body whose mass is constant, which nothing shows in the sum
/// of all terms.
const TWO_WEIGHTS: &str = "coordinates psi, x, th
    parameters m = 1.3, I = 0.4
    let long = sin(x)*exp(psi) + log(2 + x^2*psi^2) + cos(x*psi)*sinh(psi) + x^3/(1 + psi^2)
    lagrangian m*(1 + x^2)*psi'^2/2 + I*(th'*cos(psi))^2/2 + m*(1 + psi^2)*x'^2/2 + I*(th'*sin(psi))^2/2 - m*long^3";

fn texts() -> Vec<(String, String)> {
    let given =
        LINEAR.iter().chain(&NONLINEAR).map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    let own = [
        ("ball on a saddle", BALL),
        ("top", TOP),
        ("wordy", WORDY),
        ("two weights", TWO_WEIGHTS),
    ];
    let own = own.map(|(n, t)| (n.to_owned(), t.to_owned()));
    let random = (40..45).map(|s| (format!("random system {s}"), random_system(s)));
    given.chain(own).chain(random).collect()
}

/// How a form of the equations is found; `None` where it does not apply.
type Find<'a> = dyn Fn(&Workspace, &Equations) -> Option<Vec<Expr>> + 'a;

/// Operations of each form of the equations; nodes that finding it adds to the graph.
fn lines(name: &str, text: &str) -> String {
    let mut out = format!("{name}\n");
    let mut tell = |form: &str, what: String| writeln!(out, "    {form}: {what}").unwrap();
    let case = Case::new(text, Principle::Chetaev, 6);
    let point = ChartPoint { t: case.state.t, q: &case.state.q, scale: &[] };
    if let Some(r) = reduce(&case.model, &case.equations.classes, point) {
        let m = r.multipliers();
        let charts: Vec<usize> = r.charts.iter().map(|c| c.candidates.len()).collect();
        let count = |es: &[Expr]| r.graph.operations(es);
        let products = r.products();
        tell("reduction", format!("{} operations, {products} products", r.operations()));
        tell("its charts", format!("pivots {:?}, candidates {charts:?}", r.pivots));
        let (mass, force, power) = (count(&r.mass), count(&r.force), count(&r.power));
        tell("its blocks", format!("mass {mass}, force {force}, power {power} operations"));
        let multipliers = m.multipliers.map(|λ| count(&λ));
        let reactions = count(&m.reaction);
        tell("its reactions", format!("{reactions} operations, multipliers {multipliers:?}"));
        tell("its graph", format!("{} nodes", r.graph.len()));
    }
    let fresh = model(text).workspace();
    let before = fresh.graph.len();
    derive(&fresh, Principle::Chetaev).unwrap();
    tell("equations", format!("{} nodes", fresh.graph.len() - before));
    let mut told = |form: &str, principle: Principle, find: &Find| {
        let model = model(text).workspace();
        let equations = derive(&model, principle).unwrap();
        let before = model.graph.len();
        let what = find(&model, &equations).map_or("none".to_owned(), |found| {
            format!("{} operations", model.graph.operations(&found))
        });
        tell(form, format!("{what}, {} nodes", model.graph.len() - before));
    };
    let small = case.n() < 5;
    let chetaev = Principle::Chetaev;
    told("explicit", chetaev, &|m, e| {
        let few = case.n() + case.m() <= 8;
        let x = few.then(|| explicit(m, e)).flatten()?;
        Some([x.accelerations, x.multipliers].concat())
    });
    told("factors", chetaev, &|m, e| {
        let x = solve_saddle(&m.graph, e, 10_000)?;
        Some([x.accelerations, x.multipliers, x.pivots].concat())
    });
    told("quasi-velocities", chetaev, &|m, e| {
        let x = quasi_velocities(m, e)?;
        Some([x.definitions, x.basis.concat(), x.offset, x.pivots].concat())
    });
    told("reduced", chetaev, &|m, e| {
        let x = reduced_equations(m, e)?;
        Some([x.velocities, x.mass.concat(), x.force].concat())
    });
    told("split", chetaev, &|m, e| {
        let x = split(m, e, None).ok()?;
        Some([x.slopes.concat(), x.drift].concat())
    });
    told("normal form", chetaev, &|m, e| {
        let x = normal_form(m, e, None).ok()?;
        Some([x.rates, x.block.concat(), x.slopes.entries].concat())
    });
    told("cotangent", chetaev, &|m, e| {
        let x = normal_form(m, e, None).ok()?;
        let x = small.then(|| cotangent(m, e, &x).ok()).flatten()?;
        Some([x.momenta, x.matrix.entries, x.right].concat())
    });
    told("divergence", chetaev, &|m, e| Some(vec![divergence_formula(m, e)?]));
    told("velocities by momenta", chetaev, &|m, e| {
        let p: Vec<Expr> =
            (0..case.n()).map(|k| m.graph.symbol(&format!("p{k}"), Role::Free)).collect();
        let (x, y) = small.then(|| canonical(m, e, &p)).flatten()?;
        Some([x, y].concat())
    });
    told("hamilton", Principle::Vakonomic, &|m, e| {
        let x = small.then(|| hamilton_form(m, e).ok()).flatten()?;
        Some([x.velocities, x.multipliers, x.forces, vec![x.hamiltonian]].concat())
    });
    told("momenta", chetaev, &|m, e| {
        let all = momenta(m, e);
        Some(all.iter().flat_map(|m| [Some(m.momentum), m.rate]).flatten().collect())
    });
    told("kept momenta", chetaev, &|m, e| {
        Some(kept_momenta(m, e).iter().map(|m| m.momentum).collect())
    });
    out
}

#[test]
fn formulas_are_as_short_as_they_were() {
    let wanted = include_str!("lengths.txt");
    let mut rest = wanted;
    for (name, text) in texts() {
        let found = lines(&name, &text);
        let Some(after) = rest.strip_prefix(found.as_str()) else {
            let all: String = texts().iter().map(|(n, t)| lines(n, t)).collect();
            panic!("{name} has other lengths; tests/lengths.txt would be\n{all}");
        };
        rest = after;
    }
    assert_eq!(rest, "", "lines without a system");
}
