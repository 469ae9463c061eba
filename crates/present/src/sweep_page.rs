//! An ensemble as one HTML page: how its cases ended, figures, its first rows and its manifest.

use std::fmt::Write;

use pfaff_expr::escape_markup as escape;
use serde_json::Value;

use crate::number::brief;
use crate::plot::{Figure, Look, Style, embedded, layout};
use crate::report::{PAGE_STYLE, page_head};
use crate::sweep::SweepSummary;
use crate::table::{Block, Cells, Heading};

/// What a page of an ensemble shows.
#[derive(Debug)]
pub struct SweepPage<'a> {
    /// The title of the model.
    pub title: &'a str,
    /// How the cases were run.
    pub runs: &'a str,
    /// How they ended.
    pub summary: &'a SweepSummary,
    /// Figures, each with a heading.
    pub figures: &'a [(String, Figure<'a>)],
    /// The columns.
    pub headings: &'a [Heading],
    /// The rows, of which the first are shown.
    pub block: &'a Block,
    /// Everything that the table depends on.
    pub manifest: &'a Value,
}

/// Rows that are shown.
const SHOWN: usize = 40;

/// The page.
pub fn sweep_page(page: &SweepPage<'_>) -> String {
    let SweepPage { title, runs, summary, figures, headings, block, manifest } = page;
    let mut out = page_head(&format!("{title}: an ensemble"), PAGE_STYLE);
    let _ = write!(out, "<body>\n<header><h1>{}: an ensemble</h1>", escape(title));
    let cases: u64 = summary.stops.iter().map(|(_, n)| n).sum();
    let _ = write!(
        out,
        "<p>{cases} cases, {} rows; {}</p></header>\n<main>",
        block.rows(),
        escape(runs)
    );
    out += "<section><h2>Ends and audits</h2><table><thead><tr><th>ended by</th><th>cases</th></tr></thead><tbody>";
    for (word, count) in &summary.stops {
        let _ = write!(out, "<tr><td>{}</td><td>{count}</td></tr>", escape(word));
    }
    out += "</tbody></table><table><thead><tr><th>audit</th><th>cases</th></tr></thead><tbody>";
    for (word, count) in &summary.audits {
        let _ = write!(out, "<tr><td>{}</td><td>{count}</td></tr>", escape(word));
    }
    out += "</tbody></table></section>\n";
    for (heading, figure) in *figures {
        let look = Look { width: 760.0, height: 460.0, style: Style::Page, ..Look::default() };
        let _ = write!(out, "<section><h2>{}</h2>", escape(heading));
        out += &embedded(figure, &layout(figure, look), false);
        out += "</section>\n";
    }
    out += "<section><h2>The first rows</h2><table><thead><tr>";
    for heading in *headings {
        let _ = write!(out, "<th>{}</th>", escape(&heading.name));
    }
    out += "</tr></thead><tbody>";
    for row in 0..block.rows().min(SHOWN) {
        out += "<tr>";
        for cells in &block.columns {
            let text = match cells {
                Cells::Integers(values) => values[row].to_string(),
                Cells::Numbers(values) if values[row].is_finite() => brief(values[row]),
                Cells::Numbers(_) => String::new(),
                Cells::Texts(texts) => texts.get(row).to_owned(),
            };
            let _ = write!(out, "<td>{}</td>", escape(&text));
        }
        out += "</tr>";
    }
    out += "</tbody></table></section>\n<section><h2>Manifest</h2>";
    out += "<p>Everything that the table depends on: the same manifest gives the same table.</p><pre>";
    out += &escape(&format!("{manifest:#}"));
    out += "</pre></section></main>\n</body>\n</html>\n";
    out
}
