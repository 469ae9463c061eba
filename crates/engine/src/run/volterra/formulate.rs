//! Equations with memory into a plan.
//!
//! From a Lagrangian the unknowns are $\ddot q$, $\lambda$ and the power, with $M\ddot q - f - W^\top\lambda =
//! 0$ and every constraint itself, at velocity level: it is never differentiated, so it does not drift.
//! Positions are those integrals of the densities that a
//! [`Projection`](crate::run::volterra::projection::Projection) puts onto the holonomic constraints, so that these
//! hold at both levels.
//! Derivatives of orders above 2 in constraints, and those that the reaction does not touch, are found as
//! [`crate::run::volterra::high_order`] says.
//! `equation` models are taken as they stand.

use pfaff_expr::{Expr, Memory, Node};
use pfaff_mechanics::Equations;
use pfaff_model::{Diagnostic, Equation, Quantity, Span, Workspace};
use pfaff_solver::{Kernel, Operand};

use crate::motion::note::Note;
use crate::run::volterra::admissible_data::{Admissible, admissible};
use crate::run::volterra::combination::combination;
use crate::run::volterra::high_order_force::complete;
use crate::run::volterra::high_order_terms::Free;
use crate::run::volterra::nested::{highest, is_linear};
use crate::run::volterra::refusals::anticipative;
use crate::run::volterra::volterra_equations::{
    RunTimes, VolterraEquations, constant, mistake, parameter,
};

/// A plan with what the outputs need.
pub(crate) struct Formulation {
    pub(crate) plan: VolterraEquations,
    pub(crate) notes: Vec<Note>,
    /// $R$ for each coordinate.
    pub(crate) reaction: Vec<Expr>,
    /// $E$ and the work of forces and reactions.
    pub(crate) energy: Option<(Expr, Expr)>,
    /// The residuals that the audit looks at, with their names.
    pub(crate) held: Vec<(String, Expr)>,
}

/// A Lagrangian model.
pub(crate) fn mechanical(
    model: &Workspace,
    equations: &Equations,
    times: RunTimes,
) -> Result<Formulation, Diagnostic> {
    let g = &model.graph;
    refuse_right(model)?;
    let Admissible { mut data, free, mut notes, exponent, decades, lifts } =
        admissible(model, equations, times.start)?;
    refuse_high_nested(model)?;
    let orders = orders(model, &equations.force, 2.0);
    notes.extend(complete(model, equations, &orders, &mut data, times.start)?);
    notes.extend(ignored(model, &data));
    let n = model.coordinates.len();
    let data = data.iter().map(|d| d.to_vec()).collect();
    let mut plan = VolterraEquations::new(model, times, orders, data);
    plan.exponent = exponent;
    plan.decades = decades;
    let λ = &model.results.lambda;
    plan.unknowns.extend(λ);
    let whole = Span::default();
    let mut force = equations.force.clone();
    for f in &model.forces {
        // NOTE: a force may begin with an exponent above −1, which has an integral.
        plan.refuse_infinite(model, &f.components, f.span, -1.0)?;
        // NOTE: forces first, so that a mistake in one is shown where it stands.
        plan.translate(model, &f.components, f.span)?;
    }
    force = plan.translate(model, &force, whole)?;
    let mut reaction = vec![g.zero(); n];
    let mut held = Vec::new();
    let mut motion = Free { model, equations, first: free, accelerations: None };
    for (a, c) in model.constraints.iter().enumerate() {
        plan.refuse_infinite(model, &[c.expr], c.span, -1e-12)?;
        let row = plan.translate(model, &equations.directions[a], c.span)?;
        for k in 0..n {
            reaction[k] = g.add(reaction[k], g.mul(row[k], λ[a]));
        }
        let equation = if let Some(lift) = &lifts[a] {
            let (φ, further) = motion.constraint(&mut plan, lift, c)?;
            held.push((c.name.clone(), φ));
            held.extend(further);
            φ
        } else {
            let φ = plan.translate(model, &[equations.residual[a]], c.span)?[0];
            if let Some(position) = equations.position[a] {
                plan.holonomic.push((position, equations.jacobian[a].clone()));
                held.push((c.name.clone(), position));
                held.push((format!("{} differentiated", c.name), φ));
            } else {
                held.push((c.name.clone(), φ));
            }
            φ
        };
        plan.residual.push(equation);
    }
    let accelerations = model.accelerations();
    for k in 0..n {
        let inertia = g.dot(&equations.mass[k], &accelerations);
        let motion = g.sub(inertia, g.add(force[k], reaction[k]));
        plan.residual.push(motion);
    }
    let given = plan.translate(model, &[equations.power], whole)?[0];
    let power = g.add(given, g.dot(&reaction, &model.velocities()));
    let unknown = plan.unknown(g, "power", power);
    let kernel = Kernel::Power(1.0);
    let work = Operand { unknown, kernel, start: Vec::new(), controlled: false };
    let work = plan.operand(g, work, None);
    Ok(Formulation { plan, notes, reaction, energy: Some((equations.energy, work)), held })
}

