//! Eight stretches of one motion with their tangent directions, in lanes.
//!
//! A whole trial is one straight-line program over eight states: the stages of DOP853 for
//!
//! $$ \dot y = f(t, y), \qquad \dot s_k = \frac{\partial f}{\partial y}\,s_k, \qquad
//!    \dot\Theta = \operatorname{tr}\frac{\partial f}{\partial y}, $$
//!
//! its error, whether it is taken and how long the next one is; then, on constraints, a step of Newton's iteration back
//! to them; then the directions made tangent and orthonormal. The lengths that they had are multiplied up, and their
//! logarithms are taken once in a while.
//!
//! $f$ are the accelerations with the elimination written out, in all coordinates. Off the constraints
//! $c = (\varphi, \psi)$ the flow keeps $\dot\varphi = \psi$ and $\dot\psi = 0$, so that the volume on them grows like
//! the whole one times $\sqrt{\det GG^\top}$ with $G = \partial c/\partial y$: the mean divergence on the constraints
//! is that of $\Theta + \tfrac12\log\det GG^\top$.

use pfaff_expr::{Expr, Graph, Relation, Role, Unary, number};
use pfaff_model::Workspace;
use pfaff_program::{Backend, LANES, LaneExecutor, LaneRows, Program};
use pfaff_solver::Dop853Tableau;

use crate::analysis::phase::tangent_flow::written_out;
use crate::system::compiled::Dynamics;

/// Instructions of a trial beyond which there are no lanes.
const LONGEST: usize = 150_000;
/// Trials between two times when logarithms are taken: so many lengths can be multiplied.
const FOLD: usize = 16;
/// Largest and smallest factor between the lengths of two steps.
const LONGER: f64 = 5.0;
const SHORTER: f64 = 0.3;
const SAFETY: f64 = 0.9;
/// What is small by itself is measured by this part of the largest component.
const SMALL: f64 = 1e-6;

/// Where the numbers of a lane stand.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Components of the state, and directions.
    d: usize,
    r: usize,
}

impl Layout {
    const T: usize = 0;
    const H: usize = 1;
    const STEPS: usize = 2;
    const Y: usize = 3;

    /// State, directions and divergence.
    fn carried(self) -> usize {
        self.d * (1 + self.r) + 1
    }

    fn largest(self, i: usize) -> usize {
        Self::Y + self.carried() + i
    }

    /// The product of the lengths of a direction, and the volume across the constraints.
    fn length(self, k: usize) -> usize {
        self.largest(self.d) + k
    }

    fn across(self) -> usize {
        self.length(self.r)
    }

    fn rows(self) -> usize {
        self.across() + 1
    }
}

/// Eight stretches of a motion.
pub(crate) struct TangentLanes {
    run: LaneExecutor,
    layout: Layout,
    /// Those before and after a trial.
    rows: [LaneRows; 2],
    /// By lane, then by direction.
    logarithms: Vec<f64>,
    /// Instructions of a trial.
    pub(crate) instructions: usize,
}

/// What a lane has come to.
#[derive(Clone, Debug)]
pub(crate) struct LaneSums {
    pub(crate) t: f64,
    pub(crate) logarithms: Vec<f64>,
    /// The integral of the divergence on the constraints.
    pub(crate) divergence: f64,
}

