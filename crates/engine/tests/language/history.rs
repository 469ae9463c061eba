//! A model does not change: whatever was asked of it before, on whatever thread, an answer has the bits that a
//! fresh model gives.

use pfaff::{
    Derivation, ExportForm, GeometryRequest, Language, Model, Motion, Principle, Run, check,
    compare, derive, export, geometry_with,
};
use pfaff_present::{ToJson, ToText, present, present_reduced};

use crate::support::{self, Random, count};

type Ask = fn(&Model) -> String;

/// What can be asked. Each answer is a text: numbers are written so that they read back exactly.
const CALLS: &[(&str, Ask)] = &[
    ("check", |model| format!("{:?}", check(model))),
    ("run", |model| answer(pfaff::run(model, &short(model), &mut |_, _| true))),
    ("run at 1e-12", |model| {
        answer(pfaff::run(model, &short(model).tolerance(1e-12), &mut |_, _| true))
    }),
    ("run derived", |model| {
        shown(model.derive(model.principle), |d| answer(d.run(short(model))))
    }),
    ("chetaev", |model| equations(model, Principle::Chetaev)),
    ("vakonomic", |model| equations(model, Principle::Vakonomic)),
    ("restricted", |model| equations(model, Principle::Restricted)),
    ("reduced", |model| {
        shown(derive(model, None), |d| {
            present_reduced(&d).map_or(String::new(), |p| p.to_text())
        })
    }),
    ("export", |model| format!("{:?}", export(model, None, ExportForm::Best, Language::C))),
    ("geometry", |model| {
        let request = GeometryRequest::default();
        shown(geometry_with(model, &request, &["riemann"]), |g| g.to_json().to_string())
    }),
    ("compare", |model| {
        let both = [Principle::Chetaev];
        shown(compare(model, &short(model), Some(&both)), |c| {
            c.motions.iter().map(bits).collect()
        })
    }),
];

/// A tenth of the model's own run.
fn short(model: &Model) -> Run {
    let (t0, t1) = model.solve.range.unwrap_or((0.0, 1.0));
    Run::to(t0 + 0.1 * (t1 - t0)).samples(3).max_steps(200)
}

fn shown<T>(result: Result<T, pfaff::Error>, text: impl Fn(T) -> String) -> String {
    result.map_or_else(|error| error.to_string(), text)
}

fn answer(motion: Result<Motion, pfaff::Error>) -> String {
    shown(motion, |motion| bits(&motion))
}

/// Everything about a motion but its times on the clock.
fn bits(motion: &Motion) -> String {
    let middle = motion.t.last().map_or(0.0, |end| (motion.t[0] + end) / 2.0);
    let dense: Vec<f64> = motion
        .q
        .iter()
        .filter_map(|s| Some(motion.position(&s.name).ok()?.at(middle)))
        .collect();
    let statistics = (motion.statistics.steps, motion.statistics.evaluations);
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {statistics:?} {dense:?}",
        motion.stop,
        motion.q,
        motion.v,
        motion.multipliers,
        motion.reactions,
        motion.energy,
        motion.audit,
        motion.notes,
    )
}

fn equations(model: &Model, principle: Principle) -> String {
    shown(derive(model, Some(principle)), |d: Derivation| present(&d).to_text())
}

/// Models that answer quickly: the gallery without boundary value problems and large systems.
fn models() -> Vec<(&'static str, Model)> {
    let quick = |model: &Model| model.terminal.is_empty() && model.coordinates.len() <= 8;
    let read =
        support::gallery().into_iter().map(|entry| (entry.name, support::model(entry.text)));
    read.filter(|(_, model)| quick(model)).collect()
}

#[test]
fn answers_do_not_depend_on_what_was_asked_before() {
    let models = models();
    assert!(models.len() >= 30, "{}", models.len());
    let mut random = Random::new(2026);
    let mut fresh: Vec<Vec<Option<String>>> = vec![vec![None; CALLS.len()]; models.len()];
    for sequence in 0..count(60, 2000) {
        let m = random.below(models.len());
        let (name, model) = &models[m];
        let mut asked = Vec::new();
        for _ in 0..2 + random.below(4) {
            let k = random.below(CALLS.len());
            let (call, ask) = CALLS[k];
            asked.push(call);
            let expected = fresh[m][k].get_or_insert_with(|| {
                let gallery = support::gallery();
                let entry =
                    gallery.iter().find(|entry| entry.name == *name).expect("it is there");
                ask(&support::model(entry.text))
            });
            assert_eq!(&ask(model), expected, "{name}, sequence {sequence}: {asked:?}");
        }
    }
}

/// The same with one model on several threads at once.
#[test]
fn a_model_is_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Model>();
    is_shared::<Derivation>();
    let model = support::model(pfaff::gallery_model("sleigh").expect("built in").text);
    let derivation = model.derive(Principle::Chetaev).expect("equations");
    let expected: Vec<String> = CALLS.iter().map(|(_, ask)| ask(&model)).collect();
    let alone = answer(derivation.run(short(&model)));
    std::thread::scope(|scope| {
        for shift in 0..3 {
            let (model, derivation, expected, alone) = (&model, &derivation, &expected, &alone);
            scope.spawn(move || {
                for k in 0..CALLS.len() {
                    let k = (k + 4 * shift) % CALLS.len();
                    assert_eq!(CALLS[k].1(model), expected[k], "{}", CALLS[k].0);
                    assert_eq!(&answer(derivation.run(short(model))), alone);
                }
            });
        }
    });
}

/// The program of the front page, and what is asked of a motion by name.
#[test]
fn three_lines_give_a_motion() -> Result<(), pfaff::Error> {
    let text = pfaff::gallery_model("sleigh").expect("built in").text;
    let model = Model::parse(text)?;
    let motion = model.derive(Principle::Chetaev)?.run(Run::to(5.0).tolerance(1e-10))?;
    let x = motion.position("x")?;
    // Between the outputs as at them: the tolerance of the run and of the interpolation.
    for (i, &t) in motion.t.iter().enumerate() {
        assert!((x.at(t) - x.values()[i]).abs() < 1e-9, "{t}");
    }
    let other = model.run(&Run::to(5.0).tolerance(1e-13).at([2.515]))?;
    assert!((x.at(2.515) - other.q[0].values[0]).abs() < 1e-8);
    let v = motion.velocity("x")?;
    assert!((v.at(2.515) - other.v[0].values[0]).abs() < 1e-7);
    assert!(x.at(-1.0).is_nan() && x.at(5.1).is_nan());
    let told = motion.position("X").expect_err("there is none").to_string();
    assert_eq!(told, "the motion has no coordinate `X`; did you mean `x`?");
    assert_eq!(motion.multiplier("blade")?.len(), motion.t.len());
    assert_eq!(motion.statistics.integrate_us, 0.0, "there is no clock");
    Ok(())
}

/// A motion in `compare` is the motion of `run`.
#[test]
fn compare_runs_as_run_does() {
    for name in ["ball", "double_pendulum", "falling_disk", "sleigh"] {
        let model = Model::gallery(name).expect("built in");
        let request = short(&model);
        let found = compare(&model, &request, Some(&[Principle::Chetaev])).expect("a motion");
        let alone = support::run(&model, &request);
        assert_eq!(bits(&found.motions[0]), bits(&alone), "{name}");
    }
}
