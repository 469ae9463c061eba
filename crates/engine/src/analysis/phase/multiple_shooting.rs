//! Periodic motions by several shots: the period in parts, each beginning at a state of its own.
//!
//! $$ S_i\,\delta w_i + \dot w_i(T/N)\,\delta T/N - \delta w_{i+1} = w_{i+1} - w_i(T/N), \qquad
//!    \sum\dot w_i\cdot\delta w_i = 0 \qquad (\mathrm N) $$
//!
//! Errors grow over one part only, so that orbits are found that are much too unstable for one shot.

use pfaff_solver::least_squares;

use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{Return, Shooter, largest};

const ITERATIONS: usize = 40;

/// A state on the orbit, in its own chart.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) quotient: Quotient,
    pub(crate) y: Vec<f64>,
}

/// A periodic motion near that of a state over about a period, in a number of parts.
pub(crate) fn in_parts(
    shooter: &mut Shooter,
    quotient: &Quotient,
    start: &[f64],
    period: f64,
    count: usize,
    watch: &mut dyn FnMut() -> bool,
) -> Option<(Quotient, Return)> {
    let nodes = bent(shooter, quotient, start, period, count)?;
    refined(shooter, nodes, period, watch)
}

/// States along the motion from one, bent so that it returns.
pub(crate) fn bent(
    shooter: &mut Shooter,
    quotient: &Quotient,
    start: &[f64],
    period: f64,
    count: usize,
) -> Option<Vec<Node>> {
    // Forward, and backward for what runs away.
    let forward = guess(shooter, quotient, start, period, count, 1.0);
    let off = forward.as_ref().map_or(f64::INFINITY, |(_, off)| *off);
    let backward = if off > 0.1 * (1.0 + largest(start)) {
        guess(shooter, quotient, start, period, count, -1.0)
    } else {
        None
    };
    let best = [forward, backward].into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(nodes, _)| nodes)
}

/// The periodic motion to which (N) leads from some states at equal distances in time.
pub(crate) fn refined(
    shooter: &mut Shooter,
    mut nodes: Vec<Node>,
    mut period: f64,
    watch: &mut dyn FnMut() -> bool,
) -> Option<(Quotient, Return)> {
    let count = nodes.len();
    let mut shots = all(shooter, &nodes, period)?;
    for _ in 0..ITERATIONS {
        if !watch() {
            return None;
        }
        let off = miss(&shots);
        let scale = 1.0 + nodes.iter().fold(0.0_f64, |m, node| m.max(largest(&node.y)));
        if off < 1e-12 * scale {
            break;
        }
        let charts: Vec<&Quotient> = nodes.iter().map(|node| &node.quotient).collect();
        let (matrix, right) = equations(shooter, &charts, &shots);
        let columns = matrix.len() / right.len();
        let step = least_squares(&matrix, right.len(), columns, &right, 1e-13).x;
        if step.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let w = nodes[0].quotient.variables.len();
        let mut part = 1.0;
        let next = loop {
            if part < 1e-3 {
                break None;
            }
            let longer = if shooter.is_driven { 0.0 } else { part * step[count * w] };
            let moved: Option<Vec<Node>> = nodes
                .iter()
                .enumerate()
                .map(|(i, node)| {
                    let change: Vec<f64> =
                        step[i * w..(i + 1) * w].iter().map(|x| part * x).collect();
                    let y = shooter.moved(&node.quotient, &node.y, &change)?;
                    Some(Node { quotient: node.quotient.clone(), y })
                })
                .collect();
            let time = period + longer;
            if time > 0.5 * period
                && time < 2.0 * period
                && let Some(moved) = moved
                && let Some(there) = all(shooter, &moved, time)
                && miss(&there) < (1.0 - 0.1 * part) * off + 1e-13
            {
                break Some((moved, there, time));
            }
            part *= 0.5;
        };
        let Some((moved, there, time)) = next else { break };
        let is_done = miss(&there) < 1e-12 * scale || (miss(&there) > 0.5 * off && off < 1e-9);
        (nodes, shots, period) = (moved, there, time);
        if is_done {
            break;
        }
    }
    let first = nodes[0].quotient.clone();
    let mut found = shots.last()?.clone();
    found.point = shots[0].point.clone();
    found.period = period;
    let largest_miss = miss(&shots);
    found.miss = vec![largest_miss; first.variables.len()];
    found.parts = shots.into_iter().map(|shot| shot.matrix).collect();
    found.nodes = nodes;
    Some((first, found))
}

/// The derivatives over parts of a known periodic motion, one after another.
pub(crate) fn divided(
    shooter: &mut Shooter,
    quotient: &Quotient,
    found: &Return,
    count: usize,
) -> Option<Vec<Vec<f64>>> {
    let first = Node { quotient: quotient.clone(), y: found.point.y.clone() };
    let nodes = along(shooter, &first, found.period, count)?;
    let shots = all(shooter, &nodes, found.period)?;
    Some(shots.into_iter().map(|shot| shot.matrix).collect())
}

/// States along the motion from one, at equal distances in time.
pub(crate) fn along(
    shooter: &mut Shooter,
    first: &Node,
    period: f64,
    count: usize,
) -> Option<Vec<Node>> {
    let (t0, step) = (shooter.phase.t, period / count as f64);
    let mut nodes = vec![first.clone()];
    for k in 0..count - 1 {
        let Node { quotient: chart, y } = &nodes[k];
        let t = t0 + step * k as f64;
        let next = shooter.shoot_from(chart, (chart, y), y, (t, step), false)?;
        let point = shooter.phase.field.at(t + step, &next.landed).ok()?;
        let own = first.quotient.moved(&shooter.phase.field, &point);
        nodes.push(Node { quotient: own, y: next.landed });
    }
    Some(nodes)
}

