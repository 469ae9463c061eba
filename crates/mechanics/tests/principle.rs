//! The blocks of (K) under each principle, against finite differences along curves.

use pfaff_expr::{Expr, Memory};
use pfaff_mechanics::{
    Class, Principle, Refusal, adjoint, derive, fractional_equations, ordinary,
};
use pfaff_model::Workspace;

use crate::support::{
    Case, LINEAR, NONLINEAR, all_close, close, dot, model, random_system, slope,
};

fn all_texts() -> Vec<(String, String)> {
    let given =
        LINEAR.iter().chain(&NONLINEAR).map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    given.chain((0..12).map(|s| (format!("random system {s}"), random_system(s)))).collect()
}

/// $M\ddot q - f = [L] - Q$ for any accelerations, and $A\ddot q - b = \dot\psi$.
#[test]
fn blocks_are_lagranges_equations() {
    for (name, text) in all_texts() {
        let case = Case::new(&text, Principle::Chetaev, 7);
        let (e, s) = (&case.equations, &case.state);
        let momenta: Vec<f64> =
            (0..case.n()).map(|k| case.by_velocity(s, k, &|s| case.lagrangian(s))).collect();
        all_close(&case.values(&e.momenta), &momenta, &name);
        let euler = case.euler(s, &|s| case.lagrangian(s));
        let (mass, force, given) = (case.rows(&e.mass), case.values(&e.force), case.forces(s));
        for k in 0..case.n() {
            close(dot(&mass[k], &s.a) - force[k], euler[k] - given[k], &name);
        }
        let (jacobian, drift) = (case.rows(&e.jacobian), case.values(&e.drift));
        let (directions, residual) = (case.rows(&e.directions), case.values(&e.residual));
        for a in 0..case.m() {
            let rate = slope(|h| case.residual(&s.moved(h), a));
            close(dot(&jacobian[a], &s.a) - drift[a], rate, &name);
            all_close(&directions[a], &case.direction(s, a), &name);
            close(residual[a], case.residual(s, a), &name);
        }
        assert!(e.multipliers.is_empty() && e.dependent.is_empty() && e.undecided.is_empty());
        let terms = &e.multiplier_terms;
        let zero = case.model.graph.zero();
        assert!(terms.force.iter().chain(terms.mass.iter().flatten()).all(|&x| x == zero));
        assert!(terms.energy == zero && terms.power == zero);
    }
}

/// $\dot E = P + \lambda\cdot W\dot q$ along the motion, with $P = Q\cdot\dot q - \partial_tL$.
#[test]
fn energy_changes_by_power_and_reaction() {
    for (name, text) in all_texts() {
        let case = Case::new(&text, Principle::Chetaev, 3).in_motion();
        let (e, s) = (&case.equations, &case.state);
        let energy = |s: &crate::support::State| {
            let p =
                (0..case.n()).map(|k| s.v[k] * case.by_velocity(s, k, &|s| case.lagrangian(s)));
            p.sum::<f64>() - case.lagrangian(s)
        };
        close(case.value(e.energy), energy(s), &name);
        let work = dot(&case.forces(s), &s.v) - case.by_time(s, &|s| case.lagrangian(s));
        close(case.value(e.power), work, &name);
        let reactions: f64 =
            (0..case.m()).map(|a| s.lambda[a] * dot(&case.direction(s, a), &s.v)).sum();
        close(case.rate(&|s| case.at(s, e.energy)), work + reactions, &name);
    }
}

