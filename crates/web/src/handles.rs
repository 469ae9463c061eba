//! Points of the drawing that a hand can move: where they are at the start, how fast, and which start puts one elsewhere.
//!
//! A point $P(q)$ of the plane is moved to $P^*$ by the smallest change of the coordinates that it depends on,
//! $\delta q = J^\top (J J^\top)^{-1} (P^* - P)$ with $J = \partial P/\partial q$, repeated until it is there or as near
//! as it comes. Its velocity $J \dot q$ is set in the same way, in one step.

use pfaff::{Model, Motion};
use pfaff_expr::Expr;
use pfaff_model::{Drawing, Figure, Workspace};
use pfaff_present::report::drawing::drawings_of;
use serde_json::{Map, Value, json};

use crate::question::{Fault, Question};

/// More points than this are not offered.
const MOST: usize = 12;
/// Models with more coordinates have no handles: every one of them would be asked for at each move.
const LARGEST: usize = 60;

/// Points of a drawing in the plane that depend on coordinates alone.
pub(crate) fn points(model: &Workspace) -> Vec<[Expr; 2]> {
    if model.coordinates.len() > LARGEST || !model.terminal.is_empty() {
        return Vec::new();
    }
    let drawings = drawings_of(model);
    if drawings.iter().any(|d| d.figure.is_spatial()) {
        return Vec::new();
    }
    let positions: Vec<Expr> = model.coordinates.iter().map(|c| c.position).collect();
    let mut found: Vec<[Expr; 2]> = Vec::new();
    for place in drawings.iter().flat_map(places) {
        let &[x, y] = place.as_slice() else { continue };
        let moves = [x, y].iter().any(|&e| model.graph.contains(e, &positions));
        if moves && !found.contains(&[x, y]) {
            found.push([x, y]);
        }
    }
    // What needs velocities or multipliers is no point of the start alone: it has no value here.
    let rest = vec![0.3; positions.len()];
    found.retain(|&p| Start { model, t: 0.0 }.at(p, &rest).iter().all(|x| x.is_finite()));
    found.truncate(MOST);
    found
}

/// The places of a figure, those first that look as if one could take hold of them.
fn places(drawing: &Drawing) -> Vec<&Vec<Expr>> {
    match &drawing.figure {
        Figure::Point { at, .. } | Figure::Trail { at } => vec![at],
        Figure::Circle { centre, .. }
        | Figure::Box { centre, .. }
        | Figure::Wheel { centre, .. }
        | Figure::Ellipsoid { centre, .. } => vec![centre],
        Figure::Line { points, closed: false } if points.len() <= 8 => points.iter().collect(),
        Figure::Spring { from, to, .. } => vec![from, to],
        _ => Vec::new(),
    }
}

/// The points of a model with the values of its parameters.
struct Start<'a> {
    model: &'a Workspace,
    t: f64,
}

impl Start<'_> {
    fn at(&self, point: [Expr; 2], q: &[f64]) -> [f64; 2] {
        let model = self.model;
        let symbol = |s: Expr| {
            if s == model.time {
                return self.t;
            }
            let coordinate = model.coordinates.iter().position(|c| c.position == s);
            let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
            coordinate.map(|k| q[k]).or_else(parameter).unwrap_or(f64::NAN)
        };
        let values = model.graph.evaluate(&point, &symbol);
        [values[0], values[1]]
    }

    /// $\partial P/\partial q$, one column for each coordinate, by central differences: a hand is no better.
    fn jacobian(&self, point: [Expr; 2], q: &[f64]) -> Vec<[f64; 2]> {
        let column = |k: usize| {
            let step = 1e-6 * q[k].abs().max(1.0);
            let moved = |by: f64| {
                let mut q = q.to_vec();
                q[k] += by;
                self.at(point, &q)
            };
            let (a, b) = (moved(-step), moved(step));
            [(b[0] - a[0]) / (2.0 * step), (b[1] - a[1]) / (2.0 * step)]
        };
        (0..q.len()).map(column).collect()
    }
}

/// $J x$
fn times(jacobian: &[[f64; 2]], x: &[f64]) -> [f64; 2] {
    jacobian.iter().zip(x).fold([0.0; 2], |s, (j, x)| [s[0] + j[0] * x, s[1] + j[1] * x])
}

