//! `principle` and `solve`, and the end of the text.

use crate::diagnostic::closest;
use crate::elaborate::draft::default_solve;
use crate::elaborate::place::Place;
use crate::elaborate::scope::Site;
use crate::elaborate::{Elaborator, draft::Draft};
use crate::model::{Principle, Solve};
use crate::source::Span;
use crate::syntax::{ExprId, Name, NodeKind, Setting, SettingValue};

/// What `solve` knows.
const SETTINGS: [&str; 6] = ["t", "tolerance", "method", "samples", "step", "precision"];

/// The words for the precision.
const PRECISIONS: [&str; 2] = ["double", "double_double"];

/// The words for the method.
pub(crate) const METHODS: [&str; 11] = [
    "auto",
    "dop853",
    "rk4",
    "taylor",
    "radau",
    "rosenbrock",
    "dalembert",
    "gauss",
    "energy",
    "shooting",
    "collocation",
];

/// How many output times there may be.
const SAMPLES: i64 = 100_000_000;

impl Elaborator<'_> {
    pub(crate) fn principle(&mut self, name: Name, span: Span) {
        let word = self.own_name(name);
        let words: Vec<&str> = Principle::ALL.iter().map(|(_, word)| *word).collect();
        let Some((principle, _)) = Principle::ALL.iter().find(|(_, w)| *w == word) else {
            let hint = match closest(&word, &words) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the principles are {}", words.join(", ")),
            };
            self.error_hint(
                "E0410",
                name.span,
                format!("there is no principle `{word}`"),
                &hint,
            );
            return;
        };
        match self.draft.dynamics.principle {
            Some((_, first)) => self.only_once("principle", span, first),
            None => self.draft.dynamics.principle = Some((*principle, span)),
        }
    }

    pub(crate) fn solve(&mut self, settings: &[Setting], span: Span) {
        if let Some(first) = self.draft.solve.as_ref().and_then(|solve| solve.span) {
            return self.only_once("solve", span, first);
        }
        let mut solve = Solve { span: Some(span), ..default_solve() };
        let mut seen: Vec<String> = Vec::new();
        for setting in settings {
            let name = self.own_name(setting.name);
            let at = setting.name.span;
            self.speak_of(format!("the setting `{name}`"));
            if seen.contains(&name) {
                self.error("E0415", at, format!("`{name}` is given twice"));
                continue;
            }
            seen.push(name.clone());
            match (name.as_str(), setting.value) {
                ("t", SettingValue::Range(from, to)) => self.set_range(&mut solve, from, to),
                ("t", SettingValue::Value(_)) => {
                    let message = "`t` takes a range";
                    self.error_hint("E0415", at, message.into(), "write `t = 0..20`");
                }
                (other, SettingValue::Range(..)) if SETTINGS.contains(&other) => {
                    self.error("E0415", at, format!("`{other}` takes a value, not a range"));
                }
                ("method", SettingValue::Value(id)) => self.set_method(&mut solve, id),
                ("precision", SettingValue::Value(id)) => self.set_precision(&mut solve, id),
                (_, SettingValue::Value(id)) if SETTINGS.contains(&name.as_str()) => {
                    self.set_number(&mut solve, &name, id);
                }
                _ => {
                    let hint = match closest(&name, &SETTINGS) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("the settings are {}", SETTINGS.join(", ")),
                    };
                    let message = format!("`solve` has no setting `{name}`");
                    self.error_hint("E0415", at, message, &hint);
                }
            }
        }
        self.draft.solve = Some(solve);
    }

    /// A finite constant of the model's text.
    fn setting(&mut self, id: ExprId) -> Option<f64> {
        let site = Site { part: 0, id };
        let value = self.read(site, Place::Setting);
        let what = self.subject();
        let constant = self.constant_value(&value, site, &what)?;
        if !constant.value.is_finite() {
            self.error("E0503", self.span(site), format!("{what} is not finite"));
            return None;
        }
        Some(constant.value)
    }

    fn set_range(&mut self, solve: &mut Solve, from: ExprId, to: ExprId) {
        let (Some(t0), Some(t1)) = (self.setting(from), self.setting(to)) else { return };
        let [a, b] = [from, to].map(|id| self.span(Site { part: 0, id }));
        if t1 < t0 {
            let message = format!("the run ends at {t1}, before it begins at {t0}");
            self.error_hint("E0415", a.to(b), message, "write the earlier time first");
            return;
        }
        if t1 == t0 {
            self.error("E0415", a.to(b), format!("the run begins and ends at {t0}"));
            return;
        }
        solve.range = Some((t0, t1));
    }

    fn set_method(&mut self, solve: &mut Solve, id: ExprId) {
        let site = Site { part: 0, id };
        let word = self.text(site).to_owned();
        let is_word = matches!(self.kind(site), NodeKind::Name(_));
        if is_word && METHODS.contains(&word.as_str()) {
            solve.method = word;
            return;
        }
        let hint = match closest(&word, &METHODS) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the methods are {}", METHODS.join(", ")),
        };
        self.error_hint(
            "E0415",
            self.span(site),
            format!("there is no method `{word}`"),
            &hint,
        );
    }

    fn set_precision(&mut self, solve: &mut Solve, id: ExprId) {
        let site = Site { part: 0, id };
        let word = self.text(site).to_owned();
        let is_word = matches!(self.kind(site), NodeKind::Name(_));
        if is_word && PRECISIONS.contains(&word.as_str()) {
            solve.is_double_double = word == "double_double";
            return;
        }
        let hint = match closest(&word, &PRECISIONS) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "the precisions are double and double_double".to_owned(),
        };
        let message = format!("there is no precision `{word}`");
        self.error_hint("E0415", self.span(site), message, &hint);
    }

    fn set_number(&mut self, solve: &mut Solve, name: &str, id: ExprId) {
        let site = Site { part: 0, id };
        let Some(value) = self.setting(id) else { return };
        let span = self.span(site);
        match name {
            "tolerance" if value > 0.0 => solve.tolerance = value,
            "step" if value > 0.0 => solve.step = Some(value),
            "samples" if value.fract() == 0.0 && (2.0..=SAMPLES as f64).contains(&value) => {
                solve.samples = value as usize;
            }
            "samples" => {
                let message =
                    format!("`samples` must be a whole number of at least 2, not {value}");
                self.error("E0415", span, message);
            }
            _ => {
                self.error("E0415", span, format!("`{name}` must be positive, not {value}"));
            }
        }
    }

    /// What needs all declarations.
    pub(crate) fn finish(&mut self) {
        self.finish_set();
        self.finish_rates();
        self.finish_dynamics();
        self.finish_states();
        self.finish_contacts();
        self.finish_constraints();
        self.finish_bodies();
        self.finish_initial();
        self.finish_history();
        self.finish_final();
        let (n, zero) = (self.draft.coordinates.len(), self.graph.zero());
        for force in &mut self.draft.dynamics.forces {
            force.components.resize(n, zero);
        }
        for symmetry in &mut self.draft.symmetries {
            symmetry.generator.resize(n, zero);
        }
    }
}

impl Draft {
    /// The name of a constraint by its position.
    pub(crate) fn constraint_name(&self, position: usize) -> &str {
        self.dynamics.constraints.get(position).map_or("", |c| c.name.as_str())
    }
}
