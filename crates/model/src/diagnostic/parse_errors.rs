//! All mistakes of a text, together with the text that shows them.

use std::fmt;

use crate::diagnostic::Diagnostic;
use crate::source::Source;

/// A text that could not be used, with everything that is wrong with it.
///
/// It prints itself as a terminal shows it:
///
/// ```
/// use pfaff_model::{NoFiles, Overrides, Source, read_model};
/// let source = Source::new("spring.pfaff", "coordinates x\nlagrangian x'^2/2 - k*x^2/2\n");
/// let errors = read_model(source, &Overrides::default(), &NoFiles).expect_err("`k` is unknown");
/// assert_eq!(errors.to_string(), "\
/// error[E0201]: `k` is not declared
///  --> spring.pfaff:2:21
///   |
/// 2 | lagrangian x'^2/2 - k*x^2/2
///   |                     ^
///   = hint: names are declared before they are used
/// ");
/// ```
#[derive(Clone, Debug)]
pub struct ParseErrors {
    /// The text that the diagnostics point into.
    pub source: Source,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for ParseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.iter().try_for_each(|d| f.write_str(&d.render(&self.source)))
    }
}

impl std::error::Error for ParseErrors {}
