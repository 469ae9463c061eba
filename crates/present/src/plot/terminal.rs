//! A small plot in the terminal, drawn with braille dots.

use std::fmt::Write;

use super::PaperPoint;
use crate::number::brief;

/// Curves over a common abscissa.
pub(crate) struct Plot<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) x_name: &'a str,
    /// Names and ordinates.
    pub(crate) curves: Vec<(&'a str, &'a [f64])>,
    /// Whether the terminal shows colours: without them curves cannot be told apart, and the first stands alone.
    pub(crate) colour: bool,
}

const WIDTH: usize = 60;
const HEIGHT: usize = 12;
/// Blue, yellow, green, magenta: told apart on dark and on light grounds, also by colour-blind people.
const COLOURS: [&str; 4] = ["34", "33", "32", "35"];

/// Which curve, if any, has each dot.
type Dots = Vec<Option<u8>>;

impl Plot<'_> {
    /// The plot as lines of text; empty if there is nothing finite to draw.
    pub(crate) fn render(&self) -> String {
        let most = if self.colour { COLOURS.len() } else { 1 };
        let mut lines: Vec<(&str, Vec<PaperPoint>)> = Vec::new();
        for (name, y) in self.curves.iter().take(most) {
            let points = self.x.iter().zip(*y).map(|(&x, &y)| PaperPoint { x, y });
            let points: Vec<PaperPoint> =
                points.filter(|p| p.x.is_finite() && p.y.is_finite()).collect();
            if points.len() > 1 {
                lines.push((name, points));
            }
        }
        if lines.is_empty() {
            return String::new();
        }
        let across = AxisRange::of(lines.iter().flat_map(|l| &l.1).map(|p| p.x));
        let up = AxisRange::of(lines.iter().flat_map(|l| &l.1).map(|p| p.y));
        let mut dots: Dots = vec![None; 2 * WIDTH * 4 * HEIGHT];
        let place = |p: PaperPoint| Dot {
            column: (p.x - across.low) / (across.high - across.low) * (2 * WIDTH - 1) as f64,
            row: (up.high - p.y) / (up.high - up.low) * (4 * HEIGHT - 1) as f64,
        };
        // NOTE: backwards, so that the first curve lies on top.
        for (i, (_, points)) in lines.iter().enumerate().rev() {
            for pair in points.windows(2) {
                line(&mut dots, i as u8, place(pair[0]), place(pair[1]));
            }
        }
        let names: Vec<&str> = lines.iter().map(|l| l.0).collect();
        self.frame(&dots, &names, across, up)
    }

    fn frame(&self, dots: &Dots, names: &[&str], across: AxisRange, up: AxisRange) -> String {
        let (top, bottom) = (brief(up.high), brief(up.low));
        // One name stands at the axis, several in a legend.
        let y_name = if names.len() == 1 { names[0] } else { "" };
        let margin =
            [&top, &bottom, y_name].map(|t| t.chars().count()).into_iter().max().unwrap_or(0);
        let mut text = String::new();
        if names.len() > 1 {
            let entry = |(i, name): (usize, &&str)| {
                format!("{} {name}", self.painted("──", Some(i as u8)))
            };
            let entries: Vec<String> = names.iter().enumerate().map(entry).collect();
            let _ = writeln!(text, "  {:margin$}  {}", "", entries.join("   "));
        }
        for row in 0..HEIGHT {
            let label = match row {
                0 => top.as_str(),
                r if r + 1 == HEIGHT => bottom.as_str(),
                r if r == HEIGHT / 2 => y_name,
                _ => "",
            };
            let _ = write!(text, "  {label:>margin$} │");
            for column in 0..WIDTH {
                let (c, curve) = braille(dots, row, column);
                text += &self.painted(c.encode_utf8(&mut [0; 4]), curve);
            }
            text.push('\n');
        }
        let (left, right) = (brief(across.low), brief(across.high));
        let _ = writeln!(text, "  {:margin$} └{}", "", "─".repeat(WIDTH));
        let used = left.chars().count() + right.chars().count() + self.x_name.chars().count();
        let gap = WIDTH.saturating_sub(used);
        let _ = writeln!(
            text,
            "  {:margin$}  {left}{}{}{}{right}",
            "",
            " ".repeat(gap / 2),
            self.x_name,
            " ".repeat(gap - gap / 2)
        );
        text
    }

    /// In the colour of a curve, if colours are wanted.
    fn painted(&self, text: &str, curve: Option<u8>) -> String {
        match curve {
            Some(i) if self.colour => {
                format!("\u{1b}[{}m{text}\u{1b}[0m", COLOURS[i as usize % COLOURS.len()])
            }
            _ => text.to_owned(),
        }
    }
}

