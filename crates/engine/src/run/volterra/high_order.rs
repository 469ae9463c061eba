//! Derivatives of orders above 1 in constraints: how each is found.
//!
//! Let $Y = D^\alpha(b\cdot q)$ stand in a constraint with reaction $W\lambda$, and $u$ be the accelerations
//! without reactions of constraints with memory, so that $b\cdot\ddot q = b\cdot u + (b S^{-1}W)\lambda$.
//!
//! - **Driven**, $\alpha > 2$ and $b S^{-1}W \ne 0$: $Y$ is an unknown, and $b\cdot(\ddot q - \ddot q_0) =
//!   J^{\alpha-2} Y$. The constraint may contain it in any way.
//! - **Free**, $b S^{-1}W = 0$ for good: the reaction does not touch $b\cdot\ddot q = b\cdot u$.
//!   - $1 < \alpha < 2$: $Y = J^{2-\alpha}(b\cdot u)$.
//!   - $2 < \alpha < 3$: $Y = D^{\alpha-2}(b\cdot u)$, an operator of order $\alpha - 2 < 1$ on what the
//!     forces give. If these contain velocities or memory along which the reaction acts, $Y$ is of an
//!     effective order $\alpha' = \alpha - 2 + \beta$ with $\beta = 1$ for velocities, and
//!     $b\cdot(u - u_0) = J^{\alpha-2} Y$ determines the reaction if $\beta \ge 1$. If not,
//!     $Y = J^{3-\alpha}(b\cdot\dot u)$.

use pfaff_expr::{Expr, Memory, Node, Role};
use pfaff_mechanics::{Class, Equations};
use pfaff_model::{Diagnostic, Workspace};

use crate::run::volterra::combination::combination;
use crate::run::volterra::constraint_memory::{Operator, Profile, as_symbols, steady_slopes};
use crate::run::volterra::response::{Response, State, dot, free_motion, nearby, value};
use crate::run::volterra::volterra_equations::{constant, mistake};

/// Below this part of the largest term a sum counts as zero.
const NOTHING: f64 = 1e-11;

/// A constraint with its high derivatives replaced by symbols.
#[derive(Clone, Debug)]
pub(crate) struct Lift {
    pub(crate) residual: Expr,
    pub(crate) highs: Vec<High>,
}

/// One derivative $Y = D^\alpha(b\cdot q)$.
#[derive(Clone, Debug)]
pub(crate) struct High {
    pub(crate) symbol: Expr,
    pub(crate) alpha: f64,
    /// $b$
    pub(crate) slopes: Vec<f64>,
    pub(crate) form: HighOrderForm,
    /// $Y$ at the start, where it is an unknown.
    pub(crate) first: f64,
}

/// How a high derivative is found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HighOrderForm {
    /// $b\cdot(\ddot q - \ddot q_0) = J^{\alpha-2} Y$
    Driven,
    /// $b\cdot(u - u_0) = J^{\alpha-2} Y$, of this effective order.
    Reduced(f64),
    /// $Y = J^{2-\alpha}(b\cdot u)$
    Free,
    /// $Y = J^{3-\alpha}(b\cdot\dot u)$; whether other reactions with memory act on $\dot u$ through velocities.
    Rate {
        /// The effective order, 0 if the reaction does not act.
        order: f64,
        /// Then the accelerations in $\dot u$ are those of the motion, else those of $u$.
        bent: bool,
        /// Operators in the forces with constant coefficients in $b\cdot u$: they are composed with
        /// $D^{\alpha-2}$ instead.
        composed: Vec<(Expr, f64)>,
    },
}

/// How velocities and memory in the forces answer along $b$ to the reaction of a constraint.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The operator and its coefficient, if it is not the velocities.
    node: Option<(Expr, f64)>,
    /// $\beta$
    pub(crate) beta: f64,
    /// $\alpha'$
    pub(crate) order: f64,
    /// The coefficient of the reaction.
    pub(crate) reaction: f64,
    /// The coefficient of the velocities at the start.
    pub(crate) velocity: Vec<f64>,
}

