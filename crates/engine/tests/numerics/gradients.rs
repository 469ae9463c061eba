//! Gradients by the adjoint equations.

use pfaff::{Run, Series};

use crate::support;

/// Gradients by the adjoint equations are those of the variational ones.
#[test]
fn adjoint_gradients_are_the_sensitivities() {
    let models = [
        "coordinates x, y, phi\nparameters m = 1.3, J = 0.5, a = 0.2, k = 0.7\n\
         let X = x + a*cos(phi)\nlet Y = y + a*sin(phi)\n\
         lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2 - k*x^2/2\n\
         constraint blade: y'*cos(phi) - x'*sin(phi) = 0\nforce phi: -0.1*phi'\n\
         initial phi = 0.2, x' = 1, phi' = 0.3\n\
         observe g = x^2 + sin(phi)*y' + m*lambda(blade)\nobserve e = energy\n",
        "coordinates x, y\nparameters l = 1, w = 2\nlagrangian (x'^2 + y'^2)/2 - w*y\n\
         constraint rod: x^2 + y^2 = l^2\ninitial x = 0.6, y' = 0.2\nobserve g = x*y\nobserve e = x'^2*w\n",
        "coordinates a, b\nparameters k = 0.5, r = 3\nequation a' = r*a*(1 - a) - b\n\
         equation b'' = -k*b' + a - b^3\ninitial a = 0.3, b = 0.1, b' = 0.2\nobserve g = a*b\nobserve e = b'^2\n",
        "coordinates x, y, z\nparameters k = 0.3\nlagrangian (x'^2 + y'^2 + z'^2)/2 - k*y^2\n\
         constraint c: z' = y*x'\nprinciple vakonomic\ninitial x' = 1, y' = 0.4, mu(c) = 0.5\n\
         observe g = z + x\nobserve e = y^2\n",
    ];
    for (k, text) in models.iter().enumerate() {
        let model = support::model(text);
        let names: Vec<String> = model.parameters.iter().map(|p| p.name.clone()).collect();
        let by = match k {
            2 => format!("{}, a(0), b'(0)", names.join(", ")),
            3 => format!("{}, y'(0), mu(c)(0)", names.join(", ")),
            _ => names.join(", "),
        };
        let run = Run::to(2.0).tolerance(1e-11).at([2.0]);
        let forward = support::run(&model, &run.clone().sensitivity(&by));
        for (place, name) in ["g", "e"].into_iter().enumerate() {
            let motion = support::run(&model, &run.clone().gradient(name, &by));
            let gradient = motion.gradient.expect("asked for");
            assert!((gradient.value - forward.observed[place].values[0]).abs() < 1e-8);
            for ((name, found), by) in gradient.by.iter().zip(&forward.sensitivities) {
                let expected = by.observed[place].values[0];
                let off = (found - expected).abs() / (1.0 + expected.abs());
                // Both are integrated with 1e-11.
                assert!(off < 1e-8, "model {k}, {name}: {found} for {expected}");
            }
        }
        // A coordinate and a velocity need not be observed.
        let (q, v) = (&model.coordinates[0].name, format!("{}'", model.coordinates[0].name));
        for (name, is_velocity) in [(q.clone(), false), (v, true)] {
            let motion = support::run(&model, &run.clone().gradient(&name, &by));
            let gradient = motion.gradient.expect("asked for");
            let pick = |q: &[Series], v: &[Series]| {
                if is_velocity { v[0].values[0] } else { q[0].values[0] }
            };
            assert!((gradient.value - pick(&forward.q, &forward.v)).abs() < 1e-8, "{name}");
            for ((parameter, found), by) in gradient.by.iter().zip(&forward.sensitivities) {
                let expected = pick(&by.q, &by.v);
                let off = (found - expected).abs() / (1.0 + expected.abs());
                assert!(off < 1e-8, "model {k}, {name} by {parameter}: {found} for {expected}");
            }
        }
        // An integral is a value at the end of one more equation.
        let integral = support::run(&model, &run.clone().gradient("integral(g)", &by));
        let gradient = integral.gradient.expect("asked for");
        let samples: Vec<f64> = (0..=400).map(|i| 0.005 * f64::from(i)).collect();
        let dense = support::run(&model, &Run { at: Some(samples), ..run.sensitivity(&by) });
        let simpson = |values: &[f64]| -> f64 {
            let weight = |i: usize| match i {
                0 | 400 => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            0.005 / 3.0 * values.iter().enumerate().map(|(i, x)| weight(i) * x).sum::<f64>()
        };
        assert!((gradient.value - simpson(&dense.observed[0].values)).abs() < 1e-8);
        for ((name, found), by) in gradient.by.iter().zip(&dense.sensitivities) {
            let expected = simpson(&by.observed[0].values);
            let off = (found - expected).abs() / (1.0 + expected.abs());
            assert!(off < 1e-8, "model {k}, integral by {name}: {found} for {expected}");
        }
    }
}

#[test]
fn gradients_of_what_is_not_there_are_refused() {
    let model = support::model("coordinates x\nlagrangian x'^2/2\nobserve g = x\n");
    let refused = |run: Run, words: &str| {
        let error = model.run(&run).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(Run::to(1.0).gradient("h", "x(0)"), "not an observed quantity");
    refused(Run::to(1.0).gradient("g", ""), "no parameters");
    refused(Run::to(1.0).gradient("g", "q"), "`q`");
}
