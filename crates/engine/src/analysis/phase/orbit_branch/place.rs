//! A periodic motion on a branch, and the next one along it.

use pfaff_solver::{least_squares, singular_values};

use super::Follower;
use crate::analysis::phase::branch_place::tangent_within;
use crate::analysis::phase::held::chosen;
use crate::analysis::phase::multiple_shooting::{Node, all, equations, miss};
use crate::analysis::phase::orbit::period;
use crate::analysis::phase::parameter_flow::ParameterFlow;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{Multipliers, Return, Shooter, largest};

/// Newton's iteration across a branch.
const ITERATIONS: usize = 12;
/// Singular values below this part of the largest are the errors of an integration over a period.
const FAMILY: f64 = 1e-7;

/// A periodic motion on a branch, in one part or in several.
pub(super) struct Place {
    pub(super) p: f64,
    pub(super) nodes: Vec<Node>,
    pub(super) shots: Vec<Return>,
    pub(super) period: f64,
    /// How far it is turned when it returns.
    pub(super) turned: Vec<f64>,
    /// $\partial(w(T) - w(0))/\partial p$ over each part, with the parameter in its unit.
    pub(super) by_parameter: Vec<f64>,
    /// $(w', T', p')$ of length 1, without $T'$ where the period is given, with turns where there are.
    pub(super) tangent: Vec<f64>,
    pub(super) multipliers: Multipliers,
}

impl Place {
    /// The state at which it begins, and its chart.
    pub(super) fn first(&self) -> &Node {
        &self.nodes[0]
    }

    /// How much a part makes a change grow.
    pub(super) fn steepest(&self) -> f64 {
        self.shots.iter().fold(0.0_f64, |m, shot| m.max(largest(&shot.matrix)))
    }

    /// $S$ over the whole period.
    pub(super) fn matrix(&self) -> Vec<f64> {
        let w = self.first().quotient.variables.len();
        let mut whole = self.shots[0].matrix.clone();
        for shot in &self.shots[1..] {
            let entry = |i: usize, j: usize| -> f64 {
                (0..w).map(|k| shot.matrix[i * w + k] * whole[k * w + j]).sum()
            };
            whole = (0..w * w).map(|at| entry(at / w, at % w)).collect();
        }
        whole
    }
}

impl Follower {
    /// The period at the present value of the parameter, where it is given.
    fn given_period(&self) -> Option<f64> {
        self.given.as_ref().and_then(|text| period(&self.shooter.phase.model, text).ok())
    }

    /// One period from some states for a value of the parameter: these on the constraints, the parts between them, and
    /// how long it took.
    pub(super) fn shoot(
        &mut self,
        mut nodes: Vec<Node>,
        time: f64,
        p: f64,
    ) -> Option<(Vec<Node>, Vec<Return>, f64)> {
        self.set(p);
        let time = if self.given.is_some() { self.given_period()? } else { time };
        let (t0, count) = (self.shooter.phase.t, nodes.len());
        for (k, node) in nodes.iter_mut().enumerate() {
            let t = t0 + time * k as f64 / count as f64;
            node.quotient.chart.complete(&mut self.shooter.phase.field, t, &mut node.y).ok()?;
        }
        let shots = all(&mut self.shooter, &nodes, time)?;
        Some((nodes, shots, time))
    }

    /// The equations of Newton's iteration with the column of the parameter.
    fn equations(
        &self,
        nodes: &[Node],
        shots: &[Return],
        by_parameter: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let charts: Vec<&Quotient> = nodes.iter().map(|node| &node.quotient).collect();
        let (matrix, right) = equations(&self.shooter, &charts, shots);
        let columns = matrix.len() / right.len();
        let states = shots.len() * charts[0].variables.len();
        let is_free = !self.shooter.is_driven;
        let rows = matrix.chunks_exact(columns).enumerate();
        let matrix = rows
            .flat_map(|(i, row)| {
                let scaled = row.iter().enumerate();
                let unit = |j: usize| if is_free && j == states { self.unit } else { 1.0 };
                let last = by_parameter.get(i).copied().unwrap_or(0.0);
                scaled.map(|(j, x)| x * unit(j)).chain([last]).collect::<Vec<f64>>()
            })
            .collect();
        (matrix, right)
    }

