//! Turns of a body in space whose rotation matrix the text names.
//!
//! For a rotation $R(q)$ of three coordinates, $\dot R R^\mathsf{T} = \hat\omega$ and $\omega = R\,W$. The field
//! $\xi_i$ with $\omega = e_i$ turns the body about the axis $i$ of space, whatever the angles are. Where it is a
//! symmetry of the Lagrangian, its momentum is the component of the angular momentum
//! $p\cdot\xi_i = R_{ij}\,\partial L/\partial W_j$, which is written with the names of the text.

use pfaff_expr::{Expr, ZeroTest};
use pfaff_model::Workspace;

use super::momenta::change;
use crate::algebra::elimination::solve_linear;
use crate::equations::Equations;

/// A turn about an axis of space.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// 1, 2 or 3.
    pub(super) axis: usize,
    /// $\xi$
    pub(super) generator: Vec<Expr>,
    /// $p\cdot\xi$
    pub(super) momentum: Expr,
}

/// Energies of more nodes are not looked through.
const LARGE: usize = 600;

/// The turns about the axes of space that leave the Lagrangian as it is.
pub(super) fn turns(model: &Workspace, equations: &Equations, lagrangian: Expr) -> Vec<Turn> {
    let g = &model.graph;
    if g.size(&[equations.energy]) > LARGE {
        return Vec::new();
    }
    let matrices =
        model.abbreviations.iter().filter_map(|(name, _)| name.strip_suffix("[1,1]"));
    matrices
        .flat_map(|name| of_matrix(model, equations, lagrangian, name).unwrap_or_default())
        .collect()
}

fn named(model: &Workspace, name: &str) -> Option<Expr> {
    model.abbreviations.iter().find(|a| a.0 == name).map(|a| a.1)
}

fn of_matrix(
    model: &Workspace,
    equations: &Equations,
    lagrangian: Expr,
    name: &str,
) -> Option<Vec<Turn>> {
    let g = &model.graph;
    let entry = |i: usize, j: usize| named(model, &format!("{name}[{},{}]", i + 1, j + 1));
    let mut r = [[g.zero(); 3]; 3];
    for (i, row) in r.iter_mut().enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = entry(i, j)?;
        }
    }
    let all: Vec<Expr> = r.concat();
    let mut moving = model.velocities();
    moving.push(model.time);
    let positions = model.positions();
    let angles: Vec<usize> = (0..positions.len())
        .filter(|&k| all.iter().any(|&e| g.contains(e, &[positions[k]])))
        .collect();
    let is_still = !all.iter().any(|&e| g.contains(e, &moving));
    let is_turned = entry(0, 3).is_none() && angles.len() == 3 && is_still;
    if !is_turned || !is_orthogonal(model, &r) {
        return None;
    }
    // Ω: ω = Ω q′ for the three angles.
    let mut rows = vec![Vec::new(); 3];
    for &k in &angles {
        let rate = |i: usize, j: usize| g.derivative(r[i][j], positions[k]);
        let spun = |i: usize, j: usize| g.sum((0..3).map(|l| g.mul(rate(i, l), r[j][l])));
        for (row, (i, j)) in rows.iter_mut().zip([(2, 1), (0, 2), (1, 0)]) {
            row.push(g.simplify(spun(i, j)));
        }
    }
    let unit = |i: usize, j: usize| if i == j { g.one() } else { g.zero() };
    let units: Vec<Vec<Expr>> = (0..3).map(|i| (0..3).map(|j| unit(i, j)).collect()).collect();
    let inverse = solve_linear(g, &rows, &units)?;
    let fields: Vec<Vec<Expr>> = (0..3)
        .map(|i| {
            let mut ξ = vec![g.zero(); positions.len()];
            angles.iter().zip(&inverse).for_each(|(&k, row)| ξ[k] = g.simplify(row[i]));
            ξ
        })
        .collect();
    let keeps = |ξ: &Vec<Expr>| g.zero_test(change(model, lagrangian, ξ)) == ZeroTest::Zero;
    let kept: Vec<usize> = (0..3).filter(|&i| keeps(&fields[i])).collect();
    if kept.is_empty() {
        return None;
    }
    // W = Rᵀ Ω q′, by the text's own name for it if there is one.
    let v = model.velocities();
    let speeds: Vec<Expr> = angles.iter().map(|&k| v[k]).collect();
    let space: Vec<Expr> = rows.iter().map(|row| g.dot(row, &speeds)).collect();
    let body: Vec<Expr> =
        (0..3).map(|j| g.sum((0..3).map(|i| g.mul(r[i][j], space[i])))).collect();
    let parts = BodyMomentum::of(model, equations, &r, &fields, &angles);
    let momentum =
        |i: usize| match parts.isotropic(model) {
            Some(inertia) => {
                let ω = own_vector(model, &space).map_or(space[i], |own| own[i]);
                let rest = g.sum((0..3).map(|j| g.mul(r[i][j], parts.rest[j])));
                g.add(g.mul(inertia, ω), rest)
            }
            None => {
                let w = own_vector(model, &body).unwrap_or_else(|| body.clone());
                g.sum((0..3).map(|j| {
                    g.mul(r[i][j], g.add(g.dot(&parts.inertia[j], &w), parts.rest[j]))
                }))
            }
        };
    let turn = |&i: &usize| {
        let generator = fields[i].clone();
        let plain = g.dot(&equations.momenta, &generator);
        let written = momentum(i);
        let short = g.simplify(plain);
        let is_it = [plain, short]
            .into_iter()
            .any(|other| g.zero_test(g.sub(written, other)) == ZeroTest::Zero);
        let momentum = if is_it { written } else { short };
        Turn { axis: i + 1, generator, momentum }
    };
    Some(kept.iter().map(turn).collect())
}

