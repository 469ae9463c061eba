//! The connection: body velocities from shape velocities.
//!
//! At the identity of the group the constraints $A\dot q = 0$ and, where they leave directions $c$ of the group free,
//! the momenta $c\cdot p = 0$ are linear equations for $\xi$. A momentum that is zero stays zero if
//!
//! $$ \dot p_c = p\cdot(\dot c + [\xi, c]) = 0 \qquad (\mathrm M) $$
//!
//! for all shape velocities \[Bloch, Krishnaprasad, Marsden and Murray 1996\]; otherwise the shape drives it, and the
//! system is not kinematic. That constraints and momenta do not change under the group is asked at scattered places.

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::{Dynamics as Energies, GroupKind, Principle, Workspace};
use pfaff_program::{Backend, Executor, Program};
use pfaff_solver::{Lu, RankRevealing, least_squares, singular_values};

use crate::derivation::derive_in;
use crate::error::Failure;
use crate::run::volterra;
use crate::split_mix::SplitMix64;
use crate::system::dynamics::Dynamics;

/// Rows that are smaller than this part of the others say nothing.
const DEPENDENT: f64 = 1e-9;
/// Equality at scattered places.
const SAME: f64 = 1e-8;

/// A part of the group: three coordinates of the plane, or one that is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    Plane,
    Shift,
}

/// Body velocities as velocities of the coordinates at a place $g$.
pub(crate) fn moved(factors: &[Factor], g: &[f64], body: &[f64]) -> Vec<f64> {
    let mut velocity = body.to_vec();
    let mut at = 0;
    for factor in factors {
        match factor {
            Factor::Plane => {
                let (sin, cos) = (libm::sin(g[at + 2]), libm::cos(g[at + 2]));
                velocity[at] = cos * body[at] - sin * body[at + 1];
                velocity[at + 1] = sin * body[at] + cos * body[at + 1];
                at += 3;
            }
            Factor::Shift => at += 1,
        }
    }
    velocity
}

/// $g_0^{-1} g_1$
pub(crate) fn relative(factors: &[Factor], from: &[f64], to: &[f64]) -> Vec<f64> {
    let mut change: Vec<f64> = to.iter().zip(from).map(|(b, a)| b - a).collect();
    let mut at = 0;
    for factor in factors {
        match factor {
            Factor::Plane => {
                let (sin, cos) = (libm::sin(from[at + 2]), libm::cos(from[at + 2]));
                let (x, y) = (change[at], change[at + 1]);
                change[at] = cos * x + sin * y;
                change[at + 1] = cos * y - sin * x;
                at += 3;
            }
            Factor::Shift => at += 1,
        }
    }
    change
}

/// $[a, b]$ of body velocities.
pub(crate) fn bracket(factors: &[Factor], a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; a.len()];
    let mut at = 0;
    for factor in factors {
        match factor {
            Factor::Plane => {
                c[at] = b[at + 2] * a[at + 1] - a[at + 2] * b[at + 1];
                c[at + 1] = a[at + 2] * b[at] - b[at + 2] * a[at];
                at += 3;
            }
            Factor::Shift => at += 1,
        }
    }
    c
}

/// The equations for body velocities, as programs.
pub(crate) struct Connection {
    /// Coordinates of the group, in the order of its factors.
    pub(crate) group: Vec<usize>,
    pub(crate) factors: Vec<Factor>,
    shape: Vec<usize>,
    n: usize,
    /// Rows of $A$, then rows of $M$ where momenta are needed.
    run: Executor,
    constraints: usize,
    has_momenta: bool,
    outputs: Vec<f64>,
    angles: Vec<usize>,
    /// The side of singular shapes on which the last one was, where that is known.
    pub(crate) side: Option<f64>,
}

/// The coordinates of the group with its factors; what is left over is shifted.
fn group_of(model: &Workspace, shape: &[usize]) -> Result<(Vec<usize>, Vec<Factor>), Failure> {
    let (mut group, mut factors) = (Vec::new(), Vec::new());
    for declared in &model.groups {
        if let Some(&k) = declared.coordinates.iter().find(|k| shape.contains(k)) {
            let name = &model.coordinates[k].name;
            return Err(Failure::Usage(format!(
                "`{name}` is a coordinate of the group, and cannot be a shape"
            )));
        }
        match declared.kind {
            GroupKind::PlaneMotions => factors.push(Factor::Plane),
            GroupKind::Rotations | GroupKind::Translations => {
                factors.extend(declared.coordinates.iter().map(|_| Factor::Shift));
            }
        }
        group.extend(&declared.coordinates);
    }
    let is_left = |k: &usize| !group.contains(k) && !shape.contains(k);
    let left: Vec<usize> = (0..model.coordinates.len()).filter(is_left).collect();
    factors.extend(left.iter().map(|_| Factor::Shift));
    group.extend(left);
    if group.is_empty() {
        return Err(Failure::usage(
            "all coordinates are shapes: there is nothing that a loop could move",
        ));
    }
    Ok((group, factors))
}

