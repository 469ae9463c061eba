//! The compiled core: the blocks of (K) as numbers at a state, and what follows from them.
//!
//! One tape gives $M$, $A$, $W$, $f$, $b$, the constraint residuals $\psi$ and $\varphi$, the energies and
//! the powers; one solve of (K)
//! gives $\ddot q$ and $\lambda$, or $\dot\mu$ under the vakonomic principle. All other numbers of a motion
//! are read off here.

mod corrections;
mod inertia;
mod parameters;
mod rows;

pub(crate) use parameters::given_power;

use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, SparseBlocks, sparse_rows};
use pfaff_model::{Principle, Workspace};
use pfaff_program::{Backend, CompileError, Executor, GraphEvaluator, Program};
use pfaff_solver::EvalError;

use crate::system::constraint_scale::ConstraintScale;
use crate::system::independent_constraints::{
    DefinedRows, independent, nearest_dependence, project_by_repeats, project_onto_columns,
};
use crate::system::projection::ROUNDING;
use crate::system::saddle_point::{Blocks, Layout, Saddle};
use crate::system::sparse_rows::{RowMatrix, RowPattern};

/// The compiled blocks of one model under one principle.
#[derive(Clone, Debug)]
pub(crate) struct Kkt {
    pub(crate) n: usize,
    pub(crate) m: usize,
    /// Which principle the blocks follow.
    pub(crate) principle: Principle,
    /// How many multipliers belong to the state: all under the vakonomic principle, none under the others.
    pub(crate) carried: usize,
    /// Which constraints are holonomic.
    pub(crate) holonomic: Vec<bool>,
    /// The sizes of their terms.
    pub(crate) scale: ConstraintScale,
    /// Which constraints carry the motion: the others repeat them, and their multipliers are zero.
    pub(crate) active: Vec<bool>,
    /// Residuals of constraints, in parts of their terms, that a projection leaves.
    pub(crate) near: f64,
    /// What evaluates the blocks, once they are compiled.
    pub(crate) backend: Backend,
    evaluator: BlockEvaluator,
    /// The coordinates that a constraint holds by itself, and whether it is holonomic.
    held: Vec<(usize, bool)>,
    /// How many auxiliary velocities there are, each with a row that defines it before those of the constraints.
    pub(crate) extra: usize,
    /// How many of them are replaced by their definitions before elimination: all or none.
    pub(crate) condensed: usize,
    /// $M$, $A$, $W$, bend, $f$, $b$, $\psi$, $\varphi$, shift, $E$, $E\[M\]$ and powers, one after another.
    blocks: Vec<f64>,
    layout: Layout,
    patterns: Patterns,
    saddle: Saddle,
    /// The sign of the determinant of (K) at the first solve under the vakonomic principle: where it changes,
    /// the effective mass was singular on the way.
    orientation: f64,
    buffers: Buffers,
}

/// Which entries of the matrices are there.
#[derive(Clone, Debug)]
struct Patterns {
    mass: RowPattern,
    jacobian: RowPattern,
    directions: RowPattern,
    bend: RowPattern,
}

/// The tape of the blocks with its inputs and outputs.
#[derive(Clone, Debug)]
struct BlockEvaluator {
    run: Run,
    /// $t$, $q$, $\dot q$ and $\mu$ as symbols.
    symbols: Vec<Expr>,
    /// What is evaluated over them.
    expressions: Vec<Expr>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Outputs, each with a place of the blocks where it goes.
    targets: Vec<(usize, usize)>,
}

/// Room for the solves, so that none allocates.
#[derive(Clone, Debug)]
struct Buffers {
    zeros: Vec<f64>,
    /// $R$
    reaction: Vec<f64>,
    /// A right side for the active constraints.
    change: Vec<f64>,
    /// The active rows of $A$.
    rows: RowMatrix,
    /// The active rows of $W$.
    directions: RowMatrix,
    /// The mass, with a unit mass for each coordinate where it is degenerate.
    metric: RowMatrix,
    /// Magnitudes of $\dot q$ and of the terms of auxiliary velocities at the state last evaluated.
    magnitudes: Vec<f64>,
    /// $M_{ii}$, and how often it was asked for.
    diagonal: Vec<f64>,
    asked: usize,
}

