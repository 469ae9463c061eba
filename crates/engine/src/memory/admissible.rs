//! Which data a motion with memory may start from.
//!
//! At the start $D^\alpha q = 0$ for $\alpha < 1$, so a constraint $f(q, \dot q, D^\alpha q, t) = 0$ binds the velocities as it does without memory. For $1 < \alpha < 2$ it does not if
//! $\kappa = A M^{-1} b^\top / A M^{-1} A^\top \ne 0$, with $A = \partial f/\partial\dot q$ and $b = \partial f/\partial(D^\alpha q)$: then $\dot q$ is free, and $\lambda$ begins like $\tau^{\alpha-2}$.
//! For $2 < \alpha < 3$ also $A\ddot q$ is free.
//!
//! Small disturbances along $A$ grow like $e^{st}$ with $s + \kappa s^\alpha = 0$: at the rate $|\kappa|^{1/(1-\alpha)}$ if $\kappa < 0$.

use pfaff_expr::{Expr, Memory, Node, Role};
use pfaff_mechanics::{Class, Equations, derive};
use pfaff_model::{Constraint, Diagnostic, Model, Quantity, Span};
use pfaff_solver::Lu;

use crate::core::Core;
use crate::memory::plan::{combination, constant, mistake, parameter};
use crate::note::Note;
use crate::start::{NoStart, given, start};

/// A start that is admissible, and what is known of the motion there.
pub(crate) struct Admissible {
    /// $q, \dot q, \ddot q$
    pub(crate) data: Vec<[f64; 3]>,
    pub(crate) notes: Vec<Note>,
    /// The smallest exponent of $\lambda$ at the start.
    pub(crate) exponent: f64,
    /// How many decades the first step may be below the run at most.
    pub(crate) decades: f64,
    /// Constraints of an order above 2.
    pub(crate) raised: Vec<Option<Raised>>,
    /// Operators that the reaction of their own constraint does not touch, $b M^{-1} A^\top = 0$ for good: by constraint.
    pub(crate) across: Vec<Vec<Expr>>,
}

/// A constraint $\psi + b\cdot D^\alpha q = 0$ with $2 < \alpha < 3$.
#[derive(Clone, Debug)]
pub(crate) struct Raised {
    pub(crate) alpha: f64,
    /// $b$
    pub(crate) slopes: Vec<f64>,
    /// $\psi$
    pub(crate) rest: Expr,
}

/// What memory of an order above zero is to one constraint.
struct Profile {
    /// The highest order of a derivative of Caputo or Riemann and Liouville.
    alpha: f64,
    /// $b$
    slopes: Vec<f64>,
    /// The operators of that order.
    nodes: Vec<Expr>,
}

