//! Pages of a manual: texts in the part of Markdown that `docs` uses → HTML pages of the gallery's look.
//!
//! Headings, paragraphs, code (fenced or indented), tables, lists, and in lines: `code`, **strong**, links. Links to
//! other pages of the manual (`sympy.md`, `tutorial.ipynb`) lead to their HTML pages; everything is escaped.

use std::fmt::Write;

use pfaff_expr::escape_markup as escape;

use super::page::{STYLE, head};

/// The page of a text; `way` is what stands above it, such as links to other pages.
pub fn guide_page(text: &str, way: &[(&str, &str)]) -> String {
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("pfaff");
    let mut out = head(&title.replace('`', ""), STYLE);
    out += "<body>\n<nav aria-label=\"Pages\"><ul>";
    for (name, link) in way {
        let _ = write!(out, "<li><a href=\"{}\">{}</a></li>", escape(link), escape(name));
    }
    out += "</ul></nav>\n<main>\n";
    out += &blocks(text);
    let _ = write!(
        out,
        "</main>\n<footer><p>Made by pfaff {}.</p></footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// The blocks of a text, one after another.
fn blocks(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let mut more = |belongs: &dyn Fn(&str) -> bool| {
            let mut part = vec![line];
            while let Some(next) = lines.next_if(|next| belongs(next)) {
                part.push(next);
            }
            part
        };
        if line.starts_with("```") {
            let body = more(&|next| !next.starts_with("```"));
            code(&mut out, body[1..].iter().copied());
            lines.next();
        } else if line.starts_with("    ") {
            let body = more(&|next| next.starts_with("    ") || next.trim().is_empty());
            let end = body.iter().rposition(|line| !line.trim().is_empty()).unwrap_or(0);
            code(&mut out, body[..=end].iter().map(|line| line.get(4..).unwrap_or_default()));
        } else if let Some((level, heading)) = heading(line) {
            let _ = writeln!(out, "<h{level}>{}</h{level}>", inline(heading));
        } else if line.starts_with('|') {
            table(&mut out, &more(&|next| next.starts_with('|')));
        } else if line.starts_with("- ") {
            let body = more(&|next| next.starts_with("- ") || next.starts_with("  "));
            let items = body.join("\n");
            out += "<ul>\n";
            for item in items.trim_start_matches("- ").split("\n- ") {
                let _ = writeln!(out, "<li>{}</li>", inline(item));
            }
            out += "</ul>\n";
        } else {
            let begins = |next: &str| {
                next.trim().is_empty()
                    || ["```", "#", "|", "- "].iter().any(|mark| next.starts_with(mark))
            };
            let body = more(&|next| !begins(next)).join("\n");
            let _ = writeln!(out, "<p>{}</p>", inline(&body));
        }
    }
    out
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|&c| c == '#').count();
    let rest = line.get(level..)?.strip_prefix(' ')?;
    (1..=6).contains(&level).then_some((level, rest))
}

fn code<'a>(out: &mut String, lines: impl Iterator<Item = &'a str>) {
    let lines: Vec<&str> = lines.collect();
    let _ = writeln!(out, "<pre><code>{}</code></pre>", escape(&lines.join("\n")));
}

/// A table: its head, a line of dashes, its rows.
fn table(out: &mut String, lines: &[&str]) {
    let row = |out: &mut String, line: &str, cell: &str| {
        *out += "<tr>";
        for text in cells(line) {
            let _ = write!(out, "<{cell}>{}</{cell}>", inline(text.trim()));
        }
        *out += "</tr>\n";
    };
    *out += "<div class=\"scroll\"><table>\n<thead>";
    row(out, lines[0], "th");
    *out += "</thead>\n<tbody>\n";
    for line in lines.iter().skip(2) {
        row(out, line, "td");
    }
    *out += "</tbody></table></div>\n";
}

