//! Equations with memory into a plan.
//!
//! From a Lagrangian the unknowns are $\ddot q$, $\lambda$ and the power, with $M\ddot q - f - W^\top\lambda = 0$ and every constraint itself, at velocity level: it is never differentiated, so it does not drift.
//! Positions are those integrals of the densities that a [`Projection`](crate::memory::projection::Projection) puts onto the holonomic constraints, so that these hold at both levels.
//! A constraint $\psi + b\cdot D^\alpha q = 0$ with $2 < \alpha < 3$ is taken integrated, $b\cdot(\dot q - \dot q_0 - \ddot q_0\tau) + J^{\alpha-1}\psi = 0$.
//! `equation` models are taken as they stand.

use pfaff_expr::{Expr, Memory, Node, Role, number};
use pfaff_mechanics::Equations;
use pfaff_model::{Diagnostic, Equation, Model, Quantity, Span};
use pfaff_solver::{Kernel, Operand};

use crate::memory::admissible::{Admissible, Raised, admissible};
use crate::memory::plan::{Plan, anticipative, combination, constant, parameter};
use crate::note::Note;

/// A plan with what the outputs need.
pub(crate) struct Formulation {
    pub(crate) plan: Plan,
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
    model: &Model,
    equations: &Equations,
    (t0, span): (f64, f64),
) -> Result<Formulation, Diagnostic> {
    let g = &model.graph;
    refuse_right(model)?;
    let Admissible { data, notes, exponent, decades, raised, across } =
        admissible(model, equations, t0)?;
    let n = model.coordinates.len();
    let mut plan = Plan::new(model, (t0, span), vec![2.0; n], data);
    plan.exponent = exponent;
    plan.decades = decades;
    let λ = &model.results.lambda;
    plan.unknowns.extend(λ);
    let whole = Span::default();
    let mut force = equations.force.clone();
    for f in &model.forces {
        // NOTE: forces first, so that a mistake in one is shown where it stands.
        plan.translate(model, &f.components, f.span)?;
    }
    force = plan.translate(model, &force, whole)?;
    let mut reaction = vec![g.zero(); n];
    let mut held = Vec::new();
    for (a, c) in model.constraints.iter().enumerate() {
        let row = plan.translate(model, &equations.directions[a], c.span)?;
        for k in 0..n {
            reaction[k] = g.add(reaction[k], g.mul(row[k], λ[a]));
        }
        let equation = if let Some(raised) = &raised[a] {
            integrated(model, &mut plan, raised, c.span)?
        } else {
            let φ =
                freed(model, equations, &mut plan, (&across[a], &force), equations.residual[a]);
            let φ = plan.translate(model, &[φ], c.span)?[0];
            if let Some(position) = equations.position[a] {
                plan.holonomic.push((position, equations.jacobian[a].clone()));
                held.push((c.name.clone(), position));
                held.push((format!("{} differentiated", c.name), φ));
            } else {
                held.push((c.name.clone(), φ));
            }
            φ
        };
        if raised[a].is_some() {
            held.push((format!("{} integrated", c.name), equation));
        }
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

/// Operators whose own reaction does not touch them take the accelerations without it, $M u = f$: the same values, but nothing large is left to cancel.
/// Those of an order above 2 take their rates, $M \dot u = \dot f$.
fn freed(
    model: &Model,
    equations: &Equations,
    plan: &mut Plan,
    (nodes, force): (&[Expr], &[Expr]),
    φ: Expr,
) -> Expr {
    let g = &model.graph;
    if nodes.is_empty() {
        return φ;
    }
    let n = model.coordinates.len();
    let first = plan.unknowns.len();
    let symbol = |k: usize| g.symbol(&format!("free acceleration {k}"), Role::Free);
    let free: Vec<Expr> = (0..n).map(symbol).collect();
    plan.unknowns.extend(&free);
    let order = |node: Expr| match g.node(node) {
        Node::Memory(_, _, second) => constant(model, second),
        _ => 0.0,
    };
    let jerk = order(nodes[0]) > 2.0;
    for k in 0..n {
        let right = if jerk { g.total_derivative(force[k]) } else { force[k] };
        plan.residual.push(g.sub(g.dot(&equations.mass[k], &free), right));
    }
    let taken = if jerk { 3.0 } else { 2.0 };
    let mut images = Vec::new();
    for &node in nodes {
        let Node::Memory(_, operand, second) = g.node(node) else { continue };
        let Some(parts) = combination(model, operand) else { continue };
        let kernel = Kernel::Power(taken - constant(model, second));
        let mut sum = g.zero();
        for (k, c) in parts.positions {
            let unknown = first + k;
            let kernel = kernel.clone();
            let operand = Operand { unknown, kernel, start: Vec::new(), controlled: true };
            sum = g.add(sum, g.mul(c, plan.operand(g, operand, None)));
        }
        images.push((node, sum));
    }
    g.substitute(&[φ], &images)[0]
}

/// The integrated form of a constraint of order between 2 and 3.
fn integrated(
    model: &Model,
    plan: &mut Plan,
    raised: &Raised,
    span: Span,
) -> Result<Expr, Diagnostic> {
    let g = &model.graph;
    let real = |x: f64| number::from_f64(x).map_or(g.zero(), |x| g.number(x));
    let ψ = plan.translate(model, &[raised.rest], span)?[0];
    let unknown = plan.unknown(g, "constraint", ψ);
    let kernel = Kernel::Power(raised.alpha - 1.0);
    let operand = Operand { unknown, kernel, start: Vec::new(), controlled: true };
    let mut sum = plan.operand(g, operand, None);
    let elapsed = g.sub(model.time, real(plan.t0));
    for (k, c) in model.coordinates.iter().enumerate() {
        let [_, v, a] = plan.data[k];
        let gained = g.sub(c.velocity, g.add(real(v), g.mul(real(a), elapsed)));
        sum = g.add(sum, g.mul(real(raised.slopes[k]), gained));
    }
    Ok(sum)
}

/// An `equation` model.
pub(crate) fn written(
    model: &Model,
    equations: &[Equation],
    (t0, span): (f64, f64),
) -> Result<Formulation, Diagnostic> {
    refuse_right(model)?;
    let orders = orders(model, equations);
    let mut notes = Vec::new();
    for (c, order) in model.coordinates.iter().zip(&orders) {
        if *order > 3.0 {
            notes.push(Note::Remark(format!(
                "the equations are of order {order} in {}: its derivatives from the third on are zero at the start",
                c.name
            )));
        }
    }
    let mut data = vec![[0.0; 3]; orders.len()];
    for datum in &model.initial {
        let Quantity::Coordinate(k, j) = datum.quantity else { continue };
        let at = |s: Expr| if s == model.time { t0 } else { parameter(model, s) };
        let value = model.graph.evaluate(&[datum.value], &at)[0];
        if !value.is_finite() {
            let text = "this initial value is not a finite number".into();
            return Err(Diagnostic::error("E0504", datum.span, text));
        }
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
    let mut plan = Plan::new(model, (t0, span), orders, data);
    let mut held = Vec::new();
    for e in equations {
        let residual = plan.translate(model, &[e.expr], e.span)?[0];
        held.push((e.name.clone(), residual));
        plan.residual.push(residual);
    }
    Ok(Formulation { plan, notes, reaction: Vec::new(), energy: None, held })
}

/// The highest derivative of each coordinate.
fn orders(model: &Model, equations: &[Equation]) -> Vec<f64> {
    let g = &model.graph;
    let all: Vec<Expr> = equations.iter().map(|e| e.expr).collect();
    let mut orders = vec![0.0_f64; model.coordinates.len()];
    let mut zeros = Vec::new();
    for node in g.live(&all) {
        let Node::Memory(kind, operand, second) = g.node(node) else { continue };
        zeros.push((node, g.zero()));
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
    let plain = g.substitute(&all, &zeros);
    for (k, c) in model.coordinates.iter().enumerate() {
        for (order, symbol) in [(1.0, c.velocity), (2.0, c.acceleration)] {
            if plain.iter().any(|&e| g.contains(e, &[symbol])) {
                orders[k] = orders[k].max(order);
            }
        }
    }
    orders
}

/// Right operators look at the future.
fn refuse_right(model: &Model) -> Result<(), Diagnostic> {
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
