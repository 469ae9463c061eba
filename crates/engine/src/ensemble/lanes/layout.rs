//! Where the numbers of a lane stand: rows of eight, one for each lane.

/// The rows of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepLayout {
    /// How many positions and quasi-velocities there are.
    pub(super) n: usize,
    pub(super) k: usize,
    /// 1 if the work of forces and reactions is carried along.
    pub(super) work: usize,
    pub(super) events: usize,
    pub(super) phases: usize,
    pub(super) constraints: usize,
}

impl StepLayout {
    pub(super) const T: usize = 0;
    pub(super) const H: usize = 1;
    pub(super) const T1: usize = 2;
    pub(super) const TRIES: usize = 3;
    pub(super) const STEPS: usize = 4;
    pub(super) const TOLERANCE: usize = 5;
    /// The longest step that may be tried, after one was rejected.
    pub(super) const MOST: usize = 6;
    /// The energy at the start; the largest difference between it and the energy less the work since; the largest size
    /// of its terms.
    pub(super) const ENERGY: usize = 7;
    pub(super) const OFF: usize = 8;
    pub(super) const ENERGY_SIZE: usize = 9;
    pub(super) const Y: usize = 10;
    /// What a rejected trial leaves behind.
    pub(super) const AFTER_REJECTION: [usize; 3] = [Self::H, Self::TRIES, Self::MOST];

    /// Positions and quasi-velocities, which are controlled.
    #[inline]
    pub(super) fn controlled(self) -> usize {
        self.n + self.k
    }

    /// With the work.
    #[inline]
    pub(super) fn carried(self) -> usize {
        self.controlled() + self.work
    }

    #[inline]
    pub(super) fn y(i: usize) -> usize {
        Self::Y + i
    }

    #[inline]
    pub(super) fn rates(self, i: usize) -> usize {
        Self::y(self.carried()) + i
    }

    /// The largest value so far.
    #[inline]
    pub(super) fn largest(self, i: usize) -> usize {
        self.rates(self.carried()) + i
    }

    #[inline]
    pub(super) fn event(self, i: usize) -> usize {
        self.largest(self.controlled()) + i
    }

    #[inline]
    pub(super) fn event_rate(self, i: usize) -> usize {
        self.event(self.events) + i
    }

    #[inline]
    pub(super) fn phase(self, i: usize) -> usize {
        self.event_rate(self.events) + i
    }

    /// The largest residual of a constraint so far.
    #[inline]
    pub(super) fn residual(self, a: usize) -> usize {
        self.phase(self.phases) + a
    }

    /// The scale of a component as the looser integration found it; zero if that is not known.
    #[inline]
    pub(super) fn scale(self, i: usize) -> usize {
        self.residual(self.constraints) + i
    }

    /// What a step reads and writes.
    #[inline]
    pub(super) fn rows(self) -> usize {
        self.scale(self.controlled())
    }

    /// Behind these, in the outputs alone: whether a lane wants attention, whether it has stepped over what only a
    /// single run can judge, and whether the trial was rejected: then its rows do not count, but for those of
    /// [`AFTER_REJECTION`](Self::AFTER_REJECTION).
    #[inline]
    pub(super) fn attention(self) -> usize {
        self.rows()
    }

    #[inline]
    pub(super) fn doubt(self) -> usize {
        self.rows() + 1
    }

    #[inline]
    pub(super) fn rejected(self) -> usize {
        self.rows() + 2
    }

    /// All outputs of a step. Behind them stand coefficients of series, which are inputs only.
    #[inline]
    pub(super) fn outputs(self) -> usize {
        self.rows() + 3
    }

    /// Whether the start is one that lanes can begin from: the last output of the start, behind the rows of a step.
    #[inline]
    pub(super) fn good_start(self) -> usize {
        self.rows()
    }
}
