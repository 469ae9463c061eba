//! Momenta instead of velocities: each form against the motion by finite differences.

use pfaff_expr::{Expr, Memory, Node, Role};
use pfaff_mechanics::{
    LegendreInput, Orders, Principle, Refusal, cartan_forms, cotangent, cotangent_equations,
    divergence, divergence_formula, fractional_forms, hamilton_form, legendre, normal_form,
    short_legendre,
};

use crate::support::{
    Case, LINEAR, NONLINEAR, State, all_close, close, dot, random_system, solve,
};

fn pairs(symbols: &[Expr], values: &[f64]) -> Vec<(Expr, f64)> {
    symbols.iter().copied().zip(values.iter().copied()).collect()
}

fn small() -> Vec<(String, String)> {
    let given = LINEAR.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    let given =
        given.filter(|(n, _)| !["ball", "snake", "robot"].iter().any(|w| n.starts_with(w)));
    given.chain((40..46).map(|s| (format!("random system {s}"), random_system(s)))).collect()
}

/// (Ha): velocities, multipliers and rates of the momenta along a vakonomic motion.
#[test]
fn hamiltons_form_is_the_vakonomic_motion() {
    for (name, text) in small() {
        let case = Case::new(&text, Principle::Vakonomic, 21).in_motion();
        let (g, s) = (&case.model.graph, &case.state);
        let form = hamilton_form(&case.model, &case.equations).expect("linear or affine");
        let p = case.values(&form.momenta);
        let by_hand: Vec<f64> =
            (0..case.n()).map(|k| case.by_velocity(s, k, &|s| case.extended(s))).collect();
        all_close(&p, &by_hand, &name);
        let known = pairs(&form.symbols, &p);
        let at = |es: &[Expr]| case.values_in(g, es, &known);
        all_close(&at(&form.velocities), &s.v, &name);
        all_close(&at(&form.multipliers), &s.mu, &name);
        let rates: Vec<f64> =
            form.momenta.iter().map(|&p| case.rate(&|s| case.at(s, p))).collect();
        all_close(&at(&form.forces), &rates, &name);
        let hamiltonian = dot(&p, &s.v) - case.extended(s);
        close(at(&[form.hamiltonian])[0], hamiltonian, &name);
    }
    let case = Case::new(NONLINEAR[0].1, Principle::Vakonomic, 2);
    let r = hamilton_form(&case.model, &case.equations);
    assert!(matches!(r, Err(Refusal::NoHamilton { .. })));
    let twice = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint a: y' = x*x'\nconstraint b: y' = x*x'";
    let model = crate::support::model(twice).workspace();
    let e = pfaff_mechanics::derive(&model, Principle::Vakonomic).unwrap();
    assert!(
        matches!(hamilton_form(&model, &e), Err(Refusal::NoHamilton { what, .. }) if what.contains("repeats"))
    );
}

/// $p\cdot u - L$ and the velocities back from $p = \partial L/\partial u$, for a Lagrangian with a root, in a field.
#[test]
fn legendres_transformation_of_a_relativistic_particle() {
    let case = Case::new(
        "coordinates x, y\nparameters m = 1.2, c = 3, b = 0.7\n\
         lagrangian -m*c^2*sqrt(1 + x^2 - (x'^2 + x^2*y'^2 + x*x'*y'/2)/c^2) + b*x*y' + 1/(2 + y)",
        Principle::Chetaev,
        4,
    );
    let g = &case.model.graph;
    let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = case.model.dynamics else {
        panic!("a Lagrangian")
    };
    let velocities = case.model.velocities();
    let symbols: Vec<Expr> = (0..2).map(|k| g.symbol(&format!("p{k}"), Role::Free)).collect();
    let input = LegendreInput {
        lagrangian,
        residuals: &[],
        velocities: &velocities,
        momenta: &symbols,
    };
    let found = short_legendre(g, input).expect("a formula");
    let p = case.values(&g.gradient(lagrangian, &velocities));
    let known = pairs(&symbols, &p);
    all_close(&case.values_in(g, &found.velocities, &known), &case.state.v, "velocities");
    let h = dot(&p, &case.state.v) - case.values(&[lagrangian])[0];
    close(case.values_in(g, &[found.hamiltonian], &known)[0], h, "Hamiltonian");
    // A fourth power is none of these.
    let other = g.pow(g.sum(velocities.iter().map(|&v| g.mul(v, v))), g.integer(2));
    let why = short_legendre(g, LegendreInput { lagrangian: other, ..input }).unwrap_err();
    assert!(why.contains("quadratic"), "{why}");
}

