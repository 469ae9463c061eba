//! Taylor coefficients of a motion: from $\dot y = f(t, y)$ to a program for $y^{[1]}, \dots, y^{[p]}$.
//!
//! $$ y(t + s) = \sum_{k=0}^{p} y^{[k]} s^k, \qquad y^{[k+1]} = \frac{1}{k+1}\, f^{[k]} \qquad (\mathrm T) $$
//!
//! $f^{[k]}$ follows from coefficients of lower and equal order by one recurrence for each operation of the
//! tape, order after order (Jorba and Zou 2005). Values that do not vary along the motion cost nothing beyond
//! order 0. Sine and cosine, equal products and derivatives of one series are shared; squares take half their
//! sum.
//!
//! **Linear system.** Where the rates contain unknowns of a linear system $K x = r$, the system is one node:
//! $K^{[0]}$ is factorised once a step, and each order substitutes
//!
//! $$ K^{[0]} x^{[k]} = r^{[k]} - \sum_{j=1}^{k} K^{[j]} x^{[k-j]} \qquad (\mathrm S) $$
//!
//! **Rounding.** The state may be given as $y + e$ with $e$ below the rounding of $y$: it enters where it
//! matters, in the sines and cosines of large angles.
//!
//! **Three evaluations.** [`TaylorRecurrences::unrolled`] writes all orders out as one straight-line
//! [`Program`]: fastest where it is short. [`TaylorRecurrences::passes`] has one program that is run for each
//! order, with vectorised sums between. [`TaylorRecurrences::interpreter`] interprets the rules and pivots
//! anew in (S): the reference for the other two, and the fallback where their pivots become too small.

mod double_series;
mod interpreter;
mod linear;
mod passes;
mod pivots;
mod rules;
mod unrolled;

use std::fmt;

use pfaff_expr::{Expr, Graph};

use crate::backend::Backend;
use crate::error::CompileError;
use crate::tape::instruction::Slot;
use crate::tape::lower::{InputName, SsaTape, lower};
use crate::tape::program::Program;

pub use double_series::{DoubleSeries, NoDoubleSeries};
pub use interpreter::TaylorInterpreter;
pub use passes::TaylorPasses;
use rules::{SeriesRule, SeriesRules};

/// A first-order system, with unknowns of a linear system where the rates need them.
#[derive(Clone, Copy, Debug)]
pub struct VectorField<'a> {
    /// All expressions.
    pub graph: &'a Graph,
    /// $t$
    pub time: Expr,
    /// $y$
    pub state: &'a [Expr],
    /// What is fixed during a run.
    pub parameters: &'a [Expr],
    /// $\dot y$, over $t$, $y$ and $x$.
    pub rates: &'a [Expr],
    /// $x$
    pub unknowns: &'a [Expr],
    /// $K$ by rows, over $t$ and $y$.
    pub matrix: &'a [Expr],
    /// $r$, over $t$ and $y$.
    pub right: &'a [Expr],
}

/// Why there are no recurrences.
#[derive(Clone, Debug, PartialEq)]
pub enum TaylorError {
    /// Something in it is not analytic.
    NotAnalytic(NotAnalytic),
    /// It cannot be evaluated at all.
    Compile(CompileError),
    /// $K$ or $r$ contains an unknown.
    Implicit,
}

/// A function without Taylor series, by the word of the model language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnalytic {
    /// The word.
    pub function: String,
}

impl fmt::Display for TaylorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnalytic(not) => {
                write!(f, "`{}` has no Taylor recurrence", not.function)
            }
            Self::Compile(error) => error.fmt(f),
            Self::Implicit => f.write_str("the linear system contains its own unknowns"),
        }
    }
}

impl std::error::Error for TaylorError {}

/// The recurrences of a field.
#[derive(Clone, Debug)]
pub struct TaylorRecurrences {
    /// The tape of order 0.
    lowered: SsaTape,
    rules: SeriesRules,
    /// How many rules the linear system waits for; the others wait for it.
    before: usize,
    dimension: usize,
    rates: Vec<Slot>,
    solve: Option<LinearSystem>,
    /// Of $t$, $y$, $e$ and the parameters.
    names: Vec<InputName>,
    parameters: usize,
}

/// $K x = r$ as values.
#[derive(Clone, Debug)]
struct LinearSystem {
    unknowns: Vec<Slot>,
    matrix: Vec<Slot>,
    right: Vec<Slot>,
}

