//! Drawings with their values → the data of the player.
//!
//! A figure names columns of numbers, one number for each frame; a column that never changes is one number.
//! In a scene with anything in space what lies
//! in the plane lies at height zero.

use pfaff_expr::Expr;
use pfaff_model::{Components, Drawing, Figure, Style, Workspace};

use serde_json::Value;

use crate::json::{number, numbers, object, string};
use crate::report::drawing_frames::{Frames, changes};

/// Digits of a number in a column, after the first digit of the largest.
const DIGITS: i32 = 4;

/// What is shown, ready to be written.
pub(crate) struct Scene {
    pub(crate) spatial: bool,
    shapes: Vec<Value>,
    view: Option<Value>,
    bounds: Bounds,
}

impl Scene {
    pub(crate) fn new(model: &Workspace, drawings: &[Drawing], frames: &Frames) -> Self {
        let spatial = drawings.iter().any(|d| d.figure.is_spatial());
        let lower = Lowering { model, frames, spatial };
        let mut shapes = Vec::new();
        let mut view = None;
        for drawing in drawings {
            match lower.figure(&drawing.figure) {
                Some(mut entries) => {
                    style(&mut entries, &drawing.style);
                    shapes.push(object(entries));
                }
                None => view = lower.view(&drawing.figure).or(view),
            }
        }
        Self { spatial, shapes, view, bounds: lower.bounds(drawings) }
    }

    pub(crate) fn to_json(&self, frames: &Frames) -> Value {
        let [columns, trails] = frames.columns();
        let dimension = if self.spatial { 3 } else { 2 };
        let list =
            |columns: &[Vec<f64>]| Value::Array(columns.iter().map(|c| column(c)).collect());
        let corner = |corner: &[f64; 3]| numbers(&corner[..dimension]);
        object([
            ("dimension", Value::from(dimension as u64)),
            ("start", number(frames.span[0])),
            ("end", number(frames.span[1])),
            ("frames", Value::from(frames.count() as u64)),
            ("bounds", Value::Array(self.bounds.corners().iter().map(corner).collect())),
            ("view", self.view.clone().unwrap_or(Value::Null)),
            ("shapes", Value::Array(self.shapes.clone())),
            ("columns", list(columns)),
            ("trails", list(trails)),
        ])
    }
}

type Entries = Vec<(&'static str, Value)>;

/// Figures into entries of the data.
struct Lowering<'a> {
    model: &'a Workspace,
    frames: &'a Frames,
    spatial: bool,
}

