//! The columns of measured data, and what of a motion each is compared with.

use crate::analysis::fit::data::Measurements;
use crate::analysis::fit::request::FitRequest;
use crate::error::Failure;
use crate::model::Model;
use crate::motion::Series;

/// A column of the data, and where its values are in a motion.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) quantity: Fitted,
    pub(super) values: Vec<Option<f64>>,
    /// One for each value.
    pub(super) sigmas: Vec<f64>,
}

/// What a column is compared with, by index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fitted {
    Position(usize),
    Velocity(usize),
    Multiplier(usize),
    Observed(usize),
}

impl Fitted {
    pub(super) fn series(
        self,
        [q, v, multipliers, observed]: [&[Series]; 4],
    ) -> Option<&Series> {
        match self {
            Self::Position(k) => q.get(k),
            Self::Velocity(k) => v.get(k),
            Self::Multiplier(k) => multipliers.get(k),
            Self::Observed(k) => observed.get(k),
        }
    }
}

/// The columns that are fitted.
pub(super) fn columns(
    model: &Model,
    data: &Measurements,
    request: &FitRequest,
    notes: &mut Vec<String>,
) -> Result<Vec<Column>, Failure> {
    let quantity = |name: &str| {
        let place = |k: Option<usize>, of: fn(usize) -> Fitted| k.map(of);
        let coordinates = &model.coordinates;
        let observed = model.observed.iter().position(|o| o.name == name);
        place(observed, Fitted::Observed)
            .or_else(|| {
                place(coordinates.iter().position(|c| c.name == name), Fitted::Position)
            })
            .or_else(|| {
                let own = name.strip_suffix('\'')?;
                place(coordinates.iter().position(|c| c.name == own), Fitted::Velocity)
            })
            .or_else(|| {
                let inner =
                    name.strip_prefix("lambda(").or_else(|| name.strip_prefix("mu("))?;
                let own = inner.strip_suffix(')')?;
                place(model.constraints.iter().position(|c| c.name == own), Fitted::Multiplier)
            })
    };
    let is_usual = |name: &str| !matches!(quantity(name), None | Some(Fitted::Multiplier(_)));
    let names: Vec<String> = if request.columns.is_empty() {
        let usual = data.columns.iter().map(|c| c.0.clone());
        usual.filter(|name| is_usual(name)).collect()
    } else {
        request.columns.clone()
    };
    if request.columns.is_empty() {
        let is_other = |name: &&String| !is_usual(name) && !name.starts_with("sigma(");
        let others: Vec<String> = data
            .columns
            .iter()
            .map(|c| &c.0)
            .filter(is_other)
            .map(|n| format!("`{n}`"))
            .collect();
        if !others.is_empty() {
            notes.push(format!("not fitted: {}", others.join(", ")));
        }
    }
    if names.is_empty() {
        return Err(Failure::usage(
            "the data have no column of a coordinate, a velocity or an observed quantity of the model",
        ));
    }
    let mut list = Vec::new();
    for name in names {
        let Some(values) = data.column(&name) else {
            return Err(Failure::Usage(format!("the data have no column `{name}`")));
        };
        let Some(quantity) = quantity(&name) else {
            return Err(Failure::Usage(format!(
                "`{name}` is no coordinate, velocity, multiplier or observed quantity of the model"
            )));
        };
        let given = request.sigmas.iter().find(|(n, _)| *n == name).map_or(1.0, |(_, σ)| *σ);
        let own = data.column(&format!("sigma({name})"));
        let sigmas: Vec<f64> =
            (0..values.len()).map(|i| own.and_then(|own| own[i]).unwrap_or(given)).collect();
        if sigmas.iter().any(|σ| !σ.is_finite() || *σ <= 0.0) {
            return Err(Failure::Usage(format!(
                "the standard deviations of `{name}` must be positive"
            )));
        }
        list.push(Column { name, quantity, values: values.to_vec(), sigmas });
    }
    for (name, _) in &request.sigmas {
        if !list.iter().any(|column| column.name == *name) {
            return Err(Failure::Usage(format!(
                "`{name}` has a standard deviation but is not fitted"
            )));
        }
    }
    Ok(list)
}
