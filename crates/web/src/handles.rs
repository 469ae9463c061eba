//! Points of the drawing that a hand can move: where they start, how fast, and which start puts one elsewhere.
//!
//! A point $P(q)$ of the plane is moved to $P^*$ by the smallest change of the coordinates that it depends on,
//! $\delta q = J^\top (J J^\top)^{-1} (P^* - P)$ with $J = \partial P/\partial q$, damped and repeated until it is
//! there or as near as it comes. [Marquardt 1963] Its velocity $J \dot q$ is set in the same way, in one step.

use pfaff::{Model, Motion};
use pfaff_expr::Expr;
use pfaff_model::{Drawing, Figure, Workspace};
use pfaff_present::report::drawing::drawings_of;
use serde_json::{Map, Value, json};

use crate::question::{Fault, Question};

/// More points than this are not offered.
const MOST: usize = 12;
/// Steps on the way of a hand.
const STEPS: u32 = 16;
/// The damping where nothing stands in the way.
const LEAST: f64 = 1e-8;
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

    /// Brings a point as near to a place as it comes, by so many steps at most of Levenberg and Marquardt's method.
    fn towards(
        &self,
        point: [Expr; 2],
        target: [f64; 2],
        mut q: Vec<f64>,
        most: usize,
    ) -> Vec<f64> {
        for _ in 0..most {
            let miss = difference(target, self.at(point, &q));
            let jacobian = self.jacobian(point, &q);
            let step = |damping: f64| {
                let change = smallest(&jacobian, miss, damping);
                let next: Vec<f64> = q.iter().zip(&change).map(|(q, d)| q + d).collect();
                let left = length(difference(target, self.at(point, &next)));
                let promised = length(difference(miss, times(&jacobian, &change)));
                // A step counts if it keeps a quarter of what it promises.
                let gain = length(miss) - left;
                (gain > 1e-12 * length(miss) && gain > 0.25 * (length(miss) - promised))
                    .then_some(next)
            };
            let Some(next) =
                [LEAST, 1e-4, 0.01, 0.1, 1.0, 10.0, 100.0].into_iter().find_map(step)
            else {
                break;
            };
            q = next;
        }
        q
    }
}

fn difference(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn length(a: [f64; 2]) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}

/// $J x$
fn times(jacobian: &[[f64; 2]], x: &[f64]) -> [f64; 2] {
    jacobian.iter().zip(x).fold([0.0; 2], |s, (j, x)| [s[0] + j[0] * x, s[1] + j[1] * x])
}

/// The smallest $\delta$ with $J \delta = d$, held back by damping: a stretched arm does not get longer, and must not
/// fly off.
fn smallest(jacobian: &[[f64; 2]], d: [f64; 2], damping: f64) -> Vec<f64> {
    let dot = |i: usize, k: usize| jacobian.iter().map(|j| j[i] * j[k]).sum::<f64>();
    let (a, b, c) = (dot(0, 0), dot(0, 1), dot(1, 1));
    let damping = damping * (a + c);
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
        let change = smallest(&jacobian, difference(target, now), LEAST);
        v.iter_mut().zip(&change).for_each(|(v, d)| *v += d);
        for (k, c) in
            workspace.coordinates.iter().enumerate().filter(|(k, _)| change[*k] != 0.0)
        {
            answer.insert(format!("{}'", c.name), json!(v[k]));
        }
        return Ok(json!({"initial": answer}));
    }
    let before = q.clone();
    let from = start.at(point, &q);
    // In small steps, as a hand goes: a leap would wind angles up.
    for k in 1..=STEPS {
        let part = f64::from(k) / f64::from(STEPS);
        let on_the_way = [0, 1].map(|i| from[i] + part * (target[i] - from[i]));
        q = start.towards(point, on_the_way, q, if k < STEPS { 6 } else { 30 });
    }
    for (k, c) in workspace.coordinates.iter().enumerate() {
        if q[k] != before[k] {
            answer.insert(c.name.clone(), json!(q[k]));
        }
    }
    Ok(json!({"initial": answer}))
}
