//! Where an expression stands, and what may occur there.

/// The statement around an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Size,
    Parameter,
    Let,
    Lagrangian,
    Kinetic,
    Potential,
    Constraint,
    Along,
    Force,
    Dissipation,
    Equation,
    Initial,
    Final,
    Observe,
    Event,
    Reset,
    Draw,
    Symmetry,
    Setting,
    Formula,
}

impl Place {
    /// The statement in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Size => "a size",
            Self::Parameter => "the value of a parameter",
            Self::Let => "an abbreviation",
            Self::Lagrangian => "the lagrangian",
            Self::Kinetic => "the kinetic energy",
            Self::Potential => "the potential",
            Self::Constraint => "a constraint",
            Self::Along => "the direction of a reaction",
            Self::Force => "a force",
            Self::Dissipation => "the dissipation",
            Self::Equation => "an equation",
            Self::Initial => "an initial value",
            Self::Final => "a final value",
            Self::Observe => "an observed quantity",
            Self::Event => "an event",
            Self::Reset => "a reset",
            Self::Draw => "a drawing",
            Self::Symmetry => "a symmetry",
            Self::Setting => "a setting",
            Self::Formula => "a formula",
        }
    }

    /// Whether $\ddot q$ may occur. In a `let` it may: where the abbreviation is used decides.
    pub(crate) fn allows_accelerations(self) -> bool {
        matches!(
            self,
            Self::Let
                | Self::Equation
                | Self::Initial
                | Self::Observe
                | Self::Event
                | Self::Reset
                | Self::Draw
                | Self::Formula
        )
    }

    /// Whether `lambda(c)`, `reaction(x)`, `energy` and `divergence` may occur.
    pub(crate) fn allows_results(self) -> bool {
        matches!(self, Self::Observe | Self::Event | Self::Reset | Self::Draw)
    }

    /// Whether `mu(c)` may occur.
    pub(crate) fn allows_multipliers(self) -> bool {
        self.allows_results() || self == Self::Initial
    }

    /// Whether memory operators may occur.
    pub(crate) fn allows_memory(self) -> bool {
        !matches!(
            self,
            Self::Size
                | Self::Parameter
                | Self::Along
                | Self::Initial
                | Self::Final
                | Self::Reset
                | Self::Draw
                | Self::Symmetry
                | Self::Setting
        )
    }
}
