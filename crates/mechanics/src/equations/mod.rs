//! The equations of motion as blocks, classes of constraints, and why a model has none.
//!
//! $$
//! \begin{pmatrix} M & -W^\top \\\\ A & 0 \end{pmatrix}
//! \begin{pmatrix} \ddot q \\\\ \lambda \end{pmatrix} =
//! \begin{pmatrix} f \\\\ b \end{pmatrix} \qquad (\mathrm K)
//! $$
//!
//! with $M = \partial^2 L/\partial\dot q^2$, $A = \partial\psi/\partial\dot q$, the rows of $W$ the
//! directions of the reactions ($W = A$ for Chetaev's, or what `along` says), so that
//! $M\ddot q = f + R$ with $R = +W^\top\lambda$. Here $\psi = \varphi$ for a velocity constraint and $\psi =
//! d\varphi/dt$ for a holonomic one, whose
//! $\varphi$ is kept beside it; $b = -(\partial_q\psi\,\dot q + \partial_t\psi)$ is what differentiating
//! $\psi = 0$ leaves.
//!
//! Under the vakonomic principle $\dot\mu$ stands in the place of $\lambda$, the mass is $M -
//! \mu\cdot\psi_{\dot q\dot q}$, and
//! the reaction has further terms: see [`MultiplierTerms`]. Under the restricted one the reaction is what the
//! motion needs beside $f$.

mod class;
mod refusal;

use pfaff_expr::{Expr, Graph};
use pfaff_model::Principle;

use crate::lagrangian::auxiliary_velocities::AuxiliaryVelocities;
use crate::lagrangian::kinetic::Kinetic;
pub(crate) use class::classify_all;
pub use class::{Class, classify};
pub use refusal::Refusal;

/// The blocks of (K) and what belongs to them, all in declared order. Matrices are stored by rows.
#[derive(Clone, Debug)]
pub struct Equations {
    /// The principle they follow from.
    pub principle: Principle,
    /// $p = \partial L/\partial\dot q$
    pub momenta: Vec<Expr>,
    /// $M$, n × n; empty where [`auxiliary`](Self::auxiliary) stands for it
    pub mass: Vec<Vec<Expr>>,
    /// $M$ and $A$ by their entries, with auxiliary velocities if that is shorter, where the equations of a large
    /// system are made for a run.
    pub auxiliary: Option<AuxiliaryVelocities>,
    /// $f$, all that is in $M\ddot q = f + R$ beside the reaction
    pub force: Vec<Expr>,
    /// $A$, m × n; empty where [`auxiliary`](Self::auxiliary) stands for it
    pub jacobian: Vec<Vec<Expr>>,
    /// $W$, m × n: the reaction is $R = W^\top\lambda$; empty as $A$
    pub directions: Vec<Vec<Expr>>,
    /// $b$
    pub drift: Vec<Expr>,
    /// $\psi$: the constraints at velocity level
    pub residual: Vec<Expr>,
    /// $\varphi(t,q)$ of the holonomic ones
    pub position: Vec<Option<Expr>>,
    /// The class of each constraint.
    pub classes: Vec<Class>,
    /// Constraints whose holonomy could not be decided.
    pub undecided: Vec<usize>,
    /// $\mu$, one for each constraint under the vakonomic principle, none under Chetaev's.
    pub multipliers: Vec<Expr>,
    /// What the multipliers add to force, mass, energy and power.
    pub multiplier_terms: MultiplierTerms,
    /// $E = \dot q\cdot p - L$
    pub energy: Expr,
    /// $Q\cdot\dot q - \partial_t L$
    pub power: Expr,
    /// The coordinates whose velocities the restricted principle inserts, by index; empty under the others.
    pub dependent: Vec<usize>,
    /// $T_2$, $T_1$, $T_0$ where $L$ is quadratic in the velocities.
    pub kinetic: Option<Kinetic>,
}

/// The matrices of (K) by the entries that are not identically zero: the columns of each row with the expressions,
/// in ascending order.
///
/// There may be auxiliary velocities $w$ behind the velocities. Then $M$ is that of a Lagrangian in which they stand
/// for what defines them, and (K) has the rows $w_k - \sum_j c_{kj}\xi_j = 0$ over $\xi = (\ddot q, w)$ before
/// those of the constraints.
#[derive(Clone, Debug)]
pub struct SparseBlocks {
    /// $M$
    pub mass: Vec<Vec<(usize, Expr)>>,
    /// What defines the auxiliary velocities: the last entry of each row is the 1 of its own.
    pub definitions: Vec<Vec<(usize, Expr)>>,
    /// $A$
    pub jacobian: Vec<Vec<(usize, Expr)>>,
    /// $W$
    pub directions: Vec<Vec<(usize, Expr)>>,
}

