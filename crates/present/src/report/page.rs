//! The page itself: one HTML file with everything inside.

use std::fmt::Write;

use pfaff::Model;
use pfaff_expr::escape_markup as escape;
use pfaff_model::{Piece, highlight};

use super::drawing::{self, animation};
use super::figures::groups;
use super::formulas::formulas;
use super::geometry::geometry;
use super::memory::memory;
use super::solutions::solutions;
use super::symbols::symbols;
use super::tables::{
    audits, badge, classes, comparison, course, principle_name, provenance, statistics, summary,
};
use super::{LARGE, Report, Shown};
use crate::equations::present_fractional;
use crate::equations::{Presentation, headings, present};
use crate::hurry::in_time;
use crate::plot::{Figure, Look, Style, embedded, layout_within};
use pfaff::signs;

/// The looks of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");
/// Hover, zoom and legends of the plots.
const SCRIPT: &str = include_str!("page.js");
/// Points of all curves of a page together: some 8 bytes each.
const POINTS: usize = 150_000;
/// The most bytes of a model text that are shown.
const TEXT: usize = 200_000;

/// The head of a page; nothing may be loaded from anywhere.
pub(crate) fn head(title: &str, style: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"generator\" content=\"pfaff {}\">\n<title>{}</title>\n<style>\n{style}</style>\n</head>\n",
        env!("CARGO_PKG_VERSION"),
        escape(title)
    )
}

/// The page of a report.
pub fn page(report: &Report<'_>) -> String {
    let motions = report.shown.motions();
    let title = motions.first().map_or("pfaff", |m| m.title.as_str());
    let sections = sections(report);
    let mut out = head(title, &format!("{STYLE}{}", drawing::STYLE));
    let _ = write!(out, "<body>\n<header><h1>{}</h1>", escape(title));
    for motion in motions {
        let _ =
            write!(out, "<p>{} — audit {}</p>", summary(motion), badge(motion.audit.verdict));
    }
    out += "<nav aria-label=\"Contents\"><ul>";
    for (id, heading, _) in &sections {
        let _ = write!(out, "<li><a href=\"#{id}\">{heading}</a></li>");
    }
    out += "</ul></nav></header>\n<main>\n";
    for (id, heading, body) in &sections {
        let _ = write!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">{heading}</h2>\n{body}</section>\n"
        );
    }
    let _ = write!(
        out,
        "</main>\n<footer><p>Made by pfaff {}. One file, no \
         network.</p></footer>\n<script>\n{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        drawing::SCRIPT
    );
    out
}

/// Identifier, heading and body of each section.
fn sections(report: &Report<'_>) -> Vec<(&'static str, &'static str, String)> {
    let model = report.model;
    let motions = report.shown.motions();
    let mut sections = vec![
        ("motion", "Motion", animations(report)),
        ("model", "Model", text(model)),
        ("equations", "Equations", soon(report, equations)),
        ("geometry", "Geometry", soon(report, geometry)),
        ("memory", "Memory", soon(report, memory)),
        ("solutions", "Motions between the ends", solutions(motions)),
        ("plots", "Plots", plots(report)),
    ];
    if let Shown::Comparison(c) = report.shown {
        sections.push(("comparison", "Comparison", comparison(c)));
    }
    sections.push(("audit", "Audit", audits(motions)));
    sections.push(("course", "The run", course(motions)));
    sections.push(("statistics", "Statistics", statistics(motions)));
    sections.push(("provenance", "Provenance", provenance(report)));
    sections.retain(|s| !s.2.is_empty());
    sections
}

/// A section that may take long; if it is left out, how to get what it would show.
fn soon(report: &Report<'_>, section: fn(&Report<'_>) -> String) -> String {
    in_time(|| section(report)).unwrap_or_else(|| {
        format!(
            "<p class=\"note\">Left out, because the time was over: <code>{}</code> and <code>{}</code> write it.</p>",
            escape(&format!("pfaff derive {}", report.name)),
            escape(&format!("pfaff geometry {}", report.name))
        )
    })
}

/// The thing itself under each principle.
fn animations(report: &Report<'_>) -> String {
    let motions = report.shown.motions();
    let mut out = String::new();
    for (i, motion) in motions.iter().enumerate() {
        let animation = animation(report.model, motion, &format!("animation-{}", i + 1));
        if animation.frames == 0 {
            continue;
        }
        if motions.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", principle_name(motion));
        }
        out += &animation.html;
        for note in &animation.notes {
            let _ = write!(out, "<p class=\"note\">{}</p>", escape(note));
        }
    }
    out
}

