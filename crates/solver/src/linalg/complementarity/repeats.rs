//! Contacts and frictions that repeat each other: a table on four legs, a block that stands on two corners.
//!
//! Rows of what carries and holds may depend on each other, so that what each of them carries is not determined,
//! though the motion is. A part of the rows that are independent is chosen which carries everything with the right
//! signs. The other contacts are idle, and the other frictions follow: a friction of the same direction lends what it
//! could hold.

use crate::linalg::complementarity::{ContactProblem, ContactSolution, ContactState, Rubbing};

/// A row whose part across the others is smaller than this, in its own measure, depends on them.
const DEPENDENT: f64 = 1e-9;
/// Orders of contacts that are tried.
const ORDERS: usize = 64;

impl ContactProblem {
    /// The same solution by independent rows.
    pub fn without_repeats(&self, solution: ContactSolution) -> ContactSolution {
        let closed: Vec<usize> =
            (0..self.count()).filter(|&i| !solution.states[i].is_open()).collect();
        let mut order = closed.clone();
        let load = |i: usize| solution.impulse[i];
        order.sort_by(|&i, &j| load(j).total_cmp(&load(i)).then(i.cmp(&j)));
        // What would slide without moving holds, if others can lend it what it lacks.
        let held = self.held(&solution);
        if held != solution.states {
            let held = ContactSolution { states: held, ..solution.clone() };
            let part = self.independent(&held, &order);
            if part.is_right {
                return part.into_solution(solution.is_unique);
            }
        }
        let first = self.independent(&solution, &order);
        if first.states == solution.states {
            return solution;
        }
        // Any of them may have to come first.
        let turns = (0..ORDERS.min(order.len() * order.len())).map(|turn| {
            let (from, to) = (turn / order.len(), turn % order.len());
            let mut other = order.clone();
            let moved = other.remove(from);
            other.insert(to, moved);
            other
        });
        let mut all = turns.map(|order| self.independent(&solution, &order));
        if first.is_right {
            return first.into_solution(solution.is_unique);
        }
        let found = all.find(|part| part.is_right);
        found.unwrap_or(first).into_solution(solution.is_unique)
    }

    /// The states of a solution in which frictions that slide with no rate hold.
    fn held(&self, solution: &ContactSolution) -> Vec<ContactState> {
        let mut states = solution.states.clone();
        for (i, state) in states.iter_mut().enumerate() {
            let ContactState::Closed(rubbing) = state else { continue };
            for ((j, pad), rubs) in self.pads_of(i).zip(rubbing) {
                let place = self.place(j);
                let rests =
                    (place..place + 2).all(|k| solution.relative[k].abs() <= self.noise[place]);
                if pad.acts() && pad.sliding.is_none() && rests {
                    *rubs = Rubbing::Stick;
                }
            }
        }
        states
    }

    /// The rows that are independent of those before them, contacts in this order.
    fn independent(&self, solution: &ContactSolution, order: &[usize]) -> Part {
        let mut basis = Basis { problem: self, rows: Vec::new(), factor: Vec::new() };
        let mut states = solution.states.clone();
        for &i in order {
            if basis.add(i).is_some() {
                states[i] = ContactState::Idle;
            }
        }
        for (i, state) in states.iter_mut().enumerate() {
            let ContactState::Closed(rubbing) = state else { continue };
            let own = self.pads_of(i).map(|(j, _)| j).zip(rubbing);
            for (j, rubs) in own.filter(|(_, rubs)| **rubs == Rubbing::Stick) {
                if let Some(leader) = self.followed(&mut basis, j) {
                    *rubs = Rubbing::Follow(leader);
                }
            }
        }
        let found = self.with_states(&states);
        let is_right = found.is_some();
        let (impulse, relative) = match found {
            Some(found) => (found.impulse, found.relative),
            None => (solution.impulse.clone(), solution.relative.clone()),
        };
        Part { states, impulse, relative, is_right }
    }

    /// Whether a friction that holds depends on rows before it, and the one that it repeats.
    fn followed(&self, basis: &mut Basis<'_>, pad: usize) -> Option<Option<(usize, f64)>> {
        let place = self.place(pad);
        if !self.pads[pad].is_plane {
            let parts = basis.add(place)?;
            let holding: Vec<(usize, f64)> = basis
                .rows
                .iter()
                .zip(parts)
                .filter(|(row, part)| **row >= self.count() && part.abs() > 1e-6)
                .map(|(&row, part)| ((row - self.count()) / 2, part))
                .collect();
            let [(leader, part)] = holding[..] else { return Some(None) };
            return Some((!self.pads[leader].is_plane).then_some((leader, part)));
        }
        // Both components, or none.
        let dependent = [place, place + 1].map(|row| basis.add(row).is_some());
        (dependent == [true, true]).then_some(None)
    }
}