/// Finds an admissible start of a Lagrangian model.
pub(crate) fn admissible(
    model: &Model,
    equations: &Equations,
    t0: f64,
) -> Result<Admissible, Diagnostic> {
    let n = model.coordinates.len();
    let given = given(model, t0);
    let guess: Vec<[f64; 3]> =
        (0..n).map(|k| [given.q[k].unwrap_or(0.0), given.v[k].unwrap_or(0.0), 0.0]).collect();
    let mut profiles: Vec<Option<Profile>> = Vec::new();
    for (a, c) in model.constraints.iter().enumerate() {
        profiles.push(if equations.classes[a] == Class::Memory {
            Some(profile(model, c, &equations.jacobian[a], &guess, t0)?)
        } else {
            None
        });
    }
    let numbers = Numbers::new(model, equations, &guess, t0);
    let kappa: Vec<f64> = profiles
        .iter()
        .enumerate()
        .map(|(a, p)| p.as_ref().map_or(0.0, |p| numbers.kappa(a, &p.slopes)))
        .collect();
    // The model without memory whose constraints are those that bind the start.
    let zeros = |e: Expr| at_start(model, e);
    let mut forces = model.forces.clone();
    for f in &mut forces {
        f.components.iter_mut().for_each(|q| *q = zeros(*q));
    }
    let binds =
        |a: usize| profiles[a].as_ref().is_none_or(|p| p.alpha < 1.0 || kappa[a].abs() < 1e-12);
    let constraints: Vec<Constraint> = (0..model.constraints.len())
        .filter(|&a| binds(a))
        .map(|a| {
            let c = &model.constraints[a];
            Constraint { expr: zeros(c.expr), ..c.clone() }
        })
        .collect();
    // NOTE: a copy of the model has a graph of its own, so it is taken when all nodes are there.
    let mut bare = model.clone();
    bare.forces = forces;
    bare.constraints = constraints;
    bare.observed.clear();
    bare.events.clear();
    let refused = |r: pfaff_mechanics::Refusal| r.diagnostic();
    let plain = derive(&bare, equations.principle).map_err(refused)?;
    let uncompiled = |e: pfaff_program::CompileError| {
        Diagnostic::error("E0431", Span::default(), e.to_string())
    };
    let mut core = Core::new(&bare, &plain).map_err(uncompiled)?;
    let found =
        start(&bare, &mut core, t0, &given).map_err(|none| inconsistent(&bare, &none))?;
    // What constraints without memory bind is moved and noted, as without memory.
    let binding: Vec<&str> = (0..model.constraints.len())
        .filter(|&a| profiles[a].is_some() && binds(a))
        .map(|a| model.constraints[a].name.as_str())
        .collect();
    for k in 0..n {
        if let Some(value) = given.v[k]
            && (value - found.v[k]).abs() > 1e-9 * (1.0 + value.abs())
            && !binding.is_empty()
        {
            return Err(not_free(model, k, (value, found.v[k]), &binding));
        }
    }
    let mut data: Vec<[f64; 3]> = (0..n).map(|k| [found.q[k], found.v[k], f64::NAN]).collect();
    let mut notes = found.notes;
    let (mut exponent, mut decades) = (0.0_f64, 250.0_f64);
    let mut raised = vec![None; model.constraints.len()];
    let mut across = vec![Vec::new(); model.constraints.len()];
    let numbers = Numbers::new(model, equations, &data, t0);
    for (a, profile) in profiles.iter().enumerate() {
        let Some(p) = profile else { continue };
        if p.alpha == 0.0 {
            continue;
        }
        let κ = numbers.kappa(a, &p.slopes);
        let name = &model.constraints[a].name;
        let apart = κ.abs() < 1e-12 && is_steady(model, equations, a, p);
        if p.alpha > 2.0 && apart && keeps_rates(model, equations) {
            let rates = numbers.free_rates(model, equations, (&data, t0));
            let along = p.slopes.iter().zip(&rates).map(|(b, w)| b * w).sum::<f64>();
            let e = 2.0 - p.alpha;
            let factor = -along / (libm::tgamma(3.0 - p.alpha) * numbers.norm(a));
            notes.push(begins(name, factor, e, &mut exponent));
            across[a].clone_from(&p.nodes);
        } else if p.alpha > 2.0 {
            raised[a] = Some(raise(model, a, p, κ)?);
            numbers.accelerations(model, a, &mut data)?;
        } else if p.alpha > 1.0 && apart {
            across[a].clone_from(&p.nodes);
        }
        let splits = !across[a].is_empty();
        let limits = (&mut exponent, &mut decades);
        notes.extend(law(&numbers, a, p, κ, (&data, name), splits, limits));
        if κ < 0.0 && p.alpha != 1.0 {
            let rate = libm::pow(-κ, 1.0 / (1.0 - p.alpha));
            notes.push(Note::Remark(format!(
                "the motion along the constraint `{name}` is unstable: κ = {κ:.6} is negative, so that disturbances grow like exp({rate:.6} t)"
            )));
        }
    }
    Ok(Admissible { data, notes, exponent, decades, raised, across })
}

/// How $\lambda$ begins.
fn law(
    numbers: &Numbers,
    a: usize,
    p: &Profile,
    κ: f64,
    (data, name): (&[[f64; 3]], &str),
    splits: bool,
    (exponent, decades): (&mut f64, &mut f64),
) -> Option<Note> {
    let v: Vec<f64> = data.iter().map(|d| d[1]).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let norm = numbers.norm(a);
    let (factor, e) = if p.alpha < 1.0 {
        (-dot(&p.slopes, &v) / (libm::tgamma(1.0 - p.alpha) * norm), -p.alpha)
    } else if p.alpha < 2.0 && κ.abs() >= 1e-12 {
        let along = dot(&numbers.rows[a], &v);
        (-along / (κ * libm::tgamma(p.alpha - 1.0) * norm), p.alpha - 2.0)
    } else if p.alpha < 2.0 {
        let free = numbers.free(a);
        (-dot(&p.slopes, &free) / (libm::tgamma(2.0 - p.alpha) * norm), 1.0 - p.alpha)
    } else {
        return None;
    };
    // NOTE: without a·b the constraint binds the velocity through h against h^{2−α}: too short a step would drown the one in the other.
    let drowns = p.alpha > 1.0 && κ.abs() < 1e-12 && !splits;
    if drowns {
        *decades = decades.min(9.0 / (p.alpha - 1.0)).min(6.0 / (2.0 - p.alpha).max(0.1));
    }
    let mut drowned = 0.0;
    Some(begins(name, factor, e, if drowns { &mut drowned } else { exponent }))
}

