//! Explicit Runge–Kutta methods as data, and the buffers of one step around machine code of the right-hand
//! side; `native/simd/runge_kutta.rs` carries the steps out.
//!
//! $$ k_i = f\Bigl(t + c_i h,\; y + h \sum_{j<i} a_{ij} k_j\Bigr), \qquad y_1 = y + h \sum_i b_i k_i, \qquad
//! e_l = \sum_i d_{li} k_i \qquad (\mathrm{RK}) $$
//!
//! Stages are numbered in the order of their evaluation: 0 is the start of the step, which is given; then the
//! other stages; then $f(t + h, y_1)$; then the stages that only dense output needs.
//!
//! Between two evaluations there is nothing but the sum over the stages known so far, four components at a
//! time. Sums are added in the order of their terms and every operation is rounded by itself, so the bits are
//! those of the same method written stage by stage.

/// How many components are added up together.
pub const BLOCK: usize = 4;
/// Some components of a row.
pub type Block = [f64; BLOCK];

/// The largest number of stages: those of the step, its end, and those for dense output.
pub const MAX_STAGES: usize = 16;
/// The weight of every stage in a sum. Stages with weight zero are left out of the sum.
pub type Weights = [f64; MAX_STAGES];

/// The coefficients of (RK).
#[derive(Clone, Copy, Debug)]
pub struct Tableau {
    /// $c_i$ of the stages from 1 on.
    pub nodes: &'static [f64],
    /// $a_{ij}$ of the stages from 1 on.
    pub rows: &'static [Weights],
    /// $b_i$
    pub weights: Weights,
    /// $d_{li}$, the weights of the error estimates, without $h$.
    pub errors: [Weights; 2],
    /// $c_i$ of the stages for dense output.
    pub dense_nodes: &'static [f64],
    /// Their $a_{ij}$.
    pub dense_rows: &'static [Weights],
    /// The weights of the rows of dense output, without $h$.
    pub dense: &'static [Weights],
}

/// A method whose tableau is known at compile time, so that its sums become straight-line code.
pub trait RungeKuttaMethod {
    /// Its coefficients.
    const TABLEAU: Tableau;
}

impl Tableau {
    /// The stage $f(t + h, y_1)$.
    pub const fn end(&self) -> usize {
        self.nodes.len() + 1
    }

    /// How many stages there are in all: those of the step, its end, and those for dense output.
    pub const fn stages(&self) -> usize {
        self.end() + 1 + self.dense_nodes.len()
    }

    /// Whether there are as many rows as nodes, and not more of anything than the code is written for.
    pub(crate) const fn is_valid(&self) -> bool {
        self.nodes.len() == self.rows.len()
            && self.dense_nodes.len() == self.dense_rows.len()
            && self.stages() <= MAX_STAGES
            && self.dense.len() <= MAX_STAGES
    }
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
    /// All stages, row after row, of which the first is given.
    pub k: &'a mut [Block],
    /// Room for the state of a stage with its time: one block more than a row.
    pub stage: &'a mut [Block],
    /// $y_1$
    pub end: &'a mut [Block],
    /// $e_l$
    pub errors: [&'a mut [Block]; 2],
}
