//! Elimination of the multipliers: independent quasi-velocities, and accelerations and multipliers as expressions.
//!
//! Constraints linear or affine in the velocities are solved by $\dot q = B(t,q)\,u + b(t,q)$ with independent $u$. As $AB = 0$, the reaction $A^\top\lambda$ drops out of
//!
//! $$ B^\top M B\,\dot u = B^\top(f - M\gamma), \qquad \gamma = \Big(\tfrac{\partial}{\partial q}(Bu + b)\Big)(Bu + b) + \partial_t(Bu + b) . \qquad (\mathrm U) $$
//!
//! The $u$ are velocities where a coefficient is constant, and $(r_j v_i - r_i v_j)/c$ where two coefficients have $r_i^2 + r_j^2 = c$ constant (a blade that turns by $\varphi$), so that no chart is singular
//! where it need not be. For any class, (K) itself solved by elimination gives $\ddot q(q,\dot q,t)$ and $\lambda(q,\dot q,t)$ \[TZ06, (18)–(19) with $\partial f/\partial\dot q$ for $\partial\tilde f/\partial\dot q$\].

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::Model;

use crate::class::Class;
use crate::elimination::solve_linear;
use crate::equations::Equations;

/// Independent quasi-velocities.
#[derive(Clone, Debug)]
pub struct QuasiVelocities {
    /// $u$
    pub symbols: Vec<Expr>,
    /// $\dot u$
    pub rates: Vec<Expr>,
    /// $u$ in terms of the velocities.
    pub definitions: Vec<Expr>,
    /// $B$, n × k
    pub basis: Vec<Vec<Expr>>,
    /// $b$
    pub offset: Vec<Expr>,
    /// Coefficients that were divided by and are not constant: the quasi-velocities are valid where none of them vanishes.
    pub pivots: Vec<Expr>,
}

/// The equations (U).
#[derive(Clone, Debug)]
pub struct ReducedEquations {
    /// The quasi-velocities.
    pub quasi: QuasiVelocities,
    /// $Bu + b$
    pub velocities: Vec<Expr>,
    /// $B^\top M B$
    pub mass: Vec<Vec<Expr>>,
    /// $B^\top(f - M\gamma)$
    pub force: Vec<Expr>,
}

/// Accelerations and multipliers as expressions.
#[derive(Clone, Debug)]
pub struct Explicit {
    /// $\ddot q(q, \dot q, t)$
    pub accelerations: Vec<Expr>,
    /// $\lambda(q, \dot q, t)$, or $\dot\mu(q, \dot q, \mu, t)$; zero for constraints that repeat others.
    pub multipliers: Vec<Expr>,
}

/// The largest system whose elimination is written out.
const LARGEST: usize = 16;

/// The quasi-velocities of a model, or `None` where a constraint is not linear or affine in the velocities.
pub fn quasi_velocities(model: &Model, equations: &Equations) -> Option<QuasiVelocities> {
    let affine = [Class::Holonomic, Class::Linear, Class::Affine];
    if !equations.classes.iter().all(|c| affine.contains(c)) {
        return None;
    }
    let g = &model.graph;
    let v = model.velocities();
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    let mut solved = Solved::new(g, &v);
    for (row, &ψ) in equations.jacobian.iter().zip(&equations.residual) {
        solved.insert(model, &g.substitute(row, &still), g.substitute(&[ψ], &still)[0]);
    }
    Some(solved.named(model))
}

/// The equations (U) of blocks under Chetaev's or the vakonomic principle; `None` also where `along` keeps the reaction in them.
pub fn reduced_equations(model: &Model, e: &Equations) -> Option<ReducedEquations> {
    if e.directions != e.jacobian {
        return None;
    }
    let g = &model.graph;
    let quasi = quasi_velocities(model, e)?;
    let n = model.coordinates.len();
    let velocities: Vec<Expr> = (0..n)
        .map(|i| g.simplify(g.add(g.dot(&quasi.basis[i], &quasi.symbols), quasi.offset[i])))
        .collect();
    let inserted: Vec<(Expr, Expr)> =
        model.velocities().into_iter().zip(velocities.iter().copied()).collect();
    let mut along: Vec<(Expr, Expr)> =
        model.positions().into_iter().zip(velocities.iter().copied()).collect();
    along.push((model.time, g.one()));
    let γ = g.directional(&velocities, &along);
    let mass: Vec<Vec<Expr>> = e.mass.iter().map(|row| g.substitute(row, &inserted)).collect();
    let force = g.substitute(&e.force, &inserted);
    let left: Vec<Expr> = (0..n).map(|i| g.sub(force[i], g.dot(&mass[i], &γ))).collect();
    let column = |a: usize| quasi.basis.iter().map(|row| row[a]).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = (0..quasi.symbols.len()).map(column).collect();
    let carried: Vec<Vec<Expr>> =
        columns.iter().map(|c| mass.iter().map(|row| g.dot(row, c)).collect()).collect();
    let reduced = columns
        .iter()
        .map(|x| carried.iter().map(|y| g.simplify(g.dot(x, y))).collect())
        .collect();
    let force = columns.iter().map(|x| g.simplify(g.dot(x, &left))).collect();
    Some(ReducedEquations { quasi, velocities, mass: reduced, force })
}