/// The cells of a row; a bar within `code` divides nothing.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|');
    let (mut cells, mut begin, mut is_code) = (Vec::new(), 0, false);
    for (at, c) in line.char_indices() {
        match c {
            '`' => is_code = !is_code,
            '|' if !is_code => {
                cells.push(&line[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    cells.push(&line[begin..]);
    cells
}

/// What stands in a line, marked up.
fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[']) {
        out += &escape(&rest[..at]);
        rest = &rest[at..];
        let marked = between(rest, "`", "`")
            .map(|(inner, after)| (format!("<code>{}</code>", escape(inner)), after));
        let marked = marked.or_else(|| {
            let (inner, after) = between(rest, "**", "**")?;
            Some((format!("<strong>{}</strong>", inline(inner)), after))
        });
        let marked = marked.or_else(|| {
            let (name, after) = between(rest, "[", "]")?;
            let (link, after) = between(after, "(", ")")?;
            Some((format!("<a href=\"{}\">{}</a>", escape(&led(link)), inline(name)), after))
        });
        match marked {
            Some((html, after)) => {
                out += &html;
                rest = after;
            }
            None => {
                out += &rest[..1];
                rest = &rest[1..];
            }
        }
    }
    out + &escape(rest)
}

/// What stands between two marks at the beginning of a text, and what follows.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close).filter(|(inner, _)| !inner.is_empty())
}

/// Where a link leads: pages of the manual are HTML pages here. A link that could run something leads nowhere.
fn led(link: &str) -> String {
    if link.starts_with("http://") || link.starts_with("https://") || link.starts_with('#') {
        return link.to_owned();
    }
    if link.contains(':') {
        return "#".to_owned();
    }
    let (page, place) = link.split_once('#').map_or((link, ""), |(page, place)| (page, place));
    let page = match page.rsplit_once('.') {
        Some(("README", "md")) => "index.html".to_owned(),
        Some((name, "md" | "ipynb")) => format!("{name}.html"),
        _ => page.to_owned(),
    };
    if place.is_empty() { page } else { format!("{page}#{place}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_page() {
        for (text, expected) in [
            ("# A `run`", "<h1>A <code>run</code></h1>\n"),
            (
                "One *line* of **two\nlines** <b>.",
                "<p>One *line* of <strong>two\nlines</strong> &lt;b&gt;.</p>\n",
            ),
            (
                "```python\na < b\n\nc\n```\nd",
                "<pre><code>a &lt; b\n\nc</code></pre>\n<p>d</p>\n",
            ),
            ("- one\n  more\n- two", "<ul>\n<li>one\n  more</li>\n<li>two</li>\n</ul>\n"),
            (
                "    indented\n\n    code\n\nend",
                "<pre><code>indented\n\ncode</code></pre>\n<p>end</p>\n",
            ),
        ] {
            assert_eq!(blocks(text), expected);
        }
        let table = blocks("| a | b |\n|---|---|\n| `x | y` | [z](z.md#p) |\n");
        assert!(table.contains("<thead><tr><th>a</th><th>b</th></tr>"), "{table}");
        let row = "<tr><td><code>x | y</code></td><td><a href=\"z.html#p\">z</a></td></tr>";
        assert!(table.contains(row) && table.matches("<tr>").count() == 2, "{table}");
    }

    #[test]
    fn links_lead_to_pages() {
        assert_eq!(led("README.md"), "index.html");
        assert_eq!(led("tutorial.ipynb"), "tutorial.html");
        assert_eq!(led("https://rustup.rs"), "https://rustup.rs");
        assert_eq!(led("javascript:alert(1)"), "#");
    }

    #[test]
    fn any_text_is_a_page() {
        for text in [
            "",
            "`",
            "**",
            "[a](",
            "[a]b",
            "|",
            "```",
            "#",
            "####### x",
            "- ",
            "    ",
            "é[*`|",
            "\t|\n-",
        ] {
            let page = guide_page(text, &[("a", "b")]);
            assert!(page.ends_with("</html>\n"), "{text}");
        }
    }
}
