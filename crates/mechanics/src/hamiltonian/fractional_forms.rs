//! The fractional Poincaré–Cartan form on $(t, q, p, v)$, its fractional exterior derivative, and the
//! operator $\hat E^\alpha$.
//!
//! $$ \omega = p_k\,(dq^k)^\alpha + \bigl(L - p_k(v^k)^\beta\bigr)(dt)^\alpha, \qquad d^\alpha = \sum_i
//! (dx_i)^\alpha\,D^\alpha_{x_i}, \qquad C = (Q_k + \lambda_a\varphi^a_{v^k})\,(dt)^\alpha\wedge(dq^k)^\alpha
//! $$
//!
//! with Caputo's derivatives from 0, for $L$ a sum of powers of each $q^k$ and $v^k$. Then
//!
//! $$ d^\alpha\omega = -D^\alpha_{q^k}L\,(dt)^\alpha\wedge(dq^k)^\alpha -
//! D^\alpha_{p_k}p_k\,\bigl[(dq^k)^\alpha - (v^k)^\beta(dt)^\alpha\bigr]\wedge(dp_k)^\alpha +
//! \bigl[D^\alpha_{v^k}L - p_k\,D^\alpha_{v^k}(v^k)^\beta\bigr](dv^k)^\alpha\wedge(dt)^\alpha, $$
//!
//! $$ p_k = \frac{\Gamma(\beta+1-\alpha)}{\Gamma(\beta+1)}\,(v^k)^{\alpha-\beta}D^\alpha_{v^k}L, \qquad
//! (v^k)^\beta = (\dot q^k)^\alpha, \qquad
//!    \hat E^\alpha_kL = D^\alpha_{q^k}L - D^\alpha_t\,p_k = -Q_k - \lambda_a\varphi^a_{v^k} . $$
//!
//! This is \[TZ06, (103)–(114)\] put right: (104) counts $D_t^\alpha p$ beside the terms with $dp$, (107) and
//! (110) have $+\lambda$ against (38), and (112) has $\Gamma(2-\alpha)$, which belongs to $\beta = 1$, for
//! $\beta = \alpha$ where the factor is $1/\Gamma(1+\alpha)$. For $\alpha = \beta = 1$ all of it is the
//! classical form.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};

use super::poincare_cartan::{cartan_space, chetaev_form};
use crate::algebra::exterior::{DifferentialForm, Space};
use crate::algebra::powers::{Powers, gamma};
use crate::equations::{Equations, Refusal};

/// The orders $\alpha$ of the derivative and $\beta$ of the velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// $\alpha$
    pub alpha: Expr,
    /// $\beta$
    pub beta: Expr,
}

/// The fractional forms of a model; a differential $dx$ stands for $(dx)^\alpha$.
#[derive(Clone, Debug)]
pub struct FractionalForms {
    /// $(t, q, p, v)$
    pub space: Space,
    /// $\omega$
    pub poincare_cartan: DifferentialForm,
    /// $d^\alpha\omega$
    pub derivative: DifferentialForm,
    /// $C$
    pub chetaev: DifferentialForm,
    /// $p_k$, the symbols
    pub momenta: Vec<Expr>,
    /// $p_k$ of positions and velocities $v$; `None` where $D^\alpha v^\beta = 0$
    pub legendre: Vec<Option<Expr>>,
    /// $v^k$ by $\dot q^k$
    pub velocities: Vec<Expr>,
    /// $\hat E^\alpha_kL$ of $q$ and $\dot q$
    pub operator: Vec<Option<Expr>>,
    /// $-Q_k - \lambda_a\varphi^a_{v^k}$, which $\hat E^\alpha_kL$ equals
    pub reactions: Vec<Expr>,
}

