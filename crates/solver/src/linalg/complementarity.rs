//! Contacts: which of them carry, stick or slip, and with which impulses or forces.
//!
//! With normal parts $P_i \ge 0$ and frictions $Q_j$ of the contacts $i(j)$, each along a line or in a plane,
//!
//! $$ \zeta = \zeta_0 + D\,(P, Q), \qquad 0 \le \zeta_i \perp P_i \ge 0, \qquad
//!    |Q_j| \le \mu_j\,(P_{i} + o_{i}), $$
//!
//! where $Q_j = -s_j \mu_j (P_i + o_i)$ if it slips along the unit vector $s_j$, and $\zeta_j = 0$ if it sticks. Each
//! choice of states makes this a linear system, apart from directions $s_j \parallel \zeta_j$ in planes, which are
//! found by Newton's iteration for their angles. The right choice is that whose solution has the right signs. It is
//! guessed by projected relaxation, and found by trying all, or by pivoting, where the guess is wrong.

mod pivoting;
mod repeats;
mod states;

/// What a friction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rubbing {
    /// It holds.
    Stick,
    /// It slides along this unit vector; along a line the second component is zero.
    Slip([f64; 2]),
    /// Others hold what it would hold: its rate is this multiple of that of another friction, where there is one
    /// (its index among all, and the factor).
    Follow(Option<(usize, f64)>),
}

/// What a contact does.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactState {
    /// It carries nothing.
    Open,
    /// It carries, and each of its frictions does this.
    Closed(Vec<Rubbing>),
    /// It touches and carries nothing: others keep its gap.
    Idle,
}

impl ContactState {
    /// Whether it is free.
    pub fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// A friction of a contact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pad {
    /// The contact whose load it has.
    pub contact: usize,
    /// Whether it acts in a plane, and not along a line.
    pub is_plane: bool,
    /// $\mu$ of what slides.
    pub friction: f64,
    /// $\mu$ up to which it holds.
    pub holding: f64,
    /// The direction in which it slides, where that is known.
    pub sliding: Option<[f64; 2]>,
}

impl Pad {
    pub(super) fn acts(&self) -> bool {
        self.friction > 0.0 || self.holding > 0.0
    }
}

/// Contacts that are looked at together. Lists have one entry for each contact.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    /// $D$ by rows: first the normal directions of all, then two for each friction. Those along a line have zeros in
    /// the second one.
    pub matrix: Vec<f64>,
    /// $\zeta_0$, in the same order.
    pub free: Vec<f64>,
    /// The frictions of all contacts, those of the first one first.
    pub pads: Vec<Pad>,
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

/// Choices of states up to which all are tried.
const MOST: usize = 20_000;
/// Sweeps of the relaxation.
const SWEEPS: usize = 400;
/// What is smaller, in parts of the largest number of its kind, is rounding.
const ROUNDING: f64 = 1e-10;

impl ContactProblem {
    /// How many contacts there are.
    fn count(&self) -> usize {
        self.released.len()
    }

    /// How many rows there are.
    fn size(&self) -> usize {
        self.free.len()
    }

    /// The first of the two places of a friction.
    fn place(&self, pad: usize) -> usize {
        self.count() + 2 * pad
    }

    /// The frictions of a contact.
    fn pads_of(&self, contact: usize) -> impl Iterator<Item = (usize, &Pad)> {
        self.pads.iter().enumerate().filter(move |(_, pad)| pad.contact == contact)
    }

    fn row(&self, i: usize) -> &[f64] {
        let m = self.size();
        &self.matrix[i * m..(i + 1) * m]
    }

    /// $\zeta_i$
    fn rate(&self, x: &[f64], i: usize) -> f64 {
        self.free[i] + self.row(i).iter().zip(x).map(|(d, x)| d * x).sum::<f64>()
    }

    /// The states that a contact may have; `guess` has directions in which frictions in planes may slide.
    fn choices(&self, i: usize, guess: &[[f64; 2]]) -> Vec<ContactState> {
        if self.released[i] {
            return vec![ContactState::Open];
        }
        let mut closed: Vec<Vec<Rubbing>> = vec![Vec::new()];
        for (j, pad) in self.pads_of(i) {
            let next = match (pad.acts(), pad.sliding, pad.is_plane) {
                (false, ..) => vec![Rubbing::Slip([1.0, 0.0])],
                (true, Some(direction), _) => vec![Rubbing::Slip(direction)],
                (true, None, false) => {
                    vec![Rubbing::Stick, Rubbing::Slip([1.0, 0.0]), Rubbing::Slip([-1.0, 0.0])]
                }
                (true, None, true) => {
                    let place = self.place(j);
                    let free = direction(&self.free[place..]);
                    vec![Rubbing::Stick, Rubbing::Slip(guess[j]), Rubbing::Slip(free)]
                }
            };
            closed = next
                .iter()
                .flat_map(|one| {
                    closed.iter().map(|before| [before.clone(), vec![*one]].concat())
                })
                .collect();
        }
        let mut all: Vec<ContactState> = closed.into_iter().map(ContactState::Closed).collect();
        all.push(ContactState::Open);
        all
    }

