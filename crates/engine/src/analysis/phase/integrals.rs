//! Energy and momenta as Lyapunov functions of a steady motion.
//!
//! Where the energy $E$ and some momenta $p_k = \partial L/\partial\dot q_k$ are conserved, a steady motion is a
//! critical point of $E$ on a level of these momenta and of the constraints $c$,
//!
//! $$ dF = 0, \quad F = E - \omega\cdot p - \nu\cdot c. \qquad (\mathrm L) $$
//!
//! If the second derivative of $F$ is definite on the directions that keep momenta and constraints, the motion is
//! stable (Dirichlet; Routh). Whether a function is conserved is decided at scattered states.

use pfaff_expr::{Expr, number};
use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_solver::{least_squares, singular_values, symmetric_eigenvalues};

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::quotient::{Quotient, QuotientPoint, scattered};

/// Rates below this part of their terms vanish.
const CONSERVED: f64 = 1e-9;
/// Slopes below this part of the largest vanish.
const CRITICAL: f64 = 1e-8;
/// Curvatures below this part of the largest do.
const FLAT: f64 = 1e-9;

/// Whether energy and momenta show that an equilibrium of the quotient is stable.
pub(crate) fn has_definite_energy(
    model: &Workspace,
    equations: &Equations,
    field: &mut Field,
    quotient: &Quotient,
    point: &FieldPoint,
) -> bool {
    let g = &model.graph;
    let energy = g.merging(|| g.add(equations.energy, equations.multiplier_terms.energy));
    let mut functions = vec![energy];
    if equations.multipliers.is_empty() {
        functions.extend(&equations.momenta);
    }
    let slopes = g.merging(|| g.jacobian(&functions, &field.symbols));
    let gradients = |at: &FieldPoint| -> Vec<Vec<f64>> {
        let row = |row: &Vec<Expr>| g.evaluate(row, &|s| value(model, field, at, s));
        slopes.iter().map(row).collect()
    };
    let here = gradients(point);
    let others = scattered(&mut field.clone(), &quotient.chart, point);
    if others.len() < 2 {
        return false;
    }
    let mut conserved = vec![true; functions.len()];
    for at in others.iter().chain([point]) {
        for (kept, gradient) in conserved.iter_mut().zip(gradients(at)) {
            let terms = || gradient.iter().zip(&at.rates).map(|(a, b)| a * b);
            let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
            *kept &= sum.abs() <= CONSERVED * (size + 1e-3);
        }
    }
    if !conserved[0] {
        return false;
    }
    let Some(QuotientPoint { tangent, .. }) = quotient.point(point) else { return false };
    let (d, w) = (field.size(), quotient.variables.len());
    let along = |gradient: &[f64]| -> Vec<f64> {
        let column = |j: usize| (0..d).map(|i| gradient[i] * tangent[i * w + j]).sum();
        (0..w).map(column).collect()
    };
    // dE = ω·dp along w
    let momenta: Vec<usize> = (1..functions.len()).filter(|&k| conserved[k]).collect();
    let levels: Vec<Vec<f64>> = momenta.iter().map(|&k| along(&here[k])).collect();
    let slope = along(&here[0]);
    let columns: Vec<f64> = (0..w).flat_map(|i| levels.iter().map(move |p| p[i])).collect();
    let ω = least_squares(&columns, w, levels.len(), &slope, 1e-12);
    let size = here[0].iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    if ω.residual > CRITICAL * size {
        return false;
    }
    // dF = ν·dc on all components
    let mut rest = here[0].clone();
    for (&k, ω) in momenta.iter().zip(&ω.x) {
        rest.iter_mut().zip(&here[k]).for_each(|(x, p)| *x -= ω * p);
    }
    let rows: Vec<&[f64]> = [&point.positions, &point.velocities]
        .into_iter()
        .flat_map(|level| level.slopes.chunks(d.max(1)))
        .collect();
    let columns: Vec<f64> = (0..d).flat_map(|i| rows.iter().map(move |row| row[i])).collect();
    let ν = least_squares(&columns, d, rows.len(), &rest, 1e-12);
    let form = g.merging(|| {
        let momenta = momenta.iter().zip(&ω.x).map(|(&k, ω)| (functions[k], -ω));
        let constraints = equations.position.iter().flatten().chain(&equations.residual);
        let constraints = constraints.zip(&ν.x).map(|(&c, ν)| (c, -ν));
        let terms = momenta.chain(constraints).filter(|(_, x)| x.abs() > 1e-14);
        let exact = |x: f64| number::from_f64(x).map_or(g.zero(), |x| g.number(x));
        g.sum([energy].into_iter().chain(terms.map(|(e, x)| g.mul(exact(x), e))))
    });
    let hessian = g.merging(|| {
        let gradient = g.jacobian(&[form], &field.symbols);
        g.jacobian(&gradient[0], &field.symbols)
    });
    let flat: Vec<Expr> = hessian.into_iter().flatten().collect();
    let hessian = g.evaluate(&flat, &|s| value(model, field, point, s));
    // The directions of w that keep the momenta.
    let all: Vec<f64> = levels.into_iter().flatten().collect();
    let split = singular_values(&all, momenta.len(), w);
    let largest = split.values.first().copied().unwrap_or(0.0);
    let kept: Vec<&Vec<f64>> = split
        .values
        .iter()
        .zip(&split.directions)
        .filter(|(s, _)| **s <= 1e-9 * largest || largest == 0.0)
        .map(|(_, direction)| direction)
        .collect();
    let lifted: Vec<Vec<f64>> = kept
        .iter()
        .map(|x| (0..d).map(|i| (0..w).map(|j| tangent[i * w + j] * x[j]).sum()).collect())
        .collect();
    let k = lifted.len();
    let mut reduced = vec![0.0; k * k];
    for a in 0..k {
        for b in 0..k {
            for i in 0..d {
                for j in 0..d {
                    reduced[a * k + b] += lifted[a][i] * hessian[i * d + j] * lifted[b][j];
                }
            }
        }
    }
    if k == 0 || reduced.iter().any(|x| !x.is_finite()) {
        return false;
    }
    let curvatures = symmetric_eigenvalues(k, &reduced);
    let (least, most) = (curvatures[0], curvatures[k - 1]);
    least > FLAT * most || most < FLAT * least
}

/// The value of a symbol at a state.
fn value(model: &Workspace, field: &Field, at: &FieldPoint, symbol: Expr) -> f64 {
    if symbol == model.time {
        return at.t;
    }
    if let Some(k) = field.symbols.iter().position(|&s| s == symbol) {
        return at.y[k];
    }
    let parameter = model.parameters.iter().find(|p| p.symbol == symbol);
    parameter.map_or(f64::NAN, |p| p.value)
}
