//! Groups that act on coordinates.

use crate::source::Span;

/// Coordinates on which a group acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LieGroup {
    /// Which one.
    pub kind: GroupKind,
    /// The coordinates by index, in the order in which the text names them.
    pub coordinates: Vec<usize>,
    /// Where it stands.
    pub span: Span,
}

/// A group that acts on coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// `R(n)`: each coordinate is shifted.
    Translations,
    /// `SO(2)`: an angle is.
    Rotations,
    /// `SE(2)`: two coordinates and an angle, moved like a rigid body in the plane.
    PlaneMotions,
}