/// States along the motion, forward or backward in time, led back to where it began; and how far away it ended.
fn guess(
    shooter: &mut Shooter,
    quotient: &Quotient,
    start: &[f64],
    period: f64,
    count: usize,
    way: f64,
) -> Option<(Vec<Node>, f64)> {
    let t0 = shooter.phase.t;
    let step = way * period / count as f64;
    let mut states = vec![start.to_vec()];
    for k in 0..count {
        let here = states.last()?.clone();
        let t = t0 + step * k as f64;
        let point = shooter.phase.field.at(t, &here).ok()?;
        let chart = quotient.moved(&shooter.phase.field, &point);
        let next = shooter.shoot_from(&chart, (&chart, &here), &here, (t, step), false)?;
        states.push(next.landed);
    }
    let last = states.pop()?;
    let apart = |&c: &usize| shooter.less_turns(c, start[c] - last[c]).abs();
    let off = quotient.variables.iter().map(apart).fold(0.0_f64, f64::max);
    if !off.is_finite() || off > 1e3 * (1.0 + largest(start)) {
        return None;
    }
    if way < 0.0 {
        states[1..].reverse();
    }
    let mut nodes = Vec::with_capacity(count);
    for (k, mut y) in states.into_iter().enumerate() {
        let part = k as f64 / count as f64;
        let part = if way < 0.0 && k > 0 { 1.0 - part } else { part };
        for &c in &quotient.variables {
            y[c] += part * shooter.less_turns(c, start[c] - last[c]);
        }
        let t = t0 + step.abs() * k as f64;
        quotient.chart.complete(&mut shooter.phase.field, t, &mut y).ok()?;
        let point = shooter.phase.field.at(t, &y).ok()?;
        let own = quotient.moved(&shooter.phase.field, &point);
        if own.variables.len() != quotient.variables.len() {
            return None;
        }
        nodes.push(Node { quotient: own, y });
    }
    Some((nodes, off))
}

/// All parts of a motion, the last of which is turned back.
pub(crate) fn all(shooter: &mut Shooter, nodes: &[Node], period: f64) -> Option<Vec<Return>> {
    let t0 = shooter.phase.t;
    let step = period / nodes.len() as f64;
    (0..nodes.len())
        .map(|k| {
            let next = &nodes[(k + 1) % nodes.len()];
            let target = (&next.quotient, next.y.as_slice());
            let t = t0 + step * k as f64;
            let ends = k + 1 == nodes.len();
            shooter.shoot_from(&nodes[k].quotient, target, &nodes[k].y, (t, step), ends)
        })
        .collect()
}

/// The largest distance between the end of a part and the beginning of the next.
pub(crate) fn miss(shots: &[Return]) -> f64 {
    shots.iter().fold(0.0_f64, |m, shot| m.max(largest(&shot.miss)))
}

/// Rows and right-hand side of (N) for parts that begin in some charts. The columns are those of the states, of the
/// period where it is not given, and of the turns after which the motion returns.
pub(crate) fn equations(
    shooter: &Shooter,
    charts: &[&Quotient],
    shots: &[Return],
) -> (Vec<f64>, Vec<f64>) {
    let (count, w) = (shots.len(), charts[0].variables.len());
    let free = usize::from(!shooter.is_driven);
    let columns = count * w + free + shooter.turning.len();
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    let field = &shooter.phase.field;
    for (k, shot) in shots.iter().enumerate() {
        let next = (k + 1) % count;
        for i in 0..w {
            let mut row = vec![0.0; columns];
            row[k * w..(k + 1) * w].copy_from_slice(&shot.matrix[i * w..(i + 1) * w]);
            row[next * w + i] -= 1.0;
            let c = charts[next].variables[i];
            if free > 0 {
                row[count * w] = shot.end.rates[c] / count as f64;
            }
            if next == 0 {
                for (turn, symmetry) in shooter.turning.iter().enumerate() {
                    row[count * w + free + turn] =
                        -field.prolonged(&symmetry.frame, &shot.end.y)[c];
                }
            }
            matrix.extend(row);
            right.push(-shot.miss[i]);
        }
    }
    let mut across = |of: &dyn Fn(&Return) -> Vec<f64>| {
        let parts = shots.iter().zip(charts).flat_map(|(shot, chart)| {
            let moved = of(shot);
            chart.variables.iter().map(move |&c| moved[c]).collect::<Vec<f64>>()
        });
        let mut row: Vec<f64> = parts.collect();
        let size = largest(&row).max(1e-300);
        row.iter_mut().for_each(|x| *x /= size);
        row.resize(columns, 0.0);
        matrix.extend(row);
        right.push(0.0);
    };
    // It may start anywhere on the orbit.
    if free > 0 {
        across(&|shot| shot.point.rates.clone());
    }
    // Where an orbit may be turned as a whole, it stays.
    let held = if shooter.turning.is_empty() { &shooter.held } else { &shooter.turning };
    for symmetry in held {
        across(&|shot| field.prolonged(&symmetry.frame, &shot.point.y));
    }
    (matrix, right)
}
