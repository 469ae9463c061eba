//! A model whose names stand for short formulas: what is derived from it is short as well.
//!
//! An angular velocity that the text gives by a rotation matrix has hundreds of operations, and its shortest formula
//! has ten. Equations that are solved and differentiated in quasi-velocities or momenta grow with the former, beyond
//! what can be shortened afterwards. So the formulas of the names are shortened first, each proved equal, and the
//! equations are derived from the same Lagrangian written with them.

use pfaff::{Derivation, Dynamics, Principle, Workspace};
use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::Equations;

/// Lagrangians of fewer operations are short as they are.
const SHORT: usize = 40;
/// What has more operations takes too long.
const LONG: usize = 400;

/// The model with short formulas for its names, and its equations; `None` where that would save little.
pub(super) fn in_short_words(derivation: &Derivation) -> Option<(Workspace, Equations)> {
    let Dynamics::Saddle(e) = &derivation.dynamics else { return None };
    let mut model = derivation.workspace();
    let pfaff_model::Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } =
        model.dynamics
    else {
        return None;
    };
    let g = &model.graph;
    let is_plain = e.principle == Principle::Chetaev
        && !model.has_families()
        && model.constraints.iter().all(|c| c.along.is_none());
    let before = g.operations(&[lagrangian]);
    if !is_plain || before < SHORT {
        return None;
    }
    let mut images: Vec<(Expr, Expr)> = Vec::new();
    let mut names = model.abbreviations.clone();
    for (_, meaning) in &mut names {
        let whole = *meaning;
        *meaning = shortened(g, whole, &images);
        if *meaning != whole {
            images.push((whole, *meaning));
        }
    }
    let short = |e: Expr| shortened(g, e, &images);
    let energies = [kinetic, potential].map(|e| e.map(short));
    let whole = match energies {
        [Some(t), Some(v)] => g.sub(t, v),
        [Some(t), None] => t,
        _ => short(lagrangian),
    };
    if 2 * g.operations(&[whole]) > before {
        return None;
    }
    let held: Vec<Expr> = model.constraints.iter().map(|c| short(c.expr)).collect();
    let forces: Vec<Vec<Expr>> =
        model.forces.iter().map(|f| f.components.iter().map(|&x| short(x)).collect()).collect();
    if let pfaff_model::Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } =
        &mut model.dynamics
    {
        *lagrangian = whole;
        [*kinetic, *potential] = energies;
    }
    model.abbreviations = names;
    model.constraints.iter_mut().zip(held).for_each(|(c, e)| c.expr = e);
    model.forces.iter_mut().zip(forces).for_each(|(f, own)| f.components = own);
    let equations = pfaff_mechanics::derive(&model, e.principle).ok()?;
    Some((model, equations))
}

/// An expression with other formulas for its parts, and the shortest that is found for the whole.
fn shortened(g: &Graph, e: Expr, images: &[(Expr, Expr)]) -> Expr {
    let put = g.as_written(|| g.substitute(&[e], images))[0];
    let size = g.operations(&[put]);
    if !(3..=LONG).contains(&size) {
        return put;
    }
    let desk = Graph::new();
    let found = g.on_paper(&[put], &desk)[0];
    let short = desk.in_reading_order(&[found], g)[0];
    // NOTE: what has other names in it is kept as long as that is not much longer.
    if 3 * g.operations(&[short]) < 2 * size { short } else { put }
}