/// The entries of full rows that are not identically zero.
pub fn sparse_rows(g: &Graph, rows: &[Vec<Expr>]) -> Vec<Vec<(usize, Expr)>> {
    let entries = |row: &Vec<Expr>| {
        row.iter().copied().enumerate().filter(|&(_, e)| e != g.zero()).collect()
    };
    rows.iter().map(entries).collect()
}

impl Equations {
    /// The same with some of the constraints: those that are kept, for as long as they imply the others.
    #[must_use]
    pub fn with_constraints(&self, kept: &[bool]) -> Self {
        fn some<T: Clone>(all: &[T], kept: &[bool]) -> Vec<T> {
            all.iter().zip(kept).filter(|(_, kept)| **kept).map(|(x, _)| x.clone()).collect()
        }
        let auxiliary = self
            .auxiliary
            .clone()
            .map(|a| AuxiliaryVelocities { jacobian: some(&a.jacobian, kept), ..a });
        Self {
            auxiliary,
            jacobian: some(&self.jacobian, kept),
            directions: some(&self.directions, kept),
            drift: some(&self.drift, kept),
            residual: some(&self.residual, kept),
            position: some(&self.position, kept),
            classes: some(&self.classes, kept),
            multipliers: some(&self.multipliers, kept),
            undecided: Vec::new(),
            ..self.clone()
        }
    }

    /// The matrices of (K) by their entries.
    pub fn sparse(&self, g: &Graph) -> SparseBlocks {
        match &self.auxiliary {
            Some(auxiliary) => SparseBlocks {
                mass: auxiliary.mass.clone(),
                definitions: auxiliary.definitions.clone(),
                jacobian: auxiliary.jacobian.clone(),
                directions: auxiliary.jacobian.clone(),
            },
            None => SparseBlocks {
                mass: sparse_rows(g, &self.mass),
                definitions: Vec::new(),
                jacobian: sparse_rows(g, &self.jacobian),
                directions: sparse_rows(g, &self.directions),
            },
        }
    }

    /// The same with $M$ and $A$ as full rows, if there are no auxiliary velocities.
    pub fn by_full_rows(&self, g: &Graph) -> Option<Self> {
        let blocks = self.sparse(g);
        let n = self.force.len();
        let full = |rows: &[Vec<(usize, Expr)>]| -> Vec<Vec<Expr>> {
            let mut full = vec![vec![g.zero(); n]; rows.len()];
            for (row, entries) in full.iter_mut().zip(rows) {
                entries.iter().for_each(|&(j, e)| row[j] = e);
            }
            full
        };
        blocks.definitions.is_empty().then(|| Self {
            auxiliary: None,
            mass: full(&blocks.mass),
            jacobian: full(&blocks.jacobian),
            directions: full(&blocks.directions),
            ..self.clone()
        })
    }

    /// Whether every reaction has Chetaev's direction, $W = A$: no `along` gives it another.
    pub fn has_chetaev_reactions(&self) -> bool {
        self.directions == self.jacobian
    }
}

/// The terms that multipliers $\mu$ with equations of their own add; all zero under Chetaev's principle.
///
/// The reaction is $R = W^\top\dot\mu + \texttt{force} + \texttt{mass}\,\ddot q$ under the vakonomic
/// principle, and $R = \texttt{force} + \texttt{mass}\,\ddot q$ under the restricted one.
#[derive(Clone, Debug)]
pub struct MultiplierTerms {
    /// $(\psi_{\dot q q}\,\dot q + \psi_{\dot q t} - \psi_q)^\top\mu$, contained in [`Equations::force`];
    /// $-f$ of $L$ itself under the restricted principle.
    pub force: Vec<Expr>,
    /// $\mu\cdot\psi_{\dot q\dot q}$, already subtracted from [`Equations::mass`]; $M$ of $L$ itself under the
    /// restricted principle; rows without entries under Chetaev's.
    pub mass: Vec<Vec<Expr>>,
    /// $E\[M\] = -\mu\cdot\psi_{\dot q}\cdot\dot q$; $E_c - E$ with the energy of $L_c$ under the restricted
    /// principle.
    pub energy: Expr,
    /// What explicit time in the constraints adds to the rate of $E + E\[M\]$ beside [`Equations::power`]:
    /// $\mu\cdot\partial_t\psi$; the difference of the powers of $L_c$ and $L$ under the restricted principle.
    pub power: Expr,
}

impl MultiplierTerms {
    /// No terms, for $n$ coordinates.
    pub(crate) fn none(g: &Graph, n: usize) -> Self {
        let zero = g.zero();
        Self { force: vec![zero; n], mass: vec![Vec::new(); n], energy: zero, power: zero }
    }
}
