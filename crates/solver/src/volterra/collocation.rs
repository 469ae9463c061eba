//! One step: the unknowns at the nodes of Radau.
//!
//! At every node $F(t, x, z) = 0$ with $z = \text{history} + h^\mu L_\mu x$; Newton's iteration with the matrix
//! $\partial_x F\,\delta_{jk} + \partial_z F\,h^\mu (L_\mu)_{jk}$, whose factors are used again as long as they serve.

use super::history::{History, StepSpan, Tables};
use super::local_integrals::Local;
use super::system::{Kernel, Operand, VolterraPoint, VolterraSystem};
use crate::linalg::lu::Lu;
use crate::newton::{Advance, NewtonProblem, NewtonRule, newton};
use crate::ode::system::{EvalError, finite};
use crate::quadrature::NodalBasis;

/// Lengths of steps whose tables are kept.
const POOL: usize = 12;
/// Most iterations of Newton in one step.
const ITERATIONS: usize = 25;

/// One trial of a step, with everything that is used again by the next.
#[derive(Clone, Debug)]
pub(crate) struct StepCollocation {
    pub(crate) tables: Tables,
    /// Tables of other lengths, to be used again.
    pool: Vec<Tables>,
    oldest: usize,
    /// $x$, node by node.
    pub(crate) x: Vec<f64>,
    /// $z$, node by node.
    pub(crate) z: Vec<f64>,
    past: Vec<f64>,
    residual: Vec<f64>,
    by_x: Vec<f64>,
    by_z: Vec<f64>,
    matrix: Vec<f64>,
    lu: Lu,
    /// Length of the step whose factors are kept; 0 if none are.
    factored: f64,
    pub(crate) evaluations: usize,
}

/// What does not change during a run.
#[derive(Clone, Debug)]
pub(crate) struct RunFrame {
    pub(crate) t0: f64,
    pub(crate) n: usize,
    pub(crate) operands: Vec<Operand>,
    pub(crate) basis: NodalBasis,
    /// $L_\mu$ for each operand.
    pub(crate) units: Vec<Vec<f64>>,
    /// For each operand with a general kernel.
    locals: Vec<Option<Local>>,
    /// A change of the operands that ends Newton's iteration.
    pub(crate) settled: f64,
}

impl RunFrame {
    pub(crate) fn new(t0: f64, n: usize, operands: Vec<Operand>, stages: usize) -> Self {
        let basis = NodalBasis::radau(stages);
        let unit = |o: &Operand| match o.kernel {
            Kernel::Power(mu) => basis.integrals(mu),
            _ => Vec::new(),
        };
        let units = operands.iter().map(unit).collect();
        let local = |o: &Operand| match o.kernel {
            Kernel::General(mu, _) => Some(Local::new(mu)),
            _ => None,
        };
        let locals = operands.iter().map(local).collect();
        Self { t0, n, operands, basis, units, locals, settled: 0.0 }
    }
}

impl StepCollocation {
    pub(crate) fn new(frame: &RunFrame) -> Self {
        let (s, n, p) = (frame.basis.stages, frame.n, frame.operands.len());
        Self {
            tables: Tables::default(),
            pool: Vec::new(),
            oldest: 0,
            x: vec![0.0; s * n],
            z: vec![0.0; s * p],
            past: vec![0.0; s * p],
            residual: vec![0.0; s * n],
            by_x: vec![0.0; n * n],
            by_z: vec![0.0; n * p],
            matrix: vec![0.0; s * n * s * n],
            lu: Lu::new(s * n),
            factored: 0.0,
            evaluations: 0,
        }
    }

    /// $x$ at the end of the step.
    pub(crate) fn x_end(&self, frame: &RunFrame) -> &[f64] {
        &self.x[(frame.basis.stages - 1) * frame.n..]
    }

    /// $z$ at the end of the step.
    pub(crate) fn z_end(&self, frame: &RunFrame) -> &[f64] {
        &self.z[(frame.basis.stages - 1) * frame.operands.len()..]
    }

