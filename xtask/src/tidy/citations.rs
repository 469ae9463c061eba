//! Citations: text and bibliography → keys that nobody can look up.
//!
//! A citation is `[Key]` or `[Key, where]` with a key of two or more letters, the first a capital, and two
//! digits of the year:
//! as in `[AS64, (6.1.1)]`. Keys live in `docs/theory/references.bib`.

/// The keys of a BibTeX text: `@book{Key,`.
pub(crate) fn keys(bibliography: &str) -> Vec<String> {
    let entries = bibliography.lines().filter_map(|line| line.trim().strip_prefix('@'));
    entries
        .filter_map(|entry| entry.split_once('{'))
        .map(|(_, key)| key.trim_end_matches(',').trim().to_owned())
        .collect()
}

/// The citations in one line.
pub(crate) fn cited(line: &str) -> Vec<&str> {
    let after_brackets = line.match_indices('[').map(|(at, _)| &line[at + 1..]);
    after_brackets
        .filter_map(|rest| {
            let end = rest.find([']', ','])?;
            let key = &rest[..end];
            is_key(key).then_some(key)
        })
        .collect()
}

/// `AKN06`, `Bloch15`, `LM95a`.
fn is_key(text: &str) -> bool {
    let body = text.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(text);
    let letters = body.trim_end_matches(|c: char| c.is_ascii_digit());
    body.len() == letters.len() + 2
        && letters.len() >= 2
        && letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_found() {
        assert_eq!(
            cited("after [AKN06, §1.2.4] and [Bloch15], [LM95a]."),
            ["AKN06", "Bloch15", "LM95a"]
        );
    }

    #[test]
    fn brackets_of_other_kinds_are_left_alone() {
        for line in ["[E0301]", "[X, Y]", "th[12]", "[`Graph`]", "[M11, M12]", "[see 06]"] {
            assert_eq!(cited(line), Vec::<&str>::new(), "{line}");
        }
    }

    #[test]
    fn keys_of_a_bibliography() {
        assert_eq!(
            keys("@book{AS64,\n title = {x},\n}\n@article{GWCM05,\n}\n"),
            ["AS64", "GWCM05"]
        );
    }
}
