//! Rust text → its code and its comments, apart, with every line in its place.
//!
//! The rules look for words. A word in a string is not code, and a word in a comment is not code either; so both views
//! keep the line breaks and blank out what is not theirs. Raw strings, nested comments, and lifetimes beside character
//! literals are told apart; macros are not expanded.

use std::path::Path;

/// The two views of a text. Each has as many lines as the text.
pub(crate) struct Views {
    /// Code; comments and the insides of literals are blank.
    pub(crate) code: String,
    /// Comments; the rest is blank.
    pub(crate) comments: String,
    /// The insides of string literals; the rest is blank.
    pub(crate) literals: String,
}

/// Splits a Rust text.
pub(crate) fn views(text: &str) -> Views {
    let chars: Vec<char> = text.chars().collect();
    let mut split = Split {
        chars: &chars,
        at: 0,
        code: String::new(),
        comments: String::new(),
        literals: String::new(),
    };
    while split.at < chars.len() {
        split.next();
    }
    Views { code: split.code, comments: split.comments, literals: split.literals }
}

struct Split<'a> {
    chars: &'a [char],
    at: usize,
    code: String,
    comments: String,
    literals: String,
}

/// Where a character belongs.
#[derive(Clone, Copy)]
enum Into {
    Code,
    Comment,
    Literal,
}

impl Split<'_> {
    fn next(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => self.line_comment(),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('r', '"' | '#') if !self.inside_word() => self.raw_string(),
            ('\'', _) => self.quote(),
            _ => self.push(Into::Code),
        }
    }

    /// The character `ahead` of here; a space beyond the end.
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or(' ')
    }

    /// Whether a letter stands just before. `br"…"` is raw too, so a lone `b` does not count.
    fn inside_word(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).map_or(' ', |at| self.chars[at]);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let byte_prefix = before(1) == 'b' && !is_word(before(2));
        is_word(before(1)) && !byte_prefix
    }

    fn push(&mut self, into: Into) {
        let c = self.peek(0);
        let blank = if c == '\n' { '\n' } else { ' ' };
        self.code.push(if matches!(into, Into::Code) { c } else { blank });
        self.comments.push(if matches!(into, Into::Comment) { c } else { blank });
        self.literals.push(if matches!(into, Into::Literal) { c } else { blank });
        self.at += 1;
    }

    fn line_comment(&mut self) {
        while self.at < self.chars.len() && self.peek(0) != '\n' {
            self.push(Into::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            let (opens, closes) = match (self.peek(0), self.peek(1)) {
                ('/', '*') => (true, false),
                ('*', '/') => (false, true),
                _ => (false, false),
            };
            self.push(Into::Comment);
            if opens || closes {
                self.push(Into::Comment);
            }
            depth += i32::from(opens) - i32::from(closes);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.push(Into::Code);
        while self.at < self.chars.len() && self.peek(0) != '"' {
            if self.peek(0) == '\\' && self.at + 1 < self.chars.len() {
                self.push(Into::Literal);
            }
            self.push(Into::Literal);
        }
        if self.at < self.chars.len() {
            self.push(Into::Code);
        }
    }

    fn raw_string(&mut self) {
        let ahead = &self.chars[self.at + 1..];
        let hashes = ahead.iter().take_while(|&&c| c == '#').count();
        if self.peek(1 + hashes) != '"' {
            return self.push(Into::Code); // a raw identifier, `r#type`
        }
        for _ in 0..hashes + 2 {
            self.push(Into::Code);
        }
        while self.at < self.chars.len() {
            if self.peek(0) == '"' && (1..=hashes).all(|k| self.peek(k) == '#') {
                (0..=hashes).for_each(|_| self.push(Into::Code));
                return;
            }
            self.push(Into::Literal);
        }
    }

    /// A character literal, or the quote of a lifetime.
    fn quote(&mut self) {
        let literal = self.peek(1) == '\\' || self.peek(2) == '\'';
        self.push(Into::Code);
        if !literal {
            return;
        }
        if self.peek(0) == '\\' {
            self.push(Into::Literal);
        }
        self.push(Into::Literal);
        while self.at < self.chars.len() && self.peek(0) != '\'' {
            self.push(Into::Literal);
        }
        if self.at < self.chars.len() {
            self.push(Into::Code);
        }
    }
}

/// Whether the file is a test: its texts are data.
pub(crate) fn is_test(path: &Path) -> bool {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    parts.any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
}

/// Whether `word` occurs in `line` with no letter, digit or underscore beside it.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_word)
            && !line[at + word.len()..].chars().next().is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let split = views("let a = \"x // y \\\" z\"; // note\n/* b /* c */ d */ let e = 1;\n");
        assert!(!split.code.contains('y') && !split.code.contains('z'));
        assert!(!split.code.contains("note") && !split.code.contains('d'));
        assert!(split.code.contains("let e = 1;"));
        assert!(split.comments.contains("// note") && split.comments.contains("d */"));
        assert!(!split.comments.contains('y'));
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        let split = views("f(r#\"a \"inner\" c\"#, br\"d\\\", r#type) // e");
        assert!(!split.code.contains("inner"));
        assert!(split.code.contains("br\"  \", r#type)"), "{}", split.code);
        assert!(split.comments.contains("// e"));
    }

    #[test]
    fn lifetimes_are_not_characters() {
        let split =
            views("fn f<'a>(x: &'a str, c: char) -> bool { c == '\"' || c == '\\'' } // end");
        assert!(split.code.contains("<'a>(x: &'a str"));
        assert!(split.comments.contains("// end"));
        assert!(!split.code.contains("end"));
    }

    #[test]
    fn views_keep_the_lines() {
        let text = "//! a\nlet s = \"b\n c\";\n/* d\n e */ f\n";
        let split = views(text);
        assert_eq!(split.code.lines().count(), text.lines().count());
        assert_eq!(split.comments.lines().count(), text.lines().count());
    }

    #[test]
    fn words_have_borders() {
        assert!(has_word("an unsafe block", "unsafe"));
        assert!(!has_word("unsafe_code = deny", "unsafe"));
    }
}
