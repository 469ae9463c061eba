//! Marks as a PDF page of the figure's size, with the letters that it needs embedded.
//!
//! Text stays text: it can be selected and searched. [ISO 32000-1, §9.7, §9.9, §9.10]

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use subsetter::GlyphRemapper;
use ttf_parser::{RawFace, Tag};

use super::layout::Drawn;
use super::typeface::Typeface;
use super::{CURVE, Mark, Paint, PaperPoint, Text, dashes};

/// Points for each CSS pixel.
const POINT: f32 = 0.75;

/// The page as a file.
pub(super) fn file(drawn: &Drawn) -> Vec<u8> {
    let mut fonts = [Font::new(Typeface::Upright), Font::new(Typeface::Italic)];
    let content = content(drawn, &mut fonts);
    let mut next = Ref::new(1);
    let (catalog, pages, page, stream) = (next.bump(), next.bump(), next.bump(), next.bump());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let used: Vec<(&Font, Ref)> =
        fonts.iter().filter(|f| !f.letters.is_empty()).map(|f| (f, next.bump())).collect();
    let mut sheet = pdf.page(page);
    let size = [drawn.width, drawn.height].map(|x| POINT * x as f32);
    sheet.parent(pages).media_box(Rect::new(0.0, 0.0, size[0], size[1])).contents(stream);
    let mut resources = sheet.resources();
    let mut names = resources.fonts();
    for (font, id) in &used {
        names.pair(Name(font.key()), *id);
    }
    names.finish();
    resources.finish();
    sheet.finish();
    pdf.stream(stream, &packed(&content)).filter(Filter::FlateDecode);
    for (font, id) in used {
        font.embed(&mut pdf, id, &mut next);
    }
    pdf.finish()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
}

/// The drawing operators, in CSS pixels with y downwards.
fn content(drawn: &Drawn, fonts: &mut [Font; 2]) -> Vec<u8> {
    let mut out = Content::new();
    out.transform([POINT, 0.0, 0.0, -POINT, 0.0, POINT * drawn.height as f32]);
    out.set_line_join(LineJoinStyle::RoundJoin);
    for mark in drawn.ticks.iter().flatten().chain(&drawn.back) {
        match mark {
            Mark::Line { points, paint, width, dash } => {
                pen(&mut out, *paint, *width, *dash);
                line(&mut out, points);
            }
            Mark::Text(text) => write(&mut out, text, fonts),
        }
    }
    let [x, y, w, h] = drawn.frame.map(hundredths);
    out.save_state();
    out.rect(x, y, w, h).clip_nonzero().end_path();
    for (points, paint) in &drawn.areas {
        let [r, g, b] = paint.rgb().map(|x| x as f32);
        out.set_fill_rgb(r, g, b);
        for (i, &PaperPoint { x, y }) in points.iter().enumerate() {
            let (x, y) = (hundredths(x), hundredths(y));
            if i == 0 {
                out.move_to(x, y)
            } else {
                out.line_to(x, y)
            };
        }
        out.close_path().fill_nonzero();
    }
    for curve in drawn.curves.iter().rev() {
        pen(&mut out, Paint::Curve(curve.colour), CURVE, curve.dash);
        curve.pieces.iter().for_each(|piece| line(&mut out, piece));
    }
    out.restore_state();
    out.finish().to_vec()
}

fn pen(out: &mut Content, paint: Paint, width: f64, dash: usize) {
    let [r, g, b] = paint.rgb().map(|x| x as f32);
    out.set_stroke_rgb(r, g, b).set_line_width(width as f32);
    out.set_dash_pattern(dashes(dash).iter().map(|&x| x as f32), 0.0);
}

fn line(out: &mut Content, points: &[PaperPoint]) {
    for (i, &PaperPoint { x, y }) in points.iter().enumerate() {
        let (x, y) = (hundredths(x), hundredths(y));
        if i == 0 {
            out.move_to(x, y)
        } else {
            out.line_to(x, y)
        };
    }
    out.stroke();
}

/// Rounded as in SVG; what lies far outside the frame is not seen.
fn hundredths(x: f64) -> f32 {
    ((x.clamp(-1e5, 1e5) * 100.0).round() / 100.0) as f32
}

fn write(out: &mut Content, text: &Text, fonts: &mut [Font; 2]) {
    let (line, before) = text.set();
    let [r, g, b] = text.paint.rgb().map(|x| x as f32);
    out.begin_text().set_fill_rgb(r, g, b);
    let mut rest = line.glyphs.as_slice();
    while let Some(first) = rest.first() {
        // Glyphs that follow each other in one font at one height are one string.
        let mut end = first.x;
        let alike = rest.iter().take_while(|g| {
            let follows = g.typeface == first.typeface
                && (g.size, g.rise) == (first.size, first.rise)
                && (g.x - end).abs() < 1e-9;
            end = g.x + g.size * g.typeface.advance(g.id);
            follows
        });
        let count = alike.count().max(1);
        let (run, after) = rest.split_at(count);
        rest = after;
        let font = &mut fonts[first.typeface as usize];
        let bytes: Vec<u8> =
            run.iter().flat_map(|g| font.code(g.id, g.letter).to_be_bytes()).collect();
        let (along, rise) = (text.size * first.x - before, text.size * first.rise);
        let PaperPoint { x, y } = text.at;
        out.set_font(Name(font.key()), (text.size * first.size) as f32);
        out.set_text_matrix(if text.upwards {
            [0.0, -1.0, -1.0, 0.0, hundredths(x - rise), hundredths(y - along)]
        } else {
            [1.0, 0.0, 0.0, -1.0, hundredths(x + along), hundredths(y - rise)]
        });
        out.show(Str(&bytes));
    }
    out.end_text();
}

