//! A drawing at chosen times → one picture: the trails so far, the system at the last time, and faint copies
//! of it at the earlier ones.
//!
//! The camera is that of the animation: orthographic, with the axes right, above and towards the eye,
//! $p \mapsto (p\cdot r,\; p\cdot a)$. What is farther away is drawn first.

use crate::number::short;
use pfaff::Model;
use pfaff_expr::Expr;
use pfaff_model::{Colour, Components, Drawing, Figure, Style};

use super::drawing::drawings_of;
use super::drawing_frames::{Frames, changes};
use super::still_svg::{Canvas, Fill, Mark, Shape, svg};
use super::vector::{Vector, add, cross, dot, finite, unit};
use pfaff::Motion;

/// Size of a picture in pixels, and the times that it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Still {
    /// From side to side.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
    /// Times of the motion. The system is drawn at the last one, and faintly at the others. A single time is
    /// shown as the `view` of the model says; several times are all within the picture.
    pub times: Vec<f64>,
}

/// Corners of a circle.
const CORNERS: usize = 32;

/// Pieces of a trail in space, each with its own distance from the eye.
const TRAIL_PIECES: usize = 48;

/// The picture of a motion, as an SVG file.
///
/// ```
/// use pfaff::{Model, Run};
/// use pfaff_present::report::{Still, still};
///
/// let model = Model::gallery("sleigh")?;
/// let motion = model.run(&Run::default())?;
/// let look = Still { width: 320.0, height: 200.0, times: vec![2.0, 5.0] };
/// assert!(still(&model, &motion, &look).starts_with("<svg"));
/// # Ok::<(), pfaff::Error>(())
/// ```
pub fn still(model: &Model, motion: &Motion, look: &Still) -> String {
    let model = &model.workspace();
    let drawings = drawings_of(model);
    let frames = Frames::new(model, motion, &drawings, 1, &mut Vec::new());
    let spatial = drawings.iter().any(|d| d.figure.is_spatial());
    let last = frames.at(look.times.last().copied().unwrap_or(frames.span[1]));
    let mut camera = Camera::of(&drawings, &frames, last, spatial);
    if look.times.len() > 1 {
        (camera.middle, camera.seen) = (None, None);
    }
    let mut marks = Vec::new();
    let (now, earlier) = look.times.split_last().map_or((last, &[][..]), |(_, e)| (last, e));
    for &time in earlier {
        let mut eye =
            Eye { frames: &frames, camera: &camera, frame: frames.at(time), marks: &mut marks };
        for drawing in drawings.iter().filter(|d| leaves_a_copy(&d.figure, &frames)) {
            eye.faintly(drawing);
        }
    }
    let mut eye = Eye { frames: &frames, camera: &camera, frame: now, marks: &mut marks };
    drawings.iter().for_each(|drawing| eye.figure(&drawing.figure, &drawing.style));
    if spatial {
        marks.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    }
    let canvas = Canvas {
        width: look.width,
        height: look.height,
        middle: camera.middle,
        seen: camera.seen,
    };
    svg(&motion.title, &canvas, &marks, !spatial)
}

/// Bodies that move are shown at earlier times too; trails, arrows, texts and the ground are not.
fn leaves_a_copy(figure: &Figure, frames: &Frames) -> bool {
    let body = match figure {
        Figure::Point { .. }
        | Figure::Line { .. }
        | Figure::Spring { .. }
        | Figure::Circle { .. }
        | Figure::Ellipsoid { .. }
        | Figure::Box { .. }
        | Figure::Wheel { .. } => true,
        Figure::Trail { .. }
        | Figure::Arrow { .. }
        | Figure::Text { .. }
        | Figure::Surface { .. }
        | Figure::View { .. } => false,
    };
    body && figure.expressions().iter().any(|&e| changes(frames.column(e)))
}

/// Where the eye is, and what it looks at.
struct Camera {
    right: Vector,
    above: Vector,
    eye: Vector,
    /// The middle of the picture, if the view says it.
    middle: Option<[f64; 2]>,
    /// What is seen from side to side, if the view says it.
    seen: Option<f64>,
}

impl Camera {
    fn of(drawings: &[Drawing], frames: &Frames, frame: usize, spatial: bool) -> Self {
        let view = drawings.iter().rev().find_map(|d| match &d.figure {
            Figure::View { from, up, at, size } => Some((from, up, at, size)),
            _ => None,
        });
        let place = |c: &Option<Components>| c.as_ref().map(|c| frames.place(c, frame));
        let (from, up, at, size) =
            view.map_or((None, None, None, None), |(from, up, at, size)| {
                (place(from), place(up), place(at), size.map(|e| frames.value(e, frame)))
            });
        let (mut right, mut above, mut eye) =
            ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        if spatial {
            let up = unit(up.unwrap_or([0.0, 0.0, 1.0]));
            eye = unit(from.unwrap_or([0.75, -1.0, 0.6]));
            right = unit(cross(up, eye));
            above = cross(eye, right);
        }
        let middle = at.filter(finite).map(|p| [dot(p, right), dot(p, above)]);
        Self { right, above, eye, middle, seen: size.filter(|s| *s > 0.0) }
    }