/// $M\ddot q - f - A^\top\dot\mu = [L - \mu\cdot\psi] - Q$ for any $\ddot q$, $\mu$ and $\dot\mu$, and
/// $[L] - Q = A^\top\dot\mu + \text{force} + \text{mass}\,\ddot q$ is the reaction on the motion.
#[test]
fn vakonomic_blocks_are_those_of_the_extended_lagrangian() {
    for (name, text) in all_texts() {
        let case = Case::new(&text, Principle::Vakonomic, 5);
        let (e, s) = (&case.equations, &case.state);
        let euler = case.euler(s, &|s| case.extended(s));
        let (mass, force, given) = (case.rows(&e.mass), case.values(&e.force), case.forces(s));
        let jacobian = case.rows(&e.jacobian);
        assert_eq!(e.directions, e.jacobian, "`along` has no meaning here");
        for k in 0..case.n() {
            let pulled: f64 = (0..case.m()).map(|a| jacobian[a][k] * s.mu_rate[a]).sum();
            close(dot(&mass[k], &s.a) - force[k] - pulled, euler[k] - given[k], &name);
        }
        let case = case.in_motion();
        let (e, s) = (&case.equations, &case.state);
        let plain = case.euler(s, &|s| case.lagrangian(s));
        let (shift, bend) =
            (case.values(&e.multiplier_terms.force), case.rows(&e.multiplier_terms.mass));
        for k in 0..case.n() {
            let pulled: f64 = (0..case.m()).map(|a| jacobian[a][k] * s.mu_rate[a]).sum();
            close(pulled + shift[k] + dot(&bend[k], &s.a), plain[k] - given[k], &name);
        }
        // d(E + E[M])/dt = P + μ·∂ψ/∂t
        let terms = &e.multiplier_terms;
        let rate = case.rate(&|s| case.at(s, e.energy) + case.at(s, terms.energy));
        close(rate, case.value(e.power) + case.value(terms.power), &name);
        let work: f64 = (0..case.m()).map(|a| s.mu[a] * dot(&jacobian[a], &s.v)).sum();
        close(case.value(terms.energy), -work, &name);
        assert_eq!(e.multipliers, case.model.results.mu);
    }
}

