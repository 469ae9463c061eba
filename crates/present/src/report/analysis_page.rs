//! Pages of analyses: figures, animations and texts under headings, in one file.

use std::fmt::Write;

use super::drawing;
use super::page::{STYLE, head};
use crate::plot::{Figure, Look};

/// A page of headings with their HTML; `command` is the line that makes it again.
pub(crate) fn analysis_page(title: &str, command: &str, parts: &[(String, String)]) -> String {
    let escape = pfaff_expr::escape_markup;
    let mut out = head(title, &format!("{STYLE}{}", drawing::STYLE));
    let _ = write!(out, "<body>\n<header><h1>{}</h1></header>\n<main>\n", escape(title));
    for (k, (heading, body)) in parts.iter().enumerate() {
        let _ = write!(
            out,
            "<section aria-labelledby=\"part-{k}\"><h2 id=\"part-{k}\">{}</h2>\n{body}</section>\n",
            escape(heading)
        );
    }
    let _ = write!(
        out,
        "</main>\n<footer><p><code>{}</code></p><p>Made by pfaff {}. One file, no network.</p></footer>\n\
         <script>\n{}</script>\n</body>\n</html>\n",
        escape(command),
        env!("CARGO_PKG_VERSION"),
        drawing::SCRIPT
    );
    out
}

/// A text as it is.
pub(crate) fn preformatted(text: &str) -> String {
    format!("<pre>{}</pre>\n", pfaff_expr::escape_markup(text))
}

/// A figure inside a page, on white paper.
pub(crate) fn figure_html(figure: &Figure<'_>, look: Look) -> String {
    let svg = figure.to_svg(look);
    let svg = svg.split_once("<svg").map_or(String::new(), |(_, rest)| format!("<svg{rest}"));
    format!("<figure>{svg}</figure>\n")
}