/// $u = (1 - AA^\top/A^2)\,p$ and $\mu = -A\cdot p/A^2$ for unit mass and one constraint.
#[test]
fn legendres_transformation_projects_momenta() {
    let case = Case::new(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x*y\nconstraint c: z' = y*x'",
        Principle::Vakonomic,
        3,
    );
    let g = &case.model.graph;
    let p: Vec<Expr> = (0..3).map(|k| g.symbol(&format!("p{k}"), Role::Free)).collect();
    let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = case.model.dynamics else {
        panic!("a Lagrangian")
    };
    let (residuals, velocities) = (case.equations.residual.clone(), case.model.velocities());
    let input = LegendreInput {
        lagrangian,
        residuals: &residuals,
        velocities: &velocities,
        momenta: &p,
    };
    let found = legendre(g, input).unwrap();
    let values = [0.7, -0.4, 1.1];
    let (x, y) = (case.state.q[0], case.state.q[1]);
    // A = (−y, 0, 1)
    let (square, along) = (1.0 + y * y, values[2] - y * values[0]);
    let known = pairs(&p, &values);
    let u = case.values_in(g, &found.velocities, &known);
    let wanted = [values[0] + y * along / square, values[1], values[2] - along / square];
    all_close(&u, &wanted, "velocities");
    let μ = case.values_in(g, &found.multipliers, &known);
    all_close(&μ, &[-along / square], "multipliers");
    let h = case.values_in(g, &[found.hamiltonian], &known)[0];
    close(h, dot(&values, &u) - dot(&u, &u) / 2.0 + x * y, "Hamiltonian");
    let cube = g.mul(velocities[0], g.mul(velocities[0], velocities[0]));
    assert!(
        legendre(g, LegendreInput { lagrangian: cube, ..input })
            .unwrap_err()
            .contains("quadratic")
    );
    assert!(
        legendre(g, LegendreInput { residuals: &[cube], ..input })
            .unwrap_err()
            .contains("linear")
    );
    assert!(
        legendre(g, LegendreInput { lagrangian: g.zero(), ..input })
            .unwrap_err()
            .contains("singular")
    );
}

