//! `pfaff geometry --fractional`: the fractional Poincaré–Cartan form, its derivative and what follows from
//! them, for people.

use pfaff::{FractionalGeometry, Workspace};
use pfaff_expr::Expr;
use pfaff_mechanics::{DifferentialForm, FractionalForms, Orders};

use crate::equations::{Label, Line, Presentation, Section};

/// Lays out the fractional forms of a model.
pub fn present_fractional_forms(found: &FractionalGeometry) -> Presentation {
    let FractionalGeometry { model, orders, forms } = found;
    let g = &model.graph;
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
    let (velocities, legendre) = relations(model, forms);
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
    let presentation = Presentation::of(model, None, sections, remarks(model, forms, *orders));
    presentation.with_preface(vec![format!(
        "fractional forms of order alpha = {}, beta = {}",
        g.to_text(orders.alpha),
        g.to_text(orders.beta)
    )])
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