/// An `equation` model.
pub(crate) fn written(
    model: &Workspace,
    equations: &[Equation],
    times: RunTimes,
) -> Result<Formulation, Diagnostic> {
    refuse_right(model)?;
    let written: Vec<Expr> = equations.iter().map(|e| e.expr).collect();
    let orders = orders(model, &written, 0.0);
    let mut notes = Vec::new();
    let mut data: Vec<Vec<f64>> =
        orders.iter().map(|order| vec![0.0; (order.ceil() as usize).max(3)]).collect();
    for datum in &model.initial {
        let Quantity::Coordinate(k, j) = datum.quantity else { continue };
        let at = |s: Expr| if s == model.time { times.start } else { parameter(model, s) };
        let value = model.graph.evaluate(&[datum.value], &at)[0];
        let name = &model.coordinates[k].name;
        if f64::from(j) >= orders[k] {
            notes.push(Note::Remark(format!(
                "initial {name}{} is ignored: the equations are of order {} in {name} and determine it",
                "'".repeat(usize::from(j)),
                orders[k]
            )));
        } else {
            data[k][usize::from(j)] = value;
        }
    }
    let mut plan = VolterraEquations::new(model, times, orders, data);
    let mut held = Vec::new();
    for e in equations {
        refuse_data(model, &plan, e)?;
        let residual = plan.translate(model, &[e.expr], e.span)?[0];
        held.push((e.name.clone(), residual));
        plan.residual.push(residual);
    }
    resolve_first_kind(model, &mut plan);
    Ok(Formulation { plan, notes, reaction: Vec::new(), energy: None, held })
}

/// A highest derivative that occurs in memory alone begins with the exponent $-\mu$ where its integral of order
/// $\mu < 1$ has to make up for a constant. That integral shows the noise of the density, and is not controlled.
fn resolve_first_kind(model: &Workspace, plan: &mut VolterraEquations) {
    let g = &model.graph;
    let n = model.coordinates.len();
    for k in (0..n).filter(|&k| plan.orders[k] >= 1.0).collect::<Vec<_>>() {
        let rows = plan.residual.iter().filter(|r| g.contains(**r, &[plan.unknowns[k]]));
        // Operands of memory that are unknowns of their own; `None` if the derivative itself stands in an equation.
        let operands: Option<Vec<usize>> = rows
            .map(|r| (n..plan.unknowns.len()).find(|&u| g.contains(*r, &[plan.unknowns[u]])))
            .collect();
        let Some(mut fed) = operands else { continue };
        fed.push(k);
        for o in plan.operands.iter_mut().filter(|o| fed.contains(&o.unknown)) {
            if let Kernel::Power(mu) | Kernel::Waves(mu, _) | Kernel::General(mu, _) = o.kernel
                && mu < 1.0
            {
                plan.exponent = plan.exponent.min(-mu);
                o.controlled = false;
            }
        }
    }
}

/// Refuses data that an equation does not take: a highest derivative of Riemann and Liouville begins with them
/// like a power below 0, which no motion that starts from there can have.
fn refuse_data(
    model: &Workspace,
    plan: &VolterraEquations,
    equation: &Equation,
) -> Result<(), Diagnostic> {
    let g = &model.graph;
    for node in g.live(&[equation.expr]) {
        let Node::Memory(Memory::RiemannLiouville, operand, second) = g.node(node) else {
            continue;
        };
        let alpha = constant(model, second);
        let highest = combination(model, operand).is_some_and(|parts| {
            let is = |shift: f64| move |k: &(usize, Expr)| alpha + shift == plan.orders[k.0];
            parts.positions.iter().any(is(0.0)) || parts.velocities.iter().any(is(1.0))
        });
        // NOTE: below the highest order a power above −1 has an integral.
        let lowest = if highest { 0.0 } else { -1.0 };
        plan.refuse_infinite(model, &[node], equation.span, lowest)?;
    }
    Ok(())
}

