//! The saddle-point solve: accelerations and multipliers at one state.
//!
//! $$
//! \begin{pmatrix} M & -W^\top \\\\ A & 0 \end{pmatrix}
//! \begin{pmatrix} x \\\\ \lambda \end{pmatrix} =
//! \begin{pmatrix} f \\\\ b \end{pmatrix} \qquad (\mathrm K)
//! $$
//!
//! by elimination with partial pivoting. Where that finds the matrix singular, it is balanced first, so that units of
//! mass and length do not matter: with powers of two $c_i \approx M_{ii}^{-1/2}$ and $r_a \approx 1/\max_i|A_{ai}c_i|$
//!
//! $$ M_{ij} \to c_i M_{ij} c_j, \qquad A_{ai} \to r_a A_{ai} c_i, \qquad
//!    x_i \to x_i/c_i, \qquad \lambda_a \to \lambda_a/r_a. $$
//!
//! If it is singular still, complete pivoting decides:
//! constraints that repeat others consistently are
//! dropped (their multiplier is zero, the others carry the reaction), anything else is refused.

use pfaff_solver::{EvalError, Lu, RankRevealing, SparseLu};

use crate::system::condensed::Condensed;
use crate::system::sparse_rows::SparseRows;

/// Below this fraction of the largest pivot an entry is rounding of dependent rows: blocks are accurate to about 1e-14.
const RANK_TOLERANCE: f64 = 1e-11;
/// Dropped rows must agree with the others to this fraction of the right side.
const AGREEMENT: f64 = 1e-7;
/// Unknowns from which on a matrix is treated as sparse, if no more than one in [`FEW`] of its entries is there:
/// where the two take the same time for a chain of rods.
const LARGE: usize = 48;
const FEW: usize = 8;

/// Storage for (K) that is used again at every state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saddle {
    matrix: Vec<f64>,
    lu: Lu,
    sparse: SparseSaddle,
    rank: RankRevealing,
    condensed: Option<Box<Condensed>>,
    pub(crate) solution: Vec<f64>,
    right: Vec<f64>,
    /// $c$ and $r$, if the matrix needs them.
    balance: Vec<f64>,
    /// How the last solve went.
    outcome: Outcome,
    /// The sign of the determinant in the last solve; zero if rows had to be dropped.
    pub(crate) orientation: f64,
}

impl Saddle {
    /// Whether dependent rows had to be dropped in the last solve.
    pub(crate) fn has_dropped(&self) -> bool {
        self.outcome == Outcome::Dropped
    }
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    /// By the factors of the full matrix.
    #[default]
    Full,
    /// By those of the sparse one.
    Sparse,
    /// Dependent rows had to be dropped.
    Dropped,
    /// Without the auxiliary velocities.
    Condensed,
}

/// Which factors of the matrix a solve takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factors {
    /// Those of the matrix.
    New,
    /// Those of the last solve: of nearly the same matrix.
    Last,
}

/// (K) by columns.
#[derive(Clone, Debug, Default)]
struct SparseSaddle {
    lu: SparseLu,
    begins: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    /// Where the next entry of each column goes.
    next: Vec<usize>,
}

/// The data of (K). Matrices by rows: `mass` n × n, `left` (A) and `right` (W) m × n.
pub(crate) struct Blocks<'a> {
    pub(crate) mass: SparseRows<'a>,
    pub(crate) left: SparseRows<'a>,
    pub(crate) right: SparseRows<'a>,
    pub(crate) force: &'a [f64],
    pub(crate) drift: &'a [f64],
    /// So many of the last columns are replaced first, each by what one of the first rows says of it.
    pub(crate) condensed: usize,
}

impl Blocks<'_> {
    fn size(&self) -> usize {
        self.force.len() + self.drift.len()
    }

    /// Whether few of the entries are there.
    fn is_sparse(&self) -> bool {
        let entries = self.mass.values.len() + self.left.values.len() + self.right.values.len();
        self.size() >= LARGE && FEW * entries <= self.size().saturating_pow(2)
    }

    fn is_finite(&self) -> bool {
        let matrices = [self.mass.values, self.left.values, self.right.values];
        let vectors = [self.force, self.drift];
        matrices.into_iter().chain(vectors).flatten().all(|x| x.is_finite())
    }

    /// The entries of (K), block by block. This is where the sign of the reaction is.
    #[inline]
    fn for_each_entry(&self, mut tell: impl FnMut(usize, usize, f64)) {
        let n = self.force.len();
        for (i, row) in self.mass.rows().enumerate() {
            row.columns.iter().zip(row.values).for_each(|(&j, &x)| tell(i, j, x));
        }
        for (a, row) in self.right.rows().enumerate() {
            row.columns.iter().zip(row.values).for_each(|(&i, &x)| tell(i, n + a, -x));
        }
        for (a, row) in self.left.rows().enumerate() {
            row.columns.iter().zip(row.values).for_each(|(&i, &x)| tell(n + a, i, x));
        }
    }
}

