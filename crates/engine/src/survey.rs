//! What `check` tells: degrees of freedom, classes, integrability, regularity.

use pfaff_expr::Graph;
use pfaff_mechanics::{Class, Refusal, classify, integrable, ranks};
use pfaff_model::{Dynamics as Written, Model, Principle};

use crate::json::Json;
use crate::mechanism::Dynamics;
use crate::pipeline::derive;

/// A model at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// `title`, or the name of the text.
    pub title: String,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Coordinates minus independent constraints.
    pub degrees_of_freedom: usize,
    /// Whether accelerations are determined at almost every state; `None` where that is not known.
    pub regular: Option<bool>,
    /// One after another.
    pub constraints: Vec<ConstraintSurvey>,
    /// Why there are no equations of motion (yet), if there are none.
    pub refusal: Option<Refusal>,
}

/// A constraint at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintSurvey {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Class,
    /// Whether holonomy had to be left undecided.
    pub undecided: bool,
    /// Whether it comes from positions alone; `None` where that could not be decided.
    pub integrable: Option<bool>,
    /// Orders of its memory operators, ascending and each once; none for kernels and means.
    pub orders: Vec<f64>,
}

/// Surveys a model.
pub fn survey(model: &Model) -> Survey {
    let title = model.title.clone().unwrap_or_else(|| model.source.name().to_owned());
    let coordinates: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let n = coordinates.len();
    let velocities = model.velocities();
    let mut constraints: Vec<ConstraintSurvey> = model
        .constraints
        .iter()
        .map(|c| {
            let (class, undecided) = classify(&model.graph, c.expr, &velocities);
            let integrable = (class == Class::Holonomic).then_some(true);
            let orders = crate::memory::orders(model, c.expr);
            ConstraintSurvey { name: c.name.clone(), class, undecided, integrable, orders }
        })
        .collect();
    let (mut regular, mut degrees_of_freedom, mut refusal) = (None, n, None);
    match derive(model, Some(Principle::Chetaev)) {
        Ok(Dynamics::Saddle(equations)) => {
            let rank = ranks(model, &equations);
            regular = Some(rank.regular);
            degrees_of_freedom = rank.degrees_of_freedom;
            for (row, verdict) in constraints.iter_mut().zip(integrable(model, &equations)) {
                row.integrable = verdict;
            }
        }
        Ok(Dynamics::Ordinary(ordinary)) => {
            // NOTE: fractional orders are planned by the run, which says if they determine the motion.
            let remembers = ordinary.residual.iter().any(|&e| model.graph.remembers(e));
            regular = (!remembers).then(|| model.graph.rank(&ordinary.jacobian) == n);
        }
        Err(why) => {
            degrees_of_freedom = n - independent(&model.graph, model);
            refusal = Some(why);
        }
    }
    Survey { title, coordinates, degrees_of_freedom, regular, constraints, refusal }
}

/// How many constraints are independent, memory terms held fixed.
fn independent(g: &Graph, model: &Model) -> usize {
    if matches!(model.dynamics, Written::Equations(_)) {
        return 0;
    }
    let (q, v) = (model.positions(), model.velocities());
    let rows: Vec<_> = model
        .constraints
        .iter()
        .map(|c| match classify(g, c.expr, &v).0 {
            Class::Holonomic => g.gradient(c.expr, &q),
            _ => g.gradient(c.expr, &v),
        })
        .collect();
    g.rank(&rows)
}

impl Survey {
    /// As `check --json` prints it.
    pub fn to_json(&self) -> Json {
        let verdict = |v: Option<bool>| v.map_or(Json::text("unknown"), Json::Bool);
        let constraint = |c: &ConstraintSurvey| {
            Json::object([
                ("name", Json::text(&c.name)),
                ("class", Json::text(c.class.name())),
                ("integrable", verdict(c.integrable)),
                ("orders", Json::numbers(&c.orders)),
            ])
        };
        Json::object([
            ("coordinates", Json::texts(&self.coordinates)),
            ("degrees_of_freedom", Json::Integer(self.degrees_of_freedom as u64)),
            ("regular", verdict(self.regular)),
            ("constraints", Json::List(self.constraints.iter().map(constraint).collect())),
        ])
    }

    /// For people.
    pub fn to_text(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(text, "  coordinates         {}", self.coordinates.join(", "));
        let _ = writeln!(text, "  degrees of freedom  {}", self.degrees_of_freedom);
        let regular = match self.regular {
            Some(true) => "yes: accelerations and multipliers are determined",
            Some(false) => {
                "no: the equations do not determine all accelerations and multipliers"
            }
            None => "unknown",
        };
        let _ = writeln!(text, "  regular             {regular}");
        let width = self.constraints.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
        for c in &self.constraints {
            let integrable = match (c.class, c.integrable) {
                (Class::Holonomic, _) => "",
                (_, Some(true)) => ", integrable: it comes from positions alone",
                (_, Some(false)) => ", not integrable",
                (_, None) => ", integrability unknown",
            };
            let open = if c.undecided { " (undecided whether velocities occur)" } else { "" };
            let orders: Vec<String> = c.orders.iter().map(f64::to_string).collect();
            let class = if orders.is_empty() {
                c.class.name().to_owned()
            } else {
                format!("{} of order {}", c.class.name(), orders.join(", "))
            };
            let _ = writeln!(text, "  constraint {:width$}  {class}{integrable}{open}", c.name);
        }
        if let Some(refusal) = &self.refusal {
            let _ = writeln!(text, "  no motion yet: {}", refusal.diagnostic().message);
        }
        text
    }
}
