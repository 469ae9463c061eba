//! How C, Rust and Python write a function.

/// How a language writes a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// A function of its mathematical library, by this name.
    Library(&'static str),
    /// A function that is written out, as `pfaff_` and the name in the model language: its definition.
    Helper(&'static str),
    /// It has none.
    None,
}

/// How each language writes a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spellings {
    /// C99
    pub c: Spelling,
    /// Rust
    pub rust: Spelling,
    /// Python 3
    pub python: Spelling,
}

impl Spellings {
    /// In no language.
    pub(crate) const NONE: Self =
        Self { c: Spelling::None, rust: Spelling::None, python: Spelling::None };

    /// The same word in all libraries.
    pub(crate) const fn library(word: &'static str) -> Self {
        Self {
            c: Spelling::Library(word),
            rust: Spelling::Library(word),
            python: Spelling::Library(word),
        }
    }
}
