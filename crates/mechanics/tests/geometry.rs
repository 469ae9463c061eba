//! Connections, flags, foliations and sprays, against differences and closed forms.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Abnormal, AbnormalPlaces, Distribution, Flag, Geometry, NoMetric, Obstacle, Principle,
    Tensor, abnormal, abnormal_places, closedness, constrained_system, derive, first_integrals,
    foliation, geometry, integrals, is_adapted, lagrange_space, lepage, normal_form,
    prescribed_speed, split,
};
use pfaff_model::Workspace;

use crate::support::{
    Case, LINEAR, NONLINEAR, State, all_close, close, dot, model, slope, solve,
};

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
    let (_, metric) =
        of(&format!("{base}lagrangian x'^4 + y'^2 + z'^2\nconstraint c: z' = y*x'"));
    assert_eq!(metric, Some(NoMetric::NotQuadratic));
    let (_, metric) = of(&format!("{base}lagrangian x'^2\nconstraint c: z' = y*x'"));
    assert_eq!(metric, Some(NoMetric::Singular));
}

fn distribution(text: &str) -> (Workspace, Distribution, Flag, Tensor) {
    let m = model(text).workspace();
    let e = derive(&m, Principle::Chetaev).unwrap();
    let s = split(&m, &e, None).unwrap();
    let d = Distribution::new(&m, &s);
    let flag = d.flag(&m.graph);
    let g = geometry(&m, &e, None).unwrap();
    (m, d, flag, g.bundle_curvature)
}

fn with(coordinates: &str, constraints: &str) -> String {
    let kinetic: Vec<String> = coordinates.split(", ").map(|c| format!("{c}'^2")).collect();
    format!("coordinates {coordinates}\nlagrangian ({})/2\n{constraints}", kinetic.join(" + "))
}

/// Growth vectors of the classical distributions.
#[test]
fn flags_grow_as_known() {
    let growth = |coordinates: &str, constraints: &str| {
        let (_, _, flag, _) = distribution(&with(coordinates, constraints));
        assert!(flag.complete);
        assert_eq!(flag.closure_rank(), *flag.growth().last().unwrap());
        assert_eq!(flag.fields().len(), flag.closure_rank());
        flag.growth()
    };
    assert_eq!(growth("x, y, z", "constraint c: z' = (x*y' - y*x')/2"), [2, 3]);
    assert_eq!(
        growth("x, y, z, w", "constraint a: y' = z*x'\nconstraint b: z' = w*x'"),
        [2, 3, 4]
    );
    assert_eq!(growth("x, y, z", "constraint c: x*x' + y*y' + z' = 0"), [2]);
    assert_eq!(growth("x, y, z", "constraint a: z' = y*x'\nconstraint b: y' = 0"), [1]);
    assert_eq!(
        growth(
            "x, w, z, y, u",
            "constraint a: z' = w*x'\nconstraint b: y' = w^2*x'\nconstraint c: u' = x*w*x'"
        ),
        [2, 3, 5]
    );
    // With drift the distribution lives over (q, t), the drift first.
    let (m, d, flag, _) = distribution(&with("x, y", "constraint c: y' = x"));
    assert_eq!((d.dimension(), flag.growth()), (3, vec![2, 3]));
    assert_eq!(d.names, ["X[t]", "X[x]"]);
    assert_eq!(d.text(&flag.levels[1][0].word), "[X[t], X[x]]");
    // [∂_t + x ∂_y, ∂_x] = −∂_y
    let values = m.graph.evaluate(&flag.levels[1][0].field, &|_| 0.4);
    assert_eq!(values, [0.0, -1.0, 0.0]);
    let (m, d, _, _) = distribution(&with("x, y, z", "constraint c: z' = y*x'"));
    let x = |i: usize| d.generators[i].field.clone();
    let bracket = d.bracket(&m.graph, &x(0), &x(1));
    assert_eq!(m.graph.evaluate(&bracket, &|_| 0.4), [0.0, 0.0, -1.0]);
    assert_eq!(d.deepen(&m.graph, &d.generators).len(), 1);
    assert!(
        d.is_beyond_reason(&m.graph, 0, 401)
            && !d.is_beyond_reason(&m.graph, m.graph.len(), 400)
    );
}

