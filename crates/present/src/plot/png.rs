//! Marks as pixels: a PNG file.

use tiny_skia::{
    Color, FillRule, LineJoin, Mask, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke,
    StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::layout::Drawn;
use super::typeface::EM;
use super::{CURVE, Mark, Paint, PaperPoint, Text, dashes};

/// The picture as a file, with `scale` pixels for each CSS pixel.
pub(super) fn file(drawn: &Drawn, scale: f64) -> Vec<u8> {
    let pixels = |length: f64| (length * scale).ceil().max(1.0) as u32;
    let (width, height) = (pixels(drawn.width), pixels(drawn.height));
    let mut canvas = Canvas::new(width, height, scale);
    for mark in drawn.ticks.iter().flatten().chain(&drawn.back) {
        match mark {
            Mark::Line { points, paint, width, dash } => {
                let pen = Pen { paint: *paint, width: *width, dash: *dash };
                canvas.line(points, pen, None);
            }
            Mark::Text(text) => canvas.text(text),
        }
    }
    let frame = canvas.inside(drawn.frame);
    for (points, paint) in &drawn.areas {
        canvas.area(points, *paint, &frame);
    }
    for curve in drawn.curves.iter().rev() {
        let pen = Pen { paint: Paint::Curve(curve.colour), width: CURVE, dash: curve.dash };
        for piece in &curve.pieces {
            canvas.line(piece, pen, Some(&frame));
        }
    }
    encoded(&canvas.pixmap, scale)
}

struct Canvas {
    pixmap: Pixmap,
    /// CSS pixels into pixels.
    scale: Transform,
}

#[derive(Clone, Copy)]
struct Pen {
    paint: Paint,
    width: f64,
    dash: usize,
}

impl Canvas {
    fn new(width: u32, height: u32, scale: f64) -> Self {
        let mut pixmap = Pixmap::new(width, height).expect("neither side is zero");
        pixmap.fill(Color::WHITE);
        Self { pixmap, scale: Transform::from_scale(scale as f32, scale as f32) }
    }

    /// The part of the picture that lies in a frame.
    fn inside(&self, [x, y, w, h]: [f64; 4]) -> Mask {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())
            .expect("neither side of the picture is zero");
        let [x, y, w, h] = [x, y, w, h].map(|v| v as f32);
        if let Some(rect) = Rect::from_xywh(x, y, w, h) {
            let path = PathBuilder::from_rect(rect);
            mask.fill_path(&path, FillRule::Winding, true, self.scale);
        }
        mask
    }

    fn line(&mut self, points: &[PaperPoint], pen: Pen, within: Option<&Mask>) {
        let mut builder = PathBuilder::new();
        for (i, &PaperPoint { x, y }) in points.iter().enumerate() {
            // NOTE: what lies far outside the frame is not seen.
            let [x, y] = [x, y].map(|v| v.clamp(-1e5, 1e5) as f32);
            if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
        }
        if let [PaperPoint { x, y }] = points {
            builder.line_to(*x as f32 + 1e-3, *y as f32);
        }
        let Some(path) = builder.finish() else { return };
        let lengths: Vec<f32> = dashes(pen.dash).iter().map(|&x| x as f32).collect();
        let stroke = Stroke {
            width: pen.width as f32,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(lengths, 0.0),
            ..Stroke::default()
        };
        self.pixmap.stroke_path(&path, &ink(pen.paint), &stroke, self.scale, within);
    }

    fn area(&mut self, points: &[PaperPoint], paint: Paint, within: &Mask) {
        let mut builder = PathBuilder::new();
        for (i, &PaperPoint { x, y }) in points.iter().enumerate() {
            let [x, y] = [x, y].map(|v| v.clamp(-1e5, 1e5) as f32);
            if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
        }
        builder.close();
        let Some(path) = builder.finish() else { return };
        // NOTE: edges that are not smoothed leave no gaps between neighbours.
        let ink = tiny_skia::Paint { anti_alias: false, ..ink(paint) };
        self.pixmap.fill_path(&path, &ink, FillRule::Winding, self.scale, Some(within));
    }

    fn text(&mut self, text: &Text) {
        let (line, before) = text.set();
        let (x, y) = (text.at.x as f32, text.at.y as f32);
        let turn = if text.upwards { -90.0 } else { 0.0 };
        let base = self
            .scale
            .pre_translate(x, y)
            .pre_concat(Transform::from_rotate(turn))
            .pre_translate(-before as f32, 0.0);
        for glyph in &line.glyphs {
            let mut outline = Outline(PathBuilder::new());
            glyph.typeface.outline(glyph.id, &mut outline);
            let Some(path) = outline.0.finish() else { continue };
            let size = (text.size * glyph.size / EM) as f32;
            let place = base
                .pre_translate((text.size * glyph.x) as f32, (-text.size * glyph.rise) as f32)
                .pre_scale(size, -size);
            self.pixmap.fill_path(&path, &ink(text.paint), FillRule::Winding, place, None);
        }
    }
}

