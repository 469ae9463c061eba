//! Marks as pixels: lines with soft edges, and a PNG file around them.
//!
//! A pixel is covered by $\mathrm{clamp}(w/2 + 1/2 - d)$, $d$ being its distance from the line of width $w$;
//! within one line the largest coverage counts, so joints do not show.
//! [W3C PNG, §5, §13.9]

use super::decimate::distance;
use super::font::strokes;
use super::layout::Drawn;
use super::metrics;
use super::{Anchor, Mark, Paint, Text, dashes};

/// The picture as a file, with `scale` pixels for each CSS pixel.
pub(super) fn file(drawn: &Drawn, scale: f64) -> Vec<u8> {
    let mut canvas = Canvas::new(drawn.width, drawn.height, scale);
    let whole = [0.0, 0.0, drawn.width, drawn.height];
    for mark in drawn.ticks.iter().flatten().chain(&drawn.back) {
        match mark {
            Mark::Line { points, paint, width, dash } => {
                canvas.line(points, (*paint, *width, *dash), whole);
            }
            Mark::Text(text) => {
                for stroke in placed(text) {
                    canvas.line(&stroke, (text.paint, 0.085 * text.size, 0), whole);
                }
            }
        }
    }
    for curve in drawn.curves.iter().rev() {
        for piece in &curve.pieces {
            canvas.line(piece, (Paint::Curve(curve.colour), 1.8, curve.dash), drawn.frame);
        }
    }
    canvas.encode(scale)
}

/// The strokes of a text where it stands, y downwards.
fn placed(text: &Text) -> Vec<Vec<(f64, f64)>> {
    let length = metrics::width(&text.words, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => length / 2.0,
        Anchor::End => length,
    };
    let place = |(x, y): (f64, f64)| {
        let along = x - before;
        if text.upwards {
            (text.at.0 - y, text.at.1 - along)
        } else {
            (text.at.0 + along, text.at.1 - y)
        }
    };
    let all = strokes(&text.words, text.size).into_iter();
    all.map(|s| s.into_iter().map(place).collect()).collect()
}

struct Canvas {
    width: usize,
    height: usize,
    scale: f64,
    /// Red, green, blue by rows.
    pixels: Vec<u8>,
    /// Of the line that is being drawn.
    coverage: Vec<f32>,
    touched: Vec<usize>,
}

impl Canvas {
    fn new(width: f64, height: f64, scale: f64) -> Self {
        let (width, height) = (
            (width * scale).ceil().max(1.0) as usize,
            (height * scale).ceil().max(1.0) as usize,
        );
        Self {
            width,
            height,
            scale,
            pixels: vec![255; 3 * width * height],
            coverage: vec![0.0; width * height],
            touched: Vec::new(),
        }
    }

    /// Draws a polyline within a frame.
    fn line(
        &mut self,
        points: &[(f64, f64)],
        (paint, width, dash): (Paint, f64, usize),
        frame: [f64; 4],
    ) {
        let scaled = |&(x, y): &(f64, f64)| (x * self.scale, y * self.scale);
        let points: Vec<(f64, f64)> = points.iter().map(scaled).collect();
        let half = width * self.scale / 2.0;
        let frame = frame.map(|x| x * self.scale);
        for piece in
            dashed(&points, &dashes(dash).iter().map(|x| x * self.scale).collect::<Vec<_>>())
        {
            if let [only] = piece[..] {
                self.segment(only, only, half, frame);
            }
            for pair in piece.windows(2) {
                self.segment(pair[0], pair[1], half, frame);
            }
        }
        let colour = paint.rgb();
        for i in std::mem::take(&mut self.touched) {
            let c = f64::from(std::mem::take(&mut self.coverage[i]));
            for (byte, ink) in self.pixels[3 * i..3 * i + 3].iter_mut().zip(colour) {
                *byte = (f64::from(*byte) * (1.0 - c) + 255.0 * ink * c).round() as u8;
            }
        }
    }

