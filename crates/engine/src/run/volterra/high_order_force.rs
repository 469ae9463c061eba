//! Forces with derivatives of orders above 2 in a Lagrangian model.
//!
//! Where $f$ contains $D^N q$ with $2 < N < 3$ that is the highest derivative, and $M\ddot q = f(q, \dot q,
//! D^N q, t)$ is an equation of order $N$: the density is $D^N q$, and
//! $\ddot q_0$ is a datum, zero where it is not given. It needs $F = \partial f/\partial D^N q$ to be
//! invertible among the coordinates that have such derivatives.
//! One coordinate alone is unstable if $F > 0$: $m s^2 = F s^N$ has the root $(m/F)^{1/(N-2)}$.

use pfaff_expr::{Expr, Memory, Node};
use pfaff_mechanics::Equations;
use pfaff_model::{Diagnostic, Quantity, Span, Workspace};
use pfaff_solver::Lu;

use crate::motion::note::Note;
use crate::run::volterra::combination::combination;
use crate::run::volterra::constraint_memory::as_symbols;
use crate::run::volterra::response::{State, numbers};
use crate::run::volterra::volterra_equations::{constant, mistake, parameter};

/// Completes the data of a model whose forces are of these orders; gives notes.
pub(crate) fn complete(
    model: &Workspace,
    equations: &Equations,
    orders: &[f64],
    data: &mut [[f64; 3]],
    t0: f64,
) -> Result<Vec<Note>, Diagnostic> {
    let high: Vec<usize> = (0..orders.len()).filter(|&k| orders[k] > 2.0).collect();
    let Some(&first) = high.first() else { return Ok(Vec::new()) };
    let span = place(model, orders[first]);
    if let Some(c) = model.constraints.first() {
        let text = format!(
            "a force of order {} cannot be combined with the constraint `{}`: the reaction would change the \
             derivative of that order at once, and it is not known which data are free",
            orders[first], c.name
        );
        let hint = "choose coordinates that need no constraint, or give the motion as `equation` statements";
        return Err(mistake(span, text, hint));
    }
    if let Some(&k) = high.iter().find(|&&k| orders[k] >= 3.0) {
        let text = format!(
            "a force contains a derivative of order {} of `{}`",
            orders[k], model.coordinates[k].name
        );
        let hint = "in a Lagrangian model forces have orders below 3; an `equation` model can have any order, \
                    with `initial x'''` and so on";
        return Err(mistake(span, text, hint));
    }
    let there = data.to_vec();
    let state = State { data: &there, t: t0 };
    let slopes = slopes(model, equations, orders, &high, &state);
    if Lu::new(high.len()).factor(high.len(), &slopes).is_err() {
        let text = "the derivatives of orders above 2 in the forces do not determine the motion: some sum of \
                    these coordinates has no such derivative, so its acceleration at the start is not \
                    free".to_owned();
        let hint = "choose coordinates that each have an order of their own, such as the midpoint of two masses \
                    and their distance";
        return Err(mistake(span, text, hint));
    }
    accelerations(model, &high, data);
    let mut notes = Vec::new();
    if let ([k], [slope]) = (&high[..], &slopes[..])
        && *slope > 0.0
    {
        let mass = numbers(model, &[equations.mass[*k][*k]], &state)[0];
        let rate = libm::pow(mass / slope, 1.0 / (orders[*k] - 2.0));
        notes.push(Note::Remark(format!(
            "the motion of {} is unstable: the coefficient of its derivative of order {} is positive, so \
             disturbances grow like exp({rate:.6} t)",
            model.coordinates[*k].name, orders[*k]
        )));
    }
    Ok(notes)
}

/// Where a derivative of this order stands.
fn place(model: &Workspace, order: f64) -> Span {
    let g = &model.graph;
    let has = |e: Expr| {
        g.live(&[e]).into_iter().any(|node| match g.node(node) {
            Node::Memory(Memory::Caputo | Memory::RiemannLiouville, _, second) => {
                constant(model, second).ceil() >= order.ceil() - 1.0
            }
            _ => false,
        })
    };
    let found = model.forces.iter().find(|f| f.components.iter().any(|&e| has(e)));
    found.map(|f| f.span).unwrap_or_default()
}

/// $F$ among these coordinates, by rows.
fn slopes(
    model: &Workspace,
    equations: &Equations,
    orders: &[f64],
    high: &[usize],
    state: &State<'_>,
) -> Vec<f64> {
    let g = &model.graph;
    let nodes: Vec<Expr> = g
        .live(&equations.force)
        .into_iter()
        .filter(|&e| {
            matches!(g.node(e), Node::Memory(Memory::Caputo | Memory::RiemannLiouville, ..))
        })
        .collect();
    let mut found = Vec::new();
    for &k in high {
        let (force, symbols) = as_symbols(model, equations.force[k], &nodes);
        let zeros: Vec<(Expr, Expr)> = symbols.iter().map(|&s| (s, g.zero())).collect();
        let rates = g.substitute(&g.gradient(force, &symbols), &zeros);
        let rates = numbers(model, &rates, state);
        for &j in high {
            let mut sum = 0.0;
            for (&node, rate) in nodes.iter().zip(&rates) {
                let Node::Memory(_, operand, second) = g.node(node) else { continue };
                let Some(parts) = combination(model, operand) else { continue };
                let alpha = constant(model, second);
                for (shift, list) in [(0.0, &parts.positions), (1.0, &parts.velocities)] {
                    let own =
                        list.iter().filter(|(i, _)| *i == j && alpha + shift == orders[j]);
                    sum += rate * own.map(|(_, c)| constant(model, *c)).sum::<f64>();
                }
            }
            found.push(sum);
        }
    }
    found
}

/// $\ddot q_0$: what is given, else zero.
fn accelerations(model: &Workspace, high: &[usize], data: &mut [[f64; 3]]) {
    for &k in high {
        data[k][2] = 0.0;
    }
    for datum in &model.initial {
        if let Quantity::Coordinate(k, 2) = datum.quantity
            && high.contains(&k)
        {
            let at = |s: Expr| parameter(model, s);
            data[k][2] = model.graph.evaluate(&[datum.value], &at)[0];
        }
    }
}
