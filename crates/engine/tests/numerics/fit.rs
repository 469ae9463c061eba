//! Fits of parameters to motions that are known.

use pfaff::{
    Error, Fit, FitRequest, FitRun, Freedom, Loss, Measurements, Model, Run, fit, fit_runs,
    named_bounds, named_priors,
};

use crate::support;

const OSCILLATOR: &str = "\
coordinates x
parameters k = 3, d = 0.2, w = 1 + k
lagrangian x'^2/2 - k*x^2/2
force x: -d*x'
initial x = 0.8, x' = 0
solve t = 0..10
";

/// Numbers that look normally distributed, and are the same in every run.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform().max(1e-300), self.uniform());
        (-2.0 * libm::log(u)).sqrt() * libm::cos(2.0 * std::f64::consts::PI * v)
    }
}

/// A table of coordinates of a motion, with noise.
fn measured(
    text: &str,
    set: &str,
    columns: &[&str],
    samples: usize,
    σ: f64,
    seed: u64,
) -> Measurements {
    let overrides = pfaff::Overrides { set: Some(set.to_owned()), initial: None };
    let model = Model::read(pfaff::Source::new("model", text), &overrides, &pfaff::NoFiles)
        .unwrap_or_else(|error| panic!("{error}"));
    let motion = support::run(&model, &Run::default().samples(samples).tolerance(1e-12));
    let mut noise = Noise(seed);
    let columns = columns
        .iter()
        .map(|name| {
            let series =
                motion.columns().into_iter().find(|(n, _)| n == name).expect("a column");
            let values = series.1.iter().map(|x| Some(x + σ * noise.normal()));
            ((*name).to_owned(), values.collect())
        })
        .collect();
    Measurements { t: motion.t.clone(), columns }
}

fn request(parameters: &[&str]) -> FitRequest {
    FitRequest {
        parameters: parameters.iter().map(|&name| name.to_owned()).collect(),
        ..FitRequest::default()
    }
}