/// What an axis shows.
#[derive(Clone, Copy)]
struct AxisRange {
    low: f64,
    high: f64,
}

impl AxisRange {
    /// From the smallest to the largest, drawn apart if they are equal.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let empty = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        let Self { low, high } =
            values.fold(empty, |i, x| Self { low: i.low.min(x), high: i.high.max(x) });
        let size = low.abs().max(high.abs());
        let spread = if size == 0.0 { 1.0 } else { (1e-9 * size).max(f64::MIN_POSITIVE) };
        if high - low < spread {
            Self { low: low - spread, high: high + spread }
        } else {
            Self { low, high }
        }
    }
}

/// A place among the dots, not yet rounded.
#[derive(Clone, Copy)]
struct Dot {
    column: f64,
    row: f64,
}

/// Marks the dots on a line.
fn line(dots: &mut Dots, curve: u8, from: Dot, to: Dot) {
    let (across, down) = (to.column - from.column, to.row - from.row);
    let steps = across.abs().max(down.abs()).ceil().max(1.0) as usize;
    for i in 0..=steps {
        let s = i as f64 / steps as f64;
        let column = (from.column + s * across).round() as usize;
        let row = (from.row + s * down).round() as usize;
        dots[row.min(4 * HEIGHT - 1) * 2 * WIDTH + column.min(2 * WIDTH - 1)] = Some(curve);
    }
}

/// The character for two by four dots, and the first curve among them.
fn braille(dots: &Dots, row: usize, column: usize) -> (char, Option<u8>) {
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let mut code = 0x2800;
    let mut first: Option<u8> = None;
    for (i, bits) in BITS.iter().enumerate() {
        for (j, bit) in bits.iter().enumerate() {
            if let Some(curve) = dots[(4 * row + i) * 2 * WIDTH + 2 * column + j] {
                code |= bit;
                first = Some(first.map_or(curve, |f| f.min(curve)));
            }
        }
    }
    (char::from_u32(code).unwrap_or(' '), first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot<'a>(curves: &[(&'a str, &'a [f64])], colour: bool) -> Plot<'a> {
        Plot { x: &[0.0, 1.0], x_name: "t", curves: curves.to_vec(), colour }
    }

    #[test]
    fn a_rising_line_goes_from_bottom_left_to_top_right() {
        let text = plot(&[("x", &[0.0, 2.0])], false).render();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), HEIGHT + 2);
        let ink = |row: &str| {
            row.chars().skip_while(|&c| c != '│').skip(1).position(|c| c != '\u{2800}')
        };
        assert!(ink(rows[0]).unwrap() > ink(rows[HEIGHT - 1]).unwrap());
    }

    #[test]
    fn small_units_are_drawn_like_large_ones() {
        let drawn = |size: f64| plot(&[("x", &[0.0, 2.0 * size])], false).render();
        let ink =
            |text: &str| -> String { text.chars().filter(|c| *c >= '\u{2800}').collect() };
        assert_eq!(ink(&drawn(1.0)), ink(&drawn(1e-10)));
        assert!(
            ink(&plot(&[("x", &[0.0, 0.0])], false).render()).chars().any(|c| c != '\u{2800}')
        );
    }

    #[test]
    fn nothing_finite_draws_nothing() {
        assert_eq!(plot(&[("x", &[f64::NAN; 2])], true).render(), "");
    }

    #[test]
    fn curves_are_told_apart_by_colours_or_stand_alone() {
        let curves: [(&str, &[f64]); 2] = [("x", &[0.0, 2.0]), ("speed", &[2.0, 0.0])];
        let plain = plot(&curves, false).render();
        assert!(!plain.contains('\u{1b}') && !plain.contains("speed"), "{plain}");
        let coloured = plot(&curves, true).render();
        for part in ["speed", "\u{1b}[34m", "\u{1b}[33m"] {
            assert!(coloured.contains(part), "{coloured}");
        }
        assert_eq!(
            coloured.matches("\u{1b}[0m").count() * 2,
            coloured.matches('\u{1b}').count()
        );
    }
}
