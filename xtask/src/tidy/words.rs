//! Words that belong to one crate only: code → words in the wrong place.
//!
//! | words | belong to |
//! |---|---|
//! | options of the command line, `--name` | `cli` |
//! | clocks, `std::time` | `cli` and `python`; the engine compiles for WebAssembly, which has none |
//! | integration, `integrate(…)` and the solver | not to `present` |
//! | pages, pictures and LaTeX in strings | not to `engine`: it hands out values, `present` writes |

use super::rules::Fault;

/// Options of the command line in the view of the literals.
pub(crate) fn options(literals: &str) -> Vec<Fault> {
    let is_option = |line: &str| {
        line.split([' ', '`', '"', '\'']).any(|word| {
            word.strip_prefix("--").is_some_and(|name| {
                name.len() > 1
                    && name.starts_with(|c: char| c.is_ascii_lowercase())
                    && !name.ends_with(['>', ';'])
            })
        })
    };
    let found = (1..).zip(literals.lines()).filter(|(_, line)| is_option(line));
    found
        .map(|(line, _)| (line, "an option of the command line belongs to cli".to_owned()))
        .collect()
}

/// Uses of a clock.
pub(crate) fn clock(code: &str) -> Vec<Fault> {
    let lines = (1..).zip(code.lines());
    let found = lines.filter(|(_, line)| {
        ["std::time", "Instant::now", "SystemTime"].iter().any(|word| line.contains(word))
    });
    found
        .map(|(line, _)| (line, "a clock: only the command line measures time".to_owned()))
        .collect()
}

/// Calls that integrate.
pub(crate) fn integration(code: &str) -> Vec<Fault> {
    let lines = (1..).zip(code.lines());
    let found = lines.filter(|(_, line)| {
        ["pfaff_solver", "integrate(", "pfaff::run("].iter().any(|word| line.contains(word))
    });
    found
        .map(|(line, _)| {
            (line, "an integration: present shows what the engine computed".to_owned())
        })
        .collect()
}

/// Markup in the view of the literals.
pub(crate) fn markup(literals: &str) -> Vec<Fault> {
    let marks = ["</", "<svg", "\\\\begin", "\\\\frac"];
    let found = (1..).zip(literals.lines());
    found
        .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
        .map(|(line, _)| {
            (line, "markup: the engine hands out values, present writes".to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::scan::views;
    use super::*;

    #[test]
    fn options_in_strings_are_found_and_comments_are_not() {
        let text =
            "// `--state`\nlet a = \"use `--state x=1`\";\nlet b = \"a -- b, --->, --\";\n";
        let lines: Vec<usize> =
            options(&views(text).literals).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2]);
    }

    #[test]
    fn clocks_and_integrations_are_found() {
        assert_eq!(clock("use std::time::Duration;\nlet t = Instant::now();\n").len(), 2);
        assert_eq!(
            integration("use pfaff_solver::Method;\nlet a = system.integrate(t);\n").len(),
            2
        );
        assert_eq!(integration("let integrated = 1;\n").len(), 0);
        let text = "let a = \"<p>{b}</p>\";\nif a < b {}\nlet c = \"\\\\frac{a}{b}\";\n";
        let lines: Vec<usize> =
            markup(&views(text).literals).into_iter().map(|(l, _)| l).collect();
        assert_eq!(lines, [1, 3]);
    }
}
