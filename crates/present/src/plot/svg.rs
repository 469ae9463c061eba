//! Marks as SVG: a file of its own with colours and letters written out, or a part of a page that the page's style
//! colours.
//!
//! Paths are written relative, in hundredths of a pixel: `M12.5 80l.31-1.2…`. In a file letters are outlines, each
//! defined once, so that every viewer shows the same. In a page each figure says its frame and scales
//! (`data-frame`, `data-x`, `data-y`), so that a script can read the numbers back from the paths.

use std::collections::BTreeSet;
use std::fmt::Write;

use ttf_parser::OutlineBuilder;

use super::layout::{Drawing, Drawn};
use super::ticks::Scale;
use super::typeface::{EM, Typeface};
use super::{Anchor, CURVE, Figure, Mark, Paint, PaperPoint, Text, dashes};

/// A file of its own.
pub(super) fn file(figure: &Figure<'_>, drawn: &Drawn) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
        px(drawn.width),
        px(drawn.height)
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&alternative(figure)));
    out += &letters(drawn);
    out += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    for mark in drawn.ticks.iter().flatten().chain(&drawn.back) {
        plain(mark, &mut out);
    }
    let [x, y, w, h] = drawn.frame.map(px);
    let _ = writeln!(
        out,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">"
    );
    for (points, paint) in &drawn.areas {
        let _ = writeln!(out, "<path d=\"{}z\" fill=\"{}\"/>", absolute(points), paint.hex());
    }
    for curve in drawn.curves.iter().rev() {
        let _ = writeln!(
            out,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{CURVE}\" stroke-linejoin=\"round\"{}/>",
            path(curve),
            Paint::Curve(curve.colour).hex(),
            dash_attribute(curve.dash)
        );
    }
    out += "</svg>\n</svg>\n";
    out
}

/// A part of a page. Classes: `c0` … for colours, `d0` … for dashes, `ink`, `muted`, `grid`.
pub(crate) fn embedded(figure: &Figure<'_>, drawn: &Drawn, interactive: bool) -> String {
    let scale = |s: Scale| format!("{:e} {:e} {}", s.low, s.high, u8::from(s.log));
    let [x, y, w, h] = drawn.frame.map(px);
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"",
        px(drawn.width),
        px(drawn.height),
        escape(&alternative(figure))
    );
    if interactive {
        let _ = write!(
            out,
            " class=\"figure\" tabindex=\"0\" data-frame=\"{x} {y} {w} {h}\" data-x=\"{}\" data-y=\"{}\" \
             data-xlabel=\"{}\" data-ylabel=\"{}\"",
            scale(drawn.x),
            scale(drawn.y),
            escape(&figure.x.label),
            escape(&figure.y.label)
        );
    }
    out += ">";
    for (marks, name) in drawn.ticks.iter().zip(["x", "y"]) {
        let _ = write!(out, "<g class=\"ticks-{name}\">");
        marks.iter().for_each(|m| classed(m, &mut out));
        out += "</g>";
    }
    drawn.back.iter().for_each(|m| classed(m, &mut out));
    let _ = write!(
        out,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\"><g class=\"curves\">"
    );
    for (points, paint) in &drawn.areas {
        let style = format!("fill:{};stroke:none", paint.hex());
        let _ = write!(out, "<path d=\"{}z\" style=\"{style}\"/>", absolute(points));
    }
    for (i, curve) in drawn.curves.iter().enumerate().rev() {
        let _ = write!(
            out,
            "<path class=\"c{} d{}\" data-curve=\"{i}\" d=\"{}\"/>",
            curve.colour,
            curve.dash,
            path(curve)
        );
    }
    out += "</g></svg></svg>";
    out
}

/// What the figure shows, for those who do not see it.
fn alternative(figure: &Figure<'_>) -> String {
    let names: Vec<&str> = figure.curves.iter().map(|c| c.name.as_str()).collect();
    let against = format!("{} against {}", names.join(", "), figure.x.label);
    if figure.title.is_empty() { against } else { format!("{}: {against}", figure.title) }
}

fn plain(mark: &Mark, out: &mut String) {
    match mark {
        Mark::Line { points, paint, width, dash } => {
            let _ = writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>",
                absolute(points),
                paint.hex(),
                px(*width),
                dash_attribute(*dash)
            );
        }
        Mark::Text(text) => set(text, out),
    }
}

