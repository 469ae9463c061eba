//! Marks in the plane of a picture → an SVG file, as short as can be seen.
//!
//! Paths lose the points that lie within a fifth of a pixel of the line without them, and are written
//! relative, in tenths of a pixel.

use std::fmt::Write as _;

use pfaff_expr::escape_markup as escape;
use pfaff_model::Colour;

use super::still_labels::Labels;

/// One thing to draw, before it is scaled.
pub(super) struct Mark {
    /// Larger is nearer to the eye.
    pub(super) depth: f64,
    pub(super) points: Vec<[f64; 2]>,
    pub(super) shape: Shape,
    pub(super) fill: Fill,
    pub(super) colour: Colour,
    /// Of its lines, in pixels.
    pub(super) width: f64,
    pub(super) dashed: bool,
    pub(super) faint: bool,
}

/// What is made of the points.
pub(super) enum Shape {
    /// From point to point.
    Path { closed: bool },
    /// A disk, of 4 pixels if it has no radius in the units of the model.
    Dot { radius: Option<f64> },
    /// From the first point to the second.
    Arrow,
    /// Zigzag from the first point to the second; thickness in the units of the model.
    Spring { turns: u32, thickness: f64 },
    /// At the point, or a little beside it.
    Text { text: String, beside: bool },
}

/// The inside of a mark.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Fill {
    None,
    Solid,
    /// This part of the colour on white, which covers what is behind.
    Tint(f64),
    /// Like a ball in the light.
    Shade,
}

/// The frame of the picture.
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The middle and the width that a view asks for; else everything is shown.
    pub(super) middle: Option<[f64; 2]>,
    pub(super) seen: Option<f64>,
}

/// Around what is shown, in pixels.
const MARGIN: f64 = 12.0;

/// How far a thinned line may lie from the full one, in pixels.
const THINNED: f64 = 0.2;

/// The file.
pub(super) fn svg(title: &str, canvas: &Canvas, marks: &[Mark], grid: bool) -> String {
    let map = Map::new(canvas, marks);
    let (w, h) = (canvas.width, canvas.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" stroke-linecap=\"round\" \
         stroke-linejoin=\"round\">\n<title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n",
        escape(title)
    );
    shades(marks, &mut out);
    if grid {
        map.grid(canvas, &mut out);
    }
    let mut labels = Labels::new([w, h]);
    for mark in marks.iter().filter(|m| !matches!(m.shape, Shape::Text { .. })) {
        labels.avoid(&map.outline(mark), if mark.faint { 0.3 } else { 1.0 });
    }
    let mut group = String::new();
    for mark in marks {
        let Some(element) = map.element(mark, &mut labels) else { continue };
        let style = style(mark);
        if style != group {
            if !group.is_empty() {
                out += "</g>\n";
            }
            let _ = writeln!(out, "<g {style}>");
            group = style;
        }
        out += &element;
        out.push('\n');
    }
    if !group.is_empty() {
        out += "</g>\n";
    }
    out + "</svg>\n"
}

/// Gradients of the colours that shade a ball.
fn shades(marks: &[Mark], out: &mut String) {
    let mut colours: Vec<Colour> =
        marks.iter().filter(|m| m.fill == Fill::Shade).map(|m| m.colour).collect();
    colours.sort_by_key(|c| c.name());
    colours.dedup();
    for colour in colours {
        let _ = writeln!(
            out,
            "<radialGradient id=\"{}\" cx=\".35\" cy=\".35\" r=\".7\"><stop stop-color=\"#fff\"/>\
             <stop offset=\"1\" stop-color=\"{}\"/></radialGradient>",
            colour.name(),
            hex(rgb(colour))
        );
    }
}

fn style(mark: &Mark) -> String {
    let colour = hex(rgb(mark.colour));
    let fill = match mark.fill {
        Fill::None => "none".to_owned(),
        Fill::Solid => colour.clone(),
        Fill::Tint(part) => hex(rgb(mark.colour).map(|c| 255.0 + part * (c - 255.0))),
        Fill::Shade => format!("url(#{})", mark.colour.name()),
    };
    let mut style = format!("fill=\"{fill}\"");
    if matches!(mark.shape, Shape::Text { .. }) {
        style += " stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"";
    }
    if mark.width > 0.0 {
        let _ = write!(style, " stroke=\"{colour}\" stroke-width=\"{}\"", mark.width);
    }
    if matches!(mark.fill, Fill::Tint(_) | Fill::Shade) {
        style += " fill-opacity=\".9\"";
    }
    if mark.dashed {
        style += " stroke-dasharray=\"5 4\"";
    }
    if mark.faint {
        style += " opacity=\".35\"";
    }
    style
}

/// From the plane of the picture to pixels.
struct Map {
    scale: f64,
    middle: [f64; 2],
    centre: [f64; 2],
}

