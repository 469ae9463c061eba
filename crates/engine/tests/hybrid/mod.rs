//! Motions that jump, switch, touch and are driven.

mod contacts;
mod delays;
mod driven;
mod friction;
mod joints;
mod modes;
mod plane;
mod random;
mod resets;
mod sensitivities;
mod sliding;

use pfaff::{Motion, Run, Verdict};

use crate::support;

/// The motion of a text.
fn motion(text: &str, request: &Run) -> Motion {
    support::run(&support::model(text), request)
}

/// The motion of a text, which must pass its audit.
fn sound(text: &str) -> Motion {
    let motion = motion(text, &Run::default());
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{text}\n{:?}", motion.audit);
    motion
}

/// The last value of a column.
fn last(series: &[pfaff::Series], name: &str) -> f64 {
    let series = series.iter().find(|series| series.name == name).expect("a column");
    *series.values.last().expect("a row")
}

/// The codes of the mistakes of a text, read and run.
fn codes(text: &str) -> Vec<&'static str> {
    match pfaff::Model::parse(text).and_then(|model| model.run(&Run::default())) {
        Ok(motion) => panic!("it runs: {text}\n{:?}", motion.stop),
        Err(error) => error.diagnostics().iter().map(|d| d.code).collect(),
    }
}