impl SparseSaddle {
    fn factor(&mut self, blocks: &Blocks<'_>) -> bool {
        let size = blocks.size();
        self.begins.clear();
        self.begins.resize(size + 1, 0);
        blocks.for_each_entry(|_, j, _| self.begins[j + 1] += 1);
        for j in 0..size {
            self.begins[j + 1] += self.begins[j];
        }
        self.next.clear();
        self.next.extend_from_slice(&self.begins[..size]);
        self.rows.resize(self.begins[size], 0);
        self.values.resize(self.begins[size], 0.0);
        blocks.for_each_entry(|i, j, x| {
            let place = self.next[j];
            self.next[j] += 1;
            (self.rows[place], self.values[place]) = (i, x);
        });
        self.lu.factor(&self.begins, &self.rows, &self.values).is_ok()
    }
}

/// Where each block begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) jacobian: usize,
    pub(crate) directions: usize,
    pub(crate) bend: usize,
    pub(crate) force: usize,
    pub(crate) drift: usize,
    pub(crate) residual: usize,
    pub(crate) position: usize,
    pub(crate) shift: usize,
    pub(crate) energy: usize,
    pub(crate) constraint_energy: usize,
    pub(crate) power: usize,
    pub(crate) drive: usize,
}

impl Layout {
    /// For so many coordinates, auxiliary velocities and constraints, and entries of $M$, $A$, $W$ and the bend.
    pub(crate) fn new([n, extra, m]: [usize; 3], entries: [usize; 4]) -> Self {
        let jacobian = entries[0];
        let directions = jacobian + entries[1];
        let bend = directions + entries[2];
        let force = bend + entries[3];
        let drift = force + n + extra;
        let residual = drift + extra + m;
        let position = residual + m;
        let shift = position + m;
        let energy = shift + n;
        Self {
            jacobian,
            directions,
            bend,
            force,
            drift,
            residual,
            position,
            shift,
            energy,
            constraint_energy: energy + 1,
            power: energy + 2,
            drive: energy + 3,
        }
    }
}

impl Saddle {
    /// Solves (K); the solution is $(x, \lambda)$.
    pub(crate) fn solve(&mut self, blocks: &Blocks<'_>) -> Result<(), EvalError> {
        let (n, m) = (blocks.force.len(), blocks.drift.len());
        if !blocks.is_finite() {
            return Err(EvalError::NotFinite);
        }
        self.orientation = 0.0;
        if blocks.condensed > 0 {
            return self.solve_condensed(Factors::New, blocks);
        }
        self.right.clear();
        self.right.extend_from_slice(blocks.force);
        self.right.extend_from_slice(blocks.drift);
        self.solution.clone_from(&self.right);
        if blocks.is_sparse() && self.sparse.factor(blocks) {
            self.outcome = Outcome::Sparse;
            self.orientation = self.sparse.lu.orientation();
            self.sparse.lu.solve(&mut self.solution);
            return Ok(());
        }
        self.assemble(blocks);
        let mut is_regular = self.lu.factor(n + m, &self.matrix).is_ok();
        self.balance.clear();
        if !is_regular {
            self.balance(n, m);
            is_regular = self.lu.factor(n + m, &self.matrix).is_ok();
            self.solution.copy_from_slice(&self.right);
        }
        self.outcome = if is_regular { Outcome::Full } else { Outcome::Dropped };
        if is_regular {
            self.orientation = self.lu.orientation();
            self.lu.solve(&mut self.solution);
        } else {
            self.solve_dependent(n, m)?;
        }
        self.solution.iter_mut().zip(&self.balance).for_each(|(x, c)| *x *= c);
        Ok(())
    }

