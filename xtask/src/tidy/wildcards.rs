//! Matches over principles, classes and functions name every variant: code → arms that catch the rest.
//!
//! With `_ =>`, a new variant would silently take that arm; without it, the compiler lists what to visit.

use super::rules::Fault;

/// Enums that grow.
const KINDS: &[&str] = &["Principle::", "Class::", "Function::"];

/// The arms `_ =>` or `other =>` beside arms that name a variant of such an enum.
pub(crate) fn faults(code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, _) in code.match_indices("match ") {
        let is_word =
            code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let Some(open) = opening(&code[at..]).filter(|_| !is_word) else { continue };
        let arms = patterns(&code[at + open + 1..]);
        let kind =
            KINDS.iter().find(|kind| arms.iter().any(|(_, pattern)| names(pattern, kind)));
        let Some(kind) = kind else { continue };
        for (offset, _) in arms.iter().filter(|(_, pattern)| catches_all(pattern)) {
            let line = 1 + code[..at + open + 1 + offset].matches('\n').count();
            let enumeration = kind.trim_end_matches(':');
            faults.push((
                line,
                format!("an arm for the rest of `{enumeration}`: name every variant"),
            ));
        }
    }
    faults
}

/// Whether a pattern is the enum's variant itself, not one inside something else.
fn names(pattern: &str, kind: &str) -> bool {
    pattern.split('|').any(|part| {
        let part = part.trim().trim_start_matches("Some(").trim_start_matches('&');
        part.starts_with(kind)
            || part.rsplit_once("::").is_some_and(|(path, _)| {
                path.ends_with(kind.trim_end_matches(':')) && !path.contains('(')
            })
    })
}

fn catches_all(pattern: &str) -> bool {
    pattern == "_"
        || (pattern.chars().all(|c| c.is_lowercase() || c == '_')
            && !pattern.is_empty()
            && pattern != "true"
            && pattern != "false")
}

/// Where the braces of a match open, from its word.
fn opening(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The patterns of the arms of a match, from behind its opening brace, with their places. Guards are left out.
fn patterns(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut depth, mut start, mut in_pattern) = (0_i32, 0, true);
    let bytes = code.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth < 0 {
                    break;
                }
                if depth == 0 && bytes[at] == b'}' && !in_pattern {
                    (in_pattern, start) = (true, at + 1);
                }
            }
            b',' if depth == 0 && !in_pattern => (in_pattern, start) = (true, at + 1),
            b'=' if depth == 0 && in_pattern && bytes.get(at + 1) == Some(&b'>') => {
                let text = code[start..at].trim().trim_start_matches(',').trim();
                let pattern = text.split(" if ").next().unwrap_or(text).trim();
                let guarded = pattern.len() < text.len();
                if !guarded || !catches_all(pattern) {
                    found.push((at, pattern.to_owned()));
                }
                in_pattern = false;
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(code: &str) -> Vec<usize> {
        faults(code).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn an_arm_for_the_rest_is_found() {
        let code = "match principle {\n    Principle::Chetaev => 1,\n    _ => 2,\n}";
        assert_eq!(lines(code), [3]);
        let code = "let a = match class {\n    Class::A | Class::B => { f(x) }\n    other => g(other),\n};";
        assert_eq!(lines(code), [3]);
        let code =
            "match p {\n    Some(Principle::Chetaev) => 1,\n    None | _ => 2,\n    _ => 3 }";
        assert_eq!(lines(code), [4]);
    }

    #[test]
    fn named_variants_and_other_matches_are_fine() {
        for code in [
            "match p { Principle::A => 1, Principle::B | Principle::C => 2 }",
            "match p { Principle::A => match n { 0 => 1, _ => 2 }, Principle::B => 3 }",
            "match text { \"a\" => Principle::A, _ => Principle::B }",
            "match n { 0 => 1, _ => f(Class::A) }",
            "rematch { Principle::A => 1, _ => 2 }",
        ] {
            assert_eq!(lines(code), [0; 0], "{code}");
        }
    }
}