/// $R R^\mathsf{T} = 1$
fn is_orthogonal(model: &Workspace, r: &[[Expr; 3]; 3]) -> bool {
    let g = &model.graph;
    (0..3).all(|i| {
        (i..3).all(|j| {
            let dot = g.sum((0..3).map(|k| g.mul(r[i][k], r[j][k])));
            let rest = if i == j { g.sub(dot, g.one()) } else { dot };
            g.zero_test(rest) == ZeroTest::Zero
        })
    })
}

/// A vector of the text with given components.
fn own_vector(model: &Workspace, wanted: &[Expr]) -> Option<Vec<Expr>> {
    let g = &model.graph;
    let names = model.abbreviations.iter().filter_map(|(name, _)| name.strip_suffix("[1]"));
    names.into_iter().find_map(|name| {
        let own: Option<Vec<Expr>> =
            (1..=3).map(|i| named(model, &format!("{name}[{i}]"))).collect();
        let is_it = |own: &Vec<Expr>| {
            let mut pairs = own.iter().zip(wanted);
            pairs.all(|(&a, &b)| g.zero_test(g.sub(a, b)) == ZeroTest::Zero)
        };
        own.filter(is_it)
    })
}

/// $\partial L/\partial W$ as inertia times $W$, and what does not contain $W$.
struct BodyMomentum {
    inertia: Vec<Vec<Expr>>,
    rest: Vec<Expr>,
}

impl BodyMomentum {
    fn of(
        model: &Workspace,
        equations: &Equations,
        r: &[[Expr; 3]; 3],
        fields: &[Vec<Expr>],
        angles: &[usize],
    ) -> Self {
        let g = &model.graph;
        let n = model.coordinates.len();
        let v = model.velocities();
        // η_j turns about the axis j of the body.
        let along = |j: usize, k: usize| g.sum((0..3).map(|i| g.mul(r[i][j], fields[i][k])));
        let body: Vec<Vec<Expr>> =
            (0..3).map(|j| (0..n).map(|k| along(j, k)).collect()).collect();
        let pushed = |η: &Vec<Expr>| -> Vec<Expr> {
            (0..n).map(|k| g.dot(&equations.mass[k], η)).collect()
        };
        let pushed: Vec<Vec<Expr>> = body.iter().map(pushed).collect();
        let inertia = pushed
            .iter()
            .map(|m| body.iter().map(|η| g.simplify(g.dot(m, η))).collect())
            .collect();
        let vector = equations.kinetic.as_ref().map(|k| k.vector.clone()).unwrap_or_default();
        let rest = pushed.iter().zip(&body).map(|(m, η)| {
            let others = (0..n).filter(|k| !angles.contains(k));
            let others = g.sum(others.map(|k| g.mul(g.simplify(m[k]), v[k])));
            let own = vector.iter().zip(η).map(|(&a, &b)| g.mul(a, b));
            g.add(others, g.simplify(g.sum(own)))
        });
        Self { inertia, rest: rest.collect() }
    }

    /// The moment of inertia of a body that has the same about all axes.
    fn isotropic(&self, model: &Workspace) -> Option<Expr> {
        let g = &model.graph;
        let first = self.inertia[0][0];
        let is_it = (0..3).all(|i| {
            (0..3).all(|j| {
                let x = self.inertia[i][j];
                g.is_zero(if i == j { g.sub(x, first) } else { x })
            })
        });
        is_it.then_some(first)
    }
}
