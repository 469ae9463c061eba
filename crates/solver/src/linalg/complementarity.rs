//! Contacts: which of them carry, stick or slip, and with which impulses or forces.
//!
//! With normal parts $P_i \ge 0$ and tangential parts $Q_i$,
//!
//! $$ \zeta = \zeta_0 + D\,(P, Q), \qquad 0 \le \zeta_i \perp P_i \ge 0, \qquad
//!    |Q_i| \le \mu_i\,(P_i + o_i), $$
//!
//! where $Q_i = -s_i \mu_i (P_i + o_i)$ if the contact slips with the sign $s_i$ and $\zeta_{n+i} = 0$ if it sticks.
//! Each choice of states makes this a linear system; the right one is that whose solution has the right signs. It is
//! guessed by projected relaxation, and found by trying all where the guess is wrong.

use crate::linalg::rank::RankRevealing;

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactState {
    /// It carries nothing.
    Open,
    /// It carries and does not slide, held by friction.
    Stick,
    /// It carries and slides with this sign; without friction the sign means nothing.
    Slip(f64),
}

/// Contacts that are looked at together. Lists have one entry for each contact.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    /// $D$ by rows: first the normal directions of all, then the tangential ones.
    pub matrix: Vec<f64>,
    /// $\zeta_0$, in the same order.
    pub free: Vec<f64>,
    /// $\mu$ of what slides.
    pub friction: Vec<f64>,
    /// $\mu$ up to which friction holds.
    pub holding: Vec<f64>,
    /// The sign with which a contact slides, where that is known.
    pub sliding: Vec<Option<f64>>,
    /// Contacts that must not carry.
    pub released: Vec<bool>,
    /// $o$, what each contact carries in any case.
    pub offset: Vec<f64>,
    /// The sizes of $\zeta$ below which everything is rounding, in the order of `free`.
    pub noise: Vec<f64>,
}

/// What the contacts do and carry.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSolution {
    /// One for each contact.
    pub states: Vec<ContactState>,
    /// $P$, then $Q$.
    pub impulse: Vec<f64>,
    /// $\zeta$
    pub relative: Vec<f64>,
    /// Whether no other states give other rates.
    pub is_unique: bool,
}

/// Contacts up to which all states are tried.
const FEW: usize = 7;
/// Sweeps of the relaxation.
const SWEEPS: usize = 400;
/// What is smaller, in parts of the largest number of its kind, is rounding.
const ROUNDING: f64 = 1e-10;

impl ContactProblem {
    /// How many contacts there are.
    fn count(&self) -> usize {
        self.friction.len()
    }

    fn has_friction(&self, i: usize) -> bool {
        self.friction[i] > 0.0 || self.holding[i] > 0.0
    }

    /// The states that a contact may have.
    fn choices(&self, i: usize) -> Vec<ContactState> {
        use ContactState::{Open, Slip, Stick};
        match (self.released[i], self.has_friction(i), self.sliding[i]) {
            (true, ..) => vec![Open],
            (false, false, _) => vec![Slip(1.0), Open],
            (false, true, Some(sign)) => vec![Slip(sign), Open],
            (false, true, None) => vec![Stick, Slip(1.0), Slip(-1.0), Open],
        }
    }

    /// Finds the states and what is carried; `None` if no states fit.
    pub fn solve(&self) -> Option<ContactSolution> {
        let n = self.count();
        let guess = self.relaxed();
        let guessed = self.with_states(&guess);
        let has_friction = (0..n).any(|i| self.has_friction(i));
        if n > FEW || (guessed.is_some() && !has_friction) {
            return guessed;
        }
        let mut found = guessed;
        let choices: Vec<Vec<ContactState>> = (0..n).map(|i| self.choices(i)).collect();
        let mut places = vec![0; n];
        loop {
            let states: Vec<ContactState> =
                places.iter().zip(&choices).map(|(&k, of)| of[k]).collect();
            if let Some(other) = self.with_states(&states) {
                match &mut found {
                    Some(first) => {
                        first.is_unique &= self.same(&first.relative, &other.relative);
                    }
                    None => found = Some(other),
                }
            }
            let Some(i) = (0..n).find(|&i| places[i] + 1 < choices[i].len()) else { break };
            places[i] += 1;
            places[..i].fill(0);
        }
        found
    }

    /// Whether two answers differ by rounding only.
    fn same(&self, a: &[f64], b: &[f64]) -> bool {
        let size = self.free.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut pairs = a.iter().zip(b).zip(&self.noise);
        pairs.all(|((a, b), noise)| (a - b).abs() <= 1e3 * noise + 1e-7 * size)
    }

