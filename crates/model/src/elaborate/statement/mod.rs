//! The statements of a model into its draft: a file for each group of keywords.

pub(crate) mod constraint;
mod contact;
pub(crate) mod data;
mod declaration;
mod definition;
pub(crate) mod draw;
mod draw_figure;
mod dynamics;
mod force_density;
mod friction;
mod hybrid;
mod initial;
mod joint;
mod outputs;
mod reset;
mod settings;
pub(crate) mod slots;