/// The model text with its colours.
fn text(model: &Model) -> String {
    let mut out = String::from(
        "<pre class=\"model\" tabindex=\"0\" aria-label=\"Text of the model\"><code>",
    );
    if model.source.text().len() > TEXT {
        out += "# too long to be shown";
    } else {
        for (piece, kind) in highlight(&model.source) {
            let class = match kind {
                Piece::Keyword => "k",
                Piece::Call => "f",
                Piece::Number => "n",
                Piece::Text => "s",
                Piece::Comment => "c",
                Piece::Name | Piece::Other => "",
            };
            if class.is_empty() {
                out += &escape(piece);
            } else {
                let _ = write!(out, "<span class=\"{class}\">{}</span>", escape(piece));
            }
        }
    }
    out + "</code></pre>"
}

/// Classes in words, signs, and the equations under each principle.
fn equations(report: &Report<'_>) -> String {
    let mut out = classes(report);
    let derived = || report.derivations.iter().map(present).collect();
    let presentations: Vec<Presentation> = match report.shown {
        Shown::Comparison(_) => derived(),
        Shown::Motion(motion) => match present_fractional(report.model, motion.principle) {
            Ok(Some(presentation)) => vec![presentation],
            Ok(None) | Err(_) => derived(),
        },
    };
    if presentations.is_empty() && report.model.coordinates.len() > LARGE {
        let _ = write!(
            out,
            "<p class=\"note\">The equations of {} coordinates are not shown: <code>{}</code> writes them.</p>",
            report.model.coordinates.len(),
            escape(&format!("pfaff derive {}", report.name))
        );
    }
    for (presentation, motion) in presentations.iter().zip(report.shown.motions()) {
        if presentations.len() > 1 {
            let _ = write!(out, "<details open><summary>{}</summary>", principle_name(motion));
        }
        if let Some(principle) = presentation.principle
            && presentation.is_constrained
        {
            let signs = headings::html(signs(principle), &|c| presentation.has_letter(c));
            let _ = write!(out, "<p class=\"signs\">Signs: {signs}.</p>");
        }
        out += &formulas(presentation);
        out += &symbols(report.model, presentation);
        if presentations.len() > 1 {
            out += "</details>";
        }
    }
    out
}

fn plots(report: &Report<'_>) -> String {
    let groups = groups(&report.model.workspace(), report.shown.motions());
    let curves: usize = groups.iter().flat_map(|g| &g.figures).map(|f| f.curves.len()).sum();
    let most = (POINTS / curves.max(1)).clamp(100, 2500);
    let mut out = String::from(
        "<p class=\"hint\">Point at a figure to read its values, drag to zoom into a part. In a figure with the \
         focus, the wheel and + − zoom, the arrow keys move along the curves, and a double click or 0 resets the \
         view. Click a name below a figure to hide or show its curve.</p>",
    );
    out += "<div class=\"plots\">";
    for group in groups {
        let count = group.figures.len();
        for (i, figure) in group.figures.iter().enumerate() {
            let part = if count > 1 {
                format!(" <small>{} of {count}</small>", i + 1)
            } else {
                String::new()
            };
            let _ = write!(
                out,
                "<figure class=\"plot\" data-kind=\"{}\"><h3>{}{part}</h3>",
                group.key, group.heading
            );
            out += &plot(figure, most);
            if i == 0 && !group.note.is_empty() {
                let _ = write!(out, "<p class=\"note\">{}</p>", code(&group.note));
            }
            out += "</figure>";
        }
    }
    out + "</div>"
}

/// Escaped, with `…` as code.
fn code(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in escape(text).split('`').enumerate() {
        let _ =
            if i % 2 == 1 { write!(out, "<code>{part}</code>") } else { write!(out, "{part}") };
    }
    out
}

/// A figure with its legend of buttons.
fn plot(figure: &Figure<'_>, most: usize) -> String {
    let look =
        Look { width: 480.0, height: 300.0, legend: false, axes: true, style: Style::Page };
    let drawn = layout_within(figure, look, most);
    let mut out = format!(
        "<div class=\"paper\">{}</div><figcaption class=\"legend\">",
        embedded(figure, &drawn, true)
    );
    for (i, curve) in figure.curves.iter().enumerate() {
        let _ = write!(
            out,
            "<button type=\"button\" aria-pressed=\"true\" data-curve=\"{i}\"><svg viewBox=\"0 0 30 10\" \
             width=\"30\" height=\"10\" aria-hidden=\"true\"><path class=\"c{} d{}\" d=\"M1 \
             5H29\"/></svg>{}</button>",
            curve.colour,
            curve.dash,
            escape(&curve.name)
        );
    }
    out + "</figcaption>"
}