impl TangentLanes {
    /// For a model with so many directions; `None` where its equations cannot be written out, or only at length.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        symbols: &[Expr],
        r: usize,
        tolerance: f64,
        backend: Backend,
    ) -> Option<Self> {
        let g = &model.graph;
        let f = g.merging(|| written_out(model, dynamics))?;
        let layout = Layout { d: f.len(), r };
        let known = |&e: &Expr| {
            e == model.time || symbols.contains(&e) || model.parameter_symbols().contains(&e)
        };
        if layout.d != symbols.len() || !g.symbols(&f).iter().all(known) {
            return None;
        }
        let flow = WrittenFlow::new(model, dynamics, symbols, f, layout);
        let (rows, outputs) = flow.trial(tolerance)?;
        let parameters = model.parameter_symbols();
        let program = Program::compile(g, &rows, &parameters, &outputs).ok()?.fused();
        let instructions = program.counts().per_evaluation;
        if instructions > LONGEST {
            return None;
        }
        let run = program.lane_executor(&model.parameter_values(), backend);
        let room = LaneRows::new(layout.rows());
        let logarithms = vec![0.0; LANES * r];
        Some(Self { run, layout, rows: [room.clone(), room], logarithms, instructions })
    }

    /// Starts a lane at a state with directions, which are orthonormal.
    pub(crate) fn start(&mut self, lane: usize, t: f64, h: f64, state: &[f64]) {
        let layout = self.layout;
        let rows = &mut self.rows[0];
        rows.set(Layout::T, lane, t);
        rows.set(Layout::H, lane, h);
        rows.set(Layout::STEPS, lane, 0.0);
        for (i, &x) in state[..layout.d * (1 + layout.r)].iter().enumerate() {
            rows.set(Layout::Y + i, lane, x);
        }
        rows.set(Layout::Y + layout.carried() - 1, lane, 0.0);
        for (i, x) in state[..layout.d].iter().enumerate() {
            rows.set(layout.largest(i), lane, x.abs());
        }
        for k in 0..layout.r {
            rows.set(layout.length(k), lane, 1.0);
            self.logarithms[lane * layout.r + k] = 0.0;
        }
        rows.set(layout.across(), lane, 1.0);
    }

    /// So many trials in every lane.
    pub(crate) fn advance(&mut self, trials: usize) {
        let [before, after] = &mut self.rows;
        for trial in 1..=trials {
            self.run.evaluate(before.rows(), after.rows_mut());
            std::mem::swap(before, after);
            if trial.is_multiple_of(FOLD) || trial == trials {
                for k in 0..self.layout.r {
                    let row = self.layout.length(k);
                    for lane in 0..LANES {
                        self.logarithms[lane * self.layout.r + k] +=
                            libm::log(before.at(row, lane));
                        before.set(row, lane, 1.0);
                    }
                }
            }
        }
    }

    /// What a lane has come to; `None` if it cannot go on.
    pub(crate) fn sums(&self, lane: usize) -> Option<LaneSums> {
        let (rows, layout) = (&self.rows[0], self.layout);
        let (t, h) = (rows.at(Layout::T, lane), rows.at(Layout::H, lane));
        let logarithms = self.logarithms[lane * layout.r..(lane + 1) * layout.r].to_vec();
        let divergence = rows.at(Layout::Y + layout.carried() - 1, lane)
            + libm::log(rows.at(layout.across(), lane));
        let is_finite =
            t.is_finite() && divergence.is_finite() && logarithms.iter().all(|x| x.is_finite());
        let goes_on = h.is_finite() && h.abs() > 1e-14 * (1.0 + t.abs());
        (is_finite && goes_on).then_some(LaneSums { t, logarithms, divergence })
    }

    /// The time and the state of a lane.
    pub(crate) fn state(&self, lane: usize) -> (f64, Vec<f64>) {
        let rows = &self.rows[0];
        let state = (0..self.layout.d).map(|i| rows.at(Layout::Y + i, lane));
        (rows.at(Layout::T, lane), state.collect())
    }

    /// Steps that were taken, in all lanes.
    pub(crate) fn steps(&self) -> usize {
        let steps = (0..LANES).map(|lane| self.rows[0].at(Layout::STEPS, lane));
        steps.sum::<f64>() as usize
    }
}

/// The flow as expressions.
struct WrittenFlow<'a> {
    g: &'a Graph,
    time: Expr,
    /// State and directions.
    symbols: Vec<Expr>,
    /// Their rates, and the divergence.
    rates: Vec<Expr>,
    /// $c$ with $G$ by rows, over the state.
    constraints: Vec<(Expr, Vec<Expr>)>,
    layout: Layout,
}

fn real(g: &Graph, x: f64) -> Expr {
    number::from_f64(x).map_or_else(|| g.zero(), |x| g.number(x))
}

fn magnitude(g: &Graph, e: Expr) -> Expr {
    g.unary(Unary::Abs, e)
}

fn larger(g: &Graph, a: Expr, b: Expr) -> Expr {
    g.choose(g.compare(Relation::Less, a, b), b, a)
}

