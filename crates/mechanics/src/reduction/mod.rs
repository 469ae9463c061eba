//! From a Lagrangian and constraints linear or affine in the velocities to independent quasi-velocities.
//!
//! $$ \dot q = B(q,t)\,u + b(q,t), \qquad B^\top M B\;\dot u = r(q,u,t) \qquad (\mathrm R) $$
//!
//! with $A B = 0$ and $A b + a = 0$ identically, so that the constraints hold exactly. $B$ is never formed:
//! velocities are expressions of shared nodes
//! ([`eliminate`]), and one forward pass over $L$ gives the mass and Euler's operator along the columns of
//! $B$ ([`motion`]). A chain of $N$ bodies so costs
//! $O(N)$. Views for people take the same elimination with $B$ and $b$ written out ([`mod@basis`]), holonomic
//! rows as their rates.
//!
//! Which expressions are zero, constant or equal is decided by exact values modulo a prime, in a graph of its
//! own: the user's own nodes stay as written.

mod basis;
pub(crate) mod chaplygin;
mod eliminate;
mod euler_pass;
mod factors;
mod forms;
mod in_names;
mod mentions;
mod multipliers;
mod natural;
pub(crate) mod reduced;
mod shorten;
mod solve;

use pfaff_expr::{Expr, Graph, Node, Role};
use pfaff_model::{Dynamics, Workspace};
use rustc_hash::FxHashMap;

use crate::equations::Class;
pub(crate) use basis::{VelocityBasis, basis, kernel};
pub use chaplygin::{Chaplygin, chaplygin, chaplygin_of_constraints};
pub(crate) use eliminate::ConstraintRows;
use eliminate::{Eliminated, eliminate};
use euler_pass::EulerPass;
pub use factors::{SaddleSolution, solve_saddle};
pub(crate) use in_names::in_names_if_long;
pub use multipliers::Multipliers;
pub use reduced::{
    ExplicitSolution, QuasiVelocities, ReducedEquations, canonical, explicit, quasi_velocities,
    reduced_equations, reduced_in_names,
};
pub(crate) use reduced::{as_derived, independent_and_constrained};

/// What a model states, as the reduction reads it: a graph that nothing was derived in yet.
#[derive(Clone, Debug)]
pub struct LagrangianData {
    graph: Graph,
    time: Expr,
    positions: Vec<Expr>,
    velocities: Vec<Expr>,
    lagrangian: Expr,
    /// $Q$, all forces that are not in $L$
    force: Vec<Expr>,
    /// $\varphi$
    rows: Vec<Expr>,
    parameters: Vec<(Expr, f64)>,
}

/// Where charts are chosen.
#[derive(Clone, Copy, Debug)]
pub struct ChartPoint<'a> {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: &'a [f64],
    /// $1/\sqrt{M_{jj}}$ there, by which coefficients are compared; none means all alike.
    pub scale: &'a [f64],
}

/// The reduced equations (R). Expressions live in `graph`, over $t$, $q$, $u$ and, where it is said, $\dot u$.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// All expressions.
    pub graph: Graph,
    /// $t$
    pub time: Expr,
    /// $q$
    pub positions: Vec<Expr>,
    /// $u$, as symbols
    pub independent: Vec<Expr>,
    /// $\dot u$, as symbols
    pub independent_rates: Vec<Expr>,
    /// $u(q,\dot q,t)$: what each quasi-velocity is, over the symbols of $\dot q$
    pub forms: Vec<Expr>,
    /// The symbols of $\dot q$ in `forms`.
    pub velocity_symbols: Vec<Expr>,
    /// $\dot q = B u + b$
    pub velocities: Vec<Expr>,
    /// $B^\top M B$, its lower triangle by rows
    pub mass: Vec<Expr>,
    /// $r$
    pub force: Vec<Expr>,
    /// $\dot u$ with the solve written out, where there are few unknowns.
    pub rates: Option<Vec<Expr>>,
    /// $P_0, P_1, \dots, P_k$: the power of forces, explicit time and reactions is $P_0 + \sum_a P_a\dot u_a$
    pub power: Vec<Expr>,
    /// Pivots that may vanish, each with what could stand in its place.
    pub charts: Vec<PivotChart>,
    /// The columns that were solved for, row by row: two reductions with the same are the same.
    pub pivots: Vec<Vec<usize>>,
    /// Rows that follow from the ones before.
    pub redundant: Vec<usize>,
    /// Expressions in the order in which the Lagrangian adds them up: evaluated in this order, what belongs
    /// to one body stays together.
    pub order: Vec<Expr>,
    rows: Vec<eliminate::SolvedRow>,
    lagrangian: Expr,
    given: Vec<Expr>,
    written: Vec<Expr>,
}

/// A coefficient that was divided by although it may vanish.
#[derive(Clone, Debug)]
pub struct PivotChart {
    /// The constraint; none where the model's own forms are the quasi-velocities and their independence is watched.
    pub row: Option<usize>,
    /// Which of the candidates is the pivot.
    pub pivot: usize,
    /// All coefficients of the row that could be, over $t$ and $q$.
    pub candidates: Vec<Expr>,
    /// By what each is multiplied before they are compared.
    pub scale: Vec<f64>,
}

