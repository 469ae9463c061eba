//! Relative links in Markdown: page → links whose file or heading is not there.
//!
//! `[text](file.md#heading)`, `[name]: file.md` and `<img src="file.svg">`. Anchors are made from headings as
//! GitHub makes them: lower case, punctuation away, spaces to hyphens, and `-1`, `-2` for repeated ones.

use std::path::{Component, Path, PathBuf};

use super::rules::Fault;

/// The links of `page` that lead nowhere. `read` gives the text of a file by its path from the root, or of a
/// folder an empty one.
pub(crate) fn dead(
    page: &Path,
    text: &str,
    read: impl Fn(&Path) -> Option<String>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, target) in targets(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let found = if file.is_empty() {
            Some(text.to_owned())
        } else {
            read(&joined(page.parent().unwrap_or(Path::new("")), file))
        };
        match found {
            None => faults.push((number, format!("the link to `{target}` leads nowhere"))),
            Some(found)
                if !anchor.is_empty() && !anchors(&found).iter().any(|a| a == anchor) =>
            {
                faults.push((number, format!("`{target}`: the page has no such heading")));
            }
            Some(_) => {}
        }
    }
    faults
}

/// The targets of the links outside of code, with their lines.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, _) in plain.match_indices("](") {
            let rest = &plain[at + 2..];
            if let Some(end) = rest.find([')', ' ']) {
                found.push((number, rest[..end].to_owned()));
            }
        }
        for (at, start) in plain.match_indices(" src=\"") {
            if let Some((target, _)) = plain[at + start.len()..].split_once('"') {
                found.push((number, target.to_owned()));
            }
        }
        let definition = plain.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = definition {
            found.push((number, target.trim().to_owned()));
        }
    }
    found
}

/// The lines outside of fenced blocks.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            lines.push((number, line));
        }
    }
    lines
}

/// The anchors of the headings of a page, and those it writes itself.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let slug = slug(heading.trim());
            let repeated = found
                .iter()
                .filter(|a| {
                    a.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-')
                        == slug
                })
                .count();
            found.push(if repeated == 0 { slug } else { format!("{slug}-{repeated}") });
        }
        for part in line.split("id=\"").skip(1) {
            found.extend(part.split('"').next().map(str::to_owned));
        }
    }
    found
}

fn slug(heading: &str) -> String {
    // The text of a link is part of the heading, its target is not.
    let mut plain = String::new();
    for (k, part) in heading.split("](").enumerate() {
        plain.push_str(if k == 0 { part } else { part.split_once(')').map_or("", |(_, r)| r) });
    }
    let kept = plain.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A relative path from a folder, without `..`.
fn joined(folder: &Path, file: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_anchors_must_lead_somewhere() {
        let read = |path: &Path| match path.to_str() {
            Some("README.md") => Some("# One\n## Two: `x`, y\n## One\n".to_owned()),
            Some("docs") => Some(String::new()),
            _ => None,
        };
        let text = "[a](../README.md#one) [b](../README.md#two-x-y) [c](../README.md#one-1)\n\
            [d](../README.md#three)\n[e](none.md)\n`[f](code.md)` <https://x.y> [g](https://x.y)\n\
            ```\n[h](fence.md)\n```\n[i]: none.svg\n[j](#here)\n## Here\n[k](../docs)\n\
            <img src=\"gone.svg\" alt=\"\">\n<img src=\"../docs\">\n";
        let lines: Vec<usize> = dead(Path::new("docs/page.md"), text, read)
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(lines, [2, 3, 8, 12]);
    }
}
