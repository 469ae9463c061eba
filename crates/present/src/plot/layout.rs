//! A figure → marks on paper: frame, ticks, texts, curves thinned to what can be seen.
//!
//! Nothing overlaps: the margins are as wide as their texts, and as many ticks are drawn as have room.

use super::decimate::thinned;
use super::metrics::{fitted, width};
use super::ticks::{Scale, Ticks};
use super::{Anchor, Curve, Figure, Look, Mark, Paint, Text};

/// The size of texts.
const SIZE: f64 = 12.0;
const TITLE: f64 = 14.0;
/// Between two texts at least.
const GAP: f64 = 10.0;
/// Points of one curve at most.
pub(crate) const POINTS: usize = 2500;

/// A figure laid out.
#[derive(Clone, Debug)]
pub struct Drawn {
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
}

/// A curve on paper.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) colour: usize,
    pub(crate) dash: usize,
    pub(crate) pieces: Vec<Vec<(f64, f64)>>,
}

/// Lays a figure out.
pub fn layout(figure: &Figure<'_>, look: Look) -> Drawn {
    layout_within(figure, look, POINTS)
}

/// As [`layout`], with at most about `most` points for each curve.
pub fn layout_within(figure: &Figure<'_>, look: Look, most: usize) -> Drawn {
    let mut x = Scale::of(figure.curves.iter().flat_map(|c| c.x.iter().copied()), figure.x.log);
    let mut y = Scale::of(figure.curves.iter().flat_map(|c| c.y.iter().copied()), figure.y.log);
    if !figure.equal && over_time(&figure.curves) {
        x = x.tight(figure.curves.iter().flat_map(|c| c.x.iter().copied()));
    }
    let mut back = Vec::new();
    let mut top = if look.axes { 10.0 } else { 3.0 };
    if !figure.title.is_empty() && look.axes {
        let text = fitted(&figure.title, TITLE, look.width - 20.0);
        back.push(text_mark(
            text,
            (look.width / 2.0, top + 12.0),
            Anchor::Middle,
            Paint::Ink,
            TITLE,
        ));
        top += 26.0;
    }
    if look.legend && look.axes && (figure.curves.len() > 1) {
        top = legend(figure, look, top, &mut back);
    }
    let bottom = if look.axes { 45.0 } else { 3.0 };
    let inner = (look.height - top - bottom).max(20.0);
    let count = (inner / 42.0).clamp(1.0, 8.0) as usize;
    let mut left = 3.0;
    let right = if look.axes { 14.0 } else { 3.0 };
    if look.axes {
        // NOTE: with equal units the vertical scale may still grow, and its labels by a character.
        let widest = y.ticks(count).marks.iter().map(|m| width(&m.1, SIZE)).fold(0.0, f64::max);
        left = 30.0 + widest + if figure.equal { 8.0 } else { 0.0 };
    }
    let frame = [left, top, (look.width - left - right).max(20.0), inner];
    if figure.equal {
        (x, y) = equal_units(x, y, frame);
    }
    let mut ticks = [Vec::new(), Vec::new()];
    if look.axes {
        let [_, _, w, h] = frame;
        let vertical = y.ticks(count);
        let horizontal = fitting(x, w);
        ticks = [x_marks(&horizontal, frame), y_marks(&vertical, frame)];
        let [fx, fy, fw, fh] = frame;
        let outline = vec![(fx, fy), (fx, fy + fh), (fx + fw, fy + fh)];
        back.push(Mark::Line { points: outline, paint: Paint::Muted, width: 1.0, dash: 0 });
        let label = fitted(&format!("{}{}", figure.x.label, horizontal.unit), SIZE, w);
        let at = (left + w / 2.0, look.height - 8.0);
        back.push(text_mark(label, at, Anchor::Middle, Paint::Ink, SIZE));
        let label = fitted(&format!("{}{}", figure.y.label, vertical.unit), SIZE, h);
        back.push(Mark::Text(Text {
            at: (15.0, top + h / 2.0),
            anchor: Anchor::Middle,
            upwards: true,
            size: SIZE,
            paint: Paint::Ink,
            words: label,
        }));
    }
    let curves = figure.curves.iter().map(|c| drawing(c, (x, y), frame, most)).collect();
    Drawn { width: look.width, height: look.height, frame, x, y, back, ticks, curves }
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
fn fitting(x: Scale, room: f64) -> Ticks {
    let mut count = 8;
    loop {
        let ticks = x.ticks(count);
        let near = ticks.marks.windows(2).any(|w| {
            (w[1].0 - w[0].0) * room
                < f64::midpoint(width(&w[0].1, SIZE), width(&w[1].1, SIZE)) + GAP
        });
        if !near || count <= 1 {
            return ticks;
        }
        count -= 1;
    }
}

fn x_marks(ticks: &Ticks, [left, top, w, h]: [f64; 4]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (place, label) in &ticks.marks {
        let x = left + place * w;
        let points = vec![(x, top), (x, top + h)];
        marks.push(Mark::Line { points, paint: Paint::Grid, width: 1.0, dash: 0 });
        // A label at an end of the axis stays on the paper.
        let half = width(label, SIZE) / 2.0;
        let at = (x.min(left + w + 12.0 - half), top + h + 19.0);
        marks.push(text_mark(label.clone(), at, Anchor::Middle, Paint::Muted, SIZE));
    }
    marks
}

fn y_marks(ticks: &Ticks, [left, top, w, h]: [f64; 4]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (place, label) in &ticks.marks {
        let y = top + h - place * h;
        let points = vec![(left, y), (left + w, y)];
        marks.push(Mark::Line { points, paint: Paint::Grid, width: 1.0, dash: 0 });
        marks.push(text_mark(
            label.clone(),
            (left - 5.0, y + 4.0),
            Anchor::End,
            Paint::Muted,
            SIZE,
        ));
    }
    marks
}

fn text_mark(text: String, at: (f64, f64), anchor: Anchor, paint: Paint, size: f64) -> Mark {
    Mark::Text(Text { at, anchor, upwards: false, size, paint, words: text })
}

/// Names with a piece of their lines, row by row from `top` on; gives where the rows end.
fn legend(figure: &Figure<'_>, look: Look, top: f64, marks: &mut Vec<Mark>) -> f64 {
    const SAMPLE: f64 = 26.0;
    let (mut x, mut y) = (20.0, top + 10.0);
    for curve in &figure.curves {
        let name = fitted(&curve.name, SIZE, look.width - 80.0);
        let room = SAMPLE + 6.0 + width(&name, SIZE);
        if x + room > look.width - 10.0 && x > 20.0 {
            (x, y) = (20.0, y + 18.0);
        }
        let paint = Paint::Curve(curve.colour);
        let points = vec![(x, y - 4.0), (x + SAMPLE, y - 4.0)];
        marks.push(Mark::Line { points, paint, width: 2.0, dash: curve.dash });
        marks.push(text_mark(name, (x + SAMPLE + 6.0, y), Anchor::Start, Paint::Ink, SIZE));
        x += room + 18.0;
    }
    y + 12.0
}

/// A curve in pixels; what is not finite, and what a logarithm cannot show, leaves a gap.
fn drawing(curve: &Curve<'_>, (x, y): (Scale, Scale), frame: [f64; 4], most: usize) -> Drawing {
    let [left, top, w, h] = frame;
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for (&a, &b) in curve.x.iter().zip(curve.y.iter()) {
        let (px, py) = (left + x.place(a) * w, top + h - y.place(b) * h);
        if px.is_finite() && py.is_finite() {
            pieces.last_mut().expect("there is always a last piece").push((px, py));
        } else if pieces.last().is_some_and(|p| !p.is_empty()) {
            pieces.push(Vec::new());
        }
    }
    pieces.retain(|p| !p.is_empty());
    let total: usize = pieces.iter().map(Vec::len).sum();
    let share = |p: &[(f64, f64)]| (most * p.len() / total.max(1)).max(2);
    let pieces = pieces.iter().map(|p| thinned(p, share(p))).collect();
    Drawing { colour: curve.colour, dash: curve.dash, pieces }
}