    /// $\partial F/\partial x$ at the end of the step for which factors were made last.
    pub(crate) fn slopes(&self) -> &[f64] {
        &self.by_x
    }

    /// Forgets the factors: the equations have other branches.
    pub(crate) fn forget(&mut self) {
        self.factored = 0.0;
    }

    /// Solves a step, beginning with the guess in `x`.
    pub(crate) fn solve(
        &mut self,
        frame: &RunFrame,
        history: &mut History,
        span: StepSpan,
        system: &mut dyn VolterraSystem,
    ) -> Result<(), EvalError> {
        self.recall_tables(span.h);
        history.prepare(&frame.basis, &frame.units, span.h, &mut self.tables);
        self.recall(frame, history, span.start, system);
        self.operands(frame);
        let mut equations = StageEquations {
            collocation: self,
            frame,
            span,
            system,
            round: 0,
            fresh: false,
            previous: f64::INFINITY,
            settled: false,
            stalled: 0,
        };
        let rule = NewtonRule { steps: ITERATIONS, ..NewtonRule::DEFAULT };
        if newton(&mut equations, &rule)?.converged {
            return Ok(());
        }
        let StageEquations { previous, settled, stalled, .. } = equations;
        self.factored = 0.0;
        if previous < 1e-10 || (settled && stalled > 0) {
            Ok(())
        } else {
            Err(EvalError::Singular)
        }
    }

    /// Takes the tables of an earlier step of this length, if they are still there.
    fn recall_tables(&mut self, h: f64) {
        if self.tables.h == h {
            return;
        }
        if let Some(i) = self.pool.iter().position(|t| t.h == h) {
            std::mem::swap(&mut self.tables, &mut self.pool[i]);
        } else if self.pool.len() < POOL {
            self.pool.push(std::mem::take(&mut self.tables));
        } else {
            self.oldest = (self.oldest + 1) % POOL;
            std::mem::swap(&mut self.tables, &mut self.pool[self.oldest]);
        }
    }

    /// What the past and the start contribute at the nodes.
    fn recall(
        &mut self,
        frame: &RunFrame,
        history: &History,
        elapsed: f64,
        system: &mut dyn VolterraSystem,
    ) {
        let (s, count, h) = (frame.basis.stages, frame.operands.len(), self.tables.h);
        for j in 0..s {
            let at = elapsed + frame.basis.nodes[j] * h;
            for (p, operand) in frame.operands.iter().enumerate() {
                let past = if matches!(operand.kernel, Kernel::General(..)) {
                    let span = StepSpan { start: elapsed, h: frame.basis.nodes[j] * h };
                    history.general(p, frame.t0 + at, span, system)
                } else {
                    history.value(p, j, &self.tables)
                };
                self.past[j * count + p] = operand.start_at(at) + past;
            }
        }
        for (p, operand) in frame.operands.iter().enumerate() {
            let (Kernel::General(_, resolved), Some(local)) =
                (&operand.kernel, &frame.locals[p])
            else {
                continue;
            };
            let steady = resolved.as_ref().is_some_and(|r| r.steady);
            if steady && !self.tables.local[p].is_empty() {
                continue;
            }
            // NOTE: one row for each node, since each has its own time.
            let rows = (0..s).map(|j| {
                let t = frame.t0 + (elapsed + frame.basis.nodes[j] * h);
                let mut kernel = |lags: &[f64], out: &mut [f64]| system.kernel(p, t, lags, out);
                local.rows(&frame.basis, j..j + 1, h, resolved.as_ref(), &mut kernel)
            });
            self.tables.local[p] = rows.collect::<Vec<_>>().concat();
            self.factored = 0.0;
        }
    }

