//! Random motions against hand-written equations and a slow integrator: right and passed, or not passed.
//!
//! A motion is right if the error of each coordinate and velocity at the end is at most
//! $E\,(1000 + 10N)\,\max(1, S)\,s$: N steps whose local errors are E of the scale each, ten times as much for the
//! estimate of an error being an estimate, and a thousand for short runs. s is the largest magnitude on the way, S how
//! much a relative change of all components grows until the end, the largest of three places on the way, measured with
//! changes of the size of the errors. Time itself is rounded: ten times what its last digit changes is allowed too.
//! Where that limit is above 1 % of the scale, or the truth differs from a coarser one by a twentieth of it, there
//! is no truth to compare with.
//!
//! `cargo xtask fuzz differential 10000 7` takes other numbers of cases and seeds, `PFAFF_CASE=17` one case alone.

mod families;
mod formula;
mod nested;
mod terms;
mod truth;
mod writer;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use pfaff::{Method, Model, Motion, Overrides, Run, Source, StopReason, Verdict};
use pfaff_model::Files;

use self::families::{Case, Draw, FAMILIES, FURTHER, Family};
use self::terms::KINDS;
use self::truth::{Change, Fineness, Outcome, Unknown, motion};
use crate::support::{self, Random};

const COARSE: Fineness =
    Fineness { tolerance: 1e-12, columns: 7, parts: 40.0, evaluations: 1_000_000 };
const FINE: Fineness =
    Fineness { tolerance: 2e-15, columns: 8, parts: 80.0, evaluations: 4_000_000 };

/// The tables of a case.
struct Tables(Vec<(String, String)>);

impl Files for Tables {
    fn read(&self, name: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(file, _)| file == name);
        found.map(|(_, text)| text.clone()).ok_or_else(|| format!("there is no {name}"))
    }
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    NoTruth(Unknown),
    Refused,
    /// A mistake of the engine.
    Panicked,
    /// Before the end, and why.
    Stopped(&'static str),
    RightAndPassed,
    RightAndNotPassed(String),
    WrongAndNotPassed,
    WrongAndPassed,
}

struct Report {
    ending: Ending,
    class: String,
    /// The model, what was asked, and the numbers.
    what: String,
    /// The largest error of a coordinate in parts of its scale: as the engine estimates it, and the true one at least
    /// and at most, since the truth has an error of its own.
    errors: Option<[f64; 3]>,
}

fn request(random: &mut Random, end: f64) -> Run {
    let tolerance = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13][random.below(8)];
    let method = [Method::Auto, Method::Auto, Method::Dop853, Method::Taylor][random.below(4)];
    let run = Run::default().tolerance(tolerance).method(method);
    match random.below(3) {
        0 => run.at([end]),
        1 => run.samples(11),
        _ => run,
    }
}

