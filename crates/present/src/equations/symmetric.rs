//! Symmetric matrices of parameters: equations have one letter for both entries.
//!
//! With `J = [[1, 0.2], [0.2, 3]]` the text gives J[1,2] and J[2,1] the same value. People read J[1,2] for both.

use pfaff::{Derivation, Dynamics, Model, derive};
use pfaff_expr::Expr;
use pfaff_model::Workspace;

/// The equations with one letter for both entries of symmetric matrices, and what is to be said of that; `None` where
/// there are none.
pub(super) fn with_symmetric_matrices(derivation: &Derivation) -> Option<(Derivation, String)> {
    let Dynamics::Saddle(e) = &derivation.dynamics else { return None };
    if !derivation.model.parameters.iter().any(|p| p.name.contains(',')) {
        return None;
    }
    let mut model = derivation.model.workspace();
    let pairs = pairs(&model);
    if pairs.is_empty() {
        return None;
    }
    let images: Vec<(Expr, Expr)> = pairs.iter().map(|pair| (pair.0, pair.1)).collect();
    let names: Vec<String> = pairs.iter().map(|pair| pair.2.clone()).collect();
    let g = model.graph.clone();
    let put = |e: &mut Expr| *e = g.as_written(|| g.substitute(&[*e], &images))[0];
    let declared = &mut *model;
    if let pfaff_model::Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } =
        &mut declared.dynamics
    {
        std::iter::once(lagrangian).chain(kinetic).chain(potential).for_each(put);
    }
    declared.constraints.iter_mut().for_each(|c| put(&mut c.expr));
    declared.constraints.iter_mut().flat_map(|c| c.along.iter_mut().flatten()).for_each(put);
    declared.forces.iter_mut().flat_map(|f| &mut f.components).for_each(put);
    declared.abbreviations.iter_mut().for_each(|a| put(&mut a.1));
    model.graph = g;
    let merged = derive(&Model::from(model.freeze()), Some(e.principle)).ok()?;
    Some((
        merged,
        format!("matrices with equal entries across the diagonal: {}", names.join(", ")),
    ))
}

/// Entries below the diagonal that stand in the energies, in constraints or in forces, those above it, and both in
/// words.
fn pairs(model: &Workspace) -> Vec<(Expr, Expr, String)> {
    let g = &model.graph;
    let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
        return Vec::new();
    };
    let mut roots = vec![lagrangian];
    roots.extend(model.constraints.iter().map(|c| c.expr));
    roots.extend(model.forces.iter().flat_map(|f| &f.components));
    let used = g.symbols(&roots);
    let mut found = Vec::new();
    for p in model.parameters.iter().filter(|p| used.contains(&p.symbol)) {
        let Some((base, index)) = p.name.split_once('[') else { continue };
        let Some((i, j)) = index.trim_end_matches(']').split_once(',') else { continue };
        let (Ok(row), Ok(column)) = (i.parse::<i64>(), j.parse::<i64>()) else { continue };
        let across = format!("{base}[{j},{i}]");
        let other = model.parameters.iter().find(|q| q.name == across);
        if let Some(q) = other.filter(|q| row > column && q.value == p.value) {
            found.push((p.symbol, q.symbol, format!("{} = {}", p.name, q.name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use pfaff::{Model, derive};

    use crate::ToText;
    use crate::equations::{present, present_reduced};

    fn text_of(matrix: &str) -> String {
        let text = format!(
            "coordinates phi, theta, psi\nparameters J = {matrix}\n\
             let R = rotation_z(phi)*rotation_x(theta)*rotation_z(psi)\n\
             let W = vee(transpose(R)*R')\nkinetic dot(W, J*W)/2\n\
             constraint suslov: W[3] = 0\n"
        );
        let model = Model::parse(&text).expect("it is right");
        let derivation = derive(&model, None).expect("it has equations");
        let reduced = present_reduced(&derivation).expect("it has a form").to_text();
        present(&derivation).to_text() + &reduced
    }

    /// One letter for both entries where the values are equal, and two where they are not.
    #[test]
    fn equal_entries_across_the_diagonal_have_one_letter() {
        let one = text_of("[[2, 0, 0.1], [0, 3, 0.2], [0.1, 0.2, 4]]");
        assert!(one.contains("  J[1,1]*u1' = -J[1,3]*u1*u2 - J[2,3]*u2^2\n"), "{one}");
        assert_eq!(one.matches("J[3,1]").count(), 2, "both pages say it once: {one}");
        let two = text_of("[[2, 0, 0.1], [0, 3, 0.2], [0.1, 0.3, 4]]");
        assert!(two.contains("(J[2,3] + J[3,2])") && two.contains("J[1,3]*u1"), "{two}");
    }
}
