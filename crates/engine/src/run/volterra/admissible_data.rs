//! Which data a motion with memory may start from.
//!
//! At the start $D^\alpha q = 0$ for $\alpha < 1$, so a constraint $f(q, \dot q, D^\alpha q, t) = 0$ binds
//! the velocities as it does without memory. For $1 < \alpha < 2$ it does not if
//! $\kappa = b S^{-1} W / A S^{-1} W \ne 0$, with $A = \partial f/\partial\dot q$, $b = \partial
//! f/\partial(D^\alpha q)$ and $S$ the masses with the constraints that have no memory: then $\dot q$ is
//! free, and $\lambda$ begins like $\tau^{\alpha-2}$.
//! For $2 < \alpha < 3$ also $A\ddot q$ is free. Where $\kappa = 0$ for good, an order above 2 is reduced by
//! the equations of motion ([`crate::run::volterra::high_order`]), and the reduced order counts.
//!
//! Small disturbances along $A$ grow like $e^{st}$ with $s + \kappa s^\alpha = 0$: at the rate
//! $|\kappa|^{1/(1-\alpha)}$ if $\kappa < 0$.

use pfaff_expr::{Expr, Node};
use pfaff_mechanics::{Class, Equations, derive};
use pfaff_model::{Constraint, Diagnostic, Quantity, Span, Workspace};
use pfaff_program::Backend;
use pfaff_solver::Lu;

use crate::motion::note::Note;
use crate::problem::start::{NoStart, given, start};
use crate::run::volterra::constraint_memory::Profile;
use crate::run::volterra::high_order::{HighDerivative, HighOrderForm, Lift, effects, lift};
use crate::run::volterra::response::{Response, State, at_start, dot, numbers, value};
use crate::run::volterra::volterra_equations::{mistake, parameter, real};
use crate::system::kkt::Kkt;

/// A start that is admissible, and what is known of the motion there.
pub(crate) struct Admissible {
    /// $q, \dot q, \ddot q$
    pub(crate) data: Vec<[f64; 3]>,
    /// $u$ at the start.
    pub(crate) free: Vec<f64>,
    pub(crate) notes: Vec<Note>,
    /// The smallest exponent of $\lambda$ at the start.
    pub(crate) exponent: f64,
    /// How many decades the first step may be below the run at most.
    pub(crate) decades: f64,
    /// Constraints whose high derivatives are found in a way of their own.
    pub(crate) lifts: Vec<Option<Lift>>,
}