impl Lowering<'_> {
    /// The entries of a figure; none of a view.
    fn figure(&self, figure: &Figure) -> Option<Entries> {
        let at = |c: &Components| self.place(c);
        let many =
            |list: &[Components]| Value::Array(list.iter().map(|c| self.place(c)).collect());
        let kind = |word: &str| ("kind", string(word));
        Some(match figure {
            Figure::Point { at: p, radius } => {
                let mut entries = vec![kind("point"), ("at", at(p))];
                entries.extend(radius.map(|r| ("radius", self.number(r))));
                entries
            }
            Figure::Line { points, closed } => {
                let kind = kind(if *closed { "polygon" } else { "line" });
                vec![kind, ("points", many(points))]
            }
            Figure::Spring { from, to, turns, thickness } => vec![
                kind("spring"),
                ("points", Value::Array(vec![at(from), at(to)])),
                ("turns", Value::from(u64::from(*turns))),
                ("thickness", self.number(*thickness)),
            ],
            Figure::Circle { centre, radius, axis, spoke, solid } => {
                let kind = kind(if *solid { "disk" } else { "circle" });
                let mut entries =
                    vec![kind, ("at", at(centre)), ("radius", self.number(*radius))];
                entries.extend(axis.as_ref().map(|a| ("axis", at(a))));
                entries.extend(spoke.as_ref().map(|s| ("spoke", at(s))));
                entries
            }
            Figure::Ellipsoid { centre, axes } => {
                vec![kind("ellipsoid"), ("at", at(centre)), ("axes", many(axes))]
            }
            Figure::Box { centre, edges } => {
                vec![kind("box"), ("at", at(centre)), ("axes", many(edges))]
            }
            Figure::Wheel { centre, edges } => {
                vec![kind("wheel"), ("at", at(centre)), ("axes", many(edges))]
            }
            Figure::Trail { at: p } => {
                let mut columns: Vec<Value> =
                    p.iter().map(|&e| Value::from(self.frames.trail_index(e) as u64)).collect();
                if self.spatial && columns.len() == 2 {
                    columns.push(Value::Null);
                }
                vec![kind("trail"), ("at", Value::Array(columns))]
            }
            Figure::Arrow { at: p, along } => {
                vec![kind("arrow"), ("at", at(p)), ("along", at(along))]
            }
            Figure::Text { text, value, at: p } => {
                let mut entries = vec![kind("text"), ("at", at(p)), ("text", string(text))];
                entries.extend(value.map(|v| ("value", self.number(v))));
                entries
            }
            Figure::Surface { points, columns } => vec![
                kind("surface"),
                ("points", many(points)),
                ("columns", Value::from(*columns as u64)),
            ],
            Figure::View { .. } => return None,
        })
    }

    fn view(&self, figure: &Figure) -> Option<Value> {
        let Figure::View { from, up, at, size } = figure else { return None };
        let place = |c: &Option<Components>| c.as_ref().map_or(Value::Null, |c| self.place(c));
        Some(object([
            ("from", place(from)),
            ("up", place(up)),
            ("at", place(at)),
            ("size", size.map_or(Value::Null, |s| self.number(s))),
        ]))
    }

    fn number(&self, e: Expr) -> Value {
        Value::from(self.frames.index(e) as u64)
    }

    /// The columns of a point, with a third one in space.
    fn place(&self, components: &Components) -> Value {
        let mut columns: Vec<Value> = components.iter().map(|&e| self.number(e)).collect();
        if self.spatial && columns.len() == 2 {
            columns.push(self.number(self.model.graph.zero()));
        }
        Value::Array(columns)
    }

    /// The box around everything at all times.
    fn bounds(&self, drawings: &[Drawing]) -> Bounds {
        let mut bounds = Bounds::default();
        for drawing in drawings {
            self.include(&drawing.figure, &mut bounds);
        }
        // Arrows may double the box and no more: a force may be infinite at the start.
        let room = bounds.grown(1.0);
        let mut tips = bounds.clone();
        for drawing in drawings {
            if let Figure::Arrow { at, along } = &drawing.figure {
                for i in 0..self.frames.count() {
                    let tip: Vec<f64> = at
                        .iter()
                        .zip(along)
                        .map(|(&a, &b)| self.at(a, i) + self.at(b, i))
                        .collect();
                    tips.include(&tip, &[0.0; 3]);
                }
            }
        }
        tips.within(&room)
    }

    fn include(&self, figure: &Figure, bounds: &mut Bounds) {
        let [_, trails] = self.frames.columns();
        if let Figure::Trail { at } = figure {
            let columns: Vec<&[f64]> =
                at.iter().map(|&e| &trails[self.frames.trail_index(e)][..]).collect();
            for i in 0..columns.first().map_or(0, |c| c.len()) {
                let point: Vec<f64> = columns.iter().map(|c| c[i]).collect();
                bounds.include(&point, &[0.0; 3]);
            }
            return;
        }
        for i in 0..self.frames.count() {
            let value = |e: &Expr| self.at(*e, i);
            let values = |c: &Components| -> Vec<f64> { c.iter().map(value).collect() };
            match figure {
                Figure::Point { at, radius } => {
                    let r = radius.as_ref().map_or(0.0, value).abs();
                    bounds.include(&values(at), &[r; 3]);
                }
                Figure::Line { points, .. } | Figure::Surface { points, .. } => {
                    points.iter().for_each(|p| bounds.include(&values(p), &[0.0; 3]));
                }
                Figure::Spring { from, to, .. } => {
                    [from, to].iter().for_each(|p| bounds.include(&values(p), &[0.0; 3]));
                }
                Figure::Circle { centre, radius, axis, .. } => {
                    let r = value(radius).abs();
                    let reach = axis.as_ref().map_or([r; 3], |a| ring(&values(a), r));
                    bounds.include(&values(centre), &reach);
                }
                Figure::Ellipsoid { centre, axes } => {
                    bounds.include(&values(centre), &reach(axes, value, true));
                }
                Figure::Box { centre, edges } | Figure::Wheel { centre, edges } => {
                    bounds.include(&values(centre), &reach(edges, value, false));
                }
                Figure::Arrow { at, .. } | Figure::Text { at, .. } => {
                    bounds.include(&values(at), &[0.0; 3]);
                }
                Figure::Trail { .. } | Figure::View { .. } => {}
            }
        }
    }

    fn at(&self, e: Expr, i: usize) -> f64 {
        self.frames.columns()[0][self.frames.index(e)].get(i).copied().unwrap_or(f64::NAN)
    }
}

