//! Why expressions make no program.

use std::fmt;

/// Why expressions cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// An output contains a symbol that is neither an input nor a parameter.
    UnknownSymbol {
        /// As the model writes it.
        name: String,
    },
    /// An input or parameter is listed twice.
    Repeated {
        /// As the model writes it.
        name: String,
    },
    /// An output contains a memory operator, which has no value at one instant.
    Memory {
        /// The word of the model language.
        text: String,
    },
    /// An output contains the Mittag-Leffler function, which no instruction computes.
    MittagLeffler,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSymbol { name } => {
                write!(f, "`{name}` is neither an input nor a parameter of the program")
            }
            Self::Repeated { name } => {
                write!(f, "`{name}` is listed twice among inputs and parameters")
            }
            Self::Memory { text } => write!(
                f,
                "`{text}` has no value at one instant; hint: make it an input of the program"
            ),
            Self::MittagLeffler => write!(
                f,
                "`mittag_leffler` cannot be compiled; hint: make it an input of the program"
            ),
        }
    }
}

impl std::error::Error for CompileError {}