/// Functions that the constraints keep: constant along the fields, with a gradient that is not zero.
#[test]
fn kept_functions_are_constant_on_leaves() {
    for (coordinates, constraints, count) in [
        ("x, y, z", "constraint c: x*x' + y*y' + z' = 0", 1),
        ("x, y, z", "constraint c: y*x' - x*y' = 0", 1),
        ("x, y, z", "constraint a: z' = y*x'\nconstraint b: y' = 0", 1),
        ("x, y, z", "constraint c: z' = y*x'", 0),
        ("x, y", "constraint c: cos(x)*x' + exp(y)*(1 + x^2)*y'/(1 + x^2) = 0", 1),
    ] {
        let (m, d, flag, _) = distribution(&with(coordinates, constraints));
        let g = &m.graph;
        let found = integrals(g, &d, &flag);
        assert_eq!(found.len(), count, "{constraints}");
        let at = |s: Expr| 0.3 + 0.07 * s.index() as f64;
        for h in found {
            let gradient = g.evaluate(&g.gradient(h, &d.variables), &at);
            assert!(gradient.iter().any(|x| x.abs() > 1e-3), "{}", g.to_text(h));
            for x in &d.generators {
                close(dot(&gradient, &g.evaluate(&x.field, &at)), 0.0, &g.to_text(h));
            }
        }
    }
}

/// Abnormal directions of the classical distributions.
#[test]
fn abnormal_directions_are_known() {
    let of = |coordinates: &str, constraints: &str| {
        let (m, d, flag, f) = distribution(&with(coordinates, constraints));
        let found = abnormal(&m.graph, &d, &flag, &f);
        let numbers = |es: &[Expr]| m.graph.evaluate(es, &|s| 0.3 + 0.1 * s.index() as f64);
        match found {
            Abnormal::None(es) => ("none", vec![numbers(&es)]),
            Abnormal::Directions(all) => {
                ("directions", all.iter().map(|d| numbers(d)).collect())
            }
            Abnormal::Every => ("every", Vec::new()),
            Abnormal::Open => ("open", Vec::new()),
        }
    };
    let parallel = |found: &[f64], wanted: &[f64]| {
        let cosine = dot(found, wanted) / (dot(found, found) * dot(wanted, wanted)).sqrt();
        close(cosine.abs(), 1.0, "the direction");
    };
    let (kind, all) = of("x, y, z", "constraint c: z' = y*x'");
    assert_eq!(kind, "none");
    close(all[0][0].abs(), 1.0, "the curvature does not vanish");
    let (kind, all) = of("x, y, u, z", "constraint c: z' = y*x' + u*x'");
    assert_eq!((kind, all.len()), ("directions", 1));
    parallel(&all[0], &[0.0, 1.0, -1.0]);
    let (kind, all) = of("x, w, z, y", "constraint a: y' = z*x'\nconstraint b: z' = w*x'");
    assert_eq!((kind, all.len()), ("directions", 1), "Engel's");
    // Base coordinates are w and z, which the coefficients contain: the direction is that of w.
    parallel(&all[0], &[1.0, 0.0]);
    assert_eq!(
        of(
            "x, w, z, y, u",
            "constraint a: z' = w*x'\nconstraint b: y' = w^2*x'\nconstraint c: u' = x*w*x'"
        )
        .0,
        "every"
    );
    let (kind, all) = of("x, y, u, a, b", "constraint c: a' = y*x'\nconstraint d: b' = u*x'");
    assert_eq!((kind, all.len()), ("directions", 2));
    // f^α = ½ε F^α: of F_xy and F_xu, the planes without x.
    all.iter().for_each(|d| close(d[0], 0.0, "in the span of the curvatures"));
    assert_eq!(
        of(
            "x, y, u, a, b, c",
            "constraint d: a' = y*x'\nconstraint e: b' = u*x'\nconstraint f: c' = y*u'"
        )
        .0,
        "every"
    );
    assert_eq!(
        of(
            "x, y, u, v, a, b",
            "constraint d: a' = y*x' + v*u'\nconstraint e: b' = u*x' + v*y'"
        )
        .0,
        "open"
    );
    assert_eq!(of("x, y, z", "constraint c: z' = x'").0, "directions");
    assert_eq!(of("x, y", "").0, "none");
}

