//! How wide a text will be: in the embedded font for a file; for a page in Helvetica and the fonts made to its
//! measure (Arial, Liberation Sans).

use super::{Style, label};

/// Widths of the characters from space to `~`, in thousandths of the size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722,
    722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722,
    667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
    556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,
    500, 334, 260, 334, 584,
];

/// The width of a text of this size.
pub(crate) fn width(text: &str, size: f64, style: Style) -> f64 {
    match style {
        Style::Paper => size * label::label(text).width,
        Style::Page => helvetica(text, size),
    }
}

/// What is not ASCII counts as a wide letter.
fn helvetica(text: &str, size: f64) -> f64 {
    let one = |c: char| match c {
        ' '..='~' => f64::from(WIDTHS[c as usize - 32]),
        '−' => 584.0,
        '\u{2e80}'.. => 1000.0,
        _ => 620.0,
    };
    text.chars().map(one).sum::<f64>() * size / 1000.0
}

/// How much wider the letters of a page may be than Helvetica's where a reader does not have it: those of DejaVu
/// Sans are.
const WIDER: f64 = 1.2;

/// The beginning of a text that fits, with … if something was left out.
pub(crate) fn fitted(text: &str, size: f64, room: f64, style: Style) -> String {
    let room = match style {
        Style::Paper => room,
        Style::Page => room / WIDER,
    };
    if width(text, size, style) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size, style) + width("…", size, style) > room {
            kept.pop();
            break;
        }
    }
    kept + "…"
}
