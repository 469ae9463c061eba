//! Where switching functions are along a motion.

use pfaff_model::Direction;

/// Where a switching function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Above,
    Below,
    /// At zero, where the motion is held by forces between those of both sides.
    Held,
    /// At zero, where it stays by itself: its sign is that of zero.
    Still,
}

impl Side {
    /// That of a value that is not zero.
    pub(crate) fn of(value: f64) -> Self {
        if value > 0.0 { Self::Above } else { Self::Below }
    }

    /// The value of $s$.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Above => 1.0,
            Self::Below => -1.0,
            Self::Held | Self::Still => 0.0,
        }
    }

    /// The other side of zero.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::Below => Self::Above,
            at_zero @ (Self::Held | Self::Still) => at_zero,
        }
    }

    /// How the function leaves it.
    pub(crate) fn leaving(self) -> Direction {
        match self {
            Self::Above => Direction::Falling,
            Self::Below => Direction::Rising,
            Self::Held | Self::Still => Direction::Both,
        }
    }
}