/// How far apart the model's own forms must be to become quasi-velocities: well above where charts are left.
const APART: f64 = 0.7;
/// Unknowns up to which the solve is written out: beyond, a numeric factorisation is no slower.
const WRITTEN_OUT: usize = 8;

/// The reduced equations of a model, charts chosen at a point.
///
/// `None` where the form does not apply: see [`LagrangianData::of`] and [`LagrangianData::reduce`].
pub fn reduce(
    model: &Workspace,
    classes: &[Class],
    point: ChartPoint<'_>,
) -> Option<Reduction> {
    LagrangianData::of(model)?.reduce(classes, point)
}

impl LagrangianData {
    /// The same with other values of parameters.
    #[must_use]
    pub fn with_parameters(self, parameters: Vec<(Expr, f64)>) -> Self {
        Self { parameters, ..self }
    }

    /// What the model states; `None` without a Lagrangian, with memory, or with reactions that are not those
    /// of Chetaev.
    pub fn of(model: &Workspace) -> Option<Self> {
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
        let g = &model.graph;
        let force: Vec<Expr> = (0..model.coordinates.len())
            .map(|k| g.sum(model.forces.iter().map(|f| f.components[k])))
            .collect();
        let rows: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
        let ideal = model.constraints.iter().all(|c| c.along.is_none());
        let has_memory = |es: &[Expr]| es.iter().any(|&e| g.has_memory(e));
        if !ideal || has_memory(&force) || has_memory(&rows) || g.has_memory(lagrangian) {
            return None;
        }
        Some(Self {
            time: model.time,
            positions: model.positions(),
            velocities: model.velocities(),
            lagrangian,
            force,
            rows,
            parameters: model.parameters.iter().map(|p| (p.symbol, p.value)).collect(),
            graph: g.clone(),
        })
    }

    /// The reduced equations, charts chosen at a point.
    ///
    /// `None` if a constraint is neither linear nor affine in the velocities, if the rows contradict each
    /// other, or if no coefficient of a row can be
    /// divided by at the point. The free velocities are $u$, or the forms that the model itself uses where
    /// that is shorter.
    pub fn reduce(&self, classes: &[Class], point: ChartPoint<'_>) -> Option<Reduction> {
        let flat = |c: &Class| matches!(c, Class::Linear | Class::Affine);
        if classes.len() != self.rows.len() || !classes.iter().all(flat) {
            return None;
        }
        let (graph, eliminated) = self.eliminated(&[], point)?;
        let forms = forms::suggest(self, eliminated.independent.len());
        let has_pairs = eliminated.rows.iter().any(|row| row.columns().len() == 2);
        if forms.is_empty() || has_pairs {
            return Some(self.completed(graph, eliminated)?.0);
        }
        let own = self.eliminated(&forms, point).and_then(|(g, e)| self.completed(g, e));
        let (own, light) = own.map_or((None, false), |(own, light)| (Some(own), light));
        // NOTE: where nothing is left to be solved the plain form need not be looked at, which takes as long again.
        if light {
            let own = own.and_then(|own| self.watched(own, point));
            return own.or_else(|| Some(self.completed(graph, eliminated)?.0));
        }
        let plain = self.completed(graph, eliminated)?.0;
        let own = own.filter(|own| own.operations() < plain.operations());
        Some(own.and_then(|own| self.watched(own, point)).unwrap_or(plain))
    }

    /// Forms of the model as $u$, to be left before they depend on each other; `None` if they nearly do at the point.
    fn watched(&self, mut own: Reduction, point: ChartPoint<'_>) -> Option<Reduction> {
        let g = &own.graph;
        // Another form of the equations with the same columns solved for.
        own.pivots.push(Vec::new());
        let Some(spread) = forms::spread(g, &own.mass, own.independent.len()) else {
            return Some(own);
        };
        let mut values: FxHashMap<Expr, f64> = self.known(point).into_iter().collect();
        let is_apart = !g.contains(spread, &own.independent)
            && g.evaluate_further(spread, &mut values) >= APART;
        let candidates = vec![spread, g.one()];
        own.charts.push(PivotChart { row: None, pivot: 0, candidates, scale: vec![1.0; 2] });
        is_apart.then_some(own)
    }

    /// The constraints solved, in a graph of their own, with these forms as $u$ (none: the free velocities).
    fn eliminated(&self, forms: &[Expr], point: ChartPoint<'_>) -> Option<(Graph, Eliminated)> {
        let graph = self.graph.clone();
        let known = self.known(point);
        let rows =
            ConstraintRows { velocities: &self.velocities, written: &self.rows, known: &known };
        let eliminated = graph.merging(|| eliminate(rows, &graph, forms, Some(point.scale)))?;
        Some((graph, eliminated))
    }

    /// The equations for solved constraints, and whether their mass needed no elimination.
    fn completed(&self, graph: Graph, eliminated: Eliminated) -> Option<(Reduction, bool)> {
        let (made, light) = graph.merging(|| self.assemble(&graph, eliminated));
        let symbols = graph.symbols(&made.outputs());
        let closed = self.velocities.iter().all(|v| symbols.binary_search(v).is_err());
        closed.then_some((Reduction { graph, ..made }, light))
    }

