//! The distribution of the admissible velocities: its rank, and whether a constraint comes from positions alone.
//!
//! Constraints linear or affine in the velocities are one-forms $\omega^a = A^a_i\,dq^i + a^a\,dt$. Their
//! common kernel, closed under Lie brackets, is
//! $\bar D$; a constraint is integrable (by itself or with the help of the others, with any integrating
//! factor) exactly when $\omega^a$ vanishes on $\bar D$
//! (Frobenius). The fields come from the elimination in `reduction`, the one that motions are integrated with.

use pfaff_expr::{Expr, Graph, ZeroTest};
use pfaff_model::Workspace;

use crate::equations::Class;
use crate::equations::Equations;
use crate::reduction::kernel;

/// What is generically true of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Independent constraints.
    pub constraints: usize,
    /// $n$ − independent constraints.
    pub degrees_of_freedom: usize,
    /// Whether (K) determines the accelerations.
    pub regular: bool,
}

/// Ranks at a generic point, by values modulo a prime.
pub fn ranks(model: &Workspace, equations: &Equations) -> Ranks {
    let (g, n) = (&model.graph, model.coordinates.len());
    let constraints = g.rank(&equations.jacobian);
    let independent = g.independent_rows(&equations.jacobian);
    let m = independent.len();
    let mut saddle = Vec::new();
    for i in 0..n {
        let reactions = independent.iter().map(|&a| equations.directions[a][i]);
        saddle.push(equations.mass[i].iter().copied().chain(reactions).collect::<Vec<_>>());
    }
    for &a in &independent {
        let zeros = std::iter::repeat_n(g.zero(), m);
        saddle.push(equations.jacobian[a].iter().copied().chain(zeros).collect());
    }
    let regular = g.rank(&saddle) == n + m;
    Ranks { constraints, degrees_of_freedom: n - constraints, regular }
}

/// For each constraint: does it come from positions alone? `None` where that could not be decided.
pub fn integrable(model: &Workspace, equations: &Equations) -> Vec<Option<bool>> {
    let g = &model.graph;
    if equations.classes.iter().all(|class| *class == Class::Holonomic) {
        return vec![Some(true); equations.classes.len()];
    }
    let distribution = PfaffianSystem::of(model, equations);
    let closure = g.merging(|| distribution.closure(g));
    equations
        .classes
        .iter()
        .enumerate()
        .map(|(a, class)| match class {
            Class::Holonomic => Some(true),
            Class::Linear | Class::Affine => {
                let row = distribution.owners.iter().position(|&o| o == a)?;
                g.merging(|| closure.is_annihilated_by(g, &distribution.forms[row]))
            }
            Class::Nonlinear => is_curved(model, equations, a).then_some(false),
            Class::Memory => None,
        })
        .collect()
}

/// The one-forms of the constraints that are linear or affine in the velocities, and the fields that they annihilate.
pub(crate) struct PfaffianSystem {
    /// $t$ where it enters, and $q$
    pub(crate) variables: Vec<Expr>,
    /// $\omega^a$ by components
    pub(crate) forms: Vec<Vec<Expr>>,
    /// Which constraint each form belongs to.
    pub(crate) owners: Vec<usize>,
    /// A basis of $D$, by components
    pub(crate) fields: Vec<Vec<Expr>>,
}

/// $\bar D$, or as much of it as was found.
pub(crate) struct Closure {
    pub(crate) fields: Vec<Vec<Expr>>,
    /// Whether the fields span it: where brackets grow beyond reason the rest is left open.
    pub(crate) is_whole: bool,
}

impl PfaffianSystem {
    /// Holonomic constraints count by their differentials.
    pub(crate) fn of(model: &Workspace, equations: &Equations) -> Self {
        let g = &model.graph;
        let still: Vec<(Expr, Expr)> =
            model.velocities().into_iter().map(|v| (v, g.zero())).collect();
        let (mut forms, mut owners) = (Vec::new(), Vec::new());
        for (a, class) in equations.classes.iter().enumerate() {
            if matches!(class, Class::Holonomic | Class::Linear | Class::Affine) {
                let mut form = g.substitute(&[equations.residual[a]], &still);
                form.extend(g.substitute(&equations.jacobian[a], &still));
                forms.push(form);
                owners.push(a);
            }
        }
        let mut variables = vec![model.time];
        variables.extend(model.positions());
        let timely = forms.iter().flatten().any(|&e| g.contains(e, &[model.time]))
            || forms.iter().any(|f| !g.vanishes_modulo_prime(f[0]));
        if !timely {
            variables.remove(0);
            forms.iter_mut().for_each(|f| *f = f.split_off(1));
        }
        let parameters: Vec<(Expr, f64)> =
            model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
        let fields = kernel(g, &forms, &parameters);
        Self { variables, forms, owners, fields }
    }

