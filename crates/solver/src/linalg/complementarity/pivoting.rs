//! Many contacts: states by pivoting.
//!
//! With frictions that are given, what the contacts carry is the smallest value of
//! $\tfrac12 P\cdot DP + \zeta_0\cdot P$ over $P \ge 0$. It is found as by Lawson and Hanson (1974, ch. 23): the
//! contact that closes fastest begins to carry, and those that would pull then are let go. Frictions are settled in
//! turn with that.

use crate::linalg::complementarity::{
    ContactProblem, ContactSolution, ContactState, Rubbing, direction,
};

/// How often the frictions are settled in turn with the contacts.
const ROUNDS: usize = 200;

impl ContactProblem {
    /// States by pivoting, if they fit.
    pub(super) fn pivoted(&self) -> Option<ContactSolution> {
        let mut rubbing: Vec<Rubbing> = self
            .pads
            .iter()
            .map(|pad| match pad.sliding {
                Some(direction) => Rubbing::Slip(direction),
                None if pad.acts() => Rubbing::Stick,
                None => Rubbing::Slip([1.0, 0.0]),
            })
            .collect();
        for round in 0..ROUNDS {
            let (states, x) = self.supported(&rubbing)?;
            if let Some(found) = self.with_states(&states) {
                return Some(found);
            }
            // One friction after another, so that none are exchanged for ever.
            let wrong = |j: &usize| self.settled(*j, rubbing[*j], &x) != rubbing[*j];
            let all: Vec<usize> = (0..self.pads.len()).filter(wrong).collect();
            let few = if round < ROUNDS / 2 { all.len() } else { 1 };
            if all.is_empty() {
                return None;
            }
            for &j in &all[..few.min(all.len())] {
                rubbing[j] = self.settled(j, rubbing[j], &x);
            }
        }
        None
    }

    /// What a friction would do rather than what it does.
    fn settled(&self, j: usize, now: Rubbing, x: &[f64]) -> Rubbing {
        let (pad, place) = (&self.pads[j], self.place(j));
        if !pad.acts() || pad.sliding.is_some() || x[pad.contact] <= 0.0 {
            return now;
        }
        match now {
            Rubbing::Stick => {
                let force = libm::hypot(x[place], x[place + 1]);
                let held = pad.holding * (x[pad.contact] + self.offset[pad.contact]);
                if force <= held * (1.0 + 1e-10) {
                    return Rubbing::Stick;
                }
                Rubbing::Slip(direction(&x[place..]).map(|s| -s))
            }
            Rubbing::Follow(_) => now,
            Rubbing::Slip(s) => {
                let rate = [self.rate(x, place), self.rate(x, place + 1)];
                if s[0] * rate[0] + s[1] * rate[1] < -self.noise[place] {
                    return Rubbing::Stick;
                }
                now
            }
        }
    }

    /// Which contacts carry with given frictions.
    fn supported(&self, rubbing: &[Rubbing]) -> Option<(Vec<ContactState>, Vec<f64>)> {
        let n = self.count();
        let mut carries: Vec<bool> = vec![false; n];
        let mut x = vec![0.0; self.size()];
        for _ in 0..10 * n + 10 {
            let rate = |x: &[f64], i: usize| self.rate(x, i) + self.noise[i];
            let waiting = (0..n).filter(|&i| !carries[i] && !self.released[i]);
            let next = waiting.fold(None, |worst: Option<usize>, i| {
                let at = rate(&x, i);
                let lower = worst.is_none_or(|w| at < rate(&x, w));
                if at < 0.0 && lower { Some(i) } else { worst }
            });
            let Some(next) = next else { break };
            carries[next] = true;
            for _ in 0..n {
                let (states, all) = self.spread(&carries, rubbing);
                let wanted = self.carried(&states, &all).impulse;
                // As far as nothing pulls.
                let part = (0..n)
                    .filter(|&i| carries[i] && wanted[i] <= 0.0)
                    .map(|i| if x[i] > 0.0 { x[i] / (x[i] - wanted[i]) } else { 0.0 })
                    .fold(1.0_f64, f64::min);
                x.iter_mut().zip(&wanted).for_each(|(x, w)| *x += part * (w - *x));
                if part >= 1.0 {
                    break;
                }
                let size = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                for i in 0..n {
                    if carries[i] && x[i] <= 1e-14 * size {
                        (carries[i], x[i]) = (false, 0.0);
                    }
                }
            }
            if x.iter().any(|x| !x.is_finite()) {
                return None;
            }
        }
        Some((self.spread(&carries, rubbing).0, x))
    }

    /// The states of contacts and of all frictions.
    fn spread(
        &self,
        carries: &[bool],
        rubbing: &[Rubbing],
    ) -> (Vec<ContactState>, Vec<Option<Rubbing>>) {
        let state = |i: usize| {
            if !carries[i] {
                return ContactState::Open;
            }
            ContactState::Closed(self.pads_of(i).map(|(j, _)| rubbing[j]).collect())
        };
        let all = self.pads.iter().zip(rubbing);
        let of = all.map(|(pad, rubs)| carries[pad.contact].then_some(*rubs)).collect();
        ((0..carries.len()).map(state).collect(), of)
    }
}
