//! Expressions as a hash-consed graph with exact numbers.
//!
//! ```text
//! constructors ──► Graph ──► derivatives, substitution, zero test, values, text, LaTeX, MathML
//! ```
//!
//! Knows nothing of mechanics beyond the words "coordinate", "velocity" and "time" of its symbols.

mod derivative;
mod graph;
mod interrupt;
mod math;
mod print;
mod simplify;
mod zero;

pub use derivative::rate::Rates;
pub use graph::evaluate::Evaluator;
pub use graph::family::Family;
pub use graph::long_sum::LongSum;
pub use graph::node::{Expr, Memory, Node, Relation, Role, Symbol};
pub use graph::number::{self, Rational};
pub use graph::substitute::{LinearSplit, Substitution};
pub use graph::{FrozenGraph, Graph};
pub use interrupt::{checkpoint, interruptible, is_interrupted, with_shield};
pub use math::double_double::Double as DoubleDouble;
pub use math::function::BinaryArguments;
pub use math::power::{power, power_row, whole_power};
pub use math::special;
pub use math::table::{Overshoot, Table, TableError};
pub use math::{Binary, Unary, series, spelling};
pub use print::mathml_symbol::escape as escape_markup;
pub use print::symbol_parts::{Subscript, SymbolParts, SymbolWord, greek};
pub use print::{NameOptions, NamedParts, commands_a_screen};
pub use zero::ZeroTest;
