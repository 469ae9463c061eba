//! A motion as a function of time that stands by itself: positions and velocities at any time, its nodes for storage.

use crate::error::Error;
use crate::motion::Motion;
use crate::motion::dense::{Dense, Node, Order};

/// Positions and velocities of a motion as functions of time, apart from the motion.
///
/// ```
/// use pfaff::{DenseOutput, Model, Run};
/// let model = Model::parse("coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n")?;
/// let dense = model.run(&Run::to(3.0))?.dense_output();
/// let mut state = [0.0; 2];
/// dense.state(1.5, &mut state);
/// assert!((state[0] - 1.5_f64.cos()).abs() < 1e-9);
/// let (t, rows) = dense.nodes();
/// assert_eq!(DenseOutput::from_nodes(1, t, rows)?, dense);
/// # Ok::<(), pfaff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DenseOutput {
    n: usize,
    dense: Dense,
}

impl DenseOutput {
    /// Nodes at ascending times, each with $q, \dot q, \ddot q$ of `n` coordinates.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the numbers do not fit together.
    pub fn from_nodes(n: usize, t: &[f64], rows: &[f64]) -> Result<Self, Error> {
        let fits = rows.len() == 3 * n * t.len() && t.is_sorted();
        if !fits {
            return Err(Error::Usage("the nodes of a dense output do not fit together".into()));
        }
        let mut dense = Dense::new(n);
        for (i, &t) in t.iter().enumerate() {
            dense.push(&Node { t, row: rows[3 * n * i..][..3 * n].to_vec() });
        }
        Ok(Self { n, dense })
    }

    /// How many coordinates there are.
    pub fn coordinates(&self) -> usize {
        self.n
    }

    /// The times of the nodes, and $q, \dot q, \ddot q$ of each.
    pub fn nodes(&self) -> (&[f64], &[f64]) {
        self.dense.nodes()
    }

    /// Positions, then velocities, at a time; not numbers outside of the motion.
    ///
    /// # Panics
    ///
    /// If `state` has not room for exactly these.
    pub fn state(&self, t: f64, state: &mut [f64]) {
        assert_eq!(state.len(), 2 * self.n, "positions and velocities");
        let (q, v) = state.split_at_mut(self.n);
        for k in 0..self.n {
            q[k] = self.dense.value(k, Order::Position, t);
            v[k] = self.dense.value(k, Order::Velocity, t);
        }
    }
}

impl Motion {
    /// The motion as a function of time, by itself. Of motions with memory, and of runs that keep only their outputs,
    /// it is interpolated between the outputs.
    pub fn dense_output(&self) -> DenseOutput {
        let dense =
            if self.dense.is_empty() { self.through_outputs() } else { self.dense.clone() };
        DenseOutput { n: self.q.len(), dense }
    }
}