    /// States by projected relaxation.
    fn relaxed(&self) -> Vec<ContactState> {
        let n = self.count();
        let m = 2 * n;
        let mut x = vec![0.0; m];
        let row = |x: &[f64], i: usize| -> f64 {
            let terms = self.matrix[i * m..(i + 1) * m].iter().zip(x);
            self.free[i] + terms.map(|(d, x)| d * x).sum::<f64>()
        };
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for i in 0..n {
                if self.released[i] {
                    continue;
                }
                let diagonal = self.matrix[i * m + i];
                if diagonal > 0.0 {
                    let next = (x[i] - row(&x, i) / diagonal).max(0.0);
                    moved = moved.max((next - x[i]).abs() * diagonal);
                    x[i] = next;
                }
                let j = n + i;
                let diagonal = self.matrix[j * m + j];
                let (slips, holds) = (self.friction[i], self.holding[i]);
                let carried = x[i] + self.offset[i];
                match self.sliding[i] {
                    Some(sign) => x[j] = -sign * slips * carried,
                    None if diagonal > 0.0 && self.has_friction(i) => {
                        let wanted = x[j] - row(&x, j) / diagonal;
                        let next = if wanted.abs() <= holds * carried {
                            wanted
                        } else {
                            (slips * carried).copysign(wanted)
                        };
                        moved = moved.max((next - x[j]).abs() * diagonal);
                        x[j] = next;
                    }
                    None => {}
                }
            }
            if (0..m).all(|i| moved <= 1e-3 * self.noise[i].max(f64::MIN_POSITIVE)) {
                break;
            }
        }
        let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let state = |i: usize| {
            if x[i] <= ROUNDING * largest && self.offset[i] == 0.0 {
                return if self.choices(i).len() > 1 && row(&x, i).abs() <= self.noise[i] {
                    self.choices(i)[0]
                } else {
                    ContactState::Open
                };
            }
            match self.sliding[i] {
                Some(sign) => ContactState::Slip(sign),
                None if !self.has_friction(i) => ContactState::Slip(1.0),
                None if row(&x, n + i).abs() <= 1e3 * self.noise[n + i] => ContactState::Stick,
                None => ContactState::Slip(-x[n + i].signum()),
            }
        };
        (0..n).map(state).collect()
    }

    /// The solution with given states, if its signs are right.
    fn with_states(&self, states: &[ContactState]) -> Option<ContactSolution> {
        let n = self.count();
        let m = 2 * n;
        // Unknowns: P of what carries, Q of what sticks.
        let mut unknown: Vec<usize> =
            (0..n).filter(|&i| states[i] != ContactState::Open).collect();
        unknown.extend((0..n).filter(|&i| states[i] == ContactState::Stick).map(|i| n + i));
        let size = unknown.len();
        let mut known = vec![0.0; m];
        for (i, state) in states.iter().enumerate() {
            if let ContactState::Slip(sign) = state {
                known[n + i] = -sign * self.friction[i] * self.offset[i];
            }
        }
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        for (a, &i) in unknown.iter().enumerate() {
            let row = &self.matrix[i * m..(i + 1) * m];
            right[a] = -self.free[i] - row.iter().zip(&known).map(|(d, x)| d * x).sum::<f64>();
            for (b, &j) in unknown.iter().enumerate() {
                matrix[a * size + b] = row[j]
                    + match states.get(j) {
                        // What slips carries its friction with it.
                        Some(ContactState::Slip(sign)) => -sign * self.friction[j] * row[n + j],
                        _ => 0.0,
                    };
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
            if let Some(ContactState::Slip(sign)) = states.get(i) {
                impulse[n + i] -= sign * self.friction[i] * value;
            }
        }
        let relative: Vec<f64> = (0..m)
            .map(|i| {
                let row = &self.matrix[i * m..(i + 1) * m];
                self.free[i] + row.iter().zip(&impulse).map(|(d, x)| d * x).sum::<f64>()
            })
            .collect();
        let fits = impulse.iter().all(|x| x.is_finite())
            && (0..n).all(|i| self.is_right(states[i], i, &impulse, &relative));
        fits.then(|| ContactSolution {
            states: states.to_vec(),
            impulse,
            relative,
            is_unique: true,
        })
    }

    /// Whether a contact has the signs of its state.
    fn is_right(
        &self,
        state: ContactState,
        i: usize,
        impulse: &[f64],
        relative: &[f64],
    ) -> bool {
        let n = self.count();
        let largest = impulse.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let small = ROUNDING * largest;
        let (p, q) = (impulse[i], impulse[n + i]);
        let carries = p >= -small && relative[i].abs() <= self.noise[i];
        match state {
            ContactState::Open => relative[i] >= -self.noise[i],
            ContactState::Stick => {
                let held = self.holding[i] * (p + self.offset[i]);
                carries
                    && relative[n + i].abs() <= self.noise[n + i]
                    && q.abs() <= held * (1.0 + ROUNDING) + small
            }
            ContactState::Slip(_) if !self.has_friction(i) => carries,
            ContactState::Slip(_) if self.sliding[i].is_some() => carries,
            ContactState::Slip(sign) => carries && sign * relative[n + i] >= -self.noise[n + i],
        }
    }
}