    fn segment(&mut self, a: (f64, f64), b: (f64, f64), half: f64, [fx, fy, fw, fh]: [f64; 4]) {
        let reach = half + 0.5;
        let range = |low: f64, high: f64, from: f64, to: f64, most: usize| {
            let low = (low - reach).max(from).floor().max(0.0);
            let high = (high + reach).min(to).ceil().min(most as f64);
            (low as usize)..(high.max(0.0) as usize)
        };
        let columns = range(a.0.min(b.0), a.0.max(b.0), fx, fx + fw, self.width);
        let rows = range(a.1.min(b.1), a.1.max(b.1), fy, fy + fh, self.height);
        for row in rows {
            for column in columns.clone() {
                let centre = (column as f64 + 0.5, row as f64 + 0.5);
                let c = (reach - distance(centre, a, b)).clamp(0.0, 1.0) as f32;
                let i = row * self.width + column;
                if c > self.coverage[i] {
                    if self.coverage[i] == 0.0 {
                        self.touched.push(i);
                    }
                    self.coverage[i] = c;
                }
            }
        }
    }

    fn encode(&self, scale: f64) -> Vec<u8> {
        let mut rows = Vec::with_capacity((3 * self.width + 1) * self.height);
        for row in self.pixels.chunks_exact(3 * self.width) {
            rows.push(0);
            rows.extend_from_slice(row);
        }
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        header.extend([8, 2, 0, 0, 0]);
        chunk(&mut file, *b"IHDR", &header);
        // 96 pixels an inch for each CSS pixel, told in pixels a metre.
        let density = ((96.0 * scale / 0.0254).round() as u32).to_be_bytes();
        chunk(&mut file, *b"pHYs", &[&density[..], &density[..], &[1]].concat());
        chunk(&mut file, *b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&rows, 6));
        chunk(&mut file, *b"IEND", &[]);
        file
    }
}

/// The inked parts of a line.
fn dashed(points: &[(f64, f64)], lengths: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if lengths.is_empty() || points.len() < 2 {
        return vec![points.to_vec()];
    }
    let mut pieces = vec![vec![points[0]]];
    let (mut which, mut left) = (0, lengths[0]);
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let length = ((b.0 - a.0).powi(2) + (b.1 - a.1).powi(2)).sqrt();
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let s = gone / length;
            let p = (a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1));
            if which % 2 == 0 {
                pieces.last_mut().expect("there is always a last piece").push(p);
            } else {
                pieces.push(vec![p]);
            }
            which = (which + 1) % lengths.len();
            left = lengths[which];
        }
        left -= length - gone;
        if which % 2 == 0 {
            pieces.last_mut().expect("there is always a last piece").push(b);
        }
    }
    pieces
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend_from_slice(data);
    let sum = crc(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// The cyclic redundancy check of PNG, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |c: u32, &b: &u8| {
        (0..8).fold(
            c ^ u32::from(b),
            |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 },
        )
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_that_of_the_standard() {
        // The empty last chunk of every PNG file.
        assert_eq!(crc(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn a_line_inks_the_pixels_it_covers() {
        let mut canvas = Canvas::new(20.0, 10.0, 1.0);
        let frame = [0.0, 0.0, 20.0, 10.0];
        canvas.line(&[(2.0, 5.0), (18.0, 5.0)], (Paint::Ink, 2.0, 0), frame);
        let grey = |x: usize, y: usize| canvas.pixels[3 * (y * 20 + x)];
        assert_eq!((grey(10, 4), grey(10, 5)), (26, 26));
        assert_eq!((grey(10, 1), grey(10, 8), grey(0, 5)), (255, 255, 255));
        // Nothing outside the frame.
        canvas.line(&[(0.0, 0.0), (20.0, 0.0)], (Paint::Ink, 4.0, 0), [5.0, 0.0, 5.0, 10.0]);
        let grey = |x: usize, y: usize| canvas.pixels[3 * (y * 20 + x)];
        assert_eq!((grey(2, 0), grey(7, 0), grey(15, 0)), (255, 26, 255));
    }

    #[test]
    fn dashes_leave_gaps() {
        let pieces = dashed(&[(0.0, 0.0), (10.0, 0.0)], &[3.0, 2.0]);
        assert_eq!(pieces, [vec![(0.0, 0.0), (3.0, 0.0)], vec![(5.0, 0.0), (8.0, 0.0)]]);
    }
}