/// (Co): $H\dot p = $ right, with $\dot p$ by differences along Chetaev's motion.
#[test]
fn cotangent_form_is_chetaevs_motion() {
    let nonlinear = NONLINEAR[..3].iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    for (name, text) in small().into_iter().chain(nonlinear) {
        let case = Case::new(&text, Principle::Chetaev, 22).in_motion();
        let g = &case.model.graph;
        let normal = normal_form(&case.model, &case.equations, None).unwrap();
        let form = match cotangent(&case.model, &case.equations, &normal) {
            Ok(form) => form,
            Err(Refusal::SingularLegendre { .. }) => continue,
            Err(r) => panic!("{name}: {r:?}"),
        };
        let k = normal.transverse.len();
        let p = case.values(&form.momenta);
        let full = case.values(&case.equations.momenta);
        let wanted: Vec<f64> = normal.transverse.iter().map(|&i| full[i]).collect();
        all_close(&p, &wanted, &name);
        let rates: Vec<f64> = normal
            .transverse
            .iter()
            .map(|&i| case.rate(&|s| case.at(s, case.equations.momenta[i])))
            .collect();
        let balance = |matrix: &[f64], right: &[f64]| {
            (0..k).for_each(|i| close(dot(&matrix[i * k..][..k], &rates), right[i], &name));
        };
        balance(&case.values(&form.matrix.entries), &case.values(&form.right));
        // Dp is the rate without the accelerations of ȳ: ṗ = Dp + J ȳ'.
        let (drift, jacobian) = (case.values(&form.drift), case.values(&form.jacobian.entries));
        let a: Vec<f64> = normal.transverse.iter().map(|&i| case.state.a[i]).collect();
        (0..k)
            .for_each(|i| close(drift[i] + dot(&jacobian[i * k..][..k], &a), rates[i], &name));
        let leaf_drift = case.values(&form.leaf_drift);
        let leaf_jacobian = case.values(&form.leaf_jacobian.entries);
        for (u, &i) in normal.leaf.iter().enumerate() {
            let rate = case.rate(&|s| case.at(s, case.equations.momenta[i]));
            close(leaf_drift[u] + dot(&leaf_jacobian[u * k..][..k], &a), rate, &name);
        }
        let e = cotangent_equations(&case.model, &normal, &form);
        let known = pairs(&e.symbols, &p);
        let at = |es: &[Expr]| case.values_in(g, es, &known);
        balance(&at(&e.matrix.entries), &at(&e.right));
        // Quadratic Lagrangians have momenta that are affine in the velocities, and C is to be written out.
        let affine = case.equations.kinetic.is_some() && normal.is_affine(&case.model);
        assert!(e.velocities.is_some() || !affine, "{name}");
        if let Some(y) = &e.velocities {
            let wanted: Vec<f64> = normal.transverse.iter().map(|&i| case.state.v[i]).collect();
            all_close(&at(y), &wanted, &name);
            let v = case.model.velocities();
            y.iter().for_each(|&e| assert!(!g.contains(e, &v), "{name}: velocities are left"));
        }
        let leaves: Vec<f64> = normal.leaf.iter().map(|&i| case.state.v[i]).collect();
        all_close(&at(&e.leaf_rates), &leaves, &name);
    }
    // One momentum contains the velocity that the constraint only determines, the other does not.
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2)/2 + x'*z'/3\nconstraint c: z'^3 + z' = x'*y' + 1";
    let case = Case::new(text, Principle::Chetaev, 22).in_motion();
    let normal = normal_form(&case.model, &case.equations, None).unwrap();
    let form = cotangent(&case.model, &case.equations, &normal).unwrap();
    assert_eq!(cotangent_equations(&case.model, &normal, &form).velocities, None);
    let text = "coordinates x, y, z\nlagrangian (x'^2 + z'^2)/2\nconstraint c: z' = y'";
    let case = Case::new(text, Principle::Chetaev, 2);
    let normal = normal_form(&case.model, &case.equations, None).unwrap();
    let r = cotangent(&case.model, &case.equations, &normal);
    assert!(matches!(r, Err(Refusal::SingularLegendre { .. })), "the momentum of y is zero");
    let case = Case::new("coordinates x, y\nlagrangian x'^2/2", Principle::Chetaev, 2);
    let normal = normal_form(&case.model, &case.equations, None).unwrap();
    let r = cotangent(&case.model, &case.equations, &normal);
    assert!(matches!(r, Err(Refusal::SingularLegendre { .. })), "without constraints");
    let case = Case::new(NONLINEAR[3].1, Principle::Chetaev, 2);
    let normal = normal_form(&case.model, &case.equations, None).unwrap();
    let r = cotangent(&case.model, &case.equations, &normal);
    assert!(matches!(r, Err(Refusal::ReactionAlong { .. })));
}

/// $i_X(d\omega - C) = 0$ along the motion, and each coefficient is the equation that it should be.
#[test]
fn cartans_form_gives_the_equations() {
    for (name, text) in small() {
        let case = Case::new(&text, Principle::Chetaev, 23).in_motion();
        let (g, s, n) = (&case.model.graph, &case.state, case.n());
        let forms = cartan_forms(&case.model, &case.equations).unwrap();
        let p = case.values(&case.equations.momenta);
        let rates: Vec<f64> =
            case.equations.momenta.iter().map(|&p| case.rate(&|s| case.at(s, p))).collect();
        let mut known = pairs(&forms.momenta, &p);
        known.extend(pairs(&forms.rates[0], &s.v));
        known.extend(pairs(&forms.rates[1], &rates));
        known.extend(pairs(&forms.rates[2], &s.a));
        let coefficient = |place: usize, known: &[(Expr, f64)]| {
            case.values_in(g, &[forms.equations.coefficient(g, &[place])], known)[0]
        };
        (0..=3 * n).for_each(|i| close(coefficient(i, &known), 0.0, &name));
        assert_eq!(forms.field[1..], forms.rates.concat(), "the rates of q, p and v in order");
        let shifted = |symbol: Expr, by: f64| -> Vec<(Expr, f64)> {
            let change = |&(e, x): &(Expr, f64)| (e, if e == symbol { x + by } else { x });
            known.iter().map(change).collect()
        };
        for k in 0..n {
            // dq: ṗ − L_q − Q − λφ_v; dp: q̇ − v; dv: L_v − p, up to the sign of the form.
            close(coefficient(1 + k, &shifted(forms.rates[1][k], 0.5)), 0.5, &name);
            close(coefficient(1 + n + k, &shifted(forms.rates[0][k], 0.5)), -0.5, &name);
            close(
                coefficient(1 + 2 * n + k, &shifted(forms.momenta[k], 0.5)).abs(),
                0.5,
                &name,
            );
            let pull = case.forces(s)[k]
                + (0..case.m()).map(|a| s.lambda[a] * case.direction(s, a)[k]).sum::<f64>();
            let chetaev = forms.chetaev.coefficient(g, &[0, 1 + k]);
            close(case.value(chetaev), pull, &name);
        }
        let ω = &forms.poincare_cartan;
        let energy = case.values_in(g, &[ω.coefficient(g, &[0])], &known)[0];
        close(energy, -case.value(case.equations.energy), &name);
    }
}

