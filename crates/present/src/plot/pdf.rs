//! Marks as a PDF page of the figure's size, in the fonts Helvetica and Symbol, which every reader brings.
//!
//! Greek letters are taken from Symbol; what neither font has becomes `?`. [ISO 32000-1, §7.5, §8.4, §9.4, annex D]

use std::fmt::Write;

use super::layout::Drawn;
use super::{Anchor, Mark, Paint, Text, dashes, metrics};

/// Points for each CSS pixel.
const POINT: f64 = 0.75;

/// The page as a file.
pub(super) fn file(drawn: &Drawn) -> Vec<u8> {
    let content = content(drawn);
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(content.as_bytes(), 6);
    let (width, height) = (POINT * drawn.width, POINT * drawn.height);
    let objects: [Vec<u8>; 6] = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width:.2} {height:.2}]/Contents 6 0 R/Resources<</Font<</F 4 0 R/G 5 0 R>>>>>>"
        )
        .into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Symbol>>".to_vec(),
        [
            format!("<</Length {}/Filter/FlateDecode>>stream\n", packed.len()).as_bytes(),
            &packed,
            b"\nendstream",
        ]
        .concat(),
    ];
    let mut out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", i + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let start = out.len();
    let mut tail = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(tail, "{place:010} 00000 n ");
    }
    let _ = write!(
        tail,
        "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    out.extend(tail.bytes());
    out
}

/// The drawing operators, in CSS pixels with y downwards.
fn content(drawn: &Drawn) -> String {
    let mut out = format!("{POINT} 0 0 -{POINT} 0 {:.2} cm 1 j\n", POINT * drawn.height);
    for mark in drawn.ticks.iter().flatten().chain(&drawn.back) {
        match mark {
            Mark::Line { points, paint, width, dash } => {
                line(points, (*paint, *width, *dash), &mut out);
            }
            Mark::Text(text) => write_text(text, &mut out),
        }
    }
    let [x, y, w, h] = drawn.frame;
    let _ = writeln!(out, "q {x:.2} {y:.2} {w:.2} {h:.2} re W n");
    for curve in drawn.curves.iter().rev() {
        for piece in &curve.pieces {
            line(piece, (Paint::Curve(curve.colour), 1.8, curve.dash), &mut out);
        }
    }
    out + "Q\n"
}

fn line(points: &[(f64, f64)], (paint, width, dash): (Paint, f64, usize), out: &mut String) {
    let [r, g, b] = paint.rgb();
    let lengths: Vec<String> = dashes(dash).iter().map(f64::to_string).collect();
    let _ = writeln!(out, "{r:.3} {g:.3} {b:.3} RG {width} w [{}] 0 d", lengths.join(" "));
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = writeln!(out, "{x:.2} {y:.2} {}", if i == 0 { 'm' } else { 'l' });
    }
    *out += "S\n";
}

fn write_text(text: &Text, out: &mut String) {
    let length = metrics::width(&text.words, text.size);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => length / 2.0,
        Anchor::End => length,
    };
    let (x, y) = text.at;
    let [r, g, b] = text.paint.rgb();
    let _ = write!(out, "BT {r:.3} {g:.3} {b:.3} rg ");
    let _ = if text.upwards {
        write!(out, "0 -1 -1 0 {x:.2} {:.2} Tm ", y + before)
    } else {
        write!(out, "1 0 0 -1 {:.2} {y:.2} Tm ", x - before)
    };
    for (greek, bytes) in runs(&text.words) {
        let font = if greek { 'G' } else { 'F' };
        let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let hex = hex.concat();
        let _ = write!(out, "/{font} {} Tf <{hex}> Tj ", text.size);
    }
    *out += "ET\n";
}

/// A text in pieces of one font each, encoded; true for Symbol.
fn runs(text: &str) -> Vec<(bool, Vec<u8>)> {
    let mut runs: Vec<(bool, Vec<u8>)> = Vec::new();
    for c in text.chars() {
        let (greek, byte) = encoded(c);
        match runs.last_mut() {
            Some((last, bytes)) if *last == greek => bytes.push(byte),
            _ => runs.push((greek, vec![byte])),
        }
    }
    runs
}

fn encoded(c: char) -> (bool, u8) {
    const GREEK: &str = "αβχδεφγηικλμνοπθρστυωξψζΑΒΧΔΕΦΓΗΙΚΛΜΝΟΠΘΡΣΤΥΩΞΨΖ";
    const SYMBOL: &[u8; 48] = b"abcdejghiklmnopqrstuwxyzABCDEFGHIKLMNOPQRSTUWXYZ";
    match c {
        ' '..='~' | '\u{a0}'..='\u{ff}' => (false, c as u32 as u8),
        '−' | '–' => (false, 0x96),
        '…' => (false, 0x85),
        _ => GREEK.chars().position(|g| g == c).map_or((false, b'?'), |i| (true, SYMBOL[i])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Curve, Figure, Look, layout};

    #[test]
    fn greek_letters_are_those_of_the_symbol_font() {
        let pairs =
            [('α', b'a'), ('φ', b'j'), ('θ', b'q'), ('ω', b'w'), ('Ω', b'W'), ('λ', b'l')];
        for (c, byte) in pairs {
            assert_eq!(encoded(c), (true, byte), "{c}");
        }
        assert_eq!(runs("x−φ").len(), 2);
        assert_eq!(encoded('字'), (false, b'?'));
    }

    #[test]
    fn the_table_of_objects_points_at_them() {
        let curve = Curve {
            name: "x".into(),
            x: (&[0.0, 1.0][..]).into(),
            y: (&[1.0, 3.0][..]).into(),
            ..Curve::default()
        };
        let figure = Figure { curves: vec![curve], ..Figure::default() };
        let bytes = file(&layout(&figure, Look::default()));
        let find = |what: &[u8]| bytes.windows(what.len()).rposition(|w| w == what).unwrap();
        let start = find(b"xref\n0 ");
        let told: usize = {
            let tail = String::from_utf8_lossy(&bytes[find(b"startxref")..]).into_owned();
            tail.lines().nth(1).unwrap().parse().unwrap()
        };
        assert_eq!(told, start);
        let table = String::from_utf8_lossy(&bytes[start..]).into_owned();
        for i in 1..=6 {
            let place: usize = table.lines().nth(2 + i).unwrap()[..10].parse().unwrap();
            assert!(bytes[place..].starts_with(format!("{i} 0 obj").as_bytes()), "{i}");
        }
    }
}