/// (K) solved by elimination; `None` where it is singular everywhere, or too large to be written out.
pub fn explicit(model: &Model, e: &Equations) -> Option<Explicit> {
    let g = &model.graph;
    let n = model.coordinates.len();
    let rows = g.independent_rows(&e.jacobian);
    if n + rows.len() > LARGEST {
        return None;
    }
    let mut matrix = Vec::new();
    for i in 0..n {
        let reaction = rows.iter().map(|&a| g.neg(e.directions[a][i]));
        matrix.push(e.mass[i].iter().copied().chain(reaction).collect::<Vec<_>>());
    }
    for &a in &rows {
        let zeros = std::iter::repeat_n(g.zero(), rows.len());
        matrix.push(e.jacobian[a].iter().copied().chain(zeros).collect());
    }
    let right = e.force.iter().copied().chain(rows.iter().map(|&a| e.drift[a]));
    let right: Vec<Vec<Expr>> = right.map(|x| vec![x]).collect();
    let solution = solve_linear(g, &matrix, &right)?;
    let simple: Vec<Expr> = solution.iter().map(|x| g.simplify(x[0])).collect();
    let mut multipliers = vec![g.zero(); e.jacobian.len()];
    for (&a, &λ) in rows.iter().zip(&simple[n..]) {
        multipliers[a] = λ;
    }
    Some(Explicit { accelerations: simple[..n].to_vec(), multipliers })
}

/// $\dot q(q, p, t)$ and the constraints with it inserted; the symbols are $p$ \[TZ06, (14)–(15)\]. `None` unless the Lagrangian is quadratic with a regular mass.
pub fn canonical(model: &Model, e: &Equations, p: &[Expr]) -> Option<(Vec<Expr>, Vec<Expr>)> {
    let g = &model.graph;
    let kinetic = e.kinetic.as_ref()?;
    if p.len() > LARGEST {
        return None;
    }
    let right: Vec<Vec<Expr>> =
        p.iter().zip(&kinetic.vector).map(|(&p, &g1)| vec![g.sub(p, g1)]).collect();
    let solved = solve_linear(g, &kinetic.metric, &right)?;
    let velocities: Vec<Expr> = solved.iter().map(|x| g.simplify(x[0])).collect();
    let inserted: Vec<(Expr, Expr)> =
        model.velocities().into_iter().zip(velocities.iter().copied()).collect();
    let written = g.substitute(&e.residual, &inserted);
    Some((velocities, written.into_iter().map(|c| g.simplify(c)).collect()))
}

/// Velocities as affine functions of parameters, row after row with fewer of them.
struct Solved<'a> {
    g: &'a Graph,
    /// n × k
    basis: Vec<Vec<Expr>>,
    offset: Vec<Expr>,
    /// The parameters in terms of the velocities.
    definitions: Vec<Expr>,
    pivots: Vec<Expr>,
}

impl<'a> Solved<'a> {
    fn new(g: &'a Graph, v: &[Expr]) -> Self {
        let n = v.len();
        let unit = |i: usize| {
            (0..n).map(|j| if i == j { g.one() } else { g.zero() }).collect::<Vec<_>>()
        };
        Self {
            g,
            basis: (0..n).map(unit).collect(),
            offset: vec![g.zero(); n],
            definitions: v.to_vec(),
            pivots: Vec::new(),
        }
    }