    /// $z = \text{past} + L x$
    fn operands(&mut self, frame: &RunFrame) {
        let (s, count, n) = (frame.basis.stages, frame.operands.len(), frame.n);
        for (p, operand) in frame.operands.iter().enumerate() {
            let local = &self.tables.local[p];
            for j in 0..s {
                let row = &local[j * s..(j + 1) * s];
                let sum: f64 = row
                    .iter()
                    .enumerate()
                    .map(|(k, l)| l * self.x[k * n + operand.unknown])
                    .sum();
                self.z[j * count + p] = self.past[j * count + p] + sum;
            }
        }
    }

    fn residuals(
        &mut self,
        frame: &RunFrame,
        elapsed: f64,
        system: &mut dyn VolterraSystem,
    ) -> Result<(), EvalError> {
        let (n, count) = (frame.n, frame.operands.len());
        for (j, c) in frame.basis.nodes.iter().enumerate() {
            let elapsed = elapsed + c * self.tables.h;
            let (x, z) = (&self.x[j * n..(j + 1) * n], &self.z[j * count..(j + 1) * count]);
            let at = VolterraPoint { t: frame.t0 + elapsed, elapsed, x, z };
            system.residual(at, &mut self.residual[j * n..(j + 1) * n])?;
        }
        self.evaluations += frame.basis.stages;
        finite(&self.residual)
    }

    fn factor(
        &mut self,
        frame: &RunFrame,
        elapsed: f64,
        system: &mut dyn VolterraSystem,
    ) -> Result<(), EvalError> {
        let (s, n, count) = (frame.basis.stages, frame.n, frame.operands.len());
        let width = s * n;
        self.matrix.fill(0.0);
        for j in 0..s {
            let elapsed = elapsed + frame.basis.nodes[j] * self.tables.h;
            let (x, z) = (&self.x[j * n..(j + 1) * n], &self.z[j * count..(j + 1) * count]);
            let at = VolterraPoint { t: frame.t0 + elapsed, elapsed, x, z };
            system.jacobian(at, &mut self.by_x, &mut self.by_z)?;
            for e in 0..n {
                let row = &mut self.matrix[(j * n + e) * width..(j * n + e + 1) * width];
                row[j * n..(j + 1) * n].copy_from_slice(&self.by_x[e * n..(e + 1) * n]);
                for (p, operand) in frame.operands.iter().enumerate() {
                    let slope = self.by_z[e * count + p];
                    if slope != 0.0 {
                        for k in 0..s {
                            row[k * n + operand.unknown] +=
                                slope * self.tables.local[p][j * s + k];
                        }
                    }
                }
            }
        }
        finite(&self.matrix)?;
        // Very short steps mix powers of h, so that small pivots are no verdict: only zero is one.
        if self.lu.factor(width, &self.matrix).is_err() {
            let factored = self.lu.factor_nonzero(width, &self.matrix);
            factored.map_err(|_| EvalError::Singular)?;
        }
        self.factored = self.tables.h;
        Ok(())
    }

    /// Takes the correction in `residual`; says how much the unknowns changed, relatively.
    fn correct(&mut self, frame: &RunFrame) -> Result<f64, EvalError> {
        finite(&self.residual)?;
        let (s, n) = (frame.basis.stages, frame.n);
        let mut change = 0.0_f64;
        for i in 0..n {
            let (mut largest, mut moved) = (0.0_f64, 0.0_f64);
            for j in 0..s {
                self.x[j * n + i] -= self.residual[j * n + i];
                largest = largest.max(self.x[j * n + i].abs());
                moved = moved.max(self.residual[j * n + i].abs());
            }
            change = change.max(moved / (1.0 + largest));
        }
        self.operands(frame);
        Ok(change)
    }

