//! Whole steps of an explicit Runge–Kutta method around machine code of the right-hand side.
//!
//! $$ k_i = f\Bigl(t + c_i h,\; y + h \sum_{j<i} a_{ij} k_j\Bigr), \qquad y_1 = y + h \sum_i b_i k_i, \qquad
//! e_l = \sum_i d_{li} k_i \qquad (\mathrm{RK}) $$
//!
//! from $(t, h, y, k_0)$. Between two evaluations there is nothing but the sum over the stages known so far,
//! four components at a time. Sums are added in the order of their
//! terms and every operation is rounded by itself: the bits are those of the same method stage by stage.
//! Dense output takes further stages and sums of the same kind.

/// Components that are added up together.
pub const BLOCK: usize = 4;
/// Some components of a row.
pub type Block = [f64; BLOCK];

/// The stages after the first, which is the start of the step.
pub const STAGES: usize = 11;
/// The stages for dense output, behind the rates at the end of the step.
pub const LATER: usize = 3;
/// The rows of dense output that they make.
pub const DENSE: usize = 4;
/// The weight of every stage in a sum: those of the step, the end of it, and those for dense output. What has
/// none is left out of the sum.
pub type Weights = [f64; 16];

/// The coefficients of (RK), known at compile time so that sums are written out.
pub trait Tableau {
    /// $c_i$ of the stages from 1 on.
    const NODES: [f64; STAGES];
    /// $a_{ij}$ of the stages from 1 on.
    const ROWS: [Weights; STAGES];
    /// $b_i$
    const ENDS: Weights;
    /// $d_{li}$
    const SUMS: [Weights; 2];
    /// $c_i$ of the stages for dense output.
    const LATER_NODES: [f64; LATER];
    /// Their $a_{ij}$, where stage 12 is the end of the step.
    const LATER_ROWS: [Weights; LATER];
    /// What dense output adds up of all stages, without $h$.
    const DENSE: [Weights; DENSE];
}

/// Where a step starts from and what it comes to, in rows of whole blocks whose unused components are zero.
#[derive(Debug)]
pub struct StepBuffers<'a> {
    /// $t$
    pub t: f64,
    /// $h$
    pub h: f64,
    /// $y$
    pub y: &'a [Block],
    /// The stages row after row, of which the first is given; then $f(t + h, y_1)$; then the stages for dense output.
    pub k: &'a mut [Block],
    /// A state on the way: one block more than a row.
    pub stage: &'a mut [Block],
    /// $y_1$
    pub end: &'a mut [Block],
    /// $e_l$
    pub sums: [&'a mut [Block]; 2],
}