/// Families with their names.
type Families = [(&'static str, Family)];

/// A case by its seed and its number, of these families, with terms of these kinds.
fn case(seed: u64, number: u64, families: &Families, kinds: &[&'static str]) -> (Case, Random) {
    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
    for _ in 0..8 {
        random.next();
    }
    let family = random.below(families.len());
    let case = families[family].1(&mut Draw::new(&mut random, kinds));
    (case, random)
}

fn examine(case: &Case, random: &mut Random) -> Report {
    let mut what = case.text.clone();
    for (name, text) in &case.files {
        writeln!(what, "# {name}: {}", text.replace('\n', "; ")).expect("text");
    }
    let report =
        |ending, what| Report { ending, class: case.class.clone(), what, errors: None };
    let source = Source::new("case", &case.text);
    let model = match Model::read(source, &Overrides::default(), &Tables(case.files.clone())) {
        Ok(model) => model,
        Err(errors) => {
            let all: Vec<String> =
                errors.diagnostics.iter().map(|d| d.render(&errors.source)).collect();
            panic!("{}\n{what}", all.join("\n"))
        }
    };
    let end = model.solve.range.expect("a solve line").1;
    let run = request(random, end);
    let tolerance = run.tolerance.expect("it is given");
    writeln!(what, "# {:?} {tolerance:e} {:?} {:?}", run.method, run.at, run.samples)
        .expect("text");
    let (truth, sensitivity) = match known(case, tolerance) {
        Ok(known) => known,
        Err(unknown) => return report(Ending::NoTruth(unknown), what),
    };
    let found = match asked_of(&model, run) {
        Ok(found) => found,
        Err(refusal) => {
            write!(what, "# {refusal}").expect("text");
            return report(Ending::Refused, what);
        }
    };
    if found.stop.reason != StopReason::End {
        write!(
            what,
            "# {} at {:?} of {end:?}, audit {}",
            found.stop.reason.name(),
            found.stop.t,
            found.audit.verdict.name()
        )
        .expect("text");
        return report(Ending::Stopped(found.stop.reason.name()), what);
    }
    let values = shown(&found);
    let passed = found.audit.verdict == Verdict::Pass;
    let (mut right, mut worst) = (true, 0.0_f64);
    let rate = (0..truth.fine.end.len())
        .map(|i| truth.fine.fastest[i] / truth.fine.largest[i].max(1e-3))
        .fold(0.0, f64::max);
    // Below that rounding, here and there, is all there is.
    let mut errors = [1e-14; 3];
    let factor = tolerance * (1000.0 + 10.0 * found.statistics.steps as f64);
    for (i, (expected, unit)) in truth.fine.end.iter().zip(&case.units).enumerate() {
        let scale = truth.fine.largest[i].max(1e-3);
        let grown = sensitivity[i].max(1.0) * scale;
        let late = (truth.shifted[i] - expected).abs() + case.ulp * rate * grown;
        let limit = factor * grown + 10.0 * late;
        if limit > 1e-2 * scale || (truth.coarse[i] - expected).abs() > 0.05 * limit {
            return report(Ending::NoTruth(Unknown::Sensitive), what);
        }
        let value = values[i] / unit;
        let error = (value - expected).abs();
        right &= error <= limit;
        worst = worst.max(error / scale);
        if let Some(estimate) = found.errors.iter().chain(&found.velocity_errors).nth(i) {
            let uncertain = (truth.coarse[i] - expected).abs();
            errors[0] = f64::max(errors[0], estimate / unit / scale);
            errors[1] = f64::max(errors[1], (error - uncertain).max(0.0) / scale);
            errors[2] = f64::max(errors[2], (error + uncertain) / scale);
        }
        writeln!(what, "# {value:?} for {expected:?}, error {error:.1e}, limit {limit:.1e}")
            .expect("text");
    }
    writeln!(
        what,
        "# {} steps, sensitivity {:.1e}, largest relative error {worst:.1e}",
        found.statistics.steps,
        sensitivity.iter().fold(0.0, |a: f64, b| a.max(*b))
    )
    .expect("text");
    let mut failed = Vec::new();
    for check in &found.audit.checks {
        if check.verdict != Verdict::Pass {
            writeln!(
                what,
                "# {}: {:e}, limit {:e}, {}",
                check.name,
                check.value,
                check.limit,
                check.verdict.name()
            )
            .expect("text");
            failed.push(format!("{} {}", check.name, check.verdict.name()));
        }
    }
    let ending = match (right, passed) {
        (true, true) => Ending::RightAndPassed,
        (true, false) => Ending::RightAndNotPassed(failed.join(", ")),
        (false, false) => Ending::WrongAndNotPassed,
        (false, true) => Ending::WrongAndPassed,
    };
    let [estimate, least, most] = errors;
    writeln!(what, "# estimated {estimate:.1e}, true {least:.1e} to {most:.1e}").expect("text");
    let errors = (!found.errors.is_empty()).then_some(errors);
    Report { errors, ..report(ending, what) }
}

/// The motion within ten seconds; where the Taylor method does not apply, by the method that the engine chooses.
fn asked_of(model: &Model, run: Run) -> Result<Motion, pfaff::Error> {
    let begin = std::time::Instant::now();
    let mut patience = |_, _| begin.elapsed().as_secs() < 10;
    match pfaff::run(model, &run, &mut patience) {
        Err(refusal) if refusal.to_string().contains("does not apply") => {
            pfaff::run(model, &run.method(Method::Auto), &mut patience)
        }
        answer => answer,
    }
}

/// Coordinates, then velocities, at the end.
fn shown(found: &Motion) -> Vec<f64> {
    let all = found.q.iter().chain(&found.v);
    all.map(|series| series.values.last().copied().unwrap_or(f64::NAN)).collect()
}

struct Truth {
    fine: Outcome,
    coarse: Vec<f64>,
    shifted: Vec<f64>,
}

/// The truth, and how sensitive it is.
fn known(case: &Case, tolerance: f64) -> Result<(Truth, Vec<f64>), Unknown> {
    let coarse = motion(&case.hand, COARSE, Change::default())?;
    let fine = motion(&case.hand, FINE, Change::default())?;
    let by = (100.0 * tolerance).clamp(1e-9, 1e-5);
    let mut sensitivity = vec![0.0_f64; fine.end.len()];
    for at in [0.0, 0.37, 0.71] {
        let changed = motion(&case.hand, COARSE, Change { at, by, shift: 0.0 })?;
        for (i, s) in sensitivity.iter_mut().enumerate() {
            let moved = (changed.end[i] - coarse.end[i]).abs();
            *s = s.max(moved / (by * fine.largest[i].max(1e-3)));
        }
    }
    let shift = Change { shift: case.ulp, ..Change::default() };
    let shifted = motion(&case.hand, FINE, shift)?.end;
    Ok((Truth { fine, coarse: coarse.end, shifted }, sensitivity))
}

/// The cases with these numbers of a seed, by two threads.
fn examined(
    seed: u64,
    numbers: Range<u64>,
    families: &Families,
    kinds: &[&'static str],
) -> Vec<(u64, Report)> {
    let next = AtomicU64::new(numbers.start);
    let work = || {
        let mut reports = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return reports;
            }
            let (case, mut random) = case(seed, number, families, kinds);
            let report = catch_unwind(AssertUnwindSafe(|| examine(&case, &mut random)));
            let panicked = |_| Report {
                ending: Ending::Panicked,
                class: case.class.clone(),
                what: case.text.clone(),
                errors: None,
            };
            reports.push((number, report.unwrap_or_else(panicked)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut all = work();
        all.extend(other.join().expect("no panic"));
        all
    });
    all.sort_by_key(|(number, _)| *number);
    all
}

impl Ending {
    fn is_a_mistake(&self) -> bool {
        matches!(self, Self::WrongAndPassed | Self::Panicked)
    }

    /// The word of the summary.
    fn name(&self) -> String {
        match self {
            Self::NoTruth(why) => format!("no truth ({why:?})"),
            Self::Refused => "refused".to_owned(),
            Self::Panicked => "PANICKED".to_owned(),
            Self::Stopped(why) => format!("stopped early ({why})"),
            Self::RightAndPassed => "right and passed".to_owned(),
            Self::RightAndNotPassed(_) => "right and not passed".to_owned(),
            Self::WrongAndNotPassed => "wrong and not passed".to_owned(),
            Self::WrongAndPassed => "WRONG AND PASSED".to_owned(),
        }
    }
}

/// The models that are wrong and passed, all others of interest if wanted, and the counts.
fn summary(seed: u64, reports: &[(u64, Report)], all: bool) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut text = String::new();
    // Estimates, those within a factor of a hundred, and those below a tenth of the error.
    let mut estimates = [0; 3];
    for (number, Report { ending, class, what, errors }) in reports {
        let mut low = false;
        if let Some([estimate, least, most]) = errors {
            low = *estimate < 0.1 * least;
            let near = (0.01 * least..=100.0 * most).contains(estimate);
            estimates[0] += 1;
            estimates[1] += usize::from(near);
            estimates[2] += usize::from(low);
        }
        *counts.entry(ending.name()).or_default() += 1;
        let quiet = !low && matches!(ending, Ending::RightAndPassed | Ending::NoTruth(_));
        if ending.is_a_mistake() || (all && !quiet) {
            writeln!(text, "{}, seed {seed}, case {number}, {class}\n{what}", ending.name())
                .expect("text");
        }
    }
    let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{name} {n}")).collect();
    format!(
        "{text}seed {seed}: {} cases; {}; {} estimates of the error, {} within a factor of 100, {} below a tenth",
        reports.len(),
        counts.join(", "),
        estimates[0],
        estimates[1],
        estimates[2]
    )
}

/// A number from the environment, for `cargo xtask fuzz differential`.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[allow(clippy::print_stdout, reason = "`cargo xtask fuzz differential` shows it")]
fn all_are_right_or_not_passed(families: &Families, usual: [usize; 2]) {
    let seed = asked("PFAFF_SEED").unwrap_or(1);
    let count = asked("PFAFF_CASES").unwrap_or(support::count(usual[0], usual[1]) as u64);
    let asked_for = asked("PFAFF_CASES").is_some() || asked("PFAFF_CASE").is_some();
    let numbers = asked("PFAFF_CASE").map_or(0..count, |one| one..one + 1);
    let reports = examined(seed, numbers, families, &KINDS);
    println!("{}", summary(seed, &reports, asked_for));
    let mistakes = reports.iter().filter(|(_, report)| report.ending.is_a_mistake()).count();
    assert_eq!(mistakes, 0, "{}", summary(seed, &reports, false));
}

#[test]
fn random_motions_are_right_or_not_passed() {
    all_are_right_or_not_passed(FAMILIES, [200, 10_000]);
}

#[test]
fn random_chaos_and_contacts_are_right_or_not_passed() {
    all_are_right_or_not_passed(FURTHER, [30, 2000]);
}
