//! A figure → marks on paper: frame, ticks, texts, curves thinned to what can be seen.
//!
//! Nothing overlaps: the margins are as wide as their texts, and as many ticks are drawn as have room.

use super::decimate::thinned;
use super::metrics::{fitted, width};
use super::ticks::{Scale, Ticks};
use super::{Anchor, Curve, Figure, Look, Mark, Paint, PaperPoint, Points, Style, Text};

/// Lengths of the ticks with and without label, in a file.
const TICK: f64 = 6.0;
const MINOR: f64 = 3.0;
impl Style {
    /// The size of texts.
    fn size(self) -> f64 {
        match self {
            Self::Paper => 15.0,
            Self::Page => 12.0,
        }
    }

    /// The size of the title.
    fn title(self) -> f64 {
        self.size() + 2.0
    }
}

/// Between two texts at least.
const GAP: f64 = 10.0;
/// Points of one curve at most.
pub(crate) const POINTS: usize = 2500;

/// A figure laid out.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Left, top, width and height of the frame.
    pub(crate) frame: [f64; 4],
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    /// Grid, frame, texts.
    pub(crate) back: Vec<Mark>,
    /// Tick labels and grid lines of the two axes.
    pub(crate) ticks: [Vec<Mark>; 2],
    /// The pieces of each curve.
    pub(crate) curves: Vec<Drawing>,
    /// Polygons behind them, with their colours.
    pub(crate) areas: Vec<(Vec<PaperPoint>, Paint)>,
}

/// A curve on paper.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) colour: usize,
    pub(crate) dash: usize,
    pub(crate) pieces: Vec<Vec<PaperPoint>>,
}

/// Lays a figure out.
pub(crate) fn layout(figure: &Figure<'_>, look: Look) -> Drawn {
    layout_within(figure, look, POINTS)
}

/// As [`layout`], with at most about `most` points for each curve.
pub(crate) fn layout_within(figure: &Figure<'_>, look: Look, most: usize) -> Drawn {
    let corners =
        |k: usize| figure.areas.iter().flat_map(move |a| a.points.iter().map(move |p| p[k]));
    let across = || figure.curves.iter().flat_map(|c| c.x.iter().copied()).chain(corners(0));
    let upwards = || figure.curves.iter().flat_map(|c| c.y.iter().copied()).chain(corners(1));
    let mut x = Scale::of(across(), figure.x.log);
    let mut y = Scale::of(upwards(), figure.y.log);
    if !figure.equal && over_time(&figure.curves) {
        x = x.tight(across());
    }
    if figure.curves.is_empty() && !figure.equal && !figure.areas.is_empty() {
        // Cells fill the frame.
        y = y.tight(upwards());
    }
    let style = look.style;
    let size = style.size();
    let mut back = Vec::new();
    let mut top = if look.axes { 10.0 } else { 3.0 };
    if !figure.title.is_empty() && look.axes {
        let words = fitted(&figure.title, style.title(), look.width - 20.0, style);
        let at = PaperPoint::new(look.width / 2.0, top + style.title() - 2.0);
        let text = Text { names: false, ..text(words, at, Anchor::Middle, Paint::Ink, style) };
        back.push(Mark::Text(Text { size: style.title(), ..text }));
        top += 12.0 + style.title();
    }
    let named = figure.areas.iter().filter(|area| !area.name.is_empty()).count();
    if look.legend && look.axes && (named > 0 || figure.curves.len() > 1) {
        top = legend(figure, look, top, &mut back);
    }
    let bottom = if look.axes { 21.0 + 2.0 * size } else { 3.0 };
    let inner = (look.height - top - bottom).max(20.0);
    let count = (inner / 42.0).clamp(1.0, 8.0) as usize;
    let mut left = 3.0;
    let right = if look.axes { 14.0 } else { 3.0 };
    if look.axes {
        // NOTE: with equal units the vertical scale may still grow, and its labels by a character.
        let ticks = y.ticks(count);
        let widest = ticks.marks.iter().map(|m| width(&m.1, size, style)).fold(0.0, f64::max);
        left = 18.0 + size + widest + if figure.equal { 8.0 } else { 0.0 };
    }
    let frame = [left, top, (look.width - left - right).max(20.0), inner];
    if figure.equal {
        (x, y) = equal_units(x, y, frame);
    }
    let mut ticks = [Vec::new(), Vec::new()];
    if look.axes {
        let [fx, fy, w, h] = frame;
        let vertical = y.ticks(count);
        let horizontal = fitting(x, w, style);
        ticks = [x_marks(&horizontal, frame, style), y_marks(&vertical, frame, style)];
        let mut outline = vec![(fx, fy), (fx, fy + h), (fx + w, fy + h)];
        let mut paint = Paint::Muted;
        if style == Style::Paper {
            outline.extend([(fx + w, fy), (fx, fy), (fx, fy + h)]);
            paint = Paint::Ink;
        }
        let points = outline.into_iter().map(|(x, y)| PaperPoint::new(x, y)).collect();
        back.push(Mark::Line { points, paint, width: 1.0, dash: 0 });
        let label = fitted(&format!("{}{}", figure.x.label, horizontal.unit), size, w, style);
        let at = PaperPoint::new(left + w / 2.0, look.height - 8.0);
        back.push(Mark::Text(text(label, at, Anchor::Middle, Paint::Ink, style)));
        let label = fitted(&format!("{}{}", figure.y.label, vertical.unit), size, h, style);
        let at = PaperPoint::new(size + 3.0, top + h / 2.0);
        let upwards = text(label, at, Anchor::Middle, Paint::Ink, style);
        back.push(Mark::Text(Text { upwards: true, ..upwards }));
    }
    let curves = figure.curves.iter().map(|c| drawing(c, x, y, frame, most)).collect();
    let [fx, fy, w, h] = frame;
    let point =
        |&[a, b]: &[f64; 2]| PaperPoint::new(fx + x.place(a) * w, fy + h - y.place(b) * h);
    let painted = figure.areas.iter().map(|area| {
        let points: Vec<PaperPoint> = area.points.iter().map(point).collect();
        (points, Paint::Rgb(area.colour))
    });
    let is_seen = |(points, _): &(Vec<PaperPoint>, Paint)| {
        points.len() > 2 && points.iter().all(|p| p.x.is_finite() && p.y.is_finite())
    };
    let areas = painted.filter(is_seen).collect();
    let (width, height) = (look.width, look.height);
    Drawn { width, height, frame, x, y, back, ticks, curves, areas }
}

