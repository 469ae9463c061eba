//! Texts of the command line as values: states and formulas.

use pfaff_expr::{Expr, Node};
use pfaff_model::{
    Diagnostic, Formula, FormulaValue, Model, NoFiles, Quantity, Source, Span,
    read_assignments, read_numbers,
};

use crate::pipeline::{Failure, Rejected};
use crate::state::State;

/// Reads `x=1, x'=2, t=0, mu(c)=0.1`; what is missing is 0.
///
/// # Errors
///
/// [`Rejected`] with all mistakes.
pub fn read_state(model: &Model, text: &str) -> Result<State, Rejected> {
    let given = read_assignments(model, "--state", text)
        .map_err(|(source, diagnostics)| Rejected { source, diagnostics })?;
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

/// The value of a formula: a number, or nested lists of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A vector, or a matrix by rows.
    List(Vec<Value>),
}

/// Evaluates a formula of the model language; `with` gives values to names, as in `a=1, t=2`.
///
/// # Errors
///
/// [`Rejected`] if a text is wrong, [`Failure`] inside it if the formula has no value.
pub fn evaluate(expression: &str, with: &str) -> Result<Value, Rejected> {
    let rejected =
        |(source, diagnostics): (Source, Vec<Diagnostic>)| Rejected { source, diagnostics };
    let names = read_numbers("--with", with).map_err(rejected)?;
    let formula = pfaff_model::read_formula(expression, &names, &NoFiles).map_err(rejected)?;
    value(&formula).map_err(|failure| {
        let diagnostics = match failure {
            Failure::Model(diagnostics) => diagnostics,
            Failure::Usage(message) => {
                vec![Diagnostic::error("E0605", Span::new(0, expression.len() as u32), message)]
            }
        };
        Rejected { source: Source::new("formula", expression), diagnostics }
    })
}

fn value(formula: &Formula) -> Result<Value, Failure> {
    let numbers = |es: &[Expr]| -> Result<Vec<Value>, Failure> {
        Ok(scalars(formula, es)?.into_iter().map(Value::Number).collect())
    };
    match &formula.value {
        FormulaValue::Scalar(e) => Ok(Value::Number(scalars(formula, &[*e])?[0])),
        FormulaValue::Vector(es) => Ok(Value::List(numbers(es)?)),
        FormulaValue::Matrix(rows) => {
            let rows: Result<Vec<Value>, Failure> =
                rows.iter().map(|r| Ok(Value::List(numbers(r)?))).collect();
            Ok(Value::List(rows?))
        }
        FormulaValue::ComplexGamma { .. } | FormulaValue::ComplexMittagLeffler { .. } => {
            Err(unbuilt("functions of complex numbers"))
        }
    }
}

fn scalars(formula: &Formula, es: &[Expr]) -> Result<Vec<f64>, Failure> {
    let g = &formula.graph;
    for e in g.live(es) {
        match g.node(e) {
            Node::Memory(..) => return Err(unbuilt("memory operators")),
            Node::Symbol(_)
                if e == formula.time && !formula.symbols.iter().any(|s| s.1 == e) =>
            {
                let message =
                    "the formula contains `t`: give it a value by --with \"t=…\"".into();
                return Err(Failure::Usage(message));
            }
            _ => {}
        }
    }
    let symbol = |e: Expr| {
        formula
            .symbols
            .iter()
            .find(|(_, s, _)| *s == e)
            .map_or(f64::NAN, |(_, _, value)| *value)
    };
    let values = g.evaluate(es, &symbol);
    if values.iter().all(|x| x.is_finite()) {
        Ok(values)
    } else {
        Err(Failure::Usage("the value is infinite or not a number".into()))
    }
}

fn unbuilt(what: &str) -> Failure {
    Failure::Usage(format!("{what} are not built yet"))
}
