//! Texts beside a model, as a command line gives them: read against the model, or on their own.

use std::sync::Arc;

use pfaff_expr::{Expr, Graph, Role, number};

use crate::diagnostic::parse_errors::ParseErrors;
use crate::diagnostic::{Diagnostic, Severity};
use crate::elaborate::expression::table::{Files, NoFiles};
use crate::elaborate::place::Place;
use crate::elaborate::scope::{Meaning, Site};
use crate::elaborate::{Elaborator, shift};
use crate::model::{Quantity, Workspace};
use crate::parser::{parse_assignments, parse_expression};
use crate::shape::{Shape, Value};
use crate::source::Source;
use crate::syntax::NodeKind;

/// What an expression of the command line may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionScope {
    /// Coordinates, velocities, time and parameters.
    State,
    /// Also accelerations, multipliers, reactions and the energy, as in `observe`.
    Motion,
}

/// A formula that stands on its own, for `pfaff eval`.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Where its expressions live.
    pub graph: Graph,
    /// The symbol `t`.
    pub time: Expr,
    /// The given names with their symbols and values; `t` among them if it was given.
    pub symbols: Vec<(String, Expr, f64)>,
    /// What it stands for.
    pub value: FormulaValue,
}

/// What a formula stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum FormulaValue {
    /// A number.
    Scalar(Expr),
    /// A vector.
    Vector(Vec<Expr>),
    /// A matrix by rows.
    Matrix(Vec<Vec<Expr>>),
    /// `gamma(complex(re, im))`
    ComplexGamma {
        /// Real part.
        re: Expr,
        /// Imaginary part.
        im: Expr,
    },
    /// `mittag_leffler(alpha, beta, complex(re, im))`
    ComplexMittagLeffler {
        /// $\alpha$
        alpha: Expr,
        /// $\beta$
        beta: Expr,
        /// Real part of z.
        re: Expr,
        /// Imaginary part of z.
        im: Expr,
    },
}

/// Reads `x=1, x'=2, t=0, mu(c)=0.1` against a model; `name` is that of the text in diagnostics.
///
/// Values are constants of numbers and parameters. A whole vector or matrix may be given, and a component of
/// it beside it.
///
/// # Errors
///
/// All mistakes, with the source that shows them.
pub fn read_assignments(
    model: &Workspace,
    name: &str,
    text: &str,
) -> Result<Vec<(Quantity, f64)>, ParseErrors> {
    let mut e = against(model);
    let mut values: Vec<(Quantity, f64, bool)> = Vec::new();
    for given in e.add_assignments(name, Some(text)) {
        let target = &given.assignment.target;
        let span = e.shifted(given.part, target.span);
        let Some(goal) = e.goal(given.part, target, true) else { continue };
        let site = Site { part: given.part, id: given.assignment.value };
        for (scalar, value) in e.assigned_values(&goal, site, Place::Parameter) {
            let what = format!("the value of `{}`", scalar.name);
            let Some(constant) = e.constant_value(&Value::Scalar(value), site, &what) else {
                continue;
            };
            if !constant.value.is_finite() {
                e.error("E0503", e.span(site), format!("{what} is not finite"));
                continue;
            }
            let known = values.iter().position(|(q, ..)| *q == scalar.quantity);
            match known {
                Some(k) if values[k].2 == goal.whole => {
                    e.error("E0413", span, format!("`{}` is given twice", scalar.name));
                }
                Some(k) if !goal.whole => values[k].1 = constant.value,
                Some(_) => {}
                None => values.push((scalar.quantity, constant.value, goal.whole)),
            }
        }
    }
    let values = values.into_iter().map(|(quantity, value, _)| (quantity, value)).collect();
    e.settled(values)
}