/// The fractional forms of a model under Chetaev's principle.
///
/// # Errors
///
/// [`Refusal::NoFractionalForm`] if an order is outside its range, or $L$ is no sum of powers.
pub fn fractional_forms(
    model: &Workspace,
    equations: &Equations,
    orders: Orders,
) -> Result<FractionalForms, Refusal> {
    let Dynamics::Lagrangian { lagrangian: L, span, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let g = &model.graph;
    let Orders { alpha: α, beta: β } = orders;
    let refuse = |what: String| Refusal::NoFractionalForm { what, span };
    let value = |e: Expr| model.constant(e);
    let order = value(α);
    if !(order > 0.0 && order < 2.0) {
        let what = format!("its order alpha is {order}, which must lie between 0 and 2");
        return Err(refuse(what));
    }
    let power = value(β);
    if !(power > 0.0 && power.is_finite()) {
        let what =
            format!("its power beta of the velocities is {power}, which must be positive");
        return Err(refuse(what));
    }
    let (space, p) = cartan_space(model);
    let (t, q, v) = (model.time, model.positions(), model.velocities());
    let one = |e: Expr| space.differential(g, e);
    let written = |e: Expr, x: Expr| {
        Powers::of(g, e, x).map_err(|part| {
            refuse(format!(
                "the Lagrangian is not a polynomial in `{}`: it contains `{}`",
                g.to_text(x),
                g.to_text(part)
            ))
        })
    };
    let powers = |e: Expr, x: Expr| -> Result<Powers, Refusal> {
        written(e, x)?.caputo(g, α, &value).map_err(|exponent| {
            refuse(format!(
                "`{}^({})` has no derivative of order {order} from 0: Caputo's needs powers above {}, or whole ones",
                g.to_text(x),
                g.to_text(exponent),
                order.ceil() - 1.0
            ))
        })
    };
    let derived = |e: Expr, x: Expr| Ok(powers(e, x)?.expression(g, x));
    let rate = g.sum((0..q.len()).map(|k| g.mul(p[k], g.pow(v[k], β))));
    let mut ω = one(t).scaled(g, g.sub(L, rate));
    for (&q, &p) in q.iter().zip(&p) {
        ω = ω.plus(g, &one(q).scaled(g, p)).expect("two 1-forms");
    }
    let (C, pulls) = chetaev_form(model, equations, &space);
    let reactions = pulls.into_iter().map(|pull| g.neg(pull)).collect();
    let mut dω = DifferentialForm::zero(2);
    for (place, f) in ω.terms() {
        let rest = one(space.coordinates[place[0]]);
        for &x in &space.coordinates {
            // NOTE: a differential that is there already makes the product zero, so nothing is differentiated by t.
            if x == space.coordinates[place[0]] || !g.contains(f, &[x]) {
                continue;
            }
            let term = one(x).wedge(g, &rest).scaled(g, derived(f, x)?);
            dω = dω.plus(g, &term).expect("two 2-forms");
        }
    }
    let (mut legendre, mut operator) = (Vec::new(), Vec::new());
    // (v)^β = (q̇)^α
    let faster: Vec<Expr> = v.iter().map(|&v| g.pow(v, g.div(α, β))).collect();
    let moving: Vec<(Expr, Expr)> = v.iter().copied().zip(faster.iter().copied()).collect();
    for k in 0..q.len() {
        let scale = derived(g.pow(v[k], β), v[k])?;
        if scale == g.zero() {
            legendre.push(None);
            operator.push(None);
            continue;
        }
        let (above, below) = (g.sub(g.add(β, g.one()), α), g.add(β, g.one()));
        let factor = g.div(gamma(g, above), gamma(g, below));
        let momentum = powers(L, v[k])?.shifted(g, g.sub(α, β), factor).expression(g, v[k]);
        let there = g.substitute(&[derived(L, q[k])?, momentum], &moving);
        let change = if α == g.one() {
            g.total_derivative(there[1])
        } else {
            g.memory(pfaff_expr::Memory::Caputo, there[1], α)
        };
        legendre.push(Some(momentum));
        operator.push(Some(g.sub(there[0], change)));
    }
    Ok(FractionalForms {
        space,
        poincare_cartan: ω,
        derivative: dω,
        chetaev: C,
        momenta: p,
        legendre,
        velocities: faster,
        operator,
        reactions,
    })
}