    /// Brackets of the fields with those found last, layer by layer, until nothing new comes.
    pub(crate) fn closure(&self, g: &Graph) -> Closure {
        /// Nodes that brackets may add before the question is left open: about 0.1 s.
        const BUDGET: usize = 100_000;
        self.closure_within(g, BUDGET)
    }

    /// Fields that span $\bar D$; `None` where the question is left open.
    pub(crate) fn whole_closure(&self, g: &Graph) -> Option<Vec<Vec<Expr>>> {
        let closure = self.closure(g);
        closure.is_whole.then_some(closure.fields)
    }

    fn closure_within(&self, g: &Graph, budget: usize) -> Closure {
        let size = g.len();
        let mut fields = self.fields.clone();
        let mut layer = 0..fields.len();
        while !layer.is_empty() && fields.len() < self.variables.len() {
            let known = fields.len();
            let mut candidates = fields.clone();
            for next in layer {
                for x in &self.fields {
                    candidates.push(lie_bracket(g, x, &fields[next], &self.variables));
                    if g.len() - size > budget {
                        return Closure { fields, is_whole: false };
                    }
                }
            }
            // The rank sees identities between functions: a field too many would end the search too early.
            let new = g.independent_rows(&candidates).into_iter().filter(|&i| i >= known);
            fields.extend(new.map(|i| candidates[i].clone()));
            layer = known..fields.len();
        }
        Closure { fields, is_whole: true }
    }
}

impl Closure {
    /// $\omega(X) = 0$ for all $X$ in $\bar D$?
    pub(crate) fn is_annihilated_by(&self, g: &Graph, form: &[Expr]) -> Option<bool> {
        let values: Vec<Vec<Expr>> =
            self.fields.iter().map(|field| vec![g.dot(form, field)]).collect();
        let tested = |value: &Vec<Expr>| g.zero_test(value[0]);
        // One field on which it does not vanish is enough; to vanish on all, all are needed.
        match g.independent_rows(&values).first() {
            Some(&i) => matches!(tested(&values[i]), ZeroTest::Nonzero { .. }).then_some(false),
            None if self.is_whole => {
                values.iter().all(|value| tested(value) == ZeroTest::Zero).then_some(true)
            }
            None => None,
        }
    }
}

/// $[X, Y]^i = X^j\partial_j Y^i - Y^j\partial_j X^i$
pub(crate) fn lie_bracket(g: &Graph, x: &[Expr], y: &[Expr], variables: &[Expr]) -> Vec<Expr> {
    let along = |field: &[Expr]| -> Vec<(Expr, Expr)> {
        variables.iter().copied().zip(field.iter().copied()).collect()
    };
    let (dy, dx) = (g.directional(y, &along(x)), g.directional(x, &along(y)));
    dy.into_iter().zip(dx).map(|(a, b)| g.sub(a, b)).collect()
}

/// Whether the velocities that a nonlinear constraint allows bend somewhere: then it is no $d\varphi(t,q)/dt$
/// in disguise.
///
/// At a point with $\psi = 0$ found by Newton's iteration, $\tau^\top\psi_{\dot q\dot q}\,\tau \ne 0$ for
/// some $\tau$ with $\psi_{\dot q}\cdot\tau = 0$.
fn is_curved(model: &Workspace, equations: &Equations, a: usize) -> bool {
    let g = &model.graph;
    let v = model.velocities();
    let n = v.len();
    let ψ = equations.residual[a];
    let mut outputs = vec![ψ];
    outputs.extend(&equations.jacobian[a]);
    outputs.extend(g.merging(|| g.hessian(ψ, &v)).into_iter().flatten());
    let parameters = model.parameters.iter().map(|p| (p.symbol, p.value));
    let known: Vec<(Expr, f64)> = parameters.collect();
    for attempt in 0..8_u64 {
        let start = |e: Expr| scatter([e.index() as u64, attempt]);
        let mut velocity: Vec<f64> = v.iter().map(|&e| start(e)).collect();
        for _ in 0..60 {
            let at = |e: Expr| {
                let given = known.iter().find(|(s, _)| *s == e).map(|(_, x)| *x);
                let moving = v.iter().position(|&s| s == e).map(|i| velocity[i]);
                given.or(moving).unwrap_or_else(|| start(e))
            };
            let values = g.evaluate(&outputs, &at);
            let (value, slope, bend) = (values[0], &values[1..=n], &values[n + 1..]);
            let square: f64 = slope.iter().map(|s| s * s).sum();
            if value.abs() < 1e-12 * (1.0 + square) {
                return bends(slope, bend, n);
            }
            for (x, s) in velocity.iter_mut().zip(slope) {
                *x -= value * s / square;
            }
        }
    }
    false
}