/// Reads an expression against a model, into the model's graph; `name` is that of the text in diagnostics.
///
/// # Errors
///
/// All mistakes, with the source that shows them.
pub fn read_expression(
    model: &Workspace,
    name: &str,
    text: &str,
    scope: ExpressionScope,
) -> Result<(Shape, Vec<Expr>), ParseErrors> {
    let mut e = against(model);
    let place = match scope {
        ExpressionScope::State => Place::Along,
        ExpressionScope::Motion => Place::Observe,
    };
    e.speak_of("the expression".into());
    let value = match e.add_expression(name, text) {
        Some(site) => {
            let value = e.read(site, place);
            e.only_arrays(site, value)
        }
        None => Value::Poison,
    };
    let shape = value.shape().unwrap_or(Shape::Scalar);
    e.settled((shape, value.entries().to_vec()))
}

/// Reads `a=1, t=2*pi` as numbers; `name` is that of the text in diagnostics.
///
/// # Errors
///
/// All mistakes, with the source that shows them.
pub fn read_numbers(name: &str, text: &str) -> Result<Vec<(String, f64)>, ParseErrors> {
    let graph = Graph::new();
    let source = Source::new(name, text);
    let parsed = match parse_assignments(&source) {
        Ok(parsed) => parsed,
        Err(mistakes) => return Err(ParseErrors { source, diagnostics: mistakes }),
    };
    let arena = Arc::new(parsed.arena);
    let mut e = Elaborator::new(&graph, &NoFiles, source, arena.clone());
    let mut numbers: Vec<(String, f64)> = Vec::new();
    for assignment in parsed.assignments {
        let target = &assignment.target;
        let name = arena.name(target.name.symbol).to_owned();
        if target.order > 0 || !target.slots.is_empty() || target.of.is_some() {
            e.error(
                "E0413",
                target.span,
                "only plain names can be given here, as in `a=1, t=2`".into(),
            );
            continue;
        }
        if numbers.iter().any(|(known, _)| *known == name) {
            e.error("E0413", target.span, format!("`{name}` is given twice"));
            continue;
        }
        let site = Site { part: 0, id: assignment.value };
        let value = e.read(site, Place::Parameter);
        let what = format!("the value of `{name}`");
        match e.constant_value(&value, site, &what) {
            Some(c) if c.value.is_finite() => numbers.push((name, c.value)),
            Some(_) => {
                e.error("E0503", e.span(site), format!("{what} is not finite"));
            }
            None => {}
        }
    }
    e.settled(numbers)
}

/// Reads a formula of the given names and `t`.
///
/// ```
/// use pfaff_model::{FormulaValue, NoFiles, read_formula};
/// let formula = read_formula("a*t^2", &[("a".into(), 3.0)], &NoFiles).expect("well formed");
/// let FormulaValue::Scalar(e) = formula.value else { panic!("a number") };
/// let value = |s| if s == formula.time { 2.0 } else { 3.0 };
/// assert_eq!(formula.graph.evaluate(&[e], &value), [12.0]);
/// ```
///
/// # Errors
///
/// All mistakes, with the source that shows them.
pub fn read_formula(
    text: &str,
    names: &[(String, f64)],
    files: &dyn Files,
) -> Result<Formula, ParseErrors> {
    let graph = Graph::new();
    let source = Source::new("formula", text);
    let parsed = match parse_expression(&source) {
        Ok(parsed) => parsed,
        Err(mistakes) => return Err(ParseErrors { source, diagnostics: mistakes }),
    };
    let mut e = Elaborator::new(&graph, files, source, Arc::new(parsed.arena));
    let time = e.time();
    let mut symbols = Vec::with_capacity(names.len());
    for (name, value) in names {
        let symbol = if name == "t" { time } else { graph.symbol(name, Role::Parameter) };
        symbols.push((name.clone(), symbol, *value));
        if name == "t" {
            continue;
        }
        e.scope.doubles.insert(symbol, *value);
        if let Some(exact) = number::from_f64(*value) {
            e.scope.exact.insert(symbol, exact);
        }
        let meaning = Meaning::Parameter(Value::Scalar(symbol));
        e.scope.insert(name, meaning, crate::source::Span::default());
    }
    let value = e.formula(Site { part: 0, id: parsed.root });
    let value = e.settled(value)?.unwrap_or(FormulaValue::Scalar(graph.zero()));
    Ok(Formula { graph, time, symbols, value })
}