fn found(text: &str, data: &Measurements, request: &FitRequest) -> Fit {
    fit(&support::model(text), data, request).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn exact_data_give_exact_parameters() {
    let data = measured(OSCILLATOR, "k = 4, d = 0.35", &["x"], 40, 0.0, 1);
    let fit = found(OSCILLATOR, &data, &request(&["k", "d", "x'(0)"]));
    assert!(fit.is_converged && fit.unidentifiable.is_empty(), "{fit:?}");
    for (estimate, expected) in fit.parameters.iter().zip([4.0, 0.35, 0.0]) {
        // Motions with a tolerance of 1e-10 are fitted.
        assert!((estimate.value - expected).abs() < 1e-7, "{estimate:?}");
    }
    assert!(fit.residual < 1e-8, "{}", fit.residual);
}

/// The sleigh without its scale: m and J are known by their ratio only.
#[test]
fn a_scale_cannot_be_known() {
    let text = "\
coordinates x, y, phi
parameters m = 1, J = 0.5, a = 0.2
let X = x + a*cos(phi)
let Y = y + a*sin(phi)
lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
initial x' = 1, phi' = 1.3
solve t = 0..8
";
    let data = measured(text, "m = 2, J = 0.7, a = 0.25", &["x", "y", "phi"], 60, 1e-4, 5);
    let fit = found(text, &data, &request(&["m", "J", "a"]));
    let [m, inertia, a] = [0, 1, 2].map(|k| fit.parameters[k].value);
    assert!(
        (inertia / m - 0.35).abs() < 1e-3 && (a - 0.25).abs() < 1e-3,
        "{:?}",
        fit.parameters
    );
    let [direction] = fit.unidentifiable.as_slice() else { panic!("{:?}", fit.unidentifiable) };
    let [(first, dm), (second, dj)] = direction.as_slice() else { panic!("{direction:?}") };
    assert_eq!((first.as_str(), second.as_str()), ("m", "J"));
    // The direction is that of the scale, up to the errors of the motion.
    assert!((dm / dj - m / inertia).abs() < 1e-3, "{direction:?}");
    assert!(fit.parameters[0].sigma.is_nan() && fit.parameters[2].sigma < 1e-3);
    let both = [("m".to_owned(), 1.0), ("J".to_owned(), 1.0)];
    assert_eq!(fit.freedoms, [Freedom::Factor(both.to_vec())]);
}

/// x' = −r(a, b) x: of a product only a·b is known, of a sum only a + 2b, of a² + b³ a curve; and what does nothing
/// keeps its value.
#[test]
fn what_stays_free_is_a_formula() {
    let row = |i: i32| {
        let t = 0.1 * f64::from(i);
        format!("{t},{}\n", libm::exp(-0.7 * t) + 1e-3 * libm::sin(37.0 * t))
    };
    let rows: Vec<String> = (0..20).map(row).collect();
    let data = Measurements::read("m.csv", &format!("t,x\n{}", rows.concat())).expect("data");
    let of = |rate: &str| {
        let text = format!(
            "coordinates x\nparameters a = 1, b = 0.5, w = 3\nequation x' = -({rate})*x\ninitial x = 1\n"
        );
        found(&text, &data, &request(&["a", "w", "b"]))
    };
    let named = |a: f64, b: f64| vec![("a".to_owned(), a), ("b".to_owned(), b)];
    let fit = of("a^2*b");
    assert_eq!(fit.parameters[1].value, 3.0);
    assert!(fit.freedoms.contains(&Freedom::Factor(named(1.0, -2.0))), "{:?}", fit.freedoms);
    assert!(fit.freedoms.contains(&Freedom::Line(vec![("w".to_owned(), 1.0)])));
    let fit = of("a + 2*b");
    let line = fit.freedoms.iter().find_map(|freedom| match freedom {
        Freedom::Line(parts) if parts.len() == 2 => Some(parts[0].1 / parts[1].1),
        _ => None,
    });
    assert!(line.is_some_and(|ratio| (ratio + 2.0).abs() < 1e-6), "{:?}", fit.freedoms);
    let fit = of("a^2 + b^3");
    let is_tangent = |f: &Freedom| matches!(f, Freedom::Tangent(parts) if parts.len() == 2);
    assert!(fit.freedoms.iter().any(is_tangent), "{:?}", fit.freedoms);
}

/// Outliers of a hundred standard deviations, which nobody has told the fit: a robust loss finds the size of the other
/// errors by itself, and its intervals contain the truth about as often as they should.
#[test]
fn outliers_are_found_without_given_deviations() {
    let robust = |loss: Loss| FitRequest { loss, ..request(&["k", "d"]) };
    let (mut inside, mut all) = (0, 0);
    for seed in 0..20 {
        let mut data = measured(OSCILLATOR, "k = 4, d = 0.35", &["x"], 60, 0.002, 70 + seed);
        for (i, off) in [(7, 0.3), (22, -0.2), (41, 0.25)] {
            data.columns[0].1[i] = data.columns[0].1[i].map(|x| x + off);
        }
        for loss in [Loss::Huber, Loss::Cauchy] {
            let fit = found(OSCILLATOR, &data, &robust(loss));
            for (estimate, truth) in fit.parameters.iter().zip([4.0, 0.35]) {
                assert!((estimate.value - truth).abs() < 0.02, "{loss:?}: {estimate:?}");
                let [low, high] = estimate.interval;
                (inside, all) = (inside + i32::from((low..=high).contains(&truth)), all + 1);
            }
            let σ = fit.sigmas[0].1;
            assert!((0.001..0.004).contains(&σ), "{loss:?}: {σ} for 0.002");
        }
    }
    assert!(f64::from(inside) > 0.85 * f64::from(all), "{inside} of {all}");
}

/// Of 200 sets of data, 95 % ± 4.6 % (three standard deviations of that number) have the truth in their interval.
#[test]
fn intervals_contain_the_truth() {
    let (mut inside, mut all) = (0, 0);
    for seed in 0..100 {
        let data = measured(OSCILLATOR, "k = 4, d = 0.35", &["x"], 25, 0.02, 1000 + seed);
        let fit = found(OSCILLATOR, &data, &request(&["k", "d"]));
        for (estimate, truth) in fit.parameters.iter().zip([4.0, 0.35]) {
            all += 1;
            inside +=
                usize::from((estimate.interval[0]..=estimate.interval[1]).contains(&truth));
        }
    }
    let part = inside as f64 / f64::from(all);
    assert!((part - 0.95).abs() < 0.046, "{part}");
}

/// The intervals of the sleigh's parameters and of its initial velocities: with `PFAFF_TESTS=full` of 1 000 sets of
/// data 93 to 97 % have the truth in each (two standard deviations of that number are 1.4 %), else of 12 sets most.
#[test]
fn intervals_of_the_sleigh_contain_the_truth() {
    const SLEIGH: &str = "\
coordinates x, y, phi
parameters m = 1, J = 0.6, a = 0.25
let X = x + a*cos(phi)
let Y = y + a*sin(phi)
lagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
initial x' = 1, phi' = 0.3
solve t = 0..10
";
    let full = std::env::var_os("PFAFF_TESTS").is_some_and(|v| v == "full");
    let sets: u64 = if full { 1000 } else { 12 };
    let truth = [0.5, 0.2, 1.0, 0.3];
    let mut inside = [0_u32; 4];
    for seed in 0..sets {
        let columns = ["x", "y", "phi"];
        let data = measured(SLEIGH, "J = 0.5, a = 0.2", &columns, 41, 0.01, 5000 + 7 * seed);
        let fit = found(SLEIGH, &data, &request(&["J", "a", "x'(0)", "phi'(0)"]));
        for (k, estimate) in fit.parameters.iter().enumerate() {
            let [low, high] = estimate.interval;
            inside[k] += u32::from((low..=high).contains(&truth[k]));
        }
    }
    let parts = inside.map(|n| f64::from(n) / sets as f64);
    let (low, high) = if full { (0.93, 0.97) } else { (0.6, 1.0) };
    assert!(parts.iter().all(|part| (low..=high).contains(part)), "{parts:?}");
}

#[test]
fn gaps_weights_outliers_and_bounds() {
    let mut data = measured(OSCILLATOR, "k = 4, d = 0.35", &["x", "x'"], 60, 1e-3, 9);
    for (i, value) in data.columns[0].1.iter_mut().enumerate() {
        if i % 3 == 1 {
            *value = None;
        }
    }
    let fit = found(OSCILLATOR, &data, &request(&["k", "d"]));
    assert_eq!(fit.values, 100);
    assert!((fit.parameters[0].value - 4.0).abs() < 5.0 * fit.parameters[0].sigma, "{fit:?}");
    // Two wild values spoil least squares, and not the robust loss.
    data.columns[0].1[6] = Some(9.0);
    data.columns[0].1[30] = Some(-7.0);
    let sigmas = vec![("x".to_owned(), 1e-3), ("x'".to_owned(), 1e-3)];
    let robust = FitRequest { loss: Loss::Cauchy, sigmas, ..request(&["k", "d"]) };
    let off = |fit: &Fit| (fit.parameters[0].value - 4.0).abs();
    let fit = found(OSCILLATOR, &data, &robust);
    let spoilt =
        found(OSCILLATOR, &data, &FitRequest { loss: Loss::Squares, ..robust.clone() });
    assert!(
        off(&fit) < 1e-3 && off(&spoilt) > 10.0 * off(&fit),
        "{} {}",
        off(&fit),
        off(&spoilt)
    );
    let bounds = named_bounds("k=0..3.5").expect("bounds");
    let fit = found(OSCILLATOR, &data, &FitRequest { bounds, ..robust });
    assert_eq!(fit.parameters[0].value, 3.5);
    assert!(fit.notes.iter().any(|note| note.contains("held at its bound")), "{:?}", fit.notes);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let model = support::model(OSCILLATOR);
    let data = measured(OSCILLATOR, "k = 4", &["x"], 10, 0.0, 3);
    let refused = |data: &Measurements, request: &FitRequest| -> String {
        match fit(&model, data, request) {
            Err(Error::Usage(message)) => message,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(&data, &request(&["q"])).contains("`q` is no parameter"));
    assert!(refused(&data, &request(&[])).contains("no parameters"));
    let few = Measurements { t: vec![1.0], columns: vec![("x".into(), vec![Some(0.1)])] };
    assert!(refused(&few, &request(&["k", "d"])).contains("more parameters than data"));
    let early = Measurements { t: vec![-1.0], columns: vec![("x".into(), vec![Some(0.1)])] };
    assert!(refused(&early, &request(&["k"])).contains("before the motion"));
    let strange = Measurements { t: vec![1.0], columns: vec![("u".into(), vec![Some(0.1)])] };
    assert!(refused(&strange, &request(&["k"])).contains("no column of a coordinate"));
    let read = |text: &str| Measurements::read("m.csv", text).expect_err(text).to_string();
    assert!(read("t,x\n0,1\n1,nan\n").contains("line 3: `nan` in the column `x`"));
    assert!(read("t,x\n1,1\n0,1\n").contains("the times must ascend"));
    assert!(read("t,x\n,1\n").contains("line 2"));
    assert!(read("x\n1\n").contains("no column `t`"));
    assert!(read("t,x\n1,2,3\n").contains("3 cells"));
    assert!(read("t;x\n1,5;2,5\n").contains("separated by commas"));
    assert!(
        read("t,x\n0,1\n1,1e300\n").contains("line 3: `1e300` in the column `x` is too large")
    );
    // A parameter that does nothing is named.
    let fit = found(OSCILLATOR, &data, &request(&["k", "w"]));
    assert_eq!(fit.unidentifiable, [vec![("w".to_owned(), 1.0)]]);
    assert!(
        fit.notes.iter().any(|note| note.contains("do not depend on `w`")),
        "{:?}",
        fit.notes
    );
}

#[test]
fn priors_and_data_share_by_their_weights() {
    // x(t) = x0 cos(t) known to σ = 0.1 at t = 0, and the prior x0 = 2 ± 0.1: the mean of both.
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n";
    let data = Measurements::read("m.csv", "t,x\n0,1\n").expect("data");
    let mut request = request(&["x(0)"]);
    request.sigmas = vec![("x".into(), 0.1)];
    request.priors = named_priors("x(0)=2±0.1").expect("a prior");
    let found = found(text, &data, &request);
    let estimate = &found.parameters[0];
    assert!((estimate.value - 1.5).abs() < 1e-8, "{estimate:?}");
    assert!((estimate.sigma - 0.1 / 2.0_f64.sqrt()).abs() < 1e-8, "{estimate:?}");
    assert!(named_priors("m=1").is_err() && named_priors("m=1+-x").is_err());
    request.priors = named_priors("k=1+-0.1").expect("a prior");
    let model = support::model(text);
    assert!(matches!(fit(&model, &data, &request), Err(Error::Usage(m)) if m.contains("`k`")));
}

#[test]
fn runs_share_their_parameters() {
    let text =
        "coordinates x\nparameters k = 3\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1, x' = 0\n";
    let rows = |x0: f64, v0: f64| -> Measurements {
        let row = |i: i32| {
            let t = 0.2 * f64::from(i);
            let x = x0 * libm::cos(2.0 * t) + 0.5 * v0 * libm::sin(2.0 * t);
            format!("{t},{x}\n")
        };
        let text: String = (0..20).map(row).collect();
        Measurements::read("m.csv", &format!("t,x\n{text}")).expect("data")
    };
    let runs = [
        FitRun { data: rows(1.0, 0.0), values: Vec::new() },
        FitRun { data: rows(1.0, 1.5), values: vec![("x'(0)".into(), 1.5)] },
        FitRun { data: rows(-0.5, 0.0), values: vec![("x(0)".into(), -0.5)] },
    ];
    let found = fit_runs(&support::model(text), &runs, &request(&["k"])).expect("a fit");
    assert!((found.parameters[0].value - 4.0).abs() < 1e-6, "{:?}", found.parameters);
    assert_eq!((found.values, found.residuals.len()), (60, 3));
    assert_eq!(found.residuals[1].0, "x (run 2)");
    let twice = [FitRun { data: rows(1.0, 0.0), values: vec![("k".into(), 4.0)] }];
    let error = fit_runs(&support::model(text), &twice, &request(&["k"])).expect_err("sought");
    assert!(error.to_string().contains("`k` is sought"), "{error}");
}

/// The profile of y = e^(−k t): χ² = Σ (e^(−k t) − d)²/σ² rises by 3.84 at its ends, on both sides of a fit that is far
/// from linear; where the model is linear the profile is the interval.
#[test]
fn profiles_end_where_the_loss_has_risen() {
    let text = "coordinates x\nparameters k = 1\nequation x' = -k*x\ninitial x = 1\n";
    let times = [1.0, 2.0, 3.0];
    let row = |t: &f64| format!("{t},{}\n", libm::exp(-0.7 * t));
    let measured = times.iter().map(row).collect::<Vec<_>>().concat();
    let data = Measurements::read("m.csv", &format!("t,x\n{measured}")).expect("data");
    let mut request = request(&["k"]);
    request.sigmas = vec![("x".into(), 0.2)];
    request.profile = true;
    let found = found(text, &data, &request);
    let [low, high] = found.parameters[0].profile.expect("a profile");
    let rise = |k: f64| -> f64 {
        let off = |t: &f64| (libm::exp(-k * t) - libm::exp(-0.7 * t)) / 0.2;
        times.iter().map(|t| off(t).powi(2)).sum()
    };
    for end in [low, high] {
        // The rise is met to 2 %.
        assert!((rise(end) / 3.8415 - 1.0).abs() < 0.03, "{end}: {}", rise(end));
    }
    let [left, right] = [0.7 - low, high - 0.7];
    assert!(right > 1.2 * left, "the interval is not symmetric: {left} and {right}");
    let text = "coordinates x\nlagrangian x'^2/2\ninitial x = 1, x' = 0.5\n";
    let data = Measurements::read("m.csv", "t,x\n0,1\n1,1.6\n2,2\n").expect("data");
    request.parameters = vec!["x'(0)".into()];
    let line = found_profile(text, &data, &request);
    let (a, b) = line;
    assert!((a[0] - b[0]).abs() < 5e-3 && (a[1] - b[1]).abs() < 5e-3, "{a:?} and {b:?}");
}

fn found_profile(
    text: &str,
    data: &Measurements,
    request: &FitRequest,
) -> ([f64; 2], [f64; 2]) {
    let estimate = &found(text, data, request).parameters[0];
    (estimate.interval, estimate.profile.expect("a profile"))
}