impl<'a> WrittenFlow<'a> {
    fn new(
        model: &'a Workspace,
        dynamics: &Dynamics,
        state: &[Expr],
        f: Vec<Expr>,
        layout: Layout,
    ) -> Self {
        let g = &model.graph;
        let (mut symbols, mut rates) = (state.to_vec(), f.clone());
        for k in 0..layout.r {
            let name = |i: usize| format!("direction {k} {i}");
            let along: Vec<Expr> = (0..layout.d)
                .map(|i| g.symbol(&name(i), Role::Coordinate { order: 0 }))
                .collect();
            let direction: Vec<(Expr, Expr)> =
                state.iter().copied().zip(along.iter().copied()).collect();
            rates.extend(g.merging(|| g.directional(&f, &direction)));
            symbols.extend(along);
        }
        let diagonal = f.iter().zip(state).map(|(&f, &y)| g.derivative(f, y));
        rates.push(g.merging(|| g.sum(diagonal)));
        let constraints = match dynamics {
            Dynamics::Saddle(equations) => {
                let positions = equations.position.iter().flatten();
                let all = positions.chain(&equations.residual).copied();
                all.map(|c| (c, g.merging(|| g.gradient(c, state)))).collect()
            }
            Dynamics::Ordinary(_) => Vec::new(),
        };
        Self { g, time: model.time, symbols, rates, constraints, layout }
    }

    fn at(&self, list: &[Expr], t: Expr, y: &[Expr]) -> Vec<Expr> {
        let mut inserted: Vec<(Expr, Expr)> =
            self.symbols.iter().copied().zip(y.iter().copied()).collect();
        inserted.push((self.time, t));
        self.g.substitute(list, &inserted)
    }

    /// $\sum_j w_j k_j$ of a component.
    fn combined(&self, weights: &[f64], stages: &[Vec<Expr>], i: usize) -> Expr {
        let g = self.g;
        let terms = weights.iter().zip(stages).filter(|(w, _)| **w != 0.0);
        g.sum(terms.map(|(&w, stage)| g.mul(real(g, w), stage[i])))
    }

