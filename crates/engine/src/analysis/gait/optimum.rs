//! The ellipse in shape space that carries a body farthest for its length.
//!
//! The family is $r_i = c_i + p_i\cos s + q_i\sin s$ for the first two shapes, the others staying where they are.
//! What is
//! made large is the net translation over the loop (of $x$ and $y$ together for $SE(2)$, of the first coordinate
//! otherwise) in parts of the length, by the simplex method of Nelder and Mead 1965 from several circles.

use std::f64::consts::TAU;

use pfaff_model::Workspace;

use crate::analysis::gait::connection::{Connection, Factor, moved, relative};
use crate::analysis::gait::shape_loop::{ShapeLoop, initial};
use crate::error::Failure;

/// Steps of the quick lift, and most evaluations of a search.
const STEPS: usize = 120;
const EVALUATIONS: usize = 400;
/// Loops on which the body is so many times as fast as the shapes count as singular.
const FASTEST: f64 = 10.0;

/// The best ellipse within a distance from the initial shapes.
pub(crate) fn best_loop(
    connection: &mut Connection,
    model: &Workspace,
    shape: &[usize],
    within: f64,
    watch: &mut dyn FnMut() -> bool,
) -> Result<ShapeLoop, Failure> {
    if shape.len() < 2 {
        return Err(Failure::usage(
            "with one shape every loop goes back as it came: a gait needs at least two shapes",
        ));
    }
    let names: Vec<&str> = shape.iter().map(|&k| model.coordinates[k].name.as_str()).collect();
    let start = initial(model, shape);
    let build = |x: &[f64]| {
        // Into the box: what would leave it is made smaller.
        let reach = |i: usize| x[i].abs() + libm::hypot(x[2 + i], x[4 + i]);
        let part = [0, 1].map(|i| (within / reach(i).max(1e-12)).min(1.0));
        let (mut centre, mut cos, mut sin) =
            (start.clone(), vec![0.0; shape.len()], vec![0.0; shape.len()]);
        for i in 0..2 {
            centre[i] += part[i] * x[i];
            (cos[i], sin[i]) = (part[i] * x[2 + i], part[i] * x[4 + i]);
        }
        ShapeLoop::ellipse(&names, centre, cos, sin)
    };
    let mut value = |x: &[f64]| -> f64 {
        let path = build(x);
        let length = path.length();
        match quick(connection, &path) {
            // Loops that are hardly there have no efficiency worth the name.
            Some(found) if length > 1e-3 * within => -found / length,
            _ => 0.0,
        }
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    let starts = [[0.0, 0.0], [0.4, 0.4], [-0.4, 0.4], [0.4, -0.4]];
    for centre in starts {
        if !watch() {
            break;
        }
        let a = 0.5 * within;
        let x = vec![centre[0] * within, centre[1] * within, a, 0.0, 0.0, a];
        let found = simplex(x, 0.25 * within, &mut value);
        if best.as_ref().is_none_or(|(known, _)| found.0 < *known) {
            best = Some(found);
        }
    }
    match best {
        Some((found, x)) if found < -1e-9 => Ok(build(&x)),
        _ => Err(Failure::usage(
            "no loop of this family carries the body anywhere: the connection is flat there, or has no value",
        )),
    }
}

/// The net translation over a loop, by Runge and Kutta's method.
fn quick(connection: &mut Connection, path: &ShapeLoop) -> Option<f64> {
    let factors = connection.factors.clone();
    let mut g = vec![0.0; connection.group.len()];
    let step = TAU / STEPS as f64;
    let mut side = None;
    let mut rate = |s: f64, g: &[f64]| -> Option<Vec<f64>> {
        let (r, dr) = path.at(s);
        let body = connection.body_velocity(&r, &dr)?;
        // Across a singular shape nothing is determined, and beside it every answer is large.
        let (fast, slow) = (norm(&body), norm(&dr));
        let is_other = side.is_some() && side != connection.side;
        side = connection.side;
        (!is_other && fast <= FASTEST * slow).then(|| moved(&factors, g, &body))
    };
    let ahead = |g: &[f64], k: &[f64], h: f64| -> Vec<f64> {
        g.iter().zip(k).map(|(g, k)| g + h * k).collect()
    };
    for i in 0..STEPS {
        let s = step * i as f64;
        let k1 = rate(s, &g)?;
        let k2 = rate(s + 0.5 * step, &ahead(&g, &k1, 0.5 * step))?;
        let k3 = rate(s + 0.5 * step, &ahead(&g, &k2, 0.5 * step))?;
        let k4 = rate(s + step, &ahead(&g, &k3, step))?;
        for (j, g) in g.iter_mut().enumerate() {
            *g += step / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
        }
    }
    let start = vec![0.0; g.len()];
    let moved = relative(&factors, &start, &g);
    let size = match factors.first()? {
        Factor::Plane => libm::hypot(moved[0], moved[1]),
        Factor::Shift => moved[0].abs(),
    };
    size.is_finite().then_some(size)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The least value near a start, and where it is.
fn simplex(
    start: Vec<f64>,
    size: f64,
    value: &mut dyn FnMut(&[f64]) -> f64,
) -> (f64, Vec<f64>) {
    let n = start.len();
    let mut corners: Vec<(f64, Vec<f64>)> = vec![(value(&start), start.clone())];
    for k in 0..n {
        let mut x = start.clone();
        x[k] += size;
        corners.push((value(&x), x));
    }
    let mut left = EVALUATIONS;
    while left > 0 {
        corners.sort_by(|a, b| a.0.total_cmp(&b.0));
        let spread = corners[n].0 - corners[0].0;
        if spread.abs() < 1e-9 * (1e-12 + corners[0].0.abs()) {
            break;
        }
        let middle: Vec<f64> = (0..n)
            .map(|j| corners[..n].iter().map(|c| c.1[j]).sum::<f64>() / n as f64)
            .collect();
        let worst = corners[n].1.clone();
        let along = |part: f64| -> Vec<f64> {
            middle.iter().zip(&worst).map(|(m, w)| m + part * (m - w)).collect()
        };
        let mut tried = |part: f64| {
            let x = along(part);
            left = left.saturating_sub(1);
            (value(&x), x)
        };
        let reflected = tried(1.0);
        let next = if reflected.0 < corners[0].0 {
            let farther = tried(2.0);
            if farther.0 < reflected.0 { farther } else { reflected }
        } else if reflected.0 < corners[n - 1].0 {
            reflected
        } else {
            tried(if reflected.0 < corners[n].0 { 0.5 } else { -0.5 })
        };
        if next.0 < corners[n].0 {
            corners[n] = next;
            continue;
        }
        let best = corners[0].1.clone();
        for corner in &mut corners[1..] {
            corner.1 = corner.1.iter().zip(&best).map(|(x, b)| 0.5 * (x + b)).collect();
            corner.0 = value(&corner.1);
            left = left.saturating_sub(1);
        }
    }
    corners.sort_by(|a, b| a.0.total_cmp(&b.0));
    corners.swap_remove(0)
}