/// The outlines of all letters of a file, each once.
fn letters(drawn: &Drawn) -> String {
    let marks = drawn.ticks.iter().flatten().chain(&drawn.back);
    let texts = marks.filter_map(|m| if let Mark::Text(text) = m { Some(text) } else { None });
    let used: BTreeSet<(Typeface, u16)> =
        texts.flat_map(|t| t.set().0.glyphs).map(|g| (g.typeface, g.id)).collect();
    let mut out = String::from("<defs>\n");
    for (typeface, id) in used {
        let mut outline = Outline::default();
        typeface.outline(id, &mut outline);
        if !outline.0.is_empty() {
            let _ =
                writeln!(out, "<path id=\"{}\" d=\"{}\"/>", letter(typeface, id), outline.0);
        }
    }
    out + "</defs>\n"
}

fn letter(typeface: Typeface, id: u16) -> String {
    let face = match typeface {
        Typeface::Upright => 'u',
        Typeface::Italic => 'i',
    };
    format!("{face}{id}")
}

/// The outline of a letter in units of the font.
#[derive(Default)]
struct Outline(String);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let _ = write!(self.0, "M{x} {y}");
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let _ = write!(self.0, "L{x} {y}");
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let _ = write!(self.0, "Q{x1} {y1} {x} {y}");
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let _ = write!(self.0, "C{x1} {y1} {x2} {y2} {x} {y}");
    }

    fn close(&mut self) {
        self.0.push('Z');
    }
}

/// A text of outlines, its words told to readers of the screen.
fn set(text: &Text, out: &mut String) {
    let (line, before) = text.set();
    // NOTE: what the font lacks, the viewer's fonts may have.
    if line.glyphs.iter().any(|g| g.id == 0) {
        let colour = format!(" font-family=\"serif\" fill=\"{}\"", text.paint.hex());
        let _ = writeln!(out, "{}", text_element(text, &colour));
        return;
    }
    let turn = if text.upwards { " rotate(-90)" } else { "" };
    let _ = write!(
        out,
        "<g fill=\"{}\" role=\"img\" aria-label=\"{}\" transform=\"translate({} {}){turn} translate({} 0)\">",
        text.paint.hex(),
        escape(&text.words),
        px(text.at.x),
        px(text.at.y),
        px(-before)
    );
    for glyph in line.glyphs.iter().filter(|g| g.letter != ' ') {
        let scale = text.size * glyph.size / EM;
        let _ = write!(
            out,
            "<use xlink:href=\"#{}\" transform=\"translate({} {}) scale({scale:.5} -{scale:.5})\"/>",
            letter(glyph.typeface, glyph.id),
            px(text.size * glyph.x),
            px(-text.size * glyph.rise)
        );
    }
    *out += "</g>\n";
}

fn classed(mark: &Mark, out: &mut String) {
    let class = |paint: &Paint| match paint {
        Paint::Ink => "ink".to_owned(),
        Paint::Muted => "muted".to_owned(),
        Paint::Grid => "grid".to_owned(),
        Paint::Curve(i) => format!("c{i}"),
        Paint::Rgb(_) => String::new(),
    };
    match mark {
        Mark::Line { points, paint: paint @ Paint::Rgb(_), width, .. } => {
            let style = format!("stroke:{};stroke-width:{}", paint.hex(), px(*width));
            let _ = write!(out, "<path style=\"{style}\" d=\"{}\"/>", absolute(points));
        }
        Mark::Line { points, paint, .. } => {
            let _ =
                write!(out, "<path class=\"{}\" d=\"{}\"/>", class(paint), absolute(points));
        }
        Mark::Text(text) => {
            *out += &text_element(text, &format!(" class=\"{}\"", class(&text.paint)));
        }
    }
}

fn text_element(text: &Text, colour: &str) -> String {
    let (x, y) = (px(text.at.x), px(text.at.y));
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turn = if text.upwards {
        format!(" transform=\"rotate(-90 {x} {y})\"")
    } else {
        String::new()
    };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{turn}{colour}>{}</text>",
        px(text.size),
        escape(&text.words)
    )
}

fn dash_attribute(style: usize) -> String {
    let lengths: Vec<String> = dashes(style).iter().map(|&x| px(x)).collect();
    if lengths.is_empty() {
        String::new()
    } else {
        format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
    }
}