/// $\Omega = \sum_k\partial\ddot q_k/\partial\dot q_k + \frac{d}{dt}\log\det M$: the divergence on $(q, \dot q)$
/// with the volume $\det M\,dq\,d\dot q = dq\,dp$, by differences.
#[test]
fn divergence_is_that_of_the_flow_in_phase_space() {
    let mut written = 0;
    for (name, text) in small() {
        let case = Case::new(&text, Principle::Chetaev, 24).in_motion();
        let (s, n, m) = (&case.state, case.n(), case.m());
        // Two steps are enough: accelerations are low polynomials in the velocities.
        let slopes: Vec<Vec<f64>> = (0..n)
            .map(|j| {
                let moved = |h: f64| {
                    let mut there = s.clone();
                    there.v[j] += h;
                    let x = case.by_hand_at(&there);
                    [x.accelerations, x.multipliers].concat()
                };
                let d = |h: f64| -> Vec<f64> {
                    moved(h).iter().zip(moved(-h)).map(|(x, y)| (x - y) / (2.0 * h)).collect()
                };
                d(0.02).iter().zip(d(0.01)).map(|(a, b)| (4.0 * b - a) / 3.0).collect()
            })
            .collect();
        let volume = |s: &State| {
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|i| case.equations.mass[i].iter().map(|&e| case.at(s, e)).collect())
                .collect();
            determinant(rows)
        };
        let wanted = (0..n).map(|k| slopes[k][k]).sum::<f64>() + case.rate(&volume) / volume(s);
        let blocks = divergence(&case.model, &case.equations).expect("Chetaev's, no memory");
        let (balance, force) =
            (case.rows(&blocks.balance_jacobian), case.rows(&blocks.force_jacobian));
        let (mass, w) =
            (case.rows(&case.equations.mass), case.rows(&case.equations.directions));
        let jacobian = case.rows(&case.equations.jacobian);
        let mut matrix = vec![vec![0.0; n + m]; n + m];
        for i in 0..n {
            matrix[i][..n].copy_from_slice(&mass[i]);
            (0..m).for_each(|a| matrix[i][n + a] = -w[a][i]);
        }
        (0..m).for_each(|a| matrix[n + a][..n].copy_from_slice(&jacobian[a]));
        let mut sum = 0.0;
        for j in 0..n {
            let x = solve(matrix.clone(), balance.iter().map(|row| row[j]).collect());
            all_close(&x, &slopes[j], &name);
            let pull =
                (0..n).map(|k| force[k][j] + (0..m).map(|a| w[a][k] * x[n + a]).sum::<f64>());
            sum += solve(mass.clone(), pull.collect())[j];
        }
        close(sum, wanted, &name);
        if let Some(Ω) = divergence_formula(&case.model, &case.equations) {
            written += 1;
            close(case.value(Ω), wanted, &name);
        }
        let given = case.rows(&blocks.applied_jacobian);
        for k in 0..n {
            let row: Vec<f64> =
                (0..n).map(|j| case.by_velocity(s, j, &|s| case.forces(s)[k])).collect();
            all_close(&given[k], &row, &name);
        }
    }
    assert!(written > 6, "the formula is written out for {written} systems");
    let case = Case::new(LINEAR[0].1, Principle::Vakonomic, 2);
    assert!(divergence(&case.model, &case.equations).is_none());
}