fn ink(paint: Paint) -> tiny_skia::Paint<'static> {
    let [r, g, b] = paint.rgb().map(|x| (255.0 * x).round() as u8);
    let mut ink = tiny_skia::Paint::default();
    ink.set_color_rgba8(r, g, b, 255);
    ink
}

/// Collects an outline as a path.
struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

/// Red, green and blue: the paper is white, so nothing is transparent.
fn encoded(pixmap: &Pixmap, scale: f64) -> Vec<u8> {
    let rgb = |p: &PremultipliedColorU8| [p.red(), p.green(), p.blue()];
    let bytes: Vec<u8> = pixmap.pixels().iter().flat_map(rgb).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Balanced);
    // 96 pixels an inch for each CSS pixel, told in pixels a metre.
    let density = (96.0 * scale / 0.0254).round() as u32;
    let unit = png::Unit::Meter;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: density, yppu: density, unit }));
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes));
    written.expect("a vector takes every byte, and there are as many as the header says");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(canvas: &Canvas, x: u32, y: u32) -> u8 {
        canvas.pixmap.pixel(x, y).unwrap().red()
    }

    const PEN: Pen = Pen { paint: Paint::Ink, width: 2.0, dash: 0 };

    #[test]
    fn a_line_inks_the_pixels_it_covers() {
        let mut canvas = Canvas::new(20, 10, 1.0);
        canvas.line(&[PaperPoint::new(2.0, 5.0), PaperPoint::new(18.0, 5.0)], PEN, None);
        assert_eq!((grey(&canvas, 10, 4), grey(&canvas, 10, 5)), (26, 26));
        assert_eq!(
            (grey(&canvas, 10, 1), grey(&canvas, 10, 8), grey(&canvas, 0, 5)),
            (255, 255, 255)
        );
        // Nothing outside the frame.
        let frame = canvas.inside([5.0, 0.0, 5.0, 10.0]);
        let ends = [PaperPoint::new(0.0, 0.0), PaperPoint::new(20.0, 0.0)];
        canvas.line(&ends, Pen { width: 4.0, ..PEN }, Some(&frame));
        assert_eq!(
            (grey(&canvas, 2, 0), grey(&canvas, 7, 0), grey(&canvas, 15, 0)),
            (255, 26, 255)
        );
    }

    #[test]
    fn letters_are_inked() {
        let inked = |words: &str| {
            let mut canvas = Canvas::new(40, 40, 1.0);
            let text = Text {
                at: PaperPoint::new(5.0, 30.0),
                anchor: super::super::Anchor::Start,
                upwards: false,
                size: 30.0,
                paint: Paint::Ink,
                words: words.into(),
                names: true,
            };
            canvas.text(&text);
            (0..40)
                .flat_map(|x| (0..40).map(move |y| (x, y)))
                .filter(|&(x, y)| grey(&canvas, x, y) < 128)
                .count()
        };
        assert_eq!(inked(" "), 0);
        assert!(inked("theta") > 50);
        assert!(inked("theta'") > inked("theta") + 5);
    }
}