/// Replaces what needs it; `None` if nothing does.
pub(crate) fn lift(
    model: &Workspace,
    equations: &Equations,
    a: usize,
    profile: &Profile,
    state: &State<'_>,
) -> Result<Option<Lift>, Diagnostic> {
    let g = &model.graph;
    let c = &model.constraints[a];
    let mut lift = Lift { residual: c.expr, highs: Vec::new() };
    let symbol = |i: usize| g.symbol(&format!("high derivative {i} of {}", c.name), Role::Free);
    let tops: Vec<Expr> = profile.top().map(|o| o.node).collect();
    let plain = profile.top().all(|o| o.plain);
    let merged = steady_slopes(model, c.expr, &tops).filter(|_| plain);
    let mut operators: Vec<&Operator> = profile.operators.iter().collect();
    if let (Some(rest), true) = (merged, profile.alpha > 1.0) {
        let high = HighDerivative { alpha: profile.alpha, slopes: profile.slopes.clone() };
        if let Some(form) = high.form(model, equations, a, state)? {
            let lower = profile.top().filter_map(|o| o.lower(model).map(|e| (o, e)));
            let lower = g.sum(lower.map(|(o, e)| g.mul(profile.rate(model, o), e)));
            let y = symbol(0);
            lift.residual = g.sum([rest, lower, y]);
            lift.highs.push(High {
                symbol: y,
                alpha: high.alpha,
                slopes: high.slopes,
                form,
                first: 0.0,
            });
            operators.retain(|o| o.order < profile.alpha);
        }
    }
    for o in operators {
        let high = o.order > 2.0 || (o.order > 1.0 && o.order == profile.alpha);
        if !high || !o.plain {
            continue;
        }
        let high = HighDerivative { alpha: o.order, slopes: o.slopes.clone() };
        let Some(form) = high.form(model, equations, a, state)? else { continue };
        let y = symbol(lift.highs.len());
        let image = o.lower(model).map_or(y, |e| g.add(y, e));
        lift.residual = g.substitute(&[lift.residual], &[(o.node, image)])[0];
        let HighDerivative { alpha, slopes } = high;
        lift.highs.push(High { symbol: y, alpha, slopes, form, first: 0.0 });
    }
    refuse_rest(model, &lift, a)?;
    Ok((!lift.highs.is_empty()).then_some(lift))
}

/// What is left of an order above 2 has no way.
fn refuse_rest(model: &Workspace, lift: &Lift, a: usize) -> Result<(), Diagnostic> {
    let g = &model.graph;
    let c = &model.constraints[a];
    for node in g.live(&[lift.residual]) {
        let Node::Memory(kind, _, second) = g.node(node) else { continue };
        let derivative = matches!(kind, Memory::Caputo | Memory::RiemannLiouville);
        if derivative && constant(model, second) > 2.0 {
            let what = if kind == Memory::Caputo {
                "whose operand is not linear in the coordinates with constant coefficients"
            } else {
                "of Riemann and Liouville"
            };
            let text = format!(
                "the constraint `{}` contains a derivative of order {} {what}",
                c.name,
                constant(model, second)
            );
            let hint = "derivatives of order above 2 are computed from the accelerations of a sum of coordinates: \
                        use `caputo` of such a sum, or give the operand a coordinate of its own";
            return Err(mistake(c.span, text, hint));
        }
    }
    Ok(())
}

/// A derivative $b\cdot D^\alpha q$ that may need another form.
pub(crate) struct HighDerivative {
    pub(crate) alpha: f64,
    /// $b$
    pub(crate) slopes: Vec<f64>,
}

