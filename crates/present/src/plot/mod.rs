//! Curves as figures: SVG, PDF and PNG files for papers, SVG inside pages.
//!
//! ```text
//! Figure ─► Drawn (frame, ticks, curves thinned to what can be seen) ─► svg, pdf, png
//! ```
//!
//! All lengths are CSS pixels, 1/96 inch. Colours are those of Okabe and Ito, some darkened so that every
//! line stands out from the paper by 3:1; dashes distinguish the curves where colours do not.

mod decimate;
mod label;
mod layout;
mod metrics;
mod pdf;
mod png;
mod svg;
mod terminal;
pub(crate) mod ticks;
mod typeface;

pub(crate) use layout::{layout, layout_within};
pub(crate) use svg::embedded;
pub(crate) use terminal::Plot;

use std::borrow::Cow;

/// Curves over common axes.
#[derive(Clone, Debug, Default)]
pub struct Figure<'a> {
    /// Above the figure, if not empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first one on top of the others.
    pub curves: Vec<Curve<'a>>,
    /// Painted behind the curves, the first one undermost.
    pub areas: Vec<Area>,
    /// Whether a unit is as long upwards as it is sideways.
    pub equal: bool,
}

/// A painted polygon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Area {
    /// In the legend, if not empty.
    pub name: String,
    /// Its corners.
    pub points: Vec<[f64; 2]>,
    /// Red, green, blue.
    pub colour: [u8; 3],
}

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// Whether equal lengths are equal ratios.
    pub log: bool,
}

/// A line through points; what is not finite leaves a gap.
#[derive(Clone, Debug, Default)]
pub struct Curve<'a> {
    /// In the legend.
    pub name: String,
    /// Abscissae.
    pub x: Cow<'a, [f64]>,
    /// Ordinates, as many.
    pub y: Cow<'a, [f64]>,
    /// Which colour.
    pub colour: usize,
    /// Which dashes; 0 is a full line.
    pub dash: usize,
    /// How its points are drawn.
    pub points: Points,
}

/// How the points of a curve are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// Joined by a line.
    #[default]
    Joined,
    /// Each as a dot.
    Dots,
    /// Each as a ring.
    Rings,
}

/// How a figure is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// Whether a legend stands above the frame when there is more than one curve.
    pub legend: bool,
    /// Whether axes and their texts are drawn.
    pub axes: bool,
    /// Where the figure will stand.
    pub style: Style,
}

/// Where a figure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In a file of its own: names set as mathematics in the embedded font, a closed frame with ticks inside.
    Paper,
    /// In a page: names as the model writes them in the font of the page, grid lines.
    Page,
}

impl Default for Look {
    fn default() -> Self {
        Self { width: 640.0, height: 400.0, legend: true, axes: true, style: Style::Paper }
    }
}

impl Figure<'_> {
    /// As a file of its own, white paper included.
    pub fn to_svg(&self, look: Look) -> String {
        svg::file(self, &layout(self, look))
    }

    /// As a PDF page of the figure's size.
    pub fn to_pdf(&self, look: Look) -> Vec<u8> {
        pdf::file(&layout(self, look))
    }

    /// As pixels; `scale` of them for each CSS pixel.
    pub fn to_png(&self, look: Look, scale: f64) -> Vec<u8> {
        png::file(&layout(self, look), scale)
    }
}

/// A point on paper, from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PaperPoint {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl PaperPoint {
    pub(crate) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// A mark on paper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// A polyline.
    Line {
        points: Vec<PaperPoint>,
        paint: Paint,
        width: f64,
        dash: usize,
    },
    Text(Text),
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    /// The end, middle or beginning of its base line.
    pub(crate) at: PaperPoint,
    pub(crate) anchor: Anchor,
    /// Whether it runs upwards.
    pub(crate) upwards: bool,
    pub(crate) size: f64,
    pub(crate) paint: Paint,
    pub(crate) words: String,
    /// Whether the words are names of quantities.
    pub(crate) names: bool,
}

impl Text {
    /// In the embedded font: its glyphs, and how far the beginning of the line lies before `at`.
    fn set(&self) -> (label::Line, f64) {
        let line =
            if self.names { label::label(&self.words) } else { label::text(&self.words) };
        let before = self.size
            * line.width
            * match self.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            };
        (line, before)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// What a mark is painted with.
pub(crate) enum Paint {
    /// Texts and axes.
    Ink,
    /// Frame and tick labels.
    Muted,
    /// Grid lines.
    Grid,
    /// A curve, by its colour.
    Curve(usize),
    /// An area.
    Rgb([u8; 3]),
}

/// Colours of curves on white: blue, vermilion, green, purple, black, orange, sky blue, brown.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#008060", "#b0508a", "#1a1a1a", "#a87400", "#3a8fc4", "#7a4a2b"];

/// How many colours there are.
pub(crate) const COLOUR_COUNT: usize = COLOURS.len();

impl Paint {
    /// `#rrggbb` on white paper.
    fn hex(self) -> String {
        match self {
            Self::Ink => "#1a1a1a".to_owned(),
            Self::Muted => "#595959".to_owned(),
            Self::Grid => "#dcdcdc".to_owned(),
            Self::Curve(i) => COLOURS[i % COLOURS.len()].to_owned(),
            Self::Rgb([r, g, b]) => format!("#{r:02x}{g:02x}{b:02x}"),
        }
    }

    /// Red, green, blue from 0 to 1.
    pub(crate) fn rgb(self) -> [f64; 3] {
        let hex = self.hex();
        [1, 3, 5].map(|i| {
            let byte = u8::from_str_radix(&hex[i..i + 2], 16);
            f64::from(byte.expect("the colours above are hexadecimal")) / 255.0
        })
    }
}

/// The width of a curve.
pub(crate) const CURVE: f64 = 1.6;

/// Lengths of ink and gap, over and over.
pub(crate) fn dashes(style: usize) -> &'static [f64] {
    const STYLES: [&[f64]; 6] = [
        &[],
        &[7.0, 3.0],
        &[2.0, 2.5],
        &[9.0, 3.0, 2.0, 3.0],
        &[13.0, 4.0],
        &[6.0, 2.5, 1.5, 2.5, 1.5, 2.5],
    ];
    STYLES[style % STYLES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_figure_gives_the_same_bytes() {
        let t: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
        let y: Vec<f64> = t.iter().map(|&t| libm::sin(t)).collect();
        let figure = || Figure {
            title: "Größe".into(),
            x: Axis { label: "t".into(), log: false },
            y: Axis { label: "phi[1,2]', lambda(blade)".into(), log: false },
            curves: vec![
                Curve {
                    name: "phi'".into(),
                    x: (&t).into(),
                    y: (&y).into(),
                    colour: 0,
                    dash: 1,
                    points: Points::Joined,
                };
                2
            ],
            areas: Vec::new(),
            equal: false,
        };
        let look = Look::default();
        assert_eq!(figure().to_svg(look), figure().to_svg(look));
        assert_eq!(figure().to_pdf(look), figure().to_pdf(look));
        assert_eq!(figure().to_png(look, 2.0), figure().to_png(look, 2.0));
    }
}
