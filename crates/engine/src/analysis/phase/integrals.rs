//! Energy and momenta as Lyapunov functions of a steady motion.
//!
//! Where the energy $E$ and some momenta are conserved, $p_k = \partial L/\partial\dot q_k$ of coordinates and
//! $p\cdot\xi$ of symmetries $\xi = Gq + c$, a steady motion is a critical point of $E$ on a level of these momenta and
//! of the constraints $c$,
//!
//! $$ dF = 0, \quad F = E - \omega\cdot p - \nu\cdot c. \qquad (\mathrm L) $$
//!
//! If the second derivative of $F$ is definite on the directions that keep momenta and constraints, beside those of the
//! symmetries, the motion is stable up to the symmetries (Dirichlet; Routh; Simo, Lewis and Marsden 1991). Where the
//! slopes of the momenta depend on each other, as for a top that sleeps, (L) leaves some $\omega$ free, and one choice
//! for which $F$ is definite is enough: $F + K|p - p_0|^2$ is then a Lyapunov function. Whether a function is conserved
//! is decided at scattered states.

use pfaff_expr::{Expr, number};
use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_solver::{least_squares, singular_values, symmetric_eigenvalues};

use crate::analysis::phase::chart::Chart;
use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::quotient::{Quotient, QuotientPoint, scattered};
use crate::analysis::phase::symmetries::AffineSymmetry;

/// Rates below this part of their terms vanish.
const CONSERVED: f64 = 1e-9;
/// Slopes below this part of the largest vanish.
const CRITICAL: f64 = 1e-8;
/// Curvatures below this part of the largest do.
const FLAT: f64 = 1e-9;
/// The same for directions.
const DEPENDENT: f64 = 1e-9;

/// The energy and the momenta that a flow keeps.
pub(crate) struct Integrals<'a> {
    model: &'a Workspace,
    equations: &'a Equations,
    /// The energy first, if it is kept.
    pub(crate) functions: Vec<Expr>,
    /// `energy`, `momentum of x`
    pub(crate) names: Vec<String>,
    slopes: Vec<Vec<Expr>>,
    symbols: Vec<Expr>,
    /// Whether the energy is.
    has_energy: bool,
}

impl<'a> Integrals<'a> {
    /// What is kept around a state; `None` where that cannot be seen.
    pub(crate) fn around(
        model: &'a Workspace,
        equations: &'a Equations,
        field: &Field,
        chart: &Chart,
        point: &FieldPoint,
        symmetries: &[AffineSymmetry],
    ) -> Option<Self> {
        let g = &model.graph;
        let energy = g.merging(|| g.add(equations.energy, equations.multiplier_terms.energy));
        let (mut functions, mut names) = (vec![energy], vec!["energy".to_owned()]);
        if equations.multipliers.is_empty() {
            functions.extend(&equations.momenta);
            names.extend(model.coordinates.iter().map(|c| format!("momentum of {}", c.name)));
            for symmetry in symmetries {
                let momentum = momentum(model, equations, symmetry);
                if !functions.contains(&momentum) {
                    functions.push(momentum);
                    names.push(format!("momentum of the {}", symmetry.name));
                }
            }
        }
        let symbols = field.symbols.clone();
        let slopes = g.merging(|| g.jacobian(&functions, &symbols));
        let by_time: Vec<Expr> =
            g.merging(|| functions.iter().map(|&f| g.derivative(f, model.time)).collect());
        let has_energy = true;
        let mut all = Self { model, equations, functions, names, slopes, symbols, has_energy };
        let mut still = field.clone();
        still.frame = None;
        let mut seen = scattered(&mut still, chart, point);
        if seen.len() < 2 {
            return None;
        }
        seen.push(still.at(point.t, &point.y).ok()?);
        let mut conserved = vec![true; all.functions.len()];
        for at in &seen {
            let drift = g.evaluate(&by_time, &|s| symbol_value(model, &all.symbols, at, s));
            let gradients = all.gradients(at).into_iter().zip(drift);
            for (kept, (gradient, drift)) in conserved.iter_mut().zip(gradients) {
                let terms =
                    || gradient.iter().zip(&at.rates).map(|(a, b)| a * b).chain([drift]);
                let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                *kept &= sum.abs() <= CONSERVED * (size + 1e-3);
            }
        }
        let mut kept = conserved.iter();
        all.functions.retain(|_| kept.next() == Some(&true));
        kept = conserved.iter();
        all.slopes.retain(|_| kept.next() == Some(&true));
        kept = conserved.iter();
        all.names.retain(|_| kept.next() == Some(&true));
        all.has_energy = conserved[0];
        Some(all)
    }

    /// The slopes of each function at a state.
    pub(crate) fn gradients(&self, at: &FieldPoint) -> Vec<Vec<f64>> {
        let value = |s| symbol_value(self.model, &self.symbols, at, s);
        self.slopes.iter().map(|row| self.model.graph.evaluate(row, &value)).collect()
    }