/// The formula is told for few unknowns; a mass alone has no divergence, however large it is.
#[test]
fn divergence_is_written_out_for_few_unknowns() {
    let of = |text: &str| {
        let m = crate::support::model(text).workspace();
        let e = pfaff_mechanics::derive(&m, Principle::Chetaev).unwrap();
        divergence_formula(&m, &e).map(|Ω| m.graph.to_text(m.graph.simplify(Ω)))
    };
    let free = |n: usize, force: &str| {
        let names: Vec<String> = (0..n).map(|k| format!("q{k}")).collect();
        let squares: Vec<String> = names.iter().map(|q| format!("{q}'^2/2")).collect();
        format!("coordinates {}\nlagrangian {}\n{force}", names.join(", "), squares.join(" + "))
    };
    assert_eq!(of(&free(12, "force q3: -2*q3'")), Some("-2".to_owned()));
    assert_eq!(of(&free(13, "force q3: -2*q3'")), None);
    let rows = |count: usize| -> String {
        let row = |k: usize| format!("constraint c{k}: q{k}' = {}*q5'", k + 1);
        (0..count).map(row).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(of(&free(6, &rows(3))), Some("0".to_owned()));
    assert_eq!(of(&free(10, &rows(2))), Some("0".to_owned()));
    assert_eq!(of(&free(11, &rows(2))), None, "thirteen unknowns");
    assert_eq!(of(&free(6, &rows(4))), None, "four multipliers");
    // What the graph has already does not count.
    let m = crate::support::model(&free(3, "force q1: -2*q1'*q2")).workspace();
    let e = pfaff_mechanics::derive(&m, Principle::Chetaev).unwrap();
    for k in 0..5_000 {
        m.graph.integer(k);
    }
    assert!(divergence_formula(&m, &e).is_some());
    let mut dense = String::from("coordinates a, b, c, d, e, f\nlagrangian 0");
    for x in "abcdef".chars() {
        for y in "abcdef".chars() {
            dense += &format!(" + (1 + sin({x} + 2*{y}))*{x}'*{y}'");
        }
    }
    assert_eq!(of(&dense), Some("0".to_owned()), "no force and no constraint");
}

fn determinant(mut m: Vec<Vec<f64>>) -> f64 {
    let n = m.len();
    let mut product = 1.0;
    for k in 0..n {
        product *= m[k][k];
        for i in k + 1..n {
            let factor = m[i][k] / m[k][k];
            (k..n).for_each(|j| m[i][j] -= factor * m[k][j]);
        }
    }
    product
}

/// For $\alpha = \beta = 1$ all of it is the classical form: $\hat E L = -Q - \lambda\varphi_v$ along the motion.
#[test]
fn fractional_forms_of_order_one_are_classical() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + 2*y'^2 + z'^2)/2 - x*y^2 + x*y'
        constraint c: z' = y*x'\nforce x: 0.3*y'";
    let case = Case::new(text, Principle::Chetaev, 25).in_motion();
    let g = &case.model.graph;
    let orders = Orders { alpha: g.one(), beta: g.one() };
    let f = fractional_forms(&case.model, &case.equations, orders).unwrap();
    let p = case.values(&case.equations.momenta);
    for k in 0..case.n() {
        close(case.value(f.legendre[k].unwrap()), p[k], "momentum");
        close(case.value(f.operator[k].unwrap()), case.value(f.reactions[k]), "equation");
        close(case.value(f.velocities[k]), case.state.v[k], "velocity");
    }
    let classical = f.space.d(g, &f.poincare_cartan);
    assert!(f.derivative.minus(g, &classical).unwrap().is_zero(g));
    let refused = |alpha: Expr, beta: Expr| {
        fractional_forms(&case.model, &case.equations, Orders { alpha, beta }).is_err()
    };
    assert!(refused(g.integer(2), g.one()) && refused(g.zero(), g.one()));
    assert!(refused(g.one(), g.zero()) && refused(g.one(), g.integer(-1)));
    assert!(!refused(g.fraction(3, 2), g.integer(2)));
}

