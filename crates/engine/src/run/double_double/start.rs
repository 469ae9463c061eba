//! Parameters and initial values with some thirty digits.
//!
//! Numbers of the text are exact, and what follows from them is computed with thirty digits. Initial values that the
//! constraints give are those of the start in doubles, moved onto the constraints by the smallest change of what is
//! not given.

use pfaff_expr::{DoubleDouble, Expr};
use pfaff_model::{Quantity, Workspace};
use pfaff_program::{DoubleSeries, NoDoubleSeries};

use super::linear::DoubleLu;
use crate::error::Failure;
use crate::problem::settings::Settings;
use crate::problem::start::{Given, given};
use crate::run::consistent_start::begin;
use crate::system::compiled::{CompiledSystem, Dynamics};
use crate::system::linearisation::Variables;

/// A value in doubles is that of an expression if it differs by no more than this part.
const SAME: f64 = 1e-14;
/// Newton's steps: each doubles the digits.
const NEWTON: usize = 4;

/// The parameters; those with a value of their own are the doubles that they are.
pub(super) fn exact_parameters(
    model: &Workspace,
) -> Result<Vec<(Expr, DoubleDouble)>, NoDoubleSeries> {
    let mut known: Vec<(Expr, DoubleDouble)> = Vec::new();
    for p in &model.parameters {
        let mut value = DoubleDouble::from(p.value);
        if let Some(definition) = p.definition {
            let exact = constant(model, definition, &known)?;
            if is_same(exact, p.value) {
                value = exact;
            }
        }
        known.push((p.symbol, value));
    }
    Ok(known)
}

fn is_same(exact: DoubleDouble, double: f64) -> bool {
    (exact.high - double).abs() <= SAME * double.abs()
}

fn constant(
    model: &Workspace,
    e: Expr,
    known: &[(Expr, DoubleDouble)],
) -> Result<DoubleDouble, NoDoubleSeries> {
    let mut series = DoubleSeries::new(&model.graph, &[], known, &[e])?;
    series.advance(0, &[]);
    Ok(series.output(0, 0))
}

/// The state at the start.
pub(super) fn exact_start(
    model: &Workspace,
    dynamics: &Dynamics,
    settings: &Settings,
    parameters: &[(Expr, DoubleDouble)],
) -> Result<Vec<DoubleDouble>, Failure> {
    let t0 = settings.t0;
    let mut system = CompiledSystem::new(model, dynamics, settings.backend)?;
    let start = begin(model, dynamics, &mut system, t0)?;
    let mut known = parameters.to_vec();
    known.push((model.time, DoubleDouble::from(t0)));
    let doubles =
        |list: &[f64]| list.iter().map(|&x| DoubleDouble::from(x)).collect::<Vec<_>>();
    let (mut q, mut v) = (doubles(&start.q), doubles(&start.v));
    let mut multipliers = doubles(&start.multipliers);
    let mut written: Given = given(model, t0);
    for datum in &model.initial {
        let place = match datum.quantity {
            Quantity::Coordinate(k, 0) => q.get_mut(k),
            Quantity::Coordinate(k, 1) => v.get_mut(k),
            Quantity::Multiplier(a) => multipliers.get_mut(a),
            Quantity::Coordinate(..) | Quantity::Time => None,
        };
        let (Some(place), Ok(exact)) = (place, constant(model, datum.value, &known)) else {
            continue;
        };
        if is_same(exact, place.high) || (exact.high == 0.0 && place.high.abs() < 1e-15) {
            *place = exact;
        } else {
            // NOTE: a value that was moved is as free as one that is missing.
            match datum.quantity {
                Quantity::Coordinate(k, 0) => written.q[k] = None,
                Quantity::Coordinate(k, 1) => written.v[k] = None,
                Quantity::Coordinate(..) | Quantity::Multiplier(_) | Quantity::Time => {}
            }
        }
    }
    if let Dynamics::Saddle(equations) = dynamics {
        let holonomic: Vec<Expr> = equations.position.iter().flatten().copied().collect();
        settle(model, &holonomic, &known, &model.positions(), &written.q, &mut q)?;
        let positions = model.positions().into_iter().zip(q.iter().copied());
        known.extend(positions);
        let velocities = model.velocities();
        settle(model, &equations.residual, &known, &velocities, &written.v, &mut v)?;
    }
    let variables = Variables::of(model, dynamics, Vec::new());
    let mut state = q;
    let (positions, velocities) = (model.positions(), model.velocities());
    for symbol in &variables.state[positions.len()..] {
        let velocity = velocities.iter().position(|s| s == symbol).map(|k| v[k]);
        let multiplier = || {
            let place = model.results.mu.iter().position(|s| s == symbol)?;
            multipliers.get(place).copied()
        };
        state.push(velocity.or_else(multiplier).unwrap_or_default());
    }
    Ok(state)
}

/// Moves what is not given onto constraints by the smallest change; everything if that is not enough.
fn settle(
    model: &Workspace,
    constraints: &[Expr],
    known: &[(Expr, DoubleDouble)],
    symbols: &[Expr],
    given: &[Option<f64>],
    values: &mut [DoubleDouble],
) -> Result<(), Failure> {
    if constraints.is_empty() {
        return Ok(());
    }
    let g = &model.graph;
    let (m, n) = (constraints.len(), symbols.len());
    let mut outputs = constraints.to_vec();
    outputs.extend(g.jacobian(constraints, symbols).into_iter().flatten());
    let refused = || {
        Failure::usage(
            "the constraints cannot be satisfied with thirty digits at the start (they repeat each other, or are \
             singular there): leave `precision = double_double` out",
        )
    };
    let mut series =
        DoubleSeries::new(g, symbols, known, &outputs).map_err(|NoDoubleSeries(word)| {
            Failure::Usage(format!("`{word}` has no value with thirty digits"))
        })?;
    let free: Vec<usize> = (0..n).filter(|&k| given[k].is_none()).collect();
    let all: Vec<usize> = (0..n).collect();
    let before = values.to_vec();
    for columns in [free, all] {
        values.copy_from_slice(&before);
        let mut is_solved = true;
        for _ in 0..NEWTON {
            series.begin();
            series.advance(0, values);
            let row = |a: usize, k: usize| series.output(m + a * n + k, 0);
            let zero = DoubleDouble::default();
            let mut gram = vec![zero; m * m];
            for a in 0..m {
                for b in 0..m {
                    let terms = columns.iter().map(|&k| row(a, k) * row(b, k));
                    gram[a * m + b] = terms.fold(zero, |sum, x| sum + x);
                }
            }
            let Some(lu) = DoubleLu::new(m, gram) else {
                is_solved = false;
                break;
            };
            let mut push: Vec<DoubleDouble> = (0..m).map(|a| series.output(a, 0)).collect();
            lu.solve(&mut push);
            for &k in &columns {
                let change = (0..m).fold(zero, |sum, a| sum + row(a, k) * push[a]);
                values[k] = values[k] - change;
            }
        }
        // What is not given may only take up the rounding of the doubles.
        let size = before.iter().fold(0.0_f64, |m, b| m.max(b.high.abs()));
        let near = values
            .iter()
            .zip(&before)
            .all(|(a, b)| (*a - *b).high.abs() <= 1e-9 * size.max(b.high.abs()));
        if is_solved && near {
            return Ok(());
        }
    }
    Err(refused())
}