impl TaylorRecurrences {
    /// The recurrences of a field.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// use pfaff_program::{VectorField, TaylorRecurrences};
    ///
    /// let g = Graph::new();
    /// let (t, y) = (g.symbol("t", Role::Time), g.symbol("y", Role::Free));
    /// let field = VectorField {
    ///     graph: &g, time: t, state: &[y], parameters: &[], rates: &[g.mul(y, y)], unknowns: &[], matrix: &[],
    ///     right: &[],
    /// };
    /// let program = TaylorRecurrences::of(&field)?.unrolled(4, &[]);
    /// let mut coefficients = [0.0; 4];
    /// program.interpreter(&[]).evaluate(&[0.0, 2.0, 0.0], &mut coefficients);
    /// // y = 2/(1 − 2s)
    /// assert_eq!(coefficients, [4.0, 8.0, 16.0, 32.0]);
    /// # Ok::<(), pfaff_program::TaylorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TaylorError`] if the field is not analytic as it is written, or cannot be compiled.
    pub fn of(field: &VectorField<'_>) -> Result<Self, TaylorError> {
        let VectorField { graph, state, parameters, rates, unknowns, matrix, right, .. } =
            *field;
        let inputs: Vec<Expr> = [field.time]
            .into_iter()
            .chain(state.iter().copied())
            .chain(unknowns.iter().copied())
            .collect();
        let outputs = [rates, matrix, right].concat();
        let lowered =
            lower(graph, &inputs, parameters, &outputs, &[]).map_err(TaylorError::Compile)?;
        let mut rules = SeriesRules::of(&lowered).map_err(TaylorError::NotAnalytic)?;
        let first = 1 + state.len() as Slot;
        let late = first..first + unknowns.len() as Slot;
        let (before, waits) = part(&mut rules, late.clone());
        let (head, tail) = lowered.outputs.split_at(rates.len());
        if tail.iter().any(|&v| waits[v as usize]) {
            return Err(TaylorError::Implicit);
        }
        let solve = (!unknowns.is_empty()).then(|| LinearSystem {
            unknowns: late.collect(),
            matrix: tail[..matrix.len()].to_vec(),
            right: tail[matrix.len()..].to_vec(),
        });
        let given = inputs[..first as usize].iter().chain(state).chain(parameters);
        Ok(Self {
            rates: head.to_vec(),
            rules,
            before,
            dimension: state.len(),
            solve,
            names: given.map(|&e| InputName::of(graph, e)).collect(),
            parameters: parameters.len(),
            lowered,
        })
    }

    /// About how many instructions [`TaylorRecurrences::unrolled`] writes.
    pub fn operations(&self, order: usize) -> usize {
        let varies = |v: Slot| self.rules.varies(v);
        let sum = order * (order + 1) / 2;
        let one = |rule: &SeriesRule| match *rule {
            SeriesRule::Product { a, b, .. } if varies(a) && varies(b) => sum,
            SeriesRule::Quotient { b, .. } if varies(b) => sum,
            SeriesRule::Square { .. } | SeriesRule::Root { .. } => sum / 2 + order,
            SeriesRule::Function { over, terms, .. } => {
                let all = terms.iter().flatten().filter(|t| t.f.is_some()).count();
                (all + usize::from(over.is_some())) * sum + 2 * order
            }
            _ => order,
        };
        let mut all: usize = self.rules.rules.iter().map(one).sum();
        if let Some(solve) = &self.solve {
            let varying = solve.matrix.iter().filter(|&&v| varies(v)).count();
            let full = solve.matrix.iter().filter(|&&v| !self.is_zero(v)).count();
            let size = solve.unknowns.len();
            all += varying * sum + order * 2 * full + full * size;
        }
        all + order * self.dimension
    }

    /// How many components $y$ has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many unknowns the linear system has.
    pub fn unknowns(&self) -> usize {
        self.solve.as_ref().map_or(0, |s| s.unknowns.len())
    }

    /// All orders written out: $(t, y, e)$ to $y^{\[1\]}$, then $y^{\[2\]}$, …, then the pivots of (S).
    /// `sample` is $K$ at a typical state: it decides the pivots.
    ///
    /// # Panics
    ///
    /// If the sample has not the size of $K$.
    pub fn unrolled(&self, order: usize, sample: &[f64]) -> Program {
        let pivots = pivots::choose(self.unknowns(), sample);
        Program::from_lowered(unrolled::unroll(self, order, &pivots), self.names.clone())
    }

    /// All orders by two programs, of which the second is run for each order. `sample` is $K$ at a typical
    /// state: it decides the pivots.
    ///
    /// # Panics
    ///
    /// If the sample has not the size of $K$, or the number of parameters is not that of the field.
    pub fn passes(
        &self,
        order: usize,
        sample: &[f64],
        parameters: &[f64],
        backend: Backend,
    ) -> TaylorPasses {
        TaylorPasses::new(self, order, sample, parameters, backend)
    }

    /// Orders in loops at run time.
    ///
    /// # Panics
    ///
    /// If the number of parameters is not that of the field.
    pub fn interpreter(&self, order: usize, parameters: &[f64]) -> TaylorInterpreter {
        TaylorInterpreter::new(self, order, parameters)
    }

    fn is_zero(&self, v: Slot) -> bool {
        self.rules.values[v as usize] == crate::tape::lower::ValueOrigin::Constant(0.0)
    }
}

/// Puts the rules that wait for the given values behind the others; how many do not, and which values do.
fn part(rules: &mut SeriesRules, late: std::ops::Range<Slot>) -> (usize, Vec<bool>) {
    let mut waits = vec![false; rules.values.len()];
    late.for_each(|v| waits[v as usize] = true);
    let (mut early, mut others) = (Vec::new(), Vec::new());
    for &rule in &rules.rules {
        if rule.reads().any(|v| waits[v as usize]) {
            waits[rule.to() as usize] = true;
            others.push(rule);
        } else {
            early.push(rule);
        }
    }
    let before = early.len();
    early.extend(others);
    rules.rules = early;
    (before, waits)
}