impl HighDerivative {
    fn form(
        &self,
        model: &Workspace,
        equations: &Equations,
        a: usize,
        state: &State<'_>,
    ) -> Result<Option<HighOrderForm>, Diagnostic> {
        let c = &model.constraints[a];
        let here = Response::new(model, equations, state);
        if here.norm(a).is_nan() {
            return Ok((self.alpha > 2.0).then_some(HighOrderForm::Driven));
        }
        let size = dot(&absolute(&self.slopes), &absolute(&here.answer(&here.directions[a])));
        if here.product(&self.slopes, a).abs() > NOTHING * size {
            return Ok((self.alpha > 2.0).then_some(HighOrderForm::Driven));
        }
        let points = nearby(state.data, state.t);
        let around: Vec<(State<'_>, Response)> = points
            .iter()
            .map(|(data, t)| {
                let state = State { data, t: *t };
                let numbers = Response::new(model, equations, &state);
                (state, numbers)
            })
            .collect();
        let touched = |b: usize| {
            around.iter().any(|(_, n)| n.product(&self.slopes, b).abs() > 1e-9 * (1.0 + size))
        };
        let memory: Vec<usize> = (0..model.constraints.len())
            .filter(|&b| equations.classes[b] == Class::Memory)
            .collect();
        if let Some(&b) = memory.iter().find(|&&b| touched(b)) {
            if self.alpha < 2.0 {
                return Ok(None);
            }
            return Err(touched_by(model, a, b, self.alpha));
        }
        if self.alpha < 2.0 {
            return Ok(Some(HighOrderForm::Free));
        }
        let effects = |b: usize, state: &State<'_>, numbers: &Response| {
            effects(model, equations, self, b, state, numbers)
        };
        let mut highest: Option<f64> = None;
        let first = effects(a, state, &here);
        for (i, e) in first.iter().enumerate() {
            let elsewhere = around
                .iter()
                .any(|(s, n)| effects(a, s, n).get(i).is_some_and(|e| e.reaction.abs() > 1e-9));
            if e.reaction.abs() > 1e-9 {
                highest = Some(highest.map_or(e.order, |h: f64| h.max(e.order)));
            } else if elsewhere && e.order > 1.0 {
                let text = format!(
                    "the constraint `{}` does not determine its reaction at the start: there, what the forces \
                     contribute to its derivative of order {} does not depend on the velocities",
                    c.name, self.alpha
                );
                let hint = "start where ∂f/∂q' along the constraint is not zero";
                return Err(mistake(c.span, text, hint));
            }
        }
        let order = highest.unwrap_or(0.0);
        let acts = |e: &&Effect| e.order > 1.0 + 1e-12 && e.reaction.abs() > 1e-9;
        // NOTE: the reaction enters a derivative of order β through J^{2−β}: for β < 1 that would smooth too
        // much for short steps, and D^{α−2} is taken of it.
        if order > 1.0 + 1e-12 && first.iter().filter(acts).all(|e| e.beta >= 1.0) {
            return Ok(Some(HighOrderForm::Reduced(order)));
        }
        let bent = memory.iter().any(|&b| {
            effects(b, state, &here).iter().any(|e| e.reaction.abs() > 1e-9)
                || around
                    .iter()
                    .any(|(s, n)| effects(b, s, n).iter().any(|e| e.reaction.abs() > 1e-9))
        });
        let elsewhere: Vec<Vec<Effect>> =
            around.iter().map(|(s, n)| effects(a, s, n)).collect();
        let mut composed: Vec<(Expr, f64)> = Vec::new();
        for (i, e) in first.iter().enumerate() {
            let Some((node, factor)) = e.node else { continue };
            let same = |e: &Effect| {
                e.node.is_some_and(|(_, f)| (f - factor).abs() <= 1e-12 * (1.0 + factor.abs()))
            };
            let known = composed.iter().any(|c| c.0 == node);
            if !known
                && is_plain(model, node, 4.0 - self.alpha)
                && elsewhere.iter().all(|e| same(&e[i]))
            {
                composed.push((node, factor));
            }
        }
        Ok(Some(HighOrderForm::Rate { order, bent, composed }))
    }
}

