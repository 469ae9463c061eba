//! Metrics, connections and curvatures of systems of Chaplygin, from their definitions.

use pfaff_mechanics::{Geometry, NoMetric, Obstacle, Principle, Tensor, derive, geometry};

use crate::support::{Case, State, close, dot, model, slope, solve};

/// Functions on the base: everything of Chaplygin's is there.
const ON_BASE: [&str; 2] = [
    "coordinates x, y, z
     kinetic (2 + cos(y))*x'^2/2 + (1 + x^2)*y'^2/2 + 0.3*x'*y'*sin(x) + z'^2*(1 + x*y)/2 + 0.2*x'*z'
     potential x*y^2
     constraint c: z' = y*x' + x^2*y'
     force y: 0.3*x
     force z: 0.2*y",
    "coordinates x, y, u, z
     kinetic x'^2*(1 + u^2)/2 + y'^2/2 + u'^2*(2 + sin(y))/2 + z'^2/2 + 0.3*x'*u'
     constraint c: z' = y*x' + x*u'",
];

/// A coefficient contains the dependent coordinate.
const OFF_BASE: &str = "coordinates x, y, z
     kinetic (2 + z^2)*x'^2/2 + y'^2/2 + z'^2*(1 + x^2)/2
     constraint c: z' = y*z*x' + x*y'";

struct Local {
    case: Case,
    geometry: Geometry,
}

impl Local {
    fn new(text: &str) -> Self {
        let case = Case::new(text, Principle::Chetaev, 31).in_motion();
        let geometry = geometry(&case.model, &case.equations, None).unwrap();
        Self { case, geometry }
    }

    fn base(&self) -> usize {
        self.geometry.split.base.len()
    }

    fn fields(&self, s: &State) -> Vec<Vec<f64>> {
        let rows = &self.geometry.frame.fields;
        rows.iter().map(|x| x.iter().map(|&e| self.case.at(s, e)).collect()).collect()
    }

    /// $X(f)$ by differences.
    fn along(&self, x: &[f64], f: &dyn Fn(&State) -> f64) -> f64 {
        slope(|h| {
            let mut there = self.case.state.clone();
            there.q.iter_mut().zip(x).for_each(|(q, x)| *q += h * x);
            f(&there)
        })
    }

    fn mass(&self, s: &State, i: usize, j: usize) -> f64 {
        self.case.at(s, self.case.equations.mass[i][j])
    }

    /// $\langle\partial_i, \nabla_XX_\nu\rangle$ with the Christoffel symbols of $M$ by differences.
    fn covector(&self, x: &[f64], ν: usize) -> Vec<f64> {
        let (n, s) = (self.case.n(), &self.case.state);
        let y = &self.fields(s)[ν];
        let change: Vec<f64> =
            (0..n).map(|j| self.along(x, &|s| self.fields(s)[ν][j])).collect();
        (0..n)
            .map(|i| {
                let mut sum: f64 = (0..n).map(|j| self.mass(s, i, j) * change[j]).sum();
                for k in 0..n {
                    for l in 0..n {
                        let d = |by: usize, i: usize, j: usize| {
                            self.case.by_position(s, by, &|s| self.mass(s, i, j))
                        };
                        sum += 0.5 * (d(k, i, l) + d(l, i, k) - d(i, k, l)) * x[k] * y[l];
                    }
                }
                sum
            })
            .collect()
    }

    fn tensor(&self, t: &Tensor) -> impl Fn(&[usize]) -> f64 {
        let (values, shape) = (self.case.values(&t.entries), t.shape.clone());
        move |index: &[usize]| {
            values[index.iter().zip(&shape).fold(0, |place, (i, size)| place * size + i)]
        }
    }
}