    fn flat(&self, p: Vector) -> [f64; 2] {
        [dot(p, self.right), dot(p, self.above)]
    }
}

/// Turns figures at one frame into marks.
struct Eye<'a> {
    frames: &'a Frames,
    camera: &'a Camera,
    frame: usize,
    marks: &'a mut Vec<Mark>,
}

/// How the marks of one figure look.
struct Pen<'a> {
    style: &'a Style,
    colour: Colour,
    width: f64,
}

impl<'a> Pen<'a> {
    fn new(style: &'a Style, colour: Colour, width: f64) -> Self {
        Self {
            style,
            colour: style.colour.unwrap_or(colour),
            width: style.width.unwrap_or(width),
        }
    }
}

impl Eye<'_> {
    fn faintly(&mut self, drawing: &Drawing) {
        let style = Style { label: None, faint: true, ..drawing.style.clone() };
        self.figure(&drawing.figure, &style);
    }

    fn place(&self, components: &Components) -> Vector {
        self.frames.place(components, self.frame)
    }

    fn value(&self, e: Expr) -> f64 {
        self.frames.value(e, self.frame)
    }

    fn figure(&mut self, figure: &Figure, style: &Style) {
        match figure {
            Figure::Point { at, radius } => {
                let at = self.place(at);
                let pen = Pen::new(style, Colour::Blue, 1.0);
                let radius = radius.map(|r| self.value(r).abs());
                self.push(&pen, &[at], Shape::Dot { radius }, Fill::Solid);
                self.label(style, at);
            }
            Figure::Line { points, closed } => self.line(points, *closed, style),
            Figure::Spring { from, to, turns, thickness } => {
                let ends = [self.place(from), self.place(to)];
                let thickness = self.value(*thickness);
                let pen = Pen::new(style, Colour::Grey, 1.5);
                self.push(&pen, &ends, Shape::Spring { turns: *turns, thickness }, Fill::None);
            }
            Figure::Circle { .. } => self.circle(figure, style),
            Figure::Ellipsoid { centre, axes } => self.ellipsoid(centre, axes, style),
            Figure::Box { centre, edges } => self.solid_box(centre, edges, style),
            Figure::Wheel { centre, edges } => {
                let pen = Pen::new(style, Colour::Ink, 1.0);
                let corners = self.rectangle(centre, edges);
                self.push(&pen, &corners, Shape::Path { closed: true }, Fill::Solid);
            }
            Figure::Trail { at } => self.trail(at, style),
            Figure::Arrow { at, along } => {
                let at = self.place(at);
                let tip = add(at, self.place(along), 1.0);
                let pen = Pen::new(style, Colour::Red, 1.8);
                self.push(&pen, &[at, tip], Shape::Arrow, Fill::Solid);
                self.label(style, tip);
            }
            Figure::Text { text, value, at } => {
                let at = self.place(at);
                let number = value.map(|e| format!(" {}", short(self.value(e))));
                let text = format!("{text}{}", number.unwrap_or_default());
                self.text(at, text, style.colour.unwrap_or(Colour::Ink), false);
            }
            Figure::Surface { points, columns } => self.surface(points, *columns, style),
            Figure::View { .. } => {}
        }
    }

    fn line(&mut self, points: &[Components], closed: bool, style: &Style) {
        let points: Vec<Vector> = points.iter().map(|p| self.place(p)).collect();
        let pen = Pen::new(style, Colour::Ink, 2.0);
        let fill = if closed && style.fill { Fill::Tint(0.35) } else { Fill::None };
        self.push(&pen, &points, Shape::Path { closed }, fill);
        if let Some(&end) = points.last() {
            self.label(style, end);
        }
    }

    fn circle(&mut self, figure: &Figure, style: &Style) {
        let Figure::Circle { centre, radius, axis, spoke, solid } = figure else { return };
        let (c, r) = (self.place(centre), self.value(*radius));
        let axis = unit(axis.as_ref().map_or([0.0, 0.0, 1.0], |a| self.place(a)));
        let spoke = spoke.as_ref().map(|s| self.place(s));
        let first = match spoke {
            Some(s) => unit(add(s, axis, -dot(s, axis))),
            None => across(axis),
        };
        let second = cross(axis, first);
        let pen = Pen::new(style, if *solid { Colour::Sky } else { Colour::Ink }, 1.6);
        let lit = dot(axis, self.camera.eye).abs();
        let fill = if *solid || style.fill { Fill::Tint(0.3 + 0.35 * lit) } else { Fill::None };
        self.push(&pen, &ring(c, [first, second], r), Shape::Path { closed: true }, fill);
        if spoke.is_some() {
            let ends = [add(c, first, -r), add(c, first, r)];
            let thin = Pen { width: 1.0, ..pen };
            self.push(&thin, &ends, Shape::Path { closed: false }, Fill::None);
            let ink = Pen { colour: Colour::Ink, ..thin };
            self.push(
                &ink,
                &[add(c, first, 0.82 * r)],
                Shape::Dot { radius: Some(0.07 * r) },
                Fill::Solid,
            );
        }
        self.label(style, c);
    }

    fn ellipsoid(&mut self, centre: &Components, axes: &[Components], style: &Style) {
        let c = self.place(centre);
        let axes: Vec<Vector> = axes.iter().map(|a| self.place(a)).collect();
        let pen = Pen::new(style, Colour::Sky, 1.2);
        match axes[..] {
            [a, b] => {
                self.push(
                    &pen,
                    &ring(c, [a, b], 1.0),
                    Shape::Path { closed: true },
                    Fill::Tint(0.35),
                );
                let arm =
                    Pen { colour: style.colour.unwrap_or(Colour::Blue), width: 1.0, ..pen };
                for v in [a, b] {
                    let ends = [add(c, v, -1.0), add(c, v, 1.0)];
                    self.push(&arm, &ends, Shape::Path { closed: false }, Fill::None);
                }
            }
            [a, b, d] => self.ball(c, [a, b, d], &pen),
            _ => {}
        }
        self.label(style, c);
    }

    /// An ellipsoid in space: its outline, and the near halves of three circles of the body.
    fn ball(&mut self, c: Vector, axes: [Vector; 3], pen: &Pen<'_>) {
        // The outline is the image of a circle under a triangular root of P Pᵀ.
        let flat = axes.map(|a| self.camera.flat(a));
        let sum = |i: usize, j: usize| flat.iter().map(|p| p[i] * p[j]).sum::<f64>();
        let l = libm::sqrt(sum(0, 0)).max(1e-300);
        let m = sum(0, 1) / l;
        let n = libm::sqrt((sum(1, 1) - m * m).max(0.0));
        let (right, above) = (self.camera.right, self.camera.above);
        let first = add(right.map(|x| x * l), above, m);
        let outline = ring(c, [first, above.map(|x| x * n)], 1.0);
        self.push(pen, &outline, Shape::Path { closed: true }, Fill::Shade);
        // A point A u of the surface is near where u·w > 0 with A w = eye.
        let [a, b, d] = axes;
        let volume = dot(a, cross(b, d));
        let w =
            [cross(b, d), cross(d, a), cross(a, b)].map(|r| dot(r, self.camera.eye) / volume);
        if !finite(&w) {
            return;
        }
        for k in 0..3 {
            let (e, f) = (k, (k + 1) % 3);
            let depth = dot(c, self.camera.eye) + 1e-6 * l;
            let mut near = Vec::new();
            for i in 0..=CORNERS {
                let [cosine, sine] = turn(i);
                if cosine * w[e] + sine * w[f] > 0.0 {
                    near.push(add(add(c, axes[e], cosine), axes[f], sine));
                } else if near.len() > 1 {
                    self.arc(pen, k, std::mem::take(&mut near), depth);
                } else {
                    near.clear();
                }
            }
            self.arc(pen, k, near, depth);
        }
    }

    fn arc(&mut self, pen: &Pen<'_>, k: usize, points: Vec<Vector>, depth: f64) {
        let colour = if k == 0 { Colour::Ink } else { pen.colour };
        let thin = Pen { style: pen.style, colour, width: if k == 0 { 1.4 } else { 0.8 } };
        self.push(&thin, &points, Shape::Path { closed: false }, Fill::None);
        if let Some(mark) = self.marks.last_mut() {
            mark.depth = depth;
        }
    }

    fn solid_box(&mut self, centre: &Components, edges: &[Components], style: &Style) {
        let pen = Pen::new(style, Colour::Sky, 1.4);
        if edges.len() == 2 {
            let corners = self.rectangle(centre, edges);
            self.push(&pen, &corners, Shape::Path { closed: true }, Fill::Tint(0.35));
        }
        let c = self.place(centre);
        if let [a, b, d] = edges.iter().map(|e| self.place(e)).collect::<Vec<_>>()[..] {
            for (a, b, d) in [(a, b, d), (b, d, a), (d, a, b)] {
                let normal = unit(cross(b, d));
                let outward = if dot(normal, a) >= 0.0 { 1.0 } else { -1.0 };
                let side =
                    if outward * dot(normal, self.camera.eye) >= 0.0 { 1.0 } else { -1.0 };
                let face = corners(add(c, a, side), b, d);
                let lit = dot(normal, self.camera.eye).abs();
                self.push(
                    &pen,
                    &face,
                    Shape::Path { closed: true },
                    Fill::Tint(0.22 + 0.5 * lit),
                );
            }
        }
        self.label(style, c);
    }

    fn rectangle(&self, centre: &Components, edges: &[Components]) -> Vec<Vector> {
        let edge = |k: usize| edges.get(k).map_or([0.0; 3], |e| self.place(e));
        corners(self.place(centre), edge(0), edge(1))
    }

    fn trail(&mut self, at: &Components, style: &Style) {
        let points = self.frames.trail(at, self.frame);
        let pen = Pen::new(style, Colour::Orange, 1.5);
        let whole = self.camera.eye == [0.0, 0.0, 1.0];
        let pieces = if whole { 1 } else { TRAIL_PIECES };
        let step = points.len().div_ceil(pieces).max(1);
        for first in (0..points.len()).step_by(step) {
            let piece = &points[first..(first + step + 1).min(points.len())];
            self.push(&pen, piece, Shape::Path { closed: false }, Fill::None);
        }
    }

    /// The lines of a surface, behind everything else.
    fn surface(&mut self, points: &[Components], columns: usize, style: &Style) {
        let points: Vec<Vector> = points.iter().map(|p| self.place(p)).collect();
        let rows: Vec<&[Vector]> = points.chunks(columns.max(1)).collect();
        let mut lines: Vec<Vec<Vector>> = rows.iter().map(|row| row.to_vec()).collect();
        lines.extend(
            (0..columns).map(|k| rows.iter().filter_map(|r| r.get(k)).copied().collect()),
        );
        let pen = Pen::new(style, Colour::Grey, 0.5);
        for line in lines {
            self.push(&pen, &line, Shape::Path { closed: false }, Fill::None);
            if let Some(mark) = self.marks.last_mut() {
                mark.depth = f64::NEG_INFINITY;
            }
        }
    }

    fn label(&mut self, style: &Style, at: Vector) {
        if let Some(text) = &style.label {
            self.text(at, text.clone(), Colour::Ink, true);
        }
    }

    fn text(&mut self, at: Vector, text: String, colour: Colour, beside: bool) {
        let style = Style::default();
        let pen = Pen { style: &style, colour, width: 0.0 };
        self.push(&pen, &[at], Shape::Text { text, beside }, Fill::Solid);
        if let Some(mark) = self.marks.last_mut() {
            mark.depth = f64::INFINITY;
        }
    }

    /// Adds a mark; points that are not finite are left out.
    fn push(&mut self, pen: &Pen<'_>, points: &[Vector], shape: Shape, fill: Fill) {
        let good: Vec<Vector> = points.iter().copied().filter(finite).collect();
        let depth =
            good.iter().map(|p| dot(*p, self.camera.eye)).sum::<f64>() / good.len() as f64;
        self.marks.push(Mark {
            depth,
            points: good.into_iter().map(|p| self.camera.flat(p)).collect(),
            shape,
            fill,
            colour: pen.colour,
            width: pen.width,
            dashed: pen.style.dashed,
            faint: pen.style.faint,
        });
    }
}

/// Cosine and sine of the corners of a circle.
fn turn(i: usize) -> [f64; 2] {
    let angle = i as f64 * 2.0 * std::f64::consts::PI / CORNERS as f64;
    [libm::cos(angle), libm::sin(angle)]
}

/// The ellipse with two half axes around a point.
fn ring(c: Vector, [a, b]: [Vector; 2], size: f64) -> Vec<Vector> {
    let corner = |i| {
        let [cosine, sine] = turn(i);
        add(add(c, a, size * cosine), b, size * sine)
    };
    (0..CORNERS).map(corner).collect()
}

/// The corners of a parallelogram from its middle and half edges.
fn corners(c: Vector, a: Vector, b: Vector) -> Vec<Vector> {
    let signs = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
    signs.iter().map(|[s, u]| add(add(c, a, *s), b, *u)).collect()
}

/// A direction across another one.
fn across(axis: Vector) -> Vector {
    let a = axis.map(f64::abs);
    let least = usize::from(a[1] < a[0]);
    let k = if a[2] < a[least] { 2 } else { least };
    let mut other = [0.0; 3];
    other[k] = 1.0;
    unit(cross(axis, other))
}
