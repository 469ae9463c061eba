//! Counts of steps and evaluations as a snapshot: a method that becomes slower shows in review.
//!
//! The same text gives the same bits on one target, so the counts do not change by themselves. `cargo xtask bless`
//! rewrites the snapshot; look at the difference before you keep it.

use pfaff::{GALLERY, Method, Run};

use crate::support;

/// Models of every kind of problem that run in a moment.
const MODELS: &[&str] = &[
    "sleigh",
    "ball",
    "pendulum",
    "double_pendulum",
    "rattleback",
    "four_bar",
    "disk_vakonomic",
    "appell_hamel_elevator",
];

#[test]
#[cfg(target_arch = "x86_64")]
fn counts_of_steps() {
    let mut table = String::new();
    for entry in GALLERY.iter().filter(|entry| MODELS.contains(&entry.name)) {
        for method in [Method::Dop853, Method::Taylor] {
            let model = support::model(entry.text);
            let (t0, t1) = model.solve.range.unwrap_or((0.0, 1.0));
            let run = Run::to(t0 + 0.5 * (t1 - t0)).tolerance(1e-10).method(method);
            let motion = model.derive(model.principle).and_then(|d| d.run(run));
            let counts = motion.map_or_else(
                |_| "refused".to_owned(),
                |motion| {
                    let s = motion.statistics;
                    format!(
                        "{} steps, {} rejected, {} evaluations",
                        s.steps, s.rejected, s.evaluations
                    )
                },
            );
            table += &format!("{} {method:?}: {counts}\n", entry.name);
        }
    }
    insta::assert_snapshot!(table);
}