/// Whether all abscissae rise.
fn over_time(curves: &[Curve<'_>]) -> bool {
    curves.iter().all(|c| c.x.windows(2).all(|w| w[0] <= w[1]))
}

/// The scales widened until a unit is as long in both directions.
fn equal_units(mut x: Scale, mut y: Scale, frame: [f64; 4]) -> (Scale, Scale) {
    let per = ((x.high - x.low) / frame[2]).max((y.high - y.low) / frame[3]);
    let grow = |s: &mut Scale, length: f64| {
        let middle = s.low / 2.0 + s.high / 2.0;
        (s.low, s.high) = (middle - per * length / 2.0, middle + per * length / 2.0);
    };
    grow(&mut x, frame[2]);
    grow(&mut y, frame[3]);
    (x, y)
}

/// As many ticks as have room side by side.
fn fitting(x: Scale, room: f64, style: Style) -> Ticks {
    let measured = |label: &str| width(label, style.size(), style);
    let mut count = 8;
    loop {
        let ticks = x.ticks(count);
        let near = ticks.marks.windows(2).any(|w| {
            (w[1].0 - w[0].0) * room < f64::midpoint(measured(&w[0].1), measured(&w[1].1)) + GAP
        });
        if !near || count <= 1 {
            return ticks;
        }
        count -= 1;
    }
}

fn x_marks(ticks: &Ticks, [left, top, w, h]: [f64; 4], style: Style) -> Vec<Mark> {
    let size = style.size();
    let mut marks = Vec::new();
    let across =
        |x: f64, from: f64, to: f64| vec![PaperPoint::new(x, from), PaperPoint::new(x, to)];
    if style == Style::Paper {
        for x in ticks.minor.iter().map(|place| left + place * w) {
            marks.push(tick(across(x, top + h, top + h - MINOR)));
            marks.push(tick(across(x, top, top + MINOR)));
        }
    }
    for (place, label) in &ticks.marks {
        let x = left + place * w;
        match style {
            Style::Paper => {
                marks.push(tick(across(x, top + h, top + h - TICK)));
                marks.push(tick(across(x, top, top + TICK)));
            }
            Style::Page => marks.push(grid(across(x, top, top + h))),
        }
        // A label at an end of the axis stays on the paper.
        let half = width(label, size, style) / 2.0;
        let at = PaperPoint::new(x.min(left + w + 12.0 - half), top + h + size + 5.0);
        marks.push(Mark::Text(text(
            label.clone(),
            at,
            Anchor::Middle,
            tick_paint(style),
            style,
        )));
    }
    marks
}

fn y_marks(ticks: &Ticks, [left, top, w, h]: [f64; 4], style: Style) -> Vec<Mark> {
    let size = style.size();
    let mut marks = Vec::new();
    let across =
        |y: f64, from: f64, to: f64| vec![PaperPoint::new(from, y), PaperPoint::new(to, y)];
    if style == Style::Paper {
        for y in ticks.minor.iter().map(|place| top + h - place * h) {
            marks.push(tick(across(y, left, left + MINOR)));
            marks.push(tick(across(y, left + w, left + w - MINOR)));
        }
    }
    for (place, label) in &ticks.marks {
        let y = top + h - place * h;
        match style {
            Style::Paper => {
                marks.push(tick(across(y, left, left + TICK)));
                marks.push(tick(across(y, left + w, left + w - TICK)));
            }
            Style::Page => marks.push(grid(across(y, left, left + w))),
        }
        let at = PaperPoint::new(left - 6.0, y + size / 3.0);
        marks.push(Mark::Text(text(label.clone(), at, Anchor::End, tick_paint(style), style)));
    }
    marks
}

fn grid(points: Vec<PaperPoint>) -> Mark {
    Mark::Line { points, paint: Paint::Grid, width: 1.0, dash: 0 }
}

fn tick(points: Vec<PaperPoint>) -> Mark {
    Mark::Line { points, paint: Paint::Ink, width: 0.8, dash: 0 }
}

fn tick_paint(style: Style) -> Paint {
    match style {
        Style::Paper => Paint::Ink,
        Style::Page => Paint::Muted,
    }
}

fn text(words: String, at: PaperPoint, anchor: Anchor, paint: Paint, style: Style) -> Text {
    Text { at, anchor, upwards: false, size: style.size(), paint, words, names: true }
}

/// Names with a piece of their lines, row by row from `top` on; gives where the rows end.
fn legend(figure: &Figure<'_>, look: Look, top: f64, marks: &mut Vec<Mark>) -> f64 {
    const SAMPLE: f64 = 28.0;
    let style = look.style;
    let size = style.size();
    let (mut x, mut y) = (20.0, top + size - 2.0);
    let lines =
        figure.curves.iter().map(|c| (&c.name, Paint::Curve(c.colour), 1.8, c.dash, c.points));
    let patches =
        figure.areas.iter().map(|a| (&a.name, Paint::Rgb(a.colour), 9.0, 0, Points::Joined));
    for (name, paint, thickness, dash, kind) in lines.chain(patches).filter(|l| !l.0.is_empty())
    {
        let name = fitted(name, size, look.width - 80.0, style);
        let room = SAMPLE + 6.0 + width(&name, size, style);
        if x + room > look.width - 10.0 && x > 20.0 {
            (x, y) = (20.0, y + 1.5 * size);
        }
        let points = [x, x + SAMPLE].map(|x| PaperPoint::new(x, y - size / 3.0)).to_vec();
        let middle = PaperPoint::new(x + SAMPLE / 2.0, y - size / 3.0);
        let (points, dash) = match kind {
            Points::Joined => (points, dash),
            Points::Dots => (dot(middle), 0),
            Points::Rings => (ring(middle), 0),
        };
        marks.push(Mark::Line { points, paint, width: thickness, dash });
        let at = PaperPoint::new(x + SAMPLE + 6.0, y);
        marks.push(Mark::Text(text(name, at, Anchor::Start, Paint::Ink, style)));
        x += room + 18.0;
    }
    y + size
}

/// A curve in pixels; what is not finite, and what a logarithm cannot show, leaves a gap.
fn drawing(curve: &Curve<'_>, x: Scale, y: Scale, frame: [f64; 4], most: usize) -> Drawing {
    let [left, top, w, h] = frame;
    let mut pieces: Vec<Vec<PaperPoint>> = vec![Vec::new()];
    for (&a, &b) in curve.x.iter().zip(curve.y.iter()) {
        let point = PaperPoint::new(left + x.place(a) * w, top + h - y.place(b) * h);
        if point.x.is_finite() && point.y.is_finite() {
            pieces.last_mut().expect("there is always a last piece").push(point);
        } else if pieces.last().is_some_and(|p| !p.is_empty()) {
            pieces.push(Vec::new());
        }
    }
    pieces.retain(|p| !p.is_empty());
    if curve.points != Points::Joined {
        let pieces = match curve.points {
            Points::Rings => pieces.into_iter().flatten().map(ring).collect(),
            Points::Dots | Points::Joined => distinct(pieces.into_iter().flatten()),
        };
        return Drawing { colour: curve.colour, dash: 0, pieces };
    }
    let total: usize = pieces.iter().map(Vec::len).sum();
    let share = |p: &[PaperPoint]| (most * p.len() / total.max(1)).max(2);
    let pieces = pieces.iter().map(|p| thinned(p, share(p))).collect();
    Drawing { colour: curve.colour, dash: curve.dash, pieces }
}

/// A dot is a line as long as it is wide.
fn dot(at: PaperPoint) -> Vec<PaperPoint> {
    const HALF: f64 = 0.75;
    vec![PaperPoint::new(at.x - HALF, at.y), PaperPoint::new(at.x + HALF, at.y)]
}

/// A ring as a closed line.
fn ring(at: PaperPoint) -> Vec<PaperPoint> {
    const CORNERS: usize = 16;
    const RADIUS: f64 = 4.0;
    let corner = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / CORNERS as f64;
        PaperPoint::new(at.x + RADIUS * libm::cos(angle), at.y + RADIUS * libm::sin(angle))
    };
    (0..=CORNERS).map(corner).collect()
}

/// Dots at points, of those in one half of a pixel only the first.
fn distinct(points: impl Iterator<Item = PaperPoint>) -> Vec<Vec<PaperPoint>> {
    let cell = |p: &PaperPoint| ((2.0 * p.x).floor() as i64, (2.0 * p.y).floor() as i64);
    let mut seen = std::collections::BTreeSet::new();
    points.filter(|p| seen.insert(cell(p))).map(dot).collect()
}