/// $L = \tfrac12(\dot x^2 + \dot y^2 + \dot z^2) - V$ with $\dot z = y\dot x + t$ inserted, written out by hand.
#[test]
fn restricted_motion_is_hamiltons_for_the_inserted_lagrangian() {
    let text = "coordinates x, y, z
        kinetic (x'^2 + y'^2 + z'^2)/2
        potential x*y
        constraint contact: 2*z' = 2*y*x' + 2*t
        force x: 0.4*y'
        force z: 0.3*x'*z'";
    let case = Case::new(text, Principle::Restricted, 11);
    let (e, s) = (&case.equations, &case.state);
    assert_eq!(e.dependent, [2]);
    let (x1, y1, t, x, y) = (s.v[0], s.v[1], s.t, s.q[0], s.q[1]);
    let z1 = y * x1 + t;
    // L_c = (x'² + y'² + (y x' + t)²)/2 − x y; Q_c = (Q_x + Q_z y, 0)
    let mass = case.rows(&e.mass);
    all_close(&mass[0], &[1.0 + y * y, 0.0, 0.0], "mass");
    all_close(&mass[1], &[0.0, 1.0, 0.0], "mass");
    all_close(&mass[2], &[0.0; 3], "mass");
    let applied = 0.4 * y1 + 0.3 * x1 * z1 * y;
    let right = [-(2.0 * y * y1 * x1 + y1 * t + y) - y + applied, z1 * x1 - x, -s.v[2]];
    all_close(&case.values(&e.force), &right, "force");
    all_close(&case.rows(&e.directions)[0], &[0.0, 0.0, 2.0], "only the dependent velocity");
    let along = text.replace("constraint contact:", "constraint contact along [1, x, 5]:");
    let along = Case::new(&along, Principle::Restricted, 11);
    let directions = along.rows(&along.equations.directions);
    all_close(&directions[0], &[0.0, 0.0, 2.0], "`along` has no meaning here");
    let terms = &e.multiplier_terms;
    all_close(&case.values(&terms.force), &[y - 0.4 * y1, x, -0.3 * x1 * s.v[2]], "-f of L");
    let full = case.rows(&terms.mass);
    (0..3).for_each(|k| all_close(&full[k], &unit(k), "M of L"));
    // E_c = (x'² (1 + y²) + y'² − t²)/2 + x y
    let inner = (x1 * x1 * (1.0 + y * y) + y1 * y1 - t * t) / 2.0 + x * y;
    close(case.value(e.energy) + case.value(terms.energy), inner, "energy of L_c");
    let power = 0.4 * y1 * x1 + 0.3 * x1 * z1 * y * x1 - z1;
    close(case.value(e.power) + case.value(terms.power), power, "power");
}

fn unit(k: usize) -> [f64; 3] {
    [0, 1, 2].map(|i| f64::from(u8::from(i == k)))
}

/// The classes of the tutorial's table, and a class that cannot be told apart by form alone.
#[test]
fn classes_are_told_by_the_velocities() {
    let text = "coordinates x, y, z
        lagrangian (x'^2 + y'^2 + z'^2)/2
        constraint a: x' - x' + y^2 = 1
        constraint b: x*y' = z'
        constraint c: x*y' = z' + t
        constraint d: x'^2 + y' = z'
        constraint e: caputo(x, 0.5) = y";
    let model = model(text).workspace();
    let e = derive(&model, Principle::Chetaev).unwrap();
    let wanted =
        [Class::Holonomic, Class::Linear, Class::Affine, Class::Nonlinear, Class::Memory];
    assert_eq!(e.classes, wanted);
    let names: Vec<&str> = e.classes.iter().map(|c| c.name()).collect();
    assert_eq!(names, ["holonomic", "linear", "affine", "nonlinear", "memory"]);
    assert_eq!(
        e.position.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, false, false, false]
    );
    assert_eq!(
        e.drift[4],
        model.graph.zero(),
        "a constraint with memory is not differentiated"
    );
}

/// $1/\sqrt x$ and $\sqrt{|x|}/x$ are the same where both are defined: whether the velocity counts is left open, unless
/// another one does.
#[test]
fn what_cannot_be_decided_is_said() {
    let text = "coordinates x, y, z
        lagrangian (x'^2 + y'^2 + z'^2)/2
        constraint a: x + y = 1
        constraint b: (1/sqrt(x) - sqrt(abs(x))/x)*y' = z
        constraint c: (1/sqrt(x) - sqrt(abs(x))/x)*y' = z'";
    let model = model(text).workspace();
    let e = derive(&model, Principle::Chetaev).unwrap();
    assert_eq!((e.undecided, e.classes[1]), (vec![1], Class::Affine));
}

/// What has no equations is refused by name.
#[test]
fn refusals_name_what_stands_in_the_way() {
    let refused = |text: &str, principle: Principle| {
        derive(&model(text).workspace(), principle).expect_err(text)
    };
    let r = refused("coordinates x\nlagrangian x^2", Principle::Chetaev);
    assert!(matches!(r, Refusal::NoVelocity { .. }), "{r:?}");
    let r = refused("coordinates x\nequation x'' = -x", Principle::Chetaev);
    assert!(matches!(r, Refusal::NoDynamics), "{r:?}");
    let memory =
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: y' = caputo(x, 0.5)";
    for principle in [Principle::Vakonomic, Principle::Restricted] {
        let r = refused(memory, principle);
        assert!(matches!(r, Refusal::MemoryAhead { .. }), "{r:?}");
    }
    let forced = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nforce x: caputo(x, 0.5)";
    let r = refused(forced, Principle::Vakonomic);
    assert!(matches!(r, Refusal::MemoryAhead { .. }), "{r:?}");
    assert!(derive(&model(forced).workspace(), Principle::Chetaev).is_ok());
    let r = refused("coordinates x\nlagrangian caputo(x, 0.5)^2 + x'^2", Principle::Chetaev);
    assert!(matches!(r, Refusal::Memory { .. }), "{r:?}");
    let inside = "coordinates x, z\nlagrangian (x'^2 + z'^2)/2 - z\nconstraint c: z' = x*x'";
    let r = refused(inside, Principle::Restricted);
    assert!(matches!(&r, Refusal::Dependent { name, .. } if name == "z"), "{r:?}");
    let bent = "coordinates x, z\nlagrangian (x'^2 + z'^2)/2\nconstraint c: z'^2 + z' = x'";
    let r = refused(bent, Principle::Restricted);
    assert!(matches!(&r, Refusal::Dependent { .. } | Refusal::Unsolvable { .. }), "{r:?}");
    let turned = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x\nsymmetry s: x = 1";
    let r = refused(turned, Principle::Chetaev);
    assert!(matches!(&r, Refusal::NotSymmetric { rate, .. } if rate == "-1"), "{r:?}");
    assert!(r.diagnostic().message.ends_with("rate -1"), "{:?}", r.diagnostic());
    let long: Vec<String> = (1..40).map(|k| format!("sin({k}*x)*y^{k}")).collect();
    let long = format!(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - {}\nsymmetry s: x = 1",
        long.join(" - ")
    );
    let message = refused(&long, Principle::Chetaev).diagnostic().message;
    assert!(message.ends_with(" …") && message.chars().count() < 300, "{message}");
}

/// `equation` models: orders, unknowns, and whether one linear solve is enough.
#[test]
fn equations_as_written_have_their_orders() {
    let text = "coordinates x, y\nequation x'' + y'*x = 0\nequation y'*(2 + x) + y = t";
    let m = model(text).workspace();
    let o = ordinary(&m).unwrap();
    assert_eq!(o.orders, [2, 1]);
    assert_eq!(o.unknowns, [m.coordinates[0].acceleration, m.coordinates[1].velocity]);
    assert!(o.affine);
    let at = |e: Expr| {
        m.graph.evaluate(&[e], &|s| if s == m.coordinates[0].position { 0.4 } else { 0.3 })[0]
    };
    let rows: Vec<f64> = o.full_jacobian(&m.graph).into_iter().flatten().map(at).collect();
    all_close(&rows, &[1.0, 0.4, 0.0, 2.4], "the Jacobian");
    let bent = model("coordinates x\nequation x''^3 + x'' = x").workspace();
    assert!(!ordinary(&bent).unwrap().affine);
    let mixed = model("coordinates x, y\nequation x'' = y\nequation y'^3 + y' = x").workspace();
    assert!(!ordinary(&mixed).unwrap().affine, "one of two is enough");
    let slow = model("coordinates x, y\nequation x' = y\nequation caputo(y, 0.5) = x");
    assert!(ordinary(&slow.workspace()).unwrap().orders.is_empty(), "one of two has memory");
    let still = model("coordinates x, y\nequation x' + y = 0\nequation y^2 = x").workspace();
    assert!(matches!(ordinary(&still), Err(Refusal::Algebraic { name, .. }) if name == "y"));
    let lagrange = model("coordinates x\nlagrangian x'^2").workspace();
    assert!(matches!(ordinary(&lagrange), Err(Refusal::NoDynamics)));
    // A text that mixes them is refused before; a model that was changed is not.
    let given =
        "coordinates x, y\nlagrangian x'^2 + y'^2\nconstraint a: x' = 0\nconstraint b: y' = 0
        force x: 1\nforce y: 2";
    let given = model(given).workspace();
    let mut mixed = m.clone();
    mixed.forces.clone_from(&given.forces);
    let named = |m: &Workspace| match ordinary(m) {
        Err(Refusal::MixedDynamics { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert!(named(&mixed).ends_with(&format!("`{}`", given.forces[0].name)));
    mixed.constraints.clone_from(&given.constraints);
    assert_eq!(named(&mixed), "the constraint `a`");
    let slow = model("coordinates x\nequation caputo(x, 0.5) = x").workspace();
    assert!(ordinary(&slow).unwrap().orders.is_empty());
}

/// $\dot p = \partial_q\mathcal L + {}_tD_b^\alpha\,\partial\mathcal L/\partial(D^\alpha q)$ with the natural
/// conditions, for Lagrangians whose equations are written out by hand.
#[test]
fn operators_change_sides_in_the_euler_lagrange_equations() {
    let text = "coordinates x, y
        parameters a = 0.6, b = 1.4, c = 0.3
        lagrangian x'^2/2 + caputo(x, a)^2/2 + caputo_right(x, b)^2/2 + y*caputo(y, b) + y^3
        constraint k: caputo(2*x + 3*y', a) - sin(x) = 0";
    let m = model(text).workspace();
    let f = fractional_equations(&m).unwrap();
    let g = &m.graph;
    let (x, y) = (m.coordinates[0].position, m.coordinates[1].position);
    let x1 = m.coordinates[0].velocity;
    let [a, b] = [m.parameters[0].symbol, m.parameters[1].symbol];
    let μ = m.results.mu[0];
    let right = |e: Expr, order: Expr| g.memory(Memory::RiemannLiouvilleRight, e, order);
    let left = |e: Expr, order: Expr| g.memory(Memory::RiemannLiouville, e, order);
    let less = |order: Expr, by: i64| g.sub(order, g.integer(by));
    let caputo = |e: Expr, order: Expr| g.memory(Memory::Caputo, e, order);
    let far = g.memory(Memory::CaputoRight, x, b);
    let steer = |factor: i64| g.mul(g.integer(factor), g.neg(μ));
    let same = |found: Expr, wanted: &[Expr], what: &str| {
        let wanted = g.sum(wanted.iter().copied());
        assert!(
            g.is_zero(g.sub(found, wanted)),
            "{what}: {} instead of {}",
            g.to_text(found),
            g.to_text(wanted)
        );
    };
    let dx = caputo(x, a);
    same(f.momenta[0], &[x1], "p of x");
    same(f.momenta[1], &[right(steer(3), a)], "p of y: the operator acts on its velocity");
    let sine = g.mul(μ, g.cos(x));
    same(f.rates[0], &[sine, right(dx, a), left(far, b), right(steer(2), a)], "rate of p of x");
    let cube = g.mul(g.integer(3), g.mul(y, y));
    same(f.rates[1], &[cube, caputo(y, b), right(y, b)], "rate of p of y");
    let at_x =
        [x1, right(dx, less(a, 1)), g.neg(left(far, less(b, 1))), right(steer(2), less(a, 1))];
    same(f.natural[0], &at_x, "where x is free");
    same(f.natural[1], &[right(steer(3), a), right(y, less(b, 1))], "where y is free");
    same(f.natural_velocity[0], &[left(far, less(b, 2))], "where x' is free");
    let at_y = [right(y, less(b, 2)), right(steer(3), less(a, 1))];
    same(f.natural_velocity[1], &at_y, "where y' is free");
}

/// An operator on a function of position: $\delta G = G_q\,\delta q$, and $G_q$ stands before the operator.
#[test]
fn operators_on_functions_of_position_are_weighted() {
    let text = "coordinates x\nparameters a = 1.3\nlagrangian x'^2/2 + caputo(x^2, a)";
    let m = model(text).workspace();
    let f = fractional_equations(&m).unwrap();
    let g = &m.graph;
    let (x, x1, a) =
        (m.coordinates[0].position, m.coordinates[0].velocity, m.parameters[0].symbol);
    let right =
        |by: i64| g.memory(Memory::RiemannLiouvilleRight, g.one(), g.sub(a, g.integer(by)));
    let twice = g.mul(g.integer(2), x);
    let rate = g.mul(twice, g.memory(Memory::RiemannLiouvilleRight, g.one(), a));
    assert!(g.is_zero(g.sub(f.rates[0], rate)));
    // D^{a−1} with δ(x²) = 2x δx, D^{a−2} with its rate 2x δx' + 2x' δx
    let turned = g.mul(g.mul(g.integer(2), x1), right(2));
    let natural = g.sum([x1, g.mul(twice, right(1)), turned]);
    assert!(g.is_zero(g.sub(f.natural[0], natural)), "{}", g.to_text(f.natural[0]));
    assert!(g.is_zero(g.sub(f.natural_velocity[0], g.mul(twice, right(2)))));
    weights_that_vary_stand_before_the_operator();
    // Variations under the operator of Riemann and Liouville vanish at the ends.
    let text = "coordinates x\nparameters a = 0.4\nlagrangian x'^2/2 + x*rl(x, a)";
    let other = model(text).workspace();
    let f = fractional_equations(&other).unwrap();
    assert_eq!(f.natural, [other.coordinates[0].velocity]);
    assert_eq!(f.natural_velocity, [other.graph.zero()]);
    let whole = adjoint(g, Memory::Integral, x, a);
    assert_eq!(whole, g.memory(Memory::RiemannLiouvilleRight, x, g.neg(a)));
    let other = adjoint(g, Memory::RiemannLiouvilleRight, x, a);
    assert_eq!(other, g.memory(Memory::RiemannLiouville, x, a));
    for bad in ["memory(exp(-s), x)", "mean(x)", "caputo(x'^2, a)"] {
        let text = format!("coordinates x\nparameters a = 0.5\nlagrangian x'^2/2 + {bad}");
        let r = fractional_equations(&model(&text).workspace());
        assert!(matches!(r, Err(Refusal::Memory { .. })), "{bad}");
    }
}

fn weights_that_vary_stand_before_the_operator() {
    let text = "coordinates x, y\nparameters a = 0.4
        lagrangian (x'^2 + y'^2)/2 + x*caputo(x + t*y, a)";
    let m = model(text).workspace();
    let f = fractional_equations(&m).unwrap();
    let g = &m.graph;
    let [x, y, a] = [m.positions()[0], m.positions()[1], m.parameters[0].symbol];
    let turned = g.memory(Memory::RiemannLiouvilleRight, x, a);
    let own = g.memory(Memory::Caputo, g.add(x, g.mul(m.time, y)), a);
    assert!(g.is_zero(g.sub(f.rates[0], g.add(own, turned))));
    assert!(g.is_zero(g.sub(f.rates[1], g.mul(m.time, turned))));
}