    /// The second derivative of a combination of the functions and of the constraints, along some directions.
    fn curvature(
        &self,
        point: &FieldPoint,
        weights: &[f64],
        gradients: &[Vec<f64>],
        directions: &[Vec<f64>],
    ) -> Vec<f64> {
        let (g, d) = (&self.model.graph, point.y.len());
        // dF = ν·dc on all components
        let mut rest = vec![0.0; d];
        for (gradient, weight) in gradients.iter().zip(weights) {
            rest.iter_mut().zip(gradient).for_each(|(x, p)| *x += weight * p);
        }
        let rows: Vec<&[f64]> = [&point.positions, &point.velocities]
            .into_iter()
            .flat_map(|level| level.slopes.chunks(d.max(1)))
            .collect();
        let columns: Vec<f64> =
            (0..d).flat_map(|i| rows.iter().map(move |row| row[i])).collect();
        let ν = least_squares(&columns, d, rows.len(), &rest, 1e-12);
        let hessian = g.merging(|| {
            let own = self.functions.iter().zip(weights).map(|(&f, &x)| (f, x));
            let constraints =
                self.equations.position.iter().flatten().chain(&self.equations.residual);
            let constraints = constraints.zip(&ν.x).map(|(&c, ν)| (c, -ν));
            let terms = own.chain(constraints).filter(|(_, x)| x.abs() > 1e-14);
            let form = g.sum(terms.map(|(e, x)| g.mul(exact(self.model, x), e)));
            let gradient = g.jacobian(&[form], &self.symbols);
            g.jacobian(&gradient[0], &self.symbols)
        });
        let flat: Vec<Expr> = hessian.into_iter().flatten().collect();
        let hessian = g.evaluate(&flat, &|s| symbol_value(self.model, &self.symbols, point, s));
        let along = |a: &[f64], b: &[f64]| -> f64 {
            let rows = hessian.chunks(d.max(1)).map(|row| dot(row, b));
            a.iter().zip(rows).map(|(x, y)| x * y).sum()
        };
        directions.iter().flat_map(|a| directions.iter().map(|b| along(a, b))).collect()
    }
}

/// $p\cdot\xi$
fn momentum(model: &Workspace, equations: &Equations, symmetry: &AffineSymmetry) -> Expr {
    let (g, n) = (&model.graph, model.coordinates.len());
    let frame = &symmetry.frame;
    g.merging(|| {
        let term = |(i, &p): (usize, &Expr)| {
            let turned = (0..n).filter(|j| frame.matrix[i * n + j] != 0.0).map(|j| {
                g.mul(exact(model, frame.matrix[i * n + j]), model.coordinates[j].position)
            });
            let shift = [exact(model, frame.shift[i])];
            g.mul(p, g.sum(turned.chain(shift)))
        };
        g.sum(equations.momenta.iter().enumerate().map(term))
    })
}

fn exact(model: &Workspace, x: f64) -> Expr {
    number::from_f64(x).map_or(model.graph.zero(), |x| model.graph.number(x))
}

/// Whether energy and momenta show that an equilibrium of the quotient is stable.
pub(crate) fn has_definite_energy(
    integrals: &Integrals<'_>,
    field: &Field,
    quotient: &Quotient,
    point: &FieldPoint,
    symmetries: &[AffineSymmetry],
) -> bool {
    if !integrals.has_energy {
        return false;
    }
    let Some(QuotientPoint { tangent, .. }) = quotient.point(point) else { return false };
    let (d, w) = (field.size(), quotient.variables.len());
    let here = integrals.gradients(point);
    let along = |gradient: &Vec<f64>| -> Vec<f64> {
        let column = |j: usize| (0..d).map(|i| gradient[i] * tangent[i * w + j]).sum();
        (0..w).map(column).collect()
    };
    let slopes: Vec<Vec<f64>> = here.iter().map(along).collect();
    let (slope, levels) = (&slopes[0], &slopes[1..]);
    // dE = ω·dp along w
    let columns: Vec<f64> = (0..w).flat_map(|i| levels.iter().map(move |p| p[i])).collect();
    let ω = least_squares(&columns, w, levels.len(), slope, 1e-12);
    let size = here[0].iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    if ω.residual > CRITICAL * size {
        return false;
    }
    // The directions of w that keep the momenta, beside the symmetries.
    let kept = kernel(&levels.concat(), levels.len(), w, 0.0);
    let orbits: Vec<Vec<f64>> = symmetries
        .iter()
        .map(|s| {
            let moved = field.prolonged(&s.frame, &point.y);
            quotient.variables.iter().map(|&c| moved[c]).collect()
        })
        .collect();
    let kept = without(kept, &orbits, levels);
    let lift = |x: &Vec<f64>| -> Vec<f64> {
        (0..d).map(|i| dot(&tangent[i * w..(i + 1) * w], x)).collect()
    };
    let lifted: Vec<Vec<f64>> = kept.iter().map(lift).collect();
    if lifted.is_empty() {
        return false;
    }
    let minus = |x: &Vec<f64>| -> Vec<f64> { x.iter().map(|x| -x).collect() };
    let weights = |head: f64, list: Vec<f64>| [vec![head], list].concat();
    let base = integrals.curvature(point, &weights(1.0, minus(&ω.x)), &here, &lifted);
    // What (L) leaves free of ω. Gradients count as zero by the size of that of the energy.
    let transposed: Vec<f64> = (0..w).flat_map(|i| levels.iter().map(move |p| p[i])).collect();
    let free = kernel(&transposed, w, levels.len(), size);
    let others: Vec<Vec<f64>> = free
        .into_iter()
        .map(|z| integrals.curvature(point, &weights(0.0, z), &here, &lifted))
        .collect();
    is_definite_for_some(lifted.len(), &base, &others)
}

