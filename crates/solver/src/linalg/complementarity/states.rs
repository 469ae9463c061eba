//! What contacts carry if it is known which of them carry, stick and slip.

use crate::linalg::complementarity::{
    ContactProblem, ContactSolution, ContactState, Pad, ROUNDING, Rubbing, direction,
};
use crate::linalg::rank::RankRevealing;

/// Newton's iteration for the directions of what slips in planes.
const ITERATIONS: usize = 40;
/// The largest change of an angle in one iteration.
const LARGEST: f64 = 0.5;

/// What is carried, and the rates that this leads to.
pub(super) struct Carried {
    pub(super) impulse: Vec<f64>,
    pub(super) relative: Vec<f64>,
}

impl ContactProblem {
    /// The solution with given states, if its signs are right. Directions in planes that are not known are found
    /// from those given.
    pub(super) fn with_states(&self, states: &[ContactState]) -> Option<ContactSolution> {
        let mut rubbing = self.rubbing(states);
        let turning: Vec<usize> = (0..self.pads.len())
            .filter(|&j| {
                let pad = &self.pads[j];
                pad.is_plane
                    && pad.acts()
                    && pad.sliding.is_none()
                    && matches!(rubbing[j], Some(Rubbing::Slip(_)))
            })
            .collect();
        let carried = if turning.is_empty() {
            self.carried(states, &rubbing)
        } else {
            self.turned(states, &mut rubbing, &turning)?
        };
        let Carried { impulse, relative } = carried;
        let fits = impulse.iter().all(|x| x.is_finite())
            && (0..self.count()).all(|i| self.is_right(i, &states[i], &impulse, &relative))
            && (0..self.pads.len()).all(|j| self.rubs_right(j, &rubbing, &impulse, &relative));
        let mut places = rubbing.into_iter();
        let states = states.iter().map(|state| match state {
            ContactState::Open | ContactState::Idle => state.clone(),
            ContactState::Closed(of) => {
                let now = places.by_ref().flatten().take(of.len());
                ContactState::Closed(now.collect())
            }
        });
        fits.then(|| ContactSolution {
            states: states.collect(),
            impulse,
            relative,
            is_unique: true,
        })
    }

    /// What each friction does; none for those of open contacts.
    fn rubbing(&self, states: &[ContactState]) -> Vec<Option<Rubbing>> {
        let mut all = Vec::with_capacity(self.pads.len());
        for (i, state) in states.iter().enumerate() {
            match state {
                ContactState::Open | ContactState::Idle => {
                    all.extend(self.pads_of(i).map(|_| None));
                }
                ContactState::Closed(of) => all.extend(of.iter().map(|r| Some(*r))),
            }
        }
        all
    }

