//! Elimination of the multipliers: independent quasi-velocities, and accelerations and multipliers as expressions.
//!
//! Constraints linear or affine in the velocities are solved by $\dot q = B(t,q)\,u + b(t,q)$ with
//! independent $u$. As $AB = 0$, the reaction $A^\top\lambda$ drops out of
//!
//! $$ B^\top M B\,\dot u = B^\top(f - M\gamma), \qquad \gamma = \Big(\tfrac{\partial}{\partial q}(Bu +
//! b)\Big)(Bu + b) + \partial_t(Bu + b) . \qquad (\mathrm U) $$
//!
//! $B$, $b$ and $u$ come from the elimination in `reduction`, the one that motions are integrated with;
//! holonomic constraints enter as their rates. For any class, (K) itself solved by elimination gives $\ddot
//! q(q,\dot q,t)$ and $\lambda(q,\dot q,t)$ \[TZ06, (18)–(19) with $\partial f/\partial\dot q$ for
//! $\partial\tilde f/\partial\dot q$\].

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::Workspace;

use crate::algebra::elimination::solve_linear;
use crate::equations::Class;
use crate::equations::Equations;
use crate::reduction::in_names::in_names_if_long;
use crate::reduction::natural::natural;
use crate::reduction::{ConstraintRows, VelocityBasis, basis};

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
    /// Coefficients that were divided by and are not constant: the quasi-velocities are valid where none of
    /// them vanishes.
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
pub struct ExplicitSolution {
    /// $\ddot q(q, \dot q, t)$
    pub accelerations: Vec<Expr>,
    /// $\lambda(q, \dot q, t)$, or $\dot\mu(q, \dot q, \mu, t)$; zero for constraints that repeat others.
    pub multipliers: Vec<Expr>,
}

/// The largest system whose elimination is written out.
const LARGEST: usize = 16;

/// The quasi-velocities of a model; `None` where a constraint is not linear or affine in the velocities, or
/// constraints contradict each other.
pub fn quasi_velocities(model: &Workspace, equations: &Equations) -> Option<QuasiVelocities> {
    let rows: Vec<usize> = (0..equations.residual.len()).collect();
    let zeros = vec![model.graph.zero(); rows.len()];
    Some(independent_and_constrained(model, equations, &rows, &zeros)?.0)
}

/// The quasi-velocities that some constraints leave, where these are $A\dot q + a = s$ with the given $s$, and
/// $\partial\dot q/\partial s$ by columns; the constraints must be independent where $s$ is not zero.
pub(crate) fn independent_and_constrained(
    model: &Workspace,
    equations: &Equations,
    chosen: &[usize],
    s: &[Expr],
) -> Option<(QuasiVelocities, Vec<Vec<Expr>>)> {
    let affine = [Class::Holonomic, Class::Linear, Class::Affine];
    if !equations.classes.iter().all(|c| affine.contains(c)) {
        return None;
    }
    let g = &model.graph;
    let parameters: Vec<(Expr, f64)> =
        model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
    let v = model.velocities();
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    // A q̇ + a, coefficient by coefficient: as written, sums of bodies would be carried along.
    let linear = |(&a, &s): (&usize, &Expr)| {
        let row = g.substitute(&equations.jacobian[a], &still);
        let rest = g.substitute(&[equations.residual[a]], &still)[0];
        g.as_written(|| g.add(g.dot(&row, &v), g.sub(rest, s)))
    };
    let rows: Vec<Expr> = chosen.iter().zip(s).map(linear).collect();
    let rows = ConstraintRows { velocities: &v, written: &rows, known: &parameters };
    let VelocityBasis { forms, columns, offset, pivots } = basis(g, rows)?;
    let simple = |es: &[Expr]| es.iter().map(|&e| g.simplify(e)).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = columns.iter().map(|c| simple(c)).collect();
    let row = |i: usize| columns.iter().map(|c| c[i]).collect();
    let free = s.iter().filter(|&&s| s != g.zero());
    let across = free.clone().map(|&s| simple(&g.directional(&offset, &[(s, g.one())])));
    let across = across.collect();
    let held: Vec<(Expr, Expr)> = free.map(|&s| (s, g.zero())).collect();
    let quasi = QuasiVelocities {
        symbols: named(model, forms.len(), 0),
        rates: named(model, forms.len(), 1),
        definitions: simple(&forms),
        basis: (0..offset.len()).map(row).collect(),
        offset: simple(&g.substitute(&offset, &held)),
        pivots: simple(&pivots),
    };
    let quasi = natural(model, equations, &quasi).unwrap_or(quasi);
    Some((quasi, across))
}

