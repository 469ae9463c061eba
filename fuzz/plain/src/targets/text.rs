//! Text → diagnostics: every mistake has a place inside the text and a sentence, and a refusal has a reason.

use pfaff::{Model, NoFiles, Overrides, Source};
use pfaff_model::parse;

/// Reads the bytes as a model.
pub(crate) fn read(bytes: &[u8]) {
    let source = match Source::from_bytes("fuzz", bytes) {
        Ok(source) => source,
        Err(refused) => {
            assert!(!refused.diagnostics.is_empty(), "a refusal has a reason");
            return;
        }
    };
    let parsed = parse(&source);
    let wrong = parsed.diagnostics.len();
    for diagnostic in &parsed.diagnostics {
        assert!(!diagnostic.render(&source).is_empty());
    }
    match Model::read(source, &Overrides::default(), &NoFiles) {
        Ok(_) => assert_eq!(wrong, 0, "a text with mistakes is no model"),
        Err(refused) => {
            assert!(!refused.diagnostics.is_empty(), "a refusal has a reason");
            for diagnostic in &refused.diagnostics {
                assert!(!diagnostic.render(&refused.source).is_empty());
            }
        }
    }
}
