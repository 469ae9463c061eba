//! A conserved quantity, and where it comes from.

use pfaff_expr::Expr;

/// A quantity that every motion keeps.
#[derive(Clone, Debug)]
pub struct Conserved {
    /// A short name that the model leaves free: `E`, `p_x`, `L_z`, `C1`.
    pub name: String,
    /// Where it comes from.
    pub kind: ConservedKind,
    /// Its formula in positions, velocities and time; with $\mu$ under the vakonomic principle.
    pub quantity: Expr,
}

/// Where a conserved quantity comes from. Coordinates are given by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConservedKind {
    /// $E = \dot q\cdot p - L$, time being cyclic.
    Energy,
    /// $T_2 - T_0 + V$ in a moving frame.
    JacobiIntegral,
    /// The energy less a multiple of a momentum, neither of which is kept by itself.
    MovingEnergy,
    /// The momentum of a cyclic coordinate.
    Momentum(usize),
    /// The momentum of a common shift of coordinates.
    LinearMomentum(Vec<usize>),
    /// The momentum of a shift along which the Lagrangian changes by a rate.
    GaugeMomentum(Vec<usize>),
    /// The momentum of a rotation of pairs of coordinates, and of angles that turn with them.
    AngularMomentum {
        /// Coordinates that turn into others: factor and direction.
        pairs: Vec<(usize, usize)>,
        /// Coordinates that are shifted with them.
        shifted: Vec<usize>,
    },
    /// The momentum of another symmetry that is linear in the coordinates.
    LinearSymmetry,
    /// The momentum of a symmetry that the text gives, by its name.
    Given(String),
    /// The momentum of a combination of symmetries that the constraints allow.
    Nonholonomic,
    /// A function of positions and time.
    Position,
    /// Quadratic in the velocities.
    Quadratic,
}
