//! Texts into models: values at points against formulas written by hand, families, sharing, data.

mod drawings;
mod gallery;
mod support;

use std::fmt::Write as _;
use std::io::Write as _;

use pfaff_expr::{Node, Role};
use pfaff_model::{
    AffineWord, Dynamics, MultiplierStart, NoFiles, Overrides, Quantity, Source, TerminalValue,
    Workspace, read_model,
};

use support::*;

#[test]
fn sizes_follow_set() {
    let overrides = Overrides { set: Some("N=20, m=2*2".into()), initial: None };
    let path = format!("{}/tests/models/trailers.pfaff", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the model is in the repository");
    let model = read_with(&text, &overrides);
    assert_eq!(model.coordinates.len(), 23);
    assert_eq!(model.constraints.len(), 20);
    assert_eq!(model.parameters[1].value, 4.0);
}

/// Sizes, indices and orders that no word of a machine has, or no memory.
#[test]
fn whole_numbers_have_bounds() {
    for (line, said) in [
        ("let a = q[-9223372036854775808]", "an index must lie between -2^53 and 2^53"),
        ("let a = sum(i = -9223372036854775808..0, i)", "must lie between -2^53 and 2^53"),
        ("coordinates w[1e300]", "a size must lie between -2^53 and 2^53"),
        ("let a = integral(q[1], 1e19)", "orders go up to 1000"),
        ("let a = caputo(q[1], 1000.5)", "orders go up to 1000"),
    ] {
        let text = format!("coordinates q[2]\nlagrangian dot(q', q')/2\n{line}\n");
        let read = read_model(Source::new("m", &text), &Overrides::default(), &NoFiles);
        let errors = read.expect_err("the number is too large");
        assert!(errors.diagnostics[0].message.contains(said), "{line}: {errors}");
    }
}

#[test]
fn chains_grow_linearly() {
    let path = format!("{}/tests/models/trailers.pfaff", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the model is in the repository");
    let size = |n: usize| {
        let overrides = Overrides { set: Some(format!("N={n}")), initial: None };
        read_with(&text, &overrides).graph.len() as f64
    };
    let (a, b, c) = (size(20), size(40), size(80));
    assert!(b / a <= 2.2 && c / b <= 2.2, "{a} {b} {c}");
    let begin = std::time::Instant::now();
    size(80);
    writeln!(std::io::stdout(), "80 trailers are read in {:?}", begin.elapsed())
        .expect("stdout");
}

#[test]
fn prefix_sums_are_shared() {
    let size = |n: usize| {
        let model = read(&format!(
            "parameters N = {n}, l = 1\ncoordinates th[N]\n\
             let X[i = 1..N] = sum(j = 1..i, l*cos(th[j]))\n\
             kinetic sum(i = 1..N, X[i]'^2)"
        ));
        model.graph.len() as f64
    };
    let (a, b) = (size(200), size(400));
    assert!(b / a <= 2.2, "{a} {b}");
}

const BODY: &str = "coordinates phi[2,2]\nlagrangian tr(transpose(phi')*phi')/2\n";

#[test]
fn affine_words_have_their_rows() {
    let rows = |line: &str| {
        let model = read(&format!("{BODY}constraint c: {line}"));
        (names(&model).join(" "), model)
    };
    let (gyro, model) = rows("gyroscopic(phi)");
    assert_eq!(gyro, "c[1,1] c[1,2] c[2,2]");
    let (q, v) = state(&model);
    let g12 = v[0] * q[1] + q[0] * v[1] + v[2] * q[3] + q[2] * v[3];
    close(evaluate(&model, model.constraints[1].expr), g12);
    let (free, model) = rows("rotation_free(phi)");
    assert_eq!(free, "c[1,2]");
    // (φᵀφ̇)₁₂ − (φᵀφ̇)₂₁
    let (q, v) = state(&model);
    let w = q[0] * v[1] + q[2] * v[3] - q[1] * v[0] - q[3] * v[2];
    close(evaluate(&model, model.constraints[0].expr), w);
    let (conformal, model) = rows("conformal(phi)");
    assert_eq!(conformal, "c[1,1] c[1,2]");
    let (q, v) = state(&model);
    let s11 = q[0] * v[0] + q[2] * v[2];
    let s22 = q[1] * v[1] + q[3] * v[3];
    close(evaluate(&model, model.constraints[0].expr), (s11 - s22) / 2.0);
    let Some(AffineWord::Conformal { green, eta }) = &model.constraints[0].word else {
        panic!("the word is kept")
    };
    close(evaluate(&model, green[0][1]), q[0] * q[1] + q[2] * q[3]);
    assert_eq!(eta[0], [model.graph.one(), model.graph.zero()]);
}

#[test]
fn conformal_counts_rows_with_a_metric_of_parameters() {
    let model = read(
        "coordinates phi[3,3]\nparameters g = [[2, 0.1, 0], [0.1, 1, 0.3], [0, 0.3, 1.5]], \
         eta = [[1, 0.2, 0], [0.2, 2, 0], [0, 0, 3]]\n\
         lagrangian tr(transpose(phi')*phi')/2\nconstraint c: conformal(phi, g, eta)\n\
         constraint r: rotation_free(phi, g)\nconstraint v: gyroscopic(phi, g)",
    );
    let count = |prefix: &str| names(&model).iter().filter(|n| n.starts_with(prefix)).count();
    assert_eq!((count("c["), count("r["), count("v[")), (5, 3, 6));
    // tr(η⁻¹ P) = 0 for the traceless part: checked with the rows and the missing one at a point.
    assert_eq!(names(&model)[..5], ["c[1,1]", "c[1,2]", "c[1,3]", "c[2,2]", "c[2,3]"]);
}

#[test]
fn matrix_constraints_keep_independent_rows() {
    let rows = |line: &str| {
        let model = read(&format!("{BODY}constraint c: {line}"));
        names(&model).join(" ")
    };
    assert_eq!(rows("phi' = transpose(phi')"), "c[1,2]");
    assert_eq!(rows("transpose(phi)*phi = identity(2)"), "c[1,1] c[1,2] c[2,2]");
    assert_eq!(rows("phi' = 0"), "c[1,1] c[1,2] c[2,1] c[2,2]");
    assert_eq!(rows("[phi'[1,1], 2*phi'[1,1], phi'[1,2]] = 0"), "c[1] c[3]");
    assert_eq!(rows("skew(phi') = 0"), "c[1,2]");
}

#[test]
fn primes_commute_with_components() {
    let model = read(
        "coordinates q[3], phi[2,2]\nlagrangian dot(q', q') + tr(phi')\n\
         constraint a: q[2]' - q'[2] + phi'[1,2] - phi[1,2]' + q[1]' = 0\n\
         constraint b: (q + q)'[3] = 0",
    );
    assert_eq!(model.constraints[0].expr, model.coordinates[0].velocity);
    close(
        evaluate(&model, model.constraints[1].expr),
        2.0 * value_of(&model, model.coordinates[2].velocity),
    );
}

#[test]
fn families_recur_with_two_indices() {
    let model = read(
        "coordinates x\nparameters N = 4\nlet P[0, j = 0..N] = 1\n\
         let P[i = 1..N, 0] = 1\n\
         let P[i = 1..N, j = 1..N] = P[i-1, j] + P[i, j-1]\n\
         let Q[i = -2..2, j = i..2] = i*j*x\n\
         lagrangian P[4,4]*x'^2 + Q[-2,2]",
    );
    // Pascal's triangle: P[4,4] is 8 over 4.
    let (q, v) = state(&model);
    close(evaluate(&model, lagrangian(&model)), 70.0 * v[0] * v[0] - 4.0 * q[0]);
}

#[test]
fn constant_conditions_hide_the_other_branch() {
    let model = read(
        "parameters N = 3, big = 7\ncoordinates th[N], x\n\
         let X[i = 0..N] = if(i == 0, x, X[i-1] + th[i])\n\
         let y = if(big > 5, x, unknown + th[99])\n\
         lagrangian X[3]'^2/2 + y'^2 + if(x > 0, x, -x)",
    );
    let (q, v) = state(&model);
    let sum: f64 = v.iter().sum();
    close(evaluate(&model, lagrangian(&model)), sum * sum / 2.0 + v[3] * v[3] + q[3]);
}

#[test]
fn parameters_keep_their_structure() {
    let model = read_with(
        "coordinates x\nparameters m, J = [[1, 0], [0, 2*3]], z = 0, w = z + J[2,2]/4\n\
         lagrangian m*x'^2/2*J[1,1] + J[1,2] + z*x",
        &Overrides { set: Some("m = 0.1, J[1,1] = 5".into()), initial: None },
    );
    let listed: Vec<(&str, f64)> =
        model.parameters.iter().map(|p| (p.name.as_str(), p.value)).collect();
    let expected = [("m", 0.1), ("J[1,1]", 5.0), ("J[2,2]", 6.0), ("z", 0.0), ("w", 1.5)];
    assert_eq!(listed, expected);
    // The scalar z stays a symbol although it is 0.
    assert!(model.graph.contains(lagrangian(&model), &[model.parameters[3].symbol]));
}

#[test]
fn forces_have_components() {
    let model = read(
        "coordinates x, th, phi[2,2]\nparameters l = 2, c = 3\n\
         lagrangian x'^2 + th'^2 + tr(transpose(phi')*phi')\n\
         force x: -c*x'\nforce phi: 2*phi\nforce phi[2,1]: x\n\
         force at [x + l*sin(th), -l*cos(th)]: [0, -1]\ndissipation c*th'^2/2",
    );
    let (q, v) = state(&model);
    let component = |f: usize, k: usize| evaluate(&model, model.forces[f].components[k]);
    let listed: Vec<&str> = model.forces.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(
        listed,
        [
            "force x",
            "force phi",
            "force phi[2,1]",
            "force at [x + l*sin(th), -l*cos(th)]",
            "dissipation"
        ]
    );
    close(component(0, 0), -3.0 * v[0]);
    close(component(1, 3), 2.0 * q[3]);
    close(component(2, 4), q[0]);
    close(component(2, 3), 0.0);
    close(component(3, 0), 0.0);
    close(component(3, 1), -2.0 * libm::sin(q[1]));
    close(component(4, 1), -3.0 * v[1]);
    assert!(model.forces.iter().all(|f| f.components.len() == 6));
}

#[test]
fn equations_stand_as_they_are() {
    let model = read(
        "parameters k = 2, alpha = 0.5\ncoordinates q[2], x\n\
         equation q'' = -k*q\nequation damped: x'' + caputo(x, alpha) + caputo(x, 1) = 0",
    );
    let Dynamics::Equations(equations) = &model.dynamics else {
        panic!("equations were given")
    };
    let listed: Vec<&str> = equations.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(listed, ["equation 1", "equation 2", "damped"]);
    let c = &model.coordinates[1];
    let expected = value_of(&model, c.acceleration) + 2.0 * value_of(&model, c.position);
    close(evaluate(&model, equations[1].expr), expected);
    assert!(model.graph.contains(equations[2].expr, &[model.coordinates[2].velocity]));
}

#[test]
fn whole_orders_are_ordinary_derivatives() {
    let model = read(
        "coordinates x\nparameters a = 1, b = 1, h = 0.5\nlagrangian x'^2\n\
         constraint one: caputo(x, a) + rl(x, b) + caputo_right(x, 1) + integral(x, 0) = h\n\
         constraint two: integral(x, h) + memory(exp(-s), x') + mean(x) = 0",
    );
    let (q, v) = state(&model);
    close(evaluate(&model, model.constraints[0].expr), v[0] + v[0] - v[0] + q[0] - 0.5);
    let live = model.graph.live(&[model.constraints[1].expr]);
    let memories = live.iter().filter(|&&e| matches!(model.graph.node(e), Node::Memory(..)));
    assert_eq!(memories.count(), 3);
}

#[test]
fn initial_values_use_each_other() {
    let text = "parameters a = 2\ncoordinates x, y, phi[2,2]\n\
                lagrangian x'^2 + y'^2 + tr(transpose(phi')*phi')\n\
                constraint c: x' = y'\n\
                initial y = a*x, x = 3, x' = y + x, phi = [[1, 0], [0, 1]], phi[1,2] = y\n\
                initial mu(c) = a, multipliers = zero, phi' = 0";
    let model = read(text);
    let value = |model: &Workspace, quantity| {
        let datum = model.initial.iter().find(|d| d.quantity == quantity).expect("given");
        evaluate(model, datum.value)
    };
    assert_eq!(value(&model, Quantity::Coordinate(1, 0)), 6.0);
    assert_eq!(value(&model, Quantity::Coordinate(0, 1)), 9.0);
    assert_eq!(value(&model, Quantity::Coordinate(3, 0)), 6.0);
    assert_eq!(value(&model, Quantity::Multiplier(0)), 2.0);
    assert!(matches!(model.multipliers, Some(MultiplierStart::Zero(_))));
    assert_eq!(model.initial.len(), 3 + 4 + 4 + 1);
    let overrides = Overrides { set: None, initial: Some("x = 5, phi = 7*phi'".into()) };
    let wrong = read_model(Source::new("m", text), &overrides, &NoFiles);
    assert!(wrong.is_ok(), "a matrix may use another one");
    let overrides = Overrides { set: None, initial: Some("x = 5, phi[1,2] = 8".into()) };
    let model = read_with(text, &overrides);
    assert_eq!(value(&model, Quantity::Coordinate(1, 0)), 10.0);
    assert_eq!(value(&model, Quantity::Coordinate(3, 0)), 8.0);
    assert_eq!(value(&model, Quantity::Coordinate(2, 0)), 1.0);
}

#[test]
fn final_values_may_be_free_or_shifted() {
    let model = read(
        "coordinates x, q[2]\nparameters L = 2\nlagrangian x'^2 + dot(q', q')\n\
         final x = initial + 2*L, t = free, q = initial + [1, L], q[2]' = free\n\
         solve t = 0..1",
    );
    let shifted = |k: usize| match &model.terminal[k].value {
        TerminalValue::Shifted(e) => evaluate(&model, *e),
        other => panic!("{other:?}"),
    };
    assert_eq!(shifted(0), 4.0);
    assert!(matches!(model.terminal[1].value, TerminalValue::Free));
    assert_eq!(model.terminal[1].quantity, Quantity::Time);
    assert_eq!((shifted(2), shifted(3)), (1.0, 2.0));
    assert_eq!(model.terminal[4].quantity, Quantity::Coordinate(2, 1));
}

#[test]
fn results_are_symbols() {
    let model = read(
        "coordinates x, y\nlagrangian x'^2 + y'^2\nconstraint w[i = 1..2]: i*x' = y'\n\
         observe f = lambda(w[2]) + mu(w[1])' + reaction(x) + energy + x''\n\
         observe all = lambda(w)\nevent stop rising hit: mu(w[2]) - y\n\
         symmetry shift: x = 1, y = x",
    );
    let g = &model.graph;
    let r = &model.results;
    let f = model.observed[0].expr;
    for symbol in [r.lambda[1], r.mu_rate[0], r.reaction[0], r.energy] {
        assert!(g.contains(f, &[symbol]));
    }
    assert_eq!(model.observed[2].name, "all[2]");
    assert_eq!(model.observed[2].expr, r.lambda[1]);
    assert!(model.events[0].stop && g.contains(model.events[0].expr, &[r.mu[1]]));
    assert_eq!(g.symbol_of(r.lambda[0]).expect("a symbol").role, Role::Free);
    assert_eq!(model.symmetries[0].generator, [g.one(), model.coordinates[0].position]);
}

#[test]
fn functions_of_the_user() {
    let model = read(
        "coordinates x, y\nlet f(u, v) = u*v + [u, v][1]\nlet g(x) = f(x, 2)^2\n\
         let R(a) = [[cos(a), -sin(a)], [sin(a), cos(a)]]\n\
         lagrangian g(x' + y') + (R(x)*R(x)')[1,1]",
    );
    let (q, v) = state(&model);
    let s = v[0] + v[1];
    let spin =
        -libm::cos(q[0]) * libm::sin(q[0]) * v[0] - libm::sin(q[0]) * libm::cos(q[0]) * v[0];
    close(evaluate(&model, lagrangian(&model)), 9.0 * s * s + spin);
}

#[test]
fn long_sums_and_deep_functions_need_no_stack() {
    let sum = vec!["x"; 100_000].join(" + ");
    let model = read(&format!("coordinates x\nlagrangian x'^2 + {sum}"));
    let (q, v) = state(&model);
    let value = evaluate(&model, lagrangian(&model));
    // A sum of 10⁵ terms rounds 10⁵ times.
    assert!((value - (v[0] * v[0] + 1e5 * q[0])).abs() < 1e-6);
    let mut text = String::from("coordinates x\nlet f0(u) = u + 1\n");
    for i in 1..3000 {
        writeln!(text, "let f{i}(u) = f{}(u) + u", i - 1).expect("a string");
    }
    let model = read(&format!("{text}lagrangian x'^2 + f2999(x)"));
    close(evaluate(&model, lagrangian(&model)), v[0] * v[0] + 3000.0 * q[0] + 1.0);
}

#[test]
fn matrices_and_vectors() {
    let model = read(
        "coordinates q[3], a, b\nparameters J = [[2, 1, 0], [1, 3, 1], [0, 1, 4]]\n\
         lagrangian dot(q', q') + a'^2 + b'^2\n\
         observe one = inv(J)*J\nobserve d = det(J)\nobserve p = J^3 - J*J*J\nobserve m = J^-1*J\n\
         observe h = hat(q)*[1, 2, 3] - cross(q, [1, 2, 3])\nobserve v = vee(hat(q)) - q\n\
         observe r = rotation([0, 0, -2], a) - rotation_z(-a)\n\
         observe u = rotation([1, 1, 1], 2*pi/3)*[1, 0, 0]\n\
         observe n = norm(q)^2 - dot(q, q)\nobserve s = sym(J) + skew(J) - J\n\
         observe w = product(i = 1..3, J[i,i]) + sum(i = 5..4, 1/0) + product(i = 2..1, 7)\n\
         observe quad = transpose(q)*J*q - dot(q, J*q)\nobserve outer = q*transpose(q)\n\
         observe mm = min(a, b, 7) + max(a, b)\nobserve g = gamma(5) + digamma(1)",
    );
    let value = |name: &str| {
        let found = model.observed.iter().find(|o| o.name == name);
        evaluate(&model, found.unwrap_or_else(|| panic!("{name}")).expr)
    };
    close(value("one[1,1]"), 1.0);
    close(value("one[1,2]"), 0.0);
    close(value("d"), 2.0 * (12.0 - 1.0) - 4.0);
    for name in ["p[1,2]", "m[1,3]", "h[2]", "v[3]", "r[1,2]", "r[2,2]", "n", "s[1,2]", "quad"]
    {
        close(value(name), 0.0);
    }
    let (q, _) = state(&model);
    close(value("outer[1,3]"), q[0] * q[2]);
    close(value("u[1]"), 0.0);
    close(value("u[2]"), 1.0);
    close(value("w"), 25.0);
    let (a, b) = (q[3], q[4]);
    close(value("mm"), a + b);
    close(value("g"), 24.0 - 0.577_215_664_901_532_9);
}

#[test]
fn unnamed_constraints_are_numbered_by_position() {
    let model = read(
        "coordinates x, y, z\nlagrangian x'^2 + y'^2 + z'^2\nconstraint x' = y'\n\
         constraint named: y' = 1\nconstraint z' = x\nconstraint s along [1, 0, x]: z = t",
    );
    assert_eq!(names(&model), ["c1", "named", "c3", "s"]);
    assert_eq!(model.constraints[3].along.as_ref().map(Vec::len), Some(3));
    assert_eq!(constraints(&model).len(), 4);
}

/// What makes a matrix of coordinates a body, and what does not.
#[test]
fn signs_of_a_body() {
    let bodies = |lines: &str| {
        let head = "coordinates r[2], phi[2,2]\nparameters J = [[1, 0], [0, 2]], g = [[2, 0], [0, 1]], M = 3\n";
        read(&format!("{head}{lines}\ninitial phi = identity(2)\n")).bodies.clone()
    };
    let plain = "kinetic tr(transpose(phi')*phi')/2 + dot(r', r')/2\n";
    for inertia in [
        "kinetic tr(transpose(phi')*phi'*J)/2",
        "kinetic tr(transpose(phi')*g*phi'*J)/2",
        "kinetic tr(phi'*J*transpose(phi'))/2",
        "lagrangian tr(J*transpose(phi')*phi')/2 - M*r[2]",
        "let T = tr(M*transpose(phi')*phi'*inertia_box(M, 1, 2))/2\nkinetic T",
    ] {
        let found = bodies(inertia);
        assert!(found.len() == 1 && !found[0].named && !found[0].let_go, "{inertia}");
    }
    for sign in [
        "potential log(det(phi))^2",
        "potential -det(phi)",
        "let d = det(phi)\nconstraint c: d = 1",
        "force phi: -transpose(inv(phi))",
        "force density at r + phi*a for a in disc(M, 1): r",
    ] {
        assert_eq!(bodies(&format!("{plain}{sign}")).len(), 1, "{sign}");
    }
    for no_sign in [
        "",
        "observe area = det(phi)",
        "let area = det(phi)\nobserve s = area^2",
        "event flat: det(phi)",
        "observe w = (inv(phi)*phi')[1,2]",
        "kinetic M*tr(transpose(phi')*g*phi')",
    ] {
        assert!(bodies(&format!("{plain}{no_sign}")).is_empty(), "{no_sign}");
    }
    let let_go =
        bodies("kinetic tr(transpose(phi')*phi'*J)/2\nevent continue passage: det(phi)");
    assert!(let_go[0].let_go && !let_go[0].named);
    assert!(bodies(&format!("{plain}observe G = green(phi)"))[0].named);
}