/// How far an ellipsoid or a box goes from its centre along each direction.
fn reach(axes: &[Components], value: impl Fn(&Expr) -> f64, round: bool) -> [f64; 3] {
    let mut reach = [0.0; 3];
    for axis in axes {
        for (r, e) in reach.iter_mut().zip(axis) {
            let x = value(e);
            *r += if round { x * x } else { x.abs() };
        }
    }
    if round { reach.map(libm::sqrt) } else { reach }
}

/// How far a circle across an axis goes from its centre along each direction.
fn ring(axis: &[f64], radius: f64) -> [f64; 3] {
    let square: f64 = axis.iter().map(|x| x * x).sum();
    std::array::from_fn(|k| {
        let x = axis.get(k).copied().unwrap_or(0.0);
        let sine = if square > 0.0 { libm::sqrt((1.0 - x * x / square).max(0.0)) } else { 1.0 };
        radius * sine
    })
}

/// Smallest and largest coordinates.
#[derive(Clone, Debug)]
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Default for Bounds {
    fn default() -> Self {
        Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] }
    }
}

impl Bounds {
    /// Makes room for what reaches so far around a point; what is not finite is not shown.
    fn include(&mut self, point: &[f64], reach: &[f64; 3]) {
        if point.iter().chain(reach).any(|x| !x.is_finite()) {
            return;
        }
        for k in 0..3 {
            let x = point.get(k).copied().unwrap_or(0.0);
            let r = if k < point.len() { reach[k] } else { 0.0 };
            self.low[k] = self.low[k].min(x - r);
            self.high[k] = self.high[k].max(x + r);
        }
    }

    /// With a margin of this part of the largest side.
    fn grown(&self, part: f64) -> Self {
        let side = (0..3).map(|k| self.high[k] - self.low[k]).fold(0.0, f64::max);
        let margin = part * if side > 0.0 { side } else { 1.0 };
        Self { low: self.low.map(|x| x - margin), high: self.high.map(|x| x + margin) }
    }

    fn within(mut self, room: &Self) -> Self {
        for k in 0..3 {
            self.low[k] = self.low[k].max(room.low[k]);
            self.high[k] = self.high[k].min(room.high[k]);
        }
        self
    }

    /// Finite corners, apart from each other.
    fn corners(&self) -> [[f64; 3]; 2] {
        if self.low[0] > self.high[0] || self.low.iter().any(|x| !x.is_finite()) {
            return [[-1.0; 3], [1.0; 3]];
        }
        let side = (0..3).map(|k| self.high[k] - self.low[k]).fold(0.0, f64::max);
        let rounded = |x: f64| digits(x, if side > 0.0 { side } else { 1.0 });
        [self.low.map(rounded), self.high.map(rounded)]
    }
}

/// What a figure looks like.
fn style(entries: &mut Entries, style: &Style) {
    entries.extend(style.colour.map(|c| ("colour", string(c.name()))));
    for (word, is) in [("fill", style.fill), ("dashed", style.dashed), ("faint", style.faint)] {
        if is {
            entries.push((word, Value::Bool(true)));
        }
    }
    entries.extend(style.width.map(|w| ("width", number(w))));
    entries.extend(style.label.as_ref().map(|l| ("label", string(l))));
}

/// The power of ten below a number.
fn exponent(x: f64) -> i32 {
    if x > 0.0 && x.is_finite() { libm::floor(libm::log10(x)) as i32 } else { 0 }
}

/// A number with so many digits as matter beside `scale`.
fn digits(x: f64, scale: f64) -> f64 {
    let unit = exponent(scale) - DIGITS;
    // NOTE: through text, so that what is written is short.
    format!("{:.*}", usize::try_from(-unit).unwrap_or(0).min(300), x).parse().unwrap_or(x)
}

/// A column: one number if it never changes, else `[exponent, first, differences …]` in units of 10^exponent.
fn column(values: &[f64]) -> Value {
    let Some(&first) = values.first() else { return Value::Null };
    if !changes(values) {
        return number(first);
    }
    let largest = values.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let exponent = exponent(largest) - DIGITS;
    let unit = libm::pow(10.0, f64::from(exponent));
    let mut before = 0_i64;
    let mut list = vec![Value::from(i64::from(exponent))];
    for &x in values {
        if !x.is_finite() {
            list.push(Value::Null);
            continue;
        }
        let now = libm::round(x / unit) as i64;
        list.push(Value::from(now - before));
        before = now;
    }
    Value::Array(list)
}