/// Places of abnormal extremals: the sheet of Martinet, and everywhere for Engel.
#[test]
fn abnormal_places_are_known() {
    let of = |coordinates: &str, constraints: &str| {
        let m = model(&with(coordinates, constraints)).workspace();
        let e = derive(&m, Principle::Vakonomic).unwrap();
        let found = abnormal_places(&m, &e);
        (found, m, e)
    };
    assert_eq!(of("x, y, z", "constraint c: z' = y*x'").0, None);
    let (found, m, _) = of("x, y, z", "constraint c: z' = y^2*x'");
    let Some(AbnormalPlaces::Where(e)) = found else { panic!("{found:?}") };
    let y = m.coordinates[1].position;
    let at = |value: f64| m.graph.evaluate(&[e], &|s| if s == y { value } else { 0.7 })[0];
    close(at(0.0), 0.0, "on the sheet");
    assert!(at(0.5).abs() > 0.1, "beside it");
    let everywhere = Some(AbnormalPlaces::Everywhere);
    assert_eq!(
        of("x, w, z, y", "constraint a: y' = z*x'\nconstraint b: z' = w*x'").0,
        everywhere
    );
    assert_eq!(
        of("x, y, u, z", "constraint c: z' = y*x'").0,
        everywhere,
        "an odd number of fields"
    );
    assert_eq!(of("x, y, u, v, z", "constraint c: z' = y*x' + v*u'").0, None);
    let (found, m, _) = of("x, y, u, v, z", "constraint c: z' = y^2*x' + v*u'");
    let Some(AbnormalPlaces::Where(e)) = found else { panic!("{found:?}") };
    let y = m.coordinates[1].position;
    close(m.graph.evaluate(&[e], &|s| if s == y { 0.0 } else { 0.7 })[0], 0.0, "the Pfaffian");
    assert_eq!(of("x, y, z", "constraint c: x^2 + y^2 = 1").0, None);
    let possible = Some(AbnormalPlaces::Possible);
    assert_eq!(of("x, y, z", "constraint c: z'^2 = x'^2 + y'^2").0, possible);
    assert_eq!(of("x, y, z", "constraint c: z' = t*x'").0, possible);
    // Beside a first integral, the bracket of two fields in four dimensions.
    let (found, m, e) = of("x, y, z, w", "constraint a: z' = y^2*x'\nconstraint b: w' = 0");
    assert!(matches!(found, Some(AbnormalPlaces::Where(_))), "{found:?}");
    assert_eq!(first_integrals(&m, &e), Some(1));
    let (_, m, e) = of("x, y, z", "constraint c: z' = y*x'");
    assert_eq!(first_integrals(&m, &e), Some(0));
}

/// (PP): both sides agree along the motion; curvatures are differences of the slopes.
#[test]
fn foliations_give_the_motion() {
    let linear = LINEAR
        .iter()
        .filter(|(n, _)| !["snake", "ball", "robot"].iter().any(|w| n.starts_with(w)));
    for (name, text) in linear.chain(&NONLINEAR[..3]) {
        let case = Case::new(text, Principle::Chetaev, 33).in_motion();
        let s = &case.state;
        let n = normal_form(&case.model, &case.equations, None).unwrap();
        let f = foliation(&case.model, &n).unwrap();
        all_close(&case.values(&f.left), &case.values(&f.right), name);
        let (m, k) = (n.leaf.len(), n.transverse.len());
        close(case.value(f.lagrangian), case.lagrangian(s), name);
        // (1 C) L_yy (1 C)ᵀ
        let mass = case.rows(&case.equations.mass);
        let lift = |i: usize| -> Vec<f64> {
            let mut x = vec![0.0; case.n()];
            x[n.transverse[i]] = 1.0;
            n.leaf
                .iter()
                .enumerate()
                .for_each(|(u, &j)| x[j] = case.value(n.slopes.at(&[u, i])));
            x
        };
        for i in 0..k {
            for j in 0..k {
                let (x, y) = (lift(i), lift(j));
                let wanted: f64 = (0..case.n()).map(|r| x[r] * dot(&mass[r], &y)).sum();
                close(case.value(f.hessian.at(&[i, j])), wanted, name);
            }
        }
        if !n.is_explicit {
            continue;
        }
        // δ_i e by differences at fixed ȳ
        let step = |i: usize, e: Expr| {
            let x = lift(i);
            slope(|h| {
                let mut there = s.clone();
                there.q.iter_mut().zip(&x).for_each(|(q, x)| *q += h * x);
                case.at(&there, e)
            })
        };
        for u in 0..m {
            for i in 0..k {
                for j in 0..k {
                    let wanted = step(j, n.slopes.at(&[u, i])) - step(i, n.slopes.at(&[u, j]));
                    close(case.value(f.curvature.at(&[u, i, j])), wanted, name);
                    let slopes = n.slopes.at(&[u, i]);
                    let bend = case.by_velocity(s, n.transverse[j], &|s| case.at(s, slopes));
                    close(case.value(f.bend.at(&[u, i, j])), bend, name);
                }
                let carried = case.rate(&|s| case.at(s, n.slopes.at(&[u, i])));
                let wanted = carried - step(i, n.rates[u]);
                close(case.value(f.s_curvature.at(&[u, i])), wanted, name);
                if let Some(γ) = &f.gamma {
                    let turned: f64 = (0..k)
                        .map(|j| case.value(f.curvature.at(&[u, i, j])) * s.v[n.transverse[j]])
                        .sum();
                    close(case.value(γ.at(&[u, i])) + turned, wanted, "R = γ + B ȳ");
                }
            }
            if let Some(b) = &f.drift {
                let mut still = s.clone();
                n.transverse.iter().for_each(|&i| still.v[i] = 0.0);
                close(case.value(b[u]), case.at(&still, n.rates[u]), "drift");
            }
        }
    }
}

