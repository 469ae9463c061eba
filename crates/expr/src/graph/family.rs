//! Families of like terms: a sum of many rows of one shape, kept as a loop.
//!
//! $$ F_p(x) = \sum_{(r,k):\ \tau_{rk} = p} T_k\bigl(x_{\sigma_{r1}}, \dots, x_{\sigma_{ra}}\bigr) $$
//!
//! The terms $T_k$ are expressions over placeholders, $x$ is a list of expressions, $\sigma$ says which of them a row
//! takes, and $\tau$ to which part $F_p$ each of its terms is added. The derivatives of a family are a family over the
//! same list with the terms $\partial T_k/\partial x_a$, so that a force of thousands of pairs costs one term.
//! `gather.rs` finds families; [`Node::Family`] is one part of one, and its operand a [`Node::List`].

use crate::graph::node::Expr;

/// Terms, and the rows over which they are added up.
#[derive(Clone, Debug)]
pub struct Family {
    /// The placeholders in the terms.
    pub arguments: Vec<Expr>,
    /// $T_k$
    pub terms: Vec<Expr>,
    /// $\sigma$, row after row: positions in the list.
    pub operands: Vec<u32>,
    /// $\tau$, row after row.
    pub targets: Vec<u32>,
    /// How many parts there are.
    pub parts: usize,
}

impl Family {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.targets.len() / self.terms.len()
    }

    /// The positions that a row takes.
    pub fn operands_of(&self, row: usize) -> &[u32] {
        &self.operands[row * self.arguments.len()..][..self.arguments.len()]
    }

    /// The parts to which the terms of a row are added.
    pub fn targets_of(&self, row: usize) -> &[u32] {
        &self.targets[row * self.terms.len()..][..self.terms.len()]
    }
}

/// The derivatives of the parts of a family by the entries of its list.
#[derive(Debug)]
pub(crate) struct FamilySlopes {
    /// The family of the derivatives.
    pub(crate) family: u32,
    /// Part $p$ has those from `starts[p]` to `starts[p + 1]`; they are the parts of the other family.
    pub(crate) starts: Vec<u32>,
    /// By which position.
    pub(crate) by: Vec<u32>,
}
