//! Foliations, cotangent form, Lagrange space, Krupková's system and differential forms of a model: what
//! `pfaff geometry` shows beside connections and distributions.
//!
//! Symbols come from `mechanics`; here they become blocks of the report, with values at a [`Point`] on the constraint.

mod blocks;
mod point;

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Equations, NormalForm, Refusal, cartan_forms, normal_form, prescribed_speed,
};
use pfaff_model::Workspace;
use pfaff_solver::symmetric_eigenvalues;

use crate::analysis::geometry::block::Block;
use crate::error::Failure;

pub use point::Point;

/// The parts of the report that can be asked for; `riemann` is what connections and distributions give.
pub const PARTS: [&str; 6] =
    ["riemann", "foliation", "cotangent", "lagrange_space", "krupkova", "forms"];

/// What stands in one line, without names for its parts, is written only where it has at most this many.
pub(crate) const WORTH_WRITING: usize = 400;

/// An entry of a group that is not a tensor.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The group.
    pub group: &'static str,
    /// Its key there.
    pub key: &'static str,
    /// What it says.
    pub value: FactValue,
}

/// What a [`Fact`] says.
#[derive(Clone, Debug)]
pub enum FactValue {
    /// Yes, no, or not decided.
    Verdict(Option<bool>),
    /// Names.
    Names(Vec<String>),
    /// A formula.
    Formula(String),
    /// Formulas by name.
    Formulas(Vec<(&'static str, String)>),
    /// Counts by name.
    Counts(Vec<(&'static str, usize)>),
}

/// What the parts contribute to a report.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The coordinates along the leaves.
    pub leaf: Vec<usize>,
    /// The others.
    pub transverse: Vec<usize>,
    /// Tensors.
    pub blocks: Vec<Block>,
    /// What is not a tensor.
    pub facts: Vec<Fact>,
    /// What is worth knowing, by part.
    pub notes: Vec<(&'static str, String)>,
}

/// The parts of a model in normal form; `wanted` names them, `point` asks for values.
///
/// # Errors
///
/// [`Failure`] if there is no normal form, or the constraints do not determine the leaf velocities at the point.
pub(crate) fn parts(
    model: &Workspace,
    equations: &Equations,
    dependent: Option<&[usize]>,
    point: Option<Point>,
    wanted: &[&str],
) -> Result<Parts, Failure> {
    let refused = |r: Refusal| Failure::Model(vec![r.diagnostic()]);
    let normal = normal_form(model, equations, dependent).map_err(refused)?;
    let there =
        point.clone().map(|p| p.on_constraint(model, equations, &normal)).transpose()?;
    let mut parts = Parts {
        leaf: normal.leaf.clone(),
        transverse: normal.transverse.clone(),
        ..Parts::default()
    };
    for &part in wanted {
        match part {
            "foliation" => foliation(model, equations, &normal, &mut parts),
            "cotangent" => blocks::cotangent(model, equations, &normal, &mut parts),
            "lagrange_space" => blocks::lagrange_space(model, equations, &mut parts),
            "krupkova" => {
                blocks::krupkova(model, equations, &normal, there.as_ref(), &mut parts);
            }
            "forms" => forms(model, equations, &mut parts),
            _ => {}
        }
    }
    if let (Some(given), Some(there)) = (&point, &there) {
        values(model, given, there, &mut parts);
    }
    Ok(parts)
}

/// The numbers of the blocks: on the constraint, but those of the Lagrange space at the state as it is given.
fn values(model: &Workspace, given: &Point, there: &Point, parts: &mut Parts) {
    for block in &mut parts.blocks {
        let at = if block.group == "lagrange_space" { given } else { there };
        block.values = Some(at.evaluate(model, &block.tensor.entries));
    }
    let infinite = |b: &&Block| b.values.iter().flatten().any(|x| !x.is_finite());
    if let Some(block) = parts.blocks.iter().find(infinite) {
        let note = format!(
            "{} is infinite or not a number at this state; the equations themselves may still be regular there, \
             and other dependent coordinates may help",
            block.key
        );
        parts.notes.push((block.group, note));
    }
    let metric = parts.blocks.iter().find(|b| b.group == "lagrange_space" && b.key == "g");
    if let Some(values) = metric.and_then(|b| b.values.as_ref()) {
        let n = model.coordinates.len();
        let all = symmetric_eigenvalues(n, values);
        let size = all.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let count = |test: &dyn Fn(f64) -> bool| all.iter().filter(|&&x| test(x)).count();
        // Eigenvalues below this part of the largest are rounding.
        let zero = 1e-12 * size;
        let value = FactValue::Counts(vec![
            ("positive", count(&|x| x > zero)),
            ("negative", count(&|x| x < -zero)),
            ("zero", count(&|x| x.abs() <= zero)),
        ]);
        parts.facts.push(Fact { group: "lagrange_space", key: "signature", value });
    }
}

fn foliation(model: &Workspace, equations: &Equations, normal: &NormalForm, parts: &mut Parts) {
    let names = |list: &[usize]| {
        FactValue::Names(list.iter().map(|&k| model.coordinates[k].name.clone()).collect())
    };
    let mut fact = |key, value| parts.facts.push(Fact { group: "foliation", key, value });
    fact("leaf", names(&normal.leaf));
    fact("transverse", names(&normal.transverse));
    fact("explicit", FactValue::Verdict(Some(normal.is_explicit)));
    let adapted = pfaff_mechanics::is_adapted(model, normal);
    fact("adapted_lagrangian", FactValue::Verdict(adapted));
    if let Some(speed) = prescribed_speed(model, equations) {
        let text = |e| model.graph.to_text(e);
        let flow = vec![("phi", text(speed.square)), ("factor", text(speed.factor))];
        fact("riemannian_flow", FactValue::Formulas(flow));
        let note = format!(
            "the speed is prescribed, g(v,v) = {}, so nabla_v v = -grad V + ({})*v",
            model.graph.to_text(speed.square),
            model.graph.to_text(speed.factor)
        );
        parts.notes.push(("foliation", note));
    }
    if !normal.is_explicit {
        let note = "the constraints are not linear in the dependent velocities, so these have no formula: they \
                    are differentiated implicitly, on the branch of the given state";
        parts.notes.push(("foliation", note.into()));
    }
    blocks::foliation(model, equations, normal, parts);
}

fn forms(model: &Workspace, equations: &Equations, parts: &mut Parts) {
    let Some(forms) = cartan_forms(model, equations) else { return };
    let g = &model.graph;
    let all: Vec<Expr> = forms.equations.terms().map(|(_, f)| f).collect();
    if g.size(&all) > WORTH_WRITING {
        let note = "the coefficients are too large to be written out in one line each";
        parts.notes.push(("forms", note.into()));
        return;
    }
    let texts = [
        ("poincare_cartan", forms.space.to_text(g, &forms.poincare_cartan)),
        ("chetaev", forms.space.to_text(g, &forms.chetaev)),
        ("equations", forms.space.to_text(g, &forms.equations)),
    ];
    for (key, text) in texts {
        let words = match key {
            "poincare_cartan" => "omega = ",
            "chetaev" => "C = ",
            _ => "i_X(d omega - C) = ",
        };
        parts.notes.push(("forms", format!("{words}{text}")));
        parts.facts.push(Fact { group: "forms", key, value: FactValue::Formula(text) });
    }
}
