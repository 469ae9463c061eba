//! Whether an extremum with memory is also a motion of Chetaev's principle.
//!
//! Along the extremum the variational derivative of $\int L\,dt$ alone is balanced by the bracket of the constraints,
//! $\mu\varphi_q - (\mu\varphi_{\dot q})^{\textstyle\cdot} + {}_tD_b^\alpha(\mu\varphi_w)$; under Chetaev's
//! principle it is balanced by $\lambda\varphi_{\dot q}$ with the memory held fixed.
//! The two agree along the course exactly when the bracket lies in the span of $\varphi_{\dot q}$ \[TZ06,
//! Proposition 2, (80) with the sides exchanged\]. The test is weak, so that nothing is differentiated: see
//! `reaction_fit` of the solver.

use pfaff_expr::Expr;
use pfaff_model::{Principle, Workspace};
use pfaff_solver::{Extremum, ForceSamples, reaction_fit};

use super::formulate::Formulation;
use super::integrand::{compiled, time};
use crate::motion::equivalence::{Equivalence, MeanSquares, judged};
use crate::problem::interval::TimeInterval;

/// Below this part of the reaction what is left over counts as nothing: a solution that is known to 1e-10
/// within the interval is known less well at its ends, which the test sees too.
const NOTHING: f64 = 1e-6;

/// The test along an extremum; `None` without constraints, or where operands have functions of their own.
pub(crate) fn along(
    model: &Workspace,
    formulation: &Formulation,
    found: &mut Extremum,
    interval: TimeInterval,
) -> Option<Equivalence> {
    let m = model.constraints.len();
    if m == 0 || !formulation.operands.is_empty() {
        return None;
    }
    let g = &model.graph;
    let n = model.coordinates.len();
    let velocities = model.velocities();
    let mut outputs: Vec<Expr> = g.gradient(formulation.action, &formulation.symbols);
    let count = outputs.len();
    outputs.extend(g.jacobian(&formulation.residuals, &velocities).into_iter().flatten());
    let program = compiled(model, &formulation.symbols, &outputs).ok()?;
    let mut program = program.interpreter(&model.parameter_values());
    let places = found.grid.places.clone();
    let mut forces = ForceSamples {
        slopes: vec![vec![0.0; places.len()]; count],
        directions: vec![vec![vec![0.0; places.len()]; n]; m],
    };
    let mut row = vec![0.0; outputs.len()];
    for (i, &place) in places.iter().enumerate() {
        let mut inputs = vec![time(place, interval)];
        inputs.extend(found.values(place));
        program.evaluate(&inputs, &mut row);
        for (o, slope) in forces.slopes.iter_mut().enumerate() {
            slope[i] = row[o];
        }
        for a in 0..m {
            for k in 0..n {
                forces.directions[a][k][i] = row[count + a * n + k];
            }
        }
    }
    let fit = reaction_fit(found, &forces, n);
    let squares =
        MeanSquares { residual: fit.residual * fit.residual, reaction: fit.total * fit.total };
    Some(judged(Principle::Vakonomic, squares, Vec::new(), NOTHING))
}
