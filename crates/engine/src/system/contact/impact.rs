//! Impacts: velocities after contacts were hit.
//!
//! Newton's law settles the contacts that are approached, one set after another: what that drives together is hit
//! next. Those of Poisson and Moreau settle all contacts that touch together. Where restitution and friction
//! together would gain energy, restitution is less, by a common factor.

use pfaff_model::ImpactLaw;
use pfaff_solver::{ContactProblem, EvalError};

use crate::system::contact::{ContactSolver, Factorised};

/// Sets of contacts one after another, after which all that touch are settled together.
const SEQUENCE: usize = 200;
/// How often they are settled together.
const TOGETHER: usize = 50;
/// Halvings in the search for the largest restitution that gains no energy.
const HALVINGS: usize = 50;
/// A gain of energy that is rounding; and how much less restitution may be without a note.
const GAIN: f64 = 1e-14;
const NOTED: f64 = 1e-9;
/// Velocities that are smaller, in parts of those before, are rounding.
const SLOW: f64 = 1e-12;

/// What impacts have done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impacted {
    /// Whether a contact touches and is not left.
    pub(crate) rests: bool,
    /// Whether another order, or all at once, leads elsewhere.
    pub(crate) is_ambiguous: bool,
    /// Whether restitution had to be less.
    pub(crate) is_reduced: bool,
}

impl Impacted {
    /// Takes note of further ones.
    pub(crate) fn add(&mut self, other: &Self) {
        self.rests |= other.rests;
        self.is_ambiguous |= other.is_ambiguous;
        self.is_reduced |= other.is_reduced;
    }
}

/// Velocities after one set of contacts.
struct After {
    v: Vec<f64>,
    is_unique: bool,
    is_reduced: bool,
}

impl ContactSolver {
    /// Lets the contacts of some events, and all others that touch, act on velocities; `None` if nothing fits. Contacts
    /// that are left too slowly for the accelerations, those without contacts if none are given, rest.
    pub(crate) fn impact(
        &mut self,
        t: f64,
        q: &[f64],
        v: &mut [f64],
        events: &[usize],
        accelerations: Option<&[f64]>,
    ) -> Result<Option<Impacted>, EvalError> {
        let mut done = Impacted::default();
        self.measure(t, q, v);
        let touches = |k: &usize| events.contains(&self.contacts[*k].1) || self.is_touching(*k);
        let some: Vec<usize> = (0..self.contacts.len()).filter(touches).collect();
        let speed = |k: &usize| {
            let touch = self.touch(*k);
            let terms = touch.normal.iter().zip(&*v).map(|(c, v)| (c * v).abs());
            terms.sum::<f64>() + touch.closing.abs()
        };
        let slow = SLOW * some.iter().map(speed).fold(0.0, f64::max);
        let zeros = vec![0.0; v.len()];
        for pass in 0..SEQUENCE + TOGETHER {
            let hit: Vec<usize> =
                some.iter().copied().filter(|&k| self.touch(k).closing < -slow).collect();
            let Some(&first) = hit.first() else { break };
            let law = self.contacts[first].2;
            let in_turn = law == ImpactLaw::Newton && pass < SEQUENCE;
            let mut factorised = self.factorised();
            if in_turn && pass == 0 && some.len() > hit.len() {
                let [one, all] = [&hit, &some]
                    .map(|set| self.after(&mut factorised, set, ImpactLaw::Moreau, v, &zeros));
                done.is_ambiguous |= differs(one.as_ref(), all.as_ref());
            }
            let set = if in_turn { &hit } else { &some };
            let Some(after) = self.after(&mut factorised, set, law, v, &zeros) else {
                return Ok(None);
            };
            if after.v.iter().any(|v| !v.is_finite()) {
                return Err(EvalError::NotFinite);
            }
            done.is_ambiguous |= !after.is_unique;
            done.is_reduced |= after.is_reduced;
            v.copy_from_slice(&after.v);
            self.measure(t, q, v);
        }
        done.rests = some.iter().any(|&k| self.touch(k).closing <= slow);
        if !done.rests {
            let free = || {
                let (force, drift) = self.kkt.right_side();
                self.factorised().solve(&force, &drift)
            };
            let a = accelerations.map_or_else(free, <[f64]>::to_vec);
            done.rests = some.iter().any(|&k| self.is_unresolved(k, &a));
        }
        Ok(Some(done))
    }