/// Symbols for quasi-velocities, or their rates, with names that the model leaves free.
fn named(model: &Workspace, count: usize, order: u8) -> Vec<Expr> {
    let taken = |name: &str| {
        model.coordinates.iter().any(|c| c.name == name)
            || model.parameters.iter().any(|p| p.name == name)
            || model.abbreviations.iter().any(|(n, _)| n == name)
    };
    // NOTE: u1 beside the components u[1] of a vector would be read as one of them.
    let is_vector = |stem: &str| {
        let begins = |name: &str| name.strip_prefix(stem).is_some_and(|s| s.starts_with('['));
        model.coordinates.iter().any(|c| begins(&c.name))
            || model.parameters.iter().any(|p| begins(&p.name))
            || model.abbreviations.iter().any(|(name, _)| begins(name))
    };
    let free = |s: &&str| !is_vector(s) && (1..=count).all(|a| !taken(&format!("{s}{a}")));
    let stems = ["u", "w", "nu", "quasi", "quasi_velocity"];
    let stem = stems.iter().find(|s| free(s)).copied().unwrap_or("quasi_velocity_");
    let symbol =
        |a: usize| model.graph.symbol(&format!("{stem}{a}"), Role::Coordinate { order });
    (1..=count).map(symbol).collect()
}

/// The equations (U) of blocks under Chetaev's or the vakonomic principle; `None` also where `along` keeps
/// the reaction in them.
pub fn reduced_equations(model: &Workspace, e: &Equations) -> Option<ReducedEquations> {
    Some(as_derived(model, e)?.simplified(&model.graph))
}

/// As [`reduced_equations`]; what is long is written in the vectors that the text names, where these give polynomials.
pub fn reduced_in_names(model: &Workspace, e: &Equations) -> Option<ReducedEquations> {
    Some(as_derived(model, e)?.in_names_or_simplified(model, &[]).0)
}

/// (U) before anything is simplified in its blocks.
pub(crate) fn as_derived(model: &Workspace, e: &Equations) -> Option<ReducedEquations> {
    if !e.has_chetaev_reactions() {
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
    let reduced =
        columns.iter().map(|x| carried.iter().map(|y| g.dot(x, y)).collect()).collect();
    let force = columns.iter().map(|x| g.dot(x, &left)).collect();
    Some(ReducedEquations { quasi, velocities, mass: reduced, force })
}

impl ReducedEquations {
    /// In the vectors that the text names, where the blocks are long and these give polynomials, else simplified; with
    /// other functions of $(q, u, t)$ in the same words.
    pub(crate) fn in_names_or_simplified(
        self,
        model: &Workspace,
        others: &[Expr],
    ) -> (Self, Vec<Expr>) {
        let g = &model.graph;
        let k = self.force.len();
        let all = [self.mass.concat(), self.force.clone(), others.to_vec()].concat();
        let named = in_names_if_long(model, &self.quasi.symbols, &self.velocities, &all);
        let Some(mut named) = named else {
            let others = others.iter().map(|&x| g.simplify(x)).collect();
            return (self.simplified(g), others);
        };
        let others = named.split_off(k * k + k);
        let force = named.split_off(k * k);
        let mass = named.chunks(k.max(1)).map(<[Expr]>::to_vec).collect();
        (Self { mass, force, ..self }, others)
    }

    /// $Bu + b$; what is long is written in the vectors that the text names.
    pub fn velocities_in_names(&self, model: &Workspace) -> Vec<Expr> {
        let g = &model.graph;
        let is_rate = |&s: &Expr| {
            let role = g.symbol_of(s).map(|s| s.role);
            matches!(role, Some(Role::Coordinate { order }) if order > 0)
        };
        let words = |v: Expr| {
            let named =
                in_names_if_long(model, &self.quasi.symbols, &self.velocities, &[v])?[0];
            // NOTE: rates of names are what velocities give.
            (!g.symbols(&[named]).iter().any(is_rate)).then_some(named)
        };
        let short = |&v: &Expr| words(v).unwrap_or(v);
        self.velocities.iter().map(short).collect()
    }

    fn simplified(mut self, g: &Graph) -> Self {
        for entry in self.mass.iter_mut().flatten().chain(&mut self.force) {
            *entry = g.simplify(*entry);
        }
        self
    }
}

/// (K) solved by elimination and simplified; `None` where it is singular everywhere, or too large to be written out.
pub fn explicit(model: &Workspace, e: &Equations) -> Option<ExplicitSolution> {
    let g = &model.graph;
    let ExplicitSolution { accelerations, multipliers } = solved(model, e)?;
    let simple = |es: Vec<Expr>| es.into_iter().map(|x| g.simplify(x)).collect();
    Some(ExplicitSolution {
        accelerations: simple(accelerations),
        multipliers: simple(multipliers),
    })
}

/// As [`explicit`], with the intermediate results of the elimination shared and nothing simplified.
pub(crate) fn solved(model: &Workspace, e: &Equations) -> Option<ExplicitSolution> {
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
    let solution: Vec<Expr> = solution.iter().map(|x| x[0]).collect();
    let mut multipliers = vec![g.zero(); e.jacobian.len()];
    for (&a, &λ) in rows.iter().zip(&solution[n..]) {
        multipliers[a] = λ;
    }
    Some(ExplicitSolution { accelerations: solution[..n].to_vec(), multipliers })
}

/// $\dot q(q, p, t)$ and the constraints with it inserted; the symbols are $p$ \[TZ06, (14)–(15)\]. `None`
/// unless the Lagrangian is quadratic with a regular mass.
pub fn canonical(
    model: &Workspace,
    e: &Equations,
    p: &[Expr],
) -> Option<(Vec<Expr>, Vec<Expr>)> {
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
