//! Statements of motions that switch: further variables, inputs, modes and contacts.

use crate::syntax::{ExprId, Name, Setting, Slot};

/// When a statement holds: `in stance`, `when x > 0`.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    /// The modes after `in`; none for all.
    pub modes: Vec<Name>,
    /// What stands after `when`.
    pub when: Option<ExprId>,
}

/// A further variable of first order.
#[derive(Clone, Debug)]
pub struct State {
    /// What it is called.
    pub name: Name,
    /// Its rate.
    pub rate: ExprId,
}

/// What drives a model from outside.
#[derive(Clone, Debug)]
pub struct Input {
    /// What it is called.
    pub name: Name,
    /// Its value.
    pub value: ExprId,
    /// Whether that is a function of time (`:`), and not a number (`=`).
    pub is_function: bool,
}

/// A law of feedback.
#[derive(Clone, Debug)]
pub struct Control {
    /// What it gives.
    pub name: Name,
    /// The law.
    pub value: ExprId,
    /// The time between samples, if it is sampled.
    pub every: Option<ExprId>,
}

/// A unilateral constraint.
#[derive(Clone, Debug)]
pub struct Contact {
    /// What it is called.
    pub name: Name,
    /// `[i = 1..N]` after the name.
    pub slots: Vec<Slot>,
    /// The comparison.
    pub relation: ExprId,
    /// `restitution = e`, `friction = mu`, `law = newton`
    pub settings: Vec<Setting>,
    /// When it is there.
    pub condition: Condition,
}