    /// Solves (K), by the factors of the last solve if that is asked for and no rows were dropped there.
    pub(crate) fn solve_by(
        &mut self,
        factors: Factors,
        blocks: &Blocks<'_>,
    ) -> Result<(), EvalError> {
        let size = blocks.size();
        let is_known = self.outcome != Outcome::Dropped && self.solution.len() == size;
        if factors == Factors::New || !is_known {
            return self.solve(blocks);
        }
        if blocks.condensed > 0 {
            return self.solve_condensed(Factors::Last, blocks);
        }
        let mut solution = std::mem::take(&mut self.solution);
        solution[..blocks.force.len()].copy_from_slice(blocks.force);
        solution[blocks.force.len()..].copy_from_slice(blocks.drift);
        let solved = self.solve_again(&mut solution);
        self.solution = solution;
        solved
    }

    /// Solves the last system with another right side, which becomes the solution. Where rows were dropped, the
    /// right side must agree with the others.
    pub(crate) fn solve_again(&mut self, right: &mut [f64]) -> Result<(), EvalError> {
        right.iter_mut().zip(&self.balance).for_each(|(x, c)| *x *= c);
        match self.outcome {
            Outcome::Full => self.lu.solve(right),
            Outcome::Sparse => self.sparse.lu.solve(right),
            // It is asked for by [`Saddle::solve_by`] alone.
            Outcome::Condensed => return Err(EvalError::Singular),
            Outcome::Dropped => {
                self.right.clear();
                self.right.extend_from_slice(right);
                let scale = self.right.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
                if self.rank.solve(&self.right, right) > AGREEMENT * scale {
                    return Err(EvalError::Singular);
                }
            }
        }
        right.iter_mut().zip(&self.balance).for_each(|(x, c)| *x *= c);
        Ok(())
    }

    /// Balances the matrix and its right side.
    fn balance(&mut self, n: usize, m: usize) {
        let size = n + m;
        for i in 0..n {
            let mass = self.matrix[i * size + i].abs();
            self.balance.push(if mass > 0.0 { power_of_two(1.0 / mass.sqrt()) } else { 1.0 });
        }
        for a in n..size {
            let row = &self.matrix[a * size..][..n];
            let scaled = row.iter().zip(&self.balance).map(|(a, c)| (a * c).abs());
            let largest = scaled.fold(0.0, f64::max);
            self.balance.push(if largest > 0.0 { power_of_two(1.0 / largest) } else { 1.0 });
        }
        for (i, row) in self.matrix.chunks_exact_mut(size).enumerate() {
            for (x, c) in row.iter_mut().zip(&self.balance) {
                *x *= self.balance[i] * c;
            }
        }
        self.right.iter_mut().zip(&self.balance).for_each(|(x, c)| *x *= c);
    }

    /// Smallest pivot over the largest in the last solve; 0 if it found the matrix singular.
    pub(crate) fn pivot_ratio(&self) -> f64 {
        match self.outcome {
            Outcome::Full => self.lu.pivot_ratio(),
            Outcome::Sparse => self.sparse.lu.pivot_ratio(),
            Outcome::Dropped => 0.0,
            Outcome::Condensed => self.condensed.as_ref().map_or(0.0, |c| c.pivot_ratio()),
        }
    }

    fn solve_condensed(
        &mut self,
        factors: Factors,
        blocks: &Blocks<'_>,
    ) -> Result<(), EvalError> {
        let condensed = self.condensed.get_or_insert_default();
        let (solved, dropped) = condensed.solve(factors, blocks, &mut self.solution);
        self.orientation = condensed.orientation();
        self.balance.clear();
        self.outcome = if dropped { Outcome::Dropped } else { Outcome::Condensed };
        solved
    }

    /// Which multipliers belong to constraints that depend on others, after a solve that dropped some; `None`
    /// if accelerations are free.
    pub(crate) fn dependent(&mut self, blocks: &Blocks<'_>) -> Option<Vec<usize>> {
        if blocks.condensed > 0 {
            let condensed = self.condensed.get_or_insert_default();
            let rows = condensed.dependent(blocks)?.into_iter();
            return Some(rows.map(|a| blocks.condensed + a).collect());
        }
        let (n, m) = (blocks.force.len(), blocks.drift.len());
        self.assemble(blocks);
        self.balance.clear();
        self.balance(n, m);
        self.rank.factor(n + m, n + m, &self.matrix, RANK_TOLERANCE);
        let free = self.rank.free_columns();
        free.iter().all(|&c| c >= n).then(|| free.iter().map(|c| c - n).collect())
    }