    /// One more row, $\text{row}\cdot\dot q + \text{rest} = 0$.
    fn insert(&mut self, model: &Model, row: &[Expr], rest: Expr) {
        let g = self.g;
        let k = self.definitions.len();
        let r: Vec<Expr> = (0..k)
            .map(|a| {
                let column: Vec<Expr> = self.basis.iter().map(|b| b[a]).collect();
                g.simplify(g.dot(row, &column))
            })
            .collect();
        let s = g.simplify(g.add(g.dot(row, &self.offset), rest));
        let usable: Vec<usize> = (0..k).filter(|&a| !g.vanishes_modulo_prime(r[a])).collect();
        let constant = |e: Expr| is_constant(model, e);
        let Some(&last) = usable.last() else { return };
        // NOTE: the last declared velocity with a constant coefficient is the dependent one.
        if let Some(&j) = usable.iter().rev().find(|&&a| constant(r[a])) {
            return self.divide(j, &r, s);
        }
        for (x, &i) in usable.iter().enumerate() {
            for &j in &usable[x + 1..] {
                let c = g.simplify(g.add(g.mul(r[i], r[i]), g.mul(r[j], r[j])));
                if constant(c) && !g.vanishes_modulo_prime(c) {
                    return self.turn(i, j, &r, s, c);
                }
            }
        }
        self.pivots.push(r[last]);
        self.divide(last, &r, s);
    }

    /// $p_j = -(s + \sum_{l\ne j} r_l p_l)/r_j$
    fn divide(&mut self, j: usize, r: &[Expr], s: Expr) {
        let g = self.g;
        let ratio: Vec<Expr> = r.iter().map(|&x| g.simplify(g.neg(g.div(x, r[j])))).collect();
        let fixed = g.simplify(g.neg(g.div(s, r[j])));
        for (row, b) in self.basis.iter_mut().zip(&mut self.offset) {
            let factor = row[j];
            *b = g.add(*b, g.mul(factor, fixed));
            for l in (0..r.len()).filter(|&l| l != j) {
                row[l] = g.add(row[l], g.mul(factor, ratio[l]));
            }
            row.remove(j);
        }
        self.definitions.remove(j);
    }

    /// $p_i = r_j u - r_i\sigma/c$ and $p_j = -r_i u - r_j\sigma/c$ with $\sigma = s + \sum_{l\ne i,j} r_l p_l$; $u$ takes the place of $p_i$.
    fn turn(&mut self, i: usize, j: usize, r: &[Expr], s: Expr, c: Expr) {
        let g = self.g;
        for (row, b) in self.basis.iter_mut().zip(&mut self.offset) {
            let (x, y) = (row[i], row[j]);
            // What σ is multiplied by.
            let weight = g.neg(g.div(g.add(g.mul(x, r[i]), g.mul(y, r[j])), c));
            *b = g.add(*b, g.mul(weight, s));
            for l in (0..r.len()).filter(|&l| l != i && l != j) {
                row[l] = g.add(row[l], g.mul(weight, r[l]));
            }
            row[i] = g.sub(g.mul(x, r[j]), g.mul(y, r[i]));
            row.remove(j);
        }
        let (di, dj) = (self.definitions[i], self.definitions[j]);
        let turned = g.sub(g.mul(r[j], di), g.mul(r[i], dj));
        self.definitions[i] = g.simplify(g.div(turned, c));
        self.definitions.remove(j);
    }

    fn named(self, model: &Model) -> QuasiVelocities {
        let g = self.g;
        let taken = |name: &str| {
            model.coordinates.iter().any(|c| c.name == name)
                || model.parameters.iter().any(|p| p.name == name)
                || model.abbreviations.iter().any(|(n, _)| n == name)
        };
        let stem = ["u", "w", "quasi", "quasi_velocity"];
        let count = self.definitions.len();
        let free = |s: &&str| (1..=count).all(|a| !taken(&format!("{s}{a}")));
        let stem = stem.iter().find(|s| free(s)).copied().unwrap_or("quasi_velocity_");
        let symbol = |order: u8| {
            (1..=count)
                .map(|a| g.symbol(&format!("{stem}{a}"), Role::Coordinate { order }))
                .collect::<Vec<Expr>>()
        };
        QuasiVelocities {
            symbols: symbol(0),
            rates: symbol(1),
            definitions: self.definitions,
            basis: self
                .basis
                .iter()
                .map(|row| row.iter().map(|&e| g.simplify(e)).collect())
                .collect(),
            offset: self.offset.iter().map(|&e| g.simplify(e)).collect(),
            pivots: self.pivots,
        }
    }
}

/// Whether an expression contains nothing that moves.
fn is_constant(model: &Model, e: Expr) -> bool {
    let g = &model.graph;
    let mut moving = model.positions();
    moving.push(model.time);
    !g.contains(e, &moving) || g.gradient(e, &moving).iter().all(|&d| g.is_zero(d))
}
