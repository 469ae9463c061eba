//! Models of the gallery, for which there are no hand-written equations here, against finer runs of the engine: a
//! weaker truth.
//!
//! A motion is right if its coordinates at the end are within $E\,(1000 + 10N)$ of their scales, or within a thousand
//! times the difference between runs at E/100 and, by the other method, at E/1000: errors shrink with the tolerance.
//! A motion that makes errors grow makes those of any method grow: it is right too if it is within ten times the error
//! of the other method at E, up to a hundred times the first limit. Where the limit is above 1 % of the scale, there is
//! no truth.

use std::fmt::Write;

use pfaff::{GalleryFiles, Method, Model, Motion, Overrides, Run, Source, StopReason, Verdict};

use super::{asked, asked_of};
use crate::support::{self, Random};

/// Words of models that are not run from initial values alone.
const OTHERS: &[&str] =
    &["final ", "caputo", "rl(", "integral(", "memory(", "mean(", "event stop"];

struct Counts {
    none: usize,
    right: [usize; 2],
    wrong: [usize; 2],
}

fn ended(model: &Model, run: Run) -> Option<Motion> {
    asked_of(model, run).ok().filter(|motion| motion.stop.reason == StopReason::End)
}

fn ends(motion: &Motion) -> impl Iterator<Item = (f64, f64)> {
    motion.q.iter().map(|series| {
        let scale = series.values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        (series.values.last().copied().unwrap_or(f64::NAN), scale)
    })
}

/// Whether a random run of the model is right and whether it passed, with what was compared; nothing without truth.
fn examine(name: &str, model: &Model, random: &mut Random) -> Option<(bool, bool, String)> {
    let (t0, t1) = model.solve.range?;
    let part = 0.05 + 0.45 * (1.0 + random.number());
    let end = t0 + part * (t1 - t0);
    let tolerance = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11][random.below(6)];
    let (method, other) =
        [(Method::Dop853, Method::Taylor), (Method::Taylor, Method::Dop853)][random.below(2)];
    let run = Run::to(end).samples(21);
    let at = |method, tolerance| ended(model, run.clone().method(method).tolerance(tolerance));
    let found = at(method, tolerance)?;
    let (fine, finest) = (at(method, tolerance / 100.0)?, at(other, tolerance / 1000.0)?);
    let beside = at(other, tolerance)?;
    let factor = tolerance * (1000.0 + 10.0 * found.statistics.steps as f64);
    let mut right = true;
    let mut what = format!("{name} to {end:?}, {method:?} {tolerance:e}\n");
    for ((((value, _), (near, _)), (expected, scale)), (another, _)) in
        ends(&found).zip(ends(&fine)).zip(ends(&finest)).zip(ends(&beside))
    {
        let grown = (10.0 * (another - expected).abs()).min(100.0 * factor * scale);
        let limit = (factor * scale).max(1000.0 * (near - expected).abs()).max(grown);
        if limit > 1e-2 * scale {
            return None;
        }
        right &= (value - expected).abs() <= limit;
        writeln!(what, "# {value:?} for {expected:?}, limit {limit:.1e}").expect("text");
    }
    for check in found.audit.checks.iter().filter(|check| check.verdict != Verdict::Pass) {
        let (value, limit, verdict) = (check.value, check.limit, check.verdict.name());
        writeln!(what, "# {}: {value:e}, limit {limit:e}, {verdict}", check.name)
            .expect("text");
    }
    Some((right, found.audit.verdict == Verdict::Pass, what))
}

#[test]
#[allow(clippy::print_stdout, reason = "`cargo xtask fuzz differential` shows it")]
fn random_motions_of_the_gallery_agree_with_finer_ones() {
    let seed = asked("PFAFF_SEED").unwrap_or(1);
    let all =
        asked("PFAFF_CASES").map_or(support::count(20, 1000), |count| count as usize / 10);
    let mut random = Random::new(seed);
    let models: Vec<_> = support::gallery()
        .into_iter()
        .filter(|m| !OTHERS.iter().any(|word| m.text.contains(word)))
        .collect();
    let mut counts = Counts { none: 0, right: [0; 2], wrong: [0; 2] };
    let mut shown = String::new();
    for _ in 0..all {
        let chosen = models[random.below(models.len())];
        let source = Source::new(chosen.name, chosen.text);
        let Ok(model) = Model::read(source, &Overrides::default(), &GalleryFiles) else {
            panic!("{} cannot be read", chosen.name)
        };
        match examine(chosen.name, &model, &mut random) {
            None => counts.none += 1,
            Some((true, passed, what)) => {
                counts.right[usize::from(passed)] += 1;
                if !passed {
                    writeln!(shown, "right and not passed: {what}").expect("text");
                }
            }
            Some((false, passed, what)) => {
                counts.wrong[usize::from(passed)] += 1;
                writeln!(
                    shown,
                    "{}: {what}",
                    ["wrong and not passed", "WRONG AND PASSED"][usize::from(passed)]
                )
                .expect("text");
            }
        }
    }
    println!(
        "{shown}gallery against finer runs, seed {seed}: {all} cases; no truth {}, right and passed {}, \
         right and not passed {}, wrong and not passed {}, WRONG AND PASSED {}",
        counts.none, counts.right[1], counts.right[0], counts.wrong[0], counts.wrong[1]
    );
    assert_eq!(counts.wrong[1], 0, "{shown}");
}