    /// The values of $t$, $q$ and the parameters at a point.
    fn known(&self, point: ChartPoint<'_>) -> Vec<(Expr, f64)> {
        let positions = self.positions.iter().copied().zip(point.q.iter().copied());
        let given = self.parameters.iter().copied().chain([(self.time, point.t)]);
        given.chain(positions).collect()
    }

    fn assemble(&self, g: &Graph, eliminated: Eliminated) -> (Reduction, bool) {
        let Eliminated { rows, independent, forms, mut velocities, charts, redundant } =
            eliminated;
        let k = independent.len();
        let rates: Vec<Expr> =
            (0..k).map(|a| g.symbol(&format!("u{}'", a + 1), Role::Free)).collect();
        let still: Vec<(Expr, Expr)> = independent.iter().map(|&u| (u, g.zero())).collect();
        let mut columns: Vec<Vec<Expr>> =
            independent.iter().map(|&u| g.directional(&velocities, &[(u, g.one())])).collect();
        // b as one more direction: (EL − Q)·b is the power of the reactions.
        let affine = g.substitute(&velocities, &still);
        columns.push(affine);
        let motion = EulerPass::new(self, g, &velocities, columns);
        let mut order = Vec::new();
        let (mut mass, euler) = motion.equations(self.lagrangian, &mut order);
        // The row of b.
        let coupling = mass.split_off(k * (k + 1) / 2);
        let inserted: Vec<(Expr, Expr)> =
            self.velocities.iter().copied().zip(velocities.iter().copied()).collect();
        let given = g.substitute(&self.force, &inserted);
        let along = |a: usize| g.sub(g.dot(&motion.columns[a], &given), euler[a]);
        let mut force: Vec<Expr> = (0..k).map(along).collect();
        solve::polish(g, &independent, &velocities, &mass, &mut force);
        let explicit = g.derivative(self.lagrangian, self.time);
        let explicit = g.substitute(&[explicit], &inserted)[0];
        let own = g.sub(g.sub(g.dot(&given, &velocities), explicit), along(k));
        let mut power = vec![own];
        power.extend(&coupling[..k]);
        let solved = (k <= WRITTEN_OUT).then(|| solve::solve(g, &mass, &force));
        let light = solved.as_ref().is_some_and(|(_, light)| *light);
        let mut solved = solved.map(|(rates, _)| rates);
        let (v, p) = (&mut velocities, &mut power);
        match &mut solved {
            Some(rates) => shorten::shorten(g, &mut [v, p, rates], &mut order),
            None => shorten::shorten(g, &mut [v, p, &mut mass, &mut force], &mut order),
        }
        let reduction = Reduction {
            time: self.time,
            positions: self.positions.clone(),
            velocity_symbols: self.velocities.clone(),
            independent,
            independent_rates: rates,
            forms,
            velocities,
            mass,
            force,
            rates: solved,
            power,
            charts,
            pivots: rows.iter().map(eliminate::SolvedRow::columns).collect(),
            redundant,
            order,
            rows,
            lagrangian: self.lagrangian,
            given: self.force.clone(),
            written: self.rows.clone(),
            // The caller owns the graph and puts it here.
            graph: Graph::new(),
        };
        (reduction, light)
    }
}

impl Reduction {
    /// How many operations the right-hand side $(\dot q, \dot u)$ takes.
    pub fn operations(&self) -> usize {
        let g = &self.graph;
        let tail = self.rates.as_ref().unwrap_or(&self.force);
        let roots: Vec<Expr> = self.velocities.iter().chain(tail).copied().collect();
        g.operations(&roots)
    }

    /// How many products of two varying factors velocities and forces take.
    pub fn products(&self) -> usize {
        let g = &self.graph;
        let roots: Vec<Expr> = self.velocities.iter().chain(&self.force).copied().collect();
        let is_product =
            |&e: &Expr| matches!(g.node(e), Node::Mul(a, b) if g.varies(a) && g.varies(b));
        g.live(&roots).into_iter().filter(is_product).count()
    }

    /// Everything that is evaluated at $(t, q, u)$.
    fn outputs(&self) -> Vec<Expr> {
        let rates = self.rates.iter().flatten();
        let blocks = self.velocities.iter().chain(&self.mass).chain(&self.force);
        blocks.chain(rates).chain(&self.power).copied().collect()
    }

    /// $\ddot q = B\dot u + \beta$ over $(t, q, u, \dot u)$.
    pub fn accelerations(&self) -> Vec<Expr> {
        let g = &self.graph;
        let mut direction: Vec<(Expr, Expr)> =
            self.positions.iter().copied().zip(self.velocities.iter().copied()).collect();
        direction.push((self.time, g.one()));
        direction.extend(
            self.independent.iter().copied().zip(self.independent_rates.iter().copied()),
        );
        g.merging(|| g.directional(&self.velocities, &direction))
    }
}