/// Whether the quadratic form is not zero on the plane orthogonal to the slope.
fn bends(slope: &[f64], bend: &[f64], n: usize) -> bool {
    let square: f64 = slope.iter().map(|s| s * s).sum();
    let project = |k: usize| -> Vec<f64> {
        (0..n).map(|i| f64::from(u8::from(i == k)) - slope[i] * slope[k] / square).collect()
    };
    let scale = bend.iter().fold(0.0_f64, |m, b| m.max(b.abs()));
    let tangents: Vec<Vec<f64>> = (0..n).map(project).collect();
    let form = |x: &[f64], y: &[f64]| -> f64 {
        (0..n).map(|i| (0..n).map(|j| x[i] * bend[i * n + j] * y[j]).sum::<f64>()).sum()
    };
    // Rounding of a sum of n² products is far below 1e-9 of the largest entry.
    tangents.iter().any(|x| tangents.iter().any(|y| form(x, y).abs() > 1e-9 * scale))
}

/// A number between 0 and 1 that looks random and depends on the seeds alone.
fn scatter(seeds: [u64; 2]) -> f64 {
    let mixed = seeds.into_iter().fold(0x5bd1_e995_9e37_79b9_u64, |mixed, seed| {
        let mixed = (mixed ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    });
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    /// A form of two planes and of none: what lies across the slope counts, and nothing along it.
    #[test]
    fn forms_bend_on_the_plane_across_the_slope() {
        let first = [1.0, 0.0, 0.0, 0.0];
        assert!(bends(&[0.0, 2.0], &first, 2));
        assert!(!bends(&[2.0, 0.0], &first, 2));
        let last = [0.0, 0.0, 0.0, 1.0];
        assert!(bends(&[2.0, 0.0], &last, 2) && !bends(&[0.0, 2.0], &last, 2));
        // x₀x₁ in three dimensions, and x₁x₂.
        let mut mixed = [0.0; 9];
        (mixed[1], mixed[3]) = (1.0, 1.0);
        assert!(bends(&[0.0, 0.0, 1.0], &mixed, 3) && !bends(&[1.0, 0.0, 0.0], &mixed, 3));
        let mut mixed = [0.0; 9];
        (mixed[5], mixed[7]) = (1.0, 1.0);
        assert!(bends(&[1.0, 0.0, 0.0], &mixed, 3) && !bends(&[0.0, 0.0, 1.0], &mixed, 3));
        assert!(!bends(&[1.0, 1.0], &[0.0; 4], 2));
    }

    /// The fields of $dz = y^2\,dx$ and a budget of nodes: the closure is whole as long as brackets stay within it.
    #[test]
    fn brackets_beyond_the_budget_leave_the_closure_open() {
        let closed = |budget: usize| {
            let g = Graph::new();
            let variables: Vec<Expr> =
                ["x", "y", "z"].iter().map(|n| g.symbol(n, Role::Free)).collect();
            let square = g.mul(variables[1], variables[1]);
            let fields =
                vec![vec![g.one(), g.zero(), square], vec![g.zero(), g.one(), g.zero()]];
            let form = vec![g.neg(square), g.zero(), g.one()];
            let forms = vec![form.clone()];
            let system = PfaffianSystem { variables, forms, owners: vec![0], fields };
            let before = g.len();
            let closure = system.closure_within(&g, budget);
            let told = closure.is_annihilated_by(&g, &form);
            (closure.is_whole, closure.fields.len(), told, g.len() - before)
        };
        let (whole, count, told, _) = closed(usize::MAX);
        assert_eq!((whole, count, told), (true, 3, Some(false)));
        let least = (0..1_000).find(|&budget| closed(budget).0).expect("few nodes");
        // The closure adds no node after its last bracket.
        let g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
        let square = g.mul(y, y);
        let (a, b) = ([g.one(), g.zero(), square], [g.zero(), g.one(), g.zero()]);
        let form = [g.neg(square), g.zero(), g.one()];
        let before = g.len();
        for (p, q) in [(&a, &a), (&b, &a), (&a, &b), (&b, &b)] {
            lie_bracket(&g, p, q, &[x, y, z]);
        }
        assert_eq!((least, form.len()), (g.len() - before, 3));
        let (whole, count, told, _) = closed(least - 1);
        assert_eq!((whole, count, told), (false, 2, None), "too little to say");
    }
}
