//! A curve over the coordinates of a model that is no motion of its principle: a lift, a geodesic, an autoparallel.

use std::fmt::Write;

use pfaff_model::Workspace;
use pfaff_present::Table;
use pfaff_solver::{OdeOptions, System, Trajectory, integrate};

use crate::json::Json;
use crate::motion::{Series, StopReason};
use crate::problem::settings::Settings;

/// A curve at its output times.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `geodesic`, `autoparallel` or `lift`
    pub kind: &'static str,
    /// The title of the model.
    pub title: String,
    /// Names of the base coordinates.
    pub base: Vec<String>,
    /// Names of the dependent coordinates.
    pub dependent: Vec<String>,
    /// Why it ended.
    pub reason: StopReason,
    /// Where it ended.
    pub end: f64,
    /// The times.
    pub t: Vec<f64>,
    /// Positions by coordinate.
    pub q: Vec<Series>,
    /// Velocities by coordinate.
    pub v: Vec<Series>,
    /// What is worth knowing, as name and number: `speed change` along geodesics and autoparallels.
    pub figures: Vec<(&'static str, f64)>,
    /// What a loop of the base changes in the dependent coordinates; `None` where the path is not closed, or
    /// is no path.
    pub holonomy: Option<Vec<(String, f64)>>,
}

/// Integrates a system and gives its states at the output times that were reached.
pub(crate) fn states(
    system: &mut dyn System,
    start: &[f64],
    settings: &Settings,
) -> (Vec<(f64, Vec<f64>)>, StopReason, f64) {
    let options = OdeOptions { ..settings.options };
    let mut kept = Trajectory::default();
    let outcome = integrate(system, start, &options, &mut kept);
    let mut reached = Vec::new();
    for &t in &settings.times {
        if t == settings.t0 {
            reached.push((t, start.to_vec()));
        } else if let Some(y) = kept.state(t) {
            reached.push((t, y));
        }
    }
    let reason = match outcome.stop {
        pfaff_solver::StopReason::End | pfaff_solver::StopReason::Event(_) => StopReason::End,
        pfaff_solver::StopReason::StepTooSmall => StopReason::StepTooSmall,
        pfaff_solver::StopReason::Singular => StopReason::Singular,
        pfaff_solver::StopReason::NotFinite => StopReason::NotFinite,
        pfaff_solver::StopReason::MaxSteps => StopReason::MaxSteps,
        pfaff_solver::StopReason::Interrupted => StopReason::Interrupted,
    };
    (reached, reason, outcome.t)
}

/// One series for each coordinate from rows of values.
pub(crate) fn series(model: &Workspace, rows: &[Vec<f64>]) -> Vec<Series> {
    let column = |k: usize| rows.iter().map(|r| r[k]).collect();
    let coordinates = model.coordinates.iter().enumerate();
    coordinates.map(|(k, c)| Series { name: c.name.clone(), values: column(k) }).collect()
}

impl Trace {
    /// Whether the curve came to its end.
    pub fn is_whole(&self) -> bool {
        self.reason == StopReason::End
    }

    /// One JSON object.
    pub fn to_json(&self) -> Json {
        let columns = |list: &[Series]| {
            Json::object(list.iter().map(|s| (s.name.clone(), Json::numbers(&s.values))))
        };
        let mut entries = vec![
            ("pfaff", Json::text(env!("CARGO_PKG_VERSION"))),
            ("model", Json::text(&self.title)),
            ("curve", Json::text(self.kind)),
            ("base", Json::texts(&self.base)),
            ("dependent", Json::texts(&self.dependent)),
            (
                "stop",
                Json::object([
                    ("reason", Json::text(self.reason.name())),
                    ("t", Json::Number(self.end)),
                ]),
            ),
            ("t", Json::numbers(&self.t)),
            ("q", columns(&self.q)),
            ("v", columns(&self.v)),
            ("figures", Json::object(self.figures.iter().map(|(n, x)| (*n, Json::Number(*x))))),
        ];
        if self.kind == "lift" {
            let changes = self.holonomy.as_ref().map_or(Json::Null, |all| {
                Json::object(all.iter().map(|(n, x)| (n.clone(), Json::Number(*x))))
            });
            entries.push(("holonomy", changes));
        }
        Json::object(entries)
    }

    /// A table: time, positions, velocities.
    pub fn to_csv(&self) -> String {
        let mut columns = vec![("t".to_owned(), self.t.as_slice())];
        columns.extend(self.q.iter().map(|s| (s.name.clone(), s.values.as_slice())));
        columns.extend(self.v.iter().map(|s| (format!("{}'", s.name), s.values.as_slice())));
        Table { columns, ..Table::default() }.to_csv()
    }

    /// For people: where it ends, and what it tells.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(
            text,
            "{}; base {}; dependent {}",
            self.kind,
            self.base.join(", "),
            if self.dependent.is_empty() { "none".into() } else { self.dependent.join(", ") }
        );
        let _ = writeln!(text, "ended at t = {} ({})", self.end, self.reason.name());
        if let Some(last) = self.t.len().checked_sub(1) {
            let _ = writeln!(text, "\nlast output, t = {}", self.t[last]);
            for (q, v) in self.q.iter().zip(&self.v) {
                let (name, x, v) = (&q.name, q.values[last], v.values[last]);
                let _ = writeln!(text, "  {name:8} {x:>20.12}   {name}' {v:>20.12}");
            }
        }
        for (name, x) in &self.figures {
            let _ = writeln!(text, "\n{name}: {x:.1e}");
        }
        match &self.holonomy {
            Some(all) => {
                let _ = writeln!(text, "\nthe base path is closed; its holonomy is");
                for (name, x) in all {
                    let _ = writeln!(text, "  {name:8} {x:>20.12}");
                }
            }
            None if self.kind == "lift" => {
                let _ = writeln!(text, "\nthe base path is not closed: no holonomy");
            }
            None => {}
        }
        text
    }
}
