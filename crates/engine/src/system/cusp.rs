//! Whether a motion turns round at a place where a constraint loses its hold.
//!
//! Where $\partial\varphi/\partial q$ vanishes, $\varphi = 0$ leaves every direction open. A motion that goes
//! straight through such a place is regular. One that comes out of it
//! backwards, as at the tip of $y^2 = x^3$, would need a reaction beyond all bounds: nothing in the model
//! says how it goes on.

use crate::system::kkt::Kkt;

/// So many constraints are followed through such places at once.
const MOST: usize = 16;

/// What is remembered of the steps so far. Nothing is allocated after the start.
#[derive(Clone, Debug)]
pub(crate) struct CuspWatch {
    /// The largest $|A_a|$ so far, of each constraint.
    largest: Vec<f64>,
    /// For each constraint the velocity with which the motion came near, while it is near.
    entered: Vec<Option<Vec<f64>>>,
    spare: Vec<Vec<f64>>,
    /// The constraint at which the motion turned round.
    pub(crate) lost: Option<usize>,
}

impl CuspWatch {
    pub(crate) fn new(n: usize, m: usize) -> Self {
        Self {
            largest: vec![0.0; m],
            entered: vec![None; m],
            spare: vec![vec![0.0; n]; m.min(MOST)],
            lost: None,
        }
    }

    /// Takes note of a step's end, at which the core was evaluated. Tells whether the motion turned round.
    pub(crate) fn is_lost(&mut self, kkt: &Kkt, v: &[f64]) -> bool {
        /// A row this small against its largest: the constraint hardly holds.
        const NEAR: f64 = 1e-3;
        for a in (0..kkt.m).filter(|&a| kkt.holonomic[a]) {
            let size = kkt.row_length(a);
            self.largest[a] = self.largest[a].max(size);
            let is_near = size < NEAR * self.largest[a];
            match &self.entered[a] {
                Some(before) => {
                    if before.iter().zip(v).map(|(x, y)| x * y).sum::<f64>() < 0.0 {
                        self.lost = Some(a);
                        return true;
                    }
                    if !is_near {
                        self.spare.extend(self.entered[a].take());
                    }
                }
                None if is_near => {
                    self.entered[a] = self.spare.pop().map(|mut kept| {
                        kept.copy_from_slice(v);
                        kept
                    });
                }
                None => {}
            }
        }
        false
    }
}
