//! Friction of joints that carry in several directions: $Q = \tau\,\partial_{\dot q}\sigma$, $|\tau| \le \mu|\lambda|$.
//!
//! The reactions of a joint depend on its own friction. With $\lambda = a + b\tau$, which (K) gives, one that slides
//! with the sign $s$ has $\tau = -\mu s N$ and
//!
//! $$ N = |a - \mu s\,b N| = \frac{-\mu s\,a\cdot b + \sqrt{\mu^2(a\cdot b)^2 + (1 - \mu^2 b^2)\,a^2}}{1 - \mu^2 b^2}.
//!    \qquad (\mathrm N) $$
//!
//! So friction is an expression of the state, as other forces are. $a$ and $b$ come from an elimination of (K) that is
//! written out: first the masses, whose pivots are positive, then what is left for the multipliers. Where several
//! joints slide, (N) is solved for one after another, again and again. A joint that holds is the constraint
//! $\sigma = 0$, whose multiplier is $\tau$, until that reaches (N) of one of both signs.

use std::rc::Rc;

use pfaff_expr::{Expr, Graph, Role, Unary};
use pfaff_mechanics::Equations;
use pfaff_model::{
    Activity, Constraint, Direction, Force, ForceOrigin, Joint, Principle, Workspace,
};

use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::Motion;
use crate::motion::side::Side;
use crate::motion::verdict::Check;
use crate::problem::branches::Branches;
use crate::run::hybrid::phase::{Discrete, Making, Phases, Switch};
use crate::system::compiled::Dynamics;

/// How often (N) is solved for each of several joints: what is left is the square of μ to this power.
const SWEEPS: usize = 10;

/// What stands for the friction of a joint until it is known: $X$ and $Y$ in $Q = (s X + Y)\,\partial_{\dot q}\sigma$.
fn placeholders(g: &Graph, joint: usize) -> [Expr; 2] {
    ["odd", "even"]
        .map(|word| g.symbol(&format!("friction of joint {joint} {word}"), Role::Free))
}

/// What stands for the friction with which a joint that holds would slide.
fn limit(g: &Graph, joint: usize, sign: f64) -> Expr {
    let word = if sign > 0.0 { "above" } else { "below" };
    g.symbol(&format!("friction of joint {joint} {word}"), Role::Free)
}

/// Adds the friction of joints to the forces of a model, with the signs of their slips.
pub(super) fn add_forces(model: &mut Workspace) {
    for k in 0..model.hybrid.joints.len() {
        let g = &model.graph;
        let joint = model.hybrid.joints[k].clone();
        let [odd, even] = placeholders(g, k);
        let size = g.add(g.mul(g.unary(Unary::Sign, joint.slip), odd), even);
        let row = g.gradient(joint.slip, &model.velocities());
        let components = row.into_iter().map(|t| g.mul(size, t)).collect();
        let activity = activity(model, &joint);
        let name = joint.friction_name();
        let origin = ForceOrigin::Components;
        let force = Force { name, components, origin, span: joint.span };
        model.hybrid.forces.push((force, activity));
    }
}

/// The modes of a joint are those of its constraints.
fn activity(model: &Workspace, joint: &Joint) -> Activity {
    let own = model.hybrid.constraints.iter().find(|(c, _)| joint.rows.contains(&c.name));
    own.map_or_else(Activity::default, |(_, activity)| activity.clone())
}

/// The check that no joint has more friction than its load allows, at the outputs; for those whose μ is a number.
pub(super) fn load_check(model: &Workspace, motion: &Motion) -> Option<Check> {
    const OVER: f64 = 1e-6;
    let column = |name: &str| motion.multipliers.iter().find(|series| series.name == name);
    let parameter = |symbol| model.parameters.iter().find(|p| p.symbol == symbol);
    let value = |symbol| parameter(symbol).map_or(f64::NAN, |p| p.value);
    let mut worst: Option<f64> = None;
    for joint in &model.hybrid.joints {
        let μ = model.graph.evaluate(&[joint.friction], &value)[0];
        let rows: Option<Vec<_>> = joint.rows.iter().map(|name| column(name)).collect();
        let (Some(rows), Some(rub)) = (rows, column(&joint.friction_name())) else { continue };
        let load = |i: usize| {
            μ * rows.iter().fold(0.0_f64, |size, row| libm::hypot(size, row.values[i]))
        };
        let all = 0..rub.values.len();
        let most = all.clone().map(load).fold(0.0, f64::max);
        let over = all.map(|i| rub.values[i].abs() - load(i)).fold(0.0, f64::max);
        if most > 0.0 {
            worst = Some(worst.unwrap_or_default().max(over / most));
        }
    }
    let reason = "a joint that is held by more than its load allows should have begun to slide";
    worst.map(|worst| Check::new("friction of joints".into(), worst, OVER, reason))
}

