//! The tests of the language as one binary: a file or a folder for each subject.
//!
//! `cargo test -p pfaff-model --test main syntax` runs one file.

mod elaborate;
mod language;
mod random;
mod syntax;