impl Connection {
    pub(crate) fn new(model: &Workspace, shape: &[usize]) -> Result<Self, Failure> {
        if volterra::has_memory(model) || model.hybrid.switches() || !model.resets.is_empty() {
            return Err(Failure::usage(
                "a gait needs equations without memory, jumps and modes",
            ));
        }
        let Energies::Lagrangian { .. } = model.dynamics else {
            return Err(Failure::usage(
                "a gait needs constraints or momenta: the model consists of equations",
            ));
        };
        let Dynamics::Saddle(equations) = derive_in(model, Some(Principle::Chetaev))? else {
            return Err(Failure::usage("a gait needs a Lagrangian"));
        };
        refuse_drift(model, &equations)?;
        let (group, factors) = group_of(model, shape)?;
        let mut found = Self::compiled(model, &equations, shape, group, factors.clone())?;
        if model.groups.is_empty() && !found.is_invariant() && found.group.len() == 3 {
            // Three coordinates that no statement explains may be those of the plane.
            let group = found.group.clone();
            found = Self::compiled(model, &equations, shape, group, vec![Factor::Plane])?;
        }
        if !found.is_invariant() {
            let names: Vec<&str> =
                found.group.iter().map(|&k| model.coordinates[k].name.as_str()).collect();
            let hint = if model.groups.is_empty() {
                "; say with `group SE(2): x, y, theta` how they move together"
            } else {
                ""
            };
            return Err(Failure::Usage(format!(
                "the velocities of {} depend on where the body is, not only on its shape{hint}",
                names.join(", ")
            )));
        }
        found.refuse_dynamics(model)?;
        Ok(found)
    }

    fn compiled(
        model: &Workspace,
        equations: &Equations,
        shape: &[usize],
        group: Vec<usize>,
        factors: Vec<Factor>,
    ) -> Result<Self, Failure> {
        let n = model.coordinates.len();
        let mut outputs: Vec<Expr> = equations.jacobian.iter().flatten().copied().collect();
        outputs.extend(equations.mass.iter().flatten());
        let mut inputs = model.positions();
        inputs.extend(model.velocities());
        inputs.push(model.time);
        let program =
            Program::compile(&model.graph, &inputs, &model.parameter_symbols(), &outputs)?;
        let mut found = Self {
            group,
            factors,
            shape: shape.to_vec(),
            n,
            run: program.tiered(&model.parameter_values(), Backend::default()),
            constraints: equations.jacobian.len(),
            has_momenta: false,
            outputs: vec![0.0; outputs.len()],
            angles: Vec::new(),
            side: None,
        };
        let mut random = SplitMix64(7);
        let r = found.scattered_shape(&mut random);
        let g = vec![0.0; found.group.len()];
        found.has_momenta = found.free_directions(&r, &g).map_or(0, |c| c.len()) > 0;
        found.angles = (0..shape.len()).filter(|&k| found.turns(k)).map(|k| shape[k]).collect();
        Ok(found)
    }

    /// Whether whole turns of a shape change nothing.
    pub(crate) fn is_angle(&self, k: usize) -> bool {
        self.angles.contains(&k)
    }

    fn turns(&mut self, place: usize) -> bool {
        let mut random = SplitMix64(11);
        let r = self.scattered_shape(&mut random);
        let g = vec![0.0; self.group.len()];
        let mut turned = r.clone();
        turned[place] += std::f64::consts::TAU;
        self.evaluate(&r, &g);
        let before = self.outputs.clone();
        self.evaluate(&turned, &g);
        before.iter().zip(&self.outputs).all(|(a, b)| (a - b).abs() <= SAME * (1.0 + a.abs()))
    }

