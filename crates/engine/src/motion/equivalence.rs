//! Whether a motion of one principle is also a motion of the other: the verdict.

use pfaff_model::Principle;

/// What the test of one motion says.
#[derive(Clone, Debug, PartialEq)]
pub struct Equivalence {
    /// Along a motion of this principle.
    pub along: Principle,
    /// Whether it is a motion of the other principle.
    pub equivalent: bool,
    /// The root mean square of $B_\perp\mu$, the reaction that the other principle cannot give.
    pub residual: f64,
    /// The root mean square of the reaction.
    pub reaction: f64,
    /// The best $\mu(t_0)$ along a Chetaev motion; along a vakonomic one its own.
    pub multipliers: Vec<f64>,
}

/// Means of squares along a motion.
pub(crate) struct MeanSquares {
    /// Of what the other principle cannot give.
    pub(crate) residual: f64,
    /// Of the reaction.
    pub(crate) reaction: f64,
}

/// The verdict from mean squares.
pub(crate) fn judged(
    along: Principle,
    squares: MeanSquares,
    multipliers: Vec<f64>,
    nothing: f64,
) -> Equivalence {
    let (residual, reaction) =
        (squares.residual.max(0.0).sqrt(), squares.reaction.max(0.0).sqrt());
    let equivalent = residual <= nothing * (1.0 + reaction);
    Equivalence { along, equivalent, residual, reaction, multipliers }
}
