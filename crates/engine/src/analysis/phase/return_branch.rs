//! Periodic motions with jumps over a parameter: `pfaff continue --of orbits` of return maps.
//!
//! A branch is a curve of fixed points $P(w; p) = w$ of the map of `returning.rs`, followed by pseudo-arclength in
//! $(w, p)$, each measured by its range. Special points are those of `orbit_branch.rs`: folds where $dp/ds$ vanishes,
//! and branches, doublings and tori by the multipliers. Derivatives of the map come from runs beside the branch; the
//! multipliers come from the variational equations with the saltation at every jump.

mod switching;

use pfaff_solver::least_squares;

use crate::analysis::phase::bracket::Bracket;
use crate::analysis::phase::branch::{
    Branch, BranchPoint, Continuation, ContinueRequest, SpecialPoint, nearest_pair,
    pairs_outside, parameter_index, product,
};
use crate::analysis::phase::periodic::OrbitRequest;
use crate::analysis::phase::returning::{Multipliers, Returning, Shot};
use crate::analysis::phase::shooting::largest;
use crate::error::Failure;
use crate::model::Model;
use switching::Start;

/// The first and the longest step along a branch, in parts of the range of the parameter and of the size of the state.
const FIRST: f64 = 0.01;
const LONGEST: f64 = 0.05;
const SHORTEST: f64 = 1e-5;
/// Most points of a branch.
const POINTS: usize = 200;
/// Steps of Newton's iteration at a point.
const ITERATIONS: usize = 8;
/// What is missed at a point, in parts of the size of the state: much less than what differences of runs show.
const CLOSED: f64 = 1e-10;
/// Steps of differences by the parameter, in parts of its range.
const STEP: f64 = 1e-5;

/// A point of a branch.
#[derive(Clone)]
struct Place {
    shot: Shot,
    p: f64,
    /// Along the branch, in parts of sizes: $w$, then $p$.
    tangent: Vec<f64>,
    multipliers: Multipliers,
}

impl Place {
    fn others(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let of = &self.multipliers.of;
        of[..of.len().saturating_sub(1)].iter().copied()
    }
}

/// What is watched along a branch.
type Function<'a> = &'a dyn Fn(&Place) -> f64;

struct Follower<'a> {
    map: Returning<'a>,
    index: usize,
    from: f64,
    to: f64,
    /// The size of the state at the start.
    unit: f64,
    /// Whether other branches are followed, too.
    switches: bool,
}