    /// What determines the velocities.
    pub(crate) fn origin(&self) -> &'static str {
        match (self.constraints > 0, self.has_momenta) {
            (true, false) => "constraints",
            (false, _) => "momenta",
            (true, true) => "constraints and momenta",
        }
    }

    /// Whether all brackets vanish.
    pub(crate) fn commutes(&self) -> bool {
        !self.factors.contains(&Factor::Plane)
    }

    fn evaluate(&mut self, r: &[f64], g: &[f64]) {
        let mut inputs = vec![0.0; 2 * self.n + 1];
        self.shape.iter().zip(r).for_each(|(&k, x)| inputs[k] = *x);
        self.group.iter().zip(g).for_each(|(&k, x)| inputs[k] = *x);
        self.run.evaluate(&inputs, &mut self.outputs);
    }

    /// Some columns of $A$ by rows, as evaluated last.
    fn rows(&self, columns: &[usize]) -> Vec<f64> {
        let rows = (0..self.constraints).flat_map(|i| columns.iter().map(move |&k| (i, k)));
        rows.map(|(i, k)| self.outputs[i * self.n + k]).collect()
    }

    /// The momentum of group coordinate `s` for a unit velocity of coordinate `k`.
    fn mass(&self, s: usize, k: usize) -> f64 {
        self.outputs[(self.constraints + self.group[s]) * self.n + k]
    }

    /// Directions of the group that the constraints leave free at a place, with the identity in as many components as
    /// there are.
    fn free_directions(&mut self, r: &[f64], g: &[f64]) -> Option<Vec<Vec<f64>>> {
        self.evaluate(r, g);
        if self.outputs.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let count = self.group.len();
        if self.constraints == 0 {
            let unit = |s: usize| (0..count).map(|j| f64::from(u8::from(s == j))).collect();
            return Some((0..count).map(unit).collect());
        }
        let rows = self.rows(&self.group.clone());
        let split = singular_values(&rows, self.constraints, count);
        let largest = split.values.first().copied().unwrap_or(0.0).max(1e-300);
        let kernel: Vec<Vec<f64>> = split
            .values
            .iter()
            .zip(split.directions)
            .filter(|(s, _)| **s <= DEPENDENT * largest)
            .map(|(_, direction)| direction)
            .collect();
        Some(echelon(kernel))
    }

    /// $\xi$ at the identity for a shape and its velocity; `None` where they do not determine it.
    pub(crate) fn body_velocity(&mut self, r: &[f64], dr: &[f64]) -> Option<Vec<f64>> {
        let g = vec![0.0; self.group.len()];
        self.velocity(r, dr, &g)
    }

    /// Velocities of the group coordinates at a place.
    fn velocity(&mut self, r: &[f64], dr: &[f64], g: &[f64]) -> Option<Vec<f64>> {
        let count = self.group.len();
        let free = self.free_directions(r, g)?;
        if !self.has_momenta && !free.is_empty() {
            return None;
        }
        let group = self.rows(&self.group.clone());
        let shape = self.rows(&self.shape.clone());
        let mut matrix = group;
        let mut right: Vec<f64> = shape
            .chunks(self.shape.len())
            .take(self.constraints)
            .map(|row| -row.iter().zip(dr).map(|(a, v)| a * v).sum::<f64>())
            .collect();
        for c in &free {
            let along = |k: usize| (0..count).map(|s| c[s] * self.mass(s, k)).sum::<f64>();
            matrix.extend(self.group.iter().map(|&k| along(k)));
            right.push(-self.shape.iter().zip(dr).map(|(&k, v)| along(k) * v).sum::<f64>());
        }
        let rows = right.len();
        let mut split = RankRevealing::default();
        split.factor(rows, count, &matrix, DEPENDENT);
        if rows - split.dependent_rows().len() < count {
            return None;
        }
        let mut lu = Lu::new(count);
        let is_square = rows == count && lu.factor(count, &matrix).is_ok();
        self.side = is_square.then(|| lu.orientation());
        let solved = least_squares(&matrix, rows, count, &right, 1e-12);
        let size = right.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        // Constraints that also restrict the shapes are not met.
        (solved.residual <= 1e-8 * (size + 1e-12)).then_some(solved.x)
    }

    fn scattered_shape(&self, random: &mut SplitMix64) -> Vec<f64> {
        let mut unit = || (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        self.shape.iter().map(|_| 1.6 * unit() - 0.7).collect()
    }

    /// Whether body velocities are the same wherever the body is.
    fn is_invariant(&mut self) -> bool {
        let mut random = SplitMix64(3);
        for _ in 0..8 {
            let r = self.scattered_shape(&mut random);
            let dr = self.scattered_shape(&mut random);
            let mut unit = || (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
            let g: Vec<f64> = self.group.iter().map(|_| 3.0 * unit() - 1.3).collect();
            let (Some(body), Some(there)) =
                (self.body_velocity(&r, &dr), self.velocity(&r, &dr, &g))
            else {
                continue;
            };
            let wanted = moved(&self.factors, &g, &body);
            let size = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            if wanted.iter().zip(&there).any(|(a, b)| (a - b).abs() > SAME * size) {
                return false;
            }
        }
        // Where nothing is determined there is another message.
        true
    }

    /// Refuses systems whose shapes do not determine the velocities, or whose momenta are driven.
    fn refuse_dynamics(&mut self, model: &Workspace) -> Result<(), Failure> {
        let mut random = SplitMix64(5);
        let mut determined = 0;
        for _ in 0..8 {
            let r = self.scattered_shape(&mut random);
            let dr = self.scattered_shape(&mut random);
            let Some(body) = self.body_velocity(&r, &dr) else { continue };
            determined += 1;
            if !self.has_momenta || self.constraints == 0 {
                continue;
            }
            let Some(rate) = self.momentum_rate(&r, &dr, &body) else { continue };
            if rate > 1e-6 {
                return Err(Failure::usage(
                    "the system is not kinematic: the constraints leave directions of the group free, and the momentum \
                     along them is driven by the shape; the displacement depends on how fast the loop is run",
                ));
            }
        }
        if determined > 0 {
            let pushed = model
                .forces
                .iter()
                .flat_map(|force| self.group.iter().map(|&k| force.components.get(k).copied()));
            let zero = model.graph.zero();
            if self.has_momenta && pushed.flatten().any(|e| e != zero) {
                return Err(Failure::usage(
                    "forces act along the group, so that its momenta do not stay zero: the shapes alone do not \
                     determine the displacement",
                ));
            }
            return Ok(());
        }
        let g = vec![0.0; self.group.len()];
        let r = self.scattered_shape(&mut random);
        let free = self.free_directions(&r, &g).map_or(0, |c| c.len());
        Err(Failure::usage(if free > 0 {
            "the shapes do not determine the velocities of the group: there are too few constraints, and the momenta \
             are degenerate"
        } else {
            "the constraints restrict the shapes themselves: not every loop can be run"
        }))
    }

    /// (M) in parts of its terms.
    fn momentum_rate(&mut self, r: &[f64], dr: &[f64], body: &[f64]) -> Option<f64> {
        const STEP: f64 = 1e-5;
        let count = self.group.len();
        let g = vec![0.0; count];
        let near = |h: f64| -> Vec<f64> { r.iter().zip(dr).map(|(r, v)| r + h * v).collect() };
        let ahead = self.free_directions(&near(STEP), &g)?;
        let behind = self.free_directions(&near(-STEP), &g)?;
        let free = self.free_directions(r, &g)?;
        if ahead.len() != free.len() || behind.len() != free.len() {
            return None;
        }
        let p: Vec<f64> = (0..count)
            .map(|s| {
                let own = self.group.iter().zip(body).map(|(&k, v)| self.mass(s, k) * v);
                let other = self.shape.iter().zip(dr).map(|(&k, v)| self.mass(s, k) * v);
                own.sum::<f64>() + other.sum::<f64>()
            })
            .collect();
        let mut largest = 0.0_f64;
        for (i, c) in free.iter().enumerate() {
            let turned = bracket(&self.factors, body, c);
            let (mut sum, mut size) = (0.0, 1e-9);
            for s in 0..count {
                let changed = (ahead[i][s] - behind[i][s]) / (2.0 * STEP);
                sum += p[s] * (changed + turned[s]);
                size += (p[s] * changed).abs() + (p[s] * turned[s]).abs() + 1e-3 * p[s].abs();
            }
            largest = largest.max(sum.abs() / size);
        }
        Some(largest)
    }
}

/// The same space with units in its pivots, so that it changes smoothly.
fn echelon(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut done = 0;
    for c in 0..columns {
        let largest = |&a: &usize, &b: &usize| rows[a][c].abs().total_cmp(&rows[b][c].abs());
        let Some(best) = (done..rows.len()).max_by(largest) else { break };
        if rows[best][c].abs() < 1e-3 {
            continue;
        }
        rows.swap(done, best);
        let pivot = rows[done][c];
        rows[done].iter_mut().for_each(|x| *x /= pivot);
        let own = rows[done].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != done) {
            let part = row[c];
            row.iter_mut().zip(&own).for_each(|(x, p)| *x -= part * p);
        }
        done += 1;
    }
    rows
}

/// Constraints must be linear in the velocities, without drift, and the mass may depend on positions alone.
fn refuse_drift(model: &Workspace, equations: &Equations) -> Result<(), Failure> {
    let g = &model.graph;
    let velocities = model.velocities();
    let moving: Vec<Expr> = velocities.iter().copied().chain([model.time]).collect();
    for ((row, &ψ), constraint) in
        equations.jacobian.iter().zip(&equations.residual).zip(&model.constraints)
    {
        let is_linear = row.iter().all(|&e| !g.contains(e, &moving))
            && g.is_zero(g.sub(ψ, g.dot(row, &velocities)));
        if !is_linear {
            return Err(Failure::Usage(format!(
                "the constraint `{}` is not linear in the velocities: a loop that is run twice as fast would lead \
                 elsewhere",
                constraint.name
            )));
        }
    }
    Ok(())
}