/// One choice of rows.
struct Part {
    states: Vec<ContactState>,
    impulse: Vec<f64>,
    relative: Vec<f64>,
    is_right: bool,
}

impl Part {
    fn into_solution(self, is_unique: bool) -> ContactSolution {
        let Self { states, impulse, relative, .. } = self;
        ContactSolution { states, impulse, relative, is_unique }
    }
}

/// Independent rows, with Cholesky's factor of their matrix.
struct Basis<'a> {
    problem: &'a ContactProblem,
    rows: Vec<usize>,
    factor: Vec<Vec<f64>>,
}

impl Basis<'_> {
    /// Adds a row; if it depends on the others, it gives its parts along them instead.
    fn add(&mut self, row: usize) -> Option<Vec<f64>> {
        let m = self.problem.size();
        let entry = |i: usize, j: usize| {
            let matrix = &self.problem.matrix;
            0.5 * (matrix[i * m + j] + matrix[j * m + i])
        };
        let mut own: Vec<f64> = Vec::with_capacity(self.rows.len() + 1);
        for (k, &other) in self.rows.iter().enumerate() {
            let known: f64 = own.iter().zip(&self.factor[k]).map(|(a, b)| a * b).sum();
            own.push((entry(row, other) - known) / self.factor[k][k]);
        }
        let left = entry(row, row) - own.iter().map(|x| x * x).sum::<f64>();
        if left > DEPENDENT * entry(row, row) {
            own.push(left.sqrt());
            self.rows.push(row);
            self.factor.push(own);
            return None;
        }
        // Back substitution.
        for k in (0..own.len()).rev() {
            let above: f64 = (k + 1..own.len()).map(|j| self.factor[j][k] * own[j]).sum();
            own[k] = (own[k] - above) / self.factor[k][k];
        }
        Some(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::complementarity::Pad;

    /// A block of weight 2 and length 2 that stands on its ends, pushed along by a force.
    fn block(push: f64, middle: bool) -> ContactProblem {
        let rows: Vec<[f64; 3]> = {
            let normals = if middle { vec![-1.0, 1.0, 0.0] } else { vec![-1.0, 1.0] };
            let normals: Vec<[f64; 3]> = normals.iter().map(|&x| [0.0, 1.0, x]).collect();
            let pads = normals.iter().flat_map(|_| [[1.0, 0.0, 0.0], [0.0; 3]]);
            normals.iter().copied().chain(pads).collect()
        };
        let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let count = if middle { 3 } else { 2 };
        ContactProblem {
            matrix: rows.iter().flat_map(|a| rows.iter().map(move |b| dot(a, b))).collect(),
            free: rows.iter().map(|row| dot(row, &[push, -2.0, 0.0])).collect(),
            pads: (0..count)
                .map(|contact| Pad {
                    contact,
                    is_plane: false,
                    friction: 0.5,
                    holding: 0.5,
                    sliding: None,
                })
                .collect(),
            released: vec![false; count],
            offset: vec![0.0; count],
            noise: vec![1e-10; rows.len()],
        }
    }

    #[test]
    fn two_corners_hold_together() {
        for push in [0.0, 0.4, 0.9, -0.9] {
            let problem = block(push, false);
            let found = problem.solve().expect("it stands");
            let found = problem.without_repeats(found);
            let follows = ContactState::Closed(vec![Rubbing::Follow(Some((0, 1.0)))]);
            assert_eq!(found.states, [ContactState::Closed(vec![Rubbing::Stick]), follows]);
            assert!((found.impulse[2] + push).abs() < 1e-12, "{:?}", found.impulse);
        }
    }

    #[test]
    fn a_third_leg_is_idle() {
        let problem = block(0.3, true);
        let found = problem.without_repeats(problem.solve().expect("it stands"));
        let idle = found.states.iter().filter(|state| **state == ContactState::Idle).count();
        assert_eq!(idle, 1, "{:?}", found.states);
        let carried: f64 = found.impulse[..3].iter().sum();
        assert!((carried - 2.0).abs() < 1e-9, "{:?}", found.impulse);
        assert!(found.impulse[..3].iter().all(|p| *p > -1e-12), "{:?}", found.impulse);
    }
}