/// Accelerations that are given where the equations determine them.
fn ignored(model: &Workspace, data: &[[f64; 3]]) -> Vec<Note> {
    let mut notes = Vec::new();
    for datum in &model.initial {
        if let Quantity::Coordinate(k, j @ 2..) = datum.quantity
            && data[k][2].is_nan()
        {
            let name = &model.coordinates[k].name;
            notes.push(Note::Remark(format!(
                "initial {name}{} is ignored: the equations of motion determine it",
                "'".repeat(usize::from(j))
            )));
        }
    }
    notes
}

/// The highest derivative of each coordinate, at least that of order `least`.
fn orders(model: &Workspace, all: &[Expr], least: f64) -> Vec<f64> {
    let g = &model.graph;
    let mut orders = vec![least; model.coordinates.len()];
    let mut zeros = Vec::new();
    for node in g.live(all) {
        let Node::Memory(kind, operand, second) = g.node(node) else { continue };
        zeros.push((node, g.zero()));
        if g.has_memory(operand) {
            if is_linear(model, node) {
                let of = |k: usize| highest(model, node, k).unwrap_or(0.0);
                orders.iter_mut().enumerate().for_each(|(k, order)| *order = order.max(of(k)));
            }
            continue;
        }
        let derivative = matches!(kind, Memory::Caputo | Memory::RiemannLiouville);
        let alpha = if derivative { constant(model, second) } else { 0.0 };
        let linear = combination(model, operand);
        for (k, c) in model.coordinates.iter().enumerate() {
            let rate = alpha.ceil();
            let (position, velocity) = if let (Some(parts), true) = (&linear, derivative) {
                let has = |list: &[(usize, Expr)]| list.iter().any(|p| p.0 == k);
                let raised = |there: bool, order: f64| if there { order } else { 0.0 };
                (
                    raised(has(&parts.positions), alpha),
                    raised(has(&parts.velocities), alpha + 1.0),
                )
            } else {
                let raised =
                    |s: Expr, order: f64| if g.contains(operand, &[s]) { order } else { 0.0 };
                (raised(c.position, rate), raised(c.velocity, rate + 1.0))
            };
            let order = position.max(velocity);
            orders[k] = orders[k].max(order);
        }
    }
    let plain = g.substitute(all, &zeros);
    for (k, c) in model.coordinates.iter().enumerate() {
        for (order, symbol) in [(1.0, c.velocity), (2.0, c.acceleration)] {
            if plain.iter().any(|&e| g.contains(e, &[symbol])) {
                orders[k] = orders[k].max(order);
            }
        }
    }
    orders
}

/// Refuses forces of orders above 2 by operators on operators.
fn refuse_high_nested(model: &Workspace) -> Result<(), Diagnostic> {
    let g = &model.graph;
    for f in &model.forces {
        for node in g.live(&f.components) {
            let Node::Memory(_, operand, _) = g.node(node) else { continue };
            let of = |k: usize| highest(model, node, k).unwrap_or(0.0);
            let order = (0..model.coordinates.len()).map(of).fold(0.0, f64::max);
            if g.has_memory(operand) && order > 2.0 {
                let text = format!(
                    "a force contains `{}`, which is of order {order}: operators on operators have orders up to 2 in \
                     a force",
                    g.to_text(node)
                );
                let hint = "write one operator of that order, or give the motion as `equation` statements";
                return Err(mistake(f.span, text, hint));
            }
        }
    }
    Ok(())
}

/// Right operators look at the future.
fn refuse_right(model: &Workspace) -> Result<(), Diagnostic> {
    let g = &model.graph;
    let mut parts: Vec<(Vec<Expr>, Span)> = Vec::new();
    parts.extend(model.constraints.iter().map(|c| (vec![c.expr], c.span)));
    parts.extend(model.forces.iter().map(|f| (f.components.clone(), f.span)));
    parts.extend(model.observed.iter().map(|o| (vec![o.expr], o.span)));
    parts.extend(model.events.iter().map(|e| (vec![e.expr], e.span)));
    if let pfaff_model::Dynamics::Equations(equations) = &model.dynamics {
        parts.extend(equations.iter().map(|e| (vec![e.expr], e.span)));
    }
    for (es, span) in parts {
        for node in g.live(&es) {
            if let Node::Memory(
                kind @ (Memory::CaputoRight | Memory::RiemannLiouvilleRight),
                ..,
            ) = g.node(node)
            {
                return Err(anticipative(kind, span));
            }
        }
    }
    Ok(())
}
