//! `pfaff geometry --fractional`: the fractional Poincaré–Cartan form, its derivative and what follows from
//! them, for people.

use crate::model::Model;
use pfaff_expr::Expr;
use pfaff_mechanics::{DifferentialForm, FractionalForms, Orders, fractional_forms};
use pfaff_model::{ExpressionScope, Principle, Shape, Workspace, read_expression};

use crate::derivation::derive_in;
use crate::error::{Error, Failure};
use crate::present::{Label, Line, Presentation, Section};
use crate::system::compiled::Dynamics;

/// The fractional forms of a model; `orders` is `alpha, beta`, numbers or parameters, and one of them alone
/// stands for both.
///
/// # Errors
///
/// [`Error`] says what is wrong with the orders, or why there is no such form.
pub fn present_fractional_forms(model: &Model, orders: &str) -> Result<Presentation, Error> {
    present_fractional_forms_in(&model.workspace(), orders)
        .map_err(|failure| failure.in_source(&model.source))
}

fn present_fractional_forms_in(
    model: &Workspace,
    orders: &str,
) -> Result<Presentation, Failure> {
    let orders = read_orders(model, orders)?;
    let Dynamics::Saddle(equations) = derive_in(model, Some(Principle::Chetaev))? else {
        let message = "an `equation` model has no Lagrangian, and so no Poincaré–Cartan form";
        return Err(Failure::usage(message));
    };
    let g = &model.graph;
    let forms = fractional_forms(model, &equations, orders)?;
    let n = model.coordinates.len();
    let name = |k: usize| match k.checked_sub(2 * n + 1) {
        Some(k) => format!("v[{}]", model.coordinates[k].name),
        None => g.to_text(forms.space.coordinates[k]),
    };
    let section = |key, heading, lines| Section { key, heading, lines };
    let components =
        |text: &'static str, latex: &'static str, form: &DifferentialForm| -> Vec<Line> {
            let line = |(place, right): (&[usize], Expr)| {
                let indices = place.iter().map(|&k| name(k)).collect();
                Line { label: Label::Entry { text, latex, indices }, right }
            };
            form.terms().map(line).collect()
        };
    let by_coordinate = |text: &'static str, latex: &'static str, list: &[Option<Expr>]| {
        let mut lines = Vec::new();
        for (c, right) in model.coordinates.iter().zip(list) {
            let indices = vec![c.name.clone()];
            let label = Label::Entry { text, latex, indices };
            lines.extend(right.map(|right| Line { label, right }));
        }
        lines
    };
    let (velocities, legendre) = relations(model, &forms);
    let reactions: Vec<Option<Expr>> = forms.reactions.iter().copied().map(Some).collect();
    let driven = forms.reactions.iter().any(|&r| r != g.zero());
    let sections = vec![
        section(
            "poincare_cartan",
            "Poincaré–Cartan form omega = p_k (dq_k)^alpha + (L - p_k v_k^beta) (dt)^alpha, with v written as q'",
            components("omega", "\\omega", &forms.poincare_cartan),
        ),
        section(
            "derivative",
            "d^alpha omega: at [x,y] the coefficient of (dx)^alpha /\\ (dy)^alpha",
            components("domega", "d^\\alpha\\omega", &forms.derivative),
        ),
        section(
            "chetaev",
            "Chetaev's form C = (Q_k + lambda dphi/dv_k) (dt)^alpha /\\ (dq_k)^alpha",
            components("C", "C", &forms.chetaev),
        ),
        section("momenta", "Momenta on the motion: D_v^alpha L / D_v^alpha v^beta", legendre),
        section("velocities", "Velocities v of the form by those of the motion", velocities),
        section(
            "operator",
            "Operator E^alpha L = D_q^alpha L - D_t^alpha p",
            by_coordinate("E", "\\hat E^\\alpha", &forms.operator),
        ),
        section(
            "equations",
            "Equations: E^alpha L equals",
            if driven { by_coordinate("E", "\\hat E^\\alpha", &reactions) } else { Vec::new() },
        ),
    ];
    let presentation = Presentation::of(model, None, sections, remarks(model, &forms, orders));
    Ok(presentation.with_preface(vec![format!(
        "fractional forms of order alpha = {}, beta = {}",
        g.to_text(orders.alpha),
        g.to_text(orders.beta)
    )]))
}

/// $v$ where it differs from $\dot q$, and $p$ of $q$ and $v$.
fn relations(model: &Workspace, forms: &FractionalForms) -> (Vec<Line>, Vec<Line>) {
    let line = |left: Expr, right: Expr| Line { label: Label::Expression(left), right };
    let v = model.velocities();
    let mut velocities = Vec::new();
    for (k, &right) in forms.velocities.iter().enumerate() {
        if right != v[k] {
            let indices = vec![model.coordinates[k].name.clone()];
            velocities
                .push(Line { label: Label::Entry { text: "v", latex: "v", indices }, right });
        }
    }
    let momenta = forms.momenta.iter().zip(&forms.legendre);
    (velocities, momenta.filter_map(|(&p, e)| e.map(|e| line(p, e))).collect())
}

fn remarks(model: &Workspace, forms: &FractionalForms, orders: Orders) -> Vec<String> {
    let mut remarks = vec![
        "derivatives are Caputo's from 0; non-integer powers assume positive q, v and p"
            .to_owned(),
    ];
    if orders.alpha != model.graph.one() {
        remarks.push("D_t^alpha is caputo along the motion, from its start".into());
    }
    if forms.operator.iter().any(Option::is_none) {
        remarks.push("D_v^alpha v^beta is zero: the forms do not determine the momenta".into());
    }
    remarks
}

/// Two constants, or one for both.
fn read_orders(model: &Workspace, text: &str) -> Result<Orders, Failure> {
    let usage = |message: String| Failure::Usage(message);
    let parts = crate::analysis::variations::split(text);
    let read = |part: &str| -> Result<Expr, Failure> {
        let (shape, entries) =
            read_expression(model, "--fractional", part.trim(), ExpressionScope::State)?;
        match (shape, &entries[..]) {
            (Shape::Scalar, [e]) if !model.constant(*e).is_nan() => Ok(*e),
            _ => Err(usage(format!(
                "--fractional: `{}` is not a number: an order consists of numbers and parameters",
                part.trim()
            ))),
        }
    };
    match &parts[..] {
        [one] => read(one).map(|e| Orders { alpha: e, beta: e }),
        [alpha, beta] => Ok(Orders { alpha: read(alpha)?, beta: read(beta)? }),
        _ => Err(usage("--fractional takes two orders, such as 0.5,1".into())),
    }
}
