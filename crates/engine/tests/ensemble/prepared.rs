//! Models that are made ready once and run with other values, against runs of the text with these values.

use pfaff::{
    GALLERY, GalleryFiles, Method, Model, Motion, Overrides, Precision, PreparedModel, Run,
    Source,
};

/// The same motions: values differ by no more than 1e-10 of their size, because programs that were made at another
/// start may add in another order.
fn assert_same(name: &str, a: &Motion, b: &Motion) {
    assert_eq!(a.stop.reason, b.stop.reason, "{name}");
    assert_eq!(a.t.len(), b.t.len(), "{name}");
    for (x, y) in [(&a.q, &b.q), (&a.v, &b.v), (&a.observed, &b.observed)] {
        for (x, y) in x.iter().zip(y) {
            let size = y.values.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
            for (a, b) in x.values.iter().zip(&y.values) {
                let is_same = (a - b).abs() <= 1e-10 * size || a.is_nan() && b.is_nan();
                assert!(is_same, "{name}: {} {a} {b}", x.name);
            }
        }
    }
    assert_eq!(a.audit.verdict, b.audit.verdict, "{name}");
    assert_eq!(a.events.len(), b.events.len(), "{name}");
}

fn read(text: &str, set: &str, initial: &str) -> Option<Model> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let overrides = Overrides { set: some(set), initial: some(initial) };
    Model::read(Source::new("model", text), &overrides, &GalleryFiles).ok()
}

/// Over the gallery: the first parameter that decides nothing else and the first velocity at the start, changed a
/// little.
#[test]
fn prepared_runs_are_those_of_the_text() {
    let (mut ready, mut compared) = (0, 0);
    for entry in GALLERY.iter().filter(|entry| entry.text.len() < 1500) {
        let model = Model::gallery(entry.name).expect("it can be read");
        if !model.terminal.is_empty()
            || model.coordinates.len() > 12
            || pfaff::has_memory(&model.workspace())
        {
            continue;
        }
        let is_free = |p: &&pfaff_model::Parameter| {
            let defines = |other: &pfaff_model::Parameter| {
                other
                    .definition
                    .is_some_and(|e| model.workspace().graph.contains(e, &[p.symbol]))
            };
            !model.structural.contains(&p.symbol) && !model.parameters.iter().any(defines)
        };
        let Some(parameter) = model.parameters.iter().find(is_free) else { continue };
        let (name, value) = (parameter.name.clone(), parameter.value * 1.01);
        let solve = model.solve.range.expect("gallery models have a range");
        let request = Run::to(solve.0 + 0.05 * (solve.1 - solve.0)).samples(5);
        let Ok(prepared) = PreparedModel::new(&model, &[&name], &request) else { continue };
        ready += usize::from(prepared.is_ready());
        let text = read(entry.text, &format!("{name}={value:?}"), "").expect("another value");
        match (prepared.run(&[value]), text.run(&request)) {
            (Ok(a), Ok(b)) => {
                compared += 1;
                assert_same(entry.name, &a, &b);
            }
            (Err(_), Err(_)) => {}
            (a, b) => panic!("{}: {:?} and {:?}", entry.name, a.err(), b.err()),
        }
    }
    assert!(ready >= 10 && compared >= 20, "{ready} ready, {compared} compared");
}

const SLEIGH: &str = "\
coordinates x, y, phi
parameters m = 1, J = 0.5, a = 0.2, b = 2*a
kinetic m*((x' - a*phi'*sin(phi))^2 + (y' + a*phi'*cos(phi))^2)/2 + J*phi'^2/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
initial x' = 1, phi = 0.3, phi' = 0.7
observe speed = b*sqrt(x'^2 + y'^2)
event turn: x - 2
solve t = 0..5
";

/// Starts, tolerances, methods and other ends of the run.
#[test]
fn starts_and_settings_are_data() {
    let model = read(SLEIGH, "", "").expect("a sleigh");
    let names = ["a", "x'(0)", "phi(0)", "y(0)"];
    let requests = [
        Run::to(5.0),
        Run::to(5.0).tolerance(1e-6).samples(7),
        Run::to(3.0).tolerance(1e-12),
        Run::to(4.0).method(Method::Taylor),
        Run::to(2.0).method(Method::Radau).tolerance(1e-7),
    ];
    for (place, request) in requests.iter().enumerate() {
        let prepared =
            PreparedModel::new(&model, &names, &requests[place.min(1)]).expect("ready");
        assert!(prepared.is_ready());
        for values in [[0.2, 1.0, 0.3, 0.0], [0.4, -2.0, 2.5, 1.0], [0.05, 0.5, -1.4, 3.0]] {
            let [a, v, phi, y] = values;
            let initial = format!("x'={v:?}, phi={phi:?}, y={y:?}");
            let text = read(SLEIGH, &format!("a={a:?}"), &initial).expect("a sleigh");
            let ours = prepared.motion(&values, request, &mut |_| true).expect("a motion");
            assert_same("sleigh", &ours, &text.run(request).expect("a motion"));
        }
    }
}

/// An initial value that is made of another one, and parameters that decide what the model is.
#[test]
fn what_decides_the_text_is_refused() {
    let text = "parameters n = 2, w = 1\ncoordinates x[1..n]\nlagrangian sum(i=1..n, x[i]'^2 - w*x[i]^2)/2\n\
                initial x[1] = 1, x[2] = 2*x[1]\nsolve t = 0..1";
    let model = read(text, "", "").expect("two oscillators");
    let request = Run::to(1.0);
    assert!(PreparedModel::new(&model, &["n"], &request).is_err());
    assert!(PreparedModel::new(&model, &["x[1](0)"], &request).is_err());
    assert!(PreparedModel::new(&model, &["nothing"], &request).is_err());
    let prepared = PreparedModel::new(&model, &["w", "x[2](0)"], &request).expect("ready");
    assert!(prepared.run(&[1.0]).is_err());
    let x = prepared.run(&[4.0, 3.0]).expect("a motion").position("x[2]").expect("x[2]").last();
    assert!((x - 3.0 * libm::cos(2.0)).abs() < 1e-9, "{x}");
}

/// Threads share one prepared model.
#[test]
fn prepared_models_are_shared() {
    fn shared<T: Send + Sync>(_: &T) {}
    let model = read(SLEIGH, "", "").expect("a sleigh");
    let prepared = PreparedModel::new(&model, &["a"], &Run::to(1.0)).expect("ready");
    shared(&prepared);
    let run = |a: f64| prepared.run(&[a]).expect("a motion").position("x").expect("x").last();
    let (one, two) = (run(0.1), run(0.3));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(0.3));
        assert_eq!(run(0.1), one);
        assert_eq!(other.join().expect("no panic"), two);
    });
}

/// What is compiled once has doubles; a run with more digits is not given fewer.
#[test]
fn more_digits_are_not_lost() {
    let text = "coordinates x\nparameters k = 2\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1\n";
    let model = Model::parse(text).expect("a model");
    let request = Run::to(10.0).tolerance(1e-25).precision(Precision::DoubleDouble);
    let prepared = PreparedModel::new(&model, &["k"], &request).expect("ready");
    let motion = prepared.run(&[1.0]).expect("a motion");
    // The nearest double to cos 10, or its neighbour where libm rounds otherwise.
    assert!(
        (motion.position("x").expect("x").last() + 0.839_071_529_076_452_4).abs() < 1.2e-16
    );
}
