//! The smallest changes that bring a state nearer to the constraints, and (K) with other right sides.

use pfaff_solver::EvalError;

use crate::system::kkt::{Buffers, Kkt};
use crate::system::saddle_point::{Blocks, Factors};

impl Kkt {
    /// All unknowns of the last solve.
    pub(crate) fn solution(&self) -> &[f64] {
        &self.saddle.solution
    }

    /// The smallest change $\delta\dot q$, in the kinetic metric, with $A\,\delta\dot q = -\psi$ at the state
    /// last evaluated; by the factors of the last solve, if they are near enough.
    pub(crate) fn velocity_correction(
        &mut self,
        factors: Factors,
    ) -> Result<&[f64], EvalError> {
        self.gather(self.layout.residual, -1.0);
        let Self { blocks, layout: l, patterns, saddle, buffers, condensed, .. } = self;
        let Buffers { zeros, change, rows, .. } = buffers;
        let (mass, rows) = (patterns.mass.with(&blocks[..l.jacobian]), rows.view());
        let condensed = *condensed;
        let blocks =
            Blocks { mass, left: rows, right: rows, force: zeros, drift: change, condensed };
        saddle.solve_by(factors, &blocks)?;
        Ok(&self.saddle.solution[..self.n])
    }

    /// The smallest change $\delta q$, in the kinetic metric, with $\partial_q\varphi\,\delta q = -\varphi$
    /// for the holonomic constraints.
    ///
    /// Where the mass is degenerate on what they leave free, every coordinate gets a unit mass in addition; tells
    /// whether that was not so.
    pub(crate) fn position_correction(
        &mut self,
        factors: Factors,
    ) -> Result<(&[f64], bool), EvalError> {
        let Self { n, extra, blocks, layout: l, patterns, saddle, buffers, condensed, .. } =
            self;
        let Buffers { zeros, change, rows, metric, .. } = buffers;
        let jacobian = patterns.jacobian.with(&blocks[l.jacobian..l.directions]);
        rows.clear();
        change.clear();
        for k in 0..*extra {
            rows.push(jacobian.row(k).entries());
            change.push(0.0);
        }
        for a in (0..self.m).filter(|&a| self.holonomic[a] && self.active[a]) {
            rows.push(jacobian.row(*extra + a).entries());
            change.push(-blocks[l.position + a]);
        }
        let (mass, rows) = (patterns.mass.with(&blocks[..l.jacobian]), rows.view());
        let condensed = *condensed;
        let plain =
            Blocks { mass, left: rows, right: rows, force: zeros, drift: change, condensed };
        let is_plain = saddle.solve_by(factors, &plain).is_ok();
        if !is_plain {
            metric.clear();
            mass.rows().for_each(|row| metric.push(row.entries()));
            metric.add_to_diagonal(*n, 1.0);
            saddle.solve(&Blocks { mass: metric.view(), ..plain })?;
        }
        Ok((&self.saddle.solution[..self.n], is_plain))
    }

    /// [`velocity_correction`](Self::velocity_correction) for other values of $\psi$.
    pub(crate) fn velocity_change(&mut self, values: &[f64]) -> Result<&[f64], EvalError> {
        let residual = self.layout.residual;
        self.blocks[residual..residual + self.m].copy_from_slice(values);
        self.velocity_correction(Factors::New)
    }

    /// [`position_correction`](Self::position_correction) for other values of $\varphi$.
    pub(crate) fn position_change(&mut self, values: &[f64]) -> Result<&[f64], EvalError> {
        let position = self.layout.position;
        self.blocks[position..position + self.m].copy_from_slice(values);
        self.position_correction(Factors::New).map(|(change, _)| change)
    }

    /// Solves (K) with the matrix of the last solve and another right side, which becomes the solution; the
    /// multipliers of constraints that repeat others are zero. Not for equations with auxiliary velocities.
    pub(crate) fn solve_again(&mut self, right: &mut [f64]) -> Result<(), EvalError> {
        debug_assert_eq!(self.extra, 0, "the right side has no rows for auxiliary velocities");
        if self.is_whole() {
            return self.saddle.solve_again(right);
        }
        let n = self.n;
        let mut kept = std::mem::take(&mut self.buffers.change);
        kept.clear();
        kept.extend_from_slice(&right[..n]);
        kept.extend((0..self.m).filter(|&a| self.active[a]).map(|a| right[n + a]));
        let solved = self.saddle.solve_again(&mut kept);
        let mut found = kept.iter();
        right[..n].iter_mut().zip(&mut found).for_each(|(x, y)| *x = *y);
        for a in 0..self.m {
            let λ = if self.active[a] { found.next() } else { None };
            right[n + a] = λ.copied().unwrap_or_default();
        }
        self.buffers.change = kept;
        solved
    }
}
