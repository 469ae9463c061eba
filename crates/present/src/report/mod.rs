//! A motion for the eye: one page that shows it, and a gallery of such pages.
//!
//! ```text
//! Model, Motion(s) ─► Report ─► one HTML file: animation, equations, plots, audit, how to get it again
//! ```
//!
//! The page is one file with its style and scripts inside: it opens without a server or a network. Everything
//! that comes from a model is escaped on the way.

mod analysis_page;
pub mod drawing;
mod drawing_default;
mod drawing_frames;
mod drawing_scene;
mod figures;
mod formulas;
mod gallery;
mod geometry;
mod guide;
mod memory;
mod page;
mod solutions;
mod still;
mod still_labels;
mod still_svg;
#[cfg(test)]
mod style_tests;
mod symbols;
mod tables;
mod vector;

pub(crate) use analysis_page::{analysis_page, figure_html, preformatted};
pub use figures::{FigureError, NamedTable, figure_of, figure_of_tables, thumbnail};
pub use gallery::{Card, gallery_index};
pub use guide::guide_page;
pub use page::page;
pub(crate) use page::{STYLE as PAGE_STYLE, head as page_head};
pub use still::{Still, still};

use std::borrow::Cow;

use pfaff::{Comparison, Derivation, Dynamics, Model, Motion, Principle, Run, derive};

/// Everything that a page shows.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The model.
    pub model: &'a Model,
    /// What was asked for.
    pub request: &'a Run,
    /// How the user names the model: a path, the name of a gallery model, or `-`.
    pub name: &'a str,
    /// The command that gives the numbers again, for a shell.
    pub command: &'a str,
    /// The equations of each motion that is shown; none where they cannot be written down.
    pub derivations: &'a [Derivation],
    /// One motion, or several principles side by side.
    pub shown: Shown<'a>,
}

/// With more coordinates than this a page says how to get the equations instead of showing them.
pub const LARGE: usize = 100;

impl Report<'_> {
    /// The equations by the principle of Chetaev: those that are there, else derived unless the model is large.
    fn chetaev(&self) -> Option<Cow<'_, Derivation>> {
        let of_chetaev = |d: &&Derivation| match &d.dynamics {
            Dynamics::Saddle(equations) => equations.principle == Principle::Chetaev,
            Dynamics::Ordinary(_) => true,
        };
        match self.derivations.iter().find(of_chetaev) {
            Some(derivation) => Some(Cow::Borrowed(derivation)),
            None if self.model.coordinates.len() > LARGE => None,
            None => derive(self.model, Some(Principle::Chetaev)).ok().map(Cow::Owned),
        }
    }
}

/// One motion or several.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// One.
    Motion(&'a Motion),
    /// One for each principle.
    Comparison(&'a Comparison),
}

impl Shown<'_> {
    /// The motions.
    pub fn motions(&self) -> &[Motion] {
        match self {
            Self::Motion(motion) => std::slice::from_ref(*motion),
            Self::Comparison(comparison) => &comparison.motions,
        }
    }
}