impl Map {
    fn new(canvas: &Canvas, marks: &[Mark]) -> Self {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for mark in marks {
            let reach = match mark.shape {
                Shape::Dot { radius } => radius.unwrap_or(0.0),
                _ => 0.0,
            };
            for p in &mark.points {
                for k in 0..2 {
                    low[k] = low[k].min(p[k] - reach);
                    high[k] = high[k].max(p[k] + reach);
                }
            }
        }
        let sides = [canvas.width - 2.0 * MARGIN, canvas.height - 2.0 * MARGIN];
        let fit = |k: usize| sides[k] / (high[k] - low[k]).max(1e-9);
        let whole = fit(0).min(fit(1));
        let scale = match canvas.seen {
            Some(seen) => canvas.width.min(canvas.height * 1.6) / seen,
            None if whole.is_finite() => whole,
            None => 1.0,
        };
        let middle = canvas.middle.unwrap_or([0, 1].map(|k| f64::midpoint(low[k], high[k])));
        let middle = middle.map(|x| if x.is_finite() { x } else { 0.0 });
        Self { scale, middle, centre: [canvas.width / 2.0, canvas.height / 2.0] }
    }

    fn pixel(&self, p: [f64; 2]) -> [f64; 2] {
        [
            self.centre[0] + self.scale * (p[0] - self.middle[0]),
            self.centre[1] - self.scale * (p[1] - self.middle[1]),
        ]
    }

    /// Lines at round distances.
    fn grid(&self, canvas: &Canvas, out: &mut String) {
        let step = self.scale * round_length(40.0 / self.scale);
        let mut d = String::new();
        let origin = self.pixel([0.0, 0.0]);
        for (k, side) in [canvas.width, canvas.height].into_iter().enumerate() {
            let mut at = origin[k] - step * libm::floor(origin[k] / step);
            while at < side {
                let at_text = tenths(at);
                let _ = match k {
                    0 => write!(d, "M{at_text} 0v{}", canvas.height),
                    _ => write!(d, "M0 {at_text}h{}", canvas.width),
                };
                at += step;
            }
        }
        let _ = writeln!(
            out,
            "<path d=\"{d}\" fill=\"none\" stroke=\"#e3e6ea\" stroke-width=\".7\"/>"
        );
    }

    /// The line of a mark in pixels, closed if it is.
    fn outline(&self, mark: &Mark) -> Vec<[f64; 2]> {
        let mut line: Vec<[f64; 2]> = mark.points.iter().map(|p| self.pixel(*p)).collect();
        if matches!(mark.shape, Shape::Path { closed: true }) {
            line.extend(line.first().copied());
        }
        line
    }

    fn element(&self, mark: &Mark, labels: &mut Labels) -> Option<String> {
        let points: Vec<[f64; 2]> = mark.points.iter().map(|p| self.pixel(*p)).collect();
        let first = *points.first()?;
        let second = points.get(1).copied();
        Some(match &mark.shape {
            Shape::Path { closed } => path(&thinned(&points), *closed)?,
            Shape::Dot { radius } => {
                let r = radius.map_or(4.0, |r| (r * self.scale).max(1.5));
                let [x, y] = first.map(tenths);
                format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\"/>", tenths(r))
            }
            Shape::Arrow => arrow(first, second?)?,
            Shape::Spring { turns, thickness } => {
                path(&zigzag([first, second?], *turns, thickness * self.scale), false)?
            }
            Shape::Text { text, beside } => {
                let [x, y] = labels.place(text, first, *beside);
                format!("<text x=\"{}\" y=\"{}\">{}</text>", tenths(x), tenths(y), escape(text))
            }
        })
    }
}

/// A line and a head of at most ten pixels.
fn arrow(from: [f64; 2], to: [f64; 2]) -> Option<String> {
    let along = [to[0] - from[0], to[1] - from[1]];
    let length = libm::hypot(along[0], along[1]);
    if length < 2.0 {
        return None;
    }
    let head = (0.6 * length).min(10.0);
    let u = along.map(|x| x / length);
    let neck = [to[0] - head * u[0], to[1] - head * u[1]];
    let wing = |s: f64| [neck[0] - s * head * u[1], neck[1] + s * head * u[0]];
    let line = path(&[from, neck], false)?;
    Some(line + &path(&[to, wing(0.4), wing(-0.4)], true)?)
}

fn zigzag([p, q]: [[f64; 2]; 2], turns: u32, thickness: f64) -> Vec<[f64; 2]> {
    let along = [q[0] - p[0], q[1] - p[1]];
    let length = libm::hypot(along[0], along[1]).max(1e-9);
    let side = [-along[1] / length * thickness, along[0] / length * thickness];
    let n = 2 * turns.max(1);
    let corner = |k: u32| {
        let s = 0.12 + 0.76 * f64::from(k) / f64::from(n);
        let w = if k == 0 || k == n {
            0.0
        } else if k % 2 == 1 {
            0.5
        } else {
            -0.5
        };
        [p[0] + s * along[0] + w * side[0], p[1] + s * along[1] + w * side[1]]
    };
    std::iter::once(p).chain((0..=n).map(corner)).chain([q]).collect()
}

