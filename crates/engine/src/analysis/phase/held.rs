//! What picks one motion where motions form families: quantities that are held along a branch.
//!
//! Where equilibria, steady or periodic motions are not isolated at one value of the parameter $p$, the equations
//! $g(w, \omega, p) = 0$ leave more than a curve. A condition $c(y, p) = c_0$ takes one dimension away: a function that
//! keeps the value it has where the branch begins, or an equation ($c_0 = 0$), in which the parameter may occur.

use pfaff_expr::Expr;
use pfaff_model::{ExpressionScope, Workspace, read_expression};
use pfaff_solver::singular_values;

use crate::analysis::phase::field::{FieldPoint, parameter_direction};
use crate::analysis::phase::integrals::symbol_value;
use crate::analysis::phase::linearize::Phase;
use crate::error::Failure;
use crate::system::compiled::Dynamics;

/// A condition on the state and the parameter.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// As it was written, or the name of a conserved quantity.
    pub(crate) name: String,
    /// Whether it vanishes; otherwise it keeps its value.
    pub(crate) is_equation: bool,
    function: Expr,
    by_state: Vec<Expr>,
    by_parameter: Expr,
}

/// What is held along a branch, with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Held {
    /// A component of the state.
    Component(usize),
    /// The rate of a symmetry along which the motion is steady.
    Rate(usize),
    /// One of a list of conditions.
    Condition(usize),
}

impl Condition {
    /// For a function of the state, and a parameter by index.
    pub(crate) fn new(
        phase: &Phase,
        index: usize,
        name: String,
        function: Expr,
        is_equation: bool,
    ) -> Self {
        let (model, g) = (&phase.model, &phase.model.graph);
        let direction = parameter_direction(model, index);
        let by_state = g.merging(|| g.jacobian(&[function], &phase.field.symbols));
        let by_parameter = g.merging(|| g.directional(&[function], &direction)[0]);
        let by_state = by_state.into_iter().flatten().collect();
        Self { name, is_equation, function, by_state, by_parameter }
    }

    /// Conditions of a text: `energy, x*y' - y*x' = L`.
    pub(crate) fn read_all(
        phase: &Phase,
        index: usize,
        text: &str,
    ) -> Result<Vec<Self>, Failure> {
        let energy = match &phase.dynamics {
            Dynamics::Saddle(equations) => Some(equations.energy),
            Dynamics::Ordinary(_) => None,
        };
        let mut found = Vec::new();
        for part in apart(text, ',') {
            let sides: Vec<&str> = apart(part, '=');
            let [first, others @ ..] = &sides[..] else { continue };
            if others.len() > 1 || sides.iter().any(|side| side.trim().is_empty()) {
                return Err(Failure::Usage(format!(
                    "`{}` is no condition: write an expression, which keeps its value, or an equation such as \
                     `energy = E`",
                    part.trim()
                )));
            }
            let left = side(&phase.model, energy, first)?;
            let function = match others.first() {
                Some(right) => {
                    let right = side(&phase.model, energy, right)?;
                    phase.model.graph.merging(|| phase.model.graph.sub(left, right))
                }
                None => left,
            };
            let name = part.split_whitespace().collect::<Vec<_>>().join(" ");
            found.push(Self::new(phase, index, name, function, !others.is_empty()));
        }
        Ok(found)
    }

    /// Whether the parameter occurs in it.
    pub(crate) fn has_parameter(&self, phase: &Phase) -> bool {
        self.by_parameter != phase.model.graph.zero()
    }

    /// The value at a state.
    pub(crate) fn value(&self, phase: &Phase, at: &FieldPoint) -> f64 {
        evaluated(phase, at, &[self.function])[0]
    }

    /// Its slopes by the components of the state, and by the parameter.
    pub(crate) fn slopes(&self, phase: &Phase, at: &FieldPoint) -> (Vec<f64>, f64) {
        let by_state = evaluated(phase, at, &self.by_state);
        (by_state, evaluated(phase, at, &[self.by_parameter])[0])
    }
}

/// Functions at a state.
fn evaluated(phase: &Phase, at: &FieldPoint, functions: &[Expr]) -> Vec<f64> {
    let Phase { model, field, .. } = phase;
    model.graph.evaluate(functions, &|s| symbol_value(model, &field.symbols, at, s))
}

/// One side of a condition.
fn side(model: &Workspace, energy: Option<Expr>, text: &str) -> Result<Expr, Failure> {
    let (_, entries) = read_expression(model, "<fix>", text, ExpressionScope::Motion)?;
    let [entry] = entries[..] else {
        return Err(Failure::Usage(format!("`{}` is not a single number", text.trim())));
    };
    let g = &model.graph;
    Ok(energy.map_or(entry, |e| {
        g.merging(|| g.substitute(&[entry], &[(model.results.energy, e)])[0])
    }))
}

/// The parts of a text between separators outside of brackets.
fn apart(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|c: char| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == separator && depth <= 0
    })
    .collect()
}

/// How many dimensions the kernel of a matrix has.
pub(crate) fn kernel_dimension(matrix: &[f64], columns: usize, rounding: f64) -> usize {
    let rows = matrix.len() / columns.max(1);
    let values = singular_values(matrix, rows, columns).values;
    let largest = values.first().copied().unwrap_or(0.0);
    values.iter().filter(|s| **s <= rounding * largest).count()
}

/// Which of some rows take a dimension each from the kernel of a matrix, one after another.
pub(crate) fn chosen<T: Copy>(
    matrix: &[f64],
    columns: usize,
    candidates: &[(T, Vec<f64>)],
    rounding: f64,
) -> Vec<T> {
    let mut matrix = matrix.to_vec();
    let mut left = kernel_dimension(&matrix, columns, rounding);
    let mut found = Vec::new();
    for (what, row) in candidates {
        let size = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if left == 0 || size == 0.0 {
            continue;
        }
        let whole = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let scale = if whole > 0.0 { whole / size } else { 1.0 };
        let more: Vec<f64> =
            matrix.iter().copied().chain(row.iter().map(|x| x * scale)).collect();
        let less = kernel_dimension(&more, columns, rounding);
        if less < left {
            (matrix, left) = (more, less);
            found.push(*what);
        }
    }
    found
}