/// The law by which $\lambda$ begins, in words.
fn begins(name: &str, factor: f64, e: f64, exponent: &mut f64) -> Note {
    if factor.abs() < 1e-13 {
        return Note::Remark(format!("lambda({name}) is bounded at the start"));
    }
    *exponent = exponent.min(e);
    Note::Remark(format!(
        "at the start lambda({name}) ~ {factor:.10} (t - t0)^({e}): the reaction is singular there, the motion is not"
    ))
}

/// Whether the rates of the forces contain no reaction: they depend on positions and time alone.
fn keeps_rates(model: &Model, equations: &Equations) -> bool {
    let g = &model.graph;
    let plain = |&f: &Expr| !g.remembers(f) && !g.contains(f, &model.velocities());
    equations.force.iter().all(plain)
}

/// A constraint of order between 2 and 3 in its integrated form.
fn raise(model: &Model, a: usize, p: &Profile, κ: f64) -> Result<Raised, Diagnostic> {
    let c = &model.constraints[a];
    let Some((rest, slopes)) = solved(model, c.expr, p) else {
        let text = format!(
            "the constraint `{}` is not linear in its derivative of order {}, or several with coefficients that vary",
            c.name, p.alpha
        );
        return Err(mistake(
            c.span,
            text,
            "orders above 2 are solved in integrated form: constant coefficients, or one derivative that can be solved for",
        ));
    };
    if κ.abs() < 1e-12 {
        let text = format!(
            "the constraint `{}` has ∂f/∂q' orthogonal to ∂f/∂D^αq, so its derivative of order {} does not determine the motion",
            c.name, p.alpha
        );
        return Err(mistake(
            c.span,
            text,
            "where a·b vanishes for an order above 2, masses and coefficients must be constant and forces depend on positions and time alone",
        ));
    }
    Ok(Raised { alpha: p.alpha, slopes, rest })
}

/// $\psi$ and $b$ of a constraint that is linear in its highest derivatives: with constant coefficients, or divided by the coefficient of the only one.
fn solved(model: &Model, e: Expr, p: &Profile) -> Option<(Expr, Vec<f64>)> {
    let g = &model.graph;
    if let Some(rest) = g_linear(model, e, &p.nodes) {
        return Some((rest, p.slopes.clone()));
    }
    let [node] = p.nodes[..] else { return None };
    let Node::Memory(Memory::Caputo, operand, _) = g.node(node) else { return None };
    let parts = combination(model, operand).filter(|c| c.velocities.is_empty())?;
    let (e, symbols) = as_symbols(model, e, &p.nodes);
    let linear = g.try_linear(e, &symbols)?;
    let mut slopes = vec![0.0; model.coordinates.len()];
    parts.positions.iter().for_each(|&(k, c)| slopes[k] += constant(model, c));
    Some((g.div(linear.rest, linear.coefficients[0]), slopes))
}

/// Whether $M$, $A$ and $b$ are constant, so that $\kappa = 0$ holds along the whole motion, and the operators are of positions.
fn is_steady(model: &Model, equations: &Equations, a: usize, p: &Profile) -> bool {
    let g = &model.graph;
    let steady = |e: &Expr| g.symbols(&[*e]).iter().all(|s| !parameter(model, *s).is_nan());
    let of_positions = |e: &Expr| match g.node(*e) {
        Node::Memory(Memory::Caputo, operand, _) => {
            combination(model, operand).is_some_and(|c| c.velocities.is_empty())
        }
        _ => false,
    };
    equations.mass.iter().flatten().all(steady)
        && equations.directions[a].iter().all(steady)
        && p.nodes.iter().all(of_positions)
        && model.constraints.len() == 1
        && g_linear(model, model.constraints[a].expr, &p.nodes).is_some()
}

/// The expression with these operators zero, if it is affine in them with constant slopes.
fn g_linear(model: &Model, e: Expr, nodes: &[Expr]) -> Option<Expr> {
    let g = &model.graph;
    let (e, symbols) = as_symbols(model, e, nodes);
    let linear = g.try_linear(e, &symbols)?;
    let varying = |c: &Expr| g.symbols(&[*c]).iter().any(|s| parameter(model, *s).is_nan());
    if linear.coefficients.iter().any(varying) { None } else { Some(linear.rest) }
}

