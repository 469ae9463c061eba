//! The equations of motion in numbers, at one state: how accelerations answer to forces.
//!
//! Constraints without memory take part, $M u - W_c^\top\nu = f$ and $A_c u = b_c$, so that $u$ is the motion
//! that constraints with memory leave free; their own reactions are forces to it.
//! Memory is as it is at the start.

use pfaff_expr::{Expr, Memory, Node, Role};
use pfaff_mechanics::{Class, Equations};
use pfaff_model::Workspace;
use pfaff_solver::Lu;

use crate::run::volterra::volterra_equations::parameter;

use crate::system::saddle_point::write_matrix;

/// Positions, velocities and the time at which numbers are taken.
#[derive(Clone, Debug)]
pub(crate) struct State<'a> {
    pub(crate) data: &'a [[f64; 3]],
    pub(crate) t: f64,
}

/// $S$, $A$, $W$ and the free motion at one state.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    n: usize,
    /// $A$ by constraint.
    pub(crate) rows: Vec<Vec<f64>>,
    /// $W$ by constraint.
    pub(crate) directions: Vec<Vec<f64>>,
    /// $S$, by rows.
    matrix: Vec<f64>,
    lu: Option<Lu>,
    /// $f$ and $b_c$
    right: Vec<f64>,
    /// $u$ and $\nu$
    pub(crate) free: Vec<f64>,
}

/// The constraints without memory, by index.
pub(crate) fn classical(equations: &Equations) -> Vec<usize> {
    (0..equations.classes.len()).filter(|&c| equations.classes[c] != Class::Memory).collect()
}

/// The symbols of $u$ and $\nu$, and the equations that determine them.
pub(crate) fn free_motion(model: &Workspace, equations: &Equations) -> (Vec<Expr>, Vec<Expr>) {
    let g = &model.graph;
    let classical = classical(equations);
    let n = model.coordinates.len();
    let symbol = |what: &str, k: usize| g.symbol(&format!("{what} {k}"), Role::Free);
    let u: Vec<Expr> = (0..n).map(|k| symbol("free acceleration", k)).collect();
    let ν: Vec<Expr> = classical.iter().map(|&c| symbol("free reaction", c)).collect();
    let mut rows = Vec::new();
    for k in 0..n {
        let reaction = g
            .sum(classical.iter().zip(&ν).map(|(&c, &ν)| g.mul(equations.directions[c][k], ν)));
        let inertia = g.dot(&equations.mass[k], &u);
        rows.push(g.sub(inertia, g.add(equations.force[k], reaction)));
    }
    for &c in &classical {
        rows.push(g.sub(g.dot(&equations.jacobian[c], &u), equations.drift[c]));
    }
    ([u, ν].concat(), rows)
}

impl Response {
    pub(crate) fn new(model: &Workspace, equations: &Equations, state: &State<'_>) -> Self {
        let n = model.coordinates.len();
        let classical = classical(equations);
        let (width, m) = (n + classical.len(), classical.len());
        let numbers = |es: &[Expr]| numbers(model, es, state);
        let rows: Vec<Vec<f64>> = equations.jacobian.iter().map(|row| numbers(row)).collect();
        let directions: Vec<Vec<f64>> =
            equations.directions.iter().map(|row| numbers(row)).collect();
        let mut matrix = vec![0.0; width * width];
        let mass: Vec<f64> = equations.mass.iter().flat_map(|row| numbers(row)).collect();
        let chosen = |rows: &[Vec<f64>]| -> Vec<f64> {
            classical.iter().flat_map(|&c| rows[c].iter().copied()).collect()
        };
        write_matrix(&mut matrix, [n, m], &mass, &chosen(&rows), &chosen(&directions));
        let mut right = numbers(&equations.force);
        right.extend((0..m).map(|i| numbers(&[equations.drift[classical[i]]])[0]));
        let mut lu = Lu::new(width);
        let lu = lu.factor(width, &matrix).is_ok().then_some(lu);
        let mut found =
            Self { n, rows, directions, matrix, lu, right: right.clone(), free: Vec::new() };
        found.solve(&mut right);
        found.free = right;
        found
    }

