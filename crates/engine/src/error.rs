//! What can go wrong, as one type for all callers.
//!
//! [`Error`] is what the public functions return: it owns the text that its diagnostics point into and prints
//! itself. Inside the engine a [`Failure`] does without the text until it leaves.

use std::fmt;

use pfaff_mechanics::Refusal;
use pfaff_model::{Diagnostic, ParseErrors, Source};
use pfaff_program::CompileError;

/// Whether this build has everything.
pub(crate) const WHOLE: bool = cfg!(feature = "whole");

/// What a build without the feature `whole` answers to a request for what it leaves out.
pub const LEFT_OUT: &str = "this build of pfaff has its most used parts only";

/// Why there is no result.
///
/// ```
/// use pfaff::{Error, Model};
/// let error = Model::parse("coordinates x\nlagrangian x'^2/2 - k*x").expect_err("`k` is unknown");
/// assert!(error.to_string().contains("`k` is not declared"));
/// assert_eq!(error.diagnostics()[0].code, "E0201");
/// ```
#[derive(Clone, thiserror::Error)]
pub enum Error {
    /// A text is wrong: that of the model, its data, or an expression that was given beside it.
    #[error(transparent)]
    Text(#[from] ParseErrors),
    /// The request is wrong: the sentence says why.
    #[error("{0}")]
    Usage(String),
}

/// As it prints itself, so that `fn main() -> Result<(), pfaff::Error>` shows what a person can read.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Error {
    /// What is wrong with the text, each with its place; none if the request is wrong.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Text(errors) => &errors.diagnostics,
            Self::Usage(_) => &[],
        }
    }
}

/// Why there is no result; diagnostics point into the text of the model at hand.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The model or its data are wrong.
    Model(Vec<Diagnostic>),
    /// A text beside the model is wrong.
    Text(ParseErrors),
    /// The request is wrong.
    Usage(String),
}

impl Failure {
    /// The error, with the text of the model.
    pub(crate) fn in_source(self, source: &Source) -> Error {
        match self {
            Self::Model(diagnostics) => {
                Error::Text(ParseErrors { source: source.clone(), diagnostics })
            }
            Self::Text(errors) => Error::Text(errors),
            Self::Usage(message) => Error::Usage(message),
        }
    }

    /// Refuses what this build leaves out; see [`WHOLE`].
    #[cold]
    pub(crate) fn left_out() -> Self {
        Self::usage(LEFT_OUT)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Model(vec![diagnostic])
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        refusal.diagnostic().into()
    }
}

impl From<ParseErrors> for Failure {
    fn from(errors: ParseErrors) -> Self {
        Self::Text(errors)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Diagnostic::error("E0431", pfaff_model::Span::default(), error.to_string()).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Text(errors) => Self::Text(errors),
            Error::Usage(message) => Self::Usage(message),
        }
    }
}