impl Buffers {
    fn new(n: usize, extra: usize, m: usize) -> Self {
        Self {
            zeros: vec![0.0; n + extra],
            reaction: vec![0.0; n],
            change: Vec::with_capacity(extra + m),
            rows: RowMatrix::default(),
            directions: RowMatrix::default(),
            metric: RowMatrix::default(),
            magnitudes: Vec::new(),
            diagonal: Vec::new(),
            asked: 0,
        }
    }
}

/// How the blocks are evaluated.
#[derive(Clone, Debug)]
enum Run {
    /// Operation by operation: a few times.
    Sketch(GraphEvaluator),
    /// By a program.
    Program(Executor),
}

impl Kkt {
    /// Compiles the blocks, to be evaluated many times.
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let mut kkt = Self::sketch(model, equations, backend)?;
        kkt.compile(model)?;
        Ok(kkt)
    }

    /// Makes the blocks ready to be evaluated a few times.
    pub(crate) fn sketch(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let (n, m) = (model.coordinates.len(), model.constraints.len());
        let SparseBlocks { mass, definitions, jacobian, directions } = equations.sparse(g);
        let extra = definitions.len();
        let rows = |constraints: Vec<Vec<(usize, Expr)>>| -> Vec<Vec<(usize, Expr)>> {
            definitions.iter().cloned().chain(constraints).collect()
        };
        let bend = sparse_rows(g, &equations.multiplier_terms.mass);
        let matrices = [mass, rows(jacobian), rows(directions), bend];
        let patterns = matrices.each_ref().map(|rows| pattern(rows));
        let alone = |(a, row): (usize, &Vec<(usize, Expr)>)| match row[..] {
            [(i, _)] if i < n => Some((i, equations.position[a].is_some())),
            _ => None,
        };
        let held = matrices[1][extra..].iter().enumerate().filter_map(alone).collect();
        let layout = Layout::new([n, extra, m], patterns.each_ref().map(RowPattern::len));
        let mut entries: Vec<(Expr, usize)> = Vec::new();
        let places = matrices.iter().flatten().flatten().enumerate();
        entries.extend(places.map(|(place, &(_, e))| (e, place)));
        let list = |values: &[Expr], start: usize| -> Vec<(Expr, usize)> {
            values.iter().enumerate().map(|(k, &e)| (e, start + k)).collect()
        };
        entries.extend(list(&equations.force, layout.force));
        entries.extend(list(&equations.drift, layout.drift + extra));
        entries.extend(list(&equations.residual, layout.residual));
        for (a, position) in equations.position.iter().enumerate() {
            entries.extend(position.map(|φ| (φ, layout.position + a)));
        }
        entries.extend(list(&equations.multiplier_terms.force, layout.shift));
        entries.push((equations.energy, layout.energy));
        entries.push((equations.multiplier_terms.energy, layout.constraint_energy));
        entries.push((g.merging(|| given_power(model)), layout.power));
        entries.push((equations.multiplier_terms.power, layout.drive));
        // Each distinct expression once; what is identically zero stays zero.
        let mut outputs: Vec<Expr> = Vec::new();
        let mut targets = Vec::new();
        entries.sort_by_key(|&(e, place)| (e, place));
        for (e, place) in entries {
            if e == g.zero() {
                continue;
            }
            if outputs.last() != Some(&e) {
                outputs.push(e);
            }
            targets.push((outputs.len() - 1, place));
        }
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        inputs.extend(&equations.multipliers);
        let parameters: Vec<(Expr, f64)> =
            model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        Ok(Self {
            n,
            m,
            principle: equations.principle,
            carried: equations.multipliers.len(),
            holonomic: equations.position.iter().map(Option::is_some).collect(),
            scale: ConstraintScale::new(g, equations),
            active: vec![true; m],
            near: ROUNDING,
            backend,
            evaluator: BlockEvaluator {
                run: Run::Sketch(GraphEvaluator::new(g, &inputs, &parameters, &outputs)?),
                inputs: vec![0.0; inputs.len()],
                outputs: vec![0.0; outputs.len()],
                symbols: inputs,
                expressions: outputs,
                targets,
            },
            held,
            extra,
            condensed: match &equations.auxiliary {
                Some(auxiliary) if auxiliary.is_condensed => extra,
                _ => 0,
            },
            blocks: vec![0.0; layout.drive + 1],
            layout,
            patterns: {
                let [mass, jacobian, directions, bend] = patterns;
                Patterns { mass, jacobian, directions, bend }
            },
            saddle: Saddle::default(),
            orientation: 0.0,
            buffers: Buffers::new(n, extra, m),
        })
    }

    /// The blocks of this model are going to be evaluated at every step.
    pub(crate) fn promote(&mut self, model: &Workspace) -> Result<(), CompileError> {
        self.compile(model)?;
        if let Run::Program(run) = &mut self.evaluator.run {
            run.promote();
        }
        Ok(())
    }

    /// The blocks of this model are going to be evaluated many times.
    pub(crate) fn compile(&mut self, model: &Workspace) -> Result<(), CompileError> {
        let evaluator = &mut self.evaluator;
        if let Run::Sketch(_) = evaluator.run {
            let (inputs, outputs) = (&evaluator.symbols, &evaluator.expressions);
            let program =
                Program::compile(&model.graph, inputs, &model.parameter_symbols(), outputs)?;
            let program = program.tiered(&model.parameter_values(), self.backend);
            evaluator.run = Run::Program(program);
        }
        Ok(())
    }

    /// Evaluates the blocks at a state; the multipliers are read under the vakonomic principle only.
    pub(crate) fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64], μ: &[f64]) {
        let n = self.n;
        let BlockEvaluator { run, inputs, outputs, targets, .. } = &mut self.evaluator;
        inputs[0] = t;
        inputs[1..=n].copy_from_slice(&q[..n]);
        inputs[n + 1..=2 * n].copy_from_slice(&v[..n]);
        inputs[2 * n + 1..].copy_from_slice(&μ[..self.carried]);
        match run {
            Run::Sketch(sketch) => sketch.evaluate(inputs, outputs),
            Run::Program(run) => run.evaluate(inputs, outputs),
        }
        for &(output, place) in &*targets {
            self.blocks[place] = outputs[output];
        }
        if self.extra > 0 {
            self.measure_terms();
        }
    }

    /// The coordinates that a constraint holds by itself, and whether it is holonomic.
    pub(crate) fn held(&self) -> &[(usize, bool)] {
        &self.held
    }

    /// $\dot q$ of the state last evaluated.
    pub(crate) fn velocity(&self) -> &[f64] {
        &self.evaluator.inputs[self.n + 1..=2 * self.n]
    }

    /// Solves (K) at the state last evaluated. Beyond a singular effective mass there is no motion to go on with.
    pub(crate) fn solve(&mut self) -> Result<(), EvalError> {
        self.solve_blocks()?;
        self.take_held();
        if self.carried > 0 {
            let turned = self.saddle.orientation * self.orientation < 0.0;
            if turned {
                return Err(EvalError::Singular);
            }
            if self.orientation == 0.0 {
                self.orientation = self.saddle.orientation;
            }
        }
        Ok(())
    }

    /// Whether (K) is singular, or nearly so, at the state last evaluated, while its constraints are
    /// independent. `halted` says that it was found singular beyond.
    pub(crate) fn is_mass_singular(&mut self, halted: bool) -> bool {
        match self.solve_blocks() {
            // A pole of the accelerations stops every method before one part in a thousand is left.
            Ok(()) if self.saddle.orientation != 0.0 => {
                halted || self.saddle.pivot_ratio() < 1e-3
            }
            Err(EvalError::Singular) => self.dependent().is_none(),
            Ok(()) | Err(EvalError::NotFinite) => false,
        }
    }

    /// Solves (K) at the state last evaluated, for the active constraints; the multipliers of the others are zero.
    fn solve_blocks(&mut self) -> Result<(), EvalError> {
        if self.is_whole() {
            let Self { blocks, layout: l, patterns, saddle, condensed, .. } = self;
            return saddle.solve(&whole(blocks, l, patterns, *condensed));
        }
        self.gather(self.layout.drift + self.extra, 1.0);
        let Self { blocks, layout: l, patterns, saddle, buffers, extra, condensed, .. } = self;
        saddle.solve(&Blocks {
            mass: patterns.mass.with(&blocks[..l.jacobian]),
            left: buffers.rows.view(),
            right: buffers.directions.view(),
            force: &blocks[l.force..l.drift],
            drift: &buffers.change,
            condensed: *condensed,
        })?;
        // λ back to its places, from behind.
        let mut from = saddle.solution.len();
        let first = self.n + 2 * *extra;
        saddle.solution.resize(first + self.m, 0.0);
        for a in (0..self.m).rev() {
            saddle.solution[first + a] = if self.active[a] {
                from -= 1;
                saddle.solution[from]
            } else {
                0.0
            };
        }
        Ok(())
    }

    /// The definitions and the active rows of $A$ and $W$, and a right side from the block that begins at `start`.
    fn gather(&mut self, start: usize, sign: f64) {
        let Self { blocks, layout: l, patterns, active, extra, .. } = self;
        let Buffers { rows, directions, change, .. } = &mut self.buffers;
        let jacobian = patterns.jacobian.with(&blocks[l.jacobian..l.directions]);
        let along = patterns.directions.with(&blocks[l.directions..l.bend]);
        rows.clear();
        directions.clear();
        change.clear();
        for k in (0..*extra + active.len()).filter(|&k| k < *extra || active[k - *extra]) {
            rows.push(jacobian.row(k).entries());
            directions.push(along.row(k).entries());
            change.push(if k < *extra { 0.0 } else { sign * blocks[start + k - *extra] });
        }
    }

    /// Takes the sizes of the velocity constraints at the state last evaluated.
    pub(crate) fn measure_velocities(&mut self, v: &[f64]) {
        let mut scale = std::mem::take(&mut self.scale);
        scale.measure_velocities(|a| self.row(a), self.residual(), self.moving(v));
        self.scale = scale;
    }

    /// Gives a size to the constraints that have no terms at the state last evaluated.
    pub(crate) fn measure_held(&mut self, q: &[f64]) {
        if self.scale.has_sizes() {
            return;
        }
        let masses = self.mass_diagonal().to_vec();
        let mut scale = std::mem::take(&mut self.scale);
        scale.measure_held(|a| self.row(a), q, &masses);
        self.scale = scale;
    }

    /// Whether every constraint is active.
    pub(crate) fn is_whole(&self) -> bool {
        self.active.iter().all(|&a| a)
    }

    /// Decides anew which constraints carry the motion, at the state last evaluated. Tells whether that changed.
    ///
    /// Costs nothing as long as all do and the last solve was well conditioned.
    pub(crate) fn review(&mut self) -> bool {
        /// Far above the pivots of dependent rows, and rarely reached without need.
        const DOUBTFUL: f64 = 1e-7;
        if self.m == 0 || (self.is_whole() && self.saddle.pivot_ratio() > DOUBTFUL) {
            return false;
        }
        if self.jacobian().values.iter().any(|x| !x.is_finite()) {
            return false;
        }
        self.decide()
    }

    /// [`Kkt::review`] whatever it costs.
    pub(crate) fn decide(&mut self) -> bool {
        let definitions: Vec<_> = (0..self.extra).map(|k| self.definition(k)).collect();
        let rows: Vec<_> = (0..self.m).map(|a| self.row(a)).collect();
        let rows = DefinedRows { rows: &rows, definitions: &definitions, n: self.n };
        let kept = independent(rows, &self.holonomic, &self.active);
        let changed = kept != self.active;
        self.active = kept;
        changed
    }

    /// Solves (K), deciding anew which constraints carry the motion; refuses constraints that repeat others
    /// but want another acceleration.
    pub(crate) fn solve_reviewed(&mut self) -> Result<(), EvalError> {
        /// Dropped rows must agree with the others to this fraction of their terms.
        const AGREEMENT: f64 = 1e-7;
        let solved = self.solve();
        if self.review() {
            self.solve()?;
        } else {
            solved?;
        }
        let dropped = self.repeated();
        let sizes = if dropped.is_empty() { Vec::new() } else { self.solution_sizes() };
        for a in dropped {
            let b = self.blocks[self.layout.drift + self.extra + a];
            let (mut sum, mut size) = (-b, b.abs());
            for (j, x) in self.row(a).entries() {
                sum += x * self.saddle.solution[j];
                size += x.abs() * sizes[j];
            }
            if sum.is_nan() || sum.abs() > AGREEMENT * size {
                return Err(EvalError::Singular);
            }
        }
        Ok(())
    }

    /// The constraints whose multipliers (K) leave free at the state last evaluated; `None` if the
    /// accelerations are not determined.
    fn dependent(&mut self) -> Option<Vec<usize>> {
        let Self { blocks, layout: l, patterns, saddle, condensed, .. } = self;
        let free = saddle.dependent(&whole(blocks, l, patterns, *condensed))?;
        free.iter().map(|a| a.checked_sub(self.extra)).collect()
    }

    /// The constraints that repeat others at the state last evaluated.
    pub(crate) fn repeated(&self) -> Vec<usize> {
        (0..self.m).filter(|&a| !self.active[a]).collect()
    }

    /// The active constraints whose combination is nearest to zero at the state last evaluated, and how near it is.
    pub(crate) fn nearest_dependence(&self) -> (Vec<usize>, f64) {
        let kept: Vec<usize> = (0..self.m).filter(|&a| self.active[a]).collect();
        let definitions: Vec<_> = (0..self.extra).map(|k| self.definition(k)).collect();
        let rows: Vec<_> = kept.iter().map(|&a| self.row(a)).collect();
        let rows = DefinedRows { rows: &rows, definitions: &definitions, n: self.n };
        let (members, size) = nearest_dependence(rows);
        (members.into_iter().map(|i| kept[i]).collect(), size)
    }

    /// $\ddot q$ of the last solve.
    pub(crate) fn acceleration(&self) -> &[f64] {
        &self.saddle.solution[..self.n]
    }

    /// Takes the multipliers of least norm among those of the same reaction, where the last solve left some free:
    /// $\lambda$ loses its part across the columns of $W$. Under the vakonomic principle $\mu$ is part of the state.
    pub(crate) fn least_norm(&mut self) {
        let is_free = !self.is_whole() || self.saddle.pivot_ratio() == 0.0;
        if self.principle == Principle::Chetaev && is_free {
            let first = self.n + 2 * self.extra;
            let mut λ = self.saddle.solution[first..].to_vec();
            let definitions: Vec<_> = (0..self.extra).map(|k| self.definition(k)).collect();
            let rows: Vec<_> = (0..self.m).map(|a| self.direction(a)).collect();
            let sparse = DefinedRows { rows: &rows, definitions: &definitions, n: self.n };
            if !project_by_repeats(sparse, &self.active, &mut λ) {
                let rows = self.full(&|a| self.direction(a));
                project_onto_columns(&rows, self.n, &mut λ);
            }
            self.saddle.solution[first..].copy_from_slice(&λ);
        }
    }

    /// $\lambda$ of the last solve, or $\dot\mu$ under the vakonomic principle.
    pub(crate) fn multipliers(&self) -> &[f64] {
        &self.saddle.solution[self.n + 2 * self.extra..]
    }

    /// $R = W^\top\lambda$ of the last solve; $R = A^\top\dot\mu + \text{shift} + \text{bend}\,\ddot q$ under
    /// the vakonomic principle; $M\ddot q - f$ under the restricted one.
    pub(crate) fn reaction(&self, reaction: &mut [f64]) {
        reaction.fill(0.0);
        if self.principle != Principle::Chetaev {
            self.added(self.acceleration(), reaction);
        }
        if self.principle == Principle::Restricted {
            return;
        }
        let λ = self.multipliers();
        if self.extra > 0 {
            let mut all = vec![0.0; self.n + self.extra];
            for a in 0..self.m {
                self.direction(a).entries().for_each(|(j, w)| all[j] += λ[a] * w);
            }
            reaction.copy_from_slice(&self.contracted(all));
            return;
        }
        for a in 0..self.m {
            self.direction(a).entries().for_each(|(j, w)| reaction[j] += λ[a] * w);
        }
    }

    /// $(\dot A - \partial\varphi/\partial q)^\top\mu$ at the state last evaluated, with given accelerations,
    /// under the vakonomic principle.
    pub(crate) fn added(&self, acceleration: &[f64], added: &mut [f64]) {
        for (k, x) in added.iter_mut().enumerate() {
            *x = self.blocks[self.layout.shift + k] + self.bend().row(k).dot(acceleration);
        }
    }

    /// $Q\cdot\dot q - \partial_t L + R\cdot\dot q$ of the last solve, at the velocities given.
    ///
    /// Under Chetaev's principle without $\lambda\cdot\psi$, which vanishes on the constraints: what a
    /// reaction does where the motion has left them is an error and no work.
    pub(crate) fn power(&mut self, v: &[f64]) -> f64 {
        let mut reaction = std::mem::take(&mut self.buffers.reaction);
        self.reaction(&mut reaction);
        let work: f64 = reaction.iter().zip(v).map(|(r, v)| r * v).sum();
        self.buffers.reaction = reaction;
        let false_work: f64 = match self.principle {
            Principle::Chetaev => {
                let ψ = &self.blocks[self.layout.residual..self.layout.position];
                self.multipliers().iter().zip(ψ).map(|(λ, ψ)| λ * ψ).sum()
            }
            Principle::Vakonomic | Principle::Restricted => 0.0,
        };
        self.blocks[self.layout.power] + work - false_work
    }

    /// $Q\cdot\dot q$ with $-\partial_t L$.
    pub(crate) fn given_power(&self) -> f64 {
        self.blocks[self.layout.power]
    }

    /// $\psi$
    pub(crate) fn residual(&self) -> &[f64] {
        &self.blocks[self.layout.residual..self.layout.position]
    }

    /// $\varphi$ of the holonomic ones, zero for the others.
    pub(crate) fn position(&self) -> &[f64] {
        &self.blocks[self.layout.position..self.layout.shift]
    }

    /// $D\cdot\dot q - \partial_t L + \mu\cdot\partial_t\psi$, the rate of $E + E\[M\]$ under the vakonomic principle.
    pub(crate) fn total_power(&self) -> f64 {
        self.blocks[self.layout.power] + self.blocks[self.layout.drive]
    }

    /// $E\[M\]$
    pub(crate) fn constraint_energy(&self) -> f64 {
        self.blocks[self.layout.constraint_energy]
    }

    /// $E$
    pub(crate) fn energy(&self) -> f64 {
        self.blocks[self.layout.energy]
    }
}

/// (K) with all its rows.
fn whole<'a>(
    blocks: &'a [f64],
    l: &Layout,
    patterns: &'a Patterns,
    condensed: usize,
) -> Blocks<'a> {
    Blocks {
        mass: patterns.mass.with(&blocks[..l.jacobian]),
        left: patterns.jacobian.with(&blocks[l.jacobian..l.directions]),
        right: patterns.directions.with(&blocks[l.directions..l.bend]),
        force: &blocks[l.force..l.drift],
        drift: &blocks[l.drift..l.residual],
        condensed,
    }
}

fn pattern(rows: &[Vec<(usize, Expr)>]) -> RowPattern {
    let columns: Vec<Vec<usize>> =
        rows.iter().map(|row| row.iter().map(|entry| entry.0).collect()).collect();
    RowPattern::new(columns.iter().map(Vec::as_slice))
}
