//! Other branches of periodic motions with jumps: at branch and period-doubling points.
//!
//! Beside a fixed point of the return map, a little way along the direction whose multiplier is 1 or −1, the equations
//! are solved with this way held fixed and the parameter free. Where the period doubles, the map is that of the second
//! return.

use pfaff_solver::eigenvector;

use super::{Follower, Place};
use crate::analysis::phase::branch::Branch;
use crate::error::Failure;

/// Most branches.
const BRANCHES: usize = 8;

/// Where a branch begins that was met on another one.
pub(super) struct Start {
    place: Place,
    turns: usize,
    from: (&'static str, f64),
}

impl Follower<'_> {
    /// A fixed point beside a place, a little way along a direction of $w$, in parts of the size of the state.
    fn switched(
        &mut self,
        place: &Place,
        direction: &[f64],
        amplitude: f64,
    ) -> Result<Option<Place>, Failure> {
        let size = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut along: Vec<f64> = direction.iter().map(|x| x / size).collect();
        let change: Vec<f64> = along.iter().map(|x| amplitude * x * self.unit).collect();
        let Some(shot) = self.beside(&place.shot, &change, place.p)? else { return Ok(None) };
        along.push(0.0);
        let beside = Place { shot, tangent: along.clone(), ..place.clone() };
        let Some(start) = self.corrected(&beside, 0.0)? else { return Ok(None) };
        // The motion itself, not the one beside which it begins.
        let moved = self.map.variables.iter().map(|&c| start.shot.y[c] - place.shot.y[c]);
        let apart: f64 = moved.zip(&along).map(|(y, x)| y * x).sum();
        Ok((apart.abs() > 0.5 * amplitude * self.unit).then_some(start))
    }

    /// Starts of the other branches through a place where a multiplier is 1 or −1.
    pub(super) fn others(
        &mut self,
        place: &Place,
        kind: &'static str,
    ) -> Result<Vec<Start>, Failure> {
        let w = self.map.variables.len();
        let target = if kind == "flip" { -1.0 } else { 1.0 };
        let off = |v: &[f64; 2]| libm::hypot(v[0] - target, v[1]);
        let near = place.others().min_by(|a, b| off(a).total_cmp(&off(b)));
        let shape = near.and_then(|value| eigenvector(w, &place.multipliers.matrix, value));
        let Some(shape) = shape else { return Ok(Vec::new()) };
        let direction: Vec<f64> = shape.components.iter().map(|x| x[0]).collect();
        let before = self.map.turns();
        let (turns, signs): (usize, &[f64]) =
            if kind == "flip" { (2 * before, &[1.0]) } else { (before, &[1.0, -1.0]) };
        self.map.set_turns(turns);
        let mut found = Vec::new();
        'signs: for sign in signs {
            let along: Vec<f64> = direction.iter().map(|x| sign * x).collect();
            for amplitude in [0.02, 0.005, 0.05] {
                if let Some(start) = self.switched(place, &along, amplitude)? {
                    found.push(Start { place: start, turns, from: (kind, place.p) });
                    continue 'signs;
                }
            }
        }
        self.map.set_turns(before);
        Ok(found)
    }

    /// A branch, and those that begin on it; says whether it was interrupted.
    pub(super) fn all(&mut self, start: Place) -> Result<(Vec<Branch>, bool), Failure> {
        let mut waiting = Vec::new();
        let (branch, mut interrupted) = self.branch(start, &mut waiting)?;
        let mut branches = vec![branch];
        while !interrupted && branches.len() < BRANCHES && !waiting.is_empty() {
            let Start { place, turns, from } = waiting.remove(0);
            let room = 1e-6 * self.range();
            let is_known = |branch: &&Branch| {
                branch.from.is_some_and(|(kind, p)| kind == from.0 && (p - from.1).abs() < room)
            };
            // A pitchfork has two other branches, a doubling one.
            let most = if from.0 == "flip" { 1 } else { 2 };
            if branches.iter().filter(is_known).count() >= most {
                continue;
            }
            self.map.set_turns(turns);
            let mut more = Vec::new();
            let (mut branch, ended) = self.branch(place, &mut more)?;
            branch.from = Some(from);
            interrupted |= ended;
            branches.push(branch);
            waiting.extend(more);
        }
        Ok((branches, interrupted))
    }
}
