//! Choices → a model and a command → its status, in this process.
//!
//! The limits of the command end this process if work has no part to show; the loop counts that as no answer in time.

use std::ffi::OsString;

use crate::choices::Choices;
use crate::scratch;
use crate::writer::Writer;

/// Lets a command answer.
pub(crate) fn answer(bytes: &[u8]) {
    let mut writer = Writer::new(Choices::new(bytes));
    let text = writer.model();
    let model = scratch::write("model.pfaff", text.as_bytes());
    let folder = scratch::folder().display().to_string();
    let arguments = writer.arguments(&model.display().to_string(), &folder);
    let words = std::iter::once("pfaff".to_owned()).chain(arguments.iter().cloned());
    let words: Vec<OsString> = words.map(OsString::from).collect();
    let status = pfaff_cli::answer(&words);
    assert!(status <= 4, "status {status} of {arguments:?}\n{text}");
    for entry in std::fs::read_dir(scratch::folder()).expect("it is there").flatten() {
        let name = entry.file_name();
        assert!(
            !name.to_string_lossy().ends_with(".part"),
            "{arguments:?} left {}\n{text}",
            name.display()
        );
        // Nothing of one case is left for the next.
        let _ = std::fs::remove_file(entry.path());
    }
}

/// What a case asks for, for people.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut writer = Writer::new(Choices::new(bytes));
    let text = writer.model();
    format!("pfaff {}\n{text}", writer.arguments("-", ".").join(" "))
}
