//! What a motion is differentiated by: parameters and initial values.

use pfaff_expr::Expr;
use pfaff_model::{Quantity, Workspace, closest};

use crate::error::Failure;
use crate::problem::start::given;

/// One quantity by which a motion is differentiated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Direction {
    /// As it was asked for: `a`, `x'(0)`.
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// What varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The parameter of this index.
    Parameter(usize),
    /// An initial value.
    Initial(Quantity),
    /// A final value, between given ends.
    Final(Quantity),
}

/// The directions of these names: `a`, `J[1,2]`, `x(0)`, `x'(0)`, `mu(c)(0)`. In the place of 0 the start `t0` may
/// stand. Between given ends also `x(1)`, with the end time, or `x(end)`.
pub(crate) fn directions(
    model: &Workspace,
    names: &[String],
    times: (f64, Option<f64>),
) -> Result<Vec<Direction>, Failure> {
    let mut list: Vec<Direction> = Vec::new();
    for name in names {
        let direction = direction(model, name.trim(), times)?;
        if list.iter().any(|known| known.source == direction.source) {
            return Err(Failure::Usage(format!("`{}` is asked for twice", name.trim())));
        }
        list.push(direction);
    }
    Ok(list)
}

fn direction(
    model: &Workspace,
    name: &str,
    times: (f64, Option<f64>),
) -> Result<Direction, Failure> {
    if name.is_empty() {
        return Err(Failure::usage(
            "a name is missing: write parameters and initial values such as \"a, m, x'(0)\"",
        ));
    }
    let squeezed: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    let source = if let Some(k) = model.parameters.iter().position(|p| p.name == squeezed) {
        Source::Parameter(k)
    } else {
        end_value(model, name, &squeezed, times)?
    };
    Ok(Direction { name: squeezed, source })
}

/// An initial value, or a final one where there are ends.
fn end_value(
    model: &Workspace,
    name: &str,
    squeezed: &str,
    (t0, t1): (f64, Option<f64>),
) -> Result<Source, Failure> {
    let unknown = || {
        let mut names: Vec<String> = model.parameters.iter().map(|p| p.name.clone()).collect();
        for c in &model.coordinates {
            names.extend([format!("{}(0)", c.name), format!("{}'(0)", c.name)]);
        }
        let is_coordinate = |c: &&pfaff_model::Coordinate| {
            c.name == squeezed || format!("{}'", c.name) == squeezed
        };
        let hint = if model.coordinates.iter().any(|c| is_coordinate(&c)) {
            format!("; for its initial value write `{squeezed}(0)`")
        } else {
            let words: Vec<&str> = names.iter().map(String::as_str).collect();
            closest(squeezed, &words).map_or_else(
                || {
                    "; parameters are given by name, initial values as `x(0)` and `x'(0)`"
                        .into()
                },
                |near| format!("; did you mean `{near}`?"),
            )
        };
        Failure::Usage(format!("`{name}` is no parameter and no initial value{hint}"))
    };
    let (what, time) = squeezed
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('))
        .ok_or_else(unknown)?;
    let quantity =
        if let Some(c) = what.strip_prefix("mu(").and_then(|rest| rest.strip_suffix(')')) {
            let found = model.constraints.iter().position(|constraint| constraint.name == c);
            Quantity::Multiplier(found.ok_or_else(unknown)?)
        } else {
            let (coordinate, order) = match what.strip_suffix('\'') {
                Some(coordinate) => (coordinate, 1),
                None => (what, 0),
            };
            let found = model.coordinates.iter().position(|c| c.name == coordinate);
            Quantity::Coordinate(found.ok_or_else(unknown)?, order)
        };
    let has_ends = !model.terminal.is_empty();
    if has_ends && time == "end" {
        return Ok(Source::Final(quantity));
    }
    let at = time.parse::<f64>().map_err(|_| unknown())?;
    if has_ends && t1 == Some(at) {
        return Ok(Source::Final(quantity));
    }
    if at != 0.0 && at != t0 {
        let other = if t0 == 0.0 { String::new() } else { format!(" or `{what}({t0})`") };
        return Err(Failure::Usage(format!(
            "`{name}` is no initial value: the run starts at t = {t0}, write `{what}(0)`{other}"
        )));
    }
    Ok(Source::Initial(quantity))
}

/// The change of every parameter along a direction, with those that are defined by others.
pub(crate) fn parameter_tangents(model: &Workspace, source: Source) -> Vec<f64> {
    let g = &model.graph;
    let symbols = model.parameter_symbols();
    let mut tangents = vec![0.0; symbols.len()];
    let Source::Parameter(varied) = source else { return tangents };
    tangents[varied] = 1.0;
    for (k, parameter) in model.parameters.iter().enumerate().skip(varied + 1) {
        let Some(definition) = parameter.definition else { continue };
        let moved: Vec<usize> = (0..k)
            .filter(|&j| tangents[j] != 0.0 && g.contains(definition, &[symbols[j]]))
            .collect();
        for j in moved {
            tangents[k] += model.constant(g.derivative(definition, symbols[j])) * tangents[j];
        }
    }
    tangents
}

/// The change of each given initial value along a direction, in the order of the data; and of the one that varies, if
/// the model does not give it.
pub(crate) fn given_tangents(
    model: &Workspace,
    source: Source,
    parameters: &[f64],
    t0: f64,
) -> Vec<(Quantity, f64)> {
    let g = &model.graph;
    let values = given(model, t0);
    let symbol_of = |quantity: Quantity| match quantity {
        Quantity::Coordinate(k, 0) => Some((model.coordinates[k].position, values.q[k])),
        Quantity::Coordinate(k, _) => Some((model.coordinates[k].velocity, values.v[k])),
        Quantity::Multiplier(a) => Some((model.results.mu[a], values.multipliers[a])),
        Quantity::Time => None,
    };
    let known: Vec<(Expr, f64)> = model
        .initial
        .iter()
        .filter_map(|datum| symbol_of(datum.quantity))
        .map(|(symbol, value)| (symbol, value.unwrap_or(f64::NAN)))
        .collect();
    let at = |s: Expr| {
        let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
        let datum = || known.iter().find(|(symbol, _)| *symbol == s).map(|&(_, value)| value);
        if s == model.time { t0 } else { parameter().or_else(datum).unwrap_or(f64::NAN) }
    };
    let mut tangents: Vec<(Quantity, f64)> = model
        .initial
        .iter()
        .map(|d| (d.quantity, if source == Source::Initial(d.quantity) { 1.0 } else { 0.0 }))
        .collect();
    // References form no cycle: each pass settles at least one more value.
    for _ in 0..tangents.len() {
        let before = tangents.clone();
        for (k, datum) in model.initial.iter().enumerate() {
            if source == Source::Initial(datum.quantity) {
                continue;
            }
            let moving = model.parameter_symbols().into_iter().zip(parameters.iter().copied());
            let data = before.iter().filter_map(|&(q, δ)| Some((symbol_of(q)?.0, δ)));
            let slopes = moving
                .chain(data)
                .filter(|&(s, δ)| δ != 0.0 && g.contains(datum.written, &[s]));
            tangents[k].1 = slopes
                .map(|(s, δ)| g.evaluate(&[g.derivative(datum.written, s)], &at)[0] * δ)
                .sum();
        }
        if before == tangents {
            break;
        }
    }
    if let Source::Initial(quantity) = source
        && !tangents.iter().any(|(known, _)| *known == quantity)
    {
        tangents.push((quantity, 1.0));
    }
    tangents
}
