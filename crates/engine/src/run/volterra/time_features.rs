//! What the equations of a run with memory are as functions of time: where they break, where they are narrow, and
//! how they begin.

use pfaff_expr::{Expr, Graph, Node};
use pfaff_model::{Diagnostic, Workspace};
use pfaff_program::Program;
use pfaff_solver::{VolterraPoint, VolterraSystem, narrow_places};

use crate::problem::break_points::Variable;
use crate::problem::dynamics_span;
use crate::run::volterra::compiled::CompiledVolterra;
use crate::run::volterra::volterra_equations::{VolterraEquations, mistake, parameter};

/// Most functions of time that are looked at.
const MOST: usize = 64;
/// Most places at which steps end for them.
const PLACES: usize = 20_000;

/// Adds the places in time at which the equations break or are narrow.
pub(crate) fn add_places(model: &Workspace, plan: &mut VolterraEquations) {
    let g = &model.graph;
    let functions = functions_of_time(g, plan);
    let start = plan.times.start;
    let value = |e: Expr, x: f64| {
        let at = |s: Expr| if s == plan.elapsed { x } else { parameter(model, s) };
        g.evaluate(&[e], &at)[0]
    };
    let state: Vec<Expr> = plan.unknowns.iter().chain(&plan.symbols).copied().collect();
    let others: Vec<Expr> = state.into_iter().chain(plan.signs.iter().copied()).collect();
    let variable = Variable {
        g,
        symbol: plan.elapsed,
        others: &others,
        value: &value,
        from: 0.0,
        to: plan.times.length,
    };
    let mut breaks = Vec::new();
    variable.all_zeros(&plan.switches, &mut breaks);
    breaks.extend(variable.breaks(&functions));
    plan.breaks.extend(breaks.iter().map(|b| start + b));
    plan.breaks.sort_by(f64::total_cmp);
    plan.breaks.dedup();
    for &e in functions.iter().take(MOST) {
        let cuts: Vec<f64> = variable.centres(&[e]).into_iter().chain(breaks.clone()).collect();
        let mut tape = Program::compile(g, &[plan.elapsed], &model.parameter_symbols(), &[e])
            .map(|program| program.interpreter(&model.parameter_values()))
            .ok();
        let mut f = |x: f64| {
            let Some(tape) = &mut tape else { return value(e, x) };
            let mut out = [f64::NAN];
            tape.evaluate(&[x], &mut out);
            out[0]
        };
        let places = narrow_places(0.0, plan.times.length, &cuts, &mut f).unwrap_or_default();
        if plan.stops.len() + places.len() <= PLACES {
            plan.stops.extend(places.iter().map(|x| start + x));
        }
    }
    plan.stops.sort_by(f64::total_cmp);
    plan.stops.dedup();
}

/// The largest parts of the equations that depend on the time alone.
fn functions_of_time(g: &Graph, plan: &VolterraEquations) -> Vec<Expr> {
    let others: Vec<Expr> =
        plan.unknowns.iter().chain(&plan.symbols).chain(&plan.signs).copied().collect();
    let is_timed = |e: &Expr| g.contains(*e, &[plan.elapsed]) && !g.contains(*e, &others);
    let mut timed: Vec<Expr> =
        g.live(&plan.residual).into_iter().filter(|e| is_timed(e) && !g.is_leaf(*e)).collect();
    // Operands come first: what a later one contains is no largest one.
    let mut largest: Vec<Expr> = Vec::new();
    while let Some(e) = timed.pop() {
        let parts = g.live(&[e]);
        timed.retain(|x| !parts.contains(x));
        if !matches!(g.node(e), Node::Compare(..)) {
            largest.push(e);
        }
    }
    largest
}

/// Lowers the exponent with which densities begin to that of the equations; refuses what is not integrable.
///
/// The rows of $F$ without densities, with the operands that the start gives, are looked at close to the start.
pub(crate) fn lower_exponent(
    model: &Workspace,
    plan: &mut VolterraEquations,
    system: &mut CompiledVolterra,
) -> Result<(), Diagnostic> {
    let zeros = vec![0.0; plan.unknowns.len()];
    let mut rows = |part: f64| -> Option<Vec<f64>> {
        let elapsed = part * plan.times.length;
        let z: Vec<f64> = plan.operands.iter().map(|o| o.start_at(elapsed)).collect();
        let mut out = vec![0.0; zeros.len()];
        let at = VolterraPoint { t: plan.times.start + elapsed, elapsed, x: &zeros, z: &z };
        system.residual(at, &mut out).ok()?;
        Some(out)
    };
    let (Some(far), Some(near), Some(nearer)) = (rows(1e-3), rows(1e-20), rows(1e-22)) else {
        return Ok(());
    };
    let mut exponent = 0.0_f64;
    for ((far, near), nearer) in far.iter().zip(&near).zip(&nearer) {
        // What rounding leaves of terms that cancel does not grow.
        if nearer.is_finite() && nearer.abs() > 10.0 * far.abs() && near.abs() > far.abs() {
            exponent =
                exponent.min(0.5 * (libm::log10(near.abs()) - libm::log10(nearer.abs())));
        } else if nearer.is_infinite() && far.is_finite() {
            exponent = f64::NEG_INFINITY;
        }
    }
    if exponent <= -0.9999 {
        let text = format!(
            "the equations begin like (t - t0)^({exponent:.4}), which has no integral from the start on"
        );
        let hint = "forces may begin like a power of t - t0 above -1: begin later, or write another force";
        return Err(mistake(dynamics_span(model), text, hint));
    }
    if exponent < -1e-3 {
        // NOTE: powers that people write have few digits, and the others lose nothing by this.
        plan.exponent = plan.exponent.min((1e9 * exponent).round() / 1e9);
    }
    Ok(())
}