    /// How much the last correction, still in `residual`, changed the operands at most.
    fn felt(&self, frame: &RunFrame) -> f64 {
        let (s, n, count) = (frame.basis.stages, frame.n, frame.operands.len());
        let mut felt = 0.0_f64;
        for (p, operand) in frame.operands.iter().enumerate() {
            // What smooths less than a velocity and is not controlled shows the noise of densities in very
            // short steps; it counts as it will when it is integrated.
            let rough = !operand.controlled && operand.smoothing() < 1.0;
            let weight = if rough {
                libm::pow(self.tables.h.min(1.0), 1.0 - operand.smoothing())
            } else {
                1.0
            };
            for j in 0..s {
                let row = &self.tables.local[p][j * s..(j + 1) * s];
                let moved: f64 = row
                    .iter()
                    .enumerate()
                    .map(|(k, l)| (l * self.residual[k * n + operand.unknown]).abs())
                    .sum();
                felt = felt.max(weight * moved / (1.0 + self.z[j * count + p].abs()));
            }
        }
        felt
    }
}

/// The equations of all nodes of a step, for Newton's iteration.
///
/// The factors of an earlier step or iterate serve as long as the corrections shrink. When it is solved is
/// decided here: short steps make the densities noisy, but not their integrals, so that both are looked at.
struct StageEquations<'a> {
    collocation: &'a mut StepCollocation,
    frame: &'a RunFrame,
    span: StepSpan,
    system: &'a mut dyn VolterraSystem,
    round: usize,
    /// Whether the factors belong to this step.
    fresh: bool,
    /// The correction before.
    previous: f64,
    /// Whether the last correction was nothing, or nearly so.
    settled: bool,
    /// How often a correction with fresh factors did not shrink.
    stalled: usize,
}

impl NewtonProblem for StageEquations<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let Self { collocation, frame, span, system, .. } = self;
        collocation.residuals(frame, span.start, *system)?;
        if collocation.factored != span.h {
            collocation.factor(frame, span.start, *system)?;
            self.fresh = true;
        }
        collocation.lu.solve(&mut collocation.residual);
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let change = self.collocation.correct(self.frame)?;
        let (previous, fresh, round) = (self.previous, self.fresh, self.round);
        self.round += 1;
        if change < 1e-13 && change < 0.02 * previous {
            // The next step would be below rounding.
            return Ok(Advance::Solved);
        }
        // Rounding: steps that are nothing, or that no longer shrink.
        let stands = change > 0.1 * previous && fresh;
        let asked = stands || change < 1e-6 || self.frame.settled > 0.0;
        let felt = if asked { self.collocation.felt(self.frame) } else { f64::INFINITY };
        if self.is_solved(change, felt) {
            return Ok(Advance::Solved);
        }
        // Away, and far, in what the equations feel too: a shorter step is found sooner than a solution.
        // The first step has no shorter one.
        let away = change > previous.max(1e-2) && felt > 1e-6;
        if fresh && round > 1 && self.span.start > 0.0 && away {
            self.collocation.factored = 0.0;
            return Err(EvalError::Singular);
        }
        // Twice no progress with fresh factors: what is left is the noise of an ill-conditioned density.
        self.stalled += usize::from(change > 0.3 * previous && fresh);
        self.settled = felt < 1e-9 || change < 1e-6;
        if self.stalled >= 2 && self.settled {
            return Ok(Advance::Solved);
        }
        // Factors of an earlier step, or of the guess, may no longer serve at the iterate.
        let slow = if fresh {
            round > 2 && change > 0.3 * previous
        } else {
            change > 0.05 * previous || round > 5
        };
        if slow {
            self.collocation.factored = 0.0;
        }
        self.previous = change;
        Ok(Advance::Taken(change))
    }
}

impl StageEquations<'_> {
    /// Whether a correction, which changes the operands by `felt`, leaves nothing to correct.
    fn is_solved(&self, change: f64, felt: f64) -> bool {
        // What further iterations would still change, by the rate of the last two.
        let rate = change / self.previous;
        let left = if rate > 0.0 && rate < 0.5 { felt * rate / (1.0 - rate) } else { felt };
        let nothing = change < 1e-15 || left < self.frame.settled || felt < 4e-16;
        let stands = change > 0.1 * self.previous && self.fresh;
        nothing || (stands && (change < 1e-9 || felt < 1e-13))
    }
}
