//! Text → diagnostics: every mistake has a place inside the text and a sentence, and a refusal has a reason.

use pfaff::{Model, NoFiles, Overrides, Source};
use pfaff_model::{Diagnostic, parse};

/// Reads the bytes as a model.
pub(crate) fn read(bytes: &[u8]) {
    let source = match Source::from_bytes("fuzz", bytes) {
        Ok(source) => source,
        Err(refused) => {
            assert!(!refused.diagnostics.is_empty(), "a refusal has a reason");
            return;
        }
    };
    match Model::read(source.clone(), &Overrides::default(), &NoFiles) {
        Ok(model) => {
            let wrong = parse(&source).diagnostics;
            assert!(wrong.is_empty(), "a text with mistakes is no model: {wrong:?}");
            told(model.remarks(), &source);
        }
        Err(refused) => {
            assert!(!refused.diagnostics.is_empty(), "a refusal has a reason");
            told(&refused.diagnostics, &refused.source);
        }
    }
}

/// Every diagnostic can be shown.
fn told(diagnostics: &[Diagnostic], source: &Source) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.render(source).is_empty());
    }
}