    /// The rows of what is held, with their right sides: conditions on the first state.
    fn held_rows(
        &mut self,
        conditions: &[(usize, f64)],
        nodes: &[Node],
        shots: &[Return],
        p: f64,
    ) -> Option<Vec<(Vec<f64>, f64)>> {
        if conditions.is_empty() {
            return Some(Vec::new());
        }
        self.set(p);
        let (quotient, point) = (&nodes[0].quotient, &shots[0].point);
        let w = quotient.variables.len();
        let free = usize::from(!self.shooter.is_driven) + self.shooter.turning.len();
        let embedding = quotient.point(point)?.tangent;
        let field = &mut self.shooter.phase.field;
        let by = self.slopes.at(field, point.t, &point.y).ok()?;
        let shift = quotient.chart.shift(point, &by)?;
        let phase = &self.shooter.phase;
        let row = |&(k, level): &(usize, f64)| {
            let condition = &self.conditions[k];
            let (by_state, by_parameter) = condition.slopes(phase, point);
            let mut row = vec![0.0; shots.len() * w + free + 1];
            let mut last = by_parameter;
            for (c, slope) in by_state.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                (0..w).for_each(|j| row[j] += slope * embedding[c * w + j]);
                last += slope * shift[c];
            }
            if let Some(x) = row.last_mut() {
                *x = last * self.range();
            }
            (row, level - condition.value(phase, point))
        };
        Some(conditions.iter().map(row).collect())
    }

    /// Which conditions make a curve of a family of motions: those that were asked for, then conserved quantities.
    pub(super) fn chosen(
        &mut self,
        nodes: &[Node],
        shots: &[Return],
    ) -> Option<Vec<(usize, f64)>> {
        let none = vec![0.0; shots.len() * nodes[0].quotient.variables.len()];
        let (matrix, right) = self.equations(nodes, shots, &none);
        let columns = matrix.len() / right.len();
        let fixed: Vec<f64> =
            matrix.chunks_exact(columns).flat_map(|row| row[..columns - 1].to_vec()).collect();
        let all: Vec<(usize, f64)> = (0..self.conditions.len()).map(|k| (k, 0.0)).collect();
        let rows = self.held_rows(&all, nodes, shots, self.from)?;
        let candidates: Vec<(usize, Vec<f64>)> = rows
            .iter()
            .enumerate()
            .filter(|(_, (row, value))| row.iter().chain([value]).all(|x| x.is_finite()))
            .map(|(k, (row, _))| (k, row[..columns - 1].to_vec()))
            .collect();
        let found = chosen(&fixed, columns - 1, &candidates, FAMILY);
        let level = |k: usize| if self.conditions[k].is_equation { 0.0 } else { -rows[k].1 };
        Some(found.into_iter().map(|k| (k, level(k))).collect())
    }

    /// How many equations of a motion follow from the others up to the errors of its integration: conserved quantities
    /// return by themselves, and lead to a family of motions for each value of the parameter.
    pub(super) fn dependent(&self, nodes: &[Node], shots: &[Return]) -> usize {
        let none = vec![0.0; shots.len() * nodes[0].quotient.variables.len()];
        let (matrix, right) = self.equations(nodes, shots, &none);
        let columns = matrix.len() / right.len();
        // Without the column of the parameter.
        let rows = matrix.chunks_exact(columns).flat_map(|row| row[..columns - 1].to_vec());
        let split = singular_values(&rows.collect::<Vec<_>>(), right.len(), columns - 1);
        let largest = split.values.first().copied().unwrap_or(0.0);
        split.values.iter().filter(|s| **s <= FAMILY * largest).count()
    }

    /// What counts as zero beside the largest singular value of the equations.
    fn rounding(&self, usual: f64) -> f64 {
        if self.shooter.kept > 0 { FAMILY } else { usual }
    }

    /// The derivatives of all parts by the parameter, in its unit.
    fn by_parameter(&mut self, nodes: &[Node], time: f64, p: f64) -> Option<Vec<f64>> {
        let period = if self.given.is_some() {
            let δ = 1e-6 * self.range();
            self.set(p + δ);
            let longer = self.given_period()?;
            self.set(p - δ);
            let shorter = self.given_period()?;
            Some((self.shooter.phase.t, time, (longer - shorter) / (2.0 * δ)))
        } else {
            None
        };
        self.set(p);
        let (t0, count, range) = (self.shooter.phase.t, nodes.len(), self.range());
        let mut found = Vec::new();
        for (k, node) in nodes.iter().enumerate() {
            let at = |k: usize| t0 + time * k as f64 / count as f64;
            let field = &mut self.shooter.phase.field;
            let point = field.at(at(k), &node.y).ok()?;
            let by = self.slopes.at(field, at(k), &node.y).ok()?;
            let shift = node.quotient.chart.shift(&point, &by)?;
            let mut flow = ParameterFlow { field, slopes: &mut self.slopes, period };
            let mut end = flow.carried(&node.y, &shift, (at(k), at(k + 1)))?;
            let next = &nodes[(k + 1) % count];
            if k + 1 == count {
                end = self.shooter.turned_back(&end, false);
            }
            found.extend(next.quotient.variables.iter().map(|&c| end[c] * range));
        }
        Some(found)
    }

    /// A place with its tangent next to a direction.
    pub(super) fn place(
        &mut self,
        (nodes, shots, period): (Vec<Node>, Vec<Return>, f64),
        p: f64,
        along: &[f64],
    ) -> Option<Place> {
        let by_parameter = self.by_parameter(&nodes, period, p)?;
        let (mut matrix, mut right) = self.equations(&nodes, &shots, &by_parameter);
        let held = self.held.clone();
        for (row, value) in self.held_rows(&held, &nodes, &shots, p)? {
            matrix.extend(row);
            right.push(value);
        }
        let mut along = along.to_vec();
        if self.shooter.kept > held.len()
            && let Some((last, states)) = along.split_last_mut()
            && *last != 0.0
        {
            // In a family of motions for each value of the parameter: the nearest one.
            states.fill(0.0);
            *last = last.signum();
        }
        let tangent = tangent_within(&matrix, right.len(), &along, self.rounding(1e-9))?;
        let w = nodes[0].quotient.variables.len();
        let parts: Vec<Vec<f64>> = shots.iter().map(|shot| shot.matrix.clone()).collect();
        let multipliers = Multipliers::of_parts(&parts, w, &self.shooter)?;
        let turned = self.shooter.turned.clone();
        Some(Place { p, nodes, shots, period, turned, by_parameter, tangent, multipliers })
    }

    /// The same place in charts that suit it, with the same direction.
    pub(super) fn renewed(&mut self, place: Place) -> Option<Place> {
        let w = place.first().quotient.variables.len();
        let (mut nodes, mut along) = (Vec::new(), Vec::new());
        for (k, (node, shot)) in place.nodes.iter().zip(&place.shots).enumerate() {
            let quotient = node.quotient.moved(&self.shooter.phase.field, &shot.point);
            let part = &place.tangent[k * w..(k + 1) * w];
            along.extend(node.quotient.carried(&quotient, &shot.point, part)?);
            nodes.push(Node { quotient, y: node.y.clone() });
        }
        let mut pairs = nodes.iter().zip(&place.nodes);
        if pairs.all(|(new, old)| new.quotient.variables == old.quotient.variables) {
            return Some(place);
        }
        along.extend_from_slice(&place.tangent[w * nodes.len()..]);
        self.shooter.turned.clone_from(&place.turned);
        let there = self.shoot(nodes, place.period, place.p)?;
        self.place(there, place.p, &along)
    }

    /// The same place in more parts, for motions that are too unstable for those it has.
    pub(super) fn divided(&mut self, place: &Place) -> Option<Place> {
        /// Parts that are tried, one after another.
        const PARTS: [usize; 2] = [8, 30];
        let count = PARTS.into_iter().find(|count| *count > place.nodes.len())?;
        if !self.shooter.turning.is_empty() {
            return None;
        }
        self.set(place.p);
        let w = place.first().quotient.variables.len();
        let (t0, length) = (self.shooter.phase.t, place.period / count as f64);
        // Each new state from the nearest one before it.
        let mut nodes: Vec<Node> = Vec::new();
        for k in 0..count {
            let part = k * place.nodes.len() / count;
            let from = &place.nodes[part];
            let begin = t0 + place.period * part as f64 / place.nodes.len() as f64;
            let t = t0 + length * k as f64;
            if t - begin < 1e-9 * length {
                nodes.push(from.clone());
                continue;
            }
            let chart = &from.quotient;
            let time = (begin, t - begin);
            let there =
                self.shooter.shoot_from(chart, (chart, &from.y), &from.y, time, false)?;
            let point = self.shooter.phase.field.at(t, &there.landed).ok()?;
            let quotient = chart.moved(&self.shooter.phase.field, &point);
            nodes.push(Node { quotient, y: there.landed });
        }
        let there = self.shoot(nodes, place.period, place.p)?;
        let mut along = vec![0.0; count * w];
        along.extend_from_slice(&place.tangent[w * place.nodes.len()..]);
        // The direction of the first state says which way the branch goes.
        along[..w].copy_from_slice(&place.tangent[..w]);
        let found = self.place(there, place.p, &along)?;
        self.corrected(&found, 0.0)
    }

    /// Whether the parameter changes the motions beside a periodic one.
    pub(super) fn changes_derivatives(&mut self, place: &Place) -> bool {
        let elsewhere = place.p + 0.37 * (self.to - self.from);
        let there = self.shoot(place.nodes.clone(), place.period, elsewhere);
        there.is_none_or(|(_, shots, _)| {
            shots.iter().zip(&place.shots).any(|(there, here)| {
                let change = there.matrix.iter().zip(&here.matrix).map(|(a, b)| a - b);
                largest(&change.collect::<Vec<f64>>()) > 1e-10 * (1.0 + largest(&here.matrix))
            })
        })
    }

    /// The periodic motion at a distance along the tangent of a place.
    pub(super) fn corrected(&mut self, place: &Place, s: f64) -> Option<Place> {
        let w = place.first().quotient.variables.len();
        let (states, along) = (place.nodes.len() * w, &place.tangent);
        let last = along.len() - 1;
        let (range, unit) = (self.range(), self.unit);
        let free = usize::from(!self.shooter.is_driven);
        let longer = |step: &[f64]| if free > 0 { step[states] * unit } else { 0.0 };
        let ahead: Vec<f64> = along.iter().map(|x| s * x).collect();
        let moved = |nodes: &mut Vec<Node>, step: &[f64]| {
            for (node, δ) in nodes.iter_mut().zip(step.chunks(w)) {
                node.quotient.variables.iter().zip(δ).for_each(|(&c, δ)| node.y[c] += δ);
            }
        };
        let turned = |shooter: &mut Shooter, step: &[f64]| {
            let turns = &step[states + free..last];
            shooter.turned.iter_mut().zip(turns).for_each(|(turned, more)| *turned += more);
        };
        let mut nodes = place.nodes.clone();
        moved(&mut nodes, &ahead);
        self.shooter.turned.clone_from(&place.turned);
        turned(&mut self.shooter, &ahead);
        let mut time = place.period + longer(&ahead);
        let mut p = place.p + ahead[last] * range;
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let there = self.shoot(nodes, time, p)?;
            let (mut matrix, mut right) =
                self.equations(&there.0, &there.1, &place.by_parameter);
            let held = self.held.clone();
            for (row, value) in self.held_rows(&held, &there.0, &there.1, p)? {
                matrix.extend(row);
                right.push(value);
            }
            let rows = right.len();
            matrix.extend_from_slice(along);
            right.push(0.0);
            let rounding = self.rounding(1e-11);
            let step = least_squares(&matrix, rows + 1, along.len(), &right, rounding).x;
            let change = largest(&step);
            if !change.is_finite() || change > 1e3 {
                return None;
            }
            let size = there.0.iter().fold(0.0_f64, |m, node| m.max(largest(&node.y)));
            if change < 1e-11 || (change < 1e-8 && change >= 0.5 * before) {
                return if miss(&there.1) < 1e-9 * (1.0 + size) {
                    self.place(there, p, along)
                } else {
                    None
                };
            }
            before = change;
            nodes = there.0;
            moved(&mut nodes, &step);
            turned(&mut self.shooter, &step);
            time += longer(&step);
            p += step[last] * range;
            if time <= 0.0 {
                return None;
            }
        }
        None
    }
}
