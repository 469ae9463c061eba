//! What `check` reports: degrees of freedom, classes, integrability, regularity, stationarity.

use pfaff::{CheckReport, Class, ConstraintReport, Thermal};
use serde_json::Value;

use crate::json::{number, numbers, object, string, strings};
use crate::{ToJson, ToText};

/// What is not examined in large models.
const LEFT_OUT: &str = "this model has more than 100 coordinates: ranks are those near the initial state, and velocity \
    constraints are not tested for integrability";

impl ToJson for CheckReport {
    /// As `check --json` prints it.
    fn to_json(&self) -> Value {
        let verdict = |v: Option<bool>| v.map_or(string("unknown"), Value::Bool);
        let constraint = |c: &ConstraintReport| {
            object([
                ("name", string(&c.name)),
                ("class", string(c.class.name())),
                ("integrable", verdict(c.integrable)),
                ("orders", numbers(&c.orders)),
            ])
        };
        let kernel = |(kernel, how): &(String, String)| {
            object([("kernel", string(kernel)), ("past", string(how))])
        };
        let mut parts = vec![
            ("coordinates", strings(&self.coordinates)),
            ("degrees_of_freedom", Value::from(self.degrees_of_freedom as u64)),
            ("regular", verdict(self.regular)),
            ("constraints", Value::Array(self.constraints.iter().map(constraint).collect())),
        ];
        let lists = [
            ("states", &self.states),
            ("modes", &self.modes),
            ("noise", &self.noises),
            ("joints", &self.joints),
        ];
        for (key, names) in lists {
            if !names.is_empty() {
                parts.push((key, strings(names)));
            }
        }
        if !self.contacts.is_empty() {
            let contact = |(name, law): &(String, &str)| {
                object([("name", string(name)), ("law", string(law))])
            };
            parts.push(("contacts", Value::Array(self.contacts.iter().map(contact).collect())));
        }
        if !self.kernels.is_empty() {
            parts.push(("kernels", Value::Array(self.kernels.iter().map(kernel).collect())));
        }
        if self.is_large {
            parts.push(("left_out", string(LEFT_OUT)));
        }
        object(parts)
    }
}

impl ToText for CheckReport {
    /// For people.
    fn to_text(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(text, "  coordinates         {}", self.coordinates.join(", "));
        let _ = writeln!(text, "  degrees of freedom  {}", self.degrees_of_freedom);
        let regular = match self.regular {
            Some(true)
                if self.coordinates.len().saturating_sub(self.degrees_of_freedom)
                    < self.constraints.len() =>
            {
                "yes: accelerations and reactions are determined, multipliers are not (redundant constraints)"
            }
            Some(true) => "yes: accelerations and multipliers are determined",
            Some(false) => {
                "no: the equations do not determine all accelerations and multipliers"
            }
            None if self.between_ends => {
                "decided by a run, which searches for an extremum with memory between the ends"
            }
            None => "unknown",
        };
        let _ = writeln!(text, "  regular             {regular}");
        let width = self.constraints.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
        for c in &self.constraints {
            let integrable = match (c.class, c.integrable) {
                (Class::Holonomic, _) => "",
                (_, Some(true)) => ", integrable: equivalent to a relation between positions",
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
        for (word, names) in [("states", &self.states), ("modes", &self.modes)] {
            if !names.is_empty() {
                let _ = writeln!(text, "  {word:18}  {}", names.join(", "));
            }
        }
        if !self.noises.is_empty() {
            let _ = writeln!(text, "  noise               on {}", self.noises.join(", "));
        }
        for (name, law) in &self.contacts {
            let _ = writeln!(text, "  contact {name}  {law}");
        }
        for name in &self.joints {
            let _ = writeln!(text, "  joint {name}  with friction");
        }
        for (kernel, how) in &self.kernels {
            let _ = writeln!(text, "  kernel {kernel}: {how}");
        }
        if self.is_large {
            let _ = writeln!(text, "  {LEFT_OUT}");
        }
        if let Some(refusal) = &self.refusal {
            let _ = writeln!(text, "  cannot be run: {}", refusal.diagnostic().message);
        }
        text
    }
}

impl ToJson for Thermal {
    /// As `check --temperature --json` prints it.
    fn to_json(&self) -> Value {
        object([
            ("kT", number(self.temperature)),
            ("states", Value::from(self.states as u64)),
            ("forces_residual", number(self.forces)),
            ("stationarity_residual", number(self.stationarity)),
            ("stationary", Value::Bool(self.stationary)),
        ])
    }
}

impl ToText for Thermal {
    /// For people.
    fn to_text(&self) -> String {
        let verdict = if self.stationary { "stationary" } else { "not stationary" };
        format!(
            "  temperature kT = {}: exp(-H/kT) is {verdict}\n    \
             largest |divergence - power/kT| of forces and reactions  {:.3e}\n    \
             largest |power - kT*divergence| of the forces alone   {:.3e}\n    in {} states on the constraints\n",
            self.temperature, self.stationarity, self.forces, self.states
        )
    }
}