/// A joint in a phase.
struct Rubbing {
    joint: usize,
    /// The places of its constraints.
    rows: Vec<usize>,
    /// $\partial_{\dot q}\sigma$
    slope: Vec<Expr>,
    friction: Expr,
    /// Its sign where it slides; where it holds, the place of that constraint.
    sign: Result<Expr, usize>,
}

impl Making<'_> {
    /// Gives out the friction of joints that do not hold.
    pub(super) fn sliding_joints(&mut self, branches: &Branches, first_name: usize) {
        for (j, joint) in self.model.hybrid.joints.clone().iter().enumerate() {
            let own = branches.functions.iter().position(|&f| f == joint.slip);
            if own.is_none_or(|k| self.now.signs[k] != Side::Held) {
                let [_, even] = placeholders(&self.graph, j);
                self.sliding.push((first_name + j, even));
            }
        }
    }

    /// A joint that holds as long as it can; says whether the switching function is that of one.
    pub(super) fn hold_joint(&mut self, k: usize, function: Expr, first_name: usize) -> bool {
        let joints = self.model.hybrid.joints.clone();
        let Some(j) = joints.iter().position(|joint| joint.slip == function) else {
            return false;
        };
        let g = Rc::clone(&self.graph);
        let (name, span) = (joints[j].friction_name(), joints[j].span);
        let held = g.symbol(&format!("lambda({name})"), Role::Free);
        let (along, word) = (None, None);
        let made = Constraint { name, expr: function, along, word, is_rate: false, span };
        self.constrain(made, Some(first_name + j));
        // It begins to slide forwards where friction cannot be more negative.
        let above = g.sub(held, limit(&g, j, 1.0));
        let below = g.sub(limit(&g, j, -1.0), held);
        self.switch(Switch::Leave(k, 1.0), above, Direction::Falling);
        self.switch(Switch::Leave(k, -1.0), below, Direction::Falling);
        true
    }
}

impl Phases {
    /// What must not fall below zero as long as the motion stays at a switching function: on leaving it upwards, and
    /// downwards.
    pub(super) fn ends_of_hold(
        &mut self,
        now: &Discrete,
        k: usize,
    ) -> Result<[Option<Expr>; 2], Failure> {
        let own = self.own_events;
        let phase = self.phase(now)?;
        let end = |sign: f64| {
            let is_end =
                |s: &Switch| matches!(s, Switch::Leave(of, way) if *of == k && *way == sign);
            let place = phase.switches.iter().position(is_end)?;
            phase.model.events.get(own + place).map(|event| event.expr)
        };
        Ok([end(1.0), end(-1.0)])
    }
}

