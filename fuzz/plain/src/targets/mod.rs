//! What is done with bytes, one file a subject.

#[cfg(feature = "commands")]
pub(crate) mod command;
#[cfg(feature = "commands")]
pub(crate) mod command_line;
pub(crate) mod expression;
#[cfg(feature = "commands")]
pub(crate) mod format;
pub(crate) mod model;
#[cfg(feature = "commands")]
pub(crate) mod table;
pub(crate) mod tape;
pub(crate) mod text;
