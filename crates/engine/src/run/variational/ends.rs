//! `initial` and `final` into linear conditions at the ends.
//!
//! A derivative of order $j$ of a function of order $N$ has a value at an end only if $N - j > \tfrac12$:
//! below that the action does not see it, and prescribing it has no minimum. What is not given is free, with
//! its natural condition.

use pfaff_expr::Expr;
use pfaff_model::{Diagnostic, Quantity, Span, TerminalValue, Workspace};
use pfaff_solver::{EndCondition, EndTerm, FractionalOperator, Side};

use super::formulate::{Formulation, mistake};
use crate::problem::interval::TimeInterval;
use crate::run::volterra::volterra_equations::parameter;

/// What is given where.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ends {
    /// For each coordinate: how many derivatives, from the value on, vary at the start and at the end.
    pub(crate) fixed: Vec<[usize; 2]>,
    /// What is free, in words.
    pub(crate) natural: Vec<String>,
}

/// Adds the conditions to a formulation.
pub(crate) fn ends(
    model: &Workspace,
    formulation: &mut Formulation,
    interval: TimeInterval,
) -> Result<Ends, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let n = model.coordinates.len();
    let mut given = vec![[[false; 2]; 2]; n];
    let mut conditions = Vec::new();
    let value = |e: Expr, t: f64| {
        let at = |s: Expr| if s == model.time { t } else { parameter(model, s) };
        model.graph.evaluate(&[e], &at)[0]
    };
    let term = |k: usize, end: Side, order: u8, factor: f64| EndTerm {
        unknown: k,
        end,
        order: usize::from(order),
        factor,
    };
    let mut data: Vec<(usize, u8, Side, Span)> = Vec::new();
    for datum in &model.initial {
        match datum.quantity {
            Quantity::Coordinate(k, j @ (0 | 1)) => {
                data.push((k, j, Side::Left, datum.span));
                let terms = vec![term(k, Side::Left, j, 1.0)];
                conditions
                    .push(EndCondition { terms, value: value(datum.value, interval.start) });
            }
            _ => mistakes.push(refused(datum.span)),
        }
    }
    for end in &model.terminal {
        let (Quantity::Coordinate(k, j @ (0 | 1)), false) =
            (end.quantity, matches!(end.value, TerminalValue::Free))
        else {
            if end.quantity == Quantity::Time || matches!(end.quantity, Quantity::Multiplier(_))
            {
                mistakes.push(refused(end.span));
            }
            continue;
        };
        data.push((k, j, Side::Right, end.span));
        let mut terms = vec![term(k, Side::Right, j, 1.0)];
        let value = match end.value {
            TerminalValue::Given(e) => value(e, interval.end),
            TerminalValue::Shifted(e) => {
                data.push((k, j, Side::Left, end.span));
                terms.push(term(k, Side::Left, j, -1.0));
                value(e, interval.end)
            }
            TerminalValue::Free => continue,
        };
        conditions.push(EndCondition { terms, value });
    }
    for (k, j, side, span) in data {
        let course = formulation.problem.unknowns[k];
        let slack = formulation.seen[k] - f64::from(j) - 0.5;
        let name = format!("{}{}", model.coordinates[k].name, "'".repeat(usize::from(j)));
        if slack <= 0.0 {
            mistakes.push(mistake(
                span,
                format!(
                    "`{name}` cannot be given at an end: the action contains `{}` up to order {}, and a value at \
                     an end needs an order above {}",
                    model.coordinates[k].name, formulation.seen[k], f64::from(j) + 0.5
                ),
                "leave the value out (natural condition), or raise the order: otherwise the action has no minimum",
            ));
            continue;
        }
        given[k][usize::from(side == Side::Right)][usize::from(j)] = true;
        if side != course.side {
            // The kernel of the condition is part of D^α q: z^(α−1−j), and after N − α more derivatives the density.
            let tail = 2.0 * formulation.seen[k] - 1.0 - f64::from(j) - course.order;
            let problem = &mut formulation.problem;
            problem.tails[k] = problem.tails[k].min(tail);
            problem.decay = problem.decay.min(tail + 1.0);
        }
    }
    for condition in &conditions {
        if !condition.value.is_finite() {
            mistakes.push(mistake(
                Span::default(),
                "a value at an end is not finite".into(),
                "check for a division by zero",
            ));
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    settle(formulation);
    formulation.problem.conditions = conditions;
    let mut ends = Ends::default();
    for (k, c) in model.coordinates.iter().enumerate() {
        let order = formulation.seen[k];
        let mut fixed = [0; 2];
        for (side, word) in [(0, "start"), (1, "end")] {
            for j in 0..2 {
                let prime = "'".repeat(j);
                if given[k][side][j] {
                    fixed[side] = j + 1;
                } else if order > j as f64 + 0.5 {
                    ends.natural.push(format!("{}{prime} at the {word}", c.name));
                }
            }
        }
        ends.fixed.push(fixed);
    }
    Ok(ends)
}

/// Nodes beyond 1e-40 of the interval bring rounding into integrals of low order, and help nothing else.
fn settle(formulation: &mut Formulation) {
    let problem = &mut formulation.problem;
    let low = problem.operators.iter().any(|&(k, operator)| {
        let whole = problem.unknowns[k].order;
        let own = problem.unknowns[k].side;
        match operator {
            FractionalOperator::Caputo(s, β) | FractionalOperator::RiemannLiouville(s, β) => {
                let ν = if s == own { whole - β } else { β.ceil() - β };
                ν > 0.0 && ν < 0.5
            }
            FractionalOperator::Derivative(k) => {
                (0.0..0.5).contains(&(whole - f64::from(k))) && whole != f64::from(k)
            }
            FractionalOperator::Integral(..) => false,
        }
    });
    problem.decay = problem.decay.clamp(if low { 0.35 } else { 0.15 }, 1.0);
}

fn refused(span: Span) -> Diagnostic {
    mistake(
        span,
        "between given ends a model with memory takes positions and velocities at both ends, and nothing else".into(),
        "multipliers follow from the ends; the end time is that of `solve`",
    )
}