/// Follows a periodic motion with jumps over a parameter. The model has the first value of it.
pub(super) fn followed(
    model: &Model,
    request: &ContinueRequest,
    orbit: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Continuation, Failure> {
    let index = parameter_index(&model.workspace(), &request.parameter)?;
    let (mut map, start) = Returning::new(model, orbit, watch)?;
    let found = map.first_closed(start)?;
    let unit = map.scale(&found.y).max(1e-3);
    let (from, to) = (request.from, request.to);
    let switches = request.switch;
    let mut follower = Follower { map, index, from, to, unit, switches };
    let mut along = vec![0.0; follower.map.variables.len()];
    along.push((to - from).signum());
    let start = follower.place(found, from, &along)?.ok_or_else(|| {
        Failure::usage("the periodic motion cannot be followed from the first value")
    })?;
    if follower.does_nothing(&start)? {
        return Err(Failure::Usage(format!(
            "the parameter `{}` does nothing to this periodic motion",
            request.parameter
        )));
    }
    let (branches, interrupted) = follower.all(start)?;
    Ok(Continuation {
        title: model.name().to_owned(),
        parameter: request.parameter.clone(),
        branches,
        interrupted,
    })
}

impl Follower<'_> {
    fn range(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// The return of a state beside another one, with another value of the parameter.
    fn beside(&mut self, at: &Shot, change: &[f64], p: f64) -> Result<Option<Shot>, Failure> {
        self.map.set(self.index, p);
        self.map.shifted(at, change)
    }

    /// The derivative of what is missed by $w$ and $p$, both in parts of their sizes, by rows.
    fn slopes(&mut self, at: &Shot, p: f64) -> Result<Option<Vec<f64>>, Failure> {
        self.map.set(self.index, p);
        let w = self.map.variables.len();
        let Some(own) = self.map.slopes(at)? else { return Ok(None) };
        let h = STEP * self.range();
        let mut ends = Vec::new();
        for sign in [1.0, -1.0] {
            let there = self.beside(at, &vec![0.0; w], p + sign * h)?;
            let Some(there) = there else { return Ok(None) };
            ends.push(self.map.miss(&there));
        }
        let mut rows = vec![0.0; w * (w + 1)];
        for i in 0..w {
            for j in 0..w {
                rows[i * (w + 1) + j] = own[i * w + j] * self.unit;
            }
            rows[i * (w + 1) + w] = (ends[0][i] - ends[1][i]) / (2.0 * h) * self.range();
        }
        self.map.set(self.index, p);
        Ok(Some(rows))
    }

    /// A point of the branch with its direction, which is about `along`.
    fn place(&mut self, shot: Shot, p: f64, along: &[f64]) -> Result<Option<Place>, Failure> {
        let Some(mut rows) = self.slopes(&shot, p)? else { return Ok(None) };
        let n = along.len();
        rows.extend(along);
        let mut right = vec![0.0; n];
        right[n - 1] = 1.0;
        let mut tangent = least_squares(&rows, n, n, &right, 1e-9).x;
        let length = tangent.iter().map(|x| x * x).sum::<f64>().sqrt();
        tangent.iter_mut().for_each(|x| *x /= length);
        self.map.set(self.index, p);
        let Ok(multipliers) = self.map.multipliers(&shot) else { return Ok(None) };
        let is_known = tangent.iter().all(|x| x.is_finite());
        Ok(is_known.then_some(Place { shot, p, tangent, multipliers }))
    }

    /// The point of the branch at a distance from another one.
    fn corrected(&mut self, from: &Place, length: f64) -> Result<Option<Place>, Failure> {
        let w = self.map.variables.len();
        let (unit, range) = (self.unit, self.range());
        let change: Vec<f64> = from.tangent[..w].iter().map(|x| length * x * unit).collect();
        let mut p = from.p + length * from.tangent[w] * range;
        let Some(mut at) = self.beside(&from.shot, &change, p)? else { return Ok(None) };
        let mut matrix: Option<Vec<f64>> = None;
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let off = self.map.miss(&at);
            let now = largest(&off);
            if now <= CLOSED * (1.0 + unit) {
                return self.place(at, p, &from.tangent);
            }
            // The matrix is kept as long as it leads on quickly.
            if matrix.is_none() || now > 0.1 * last {
                let Some(mut rows) = self.slopes(&at, p)? else { return Ok(None) };
                rows.extend(&from.tangent);
                matrix = Some(rows);
            }
            last = now;
            let right: Vec<f64> = off.iter().map(|x| -x).chain([0.0]).collect();
            let rows = matrix.as_deref().unwrap_or_default();
            let step = least_squares(rows, w + 1, w + 1, &right, 1e-9).x;
            let change: Vec<f64> = step[..w].iter().map(|x| x * unit).collect();
            p += step[w] * range;
            let Some(there) = self.beside(&at, &change, p)? else { return Ok(None) };
            at = there;
        }
        Ok(None)
    }

    /// The zero of a function between two places, by regula falsi with the modification of Illinois.
    fn locate(
        &mut self,
        from: &Place,
        length: f64,
        ends: (f64, f64),
        value: Function<'_>,
    ) -> Result<Option<Place>, Failure> {
        let mut bracket = Bracket::new((0.0, ends.0), (length, ends.1));
        let mut found = None;
        for _ in 0..20 {
            let s = bracket.next();
            let Some(place) = self.corrected(from, s)? else { break };
            let f = value(&place);
            found = Some(place);
            if f.abs() < 1e-9 || bracket.width() < 1e-9 * length {
                break;
            }
            bracket.include(s, f);
        }
        Ok(found)
    }

    fn named(&self, shot: &Shot) -> Vec<(String, f64)> {
        self.map.names().iter().cloned().zip(self.map.struck(shot)).collect()
    }

    fn point(&mut self, place: &Place) -> Result<BranchPoint, Failure> {
        self.map.set(self.index, place.p);
        Ok(BranchPoint {
            parameter: place.p,
            state: self.named(&place.shot),
            frame: Vec::new(),
            period: Some(place.shot.period()),
            extent: self.map.extent(&place.shot)?,
            stability: place.multipliers.stability,
        })
    }

    /// Adds what happens between two places.
    fn specials(
        &mut self,
        here: &Place,
        next: &Place,
        length: f64,
        branch: &mut Branch,
        others: &mut Vec<Start>,
    ) -> Result<(), Failure> {
        let slope = |place: &Place| place.tangent[place.tangent.len() - 1];
        let branches = |place: &Place| product(place.others(), 1.0);
        let flips = |place: &Place| product(place.others(), -1.0);
        let torus = |place: &Place| nearest_pair(place.others());
        let outside = |place: &Place| pairs_outside(place.others());
        let is_fold = slope(here) * slope(next) < 0.0;
        let is_torus = outside(here) != outside(next);
        let functions: [(&'static str, Function<'_>, bool); 4] = [
            ("fold", &slope, is_fold),
            ("branch", &branches, !is_fold),
            ("flip", &flips, true),
            ("torus", &torus, is_torus),
        ];
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        for (kind, value, may_be) in functions {
            let ends = (value(here), value(next));
            // NOTE: multipliers of families are 1 up to rounding.
            let is_clear = kind != "branch" || ends.0.abs().min(ends.1.abs()) > 1e-6;
            if may_be
                && is_clear
                && ends.0 * ends.1 < 0.0
                && let Some(found) = self.locate(here, length, ends, value)?
                && (low..=high).contains(&found.p)
            {
                branch.special.push(SpecialPoint {
                    kind,
                    parameter: found.p,
                    state: self.named(&found.shot),
                    frequency: None,
                    shape: Vec::new(),
                });
                if self.switches && matches!(kind, "flip" | "branch") {
                    others.extend(self.others(&found, kind)?);
                }
            }
        }
        Ok(())
    }

    /// Whether the parameter changes neither the motion nor its multipliers.
    fn does_nothing(&mut self, start: &Place) -> Result<bool, Failure> {
        let w = self.map.variables.len();
        let p = self.from + 1e-3 * (self.to - self.from);
        let there = self.beside(&start.shot, &vec![0.0; w], p)?;
        let is_same = there.is_some_and(|there| {
            let period = (there.period() - start.shot.period()).abs();
            largest(&self.map.miss(&there)) <= CLOSED * (1.0 + self.unit)
                && period <= CLOSED * start.shot.period()
        });
        if !is_same {
            self.map.set(self.index, self.from);
            return Ok(false);
        }
        let others = self.map.multipliers(&start.shot)?;
        self.map.set(self.index, self.from);
        let pairs = others.of.iter().zip(&start.multipliers.of);
        Ok(pairs.into_iter().all(|(a, b)| (a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-8))
    }

    /// Follows the branch from a place; says whether it was interrupted.
    fn branch(
        &mut self,
        start: Place,
        others: &mut Vec<Start>,
    ) -> Result<(Branch, bool), Failure> {
        let first = self.point(&start)?;
        let mut branch = Branch { points: vec![first], end: "points", ..Branch::default() };
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let mut length = FIRST;
        let mut here = start;
        while branch.points.len() < POINTS {
            if !self.map.goes_on() {
                branch.end = "interrupted";
                return Ok((branch, true));
            }
            let next = self.corrected(&here, length)?.filter(|next| {
                let turn = next.tangent.iter().zip(&here.tangent).map(|(a, b)| a * b);
                turn.sum::<f64>() > 0.9
            });
            let Some(next) = next else {
                length *= 0.5;
                if length < SHORTEST {
                    branch.end = "no further periodic motion";
                    break;
                }
                continue;
            };
            self.specials(&here, &next, length, &mut branch, others)?;
            if next.p < low || next.p > high {
                let end = if next.p < low { low } else { high };
                let ends = (here.p - end, next.p - end);
                let last = self.locate(&here, length, ends, &|place| place.p - end)?;
                if let Some(last) = last.filter(|_| ends.0 != 0.0) {
                    let point = self.point(&last)?;
                    branch.points.push(point);
                }
                branch.end = "range";
                break;
            }
            let point = self.point(&next)?;
            branch.points.push(point);
            length = (1.5 * length).min(LONGEST);
            here = next;
        }
        Ok((branch, false))
    }
}