/// Operators replaced by symbols.
fn as_symbols(model: &Model, e: Expr, nodes: &[Expr]) -> (Expr, Vec<Expr>) {
    let g = &model.graph;
    let symbols: Vec<Expr> =
        (0..nodes.len()).map(|i| g.symbol(&format!("past {i}"), Role::Free)).collect();
    let pairs: Vec<(Expr, Expr)> = nodes.iter().copied().zip(symbols.iter().copied()).collect();
    (g.substitute(&[e], &pairs)[0], symbols)
}

fn profile(
    model: &Model,
    c: &Constraint,
    row: &[Expr],
    guess: &[[f64; 3]],
    t0: f64,
) -> Result<Profile, Diagnostic> {
    let g = &model.graph;
    if c.along.is_none() && row.iter().all(|&e| g.is_zero(e)) {
        let text = format!(
            "the constraint `{}` contains no velocity outside its memory: ∂φ/∂q' = 0, so Chetaev's principle gives it no reaction",
            c.name
        );
        return Err(mistake(
            c.span,
            text,
            "add a velocity term, or give the direction of the reaction by `along [...]`",
        ));
    }
    let mut nodes: Vec<(Expr, f64, Vec<f64>)> = Vec::new();
    for e in g.live(&[c.expr]) {
        let Node::Memory(kind, operand, second) = g.node(e) else { continue };
        if !matches!(kind, Memory::Caputo | Memory::RiemannLiouville) {
            continue;
        }
        let alpha = constant(model, second);
        let mut slopes = vec![0.0; model.coordinates.len()];
        let mut shift = 0.0;
        if let Some(parts) = combination(model, operand) {
            let of_velocities = !parts.velocities.is_empty();
            shift = f64::from(u8::from(of_velocities));
            let list = if of_velocities { parts.velocities } else { parts.positions };
            for (k, c) in list {
                slopes[k] += constant(model, c);
            }
        }
        if alpha + shift >= 3.0 {
            let text = format!(
                "the constraint `{}` contains a derivative of order {}, and a constraint may have orders below 3 only: beyond, every motion along it is unstable",
                c.name,
                alpha + shift
            );
            return Err(mistake(c.span, text, "choose an order below 3"));
        }
        nodes.push((e, alpha + shift, slopes));
    }
    let alpha = nodes.iter().map(|n| n.1).fold(0.0, f64::max);
    let all: Vec<Expr> = nodes.iter().map(|n| n.0).collect();
    let (expr, symbols) = as_symbols(model, c.expr, &all);
    let rates = g.gradient(expr, &symbols);
    let rates: Vec<Expr> = rates.iter().map(|&e| at_start(model, e)).collect();
    let at = |s: Expr| if symbols.contains(&s) { 0.0 } else { value(model, guess, t0, s) };
    let values = g.evaluate(&rates, &at);
    let mut slopes = vec![0.0; model.coordinates.len()];
    let mut top = Vec::new();
    for ((e, order, parts), rate) in nodes.iter().zip(&values) {
        if *order == alpha {
            slopes.iter_mut().zip(parts).for_each(|(s, p)| *s += rate * p);
            top.push(*e);
        }
    }
    Ok(Profile { alpha, slopes, nodes: top })
}

/// Memory as it is at the start: nothing has been integrated, and a mean is its operand.
fn at_start(model: &Model, e: Expr) -> Expr {
    let g = &model.graph;
    let mut pairs = Vec::new();
    for node in g.live(&[e]) {
        if let Node::Memory(kind, operand, _) = g.node(node) {
            pairs.push((node, if kind == Memory::Mean { operand } else { g.zero() }));
        }
    }
    g.substitute(&[e], &pairs)[0]
}

fn value(model: &Model, data: &[[f64; 3]], t0: f64, s: Expr) -> f64 {
    for (k, c) in model.coordinates.iter().enumerate() {
        if s == c.position {
            return data[k][0];
        }
        if s == c.velocity {
            return data[k][1];
        }
    }
    if s == model.time { t0 } else { parameter(model, s) }
}

/// $M^{-1}$, $A$ and $f$ at the start.
struct Numbers {
    n: usize,
    rows: Vec<Vec<f64>>,
    force: Vec<f64>,
    lu: Option<Lu>,
}

impl Numbers {
    fn new(model: &Model, equations: &Equations, data: &[[f64; 3]], t0: f64) -> Self {
        let g = &model.graph;
        let n = model.coordinates.len();
        let numbers = |es: &[Expr]| {
            let es: Vec<Expr> = es.iter().map(|&e| at_start(model, e)).collect();
            g.evaluate(&es, &|s| value(model, data, t0, s))
        };
        let mass: Vec<f64> = equations.mass.iter().flat_map(|row| numbers(row)).collect();
        let mut lu = Lu::new(n);
        let regular = lu.factor(n, &mass).is_ok();
        Self {
            n,
            rows: equations.directions.iter().map(|row| numbers(row)).collect(),
            force: numbers(&equations.force),
            lu: regular.then_some(lu),
        }
    }

