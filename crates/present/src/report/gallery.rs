//! A gallery of pages: the index with small pictures and a search.

use std::fmt::Write;

use pfaff_expr::escape_markup as escape;

use super::page::{STYLE, head};
use super::tables::badge;
use pfaff::Verdict;

/// One model of a gallery.
#[derive(Clone, Debug)]
pub struct Card {
    /// Its name; the page is `NAME.html`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it is about: the comment at the head of its text.
    pub about: String,
    /// A small picture, as SVG.
    pub picture: String,
    /// How the audit came out.
    pub verdict: Verdict,
    /// Words by which it is found beside its name and title, such as classes and principle.
    pub words: Vec<String>,
}

const SCRIPT: &str = include_str!("gallery.js");

/// The index of a gallery.
pub fn gallery_index(cards: &[Card]) -> String {
    let mut out = head("Gallery of constrained motions", STYLE);
    out += "<body>\n<header><h1>Gallery of constrained motions</h1>\
        <p>Each page shows one model: its text, its equations, the motion with its audit. \
        The same models are at hand <a href=\"python/index.html\">in Python</a>.</p>\
        <p><label for=\"search\">Search</label> <input id=\"search\" type=\"search\" autocomplete=\"off\"> \
        <output id=\"found\" for=\"search\"></output></p></header>\n<main><ul class=\"cards\">\n";
    for card in cards {
        let words =
            format!("{} {} {} {}", card.name, card.title, card.about, card.words.join(" "));
        let _ = writeln!(
            out,
            "<li data-words=\"{}\"><a href=\"{}.html\">{}<strong>{}</strong></a><p><code>{}</code> {}</p></li>",
            escape(&words.to_lowercase()),
            escape(&card.name),
            card.picture,
            escape(&card.title),
            escape(&card.name),
            badge(card.verdict)
        );
    }
    let _ = write!(
        out,
        "</ul></main>\n<footer><p>Made by pfaff {}.</p></footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}
