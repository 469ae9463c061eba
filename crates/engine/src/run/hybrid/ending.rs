//! The end of a run that switches: the whole motion with what was seen on the way.

use pfaff_model::Diagnostic;

use crate::error::Failure;
use crate::motion::dense::Dense;
use crate::motion::note::{Note, brief};
use crate::motion::verdict::{Audit, Check};
use crate::motion::{Motion, Stop, StopReason};
use crate::problem::dynamics_span;
use crate::run::hybrid::settle::{DRIVEN, VIOLATED};
use crate::run::hybrid::{HybridRun, joints, modes};

impl HybridRun<'_> {
    /// A motion that ends where nothing says how it goes on; at the start there is none.
    pub(super) fn held(mut self, why: &str) -> Result<Motion, Failure> {
        let t = self.t;
        if self.whole.is_none() {
            let message =
                format!("at the initial state {why}: the equations do not determine it");
            let diagnostic = Diagnostic::error("E0603", dynamics_span(self.model), message)
                .with_hint(
                "give an initial velocity, or replace `sign(v)` by a steep function such as `tanh(v/0.001)`",
            );
            return Err(Failure::Model(vec![diagnostic]));
        }
        let sentence =
            format!("at t = {} {why}: beyond, the equations do not determine it", brief(t));
        if let Some(whole) = &mut self.whole {
            whole.stop = Stop { reason: StopReason::Singular, t };
            whole.notes.push(Note::Stopped(sentence));
        }
        Ok(self.finished())
    }

    /// The whole motion.
    pub(super) fn finished(mut self) -> Motion {
        let mut motion = self.whole.take().expect("at least one segment");
        if let Some(worst) = self.violated(&motion).filter(|&worst| worst > VIOLATED) {
            let reason = "a gap that falls below zero means that an impact was missed";
            let mut checks = std::mem::take(&mut motion.audit.checks);
            checks.push(Check::new("gaps of contacts".into(), worst, VIOLATED, reason));
            motion.audit = Audit::of(checks);
        }
        if let Some(worst) = self.driven(&motion).filter(|&worst| worst > DRIVEN) {
            let reason = "friction acts against the slip: where it drives it, a change of its direction was missed";
            let mut checks = std::mem::take(&mut motion.audit.checks);
            checks.push(Check::new("friction of contacts".into(), worst, DRIVEN, reason));
            motion.audit = Audit::of(checks);
        }
        let corner = self.corners.told(self.settings.options.tolerance);
        let (corner, note) = corner.unzip();
        motion.notes.extend(note);
        let (blurred, told) = self.blurred_check().unzip();
        motion.notes.extend(told.map(Note::Remark));
        let more = [joints::load_check(self.model, &motion), corner, blurred];
        if more.iter().any(Option::is_some) {
            let mut checks = std::mem::take(&mut motion.audit.checks);
            checks.extend(more.into_iter().flatten());
            motion.audit = Audit::of(checks);
        }
        motion.switches = self.switches;
        if self.impacted.is_ambiguous || self.is_ambiguous {
            motion.notes.push(Note::Remark(
                "several contacts act at once, and rigid bodies do not say in which order: another order, or all \
                 together (`law = moreau`), leads to other velocities"
                    .into(),
            ));
        }
        if self.impacted.is_reduced {
            motion.notes.push(Note::Remark(
                "restitution and friction together would gain energy at an impact: restitution is less there".into(),
            ));
        }
        motion.notes.extend(modes::unconnected(self.model).into_iter().map(Note::Remark));
        if self.settings.outputs_only {
            motion.dense = Dense::default();
        }
        motion
    }
}