/// Puts the friction of joints into the model of a phase. `signs` say where switching functions are, and `symbols`
/// stand for their signs. Gives out what the placeholders are.
pub(super) fn put_loads(
    model: &mut Workspace,
    principle: Option<Principle>,
    functions: &[Expr],
    (signs, symbols): (&[Side], &[Expr]),
) -> Result<Vec<(Expr, Expr)>, Failure> {
    if model.hybrid.joints.is_empty() {
        return Ok(Vec::new());
    }
    if principle.unwrap_or(model.principle) != Principle::Chetaev {
        return Err(Failure::usage(
            "friction of joints is that of the d'Alembert–Chetaev principle",
        ));
    }
    let joints = model.hybrid.joints.clone();
    let place = |name: &str| model.constraints.iter().position(|c| c.name == name);
    let mut all: Vec<Rubbing> = Vec::new();
    for (k, joint) in joints.iter().enumerate() {
        let rows: Option<Vec<usize>> = joint.rows.iter().map(|name| place(name)).collect();
        let own = functions.iter().position(|&f| f == joint.slip);
        let (Some(rows), Some(own)) = (rows, own) else { continue };
        let sign = match place(&joint.friction_name()).filter(|_| signs[own] == Side::Held) {
            Some(row) => Err(row),
            None => Ok(symbols[own]),
        };
        let slope = model.graph.gradient(joint.slip, &model.velocities());
        all.push(Rubbing { joint: k, rows, slope, friction: joint.friction, sign });
    }
    let nothing: Vec<(Expr, Expr)> = (0..joints.len())
        .flat_map(|k| placeholders(&model.graph, k))
        .map(|symbol| (symbol, model.graph.zero()))
        .collect();
    // Without friction, which is linear in what it is.
    let without = |force: &Force| model.graph.substitute(&force.components, &nothing);
    let forces: Vec<Vec<Expr>> = model.forces.iter().map(without).collect();
    let mut bare = model.clone();
    bare.forces.iter_mut().zip(forces).for_each(|(force, of)| force.components = of);
    bare.events.clear();
    bare.observed.clear();
    bare.resets.clear();
    let Dynamics::Saddle(equations) = derive_in(&bare, principle)? else {
        return Err(Failure::usage("friction of joints needs a Lagrangian"));
    };
    let g = &bare.graph;
    let too_large = || {
        Failure::usage(
            "friction of joints in several directions: the equations are too large, or a constraint repeats others",
        )
    };
    if equations.mass.is_empty() {
        return Err(too_large());
    }
    let sliding: Vec<&Rubbing> = all.iter().filter(|r| r.sign.is_ok()).collect();
    let mut known: Vec<(Expr, Expr)> = Vec::new();
    if !sliding.is_empty() {
        let signs: Vec<Expr> = sliding.iter().filter_map(|rubbing| rubbing.sign.ok()).collect();
        let response = Response::of(g, &equations, &sliding, None).ok_or_else(too_large)?;
        for (rubbing, friction) in sliding.iter().zip(response.friction(g, &sliding, &signs)) {
            known.push((placeholders(g, rubbing.joint)[1], friction));
        }
    }
    for held in all.iter().filter(|r| r.sign.is_err()) {
        let Err(row) = held.sign else { continue };
        let some: Vec<&Rubbing> =
            std::iter::once(held).chain(sliding.iter().copied()).collect();
        let response = Response::of(g, &equations, &some, Some(row)).ok_or_else(too_large)?;
        for (sign, one) in [(1.0, g.one()), (-1.0, g.neg(g.one()))] {
            let others = sliding.iter().filter_map(|rubbing| rubbing.sign.ok());
            let signs: Vec<Expr> = std::iter::once(one).chain(others).collect();
            let friction = response.friction(g, &some, &signs)[0];
            known.push((limit(g, held.joint, sign), friction));
        }
    }
    let is_known = |symbol: Expr| known.iter().any(|(of, _)| *of == symbol);
    let left: Vec<(Expr, Expr)> =
        nothing.into_iter().filter(|(symbol, _)| !is_known(*symbol)).collect();
    known.extend(left);
    let put = |e: &mut Expr| *e = g.substitute(&[*e], &known)[0];
    for force in &mut model.forces {
        force.components = g.substitute(&force.components, &known);
    }
    model.events.iter_mut().for_each(|event| put(&mut event.expr));
    model.observed.iter_mut().for_each(|observed| put(&mut observed.expr));
    for reset in &mut model.resets {
        reset.values.iter_mut().for_each(|(_, e)| put(e));
        reset.parameters.iter_mut().for_each(|(_, e)| put(e));
    }
    model.graph = bare.graph;
    Ok(known)
}

/// How the reactions of some joints follow from their friction: $\lambda = a + \sum_j b_j\tau_j$, one list for each.
struct Response {
    free: Vec<Vec<Expr>>,
    by: Vec<Vec<Vec<Expr>>>,
}