/// An elaborator that knows what a model declares.
fn against(model: &Workspace) -> Elaborator<'_> {
    let source = model.source.clone();
    let mut e = Elaborator::new(&model.graph, &NoFiles, source, model.arena.clone());
    e.scope = model.scope.clone();
    e.draft.coordinates.clone_from(&model.coordinates);
    e.draft.dynamics.constraints.clone_from(&model.constraints);
    // The parts `<set>` and `<initial>` defined nothing that is called later.
    e
}

impl Elaborator<'_> {
    /// The result, if no mistake was reported.
    fn settled<T>(self, value: T) -> Result<T, ParseErrors> {
        if self.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            return Err(ParseErrors { source: self.source, diagnostics: self.diagnostics });
        }
        Ok(value)
    }

    /// Adds an expression of the command line as a further part.
    fn add_expression(&mut self, name: &str, text: &str) -> Option<Site> {
        let base = self.source.append_part(name, text);
        match parse_expression(&Source::new(name, text)) {
            Ok(parsed) => {
                let part = self.add_part(parsed.arena, base);
                Some(Site { part, id: parsed.root })
            }
            Err(mistakes) => {
                self.diagnostics.extend(mistakes.into_iter().map(|d| shift(d, base)));
                None
            }
        }
    }

    fn only_arrays(&mut self, site: Site, value: Value) -> Value {
        if value.shape().is_some() || value.is_poison() {
            return value;
        }
        let message = format!("the expression is {}, not a number", value.describe());
        self.report(Diagnostic::error("E0303", self.span(site), message))
    }

    fn formula(&mut self, site: Site) -> Option<FormulaValue> {
        self.speak_of("the formula".into());
        if self.has_complex_argument(site) {
            return self.complex_formula(site);
        }
        let value = self.read(site, Place::Formula);
        match self.only_arrays(site, value) {
            Value::Scalar(e) => Some(FormulaValue::Scalar(e)),
            Value::Vector(v) => Some(FormulaValue::Vector(v.to_vec())),
            Value::Row(v) => Some(FormulaValue::Matrix(vec![v.to_vec()])),
            Value::Matrix(_, m, x) => {
                Some(FormulaValue::Matrix(x.chunks(m).map(<[Expr]>::to_vec).collect()))
            }
            _ => None,
        }
    }

    /// Whether it is `gamma` or `mittag_leffler` of `complex(…)`.
    fn has_complex_argument(&self, site: Site) -> bool {
        let NodeKind::Call { arguments, .. } = self.kind(site) else { return false };
        let wanted = match self.called(site).as_str() {
            "gamma" => 1,
            "mittag_leffler" => 3,
            _ => return false,
        };
        arguments.len() == wanted && self.called(self.argument(site, wanted - 1)) == "complex"
    }

    /// Requires [`Self::has_complex_argument`].
    fn complex_formula(&mut self, site: Site) -> Option<FormulaValue> {
        let NodeKind::Call { arguments, .. } = self.kind(site) else { return None };
        let last = arguments.len() - 1;
        let complex = self.argument(site, last);
        let NodeKind::Call { arguments: parts, .. } = self.kind(complex) else { return None };
        if parts.len() != 2 {
            let message = format!("`complex` takes 2 arguments, not {}", parts.len());
            let hint = "it is written `complex(re, im)`";
            self.error_hint("E0302", self.span(complex), message, hint);
            return None;
        }
        let real = (0..last).map(|k| self.argument(site, k));
        let numbers: Vec<Site> =
            real.chain([0, 1].map(|k| self.argument(complex, k))).collect();
        let mut read = Vec::new();
        for at in numbers {
            let value = self.read(at, Place::Formula);
            read.extend(self.scalar(&value, at, "an argument"));
        }
        match read[..] {
            [re, im] if last == 0 => Some(FormulaValue::ComplexGamma { re, im }),
            [alpha, beta, re, im] => {
                Some(FormulaValue::ComplexMittagLeffler { alpha, beta, re, im })
            }
            _ => None,
        }
    }
}
