//! One memory operator, taken apart.

use pfaff_expr::{Expr, Graph, Memory, Node};

/// A memory operator with what it acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryOperator {
    pub(crate) kind: Memory,
    pub(crate) operand: Expr,
    /// Its order or its kernel.
    pub(crate) second: Expr,
}

impl MemoryOperator {
    /// `None` if the expression is something else.
    pub(crate) fn of(g: &Graph, e: Expr) -> Option<Self> {
        match g.node(e) {
            Node::Memory(kind, operand, second) => Some(Self { kind, operand, second }),
            _ => None,
        }
    }
}
