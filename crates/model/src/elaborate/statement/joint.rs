//! `contact pin: [a, b] = 0`: a joint that carries in several directions.
//!
//! Its components are constraints that always hold, `pin[1]` and `pin[2]`; friction acts against one velocity, by the
//! size of their reactions together.

use pfaff_expr::Expr;

use crate::elaborate::Elaborator;
use crate::elaborate::scope::Site;
use crate::model::{Activity, Constraint, Joint};
use crate::shape::{Shape, Value, component_name};
use crate::source::Span;
use crate::syntax::{self, SettingValue};

/// What a joint says of its friction.
pub(super) struct JointWords {
    friction: Expr,
    slip: Expr,
}

/// Where a joint stands.
pub(super) struct JointPlace<'a> {
    pub(super) name: &'a str,
    pub(super) indices: &'a [i64],
    pub(super) span: Span,
}

/// The components of a gap that has several.
pub(super) fn several(gap: &Value) -> Option<Vec<Expr>> {
    matches!(gap.shape(), Some(Shape::Vector(_))).then(|| gap.entries().to_vec())
}

impl Elaborator<'_> {
    /// Friction and slip of a joint, or a report.
    pub(super) fn joint_words(
        &mut self,
        contact: &syntax::Contact,
        span: Span,
    ) -> Option<JointWords> {
        let (mut friction, mut slip) = (None, None);
        for setting in &contact.settings {
            let word = self.own_name(setting.name);
            let at = setting.name.span;
            let SettingValue::Value(id) = setting.value else {
                self.error("E0454", at, format!("`{word}` takes a value, not a range"));
                return None;
            };
            let site = Site { part: 0, id };
            let is_again = match word.as_str() {
                "friction" => {
                    friction.replace(self.contact_number(&word, id, f64::INFINITY)?).is_some()
                }
                "slip" => {
                    let rates = self.rates(site, "the slip of a joint")?;
                    let [rate] = rates[..] else {
                        let message = "friction of a joint acts against one velocity";
                        self.error("E0454", at, message.into());
                        return None;
                    };
                    slip.replace(rate).is_some()
                }
                _ => {
                    let message =
                        format!("a joint that carries in several directions has no `{word}`");
                    let hint = "it knows friction and slip";
                    self.error_hint("E0454", at, message, hint);
                    return None;
                }
            };
            if is_again {
                self.error("E0454", at, format!("`{word}` is given twice"));
                return None;
            }
        }
        let (Some(friction), Some(slip)) = (friction, slip) else {
            let message = "a joint that carries in several directions needs friction and slip";
            let hint = "write `contact pin: [X, Y] = 0, friction = mu, slip = r*(a' - b')`; a joint without friction \
                        is a `constraint`";
            self.error_hint("E0454", span, message.into(), hint);
            return None;
        };
        Some(JointWords { friction, slip })
    }

    /// Adds a joint with its constraints.
    pub(super) fn add_joint(
        &mut self,
        place: &JointPlace<'_>,
        rows: Vec<Expr>,
        words: JointWords,
        activity: Activity,
    ) {
        let JointPlace { name, indices, span } = *place;
        let first = self.draft.dynamics.constraints.len();
        let mut names = Vec::new();
        for (k, expr) in (1..).zip(rows) {
            let all: Vec<i64> = [indices, &[k]].concat();
            let row = component_name(name, &all);
            let position = self.draft.dynamics.constraints.len();
            self.add_contact_row(name, (all, position));
            names.push(row.clone());
            let (along, word) = (None, None);
            let made = Constraint { name: row, expr, along, word, is_rate: false, span };
            self.draft.dynamics.constraints.push(made);
        }
        self.draft.hybrid.constraints.resize(first, Activity::default());
        let all = self.draft.dynamics.constraints.len();
        self.draft.hybrid.constraints.resize(all, activity);
        let JointWords { friction, slip } = words;
        let name = component_name(name, indices);
        self.draft.hybrid.joints.push(Joint { name, rows: names, slip, friction, span });
    }
}
