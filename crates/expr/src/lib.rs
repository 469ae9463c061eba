//! Expressions as a hash-consed graph with exact numbers.
//!
//! ```text
//! constructors ──► Graph ──► derivatives, substitution, zero test, values, text, LaTeX, MathML
//! ```
//!
//! Knows nothing of mechanics beyond the words "coordinate", "velocity" and "time" of its symbols.

mod build;
mod chain;
mod derivative;
mod evaluate;
mod field;
mod function;
mod graph;
mod hazard;
mod images;
mod independence;
mod latex;
mod latex_symbol;
mod mathml;
mod mathml_symbol;
mod node;
pub mod number;
mod numbers;
mod order;
mod print;
mod quadratic_terms;
mod rank;
mod rate;
mod rules;
mod simplify;
pub mod special;
mod store;
mod symbol_parts;
mod table;
mod text;
mod transform;
mod value;
mod zero;

pub use function::{Binary, Unary, power, whole_power};
pub use graph::Graph;
pub use mathml_symbol::escape as escape_markup;
pub use node::{Expr, Memory, Node, Relation, Role, Symbol};
pub use number::Rational;
pub use print::{NameOptions, Named};
pub use rate::Rates;
pub use table::{Table, TableError};
pub use transform::{Linear, Substitution};
pub use zero::ZeroTest;
