//! `pfaff derive` in the forms of books: every format, and what is refused.

use crate::support::{json, pfaff};

#[test]
fn derive_writes_the_forms_of_books_in_every_format() {
    let forms = ["gibbs_appell", "kane", "maggi", "voronets", "chaplygin", "boltzmann_hamel"];
    for form in forms {
        let shown = json(&["derive", "sleigh", "--form", form, "--json"]);
        assert!(shown["symbols"].is_string() && shown["equations"].is_array(), "{form}");
        for (format, words) in [
            ("text", "symbols: "),
            ("latex", "\\begin{align*}"),
            ("mathml", "<mtable"),
            ("typst", "$ "),
        ] {
            let answer = pfaff(&["derive", "sleigh", "--form", form, "--format", format]);
            assert_eq!(answer.status, 0, "{form}, {format}: {}", answer.err);
            assert!(answer.out.contains(words), "{form}, {format}: {}", answer.out);
        }
    }
    let page = pfaff(&["derive", "sleigh", "--format", "mathml", "--document"]);
    assert!(page.out.starts_with("<!DOCTYPE html>"), "{}", page.out);
    let refused = pfaff(&["derive", "sleigh", "--form", "routhian"]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.err.contains("[E0436]") && refused.err.contains("cyclic"),
        "{}",
        refused.err
    );
    let unknown = pfaff(&["derive", "sleigh", "--form", "newton"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("boltzmann_hamel"), "{}", unknown.err);
}
