//! Models with other values of parameters and initial values.

use pfaff_expr::Role;
use pfaff_model::{Datum, Parameter, Quantity, Span, Workspace};

use crate::error::Failure;
use crate::model::Model;
use crate::problem::start::given;
use crate::run::sensitivity::direction::{Source, directions};

/// The model with every initial value that is sought as a parameter, and the places of all that is sought.
pub(crate) fn with_parameters(
    model: &Model,
    names: &[String],
    t0: f64,
) -> Result<(Model, Vec<usize>), Failure> {
    let mut workspace = model.workspace();
    let wanted = directions(&workspace, names, (t0, None))?;
    let mut places = Vec::new();
    let given = given(&workspace, t0);
    for direction in wanted {
        let quantity = match direction.source {
            Source::Parameter(k) => {
                places.push(k);
                continue;
            }
            Source::Initial(quantity) => quantity,
            Source::Final(_) => {
                return Err(Failure::Usage(format!(
                    "`{}` is a final value: give it by a parameter, and name that",
                    direction.name
                )));
            }
        };
        let symbol = workspace.graph.symbol(&direction.name, Role::Parameter);
        let (value, own) = match quantity {
            Quantity::Coordinate(k, 0) => (given.q[k], workspace.coordinates[k].position),
            Quantity::Coordinate(k, _) => (given.v[k], workspace.coordinates[k].velocity),
            Quantity::Multiplier(a) => (given.multipliers[a], workspace.results.mu[a]),
            Quantity::Time => (None, workspace.time),
        };
        // Without constraints, what is not given begins at zero.
        let is_zero =
            workspace.constraints.is_empty() && matches!(quantity, Quantity::Coordinate(..));
        let Some(value) = value.or(is_zero.then_some(0.0)) else {
            return Err(Failure::Usage(format!(
                "`{}` has no value to begin with: add it to `initial`",
                direction.name
            )));
        };
        places.push(workspace.parameters.len());
        workspace.parameters.push(Parameter {
            name: direction.name.clone(),
            symbol,
            value,
            definition: None,
            span: Span::default(),
        });
        let datum: Option<&mut Datum> =
            workspace.initial.iter_mut().find(|d| d.quantity == quantity);
        match datum {
            Some(datum) => (datum.value, datum.written) = (symbol, symbol),
            None => workspace.initial.push(Datum {
                quantity,
                value: symbol,
                written: symbol,
                span: Span::default(),
            }),
        }
        // Other values that refer to it follow.
        for k in 0..workspace.initial.len() {
            let written = [workspace.initial[k].written];
            workspace.initial[k].written =
                workspace.graph.substitute(&written, &[(own, symbol)])[0];
        }
    }
    insert_references(&mut workspace);
    Ok((Model::from(workspace.freeze()), places))
}

/// Inserts initial values into each other, as they are written, until only parameters are left.
fn insert_references(workspace: &mut Workspace) {
    let symbol = |quantity: Quantity| match quantity {
        Quantity::Coordinate(k, 0) => Some(workspace.coordinates[k].position),
        Quantity::Coordinate(k, 1) => Some(workspace.coordinates[k].velocity),
        Quantity::Multiplier(a) => Some(workspace.results.mu[a]),
        Quantity::Coordinate(..) | Quantity::Time => None,
    };
    let data: Vec<_> = workspace
        .initial
        .iter()
        .filter_map(|d| Some((symbol(d.quantity)?, d.written)))
        .collect();
    let mut values: Vec<_> = workspace.initial.iter().map(|d| d.written).collect();
    for _ in 0..data.len() {
        values = workspace.graph.substitute(&values, &data);
    }
    for (datum, value) in workspace.initial.iter_mut().zip(values) {
        datum.value = value;
    }
}

/// The model with other values of some parameters, and of those that are defined by them.
pub(crate) fn with_values(model: &Model, places: &[usize], values: &[f64]) -> Model {
    let mut workspace = model.workspace();
    set_values(&mut workspace, places, values);
    Model::from(workspace.freeze())
}

/// Gives some parameters other values, and those that are defined by them.
pub(crate) fn set_values(workspace: &mut Workspace, places: &[usize], values: &[f64]) {
    for (&k, &value) in places.iter().zip(values) {
        workspace.parameters[k].value = value;
    }
    for k in 0..workspace.parameters.len() {
        let Some(definition) = workspace.parameters[k].definition else { continue };
        let depends = !workspace.graph.symbols(&[definition]).is_empty();
        if depends && !places.contains(&k) {
            workspace.parameters[k].value = workspace.constant(definition);
        }
    }
}
