//! The tests of the expressions as one binary: a file for each subject, what they share in `support`.
//!
//! `cargo test -p pfaff-expr --test main zero` runs one file.

mod derivatives;
mod families;
mod latex;
mod mathml;
mod paper;
mod simplify;
mod special;
mod support;
mod text;
mod typst;
mod zero;
