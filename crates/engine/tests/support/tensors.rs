//! `geometry --json` as numbers by key and index.

use pfaff::{GeometryRequest, Model, Point, geometry, named_coordinates};
use pfaff_present::ToJson;
use serde_json::Value;

/// The geometry of a model at a state, parsed back.
pub(crate) fn at(model: &Model, dependent: &str, state: &str) -> Value {
    let request = asked(model, dependent, state);
    match geometry(model, &request) {
        Ok(report) => serde_json::from_str(&report.to_json().to_string()).expect("JSON"),
        Err(none) => panic!("{}", shown(&none)),
    }
}

/// What is asked for by texts; nothing by empty ones.
pub(crate) fn asked(model: &Model, dependent: &str, state: &str) -> GeometryRequest {
    let point = || Point::parse(model, state).expect("a state");
    let indices = || named_coordinates(model, dependent).expect("coordinates");
    GeometryRequest {
        dependent: (!dependent.is_empty()).then(indices),
        state: (!state.is_empty()).then(point),
    }
}

/// Why there is no geometry, as text.
pub(crate) fn shown(none: &pfaff::Error) -> String {
    none.to_string()
}

/// A component as a number.
pub(crate) fn entry(geometry: &Value, key: &str, index: &[usize]) -> f64 {
    let mut place = &geometry[key]["value"];
    for &i in index {
        place = &place[i];
    }
    place.as_f64().unwrap_or_else(|| panic!("{key}{index:?} in {}", geometry[key]))
}

/// All components with their indices.
pub(crate) fn entries(geometry: &Value, key: &str) -> Vec<(Vec<usize>, f64)> {
    let mut found = Vec::new();
    let mut stack = vec![(Vec::new(), &geometry[key]["value"])];
    while let Some((index, value)) = stack.pop() {
        match value {
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    stack.push(([index.as_slice(), &[i]].concat(), item));
                }
            }
            value => found.push((index, value.as_f64().unwrap_or(f64::NAN))),
        }
    }
    found
}
