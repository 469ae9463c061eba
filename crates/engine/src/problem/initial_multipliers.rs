//! How the multipliers of the vakonomic principle begin.
//!
//! The vakonomic initial value problem is a family with as many parameters as there are velocity constraints:
//! $\mu(t_0)$ must be given, as values, as zero, or by
//! transversality $\partial\mathcal L/\partial\dot z = p_z - \mu\cdot\partial\psi/\partial\dot z = 0$ for as
//! many cyclic coordinates $z$. It is never guessed.

use pfaff_expr::{Expr, ZeroTest};
use pfaff_mechanics::{Class, Equations};
use pfaff_model::{
    Diagnostic, Dynamics, MultiplierStart, Principle, Quantity, Span, Workspace,
};
use pfaff_solver::least_squares;

use crate::problem::start::Given;

/// Positions and velocities at the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartState<'a> {
    pub(crate) t: f64,
    pub(crate) q: &'a [f64],
    pub(crate) v: &'a [f64],
}

/// $\mu(t_0)$ for a model under a principle; empty unless it is vakonomic.
pub(crate) fn multipliers(
    model: &Workspace,
    equations: &Equations,
    given: &Given,
    state: StartState<'_>,
) -> Result<Vec<f64>, Vec<Diagnostic>> {
    if equations.principle != Principle::Vakonomic {
        let unwanted = unwanted(model);
        return if unwanted.is_empty() { Ok(Vec::new()) } else { Err(unwanted) };
    }
    let free: Vec<usize> = (0..equations.classes.len())
        .filter(|&a| equations.classes[a] != Class::Holonomic)
        .collect();
    let mut μ: Vec<f64> = given.multipliers.iter().map(|x| x.unwrap_or(0.0)).collect();
    match &model.multipliers {
        Some(MultiplierStart::Zero(_)) => Ok(μ),
        Some(MultiplierStart::Transversal(coordinates, span)) => {
            let cyclic = not_cyclic(model, coordinates, *span);
            if !cyclic.is_empty() {
                return Err(cyclic);
            }
            let solved = transversal(model, equations, &free, coordinates, state, *span)?;
            for (&a, x) in free.iter().zip(solved) {
                if given.multipliers[a].is_none() {
                    μ[a] = x;
                }
            }
            Ok(μ)
        }
        None => {
            let missing: Vec<usize> =
                free.into_iter().filter(|&a| given.multipliers[a].is_none()).collect();
            if missing.is_empty() { Ok(μ) } else { Err(ungiven(model, &missing)) }
        }
    }
}

/// `mu(c)` in a model that does not ask for the vakonomic principle.
fn unwanted(model: &Workspace) -> Vec<Diagnostic> {
    if model.principle == Principle::Vakonomic {
        // NOTE: the caller chose another principle for a vakonomic model, and its multipliers have no say.
        return Vec::new();
    }
    let mut spans: Vec<Span> = model
        .initial
        .iter()
        .filter(|d| matches!(d.quantity, Quantity::Multiplier(_)))
        .map(|d| d.span)
        .collect();
    spans.extend(model.multipliers.iter().map(|m| match m {
        MultiplierStart::Zero(span) | MultiplierStart::Transversal(_, span) => *span,
    }));
    let complain = |span: Span| {
        let message = format!(
            "under the principle `{}` multipliers follow from the motion and have no initial value",
            model.principle.name()
        );
        Diagnostic::error("E0606", span, message)
            .with_hint("leave it out, or write `principle vakonomic`")
    };
    spans.into_iter().map(complain).collect()
}

fn ungiven(model: &Workspace, missing: &[usize]) -> Vec<Diagnostic> {
    let names: Vec<String> =
        missing.iter().map(|&a| format!("mu({})", model.constraints[a].name)).collect();
    let message = format!(
        "the vakonomic motion depends on {} at the start, and {} not given",
        names.join(", "),
        if names.len() == 1 { "it is" } else { "they are" }
    );
    vec![Diagnostic::error("E0607", model.constraints[missing[0]].span, message).with_hint(&format!(
        "choose: `initial {} = 0.2`, or `initial multipliers = zero`, or `initial multipliers = transversal(z)` for \
         cyclic coordinates z",
        names[0]
    ))]
}

/// Coordinates that L or a constraint contains.
fn not_cyclic(model: &Workspace, coordinates: &[usize], span: Span) -> Vec<Diagnostic> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return Vec::new() };
    let mut parts: Vec<(String, Expr)> = vec![("the Lagrangian".into(), lagrangian)];
    parts.extend(
        model.constraints.iter().map(|c| (format!("the constraint `{}`", c.name), c.expr)),
    );
    let mut complaints = Vec::new();
    for &k in coordinates {
        let z = &model.coordinates[k];
        for (what, e) in &parts {
            if !matches!(g.zero_test(g.derivative(*e, z.position)), ZeroTest::Zero) {
                let message = format!(
                    "`{}` is not cyclic: {what} contains it, so `transversal` does not apply",
                    z.name
                );
                complaints.push(
                    Diagnostic::error("E0608", span, message)
                        .with_hint("name coordinates that occur only with a prime"),
                );
            }
        }
    }
    complaints
}

/// Solves $p_z = \mu\cdot\partial\psi/\partial\dot z$.
fn transversal(
    model: &Workspace,
    equations: &Equations,
    free: &[usize],
    coordinates: &[usize],
    state: StartState<'_>,
    span: Span,
) -> Result<Vec<f64>, Vec<Diagnostic>> {
    let wrong = |message: String| vec![Diagnostic::error("E0608", span, message)];
    if coordinates.len() != free.len() {
        return Err(wrong(format!(
            "`transversal` names {} coordinates for {} velocity constraints",
            coordinates.len(),
            free.len()
        )));
    }
    let g = &model.graph;
    let mut outputs: Vec<Expr> = coordinates.iter().map(|&k| equations.momenta[k]).collect();
    for &k in coordinates {
        outputs.extend(free.iter().map(|&a| equations.jacobian[a][k]));
    }
    let symbol = |e: Expr| {
        for (k, c) in model.coordinates.iter().enumerate() {
            if c.position == e {
                return state.q[k];
            }
            if c.velocity == e {
                return state.v[k];
            }
        }
        let parameter = model.parameters.iter().find(|p| p.symbol == e).map(|p| p.value);
        parameter.unwrap_or(if e == model.time { state.t } else { f64::NAN })
    };
    let values = g.evaluate(&outputs, &symbol);
    let size = free.len();
    let (right, rows) = values.split_at(size);
    let solution = least_squares(rows, size, size, right, 1e-12);
    if solution.rank < size {
        return Err(wrong(
            "the transversality conditions do not determine the multipliers: the constraints do not contain these \
             velocities independently".into(),
        ));
    }
    Ok(solution.x)
}
