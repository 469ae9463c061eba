//! Functions without machine instructions of their own: machine code calls those of the interpreter.

use std::sync::Arc;

use pfaff_expr::{Binary, Unary, power};

use crate::backend::interpreter::{binary_value, unary_value};
use crate::tape::program::Tape;

/// A function without instructions of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum LibraryFunction {
    Power,
    Unary(Unary),
    Binary(Binary),
    Table { table: u32, order: u32 },
}

/// A call that stands in the code by its address.
#[derive(Debug)]
pub(super) struct LibraryCall {
    pub(super) tape: Arc<Tape>,
    pub(super) function: LibraryFunction,
    #[allow(dead_code, reason = "only our own code has several lanes in a call")]
    pub(super) lanes: usize,
}

impl LibraryCall {
    /// Its value in one lane; functions of one operand do not look at the second.
    #[inline]
    pub(super) fn value(&self, a: f64, b: f64) -> f64 {
        match self.function {
            LibraryFunction::Power => power(a, b),
            LibraryFunction::Unary(function) => unary_value(function, a),
            LibraryFunction::Binary(function) => binary_value(function, a, b),
            LibraryFunction::Table { table, order } => {
                self.tape.tables[table as usize].value(order, a)
            }
        }
    }
}
