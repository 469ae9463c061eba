//! Lines of at most 120 characters: text → the lines that are longer.
//!
//! In Markdown, tables, fenced blocks and lines that a link makes long are left alone: they cannot be broken.
//! In tests of Rust the insides of string literals do not count, because they are data.

use std::path::Path;

use super::rules::Fault;
use super::scan::{Views, is_test};

const MAX: usize = 120;

/// The lines of a Rust file that are too long.
pub(crate) fn rust(path: &Path, text: &str, views: &Views) -> Vec<Fault> {
    let data = is_test(path);
    let code = views.code.lines().map(Some).chain(std::iter::repeat(None));
    let lines = (1..).zip(text.lines()).zip(code);
    lines
        .filter(|((_, line), _)| line.chars().count() > MAX && !line.contains("://"))
        .filter(|((_, line), code)| !(data && is_literal(line, code.unwrap_or(""))))
        .map(|((number, line), _)| fault(number, line))
        .collect()
}

/// Whether a literal alone makes the line long: without what the code view blanks, it is short.
fn is_literal(line: &str, code: &str) -> bool {
    let comment = line.trim_start().starts_with("//");
    let words: usize = code.split_whitespace().map(|word| word.chars().count() + 1).sum();
    !comment && words <= MAX
}

/// The lines of a Markdown page that are too long.
pub(crate) fn markdown(text: &str) -> Vec<Fault> {
    let mut inside_fence = false;
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            inside_fence = !inside_fence;
        }
        let unbreakable = inside_fence
            || trimmed.starts_with('|')
            || line.contains("](")
            || line.contains("://")
            || !trimmed.trim_start_matches(['-', '>', '#', '*', ' ']).contains(' ');
        if line.chars().count() > MAX && !unbreakable {
            faults.push(fault(number, line));
        }
    }
    faults
}

fn fault(number: usize, line: &str) -> Fault {
    (number, format!("{} characters, the limit is {MAX}", line.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::super::scan::views;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        rust(Path::new(path), text, &views(text)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn long_lines_of_code_comments_and_strings_are_found() {
        let long = "x".repeat(120);
        let text = format!("//! A.\n// {long}\nlet {long} = 1;\nlet a = \"{long}\";\n");
        assert_eq!(found("crates/expr/src/graph.rs", &text), [2, 3, 4]);
        assert_eq!(found("crates/expr/tests/graph.rs", &text), [2, 3]);
        assert_eq!(found("crates/expr/src/graph.rs", &format!("// https://{long}\n")), [0; 0]);
    }

    #[test]
    fn tables_links_and_fences_of_markdown_are_left_alone() {
        let long = "word ".repeat(30);
        let text =
            format!("{long}\n| {long} |\n[{long}](a.md)\n```text\n{long}\n```\n- {long}\n");
        let lines: Vec<usize> = markdown(&text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 7]);
    }
}