/// The half derivative of powers by hand: $D^{1/2}x^2 = \frac{8}{3\sqrt\pi}x^{3/2}$, $D^{1/2}x =
/// 2\sqrt{x/\pi}$, $D^{1/2}\sqrt x = \sqrt\pi/2$.
#[test]
fn fractional_forms_of_order_one_half_are_those_of_powers() {
    let case = Case::new("coordinates x\nlagrangian x'^2/2 - x^2/2", Principle::Chetaev, 25);
    let (g, s) = (&case.model.graph, &case.state);
    let half = g.fraction(1, 2);
    let f = fractional_forms(&case.model, &case.equations, Orders { alpha: half, beta: half });
    let f = f.unwrap();
    let (q, v, p) = (s.q[0], s.v[0], 0.7_f64);
    let pi = std::f64::consts::PI;
    close(case.value(f.legendre[0].unwrap()), 8.0 * v * v.sqrt() / (3.0 * pi), "momentum");
    let at = |place: &[usize]| {
        case.values_in(g, &[f.derivative.coefficient(g, place)], &[(f.momenta[0], p)])[0]
    };
    // (t, q, p, v) are at the places 0 to 3.
    close(at(&[0, 1]), 4.0 * q * q.sqrt() / (3.0 * pi.sqrt()), "-D_q L");
    let slope = 2.0 * (p / pi).sqrt();
    close(at(&[1, 2]), -slope, "-D_p p");
    close(at(&[0, 2]), slope * v.sqrt(), "with v^β dt");
    let by_v = 4.0 * v * v.sqrt() / (3.0 * pi.sqrt()) - p * pi.sqrt() / 2.0;
    close(at(&[0, 3]), -by_v, "-(D_v L - p D_v v^β)");
    close(case.value(f.velocities[0]), v, "v^β = q̇^α");
    // ÊL = D_q L − D_t p, with Caputo's derivative in time.
    let operator = f.operator[0].unwrap();
    let moving = [(case.model.coordinates[0].velocity, f.velocities[0])];
    let momentum = g.substitute(&[f.legendre[0].unwrap()], &moving)[0];
    let change = g.memory(Memory::Caputo, momentum, half);
    let memory = |e: &Expr| matches!(g.node(*e), Node::Memory(..));
    let found: Vec<Expr> = g.live(&[operator]).into_iter().filter(memory).collect();
    assert_eq!(found, [change]);
    let at = |x: i64| case.value(g.substitute(&[operator], &[(change, g.integer(x))])[0]);
    close(at(0), -4.0 * q * q.sqrt() / (3.0 * pi.sqrt()), "D_q L");
    close(at(1) - at(0), -1.0, "less the change of p");
    let case = Case::new("coordinates x\nlagrangian x'^2/2 - sqrt(x)", Principle::Chetaev, 25);
    let g = &case.model.graph;
    let orders = Orders { alpha: g.fraction(3, 2), beta: g.integer(2) };
    let r = fractional_forms(&case.model, &case.equations, orders);
    assert!(
        matches!(r, Err(Refusal::NoFractionalForm { what, .. }) if what.contains("above 1,"))
    );
    let text = "coordinates x\nlagrangian x'^2/2 - sin(x)";
    let case = Case::new(text, Principle::Chetaev, 25);
    let g = &case.model.graph;
    let half = g.fraction(1, 2);
    let r = fractional_forms(&case.model, &case.equations, Orders { alpha: half, beta: half });
    assert!(matches!(r, Err(Refusal::NoFractionalForm { what, .. }) if what.contains("sin")));
}

/// $D^\alpha v^\beta = 0$ for $\beta = 1 < \alpha$: no momentum is defined. Time may occur in any way, for
/// nothing is differentiated by it.
#[test]
fn fractional_forms_without_momenta_and_with_time() {
    let text = "coordinates x, y\nlagrangian x'^2/2 + y'^2/2 - sin(t)*x^2*y";
    let case = Case::new(text, Principle::Chetaev, 25);
    let g = &case.model.graph;
    let orders = |alpha: Expr, beta: Expr| {
        fractional_forms(&case.model, &case.equations, Orders { alpha, beta }).unwrap()
    };
    let f = orders(g.fraction(3, 2), g.one());
    assert_eq!((f.legendre, f.operator), (vec![None; 2], vec![None; 2]));
    let f = orders(g.one(), g.one());
    let p = case.values(&case.equations.momenta);
    (0..2).for_each(|k| close(case.value(f.legendre[k].unwrap()), p[k], "momentum"));
    let f = orders(g.fraction(1, 2), g.one());
    // p = Γ(3/2)/Γ(2) v^{−1/2} D^{1/2}(v²/2) with D^{1/2}v² = Γ(3)/Γ(5/2) v^{3/2}, and Γ(5/2) = 3/2 Γ(3/2)
    let wanted = 2.0 * case.state.v[0] / 3.0;
    close(case.value(f.legendre[0].unwrap()), wanted, "momentum of order one half");
}