    /// What is carried if all directions are known.
    pub(super) fn carried(
        &self,
        states: &[ContactState],
        rubbing: &[Option<Rubbing>],
    ) -> Carried {
        let m = self.size();
        // Unknowns: P of what carries, Q of what sticks.
        let mut unknown: Vec<usize> = (0..self.count())
            .filter(|&i| matches!(states[i], ContactState::Closed(_)))
            .collect();
        for (j, pad) in self.pads.iter().enumerate() {
            if rubbing[j] == Some(Rubbing::Stick) {
                let place = self.place(j);
                unknown.extend(place..=place + usize::from(pad.is_plane));
            }
        }
        // What slips carries its friction with it: Q = −s μ (P + o).
        let mut known = vec![0.0; m];
        let mut tied: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.count()];
        for (j, pad) in self.pads.iter().enumerate() {
            if let Some(Rubbing::Slip(s)) = rubbing[j] {
                for (k, s) in s.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                    let part = -s * pad.friction;
                    known[self.place(j) + k] = part * self.offset[pad.contact];
                    tied[pad.contact].push((self.place(j) + k, part));
                }
            }
        }
        let size = unknown.len();
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        for (a, &i) in unknown.iter().enumerate() {
            let row = self.row(i);
            right[a] = -self.free[i] - row.iter().zip(&known).map(|(d, x)| d * x).sum::<f64>();
            for (b, &j) in unknown.iter().enumerate() {
                let along = tied.get(j).into_iter().flatten();
                matrix[a * size + b] =
                    along.fold(row[j], |sum, &(k, part)| sum + part * row[k]);
            }
        }
        let mut x = vec![0.0; size];
        if size > 0 {
            let mut split = RankRevealing::default();
            split.factor(size, size, &matrix, 1e-12);
            split.solve(&right, &mut x);
        }
        let mut impulse = known;
        for (&i, &value) in unknown.iter().zip(&x) {
            impulse[i] += value;
            for &(k, part) in tied.get(i).into_iter().flatten() {
                impulse[k] += part * value;
            }
        }
        let relative = (0..m).map(|i| self.rate(&impulse, i)).collect();
        Carried { impulse, relative }
    }

    /// Finds the directions of what slips in planes: $\zeta_j \parallel s_j$.
    fn turned(
        &self,
        states: &[ContactState],
        rubbing: &mut [Option<Rubbing>],
        turning: &[usize],
    ) -> Option<Carried> {
        let mut angles: Vec<f64> = turning
            .iter()
            .map(|&j| match rubbing[j] {
                Some(Rubbing::Slip(s)) => libm::atan2(s[1], s[0]),
                _ => 0.0,
            })
            .collect();
        let at = |angles: &[f64], rubbing: &mut [Option<Rubbing>]| {
            for (&j, angle) in turning.iter().zip(angles) {
                rubbing[j] = Some(Rubbing::Slip([libm::cos(*angle), libm::sin(*angle)]));
            }
            let carried = self.carried(states, rubbing);
            // The angle between a direction and the slip that it leads to.
            let off = turning.iter().zip(angles).map(|(&j, angle)| {
                let [x, y] = direction(&carried.relative[self.place(j)..]);
                let (cos, sin) = (libm::cos(*angle), libm::sin(*angle));
                libm::atan2(y * cos - x * sin, x * cos + y * sin)
            });
            let off: Vec<f64> = off.collect();
            (carried, off)
        };
        let k = turning.len();
        let norm = |off: &[f64]| off.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let (mut carried, mut off) = at(&angles, rubbing);
        let mut best = (norm(&off), angles.clone());
        for _ in 0..ITERATIONS {
            if !off.iter().all(|x| x.is_finite()) {
                return None;
            }
            if norm(&off) <= 1e-15 {
                break;
            }
            let mut matrix = vec![0.0; k * k];
            for b in 0..k {
                let mut moved = angles.clone();
                moved[b] += 1e-6;
                let (_, there) = at(&moved, rubbing);
                (0..k).for_each(|a| matrix[a * k + b] = (there[a] - off[a]) / 1e-6);
            }
            let mut split = RankRevealing::default();
            split.factor(k, k, &matrix, 1e-12);
            let mut step = vec![0.0; k];
            split.solve(&off, &mut step);
            for (angle, step) in angles.iter_mut().zip(&step) {
                *angle -= step.clamp(-LARGEST, LARGEST);
            }
            (carried, off) = at(&angles, rubbing);
            if norm(&off) < best.0 {
                best = (norm(&off), angles.clone());
            } else if best.0 < 1e-9 {
                break;
            }
        }
        if norm(&off) > best.0 {
            (carried, _) = at(&best.1, rubbing);
        }
        Some(carried)
    }

    /// Whether a contact has the signs of its state.
    fn is_right(
        &self,
        i: usize,
        state: &ContactState,
        impulse: &[f64],
        relative: &[f64],
    ) -> bool {
        let largest = impulse.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        match state {
            ContactState::Open => relative[i] >= -self.noise[i],
            ContactState::Idle => relative[i].abs() <= self.noise[i],
            ContactState::Closed(_) => {
                impulse[i] >= -ROUNDING * largest && relative[i].abs() <= self.noise[i]
            }
        }
    }

    /// Whether a friction has the signs of what it does.
    fn rubs_right(
        &self,
        j: usize,
        rubbing: &[Option<Rubbing>],
        impulse: &[f64],
        relative: &[f64],
    ) -> bool {
        let (pad, place) = (&self.pads[j], self.place(j));
        let small = ROUNDING * impulse.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let rate = &relative[place..place + 2];
        let noise = self.noise[place];
        let Some(does) = rubbing[j] else { return true };
        let load = |pad: &Pad| pad.holding * (impulse[pad.contact] + self.offset[pad.contact]);
        match does {
            Rubbing::Stick => {
                let lent = self.pads.iter().zip(rubbing).map(|(pad, rubs)| match rubs {
                    Some(Rubbing::Follow(Some((leader, part)))) if *leader == j => {
                        part.abs() * load(pad)
                    }
                    _ => 0.0,
                });
                let held = load(pad) + lent.sum::<f64>();
                let force = libm::hypot(impulse[place], impulse[place + 1]);
                rate.iter().all(|rate| rate.abs() <= noise)
                    && force <= held * (1.0 + ROUNDING) + small
            }
            Rubbing::Follow(_) => rate.iter().all(|rate| rate.abs() <= noise),
            Rubbing::Slip(_) if !pad.acts() || pad.sliding.is_some() => true,
            Rubbing::Slip(s) => {
                let along = s[0] * rate[0] + s[1] * rate[1];
                let across = s[0] * rate[1] - s[1] * rate[0];
                along >= -noise && across.abs() <= noise + 1e-9 * along.abs()
            }
        }
    }
}
