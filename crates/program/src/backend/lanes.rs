//! How many states machine code evaluates at once.

/// Lanes that stand side by side in a row.
pub(crate) const LANE_BLOCK: usize = 8;

/// One state, or as many as fit vector registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// One state.
    One,
    /// Four states.
    Four,
    /// Eight states.
    Eight,
}

impl Lanes {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::One, Self::Four, Self::Eight];

    /// How many states.
    pub fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}