/// An orthonormal basis of what a matrix of some rows and columns takes to zero; values below a part of the size, or of
/// the largest, vanish.
fn kernel(matrix: &[f64], rows: usize, columns: usize, size: f64) -> Vec<Vec<f64>> {
    let split = singular_values(matrix, rows, columns);
    let largest = split.values.first().copied().unwrap_or(0.0).max(size);
    let all = split.values.into_iter().zip(split.directions);
    all.filter(|(s, _)| *s <= DEPENDENT * largest).map(|(_, direction)| direction).collect()
}

/// The part of a space that keeps some levels, beside the orbits in it.
fn without(kept: Vec<Vec<f64>>, orbits: &[Vec<f64>], levels: &[Vec<f64>]) -> Vec<Vec<f64>> {
    if orbits.is_empty() {
        return kept;
    }
    // Combinations of orbits that keep the levels.
    let changes: Vec<f64> =
        levels.iter().flat_map(|p| orbits.iter().map(|x| dot(p, x))).collect();
    let size = levels.iter().chain(orbits).flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
    let inside = kernel(&changes, levels.len(), orbits.len(), size);
    let rows: Vec<f64> = inside
        .iter()
        .flat_map(|z| {
            let sum = |i: usize| z.iter().zip(orbits).map(|(z, x)| z * x[i]).sum::<f64>();
            let moved: Vec<f64> = (0..orbits[0].len()).map(sum).collect();
            kept.iter().map(|k| dot(k, &moved)).collect::<Vec<f64>>()
        })
        .collect();
    let left = kernel(&rows, inside.len(), kept.len(), 1.0);
    let combined = |z: &Vec<f64>| -> Vec<f64> {
        let w = kept.first().map_or(0, Vec::len);
        (0..w).map(|i| z.iter().zip(&kept).map(|(z, k)| z * k[i]).sum()).collect()
    };
    left.iter().map(combined).collect()
}

/// Whether $H_0 + \sum z_k H_k$ is definite for some $z$. Its least eigenvalue is a concave function of $z$.
fn is_definite_for_some(k: usize, base: &[f64], others: &[Vec<f64>]) -> bool {
    /// Rounds over all of $z$, and steps of the golden section in each.
    const ROUNDS: usize = 4;
    const STEPS: usize = 80;
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let size = |matrix: &[f64]| matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    [1.0_f64, -1.0].into_iter().any(|sign| {
        let at = |z: &[f64]| -> Vec<f64> {
            let mut sum: Vec<f64> = base.iter().map(|x| sign * x).collect();
            for (z, other) in z.iter().zip(others) {
                sum.iter_mut().zip(other).for_each(|(x, h)| *x += z * h);
            }
            sum
        };
        let ends = |z: &[f64]| {
            let matrix = at(z);
            if matrix.iter().any(|x| !x.is_finite()) {
                return (f64::NEG_INFINITY, 0.0);
            }
            let values = symmetric_eigenvalues(k, &matrix);
            (values[0], values[k - 1])
        };
        let is_definite = |z: &[f64]| {
            let (least, most) = ends(z);
            least > FLAT * most
        };
        let mut z = vec![0.0; others.len()];
        if is_definite(&z) {
            return true;
        }
        for _ in 0..ROUNDS {
            for j in 0..others.len() {
                let reach = 10.0 * size(base) / size(&others[j]);
                if !reach.is_finite() || reach == 0.0 {
                    continue;
                }
                let (mut low, mut high) = (z[j] - reach, z[j] + reach);
                let mut value = |x: f64| {
                    z[j] = x;
                    ends(&z).0
                };
                for _ in 0..STEPS {
                    let a = high - golden * (high - low);
                    let b = low + golden * (high - low);
                    if value(a) < value(b) { low = a } else { high = b }
                }
                z[j] = 0.5 * (low + high);
                if is_definite(&z) {
                    return true;
                }
            }
        }
        false
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The value of a symbol at a state.
pub(crate) fn symbol_value(
    model: &Workspace,
    symbols: &[Expr],
    at: &FieldPoint,
    symbol: Expr,
) -> f64 {
    if symbol == model.time {
        return at.t;
    }
    if let Some(k) = symbols.iter().position(|&s| s == symbol) {
        return at.y[k];
    }
    let parameter = model.parameters.iter().find(|p| p.symbol == symbol);
    parameter.map_or(f64::NAN, |p| p.value)
}
