//! A small plot in the terminal, drawn with braille dots.

use std::fmt::Write;

/// Curves over a common abscissa.
pub(crate) struct Plot<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) y: &'a [f64],
    pub(crate) x_name: &'a str,
    pub(crate) y_name: &'a str,
}

const WIDTH: usize = 60;
const HEIGHT: usize = 12;

impl Plot<'_> {
    /// The plot as lines of text; empty if there is nothing finite to draw.
    pub(crate) fn render(&self) -> String {
        let points: Vec<(f64, f64)> = self
            .x
            .iter()
            .zip(self.y)
            .map(|(&x, &y)| (x, y))
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .collect();
        if points.len() < 2 {
            return String::new();
        }
        let (x0, x1) = range(points.iter().map(|p| p.0));
        let (y0, y1) = range(points.iter().map(|p| p.1));
        let mut dots = vec![false; 2 * WIDTH * 4 * HEIGHT];
        let place = |(x, y): (f64, f64)| {
            let column = (x - x0) / (x1 - x0) * (2 * WIDTH - 1) as f64;
            let row = (y1 - y) / (y1 - y0) * (4 * HEIGHT - 1) as f64;
            (column, row)
        };
        for pair in points.windows(2) {
            line(&mut dots, place(pair[0]), place(pair[1]));
        }
        self.frame(&dots, (x0, x1), (y0, y1))
    }

    fn frame(&self, dots: &[bool], (x0, x1): (f64, f64), (y0, y1): (f64, f64)) -> String {
        let (top, bottom) = (number(y1), number(y0));
        let margin =
            top.chars().count().max(bottom.chars().count()).max(self.y_name.chars().count());
        let mut text = String::new();
        for row in 0..HEIGHT {
            let label = match row {
                0 => top.as_str(),
                r if r + 1 == HEIGHT => bottom.as_str(),
                r if r == HEIGHT / 2 => self.y_name,
                _ => "",
            };
            let _ = write!(text, "  {label:>margin$} │");
            text.extend((0..WIDTH).map(|column| braille(dots, row, column)));
            text.push('\n');
        }
        let (left, right) = (number(x0), number(x1));
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
}

/// Smallest and largest, drawn apart if they are equal.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let spread = 1e-9 * (1.0 + low.abs().max(high.abs()));
    if high - low < spread { (low - spread, high + spread) } else { (low, high) }
}

/// Marks the dots on a line.
fn line(dots: &mut [bool], (c0, r0): (f64, f64), (c1, r1): (f64, f64)) {
    let steps = (c1 - c0).abs().max((r1 - r0).abs()).ceil().max(1.0) as usize;
    for i in 0..=steps {
        let s = i as f64 / steps as f64;
        let column = (c0 + s * (c1 - c0)).round() as usize;
        let row = (r0 + s * (r1 - r0)).round() as usize;
        dots[row.min(4 * HEIGHT - 1) * 2 * WIDTH + column.min(2 * WIDTH - 1)] = true;
    }
}

/// The character for two by four dots.
fn braille(dots: &[bool], row: usize, column: usize) -> char {
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let mut code = 0x2800;
    for (i, bits) in BITS.iter().enumerate() {
        for (j, bit) in bits.iter().enumerate() {
            if dots[(4 * row + i) * 2 * WIDTH + 2 * column + j] {
                code |= bit;
            }
        }
    }
    char::from_u32(code).unwrap_or(' ')
}

/// A number with four digits, for an axis.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{x:.2e}")
    } else {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_line_goes_from_bottom_left_to_top_right() {
        let plot = Plot { x: &[0.0, 1.0], y: &[0.0, 2.0], x_name: "t", y_name: "x" };
        let text = plot.render();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), HEIGHT + 2);
        let ink = |row: &str| {
            row.chars().skip_while(|&c| c != '│').skip(1).position(|c| c != '\u{2800}')
        };
        assert!(ink(rows[0]).unwrap() > ink(rows[HEIGHT - 1]).unwrap());
    }

    #[test]
    fn nothing_finite_draws_nothing() {
        let plot = Plot { x: &[0.0, 1.0], y: &[f64::NAN; 2], x_name: "t", y_name: "x" };
        assert_eq!(plot.render(), "");
    }
}
