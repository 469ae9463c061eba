//! `pfaff eval`: the value of a formula.

use pfaff_expr::special::{Complex, gamma_complex, mittag_leffler_complex};
use pfaff_expr::{Expr, Memory, Node};
use pfaff_model::{
    Diagnostic, Formula, FormulaValue, NoFiles, ParseErrors, Source, Span, read_numbers,
};

use crate::analysis::operator::{Ends, operate};
use crate::error::Failure;
use crate::run::memory_operator::MemoryOperator;

/// The value of a formula: a number, or nested lists of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A vector, or a matrix by rows.
    List(Vec<Value>),
}

/// The ends of memory operators in a formula; what is not given is 0 and `t`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Where left operators begin.
    pub from: Option<f64>,
    /// Where right operators end.
    pub to: Option<f64>,
}

/// Evaluates a formula of the model language; `with` gives values to names, as in `a=1, t=2`, `range` to the
/// ends of memory operators.
///
/// # Errors
///
/// [`ParseErrors`] if a text is wrong or the formula has no value.
pub fn evaluate(expression: &str, with: &str, range: Range) -> Result<Value, ParseErrors> {
    let names = read_numbers("<with>", with)?;
    let formula = pfaff_model::read_formula(expression, &names, &NoFiles)?;
    value(&formula, range).map_err(|failure| {
        let diagnostics = match failure {
            Failure::Model(diagnostics) => diagnostics,
            Failure::Text(errors) => return errors,
            Failure::Usage(message) => {
                vec![Diagnostic::error("E0605", Span::new(0, expression.len() as u32), message)]
            }
        };
        ParseErrors { source: Source::new("formula", expression), diagnostics }
    })
}

fn value(formula: &Formula, range: Range) -> Result<Value, Failure> {
    let numbers = |es: &[Expr]| -> Result<Vec<Value>, Failure> {
        Ok(scalars(formula, es, range)?.into_iter().map(Value::Number).collect())
    };
    match &formula.value {
        FormulaValue::Scalar(e) => Ok(Value::Number(scalars(formula, &[*e], range)?[0])),
        FormulaValue::Vector(es) => Ok(Value::List(numbers(es)?)),
        FormulaValue::Matrix(rows) => {
            let rows: Result<Vec<Value>, Failure> =
                rows.iter().map(|r| Ok(Value::List(numbers(r)?))).collect();
            Ok(Value::List(rows?))
        }
        FormulaValue::ComplexGamma { re, im } => {
            let parts = scalars(formula, &[*re, *im], range)?;
            complex(gamma_complex(Complex::new(parts[0], parts[1])))
        }
        FormulaValue::ComplexMittagLeffler { alpha, beta, re, im } => {
            let parts = scalars(formula, &[*alpha, *beta, *re, *im], range)?;
            let z = Complex::new(parts[2], parts[3]);
            complex(mittag_leffler_complex(parts[0], parts[1], z))
        }
    }
}

/// A complex number as two numbers.
fn complex(z: Complex) -> Result<Value, Failure> {
    if z.is_finite() {
        Ok(Value::List(vec![Value::Number(z.re), Value::Number(z.im)]))
    } else {
        Err(Failure::Usage("the value is infinite or not a number".into()))
    }
}

fn scalars(formula: &Formula, es: &[Expr], range: Range) -> Result<Vec<f64>, Failure> {
    let g = &formula.graph;
    let given = |e: Expr| formula.symbols.iter().find(|(_, s, _)| *s == e).map(|s| s.2);
    let mut time = given(formula.time);
    let live = g.live(es);
    let memories: Vec<Expr> =
        live.iter().copied().filter(|&e| matches!(g.node(e), Node::Memory(..))).collect();
    if memories.is_empty() && range != Range::default() {
        let message =
            "the ends of an interval belong to memory operators, and the formula has none"
                .into();
        return Err(Failure::Usage(message));
    }
    if time.is_none() && !memories.is_empty() {
        // Left operators are taken at their end, right ones at their beginning.
        let right = memories.iter().any(|&e| is_right(g.node(e)));
        time = if right { Some(range.from.unwrap_or(0.0)) } else { range.to };
    }
    let needs = |e: &Expr| *e == formula.time;
    if time.is_none() && live.iter().any(needs) {
        let message = "the formula contains `t`: give it a value, as in `t=2`".into();
        return Err(Failure::Usage(message));
    }
    let symbol = |e: Expr| if e == formula.time { time } else { given(e) }.unwrap_or(f64::NAN);
    let mut images = Vec::new();
    let outermost = es.iter().flat_map(|&e| g.outermost_memory(e));
    for e in outermost {
        let Some(term) = MemoryOperator::of(g, e) else { continue };
        let Some(at) = time else {
            let message = "the formula has memory: give `t` a value, as in `t=2`".into();
            return Err(Failure::Usage(message));
        };
        let ends = Ends { from: range.from.unwrap_or(0.0), to: range.to, at };
        let value = operate(g, term, formula.time, ends, &symbol).map_err(Failure::Usage)?;
        let value = pfaff_expr::number::from_f64(value)
            .ok_or_else(|| Failure::Usage("the value is infinite".into()))?;
        images.push((e, g.number(value)));
    }
    let values = g.evaluate(&g.substitute(es, &images), &symbol);
    if values.iter().all(|x| x.is_finite()) {
        Ok(values)
    } else {
        Err(Failure::Usage("the value is infinite or not a number".into()))
    }
}

fn is_right(node: Node) -> bool {
    matches!(node, Node::Memory(Memory::CaputoRight | Memory::RiemannLiouvilleRight, ..))
}