#[test]
fn adapted_lagrangians_are_recognised() {
    let of = |lagrangian: &str| {
        let text =
            format!("coordinates x, y, z\nlagrangian {lagrangian}\nconstraint c: z' = y*x'");
        let m = model(&text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        is_adapted(&m, &normal_form(&m, &e, None).unwrap())
    };
    assert_eq!(of("(x'^2 + y'^2 + (z' - y*x')^2)/2 - x"), Some(true));
    assert_eq!(of("(x'^2 + y'^2 + z'^2)/2"), Some(false), "z' and x' are joined");
    assert_eq!(of("((1 + z^2)*x'^2 + (z' - y*x')^2)/2"), Some(false), "the place on the leaf");
}

/// (Kr) and the Lepage form: accelerations of the motion.
#[test]
fn constrained_systems_give_the_motion() {
    let linear =
        LINEAR.iter().filter(|(n, _)| !n.starts_with("snake") && !n.starts_with("ball"));
    for (name, text) in linear.chain(&NONLINEAR[..3]) {
        let case = Case::new(text, Principle::Chetaev, 34).in_motion();
        let s = &case.state;
        let n = normal_form(&case.model, &case.equations, None).unwrap();
        let system = constrained_system(&case.model, &case.equations, &n).unwrap();
        let a: Vec<f64> = n.transverse.iter().map(|&k| s.a[k]).collect();
        let k = a.len();
        let (force, matrix) = (case.values(&system.force), case.values(&system.matrix.entries));
        (0..k).for_each(|i| close(force[i] + dot(&matrix[i * k..][..k], &a), 0.0, name));
        let solved = system.accelerations(&case.model).expect("regular");
        all_close(&case.values(&solved), &a, name);
        // i_Γ α = (f − M q̈)·ω with Γ = (1, q̇, q̈)
        let g = &case.model.graph;
        let (space, α) = lepage(&case.model, &case.equations);
        let field =
            [vec![g.one()], case.model.velocities(), case.model.accelerations()].concat();
        let inner = α.interior(g, &field);
        let (mass, f) = (case.rows(&case.equations.mass), case.values(&case.equations.force));
        assert_eq!(space.coordinates.len(), 2 * case.n() + 1);
        for i in 0..case.n() {
            let balance = f[i] - dot(&mass[i], &s.a);
            let found = case.value(inner.coefficient(g, &[1 + i]));
            close(found, -balance, name);
        }
    }
    let case = Case::new(NONLINEAR[3].1, Principle::Chetaev, 34);
    let n = normal_form(&case.model, &case.equations, None).unwrap();
    assert!(constrained_system(&case.model, &case.equations, &n).is_none());
}

/// Spray, semispray, nonlinear connection and its curvature.
#[test]
fn lagrange_spaces_have_their_sprays() {
    for (name, text) in LINEAR[..7].iter().chain(&NONLINEAR[..2]) {
        let case = Case::new(text, Principle::Chetaev, 35).in_motion();
        let (s, n) = (&case.state, case.n());
        let space = lagrange_space(&case.model, &case.equations);
        let mass = case.rows(&case.equations.mass);
        let velocity = |k: usize, f: &dyn Fn(&State) -> f64| case.by_velocity(s, k, f);
        for i in 0..n {
            for j in 0..n {
                close(case.value(space.metric.at(&[i, j])), mass[i][j] / 2.0, name);
                let wanted =
                    velocity(i, &|s| case.forces(s)[j]) - velocity(j, &|s| case.forces(s)[i]);
                close(case.value(space.elicoidal.at(&[i, j])), wanted, name);
            }
        }
        // 2G = M⁻¹(Q − f): minus the acceleration without forces and reactions.
        let mut free = s.clone();
        free.a = vec![0.0; n];
        let rest = case.euler(&free, &|s| case.lagrangian(s));
        let wanted = solve(mass, rest);
        let spray: Vec<f64> =
            case.values(space.spray.as_ref().unwrap()).iter().map(|x| 2.0 * x).collect();
        all_close(&spray, &wanted, name);
        let semispray = space.semispray.as_ref().unwrap();
        let doubled: Vec<f64> =
            case.values(&semispray.coefficients).iter().map(|x| -2.0 * x).collect();
        all_close(&doubled, &s.a, name);
        all_close(&case.values(&semispray.multipliers), &s.lambda, name);
        let N = semispray.connection(&case.model);
        let R = semispray.curvature(&case.model, &N);
        let at = |s: &State, i: usize, j: usize| case.at(s, N.at(&[i, j]));
        for i in 0..n {
            for j in 0..n {
                let wanted = velocity(j, &|s| case.at(s, semispray.coefficients[i]));
                close(at(s, i, j), wanted, name);
                for k in 0..n {
                    let step = |k: usize, j: usize| {
                        let vertical: f64 =
                            (0..n).map(|l| at(s, l, k) * velocity(l, &|s| at(s, i, j))).sum();
                        case.by_position(s, k, &|s| at(s, i, j)) - vertical
                    };
                    close(case.value(R.at(&[i, j, k])), step(k, j) - step(j, k), name);
                }
            }
        }
    }
}

/// $C_{ij} = \partial_j(\lambda a_i) - \partial_i(\lambda a_j)$
#[test]
fn closedness_is_the_differential_of_the_reaction() {
    let case = Case::new(LINEAR[1].1, Principle::Chetaev, 36);
    let g = &case.model.graph;
    let q = case.model.positions();
    let λ = g.mul(q[0], g.sin(q[2]));
    let c = closedness(&case.model, &case.equations.jacobian, &[λ]);
    for i in 0..3 {
        for j in 0..3 {
            let form =
                |s: &State, i: usize| case.at(s, λ) * case.at(s, case.equations.jacobian[0][i]);
            let wanted = case.by_position(&case.state, j, &|s| form(s, i))
                - case.by_position(&case.state, i, &|s| form(s, j));
            close(case.value(c.at(&[i, j])), wanted, "C");
        }
    }
}

/// $[L]_k = \lambda_v\,g_{kl}\dot q^l$ along a motion with prescribed speed, with and without `potential`.
#[test]
fn prescribed_speed_pulls_along_the_velocity() {
    let metric = "u'^2 + sin(u)^2*v'^2 + 0.3*u'*v'";
    let pace = format!("constraint pace: 3*({metric}) = 3*(1 + t^2)");
    let texts = [
        format!("coordinates u, v\nkinetic ({metric})/2\npotential u*v^2\n{pace}"),
        format!("coordinates u, v\nlagrangian ({metric})/2 - u*v^2\n{pace}"),
        format!("coordinates u, v\nkinetic ({metric})/2 + u^2\npotential u*v^2 + u^2\n{pace}"),
    ];
    for text in &texts {
        let case = Case::new(text, Principle::Chetaev, 37).in_motion();
        let s = &case.state;
        let found = prescribed_speed(&case.model, &case.equations).expect("a speed");
        close(case.value(found.square), 1.0 + s.t * s.t, "square");
        let euler = case.euler(s, &|s| case.lagrangian(s));
        let p = case.values(&case.equations.momenta);
        let factor = case.value(found.factor);
        (0..2).for_each(|k| close(euler[k], factor * p[k], text));
    }
    let none = |text: &str| {
        let m = model(text).workspace();
        let e = derive(&m, Principle::Chetaev).unwrap();
        prescribed_speed(&m, &e).is_none()
    };
    assert!(none(&format!("{}\nforce u: 1", texts[0])));
    let plain = "coordinates u, v\nlagrangian (u'^2 + v'^2)/2";
    assert!(none(&format!("{plain} + u*v'\nconstraint c: u'^2 + v'^2 = 1")));
    assert!(none(&format!("{plain}\nconstraint c: u'^2 + 2*v'^2 = 1")));
    assert!(none(&format!("{plain}\nconstraint c: u'^2 + v'^2 = 1 + u")));
    assert!(none(&format!("{plain}\nconstraint c: u' = v*v'")));
    assert!(none(
        "coordinates u, v\nlagrangian (1 + t)*(u'^2 + v'^2)/2\nconstraint c: (1 + t)*(u'^2 + v'^2) = 1"
    ));
    assert!(none(&format!("{plain}\nconstraint c: u*(u'^2 + v'^2) = u")));
}