/// Finds an admissible start of a Lagrangian model.
pub(crate) fn admissible(
    model: &Workspace,
    equations: &Equations,
    t0: f64,
) -> Result<Admissible, Diagnostic> {
    let n = model.coordinates.len();
    let given = given(model, t0);
    let guess: Vec<[f64; 3]> =
        (0..n).map(|k| [given.q[k].unwrap_or(0.0), given.v[k].unwrap_or(0.0), 0.0]).collect();
    let mut profiles: Vec<Option<Profile>> = Vec::new();
    for (a, c) in model.constraints.iter().enumerate() {
        let has_memory = equations.classes[a] == Class::Memory;
        let profile = has_memory.then(|| Profile::new(model, c, &equations.jacobian[a]));
        profiles.push(profile.transpose()?);
    }
    let near = State { data: &guess, t: t0 };
    let laws = settle(model, equations, &mut profiles, &near)?;
    // The model without memory whose constraints are those that bind the start.
    let zeros = |e: Expr| at_start(model, e);
    let mut forces = model.forces.clone();
    for f in &mut forces {
        f.components.iter_mut().for_each(|q| *q = fixed(model, zeros(*q), t0));
    }
    let binds = |a: usize| laws[a].as_ref().is_none_or(|l| l.binds);
    let constraints: Vec<Constraint> = (0..model.constraints.len())
        .filter(|&a| binds(a))
        .map(|a| {
            let c = &model.constraints[a];
            let further = laws[a].as_ref().map_or(&[][..], |l| &l.sample[..]);
            let further = further.iter().zip(model.velocities());
            let further = model
                .graph
                .sum(further.map(|(&c, v)| model.graph.mul(real(&model.graph, c), v)));
            let alone = laws[a].as_ref().is_some_and(|l| l.alone);
            let own = if alone { model.graph.zero() } else { zeros(c.expr) };
            Constraint { expr: model.graph.add(own, further), ..c.clone() }
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
    let mut kkt = Kkt::new(&bare, &plain, Backend::Interpreter).map_err(uncompiled)?;
    let found =
        start(&bare, &mut kkt, t0, &given).map_err(|none| inconsistent(&bare, &none))?;
    // What constraints without memory bind is moved and noted, as without memory.
    let wanted: Vec<[f64; 3]> =
        (0..n).map(|k| [found.q[k], given.v[k].unwrap_or(found.v[k]), 0.0]).collect();
    let wanted = State { data: &wanted, t: t0 };
    let remembering = |c: &&Constraint| {
        model
            .constraints
            .iter()
            .position(|own| own.name == c.name)
            .is_some_and(|a| profiles[a].is_some())
    };
    let violated = |c: &&Constraint| {
        bare.graph.evaluate(&[c.expr], &|s| value(&bare, &wanted, s))[0].abs() > 1e-12
    };
    let binding: Vec<&str> = bare
        .constraints
        .iter()
        .filter(remembering)
        .filter(violated)
        .map(|c| c.name.as_str())
        .collect();
    for k in 0..n {
        if let Some(value) = given.v[k]
            && (value - found.v[k]).abs() > 1e-9 * (1.0 + value.abs())
            && !binding.is_empty()
        {
            return Err(not_free(model, k, value, found.v[k], &binding));
        }
    }
    let mut data: Vec<[f64; 3]> = (0..n).map(|k| [found.q[k], found.v[k], f64::NAN]).collect();
    let mut notes = found.notes;
    let there = data.clone();
    let state = State { data: &there, t: t0 };
    let laws = settle(model, equations, &mut profiles, &state)?;
    let numbers = Response::new(model, equations, &state);
    accelerations(model, &laws, &numbers, &mut data)?;
    let (mut exponent, mut decades) = (0.0_f64, 250.0_f64);
    for (a, law) in laws.iter().enumerate() {
        let Some(law) = law else { continue };
        if law.drowns {
            // NOTE: without a·b the constraint binds the velocity through h against h^{2−α}: too short a step
            // would drown the one in the other.
            let α = law.alpha;
            decades = decades.min(9.0 / (α - 1.0)).min(6.0 / (2.0 - α).max(0.1));
        }
        if profiles[a].as_ref().is_some_and(|p| p.several) {
            notes.push(Note::Remark(format!(
                "the constraint `{}` allows several values of its derivative of order {} at the start: the one \
                 nearest to zero is used",
                model.constraints[a].name, law.alpha
            )));
        }
    }
    notes.extend(begins(model, &laws, &mut exponent));
    for p in profiles.iter().flatten() {
        exponent = exponent.min(p.exponent);
    }
    for (a, law) in laws.iter().enumerate() {
        let Some(law) = law else { continue };
        let κ = law.row[a] / numbers.norm(a);
        if κ < 0.0 && law.alpha > 1.0 {
            let rate = libm::pow(-κ, 1.0 / (1.0 - law.alpha));
            notes.push(Note::Remark(format!(
                "the motion along the constraint `{}` is unstable: κ = {κ:.6} is negative, so disturbances grow \
                 like exp({rate:.6} t)",
                model.constraints[a].name
            )));
        }
    }
    let lifts = laws.into_iter().map(|l| l.and_then(|l| l.lift)).collect();
    Ok(Admissible { data, free: numbers.free, notes, exponent, decades, lifts })
}

/// How one constraint acts at the start.
struct Law {
    lift: Option<Lift>,
    /// The order that counts.
    alpha: f64,
    /// Whether the velocities at the start must satisfy the constraint.
    binds: bool,
    /// What memory contributes at once: coefficients of the velocities.
    sample: Vec<f64>,
    /// Whether that binds the velocities alone, without the constraint itself.
    alone: bool,
    /// What determines the reactions, by constraint: the coefficients of $\lambda$.
    row: Vec<f64>,
    /// The terms $(c, e)$ of what they must make up for, $\sum c\,\tau^e$.
    terms: Vec<(f64, f64)>,
    drowns: bool,
}

/// Slopes and laws of all constraints with memory.
fn settle(
    model: &Workspace,
    equations: &Equations,
    profiles: &mut [Option<Profile>],
    state: &State<'_>,
) -> Result<Vec<Option<Law>>, Diagnostic> {
    let numbers = Response::new(model, equations, state);
    let mut laws = Vec::new();
    for (a, profile) in profiles.iter_mut().enumerate() {
        let Some(p) = profile else {
            laws.push(None);
            continue;
        };
        p.settle(model, a, state, &numbers);
        laws.push(Some(law(model, equations, a, p, state, &numbers)?));
    }
    Ok(laws)
}

fn law(
    model: &Workspace,
    equations: &Equations,
    a: usize,
    p: &Profile,
    state: &State<'_>,
    numbers: &Response,
) -> Result<Law, Diagnostic> {
    let mut lift = if p.alpha > 1.0 { lift(model, equations, a, p, state)? } else { None };
    let v: Vec<f64> = state.data.iter().map(|d| d[1]).collect();
    let m = model.constraints.len();
    let against =
        |slopes: &[f64]| -> Vec<f64> { (0..m).map(|c| numbers.product(slopes, c)).collect() };
    let mut law = Law {
        lift: None,
        alpha: p.alpha,
        binds: true,
        sample: Vec::new(),
        alone: false,
        row: against(&numbers.rows[a]),
        terms: Vec::new(),
        drowns: false,
    };
    for high in lift.iter_mut().flat_map(|l| &mut l.highs) {
        high.first = p.first * numbers.product(&high.slopes, a);
    }
    let κ = numbers.kappa(a, &p.slopes);
    let gamma = libm::tgamma;
    let highest = lift.as_ref().and_then(|l| l.highs.first()).cloned();
    match highest {
        _ if p.alpha < 1.0 => {
            law.terms.push((-dot(&p.slopes, &v) / gamma(1.0 - p.alpha), -p.alpha));
        }
        Some(high) if high.form == HighOrderForm::Driven && κ.abs() < 1e-12 => {
            let c = &model.constraints[a];
            let text = format!(
                "the constraint `{}` contains several derivatives of order {} with varying coefficients, and the \
                 reaction acts on each of them but not on their sum",
                c.name, p.alpha
            );
            let hint = "give the sum a coordinate of its own, or constant coefficients";
            return Err(mistake(c.span, text, hint));
        }
        Some(high) if high.form == HighOrderForm::Driven => {
            law.binds = false;
            law.row = against(&p.slopes);
        }
        Some(high) if high.form == HighOrderForm::Free => {
            let along = dot(&p.slopes, &numbers.free);
            law.terms.push((-along / gamma(2.0 - p.alpha), 1.0 - p.alpha));
        }
        Some(high) => {
            let candidate = HighDerivative { alpha: p.alpha, slopes: p.slopes.clone() };
            let effects = |c: usize| effects(model, equations, &candidate, c, state, numbers);
            let order = match high.form {
                HighOrderForm::Reduced(order) | HighOrderForm::Rate { order, .. } => order,
                HighOrderForm::Driven | HighOrderForm::Free => 0.0,
            };
            if order > 1.0 + 1e-12 {
                law.alpha = order;
                law.binds = false;
                let of = |c: usize| -> f64 {
                    let counts = effects(c).into_iter().filter(|e| e.order == order);
                    counts.map(|e| e.reaction).sum()
                };
                law.row = (0..m).map(of).collect();
                let rest = numbers_of(model, a, state);
                starts_of_orders_below_one(&effects(a), order, &v, &mut law);
                if order < 2.0 {
                    law.terms.push((-rest / gamma(order - 1.0), order - 2.0));
                }
                for high in lift.iter_mut().flat_map(|l| &mut l.highs) {
                    high.first = -rest;
                }
            } else {
                let singular = |e: &&crate::run::volterra::high_order::Effect| {
                    e.beta < 1.0 && e.order > 1.0 && dot(&e.velocity, &v).abs() > 1e-12
                };
                if let Some(e) = effects(a).iter().find(singular) {
                    let c = &model.constraints[a];
                    let text = format!(
                        "the derivative of order {} in a force makes the constraint `{}` begin like \
                         (t - t0)^({:.6}): the initial velocities in that force are not free, because their \
                         derivative must begin at zero",
                        e.beta,
                        c.name,
                        1.0 - e.order
                    );
                    let hint =
                        "give initial velocities that vanish in the operand of that force";
                    return Err(mistake(c.span, text, hint));
                }
                reduced_terms(model, equations, p, state, numbers, &effects(a), &mut law);
            }
        }
        None if p.alpha > 1.0 && κ.abs() >= 1e-12 => {
            law.binds = false;
            law.row = against(&p.slopes);
            let first = p.first * numbers.product(&p.slopes, a);
            law.terms.push((first / gamma(p.alpha - 1.0), p.alpha - 2.0));
        }
        None => {
            law.drowns = p.alpha > 1.0;
            if p.alpha > 1.0 {
                let along = dot(&p.slopes, &numbers.bent(&[(a, 0.0)]));
                law.terms.push((-along / gamma(2.0 - p.alpha), 1.0 - p.alpha));
            }
        }
    }
    law.lift = lift;
    Ok(law)
}

/// Derivatives of orders $\beta < 1$ in the forces begin like $\dot q_0\tau^{1-\beta}$, of which an order
/// above 1 makes a singular term: it must vanish where that is the highest order, and adds to the reaction
/// where it is not.
fn starts_of_orders_below_one(
    effects: &[crate::run::volterra::high_order::Effect],
    order: f64,
    v: &[f64],
    law: &mut Law,
) {
    for e in effects.iter().filter(|e| e.beta < 1.0 && e.order > 1.0) {
        if e.order == order {
            law.binds = true;
            law.alone = true;
            law.sample.resize(v.len(), 0.0);
            law.sample.iter_mut().zip(&e.velocity).for_each(|(sum, c)| *sum += c);
        } else if e.order < order {
            let power = order - 1.0 - e.order;
            law.terms.push((-dot(&e.velocity, v) / libm::tgamma(power + 1.0), power));
        }
    }
}

/// The constraint at the start with its memory zero.
fn numbers_of(model: &Workspace, a: usize, state: &State<'_>) -> f64 {
    numbers(model, &[model.constraints[a].expr], state)[0]
}

/// What an order above 2 contributes that the equations of motion reduce to one below 1.
fn reduced_terms(
    model: &Workspace,
    equations: &Equations,
    p: &Profile,
    state: &State<'_>,
    numbers: &Response,
    effects: &[crate::run::volterra::high_order::Effect],
    law: &mut Law,
) {
    let v: Vec<f64> = state.data.iter().map(|d| d[1]).collect();
    law.sample = vec![0.0; v.len()];
    let gamma = libm::tgamma;
    for e in &effects[1..] {
        if e.order == 1.0 {
            law.sample.iter_mut().zip(&e.velocity).for_each(|(sum, c)| *sum += c);
        } else if e.order < 1.0 {
            law.terms.push((-dot(&e.velocity, &v) / gamma(1.0 - e.order), -e.order));
        }
    }
    let rates = free_rates(model, equations, state, numbers);
    law.terms.push((-dot(&p.slopes, &rates) / gamma(3.0 - p.alpha), 2.0 - p.alpha));
}

/// $\dot u$ at the start, with memory and its rates zero.
fn free_rates(
    model: &Workspace,
    equations: &Equations,
    state: &State<'_>,
    numbers: &Response,
) -> Vec<f64> {
    let g = &model.graph;
    let (symbols, rows) = crate::run::volterra::response::free_motion(model, equations);
    let rows: Vec<Expr> = rows.iter().map(|&r| at_start(model, r)).collect();
    let mut direction: Vec<(Expr, Expr)> = vec![(model.time, g.one())];
    for (k, c) in model.coordinates.iter().enumerate() {
        direction.push((c.position, c.velocity));
        direction.push((c.velocity, symbols[k]));
    }
    let rates = g.directional(&rows, &direction);
    let at = |s: Expr| {
        let free = symbols.iter().position(|&u| u == s).map(|i| numbers.free[i]);
        free.unwrap_or_else(|| value(model, state, s))
    };
    let mut x: Vec<f64> = g.evaluate(&rates, &at).iter().map(|r| -r).collect();
    numbers.solve(&mut x);
    x
}

/// The laws by which $\lambda$ begins, in words; lowers the exponent to the smallest.
fn begins(model: &Workspace, laws: &[Option<Law>], exponent: &mut f64) -> Vec<Note> {
    let own: Vec<(usize, &Law)> =
        laws.iter().enumerate().filter_map(|(a, l)| l.as_ref().map(|l| (a, l))).collect();
    let mut powers: Vec<f64> =
        own.iter().flat_map(|(_, l)| l.terms.iter().map(|t| t.1)).collect();
    powers.sort_by(f64::total_cmp);
    powers.dedup();
    let width = own.len();
    let matrix: Vec<f64> =
        own.iter().flat_map(|(_, l)| own.iter().map(|(c, _)| l.row[*c])).collect();
    let mut lu = Lu::new(width);
    if own.is_empty() || lu.factor(width, &matrix).is_err() {
        return Vec::new();
    }
    let mut found: Vec<Option<(f64, f64)>> = vec![None; width];
    for e in powers {
        let term = |l: &Law| l.terms.iter().filter(|t| t.1 == e).map(|t| t.0).sum::<f64>();
        let mut x: Vec<f64> = own.iter().map(|(_, l)| term(l)).collect();
        lu.solve(&mut x);
        for (found, factor) in found.iter_mut().zip(x) {
            if found.is_none() && factor.abs() >= 1e-13 {
                *found = Some((factor, e));
            }
        }
    }
    let mut notes = Vec::new();
    for ((a, law), found) in own.iter().zip(found) {
        let name = &model.constraints[*a].name;
        if let Some((factor, e)) = found {
            if !law.drowns {
                *exponent = exponent.min(e);
            }
            notes.push(Note::Remark(format!(
                "at the start lambda({name}) ~ {factor:.10} (t - t0)^({e}): the reaction is singular there, the \
                 motion is not"
            )));
        } else if law.alpha > 0.0 && law.alpha < 2.0 {
            notes.push(Note::Remark(format!("lambda({name}) is bounded at the start")));
        }
    }
    notes
}

/// Accelerations at the start where a constraint of an order above 2 leaves them free: what is given along
/// it, the rest from the equations.
fn accelerations(
    model: &Workspace,
    laws: &[Option<Law>],
    numbers: &Response,
    data: &mut [[f64; 3]],
) -> Result<(), Diagnostic> {
    let is_driven = |l: &Law| {
        l.lift.as_ref().is_some_and(|l| l.highs.iter().any(|h| h.form == HighOrderForm::Driven))
    };
    let driven: Vec<usize> =
        (0..laws.len()).filter(|&a| laws[a].as_ref().is_some_and(is_driven)).collect();
    let Some(&first) = driven.first() else { return Ok(()) };
    let mut given = vec![None; data.len()];
    for datum in &model.initial {
        if let Quantity::Coordinate(k, 2) = datum.quantity {
            let at = |s: Expr| parameter(model, s);
            given[k] = Some((model.graph.evaluate(&[datum.value], &at)[0], datum.span));
        }
    }
    let along = |a: usize| -> f64 {
        numbers.rows[a].iter().zip(&given).map(|(r, g)| r * g.map_or(0.0, |g| g.0)).sum()
    };
    let wanted: Vec<(usize, f64)> = driven.iter().map(|&a| (a, along(a))).collect();
    let found = numbers.bent(&wanted);
    for (k, d) in data.iter_mut().enumerate() {
        if let Some((value, span)) = given[k]
            && (value - found[k]).abs() > 1e-9 * (1.0 + value.abs())
        {
            let text = format!(
                "initial {0}'' = {value} cannot be chosen: only the acceleration along the constraint `{1}` is \
                 free, and then the equations of motion give {0}'' = {2}",
                model.coordinates[k].name, model.constraints[first].name, found[k]
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

fn inconsistent(model: &Workspace, none: &NoStart) -> Diagnostic {
    let c = &model.constraints[none.constraint];
    let text = format!(
        "no initial values near the given ones satisfy the constraint `{}`: it is off by {:e}",
        c.name, none.residual
    );
    mistake(c.span, text, "check that the constraints do not contradict each other")
}

fn not_free(
    model: &Workspace,
    k: usize,
    value: f64,
    used: f64,
    binding: &[&str],
) -> Diagnostic {
    let datum = model.initial.iter().find(|d| d.quantity == Quantity::Coordinate(k, 1));
    let names: Vec<String> = binding.iter().map(|name| format!("`{name}`")).collect();
    let text = format!(
        "initial {}' = {value} cannot be chosen: at the start memory contributes nothing, and these velocities do \
         not satisfy what is left of {}",
        model.coordinates[k].name,
        names.join(", "),
    );
    mistake(
        datum.map(|d| d.span).unwrap_or_default(),
        text,
        &format!("{used} is the nearest admissible value, or leave it out"),
    )
}

/// An expression with the values that functions of time without a tape have at the start.
fn fixed(model: &Workspace, e: Expr, t0: f64) -> Expr {
    let g = &model.graph;
    let at = |s: Expr| if s == model.time { t0 } else { parameter(model, s) };
    let slow =
        g.live(&[e]).into_iter().filter(|&x| matches!(g.node(x), Node::MittagLeffler(..)));
    let images: Vec<(Expr, Expr)> =
        slow.map(|x| (x, real(g, g.evaluate(&[x], &at)[0]))).collect();
    if images.is_empty() { e } else { g.substitute(&[e], &images)[0] }
}
