//! A state as a text gives it.

use pfaff_model::{ParseErrors, Quantity, Workspace, read_assignments, read_numbers};

use crate::model::Model;

/// A state as given; nothing is projected.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: Vec<f64>,
    /// $\dot q$
    pub v: Vec<f64>,
    /// $\mu$ for each constraint; read under the vakonomic principle only
    pub multipliers: Vec<f64>,
}

/// Reads `x=1, x'=2, t=0, mu(c)=0.1`; what is missing is 0.
///
/// # Errors
///
/// [`ParseErrors`] with all mistakes.
pub fn read_state(model: &Model, text: &str) -> Result<State, ParseErrors> {
    state_in(&model.workspace(), text)
}

pub(crate) fn state_in(model: &Workspace, text: &str) -> Result<State, ParseErrors> {
    let given = read_assignments(model, "<state>", text)?;
    let n = model.coordinates.len();
    let mut state = State {
        t: 0.0,
        q: vec![0.0; n],
        v: vec![0.0; n],
        multipliers: vec![0.0; model.constraints.len()],
    };
    for (quantity, value) in given {
        match quantity {
            Quantity::Time => state.t = value,
            Quantity::Coordinate(k, 0) => state.q[k] = value,
            Quantity::Coordinate(k, 1) => state.v[k] = value,
            Quantity::Multiplier(a) => state.multipliers[a] = value,
            Quantity::Coordinate(..) => {}
        }
    }
    Ok(state)
}

/// Reads `a=1, b=2*pi` as named numbers; `option` names the text in diagnostics.
///
/// # Errors
///
/// [`ParseErrors`] with all mistakes.
pub fn read_named_numbers(option: &str, text: &str) -> Result<Vec<(String, f64)>, ParseErrors> {
    read_numbers(option, text)
}
