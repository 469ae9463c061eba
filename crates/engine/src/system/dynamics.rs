//! The derived dynamics of a model: the equations of motion as expressions.

use pfaff_mechanics::{Equations, Ordinary};

/// The derived dynamics of a model.
#[derive(Clone, Debug)]
pub enum Dynamics {
    /// From a Lagrangian under a principle.
    Saddle(Equations),
    /// From `equation` statements.
    Ordinary(Ordinary),
}