/// `M12.5 80l.3-1.2…`; nothing of fewer than two points.
fn path(points: &[[f64; 2]], closed: bool) -> Option<String> {
    let whole = |p: &[f64; 2]| p.map(|x| libm::round(x * 10.0) as i64);
    let (first, rest) = points.split_first()?;
    let mut at = whole(first);
    let mut d = format!("M{} {}", decimal(at[0]), decimal(at[1]));
    let mut command = 'l';
    for p in rest {
        let next = whole(p);
        let [x, y] = [decimal(next[0] - at[0]), decimal(next[1] - at[1])];
        let before =
            if command == ' ' && x.starts_with('-') { "" } else { &command.to_string() };
        let between = if y.starts_with('-') { "" } else { " " };
        let _ = write!(d, "{before}{x}{between}{y}");
        (at, command) = (next, ' ');
    }
    if closed {
        d.push('z');
    }
    (!rest.is_empty()).then(|| format!("<path d=\"{d}\"/>"))
}

/// Tenths as a decimal number.
fn decimal(tenths: i64) -> String {
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match (size / 10, size % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

fn tenths(x: f64) -> String {
    decimal(libm::round(x * 10.0) as i64)
}

/// The points without which the line would be seen to change. [Douglas and Peucker 1973]
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut kept = vec![false; points.len()];
    let last = points.len() - 1;
    (kept[0], kept[last]) = (true, true);
    let mut open = vec![[0, last]];
    while let Some([a, b]) = open.pop() {
        let far = (a + 1..b)
            .map(|k| (k, distance(points[k], points[a], points[b])))
            .max_by(|x, y| x.1.total_cmp(&y.1));
        if let Some((k, _)) = far.filter(|(_, d)| *d > THINNED) {
            kept[k] = true;
            open.extend([[a, k], [k, b]]);
        }
    }
    points.iter().zip(kept).filter(|(_, k)| *k).map(|(p, _)| *p).collect()
}

/// Of a point from a segment.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (u, v) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = u[0] * u[0] + u[1] * u[1];
    let s =
        if square > 0.0 { ((u[0] * v[0] + u[1] * v[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    libm::hypot(v[0] - s * u[0], v[1] - s * u[1])
}

/// 1, 2 or 5 times a power of ten, near a length.
fn round_length(length: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(length)));
    let part = length / power;
    let digit = if part < 1.5 {
        1.0
    } else if part < 3.5 {
        2.0
    } else if part < 7.5 {
        5.0
    } else {
        10.0
    };
    digit * power
}

/// The colours of the animation on light ground.
fn rgb(colour: Colour) -> [f64; 3] {
    match colour {
        Colour::Ink => [27.0, 31.0, 36.0],
        Colour::Grey => [104.0, 112.0, 122.0],
        Colour::Blue => [0.0, 114.0, 178.0],
        Colour::Orange => [184.0, 110.0, 0.0],
        Colour::Green => [0.0, 128.0, 93.0],
        Colour::Red => [196.0, 78.0, 0.0],
        Colour::Purple => [168.0, 84.0, 138.0],
        Colour::Sky => [47.0, 143.0, 201.0],
        Colour::Yellow => [138.0, 125.0, 0.0],
    }
}

fn hex(rgb: [f64; 3]) -> String {
    let [r, g, b] = rgb.map(|x| libm::round(x) as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_lines_stay_near_the_full_ones() {
        let circle: Vec<[f64; 2]> = (0..=400)
            .map(|k| f64::from(k) / 200.0 * 3.2)
            .map(|a| [50.0 * libm::cos(a), 50.0 * libm::sin(a)])
            .collect();
        let short = thinned(&circle);
        assert!((20..80).contains(&short.len()), "{} points", short.len());
        for p in &circle {
            let near = short
                .windows(2)
                .map(|w| distance(*p, w[0], w[1]))
                .fold(f64::INFINITY, f64::min);
            assert!(near <= THINNED, "{p:?} is {near} away");
        }
        assert_eq!(thinned(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]).len(), 2);
    }

    #[test]
    fn paths_are_relative_and_short() {
        let points = [[1.0, 2.0], [1.5, 1.0], [0.5, 1.0], [0.5, 31.26]];
        assert_eq!(path(&points, true).unwrap(), "<path d=\"M1 2l.5-1-1 0 0 30.3z\"/>");
        assert!(path(&points[..1], false).is_none());
    }

    #[test]
    fn an_arrow_that_cannot_be_seen_is_left_out() {
        assert!(arrow([0.0, 0.0], [1.0, 0.0]).is_none());
        assert_eq!(arrow([0.0, 0.0], [30.0, 0.0]).unwrap().matches("<path").count(), 2);
    }
}