    /// $S^{-1}x$ in place; not a number where there is none.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        match &self.lu {
            Some(lu) => lu.solve(x),
            None => x.fill(f64::NAN),
        }
    }

    /// The accelerations that a force makes.
    pub(crate) fn answer(&self, force: &[f64]) -> Vec<f64> {
        let mut x = force.to_vec();
        x.resize(self.right.len(), 0.0);
        self.solve(&mut x);
        x.truncate(self.n);
        x
    }

    /// What the reaction of constraint `a` does to accelerations along `x`.
    pub(crate) fn product(&self, x: &[f64], a: usize) -> f64 {
        dot(x, &self.answer(&self.directions[a]))
    }

    /// $A S^{-1} W$ of one constraint.
    pub(crate) fn norm(&self, a: usize) -> f64 {
        self.product(&self.rows[a], a)
    }

    /// $\kappa$ for these slopes.
    pub(crate) fn kappa(&self, a: usize, slopes: &[f64]) -> f64 {
        self.product(slopes, a) / self.norm(a)
    }

    /// Accelerations with reactions of these constraints, such that $A\ddot q$ has these values.
    pub(crate) fn bent(&self, driven: &[(usize, f64)]) -> Vec<f64> {
        let width = self.right.len() + driven.len();
        let inner = self.right.len();
        let mut matrix = vec![0.0; width * width];
        // Rows of the driven constraints; multipliers that are there already have no part in them.
        let widened = |rows: &[Vec<f64>]| -> Vec<f64> {
            let zeros = vec![0.0; inner - self.n];
            driven.iter().flat_map(|&(a, _)| [&rows[a][..], &zeros].concat()).collect()
        };
        let (jacobian, directions) = (widened(&self.rows), widened(&self.directions));
        write_matrix(&mut matrix, [inner, driven.len()], &self.matrix, &jacobian, &directions);
        let mut x = self.right.clone();
        x.extend(driven.iter().map(|&(_, along)| along));
        let mut lu = Lu::new(width);
        if lu.factor(width, &matrix).is_ok() {
            lu.solve(&mut x);
        } else {
            x.fill(f64::NAN);
        }
        x.truncate(self.n);
        x
    }
}

pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Values of expressions at a state, with memory as it is at the start.
pub(crate) fn numbers(model: &Workspace, es: &[Expr], state: &State<'_>) -> Vec<f64> {
    let es: Vec<Expr> = es.iter().map(|&e| at_start(model, e)).collect();
    model.graph.evaluate(&es, &|s| value(model, state, s))
}

/// Memory as it is at the start: nothing has been integrated, and a mean is its operand.
pub(crate) fn at_start(model: &Workspace, e: Expr) -> Expr {
    let g = &model.graph;
    let mut pairs: Vec<(Expr, Expr)> = Vec::new();
    for node in g.live(&[e]) {
        if let Node::Memory(kind, operand, _) = g.node(node) {
            let mean = kind == Memory::Mean;
            let image = if mean { g.substitute(&[operand], &pairs)[0] } else { g.zero() };
            pairs.push((node, image));
        }
    }
    g.substitute(&[e], &pairs)[0]
}

/// The value of a symbol of the model.
pub(crate) fn value(model: &Workspace, state: &State<'_>, s: Expr) -> f64 {
    for (k, c) in model.coordinates.iter().enumerate() {
        if s == c.position {
            return state.data[k][0];
        }
        if s == c.velocity {
            return state.data[k][1];
        }
    }
    if s == model.time { state.t } else { parameter(model, s) }
}

/// States near one, to tell what vanishes there from what vanishes everywhere.
pub(crate) fn nearby(data: &[[f64; 3]], t: f64) -> Vec<(Vec<[f64; 3]>, f64)> {
    // Irrational turns: no expression of a model is made to vanish at these.
    let shift = |i: usize, k: usize| {
        0.1 * libm::sin(1.0 + 1.618_033_988_7 * i as f64 + 2.236_067_977_5 * k as f64)
    };
    let one = |i: usize| {
        let moved = data.iter().enumerate().map(|(k, d)| {
            let at = |j: usize| d[j] + shift(i, 2 * k + j) * (1.0 + d[j].abs());
            [at(0), at(1), f64::NAN]
        });
        (moved.collect(), t + 0.01 * i as f64)
    };
    (1..=5).map(one).collect()
}