    /// $x M^{-1} y$
    fn product(&self, x: &[f64], y: &[f64]) -> f64 {
        let mut y = y.to_vec();
        if let Some(lu) = &self.lu {
            lu.solve(&mut y);
        }
        x.iter().zip(&y).map(|(x, y)| x * y).sum()
    }

    fn norm(&self, a: usize) -> f64 {
        self.product(&self.rows[a], &self.rows[a])
    }

    fn kappa(&self, a: usize, slopes: &[f64]) -> f64 {
        self.product(&self.rows[a], slopes) / self.norm(a)
    }

    /// $M^{-1}\dot f$ for forces of positions and time.
    fn free_rates(
        &self,
        model: &Model,
        equations: &Equations,
        (data, t0): (&[[f64; 3]], f64),
    ) -> Vec<f64> {
        let g = &model.graph;
        let rates: Vec<Expr> = equations.force.iter().map(|&f| g.total_derivative(f)).collect();
        let mut y = g.evaluate(&rates, &|s| value(model, data, t0, s));
        if let Some(lu) = &self.lu {
            lu.solve(&mut y);
        }
        y
    }

    /// $\ddot q$ without its part along constraint `a`.
    fn free(&self, a: usize) -> Vec<f64> {
        self.bent(a, 0.0)
    }

    /// $\ddot q = M^{-1}(f + A^\top\lambda)$ with $A\ddot q$ given.
    fn bent(&self, a: usize, along: f64) -> Vec<f64> {
        let λ = (along - self.product(&self.rows[a], &self.force)) / self.norm(a);
        let mut y: Vec<f64> =
            (0..self.n).map(|k| self.force[k] + self.rows[a][k] * λ).collect();
        if let Some(lu) = &self.lu {
            lu.solve(&mut y);
        }
        y
    }

    /// Accelerations at the start: what is given along the constraint, the rest from the equations.
    fn accelerations(
        &self,
        model: &Model,
        a: usize,
        data: &mut [[f64; 3]],
    ) -> Result<(), Diagnostic> {
        let mut given = vec![None; self.n];
        let mut span = model.constraints[a].span;
        for datum in &model.initial {
            if let Quantity::Coordinate(k, 2) = datum.quantity {
                let at = |s: Expr| parameter(model, s);
                given[k] = Some(model.graph.evaluate(&[datum.value], &at)[0]);
                span = datum.span;
            }
        }
        let along: f64 =
            self.rows[a].iter().zip(&given).map(|(r, g)| r * g.unwrap_or(0.0)).sum();
        let found = self.bent(a, along);
        for (k, d) in data.iter_mut().enumerate() {
            if let Some(value) = given[k]
                && (value - found[k]).abs() > 1e-9 * (1.0 + value.abs())
            {
                let text = format!(
                    "initial {0}'' = {value} is not free: only the acceleration along the constraint `{1}` is, and with it the equations of motion give {0}'' = {2}",
                    model.coordinates[k].name, model.constraints[a].name, found[k]
                );
                return Err(mistake(
                    span,
                    text,
                    "give accelerations that satisfy the equations of motion for some reaction",
                ));
            }
            d[2] = found[k];
        }
        Ok(())
    }
}

fn inconsistent(model: &Model, none: &NoStart) -> Diagnostic {
    let c = &model.constraints[none.constraint];
    let text = format!(
        "no initial values near the given ones satisfy the constraint `{}`: it is off by {:e}",
        c.name, none.residual
    );
    mistake(c.span, text, "check that the constraints do not contradict each other")
}

fn not_free(
    model: &Model,
    k: usize,
    (value, used): (f64, f64),
    binding: &[&str],
) -> Diagnostic {
    let datum = model.initial.iter().find(|d| d.quantity == Quantity::Coordinate(k, 1));
    let names: Vec<String> = binding.iter().map(|name| format!("`{name}`")).collect();
    let text = format!(
        "initial {}' = {value} is not free: the memory of {} is zero at the start, and without it the velocities there do not satisfy {}",
        model.coordinates[k].name,
        names.join(", "),
        if names.len() == 1 { "the constraint" } else { "the constraints" },
    );
    mistake(
        datum.map(|d| d.span).unwrap_or_default(),
        text,
        &format!("{used} is the nearest admissible value, or leave it out"),
    )
}