/// Whether an operator is a derivative of Caputo, of an order up to this one, of a sum of coordinates with
/// constant coefficients.
fn is_plain(model: &Workspace, node: Expr, highest: f64) -> bool {
    match model.graph.node(node) {
        Node::Memory(Memory::Caputo, operand, second) => combination(model, operand)
            .is_some_and(|parts| {
                let shift = f64::from(u8::from(!parts.velocities.is_empty()));
                constant(model, second) + shift <= highest
            }),
        _ => false,
    }
}

fn absolute(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.abs()).collect()
}

fn touched_by(model: &Workspace, a: usize, b: usize, alpha: f64) -> Diagnostic {
    let c = &model.constraints[a];
    let text = if a == b {
        format!(
            "in the constraint `{}` the product of ∂f/∂q' with the coefficients of its derivative of order {alpha} \
             is zero at the start, but not along the motion",
            c.name
        )
    } else {
        format!(
            "the reaction of the constraint `{}` acts on the derivative of order {alpha} in the constraint `{}`, \
             whose own reaction does not",
            model.constraints[b].name, c.name
        )
    };
    let hint = "the equation changes its order where that product vanishes, and a motion cannot pass such a place \
                with the data it started from";
    mistake(c.span, text, hint)
}

/// The effects of velocities and of memory in the forces on $b\cdot u$, for the reaction of constraint `b`.
pub(crate) fn effects(
    model: &Workspace,
    equations: &Equations,
    candidate: &HighDerivative,
    b: usize,
    state: &State<'_>,
    numbers: &Response,
) -> Vec<Effect> {
    let g = &model.graph;
    let HighDerivative { alpha, slopes } = candidate;
    let (symbols, rows) = free_motion(model, equations);
    let nodes: Vec<Expr> = g
        .live(&rows)
        .into_iter()
        .filter(|&e| {
            matches!(g.node(e), Node::Memory(Memory::Caputo | Memory::RiemannLiouville, ..))
        })
        .collect();
    let mut pasts = Vec::new();
    let rows: Vec<Expr> = rows
        .iter()
        .map(|&r| {
            let (r, symbols) = as_symbols(model, r, &nodes);
            pasts = symbols;
            r
        })
        .collect();
    let at = |s: Expr| {
        let free = symbols.iter().position(|&u| u == s).map(|i| numbers.free[i]);
        let past = pasts.contains(&s).then_some(0.0);
        free.or(past).unwrap_or_else(|| value(model, state, s))
    };
    let evaluate = |es: &[Expr]| -> Vec<f64> {
        let es: Vec<Expr> =
            es.iter().map(|&e| crate::run::volterra::response::at_start(model, e)).collect();
        g.evaluate(&es, &at)
    };
    // −b S⁻¹ of a column of derivatives of the rows.
    let along = |column: &[f64]| {
        let mut x = column.to_vec();
        numbers.solve(&mut x);
        -dot(slopes, &x)
    };
    let velocities = model.velocities();
    let by_velocity = g.jacobian(&rows, &velocities);
    let answer = numbers.answer(&numbers.directions[b]);
    let row: Vec<f64> = (0..velocities.len())
        .map(|j| along(&evaluate(&by_velocity.iter().map(|r| r[j]).collect::<Vec<_>>())))
        .collect();
    let mut found = vec![Effect {
        node: None,
        beta: 1.0,
        order: alpha - 1.0,
        reaction: dot(&row, &answer),
        velocity: row,
    }];
    for (&node, &past) in nodes.iter().zip(&pasts) {
        let Node::Memory(_, operand, second) = g.node(node) else { continue };
        let column: Vec<Expr> = rows.iter().map(|&r| g.derivative(r, past)).collect();
        let factor = along(&evaluate(&column));
        for (shift, list) in [(0.0, model.positions()), (1.0, velocities.clone())] {
            let slopes = evaluate(&g.gradient(operand, &list));
            let beta = constant(model, second) + shift;
            let order = alpha - 2.0 + beta;
            let velocity: Vec<f64> = slopes.iter().map(|s| factor * s).collect();
            let reaction = dot(&velocity, &answer);
            found.push(Effect { node: Some((node, factor)), beta, order, reaction, velocity });
        }
    }
    found
}
