//! Chaplygin's form against the motion by finite differences.

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::{Principle, chaplygin};

use crate::support::{Case, all_close, close, dot};

fn pairs(symbols: &[Expr], values: &[f64]) -> Vec<(Expr, f64)> {
    symbols.iter().copied().zip(values.iter().copied()).collect()
}

const CHAPLYGIN: [&str; 3] = [
    "coordinates x, y, z
     lagrangian (1 + y^2)*x'^2/2 + y'^2/2 + z'^2*(2 + x)/2 + 0.2*y'*z' - x*y
     constraint c: (1 + x^2)*z' = y*x' + x*y*y'
     force x: 0.3*y' + z'
     force z: 0.4*x'*y",
    "coordinates x, y, z, w
     lagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2 + 0.1*x'*w' - x^2*y
     constraint c: z' + w' = y*x' - sin(x)*y'
     constraint d: z' - w' = x*y'",
    // Nonlinear in the base velocities, with time.
    "coordinates x, y, z
     lagrangian (x'^2 + 2*y'^2 + z'^2)/2 - x*y
     constraint c: z' = 0.3*x'^2*y + t*y'",
];

/// (Ch) with $\pi = p$ is Chetaev's motion of the base, with $\pi = p - \mu$ the vakonomic one.
#[test]
fn chaplygins_form_is_the_motion_of_the_base() {
    for text in CHAPLYGIN {
        for principle in [Principle::Chetaev, Principle::Vakonomic] {
            let case = Case::new(text, principle, 15).in_motion();
            let (g, s) = (&case.model.graph, &case.state);
            let form = chaplygin(&case.model, &case.equations).expect("Chaplygin's form");
            assert_eq!(form.held, None);
            let rates = case.values(&form.rates);
            let v: Vec<f64> = form.dependent.iter().map(|&k| s.v[k]).collect();
            all_close(&rates, &v, "the constraints solved");
            let p: Vec<Expr> =
                form.dependent.iter().map(|&k| case.equations.momenta[k]).collect();
            let p = g.substitute(&p, &dependent(&case, &form));
            all_close(&case.values(&form.momenta), &case.values(&p), "momenta");
            // With ψ = A_α (q̇ − ε), π = p − A_αᵀ μ.
            let rows = case.rows(&case.equations.jacobian);
            let values = case.values(&p);
            let π: Vec<Expr> =
                (0..values.len()).map(|i| g.symbol(&format!("pi {i}"), Role::Free)).collect();
            let numbers: Vec<f64> = form
                .dependent
                .iter()
                .zip(&values)
                .map(|(&k, p)| match principle {
                    Principle::Chetaev | Principle::Restricted => *p,
                    Principle::Vakonomic => {
                        p - rows.iter().zip(&s.mu).map(|(r, μ)| r[k] * μ).sum::<f64>()
                    }
                })
                .collect();
            let (mass, force) = form.blocks(&case.model, &π);
            let carried: Vec<Expr> =
                dependent(&case, &form).iter().map(|pair| pair.0).collect();
            let blocks = mass.iter().flatten().chain(&force);
            assert!(blocks.copied().all(|e| !g.contains(e, &carried)), "over the base alone");
            let known = pairs(&π, &numbers);
            let force = case.values_in(g, &force, &known);
            let a: Vec<f64> = form.base.iter().map(|&k| s.a[k]).collect();
            for (row, f) in mass.iter().zip(force) {
                close(dot(&case.values_in(g, row, &known), &a), f, text);
            }
            let inner = case.value(form.energy);
            let by_hand: f64 = form
                .base
                .iter()
                .map(|&k| {
                    let slope =
                        g.derivative(form.lagrangian, case.model.coordinates[k].velocity);
                    s.v[k] * case.value(slope)
                })
                .sum();
            close(inner, by_hand - case.value(form.lagrangian), "energy");
        }
    }
}

fn dependent(case: &Case, form: &pfaff_mechanics::Chaplygin) -> Vec<(Expr, Expr)> {
    let v = case.model.velocities();
    form.dependent.iter().map(|&k| v[k]).zip(form.rates.iter().copied()).collect()
}

/// $F^\alpha_{\mu\nu} = \partial_\mu\varepsilon^\alpha_\nu - \partial_\nu\varepsilon^\alpha_\mu$ by differences.
#[test]
fn curvature_of_chaplygins_form_is_that_of_its_coefficients() {
    for text in &CHAPLYGIN[..2] {
        let case = Case::new(text, Principle::Chetaev, 15);
        let form = chaplygin(&case.model, &case.equations).unwrap();
        let found = form.curvature(&case.model).expect("linear");
        for (α, &ε) in form.rates.iter().enumerate() {
            let slope = |s: &crate::support::State, k: usize| {
                case.by_velocity(s, form.base[k], &|s| case.at(s, ε))
            };
            for μ in 0..form.base.len() {
                for ν in 0..form.base.len() {
                    let one = case.by_position(&case.state, form.base[μ], &|s| slope(s, ν));
                    let two = case.by_position(&case.state, form.base[ν], &|s| slope(s, μ));
                    close(case.value(found[α][μ][ν]), one - two, text);
                }
            }
        }
    }
    let affine = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2
        constraint c: z' = x*y' + 0.3*y";
    for text in [CHAPLYGIN[2], affine] {
        let case = Case::new(text, Principle::Chetaev, 15);
        let form = chaplygin(&case.model, &case.equations).unwrap();
        assert!(form.curvature(&case.model).is_none(), "{text}");
    }
}
