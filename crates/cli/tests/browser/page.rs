//! What tests ask of a page, whatever browser has opened it.

use serde_json::{Value, json};

use crate::support::wait_for;

/// A page in a browser.
pub(crate) trait Page {
    /// Runs the body of a function in it.
    fn script(&self, body: &str, arguments: Value) -> Value;
}

/// Waits until the page has computed another motion than the one of this number.
pub(crate) fn next_run(page: &dyn Page, before: u64) -> u64 {
    let mut runs = before;
    wait_for("another motion", || {
        let told = page.script("return document.body.dataset.runs || '0';", json!([]));
        runs = told.as_str().and_then(|s| s.parse().ok()).unwrap_or(0);
        runs > before
            && page.script("return document.querySelector('#stop').hidden;", json!([]))
                == json!(true)
    });
    runs
}

pub(crate) fn text_of(page: &dyn Page, selector: &str) -> String {
    let script = "return document.querySelector(arguments[0])?.textContent ?? '';";
    page.script(script, json!([selector])).as_str().unwrap_or("").to_owned()
}

/// Puts another text into the editor, as typing does.
pub(crate) fn write(page: &dyn Page, text: &str) {
    let script = "const view = document.querySelector('.cm-content').cmTile?.view ?? \
        document.querySelector('.cm-content').cmView?.view; \
        view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: arguments[0]}});";
    page.script(script, json!([text]));
}