/// The smallest $\delta$ with $J \delta = d$, or as near as it comes where $J$ loses rank.
fn smallest(jacobian: &[[f64; 2]], d: [f64; 2]) -> Vec<f64> {
    let dot = |i: usize, k: usize| jacobian.iter().map(|j| j[i] * j[k]).sum::<f64>();
    let (a, b, c) = (dot(0, 0), dot(0, 1), dot(1, 1));
    // Damped by a little: a stretched arm does not get longer, and must not fly off.
    let damping = 1e-4 * (a + c);
    let (a, c) = (a + damping, c + damping);
    let det = a * c - b * b;
    let w = [(c * d[0] - b * d[1]) / det, (a * d[1] - b * d[0]) / det];
    let delta = |j: &[f64; 2]| j[0] * w[0] + j[1] * w[1];
    jacobian.iter().map(|j| Some(delta(j)).filter(|x| x.is_finite()).unwrap_or(0.0)).collect()
}

/// The handles at the start of a motion: places and velocities.
pub(crate) fn of(model: &Model, motion: &Motion) -> Value {
    let workspace = &model.workspace();
    let first = |series: &[pfaff::Series]| -> Vec<f64> {
        series.iter().map(|s| s.values.first().copied().unwrap_or(f64::NAN)).collect()
    };
    let (q, v) = (first(&motion.q), first(&motion.v));
    if q.len() != workspace.coordinates.len() || v.len() != q.len() {
        return json!([]);
    }
    let start = Start { model: workspace, t: motion.t.first().copied().unwrap_or(0.0) };
    let one = |(k, point): (usize, [Expr; 2])| {
        let at = start.at(point, &q);
        let velocity = times(&start.jacobian(point, &q), &v);
        let is_there = at.iter().chain(&velocity).all(|x| x.is_finite());
        is_there.then(|| json!({"point": k + 1, "at": at, "velocity": velocity}))
    };
    points(workspace).into_iter().enumerate().filter_map(one).collect()
}

/// The initial values that put a point at a place, or give it a velocity.
pub(crate) fn drag(model: &Model, question: Question<'_>) -> Result<Value, Fault> {
    let workspace = &model.workspace();
    let list = points(workspace);
    let point = question.count("point", MOST)?.unwrap_or(1) - 1;
    let &point = list
        .get(point)
        .ok_or_else(|| Fault::Question("there is no such point to drag".to_owned()))?;
    let target = [
        question.number("x")?.unwrap_or(0.0), //
        question.number("y")?.unwrap_or(0.0),
    ];
    let mut q = question.numbers("q", workspace.coordinates.len())?;
    let start = Start { model: workspace, t: question.number("t0")?.unwrap_or(0.0) };
    let mut answer = Map::new();
    if let Some(mut v) = question.optional_numbers("v", workspace.coordinates.len())? {
        let jacobian = start.jacobian(point, &q);
        let now = times(&jacobian, &v);
        let change = smallest(&jacobian, [target[0] - now[0], target[1] - now[1]]);
        v.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
        for (k, c) in
            workspace.coordinates.iter().enumerate().filter(|(k, _)| change[*k] != 0.0)
        {
            answer.insert(format!("{}'", c.name), json!(v[k]));
        }
        return Ok(json!({"initial": answer}));
    }
    let before = q.clone();
    let distance = |q: &[f64]| {
        let now = start.at(point, q);
        let miss = [target[0] - now[0], target[1] - now[1]];
        (miss[0] * miss[0] + miss[1] * miss[1]).sqrt()
    };
    for _ in 0..40 {
        let now = start.at(point, &q);
        let miss = [target[0] - now[0], target[1] - now[1]];
        let change = smallest(&start.jacobian(point, &q), miss);
        let moved = |part: f64| -> Vec<f64> {
            q.iter().zip(&change).map(|(q, d)| q + part * d).collect()
        };
        // The longest of these steps that comes nearer; none where it is as near as it can be.
        let steps = [1.0, 0.5, 0.25, 0.125, 0.06, 0.03, 0.015];
        let far = distance(&q) * (1.0 - 1e-12);
        let Some(next) = steps.map(moved).into_iter().find(|next| distance(next) < far) else {
            break;
        };
        q = next;
    }
    for (k, c) in workspace.coordinates.iter().enumerate() {
        if q[k] != before[k] {
            answer.insert(c.name.clone(), json!(q[k]));
        }
    }
    Ok(json!({"initial": answer}))
}