impl Response {
    /// From (K) without one of its rows.
    fn of(
        g: &Graph,
        equations: &Equations,
        some: &[&Rubbing],
        without: Option<usize>,
    ) -> Option<Self> {
        let n = equations.mass.len();
        let kept: Vec<usize> =
            (0..equations.jacobian.len()).filter(|row| Some(*row) != without).collect();
        let size = n + kept.len();
        let mut matrix = vec![vec![g.zero(); size]; size];
        for i in 0..n {
            matrix[i][..n].copy_from_slice(&equations.mass[i]);
            for (a, &row) in kept.iter().enumerate() {
                matrix[i][n + a] = g.neg(equations.directions[row][i]);
                matrix[n + a][i] = equations.jacobian[row][i];
            }
        }
        let drift = kept.iter().map(|&row| equations.drift[row]);
        let mut rights: Vec<Vec<Expr>> =
            vec![equations.force.iter().copied().chain(drift).collect()];
        for rubbing in some {
            let mut right = rubbing.slope.clone();
            right.resize(size, g.zero());
            rights.push(right);
        }
        let solved = eliminated(g, matrix, rights, n)?;
        let own = |x: &Vec<Expr>, rubbing: &Rubbing| -> Option<Vec<Expr>> {
            let place = |row: &usize| kept.iter().position(|k| k == row).map(|a| x[n + a]);
            rubbing.rows.iter().map(place).collect()
        };
        let free: Option<Vec<Vec<Expr>>> = some.iter().map(|r| own(&solved[0], r)).collect();
        let by: Option<Vec<Vec<Vec<Expr>>>> = some
            .iter()
            .map(|r| solved[1..].iter().map(|x| own(x, r)).collect::<Option<Vec<_>>>())
            .collect();
        Some(Self { free: free?, by: by? })
    }

    /// (N) for all joints that slide with these signs: $\tau = -\mu s N$.
    fn friction(&self, g: &Graph, some: &[&Rubbing], signs: &[Expr]) -> Vec<Expr> {
        let mut found = vec![g.zero(); some.len()];
        let sweeps = if some.len() == 1 { 1 } else { SWEEPS };
        for _ in 0..sweeps {
            for k in 0..some.len() {
                let (s, μ) = (signs[k], some[k].friction);
                let others = |i: usize| {
                    let of = (0..some.len()).filter(|&j| j != k);
                    g.sum(of.map(|j| g.mul(self.by[k][j][i], found[j])))
                };
                let free = self.free[k].iter().enumerate();
                let a: Vec<Expr> = free.map(|(i, &a)| g.add(a, others(i))).collect();
                let b = &self.by[k][k];
                let (aa, ab, bb) = (g.dot(&a, &a), g.dot(&a, b), g.dot(b, b));
                let square = g.mul(μ, μ);
                let rest = g.sub(g.one(), g.mul(square, bb));
                let root = g.add(g.mul(square, g.mul(ab, ab)), g.mul(rest, aa));
                // s² = 1: −μ s N = −(s P + O).
                let odd = g.mul(g.mul(s, μ), g.sqrt(root));
                let even = g.mul(square, ab);
                found[k] = g.div(g.sub(even, odd), rest);
            }
        }
        found
    }
}

/// Solves a system for several right sides. Diagonal pivots of the first `n` rows come first, then what is left.
fn eliminated(
    g: &Graph,
    mut matrix: Vec<Vec<Expr>>,
    mut rights: Vec<Vec<Expr>>,
    n: usize,
) -> Option<Vec<Vec<Expr>>> {
    let size = matrix.len();
    let is_nothing = |e: Expr| e == g.zero() || g.vanishes_modulo_prime(e);
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
        ((0..size).collect(), (0..size).collect());
    let mut done: Vec<(usize, usize)> = Vec::new();
    while !rows.is_empty() {
        let diagonal = |limit: usize| {
            let both = rows.iter().copied().filter(|i| columns.contains(i) && *i < limit);
            both.map(|i| (i, i)).collect::<Vec<_>>()
        };
        let any = rows.iter().flat_map(|&i| columns.iter().map(move |&j| (i, j)));
        let candidates = diagonal(n).into_iter().chain(diagonal(size)).chain(any);
        let (p, c) = { candidates }.find(|&(i, j)| !is_nothing(matrix[i][j]))?;
        let pivot = matrix[p].clone();
        rows.retain(|&i| i != p);
        columns.retain(|&j| j != c);
        for &i in &rows {
            if matrix[i][c] == g.zero() {
                continue;
            }
            let factor = g.div(matrix[i][c], pivot[c]);
            for &j in &columns {
                matrix[i][j] = g.sub(matrix[i][j], g.mul(factor, pivot[j]));
            }
            for right in &mut rights {
                right[i] = g.sub(right[i], g.mul(factor, right[p]));
            }
        }
        done.push((p, c));
    }
    let mut solved = vec![vec![g.zero(); size]; rights.len()];
    for (at, &(p, c)) in done.iter().enumerate().rev() {
        for (x, right) in solved.iter_mut().zip(&rights) {
            let later = done[at + 1..].iter().map(|&(_, j)| g.mul(matrix[p][j], x[j]));
            x[c] = g.div(g.sub(right[p], g.sum(later)), matrix[p][c]);
        }
    }
    Some(solved)
}