    /// Rows, and the rows after a trial; `None` if that is too long.
    fn trial(&self, tolerance: f64) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let (g, layout) = (self.g, self.layout);
        let tableau = Dop853Tableau::DOP853;
        let rows: Vec<Expr> = (0..layout.rows())
            .map(|i| g.symbol(&format!("tangent lane {i}"), Role::Free))
            .collect();
        let (t, h) = (rows[Layout::T], rows[Layout::H]);
        let (all, moved) = (layout.carried(), layout.carried() - 1);
        let y = &rows[Layout::Y..Layout::Y + all];
        let mut stages = vec![self.at(&self.rates, t, y)];
        for (row, node) in tableau.rows.iter().zip(tableau.nodes) {
            let at: Vec<Expr> = (0..moved)
                .map(|i| g.add(y[i], g.mul(h, self.combined(row, &stages, i))))
                .collect();
            stages.push(self.at(&self.rates, g.add(t, g.mul(real(g, node), h)), &at));
            if g.live(stages.last()?).len() > LONGEST {
                return None;
            }
        }
        let mut end: Vec<Expr> = (0..all)
            .map(|i| g.add(y[i], g.mul(h, self.combined(&tableau.weights, &stages, i))))
            .collect();
        // The error in parts of the tolerance; directions have length 1.
        let largest: Vec<Expr> = (0..layout.d)
            .map(|i| larger(g, rows[layout.largest(i)], magnitude(g, end[i])))
            .collect();
        let most = largest.iter().copied().reduce(|a, b| larger(g, a, b))?;
        let floor = g.add(g.mul(real(g, SMALL), most), real(g, 1e-50));
        let mut worst = [g.zero(); 2];
        for i in 0..moved {
            let inverse = (i < layout.d).then(|| g.div(g.one(), larger(g, largest[i], floor)));
            for (worst, weights) in worst.iter_mut().zip(&tableau.errors) {
                let part = magnitude(g, self.combined(weights, &stages, i));
                let part = inverse.map_or(part, |inverse| g.mul(part, inverse));
                *worst = larger(g, part, *worst);
            }
        }
        let [five, three] = worst.map(|x| g.mul(x, x));
        let root = g.sqrt(g.add(g.add(five, g.mul(real(g, 0.01), three)), real(g, 1e-300)));
        let allowed = g.mul(root, real(g, tolerance));
        let error = g.div(g.mul(magnitude(g, h), five), allowed);
        // NOTE: what is not a number may be lost among the largest, but not in a sum.
        let size = g.sum(end.iter().map(|&x| magnitude(g, x)));
        let is_finite = g.compare(Relation::Less, size, real(g, 1e300));
        let is_small = g.compare(Relation::LessEqual, error, g.one());
        let is_good = g.logic_and(is_small, is_finite);
        let eighth = g.sqrt(g.sqrt(g.sqrt(g.add(error, real(g, 1e-30)))));
        let factor = g.div(real(g, SAFETY), eighth);
        // NOTE: what is not a number is shortened.
        let factor = g.choose(
            g.compare(Relation::Less, real(g, SHORTER), factor),
            g.choose(
                g.compare(Relation::Less, factor, real(g, LONGER)),
                factor,
                real(g, LONGER),
            ),
            real(g, SHORTER),
        );
        let time = g.add(t, h);
        let across = self.return_to_constraints(time, &mut end);
        let lengths = self.orthonormalise(&mut end);
        let kept = |after: Expr, row: usize| g.choose(is_good, after, rows[row]);
        let mut outputs = vec![kept(time, Layout::T), g.mul(factor, h)];
        outputs.push(kept(g.add(rows[Layout::STEPS], g.one()), Layout::STEPS));
        outputs.extend((0..all).map(|i| kept(end[i], Layout::Y + i)));
        outputs.extend((0..layout.d).map(|i| kept(largest[i], layout.largest(i))));
        for (k, &length) in lengths.iter().enumerate() {
            let row = layout.length(k);
            outputs.push(kept(g.mul(rows[row], length), row));
        }
        outputs.push(kept(across, layout.across()));
        (g.live(&outputs).len() <= LONGEST).then_some((rows, outputs))
    }

    /// Makes the state obey the constraints and the directions tangent to them; $\sqrt{\det GG^\top}$.
    fn return_to_constraints(&self, time: Expr, end: &mut [Expr]) -> Expr {
        let (g, d) = (self.g, self.layout.d);
        let whole = &end[..self.layout.carried() - 1].to_vec();
        // Orthonormal rows of G, each with its value and its length.
        let mut normals: Vec<(Expr, Vec<Expr>)> = Vec::new();
        let mut across = g.one();
        for (value, row) in &self.constraints {
            let mut list = self.at(row, time, whole);
            let mut value = self.at(&[*value], time, whole)[0];
            for (other, normal) in &normals {
                let part = g.dot(normal, &list);
                subtract(g, &mut list, part, normal);
                value = g.sub(value, g.mul(part, *other));
            }
            let length = g.sqrt(g.dot(&list, &list));
            let inverse = g.div(g.one(), length);
            across = g.mul(across, length);
            list.iter_mut().for_each(|x| *x = g.mul(*x, inverse));
            normals.push((g.mul(value, inverse), list));
        }
        for (value, normal) in &normals {
            subtract(g, &mut end[..d], *value, normal);
            for direction in end[d..d * (1 + self.layout.r)].chunks_exact_mut(d) {
                let part = g.dot(normal, direction);
                subtract(g, direction, part, normal);
            }
        }
        across
    }

    /// Makes the directions orthonormal; the lengths that they had.
    fn orthonormalise(&self, end: &mut [Expr]) -> Vec<Expr> {
        let (g, d) = (self.g, self.layout.d);
        let directions = &mut end[d..d * (1 + self.layout.r)];
        let mut lengths = Vec::with_capacity(self.layout.r);
        for k in 0..self.layout.r {
            let (done, rest) = directions.split_at_mut(k * d);
            let x = &mut rest[..d];
            for other in done.chunks_exact(d) {
                let part = g.dot(other, x);
                subtract(g, x, part, other);
            }
            let length = g.sqrt(g.dot(x, x));
            let inverse = g.div(g.one(), length);
            x.iter_mut().for_each(|x| *x = g.mul(*x, inverse));
            lengths.push(length);
        }
        lengths
    }
}

/// Takes a multiple of a vector off another.
fn subtract(g: &Graph, x: &mut [Expr], factor: Expr, other: &[Expr]) {
    x.iter_mut().zip(other).for_each(|(x, &o)| *x = g.sub(*x, g.mul(factor, o)));
}