fn absolute(points: &[PaperPoint]) -> String {
    let mut d = String::new();
    for (i, &PaperPoint { x, y }) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, px(x), px(y));
    }
    d
}

/// All pieces of a curve, in whole hundredths so that nothing adds up.
fn path(curve: &Drawing) -> String {
    let mut d = String::new();
    for piece in &curve.pieces {
        let mut last = (0, 0);
        for (i, &PaperPoint { x, y }) in piece.iter().enumerate() {
            // NOTE: what lies far outside the frame is not drawn, and its digits are not needed.
            let at = (hundredths(x), hundredths(y));
            if i == 0 {
                let _ = write!(d, "M{}{}", number(at.0), signed(at.1));
            } else {
                let separator = if i == 1 { "l" } else { "" };
                let dx = number(at.0 - last.0);
                let needed = i > 1 && !dx.starts_with('-');
                let blank = if needed { " " } else { "" };
                let _ = write!(d, "{separator}{blank}{dx}{}", signed(at.1 - last.1));
            }
            last = at;
        }
        if piece.len() == 1 {
            d += "l0 0";
        }
    }
    d
}

fn hundredths(x: f64) -> i64 {
    (x.clamp(-1e5, 1e5) * 100.0).round() as i64
}

/// A number of hundredths, as short as can be.
fn number(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.abs() / 100, hundredths.abs() % 100);
    let whole = if whole == 0 && rest != 0 { String::new() } else { whole.to_string() };
    match rest {
        0 => format!("{sign}{whole}"),
        r if r % 10 == 0 => format!("{sign}{whole}.{}", r / 10),
        r => format!("{sign}{whole}.{r:02}"),
    }
}

/// With a blank before it unless a sign parts it.
fn signed(hundredths: i64) -> String {
    let text = number(hundredths);
    if text.starts_with('-') { text } else { format!(" {text}") }
}

fn px(x: f64) -> String {
    number(hundredths(x))
}

/// Text with the characters that mean something to XML made harmless.
pub(crate) fn escape(text: &str) -> String {
    pfaff_expr::escape_markup(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Curve, Look, layout};

    /// Reads a path back as the page's script does.
    fn read(d: &str) -> Vec<(f64, f64)> {
        let mut numbers = Vec::new();
        let mut word = String::new();
        for c in d.chars().chain([' ']) {
            if matches!(c, 'M' | 'l' | ' ' | '-') {
                if !word.is_empty() {
                    numbers.push(word.parse::<f64>().unwrap());
                }
                word.clear();
            }
            if matches!(c, '-' | '.' | '0'..='9') {
                word.push(c);
            }
        }
        let mut at = (0.0, 0.0);
        let step = |p: &[f64]| {
            at = (at.0 + p[0], at.1 + p[1]);
            at
        };
        numbers.chunks(2).map(step).collect()
    }

    #[test]
    fn paths_read_back() {
        let x: Vec<f64> = (0..300).map(|i| f64::from(i) / 10.0).collect();
        let y: Vec<f64> = x.iter().map(|&t| libm::sin(t) * 7.0 - 2.0).collect();
        let curve =
            Curve { name: "y".into(), x: (&x).into(), y: (&y).into(), ..Curve::default() };
        let axis = |label: &str| Axis { label: label.into(), log: false };
        let figure =
            Figure { x: axis("t"), y: axis("y"), curves: vec![curve], ..Figure::default() };
        let drawn = layout(&figure, Look::default());
        let read = read(&path(&drawn.curves[0]));
        assert_eq!(read.len(), drawn.curves[0].pieces[0].len());
        for (a, b) in read.iter().zip(&drawn.curves[0].pieces[0]) {
            // Rounded to hundredths, and added up again.
            assert!((a.0 - b.x).abs() < 0.0051 && (a.1 - b.y).abs() < 0.0051, "{a:?} {b:?}");
        }
    }

    #[test]
    fn names_are_escaped() {
        let evil = "<script>alert(1)</script>\"'&";
        let figure = Figure {
            title: evil.into(),
            x: Axis { label: evil.into(), log: false },
            curves: vec![Curve { name: evil.into(), ..Curve::default() }; 2],
            ..Figure::default()
        };
        for svg in [
            figure.to_svg(Look::default()),
            embedded(&figure, &layout(&figure, Look::default()), true),
        ] {
            assert!(!svg.contains("<script") && !svg.contains("\"'"), "{svg}");
        }
    }
}