/// A font, and the letters of it that the page uses.
struct Font {
    typeface: Typeface,
    remapper: GlyphRemapper,
    letters: BTreeMap<u16, char>,
}

impl Font {
    fn new(typeface: Typeface) -> Self {
        Self { typeface, remapper: GlyphRemapper::new(), letters: BTreeMap::new() }
    }

    /// The name in the page.
    fn key(&self) -> &'static [u8] {
        match self.typeface {
            Typeface::Upright => b"U",
            Typeface::Italic => b"I",
        }
    }

    /// The number of a glyph in the embedded font.
    fn code(&mut self, glyph: u16, letter: char) -> u16 {
        let code = self.remapper.remap(glyph);
        self.letters.insert(code, letter);
        code
    }

    fn embed(&self, pdf: &mut Pdf, id: Ref, next: &mut Ref) {
        let (cid, descriptor, data, unicode) =
            (next.bump(), next.bump(), next.bump(), next.bump());
        let name = format!("PFAFFA+{}", self.typeface.name());
        let name = Name(name.as_bytes());
        let info =
            SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
        pdf.type0_font(id)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid)
            .to_unicode(unicode);
        let mut font = pdf.cid_font(cid);
        font.subtype(CidFontType::Type0).base_font(name).system_info(info);
        font.font_descriptor(descriptor).default_width(0.0);
        let thousandths = |g: u16| (1000.0 * self.typeface.advance(g)) as f32;
        font.widths().consecutive(0, self.remapper.remapped_gids().map(thousandths)).finish();
        font.finish();
        let face = self.typeface.face();
        let bounds = face.global_bounding_box();
        let [left, low, right, high] =
            [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(f32::from);
        let slant = match self.typeface {
            Typeface::Upright => FontFlags::empty(),
            Typeface::Italic => FontFlags::ITALIC,
        };
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::SERIF | FontFlags::SYMBOLIC | slant)
            .bbox(Rect::new(left, low, right, high))
            .italic_angle(face.italic_angle())
            .ascent(f32::from(face.ascender()))
            .descent(f32::from(face.descender()))
            .cap_height(f32::from(face.capital_height().unwrap_or_default()))
            .stem_v(80.0)
            .font_file3(data);
        let font = subsetter::subset(self.typeface.bytes(), 0, &self.remapper)
            .expect("the fonts in this crate are sound");
        // The outlines alone: a PDF file needs no other table.
        let raw = RawFace::parse(&font, 0).expect("a subset of a font is a font");
        let outlines = raw
            .table(Tag::from_bytes(b"CFF "))
            .expect("the fonts in this crate are of this kind");
        let outlines = packed(outlines);
        let mut stream = pdf.stream(data, &outlines);
        stream.filter(Filter::FlateDecode).pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
        stream.finish();
        let mut map = UnicodeCmap::new(Name(b"Letters"), info);
        for (&code, &letter) in &self.letters {
            map.pair(code, letter);
        }
        pdf.stream(unicode, &packed(&map.finish())).filter(Filter::FlateDecode);
    }
}

#[cfg(test)]
mod tests {
    use crate::plot::{Axis, Curve, Figure, Look};

    #[test]
    fn the_table_of_objects_points_at_them() {
        let curve = Curve {
            name: "x".into(),
            x: (&[0.0, 1.0][..]).into(),
            y: (&[1.0, 3.0][..]).into(),
            ..Curve::default()
        };
        let axis = Axis { label: "theta'".into(), log: false };
        let figure = Figure { y: axis, curves: vec![curve], ..Figure::default() };
        let bytes = figure.to_pdf(Look::default());
        let find = |what: &[u8]| bytes.windows(what.len()).rposition(|w| w == what).unwrap();
        let start = find(b"xref\n0 ");
        let table = String::from_utf8_lossy(&bytes[start..]).into_owned();
        let told = table.split("startxref\n").nth(1).unwrap().lines().next().unwrap();
        assert_eq!(told.parse::<usize>().unwrap(), start);
        let count = table.lines().skip(3).take_while(|l| l.len() >= 18).count();
        // The catalogue, the tree of pages, the page, its content, and five for each of the two fonts.
        assert_eq!(count, 14);
        for i in 1..=count {
            let place: usize = table.lines().nth(2 + i).unwrap()[..10].parse().unwrap();
            assert!(bytes[place..].starts_with(format!("{i} 0 obj").as_bytes()), "{i}");
        }
    }
}