    /// Finds the states and what is carried; `None` if no states fit.
    pub fn solve(&self) -> Option<ContactSolution> {
        let n = self.count();
        let (guess, directions) = self.relaxed();
        let guessed = self.with_states(&guess);
        let has_friction = self.pads.iter().any(Pad::acts);
        if guessed.is_some() && !has_friction {
            return guessed;
        }
        let choices: Vec<Vec<ContactState>> =
            (0..n).map(|i| self.choices(i, &directions)).collect();
        let count = choices.iter().fold(1_usize, |count, of| count.saturating_mul(of.len()));
        if count > MOST {
            return guessed.or_else(|| self.pivoted());
        }
        let mut found = guessed;
        let mut places = vec![0; n];
        loop {
            let states: Vec<ContactState> =
                places.iter().zip(&choices).map(|(&k, of)| of[k].clone()).collect();
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

    /// States by projected relaxation, and the directions in which frictions slide.
    fn relaxed(&self) -> (Vec<ContactState>, Vec<[f64; 2]>) {
        let (n, m) = (self.count(), self.size());
        let mut x = vec![0.0; m];
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for i in 0..n {
                if self.released[i] {
                    continue;
                }
                let diagonal = self.matrix[i * m + i];
                if diagonal > 0.0 {
                    let next = (x[i] - self.rate(&x, i) / diagonal).max(0.0);
                    moved = moved.max((next - x[i]).abs() * diagonal);
                    x[i] = next;
                }
                for (j, pad) in self.pads_of(i) {
                    let carried = x[i] + self.offset[i];
                    moved = moved.max(self.relax(&mut x, pad, self.place(j), carried));
                }
            }
            if (0..m).all(|i| moved <= 1e-3 * self.noise[i].max(f64::MIN_POSITIVE)) {
                break;
            }
        }
        let directions: Vec<[f64; 2]> =
            (0..self.pads.len()).map(|j| direction(&x[self.place(j)..]).map(|s| -s)).collect();
        let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let state = |i: usize| {
            if x[i] <= ROUNDING * largest && self.offset[i] == 0.0 {
                let choices = self.choices(i, &directions);
                return if choices.len() > 1 && self.rate(&x, i).abs() <= self.noise[i] {
                    choices[0].clone()
                } else {
                    ContactState::Open
                };
            }
            let rubbing = self.pads_of(i).map(|(j, pad)| {
                let place = self.place(j);
                let holds =
                    (place..place + 2).all(|k| self.rate(&x, k).abs() <= 1e3 * self.noise[k]);
                match pad.sliding {
                    Some(direction) => Rubbing::Slip(direction),
                    None if !pad.acts() => Rubbing::Slip([1.0, 0.0]),
                    None if holds => Rubbing::Stick,
                    None => Rubbing::Slip(directions[j]),
                }
            });
            ContactState::Closed(rubbing.collect())
        };
        ((0..n).map(state).collect(), directions)
    }

    /// One step of the relaxation for a friction; says how much that moves.
    fn relax(&self, x: &mut [f64], pad: &Pad, place: usize, carried: f64) -> f64 {
        if let Some(direction) = pad.sliding {
            let force = pad.friction * carried;
            (x[place], x[place + 1]) = (-direction[0] * force, -direction[1] * force);
            return 0.0;
        }
        let m = self.size();
        let rows = if pad.is_plane { 2 } else { 1 };
        let diagonal =
            (place..place + rows).map(|k| self.matrix[k * m + k]).fold(0.0, f64::max);
        if diagonal <= 0.0 || !pad.acts() {
            return 0.0;
        }
        let mut wanted = [0.0; 2];
        for (k, wanted) in wanted.iter_mut().take(rows).enumerate() {
            *wanted = x[place + k] - self.rate(x, place + k) / diagonal;
        }
        let length = libm::hypot(wanted[0], wanted[1]);
        if length > pad.holding * carried {
            let part = if length > 0.0 { pad.friction * carried / length } else { 0.0 };
            wanted = wanted.map(|w| w * part);
        }
        let moved = (wanted[0] - x[place]).abs().max((wanted[1] - x[place + 1]).abs());
        (x[place], x[place + 1]) = (wanted[0], wanted[1]);
        moved * diagonal
    }
}

/// The unit vector along the first two components.
fn direction(of: &[f64]) -> [f64; 2] {
    let length = libm::hypot(of[0], of[1]);
    if length > 0.0 { [of[0] / length, of[1] / length] } else { [1.0, 0.0] }
}

#[cfg(test)]
mod tests;