    fn solve_dependent(&mut self, n: usize, m: usize) -> Result<(), EvalError> {
        self.rank.factor(n + m, n + m, &self.matrix, RANK_TOLERANCE);
        if self.rank.free_columns().iter().any(|&c| c < n) {
            return Err(EvalError::Singular);
        }
        let disagreement = self.rank.solve(&self.right, &mut self.solution);
        let scale = self.right.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        if disagreement <= AGREEMENT * scale { Ok(()) } else { Err(EvalError::Singular) }
    }

    /// The full matrix and its right side.
    fn assemble(&mut self, blocks: &Blocks<'_>) {
        let size = blocks.size();
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        let matrix = &mut self.matrix;
        blocks.for_each_entry(|i, j, x| matrix[i * size + j] = x);
        self.right.clear();
        self.right.extend_from_slice(blocks.force);
        self.right.extend_from_slice(blocks.drift);
    }
}

/// The power of two below a number, so that scaling by it is exact.
fn power_of_two(x: f64) -> f64 {
    if x.is_normal() { f64::from_bits(x.to_bits() & !((1 << 52) - 1)) } else { 1.0 }
}

/// The matrix of (K) by rows: $M$ and $-W^\\top$, then $A$ and 0. This is where the sign of the reaction is.
pub(crate) fn write_matrix(
    matrix: &mut [f64],
    [n, m]: [usize; 2],
    mass: &[f64],
    jacobian: &[f64],
    directions: &[f64],
) {
    let size = n + m;
    for i in 0..n {
        let row = &mut matrix[i * size..(i + 1) * size];
        row[..n].copy_from_slice(&mass[i * n..(i + 1) * n]);
        for a in 0..m {
            row[n + a] = -directions[a * n + i];
        }
    }
    for a in 0..m {
        let row = &mut matrix[(n + a) * size..(n + a + 1) * size];
        row[..n].copy_from_slice(&jacobian[a * n..(a + 1) * n]);
        row[n..].fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::sparse_rows::RowMatrix;

    fn full(values: &[f64], n: usize) -> RowMatrix {
        let mut matrix = RowMatrix::default();
        matrix.clear();
        values.chunks_exact(n).for_each(|row| matrix.push(row.iter().copied().enumerate()));
        matrix
    }

    fn solve(
        mass: &[f64],
        rows: &[f64],
        force: &[f64],
        drift: &[f64],
    ) -> Result<Vec<f64>, EvalError> {
        let mut saddle = Saddle::default();
        let (mass, rows) = (full(mass, force.len()), full(rows, force.len()));
        let (mass, left) = (mass.view(), rows.view());
        let blocks = Blocks { mass, left, right: left, force, drift, condensed: 0 };
        saddle.solve(&blocks).map(|()| saddle.solution.clone())
    }

    #[test]
    fn reaction_has_positive_sign() {
        // A unit mass pressed by −1 against y = 0: the reaction, and its multiplier, are +1.
        assert_eq!(solve(&[1.0], &[1.0], &[-1.0], &[0.0]), Ok(vec![0.0, 1.0]));
    }

    #[test]
    fn massless_coordinate_is_held_by_its_constraint() {
        // M = diag(0, 1) is degenerate, but positive on ker A: (K) is regular, the pivot moves.
        let x = solve(&[0.0, 0.0, 0.0, 1.0], &[1.0, 0.0], &[3.0, 2.0], &[0.0]).unwrap();
        assert_eq!(x, [0.0, 2.0, -3.0]);
    }

    #[test]
    fn a_repeated_constraint_is_dropped_and_a_contradiction_refused() {
        let x = solve(&[1.0], &[1.0, 2.0], &[-1.0], &[0.0, 0.0]).unwrap();
        assert_eq!(x[0], 0.0);
        // Both carry the reaction together: λ₁ + 2 λ₂ = 1.
        assert!((x[1] + 2.0 * x[2] - 1.0).abs() < 1e-15, "exact in these numbers");
        assert_eq!(solve(&[1.0], &[1.0, 1.0], &[0.0], &[0.0, 1.0]), Err(EvalError::Singular));
    }

    #[test]
    fn a_free_massless_coordinate_is_singular() {
        assert_eq!(solve(&[0.0], &[], &[1.0], &[]), Err(EvalError::Singular));
    }
}