    /// Velocities after one set of contacts was hit, with as much restitution as gains no energy.
    fn after(
        &self,
        factorised: &mut Factorised,
        set: &[usize],
        law: ImpactLaw,
        v: &[f64],
        zeros: &[f64],
    ) -> Option<After> {
        let (problem, columns) = self.problem(factorised, set, (v, zeros));
        let before = factorised.kinetic(v);
        let with = |part: f64| {
            let (impulse, is_unique) = self.impulse(&problem, set, law, part)?;
            let after = (0..v.len()).map(|i| {
                let terms = || columns.iter().zip(&impulse).map(|(column, p)| column[i] * p);
                let sum = v[i] + terms().sum::<f64>();
                // What is left of terms that cancel is rounding.
                let size = v[i].abs() + terms().map(f64::abs).sum::<f64>();
                if sum.abs() <= 8.0 * f64::EPSILON * size { 0.0 } else { sum }
            });
            let after = after.collect();
            Some(After { v: after, is_unique, is_reduced: part < 1.0 - NOTED })
        };
        let gains = |after: &After| factorised.kinetic(&after.v) > before * (1.0 + GAIN);
        let whole = with(1.0)?;
        if !gains(&whole) || self.is_driven(set) {
            return Some(whole);
        }
        let (mut least, mut most) = (0.0, 1.0);
        let mut best = with(0.0)?;
        for _ in 0..HALVINGS {
            let part = 0.5 * (least + most);
            let after = with(part)?;
            if gains(&after) {
                most = part;
            } else {
                (least, best) = (part, after);
            }
        }
        Some(best)
    }

    /// Whether what moves by itself takes part: then energy may be gained.
    fn is_driven(&self, set: &[usize]) -> bool {
        let v = self.kkt.velocity();
        let moves = |row: &[f64], rate: f64| {
            let terms = || row.iter().zip(v).map(|(c, v)| c * v);
            let own = rate - terms().sum::<f64>();
            own.abs() > 1e-12 * (rate.abs() + terms().map(f64::abs).sum::<f64>())
        };
        let mut normals = set.iter().map(|&k| (self.touch(k).normal, self.touch(k).closing));
        let rubs = set.iter().flat_map(|&k| self.rubs(k));
        let mut along = rubs.flat_map(|rub| rub.tangents.into_iter().zip(rub.slip));
        let rows = self.kkt.full_jacobian();
        let mut constraints = rows.chunks_exact(v.len().max(1)).zip(self.kkt.residual());
        normals.any(|(row, rate)| moves(row, rate))
            || along.any(|(row, rate)| moves(row, rate))
            || constraints.any(|(row, &ψ)| moves(row, ψ))
    }

    /// The impulses of a set of contacts, with a part of their restitution.
    fn impulse(
        &self,
        problem: &ContactProblem,
        set: &[usize],
        law: ImpactLaw,
        part: f64,
    ) -> Option<(Vec<f64>, bool)> {
        let count = set.len();
        let mut problem = problem.clone();
        let touches: Vec<_> = set.iter().map(|&k| self.touch(k)).collect();
        for (i, touch) in touches.iter().enumerate() {
            let e = match law {
                ImpactLaw::Newton | ImpactLaw::Moreau if touch.closing < 0.0 => {
                    part * touch.restitution
                }
                ImpactLaw::Newton | ImpactLaw::Moreau | ImpactLaw::Poisson => 0.0,
            };
            problem.free[i] = (1.0 + e) * touch.closing;
        }
        let slips = set.iter().flat_map(|&k| self.rubs(k)).flat_map(|rub| rub.slip);
        problem.free[count..].iter_mut().zip(slips).for_each(|(free, slip)| *free = slip);
        let first = problem.solve()?;
        if law != ImpactLaw::Poisson {
            return Some((first.impulse, first.is_unique));
        }
        // Expansion gives back a part of what compression took.
        for (i, touch) in touches.iter().enumerate() {
            problem.offset[i] = part * touch.restitution * first.impulse[i];
        }
        let size = problem.free.len();
        for i in 0..size {
            let row = &problem.matrix[i * size..i * size + count];
            let back: f64 = row.iter().zip(&problem.offset).map(|(d, p)| d * p).sum();
            problem.free[i] = first.relative[i] + back;
        }
        let second = problem.solve()?;
        let mut impulse: Vec<f64> =
            first.impulse.iter().zip(&second.impulse).map(|(a, b)| a + b).collect();
        impulse.iter_mut().zip(&problem.offset).for_each(|(p, back)| *p += back);
        Some((impulse, first.is_unique && second.is_unique))
    }
}

/// Whether two ways lead to different velocities.
fn differs(one: Option<&After>, other: Option<&After>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let size = one.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    one.v.iter().zip(&other.v).any(|(a, b)| (a - b).abs() > 1e-6 * size)
}
