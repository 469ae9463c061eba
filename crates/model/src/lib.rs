//! The model language of pfaff: text to model, or diagnostics.
//!
//! `text ─► tokens ─► syntax ─► model`: [`parse`] reads a [`Source`] into a [`syntax::Syntax`],
//! [`read_model`] goes on to a [`Model`], and both gather every mistake as a [`Diagnostic`] with
//! a code, a span, a message and a hint.

mod diagnostic;
mod drawing;
mod elaborate;
mod highlight;
mod lexer;
mod model;
mod parser;
mod shape;
mod source;
pub mod syntax;

pub use diagnostic::explain::{EXPLANATIONS, Example, Explanation, explanation};
pub use diagnostic::parse_errors::ParseErrors;
pub use diagnostic::{Diagnostic, Severity, closest};
pub use drawing::{Colour, Components, Drawing, Figure, Style};
pub use elaborate::{
    ExpressionScope, Files, Formula, FormulaValue, NoFiles, NoTable, Overrides, Scope,
    read_assignments, read_expression, read_formula, read_model, read_numbers, table_of,
};
pub use highlight::{Piece, highlight};
pub use lexer::token::{Decimal, Keyword};
pub use model::{
    Activity, AffineBody, AffineWord, Constraint, Contact, Coordinate, Datum, Declarations,
    Delay, Direction, Dynamics, Equation, Event, Force, ForceOrigin, Friction, GroupKind,
    Hybrid, ImpactLaw, Joint, LieGroup, Model, MultiplierStart, Noise, Observed, Parameter,
    Principle, Quantity, Reset, Results, Sampler, Solve, Symmetry, Terminal, TerminalValue,
    Workspace,
};
pub use parser::{
    Parsed, ParsedAssignments, ParsedExpression, ParsedExpressions, parse, parse_assignments,
    parse_expression, parse_expressions,
};
pub use shape::Shape;
pub use source::{Position, Source, Span};