/// $F^\alpha_{\mu\nu}$, $g_{\mu\nu}$, $\Gamma$, torsion, contorsion and the second form from their definitions.
#[test]
fn connections_are_those_of_their_definitions() {
    for text in [ON_BASE[0], ON_BASE[1], OFF_BASE] {
        let local = Local::new(text);
        let (case, m, n) = (&local.case, local.base(), local.case.n());
        let s = &case.state;
        let c = local.geometry.connection.as_ref().unwrap();
        let x = local.fields(s);
        let curvature = local.tensor(&local.geometry.bundle_curvature);
        for α in 0..local.geometry.split.dependent.len() {
            let ε = |s: &State, ν: usize| case.at(s, local.geometry.split.slopes[α][ν]);
            for μ in 0..m {
                for ν in 0..m {
                    let wanted =
                        local.along(&x[μ], &|s| ε(s, ν)) - local.along(&x[ν], &|s| ε(s, μ));
                    close(curvature(&[α, μ, ν]), wanted, "F");
                }
            }
        }
        let metric = |s: &State, μ: usize, ν: usize| -> f64 {
            let x = local.fields(s);
            (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .map(|(i, j)| local.mass(s, i, j) * x[μ][i] * x[ν][j])
                .sum()
        };
        let rows: Vec<Vec<f64>> =
            (0..m).map(|μ| (0..m).map(|ν| metric(s, μ, ν)).collect()).collect();
        let (g, inverse) = (local.tensor(&c.metric), local.tensor(&c.inverse));
        let lowered = local.tensor(&c.lowered);
        let plain = local.tensor(&c.christoffel_lowered);
        let (Γ, bar) = (local.tensor(&c.connection), local.tensor(&c.christoffel));
        let (torsion, contorsion) = (local.tensor(&c.torsion), local.tensor(&c.contorsion));
        let (product, metricity) =
            (local.tensor(&c.symmetric_product), local.tensor(&c.metricity));
        let second = local.tensor(c.second_form.as_ref().unwrap());
        let mass: Vec<Vec<f64>> = case.rows(&case.equations.mass);
        for μ in 0..m {
            for ν in 0..m {
                close(g(&[μ, ν]), rows[μ][ν], "g");
                let unit: f64 = (0..m).map(|λ| inverse(&[μ, λ]) * rows[λ][ν]).sum();
                close(unit, f64::from(u8::from(μ == ν)), "inverse");
                let covector = local.covector(&x[μ], ν);
                let down: Vec<f64> = (0..m).map(|ρ| dot(&x[ρ], &covector)).collect();
                let up = solve(rows.clone(), down.clone());
                let whole = solve(mass.clone(), covector);
                for i in 0..n {
                    let tangent: f64 = (0..m).map(|σ| up[σ] * x[σ][i]).sum();
                    close(second(&[i, μ, ν]), whole[i] - tangent, "second form");
                }
                for ρ in 0..m {
                    close(lowered(&[ρ, μ, ν]), down[ρ], "Γ lowered");
                    close(Γ(&[ρ, μ, ν]), up[ρ], "Γ");
                    let d = |by: usize, a: usize, b: usize| {
                        local.along(&x[by], &|s| metric(s, a, b))
                    };
                    let wanted = 0.5 * (d(μ, ν, ρ) + d(ν, μ, ρ) - d(ρ, μ, ν));
                    close(plain(&[ρ, μ, ν]), wanted, "Christoffel");
                    let raised: f64 =
                        (0..m).map(|λ| inverse(&[ρ, λ]) * plain(&[λ, μ, ν])).sum();
                    close(bar(&[ρ, μ, ν]), raised, "Christoffel raised");
                    let (one, two) = (Γ(&[ρ, μ, ν]), Γ(&[ρ, ν, μ]));
                    close(torsion(&[ρ, μ, ν]), 0.5 * (one - two), "torsion");
                    close(product(&[ρ, μ, ν]), one + two, "symmetric product");
                    close(contorsion(&[ρ, μ, ν]), one - bar(&[ρ, μ, ν]), "contorsion");
                    close(metricity(&[ρ, μ, ν]), 0.0, "metricity");
                }
            }
        }
    }
}

/// $\ddot q^\sigma + \Gamma^\sigma_{\mu\nu}\dot q^\mu\dot q^\nu = g^{\sigma\rho}X_\rho\cdot(Q - \partial V)$.
#[test]
fn motions_are_geodesics_of_the_connection() {
    for text in ON_BASE {
        let local = Local::new(text);
        let (case, m) = (&local.case, local.base());
        let s = &case.state;
        let c = local.geometry.connection.as_ref().unwrap();
        assert_eq!(local.geometry.obstacle, None);
        let (Γ, inverse) = (local.tensor(&c.connection), local.tensor(&c.inverse));
        let base = |list: &[f64]| -> Vec<f64> {
            local.geometry.split.base.iter().map(|&k| list[k]).collect()
        };
        let (v, a) = (base(&s.v), base(&s.a));
        let potential = |s: &State| match case.equations.kinetic.as_ref().unwrap().potential {
            Some(e) => case.at(s, e),
            None => 0.0,
        };
        let forces: Vec<f64> = (0..case.n())
            .map(|k| case.forces(s)[k] - case.by_position(s, k, &potential))
            .collect();
        let x = local.fields(s);
        for σ in 0..m {
            let spun: f64 =
                (0..m * m).map(|i| Γ(&[σ, i / m, i % m]) * v[i / m] * v[i % m]).sum();
            let pulled: f64 = (0..m).map(|ρ| inverse(&[σ, ρ]) * dot(&x[ρ], &forces)).sum();
            close(a[σ] + spun, pulled, text);
        }
    }
}

/// $R^\rho{}_{\sigma\mu\nu}$ of both connections by differences of their coefficients, and the further term of
/// the nonholonomic one.
#[test]
fn curvatures_are_those_of_their_connections() {
    for text in ON_BASE {
        let local = Local::new(text);
        let (case, m) = (&local.case, local.base());
        let c = local.geometry.connection.as_ref().unwrap();
        let (with, plain) = c.curvatures.as_ref().expect("functions on the base");
        let x = local.fields(&case.state);
        let wanted = |t: &Tensor, i: [usize; 4]| {
            let [ρ, σ, μ, ν] = i;
            let at = local.tensor(t);
            let step = |by: usize, ρ: usize, ν: usize, σ: usize| {
                local.along(&x[by], &|s| case.at(s, t.at(&[ρ, ν, σ])))
            };
            let products: f64 = (0..m)
                .map(|λ| at(&[ρ, μ, λ]) * at(&[λ, ν, σ]) - at(&[ρ, ν, λ]) * at(&[λ, μ, σ]))
                .sum();
            step(μ, ρ, ν, σ) - step(ν, ρ, μ, σ) + products
        };
        let (found, bare) = (local.tensor(with), local.tensor(plain));
        let nonholonomic = local.tensor(&c.nonholonomic_curvature);
        let inverse = local.tensor(&c.inverse);
        let F = local.tensor(&local.geometry.bundle_curvature);
        let dependent = &local.geometry.split.dependent;
        for i in 0..m.pow(4) {
            let i = [i / m.pow(3), i / m.pow(2) % m, i / m % m, i % m];
            close(found(&i), wanted(&c.connection, i), "R");
            close(bare(&i), wanted(&c.christoffel, i), "R of the Christoffel symbols");
            let [ρ, σ, μ, ν] = i;
            let side: f64 = dependent
                .iter()
                .enumerate()
                .map(|(α, &k)| {
                    let unit: Vec<f64> =
                        (0..case.n()).map(|j| f64::from(u8::from(j == k))).collect();
                    let covector = local.covector(&unit, σ);
                    let up: f64 =
                        (0..m).map(|τ| inverse(&[ρ, τ]) * dot(&x[τ], &covector)).sum();
                    F(&[α, μ, ν]) * up
                })
                .sum();
            close(nonholonomic(&i), found(&i) - side, "nonholonomic curvature");
        }
    }
}

/// What keeps a system from being one of Chaplygin, and a metric from being there.
#[test]
fn obstacles_are_named() {
    let of = |text: &str| {
        let m = model(text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        let g = geometry(&m, &e, None).unwrap();
        (g.obstacle.clone(), g.connection.as_ref().err().copied())
    };
    let (obstacle, metric) = of(OFF_BASE);
    let contains = |coefficient: &str, name: &str| {
        Some(Obstacle::Contains { coefficient: coefficient.into(), name: name.into() })
    };
    assert_eq!((obstacle, metric), (contains("epsilon[z,x]", "z"), None));
    let base = "coordinates x, y, z\n";
    let (obstacle, _) = of(&format!(
        "{base}lagrangian (x'^2 + (1 + z^2)*y'^2 + z'^2)/2\nconstraint c: z' = y*x'"
    ));
    assert_eq!(obstacle, contains("g[y,y]", "z"));
    let (obstacle, metric) =
        of(&format!("{base}lagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = y*x' + x"));
    assert_eq!((obstacle, metric), (Some(Obstacle::Drift { name: "z".into() }), None));
    let (obstacle, metric) =
        of(&format!("{base}lagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = t*x'"));
    assert_eq!((obstacle, metric), (contains("epsilon[z,x]", "t"), Some(NoMetric::Timely)));
    let (_, metric) = of(&format!(
        "{base}lagrangian ((1 + t^2)*x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = y*x'"
    ));
    assert_eq!(metric, Some(NoMetric::Timely));
    let (_, metric) =
        of(&format!("{base}lagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = t*x' + x*y'"));
    assert_eq!(metric, Some(NoMetric::Timely));
    let (_, metric) =
        of(&format!("{base}lagrangian x'^4 + y'^2 + z'^2\nconstraint c: z' = y*x'"));
    assert_eq!(metric, Some(NoMetric::NotQuadratic));
    let (_, metric) = of(&format!("{base}lagrangian x'^2\nconstraint c: z' = y*x'"));
    assert_eq!(metric, Some(NoMetric::Singular));
}
